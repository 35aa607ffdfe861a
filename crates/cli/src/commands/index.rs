//! `anemone index`

mod shown;
mod watch;

use std::path::PathBuf;

use anemone::search::chunks::{Chunking, list_chunks};
use anemone::search::index::Rebuild;
use anemone::search::upkeep::{
    Apply, IndexRequest, list_indexes, plan_vectors, prune_indexes, remove_index, update_index,
};
use anemone::statement::Statement;
use anemone_index::Replace;
use anemone_messages::warning;
use anemone_runtimes::native_chunkers;
use clap::Args;
use clap::builder::TypedValueParser;

use super::Context;
use super::ranking::large_jobs;
use crate::args::{EmbedderArgs, SourceArgs, one_of};
use crate::output::Result;

/// Update the search index of a memory, or manage indexes
///
/// `anemone search` does this by itself; use it to index ahead of time, to see what is indexed and
/// what is not, and to clean up. An index is stored under the user's cache folder (XDG_CACHE_HOME)
/// and can be removed at any time: the next search rebuilds it.
///
/// A document is cut into chunks, passages of some hundred words; a chunk holds several texts,
/// such as paragraphs and list items, and each text gets a vector.
///
/// With --embedder every passage gets vectors from that embedder, which later searches use. This
/// can be interrupted and resumed. --dry-run shows how much there is to do, and where texts would
/// be sent.
#[derive(Args, Debug)]
#[command(group = clap::ArgGroup::new("dry").args(["prune", "embedder"]).multiple(true))]
pub(crate) struct IndexArgs {
    /// An archive, a database, a folder or a file, instead of an agent
    #[arg(conflicts_with_all = ["list", "prune"])]
    source: Option<PathBuf>,

    #[command(flatten)]
    searched: SourceArgs,

    /// Delete the index first, and rebuild it
    #[arg(long, conflicts_with_all = ["list", "prune", "drop", "chunks"])]
    rebuild: bool,

    /// Keep running and index every change soon after it is made, until interrupted
    #[arg(long, group = "instead")]
    watch: bool,

    /// List all indexes in the cache and their sources
    #[arg(long, group = "instead", conflicts_with = "index_dir")]
    list: bool,

    /// Remove indexes whose source no longer exists
    #[arg(long, group = "instead", conflicts_with = "index_dir")]
    prune: bool,

    #[command(flatten)]
    embedder: EmbedderArgs,

    /// Replace the vectors of another model
    #[arg(long, requires = "embedder", conflicts_with_all = ["list", "prune", "drop", "chunks"])]
    reembed: bool,

    /// Send a large job to a service without asking
    #[arg(long, conflicts_with_all = ["list", "prune", "drop", "chunks"])]
    yes: bool,

    /// With --prune or --embedder, say what would be done; nothing is removed, embedded or sent
    #[arg(long, short = 'n', requires = "dry")]
    dry_run: bool,

    /// Remove the index of this memory
    #[arg(long, group = "instead")]
    drop: bool,

    /// List how documents are cut into chunks, instead of indexing them
    #[arg(long, group = "instead")]
    chunks: bool,

    /// With --chunks, cut as another program does, with the ids that it gives its chunks
    #[arg(long, requires = "chunks", default_value = Chunking::Anemone.name())]
    #[arg(value_parser = chunkings())]
    chunking: Chunking,
}

/// Reads the name of a way to cut documents.
fn chunkings() -> impl TypedValueParser<Value = Chunking> {
    let native = native_chunkers();
    let native = native.map(|chunker| (chunker.name, chunker.title, Chunking::Native(chunker)));
    one_of(std::iter::once((Chunking::Anemone.name(), "Ours", Chunking::Anemone)).chain(native))
}

impl IndexArgs {
    fn request(&self) -> IndexRequest {
        IndexRequest {
            target: self.searched.choice(self.source.clone()),
            rebuild: if self.rebuild { Rebuild::Yes } else { Rebuild::No },
            embedder: self.embedder.choice(),
            replace: if self.reembed { Replace::Yes } else { Replace::No },
            large_jobs: large_jobs(self.yes),
        }
    }
}

pub(crate) fn run(args: &IndexArgs, context: &Context<'_>) -> Result<()> {
    let (printer, host) = (context.printer, &context.host);
    let request = args.request();
    request.embedder.check()?;
    if args.list {
        return printer.print(&list_indexes(host)?);
    }
    if args.prune {
        let apply = if args.dry_run { Apply::DryRun } else { Apply::Yes };
        return printer.print(&prune_indexes(apply, host)?);
    }
    if args.watch {
        return watch::watch(&request, context);
    }
    if args.drop {
        return printer.print(&remove_index(&request.target, host)?);
    }
    if args.chunks {
        return printer.print(&list_chunks(&request.target, args.chunking, host)?);
    }
    if args.dry_run {
        let mut plan = plan_vectors(&request, host)?;
        Statement::word_all(&mut plan.warnings, warning);
        return printer.print(&plan);
    }
    let mut report = update_index(&request, None, host)?;
    Statement::word_all(&mut report.warnings, warning);
    printer.print(&report)
}

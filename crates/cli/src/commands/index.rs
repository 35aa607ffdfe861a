//! `anemone index`

mod cut;
mod shelf;
mod watch;

use std::io::{self, Write};
use std::path::PathBuf;
use std::time::Instant;

use clap::Args;
use serde::Serialize;

use super::Context;
use super::search::{IndexLine, SourceLine, milliseconds};
use crate::error::{CliError, Kind};
use crate::output::{BOLD, DIM, ODD, Report, bytes, count, safe};
use crate::search_index::{Otherwise, Warning, bytes_of, find, open_fresh};
use crate::searched::SourceArgs;

/// Bring the index of a memory up to date, or look after indexes
///
/// `anemone search` does this by itself; use it to index ahead of time, to see what is indexed and
/// what is not, and to clean up. An index lies under the user's cache folder (XDG_CACHE_HOME) and
/// can be removed at any time: the next search makes it anew.
#[derive(Args, Debug)]
pub(crate) struct IndexArgs {
    /// An archive, a database, a folder or a file, instead of an agent
    #[arg(conflicts_with_all = ["list", "prune"])]
    source: Option<PathBuf>,

    #[command(flatten)]
    searched: SourceArgs,

    /// Forget the index first, and make it anew
    #[arg(long, conflicts_with_all = ["list", "prune", "drop", "chunks"])]
    rebuild: bool,

    /// Go on, and take in every change soon after it is made, until interrupted
    #[arg(long, group = "instead")]
    watch: bool,

    /// List all indexes in the cache, with what they are of
    #[arg(long, group = "instead", conflicts_with = "index_dir")]
    list: bool,

    /// Remove the indexes of what is no longer there
    #[arg(long, group = "instead", conflicts_with = "index_dir")]
    prune: bool,

    /// With --prune, say what would be removed, and remove nothing
    #[arg(long, short = 'n', requires = "prune")]
    dry_run: bool,

    /// Remove the index of this memory
    #[arg(long, group = "instead")]
    drop: bool,

    /// List how documents are cut into chunks, instead of indexing them
    #[arg(long, group = "instead")]
    chunks: bool,

    /// With --chunks, cut as another program does, with the ids that it gives its chunks
    #[arg(long, value_enum, requires = "chunks", default_value_t = cut::Chunking::Anemone)]
    chunking: cut::Chunking,
}

/// An index that is up to date.
#[derive(Serialize)]
struct Indexed {
    ok: bool,
    source: SourceLine,
    folder: String,
    #[serde(flatten)]
    index: IndexLine,
    bytes: u64,
    /// What is not searched, the first of it.
    skipped_paths: Vec<SkippedPath>,
    warnings: Vec<Warning>,
    took_ms: f64,
}

/// Something that is not searched.
#[derive(Serialize)]
struct SkippedPath {
    path: String,
    reason: &'static str,
}

/// How many of them programs are told.
const MOST_SKIPPED: usize = 100;
/// How many of them people are told.
const MOST_SHOWN: usize = 20;

pub(crate) fn run(args: &IndexArgs, context: &Context<'_>) -> Result<(), CliError> {
    let printer = context.printer;
    if args.list {
        return printer.print(&shelf::list(context)?);
    }
    if args.prune {
        return printer.print(&shelf::prune(context, args.dry_run)?);
    }
    if args.watch {
        return watch::watch(args, context);
    }
    if args.drop {
        let machine = context.environment.machine()?;
        let searched = find(&args.searched, args.source.as_deref(), &machine, context)?;
        return printer.print(&shelf::drop_one(&searched, context)?);
    }
    if args.chunks {
        let machine = context.environment.machine()?;
        let searched = find(&args.searched, args.source.as_deref(), &machine, context)?;
        return printer.print(&cut::cut(&searched, args.chunking)?);
    }
    printer.print(&refresh(args, context, args.rebuild)?)
}

/// Finds what is meant and brings its index up to date.
fn refresh(args: &IndexArgs, context: &Context<'_>, rebuild: bool) -> Result<Indexed, CliError> {
    let started = Instant::now();
    let machine = context.environment.machine()?;
    let searched = find(&args.searched, args.source.as_deref(), &machine, context)?;
    if searched.is_encrypted() {
        let message = "the index of an encrypted archive is never kept";
        return Err(CliError::new(Kind::Failed, "encrypted", message)
            .about(&searched.place)
            .hint("search it without: every search indexes it for itself"));
    }
    let opened = open_fresh(&searched, context, rebuild, Otherwise::Fail)?;
    Ok(Indexed {
        ok: true,
        source: SourceLine::of(&searched),
        folder: searched.index_folder.display().to_string(),
        index: IndexLine::of(&opened.freshness),
        bytes: bytes_of(&searched.index_folder),
        skipped_paths: opened
            .freshness
            .skipped
            .iter()
            .take(MOST_SKIPPED)
            .map(|it| SkippedPath { path: it.path.clone(), reason: it.reason.as_str() })
            .collect(),
        warnings: opened.warnings,
        took_ms: milliseconds(started),
    })
}

impl Indexed {
    /// Whether anything was taken in or out.
    fn is_news(&self) -> bool {
        let IndexLine { added, changed, removed, .. } = &self.index;
        added + changed + removed > 0 || self.index.rebuilt.is_some()
    }

    fn changes(&self) -> String {
        let IndexLine { added, changed, removed, rebuilt, .. } = &self.index;
        let made = rebuilt.map(|why| format!(", made anew ({why})")).unwrap_or_default();
        format!("{added} added, {changed} changed, {removed} removed{made}")
    }
}

impl Report for Indexed {
    fn write_human(&self, out: &mut dyn Write) -> io::Result<()> {
        let IndexLine { documents, chunks, skipped, .. } = &self.index;
        let SourceLine { kind, place } = &self.source;
        writeln!(out, "{BOLD}{}{BOLD:#}  {DIM}{kind}{DIM:#}", safe(place))?;
        let (documents, chunks) = (count(*documents, "document"), count(*chunks, "chunk"));
        writeln!(out, "  {:<10} {documents}, {chunks}, {}", "holds", bytes(self.bytes))?;
        writeln!(out, "  {:<10} {} in {:.0} ms", "changes", self.changes(), self.took_ms)?;
        for (reason, number) in skipped {
            writeln!(out, "  {:<10} {number} {reason}", "skipped")?;
        }
        for SkippedPath { path, reason } in self.skipped_paths.iter().take(MOST_SHOWN) {
            writeln!(out, "  {:<10} {DIM}{} ({reason}){DIM:#}", "", safe(path))?;
        }
        let all: u64 = skipped.values().sum();
        let shown = self.skipped_paths.len().min(MOST_SHOWN) as u64;
        if all > shown {
            writeln!(out, "  {:<10} {DIM}and {} more{DIM:#}", "", all - shown)?;
        }
        for warning in &self.warnings {
            writeln!(out, "  {ODD}{:<10}{ODD:#} {}", "note", safe(&warning.message))?;
        }
        writeln!(out, "  {:<10} {}", "lies in", safe(&self.folder))
    }
}

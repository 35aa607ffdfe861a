//! `anemone index`

mod cut;
mod shelf;
mod watch;

use std::io::{self, Write};
use std::path::PathBuf;
use std::time::Instant;

use anemone_index::{Replace, VectorSet};
use anemone_runtimes::Machine;
use clap::Args;
use serde::Serialize;

use super::Context;
use super::search::{IndexLine, SourceLine, milliseconds};
use crate::args::EmbedderArgs;
use crate::args::SourceArgs;
use crate::embedder::{
    Chosen, Embedders, Filled, Filling, Job, LatencyBudget, Signals, Stop, VectorLine, fill,
    notes_of, take_carried, vector_lines,
};
use crate::error::{CliError, Kind};

use crate::output::{BOLD, DIM, ODD, Report, bytes, count, safe};
use crate::search_index::{
    IndexFallback, Opened, Warning, bytes_of, find, note_embedder, noted_embedder, open_fresh,
};
use crate::searched::SearchTarget;

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
    /// The vectors that it has.
    vectors: Vec<VectorLine>,
    /// What was done for them.
    #[serde(skip_serializing_if = "Option::is_none")]
    filled: Option<Filled>,
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
    args.embedder.choice().check()?;
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
        let machine = context.host.machine()?;
        let searched =
            find(&args.searched.choice(), args.source.as_deref(), &machine, &context.host)?;
        return printer.print(&shelf::drop_one(&searched, context)?);
    }
    if args.chunks {
        let machine = context.host.machine()?;
        let searched =
            find(&args.searched.choice(), args.source.as_deref(), &machine, &context.host)?;
        return printer.print(&cut::cut(&searched, args.chunking)?);
    }
    if args.dry_run {
        return printer.print(&planned(args, context)?);
    }
    printer.print(&refresh(args, context, args.rebuild, None)?)
}

/// Finds what is meant; what is encrypted has no index that is kept.
fn indexable(
    args: &IndexArgs,
    machine: &Machine,
    context: &Context<'_>,
) -> Result<SearchTarget, CliError> {
    let searched = find(&args.searched.choice(), args.source.as_deref(), machine, &context.host)?;
    if searched.is_encrypted() {
        let message = "the index of an encrypted archive is never kept";
        return Err(CliError::new(Kind::Failed, "encrypted", message)
            .about(&searched.place)
            .hint("search it directly: every search builds a temporary index"));
    }
    Ok(searched)
}

/// Says what filling in vectors would take. The index itself is brought up to date for that, and
/// has the vectors that came along.
fn planned(args: &IndexArgs, context: &Context<'_>) -> Result<Planned, CliError> {
    let machine = context.host.machine()?;
    let searched = indexable(args, &machine, context)?;
    let mut opened = open_fresh(&searched, &context.host, false, IndexFallback::Fail)?;
    let embedders = Embedders::choose(
        &args.embedder.choice(),
        &opened.index,
        &searched,
        &LatencyBudget::Plan,
        &context.host,
    )?;
    let Embedders { main, notes: mut warnings, .. } = embedders;
    if let Some(main) = &main {
        warnings.extend(notes_of(&take_carried(&mut opened.index, &searched, main)?));
    }
    let job = main.map(|it| Job::of(&opened.index, &it)).transpose()?;
    let source = SourceLine::of(&searched);
    Ok(Planned { ok: true, dry_run: true, source, job, warnings })
}

/// Finds what is meant and brings its index up to date, with its vectors.
fn refresh(
    args: &IndexArgs,
    context: &Context<'_>,
    rebuild: bool,
    stop: Option<&Stop>,
) -> Result<Indexed, CliError> {
    let started = Instant::now();
    let machine = context.host.machine()?;
    let searched = indexable(args, &machine, context)?;
    context.host.console.when_interrupted("the index is not finished; the next search builds it");
    let mut opened = open_fresh(&searched, &context.host, rebuild, IndexFallback::Fail)?;
    context.host.console.when_interrupted("the index is ready");
    let (filled, notes) = embed(args, &mut opened, &searched, context, stop)?;
    let mut warnings = std::mem::take(&mut opened.warnings);
    warnings.extend(notes);
    Ok(Indexed {
        ok: true,
        source: SourceLine::of(&searched),
        folder: searched.index_folder.display().to_string(),
        index: IndexLine::of(&opened.freshness),
        bytes: bytes_of(&searched.index_folder),
        vectors: vector_lines(&opened.index)?,
        filled,
        skipped_paths: opened
            .freshness
            .skipped
            .iter()
            .take(MOST_SKIPPED)
            .map(|it| SkippedPath { path: it.path.clone(), reason: it.reason.as_str() })
            .collect(),
        warnings,
        took_ms: milliseconds(started),
    })
}

/// Fills in the vectors of the embedder that is meant. One that was not named and fails costs its
/// vectors, and not the index.
fn embed(
    args: &IndexArgs,
    opened: &mut Opened,
    searched: &SearchTarget,
    context: &Context<'_>,
    stop: Option<&Stop>,
) -> Result<(Option<Filled>, Vec<Warning>), CliError> {
    let signals = if stop.is_some() { Signals::Others } else { Signals::Filling };
    let stop = stop.cloned().unwrap_or_default();
    let haste = LatencyBudget::Vectors(stop.clone());
    let embedders =
        Embedders::choose(&args.embedder.choice(), &opened.index, searched, &haste, &context.host)?;
    let Embedders { main, mut notes, .. } = embedders;
    let Some(main) = main.filter(Chosen::is_work) else { return Ok((None, notes)) };
    let is_named = args.embedder.choice().is_named();
    let replace = if args.reembed { Replace::Yes } else { Replace::No };
    let filling = Filling { replace, yes: args.yes, stop: &stop, signals };
    let result = fill(&mut opened.index, searched, &main, &filling, &context.host);
    let own = |it: &VectorSet| it.identity == *main.identity() && it.chunks > 0;
    // A trial that failed takes the place of nothing that worked.
    let is_better = result.is_ok() || noted_embedder(searched, &context.host).is_none();
    if is_named && is_better && opened.index.vector_sets()?.iter().any(own) {
        note_embedder(searched, &context.host, main.to_note());
    }
    match result {
        Ok(mut filled) => {
            notes.append(&mut filled.notes);
            Ok((Some(filled), notes))
        }
        Err(error) if !is_named && error.kind != Kind::Interrupted => {
            notes.push(error.into());
            Ok((None, notes))
        }
        Err(error) => Err(error),
    }
}

/// What filling in vectors would take.
#[derive(Serialize)]
struct Planned {
    ok: bool,
    dry_run: bool,
    source: SourceLine,
    #[serde(flatten)]
    job: Option<Job>,
    warnings: Vec<Warning>,
}

impl Report for Planned {
    fn write_human(&self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(
            out,
            "{BOLD}{}{BOLD:#}  {DIM}{}{DIM:#}",
            safe(&self.source.place),
            self.source.kind
        )?;
        for warning in &self.warnings {
            writeln!(out, "  {ODD}{:<10}{ODD:#} {}", "note", safe(&warning.message))?;
        }
        let Some(job) = &self.job else {
            return writeln!(out, "  {:<10} nothing to do", "embedder");
        };
        writeln!(out, "  {:<10} {} ({})", "embedder", job.embedder, safe(&job.model))?;
        let (chunks, texts) = (count(job.chunks, "chunk"), count(job.texts, "text"));
        writeln!(out, "  {:<10} {chunks} without vectors", "missing")?;
        let Job { characters, tokens, .. } = job;
        writeln!(out, "  {:<10} {texts}, {characters} characters, about {tokens} tokens", "to do")?;
        match job.known {
            Some(known) => writeln!(out, "  {:<10} {}", "known", count(known, "text"))?,
            None => writeln!(out, "  {:<10} nobody knows before it was asked once", "known")?,
        }
        if let Some(host) = &job.host {
            writeln!(out, "  {:<10} {}", "goes to", safe(host))?;
        }
        match &job.replaces {
            Some(model) => writeln!(out, "  {:<10} the vectors of {}", "replaces", safe(model)),
            None => Ok(()),
        }
    }
}

impl Indexed {
    /// Whether anything was taken in or out.
    fn is_news(&self) -> bool {
        let IndexLine { added, changed, removed, .. } = &self.index;
        let embedded = self.filled.as_ref().map_or(0, |it| it.embedded);
        added + changed + removed + embedded > 0 || self.index.rebuilt.is_some()
    }

    fn changes(&self) -> String {
        let IndexLine { added, changed, removed, rebuilt, .. } = &self.index;
        let made = match rebuilt {
            None => String::new(),
            Some("new") => ", built".to_owned(),
            Some(why) => format!(", rebuilt ({why})"),
        };
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
        for VectorLine { model, chunks, missing, .. } in &self.vectors {
            let all = chunks + missing;
            writeln!(out, "  {:<10} {chunks} of {all} chunks by {}", "vectors", safe(model))?;
        }
        if let Some(filled) = &self.filled {
            let Filled { embedder, embedded, reused, known, cut, refused, took_ms, .. } = filled;
            let (new, seconds) = (count(*embedded, "text"), took_ms / 1e3);
            let rest = format!("{reused} came with them, {known} known, in {seconds:.1} s");
            writeln!(out, "  {:<10} {new} by {embedder}, {rest}", "embedded")?;
            if *cut > 0 {
                let texts = count(*cut, "text");
                writeln!(out, "  {ODD}{:<10}{ODD:#} {texts}, too long for the model", "cut short")?;
            }
            if *refused > 0 {
                let texts = count(*refused, "text");
                writeln!(out, "  {ODD}{:<10}{ODD:#} {texts}: {embedder} takes others", "refused")?;
            }
        }
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
        writeln!(out, "  {:<10} {}", "stored in", safe(&self.folder))
    }
}

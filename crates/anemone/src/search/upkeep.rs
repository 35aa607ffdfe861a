//! Looking after indexes: filling one ahead of time, and listing and removing them.

use std::time::Instant;

use anemone_index::{Replace, VectorSet};
use anemone_runtimes::Machine;
use serde::Serialize;

use super::index::{
    IndexError, IndexFallback, KeptIndex, OpenIndex, Rebuild, bytes_of, cache, drop_index, kept,
    note_embedder, noted_embedder, open_fresh,
};
use super::target::{SearchTarget, TargetChoice};
use super::{IndexSummary, NoteWords, SearchError, SearchNote, SourceSummary};
use crate::embedder::{
    ChosenEmbedder, EmbedderChoice, Embedders, FillError, FillReport, Filling, Job, LargeJobs,
    LatencyBudget, Signals, Stop, VectorLine, fill, milliseconds, notes_of, other_model,
    take_carried, vector_lines,
};
use crate::host::Host;
use crate::statement::Statement;

/// Which index is to be brought up to date, and how.
#[derive(Clone, Debug)]
pub struct IndexRequest {
    /// Its source.
    pub target: TargetChoice,
    /// Whether it is emptied first.
    pub rebuild: Rebuild,
    /// Whose vectors it gets.
    pub embedder: EmbedderChoice,
    /// What happens to vectors of another model.
    pub replace: Replace,
    /// Whether much may be sent to a service.
    pub large_jobs: LargeJobs,
}

/// An index that is up to date.
#[derive(Debug, Serialize)]
pub struct IndexReport {
    /// Its source.
    pub source: SourceSummary,
    /// Where it is.
    pub folder: String,
    /// Its content.
    #[serde(flatten)]
    pub index: IndexSummary,
    /// Bytes on disk.
    pub bytes: u64,
    /// The vectors that it has.
    pub vectors: Vec<VectorLine>,
    /// What was done for them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub filled: Option<FillReport>,
    /// What is not searched, the first of it.
    pub skipped_paths: Vec<SkippedPath>,
    /// What the user should know.
    pub warnings: Vec<Statement<SearchNote, NoteWords>>,
    /// Milliseconds that it took.
    pub took_ms: f64,
}

impl IndexReport {
    /// Whether anything was taken in or out.
    #[must_use]
    pub fn is_news(&self) -> bool {
        let IndexSummary { added, changed, removed, rebuilt, .. } = &self.index;
        let embedded = self.filled.as_ref().map_or(0, |filled| filled.embedded);
        added + changed + removed + embedded > 0 || rebuilt.is_some()
    }
}

/// Something that is not searched.
#[derive(Debug, Serialize)]
pub struct SkippedPath {
    /// The file or folder.
    pub path: String,
    /// Why.
    pub reason: &'static str,
}

/// How many of them are named.
const MOST_SKIPPED: usize = 100;

/// What filling in vectors would take.
#[derive(Debug, Serialize)]
pub struct VectorPlan {
    dry_run: bool,
    /// What is searched.
    pub source: SourceSummary,
    /// The work; `None` where no embedder is used.
    #[serde(flatten)]
    pub job: Option<Job>,
    /// What the user should know.
    pub warnings: Vec<Statement<SearchNote, NoteWords>>,
}

/// Resolves the target. An encrypted archive has no permanent index, so it is refused.
fn indexable(
    choice: &TargetChoice,
    machine: &Machine,
    host: &Host,
) -> Result<SearchTarget, SearchError> {
    let target = choice.find(machine, host)?;
    if target.is_encrypted() {
        return Err(SearchError::NeverKept(target.place));
    }
    Ok(target)
}

/// Says what filling in vectors would take. The index itself is brought up to date for that, and
/// has the vectors that came along.
pub fn plan_vectors(request: &IndexRequest, host: &Host) -> Result<VectorPlan, SearchError> {
    let machine = host.machine()?;
    let target = indexable(&request.target, &machine, host)?;
    let mut open = open_fresh(&target, host, Rebuild::No, IndexFallback::Fail)?;
    let (choice, plan) = (&request.embedder, LatencyBudget::Plan);
    let embedders = Embedders::choose(choice, &open.index, &target, &plan, host)?;
    let Embedders { main, notes: mut warnings, .. } = embedders;
    if let Some(main) = &main {
        warnings.extend(notes_of(&take_carried(&mut open.index, &target, main)?));
    }
    let job = main.map(|main| Job::of(&open.index, &main)).transpose()?;
    let warnings = Statement::list(warnings);
    Ok(VectorPlan { dry_run: true, source: SourceSummary::of(&target), job, warnings })
}

/// Finds the sources and refreshes their index, with its vectors.
///
/// A caller that passes a `stop` listens for signals and sets it; otherwise the filling of vectors
/// listens by itself.
pub fn update_index(
    request: &IndexRequest,
    stop: Option<&Stop>,
    host: &Host,
) -> Result<IndexReport, SearchError> {
    let started = Instant::now();
    let machine = host.machine()?;
    let target = indexable(&request.target, &machine, host)?;
    host.console.when_interrupted("the index is not finished; the next search builds it");
    let mut open = open_fresh(&target, host, request.rebuild, IndexFallback::Fail)?;
    host.console.when_interrupted("the index is ready");
    let (filled, notes) = embed(request, &mut open, &target, stop, host)?;
    let mut warnings = open.notes(&target);
    warnings.extend(notes);
    let skipped = open.freshness.skipped.iter().take(MOST_SKIPPED);
    Ok(IndexReport {
        source: SourceSummary::of(&target),
        folder: target.index_folder.display().to_string(),
        index: IndexSummary::of(&open.freshness),
        bytes: bytes_of(&target.index_folder),
        vectors: vector_lines(&open.index)?,
        filled,
        skipped_paths: skipped
            .map(|skipped| SkippedPath {
                path: skipped.path.clone(),
                reason: skipped.reason.as_str(),
            })
            .collect(),
        warnings: Statement::list(warnings),
        took_ms: milliseconds(started),
    })
}

/// Fills in the vectors of the chosen embedder. If an embedder that was not named fails, only its
/// vectors are missing, and the index stays.
fn embed(
    request: &IndexRequest,
    open: &mut OpenIndex,
    target: &SearchTarget,
    stop: Option<&Stop>,
    host: &Host,
) -> Result<(Option<FillReport>, Vec<SearchNote>), SearchError> {
    let signals = if stop.is_some() { Signals::Others } else { Signals::Filling };
    let stop = stop.cloned().unwrap_or_default();
    let budget = LatencyBudget::Vectors(stop.clone());
    let embedders = Embedders::choose(&request.embedder, &open.index, target, &budget, host)?;
    let Embedders { main, mut notes, .. } = embedders;
    let Some(main) = main.filter(ChosenEmbedder::is_work) else { return Ok((None, notes)) };
    let is_named = request.embedder.is_named();
    let IndexRequest { large_jobs, .. } = *request;
    // Vectors that are made here only cost time; a service is paid for them again.
    let replace = if main.is_remote() { request.replace } else { Replace::Yes };
    let before = other_model(&open.index, &main)?;
    let filling = Filling { replace, large_jobs, stop: &stop, signals };
    let result = fill(&mut open.index, target, &main, &filling, host);
    let own = |set: &VectorSet| set.identity == *main.identity() && set.chunks > 0;
    // An embedder that failed must not replace one that worked.
    let is_better = result.is_ok() || noted_embedder(target, host).is_none();
    if is_named && is_better && open.index.vector_sets()?.iter().any(own) {
        note_embedder(target, host, main.to_note());
    }
    match result {
        Ok(mut filled) => {
            notes.append(&mut filled.notes);
            if let Some(before) = before {
                let (from, to) = (before.model, filled.model.clone());
                notes.push(SearchNote::ModelReplaced { from, to });
            }
            Ok((Some(filled), notes))
        }
        Err(error) if !is_named && !matches!(error, FillError::Stopped { .. }) => {
            notes.push(SearchNote::NotFilled(error));
            Ok((None, notes))
        }
        Err(error) => Err(error.into()),
    }
}

/// The indexes in the cache.
#[derive(Debug, Serialize)]
pub struct IndexList {
    /// Where they are.
    pub folder: String,
    /// The indexes.
    pub indexes: Vec<KeptIndex>,
    /// Their bytes on disk.
    pub bytes: u64,
}

/// Lists the indexes in the cache.
pub fn list_indexes(host: &Host) -> Result<IndexList, IndexError> {
    let indexes = kept(host)?;
    let bytes = indexes.iter().map(|index| index.bytes).sum();
    Ok(IndexList { folder: cache(host).display().to_string(), indexes, bytes })
}

/// Whether something is done, or only said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Apply {
    /// It is done.
    Yes,
    /// The plan was reported, and nothing was done.
    DryRun,
}

/// Indexes that went, or would go.
#[derive(Debug, Serialize)]
pub struct PruneReport {
    /// Whether they only would go.
    pub dry_run: bool,
    /// The indexes.
    pub removed: Vec<KeptIndex>,
    /// How many stay.
    pub kept: u64,
    /// Bytes of those that went.
    pub bytes: u64,
}

/// Removes the indexes of deleted sources. An index without a note stays.
pub fn prune_indexes(apply: Apply, host: &Host) -> Result<PruneReport, IndexError> {
    let (removed, kept): (Vec<_>, Vec<_>) = kept(host)?.into_iter().partition(KeptIndex::is_orphan);
    if apply == Apply::Yes {
        for index in &removed {
            index.remove()?;
        }
    }
    let bytes = removed.iter().map(|index| index.bytes).sum();
    let dry_run = apply == Apply::DryRun;
    Ok(PruneReport { dry_run, removed, kept: kept.len() as u64, bytes })
}

/// The index of one memory, removed.
#[derive(Debug, Serialize)]
pub struct DropReport {
    /// Whether there was one.
    pub dropped: bool,
    /// Where it lay.
    pub folder: String,
    /// Its bytes on disk.
    pub bytes: u64,
}

/// Removes the index of a search target.
pub fn remove_index(choice: &TargetChoice, host: &Host) -> Result<DropReport, SearchError> {
    let machine = host.machine()?;
    let target = choice.find(&machine, host)?;
    let bytes = bytes_of(&target.index_folder);
    let dropped = drop_index(&target, host)?;
    let folder = target.index_folder.display().to_string();
    Ok(DropReport { dropped, folder, bytes: if dropped { bytes } else { 0 } })
}

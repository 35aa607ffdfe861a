//! Forgets entries: removes them from the files or rows of a memory and from the search index, and
//! searches for remaining copies.
//!
//! The steps and their order make it safe to interrupt a forget at any moment:
//! 1. an earlier forget that was interrupted is finished, see [`ForgetMarker`];
//! 2. the entries are found and planned, and the user confirms a choice that may match more than
//!    expected;
//! 3. the index returns the hashes of the texts that are about to change;
//! 4. under the lock the forget is planned again, recorded durably and in the journal, and the
//!    entries are removed;
//! 5. the texts are removed from the index, the database's unused pages, and other indexes;
//! 6. with `--for-good` they are removed from the journal. This comes last: as long as the journal
//!    contains the texts, an interrupted forget knows what to search for;
//! 7. everything that may hold them is searched.

mod holders;
mod report;

use std::collections::HashSet;
use std::io;
use std::path::{Path, PathBuf};

use anemone_format::sha256_hex;
use anemone_index::{
    Hit, Index, NoProgress, OpenIndexError, Request, TextHashes, is_index, remove_index,
};
use anemone_memory::{
    ApplyForgetError, EntryToForget, ErasedEntries, ErasureProbes, Finality, Finder,
    FinishedForget, ForgetMarker, ForgetNote, ForgetPlan, ForgetTarget, ListedEntry, Memory,
    citation_of, plan_forget,
};
use anemone_runtimes::Machine;
use jiff::Timestamp;

use self::holders::HolderSearch;
pub use self::holders::{ArchiveOrigin, HolderKind, TextHolder};
pub use self::report::{
    ErasureProof, ForgetReport, ForgetWarning, HolderMessage, LostChange, PathFound, SkippedFile,
};
use crate::agent_memory::{Access, AgentMemory, AgentMemoryError, MemoryChoice, NotWritable};
use crate::days::{EmptyPeriodError, check_period};
use crate::host::Host;
use crate::known_folders::{FolderKind, known_folders};
use crate::search::index::{IndexError, kept};
use crate::store_entries::StoreEntries;
use crate::text::has_all_words;

/// Hits of a query that are counted, at most.
const MOST_HITS: usize = 200;

/// What is forgotten.
#[derive(Clone, Debug)]
pub struct ForgetRequest {
    /// Whose memory.
    pub memory: MemoryChoice,
    /// Which entries of it.
    pub choice: ForgetChoice,
    /// Whether it can be brought back.
    pub finality: Finality,
    /// Whether anything is changed.
    pub dry_run: bool,
}

/// Which entries are forgotten.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ForgetChoice {
    /// Every entry with a key, superseded ones included.
    Key(String),
    /// Entries by their ids, or the lines of citations.
    Ids(Vec<String>),
    /// The best matches that contain all words of a text.
    Query {
        /// The words.
        text: String,
        /// How many entries at most.
        limit: u32,
    },
    /// Everything that was written in a session.
    Session(String),
    /// Everything that was written in a time; both ends belong to it.
    Written {
        /// From here.
        since: Option<Timestamp>,
        /// To here.
        until: Option<Timestamp>,
    },
}

impl ForgetChoice {
    /// Whether it can match more than the user has in mind: a search, a session, a period.
    #[must_use]
    pub const fn is_wide(&self) -> bool {
        !matches!(self, Self::Key(_) | Self::Ids(_))
    }
}

/// Who confirms the matches of a wide choice.
pub enum Confirmation<'a> {
    /// The user has already confirmed.
    Given,
    /// The user is asked once the entries are known.
    Ask(&'a mut dyn FnMut(&[&EntryToForget]) -> io::Result<bool>),
    /// There is no confirmation and no user to ask: a wide choice is refused.
    Impossible,
}

/// Why nothing was forgotten.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
#[non_exhaustive]
pub enum ForgetError {
    /// No time is in the period that was asked for.
    EmptyPeriod(#[from] EmptyPeriodError),
    /// The choice can match several entries, and there is no user to confirm it.
    #[error("the choice can match several entries and needs confirmation")]
    NotConfirmed,
    /// No entry matches.
    #[error("no entry matches")]
    NothingToForget {
        /// The query, if that is what was asked for.
        query: Option<String>,
        /// The first of the files that were not searched.
        skipped: Option<SkippedFile>,
    },
    /// What matches is in a store that only the runtime writes.
    #[error("{} cannot be forgotten here: only the runtime writes this store", .0)]
    ReadOnly(
        /// The citation of the memory.
        String,
    ),
    /// The agent has no memory that can be written.
    NotWritable(#[from] NotWritable),
    /// It could not be planned, or it was changed meanwhile.
    Apply(#[from] ApplyForgetError),
    /// The memory cannot be opened, read or changed, or the question to the user failed.
    Memory(AgentMemoryError),
    /// The index cannot be opened.
    OpenIndex(OpenIndexError),
    /// Another index of the same memory.
    Index(#[from] IndexError),
}

impl<E: Into<AgentMemoryError>> From<E> for ForgetError {
    fn from(error: E) -> Self {
        Self::Memory(error.into())
    }
}

/// Forgets something. Until [`ForgetReport::told`] is called, the same request can be repeated and
/// reports the same again.
pub fn forget(
    request: &ForgetRequest,
    confirmation: Confirmation<'_>,
    host: &Host,
) -> Result<ForgetReport, ForgetError> {
    let named = request.named(host)?;
    if matches!(confirmation, Confirmation::Impossible)
        && request.choice.is_wide()
        && !request.dry_run
    {
        return Err(ForgetError::NotConfirmed);
    }
    let access = Access::Write.unless(request.dry_run);
    let (machine, living) = request.memory.open(access, host)?;
    let memory = living.writable()?;
    // Anything interrupted is finished before entries are looked for, because lines may have moved
    // since. This is not left to [`Access::Change`], because the report includes forgets that are
    // finished here.
    let resumed = if request.dry_run {
        ResumedForgets::default()
    } else {
        ResumedForgets::of(&*memory, &request.fingerprint())?
    };
    let finder = living.finder(&machine, host)?;
    let (target, others) = match (resumed.files_changed, named) {
        (true, None | Some(ForgetTarget::Ids(_))) => {
            (ForgetTarget::Ids(resumed.stable_ids()), None)
        }
        (_, Some(named)) => (named, None),
        (false, None) => request.matches(&*memory, &finder, host)?,
    };
    let plan = plan_forget(&*memory, &target)?;
    let kept = match request.finality {
        Finality::ForGood => request.only_in_journal(&*memory, &target, &plan)?,
        Finality::Undoable => Vec::new(),
    };
    let is_nothing = plan.all().is_empty();
    if is_nothing && kept.is_empty() && resumed.entries.is_empty() {
        if let Some(citation) = request.in_store(&living, &machine, host) {
            return Err(ForgetError::ReadOnly(citation));
        }
        let skipped = plan.skipped.first().map(SkippedFile::of);
        let query = match &request.choice {
            ForgetChoice::Query { text, .. } => Some(text.clone()),
            _ => None,
        };
        return Err(ForgetError::NothingToForget { query, skipped });
    }
    let asked: Vec<&EntryToForget> = plan.all().into_iter().chain(&kept).collect();
    let all: Vec<&EntryToForget> = resumed.entries.iter().chain(asked.iter().copied()).collect();
    let mut report = ForgetReport::planned(&all, &plan.skipped, request.dry_run);
    report.notes.extend(resumed.note());
    report.notes.extend(others);
    let tables = plan.tables_without_rows.iter();
    report.notes.extend(tables.map(|path| ForgetWarning::TableWithoutRows(path.clone())));
    if !kept.is_empty() {
        report.notes.push(ForgetWarning::OnlyInJournal(kept.len()));
    }
    let erased = ErasedEntries::new(all.iter().copied());
    if request.finality == Finality::ForGood {
        report.undo_lost = LostChange::all(&memory.store().plan_erasure(&erased)?);
    }
    if request.dry_run {
        return Ok(report);
    }
    if let Confirmation::Ask(ask) = confirmation
        && request.choice.is_wide()
        && !asked.is_empty()
        && !ask(&asked)?
    {
        return Ok(report.declined());
    }

    let index = Index::open(finder.folder()).map_err(ForgetError::OpenIndex)?;
    let before = finder.texts_of(&index, &plan.documents())?;
    let texts = all.iter().map(|entry| entry.text.as_str()).filter(|text| !text.is_empty());
    let probes = ErasureProbes::new(texts);
    let other_indexes = other_indexes(&*memory, finder.folder(), host)?;
    let begun = if is_nothing {
        None
    } else {
        let note = request.note(finder.folder(), &other_indexes, host);
        Some(plan.apply(&*memory, &target, note, &host.clock)?)
    };
    report.tombstones = all.len() - kept.len();
    report.can_be_undone =
        request.finality == Finality::Undoable && (begun.is_some() || !resumed.is_for_good());

    clear_index(index, &finder, &before, &probes, request.finality, host)?;
    if !compact(&*memory, &probes) {
        report.notes.push(ForgetWarning::DatabaseInUse);
    }
    report.dropped_indexes = drop_indexes(&other_indexes, &probes)?;
    if request.finality == Finality::ForGood {
        report.dropped_changes = Some(clear_journal(&*memory, begun.as_ref(), &erased)?);
    }
    let search = HolderSearch {
        living: &living,
        memory: &*memory,
        machine: &machine,
        host,
        probes: &probes,
        index: finder.folder(),
        finality: request.finality,
    };
    let found = search.run();
    if found.moved > 0 {
        report.notes.push(ForgetWarning::ArchivesMoved(found.moved));
    }
    let unknown = resumed.entries.iter().filter(|entry| entry.text.is_empty()).count();
    report.proof = Some(found.into_proof(&probes, unknown));
    if request.finality == Finality::ForGood
        && living.runtime.own_index.is_some()
        && living.agent.install.is_none()
    {
        report.notes.push(ForgetWarning::NoInstall(living.runtime.title));
    }
    report.under_way(begun, resumed.finished);
    Ok(report)
}

/// Removes a text from the index of this memory.
fn clear_index(
    mut index: Index,
    finder: &Finder,
    before: &TextHashes,
    probes: &ErasureProbes,
    finality: Finality,
    host: &Host,
) -> Result<(), ForgetError> {
    finder.forget(&mut index, before, host.now())?;
    index.release();
    // A short text cannot be searched for in a database.
    let may_hold_it = finality == Finality::ForGood && probes.too_short > 0;
    if may_hold_it || !probes.scan(&[finder.folder().to_owned()]).found.is_empty() {
        // Deleting the whole database also removes the remains in its unused pages.
        index.clear();
        finder.refresh(&mut index, host.now())?;
        index.release();
    }
    Ok(())
}

/// Removes texts from the unused pages of the memory's database; `false` when they stay, because
/// the user uses it.
fn compact(memory: &dyn Memory, probes: &ErasureProbes) -> bool {
    let Some(rows) = memory.rows() else { return true };
    let database = rows.database().to_owned();
    probes.scan(&[database]).found.is_empty() || rows.compact().is_ok()
}

/// Removes texts from what undo goes back to; returns how many changes can no longer be undone.
fn clear_journal(
    memory: &dyn Memory,
    begun: Option<&ForgetMarker>,
    gone: &ErasedEntries,
) -> Result<usize, ForgetError> {
    let held = memory.store().lock()?;
    if let Some(begun) = begun {
        begun.erase()?;
    }
    let dropped = held.erase_from_journal(gone)?.dropped.len();
    if let Some(begun) = begun {
        held.drop_own_changes(begun)?;
    }
    Ok(dropped)
}

/// Returns the other indexes of the same memory, such as one with its conversations.
fn other_indexes(
    memory: &dyn Memory,
    own: &Path,
    host: &Host,
) -> Result<Vec<PathBuf>, ForgetError> {
    let root = memory.store().root();
    let is_same = |place: &Path| {
        memory.rows().is_some_and(|rows| rows.database() == place)
            || place == root
            || fs_err::canonicalize(place).is_ok_and(|place| place == root)
    };
    let mut found = Vec::new();
    for other in kept(host)? {
        if other.source.as_ref().is_some_and(|source| is_same(Path::new(&source.place))) {
            found.push(PathBuf::from(&other.folder));
        }
    }
    for other in known_folders(host, FolderKind::Index) {
        if other.place.as_deref().is_some_and(is_same) {
            found.push(other.folder);
        }
    }
    found.retain(|folder| folder != own && is_index(folder));
    found.dedup();
    Ok(found)
}

/// Removes indexes that hold a text: they are rebuilt when they are next needed.
fn drop_indexes(folders: &[PathBuf], probes: &ErasureProbes) -> Result<Vec<String>, ForgetError> {
    let mut dropped = Vec::new();
    for folder in folders {
        if !probes.scan(std::slice::from_ref(folder)).found.is_empty() {
            let removed = remove_index(folder, &NoProgress).map_err(OpenIndexError::from);
            removed.map_err(IndexError::from)?;
            dropped.push(folder.display().to_string());
        }
    }
    Ok(dropped)
}

impl ForgetRequest {
    /// Returns the target, unless it has to be searched for.
    fn named(&self, host: &Host) -> Result<Option<ForgetTarget>, ForgetError> {
        Ok(Some(match &self.choice {
            ForgetChoice::Query { .. } => return Ok(None),
            ForgetChoice::Key(key) => ForgetTarget::Key(key.clone()),
            ForgetChoice::Ids(ids) => ForgetTarget::Ids(ids.clone()),
            ForgetChoice::Session(session) => ForgetTarget::Session(session.clone()),
            &ForgetChoice::Written { since, until } => {
                check_period(since, until)?;
                ForgetTarget::Written { since, until, zone: host.zone() }
            }
        }))
    }

    /// Returns a digest that identifies the same request when it is repeated.
    fn fingerprint(&self) -> String {
        sha256_hex(format!("{:?}", self.choice).as_bytes())
    }

    /// Describes the forget in advance; its changes are not known yet.
    fn note(&self, index: &Path, others: &[PathBuf], host: &Host) -> ForgetNote {
        let indexes = std::iter::once(index.to_owned()).chain(others.iter().cloned());
        ForgetNote {
            request: self.fingerprint(),
            finality: self.finality,
            files: None,
            rows: None,
            indexes: indexes.collect(),
            at: host.now(),
        }
    }

    /// Returns the citation of a memory that is chosen and that is in a store beside the workspace.
    fn in_store(&self, memory: &AgentMemory, machine: &Machine, host: &Host) -> Option<String> {
        let is_chosen = |entry: &ListedEntry| match &self.choice {
            ForgetChoice::Ids(ids) => {
                let names = |id: &String| {
                    *id == entry.id || id.split('#').next() == Some(entry.path.as_str())
                };
                ids.iter().any(names)
            }
            ForgetChoice::Query { text, .. } => has_all_words(&entry.text, text),
            ForgetChoice::Key(_) | ForgetChoice::Session(_) | ForgetChoice::Written { .. } => false,
        };
        let stores = StoreEntries::of(memory, machine, &host.zone());
        let found = stores.entries.into_iter().find(is_chosen)?;
        Some(citation_of(&found.path, found.lines))
    }

    /// Finds the entries that have all words of the query, and says how many more have them.
    fn matches(
        &self,
        memory: &dyn Memory,
        finder: &Finder,
        host: &Host,
    ) -> Result<(ForgetTarget, Option<ForgetWarning>), ForgetError> {
        let ForgetChoice::Query { text: query, limit } = &self.choice else {
            return Ok((ForgetTarget::Ids(Vec::new()), None));
        };
        let mut request = Request::new(query, host.now());
        request.limit = MOST_HITS;
        let hits = finder.search(&request)?.hits;
        // Hits that only have a similar meaning, or lack a word of the query, do not count.
        let is_meant = |text: &str| has_all_words(text, query);
        let hits: Vec<Hit> = hits.into_iter().filter(|hit| is_meant(&hit.text)).collect();
        let mut ids: Vec<String> =
            memory.ids_of_hits(&hits, &is_meant)?.into_iter().flatten().collect();
        let mut met = HashSet::new();
        ids.retain(|id| met.insert(id.clone()));
        // A hit may show several entries, but no more entries are forgotten than were requested.
        let others = ids.split_off(ids.len().min(*limit as usize)).len();
        let is_least = hits.len() >= MOST_HITS;
        let query = query.clone();
        let others =
            (others > 0).then_some(ForgetWarning::OtherMatches { query, others, is_least });
        Ok((ForgetTarget::Ids(ids), others))
    }

    /// Returns chosen entries that are only in the undo journal, because they were forgotten
    /// before.
    fn only_in_journal(
        &self,
        memory: &dyn Memory,
        target: &ForgetTarget,
        plan: &ForgetPlan,
    ) -> Result<Vec<EntryToForget>, ForgetError> {
        let store = memory.store();
        let planned = plan.all();
        let mut kept: Vec<EntryToForget> = match &self.choice {
            // Entries in the files come first, as they do in a search.
            ForgetChoice::Query { .. } if !planned.is_empty() => Vec::new(),
            ForgetChoice::Query { text, limit } => {
                let all = store.kept_entries()?.into_iter().map(|kept| kept.entry);
                all.filter(|entry| has_all_words(&entry.text, text)).take(*limit as usize).collect()
            }
            _ => {
                let mut target = target.clone();
                // Lines that hold something now mean that, and not what stood there once.
                if let ForgetTarget::Ids(ids) = &mut target
                    && !plan.entries.is_empty()
                {
                    ids.retain(|id| !id.contains("#L"));
                }
                store.kept_entries_of(&target)?.into_iter().map(|kept| kept.entry).collect()
            }
        };
        if let Some(rows) = memory.rows() {
            let ids = kept.iter().map(|entry| entry.id.clone()).collect();
            let current = rows.matching(&ForgetTarget::Ids(ids))?;
            kept.retain(|entry| !current.iter().any(|row| row.entry.text == entry.text));
        }
        kept.retain(|entry| !planned.iter().any(|other| other.text == entry.text));
        Ok(kept)
    }
}

/// What an earlier run of the same request had begun and this one finished.
#[derive(Default)]
struct ResumedForgets {
    entries: Vec<EntryToForget>,
    files_changed: bool,
    /// How many entries of other requests were finished.
    others: usize,
    finished: Vec<FinishedForget>,
}

impl ResumedForgets {
    fn of(memory: &dyn Memory, request: &str) -> Result<Self, ForgetError> {
        let finished = memory.store().lock()?.take_finished_forgets();
        let mut resumed = Self::default();
        for one in finished {
            if one.request == request {
                resumed.entries.extend(one.entries.iter().cloned());
                resumed.files_changed |= one.files_changed;
                resumed.finished.push(one);
            } else {
                resumed.others += one.entries.len();
                one.end();
            }
        }
        Ok(resumed)
    }

    fn is_for_good(&self) -> bool {
        self.finished.iter().any(|forget| forget.finality == Finality::ForGood)
    }

    /// Returns the ids that name the same entry whatever else was changed: not citations.
    fn stable_ids(&self) -> Vec<String> {
        let ids = self.entries.iter().map(|entry| &entry.id);
        ids.filter(|id| !id.contains("#L")).cloned().collect()
    }

    fn note(&self) -> Option<ForgetWarning> {
        let (own, others) = (self.entries.len(), self.others);
        (own + others > 0).then_some(ForgetWarning::Resumed { own, others })
    }
}

#[cfg(test)]
mod tests;

//! Looks at one agent, from outside.

use std::io::Read as _;
use std::path::Path;

use anemone_files::FileStat;
use anemone_format::Moment;
use anemone_index::{IndexState, RefreshError, peek};
use anemone_memory::MarkdownStore;
use anemone_runtimes::{Machine, MemoryBackend, Searchable};
use jiff::Timestamp;

use super::problems::{AgentFacts, Problem, problems};
use super::{AgentName, AgentStatus, LastExport, Readiness, SearchStatus};
use crate::agent::{ChosenAgent, NamedAgent};
use crate::agent_memory::{Access, store_of};
use crate::exports::last_of;
use crate::host::Host;
use crate::identity::identify;
use crate::sealed_header::Packaging;
use crate::search::target::{SearchTarget, TargetChoice};
use crate::settings::settings_and_places;
use crate::statement::Statement;
use crate::survey::AgentScan;

/// How every database of SQLite's starts.
const SQLITE_MAGIC: &[u8] = b"SQLite format 3\0";

pub(super) fn look(
    found: &NamedAgent,
    name: AgentName,
    machine: &Machine,
    host: &Host,
) -> AgentStatus {
    let NamedAgent { runtime, agent, alias } = found;
    let now = host.now();
    let searchable = runtime.searchable(machine, agent);
    let scan = AgentScan::with_stores(runtime, agent, searchable.stores.clone());
    let workspace_exists = scan.workspace.is_dir();
    let noted = last_of(host, &identify(runtime, agent, host));
    let mut memories = Vec::new();
    let survey = match &noted {
        Some(export) => export.compare(&scan, Some(&mut memories)),
        None => scan.run_since(None, None, Some(&mut memories)),
    };
    // If files could not be examined, the index may know more.
    let is_whole = survey.unreadable == 0 && !survey.is_partial;
    let memories = is_whole.then_some(&memories[..]);
    let last_export = noted.map(|export| LastExport {
        sealed: is_sealed(&export.path()),
        exists: fs_err::metadata(export.path()).is_ok_and(|there| there.is_file()),
        archive: export.archive,
        at: export.at,
        file_size: export.size_bytes,
        changed_since: survey.changed,
    });
    let store = store_of(runtime, agent, &searchable.keeps, Access::Read, host).ok();
    let (search, source_trouble) = search(found, memories, machine, host);
    let facts = AgentFacts {
        workspace_exists,
        has_rows: rows(&searchable).is_some_and(Path::is_file),
        database_trouble: rows(&searchable).and_then(database_trouble),
        source_trouble,
        unreadable: survey.unreadable,
        is_partial: survey.is_partial,
        unfinished: store.as_ref().map(unfinished).unwrap_or_default(),
        last_export: last_export.clone(),
        search: search.clone(),
        now,
    };
    let hook_writes = store.map(|store| store.hook_writes(start_of_day(host, now)));
    let mut problems = problems(facts);
    let settings = settings_and_places(runtime, agent, machine, host).settings;
    let refused = settings.into_iter().filter(|setting| setting.refusal().is_some());
    problems.extend(refused.map(Problem::SettingIgnored));
    for oddity in &agent.oddities {
        // What was seen from outside has been said.
        if !problems.iter().any(|problem| problem.covers(oddity.kind)) {
            problems.push(Problem::Oddity { kind: oddity.kind, message: oddity.message.clone() });
        }
    }
    AgentStatus {
        runtime: agent.runtime,
        generation: agent.generation,
        version: agent.version.clone(),
        alias: alias.clone(),
        workspace: agent.workspace.display().to_string(),
        workspace_exists,
        files: survey.files,
        bytes: survey.bytes,
        last_change: survey.newest.map(Moment::from),
        last_export,
        search,
        hook_writes: hook_writes.unwrap_or_default(),
        problems: Statement::list(problems),
        name,
        is_connectable: true,
    }
}

/// Returns when today began, where this machine is.
fn start_of_day(host: &Host, now: Timestamp) -> Timestamp {
    let today = now.to_zoned(host.zone());
    today.start_of_day().map_or(now, |start| start.timestamp())
}

/// Whether an archive is sealed: by how it begins, or where it is gone, by its name.
fn is_sealed(path: &Path) -> bool {
    let is_file = fs_err::metadata(path).is_ok_and(|there| there.is_file());
    let read = is_file.then(|| Packaging::read(&mut fs_err::File::open(path)?));
    match read {
        Some(Ok(packaging)) => packaging.is_sealed(),
        Some(Err(_)) | None => path.extension().is_some_and(|ending| ending == "age"),
    }
}

/// Returns the database in which the agent remembers, if it does so in one.
fn rows(searchable: &Searchable) -> Option<&Path> {
    match &searchable.keeps {
        MemoryBackend::Sqlite(path) => Some(path),
        MemoryBackend::Markdown | MemoryBackend::None | MemoryBackend::External(_) => None,
    }
}

/// Says why an existing file cannot be a database.
fn database_trouble(path: &Path) -> Option<String> {
    let there = fs_err::metadata(path).ok()?;
    if !there.is_file() {
        return Some(format!("{} is not a file", path.display()));
    }
    let mut start = Vec::new();
    let read = fs_err::File::open(path)
        .and_then(|file| file.take(SQLITE_MAGIC.len() as u64).read_to_end(&mut start));
    match read {
        Err(error) => Some(error.to_string()),
        // One that nothing was put into yet has no bytes.
        Ok(_) if start.is_empty() || start == SQLITE_MAGIC => None,
        Ok(_) => Some(format!("{} is not an SQLite database", path.display())),
    }
}

/// Says whether search is ready, or why it cannot be told.
fn search(
    found: &NamedAgent,
    memories: Option<&[(String, FileStat)]>,
    machine: &Machine,
    host: &Host,
) -> (SearchStatus, Option<RefreshError>) {
    let chosen = ChosenAgent { runtime: found.runtime, agent: found.agent.clone() };
    let Ok(target) = TargetChoice::of_agent(chosen, machine, host) else {
        return (SearchStatus::without_counts(Readiness::Nothing), None);
    };
    match SearchStatus::of(&target, memories) {
        Ok(status) => (status, None),
        Err(error) => (SearchStatus::without_counts(Readiness::Unknown), Some(error)),
    }
}

impl SearchStatus {
    /// Examines the index of a search target; all counts of its documents and chunks come from
    /// here. `memories` are the files of the workspace, if they are known.
    pub fn of(
        target: &SearchTarget,
        memories: Option<&[(String, FileStat)]>,
    ) -> Result<Self, RefreshError> {
        let state = match peek(&target.index_folder, &target.sources(), memories)? {
            IndexState::Absent => Readiness::Missing,
            IndexState::Busy => Readiness::Busy,
            IndexState::Unfinished => Readiness::Unfinished,
            IndexState::Outdated => Readiness::Outdated,
            IndexState::Broken => Readiness::Damaged,
            IndexState::Whole(held) => {
                let changed = held.changed + held.removed;
                let state = if changed == 0 { Readiness::Ready } else { Readiness::Behind };
                let (documents, chunks) = (Some(held.documents), Some(held.chunks));
                return Ok(Self { state, documents, chunks, changed });
            }
        };
        Ok(Self::without_counts(state))
    }

    fn without_counts(state: Readiness) -> Self {
        Self { state, documents: None, chunks: None, changed: 0 }
    }
}

/// Counts changes of ours that were begun and not completed.
fn unfinished(store: &MarkdownStore) -> u64 {
    store.unfinished().unwrap_or_default() as u64
}

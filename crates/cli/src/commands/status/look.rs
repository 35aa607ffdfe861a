//! Looks at one agent, from outside.

use std::io::Read as _;
use std::path::Path;

use anemone_format::Moment;
use anemone_index::{DocumentSource, IndexState, peek};
use anemone_runtimes::{Machine, MemoryBackend, Searchable};
use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::problems::{Facts, Problem, problems};
use super::{AgentStatus, Found, LastExport, Readiness, Search};
use crate::agent::ChosenAgent;
use crate::exports::last_of;
use crate::living::site_of;
use crate::sealed_header::Packaging;
use crate::survey::{WorkspaceScan, real};
use anemone::host::Host;
use anemone::search::target::TargetChoice;

/// How every database of SQLite's starts.
const SQLITE_MAGIC: &[u8] = b"SQLite format 3\0";

pub(super) fn at(
    found: &Found,
    words: String,
    machine: &Machine,
    host: &Host,
    now: Timestamp,
) -> AgentStatus {
    let Found { adapter, agent, alias } = found;
    let searchable = adapter.searchable(machine, agent);
    let workspace = real(&agent.workspace);
    let workspace_exists = workspace.is_dir();
    let noted = last_of(host, &workspace);
    let survey = match &noted {
        Some(export) => export.compare(adapter, &workspace, &searchable.stores),
        None => WorkspaceScan {
            adapter,
            workspace: &workspace,
            stores: &searchable.stores,
            since: None,
            except: None,
        }
        .run(),
    };
    let last_export = noted.map(|it| LastExport {
        sealed: is_sealed(&it.path()),
        exists: fs_err::metadata(it.path()).is_ok_and(|there| there.is_file()),
        archive: it.archive,
        at: it.at,
        file_size: it.size_bytes,
        changed_since: survey.changed,
    });
    let (search, source_trouble) = search(found, machine, host);
    let facts = Facts {
        workspace_exists,
        has_rows: rows(&searchable).is_some_and(Path::is_file),
        database_trouble: rows(&searchable).and_then(database_trouble),
        source_trouble,
        unreadable: survey.unreadable,
        is_partial: survey.is_partial,
        unfinished: unfinished(found, &searchable, host),
        last_export: last_export.clone(),
        search: search.clone(),
        now,
    };
    let site = site_of(adapter, agent, &searchable.keeps, host).ok();
    let hook_writes = site.map(|it| it.hook_writes(start_of_day(now))).unwrap_or_default();
    let mut problems = problems(&facts);
    for oddity in &agent.oddities {
        // What was seen from outside has been said.
        if problems.iter().all(|it| it.code != oddity.code) {
            problems.push(Problem::note(oddity.code, oddity.message.clone()));
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
        hook_writes,
        problems,
        words,
        is_named: false,
        is_connectable: true,
    }
}

/// Returns when today began, where this machine is.
fn start_of_day(now: Timestamp) -> Timestamp {
    let today = now.to_zoned(TimeZone::system());
    today.start_of_day().map_or(now, |it| it.timestamp())
}

/// Whether an archive is sealed: by how it begins, or where it is gone, by its name.
fn is_sealed(path: &Path) -> bool {
    let is_file = fs_err::metadata(path).is_ok_and(|it| it.is_file());
    let read = is_file.then(|| Packaging::read(&mut fs_err::File::open(path)?));
    match read {
        Some(Ok(packaging)) => packaging.is_sealed(),
        Some(Err(_)) | None => path.extension().is_some_and(|it| it == "age"),
    }
}

/// Returns the database in which the agent remembers, if it does so in one.
fn rows(searchable: &Searchable) -> Option<&Path> {
    match &searchable.keeps {
        MemoryBackend::Sqlite(path) => Some(path),
        MemoryBackend::Markdown | MemoryBackend::None | MemoryBackend::External(_) => None,
    }
}

/// Says why a database that is there cannot be one.
fn database_trouble(path: &Path) -> Option<String> {
    let there = fs_err::metadata(path).ok()?;
    if !there.is_file() {
        return Some(format!("{} is not a file", path.display()));
    }
    let mut start = Vec::new();
    let read = fs_err::File::open(path)
        .and_then(|it| it.take(SQLITE_MAGIC.len() as u64).read_to_end(&mut start));
    match read {
        Err(error) => Some(error.to_string()),
        // One that nothing was put into yet has no bytes.
        Ok(_) if start.is_empty() || start == SQLITE_MAGIC => None,
        Ok(_) => Some(format!("{} is not an SQLite database", path.display())),
    }
}

/// Says whether search is ready, or why it cannot be told.
fn search(found: &Found, machine: &Machine, host: &Host) -> (Search, Option<String>) {
    let state = |state| Search { state, documents: None, chunks: None, changed: 0 };
    let chosen = ChosenAgent { adapter: found.adapter, agent: found.agent.clone() };
    let Ok(searched) = TargetChoice::of_agent(chosen, machine, host) else {
        return (state(Readiness::Nothing), None);
    };
    let sources: Vec<&dyn DocumentSource> = searched.sources.iter().map(|it| &**it).collect();
    match peek(&searched.index_folder, &sources) {
        Ok(IndexState::Absent) => (state(Readiness::Missing), None),
        Ok(IndexState::Busy) => (state(Readiness::Busy), None),
        Ok(IndexState::Unfinished) => (state(Readiness::Unfinished), None),
        Ok(IndexState::Outdated) => (state(Readiness::Outdated), None),
        Ok(IndexState::Broken) => (state(Readiness::Damaged), None),
        Ok(IndexState::Whole(held)) => {
            let changed = held.changed + held.removed;
            let state = if changed == 0 { Readiness::Ready } else { Readiness::Behind };
            let (documents, chunks) = (Some(held.documents), Some(held.chunks));
            (Search { state, documents, chunks, changed }, None)
        }
        Err(error) => {
            let error = crate::error::CliError::from(error);
            let parts = std::iter::once(error.message).chain(error.causes);
            (state(Readiness::Unknown), Some(parts.collect::<Vec<_>>().join(": ")))
        }
    }
}

/// Counts changes of ours that were begun and not ended.
fn unfinished(found: &Found, searchable: &Searchable, host: &Host) -> u64 {
    let site = site_of(found.adapter, &found.agent, &searchable.keeps, host).ok();
    let unfinished = site.and_then(|it| it.unfinished().ok());
    unfinished.unwrap_or_default() as u64
}

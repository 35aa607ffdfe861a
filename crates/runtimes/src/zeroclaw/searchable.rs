//! What can be searched of an agent: the rows of its database, its Markdown files and its
//! conversations.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use anemone_format::{AgentId, StampTable};

use super::config::{Backend, Config};
use super::layout::{self, CURATED, MEMORY, PathRole};
use super::{DEFAULT_ALIAS, NAMESPACES, RUNTIME, ZeroClaw, entries, sessions, vectors};
use super::{
    brain::Brain, discover::first_of, discover::is_live, rows::ReadingContext, rows::RowReader,
};
use crate::kit::{
    DatabaseError, FoundAgent, Machine, MemoryBackend, OddityKind, ReadError, SIDECAR,
    SearchAgents, Searchable, SearchableRecord, SearchedFile, SearchedFolder, Store, StoreKind,
    UnsearchedCounts, VectorOf, WantedModel, Warning, is_of_tool, names_in, times, with_logs,
};

impl SearchAgents for ZeroClaw {
    /// Returns what can be searched.
    fn searchable(&self, _: &Machine, agent: &FoundAgent) -> Searchable {
        let mut warnings = Vec::new();
        let config = agent.config.as_ref().map(Config::of).transpose();
        let config = config.unwrap_or_else(|warning| {
            warnings.push(warning);
            None
        });
        let backend = config.as_ref().map(|config| config.backend(&agent.alias));
        if let Some(Backend::Elsewhere(name)) = &backend {
            let message = format!("memories are kept in {name}, out of reach of a search");
            warnings.push(Warning::new("backend_elsewhere", message));
        }
        let is_used = !matches!(backend, Some(Backend::Markdown | Backend::None));
        let mut stores = Vec::new();
        if let Some(path) =
            agent.database.as_deref().filter(|database| is_used && is_live(database))
        {
            let install = agent.install.as_deref().unwrap_or(&agent.workspace);
            let name = path.strip_prefix(&agent.workspace).or_else(|_| path.strip_prefix(install));
            let name = name.unwrap_or(path);
            let (name, files) = (name.to_string_lossy().into_owned(), with_logs(path));
            stores.push(Store { kind: StoreKind::Rows, name, files, folders: Vec::new() });
        }
        let (name, folders) = ("sessions".to_owned(), sessions_in(agent));
        stores.push(Store { kind: StoreKind::Sessions, name, files: Vec::new(), folders });
        Searchable {
            keeps: keeps(backend.as_ref(), agent),
            files: backend != Some(Backend::None) && agent.workspace.is_dir(),
            extra: Vec::new(),
            stores,
            warnings,
        }
    }

    fn files_beside(&self, agent: &FoundAgent) -> Vec<PathBuf> {
        let database = agent.database.as_ref().filter(|database| is_live(database));
        if !agent.workspace.is_dir() && database.is_none() {
            return Vec::new();
        }
        let config = agent.config.as_deref();
        config.into_iter().chain(database.map(|path| &**path)).map(Path::to_owned).collect()
    }

    /// Classifies a file.
    fn file(&self, path: &str) -> SearchedFile {
        match layout::place_of(path.as_bytes()) {
            PathRole::Memory => SearchedFile::Memory(entries::facts_of(path)),
            _ => SearchedFile::Other,
        }
    }

    fn folder(&self, path: &str) -> SearchedFolder {
        folder(path)
    }

    /// Takes a database of memories by its path, for one agent or for all in it.
    fn database(&self, path: &Path, alias: &str) -> Option<(FoundAgent, StoreKind)> {
        let folder = path.parent().unwrap_or(Path::new("/")).to_owned();
        let mut agent = FoundAgent::without_install(RUNTIME, alias.to_owned(), folder);
        agent.database = Some(path.to_owned());
        Some((agent, StoreKind::Rows))
    }

    /// Reads rows or conversations. An agent without a name means all agents in the database.
    fn read_store(
        &self,
        machine: &Machine,
        agent: &FoundAgent,
        kind: StoreKind,
        private: bool,
        take: &mut dyn FnMut(SearchableRecord),
    ) -> Result<UnsearchedCounts, ReadError> {
        let agent_id = NAMESPACES.derive(agent);
        match kind {
            StoreKind::Rows => {
                let Some(path) = agent.database.as_deref() else {
                    return Ok(UnsearchedCounts::default());
                };
                let failed = |error| ReadError::memories(path, error);
                let brain = Brain::open(machine, path).map_err(failed)?;
                let Some(brain) = brain else {
                    let detail = "it holds no table of memories".to_owned();
                    return Err(failed(DatabaseError::Failed(detail)));
                };
                let mut left = UnsearchedCounts::default();
                for alias in aliases(&brain, agent) {
                    let found = rows(&brain, &shared(agent_id, &alias), private, take);
                    left.private += found.map_err(failed)?;
                }
                Ok(left)
            }
            StoreKind::Sessions => {
                let shared = shared(agent_id, &agent.alias);
                let read = sessions::records(machine, agent, &shared, private, &mut |record| {
                    take(SearchableRecord::of_record(record));
                    Ok::<_, ReadError>(())
                })?;
                Ok(UnsearchedCounts {
                    private: u64::from(read.skipped.private > 0),
                    unreadable: read.counts.undecodable + read.skipped.unreadable,
                })
            }
            StoreKind::Facts | StoreKind::Memories => Ok(UnsearchedCounts::default()),
        }
    }

    fn read_vectors(
        &self,
        machine: &Machine,
        agent: &FoundAgent,
        wanted: &WantedModel<'_>,
        private: bool,
        take: &mut dyn FnMut(VectorOf<'_>, Vec<f32>),
    ) -> Result<(), ReadError> {
        vectors::read(machine, agent, wanted, private, take)
    }
}

/// Returns the folders that hold the conversations of an agent; they may not exist.
pub(super) fn sessions_in(agent: &FoundAgent) -> Vec<PathBuf> {
    let (root, _) = sessions::root_of(agent);
    ["sessions", "sessions/archive"].map(|name| root.join(name)).to_vec()
}

/// Returns where the agent stores new memories: without a configuration, where existing ones are.
fn keeps(backend: Option<&Backend>, agent: &FoundAgent) -> MemoryBackend {
    let rows = || agent.database.clone().map_or(MemoryBackend::Markdown, MemoryBackend::Sqlite);
    match backend {
        Some(Backend::Markdown) => MemoryBackend::Markdown,
        Some(Backend::None) => MemoryBackend::None,
        Some(Backend::Elsewhere(name)) => MemoryBackend::External(name.clone()),
        Some(Backend::Sqlite | Backend::Lucid) => rows(),
        None if !agent.database.as_deref().is_some_and(is_live) && has_entries(agent) => {
            MemoryBackend::Markdown
        }
        None => rows(),
    }
}

/// Whether the workspace has files in which ZeroClaw keeps memories if the backend is Markdown.
fn has_entries(agent: &FoundAgent) -> bool {
    let is_entries = |name: &String| name.ends_with(".md");
    agent.workspace.join(CURATED).is_file()
        || names_in(&agent.workspace.join(MEMORY)).iter().any(is_entries)
}

/// Returns what a folder is.
pub(super) fn folder(path: &str) -> SearchedFolder {
    if is_of_tool(path) {
        SearchedFolder::OfTool
    } else if path == SIDECAR {
        SearchedFolder::MachineState
    } else if path == MEMORY || path.starts_with("memory/") {
        SearchedFolder::Memory
    } else {
        SearchedFolder::Other
    }
}

fn shared(agent_id: AgentId, alias: &str) -> ReadingContext<'_> {
    ReadingContext {
        agent_id,
        alias,
        identity_version: None,
        embedding: None,
        // The fallback means that there is no time.
        fallback: times::epoch(),
        embeddings: false,
        stamps: StampTable::default(),
    }
}

/// Returns the aliases whose rows are read.
pub(super) fn aliases(brain: &Brain, agent: &FoundAgent) -> Vec<String> {
    let mut aliases: Vec<String> = brain.agents.iter().map(|agent| agent.alias.clone()).collect();
    if agent.has_oddity(OddityKind::AliasAssumed) {
        return vec![first_of(&aliases).unwrap_or_else(|| agent.alias.clone())];
    }
    if !agent.alias.is_empty() {
        return vec![agent.alias.clone()];
    }
    // Rows without an owner belong to the default agent.
    aliases.push(DEFAULT_ALIAS.to_owned());
    aliases.sort();
    aliases.dedup();
    aliases
}

fn rows(
    brain: &Brain,
    shared: &ReadingContext<'_>,
    private: bool,
    take: &mut dyn FnMut(SearchableRecord),
) -> Result<u64, DatabaseError> {
    let mut reader = RowReader::new(brain, shared, HashSet::new())?;
    let counts = brain.each_row::<DatabaseError>(shared.alias, private, &mut |row| {
        take(SearchableRecord::of_record(reader.record(&brain.columns, &row)));
        Ok(())
    })?;
    Ok(counts.private)
}

#[cfg(test)]
mod tests {
    use jiff::civil::date;
    use rusqlite::Connection;
    use tempfile::TempDir;

    use super::*;
    use crate::kit::database::tests::machine;
    use crate::kit::searchable::MemoryFacts;

    #[test]
    fn files_have_the_namespace_and_the_date_that_their_records_have() {
        let facts = |memory_type: &str, namespace: &str, date, session: Option<&str>| {
            SearchedFile::Memory(MemoryFacts {
                memory_type: Some(memory_type.to_owned()),
                namespace: Some(namespace.to_owned()),
                date,
                session: session.map(str::to_owned),
            })
        };
        assert_eq!(ZeroClaw.file("MEMORY.md"), facts("semantic", "core", None, None));
        let day = Some(date(2026, 11, 15));
        assert_eq!(ZeroClaw.file("memory/2026-11-15.md"), facts("episodic", "daily", day, None));
        assert_eq!(
            ZeroClaw.file("memory/session_a1.md"),
            facts("episodic", "session", None, Some("a1"))
        );
        for path in ["USER.md", "SOUL.md", "memory/brain.db", "notes/a.md"] {
            assert_eq!(ZeroClaw.file(path), SearchedFile::Other, "{path}");
        }
        assert_eq!(folder("memory/archive"), SearchedFolder::Memory);
        assert_eq!(folder("sessions"), SearchedFolder::Other);
    }

    #[test]
    fn rows_are_those_of_the_agent_or_of_everybody() {
        let home = TempDir::new().unwrap();
        let path = home.path().join("brain.db");
        Connection::open(&path)
            .unwrap()
            .execute_batch(
                "CREATE TABLE agents(id TEXT, alias TEXT, created_at TEXT);
                 INSERT INTO agents VALUES ('a1', 'default', ''), ('a2', 'nova', '');
                 CREATE TABLE memories(id TEXT PRIMARY KEY, key TEXT, content TEXT, category TEXT,
                   created_at TEXT, updated_at TEXT, importance REAL, superseded_by TEXT,
                   agent_id TEXT, principal_id TEXT);
                 INSERT INTO memories VALUES
                  ('1', 'tea', 'Ann drinks tea', 'core', '2026-01-15T23:00:00-05:00', '', 0.9, NULL, 'a1', NULL),
                  ('2', 'tea', 'Nova drinks oil', 'daily', '2026-02-01T00:00:00Z', '', NULL, NULL, 'a2', NULL),
                  ('3', 'old', 'gone', 'core', '', '', NULL, '1', 'a1', NULL),
                  ('4', 'mine', 'own', 'core', '', '', NULL, NULL, 'a1', 'ann'),
                  ('5', 'free', 'of nobody', 'recipes', '', '', NULL, NULL, NULL, NULL);",
            )
            .unwrap();
        let read = |alias: &str, private| {
            let mut agent =
                FoundAgent::without_install(RUNTIME, alias.into(), home.path().to_owned());
            agent.database = Some(path.clone());
            let mut found = Vec::new();
            let machine = machine(home.path());
            let left =
                ZeroClaw.read_store(&machine, &agent, StoreKind::Rows, private, &mut |document| {
                    found.push(document);
                });
            (found, left.unwrap().private)
        };
        let paths = |found: &[SearchableRecord]| -> Vec<String> {
            found.iter().map(|found| found.path.clone()).collect()
        };
        let (found, private) = read("default", false);
        assert_eq!(paths(&found), ["memories/tea", "memories/old", "memories/free"]);
        assert_eq!(private, 1);
        let first = &found[0];
        assert_eq!(first.date(), Some(date(2026, 1, 15)));
        assert_eq!(
            (first.confidence, first.evergreen, &*first.namespace),
            (Some(0.9), true, "core")
        );
        assert!(found[1].is_withdrawn && found[1].date().is_none());
        assert_eq!((&*found[2].namespace, found[2].evergreen), ("custom:recipes", false));
        let (found, _) = read("nova", false);
        assert_eq!(paths(&found), ["memories/tea"]);
        let (found, _) = read("", true);
        assert_eq!(found.len(), 5);
        assert!(found.iter().any(|found| found.is_private));
    }
}

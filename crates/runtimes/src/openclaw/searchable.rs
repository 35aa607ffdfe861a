//! What can be searched of an agent: `MEMORY.md`, `USER.md`, `memory/**/*.md`, the extra paths of
//! the configuration, the structured facts and the conversations.

use std::path::Path;

use super::config::{self, Config, ExtraText};
use super::lancedb::{self, LanceStore};
use super::layout::{self, FACTS, MEMORY, MemoryKind, PathRole};
use super::{NAMESPACES, OpenClaw, RUNTIME, facts, qmd, sessions, vectors};
use super::{install::InstallDatabase, install::agent_folder, memory::Shared};
use crate::kit::{
    Database, ExtraPlace, FoundAgent, Machine, MemoryBackend, MemoryFacts, PersonaPlace,
    PlaceProblem, ReadError, SIDECAR, SearchAgents, Searchable, SearchableRecord, SearchedFile,
    SearchedFolder, Store, StoreKind, UnsearchedCounts, VectorOf, WantedModel, Warning, is_of_tool,
    is_within, real, times, with_logs,
};

/// Folders in which the runtime stores its dreams and their sources.
const DREAMING: [&str; 2] = ["memory/dreaming", "memory/.dreams"];
/// The folder in which the runtime keeps what it repaired.
const REPAIR: &str = ".openclaw-repair";

impl SearchAgents for OpenClaw {
    /// Returns what can be searched.
    fn searchable(&self, machine: &Machine, agent: &FoundAgent) -> Searchable {
        let config = agent.config.as_ref().and_then(|file| Config::of(machine, file));
        let (name, files) = (FACTS.to_owned(), with_logs(&agent.workspace.join(FACTS)));
        let mut stores = vec![Store { kind: StoreKind::Facts, name, files, folders: Vec::new() }];
        if let (Some(install), Some(folder)) = (&agent.install, agent_folder(&agent.alias)) {
            let folder = install.join(folder);
            let names = ["sessions", "sessions/cold", "session-sqlite-import-archive"];
            stores.push(Store {
                kind: StoreKind::Sessions,
                name: "sessions".to_owned(),
                files: agent.database.as_deref().map(with_logs).unwrap_or_default(),
                folders: names.map(|name| folder.join(name)).to_vec(),
            });
        }
        let mut warnings: Vec<Warning> = config.as_deref().into_iter().flat_map(warnings).collect();
        match LanceStore::open(machine, agent, config.as_deref()) {
            Ok(Some(store)) => stores.push(Store {
                kind: StoreKind::Memories,
                name: lancedb::NAMESPACE.to_owned(),
                files: Vec::new(),
                // Every change of the table makes a new file here.
                folders: vec![store.path.join(lancedb::VERSIONS)],
            }),
            Ok(None) => {}
            Err(warning) => warnings.push(warning),
        }
        // The exports come first: a file that two places have is that of the first, and here it is
        // read without secrets.
        let mut extra: Vec<ExtraPlace> =
            qmd::exports(agent, config.as_deref()).into_iter().collect();
        extra.extend(config.iter().flat_map(|config| self::extra(machine, agent, config)));
        Searchable { keeps: MemoryBackend::Markdown, files: true, extra, stores, warnings }
    }

    /// Classifies a file.
    fn file(&self, path: &str) -> SearchedFile {
        if is_dreamed(path) {
            return SearchedFile::MachineState;
        }
        match layout::place_of(path.as_bytes()) {
            PathRole::Memory(kind) => SearchedFile::Memory(facts_of(&kind)),
            PathRole::Persona(PersonaPlace::User) => SearchedFile::Memory(MemoryFacts::default()),
            PathRole::Persona(_) | PathRole::Facts | PathRole::Raw | PathRole::Artifact => {
                SearchedFile::Other
            }
        }
    }

    fn folder(&self, path: &str) -> SearchedFolder {
        folder(path)
    }

    /// Takes the database of facts that some users keep beside their notes, by its path.
    fn database(&self, path: &Path, _: &str) -> Option<(FoundAgent, StoreKind)> {
        if !path.ends_with(FACTS) {
            return None;
        }
        let workspace = path.ancestors().nth(2).unwrap_or(Path::new("/")).to_owned();
        Some((FoundAgent::without_install(RUNTIME, String::new(), workspace), StoreKind::Facts))
    }

    /// Reads facts or conversations.
    fn read_store(
        &self,
        machine: &Machine,
        agent: &FoundAgent,
        kind: StoreKind,
        _: bool,
        take: &mut dyn FnMut(SearchableRecord),
    ) -> Result<UnsearchedCounts, ReadError> {
        let workspace = real(&agent.workspace);
        let shared = Shared::of(NAMESPACES.agent(&workspace));
        match kind {
            StoreKind::Facts => read_facts(machine, &workspace, &shared, take),
            StoreKind::Sessions => read_sessions(machine, agent, &shared, take),
            StoreKind::Memories => read_memories(machine, agent, &shared, take),
            // Rows of this runtime's database are an index of its files.
            StoreKind::Rows => Ok(UnsearchedCounts::default()),
        }
    }

    fn read_vectors(
        &self,
        machine: &Machine,
        agent: &FoundAgent,
        wanted: &WantedModel<'_>,
        _: bool,
        take: &mut dyn FnMut(VectorOf<'_>, Vec<f32>),
    ) -> Result<(), ReadError> {
        vectors::read(machine, agent, wanted, take)?;
        read_store_vectors(machine, agent, wanted, take)
    }
}

/// Returns the places that all agents search and those of this one, each once.
fn extra(machine: &Machine, agent: &FoundAgent, config: &Config) -> Vec<ExtraPlace> {
    let own = config.agent(&agent.alias).map_or(&[][..], |agent| &agent.extra_places);
    let mut found: Vec<ExtraPlace> = Vec::new();
    for ExtraText { path, pattern } in config.extra_places.iter().chain(own) {
        let path = config::resolve(machine, &agent.workspace, path);
        let place = ExtraPlace { path, pattern: pattern.clone(), redacted: false };
        let problem = place.problem(&machine.home, &agent.workspace);
        if !found.contains(&place) && !problem.is_some_and(PlaceProblem::is_refused) {
            found.push(place);
        }
    }
    found
}

/// A configuration that cannot be understood may name places that are then not searched.
pub(super) fn warnings(config: &Config) -> impl Iterator<Item = Warning> {
    let path = config.path.display().to_string();
    config.oddities.iter().map(move |oddity| {
        Warning::about(oddity.kind.as_str(), path.clone(), oddity.message.clone())
    })
}

fn facts_of(kind: &MemoryKind) -> MemoryFacts {
    let date = if let MemoryKind::Daily(name) = kind { Some(name.date) } else { None };
    MemoryFacts {
        memory_type: Some(kind.memory_type().as_str().to_owned()),
        namespace: Some(kind.namespace().to_owned()),
        date,
        session: None,
    }
}

/// Returns what a folder is.
pub(super) fn folder(path: &str) -> SearchedFolder {
    let name = path.rsplit('/').next().unwrap_or(path);
    let is_memory = path == MEMORY || path.starts_with("memory/");
    if is_of_tool(path) || name == REPAIR {
        SearchedFolder::OfTool
    } else if path == SIDECAR || is_dreamed(path) {
        SearchedFolder::MachineState
    } else if is_memory {
        SearchedFolder::Memory
    } else {
        SearchedFolder::Other
    }
}

fn is_dreamed(path: &str) -> bool {
    DREAMING.iter().any(|folder| is_within(path.as_bytes(), folder))
}

fn read_facts(
    machine: &Machine,
    workspace: &Path,
    shared: &Shared,
    take: &mut dyn FnMut(SearchableRecord),
) -> Result<UnsearchedCounts, ReadError> {
    let path = workspace.join(FACTS);
    // A link may lead anywhere.
    if real(&path) != path {
        return Ok(UnsearchedCounts { unreadable: 1, ..UnsearchedCounts::default() });
    }
    each_fact(machine, &path, shared, take)
}

fn each_fact(
    machine: &Machine,
    path: &Path,
    shared: &Shared,
    take: &mut dyn FnMut(SearchableRecord),
) -> Result<UnsearchedCounts, ReadError> {
    let database =
        Database::open(machine, path).map_err(|error| ReadError::memories(path, error))?;
    // The fallback means that there is no time.
    let fallback = times::epoch();
    let warnings = facts::each_fact(&database, FACTS, &mut |fact| {
        let record = facts::fact_record(&fact, FACTS, shared, &fallback);
        take(SearchableRecord::of_record(record));
        Ok::<_, ReadError>(())
    })?;
    Ok(UnsearchedCounts { unreadable: warnings.len() as u64, ..UnsearchedCounts::default() })
}

/// Hands out the vectors of the store beside the workspace, if they are of the wanted model.
fn read_store_vectors(
    machine: &Machine,
    agent: &FoundAgent,
    wanted: &WantedModel<'_>,
    take: &mut dyn FnMut(VectorOf<'_>, Vec<f32>),
) -> Result<(), ReadError> {
    let config = agent.config.as_ref().and_then(|file| Config::of(machine, file));
    let Ok(Some(store)) = LanceStore::open(machine, agent, config.as_deref()) else {
        return Ok(());
    };
    if !wanted.is_named(&store.model) {
        return Ok(());
    }
    // What cannot be read was counted with the memories.
    let (_, _) = store.each_memory(true, &mut |memory| {
        if wanted.fits(&memory.vector) {
            take(VectorOf::Text(&memory.text), memory.vector);
        }
        Ok::<_, ReadError>(())
    })?;
    Ok(())
}

/// Reads the memories of the store beside the workspace.
fn read_memories(
    machine: &Machine,
    agent: &FoundAgent,
    shared: &Shared,
    take: &mut dyn FnMut(SearchableRecord),
) -> Result<UnsearchedCounts, ReadError> {
    let config = agent.config.as_ref().and_then(|file| Config::of(machine, file));
    let Ok(Some(store)) = LanceStore::open(machine, agent, config.as_deref()) else {
        return Ok(UnsearchedCounts { unreadable: 1, ..UnsearchedCounts::default() });
    };
    let (_, error) = store.each_memory(false, &mut |memory| {
        take(SearchableRecord::of_record(store.record(&memory, shared)));
        Ok::<_, ReadError>(())
    })?;
    let unreadable = u64::from(error.is_some());
    Ok(UnsearchedCounts { unreadable, ..UnsearchedCounts::default() })
}

fn read_sessions(
    machine: &Machine,
    agent: &FoundAgent,
    shared: &Shared,
    take: &mut dyn FnMut(SearchableRecord),
) -> Result<UnsearchedCounts, ReadError> {
    let database = match agent.database.as_deref() {
        Some(path) => InstallDatabase::open(machine, path)
            .map_err(|error| ReadError::memories(path, error))?,
        None => None,
    };
    let tally = sessions::sessions(agent, database.as_ref(), &sessions::redacted, &mut |piece| {
        take(SearchableRecord::of_record(sessions::session_record(&piece, shared)));
        Ok::<_, ReadError>(())
    })?;
    let unreadable = tally.counts.undecodable + tally.warnings.len() as u64;
    Ok(UnsearchedCounts { unreadable, ..UnsearchedCounts::default() })
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use jiff::civil::date;
    use rusqlite::Connection;
    use tempfile::TempDir;

    use super::*;
    use crate::kit::agent::ConfigFile;
    use crate::kit::database::tests::machine;

    #[test]
    fn memories_are_told_from_what_machines_note_and_from_everything_else() {
        for (path, wanted) in [
            ("MEMORY.md", Some(("semantic", "curated", None))),
            ("memory.md", Some(("semantic", "curated", None))),
            ("memory/2026-01-15-vendor.md", Some(("episodic", "daily", Some(date(2026, 1, 15))))),
            ("memory/project-atlas.md", Some(("semantic", "project", None))),
            ("memory/gating-policies.md", Some(("procedural", "procedural", None))),
            ("memory/a/b.md", Some(("semantic", "workspace", None))),
            ("SOUL.md", None),
            ("AGENTS.md", None),
            ("notes.md", None),
            ("users/lin/USER.md", None),
            ("memory/facts.db", None),
        ] {
            let found = match OpenClaw.file(path) {
                SearchedFile::Memory(facts) => Some(facts),
                _ => None,
            };
            let wanted = wanted.map(|(memory_type, namespace, date)| MemoryFacts {
                memory_type: Some(memory_type.to_owned()),
                namespace: Some(namespace.to_owned()),
                date,
                session: None,
            });
            assert_eq!(found, wanted, "{path}");
        }
        assert_eq!(OpenClaw.file("USER.md"), SearchedFile::Memory(MemoryFacts::default()));
        for path in ["memory/dreaming/light/2026-01-01.md", "memory/.dreams/x.md"] {
            assert_eq!(OpenClaw.file(path), SearchedFile::MachineState, "{path}");
        }
    }

    #[test]
    fn only_the_folder_of_memories_is_entered() {
        for (path, wanted) in [
            ("memory", SearchedFolder::Memory),
            ("memory/.private", SearchedFolder::Memory),
            ("memory/.git", SearchedFolder::OfTool),
            ("memory/x/node_modules", SearchedFolder::OfTool),
            ("memory/.openclaw-repair", SearchedFolder::OfTool),
            ("memory/.dreams", SearchedFolder::MachineState),
            ("memory/dreaming", SearchedFolder::MachineState),
            ("memory/dreaming-of-spain", SearchedFolder::Memory),
            (".git", SearchedFolder::OfTool),
            (".alf-origin", SearchedFolder::MachineState),
            ("skills", SearchedFolder::Other),
            ("memory-of-summer", SearchedFolder::Other),
        ] {
            assert_eq!(folder(path), wanted, "{path}");
        }
    }

    #[test]
    fn extra_places_are_those_of_all_and_those_of_the_agent() {
        let home = TempDir::new().unwrap();
        let config = home.path().join("openclaw.json");
        fs_err::write(
            &config,
            r#"{ memory: { search: { extraPaths: ["notes", {path: "~/wiki", pattern: "**/a*.md"}] } },
                 agents: { entries: { main: { memory: { search: { extraPaths: ["notes", "/srv/x"] } } },
                                      other: { memory: { search: { extraPaths: ["/srv/y"] } } } } } }"#,
        )
        .unwrap();
        let workspace = home.path().join("workspace");
        let mut agent = FoundAgent::without_install(RUNTIME, "main".into(), workspace.clone());
        agent.config = Some(ConfigFile::new(config));
        let mut machine = machine(home.path());
        machine.home = home.path().to_owned();
        let place = |path: PathBuf, pattern: Option<&str>| ExtraPlace {
            path,
            pattern: pattern.map(str::to_owned),
            redacted: false,
        };
        assert_eq!(
            OpenClaw.searchable(&machine, &agent).extra,
            [
                place(workspace.join("notes"), None),
                place(home.path().join("wiki"), Some("**/a*.md")),
                place("/srv/x".into(), None),
            ]
        );
    }

    #[test]
    fn exported_conversations_are_searched_where_that_is_switched_on() {
        let home = TempDir::new().unwrap();
        let install = home.path().join(".openclaw");
        let exports = install.join("agents/main/qmd/sessions");
        fs_err::create_dir_all(&exports).unwrap();
        for (config, expected) in [
            (r#"{memory: {backend: "qmd", qmd: {sessions: {enabled: true}}}}"#, 1),
            (r#"{memory: {backend: "qmd", qmd: {sessions: {enabled: false}}}}"#, 0),
            (r#"{memory: {qmd: {sessions: {enabled: true}}}}"#, 0),
            (r#"{memory: {backend: "qmd"}}"#, 0),
            ("{}", 0),
        ] {
            let file = install.join("openclaw.json");
            fs_err::write(&file, config).unwrap();
            let workspace = home.path().join("workspace");
            let mut agent = FoundAgent::without_install(RUNTIME, "main".into(), workspace);
            agent.install = Some(install.clone());
            agent.config = Some(ConfigFile::new(file));
            let extra = OpenClaw.searchable(&machine(home.path()), &agent).extra;
            assert_eq!(extra.len(), expected, "{config}");
            assert!(extra.iter().all(|place| place.redacted), "{config}");
        }
    }

    #[test]
    fn facts_are_read_and_a_link_to_a_database_is_not() {
        let home = TempDir::new().unwrap();
        let workspace = fs_err::canonicalize(home.path()).unwrap().join("workspace");
        fs_err::create_dir_all(workspace.join("memory")).unwrap();
        let database = home.path().join("elsewhere.db");
        Connection::open(&database)
            .unwrap()
            .execute_batch(
                "CREATE TABLE facts(id INTEGER PRIMARY KEY, entity, key, value);
                 INSERT INTO facts VALUES (1, 'Ann', 'drinks', 'tea');",
            )
            .unwrap();
        let agent = FoundAgent::without_install(RUNTIME, "main".into(), workspace.clone());
        let read = || {
            let mut found = Vec::new();
            let machine = machine(home.path());
            let left =
                OpenClaw.read_store(&machine, &agent, StoreKind::Facts, false, &mut |document| {
                    found.push(document);
                });
            (found, left.unwrap().unreadable)
        };
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink(&database, workspace.join(FACTS)).unwrap();
            assert_eq!(read(), (Vec::new(), 1));
            fs_err::remove_file(workspace.join(FACTS)).unwrap();
        }
        fs_err::copy(&database, workspace.join(FACTS)).unwrap();
        let (found, unreadable) = read();
        assert_eq!((found.len(), unreadable), (1, 0));
        assert_eq!(found[0].path, "memory/facts.db/Ann/drinks");
        assert_eq!((found[0].date(), found[0].evergreen), (None, true));
    }
}

//! Finds installs of OpenClaw and the agents in them.
//!
//! ```text
//! ~/.openclaw/                      OPENCLAW_STATE_DIR; ~/.openclaw-<profile>; once ~/.clawdbot
//!   openclaw.json                   OPENCLAW_CONFIG_PATH
//!   state/openclaw.sqlite           gen-9
//!   agents/<id>/agent/openclaw-agent.sqlite          gen-9
//!   agents/<id>/agent/auth-profiles.json             gen-3
//!   agents/<id>/sessions/sessions.json               gen-3
//!   memory/<id>.sqlite              gen-3; <id>.sqlite.migrated is what gen-9 made of it
//!   workspace/, workspace-<id>/
//! ```

use std::collections::BTreeSet;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::RUNTIME;
use super::config::{Config, DEFAULT_AGENT, agent_id, home, resolve};
use super::install::{AGENT_DATABASE, PROFILES_FILE, STATE_DATABASE};
use crate::kit::{
    ConfigFile, FoundAgent, Machine, Oddity, OddityKind, SQLITE_MAGIC, a_few, absolute,
    each_workspace_once, install_paths, is_name, names_in, real, same_place, settle,
};

/// JSON files and one index database per agent.
pub(super) const GEN_3: &str = "gen-3";
/// One database per agent and one for all.
pub(super) const GEN_9: &str = "gen-9";

/// The newest schema of an agent's database that we know.
const AGENT_SCHEMA: u32 = 23;
/// The newest schema of the database of an install that we know.
const STATE_SCHEMA: u32 = 18;
/// The schema of the older index has no number.
const INDEX_SCHEMA: u32 = 0;

/// The state folders in the home folder: the default one, and that of older versions.
const STATE_FOLDER: &str = ".openclaw";
const OLDER_STATE_FOLDER: &str = ".clawdbot";
/// Where older versions kept the workspace, in the home folder.
const OLDER_WORKSPACES: [&str; 2] = ["clawd", "openclaw"];

/// Finds every agent: those of the install in use first, then of the default one, then by path.
pub(super) fn discover(machine: &Machine) -> Vec<FoundAgent> {
    agents_of(machine, &installs(machine))
}

/// Opens every install.
fn installs(machine: &Machine) -> Vec<Install> {
    let folders = state_folders(machine);
    folders.iter().filter_map(|folder| Install::open(machine, folder)).collect()
}

fn agents_of(machine: &Machine, installs: &[Install]) -> Vec<FoundAgent> {
    let found = installs.iter().flat_map(|install| install.agents(machine)).collect();
    let mut found = each_workspace_once(found);
    for name in OLDER_WORKSPACES {
        let workspace = home(machine).join(name);
        let known = found.iter().any(|found| same_place(&found.workspace, &workspace));
        if !known && looks_like_a_workspace(&workspace) {
            let mut agent = bare(&workspace);
            let message = "a workspace where older versions kept it, and no install uses it";
            agent
                .oddities
                .push(Oddity { kind: OddityKind::NoInstall, message: message.to_owned() });
            found.push(agent);
        }
    }
    found
}

/// Takes a folder as a workspace.
pub(super) fn locate(machine: &Machine, workspace: &Path) -> FoundAgent {
    let installs = installs(machine);
    let mut known = agents_of(machine, &installs).into_iter();
    known
        .find(|agent| same_place(&agent.workspace, workspace))
        .or_else(|| beside_its_install(machine, installs, workspace))
        .unwrap_or_else(|| bare(workspace))
}

/// A workspace in a state folder, such as one that was moved from another machine.
fn beside_its_install(
    machine: &Machine,
    installs: Vec<Install>,
    workspace: &Path,
) -> Option<FoundAgent> {
    let workspace = absolute(workspace);
    let id = workspace.file_name()?.to_str()?.strip_prefix("workspace")?;
    let folder = workspace.parent()?;
    let known = installs.into_iter().find(|install| install.folder == folder);
    let install = known.or_else(|| Install::open(machine, folder))?;
    if install.config.is_none() && install.folders.is_empty() {
        return None;
    }
    let of_install = install.agents(machine);
    if let Some(agent) =
        of_install.into_iter().find(|install| same_place(&install.workspace, &workspace))
    {
        return Some(agent);
    }
    let id = match id.strip_prefix('-') {
        Some(id) => agent_id(id),
        None if id.is_empty() => install.default_agent(),
        None => return None,
    };
    Some(install.agent(machine, &id, workspace))
}

/// A workspace without an install.
fn bare(workspace: &Path) -> FoundAgent {
    let workspace = absolute(workspace);
    let mut agent = FoundAgent::without_install(RUNTIME, String::new(), workspace);
    settle(&mut agent);
    let is_state = CONFIG_NAMES.iter().any(|name| agent.workspace.join(name).is_file());
    if is_state && agent.workspace.join("workspace").is_dir() {
        let message = format!(
            "this is a state folder with its keys; the workspace is {}",
            agent.workspace.join("workspace").display()
        );
        agent.oddities.push(Oddity { kind: OddityKind::StateFolder, message });
    }
    let name = agent.workspace.file_name().unwrap_or(DEFAULT_AGENT.as_ref());
    agent.alias = name.to_string_lossy().into_owned();
    agent
}

/// Returns every folder that may be an install, the one in use first.
fn state_folders(machine: &Machine) -> Vec<PathBuf> {
    let home = home(machine);
    let usual = home.join(STATE_FOLDER);
    let mut profiles: Vec<PathBuf> = names_in(&home)
        .into_iter()
        .filter(|name| name.starts_with(".openclaw-"))
        .map(|name| home.join(name))
        .collect();
    profiles.push(home.join(OLDER_STATE_FOLDER));
    profiles.sort();
    let mut seen = BTreeSet::new();
    let all = [in_use(machine), usual].into_iter().chain(profiles);
    // An older name is often a link to the newer one.
    all.filter(|folder| seen.insert(real(folder))).collect()
}

/// The state folder that the runtime would use if it were started now.
fn in_use(machine: &Machine) -> PathBuf {
    if let Some(folder) = machine.variable("OPENCLAW_STATE_DIR") {
        return from_variable(machine, folder);
    }
    let profile =
        machine.variable("OPENCLAW_PROFILE").and_then(|variable| variable.to_str()).map(str::trim);
    match profile.filter(|profile| !profile.is_empty() && !profile.eq_ignore_ascii_case("default"))
    {
        // Must be a name, never a path.
        Some(profile) if is_name(profile) => {
            home(machine).join(format!("{STATE_FOLDER}-{profile}"))
        }
        _ => home(machine).join(STATE_FOLDER),
    }
}

fn from_variable(machine: &Machine, value: &std::ffi::OsStr) -> PathBuf {
    install_paths::from_variable(value, |text| resolve(machine, Path::new(""), text))
}

/// What a configuration is called, newest first.
const CONFIG_NAMES: [&str; 2] = ["openclaw.json", "clawdbot.json"];

/// The configuration that the runtime would use if it were started now.
pub(super) fn config_in_use(machine: &Machine) -> Option<Arc<Config>> {
    find_config(machine, &in_use(machine)).map(|(_, config)| config)
}

fn find_config(machine: &Machine, folder: &Path) -> Option<(ConfigFile, Arc<Config>)> {
    let read = |path| {
        let file = machine.config_file(path);
        let config = Config::of(machine, &file)?;
        Some((file, config))
    };
    let named = machine.variable("OPENCLAW_CONFIG_PATH");
    if let Some(path) = named.filter(|_| real(folder) == real(&in_use(machine))) {
        return read(from_variable(machine, path));
    }
    CONFIG_NAMES.iter().find_map(|name| read(folder.join(name)))
}

/// A state folder with what is in it.
struct Install {
    folder: PathBuf,
    config_file: Option<ConfigFile>,
    config: Option<Arc<Config>>,
    generation: Option<&'static str>,
    /// The folders under `agents/`.
    folders: Vec<String>,
    oddities: Vec<Oddity>,
}

impl Install {
    /// Takes a folder as an install; `None` when it holds nothing of the runtime.
    fn open(machine: &Machine, folder: &Path) -> Option<Self> {
        let (config_file, config) = find_config(machine, folder).unzip();
        let mut folders = names_in(&folder.join("agents"));
        folders.retain(|name| *name == agent_id(name) && folder.join("agents").join(name).is_dir());
        let mut install = Self {
            folder: folder.to_owned(),
            config_file,
            config,
            generation: None,
            folders,
            oddities: Vec::new(),
        };
        install.tell_generation();
        let used = install.generation.is_some() || !install.folders.is_empty();
        if !used && install.config.is_none() && !folder.join("workspace").is_dir() {
            return None;
        }
        if let Some(config) = &install.config {
            install.oddities.extend(config.oddities.iter().cloned());
        }
        let state = folder.join(STATE_DATABASE);
        install.oddities.extend(schema_oddity(&state, STATE_SCHEMA));
        Some(install)
    }

    fn tell_generation(&mut self) {
        let is_there = |path: &PathBuf| self.folder.join(path).is_file();
        let of_agents = |rest: &str| -> Vec<PathBuf> {
            self.folders.iter().map(|id| Path::new("agents").join(id).join(rest)).collect()
        };
        let mut newer = of_agents(AGENT_DATABASE);
        newer.push(STATE_DATABASE.into());
        let indexes = names_in(&self.folder.join("memory"));
        let mut older: Vec<PathBuf> = indexes
            .iter()
            .filter(|name| name.ends_with(".sqlite"))
            .map(|name| Path::new("memory").join(name))
            .collect();
        older.extend(of_agents("sessions/sessions.json"));
        older.extend(of_agents(PROFILES_FILE));
        older.retain(is_there);
        let is_newer = newer.iter().any(is_there);
        self.generation = match (is_newer, older.is_empty()) {
            (true, _) => Some(GEN_9),
            (false, false) => Some(GEN_3),
            // A new install has no such files yet.
            (false, true) => {
                let version = self.config.as_ref().and_then(|config| config.version.as_deref());
                version.and_then(generation_of)
            }
        };
        if is_newer && !older.is_empty() {
            let names: Vec<String> =
                older.iter().map(|older| older.display().to_string()).collect();
            let message = format!(
                "the install is of the newer generation and still has files of the older one, \
                 which only `openclaw doctor --fix` takes over: {}",
                a_few(&names)
            );
            self.oddities.push(Oddity { kind: OddityKind::OlderFilesLeft, message });
        }
    }

    /// Returns the agents, the default one first.
    fn agents(&self, machine: &Machine) -> Vec<FoundAgent> {
        let mut ids = self.ids();
        let default = self.default_agent();
        ids.sort_by_key(|id| (*id != default, id.clone()));
        let mut agents: Vec<FoundAgent> =
            ids.iter().map(|id| self.agent(machine, id, self.workspace_of(machine, id))).collect();
        let unnamed: Vec<String> =
            self.folders.iter().filter(|folder| !ids.contains(folder)).cloned().collect();
        if let Some(first) = agents.first_mut().filter(|_| !unnamed.is_empty()) {
            let message = format!(
                "there are folders of agents that the configuration does not name: {}",
                a_few(&unnamed)
            );
            first.oddities.push(Oddity { kind: OddityKind::AgentsNotConfigured, message });
        }
        agents
    }

    fn ids(&self) -> Vec<String> {
        let configured =
            self.config.iter().flat_map(|config| &config.agents).map(|value| value.id.clone());
        let configured: Vec<String> = configured.collect();
        match (configured.is_empty(), self.folders.is_empty()) {
            (false, _) => configured,
            (true, false) => self.folders.clone(),
            (true, true) => vec![DEFAULT_AGENT.to_owned()],
        }
    }

    fn default_agent(&self) -> String {
        if let Some(agent) = self.config.as_deref().and_then(Config::default_agent) {
            return agent.id.clone();
        }
        let ids = self.ids();
        let main = ids.iter().find(|id| *id == DEFAULT_AGENT).or_else(|| ids.first());
        main.map_or_else(|| DEFAULT_AGENT.to_owned(), Clone::clone)
    }

    fn agent(&self, machine: &Machine, id: &str, workspace: PathBuf) -> FoundAgent {
        let (database, known) = match self.generation {
            Some(GEN_9) => {
                let path = Path::new("agents").join(id).join(AGENT_DATABASE);
                (Some(path), AGENT_SCHEMA)
            }
            Some(_) => (Some(self.index_path(machine, id)), INDEX_SCHEMA),
            None => (None, INDEX_SCHEMA),
        };
        let database = database.map(|path| self.folder.join(path)).filter(|path| path.is_file());
        let mut oddities = self.oddities.clone();
        let version = self.config.as_ref().and_then(|config| config.version.clone());
        if let Some(database) = &database {
            oddities.extend(schema_oddity(database, known));
        }
        if self.config.as_ref().is_some_and(|config| config.is_read_only(id)) {
            let message = "its sandbox keeps it from writing into its workspace".to_owned();
            oddities.push(Oddity { kind: OddityKind::WorkspaceReadOnly, message });
        }
        let mut agent = FoundAgent {
            generation: self.generation,
            install: Some(self.folder.clone()),
            config: self.config_file.clone(),
            database,
            version,
            oddities,
            ..FoundAgent::without_install(RUNTIME, id.to_owned(), workspace)
        };
        settle(&mut agent);
        agent
    }

    /// Returns where the older generation keeps the index of an agent, below the folder or anywhere.
    fn index_path(&self, machine: &Machine, id: &str) -> PathBuf {
        let config = self.config.as_deref();
        let own = config.and_then(|config| config.agent(id)?.index_path.as_deref());
        match own.or_else(|| config?.index_path.as_deref()) {
            Some(path) => resolve(machine, &self.folder, &path.replace("{agentId}", id)),
            None => Path::new("memory").join(format!("{id}.sqlite")),
        }
    }

    /// Returns where the runtime keeps an agent's files.
    fn workspace_of(&self, machine: &Machine, id: &str) -> PathBuf {
        let is_default = id == self.default_agent();
        let variable = machine.variable("OPENCLAW_WORKSPACE_DIR");
        if let Some(folder) = variable.filter(|_| is_default && self.is_in_use(machine)) {
            return from_variable(machine, folder);
        }
        let entry = self.config.as_ref().and_then(|config| config.agent(id));
        if let Some(workspace) = entry.and_then(|entry| entry.workspace.clone()) {
            return workspace;
        }
        let configured = self.config.as_ref().and_then(|config| config.workspace.clone());
        match (configured, is_default) {
            (Some(folder), true) => folder,
            (Some(folder), false) => folder.join(id),
            (None, true) => self.default_workspace(machine),
            (None, false) => self.folder.join(format!("workspace-{id}")),
        }
    }

    fn default_workspace(&self, machine: &Machine) -> PathBuf {
        let usual = self.folder.join("workspace");
        let older = home(machine).join(OLDER_WORKSPACES[0]);
        let is_older = self.folder.ends_with(OLDER_STATE_FOLDER);
        if is_older && !usual.exists() && older.is_dir() { older } else { usual }
    }

    fn is_in_use(&self, machine: &Machine) -> bool {
        real(&self.folder) == real(&in_use(machine))
    }
}

/// The first version of the newer generation.
const FIRST_OF_GEN_9: [u32; 3] = [2026, 7, 2];

/// Returns the generation of a version such as `2026.3.24`.
fn generation_of(version: &str) -> Option<&'static str> {
    let number = |part: &str| part.split('-').next()?.parse().ok();
    let numbers: Vec<u32> = version.split('.').map_while(number).take(3).collect();
    let is_newer = numbers.as_slice() >= FIRST_OF_GEN_9.as_slice();
    (numbers.len() == 3).then_some(if is_newer { GEN_9 } else { GEN_3 })
}

/// Returns the schema version of a database, from its first bytes: discovery opens no database.
pub(super) fn schema_version(database: &Path) -> Option<u32> {
    header(database).ok().flatten()
}

/// Returns what is unusual about an existing database.
fn schema_oddity(database: &Path, known: u32) -> Option<Oddity> {
    if !database.is_file() {
        return None;
    }
    let shown = database.display();
    let (kind, message) = match header(database) {
        Err(why) => (OddityKind::DatabaseUnreadable, format!("{shown} {why}")),
        Ok(_) => {
            let version = schema_version(database).filter(|version| *version > known)?;
            let message = format!(
                "{shown} has schema {version} and we know up to {known}: the program is newer \
                 than this one. What can be read is read"
            );
            (OddityKind::SchemaNewer, message)
        }
    };
    Some(Oddity { kind, message })
}

/// Reads the number of the schema from the first page; `None` for a database without pages.
fn header(database: &Path) -> Result<Option<u32>, String> {
    const USER_VERSION: std::ops::Range<usize> = 60..64;
    const LENGTH: u64 = 100;
    let mut bytes = Vec::new();
    fs_err::File::open(database)
        .and_then(|file| file.take(LENGTH).read_to_end(&mut bytes))
        .map_err(|error| format!("cannot be read ({})", error.kind()))?;
    if bytes.is_empty() {
        return Ok(None);
    }
    let version = bytes.get(USER_VERSION).and_then(|byte| <[u8; 4]>::try_from(byte).ok());
    match version.filter(|_| bytes.starts_with(SQLITE_MAGIC)) {
        Some(version) => Ok(Some(u32::from_be_bytes(version))),
        None => Err("is not an SQLite database".to_owned()),
    }
}

/// Whether a folder with an older name is a workspace; a checkout of the program's source may have
/// that name too.
fn looks_like_a_workspace(folder: &Path) -> bool {
    let files = ["SOUL.md", "IDENTITY.md", "MEMORY.md", "USER.md"];
    files.iter().any(|name| folder.join(name).is_file()) || folder.join("memory").is_dir()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::ffi::OsString;

    use super::*;
    use crate::kit::agent::KnownConfigs;

    /// A home folder to put installs into.
    struct Home {
        folder: tempfile::TempDir,
        machine: Machine,
    }

    impl Home {
        fn new() -> Self {
            let folder = tempfile::tempdir().unwrap();
            let machine = Machine {
                home: folder.path().canonicalize().unwrap(),
                variables: BTreeMap::new(),
                database_reader: PathBuf::new(),
                scratch: PathBuf::new(),
                configs: KnownConfigs::default(),
            };
            Self { folder, machine }
        }

        fn path(&self, name: &str) -> PathBuf {
            self.machine.home.join(name)
        }

        fn write(&self, name: &str, content: impl AsRef<[u8]>) -> &Self {
            let path = self.path(name);
            fs_err::create_dir_all(path.parent().unwrap()).unwrap();
            fs_err::write(path, content).unwrap();
            self
        }

        fn folder(&self, name: &str) -> &Self {
            fs_err::create_dir_all(self.folder.path().join(name)).unwrap();
            self
        }

        fn set(&mut self, name: &str, value: impl Into<OsString>) -> &Self {
            self.machine.variables.insert(name.to_owned(), value.into());
            self
        }

        /// Every agent: alias, generation, and workspace below the home folder.
        fn found(&self) -> Vec<(String, Option<&'static str>, String)> {
            let short = |path: &Path| match path.strip_prefix(&self.machine.home) {
                Ok(path) => path.display().to_string(),
                Err(_) => path.display().to_string(),
            };
            discover(&self.machine)
                .into_iter()
                .map(|discover| (discover.alias, discover.generation, short(&discover.workspace)))
                .collect()
        }
    }

    fn agent(
        alias: &str,
        generation: Option<&'static str>,
        workspace: &str,
    ) -> (String, Option<&'static str>, String) {
        (alias.to_owned(), generation, workspace.to_owned())
    }

    fn database(version: u32) -> Vec<u8> {
        let mut bytes = vec![0; 4096];
        bytes[..16].copy_from_slice(b"SQLite format 3\0");
        bytes[60..64].copy_from_slice(&version.to_be_bytes());
        bytes
    }

    fn codes(agent: &FoundAgent) -> Vec<&str> {
        agent.oddities.iter().map(|oddity| oddity.kind.as_str()).collect()
    }

    #[test]
    fn an_empty_home_has_no_agents() {
        let home = Home::new();
        assert_eq!(home.found(), []);
        home.folder(".openclaw").folder(".openclaw-backup").folder("openclaw/src");
        assert_eq!(home.found(), []);
    }

    #[test]
    fn the_older_generation_is_told_by_its_files() {
        for file in [
            "memory/main.sqlite",
            "agents/main/sessions/sessions.json",
            "agents/main/agent/auth-profiles.json",
        ] {
            let home = Home::new();
            home.write(&format!(".openclaw/{file}"), database(0)).folder(".openclaw/workspace");
            assert_eq!(home.found(), [agent("main", Some(GEN_3), ".openclaw/workspace")], "{file}");
        }
    }

    #[test]
    fn the_newer_generation_is_told_by_its_databases() {
        for file in ["state/openclaw.sqlite", "agents/main/agent/openclaw-agent.sqlite"] {
            let home = Home::new();
            home.write(&format!(".openclaw/{file}"), database(18)).folder(".openclaw/workspace");
            home.write(".openclaw/memory/main.sqlite.migrated", database(0));
            assert_eq!(home.found(), [agent("main", Some(GEN_9), ".openclaw/workspace")], "{file}");
            assert_eq!(codes(&discover(&home.machine)[0]), [""; 0]);
        }
    }

    #[test]
    fn files_of_both_generations_are_the_newer_with_an_oddity() {
        let home = Home::new();
        home.write(".openclaw/state/openclaw.sqlite", database(18));
        home.write(".openclaw/memory/main.sqlite", database(0)).folder(".openclaw/workspace");
        let found = discover(&home.machine);
        assert_eq!(found[0].generation, Some(GEN_9));
        assert_eq!(codes(&found[0]), ["older_files_left"]);
        assert!(found[0].oddities[0].message.contains("memory/main.sqlite"));
        assert_eq!(found[0].database, None);
    }

    #[test]
    fn a_database_is_that_of_the_generation() {
        let home = Home::new();
        home.write(".openclaw/memory/ops.sqlite", database(0));
        home.write(".openclaw/agents/ops/agent/auth-profiles.json", "{}");
        assert_eq!(
            discover(&home.machine)[0].database,
            Some(home.path(".openclaw/memory/ops.sqlite"))
        );
        home.write(".openclaw/agents/ops/agent/openclaw-agent.sqlite", database(23));
        assert_eq!(
            discover(&home.machine)[0].database,
            Some(home.path(".openclaw/agents/ops/agent/openclaw-agent.sqlite"))
        );
    }

    #[test]
    fn the_index_of_the_older_generation_is_where_the_configuration_puts_it() {
        let home = Home::new();
        home.write(
            ".openclaw/openclaw.json",
            "{ agents: { defaults: { memorySearch: { store: { path: '~/ix/custom-{agentId}.sqlite' } } },
                         list: [{ id: 'a' }, { id: 'b', memorySearch: { store: { path: '~/own.sqlite' } } }] } }",
        );
        home.write(".openclaw/agents/a/sessions/sessions.json", "{}").folder(".openclaw/workspace");
        home.write("ix/custom-a.sqlite", database(0)).write("own.sqlite", database(0));
        let found = discover(&home.machine).into_iter().map(|agent| agent.database);
        let wanted = ["ix/custom-a.sqlite", "own.sqlite"].map(|path| Some(home.path(path)));
        assert_eq!(found.collect::<Vec<_>>(), wanted);
    }

    #[test]
    fn a_sandbox_may_make_a_workspace_read_only() {
        let all = "sandbox: { mode: 'all', workspaceAccess: 'ro' }";
        for (defaults, own, expected) in [
            (all, "", true),
            ("sandbox: { mode: 'all' }", "", true),
            ("sandbox: { mode: 'non-main', workspaceAccess: 'ro' }", "", false),
            (all, "sandbox: { workspaceAccess: 'rw' }", false),
            ("", all, true),
            ("", "", false),
        ] {
            let home = Home::new();
            let list = format!("list: [{{ id: 'a', {own} }}]");
            let config = format!("{{ agents: {{ defaults: {{ {defaults} }}, {list} }} }}");
            home.write(".openclaw/openclaw.json", config).folder(".openclaw/workspace");
            let found = &discover(&home.machine)[0];
            assert_eq!(
                found.has_oddity(OddityKind::WorkspaceReadOnly),
                expected,
                "{defaults} {own}"
            );
        }
    }

    #[test]
    fn a_new_install_is_of_the_generation_of_its_version() {
        for (version, generation) in [
            ("2026.3.24", Some(GEN_3)),
            ("2026.7.1", Some(GEN_3)),
            ("2026.7.2-beta.1", Some(GEN_9)),
            ("2026.9.6", Some(GEN_9)),
            ("2027.1.0", Some(GEN_9)),
            ("new", None),
        ] {
            let home = Home::new();
            let config = format!("{{ meta: {{ lastTouchedVersion: '{version}' }} }}");
            home.write(".openclaw/openclaw.json", config).folder(".openclaw/workspace");
            assert_eq!(home.found(), [agent("main", generation, ".openclaw/workspace")]);
            // What is there counts more.
            home.write(".openclaw/memory/main.sqlite", database(0));
            assert_eq!(home.found(), [agent("main", Some(GEN_3), ".openclaw/workspace")]);
        }
    }

    #[test]
    fn a_schema_newer_than_known_is_said() {
        for (file, known) in [
            ("agents/main/agent/openclaw-agent.sqlite", 23),
            ("state/openclaw.sqlite", 18),
            ("memory/main.sqlite", 0),
        ] {
            for (version, expected) in [(known, &[][..]), (known + 1, &["schema_newer"])] {
                let home = Home::new();
                home.write(&format!(".openclaw/{file}"), database(version));
                home.folder(".openclaw/workspace");
                assert_eq!(codes(&discover(&home.machine)[0]), expected, "{file} {version}");
            }
        }
    }

    #[test]
    fn a_database_that_is_none_is_said() {
        for (content, expected) in [
            (&b""[..], &[][..]),
            (b"SQLite", &["database_unreadable"]),
            (&[7; 500], &["database_unreadable"]),
        ] {
            let home = Home::new();
            home.write(".openclaw/memory/main.sqlite", content).folder(".openclaw/workspace");
            assert_eq!(codes(&discover(&home.machine)[0]), expected);
        }
    }

    #[test]
    fn workspaces_follow_the_configuration() {
        // A list, with a workspace for all: the default agent has it, others have a folder in it.
        let home = Home::new();
        home.write(
            ".openclaw/openclaw.json",
            "{ agents: { defaults: { workspace: '~/work' }, list: [{ id: 'b' }, { id: 'a' }, { id: 'c', workspace: '~/c' }] } }",
        );
        assert_eq!(
            home.found(),
            [agent("b", None, "work"), agent("a", None, "work/a"), agent("c", None, "c")]
        );
        // Keyed, without a workspace: in the state folder.
        home.write(
            ".openclaw/openclaw.json",
            "{ agents: { entries: { ops: {}, main: {}, two: { default: false, } } } }",
        );
        assert_eq!(
            home.found(),
            [
                agent("main", None, ".openclaw/workspace"),
                agent("ops", None, ".openclaw/workspace-ops"),
                agent("two", None, ".openclaw/workspace-two"),
            ]
        );
        assert_eq!(codes(&discover(&home.machine)[0]), ["workspace_missing"]);
    }

    #[test]
    fn without_a_configuration_folders_name_the_agents() {
        let home = Home::new();
        home.folder(".openclaw/agents/zed/agent").folder(".openclaw/agents/main");
        home.write(".openclaw/agents/stray", "a file").folder(".openclaw/agents/Not An Id");
        assert_eq!(
            home.found(),
            [
                agent("main", None, ".openclaw/workspace"),
                agent("zed", None, ".openclaw/workspace-zed")
            ]
        );
    }

    #[test]
    fn a_broken_configuration_hides_no_agent() {
        let home = Home::new();
        home.write(".openclaw/openclaw.json", "{ key: 'sk-hush', ").folder(".openclaw/workspace");
        assert_eq!(home.found(), [agent("main", None, ".openclaw/workspace")]);
        let found = discover(&home.machine);
        assert_eq!(codes(&found[0]), ["config_invalid"]);
        assert!(!format!("{found:?}").contains("hush"));
    }

    #[test]
    fn profiles_and_older_names_come_after_the_usual_install() {
        let home = Home::new();
        for folder in [".clawdbot", ".openclaw-work", ".openclaw-a", ".openclaw"] {
            home.write(&format!("{folder}/agents/main/sessions/sessions.json"), "{}");
        }
        home.folder("clawd");
        assert_eq!(
            home.found(),
            [
                agent("main", Some(GEN_3), ".openclaw/workspace"),
                agent("main", Some(GEN_3), "clawd"),
                agent("main", Some(GEN_3), ".openclaw-a/workspace"),
                agent("main", Some(GEN_3), ".openclaw-work/workspace"),
            ]
        );
    }

    #[test]
    fn the_install_in_use_comes_first() {
        let mut home = Home::new();
        for folder in [".openclaw", ".openclaw-work", "state"] {
            home.write(&format!("{folder}/agents/main/sessions/sessions.json"), "{}");
        }
        home.set("OPENCLAW_PROFILE", "work");
        assert_eq!(home.found()[0].2, ".openclaw-work/workspace");
        assert_eq!(home.found().len(), 2);
        home.set("OPENCLAW_STATE_DIR", "~/state");
        assert_eq!(home.found()[0].2, "state/workspace");
        assert_eq!(home.found()[1].2, ".openclaw/workspace");
        assert_eq!(home.found().len(), 3);
        home.set("OPENCLAW_WORKSPACE_DIR", home.path("elsewhere"));
        assert_eq!(home.found()[0].2, "elsewhere");
        assert_eq!(home.found()[1].2, ".openclaw/workspace");
        home.write("my.json", "{ agents: { list: [{ id: 'solo' }] } }");
        home.set("OPENCLAW_CONFIG_PATH", "~/my.json");
        assert_eq!(home.found()[0], agent("solo", Some(GEN_3), "elsewhere"));
        assert_eq!(home.found()[1].0, "main");
        home.set("OPENCLAW_HOME", home.path("nobody"));
        assert_eq!(home.found(), []);
    }

    #[test]
    fn a_bare_workspace_of_an_older_name_is_found() {
        let home = Home::new();
        home.write("clawd/SOUL.md", "me").folder("openclaw/memory");
        assert_eq!(
            home.found(),
            [agent("clawd", None, "clawd"), agent("openclaw", None, "openclaw")]
        );
        assert_eq!(codes(&discover(&home.machine)[0]), ["no_install"]);
    }

    #[test]
    fn two_agents_in_one_workspace_are_listed_once() {
        let home = Home::new();
        home.write(
            ".openclaw/openclaw.json",
            "{ agents: { list: [{ id: 'a', workspace: '~/w' }, { id: 'b', workspace: '~/x/../w' }] } }",
        );
        for _ in 0..2 {
            assert_eq!(home.found(), [agent("a", None, "w")]);
            let found = discover(&home.machine);
            assert!(codes(&found[0]).contains(&"workspace_shared"));
            assert!(found[0].oddities.iter().any(|oddity| oddity.message.contains("agent b of")));
            home.folder("w").folder("x");
        }
    }

    #[cfg(unix)]
    #[test]
    fn links_are_resolved_and_said() {
        use std::os::unix::fs::symlink;
        let home = Home::new();
        home.write(".openclaw/openclaw.json", "{}").folder("real");
        symlink(home.path("real"), home.path(".openclaw/workspace")).unwrap();
        symlink(home.path(".openclaw"), home.path(".clawdbot")).unwrap();
        assert_eq!(home.found(), [agent("main", None, "real")]);
        assert_eq!(codes(&discover(&home.machine)[0]), ["workspace_is_a_link"]);
        let located = locate(&home.machine, &home.path(".openclaw/workspace"));
        assert_eq!(located, discover(&home.machine)[0]);
        fs_err::remove_dir(home.path("real")).unwrap();
        assert_eq!(codes(&discover(&home.machine)[0]), ["workspace_missing"]);
    }

    #[test]
    fn a_folder_is_located_as_the_agent_that_lives_there() {
        let home = Home::new();
        home.write(
            ".openclaw/openclaw.json",
            "{ agents: { list: [{ id: 'ops', workspace: '~/w' }] } }",
        );
        home.folder("w").folder("w/memory");
        let found = locate(&home.machine, &home.path("w/memory/.."));
        assert_eq!((found.alias.as_str(), found.install), ("ops", Some(home.path(".openclaw"))));
    }

    #[test]
    fn a_folder_beside_an_install_belongs_to_it() {
        let home = Home::new();
        home.write("moved/openclaw.json", "{ agents: { defaults: { workspace: '/gone' } } }");
        home.write("moved/memory/main.sqlite", database(0));
        home.folder("moved/workspace").folder("moved/workspace-ops").folder("moved/workspaces");
        let found = locate(&home.machine, &home.path("moved/workspace"));
        assert_eq!((found.alias.as_str(), found.generation), ("main", Some(GEN_3)));
        assert_eq!(found.workspace, home.path("moved/workspace"));
        assert_eq!(found.database, Some(home.path("moved/memory/main.sqlite")));
        assert_eq!(locate(&home.machine, &home.path("moved/workspace-ops")).alias, "ops");
        assert_eq!(locate(&home.machine, &home.path("moved/workspaces")).install, None);
    }

    #[test]
    fn any_other_folder_is_a_bare_workspace() {
        let home = Home::new();
        home.folder("some/workspace");
        let found = locate(&home.machine, &home.path("some/workspace"));
        assert_eq!(
            (found.alias.as_str(), found.install, found.generation),
            ("workspace", None, None)
        );
        assert_eq!(codes(&locate(&home.machine, &home.path("gone"))), ["workspace_missing"]);
        assert_eq!(codes(&locate(&home.machine, Path::new("/"))), [""; 0]);
        home.write(".openclaw/openclaw.json", "{}").folder(".openclaw/workspace");
        assert_eq!(codes(&locate(&home.machine, &home.path(".openclaw"))), ["state_folder"]);
    }
}

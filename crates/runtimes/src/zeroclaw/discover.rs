//! Finds installs and their agents by their files, never by a version: at its first start, ZeroClaw
//! 0.8 moves the files of an install and leaves its configuration unchanged.
//!
//! ```text
//! ~/.zeroclaw/                          ZEROCLAW_CONFIG_DIR, ZEROCLAW_DATA_DIR, ZEROCLAW_WORKSPACE
//!   config.toml
//!   active_workspace.toml               until 0.7: another install is in use
//!   workspace/memory/brain.db           layout `workspace`, until 0.7
//!   workspaces/<name>/                  profiles of 0.7
//!   data/memory/brain.db                layout `data`, since 0.8
//!   agents/<alias>/workspace/           layout `data`
//!   memory.db                           layout `seed`; elsewhere an empty decoy
//!   backup-<time>/legacy-workspace/     what 0.8 found when it moved
//! ```

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::layout::{AIEOS, CONFIG, CURATED, DATABASE, MEMORY, PERSONA, USER, generation};
use super::{DEFAULT_ALIAS, RUNTIME, brain::Brain, config::Backend, config::Config};
use crate::kit::{
    ConfigFile, DatabaseError, FoundAgent, Machine, Oddity, OddityKind, a_few, absolute,
    install_paths, is_name, names_in, real, same_place, settle, without_dots,
};

/// The usual install, in the home folder.
const FOLDER: &str = ".zeroclaw";
/// Names the install in use, when it is not the default one.
const ACTIVE: &str = "active_workspace.toml";
/// Bytes of that file, at most.
const MAX_ACTIVE_BYTES: u64 = 1 << 16;
/// The name of the database in the first documents.
const SEED_DATABASE: &str = "memory.db";
/// Databases up to this size are opened to see which agents they know.
const MAX_LOOKED_INTO_BYTES: u64 = 1 << 30;
/// Agents of one install that are listed, at most.
const MAX_AGENTS: usize = 1_000;

/// Finds every agent: of the install in use first.
pub(super) fn discover(machine: &Machine) -> Vec<FoundAgent> {
    find(machine, Depth::Databases)
}

/// Finds agents without looking into a database.
pub(super) fn discover_by_files(machine: &Machine) -> Vec<FoundAgent> {
    find(machine, Depth::Files)
}

/// Takes a folder as [`locate`] does; looks into a database only where no file names an agent.
pub(super) fn locate_by_files(machine: &Machine, folder: &Path, alias: Option<&str>) -> FoundAgent {
    let absolute = absolute(folder);
    let is_known =
        || find(machine, Depth::Files).iter().any(|find| same_place(&find.workspace, &absolute));
    let is_loose = || looks_like_a_workspace(&absolute) && !is_known();
    if is_new(&absolute) || in_its_install(machine, &absolute, alias).is_some() {
        return locate(machine, folder, alias);
    }
    if is_install(&absolute) {
        let install = Install::open(machine, &InstallSite::of(absolute.clone()), Depth::Files);
        let known = install.filter(Install::names_agents).map(|install| install.agents(machine));
        if let Some(agent) = known.and_then(|agents| pick(agents, alias)) {
            return agent;
        }
    } else if alias.is_none() && is_loose() {
        // With an alias given, the database is not asked for one.
        let mut agent = locate(machine, folder, Some(DEFAULT_ALIAS));
        if agent.install.is_none() {
            let message = "the database may be of an agent with another name".to_owned();
            agent.oddities.push(Oddity { kind: OddityKind::AliasAssumed, message });
            return agent;
        }
    }
    locate(machine, folder, alias)
}

/// How thoroughly an install is inspected.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Depth {
    /// Only files and folders.
    Files,
    /// Also the agents that only a database knows.
    Databases,
}

fn find(machine: &Machine, depth: Depth) -> Vec<FoundAgent> {
    let mut seen = BTreeSet::new();
    let mut found = Vec::new();
    for site in sites(machine) {
        if !site.folder.is_dir() || !seen.insert(real(&site.folder)) {
            continue;
        }
        if let Some(install) = Install::open(machine, &site, depth) {
            found.extend(install.agents(machine));
        }
    }
    found
}

/// Takes a folder as an install or a workspace.
pub(super) fn locate(machine: &Machine, folder: &Path, alias: Option<&str>) -> FoundAgent {
    let folder = absolute(folder);
    if is_new(&folder) {
        return new_install(&folder, alias);
    }
    if let Some(agent) = in_its_install(machine, &folder, alias) {
        return agent;
    }
    if is_install(&folder)
        && let Some(install) =
            Install::open(machine, &InstallSite::of(folder.clone()), Depth::Databases)
    {
        let agents = install.agents(machine);
        let names: Vec<String> = agents.iter().map(|agent| agent.alias.clone()).collect();
        return pick(agents, alias).unwrap_or_else(|| {
            let mut agent = install.agent(machine, alias.unwrap_or(DEFAULT_ALIAS));
            agent.oddities.extend(unknown(&agent.alias, &names));
            agent
        });
    }
    // A workspace that the configuration can put anywhere.
    let known = find(machine, Depth::Files).into_iter().filter(|find| {
        same_place(&find.workspace, &folder) && alias.is_none_or(|alias| find.alias == alias)
    });
    if let Some(agent) = known.into_iter().next() {
        return agent;
    }
    let has_document = || AIEOS.iter().any(|name| folder.join(name).is_file());
    if looks_like_a_workspace(&folder) || has_document() || is_of_another(&folder) {
        let mut agent = loose(machine, folder, alias);
        agent.shares_workspace = alias.is_some() && is_not_first(machine, &agent);
        return agent;
    }
    // The rest of an unfinished move, or a folder for something else.
    new_install(&folder, alias)
}

/// Whether the folder is empty or missing.
fn is_new(folder: &Path) -> bool {
    // One file that is known to exist saves listing the folder.
    if looks_like_a_workspace(folder) || is_marked(folder) {
        return false;
    }
    match fs_err::read_dir(folder) {
        Ok(mut entries) => entries.next().is_none(),
        Err(error) => error.kind() == std::io::ErrorKind::NotFound,
    }
}

/// An install that is to be created.
fn new_install(folder: &Path, alias: Option<&str>) -> FoundAgent {
    let alias = alias.filter(|alia| is_name(alia)).unwrap_or(DEFAULT_ALIAS);
    FoundAgent {
        generation: Some(generation::DATA),
        database: Some(folder.join("data").join(DATABASE)),
        install: Some(folder.to_owned()),
        ..FoundAgent::without_install(RUNTIME, alias.to_owned(), usual_workspace(folder, alias))
    }
}

/// A workspace at its usual path in an install, such as one from another machine.
fn in_its_install(machine: &Machine, folder: &Path, alias: Option<&str>) -> Option<FoundAgent> {
    if folder.file_name() != Some(OsStr::new("workspace")) {
        return None;
    }
    let above = folder.parent()?;
    let of_agents =
        above.parent().filter(|parent| parent.ends_with("agents")).and_then(Path::parent);
    let install = [Some(above), of_agents].into_iter().flatten().find(|value| is_marked(value))?;
    let install = Install::open(machine, &InstallSite::of(install.to_owned()), Depth::Files)?;
    let own = |agent: &FoundAgent| {
        same_place(&agent.workspace, folder) && alias.is_none_or(|alias| agent.alias == alias)
    };
    if let Some(agent) = install.agents(machine).into_iter().find(own) {
        return Some(agent);
    }
    let name = above.file_name()?.to_str().filter(|_| of_agents.is_some())?;
    Some(install.agent(machine, name))
}

/// Whether a folder has something that only an install has.
fn is_marked(folder: &Path) -> bool {
    let is_file = |name: &str| folder.join(name).is_file();
    has_config(folder)
        || is_file(".secret_key")
        || is_file(SEED_DATABASE)
        || folder.join("data").join(MEMORY).is_dir()
}

/// Whether a folder is an install, and not a workspace with folders of the same names.
fn is_install(folder: &Path) -> bool {
    if is_of_another(folder) {
        return false;
    }
    let has_folders = folder.join("data").join(MEMORY).is_dir()
        || !agent_folders(folder).is_empty()
        || folder.join(generation::WORKSPACE).is_dir();
    if looks_like_a_workspace(folder) {
        has_folders && is_marked(folder)
    } else {
        has_folders || is_marked(folder)
    }
}

/// Whether a folder is the install of another runtime.
fn is_of_another(folder: &Path) -> bool {
    ["openclaw.json", "clawdbot.json"].iter().any(|name| folder.join(name).is_file())
}

/// Whether an agent works in a folder.
fn looks_like_a_workspace(folder: &Path) -> bool {
    let mut files = PERSONA.into_iter().chain([USER, CURATED]);
    files.any(|name| folder.join(name).is_file()) || folder.join(MEMORY).is_dir()
}

/// A workspace that belongs to no install.
fn loose(machine: &Machine, folder: PathBuf, alias: Option<&str>) -> FoundAgent {
    let mut agent =
        FoundAgent::without_install(RUNTIME, alias.unwrap_or(DEFAULT_ALIAS).to_owned(), folder);
    agent.database = Some(agent.workspace.join(DATABASE)).filter(|join| is_live(join));
    agent.config = config_in(machine, &agent.workspace);
    agent.oddities.extend(agent.config.as_ref().and_then(unreadable_config));
    settle(&mut agent);
    if let Some(database) = &agent.database {
        agent.oddities.extend(backups_beside(database));
        let opened = if alias.is_none() { aliases_in(machine, database) } else { Ok(Vec::new()) };
        match opened {
            Ok(known) => {
                if let Some(chosen) = first_of(&known) {
                    agent.alias = chosen;
                    agent.oddities.extend(several(&agent.alias, &known));
                }
            }
            Err(error) => agent.oddities.push(unreadable(database, &error)),
        }
    }
    agent
}

/// Returns the names of the agents that a database knows.
fn aliases_in(machine: &Machine, database: &Path) -> Result<Vec<String>, DatabaseError> {
    let brain = Brain::open(machine, database)?;
    Ok(brain.into_iter().flat_map(|brain| brain.agents).map(|agent| agent.alias).collect())
}

/// Whether the database in a workspace knows an agent that comes before this one.
fn is_not_first(machine: &Machine, agent: &FoundAgent) -> bool {
    // The agent with the default name is the first.
    let database = agent.database.as_deref().filter(|_| agent.alias != DEFAULT_ALIAS);
    let known = database.and_then(|database| aliases_in(machine, database).ok());
    known.and_then(|known| first_of(&known)).is_some_and(|first| first != agent.alias)
}

/// Picks an agent of an install; without a name, the default one.
fn pick(mut agents: Vec<FoundAgent>, alias: Option<&str>) -> Option<FoundAgent> {
    let names: Vec<String> = agents.iter().map(|agent| agent.alias.clone()).collect();
    let wanted = match alias {
        Some(alias) => alias.to_owned(),
        None => first_of(&names)?,
    };
    let position = agents.iter().position(|agent| agent.alias == wanted)?;
    let mut agent = agents.swap_remove(position);
    if alias.is_none() {
        agent.oddities.extend(several(&wanted, &names));
    }
    Some(agent)
}

pub(super) fn first_of(names: &[String]) -> Option<String> {
    names.iter().find(|name| *name == DEFAULT_ALIAS).or_else(|| names.first()).cloned()
}

fn several(taken: &str, names: &[String]) -> Option<Oddity> {
    let others: Vec<String> = names.iter().filter(|name| *name != taken).cloned().collect();
    let message = format!("this is {taken}; there are also the agents {}", a_few(&others));
    (!others.is_empty()).then_some(Oddity { kind: OddityKind::SeveralAgents, message })
}

/// An import may create the agent; there is nothing to read of it.
fn unknown(alias: &str, names: &[String]) -> Option<Oddity> {
    let message = format!("there is no agent {alias:?}; there are {}", a_few(names));
    (!names.is_empty()).then_some(Oddity { kind: OddityKind::UnknownAgent, message })
}

/// Where an install may be.
struct InstallSite {
    folder: PathBuf,
    /// Its workspace, when it is elsewhere.
    workspace: Option<PathBuf>,
}

impl InstallSite {
    fn of(folder: PathBuf) -> Self {
        Self { folder, workspace: None }
    }
}

/// Returns every path where an install may be, the one in use first.
fn sites(machine: &Machine) -> Vec<InstallSite> {
    let usual = machine.home.join(FOLDER);
    let variable = |name| machine.variable(name).map(|variable| from_variable(machine, variable));
    let mut sites: Vec<InstallSite> = Vec::new();
    sites.extend(variable("ZEROCLAW_CONFIG_DIR").map(InstallSite::of));
    sites.extend(
        variable("ZEROCLAW_DATA_DIR").map(|folder| InstallSite::of(install_of_data(folder))),
    );
    sites.extend(variable("ZEROCLAW_WORKSPACE").map(site_of_workspace));
    sites.extend(active(machine, &usual).map(InstallSite::of));
    sites.push(InstallSite::of(usual));
    sites
}

fn from_variable(machine: &Machine, value: &OsStr) -> PathBuf {
    install_paths::from_variable(value, |text| resolve(machine, Path::new(""), text))
}

/// Makes a path from the user absolute: `~`, and what is relative to a folder.
fn resolve(machine: &Machine, folder: &Path, text: &str) -> PathBuf {
    install_paths::resolve(&machine.home, folder, text)
}

/// Images set this variable to the folder that holds the install, others to the install itself or
/// to its `data`.
fn install_of_data(folder: PathBuf) -> PathBuf {
    let inside = folder.join(FOLDER);
    let above = folder.parent().filter(|_| folder.ends_with("data")).map(Path::to_owned);
    match above.filter(|above| has_config(above)) {
        Some(above) => above,
        None if !is_marked(&folder) && is_marked(&inside) => inside,
        None => folder,
    }
}

/// The path that the runtime derives from `ZEROCLAW_WORKSPACE`.
fn site_of_workspace(folder: PathBuf) -> InstallSite {
    if has_config(&folder) {
        return InstallSite::of(folder);
    }
    let above = folder.parent().unwrap_or(&folder);
    let beside = above.join(FOLDER);
    if folder.ends_with(generation::WORKSPACE) && is_marked(above) {
        return InstallSite { folder: above.to_owned(), workspace: Some(folder) };
    }
    if has_config(&beside) || folder.ends_with(generation::WORKSPACE) {
        return InstallSite { folder: beside, workspace: Some(folder) };
    }
    InstallSite::of(folder)
}

/// Returns the install that is in use instead of the default one.
fn active(machine: &Machine, usual: &Path) -> Option<PathBuf> {
    let mut text = String::new();
    let file = fs_err::File::open(usual.join(ACTIVE)).ok()?;
    file.take(MAX_ACTIVE_BYTES).read_to_string(&mut text).ok()?;
    let document: toml_edit::DocumentMut = text.parse().ok()?;
    let folder =
        document.get("config_dir")?.as_str().filter(|document| !document.trim().is_empty())?;
    Some(absolute(&resolve(machine, usual, folder.trim())))
}

/// Returns the configuration in a folder.
fn config_in(machine: &Machine, folder: &Path) -> Option<ConfigFile> {
    has_config(folder).then(|| machine.config_file(folder.join(CONFIG)))
}

/// Whether something is where the configuration should be. What is there and is no file, such as a
/// pipe, a folder or a link to nothing, is a configuration that cannot be read, not a missing one.
fn has_config(folder: &Path) -> bool {
    fs_err::symlink_metadata(folder.join(CONFIG)).is_ok()
}

/// Says why a configuration cannot be read.
fn unreadable_config(file: &ConfigFile) -> Option<Oddity> {
    let warning = Config::of(file).err()?;
    let message = format!("{} {}", file.display(), warning.message);
    Some(Oddity { kind: OddityKind::ConfigUnreadable, message })
}

/// An install with what is in it.
struct Install {
    folder: PathBuf,
    config_file: Option<ConfigFile>,
    config: Option<Arc<Config>>,
    generation: &'static str,
    /// The one workspace, except in layout `data`.
    workspace: PathBuf,
    /// The database of all agents; `None` where each has its own, or none exists.
    database: Option<PathBuf>,
    /// The agents that the database knows.
    known: Vec<String>,
    oddities: Vec<Oddity>,
}

impl Install {
    /// Takes a folder as an install; `None` when it holds nothing of the runtime.
    fn open(machine: &Machine, site: &InstallSite, depth: Depth) -> Option<Self> {
        let folder = site.folder.clone();
        let workspace =
            site.workspace.clone().unwrap_or_else(|| folder.join(generation::WORKSPACE));
        let mut install = Self {
            config_file: config_in(machine, &folder),
            config: None,
            generation: generation::DATA,
            workspace,
            database: None,
            known: Vec::new(),
            oddities: Vec::new(),
            folder,
        };
        let seeded = install.look_for_decoys(machine);
        if !install.tell_layout(seeded) {
            return None;
        }
        if let Some(file) = &install.config_file {
            install.config = Config::of(file).ok();
            install.oddities.extend(unreadable_config(file));
        }
        if depth == Depth::Databases && install.generation == generation::DATA {
            install.look_into_database(machine);
        }
        install.name_what_is_ignored();
        Some(install)
    }

    /// Looks at files called `memory.db`, and returns the one that holds memories in the install
    /// itself.
    fn look_for_decoys(&mut self, machine: &Machine) -> Option<PathBuf> {
        let own = self.folder.join(SEED_DATABASE);
        let mut seeded = None;
        let elsewhere =
            [&self.workspace, &self.folder.join("data")].map(|value| value.join(SEED_DATABASE));
        for path in [own.clone()].into_iter().chain(elsewhere).filter(|value| value.is_file()) {
            let opened = if is_live(&path) { Brain::open(machine, &path) } else { Ok(None) };
            let shown = path.display();
            let (kind, message) = match opened {
                Ok(Some(_)) if path == own => {
                    seeded = Some(path);
                    continue;
                }
                Ok(Some(_)) => (
                    OddityKind::DatabaseIgnored,
                    format!("{shown} holds memories, and no version reads it"),
                ),
                Ok(None) => (
                    OddityKind::Decoy,
                    format!("{shown} holds no memories; `zeroclaw self-test` makes such a file"),
                ),
                Err(error) => {
                    self.oddities.push(unreadable(&path, &error));
                    continue;
                }
            };
            self.oddities.push(Oddity { kind, message });
        }
        seeded
    }

    /// Determines the layout by its database, or else by its folders; returns whether anything was
    /// found.
    fn tell_layout(&mut self, seeded: Option<PathBuf>) -> bool {
        let shared = self.folder.join("data").join(DATABASE);
        let single = self.workspace.join(DATABASE);
        let own = self.folder.join(DATABASE);
        let agents = agent_folders(&self.folder);
        let of_agent =
            |alias: &String| is_live(&usual_workspace(&self.folder, alias).join(DATABASE));
        if is_live(&shared) {
            self.database = Some(shared);
        } else if is_live(&single) {
            self.generation = generation::WORKSPACE;
            self.database = Some(single);
        } else if agents.iter().any(of_agent) {
            // Each agent has its own.
        } else if is_live(&own) {
            self.generation = generation::WORKSPACE;
            self.workspace.clone_from(&self.folder);
            self.database = Some(own);
        } else if let Some(seeded) = seeded {
            self.generation = generation::SEED;
            self.database = Some(seeded);
        } else if agents.is_empty() && looks_like_a_workspace(&self.workspace) {
            self.generation = generation::WORKSPACE;
        } else {
            let data = self.folder.join("data").join(MEMORY).is_dir();
            return data || !agents.is_empty() || self.config_file.is_some();
        }
        true
    }

    /// Reads from the database which agents it knows.
    fn look_into_database(&mut self, machine: &Machine) {
        let Some(path) = self.database.clone() else { return };
        let size = fs_err::metadata(&path).map_or(0, |metadata| metadata.len());
        if size > MAX_LOOKED_INTO_BYTES {
            let message =
                format!("{} is large; agents that only it knows are not listed", path.display());
            self.oddities.push(Oddity { kind: OddityKind::DatabaseLarge, message });
            return;
        }
        match aliases_in(machine, &path) {
            Ok(known) => self.known = known,
            Err(error) => self.oddities.push(unreadable(&path, &error)),
        }
    }

    fn name_what_is_ignored(&mut self) {
        let agents = agent_folders(&self.folder);
        let of_agents: Vec<PathBuf> =
            agents.iter().map(|agent| usual_workspace(&self.folder, agent)).collect();
        let single = self.folder.join(generation::WORKSPACE);
        let mut databases =
            vec![self.folder.join("data").join(DATABASE), self.workspace.join(DATABASE)];
        databases.push(single.join(DATABASE));
        if self.database.is_some() {
            databases.extend(of_agents.iter().map(|agent| agent.join(DATABASE)));
        }
        databases.push(self.folder.join(DATABASE));
        databases.dedup();
        let used = self.database.clone();
        let beside: Vec<Oddity> =
            databases.iter().flat_map(|database| backups_beside(database)).collect();
        databases.retain(|database| {
            is_live(database) && used.as_ref().is_none_or(|used| !same_place(database, used))
        });
        let note = |kind, message: String| Oddity { kind, message };
        if let Some(used) = used.filter(|_| !databases.is_empty()) {
            let message = format!(
                "memories are read from {}; these databases are not: {}",
                used.display(),
                a_few(&shown(&databases))
            );
            self.oddities.push(note(OddityKind::DatabaseIgnored, message));
        }
        self.oddities.extend(beside);
        let older: Vec<PathBuf> = names_in(&self.folder)
            .iter()
            .filter(|name| name.starts_with("backup-"))
            .map(|name| self.folder.join(name).join("legacy-workspace"))
            .filter(|value| value.is_dir())
            .collect();
        if !older.is_empty() {
            let message = format!(
                "0.8 kept what it found when it moved the install: {}",
                a_few(&shown(&older))
            );
            self.oddities.push(note(OddityKind::BackupFound, message));
        }
        let is_stray = |path: &&PathBuf| {
            is_live(&path.join(format!("{DATABASE}-wal"))) && !is_live(&path.join(DATABASE))
        };
        for stray in of_agents.iter().filter(is_stray) {
            let from = match older.last() {
                Some(older) => {
                    format!("they can be recovered from {}", older.join(MEMORY).display())
                }
                None => "no copy of the time before was found".to_owned(),
            };
            let message = format!(
                "{} is the log of a database that was moved without it: memories that were \
                 committed last may be missing; {from}",
                stray.join(format!("{DATABASE}-wal")).display()
            );
            self.oddities.push(note(OddityKind::StrayLog, message));
        }
        let is_data = self.generation == generation::DATA;
        let other = if is_data {
            [single].into_iter().filter(|value| looks_like_a_workspace(value)).collect()
        } else {
            of_agents
        };
        if !other.is_empty() {
            let message = format!(
                "the install has the layout `{}`, and folders of the other one are left: {}",
                self.generation,
                a_few(&shown(&other))
            );
            self.oddities.push(note(OddityKind::OtherLayout, message));
        }
    }

    /// Whether files say which agents there are.
    fn names_agents(&self) -> bool {
        self.generation != generation::DATA
            || !agent_folders(&self.folder).is_empty()
            || self.config.as_ref().is_some_and(|config| !config.agents().is_empty())
    }

    /// Returns the agents, the default one first.
    fn agents(&self, machine: &Machine) -> Vec<FoundAgent> {
        if self.generation != generation::DATA {
            let mut agents = vec![self.agent(machine, DEFAULT_ALIAS)];
            agents.extend(self.profiles(machine));
            note_shared_workspaces(&mut agents);
            return agents;
        }
        let mut aliases: BTreeSet<String> = agent_folders(&self.folder).into_iter().collect();
        aliases
            .extend(self.config.iter().flat_map(|config| config.agents()).map(|value| value.alias));
        aliases.extend(self.known.iter().cloned());
        let (named, odd): (Vec<String>, Vec<String>) =
            aliases.into_iter().partition(|alias| is_name(alias));
        let mut aliases = named;
        aliases.sort_by_key(|alias| (alias != DEFAULT_ALIAS, alias.clone()));
        if aliases.is_empty() {
            aliases.push(DEFAULT_ALIAS.to_owned());
        }
        let left = aliases.split_off(aliases.len().min(MAX_AGENTS));
        let mut agents: Vec<FoundAgent> =
            aliases.iter().map(|alias| self.agent(machine, alias)).collect();
        agents.extend(self.profiles(machine));
        note_shared_workspaces(&mut agents);
        let unlisted: Vec<String> = odd.into_iter().chain(left).collect();
        if let Some(first) = agents.first_mut().filter(|_| !unlisted.is_empty()) {
            let message = format!(
                "{} agents have names that are no names of folders, or are too many: {}",
                unlisted.len(),
                a_few(&unlisted)
            );
            first.oddities.push(Oddity { kind: OddityKind::AgentsNotListed, message });
        }
        agents
    }

    /// Profiles of 0.7: workspaces with a memory of their own.
    fn profiles(&self, machine: &Machine) -> Vec<FoundAgent> {
        let folder = self.folder.join("workspaces");
        let found = names_in(&folder).into_iter().filter_map(|name| {
            let workspace = [folder.join(&name), folder.join(&name).join(generation::WORKSPACE)]
                .into_iter()
                .find(|value| looks_like_a_workspace(value))?;
            let mut agent = loose(machine, workspace, Some(&name));
            agent.install = Some(self.folder.clone());
            agent.generation = Some(generation::WORKSPACE);
            if agent.config.is_none() {
                agent.config.clone_from(&self.config_file);
                agent.oddities.extend(self.config_file.as_ref().and_then(unreadable_config));
            }
            agent.oddities.extend(self.backend_oddity(&name, agent.database.as_deref()));
            Some(agent)
        });
        found.collect()
    }

    fn agent(&self, machine: &Machine, alias: &str) -> FoundAgent {
        let alias = if is_name(alias) { alias } else { DEFAULT_ALIAS };
        let is_data = self.generation == generation::DATA;
        let workspace =
            if is_data { self.workspace_of(machine, alias) } else { self.workspace.clone() };
        let own = Some(workspace.join(DATABASE)).filter(|join| is_data && is_live(join));
        let expected = if is_data {
            self.folder.join("data").join(DATABASE)
        } else {
            workspace.join(DATABASE)
        };
        let backend = self.config.as_ref().map_or(Backend::Sqlite, |config| config.backend(alias));
        // The path it will have, once the runtime or an import creates it.
        let expected =
            Some(expected).filter(|_| matches!(backend, Backend::Sqlite | Backend::Lucid));
        let mut agent = FoundAgent {
            runtime: RUNTIME,
            generation: Some(self.generation),
            alias: alias.to_owned(),
            workspace,
            shares_workspace: false,
            install: Some(self.folder.clone()),
            config: self.config_file.clone(),
            database: self.database.clone().or(own).or(expected),
            version: None,
            oddities: self.oddities.clone(),
        };
        agent.oddities.extend(self.backend_oddity(alias, agent.database.as_deref()));
        settle(&mut agent);
        agent
    }

    /// Returns where the runtime keeps an agent's files.
    fn workspace_of(&self, machine: &Machine, alias: &str) -> PathBuf {
        let configured = self.config.iter().flat_map(|config| config.agents());
        let own = configured
            .into_iter()
            .find(|configured| configured.alias == alias)
            .and_then(|configured| configured.workspace);
        match own {
            Some(path) => match path.to_str() {
                Some(text) => resolve(machine, &self.folder, text),
                None => without_dots(&self.folder.join(path)),
            },
            None => usual_workspace(&self.folder, alias),
        }
    }

    /// Returns what is unusual about where memories are kept.
    fn backend_oddity(&self, alias: &str, database: Option<&Path>) -> Option<Oddity> {
        let there = database
            .filter(|database| is_live(database))
            .map(|database| database.display().to_string());
        let (kind, message) = match self.config.as_ref()?.backend(alias) {
            Backend::Sqlite | Backend::Markdown => return None,
            Backend::None => (
                OddityKind::BackendNone,
                "the agent keeps no memories: its backend is `none`".to_owned(),
            ),
            Backend::Lucid => (
                OddityKind::Lucid,
                "the backend is lucid, which keeps everything in SQLite too; that is exported"
                    .to_owned(),
            ),
            Backend::Elsewhere(name) => {
                let instead = match there {
                    Some(path) => format!("what {path} holds is exported, and may be old"),
                    None => "the workspace is exported without them".to_owned(),
                };
                (
                    OddityKind::BackendElsewhere,
                    format!("memories are kept in {name}, out of reach; {instead}"),
                )
            }
        };
        Some(Oddity { kind, message })
    }
}

/// Returns the workspace of an agent in layout `data`, unless the configuration says otherwise.
fn usual_workspace(install: &Path, alias: &str) -> PathBuf {
    install.join("agents").join(alias).join(generation::WORKSPACE)
}

/// Notes which agents share the workspace of another one that comes first.
fn note_shared_workspaces(agents: &mut [FoundAgent]) {
    let mut places = BTreeSet::new();
    for agent in agents {
        agent.shares_workspace = !places.insert(real(&agent.workspace));
    }
}

/// Returns the names of the folders of agents.
fn agent_folders(install: &Path) -> Vec<String> {
    let mut names = names_in(&install.join("agents"));
    names.retain(|name| usual_workspace(install, name).is_dir());
    names
}

/// Whether a file exists and is not empty.
pub(super) fn is_live(path: &Path) -> bool {
    fs_err::metadata(path).is_ok_and(|metadata| metadata.is_file() && metadata.len() > 0)
}

/// Names the copies that the runtime made of a database before it changed it.
fn backups_beside(database: &Path) -> Option<Oddity> {
    let folder = database.parent()?;
    let start = format!("{}.backup-", database.file_name()?.to_str()?);
    let mut names = names_in(folder);
    names.retain(|name| name.starts_with(&start));
    let message = format!(
        "in {} are older copies of the database, which are not read: {}",
        folder.display(),
        a_few(&names)
    );
    (!names.is_empty()).then_some(Oddity { kind: OddityKind::BackupFound, message })
}

fn unreadable(database: &Path, error: &DatabaseError) -> Oddity {
    let message = format!("{} cannot be read: {error}", database.display());
    Oddity { kind: OddityKind::DatabaseUnreadable, message }
}

fn shown(paths: &[PathBuf]) -> Vec<String> {
    paths.iter().map(|path| path.display().to_string()).collect()
}

#[cfg(test)]
mod tests;

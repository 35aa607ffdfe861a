//! The target of a search: an agent, a folder, a database or an archive, as sources of documents.
//!
//! Finding a target is cheap: an agent's configuration is read, and no file or database that may be
//! large is opened. The sources read their content.

mod archive;
mod documents;
mod store;
mod vectors;
mod workspace;

use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anemone_format::{Archive, Limits, OpenError, StampTable, sha256_hex};
use anemone_index::{
    DocumentSource, FileSource, FolderSource, MAX_FILE_BYTES, MarkdownFolder, SkipReason,
    SkippedDocument, SourceError, is_markdown, markdown_document, may_hold_index,
};
use anemone_memory::stamps_in;
use anemone_runtimes::{
    FoundAgent, Machine, OddityKind, PlaceProblem, Runtime, RuntimeSettings, Store, StoreKind,
    WorkspaceFiles, by_name, with_agents,
};

use self::archive::ArchiveDocuments;
use self::documents::DocumentFilter;
use self::store::StoreSource;
use self::workspace::{Scope, WorkspaceSource, extra_sources};
use crate::agent::{AgentChoice, ChosenAgent, FOLDER, FindAgentError};
use crate::config::{Config, ConfigError};
use crate::files::{FileError, InputFile, Scratch};
use crate::host::{Host, Progress};
use crate::identity::{AgentIdentity, identify};
use crate::sealed_header::Packaging;
use crate::search::SourceNote;
use crate::search::index::home;
use crate::settings::{own_place, settings_and_places};
use crate::survey::real;

/// How every file of SQLite's starts.
const SQLITE_MAGIC: &[u8] = b"SQLite format 3\0";
/// How every ZIP file with something in it starts.
const ZIP_MAGIC: &[u8] = b"PK\x03\x04";

/// The search target, as the user named it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TargetChoice {
    /// The archive, database, folder or file, instead of an agent.
    pub path: Option<PathBuf>,
    /// Whose memory.
    pub agent: AgentChoice,
    /// Whether transcripts of conversations are searched too.
    pub sessions: bool,
    /// Whether entries are searched that the runtime keeps for one person only.
    pub private: bool,
    /// The folder of the index, instead of one in the user's cache.
    pub index_dir: Option<PathBuf>,
    /// Whether settings add conversations to what is searched.
    pub settings: UseSettings,
}

/// Whether settings may add to what was asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum UseSettings {
    /// They may.
    #[default]
    Yes,
    /// They may not: the caller looks for memories alone, such as an entry that is a duplicate.
    No,
}

/// The search target, and the folder of its index.
pub struct SearchTarget {
    /// What yields its documents.
    pub sources: Vec<Box<dyn DocumentSource>>,
    /// The agent's runtime, `archive`, `database`, `folder` or `file`.
    pub kind: &'static str,
    /// The workspace, archive, database or folder.
    pub place: PathBuf,
    /// As it was asked for.
    pub choice: TargetChoice,
    /// The agent, where one was chosen.
    pub chosen: Option<ChosenAgent>,
    /// The folder of its index, which may not exist; the same things always have the same one.
    pub index_folder: PathBuf,
    /// What the user should know.
    pub notes: Vec<SourceNote>,
    /// What the configuration of the agent's runtime says, where one was chosen.
    pub settings: RuntimeSettings,
    /// The state folder of the agent.
    pub(crate) state: Option<PathBuf>,
    /// Entries without which there is nothing to search: their source, and their key.
    vital: Vec<(usize, String)>,
    /// The folder of the index of an encrypted archive, which is removed when the run ends.
    scratch: Option<Scratch>,
}

/// What looking for something to search returns.
type Result<T, E = TargetError> = std::result::Result<T, E>;

/// Why there is nothing to search.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
#[non_exhaustive]
pub enum TargetError {
    /// A path and a workspace were both named.
    #[error("a path and a workspace are both named")]
    TwoPlaces,
    /// There is nothing at the path.
    #[error("there is nothing at {}", .0.display())]
    NotFound(PathBuf),
    /// The path cannot be examined.
    Unreadable(std::io::Error),
    /// The file cannot be read.
    Io(#[from] std::io::Error),
    /// It is no regular file.
    #[error("this is not a regular file")]
    NotAFile(PathBuf),
    /// It is nothing that can be searched.
    #[error("this is nothing that can be searched")]
    NotSearchable(PathBuf),
    /// It is a delta, which is searched together with its archive.
    #[error("this is a delta")]
    Delta(PathBuf),
    /// The file is too large.
    #[error(
        "a file of more than {:.2} MiB is not searched",
        MAX_FILE_BYTES as f64 / f64::from(1 << 20)
    )]
    TooLarge(PathBuf),
    /// The archive cannot be opened.
    #[error("the archive cannot be opened")]
    Archive {
        /// Its path.
        path: PathBuf,
        /// Why.
        source: OpenError,
    },
    /// A folder of notes was asked for, and none was named.
    #[error("no folder was given")]
    NoFolder,
    /// No agent was found.
    Agent(#[from] FindAgentError),
    /// An encrypted archive cannot be opened.
    File(#[from] FileError),
    /// The folder is a runtime's state folder.
    /// The message comes from the runtime.
    #[error("{0}")]
    StateFolder(String),
    /// The agent has no workspace.
    #[error("there is no workspace at {}", .0.display())]
    NoWorkspace(PathBuf),
    /// The agent keeps nothing but conversations, which were not asked for.
    #[error("the agent {alias:?} keeps no memories")]
    NoMemories {
        /// Its name.
        alias: String,
        /// Its workspace.
        workspace: PathBuf,
    },
    /// The folder of the index cannot be examined.
    IndexFolder(std::io::Error),
    /// The folder of the index holds something else.
    #[error("this folder holds something other than an index")]
    IndexFolderTaken(PathBuf),
}

/// The resolved sources, still without an index.
#[derive(Default)]
struct ResolvedSources {
    sources: Vec<Box<dyn DocumentSource>>,
    kind: &'static str,
    place: PathBuf,
    notes: Vec<SourceNote>,
    vital: Vec<(usize, String)>,
    settings: RuntimeSettings,
    /// Whether conversations are searched, by the request or by a setting.
    sessions: bool,
    is_encrypted: bool,
    chosen: Option<ChosenAgent>,
    /// The folders of the agent, where the index is of one.
    agent: Option<AgentIdentity>,
}

/// Counts the Markdown files beside the memories of a folder, which may be taken for a workspace
/// because of one name in it.
fn notes_beside(runtime: &Runtime, workspace: &Path) -> Option<SourceNote> {
    let names = fs_err::read_dir(workspace).ok()?.flatten();
    let names = names.map(|entry| entry.file_name().to_string_lossy().into_owned());
    let is_note =
        |name: &String| is_markdown(name) && !runtime.files.known.contains(&name.as_str());
    let files = names.filter(is_note).count();
    (files > 0).then_some(SourceNote::NotesBeside(files))
}

impl TargetChoice {
    /// Resolves the target. An encrypted archive is opened with the user's keys.
    pub fn find(&self, machine: &Machine, host: &Host) -> Result<SearchTarget> {
        let found = match &self.path {
            Some(_) if self.agent.workspace.is_some() => return Err(TargetError::TwoPlaces),
            Some(path) => self.by_path(path, machine, host)?,
            None => self.workspace(&self.agent, machine, host)?,
        };
        self.place_index(found, host)
    }

    /// Returns the sources of an agent when only the agent is named.
    pub fn of_agent(chosen: ChosenAgent, machine: &Machine, host: &Host) -> Result<SearchTarget> {
        let choice = Self::default();
        let found = choice.agent(chosen, machine, host)?;
        choice.place_index(found, host)
    }

    /// As [`find`](Self::find), for a choice of an agent that was chosen already.
    pub fn find_in(
        &self,
        chosen: ChosenAgent,
        machine: &Machine,
        host: &Host,
    ) -> Result<SearchTarget> {
        self.place_index(self.workspace_of(&self.agent, chosen, machine, host)?, host)
    }

    fn wanted(&self) -> DocumentFilter {
        DocumentFilter { sessions: self.sessions, private: self.private }
    }

    /// Determines the kind of source of a path.
    fn by_path(&self, path: &Path, machine: &Machine, host: &Host) -> Result<ResolvedSources> {
        let named = || path.to_owned();
        let there = fs_err::metadata(path).map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound => TargetError::NotFound(named()),
            _ => TargetError::Unreadable(error),
        })?;
        if there.is_dir() {
            let agent = AgentChoice { workspace: Some(named()), ..self.agent.clone() };
            return self.workspace(&agent, machine, host);
        }
        if !there.is_file() {
            return Err(TargetError::NotAFile(named()));
        }
        let mut start = Vec::new();
        fs_err::File::open(path)?.take(Packaging::START_BYTES).read_to_end(&mut start)?;
        let ending = path.extension().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
        if ending == "alf-delta" {
            return Err(TargetError::Delta(named()));
        }
        if start.starts_with(SQLITE_MAGIC) {
            let found = self.database(path, machine);
            return found.ok_or_else(|| TargetError::NotSearchable(named()));
        }
        if Packaging::of(&start).is_sealed() {
            return self.encrypted(path, host);
        }
        if start.starts_with(ZIP_MAGIC) || ending == "alf" {
            let path = real(path);
            let documents = ArchiveDocuments::closed(path.clone(), self.wanted());
            return Ok(single("archive", &path, Box::new(documents)));
        }
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if is_markdown(&name) || ending == "txt" {
            if there.len() > MAX_FILE_BYTES {
                return Err(TargetError::TooLarge(named()));
            }
            let path = real(path);
            let source = FileSource::new(&path, markdown_document(&name));
            return Ok(single("file", &path, Box::new(source)));
        }
        Err(TargetError::NotSearchable(named()))
    }

    /// Takes a database, of one agent or of all in it: the runtime that was named comes first.
    fn database(&self, path: &Path, machine: &Machine) -> Option<ResolvedSources> {
        let path = real(path);
        let alias = self.agent.agent.as_deref().unwrap_or_default();
        let named = self.agent.runtime.as_deref().and_then(by_name);
        let mut runtimes = named.into_iter().chain(with_agents());
        runtimes.find_map(|runtime| {
            let (agent, kind) = runtime.database(&path, alias)?;
            Some(self.store(runtime, kind, &path, agent, machine))
        })
    }

    fn store(
        &self,
        runtime: &'static Runtime,
        kind: StoreKind,
        path: &Path,
        agent: FoundAgent,
        machine: &Machine,
    ) -> ResolvedSources {
        let log = |end: &str| {
            let mut path = path.as_os_str().to_owned();
            path.push(end);
            PathBuf::from(path)
        };
        let source = StoreSource {
            runtime,
            machine: machine.clone(),
            agent: Arc::new(agent),
            store: Store {
                kind,
                name: path.file_name().unwrap_or_default().to_string_lossy().into_owned(),
                files: vec![path.to_owned(), log("-wal"), log("-journal")],
                folders: Vec::new(),
            },
            private: self.private,
        };
        single("database", path, Box::new(source))
    }

    /// Opens an encrypted archive; nothing of it is left on disk after the run.
    fn encrypted(&self, path: &Path, host: &Host) -> Result<ResolvedSources> {
        let opened = InputFile::open(path, host, &Progress::hidden())?;
        let archive = Archive::open(opened.bytes, opened.length, &Limits::default())
            .map_err(|source| TargetError::Archive { path: path.to_owned(), source })?;
        let path = real(path);
        let source = ArchiveDocuments::decrypted(path.clone(), self.wanted(), archive);
        let found = single("archive", &path, Box::new(source));
        Ok(ResolvedSources { is_encrypted: true, ..found })
    }

    /// Takes an agent, or a folder that is none's.
    fn workspace(
        &self,
        args: &AgentChoice,
        machine: &Machine,
        host: &Host,
    ) -> Result<ResolvedSources> {
        if args.runtime.as_deref() == Some(FOLDER) && args.workspace.is_none() {
            return Err(TargetError::NoFolder);
        }
        self.workspace_of(args, args.choose_by_files(machine)?, machine, host)
    }

    fn workspace_of(
        &self,
        args: &AgentChoice,
        chosen: ChosenAgent,
        machine: &Machine,
        host: &Host,
    ) -> Result<ResolvedSources> {
        let agent = &chosen.agent;
        if args.runtime.as_deref() == Some(FOLDER) {
            let found = folder_of_markdown(&agent.workspace);
            return Ok(ResolvedSources { chosen: Some(chosen), ..found });
        }
        if let Some(oddity) = agent.oddity(OddityKind::StateFolder) {
            return Err(TargetError::StateFolder(oddity.message.clone()));
        }
        let found = match &args.workspace {
            Some(folder) if args.runtime.is_none() && is_nobodys(agent) => {
                folder_of_markdown(folder)
            }
            _ => self.agent(chosen.clone(), machine, host)?,
        };
        Ok(ResolvedSources { chosen: Some(chosen), ..found })
    }

    fn agent(
        &self,
        chosen: ChosenAgent,
        machine: &Machine,
        host: &Host,
    ) -> Result<ResolvedSources> {
        let ChosenAgent { runtime, agent } = chosen;
        let mut searchable = runtime.searchable(machine, &agent);
        let settings = settings_and_places(runtime, &agent, machine, host);
        // A config that cannot be read is reported where a setting of it decides something.
        let config =
            Config::over(&settings, host).unwrap_or_else(|_| Config::of_runtime(&settings));
        let sessions =
            self.sessions || (config.search.sessions && self.settings == UseSettings::Yes);
        let own = config.search.extra_paths.into_iter();
        searchable.extra.extend(own.map(own_place).filter(|place| {
            let problem = place.problem(&machine.home, &agent.workspace);
            !problem.is_some_and(PlaceProblem::is_refused)
        }));
        let workspace = real(&agent.workspace);
        let mut found = ResolvedSources {
            kind: runtime.name,
            place: workspace.clone(),
            notes: searchable
                .warnings
                .iter()
                .map(|warning| match &warning.path {
                    Some(path) if !warning.message.contains(path) => {
                        format!("{path}: {}", warning.message)
                    }
                    _ => warning.message.clone(),
                })
                .map(SourceNote::Runtime)
                .collect(),
            settings,
            sessions,
            ..ResolvedSources::default()
        };
        let has_rows = searchable.stores.iter().any(|store| store.kind == StoreKind::Rows);
        if !workspace.is_dir() && !has_rows {
            return Err(TargetError::NoWorkspace(workspace));
        }
        if !searchable.files
            && searchable.stores.iter().all(|store| store.kind == StoreKind::Sessions)
            && !sessions
        {
            return Err(TargetError::NoMemories { alias: agent.alias, workspace });
        }
        let mut scope = Scope::Memories;
        if is_folder_of_notes(&self.agent, &agent) {
            scope = Scope::Everything;
            found.kind = FOLDER;
        } else if agent.install.is_none() && self.agent.runtime.is_none() {
            found.notes.extend(notes_beside(runtime, &workspace));
        }
        if scope == Scope::Memories {
            found.agent = Some(identify(runtime, &agent, host));
        }
        let agent = Arc::new(agent);
        if searchable.files && workspace.is_dir() {
            let files = WorkspaceSource::new(runtime, workspace.clone(), scope);
            // Rows have their own vectors.
            found.sources.push(Box::new(if has_rows {
                files
            } else {
                files.indexed_for(machine.clone(), agent.clone())
            }));
        }
        let extra = extra_sources(runtime, &workspace, &searchable.extra, &mut found.notes);
        found.sources.extend(extra);
        for store in searchable.stores {
            if store.kind == StoreKind::Sessions && !sessions {
                continue;
            }
            if store.kind == StoreKind::Rows {
                found.vital.push((found.sources.len(), store.name.clone()));
            }
            found.sources.push(Box::new(StoreSource {
                runtime,
                machine: machine.clone(),
                agent: agent.clone(),
                store,
                private: self.private,
            }));
        }
        Ok(found)
    }

    /// Chooses the folder of the index.
    fn place_index(&self, found: ResolvedSources, host: &Host) -> Result<SearchTarget> {
        let mut scratch = None;
        let index_folder = if found.is_encrypted {
            let folder = Scratch::below(&host.scratch)?;
            let path = folder.path().join("index");
            scratch = Some(folder);
            path
        } else if let Some(folder) = &self.index_dir {
            check_index_folder(folder)?;
            real(folder)
        } else {
            let sources = found.sources.iter().map(|source| source.identity());
            let by_sources = home(host).join(short_digest(&sources.collect::<Vec<_>>().join("\n")));
            match &found.agent {
                // The agent keeps its index when it moves.
                Some(agent) => {
                    let name = short_digest(&format!(
                        "{} sessions={} private={}",
                        found.kind, found.sessions, self.private
                    ));
                    agent.index(&name, by_sources)
                }
                None => by_sources,
            }
        };
        let mut notes = found.notes;
        if found.is_encrypted && self.index_dir.is_some() {
            notes.push(SourceNote::EncryptedNotKept);
        }
        let state = found.agent.as_ref().map(|agent| agent.dirs.state.clone());
        Ok(SearchTarget {
            sources: found.sources,
            kind: found.kind,
            place: found.place,
            choice: self.clone(),
            chosen: found.chosen,
            index_folder,
            notes,
            settings: found.settings,
            state,
            vital: found.vital,
            scratch,
        })
    }
}

impl SearchTarget {
    /// Returns its sources as the index takes them.
    pub fn sources(&self) -> Vec<&dyn DocumentSource> {
        self.sources.iter().map(|source| &**source).collect()
    }

    /// Returns the table for the short stamps of the entries.
    pub fn stamps(&self) -> StampTable {
        if self.place.is_dir() {
            return stamps_in(&self.place);
        }
        self.sources.first().map(|source| source.stamps()).unwrap_or_default()
    }

    /// Reads the settings that count for it.
    pub fn config(&self, host: &Host) -> Result<Config, ConfigError> {
        Config::over(&self.settings, host)
    }

    /// Reads the settings that count for it; of a config that cannot be read, nothing counts. What
    /// needs the config, such as choosing an embedder, reports why it cannot be read.
    #[must_use]
    pub fn readable_config(&self, host: &Host) -> Config {
        self.config(host).unwrap_or_else(|_| Config::of_runtime(&self.settings))
    }

    /// Whether there is no index of it after the run.
    pub fn is_encrypted(&self) -> bool {
        self.scratch.is_some()
    }

    /// Explains why there is nothing to search if an essential source is missing: the archive, the
    /// database of memories. The skipped documents come from a refresh.
    pub fn failure(&self, skipped: &[SkippedDocument]) -> Option<SourceError> {
        let is_missing = |key: &str| {
            skipped
                .iter()
                .any(|skipped| skipped.reason == SkipReason::Unreadable && skipped.path == key)
        };
        let mut missing = self.vital.iter().filter(|(_, key)| is_missing(key));
        missing.find_map(|(at, _)| {
            let source = self.sources.get(*at)?;
            let listing = match source.list() {
                Ok(listing) => listing,
                Err(error) => return Some(error),
            };
            listing.entries.iter().find_map(|entry| source.load(entry, &mut |_| {}).err())
        })
    }
}

/// Returns the beginning of a digest, as the name of an index.
fn short_digest(text: &str) -> String {
    let mut digest = sha256_hex(text.as_bytes());
    digest.truncate(32);
    digest
}

/// What is one thing.
fn single(kind: &'static str, path: &Path, source: Box<dyn DocumentSource>) -> ResolvedSources {
    let key = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    ResolvedSources {
        sources: vec![source],
        kind,
        place: path.to_owned(),
        vital: vec![(0, key)],
        ..ResolvedSources::default()
    }
}

fn folder_of_markdown(folder: &Path) -> ResolvedSources {
    let folder = real(folder);
    let rules = Box::new(MarkdownFolder::default());
    let source = FolderSource::new(folder.clone(), String::new(), rules);
    ResolvedSources { vital: Vec::new(), ..single(FOLDER, &folder, Box::new(source)) }
}

/// Whether a folder outside any install is certainly an agent's workspace: it has several of the
/// files that runtimes create there, or a file that no other folder has. A file called `MEMORY.md`
/// and a folder called `memory` are no evidence: `remember` creates them in any folder.
fn is_surely_workspace(agent: &FoundAgent) -> bool {
    let has = |name: &&str| agent.workspace.join(name).is_file();
    let is_agents = |files: &WorkspaceFiles| {
        files.unmistakable.iter().any(has)
            || files.bootstrap.iter().filter(|name| has(name)).count() >= 2
    };
    agent.config.is_some()
        || agent.database.is_some()
        || with_agents().any(|runtime| is_agents(&runtime.files))
}

/// Whether all Markdown files of a folder are the memory, and not only those that an agent would
/// read. In doubt they all are.
pub fn is_folder_of_notes(args: &AgentChoice, agent: &FoundAgent) -> bool {
    let is_named = args.runtime.as_deref() == Some(FOLDER);
    let is_in_doubt = args.runtime.is_none() && agent.install.is_none();
    is_named || (is_in_doubt && !is_surely_workspace(agent))
}

/// Whether a folder that was taken for a workspace shows no sign of an agent.
fn is_nobodys(agent: &FoundAgent) -> bool {
    let has = |name: &&str| agent.workspace.join(name).is_file();
    agent.install.is_none()
        && agent.config.is_none()
        && agent.database.is_none()
        && !with_agents().any(|runtime| runtime.files.evergreen.iter().any(has))
        && !agent.workspace.join("memory").is_dir()
}

/// Refuses a folder that holds something else than an index: an index is emptied now and then.
fn check_index_folder(folder: &Path) -> Result<()> {
    if may_hold_index(folder).map_err(TargetError::IndexFolder)? {
        return Ok(());
    }
    Err(TargetError::IndexFolderTaken(folder.to_owned()))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use anemone_runtimes::KnownConfigs;

    use super::*;

    struct Home {
        folder: tempfile::TempDir,
        machine: Machine,
        host: Host,
    }

    impl Home {
        fn new() -> Self {
            let folder = tempfile::tempdir().unwrap();
            let home = fs_err::canonicalize(folder.path()).unwrap();
            let machine = Machine {
                home: home.clone(),
                variables: BTreeMap::new(),
                database_reader: PathBuf::new(),
                scratch: home.clone(),
                configs: KnownConfigs::default(),
            };
            let mut host = crate::testing::host(&home);
            host.folders.home.clone_from(&home);
            Self { folder, machine, host }
        }

        fn path(&self, name: &str) -> PathBuf {
            fs_err::canonicalize(self.folder.path()).unwrap().join(name)
        }

        fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
            let path = self.path(name);
            fs_err::create_dir_all(path.parent().unwrap()).unwrap();
            fs_err::write(&path, content).unwrap();
            path
        }

        fn find(&self, args: &TargetChoice, path: Option<&str>) -> Result<SearchTarget> {
            let path = path.map(|path| self.path(path));
            TargetChoice { path, ..args.clone() }.find(&self.machine, &self.host)
        }

        /// Finds what is at a path, and returns its kind and the paths of its documents.
        fn at(&self, name: &str) -> Result<(&'static str, Vec<String>)> {
            let searched = self.find(&args(), Some(name))?;
            let mut paths = Vec::new();
            for source in &searched.sources {
                for entry in source.list().unwrap().entries {
                    source.load(&entry, &mut |document| paths.push(document.path)).unwrap();
                }
            }
            Ok((searched.kind, paths))
        }
    }

    fn args() -> TargetChoice {
        TargetChoice::default()
    }

    #[test]
    fn what_lies_at_a_path_is_told_by_looking_at_it() {
        let home = Home::new();
        home.write("w/MEMORY.md", "# A\n");
        home.write("w/other.md", "# A\n");
        home.write("notes/a.md", "# A\n");
        home.write("notes/b/c.markdown", "# A\n");
        home.write("notes/.hidden/d.md", "# A\n");
        let found = |name| home.at(name).unwrap();
        home.write("w/SOUL.md", "# A\n");
        home.write("w/USER.md", "# A\n");
        assert_eq!(found("w").0, "openclaw");
        assert!(!found("w").1.contains(&"other.md".to_owned()));
        let notes = ["a.md", "b/c.markdown"].map(str::to_owned).to_vec();
        assert_eq!(found("notes"), ("folder", notes));
        assert_eq!(found("notes/a.md"), ("file", vec!["a.md".to_owned()]));
        home.write("x.bin", "x");
        home.write("x.alf-delta", "x");
        assert!(matches!(home.at("gone"), Err(TargetError::NotFound(_))));
        assert!(matches!(home.at("x.bin"), Err(TargetError::NotSearchable(_))));
        assert!(matches!(home.at("x.alf-delta"), Err(TargetError::Delta(_))));
    }

    #[test]
    fn one_file_called_memory_does_not_make_a_folder_a_workspace() {
        let home = Home::new();
        home.write("docs/memory.md", "# A\n");
        home.write("docs/search.md", "# A\n");
        home.write("docs/guide/start.md", "# A\n");
        home.write("docs/memory/2026-11-16.md", "# A\n");
        let (kind, mut paths) = home.at("docs").unwrap();
        paths.sort();
        assert_eq!(kind, "folder");
        assert_eq!(paths, ["guide/start.md", "memory.md", "memory/2026-11-16.md", "search.md"]);
        home.write("repository/AGENTS.md", "# A\n");
        home.write("repository/MEMORY.md", "# A\n");
        home.write("repository/docs/a.md", "# A\n");
        assert_eq!(home.at("repository").unwrap().1.len(), 3);
        home.write("docs/.alf-agent-id", "x");
        assert_eq!(home.at("docs").unwrap().0, "openclaw");
    }

    #[test]
    fn a_workspace_can_be_taken_for_a_folder_but_not_for_two_things() {
        let home = Home::new();
        home.write("w/MEMORY.md", "# A\n");
        home.write("w/other.md", "# A\n");
        let mut args = args();
        home.write("w/SOUL.md", "# A\n");
        home.write("w/IDENTITY.md", "# A\n");
        args.agent.workspace = Some(home.path("w"));
        assert_eq!(home.find(&args, None).unwrap().kind, "openclaw");
        assert!(matches!(home.find(&args, Some("w")), Err(TargetError::TwoPlaces)));
        args.agent.runtime = Some("folder".to_owned());
        let searched = home.find(&args, None).unwrap();
        assert_eq!(searched.kind, "folder");
        assert_eq!(searched.sources[0].list().unwrap().entries.len(), 4);
        args.agent.workspace = None;
        assert!(matches!(home.find(&args, None), Err(TargetError::NoFolder)));
        args.agent.runtime = None;
        let error = home.find(&args, None).err();
        assert!(matches!(error, Some(TargetError::Agent(FindAgentError::Nothing))));
    }

    #[test]
    fn the_same_things_have_the_same_index_and_others_another() {
        let home = Home::new();
        home.write("w/MEMORY.md", "# A\n");
        home.write("v/MEMORY.md", "# A\n");
        let folder = |args: &TargetChoice, name| home.find(args, Some(name)).unwrap().index_folder;
        let first = folder(&args(), "w");
        assert!(first.starts_with(home.path("cache/anemone/index")), "{first:?}");
        home.write("agent/SOUL.md", "# A\n");
        home.write("agent/USER.md", "# A\n");
        let of_agent = folder(&args(), "agent");
        assert!(of_agent.starts_with(home.path("cache/anemone/agents")), "{of_agent:?}");
        assert_eq!(first.file_name().unwrap().len(), 32);
        assert_eq!(folder(&args(), "w"), first);
        assert_ne!(folder(&args(), "v"), first);
        assert_ne!(folder(&TargetChoice { private: true, ..args() }, "w"), first);
    }

    #[test]
    fn an_index_is_put_into_no_folder_that_holds_something_else() {
        let home = Home::new();
        home.write("w/MEMORY.md", "# A\n");
        home.write("docs/thesis.txt", "years of work");
        drop(anemone_index::Index::open(&home.path("ours")).unwrap());
        home.write("ours/index.sqlite", "");
        home.write("ours/index.sqlite-journal", "");
        drop(anemone_index::Index::open(&home.path("mixed")).unwrap());
        home.write("mixed/thesis.txt", "");
        home.write("named/lock", "");
        home.write("named/lexical/thesis.txt", "");
        fs_err::create_dir(home.path("empty")).unwrap();
        for (name, fits) in [
            ("docs", false),
            ("mixed", false),
            ("named", false),
            ("ours", true),
            ("empty", true),
            ("new", true),
        ] {
            let args = TargetChoice { index_dir: Some(home.path(name)), ..args() };
            let found = home.find(&args, Some("w"));
            assert_eq!(found.is_ok(), fits, "{name}");
            if let Ok(found) = found {
                assert_eq!(found.index_folder, home.path(name));
            }
        }
    }

    #[cfg(unix)]
    #[test]
    fn the_log_of_a_database_is_found_whatever_its_name() {
        use std::os::unix::ffi::OsStrExt as _;
        let home = Home::new();
        let name = std::ffi::OsStr::from_bytes(b"nu\xff.db");
        let path = home.folder.path().join(name);
        fs_err::write(&path, [SQLITE_MAGIC, b"x"].concat()).unwrap();
        let found = args().database(&path, &home.machine).unwrap();
        let before = found.sources[0].list().unwrap().entries;
        let mut log = path.into_os_string();
        log.push("-wal");
        fs_err::write(log, "a commit").unwrap();
        assert_ne!(found.sources[0].list().unwrap().entries, before);
    }

    #[test]
    fn a_damaged_archive_is_a_failure_with_its_reason() {
        let home = Home::new();
        home.write("a.alf", b"PK\x03\x04 and then nothing of a ZIP");
        let searched = home.find(&args(), Some("a.alf")).unwrap();
        assert_eq!(searched.kind, "archive");
        assert!(searched.failure(&[]).is_none());
        let skipped = SkippedDocument { path: "a.alf".to_owned(), reason: SkipReason::Unreadable };
        let failure = searched.failure(&[skipped]).unwrap();
        assert!(failure.source.downcast_ref::<anemone_format::OpenError>().is_some());
    }
}

//! Agents on a machine: how they are found, and what reading one yields.

use std::any::Any;
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use anemone_files::FileStamp;
use anemone_format::{
    AgentId, Attachments, Credentials, Identity, Manifest, Principals, SinkError,
};
use serde::Serialize;

use crate::kit::{
    DatabaseError, EntryKind, FileCount, FoundEntry, NotedTimes, PreviousSnapshot, TextTimes,
    lossy, word_enum::word_enum,
};
use anemone_secrets as secrets;
use anemone_secrets::SecretHit;

/// What a runtime may know about the machine it runs on. Only the CLI and the MCP server query the
/// machine itself.
#[derive(Clone)]
pub struct Machine {
    /// The user's home folder.
    pub home: PathBuf,
    /// Environment variables, by name.
    pub variables: BTreeMap<String, OsString>,
    /// The program that reads foreign databases in a process of its own; it is this one, which
    /// calls [`serve_database`](crate::serve_database) when it is started for that.
    pub database_reader: PathBuf,
    /// A folder for temporary copies.
    pub scratch: PathBuf,
    /// The configurations that were read so far.
    pub configs: KnownConfigs,
}

/// The configuration files that a command came by, each with the state in which it was found.
#[derive(Clone, Default)]
pub struct KnownConfigs(Arc<Mutex<BTreeMap<PathBuf, (FileStamp, ConfigFile)>>>);

impl fmt::Debug for Machine {
    /// Names variables without their values: some are tokens.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Machine")
            .field("home", &self.home)
            .field("variables", &self.variables.keys())
            .field("database_reader", &self.database_reader)
            .field("scratch", &self.scratch)
            .finish()
    }
}

impl Machine {
    /// Returns a variable that is set and not empty.
    #[must_use]
    pub fn variable(&self, name: &str) -> Option<&OsStr> {
        self.variables.get(name).map(OsString::as_os_str).filter(|value| !value.is_empty())
    }

    /// Returns the machine for another command, which reads every configuration again: a
    /// configuration may include files whose changes do not show in its own file stamp.
    #[must_use]
    pub fn again(&self) -> Self {
        Self { configs: KnownConfigs::default(), ..self.clone() }
    }

    /// Returns a configuration file: the one that was already read, unless the file has changed
    /// since.
    pub(crate) fn config_file(&self, path: PathBuf) -> ConfigFile {
        let Some(stamp) = FileStamp::of_path(&path) else { return ConfigFile::new(path) };
        let mut known = self.configs.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, file)) = known.get(&path).filter(|(seen, _)| *seen == stamp) {
            return file.clone();
        }
        let file = ConfigFile::new(path.clone());
        known.insert(path, (stamp, file.clone()));
        file
    }
}

/// An agent that was found on the machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundAgent {
    /// The runtime.
    pub runtime: &'static str,
    /// The shape of the install, such as `gen-3`; `None` without an install.
    pub generation: Option<&'static str>,
    /// What the runtime calls the agent.
    pub alias: String,
    /// Its workspace; it may not exist.
    pub workspace: PathBuf,
    /// Whether another agent of the runtime has the same workspace, or the same database in it, and
    /// is listed first.
    pub shares_workspace: bool,
    /// The runtime's state folder, when the workspace belongs to one.
    pub install: Option<PathBuf>,
    /// The configuration file, when there is one.
    pub config: Option<ConfigFile>,
    /// The database that holds the runtime's search index, when there is one.
    pub database: Option<PathBuf>,
    /// The runtime's version, as the install says.
    pub version: Option<String>,
    /// What is unusual about it.
    pub oddities: Vec<Oddity>,
}

impl FoundAgent {
    /// Returns the first oddity of a kind.
    #[must_use]
    pub fn oddity(&self, kind: OddityKind) -> Option<&Oddity> {
        self.oddities.iter().find(|oddity| oddity.kind == kind)
    }

    /// Whether the agent has an oddity of a kind.
    #[must_use]
    pub fn has_oddity(&self, kind: OddityKind) -> bool {
        self.oddity(kind).is_some()
    }

    /// Takes a folder as a workspace that belongs to no install.
    #[must_use]
    pub fn without_install(runtime: &'static str, alias: String, workspace: PathBuf) -> Self {
        Self {
            runtime,
            generation: None,
            alias,
            workspace,
            shares_workspace: false,
            install: None,
            config: None,
            database: None,
            version: None,
            oddities: Vec::new(),
        }
    }
}

/// The configuration file of an agent. A command reads it once: all agents with the same file share
/// what the runtime took from it, see `Machine::config_file`.
#[derive(Clone)]
pub struct ConfigFile {
    path: PathBuf,
    content: Arc<OnceLock<Box<dyn Any + Send + Sync>>>,
}

impl ConfigFile {
    /// Takes a file that was not read yet.
    #[must_use]
    pub fn new(path: PathBuf) -> Self {
        Self { path, content: Arc::default() }
    }

    /// Returns the result of `read` for the file. `read` is only called the first time.
    pub(crate) fn read_once<T: Clone + Send + Sync + 'static>(
        &self,
        read: impl Fn(&Path) -> T,
    ) -> T {
        let content = self.content.get_or_init(|| Box::new(read(&self.path)));
        // Only the agent's own runtime reads its configuration, so the type is always the same.
        content.downcast_ref().cloned().unwrap_or_else(|| read(&self.path))
    }
}

impl Deref for ConfigFile {
    type Target = Path;

    fn deref(&self) -> &Path {
        &self.path
    }
}

impl fmt::Debug for ConfigFile {
    /// Names the file alone: settings may hold secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.path.fmt(f)
    }
}

impl PartialEq for ConfigFile {
    fn eq(&self, other: &Self) -> bool {
        self.path == other.path
    }
}

impl Eq for ConfigFile {}

/// Something unusual that does not stop us.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Oddity {
    /// Its kind; programs get its word, such as `schema_newer`.
    #[serde(rename = "code")]
    pub kind: OddityKind,
    /// For people.
    pub message: String,
}

word_enum! {
    /// What is unusual about an agent or its install.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum OddityKind {
        /// The folder holds an install's state and keys; its workspace is another one.
        StateFolder = "state_folder",
        /// It is not known yet which agent owns the rows of a workspace's database.
        AliasAssumed = "alias_assumed",
        /// An install has no agent with the requested name.
        UnknownAgent = "agent_unknown",
        /// The database holds the rows of several agents.
        SeveralAgents = "several_agents",
        /// The configuration cannot be read.
        ConfigUnreadable = "config_unreadable",
        /// A database with memories is not the one that the runtime reads.
        DatabaseIgnored = "database_ignored",
        /// A database has the usual name and holds no memories.
        Decoy = "decoy",
        /// The database is too large to look into for the names of agents.
        DatabaseLarge = "database_large",
        /// There are older copies of a database or an install.
        BackupFound = "backup_found",
        /// A log was left behind by a database that was moved.
        StrayLog = "stray_log",
        /// Folders of another layout are left in the install.
        OtherLayout = "other_layout",
        /// Some agents have names that cannot be used, or are too many.
        AgentsNotListed = "agents_not_listed",
        /// The agent keeps no memories.
        BackendNone = "backend_none",
        /// The backend keeps its memories in SQLite too.
        Lucid = "lucid",
        /// Memories are kept where they cannot be reached.
        BackendElsewhere = "backend_elsewhere",
        /// A database cannot be read.
        DatabaseUnreadable = "database_unreadable",
        /// No install uses the workspace.
        NoInstall = "no_install",
        /// Files of an older generation are left in the install.
        OlderFilesLeft = "older_files_left",
        /// There are folders of agents that the configuration does not name.
        AgentsNotConfigured = "agents_not_configured",
        /// A database has a newer schema than this version knows.
        SchemaNewer = "schema_newer",
        /// The configuration cannot be understood, or contradicts itself.
        ConfigInvalid = "config_invalid",
        /// Another agent has the same workspace and is not listed.
        WorkspaceShared = "workspace_shared",
        /// The path of the workspace is a link.
        WorkspaceIsALink = "workspace_is_a_link",
        /// There is no folder where the workspace should be.
        WorkspaceMissing = "workspace_missing",
        /// The runtime does not let the agent write into its workspace.
        WorkspaceReadOnly = "workspace_read_only",
    }
}

/// How an agent is to be read.
pub struct ReadOptions<'a> {
    /// The agent's id; `None` takes the one in the workspace, or derives it.
    pub agent_id: Option<AgentId>,
    /// Whether transcripts become records.
    pub sessions: bool,
    /// Whether vectors are taken from the runtime's index.
    pub embeddings: bool,
    /// Whether entries that the runtime keeps for one person only become records.
    pub private: bool,
    /// Seals the secret of a credential: called with the credential's id and the secret, returns
    /// payload and encryption. Without it, credentials are metadata only.
    pub seal: Option<&'a SealSecret<'a>>,
    /// Artifacts up to this size are included; larger ones are only named.
    pub artifact_threshold: u64,
    /// What to do about secrets in files.
    pub secrets: SecretPolicy,
    /// Files whose secrets are carried whatever `secrets` says, named as in [`FoundSecret::path`].
    pub allowed_secrets: &'a [String],
    /// Files that are ours and not the agent's: archives.
    pub exclude: &'a [PathBuf],
    /// The archive that is being written; it is not even counted.
    pub unfinished: Option<&'a Path>,
    /// An earlier reading, to carry times and versions forward from.
    pub earlier: Option<&'a PreviousSnapshot>,
    /// Times of texts that earlier readings noted; `earlier` takes precedence.
    pub noted_times: Option<&'a TextTimes>,
}

impl Default for ReadOptions<'_> {
    /// Reads what travels by default, and reports secrets.
    fn default() -> Self {
        Self {
            agent_id: None,
            sessions: false,
            embeddings: true,
            private: false,
            seal: None,
            artifact_threshold: DEFAULT_ARTIFACT_LIMIT,
            secrets: SecretPolicy::Report,
            allowed_secrets: &[],
            exclude: &[],
            unfinished: None,
            earlier: None,
            noted_times: None,
        }
    }
}

impl ReadOptions<'_> {
    /// Whether secrets are replaced in the file that findings call `path`.
    pub(crate) fn redacts(&self, path: &str) -> bool {
        self.secrets == SecretPolicy::Redact && !is_allowed(path, self.allowed_secrets)
    }

    /// Returns the files in which secrets are not replaced, if they are replaced in the others.
    pub(crate) fn not_redacted(&self) -> &[String] {
        if self.secrets == SecretPolicy::Redact { self.allowed_secrets } else { &[] }
    }
}

fn is_allowed(path: &str, allowed: &[String]) -> bool {
    allowed.iter().any(|allowed| allowed == path)
}

/// Seals a secret for one credential.
pub type SealSecret<'a> = dyn Fn(
        &anemone_format::Credential,
        &[u8],
    ) -> Result<(String, anemone_format::Encryption), anemone_format::VaultError>
    + 'a;

/// What to do about secrets in files that would travel in clear.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SecretPolicy {
    /// Report them; the caller stops.
    Report,
    /// Report them and carry them.
    Allow,
    /// Replace them.
    Redact,
}

/// Artifacts up to this size travel unless the caller chooses another limit.
///
/// The schema of the attachments layer proposes 100 KB; a backup must not lose a scanned contract
/// because it is larger than that.
pub const DEFAULT_ARTIFACT_LIMIT: u64 = 64 << 20;

/// What was read, beside the files and records that went to the sink.
#[derive(Debug)]
pub struct Reading {
    /// The manifest: which agent the snapshot is of, and its time.
    pub manifest: Manifest,
    /// Who the agent is.
    pub identity: Option<Identity>,
    /// Whom it works for.
    pub principals: Option<Principals>,
    /// Its keys.
    pub credentials: Option<Credentials>,
    /// Its artifacts.
    pub attachments: Option<Attachments>,
    /// Records that went to the sink.
    pub records: u64,
    /// Files that went to the sink; links and folders do not count.
    pub files: u64,
    /// Files of the workspace that count as the agent's, also of those that did not go there.
    pub count: FileCount,
    /// Of transcripts, when they were read.
    pub sessions: Option<SessionCounts>,
    /// Warnings for the user.
    pub warnings: Vec<Warning>,
    /// What was not carried, and why.
    pub left_out: Vec<LeftOut>,
    /// What only travels on request, and was not requested.
    pub not_requested: Vec<NotRequested>,
    /// Secrets found in files, without the secrets.
    pub secrets: Vec<FoundSecret>,
    /// The times of the texts of its files, to be noted for the next reading. It is empty unless
    /// noted times were given.
    pub times: NotedTimes,
}

/// What is reported about an agent that did not change.
#[derive(Debug)]
pub struct Unchanged {
    /// Files of the workspace that count as the agent's.
    pub count: FileCount,
    /// Warnings for the user.
    pub warnings: Vec<Warning>,
    /// What is still not carried, and why.
    pub left_out: Vec<LeftOut>,
    /// What only travels on request, and was not requested.
    pub not_requested: Vec<NotRequested>,
}

/// What was read from transcripts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct SessionCounts {
    /// Transcripts that were read.
    pub transcripts: u64,
    /// Lines or rows in them.
    pub events: u64,
    /// Messages that travel.
    pub messages: u64,
    /// Lines, rows or whole transcripts that could not be decoded.
    pub undecodable: u64,
    /// Secrets that were replaced.
    pub redacted: u64,
    /// Events that were found in more than one place.
    pub duplicates: u64,
    /// Thoughts, pictures and other parts that are no text.
    pub dropped: u64,
}

/// A problem that did not stop the operation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Warning {
    /// For programs, such as `not_utf8`.
    pub code: &'static str,
    /// The file it is about, with what is not UTF-8 replaced.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// For people.
    pub message: String,
}

impl Warning {
    /// Returns a warning that is about no file.
    pub(crate) fn new(code: &'static str, message: impl Into<String>) -> Self {
        Self { code, path: None, message: message.into() }
    }

    /// Returns a warning about a file.
    pub(crate) fn about(
        code: &'static str,
        path: impl fmt::Display,
        message: impl Into<String>,
    ) -> Self {
        Self { code, path: Some(path.to_string()), message: message.into() }
    }
}

/// Something that belongs to an agent and only travels on request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct NotRequested {
    /// What it is.
    pub kind: NotRequestedKind,
    /// How many there are; for conversations, the files that hold them.
    pub count: u64,
    /// The size of these files in bytes; 0 where they share their files with something else.
    pub bytes: u64,
}

word_enum! {
    /// What only travels on request.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub enum NotRequestedKind {
        /// Transcripts of conversations.
        Transcripts = "transcripts",
        /// Entries that the runtime keeps for one person only.
        PrivateEntries = "private_entries",
        /// The secrets of credentials; what they are for travels.
        CredentialSecrets = "credential_secrets",
        /// The settings of the install, which no option includes.
        Settings = "settings",
    }
}

/// Something in the workspace that does not travel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LeftOut {
    /// Its path in the workspace, with what is not UTF-8 replaced; absolute outside of it.
    pub path: String,
    /// Why.
    pub reason: LeftOutReason,
    /// Files below it, when it is a folder.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
}

impl LeftOut {
    /// Returns one file that does not travel.
    pub(crate) fn file(path: String, reason: LeftOutReason, bytes: u64) -> Self {
        Self { path, reason, files: 1, bytes }
    }
}

word_enum! {
    /// Why something does not travel.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub enum LeftOutReason {
        /// A folder that can be made again: `.git`, `node_modules` and the like.
        Skipped = "skipped",
        /// `.alfignore` says so.
        Ignored = "ignored",
        /// It could not be read.
        Unreadable = "unreadable",
        /// A socket, a pipe or a device.
        Special = "special",
        /// In too many folders.
        TooDeep = "too_deep",
        /// It is nested in too many folders.
        Name = "name",
        /// Larger than the threshold; named in the attachments.
        Referenced = "referenced",
        /// It is ours: an archive that was never finished.
        Own = "own",
        /// It holds a secret that cannot be replaced in it.
        Secret = "secret",
        /// It is made to hold keys, and never travels.
        KeyStore = "secret",
        /// It belongs to all agents of an install.
        Shared = "shared",
        /// A database that is not in use, or a copy of one.
        Unused = "unused",
        /// Not all of its memories can be read; those that can are records. Its files may travel.
        NotUnderstood = "not_understood",
    }
}

impl LeftOutReason {
    /// Returns whether a file is missing from the archive although the user did not exclude it.
    #[must_use]
    pub const fn is_missing(self) -> bool {
        match self {
            Self::Unreadable
            | Self::TooDeep
            | Self::Name
            | Self::Referenced
            | Self::Secret
            | Self::NotUnderstood => true,
            Self::Skipped
            | Self::Ignored
            | Self::Special
            | Self::Own
            | Self::KeyStore
            | Self::Shared
            | Self::Unused => false,
        }
    }
}

/// A secret in a file; the secret itself is not here.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FoundSecret {
    /// The file, with what is not UTF-8 replaced.
    pub path: String,
    /// The line, from 1.
    pub line: u64,
    /// What kind of secret.
    pub kind: &'static str,
}

impl FoundSecret {
    /// Whether its file is one of those whose secrets may travel.
    #[must_use]
    pub fn is_allowed(&self, allowed: &[String]) -> bool {
        is_allowed(&self.path, allowed)
    }

    /// Notes what was found in a text, once for each line and kind.
    pub(crate) fn note(found: &mut Vec<Self>, path: &str, line: u64, hits: &[SecretHit]) {
        for hit in hits {
            let finding = Self { path: path.to_owned(), line, kind: hit.kind };
            if found.last() != Some(&finding) {
                found.push(finding);
            }
        }
    }

    /// Finds secrets in a path and in what a link points to; the path is shown without them.
    pub(crate) fn in_name(found: &FoundEntry) -> Vec<Self> {
        let target = if let EntryKind::Symlink(target) = &found.kind { &target[..] } else { &[] };
        let hits = secrets::scan(&found.path);
        let path = lossy(&secrets::redact(&found.path, &hits));
        let all = hits.into_iter().chain(secrets::scan(target));
        all.map(|hit| Self { path: path.clone(), line: 0, kind: hit.kind }).collect()
    }
}

/// Why an agent could not be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// Agents of this runtime cannot be read.
    #[error("agents of {0} cannot be read")]
    NotSupported(&'static str),
    /// There is no workspace.
    #[error("there is no workspace at {0}")]
    NoWorkspace(PathBuf),
    /// The workspace itself cannot be read.
    #[error("cannot read the workspace {path}")]
    Workspace {
        /// The folder.
        path: PathBuf,
        /// The cause.
        source: std::io::Error,
    },
    /// The id file does not hold an id.
    #[error("{0} does not hold an agent id")]
    AgentIdFile(PathBuf),
    /// The ignore file cannot be read, so it is unknown what must not travel.
    #[error("{path} cannot be read in full")]
    IgnoreFile {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: std::io::Error,
    },
    /// The memories are in a database that cannot be read: without them, nothing is exported.
    #[error("cannot read the memories in {path}")]
    Memories {
        /// The database.
        path: PathBuf,
        /// The cause.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The vectors are in a database that cannot be read.
    #[error("cannot read the vectors in {path}")]
    Vectors {
        /// The database.
        path: PathBuf,
        /// The cause.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// A secret could not be sealed.
    #[error("cannot seal a credential")]
    Seal(#[source] anemone_format::VaultError),
    /// What was read could not be passed to the sink.
    #[error(transparent)]
    Sink(#[from] SinkError),
}

impl ReadError {
    /// Says why the memories in a database cannot be read.
    pub(crate) fn memories(path: &Path, error: DatabaseError) -> Self {
        Self::Memories { path: path.to_owned(), source: Box::new(error) }
    }

    /// Says why the vectors in a database cannot be read.
    pub(crate) fn vectors(path: &Path, error: DatabaseError) -> Self {
        Self::Vectors { path: path.to_owned(), source: Box::new(error) }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;
    use crate::kit::database::tests::machine;

    #[test]
    fn a_configuration_is_read_again_when_it_changed_and_for_another_command() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("config");
        let machine = machine(folder.path());
        let reads = Cell::new(0);
        let read = |machine: &Machine| {
            machine.config_file(path.clone()).read_once(|path| {
                reads.set(reads.get() + 1);
                fs_err::read_to_string(path).unwrap()
            })
        };
        fs_err::write(&path, "one").unwrap();
        assert_eq!((read(&machine), read(&machine), reads.get()), ("one".into(), "one".into(), 1));
        fs_err::write(&path, "other").unwrap();
        assert_eq!((read(&machine), reads.get()), ("other".into(), 2));
        assert_eq!((read(&machine.again()), reads.get()), ("other".into(), 3));
    }
}

//! Checks whether an agent can be exported, and reports what prevents it.
//!
//! A workspace is walked as an export walks it, without following links and without writing. What
//! an export would leave out is not checked.

use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use anemone_files::each_block;
use anemone_format::{AgentId, Moment};
use serde::Serialize;

use crate::kit::{
    DEFAULT_ARTIFACT_LIMIT, EntryKind, FoundAgent, FoundEntry, FoundSecret, IGNORE_FILE,
    LeftOutReason, Oddity, OddityKind, Persona, ReadError, WalkedWorkspace, Workspace, lossy,
    word_enum::word_enum,
};
use anemone_secrets::{FileScanner, SecretHit};

/// What is advised about each issue: lines of a severity, a code and a suggestion. A suggestion in
/// parentheses is a variant of [`Suggestion`].
#[derive(Clone, Copy)]
pub(crate) struct Advice(pub(crate) &'static str);

impl Advice {
    fn on(self, code: &str) -> (Severity, Suggestion) {
        let mut lines = self.0.lines().map(|line| line.splitn(3, ' '));
        let found = lines.find_map(|mut line| {
            let (severity, known, suggestion) = (line.next()?, line.next()?, line.next()?);
            (known == code).then_some((severity, suggestion))
        });
        let (severity, suggestion) = found.unwrap_or(("info", "nothing, unless it is a surprise"));
        let severity = match severity {
            "error" => Severity::Error,
            "warning" => Severity::Warning,
            _ => Severity::Info,
        };
        let suggestion = match suggestion {
            "(choose secret policy)" => Suggestion::ChooseSecretPolicy,
            "(raise artifact limit)" => Suggestion::RaiseArtifactLimit,
            "(include private)" => Suggestion::IncludePrivate,
            "(check folder)" => Suggestion::CheckFolder,
            "(name workspace)" => Suggestion::NameWorkspace,
            text => text.into(),
        };
        (severity, suggestion)
    }
}

const ADVICE: Advice = Advice(include_str!("check/advice.txt"));

/// What a check found.
#[derive(Clone, Debug, Default)]
pub struct Check {
    /// The workspace.
    pub workspace: PathBuf,
    /// Whether it exists and is a folder.
    pub exists: bool,
    /// Whether it may be written to; only an import needs that.
    pub writable: bool,
    /// What the workspace holds.
    pub resources: Resources,
    /// The runtime's configuration, where it can name the workspace.
    pub config: Option<ConfigState>,
    /// The runtime's search index.
    pub index: SearchIndexState,
    /// Secrets in files that would travel in clear, without the secrets.
    pub secrets: Vec<FoundSecret>,
    /// Files and folders that cannot be read.
    pub unreadable: Vec<String>,
    /// Issues the user should know about, the worst first.
    pub issues: Vec<Issue>,
}

/// What a workspace holds.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Resources {
    /// Whether there is a `SOUL.md`.
    pub soul_md: bool,
    /// Whether there is an `IDENTITY.md`.
    pub identity_md: bool,
    /// Whether there is an `AGENTS.md`.
    pub agents_md: bool,
    /// Whether there is a `USER.md`.
    pub user_md: bool,
    /// Whether there is a `MEMORY.md`.
    pub memory_md: bool,
    /// Whether there is a folder `memory`.
    pub memory_dir: bool,
    /// Daily logs, when there is a folder `memory`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub daily_logs: Option<DailyLogs>,
    /// Whether there is a `memory/active-context.md`.
    pub active_context: bool,
    /// The files `memory/project-*.md`, when there is a folder `memory`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project_files: Option<ProjectFiles>,
    /// The id that the workspace notes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<AgentId>,
}

/// Logs that carry a date in their name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct DailyLogs {
    /// How many.
    pub count: u64,
    /// The one with the latest date, as a path below `memory`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub latest: Option<String>,
}

/// Notes on one project each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ProjectFiles {
    /// How many.
    pub count: u64,
}

/// The runtime's configuration.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ConfigState {
    /// Where it is, when there is one.
    pub path: Option<PathBuf>,
    /// The workspace that it names for all agents.
    pub workspace: Option<PathBuf>,
}

/// The runtime's search index; an export only needs its vectors.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SearchIndexState {
    /// The database that holds it, when there is one.
    pub database: Option<PathBuf>,
    /// Whether it is older than the newest memory file.
    pub stale: bool,
    /// The number of the database's schema.
    pub schema_version: Option<u32>,
    /// When the database was last written.
    pub updated_at: Option<Moment>,
    /// When a memory file was last written.
    pub newest_memory: Option<Moment>,
}

/// An issue the user should know about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Issue {
    /// How bad it is.
    pub severity: Severity,
    /// What it is about.
    pub kind: IssueKind,
    /// For people.
    pub message: String,
    /// What to do about it.
    pub suggestion: Suggestion,
}

word_enum! {
    /// What an issue is about.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum IssueKind {
        /// Something unusual about the agent's install or workspace.
        Oddity(OddityKind) = OddityKind::as_str,
        /// The runtime's configuration was not found; the word for programs is the runtime's.
        NoConfig(&'static str) = std::convert::identity,
        /// The `.alfignore` of the workspace cannot be used.
        IgnoreFile = "alfignore",
        /// The runtime has no search index.
        IndexMissing = "index_missing",
        /// The runtime has a search index.
        IndexPresent = "index_present",
        /// The runtime's search index is older than the newest memory file.
        IndexStale = "index_stale",
        /// The database holds memories of the agent.
        MemoriesPresent = "memories_present",
        /// The folder of memories holds no daily log.
        MemoryDirEmpty = "memory_dir_empty",
        /// The table of memories lacks columns.
        MissingColumns = "missing_columns",
        /// There are no memories.
        NoMemoryContent = "no_memory_content",
        /// There is no file of a persona.
        NoPersona = "no_soul_md",
        /// The database holds no table of memories.
        NoTableOfMemories = "no_table_of_memories",
        /// Files are too large to be scanned for secrets.
        NotScanned = "not_scanned",
        /// Agents of the runtime cannot be exported.
        NotSupported = "not_supported",
        /// Texts are not UTF-8.
        NotUtf8 = "not_utf8",
        /// Memories are private to one person and would not travel.
        PrivateRows = "private_rows",
        /// Secrets were found in files that would travel in clear.
        SecretsFound = "secrets_found",
        /// Sockets, pipes and devices do not travel.
        SpecialFiles = "special_files",
        /// Links lead out of the workspace.
        SymlinkOutside = "symlink_outside",
        /// The table of memories has columns that are not known.
        UnknownColumns = "unknown_columns",
        /// The database has tables that do not travel.
        UnknownTables = "unknown_tables",
        /// Files cannot be read and would not travel.
        UnreadableFiles = "unreadable_files",
        /// The workspace contains no agent files.
        WorkspaceEmpty = "workspace_empty",
        /// The configuration names another workspace.
        WorkspaceMismatch = "workspace_mismatch",
        /// There is no workspace.
        WorkspaceNotFound = "workspace_not_found",
        /// The workspace cannot be read.
        WorkspaceNotReadable = "workspace_not_readable",
        /// The workspace may not be written to.
        WorkspaceNotWritable = "workspace_not_writable",
    }
}

/// What to do about an issue. If the wording depends on how the program was called, the suggestion
/// is a variant and the caller supplies the words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Suggestion {
    /// Remove the secrets, or say what an export does about them.
    ChooseSecretPolicy,
    /// Raise the size up to which an export takes other files than Markdown.
    RaiseArtifactLimit,
    /// Export private entries too.
    IncludePrivate,
    /// See among the agents of this machine whether this is the right folder.
    CheckFolder,
    /// Name another workspace.
    NameWorkspace,
    /// Words that are the same for every caller.
    Text(String),
}

impl From<&str> for Suggestion {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

word_enum! {
    /// How bad an issue is.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub enum Severity {
        /// The agent cannot be exported.
        Error = "error",
        /// The agent can be exported, but something would be missing or wrong.
        Warning = "warning",
        /// Worth knowing.
        Info = "info",
    }
}

impl Check {
    /// Whether nothing prevents an export.
    #[must_use]
    pub fn is_ready(&self) -> bool {
        self.issues.iter().all(|issue| issue.severity != Severity::Error)
    }

    /// Notes an issue, with what is advised about it.
    pub(crate) fn note(&mut self, advice: Advice, kind: IssueKind, message: impl Into<String>) {
        let (severity, suggestion) = advice.on(kind.as_str());
        let message = message.into();
        self.issues.push(Issue { severity, kind, message, suggestion });
    }

    /// Notes what is odd about an agent's install or workspace, unless it is noted already.
    pub(crate) fn note_oddities(&mut self, advice: Advice, agent: &FoundAgent) {
        let said: Vec<IssueKind> = self.issues.iter().map(|issue| issue.kind).collect();
        for Oddity { kind, message } in &agent.oddities {
            let issue = IssueKind::Oddity(*kind);
            if *kind != OddityKind::WorkspaceMissing && !said.contains(&issue) {
                self.note(advice, issue, message);
            }
        }
    }

    /// Notes a workspace that may not be written to.
    pub(crate) fn note_access(&mut self) {
        if !self.writable {
            let shown = self.workspace.display();
            let message = format!("the workspace {shown} may not be written to");
            self.note(ADVICE, IssueKind::WorkspaceNotWritable, message);
        }
    }

    /// Notes what is missing of a persona.
    pub(crate) fn note_persona(&mut self) {
        let found = self.resources.clone();
        let any =
            [found.soul_md, found.identity_md, found.agents_md, found.user_md, found.memory_md];
        if !any.contains(&true) {
            self.note(ADVICE, IssueKind::WorkspaceEmpty, "the workspace contains no agent files");
        }
        if !found.soul_md {
            let message = format!("there is no {}", Persona::Soul.file());
            self.note(ADVICE, IssueKind::NoPersona, message);
        }
    }

    /// Notes what was found in the workspace.
    pub(crate) fn note_survey(&mut self, survey: Survey) {
        let places: Vec<String> = survey
            .secrets
            .iter()
            .map(|secret| format!("{} line {} ({})", secret.path, secret.line, secret.kind))
            .collect();
        let threshold = DEFAULT_ARTIFACT_LIMIT;
        let found = match places.len() {
            1 => "1 secret was found in the files".to_owned(),
            number => format!("{number} secrets were found in the files"),
        };
        let large =
            format!("larger than {threshold} bytes, so only named and not scanned for secrets");
        let notes = [
            (&places, IssueKind::SecretsFound, &*found),
            (
                &survey.unreadable,
                IssueKind::UnreadableFiles,
                "these cannot be read and would not travel",
            ),
            (
                &survey.not_utf8,
                IssueKind::NotUtf8,
                "these are not UTF-8; they travel, but not as records",
            ),
            (&survey.special, IssueKind::SpecialFiles, "sockets, pipes and devices do not travel"),
            (
                &survey.links_outside,
                IssueKind::SymlinkOutside,
                "links that lead out of the workspace travel as links",
            ),
            (&survey.not_scanned, IssueKind::NotScanned, &large),
        ];
        for (paths, kind, what) in notes {
            if !paths.is_empty() {
                self.note(ADVICE, kind, format!("{what}: {}", a_few(paths)));
            }
        }
        self.secrets = survey.secrets;
        self.unreadable = survey.unreadable;
    }
}

/// Returns the id that a workspace notes in `.alf-agent-id`.
#[must_use]
pub fn noted_agent_id(workspace: &Path) -> Option<AgentId> {
    Workspace::open(workspace).ok()?.agent_id().ok()?
}

/// Looks at a workspace, and notes why it could not be walked. `kind` says what a file is.
pub(crate) fn begin(
    workspace: &Path,
    walked: Result<&WalkedWorkspace, &ReadError>,
    kind: &dyn Fn(&FoundEntry) -> SurveyClass,
) -> (Check, Survey) {
    let mut check = Check {
        workspace: workspace.to_owned(),
        exists: workspace.is_dir(),
        writable: is_writable(workspace),
        ..Check::default()
    };
    let shown = workspace.display();
    if !check.exists {
        let message = format!("there is no workspace at {shown}");
        check.note(ADVICE, IssueKind::WorkspaceNotFound, message);
        return (check, Survey::default());
    }
    let survey = match walked {
        Ok(walked) => survey(walked, kind),
        Err(ReadError::IgnoreFile { source, .. }) => {
            let message =
                format!("in the workspace {shown}, {IGNORE_FILE} cannot be read in full: {source}");
            check.note(ADVICE, IssueKind::IgnoreFile, message);
            Survey::default()
        }
        Err(error) => {
            let cause: &dyn std::fmt::Display = match error {
                ReadError::Workspace { source, .. } => source,
                error => error,
            };
            let message = format!("the workspace {shown} cannot be read: {cause}");
            check.note(ADVICE, IssueKind::WorkspaceNotReadable, message);
            Survey::default()
        }
    };
    (check, survey)
}

/// Whether a link leads to a file in the workspace.
fn is_inside(workspace: &Path, name: &str) -> bool {
    let (Ok(root), Ok(file)) =
        (fs_err::canonicalize(workspace), fs_err::canonicalize(workspace.join(name)))
    else {
        return false;
    };
    file.starts_with(root) && file.is_file()
}

/// The content of a workspace, as far as a check needs it.
#[derive(Debug, Default)]
pub(crate) struct Survey {
    /// Regular files that travel, by path.
    pub(crate) files: Vec<FoundEntry>,
    /// Links that lead out of the workspace.
    pub(crate) links_outside: Vec<String>,
    /// Sockets, pipes and devices.
    pub(crate) special: Vec<String>,
    /// What cannot be read.
    pub(crate) unreadable: Vec<String>,
    /// Texts that are not UTF-8.
    pub(crate) not_utf8: Vec<String>,
    /// Files too large to travel; what does not travel is not scanned.
    pub(crate) not_scanned: Vec<String>,
    /// Secrets, without the secrets.
    pub(crate) secrets: Vec<FoundSecret>,
}

/// How a survey treats a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SurveyClass {
    /// A text that becomes records or an identity.
    Text,
    /// Any other file that travels.
    Other,
    /// A file that is only named.
    Named,
    /// A file of the runtime that does not travel.
    Skipped,
}

/// Looks through a workspace as an export does. `kind` says what a file is.
pub(crate) fn survey(
    opened: &WalkedWorkspace,
    kind: &dyn Fn(&FoundEntry) -> SurveyClass,
) -> Survey {
    let WalkedWorkspace { workspace, walked, .. } = opened;
    let mut survey = Survey::default();
    for left_out in &walked.left_out {
        match left_out.reason {
            LeftOutReason::Unreadable | LeftOutReason::TooDeep => {
                survey.unreadable.push(left_out.path.clone());
            }
            LeftOutReason::Special => survey.special.push(left_out.path.clone()),
            // Left out on purpose.
            _ => {}
        }
    }
    for found in &walked.found {
        survey.secrets.extend(FoundSecret::in_name(found));
        match &found.kind {
            EntryKind::Symlink(target) if workspace.destination(&found.path, target).is_none() => {
                survey.links_outside.push(lossy(&found.path));
            }
            EntryKind::File { .. } if kind(found) == SurveyClass::Skipped => {}
            EntryKind::File { .. } => {
                survey.look_into(workspace, found, kind(found));
                survey.files.push(found.clone());
            }
            EntryKind::Symlink(_) | EntryKind::Folder => {}
        }
    }
    survey.unreadable.sort();
    survey
}

impl Survey {
    /// Whether a workspace has a file, or a link to one in it.
    pub(crate) fn has(&self, workspace: &Path, name: &str) -> bool {
        self.has_file(name) || is_inside(workspace, name)
    }

    /// Whether a file of this path was found.
    pub(crate) fn has_file(&self, name: &str) -> bool {
        self.files.iter().any(|file| file.path == name.as_bytes())
    }

    /// Returns the files that every workspace has; the fields about memories stay empty.
    pub(crate) fn resources(&self, workspace: &Path) -> Resources {
        let memory = fs_err::symlink_metadata(workspace.join("memory"));
        Resources {
            soul_md: self.has(workspace, "SOUL.md"),
            identity_md: self.has(workspace, "IDENTITY.md"),
            agents_md: self.has(workspace, "AGENTS.md"),
            user_md: self.has(workspace, "USER.md"),
            memory_md: self.has(workspace, "MEMORY.md"),
            memory_dir: memory.is_ok_and(|metadata| metadata.is_dir()),
            agent_id: noted_agent_id(workspace),
            ..Resources::default()
        }
    }

    fn look_into(&mut self, workspace: &Workspace, found: &FoundEntry, kind: SurveyClass) {
        let name = lossy(&found.path);
        let path = anemone_secrets::redact_text(&name).0.into_owned();
        let (mut scanner, mut text) = (FileScanner::new(), Utf8::default());
        let read = workspace.file(&found.path).and_then(|file| {
            if kind == SurveyClass::Named {
                return Ok(());
            }
            each_block(file, &mut |block| {
                scanner.feed(block);
                if kind == SurveyClass::Text {
                    text.feed(block);
                }
                ControlFlow::Continue(())
            })
        });
        match read {
            Ok(()) => {}
            // It was deleted during the walk, so it does not exist.
            Err(error) if error.kind() == io::ErrorKind::NotFound => return,
            Err(_) => return self.unreadable.push(path),
        }
        if kind == SurveyClass::Named {
            return self.not_scanned.push(path);
        }
        if !text.is_valid() {
            self.not_utf8.push(path.clone());
        }
        let hits = scanner.finish().into_iter();
        let finding =
            |hit: SecretHit| FoundSecret { path: path.clone(), line: hit.line, kind: hit.kind };
        self.secrets.extend(hits.map(finding));
    }
}

/// Whether bytes that come block by block are UTF-8.
#[derive(Default)]
struct Utf8 {
    /// The first bytes of a character that was split between two blocks.
    cut: Vec<u8>,
    is_broken: bool,
}

impl Utf8 {
    fn feed(&mut self, block: &[u8]) {
        if self.is_broken {
            return;
        }
        self.cut.extend_from_slice(block);
        let valid = match str::from_utf8(&self.cut) {
            Ok(text) => text.len(),
            Err(error) => {
                self.is_broken = error.error_len().is_some();
                error.valid_up_to()
            }
        };
        self.cut.drain(..valid);
    }

    fn is_valid(&self) -> bool {
        !self.is_broken && self.cut.is_empty()
    }
}

/// Whether a folder may be written to.
pub(crate) fn is_writable(folder: &Path) -> bool {
    use rustix::fs::Access;
    rustix::fs::access(folder, Access::WRITE_OK | Access::EXEC_OK).is_ok()
}

/// How many secrets, files or links a message of a check names; the rest is only counted.
pub const NAMED_IN_MESSAGE: usize = 5;

/// Names a few and counts the rest.
pub(crate) fn a_few(names: &[String]) -> String {
    first_names(names, NAMED_IN_MESSAGE)
}

/// Names the first `most` and counts the rest.
pub(crate) fn first_names(names: &[String], most: usize) -> String {
    let text = names[..names.len().min(most)].join(", ");
    match names.len().saturating_sub(most) {
        0 => text,
        more => format!("{text} and {more} more"),
    }
}
#[cfg(test)]
mod tests {
    use super::*;
    use crate::kit::agent::ReadOptions;
    use crate::kit::searchable::SearchedFolder;

    fn survey_of(folder: &Path, kind: &dyn Fn(&FoundEntry) -> SurveyClass) -> Survey {
        let agent = FoundAgent::without_install("any", String::new(), folder.to_owned());
        let options = ReadOptions::default();
        let kind_of = |_: &str| SearchedFolder::Other;
        survey(&WalkedWorkspace::open(&agent, &options, "memory", kind_of).unwrap(), kind)
    }

    #[test]
    fn text_is_utf8_wherever_it_is_cut() {
        let is_valid = |bytes: &[u8], size| {
            let mut text = Utf8::default();
            bytes.chunks(size).for_each(|block| text.feed(block));
            text.is_valid()
        };
        for size in 1..8 {
            assert!(is_valid("aé日𝕏z".as_bytes(), size));
            assert!(!is_valid(b"a\xffb", size));
            assert!(!is_valid(&"日".as_bytes()[..2], size), "the end is missing");
        }
        assert!(Utf8::default().is_valid());
    }

    #[test]
    fn an_id_is_noted_in_a_regular_file_or_not_at_all() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(".alf-agent-id");
        assert_eq!(noted_agent_id(folder.path()), None);
        fs_err::write(&path, "0190f3a0-7f3c-7b1e-9d2a-1c2b3a4d5e6f\n").unwrap();
        let id = noted_agent_id(folder.path()).unwrap();
        assert_eq!(id.to_string(), "0190f3a0-7f3c-7b1e-9d2a-1c2b3a4d5e6f");
        fs_err::write(&path, "not an id").unwrap();
        assert_eq!(noted_agent_id(folder.path()), None);
        fs_err::write(&path, b"\xff\xfe").unwrap();
        assert_eq!(noted_agent_id(folder.path()), None);
    }

    #[cfg(unix)]
    #[test]
    fn a_survey_follows_no_link_and_opens_nothing_special() {
        use std::os::unix::fs::symlink;
        use std::os::unix::net::UnixListener;
        let folder = tempfile::tempdir().unwrap();
        let (root, outside) = (folder.path().join("w"), folder.path().join("outside"));
        fs_err::create_dir_all(root.join("memory/deep")).unwrap();
        fs_err::create_dir_all(root.join("node_modules/x")).unwrap();
        fs_err::create_dir_all(&outside).unwrap();
        fs_err::write(outside.join("secret.md"), "x").unwrap();
        fs_err::write(root.join("node_modules/x/a.md"), "x").unwrap();
        fs_err::write(root.join("SOUL.md"), "x").unwrap();
        fs_err::write(root.join("memory/deep/bad.md"), b"\xff").unwrap();
        fs_err::write(root.join("memory/pic.png"), b"\xff").unwrap();
        symlink(&outside, root.join("out")).unwrap();
        symlink("../nowhere", root.join("gone-out")).unwrap();
        symlink("nowhere", root.join("gone-in")).unwrap();
        symlink("SOUL.md", root.join("in")).unwrap();
        symlink(".", root.join("loop")).unwrap();
        let _socket = UnixListener::bind(root.join("socket")).unwrap();

        fs_err::write(root.join(".alfignore"), "drafts/\n").unwrap();
        fs_err::create_dir_all(root.join("drafts")).unwrap();
        fs_err::write(root.join("drafts/bad.md"), b"\xff").unwrap();
        fs_err::write(root.join("large.bin"), b"").unwrap();
        let kind = |found: &FoundEntry| match &*lossy(&found.path) {
            path if path.ends_with(".md") => SurveyClass::Text,
            "large.bin" => SurveyClass::Named,
            _ => SurveyClass::Other,
        };
        let survey = survey_of(&root, &kind);
        let files: Vec<String> = survey.files.iter().map(|file| lossy(&file.path)).collect();
        let wanted = [".alfignore", "SOUL.md", "large.bin", "memory/deep/bad.md", "memory/pic.png"];
        assert_eq!(files, wanted);
        assert_eq!(survey.not_scanned, ["large.bin"]);
        assert_eq!(survey.links_outside, ["gone-out", "out"]);
        assert_eq!(survey.special, ["socket"]);
        assert_eq!(survey.not_utf8, ["memory/deep/bad.md"]);
        assert_eq!(survey.unreadable, [""; 0]);
        assert!(survey.files.iter().all(|file| file.mtime.is_some()));
    }

    #[test]
    fn a_survey_searches_what_an_export_searches() {
        let folder = tempfile::tempdir().unwrap();
        let key = concat!("ghp_", "0123456789abcdefABCDEF0123456789abcd");
        let wide: Vec<u8> =
            format!("\u{feff}a\n{key}\n").encode_utf16().flat_map(u16::to_le_bytes).collect();
        fs_err::write(folder.path().join("notes.txt"), wide).unwrap();
        let picture = [b"\x89PNG\r\n\x1a\n\0\0", key.as_bytes(), b"\0"].concat();
        fs_err::write(folder.path().join("pic.png"), picture).unwrap();
        let survey = survey_of(folder.path(), &|_| SurveyClass::Other);
        let found: Vec<_> =
            survey.secrets.iter().map(|secret| (&*secret.path, secret.line, secret.kind)).collect();
        assert_eq!(found, [("notes.txt", 2, "github_token"), ("pic.png", 3, "github_token")]);
    }
}

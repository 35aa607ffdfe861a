//! What went wrong, how bad it is, and what to do about it.

use anemone_embed::{KeyError, ModelError, RemoteError};
use anemone_format::{
    ApplyDeltaError, ApplyPurgeError, CompareError, ContainerError, OpenError, ParseIdError,
    PlanPurgeError, ReadEntryError, VaultError, WriteArchiveError, WriteDeltaError,
};
use anemone_index::{OpenIndexError, QueryError, RefreshError, SourceError, StoreError};
use anemone_runtimes::{ApplyError, PlanError, ReadError};

/// The sort of failure; decides the exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// It could not be done.
    Failed,
    /// It was asked for in a way that makes no sense.
    Usage,
    /// Two sound things do not fit each other.
    Conflict,
    /// Somebody stopped it.
    Interrupted,
}

impl Kind {
    pub const fn exit_code(self) -> u8 {
        match self {
            Self::Failed => 1,
            Self::Usage => 2,
            Self::Conflict => 3,
            // What shells make of an interrupt.
            Self::Interrupted => 130,
        }
    }
}

/// An error on its way to the user.
#[derive(Debug)]
pub struct Error {
    pub kind: Kind,
    /// A stable word for the sort of error.
    pub code: &'static str,
    /// What we were doing, and to what.
    pub message: String,
    /// Why it failed, outermost first.
    pub causes: Vec<String>,
    pub hint: Option<String>,
    /// What programs are told besides.
    pub details: Option<Box<serde_json::Map<String, serde_json::Value>>>,
}

impl Error {
    pub fn new(kind: Kind, code: &'static str, message: impl Into<String>) -> Self {
        Self { kind, code, message: message.into(), causes: Vec::new(), hint: None, details: None }
    }

    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Tells programs what a report says besides; its `ok` is no longer true.
    pub fn with_details(mut self, report: &impl serde::Serialize) -> Self {
        if let Ok(serde_json::Value::Object(mut fields)) = serde_json::to_value(report) {
            fields.remove("ok");
            self.details = Some(Box::new(fields));
        }
        self
    }

    pub fn from_error(kind: Kind, code: &'static str, error: &dyn std::error::Error) -> Self {
        let mut causes = Vec::new();
        let mut source = error.source();
        while let Some(cause) = source {
            causes.push(plain(&cause.to_string()));
            source = cause.source();
        }
        Self { causes, ..Self::new(kind, code, plain(&error.to_string())) }
    }

    /// Says which file it is about.
    pub fn about(mut self, path: &std::path::Path) -> Self {
        let path = path.display();
        self.message = format!("{path}: {}", self.message);
        self
    }
}

/// Returns a message of the system without what only programmers need: the number of the error, and
/// the name of a temporary file of ours.
pub(crate) fn plain(message: &str) -> String {
    let mut text = message.to_owned();
    if let Some(start) = text.find(" (os error ")
        && let Some(length) = text[start..].find(')')
    {
        text.replace_range(start..=start + length, "");
    }
    if let Some(start) = text.find(" at path \"")
        && let Some(name) = text[start..].find(".anemone-").map(|at| start + at)
        && let Some(slash) = text[..name].rfind('/').filter(|slash| *slash > start)
    {
        let folder = text[start + " at path \"".len()..slash].to_owned();
        text.truncate(start);
        text.push_str(" in ");
        text.push_str(&folder);
    }
    text
}

impl std::fmt::Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {}

impl From<std::io::Error> for Error {
    fn from(error: std::io::Error) -> Self {
        let code = match error.kind() {
            std::io::ErrorKind::NotFound => "not_found",
            std::io::ErrorKind::PermissionDenied => "permission_denied",
            std::io::ErrorKind::StorageFull => "storage_full",
            _ => "io",
        };
        Self::from_error(Kind::Failed, code, &error)
    }
}

impl From<OpenError> for Error {
    fn from(error: OpenError) -> Self {
        let (code, hint) = match &error {
            OpenError::Version { .. } | OpenError::Feature { .. } => {
                ("unsupported_version", Some("a newer anemone reads this file"))
            }
            OpenError::Kind { .. } => ("wrong_kind", Some("`anemone inspect` says what a file is")),
            OpenError::Container(error) if error.is_unsafe() => {
                ("unsafe_archive", Some("do not unpack this file with another tool either"))
            }
            OpenError::Container(ContainerError::NotZip) => {
                ("not_an_archive", Some("give a file that `anemone export` wrote"))
            }
            OpenError::SealBroken => (
                "corrupt_archive",
                Some(
                    "`anemone validate` names the entries that differ; if you edited the file \
                     yourself, `anemone import --accept-edited` takes it in",
                ),
            ),
            OpenError::Container(_) => {
                ("corrupt_archive", Some("take another copy of the file, if there is one"))
            }
            _ => ("corrupt_archive", Some("`anemone validate` names everything that is wrong")),
        };
        let mut error = Self::from_error(Kind::Failed, code, &error);
        error.hint = hint.map(str::to_owned);
        error
    }
}

impl From<ReadEntryError> for Error {
    fn from(error: ReadEntryError) -> Self {
        Self::from_error(Kind::Failed, "corrupt_archive", &error)
            .hint("`anemone validate` names everything that is wrong")
    }
}

impl From<WriteArchiveError> for Error {
    fn from(error: WriteArchiveError) -> Self {
        Self::from_error(Kind::Failed, "write_failed", &error)
    }
}

impl From<CompareError> for Error {
    fn from(error: CompareError) -> Self {
        match error {
            CompareError::DifferentAgents { .. } => {
                Self::from_error(Kind::Conflict, "different_agents", &error)
                    .hint("`anemone inspect` shows whose archive a file is")
            }
            CompareError::TooManyFiles => {
                Self::new(Kind::Failed, "too_many_changes", error.to_string())
                    .hint("export the agent as a whole instead of a delta")
            }
            CompareError::Read(error) => error.into(),
            _ => Self::from_error(Kind::Failed, "corrupt_archive", &error)
                .hint("`anemone validate` names everything that is wrong"),
        }
    }
}

impl From<WriteDeltaError> for Error {
    fn from(error: WriteDeltaError) -> Self {
        match error {
            WriteDeltaError::Compare(error) => error.into(),
            WriteDeltaError::Read(error) => error.into(),
            _ => Self::from_error(Kind::Failed, "write_failed", &error),
        }
    }
}

impl From<ApplyDeltaError> for Error {
    fn from(error: ApplyDeltaError) -> Self {
        match error {
            ApplyDeltaError::Read(error) => error.into(),
            ApplyDeltaError::Write(error) => error.into(),
            ApplyDeltaError::WrongAgent { .. } => {
                Self::from_error(Kind::Conflict, "different_agents", &error)
                    .hint("`anemone inspect` shows whose archive a file is")
            }
            error if error.is_conflict() => Self::from_error(Kind::Conflict, "wrong_base", &error)
                .hint("apply deltas in the order they were made, starting from their own base"),
            error => Self::from_error(Kind::Failed, "wrong_result", &error),
        }
    }
}

impl From<PlanPurgeError> for Error {
    fn from(error: PlanPurgeError) -> Self {
        match error {
            PlanPurgeError::Read(error) => error.into(),
            PlanPurgeError::NotThere { .. } => {
                Self::from_error(Kind::Failed, "record_not_found", &error)
                    .hint("`anemone inspect FILE --records` lists the records with their ids")
            }
            _ => Self::from_error(Kind::Failed, "file_not_found", &error).hint(
                "give the path as it is in the archive, such as raw/openclaw/memory/facts.db",
            ),
        }
    }
}

impl From<ApplyPurgeError> for Error {
    fn from(error: ApplyPurgeError) -> Self {
        match error {
            ApplyPurgeError::Read(error) => error.into(),
            error => Self::from_error(Kind::Failed, "write_failed", &error),
        }
    }
}

impl From<VaultError> for Error {
    fn from(error: VaultError) -> Self {
        Self::from_error(Kind::Failed, "vault", &error)
    }
}

impl From<ReadError> for Error {
    fn from(error: ReadError) -> Self {
        match error {
            ReadError::Sink(error) => Self::from_error(Kind::Failed, "write_failed", &error),
            ReadError::Seal(error) => error.into(),
            ReadError::NoWorkspace { .. } => {
                Self::from_error(Kind::Failed, "workspace_not_found", &error)
                    .hint("give the folder that holds MEMORY.md and memory/ with -w DIR")
            }
            ReadError::AgentIdFile { .. } => Self::from_error(Kind::Failed, "agent_id", &error)
                .hint("it should hold one UUID; without the file the id is derived"),
            ReadError::IgnoreFile { .. } => Self::from_error(Kind::Failed, "alfignore", &error)
                .hint(
                    "make it a regular file that you can read; it lists what must not be exported",
                ),
            error => Self::from_error(Kind::Failed, "workspace", &error),
        }
    }
}

impl From<ParseIdError> for Error {
    fn from(error: ParseIdError) -> Self {
        Self::from_error(Kind::Usage, "usage", &error)
    }
}

impl From<PlanError> for Error {
    fn from(error: PlanError) -> Self {
        let (code, hint) = match &error {
            PlanError::NotAFolder { .. } => ("not_a_folder", Some("choose another workspace")),
            PlanError::MountPoint { .. } => {
                ("mount_point", Some("import into a new folder, and move the files from there"))
            }
            PlanError::Choice { .. } => {
                let error = Self::from_error(Kind::Usage, "usage", &error);
                return error.hint("leave it out; an existing install keeps its own setting");
            }
            PlanError::Source(_) => {
                ("corrupt_archive", Some("`anemone validate` names everything that is wrong"))
            }
            PlanError::MemoriesUnread { .. } => (
                "memories_unread",
                Some(
                    "let the runtime keep memories as it did when the agent came to it; if that \
                     move was ended half-way, do it again first",
                ),
            ),
            PlanError::Settings { .. } => {
                ("config_unreadable", Some("make it a plain file that you may read, and TOML"))
            }
            PlanError::UnsafePath { .. } => {
                ("unsafe_archive", Some("do not unpack this file with another tool either"))
            }
            _ => ("cannot_read", None),
        };
        let mut error = Self::from_error(Kind::Failed, code, &error);
        error.hint = hint.map(str::to_owned);
        error
    }
}

impl From<ApplyError> for Error {
    fn from(error: ApplyError) -> Self {
        let (kind, code, hint) = match &error {
            ApplyError::Conflicts => (Kind::Conflict, "conflict", None),
            ApplyError::Changed { .. } => (
                Kind::Conflict,
                "workspace_changed",
                Some("nothing was changed; stop the agent, and import again"),
            ),
            ApplyError::Staging { .. } => (
                Kind::Failed,
                "permission_denied",
                Some("the new tree is built beside the workspace, so that folder must be writable"),
            ),
            ApplyError::Source { .. } | ApplyError::WrongSize { .. } => (
                Kind::Failed,
                "corrupt_archive",
                Some("`anemone validate` names everything that is wrong"),
            ),
            ApplyError::Swap { .. } => (
                Kind::Failed,
                "cannot_replace",
                Some(
                    "is it a mount point? import into a new folder, and move the files from there",
                ),
            ),
            _ => (Kind::Failed, "write_failed", Some("nothing was changed")),
        };
        let mut error = Self::from_error(kind, code, &error);
        error.hint = hint.map(str::to_owned);
        error
    }
}

impl From<SourceError> for Error {
    fn from(error: SourceError) -> Self {
        let whole = Self::from_error(Kind::Failed, "source_unreadable", &error);
        // What lies behind it has a code and a hint of its own where we know it.
        let behind: Self = match known(error.source) {
            Some(behind) => behind,
            None => return whole,
        };
        Self { code: behind.code, hint: behind.hint, ..whole }
    }
}

/// Takes an error for what it is.
fn known(error: Box<dyn std::error::Error + Send + Sync>) -> Option<Error> {
    let error = match error.downcast::<OpenError>() {
        Ok(error) => return Some((*error).into()),
        Err(error) => error,
    };
    let error = match error.downcast::<ReadEntryError>() {
        Ok(error) => return Some((*error).into()),
        Err(error) => error,
    };
    let error = match error.downcast::<ReadError>() {
        Ok(error) => return Some((*error).into()),
        Err(error) => error,
    };
    error.downcast::<std::io::Error>().ok().map(|error| (*error).into())
}

/// What to do about an index that cannot be used.
const INDEX_HINT: &str = "keep the index elsewhere with --index-dir DIR";

impl From<OpenIndexError> for Error {
    fn from(error: OpenIndexError) -> Self {
        Self::from_error(Kind::Failed, "index", &error).hint(INDEX_HINT)
    }
}

impl From<RefreshError> for Error {
    fn from(error: RefreshError) -> Self {
        match error {
            RefreshError::Source(error) => error.into(),
            error @ RefreshError::Store(_) => {
                Self::from_error(Kind::Failed, "index", &error).hint(INDEX_HINT)
            }
        }
    }
}

impl From<StoreError> for Error {
    fn from(error: StoreError) -> Self {
        Self::from_error(Kind::Failed, "index", &error).hint(INDEX_HINT)
    }
}

impl From<ModelError> for Error {
    fn from(error: ModelError) -> Self {
        Self::from_error(Kind::Failed, "model", &error)
            .hint("`anemone model get minilm` fetches the model")
    }
}

impl From<KeyError> for Error {
    fn from(error: KeyError) -> Self {
        let whole = Self::from_error(Kind::Failed, "key", &error);
        Self { hint: error.hint().map(str::to_owned), ..whole }
    }
}

impl From<RemoteError> for Error {
    fn from(error: RemoteError) -> Self {
        let whole = Self::from_error(Kind::Failed, "embedder", &error);
        Self { hint: error.hint(), ..whole }
    }
}

impl From<QueryError> for Error {
    fn from(error: QueryError) -> Self {
        Self::from_error(Kind::Failed, "index", &error)
            .hint("rebuild it with `anemone index --rebuild`")
    }
}

impl From<anemone_runtimes::ReadConversationError> for Error {
    fn from(error: anemone_runtimes::ReadConversationError) -> Self {
        Self::from_error(Kind::Failed, "conversation", &error)
    }
}

impl From<anemone_memory::MarkdownStoreError> for Error {
    fn from(error: anemone_memory::MarkdownStoreError) -> Self {
        match &error {
            anemone_memory::MarkdownStoreError::Busy { .. } => {
                Self::from_error(Kind::Failed, "busy", &error).hint("try again")
            }
            anemone_memory::MarkdownStoreError::Saving { .. } => {
                Self::from_error(Kind::Conflict, "changed", &error).hint("try again")
            }
            _ => Self::from_error(Kind::Failed, "memory", &error),
        }
    }
}

impl From<anemone_memory::ApplyError> for Error {
    fn from(error: anemone_memory::ApplyError) -> Self {
        match &error {
            anemone_memory::ApplyError::Changed { .. } => {
                Self::from_error(Kind::Conflict, "changed", &error).hint("try again")
            }
            anemone_memory::ApplyError::Store(
                source @ anemone_memory::MarkdownStoreError::Saving { .. },
            ) => Self::from_error(Kind::Conflict, "changed", source).hint("try again"),
            _ => Self::from_error(Kind::Failed, "memory", &error),
        }
    }
}

impl From<anemone_memory::FindError> for Error {
    fn from(error: anemone_memory::FindError) -> Self {
        Self::from_error(Kind::Failed, "index", &error)
    }
}

impl From<anemone_memory::JournalError> for Error {
    fn from(error: anemone_memory::JournalError) -> Self {
        Self::from_error(Kind::Failed, "journal", &error)
    }
}

impl From<anemone_memory::UndoError> for Error {
    fn from(error: anemone_memory::UndoError) -> Self {
        match error {
            anemone_memory::UndoError::Store(error) => error.into(),
            anemone_memory::UndoError::Apply(error) => error.into(),
            anemone_memory::UndoError::Journal(error) => error.into(),
            anemone_memory::UndoError::Nothing => {
                Self::from_error(Kind::Failed, "nothing_to_undo", &error)
            }
            anemone_memory::UndoError::Conflict { ref kept, .. } => {
                let hint = format!(
                    "what was there before is kept in {}, after its first line; take from it what \
                     you need, then pass the change over with `anemone undo --skip`",
                    kept.display()
                );
                Self::from_error(Kind::Conflict, "changed", &error).hint(hint)
            }
            error => Self::from_error(Kind::Failed, "memory", &error),
        }
    }
}

impl From<anemone_memory::RememberError> for Error {
    fn from(error: anemone_memory::RememberError) -> Self {
        match error {
            anemone_memory::RememberError::Store(error) => error.into(),
            anemone_memory::RememberError::Memory(error) => error.into(),
            anemone_memory::RememberError::TooLong { .. } => {
                Self::from_error(Kind::Usage, "too_long", &error)
                    .hint("keep it as a file below memory/, and remember what it is about")
            }
            error => Self::from_error(Kind::Usage, "usage", &error),
        }
    }
}

impl From<anemone_memory::ForgetError> for Error {
    fn from(error: anemone_memory::ForgetError) -> Self {
        match error {
            anemone_memory::ForgetError::Store(error) => error.into(),
            anemone_memory::ForgetError::Part { ref whole, .. } => {
                let hint = format!("to forget all of it: --id {whole}");
                Self::from_error(Kind::Failed, "part_of_an_entry", &error).hint(hint)
            }
            anemone_memory::ForgetError::Ambiguous { ref places, .. } => {
                let hint = format!("name the one that is meant: --id {}", places.join(" or --id "));
                Self::from_error(Kind::Failed, "ambiguous", &error).hint(hint)
            }
            error => Self::from_error(Kind::Failed, "memory", &error),
        }
    }
}

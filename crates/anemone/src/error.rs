//! What went wrong, how bad it is, and what to do about it.

use anemone_runtimes::{ApplyError, PlanError};

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
    /// Returns the exit code of a process.
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

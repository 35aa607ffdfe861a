//! What went wrong, in the words of the command line: how bad it is, its code, and what to do about
//! it. One file for each area turns the variants of the library's errors into words.

mod agent;
mod agents;
mod archive;
mod check;
mod config;
mod connect;
mod context;
mod embedder;
mod export;
mod files;
mod forget;
mod hooks;
mod import;
mod index;
mod list;
mod memory;
mod migrate;
mod remember;
mod restore;
mod runtimes;
mod search;
mod status;
mod tidy;
mod undo;

/// The sort of failure; decides the exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
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
    pub(crate) const fn exit_code(self) -> u8 {
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
pub(crate) struct CliError {
    pub(crate) kind: Kind,
    /// A stable word for the sort of error.
    pub(crate) code: &'static str,
    /// What we were doing, and to what.
    pub(crate) message: String,
    /// Why it failed, outermost first.
    pub(crate) causes: Vec<String>,
    pub(crate) hint: Option<String>,
    /// What programs are told besides.
    pub(crate) details: Option<Box<serde_json::Map<String, serde_json::Value>>>,
}

impl CliError {
    pub(crate) fn new(kind: Kind, code: &'static str, message: impl Into<String>) -> Self {
        Self { kind, code, message: message.into(), causes: Vec::new(), hint: None, details: None }
    }

    pub(crate) fn from_error(
        kind: Kind,
        code: &'static str,
        error: &dyn std::error::Error,
    ) -> Self {
        let mut causes = Vec::new();
        let mut source = error.source();
        while let Some(cause) = source {
            causes.push(plain(&cause.to_string()));
            source = cause.source();
        }
        Self { causes, ..Self::new(kind, code, plain(&error.to_string())) }
    }

    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Tells programs what a report says besides; its `ok` is no longer true.
    pub(crate) fn with_details(mut self, report: &impl serde::Serialize) -> Self {
        if let Ok(serde_json::Value::Object(mut fields)) = serde_json::to_value(report) {
            fields.remove("ok");
            self.details = Some(Box::new(fields));
        }
        self
    }

    /// Says which file it is about.
    pub(crate) fn about(mut self, path: &std::path::Path) -> Self {
        self.message = format!("{}: {}", path.display(), self.message);
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

impl std::fmt::Display for CliError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for CliError {}

impl From<std::io::Error> for CliError {
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

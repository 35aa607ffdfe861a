//! Errors on their way to the user. One file for each area turns the variants of the library's
//! errors into messages.

/// Explains the errors that a use case passes on from others as those others do; any other variant
/// is a failure with the given code.
macro_rules! pass_on {
    ($error:expr, $code:literal, [$($variant:ident),+]) => {
        match $error {
            $(Self::$variant(error) => error.explain(),)+
            other => other.failure($code),
        }
    };
}

/// Explains errors that only pass on others: each variant as the error in it.
macro_rules! pass_on_all {
    ($($error:ident => $code:literal, [$($variant:ident),+];)+) => {
        $(impl Explain for $error {
            fn explain(&self) -> UserError {
                pass_on!(self, $code, [$($variant),+])
            }
        })+
    };
}

/// Explains errors that are one failure whatever their variant: with a code, and with what helps.
macro_rules! failures {
    ($($error:ident => $code:literal $(, $hint:expr)?;)+) => {
        $(impl Explain for $error {
            fn explain(&self) -> UserError {
                self.failure($code)$(.hint($hint))?
            }
        })+
    };
}

mod agent;
mod alf;
mod archive;
mod config;
mod connect;
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
mod tidy;

use std::error::Error;

use anemone::days::{DayEnd, day, time_of};
use anemone::host::Host;
use jiff::Timestamp;
use jiff::civil::Date;

/// The kind of failure; a command line derives its exit code from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The operation failed.
    Failed,
    /// The request makes no sense.
    Usage,
    /// Two valid things do not fit together, such as a file and a newer version of it.
    Conflict,
    /// The user stopped the operation.
    Interrupted,
}

/// An error on its way to the user.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct UserError {
    /// How bad it is.
    pub kind: Kind,
    /// A stable word for the kind of error, for programs.
    pub code: &'static str,
    /// What failed, and on what.
    pub message: String,
    /// Why it failed, outermost first.
    pub causes: Vec<String>,
    /// What the user can do about it.
    pub hint: Option<String>,
    /// More fields for programs.
    pub details: Option<Box<serde_json::Map<String, serde_json::Value>>>,
}

impl UserError {
    /// Returns an error with a message of its own.
    #[must_use]
    pub fn new(kind: Kind, code: &'static str, message: impl Into<String>) -> Self {
        Self { kind, code, message: message.into(), causes: Vec::new(), hint: None, details: None }
    }

    /// Returns a failure with a message of its own.
    #[must_use]
    pub fn failure(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(Kind::Failed, code, message)
    }

    /// Returns a refusal of arguments that make no sense.
    #[must_use]
    pub fn usage(message: impl Into<String>) -> Self {
        Self::new(Kind::Usage, "usage", message)
    }

    /// Returns an error with the message and the causes of another error.
    #[must_use]
    pub fn from_error(kind: Kind, code: &'static str, error: &dyn Error) -> Self {
        let causes = causes_of(error).map(|cause| plain(&cause));
        Self::new(kind, code, plain(&error.to_string())).causes(causes.collect())
    }

    /// Returns a failure with the message and the causes of another error.
    #[must_use]
    pub fn failure_from(code: &'static str, error: &dyn Error) -> Self {
        Self::from_error(Kind::Failed, code, error)
    }

    /// Adds what the user can do about it.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Adds what the user can do about it, where that is known.
    fn maybe_hint(self, hint: Option<impl Into<String>>) -> Self {
        Self { hint: hint.map(Into::into), ..self }
    }

    /// Replaces the causes.
    fn causes(self, causes: Vec<String>) -> Self {
        Self { causes, ..self }
    }

    /// Returns the message and the causes in one line.
    #[must_use]
    pub fn with_causes(&self) -> String {
        std::iter::once(&self.message)
            .chain(&self.causes)
            .map(String::as_str)
            .collect::<Vec<_>>()
            .join(": ")
    }

    /// Adds the fields of a report for programs.
    #[must_use]
    pub fn with_details(mut self, report: &impl serde::Serialize) -> Self {
        if let Ok(serde_json::Value::Object(fields)) = serde_json::to_value(report) {
            self.details = Some(Box::new(fields));
        }
        self
    }

    /// Adds the file that the error is about.
    #[must_use]
    pub fn about(mut self, path: &std::path::Path) -> Self {
        self.message = format!("{}: {}", path.display(), self.message);
        self
    }
}

/// Reads a day that the user gave, or refuses it; the name is that of a flag or of an argument.
pub fn given_day(name: &str, text: Option<&str>, today: Date) -> Result<Option<Date>, UserError> {
    let Some(text) = text else { return Ok(None) };
    day(text, today).map(Some).ok_or_else(|| {
        UserError::usage(format!("{name} {text:?} is not a day"))
            .hint("give 2026-03-01, today, yesterday, or how long ago: 7d, 2w, 3m, 1y")
    })
}

/// Reads a time, or an end of a day, that the user gave, or refuses it; the name is that of a flag
/// or of an argument.
pub fn given_time(
    name: &str,
    text: Option<&str>,
    end: DayEnd,
    host: &Host,
) -> Result<Option<Timestamp>, UserError> {
    let Some(text) = text else { return Ok(None) };
    time_of(text, end, host.today(), host.zone()).map(Some).ok_or_else(|| {
        UserError::usage(format!("{name} {text:?} is neither a day nor a time"))
            .hint("give 2026-03-01, 2026-03-01T10:00:00Z, yesterday, or how long ago: 7d, 2w, 3m")
    })
}

/// Returns a message of the operating system without the error number and without the name of a
/// temporary file.
#[must_use]
pub fn plain(message: &str) -> String {
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

/// An error of the library that is explained to the user.
trait Explain: Error + Sized {
    /// Returns its code, message, causes and hint for the user.
    fn explain(&self) -> UserError;

    /// Returns a failure with its message and causes.
    fn failure(&self, code: &'static str) -> UserError {
        UserError::failure_from(code, self)
    }

    /// Returns a request that makes no sense, with its message and causes.
    fn misuse(&self, code: &'static str) -> UserError {
        UserError::from_error(Kind::Usage, code, self)
    }

    /// Returns a conflict with its message and causes.
    fn conflict(&self, code: &'static str) -> UserError {
        UserError::from_error(Kind::Conflict, code, self)
    }
}

impl<E: Explain> From<E> for UserError {
    fn from(error: E) -> Self {
        error.explain()
    }
}

impl Explain for std::io::Error {
    fn explain(&self) -> UserError {
        self.failure(match self.kind() {
            std::io::ErrorKind::NotFound => "not_found",
            std::io::ErrorKind::PermissionDenied => "permission_denied",
            std::io::ErrorKind::StorageFull => "storage_full",
            _ => "io",
        })
    }
}

/// Returns the messages of what caused an error, outermost first.
fn causes_of(error: &dyn Error) -> impl Iterator<Item = String> {
    std::iter::successors(error.source(), |cause| (*cause).source()).map(ToString::to_string)
}

/// Returns the lines of the first items, and how many more there are.
fn listed<T>(items: &[T], most: usize, line: impl Fn(&T) -> String) -> Vec<String> {
    let more = items.len().saturating_sub(most);
    let more = (more > 0).then(|| format!("and {more} more"));
    items.iter().take(most).map(line).chain(more).collect()
}

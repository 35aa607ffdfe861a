//! What somebody may choose for a new install, and the sorts of things that do not come back.

use std::fmt::Display;

/// How a new install keeps memories.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InstallBackend {
    /// In a database.
    Sqlite,
    /// In Markdown files.
    Markdown,
}

impl InstallBackend {
    /// Returns the word that settings and people use.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Sqlite => "sqlite",
            Self::Markdown => "markdown",
        }
    }
}

/// How a new install is laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InstallLayout {
    /// One workspace, with the database in it.
    Workspace,
    /// One database for all agents in `data`, and a workspace for each.
    Data,
}

impl InstallLayout {
    /// Returns the word that people use.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Workspace => "workspace",
            Self::Data => "data",
        }
    }
}

/// Something in the snapshot that does not come back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotRestored {
    /// What sort of thing it is.
    pub what: NotRestoredKind,
    /// Its path or name.
    pub path: Option<String>,
    /// Why.
    pub reason: String,
}

impl NotRestored {
    /// Returns something that is not in one place.
    pub(crate) fn new(what: NotRestoredKind, reason: impl Into<String>) -> Self {
        Self { what, path: None, reason: reason.into() }
    }

    /// Returns something with a path or a name.
    pub(crate) fn of(what: NotRestoredKind, path: impl Display, reason: impl Into<String>) -> Self {
        Self { what, path: Some(path.to_string()), reason: reason.into() }
    }
}

/// A sort of thing that does not come back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum NotRestoredKind {
    /// A file that the snapshot only names.
    Artifact,
    /// Something that the agent could do elsewhere.
    Capability,
    /// A column of a table.
    Column,
    /// A key, a token or a password.
    Credential,
    /// A vector of a memory.
    Embedding,
    /// A file of the snapshot.
    File,
    /// Several files.
    Files,
    /// An entry of a database.
    Memory,
    /// The permissions of a file.
    Mode,
    /// Somebody whom the agent works for.
    Principal,
    /// One record.
    Record,
    /// Several records.
    Records,
    /// Secrets that were taken out of a file.
    Secrets,
    /// A part of the persona.
    Text,
}

impl NotRestoredKind {
    /// Returns the word for programs and people.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Artifact => "artifact",
            Self::Capability => "capability",
            Self::Column => "column",
            Self::Credential => "credential",
            Self::Embedding => "embedding",
            Self::File => "file",
            Self::Files => "files",
            Self::Memory => "memory",
            Self::Mode => "mode",
            Self::Principal => "principal",
            Self::Record => "record",
            Self::Records => "records",
            Self::Secrets => "secrets",
            Self::Text => "text",
        }
    }
}

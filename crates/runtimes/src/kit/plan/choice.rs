//! The choices for a new install, and the kinds of things that are not restored.

use std::fmt::Display;

use crate::kit::word_enum::word_enum;

word_enum! {
    /// How a new install keeps memories.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum InstallBackend {
        /// In a database.
        Sqlite = "sqlite",
        /// In Markdown files.
        Markdown = "markdown",
    }
}

word_enum! {
    /// How a new install is laid out.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum InstallLayout {
        /// One workspace, with the database in it.
        Workspace = "workspace",
        /// One database for all agents in `data`, and a workspace for each.
        Data = "data",
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

word_enum! {
    /// A sort of thing that does not come back.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    #[non_exhaustive]
    pub enum NotRestoredKind {
        /// A file that the snapshot only names.
        Artifact = "artifact",
        /// Something that the agent could do elsewhere.
        Capability = "capability",
        /// A column of a table.
        Column = "column",
        /// A key, a token or a password.
        Credential = "credential",
        /// A vector of a memory.
        Embedding = "embedding",
        /// A file of the snapshot.
        File = "file",
        /// Several files.
        Files = "files",
        /// An entry of a database.
        Memory = "memory",
        /// The permissions of a file.
        Mode = "mode",
        /// A person whom the agent works for.
        Principal = "principal",
        /// One record.
        Record = "record",
        /// Several records.
        Records = "records",
        /// Secrets that were taken out of a file.
        Secrets = "secrets",
        /// A part of the persona.
        Text = "text",
    }
}

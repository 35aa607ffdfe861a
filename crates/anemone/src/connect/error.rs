//! Why a program is not connected or disconnected.

use std::io;
use std::path::PathBuf;

use anemone_runtimes::connect::{ConfigFormat, ConnectOption, DesiredFile, RefuseError};

use super::target::ConnectTarget;
use crate::agent::FindAgentError;
use crate::files::FileError;

/// Why a program is not connected or disconnected.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
#[non_exhaustive]
pub enum ConnectError {
    /// Something was asked for that only another program has.
    #[error("this does not apply to the program")]
    OnlyFor {
        /// What was asked for.
        option: ConnectOption,
        /// The programs that have it.
        takers: Vec<ConnectTarget>,
    },
    /// There is no such project.
    #[error("{}: there is no such folder", .folder.display())]
    NoProject {
        /// The folder.
        folder: PathBuf,
        /// The program that would be started there.
        target: ConnectTarget,
    },
    /// Writing was allowed to a program that needs no permission.
    #[error("{} writes its own memory", .0.title)]
    WritesItself(ConnectTarget),
    /// The plugin would have nothing to search.
    #[error(
        "there is nothing for the plugin to search: {} searches its own memory by itself; \
         nothing was changed",
        .0.title
    )]
    NothingToSearch(ConnectTarget),
    /// The plugin searches fewer sources.
    #[error("the plugin searches at most {0} sources")]
    TooManySources(usize),
    /// Another process connects or disconnects.
    #[error("another `anemone connect` is running; nothing was changed")]
    Busy,
    /// No arguments lead back to the agent from another folder.
    #[error("{}: no arguments name this agent for sure from another folder", .0.display())]
    NoArguments(PathBuf),
    /// A configuration, which is text, cannot contain the path.
    #[error("{}: this path is not UTF-8, so no configuration can name it", .0.display())]
    PathEncoding(PathBuf),
    /// A link leads nowhere.
    #[error("{}: this is a link that leads nowhere", .0.display())]
    BrokenLink(PathBuf),
    /// A file is protected.
    #[error("{}: this file is read-only; nothing was changed", .0.display())]
    ReadOnly(PathBuf),
    /// A file was changed between the plan and its application.
    #[error("{}: somebody else changed this file just now; nothing was written to it", .0.display())]
    ChangedMeanwhile(PathBuf),
    /// A device, a pipe or a folder has the name of a configuration.
    #[error("{}: this is not a regular file", .0.display())]
    NotAFile(PathBuf),
    /// No configuration is so large.
    #[error("{}: this is too large for a configuration", .0.display())]
    TooLarge(PathBuf),
    /// A configuration is no text.
    #[error("{}: line {line} is not UTF-8; nothing was changed", .path.display())]
    NotText {
        /// The file.
        path: PathBuf,
        /// The first line that is none.
        line: usize,
    },
    /// A file that we would write already exists, and we did not write it.
    #[error("{}: this file exists, and Anemone did not write it", .0.display())]
    Taken(PathBuf),
    /// An entry starts Anemone, and no record says that we wrote it.
    #[error(
        "{}: {entry} already exists and was not written by anemone; nothing was changed",
        .path.display()
    )]
    Unrecorded {
        /// The file.
        path: PathBuf,
        /// The entry.
        entry: String,
    },
    /// A configuration cannot be changed without harm.
    #[error("{}: {error}; nothing was changed", .path.display())]
    Refused {
        /// The format of the file.
        format: ConfigFormat,
        /// The file.
        path: PathBuf,
        /// Why.
        error: RefuseError,
    },
    /// Files were changed before the error, and could not be changed back.
    #[error("{error}")]
    HalfDone {
        /// The error.
        error: Box<Self>,
        /// The files.
        changed: Vec<PathBuf>,
    },
    /// The memory that is meant was not found.
    Agent(#[from] FindAgentError),
    /// A file cannot be written.
    File(#[from] FileError),
    /// The system refused.
    Io(#[from] io::Error),
}

impl ConnectError {
    /// Says that a file is not changed, and why.
    pub(super) fn refused(file: &DesiredFile, error: RefuseError) -> Self {
        Self::Refused { format: file.format, path: file.path.clone(), error }
    }
}

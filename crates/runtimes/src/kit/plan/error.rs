//! Why there is no plan.

use std::io;
use std::path::PathBuf;

/// Why no plan could be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PlanError {
    /// No snapshot can become an agent of this runtime.
    #[error("no agent can be restored into {runtime}")]
    NotSupported {
        /// The runtime.
        runtime: &'static str,
    },
    /// Something that is no folder has the workspace's name.
    #[error("{path} is not a folder")]
    NotAFolder {
        /// Where the workspace should be.
        path: PathBuf,
    },
    /// The workspace cannot be replaced where it is.
    #[error("{path} is a mount point, and cannot be replaced as a whole")]
    MountPoint {
        /// The folder.
        path: PathBuf,
    },
    /// The workspace cannot be looked at.
    #[error("cannot read {path}")]
    Workspace {
        /// The file or folder.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// An import that was ended half-way left what may be the workspace.
    #[error(
        "an import that was ended half-way left {path}, which may be the only copy of {workspace}"
    )]
    Leftover {
        /// The folder that it left.
        path: PathBuf,
        /// The workspace.
        workspace: PathBuf,
    },
    /// The snapshot cannot be read.
    #[error("cannot read the snapshot")]
    Source(#[source] io::Error),
    /// There is no place for temporary files.
    #[error("cannot write a temporary file")]
    Scratch(#[source] io::Error),
    /// The runtime does not know this way to keep memories or to lay out an install, or the
    /// install that is there has another.
    #[error("{what} {given:?} is not available here: {reason}")]
    Choice {
        /// `backend` or `layout`.
        what: &'static str,
        /// What was asked for.
        given: String,
        /// Why not.
        reason: String,
    },
    /// The database of the target cannot be read.
    #[error("cannot read the database {path}: {detail}")]
    Database {
        /// The database.
        path: PathBuf,
        /// Why.
        detail: String,
    },
    /// An agent comes back, and what it remembers now is unknown: then nobody can tell what it
    /// forgot.
    #[error(
        "the memories that the agent has now in {runtime} were not read, so nobody can say what \
         it forgot"
    )]
    MemoriesUnread {
        /// The runtime that it comes from.
        runtime: String,
    },
    /// The settings of the target cannot be read, so it is unknown where memories go.
    #[error("cannot tell how {path} keeps memories: it {detail}")]
    Settings {
        /// The configuration.
        path: PathBuf,
        /// Why.
        detail: String,
    },
    /// A path that would lead somewhere else, or below a file.
    #[error("the snapshot has a file at {path:?}, where none can be")]
    UnsafePath {
        /// The path, with what is not UTF-8 replaced.
        path: String,
    },
}

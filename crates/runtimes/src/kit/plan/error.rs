//! Why there is no plan.

use std::io;
use std::path::PathBuf;

use crate::kit::DatabaseError;

/// Why no plan could be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PlanError {
    /// No snapshot can become an agent of this runtime.
    #[error("no agent can be restored into {0}")]
    NotSupported(&'static str),
    /// Something that is no folder has the workspace's name.
    #[error("{0} is not a folder")]
    NotAFolder(PathBuf),
    /// The workspace cannot be replaced where it is.
    #[error("{0} is a mount point, and cannot be replaced as a whole")]
    MountPoint(PathBuf),
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
    /// existing install has another.
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
    /// An agent comes back, and its current memories are unknown, so it cannot be determined what
    /// it forgot.
    #[error(
        "the memories that the agent has now in {0} were not read, so nobody can say what \
         it forgot"
    )]
    MemoriesUnread(String),
    /// The settings of the target cannot be read, so it is unknown where memories go.
    #[error("cannot tell how {path} keeps memories: it {detail}")]
    Settings {
        /// The configuration.
        path: PathBuf,
        /// Why.
        detail: String,
    },
    /// A path that would lead somewhere else, or below a file.
    #[error("the snapshot has a file at {0:?}, where none can be")]
    UnsafePath(String),
}

/// Why something outside the tree could not be changed; it is then unchanged, unless the error says
/// otherwise.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct RestoreError(#[from] StoreError);

/// What a [`RestoreError`] says of a file or a database.
#[derive(Debug, thiserror::Error)]
pub(crate) enum StoreError {
    #[error("{path} has changed since the plan was made")]
    Changed { path: PathBuf },
    /// A lock file exists, which a program keeps while it writes.
    #[error("{path} exists: another program may be writing, or was killed while writing")]
    Locked { path: PathBuf },
    #[error("{path} is open in another program")]
    Open { path: PathBuf },
    #[error("another program is writing {path}")]
    Busy { path: PathBuf },
    #[error("the snapshot is not the one that the plan was made from")]
    OtherSnapshot,
    #[error("cannot read the snapshot")]
    Source(#[source] Box<dyn std::error::Error + Send + Sync>),
    #[error("cannot write {path}")]
    Io { path: PathBuf, source: io::Error },
    #[error("cannot write {path}")]
    Database { path: PathBuf, source: DatabaseError },
    /// It is unknown whether the change was made.
    #[error("{path} has all of the memories or none of them; its old state is in {backup}")]
    Unsure { path: PathBuf, backup: PathBuf, source: Box<DatabaseError> },
    /// It is unknown whether the change was made, or made completely.
    #[error("{path} may be incomplete; its old state, including secrets, is in {backup}")]
    Unverified { path: PathBuf, backup: PathBuf, source: Box<DatabaseError> },
    /// The copy that was made before the change could not be removed.
    #[error("{backup} holds secrets and is no longer needed, but could not be removed")]
    Backup { backup: PathBuf, source: io::Error },
}

//! The history of an agent: immutable commits in a store, and the snapshots they stand for.
//!
//! | module | what it holds |
//! |---|---|
//! | [`Storage`] | where objects lie: a folder, a bucket, memory |
//! | [`Commit`] | one state of an agent: its parents, its device, its time and the digest of its snapshot |
//! | [`AgentHistory`] | the commits of one agent in a store, and how their snapshots are stored |
//! | [`Revision`] | how people name a commit |
//! | [`verify`] | what is damaged or missing in a store, and which commits that takes with it |
//!
//! This crate knows no runtime, no workspace and no clock. `docs/history.md` describes what is
//! stored.

#![warn(missing_docs)]

mod commit;
mod content;
mod digest;
mod folder;
mod history;
mod key;
mod memory;
mod revision;
mod storage;
mod store;
#[cfg(any(test, feature = "testing"))]
pub mod suite;
mod verify;

pub use commit::{
    ChangeCounts, Commit, CommitAgent, CommitId, Device, DeviceId, MAX_COMMIT_BYTES,
    ParseCommitIdError, RecordChanges, SnapshotCounts,
};
pub use content::{ContentForm, StoredContent};
pub use digest::SnapshotDigest;
pub use folder::FolderStorage;
pub use history::{AgentHistory, HistoryError, NewContent, PublishError, Walk, WalkedCommit};
pub use key::Key;
pub use memory::MemoryStorage;
pub use revision::{ParseRevisionError, ResolveError, Revision};
pub use storage::{ObjectInfo, Storage, StorageAction, StorageError, StoredObject};
pub use store::{HistoryStore, OpenStoreError, STORE_VERSION, StoreFormat};
pub use verify::{Damage, DamageKind, VerifyDepth, VerifyReport, verify};

//! Runtimes in and out: finds the agents on a machine, reads a workspace into values, plans how a
//! snapshot becomes a workspace, and applies the plan.
//!
//! An adapter yields values and never sees a ZIP; nothing here prints, reads the environment or
//! asks the clock. What two runtimes need stands beside the runtimes, once.

#![warn(missing_docs)]

mod adapter;
mod artifacts;
mod carrier;
mod check;
mod conversation;
mod database;
#[doc(hidden)]
pub mod fuzzing;
mod ids;
mod install_paths;
mod labels;
pub mod mapping;
mod new_install;
mod open_workspace;
mod openclaw;
mod paths;
mod persona;
mod plan;
mod previous;
mod restore;
mod searchable;
mod sidecar;
mod split_text;
mod stable_copy;
mod stamps;
mod times;
mod tree;
mod vectors;
mod walk;
mod zeroclaw;

pub use adapter::{
    Adapter, DEFAULT_ARTIFACT_LIMIT, FoundAgent, LeftOut, LeftOutReason, Machine, NotRequested,
    NotRequestedKind, Oddity, OwnIndex, ReadError, ReadOptions, Reading, SealSecret, SecretFinding,
    SecretPolicy, SessionCounts, UNKNOWN_AGENT, Unchanged, Warning,
};
pub use check::{
    Check, ConfigState, DailyLogs, IndexState, Issue, NAMED_IN_MESSAGE, Resources, Severity,
    noted_agent_id,
};
pub use conversation::{
    CLAUDE_CODE, Conversation, NotSaid, Reach, ReadConversationError, Role, Said, read_transcript,
    without_private,
};
pub use database::{SERVE_ARGUMENT, ServeError, serve_database};
pub use new_install::NewInstall;
pub use plan::{
    Action, ConfigStep, Conflict, CredentialsStep, Forgotten, InstallBackend, InstallLayout,
    MemoriesStep, NotRestored, NotRestoredKind, OnConflict, Plan, PlanError, PlanOptions,
    RestoreError, Step, StepKind,
};
pub use previous::PreviousSnapshot;
pub use searchable::{
    ExtraPlace, MemoryBackend, MemoryFacts, Remembered, Searchable, SearchedFile, SearchedFolder,
    Store, StoreKind, Unsearched,
};
pub use sidecar::ComingBack;
pub use tree::{Applied, ApplyError, StagingWatch, Unwatched, apply, recover_leftovers};
pub use vectors::{VectorOf, WantedModel, vectors_in};
pub use walk::AGENT_ID_FILE;

/// Every runtime we know; a new one is a module and a line here.
pub const ADAPTERS: &[&dyn Adapter] = &[&openclaw::OpenClaw, &zeroclaw::ZeroClaw];

/// Returns the adapter of a runtime.
#[must_use]
pub fn by_name(runtime: &str) -> Option<&'static dyn Adapter> {
    ADAPTERS.iter().copied().find(|adapter| adapter.runtime() == runtime)
}

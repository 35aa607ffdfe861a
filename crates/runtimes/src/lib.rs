//! Runtimes in and out: finds the agents on a machine, reads a workspace into values, plans how a
//! snapshot becomes a workspace, and applies the plan.
//!
//! An adapter yields values and never sees a ZIP; nothing here prints, reads the environment or
//! asks the clock. What two runtimes need stands beside the runtimes, once.

#![warn(missing_docs)]

#[doc(hidden)]
pub mod fuzzing;
mod kit;
mod openclaw;
mod zeroclaw;

pub use kit::adapter::{
    Adapter, DEFAULT_ARTIFACT_LIMIT, FoundAgent, LeftOut, LeftOutReason, Machine, NotRequested,
    NotRequestedKind, Oddity, ReadError, ReadOptions, Reading, SealSecret, SecretFinding,
    SecretPolicy, SessionCounts, UNKNOWN_AGENT, Unchanged, Warning,
};
pub use kit::check::{
    Check, ConfigState, DailyLogs, IndexState, Issue, NAMED_IN_MESSAGE, Resources, Severity,
    noted_agent_id,
};
pub use kit::conversation::{
    CLAUDE_CODE, Conversation, NotSaid, Reach, ReadConversationError, Role, Said, read_transcript,
    without_private,
};
pub use kit::database::{SERVE_ARGUMENT, ServeError, serve_database};
pub use kit::mapping;
pub use kit::new_install::NewInstall;
pub use kit::plan::{
    Action, ConfigStep, Conflict, CredentialsStep, Forgotten, InstallBackend, InstallLayout,
    MemoriesStep, NotRestored, NotRestoredKind, OnConflict, Plan, PlanError, PlanOptions,
    RestoreError, Step, StepKind,
};
pub use kit::previous::PreviousSnapshot;
pub use kit::searchable::{
    ExtraPlace, MemoryBackend, MemoryFacts, Remembered, Searchable, SearchedFile, SearchedFolder,
    Store, StoreKind, Unsearched,
};
pub use kit::sidecar::ComingBack;
pub use kit::tree::{Applied, ApplyError, StagingWatch, Unwatched, apply, recover_leftovers};
pub use kit::vectors::{VectorOf, WantedModel, vectors_in};
pub use kit::walk::AGENT_ID_FILE;

/// Every runtime we know; a new one is a module and a line here.
pub const ADAPTERS: &[&dyn Adapter] = &[&openclaw::OpenClaw, &zeroclaw::ZeroClaw];

/// Returns the adapter of a runtime.
#[must_use]
pub fn by_name(runtime: &str) -> Option<&'static dyn Adapter> {
    ADAPTERS.iter().copied().find(|adapter| adapter.runtime() == runtime)
}

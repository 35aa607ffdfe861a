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
mod claude_code;
mod codex;
pub mod connect;
mod conversation;
mod database;
#[doc(hidden)]
pub mod fuzzing;
mod hook_caller;
mod ids;
mod install_paths;
mod labels;
pub mod mapping;
mod native_search;
mod native_tools;
mod new_install;
mod open_workspace;
mod openclaw;
mod paths;
mod persona;
mod plan;
mod previous;
mod restore;
mod sample_install;
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
pub use hook_caller::HookCaller;
pub use native_search::{
    ExcerptAnswer, ExcerptQuestion, ExcerptShape, NativeChunk, NativeChunker, NativeSearch,
    excerpt_shapes, native_chunkers, ranking_profiles,
};
pub use native_tools::{NativeTools, ToolForm, ToolWords, native_tools};
pub use new_install::NewInstall;
pub use openclaw::sample::SAMPLE_INSTALL;
pub use plan::{
    Action, ConfigStep, Conflict, CredentialsStep, Forgotten, InstallBackend, InstallLayout,
    MemoriesStep, NotRestored, NotRestoredKind, OnConflict, Plan, PlanError, PlanOptions,
    RestoreError, Step, StepKind,
};
pub use previous::PreviousSnapshot;
pub use sample_install::{SampleAgent, SampleFile, SampleInstall};
pub use searchable::{
    ExtraPlace, MemoryBackend, MemoryFacts, Remembered, Searchable, SearchedFile, SearchedFolder,
    Store, StoreKind, Unsearched,
};
pub use sidecar::{ComingBack, KeptFile, KeptSnapshot, LinkPart, digest_of, is_kept, name_of};
pub use tree::{Applied, ApplyError, StagingWatch, Unwatched, apply, recover_leftovers};
pub use vectors::{VectorOf, WantedModel, vectors_in};
pub use walk::AGENT_ID_FILE;

/// Every program that can be connected, in the order of help texts.
pub const CONNECTS: &[&connect::Connect] = &[
    &claude_code::connect::CONNECT,
    &openclaw::connect::CONNECT,
    &zeroclaw::connect::CONNECT,
    &codex::connect::CONNECT,
];

/// The program that names the moment when it calls a hook.
pub const HOOK_CALLER: &HookCaller = &claude_code::hooks::HOOK_CALLER;

/// The runtime to which the sample agent moves.
pub const SAMPLE_TARGET: &str = zeroclaw::RUNTIME;

/// Every runtime we know; a new one is a module and a line here.
pub const ADAPTERS: &[&dyn Adapter] = &[&openclaw::OpenClaw, &zeroclaw::ZeroClaw];

/// Returns the adapter of a runtime.
#[must_use]
pub fn by_name(runtime: &str) -> Option<&'static dyn Adapter> {
    ADAPTERS.iter().copied().find(|adapter| adapter.runtime() == runtime)
}

//! Runtimes in and out: finds the agents on a machine, reads a workspace into values, plans how a
//! snapshot becomes a workspace, and applies the plan.
//!
//! Each runtime is a folder with all that is known of it, behind one [`Runtime`]: a descriptor of plain
//! data, and capabilities that are optional. What several runtimes need is in `kit`, which knows none
//! of them. A runtime yields values and never sees an archive; nothing here prints, reads the
//! environment or asks the clock.

#![warn(missing_docs)]

mod claude_code;
mod codex;
mod kit;
mod openclaw;
mod zeroclaw;

use std::path::Path;

use anemone_memory::ContextRules;

pub use kit::agent::{
    ConfigFile, DEFAULT_ARTIFACT_LIMIT, FoundAgent, FoundSecret, KnownConfigs, LeftOut,
    LeftOutReason, Machine, NotRequested, NotRequestedKind, Oddity, OddityKind, ReadError,
    ReadOptions, Reading, SealSecret, SecretPolicy, SessionCounts, Unchanged, Warning,
};
pub use kit::check::{
    Check, ConfigState, DailyLogs, Issue, IssueKind, NAMED_IN_MESSAGE, ProjectFiles, Resources,
    SearchIndexState, Severity, Suggestion, noted_agent_id,
};
pub use kit::connect;
pub use kit::conversation::{
    Conversation, ConversationMessage, OmittedCounts, Reach, ReadConversationError, Role,
    without_private,
};
pub use kit::database::{SERVE_ARGUMENT, ServeDatabaseError, serve_database};
pub use kit::file_count::{FileCount, FileCounter, timestamp};
pub use kit::hook_caller::HookCaller;
pub use kit::mapping;
pub use kit::native_search::{
    ExcerptAnswer, ExcerptQuestion, ExcerptShape, NativeChunk, NativeChunker, NativeSearch,
    excerpt_shapes, native_chunkers, ranking_profiles,
};
pub use kit::native_tools::{NativeTools, ToolForm, ToolWords, native_tools};
pub use kit::new_install::NewInstall;
pub use kit::plan::{
    Action, ConfigStep, Conflict, CredentialsStep, Forgotten, InstallBackend, InstallLayout,
    MemoriesStep, NotRestored, NotRestoredKind, OnConflict, Plan, PlanError, PlanOptions,
    PlannedChange, RestoreError, Step, StepKind,
};
pub use kit::previous::PreviousSnapshot;
pub use kit::restore_source::RestoreSource;
pub use kit::runtime::{
    EvergreenRecords, FindAgents, OpenAgent, OpenRows, OwnIndex, PlanAgent, ReadAgents,
    ReadConversation, RecordRules, Runtime, SearchAgents, UsualPlaces, WorkspaceFiles,
};
pub use kit::sample_install::{SampleAgent, SampleFile, SampleInstall};
pub use kit::searchable::{
    ExtraPlace, MemoryBackend, MemoryFacts, Searchable, SearchableRecord, SearchedFile,
    SearchedFolder, Store, StoreKind, UnsearchedCounts,
};
pub use kit::sidecar::{KeptFile, KeptSnapshot, LinkPart, digest_of, is_kept, name_of};
pub use kit::tree::{
    AppliedTree, ApplyTreeError, StagingWatch, Unwatched, apply, recover_leftovers,
};
pub use kit::vectors::{VectorOf, WantedModel, vectors_in};
pub use kit::walk::AGENT_ID_FILE;
#[cfg(any(test, feature = "fuzzing"))]
#[doc(hidden)]
pub use openclaw::law_tests as openclaw_laws;
pub use openclaw::sample::SAMPLE_INSTALL;
#[cfg(any(test, feature = "fuzzing"))]
#[doc(hidden)]
pub use zeroclaw::law_tests as zeroclaw_laws;

/// Every program that we know something of; a new one is a folder and a line here. The first that has
/// agents takes any folder that no runtime knows.
pub static RUNTIMES: &[&Runtime] =
    &[&claude_code::CLAUDE_CODE, &openclaw::OPENCLAW, &zeroclaw::ZEROCLAW, &codex::CODEX];

/// The program that names the moment when it calls a hook.
pub const HOOK_CALLER: &HookCaller = &claude_code::hooks::HOOK_CALLER;

/// The runtime to which the sample agent moves.
pub const SAMPLE_TARGET: &str = zeroclaw::RUNTIME;

/// Returns how each program is connected that can be, in the order of help texts.
pub fn connects() -> impl Iterator<Item = &'static connect::Connect> {
    RUNTIMES.iter().filter_map(|runtime| runtime.connect)
}

/// Returns every runtime that has agents of its own.
pub fn with_agents() -> impl Iterator<Item = &'static Runtime> {
    RUNTIMES.iter().copied().filter(|runtime| runtime.has_agents())
}

/// Returns the runtime whose layout a folder of Markdown has that belongs to no agent.
///
/// # Panics
///
/// Never: some runtime has agents.
#[must_use]
pub fn of_plain_folders() -> &'static Runtime {
    with_agents().next().expect("some runtime has agents")
}

/// Returns what a runtime puts before a session; where it says nothing, what is put before one in a
/// plain folder.
///
/// # Panics
///
/// Never: some runtime puts files before a session.
#[must_use]
pub fn context_rules_of(runtime: &Runtime, generation: Option<&str>) -> &'static ContextRules {
    match runtime.context_of {
        Some(rules) => rules(generation),
        None => with_agents()
            .find_map(|runtime| runtime.context_of)
            .expect("some runtime puts files before a session")(None),
    }
}

/// Returns the runtime with agents of a name.
#[must_use]
pub fn by_name(name: &str) -> Option<&'static Runtime> {
    with_agents().find(|runtime| runtime.name == name)
}

/// Returns what every version of every runtime puts before a session.
pub fn context_rules() -> impl Iterator<Item = &'static ContextRules> {
    RUNTIMES.iter().flat_map(|runtime| runtime.contexts).copied()
}

/// Reads the end of a transcript in a file, whichever program wrote it; a link is not followed.
pub fn read_transcript(path: &Path, reach: Reach) -> Result<Conversation, ReadConversationError> {
    let formats: Vec<_> = RUNTIMES.iter().filter_map(|runtime| runtime.transcripts).collect();
    kit::conversation::read_path(&formats, path, reach)
}

#[cfg(test)]
mod example_tests;
#[cfg(test)]
mod transcript_tests;

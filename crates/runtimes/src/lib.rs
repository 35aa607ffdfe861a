//! Runtimes in and out: finds the agents on a machine, reads a workspace into values, plans how a
//! snapshot becomes a workspace, and applies the plan.
//!
//! Each runtime is a folder with everything that is known about it, behind one [`Runtime`]: a
//! descriptor of plain data, and capabilities that are optional. What several runtimes need is in
//! `kit`, which knows none of them. A runtime yields values and never sees an archive; nothing here
//! prints, reads the environment or reads the clock.

#![warn(missing_docs)]

mod claude_code;
mod codex;
mod kit;
mod openclaw;
mod zeroclaw;

use std::path::Path;

use anemone_memory::ContextRules;

#[cfg(test)]
pub(crate) use kit::Unwatched;
pub use kit::{
    AGENT_ID_FILE, Action, AppliedTree, ApplyTreeError, Check, ConfigFile, ConfigState, ConfigStep,
    Conflict, Conversation, ConversationMessage, CredentialsStep, DEFAULT_ARTIFACT_LIMIT,
    DailyLogs, EvergreenRecords, ExcerptAnswer, ExcerptQuestion, ExcerptShape, ExtraPlace,
    FileCount, FileCounter, FilesBeside, FindAgents, Forgotten, FoundAgent, FoundSecret,
    HookCaller, InstallBackend, InstallLayout, Issue, IssueKind, KeptFile, KeptSnapshot,
    KnownConfigs, LeftOut, LeftOutReason, LinkPart, Machine, MemoriesStep, MemoryBackend,
    MemoryFacts, NAMED_IN_MESSAGE, NativeChunk, NativeChunker, NativeSearch, NativeTools,
    NewInstall, NotRequested, NotRequestedKind, NotRestored, NotRestoredKind, NotedTimes, Oddity,
    OddityKind, OmittedCounts, OnConflict, OpenAgent, OpenRows, OwnIndex, PlaceProblem, Plan,
    PlanAgent, PlanError, PlanOptions, PlannedChange, PreviousSnapshot, ProjectFiles, Reach,
    ReadAgents, ReadConversation, ReadConversationError, ReadError, ReadOptions, ReadSettings,
    Reading, RecordRules, Resources, RestoreError, RestoreSource, Role, RowEmbedder, RowVectors,
    Runtime, RuntimeSetting, RuntimeSettings, SERVE_ARGUMENT, SampleAgent, SampleFile,
    SampleInstall, SealSecret, SearchAgents, SearchIndexState, Searchable, SearchableRecord,
    SearchedFile, SearchedFolder, SecretPolicy, ServeDatabaseError, SessionCounts, SettingKey,
    SettingName, SettingUse, SettingValue, Severity, StagingWatch, Step, StepKind, Store,
    StoreKind, Suggestion, TextTimes, ToolForm, ToolWords, Unchanged, UnsearchedCounts,
    UsualPlaces, VectorOf, WantedModel, Warning, WorkspaceFiles, apply, connect, digest_of,
    excerpt_shapes, is_kept, mapping, name_of, native_chunkers, native_tools, noted_agent_id,
    ranking_profiles, recover_leftovers, serve_database, timestamp, vectors_in, without_private,
};
#[cfg(any(test, feature = "fuzzing"))]
#[doc(hidden)]
pub use openclaw::law_tests as openclaw_laws;
pub use openclaw::sample::SAMPLE_INSTALL;
#[cfg(any(test, feature = "fuzzing"))]
#[doc(hidden)]
pub use zeroclaw::law_tests as zeroclaw_laws;

/// Every supported program; adding one takes a folder and a line here. The first that has agents
/// takes any folder that no runtime recognizes.
pub static RUNTIMES: &[&Runtime] =
    &[&claude_code::CLAUDE_CODE, &openclaw::OPENCLAW, &zeroclaw::ZEROCLAW, &codex::CODEX];

/// The program whose hooks call Anemone.
pub const HOOK_CALLER: &HookCaller = &claude_code::hooks::HOOK_CALLER;

/// The runtime to which the sample agent moves.
pub const SAMPLE_TARGET: &str = zeroclaw::RUNTIME;

/// Returns how each program that can be connected is connected, in the order of help texts.
pub fn connects() -> impl Iterator<Item = &'static connect::Connect> {
    RUNTIMES.iter().filter_map(|runtime| runtime.connect)
}

/// Returns every runtime that has agents of its own.
pub fn with_agents() -> impl Iterator<Item = &'static Runtime> {
    RUNTIMES.iter().copied().filter(|runtime| runtime.has_agents())
}

/// Returns the runtime whose layout is used for a folder of Markdown without an agent.
///
/// # Panics
///
/// Never: some runtime has agents.
#[must_use]
pub fn of_plain_folders() -> &'static Runtime {
    with_agents().next().expect("some runtime has agents")
}

/// Returns what a runtime puts before a session; if it has no rules, the rules of a plain folder.
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

/// Returns the runtime with agents that has this name.
#[must_use]
pub fn by_name(name: &str) -> Option<&'static Runtime> {
    with_agents().find(|runtime| runtime.name == name)
}

/// Returns what every version of every runtime puts before a session.
pub fn context_rules() -> impl Iterator<Item = &'static ContextRules> {
    RUNTIMES.iter().flat_map(|runtime| runtime.contexts).copied()
}

/// Reads the end of a transcript in a file, whichever program wrote it.
pub fn read_transcript(path: &Path, reach: Reach) -> Result<Conversation, ReadConversationError> {
    let formats: Vec<_> = RUNTIMES.iter().filter_map(|runtime| runtime.transcripts).collect();
    kit::conversation::read_path(&formats, path, reach)
}

#[cfg(test)]
mod example_tests;
#[cfg(test)]
mod transcript_tests;

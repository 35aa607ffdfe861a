//! What ZeroClaw puts before a session, as it composes for its channels.

use anemone_memory::{ContextRules, Cutting, DailyNotes, NoteForm, SessionKind};

use super::RUNTIME;

/// The rules of every version.
static CHANNELS: ContextRules = ContextRules {
    name: RUNTIME,
    about: "ZeroClaw: 20,000 characters of each file",
    files: &[
        "AGENTS.md",
        "SOUL.md",
        "TOOLS.md",
        "IDENTITY.md",
        "USER.md",
        "BOOTSTRAP.md",
        "MEMORY.md",
    ],
    optional: &["BOOTSTRAP.md"],
    only: &[("HEARTBEAT.md", SessionKind::Heartbeat)],
    subagent: None,
    cron: None,
    curated_in_any_case: true,
    limit: 20_000,
    limits: &[],
    total: usize::MAX,
    audits_total: false,
    notes: DailyNotes::LeftToAgent,
    note_form: NoteForm::Gen9,
    cutting: Cutting::Beginning,
    tells_unreadable: false,
    missing: |_, path| format!("[File not found: {path}]"),
    opening: "",
    section: |_, path, content| format!("### {path}\n\n{content}\n\n"),
};

/// The rules of all versions.
pub(super) const ALL: &[&ContextRules] = &[&CHANNELS];

/// Returns the rules of an install, which are those of every version.
pub(super) fn of(_generation: Option<&str>) -> &'static ContextRules {
    &CHANNELS
}

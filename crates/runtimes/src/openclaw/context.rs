//! What OpenClaw puts before a session: as it was first described, in 2026.3, and since 2026.9.

use std::path::Path;

use anemone_memory::{ContextRules, Cutting, DailyNotes, NoteForm, SessionKind};

use super::discover::GEN_3;

/// What an agent that was started for a task, or a scheduled job, sees in 2026.3.
const MARCH_TASK: &[&str] = &["AGENTS.md", "TOOLS.md", "SOUL.md", "IDENTITY.md", "USER.md"];

/// The file that the gateway has the agent carry out when it starts.
const BOOT: (&str, SessionKind) = ("BOOT.md", SessionKind::Boot);

/// OpenClaw as it was first described. Later versions put `HEARTBEAT.md` and `BOOTSTRAP.md` before
/// every session in which they exist.
static SEED: ContextRules = ContextRules {
    name: "seed",
    about: "OpenClaw as first described: 24,000 characters, with today's and yesterday's log",
    files: &["AGENTS.md", "SOUL.md", "USER.md", "TOOLS.md", "IDENTITY.md", "MEMORY.md"],
    optional: &[],
    only: &[("BOOTSTRAP.md", SessionKind::First), ("HEARTBEAT.md", SessionKind::Heartbeat), BOOT],
    subagent: Some(&["AGENTS.md", "TOOLS.md"]),
    cron: Some(&["AGENTS.md"]),
    curated_in_any_case: true,
    limit: 20_000,
    limits: &[],
    total: 24_000,
    audits_total: false,
    notes: DailyNotes::Whole,
    note_form: NoteForm::Gen3,
    cutting: Cutting::Shares,
    tells_unreadable: true,
    missing,
    opening: "# Project Context\n\n",
    section: |root, path, content| format!("## {}\n\n{content}\n\n", root.join(path).display()),
};

/// OpenClaw 2026.3.
static MARCH: ContextRules = ContextRules {
    name: "2026.3",
    about: "OpenClaw 2026.3: 150,000 characters",
    files: &[
        "AGENTS.md",
        "SOUL.md",
        "TOOLS.md",
        "IDENTITY.md",
        "USER.md",
        "HEARTBEAT.md",
        "BOOTSTRAP.md",
        "MEMORY.md",
    ],
    optional: &[],
    only: &[BOOT],
    subagent: Some(MARCH_TASK),
    cron: Some(MARCH_TASK),
    curated_in_any_case: true,
    limit: 20_000,
    limits: &[],
    total: 150_000,
    audits_total: true,
    notes: DailyNotes::LeftToAgent,
    note_form: NoteForm::Gen3,
    cutting: Cutting::Shares,
    tells_unreadable: false,
    missing,
    // It leaves out every empty line of its own.
    opening: "# Project Context\n",
    section: |root, path, content| format!("## {}\n{content}\n", root.join(path).display()),
};

/// OpenClaw 2026.9, which reads the curated file only under its name in capitals.
pub(crate) static SEPTEMBER: ContextRules = ContextRules {
    name: "2026.9",
    about: "OpenClaw 2026.9: 60,000 characters, with logs of two days",
    files: &["AGENTS.md", "SOUL.md", "IDENTITY.md", "USER.md", "BOOTSTRAP.md", "MEMORY.md"],
    optional: &["USER.md"],
    only: &[("HEARTBEAT.md", SessionKind::Heartbeat), BOOT],
    subagent: Some(&["AGENTS.md"]),
    cron: Some(&["AGENTS.md", "SOUL.md", "IDENTITY.md", "USER.md"]),
    curated_in_any_case: false,
    limit: 20_000,
    limits: &[("USER.md", 4_000)],
    total: 60_000,
    audits_total: true,
    notes: DailyNotes::Excerpts,
    note_form: NoteForm::Gen9,
    cutting: Cutting::Fitted,
    tells_unreadable: true,
    missing,
    opening: "# Project Context\n\n",
    section: |root, path, content| {
        format!("## {}\n\n{}\n\n", root.join(path).display(), without_gaps(content))
    },
};

/// The rules of all versions, the oldest first.
pub(super) const ALL: &[&ContextRules] = &[&SEED, &MARCH, &SEPTEMBER];

/// Returns the rules of an install of a generation.
pub(super) fn of(generation: Option<&str>) -> &'static ContextRules {
    if generation == Some(GEN_3) { &MARCH } else { &SEPTEMBER }
}

fn missing(root: &Path, path: &str) -> String {
    format!("[MISSING] Expected at: {}", root.join(path).display())
}

/// Returns a text with at most one empty line in a row.
fn without_gaps(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut breaks = 0;
    for c in text.chars() {
        breaks = if c == '\n' { breaks + 1 } else { 0 };
        if breaks <= 2 {
            kept.push(c);
        }
    }
    kept
}

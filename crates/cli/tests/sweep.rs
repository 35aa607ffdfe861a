//! Faults at the steps of every command that writes: a kill, an I/O error, a full disk, a write
//! that is cut short.
//!
//! Each scenario prepares an agent and runs its command undisturbed, which gives the trees to
//! compare with. Then it runs the command from the same start with a fault at one file-changing
//! system call, looks at the whole tree, lets a later command recover, runs the command again, and
//! compares once more. Commands that recover are also disturbed while they do.
//!
//! `cargo test` tries a sample of the calls, `ANEMONE_SLOW=faults` a larger one, `just sweep` all.
//! The calls are counted over all threads and children, see `anemone_testkit::faults`.

#![cfg(all(target_os = "linux", target_arch = "x86_64"))]

#[path = "sweep/case.rs"]
mod case;
#[path = "sweep/reads.rs"]
mod reads;
#[path = "sweep/scenario.rs"]
mod scenario;

use scenario::Scenario;

/// An agent of OpenClaw's with a few of every kind of file.
const OPENCLAW: [(&str, &str); 10] = [
    ("work/ws/AGENTS.md", "# Rules\n\nRead first, then answer.\n"),
    ("work/ws/SOUL.md", "# Soul\n\nCalm and curious.\n"),
    ("work/ws/IDENTITY.md", "# Identity\n\n- **Name:** Nia\n"),
    ("work/ws/USER.md", "# User\n\n- **Name:** Lin\n"),
    ("work/ws/TOOLS.md", "# Tools\n\nThe printer is upstairs.\n"),
    ("work/ws/MEMORY.md", MEMORY),
    ("work/ws/memory/2026-01-02.md", OLD_LOG),
    ("work/ws/memory/2026-01-03.md", "# 2026-01-03\n\n- [context|i=0.2] it snowed\n"),
    ("work/ws/memory/2026-11-15.md", "# 2026-11-15\n\n- We met at the river.\n- **gate**: red\n"),
    ("work/ws/plans/boat.txt", "One mast, two sails.\n"),
];

const MEMORY: &str = "# MEMORY.md\n\n- **tea**: Lin drinks green tea.\n- **gate**: blue\n";
const OLD_LOG: &str =
    "# 2026-01-02\n\n- [context|i=0.2] it rained\n- [decision|i=0.9] the bridge stays\n";

/// An install of ZeroClaw's that remembers in a database.
const ZEROCLAW: [(&str, &str); 3] = [
    ("work/zc/config.toml", "schema_version = 3\n\n[agents.default]\nmodel_provider = \"x\"\n"),
    ("work/zc/agents/default/workspace/IDENTITY.md", "# Nia\n"),
    ("work/zc/data/memory/keep", ""),
];

const IN_OPENCLAW: [&str; 4] = ["-r", "openclaw", "-w", "ws"];
const IN_ZEROCLAW: [&str; 4] = ["-r", "zeroclaw", "-w", "zc"];

/// Another fact that a later command remembers, in Markdown and in rows.
const LATER: &[&str] = &["remember", "-r", "openclaw", "-w", "ws", "The walnut tree was felled."];
const LATER_ROW: &[&str] =
    &["remember", "-r", "zeroclaw", "-w", "zc", "The walnut tree was felled."];

fn openclaw(name: &'static str, command: &[&str]) -> Scenario {
    Scenario::new(name, &OPENCLAW, command)
}

fn zeroclaw(name: &'static str, command: &[&str]) -> Scenario {
    Scenario::new(name, &ZEROCLAW, command)
}

fn with<'a>(words: &[&'a str], more: &[&'a str]) -> Vec<&'a str> {
    words.iter().chain(more).copied().collect()
}

#[test]
fn export() {
    openclaw("export", &["export", "-w", "ws", "-o", "out.alf"])
        .again(&["export", "-w", "ws", "-o", "out.alf", "--force"])
        .sweep();
}

#[test]
fn export_over_an_existing_archive() {
    openclaw("export --force", &["export", "-w", "ws", "-o", "out.alf", "--force"])
        .after(&["export", "-w", "ws", "-o", "out.alf"])
        .writing("work/ws/MEMORY.md", "# MEMORY.md\n\n- One more mast.\n")
        .sweep();
}

#[test]
fn import_into_an_empty_place() {
    openclaw("import", &["import", "-r", "openclaw", "-w", "new", "out.alf"])
        .after(&["export", "-w", "ws", "-o", "out.alf"])
        .sweep();
}

#[test]
fn import_over_other_files() {
    let words = ["import", "-r", "openclaw", "-w", "ws", "out.alf", "--on-conflict", "theirs"];
    openclaw("import --on-conflict theirs", &words)
        .after(&["export", "-w", "ws", "-o", "out.alf"])
        .writing("work/ws/MEMORY.md", "# MEMORY.md\n\n- Mine.\n")
        .writing("work/ws/TOOLS.md", "# Tools\n\nMine too.\n")
        .keeping_originals()
        .sweep();
}

#[test]
fn import_into_zeroclaw() {
    openclaw("import -r zeroclaw", &["import", "-r", "zeroclaw", "-w", "zc", "out.alf"])
        .after(&["export", "-w", "ws", "-o", "out.alf"])
        .sweep();
}

#[test]
fn import_into_an_existing_zeroclaw() {
    openclaw("import -r zeroclaw, again", &["import", "-r", "zeroclaw", "-w", "zc", "more.alf"])
        .after(&["export", "-w", "ws", "-o", "out.alf"])
        .after(&["import", "-r", "zeroclaw", "-w", "zc", "out.alf"])
        .after(LATER)
        .after(&["export", "-w", "ws", "-o", "more.alf"])
        .sweep();
}

const TO_ZEROCLAW: [&str; 7] =
    ["migrate", "--from", "openclaw:ws", "--to", "zeroclaw:zc", "--snapshots", "snapshots"];

#[test]
fn migrate_to_zeroclaw() {
    openclaw("migrate to zeroclaw", &TO_ZEROCLAW).sweep();
}

#[test]
fn migrate_back_to_openclaw() {
    let words =
        ["migrate", "--from", "zeroclaw:zc", "--to", "openclaw:back", "--snapshots", "snapshots"];
    openclaw("migrate back", &words).after(&TO_ZEROCLAW).sweep();
}

#[test]
fn remember() {
    let words = with(&["remember"], &IN_OPENCLAW);
    openclaw("remember", &with(&words, &["The boat is blue."])).later(LATER).sweep();
}

#[test]
fn remember_in_the_curated_file() {
    let words = with(&["remember", "--curated"], &IN_OPENCLAW);
    openclaw("remember --curated", &with(&words, &["The boat is blue."])).later(LATER).sweep();
}

#[test]
fn remember_in_rows() {
    let words = with(&["remember"], &IN_ZEROCLAW);
    zeroclaw("remember in rows", &with(&words, &["The sea is green."]))
        .after(&REMEMBER_BOAT_ROW)
        .later(LATER_ROW)
        .sweep();
}

#[test]
fn forget() {
    let words = with(&["forget", "--key", "gate", "--yes"], &IN_OPENCLAW);
    openclaw("forget", &words).later(LATER).sweep();
}

#[test]
fn forget_in_rows() {
    let words = with(&["forget", "--key", "boat", "--yes"], &IN_ZEROCLAW);
    zeroclaw("forget in rows", &words).after(&REMEMBER_BOAT_ROW).later(LATER_ROW).sweep();
}

const REMEMBER_BOAT: [&str; 8] =
    ["remember", "-r", "openclaw", "-w", "ws", "--key", "boat", "The boat has a teal hull."];
const REMEMBER_BOAT_ROW: [&str; 8] =
    ["remember", "-r", "zeroclaw", "-w", "zc", "--key", "boat", "The boat has a teal hull."];

#[test]
fn forget_for_good() {
    let words = with(&["forget", "--key", "boat", "--yes", "--for-good"], &IN_OPENCLAW);
    openclaw("forget --for-good", &words)
        .after(&REMEMBER_BOAT)
        .after(&with(&["index"], &IN_OPENCLAW))
        .later(LATER)
        .erasing("teal hull")
        .sweep();
}

#[test]
fn forget_rows_for_good() {
    let words = with(&["forget", "--key", "boat", "--yes", "--for-good"], &IN_ZEROCLAW);
    zeroclaw("forget rows --for-good", &words)
        .after(&REMEMBER_BOAT_ROW)
        .later(LATER_ROW)
        .erasing("teal hull")
        .sweep();
}

#[test]
fn undo() {
    openclaw("undo", &with(&["undo"], &IN_OPENCLAW))
        .after(&REMEMBER_BOAT)
        .later(LATER)
        .once()
        .sweep();
}

#[test]
fn undo_of_a_forget() {
    openclaw("undo of a forget", &with(&["undo"], &IN_OPENCLAW))
        .after(&with(&["forget", "--key", "gate", "--yes"], &IN_OPENCLAW))
        .later(LATER)
        .once()
        .sweep();
}

#[test]
fn undo_in_rows() {
    zeroclaw("undo in rows", &with(&["undo"], &IN_ZEROCLAW))
        .after(&REMEMBER_BOAT_ROW)
        .later(LATER_ROW)
        .once()
        .sweep();
}

#[test]
fn tidy() {
    openclaw("tidy", &with(&["tidy", "--apply"], &IN_OPENCLAW)).later(LATER).sweep();
}

#[test]
fn session_end() {
    let words = ["hook", "session-end", "-r", "openclaw", "-w", "ws", "--transcript", "s1.jsonl"];
    openclaw("hook session-end", &words)
        .writing("work/s1.jsonl", TRANSCRIPT)
        .later(LATER)
        .hook()
        .sweep();
}

const TRANSCRIPT: &str = r#"{"type":"session","version":3,"id":"s1"}
{"type":"message","__openclaw":{"senderIsOwner":true},"message":{"role":"user","content":[{"type":"text","text":"We moved the boat to the north harbour. The berth is number nine."}]}}
{"type":"message","message":{"role":"assistant","content":[{"type":"text","text":"Noted: north harbour, berth nine."}]}}
{"type":"message","__openclaw":{"senderIsOwner":true},"message":{"role":"user","content":[{"type":"text","text":"The harbour master is called Ilse, and she wants the fee in cash."}]}}
{"type":"message","message":{"role":"assistant","content":[{"type":"text","text":"Ilse, fee in cash."}]}}
"#;

#[test]
fn index() {
    openclaw("index", &with(&["index"], &IN_OPENCLAW)).later(LATER).sweep();
}

#[test]
fn index_again() {
    openclaw("index, again", &with(&["index"], &IN_OPENCLAW))
        .after(&with(&["index"], &IN_OPENCLAW))
        .after(LATER)
        .sweep();
}

/// The programs that can be connected, with a configuration of each.
const PROGRAMS: [(&str, &str, &str); 4] = [
    ("claude-code", "home/.claude/settings.json", "{\n  \"env\": { \"A\": \"b\" }\n}\n"),
    ("codex", "home/.codex/config.toml", "model = \"x\" # good\n"),
    ("openclaw", "home/.openclaw/openclaw.json", "{\n  // Mine.\n  gateway: { port: 18789 },\n}\n"),
    (
        "zeroclaw",
        "home/.zeroclaw/config.toml",
        "schema_version = 3\n\n[agents.ada]\nmodel_provider = \"x\"\n",
    ),
];

#[test]
fn connect() {
    for (program, config, text) in PROGRAMS {
        let words = ["connect", program, "-w", "ws", "--program", "/opt/anemone"];
        openclaw(program, &words).writing(config, text).sweep();
    }
}

#[test]
fn disconnect() {
    for (program, config, text) in PROGRAMS {
        openclaw(program, &["disconnect", program])
            .writing(config, text)
            .after(&["connect", program, "-w", "ws", "--program", "/opt/anemone"])
            .sweep();
    }
}

/// Commands that make one file of others.
#[test]
fn archives() {
    let commands: [&[&str]; 5] = [
        &["delta", "one.alf", "two.alf", "-o", "out.alf-delta"],
        &["apply", "one.alf", "one-to-two.alf-delta", "-o", "out.alf"],
        &["export", "-w", "ws", "--since", "one.alf", "-o", "out.alf-delta"],
        &["encrypt", "one.alf", "--passphrase-file", "passphrase", "-o", "out.age"],
        &["vault", "keygen", "-o", "key"],
    ];
    for command in commands {
        // The first run may have been whole, although it was ended before it could say so.
        openclaw(command[0], command)
            .again(&with(command, &["--force"]))
            .writing("work/passphrase", "seven grey geese\n")
            .after(&["export", "-w", "ws", "-o", "one.alf"])
            .after(LATER)
            .after(&["export", "-w", "ws", "-o", "two.alf"])
            .after(&["delta", "one.alf", "two.alf", "-o", "one-to-two.alf-delta"])
            .sweep();
    }
}

#[test]
fn purge() {
    let record = "1d93a526-85b1-5b5b-9ac8-2fcc8749633d";
    openclaw("purge", &["purge", "tour/march.alf", "--record", record, "-o", "out.purged"])
        .after(&["demo", "--keep", "tour"])
        .sweep();
}

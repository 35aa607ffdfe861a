//! Help and version.

use std::collections::BTreeSet;

use crate::environment::TestEnvironment;

/// Flags that every command has.
const GLOBAL: &[&str] = &["--json", "--human", "--identity", "--passphrase-file", "--help"];

/// Commands that read nothing sealed: their help does not show the flags for keys, which they take.
const NOTHING_SEALED: &[&str] = &[
    "status",
    "agents",
    "check",
    "remember",
    "undo",
    "context",
    "hook",
    "tidy",
    "connect",
    "disconnect",
    "model",
    "config",
    "vault",
    "install",
    "completions",
    "man",
];

/// What each command takes besides; programs rely on these names.
const COMMANDS: &[(&[&str], &[&str])] = &[
    (&[], &["--version"]),
    (&["status"], &["--workspace"]),
    (&["agents"], &["--runtime"]),
    (&["check"], &["--runtime", "--workspace", "--agent"]),
    (
        &["search"],
        &[
            "--in",
            "--runtime",
            "--workspace",
            "--agent",
            "--sessions",
            "--private",
            "--index-dir",
            "--limit",
            "--since",
            "--until",
            "--type",
            "--namespace",
            "--path",
            "--chars",
            "--recency",
            "--importance",
            "--diversity",
            "--profile",
            "--min-score",
            "--vector-weight",
            "--text-weight",
            "--candidate-multiplier",
            "--chunk-tokens",
            "--chunk-overlap",
            "--citations",
            "--session",
            "--explain",
            "--embedder",
            "--embedder-url",
            "--yes",
        ],
    ),
    (
        &["get"],
        &[
            "--runtime",
            "--workspace",
            "--agent",
            "--sessions",
            "--private",
            "--index-dir",
            "--from",
            "--lines",
            "--chars",
            "--shape",
        ],
    ),
    (
        &["remember"],
        &[
            "--file",
            "--runtime",
            "--workspace",
            "--agent",
            "--index-dir",
            "--key",
            "--type",
            "--category",
            "--importance",
            "--tag",
            "--source",
            "--session",
            "--supersedes",
            "--curated",
            "--force",
            "--redact",
            "--dry-run",
        ],
    ),
    (
        &["undo"],
        &[
            "--runtime",
            "--workspace",
            "--agent",
            "--index-dir",
            "--list",
            "--skip",
            "--clear",
            "--yes",
            "--dry-run",
        ],
    ),
    (
        &["list"],
        &[
            "--runtime",
            "--workspace",
            "--agent",
            "--index-dir",
            "--day",
            "--since",
            "--until",
            "--key",
            "--type",
            "--origin",
            "--limit",
            "--offset",
        ],
    ),
    (
        &["index"],
        &[
            "--runtime",
            "--workspace",
            "--agent",
            "--sessions",
            "--private",
            "--index-dir",
            "--rebuild",
            "--watch",
            "--list",
            "--prune",
            "--dry-run",
            "--drop",
            "--chunks",
            "--chunking",
            "--embedder",
            "--embedder-url",
            "--reembed",
            "--yes",
        ],
    ),
    (
        &["context"],
        &[
            "--runtime",
            "--workspace",
            "--agent",
            "--index-dir",
            "--session",
            "--generation",
            "--tokens",
            "--chars",
            "--logs",
            "--tools",
            "--citations",
            "--query",
            "--explain",
        ],
    ),
    (
        &["tidy"],
        &[
            "--runtime",
            "--workspace",
            "--agent",
            "--index-dir",
            "--apply",
            "--dry-run",
            "--promote",
            "--promote-all",
        ],
    ),
    (&["audit"], &["--runtime", "--workspace", "--agent", "--index-dir", "--min-score"]),
    (
        &["eval"],
        &[
            "--runtime",
            "--workspace",
            "--agent",
            "--sessions",
            "--private",
            "--index-dir",
            "--queries",
            "--category",
            "--limit",
            "--chars",
            "--recency",
            "--importance",
            "--diversity",
            "--profile",
            "--min-score",
            "--vector-weight",
            "--text-weight",
            "--candidate-multiplier",
            "--chunk-tokens",
            "--chunk-overlap",
            "--embedder",
            "--embedder-url",
            "--yes",
            "--misses",
        ],
    ),
    (&["model"], &[]),
    (&["model", "list"], &[]),
    (&["model", "show"], &[]),
    (&["model", "add"], &["--unpinned", "--dry-run"]),
    (&["model", "get"], &["--url", "--dry-run"]),
    (&["model", "remove"], &["--dry-run"]),
    (&["validate"], &["--accept-edited"]),
    (&["inspect"], &["--records", "--limit", "--accept-edited"]),
    (&["diff"], &[]),
    (&["delta"], &["--output", "--dry-run", "--force", "--plain", "--recipient"]),
    (&["apply"], &["--output", "--dry-run", "--force", "--plain", "--recipient"]),
    (
        &["export"],
        &[
            "--runtime",
            "--workspace",
            "--agent",
            "--output",
            "--dry-run",
            "--force",
            "--allow-empty",
            "--since",
            "--sessions",
            "--private",
            "--credentials",
            "--vault-key",
            "--artifact-threshold",
            "--allow-secrets",
            "--allow-secret",
            "--redact-secrets",
            "--write-agent-id",
            "--recipient",
        ],
    ),
    (
        &["import"],
        &[
            "--runtime",
            "--workspace",
            "--agent",
            "--accept-edited",
            "--dry-run",
            "--on-conflict",
            "--backend",
            "--layout",
            "--vault-key",
        ],
    ),
    (
        &["migrate"],
        &[
            "--from",
            "--to",
            "--agent",
            "--to-agent",
            "--dry-run",
            "--verbose",
            "--on-conflict",
            "--backend",
            "--layout",
            "--private",
            "--credentials",
            "--snapshots",
        ],
    ),
    (
        &["purge"],
        &[
            "--record",
            "--drop-file",
            "--reason",
            "--requested-by",
            "--output",
            "--dry-run",
            "--force",
            "--plain",
            "--recipient",
        ],
    ),
    (&["encrypt"], &["--recipient", "--output", "--force"]),
    (&["decrypt"], &["--output", "--force", "--max-work-factor"]),
    (&["vault"], &[]),
    (&["vault", "keygen"], &["--output", "--age", "--force"]),
    (
        &["forget"],
        &[
            "--runtime",
            "--workspace",
            "--agent",
            "--index-dir",
            "--key",
            "--id",
            "--query",
            "--session",
            "--since",
            "--until",
            "--limit",
            "--dry-run",
            "--yes",
            "--for-good",
        ],
    ),
    (
        &["connect"],
        &[
            "--runtime",
            "--workspace",
            "--agent",
            "--source",
            "--allow-write",
            "--hooks",
            "--project",
            "--to",
            "--program",
            "--dry-run",
        ],
    ),
    (&["disconnect"], &["--project", "--all", "--dry-run"]),
    (&["hook"], &[]),
    (
        &["hook", "session-start"],
        &[
            "--runtime",
            "--workspace",
            "--agent",
            "--index-dir",
            "--chars",
            "--session-kind",
            "--tools",
            "--citations",
        ],
    ),
    (
        &["hook", "session-end"],
        &[
            "--runtime",
            "--workspace",
            "--agent",
            "--index-dir",
            "--transcript",
            "--session",
            "--messages",
            "--form",
            "--reason",
            "--timezone",
            "--chat-url",
            "--chat-model",
            "--chat-key-file",
            "--chat-timeout",
            "--always",
            "--dry-run",
        ],
    ),
    (
        &["hook", "pre-compact"],
        &[
            "--runtime",
            "--workspace",
            "--agent",
            "--index-dir",
            "--transcript",
            "--session",
            "--context-window",
            "--tokens",
            "--compaction-count",
            "--compacting",
            "--cli-provider",
            "--heartbeat",
            "--read-only",
            "--direct",
            "--timezone",
            "--chat-url",
            "--chat-model",
            "--chat-key-file",
            "--chat-timeout",
            "--dry-run",
        ],
    ),
    (
        &["hook", "prompt"],
        &[
            "--runtime",
            "--workspace",
            "--agent",
            "--index-dir",
            "--message",
            "--session-kind",
            "--enable",
        ],
    ),
    (
        &["hook", "turn-end"],
        &[
            "--runtime",
            "--workspace",
            "--agent",
            "--index-dir",
            "--transcript",
            "--session",
            "--message",
            "--enable",
            "--timezone",
            "--dry-run",
        ],
    ),
    (&["config"], &["--init", "--default"]),
    (&["config", "explain"], &["--all", "--runtime", "--workspace", "--agent"]),
    (&["demo"], &["--keep"]),
    (
        &["mcp"],
        &[
            "--runtime",
            "--workspace",
            "--agent",
            "--sessions",
            "--private",
            "--index-dir",
            "--allow-write",
            "--tools",
            "--citations",
            "--http",
            "--token-file",
            "--host",
            "--origin",
        ],
    ),
    (&["install"], &["--dry-run", "--prefix", "--alf", "--bin", "--remove", "--force"]),
    (&["completions"], &[]),
    (&["man"], &["--output"]),
];

#[test]
fn help_of_every_command_lists_its_flags_and_no_others() {
    let environment = TestEnvironment::new();
    for (command, flags) in COMMANDS {
        for help in ["-h", "--help"] {
            let ran = environment.run(command.iter().copied().chain([help]));
            assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{command:?} {help}");
            let listed: BTreeSet<&str> = ran.stdout.lines().filter_map(flag_of).collect();
            let mut expected: BTreeSet<&str> = flags.iter().chain(GLOBAL).copied().collect();
            if command.first().is_some_and(|command| NOTHING_SEALED.contains(command)) {
                expected.retain(|expected| !["--identity", "--passphrase-file"].contains(expected));
            }
            assert_eq!(listed, expected, "{command:?} {help}");
        }
    }
}

/// Returns the long flag that a line of help is about.
fn flag_of(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let line = if line.starts_with("--") { line } else { line.split_once(", ")?.1 };
    let end = line.find(|c: char| c != '-' && !c.is_ascii_lowercase()).unwrap_or(line.len());
    line.starts_with("--").then_some(&line[..end])
}

#[test]
fn global_options_stand_apart_and_work_where_help_does_not_show_them() {
    let environment = TestEnvironment::new();
    let help = environment.run(["remember", "--help"]).stdout;
    let (own, global) = help.split_once("Global options:").expect("there is a heading");
    assert!(!own.contains("--json") && global.contains("--json"), "{help}");
    assert!(!help.contains("Sealed archives"), "{help}");
    let help = environment.run(["inspect", "--help"]).stdout;
    assert!(help.contains("Sealed archives"), "{help}");
    environment.json(["-i", "key.txt", "config"]);
    environment.json(["config", "-i", "key.txt"]);
    environment.json(["hook", "turn-end", "--message", "x", "-i", "key.txt"]);
}

#[test]
fn help_of_every_command_says_what_it_is_for_and_fits_the_width() {
    let environment = TestEnvironment::new();
    for (command, _) in COMMANDS {
        let ran = environment.run(command.iter().copied().chain(["--help"]));
        let first = ran.stdout.lines().next().unwrap();
        assert!(first.len() > 15 && !first.starts_with("Usage"), "{command:?}: {first}");
        for line in ran.stdout.lines() {
            assert!(line.chars().count() <= 100, "{command:?}: {line}");
        }
    }
}

#[test]
fn help_lists_every_command() {
    let environment = TestEnvironment::new();
    let help = environment.run(["--help"]).stdout;
    for (command, _) in COMMANDS {
        if let [name] = command {
            let line = format!("  {name} ");
            assert!(help.lines().any(|other| other.starts_with(&line)), "{name} in {help}");
        }
    }
    let listed = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let listed = listed
        .take_while(|listed| !listed.is_empty())
        .filter(|listed| listed.starts_with("  ") && !listed.starts_with("   "));
    let names = COMMANDS.iter().filter(|(command, _)| command.len() == 1).count();
    assert_eq!(listed.count(), names + 1, "all commands and `help`");
    assert_eq!(
        environment.run(["help", "apply"]).stdout,
        environment.run(["apply", "--help"]).stdout
    );
}

#[test]
fn help_names_the_exit_codes_and_the_variables() {
    let help = TestEnvironment::new().run(["--help"]).stdout;
    for word in
        ["0 done", "1 failed", "2 wrong usage", "3 conflict", "ALF_HUMAN", "ANEMONE_PASSPHRASE"]
    {
        let flat = help.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(flat.contains(word), "{word}: {help}");
    }
}

#[test]
fn version_is_that_of_the_package() {
    let environment = TestEnvironment::new();
    for flag in ["--version", "-V"] {
        let ran = environment.run([flag]);
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
        assert_eq!(ran.stdout, concat!("anemone ", env!("CARGO_PKG_VERSION"), "\n"));
    }
}

#[test]
fn what_people_try_first_leads_to_what_they_mean() {
    let environment = TestEnvironment::new();
    environment.write_below("ws/MEMORY.md", "- tea\n");
    for (args, tip) in [
        (&["forget", "MEMORY.md#L3"][..], "anemone forget --id 'MEMORY.md#L3'"),
        (&["forget", "tea"], "--key tea"),
        (&["export", "ws"], "anemone export -w ws"),
        (&["recall", "tea"], "anemone search"),
        (&["version"], "anemone --version"),
    ] {
        let failure = environment.failure(2, args.iter().copied());
        let said = failure["error"].as_str().expect("it says what is wrong");
        assert!(said.contains(tip), "{args:?}: {said}");
    }
}

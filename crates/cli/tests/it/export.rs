//! `anemone export`: an OpenClaw agent as an archive.

#[path = "export/install.rs"]
mod install;
#[path = "export/odd.rs"]
mod odd;
#[path = "export/secrets.rs"]
mod secrets;

use std::process::Command;

use anemone_testkit::workspace::Workspace;
use serde_json::json;

use crate::environment::{TestEnvironment, fixture, program};
use crate::workspace::{Ground, export, fields, tree, with};

/// The secrets that the generator plants into an edge workspace.
const PLANTED: [&str; 2] = ["SECRETENV", "SECRETHIDDEN"];

/// Makes a place with an edge workspace.
fn edge() -> (TestEnvironment, Ground) {
    let ground = Ground::new();
    ground.generate("w", &Workspace::edge_cases());
    (TestEnvironment::new(), ground)
}

fn with_fixture(generation: &str) -> TestEnvironment {
    let environment = TestEnvironment::new();
    environment.copy_home(&fixture(&format!("openclaw/{generation}/.openclaw")), ".openclaw");
    environment
}

// Options.

#[test]
fn a_dry_run_lists_secrets() {
    let (environment, ground) = edge();
    let listed = export(&environment, &ground.path("w"), "a.alf", &["--dry-run"]);
    assert_eq!(fields(&listed["secrets"], "path"), [".env", "memory/.hidden-note.md"]);
    assert!(PLANTED.iter().all(|planted| !listed.to_string().contains(planted)));
}

#[test]
fn what_is_not_in_the_archive_cannot_be_overlooked() {
    let (environment, ground) = (TestEnvironment::new(), Ground::new());
    let workspace = ground.small("w");
    ground.write("w/notes/long.md", "# Long\n\nMarkdown of any size travels.\n");
    for number in 0..12 {
        ground.write(format!("w/papers/{number:02}.pdf"), vec![7; 100 + number]);
    }
    let small = ["--artifact-threshold", "20"];
    let exported = export(&environment, &workspace, "a.alf", &small);
    assert_eq!(fields(&exported["warnings"], "code"), ["not_in_archive"]);
    assert_eq!(exported["left_out"].as_array().unwrap().len(), 12);
    let shown = workspace.display().to_string();
    let args = [&["export", "-w", &shown, "-o", "b.alf"][..], &small].concat();
    let text = environment.human(args);
    for part in [
        "NOT IN THE ARCHIVE: 12 files (",
        "papers/09.pdf ([size]): larger than --artifact-threshold",
        "and 2 more",
        "--artifact-threshold 111",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(!text.contains("papers/10.pdf") && !text.contains("long.md"), "{text}");
    let all = ["--artifact-threshold", "111"];
    assert_eq!(export(&environment, &workspace, "c.alf", &all)["warnings"], json!([]));
}

#[test]
fn a_folder_that_is_no_agents_is_no_backup() {
    let (environment, ground) = (TestEnvironment::new(), Ground::new());
    let copyright = ground.write("doc/bash/copyright", "free");
    let folder = copyright.parent().unwrap().parent().unwrap().display().to_string();
    for more in [&[][..], &["--dry-run"]] {
        let args = [&["export", "-w", &folder, "-o", "a.alf"][..], more].concat();
        let failure = environment.failure(1, args);
        assert_eq!(failure["code"], "nothing_to_export");
        assert!(failure["hint"].as_str().unwrap().contains("--allow-empty"), "{failure}");
        assert!(!environment.exists("a.alf"));
    }
    environment.json(["export", "-w", &folder, "-o", "a.alf", "--allow-empty"]);
    environment.json(["validate", "a.alf"]);
}

/// Makes an install of OpenClaw with one agent and one conversation.
fn install(environment: &TestEnvironment, version: &str) {
    let config = format!("{{ meta: {{ lastTouchedVersion: '{version}' }} }}");
    environment.write_home(".openclaw/openclaw.json", config);
    environment.write_home(".openclaw/workspace/MEMORY.md", "# Memory\n\n## Tea\n\nOolong.\n");
    environment.write_home(".openclaw/agents/main/sessions/s1.jsonl", "{}\n");
}

#[test]
fn what_only_travels_on_request_is_listed_and_is_no_warning() {
    let environment = TestEnvironment::new();
    install(&environment, "2026.3.13");
    let exported = environment.json(["export", "-o", "a.alf"]);
    assert_eq!(exported["warnings"], json!([]));
    let listed = &exported["left_out_by_default"];
    assert_eq!(fields(listed, "kind"), ["transcripts", "settings"]);
    let transcripts = with(listed, "kind", "transcripts");
    assert_eq!((&transcripts["count"], &transcripts["bytes"]), (&json!(1), &json!(3)));
    assert_eq!(transcripts["include_with"], "--sessions");
    let text = environment.human(["export", "-o", "b.alf"]);
    assert!(text.contains("left out by default:\n    conversations: 1 file"), "{text}");
    let with_sessions = environment.json(["export", "-o", "c.alf", "--sessions"]);
    assert_eq!(fields(&with_sessions["left_out_by_default"], "kind"), ["settings"]);
}

// Which agent.

#[test]
fn the_one_agent_of_the_machine_needs_no_name() {
    let environment = TestEnvironment::new();
    let failure = environment.failure(1, ["export"]);
    assert_eq!(failure["code"], "agent_not_found");
    environment.write_home(".openclaw/workspace/SOUL.md", "# Me");
    let exported = environment.json(["export"]);
    assert_eq!(exported["output"], "main.alf", "named after the agent");
    assert!(environment.exists("main.alf"));
}

#[test]
fn of_two_agents_one_must_be_named() {
    let environment = TestEnvironment::new();
    environment.write_home(".openclaw/workspace/SOUL.md", "# Me");
    environment.write_home(".openclaw-work/workspace/SOUL.md", "# You");
    let failure = environment.failure(2, ["export", "-o", "a.alf"]);
    assert_eq!(failure["code"], "agent_selection_ambiguous");
    let causes = failure["causes"].to_string();
    for path in [".openclaw/workspace", ".openclaw-work/workspace"] {
        assert!(causes.contains(&environment.home(path).display().to_string()), "{failure}");
    }
    let exported = environment.json(["export", "-o", "a.alf", "--agent", "work/main"]);
    assert_eq!(exported["agent_name"], "You");
    let exported = environment.json(["export", "-o", "b.alf", "--agent", "main"]);
    assert_eq!(exported["agent_name"], "Me");
    let failure = environment.failure(1, ["export", "-o", "c.alf", "--agent", "nobody"]);
    assert_eq!(failure["code"], "agent_not_found");
    assert!(failure["hint"].as_str().unwrap().contains("main, work/main"), "{failure}");
    environment.failure(2, ["export", "-r", "nobody", "-o", "c.alf"]);
}

// What holds for all of it.

#[test]
fn two_exports_are_the_same_from_wherever_they_are_made() {
    let (environment, ground) = edge();
    let workspace = ground.path("w");
    export(&environment, &workspace, "a.alf", &["--allow-secrets"]);
    export(&environment, &workspace, "b.alf", &["--allow-secrets"]);
    let first = environment.read("a.alf");
    assert!(first == environment.read("b.alf"), "the same again");
    let mut elsewhere = environment.command();
    let output = environment.path("c.alf");
    elsewhere.current_dir(&workspace).args(["export", "-w", ".", "--allow-secrets", "-o"]);
    elsewhere.arg(&output).assert().success();
    assert!(first == environment.read("c.alf"), "from within the workspace");
    // One processor means one thread.
    let taskset = Command::new("taskset")
        .args(["-c", "0"])
        .arg(program())
        .args(["export", "--allow-secrets", "-w"])
        .arg(&workspace)
        .arg("-o")
        .arg(environment.path("d.alf"))
        .env_clear()
        .envs(environment.variables())
        .output();
    if taskset.is_ok_and(|taskset| taskset.status.success()) {
        assert!(first == environment.read("d.alf"), "with one thread");
    }
}

#[test]
fn reading_never_writes() {
    for generation in ["gen3", "gen9"] {
        let environment = with_fixture(generation);
        environment.json(["vault", "keygen", "-o", "key"]);
        let before = tree(&environment.home(".openclaw"));
        for args in [
            &["agents"][..],
            &["check", "-r", "openclaw"],
            &["export", "--sessions", "--credentials", "--vault-key", "key", "-o", "b.alf"],
        ] {
            environment.json(args);
            assert_eq!(tree(&environment.home(".openclaw")), before, "{args:?}");
        }
    }
}

#[test]
fn people_read_what_travels_and_what_does_not() {
    let (environment, ground) = edge();
    let workspace = ground.path("w").display().to_string();
    let small = ["--artifact-threshold", "100000"];
    let args = ["export", "-w", &workspace, "-o", "a.alf", "--allow-secrets"];
    let text = environment.human([&args[..], &small].concat());
    for part in ["Clawdia", "642 records", "node_modules", "big.bin", ".env:1", "wrote a.alf"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(PLANTED.iter().all(|planted| !text.contains(planted)), "{text}");
    let back = ground.path("back").display().to_string();
    let text = environment.human(["import", "-r", "openclaw", "-w", &back, "a.alf"]);
    for part in ["Clawdia", "big.bin", "642 records"] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn a_check_finds_the_planted_secrets_and_does_not_show_them() {
    let (environment, ground) = edge();
    let workspace = ground.path("w").display().to_string();
    let ran = environment.run(["check", "-r", "openclaw", "-w", &workspace]);
    assert!(PLANTED.iter().all(|planted| !ran.stdout.contains(planted)), "{}", ran.stdout);
    let secrets = ran.document()["secrets"].to_string();
    assert!(secrets.contains(".env") && secrets.contains("memory/.hidden-note.md"), "{secrets}");
}

#[test]
fn names_cannot_write_to_the_terminal() {
    let (environment, ground) = (TestEnvironment::new(), Ground::new());
    ground.write("w/evil\u{1b}[31m.log", "x");
    ground.write("w/memory/evil\u{1b}[31m.md", b"\xff");
    ground.write("w/SOUL.md", "# Evil\u{1b}[31m\n");
    ground.write("w/.alfignore", "*.log\n");
    let workspace = ground.path("w").display().to_string();
    let text = environment.human(["export", "-w", &workspace, "-o", "a.alf"]);
    assert!(!text.contains('\u{1b}'), "{text:?}");
    let back = ground.path("back").display().to_string();
    let text = environment.human(["import", "-r", "openclaw", "-w", &back, "a.alf", "--dry-run"]);
    assert!(!text.contains('\u{1b}'), "{text:?}");
}

#[test]
fn an_export_is_a_sound_archive() {
    let (environment, ground) = edge();
    export(&environment, &ground.path("w"), "a.alf", &["--allow-secrets"]);
    let report = environment.json(["validate", "a.alf"]);
    assert_eq!(report["valid"], true, "{report}");
    let shown = environment.json(["inspect", "a.alf"]);
    assert_eq!(shown["digest_sealed"], true, "{shown}");
    let recipient = environment.identity("identity");
    let sealed = export(
        &environment,
        &ground.path("w"),
        "sealed.alf",
        &["--allow-secrets", "--recipient", &recipient],
    );
    assert_eq!(sealed["output"], "sealed.alf");
    assert!(environment.read("sealed.alf").starts_with(crate::environment::AGE_MAGIC));
    environment.json(["decrypt", "sealed.alf", "-i", "identity", "-o", "open.alf"]);
    assert!(environment.read("open.alf") == environment.read("a.alf"));
}

#[test]
fn an_unchanged_export_still_says_what_does_not_travel_and_writes_the_id() {
    let (environment, ground) = (TestEnvironment::new(), Ground::new());
    let workspace = ground.small("w");
    ground.write("w/large.bin", vec![7; 200_000]);
    ground.write("w/node_modules/a.js", "x");
    let small = ["--artifact-threshold", "100000"];
    export(&environment, &workspace, "a.alf", &small);
    let more = [&["--since", "a.alf", "--write-agent-id"][..], &small].concat();
    let again = export(&environment, &workspace, "b.alf", &more);
    assert_eq!(again["no_changes"], true);
    assert_eq!(with(&again["left_out"], "path", "large.bin")["reason"], "referenced");
    assert_eq!(fields(&again["warnings"], "code"), ["not_in_archive"]);
    assert_eq!(with(&again["left_out"], "path", "node_modules")["reason"], "skipped");
    assert!(ground.path("w/.alf-agent-id").exists() && !environment.exists("b.alf"));
    let folder = workspace.to_str().unwrap();
    let text = environment.human([&["export", "-w", folder, "-o", "b.alf"][..], &more].concat());
    assert!(text.contains("nothing changed"), "{text}");
}

#[test]
#[cfg(target_os = "linux")]
fn a_folder_that_may_not_be_read_is_no_backup() {
    use std::os::unix::fs::PermissionsExt as _;
    let environment = TestEnvironment::new();
    environment.write_below("ws/MEMORY.md", "# Memory\n\n- Tea is green.\n");
    environment.write_below("ws/memory/2026-11-15.md", "- We met at the river.\n");
    let folder = environment.path("ws/memory");
    fs_err::set_permissions(&folder, std::fs::Permissions::from_mode(0o0)).unwrap();
    if fs_err::read_dir(&folder).is_ok() {
        anemone_testkit::skip("unprivileged", "root may read every folder");
        return;
    }
    let failure = environment.failure(1, ["export", "-r", "openclaw", "-w", "ws", "-o", "x.alf"]);
    assert_eq!(failure["code"], "unreadable");
    assert!(!environment.exists("x.alf"));
    environment.failure(1, ["check", "-r", "openclaw", "-w", "ws"]);
    environment.write("ws/.alfignore", "memory/\n");
    environment.json(["export", "-r", "openclaw", "-w", "ws", "-o", "x.alf"]);
    fs_err::set_permissions(&folder, std::fs::Permissions::from_mode(0o755)).unwrap();
}

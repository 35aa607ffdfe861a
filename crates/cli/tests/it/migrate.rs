//! `anemone migrate`

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use anemone_testkit::workspace::Workspace;
use serde_json::{Value, json};

use crate::environment::{TestEnvironment, fixture};
use crate::workspace::{Ground, assert_same_tree, export, tree, with};

fn args(from: &Path, to: &Path) -> Vec<String> {
    let place = |path: &Path| format!("openclaw:{}", path.to_str().expect("the path is UTF-8"));
    let words = ["migrate", "--from", &place(from), "--to", &place(to), "--snapshots", "snapshots"];
    words.map(str::to_owned).to_vec()
}

fn and(mut args: Vec<String>, more: &[&str]) -> Vec<String> {
    args.extend(more.iter().map(|more| (*more).to_owned()));
    args
}

/// Returns carried, degraded, kept aside, not carried and lost of a layer.
fn proved(document: &Value, layer: &str) -> [u64; 5] {
    let it = with(&document["proof"]["layers"], "layer", layer);
    ["carried", "degraded", "kept_aside", "not_carried", "lost"]
        .map(|name| it[name].as_u64().expect("it is a number"))
}

#[test]
fn an_agent_moves_whole_to_another_folder_of_its_runtime() {
    let (environment, ground) = (TestEnvironment::new(), Ground::new());
    let from = ground.small("old");
    let to = ground.path("new");
    let before = tree(&from);
    let moved = environment.json(args(&from, &to));
    assert_same_tree(&from, &to, &[], &[".alf-agent-id"]);
    assert!(tree(&from) == before, "the old one is as it was");
    assert_eq!(moved["dry_run"], false);
    assert_eq!(moved["from"]["runtime"], "openclaw");
    assert_eq!(moved["to"]["workspace"], to.to_str().expect("the path is UTF-8"));
    assert_eq!(proved(&moved, "memory"), [6, 0, 0, 0, 0]);
    assert_eq!(proved(&moved, "files"), [7, 0, 0, 0, 0]);
    assert_eq!(moved["proof"]["lost"], json!([]));
    for layer in moved["proof"]["layers"].as_array().expect("it is a list") {
        assert_eq!(layer["source_sha256"], layer["target_sha256"], "{layer}");
        assert_eq!(layer["source_sha256"].as_str().map(str::len), Some(64));
    }
    let memory = with(&moved["plan"]["layers"], "layer", "memory");
    assert_eq!(memory["total"], 6);
    let daily = with(&memory["kinds"], "kind", "daily");
    assert_eq!((&daily["exact"], &daily["degraded"]), (&json!(2), &json!(0)));
    assert_eq!(daily["becomes"], "a section of memory/YYYY-MM-DD.md");
}

#[test]
fn a_move_that_was_killed_before_it_wrote_settings_is_finished() {
    let environment = TestEnvironment::new();
    environment.write_home(".openclaw/workspace/SOUL.md", "# Mira\n");
    environment.write_home(".openclaw/workspace/MEMORY.md", "# Memory\n\n## Tea\n\nGreen.\n");
    let run = || -> Value {
        let words = ["migrate", "--from", "openclaw", "--to", "zeroclaw"];
        let output = environment.command().args(words).output().expect("the program starts");
        assert!(output.status.success(), "{output:?}");
        serde_json::from_slice(&output.stdout).expect("the output is JSON")
    };
    run();
    let config = environment.home(".zeroclaw/config.toml");
    let written = fs_err::read(&config).expect("a new install has settings");
    assert!(!environment.home(".zeroclaw/.alf-import.json").exists());
    // As it was after the files, and before the database and the settings.
    let id = environment.home(".zeroclaw/agents/default/workspace/.alf-agent-id");
    let id = fs_err::read_to_string(id).expect("an import writes the id");
    let note = json!({ "agent_id": id, "alias": "default" }).to_string();
    environment.write_home(".zeroclaw/.alf-import.json", note);
    environment.write_home(".zeroclaw/agents/default/.workspace.anemone-first-abc123/x", "x");
    environment.write_home(".zeroclaw/data/memory/.import-abc123/brain.db", "x");
    let private = std::fs::Permissions::from_mode(0o700);
    let staging = environment.home(".zeroclaw/data/memory/.import-abc123");
    fs_err::set_permissions(staging, private).expect("it is ours");
    fs_err::remove_file(&config).expect("it is there");
    fs_err::remove_file(environment.home(".zeroclaw/data/memory/brain.db")).expect("it is there");
    let moved = run();
    assert_eq!(moved["proof"]["lost"], json!([]));
    assert!(fs_err::read(&config).expect("the settings are there") == written);
    let left = tree(&environment.home(".zeroclaw"));
    let is_left = |value: &&std::path::PathBuf| {
        let name = value.to_string_lossy();
        [".alf-import", ".anemone-", ".import-"].iter().any(|part| name.contains(part))
    };
    assert_eq!(left.keys().find(is_left), None);
}

#[test]
fn a_snapshot_of_both_sides_stays_and_only_its_owner_reads_it() {
    let (environment, ground) = (TestEnvironment::new(), Ground::new());
    let (from, to) = (ground.small("old"), ground.path("new"));
    ground.write("new/own.txt", "mine\n");
    let moved = environment.json(args(&from, &to));
    let snapshots = moved["snapshots"].as_array().expect("it is a list");
    let of: Vec<&Value> = snapshots.iter().map(|snapshot| &snapshot["of"]).collect();
    assert_eq!(of, ["source", "target"]);
    let folder = fs_err::metadata(environment.path("snapshots")).expect("it is there");
    assert_eq!(folder.permissions().mode() & 0o777, 0o700);
    for (it, name) in snapshots.iter().zip(["old-openclaw-20", "new-openclaw-20"]) {
        let path = Path::new(it["path"].as_str().expect("it is text"));
        let file = path.file_name().and_then(|name| name.to_str()).expect("it is UTF-8");
        assert!(file.starts_with(name) && file.ends_with("Z.alf"), "{file}");
        environment.assert_private(&format!("snapshots/{file}"));
        environment.json(["validate", path.to_str().expect("the path is UTF-8")]);
    }
    assert_eq!(ground.read("new/own.txt"), b"mine\n");
    // The snapshot of the source equals an export.
    let path = snapshots[0]["path"].as_str().expect("it is text");
    let all = u64::MAX.to_string();
    export(&environment, &from, "e.alf", &["--allow-secrets", "--artifact-threshold", &all]);
    assert_eq!(environment.json(["diff", "e.alf", path])["equal"], true);
}

#[test]
fn snapshots_lie_where_data_of_the_user_lies() {
    let (environment, ground) = (TestEnvironment::new(), Ground::new());
    let (from, to) = (ground.small("old"), ground.path("new"));
    let data = ground.path("data");
    let place = |path: &Path| format!("openclaw:{}", path.display());
    let data_home = [("XDG_DATA_HOME", data.to_str().expect("the path is UTF-8"))];
    let words = ["migrate", "--from", &place(&from), "--to", &place(&to)];
    let moved = environment.json_with(&data_home, words);
    let path = moved["snapshots"][0]["path"].as_str().expect("it is text");
    assert!(Path::new(path).starts_with(data.join("anemone/snapshots")), "{path}");
    let inside = and(args(&from, &ground.path("other")), &[]);
    let inside: Vec<String> = inside
        .into_iter()
        .map(
            |inside| {
                if inside == "snapshots" { from.join("s").display().to_string() } else { inside }
            },
        )
        .collect();
    assert_eq!(environment.failure(2, inside)["code"], "usage");
}

#[test]
fn a_dry_run_shows_the_plan_and_writes_nothing() {
    let (environment, ground) = (TestEnvironment::new(), Ground::new());
    let (from, to) = (ground.small("old"), ground.path("new"));
    let moved = environment.json(and(args(&from, &to), &["--dry-run", "--verbose"]));
    assert_eq!((&moved["dry_run"], &moved["snapshots"]), (&json!(true), &json!([])));
    assert_eq!(moved.get("proof"), None);
    assert_eq!(with(&moved["plan"]["layers"], "layer", "files")["total"], 7);
    assert!(!to.exists() && !environment.exists("snapshots"));
}

#[test]
fn a_secret_does_not_stop_a_move_on_one_machine_and_is_counted() {
    let (environment, ground) = (TestEnvironment::new(), Ground::new());
    let from = ground.small("old");
    ground.write("old/notes.txt", "key: ghp_aBcDeFgHiJkLmNoPqRsTuVwXyZ0123456789\n");
    let moved = environment.json(args(&from, &ground.path("new")));
    let warnings = moved["warnings"].as_array().expect("it is a list");
    let counted = "copied unencrypted: 1 secret in files of the workspace";
    assert!(warnings.iter().any(|warning| warning == counted), "{warnings:?}");
    assert_eq!(ground.read("new/notes.txt"), ground.read("old/notes.txt"));
}

#[test]
fn a_file_that_differs_stops_a_move_unless_somebody_says_which_one_counts() {
    let (environment, ground) = (TestEnvironment::new(), Ground::new());
    let (from, to) = (ground.small("old"), ground.path("new"));
    ground.write("new/SOUL.md", "# Other\n");
    let failure = environment.failure(3, args(&from, &to));
    assert_eq!(failure["code"], "conflict");
    assert!(!environment.exists("snapshots"));
    let moved = environment.json(and(args(&from, &to), &["--on-conflict", "ours"]));
    assert_eq!(proved(&moved, "files"), [6, 0, 0, 1, 0]);
    assert_eq!(ground.read("new/SOUL.md"), b"# Other\n");
    let moved = environment.json(and(args(&from, &to), &["--on-conflict", "theirs"]));
    assert_eq!(proved(&moved, "files"), [7, 0, 0, 0, 0]);
    assert!(moved["replaced_kept_at"].is_string());
}

#[test]
fn an_agent_does_not_move_to_where_it_is() {
    let (environment, ground) = (TestEnvironment::new(), Ground::new());
    let from = ground.small("old");
    assert_eq!(environment.failure(2, args(&from, &from))["code"], "same_place");
    let missing = environment.failure(1, args(&ground.path("nowhere"), &from));
    assert_eq!(missing["code"], "not_found");
    let unknown = environment.failure(2, ["migrate", "--from", "x", "--to", "openclaw"]);
    assert_eq!(unknown["code"], "unknown_runtime");
}

#[test]
fn another_agent_is_not_mixed_in() {
    let (environment, ground) = (TestEnvironment::new(), Ground::new());
    let (from, to) = (ground.small("old"), ground.path("new"));
    ground.write("new/.alf-agent-id", "9e373c1e-cab7-5eea-90c3-8f3d09ac5755");
    assert_eq!(environment.failure(3, args(&from, &to))["code"], "different_agents");
}

#[test]
fn what_a_runtime_does_not_know_is_refused() {
    let (environment, ground) = (TestEnvironment::new(), Ground::new());
    let (from, to) = (ground.small("old"), ground.path("new"));
    for more in [["--backend", "sqlite"], ["--layout", "data"]] {
        let failure = environment.failure(2, and(args(&from, &to), &more));
        assert_eq!(failure["error"], format!("openclaw knows no {}", more[0]));
    }
}

#[test]
fn people_read_the_plan_and_the_proof() {
    let (environment, ground) = (TestEnvironment::new(), Ground::new());
    let (from, to) = (ground.small("old"), ground.path("new"));
    let text = environment.human(args(&from, &to));
    for line in [
        "memory  6",
        "  daily: 2 exact  a section of memory/YYYY-MM-DD.md",
        "  files       7 carried, 0 degraded, 0 lost",
        "nothing is lost",
    ] {
        assert!(text.contains(line), "{line} in {text}");
    }
}

#[test]
fn a_generated_workspace_moves_whole() {
    let (environment, ground) = (TestEnvironment::new(), Ground::new());
    let from = ground.generate("old", &Workspace::edge_cases());
    let moved = environment.json(args(&from, &ground.path("new")));
    for layer in ["identity", "principals", "memory", "files"] {
        let [_, degraded, aside, not_carried, lost] = proved(&moved, layer);
        assert_eq!([degraded, aside, not_carried, lost], [0; 4], "{layer}: {}", moved["proof"]);
    }
    let missing = [".git", "node_modules"];
    assert_same_tree(&from, &ground.path("new"), &missing, &[".alf-agent-id"]);
    let skipped = with(&moved["not_carried"], "path", ".git");
    assert!(
        skipped["reason"].as_str().is_some_and(|skipped| skipped.starts_with("skipped")),
        "{skipped}"
    );
}

/// Makes an environment whose home has a ZeroClaw install with several agents, or says aloud that
/// it cannot.
fn with_zeroclaw() -> TestEnvironment {
    let install = fixture("zeroclaw/install-v3");
    let environment = TestEnvironment::new();
    environment.copy_home(&install, ".zeroclaw");
    environment
}

#[test]
fn every_entry_of_a_database_is_in_the_plan() {
    let environment = with_zeroclaw();
    let words = ["migrate", "--from", "zeroclaw", "--to", "openclaw", "--dry-run"];
    let several = environment.failure(2, words);
    assert_eq!(several["code"], "agent_selection_ambiguous");
    let planned = environment.json([&words[..], &["--agent", "default", "--verbose"]].concat());
    assert_eq!(
        planned["to"]["workspace"],
        environment.home(".openclaw/workspace").to_str().expect("it is UTF-8")
    );
    let memory = with(&planned["plan"]["layers"], "layer", "memory");
    assert_eq!(memory["total"], 29);
    let listed = memory["records"].as_array().expect("it is a list");
    assert!(listed.iter().any(|listed| listed["name"] == "old_fact"), "{listed:?}");
}

#[test]
fn the_runtime_that_knows_a_folder_reads_it() {
    let environment = with_zeroclaw();
    let install = environment.home(".zeroclaw");
    let install = install.to_str().expect("the path is UTF-8");
    let words = ["export", "--dry-run", "--allow-secrets", "-w", install, "--agent", "alpha"];
    let read = environment.json(words);
    assert_eq!((&read["runtime"], &read["memory_records"]), (&json!("zeroclaw"), &json!(2)));
    let workspace = format!("{install}/agents/default/workspace");
    let read = environment.json(["export", "--dry-run", "--allow-secrets", "-w", &workspace]);
    assert_eq!(read["runtime"], "zeroclaw");
    let ground = Ground::new();
    let small = ground.small("small");
    let small = small.to_str().expect("the path is UTF-8");
    let read = environment.json(["export", "--dry-run", "-w", small]);
    assert_eq!(read["runtime"], "openclaw");
}

/// Checks that a move is refused and that nothing was written; returns why.
#[track_caller]
fn refused(environment: &TestEnvironment, ground: &Ground, from: &str, to: &str) -> Value {
    let before = tree(&ground.path(""));
    let words = ["migrate", "--from", from, "--to", to, "--snapshots", "snapshots"];
    let failure = environment.failure(2, words);
    assert!(tree(&ground.path("")) == before, "{from} to {to}");
    assert!(!environment.exists("snapshots"));
    failure
}

#[test]
fn an_agent_does_not_move_into_what_it_is_read_from() {
    let (environment, ground) = (TestEnvironment::new(), Ground::new());
    let from = ground.small("old").display().to_string();
    for below in ["sub", "memory", "sub/sub"] {
        let to = format!("zeroclaw:{from}/{below}");
        refused(&environment, &ground, &format!("openclaw:{from}"), &to);
    }
    ground.write("i/config.toml", "schema_version = 3\n[memory]\nbackend = \"markdown\"\n");
    ground.write("i/agents/default/workspace/MEMORY.md", "- **city**: Lisbon\n");
    let install = ground.path("i").display().to_string();
    let from = format!("zeroclaw:{install}");
    refused(&environment, &ground, &from, &format!("openclaw:{install}"));
    let workspace = format!("openclaw:{install}/agents/default/workspace");
    refused(&environment, &ground, &from, &workspace);
}

#[test]
fn the_install_of_a_runtime_is_no_workspace_of_another() {
    let (environment, ground) = (TestEnvironment::new(), Ground::new());
    ground.write("i/config.toml", "schema_version = 3\n[memory]\nbackend = \"markdown\"\n");
    ground.write("i/agents/default/workspace/MEMORY.md", "- **city**: Lisbon\n");
    let install = ground.path("i").display().to_string();
    let words = ["export", "-r", "openclaw", "-w", &install, "-o", "a.alf"];
    assert_eq!(environment.failure(2, words)["code"], "wrong_runtime");
    assert!(!environment.exists("a.alf"));
    // With the right name it is read.
    environment.json(["export", "-r", "zeroclaw", "-w", &install, "-o", "a.alf"]);
    assert!(environment.exists("a.alf"));
    let (from, to) = (format!("openclaw:{install}"), ground.path("new"));
    let to = format!("openclaw:{}", to.display());
    assert_eq!(refused(&environment, &ground, &from, &to)["code"], "wrong_runtime");
}

#[test]
fn an_agent_is_not_given_a_name_that_leads_elsewhere() {
    let (environment, ground) = (TestEnvironment::new(), Ground::new());
    let from = format!("openclaw:{}", ground.small("old").display());
    let to = format!("zeroclaw:{}", ground.path("new").display());
    let long = "a".repeat(300);
    let before = tree(&ground.path(""));
    for name in ["a\nb", "../x", "..", "", "a/b", "/x", &long] {
        let words = ["migrate", "--from", &from, "--to", &to, "--snapshots", "snapshots"];
        environment.failure(2, [&words[..], &["--to-agent", name]].concat());
        assert!(tree(&ground.path("")) == before, "{name:?}");
        assert!(!environment.exists("snapshots"), "{name:?}");
    }
}

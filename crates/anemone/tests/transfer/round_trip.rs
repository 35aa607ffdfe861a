//! Export and import, one after the other: the import restores the exported agent.

use std::collections::BTreeMap;
use std::path::Path;

use anemone::agent::FindAgentError;
use anemone::archive::OpenArchiveError;
use anemone::import::{ImportError, ImportReport};
use anemone::restore::ApplyPlanError;
use anemone_format::{File, FileRoot, Node, Snapshot};
use anemone_runtimes::{OnConflict, PlanError};
use anemone_testkit::database::{Holder, query};
use anemone_testkit::fixture;
use anemone_testkit::ground::{
    Ground, assert_same_tree, fields, raw, read_snapshot, records_of, tree, with,
};
use anemone_testkit::workspace::Workspace;
use anemone_testkit::zip::{unzip, zip};
use serde_json::{Value, json};

use super::workspace::{export, import};
use crate::support::transfer::{With, text};
use crate::support::{self, TestMachine};

/// Everything travels.
const ALL: [With<'_>; 2] = [With::AllowSecrets, With::ArtifactThreshold(1_000_000)];

/// Returns what did not come back, but for capabilities: these depend on the machine.
fn files_not_restored(imported: &Value) -> Vec<&str> {
    let listed = imported["not_restored"].as_array().unwrap().iter();
    let files = listed.filter(|listed| listed["what"] != "capability");
    files.map(|file| file["path"].as_str().unwrap()).collect()
}

fn there_and_back(seed: u64) {
    let (machine, ground) = (TestMachine::new(), Ground::new());
    let workspace = ground.generate("w", &Workspace::edge_cases().seed(seed));
    let exported = export(&machine, &workspace, "a.alf", &ALL);
    let left_out = &exported["left_out"];
    assert_eq!(fields(left_out, "path"), [".git", "node_modules"]);
    for (path, files) in [(".git", 2), ("node_modules", 41)] {
        let listed = with(left_out, "path", path);
        assert_eq!((&listed["reason"], &listed["files"]), (&json!("skipped"), &json!(files)));
    }
    let back = ground.path("back");
    let imported = import(&machine, &back, "a.alf", &[]);
    assert_eq!(files_not_restored(&imported), [""; 0]);
    assert_eq!(imported["memory_records"], exported["memory_records"]);
    assert_same_tree(&workspace, &back, &[".git", "node_modules"], &[".alf-agent-id"]);
    export(&machine, &back, "b.alf", &ALL);
    assert!(machine.read("a.alf") == machine.read("b.alf"), "exported again: the same");
}

#[test]
fn a_workspace_comes_back_as_it_was_seed_1() {
    there_and_back(1);
}

#[test]
fn a_workspace_comes_back_as_it_was_seed_2() {
    there_and_back(2);
}

#[test]
fn a_workspace_comes_back_as_it_was_seed_3() {
    there_and_back(3);
}

#[test]
fn a_workspace_comes_back_as_it_was_seed_7() {
    there_and_back(7);
}

#[test]
fn what_is_only_named_is_listed_on_both_ways() {
    let (machine, ground) = (TestMachine::new(), Ground::new());
    let workspace = ground.generate("w", &Workspace::edge_cases());
    let more = [With::AllowSecrets, With::ArtifactThreshold(100_000)];
    let exported = export(&machine, &workspace, "a.alf", &more);
    let left_out = &exported["left_out"];
    assert_eq!(fields(left_out, "path"), [".git", "node_modules", "artifacts/big.bin"]);
    let large = with(left_out, "path", "artifacts/big.bin");
    assert_eq!((&large["reason"], &large["bytes"]), (&json!("referenced"), &json!(500_000)));
    let imported = import(&machine, &ground.path("back"), "a.alf", &[]);
    assert_eq!(files_not_restored(&imported), ["artifacts/big.bin"]);
    assert_eq!(with(&imported["not_restored"], "what", "artifact")["path"], "artifacts/big.bin");
    let missing = [".git", "node_modules", "artifacts/big.bin"];
    assert_same_tree(&workspace, &ground.path("back"), &missing, &[".alf-agent-id"]);
}

#[test]
fn the_archive_is_the_same_whatever_the_folder_is_called() {
    let (machine, ground) = (TestMachine::new(), Ground::new());
    let workspace = ground.small("here");
    ground.write("here/.alf-agent-id", "0190f3a0-7f3c-7b1e-9d2a-1c2b3a4d5e6f");
    export(&machine, &workspace, "a.alf", &[]);
    fs_err::rename(&workspace, ground.path("there")).unwrap();
    export(&machine, &ground.path("there"), "b.alf", &[]);
    assert!(machine.read("a.alf") == machine.read("b.alf"));
}

#[test]
fn modes_times_links_and_empty_folders_come_back() {
    use std::os::unix::fs::PermissionsExt as _;
    let (machine, ground) = (TestMachine::new(), Ground::new());
    ground.small("w");
    ground.write("w/skills/x/run.sh", "#!/bin/sh\n");
    fs_err::create_dir_all(ground.path("w/empty/inner")).unwrap();
    ground.link("../notes.txt", "w/empty/link");
    ground.link("/nowhere/at/all", "w/memory/gone.md");
    for (name, mode) in [
        ("w/skills/x/run.sh", 0o755),
        ("w/notes.txt", 0o600),
        ("w/empty", 0o700),
        ("w/USER.md", 0o444),
    ] {
        let permissions = std::fs::Permissions::from_mode(mode);
        fs_err::set_permissions(ground.path(name), permissions).unwrap();
    }
    ground.touch("w/notes.txt", 0);
    ground.touch("w/MEMORY.md", 4_000_000_000);
    export(&machine, &ground.path("w"), "a.alf", &[]);
    import(&machine, &ground.path("back"), "a.alf", &[]);
    assert_same_tree(&ground.path("w"), &ground.path("back"), &[], &[".alf-agent-id"]);
}

// Import into an existing workspace.

/// Makes an archive of a small workspace and another workspace that differs from it.
fn other_workspace() -> (TestMachine, Ground) {
    let (machine, ground) = (TestMachine::new(), Ground::new());
    export(&machine, &ground.small("w"), "a.alf", &[]);
    ground.small("x");
    ground.write("x/MEMORY.md", "## Mine\n");
    ground.write("x/own.txt", "only here");
    (machine, ground)
}

/// Tries to import the archive into a workspace.
fn try_import(
    machine: &TestMachine,
    workspace: &Path,
    more: &[With<'_>],
) -> Result<ImportReport, ImportError> {
    machine.try_import(Some("openclaw"), Some(workspace), "a.alf", more)
}

#[test]
fn an_existing_workspace_is_not_overwritten() {
    let (machine, ground) = other_workspace();
    let before = tree(&ground.path(""));
    for more in [&[][..], &[With::DryRun], &[With::OnConflict(OnConflict::Stop)]] {
        let error = try_import(&machine, &ground.path("x"), more).unwrap_err();
        let ImportError::Conflicts { report, .. } = error else { panic!("{error:?}") };
        let conflicts: Vec<&str> =
            report.conflicts.iter().map(|conflict| conflict.path.as_str()).collect();
        assert_eq!(conflicts, ["MEMORY.md"]);
        assert_eq!(tree(&ground.path("")), before);
    }
}

#[test]
fn a_dry_run_shows_the_plan_and_writes_nothing() {
    let (machine, ground) = other_workspace();
    let before = tree(&ground.path(""));
    for (choice, action) in
        [(OnConflict::Theirs, "replace"), (OnConflict::Ours, "keep"), (OnConflict::Both, "both")]
    {
        let more = [With::DryRun, With::OnConflict(choice)];
        let imported = import(&machine, &ground.path("x"), "a.alf", &more);
        assert_eq!(with(&imported["plan"], "path", "MEMORY.md")["action"], action);
        assert_eq!(with(&imported["plan"], "path", "SOUL.md")["action"], "same");
        assert_eq!(tree(&ground.path("")), before);
    }
    let imported = import(&machine, &ground.path("new"), "a.alf", &[With::DryRun]);
    assert_eq!(with(&imported["plan"], "path", "MEMORY.md")["action"], "create");
    assert_eq!(tree(&ground.path("")), before);
}

#[test]
fn theirs_replaces_and_keeps_what_was_replaced() {
    let (machine, ground) = other_workspace();
    let theirs = [With::OnConflict(OnConflict::Theirs)];
    let imported = import(&machine, &ground.path("x"), "a.alf", &theirs);
    assert_eq!(ground.read("x/MEMORY.md"), ground.read("w/MEMORY.md"));
    assert_eq!(ground.read("x/own.txt"), b"only here");
    let kept = imported["replaced_kept_at"].as_str().unwrap();
    assert_eq!(fs_err::read(Path::new(kept).join("MEMORY.md")).unwrap(), b"## Mine\n");
    assert_eq!(imported["files_replaced"], 1);
}

#[test]
fn ours_keeps_and_both_has_both() {
    let (machine, ground) = other_workspace();
    import(&machine, &ground.path("x"), "a.alf", &[With::OnConflict(OnConflict::Ours)]);
    assert_eq!(ground.read("x/MEMORY.md"), b"## Mine\n");
    let both = [With::OnConflict(OnConflict::Both)];
    let planned = import(&machine, &ground.path("x"), "a.alf", &[With::DryRun, both[0]]);
    let beside = with(&planned["plan"], "path", "MEMORY.md")["as"].as_str().unwrap().to_owned();
    import(&machine, &ground.path("x"), "a.alf", &both);
    assert_eq!(ground.read("x/MEMORY.md"), b"## Mine\n");
    assert_eq!(ground.read(format!("x/{beside}")), ground.read("w/MEMORY.md"));
}

#[test]
fn importing_twice_changes_nothing() {
    let (machine, ground) = other_workspace();
    import(&machine, &ground.path("back"), "a.alf", &[]);
    let before = tree(&ground.path("back"));
    let imported = import(&machine, &ground.path("back"), "a.alf", &[]);
    assert_eq!((&imported["files_created"], &imported["files_replaced"]), (&json!(0), &json!(0)));
    assert_eq!(tree(&ground.path("back")), before);
}

#[test]
fn links_of_a_workspace_never_lead_an_import_out_of_it() {
    let (machine, ground) = other_workspace();
    for (name, policy) in
        [("theirs", OnConflict::Theirs), ("ours", OnConflict::Ours), ("both", OnConflict::Both)]
    {
        let outside = format!("outside-{name}");
        ground.write(format!("{outside}/2026-02-03.md"), "theirs");
        ground.link(format!("../{outside}"), &format!("linked-{name}/memory"));
        let before = tree(&ground.path(&outside));
        let workspace = ground.path(format!("linked-{name}"));
        // Whether it is refused or done within the workspace, nothing outside changes.
        try_import(&machine, &workspace, &[With::OnConflict(policy)]).ok();
        assert_eq!(tree(&ground.path(&outside)), before, "{name}");
    }
}

#[test]
fn host_dependent_capabilities_and_sealed_credentials_are_listed() {
    let (machine, ground) = (TestMachine::new(), Ground::new());
    let home = machine.home("");
    let workspace = ground.generate("w", &Workspace::edge_cases().install(&home));
    machine.vault_key("key");
    let more = [With::AllowSecrets, With::VaultKey("key")];
    export(&machine, &workspace, "a.alf", &more);
    let imported = import(&machine, &ground.path("back"), "a.alf", &[]);
    assert_eq!(imported["credentials_count"], 2);
    let listed = &imported["not_restored"];
    let what = fields(listed, "what");
    assert!(what.iter().any(|what| what.starts_with("credential")), "{listed}");
    // The machine has no PATH, so no program is here.
    assert!(what.iter().any(|what| what.starts_with("capabilit")), "{listed}");
}

#[test]
fn with_a_key_credentials_go_into_the_store_of_the_install() {
    let (machine, ground) = (TestMachine::new(), Ground::new());
    let home = machine.home("");
    let workspace = ground.generate("w", &Workspace::plain().install(&home));
    machine.vault_key("key");
    export(&machine, &workspace, "a.alf", &[With::VaultKey("key")]);
    // Another machine with an install of the older generation and no keys.
    let target = TestMachine::new();
    target.write("a.alf", machine.read("a.alf"));
    target.write("key", machine.read("key"));
    target.write_home(".openclaw/openclaw.json", "{}");
    target.write_home(".openclaw/agents/main/sessions/sessions.json", "{}");
    fs_err::create_dir(target.home(".openclaw/workspace")).unwrap();
    let imported = import_with_key(&target);
    assert!(!fields(&imported["not_restored"], "what").contains(&"credential"), "{imported}");
    let store = target.home(".openclaw/agents/main/agent/auth-profiles.json");
    let store: Value = serde_json::from_slice(&fs_err::read(store).unwrap()).unwrap();
    assert_eq!(store["profiles"]["anthropic:default"]["key"], "sk-ant-SECRET-1");
    assert_eq!(store["profiles"]["openai:default"]["refresh"], "SECRET-REF");
}

/// Makes a machine with an install of the newer generation, an archive with sealed secrets and
/// its key.
fn newer_install_and_sealed_secrets() -> TestMachine {
    let (machine, ground) = (TestMachine::new(), Ground::new());
    let home = machine.home("");
    let workspace = ground.generate("w", &Workspace::plain().days(1).install(&home));
    machine.vault_key("key");
    export(&machine, &workspace, "a.alf", &[With::VaultKey("key")]);
    let target = TestMachine::new();
    target.copy_home(&fixture("openclaw/gen9/.openclaw"), ".openclaw");
    fs_err::remove_dir_all(target.home(".openclaw/workspace")).unwrap();
    for name in ["a.alf", "key"] {
        target.write(name, machine.read(name));
    }
    target
}

/// Imports an archive and its secrets into the install of a machine.
fn import_with_key(target: &TestMachine) -> Value {
    let folder = target.home(".openclaw/workspace");
    let more = [With::VaultKey("key")];
    support::json(&target.import_at_home(Some(&folder), "a.alf", &more).unwrap())
}

#[test]
fn with_a_key_credentials_go_into_the_database_of_the_newer_generation() {
    let target = newer_install_and_sealed_secrets();
    let imported = import_with_key(&target);
    assert!(!fields(&imported["not_restored"], "what").contains(&"credential"), "{imported}");
    let database = target.home(".openclaw/state/openclaw.sqlite");
    let store =
        "SELECT value_json FROM config_machine_state WHERE state_key = 'authProfiles.store'";
    let store = &query(&database, store)[0];
    let store: Value = serde_json::from_str(store).unwrap();
    assert_eq!(store["profiles"]["anthropic:default"]["key"], "sk-ant-SECRET-1");
    assert_eq!(store["profiles"]["openai:default"]["refresh"], "SECRET-REF");
}

#[test]
fn secrets_that_cannot_be_written_are_an_error_after_the_rest_is_done() {
    let target = newer_install_and_sealed_secrets();
    let database = target.home(".openclaw/state/openclaw.sqlite");
    let holder =
        Holder::start(&database, "BEGIN IMMEDIATE; SELECT count(*) FROM config_machine_state;");
    let before = fs_err::read(&database).unwrap();
    let folder = target.home(".openclaw/workspace");
    let imported = target.import_at_home(Some(&folder), "a.alf", &[With::VaultKey("key")]);
    let error = imported.unwrap_err();
    let told = format!("{error:?}");
    let ImportError::Apply { source: ApplyPlanError::Credentials { .. }, report } = error else {
        panic!("{told}")
    };
    assert!(report.stores.credentials_restored.is_none(), "{told}");
    assert!(told.contains(&database.display().to_string()) && !told.contains("SECRET"), "{told}");
    assert!(before == fs_err::read(&database).unwrap(), "the database is as it was");
    assert!(folder.join("MEMORY.md").exists(), "the rest is done");
    drop(holder);
    let imported = import_with_key(&target);
    let added = imported["credentials_restored"]["added"].as_array().unwrap();
    assert_eq!(added.len(), 2, "{imported}");
}

#[test]
fn an_import_leaves_nothing_beside_the_workspace() {
    let (machine, ground) = other_workspace();
    let names = || {
        let entries = fs_err::read_dir(ground.path("")).unwrap();
        let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        names
    };
    import(&machine, &ground.path("new"), "a.alf", &[]);
    assert_eq!(names(), ["new", "w", "x"]);
    fs_err::create_dir(ground.path("empty")).unwrap();
    import(&machine, &ground.path("empty"), "a.alf", &[]);
    assert_eq!(names(), ["empty", "new", "w", "x"]);
}

#[test]
fn a_workspace_that_is_a_link_stays_one() {
    let (machine, ground) = other_workspace();
    fs_err::create_dir(ground.path("real")).unwrap();
    ground.link("real", "link");
    import(&machine, &ground.path("link"), "a.alf", &[]);
    assert!(fs_err::symlink_metadata(ground.path("link")).unwrap().is_symlink());
    assert_eq!(ground.read("real/notes.txt"), b"an artifact\n");
    let error = try_import(&machine, &ground.write("file", "text"), &[]).unwrap_err();
    assert!(matches!(error, ImportError::Plan(PlanError::NotAFolder { .. })), "{error:?}");
}

#[test]
fn an_archive_cannot_write_outside_of_the_workspace() {
    let (machine, ground) = other_workspace();
    ground.write("outside/keep.md", "theirs");
    let outside = ground.path("outside");
    let before = tree(&outside);
    let link = |path: &str, target: &Path| {
        let mut file = File::new(FileRoot::Raw("openclaw".to_owned()), path, "");
        file.node = Node::Symlink(target.to_str().unwrap().into());
        file
    };
    let file = |path: &str| File::new(FileRoot::Raw("openclaw".to_owned()), path, "evil");
    for (number, files) in [
        vec![link("memory", &outside), file("memory/keep.md")],
        vec![link("memory", &outside), file("memory/new.md")],
        vec![link("memory/keep.md", &outside.join("keep.md")), file("memory/keep.md")],
        vec![file("../outside/keep.md")],
        vec![file("memory/../../outside/keep.md")],
    ]
    .into_iter()
    .enumerate()
    {
        let mut evil = machine.snapshot("a.alf");
        evil.files = files;
        evil.attachments = None;
        let spool = Box::new(std::io::Cursor::new(Vec::new()));
        // Our own writer may refuse to write it.
        let Ok((bytes, _)) = evil.write(Vec::new(), spool, 1) else { continue };
        machine.write("evil.alf", bytes);
        let workspace = ground.path(format!("target-{number}"));
        // It may be refused, or what leads out may be left out.
        machine.try_import(Some("openclaw"), Some(&workspace), "evil.alf", &[]).ok();
        assert_eq!(tree(&outside), before, "archive {number}");
        assert!(!ground.path("keep.md").exists());
    }
}

// Archives of others.

fn open(path: &Path) -> Snapshot {
    read_snapshot(fs_err::read(path).unwrap())
}

/// Returns a file that the existing tool wrote.
fn reference(name: &str) -> std::path::PathBuf {
    fixture(&format!("alf/{name}"))
}

#[test]
fn ids_are_those_of_the_existing_tool_wherever_it_split_right() {
    let theirs = reference("reference-openclaw.alf");
    let (machine, ground) = (TestMachine::new(), Ground::new());
    import(&machine, &ground.path("w"), text(&theirs), &[]);
    export(&machine, &ground.path("w"), "a.alf", &[With::AllowSecrets]);
    let ours = machine.snapshot("a.alf");
    let theirs = open(&theirs);
    assert_eq!(ours.manifest.agent.id, theirs.manifest.agent.id);
    let by_id: BTreeMap<_, _> = ours.records.iter().map(|record| (record.id, record)).collect();
    // It reads CRLF as LF and drops line ends at the end.
    let text = |text: &str| text.replace("\r\n", "\n").trim_matches('\n').to_owned();
    let (mut same, mut wrong) = (0, BTreeMap::new());
    for record in &theirs.records {
        let file = record.source.origin_file.as_deref().unwrap();
        match by_id.get(&record.id) {
            Some(it) if text(&it.content) == text(&record.content) => {
                assert_eq!(it.source.origin_file.as_deref(), Some(file));
                same += 1;
            }
            _ => *wrong.entry(file).or_insert(0) += 1,
        }
    }
    assert!(same >= 500, "{same}");
    // It takes `## ` in fences and comments for headings, gating tables whole, and a CR alone for
    // no line end.
    let known = [
        "MEMORY.md",
        "memory/2026-03-02.md",
        "memory/2026-03-15.md",
        "memory/fences.md",
        "memory/gating-policies.md",
        "memory/old-mac-cr.md",
    ];
    assert_eq!(wrong.into_keys().collect::<Vec<_>>(), known);
}

#[test]
fn files_of_the_existing_tools_archive_come_back() {
    let theirs = reference("reference-openclaw.alf");
    let (machine, ground) = (TestMachine::new(), Ground::new());
    import(&machine, &ground.path("w"), text(&theirs), &[]);
    let theirs = open(&theirs);
    let mut number = 0;
    for file in &theirs.files {
        let Node::File(content) = &file.node else { continue };
        let path = String::from_utf8(file.path.clone()).unwrap();
        assert!(ground.read(format!("w/{path}")) == *content, "{path}");
        number += 1;
    }
    assert!(number > 50, "{number}");
}

#[test]
fn an_agent_of_another_runtime_becomes_a_workspace() {
    let theirs = reference("reference-zeroclaw.alf");
    let (machine, ground) = (TestMachine::new(), Ground::new());
    let workspace = ground.path("w");
    let imported = import(&machine, &workspace, text(&theirs), &[]);
    let theirs = open(&theirs);
    assert_eq!(imported["memory_records"], theirs.records.len());
    let all: Vec<u8> = tree(&workspace)
        .values()
        .filter(|value| value.kind() == "file")
        .flat_map(|value| value.bytes().to_vec())
        .collect();
    let all = String::from_utf8_lossy(&all);
    let lost: Vec<&str> = theirs
        .records
        .iter()
        .map(|record| record.content.trim())
        .filter(|value| !all.contains(value))
        .collect();
    assert_eq!(lost.len(), 0, "{:?}", lost.first());
    let soul = theirs.identity.unwrap().prose.unwrap().soul.unwrap();
    assert_eq!(ground.read("w/SOUL.md"), soul.as_bytes());
    // And it can be read again.
    let exported = export(&machine, &workspace, "a.alf", &[With::AllowSecrets]);
    assert!(exported["memory_records"].as_u64().unwrap() > 0, "{exported}");
}

#[test]
fn records_of_another_runtime_keep_what_the_tables_say_of_them() {
    let (machine, ground) = (TestMachine::new(), Ground::new());
    let text =
        "## Session — 10:30 AM\n\n- [decision|i=0.9] SQLite #database\n\n## Evening\n\nTea.\n";
    ground.write("w/memory/2026-01-05.md", text);
    ground.write("w/SOUL.md", "# Mira\n");
    export(&machine, &ground.path("w"), "ours.alf", &[]);
    // As if another runtime had written it: no raw files, and another name.
    let mut foreign = machine.snapshot("ours.alf");
    foreign.files.clear();
    foreign.attachments = None;
    foreign.manifest.agent.source_runtime = "zeroclaw".to_owned();
    foreign.manifest.reading = None;
    for record in &mut foreign.records {
        record.source.runtime = "zeroclaw".to_owned();
        record.source.origin_file = None;
        record.raw_source_format = None;
        let body = record.content.replace("[decision|i=0.9] ", "");
        record.content = body;
    }
    machine.write_archive("foreign.alf", &foreign);
    import(&machine, &ground.path("back"), "foreign.alf", &[]);
    let log = String::from_utf8(ground.read("back/memory/2026-01-05.md")).unwrap();
    assert!(log.contains("SQLite #database") && log.contains("Tea."), "{log}");
    export(&machine, &ground.path("back"), "again.alf", &[]);
    let again = machine.snapshot("again.alf");
    let records = records_of(&again, "memory/2026-01-05.md");
    let decision = records.iter().find(|record| record.content.contains("SQLite")).unwrap();
    assert_eq!(decision.category.as_deref(), Some("decision"), "{log}");
    assert_eq!(decision.confidence, Some(0.9), "{log}");
    assert!(raw(decision).is_object());
}

#[test]
fn an_import_needs_an_archive_and_a_known_runtime() {
    let (machine, ground) = other_workspace();
    let workspace = ground.path("new");
    let refused = |runtime: &str, file: &str| {
        machine.try_import(Some(runtime), Some(&workspace), file, &[]).unwrap_err()
    };
    let error = refused("nobody", "a.alf");
    assert!(
        matches!(error, ImportError::Agent(FindAgentError::UnknownRuntime { .. })),
        "{error:?}"
    );
    machine.write("broken.alf", &machine.read("a.alf")[..500]);
    for file in ["broken.alf", "gone.alf"] {
        let error = refused("openclaw", file);
        assert!(matches!(error, ImportError::Open(_)), "{error:?}");
    }
    assert!(!workspace.exists());
}

#[test]
fn another_agent_is_not_mixed_into_a_workspace() {
    let (machine, ground) = (TestMachine::new(), Ground::new());
    export(&machine, &ground.small("one"), "one.alf", &[]);
    export(&machine, &ground.small("two"), "two.alf", &[]);
    import(&machine, &ground.path("w"), "one.alf", &[]);
    let before = tree(&ground.path("w"));
    let workspace = ground.path("w");
    for policy in [OnConflict::Stop, OnConflict::Ours, OnConflict::Both] {
        let more = [With::OnConflict(policy)];
        let imported = machine.try_import(Some("openclaw"), Some(&workspace), "two.alf", &more);
        let error = imported.unwrap_err();
        assert!(matches!(error, ImportError::DifferentAgents(_)), "{policy:?}: {error:?}");
        assert_eq!(tree(&workspace), before);
    }
    import(&machine, &ground.path("w"), "two.alf", &[With::OnConflict(OnConflict::Theirs)]);
}

// An attacker who changes a manifest can recompute its seal, but its checksum does not match by
// chance.
#[test]
fn a_forged_manifest_is_refused_as_validate_refuses_it() {
    let (machine, ground) = (TestMachine::new(), Ground::new());
    export(&machine, &ground.small("w"), "a.alf", &[]);
    let mut entries = unzip(&machine.read("a.alf"));
    let manifest = &mut entries.get_mut("manifest.json").unwrap().content;
    let text = String::from_utf8(manifest.clone()).unwrap();
    let (mode, other) = (r#""mode": "0644""#, r#""mode": "0777""#);
    assert!(text.contains(mode), "{text}");
    *manifest = text.replace(mode, other).into_bytes();
    let entries: Vec<_> =
        entries.iter().map(|(name, entry)| (name.as_str(), entry.content.as_slice())).collect();
    // The last two bytes of a ZIP file without a comment say how long the comment is.
    let mut forged = zip(&entries);
    let end = forged.len() - 2;
    forged[end..].copy_from_slice(&80_u16.to_le_bytes());
    let seal = format!("alf-seal:sha256:{}", anemone_format::sha256_hex(&forged));
    forged.extend(seal.as_bytes());
    machine.write("forged.alf", forged);
    assert!(!machine.validate("forged.alf").valid);
    let workspace = ground.path("i");
    let imported = machine.try_import(Some("openclaw"), Some(&workspace), "forged.alf", &[]);
    let error = imported.unwrap_err();
    let is_it = matches!(error, ImportError::Open(OpenArchiveError::Invalid { .. }));
    assert!(is_it, "{error:?}");
    assert!(!workspace.exists());
}

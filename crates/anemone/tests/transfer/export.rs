//! An agent of OpenClaw as an archive.

#[path = "export/files.rs"]
mod files;
#[path = "export/install.rs"]
mod install;
#[path = "export/noted_times.rs"]
mod noted_times;
#[path = "export/odd.rs"]
mod odd;
#[path = "export/secrets.rs"]
mod secrets;
#[path = "export/since.rs"]
mod since;

use std::path::Path;

use anemone::agent::{AgentChoice, FindAgentError};
use anemone::agents::{AgentsRequest, agents};
use anemone::export::{ExportError, ExportReport};
use anemone::keys::Keys;
use anemone::seal::{DecryptRequest, decrypt};
use anemone_files::Existing;
use anemone_format::{PartitionBy, Record, Snapshot};
use anemone_testkit::fixture;
use anemone_testkit::ground::{Ground, fields, records_of, tree, with};
use anemone_testkit::workspace::Workspace;
use serde_json::{Value, json};

use super::workspace::{export, import};
use crate::support::transfer::With;
use crate::support::{self, TestMachine};

/// The secrets that the generator plants into an edge workspace.
const PLANTED: [&str; 2] = ["SECRETENV", "SECRETHIDDEN"];
/// The secrets that the generator plants into an install.
const PLANTED_INSTALL: [&str; 4] = ["SECRETBOT", "SECRET-1", "SECRET-ACC", "SECRET-REF"];

/// Makes a place with an edge workspace.
fn edge() -> (TestMachine, Ground) {
    let ground = Ground::new();
    ground.generate("w", &Workspace::edge_cases());
    (TestMachine::new(), ground)
}

/// Exports an edge workspace with all that it holds.
fn edge_snapshot() -> (Ground, Snapshot) {
    let (machine, ground) = edge();
    export(&machine, &ground.path("w"), "a.alf", &[With::AllowSecrets]);
    (ground, machine.snapshot("a.alf"))
}

fn with_fixture(generation: &str) -> TestMachine {
    let machine = TestMachine::new();
    machine.copy_home(&fixture(&format!("openclaw/{generation}/.openclaw")), ".openclaw");
    machine
}

/// Exports the one agent of a machine, and returns the report.
#[track_caller]
fn export_only(machine: &TestMachine, output: &str, more: &[With<'_>]) -> Value {
    support::json(&machine.try_export(AgentChoice::default(), output, more).unwrap())
}

/// Exports the one agent of a machine, and reads its archive.
fn export_fixture(machine: &TestMachine, more: &[With<'_>]) -> (Value, Snapshot) {
    (export_only(machine, "a.alf", more), machine.snapshot("a.alf"))
}

/// Tries to export a workspace of whatever runtime.
fn try_export(
    machine: &TestMachine,
    workspace: &Path,
    more: &[With<'_>],
) -> Result<ExportReport, ExportError> {
    let workspace = Some(workspace.to_owned());
    machine.try_export(AgentChoice { workspace, ..AgentChoice::default() }, "a.alf", more)
}

fn word(value: impl serde::Serialize) -> String {
    serde_json::to_value(value).unwrap().as_str().unwrap_or_default().to_owned()
}

fn times(record: &Record) -> Value {
    serde_json::to_value(&record.temporal).unwrap()
}

fn diff(machine: &TestMachine, old: &str, new: &str) -> Value {
    support::json(&machine.diff(old, new))
}

// Options.

#[test]
fn a_dry_run_writes_nothing_and_lists_what_would_travel() {
    let (machine, ground) = (TestMachine::new(), Ground::new());
    let workspace = ground.small("w");
    let before = tree(&ground.path(""));
    let listed = export(&machine, &workspace, "a.alf", &[With::DryRun, With::WriteAgentId]);
    assert!(!machine.exists("a.alf"));
    assert_eq!(tree(&ground.path("")), before);
    assert_eq!((&listed["dry_run"], listed.get("output")), (&json!(true), None));
    let files = &listed["files"];
    let sizes: u64 = tree(&workspace)
        .keys()
        .map(|key| fs_err::metadata(workspace.join(key)).unwrap())
        .filter(std::fs::Metadata::is_file)
        .map(|value| value.len())
        .sum();
    assert_eq!(listed["total_size"], sizes);
    for path in ["MEMORY.md", "memory/2026-02-03.md", "notes.txt"] {
        assert_eq!(with(files, "path", path)["kind"], "file");
    }
    assert_eq!(with(files, "path", "notes.txt")["size"], 12);
    let exported = export(&machine, &workspace, "a.alf", &[]);
    for key in ["memory_records", "total_size", "files_count", "agent_id", "left_out", "warnings"] {
        assert_eq!(listed[key], exported[key], "{key}");
    }
}

#[test]
fn a_dry_run_lists_secrets() {
    let (machine, ground) = edge();
    let listed = export(&machine, &ground.path("w"), "a.alf", &[With::DryRun]);
    assert_eq!(fields(&listed["secrets"], "path"), [".env", "memory/.hidden-note.md"]);
    assert!(PLANTED.iter().all(|planted| !listed.to_string().contains(planted)));
}

#[test]
fn a_contract_of_two_hundred_kilobytes_is_in_the_archive_and_comes_back() {
    let (machine, ground) = (TestMachine::new(), Ground::new());
    let workspace = ground.small("w");
    let content: Vec<u8> = (0..200_000_u32).flat_map(|value| value.to_le_bytes()).collect();
    ground.write("w/papers/contract.pdf", &content);
    let exported = export(&machine, &workspace, "a.alf", &[]);
    assert_eq!((&exported["warnings"], &exported["left_out"]), (&json!([]), &json!([])));
    import(&machine, &ground.path("i"), "a.alf", &[]);
    assert!(ground.read("i/papers/contract.pdf") == content);
}

#[test]
fn what_is_not_in_the_archive_cannot_be_overlooked() {
    let (machine, ground) = (TestMachine::new(), Ground::new());
    let workspace = ground.small("w");
    ground.write("w/notes/long.md", "# Long\n\nMarkdown of any size travels.\n");
    for number in 0..12 {
        ground.write(format!("w/papers/{number:02}.pdf"), vec![7; 100 + number]);
    }
    let small = [With::ArtifactThreshold(20)];
    let exported = export(&machine, &workspace, "a.alf", &small);
    let left_out = &exported["left_out"];
    assert_eq!(left_out.as_array().unwrap().len(), 12);
    assert_eq!(fields(left_out, "reason"), ["referenced"; 12]);
    assert!(!left_out.to_string().contains("long.md"), "{left_out}");
    let all = [With::ArtifactThreshold(111)];
    assert_eq!(export(&machine, &workspace, "c.alf", &all)["left_out"], json!([]));
}

#[test]
fn a_folder_that_is_no_agents_is_no_backup() {
    let (machine, ground) = (TestMachine::new(), Ground::new());
    let copyright = ground.write("doc/bash/copyright", "free");
    let folder = copyright.parent().unwrap().parent().unwrap();
    for more in [&[][..], &[With::DryRun]] {
        let error = try_export(&machine, folder, more).unwrap_err();
        assert!(matches!(error, ExportError::Nothing(_)), "{error:?}");
        assert!(!machine.exists("a.alf"));
    }
    try_export(&machine, folder, &[With::AllowEmpty]).unwrap();
    assert!(machine.validate("a.alf").valid);
}

/// Makes an install of OpenClaw with one agent and one conversation.
fn install(machine: &TestMachine, version: &str) {
    let config = format!("{{ meta: {{ lastTouchedVersion: '{version}' }} }}");
    machine.write_home(".openclaw/openclaw.json", config);
    machine.write_home(".openclaw/workspace/MEMORY.md", "# Memory\n\n## Tea\n\nOolong.\n");
    machine.write_home(".openclaw/agents/main/sessions/s1.jsonl", "{}\n");
}

#[test]
fn an_upgrade_of_the_runtime_changes_no_record() {
    let machine = TestMachine::new();
    install(&machine, "2026.3.13");
    export_only(&machine, "a.alf", &[]);
    install(&machine, "2026.3.24");
    let exported = export_only(&machine, "b.alf", &[With::Since("a.alf")]);
    assert_eq!(exported["no_changes"], false, "the manifest names the new version");
    let records = &diff(&machine, "a.alf", "b.alf")["records"];
    for change in ["created", "updated", "deleted"] {
        assert_eq!(records[change], json!([]), "{records}");
    }
    let agent = machine.snapshot("b.alf").manifest.agent;
    assert_eq!(agent.source_runtime_version.as_deref(), Some("2026.3.24"));
    // A record names the version under which its text was first read.
    let more = "# Memory\n\n## Tea\n\nOolong.\n\n## Rain\n\nWet.\n";
    machine.write_home(".openclaw/workspace/MEMORY.md", more);
    export_only(&machine, "c.alf", &[With::Since("b.alf")]);
    let snapshot = machine.snapshot("c.alf");
    let versions = records_of(&snapshot, "MEMORY.md")
        .into_iter()
        .map(|record| record.source.runtime_version.as_deref().unwrap())
        .collect::<Vec<_>>();
    assert_eq!(versions, ["2026.3.13", "2026.3.13", "2026.3.24"]);
}

#[test]
fn a_credential_says_what_it_grants() {
    let machine = TestMachine::new();
    install(&machine, "2026.3.13");
    let config = "{ agents: { defaults: { model: { primary: 'anthropic/a', fallbacks: ['openai/b'] },
        memorySearch: { provider: 'openai' } } }, tools: { web: { search: { provider: 'auto' } } } }";
    machine.write_home(".openclaw/openclaw.json", config);
    let profiles = r#"{"version":1,"profiles":{
        "anthropic:default":{"type":"api_key","provider":"anthropic","key":"sk-ant-none"},
        "github:me":{"type":"token","provider":"github","token":"none","scope":"repo, <b>read:org"},
        "openai:default":{"type":"oauth","provider":"openai","access":"none","scopes":["model.read"]},
        "other:x":{"type":"api_key","provider":"other","key":"none"}}}"#;
    machine.write_home(".openclaw/agents/main/agent/auth-profiles.json", profiles);
    let identity =
        "# IDENTITY\n\n## Capabilities\n\n- issue_tracker (needs GitHub)\n- openai_images\n";
    machine.write_home(".openclaw/workspace/IDENTITY.md", identity);
    export_only(&machine, "a.alf", &[]);
    assert!(machine.validate("a.alf").valid);
    let credentials = machine.snapshot("a.alf").credentials.unwrap().credentials;
    let granted: Vec<(&str, Vec<&str>)> = credentials
        .iter()
        .map(|one| (&*one.service, one.capabilities_granted.iter().map(String::as_str).collect()))
        .collect();
    assert_eq!(
        granted,
        [
            ("anthropic", vec!["chat"]),
            ("github", vec!["repo", "issue_tracker"]),
            ("openai", vec!["model.read", "chat", "memory_search", "openai_images"]),
            ("other", vec![]),
        ]
    );
}

#[test]
fn a_daily_record_lies_in_the_quarter_of_its_day() {
    let (machine, ground) = (TestMachine::new(), Ground::new());
    let workspace = ground.small("w");
    // In New York it was still the last day of the quarter.
    let header = "# Session: 2026-03-31 22:00:00 America/New_York\n\nLate.\n";
    let file = ground.write("w/memory/2026-03-31-late.md", header);
    export(&machine, &workspace, "a.alf", &[]);
    assert!(machine.validate("a.alf").valid);
    let snapshot = machine.snapshot("a.alf");
    let late = records_of(&snapshot, "memory/2026-03-31-late.md")[0];
    assert_eq!(late.temporal.created_at.as_str(), "2026-04-01T02:00:00Z");
    let by = |name: &str| machine.snapshot(name).manifest.layers.memory?.partition_by;
    assert_eq!(by("a.alf"), Some(PartitionBy::ObservedAt));
    let has = |archive: &str, period: &str| {
        let bytes = machine.read(archive);
        let name = format!("memory/partitions/{period}.jsonl");
        bytes.windows(name.len()).any(|part| part == name.as_bytes())
    };
    assert!(has("a.alf", "2026-Q1") && !has("a.alf", "2026-Q2"));
    // An archive for which it makes no difference says nothing of it.
    fs_err::remove_file(file).unwrap();
    ground.write("w/memory/2026-04-01.md", "Later.\n");
    export(&machine, &workspace, "b.alf", &[]);
    assert_eq!(by("b.alf"), None);
    assert!(has("b.alf", "2026-Q1") && has("b.alf", "2026-Q2"));
}

#[test]
fn an_archive_whose_records_name_the_version_is_continued_without_changing_them() {
    let machine = TestMachine::new();
    install(&machine, "2026.3.13");
    export_only(&machine, "a.alf", &[]);
    let mut earlier = machine.snapshot("a.alf");
    for record in &mut earlier.records {
        record.source.runtime_version = Some("2026.3.13".to_owned());
    }
    machine.write_archive("older.alf", &earlier);
    install(&machine, "2026.3.24");
    export_only(&machine, "b.alf", &[With::Since("older.alf")]);
    let records = &diff(&machine, "older.alf", "b.alf")["records"];
    assert_eq!(records["updated"], json!([]), "{records}");
}

#[test]
fn what_only_travels_on_request_is_listed_and_is_no_warning() {
    let machine = TestMachine::new();
    install(&machine, "2026.3.13");
    let exported = export_only(&machine, "a.alf", &[]);
    assert_eq!(exported["warnings"], json!([]));
    let listed = &exported["left_out_by_default"];
    assert_eq!(fields(listed, "kind"), ["transcripts", "settings"]);
    let transcripts = with(listed, "kind", "transcripts");
    assert_eq!((&transcripts["count"], &transcripts["bytes"]), (&json!(1), &json!(3)));
    let with_sessions = export_only(&machine, "c.alf", &[With::Sessions]);
    assert_eq!(fields(&with_sessions["left_out_by_default"], "kind"), ["settings"]);
}

#[test]
fn the_threshold_decides_which_artifacts_travel() {
    let (machine, ground) = (TestMachine::new(), Ground::new());
    let workspace = ground.small("w");
    ground.write("w/ten.bin", [1; 10]);
    ground.write("w/eleven.bin", [1; 11]);
    let exported = export(&machine, &workspace, "a.alf", &[With::ArtifactThreshold(10)]);
    assert_eq!(
        (&exported["artifacts_included"], &exported["artifacts_referenced"]),
        (&json!(1), &json!(2))
    );
    let large = with(&exported["left_out"], "path", "eleven.bin");
    assert_eq!((&large["reason"], &large["bytes"]), (&json!("referenced"), &json!(11)));
}

#[test]
fn the_id_that_was_written_down_survives_a_move() {
    let (machine, ground) = (TestMachine::new(), Ground::new());
    let workspace = ground.small("w");
    let exported = export(&machine, &workspace, "a.alf", &[With::WriteAgentId]);
    let id = exported["agent_id"].as_str().unwrap();
    assert_eq!(exported["agent_id_file"], workspace.join(".alf-agent-id").display().to_string());
    assert_eq!(ground.read("w/.alf-agent-id"), id.as_bytes());
    // By the existing tool's formula, from the path of the workspace.
    let namespace = uuid::Uuid::from_bytes(*b"alf-agent-id-ns1");
    let canonical = fs_err::canonicalize(&workspace).unwrap();
    let expected = uuid::Uuid::new_v5(&namespace, canonical.to_str().unwrap().as_bytes());
    assert_eq!(id, expected.to_string());
    fs_err::rename(&workspace, ground.path("moved")).unwrap();
    let moved = export(&machine, &ground.path("moved"), "b.alf", &[]);
    assert_eq!(moved["agent_id"], id);
    let since = export(&machine, &ground.path("moved"), "c.alf", &[With::Since("a.alf")]);
    assert_eq!(since["no_changes"], true, "{since}");
}

#[test]
fn a_broken_id_file_is_an_error() {
    let (machine, ground) = (TestMachine::new(), Ground::new());
    let workspace = ground.small("w");
    for broken in ["", "no id", "0190f3a0-7f3c-7b1e-9d2a"] {
        ground.write("w/.alf-agent-id", broken);
        let error = try_export(&machine, &workspace, &[]).unwrap_err();
        assert!(format!("{error:?}").contains(".alf-agent-id"), "{error:?}");
    }
    ground.write("w/.alf-agent-id", "0190f3a0-7f3c-7b1e-9d2a-1c2b3a4d5e6f\n");
    let summary = try_export(&machine, &workspace, &[]).unwrap().summary.unwrap();
    assert_eq!(summary.agent_id, "0190f3a0-7f3c-7b1e-9d2a-1c2b3a4d5e6f");
}

// Which agent.

#[test]
fn the_one_agent_of_the_machine_needs_no_name() {
    let machine = TestMachine::new();
    let error = machine.try_export(AgentChoice::default(), "a.alf", &[]).unwrap_err();
    assert!(matches!(error, ExportError::Agent(FindAgentError::Nothing)), "{error:?}");
    machine.write_home(".openclaw/workspace/SOUL.md", "# Me");
    export_only(&machine, "a.alf", &[]);
    assert!(machine.exists("a.alf"));
}

#[test]
fn of_two_agents_one_must_be_named() {
    let machine = TestMachine::new();
    machine.write_home(".openclaw/workspace/SOUL.md", "# Me");
    machine.write_home(".openclaw-work/workspace/SOUL.md", "# You");
    let error = machine.try_export(AgentChoice::default(), "a.alf", &[]).unwrap_err();
    let ExportError::Agent(FindAgentError::Several(agents)) = error else { panic!("{error:?}") };
    for path in [".openclaw/workspace", ".openclaw-work/workspace"] {
        let path = machine.home(path).display().to_string();
        assert!(agents.iter().any(|agent| agent.contains(&path)), "{agents:?}");
    }
    let exported = export_only(&machine, "a.alf", &[With::Agent("work/main")]);
    assert_eq!(exported["agent_name"], "You");
    let exported = export_only(&machine, "b.alf", &[With::Agent("main")]);
    assert_eq!(exported["agent_name"], "Me");
    let nobody = [With::Agent("nobody")];
    let error = machine.try_export(AgentChoice::default(), "c.alf", &nobody).unwrap_err();
    let ExportError::Agent(FindAgentError::UnknownAlias { known, .. }) = error else {
        panic!("{error:?}")
    };
    assert_eq!(known, ["main", "work/main"]);
    let unknown = AgentChoice { runtime: Some("nobody".to_owned()), ..AgentChoice::default() };
    let error = machine.try_export(unknown, "c.alf", &[]).unwrap_err();
    assert!(
        matches!(error, ExportError::Agent(FindAgentError::UnknownRuntime { .. })),
        "{error:?}"
    );
}

// What holds for all of it.

#[test]
fn two_exports_are_the_same_with_however_many_threads() {
    let (mut machine, ground) = edge();
    let workspace = ground.path("w");
    for (threads, archive) in [(1, "a.alf"), (1, "b.alf"), (4, "c.alf")] {
        machine.host.threads = threads;
        export(&machine, &workspace, archive, &[With::AllowSecrets]);
    }
    let first = machine.read("a.alf");
    assert!(first == machine.read("b.alf"), "the same again");
    assert!(first == machine.read("c.alf"), "with several threads");
}

#[test]
fn reading_never_writes() {
    for generation in ["gen3", "gen9"] {
        let machine = with_fixture(generation);
        machine.vault_key("key");
        let before = tree(&machine.home(".openclaw"));
        let request = AgentsRequest::default();
        machine.run(|host| agents(&request, host)).unwrap();
        assert_eq!(tree(&machine.home(".openclaw")), before);
        for (output, more) in [
            ("a.alf", &[][..]),
            ("n.alf", &[With::DryRun]),
            ("b.alf", &[With::Sessions, With::VaultKey("key")]),
            ("c.alf", &[With::Since("a.alf")]),
            ("d.alf", &[With::RedactSecrets]),
        ] {
            export_only(&machine, output, more);
            assert_eq!(tree(&machine.home(".openclaw")), before, "{more:?}");
        }
    }
}

#[test]
fn an_export_is_a_sound_archive() {
    let (mut machine, ground) = edge();
    export(&machine, &ground.path("w"), "a.alf", &[With::AllowSecrets]);
    assert!(machine.validate("a.alf").valid);
    let shown = support::json(&machine.inspect("a.alf"));
    assert_eq!(shown["digest_sealed"], true, "{shown}");
    let recipient = machine.identity("identity");
    let more = [With::AllowSecrets, With::Recipient(&recipient)];
    export(&machine, &ground.path("w"), "sealed.alf", &more);
    assert!(machine.read("sealed.alf").starts_with(b"age-encryption.org/"));
    let request = DecryptRequest {
        file: machine.path("sealed.alf"),
        output: machine.path("open.alf"),
        existing: Existing::Keep,
        max_work_factor: DecryptRequest::USUAL_WORK_FACTOR,
    };
    machine.host.keys = Keys::new(vec![machine.path("identity")], None, None);
    machine.run(|host| decrypt(&request, host)).unwrap();
    assert!(machine.read("open.alf") == machine.read("a.alf"));
}

#[test]
fn an_unchanged_export_still_says_what_does_not_travel_and_writes_the_id() {
    let (machine, ground) = (TestMachine::new(), Ground::new());
    let workspace = ground.small("w");
    ground.write("w/large.bin", vec![7; 200_000]);
    ground.write("w/node_modules/a.js", "x");
    let small = [With::ArtifactThreshold(100_000)];
    export(&machine, &workspace, "a.alf", &small);
    let more = [&[With::Since("a.alf"), With::WriteAgentId][..], &small].concat();
    let again = export(&machine, &workspace, "b.alf", &more);
    assert_eq!(again["no_changes"], true);
    assert_eq!(with(&again["left_out"], "path", "large.bin")["reason"], "referenced");
    assert_eq!(with(&again["left_out"], "path", "node_modules")["reason"], "skipped");
    assert!(ground.path("w/.alf-agent-id").exists() && !machine.exists("b.alf"));
}

#[test]
fn vectors_of_a_file_that_changed_since_stay_behind() {
    let machine = with_fixture("gen3");
    let (before, _) = export_fixture(&machine, &[]);
    let log = machine.home(".openclaw/workspace/memory/2026-01-15.md");
    let text = fs_err::read_to_string(&log).unwrap();
    fs_err::write(&log, format!("## New\n\nfirst\n\n{text}")).unwrap();
    let (after, snapshot) = export_fixture(&machine, &[With::Force]);
    assert!(before["embeddings"].as_u64() > after["embeddings"].as_u64());
    let records = records_of(&snapshot, "memory/2026-01-15.md");
    assert!(records.iter().all(|record| record.embeddings.is_empty()));
    assert!(fields(&after["warnings"], "code").contains(&"index_stale"), "{after}");
}

#[test]
fn exports_into_the_workspace_leave_each_other_out_and_say_so() {
    let machine = TestMachine::new();
    machine.write("ws/MEMORY.md", "- Lin drinks green tea.\n");
    machine.write("ws/theirs.alf", "not one of ours");
    let export = |name: &str, more: &[With<'_>]| export(&machine, &machine.path("ws"), name, more);
    let own = |report: &Value| -> Vec<String> {
        let left_out = report["left_out"].as_array().unwrap().iter();
        let own = left_out.filter(|out| out["reason"] == "own");
        own.map(|out| out["path"].as_str().unwrap().to_owned()).collect()
    };
    let first = export("ws/one.alf", &[]);
    assert_eq!(own(&first), [] as [&str; 0], "{first}");
    let second = export("ws/two.alf", &[]);
    assert_eq!(own(&second), ["one.alf"], "{second}");
    assert_eq!(second["files_count"], first["files_count"], "{second}");
    let again = export("ws/one.alf", &[With::Force]);
    assert_eq!(own(&again), ["one.alf", "two.alf"], "{again}");
    assert_eq!(machine.read("ws/one.alf"), machine.read("ws/two.alf"));
    let planned = export("three.alf", &[With::DryRun]);
    let planned = planned["files"].to_string();
    assert!(planned.contains("theirs.alf") && !planned.contains("one.alf"), "{planned}");
}

#[test]
#[cfg(target_os = "linux")]
fn a_folder_that_may_not_be_read_is_no_backup() {
    use std::os::unix::fs::PermissionsExt as _;
    let (machine, ground) = (TestMachine::new(), Ground::new());
    ground.write("ws/MEMORY.md", "# Memory\n\n- Tea is green.\n");
    ground.write("ws/memory/2026-11-15.md", "- We met at the river.\n");
    let folder = ground.path("ws/memory");
    fs_err::set_permissions(&folder, std::fs::Permissions::from_mode(0o0)).unwrap();
    if fs_err::read_dir(&folder).is_ok() {
        anemone_testkit::skip("unprivileged", "root may read every folder");
        return;
    }
    let error = try_export(&machine, &ground.path("ws"), &[]).unwrap_err();
    assert!(matches!(error, ExportError::UnreadableMemory(_)), "{error:?}");
    assert!(!machine.exists("a.alf"));
    ground.write("ws/.alfignore", "memory/\n");
    try_export(&machine, &ground.path("ws"), &[]).unwrap();
    fs_err::set_permissions(&folder, std::fs::Permissions::from_mode(0o755)).unwrap();
}

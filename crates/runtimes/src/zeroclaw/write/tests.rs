use anemone_format::{
    AgentInfo, Credential, File, LoadedSnapshot, Manifest, Opaque, Record, RecordId, Snapshot,
    VaultKey,
};
use serde_json::json;
use tempfile::TempDir;

use super::*;
use crate::kit::{Action, OnConflict, SIDECAR, database::tests::machine};
use crate::zeroclaw::discover::locate;

const AGENT: &str = "9e373c1e-cab7-5eea-90c3-8f3d09ac5755";

fn snapshot(runtime: &str) -> Snapshot {
    let at = "2026-08-30T12:00:00Z".parse().unwrap();
    Snapshot::new(Manifest::new(AgentInfo::new(AGENT.parse().unwrap(), "a", runtime), at))
}

fn raw(path: &str, content: &str) -> File {
    File::new(FileRoot::Raw(RUNTIME.to_owned()), path, content)
}

/// A record of a row, or of an entry in a file.
fn record(id: u128, content: &str, file: Option<&str>) -> Record {
    let id = RecordId::new(uuid::Uuid::from_u128(id));
    let at = "2026-01-15T03:04:05Z".parse().unwrap();
    let mut record = Record::new(id, AGENT.parse().unwrap(), RUNTIME, at, content);
    record.namespace = if file == Some("MEMORY.md") { "core" } else { "daily" }.to_owned();
    record.source.origin = file.map(|_| "workspace".to_owned());
    record.source.origin_file = file.map(str::to_owned);
    record.raw_source_format = Some(Opaque::new(&json!({ "key": content })).unwrap());
    record
}

fn with_records(mut snapshot: Snapshot, records: Vec<Record>) -> Snapshot {
    snapshot.records = records;
    snapshot.manifest.layers.memory = Some(Default::default());
    snapshot.manifest.layers.memory.as_mut().unwrap().record_count = snapshot.records.len() as u64;
    snapshot
}

fn planned(
    folder: &Path,
    snapshot: &Snapshot,
    backend: Option<InstallBackend>,
) -> Result<Plan, PlanError> {
    let scratch = TempDir::new().unwrap();
    let machine = machine(scratch.path());
    let target = locate(&machine, folder, None);
    let options = PlanOptions { backend, ..PlanOptions::new(OnConflict::Stop) };
    let snapshot = LoadedSnapshot::new(snapshot);
    plan(&machine, &RestoreSource::open(&machine, &snapshot, RUNTIME)?, &target, &options)
}

/// The files that a plan creates, without the sidecar.
fn files(plan: &Plan) -> Vec<String> {
    let made = plan.steps.iter().filter(|step| step.action == Action::Create && step.size() > 0);
    let paths = made.map(|file| lossy(&file.path));
    paths.filter(|path| !path.starts_with(SIDECAR) && path != ".alf-agent-id").collect()
}

#[test]
fn rows_and_notes_of_a_database_all_become_entries_of_a_markdown_install() {
    let folder = TempDir::new().unwrap();
    let mut snapshot = with_records(
        snapshot(RUNTIME),
        vec![
            record(1, "curated", Some("MEMORY.md")),
            record(2, "noted", Some("memory/2026-01-15.md")),
            record(3, "row", None),
        ],
    );
    snapshot.files = vec![
        raw(DESCRIPTION, "{}"),
        raw("MEMORY.md", "- **curated**: curated\n"),
        raw("memory/2026-01-15.md", "- **noted**: noted\n"),
    ];
    let plan =
        planned(&folder.path().join("new"), &snapshot, Some(InstallBackend::Markdown)).unwrap();
    assert_eq!(files(&plan), ["MEMORY.md", "memory/2026-01-15.md"]);
    assert_eq!(plan.records, 3);
    let length = |path: &str| {
        let step = plan.steps.iter().find(|step| step.path == path.as_bytes()).unwrap();
        step.size()
    };
    let log = "# Daily Log — 2026-01-15\n\n- **noted**: noted\n\n- **row**: row\n";
    assert_eq!(length("memory/2026-01-15.md"), log.len() as u64);
}

#[test]
fn a_snapshot_without_settings_and_database_comes_back_as_files() {
    let folder = TempDir::new().unwrap();
    let mut snapshot =
        with_records(snapshot(RUNTIME), vec![record(1, "noted", Some("memory/2026-01-15.md"))]);
    snapshot.files = vec![
        raw("SOUL.md", "x"),
        raw("cron/jobs.db", "x"),
        raw("memory/2026-01-15.md", "- **noted**: noted\n"),
        raw("state/x.json", "{}"),
    ];
    let plan = planned(&folder.path().join("new"), &snapshot, None).unwrap();
    let all = ["SOUL.md", "cron/jobs.db", "memory/2026-01-15.md", "state/x.json"];
    assert_eq!(files(&plan), all);
    assert!(plan.memories.is_none());
    let config = plan.config.unwrap();
    assert!(config.change.planned_text().unwrap().contains("backend = \"markdown\""));
    // In a database, the notes become rows, and only they have no place.
    let plan =
        planned(&folder.path().join("new"), &snapshot, Some(InstallBackend::Sqlite)).unwrap();
    assert_eq!(files(&plan), ["SOUL.md", "cron/jobs.db", "state/x.json"]);
    assert_eq!(plan.memories.unwrap().added, 1);
}

#[test]
fn records_that_no_file_holds_are_never_left_out() {
    let folder = TempDir::new().unwrap();
    let records = vec![record(1, "noted", Some("memory/2026-01-15.md")), record(2, "row", None)];
    let mut snapshot = with_records(snapshot(RUNTIME), records);
    snapshot.files = vec![raw("memory/2026-01-15.md", "- **noted**: noted\n")];
    let plan = planned(&folder.path().join("new"), &snapshot, None).unwrap();
    assert_eq!(plan.memories.unwrap().added, 2);
    let plan =
        planned(&folder.path().join("new"), &snapshot, Some(InstallBackend::Markdown)).unwrap();
    assert_eq!(files(&plan), ["memory/2026-01-15.md", "memory/2026-01-15_1.md"]);
    assert_eq!((plan.records, plan.not_restored.len()), (2, 0));
}

#[test]
fn nothing_is_planned_where_the_settings_cannot_be_read() {
    let folder = TempDir::new().unwrap();
    let snapshot = with_records(snapshot(RUNTIME), vec![record(1, "row", None)]);
    let config = folder.path().join("config.toml");
    fs_err::create_dir_all(folder.path().join("agents/default/workspace")).unwrap();
    let refused = || {
        let error = planned(folder.path(), &snapshot, None).unwrap_err();
        assert!(matches!(&error, PlanError::Settings { path, .. } if *path == config), "{error}");
        error.to_string()
    };
    fs_err::write(&config, "[memory\n").unwrap();
    assert!(refused().contains("not TOML"));
    fs_err::remove_file(&config).unwrap();
    let elsewhere = folder.path().join("dotfiles.toml");
    fs_err::os::unix::fs::symlink(&elsewhere, &config).unwrap();
    assert!(refused().contains("link"), "it leads nowhere");
    fs_err::write(&elsewhere, "[memory]\nbackend = \"markdown\"\n").unwrap();
    assert!(refused().contains("link"));
}

#[test]
fn credentials_that_the_agent_has_now_count_before_those_that_it_had() {
    let key = VaultKey::parse(&"7f".repeat(32)).unwrap();
    let credential = |label: &str, secret: Option<&str>| {
        let id = "5c1d7b0e-9a51-4f9e-8a8e-0d4d2f0c9a11";
        let mut it: Credential = serde_json::from_value(json!({
            "id": id, "agent_id": AGENT, "service": "x", "credential_type": "api_key",
            "label": label, "encrypted_payload": NOT_EXPORTED,
            "encryption": { "algorithm": "none", "nonce": "" },
            "created_at": "2026-01-01T00:00:00Z",
        }))
        .unwrap();
        if let Some(secret) = secret {
            let fresh = key.freshness_for(&it, secret.as_bytes()).unwrap();
            key.seal(&mut it, secret.as_bytes(), &fresh).unwrap();
        }
        it
    };
    let list = |credentials| Credentials { credentials, unknown: Default::default() };
    let now = list(vec![
        credential("both", Some("live")),
        credential("named", None),
        credential("new", Some("live")),
    ]);
    let had = list(vec![
        credential("both", Some("old")),
        credential("named", Some("old")),
        credential("gone", Some("old")),
    ]);
    let found: Vec<_> = merged(now, had)
        .credentials
        .iter()
        .map(|credential| {
            let secret = String::from_utf8(key.open(credential).unwrap().to_vec()).unwrap();
            (credential.label.clone().unwrap(), secret)
        })
        .collect();
    let expected = [("both", "live"), ("named", "old"), ("new", "live"), ("gone", "old")];
    assert_eq!(found, expected.map(|(label, secret)| (label.to_owned(), secret.to_owned())));
}

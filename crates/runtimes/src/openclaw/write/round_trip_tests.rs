//! Round trips, with the other runtime simulated.

mod law_tests;

use std::convert::Infallible;
use std::io::Read as _;
use std::path::Path;

use anemone_format::{File, LoadedSnapshot, Moment, NOT_EXPORTED, Node, Opaque, Snapshot};
use serde::Serialize;

use super::tests::plan;
use super::*;
use crate::kit::tree::tests::{at, carried_folder, file, link, snapshot};
use crate::kit::{KnownConfigs, LinkPart, RecordChange, SIDECAR, StepKind};
use crate::openclaw::memory::{self, MemoryFile, Shared};

const OTHER: &str = "zeroclaw";

pub(super) fn machine(path: &Path) -> Machine {
    Machine {
        home: path.to_owned(),
        variables: BTreeMap::new(),
        database_reader: path.join("none"),
        scratch: path.to_owned(),
        configs: KnownConfigs::default(),
    }
}

pub(super) fn agent(path: &Path) -> FoundAgent {
    FoundAgent::without_install(RUNTIME, "main".to_owned(), path.join("w"))
}

/// All files that a plan creates in an empty place.
fn made(plan: &Plan, source: &LoadedSnapshot<'_>) -> Vec<File> {
    let file = |step: &crate::kit::plan::Step| {
        let node = match &step.node {
            PlannedNode::File { size, content, .. } => {
                let mut bytes = Vec::new();
                plan.open(content, source).unwrap().read_to_end(&mut bytes).unwrap();
                assert_eq!(*size, bytes.len() as u64, "{}", lossy(&step.path));
                Node::File(bytes)
            }
            PlannedNode::Symlink(target) => Node::Symlink(target.clone()),
            PlannedNode::Folder => Node::Folder,
        };
        assert_eq!(step.kind() == StepKind::Folder, node == Node::Folder);
        let mut file = File::new(FileRoot::Artifacts, "", "");
        (file.path, file.node) = (step.path.clone(), node);
        (file.mode, file.mtime) = (step.mode, step.mtime.clone());
        file
    };
    plan.steps.iter().map(file).collect()
}

fn text_of(file: &File) -> &str {
    let Node::File(bytes) = &file.node else { return "" };
    std::str::from_utf8(bytes).unwrap_or("")
}

/// Plans a snapshot as an OpenClaw workspace.
fn planned(snapshot: &Snapshot) -> (Plan, Vec<File>) {
    let root = tempfile::tempdir().unwrap();
    let source = LoadedSnapshot::new(snapshot);
    let options = PlanOptions::new(OnConflict::Stop);
    let plan = plan(&machine(root.path()), &source, &agent(root.path()), &options).unwrap();
    let files = made(&plan, &source);
    (plan, files)
}

/// Reads the files of an OpenClaw workspace.
pub(super) fn read(files: &[File]) -> Snapshot {
    let mut snapshot = snapshot();
    let shared = Shared::of(snapshot.manifest.agent.id);
    for file in files {
        let mut file = file.clone();
        if file.path == AGENT_ID_FILE.as_bytes() {
            continue;
        }
        file.root = if super::super::layout::is_managed(&file.path) {
            FileRoot::Raw(RUNTIME.to_owned())
        } else {
            FileRoot::Artifacts
        };
        if let (PathRole::Memory(kind), Node::File(bytes)) = (place_of(&file.path), &file.node)
            && let Ok(text) = std::str::from_utf8(bytes)
        {
            let (path, mtime) = (lossy(&file.path), file.mtime.clone().unwrap());
            let memory = MemoryFile { path: &path, kind: &kind, text, mtime: &mtime, chunks: &[] };
            let Ok(()) = memory::records::<Infallible>(&memory, &shared, &mut |record| {
                snapshot.records.push(record);
                Ok(())
            });
        }
        snapshot.files.push(file);
    }
    snapshot.sort();
    snapshot
}

/// A workspace with everything that is hard to restore.
pub(super) fn workspace() -> Vec<File> {
    let mut odd = file("memory/x", "odd name");
    odd.path = b"memory/caf\xe9.md".to_vec();
    let mut odder = file("x", "odd name too");
    odder.path = b"caf\xe9 %E9.txt".to_vec();
    let mut secret = file("notes/private.md", "mine");
    secret.mode = Some(0o600);
    let mut tool = file("tools/run.sh", "#!/bin/sh\r\n");
    tool.mode = Some(0o755);
    let mut files = vec![
        file("SOUL.md", "# Soul\n\nKind.\n"),
        file("AGENTS.md", "# Rules"),
        file("USER.md", "\u{feff}# Lin\r\n"),
        file(
            "MEMORY.md",
            "\u{feff}# Long-term\r\n\r\n## Tea\r\nOolong.\r\n\r\n\r\n## Shell\r\nSmall.",
        ),
        carried_folder("memory", 0o750),
        file(
            "memory/2026-01-15.md",
            "## Morning — 9:05 AM\n\nTide.\n\n```\n## not a heading\n```\n\n\n## Evening\n\n- [decision|i=0.9] Move #shells\n\n",
        ),
        file("memory/2026-01-16.md", "no heading at all, no end"),
        file("memory/active-context.md", "\n\nNow.\n"),
        file(
            "memory/gating-policies.md",
            "# Gates\n\n| id | rule |\n|----|------|\n| GP-1 | Ask first |\n| GP-2 | Read twice |\n| GP-3 | Sleep |\n\nThat is all.\n",
        ),
        file("memory/blank.md", " \n\n"),
        carried_folder("memory/topics", 0o755),
        file("memory/topics/2025-11-03.md", "---\ndate: 2025-11-03\n---\n## Nested\nx\n"),
        file("memory/open.md", "## One\n\nx\n\n## Two\n\n```sh\nnever closed\n"),
        file("memory/data.bin", "\u{0}\u{1}"),
        odd,
        link("memory/latest.md", "2026-01-16.md"),
        link("outside", "/etc/hostname"),
        carried_folder("empty", 0o700),
        carried_folder("notes", 0o755),
        secret,
        carried_folder("tools", 0o755),
        tool,
        odder,
    ];
    files.sort_by(|a, b| a.path.cmp(&b.path));
    files
}

#[derive(Serialize)]
struct Row {
    key: String,
    rowid: u64,
}

/// What the other runtime makes of a snapshot: a row for every record, the files with the same
/// meaning there, and the folder.
pub(super) fn moved(original: &Snapshot) -> Snapshot {
    let root = tempfile::tempdir().unwrap();
    let source = LoadedSnapshot::new(original);
    let machine = machine(root.path());
    let mut draft = PlanBuilder::default();
    let mut keep = SidecarContent::default();
    for (index, file) in source.files().iter().enumerate() {
        let persona = matches!(place_of(&file.path), PathRole::Persona(_));
        if persona || file.root == FileRoot::Artifacts {
            draft.wanted.push(PlannedFile::carried(index, file));
            keep.placed.push(PlacedFile::of(file));
        } else {
            keep.aside.push(index);
        }
    }
    if original.files.iter().all(|file| file.path != b"IDENTITY.md") {
        let made_at = at("2026-05-01T00:00:00Z");
        draft.wanted.push(PlannedFile::text("IDENTITY.md", "made".to_owned(), made_at));
        keep.placed.push(PlacedFile::made("IDENTITY.md"));
    }
    keep.placed.push(PlacedFile::made("config.toml"));
    let mut records = Vec::new();
    for (number, record) in original.records.iter().enumerate() {
        let key = format!("key {number}");
        let parts = vec![LinkPart::new(None, Some(&key), &record.content)];
        keep.links.push(Link::new(record.id, parts));
        let content = record.content.trim_matches(['\n', '\r']);
        let created = record.temporal.created_at.clone();
        let mut row = Record::new(record.id, record.agent_id, OTHER, created, content);
        row.namespace = "core".to_owned();
        row.raw_source_format = Some(Opaque::new(&Row { key, rowid: number as u64 }).unwrap());
        records.push(row);
    }
    sidecar::keep(&machine, &source, keep, &mut draft).unwrap();
    let options = PlanOptions::new(OnConflict::Stop);
    let plan = plan::plan(&root.path().join("z"), draft, &source, &options).unwrap();
    assert_eq!(plan.not_restored, []);
    let mut result = snapshot();
    result.manifest.agent.source_runtime = OTHER.to_owned();
    result.manifest.created_at = at("2026-06-01T00:00:00Z");
    result.records = records;
    result.files = made(&plan, &source);
    for extra in ["config.toml", ".alf-database.json"] {
        result.files.push(File::new(FileRoot::Artifacts, extra, "made by the import"));
    }
    for file in &mut result.files {
        let persona = matches!(place_of(&file.path), PathRole::Persona(_));
        let managed = is_in_sidecar(&file.path)
            || [&b"config.toml"[..], b".alf-database.json"].contains(&&file.path[..]);
        if persona || managed {
            file.root = FileRoot::Raw(OTHER.to_owned());
        }
    }
    result.sort();
    result
}

/// Compares two trees; the id file is ours.
fn differences(before: &[File], after: &[File]) -> Vec<String> {
    let by_path = |files: &[File]| -> BTreeMap<Vec<u8>, File> {
        let kept = files.iter().filter(|file| file.path != AGENT_ID_FILE.as_bytes());
        kept.map(|file| (file.path.clone(), File { root: FileRoot::Artifacts, ..file.clone() }))
            .collect()
    };
    let (before, after) = (by_path(before), by_path(after));
    let mut paths: Vec<&Vec<u8>> = before.keys().chain(after.keys()).collect();
    paths.sort();
    paths.dedup();
    let different = paths.into_iter().filter(|path| before.get(*path) != after.get(*path));
    different.map(|path| lossy(path)).collect()
}

fn find<'a>(files: &'a [File], path: &str) -> &'a File {
    files.iter().find(|file| file.path == path.as_bytes()).unwrap_or_else(|| panic!("no {path}"))
}

fn record_with<'a>(snapshot: &'a mut Snapshot, text: &str) -> &'a mut Record {
    snapshot.records.iter_mut().find(|record| record.content.contains(text)).unwrap()
}

fn forget(snapshot: &mut Snapshot, text: &str) {
    let before = snapshot.records.len();
    snapshot.records.retain(|record| !record.content.contains(text));
    assert_eq!(snapshot.records.len(), before - 1, "{text}");
}

#[test]
fn a_workspace_that_nothing_happened_to_comes_back_byte_for_byte() {
    let files = workspace();
    let original = read(&files);
    assert!(original.records.len() > 12, "{}", original.records.len());
    let away = moved(&original);
    let (plan, back) = planned(&away);
    assert_eq!(differences(&files, &back), Vec::<String>::new());
    assert_eq!((plan.warnings.len(), plan.not_restored.len()), (1, 0), "{:?}", plan.warnings);
    assert_eq!(plan.warnings[0].code, "link_outside");
    assert_eq!(plan.records, original.records.len() as u64);
    assert_eq!(plan.agent_id, original.manifest.agent.id);
    // And a second time.
    let (_, again) = planned(&moved(&read(&back)));
    assert_eq!(differences(&files, &again), Vec::<String>::new());
}

#[test]
fn only_what_changed_is_different() {
    let files = workspace();
    let mut away = moved(&read(&files));
    let later = at("2026-05-05T05:05:05Z");
    let tea = record_with(&mut away, "Oolong");
    tea.content = "## Tea\r\nPu-erh.".to_owned();
    tea.temporal.updated_at = Some(later.clone());
    forget(&mut away, "Evening");
    let (_, back) = planned(&away);
    // What the other runtime knows about the changed row has no place here.
    let only: Vec<String> = differences(&files, &back)
        .into_iter()
        .filter(|difference| !difference.starts_with(SIDECAR))
        .collect();
    assert_eq!(only, ["MEMORY.md", "memory/2026-01-15.md"]);
    let memory = find(&back, "MEMORY.md");
    let expected = "\u{feff}# Long-term\r\n\r\n## Tea\r\nPu-erh.\r\n\r\n\r\n## Shell\r\nSmall.";
    assert_eq!((text_of(memory), memory.mode), (expected, Some(0o640)));
    assert_eq!(memory.mtime, Some(later));
    let daily = find(&back, "memory/2026-01-15.md");
    let expected = "## Morning — 9:05 AM\n\nTide.\n\n```\n## not a heading\n```\n";
    assert_eq!(text_of(daily), expected);
    assert_eq!(daily.mtime, Some(at("2026-06-01T00:00:00Z")));
}

#[test]
fn something_forgotten_needs_no_folder_and_an_empty_file_goes() {
    let files = workspace();
    let mut away = moved(&read(&files));
    forget(&mut away, "no heading at all");
    forget(&mut away, "Evening");
    let (_, back) = planned(&away);
    assert_eq!(differences(&files, &back), ["memory/2026-01-15.md", "memory/2026-01-16.md"]);
    assert!(back.iter().all(|back| back.path != b"memory/2026-01-16.md"));
}

#[test]
fn what_was_forgotten_is_counted_and_named() {
    let mut away = moved(&read(&workspace()));
    assert_eq!(planned(&away).0.forgotten, crate::kit::plan::Forgotten::default());
    forget(&mut away, "no heading at all");
    forget(&mut away, "Evening");
    let root = tempfile::tempdir().unwrap();
    let target = agent(root.path());
    fs_err::create_dir_all(target.workspace.join("memory")).unwrap();
    fs_err::write(target.workspace.join("memory/2026-01-16.md"), "mine").unwrap();
    let options = PlanOptions::new(OnConflict::Theirs);
    let plan = plan(&machine(root.path()), &LoadedSnapshot::new(&away), &target, &options).unwrap();
    assert_eq!(plan.forgotten.count, 2);
    let mut names = plan.forgotten.names.clone();
    names.sort();
    let expected =
        ["memory/2026-01-15.md: Evening", "memory/2026-01-16.md: no heading at all, no end"];
    assert_eq!(names, expected);
    // Nothing takes the place of the file, so it stays.
    let noted = plan.not_restored.iter().find(|restored| restored.what.as_str() == "file").unwrap();
    assert_eq!(noted.path.as_deref(), Some("memory/2026-01-16.md"));
    assert!(noted.reason.ends_with("the existing file is kept"), "{noted:?}");
}

fn credential(service: &str, label: &str, payload: &str) -> Credential {
    let text = format!(
        r#"{{"id":"1d93a526-85b1-5b5b-9ac8-2fcc8749633d",
            "agent_id":"9e373c1e-cab7-5eea-90c3-8f3d09ac5755","service":"{service}",
            "label":"{label}","credential_type":"api_key","encrypted_payload":"{payload}",
            "encryption":{{"algorithm":"xchacha20-poly1305","nonce":"AAAA"}},
            "created_at":"2026-01-01T00:00:00Z","updated_at":"2026-01-01T00:00:00Z"}}"#
    );
    serde_json::from_str(&text).unwrap()
}

fn credentials(list: Vec<Credential>) -> Option<Credentials> {
    let mut credentials: Credentials = serde_json::from_str(r#"{"credentials":[]}"#).unwrap();
    credentials.credentials = list;
    Some(credentials)
}

#[test]
fn the_folder_names_credentials_and_has_no_secret_and_live_ones_count() {
    let mut original = read(&workspace());
    original.credentials = credentials(vec![
        credential("openai", "openai:default", "c2VhbGVk"),
        credential("old", "old:default", "c2VhbGVk"),
    ]);
    let away = moved(&original);
    let kept = text_of(find(&away.files, ".alf-origin/credentials.json"));
    assert!(kept.contains(NOT_EXPORTED) && !kept.contains("c2VhbGVk"), "{kept}");
    assert!(!kept.contains("AAAA"), "{kept}");
    // Sealed again with another key, it is the same.
    original.credentials = credentials(vec![
        credential("openai", "openai:default", "YW5vdGhlcg"),
        credential("old", "old:default", "YW5vdGhlcg"),
    ]);
    let again = moved(&original);
    assert_eq!(text_of(find(&again.files, ".alf-origin/credentials.json")), kept);
    let mut there: Option<Credentials> = serde_json::from_str(kept).unwrap();
    let live = credentials(vec![credential("openai", "openai:default", "bGl2ZQ")]);
    returning_files::add_credentials(&mut there, live);
    let payloads: Vec<(String, String)> = there
        .unwrap()
        .credentials
        .into_iter()
        .map(|credential| (credential.service, credential.encrypted_payload))
        .collect();
    let expected = [("old", NOT_EXPORTED), ("openai", "bGl2ZQ")];
    assert_eq!(
        payloads,
        expected.map(|(service, expected)| (service.to_owned(), expected.to_owned()))
    );
}

#[test]
fn a_status_that_a_comment_says_is_no_part_of_the_text() {
    let original = rows();
    let (_, mut files) = planned(&original);
    let core = files.iter_mut().find(|file| file.path == b"MEMORY.md").unwrap();
    let Node::File(bytes) = &mut core.node else { panic!() };
    let text = String::from_utf8(bytes.clone()).unwrap();
    let comment = "<!-- observed: 2026-05-05 | status: superseded -->";
    let text = text.replacen("Likes oolong.", &format!("{comment}\nLikes oolong."), 1);
    *bytes = text.into_bytes();
    let away = read(&files);
    let root = tempfile::tempdir().unwrap();
    let source = LoadedSnapshot::new(&away);
    let returned = ReturningSnapshot::open(&machine(root.path()), &source, OTHER, &mut Vec::new());
    let returned = returned.unwrap().unwrap();
    let mut found = Vec::new();
    returned
        .each_record(&mut |record| {
            let change = returned.fate(record.id);
            if change != Some(RecordChange::Same) {
                found.push((record.content.clone(), record.status.clone(), change));
            }
            Ok(())
        })
        .unwrap();
    let expected = ("Likes oolong.".to_owned(), Status::Superseded, Some(RecordChange::Changed));
    assert_eq!(found, [expected]);
}

#[test]
fn more_added_texts_than_a_plan_writes_are_not_looked_for() {
    let mut away = moved(&read(&workspace()));
    let id = record_with(&mut away, "Oolong").id.to_string();
    record_with(&mut away, "Oolong").content = "## Tea\r\nb c d e f Pu-erh.".to_owned();
    let add = |away: &mut Snapshot, added: &str| {
        let links =
            away.files.iter_mut().find(|file| file.path == b".alf-origin/links.jsonl").unwrap();
        let text: String = text_of(links)
            .lines()
            .map(|line| {
                if line.contains(&id) {
                    format!("{},\"added\":{added}}}\n", line.strip_suffix('}').unwrap())
                } else {
                    format!("{line}\n")
                }
            })
            .collect();
        links.node = Node::File(text.into_bytes());
    };
    let memory = |away: &Snapshot| {
        let (_, back) = planned(away);
        let text = text_of(find(&back, "MEMORY.md")).to_owned();
        text.lines().find(|line| line.contains("Pu-erh")).unwrap().to_owned()
    };
    let mut few = away.clone();
    add(&mut few, r#"["b ","c "]"#);
    assert_eq!(memory(&few), "d e f Pu-erh.");
    add(&mut away, r#"["b ","c ","d ","e ","f "]"#);
    assert_eq!(memory(&away), "b c d e f Pu-erh.");
}

#[test]
fn what_was_not_read_is_not_forgotten() {
    let away = moved(&read(&workspace()));
    let fails = |away: &Snapshot| {
        let root = tempfile::tempdir().unwrap();
        let options = PlanOptions::new(OnConflict::Stop);
        let source = LoadedSnapshot::new(away);
        let planned = plan(&machine(root.path()), &source, &agent(root.path()), &options);
        matches!(planned, Err(PlanError::MemoriesUnread(runtime)) if runtime == OTHER)
    };
    assert!(!fails(&away));
    // The runtime no longer keeps memories, or keeps them elsewhere.
    let mut elsewhere = away.clone();
    elsewhere.files.retain(|file| file.path != b".alf-database.json");
    assert!(fails(&elsewhere));
    // The move was aborted before any row was written; a file of memories changes nothing.
    let mut halfway = away;
    halfway.records.truncate(1);
    assert!(!fails(&halfway));
    halfway.records[0].source.origin_file = Some("MEMORY.md".to_owned());
    assert!(fails(&halfway));
    halfway.records.clear();
    assert!(fails(&halfway));
}

#[test]
fn private_and_blank_memories_of_another_runtime_stand_in_no_file() {
    let mut other = snapshot();
    other.manifest.agent.source_runtime = OTHER.to_owned();
    let mut add = |number: u128, key: &str, content: &str| {
        let id = RecordId::new(uuid::Uuid::from_u128(number));
        let created = at("2026-05-01T10:00:00Z");
        let mut record = Record::new(id, other.manifest.agent.id, OTHER, created, content);
        record.namespace = "core".to_owned();
        let row = Row { key: key.to_owned(), rowid: 1 };
        record.raw_source_format = Some(Opaque::new(&row).unwrap());
        other.records.push(record);
    };
    add(1, "p|lin|diary", "Only for Lin.");
    add(2, "blank", " ");
    add(3, "tea", "Oolong.");
    let (plan, files) = planned(&other);
    assert_eq!(text_of(find(&files, "MEMORY.md")), "## tea\n\nOolong.\n");
    let with_it: Vec<String> = files
        .iter()
        .filter(|file| text_of(file).contains("Lin"))
        .map(|file| lossy(&file.path))
        .collect();
    assert_eq!(with_it, [".alf-origin/records.jsonl"]);
    let noted: Vec<&str> =
        plan.not_restored.iter().map(|restored| restored.reason.as_str()).collect();
    assert_eq!(noted.len(), 2, "{noted:?}");
    assert!(noted[0].starts_with("1 record: they are kept for one person"), "{noted:?}");
    // Back in the other runtime, all three exist, though neither of the two was read.
    let mut away = read(&files);
    away.files.iter_mut().for_each(|file| {
        if is_in_sidecar(&file.path) {
            file.root = FileRoot::Raw(RUNTIME.to_owned());
        }
    });
    let root = tempfile::tempdir().unwrap();
    let source = LoadedSnapshot::new(&away);
    let returned = ReturningSnapshot::open(&machine(root.path()), &source, OTHER, &mut Vec::new())
        .unwrap()
        .unwrap();
    let mut fates = Vec::new();
    returned
        .each_record(&mut |record| {
            fates.push((record.content.clone(), returned.fate(record.id)));
            Ok(())
        })
        .unwrap();
    let expected =
        ["Only for Lin.", " ", "Oolong."].map(|value| (value.to_owned(), Some(RecordChange::Same)));
    assert_eq!(fates, expected);
}

#[test]
fn entries_of_another_runtimes_file_are_sections_of_their_own() {
    let mut other = snapshot();
    other.manifest.agent.source_runtime = OTHER.to_owned();
    for (number, key) in (1_u64..).zip(["tea", "cat"]) {
        let id = RecordId::new(uuid::Uuid::from_u128(number.into()));
        let created = at("2026-05-01T10:00:00Z");
        let content = format!("All of {key}.");
        let mut record = Record::new(id, other.manifest.agent.id, OTHER, created, &content);
        record.namespace = "core".to_owned();
        record.source.origin_file = Some("MEMORY.md".to_owned());
        let place = serde_json::json!({"key": key, "line_start": 2 * number});
        record.raw_source_format = Some(Opaque::new(&place).unwrap());
        other.records.push(record);
    }
    let (_, files) = planned(&other);
    let text = text_of(find(&files, "MEMORY.md"));
    assert_eq!(text, "## tea\n\nAll of tea.\n\n## cat\n\nAll of cat.\n");
}

#[test]
fn rows_of_a_table_are_changed_and_cut_out() {
    let files = workspace();
    let mut away = moved(&read(&files));
    forget(&mut away, "GP-1");
    record_with(&mut away, "GP-2").content = "Read | three times".to_owned();
    forget(&mut away, "GP-3");
    let (_, back) = planned(&away);
    assert_eq!(
        text_of(find(&back, "memory/gating-policies.md")),
        "# Gates\n\n| id | rule |\n|----|------|\n| Read \\| three times |\n\nThat is all.\n"
    );
}

#[test]
fn a_row_stays_one_line_whatever_it_becomes() {
    let files = workspace();
    let mut away = moved(&read(&files));
    let gates = record_with(&mut away, "GP-1");
    gates.content.push_str("\n\nand | wait");
    record_with(&mut away, "GP-2").content = "Read\n# three times".to_owned();
    record_with(&mut away, "GP-3").status = Status::Superseded;
    let (_, back) = planned(&away);
    let text = text_of(find(&back, "memory/gating-policies.md"));
    assert_eq!(
        text,
        "# Gates\n\n| id | rule |\n|----|------|\n| GP-1 | Ask first | and | wait |\n\
         | Read # three times |\n| GP-3 | Sleep <!-- status: superseded --> |\n\nThat is all.\n"
    );
    assert_eq!(split_records::cut("memory/gating-policies.md", text).len(), 3);
}

#[test]
fn new_memories_are_added_where_they_belong() {
    let files = workspace();
    let mut away = moved(&read(&files));
    let agent = away.manifest.agent.id;
    let mut add = |number: u128, namespace: &str, created: &str, content: &str| {
        let id = RecordId::new(uuid::Uuid::from_u128(number));
        let mut record = Record::new(id, agent, OTHER, at(created), content);
        record.namespace = namespace.to_owned();
        let row = Row { key: format!("new_{number}"), rowid: 900 };
        record.raw_source_format = Some(Opaque::new(&row).unwrap());
        away.records.push(record);
    };
    add(1, "core", "2026-05-01T10:00:00Z", "Likes rain.");
    add(2, "daily", "2026-01-16T10:00:00Z", "Rained.");
    add(3, "daily", "2026-05-02T10:00:00Z", "Sun.");
    add(4, "conversation", "2026-05-02T10:00:00Z", "```\nopen");
    add(5, "conversation", "2026-05-03T10:00:00Z", "closed");
    away.sort();
    let (plan, back) = planned(&away);
    let only: Vec<String> = differences(&files, &back)
        .into_iter()
        .filter(|difference| !difference.starts_with(SIDECAR))
        .collect();
    assert_eq!(
        only,
        [
            "MEMORY.md",
            "memory/2026-01-16.md",
            "memory/2026-05-02.md",
            "memory/conversation-part-2.md",
            "memory/conversation.md",
        ]
    );
    let end = "\r\nSmall.\n\n## new_1\n\nLikes rain.\n";
    assert!(text_of(find(&back, "MEMORY.md")).ends_with(end));
    let daily = "no heading at all, no end\n\n## new_2\n\nRained.\n";
    assert_eq!(text_of(find(&back, "memory/2026-01-16.md")), daily);
    assert_eq!(text_of(find(&back, "memory/2026-05-02.md")), "## new_3\n\nSun.\n");
    assert_eq!(text_of(find(&back, "memory/conversation.md")), "## new_5\n\nclosed\n");
    assert_eq!(text_of(find(&back, "memory/conversation-part-2.md")), "## new_4\n\n```\nopen\n");
    assert_eq!(plan.records, away.records.len() as u64);
    // The folder now describes the other runtime, and all of its records.
    let manifest = text_of(find(&back, ".alf-origin/manifest.json"));
    assert!(manifest.contains(r#""source_runtime": "zeroclaw""#), "{manifest}");
    let lines = text_of(find(&back, ".alf-origin/records.jsonl")).lines().count();
    assert_eq!(lines, away.records.len());
    // Back there, every row is unchanged.
    assert_eq!(fates(&read(&back), &away), BTreeMap::from([("same", away.records.len())]));
}

/// Treats a workspace as a later state of a snapshot of the other runtime, and counts what happened
/// to its records; untouched ones are unchanged.
fn fates(workspace: &Snapshot, original: &Snapshot) -> BTreeMap<&'static str, usize> {
    let root = tempfile::tempdir().unwrap();
    let source = LoadedSnapshot::new(workspace);
    let mut warnings = Vec::new();
    let returned = ReturningSnapshot::open(&machine(root.path()), &source, OTHER, &mut warnings);
    let returned = returned.unwrap().expect("the folder is there");
    assert_eq!(warnings, []);
    let mut originals = Vec::new();
    returned
        .each_original(&mut |record| {
            originals.push(record.clone());
            Ok(())
        })
        .unwrap();
    assert_eq!(originals, original.records);
    let mut counts = BTreeMap::new();
    let mut now: BTreeMap<RecordId, Record> = BTreeMap::new();
    returned
        .each_record(&mut |record| {
            if returned.fate(record.id).is_none() {
                *counts.entry("new").or_default() += 1;
            }
            now.insert(record.id, record.clone());
            Ok(())
        })
        .unwrap();
    for record in &original.records {
        let word = match returned.fate(record.id).unwrap() {
            RecordChange::Same => {
                assert_eq!(now.get(&record.id), Some(record));
                "same"
            }
            RecordChange::Changed => "changed",
            RecordChange::Forgotten => "forgotten",
        };
        *counts.entry(word).or_default() += 1;
    }
    counts
}

/// A snapshot of the other runtime whose rows are hard to hold in Markdown.
fn rows() -> Snapshot {
    let mut result = snapshot();
    result.manifest.agent.source_runtime = OTHER.to_owned();
    let long = "x".repeat(1 << 20);
    let contents = [
        ("core", "Likes oolong."),
        ("core", "Likes oolong."),
        ("core", "## One\n\na\n\n## Two\n\nb\n\n## Two\n\nb"),
        ("core", "intro\n\n## Inside\n\nmore"),
        ("core", "```\nnever closed\n## no heading"),
        ("core", "<!-- never closed"),
        ("core", "会議は明日 🦞"),
        ("core", "  leading and trailing \n\n\n"),
        ("core", "Setext\n---\nmore\n\n===\n"),
        ("core", "---\nkey: value\n---\nfront matter"),
        ("core", "\u{feff}bom"),
        ("core", "crlf\r\n\r\n## Heading\r\nmore\r\n"),
        ("core", "# First level\n\ntext"),
        ("core", " "),
        ("core", "<!-- status: superseded -->\nstill in force"),
        ("core", &long),
        ("daily", "- **k**: v"),
        ("daily", "> quoted\n> ## no"),
        ("conversation", "1. one\n2. two\n\n    ## code"),
        ("procedural", "| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |"),
        ("procedural", "plain rule"),
        ("procedural", "another rule"),
        ("active-context", "first"),
        ("active-context", "second"),
        ("session", "said"),
        ("../..", "odd category"),
        ("curated", "~~~~\n~~~\nopen"),
        ("curated", "behind"),
    ];
    for (number, (category, content)) in contents.into_iter().enumerate() {
        let id = RecordId::new(uuid::Uuid::from_u128(number as u128 + 1));
        let created: Moment = at(&format!("2026-01-02T10:00:{number:02}.123456789+02:00"));
        let mut record = Record::new(id, result.manifest.agent.id, OTHER, created, content);
        record.namespace = category.to_owned();
        let key = match number {
            0..=20 => format!("key_{number}"),
            21 => "  odd ** `key` # \n".to_owned(),
            _ => "the same key".to_owned(),
        };
        record.raw_source_format = Some(Opaque::new(&Row { key, rowid: 7 }).unwrap());
        (record.confidence, record.category) = match number % 4 {
            0 => (Some(0.5), Some(category.to_owned())),
            1 => (Some(0.25), None),
            2 => (None, Some("x y".to_owned())),
            _ => (None, None),
        };
        if number == 16 {
            record.status = Status::Superseded;
        }
        record.tags = vec!["trigger:move".to_owned(), "shells".to_owned()];
        result.records.push(record);
    }
    let raw = |path: &str, content: &str| File {
        root: FileRoot::Raw(OTHER.to_owned()),
        ..file(path, content)
    };
    result.files = vec![
        raw("SOUL.md", "# Soul of another\r\n"),
        raw("MEMORY.md", "# In the way\n"),
        raw("identity.json", "{}"),
        raw("config.toml", "x = 1\n"),
        raw(".alf-database.json", "{}\n"),
        raw("memory/archive/2025-01-01.md", "- **old**: x\n"),
        File { root: FileRoot::Artifacts, ..file("notes/a.md", "a") },
        File { root: FileRoot::Artifacts, ..file("memory/conversation.md", "in the way") },
    ];
    result.sort();
    result
}

#[test]
fn every_row_of_another_runtime_is_known_again() {
    let original = rows();
    let (plan, files) = planned(&original);
    let reasons: Vec<&str> =
        plan.not_restored.iter().map(|restored| restored.reason.as_str()).collect();
    assert_eq!(reasons.len(), 2, "{reasons:?}");
    assert!(reasons[0].starts_with("1 record: transcripts"), "{reasons:?}");
    assert!(reasons[1].starts_with("1 record: there is nothing to read"), "{reasons:?}");
    let away = read(&files);
    assert_eq!(fates(&away, &original), BTreeMap::from([("same", original.records.len())]));
    assert_eq!(text_of(find(&files, "SOUL.md")), "# Soul of another\r\n");
    assert_eq!(text_of(find(&files, ".alf-origin/files/raw/zeroclaw/identity.json")), "{}");
    let kept = find(&files, ".alf-origin/files/artifacts/memory/conversation.md");
    assert_eq!((text_of(kept), kept.mode), ("in the way", Some(0o640)));

    let root = tempfile::tempdir().unwrap();
    let source = LoadedSnapshot::new(&away);
    let returned = ReturningSnapshot::open(&machine(root.path()), &source, OTHER, &mut Vec::new());
    let returned = returned.unwrap().unwrap();
    let mut found: Vec<File> = Vec::new();
    for (index, file) in returned.files().iter().enumerate() {
        let mut bytes = Vec::new();
        returned.content(index).unwrap().read_to_end(&mut bytes).unwrap();
        found.push(File {
            root: file.root.clone(),
            path: file.path.clone(),
            node: Node::File(bytes),
            mode: file.mode,
            mtime: file.mtime.clone(),
            redacted: file.redacted,
            unknown: Default::default(),
        });
    }
    assert_eq!(found, original.files);
    let strangers: Vec<String> = returned
        .strangers()
        .iter()
        .map(|stranger| lossy(&source.files()[*stranger].path))
        .collect();
    assert_eq!(strangers, [""; 0]);
}

#[test]
fn a_row_that_changed_comes_back_without_what_was_written_around_it() {
    let original = rows();
    let (_, mut files) = planned(&original);
    let core = files.iter_mut().find(|file| file.path == b"MEMORY.md").unwrap();
    let Node::File(bytes) = &mut core.node else { panic!() };
    let text = String::from_utf8(bytes.clone()).unwrap();
    assert!(text.starts_with("## key_0\n\n<!-- trigger: move -->\nLikes oolong.\n"));
    let text = text.replacen("Likes oolong.", "Likes pu-erh.", 1);
    let start = text.find("\n## key_1\n").unwrap();
    let end = text[start..].find("\n## One\n").unwrap() + start;
    *bytes = format!("{}{}\n## Added\n\nnew\n", &text[..start], &text[end..]).into_bytes();
    let away = read(&files);
    let all = original.records.len();
    let expected =
        BTreeMap::from([("same", all - 2), ("changed", 1), ("forgotten", 1), ("new", 1)]);
    assert_eq!(fates(&away, &original), expected);
    let root = tempfile::tempdir().unwrap();
    let source = LoadedSnapshot::new(&away);
    let returned = ReturningSnapshot::open(&machine(root.path()), &source, OTHER, &mut Vec::new());
    let mut changed = None;
    returned
        .unwrap()
        .unwrap()
        .each_record(&mut |record| {
            if record.content.contains("pu-erh") {
                changed = Some(record.clone());
            }
            Ok(())
        })
        .unwrap();
    let changed = changed.unwrap();
    assert_eq!((changed.content.as_str(), changed.id), ("Likes pu-erh.", original.records[0].id));
    assert_eq!(changed.raw_source_format, original.records[0].raw_source_format);
}

#[test]
fn a_broken_folder_is_told_and_carried_on() {
    let original = rows();
    let (_, files) = planned(&original);
    type Break = fn(&mut Vec<File>);
    let breaks: [(&str, Break); 7] = [
        ("manifest.json", |files| set(files, "manifest.json", "{")),
        ("records.jsonl", |files| set(files, "records.jsonl", "{}\n")),
        ("missing", |files| files.retain(|file| file.path != b".alf-origin/links.jsonl")),
        ("digest", |files| edit(files, "links.jsonl", "\"sha256\":\"", "\"sha256\":\"zz")),
        ("out", |files| edit(files, "placed.jsonl", "\"path\":\"SOUL.md\"", "\"path\":\"../x\"")),
        ("root", |files| edit(files, "placed.jsonl", "raw/zeroclaw\"", "raw/..\"")),
        ("version", |files| edit(files, "manifest.json", "\"version\":1", "\"version\":9")),
    ];
    for (name, damage) in breaks {
        let mut files = files.clone();
        damage(&mut files);
        let away = read(&files);
        let root = tempfile::tempdir().unwrap();
        let source = LoadedSnapshot::new(&away);
        let mut warnings = Vec::new();
        let returned =
            ReturningSnapshot::open(&machine(root.path()), &source, OTHER, &mut warnings);
        assert!(returned.unwrap().is_none(), "{name}");
        assert_eq!(warnings[0].code, "origin_broken", "{name}");
    }
}

fn set(files: &mut [File], name: &str, text: &str) {
    let path = format!("{SIDECAR}/{name}").into_bytes();
    let file = files.iter_mut().find(|file| file.path == path).unwrap();
    file.node = Node::File(text.as_bytes().to_vec());
}

fn edit(files: &mut [File], name: &str, from: &str, to: &str) {
    let text = text_of(find(files, &format!("{SIDECAR}/{name}"))).to_owned();
    assert!(text.contains(from), "{name}: {from}");
    set(files, name, &text.replace(from, to));
}

#[test]
fn a_superseded_row_is_marked_and_a_deleted_persona_stays_deleted() {
    let files = workspace();
    let mut away = moved(&read(&files));
    record_with(&mut away, "Oolong").status = Status::Superseded;
    away.files.retain(|file| file.path != b"AGENTS.md");
    let (_, back) = planned(&away);
    let only: Vec<String> = differences(&files, &back)
        .into_iter()
        .filter(|difference| !difference.starts_with(SIDECAR))
        .collect();
    assert_eq!(only, ["AGENTS.md", "MEMORY.md"]);
    let text = text_of(find(&back, "MEMORY.md"));
    assert!(
        text.contains("## Tea\r\n<!-- status: superseded -->\nOolong.\r\n\r\n\r\n## Shell"),
        "{text:?}"
    );
}

#[test]
fn a_fact_that_changed_is_written_down_and_the_old_one_is_named() {
    let mut files = workspace();
    files.push(file("memory/facts.db", "a database"));
    let mut original = read(&files);
    for (number, text) in [(1, "Lin — tea: oolong"), (2, "Lin — city: Berlin"), (3, "x — y: z")]
    {
        let id = RecordId::new(uuid::Uuid::from_u128(number));
        let (agent, created) = (original.manifest.agent.id, at("2026-01-01T00:00:00Z"));
        let mut fact = Record::new(id, agent, RUNTIME, created, text);
        fact.namespace = "facts".to_owned();
        fact.source.origin_file = Some("memory/facts.db".to_owned());
        original.records.push(fact);
    }
    original.sort();
    let mut away = moved(&original);
    record_with(&mut away, "oolong").content = "Lin — tea: pu-erh".to_owned();
    forget(&mut away, "Berlin");
    let (plan, back) = planned(&away);
    let only: Vec<String> = differences(&files, &back)
        .into_iter()
        .filter(|difference| !difference.starts_with(SIDECAR))
        .collect();
    assert_eq!(only, ["memory/facts.md"]);
    assert_eq!(text_of(find(&back, "memory/facts.md")), "Lin — tea: pu-erh\n");
    let named: Vec<_> =
        plan.not_restored.iter().filter_map(|restored| restored.path.as_deref()).collect();
    assert_eq!(named, ["Lin — tea: oolong", "Lin — city: Berlin"]);
    assert_eq!(plan.records, away.records.len() as u64);
    assert_eq!(fates(&read_with(&back, &away, "x — y: z"), &away).get("forgotten"), None);
}

/// Reads a workspace, and a fact that only a database would hold.
fn read_with(files: &[File], away: &Snapshot, text: &str) -> Snapshot {
    let mut snapshot = read(files);
    let fact = away.records.iter().find(|record| record.content == text).unwrap();
    let mut fact = fact.clone();
    fact.id = RecordId::new(uuid::Uuid::from_u128(77));
    fact.source.origin_file = Some("memory/facts.db".to_owned());
    fact.raw_source_format = None;
    snapshot.records.push(fact);
    snapshot
}

#[test]
fn files_of_the_other_runtime_find_a_home_or_are_kept() {
    let files = workspace();
    let mut away = moved(&read(&files));
    let raw = |path: &str, content: &str| File {
        root: FileRoot::Raw(OTHER.to_owned()),
        ..file(path, content)
    };
    away.files.push(raw("HEARTBEAT.md", "- look around\n"));
    away.files.push(File { root: FileRoot::Artifacts, ..file("notes/new.md", "new") });
    away.sort();
    let (_, back) = planned(&away);
    assert_eq!(differences(&files, &back), ["HEARTBEAT.md", "notes/new.md"]);
    away.files.push(raw("identity.json", "{}"));
    let (_, back) = planned(&away);
    let kept = find(&back, ".alf-origin/files/raw/zeroclaw/identity.json");
    assert_eq!(text_of(kept), "{}");
    let again = read(&back);
    assert_eq!(fates(&again, &away), BTreeMap::from([("same", away.records.len())]));
}

#[test]
fn a_path_too_deep_for_the_folder_is_kept_under_a_short_name() {
    let mut original = snapshot();
    let deep = format!("memory/{}x.bin", "d/".repeat(190));
    original.files = vec![file(&deep, "deep"), file("memory/a.md", "## A\nx\n")];
    original.records = read(&original.files).records;
    let (_, back) = planned(&moved(&original));
    assert_eq!(text_of(find(&back, &deep)), "deep");
}

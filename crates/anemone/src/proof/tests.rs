use anemone_format::{
    AgentInfo, File, FileRoot, Identity, LoadedSnapshot, Manifest, MemoryType, Node, Opaque,
    ProseIdentity, Record, Snapshot,
};
use anemone_runtimes::mapping::{ORIGIN_FOLDER, mapping};

use super::text::holds;
use super::*;

const AGENT: &str = "9e373c1e-cab7-5eea-90c3-8f3d09ac5755";

fn snapshot(runtime: &str) -> Snapshot {
    let agent = AgentInfo::new(AGENT.parse().unwrap(), "Mira", runtime);
    Snapshot::new(Manifest::new(agent, "2026-02-03T10:00:00Z".parse().unwrap()))
}

fn record(number: u8, runtime: &str, content: &str) -> Record {
    let id = format!("1d93a526-85b1-5b5b-9ac8-2fcc874963{number:02x}").parse().unwrap();
    let at = "2026-01-15T10:00:00Z".parse().unwrap();
    let mut record = Record::new(id, AGENT.parse().unwrap(), runtime, at, content);
    record.namespace = "curated".to_owned();
    record
}

fn named(mut record: Record, name: &str) -> Record {
    let key = serde_json::json!({"key": name});
    record.raw_source_format = Some(Opaque::new(&key).unwrap());
    record
}

/// Three records that are in the rows of a database.
fn moved() -> (Snapshot, Snapshot) {
    let mut source = snapshot("openclaw");
    let mut target = snapshot("zeroclaw");
    for (number, content) in [(1, "Tea is green."), (2, "A cat."), (3, "A cat.")] {
        source.records.push(record(number, "openclaw", content));
        target.records.push(record(number, "zeroclaw", &format!("{content}\n")));
    }
    (source, target)
}

fn prove(source: &Snapshot, target: &Snapshot) -> Proof {
    let runtime = target.manifest.agent.source_runtime.as_str();
    let expected = Expected { mapping: mapping(runtime), ..Expected::default() };
    prove_with(source, target, &expected)
}

fn prove_with(source: &Snapshot, target: &Snapshot, expected: &Expected<'_>) -> Proof {
    compare(&LoadedSnapshot::new(source), &LoadedSnapshot::new(target), expected).unwrap()
}

fn layer<'a>(proof: &'a Proof, name: &str) -> &'a LayerProof {
    proof.layers.iter().find(|layer| layer.layer == name).unwrap()
}

/// Returns carried, degraded, kept aside, not carried and lost.
fn numbers(proof: &Proof, name: &str) -> [u64; 5] {
    let it = layer(proof, name);
    [it.carried, it.degraded, it.kept_aside, it.not_carried, it.lost]
}

fn sidecar(target: &mut Snapshot, name: &str, content: impl Into<Vec<u8>>) {
    let path = format!("{ORIGIN_FOLDER}/{name}");
    let mut file = File::new(FileRoot::Artifacts, &path, "");
    file.node = Node::File(content.into());
    target.files.push(file);
}

fn lines(records: &[Record]) -> String {
    records.iter().map(|record| serde_json::to_string(record).unwrap() + "\n").collect()
}

#[test]
fn what_is_there_is_carried_and_the_digests_are_equal() {
    let (source, target) = moved();
    let proof = prove(&source, &target);
    assert_eq!(numbers(&proof, "memory"), [3, 0, 0, 0, 0]);
    let memory = layer(&proof, "memory");
    assert_eq!(memory.source_sha256, memory.target_sha256);
    assert!(proof.lost.is_empty());
}

#[test]
fn a_row_that_was_deleted_after_the_move_is_lost() {
    let (source, mut target) = moved();
    target.records.remove(0);
    let proof = prove(&source, &target);
    assert_eq!(numbers(&proof, "memory"), [2, 0, 0, 0, 1]);
    assert!(!proof.lost.is_empty());
    assert_eq!(proof.lost[0].what, "1d93a526-85b1-5b5b-9ac8-2fcc87496301 Tea is green.");
    let memory = layer(&proof, "memory");
    assert_ne!(memory.source_sha256, memory.target_sha256);
}

#[test]
fn one_of_two_equal_texts_that_is_gone_is_lost() {
    let (source, mut target) = moved();
    target.records.remove(1);
    let proof = prove(&source, &target);
    assert_eq!(numbers(&proof, "memory"), [2, 0, 0, 0, 1]);
    assert!(proof.lost[0].what.starts_with("1d93a526-85b1-5b5b-9ac8-2fcc87496302"));
}

#[test]
fn a_text_that_was_changed_is_lost() {
    let (source, mut target) = moved();
    target.records[0].content = "Tea is black.".to_owned();
    assert_eq!(numbers(&prove(&source, &target), "memory"), [2, 0, 0, 0, 1]);
}

#[test]
fn a_field_without_a_column_is_degraded_and_one_with_a_column_must_be_there() {
    let (mut source, target) = moved();
    source.records[0].tags = vec!["tea".to_owned()];
    let proof = prove(&source, &target);
    assert_eq!(numbers(&proof, "memory"), [2, 1, 0, 0, 0]);
    assert_eq!(layer(&proof, "memory").fields, BTreeMap::from([("tags", 1)]));
    source.records[1].confidence = Some(0.9);
    let proof = prove(&source, &target);
    assert_eq!(numbers(&proof, "memory"), [1, 1, 0, 0, 1]);
    assert_eq!(proof.lost[0].reason, "its text is there, but not its confidence");
}

#[test]
fn the_digests_are_equal_when_the_sidecar_has_the_rest() {
    let (mut source, mut target) = moved();
    source.records[0].tags = vec!["tea".to_owned()];
    source.records[0].memory_type = MemoryType::Summary;
    let memory = |proof: &Proof| {
        let it = layer(proof, "memory");
        it.source_sha256 == it.target_sha256
    };
    assert!(!memory(&prove(&source, &target)));
    sidecar(&mut target, "records.jsonl", lines(&source.records));
    let proof = prove(&source, &target);
    assert_eq!(numbers(&proof, "memory"), [2, 1, 0, 0, 0]);
    assert!(memory(&proof));
}

#[test]
fn the_sidecar_is_no_excuse_for_what_the_runtime_has_a_place_for() {
    let (mut source, mut target) = moved();
    source.records[1].confidence = Some(0.9);
    target.records.remove(0);
    sidecar(&mut target, "records.jsonl", lines(&source.records));
    let proof = prove(&source, &target);
    assert_eq!(numbers(&proof, "memory"), [1, 0, 0, 0, 2]);
    let reasons: Vec<&str> = proof.lost.iter().map(|lost| lost.reason.as_str()).collect();
    assert_eq!(
        reasons,
        [
            "the runtime has a place for it, and only the sidecar has it",
            "its text is there, but not its confidence",
        ]
    );
}

#[test]
fn a_record_without_a_place_is_kept_aside_if_the_sidecar_has_it_as_it_was() {
    let (mut source, mut target) = moved();
    source.records[0].content = " \n".to_owned();
    target.records.remove(0);
    let mut kept = source.records.clone();
    sidecar(&mut target, "records.jsonl", lines(&kept));
    assert_eq!(numbers(&prove(&source, &target), "memory"), [2, 0, 1, 0, 0]);
    kept[0].tags = vec!["changed".to_owned()];
    target.files.clear();
    sidecar(&mut target, "records.jsonl", lines(&kept));
    assert_eq!(numbers(&prove(&source, &target), "memory"), [2, 0, 0, 0, 1]);
}

#[test]
fn a_file_that_is_made_of_records_excuses_none_of_them() {
    let (mut source, mut target) = moved();
    source.records[0].source.origin_file = Some("MEMORY.md".to_owned());
    target.records.remove(0);
    let mut expected = Expected { mapping: mapping("zeroclaw"), ..Expected::default() };
    let path = b"MEMORY.md".to_vec();
    let made = Announced { reason: "written anew", made: true, beside: None };
    expected.files.insert(path.clone(), made);
    assert_eq!(numbers(&prove_with(&source, &target, &expected), "memory"), [2, 0, 0, 0, 1]);
    let stays = Announced { reason: "it stays", made: false, beside: None };
    expected.files.insert(path, stays);
    assert_eq!(numbers(&prove_with(&source, &target, &expected), "memory"), [2, 0, 0, 1, 0]);
    expected.files.clear();
    expected.unwritten.insert(source.records[0].id);
    assert_eq!(numbers(&prove_with(&source, &target, &expected), "memory"), [2, 0, 0, 1, 0]);
}

#[test]
fn a_field_that_an_older_table_has_no_column_for_is_degraded() {
    let (mut source, mut target) = moved();
    source.records[0].memory_type = MemoryType::Procedural;
    let row = |columns: &[&str]| {
        let row: BTreeMap<&str, Option<u8>> =
            columns.iter().map(|column| (*column, None)).collect();
        Some(Opaque::new(&serde_json::json!({"key": "a", "row": row})).unwrap())
    };
    target.records[0].raw_source_format = row(&["importance", "superseded_by"]);
    assert_eq!(numbers(&prove(&source, &target), "memory"), [2, 1, 0, 0, 0]);
    target.records[0].raw_source_format = row(&["importance", "superseded_by", "kind"]);
    assert_eq!(numbers(&prove(&source, &target), "memory"), [2, 0, 0, 0, 1]);
}

/// Compares an agent that moves back: `now` is its current state, `back` the expected one.
fn prove_back(now: &Snapshot, back: &Snapshot, target: &Snapshot) -> Proof {
    let source = LoadedSnapshot::new(now);
    let first = back.records[0].id;
    let origin_of = |id| (id == now.records[0].id).then_some(first);
    let current = Some(Current { source: &source, origin_of: &origin_of });
    let runtime = target.manifest.agent.source_runtime.as_str();
    let expected = Expected {
        mapping: mapping(runtime),
        current,
        unwritten: BTreeSet::from([first]),
        ..Expected::default()
    };
    compare(&LoadedSnapshot::new(back), &LoadedSnapshot::new(target), &expected).unwrap()
}

#[test]
fn what_an_agent_has_now_must_be_there_when_it_is_back() {
    let mut now = snapshot("zeroclaw");
    for (number, content) in (20..).zip([
        "Old tea.",
        "## Cat\n\nA cat, black.",
        "Read | twice\nor more",
        "A wrong match took this.",
    ]) {
        now.records.push(record(number, "zeroclaw", content));
    }
    let mut target = snapshot("openclaw");
    for (number, content) in (1..).zip([
        "## Tea\n\nNew tea.\n",
        "## Cat\n\n<!-- status: superseded -->\nA cat, black.\n",
        "| a |\n|---|\n| Read \\| twice or more |\n",
    ]) {
        let mut it = record(number, "openclaw", content);
        it.source.origin_file = Some("MEMORY.md".to_owned());
        target.records.push(it);
    }
    // What is expected is made of the wrong match, and is there.
    let mut back = target.clone();
    back.records[0].content = "## Tea\n\nOld tea.\n".to_owned();
    let proof = prove_back(&now, &back, &target);
    assert_eq!(numbers(&proof, "memory"), [2, 0, 0, 1, 1]);
    assert_eq!(proof.lost[0].reason, "the agent has it now, and it is not there");
    assert!(proof.lost[0].what.ends_with("A wrong match took this."), "{:?}", proof.lost);
}

#[test]
fn a_title_above_a_text_that_came_here_is_no_part_of_it() {
    let (mut now, mut back) = (snapshot("openclaw"), snapshot("zeroclaw"));
    let content = "## key_0\n\n- [recipes|i=0.5] key_0\n\n- beets\n- dill";
    now.records.push(record(20, "openclaw", content));
    back.records.push(named(record(1, "zeroclaw", "- beets\n- dill"), "key_0"));
    let target = back.clone();
    assert_eq!(numbers(&prove_back(&now, &back, &target), "memory"), [1, 0, 0, 0, 0]);
    // A text that has a heading of its own got its name below that.
    let own = "## Herbs\n\n- beets\n- dill";
    now.records[0].content = own.replace("- beets", "- [recipes|i=0.5] key_0\n\n- beets");
    back.records[0].content = own.to_owned();
    let with_heading = back.clone();
    assert_eq!(numbers(&prove_back(&now, &back, &with_heading), "memory"), [1, 0, 0, 0, 0]);
    back = target.clone();
    // What the agent wrote itself must be there with its title, and its lines in any case.
    now.records[0].content = content.replace("dill", "mint");
    assert_eq!(numbers(&prove_back(&now, &back, &target), "memory"), [1, 0, 0, 0, 1]);
    now.records[0].content = content.to_owned();
    now.records.insert(0, record(21, "openclaw", "## Tea\n\nGreen.\n"));
    assert_eq!(numbers(&prove_back(&now, &back, &target), "memory"), [1, 0, 0, 0, 2]);
}

#[test]
fn a_row_that_got_another_key_is_degraded() {
    let (mut source, mut target) = (snapshot("zeroclaw"), snapshot("zeroclaw"));
    source.records.push(named(record(1, "zeroclaw", "Berlin."), "tz"));
    target.records.push(named(record(1, "zeroclaw", "Berlin."), "tz_2"));
    let proof = prove(&source, &target);
    assert_eq!(numbers(&proof, "memory"), [0, 1, 0, 0, 0]);
    assert_eq!(layer(&proof, "memory").fields, BTreeMap::from([("key", 1)]));
}

#[test]
fn many_equal_texts_are_each_found_once() {
    let (mut source, mut target) = (snapshot("openclaw"), snapshot("zeroclaw"));
    let id = |side: u32, number: u32| {
        format!("{side:08x}-85b1-5b5b-9ac8-2fcc{number:08x}").parse().unwrap()
    };
    for number in 0..30_000 {
        let mut one = record(1, "openclaw", "Same.");
        one.id = id(1, number);
        source.records.push(one);
        let mut other = record(1, "zeroclaw", "Same.");
        other.id = id(2, number);
        target.records.push(other);
    }
    target.records.pop();
    assert_eq!(numbers(&prove(&source, &target), "memory"), [29_999, 0, 0, 0, 1]);
}

#[test]
fn the_settings_of_an_install_are_no_file_of_the_workspace() {
    let (mut source, mut target) = moved();
    source.files.push(File::new(FileRoot::Artifacts, "config.toml", "mine"));
    let raw = FileRoot::Raw("zeroclaw".to_owned());
    for settings in ["theirs", "mine"] {
        target.files = vec![File::new(raw.clone(), "config.toml", settings)];
        assert_eq!(numbers(&prove(&source, &target), "files"), [0, 0, 0, 0, 1]);
        target.files.insert(0, File::new(FileRoot::Artifacts, "config.toml", "mine"));
        assert_eq!(numbers(&prove(&source, &target), "files"), [1, 0, 0, 0, 0]);
    }
}

#[test]
fn a_record_that_was_cut_into_sections_is_found_by_its_links() {
    let mut source = snapshot("zeroclaw");
    source.records.push(named(record(1, "zeroclaw", "One.\n\n## Two\n\nThree."), "tea"));
    let mut target = snapshot("openclaw");
    let parts = ["## tea\n\nOne.\n\n", "## Two\n\nThree.\n"];
    for (number, content) in (10..).zip(parts) {
        let mut part = record(number, "openclaw", content);
        part.source.origin_file = Some("MEMORY.md".to_owned());
        target.records.push(part);
    }
    assert_eq!(numbers(&prove(&source, &target), "memory"), [0, 0, 0, 0, 1]);
    let digests = parts.map(anemone_runtimes::digest_of);
    let link = serde_json::json!({
        "id": source.records[0].id,
        "parts": [{"file": "MEMORY.md", "sha256": digests[0]}, {"sha256": digests[1]}],
    });
    sidecar(&mut target, "links.jsonl", link.to_string());
    assert_eq!(numbers(&prove(&source, &target), "memory"), [1, 0, 0, 0, 0]);
    target.records[1].content = "## Two\n\nFour.\n".to_owned();
    assert_eq!(numbers(&prove(&source, &target), "memory"), [0, 0, 0, 0, 1]);
}

#[test]
fn headings_tags_and_comments_may_be_added_and_nothing_else() {
    let text = "Buy tea.\n\nGreen tea.";
    for native in [
        "## tea\n\nBuy tea.\n\nGreen tea.\n",
        "## tea\n\n<!-- importance: 9 -->\nBuy tea.\n\nGreen tea.\n",
        "## tea\n\n- [decision|i=0.9] tea <!-- importance: 9 -->\n\nBuy tea.\n\nGreen tea.",
    ] {
        assert!(holds(native, text), "{native}");
    }
    for native in [
        "## tea\n\nBuy tea.\n",
        "## tea\n\nGreen tea.\n\nBuy tea.\n",
        "## tea\n\nBuy tea.\n\nAnd milk.\n\nGreen tea.\n",
        "## tea\n\nBuy tea.\n\n\nGreen tea.\n",
        "",
    ] {
        assert!(!holds(native, text), "{native}");
    }
    // The heading is the first line of a text of several paragraphs, and is repeated with the tag.
    let native = "## spaces and\n\n- [other|i=0.7] spaces and\n\n  spaces and\nnewlines\n";
    assert!(holds(native, "  spaces and\nnewlines  "));
    assert!(!holds(native, "  spaces and\nother newlines  "));
    let table = "| a |\n|---|\n| 1 | Read \\| twice <!-- status: superseded --> |\n\nEnd.\n";
    assert!(holds(table, "1 | Read | twice"));
    assert!(holds(table, "| 1 | Read\n| twice |"));
    assert!(!holds(table, "| 1 | Read | thrice |"));
    assert!(!holds(table, "rice"));
    assert!(holds("## k\n\n- [fact|i=0.5] One line. <!-- importance: 5 -->\n", "One line."));
    assert!(!holds("## k\n\n- [fact|i=0.5] One. <!-- importance: 5 -->\n", "One line."));
}

#[test]
fn an_entry_that_stays_as_it_is_there_was_announced_once() {
    let (source, mut target) = moved();
    target.records[0].content = "Tea is black.".to_owned();
    target.records[1].content = "A dog.".to_owned();
    let expected =
        Expected { mapping: mapping("zeroclaw"), entries_kept: 1, ..Expected::default() };
    let proof = prove_with(&source, &target, &expected);
    assert_eq!(numbers(&proof, "memory"), [1, 0, 0, 1, 1]);
}

fn file(path: &str, content: &str) -> File {
    File::new(FileRoot::Raw("openclaw".to_owned()), path, content)
}

#[test]
fn files_are_in_place_or_kept_aside_or_lost() {
    let (mut source, mut target) = moved();
    source.files = ["SOUL.md", "MEMORY.md", "gone.md"].map(|value| file(value, value)).to_vec();
    target.files.push(file("SOUL.md", "SOUL.md"));
    sidecar(&mut target, "files/raw/openclaw/MEMORY.md", "MEMORY.md");
    let placed = r#"{"path":"MEMORY.md","kept":"files/raw/openclaw/MEMORY.md"}"#;
    sidecar(&mut target, "placed.jsonl", placed);
    let proof = prove(&source, &target);
    assert_eq!(numbers(&proof, "files"), [1, 0, 1, 0, 1]);
    assert_eq!(proof.lost[0].what, "gone.md");
    target.files[1].node = Node::File(b"changed".to_vec());
    assert_eq!(numbers(&prove(&source, &target), "files"), [1, 0, 0, 0, 2]);
}

#[test]
fn a_file_that_the_plan_keeps_as_it_is_there_is_announced() {
    let (mut source, mut target) = moved();
    source.files.push(file("MEMORY.md", "theirs"));
    target.files.push(file("MEMORY.md", "ours"));
    let mut expected = Expected { mapping: mapping("zeroclaw"), ..Expected::default() };
    let stays = Announced { reason: "the file that was there stays", made: false, beside: None };
    expected.files.insert(b"MEMORY.md".to_vec(), stays);
    assert_eq!(numbers(&prove_with(&source, &target, &expected), "files"), [0, 0, 0, 1, 0]);
    assert_eq!(numbers(&prove(&source, &target), "files"), [0, 0, 0, 0, 1]);
}

#[test]
fn what_only_the_archive_needs_is_announced() {
    let (mut source, target) = moved();
    for path in ["config.toml", ".alf-database.json"] {
        source.files.push(File::new(FileRoot::Raw("zeroclaw".to_owned()), path, "x"));
    }
    assert_eq!(numbers(&prove(&source, &target), "files"), [0, 0, 0, 2, 0]);
}

#[test]
fn a_persona_is_compared_text_by_text() {
    let identity = |soul: &str| {
        let text = format!(
            r#"{{"id":"{AGENT}","agent_id":"{AGENT}","version":1,
               "updated_at":"2026-01-15T10:00:00Z","prose":{{}}}}"#
        );
        let mut identity: Identity = serde_json::from_str(&text).unwrap();
        let prose: &mut ProseIdentity = identity.prose.as_mut().unwrap();
        prose.soul = Some(soul.to_owned());
        Some(identity)
    };
    let (mut source, mut target) = moved();
    source.identity = identity("# Mira\n\nKind.\n");
    target.identity = identity("# Mira\n\nKind.");
    assert_eq!(numbers(&prove(&source, &target), "identity"), [1, 0, 0, 0, 0]);
    target.identity = identity("# Mira\n\nRude.");
    assert_eq!(numbers(&prove(&source, &target), "identity"), [0, 0, 0, 0, 1]);
    sidecar(&mut target, "identity.json", serde_json::to_vec(&source.identity).unwrap());
    assert_eq!(numbers(&prove(&source, &target), "identity"), [0, 1, 0, 0, 0]);
}

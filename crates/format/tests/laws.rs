//! The laws of archives, for any snapshot: it reads back as it was written, the same snapshot gives
//! the same bytes, written archives are valid, and a delta leads from its base to its target.
//!
//! 256 cases per law; `PROPTEST_CASES` sets another number. Earlier failures are kept in
//! `laws.proptest-regressions` and tried first.

#![expect(clippy::unwrap_used, reason = "what does not hold in a test may panic")]

use std::io::{Cursor, Read as _};

use anemone_format::{
    AgentInfo, Archive, ArchiveChain, ArchiveSource, ChainError, Delta, File, FileRoot, Layer,
    Limits, Manifest, Node, Record, RecordId, Snapshot, SnapshotSource, Unknown, WrittenArchive,
    WrittenDelta, apply_delta, validate, write_delta,
};
use anemone_testkit::{bulk, sample, strategy};
use proptest::prelude::*;
use proptest::test_runner::FileFailurePersistence;

fn config() -> ProptestConfig {
    let beside = FileFailurePersistence::WithSource("proptest-regressions");
    ProptestConfig { failure_persistence: Some(Box::new(beside)), ..ProptestConfig::default() }
}

fn write(snapshot: &Snapshot, threads: usize) -> (Vec<u8>, WrittenArchive) {
    let spool = Box::new(Cursor::new(Vec::new()));
    snapshot.write(Vec::new(), spool, threads).expect("a valid snapshot can be written")
}

fn open(bytes: &[u8]) -> Archive {
    let length = bytes.len() as u64;
    Archive::open(Box::new(bytes.to_vec()), length, &Limits::default())
        .expect("what was written can be opened")
}

fn read(bytes: &[u8]) -> Snapshot {
    Snapshot::read(&open(bytes)).expect("what was written can be read")
}

fn spool() -> Box<Cursor<Vec<u8>>> {
    Box::new(Cursor::new(Vec::new()))
}

fn delta_between(base: &[u8], target: &[u8]) -> (Vec<u8>, WrittenDelta) {
    write_delta(&open(base), &open(target), Vec::new(), spool(), 2).expect("a delta can be written")
}

fn open_delta(bytes: &[u8]) -> Delta {
    Delta::open(Box::new(bytes.to_vec()), bytes.len() as u64, &Limits::default())
        .expect("what was written can be opened")
}

fn apply(base: &[u8], delta: &[u8]) -> Vec<u8> {
    let delta = open_delta(delta);
    apply_delta(&open(base), &delta, Vec::new(), spool(), 2).expect("a delta fits its base").0
}

fn chain(base: &[u8], deltas: &[Vec<u8>]) -> Result<ArchiveChain, ChainError> {
    ArchiveChain::new(open(base), deltas.iter().map(|delta| open_delta(delta)).collect(), spool())
}

/// Everything that a source yields, with the content of each file.
fn content_of(source: &dyn SnapshotSource) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for (position, file) in source.files().iter().enumerate() {
        let mut bytes = Vec::new();
        if let anemone_format::SourceKind::File { .. } = file.kind {
            source.content(position).unwrap().read_to_end(&mut bytes).unwrap();
        }
        all.push(format!("{file:?} {bytes:?}"));
    }
    let mut records: Vec<String> = Vec::new();
    let walk = &mut |record: &Record| {
        records.push(format!("{record:?}"));
        Ok(())
    };
    source.each_record(walk).unwrap();
    records.sort();
    all.extend(records);
    all.push(format!("{:?} {:?}", source.identity().unwrap(), source.principals().unwrap()));
    all.push(format!("{:?} {:?}", source.credentials().unwrap(), source.attachments().unwrap()));
    all
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn a_snapshot_reads_back_equal(snapshot in strategy::snapshot()) {
        prop_assert!(read(&write(&snapshot, 2).0) == snapshot);
    }

    #[test]
    fn records_that_are_kept_are_the_same_at_every_walk(
        snapshot in strategy::snapshot(),
        max_bytes in prop_oneof![Just(0), Just(700), Just(usize::MAX)],
    ) {
        let archive = open(&write(&snapshot, 2).0);
        let source = ArchiveSource::new(&archive).expect("its files can be listed");
        let walk = |source: &ArchiveSource<'_>| {
            let mut seen: Vec<Record> = Vec::new();
            let walked = source.each_record(&mut |record| {
                seen.push(record.clone());
                Ok(())
            });
            walked.map(|()| seen).expect("every record can be read")
        };
        let expected = walk(&source);
        let keeping = source.keeping_records(max_bytes);
        for _ in 0..3 {
            prop_assert!(walk(&keeping) == expected);
        }
    }

    #[test]
    fn threads_do_not_change_the_bytes(snapshot in strategy::snapshot()) {
        prop_assert!(write(&snapshot, 1) == write(&snapshot, 3));
    }

    #[test]
    fn an_archive_that_is_read_and_written_is_the_same_bytes(snapshot in strategy::snapshot()) {
        let bytes = write(&snapshot, 2).0;
        prop_assert!(write(&read(&bytes), 2).0 == bytes);
    }

    #[test]
    fn records_and_files_may_be_handed_over_in_any_order(snapshot in strategy::snapshot()) {
        let mut shuffled = snapshot.clone();
        shuffled.records.reverse();
        shuffled.files.reverse();
        prop_assert!(write(&shuffled, 2) == write(&snapshot, 2));
    }

    #[test]
    fn what_is_written_is_valid(snapshot in strategy::snapshot()) {
        let bytes = write(&snapshot, 2).0;
        let report = validate(Box::new(bytes.clone()), bytes.len() as u64, &Limits::default());
        prop_assert!(report.is_valid(), "{:#?}", report.errors);
    }

    #[test]
    fn applying_the_delta_between_two_gives_the_second(
        (before, after) in strategy::pair(),
    ) {
        let (base, target) = (write(&before, 2).0, write(&after, 2).0);
        let (delta, written) = delta_between(&base, &target);
        prop_assert!(apply(&base, &delta) == target);
        prop_assert_eq!(written.comparison.is_empty(), base == target);
        let report = validate(Box::new(delta.clone()), delta.len() as u64, &Limits::default());
        prop_assert!(report.is_valid(), "{:#?}", report.errors);
    }

    #[test]
    fn an_archive_and_any_number_of_deltas_are_each_of_the_snapshots(
        snapshots in strategy::sequence(),
    ) {
        let archives: Vec<Vec<u8>> =
            snapshots.iter().map(|snapshot| write(snapshot, 2).0).collect();
        let deltas: Vec<Vec<u8>> =
            archives.windows(2).map(|pair| delta_between(&pair[0], &pair[1]).0).collect();
        for (count, expected) in archives.iter().enumerate() {
            let chain = chain(&archives[0], &deltas[..count]).unwrap();
            let archive = open(expected);
            let alone = ArchiveSource::new(&archive).unwrap();
            prop_assert_eq!(content_of(&chain), content_of(&alone));
            prop_assert_eq!(archive.manifest().checksum.as_deref(), Some(chain.checksum()));
            let (bytes, _) = chain.write(Vec::new(), spool(), 2).unwrap();
            prop_assert!(bytes == *expected);
        }
    }

    #[test]
    fn deltas_in_another_order_are_no_chain(snapshots in strategy::sequence()) {
        let archives: Vec<Vec<u8>> =
            snapshots.iter().map(|snapshot| write(snapshot, 2).0).collect();
        let mut deltas: Vec<Vec<u8>> =
            archives.windows(2).map(|pair| delta_between(&pair[0], &pair[1]).0).collect();
        let first = open_delta(&deltas[0]);
        let changes_content = first.manifest().base_checksum != first.manifest().target_checksum;
        deltas.remove(0);
        if changes_content && !deltas.is_empty() {
            let refused = chain(&archives[0], &deltas);
            let is_refused = matches!(refused, Err(ChainError::WrongBase { position: 0, .. }));
            prop_assert!(is_refused);
        }
    }

    #[test]
    fn the_manifest_tells_what_is_there(snapshot in strategy::snapshot()) {
        let (bytes, written) = write(&snapshot, 2);
        prop_assert_eq!(written.size_bytes, bytes.len() as u64);
        let archive = open(&bytes);
        prop_assert!(archive.is_sealed());
        prop_assert!(archive.manifest().entries == written.manifest.entries);
        let memory = written.manifest.layers.memory.as_ref();
        prop_assert_eq!(memory.map(|memory| memory.record_count), Some(snapshot.records.len() as u64));
        let checksum = Manifest::checksum_of(&written.manifest.entries);
        prop_assert_eq!(written.manifest.checksum, Some(checksum));
        prop_assert_eq!(archive.files().unwrap().len(), snapshot.files.len());
    }
}

fn round_trips(snapshot: &Snapshot) {
    let bytes = write(snapshot, 2).0;
    assert!(read(&bytes) == *snapshot);
    assert!(write(&read(&bytes), 3).0 == bytes);
}

fn empty() -> Snapshot {
    let agent = AgentInfo::new(sample::agent_id(), "Clawdia", "openclaw");
    Snapshot::new(Manifest::new(agent, "2026-05-01T00:00:00Z".parse().expect("a time in RFC 3339")))
}

fn raw(path: &str, content: impl Into<Vec<u8>>) -> File {
    File::new(FileRoot::Raw("openclaw".to_owned()), path, content)
}

fn folder(path: &str) -> File {
    File { node: Node::Folder, ..raw(path, "") }
}

fn with_files(files: impl IntoIterator<Item = File>) -> Snapshot {
    let mut snapshot = Snapshot { files: files.into_iter().collect(), ..empty() };
    snapshot.sort();
    snapshot
}

#[test]
fn the_sample_agent_round_trips() {
    round_trips(&sample::agent());
    round_trips(&sample::agent_a_month_later());
}

#[test]
fn an_agent_that_has_nothing_yet_round_trips() {
    round_trips(&empty());
}

#[test]
fn a_thousand_records_in_no_order_round_trip() {
    let mut snapshot = empty();
    for n in 0..1000_u32 {
        let id = RecordId::new(uuid::Uuid::from_u128(u128::from(n * 7919 % 1000)));
        let day = format!("2026-{:02}-{:02}T10:00:00Z", n % 5 + 1, n % 28 + 1);
        let text = format!("entry {n} {}", "words ".repeat(50));
        let agent = snapshot.manifest.agent.id;
        let record = Record::new(id, agent, "openclaw", day.parse().unwrap(), &text);
        snapshot.records.push(record);
    }
    snapshot.sort();
    round_trips(&snapshot);
}

#[test]
fn bulk_days_round_trip() {
    let mut snapshot = empty();
    for day in bulk::bulk(1, 500) {
        snapshot.files.push(day.file());
        snapshot.records.extend(day.records);
    }
    snapshot.sort();
    round_trips(&snapshot);
}

#[test]
fn names_that_an_archive_cannot_hold_come_back() {
    round_trips(&with_files([
        raw("MEMORY.md", "a"),
        raw("memory.md", "b"),
        raw("line\nfeed", ""),
        raw("con", "d"),
        raw("%con", "e"),
        File { path: b"caf\xe9".to_vec(), ..raw("", "f") },
        raw("caf%E9", "g"),
    ]));
}

#[test]
fn files_of_many_blocks_and_of_none_come_back() {
    round_trips(&with_files([
        raw("big.bin", vec![0; 3 << 20]),
        raw("exact.bin", vec![1; 512 << 10]),
        raw("one-more.bin", vec![2; (512 << 10) + 1]),
        raw("empty", ""),
        File::new(FileRoot::Other, "future/x.bin", [1, 2, 3]),
    ]));
}

#[test]
fn links_and_folders_come_back() {
    round_trips(&with_files([
        File { node: Node::Symlink(b"\xff/nowhere".to_vec()), ..raw("link", "") },
        File { mode: Some(0o1777), ..folder("empty") },
    ]));
}

#[test]
fn a_folder_comes_back_with_what_lies_in_it() {
    round_trips(&with_files([folder("memory"), raw("memory/2026-01-15.md", "a")]));
}

#[test]
fn a_file_and_a_folder_whose_names_differ_in_case_come_back() {
    round_trips(&with_files([raw("A", "a"), raw("a/b", "b")]));
}

#[test]
fn a_name_with_a_colon_comes_back() {
    round_trips(&with_files([raw("memory/10:30 notes.md", "a")]));
}

#[test]
fn long_names_that_differ_in_case_come_back() {
    round_trips(&with_files([raw(&"X".repeat(254), "a"), raw(&"x".repeat(254), "b")]));
}

#[test]
fn the_manifest_that_was_written_is_the_one_that_is_read() {
    let mut snapshot = empty();
    let now = snapshot.manifest.created_at.clone();
    let id = RecordId::new(uuid::Uuid::nil());
    let agent = snapshot.manifest.agent.id;
    snapshot.records.push(Record::new(id, agent, "openclaw", now, "x"));
    let (bytes, written) = write(&snapshot, 1);
    assert_eq!(*open(&bytes).manifest(), written.manifest);
}

#[test]
fn unknown_fields_are_written_as_they_came() {
    let odd = r#"{ "a" :	[1.50e+3 , 12345678901234567890123,"\u00e9"], "a":-0 }"#;
    let mut snapshot = sample::agent();
    let mark = |unknown: &mut Unknown| unknown.insert("x-odd", odd).unwrap();
    mark(&mut snapshot.manifest.unknown);
    mark(&mut snapshot.manifest.agent.unknown);
    mark(&mut snapshot.manifest.layers.unknown);
    mark(&mut snapshot.files[0].unknown);
    mark(&mut snapshot.records[0].unknown);
    mark(&mut snapshot.records[0].source.unknown);
    mark(&mut snapshot.identity.as_mut().unwrap().unknown);
    mark(&mut snapshot.principals.as_mut().unwrap().principals[0].profile.unknown);
    mark(&mut snapshot.credentials.as_mut().unwrap().credentials[0].encryption.unknown);
    mark(&mut snapshot.attachments.as_mut().unwrap().attachments[0].hash.unknown);
    let archive = open(&write(&snapshot, 2).0);
    let times = |bytes: &[u8]| str::from_utf8(bytes).unwrap().matches(odd).count();

    let mut manifest = Vec::new();
    archive.read_file("manifest.json").unwrap().read_to_end(&mut manifest).unwrap();
    assert_eq!(times(&manifest), 4);
    for layer in Layer::ALL {
        assert_eq!(times(&archive.document(layer).unwrap().unwrap()), 1, "{layer:?}");
    }
    let mut lines = Vec::new();
    archive
        .each_record_line(|line| {
            lines.extend_from_slice(line);
            Ok::<_, anemone_format::ReadEntryError>(())
        })
        .unwrap();
    assert_eq!(times(&lines), 2);
}

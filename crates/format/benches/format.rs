//! The hot paths of the format on 5,000 records, in memory.
//!
//! `cargo bench -p anemone-format`. Whole processes with their memory: `figures` of the CLI.

use std::io::Cursor;

use anemone_format::{
    AgentInfo, Archive, Limits, Manifest, Record, Snapshot, apply_delta, validate, write_delta,
};
use anemone_testkit::bulk::bulk;
use divan::counter::BytesCount;
use divan::{Bencher, black_box};

fn main() {
    divan::main();
}

const RECORDS: usize = 5_000;

fn snapshot() -> Snapshot {
    let days: Vec<_> = bulk(1, RECORDS).collect();
    let agent = days[0].records[0].agent_id;
    let created_at = "2026-11-15T00:00:00Z".parse().expect("a time");
    let info = AgentInfo::new(agent, "Bulk", "openclaw");
    let mut snapshot = Snapshot::new(Manifest::new(info, created_at));
    snapshot.files = days.iter().map(anemone_testkit::bulk::Day::file).collect();
    snapshot.records = days.into_iter().flat_map(|day| day.records).collect();
    snapshot
}

fn spool() -> Box<Cursor<Vec<u8>>> {
    Box::new(Cursor::new(Vec::new()))
}

fn write(snapshot: &Snapshot, threads: usize) -> Vec<u8> {
    snapshot.write(Vec::new(), spool(), threads).expect("a snapshot can be written").0
}

fn open(bytes: &[u8]) -> Archive {
    let length = bytes.len() as u64;
    Archive::open(Box::new(bytes.to_vec()), length, &Limits::default()).expect("an archive")
}

#[divan::bench(args = [1, 2])]
fn write_archive(bencher: Bencher<'_, '_>, threads: usize) {
    let snapshot = snapshot();
    let size = write(&snapshot, 1).len();
    bencher.counter(BytesCount::new(size)).bench(|| write(black_box(&snapshot), threads));
}

#[divan::bench]
fn read_archive(bencher: Bencher<'_, '_>) {
    let bytes = write(&snapshot(), 2);
    let read = || Snapshot::read(&open(black_box(&bytes))).expect("a snapshot");
    bencher.counter(BytesCount::new(bytes.len())).bench(read);
}

#[divan::bench]
fn validate_archive(bencher: Bencher<'_, '_>) {
    let bytes = write(&snapshot(), 2);
    let length = bytes.len() as u64;
    bencher
        .counter(BytesCount::new(length))
        .bench(|| validate(Box::new(black_box(&bytes).clone()), length, &Limits::default()));
}

#[divan::bench]
fn delta_of_ten_changes(bencher: Bencher<'_, '_>) {
    let (base, target) = changed();
    bencher.bench(|| write_delta(&base, &target, Vec::new(), spool(), 2).expect("a delta").0);
}

#[divan::bench]
fn apply_ten_changes(bencher: Bencher<'_, '_>) {
    let (base, target) = changed();
    let bytes = write_delta(&base, &target, Vec::new(), spool(), 2).expect("a delta").0;
    let length = bytes.len() as u64;
    let delta = anemone_format::Delta::open(Box::new(bytes), length, &Limits::default());
    let delta = delta.expect("a delta");
    bencher.bench(|| apply_delta(&base, &delta, Vec::new(), spool(), 2).expect("an archive").0);
}

fn changed() -> (Archive, Archive) {
    let mut snapshot = snapshot();
    let base = open(&write(&snapshot, 2));
    for record in snapshot.records.iter_mut().step_by(RECORDS / 10) {
        record.content.push_str(" Edited.");
    }
    (base, open(&write(&snapshot, 2)))
}

#[divan::bench]
fn parse_record(bencher: Bencher<'_, '_>) {
    let line = serde_json::to_string(&snapshot().records[0]).expect("a record");
    bencher
        .counter(BytesCount::of_str(&line))
        .bench(|| serde_json::from_str::<Record>(black_box(&line)).expect("a record"));
}

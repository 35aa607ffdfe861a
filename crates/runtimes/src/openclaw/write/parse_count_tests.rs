//! How often records are parsed of an agent that comes back.

use std::cell::RefCell;
use std::io::{self, Read};

use anemone_format::{Attachments, LoadedSnapshot, Manifest, Principals};

use super::round_trip_tests::{agent, machine, moved, read, workspace};
use super::*;
use crate::kit::sidecar::SIDECAR;
use crate::openclaw::OPENCLAW;

/// A source that counts how often each of its files is opened, and its records are walked over.
struct CountingSource<'a> {
    source: LoadedSnapshot<'a>,
    opened: RefCell<BTreeMap<usize, u32>>,
}

impl SnapshotSource for CountingSource<'_> {
    fn manifest(&self) -> &Manifest {
        self.source.manifest()
    }

    fn identity(&self) -> io::Result<Option<Identity>> {
        self.source.identity()
    }

    fn principals(&self) -> io::Result<Option<Principals>> {
        self.source.principals()
    }

    fn credentials(&self) -> io::Result<Option<Credentials>> {
        self.source.credentials()
    }

    fn attachments(&self) -> io::Result<Option<Attachments>> {
        self.source.attachments()
    }

    fn files(&self) -> &[SourceFile] {
        self.source.files()
    }

    fn content(&self, file: usize) -> io::Result<Box<dyn Read + '_>> {
        *self.opened.borrow_mut().entry(file).or_default() += 1;
        self.source.content(file)
    }

    fn each_record(&self, take: &mut dyn FnMut(&Record) -> io::Result<()>) -> io::Result<()> {
        self.source.each_record(take)
    }
}

#[test]
fn records_that_come_back_are_parsed_twice_however_often_they_are_walked_over() {
    let away = moved(&read(&workspace()));
    let source = LoadedSnapshot::new(&away);
    let counting = CountingSource { source, opened: RefCell::default() };
    let root = tempfile::tempdir().unwrap();
    let machine = machine(root.path());
    let source = RestoreSource::open(&machine, &counting, RUNTIME).unwrap();
    assert!(source.is_returning());
    let options = PlanOptions::new(OnConflict::Stop);
    OPENCLAW.plan(&machine, &source, &agent(root.path()), &options).unwrap();
    // As the layers of the plan and the proof do.
    for _ in 0..3 {
        source.each_record(&mut |_| Ok(())).unwrap();
    }
    let path = format!("{SIDECAR}/records.jsonl");
    let records = counting.files().iter().position(|file| file.path == path.as_bytes());
    assert_eq!(counting.opened.borrow()[&records.unwrap()], 2);
}

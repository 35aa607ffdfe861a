//! Two files or folders with any names: refused, or read back with the same names.

#![no_main]

use std::sync::LazyLock;

use anemone_format::{File, FileRoot, Node, Snapshot, WriteArchiveError};
use anemone_fuzz::{open, spool};

static EMPTY: LazyLock<Snapshot> = LazyLock::new(|| {
    let base = open(include_bytes!("../base.alf"));
    Snapshot::new(base.manifest().clone())
});

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    let [choice, length, names @ ..] = input else { return };
    let (first, second) = names.split_at(names.len().min(usize::from(*length)));
    let mut snapshot = EMPTY.clone();
    snapshot.manifest.blank();
    snapshot.files = vec![file(first, choice & 7), file(second, choice >> 3 & 7)];
    snapshot.sort();
    match snapshot.write(Vec::new(), spool(), 1) {
        Ok((bytes, _)) => assert_eq!(Snapshot::read(&open(&bytes)).unwrap(), snapshot),
        Err(WriteArchiveError::Path { .. } | WriteArchiveError::OutOfOrder(_)) => {}
        Err(error) => panic!("{error:?}"),
    }
});

fn file(path: &[u8], choice: u8) -> File {
    let root = match choice & 3 {
        0 => FileRoot::Raw("a".to_owned()),
        1 => FileRoot::Raw("A".to_owned()),
        2 => FileRoot::Other,
        _ => FileRoot::Artifacts,
    };
    let node = if choice & 4 == 0 { Node::File(vec![choice]) } else { Node::Folder };
    File { path: path.to_vec(), node, ..File::new(root, "", "") }
}

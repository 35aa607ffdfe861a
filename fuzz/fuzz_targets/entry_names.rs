//! Two files with any names: refused, or read back with the same names.

#![no_main]

use anemone_format::{File, FileRoot, Node, Snapshot, WriteArchiveError};
use anemone_fuzz::{open, spool};

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    let [choice, length, names @ ..] = input else { return };
    let (first, second) = names.split_at(names.len().min(usize::from(*length)));
    let file = |name: &[u8], choice: u8| File {
        path: name.to_vec(),
        node: if choice & 4 == 0 { Node::File(vec![choice]) } else { Node::Folder },
        ..File::new(
            [FileRoot::Raw("a".to_owned()), FileRoot::Artifacts, FileRoot::Other, FileRoot::Raw("A".to_owned())]
                [usize::from(choice & 3)].clone(),
            "",
            "",
        )
    };
    let mut snapshot = Snapshot::read(&open(include_bytes!("../base.alf"))).unwrap();
    snapshot.files = vec![file(first, choice & 7), file(second, choice >> 3 & 7)];
    snapshot.sort();
    match snapshot.write(Vec::new(), spool(), 1) {
        Ok((bytes, _)) => assert_eq!(Snapshot::read(&open(&bytes)).unwrap(), snapshot),
        Err(WriteArchiveError::Path { .. } | WriteArchiveError::OutOfOrder { .. }) => {}
        Err(error) => panic!("{error:?}"),
    }
});

//! How a file is replaced while editors save it.
//!
//! An editor knows no lock. So the new file is made beside the old one and the two are exchanged in
//! one step; what came out is then compared with what was expected. Is it something else, somebody
//! saved in between: the two are exchanged back, and nothing of theirs is lost.
//!
//! The file beside it has a name that the journal knows, so that whoever comes after a kill can
//! tell what it is.

use std::io;

use uuid::Uuid;

use crate::change::digest;
use crate::folder::{FileRead, Folder, Swapped};

/// Somebody saves again and again between two of our steps; nobody does it this often.
const TIMES: usize = 16;

/// The file that lies beside another while a change is made.
pub(crate) fn aside(change: Uuid, edit: usize) -> String {
    format!(".anemone-{change}-{edit}.tmp")
}

/// Puts a file in the place of one with the digest `before`, or where there is none.
pub(crate) fn put(
    folder: &Folder,
    name: &str,
    aside: &str,
    before: Option<[u8; 32]>,
    after: &[u8],
) -> io::Result<Swapped> {
    let mode = folder.read(name)?.map(|it| it.mode);
    folder.create(aside, after, mode)?;
    // That took its time. What is put back once it has been displaced can have been missed by
    // whoever looked meanwhile, so the last look is as late as can be.
    if digest_of(folder.read(name)?.as_ref()) != before {
        folder.remove(aside)?;
        return Ok(Swapped::Refused);
    }
    let Some(before) = before else {
        let named = folder.name(aside, name)?;
        if named == Swapped::Refused {
            folder.remove(aside)?;
        }
        return Ok(named);
    };
    exchange(folder, name, aside, before, digest(after))
}

/// Puts the file that lies beside another, `ours`, in its place, if what comes out is what was
/// there before.
fn exchange(
    folder: &Folder,
    name: &str,
    aside: &str,
    before: [u8; 32],
    ours: [u8; 32],
) -> io::Result<Swapped> {
    match folder.exchange(aside, name) {
        Ok(true) => {}
        // The check above is all there is then.
        Ok(false) => {
            folder.replace(aside, name)?;
            return Ok(Swapped::Done);
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            folder.remove(aside)?;
            return Ok(Swapped::Refused);
        }
        Err(error) => return Err(error),
    }
    let is_expected = matches!(folder.read(aside), Ok(Some(it)) if digest(&it.bytes) == before);
    if is_expected {
        folder.remove(aside)?;
        folder.sync()?;
        return Ok(Swapped::Done);
    }
    give_back(folder, name, aside, ours)?;
    Ok(Swapped::Refused)
}

/// Takes away a file with the digest `before`.
pub(crate) fn take(
    folder: &Folder,
    name: &str,
    aside: &str,
    before: [u8; 32],
) -> io::Result<Swapped> {
    match folder.name(name, aside) {
        Ok(Swapped::Done) => {}
        Ok(Swapped::Refused) => return Ok(Swapped::Refused),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Swapped::Refused),
        Err(error) => return Err(error),
    }
    let moved = folder.read(aside);
    if matches!(moved, Ok(Some(it)) if digest(&it.bytes) == before) {
        folder.remove(aside)?;
        folder.sync()?;
        return Ok(Swapped::Done);
    }
    // What somebody saved under the name meanwhile is newer than what was moved.
    if folder.name(aside, name)? == Swapped::Refused {
        folder.remove(aside)?;
    }
    Ok(Swapped::Refused)
}

/// Puts what lies beside a file back in its place, whatever is saved there meanwhile; `ours` is what
/// we had put there.
pub(crate) fn give_back(
    folder: &Folder,
    name: &str,
    aside: &str,
    ours: [u8; 32],
) -> io::Result<()> {
    let mut expected = Some(ours);
    for _ in 0..TIMES {
        let theirs = digest_of(folder.read(aside).ok().flatten().as_ref());
        match folder.exchange(aside, name) {
            Ok(true) => {}
            Ok(false) => return folder.replace(aside, name),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                folder.name(aside, name)?;
                break;
            }
            Err(error) => return Err(error),
        }
        // Where it is not what we put there, it is a newer save, and belongs there.
        if digest_of(folder.read(aside).ok().flatten().as_ref()) == expected {
            break;
        }
        expected = theirs;
    }
    folder.remove(aside)?;
    folder.sync()
}

pub(crate) fn digest_of(file: Option<&FileRead>) -> Option<[u8; 32]> {
    file.map(|it| digest(&it.bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder() -> (tempfile::TempDir, Folder) {
        let kept = tempfile::tempdir().unwrap();
        let folder = Folder::open(kept.path()).unwrap();
        (kept, folder)
    }

    fn text(folder: &Folder, name: &str) -> String {
        String::from_utf8(folder.read(name).unwrap().unwrap().bytes).unwrap()
    }

    #[test]
    fn what_was_saved_at_the_last_moment_is_given_back() {
        let (_kept, folder) = folder();
        // Between the last look and the exchange an editor saved.
        folder.create("a", b"theirs", None).unwrap();
        folder.create("beside", b"ours", None).unwrap();
        let (before, ours) = (digest(b"one"), digest(b"ours"));
        assert_eq!(exchange(&folder, "a", "beside", before, ours).unwrap(), Swapped::Refused);
        assert_eq!(text(&folder, "a"), "theirs");
        assert!(folder.look("beside").unwrap().is_none());
        folder.create("beside", b"ours", None).unwrap();
        let theirs = digest(b"theirs");
        assert_eq!(exchange(&folder, "a", "beside", theirs, ours).unwrap(), Swapped::Done);
        assert_eq!(text(&folder, "a"), "ours");
    }

    #[test]
    fn a_file_is_replaced_only_by_who_knows_it() {
        let (_kept, folder) = folder();
        let mode = rustix::fs::Mode::from_raw_mode(0o640);
        folder.create("a", b"one", Some(mode)).unwrap();
        let known = Some(digest(b"one"));
        assert_eq!(put(&folder, "a", ".x", None, b"two").unwrap(), Swapped::Refused);
        assert_eq!(put(&folder, "a", ".x", Some([0; 32]), b"two").unwrap(), Swapped::Refused);
        assert_eq!(put(&folder, "b", ".x", known, b"two").unwrap(), Swapped::Refused);
        assert_eq!(put(&folder, "a", ".x", known, b"two").unwrap(), Swapped::Done);
        assert_eq!(text(&folder, "a"), "two");
        assert_eq!(folder.read("a").unwrap().unwrap().mode, mode);
        assert_eq!(put(&folder, "b", ".x", None, b"new").unwrap(), Swapped::Done);
        assert!(folder.read(".x").unwrap().is_none());
    }

    #[test]
    fn a_file_is_taken_only_by_who_knows_it() {
        let (_kept, folder) = folder();
        folder.create("a", b"one", None).unwrap();
        assert_eq!(take(&folder, "a", ".x", [0; 32]).unwrap(), Swapped::Refused);
        assert_eq!(text(&folder, "a"), "one");
        assert_eq!(take(&folder, "a", ".x", digest(b"one")).unwrap(), Swapped::Done);
        assert_eq!(take(&folder, "a", ".x", digest(b"one")).unwrap(), Swapped::Refused);
        assert!(folder.read("a").unwrap().is_none() && folder.read(".x").unwrap().is_none());
    }

    #[test]
    fn what_was_displaced_goes_back_and_a_newer_save_wins() {
        let (_kept, folder) = folder();
        // Ours stands in place, theirs beside it.
        folder.create("a", b"ours", None).unwrap();
        folder.create(".x", b"theirs", None).unwrap();
        give_back(&folder, "a", ".x", digest(b"ours")).unwrap();
        assert_eq!(text(&folder, "a"), "theirs");
        // And now they had saved once more over ours.
        folder.create(".x", b"older", None).unwrap();
        give_back(&folder, "a", ".x", digest(b"ours")).unwrap();
        assert_eq!(text(&folder, "a"), "theirs");
        assert!(folder.read(".x").unwrap().is_none());
    }
}

//! How a file is replaced while editors save it.
//!
//! Editors do not know our lock. So the new file is written beside the old one, the two are
//! exchanged in one step, and the displaced file is compared with the expected content. If it
//! differs, another program saved in between: the two are exchanged back, and that save is in place
//! again.
//!
//! Three names can exist beside a file while edit `n` of a change is made or reverted, and each
//! name tells what the file can contain (the protocol of [`crate::recovery`] relies on this):
//!
//! | name | holds |
//! |---|---|
//! | `.anemone-<change>-<n>.part` | our copy while it is written: whole, torn or empty, always ours |
//! | `.anemone-<change>-<n>-<sha256>.swap` | our whole copy, whose digest is in the name; after the exchange, what was displaced |
//! | `.anemone-<change>-<n>.out` | what was moved away: never written by us under this name |
//!
//! A copy gets the `.swap` name only once it is complete and safe on the disk. So a `.swap` file
//! with another digest than its name says was displaced by the exchange, and cannot be a torn copy.

use std::io;

use anemone_files::{FileRead, Folder, SwapOutcome, if_found, is_not_plain};
use anemone_format::Hex;
use uuid::Uuid;

use crate::change::digest;
use crate::store::MAX_FILE_BYTES;

/// Another program may save between two of our steps; none does it this often.
const TIMES: usize = 16;

/// The names beside a file while one edit of it is made or taken back.
#[derive(Clone, Debug)]
pub(crate) struct Beside {
    stem: String,
}

/// A file that was found beside another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Leftover {
    /// A copy that was being written.
    Part(String),
    /// A complete copy of ours with this digest, or the file that it was exchanged with.
    Swap(String, String),
    /// A file that was moved away.
    Out(String),
}

/// The content under a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Content {
    Missing,
    /// A file with this digest.
    File([u8; 32]),
    /// A link, a folder, or a file that is too large.
    Other,
}

impl Beside {
    pub(crate) fn new(change: Uuid, edit: usize) -> Self {
        Self { stem: format!(".anemone-{change}-{edit}") }
    }

    pub(crate) fn part(&self) -> String {
        format!("{}.part", self.stem)
    }

    pub(crate) fn swap(&self, ours: [u8; 32]) -> String {
        format!("{}-{}.swap", self.stem, Hex(&ours))
    }

    pub(crate) fn out(&self) -> String {
        format!("{}.out", self.stem)
    }

    /// Finds the files of a folder that have these names.
    pub(crate) fn leftovers(&self, folder: &Folder) -> io::Result<Vec<Leftover>> {
        let names = folder.names_with(&self.stem)?;
        Ok(names.into_iter().filter_map(|name| self.leftover(name)).collect())
    }

    fn leftover(&self, name: String) -> Option<Leftover> {
        let rest = name.strip_prefix(&self.stem)?;
        match rest {
            ".part" => Some(Leftover::Part(name)),
            ".out" => Some(Leftover::Out(name)),
            _ => {
                let ours = rest.strip_prefix('-')?.strip_suffix(".swap")?.to_owned();
                Some(Leftover::Swap(name, ours))
            }
        }
    }
}

impl Content {
    /// Classifies the content under a name. An error is passed on, because unreadable content is
    /// unknown.
    pub(crate) fn of(folder: &Folder, name: &str) -> io::Result<Self> {
        match folder.read(name, MAX_FILE_BYTES) {
            Ok(Some(file)) => Ok(Self::File(digest(&file.bytes))),
            Ok(None) => Ok(Self::Missing),
            Err(error) if error.kind() == io::ErrorKind::FileTooLarge => Ok(Self::Other),
            Err(error) if is_not_plain(&error) => Ok(Self::Other),
            Err(error) => Err(error),
        }
    }

    pub(crate) fn is(self, hex: &str) -> bool {
        matches!(self, Self::File(digest) if Hex(&digest).to_string() == hex)
    }
}

/// Replaces the file with the digest `before`, or creates the file if `before` is `None`.
pub(crate) fn put(
    folder: &Folder,
    name: &str,
    beside: &Beside,
    before: Option<[u8; 32]>,
    after: &[u8],
) -> io::Result<SwapOutcome> {
    let mode = folder.read(name, MAX_FILE_BYTES)?.map(|file| file.mode);
    let part = beside.part();
    folder.remove(&part)?;
    folder.create(&part, after, mode)?;
    // Writing took time, so the last check is as late as possible: a program that reads the file
    // between an exchange and its reversal misses a save.
    if digest_of(folder.read(name, MAX_FILE_BYTES)?.as_ref()) != before {
        folder.remove(&part)?;
        return Ok(SwapOutcome::Refused);
    }
    let Some(before) = before else {
        let named = folder.name(&part, name)?;
        if named == SwapOutcome::Refused {
            folder.remove(&part)?;
        }
        return Ok(named);
    };
    let ours = digest(after);
    let swap = beside.swap(ours);
    folder.rename(&part, &swap)?;
    exchange(folder, name, &swap, before, ours)
}

/// Exchanges a file for our complete copy, if the displaced file has the digest `before`.
fn exchange(
    folder: &Folder,
    name: &str,
    swap: &str,
    before: [u8; 32],
    ours: [u8; 32],
) -> io::Result<SwapOutcome> {
    match if_found(folder.exchange(swap, name))? {
        Some(true) => {}
        // The file system cannot exchange: the look before is the only check.
        Some(false) => {
            folder.replace(swap, name)?;
            return Ok(SwapOutcome::Done);
        }
        None => {
            folder.remove(swap)?;
            return Ok(SwapOutcome::Refused);
        }
    }
    if Content::of(folder, swap)? == Content::File(before) {
        folder.remove(swap)?;
        folder.sync()?;
        return Ok(SwapOutcome::Done);
    }
    give_back(folder, name, swap, &Hex(&ours).to_string())?;
    Ok(SwapOutcome::Refused)
}

/// Takes away a file with the digest `before`.
pub(crate) fn take(
    folder: &Folder,
    name: &str,
    beside: &Beside,
    before: [u8; 32],
) -> io::Result<SwapOutcome> {
    let out = beside.out();
    if if_found(folder.name(name, &out))? != Some(SwapOutcome::Done) {
        return Ok(SwapOutcome::Refused);
    }
    if Content::of(folder, &out)? == Content::File(before) {
        folder.remove(&out)?;
        folder.sync()?;
        return Ok(SwapOutcome::Done);
    }
    move_back(folder, name, &out)?;
    Ok(SwapOutcome::Refused)
}

/// Gives a file that was moved away its name again, unless another program saved under that name
/// since: then that save is newer.
pub(crate) fn move_back(folder: &Folder, name: &str, out: &str) -> io::Result<()> {
    if folder.name(out, name)? == SwapOutcome::Refused {
        folder.remove(out)?;
        folder.sync()?;
    }
    Ok(())
}

/// Moves a displaced file back to its place, even if others save there in the meantime; `ours` is
/// the digest of the content that we had put there.
pub(crate) fn give_back(folder: &Folder, name: &str, swap: &str, ours: &str) -> io::Result<()> {
    // The digest that is expected to be displaced: ours first, and then the one from the previous
    // round.
    let mut expected = None;
    for _ in 0..TIMES {
        let theirs = Content::of(folder, swap)?;
        match if_found(folder.exchange(swap, name))? {
            Some(true) => {}
            Some(false) => return folder.replace(swap, name),
            None => return move_back(folder, name, swap),
        }
        let out = Content::of(folder, swap)?;
        if expected.map_or(out.is(ours), |expected| out == expected) {
            break;
        }
        // A newer save came out, and belongs in place.
        expected = Some(theirs);
    }
    folder.remove(swap)?;
    folder.sync()
}

/// Whether one file was saved after another.
pub(crate) fn is_newer(folder: &Folder, one: &str, other: &str) -> io::Result<bool> {
    let saved = |name| Ok::<_, io::Error>(folder.stamp(name)?.map(|look| look.modified_ns));
    Ok(saved(one)? > saved(other)?)
}

pub(crate) fn digest_of(file: Option<&FileRead>) -> Option<[u8; 32]> {
    file.map(|file| digest(&file.bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SWAP: &str = ".x.swap";

    fn beside() -> Beside {
        Beside::new(Uuid::nil(), 0)
    }

    fn folder() -> (tempfile::TempDir, Folder) {
        let kept = tempfile::tempdir().unwrap();
        let folder = Folder::open(kept.path()).unwrap();
        (kept, folder)
    }

    fn text(folder: &Folder, name: &str) -> String {
        String::from_utf8(folder.read(name, MAX_FILE_BYTES).unwrap().unwrap().bytes).unwrap()
    }

    #[test]
    fn what_was_saved_at_the_last_moment_is_given_back() {
        let (_kept, folder) = folder();
        // Between the last look and the exchange an editor saved.
        folder.create("a", b"theirs", None).unwrap();
        folder.create("beside", b"ours", None).unwrap();
        let (before, ours) = (digest(b"one"), digest(b"ours"));
        assert_eq!(exchange(&folder, "a", "beside", before, ours).unwrap(), SwapOutcome::Refused);
        assert_eq!(text(&folder, "a"), "theirs");
        assert!(folder.stamp("beside").unwrap().is_none());
        folder.create("beside", b"ours", None).unwrap();
        let theirs = digest(b"theirs");
        assert_eq!(exchange(&folder, "a", "beside", theirs, ours).unwrap(), SwapOutcome::Done);
        assert_eq!(text(&folder, "a"), "ours");
    }

    #[test]
    fn a_file_is_replaced_only_by_who_knows_it() {
        let (_kept, folder) = folder();
        let beside = beside();
        let mode = 0o640;
        folder.create("a", b"one", Some(mode)).unwrap();
        let known = Some(digest(b"one"));
        assert_eq!(put(&folder, "a", &beside, None, b"two").unwrap(), SwapOutcome::Refused);
        assert_eq!(
            put(&folder, "a", &beside, Some([0; 32]), b"two").unwrap(),
            SwapOutcome::Refused
        );
        assert_eq!(put(&folder, "b", &beside, known, b"two").unwrap(), SwapOutcome::Refused);
        assert_eq!(put(&folder, "a", &beside, known, b"two").unwrap(), SwapOutcome::Done);
        assert_eq!(text(&folder, "a"), "two");
        assert_eq!(folder.read("a", MAX_FILE_BYTES).unwrap().unwrap().mode, mode);
        assert_eq!(put(&folder, "b", &beside, None, b"new").unwrap(), SwapOutcome::Done);
        assert_eq!(beside.leftovers(&folder).unwrap(), []);
    }

    #[test]
    fn a_file_is_taken_only_by_who_knows_it() {
        let (_kept, folder) = folder();
        let beside = beside();
        folder.create("a", b"one", None).unwrap();
        assert_eq!(take(&folder, "a", &beside, [0; 32]).unwrap(), SwapOutcome::Refused);
        assert_eq!(text(&folder, "a"), "one");
        assert_eq!(take(&folder, "a", &beside, digest(b"one")).unwrap(), SwapOutcome::Done);
        assert_eq!(take(&folder, "a", &beside, digest(b"one")).unwrap(), SwapOutcome::Refused);
        assert!(folder.read("a", MAX_FILE_BYTES).unwrap().is_none());
        assert_eq!(beside.leftovers(&folder).unwrap(), []);
    }

    #[test]
    fn what_was_displaced_goes_back_and_a_newer_save_wins() {
        let (_kept, folder) = folder();
        // Our content is in place, and theirs is beside it.
        folder.create("a", b"ours", None).unwrap();
        folder.create(SWAP, b"theirs", None).unwrap();
        give_back(&folder, "a", SWAP, &Hex(&digest(b"ours")).to_string()).unwrap();
        assert_eq!(text(&folder, "a"), "theirs");
        // And now they had saved once more over ours.
        folder.create(SWAP, b"older", None).unwrap();
        give_back(&folder, "a", SWAP, &Hex(&digest(b"ours")).to_string()).unwrap();
        assert_eq!(text(&folder, "a"), "theirs");
        assert!(folder.read(SWAP, MAX_FILE_BYTES).unwrap().is_none());
    }

    #[test]
    fn names_beside_a_file_are_those_of_one_edit() {
        let (_kept, folder) = folder();
        let (first, tenth) = (Beside::new(Uuid::nil(), 1), Beside::new(Uuid::nil(), 10));
        let names = [tenth.part(), tenth.swap([1; 32]), tenth.out(), "a.md".to_owned()];
        names.iter().for_each(|name| folder.create(name, b"x", None).unwrap());
        assert_eq!(first.leftovers(&folder).unwrap(), []);
        let ours = Hex(&[1; 32]).to_string();
        let [part, swap, out, _] = names;
        let expected = [Leftover::Swap(swap, ours), Leftover::Out(out), Leftover::Part(part)];
        assert_eq!(tenth.leftovers(&folder).unwrap(), expected);
    }
}

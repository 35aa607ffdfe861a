//! Appending to a file that another program may empty at the same moment.
//!
//! An addition is written at the end of a file, wherever that is at the time of the write. An
//! editor that empties the file between our check and our write moves that end: our addition is
//! then where the editor is about to write, and the editor's text overwrites it, or its beginning.
//! So the file is left alone until the editor has written. A remainder of our addition behind the
//! editor's text is then cut off, and the append counts as not made.

use anemone_files::{AppendOutcome, FileStamp, SwapOutcome};

use crate::rest::{Known, Rest};
use crate::store::{LockedStore, MarkdownStoreError};

/// The remains of a text that another program may have overwritten.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Remains {
    /// All of it, on lines of its own at the end of the file.
    Whole,
    /// Its end, from here to the end of the file.
    End(u64),
    /// Nothing that can be distinguished from another program's text.
    Nothing,
}

impl LockedStore<'_> {
    /// Appends to a file whose state still is `expected`; creates the file if none is expected. The
    /// answer is never [`AppendOutcome::Displaced`].
    pub(crate) fn append(
        &self,
        path: &str,
        added: &str,
        expected: Option<FileStamp>,
    ) -> Result<AppendOutcome, MarkdownStoreError> {
        let (folder, name) = self.site().find_or_make(path)?;
        let fail = |error| self.site().fail(path, error);
        let at = match folder.append(name, added.as_bytes(), expected).map_err(fail)? {
            AppendOutcome::Displaced(at) => at,
            answer => return Ok(answer),
        };
        // A file that does not extend beyond our text may still lack the text that the editor is
        // writing.
        let end = at.saturating_add(added.len() as u64);
        let size = expected.map_or(0, |look| look.size).max(end.saturating_add(1));
        let known = Known { look: None, size };
        while let Rest::Resting(Some((seen, look))) = self.read_at_rest(path, Some(known))? {
            let start = match remains(&seen.bytes, added.as_bytes(), at) {
                Remains::Whole => return Ok(AppendOutcome::Done(look)),
                Remains::Nothing => break,
                Remains::End(start) => start,
            };
            if folder.cut(name, start, look).map_err(fail)? == SwapOutcome::Done {
                break;
            }
        }
        Ok(AppendOutcome::Refused)
    }
}

/// Determines the remains of a text that was written at an offset of a file.
fn remains(bytes: &[u8], added: &[u8], at: u64) -> Remains {
    let Some(at) = usize::try_from(at).ok().filter(|at| at + added.len() == bytes.len()) else {
        return Remains::Nothing;
    };
    let (ahead, there) = bytes.split_at(at);
    let same = there.iter().rev().zip(added.iter().rev()).take_while(|(one, other)| one == other);
    let same = same.count();
    let begins_line = added.starts_with(b"\n") || added.starts_with(b"\r\n");
    let ends_line = ahead.last().is_none_or(|byte| *byte == b'\n') || begins_line;
    if same == added.len() && ends_line {
        return Remains::Whole;
    }
    let start = bytes.len() - same;
    // The line ending before the remains may be the editor's or ours: it stays.
    let is_open = start > 0 && bytes.get(start - 1) != Some(&b'\n');
    match bytes.get(start) {
        None => Remains::Nothing,
        Some(b'\n') if is_open && same == 1 => Remains::Nothing,
        Some(b'\n') if is_open => Remains::End(start as u64 + 1),
        Some(_) => Remains::End(start as u64),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ADDED: &[u8] = b"- Lin likes tea\n- Bo likes rum\n";

    #[test]
    fn what_an_editor_wrote_over_is_told_from_what_is_left() {
        let covered = |text: &str| {
            let mut bytes = ADDED.to_vec();
            bytes.splice(..text.len().min(ADDED.len()), text.bytes());
            bytes
        };
        let long = "the editor's text, longer than ours\n";
        assert_eq!(remains(&covered(long), ADDED, 0), Remains::Nothing);
        assert_eq!(remains(&covered("# Notes\n"), ADDED, 0), Remains::End(8));
        // The editor's last byte equals the byte of our addition at the same offset.
        let same_place = "# About Lin's te\n";
        assert_eq!(remains(&covered(&same_place[..16]), ADDED, 0), Remains::End(16));
        assert_eq!(remains(ADDED, ADDED, 0), Remains::Whole);
    }

    #[test]
    fn what_stands_whole_behind_an_editors_text_was_added_if_it_begins_a_line() {
        let behind = |text: &str| [text.as_bytes(), ADDED].concat();
        assert_eq!(remains(&behind("# Notes\n"), ADDED, 8), Remains::Whole);
        assert_eq!(remains(&behind("# Notes"), ADDED, 7), Remains::End(7));
        // The file was emptied again since, or another program appended to it.
        assert_eq!(remains(b"", ADDED, 8), Remains::Nothing);
        assert_eq!(
            remains(&[&behind("# Notes\n"), b"x".as_slice()].concat(), ADDED, 8),
            Remains::Nothing
        );
    }
}

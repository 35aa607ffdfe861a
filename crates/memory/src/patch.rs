//! The difference that a change made to a file, so that the change can be reverted although other
//! programs have written since.

use memchr::memmem;
use serde::{Deserialize, Serialize};

/// The one stretch of lines in which two versions of a file differ.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Patch {
    /// Where it begins, in both.
    at: u64,
    /// How many bytes of the old version it is.
    cut: u64,
    /// The text of the new version at that place.
    put: String,
}

impl Patch {
    /// Compares two versions; `None` if the new part is not text.
    pub(crate) fn between(old: &[u8], new: &[u8]) -> Option<Self> {
        let same = old.iter().zip(new).take_while(|(old, new)| old == new).count();
        // Whole lines only: a part of a line has no meaning elsewhere.
        let at = old[..same].iter().rposition(|old| *old == b'\n').map_or(0, |old| old + 1);
        let (old_rest, new_rest) = (&old[at..], &new[at..]);
        let ends = old_rest.iter().rev().zip(new_rest.iter().rev());
        let mut tail = ends.take_while(|(old, new)| old == new).count();
        // The tail begins with a line.
        while tail > 0 && !begins_line(old_rest, tail) {
            tail -= 1;
        }
        let put = std::str::from_utf8(&new_rest[..new_rest.len() - tail]).ok()?.to_owned();
        Some(Self { at: at as u64, cut: (old_rest.len() - tail) as u64, put })
    }

    /// Returns the new version of a file.
    pub(crate) fn applied(&self, old: &[u8]) -> Option<Vec<u8>> {
        let at = usize::try_from(self.at).ok()?;
        let end = at.checked_add(usize::try_from(self.cut).ok()?)?;
        Some([old.get(..at)?, self.put.as_bytes(), old.get(end..)?].concat())
    }

    /// Returns the text that the change added, or else the text that it removed from the old
    /// version.
    pub(crate) fn text<'a>(&'a self, old: &'a [u8]) -> Option<&'a [u8]> {
        if !self.put.trim().is_empty() {
            return Some(self.put.as_bytes());
        }
        let at = usize::try_from(self.at).ok()?;
        old.get(at..at.checked_add(usize::try_from(self.cut).ok()?)?)
    }

    /// Reverts the change in the current content of the file; `None` if its place cannot be
    /// determined.
    pub(crate) fn taken_back(&self, old: &[u8], now: &[u8]) -> Option<Vec<u8>> {
        let at = usize::try_from(self.at).ok()?;
        let end = at.checked_add(usize::try_from(self.cut).ok()?)?;
        let (before, cut, after) = (old.get(..at)?, old.get(at..end)?, old.get(end..)?);
        let put = self.put.as_bytes();
        if !put.is_empty() {
            let start = memmem::rfind(now, put).filter(|rfind| is_line(now, *rfind))?;
            return Some([&now[..start], cut, &now[start + put.len()..]].concat());
        }
        // The removed text is in the file again: another program restored it.
        if memmem::find(now, cut).is_some() {
            return None;
        }
        let start = match (last_line(before), first_line(after)) {
            (Some(line), _) if place(now, line).is_some() => place(now, line)? + line.len(),
            (_, Some(line)) if place(now, line).is_some() => place(now, line)?,
            (None, _) => 0,
            _ => now.len(),
        };
        let is_open = start > 0 && !now[..start].ends_with(b"\n");
        let glue: &[u8] = if is_open { b"\n" } else { b"" };
        Some([&now[..start], glue, cut, &now[start..]].concat())
    }
}

fn begins_line(bytes: &[u8], tail: usize) -> bool {
    let start = bytes.len() - tail;
    start == 0 || bytes[start - 1] == b'\n'
}

fn is_line(bytes: &[u8], start: usize) -> bool {
    start == 0 || bytes[start - 1] == b'\n'
}

/// Finds the last place of a line.
fn place(bytes: &[u8], line: &[u8]) -> Option<usize> {
    memmem::rfind_iter(bytes, line).find(|iter| is_line(bytes, *iter))
}

/// Returns the last line that says something, with its ending.
fn last_line(bytes: &[u8]) -> Option<&[u8]> {
    bytes.split_inclusive(|byte| *byte == b'\n').rev().find(|part| !part.trim_ascii().is_empty())
}

fn first_line(bytes: &[u8]) -> Option<&[u8]> {
    bytes.split_inclusive(|byte| *byte == b'\n').find(|part| !part.trim_ascii().is_empty())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn back(old: &str, new: &str, now: &str) -> Option<String> {
        let patch = Patch::between(old.as_bytes(), new.as_bytes()).unwrap();
        let back = patch.taken_back(old.as_bytes(), now.as_bytes())?;
        Some(String::from_utf8(back).unwrap())
    }

    #[test]
    fn what_went_comes_back_where_it_stood_although_others_wrote() {
        let (old, new) = ("# d\n- a\n- b\n- c\n", "# d\n- a\n- c\n");
        assert_eq!(back(old, new, "# d\n- a\n- c\n- d\n").unwrap(), "# d\n- a\n- b\n- c\n- d\n");
        assert_eq!(back(old, new, "x\n- a\n- c\n").unwrap(), "x\n- a\n- b\n- c\n");
        assert_eq!(back(old, new, "# d\n- c\n").unwrap(), "# d\n- b\n- c\n");
        assert_eq!(back(old, new, "all new").unwrap(), "all new\n- b\n");
        assert_eq!(back(old, new, "- b\n"), None);
    }

    #[test]
    fn what_came_goes_wherever_it_stands() {
        let (old, new) = ("# d\n- a\n", "# d\n- a\n- b\n");
        assert_eq!(back(old, new, "# e\n- b\n- a\n").unwrap(), "# e\n- a\n");
        assert_eq!(back(old, new, "# e\n"), None);
        assert_eq!(back("- a\n- old\n", "- a\n- new\n", "- z\n- new\n").unwrap(), "- z\n- old\n");
    }

    proptest! {
        #[test]
        fn with_nobody_else_writing_all_is_as_it_was(
            old in "([ab]?[ab]\n){0,8}[ab]?", new in "([ab]?[ab]\n){0,8}[ab]?"
        ) {
            let patch = Patch::between(old.as_bytes(), new.as_bytes()).unwrap();
            let (at, cut) = (patch.at as usize, patch.cut as usize);
            let made = format!("{}{}{}", &old[..at], patch.put, &old[at + cut..]);
            prop_assert_eq!(made, new);
            patch.taken_back(old.as_bytes(), b"- other\n");
        }
    }
}

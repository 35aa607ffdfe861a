//! Ends or takes back a change that was cut off: by a kill, or by an error in the middle.
//!
//! Where every edit is made, the change is made, though nobody was told. Otherwise each edit is
//! taken back that still is as we made it; what somebody else saved in between stays theirs.

use std::io;

use anemone_format::Hex;

use crate::change::digest;
use crate::folder::{Folder, Swapped};
use crate::journal::{JournalError, NotedEdit, Recorded};
use crate::replacing::{aside, digest_of, give_back, put, take};
use crate::site::{Held, SiteError};

/// Somebody saves between two of our steps; nobody does it this often.
const TIMES: usize = 8;

/// How far an edit got.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Got {
    /// Everything is as it was.
    Nothing,
    /// A part of what was to be added is there.
    Part,
    /// It is made.
    Made,
    /// Somebody else saved the file.
    Theirs,
}

/// What is left of a file when what was added is cut out of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Cut {
    /// A file.
    Left(Vec<u8>),
    /// Nothing but the head that came with it.
    Empty,
}

impl Held<'_> {
    /// Ends what was cut off.
    pub(crate) fn recover(&self) -> Result<(), SiteError> {
        for begun in self.cut_off()? {
            let mut is_made = true;
            for at in 0..begun.noted.edits.len() {
                is_made &= self.look_at(&begun, at)? == Got::Made;
            }
            if is_made {
                self.commit(&begun)?;
            } else {
                self.take_back(&begun)?;
            }
        }
        Ok(())
    }

    /// Takes back what was made of a change, and forgets it.
    pub(crate) fn take_back(&self, begun: &Recorded) -> Result<(), SiteError> {
        let mut acknowledged = self.acknowledged();
        for (at, edit) in begun.noted.edits.iter().enumerate() {
            for _ in 0..TIMES {
                let got = self.look_at(begun, at)?;
                if matches!(got, Got::Nothing | Got::Theirs) {
                    break;
                }
                let Some((folder, name)) = self.site().find(&edit.path)? else { break };
                let image = begun.images.get(at).map(Vec::as_slice).unwrap_or_default();
                let undone = edit.take_back(&folder, name, &aside(begun.id.0, at), image);
                if undone.map_err(|error| self.site().fail(&edit.path, error))? == Swapped::Done {
                    break;
                }
            }
            if let Some(added) = &edit.added {
                acknowledged.forget(&edit.path, &added.text);
            }
        }
        self.keep_acknowledged(&mut acknowledged)?;
        let fail = |source| JournalError { path: self.site().journal(), source };
        Ok(fs_err::remove_file(&begun.path).map_err(fail)?)
    }

    /// Says how far an edit got, and clears away what lies beside its file.
    fn look_at(&self, begun: &Recorded, at: usize) -> Result<Got, SiteError> {
        let Some(edit) = begun.noted.edits.get(at) else { return Ok(Got::Nothing) };
        let image = begun.images.get(at).map(Vec::as_slice).unwrap_or_default();
        let look = || {
            let Some((folder, name)) = self.site().find(&edit.path)? else {
                return Ok(Got::Nothing);
            };
            let got = edit.look_at(&folder, name, &aside(begun.id.0, at), image);
            got.map_err(|error| self.site().fail(&edit.path, error))
        };
        match look() {
            // Somebody put something else in its place since.
            Err(SiteError::NotPlain { .. } | SiteError::TooLarge { .. }) => Ok(Got::Theirs),
            got => got,
        }
    }
}

impl NotedEdit {
    fn look_at(&self, folder: &Folder, name: &str, aside: &str, image: &[u8]) -> io::Result<Got> {
        let before = self.before.map(|_| digest(image));
        if folder.look(aside)?.is_some() {
            let beside = digest_of(folder.read(aside).ok().flatten().as_ref());
            let is_ours = self.is_after(beside);
            let is_expected = beside == before || beside == digest_of(folder.read(name)?.as_ref());
            // A file that was to be made and got no further than the name beside it.
            let is_part = self.added.is_none() && self.before.is_none() && self.after.is_some();
            match (is_ours || is_expected, folder.look(name)?) {
                (_, None) if is_part => drop(folder.remove(aside)?),
                // We moved it away, and nothing has come in its place.
                (_, None) if !is_ours => drop(folder.name(aside, name)?),
                (true, _) => drop(folder.remove(aside)?),
                // We put ours in the place of what somebody had saved: theirs goes back.
                (false, _) if self.is_after(digest_of(folder.read(name)?.as_ref())) => {
                    let ours = digest_of(folder.read(name)?.as_ref()).unwrap_or_default();
                    give_back(folder, name, aside, ours)?;
                }
                (false, _) => drop(folder.remove(aside)?),
            }
        }
        let there = folder.read(name)?;
        if let Some(added) = &self.added {
            let bytes = there.map(|it| it.bytes).unwrap_or_default();
            if find(&bytes, added.text.as_bytes()).is_some() {
                return Ok(Got::Made);
            }
            return Ok(if self.part_in(&bytes).is_some() { Got::Part } else { Got::Nothing });
        }
        let now = digest_of(there.as_ref());
        Ok(match now {
            _ if self.is_after(now) => Got::Made,
            _ if now == before => Got::Nothing,
            _ => Got::Theirs,
        })
    }

    fn is_after(&self, now: Option<[u8; 32]>) -> bool {
        self.added.is_none() && now.map(|it| Hex(&it).to_string()) == self.after
    }

    fn take_back(
        &self,
        folder: &Folder,
        name: &str,
        aside: &str,
        image: &[u8],
    ) -> io::Result<Swapped> {
        let there = folder.read(name)?;
        let now = digest_of(there.as_ref());
        let Some(bytes) = there.map(|it| it.bytes).filter(|_| self.added.is_some()) else {
            // What somebody saved since it was looked at is theirs.
            if self.added.is_none() && !self.is_after(now) {
                return Ok(Swapped::Refused);
            }
            return match (self.before, now) {
                (Some(_), _) => put(folder, name, aside, now, image),
                (None, Some(now)) => take(folder, name, aside, now),
                (None, None) => Ok(Swapped::Done),
            };
        };
        let cut = self.cut_from(&bytes).or_else(|| {
            let start = self.part_in(&bytes)?;
            Some(if start == 0 { Cut::Empty } else { Cut::Left(bytes.get(..start)?.to_vec()) })
        });
        match cut {
            Some(Cut::Left(left)) => put(folder, name, aside, now, &left),
            Some(Cut::Empty) => take(folder, name, aside, now.unwrap_or_default()),
            None => Ok(Swapped::Done),
        }
    }

    /// Cuts what was added out of a file, wherever it stands; `None` when it is not there.
    pub(crate) fn cut_from(&self, bytes: &[u8]) -> Option<Cut> {
        let added = self.added.as_ref()?;
        let text = added.text.as_bytes();
        let start = find(bytes, text)?;
        let rest = bytes.get(start + text.len()..)?;
        let ahead = bytes.get(..start)?;
        // At the end, and as we left it: then all that we added goes.
        let ahead = match ahead.strip_suffix(added.glue.as_bytes()) {
            Some([]) if rest.is_empty() && !added.glue.is_empty() => return Some(Cut::Empty),
            Some(was) if rest.is_empty() => was,
            _ => ahead,
        };
        Some(Cut::Left([ahead, rest].concat()))
    }

    /// Returns where a part of what was to be added begins: nothing but that stands where the file
    /// ended.
    fn part_in(&self, bytes: &[u8]) -> Option<usize> {
        let added = self.added.as_ref()?;
        let start = usize::try_from(added.at).ok()?;
        let tail = bytes.get(start..).filter(|it| !it.is_empty())?;
        let whole = [added.glue.as_bytes(), added.text.as_bytes()].concat();
        (tail.len() < whole.len() && whole.starts_with(tail)).then_some(start)
    }
}

/// Finds the last place of a text.
fn find(bytes: &[u8], text: &[u8]) -> Option<usize> {
    if text.is_empty() {
        return None;
    }
    memchr::memmem::rfind(bytes, text)
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;
    use uuid::Uuid;

    use crate::{Change, Edit, Manner, Site};

    const OLD: &str = "- old\n";
    const NEW: &str = "- new one\n";

    struct Place {
        kept: tempfile::TempDir,
        site: Site,
    }

    impl Place {
        fn new() -> Self {
            let kept = tempfile::tempdir().unwrap();
            fs_err::create_dir_all(kept.path().join("w/memory")).unwrap();
            let state = kept.path().join("s");
            let site = Site::open(&kept.path().join("w"), &state, Manner::OpenClaw).unwrap();
            for name in ["a.md", "b.md", "c.md"] {
                fs_err::write(site.root().join(name), OLD).unwrap();
            }
            Self { kept, site }
        }

        fn write(&self, name: &str, text: &str) {
            fs_err::write(self.site.root().join(name), text).unwrap();
        }

        fn text(&self, name: &str) -> Option<String> {
            fs_err::read_to_string(self.site.root().join(name)).ok()
        }

        /// Begins the change of all four kinds, as a process does that is killed then.
        fn begin(&self) -> Uuid {
            let seen = |name: &str| self.site.read(name).unwrap().unwrap();
            let (a, b) = (seen("a.md"), seen("b.md"));
            let change = Change {
                what: "tidy".to_owned(),
                edits: vec![
                    Edit::replace(&a, NEW.into()),
                    Edit::Remove { path: "b.md".to_owned(), before: b.sha256 },
                    Edit::Append {
                        path: "c.md".to_owned(),
                        head: String::new(),
                        text: NEW.to_owned(),
                    },
                    Edit::Write { path: "d.md".to_owned(), before: None, after: NEW.into() },
                ],
            };
            let seen = [Some(a), Some(b), self.site.read("c.md").unwrap(), None];
            let id = Uuid::from_u128(7);
            let held = self.site.lock().unwrap();
            held.begin(&change, &seen, None, id, Timestamp::UNIX_EPOCH).unwrap();
            id
        }

        fn recover(&self) -> usize {
            drop(self.site.lock().unwrap());
            let workspace = fs_err::read_dir(self.kept.path().join("w")).unwrap();
            let names = workspace.map(|it| it.unwrap().file_name());
            assert!(!names.into_iter().any(|it| it.to_string_lossy().starts_with('.')));
            self.site.changes().unwrap().len()
        }

        #[track_caller]
        fn assert_untouched(&self) {
            for name in ["a.md", "b.md", "c.md"] {
                assert_eq!(self.text(name).as_deref(), Some(OLD), "{name}");
            }
            assert_eq!(self.text("d.md"), None);
        }
    }

    #[test]
    fn a_kill_before_the_first_edit_leaves_nothing() {
        let place = Place::new();
        let id = place.begin();
        place.write(&super::aside(id, 0), NEW);
        assert_eq!(place.recover(), 0);
        place.assert_untouched();
    }

    #[test]
    fn a_new_file_that_was_cut_off_never_appears() {
        for part in ["", "- ne"] {
            let place = Place::new();
            let id = place.begin();
            place.write(&super::aside(id, 3), part);
            assert_eq!(place.recover(), 0);
            place.assert_untouched();
        }
    }

    #[test]
    fn a_kill_in_the_middle_is_taken_back() {
        let place = Place::new();
        let id = place.begin();
        // Exchanged, and the old one still lies beside it; moved away; a part of a line.
        place.write("a.md", NEW);
        place.write(&super::aside(id, 0), OLD);
        let (from, to) = (place.site.root().join("b.md"), super::aside(id, 1));
        fs_err::rename(from, place.site.root().join(to)).unwrap();
        place.write("c.md", &format!("{OLD}- ne"));
        assert_eq!(place.recover(), 0);
        place.assert_untouched();
    }

    #[test]
    fn a_kill_after_the_last_edit_is_a_change() {
        let place = Place::new();
        place.begin();
        place.write("a.md", NEW);
        fs_err::remove_file(place.site.root().join("b.md")).unwrap();
        place.write("c.md", &format!("{OLD}{NEW}"));
        place.write("d.md", NEW);
        assert_eq!(place.recover(), 1);
        assert_eq!(place.text("a.md").as_deref(), Some(NEW));
        let undo = place.site.plan_undo().unwrap();
        let held = place.site.lock().unwrap();
        held.undo(&undo, Uuid::from_u128(8), Timestamp::UNIX_EPOCH).unwrap();
        place.assert_untouched();
    }

    #[test]
    fn what_an_editor_saved_in_the_middle_stays() {
        let place = Place::new();
        let id = place.begin();
        // Ours stands there, and what came out is what an editor had just saved.
        place.write("a.md", NEW);
        place.write(&super::aside(id, 0), "- theirs\n");
        place.write("b.md", "- theirs too\n");
        assert_eq!(place.recover(), 0);
        assert_eq!(place.text("a.md").as_deref(), Some("- theirs\n"));
        assert_eq!(place.text("b.md").as_deref(), Some("- theirs too\n"));
        assert_eq!(place.text("c.md").as_deref(), Some(OLD));
    }

    #[test]
    fn a_record_that_is_no_record_is_nothing() {
        let place = Place::new();
        place.begin();
        let journal = place.kept.path().join("s/journal");
        for one in fs_err::read_dir(&journal).unwrap() {
            fs_err::write(one.unwrap().path(), "{").unwrap();
        }
        assert_eq!(place.recover(), 0);
        assert_eq!(fs_err::read_dir(&journal).unwrap().count(), 0);
        place.assert_untouched();
    }
}

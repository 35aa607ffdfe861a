//! A marker in an install that is being created.
//!
//! An install gets its files, its database and its settings one after the other. A run that is
//! killed between them leaves folders that look like an install without settings; the marker tells
//! the next run that it may continue.

use std::io;
use std::path::{Path, PathBuf};

use anemone_files::{Durability, read_small, replace_file};
use anemone_format::AgentId;
use serde::{Deserialize, Serialize};

/// The name of the note.
const NOTE: &str = ".alf-import.json";
/// Bytes of a note, at most.
const MAX_NOTE_BYTES: u64 = 1 << 16;

/// What a note says.
#[derive(Debug, Deserialize, Serialize)]
pub(crate) struct InstallNote {
    /// The agent that moves in.
    pub(crate) agent_id: AgentId,
    /// What it is called there.
    pub(crate) alias: String,
}

impl InstallNote {
    /// Reads the note in an install; `None` when there is no valid one.
    pub(crate) fn read(install: &Path) -> Option<Self> {
        let text = read_small(&install.join(NOTE), MAX_NOTE_BYTES).ok()??;
        serde_json::from_slice(&text).ok()
    }
}

/// An install that is being created.
#[derive(Debug)]
pub struct NewInstall {
    folder: PathBuf,
    note: InstallNote,
}

impl NewInstall {
    pub(crate) fn new(folder: PathBuf, note: InstallNote) -> Self {
        Self { folder, note }
    }

    /// Writes the note; returns the folders that were created for it, to be passed to
    /// [`NewInstall::cancel`]. `None` if a run that was killed has already written it.
    pub fn begin(&self) -> io::Result<Option<Vec<PathBuf>>> {
        if InstallNote::read(&self.folder).is_some_and(|read| read.agent_id == self.note.agent_id) {
            return Ok(None);
        }
        let missing =
            self.folder.ancestors().take_while(|ancestor| !ancestor.exists()).map(Path::to_owned);
        let made: Vec<PathBuf> = missing.collect();
        let written = fs_err::create_dir_all(&self.folder).and_then(|()| {
            let note = serde_json::to_vec(&self.note)?;
            replace_file(&self.folder.join(NOTE), &note, Durability::Immediate)
        });
        written.inspect_err(|_| self.cancel(&made))?;
        Ok(Some(made))
    }

    /// Removes the note: everything is in place.
    pub fn finish(&self) -> io::Result<()> {
        match fs_err::remove_file(self.folder.join(NOTE)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    /// Removes the note and the folders that were created for it; they hold nothing else.
    pub fn cancel(&self, made: &[PathBuf]) {
        self.finish().ok();
        for folder in made {
            fs_err::remove_dir(folder).ok();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_goes_with_the_folders_that_were_made_for_it() {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join("a/.zeroclaw");
        let agent_id: AgentId = "9e373c1e-cab7-5eea-90c3-8f3d09ac5755".parse().unwrap();
        let note = InstallNote { agent_id, alias: "ada".to_owned() };
        let install = NewInstall::new(folder.clone(), note);
        let made = install.begin().unwrap().unwrap();
        assert_eq!(install.begin().unwrap(), None);
        let read = InstallNote::read(&folder).unwrap();
        assert_eq!((read.agent_id, read.alias.as_str()), (agent_id, "ada"));
        install.cancel(&made);
        assert!(!root.path().join("a").exists());
        install.finish().unwrap();
    }

    #[test]
    fn what_is_no_note_says_nothing() {
        let root = tempfile::tempdir().unwrap();
        assert!(InstallNote::read(root.path()).is_none());
        fs_err::write(root.path().join(NOTE), "{").unwrap();
        assert!(InstallNote::read(root.path()).is_none());
        fs_err::remove_file(root.path().join(NOTE)).unwrap();
        std::os::unix::fs::symlink("/etc/passwd", root.path().join(NOTE)).unwrap();
        assert!(InstallNote::read(root.path()).is_none());
    }
}

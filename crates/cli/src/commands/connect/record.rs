//! What was done to connect a program, kept so that it can be taken back exactly.
//!
//! A record has the lines that we wrote and digests, and nothing else of anybody's files.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::document::Changes;
use super::place::{Place, remove_empty};
use crate::environment::Environment;
use crate::error::CliError;

/// All that was done for one program.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub(super) struct Record {
    pub(super) files: Vec<FileRecord>,
    pub(super) own: Vec<OwnRecord>,
    /// Folders that were made for the record itself, the outermost first.
    #[serde(default)]
    pub(super) folders: Vec<PathBuf>,
}

#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub(super) struct FileRecord {
    pub(super) path: PathBuf,
    /// Whether there was no file.
    pub(super) made: bool,
    /// Folders that were made for it, the outermost first.
    pub(super) folders: Vec<PathBuf>,
    pub(super) changes: Changes,
}

#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub(super) struct OwnRecord {
    pub(super) path: PathBuf,
    pub(super) digest: String,
    pub(super) folders: Vec<PathBuf>,
}

impl Record {
    /// Reads the record of a program; one that makes no sense counts for nothing.
    pub(super) fn load(path: &Path) -> Result<Option<Self>, CliError> {
        let text = Place::look(path)?.text;
        Ok(text.and_then(|it| serde_json::from_str(&it).ok()))
    }

    /// Whether anything was written that may still be there.
    pub(super) fn has_anything(&self) -> bool {
        !self.files.is_empty() || !self.own.is_empty()
    }

    /// Keeps the record; `before` is the one whose place it takes.
    pub(super) fn save(&mut self, path: &Path, before: Option<&Self>) -> Result<(), CliError> {
        let missing = || Place::look(path).map(|it| it.missing_folders());
        self.folders = before.map_or_else(missing, |it| Ok(it.folders.clone()))?;
        let text = serde_json::to_string(&*self).map_err(std::io::Error::from)?;
        Place::look(path)?.write(&(text + "\n"))
    }

    /// Takes the record away, and the folders that were made for it.
    pub(super) fn remove(&self, path: &Path) -> Result<(), CliError> {
        Place::look(path)?.remove()?;
        remove_empty(&self.folders);
        Ok(())
    }

    pub(super) fn file(&self, path: &Path) -> Option<&FileRecord> {
        self.files.iter().find(|it| it.path == path)
    }

    /// Whether the same was done, wherever the record lies.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        self.files == other.files && self.own == other.own
    }

    pub(super) fn own(&self, path: &Path) -> Option<&OwnRecord> {
        self.own.iter().find(|it| it.path == path)
    }
}

/// Returns where the record of a program lies.
pub(super) fn path_of(environment: &Environment, program: &str) -> PathBuf {
    environment.state_home.join("anemone/connections").join(format!("{program}.json"))
}

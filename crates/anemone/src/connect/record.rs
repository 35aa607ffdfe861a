//! The record of connecting a program, so that it can be reverted exactly.
//!
//! A record contains the lines that we wrote and digests, and no other content of the files.

use std::path::{Path, PathBuf};

use anemone_format::sha256_hex;
use anemone_runtimes::connect::{ConfigChanges, ConfigEdit};
use serde::{Deserialize, Serialize};

use super::error::ConnectError;
use super::program_file::{ProgramFile, remove_empty};
use crate::host::Host;

/// All that was done for one program.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub(super) struct Record {
    pub(super) files: Vec<FileRecord>,
    pub(super) own: Vec<OwnRecord>,
    /// The project that is connected, where it is not the whole program.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) project: Option<String>,
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
    pub(super) changes: ConfigChanges,
}

#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub(super) struct OwnRecord {
    pub(super) path: PathBuf,
    pub(super) digest: String,
    pub(super) folders: Vec<PathBuf>,
}

impl Record {
    /// Reads the record of a program; an invalid record is ignored.
    pub(super) fn load(path: &Path) -> Result<Option<Self>, ConnectError> {
        let text = ProgramFile::look(path)?.text;
        Ok(text.and_then(|text| serde_json::from_str(&text).ok()))
    }

    /// Whether anything was written that may still be there.
    pub(super) fn has_anything(&self) -> bool {
        !self.files.is_empty() || !self.own.is_empty()
    }

    /// Saves the record; `before` is the one that it replaces.
    pub(super) fn save(&mut self, path: &Path, before: Option<&Self>) -> Result<(), ConnectError> {
        self.folders = match before {
            Some(before) => before.folders.clone(),
            None => {
                // Folders that were created for another record are deleted with the last record in
                // them.
                let mut folders = ProgramFile::look(path)?.missing_folders();
                folders.extend(beside(path).into_iter().flat_map(|record| record.folders));
                folders.sort();
                folders.dedup();
                folders
            }
        };
        let text = serde_json::to_string(&*self).map_err(std::io::Error::from)?;
        ProgramFile::look(path)?.write(&(text + "\n"))
    }

    /// Takes the record away, and the folders that were made for it.
    pub(super) fn remove(&self, path: &Path) -> Result<(), ConnectError> {
        ProgramFile::look(path)?.remove()?;
        remove_empty(&self.folders);
        Ok(())
    }

    /// Returns everything that was put into files.
    pub(super) fn edits(&self) -> impl Iterator<Item = &ConfigEdit> {
        self.files.iter().flat_map(|file| file.changes.wants())
    }

    pub(super) fn file(&self, path: &Path) -> Option<&FileRecord> {
        self.files.iter().find(|file| file.path == path)
    }

    /// Whether the same was done, wherever the record is stored.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        self.files == other.files && self.own == other.own
    }

    pub(super) fn own(&self, path: &Path) -> Option<&OwnRecord> {
        self.own.iter().find(|file| file.path == path)
    }
}

/// Returns the records beside a path that can be read.
fn beside(path: &Path) -> Vec<Record> {
    let listed = path.parent().map(fs_err::read_dir).and_then(Result::ok);
    let paths = listed.into_iter().flatten().filter_map(|entry| Some(entry.ok()?.path()));
    let others = paths
        .filter(|other| other != path && other.extension().is_some_and(|ending| ending == "json"));
    others.filter_map(|other| Record::load(&other).ok().flatten()).collect()
}

/// Returns where records are.
fn folder(host: &Host) -> PathBuf {
    host.folders.own_state().join("connections")
}

/// Returns the path of the record of a program, or of one of its projects.
pub(super) fn path_of(host: &Host, program: &str, project: Option<&str>) -> PathBuf {
    let mark = |project: &str| format!("-{}", &sha256_hex(project.as_bytes())[..16]);
    let project = project.map(mark).unwrap_or_default();
    folder(host).join(format!("{program}{project}.json"))
}

/// Returns the records of a program's projects that can be read, by their projects.
pub(super) fn of_projects(host: &Host, program: &str) -> Vec<(String, Record)> {
    let prefix = format!("{program}-");
    let Ok(listed) = fs_err::read_dir(folder(host)) else { return Vec::new() };
    let is_own = |path: &PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        name.starts_with(&prefix) && name.ends_with(".json")
    };
    let paths = listed.filter_map(|entry| Some(entry.ok()?.path())).filter(is_own);
    let records = paths.filter_map(|path| Record::load(&path).ok().flatten());
    let mut found: Vec<(String, Record)> =
        records.filter_map(|record| Some((record.project.clone()?, record))).collect();
    found.sort_by(|(one, _), (other, _)| one.cmp(other));
    found
}

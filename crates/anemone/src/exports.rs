//! When an agent was last exported, and to where: a note in the agent's state folder.
//!
//! An archive is valid without its note. If the note cannot be written or read, nothing is reported
//! and nothing fails: the time of the last export is then unknown.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use anemone_files::{Durability, FileStat, folder_of, make_private_folder};
use anemone_format::Moment;
use anemone_runtimes::{FileCount, FoundAgent, Runtime};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::host::Host;
use crate::identity::{AgentIdentity, identify};
use crate::known_folders::{FolderKind, note_folder};
use crate::note_file;
use crate::survey::{AgentScan, Survey, real};

/// A path has some thousand bytes, and no byte of it takes more than ten in JSON.
const MAX_NOTE: u64 = 64 << 10;

/// An export that was made.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct Export {
    /// The workspace; what is not UTF-8 is replaced.
    pub workspace: String,
    /// The archive; what is not UTF-8 is replaced.
    pub archive: String,
    /// Its bytes, when they are not UTF-8.
    #[serde(skip_serializing_if = "Option::is_none")]
    archive_bytes: Option<Vec<u8>>,
    /// When reading began: later writes may be missing from the archive.
    pub at: Moment,
    /// Bytes of the archive.
    pub size_bytes: u64,
    /// Files that the agent had.
    pub files: u64,
}

impl Export {
    /// Returns where the archive was written.
    pub fn path(&self) -> PathBuf {
        match &self.archive_bytes {
            Some(bytes) => PathBuf::from(OsStr::from_bytes(bytes)),
            None => PathBuf::from(&self.archive),
        }
    }

    /// Examines the agent's current files; `changed` says what is missing from this export.
    pub fn compare(
        &self,
        scan: &AgentScan<'_>,
        memories: Option<&mut Vec<(String, FileStat)>>,
    ) -> Survey {
        let mut survey = scan.run_since(Some(self.at.instant()), Some(&self.path()), memories);
        // What was removed since leaves no file that says so.
        if survey.changed == 0 {
            survey.changed = self.files.saturating_sub(survey.files);
        }
        survey
    }
}

/// An export that begins.
pub struct ExportLogEntry<'a> {
    runtime: &'a Runtime,
    agent: &'a FoundAgent,
    /// Archives that were among the files of the workspace before the export.
    counted: Vec<PathBuf>,
    at: Timestamp,
}

impl<'a> ExportLogEntry<'a> {
    /// Notes when it is that the agent is going to be read. One of the archives will have it.
    pub fn new<'b>(
        runtime: &'a Runtime,
        agent: &'a FoundAgent,
        archives: impl Iterator<Item = &'b Path>,
        now: Timestamp,
    ) -> Self {
        let workspace = real(&agent.workspace);
        let counts = |archive: &PathBuf| {
            let path = archive.strip_prefix(&workspace).ok();
            path.is_some_and(|path| archive.is_file() && runtime.counts(path))
        };
        let counted = archives.map(real).filter(counts).collect();
        Self { runtime, agent, counted, at: now }
    }

    /// Notes that everything is in this archive: the files that were counted in the workspace, but
    /// the archive itself, and those beside it.
    pub fn note(&self, archive: &Path, count: FileCount, host: &Host) {
        let archive = real(archive);
        let Ok(there) = fs_err::metadata(&archive) else { return };
        let scan = AgentScan::with_stores(self.runtime, self.agent, Vec::new());
        let beside = if count.is_partial { 0 } else { scan.files_beside() };
        let is_counted = self.counted.contains(&archive);
        let bytes = || archive.as_os_str().as_bytes().to_vec();
        let export = Export {
            workspace: scan.workspace.to_string_lossy().into_owned(),
            archive: archive.to_string_lossy().into_owned(),
            archive_bytes: archive.to_str().is_none().then(bytes),
            at: self.at.into(),
            size_bytes: there.len(),
            files: (count.files + beside).saturating_sub(u64::from(is_counted)),
        };
        let mut identity = identify(self.runtime, self.agent, host);
        identity.claim(&scan.workspace, host);
        write(&identity.export_note(host), &export).ok();
        note_folder(host, FolderKind::Archive, &archive, Some(&scan.workspace));
    }
}

/// Returns the last export of an agent that anybody noted.
pub fn last_of(host: &Host, identity: &AgentIdentity) -> Option<Export> {
    note_file::read(&identity.export_note(host), MAX_NOTE)
}

/// Writes a note as a whole; a link in its place is replaced.
fn write(path: &Path, export: &Export) -> std::io::Result<()> {
    make_private_folder(folder_of(path))?;
    note_file::write(path, export, Durability::Immediate)
}

#[cfg(test)]
mod tests {
    use anemone_runtimes::by_name;

    use super::*;
    use crate::agent::AgentChoice;
    use crate::export::{ExportRequest, export};
    use crate::files::Existing;

    struct Place {
        folder: tempfile::TempDir,
        host: Host,
    }

    impl Place {
        fn new() -> Self {
            let folder = tempfile::tempdir().unwrap();
            let host = crate::testing::host(folder.path());
            fs_err::create_dir_all(folder.path().join("workspace/memory")).unwrap();
            let place = Self { folder, host };
            place.write("workspace/MEMORY.md");
            place.write("workspace/memory/a.md");
            place
        }

        fn write(&self, name: &str) {
            fs_err::write(self.folder.path().join(name), "text").unwrap();
        }

        fn workspace(&self) -> PathBuf {
            self.folder.path().join("workspace")
        }

        fn agent(&self) -> FoundAgent {
            FoundAgent::without_install("openclaw", "a".to_owned(), self.workspace())
        }

        fn last(&self) -> Option<Export> {
            let identity = identify(by_name("openclaw").unwrap(), &self.agent(), &self.host);
            last_of(&self.host, &identity)
        }

        /// Notes an export that began at the end of time, when nothing can be newer.
        fn export(&self, archive: &str) {
            let runtime = by_name("openclaw").unwrap();
            let agent = self.agent();
            let path = self.folder.path().join(archive);
            let log = ExportLogEntry::new(runtime, &agent, [&*path].into_iter(), Timestamp::MAX);
            let files = AgentScan::with_stores(runtime, &agent, Vec::new()).run().files;
            self.write(archive);
            log.note(&path, FileCount { files, ..FileCount::default() }, &self.host);
        }

        fn changed(&self) -> u64 {
            let scan =
                AgentScan::with_stores(by_name("openclaw").unwrap(), &self.agent(), Vec::new());
            self.last().unwrap().compare(&scan, None).changed
        }
    }

    #[test]
    fn an_export_is_noted_by_its_workspace() {
        let place = Place::new();
        assert_eq!(place.last(), None);
        place.export("a.alf");
        let noted = place.last().unwrap();
        assert_eq!((noted.size_bytes, noted.files), (4, 2));
        assert_eq!(noted.path(), real(&place.folder.path().join("a.alf")));
        fs_err::create_dir(place.folder.path().join("other")).unwrap();
        let other = place.folder.path().join("other");
        let other = FoundAgent::without_install("openclaw", "b".to_owned(), other);
        let other = identify(by_name("openclaw").unwrap(), &other, &place.host);
        assert_eq!(last_of(&place.host, &other), None);
    }

    #[test]
    fn what_was_removed_since_is_a_change() {
        let place = Place::new();
        place.export("a.alf");
        assert_eq!(place.changed(), 0);
        fs_err::remove_file(place.workspace().join("memory/a.md")).unwrap();
        assert_eq!(place.changed(), 1);
    }

    #[test]
    fn the_archive_itself_is_no_change_where_it_lies_in_the_workspace() {
        let place = Place::new();
        for _ in 0..2 {
            place.export("workspace/a.alf");
            assert_eq!(place.changed(), 0);
        }
    }

    #[test]
    fn an_export_counts_in_its_walk_what_a_scan_counts() {
        let place = Place::new();
        for name in [
            ".git/HEAD",
            ".openclaw-repair/a",
            "logs/a/b.log",
            "logs/.git/config",
            "logs/memory/dreaming/c",
            "memory/dreaming/d.md",
            "memory/node_modules/e.js",
            "memory/venv/f.md",
            "venv/lib/g.py",
            ".anemone-left/h",
        ] {
            fs_err::create_dir_all(place.workspace().join(name).parent().unwrap()).unwrap();
            place.write(&format!("workspace/{name}"));
        }
        fs_err::write(place.workspace().join(".alfignore"), "logs/\n").unwrap();
        fs_err::os::unix::fs::symlink("MEMORY.md", place.workspace().join("link")).unwrap();
        let machine = place.host.machine().unwrap();
        let runtime = by_name("openclaw").unwrap();
        let agent = runtime.locate(&machine, &place.workspace(), None);
        let choice = AgentChoice {
            runtime: Some("openclaw".to_owned()),
            workspace: Some(place.workspace()),
            agent: None,
        };
        for output in ["workspace/a.alf", "workspace/a.alf", "b.alf"] {
            let request = ExportRequest {
                output: Some(place.folder.path().join(output)),
                existing: Existing::Replace,
                ..ExportRequest::new(choice.clone())
            };
            export(&request, &place.host).unwrap();
            let noted = last_of(&place.host, &identify(runtime, &agent, &place.host)).unwrap();
            let scan = AgentScan::with_stores(runtime, &agent, Vec::new());
            let expected = scan.run_since(None, Some(&noted.path()), None).files;
            assert_eq!(noted.files, expected, "{output}");
            assert!(expected > 5, "{expected}");
        }
    }

    #[test]
    fn a_note_that_is_no_note_says_nothing() {
        let place = Place::new();
        place.export("a.alf");
        let identity = identify(by_name("openclaw").unwrap(), &place.agent(), &place.host);
        let path = identity.export_note(&place.host);
        for text in [&b"{}"[..], b"\xff", b""] {
            fs_err::write(&path, text).unwrap();
            assert_eq!(place.last(), None);
        }
    }
}

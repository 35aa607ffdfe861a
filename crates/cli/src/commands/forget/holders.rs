//! Who still holds a text after it was forgotten, and what clears it there.

use std::path::{Path, PathBuf};

use anemone_format::{Archive, EntryKind, Limits};
use anemone_memory::{ErasureProbes, Finality};
use anemone_runtimes::{Machine, MemoryBackend, StoreKind};
use serde::Serialize;

use crate::exports;
use crate::files::open_plain;
use crate::known_folders::{FolderKind, known_folders};
use crate::living::AgentMemory;
use anemone::host::Host;
use anemone::search::index::kept;

/// The folder in which what came from another runtime is kept.
const SIDECAR: &str = ".alf-origin";

/// Something that still holds a text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Holder {
    pub(crate) place: String,
    pub(crate) kind: &'static str,
    /// A command, or what to do.
    pub(crate) clear_with: String,
}

/// What was looked through.
#[derive(Debug, Default)]
pub(super) struct Looked {
    pub(super) holders: Vec<Holder>,
    pub(super) files: u64,
    pub(super) bytes: u64,
    pub(super) unreadable: Vec<String>,
    /// Archives of this memory that are no longer where they were written to.
    pub(super) moved: u64,
}

/// Looks wherever a text may still be.
pub(super) struct Search<'a> {
    pub(super) living: &'a AgentMemory,
    pub(super) machine: &'a Machine,
    pub(super) host: &'a Host,
    pub(super) probes: &'a ErasureProbes,
    /// The index of this memory.
    pub(super) index: &'a Path,
    pub(super) finality: Finality,
}

impl Search<'_> {
    pub(super) fn run(&self) -> Looked {
        let mut looked = Looked::default();
        if self.probes.is_empty() {
            return looked;
        }
        self.own_files(&mut looked);
        self.runtime_index(&mut looked);
        // What can be brought back with one command is not looked for in backups.
        if self.finality == Finality::ForGood {
            self.other_indexes(&mut looked);
            self.archives(&mut looked);
            self.copies(&mut looked);
            self.transcripts(&mut looked);
        }
        looked.holders.dedup();
        looked.unreadable.sort_unstable();
        looked.unreadable.dedup();
        looked
    }

    /// The workspace, the index, what we keep about the memory, and the folder of its database.
    fn own_files(&self, looked: &mut Looked) {
        let site = &self.living.site;
        let mut places =
            vec![site.root().to_owned(), self.index.to_owned(), site.state().to_owned()];
        // Its log and its backups lie beside a database.
        if let MemoryBackend::Sqlite(path) = &self.living.keeps
            && let Some(folder) = path.parent().filter(|it| !it.starts_with(site.root()))
        {
            places.push(folder.to_owned());
        }
        for path in self.scan(&places, looked) {
            looked.holders.push(self.own_holder(&path));
        }
    }

    fn own_holder(&self, path: &Path) -> Holder {
        let site = &self.living.site;
        let words = self.living.words();
        let (kind, clear_with) = if path.starts_with(site.journal()) {
            ("journal", format!("anemone undo --clear{words}"))
        } else if path.starts_with(self.index) {
            ("search_index", format!("anemone index --rebuild{words}"))
        } else if path.starts_with(site.state()) {
            ("state", format!("delete {}", path.display()))
        } else if path.components().any(|part| part.as_os_str() == SIDECAR) {
            ("sidecar", format!("delete {}, which is needed only to move back", path.display()))
        } else if matches!(&self.living.keeps, MemoryBackend::Sqlite(database) if database == path)
        {
            let why = "stop the agent and run it again: unused pages of the database hold it";
            ("database", why.to_owned())
        } else {
            ("file", format!("edit {}", path.display()))
        };
        let within = path.strip_prefix(site.root()).unwrap_or(path);
        Holder { place: within.display().to_string(), kind, clear_with }
    }

    /// Indexes of other sources, such as of an archive of the agent.
    fn other_indexes(&self, looked: &mut Looked) {
        let cached = kept(self.host).unwrap_or_default().into_iter().map(|it| {
            let place = it.source.as_ref().map(|source| PathBuf::from(&source.place));
            (PathBuf::from(&it.folder), place)
        });
        let elsewhere = known_folders(self.host, FolderKind::Index);
        let elsewhere = elsewhere.into_iter().map(|it| (it.folder, it.place));
        for (folder, place) in cached.chain(elsewhere).filter(|(folder, _)| folder != self.index) {
            if !self.scan(std::slice::from_ref(&folder), looked).is_empty() {
                let of = place.map(|it| format!(" (the index of {})", it.display()));
                looked.holders.push(Holder {
                    place: folder.display().to_string(),
                    kind: "search_index",
                    clear_with: format!("delete {}{}", folder.display(), of.unwrap_or_default()),
                });
            }
        }
    }

    /// Agents that `migrate` and `import` made of this or of another one.
    fn copies(&self, looked: &mut Looked) {
        let root = self.living.site.root();
        let real = |path: &Path| fs_err::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let is_own = |path: &Path| path.starts_with(root) || root.starts_with(path);
        let is_own_database = |path: &Path| matches!(&self.living.keeps, MemoryBackend::Sqlite(own) if real(own) == path);
        for copy in known_folders(self.host, FolderKind::Copy) {
            let path = real(&copy.folder);
            if is_own(&path) || is_own_database(&path) {
                continue;
            }
            if !self.scan(std::slice::from_ref(&path), looked).is_empty() {
                let workspace = copy.place.as_ref().unwrap_or(&copy.folder).display();
                let clear_with =
                    format!("anemone forget --for-good -w '{workspace}' --query 'WORDS OF IT'");
                let place = copy.folder.display().to_string();
                looked.holders.push(Holder { place, kind: "copy", clear_with });
            }
        }
    }

    /// Snapshots that `migrate` kept, and every archive that is known.
    fn archives(&self, looked: &mut Looked) {
        let mut folders = vec![self.host.folders.data.join("anemone/snapshots")];
        let known = known_folders(self.host, FolderKind::Snapshots);
        folders.extend(known.into_iter().map(|it| it.folder));
        let mut archives: Vec<(PathBuf, &'static str)> = Vec::new();
        for folder in folders {
            let listed = fs_err::read_dir(&folder).into_iter().flatten().flatten();
            let files = listed.map(|entry| entry.path()).filter(|path| path.is_file());
            archives.extend(files.map(|path| (path, "snapshot")));
        }
        let root = self.living.site.root();
        for known in known_folders(self.host, FolderKind::Archive) {
            let is_own = known.place.as_deref().is_some_and(|place| place == root);
            looked.moved += u64::from(is_own && !known.folder.exists());
            archives.push((known.folder, "archive"));
        }
        let last = exports::last_of(self.host, &self.living.agent.workspace);
        archives.extend(last.map(|it| (it.path(), "archive")));
        archives.retain(|(path, _)| path.is_file());
        archives.sort_unstable();
        archives.dedup_by(|one, other| one.0 == other.0);
        for (path, kind) in archives {
            let place = path.display().to_string();
            match self.is_in_archive(&path) {
                Ok(None) => {}
                Ok(Some(found)) => {
                    let clear_with = match found {
                        Some(record) => {
                            format!(
                                "anemone purge {place} --record {record} -o NEW.alf \
                                 (removes the whole record: see --dry-run for what else is in it)"
                            )
                        }
                        None => format!("delete {place}"),
                    };
                    looked.holders.push(Holder { place, kind, clear_with });
                }
                Err(()) => looked.unreadable.push(place),
            }
            looked.files += 1;
        }
    }

    /// Looks through an archive; says by which record it holds a text, if by one.
    fn is_in_archive(&self, path: &Path) -> Result<Option<Option<String>>, ()> {
        // An archive that is encrypted, or damaged, cannot be looked into.
        let (bytes, length) = open_plain(path).map_err(drop)?;
        let archive = Archive::open(bytes, length, &Limits::default()).map_err(drop)?;
        let mut record = None;
        let walked: Result<(), anemone_format::ReadEntryError> = archive.each_record_line(|line| {
            if record.is_none() && self.probes.are_in_bytes(line) {
                let id = serde_json::from_slice::<serde_json::Value>(line).ok();
                let id = id.and_then(|it| it["id"].as_str().map(str::to_owned));
                record = Some(id);
            }
            Ok(())
        });
        walked.map_err(drop)?;
        if record.is_some() {
            return Ok(record);
        }
        for file in archive.files().map_err(drop)? {
            if *file.entry.kind() != EntryKind::File {
                continue;
            }
            let mut reader = archive.read_file(&file.entry.path).map_err(drop)?;
            if self.probes.are_in_reader(&mut reader).map_err(drop)? {
                return Ok(Some(None));
            }
        }
        Ok(None)
    }

    /// Looks through files and folders, and counts them.
    fn scan(&self, places: &[PathBuf], looked: &mut Looked) -> Vec<PathBuf> {
        let scan = self.probes.scan(places);
        looked.files += scan.files;
        looked.bytes += scan.bytes;
        looked.unreadable.extend(scan.skipped.iter().map(|(path, _)| path.display().to_string()));
        scan.found
    }

    /// The index that the runtime makes for itself; it is only read.
    fn runtime_index(&self, looked: &mut Looked) {
        let AgentMemory { adapter, agent, .. } = self.living;
        let (Some(database), Some(index)) = (&agent.database, adapter.own_index) else { return };
        let with = |ending: &str| {
            let mut name = database.as_os_str().to_owned();
            name.push(ending);
            PathBuf::from(name)
        };
        if !self.scan(&[database.clone(), with("-wal"), with("-journal")], looked).is_empty() {
            looked.holders.push(Holder {
                place: database.display().to_string(),
                kind: "runtime_index",
                clear_with: index.rebuild.to_owned(),
            });
        }
    }

    /// What was said in conversations; it is only read.
    fn transcripts(&self, looked: &mut Looked) {
        let AgentMemory { adapter, agent, site, .. } = self.living;
        let stores = adapter.searchable(self.machine, agent).stores;
        let Some(store) = stores.iter().find(|it| it.kind == StoreKind::Sessions) else { return };
        let folders: Vec<PathBuf> =
            store.folders.iter().filter(|it| !it.starts_with(site.root())).cloned().collect();
        // A transcript may be compressed, so it is read as the runtime reads it, too.
        let mut is_in = !self.scan(&folders, looked).is_empty();
        let read = adapter.read_store(self.machine, agent, StoreKind::Sessions, true, &mut |it| {
            is_in = is_in || self.probes.are_in_bytes(it.content.as_bytes());
        });
        let place = store.folders.first().or(store.files.first());
        let place = place.map_or_else(|| store.name.clone(), |it| it.display().to_string());
        if is_in {
            let clear_with = format!("delete the conversation in {}", adapter.name);
            looked.holders.push(Holder { place, kind: "transcript", clear_with });
        } else if read.is_err() || read.is_ok_and(|it| it.unreadable > 0) {
            looked.unreadable.push(place);
        }
    }
}

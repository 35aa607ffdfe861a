//! What still holds a text after it was forgotten.

use std::path::{Path, PathBuf};

use anemone_format::{Archive, EntryKind, Limits};
use anemone_memory::{ErasureProbes, Finality, Memory};
use anemone_runtimes::{Machine, StoreKind};

use super::report::{ErasureProof, PathFound};
use crate::agent::AgentChoice;
use crate::agent_memory::AgentMemory;
use crate::exports;
use crate::files::open_plain;
use crate::host::Host;
use crate::identity::identify;
use crate::known_folders::{FolderKind, known_folders};
use crate::search::index::kept;

/// The folder in which what came from another runtime is kept.
const SIDECAR: &str = ".alf-origin";

/// Something that still holds a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextHolder {
    /// Where it is; relative to the workspace where it is in it.
    pub place: String,
    /// What it is.
    pub kind: HolderKind,
}

/// What holds a text.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum HolderKind {
    /// The undo journal of the memory.
    Journal,
    /// The search index of the memory.
    SearchIndex,
    /// What else is kept about the memory.
    State(PathBuf),
    /// The sidecar of a migration, kept for moving back.
    Sidecar(PathBuf),
    /// Unused pages of the memory's database.
    Database,
    /// The rows of another agent in the memory's database.
    OtherAgent(AgentChoice),
    /// A file of the workspace.
    File(PathBuf),
    /// The index of another source, such as of an archive of the agent. Its source is given if it
    /// is known.
    OtherIndex(Option<PathBuf>),
    /// An agent that was made from this one, or from which this one was made.
    /// The folder is the one that names the copy in a command.
    Copy(PathBuf),
    /// An archive.
    Archive {
        /// Who made it.
        kind: ArchiveOrigin,
        /// The record that holds the text, if one does.
        record: Option<String>,
    },
    /// The index that the runtime makes for itself.
    /// The command that rebuilds it is given.
    RuntimeIndex(&'static str),
    /// A conversation.
    /// The runtime that keeps it is given.
    Transcript(&'static str),
}

/// Who made an archive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ArchiveOrigin {
    /// The user asked for it.
    Export,
    /// A migration kept it.
    Snapshot,
}

/// What was found.
#[derive(Debug, Default)]
pub(super) struct HoldersFound {
    holders: Vec<TextHolder>,
    files: u64,
    bytes: u64,
    unreadable: Vec<String>,
    /// Archives of this memory that are no longer where they were written to.
    pub(super) moved: u64,
}

impl HoldersFound {
    pub(super) fn into_proof(self, probes: &ErasureProbes, unknown: usize) -> ErasureProof {
        let mut proof = ErasureProof {
            absent: self.holders.is_empty()
                && self.unreadable.is_empty()
                && !probes.is_empty()
                && probes.too_short == 0
                && unknown == 0,
            scanned_files: self.files,
            scanned_bytes: self.bytes,
            in_journal: 0,
            found: Vec::new(),
            holders: self.holders,
            holder_words: Vec::new(),
            too_short: probes.too_short,
            unknown: unknown as u64,
            unreadable: self.unreadable,
        };
        let found = proof.others().map(|holder| PathFound { path: holder.place.clone() });
        proof.found = found.collect();
        proof.in_journal = proof.holders.len() - proof.found.len();
        proof
    }
}

/// A search of everything that may hold a text.
pub(super) struct HolderSearch<'a> {
    pub(super) living: &'a AgentMemory,
    pub(super) memory: &'a dyn Memory,
    pub(super) machine: &'a Machine,
    pub(super) host: &'a Host,
    pub(super) probes: &'a ErasureProbes,
    /// The index of this memory.
    pub(super) index: &'a Path,
    pub(super) finality: Finality,
}

impl HolderSearch<'_> {
    pub(super) fn run(&self) -> HoldersFound {
        let mut found = HoldersFound::default();
        if self.probes.is_empty() {
            return found;
        }
        self.own_files(&mut found);
        self.runtime_index(&mut found);
        // If the forget can be undone, other copies are not searched.
        if self.finality == Finality::ForGood {
            self.other_indexes(&mut found);
            self.archives(&mut found);
            self.copies(&mut found);
            self.transcripts(&mut found);
        }
        found.holders.dedup();
        found.unreadable.sort_unstable();
        found.unreadable.dedup();
        found
    }

    /// The workspace, the index, what we keep about the memory, and the folder of its database.
    fn own_files(&self, found: &mut HoldersFound) {
        let site = &self.living.site;
        let mut places =
            vec![site.root().to_owned(), self.index.to_owned(), site.state().to_owned()];
        // Its log and its backups are beside a database.
        if let Some(rows) = self.memory.rows()
            && let Some(folder) =
                rows.database().parent().filter(|folder| !folder.starts_with(site.root()))
        {
            places.push(folder.to_owned());
        }
        for path in self.scan(&places, found) {
            let holder = self.own_holder(&path);
            if holder.kind == HolderKind::Database {
                let others = self.other_agents();
                if !others.is_empty() {
                    found.holders.extend(others);
                    continue;
                }
            }
            found.holders.push(holder);
        }
    }

    /// Other agents that have a text in the database of this memory. As long as they have it, it
    /// cannot be decided whether unused pages contain it too.
    fn other_agents(&self) -> Vec<TextHolder> {
        let Some(rows) = self.memory.rows() else { return Vec::new() };
        let is_meant = |text: &str| self.probes.are_in_bytes(text.as_bytes());
        let AgentMemory { runtime, agent, .. } = self.living;
        let place = rows.database().display().to_string();
        let holder = |alias: String| {
            let agent = AgentChoice {
                runtime: Some(runtime.name.to_owned()),
                workspace: Some(agent.install.as_ref().unwrap_or(&agent.workspace).clone()),
                agent: Some(alias),
            };
            TextHolder { place: place.clone(), kind: HolderKind::OtherAgent(agent) }
        };
        rows.others_with(&is_meant).unwrap_or_default().into_iter().map(holder).collect()
    }

    fn own_holder(&self, path: &Path) -> TextHolder {
        let site = &self.living.site;
        let owned = || path.to_owned();
        let kind = if path.starts_with(site.journal()) {
            HolderKind::Journal
        } else if path.starts_with(self.index) {
            HolderKind::SearchIndex
        } else if path.starts_with(site.state()) {
            HolderKind::State(owned())
        } else if path.components().any(|part| part.as_os_str() == SIDECAR) {
            HolderKind::Sidecar(owned())
        } else if self.memory.rows().is_some_and(|rows| rows.database() == path) {
            HolderKind::Database
        } else {
            HolderKind::File(owned())
        };
        let within = path.strip_prefix(site.root()).unwrap_or(path);
        TextHolder { place: within.display().to_string(), kind }
    }

    /// Indexes of other sources, such as of an archive of the agent.
    fn other_indexes(&self, found: &mut HoldersFound) {
        let cached = kept(self.host).unwrap_or_default().into_iter().map(|index| {
            let source = index.source.as_ref().map(|source| PathBuf::from(&source.place));
            (PathBuf::from(&index.folder), source)
        });
        let elsewhere = known_folders(self.host, FolderKind::Index);
        let elsewhere = elsewhere.into_iter().map(|known| (known.folder, known.place));
        for (folder, source) in cached.chain(elsewhere).filter(|(folder, _)| folder != self.index) {
            if !self.scan(std::slice::from_ref(&folder), found).is_empty() {
                let kind = HolderKind::OtherIndex(source);
                found.holders.push(TextHolder { place: folder.display().to_string(), kind });
            }
        }
    }

    /// Agents that `migrate` and `import` made of this or of another one.
    fn copies(&self, found: &mut HoldersFound) {
        let root = self.living.site.root();
        let real = |path: &Path| fs_err::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let is_own = |path: &Path| path.starts_with(root) || root.starts_with(path);
        let is_own_database =
            |path: &Path| self.memory.rows().is_some_and(|rows| real(rows.database()) == path);
        for copy in known_folders(self.host, FolderKind::Copy) {
            let path = real(&copy.folder);
            if is_own(&path) || is_own_database(&path) {
                continue;
            }
            if !self.scan(std::slice::from_ref(&path), found).is_empty() {
                let place = copy.folder.display().to_string();
                let workspace = copy.place.unwrap_or(copy.folder);
                found.holders.push(TextHolder { place, kind: HolderKind::Copy(workspace) });
            }
        }
    }

    /// Snapshots that `migrate` kept, and every archive that is known.
    fn archives(&self, found: &mut HoldersFound) {
        let mut folders = vec![self.host.folders.own_data().join("snapshots")];
        let known = known_folders(self.host, FolderKind::Snapshots);
        folders.extend(known.into_iter().map(|known| known.folder));
        let mut archives: Vec<(PathBuf, ArchiveOrigin)> = Vec::new();
        for folder in folders {
            let listed = fs_err::read_dir(&folder).into_iter().flatten().flatten();
            let files = listed.map(|entry| entry.path()).filter(|path| path.is_file());
            archives.extend(files.map(|path| (path, ArchiveOrigin::Snapshot)));
        }
        let root = self.living.site.root();
        for known in known_folders(self.host, FolderKind::Archive) {
            let is_own = known.place.as_deref().is_some_and(|place| place == root);
            found.moved += u64::from(is_own && !known.folder.exists());
            archives.push((known.folder, ArchiveOrigin::Export));
        }
        let identity = identify(self.living.runtime, &self.living.agent, self.host);
        let last = exports::last_of(self.host, &identity);
        archives.extend(last.map(|last| (last.path(), ArchiveOrigin::Export)));
        archives.retain(|(path, _)| path.is_file());
        archives.sort_unstable();
        archives.dedup_by(|one, other| one.0 == other.0);
        for (path, kind) in archives {
            let place = path.display().to_string();
            match self.is_in_archive(&path) {
                Ok(None) => {}
                Ok(Some(record)) => {
                    let kind = HolderKind::Archive { kind, record };
                    found.holders.push(TextHolder { place, kind });
                }
                Err(()) => found.unreadable.push(place),
            }
            found.files += 1;
        }
    }

    /// Looks through an archive; says by which record it holds a text, if by one.
    fn is_in_archive(&self, path: &Path) -> Result<Option<Option<String>>, ()> {
        // An archive that is encrypted, or damaged, cannot be found into.
        let (bytes, length) = open_plain(path).map_err(drop)?;
        let archive = Archive::open(bytes, length, &Limits::default()).map_err(drop)?;
        let mut record = None;
        let walked: Result<(), anemone_format::ReadEntryError> = archive.each_record_line(|line| {
            if record.is_none() && self.probes.are_in_bytes(line) {
                let id = serde_json::from_slice::<serde_json::Value>(line).ok();
                let id = id.and_then(|record| record["id"].as_str().map(str::to_owned));
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
    fn scan(&self, places: &[PathBuf], found: &mut HoldersFound) -> Vec<PathBuf> {
        let scan = self.probes.scan(places);
        found.files += scan.files;
        found.bytes += scan.bytes;
        found.unreadable.extend(scan.skipped.iter().map(|(path, _)| path.display().to_string()));
        scan.found
    }

    /// The index that the runtime makes for itself; it is only read.
    fn runtime_index(&self, found: &mut HoldersFound) {
        let AgentMemory { runtime, agent, .. } = self.living;
        let (Some(index), Some(database)) = (runtime.own_index, &agent.database) else { return };
        let with = |ending: &str| {
            let mut name = database.as_os_str().to_owned();
            name.push(ending);
            PathBuf::from(name)
        };
        if !self.scan(&[database.clone(), with("-wal"), with("-journal")], found).is_empty() {
            let kind = HolderKind::RuntimeIndex(index.rebuild);
            found.holders.push(TextHolder { place: database.display().to_string(), kind });
        }
    }

    /// The transcripts of conversations; they are only read.
    fn transcripts(&self, found: &mut HoldersFound) {
        let AgentMemory { runtime, agent, site, .. } = self.living;
        let stores = runtime.searchable(self.machine, agent).stores;
        let Some(store) = stores.iter().find(|store| store.kind == StoreKind::Sessions) else {
            return;
        };
        let folders = store.folders.iter().filter(|folder| !folder.starts_with(site.root()));
        let folders: Vec<PathBuf> = folders.cloned().collect();
        // A transcript may be compressed, so it is read as the runtime reads it, too.
        let mut is_in = !self.scan(&folders, found).is_empty();
        let mut look = |said: anemone_runtimes::SearchableRecord| {
            is_in = is_in || self.probes.are_in_bytes(said.content.as_bytes());
        };
        let read = runtime.read_store(self.machine, agent, StoreKind::Sessions, true, &mut look);
        let place = store.folders.first().or(store.files.first());
        let place = place.map_or_else(|| store.name.clone(), |place| place.display().to_string());
        if is_in {
            let kind = HolderKind::Transcript(runtime.name);
            found.holders.push(TextHolder { place, kind });
        } else if read.is_err() || read.is_ok_and(|unsearched| unsearched.unreadable > 0) {
            found.unreadable.push(place);
        }
    }
}

//! The plan of an import as a value: every file with what will happen to it, and what cannot be
//! restored. Planning only reads.
//!
//! A runtime lists the files it wants ([`PlannedFile`]). Comparing them with the workspace is the
//! same for all runtimes and implemented here. [`crate::apply`] executes a plan.

mod choice;
mod databases;
mod error;
mod powers;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

use anemone_files::{FileKind, FileStat};
use anemone_format::{
    AgentId, Moment, RecordId, SnapshotSource, SourceFile, SourceKind, StampTable, VaultKey,
};

pub use self::choice::{InstallBackend, InstallLayout, NotRestored, NotRestoredKind};
use self::databases::DatabaseDecision;
pub(crate) use self::error::StoreError;
pub use self::error::{PlanError, RestoreError};
use crate::kit::{
    LinkPart, MAX_TABLE_BYTES, Machine, NewInstall, OldTree, RestoreSource, Warning, as_path,
    destination, hash_file, is_in_sidecar, lossy, stays_below, tree, tree::TreeSurvey,
    without_dots,
};

/// Deeper than any workspace, and few enough folders to hold open at once.
pub(crate) const MAX_DEPTH: usize = 200;

/// What an import is about to do.
#[derive(Debug)]
pub struct Plan {
    /// The workspace, without links on the way to it.
    pub workspace: PathBuf,
    /// The agent that will live there.
    pub agent_id: AgentId,
    /// Every file, link and folder of the snapshot, in the order of a walk.
    pub steps: Vec<Step>,
    /// What the workspace and the snapshot disagree about.
    pub conflicts: Vec<Conflict>,
    /// What does not come back, and why.
    pub not_restored: Vec<NotRestored>,
    /// Warnings for the user.
    pub warnings: Vec<Warning>,
    /// Records that the files of the plan hold.
    pub records: u64,
    /// Records that cannot be written, though there is a place for them; `not_restored` says why.
    pub unwritten: BTreeSet<RecordId>,
    /// What the records that were written in another form will be read back as. Only a hint where to
    /// look; [`crate::KeptSnapshot`] has the same for an agent that moved to another runtime.
    pub links: BTreeMap<RecordId, Vec<LinkPart>>,
    /// What becomes of files of an archive that lie beside the workspace, by the name of their folder
    /// in `raw/`.
    pub beside: BTreeMap<&'static str, FilesBeside>,
    /// Memories that were forgotten while the agent was away, and do not come back.
    pub forgotten: Forgotten,
    /// Entries that go into the runtime's database of memories.
    pub memories: Option<MemoriesStep>,
    /// Settings that go into the runtime's configuration.
    pub config: Option<ConfigStep>,
    /// Secrets that go into a store outside the workspace.
    pub credentials: Option<CredentialsStep>,
    /// Notes that an install is being made, so that a run that is killed can be finished.
    pub new_install: Option<NewInstall>,
    /// Whether anything prevents applying it.
    pub(crate) blocked: bool,
    /// Keys of existing files that the new tree must not have, though the snapshot has nothing at
    /// their paths.
    pub(crate) aside: BTreeSet<Vec<u8>>,
    pub(crate) site: OldTree,
    pub(crate) spool: Option<File>,
}

/// One file, link or folder of the snapshot, and what will happen to it.
#[derive(Debug)]
pub struct Step {
    /// Its path in the workspace, with `/` between parts.
    pub path: Vec<u8>,
    /// What is done.
    pub action: Action,
    /// Why, where that is not obvious.
    pub reason: Option<&'static str>,
    pub(crate) node: PlannedNode,
    pub(crate) mode: Option<u32>,
    pub(crate) mtime: Option<Moment>,
    /// The existing file has the content but not the mode or time.
    pub(crate) refresh: bool,
}

/// The kind of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum StepKind {
    /// A regular file.
    File,
    /// A link.
    Symlink,
    /// A folder.
    Folder,
}

/// What the import does with a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// The path is free; it is created.
    Create,
    /// The existing file is put aside, and the snapshot's takes its place.
    Replace,
    /// The existing file stays, and the snapshot's is not written.
    Keep,
    /// The two are the same; at most mode and time are corrected.
    Same,
    /// The existing file stays, and the snapshot's is written beside it.
    Both(Vec<u8>),
    /// The two differ, and the user did not say which one counts.
    Conflict,
}

/// What becomes of files that lie beside the workspace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FilesBeside {
    /// They are written, or are already there.
    Written,
    /// They are not written, for this reason.
    Omitted(&'static str),
}

/// A path that the workspace and the snapshot disagree about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conflict {
    /// The path in the workspace.
    pub path: Vec<u8>,
    /// What is different.
    pub reason: &'static str,
}

/// Memories that an agent had before it moved away, and no longer has.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Forgotten {
    /// How many.
    pub count: u64,
    /// The first of them, as people know them.
    pub names: Vec<String>,
}

/// Credentials that go into the store that the target's runtime reads.
#[derive(Debug)]
pub struct CredentialsStep {
    /// The file or database.
    pub store: PathBuf,
    /// Names of those that are new.
    pub added: Vec<String>,
    /// Names of those that replace others.
    pub replaced: Vec<String>,
    /// Names of those that the store has already; they stay as they are.
    pub kept: Vec<String>,
    /// Makes the change.
    pub change: Box<dyn PlannedChange>,
}

/// Memories that go into a database, which may be outside the workspace. It is written after the
/// workspace's tree, in one transaction.
#[derive(Debug)]
pub struct MemoriesStep {
    /// The database.
    pub store: PathBuf,
    /// Whether it is created.
    pub made: bool,
    /// Entries that are new.
    pub added: u64,
    /// Entries that replace others.
    pub replaced: u64,
    /// Entries that exist with another content, which stays.
    pub kept: u64,
    /// Entries that exist already.
    pub same: u64,
    /// Makes the change.
    pub change: Box<dyn PlannedChange>,
}

/// Settings that are added to a configuration file; existing ones are not changed.
#[derive(Debug)]
pub struct ConfigStep {
    /// The file.
    pub store: PathBuf,
    /// Whether it is created.
    pub made: bool,
    /// Keys that are new, dotted.
    pub added: Vec<String>,
    /// Keys that exist with another value, which stays.
    pub kept: Vec<String>,
    /// Makes the change.
    pub change: Box<dyn PlannedChange>,
}

/// A change of something that is not part of the workspace's tree.
pub trait PlannedChange {
    /// Checks whether it could be made now; another process may be writing.
    fn check(&self, _machine: &Machine) -> Result<(), RestoreError> {
        Ok(())
    }

    /// Makes it completely or not at all; returns the path of a backup of the old state, if one was
    /// made. `source` is what the plan was made from.
    fn apply(
        &self,
        machine: &Machine,
        source: &RestoreSource<'_>,
        now: &Moment,
    ) -> Result<Option<PathBuf>, RestoreError>;

    /// Returns the text that a file will then have, for another step that continues from it.
    fn planned_text(&self) -> Option<&str> {
        None
    }
}

impl fmt::Debug for dyn PlannedChange {
    /// Prints nothing: some changes hold secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("..")
    }
}

/// What to do where the workspace and the snapshot differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnConflict {
    /// Change nothing.
    Stop,
    /// The snapshot's file counts; the workspace's is put aside.
    Theirs,
    /// The workspace's file counts.
    Ours,
    /// Both stay; the snapshot's gets another name.
    Both,
}

/// How to plan.
pub struct PlanOptions<'a> {
    /// What to do where the workspace and the snapshot differ.
    pub on_conflict: OnConflict,
    /// Opens the sealed secrets of credentials.
    pub vault_key: Option<&'a VaultKey>,
    /// How a new install keeps memories; `None` takes the runtime's default. An existing install
    /// keeps its own backend.
    pub backend: Option<InstallBackend>,
    /// How a new install is laid out; `None` takes the layout of the newest version of the runtime.
    /// An existing install keeps its own.
    pub layout: Option<InstallLayout>,
}

impl PlanOptions<'_> {
    /// Plans with nothing but what to do about conflicts.
    #[must_use]
    pub fn new(on_conflict: OnConflict) -> Self {
        Self { on_conflict, vault_key: None, backend: None, layout: None }
    }
}

/// A file, link or folder that a runtime wants to have in the workspace.
#[derive(Debug)]
pub(crate) struct PlannedFile {
    pub(crate) path: Vec<u8>,
    pub(crate) node: PlannedNode,
    pub(crate) mode: Option<u32>,
    pub(crate) mtime: Option<Moment>,
    pub(crate) redacted: bool,
}

impl PlannedFile {
    /// Whether this file is in the way of the table of stamps, or is one that is too large. Entries
    /// could then not be written.
    fn is_odd_table(&self) -> bool {
        let table = StampTable::PATH.as_bytes();
        let is_above =
            table.strip_prefix(&self.path[..]).is_some_and(|rest| rest.starts_with(b"/"));
        match self.node {
            PlannedNode::Folder => self.path == table,
            PlannedNode::File { size, .. } => {
                is_above || (self.path == table && size > MAX_TABLE_BYTES)
            }
            PlannedNode::Symlink(_) => is_above || self.path == table,
        }
    }
}

/// What should be at a path.
#[derive(Clone, Debug)]
pub(crate) enum PlannedNode {
    File {
        size: u64,
        /// Where it is known without reading.
        sha256: Option<String>,
        content: Content,
    },
    Symlink(Vec<u8>),
    Folder,
}

/// The source of a file's bytes.
#[derive(Clone, Debug)]
pub(crate) enum Content {
    /// A file of the snapshot, by its position.
    Source(usize),
    /// Generated from these pieces.
    Pieces(Vec<Piece>),
}

/// A part of a generated file.
#[derive(Clone, Debug)]
pub(crate) enum Piece {
    Text(Box<str>),
    /// A part of the plan's spool.
    Spool {
        offset: u64,
        length: u64,
    },
}

/// What a runtime makes of a snapshot, before it is compared with the workspace.
#[derive(Debug, Default)]
pub(crate) struct PlanBuilder {
    pub(crate) wanted: Vec<PlannedFile>,
    pub(crate) not_restored: Vec<NotRestored>,
    pub(crate) warnings: Vec<Warning>,
    pub(crate) records: u64,
    pub(crate) unwritten: BTreeSet<RecordId>,
    pub(crate) links: BTreeMap<RecordId, Vec<LinkPart>>,
    pub(crate) beside: BTreeMap<&'static str, FilesBeside>,
    pub(crate) forgotten: Forgotten,
    /// What a database and the snapshot disagree about.
    pub(crate) conflicts: Vec<Conflict>,
    pub(crate) memories: Option<MemoriesStep>,
    pub(crate) config: Option<ConfigStep>,
    pub(crate) credentials: Option<CredentialsStep>,
    pub(crate) new_install: Option<NewInstall>,
    /// Holds what [`Piece::Spool`] points into.
    pub(crate) spool: Option<File>,
}

impl PlanBuilder {
    /// Starts with the warnings of the source.
    pub(crate) fn new(source: &RestoreSource<'_>) -> Self {
        Self { warnings: source.warnings().to_vec(), ..Self::default() }
    }

    /// Notes something with a path or a name that is not restored.
    pub(crate) fn omit(
        &mut self,
        what: NotRestoredKind,
        path: impl fmt::Display,
        reason: impl Into<String>,
    ) {
        self.not_restored.push(NotRestored::of(what, path, reason));
    }
}

impl PlannedFile {
    /// Plans to restore a file of the snapshot to its path; `index` is its position in the source.
    pub(crate) fn carried(index: usize, file: &SourceFile) -> Self {
        Self {
            path: file.path.clone(),
            node: match &file.kind {
                SourceKind::File { size, sha256 } => PlannedNode::File {
                    size: *size,
                    sha256: Some(sha256.clone()),
                    content: Content::Source(index),
                },
                SourceKind::Symlink(target) => PlannedNode::Symlink(target.clone()),
                SourceKind::Folder => PlannedNode::Folder,
            },
            mode: file.mode,
            mtime: file.mtime.clone(),
            redacted: file.redacted,
        }
    }

    /// Plans a folder.
    pub(crate) fn folder(path: Vec<u8>, mode: Option<u32>, mtime: Option<Moment>) -> Self {
        Self { path, node: PlannedNode::Folder, mode, mtime, redacted: false }
    }

    /// Plans a file with short content.
    pub(crate) fn text(path: &str, text: String, mtime: Moment) -> Self {
        Self::pieces(path.as_bytes().to_vec(), vec![Piece::Text(text.into())], mtime)
    }

    /// Plans a file made of pieces; everyone may read it, as with the files that runtimes create.
    pub(crate) fn pieces(path: Vec<u8>, pieces: Vec<Piece>, mtime: Moment) -> Self {
        let size = pieces.iter().map(Piece::length).sum();
        Self {
            path,
            node: PlannedNode::File { size, sha256: None, content: Content::Pieces(pieces) },
            mode: Some(0o644),
            mtime: Some(mtime),
            redacted: false,
        }
    }
}

impl Piece {
    fn length(&self) -> u64 {
        match self {
            Self::Text(text) => text.len() as u64,
            Self::Spool { length, .. } => *length,
        }
    }
}

impl Step {
    /// Returns what it is.
    #[must_use]
    pub fn kind(&self) -> StepKind {
        match self.node {
            PlannedNode::File { .. } => StepKind::File,
            PlannedNode::Symlink(_) => StepKind::Symlink,
            PlannedNode::Folder => StepKind::Folder,
        }
    }

    /// Returns the bytes of the snapshot's file; 0 for links and folders.
    #[must_use]
    pub fn size(&self) -> u64 {
        match self.node {
            PlannedNode::File { size, .. } => size,
            PlannedNode::Symlink(_) | PlannedNode::Folder => 0,
        }
    }

    /// Returns whether it is as in the snapshot, and not generated for this runtime.
    #[must_use]
    pub fn is_carried(&self) -> bool {
        !matches!(&self.node, PlannedNode::File { content: Content::Pieces(_), .. })
    }

    /// Returns where the snapshot's node goes, if it is written.
    pub(crate) fn destination(&self) -> Option<&[u8]> {
        match &self.action {
            Action::Create | Action::Replace => Some(&self.path),
            Action::Same => self.refresh.then_some(&self.path),
            Action::Both(beside) => Some(beside),
            Action::Keep | Action::Conflict => None,
        }
    }
}

impl Plan {
    /// Returns whether applying the plan would change anything in the workspace's tree.
    #[must_use]
    pub fn changes_anything(&self) -> bool {
        matches!(self.site, OldTree::Absent)
            || self.steps.iter().any(|step| step.destination().is_some())
    }

    /// Returns how many files and links have an action that `select` chooses.
    pub fn count(&self, select: impl Fn(&Action) -> bool) -> u64 {
        let files = self.steps.iter().filter(|step| step.kind() != StepKind::Folder);
        files.filter(|step| select(&step.action)).count() as u64
    }

    /// Opens what a file will hold.
    pub(crate) fn open<'a>(
        &'a self,
        content: &'a Content,
        source: &'a dyn SnapshotSource,
    ) -> io::Result<Box<dyn Read + 'a>> {
        open(content, source, self.spool.as_ref())
    }
}

fn open<'a>(
    content: &'a Content,
    source: &'a dyn SnapshotSource,
    spool: Option<&'a File>,
) -> io::Result<Box<dyn Read + 'a>> {
    match content {
        Content::Source(file) => source.content(*file),
        Content::Pieces(pieces) => Ok(Box::new(PiecesReader { pieces, at: 0, spool })),
    }
}

/// Reads pieces one after the other.
struct PiecesReader<'a> {
    pieces: &'a [Piece],
    /// How much of the first piece was read.
    at: u64,
    spool: Option<&'a File>,
}

impl Read for PiecesReader<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        loop {
            let Some((piece, rest)) = self.pieces.split_first() else { return Ok(0) };
            let left = piece.length() - self.at;
            if left == 0 {
                (self.pieces, self.at) = (rest, 0);
                continue;
            }
            let most = usize::try_from(left).unwrap_or(usize::MAX).min(buffer.len());
            let buffer = &mut buffer[..most];
            let read = match (piece, self.spool) {
                (Piece::Text(text), _) => {
                    let from = text.len() - usize::try_from(left).unwrap_or(text.len());
                    buffer.copy_from_slice(&text.as_bytes()[from..from + most]);
                    most
                }
                (Piece::Spool { offset, .. }, Some(spool)) => {
                    spool.read_at(buffer, offset + self.at)?
                }
                (Piece::Spool { .. }, None) => 0,
            };
            if read == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            self.at += read as u64;
            return Ok(read);
        }
    }
}

/// Compares the planned files with the workspace.
pub(crate) fn plan(
    workspace: &Path,
    mut draft: PlanBuilder,
    source: &dyn SnapshotSource,
    options: &PlanOptions<'_>,
) -> Result<Plan, PlanError> {
    let (workspace, site) = tree::look(workspace)?;
    draft.warnings.extend(tree::leftovers(&workspace, &site)?);
    let mut planner = Planner {
        source,
        spool: draft.spool.as_ref(),
        site: &site,
        workspace: &workspace,
        on_conflict: options.on_conflict,
        taken: BTreeSet::new(),
        out_of_reach: None,
        moved: None,
        rulings: BTreeMap::new(),
        aside: BTreeSet::new(),
        steps: Vec::new(),
        conflicts: Vec::new(),
        not_restored: draft.not_restored,
    };
    let wanted = tidy(draft.wanted, &mut planner.not_restored)?;
    if matches!(options.on_conflict, OnConflict::Both) {
        planner.taken = wanted.keys().cloned().collect();
    }
    planner.rule_on_databases(&wanted)?;
    for (_, wanted) in wanted {
        planner.add(wanted)?;
    }
    let Planner { steps, mut conflicts, not_restored, aside, .. } = planner;
    conflicts.sort_by_cached_key(|conflict| tree::key_of(&conflict.path));
    conflicts.extend(draft.conflicts);
    draft.warnings.extend(steps.iter().filter_map(|step| link_outside(step, &workspace)));
    Ok(Plan {
        agent_id: source.manifest().agent.id,
        steps,
        blocked: options.on_conflict == OnConflict::Stop && !conflicts.is_empty(),
        aside,
        conflicts,
        not_restored,
        warnings: draft.warnings,
        records: draft.records,
        unwritten: draft.unwritten,
        links: draft.links,
        beside: draft.beside,
        forgotten: draft.forgotten,
        memories: draft.memories,
        config: draft.config,
        credentials: draft.credentials,
        new_install: draft.new_install,
        workspace,
        site,
        spool: draft.spool,
    })
}

/// Warns of a link that leads out of the workspace.
fn link_outside(step: &Step, workspace: &Path) -> Option<Warning> {
    let PlannedNode::Symlink(target) = &step.node else { return None };
    if step.action == Action::Keep {
        return None;
    }
    let link = step.destination().unwrap_or(&step.path);
    let absolute = as_path(target);
    let inside = if absolute.has_root() {
        without_dots(absolute).starts_with(workspace)
    } else {
        destination(link, target).is_some()
    };
    (!inside).then(|| {
        let message = "leads out of the workspace; the link is made, what it leads to is not";
        Warning::about("link_outside", lossy(link), message)
    })
}

/// Sorts the planned files in the order of a walk, adds every folder on the way, and refuses files
/// that do not form a tree.
///
/// Archives are checked for all of this when they are opened, but this is where files are created
/// from them.
fn tidy(
    wanted: Vec<PlannedFile>,
    notes: &mut Vec<NotRestored>,
) -> Result<BTreeMap<Vec<u8>, PlannedFile>, PlanError> {
    let mut sorted: BTreeMap<Vec<u8>, PlannedFile> = BTreeMap::new();
    for wanted in wanted {
        if !stays_below(&wanted.path) {
            return Err(unsafe_path(&wanted.path));
        }
        let key = tree::key_of(&wanted.path);
        // The runtime's own files come first and take precedence.
        if sorted.contains_key(&key) {
            let reason = "the snapshot has another file of the same path";
            notes.push(NotRestored::of(NotRestoredKind::File, lossy(&wanted.path), reason));
            continue;
        }
        sorted.insert(key, wanted);
    }
    let mut folders = BTreeSet::new();
    for wanted in sorted.values() {
        let slashes = wanted.path.iter().enumerate().filter(|(_, byte)| **byte == b'/');
        for (at, _) in slashes {
            let folder = &wanted.path[..at];
            match sorted.get(&tree::key_of(folder)).map(|sorted| &sorted.node) {
                Some(PlannedNode::Folder) => {}
                Some(_) => return Err(unsafe_path(&wanted.path)),
                None => {
                    folders.insert(folder.to_vec());
                }
            }
        }
    }
    for path in folders {
        sorted.insert(tree::key_of(&path), PlannedFile::folder(path, None, None));
    }
    Ok(sorted)
}

fn unsafe_path(path: &[u8]) -> PlanError {
    PlanError::UnsafePath(lossy(path))
}

struct Planner<'a> {
    source: &'a dyn SnapshotSource,
    spool: Option<&'a File>,
    site: &'a OldTree,
    workspace: &'a Path,
    on_conflict: OnConflict,
    /// Keys of names that must not be used for a file written beside another.
    taken: BTreeSet<Vec<u8>>,
    /// A folder of the snapshot that is not made, because an existing file stays.
    out_of_reach: Option<Vec<u8>>,
    /// A folder of the snapshot that gets another name, and that name.
    moved: Option<(Vec<u8>, Vec<u8>)>,
    /// Decisions that were made before a file's turn, by key.
    rulings: BTreeMap<Vec<u8>, DatabaseDecision>,
    /// Keys of files here that must not stay beside what is put there.
    aside: BTreeSet<Vec<u8>>,
    steps: Vec<Step>,
    conflicts: Vec<Conflict>,
    not_restored: Vec<NotRestored>,
}

impl Planner<'_> {
    fn add(&mut self, wanted: PlannedFile) -> Result<(), PlanError> {
        if self.out_of_reach.as_ref().is_some_and(|above| lies_below(&wanted.path, above)) {
            let reason = Some("its parent is not a folder, and is kept");
            self.push(wanted, Action::Keep, reason, false);
            return Ok(());
        }
        if let Some((from, to)) = &self.moved
            && lies_below(&wanted.path, from)
        {
            let beside = [to, &wanted.path[from.len()..]].concat();
            self.push(wanted, Action::Both(beside), None, false);
            return Ok(());
        }
        if wanted.is_odd_table() {
            let reason = Some("it is no table of stamps");
            self.stay_out(&wanted);
            self.push(wanted, Action::Keep, reason, false);
            return Ok(());
        }
        if wanted.redacted {
            let reason = "they were taken out of the file when it was read";
            let path = lossy(&wanted.path);
            self.not_restored.push(NotRestored::of(NotRestoredKind::Secrets, path, reason));
        }
        let key = tree::key_of(&wanted.path);
        let ruling = self.rulings.remove(&key);
        if let Some(DatabaseDecision::Settled { action, reason }) = ruling {
            self.push(wanted, action, Some(reason), false);
            return Ok(());
        }
        let seen = match self.site {
            OldTree::Absent | OldTree::Empty(_) => None,
            OldTree::Full(survey) => survey.nodes.get(&key),
        };
        let Some(seen) = seen else {
            self.push(wanted, Action::Create, None, false);
            return Ok(());
        };
        let difference = match ruling {
            Some(_) => None,
            None => self.difference(&wanted, seen)?,
        };
        match difference {
            None => {
                let refresh = needs_refresh(&wanted, seen);
                self.push(wanted, Action::Same, None, refresh);
            }
            Some(_) if wanted.redacted => {
                self.stay_out(&wanted);
                self.push(wanted, Action::Keep, Some("secrets were taken out of it"), false);
            }
            // The folder is ours, and what it says is about the last move.
            Some(reason) if is_in_sidecar(&wanted.path) => {
                self.push(wanted, Action::Replace, Some(reason), false);
            }
            Some(_) if self.is_table(&wanted, seen) => self.join_stamps(wanted)?,
            Some(reason) => self.settle(wanted, reason),
        }
        Ok(())
    }

    /// Whether both are tables of stamps, and small enough to be joined.
    fn is_table(&self, wanted: &PlannedFile, seen: &FileStat) -> bool {
        let PlannedNode::File { size, .. } = wanted.node else { return false };
        wanted.path == StampTable::PATH.as_bytes()
            && seen.kind == FileKind::File
            && size.max(seen.size) <= MAX_TABLE_BYTES
    }

    /// Adds the lines of the snapshot's table to the existing ones: each line is about an entry of
    /// its own, so neither table has to give way.
    fn join_stamps(&mut self, mut wanted: PlannedFile) -> Result<(), PlanError> {
        let PlannedNode::File { content, .. } = &wanted.node else { return Ok(()) };
        let mut theirs = Vec::new();
        let reader = open(content, self.source, self.spool).map_err(PlanError::Source)?;
        reader.take(MAX_TABLE_BYTES).read_to_end(&mut theirs).map_err(PlanError::Source)?;
        let mut ours = Vec::new();
        let failed = |source| self.unreadable(&wanted.path, source);
        let there = tree::open_file(self.workspace, &wanted.path).map_err(failed)?;
        there.take(MAX_TABLE_BYTES).read_to_end(&mut ours).map_err(failed)?;
        let ours = StampTable::new(ours);
        let new = ours.lacks(&StampTable::new(theirs));
        if new.is_empty() {
            self.push(wanted, Action::Keep, Some("its stamps are all known here"), false);
            return Ok(());
        }
        let joined = ours.joined(&new);
        let size = joined.len() as u64;
        if size > MAX_TABLE_BYTES {
            self.push(wanted, Action::Keep, Some("there are too many stamps in it"), false);
            return Ok(());
        }
        let content = Content::Pieces(vec![Piece::Text(joined.into())]);
        wanted.node = PlannedNode::File { size, sha256: None, content };
        self.push(wanted, Action::Replace, Some("the stamps of both are joined"), false);
        Ok(())
    }

    /// Decides what happens at a path that the two disagree about.
    fn settle(&mut self, wanted: PlannedFile, reason: &'static str) {
        self.conflicts.push(Conflict { path: wanted.path.clone(), reason });
        let action = match self.on_conflict {
            OnConflict::Stop => Action::Conflict,
            OnConflict::Theirs => Action::Replace,
            OnConflict::Ours => Action::Keep,
            OnConflict::Both => {
                let beside = self.free_name(&wanted.path, &[]);
                if matches!(wanted.node, PlannedNode::Folder) {
                    self.moved = Some((wanted.path.clone(), beside.clone()));
                }
                Action::Both(beside)
            }
        };
        if matches!(action, Action::Conflict | Action::Keep) {
            self.stay_out(&wanted);
        }
        self.push(wanted, action, Some(reason), false);
    }

    /// Remembers that nothing can be created below a folder that is not created.
    fn stay_out(&mut self, wanted: &PlannedFile) {
        if matches!(wanted.node, PlannedNode::Folder) {
            self.out_of_reach = Some(wanted.path.clone());
        }
    }

    fn unreadable(&self, path: &[u8], source: io::Error) -> PlanError {
        PlanError::Workspace { path: tree::join(self.workspace, path), source }
    }

    fn push(
        &mut self,
        wanted: PlannedFile,
        action: Action,
        reason: Option<&'static str>,
        refresh: bool,
    ) {
        let PlannedFile { path, node, mut mode, mtime, .. } = wanted;
        // A file from an archive must not run as another user.
        let is_file = matches!(node, PlannedNode::File { .. });
        let mask = if is_file { 0o777 } else { 0o3777 };
        if mode.is_some_and(|mode| mode & !mask & 0o7777 != 0) {
            let reason = "set-user-id and its like are not put back";
            self.not_restored.push(NotRestored::of(NotRestoredKind::Mode, lossy(&path), reason));
        }
        mode = mode.map(|mode| mode & mask);
        self.steps.push(Step { path, action, reason, node, mode, mtime, refresh });
    }

    /// Returns how an existing file differs from the planned one.
    fn difference(
        &self,
        wanted: &PlannedFile,
        seen: &FileStat,
    ) -> Result<Option<&'static str>, PlanError> {
        let failed = |source| self.unreadable(&wanted.path, source);
        let same = match (&wanted.node, seen.kind) {
            (PlannedNode::Folder, FileKind::Folder) => true,
            (PlannedNode::Symlink(target), FileKind::Symlink) => {
                tree::read_link(self.workspace, &wanted.path).map_err(failed)? == *target
            }
            (PlannedNode::File { size, sha256, content }, FileKind::File) => {
                if *size != seen.size {
                    return Ok(Some("the content differs"));
                }
                let mut there = match tree::open_file(self.workspace, &wanted.path) {
                    Ok(file) => file,
                    Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                        return Ok(Some("the existing file cannot be read"));
                    }
                    Err(error) => return Err(failed(error)),
                };
                match sha256 {
                    Some(sha256) => hash_file(there).map_err(failed)?.1 == *sha256,
                    None => {
                        let mut ours =
                            open(content, self.source, self.spool).map_err(PlanError::Source)?;
                        tree::equal(&mut there, &mut ours).map_err(failed)?
                    }
                }
            }
            _ => return Ok(Some("one is a folder, a file or a link, the other is not")),
        };
        Ok((!same).then_some("the content differs"))
    }

    /// Returns an unused name beside a path: `MEMORY.imported.md`. It is also unused with each of
    /// the endings.
    fn free_name(&mut self, path: &[u8], endings: &[&str]) -> Vec<u8> {
        let start = path.iter().rposition(|byte| *byte == b'/').map_or(0, |at| at + 1);
        let name = &path[start..];
        // A name that is all extension, such as `.env`, is taken as a stem.
        let dot = name.iter().rposition(|byte| *byte == b'.').filter(|at| *at > 0);
        let (stem, extension) = name.split_at(dot.unwrap_or(name.len()));
        let mut number = 1_u64;
        loop {
            let middle = match number {
                1 => ".imported".to_owned(),
                _ => format!(".imported-{number}"),
            };
            // Names have a maximum length; the stem is cut.
            let longest = endings.iter().map(|ending| ending.len()).max().unwrap_or(0);
            let room = 255_usize.saturating_sub(middle.len() + extension.len() + longest);
            let stem = &stem[..stem.len().min(room)];
            let beside = [&path[..start], stem, middle.as_bytes(), extension].concat();
            let mut keys: Vec<Vec<u8>> = endings
                .iter()
                .map(|ending| tree::key_of(&[&beside, ending.as_bytes()].concat()))
                .collect();
            keys.push(tree::key_of(&beside));
            let there = |key| match self.site {
                OldTree::Full(TreeSurvey { nodes, .. }) => nodes.contains_key(key),
                OldTree::Absent | OldTree::Empty(_) => false,
            };
            if !keys.iter().any(|key| there(key) || self.taken.contains(key)) {
                self.taken.extend(keys);
                return beside;
            }
            number += 1;
        }
    }
}

fn lies_below(path: &[u8], folder: &[u8]) -> bool {
    path.strip_prefix(folder).is_some_and(|rest| rest.starts_with(b"/"))
}

/// Returns whether mode or time must be corrected. The time of a folder changes with every file in
/// it and is only set when the folder is created anyway.
fn needs_refresh(wanted: &PlannedFile, seen: &FileStat) -> bool {
    let mode = wanted.mode.is_some_and(|mode| mode & 0o777 != seen.mode & 0o777);
    let mtime = wanted.mtime.as_ref().is_some_and(|mtime| tree::time_of(mtime) != seen.modified);
    match wanted.node {
        PlannedNode::File { .. } => mode || mtime,
        PlannedNode::Symlink(_) => mtime,
        PlannedNode::Folder => mode,
    }
}

#[cfg(test)]
mod tests;

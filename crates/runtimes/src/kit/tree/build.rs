//! Builds the new tree from the files of the old one that stay and the files of the plan.

use std::collections::BTreeMap;
use std::io::{self, Read, Write as _};
use std::os::fd::{AsFd, BorrowedFd};

use anemone_files::{FileKind, FileStat, FileTime, Folder};
use rustix::fs::{AtFlags, Gid, Mode, Timespec, Timestamps, Uid, XattrFlags};
use rustix::io::Errno;

use super::site::{OldTree, join, key_of, path_of, time_of};
use super::{Abilities, Apply, ApplyTreeError, BuildNotes, TestPoint};
use crate::kit::{Action, Plan, PlannedNode, Step, lossy};

/// The entry at one path of the new tree.
pub(super) enum Node<'a> {
    /// It stays from the old tree.
    Old,
    Folder(Attributes),
    New(&'a Step),
}

/// What a file or folder has besides its content.
#[derive(Clone, Copy, Default)]
pub(super) struct Attributes {
    pub(super) mode: Option<u32>,
    pub(super) mtime: Option<FileTime>,
    pub(super) owner: Option<(u32, u32)>,
}

/// Lays out the new tree: what stays of the old one, and what the plan puts into it.
pub(super) fn lay_out(plan: &Plan) -> BTreeMap<Vec<u8>, Node<'_>> {
    let mut nodes: BTreeMap<Vec<u8>, Node<'_>> = BTreeMap::new();
    if let OldTree::Full(survey) = &plan.site {
        nodes.extend(survey.nodes.iter().map(|(key, seen)| {
            let node = match seen.kind {
                FileKind::Folder => Node::Folder(Attributes::of(seen)),
                _ => Node::Old,
            };
            (key.clone(), node)
        }));
        nodes.retain(|key, _| !plan.aside.contains(key));
    }
    for step in &plan.steps {
        let is_folder = matches!(step.node, PlannedNode::Folder);
        let stays = step.action == Action::Same;
        let Some(path) = step.destination().or((is_folder && stays).then_some(&step.path)) else {
            continue;
        };
        let key = key_of(path);
        if is_folder {
            let mut attributes = match nodes.get(&key) {
                Some(Node::Folder(attributes)) => *attributes,
                _ => Attributes::default(),
            };
            attributes.mode = step.mode.or(attributes.mode);
            attributes.mtime = step.mtime.as_ref().map(time_of).or(attributes.mtime);
            nodes.insert(key, Node::Folder(attributes));
            continue;
        }
        if let Some(Node::Folder(_)) = nodes.insert(key.clone(), Node::New(step)) {
            let inside = [&key[..], &[0]].concat();
            let gone =
                nodes.range(inside.clone()..).take_while(|range| range.0.starts_with(&inside));
            let gone: Vec<Vec<u8>> = gone.map(|value| value.0.clone()).collect();
            for key in gone {
                nodes.remove(&key);
            }
        }
    }
    nodes
}

impl Attributes {
    fn of(seen: &FileStat) -> Self {
        Self { mode: Some(seen.mode), mtime: Some(seen.modified), owner: Some(seen.owner) }
    }

    /// Returns the attributes of the workspace itself, whose time changes with every change in it.
    pub(super) fn of_root(seen: &FileStat) -> Self {
        Self { mtime: None, ..Self::of(seen) }
    }

    /// Sets the attributes of a file or folder, with the extended attributes of another one, and
    /// returns what could not be set. The owner comes first, because changing it may clear bits of
    /// the mode. The mode comes last, because it may forbid the other changes.
    fn give(
        &self,
        to: BorrowedFd<'_>,
        like: Option<BorrowedFd<'_>>,
        able: Abilities,
    ) -> io::Result<LostAttributes> {
        let mut lost = LostAttributes::default();
        if let Some(owner) = self.owner {
            lost.owner = !give_away(to, owner, able)?;
        }
        if let Some(like) = like {
            lost.attributes = !copy_attributes(like, to, able);
        }
        if let Some(mode) = self.mode {
            rustix::fs::fchmod(to, Mode::from_raw_mode(mode))?;
        }
        if let Some(mtime) = self.mtime {
            rustix::fs::futimens(to, &times(mtime))?;
        }
        Ok(lost)
    }
}

/// The attributes that a file or folder had in the old tree and does not have in the new one.
#[derive(Clone, Copy, Default)]
struct LostAttributes {
    owner: bool,
    attributes: bool,
}

/// Changes the owner of a file; returns whether that worked.
fn give_away(file: BorrowedFd<'_>, owner: (u32, u32), able: Abilities) -> io::Result<bool> {
    let (user, group) = (Uid::from_raw(owner.0), Gid::from_raw(owner.1));
    // Only the superuser can give a file away, but it may be theirs already.
    let given = able.give_away && rustix::fs::fchown(file, Some(user), Some(group)).is_ok();
    Ok(given || (able.give_away && FileStat::of(file)?.owner == owner))
}

/// More than a name list or a value of an extended attribute can have on Linux.
const MAX_ATTRIBUTE_BYTES: usize = 64 << 10;

/// Copies the extended attributes of another file; returns whether all were copied.
fn copy_attributes(from: BorrowedFd<'_>, to: BorrowedFd<'_>, able: Abilities) -> bool {
    // Nearly all files have none.
    if rustix::fs::flistxattr_query(from) == Ok(0) {
        return true;
    }
    let mut names = vec![0; MAX_ATTRIBUTE_BYTES];
    let length = match rustix::fs::flistxattr(from, &mut names[..]) {
        Ok(length) => length,
        Err(error) => return no_attributes(error),
    };
    let names = names[..length].split(|byte| *byte == 0).filter(|name| !name.is_empty());
    let mut complete = true;
    for name in names {
        let mut value = vec![0; MAX_ATTRIBUTE_BYTES];
        let copied = rustix::fs::fgetxattr(from, name, &mut value[..]).and_then(|length| {
            let value = &value[..length];
            let mut there = vec![0; MAX_ATTRIBUTE_BYTES];
            // The system sets some attributes on every file and does not let a process set them.
            let has = rustix::fs::fgetxattr(to, name, &mut there[..]);
            if has.is_ok_and(|length| &there[..length] == value) {
                return Ok(());
            }
            if !able.set_attributes {
                return Err(Errno::PERM);
            }
            rustix::fs::fsetxattr(to, name, value, XattrFlags::empty())
        });
        complete &= copied.is_ok();
    }
    complete
}

/// Returns whether an error means that a file system has no extended attributes.
fn no_attributes(error: Errno) -> bool {
    matches!(error, Errno::OPNOTSUPP | Errno::NOSYS)
}

fn times(mtime: FileTime) -> Timestamps {
    Timestamps {
        last_access: Timespec { tv_sec: 0, tv_nsec: rustix::fs::UTIME_OMIT },
        last_modification: Timespec { tv_sec: mtime.seconds, tv_nsec: mtime.nanoseconds },
    }
}

/// A folder of the new tree that is being filled.
pub(super) struct Level {
    pub(super) key: Vec<u8>,
    pub(super) new: Folder,
    /// The same folder of the old tree.
    pub(super) old: Option<Folder>,
    pub(super) attributes: Attributes,
}

pub(super) struct Builder<'a, 'b> {
    pub(super) apply: &'a mut Apply<'b>,
    pub(super) levels: Vec<Level>,
    /// The owner of new files.
    pub(super) owner: Option<(u32, u32)>,
    pub(super) buffer: Vec<u8>,
    pub(super) sync_each: bool,
    pub(super) built: BuildNotes,
}

impl Builder<'_, '_> {
    pub(super) fn add(&mut self, key: &[u8], node: &Node<'_>) -> Result<(), ApplyTreeError> {
        let split = key.iter().rposition(|byte| *byte == 0);
        let (above, name) = split.map_or((&key[..0], key), |at| (&key[..at], &key[at + 1..]));
        while self.levels.len() > 1 && self.levels.last().is_some_and(|level| level.key != above) {
            self.close()?;
        }
        let path = path_of(key);
        let failed = |error: io::Error| cannot_write(&path, error);
        if self.apply.watch.is_ending() {
            return Err(failed(Errno::INTR.into()));
        }
        let Some(level) = self.levels.last().filter(|level| level.key == above) else {
            return Err(failed(Errno::NOENT.into()));
        };
        match node {
            Node::Folder(attributes) => {
                let made = rustix::fs::mkdirat(&level.new, name, Mode::from_raw_mode(0o777));
                made.map_err(|error| failed(error.into()))?;
                let new = level.new.folder(name).map_err(failed)?;
                // Nothing of the folder stays where the old tree does not have it.
                let old = level.old.as_ref().and_then(|old| old.folder(name).ok());
                let owner = attributes.owner.or(self.owner);
                let mut attributes = Attributes { owner, ..*attributes };
                // Filling the folder may need bits that it will not have in the end.
                if attributes.mode.is_none() {
                    attributes.mode = Some(FileStat::of(&new).map_err(failed)?.mode);
                }
                let closed = rustix::fs::fchmod(&new, Mode::RWXU);
                closed.map_err(|error| failed(error.into()))?;
                self.levels.push(Level { key: key.to_vec(), new, old, attributes });
            }
            Node::Old => self.keep(key, name)?,
            Node::New(step) => self.make(step, key, name)?,
        }
        self.apply.pass(TestPoint::Made)
    }

    /// Records which attributes a file or folder lost.
    fn note(&mut self, key: &[u8], lost: LostAttributes) {
        if lost.owner {
            self.built.other_owner.insert(key.to_vec());
        }
        if lost.attributes {
            self.built.without_attributes.insert(key.to_vec());
        }
    }

    /// Takes over a file from the old tree.
    fn keep(&mut self, key: &[u8], name: &[u8]) -> Result<(), ApplyTreeError> {
        let path = path_of(key);
        let failed = |error: io::Error| cannot_write(&path, error);
        let Some(Level { new, old: Some(old), .. }) = self.levels.last() else {
            return Err(failed(Errno::NOENT.into()));
        };
        let able = self.apply.able;
        let linked = if able.link {
            rustix::fs::linkat(old, name, new, name, AtFlags::empty())
        } else {
            Err(Errno::PERM)
        };
        match linked {
            Ok(()) => return Ok(()),
            Err(Errno::NOENT) if self.apply.live.comes_and_goes(key) => return Ok(()),
            Err(Errno::NOENT) => {
                let path = join(&self.apply.plan.workspace, &path);
                return Err(ApplyTreeError::Changed(path));
            }
            Err(error) if self.apply.live.has(key) => {
                let path = join(&self.apply.plan.workspace, &path);
                return Err(ApplyTreeError::Database { path, source: error.into() });
            }
            Err(Errno::XDEV | Errno::PERM | Errno::MLINK | Errno::OPNOTSUPP | Errno::NOSYS) => {}
            Err(error) => return Err(failed(error.into())),
        }
        let seen = old.stat(name).map_err(failed)?;
        let lost = match seen.kind {
            FileKind::File => {
                let mut from = old.file(name).map_err(failed)?;
                let file = new.create_file(name, 0o600).map_err(failed)?;
                copy(&mut from, &file, seen.size, &mut self.buffer)
                    .map_err(|fault| fault.about(&path, seen.size))?;
                let lost = Attributes::of(&seen)
                    .give(file.as_fd(), Some(from.as_fd()), able)
                    .map_err(failed)?;
                if self.sync_each {
                    file.sync_all().map_err(failed)?;
                }
                lost
            }
            FileKind::Symlink => {
                let target = old.read_link(name).map_err(failed)?;
                let made = rustix::fs::symlinkat(&*target, new, name);
                made.map_err(|error| failed(error.into()))?;
                let (user, group) = (Uid::from_raw(seen.owner.0), Gid::from_raw(seen.owner.1));
                let flags = AtFlags::SYMLINK_NOFOLLOW;
                let given = rustix::fs::chownat(new, name, Some(user), Some(group), flags);
                set_link_time(new, name, seen.modified).map_err(failed)?;
                LostAttributes { owner: given.is_err() || !able.give_away, attributes: false }
            }
            FileKind::Folder | FileKind::Special => return Err(failed(Errno::PERM.into())),
        };
        self.note(key, lost);
        self.built.copied.insert(key.to_vec());
        Ok(())
    }

    /// Creates a file or link of the snapshot.
    fn make(&mut self, step: &Step, key: &[u8], name: &[u8]) -> Result<(), ApplyTreeError> {
        let path = &path_of(key)[..];
        let failed = |error: io::Error| cannot_write(path, error);
        let Some(Level { new, old, .. }) = self.levels.last() else {
            return Err(failed(Errno::NOENT.into()));
        };
        // If only the mode or time changes, everything else of the file stays.
        let stays = match &self.apply.plan.site {
            OldTree::Full(survey) if step.action == Action::Same => survey.nodes.get(key),
            _ => None,
        };
        match &step.node {
            PlannedNode::File { size, content, .. } => {
                let mut reader = self
                    .apply
                    .plan
                    .open(content, self.apply.source)
                    .map_err(|source| ApplyTreeError::Source { path: lossy(path), source })?;
                let natural = if step.mode.is_some() { 0o600 } else { 0o666 };
                let file = new.create_file(name, natural).map_err(failed)?;
                copy(&mut reader, &file, *size, &mut self.buffer)
                    .map_err(|fault| fault.about(path, *size))?;
                let mtime = step.mtime.as_ref().map(time_of);
                let owner = stays.map(|seen| seen.owner).or(self.owner);
                let attributes = Attributes { mode: step.mode, mtime, owner };
                let like = match (stays, old) {
                    (Some(_), Some(old)) => old.file(name).ok(),
                    _ => None,
                };
                let like = like.as_ref().map(AsFd::as_fd);
                let lost = attributes.give(file.as_fd(), like, self.apply.able).map_err(failed)?;
                if self.sync_each {
                    file.sync_all().map_err(failed)?;
                }
                if stays.is_some() {
                    self.note(key, lost);
                }
            }
            PlannedNode::Symlink(target) => {
                let made = rustix::fs::symlinkat(&**target, new, name);
                made.map_err(|error| failed(error.into()))?;
                if let Some(mtime) = &step.mtime {
                    set_link_time(new, name, time_of(mtime)).map_err(failed)?;
                }
            }
            PlannedNode::Folder => return Err(failed(Errno::ISDIR.into())),
        }
        Ok(())
    }

    /// Sets the mode and time of the innermost folder: nothing is put into it any more.
    fn close(&mut self) -> Result<(), ApplyTreeError> {
        let Some(level) = self.levels.pop() else { return Ok(()) };
        let failed = |error: io::Error| cannot_write(&path_of(&level.key), error);
        let old = level.old.as_ref().map(AsFd::as_fd);
        let lost =
            level.attributes.give(level.new.as_fd(), old, self.apply.able).map_err(failed)?;
        if self.sync_each {
            level.new.sync().map_err(failed)?;
        }
        if level.old.is_some() {
            self.note(&level.key, lost);
        }
        Ok(())
    }

    pub(super) fn finish(mut self) -> Result<BuildNotes, ApplyTreeError> {
        while !self.levels.is_empty() {
            self.close()?;
        }
        Ok(self.built)
    }
}

pub(super) fn cannot_write(path: &[u8], source: impl Into<io::Error>) -> ApplyTreeError {
    ApplyTreeError::Write { path: lossy(path), source: source.into() }
}

fn set_link_time(folder: &Folder, name: &[u8], mtime: FileTime) -> io::Result<()> {
    Ok(rustix::fs::utimensat(folder, name, &times(mtime), AtFlags::SYMLINK_NOFOLLOW)?)
}

/// Which side of a copy failed.
enum CopyFault {
    Read(io::Error),
    Write(io::Error),
    Size,
}

impl CopyFault {
    fn about(self, path: &[u8], expected: u64) -> ApplyTreeError {
        let path = lossy(path);
        match self {
            Self::Read(source) => ApplyTreeError::Source { path, source },
            Self::Write(source) => ApplyTreeError::Write { path, source },
            Self::Size => ApplyTreeError::WrongSize { path, expected },
        }
    }
}

/// Copies exactly `size` bytes, and reads on to the end, where a reader reports whether they were
/// the right ones.
fn copy(
    from: &mut dyn Read,
    mut to: &std::fs::File,
    size: u64,
    buffer: &mut [u8],
) -> Result<(), CopyFault> {
    let mut left = size;
    loop {
        match from.read(buffer) {
            Ok(0) if left == 0 => return Ok(()),
            Ok(read) if read == 0 || read as u64 > left => return Err(CopyFault::Size),
            Ok(read) => {
                to.write_all(&buffer[..read]).map_err(CopyFault::Write)?;
                left -= read as u64;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(CopyFault::Read(error)),
        }
    }
}

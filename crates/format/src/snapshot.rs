//! A snapshot: everything about one agent at one moment, in memory.
//!
//! For agents of ordinary size and for tests. Snapshots that are too large for memory go through
//! [`ArchiveWriter`] and [`Archive`](crate::Archive) piece by piece.

use std::io::Write;

use crate::archive::Layer;
use crate::archive::write::{
    ArchiveWriter, FileHead, Root, Spool, WriteArchiveError, WrittenArchive,
};
use crate::attachments::Attachments;
use crate::credentials::Credentials;
use crate::identity::Identity;
use crate::manifest::Manifest;
use crate::moment::Moment;
use crate::principals::Principals;
use crate::record::Record;
use crate::unknown::Unknown;

/// Everything about one agent at one moment.
#[derive(Clone, Debug, PartialEq)]
pub struct Snapshot {
    /// The owner's fields of the manifest; the writer's fields are blank.
    pub manifest: Manifest,
    /// Who the agent is.
    pub identity: Option<Identity>,
    /// Whom it works for.
    pub principals: Option<Principals>,
    /// Its keys.
    pub credentials: Option<Credentials>,
    /// Its artifacts.
    pub attachments: Option<Attachments>,
    /// Its records, by `created_at`, then id.
    pub records: Vec<Record>,
    /// Its files, sorted by root and path.
    pub files: Vec<File>,
}

/// A file, link or folder with its content.
#[derive(Clone, Debug, PartialEq)]
pub struct File {
    /// Where the file belongs.
    pub root: FileRoot,
    /// Its path below the root, with `/` between parts.
    pub path: Vec<u8>,
    /// What it is.
    pub node: Node,
    /// Unix permission bits.
    pub mode: Option<u32>,
    /// When it was last modified.
    pub mtime: Option<Moment>,
    /// Whether secrets in it were replaced as it was read.
    pub redacted: bool,
    /// Unknown fields from a newer version.
    pub unknown: Unknown,
}

/// Where a file belongs.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FileRoot {
    /// A runtime manages it.
    Raw(String),
    /// It is any other file of the workspace.
    Artifacts,
    /// It is an entry that this version does not know.
    Other,
}

/// What a path is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Node {
    /// A regular file.
    File(Vec<u8>),
    /// A symbolic link to this target.
    Symlink(Vec<u8>),
    /// A folder.
    Folder,
}

impl From<Root<'_>> for FileRoot {
    fn from(root: Root<'_>) -> Self {
        match root {
            Root::Raw(runtime) => Self::Raw(runtime.to_owned()),
            Root::Artifacts => Self::Artifacts,
            Root::Other => Self::Other,
        }
    }
}

impl Snapshot {
    /// Makes an empty snapshot.
    #[must_use]
    pub fn new(manifest: Manifest) -> Self {
        Self {
            manifest,
            identity: None,
            principals: None,
            credentials: None,
            attachments: None,
            records: Vec::new(),
            files: Vec::new(),
        }
    }

    /// Puts records and files into the order in which an archive holds them.
    pub fn sort(&mut self) {
        self.records.sort_by_key(|record| (record.temporal.created_at.instant(), record.id));
        self.files.sort_by_key(File::order);
    }

    /// Writes the snapshot as an archive. Files and records may be in any order.
    pub fn write<W: Write>(
        &self,
        out: W,
        spool: Box<dyn Spool>,
        threads: usize,
    ) -> Result<(W, WrittenArchive), WriteArchiveError> {
        let mut writer = ArchiveWriter::new(out, &self.manifest, spool, threads);
        let mut files: Vec<&File> = self.files.iter().collect();
        files.sort_by_key(|file| file.order());
        for file in files {
            let head = file.head();
            match &file.node {
                Node::File(content) => {
                    writer.file(&head, &mut &content[..])?;
                }
                Node::Symlink(target) => writer.symlink(&head, target)?,
                Node::Folder => writer.folder(&head)?,
            }
        }
        for record in &self.records {
            writer.record(record)?;
        }
        self.identity.iter().try_for_each(|identity| writer.layer(Layer::Identity, identity))?;
        self.principals
            .iter()
            .try_for_each(|principals| writer.layer(Layer::Principals, principals))?;
        self.credentials
            .iter()
            .try_for_each(|credentials| writer.layer(Layer::Credentials, credentials))?;
        self.attachments
            .iter()
            .try_for_each(|attachments| writer.layer(Layer::Attachments, attachments))?;
        writer.finish()
    }
}

impl File {
    /// Makes a regular file with no mode and no time.
    #[must_use]
    pub fn new(root: FileRoot, path: &str, content: impl Into<Vec<u8>>) -> Self {
        Self {
            root,
            path: path.as_bytes().to_vec(),
            node: Node::File(content.into()),
            mode: None,
            mtime: None,
            redacted: false,
            unknown: Unknown::default(),
        }
    }

    fn head(&self) -> FileHead<'_> {
        FileHead {
            root: match &self.root {
                FileRoot::Raw(runtime) => Root::Raw(runtime),
                FileRoot::Artifacts => Root::Artifacts,
                FileRoot::Other => Root::Other,
            },
            path: &self.path,
            mode: self.mode,
            mtime: self.mtime.clone(),
            redacted: self.redacted,
            unknown: self.unknown.clone(),
        }
    }

    fn order(&self) -> Vec<u8> {
        [self.head().root.prefix().as_bytes(), &self.path].concat()
    }
}

/// Reads whole archives into memory, for tests.
#[cfg(any(test, feature = "testing"))]
mod loading {
    use super::*;
    use crate::archive::read::{Archive, CarriedFile, ReadEntryError};
    use crate::json;
    use crate::manifest::EntryKind;

    impl Snapshot {
        /// Reads a whole archive into memory.
        pub fn read(archive: &Archive) -> Result<Self, ReadEntryError> {
            let mut manifest = archive.manifest().clone();
            manifest.blank();
            let mut snapshot = Self::new(manifest);
            snapshot.identity = archive.parse_document(Layer::Identity)?;
            snapshot.principals = archive.parse_document(Layer::Principals)?;
            snapshot.credentials = archive.parse_document(Layer::Credentials)?;
            snapshot.attachments = archive.parse_document(Layer::Attachments)?;
            for path in archive.partitions() {
                archive.entries().each_line(path, |number, line| {
                    let record = json::parse(line)
                        .map_err(|source| ReadEntryError::new(path, Some(number), source))?;
                    snapshot.records.push(record);
                    Ok::<_, ReadEntryError>(())
                })?;
            }
            for file in archive.files()? {
                snapshot.files.push(File::read(archive, &file)?);
            }
            snapshot.sort();
            Ok(snapshot)
        }
    }

    impl File {
        fn read(archive: &Archive, file: &CarriedFile) -> Result<Self, ReadEntryError> {
            let node = match file.entry.kind() {
                EntryKind::Symlink => Node::Symlink(file.target().unwrap_or_default()),
                EntryKind::Directory => Node::Folder,
                EntryKind::File | EntryKind::Unknown(_) => {
                    Node::File(archive.entries().read_bytes(&file.entry.path)?)
                }
            };
            Ok(file.with_head(|head| Self {
                root: head.root.into(),
                path: head.path.to_vec(),
                node,
                mode: head.mode,
                mtime: head.mtime.clone(),
                redacted: head.redacted,
                unknown: head.unknown.clone(),
            }))
        }
    }
}

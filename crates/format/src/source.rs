//! A snapshot that can be read piece by piece.

use std::io::{self, Read};

use crate::attachments::Attachments;
use crate::credentials::Credentials;
use crate::identity::Identity;
use crate::manifest::Manifest;
use crate::moment::Moment;
use crate::principals::Principals;
use crate::record::{Record, Status};
use crate::snapshot::FileRoot;

/// A snapshot, wherever it is kept.
pub trait SnapshotSource {
    /// Its manifest.
    fn manifest(&self) -> &Manifest;
    /// Who the agent is.
    fn identity(&self) -> io::Result<Option<Identity>>;
    /// Whom it works for.
    fn principals(&self) -> io::Result<Option<Principals>>;
    /// Its keys.
    fn credentials(&self) -> io::Result<Option<Credentials>>;
    /// Its artifacts.
    fn attachments(&self) -> io::Result<Option<Attachments>>;
    /// Every file, link and folder.
    fn files(&self) -> &[SourceFile];
    /// Opens the content of a file, by its position in [`SnapshotSource::files`].
    fn content(&self, file: usize) -> io::Result<Box<dyn Read + '_>>;
    /// Yields every record, oldest first.
    fn each_record(&self, take: &mut dyn FnMut(&Record) -> io::Result<()>) -> io::Result<()>;

    /// Yields where every record came from; a source that can do so without reading the whole
    /// records should.
    fn each_record_place(&self, take: &mut dyn FnMut(&RecordPlace<'_>)) -> io::Result<()> {
        self.each_record(&mut |record| {
            take(&RecordPlace {
                namespace: &record.namespace,
                origin_file: record.source.origin_file.as_deref(),
                deleted: *record.status.effective() == Status::Deleted,
            });
            Ok(())
        })
    }
}

/// Where a record came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordPlace<'a> {
    /// The shelf it is on.
    pub namespace: &'a str,
    /// The file within the workspace.
    pub origin_file: Option<&'a str>,
    /// Whether only a tombstone is left of it.
    pub deleted: bool,
}

/// A file, link or folder without its content.
#[derive(Clone, Debug, PartialEq)]
pub struct SourceFile {
    /// Where it belongs.
    pub root: FileRoot,
    /// Its path below the root, with `/` between parts.
    pub path: Vec<u8>,
    /// What it is.
    pub kind: SourceKind,
    /// Unix permission bits.
    pub mode: Option<u32>,
    /// When it was last modified.
    pub mtime: Option<Moment>,
    /// Whether secrets in it were replaced when it was read.
    pub redacted: bool,
}

/// What a path is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SourceKind {
    /// A regular file.
    File {
        /// Its length.
        size: u64,
        /// Its SHA-256 in lower-case hexadecimal.
        sha256: String,
    },
    /// A link to this target.
    Symlink(Vec<u8>),
    /// A folder.
    Folder,
}

/// A snapshot in memory as a source, for tests.
#[cfg(any(test, feature = "testing"))]
pub(crate) mod loaded {
    use super::*;
    use crate::digest::sha256_hex;
    use crate::snapshot::{File, Node, Snapshot};

    /// A snapshot in memory as a source.
    pub struct LoadedSnapshot<'a> {
        snapshot: &'a Snapshot,
        files: Vec<SourceFile>,
    }

    impl<'a> LoadedSnapshot<'a> {
        /// Takes a snapshot; digests of its files are computed here.
        #[must_use]
        pub fn new(snapshot: &'a Snapshot) -> Self {
            Self { snapshot, files: snapshot.files.iter().map(describe).collect() }
        }
    }

    fn describe(file: &File) -> SourceFile {
        SourceFile {
            root: file.root.clone(),
            path: file.path.clone(),
            kind: match &file.node {
                Node::File(content) => {
                    SourceKind::File { size: content.len() as u64, sha256: sha256_hex(content) }
                }
                Node::Symlink(target) => SourceKind::Symlink(target.clone()),
                Node::Folder => SourceKind::Folder,
            },
            mode: file.mode,
            mtime: file.mtime.clone(),
            redacted: file.redacted,
        }
    }

    impl SnapshotSource for LoadedSnapshot<'_> {
        fn manifest(&self) -> &Manifest {
            &self.snapshot.manifest
        }

        fn identity(&self) -> io::Result<Option<Identity>> {
            Ok(self.snapshot.identity.clone())
        }

        fn principals(&self) -> io::Result<Option<Principals>> {
            Ok(self.snapshot.principals.clone())
        }

        fn credentials(&self) -> io::Result<Option<Credentials>> {
            Ok(self.snapshot.credentials.clone())
        }

        fn attachments(&self) -> io::Result<Option<Attachments>> {
            Ok(self.snapshot.attachments.clone())
        }

        fn files(&self) -> &[SourceFile] {
            &self.files
        }

        fn content(&self, file: usize) -> io::Result<Box<dyn Read + '_>> {
            match self.snapshot.files.get(file).map(|file| &file.node) {
                Some(Node::File(content)) => Ok(Box::new(&content[..])),
                _ => Err(io::ErrorKind::NotFound.into()),
            }
        }

        fn each_record(&self, take: &mut dyn FnMut(&Record) -> io::Result<()>) -> io::Result<()> {
            self.snapshot.records.iter().try_for_each(take)
        }
    }
}

//! An open archive as a [`SnapshotSource`].

use std::borrow::Cow;
use std::io::{self, Read};

use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::Layer;
use super::read::{Archive, CarriedFile, ReadEntryError};
use super::record_cache::RecordCache;
use crate::attachments::Attachments;
use crate::credentials::Credentials;
use crate::identity::Identity;
use crate::manifest::{EntryKind, Manifest};
use crate::principals::Principals;
use crate::record::{Record, Status};
use crate::source::{RecordPlace, SnapshotSource, SourceFile, SourceKind};

/// An archive as the source of a snapshot; nothing is read before it is requested.
pub struct ArchiveSource<'a> {
    archive: &'a Archive,
    files: Vec<SourceFile>,
    /// The entry of each file.
    entries: Vec<String>,
    /// Parsed records, if they are kept.
    parsed: RecordCache<Record>,
}

impl<'a> ArchiveSource<'a> {
    /// Takes an archive, and lists its files.
    pub fn new(archive: &'a Archive) -> Result<Self, ReadEntryError> {
        let carried = archive.files()?;
        let files = carried.iter().map(describe).collect();
        let entries = carried.into_iter().map(|file| file.entry.path).collect();
        Ok(Self { archive, files, entries, parsed: RecordCache::new(0) })
    }

    /// Keeps records when they are first walked over, so that later walks do not parse them again.
    /// Records that have more than this many bytes of JSON in all are parsed at every walk.
    #[must_use]
    pub fn keeping_records(mut self, max_bytes: usize) -> Self {
        self.parsed = RecordCache::new(max_bytes);
        self
    }

    /// Returns the files alone.
    #[must_use]
    pub fn into_files(self) -> Vec<SourceFile> {
        self.files
    }

    fn document<T: DeserializeOwned>(&self, layer: Layer) -> io::Result<Option<T>> {
        self.archive.parse_document(layer).map_err(io::Error::other)
    }

    /// Parses every record, and passes it on with the bytes of its line.
    fn parse_each(&self, take: &mut dyn FnMut(Record, usize) -> io::Result<()>) -> io::Result<()> {
        let walked = self.archive.each_record_line(|line| {
            let record = Record::parse(line).map_err(|error| WalkError(error.into()))?;
            take(record, line.len()).map_err(WalkError)
        });
        walked.map_err(|WalkError(error)| error)
    }
}

pub(super) fn describe(file: &CarriedFile) -> SourceFile {
    let kind = match file.entry.kind() {
        EntryKind::Symlink => SourceKind::Symlink(file.target().unwrap_or_default()),
        EntryKind::Directory => SourceKind::Folder,
        _ => SourceKind::File {
            size: file.entry.size.unwrap_or(0),
            sha256: file.entry.sha256.clone().unwrap_or_default(),
        },
    };
    file.with_head(|head| SourceFile {
        root: head.root.into(),
        path: head.path.to_vec(),
        kind,
        mode: head.mode,
        mtime: head.mtime.clone(),
        redacted: head.redacted,
    })
}

/// An error while walking over the records, the caller's or the archive's.
pub(super) struct WalkError(pub(super) io::Error);

impl From<ReadEntryError> for WalkError {
    fn from(error: ReadEntryError) -> Self {
        Self(io::Error::other(error))
    }
}

/// The fields of a record that are needed for its place.
#[derive(Deserialize)]
struct PlaceLine<'a> {
    #[serde(borrow)]
    namespace: Cow<'a, str>,
    #[serde(borrow)]
    status: Cow<'a, str>,
    #[serde(borrow)]
    source: SourceLine<'a>,
}

#[derive(Deserialize)]
struct SourceLine<'a> {
    #[serde(borrow, default)]
    origin_file: Option<Cow<'a, str>>,
}

/// Calls `take` with where the record of a line came from.
pub(super) fn place_of_line(
    line: &[u8],
    take: &mut dyn FnMut(&RecordPlace<'_>),
) -> Result<(), WalkError> {
    let line: PlaceLine<'_> =
        serde_json::from_slice(line).map_err(|error| WalkError(error.into()))?;
    take(&RecordPlace {
        namespace: &line.namespace,
        origin_file: line.source.origin_file.as_deref(),
        deleted: line.status == Status::Deleted.as_str(),
    });
    Ok(())
}

impl SnapshotSource for ArchiveSource<'_> {
    fn manifest(&self) -> &Manifest {
        self.archive.manifest()
    }

    fn identity(&self) -> io::Result<Option<Identity>> {
        self.document(Layer::Identity)
    }

    fn principals(&self) -> io::Result<Option<Principals>> {
        self.document(Layer::Principals)
    }

    fn credentials(&self) -> io::Result<Option<Credentials>> {
        self.document(Layer::Credentials)
    }

    fn attachments(&self) -> io::Result<Option<Attachments>> {
        self.document(Layer::Attachments)
    }

    fn files(&self) -> &[SourceFile] {
        &self.files
    }

    fn content(&self, file: usize) -> io::Result<Box<dyn Read + '_>> {
        let entry = self.entries.get(file).ok_or(io::ErrorKind::NotFound)?;
        Ok(Box::new(self.archive.read_file(entry).map_err(io::Error::other)?))
    }

    fn each_record(&self, take: &mut dyn FnMut(&Record) -> io::Result<()>) -> io::Result<()> {
        self.parsed.each(|take| self.parse_each(take), take)
    }

    fn each_record_place(&self, take: &mut dyn FnMut(&RecordPlace<'_>)) -> io::Result<()> {
        let walked = self.archive.each_record_line(|line| place_of_line(line, take));
        walked.map_err(|WalkError(error)| error)
    }
}

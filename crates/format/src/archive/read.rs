//! Opens an archive and yields its content, piece by piece.
//!
//! Supported dialects: partitions anywhere the manifest says, no `memory/index.json`, no digests,
//! documents wrapped in an object named after their layer, explicit folder entries.

use std::collections::{HashMap, HashSet};
use std::io::{self, BufReader, Read as _};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

use super::record_line::RecordHead;
use super::write::{FileHead, Root};
use super::{ARTIFACTS, DELTA_MANIFEST_DIALECT, Layer, MANIFEST, RAW};
use crate::container::read::{
    Bytes, Container, ContainerEntry, ContainerError, EntryReader, short,
};
use crate::container::seal::Seal;
use crate::digest;
use crate::entry_path::{self, Names};
use crate::json::{self, Lines, ReadJsonError};
use crate::limits::Limits;
use crate::manifest::{Entry, EntryKind, Manifest};
use crate::pairs::Pairs;

/// The major version that we read.
const MAJOR: u64 = 1;

/// Why a file could not be opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// Not a supported container.
    #[error(transparent)]
    Container(#[from] ContainerError),
    /// The digest over the whole file is wrong.
    #[error("the archive was damaged or edited: its seal does not match")]
    SealBroken,
    /// No manifest.
    #[error("the archive has no manifest")]
    NoManifest,
    /// The manifest of an archive and that of a delta.
    #[error("the archive has two manifests")]
    TwoManifests,
    /// The manifest is invalid.
    #[error("cannot read {entry}")]
    Manifest {
        /// The manifest's entry.
        entry: &'static str,
        /// The cause.
        source: ReadJsonError,
    },
    /// A version that we do not know.
    #[error("the archive has format version {0}; this program reads version {MAJOR}")]
    Version(String),
    /// A required feature that we do not know.
    #[error("the archive needs the feature {0:?}, which this program does not know")]
    Feature(String),
    /// An archive where a delta is wanted, or the other way round.
    #[error("the file is {found}, not {wanted}")]
    Kind {
        /// What it is.
        found: ArchiveKind,
        /// What it should be.
        wanted: ArchiveKind,
    },
}

/// How a file was rejected, in the words of the conformance vectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// Made by a newer program.
    Version,
    /// Damaged.
    Corrupt,
    /// Dangerous.
    Unsafe,
}

impl OpenError {
    /// Returns how the file was rejected.
    #[must_use]
    pub fn refusal(&self) -> Refusal {
        match self {
            Self::Version(_) | Self::Feature(_) => Refusal::Version,
            Self::Container(error) if error.is_unsafe() => Refusal::Unsafe,
            _ => Refusal::Corrupt,
        }
    }
}

/// What a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArchiveKind {
    /// A snapshot.
    Archive,
    /// A change between two snapshots.
    Delta,
}

impl std::fmt::Display for ArchiveKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Archive => "an archive",
            Self::Delta => "a delta",
        })
    }
}

/// Whether an archive that was edited after it was written can be opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Edits {
    /// The digests in the manifest take precedence: an entry that differs is rejected.
    #[default]
    Refuse,
    /// The content takes precedence: sizes, digests and counts in the manifest are replaced.
    /// Nothing else is relaxed.
    Accept,
}

/// An entry that differs from the manifest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EditedEntry {
    /// The entry.
    pub path: String,
    /// The SHA-256 in the manifest; `None` for an entry that was added.
    pub expected: Option<String>,
    /// The SHA-256 of the content; `None` for an entry that was removed.
    pub actual: Option<String>,
}

impl std::fmt::Display for EditedEntry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (&self.expected, &self.actual) {
            (Some(expected), Some(actual)) => {
                let (expected, actual) = (short(expected), short(actual));
                write!(f, "changed: SHA-256 {actual}, the manifest says {expected}")
            }
            (None, _) => f.write_str("added: the manifest does not list this entry"),
            (_, None) => f.write_str("removed: the manifest lists an entry that is not there"),
        }
    }
}

/// Why something in an open archive could not be read.
#[derive(Debug, thiserror::Error)]
#[error("cannot read {entry}{}", line.map(|n| format!(" line {n}")).unwrap_or_default())]
pub struct ReadEntryError {
    /// The entry.
    pub entry: String,
    /// The line, where it has lines.
    pub line: Option<u64>,
    /// The cause.
    pub source: ReadJsonError,
}

impl ReadEntryError {
    /// Reports what is wrong with an entry, or with one of its lines.
    #[must_use]
    pub fn new(entry: &str, line: Option<u64>, source: ReadJsonError) -> Self {
        Self { entry: entry.to_owned(), line, source }
    }

    /// Reports why the bytes of an entry cannot be read.
    pub(crate) fn io(entry: &str, error: io::Error) -> Self {
        Self::new(entry, None, ReadJsonError::Io(error))
    }
}

/// A container with its manifest text, before it is known to be an archive or a delta.
pub(crate) struct OpenContainer {
    pub(crate) container: Container,
    pub(crate) kind: ArchiveKind,
    pub(crate) manifest_entry: &'static str,
    pub(crate) manifest: Vec<u8>,
    pub(crate) limits: Limits,
    pub(crate) edits: Edits,
}

/// The fields that decide whether the rest of a manifest can be understood.
#[derive(Deserialize)]
struct Preamble {
    alf_version: String,
    #[serde(default)]
    requires: Vec<String>,
    #[serde(default)]
    changes: Option<serde::de::IgnoredAny>,
    #[serde(default)]
    entries: Option<ListLength>,
}

/// The length of a list whose elements are not kept.
struct ListLength(u64);

impl<'de> Deserialize<'de> for ListLength {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Elements;

        impl<'de> serde::de::Visitor<'de> for Elements {
            type Value = ListLength;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a list")
            }

            fn visit_seq<A: serde::de::SeqAccess<'de>>(
                self,
                mut list: A,
            ) -> Result<ListLength, A::Error> {
                let mut length = 0;
                while list.next_element::<serde::de::IgnoredAny>()?.is_some() {
                    length += 1;
                }
                Ok(ListLength(length))
            }
        }

        deserializer.deserialize_seq(Elements)
    }
}

impl OpenContainer {
    pub(crate) fn open(
        source: Bytes,
        length: u64,
        limits: &Limits,
        edits: Edits,
    ) -> Result<Self, OpenError> {
        let container = Container::open(source, length, limits)?;
        if container.seal() == Seal::Broken && edits == Edits::Refuse {
            return Err(OpenError::SealBroken);
        }
        let mut manifests = [DELTA_MANIFEST_DIALECT, MANIFEST]
            .into_iter()
            .filter(|name| container.get(name).is_some());
        let manifest_entry = manifests.next().ok_or(OpenError::NoManifest)?;
        if manifests.next().is_some() {
            return Err(OpenError::TwoManifests);
        }
        let in_manifest = |source| OpenError::Manifest { entry: manifest_entry, source };
        let entry = container.get(manifest_entry).ok_or(OpenError::NoManifest)?;
        let manifest = json::read_all(&mut container.read(entry, None), limits.max_document_bytes)
            .map_err(in_manifest)?;
        json::check_depth(&manifest).map_err(in_manifest)?;
        let preamble: Preamble = serde_json::from_slice(&manifest)
            .map_err(|error| in_manifest(ReadJsonError::Json(error)))?;
        let major =
            preamble.alf_version.split('.').next().and_then(|text| text.parse::<u64>().ok());
        if major != Some(MAJOR) {
            return Err(OpenError::Version(preamble.alf_version));
        }
        if let Some(feature) = preamble.requires.into_iter().next() {
            return Err(OpenError::Feature(feature));
        }
        // Links and folders are only listed, and a list takes many times the memory of its text.
        if let Some(ListLength(count)) = preamble.entries
            && count > limits.max_entries
        {
            let limit = limits.max_entries;
            return Err(ContainerError::TooManyEntries { count, limit }.into());
        }
        let is_delta = manifest_entry == DELTA_MANIFEST_DIALECT || preamble.changes.is_some();
        let kind = if is_delta { ArchiveKind::Delta } else { ArchiveKind::Archive };
        Ok(Self { container, kind, manifest_entry, manifest, limits: limits.clone(), edits })
    }

    pub(crate) fn parse_manifest<T: DeserializeOwned>(&self) -> Result<T, OpenError> {
        serde_json::from_slice(&self.manifest).map_err(|error| OpenError::Manifest {
            entry: self.manifest_entry,
            source: ReadJsonError::Json(error),
        })
    }

    pub(crate) fn require(&self, wanted: ArchiveKind) -> Result<(), OpenError> {
        if self.kind == wanted { Ok(()) } else { Err(OpenError::Kind { found: self.kind, wanted }) }
    }
}

/// Distinguishes archives from deltas.
pub fn kind_of(source: Bytes, length: u64, limits: &Limits) -> Result<ArchiveKind, OpenError> {
    OpenContainer::open(source, length, limits, Edits::Refuse).map(|opened| opened.kind)
}

/// The entries of an open archive or delta, with their description in the manifest.
pub(crate) struct Entries {
    pub(crate) container: Container,
    /// The digest in the manifest of each entry of the container, in its order.
    digests: Vec<Option<Box<str>>>,
    limits: Limits,
}

impl Entries {
    pub(crate) fn new(container: Container, listed: &[Entry], limits: Limits) -> Self {
        let mut digests: Vec<Option<Box<str>>> = vec![None; container.entries().len()];
        for entry in listed {
            if let (Some(at), Some(sha256)) = (container.position(&entry.path), &entry.sha256) {
                digests[at] = Some(sha256.as_str().into());
            }
        }
        Self { container, digests, limits }
    }

    /// Returns the digest that the manifest gives for an entry.
    pub(crate) fn digest(&self, path: &str) -> Option<String> {
        let at = self.container.position(path)?;
        self.digests[at].as_deref().map(str::to_owned)
    }

    pub(crate) fn reader(&self, path: &str) -> Result<EntryReader<'_>, ReadEntryError> {
        let missing = || ReadEntryError::io(path, io::ErrorKind::NotFound.into());
        let entry = self.container.get(path).ok_or_else(missing)?;
        Ok(self.container.read(entry, self.digest(path)))
    }

    /// Reads a whole entry of any size.
    pub(crate) fn read_bytes(&self, path: &str) -> Result<Vec<u8>, ReadEntryError> {
        let mut bytes = Vec::new();
        self.reader(path)?
            .read_to_end(&mut bytes)
            .map_err(|error| ReadEntryError::io(path, error))?;
        Ok(bytes)
    }

    pub(crate) fn read_document(&self, path: &str) -> Result<Vec<u8>, ReadEntryError> {
        let located = |source| ReadEntryError::new(path, None, source);
        let bytes = json::read_all(&mut self.reader(path)?, self.limits.max_document_bytes)
            .map_err(located)?;
        json::check_depth(&bytes).map_err(located)?;
        Ok(bytes)
    }

    /// Reads a layer; one that is wrapped in an object named after it is unwrapped.
    pub(crate) fn read_layer(&self, layer: Layer, path: &str) -> Result<Vec<u8>, ReadEntryError> {
        let bytes = self.read_document(path)?;
        Ok(unwrap_layer(layer, &bytes).unwrap_or(bytes))
    }

    pub(crate) fn lines(
        &self,
        path: &str,
    ) -> Result<Lines<BufReader<EntryReader<'_>>>, ReadEntryError> {
        let reader = BufReader::with_capacity(64 << 10, self.reader(path)?);
        Ok(Lines::new(reader, self.limits.max_line_bytes))
    }

    /// Calls `each` with every line of an entry and its number.
    pub(crate) fn each_line<E: From<ReadEntryError>>(
        &self,
        path: &str,
        mut each: impl FnMut(u64, &[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut lines = self.lines(path)?;
        loop {
            let number = lines.number() + 1;
            let located = |source| ReadEntryError::new(path, Some(number), source);
            match lines.next().map_err(located)? {
                Some((number, line)) => each(number, line)?,
                None => return Ok(()),
            }
        }
    }
}

fn unwrap_layer(layer: Layer, bytes: &[u8]) -> Option<Vec<u8>> {
    // The lists are `{"principals":[...]}` in every dialect; only a single object gets wrapped.
    let wrapped: Pairs<Box<RawValue>> = serde_json::from_slice(bytes).ok()?;
    let inner = wrapped.get(layer.key())?.get();
    (wrapped.iter().count() == 1 && inner.starts_with('{')).then(|| inner.as_bytes().to_vec())
}

/// An open archive.
pub struct Archive {
    manifest: Manifest,
    entries: Entries,
    edited: Vec<EditedEntry>,
}

/// A file, link or folder that an archive carries.
#[derive(Clone, Debug, PartialEq)]
pub struct CarriedFile {
    /// Its description in the manifest, or the one that it would have.
    pub entry: Entry,
}

impl Archive {
    /// Opens an archive of a known length; structure, seal and manifest are checked.
    pub fn open(source: Bytes, length: u64, limits: &Limits) -> Result<Self, OpenError> {
        Self::from_opened(OpenContainer::open(source, length, limits, Edits::Refuse)?)
    }

    pub(crate) fn from_opened(opened: OpenContainer) -> Result<Self, OpenError> {
        opened.require(ArchiveKind::Archive)?;
        let mut manifest: Manifest = opened.parse_manifest()?;
        let edited = match opened.edits {
            Edits::Accept => take_edits(&opened.container, &mut manifest),
            Edits::Refuse => Vec::new(),
        };
        let structural = structural_entries(&manifest);
        let is_carried =
            |entry: &&Entry| !entry.is_file() || !structural.contains(entry.path.as_str());
        check_listed(&opened.container, manifest.entries.iter().filter(is_carried))?;
        let entries = Entries::new(opened.container, &manifest.entries, opened.limits);
        Ok(Self { manifest, entries, edited })
    }

    /// Returns the manifest of the archive; if edits were accepted, with the sizes and digests of
    /// the content.
    #[must_use]
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// Returns the length of the file.
    #[must_use]
    pub fn size_bytes(&self) -> u64 {
        self.entries.container.length()
    }

    /// Returns whether the file carries a digest of itself that matches.
    #[must_use]
    pub fn is_sealed(&self) -> bool {
        self.entries.container.seal() == Seal::Intact
    }

    /// Returns the entries that differ from the manifest in the file, where such edits were
    /// accepted.
    #[must_use]
    pub fn edited(&self) -> &[EditedEntry] {
        &self.edited
    }

    /// Returns true when the archive claims to be exactly what our writer makes of its content.
    ///
    /// This is a claim by the author of the file, and no check may depend on it.
    pub(crate) fn claims_canonical(&self) -> bool {
        self.is_sealed() && self.manifest.canonical == Some(true)
    }

    pub(crate) fn entries(&self) -> &Entries {
        &self.entries
    }

    /// Returns the entry of a layer, if the archive has the layer.
    #[must_use]
    pub fn layer_entry(&self, layer: Layer) -> Option<&str> {
        layer_entry(&self.manifest, layer)
    }

    /// Reads a layer as bytes.
    pub fn document(&self, layer: Layer) -> Result<Option<Vec<u8>>, ReadEntryError> {
        self.layer_entry(layer).map(|path| self.entries.read_layer(layer, path)).transpose()
    }

    /// Reads a layer as its type.
    pub fn parse_document<T: DeserializeOwned>(
        &self,
        layer: Layer,
    ) -> Result<Option<T>, ReadEntryError> {
        let Some(bytes) = self.document(layer)? else {
            return Ok(None);
        };
        let entry = self.layer_entry(layer).unwrap_or(layer.entry());
        json::parse(&bytes).map(Some).map_err(|source| ReadEntryError::new(entry, None, source))
    }

    /// Returns the entries that hold records, oldest first.
    pub fn partitions(&self) -> impl Iterator<Item = &str> {
        partition_entries(&self.manifest)
    }

    /// Calls `each` with every record's line, partition by partition.
    ///
    /// Any error ends the walk; what is wrong with a damaged archive is `validate`'s to say.
    pub fn each_record_line<E: From<ReadEntryError>>(
        &self,
        mut each: impl FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        for path in self.partitions() {
            self.entries.each_line(path, |_, line| each(line))?;
        }
        Ok(())
    }

    /// Calls `each` with the head of every record and its line.
    pub(crate) fn each_record_head<E: From<ReadEntryError>>(
        &self,
        path: &str,
        mut each: impl FnMut(RecordHead, &[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        self.entries.each_line(path, |number, line| {
            let head = RecordHead::parse(line)
                .map_err(|source| ReadEntryError::new(path, Some(number), source))?;
            each(head, line)
        })
    }

    /// Returns everything the archive carries besides layers and partitions, sorted by path.
    ///
    /// Where the manifest has no digest for a file, it is computed, which reads the file.
    pub fn files(&self) -> Result<Vec<CarriedFile>, ReadEntryError> {
        let structural = structural_entries(&self.manifest);
        let listed: HashMap<&str, &Entry> =
            self.manifest.entries.iter().map(|entry| (entry.path.as_str(), entry)).collect();
        let mut files = Vec::new();
        for entry in self.entries.container.entries() {
            if structural.contains(entry.path.as_str()) {
                continue;
            }
            let mut known = listed
                .get(&*entry.path)
                .map_or_else(|| Entry::new(&entry.path), |entry| (*entry).clone());
            if known.sha256.is_none() {
                known.size = Some(entry.size);
                known.sha256 = Some(self.compute_digest(&entry.path)?);
            }
            files.push(CarriedFile { entry: known });
        }
        for entry in &self.manifest.entries {
            if !entry.is_file() {
                files.push(CarriedFile { entry: entry.clone() });
            }
        }
        // Folders with content are restored with their content.
        let mut paths: Vec<&str> = files.iter().map(|file| file.entry.path.as_str()).collect();
        paths.sort_unstable();
        let mut empty = Vec::new();
        for folder in self.entries.container.folders() {
            let path = folder.trim_end_matches('/');
            let carried = path.starts_with(RAW) || path.starts_with(ARTIFACTS);
            let behind = paths.partition_point(|other| *other <= folder.as_str());
            let holds = paths.get(behind).is_some_and(|next| next.starts_with(folder));
            if carried && path.matches('/').count() > 1 && !holds {
                let mut entry = Entry::new(path);
                entry.kind = Some(EntryKind::Directory);
                empty.push(CarriedFile { entry });
            }
        }
        files.append(&mut empty);
        files.sort_by_cached_key(CarriedFile::order);
        Ok(files)
    }

    /// Reads a carried file; the reader fails at the end if the content is not as announced.
    pub fn read_file(&self, path: &str) -> Result<EntryReader<'_>, ReadEntryError> {
        self.entries.reader(path)
    }

    /// Returns the digest of an entry: the manifest's, or a computed one if it has none.
    pub(crate) fn digest_of(&self, path: &str) -> Result<String, ReadEntryError> {
        match self.entries.digest(path) {
            Some(digest) => Ok(digest),
            None => self.compute_digest(path),
        }
    }

    fn compute_digest(&self, path: &str) -> Result<String, ReadEntryError> {
        digest::digest_of(self.entries.reader(path)?)
            .map_err(|error| ReadEntryError::io(path, error))
    }
}

/// Updates the list of entries in a manifest to the content of the container; returns the
/// differences.
///
/// An entry that cannot be read stays as it is listed, so that reading it fails later.
fn take_edits(container: &Container, manifest: &mut Manifest) -> Vec<EditedEntry> {
    if manifest.entries.is_empty() {
        return Vec::new();
    }
    let digest_of = |entry: &ContainerEntry| digest::digest_of(container.read(entry, None)).ok();
    let mut edited = Vec::new();
    manifest.entries.retain(|entry| {
        let is_there = !entry.is_file() || container.get(&entry.path).is_some();
        if !is_there {
            let (path, expected) = (entry.path.clone(), entry.sha256.clone());
            let expected = Some(expected.unwrap_or_default());
            edited.push(EditedEntry { path, expected, actual: None });
        }
        is_there
    });
    for entry in manifest.entries.iter_mut().filter(|entry| entry.is_file()) {
        let Some(found) = container.get(&entry.path) else { continue };
        let Some(actual) = digest_of(found) else { continue };
        if entry.sha256.as_ref() != Some(&actual) || entry.size != Some(found.size) {
            let expected = Some(entry.sha256.replace(actual.clone()).unwrap_or_default());
            entry.size = Some(found.size);
            let path = entry.path.clone();
            edited.push(EditedEntry { path, expected, actual: Some(actual) });
        }
    }
    let listed: HashSet<String> = manifest.entries.iter().map(|entry| entry.path.clone()).collect();
    for found in container.entries() {
        if found.path == MANIFEST || listed.contains(&found.path) {
            continue;
        }
        let Some(actual) = digest_of(found) else { continue };
        let mut entry = Entry::new(&found.path);
        entry.size = Some(found.size);
        entry.sha256 = Some(actual.clone());
        manifest.entries.push(entry);
        let path = found.path.clone();
        edited.push(EditedEntry { path, expected: None, actual: Some(actual) });
    }
    manifest.entries.sort_by(|a, b| a.path.cmp(&b.path));
    edited.sort_by(|a, b| a.path.cmp(&b.path));
    if !edited.is_empty() {
        manifest.checksum = Some(Manifest::checksum_of(&manifest.entries));
        manifest.canonical = None;
    }
    edited
}

fn layer_entry(manifest: &Manifest, layer: Layer) -> Option<&str> {
    let layers = &manifest.layers;
    match layer {
        Layer::Identity => layers.identity.as_ref().map(|layer| &*layer.file),
        Layer::Principals => layers.principals.as_ref().map(|layer| &*layer.file),
        Layer::Credentials => layers.credentials.as_ref().map(|layer| &*layer.file),
        Layer::Attachments => layers.attachments.as_ref().map(|layer| &*layer.file),
    }
}

fn partition_entries(manifest: &Manifest) -> impl Iterator<Item = &str> {
    let memory = manifest.layers.memory.as_ref();
    memory.into_iter().flat_map(|memory| memory.partitions.iter().map(|part| part.file.as_str()))
}

/// Returns the entries that are not carried files.
pub(crate) fn structural_entries(manifest: &Manifest) -> HashSet<&str> {
    let memory = manifest.layers.memory.as_ref();
    Layer::ALL
        .into_iter()
        .filter_map(|layer| layer_entry(manifest, layer))
        .chain(memory.map(|memory| memory.index_file.as_str()))
        .chain(partition_entries(manifest))
        .chain([MANIFEST])
        .collect()
}

/// Checks the paths that a manifest lists: links and folders have no entry of their own, and the
/// true name of a file is not checked by the container.
pub(crate) fn check_listed<'a>(
    container: &Container,
    listed: impl IntoIterator<Item = &'a Entry>,
) -> Result<(), ContainerError> {
    let collision = |entry: &Entry| ContainerError::Collision(entry.path.clone());
    let mut names = Names::default();
    for entry in container.entries() {
        names.insert_file(&entry.path);
    }
    for folder in container.folders() {
        names.insert_folder(folder);
    }
    // The original names in the workspace, where they differ from those in the archive.
    let mut true_paths: Vec<(Vec<u8>, &Entry)> = Vec::new();
    for entry in listed {
        let unsafe_name = |fault| ContainerError::UnsafeName { name: entry.path.clone(), fault };
        entry_path::check(&entry.path).map_err(unsafe_name)?;
        let is_new = match entry.kind() {
            EntryKind::File | EntryKind::Unknown(_) => true,
            EntryKind::Symlink => names.insert_file(&entry.path),
            EntryKind::Directory => names.insert_folder(&entry.path),
        };
        if !is_new {
            return Err(collision(entry));
        }
        if let Some(name) = true_name(entry) {
            // A path that can be spelled only leads downwards.
            entry_path::spell(&name).map_err(unsafe_name)?;
        }
        // With the slash replaced by NUL, which no path has, the content of a folder sorts right
        // after it.
        let mut path = order_of(entry);
        path.iter_mut().filter(|byte| **byte == b'/').for_each(|byte| *byte = 0);
        true_paths.push((path, entry));
    }
    true_paths.sort_by(|a, b| a.0.cmp(&b.0));
    for pair in true_paths.windows(2) {
        let [(above, first), (path, second)] = pair else {
            continue;
        };
        match path.strip_prefix(&above[..]) {
            Some([]) if first.path == second.path => {
                let what = "the manifest lists an entry twice";
                return Err(ContainerError::Damaged { what, entry: Some(second.path.clone()) });
            }
            Some([]) => return Err(collision(second)),
            Some([0, ..]) if *first.kind() != EntryKind::Directory => {
                return Err(collision(second));
            }
            _ => {}
        }
    }
    Ok(())
}

impl CarriedFile {
    /// Returns the root and the path below it, as the workspace had it.
    #[must_use]
    pub fn location(&self) -> (Root<'_>, Vec<u8>) {
        location_of(&self.entry)
    }

    /// Returns where a symlink points.
    #[must_use]
    pub fn target(&self) -> Option<Vec<u8>> {
        bytes_of(self.entry.target.as_deref(), self.entry.target_base64.as_deref())
    }

    /// Calls `with` with the head under which a writer takes this file.
    pub fn with_head<T>(&self, with: impl FnOnce(&FileHead<'_>) -> T) -> T {
        let (root, path) = self.location();
        let mode = self
            .entry
            .mode
            .as_ref()
            .and_then(|text| u32::from_str_radix(text, 8).ok())
            .map(|mode| mode & 0o7777);
        with(&FileHead {
            root,
            path: &path,
            mode,
            mtime: self.entry.mtime.clone(),
            redacted: self.entry.redacted == Some(true),
            unknown: self.entry.unknown.clone(),
        })
    }

    /// Returns the sort key of files: their true path, as the writer requires.
    pub(crate) fn order(&self) -> Vec<u8> {
        order_of(&self.entry)
    }
}

/// Returns the root of an entry and its path below it, as the workspace had it.
fn location_of(entry: &Entry) -> (Root<'_>, Vec<u8>) {
    let path = entry.path.as_str();
    let (root, rest) = if let Some(rest) = path.strip_prefix(RAW)
        && let Some((runtime, rest)) = rest.split_once('/')
    {
        (Root::Raw(runtime), rest)
    } else if let Some(rest) = path.strip_prefix(ARTIFACTS) {
        (Root::Artifacts, rest)
    } else {
        (Root::Other, path)
    };
    (root, true_name(entry).unwrap_or_else(|| rest.as_bytes().to_vec()))
}

/// Returns the sort key of entries: their true path.
fn order_of(entry: &Entry) -> Vec<u8> {
    let (root, path) = location_of(entry);
    [root.prefix().into_bytes(), path].concat()
}

/// Returns the name of an entry in the workspace, where that is not its name in the archive.
fn true_name(entry: &Entry) -> Option<Vec<u8>> {
    bytes_of(entry.source_path.as_deref(), entry.source_path_base64.as_deref())
}

/// Returns the bytes of an entry's text, or of its base64 if they are not text.
fn bytes_of(text: Option<&str>, base64: Option<&str>) -> Option<Vec<u8>> {
    let plain = text.map(|text| text.as_bytes().to_vec());
    plain.or_else(|| BASE64.decode(base64?).ok())
}

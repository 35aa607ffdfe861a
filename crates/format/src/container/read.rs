//! Opens a container and rejects every form that two readers could understand differently.
//!
//! All structure is checked before the first byte of content is returned: names, collisions, links,
//! gaps, overlaps, ratios, counts, and that the local headers repeat the directory. Only the
//! content itself is checked later, by [`EntryReader`] when it reaches the end.

use std::io::{self, BufReader, Read};
use std::ops::Range;

use flate2::bufread::DeflateDecoder;
use rawzip::extra_fields::{ExtraFieldId, ExtraFields};
use rawzip::{
    CompressionMethod, EntryFlags, RECOMMENDED_BUFFER_SIZE, RangeReader, ReaderAt, ZipArchive,
    ZipArchiveEntryWayfinder, ZipLocator,
};
use sha2::{Digest as _, Sha256};

use super::end;
use super::seal::{self, Seal};
use crate::digest::Hex;
use crate::entry_path::{self, NameFault, Names};
use crate::limits::Limits;

/// Bytes that can be read at any position: a file, a slice, a decrypted stream.
pub type Bytes = Box<dyn ReaderAt + Send + Sync>;

/// The extra field in which some tools repeat a name in UTF-8.
const UNICODE_PATH: u16 = 0x7075;
/// The extra field for sizes that do not fit 32 bits.
const ZIP64: u16 = 0x0001;
const DOS_FOLDER: u32 = 0x10;

/// Why a file is not a supported container.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ContainerError {
    /// Reading failed.
    #[error("cannot read the file")]
    Io(#[source] io::Error),
    /// Not a ZIP file, or one whose end is missing.
    #[error("not an .alf archive, or the file is truncated")]
    NotZip,
    /// Bytes before, between or after the entries, or headers that contradict each other.
    #[error("the structure of the ZIP archive is damaged: {what}")]
    Damaged {
        /// What is wrong.
        what: &'static str,
        /// The entry where it was noticed, if any.
        entry: Option<String>,
    },
    /// A name that must not become a file name.
    #[error("the entry name {name:?} {fault}")]
    UnsafeName {
        /// The name, with what is not UTF-8 replaced.
        name: String,
        /// What is wrong with it.
        fault: NameFault,
    },
    /// Two names that some system treats as the same.
    #[error("the entry name {0:?} collides with another entry")]
    Collision(String),
    /// A link, a device or another special file.
    #[error("the entry {0:?} is not a regular file")]
    SpecialFile(String),
    /// Two entries share bytes.
    #[error("the entry {0:?} overlaps another entry")]
    Overlap(String),
    /// Encrypted by ZIP's own means.
    #[error("the entry {0:?} is encrypted")]
    Encrypted(String),
    /// A compression method other than deflate.
    #[error("the entry {name:?} uses compression method {method}, not stored or deflate")]
    Method {
        /// The entry.
        name: String,
        /// ZIP's number of the method.
        method: u16,
    },
    /// More entries than the limits allow.
    #[error("the archive has {count} entries, more than {limit}")]
    TooManyEntries {
        /// Entries found or announced.
        count: u64,
        /// The limit.
        limit: u64,
    },
    /// Names that take more memory than the limits allow.
    #[error("the names of the entries have more than {limit} bytes")]
    NamesTooLong {
        /// The limit.
        limit: u64,
    },
    /// Larger than the limits allow once inflated.
    #[error("the archive inflates to more than {limit} bytes")]
    TooLarge {
        /// The limit.
        limit: u64,
    },
    /// Inflates far more than text can.
    #[error("the entry {name:?} inflates from {packed} to {size} bytes, like a bomb")]
    Bomb {
        /// The entry.
        name: String,
        /// Bytes in the archive.
        packed: u64,
        /// Bytes inflated.
        size: u64,
    },
}

impl ContainerError {
    /// Returns true when the file is dangerous, false when it is only damaged.
    #[must_use]
    pub fn is_unsafe(&self) -> bool {
        // Any fault that is not known to be harmless damage counts as an attack.
        !matches!(self, Self::Io(_) | Self::NotZip | Self::Damaged { .. } | Self::Method { .. })
    }
}

/// One entry of an open container.
#[derive(Debug)]
pub(crate) struct ContainerEntry {
    pub(crate) path: String,
    pub(crate) size: u64,
    pub(crate) packed_size: u64,
    method: CompressionMethod,
    crc: u32,
    data_start: u64,
}

/// An open container whose structure is sound.
pub(crate) struct Container {
    zip: ZipArchive<Bytes>,
    entries: Vec<ContainerEntry>,
    /// Positions in `entries`, sorted by path.
    by_path: Vec<u32>,
    folders: Vec<String>,
    seal: Seal,
    length: u64,
}

impl Container {
    /// Opens a container of a known length and checks its structure and its seal.
    pub(crate) fn open(
        source: Bytes,
        length: u64,
        limits: &Limits,
    ) -> Result<Self, ContainerError> {
        let mut buffer = vec![0; RECOMMENDED_BUFFER_SIZE];
        // The end record, its comment and nothing after it: at most 64 KiB and a few bytes.
        let zip = ZipLocator::new()
            .max_search_space(66 << 10)
            .locate_in_reader(source, &mut buffer, length)
            .map_err(|(_, error)| match error.into_kind() {
                rawzip::ErrorKind::IO(error) => ContainerError::Io(error),
                _ => ContainerError::NotZip,
            })?;
        let damaged = |what| ContainerError::Damaged { what, entry: None };
        if zip.end_offset() != length {
            return Err(damaged("bytes follow the end of the archive"));
        }
        end::check(zip.get_ref(), zip.eocd_offset(), zip.directory_offset())
            .map_err(ContainerError::Io)?
            .map_err(damaged)?;
        let announced = zip.entries_hint();
        let too_many = |count| ContainerError::TooManyEntries { count, limit: limits.max_entries };
        if announced > limits.max_entries {
            return Err(too_many(announced));
        }
        let mut comment = Vec::new();
        zip.comment().read_to_end(&mut comment).map_err(ContainerError::Io)?;
        let seal = seal::check(zip.get_ref(), length, &comment).map_err(ContainerError::Io)?;

        let mut scan = Scan::new(limits);
        let mut records = zip.entries(&mut buffer);
        let mut count = 0;
        while let Some(record) =
            records.next_entry().map_err(|_| damaged("the directory cannot be read"))?
        {
            count += 1;
            if count > limits.max_entries {
                return Err(too_many(count));
            }
            if count > announced {
                break;
            }
            check_disk(zip.get_ref(), &record)?;
            scan.take(&record)?;
        }
        if count != announced {
            return Err(damaged("the directory has another number of entries than it says"));
        }
        let Scan { mut entries, folders, mut spans, total, .. } = scan;
        check_layout(&zip, &mut entries, &mut spans)?;
        if total > limits.ratio_free_bytes && ratio(total, length) > limits.max_ratio {
            return Err(spread_bomb(&entries));
        }
        let mut by_path: Vec<u32> = (0_u32..).take(entries.len()).collect();
        by_path.sort_unstable_by(|a, b| entries[*a as usize].path.cmp(&entries[*b as usize].path));
        Ok(Self { zip, entries, by_path, folders, seal, length })
    }

    pub(crate) fn seal(&self) -> Seal {
        self.seal
    }

    pub(crate) fn length(&self) -> u64 {
        self.length
    }

    /// Returns the file entries in the order of the directory.
    pub(crate) fn entries(&self) -> &[ContainerEntry] {
        &self.entries
    }

    /// Returns explicit folder entries, as `zip -r` makes them.
    pub(crate) fn folders(&self) -> &[String] {
        &self.folders
    }

    pub(crate) fn get(&self, path: &str) -> Option<&ContainerEntry> {
        self.position(path).map(|at| &self.entries[at])
    }

    /// Returns where an entry is among [`Container::entries`].
    pub(crate) fn position(&self, path: &str) -> Option<usize> {
        let path_of = |at: &u32| self.entries[*at as usize].path.as_str();
        let found = self.by_path.binary_search_by(|at| path_of(at).cmp(path)).ok()?;
        Some(self.by_path[found] as usize)
    }

    /// Reads an entry; the reader fails at the end if size, CRC or digest is wrong.
    pub(crate) fn read<'a>(
        &'a self,
        entry: &ContainerEntry,
        sha256: Option<String>,
    ) -> EntryReader<'a> {
        let packed = PackedReader::new(self.packed_range(entry));
        let content = if entry.method == CompressionMethod::STORE {
            Content::Stored(packed)
        } else {
            Content::Deflated(Box::new(DeflateDecoder::new(packed)))
        };
        EntryReader {
            content,
            crc: crc32fast::Hasher::new(),
            hasher: sha256.is_some().then(Sha256::new),
            read: 0,
            size: entry.size,
            packed_size: entry.packed_size,
            expected_crc: entry.crc,
            expected_sha256: sha256,
            done: false,
        }
    }

    /// Returns an entry as it is in the file, to be copied elsewhere.
    pub(crate) fn packed<'a>(&'a self, entry: &'a ContainerEntry) -> PackedEntry<'a> {
        PackedEntry {
            path: &entry.path,
            method: entry.method,
            crc: entry.crc,
            size: entry.size,
            container: self,
            entry,
        }
    }

    fn packed_range(&self, entry: &ContainerEntry) -> RangeReader<&Bytes> {
        let start = entry.data_start;
        RangeReader::new(self.zip.get_ref(), start..start + entry.packed_size)
    }
}

/// An entry that is still packed.
pub(crate) struct PackedEntry<'a> {
    pub(crate) path: &'a str,
    pub(crate) method: CompressionMethod,
    pub(crate) crc: u32,
    pub(crate) size: u64,
    container: &'a Container,
    entry: &'a ContainerEntry,
}

impl PackedEntry<'_> {
    pub(crate) fn reader(&self) -> impl Read + '_ {
        self.container.packed_range(self.entry)
    }
}

/// The state while the directory is read.
struct Scan<'a> {
    limits: &'a Limits,
    names: Names,
    total: u64,
    name_bytes: u64,
    entries: Vec<ContainerEntry>,
    folders: Vec<String>,
    /// Where each record's local header starts, and which file entry it is, if one.
    spans: Vec<Span>,
}

struct Span {
    offset: u64,
    wayfinder: ZipArchiveEntryWayfinder,
    name: String,
    method: CompressionMethod,
    crc: u32,
    size: u64,
    packed_size: u64,
    entry: Option<usize>,
}

impl<'a> Scan<'a> {
    fn new(limits: &'a Limits) -> Self {
        Self {
            limits,
            names: Names::default(),
            total: 0,
            name_bytes: 0,
            entries: Vec::new(),
            folders: Vec::new(),
            spans: Vec::new(),
        }
    }

    fn take(&mut self, record: &rawzip::ZipFileHeaderRecord<'_>) -> Result<(), ContainerError> {
        let raw = record.file_path();
        let bytes = raw.as_ref();
        let lossy = || String::from_utf8_lossy(bytes).into_owned();
        self.name_bytes += bytes.len() as u64;
        if self.name_bytes > self.limits.max_name_bytes {
            return Err(ContainerError::NamesTooLong { limit: self.limits.max_name_bytes });
        }
        let unsafe_name = |fault| ContainerError::UnsafeName { name: lossy(), fault };
        let name = std::str::from_utf8(bytes).map_err(|_| unsafe_name(NameFault::NotUtf8))?;
        if !is_utf8(record.flags(), record.extra_fields(), bytes) {
            return Err(unsafe_name(NameFault::Unmarked));
        }
        if is_encrypted(record.flags()) {
            return Err(ContainerError::Encrypted(lossy()));
        }
        let is_folder = name.ends_with('/');
        entry_path::check(name.strip_suffix('/').unwrap_or(name)).map_err(unsafe_name)?;
        check_file_type(record, name, is_folder)?;
        let damaged = |what| ContainerError::Damaged { what, entry: Some(name.to_owned()) };
        check_extra_fields(record.extra_fields(), bytes).map_err(damaged)?;
        let (size, packed_size) = (record.uncompressed_size_hint(), record.compressed_size_hint());
        let method = record.compression_method();
        if method != CompressionMethod::STORE && method != CompressionMethod::DEFLATE {
            return Err(ContainerError::Method { name: lossy(), method: method.as_u16() });
        }
        if method == CompressionMethod::STORE && size != packed_size {
            return Err(damaged("a stored entry has two sizes"));
        }
        if is_folder && size != 0 {
            return Err(damaged("a folder has content"));
        }
        let fresh =
            if is_folder { self.names.insert_folder(name) } else { self.names.insert_file(name) };
        if !fresh {
            return Err(ContainerError::Collision(lossy()));
        }
        let is_large = size > self.limits.ratio_free_bytes;
        if is_large && ratio(size, packed_size) > self.limits.max_ratio {
            return Err(ContainerError::Bomb { name: lossy(), packed: packed_size, size });
        }
        self.total = self.total.saturating_add(size);
        if self.total > self.limits.max_total_bytes {
            return Err(ContainerError::TooLarge { limit: self.limits.max_total_bytes });
        }
        let entry = if is_folder {
            self.folders.push(name.to_owned());
            None
        } else {
            self.entries.push(ContainerEntry {
                path: name.to_owned(),
                size,
                packed_size,
                method,
                crc: record.crc32(),
                data_start: 0,
            });
            Some(self.entries.len() - 1)
        };
        self.spans.push(Span {
            offset: record.local_header_offset(),
            wayfinder: record.wayfinder(),
            name: name.to_owned(),
            method,
            crc: record.crc32(),
            size,
            packed_size,
            entry,
        });
        Ok(())
    }
}

/// Returns how many times larger an entry is than its packed form.
fn ratio(size: u64, packed_size: u64) -> u64 {
    size / packed_size.max(1)
}

/// Names the worst part of a bomb whose parts are too small to be bombs themselves.
fn spread_bomb(entries: &[ContainerEntry]) -> ContainerError {
    let worst = entries.iter().max_by_key(|entry| ratio(entry.size, entry.packed_size));
    let (name, packed, size) =
        worst.map(|worst| (worst.path.clone(), worst.packed_size, worst.size)).unwrap_or_default();
    ContainerError::Bomb { name, packed, size }
}

/// Rejects an entry that claims to start on another disk; the library does not check this.
fn check_disk(
    source: &Bytes,
    record: &rawzip::ZipFileHeaderRecord<'_>,
) -> Result<(), ContainerError> {
    const DISK_NUMBER_AT: u64 = 34;
    let mut disk = [0; 2];
    let at = record.central_directory_offset() + DISK_NUMBER_AT;
    source.read_exact_at(&mut disk, at).map_err(ContainerError::Io)?;
    // A full field points to the ZIP64 field, which has room for it.
    let wide = record.extra_fields().any(|(id, data)| id.as_u16() == ZIP64 && data.len() == 28);
    if disk == [0; 2] || (disk == [0xff; 2] && wide) {
        return Ok(());
    }
    Err(ContainerError::Damaged { what: "an entry is on another disk", entry: None })
}

/// Returns true when every reader decodes a name as we do.
fn is_utf8(flags: EntryFlags, mut fields: ExtraFields<'_>, name: &[u8]) -> bool {
    let is_repeated =
        |(id, data): (ExtraFieldId, _)| id.as_u16() == UNICODE_PATH && is_name(data, name);
    name.is_ascii() || flags.is_utf8() || fields.any(is_repeated)
}

/// Returns true when the content or the metadata of an entry are encrypted.
fn is_encrypted(flags: EntryFlags) -> bool {
    const PATCHED: u16 = 1 << 5;
    flags.is_encrypted()
        || flags.has_strong_encryption()
        || flags.is_masked()
        || flags.bits() & PATCHED != 0
}

/// Rejects extra fields that other readers would understand differently.
fn check_extra_fields(fields: ExtraFields<'_>, name: &[u8]) -> Result<(), &'static str> {
    let mut zip64_fields = 0;
    for (id, data) in fields {
        match id.as_u16() {
            UNICODE_PATH if !is_name(data, name) => {
                return Err("an extra field gives the entry another name");
            }
            ZIP64 => zip64_fields += 1,
            _ => {}
        }
    }
    if zip64_fields > 1 { Err("an entry has two ZIP64 fields") } else { Ok(()) }
}

/// Returns true when a UTF-8 name field repeats the entry's name, byte for byte.
fn is_name(data: &[u8], name: &[u8]) -> bool {
    data.first() == Some(&1)
        && data.get(1..5) == Some(&crc32fast::hash(name).to_le_bytes())
        && data.get(5..) == Some(name)
}

fn check_file_type(
    record: &rawzip::ZipFileHeaderRecord<'_>,
    name: &str,
    is_folder: bool,
) -> Result<(), ContainerError> {
    let special = || ContainerError::SpecialFile(name.to_owned());
    // The upper half is the Unix mode; its top four bits are the type, 0 when the tool is from
    // another system.
    let unix_type = (record.external_attributes() >> 16) & 0o170_000;
    match (unix_type, is_folder) {
        (0 | 0o040_000, true) | (0 | 0o100_000, false) => {}
        _ => return Err(special()),
    }
    if !is_folder && record.external_attributes() & DOS_FOLDER != 0 {
        return Err(special());
    }
    Ok(())
}

/// Checks that entries follow each other without gaps from the first byte to the directory, and that each local
/// header says what the directory says.
fn check_layout(
    zip: &ZipArchive<Bytes>,
    entries: &mut [ContainerEntry],
    spans: &mut [Span],
) -> Result<(), ContainerError> {
    spans.sort_unstable_by_key(|span| span.offset);
    let mut buffer = vec![0; 128 << 10];
    let mut expected = 0;
    let directory = zip.directory_offset();
    for (at, span) in spans.iter().enumerate() {
        let name = || span.name.clone();
        let damaged = |what| ContainerError::Damaged { what, entry: Some(name()) };
        if span.offset < expected {
            return Err(ContainerError::Overlap(name()));
        }
        if span.offset > expected {
            return Err(damaged("there are bytes between two entries"));
        }
        let unreadable = |_| damaged("the local header cannot be read");
        let local = zip.get_entry(span.wayfinder).map_err(unreadable)?;
        let header = local.local_header(&mut buffer).map_err(unreadable)?;
        if header.file_path().as_ref() != span.name.as_bytes() {
            return Err(damaged("the local header has another name"));
        }
        if header.compression_method() != span.method {
            return Err(damaged("the local header has another compression method"));
        }
        if is_encrypted(header.flags()) {
            return Err(ContainerError::Encrypted(name()));
        }
        if !is_utf8(header.flags(), header.extra_fields(), span.name.as_bytes()) {
            return Err(damaged("the local header gives the name in another encoding"));
        }
        check_extra_fields(header.extra_fields(), span.name.as_bytes()).map_err(damaged)?;
        let (start, end) = local.compressed_data_range();
        let descriptor = local.reader().data_descriptor().map_err(unreadable)?;
        if header.flags().has_data_descriptor() != descriptor.is_some() {
            return Err(damaged("only one of the two headers announces a data descriptor"));
        }
        let is = (span.crc, span.size, span.packed_size);
        let said = (header.crc32(), header.uncompressed_size_hint(), header.compressed_size_hint());
        let agrees = match &descriptor {
            Some(descriptor) => {
                let left_out = |field: u64| field == 0 || field == u64::from(u32::MAX);
                (descriptor.crc32(), descriptor.uncompressed_size(), descriptor.compressed_size())
                    == is
                    && (said.0 == is.0 || left_out(said.0.into()))
                    && (said.1 == is.1 || left_out(said.1))
                    && (said.2 == is.2 || left_out(said.2))
            }
            None => said == is,
        };
        if !agrees || end - start != span.packed_size {
            return Err(damaged("the local header has another size or CRC"));
        }
        expected = end;
        if descriptor.is_some() {
            let next = spans.get(at + 1).map_or(directory, |next| next.offset);
            let length = descriptor_length(zip.get_ref(), end..next, span)?;
            expected += length.ok_or_else(|| damaged("the data descriptor is damaged"))?;
        }
        if let Some(at) = span.entry {
            entries[at].data_start = start;
        }
    }
    if expected == directory {
        Ok(())
    } else if expected > directory {
        let name = spans.last().map(|span| span.name.clone()).unwrap_or_default();
        Err(ContainerError::Overlap(name))
    } else {
        Err(ContainerError::Damaged {
            what: "there are bytes between the entries and the directory",
            entry: None,
        })
    }
}

/// Returns the length of the data descriptor in the gap after an entry: with or without its
/// signature, 32 or 64 bit; `None` when the bytes are not a descriptor of this entry.
fn descriptor_length(
    source: &Bytes,
    room: Range<u64>,
    span: &Span,
) -> Result<Option<u64>, ContainerError> {
    let length = room.end.saturating_sub(room.start);
    if !matches!(length, 12 | 16 | 20 | 24) {
        // The caller reports entries that overlap or leave a gap.
        return Ok(Some(12));
    }
    let mut bytes = vec![0; usize::try_from(length).unwrap_or(0)];
    source.read_exact_at(&mut bytes, room.start).map_err(ContainerError::Io)?;
    let is_it = |fields: &[u8]| match (fields, u32::try_from(span.size)) {
        ([crc @ .., _, _, _, _, _, _, _, _], Ok(size)) if fields.len() == 12 => {
            crc == span.crc.to_le_bytes()
                && fields[4..8] == (span.packed_size as u32).to_le_bytes()
                && fields[8..12] == size.to_le_bytes()
        }
        (fields, _) if fields.len() == 20 => {
            fields[..4] == span.crc.to_le_bytes()
                && fields[4..12] == span.packed_size.to_le_bytes()
                && fields[12..20] == span.size.to_le_bytes()
        }
        _ => false,
    };
    let fits = is_it(&bytes) || bytes.strip_prefix(b"PK\x07\x08").is_some_and(is_it);
    Ok(fits.then_some(length))
}

enum Content<'a> {
    Stored(PackedReader<'a>),
    Deflated(Box<DeflateDecoder<PackedReader<'a>>>),
}

type PackedReader<'a> = BufReader<RangeReader<&'a Bytes>>;

/// Reads an entry and checks it against its description in the archive.
pub struct EntryReader<'a> {
    content: Content<'a>,
    crc: crc32fast::Hasher,
    hasher: Option<Sha256>,
    read: u64,
    size: u64,
    packed_size: u64,
    expected_crc: u32,
    expected_sha256: Option<String>,
    done: bool,
}

impl std::fmt::Debug for EntryReader<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("EntryReader").field("read", &self.read).field("size", &self.size).finish()
    }
}

/// Content that differs from its description in the archive.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ContentFault {
    /// More or fewer bytes than announced.
    #[error("the size of the content is not the announced one")]
    Size,
    /// Another CRC-32.
    #[error("the CRC of the content is not the announced one")]
    Crc,
    /// Another SHA-256: the entry was edited after the archive was written.
    #[error("the content has SHA-256 {}, the manifest says {}", short(actual), short(expected))]
    Digest {
        /// The digest in the manifest.
        expected: String,
        /// The digest of the content.
        actual: String,
    },
    /// Bytes after the end of the deflate stream.
    #[error("there are bytes after the packed content")]
    Trailing,
}

/// Returns the start of a digest, which is enough for people to tell two apart.
pub(crate) fn short(digest: &str) -> String {
    let start: String = digest.chars().take(12).collect();
    if start.len() < digest.len() { format!("{start}...") } else { start }
}

impl EntryReader<'_> {
    fn verify(&mut self) -> Result<(), ContentFault> {
        if self.read != self.size {
            return Err(ContentFault::Size);
        }
        if let Content::Deflated(decoder) = &self.content
            && decoder.total_in() != self.packed_size
        {
            return Err(ContentFault::Trailing);
        }
        if std::mem::take(&mut self.crc).finalize() != self.expected_crc {
            return Err(ContentFault::Crc);
        }
        if let (Some(hasher), Some(expected)) = (self.hasher.take(), self.expected_sha256.take()) {
            let actual = Hex(&hasher.finalize()).to_string();
            if actual != expected {
                return Err(ContentFault::Digest { expected, actual });
            }
        }
        Ok(())
    }
}

impl Read for EntryReader<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() || self.done {
            return Ok(0);
        }
        let read = match &mut self.content {
            Content::Stored(reader) => reader.read(buffer),
            Content::Deflated(reader) => reader.read(buffer),
        }
        .map_err(|error| match error.kind() {
            // The decoder reports a bad stream as invalid input, which is meaningless to a caller.
            io::ErrorKind::InvalidInput => io::Error::new(io::ErrorKind::InvalidData, error),
            _ => error,
        })?;
        self.read += read as u64;
        let fault = |fault| io::Error::new(io::ErrorKind::InvalidData, fault);
        if self.read > self.size {
            return Err(fault(ContentFault::Size));
        }
        self.crc.update(&buffer[..read]);
        if let Some(hasher) = &mut self.hasher {
            hasher.update(&buffer[..read]);
        }
        if read == 0 {
            self.done = true;
            self.verify().map_err(fault)?;
        }
        Ok(read)
    }
}

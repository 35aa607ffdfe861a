//! Writes ZIP files field by field, so that any field can be false.
//!
//! ```text
//! front
//! before  local header  name  extra  data  descriptor      for each item
//! before_directory
//! central header  name  extra                              for each item
//! after_directory
//! end record (with its ZIP64 form in front, if asked for)
//! comment
//! tail
//! ```

use std::io::Write as _;

use flate2::Compression;
use flate2::write::DeflateEncoder;
use sha2::{Digest as _, Sha256};

pub(crate) const STORED: u16 = 0;
pub(crate) const DEFLATED: u16 = 8;

pub(crate) const ENCRYPTED: u16 = 1;
pub(crate) const DESCRIBED: u16 = 1 << 3;
pub(crate) const UTF8: u16 = 1 << 11;

/// Made on Unix, by version 2.0 of the format.
const UNIX: u16 = 3 << 8 | 20;
const REGULAR_FILE: u32 = 0o100_644;
const FOLDER: u32 = 0o040_755;

/// 1980-01-01 in the format of MS-DOS.
const DATE: u16 = 1 << 5 | 1;

/// What the local and the central header of an entry both say.
#[derive(Clone)]
pub(crate) struct Header {
    pub(crate) flags: u16,
    pub(crate) method: u16,
    pub(crate) crc: u32,
    pub(crate) packed_size: u32,
    pub(crate) size: u32,
    pub(crate) name: Vec<u8>,
    pub(crate) extra: Vec<u8>,
}

/// One entry.
#[derive(Clone)]
pub(crate) struct Item {
    /// Bytes that belong to no entry, before this one.
    pub(crate) before: Vec<u8>,
    /// The local header; without one only the directory knows the entry.
    pub(crate) local: Option<Header>,
    pub(crate) data: Vec<u8>,
    pub(crate) descriptor: Vec<u8>,
    /// The central header; without one the directory does not know the entry.
    pub(crate) central: Option<Header>,
    pub(crate) made_by: u16,
    pub(crate) attributes: u32,
    pub(crate) disk: u16,
    /// What the directory says instead of the true offset.
    pub(crate) offset: Option<u32>,
}

impl Item {
    pub(crate) fn stored(name: impl AsRef<[u8]>, content: impl AsRef<[u8]>) -> Self {
        let content = content.as_ref();
        Self::new(name.as_ref(), STORED, content, content.to_vec())
    }

    pub(crate) fn deflated(name: impl AsRef<[u8]>, content: impl AsRef<[u8]>) -> Self {
        let content = content.as_ref();
        Self::new(name.as_ref(), DEFLATED, content, deflate(content))
    }

    pub(crate) fn folder(name: &str) -> Self {
        Self { attributes: FOLDER << 16 | 0x10, ..Self::stored(name, "") }
    }

    fn new(name: &[u8], method: u16, content: &[u8], data: Vec<u8>) -> Self {
        let header = Header {
            flags: if name.is_ascii() { 0 } else { UTF8 },
            method,
            crc: crc32fast::hash(content),
            packed_size: short(data.len()),
            size: short(content.len()),
            name: name.to_vec(),
            extra: Vec::new(),
        };
        Self {
            before: Vec::new(),
            local: Some(header.clone()),
            data,
            descriptor: Vec::new(),
            central: Some(header),
            made_by: UNIX,
            attributes: REGULAR_FILE << 16,
            disk: 0,
            offset: None,
        }
    }

    /// Changes the local header.
    pub(crate) fn local(mut self, change: impl FnOnce(&mut Header)) -> Self {
        self.local.as_mut().map(change);
        self
    }

    /// Changes the central header.
    pub(crate) fn central(mut self, change: impl FnOnce(&mut Header)) -> Self {
        self.central.as_mut().map(change);
        self
    }

    /// Changes both headers.
    pub(crate) fn both(self, change: impl Fn(&mut Header)) -> Self {
        self.local(&change).central(&change)
    }

    /// Gives the entry a Unix file type and mode.
    pub(crate) fn mode(mut self, mode: u32) -> Self {
        self.attributes = mode << 16;
        self
    }

    /// Moves sizes and CRC from the local header into a data descriptor.
    pub(crate) fn described(mut self, signature: Signature, width: Width) -> Self {
        let Some(header) = self.central.clone() else {
            return self;
        };
        if signature == Signature::Present {
            self.descriptor.extend(b"PK\x07\x08");
        }
        self.descriptor.extend(header.crc.to_le_bytes());
        for size in [header.packed_size, header.size] {
            match width {
                Width::Narrow => self.descriptor.extend(size.to_le_bytes()),
                Width::Wide => self.descriptor.extend(u64::from(size).to_le_bytes()),
            }
        }
        self.both(|header| header.flags |= DESCRIBED).local(|header| {
            (header.crc, header.packed_size, header.size) = (0, 0, 0);
        })
    }

    /// Moves both sizes into a ZIP64 extra field, in both headers.
    pub(crate) fn wide(self) -> Self {
        self.both(|header| {
            let sizes = [u64::from(header.size), u64::from(header.packed_size)];
            header.extra.extend(extra(1, &sizes.map(u64::to_le_bytes).concat()));
            (header.size, header.packed_size) = (u32::MAX, u32::MAX);
        })
    }
}

/// Whether a data descriptor starts with its signature.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Signature {
    Present,
    Absent,
}

/// Whether the sizes of a data descriptor have 32 or 64 bits.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Width {
    Narrow,
    Wide,
}

/// A whole file; what is `None` is the truth.
#[derive(Clone, Default)]
pub(crate) struct Zip {
    pub(crate) front: Vec<u8>,
    /// Whether offsets count from behind `front`, as if it had been put there later.
    pub(crate) front_uncounted: bool,
    pub(crate) items: Vec<Item>,
    pub(crate) before_directory: Vec<u8>,
    /// Whether the directory lists the entries from the last to the first.
    pub(crate) reversed_directory: bool,
    pub(crate) after_directory: Vec<u8>,
    pub(crate) zip64: Option<Zip64>,
    pub(crate) disk: u16,
    pub(crate) directory_disk: u16,
    pub(crate) entries_here: Option<u16>,
    pub(crate) entries: Option<u16>,
    pub(crate) directory_size: Option<u32>,
    pub(crate) directory_offset: Option<u32>,
    pub(crate) comment: Vec<u8>,
    pub(crate) tail: Vec<u8>,
}

/// The ZIP64 form of the end record; what is `None` is the truth.
#[derive(Clone, Default)]
pub(crate) struct Zip64 {
    pub(crate) entries: Option<u64>,
    pub(crate) record_offset: Option<u64>,
    /// Whether the plain end record says the same, where it could send the reader here.
    pub(crate) repeated: bool,
}

impl Zip {
    pub(crate) fn new(items: Vec<Item>) -> Self {
        Self { items, ..Self::default() }
    }

    pub(crate) fn bytes(&self) -> Vec<u8> {
        let base = if self.front_uncounted { self.front.len() } else { 0 };
        let mut out = self.front.clone();
        let mut records = Vec::new();
        for item in &self.items {
            out.extend(&item.before);
            let offset = item.offset.unwrap_or_else(|| short(out.len() - base));
            if let Some(header) = &item.local {
                out.extend(b"PK\x03\x04\x14\x00");
                out.extend(fixed(header));
                out.extend(&header.name);
                out.extend(&header.extra);
            }
            out.extend(&item.data);
            out.extend(&item.descriptor);
            records.extend(item.central.as_ref().map(|header| central(item, header, offset)));
        }
        if self.reversed_directory {
            records.reverse();
        }
        out.extend(&self.before_directory);
        let start = out.len() - base;
        let directory = records.concat();
        out.extend(&directory);
        out.extend(&self.after_directory);
        self.write_end(&mut out, base, records.len(), directory.len(), start);
        out.extend(&self.comment);
        out.extend(&self.tail);
        out
    }

    /// Writes the file with a seal as its comment: the digest of every byte before it.
    pub(crate) fn sealed(mut self) -> Vec<u8> {
        let prefix = b"alf-seal:sha256:";
        self.comment = vec![b'0'; prefix.len() + 64];
        let mut bytes = self.bytes();
        let end = bytes.len() - self.comment.len() - self.tail.len();
        let digest = sha256(&bytes[..end]);
        bytes[end..end + 16].copy_from_slice(prefix);
        bytes[end + 16..end + 80].copy_from_slice(digest.as_bytes());
        bytes
    }

    fn write_end(&self, out: &mut Vec<u8>, base: usize, entries: usize, size: usize, start: usize) {
        let mut plain = (short(entries) as u16, short(size), short(start));
        if let Some(zip64) = &self.zip64 {
            let record = out.len() - base;
            out.extend(b"PK\x06\x06");
            out.extend(44_u64.to_le_bytes());
            out.extend([45, 3, 45, 0]);
            out.extend([0; 8]);
            let count = zip64.entries.unwrap_or(entries as u64);
            for value in [count, count, size as u64, start as u64] {
                out.extend(value.to_le_bytes());
            }
            out.extend(b"PK\x06\x07\x00\x00\x00\x00");
            out.extend(zip64.record_offset.unwrap_or(record as u64).to_le_bytes());
            out.extend(1_u32.to_le_bytes());
            if !zip64.repeated {
                plain = (u16::MAX, u32::MAX, u32::MAX);
            }
        }
        out.extend(b"PK\x05\x06");
        out.extend(self.disk.to_le_bytes());
        out.extend(self.directory_disk.to_le_bytes());
        out.extend(self.entries_here.unwrap_or(plain.0).to_le_bytes());
        out.extend(self.entries.unwrap_or(plain.0).to_le_bytes());
        out.extend(self.directory_size.unwrap_or(plain.1).to_le_bytes());
        out.extend(self.directory_offset.unwrap_or(plain.2).to_le_bytes());
        out.extend((short(self.comment.len()) as u16).to_le_bytes());
    }
}

/// The part that both headers have, from the flags to the length of the extra field.
fn fixed(header: &Header) -> Vec<u8> {
    let mut out = Vec::new();
    out.extend(header.flags.to_le_bytes());
    out.extend(header.method.to_le_bytes());
    out.extend(0_u16.to_le_bytes());
    out.extend(DATE.to_le_bytes());
    out.extend(header.crc.to_le_bytes());
    out.extend(header.packed_size.to_le_bytes());
    out.extend(header.size.to_le_bytes());
    out.extend((short(header.name.len()) as u16).to_le_bytes());
    out.extend((short(header.extra.len()) as u16).to_le_bytes());
    out
}

fn central(item: &Item, header: &Header, offset: u32) -> Vec<u8> {
    let mut out = b"PK\x01\x02".to_vec();
    out.extend(item.made_by.to_le_bytes());
    out.extend([20, 0]);
    out.extend(fixed(header));
    out.extend(0_u16.to_le_bytes());
    out.extend(item.disk.to_le_bytes());
    out.extend(0_u16.to_le_bytes());
    out.extend(item.attributes.to_le_bytes());
    out.extend(offset.to_le_bytes());
    out.extend(&header.name);
    out.extend(&header.extra);
    out
}

/// Makes an extra field.
pub(crate) fn extra(id: u16, data: &[u8]) -> Vec<u8> {
    let length = short(data.len()) as u16;
    [&id.to_le_bytes()[..], &length.to_le_bytes(), data].concat()
}

/// Makes the extra field that gives a name in UTF-8, for an entry that is called `name`.
pub(crate) fn unicode_path(name: &[u8], other: &[u8]) -> Vec<u8> {
    extra(0x7075, &[&[1][..], &crc32fast::hash(name).to_le_bytes(), other].concat())
}

pub(crate) fn deflate(content: &[u8]) -> Vec<u8> {
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::new(9));
    encoder.write_all(content).expect("memory takes any bytes");
    encoder.finish().expect("memory takes any bytes")
}

pub(crate) fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

fn short(length: usize) -> u32 {
    u32::try_from(length).expect("a vector is small")
}

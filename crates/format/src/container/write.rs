//! Writes a container: entries in the order they are given, then the directory and the seal.

use std::collections::VecDeque;
use std::io::{self, Read, Write};

use rawzip::extra_fields::ExtraFieldId;
use rawzip::path::EntryPath;
use rawzip::{CompressionMethod, DataDescriptorOutput, Header, ZipArchiveWriter, ZipEntryWriter};
use sha2::{Digest as _, Sha256};

use super::deflate::{BLOCK_BYTES, Block, Deflated, Pool, Ticket};
use super::read::PackedEntry;
use super::seal::{self, Sealing};
use crate::digest::Hex;
use crate::entry_path::Names;

/// An ordinary file that its owner may write: what unpacking tools should make of an entry.
const PERMISSIONS: u32 = 0o100_644;

/// The sizes and digests of an entry that was written.
pub(crate) struct Written {
    pub(crate) size: u64,
    pub(crate) sha256: String,
}

pub(crate) struct ContainerWriter<W: Write> {
    zip: ZipArchiveWriter<Sealing<W>>,
    pool: Pool,
    /// Names of entries so far; names that our readers would reject are not written.
    names: Names,
    /// Entries of one block that are not written yet.
    waiting: VecDeque<(String, Ticket)>,
    /// Buffers to reuse.
    spare: Vec<Vec<u8>>,
}

impl<W: Write> ContainerWriter<W> {
    pub(crate) fn new(out: W, threads: usize) -> Self {
        Self {
            zip: ZipArchiveWriter::new(Sealing::new(out)),
            pool: Pool::new(threads),
            names: Names::default(),
            waiting: VecDeque::new(),
            spare: Vec::new(),
        }
    }

    /// Adds an entry whose name has been checked.
    pub(crate) fn add(&mut self, path: &str, content: &mut dyn Read) -> io::Result<Written> {
        self.take_name(path)?;
        let mut blocks = Blocks::new(content);
        let first = blocks.next(&mut self.spare)?;
        if first.last {
            self.waiting.push_back((path.to_owned(), self.pool.submit(first)));
            self.flush_waiting(self.pool.depth())?;
        } else {
            self.flush_waiting(0)?;
            let Self { zip, pool, spare, .. } = self;
            let mut ended = false;
            let mut tickets = VecDeque::from([pool.submit(first)]);
            write_entry(zip, path, spare, |spare| {
                while !ended && tickets.len() <= pool.depth() {
                    let block = blocks.next(spare)?;
                    ended = block.last;
                    tickets.push_back(pool.submit(block));
                }
                Ok(tickets.pop_front())
            })?;
        }
        Ok(blocks.finish())
    }

    /// Adds an entry of another container without unpacking it.
    pub(crate) fn copy(&mut self, entry: &PackedEntry<'_>) -> io::Result<()> {
        self.take_name(entry.path)?;
        self.flush_waiting(0)?;
        let mut writer = start_entry(&mut self.zip, entry.path, entry.method)?;
        io::copy(&mut entry.reader(), &mut writer)?;
        let descriptor = DataDescriptorOutput::new(entry.crc, entry.size);
        writer.finish(descriptor).map_err(io::Error::other)?;
        Ok(())
    }

    /// Writes the directory and the seal; returns the writer and the length of the file.
    pub(crate) fn finish(mut self) -> io::Result<(W, u64)> {
        self.flush_waiting(0)?;
        self.zip.set_comment(seal::placeholder());
        self.zip.finish().map_err(io::Error::other)?.finish()
    }

    fn take_name(&mut self, path: &str) -> io::Result<()> {
        if self.names.insert_file(path) { Ok(()) } else { Err(io::ErrorKind::AlreadyExists.into()) }
    }

    fn flush_waiting(&mut self, keep: usize) -> io::Result<()> {
        while self.waiting.len() > keep {
            let Some((path, ticket)) = self.waiting.pop_front() else {
                break;
            };
            let mut ticket = Some(ticket);
            write_entry(&mut self.zip, &path, &mut self.spare, |_| Ok(ticket.take()))?;
        }
        Ok(())
    }
}

/// Writes one entry from its blocks; there is at least one.
fn write_entry<W: Write>(
    zip: &mut ZipArchiveWriter<W>,
    path: &str,
    spare: &mut Vec<Vec<u8>>,
    mut next: impl FnMut(&mut Vec<Vec<u8>>) -> io::Result<Option<Ticket>>,
) -> io::Result<()> {
    let Some(first) = next(spare)? else {
        return Ok(());
    };
    let mut done = first.wait();
    let method = method_for(&done);
    let mut writer = start_entry(zip, path, method)?;
    let mut crc = crc32fast::Hasher::new();
    let mut size = 0;
    loop {
        let stored = method == CompressionMethod::STORE;
        writer.write_all(if stored { &done.data } else { &done.packed })?;
        crc.combine(&done.crc);
        size += done.data.len() as u64;
        spare.push(done.data);
        match next(spare)? {
            Some(ticket) => done = ticket.wait(),
            None => break,
        }
    }
    let descriptor = DataDescriptorOutput::new(crc.finalize(), size);
    writer.finish(descriptor).map_err(io::Error::other)?;
    Ok(())
}

/// Starts an entry with exactly this name; by default, the library drops everything before a colon.
fn start_entry<'a, W: Write>(
    zip: &'a mut ZipArchiveWriter<W>,
    path: &str,
    method: CompressionMethod,
) -> io::Result<ZipEntryWriter<'a, W>> {
    let is_exact = path.contains(':');
    let name =
        if is_exact { EntryPath::verbatim(path.as_bytes()) } else { EntryPath::conformant(path) };
    let mut builder = zip.new_file(name).compression_method(method).unix_permissions(PERMISSIONS);
    if is_exact && !path.is_ascii() {
        // An exact name is written without the UTF-8 flag, so this field marks it as UTF-8.
        let crc = crc32fast::hash(path.as_bytes()).to_le_bytes();
        let field = [&[1], &crc[..], path.as_bytes()].concat();
        let id = ExtraFieldId::INFO_ZIP_UNICODE_PATH;
        builder = builder.extra_field(id, &field, Header::default()).map_err(io::Error::other)?;
    }
    let (writer, _) = builder.start().map_err(io::Error::other)?;
    Ok(writer)
}

/// Pictures and the like do not shrink; they are stored, which is faster to read back.
fn method_for(first: &Deflated) -> CompressionMethod {
    if first.packed.len() + first.data.len() / 32 >= first.data.len() {
        CompressionMethod::STORE
    } else {
        CompressionMethod::DEFLATE
    }
}

/// Cuts a stream into blocks of a fixed size and digests it on the way.
struct Blocks<'a> {
    content: &'a mut dyn Read,
    ahead: Option<Vec<u8>>,
    hasher: Sha256,
    size: u64,
}

impl<'a> Blocks<'a> {
    fn new(content: &'a mut dyn Read) -> Self {
        Self { content, ahead: None, hasher: Sha256::new(), size: 0 }
    }

    /// Returns the next block; not to be called after the last one.
    fn next(&mut self, spare: &mut Vec<Vec<u8>>) -> io::Result<Block> {
        let data = match self.ahead.take() {
            Some(data) => data,
            None => self.read(spare)?,
        };
        if data.len() < BLOCK_BYTES {
            return Ok(Block { data, last: true });
        }
        let ahead = self.read(spare)?;
        let last = ahead.is_empty();
        self.ahead = Some(ahead);
        Ok(Block { data, last })
    }

    fn read(&mut self, spare: &mut Vec<Vec<u8>>) -> io::Result<Vec<u8>> {
        let mut block = spare.pop().unwrap_or_default();
        block.clear();
        (&mut *self.content).take(BLOCK_BYTES as u64).read_to_end(&mut block)?;
        self.hasher.update(&block);
        self.size += block.len() as u64;
        Ok(block)
    }

    fn finish(self) -> Written {
        Written { size: self.size, sha256: Hex(&self.hasher.finalize()).to_string() }
    }
}

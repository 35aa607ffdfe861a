//! The end of a ZIP file: the records with the position of its directory.
//!
//! The library finds the directory even if these records are wrong; other readers rely on them, and
//! would see other entries than we do.

use std::io;

use rawzip::ReaderAt;

const END_BYTES: u64 = 22;
const LOCATOR_BYTES: u64 = 20;
const WIDE_END_BYTES: usize = 56;

/// Checks that the end records describe a directory at `directory` on the only disk; `end` is
/// where the last of them starts.
pub(super) fn check(
    source: &impl ReaderAt,
    end: u64,
    directory: u64,
) -> io::Result<Result<(), &'static str>> {
    let mut record = [0; END_BYTES as usize];
    source.read_exact_at(&mut record, end)?;
    let short = |at: usize| u16::from_le_bytes([record[at], record[at + 1]]);
    let long = |at: usize| {
        u32::from_le_bytes([record[at], record[at + 1], record[at + 2], record[at + 3]])
    };
    let (disk, directory_disk) = (short(4), short(6));
    let (here, total) = (short(8), short(10));
    let (size, offset) = (long(12), long(16));
    let wide = match wide_end(source, end)? {
        Some(Err(fault)) => return Ok(Err(fault)),
        Some(Ok(wide)) => Some(wide),
        None => None,
    };
    let in_parts = |disk: u16| disk != 0 && !(wide.is_some() && disk == u16::MAX);
    if in_parts(disk) || in_parts(directory_disk) || here != total {
        return Ok(Err("the archive is one of several parts"));
    }
    let directory_end = wide.as_ref().map_or(end, |wide| wide.starts);
    // A field that is full points to the wide record.
    let stands_for = |field: u32, wide_field: Option<u64>| match wide_field {
        Some(value) if field == u32::MAX => value,
        _ => u64::from(field),
    };
    let size = stands_for(size, wide.as_ref().map(|wide| wide.size));
    let offset = stands_for(offset, wide.as_ref().map(|wide| wide.offset));
    if offset != directory || offset.checked_add(size) != Some(directory_end) {
        return Ok(Err("the directory is not where the end record says"));
    }
    Ok(Ok(()))
}

/// The 64-bit end record.
struct WideEnd {
    starts: u64,
    size: u64,
    offset: u64,
}

fn wide_end(source: &impl ReaderAt, end: u64) -> io::Result<Option<Result<WideEnd, &'static str>>> {
    let Some(at) = end.checked_sub(LOCATOR_BYTES) else {
        return Ok(None);
    };
    let mut locator = [0; LOCATOR_BYTES as usize];
    source.read_exact_at(&mut locator, at)?;
    if !locator.starts_with(b"PK\x06\x07") {
        return Ok(None);
    }
    let starts = read_u64(&locator, 8);
    if locator[4..8] != [0; 4] || locator[16..20] != 1_u32.to_le_bytes() {
        return Ok(Some(Err("the archive is one of several parts")));
    }
    if starts.checked_add(WIDE_END_BYTES as u64) != Some(at) {
        return Ok(Some(Err("the 64-bit end record is not where its locator says")));
    }
    let mut record = [0; WIDE_END_BYTES];
    source.read_exact_at(&mut record, starts)?;
    let one_disk = record[16..24] == [0; 8];
    let same_count = record[24..32] == record[32..40];
    if !record.starts_with(b"PK\x06\x06") || !one_disk || !same_count {
        return Ok(Some(Err("the 64-bit end record is damaged")));
    }
    let (size, offset) = (read_u64(&record, 40), read_u64(&record, 48));
    Ok(Some(Ok(WideEnd { starts, size, offset })))
}

fn read_u64(bytes: &[u8], at: usize) -> u64 {
    let mut field = [0; 8];
    field.copy_from_slice(&bytes[at..at + 8]);
    u64::from_le_bytes(field)
}

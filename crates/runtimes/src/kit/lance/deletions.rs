//! Which rows of a fragment were deleted: a list in an Arrow file, or a Roaring bitmap.

use std::collections::BTreeSet;
use std::io::Read as _;

use super::budget::{Budget, Decoding};
use super::bytes::{Bytes, index, part};
use super::packed::zstd;
use super::protobuf::Message;
use super::{LanceError, MAX_DESCRIPTION, MAX_ROWS};
use crate::kit::Workspace;

/// The file of a fragment that lists its deleted rows.
#[derive(Debug)]
pub(super) struct DeletionFile {
    is_bitmap: bool,
    read_version: u64,
    id: u64,
    count: u64,
}

impl DeletionFile {
    pub(super) fn of(message: &Message<'_>) -> Result<Self, LanceError> {
        if message.number(7) != 0 {
            return Err(LanceError::unsupported("files outside of its folder"));
        }
        let is_bitmap = match message.number(1) {
            0 => false,
            1 => true,
            kind => return Err(LanceError::unsupported(format!("deletions of kind {kind}"))),
        };
        let (read_version, id) = (message.number(2), message.number(3));
        Ok(Self { is_bitmap, read_version, id, count: message.number(4) })
    }

    /// Reads which rows were deleted.
    pub(super) fn read(
        &self,
        store: &Workspace,
        table: &str,
        fragment: u64,
        budget: &Budget,
    ) -> Result<BTreeSet<u32>, LanceError> {
        let Self { is_bitmap, read_version, id, count } = *self;
        let end = if is_bitmap { "bin" } else { "arrow" };
        let path = format!("{table}/_deletions/{fragment}-{read_version}-{id}.{end}");
        let mut bytes = Vec::new();
        store.file(path.as_bytes())?.take(MAX_DESCRIPTION + 1).read_to_end(&mut bytes)?;
        let decoding = Decoding::new(budget, 0);
        decoding.work(bytes.len() as u64)?;
        let rows = if is_bitmap { bitmap(&bytes)? } else { arrow(&bytes, decoding)? };
        decoding.work(rows.len() as u64 * ROW)?;
        // Early versions noted no number.
        if bytes.len() as u64 > MAX_DESCRIPTION || (count > 0 && rows.len() as u64 != count) {
            return Err(LanceError::Damaged("list of deleted rows"));
        }
        Ok(rows)
    }
}

/// What a deleted row counts for, as work: a bitmap has many of them in a few bytes.
const ROW: u64 = 32;

/// A table of a FlatBuffer.
#[derive(Clone, Copy)]
struct FlatTable<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> FlatTable<'a> {
    fn number(bytes: &[u8], at: usize, width: u64) -> Result<u64, LanceError> {
        let bytes = part(bytes, at as u64, width)?;
        Bytes(bytes).number(bytes.len())
    }

    /// Returns the table that a place leads to.
    fn at(bytes: &'a [u8], place: usize) -> Result<Self, LanceError> {
        let distance = index(Self::number(bytes, place, 4)?)?;
        Ok(Self { bytes, at: place + distance })
    }

    /// Returns where a field is; `None` where it is missing.
    fn field(self, number: usize) -> Result<Option<usize>, LanceError> {
        let distance = Self::number(self.bytes, self.at, 4)? as u32;
        let fields = i64::try_from(self.at).ok().map(|at| at - i64::from(distance.cast_signed()));
        let fields = fields.and_then(|at| usize::try_from(at).ok());
        let fields = fields.ok_or(LanceError::Damaged("list of deleted rows"))?;
        let length = index(Self::number(self.bytes, fields, 2)?)?;
        let place = 4 + 2 * number;
        if place + 2 > length {
            return Ok(None);
        }
        let offset = index(Self::number(self.bytes, fields + place, 2)?)?;
        Ok((offset > 0).then_some(self.at + offset))
    }
}

/// Reads the numbers of an Arrow file with one column.
fn arrow(bytes: &[u8], decoding: Decoding<'_>) -> Result<BTreeSet<u32>, LanceError> {
    let damaged = || LanceError::Damaged("list of deleted rows");
    if !bytes.starts_with(b"ARROW1") {
        return Err(damaged());
    }
    let mut rows = BTreeSet::new();
    // The footer says where each message is: its place, the length of its description, and the
    // length of its body, in eight bytes each.
    let end = bytes.len().checked_sub(10).ok_or_else(damaged)?;
    let length = Bytes(&bytes[end..]).u32()? as usize;
    let footer = &bytes[end.checked_sub(length).ok_or_else(damaged)?..end];
    let Some(batches) = FlatTable::at(footer, 0)?.field(3)? else { return Ok(rows) };
    let batches = batches + index(FlatTable::number(footer, batches, 4)?)?;
    let count = FlatTable::number(footer, batches, 4)?;
    let mut blocks = Bytes(part(footer, batches as u64 + 4, count.saturating_mul(24))?);
    while !blocks.0.is_empty() {
        let (start, described, body) = (blocks.u64()?, blocks.u64()? & 0xffff_ffff, blocks.u64()?);
        // A mark and the length come before the description.
        let message = part(bytes, start, described)?.get(8..).ok_or_else(damaged)?;
        let body_at = start.checked_add(described).ok_or_else(damaged)?;
        batch(message, part(bytes, body_at, body)?, &mut rows, decoding)?;
    }
    Ok(rows)
}

/// Reads the numbers of one message.
fn batch(
    message: &[u8],
    body: &[u8],
    rows: &mut BTreeSet<u32>,
    decoding: Decoding<'_>,
) -> Result<(), LanceError> {
    let damaged = || LanceError::Damaged("list of deleted rows");
    let header = FlatTable::at(message, 0)?.field(2)?.ok_or_else(damaged)?;
    let batch = FlatTable::at(message, header)?;
    let Some(length) = batch.field(0)? else { return Ok(()) };
    let length = FlatTable::number(message, length, 8)?;
    let buffers = batch.field(2)?.ok_or_else(damaged)?;
    let buffers = buffers + index(FlatTable::number(message, buffers, 4)?)?;
    // The buffer of nulls comes first.
    let values = buffers + 4 + 16;
    let start = FlatTable::number(message, values, 8)?;
    let stored = part(body, start, FlatTable::number(message, values + 8, 8)?)?;
    let unpacked = match batch.field(3)? {
        None => stored.to_vec(),
        Some(compression) => {
            let codec = FlatTable::at(message, compression)?.field(0)?;
            let codec = codec.map_or(Ok(0), |codec| FlatTable::number(message, codec, 1))?;
            let mut stored = Bytes(stored);
            // A part that does not get smaller is left as it is, with this for its length.
            if stored.u64()? == u64::MAX {
                stored.0.to_vec()
            } else if codec == 1 {
                zstd(stored.0, decoding)?
            } else {
                return Err(LanceError::unsupported("a list of deleted rows in LZ4"));
            }
        }
    };
    if length > MAX_ROWS {
        return Err(damaged());
    }
    // The same part may be named again and again.
    decoding.work(length * ROW)?;
    let mut numbers = Bytes(part(&unpacked, 0, length * 4)?);
    while !numbers.0.is_empty() {
        rows.insert(numbers.u32()?);
    }
    Ok(())
}

/// Reads a Roaring bitmap: sets of numbers with the same upper half.
fn bitmap(bytes: &[u8]) -> Result<BTreeSet<u32>, LanceError> {
    const WITHOUT_RUNS: u32 = 12346;
    const WITH_RUNS: u32 = 12347;
    let damaged = || LanceError::Damaged("list of deleted rows");
    let mut input = Bytes(bytes);
    let cookie = input.u32()?;
    let (count, runs) = match cookie & 0xffff {
        _ if cookie == WITHOUT_RUNS => (input.u32()? as usize, &[][..]),
        WITH_RUNS => {
            let count = (cookie >> 16) as usize + 1;
            (count, input.take(count.div_ceil(8))?)
        }
        _ => return Err(damaged()),
    };
    let mut heads = Bytes(input.take(count.checked_mul(4).ok_or_else(damaged)?)?);
    if runs.is_empty() || count >= 4 {
        input.take(count * 4)?;
    }
    let mut rows = BTreeSet::new();
    for set in 0..count {
        // A few bytes may stand for many rows.
        if rows.len() as u64 > MAX_ROWS {
            return Err(damaged());
        }
        let (high, cardinality) = (u32::from(heads.u16()?) << 16, u32::from(heads.u16()?) + 1);
        if runs.get(set / 8).is_some_and(|bits| bits >> (set % 8) & 1 == 1) {
            let mut free = 0;
            for _ in 0..input.u16()? {
                let (start, more) = (u32::from(input.u16()?), u32::from(input.u16()?));
                let last = start.checked_add(more).filter(|last| *last <= 0xffff);
                // Runs are in order: the same rows again and again would take hours.
                let last = last.filter(|_| start >= free).ok_or_else(damaged)?;
                rows.extend((start..=last).map(|low| high | low));
                free = last + 1;
            }
        } else if cardinality <= 4096 {
            for _ in 0..cardinality {
                rows.insert(high | u32::from(input.u16()?));
            }
        } else {
            let bits = input.take(8192)?;
            let is_set = |low: &u32| bits[*low as usize / 8] >> (low % 8) & 1 == 1;
            rows.extend((0..=0xffff).filter(is_set).map(|low| high | low));
        }
    }
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The bytes of a Roaring bitmap, as its specification has them.
    #[test]
    fn a_bitmap_has_lists_bits_and_runs() {
        let mut list = Vec::new();
        list.extend(12346_u32.to_le_bytes());
        list.extend(1_u32.to_le_bytes());
        // The upper half, the number of values less one, and where they begin.
        list.extend([1, 0, 2, 0, 16, 0, 0, 0]);
        list.extend([3_u16, 5, 65535].map(u16::to_le_bytes).concat());
        let wanted = [0x1_0003, 0x1_0005, 0x1_ffff];
        assert_eq!(bitmap(&list).unwrap().into_iter().collect::<Vec<_>>(), wanted);

        let mut bits = Vec::new();
        bits.extend(12346_u32.to_le_bytes());
        bits.extend(1_u32.to_le_bytes());
        bits.extend([0, 0, 0xff, 0x1f, 16, 0, 0, 0]);
        bits.extend([0xff; 1024]);
        bits.extend([0; 7168]);
        assert_eq!(bitmap(&bits).unwrap(), (0..8192).collect());

        let mut runs = Vec::new();
        runs.extend(12347_u32.to_le_bytes());
        runs.extend([1, 0, 0, 9, 0]);
        runs.extend([2_u16, 10, 4, 100, 4].map(u16::to_le_bytes).concat());
        assert_eq!(bitmap(&runs).unwrap(), (10..=14).chain(100..=104).collect());
        let mut again = runs.clone();
        let last = again.len() - 4;
        again[last..].copy_from_slice(&[10_u16, 4].map(u16::to_le_bytes).concat());
        assert!(bitmap(&again).is_err(), "the same run twice");
        for length in 0..runs.len() {
            assert!(bitmap(&runs[..length]).is_err());
        }
    }

    #[test]
    fn a_few_bytes_do_not_become_billions_of_rows() {
        let mut runs = Vec::new();
        runs.extend((12347_u32 | 0xffff << 16).to_le_bytes());
        runs.extend([0xff; 8192]);
        runs.extend((0..=u16::MAX).flat_map(|high| [high, 0xffff]).flat_map(u16::to_le_bytes));
        runs.extend([0; 4 * 65536]);
        for _ in 0..=u16::MAX {
            runs.extend([1_u16, 0, 0xffff].map(u16::to_le_bytes).concat());
        }
        assert!(bitmap(&runs).is_err());
    }
}

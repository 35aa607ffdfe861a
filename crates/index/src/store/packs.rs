//! Packs: the vectors of many chunks in one row.
//!
//! A search reads all vectors, and a row costs more than the vectors in most rows. A pack fills a
//! page of the database, so that a change writes few bytes besides its own.
//!
//! ```text
//! chunk   u64    entries follow each other in the order of their chunks
//! length  u64
//! bytes   length of them
//! ```

use super::ChunkId;
use super::rows::VECTOR_ROW_BYTES;

/// Bytes of an entry's header.
const HEAD_BYTES: usize = 16;

/// The bytes are not a pack.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a row of vectors is not what was written")]
pub(crate) struct PackDamaged;

/// A pack that is being written.
#[derive(Debug, Default)]
pub(super) struct Pack {
    /// The number of its row: at most its first chunk, and after the chunks of the previous pack.
    first: Option<i64>,
    bytes: Vec<u8>,
}

impl Pack {
    /// Starts a pack in an existing row.
    pub(super) const fn at(first: i64) -> Self {
        Self { first: Some(first), bytes: Vec::new() }
    }

    /// Continues a pack that was written.
    pub(super) const fn of(first: i64, bytes: Vec<u8>) -> Self {
        Self { first: Some(first), bytes }
    }

    /// Whether one more entry fits; any entry fits into an empty pack.
    pub(super) const fn has_room(&self, bytes: &[u8]) -> bool {
        self.bytes.is_empty() || self.bytes.len() + HEAD_BYTES + bytes.len() <= VECTOR_ROW_BYTES
    }

    /// Appends a chunk.
    pub(super) fn push(&mut self, chunk: ChunkId, bytes: &[u8]) {
        self.first.get_or_insert(chunk.0.cast_signed());
        self.bytes.extend_from_slice(&chunk.0.to_le_bytes());
        self.bytes.extend_from_slice(&(bytes.len() as u64).to_le_bytes());
        self.bytes.extend_from_slice(bytes);
    }

    pub(super) const fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Returns its row; an empty pack has none.
    pub(super) fn row(&self) -> Option<(i64, &[u8])> {
        self.first.filter(|_| !self.bytes.is_empty()).map(|first| (first, self.bytes.as_slice()))
    }
}

/// Returns the chunks of a pack and the bytes of each; ends with the first error.
pub(super) fn entries(pack: &[u8]) -> impl Iterator<Item = Result<(ChunkId, &[u8]), PackDamaged>> {
    let mut rest = pack;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let entry = entry(rest);
        rest = entry.map_or(&[], |(_, _, rest)| rest);
        Some(entry.map(|(chunk, bytes, _)| (chunk, bytes)).ok_or(PackDamaged))
    })
}

/// Takes an entry from the front: its chunk, its bytes, and what follows.
fn entry(pack: &[u8]) -> Option<(ChunkId, &[u8], &[u8])> {
    let (chunk, rest) = pack.split_first_chunk()?;
    let (length, rest) = rest.split_first_chunk()?;
    let length = usize::try_from(u64::from_le_bytes(*length)).ok()?;
    let (bytes, rest) = rest.split_at_checked(length)?;
    Some((ChunkId(u64::from_le_bytes(*chunk)), bytes, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_goes_in_comes_out() {
        let mut pack = Pack::default();
        assert_eq!(pack.row(), None);
        let large = vec![7; VECTOR_ROW_BYTES];
        assert!(pack.has_room(&large), "somewhere it must go");
        for (chunk, bytes) in [(3, &[1, 2, 3][..]), (4, &[]), (9, &[5])] {
            assert!(pack.has_room(bytes));
            pack.push(ChunkId(chunk), bytes);
        }
        assert!(!pack.has_room(&large));
        let (first, bytes) = pack.row().unwrap();
        let found: Vec<_> =
            entries(bytes).map(|entry| entry.map(|entry| (entry.0.0, entry.1))).collect();
        assert_eq!(first, 3);
        assert_eq!(found, [Ok((3, &[1, 2, 3][..])), Ok((4, &[])), Ok((9, &[5]))]);
    }

    #[test]
    fn what_is_cut_or_lies_about_its_length_is_damage() {
        let mut pack = Pack::at(0);
        pack.push(ChunkId(0), &[1, 2, 3]);
        let whole = pack.row().unwrap().1.to_vec();
        for length in 1..whole.len() {
            let found: Vec<_> = entries(&whole[..length]).collect();
            assert_eq!(found, [Err(PackDamaged)], "{length}");
        }
        let mut lies = whole;
        lies[8..16].fill(0xff);
        assert_eq!(entries(&lies).collect::<Vec<_>>(), [Err(PackDamaged)]);
    }
}

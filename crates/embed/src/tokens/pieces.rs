//! The vocabulary, and how words are split into its pieces.

use std::sync::OnceLock;

use super::UNKNOWN;

/// What a piece starts with when it continues a word.
const CONTINUES: &[u8] = b"##";

/// A power of two, about twice the vocabulary, that a `u16` can point into.
const SLOTS: usize = 1 << 16;

/// Bytes of the longest piece: no look-up needs to try more.
const LONGEST: usize = 18;

/// Word pieces by their text: a hash table whose slots hold ids.
pub(super) struct Pieces {
    vocabulary: &'static str,
    /// Where the line of each piece begins, and where the next one would. It is computed when it is
    /// first needed, in microseconds: precomputed, it would take an eighth of a megabyte.
    starts: OnceLock<Vec<u32>>,
    count: usize,
    /// The id in each slot. No word is spelled like piece 0, so 0 means an empty slot.
    slots: [u16; SLOTS],
    /// The hash of [`CONTINUES`].
    continued: u32,
}

/// The pieces of the models. The table is built by the compiler: at run time it would take a
/// millisecond, which is much for a process that embeds one sentence.
pub(super) static PIECES: Pieces = Pieces::new(include_str!("../../assets/vocabulary.txt"));

impl Pieces {
    /// Reads a vocabulary: one piece per line, whose number is its id.
    const fn new(vocabulary: &'static str) -> Self {
        let bytes = vocabulary.as_bytes();
        let mut slots = [0; SLOTS];
        let (mut count, mut hash, mut at) = (0, SEED, 0);
        while at < bytes.len() && count < SLOTS / 2 {
            if bytes[at] == b'\n' {
                let mut slot = slot(hash);
                while slots[slot] != 0 {
                    slot = next(slot);
                }
                slots[slot] = count as u16;
                count += 1;
                hash = SEED;
            } else {
                hash = mix(hash, bytes[at]);
            }
            at += 1;
        }
        let continued = mix(mix(SEED, CONTINUES[0]), CONTINUES[1]);
        Self { vocabulary, starts: OnceLock::new(), count, slots, continued }
    }

    /// Returns the text of a piece.
    pub(super) fn text(&self, id: u32) -> Option<&'static str> {
        let id = usize::try_from(id).ok().filter(|id| *id < self.count)?;
        let starts = self.starts();
        let (start, next) = (starts[id] as usize, starts[id + 1] as usize);
        self.vocabulary.get(start..next - 1)
    }

    fn starts(&self) -> &[u32] {
        self.starts.get_or_init(|| {
            let ends = memchr::memchr_iter(b'\n', self.vocabulary.as_bytes());
            std::iter::once(0).chain(ends.map(|end| end as u32 + 1)).collect()
        })
    }

    /// Adds the ids of a word's pieces, the longest first; if some of the word is left over, the
    /// whole word is unknown.
    pub(super) fn split(&self, word: &[u8], ids: &mut Vec<u32>) {
        let before = ids.len();
        let (mut rest, mut prefix, mut seed) = (word, &b""[..], SEED);
        while !rest.is_empty() {
            let Some((id, length)) = self.longest_start(rest, prefix, seed) else {
                ids.truncate(before);
                ids.push(UNKNOWN);
                return;
            };
            ids.push(u32::from(id));
            (rest, prefix, seed) = (&rest[length..], CONTINUES, self.continued);
        }
    }

    /// Returns the longest piece that the rest of a word starts with, and its length.
    fn longest_start(&self, rest: &[u8], prefix: &[u8], seed: u32) -> Option<(u16, usize)> {
        let mut hashes = [0; LONGEST];
        let tried = rest.len().min(LONGEST);
        let mut hash = seed;
        for (kept, byte) in hashes.iter_mut().zip(&rest[..tried]) {
            hash = mix(hash, *byte);
            *kept = hash;
        }
        (1..=tried).rev().find_map(|length| {
            let id = self.find(hashes[length - 1], prefix, &rest[..length])?;
            Some((id, length))
        })
    }

    fn find(&self, hash: u32, prefix: &[u8], piece: &[u8]) -> Option<u16> {
        let mut slot = slot(hash);
        loop {
            let id = self.slots[slot];
            if id == 0 {
                return None;
            }
            let text = self.text(u32::from(id)).unwrap_or_default().as_bytes();
            if text.strip_prefix(prefix) == Some(piece) {
                return Some(id);
            }
            slot = next(slot);
        }
    }
}

impl std::fmt::Debug for Pieces {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Pieces").field("count", &self.count).finish_non_exhaustive()
    }
}

/// FNV-1a, which is computed byte by byte: the hashes of all prefixes of a word cost one pass.
const SEED: u32 = 0x811c_9dc5;

const fn mix(hash: u32, byte: u8) -> u32 {
    (hash ^ byte as u32).wrapping_mul(0x0100_0193)
}

const fn slot(hash: u32) -> usize {
    (hash ^ (hash >> 16)) as usize % SLOTS
}

const fn next(slot: usize) -> usize {
    (slot + 1) % SLOTS
}

#[cfg(test)]
mod tests {
    #[test]
    fn no_piece_is_longer_than_what_is_tried() {
        let vocabulary = include_str!("../../assets/vocabulary.txt");
        assert_eq!(vocabulary.lines().map(str::len).max(), Some(super::LONGEST));
        assert_eq!(vocabulary.lines().count(), super::PIECES.count);
        assert!(super::PIECES.count < super::SLOTS / 2);
        let texts = (0..).map_while(|id| super::PIECES.text(id));
        assert!(texts.eq(vocabulary.lines()));
    }
}

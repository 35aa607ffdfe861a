//! The vocabulary, and words cut into its pieces.

use super::UNKNOWN;

/// What a piece starts with when it continues a word.
const CONTINUES: &[u8] = b"##";

/// A power of two, about twice the vocabulary, that a `u16` can point into.
const SLOTS: usize = 1 << 16;

/// Bytes in the longest piece: no look-up needs to try more.
const LONGEST: usize = 18;

/// Word pieces by their text: a hash table whose slots hold ids.
pub(super) struct Pieces {
    texts: Vec<&'static str>,
    /// The id in each slot. No word is spelled like the piece 0, so 0 means an empty slot.
    slots: Vec<u16>,
    /// The hash of [`CONTINUES`].
    continued: u32,
}

impl Pieces {
    /// Reads a vocabulary: a piece in each line, whose number is its id.
    pub(super) fn new(vocabulary: &'static str) -> Self {
        let mut texts = Vec::with_capacity(SLOTS / 2);
        texts.extend(vocabulary.lines().take(SLOTS / 2));
        let mut slots = vec![0; SLOTS];
        for (id, text) in (0..).zip(&texts).skip(1) {
            let mut slot = slot(text.bytes().fold(SEED, mix));
            while slots[slot] != 0 {
                slot = next(slot);
            }
            slots[slot] = id;
        }
        let continued = CONTINUES.iter().copied().fold(SEED, mix);
        Self { texts, slots, continued }
    }

    /// Returns the text of a piece.
    pub(super) fn text(&self, id: u32) -> Option<&'static str> {
        self.texts.get(usize::try_from(id).ok()?).copied()
    }

    /// Adds the ids of a word's pieces, the longest first; a word with a rest is unknown as a whole.
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

    /// Returns the longest piece that a rest of a word starts with, and its length.
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
            let text = self.texts[usize::from(id)].as_bytes();
            if text.strip_prefix(prefix) == Some(piece) {
                return Some(id);
            }
            slot = next(slot);
        }
    }
}

impl std::fmt::Debug for Pieces {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Pieces").field("count", &self.texts.len()).finish_non_exhaustive()
    }
}

/// FNV-1a, which grows byte by byte: the hashes of all starts of a word cost one pass.
const SEED: u32 = 0x811c_9dc5;

fn mix(hash: u32, byte: u8) -> u32 {
    (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193)
}

fn slot(hash: u32) -> usize {
    (hash ^ (hash >> 16)) as usize % SLOTS
}

fn next(slot: usize) -> usize {
    (slot + 1) % SLOTS
}

#[cfg(test)]
mod tests {
    #[test]
    fn no_piece_is_longer_than_what_is_tried() {
        let vocabulary = include_str!("../../assets/vocabulary.txt");
        assert_eq!(vocabulary.lines().map(str::len).max(), Some(super::LONGEST));
        assert!(vocabulary.lines().count() <= super::SLOTS / 2);
    }
}

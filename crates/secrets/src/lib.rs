//! The detector: finds secrets in bytes, and puts marks in their place.
//!
//! All code that writes, exports, lists or logs text uses this crate. One pass searches for
//! three-byte pieces that occur in nearly every secret or in front of it (`anchors`); rules only
//! run around these: for shapes (`rules`), values with a name (`assignments`, `headers`), sentences
//! (`prose`) and cards (`payment`). Answers to questions need both (`answers`). Secrets without an
//! anchor are long, so checking a few bytes finds them (`samples`). Encoded text is decoded and
//! scanned again (`encoded`). The result of a rule depends on a bounded window, so a stream gives
//! the same hits as the whole text.

#![warn(missing_docs)]

mod anchors;
mod answers;
mod assignments;
mod commands;
#[cfg(test)]
mod corpus_tests;
mod encoded;
mod file;
#[cfg(test)]
mod fixture_tests;
#[cfg(test)]
mod generated_corpus_tests;
mod headers;
mod kinds;
mod markup;
mod payment;
mod prose;
mod redact;
mod rules;
mod samples;
mod shape;
mod tables;

use std::borrow::Cow;
use std::ops::Range;

use anchors::{ANCHORS, Anchor, FOREIGN_ANCHORS, LONGEST_LITERAL};
pub use file::{FileScanner, is_text, scan_file};
use memchr::memmem;
pub use redact::{SecretValues, for_display, redact, redact_text};
use rules::{AFTER, BEFORE, Candidate, Rank};
use samples::{SEED_STRIDE, STRIDE};

/// A secret in some bytes; the secret itself is not here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SecretHit {
    /// What kind of secret, such as `github_token`.
    pub kind: &'static str,
    /// The bytes of the secret.
    pub range: Range<usize>,
    /// The line on which it begins, from 1.
    pub line: u64,
}

/// Finds every secret, sorted; no two overlap.
///
/// Where two rules find overlapping bytes, the hit covers both and has the kind of the more
/// specific one.
#[must_use]
pub fn scan(bytes: &[u8]) -> Vec<SecretHit> {
    let mut found = HitList::default();
    found.search(bytes, 0, 0..bytes.len());
    found.count_lines(bytes, 0, bytes.len());
    found.into_hits()
}

/// Finds the secrets of a text that was decoded `depth` times; compressed bytes are inflated.
fn scan_within(bytes: &[u8], depth: u8) -> Vec<(SecretHit, Rank)> {
    let inflated = encoded::inflated(bytes);
    let text = inflated.as_deref().unwrap_or(bytes);
    let mut found = HitList { depth, ..HitList::default() };
    found.search(text, 0, 0..text.len());
    found.hits
}

/// Finds secrets in bytes that come block by block; see [`scan`].
#[derive(Debug, Default)]
pub struct Scanner {
    found: HitList,
    /// The last bytes, from `base` on.
    buffer: Vec<u8>,
    /// Where in the stream the buffer begins.
    base: usize,
    /// How much of the buffer has been scanned.
    searched: usize,
}

/// How many bytes have to stay in the buffer before the next place to scan.
const OVERLAP: usize = BEFORE + 2 * LONGEST_LITERAL + 2 * encoded::BLOCK;
/// How many bytes are gathered before they are scanned.
const GATHER: usize = 2 * AFTER;

impl Scanner {
    /// Returns a scanner at the beginning of a stream.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes the next block.
    pub fn feed(&mut self, block: &[u8]) {
        for part in block.chunks(GATHER) {
            self.buffer.extend_from_slice(part);
            if self.buffer.len() >= OVERLAP + GATHER {
                // Only where a rule has its whole window in sight.
                self.search_until(self.buffer.len() - AFTER);
                self.forget_searched();
            }
        }
    }

    /// Ends the stream and returns every hit, with ranges in the whole stream.
    #[must_use]
    pub fn finish(mut self) -> Vec<SecretHit> {
        self.search_until(self.buffer.len());
        self.found.count_lines(&self.buffer, self.base, self.buffer.len());
        self.found.into_hits()
    }

    fn search_until(&mut self, end: usize) {
        self.found.search(&self.buffer, self.base, self.searched..end);
        self.searched = end;
    }

    fn forget_searched(&mut self) {
        let old = self.searched.saturating_sub(OVERLAP);
        self.found.count_lines(&self.buffer, self.base, old);
        self.buffer.drain(..old);
        self.base += old;
        self.searched -= old;
    }
}

/// The hits so far, sorted and disjoint, with ranges in the whole text.
#[derive(Debug, Default)]
struct HitList {
    hits: Vec<(SecretHit, Rank)>,
    /// How many hits know their line.
    with_line: usize,
    /// Line breaks before `counted`.
    breaks: u64,
    counted: usize,
    /// How often the bytes were decoded before they came here.
    depth: u8,
    /// The last block that was read without its hidden characters.
    unhidden: Option<usize>,
}

/// Returns a text whose stamp ids are replaced by spaces. They are eight letters and digits
/// behind a text, and would pass for the password that the text speaks of.
fn without_stamps(text: &[u8]) -> Cow<'_, [u8]> {
    const OPEN: &[u8] = b"<!-- anemone: ";
    const CLOSE: &[u8] = b" -->";
    const ID: usize = 8;
    let mut plain = Cow::Borrowed(text);
    for start in memmem::find_iter(text, OPEN) {
        let id = start + OPEN.len();
        let is_id =
            |id: &[u8]| id.iter().all(|byte| byte.is_ascii_digit() || byte.is_ascii_lowercase());
        if !text.get(id..id + ID).is_some_and(is_id) || text.get(id + ID) != Some(&b' ') {
            continue;
        }
        let is_all = text[id + ID..].starts_with(CLOSE);
        let end = if is_all { id + ID + CLOSE.len() } else { id + ID };
        plain.to_mut()[start..end].fill(b' ');
    }
    plain
}

impl HitList {
    /// Examines the anchors that end in `range` of a buffer that begins at `base`.
    fn search(&mut self, buffer: &[u8], base: usize, range: Range<usize>) {
        let buffer = &*without_stamps(buffer);
        // In parts, so that what the passes over a part find stays near the end of the list.
        for start in range.clone().step_by(GATHER) {
            self.search_part(buffer, base, start..range.end.min(start + GATHER));
        }
    }

    fn search_part(&mut self, buffer: &[u8], base: usize, range: Range<usize>) {
        let depth = self.depth;
        ANCHORS.each(buffer, range.clone(), |anchor, start| {
            self.look_around(buffer, base, anchor, start);
        });
        FOREIGN_ANCHORS.each(buffer, range.clone(), |anchor, start| {
            self.look_around(buffer, base, anchor, start);
        });
        let from = |stride| (base + range.start).next_multiple_of(stride) - base;
        samples::each_run(buffer, from(STRIDE)..range.end, |start| {
            samples::opaque(buffer, start, depth, &mut |candidate| self.add_at(base, candidate));
        });
        samples::seed_phrases(buffer, from(SEED_STRIDE)..range.end, &mut |candidate| {
            self.add_at(base, candidate);
        });
        if depth < encoded::MOST_DEPTH {
            self.search_without_hidden(buffer, base, range);
        }
    }

    /// Runs the rule of an anchor. Anchors are rare, so this code stays out of the loop.
    #[inline(never)]
    fn look_around(&mut self, buffer: &[u8], base: usize, anchor: &Anchor, start: usize) {
        let depth = self.depth;
        let from = start.saturating_sub(BEFORE);
        let window = &buffer[from..buffer.len().min(start + AFTER)];
        rules::check(window, anchor, start - from, depth, &mut |candidate| {
            self.add_at(base + from, candidate);
        });
    }

    /// Searches the blocks that hold hidden characters once more, without these.
    fn search_without_hidden(&mut self, buffer: &[u8], base: usize, range: Range<usize>) {
        for at in memchr::memchr3_iter(0xc2, 0xe2, 0xef, &buffer[range.clone()]) {
            let at = range.start + at;
            let block = (base + at) / encoded::BLOCK;
            let text = &buffer[at..];
            let is_hidden = || encoded::hidden(text).is_some() || encoded::is_full_width(text);
            if self.unhidden == Some(block) || !is_hidden() {
                continue;
            }
            self.unhidden = Some(block);
            let depth = self.depth;
            encoded::without_hidden(buffer, base, block, depth, &mut |candidate| {
                self.add_at(base, candidate);
            });
        }
    }

    fn add_at(&mut self, base: usize, mut candidate: Candidate) {
        candidate.range.start += base;
        candidate.range.end += base;
        self.add(candidate);
    }

    /// Adds a candidate, and merges it with the hits that it overlaps.
    fn add(&mut self, new: Candidate) {
        let mut hit = SecretHit { kind: new.kind, range: new.range, line: 0 };
        let mut rank = new.rank;
        // Candidates come nearly in order, so this only checks the last few hits.
        let first = self.hits.iter().rposition(|(old, _)| old.range.end <= hit.range.start);
        let first = first.map_or(0, |last_before| last_before + 1);
        let mut end = first;
        while let Some((old, old_rank)) = self.hits.get(end)
            && old.range.start < hit.range.end
        {
            if (*old_rank, old.range.len()) >= (rank, hit.range.len()) {
                (hit.kind, rank) = (old.kind, *old_rank);
            }
            if old.range.start <= hit.range.start {
                hit.line = old.line;
            }
            hit.range = hit.range.start.min(old.range.start)..hit.range.end.max(old.range.end);
            end += 1;
        }
        self.hits.splice(first..end, [(hit, rank)]);
    }

    /// Tells the hits that begin before `end` of the buffer their lines.
    fn count_lines(&mut self, buffer: &[u8], base: usize, end: usize) {
        let mut line_breaks = |until: usize| {
            let bytes = &buffer[self.counted - base..until - base];
            self.breaks += memchr::memchr_iter(b'\n', bytes).count() as u64;
            self.counted = until;
            self.breaks
        };
        while let Some((hit, _)) = self.hits.get_mut(self.with_line)
            && hit.range.start < base + end
        {
            hit.line = line_breaks(hit.range.start) + 1;
            self.with_line += 1;
        }
        line_breaks(base + end);
    }

    fn into_hits(self) -> Vec<SecretHit> {
        self.hits.into_iter().map(|(hit, _)| hit).collect()
    }
}

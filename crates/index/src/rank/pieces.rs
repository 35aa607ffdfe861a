//! The text of a hit: the best block, with a neighbour only when that is nearly as good.
//!
//! Small pieces leave room for more of them: with a fixed length of the whole answer, single blocks
//! contain more of what was asked for than blocks with their neighbours.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use anemone_format::ProvenanceStamp;

use super::Question;
use super::found::{FoundBlock, FoundBlocks};
use super::order::RankedBlock;
use super::strength::is_weak;
use super::voices::voice_factor;
use crate::request::{Explanation, Hit};
use crate::stamped::{
    After, MAX_ENTRY_BYTES, is_stamped, may_go_on, provenance, said, stamp_after,
};
use crate::store::{ChunkId, Reading, StoreError};
use crate::text::{Term, matches};

/// A neighbour is included from this share of the best block's score on.
const SHARE: f64 = 0.9;

/// Cuts out the hits, at most this many.
pub(super) fn pieces(
    reading: &Reading<'_>,
    found: &FoundBlocks,
    ordered: Vec<RankedBlock>,
    question: &Question<'_>,
    limit: usize,
) -> Result<Vec<Hit>, StoreError> {
    let forms =
        question.words.terms.iter().flat_map(|term| term.forms.iter().map(|form| form.term));
    let mut cutter = Cutter {
        reading,
        found,
        question,
        terms: forms.collect(),
        texts: HashMap::new(),
        taken: vec![false; found.blocks.len()],
    };
    let mut hits = Vec::new();
    for place in ordered {
        if hits.len() == limit {
            break;
        }
        if !cutter.taken[place.at] {
            let range = cutter.range(place.at)?;
            hits.push(cutter.hit(place, range)?);
        }
    }
    Ok(hits)
}

struct Cutter<'a> {
    reading: &'a Reading<'a>,
    found: &'a FoundBlocks,
    question: &'a Question<'a>,
    terms: HashSet<Term>,
    texts: HashMap<ChunkId, String>,
    taken: Vec<bool>,
}

impl Cutter<'_> {
    /// Returns the blocks of a hit, and marks them as taken.
    fn range(&mut self, at: usize) -> Result<Range<usize>, StoreError> {
        let blocks = &self.found.blocks;
        let limit = self.question.request.snippet_chars;
        let enough = SHARE * blocks[at].score;
        let joins = |other: usize| {
            let block = &blocks[other];
            !self.taken[other]
                && block.is_answer
                && block.score >= enough
                && self.found.headings(block) == self.found.headings(&blocks[at])
        };
        let mut range = at..at + 1;
        if at > 0 && blocks[at - 1].is_followed && joins(at - 1) {
            range.start = at - 1;
        }
        if blocks[at].is_followed && joins(at + 1) {
            range.end = at + 2;
        }
        // A character has at least one byte, so a text that fits in bytes fits.
        let is_long = length(&blocks[range.clone()]) > limit;
        // A stamped entry is shown alone: its neighbours were written by others.
        if range.len() > 1 && (is_long || is_stamped(&self.text(&blocks[range.clone()])?)) {
            range = at..at + 1;
        }
        self.taken[range.clone()].fill(true);
        Ok(range)
    }

    fn hit(&mut self, place: RankedBlock, range: Range<usize>) -> Result<Hit, StoreError> {
        let blocks = &self.found.blocks[range];
        let middle = &self.found.blocks[place.at];
        let stamped = self.text(blocks)?;
        let whole = said(&stamped);
        let limit = self.question.request.snippet_chars.max(1);
        let cut = if whole.chars().count() <= limit {
            0..whole.len()
        } else {
            focus(whole, &matches(whole, middle.language, &self.terms), limit)
        };
        let text = whole[cut.clone()].to_owned();
        let first = &blocks[0];
        let start_byte = first.chunk_start as usize + first.block.bytes.start as usize + cut.start;
        let start_line = first.block.lines.start + newlines(&whole[..cut.start]);
        let below = match ProvenanceStamp::at_end_of(&stamped) {
            Some((_, stamp)) => Some(stamp),
            None => self.stamp_below(&stamped, blocks)?,
        };
        let document = &self.found.documents[&middle.document].read.document;
        Ok(Hit {
            path: document.path.clone(),
            start_line,
            end_line: start_line + newlines(&text),
            bytes: start_byte..start_byte + text.len(),
            headings: self.found.headings(middle).to_vec(),
            date: middle.date,
            score: place.score,
            is_weak: is_weak(place.raw),
            is_open: middle.block.voice.is_open(),
            similar: place.similar,
            matches: matches(&text, middle.language, &self.terms),
            text,
            memory_type: document.memory_type.clone(),
            namespace: document.namespace.clone(),
            importance: document.importance,
            provenance: provenance(below, &document.provenance),
            explanation: self.question.request.explain.then(|| self.explain(middle, place)),
        })
    }

    /// Returns the stamp of an entry that continues below these blocks: paragraphs and lists in it
    /// are separate blocks.
    fn stamp_below(
        &mut self,
        text: &str,
        blocks: &[FoundBlock],
    ) -> Result<Option<ProvenanceStamp>, StoreError> {
        let Some(last) = blocks.last().filter(|_| may_go_on(text)) else { return Ok(None) };
        let end = self.reading.document(last.document)?.chunks.end.0;
        let mut rest = String::new();
        for id in last.chunk.0..end {
            let text = match self.texts.get(&ChunkId(id)) {
                Some(text) => text.clone(),
                None => self.reading.text(ChunkId(id))?,
            };
            let start = if id == last.chunk.0 { last.block.bytes.end as usize } else { 0 };
            rest.push_str(text.get(start..).unwrap_or_default());
            match stamp_after(&rest) {
                After::ProvenanceStamp(stamp) => return Ok(Some(*stamp)),
                After::Nothing => return Ok(None),
                After::GoesOn if rest.len() > MAX_ENTRY_BYTES => return Ok(None),
                After::GoesOn => {}
            }
        }
        Ok(None)
    }

    /// Returns the text of neighbouring blocks and what is between them.
    fn text(&mut self, blocks: &[FoundBlock]) -> Result<String, StoreError> {
        let (Some(first), Some(last)) = (blocks.first(), blocks.last()) else {
            return Ok(String::new());
        };
        let mut whole = String::new();
        for id in first.chunk.0..=last.chunk.0 {
            let id = ChunkId(id);
            if !self.texts.contains_key(&id) {
                let text = self.reading.text(id)?;
                self.texts.insert(id, text);
            }
            let text = &self.texts[&id];
            let start = if id == first.chunk { first.block.bytes.start as usize } else { 0 };
            let end = if id == last.chunk { last.block.bytes.end as usize } else { text.len() };
            whole.push_str(text.get(start..end).unwrap_or_default());
        }
        Ok(whole)
    }

    fn explain(&self, block: &FoundBlock, place: RankedBlock) -> Explanation {
        let scores = &block.scores;
        let mut parts = vec![
            ("block", scores.block),
            ("with_previous", scores.pair),
            ("passage", scores.window),
            ("file", scores.file),
            ("context", scores.context),
            ("date", scores.date),
            ("factor", scores.factor),
            ("lexical", scores.score()),
            ("literal", f64::from(block.literal as u8)),
        ];
        if let Some(meaning) = block.meaning {
            parts.extend([
                ("cosine", meaning.cosine),
                ("distinction", meaning.distinction),
                ("vector", meaning.score()),
            ]);
        }
        let factor = voice_factor(block.block.voice);
        parts.extend((factor < 1.0).then_some(("conversation", factor)));
        parts.extend(place.recency.map(|recency| ("recency", recency)));
        parts.extend(place.importance.map(|importance| ("importance", importance)));
        let terms = self.question.words.terms.iter().zip(self.found.counts(place.at));
        let terms = terms.filter(|(_, found)| **found > 0.0);
        Explanation { parts, terms: terms.map(|(term, _)| term.surface.clone()).collect() }
    }
}

/// Returns how many bytes neighbouring blocks have, including the text between them.
fn length(blocks: &[FoundBlock]) -> usize {
    let (Some(first), Some(last)) = (blocks.first(), blocks.last()) else { return 0 };
    let start = first.chunk_start + u64::from(first.block.bytes.start);
    let end = last.chunk_start + u64::from(last.block.bytes.end);
    usize::try_from(end.saturating_sub(start)).unwrap_or(usize::MAX)
}

fn newlines(text: &str) -> u32 {
    u32::try_from(text.bytes().filter(|byte| *byte == b'\n').count()).unwrap_or(u32::MAX)
}

/// Returns the part of a text that holds most of the matches: at most `limit` characters, starting
/// at a line or a word.
fn focus(text: &str, matches: &[Range<usize>], limit: usize) -> Range<usize> {
    let ends: Vec<usize> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
    let character = |byte: usize| ends.partition_point(|stop| *stop < byte);
    let spans: Vec<Range<usize>> =
        matches.iter().map(|range| character(range.start)..character(range.end)).collect();
    let mut best = (0, 0);
    let mut end = 0;
    for (at, span) in spans.iter().enumerate() {
        end = end.max(at);
        while spans.get(end).is_some_and(|next| next.end - span.start <= limit) {
            end += 1;
        }
        if end - at > best.1 {
            best = (at, end - at);
        }
    }
    let (from, to) = match spans.get(best.0..best.0 + best.1) {
        Some([first, .., last]) => (first.start, last.end),
        Some([only]) => (only.start, only.end),
        _ => (0, 0),
    };
    // The remaining room goes before and after the matches.
    let lead = limit.saturating_sub(to - from) / 3;
    let start = from.saturating_sub(lead);
    let start = begin(text, &ends, start, from);
    let last = (start + limit).min(ends.len() - 1);
    let last = finish(text, &ends, last, to.max(start));
    ends[start]..ends[last]
}

/// Moves a beginning forward to a line or a word, but not past what must be visible.
fn begin(text: &str, ends: &[usize], start: usize, until: usize) -> usize {
    if start == 0 {
        return 0;
    }
    let range = &text[ends[start - 1]..ends[until.max(start)]];
    let forward = range.find('\n').or_else(|| range.find(char::is_whitespace));
    forward
        .map_or(start, |at| ends.partition_point(|stop| *stop <= ends[start - 1] + at))
        .min(until.max(start))
}

/// Moves an end back to a line or a word, but not before what must be visible.
fn finish(text: &str, ends: &[usize], end: usize, from: usize) -> usize {
    if end + 1 == ends.len() {
        return end;
    }
    let range = &text[ends[from.min(end)]..ends[end]];
    let back = range.rfind('\n').or_else(|| range.rfind(char::is_whitespace));
    back.filter(|at| *at > 0)
        .map_or(end, |at| ends.partition_point(|stop| *stop < ends[from.min(end)] + at))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown<'a>(text: &'a str, words: &[&str], limit: usize) -> &'a str {
        let mut matches: Vec<Range<usize>> = words
            .iter()
            .flat_map(|word| text.match_indices(word).map(|(at, found)| at..at + found.len()))
            .collect();
        matches.sort_by_key(|range| range.start);
        let range = focus(text, &matches, limit);
        &text[range]
    }

    #[test]
    fn the_part_with_most_matches_is_shown() {
        let text = "one zebra here, then a lot of words about nothing at all, and at the very end \
                    the zebra met the giraffe by the lake";
        let shown = shown(text, &["zebra", "giraffe", "lake"], 48);
        assert!(shown.contains("zebra met the giraffe by the lake"), "{shown}");
        assert!(shown.chars().count() <= 48);
    }

    #[test]
    fn without_matches_the_beginning_is_shown() {
        assert_eq!(shown("alpha beta gamma", &[], 11), "alpha beta");
        assert_eq!(shown("数据库迁移方案", &[], 3), "数据库");
    }

    #[test]
    fn lines_stay_whole_where_there_is_room() {
        let text = "first line\nsecond line with words\nthird zebra line\nfourth line\nfifth";
        assert_eq!(shown(text, &["zebra"], 40), "third zebra line\nfourth line\nfifth");
        assert_eq!(shown(text, &["zebra"], 30), "third zebra line\nfourth line");
    }

    #[test]
    fn a_match_longer_than_the_room_is_cut() {
        let text = "x".repeat(100);
        assert_eq!(focus(&text, &vec![0..100; 1], 10), 0..10);
    }
}

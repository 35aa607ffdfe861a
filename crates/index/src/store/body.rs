//! The content of a chunk's blob: its blocks and their terms, so that a question is scored without
//! parsing text again.
//!
//! A version, then the contexts, then the blocks. Numbers are varints, positions are distances from
//! the position before, terms are four bytes each, the lowest first.

use std::ops::Range;

use jiff::civil::Date;

use crate::outline::BlockKind;
use crate::text::Term;
use crate::voice::Voice;

/// The first byte; changes with the layout.
const VERSION: u8 = 2;
/// The fewest bytes a context takes: three numbers.
const MIN_CONTEXT: usize = 3;
/// The fewest bytes a block takes: its kind and eight numbers.
const MIN_BLOCK: usize = 9;
/// Bytes of a term.
const TERM: usize = size_of::<u32>();
/// Days in a month and months in a year, as a date is encoded.
const DAYS: u32 = 31;
const MONTHS: u32 = 12;

/// The blocks of a chunk.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Body {
    /// The contexts of its blocks.
    pub(crate) contexts: Vec<Context>,
    /// In the order of the text.
    pub(crate) blocks: Vec<BodyBlock>,
}

/// Headings and a date that apply to blocks.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Context {
    pub(crate) headings: Vec<String>,
    pub(crate) date: Option<Date>,
    /// The terms of headings, path and date.
    pub(crate) terms: Vec<Term>,
}

/// A block and its terms.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct BodyBlock {
    pub(crate) kind: BlockKind,
    /// Where it is in the chunk's text.
    pub(crate) bytes: Range<u32>,
    /// Its lines in the document, from 1, the end excluded.
    pub(crate) lines: Range<u32>,
    /// Its context, by position.
    pub(crate) context: u32,
    /// Its length, as BM25 counts it.
    pub(crate) length: u32,
    /// How many of its first terms are its label: the speaker or the subject.
    pub(crate) labelled: u32,
    /// Whether it asks something.
    pub(crate) is_question: bool,
    /// Whether it is a note or part of a conversation.
    pub(crate) voice: Voice,
    /// In the order of the text.
    pub(crate) terms: Vec<Term>,
}

/// We did not write the blob.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a chunk's terms cannot be read")]
pub(crate) struct BodyDamaged;

impl Body {
    /// Writes the body as bytes. Its blocks are in order, do not overlap and have a context.
    pub(crate) fn encode(&self) -> Vec<u8> {
        let terms = self.contexts.iter().map(|context| context.terms.len()).sum::<usize>()
            + self.blocks.iter().map(|block| block.terms.len()).sum::<usize>();
        let rest = self.contexts.len() * 64 + self.blocks.len() * 12 + 16;
        let mut out = Vec::with_capacity(terms * TERM + rest);
        out.push(VERSION);
        put_count(&mut out, self.contexts.len());
        for context in &self.contexts {
            put_count(&mut out, context.headings.len());
            for heading in &context.headings {
                put_count(&mut out, heading.len());
                out.extend_from_slice(heading.as_bytes());
            }
            put(&mut out, context.date.map_or(0, date_number));
            put_terms(&mut out, &context.terms);
        }
        put_count(&mut out, self.blocks.len());
        let (mut byte, mut line) = (0, 0);
        for block in &self.blocks {
            out.push(block.kind as u8);
            put(&mut out, block.bytes.start.wrapping_sub(byte));
            put(&mut out, block.bytes.end.wrapping_sub(block.bytes.start));
            // The pieces of a cut line share it, so lines are counted from the previous first line.
            put(&mut out, block.lines.start.wrapping_sub(line));
            put(&mut out, block.lines.end.wrapping_sub(block.lines.start));
            put(&mut out, block.context);
            put(&mut out, block.length);
            let flags = (block.voice as u32) << 1 | u32::from(block.is_question);
            put(&mut out, block.labelled.min(u32::MAX >> 3) << 3 | flags);
            put_terms(&mut out, &block.terms);
            (byte, line) = (block.bytes.end, block.lines.start);
        }
        out
    }

    /// Reads what [`encode`](Self::encode) wrote; never panics, whatever the bytes are.
    pub(crate) fn decode(bytes: &[u8]) -> Result<Self, BodyDamaged> {
        let mut input = Input(bytes);
        if input.byte()? != VERSION {
            return Err(BodyDamaged);
        }
        let contexts = input.count(MIN_CONTEXT)?;
        let contexts = (0..contexts).map(|_| context(&mut input)).collect::<Result<Vec<_>, _>>()?;
        let count = input.count(MIN_BLOCK)?;
        let mut blocks = Vec::with_capacity(count);
        let (mut byte, mut line) = (0, 0);
        for _ in 0..count {
            let kind = BlockKind::of_number(input.byte()?).ok_or(BodyDamaged)?;
            let bytes = input.range(byte)?;
            let lines = input.range(line)?;
            let context = input.number()?;
            if context as usize >= contexts.len() {
                return Err(BodyDamaged);
            }
            let length = input.number()?;
            let label = input.number()?;
            let (labelled, is_question) = (label >> 3, label & 1 == 1);
            let voice = Voice::of_number(label >> 1 & 3).ok_or(BodyDamaged)?;
            let terms = input.terms()?;
            (byte, line) = (bytes.end, lines.start);
            blocks.push(BodyBlock {
                kind,
                bytes,
                lines,
                context,
                length,
                labelled,
                is_question,
                voice,
                terms,
            });
        }
        if input.0.is_empty() { Ok(Self { contexts, blocks }) } else { Err(BodyDamaged) }
    }
}

fn context(input: &mut Input<'_>) -> Result<Context, BodyDamaged> {
    let headings = input.count(1)?;
    let headings = (0..headings).map(|_| input.text()).collect::<Result<Vec<_>, _>>()?;
    let date = match input.number()? {
        0 => None,
        number => Some(date(number).ok_or(BodyDamaged)?),
    };
    Ok(Context { headings, date, terms: input.terms()? })
}

/// What is left to read.
struct Input<'a>(&'a [u8]);

impl<'a> Input<'a> {
    fn byte(&mut self) -> Result<u8, BodyDamaged> {
        let (first, rest) = self.0.split_first().ok_or(BodyDamaged)?;
        self.0 = rest;
        Ok(*first)
    }

    fn take(&mut self, count: usize) -> Result<&'a [u8], BodyDamaged> {
        let (taken, rest) = self.0.split_at_checked(count).ok_or(BodyDamaged)?;
        self.0 = rest;
        Ok(taken)
    }

    fn number(&mut self) -> Result<u32, BodyDamaged> {
        let mut number = 0_u32;
        for shift in [0, 7, 14, 21] {
            let byte = self.byte()?;
            number |= u32::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(number);
            }
        }
        match self.byte()? {
            last @ 0..16 => Ok(number | u32::from(last) << 28),
            _ => Err(BodyDamaged),
        }
    }

    /// Reads how many items follow, each of at least this many bytes.
    fn count(&mut self, least: usize) -> Result<usize, BodyDamaged> {
        let count = self.number()? as usize;
        if count > self.0.len() / least { Err(BodyDamaged) } else { Ok(count) }
    }

    fn range(&mut self, from: u32) -> Result<Range<u32>, BodyDamaged> {
        let start = from.checked_add(self.number()?).ok_or(BodyDamaged)?;
        let end = start.checked_add(self.number()?).ok_or(BodyDamaged)?;
        Ok(start..end)
    }

    fn text(&mut self) -> Result<String, BodyDamaged> {
        let length = self.count(1)?;
        let text = str::from_utf8(self.take(length)?).map_err(|_| BodyDamaged)?;
        Ok(text.to_owned())
    }

    fn terms(&mut self) -> Result<Vec<Term>, BodyDamaged> {
        let count = self.count(TERM)?;
        let (terms, _) = self.take(count * TERM)?.as_chunks::<TERM>();
        Ok(terms.iter().map(|term| Term(u32::from_le_bytes(*term))).collect())
    }
}

fn put(out: &mut Vec<u8>, mut number: u32) {
    while number >= 0x80 {
        out.push((number & 0x7f) as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// Writes the number of items. A chunk's text has less than four billion bytes, so nothing in it
/// has more; if it had, the blob would be rejected when it is read.
fn put_count(out: &mut Vec<u8>, count: usize) {
    put(out, u32::try_from(count).unwrap_or(u32::MAX));
}

fn put_terms(out: &mut Vec<u8>, terms: &[Term]) {
    put_count(out, terms.len());
    out.extend(terms.iter().flat_map(|term| term.0.to_le_bytes()));
}

/// Counts days from the first one that a [`Date`] can express, every month with 31; 0 means none.
fn date_number(date: Date) -> u32 {
    let year = i32::from(date.year()) - i32::from(Date::MIN.year());
    let (month, day) = (i32::from(date.month()) - 1, i32::from(date.day()) - 1);
    let days = (year * MONTHS as i32 + month) * DAYS as i32 + day;
    u32::try_from(days).unwrap_or(0) + 1
}

fn date(number: u32) -> Option<Date> {
    let days = number.checked_sub(1)?;
    let (months, day) = (days / DAYS, days % DAYS + 1);
    let (years, month) = (months / MONTHS, months % MONTHS + 1);
    let year = i32::try_from(years).ok()? + i32::from(Date::MIN.year());
    let (year, month, day) =
        (i16::try_from(year).ok()?, i8::try_from(month).ok()?, i8::try_from(day).ok()?);
    Date::new(year, month, day).ok()
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::option;
    use proptest::prelude::*;

    use super::*;

    fn terms() -> impl Strategy<Value = Vec<Term>> {
        vec(any::<u32>().prop_map(Term), 0..20)
    }

    fn contexts() -> impl Strategy<Value = Vec<Context>> {
        let date = (-9999_i16..=9999, 1_i8..=12, 1_i8..=28)
            .prop_map(|(year, month, day)| Date::constant(year, month, day));
        let context = (vec("\\PC{0,12}", 0..4), option::of(date), terms())
            .prop_map(|(headings, date, terms)| Context { headings, date, terms });
        vec(context, 1..4)
    }

    fn body() -> impl Strategy<Value = Body> {
        let block = (0..7_u8, any::<[u16; 4]>(), any::<u32>(), any::<u32>(), terms());
        (contexts(), vec(block, 0..12)).prop_map(|(contexts, parts)| {
            let (mut byte, mut line) = (0, 1);
            let blocks = parts.into_iter().map(|(number, steps, context, length, terms)| {
                let [gap, size, down, rows] = steps.map(u32::from);
                let bytes = byte + gap..byte + gap + size;
                let lines = line + down..line + down + rows;
                (byte, line) = (bytes.end, lines.start);
                let context = context % contexts.len() as u32;
                let (labelled, is_question) = (length >> 7, length % 2 == 1);
                let voice = Voice::of_number(length / 2 % 4).unwrap();
                BodyBlock {
                    kind: BlockKind::of_number(number).unwrap(),
                    bytes,
                    lines,
                    context,
                    length,
                    labelled,
                    is_question,
                    voice,
                    terms,
                }
            });
            Body { blocks: blocks.collect(), contexts }
        })
    }

    fn small() -> Body {
        let context = Context {
            headings: vec!["A".to_owned()],
            date: Some(Date::constant(2026, 4, 1)),
            terms: vec![Term(0x0102_0304)],
        };
        let block = BodyBlock {
            kind: BlockKind::Item,
            bytes: 4..300,
            lines: 3..5,
            context: 0,
            length: 7,
            labelled: 1,
            is_question: true,
            voice: Voice::Said,
            terms: vec![Term(1), Term(u32::MAX)],
        };
        Body { contexts: vec![context], blocks: vec![block] }
    }

    #[test]
    fn a_body_is_written_as_the_head_of_the_file_says() {
        // The date: ((2026 + 9999) * 12 + 3) * 31 + 0 + 1 = 4473394 = 0b10_0010001_0000100_0110010.
        let expected = [
            &[2, 1, 1, 1, b'A', 0b1011_0010, 0b1000_0100, 0b1001_0001, 0b10][..],
            &[1, 4, 3, 2, 1],
            &[1, 1, 4, 0xa8, 2, 3, 2, 0, 7, 0b1011, 2, 1, 0, 0, 0, 255, 255, 255, 255],
        ];
        assert_eq!(small().encode(), expected.concat());
        assert_eq!(Body::default().encode(), [2, 0, 0]);
    }

    #[test]
    fn the_days_at_both_ends_come_back() {
        for day in [Date::MIN, Date::MAX, Date::constant(2024, 2, 29), Date::constant(0, 12, 31)] {
            assert_eq!(date(date_number(day)), Some(day));
        }
        // The 31st of April.
        assert_eq!(date(date_number(Date::constant(2026, 4, 30)) + 1), None);
        assert_eq!(date(u32::MAX), None);
    }

    #[test]
    fn a_cut_or_longer_blob_is_refused() {
        let bytes = small().encode();
        for length in 0..bytes.len() {
            assert_eq!(Body::decode(&bytes[..length]), Err(BodyDamaged), "{length}");
        }
        let longer = [&bytes[..], &[0]].concat();
        assert_eq!(Body::decode(&longer), Err(BodyDamaged));
        let other_version = [&[VERSION + 1], &bytes[1..]].concat();
        assert_eq!(Body::decode(&other_version), Err(BodyDamaged));
    }

    #[test]
    fn counts_that_the_bytes_cannot_hold_are_refused_before_anything_is_allocated() {
        let huge = [0xff, 0xff, 0xff, 0xff, 0x0f];
        for before in [&[VERSION][..], &[VERSION, 0], &[VERSION, 1], &[VERSION, 1, 0, 0]] {
            let bytes = [before, &huge[..], &[0; 64]].concat();
            assert_eq!(Body::decode(&bytes), Err(BodyDamaged));
        }
        // A number of more than 32 bits.
        assert_eq!(Body::decode(&[VERSION, 0x80, 0x80, 0x80, 0x80, 0x10, 0]), Err(BodyDamaged));
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_back(body in body()) {
            prop_assert_eq!(Body::decode(&body.encode()), Ok(body));
        }

        #[test]
        fn any_bytes_are_read_or_refused(bytes in vec(any::<u8>(), 0..200)) {
            drop(Body::decode(&bytes));
            drop(Body::decode(&[&[VERSION], &bytes[..]].concat()));
        }

        #[test]
        fn a_changed_byte_is_no_panic(body in body(), at in any::<prop::sample::Index>(), byte: u8) {
            let mut bytes = body.encode();
            let at = at.index(bytes.len());
            bytes[at] = byte;
            if let Ok(read) = Body::decode(&bytes) {
                prop_assert!(read.blocks.iter().all(|block| block.bytes.start <= block.bytes.end));
            }
        }
    }
}

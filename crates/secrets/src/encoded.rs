//! Secrets that are written in another way: base64, hexadecimal, gzip, escapes, hidden characters,
//! lines that break inside a token.
//!
//! Each of these yields a text with a map back to the bytes it came from; that text is scanned as
//! any other is. Sizes and depth are bounded, and only text is scanned, so that ordinary data
//! costs little.

use std::io::Read as _;
use std::ops::Range;

use base64::Engine as _;

use crate::rules::{AFTER, Candidate};
use crate::scan_within;
use crate::shape::{ALNUM, ANY_TOKEN, BASE64, digit_or_capital};

/// How often something decoded is decoded again.
pub(crate) const MOST_DEPTH: u8 = 2;
/// The most bytes of a compressed text that are scanned if it is a part of another text.
const INFLATED: u64 = 1 << 20;
/// How far an escaped text is read.
const ESCAPED: usize = 4 * 1024;
/// How far before its first escape an escaped text may begin.
const BEFORE_ESCAPE: usize = 200;
/// Least characters of base64 or hexadecimal that are decoded.
pub(crate) const LEAST_RUN: usize = 24;

/// A text with the place that each of its bytes came from.
#[derive(Default)]
pub(crate) struct Mapped {
    pub(crate) text: Vec<u8>,
    /// For each byte of the text where it began, and at the end where the last one ended.
    pub(crate) from: Vec<usize>,
}

impl Mapped {
    fn push(&mut self, byte: u8, from: usize) {
        self.text.push(byte);
        self.from.push(from);
    }

    /// Returns the bytes that a range of the text came from.
    pub(crate) fn source(&self, range: Range<usize>) -> Range<usize> {
        self.from[range.start]..self.from[range.end]
    }

    /// Scans the text, and returns each hit in the place that it came from.
    fn scan(&self, depth: u8, found: &mut impl FnMut(Candidate)) {
        for (hit, rank) in scan_within(&self.text, depth + 1) {
            found(Candidate { kind: hit.kind, range: self.source(hit.range), rank });
        }
    }
}

/// Reads the text around an escape (`%3D`, `\u003d`, `\x3d`, `&#61;`) without its escapes.
pub(crate) fn escaped(window: &[u8], at: usize, depth: u8, found: &mut impl FnMut(Candidate)) {
    if depth >= MOST_DEPTH || escape(&window[at..]).is_none() {
        return;
    }
    let percent = window[at] == b'%';
    let ends = |byte: &u8| {
        if percent {
            *byte <= b' ' || matches!(byte, b'"' | b'\'' | b'<' | b'>' | b'`' | b'\\' | b']')
        } else {
            matches!(byte, b'\n' | b'\r')
        }
    };
    let back = window[at.saturating_sub(BEFORE_ESCAPE)..at].iter().rev();
    let start = at - back.take_while(|byte| !ends(byte)).count();
    // Only the first escape of a text is handled, because it covers all of them.
    if (start..at).any(|place| escape(&window[place..at]).is_some()) {
        return;
    }
    let rest = &window[at..window.len().min(at + ESCAPED)];
    let end = at + rest.iter().position(ends).unwrap_or(rest.len());
    let mut mapped = Mapped::default();
    let mut place = start;
    while place < end {
        let (byte, length) = escape(&window[place..end]).unwrap_or((window[place], 1));
        mapped.push(byte, place);
        place += length;
    }
    mapped.from.push(end);
    mapped.scan(depth, found);
}

/// Reads `%XX`, `\u00XX`, `\xXX`, or an entity of HTML.
fn escape(bytes: &[u8]) -> Option<(u8, usize)> {
    let (digits, length) = match bytes {
        [b'%', a, b, ..] => ([*a, *b], 3),
        [b'\\', b'x', a, b, ..] => ([*a, *b], 4),
        [b'\\', b'u', b'0', b'0', a, b, ..] => ([*a, *b], 6),
        [b'&', ..] => return entity(bytes),
        _ => return None,
    };
    let digit = |byte: u8| char::from(byte).to_digit(16);
    let value = digit(digits[0])? * 16 + digit(digits[1])?;
    Some((u8::try_from(value).ok()?, length))
}

/// Reads `&#112;`, `&#x70;`, `&quot;` and the like.
fn entity(bytes: &[u8]) -> Option<(u8, usize)> {
    const NAMED: &[(&[u8], u8)] = &[
        (b"&quot;", b'"'),
        (b"&apos;", b'\''),
        (b"&amp;", b'&'),
        (b"&lt;", b'<'),
        (b"&gt;", b'>'),
        (b"&nbsp;", b' '),
        (b"&colon;", b':'),
        (b"&equals;", b'='),
    ];
    let head = &bytes[..bytes.len().min(10)];
    let Some(number) = head.strip_prefix(b"&#") else {
        let (name, byte) = NAMED.iter().find(|(name, _)| head.starts_with(name))?;
        return Some((*byte, name.len()));
    };
    let (radix, digits) = match number {
        [b'x' | b'X', digits @ ..] => (16, digits),
        digits => (10, digits),
    };
    let end = digits.iter().position(|byte| *byte == b';')?;
    let value = u8::from_str_radix(str::from_utf8(&digits[..end]).ok()?, radix).ok()?;
    value.is_ascii().then_some((value, head.len() - digits.len() + end + 1))
}

/// Bytes between which hidden characters are taken out together.
pub(crate) const BLOCK: usize = 1024;
/// How far before and behind such a block a text is read.
const AROUND: usize = 256;
const BEHIND: usize = 1024;

/// Returns the length of an invisible character in bytes.
pub(crate) fn hidden(bytes: &[u8]) -> Option<usize> {
    match bytes {
        [0xc2, 0xad, ..] => Some(2),
        [0xe2, 0x80, 0x8b..=0x8f | 0xaa..=0xae, ..]
        | [0xe2, 0x81, 0xa0..=0xa4, ..]
        | [0xef, 0xbb, 0xbf, ..]
        | [0xef, 0xb8, 0x80..=0x8f, ..] => Some(3),
        _ => None,
    }
}

/// Returns the ASCII letter of a full-width one, as Chinese and Japanese texts use them.
fn narrow(bytes: &[u8]) -> Option<u8> {
    match bytes {
        [0xef, 0xbc, last @ 0x81..=0xbf, ..] => Some(last - 0x81 + b'!'),
        [0xef, 0xbd, last @ 0x80..=0x9e, ..] => Some(last - 0x80 + b'`'),
        [0xe3, 0x80, 0x80, ..] => Some(b' '),
        _ => None,
    }
}

/// Whether a text goes on with a letter or digit of full width; punctuation of that width is in
/// every Chinese sentence.
pub(crate) fn is_full_width(bytes: &[u8]) -> bool {
    narrow(bytes).is_some_and(|byte| byte.is_ascii_alphanumeric())
}

/// Reads a block of a buffer that begins at `base` without its hidden characters, and with letters
/// of full width as ordinary ones.
pub(crate) fn without_hidden(
    buffer: &[u8],
    base: usize,
    block: usize,
    depth: u8,
    found: &mut impl FnMut(Candidate),
) {
    let start = (block * BLOCK).saturating_sub(AROUND).max(base) - base;
    let end = buffer.len().min((block + 1) * BLOCK + BEHIND - base);
    let mut mapped = Mapped::default();
    let mut at = start;
    while at < end {
        let text = &buffer[at..];
        if let Some(length) = hidden(text) {
            at += length;
        } else if let Some(byte) = narrow(text) {
            mapped.push(byte, at);
            at += 3;
        } else {
            mapped.push(buffer[at], at);
            at += 1;
        }
    }
    mapped.from.push(at.min(buffer.len()));
    mapped.scan(depth, found);
}

/// Decodes a run of base64 or hexadecimal digits that begins at `start` and scans the result.
pub(crate) fn decoded(window: &[u8], start: usize, depth: u8, found: &mut impl FnMut(Candidate)) {
    if depth >= MOST_DEPTH || !may_hold_text(&window[start..]) || continues_a_line(&window[..start])
    {
        return;
    }
    let limit = window.len().min(start + AFTER / 2);
    let mut encoded = Vec::new();
    let mut end = start;
    let mut last = start;
    loop {
        let length = window[end..limit].iter().take_while(|byte| is_digit64(**byte)).count();
        // A text that is no text in its beginning is not read to its end.
        encoded.extend_from_slice(&window[end..end + length]);
        end += length;
        last = if length > 0 { end } else { last };
        if encoded.len() < 40 || !begins_as_text(&encoded) {
            break;
        }
        match line_break(&window[end..limit]) {
            Some(gap) if window.get(end + gap).is_some_and(|byte| is_digit64(*byte)) => end += gap,
            _ => break,
        }
    }
    let padding = window[last..limit].iter().take(2).take_while(|byte| **byte == b'=').count();
    if encoded.len() < LEAST_RUN {
        return;
    }
    for text in [from_hex(&encoded), from_base64(&encoded)].into_iter().flatten() {
        let hits = scan_within(&text, depth + 1);
        if let Some((hit, rank)) = hits.into_iter().next() {
            return found(Candidate { kind: hit.kind, range: start..last + padding, rank });
        }
    }
}

/// Whether the first characters of a run can be text in base64 or hexadecimal. This rules out names
/// and paths without decoding them.
fn may_hold_text(run: &[u8]) -> bool {
    let Some(head) = run.get(..16) else { return true };
    let hex = head.strip_prefix(b"0x").unwrap_or(head);
    if hex.iter().all(u8::is_ascii_hexdigit) {
        return true;
    }
    let mut bytes = [0; 12];
    for (group, three) in head.chunks_exact(4).zip(bytes.chunks_exact_mut(3)) {
        let Some(value) =
            group.iter().try_fold(0_u32, |sum, byte| Some(sum << 6 | digit64(*byte)?))
        else {
            return false;
        };
        three.copy_from_slice(&value.to_be_bytes()[1..]);
    }
    is_readable(&bytes)
}

/// Returns the value of a digit of base64, of either alphabet.
fn digit64(byte: u8) -> Option<u32> {
    let value = match byte {
        b'A'..=b'Z' => byte - b'A',
        b'a'..=b'z' => byte - b'a' + 26,
        b'0'..=b'9' => byte - b'0' + 52,
        b'+' | b'-' => 62,
        b'/' | b'_' => 63,
        _ => return None,
    };
    Some(u32::from(value))
}

fn is_digit64(byte: u8) -> bool {
    ALNUM.has(byte) || matches!(byte, b'+' | b'/' | b'-' | b'_')
}

/// Whether the bytes before end with a line of base64, of which the next line is a part.
fn continues_a_line(before: &[u8]) -> bool {
    let before = before.strip_suffix(b"\\n").or(before.strip_suffix(b"\n")).unwrap_or_default();
    let before = before.strip_suffix(b"\r").unwrap_or(before);
    before.len() >= 40 && before[before.len() - 40..].iter().all(|byte| is_digit64(*byte))
}

fn line_break(bytes: &[u8]) -> Option<usize> {
    match bytes {
        [b'\r', b'\n', ..] | [b'\\', b'n', ..] => Some(2),
        [b'\n', ..] => Some(1),
        _ => None,
    }
}

fn begins_as_text(encoded: &[u8]) -> bool {
    let head = &encoded[..encoded.len().min(32)];
    from_hex(head).is_some() || from_base64(head).is_some()
}

fn from_hex(encoded: &[u8]) -> Option<Vec<u8>> {
    let digits = encoded.strip_prefix(b"0x").unwrap_or(encoded);
    let digit = |byte: u8| char::from(byte).to_digit(16);
    let pairs = digits.chunks_exact(2);
    let text: Option<Vec<u8>> =
        pairs.map(|pair| u8::try_from(digit(pair[0])? * 16 + digit(pair[1])?).ok()).collect();
    text.and_then(readable)
}

fn from_base64(encoded: &[u8]) -> Option<Vec<u8>> {
    let whole = if encoded.len() % 4 == 1 { encoded.len() - 1 } else { encoded.len() };
    // Cheaper than decoding data that is not text.
    readable(base64(&encoded[..whole.min(24)])?)?;
    readable(base64(&encoded[..whole])?)
}

/// Decodes base64 of either alphabet, with padding or without; bits that are left over are ignored.
pub(crate) fn base64(encoded: &[u8]) -> Option<Vec<u8>> {
    let standard = |byte: &u8| match byte {
        b'-' => b'+',
        b'_' => b'/',
        other => *other,
    };
    let engine = base64::engine::GeneralPurpose::new(
        &base64::alphabet::STANDARD,
        base64::engine::GeneralPurposeConfig::new()
            .with_decode_allow_trailing_bits(true)
            .with_decode_padding_mode(base64::engine::DecodePaddingMode::Indifferent),
    );
    engine.decode(encoded.iter().map(standard).collect::<Vec<u8>>()).ok()
}

/// Returns decoded bytes as text, if they are text, UTF-16, or compressed text.
fn readable(bytes: Vec<u8>) -> Option<Vec<u8>> {
    if is_wide(&bytes) {
        return Some(bytes.chunks_exact(2).map(|pair| pair[0]).collect());
    }
    is_readable(&bytes).then_some(bytes)
}

fn is_readable(bytes: &[u8]) -> bool {
    let is_text = |text: &[u8]| match str::from_utf8(text) {
        Ok(_) => true,
        Err(error) => error.error_len().is_none(),
    };
    let is_compressed = bytes.starts_with(&[0x1f, 0x8b]);
    is_compressed || bytes.iter().all(is_shown) && is_text(bytes) || is_wide(bytes)
}

fn is_shown(byte: &u8) -> bool {
    *byte >= 0x20 && *byte != 0x7f || matches!(byte, b'\t' | b'\n' | b'\r')
}

/// Whether bytes are ASCII in UTF-16.
fn is_wide(bytes: &[u8]) -> bool {
    bytes.len() >= 8 && bytes.chunks_exact(2).all(|pair| pair[1] == 0 && is_shown(&pair[0]))
}

/// Inflates compressed bytes that are a part of a text.
pub(crate) fn inflated(bytes: &[u8]) -> Option<Vec<u8>> {
    if !bytes.starts_with(&[0x1f, 0x8b]) {
        return None;
    }
    let mut text = Vec::new();
    let read = flate2::read::MultiGzDecoder::new(bytes).take(INFLATED).read_to_end(&mut text);
    // Data that was read before the end of truncated input is scanned all the same.
    (read.is_ok() || !text.is_empty()).then_some(text)
}

/// Most lines over which one token is spread.
const LINES: usize = 8;

/// Longest part of a token in one line, where it goes on in the next.
const LINE: usize = 256;

/// Reads a token that begins at `at` and goes on in the next line; `None` when it does not.
pub(crate) fn joined(window: &[u8], at: usize) -> Option<Mapped> {
    // Most tokens end in their line.
    next_part(window, at + ANY_TOKEN.run(&window[at..], LINE))?;
    let mut mapped = Mapped::default();
    let before = at.saturating_sub(8);
    (before..at).for_each(|place| mapped.push(window[place], place));
    let mut place = at;
    let mut parts = 0;
    loop {
        let length = ANY_TOKEN.run(&window[place..], LINE);
        (place..place + length).for_each(|place| mapped.push(window[place], place));
        place += length;
        let Some(next) = next_part(window, place).filter(|_| parts < LINES && length > 0) else {
            break;
        };
        place = next;
        parts += 1;
    }
    if parts == 0 {
        return None;
    }
    mapped.from.push(place);
    // The next bytes decide where a token ends.
    if let Some(byte) = window.get(place) {
        mapped.text.push(*byte);
        mapped.from.push(place + 1);
    }
    Some(mapped)
}

/// Returns where a token goes on in the next line, or in the next string of a sum.
fn next_part(window: &[u8], end: usize) -> Option<usize> {
    let rest = &window[end..window.len().min(end + 64)];
    let skip = |at: usize, test: &dyn Fn(u8) -> bool| {
        at + rest[at..].iter().take(24).take_while(|byte| test(**byte)).count()
    };
    let quote = |byte: u8| matches!(byte, b'"' | b'\'' | b'`');
    let blank = |byte: u8| matches!(byte, b' ' | b'\t');
    let closed = skip(0, &quote);
    let mut at = skip(closed, &blank);
    let sum = matches!(rest.get(at), Some(b'+' | b'.' | b'\\')) && !rest[at..].starts_with(b"\\n");
    at = skip(at + usize::from(sum), &blank);
    let broken = match &rest[at..] {
        [b'\r', b'\n', ..] | [b'\\', b'n', ..] => 2,
        [b'\n', ..] => 1,
        _ if sum && closed > 0 => 0,
        _ => return None,
    };
    at = skip(at + broken, &|byte| blank(byte) || matches!(byte, b'>' | b'|'));
    at = skip(at, &quote);
    let part = &window[(end + at).min(window.len())..];
    let length = ANY_TOKEN.run(part, LINE);
    let behind = part[length..].first();
    // Only a line that holds nothing else goes on; a word or a name begins something new.
    let alone = behind.is_none_or(|byte| {
        matches!(byte, b'\n' | b'\r' | b'"' | b'\'' | b'`' | b'\\' | b',' | b';' | b')' | b'<')
    });
    let part = &part[..length];
    let drawn = digit_or_capital(part)
        && !part.contains(&b'=')
        && part.iter().skip(1).any(|b| b.is_ascii_digit() || b.is_ascii_uppercase());
    (length >= 4 && alone && drawn && BASE64.has(part[0])).then_some(end + at)
}

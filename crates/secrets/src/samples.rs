//! Secrets without an anchor: seed phrases, and long runs that nobody would write by hand.
//!
//! Both are long, so it is enough to look at a few bytes of the text: one of these lies in every
//! such run.

use std::collections::HashSet;
use std::ops::Range;
use std::sync::LazyLock;

use base64::Engine as _;

use crate::encoded::{self, LEAST_RUN};
use crate::rules::{Candidate, Rank, is_discord_token};
use crate::shape::{ALNUM, OPAQUE, URL64_DOT, all_three, is_placeholder_body};

/// Bytes between two looks for a seed phrase; twelve words have about 75.
pub(crate) const SEED_STRIDE: usize = 64;
/// Fewest words of a seed phrase.
const LEAST_WORDS: usize = 12;
/// Most words that are followed to either side.
const MOST_WORDS: usize = 24;
/// Most bytes between two words.
const GAP: usize = 8;

/// Finds the long runs without blanks whose 24th byte lies in `range`, and calls `take` with the
/// start of each.
///
/// A run cannot reach over a blank, so the look goes to the end of where one could be and from
/// there behind the last blank: most of the text is never looked at.
pub(crate) fn each_run(buffer: &[u8], range: Range<usize>, mut take: impl FnMut(usize)) {
    let mut start = (range.start + 1).saturating_sub(LEAST_RUN);
    if start > 0 && OPAQUE.has(buffer[start - 1]) {
        // It began before, and was found there.
        start += OPAQUE.run(&buffer[start..range.end], usize::MAX);
    }
    while start + LEAST_RUN <= range.end {
        let run = &buffer[start..start + LEAST_RUN];
        if let Some(blank) = last_blank(run) {
            start += blank + 1;
        } else if let Some(sign) = run.iter().rposition(|byte| !OPAQUE.has(*byte)) {
            start += sign + 1;
        } else {
            take(start);
            start += OPAQUE.run(&buffer[start..range.end], usize::MAX);
        }
    }
}

/// Returns the last of 24 bytes that is a blank, a control character or beyond ASCII.
#[inline]
fn last_blank(run: &[u8]) -> Option<usize> {
    const ONES: u64 = 0x0101_0101_0101_0101;
    let (blocks, _) = run.as_chunks::<8>();
    blocks.iter().enumerate().rev().find_map(|(number, block)| {
        let bytes = u64::from_le_bytes(*block);
        // A borrow can only mark bytes above the first one that is marked rightly.
        let small = bytes.wrapping_sub(ONES * 0x21) & !bytes | bytes;
        let marks = small & (ONES << 7);
        (marks != 0).then(|| number * 8 + 7 - marks.leading_zeros() as usize / 8)
    })
}

/// Returns the word of letters around a byte, or right behind it; nine letters are too many.
fn word_at(buffer: &[u8], at: usize) -> Range<usize> {
    let letters =
        |bytes: &[u8]| bytes.iter().take(9).take_while(|b| b.is_ascii_alphabetic()).count();
    let at = if buffer[at].is_ascii_alphabetic() { at } else { at + 1 };
    let before = &buffer[..at.min(buffer.len())];
    let back = before.iter().rev().take(9).take_while(|b| b.is_ascii_alphabetic()).count();
    let start = before.len() - back;
    start..before.len() + letters(&buffer[before.len()..])
}

/// Looks at a long run without blanks.
pub(crate) fn opaque(buffer: &[u8], start: usize, depth: u8, found: &mut impl FnMut(Candidate)) {
    let start = start + escape_length(&buffer[..start], &buffer[start..]);
    let length = OPAQUE.run(&buffer[start..], 160);
    let whole = &buffer[start..start + length];
    if let Some((kind, range)) = known_shape(whole, &buffer[..start]) {
        let range = start + range.start..start + range.end;
        found(Candidate { kind, range, rank: Rank::Shaped });
    }
    // Parts with full stops between them are encoded one by one.
    let mut from = 0;
    for part in whole.split(|byte| matches!(byte, b'.' | b'~')).take(4) {
        if part.len() >= LEAST_RUN {
            encoded::decoded(buffer, start + from, depth, found);
        }
        from += part.len() + 1;
    }
}

/// Returns how many bytes of a run are the end of an escape: `\\n`, or a colour.
fn escape_length(before: &[u8], run: &[u8]) -> usize {
    match run {
        [b'n' | b'r' | b't', ..] if before.ends_with(b"\\") => 1,
        _ if before.ends_with(b"\x1b[") => {
            run.iter().take(8).position(|byte| *byte == b'm').map_or(0, |at| at + 1)
        }
        _ => 0,
    }
}

/// Shapes that are known without a prefix.
fn known_shape(run: &[u8], before: &[u8]) -> Option<(&'static str, Range<usize>)> {
    let run = run.strip_suffix(b".").unwrap_or(run);
    let dotted = matches!(run.first(), Some(b'M' | b'N' | b'O'))
        && URL64_DOT.run(run, run.len()) == run.len();
    if dotted && is_discord_token(run) && begins_with_an_id(run) {
        return Some(("discord_bot_token", 0..run.len()));
    }
    // Nearly every run ends here: a path, a name, a digest.
    if !matches!(run.len(), 26 | 43 | 49 | 51..=56 | 86..=88)
        || !all_three(run)
        || is_placeholder_body(run)
    {
        return None;
    }
    let alnum = ALNUM.run(run, run.len()) == run.len();
    let base58 = alnum && !run.iter().any(|byte| b"0OIl".contains(byte));
    let wallet = base58
        && match run.len() {
            51 => run[0] == b'5',
            52 => matches!(run[0], b'K' | b'L'),
            87 | 88 => true,
            _ => false,
        };
    if wallet {
        return Some(("wallet_private_key", 0..run.len()));
    }
    // The keys of Microsoft's services have a mark at a known place.
    let marked = |at: usize, marks: &[&[u8]]| {
        marks.iter().any(|mark| run.get(at..at + mark.len()) == Some(mark))
    };
    let long = run.len() == 86 && marked(76, &[b"APIM", b"ACDb", b"+ABa", b"+AMC", b"+ASt"]);
    let short = run.len() == 43 && marked(33, &[b"AIoT", b"+ASb", b"+AEh", b"+ARm"]);
    let search = run.len() == 52 && marked(42, &[b"AzSe"])
        || marked(44, &[b"AzFu", b"AzCa"]) && run.len() <= 56;
    if long || short || search {
        return Some(("azure_service_key", 0..run.len()));
    }
    let zhipu = run.len() == 49 && run[32] == b'.' && run[..32].iter().all(u8::is_ascii_hexdigit);
    if zhipu && ALNUM.run(&run[33..], 16) == 16 {
        return Some(("zhipu_api_key", 0..run.len()));
    }
    let vault = run.len() == 26 && run.starts_with(b"s.") && ALNUM.run(&run[2..], 24) == 24;
    if vault && !before.ends_with(b".") {
        return Some(("vault_token", 0..run.len()));
    }
    None
}

/// Whether the first part is a number in base64, as ids of Discord are.
fn begins_with_an_id(token: &[u8]) -> bool {
    let part = token.split(|byte| *byte == b'.').next().unwrap_or_default();
    let engine = base64::engine::GeneralPurpose::new(
        &base64::alphabet::URL_SAFE,
        base64::engine::GeneralPurposeConfig::new()
            .with_decode_allow_trailing_bits(true)
            .with_decode_padding_mode(base64::engine::DecodePaddingMode::Indifferent),
    );
    engine.decode(part).is_ok_and(|id| id.len() >= 15 && id.iter().all(u8::is_ascii_digit))
}

/// The words of which wallets make seed phrases (BIP 39, English).
static SEED_WORDS: LazyLock<HashSet<&'static str>> =
    LazyLock::new(|| include_str!("bip39_words.txt").lines().collect());

/// One bit for each of the first four letters, mixed: most words are told by it alone.
static SEED_BITS: LazyLock<Vec<u64>> = LazyLock::new(|| {
    let mut bits = vec![0_u64; 1 << 10];
    for word in SEED_WORDS.iter() {
        let mixed = mix(word.as_bytes());
        bits[mixed / 64] |= 1 << (mixed % 64);
    }
    bits
});

fn mix(word: &[u8]) -> usize {
    let letters = word.iter().take(4).fold(0_u32, |sum, byte| sum << 8 | u32::from(byte | 0x20));
    let letters = if word.len() < 4 { letters << 8 } else { letters };
    (letters.wrapping_mul(0x9e37_79b1) >> 16) as usize
}

/// Words of the list that hold ordinary sentences together.
const ORDINARY: &[&str] = &[
    "about", "after", "again", "all", "also", "always", "any", "because", "before", "between",
    "can", "come", "could", "day", "find", "first", "good", "have", "help", "into", "just", "keep",
    "know", "like", "make", "more", "most", "much", "must", "need", "never", "next", "now", "once",
    "one", "only", "open", "other", "over", "own", "same", "say", "since", "some", "such", "sure",
    "tell", "that", "then", "there", "they", "thing", "this", "time", "today", "two", "under",
    "until", "upon", "use", "used", "very", "want", "way", "what", "when", "where", "will", "work",
    "you", "order", "name", "system", "file", "key", "list", "still", "while", "start", "stay",
    "try",
];

/// Whether a word has the length and the first letters of one of the list.
fn may_be_seed_word(word: &[u8]) -> bool {
    let mixed = mix(word);
    (3..=8).contains(&word.len()) && SEED_BITS[mixed / 64] >> (mixed % 64) & 1 == 1
}

/// Whether a word is one of the list, in any case.
fn is_seed_word(word: &[u8]) -> bool {
    if !may_be_seed_word(word) {
        return false;
    }
    let folded = word.to_ascii_lowercase();
    str::from_utf8(&folded).is_ok_and(|word| SEED_WORDS.contains(word))
}

/// Follows words of the list from the byte at `at` to both sides.
pub(crate) fn seed_phrase(buffer: &[u8], at: usize, found: &mut impl FnMut(Candidate)) {
    if !next_word_may_be_seed(&buffer[at..]) || !may_be_in_a_phrase(&buffer[at..]) {
        return;
    }
    // Where the look falls between two words, the next one is as good.
    let at = at + buffer[at..].iter().take(GAP).take_while(|byte| is_between(**byte)).count();
    if at == buffer.len() {
        return;
    }
    let word = word_at(buffer, at);
    if !is_seed_word(&buffer[word.clone()]) {
        return;
    }
    let mut words = Vec::new();
    let (mut first, mut last) = (word.clone(), word);
    let (mut before, mut behind) = (0, 0);
    while let Some(next) = word_before(buffer, &first).filter(|_| before < MOST_WORDS) {
        (first, before) = (next, before + 1);
    }
    while let Some(next) = word_behind(buffer, &last).filter(|_| behind < MOST_WORDS) {
        (last, behind) = (next, behind + 1);
    }
    if before + behind + 1 < LEAST_WORDS {
        return;
    }
    let mut next = Some(first.clone());
    while let Some(word) = next.filter(|word| word.end <= last.end) {
        next = word_behind(buffer, &word);
        words.push(word);
    }
    let texts: Vec<String> = words
        .iter()
        .map(|word| String::from_utf8_lossy(&buffer[word.clone()]).to_ascii_lowercase())
        .collect();
    let ordinary = texts.iter().filter(|word| ORDINARY.contains(&word.as_str())).count();
    let distinct = texts.iter().collect::<HashSet<_>>().len();
    // The list itself is sorted, and a sentence is held together by ordinary words.
    if ordinary * 3 > texts.len() || texts.is_sorted() || distinct * 3 < texts.len() * 2 {
        return;
    }
    let range = first.start..last.end;
    found(Candidate { kind: "seed_phrase", range, rank: Rank::Shaped });
}

/// Whether the word behind the next separator may be one of the list; whether it is unclear as well.
#[inline]
fn next_word_may_be_seed(text: &[u8]) -> bool {
    let Some(first) = separators(text) else { return true };
    let start = first.trailing_zeros() as usize / 8 + 1;
    let Some(marks) = text.get(start..).and_then(separators) else { return true };
    let length = marks.trailing_zeros() as usize / 8;
    // A word of the list has at least three letters; where there is none, the next look tells.
    let unclear = first == 0 || length == 0;
    unclear || length >= 3 && may_be_seed_word(&text[start..start + length])
}

/// Marks those of the next eight bytes that stand between words, each in its highest bit.
#[inline]
fn separators(text: &[u8]) -> Option<u64> {
    const ONES: u64 = 0x0101_0101_0101_0101;
    let bytes = u64::from_le_bytes(*text.first_chunk()?);
    // The lowest mark is always right, and only that one is used.
    Some(bytes.wrapping_sub(ONES * 0x41) & !bytes & (ONES << 7))
}

/// Whether a text goes on with words and what stands between them; prose has short words, and code
/// has signs.
#[inline]
fn may_be_in_a_phrase(text: &[u8]) -> bool {
    let head = &text[..text.len().min(24)];
    // Without a branch for each byte; most code ends here.
    if head.iter().fold(0, |all, byte| all | PARTS[usize::from(*byte)]) & OTHER != 0 {
        return false;
    }
    // The first word may be cut; most prose ends at the second.
    let is_letter = |byte: &&u8| PARTS[usize::from(**byte)] == LETTER;
    let first = head.iter().take_while(is_letter).count();
    let gap = head[first..].iter().take_while(|byte| !is_letter(byte)).count();
    let word = &head[first + gap..];
    let length = word.iter().take_while(is_letter).count();
    first + gap + length == head.len() || may_be_seed_word(&word[..length])
}

/// What a byte is to a phrase.
const LETTER: u8 = 1;
const BETWEEN: u8 = 2;
const OTHER: u8 = 4;

const PARTS: [u8; 256] = {
    let mut parts = [OTHER; 256];
    let mut byte = 0;
    while byte < 256 {
        let value = byte as u8;
        if value.is_ascii_alphabetic() {
            parts[byte] = LETTER;
        } else if is_between(value) {
            parts[byte] = BETWEEN;
        }
        byte += 1;
    }
    parts
};

/// Bytes between two words of a phrase: blanks, commas, and the numbers of a list.
const fn is_between(byte: u8) -> bool {
    matches!(
        byte,
        b' ' | b'\n' | b'\r' | b'\t' | b',' | b'.' | b')' | b'0'
            ..=b'9' | b'-' | b'"' | b'\'' | b'|'
    )
}

fn word_before(buffer: &[u8], word: &Range<usize>) -> Option<Range<usize>> {
    let before = &buffer[..word.start];
    let gap = before.iter().rev().take(GAP).take_while(|byte| is_between(**byte)).count();
    let head = &before[..before.len() - gap];
    let length = head.iter().rev().take(9).take_while(|byte| byte.is_ascii_alphabetic()).count();
    let next = head.len() - length..head.len();
    (gap > 0 && is_seed_word(&buffer[next.clone()])).then_some(next)
}

fn word_behind(buffer: &[u8], word: &Range<usize>) -> Option<Range<usize>> {
    let behind = &buffer[word.end..];
    let gap = behind.iter().take(GAP).take_while(|byte| is_between(**byte)).count();
    let rest = &behind[gap..];
    let length = rest.iter().take(9).take_while(|byte| byte.is_ascii_alphabetic()).count();
    let next = word.end + gap..word.end + gap + length;
    (gap > 0 && is_seed_word(&buffer[next.clone()])).then_some(next)
}

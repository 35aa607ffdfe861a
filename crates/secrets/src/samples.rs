//! Secrets without an anchor: seed phrases, and long runs that nobody would write by hand.
//!
//! Both are long, so it is enough to look at every sixteenth byte of the stream: one of these
//! bytes lies near the beginning of every such run.

use std::collections::HashSet;
use std::ops::Range;
use std::sync::LazyLock;

use base64::Engine as _;

use crate::encoded::{self, LEAST_RUN};
use crate::rules::{Candidate, Rank, is_discord_token};
use crate::shape::{ALNUM, OPAQUE, URL64_DOT, all_three, is_placeholder_body};

/// Bytes between two looks.
pub(crate) const STRIDE: usize = 16;
/// Bytes between two looks for a seed phrase; twelve words have about 75.
const SEED_STRIDE: usize = 48;
/// How far a seed phrase may reach to either side.
const SEED: usize = 480;

/// Looks at the byte at `at`, which is the byte `place` of the stream.
pub(crate) fn check(
    buffer: &[u8],
    at: usize,
    place: usize,
    depth: u8,
    found: &mut impl FnMut(Candidate),
) {
    let ahead = buffer.get(at..at + BYTES).and_then(|bytes| bytes.try_into().ok());
    if ahead.is_some_and(has_no_blank) && OPAQUE.has(buffer[at]) {
        let back = OPAQUE.run_back(&buffer[..at], STRIDE);
        let ahead = OPAQUE.run(&buffer[at..], LEAST_RUN);
        // Only the first look at a run reads it.
        if back < STRIDE && back + ahead >= LEAST_RUN {
            opaque(buffer, at - back, depth, found);
        }
    }
    if place.is_multiple_of(SEED_STRIDE) {
        seed_phrase(buffer, word_at(buffer, at), found);
    }
}

/// Bytes behind a look that belong to every run that is long enough.
const BYTES: usize = 8;
const _: () = assert!(STRIDE + BYTES <= LEAST_RUN, "or a run could end before its bytes do");

/// Whether none of eight bytes is a blank or a control character.
fn has_no_blank(bytes: [u8; BYTES]) -> bool {
    const ONES: u64 = 0x0101_0101_0101_0101;
    let bytes = u64::from_ne_bytes(bytes);
    bytes.wrapping_sub(ONES * 0x21) & !bytes & (ONES << 7) == 0
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
fn opaque(buffer: &[u8], start: usize, depth: u8, found: &mut impl FnMut(Candidate)) {
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

/// Shapes that are known without a prefix.
fn known_shape(run: &[u8], before: &[u8]) -> Option<(&'static str, Range<usize>)> {
    let run = run.strip_suffix(b".").unwrap_or(run);
    let dotted = URL64_DOT.run(run, run.len()) == run.len();
    if dotted && is_discord_token(run) && begins_with_an_id(run) {
        return Some(("discord_bot_token", 0..run.len()));
    }
    if is_placeholder_body(run) || !all_three(run) {
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

fn is_seed_word(word: &[u8]) -> bool {
    if !(3..=8).contains(&word.len()) {
        return false;
    }
    let mixed = mix(word);
    if SEED_BITS[mixed / 64] >> (mixed % 64) & 1 == 0 {
        return false;
    }
    let folded = word.to_ascii_lowercase();
    str::from_utf8(&folded).is_ok_and(|word| SEED_WORDS.contains(word))
}

/// Follows words of the list to both sides.
fn seed_phrase(buffer: &[u8], word: Range<usize>, found: &mut impl FnMut(Candidate)) {
    if !is_seed_word(&buffer[word.clone()]) {
        return;
    }
    let low = word.start.saturating_sub(SEED);
    let high = buffer.len().min(word.end + SEED);
    let letter = |byte: u8| byte.is_ascii_alphabetic();
    let mut words = std::collections::VecDeque::from([word]);
    // Between words are blanks, line breaks, commas, and numbers of a list.
    let between = |byte: u8| {
        matches!(
            byte,
            b' ' | b'\n' | b'\r' | b'\t' | b',' | b'.' | b')' | b'0'
                ..=b'9' | b'-' | b'"' | b'\'' | b'|'
        )
    };
    const GAP: usize = 8;
    while let Some(first) = words.front()
        && words.len() <= 24
    {
        let before = &buffer[low..first.start];
        let gap = before.iter().rev().take(GAP).take_while(|byte| between(**byte)).count();
        let head = &before[..before.len() - gap];
        let length = head.iter().rev().take(9).take_while(|byte| letter(**byte)).count();
        let next = low + head.len() - length..low + head.len();
        if gap == 0 || !is_seed_word(&buffer[next.clone()]) {
            break;
        }
        words.push_front(next);
    }
    while let Some(last) = words.back()
        && words.len() <= 48
    {
        let behind = &buffer[last.end..high];
        let gap = behind.iter().take(GAP).take_while(|byte| between(**byte)).count();
        let length = behind[gap..].iter().take(9).take_while(|byte| letter(**byte)).count();
        let next = last.end + gap..last.end + gap + length;
        if gap == 0 || !is_seed_word(&buffer[next.clone()]) {
            break;
        }
        words.push_back(next);
    }
    if words.len() < 12 {
        return;
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
    if let (Some(first), Some(last)) = (words.front(), words.back()) {
        let range = first.start..last.end;
        found(Candidate { kind: "seed_phrase", range, rank: Rank::Shaped });
    }
}

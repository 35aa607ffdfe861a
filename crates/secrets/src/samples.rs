//! Secrets without an anchor: seed phrases, and long runs that no person would type.
//!
//! Both are long, so it is enough to check a few bytes of the text: every such run contains one of
//! them.

use std::collections::HashSet;
use std::ops::Range;
use std::sync::LazyLock;

use crate::encoded::{self, LEAST_RUN};
use crate::rules::{Candidate, is_discord_token};
use crate::shape::{ALNUM, OPAQUE, URL64_DOT, all_three, is_placeholder_body};

/// Bytes between two looks for a run.
pub(crate) const STRIDE: usize = 8;
const _: () = assert!(LEAST_RUN + 1 >= 3 * STRIDE, "or a run could have no two whole blocks");
/// Bytes between two looks for a seed phrase; twelve words have about 75, and a look has to see
/// two of them behind it.
pub(crate) const SEED_STRIDE: usize = 48;
/// Fewest words of a seed phrase.
const LEAST_WORDS: usize = 12;
/// Most words that are followed to either side.
const MOST_WORDS: usize = 24;
/// Most bytes between two words.
const GAP: usize = 8;

/// Calls `take` with the start of each long run without whitespace that has its first look in
/// `range`.
pub(crate) fn each_run(buffer: &[u8], range: Range<usize>, mut take: impl FnMut(usize)) {
    if range.is_empty() {
        return;
    }
    // The last look sees one block more.
    let text = &buffer[range.start..buffer.len().min(range.end.next_multiple_of(STRIDE) + STRIDE)];
    let (lines, rest) = text.as_chunks::<LINE>();
    let mut last = [b' '; LINE];
    last[..rest.len()].copy_from_slice(rest);
    // Whether the last block belongs to a run, and whether the one before it does as well.
    let (mut was_full, mut was_found) = (0, 0);
    for (number, line) in lines.iter().chain([&last]).enumerate() {
        let full = full_blocks(line);
        let found = full & (full << 1 | was_full);
        let mut first = found & !(found << 1 | was_found);
        (was_full, was_found) = (full >> (BLOCKS - 1), found >> (BLOCKS - 1));
        while first != 0 {
            let block = number * BLOCKS + first.trailing_zeros() as usize;
            first &= first - 1;
            // Two whole blocks, of which this is the second.
            let at = range.start + (block - 1) * STRIDE;
            if at < range.end {
                run_around(buffer, at).into_iter().for_each(&mut take);
            }
        }
    }
}

/// Bytes that are classed together.
const LINE: usize = 64;

/// Blocks in a line.
const BLOCKS: usize = LINE / STRIDE;

/// Returns a bit for each block of eight bytes that may all belong to a run. There is no table and
/// no branch in it, so that the compiler classes many bytes at once.
#[inline]
fn full_blocks(line: &[u8; LINE]) -> u32 {
    let mut foreign = [0; LINE];
    for (byte, flag) in line.iter().zip(&mut foreign) {
        let is_letter = (byte | 0x20).wrapping_sub(b'a') < 26;
        // From plus to nine: digits, and all signs of a run but two.
        let is_sign = (byte.wrapping_sub(b'+') < 15) & (*byte != b',');
        *flag = u8::from(!(is_letter | is_sign | (*byte == b'_') | (*byte == b'~')));
    }
    let (blocks, _) = foreign.as_chunks::<STRIDE>();
    let bits = blocks.iter().enumerate();
    bits.fold(0, |full, (number, block)| {
        full | u32::from(u64::from_ne_bytes(*block) == 0) << number
    })
}

/// Returns the start of the run around the byte at `at`, if it was not examined before.
fn run_around(buffer: &[u8], at: usize) -> Option<usize> {
    let ahead = OPAQUE.run(&buffer[at..], LEAST_RUN);
    let back = OPAQUE.run_back(&buffer[..at], STRIDE);
    (back < STRIDE && back + ahead >= LEAST_RUN).then_some(at - back)
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

/// Examines a long run without whitespace.
pub(crate) fn opaque(buffer: &[u8], start: usize, depth: u8, found: &mut impl FnMut(Candidate)) {
    let start = start + escape_length(&buffer[..start], &buffer[start..]);
    let length = OPAQUE.run(&buffer[start..], 160);
    let whole = &buffer[start..start + length];
    if let Some((kind, range)) = known_shape(whole, &buffer[..start]) {
        found(Candidate::shaped(kind, start + range.start..start + range.end));
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
    encoded::base64(part).is_some_and(|id| id.len() >= 15 && id.iter().all(u8::is_ascii_digit))
}

/// The words of which wallets make seed phrases (BIP 39, English).
static SEED_WORDS: LazyLock<HashSet<&'static str>> =
    LazyLock::new(|| include_str!("bip39_words.txt").lines().collect());

/// One bit for each of the first four letters, mixed: it alone decides most words.
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
    mixed(if word.len() < 4 { letters << 8 } else { letters })
}

/// Spreads four letters over the bits.
#[inline]
const fn mixed(letters: u32) -> usize {
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

/// Looks for a seed phrase around every 48th byte of a range, from the first one on.
pub(crate) fn seed_phrases(buffer: &[u8], range: Range<usize>, found: &mut impl FnMut(Candidate)) {
    let bits: &[u64] = &SEED_BITS;
    for at in range.step_by(SEED_STRIDE) {
        let text = &buffer[at..];
        if is_of_words(text) && begins_as_a_phrase(text, bits) {
            seed_phrase(buffer, at, found);
        }
    }
}

/// Whether the next bytes are letters and word separators; code has other characters.
#[inline]
fn is_of_words(text: &[u8]) -> bool {
    let Some(head) = text.first_chunk::<16>() else { return true };
    // There is no table and no branch in it, so that the compiler looks at many bytes at once.
    head.iter().fold(0, |others, byte| {
        let is_letter = (byte | 0x20).wrapping_sub(b'a') < 26;
        let is_digit = byte.wrapping_sub(b'0') < 10;
        // Blanks and quotes, brackets, and comma to full stop: some more than there are.
        let is_sign = (byte.wrapping_sub(b' ') < 15) | (*byte <= b'\r') | (*byte == b'|');
        others | u8::from(!(is_letter | is_digit | is_sign))
    }) == 0
}

/// Follows words of the list from the byte at `at` to both sides.
fn seed_phrase(buffer: &[u8], at: usize, found: &mut impl FnMut(Candidate)) {
    if !may_be_in_a_phrase(&buffer[at..]) {
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
    found(Candidate::shaped("seed_phrase", range));
}

/// Whether the next two words may be of the list. It rules out most text.
#[inline]
fn begins_as_a_phrase(text: &[u8], bits: &[u64]) -> bool {
    let Some(marks) = separators(text) else { return true };
    // The first word may be cut, and a word of the list has at most eight letters.
    let mut at = marks.trailing_zeros() as usize / 8 + 1;
    let mut words = 0;
    for _ in 0..4 {
        let Some((head, marks)) = text.get(at..).and_then(|head| Some((head, separators(head)?)))
        else {
            return true;
        };
        let length = marks.trailing_zeros() as usize / 8;
        // A full stop or a comma, and a space behind it.
        if length == 0 {
            at += 1;
            continue;
        }
        if !((length >= 3) & may_be_of_list(head, length, bits)) {
            return head[0] == b'|';
        }
        words += 1;
        at += length + 1;
        if words == 2 {
            return true;
        }
    }
    // If numbers or line breaks are between the words, the slower check decides.
    true
}

/// Marks the word separators among the next eight bytes, each in its highest bit. Marks above the
/// lowest one may be wrong.
#[inline]
fn separators(text: &[u8]) -> Option<u64> {
    const ONES: u64 = 0x0101_0101_0101_0101;
    let bytes = u64::from_le_bytes(*text.first_chunk()?);
    Some(bytes.wrapping_sub(ONES * 0x41) & !bytes & (ONES << 7))
}

/// Whether a word of a known length begins with the letters of one of the list.
#[inline]
fn may_be_of_list(head: &[u8], length: usize, bits: &[u64]) -> bool {
    let letters = u32::from_be_bytes([head[0], head[1], head[2], head[3]]) | 0x2020_2020;
    let letters = if length == 3 { letters & !0xff } else { letters };
    let mixed = mixed(letters);
    bits[mixed / 64] >> (mixed % 64) & 1 == 1
}

/// Whether a text continues with words and separators; prose has short words, and code
/// has signs.
#[inline]
fn may_be_in_a_phrase(text: &[u8]) -> bool {
    let head = &text[..text.len().min(24)];
    if head.iter().any(|byte| PARTS[usize::from(*byte)] == OTHER) {
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

/// The role of a byte in a phrase.
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

/// Bytes between two words of a phrase: whitespace, commas, and list numbers.
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

//! The words that OpenClaw looks for when a whole question finds too little.
//!
//! Words of up to two Latin letters are never looked for, so the lists do not have them.

use std::collections::HashSet;
use std::sync::LazyLock;

use regex::Regex;

use super::script;

/// Words of all languages except Korean without meaning of their own.
static WEAK: LazyLock<HashSet<&str>> =
    LazyLock::new(|| include_str!("keywords/weak.txt").split_whitespace().collect());

/// Korean words without meaning of their own; also checked without their particle.
static WEAK_KOREAN: LazyLock<HashSet<&str>> =
    LazyLock::new(|| include_str!("keywords/weak_korean.txt").split_whitespace().collect());

/// What follows a Korean noun, the longer ones first.
const PARTICLES: [&str; 25] = [
    "에서", "으로", "에게", "한테", "처럼", "같이", "보다", "까지", "부터", "마다", "밖에", "대로",
    "은", "는", "이", "가", "을", "를", "의", "에", "로", "와", "과", "도", "만",
];

static JAPANESE_RUN: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"[a-z0-9_]+|[\u{30a0}-\u{30ff}]+|[\u{4e00}-\u{9fff}]+|[\u{3040}-\u{309f}]{2,}")
        .expect("a fixed pattern")
});
static BETWEEN: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"[\p{White_Space}\u{feff}\p{P}&&[^\u{85}]]+").expect("a fixed pattern")
});
static SIGNS: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"^[\p{P}\p{S}]+$").expect("a fixed pattern"));

const fn is_ideograph(c: char) -> bool {
    matches!(c, '\u{4e00}'..='\u{9fff}')
}

const fn is_kana(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30ff}')
}

const fn is_syllable(c: char) -> bool {
    matches!(c, '\u{ac00}'..='\u{d7af}')
}

/// Returns the words to look for, each once, in the order of the query.
pub(super) fn keywords(query: &str) -> Vec<String> {
    let lower = script::trimmed(query).to_lowercase();
    let mut found = Vec::new();
    let mut seen = HashSet::new();
    let mut take = |token: &str| {
        if says_something(token) && !seen.contains(token) {
            seen.insert(token.to_owned());
            found.push(token.to_owned());
        }
    };
    for segment in BETWEEN.split(&lower).filter(|segment| !segment.is_empty()) {
        split(segment, &mut take);
    }
    found
}

/// Splits a segment according to its script.
fn split(segment: &str, take: &mut impl FnMut(&str)) {
    if segment.contains(is_kana) {
        for run in JAPANESE_RUN.find_iter(segment) {
            take(run.as_str());
            if run.as_str().starts_with(is_ideograph) {
                pairs(&run.as_str().chars().collect::<Vec<_>>(), take);
            }
        }
    } else if segment.contains(is_ideograph) {
        let ideographs: Vec<char> = segment.chars().filter(|&c| is_ideograph(c)).collect();
        for c in &ideographs {
            take(c.encode_utf8(&mut [0; 4]));
        }
        pairs(&ideographs, take);
    } else if segment.contains(|c| is_syllable(c) || matches!(c, '\u{3131}'..='\u{3163}')) {
        let stem = PARTICLES
            .iter()
            .find_map(|particle| segment.strip_suffix(particle).filter(|stem| !stem.is_empty()));
        let weak_stem = stem.is_some_and(|stem| WEAK_KOREAN.contains(stem));
        if !weak_stem {
            take(segment);
        }
        if let Some(stem) = stem.filter(|stem| !weak_stem && is_stem(stem)) {
            take(stem);
        }
    } else {
        take(segment);
    }
}

/// Neighbouring characters, two by two.
fn pairs(characters: &[char], take: &mut impl FnMut(&str)) {
    for pair in characters.windows(2) {
        take(&pair.iter().collect::<String>());
    }
}

/// Whether what is left without a particle can be a word.
fn is_stem(stem: &str) -> bool {
    if stem.contains(is_syllable) {
        script::units(stem) >= 2
    } else {
        stem.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    }
}

fn says_something(token: &str) -> bool {
    let short_word = token.len() < 3 && token.bytes().all(|byte| byte.is_ascii_alphabetic());
    let number = token.bytes().all(|byte| byte.is_ascii_digit());
    !short_word
        && !number
        && !WEAK.contains(token)
        && !WEAK_KOREAN.contains(token)
        && !SIGNS.is_match(token)
}

//! The ways of saying that something is not known.
//!
//! Replies are worded differently every time, so the rules look for a negation near a word of
//! knowing, not for whole sentences.

use std::sync::LazyLock;

/// How one language says that something is not known.
struct Denial {
    /// Words that negate. `~` at the end matches any ending.
    negations: Vec<&'static str>,
    /// Verbs and nouns of knowing, finding and being written down.
    knowing: Vec<&'static str>,
    order: Order,
    /// The greatest distance in words from a negation to a word of knowing.
    reach: usize,
}

/// The position of a negation relative to the word of knowing.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Order {
    /// Before the word of knowing.
    Before,
    /// Before or after it.
    Either,
}

/// The greatest distance in words from an English verb of knowing back to its negation.
const REACH: usize = 5;

static DENIALS: LazyLock<Vec<Denial>> =
    LazyLock::new(|| include_str!("denials.txt").lines().filter_map(Denial::read).collect());

/// English verbs: "I don't know", "we could not find". Without the subject they say something about
/// others: "you don't have to".
const VERBS: [&str; 16] = [
    "know", "find", "found", "see", "have", "recall", "remember", "tell", "locate", "think", "got",
    "seem", "access", "say", "answer", "spot",
];
/// The words that negate English verbs.
const NEGATED: [&str; 16] = [
    "don't", "didn't", "can't", "couldn't", "cannot", "not", "haven't", "wasn't", "hadn't",
    "won't", "dont", "cant", "couldnt", "didnt", "never", "unable",
];
/// English phrases with the negation after the verb.
const VERB_FIRST: [(&str, &str); 10] = [
    ("found", "no"),
    ("found", "nothing"),
    ("find", "no"),
    ("find", "nothing"),
    ("see", "no"),
    ("see", "nothing"),
    ("have", "no"),
    ("have", "nothing"),
    ("know", "nothing"),
    ("am", "unsure"),
];

/// Phrases of languages that are not split at spaces, or that negate within a word.
const PHRASES: &str = "不知道|不清楚|不记得|不記得|没有找到|没找到|沒有找到|找不到|未找到|查不到|没有记录|没有相关|\
     没有关于|没有提到|没有写|没有信息|无法确定|記録がありません|記録はありません|情報がありません|\
     情報はありません|メモがありません|メモはありません|見つかりません|見つけられません|見当たりません|\
     分かりません|わかりません|知りません|覚えていません|書かれていません|不明です|모르겠|\
     찾을 수 없|찾지 못|기록이 없|정보가 없|bilmiyorum|bulamad|en tiedä";

/// Whether a sentence says that something is not known or was not found.
pub(crate) fn says_unknown(sentence: &str) -> bool {
    let lower = sentence.to_lowercase().replace('’', "'");
    if PHRASES.split('|').any(|phrase| lower.contains(phrase)) {
        return true;
    }
    let is_inside = |c: char| c.is_alphanumeric() || c == '\'' || is_mark(c);
    let words: Vec<&str> =
        lower.split(|c: char| !is_inside(c)).filter(|word| !word.is_empty()).collect();
    begins_with_none(&lower, &words)
        || words.iter().any(|word| ADMISSIONS.contains(word))
        || denies_knowing(&words)
        || DENIALS.iter().any(|denial| denial.is_in(&words))
}

/// English words that admit not knowing by themselves.
const ADMISSIONS: [&str; 4] = ["unknown", "unsure", "guessing", "dunno"];

/// Whether an English reply begins by saying that there is nothing: "No price for that." A no
/// followed by a comma is an answer.
fn begins_with_none(lower: &str, words: &[&str]) -> bool {
    match words {
        ["no", _, ..] => lower.trim_start().starts_with("no "),
        ["still" | "sorry", "no" | "nothing", _, ..] | ["nothing", _, ..] => true,
        _ => false,
    }
}

/// Whether a character belongs to the letter before it, such as a vowel sign.
fn is_mark(c: char) -> bool {
    matches!(c, '\u{300}'..='\u{36f}' | '\u{64b}'..='\u{65f}')
}

/// Whether English words say that the speaker does not know.
fn denies_knowing(words: &[&str]) -> bool {
    let is_subject = |word: &&str| matches!(*word, "i" | "we" | "i'm" | "i've" | "we've" | "i'd");
    let before = |at: usize| &words[at.saturating_sub(3)..at];
    let has_subject = |at: usize| words[..at].iter().any(&is_subject);
    let verb_first =
        |pair: &[&str]| VERB_FIRST.iter().any(|&(verb, subject)| pair == [verb, subject]);
    let behind = |(at, pair): (usize, &[&str])| verb_first(pair) && (at == 0 || has_subject(at));
    let negated = |(at, word): (usize, &&str)| {
        NEGATED.contains(word)
            && (at == 0 || before(at).iter().any(&is_subject))
            && words[at + 1..].iter().take(REACH).any(|word| VERBS.contains(word))
    };
    words.windows(2).enumerate().any(behind) || words.iter().enumerate().any(negated)
}

impl Denial {
    /// Reads a line of the table; a comment line gives `None`.
    fn read(line: &'static str) -> Option<Self> {
        let mut parts = line.split(" | ");
        let (order, reach) = parts.next()?.split_once(' ')?;
        let order = if order == "before" { Order::Before } else { Order::Either };
        let mut words = || Some(parts.next()?.split(' ').collect());
        Some(Self { order, reach: reach.parse().ok()?, negations: words()?, knowing: words()? })
    }

    fn is_in(&self, words: &[&str]) -> bool {
        let places = |list: &[&str]| -> Vec<usize> {
            let is_listed = |word: &str| list.iter().any(|listed| matches(listed, word));
            words.iter().enumerate().filter(|(_, word)| is_listed(word)).map(|(at, _)| at).collect()
        };
        let negations = places(&self.negations);
        if negations.is_empty() {
            return false;
        }
        let knowing = places(&self.knowing);
        negations.iter().any(|negation| {
            knowing.iter().any(|word| match self.order {
                Order::Before => *word > *negation && word - negation <= self.reach,
                Order::Either => word != negation && word.abs_diff(*negation) <= self.reach,
            })
        })
    }
}

/// Whether a word is in the table, or begins like an entry that ends with `~`.
fn matches(listed: &str, word: &str) -> bool {
    match listed.strip_suffix('~') {
        Some(start) => word.starts_with(start),
        None => listed == word,
    }
}

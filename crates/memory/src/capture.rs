//! Decides which of a person's sentences are worth remembering, by rules and without a model.
//!
//! A sentence is captured when it states a preference, a decision, who a person is, or that it
//! should be remembered. Questions, suppositions and text that was only pasted into a message are
//! not captured; nor is text that looks like a document, a list or an attack. The rules are tables,
//! one for each language.

use std::ops::AddAssign;
use std::sync::LazyLock;

use anemone_format::word_enum;
use anemone_secrets::scan;

use crate::phrase::{find, folded, is_wide, table};
use crate::suspicion::suspicious;

/// When sentences are captured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CaptureSettings {
    /// Whether they are at all.
    pub enabled: bool,
    /// How many of one conversation, at most.
    pub most: usize,
    /// The shortest sentence, in characters; those of Chinese and Japanese count twice.
    pub least_chars: usize,
    /// The longest sentence.
    pub most_chars: usize,
}

impl Default for CaptureSettings {
    fn default() -> Self {
        Self { enabled: false, most: 3, least_chars: 10, most_chars: 500 }
    }
}

word_enum! {
    /// The topic of a captured sentence.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum CaptureKind {
        /// A preference of the speaker.
        Preference = "preference",
        /// A decision.
        Decision = "decision",
        /// Who a person is, and how to reach them.
        Entity = "entity",
        /// Anything else that is to be remembered.
        Fact = "fact",
    }
}

/// A sentence that is worth remembering.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CapturedText {
    /// Its topic.
    pub kind: CaptureKind,
    /// The sentence, in the original words.
    pub text: String,
}

/// Texts that looked worth remembering, or like a message at all, and were not taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct CaptureSkips {
    /// Memories or context that a program put in.
    pub injected: u64,
    /// Text from programs.
    pub system: u64,
    /// Documents, lists and code.
    pub markdown: u64,
    /// Mostly emoji.
    pub emoji: u64,
    /// What looks like an attack.
    pub suspicious: u64,
    /// What held a secret.
    pub secret: u64,
    /// Too short or too long.
    pub length: u64,
    /// Messages by other people, or by unknown senders.
    pub not_owner: u64,
}

impl AddAssign for CaptureSkips {
    fn add_assign(&mut self, other: Self) {
        self.injected += other.injected;
        self.system += other.system;
        self.markdown += other.markdown;
        self.emoji += other.emoji;
        self.suspicious += other.suspicious;
        self.secret += other.secret;
        self.length += other.length;
        self.not_owner += other.not_owner;
    }
}

/// Finds the sentences of a message that are worth remembering, in order.
#[must_use]
pub fn captures(message: &str, settings: &CaptureSettings) -> (Vec<CapturedText>, CaptureSkips) {
    match refused(message) {
        Some(not) => (Vec::new(), not),
        None => sentences_of(message, settings),
    }
}

fn sentences_of(message: &str, settings: &CaptureSettings) -> (Vec<CapturedText>, CaptureSkips) {
    let mut found = Vec::new();
    let mut not = CaptureSkips::default();
    for sentence in sentences(message) {
        let Some(kind) = kind_of(sentence) else { continue };
        let width: usize =
            sentence.chars().map(|character| if is_wide(character) { 2 } else { 1 }).sum();
        if width < settings.least_chars || sentence.chars().count() > settings.most_chars {
            not.length += 1;
        } else if sentence.contains("[redacted:") || !scan(sentence.as_bytes()).is_empty() {
            not.secret += 1;
        } else {
            found.push(CapturedText { kind, text: sentence.to_owned() });
        }
    }
    (found, not)
}

/// Returns the topic of a sentence; `None` if no rule says that it is worth remembering.
#[must_use]
pub fn kind_of(sentence: &str) -> Option<CaptureKind> {
    if sentence.trim_end().ends_with(['?', '？', '¿']) {
        return None;
    }
    let text = folded(sentence);
    let kind = LANGUAGES.iter().find_map(|patterns| kind_in(patterns, &text));
    kind.or_else(|| has_contact(&text).then_some(CaptureKind::Entity))
}

/// Patterns of one language, each with its topic. A match of a pattern with `None` makes the
/// sentence a question, a supposition or a courtesy, even if others match.
type Patterns = Vec<(Option<CaptureKind>, &'static str)>;

/// The patterns of each language; see [`crate::phrase`] for how they are written.
static LANGUAGES: LazyLock<Vec<Patterns>> = LazyLock::new(|| {
    let patterns =
        |lines| table(lines).map(|(word, pattern)| (CaptureKind::of_word(word), pattern)).collect();
    include_str!("capture/phrases.txt").split("\n\n").map(patterns).collect()
});

fn kind_in(patterns: &Patterns, text: &str) -> Option<CaptureKind> {
    let is_said = |pattern: &str| find(text, pattern).is_some();
    let kind = patterns.iter().find_map(|(kind, pattern)| kind.filter(|_| is_said(pattern)))?;
    let is_unsaid = patterns.iter().any(|(kind, pattern)| kind.is_none() && is_said(pattern));
    (!is_unsaid).then_some(kind)
}

/// Says whether a text contains an e-mail address or a phone number.
fn has_contact(text: &str) -> bool {
    let is_mail = |word: &str| {
        let word = word.trim_matches(|c: char| !c.is_alphanumeric());
        let Some((name, host)) = word.split_once('@') else { return false };
        !name.is_empty() && host.contains('.') && !host.starts_with('.') && !host.contains('@')
    };
    let joined = text.replace(", ", ",");
    joined.split([' ', ',', ';']).any(is_mail) || has_phone_number(text)
}

/// Says whether a text contains an international phone number: `+49 30 901820`, `0049 30 901820`.
fn has_phone_number(text: &str) -> bool {
    let is_inside = |c: char| c.is_ascii_digit() || " -()./\u{a0}\u{202f}".contains(c);
    text.match_indices(['+', '0']).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let rest = &text[at..];
        let Some(number) = rest.strip_prefix('+').or_else(|| rest.strip_prefix("00")) else {
            return false;
        };
        let end = number.find(|c| !is_inside(c)).unwrap_or(number.len());
        let end = number[..end].trim_end_matches(|c: char| !c.is_ascii_digit()).len();
        let digits = number[..end].chars().filter(char::is_ascii_digit).count();
        before.is_none_or(|c| !(c.is_alphanumeric() || "+-./".contains(c)))
            && number.starts_with(|c| matches!(c, '1'..='9'))
            && (8..=15).contains(&digits)
            && !number[end..].starts_with(|c: char| c.is_ascii_alphanumeric() || "+%€$".contains(c))
    })
}

/// Says why a whole message is passed over.
fn refused(message: &str) -> Option<CaptureSkips> {
    const INJECTED: [&str; 5] = [
        "<recalled-memory",
        "<relevant-memories",
        "<system-reminder",
        "[Memory context]",
        "BEGIN_QUOTED_NOTES",
    ];
    const SYSTEM: [&str; 6] =
        ["[cron:", "[heartbeat", "[distilled_", "System:", "[System", "Pre-compaction memory"];
    let message = message.trim();
    let none = CaptureSkips::default();
    if INJECTED.iter().any(|injected| message.contains(injected)) {
        return Some(CaptureSkips { injected: 1, ..none });
    }
    let is_element = message.starts_with('<') && message.contains("</");
    if is_element || SYSTEM.iter().any(|system| message.starts_with(system)) {
        return Some(CaptureSkips { system: 1, ..none });
    }
    if is_markdown(message) {
        return Some(CaptureSkips { markdown: 1, ..none });
    }
    if message.chars().filter(|character| is_emoji(*character)).count() > 3 {
        return Some(CaptureSkips { emoji: 1, ..none });
    }
    // One suspicious sentence makes the others of its message suspicious.
    (!suspicious(message).is_empty()).then_some(CaptureSkips { suspicious: 1, ..none })
}

/// Says whether a message looks like a document.
fn is_markdown(message: &str) -> bool {
    let is_marked = |line: &&str| {
        let line = line.trim_start();
        let number = line.trim_start_matches(|c: char| c.is_ascii_digit());
        ["# ", "## ", "### ", "- ", "* ", "> ", "| "].iter().any(|value| line.starts_with(value))
            || (number.len() < line.len() && number.starts_with(". "))
    };
    message.contains("```")
        || message.lines().filter(is_marked).count() >= 3
        || message.matches("**").count() >= 4
}

const fn is_emoji(c: char) -> bool {
    matches!(c, '\u{1f300}'..='\u{1faff}' | '\u{2600}'..='\u{27bf}' | '\u{1f000}'..='\u{1f2ff}')
}

/// Takes a message apart into sentences, each with the mark that ends it.
pub(crate) fn sentences(message: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut start = 0;
    let mut chars = message.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let is_end = match c {
            '\n' | '。' | '！' | '？' => true,
            '.' | '!' | '?' => chars.peek().is_none_or(|(_, next)| next.is_whitespace()),
            _ => false,
        };
        if is_end {
            found.push(&message[start..at + c.len_utf8()]);
            start = at + c.len_utf8();
        }
    }
    found.push(&message[start..]);
    found.into_iter().map(str::trim).filter(|value| !value.is_empty()).collect()
}

#[cfg(test)]
mod tests;

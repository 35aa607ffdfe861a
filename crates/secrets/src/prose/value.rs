//! What follows a link, and whether it is a password.

use std::ops::Range;

use super::lists::{FILLERS, UNITS};
use super::phrases::{
    has_predicate_ending, is_joined, is_kebab, is_made_up, is_number, is_plain_word,
    is_quoted_phrase, is_rare_word, is_technical, phrase, refers,
};
use super::{LONGEST, Link, ends_sentence, tokens};
use crate::anchors::SpokenWord;
use crate::shape::{Texture, is_placeholder, is_stand_in, texture};

/// Judges what is at `at`.
pub(super) fn value_at(
    line: &str,
    at: usize,
    link: Link,
    word: SpokenWord,
) -> Option<Range<usize>> {
    let mut at = at;
    for _ in 0..3 {
        let rest = line.get(at..)?;
        at += rest.len() - rest.trim_start_matches([' ', '\t', '\u{a0}', '\u{3000}', ':']).len();
        let Some(token) = tokens(&line[at..]).next() else { break };
        let text = line[at..][token.clone()].to_lowercase();
        if matches!(link, Link::None | Link::Sign | Link::Label) || !FILLERS.contains(text.as_str())
        {
            break;
        }
        at += token.end;
    }
    if let Some(inner) = quoted(&line[at..]) {
        let range = at + inner.start..at + inner.end;
        let text = &line[range.clone()];
        return accepts_quoted(text, link, word).then_some(range);
    }
    let rest = &line[at..];
    let token = tokens(rest).next().filter(|token| token.len() <= LONGEST)?;
    let text = without_ending(bare(&rest[token.clone()]));
    let offset = rest[token.clone()].find(text)?;
    let start = at + token.start + offset;
    let behind = &line[start + text.len()..];
    if matches!(word, SpokenWord::Token | SpokenWord::Secret | SpokenWord::Key) {
        if word == SpokenWord::Key
            && let Some(length) = hex_pairs(rest.as_bytes())
        {
            return Some(at..at + length);
        }
        // Without a link it has to be longer, and nothing that names a record or a version.
        let alone = word == SpokenWord::Key && text.len() >= 24 && !text.contains(['-', '.', '/']);
        let fits = (link > Link::None || alone)
            && text.len() >= 12
            && text.is_ascii()
            && !text.contains(['(', '{', '<', '['])
            && !refers(text)
            && texture(text.as_bytes()) == Texture::Random
            && !is_placeholder(text.as_bytes());
        return fits.then_some(start..start + text.len());
    }
    if word == SpokenWord::Pass {
        let mixed = text.chars().any(|c| c.is_ascii_digit())
            && text.chars().any(|c| c.is_uppercase() || "!@#$%^*-".contains(c));
        let fits = mixed
            && is_made_up(text)
            && !text.contains('/')
            && !refers(text)
            && !is_placeholder(text.as_bytes());
        return fits.then_some(start..start + text.len());
    }
    if word == SpokenWord::Login {
        return login(line, start, text);
    }
    // A line of settings, and nothing else.
    let is_setting = link == Link::Sign
        && word == SpokenWord::Password
        && line[..start].trim_end().ends_with(':')
        && behind.trim().is_empty();
    if accepts_bare(text, behind, link, word) || is_setting && is_kebab(text) {
        return Some(start..start + text.len());
    }
    if link >= Link::Verb && word == SpokenWord::Password {
        return phrase(&line[start..]).map(|length| start..start + length);
    }
    None
}

/// Cuts the ending of a file from a text that is no name of one: "password is Gr4nite!Falcon23.md",
/// which is itself the name of a file.
fn without_ending(text: &str) -> &str {
    let endings = [".md", ".txt", ".json", ".log"];
    let Some(stem) = endings.iter().find_map(|ending| text.strip_suffix(ending)) else {
        return text;
    };
    let has = |test: fn(char) -> bool| stem.chars().any(test);
    let is_mixed =
        has(|c| c.is_ascii_digit()) && has(char::is_uppercase) && has(char::is_lowercase);
    let is_name = stem.contains(['-', '_', '.', '/', '~']) || is_technical(stem);
    if is_mixed && !is_name && stem.chars().count() >= 8 { stem } else { text }
}

/// Returns the length of at least 16 bytes in hexadecimal with colons or spaces between them.
pub(crate) fn hex_pairs(bytes: &[u8]) -> Option<usize> {
    let sign = *bytes.get(2).filter(|byte| matches!(byte, b':' | b' ' | b'-'))?;
    let is_pair = |pair: &[u8]| pair.len() >= 2 && pair[..2].iter().all(u8::is_ascii_hexdigit);
    let mut count = 0;
    for pair in bytes.chunks(3).take(128).take_while(|pair| is_pair(pair)) {
        count += 1;
        if pair.get(2) != Some(&sign) {
            break;
        }
    }
    (count >= 16).then(|| count * 3 - 1)
}

/// `user / password` or `user:password`, behind "login:" or "credentials are".
fn login(line: &str, start: usize, first: &str) -> Option<Range<usize>> {
    let strong = |text: &str| {
        is_made_up(text)
            && text.chars().count() >= 6
            && (text.chars().any(|c| c.is_ascii_digit() || "!#$%^&*".contains(c))
                || is_joined(text))
            && !text.contains(['=', '.'])
            && !refers(text)
    };
    if let Some(cut) = first.find(['/', ':']) {
        let value = &first[cut + 1..];
        let user = &first[..cut];
        let range = start + cut + 1..start + first.len();
        let plain = !user.is_empty() && !value.starts_with('/') && !value.contains(['/', ':']);
        return (plain && strong(value)).then_some(range);
    }
    let behind = &line[start + first.len()..];
    let mut parts = tokens(behind);
    let sign = parts.next()?;
    if !matches!(&behind[sign], "/" | "|" | ":") {
        return None;
    }
    let token = parts.next()?;
    let value = bare(&behind[token.clone()]);
    let offset = behind[token.clone()].find(value)?;
    let range = start + first.len() + token.start + offset;
    strong(value).then_some(range..range + value.len())
}

/// Returns the range inside quotes, when the text begins with one.
fn quoted(text: &str) -> Option<Range<usize>> {
    const PAIRS: &[(&str, &str)] = &[
        ("\\\"", "\\\""),
        ("**`", "`"),
        ("**", "**"),
        ("\"", "\""),
        ("'", "'"),
        ("`", "`"),
        ("“", "”"),
        ("„", "“"),
        ("„", "”"),
        ("‘", "’"),
        ("«", "»"),
        ("»", "«"),
        ("‹", "›"),
        ("「", "」"),
        ("『", "』"),
    ];
    PAIRS.iter().find_map(|(open, close)| {
        let inner = text.strip_prefix(open)?;
        let length = inner.find(close)?;
        let value = &inner[..length];
        let trimmed = value.trim();
        let start = open.len() + (value.len() - value.trim_start().len());
        (length <= 120 && !trimmed.is_empty()).then(|| start..start + trimmed.len())
    })
}

/// Cuts quotes and the punctuation of the sentence from a word.
pub(crate) fn bare(token: &str) -> &str {
    let quotes = |c: char| {
        matches!(c, '"' | '\'' | '`' | '*' | '\\' | '“'..='”' | '„' | '‘'..='’')
            || matches!(c, '«' | '»' | '「' | '」')
    };
    let text = token.trim_start_matches(quotes).trim_start_matches('(');
    text.trim_end_matches(|c: char| {
        quotes(c)
            || matches!(c, '.' | ',' | ';' | ':' | '?' | ')' | ']' | '}' | '。' | '，' | '、' | '>')
    })
}

/// Whether what is in quotes is a password.
fn accepts_quoted(text: &str, link: Link, word: SpokenWord) -> bool {
    match word {
        SpokenWord::Pin => is_number(text, 3..=10),
        SpokenWord::Token | SpokenWord::Secret | SpokenWord::Key => {
            link > Link::None
                && text.len() >= 8
                && texture(text.as_bytes()) == Texture::Random
                && !is_placeholder(text.as_bytes())
        }
        SpokenWord::Login => false,
        SpokenWord::Pass => is_made_up(text) && !refers(text) && !is_placeholder(text.as_bytes()),
        SpokenWord::Password | SpokenWord::Ideographic => {
            let count = text.chars().count();
            if is_told_weak(text, link) {
                return true;
            }
            if !(4..=80).contains(&count) || is_placeholder(text.as_bytes()) || refers(text) {
                return false;
            }
            if text.contains(' ') {
                return link >= Link::Changed && is_quoted_phrase(text);
            }
            is_made_up(text) && (link > Link::None || text.len() >= 6)
                || is_number(text, 4..=16) && link > Link::None
                || link >= Link::Changed && count >= 5 && is_plain_word(text)
        }
    }
}

/// Whether a word without quotes is a password.
fn accepts_bare(text: &str, behind: &str, link: Link, word: SpokenWord) -> bool {
    let next = tokens(behind).next().map(|token| behind[token].to_lowercase());
    let next = next.as_deref().map(|next| next.trim_end_matches(['.', ',', ')', ';', '!', '?']));
    let counted = next.is_some_and(|next| UNITS.contains(next));
    if counted {
        return false;
    }
    if word == SpokenWord::Pin {
        let text = text.trim_end_matches(['#', '*']);
        let year = link == Link::None && (text.starts_with("19") || text.starts_with("20"));
        let is_combination = text.len() >= 5
            && text.split('-').count() >= 3
            && text.split('-').all(|part| is_number(part, 1..=2));
        return is_number(text, 4..=8) && !year || is_combination;
    }
    if is_told_weak(text, link) {
        return true;
    }
    if is_placeholder(text.as_bytes()) || refers(text) {
        return false;
    }
    let ends = ends_sentence(behind);
    match link {
        Link::None => {
            let mixed = text.chars().any(|c| c.is_ascii_digit())
                && text.chars().any(char::is_alphabetic)
                && (text.chars().any(char::is_uppercase)
                    || text.chars().any(|c| c.is_ascii_punctuation() && c != '.'));
            mixed && text.chars().count() >= 8 && is_made_up(text) && !text.contains(['/', '='])
        }
        Link::Changed => is_made_up(text),
        Link::Label | Link::Plural => {
            let year = text.len() == 4 && (text.starts_with("19") || text.starts_with("20"));
            is_made_up(text) || is_number(text, 4..=16) && !year
        }
        Link::Verb | Link::Names | Link::Sign => {
            let year = text.len() == 4 && (text.starts_with("19") || text.starts_with("20"));
            let capital = text.chars().next().is_some_and(char::is_uppercase);
            let plain = ends
                && text.chars().count() >= 6
                && is_plain_word(text)
                && match link {
                    Link::Names => true,
                    // An adjective or a participle follows a verb; a name does not look like one.
                    Link::Verb => capital && !has_predicate_ending(text) || is_rare_word(text),
                    _ => !capital && is_rare_word(text),
                };
            let humps = link == Link::Sign && text.chars().all(char::is_alphabetic);
            is_made_up(text) && !humps || is_number(text, 4..=16) && !year || plain
        }
    }
}

/// Whether a sentence says plainly that the text is a password, so that it is one however weak:
/// "the router password is password1".
fn is_told_weak(text: &str, link: Link) -> bool {
    let is_word = |c: char| c.is_alphanumeric() || "!@#$%^&*+-_?".contains(c);
    let is_year = text.len() == 4 && (text.starts_with("19") || text.starts_with("20"));
    let is_technical = is_technical(text) && !is_number(text, 4..=16) || is_year;
    matches!(link, Link::Verb | Link::Names)
        && text.chars().count() >= 4
        && text.chars().all(is_word)
        && text.chars().any(|c| c.is_ascii_digit())
        && !is_technical
        && !is_stand_in(text.as_bytes())
        && !refers(text)
}

//! Puts a mark in the place of every secret.

use std::borrow::Cow;

use aho_corasick::{AhoCorasick, MatchKind};

use crate::rules::MARKER;
use crate::{SecretHit, answers, prose, scan};

/// How often the result is looked through again before hits are widened.
const ROUNDS: usize = 2;
/// So many words say no more than "go ahead".
const ACKNOWLEDGEMENT: usize = 5;
/// How often at all.
const MOST_ROUNDS: usize = 6;

/// Replaces each hit with `[redacted:<kind>]`.
///
/// Scanning the result finds nothing: should something look like a secret only once what stood
/// beside it is gone, it is replaced as well.
#[must_use]
pub fn redact<'a>(bytes: &'a [u8], hits: &[SecretHit]) -> Cow<'a, [u8]> {
    if hits.is_empty() {
        return Cow::Borrowed(bytes);
    }
    let mut redacted = replace(bytes, hits);
    for round in 0..MOST_ROUNDS {
        let mut more = scan(&redacted);
        if more.is_empty() {
            break;
        }
        if round >= ROUNDS {
            // A hostile chain may hide each link behind the previous one.
            more.iter_mut().for_each(|hit| widen(&redacted, hit));
        }
        redacted = replace(&redacted, &more);
    }
    Cow::Owned(redacted)
}

/// Replaces each secret of a text with `[redacted:<kind>]`, also where it is repeated without the
/// words that name it, and says how many there were.
#[must_use]
pub fn redact_text(text: &str) -> (Cow<'_, str>, u64) {
    let mut values = SecretValues::default();
    values.learn(text);
    values.redact(text)
}

/// Stands for what may be a password in a shown text.
const PASSWORD: &str = "[redacted:password]";
/// Parts of the names of parameters that hold secrets.
const SECRET_NAMES: [&str; 8] =
    ["key", "token", "secret", "pass", "pwd", "auth", "sig", "credential"];

/// Returns a text as it may be shown: without secrets, and every URL in it without user, password,
/// query and fragment, also where the detector takes a password for a placeholder. Of a URL without
/// a usual scheme, the password and the parameters that are named like secrets are masked.
#[must_use]
pub fn for_display(text: &str) -> String {
    redact_text(text).0.split_inclusive(char::is_whitespace).map(shown_word).collect()
}

/// Whether a character stands behind a URL, not in it.
fn ends_url(c: char) -> bool {
    c.is_whitespace() || matches!(c, '"' | '\'' | '<' | '>' | '`')
}

/// Returns a word without what its URLs may have of secrets.
fn shown_word(word: &str) -> String {
    let mut shown = String::with_capacity(word.len());
    let mut rest = word;
    while let Some(sign) = rest.find("://") {
        let (before, behind) = rest.split_at(sign + "://".len());
        shown.push_str(&without_password(before));
        let ends_host = |c: char| matches!(c, '/' | '\\' | '?' | '#' | ';') || ends_url(c);
        let host = match behind.rsplit_once('@') {
            Some((user, host)) if !user.contains(ends_host) => host,
            // A password may hold any character, so the last sign counts, and it is shown that the
            // host may be another one.
            Some((user, host)) if user.contains(':') => {
                shown.push_str(PASSWORD);
                shown.push('@');
                host
            }
            _ => {
                let authority = behind.find(ends_host).map_or(behind, |end| &behind[..end]);
                &behind[authority.rfind('@').map_or(0, |at| at + 1)..]
            }
        };
        let (url, behind) = host.split_at(host.find(ends_url).unwrap_or(host.len()));
        let path = url.split(['?', '#']).next().unwrap_or_default();
        let parameters = path.find(';').filter(|at| url[*at..].contains('='));
        shown.push_str(parameters.map_or(path, |at| &path[..at]));
        rest = behind;
    }
    shown + &without_values(&without_password(rest))
}

/// Masks the text between the first colon that is not at the start and the last `@`.
fn without_password(word: &str) -> String {
    if let Some((before, host)) = word.rsplit_once('@')
        && let Some((colon, _)) = before.match_indices(':').find(|(at, _)| *at > 0)
        && colon + 1 < before.len()
    {
        return format!("{}:{PASSWORD}@{host}", &before[..colon]);
    }
    word.to_owned()
}

/// Masks the values of parameters that are named like secrets.
fn without_values(word: &str) -> String {
    let separates = |c: char| matches!(c, '?' | ';' | '&' | '#');
    let mut shown = String::with_capacity(word.len());
    for (number, part) in word.split_inclusive(separates).enumerate() {
        let is_secret = |name: &str| {
            let name = name.to_ascii_lowercase();
            SECRET_NAMES.iter().any(|secret| name.contains(secret))
        };
        // The part before the first separator is not a parameter.
        match part.split_once('=').filter(|(name, _)| number > 0 && is_secret(name)) {
            Some((name, value)) => {
                let end = value.find(|c: char| separates(c) || ends_url(c)).unwrap_or(value.len());
                shown.push_str(name);
                shown.push('=');
                shown.push_str(PASSWORD);
                shown.push_str(&value[end..]);
            }
            None => shown.push_str(part),
        }
    }
    shown
}

/// Secrets of texts that belong together, such as the messages of a conversation. A password that
/// one message names has to be replaced in all of them.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct SecretValues {
    /// Each secret with its kind.
    values: Vec<(String, &'static str)>,
}

/// Shows how many there are, and none of them.
impl std::fmt::Debug for SecretValues {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "SecretValues({})", self.values.len())
    }
}

impl SecretValues {
    /// Adds the secrets of a text.
    pub fn learn(&mut self, text: &str) {
        for hit in scan(text.as_bytes()) {
            // Hits begin and end at characters, unless a rule looked at bytes only.
            let Some(value) = text.get(hit.range) else { continue };
            self.add(value, hit.kind);
        }
    }

    /// Adds the secret that a message asks for or announces and one of the next two messages
    /// contains, and a secret that begins in the message and ends in the next.
    pub fn learn_answer(&mut self, message: &str, following: &[impl AsRef<str>]) {
        let next = |number| following.get(number).map_or("", AsRef::as_ref);
        for (part, kind) in answers::split(message, next(0)).into_iter().flatten() {
            self.add(part, kind);
        }
        let Some(word) = answers::asked(message) else { return };
        let kind = prose::kind_of(word);
        if let Some(range) = answers::given(next(0), word) {
            self.add(&next(0)[range], kind);
            if let Some(rest) = answers::rest_of_secret(next(1)) {
                self.add(&next(1)[rest], kind);
            }
        } else if next(0).split_whitespace().count() <= ACKNOWLEDGEMENT
            && let Some(range) = answers::given(next(1), word)
        {
            self.add(&next(1)[range], kind);
        }
    }

    fn add(&mut self, value: &str, kind: &'static str) {
        if !self.values.iter().any(|(known, _)| known == value) {
            self.values.push((value.to_owned(), kind));
        }
    }

    /// Replaces the secrets of a text, and in it those that were learned, and says how many there
    /// were.
    #[must_use]
    pub fn redact<'a>(&self, text: &'a str) -> (Cow<'a, str>, u64) {
        let mut hits = scan(text.as_bytes());
        hits.extend(self.repeated(text));
        let hits = apart(hits);
        let redacted = match redact(text.as_bytes(), &hits) {
            Cow::Borrowed(_) => Cow::Borrowed(text),
            Cow::Owned(bytes) => Cow::Owned(String::from_utf8_lossy(&bytes).into_owned()),
        };
        (redacted, hits.len() as u64)
    }

    /// Finds the values that occur in a text as whole words.
    fn repeated(&self, text: &str) -> Vec<SecretHit> {
        let builder = AhoCorasick::builder()
            .match_kind(MatchKind::LeftmostLongest)
            .build(self.values.iter().map(|(value, _)| value));
        let Ok(search) = builder else { return Vec::new() };
        // Chinese and Japanese put no space between their words and others.
        let is_letter = |c: char| c.is_alphanumeric() && !answers::is_ideograph(c);
        let is_word = |c: Option<char>| c.is_some_and(is_letter);
        let found = search.find_iter(text).filter(|found| {
            let value = &text[found.range()];
            let (before, behind) = (&text[..found.start()], &text[found.end()..]);
            let joins_before = is_word(value.chars().next()) && is_word(before.chars().next_back());
            let joins_behind = is_word(value.chars().next_back()) && is_word(behind.chars().next());
            // A mark must not be marked again.
            !joins_before && !joins_behind && !before.ends_with("[redacted:")
        });
        found
            .map(|found| SecretHit {
                kind: self.values[found.pattern()].1,
                range: found.range(),
                line: 0,
            })
            .collect()
    }
}

/// Sorts hits, and makes one of those that overlap.
fn apart(mut hits: Vec<SecretHit>) -> Vec<SecretHit> {
    hits.sort_by_key(|hit| (hit.range.start, std::cmp::Reverse(hit.range.end)));
    let mut apart: Vec<SecretHit> = Vec::new();
    for hit in hits {
        match apart.last_mut() {
            Some(last) if hit.range.start < last.range.end => {
                last.range.end = last.range.end.max(hit.range.end);
            }
            _ => apart.push(hit),
        }
    }
    apart
}

/// Extends a hit to the surrounding whitespace.
fn widen(bytes: &[u8], hit: &mut SecretHit) {
    let graphic = |byte: &&u8| !byte.is_ascii_whitespace();
    hit.range.start -= bytes[..hit.range.start].iter().rev().take_while(graphic).count();
    hit.range.end += bytes[hit.range.end..].iter().take_while(graphic).count();
}

fn replace(bytes: &[u8], hits: &[SecretHit]) -> Vec<u8> {
    let mut replaced = Vec::with_capacity(bytes.len());
    let mut from = 0;
    for hit in hits {
        // Hits of other bytes than these are cut, never a reason to panic.
        let start = hit.range.start.clamp(from, bytes.len());
        let end = hit.range.end.clamp(start, bytes.len());
        replaced.extend_from_slice(&bytes[from..start]);
        replaced.extend_from_slice(MARKER);
        replaced.extend_from_slice(hit.kind.as_bytes());
        replaced.push(b']');
        from = end;
    }
    replaced.extend_from_slice(&bytes[from..]);
    replaced
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_replaced_wherever_it_is_repeated() {
        let text = "Try Krabbe-77 first. The router password is Krabbe-77; Krabbe-77x is none.";
        let (redacted, count) = redact_text(text);
        let mark = "[redacted:password]";
        let expected =
            format!("Try {mark} first. The router password is {mark}; Krabbe-77x is none.");
        assert_eq!((redacted.as_ref(), count), (expected.as_str(), 2));
    }

    #[test]
    fn urls_are_shown_without_what_may_be_secret() {
        for (text, expected) in [
            ("https://lin:pw@host.example/v1?key=abc#x", "https://host.example/v1"),
            ("custom:http://lin:pw@h/v1", "custom:http://h/v1"),
            (
                "Post to \"http://a:pw@one/x\" and <ftp://b:pw@two?c=d> now.",
                "Post to \"http://one/x\" and <ftp://two> now.",
            ),
            ("http://lin:p@ss@host", "http://host"),
            ("Write to lin@host, see ://", "Write to lin@host, see ://"),
            ("http://h:8080/v1; then rest", "http://h:8080/v1; then rest"),
            ("http://lin@h/@scope/x", "http://h/@scope/x"),
            ("npm:@scope/x a:b /c?d=e", "npm:@scope/x a:b /c?d=e"),
        ] {
            assert_eq!(for_display(text), expected);
        }
        for text in [
            "user:Krabbe77@host/v1",
            "//user:Krabbe77@127.0.0.1/v1",
            "https:/user:Krabbe77@host",
            "http:user:Krabbe77@host",
            "http:\\\\user:Krabbe77@host\\v1",
            "https://user:Krabbe77/a@host",
            "https://user:Krabbe77?x@host",
            "https://user:a@b/Krabbe77@host",
            "https://user:a\"Krabbe77@host",
            "http://a:Krabbe77@one,http://b:Krabbe77@two",
            "http://host/v1;token=Krabbe77",
            "host/v1;token=Krabbe77",
            "host/v1?a=b&api_key=Krabbe77",
        ] {
            let shown = for_display(text);
            assert!(!shown.contains("Krabbe77"), "{text} is shown as {shown}");
        }
    }

    #[test]
    fn what_one_text_names_is_replaced_in_another() {
        let mut values = SecretValues::default();
        values.learn("the PIN of my card is 4711");
        values.learn("das Passwort lautet Blaubeere99");
        let (redacted, count) = values.redact("4711 and Blaubeere99, in 47110 not");
        assert_eq!(redacted, "[redacted:pin] and [redacted:password], in 47110 not");
        assert_eq!(count, 2);
        assert_eq!(format!("{values:?}"), "SecretValues(2)");
        assert_eq!(values.redact("nothing").1, 0);
    }
}

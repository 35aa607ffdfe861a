//! Secrets as people say them: "the password is ...", a card number, a password in an address.
//!
//! Keys and tokens have shapes by which `anemone_secrets` knows them. What a person makes up has
//! none; it is known by the words before it. This is for what is about to be written, where asking
//! once too often costs little; exports look for shapes alone.

use std::ops::Range;

use anemone_secrets::scan;

/// A secret in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Spoken {
    pub(crate) kind: &'static str,
    pub(crate) range: Range<usize>,
    /// The line on which it begins, from 1.
    pub(crate) line: u64,
}

/// What is said before a password, in lower case.
const NAMES: &[&str] = &[
    "password",
    "passwort",
    "passphrase",
    "passcode",
    "kennwort",
    "contraseña",
    "mot de passe",
    "密码",
    "密碼",
    "口令",
    "パスワード",
    "暗証番号",
    "pin code",
    "pin-code",
];
/// What stands between that and the password; where one begins with another, the longer first.
const LINKS: &[&str] = &[
    "is", "was", "ist", "lautet", "es", "est", "=", ":", "：", "是：", "是", "为：", "为", "は",
    "to",
];
/// A password has at least so many characters; a shorter word is a word.
const LEAST_CHARS: usize = 5;
/// Words between the name and what links it to the password: "for the wifi", say.
const MOST_BETWEEN: usize = 4;

/// Finds every secret of a text, whether by its shape or by what is said of it; sorted, apart.
pub(crate) fn secrets_in(text: &str) -> Vec<Spoken> {
    let shaped = scan(text.as_bytes()).into_iter();
    let mut found: Vec<Spoken> =
        shaped.map(|it| Spoken { kind: it.kind, range: it.range, line: it.line }).collect();
    for range in passwords(text).into_iter().chain(in_addresses(text)) {
        add(&mut found, text, "password", range);
    }
    for range in cards(text) {
        add(&mut found, text, "card-number", range);
    }
    found.sort_by_key(|it| it.range.start);
    found
}

/// Puts marks in the place of secrets.
pub(crate) fn without_secrets(text: &str, found: &[Spoken]) -> String {
    let mut out = String::with_capacity(text.len());
    let mut from = 0;
    for it in found {
        out.push_str(text.get(from..it.range.start).unwrap_or_default());
        out.push_str(&format!("[redacted:{}]", it.kind));
        from = it.range.end;
    }
    out.push_str(text.get(from..).unwrap_or_default());
    out
}

fn add(found: &mut Vec<Spoken>, text: &str, kind: &'static str, range: Range<usize>) {
    let overlaps = |it: &Spoken| it.range.start < range.end && range.start < it.range.end;
    if !found.iter().any(overlaps) {
        let line = text[..range.start].matches('\n').count() as u64 + 1;
        found.push(Spoken { kind, range, line });
    }
}

/// Finds what is said to be a password.
fn passwords(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    // Lower case may change lengths; where it does, only what is the same is looked at.
    let lower = text.to_lowercase();
    if lower.len() != text.len() {
        return found;
    }
    for name in NAMES {
        for (at, _) in lower.match_indices(name) {
            found.extend(value_after(text, at + name.len()));
        }
    }
    found
}

/// Follows a name to what it names, on its line.
fn value_after(text: &str, from: usize) -> Option<Range<usize>> {
    let rest = text.get(from..)?;
    let line = rest.split('\n').next()?;
    // Scripts without blanks: the link stands right behind the name.
    for link in LINKS.iter().filter(|it| !it.is_ascii() || matches!(**it, ":" | "=")) {
        if let Some(after) = line.trim_start().strip_prefix(link) {
            let blanks = line.len() - line.trim_start().len() + link.len();
            return value(text, from + blanks, after);
        }
    }
    let mut at = 0;
    for (number, word) in line.split_inclusive(' ').enumerate() {
        at += word.len();
        let plain = word.trim().to_lowercase();
        let is_link = LINKS.contains(&plain.as_str()) || plain.ends_with(':');
        if is_link && number > 0 {
            return value(text, from + at, line.get(at..)?);
        }
        if number > MOST_BETWEEN {
            return None;
        }
    }
    None
}

/// Takes the word that follows, if nobody would take it for one of the language.
fn value(text: &str, at: usize, after: &str) -> Option<Range<usize>> {
    let start = at + (after.len() - after.trim_start().len());
    let word = after.split_whitespace().next()?;
    let marks =
        |c: char| matches!(c, '"' | '\'' | '`' | '“' | '”' | '「' | '」' | '。' | '，' | ',' | ';');
    let bare = word.trim_matches(marks).trim_end_matches(['.', '!', '?']);
    let offset = word.find(bare)?;
    let has = |test: &dyn Fn(char) -> bool| bare.chars().any(test);
    let is_made_up = has(&|c| c.is_ascii_digit())
        || (has(&|c| c.is_lowercase()) && bare.chars().skip(1).any(char::is_uppercase))
        || has(&|c| c.is_ascii_punctuation() && !matches!(c, '-' | '\'' | '/' | '.'));
    let is_ascii = bare.is_ascii();
    if bare.chars().count() < LEAST_CHARS || !is_made_up || !is_ascii {
        return None;
    }
    let range = start + offset..start + offset + bare.len();
    text.get(range.clone()).is_some().then_some(range)
}

/// Finds passwords in addresses: `postgres://user:password@host`.
fn in_addresses(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    for (at, _) in text.match_indices("://") {
        let start = at + 3;
        let authority =
            text[start..].split(|c: char| c.is_whitespace() || matches!(c, '/' | '?' | '#'));
        let Some(authority) = authority.into_iter().next() else { continue };
        let Some((user, _)) = authority.rsplit_once('@') else { continue };
        let Some((name, password)) = user.split_once(':') else { continue };
        let is_placeholder = password.starts_with(['$', '{', '<', '*']) || password.is_empty();
        if !is_placeholder {
            let from = start + name.len() + 1;
            found.push(from..from + password.len());
        }
    }
    found
}

/// Finds numbers of payment cards: 13 to 19 digits whose sum is right.
fn cards(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut at = 0;
    let bytes = text.as_bytes();
    while at < bytes.len() {
        if !bytes[at].is_ascii_digit() || (at > 0 && is_of_word(bytes[at - 1])) {
            at += 1;
            continue;
        }
        let mut digits = Vec::new();
        let mut end = at;
        for (offset, byte) in bytes[at..].iter().enumerate().take(40) {
            match byte {
                b'0'..=b'9' => {
                    digits.push(u32::from(byte - b'0'));
                    end = at + offset + 1;
                }
                b' ' | b'-' => {}
                _ => break,
            }
        }
        let is_alone = bytes.get(end).is_none_or(|it| !is_of_word(*it));
        // All cards of people begin with 3 to 6.
        if (13..=19).contains(&digits.len())
            && is_alone
            && (3..=6).contains(&digits[0])
            && is_luhn(&digits)
        {
            found.push(at..end);
        }
        at = end.max(at + 1);
    }
    found
}

const fn is_of_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.')
}

fn is_luhn(digits: &[u32]) -> bool {
    let doubled = |(at, digit): (usize, &u32)| match (at % 2, digit * 2) {
        (1, twice) if twice > 9 => twice - 9,
        (1, twice) => twice,
        _ => *digit,
    };
    digits.iter().rev().enumerate().map(doubled).sum::<u32>() % 10 == 0
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_is_said_to_be_a_password_is_found() {
        for (text, secret) in [
            ("The root password is Zk8vQ2xPq91LmT.", "Zk8vQ2xPq91LmT"),
            ("password: hunter2", "hunter2"),
            ("Please remember my wifi password: hunter2butlonger", "hunter2butlonger"),
            ("The password for the router is 'correcthorse99'", "correcthorse99"),
            ("Das Passwort lautet Geheim!2024", "Geheim!2024"),
            ("la contraseña es Gat0Negro77", "Gat0Negro77"),
            ("le mot de passe est Chaton2024", "Chaton2024"),
            ("密码是 abc12345xyz", "abc12345xyz"),
            ("密码：abc12345", "abc12345"),
            ("密码为：abc12345", "abc12345"),
            ("パスワードは Sakura2024!", "Sakura2024"),
            ("postgres://admin:s3cr3tPw@db.example.org/prod", "s3cr3tPw"),
            ("my card is 4111 1111 1111 1111", "4111 1111 1111 1111"),
        ] {
            let found = secrets_in(text);
            assert_eq!(found.len(), 1, "{text}: {found:?}");
            assert_eq!(&text[found[0].range.clone()], secret, "{text}");
            assert!(!without_secrets(text, &found).contains(secret));
        }
    }

    #[test]
    fn what_only_speaks_of_passwords_is_none() {
        for text in [
            "The password is in the vault.",
            "The password is stored elsewhere",
            "He forgot his password yesterday",
            "Reset the password: see the wiki",
            "password is changed monthly by Lin",
            "Das Passwort ist abgelaufen",
            "密码忘记了",
            "https://example.org/a:b@c",
            "ssh://git@example.org/repo",
            "postgres://user:$PASSWORD@host/db",
            "Order 1234567890123 arrived",
            "call +49 30 1234567 at 10:00",
            "The passwordless login is on since 2026-01-01",
        ] {
            assert_eq!(secrets_in(text), [], "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read_without_harm(text in "(?s).{0,40}(password|密码|://a:|passwort)( is |: |是|=).{0,30}") {
            let found = secrets_in(&text);
            without_secrets(&text, &found);
        }
    }
}

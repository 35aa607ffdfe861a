//! Secrets in the elements and attributes of XML and HTML.

use std::ops::Range;

use memchr::memchr;

use crate::anchors::NameWord;
use crate::assignments::{fold, is_secret, kind_by_word};
use crate::prose;
use crate::rules::Candidate;
use crate::shape::{URL64_DOT, is_placeholder};

/// Longest name of an element.
const NAME: usize = 64;
/// How far an element is read.
const REACH: usize = 320;

/// Looks for the value of an element or attribute whose name ends with `word`.
pub(crate) fn check(window: &[u8], word: &Range<usize>, kind: NameWord) -> Option<Candidate> {
    let start = word.start - URL64_DOT.run_back(&window[..word.start], NAME);
    let tail = URL64_DOT.run(&window[word.end..], 2);
    if tail > 1 || tail == 1 && !matches!(window[word.end], b's' | b'1' | b'2') {
        return None;
    }
    let end = word.end + tail;
    let rest = &window[end..window.len().min(end + REACH)];
    let opened = &window[..start];
    let value = match (opened.last()?, rest.first()?) {
        // `<password>`, `<db:password>`, and the end of a name in an element of its own.
        (b'<' | b':', b'>' | b' ') if is_open(opened) => content(rest)?,
        (b'>', b'<') => next_element(rest)?,
        (quote @ (b'"' | b'\''), closing) if quote == closing => {
            if !names_an_element(&opened[..opened.len() - 1]) {
                return None;
            }
            attribute(rest).or_else(|| content(rest))?
        }
        _ => return None,
    };
    let before = fold(&window[start..word.start]);
    let text = str::from_utf8(&rest[value.clone()]).ok()?;
    (is_secret(kind, &before) && is_value(text, kind))
        .then(|| Candidate::named(kind_by_word(kind), end + value.start..end + value.end))
}

/// Whether a name begins in the first word of an element.
fn is_open(opened: &[u8]) -> bool {
    let prefix = match opened.last() {
        Some(b':') => URL64_DOT.run_back(&opened[..opened.len() - 1], NAME) + 1,
        _ => 0,
    };
    opened[..opened.len() - prefix].ends_with(b"<")
}

/// Returns the text of an element whose first tag goes on with `rest`; it may be one level down.
fn content(rest: &[u8]) -> Option<Range<usize>> {
    let mut at = memchr(b'>', rest)? + 1;
    if rest[..at].contains(&b'<') || rest[..at].ends_with(b"/>") {
        return None;
    }
    for _ in 0..2 {
        let text = &rest[at..];
        let length = memchr(b'<', text)?;
        let trimmed = text[..length].trim_ascii();
        if !trimmed.is_empty() {
            let front = length - text[..length].trim_ascii_start().len();
            let is_closed = text[length..].starts_with(b"</");
            return is_closed.then_some(at + front..at + front + trimmed.len());
        }
        // `<setting name="password"><value>...`
        if text[length..].starts_with(b"</") {
            return None;
        }
        at += length + memchr(b'>', &text[length..])? + 1;
    }
    None
}

/// Returns the text of the element behind `</key>`, as property lists have it.
fn next_element(rest: &[u8]) -> Option<Range<usize>> {
    if !rest.starts_with(b"</key>") && !rest.starts_with(b"</name>") {
        return None;
    }
    let close = memchr(b'>', rest)? + 1;
    let gap = rest[close..].iter().take_while(|byte| byte.is_ascii_whitespace()).count();
    let next = &rest[close + gap..];
    if !next.starts_with(b"<string>") && !next.starts_with(b"<value>") {
        return None;
    }
    let inside = close + gap + 1;
    let value = content(&next[1..])?;
    Some(inside + value.start..inside + value.end)
}

/// Whether an attribute with this value names its element.
fn names_an_element(before: &[u8]) -> bool {
    let names: [&[u8]; 5] = [b" name=", b" key=", b" id=", b" type=", b" property="];
    let before = names.iter().find_map(|name| before.strip_suffix(*name)).unwrap_or_default();
    let near = &before[before.len().saturating_sub(128)..];
    let open = memchr::memrchr2(b'<', b'>', near).filter(|at| near[*at] == b'<');
    let element = open.map_or(&[][..], |open| &near[open + 1..]);
    let element = &element[..element.iter().position(|b| *b == b' ').unwrap_or(element.len())];
    // Documentation describes parameters in such elements, and forms label fields.
    let other: [&[u8]; 4] = [b"param", b"label", b"button", b"meta"];
    !element.is_empty() && !other.contains(&element)
}

/// Returns the value of the attribute `value` in the rest of a tag.
fn attribute(rest: &[u8]) -> Option<Range<usize>> {
    let tag = &rest[..memchr(b'>', rest)?];
    let at = memchr::memmem::find(tag, b" value=")? + 7;
    let quote = *tag.get(at).filter(|byte| matches!(byte, b'"' | b'\''))?;
    let length = memchr(quote, &tag[at + 1..])?;
    (length > 0).then_some(at + 1..at + 1 + length)
}

fn is_value(text: &str, kind: NameWord) -> bool {
    let count = text.chars().count();
    let is_password = matches!(kind, NameWord::Password | NameWord::Pass);
    if !(4..=128).contains(&count) || is_placeholder(text.as_bytes()) || prose::refers(text) {
        return false;
    }
    if text.contains(char::is_whitespace) {
        return is_password && prose::is_quoted_phrase(text);
    }
    let drawn = count >= 8 && text.bytes().any(|byte| byte.is_ascii_digit());
    let is_made_up = prose::is_made_up(text);
    is_made_up && (drawn || is_password) || is_password && is_sole_word(text)
}

/// Whether it is a word, or joined words, none of which relates to a password.
fn is_sole_word(text: &str) -> bool {
    text.split(['_', '-', '.']).all(prose::is_plain_word) && !prose::names_itself(text)
        || text.bytes().all(|b| b.is_ascii_digit())
}

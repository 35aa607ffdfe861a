//! Secrets in headers, cookies, and files of passwords and keys.

use std::ops::Range;

use memchr::{memchr, memmem};

use crate::rules::Candidate;
use crate::shape::{ANY_TOKEN, BASE64, Texture, is_placeholder, texture};

/// The longest header that is examined.
const LINE: usize = 4096;

fn line_behind(window: &[u8], from: usize) -> &[u8] {
    let line = &window[from..window.len().min(from + LINE)];
    let line = &line[..memchr(b'\n', line).unwrap_or(line.len())];
    &line[..memmem::find(line, b"\\n").unwrap_or(line.len())]
}

/// The values of `Cookie: name=value; name=value`.
pub(crate) fn cookies(window: &[u8], word: Range<usize>, found: &mut impl FnMut(Candidate)) {
    let line = line_behind(window, word.end);
    let plural = usize::from(line.first() == Some(&b's'));
    let sign = line[plural..].iter().take(6).position(|byte| matches!(byte, b':' | b'='));
    let Some(sign) = sign.map(|at| at + plural) else { return };
    let between = |byte: &u8| matches!(byte, b's' | b' ' | b'"' | b'\'' | b'\\' | b'*' | b'`');
    if !line[..sign].iter().all(between) {
        return;
    }
    let mut from = sign + 1;
    for pair in line[from..].split(|byte| *byte == b';').take(64) {
        let start = word.end + from;
        from += pair.len() + 1;
        let Some(equals) = memchr(b'=', pair) else { continue };
        let name = pair[..equals].trim_ascii().to_ascii_lowercase();
        let value = &pair[equals + 1..];
        let skipped = usize::from(value.first() == Some(&b'"'));
        let value = &value[skipped..];
        let ends = |byte: &u8| {
            *byte <= b' ' || matches!(byte, b'"' | b'\'' | b',' | b'\\' | b'`' | b'<' | b'>' | b')')
        };
        let value = &value[..value.iter().position(ends).unwrap_or(value.len())];
        if is_cookie_secret(&name, value) {
            let start = start + equals + 1 + skipped;
            let range = start..start + value.len();
            found(Candidate::named("session_cookie", range));
        }
    }
}

fn is_cookie_secret(name: &[u8], value: &[u8]) -> bool {
    const SECRET: &[&str] = &[
        "sess", "sid", "auth", "token", "jwt", "login", "csrf", "xsrf", "remember", "access",
        "secret",
    ];
    const ATTRIBUTES: &[&[u8]] =
        &[b"path", b"domain", b"expires", b"max-age", b"samesite", b"version", b"comment"];
    if ATTRIBUTES.contains(&name) || is_placeholder(value) || value.contains(&b'{') {
        return false;
    }
    let random = texture(value) == Texture::Random;
    let named = SECRET.iter().any(|word| memmem::find(name, word.as_bytes()).is_some());
    named && value.len() >= 8 && (random || texture(value) > Texture::Plain || value.len() >= 16)
        || random && value.len() >= 20
}

/// The value of a cookie that is known to hold a session.
pub(crate) fn session_cookie(window: &[u8], name: Range<usize>) -> Option<Candidate> {
    let value = &window[name.end..window.len().min(name.end + LINE)];
    let length = value.iter().take_while(|byte| ANY_TOKEN.has(**byte) || **byte == b'%').count();
    let value = &value[..length];
    let fits = length >= 16 && texture(value) == Texture::Random && !is_placeholder(value);
    fits.then_some(Candidate::named("session_cookie", name.end..name.end + length))
}

/// `Authorization: TOKEN` or `Authorization: Scheme TOKEN`; Bearer and Basic have their own rules.
pub(crate) fn authorization(window: &[u8], word: Range<usize>) -> Option<Candidate> {
    let line = line_behind(window, word.end);
    let quote = |byte: &u8| matches!(byte, b' ' | b'"' | b'\'' | b'\\' | b'\t' | b'`' | b'*');
    let mut at = line.iter().take(6).take_while(|byte| quote(byte)).count();
    if !matches!(line.get(at), Some(b':' | b'=' | b',')) {
        return None;
    }
    at += 1;
    at += line[at..].iter().take(6).take_while(|byte| quote(byte)).count();
    for _ in 0..2 {
        let length = ANY_TOKEN.run(&line[at..], LINE);
        let value = &line[at..at + length];
        if length >= 16 && texture(value) == Texture::Random && !is_placeholder(value) {
            let range = word.end + at..word.end + at + length;
            return Some(Candidate::named("bearer_token", range));
        }
        // The word was the scheme.
        if line.get(at + length) != Some(&b' ') {
            return None;
        }
        at += length + 1;
    }
    None
}

/// `host:5432:database:user:password`, a whole line.
pub(crate) fn pgpass(window: &[u8], port: Range<usize>) -> Option<Candidate> {
    let before = &window[..port.start];
    let host = before.iter().rev().take(128).take_while(|byte| **byte > b' ').count();
    if host == 0 || before[before.len() - host..].iter().any(|byte| b":/=\"'".contains(byte)) {
        return None;
    }
    let line = line_behind(window, port.end);
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    let mut parts = line.splitn(3, |byte| *byte == b':');
    let (database, user, password) = (parts.next()?, parts.next()?, parts.next()?);
    let plain = [database, user].iter().all(|part| {
        !part.is_empty() && part.len() <= 64 && part.iter().all(|byte| byte.is_ascii_graphic())
    });
    let start = port.end + database.len() + user.len() + 2;
    (plain && password.len() >= 4 && !is_placeholder(password) && !password.contains(&b' '))
        .then_some(Candidate::named("password", start..start + password.len()))
}

/// The private lines of a PuTTY key.
pub(crate) fn putty(window: &[u8], head: Range<usize>) -> Option<Candidate> {
    if &window[head.clone()] != b"Private-Lines: " {
        return None;
    }
    let rest = &window[head.end..window.len().min(head.end + 16 * 1024)];
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let gap = digits
        + rest[digits..]
            .iter()
            .take(4)
            .take_while(|b| b.is_ascii_whitespace() || **b == b'\\' || **b == b'n')
            .count();
    let body = &rest[gap..];
    let mut end = 0;
    while let Some(byte) = body.get(end)
        && (BASE64.has(*byte) || matches!(byte, b'\n' | b'\r'))
    {
        // The next field of the file.
        if body[end..].starts_with(b"\nPrivate-MAC") || body[end..].starts_with(b"\r\nPrivate-MAC")
        {
            break;
        }
        end += 1;
    }
    let start = head.end + gap;
    let end = body[..end].trim_ascii_end().len();
    (digits > 0 && end >= 24).then_some(Candidate::shaped("pem_private_key", start..start + end))
}

/// The lines of hexadecimal digits in an OpenVPN static key.
pub(crate) fn static_key(window: &[u8], words: Range<usize>) -> Option<Candidate> {
    let begin = &window[words.start.saturating_sub(24)..words.start];
    memmem::find(begin, b"-----BEGIN ")?;
    let rest = &window[words.end..window.len().min(words.end + 2048)];
    let rest = rest.strip_prefix(b"-----")?;
    let length = memmem::find(rest, b"-----END").unwrap_or_else(|| {
        rest.iter()
            .take_while(|byte| byte.is_ascii_hexdigit() || byte.is_ascii_whitespace())
            .count()
    });
    let digits = rest[..length].iter().filter(|byte| byte.is_ascii_hexdigit()).count();
    let start = words.end + 5;
    (digits >= 64).then_some(Candidate::shaped(
        "pem_private_key",
        start..start + rest[..length].trim_ascii_end().len(),
    ))
}

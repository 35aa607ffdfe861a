//! Puts a mark in the place of every secret.

use std::borrow::Cow;

use crate::rules::MARKER;
use crate::{SecretHit, scan};

/// How often the result is looked through again before hits are widened.
const ROUNDS: usize = 2;
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
            // Somebody wrote a chain in which each link hides the next.
            more.iter_mut().for_each(|hit| widen(&redacted, hit));
        }
        redacted = replace(&redacted, &more);
    }
    Cow::Owned(redacted)
}

/// Replaces each secret of a text with `[redacted:<kind>]`, and says how many there were.
#[must_use]
pub fn redact_text(text: &str) -> (Cow<'_, str>, u64) {
    let hits = scan(text.as_bytes());
    let redacted = match redact(text.as_bytes(), &hits) {
        Cow::Borrowed(_) => Cow::Borrowed(text),
        Cow::Owned(bytes) => Cow::Owned(String::from_utf8_lossy(&bytes).into_owned()),
    };
    (redacted, hits.len() as u64)
}

/// Widens a hit to everything around it without a blank.
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

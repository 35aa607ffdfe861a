//! Splits a text into pieces that fit into records.

/// A record's text is cut when its JSON would be longer: a line of an archive has a limit.
pub(crate) const MAX_ESCAPED_BYTES: usize = 40 << 20;

/// Cuts a text whose JSON would be too long for a line, at line ends where there are any.
pub(crate) fn pieces(text: &str) -> Vec<&str> {
    // A byte becomes six at most, as in `\u0001`.
    if text.len() <= MAX_ESCAPED_BYTES / 6 || escaped_bytes(text) <= MAX_ESCAPED_BYTES {
        return vec![text];
    }
    let mut pieces = Vec::new();
    let mut rest = text;
    while rest.len() > MAX_ESCAPED_BYTES / 6 {
        let at = rest.floor_char_boundary(MAX_ESCAPED_BYTES / 6);
        let at = rest[..at].rfind('\n').map_or(at, |newline| newline + 1);
        let (piece, tail) = rest.split_at(at);
        pieces.push(piece);
        rest = tail;
    }
    if !rest.is_empty() {
        pieces.push(rest);
    }
    pieces
}

fn escaped_bytes(text: &str) -> usize {
    let length = |byte: u8| match byte {
        b'"' | b'\\' | b'\n' | b'\r' | b'\t' => 2,
        0..0x20 => 6,
        _ => 1,
    };
    text.bytes().map(length).sum()
}

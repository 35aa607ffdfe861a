//! YAML front matter, and the byte order mark that may precede it.

use std::ops::Range;

/// Returns the length of a leading byte order mark.
#[must_use]
pub fn byte_order_mark(text: &str) -> usize {
    if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 }
}

/// Returns the front matter of a text: the bytes after its opening rule, up to and including its
/// closing rule.
///
/// A file may also begin with a thematic break, so the first line has to look like a YAML key:
/// `---`, then `title: x`, then `---` or `...`. The lines of a text without `\n` end with `\r`.
#[must_use]
pub fn front_matter(text: &str) -> Option<Range<usize>> {
    let mark = byte_order_mark(text);
    if !text[mark..].starts_with("---") {
        return None;
    }
    let line_feed = if text.contains('\n') { '\n' } else { '\r' };
    let mut lines = text[mark..].split_inclusive(line_feed);
    let opening = lines.next().filter(|line| line.trim_end() == "---")?;
    let first = lines.next()?;
    let (key, value) = first.split_once(':')?;
    let looks_like_a_key = key.starts_with(|c: char| c.is_alphabetic() || "_\"'".contains(c))
        && (value.is_empty() || value.starts_with(char::is_whitespace));
    if !looks_like_a_key {
        return None;
    }
    let start = mark + opening.len();
    let mut end = start + first.len();
    for line in lines {
        end += line.len();
        if matches!(line.trim_end(), "---" | "...") {
            return Some(start..end);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_begins_with_a_key_is_front_matter() {
        let read = |text: &'static str| front_matter(text).map(|range| &text[range]);
        assert_eq!(read("---\ntitle: x\n---\nbody"), Some("title: x\n---\n"));
        assert_eq!(read("\u{feff}---\r\ntags:\r\n- a\r\n...\r\n"), Some("tags:\r\n- a\r\n...\r\n"));
        assert_eq!(read("---\ra: b\r---\rbody"), Some("a: b\r---\r"));
        for text in [
            "---\n- a fact\n---\n",
            "---\n\na: b\n---\n",
            "---\na: b\n",
            "---\nhttps://example.org\n---\n",
            "---\nsome prose\n---\n",
            "a: b\n---\n",
            "",
        ] {
            assert_eq!(read(text), None, "{text:?}");
        }
    }
}

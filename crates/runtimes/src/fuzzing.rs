//! Laws that hold for any input, for the fuzzer; nothing else calls them.

use crate::kit::times;
use crate::openclaw::labels::labels;
use anemone_markdown::{Page, Section};
use anemone_secrets::{Scanner, redact, scan};

/// A file that is cut into sections or rows is those, joined; lines are counted without gaps.
///
/// # Panics
///
/// When a law does not hold.
pub fn sections(text: &str) {
    let page = Page::parse(text);
    let whole = page.whole();
    assert!(whole.len() <= 1, "a page is one whole");
    let is_blank = whole.is_empty();
    let cuts = [Some(whole), Some(page.sections()), page.rows()];
    for sections in cuts.iter().flatten().filter(|sections| !sections.is_empty() || !is_blank) {
        assert_joined(text, sections);
        for section in sections {
            labels(&page, section, "any");
            let heading = section.heading.as_deref().unwrap_or_default();
            times::moment_in_heading(heading).and_then(times::Dated::moment);
            times::time_in_heading(heading);
        }
    }
    times::session_header(&page);
    times::front_matter_date(text);
}

fn assert_joined(text: &str, sections: &[Section<'_>]) {
    let (mut at, mut line) = (0, 0);
    for section in sections {
        assert_eq!(section.start, at, "a section begins where the last one ended");
        assert_eq!(section.text, &text[at..at + section.text.len()]);
        // A section that ends without a line ending shares its last line with the next.
        assert!(section.line_start == line + 1 || section.line_start == line, "lines have a gap");
        assert!(section.line_end >= section.line_start);
        (at, line) = (at + section.text.len(), section.line_end);
    }
    assert_eq!(at, text.len(), "nothing is left");
}

/// A stream gives what the whole gives; what was redacted holds no secret.
///
/// # Panics
///
/// When a law does not hold.
pub fn secrets(bytes: &[u8]) {
    let hits = scan(bytes);
    let mut end = 0;
    for hit in &hits {
        assert!(end <= hit.range.start && hit.range.start < hit.range.end, "hits are apart");
        end = hit.range.end;
    }
    assert!(end <= bytes.len());
    // The first byte says how long blocks are.
    let size = bytes.first().map_or(1, |first| usize::from(*first) + 1);
    let mut scanner = Scanner::new();
    bytes.chunks(size).for_each(|block| scanner.feed(block));
    assert_eq!(scanner.finish(), hits, "in blocks of {size}");
    let redacted = redact(bytes, &hits).into_owned();
    let left = scan(&redacted);
    assert_eq!(left, [], "of {hits:?}");
    assert_eq!(redact(&redacted, &left), redacted);
}

/// A configuration of ZeroClaw without its secrets is TOML, and has none.
///
/// # Panics
///
/// When a law does not hold.
pub fn zeroclaw_config(text: &str) {
    crate::zeroclaw::fuzzing::config(text);
}

/// A file of ZeroClaw's memories is read into records of their own.
///
/// # Panics
///
/// When a law does not hold.
pub fn zeroclaw_entries(text: &str) {
    crate::zeroclaw::fuzzing::entries(text);
}

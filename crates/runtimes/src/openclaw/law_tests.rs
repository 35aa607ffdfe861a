//! Laws of files in OpenClaw's layout that hold for any input; only the fuzzer calls them.

use anemone_markdown::{Page, Section};

use super::labels::labels;
use crate::kit::times;

/// The sections or rows of a file, joined, are the file again; lines are counted without gaps.
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
            times::moment_in_heading(heading).and_then(times::DatedName::moment);
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

//! The format that the runtime writes: `- **key**: content`, with nothing escaped.
//!
//! ```text
//! # Long-Term Memory
//!
//! - **user_lang**: Prefers Rust
//!
//! - **multi**: line one
//! line two
//! ```
//!
//! An entry ends where the next one begins; the blank line between them belongs to neither. A
//! bullet in a fence of code is part of an entry. A fence counts only when it is closed.
//!
//! `anemone remember` writes `- text <!-- anemone: ... -->` where no key is given. Such an entry has
//! no key here, and begins with its list item; so does every item after the end of an entry with a
//! stamp.
//!
//! The runtime does not escape a line of a content that looks like the start of an entry. We do:
//! [`escaped`] puts a backslash before such a line, as in Markdown, and [`plain`] removes it.

use std::borrow::Cow;
use std::ops::Range;

use anemone_format::ProvenanceStamp;
use anemone_markdown::{Page, byte_order_mark};

/// The first line of a new file.
pub(super) const CORE_TITLE: &str = "# Long-Term Memory";
/// The first line of a log; the day follows.
pub(super) const DAILY_TITLE: &str = "# Daily Log — ";

/// A file, cut into entries.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct EntryFileParts<'a> {
    /// The bytes before the first entry.
    pub(super) before: usize,
    pub(super) entries: Vec<BulletEntry<'a>>,
}

/// An entry.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct BulletEntry<'a> {
    pub(super) key: Option<&'a str>,
    /// As it was stored.
    pub(super) content: Cow<'a, str>,
    /// Its bytes in the file, with the blank line after it.
    pub(super) range: Range<usize>,
    /// Its first line, from 1.
    pub(super) line_start: u64,
    /// The last line of its content.
    pub(super) line_end: u64,
}

/// Cuts a file into entries; `None` when it is not made of entries.
///
/// People write such bullets too, below headings. A file with headings of the second level is
/// theirs, unless it begins like the runtime's files. Then only the bullets at its end that the
/// runtime added, each after a blank line, are entries.
pub(super) fn cut(text: &str) -> Option<EntryFileParts<'_>> {
    let mut starts = starts(text);
    let first = *starts.first()?;
    let page = Page::parse(text);
    if let Some((heading, _)) = page.chapters().last()
        && !is_runtime_title(&text[..first])
    {
        let end = heading.range.end;
        starts.retain(|start| *start >= end);
        if !starts.iter().all(|start| is_behind_blank_line(&text[..*start])) {
            return None;
        }
    }
    let before = *starts.first()?;
    let line_end = if first_line(text).ends_with("\r\n") { "\r\n" } else { "\n" };
    let mut line = 1 + newlines(&text[..before]);
    let ends = starts.iter().skip(1).copied().chain([text.len()]);
    let mut entries = Vec::with_capacity(starts.len());
    for (start, end) in starts.iter().copied().zip(ends) {
        let whole = &text[start..end];
        let (key, at) = match head_of(first_line(whole)) {
            Some((key, at)) => (Some(key), at),
            None => (None, ITEM.len()),
        };
        let mut content = &whole[at..];
        content = content.strip_suffix(line_end).unwrap_or(content);
        if end < text.len() {
            content = content.strip_suffix(line_end).unwrap_or(content);
        }
        let line_start = line;
        line += newlines(whole);
        entries.push(BulletEntry {
            key,
            content: plain(content),
            range: start..end,
            line_start,
            line_end: line_start + newlines(content),
        });
    }
    Some(EntryFileParts { before, entries })
}

/// Returns whether a text is nothing but a title and blank lines.
pub(super) fn is_title(text: &str) -> bool {
    let mut lines = text[byte_order_mark(text)..].lines().filter(|line| !line.trim().is_empty());
    let first = lines.next();
    first.is_none_or(|line| line.starts_with("# ")) && lines.next().is_none()
}

/// Returns whether a text is nothing but a title that the runtime writes.
pub(super) fn is_own_title(text: &str) -> bool {
    text.trim().is_empty() || is_runtime_title(text)
}

fn is_runtime_title(text: &str) -> bool {
    let line = text[byte_order_mark(text)..].trim();
    line == CORE_TITLE || (line.starts_with(DAILY_TITLE) && !line.contains('\n'))
}

fn is_behind_blank_line(text: &str) -> bool {
    text.lines().next_back().is_none_or(|line| line.trim().is_empty())
}

fn newlines(text: &str) -> u64 {
    memchr::memchr_iter(b'\n', text.as_bytes()).count() as u64
}

fn first_line(text: &str) -> &str {
    let end = memchr::memchr(b'\n', text.as_bytes()).map_or(text.len(), |at| at + 1);
    &text[..end]
}

/// Reads `- **key**: `, and returns where the content begins.
fn head_of(line: &str) -> Option<(&str, usize)> {
    let rest = line.strip_prefix("- **")?;
    // A key has at least one character, of any kind.
    let from = rest.chars().next().filter(|first| *first != '\n')?.len_utf8();
    let (end, length) = match rest[from..].find("**: ") {
        Some(at) => (from + at, 4),
        // An editor may have removed the space after an empty content.
        None => {
            let bare = rest.trim_end_matches(['\r', '\n']);
            (bare.strip_suffix("**:").filter(|key| !key.is_empty())?.len(), 3)
        }
    };
    Some((&rest[..end], "- **".len() + end + length))
}

/// Returns where entries start.
fn starts(text: &str) -> Vec<usize> {
    let fences = fences(text);
    let mut fences = fences.iter().peekable();
    let mut starts = Vec::new();
    // Whether the last line that is not blank ends with a stamp, and so ends its entry.
    let mut is_behind_stamp = false;
    for (at, line) in lines(text) {
        while fences.next_if(|fence| fence.end <= at).is_some() {}
        let fenced = fences.peek().is_some_and(|fence| fence.start < at);
        let is_item = || is_item(line) && (is_behind_stamp || is_stamped(&text[at..]));
        if !fenced && (head_of(line).is_some() || is_item()) {
            starts.push(at);
        }
        if !line.trim().is_empty() {
            is_behind_stamp = has_stamp(line);
        }
    }
    starts
}

/// The mark of a list item, which is all that an entry without a key begins with.
const ITEM: &str = "- ";

fn is_item(line: &str) -> bool {
    line.strip_prefix(ITEM).is_some_and(|rest| !rest.trim().is_empty())
}

fn has_stamp(line: &str) -> bool {
    ProvenanceStamp::at_end_of(line).is_some()
}

/// Whether the list item at the start of a text ends with a stamp; its further lines are indented.
fn is_stamped(text: &str) -> bool {
    let mut lines = text.lines();
    let first = lines.next().unwrap_or_default();
    let mut rest = lines.take_while(|line| line.is_empty() || line.starts_with(' '));
    has_stamp(first) || rest.any(has_stamp)
}

fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut at = 0;
    text.split_inclusive('\n').map(move |line| {
        let start = at;
        at += line.len();
        (start, line)
    })
}

/// Finds the fences that are closed, from the start of the opening line to the end of the closing
/// one. A fence may open after the key of an entry.
fn fences(text: &str) -> Vec<Range<usize>> {
    closed(lines(text).filter_map(|(at, line)| {
        let mark = match head_of(line) {
            Some((_, content)) => mark_of(&line[content..])?.behind_key(),
            None => mark_of(line)?,
        };
        Some((at..at + line.len(), mark))
    }))
}

/// Finds the fences of a content that follows its key.
fn fences_of_content(content: &str) -> Vec<Range<usize>> {
    closed(lines(content).filter_map(|(at, line)| {
        let mark = match at {
            0 => mark_of(line)?.behind_key(),
            // Outside a fence it is escaped, inside it closes nothing.
            _ if head_of(line).is_some() => return None,
            _ => mark_of(line)?,
        };
        Some((at..at + line.len(), mark))
    }))
}

fn closed(marks: impl Iterator<Item = (Range<usize>, FenceMark)>) -> Vec<Range<usize>> {
    let marks: Vec<_> = marks.collect();
    // The longest closing mark of each kind from a position on, so that an open fence needs no
    // search.
    let mut longest = vec![[0; 2]; marks.len() + 1];
    for (index, (_, mark)) in marks.iter().enumerate().rev() {
        longest[index] = longest[index + 1];
        if mark.closes {
            let slot = &mut longest[index][usize::from(mark.tilde)];
            *slot = mark.length.max(*slot);
        }
    }
    let mut found = Vec::new();
    let mut index = 0;
    while let Some((range, open)) = marks.get(index) {
        index += 1;
        if !open.opens || longest[index][usize::from(open.tilde)] < open.length {
            continue;
        }
        let closes = |(_, mark): &(Range<usize>, FenceMark)| {
            mark.closes && mark.tilde == open.tilde && mark.length >= open.length
        };
        let Some(close) = marks[index..].iter().position(closes) else { continue };
        found.push(range.start..marks[index + close].0.end);
        index += close + 1;
    }
    found
}

/// A line that opens or closes a fence.
#[derive(Clone, Copy)]
struct FenceMark {
    tilde: bool,
    length: usize,
    opens: bool,
    closes: bool,
}

impl FenceMark {
    /// A mark after a key closes nothing.
    fn behind_key(self) -> Self {
        Self { closes: false, ..self }
    }
}

fn mark_of(line: &str) -> Option<FenceMark> {
    let indent = line.len() - line.trim_start_matches(' ').len();
    let line = line.trim_start_matches(' ').trim_end();
    let mark = line.bytes().next().filter(|byte| matches!(byte, b'`' | b'~'))?;
    let length = line.bytes().take_while(|byte| *byte == mark).count();
    if indent > 3 || length < 3 {
        return None;
    }
    let rest = &line[length..];
    let tilde = mark == b'~';
    let opens = tilde || !rest.contains('`');
    let closes = rest.is_empty();
    (opens || closes).then_some(FenceMark { tilde, length, opens, closes })
}

/// Returns whether a line would be read as something else than a part of a content, whatever
/// backslashes it begins with. Where a content has stamps, any list item could be.
fn is_delicate(line: &str, first: bool, has_stamps: bool) -> bool {
    let bare = line.trim_start_matches('\\');
    let is_start = head_of(bare).is_some() || (has_stamps && is_item(bare));
    (!first && is_start) || mark_of(bare).is_some()
}

/// Writes a content so that [`cut`] finds it again, whatever precedes and follows it.
pub(super) fn escaped(content: &str) -> Cow<'_, str> {
    let has_stamps = ProvenanceStamp::all_in(content).next().is_some();
    edited(content, |line, first| {
        is_delicate(line, first, has_stamps).then_some(BackslashEdit::Add)
    })
}

/// Removes what [`escaped`] added.
fn plain(content: &str) -> Cow<'_, str> {
    let has_stamps = ProvenanceStamp::all_in(content).next().is_some();
    edited(content, |line, first| {
        (line.starts_with('\\') && is_delicate(line, first, has_stamps))
            .then_some(BackslashEdit::Take)
    })
}

enum BackslashEdit {
    Add,
    Take,
}

/// Edits the lines of a content that are not in a fence.
fn edited(content: &str, edit: impl Fn(&str, bool) -> Option<BackslashEdit>) -> Cow<'_, str> {
    if !content.contains(ITEM) && !content.contains("```") && !content.contains("~~~") {
        return Cow::Borrowed(content);
    }
    let fences = fences_of_content(content);
    let mut fences = fences.iter().peekable();
    let mut out = String::new();
    let mut done = 0;
    for (at, line) in lines(content) {
        while fences.next_if(|fence| fence.end <= at).is_some() {}
        if fences.peek().is_some_and(|fence| fence.start <= at) {
            continue;
        }
        match edit(line, at == 0) {
            Some(BackslashEdit::Add) => {
                out.push_str(&content[done..at]);
                out.push('\\');
                done = at;
            }
            Some(BackslashEdit::Take) => {
                out.push_str(&content[done..at]);
                done = at + 1;
            }
            None => {}
        }
    }
    if done == 0 && out.is_empty() {
        return Cow::Borrowed(content);
    }
    out.push_str(&content[done..]);
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn entries(text: &str) -> Vec<(&str, String)> {
        let cut = cut(text).unwrap();
        cut.entries
            .into_iter()
            .map(|entry| (entry.key.unwrap_or_default(), entry.content.into_owned()))
            .collect()
    }

    // Written by the real program, 0.8.7.
    const REAL: &str = "# Long-Term Memory\n\n- **user_lang**: Prefers Rust\n\n- **cjk**: 用户喜欢 Rust\n\n- **multi**: line one\nline two\n# looks like heading\n- bullet\n\n- ****bold****: key with stars: and colon\n";

    #[test]
    fn the_runtimes_own_file_is_cut_at_its_entries() {
        let cut = cut(REAL).unwrap();
        assert_eq!(&REAL[..cut.before], "# Long-Term Memory\n\n");
        let found: Vec<_> = cut
            .entries
            .iter()
            .map(|entry| {
                (entry.key.unwrap_or_default(), &*entry.content, entry.line_start, entry.line_end)
            })
            .collect();
        assert_eq!(
            found,
            [
                ("user_lang", "Prefers Rust", 3, 3),
                ("cjk", "用户喜欢 Rust", 5, 5),
                ("multi", "line one\nline two\n# looks like heading\n- bullet", 7, 10),
                ("**bold**", "key with stars: and colon", 12, 12),
            ]
        );
    }

    #[test]
    fn every_byte_is_before_the_entries_or_in_one() {
        for text in [REAL, &REAL.replace('\n', "\r\n"), "- **a**: x", "x\n- **a**:\n- **b**: "] {
            let cut = cut(text).unwrap();
            let mut at = cut.before;
            for entry in &cut.entries {
                assert_eq!(entry.range.start, at);
                at = entry.range.end;
            }
            assert_eq!(at, text.len());
        }
    }

    #[test]
    fn an_empty_content_is_empty_with_its_blank_or_without() {
        assert_eq!(
            entries("- **a**: \n\n- **b**:\n"),
            [("a", String::new()), ("b", String::new())]
        );
    }

    #[test]
    fn a_bullet_in_a_fence_is_content() {
        let text = "# Long-Term Memory\n\n- **a**: ```\n- **no**: x\n```\n\n- **b**: y\n~~~md\n- **no**: z\n~~~\n";
        let found = entries(text);
        let keys: Vec<_> = found.iter().map(|(key, _)| *key).collect();
        assert_eq!(keys, ["a", "b"]);
        assert_eq!(found[1].1, "y\n~~~md\n- **no**: z\n~~~");
    }

    #[test]
    fn a_fence_that_nobody_closed_hides_nothing() {
        let text = "- **a**: see\n```\ncut off\n\n- **b**: y\n";
        assert_eq!(entries(text)[1], ("b", "y".to_owned()));
    }

    #[test]
    fn bullets_below_headings_are_somebodys_own() {
        assert_eq!(cut("# Memory\n\n## Alex\n\n- **Name**: Alex\n- **Zone**: Berlin\n"), None);
        assert_eq!(cut("# Memory\n\n- **Name**: Alex\n\n## Work\n\nx\n"), None);
        assert_eq!(cut("# Memory\n\n- item\n"), None);
    }

    #[test]
    fn what_the_runtime_added_to_somebodys_file_is_entries() {
        let text = "# MEMORY.md\n\n## Facts\n\n- **Name**: Alex\n- x\n\n## Open Loops\n\nnone\n\n- **tz**: UTC\n\n- **lang**: Rust\n";
        let cut = cut(text).unwrap();
        assert!(text[..cut.before].ends_with("none\n\n"));
        assert_eq!(entries(text), [("tz", "UTC".to_owned()), ("lang", "Rust".to_owned())]);
    }

    // The second entry's content has a heading, as in a file of the real program, 0.1.7.
    #[test]
    fn a_heading_in_an_entry_is_content_in_the_runtimes_own_file() {
        let text = "# Long-Term Memory\n\n- **a**: x\n\n- **m**: Line one\n\n## Heading\n- bullet\n\n- **b**: y\n";
        let keys: Vec<_> = entries(text).into_iter().map(|(key, _)| key).collect();
        assert_eq!(keys, ["a", "m", "b"]);
    }

    fn contents() -> impl Strategy<Value = String> {
        let line = prop_oneof![
            Just("- **k**: v".to_owned()),
            Just("\\- **k**: v".to_owned()),
            Just("- **k**: ```".to_owned()),
            Just("- v".to_owned()),
            Just("\\- v".to_owned()),
            Just("- v <!-- anemone: k7f3xq2b -->".to_owned()),
            Just("  - **k**: v".to_owned()),
            Just("```".to_owned()),
            Just("```rust".to_owned()),
            Just("  ````".to_owned()),
            Just("\\```".to_owned()),
            Just("~~~".to_owned()),
            Just("# Heading".to_owned()),
            Just("## Heading".to_owned()),
            Just(String::new()),
            Just("\r".to_owned()),
            "[ -~é]{0,8}",
        ];
        proptest::collection::vec(line, 0..8).prop_map(|lines| lines.join("\n"))
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(contents in proptest::collection::vec(contents(), 1..5)) {
            let mut text = format!("{CORE_TITLE}\n");
            for (index, content) in contents.iter().enumerate() {
                text.push_str(&format!("\n- **k{index}**: {}\n", escaped(content)));
            }
            let read: Vec<String> = entries(&text).into_iter().map(|(_, entry)| entry).collect();
            prop_assert_eq!(read, contents, "{}", text);
        }

        #[test]
        fn any_text_is_cut_without_losing_a_byte(text in "(- \\*\\*[a:* ]{0,5}\\*\\*:[ a]?|```|~~~|## H|[a\n\r ]){0,40}") {
            if let Some(cut) = cut(&text) {
                let mut at = cut.before;
                for entry in &cut.entries {
                    prop_assert_eq!(entry.range.start, at);
                    at = entry.range.end;
                }
                prop_assert_eq!(at, text.len());
            }
        }
    }
}

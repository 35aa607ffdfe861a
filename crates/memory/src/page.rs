//! A Markdown file of memories as the things that are remembered in it, and back.
//!
//! ```text
//! # 2026-11-16                                     a heading: not remembered by itself
//!
//! - [decision|i=0.9] **db**: SQLite it is. #work <!-- anemone: ... -->
//!   and why: one file                              an entry goes on as long as lines are indented
//!
//! Some prose                                       a paragraph
//! ```
//!
//! The file is taken apart line by line, without a Markdown parser: what is written back are the
//! file's own bytes, and an entry ends where a person sees it end.

use std::ops::Range;

use anemone_format::{Stamp, escaped, unescaped};

use crate::entry::{Given, Importance, Label};

/// So much of a heading is told with each unit below it.
const MAX_HEADING_BYTES: usize = 200;

/// Something that is remembered, where it stands.
#[derive(Clone, Debug, PartialEq)]
pub struct Unit {
    /// What it looks like.
    pub kind: UnitKind,
    /// Its bytes in the file, without blank lines around it, with its last line ending.
    pub bytes: Range<usize>,
    /// Its first and last line, from 1.
    pub lines: (usize, usize),
    /// The heading above it.
    pub heading: Option<String>,
    /// What it is called.
    pub key: Option<String>,
    /// Its tag, such as `[decision|i=0.9]`.
    pub label: Option<Label>,
    /// What it says, without marker, tag, key and stamp.
    pub content: String,
    /// Who wrote it, when; where that is known.
    pub stamp: Option<Stamp>,
}

/// What a unit looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnitKind {
    /// An item of a list, with all that is indented below it.
    Item,
    /// Lines of prose.
    Paragraph,
    /// A fence of code, with its content.
    Code,
}

/// Takes a file apart.
#[must_use]
pub fn units(text: &str) -> Vec<Unit> {
    let mut reader = Reader::default();
    let mut at = 0;
    let after_front_matter = front_matter_lines(text);
    for (index, line) in text.split_inclusive('\n').enumerate() {
        let range = at..at + line.len();
        at = range.end;
        if index >= after_front_matter {
            reader.line(line, range, index + 1);
        }
    }
    reader.end();
    reader.found.into_iter().map(|raw| raw.read(text)).collect()
}

/// A unit that has not been read yet.
#[derive(Debug)]
struct Raw {
    kind: UnitKind,
    bytes: Range<usize>,
    lines: (usize, usize),
    heading: Option<String>,
}

#[derive(Debug, Default)]
struct Reader {
    found: Vec<Raw>,
    heading: Option<String>,
    open: Option<Raw>,
    /// The fence that is open at the left margin.
    fence: Option<String>,
    after_blank: bool,
}

impl Reader {
    fn line(&mut self, line: &str, range: Range<usize>, number: usize) {
        self.take(line, range, number);
        // What stands behind a stamp is not what was stamped.
        if self.fence.is_none() && Stamp::at_end_of(line).is_some() {
            self.end();
        }
    }

    fn take(&mut self, line: &str, range: Range<usize>, number: usize) {
        let plain = line.trim_end();
        let is_entry = is_item(plain) && Stamp::at_end_of(line).is_some();
        if let Some(fence) = self.fence.as_ref().filter(|_| !is_entry) {
            let ends = plain.trim_start().starts_with(fence.as_str());
            self.go_on(&range, number);
            if ends {
                self.fence = None;
                self.end();
            }
            return;
        }
        self.fence = None;
        if plain.is_empty() {
            if self.open.as_ref().is_some_and(|it| it.kind == UnitKind::Paragraph) {
                self.end();
            }
            self.after_blank = true;
            return;
        }
        let after_blank = std::mem::take(&mut self.after_blank);
        let in_item = self.open.as_ref().is_some_and(|it| it.kind == UnitKind::Item);
        let is_indented = line.starts_with("  ") || line.starts_with('\t');
        if in_item && is_indented {
            return self.go_on(&range, number);
        }
        if let Some(heading) = heading_of(plain) {
            self.end();
            let end = heading.floor_char_boundary(MAX_HEADING_BYTES);
            self.heading = Some(heading[..end].to_owned());
        } else if is_rule(plain) {
            self.end();
        } else if let Some(fence) = fence_of(plain) {
            self.end();
            self.begin(UnitKind::Code, range, number);
            self.fence = Some(fence);
        } else if is_item(plain) {
            self.end();
            self.begin(UnitKind::Item, range, number);
        } else if self.open.is_some() && !after_blank {
            self.go_on(&range, number);
        } else {
            self.end();
            self.begin(UnitKind::Paragraph, range, number);
        }
    }

    fn begin(&mut self, kind: UnitKind, bytes: Range<usize>, number: usize) {
        self.open =
            Some(Raw { kind, bytes, lines: (number, number), heading: self.heading.clone() });
    }

    fn go_on(&mut self, range: &Range<usize>, number: usize) {
        if let Some(open) = &mut self.open {
            open.bytes.end = range.end;
            open.lines.1 = number;
        }
    }

    fn end(&mut self) {
        self.found.extend(self.open.take());
        self.after_blank = false;
    }
}

impl Raw {
    fn read(self, text: &str) -> Unit {
        let Self { kind, bytes, lines, heading } = self;
        let whole = &text[bytes.clone()];
        let (body, stamp) = match Stamp::at_end_of(whole) {
            Some((range, stamp)) => (&whole[..range.start], Some(stamp)),
            None => (whole, None),
        };
        let mut unit = Unit {
            kind,
            bytes,
            lines,
            heading,
            key: None,
            label: None,
            content: body.trim_end().to_owned(),
            stamp,
        };
        if kind == UnitKind::Item {
            unit.read_item(body);
        }
        unit
    }
}

impl Unit {
    fn read_item(&mut self, body: &str) {
        let mut lines = body.split('\n');
        let first = lines.next().unwrap_or_default();
        let mut rest = first.get(2..).unwrap_or_default();
        if let Some((label, after)) = Label::split(rest) {
            self.label = Some(label);
            rest = after;
        }
        let named = self.stamp.as_ref().and_then(|it| it.key.as_deref());
        if let Some(key) = named
            && let Some(after) = rest.strip_prefix(&key_prefix(key))
        {
            self.key = Some(key.to_owned());
            rest = after;
        } else if let Some((key, after)) = split_key(rest) {
            self.key = Some(key.to_owned());
            rest = after;
        } else if is_marked(rest) {
            rest = &rest[1..];
        }
        let mut content = unescaped(rest.trim_end());
        for line in lines {
            content.push('\n');
            let line = line.strip_prefix("  ").or_else(|| line.strip_prefix('\t')).unwrap_or(line);
            content.push_str(&unescaped(line.trim_end()));
        }
        content.truncate(content.trim_end().len());
        self.content = content;
    }
}

impl Label {
    /// Splits a tag off the beginning of a text.
    fn split(text: &str) -> Option<(Self, &str)> {
        let (inner, after) = text.strip_prefix('[')?.split_once("] ")?;
        let (name, score) = inner.split_once("|i=")?;
        let plain = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
        if name.is_empty() || !name.chars().all(plain) {
            return None;
        }
        let importance = Importance::new(score.parse().ok()?)?;
        Some((Self { name: name.to_owned(), importance }, after))
    }
}

/// Writes an entry as it stands in a file, with its last line ending.
#[must_use]
pub fn render(given: &Given) -> String {
    let mut stamp = given.stamp.clone();
    let mut line = String::from("- ");
    if let Some(label) = &given.label {
        line.push_str(&format!("[{}|i={}] ", label.name, label.importance.get()));
    }
    if let Some(key) = &given.key {
        let prefix = key_prefix(key);
        if split_key(&prefix).is_none_or(|(read, _)| read != key) {
            stamp.key = Some(key.clone());
        }
        line.push_str(&prefix);
    }
    let mut text = tidied(&given.text);
    // What only looks like a key is none.
    if given.key.is_none() && (split_key(&text).is_some() || is_marked(&text)) {
        text.insert(0, '\\');
    }
    let mut lines = text.split('\n');
    line.push_str(&escaped(lines.next().unwrap_or_default()));
    let mut is_long = false;
    for next in lines {
        is_long = true;
        line.push('\n');
        if !next.is_empty() {
            line.push_str("  ");
            line.push_str(&escaped(next));
        }
    }
    for tag in &given.tags {
        line.push_str(&format!(" #{tag}"));
    }
    line.push_str(if is_long { "\n  " } else { " " });
    line.push_str(&stamp.to_string());
    line.push('\n');
    line
}

/// Returns a text without what no Markdown file can keep: blanks at the ends of lines, other line
/// endings, control characters.
#[must_use]
pub fn tidied(text: &str) -> String {
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    let kept = |c: &char| *c == '\n' || *c == '\t' || !c.is_control();
    let text: String = text.chars().filter(kept).collect();
    let lines: Vec<_> = text.trim_matches('\n').split('\n').map(str::trim_end).collect();
    lines.join("\n").trim_end().to_owned()
}

/// Returns what closes a fence of code that somebody left open at the end of a text: what is added
/// behind it would be code.
pub(crate) fn closing(text: &str) -> Option<String> {
    let last = units(text).pop().filter(|it| it.kind == UnitKind::Code)?;
    let mut lines = text.get(last.bytes)?.lines();
    let first = lines.next()?.trim_start();
    let fence = &first[..first.len() - first.trim_start_matches(['`', '~']).len()];
    let is_closed = lines.next_back().is_some_and(|it| it.trim_start().starts_with(fence));
    (!is_closed).then(|| format!("{fence}\n"))
}

/// Writes a key as it stands before the text of an entry.
pub(crate) fn key_prefix(key: &str) -> String {
    let plain: String = key.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    format!("**{}**: ", escaped(&plain))
}

/// Whether a text begins with a key that was marked as none.
fn is_marked(text: &str) -> bool {
    text.starts_with('\\') && text.trim_start_matches('\\').starts_with("**")
}

fn split_key(text: &str) -> Option<(&str, &str)> {
    let (key, after) = text.strip_prefix("**")?.split_once("**:")?;
    let after = after.strip_prefix(' ').or_else(|| after.is_empty().then_some(after))?;
    (!key.trim().is_empty() && !key.contains("**")).then_some((key, after))
}

fn heading_of(line: &str) -> Option<&str> {
    let text = line.trim_start_matches('#');
    let level = line.len() - text.len();
    ((1..=6).contains(&level) && (text.is_empty() || text.starts_with(' '))).then(|| text.trim())
}

fn is_rule(line: &str) -> bool {
    let mut marks = line.bytes().filter(|it| *it != b' ');
    let Some(mark) = marks.next().filter(|it| b"-*_".contains(it)) else { return false };
    marks.clone().all(|it| it == mark) && marks.count() >= 2
}

fn is_item(line: &str) -> bool {
    ["- ", "* ", "+ "].iter().any(|mark| line.starts_with(mark))
}

fn fence_of(line: &str) -> Option<String> {
    let indent = line.len() - line.trim_start_matches(' ').len();
    let line = line.trim_start_matches(' ');
    let mark = line.chars().next().filter(|c| matches!(c, '`' | '~'))?;
    let length = line.chars().take_while(|c| *c == mark).count();
    (indent < 4 && length >= 3).then(|| mark.to_string().repeat(length))
}

/// Counts the lines of YAML at the beginning of a file.
fn front_matter_lines(text: &str) -> usize {
    if !text.starts_with("---\n") && !text.starts_with("---\r\n") {
        return 0;
    }
    let end = text.lines().skip(1).position(|line| line.trim_end() == "---");
    end.map_or(0, |at| at + 2)
}

#[cfg(test)]
mod tests {
    use anemone_format::Origin;
    use proptest::prelude::*;
    use uuid::Uuid;

    use super::*;

    fn given(text: &str, key: Option<&str>) -> Given {
        let at = "2026-11-16T10:00:00Z".parse().unwrap();
        Given {
            text: text.to_owned(),
            key: key.map(str::to_owned),
            label: None,
            tags: Vec::new(),
            stamp: Stamp::new(Uuid::nil(), Origin::Agent, at),
        }
    }

    fn contents(text: &str) -> Vec<String> {
        units(text).into_iter().map(|it| it.content).collect()
    }

    #[test]
    fn a_file_is_taken_apart_as_a_person_sees_it() {
        let text = "---\na: b\n---\n# Day\n\n- one\n  more\n\n  still\n- two\nlazy\n\nprose\nmore\n\
                    ```\n- no item\n\n```\n* three\n---\n";
        assert_eq!(
            contents(text),
            ["one\nmore\n\nstill", "two\nlazy", "prose\nmore", "```\n- no item\n\n```", "three"]
        );
        let found = units(text);
        assert_eq!(found[0].lines, (6, 9));
        assert_eq!(found[0].heading.as_deref(), Some("Day"));
        assert_eq!(&text[found[1].bytes.clone()], "- two\nlazy\n");
    }

    #[test]
    fn tags_keys_and_stamps_are_read() {
        let mut given = given("It is.\nBecause.", Some("db"));
        given.label =
            Some(Label { name: "decision".to_owned(), importance: Importance::new(0.9).unwrap() });
        given.tags = vec!["work".to_owned()];
        let text = render(&given);
        assert!(text.starts_with("- [decision|i=0.9] **db**: It is.\n  Because. #work\n  <!-- "));
        let unit = &units(&text)[0];
        assert_eq!(unit.key.as_deref(), Some("db"));
        assert_eq!(unit.label, given.label);
        assert_eq!(unit.content, "It is.\nBecause. #work");
        assert_eq!(unit.stamp.as_ref(), Some(&given.stamp));
    }

    #[test]
    fn a_text_cannot_pose_as_a_key() {
        for text in ["**db**: evil", "\\**db**: odd", "**db**:", "**plain** words"] {
            let unit = &units(&render(&given(text, None)))[0];
            assert_eq!((unit.key.as_deref(), unit.content.as_str()), (None, text));
        }
    }

    #[test]
    fn what_was_added_behind_an_open_fence_is_an_entry() {
        let entry = render(&given("found", Some("k")));
        let found = units(&format!("```sh\nmake\n{entry}{entry}"));
        let kinds: Vec<_> = found.iter().map(|it| it.kind).collect();
        assert_eq!(kinds, [UnitKind::Code, UnitKind::Item, UnitKind::Item]);
        assert_eq!(closing("a\n```sh\nmake\n").as_deref(), Some("```\n"));
        assert_eq!(closing("```sh\nmake\n```\n"), None);
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(text in "(?s).{0,60}", key in "(?s).{1,20}", tail in "(?s).{0,20}") {
            let key = Some(&*key).filter(|it| !it.trim().is_empty());
            let rendered = render(&given(&text, key));
            let found = units(&format!("{rendered}\n{tail}"));
            let unit = &found[0];
            if let Some(key) = key {
                prop_assert_eq!(unit.key.as_deref(), Some(key));
                let wanted = tidied(&text);
                prop_assert_eq!(&unit.content, &wanted);
            }
            prop_assert!(unit.stamp.is_some());
        }

        #[test]
        fn units_lie_one_after_the_other(text in "(?s)([-*#`> a\n\t]|```\n|- ){0,80}") {
            let mut end = 0;
            for unit in units(&text) {
                prop_assert!(end <= unit.bytes.start && unit.bytes.start < unit.bytes.end);
                end = unit.bytes.end;
                prop_assert!(text.is_char_boundary(end));
            }
            prop_assert!(end <= text.len());
        }
    }
}

//! What comments in a memory file say about its entries: `<!-- importance: 7 -->` and the like.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::ops::Range;

use super::super::script::is_space;

/// Opens a comment, and closes it.
const OPEN: &str = "<!--";
const CLOSE: &str = "-->";
/// Replaces a project that cannot be read.
pub(in super::super) const INVALID_PROJECT: &str = "!invalid-project-annotation";
/// The files whose triggers and importance count.
const CURATED: [&str; 3] = ["MEMORY.md", "memory.md", "USER.md"];

/// What a comment is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AnnotationKind {
    Trigger,
    Importance,
    Project,
}

const ABOUT: [(&str, AnnotationKind); 3] = [
    ("trigger", AnnotationKind::Trigger),
    ("importance", AnnotationKind::Importance),
    ("project", AnnotationKind::Project),
];

/// What the annotations of some lines say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct AnnotationValues {
    pub(super) importance: Option<u8>,
    pub(super) project: Option<String>,
}

/// The annotations of a file.
pub(super) struct Annotations<'a> {
    /// The file's lines; empty when they cannot contain an annotation.
    lines: Vec<&'a str>,
    curated: bool,
    projects: bool,
}

impl<'a> Annotations<'a> {
    pub(super) fn new(path: &str, text: &'a str) -> Self {
        let mut lines = Vec::new();
        if text.contains(OPEN) {
            let mut rest = text;
            while let Some((line, after)) = rest.split_once('\n') {
                lines.push(line.strip_suffix('\r').unwrap_or(line));
                rest = after;
            }
            lines.push(rest);
        }
        let curated = CURATED.contains(&path);
        Self { lines, curated, projects: path.to_uppercase() != "USER.MD" }
    }

    /// Returns the text without its annotations, as it is searched.
    pub(super) fn without<'t>(&self, text: &'t str) -> Cow<'t, str> {
        if self.lines.is_empty() {
            return Cow::Borrowed(text);
        }
        let mut kept = String::with_capacity(text.len());
        let mut from = 0;
        for annotation in scan(text, &ABOUT, true) {
            kept.push_str(&text[from..annotation.bytes.start]);
            from = annotation.bytes.end;
        }
        if from == 0 {
            return Cow::Borrowed(text);
        }
        kept.push_str(&text[from..]);
        Cow::Owned(without_trailing_blanks(&kept))
    }

    /// Returns the annotations in some lines, counted from 1.
    pub(super) fn of_lines(&self, lines: Range<u32>) -> AnnotationValues {
        let end = self.lines.len().min(lines.end.saturating_sub(1) as usize);
        let start = end.min(lines.start.saturating_sub(1) as usize);
        let lines = &self.lines[start..end];
        let importance = if self.curated { importance(lines) } else { None };
        let project = if self.projects { project(lines) } else { None };
        AnnotationValues { importance, project }
    }
}

/// Returns the highest importance in lines with an annotation at their end.
fn importance(lines: &[&str]) -> Option<u8> {
    let lines = lines.iter().filter(|line| line.trim_end_matches(is_space).ends_with(CLOSE));
    let values = lines.flat_map(|line| scan(line, &ABOUT, false));
    let values = values.filter(|value| value.about == AnnotationKind::Importance);
    let digits = values.filter(|value| value.value.bytes().all(|byte| byte.is_ascii_digit()));
    digits
        .filter_map(|value| value.value.parse().ok())
        .filter(|number| (1..=10).contains(number))
        .max()
}

fn project(lines: &[&str]) -> Option<String> {
    if !lines.iter().any(|line| line.contains(OPEN)) {
        return None;
    }
    let text = lines.join("\n");
    let only = &ABOUT[2..];
    let mut markers = 0;
    let mut from = 0;
    while let Some(marker) = marker(&text, from, only) {
        markers += 1;
        from = marker.value;
    }
    let mut seen = BTreeSet::new();
    let mut keys: Vec<String> = Vec::new();
    let (mut read, mut valid) = (0, true);
    for annotation in scan(&text, only, false) {
        read += 1;
        for key in annotation.value.split(';') {
            match project_key(key) {
                Some(key) if seen.insert(key.clone()) => keys.push(key),
                Some(_) => {}
                None => valid = false,
            }
        }
    }
    match (markers, read == markers && valid) {
        (0, _) => None,
        (_, true) => Some(keys.join("; ")),
        (_, false) => Some(INVALID_PROJECT.to_owned()),
    }
}

/// Returns a project's key for comparisons: the host in lower case.
fn project_key(value: &str) -> Option<String> {
    let key = value.trim_matches(is_space);
    if key.is_empty() || key.contains(['\r', '\n', '<', '>']) {
        return None;
    }
    Some(match key.split_once('/') {
        Some((host, rest)) if !key.starts_with("path:") => {
            format!("{}/{rest}", host.to_lowercase())
        }
        _ => key.to_owned(),
    })
}

struct Annotation<'a> {
    bytes: Range<usize>,
    about: AnnotationKind,
    value: &'a str,
}

/// Finds annotations of these kinds; with `in_line`, only those whose value ends in its own line.
fn scan<'a>(text: &'a str, kinds: &[(&str, AnnotationKind)], in_line: bool) -> Vec<Annotation<'a>> {
    let mut found = Vec::new();
    let (mut from, mut close, mut line_end) = (0, 0, 0);
    while let Some(marker) = marker(text, from, kinds) {
        from = marker.value;
        // The end that was found for the last marker is also the end of this one when it comes
        // after it: nothing is searched for twice.
        if close <= from {
            let Some(at) = text[from..].find(CLOSE) else { break };
            close = from + at;
        }
        if in_line {
            if line_end <= from {
                line_end = text[from..].find(['\r', '\n']).map_or(text.len(), |at| from + at);
            }
            if line_end < close {
                continue;
            }
        }
        let value = text[from..close].trim_matches(is_space);
        from = close + CLOSE.len();
        found.push(Annotation { bytes: marker.start..from, about: marker.about, value });
    }
    found
}

/// The beginning of an annotation.
struct Marker {
    start: usize,
    /// Where its value begins.
    value: usize,
    about: AnnotationKind,
}

fn marker(text: &str, mut from: usize, kinds: &[(&str, AnnotationKind)]) -> Option<Marker> {
    loop {
        let start = from + text[from..].find(OPEN)?;
        from = start + OPEN.len();
        let rest = text[from..].trim_start_matches(is_space);
        let is =
            |name: &str| rest.get(..name.len()).is_some_and(|head| head.eq_ignore_ascii_case(name));
        let Some((name, about)) = kinds.iter().find(|(name, _)| is(name)) else { continue };
        let rest = rest[name.len()..].trim_start_matches(is_space);
        if let Some(rest) = rest.strip_prefix(':') {
            return Some(Marker { start, value: text.len() - rest.len(), about: *about });
        }
    }
}

/// Removes spaces and tabs at the ends of lines.
fn without_trailing_blanks(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    for line in text.split_inclusive(['\r', '\n', '\u{2028}', '\u{2029}']) {
        let body = line.trim_end_matches(['\r', '\n', '\u{2028}', '\u{2029}']);
        kept.push_str(body.trim_end_matches([' ', '\t']));
        kept.push_str(&line[body.len()..]);
    }
    kept
}

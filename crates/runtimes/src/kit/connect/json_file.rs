//! JSON and JSON5 files, changed as text.

use serde::Serialize as _;
use serde_json::Value;

use super::document::{
    ConfigEdit, RefuseError, indentation, line_and_column, line_break, start_of_gap,
};
use super::edit::{self, Edit};
use super::scan::{Item, Node, NodeKind, ScanError, end_of_line, scan};

pub(crate) fn parse(text: &str) -> Result<Value, RefuseError> {
    // First, because it bounds the depth.
    scan_file(text)?;
    json5::from_str(text).map_err(|error| {
        let (line, column) = error.position().map_or((1, 1), |at| (at.line + 1, at.column + 1));
        RefuseError::Unparsable { line, column, expected: expectation(&error).to_owned() }
    })
}

/// Returns what was expected, but quotes nothing from the file: it may be a key.
fn expectation(error: &json5::Error) -> &'static str {
    use json5::ErrorCode;
    match error.code() {
        Some(ErrorCode::LeadingZero | ErrorCode::OverflowParsingNumber) => "another number",
        Some(ErrorCode::InvalidEscapeSequence) => "another escape",
        Some(ErrorCode::InvalidKey | ErrorCode::ExpectedIdentifier) => "a name",
        _ => "a value",
    }
}

/// A step on the way to a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum JsonStep {
    /// The member of an object.
    Member(String),
    /// The first element of an array with this `id`.
    Element(String),
}

/// The positions of the values of a text.
pub(crate) struct JsonLines<'a> {
    text: &'a str,
    root: Node,
    /// Where the line breaks are.
    breaks: Vec<usize>,
}

impl<'a> JsonLines<'a> {
    /// Examines a text; `None` where it is not JSON5.
    pub(crate) fn of(text: &'a str) -> Option<Self> {
        let breaks = text.match_indices('\n').map(|(at, _)| at).collect();
        Some(Self { text, root: scan(text).ok()?, breaks })
    }

    /// Returns the line on which a value is named.
    pub(crate) fn line_of(&self, path: &[JsonStep]) -> Option<usize> {
        let mut node = &self.root;
        let mut start = self.root.span.start;
        for step in path {
            let item = match step {
                JsonStep::Member(key) => node.member(key)?,
                JsonStep::Element(id) => {
                    node.items()?.iter().find(|item| self.has_id(&item.value, id))?
                }
            };
            (node, start) = (&item.value, item.start);
        }
        Some(self.breaks.partition_point(|at| *at < start) + 1)
    }

    fn has_id(&self, node: &Node, id: &str) -> bool {
        let text = node.member("id").and_then(|item| self.text.get(item.value.span.clone()));
        text.is_some_and(|text| {
            // A text without escapes is compared as it is: a list may have a thousand agents.
            let plain = text.get(1..text.len().saturating_sub(1)).unwrap_or_default();
            if text.contains('\\') {
                json5::from_str::<String>(text).is_ok_and(|own| own == id)
            } else {
                text.starts_with(['"', '\'']) && plain == id
            }
        })
    }
}

fn scan_file(text: &str) -> Result<Node, RefuseError> {
    scan(text).map_err(|ScanError { at, expected }| {
        let (line, column) = line_and_column(text, at);
        RefuseError::Unparsable { line, column, expected: expected.to_owned() }
    })
}

/// Plans how an entry is inserted; also returns how much has to be created around it.
pub(super) fn plan(text: &str, want: &ConfigEdit) -> Result<(Vec<Edit>, usize), RefuseError> {
    let root = scan_file(text)?;
    let (path, mut value, mut key, is_array) = match want {
        ConfigEdit::Member { path, key, value } => (path, value.clone(), Some(key.clone()), false),
        ConfigEdit::Element { path, value } => (path, value.clone(), None, true),
        ConfigEdit::Switch { path, key, .. } => (path, Value::Bool(true), Some(key.clone()), false),
    };
    let mut node = &root;
    let mut depth = 0;
    while let Some(item) = path.get(depth).and_then(|name| node.member(name)) {
        node = &item.value;
        depth += 1;
    }
    let made = path.len() - depth;
    for name in path[depth..].iter().rev() {
        value = match key {
            None => Value::Array(vec![value]),
            Some(key) => serde_json::json!({ key: value }),
        };
        key = Some(name.clone());
    }
    let fits = match &node.kind {
        NodeKind::Array(_) => is_array && made == 0,
        NodeKind::Object(_) => !is_array || made > 0,
        NodeKind::Scalar => false,
    };
    if !fits {
        let expected = if is_array && made == 0 { "an array" } else { "an object" };
        let path = if depth == 0 { "the file".to_owned() } else { path[..depth].join(".") };
        return Err(RefuseError::Shape { path, expected });
    }
    Ok((insert(text, &root, node, key.as_deref(), &value), made))
}

/// Inserts something after the last item of an object or an array, in the style of the file.
fn insert(text: &str, root: &Node, node: &Node, key: Option<&str>, value: &Value) -> Vec<Edit> {
    let newline = line_break(text);
    let unit = unit(text, root);
    let is_one_line = !text.trim().contains('\n') && text.trim() != "{}";
    let written = |indent: Option<&str>| {
        let value = match indent {
            None => value.to_string(),
            Some(indent) => pretty(value, unit).replace('\n', &format!("{newline}{indent}")),
        };
        match key {
            None => value,
            Some(key) if is_one_line => format!("{}:{value}", Value::from(key)),
            Some(key) => format!("{}: {value}", Value::from(key)),
        }
    };
    let items = node.items().unwrap_or_default();
    let open = node.span.start + 1;
    let Some(last) = items.last() else {
        if is_one_line {
            return vec![Edit::insert(open, written(None))];
        }
        let around = line_indentation(text, node.span.start);
        let indent = format!("{around}{unit}");
        let entry = format!("{newline}{indent}{}", written(Some(&indent)));
        let inner = text[open..node.span.end - 1].trim_start_matches([' ', '\t']);
        let is_open = inner.starts_with(['\n', '\r']);
        let end = if is_open { String::new() } else { format!("{newline}{around}") };
        return vec![Edit::insert(open, entry + &end)];
    };
    let end = last.value.span.end;
    let Some(indent) = indentation(text, last.start) else {
        let space = if is_one_line && !text.contains(", ") { "" } else { " " };
        return match last.comma {
            Some(comma) => vec![Edit::insert(comma + 1, format!("{space}{},", written(None)))],
            None => vec![Edit::insert(end, format!(",{space}{}", written(None)))],
        };
    };
    let entry = format!("{newline}{indent}{}", written(Some(indent)));
    match last.comma {
        Some(comma) => vec![Edit::insert(end_of_line(text, comma + 1), entry + ",")],
        None if end_of_line(text, end) == end => vec![Edit::insert(end, format!(",{entry}"))],
        // A comment after the last item stays with that item.
        None => vec![Edit::insert(end, ","), Edit::insert(end_of_line(text, end), entry)],
    }
}

/// Returns the file's indentation for one level.
fn unit<'a>(text: &'a str, root: &Node) -> &'a str {
    let first = root.items().and_then(<[Item]>::first);
    let found = first.and_then(|first| indentation(text, first.start));
    found.filter(|blank| !blank.is_empty()).unwrap_or("  ")
}

/// Returns the whitespace with which the line of a position begins.
fn line_indentation(text: &str, position: usize) -> &str {
    let start = text[..position].rfind('\n').map_or(0, |at| at + 1);
    let line = &text[start..position];
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}

fn pretty(value: &Value, unit: &str) -> String {
    let mut bytes = Vec::new();
    let formatter = serde_json::ser::PrettyFormatter::with_indent(unit.as_bytes());
    let mut serializer = serde_json::Serializer::with_formatter(&mut bytes, formatter);
    // A value with names for keys can always be written to memory.
    value.serialize(&mut serializer).ok();
    String::from_utf8(bytes).unwrap_or_default()
}

/// Removes an entry by its content.
pub(super) fn take_out(text: &str, want: &ConfigEdit, made: usize) -> Option<String> {
    let root = scan(text).ok()?;
    let path = match want {
        ConfigEdit::Member { path, .. } | ConfigEdit::Element { path, .. } => path,
        ConfigEdit::Switch { .. } => return None,
    };
    let mut nodes = vec![&root];
    for name in path {
        nodes.push(&nodes.last()?.member(name)?.value);
    }
    let around = nodes.pop()?;
    let items = around.items()?;
    let mut index = match want {
        ConfigEdit::Member { key, .. } => {
            items.iter().rposition(|item| item.key.as_ref() == Some(key))?
        }
        ConfigEdit::Element { value, .. } => items.iter().rposition(|item| {
            let text = &text[item.value.span.clone()];
            json5::from_str::<Value>(text).is_ok_and(|element| element == *value)
        })?,
        ConfigEdit::Switch { .. } => return None,
    };
    let mut around = around;
    let mut names = path.iter().rev();
    for _ in 0..made {
        if around.items()?.len() > 1 {
            break;
        }
        let (Some(parent), Some(name)) = (nodes.pop(), names.next()) else { break };
        index = parent.items()?.iter().rposition(|item| item.key.as_ref() == Some(name))?;
        around = parent;
    }
    Some(edit::apply(text, &removal(text, around, index)))
}

/// Removes one item from an object or an array, with its line if it has one of its own.
fn removal(text: &str, around: &Node, index: usize) -> Vec<Edit> {
    let items = around.items().unwrap_or_default();
    let Some(item) = items.get(index) else { return Vec::new() };
    let before = index.checked_sub(1).and_then(|before| items.get(before));
    let start = start_of_gap(text, item.start);
    let end = item.comma.map_or(item.value.span.end, |comma| comma + 1);
    let cut = |range: std::ops::Range<usize>| Edit {
        at: range.start,
        old: text[range].to_owned(),
        new: String::new(),
    };
    let comma = before
        .and_then(|before| before.comma)
        .filter(|comma| item.comma.is_none() && *comma < start);
    comma.map(|at| cut(at..at + 1)).into_iter().chain([cut(start..end)]).collect()
}

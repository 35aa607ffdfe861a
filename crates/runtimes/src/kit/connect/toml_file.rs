//! TOML files, changed as text.

use serde_json::Value;
use toml_edit::{Document, Item, Table};

use super::document::{ConfigEdit, RefuseError, indentation, line_and_column, line_break};
use super::{edit::Edit, toml_cut::comma_after};

pub(crate) fn parse(text: &str) -> Result<Value, RefuseError> {
    Ok(of_table(document(text)?.as_table()))
}

fn document(text: &str) -> Result<Document<&str>, RefuseError> {
    Document::parse(text).map_err(|error| {
        let position = error.span().map_or(0, |span| span.start);
        let (line, column) = line_and_column(text, position);
        // The message says what is wrong and quotes nothing of the file.
        let message = error.message().lines().next().unwrap_or_default().to_owned();
        let expected =
            if message.is_empty() { "TOML".to_owned() } else { format!("TOML ({message})") };
        RefuseError::Unparsable { line, column, expected }
    })
}

/// Plans how an entry is inserted; also returns how much has to be created around it.
pub(super) fn plan(text: &str, want: &ConfigEdit) -> Result<(Vec<Edit>, usize), RefuseError> {
    let document = document(text)?;
    let root = document.as_item();
    match want {
        ConfigEdit::Member { path, key, value } => {
            let made = missing(root, path);
            check_tables(root, path)?;
            let whole: Vec<&String> = path.iter().chain([key]).collect();
            let block = format!("[{}]\n{}", dotted(&whole), lines(value));
            Ok((vec![append(text, &block)], made))
        }
        ConfigEdit::Element { path, value } => {
            let made = missing(root, path);
            match find(root, path) {
                Some(Item::Value(toml_edit::Value::Array(array))) => {
                    let span = array.span().ok_or_else(|| form(path))?;
                    let last = array.iter().last().and_then(toml_edit::Value::span);
                    Ok((into_array(text, span.start, last, &inline(value)), 0))
                }
                None | Some(Item::ArrayOfTables(_)) if value.is_object() => {
                    check_tables(root, &path[..path.len().saturating_sub(1)])?;
                    let whole: Vec<&String> = path.iter().collect();
                    let block = format!("[[{}]]\n{}", dotted(&whole), lines(value));
                    Ok((vec![append(text, &block)], made))
                }
                None => {
                    let (key, around) = path.split_last().ok_or_else(|| form(path))?;
                    let line = format!("{} = [{}]", name(key), inline(value));
                    let edit = under_header(text, root, around, &line)?;
                    Ok((vec![edit.ok_or_else(|| form(path))?], made))
                }
                Some(_) => Err(RefuseError::Shape { path: path.join("."), expected: "an array" }),
            }
        }
        ConfigEdit::Switch { path, key, .. } => {
            let whole: Vec<String> = path.iter().chain([key]).cloned().collect();
            if let Some(there) = find(root, &whole) {
                let span = there.span().filter(|_| there.as_bool() == Some(false));
                let span = span.ok_or_else(|| RefuseError::Shape {
                    path: whole.join("."),
                    expected: "true or false",
                })?;
                let old = text.get(span.clone()).unwrap_or_default().to_owned();
                return Ok((vec![Edit { at: span.start, old, new: "true".to_owned() }], 0));
            }
            let line = format!("{} = true", name(key));
            if let Some(edit) = under_header(text, root, path, &line)? {
                return Ok((vec![edit], 0));
            }
            let names: Vec<&String> = path.iter().collect();
            let block = format!("[{}]\n{line}\n", dotted(&names));
            Ok((vec![append(text, &block)], missing(root, path)))
        }
    }
}

fn form(path: &[String]) -> RefuseError {
    RefuseError::Form(path.join("."))
}

pub(super) fn find<'a>(root: &'a Item, path: &[String]) -> Option<&'a Item> {
    path.iter().try_fold(root, |item, key| item.get(key))
}

/// Counts how many names at the end of a path do not exist.
fn missing(root: &Item, path: &[String]) -> usize {
    (0..=path.len())
        .find(|missing| find(root, &path[..path.len() - missing]).is_some())
        .unwrap_or(path.len())
}

/// Refuses a path through something to which no table can be added.
fn check_tables(root: &Item, path: &[String]) -> Result<(), RefuseError> {
    for length in 1..=path.len() {
        match find(root, &path[..length]) {
            None | Some(Item::Table(_)) => {}
            Some(Item::Value(toml_edit::Value::InlineTable(_))) => {
                return Err(form(&path[..length]));
            }
            Some(_) => {
                let path = path[..length].join(".");
                return Err(RefuseError::Shape { path, expected: "a table" });
            }
        }
    }
    Ok(())
}

/// Puts a line under the header of a table; `None` when the table has no header.
fn under_header(
    text: &str,
    root: &Item,
    path: &[String],
    line: &str,
) -> Result<Option<Edit>, RefuseError> {
    check_tables(root, path)?;
    let Some(table) = find(root, path).and_then(Item::as_table) else { return Ok(None) };
    if table.is_dotted() {
        return Err(form(path));
    }
    if table.is_implicit() {
        return Ok(None);
    }
    let Some(span) = table.span() else { return Ok(None) };
    let newline = line_break(text);
    let rest = &text[span.start..];
    Ok(Some(match rest.find('\n') {
        Some(end) => Edit::insert(span.start + end + 1, format!("{line}{newline}")),
        None => Edit::insert(text.len(), format!("{newline}{line}")),
    }))
}

/// Puts a block at the end of the file, behind an empty line.
fn append(text: &str, block: &str) -> Edit {
    let newline = line_break(text);
    let gap = match text {
        it if it.trim_start_matches('\u{feff}').is_empty() => "",
        it if it.ends_with('\n') => newline,
        _ => return Edit::insert(text.len(), format!("\n\n{block}").replace('\n', newline)),
    };
    Edit::insert(text.len(), format!("{gap}{}", block.replace('\n', newline)))
}

/// Inserts something after the last element of an array that is written as a value.
fn into_array(
    text: &str,
    open: usize,
    last: Option<std::ops::Range<usize>>,
    entry: &str,
) -> Vec<Edit> {
    let Some(last) = last else { return vec![Edit::insert(open + 1, entry)] };
    let Some(indent) = indentation(text, last.start) else {
        return vec![Edit::insert(last.end, format!(", {entry}"))];
    };
    let line = format!("{}{indent}{entry}", line_break(text));
    let comma = comma_after(text, last.end);
    // A comment behind the last element stays with it.
    match (comma, end_of_line(text, comma.map_or(last.end, |comma| comma + 1))) {
        (Some(_), Some(end)) => vec![Edit::insert(end, line + ",")],
        (None, Some(end)) if end > last.end => {
            vec![Edit::insert(last.end, ","), Edit::insert(end, line)]
        }
        _ => vec![Edit::insert(last.end, format!(",{line}"))],
    }
}

/// Returns where a line ends, if nothing but a comment follows a position.
fn end_of_line(text: &str, from: usize) -> Option<usize> {
    let rest = text.get(from..)?;
    let line = rest.split_once('\n')?.0.trim_end_matches('\r');
    let is_comment = line.trim_start().starts_with('#');
    if line.trim().is_empty() { Some(from) } else { is_comment.then_some(from + line.len()) }
}

/// Writes the members of a table, each in its line.
fn lines(table: &Value) -> String {
    let members = table.as_object().into_iter().flatten();
    members.map(|(key, value)| format!("{} = {}\n", name(key), inline(value))).collect()
}

/// Writes a value in one line.
fn inline(value: &Value) -> String {
    match value {
        Value::Array(elements) => {
            let elements: Vec<String> = elements.iter().map(inline).collect();
            format!("[{}]", elements.join(", "))
        }
        Value::Object(members) => {
            let member =
                |(key, value): (&String, &Value)| format!("{} = {}", name(key), inline(value));
            let members: Vec<String> = members.iter().map(member).collect();
            format!("{{ {} }}", members.join(", "))
        }
        Value::String(text) => toml_edit::Value::from(text.as_str()).to_string(),
        other => other.to_string(),
    }
}

fn name(key: &str) -> String {
    toml_edit::Key::new(key).to_string()
}

fn dotted(names: &[&String]) -> String {
    let names: Vec<String> = names.iter().map(|part| name(part)).collect();
    names.join(".")
}

pub(super) fn of_table(table: &Table) -> Value {
    Value::Object(table.iter().map(|(key, item)| (key.to_owned(), of_item(item))).collect())
}

pub(super) fn of_item(item: &Item) -> Value {
    match item {
        Item::None => Value::Null,
        Item::Value(value) => of_value(value),
        Item::Table(table) => of_table(table),
        Item::ArrayOfTables(tables) => Value::Array(tables.iter().map(of_table).collect()),
    }
}

pub(super) fn of_value(value: &toml_edit::Value) -> Value {
    match value {
        toml_edit::Value::String(it) => it.value().as_str().into(),
        toml_edit::Value::Integer(it) => (*it.value()).into(),
        toml_edit::Value::Boolean(it) => (*it.value()).into(),
        // Compared by their text: NaN is not a number in JSON.
        toml_edit::Value::Float(it) => format!("float {}", it.value()).into(),
        toml_edit::Value::Datetime(it) => format!("time {}", it.value()).into(),
        toml_edit::Value::Array(array) => Value::Array(array.iter().map(of_value).collect()),
        toml_edit::Value::InlineTable(table) => {
            let members = table.iter().map(|(key, value)| (key.to_owned(), of_value(value)));
            Value::Object(members.collect())
        }
    }
}

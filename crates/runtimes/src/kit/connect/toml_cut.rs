//! Removes an entry from a TOML file as text: whole lines, or one part of a list.
//!
//! Nothing is reformatted, so comments, order and line ends of the rest stay. A comment above a
//! header stays as well, because it is older than the entry.

use std::ops::Range;

use toml_edit::{Document, InlineTable, Item, Key, Table};

use super::document::{ConfigEdit, is_void, start_of_gap};
use super::toml_file::{find, of_item, of_table, of_value};
use super::{edit, edit::Edit};

/// Removes an entry by its content; `was_off` says that a switch existed and was off.
pub(super) fn take_out(
    text: &str,
    want: &ConfigEdit,
    made: usize,
    was_off: bool,
) -> Option<String> {
    let (mut text, path) = match want {
        ConfigEdit::Member { path, key, .. } => (without_member(text, path, key)?, path),
        ConfigEdit::Element { path, value } => {
            let document = Document::parse(text).ok()?;
            let mut cuts = Vec::new();
            match find(document.as_item(), path)? {
                Item::ArrayOfTables(tables) => {
                    let tables: Vec<&Table> = tables.iter().collect();
                    let index = tables.iter().rposition(|table| of_table(table) == *value)?;
                    of_block(text, tables[index], &mut cuts)?;
                }
                Item::Value(toml_edit::Value::Array(array)) => {
                    let elements: Vec<&toml_edit::Value> = array.iter().collect();
                    let index = elements.iter().rposition(|element| of_value(element) == *value)?;
                    let parts: Option<Vec<_>> =
                        elements.iter().map(|element| element.span()).collect();
                    cuts = from_list(text, &parts?, index);
                }
                Item::None | Item::Table(_) | Item::Value(_) => return None,
            }
            (without(text, cuts), path)
        }
        ConfigEdit::Switch { path, key, .. } if was_off => {
            let document = Document::parse(text).ok()?;
            let at = find(document.as_item(), path)?.get(key)?.span()?;
            let edit = Edit { at: at.start, old: text[at].to_owned(), new: "false".to_owned() };
            return Some(edit::apply(text, &[edit]));
        }
        ConfigEdit::Switch { path, key, .. } => (without_member(text, path, key)?, path),
    };
    let mut path = path.clone();
    for _ in 0..made {
        let key = path.pop()?;
        let document = Document::parse(text.as_str()).ok()?;
        let there = find(document.as_item(), &path).and_then(|parent| parent.get(&key));
        if there.is_some_and(|item| is_void(&of_item(item))) {
            text = without_member(&text, &path, &key)?;
        }
    }
    Some(text)
}

fn without_member(text: &str, path: &[String], key: &str) -> Option<String> {
    let document = Document::parse(text).ok()?;
    let mut cuts = Vec::new();
    match find(document.as_item(), path)? {
        Item::Table(table) => of_member(text, table.key(key)?, table.get(key)?, &mut cuts)?,
        Item::Value(toml_edit::Value::InlineTable(table)) => {
            cuts = from_inline_table(text, table, key)?;
        }
        Item::None | Item::Value(_) | Item::ArrayOfTables(_) => return None,
    }
    Some(without(text, cuts))
}

/// Collects the lines of a member of a table.
fn of_member(text: &str, key: &Key, item: &Item, cuts: &mut Vec<Range<usize>>) -> Option<()> {
    match item {
        Item::None => None,
        Item::Value(value) => {
            cuts.push(lines(text, key.span()?.start, value.span()?.end));
            Some(())
        }
        Item::Table(table) => of_block(text, table, cuts),
        Item::ArrayOfTables(tables) => {
            tables.iter().try_for_each(|table| of_block(text, table, cuts))
        }
    }
}

/// Collects the lines of a table: from its header to its last value, and those of the tables in
/// it.
fn of_block(text: &str, table: &Table, cuts: &mut Vec<Range<usize>>) -> Option<()> {
    let is_headed = !table.is_implicit() && !table.is_dotted();
    let mut own = Vec::new();
    if is_headed {
        let header = table.span()?.start;
        own.push(lines(text, header, header));
    }
    for (name, item) in table {
        let is_in_body = match item {
            Item::Value(_) => true,
            Item::Table(table) => table.is_dotted(),
            Item::None | Item::ArrayOfTables(_) => false,
        };
        let to = if is_in_body { &mut own } else { &mut *cuts };
        of_member(text, table.key(name)?, item, to)?;
    }
    if is_headed {
        let start = own.iter().map(|part| part.start).min()?;
        let end = own.iter().map(|part| part.end).max()?;
        cuts.push(before_blank_line(text, start)..end);
    } else {
        cuts.append(&mut own);
    }
    Some(())
}

fn from_inline_table(text: &str, table: &InlineTable, key: &str) -> Option<Vec<Range<usize>>> {
    let mut parts = Vec::new();
    let mut index = None;
    for (name, value) in table {
        if name == key {
            index = Some(parts.len());
        }
        parts.push(table.key(name)?.span()?.start..value.span()?.end);
    }
    Some(from_list(text, &parts, index?))
}

/// Returns what is removed with one element of a list: its line if it has one of its own, and a
/// comma.
fn from_list(text: &str, parts: &[Range<usize>], index: usize) -> Vec<Range<usize>> {
    let Some(part) = parts.get(index) else { return Vec::new() };
    let start = start_of_gap(text, part.start);
    let mut cuts = Vec::new();
    cuts.push(start..part.end);
    let before = index.checked_sub(1).and_then(|before| parts.get(before));
    if let Some(comma) = comma_after(text, part.end) {
        let rest = &text[comma + 1..];
        let gap = rest.len() - rest.trim_start_matches([' ', '\t']).len();
        // The first element of a line also removes the space after it.
        cuts.push(comma..comma + 1 + if start == part.start { gap } else { 0 });
    } else if let Some(comma) = before.and_then(|before| comma_after(text, before.end)) {
        cuts.push(comma..comma + 1);
    }
    cuts
}

/// Returns the position of the comma behind a part of a list, if it has one.
pub(super) fn comma_after(text: &str, from: usize) -> Option<usize> {
    let mut at = from;
    loop {
        let rest = text.get(at..)?;
        match rest.chars().next()? {
            ',' => return Some(at),
            '#' => at += rest.find('\n')?,
            c if c.is_ascii_whitespace() => at += 1,
            _ => return None,
        }
    }
}

/// Returns the lines from one position to another.
fn lines(text: &str, from: usize, to: usize) -> Range<usize> {
    let mark = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    let start = text[..from].rfind('\n').map_or(mark, |at| at + 1);
    start..text[to..].find('\n').map_or(text.len(), |at| to + at + 1)
}

/// Returns where the empty line before a line begins, or else the line itself.
fn before_blank_line(text: &str, start: usize) -> usize {
    let Some(before) = text[..start].strip_suffix('\n') else { return start };
    let line = before.rfind('\n').map_or(0, |at| at + 1);
    if before[line..].trim().is_empty() { line } else { start }
}

/// Returns a text without parts of it.
fn without(text: &str, mut cuts: Vec<Range<usize>>) -> String {
    cuts.sort_by_key(|cut| cut.start);
    let mut result = String::with_capacity(text.len());
    let mut done = 0;
    for cut in cuts {
        result.push_str(text.get(done..cut.start).unwrap_or_default());
        done = done.max(cut.end);
    }
    result.push_str(text.get(done..).unwrap_or_default());
    result
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::kit::connect::desired::names;

    fn member(path: &[&str], value: Value) -> ConfigEdit {
        ConfigEdit::Member { path: names(path), key: "anemone".to_owned(), value }
    }

    fn check(text: &str, want: &ConfigEdit, made: usize, expected: &str) {
        for newline in ["\n", "\r\n"] {
            let (text, expected) = (text.replace('\n', newline), expected.replace('\n', newline));
            assert_eq!(take_out(&text, want, made, false).as_deref(), Some(&*expected), "{text}");
        }
    }

    #[test]
    fn only_the_lines_of_a_table_go_however_it_is_written() {
        let want = member(&["s"], Value::Null);
        check("# mine\n\n[s.anemone]\na = 1\n", &want, 1, "# mine\n");
        check(
            "x=1\n# above\n[s.anemone] # it\na=1\nb.c = [\n 1,\n]\n\n# below\n[t]\n",
            &want,
            1,
            "x=1\n# above\n\n# below\n[t]\n",
        );
        check(
            "[s.anemone]\na = 1\n# between\n[s.anemone.env]\nK = 'v'\n[[s.anemone.l]]\n[t]\n",
            &want,
            0,
            "# between\n[t]\n",
        );
        check("[s] # all\nanemone.a = 1\nanemone.b = 2\n# c\n", &want, 0, "[s] # all\n# c\n");
        check("[s]\nanemone = { a = 1 } # x\nb = 1\n", &want, 0, "[s]\nb = 1\n");
        check("s = { anemone = { a = 1 }, b = 2 }\n", &want, 0, "s = { b = 2 }\n");
        check("s = { b = 2, anemone = 1 }\n", &want, 0, "s = { b = 2 }\n");
        check("\u{feff}[s.anemone]\na = 1\n", &want, 1, "\u{feff}");
        check("[s.anemone]\na = 1", &want, 1, "");
    }

    #[test]
    fn only_one_part_of_a_list_goes() {
        let want = ConfigEdit::Element { path: names(&["a", "l"]), value: "anemone".into() };
        check("[a]\nl = [\"x\", \"anemone\"] # c\n", &want, 0, "[a]\nl = [\"x\"] # c\n");
        check("[a]\nl = [\"anemone\", \"x\"]\n", &want, 0, "[a]\nl = [\"x\"]\n");
        check("[a]\nl = [\"anemone\"]\n", &want, 0, "[a]\nl = []\n");
        check("[a]\nl = [\"anemone\"]\nb = 1\n", &want, 1, "[a]\nb = 1\n");
        check(
            "[a]\nl = [\n  \"x\", # keep\n  \"anemone\" # and this\n]\n",
            &want,
            0,
            "[a]\nl = [\n  \"x\" # keep # and this\n]\n",
        );
        let want = ConfigEdit::Element { path: names(&["m", "s"]), value: json!({ "n": 1 }) };
        check(
            "# one\n[[m.s]]\nn = 1 # ours\n\n# two\n[[m.s]]\nn = 2\n",
            &want,
            0,
            "# one\n\n# two\n[[m.s]]\nn = 2\n",
        );
    }

    #[test]
    fn a_switch_is_turned_off_or_goes_with_its_line() {
        let want =
            ConfigEdit::Switch { path: names(&["m"]), key: "on".to_owned(), of: "s".to_owned() };
        let text = "[m] # c\non = true # d\n[b]\n";
        assert_eq!(take_out(text, &want, 0, true).unwrap(), "[m] # c\non = false # d\n[b]\n");
        assert_eq!(take_out(text, &want, 0, false).unwrap(), "[m] # c\n[b]\n");
        assert_eq!(take_out(text, &want, 1, false).unwrap(), "[b]\n");
    }
}

//! Secrets in a column of a table: Markdown, CSV with any separator, aligned columns, HTML.
//!
//! The name is in the first row; each value is in a row below it, without a name of its own.

use std::ops::Range;

use memchr::{memchr, memmem};

use crate::anchors::SpokenWord;
use crate::prose;
use crate::rules::Candidate;
use crate::shape::is_placeholder;

/// Longest first row, before and behind the name.
const HEADER: usize = 200;
/// Longest row.
const ROW: usize = 2048;
/// How far below its first row a table is read.
const TABLE: usize = 16 * 1024;
/// Longest name of a column.
const CELL: usize = 40;

/// What separates two columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Separator {
    /// One byte: a comma, a semicolon, a tab, or the border of Markdown.
    Byte(u8),
    /// At least two spaces.
    Spaces,
}

/// Looks for values below `name`, if it is the name of a column.
pub(crate) fn check(
    window: &[u8],
    name: &Range<usize>,
    word: SpokenWord,
    found: &mut impl FnMut(Candidate),
) {
    let before = &window[name.start.saturating_sub(HEADER)..name.start];
    let behind = &window[name.end..window.len().min(name.end + HEADER)];
    // Most names belong to a sentence or an assignment; they are ruled out here.
    if !ends_a_cell(behind) {
        return;
    }
    if memmem::rfind(before, b"<t").is_some() && behind.starts_with(b"</t") {
        return html(window, name, word, found);
    }
    let line_start = memchr::memrchr(b'\n', before).map(|at| name.start - before.len() + at + 1);
    let line_start = match line_start {
        Some(start) => start,
        None if before.len() == name.start => 0,
        None => return,
    };
    let Some(line_end) = memchr(b'\n', behind).map(|at| name.end + at) else { return };
    let header = trimmed(&window[line_start..line_end]);
    let Some((separator, columns)) = columns(header) else { return };
    let at = name.start - line_start;
    let Some(column) = columns.iter().position(|cell| cell.contains(&at)) else { return };
    if !is_secret_cell(&header[columns[column].clone()], word) {
        return;
    }
    let is_markdown = separator == Separator::Byte(b'|');
    let above = &window[..line_start.saturating_sub(1)];
    let above = &above[memchr::memrchr(b'\n', above).map_or(0, |at| at + 1)..];
    // A row of values is no first row, whatever it holds.
    if !is_markdown && cells(trimmed(above), separator).len() == columns.len() {
        return;
    }
    let has_logins = columns.iter().any(|cell| is_login_cell(&header[cell.clone()]));
    let mut at = line_end + 1;
    let end = window.len().min(line_end + TABLE);
    let mut is_first = true;
    while at < end {
        let rest = &window[at..end.min(at + ROW)];
        let length = match memchr(b'\n', rest) {
            Some(length) => length,
            None if at + rest.len() == window.len() => rest.len(),
            None => return,
        };
        let row = trimmed(&rest[..length]);
        let is_rule = is_markdown && is_rule(row);
        // Markdown has its rule below the first row, and another one begins another table.
        if is_markdown && is_rule != is_first {
            return;
        }
        let row_cells = cells(row, separator);
        if row_cells.len() != columns.len() {
            return;
        }
        if !is_rule && let Some(range) = value(row, row_cells[column].clone(), word, has_logins) {
            found(candidate(word, at + range.start..at + range.end));
        }
        is_first = false;
        at += length + 1;
    }
}

/// Whether what follows a name can end the cell of a table.
fn ends_a_cell(behind: &[u8]) -> bool {
    let rest = behind.strip_prefix(b"s").unwrap_or(behind);
    let rest = rest.strip_prefix(b"en").unwrap_or(rest);
    let quotes = rest.iter().take(4).take_while(|b| matches!(b, b'"' | b'*' | b'`')).count();
    let rest = &rest[quotes..];
    let blanks = rest.iter().take(24).take_while(|byte| **byte == b' ').count();
    match rest.get(blanks) {
        Some(b'|' | b',' | b';' | b'\t' | b'\n' | b'\r') => true,
        Some(b'<') => rest.starts_with(b"</t"),
        Some(_) => blanks >= 2,
        None => false,
    }
}

fn trimmed(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\r").unwrap_or(line)
}

/// Returns the columns of a first row, if it is one: short names and nothing else.
fn columns(header: &[u8]) -> Option<(Separator, Vec<Range<usize>>)> {
    let sign = [b'|', b'\t', b';', b','].into_iter().find(|sign| memchr(*sign, header).is_some());
    let separator = match sign {
        Some(sign) => Separator::Byte(sign),
        None if memmem::find(header, b"  ").is_some() => Separator::Spaces,
        None => return None,
    };
    let columns = cells(header, separator);
    let is_name = |cell: &Range<usize>| {
        let text = &header[cell.clone()];
        let signs = b" _-./\"'*`#&";
        text.len() <= CELL
            && !text.trim_ascii().is_empty()
            && text.iter().all(|b| b.is_ascii_alphanumeric() || !b.is_ascii() || signs.contains(b))
            && text.split(|byte| *byte == b' ').filter(|word| !word.is_empty()).count() <= 3
    };
    let is_markdown = separator == Separator::Byte(b'|');
    let enough = columns.len() >= 2 || is_markdown && !columns.is_empty();
    (enough && (is_markdown || columns.iter().all(is_name))).then_some((separator, columns))
}

/// Cuts a row into its cells. A separator inside quotes is a part of its cell.
fn cells(row: &[u8], separator: Separator) -> Vec<Range<usize>> {
    let mut cells = Vec::new();
    let (mut start, mut at, mut quoted) = (0, 0, false);
    let border = separator == Separator::Byte(b'|');
    while at < row.len() {
        let opens = !border && row[at] == b'"';
        quoted ^= opens;
        let width = match separator {
            Separator::Byte(byte) => usize::from(row[at] == byte && !quoted),
            Separator::Spaces => {
                let spaces = row[at..].iter().take_while(|byte| **byte == b' ').count();
                if spaces >= 2 { spaces } else { 0 }
            }
        };
        if width > 0 {
            cells.push(start..at);
            start = at + width;
        }
        at += width.max(1);
    }
    cells.push(start..row.len());
    // The borders around a row of Markdown part nothing.
    if border {
        let empty = |cell: &Range<usize>| row[cell.clone()].trim_ascii().is_empty();
        if cells.first().is_some_and(empty) {
            cells.remove(0);
        }
        if cells.last().is_some_and(empty) {
            cells.pop();
        }
    }
    cells
}

/// Whether it is the line between the first row and the others: `|---|:--:|`.
fn is_rule(row: &[u8]) -> bool {
    memchr(b'-', row).is_some() && row.iter().all(|byte| b"|-: \t".contains(byte))
}

/// Whether a cell names a secret: `password`, `Wifi password`, `API key`, and not `password
/// length`.
fn is_secret_cell(cell: &[u8], word: SpokenWord) -> bool {
    let Ok(text) = str::from_utf8(cell) else { return false };
    let folded = text.to_lowercase();
    let marks = |c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '*' | '`' | '_' | '-');
    let words: Vec<&str> = folded.split(marks).filter(|word| !word.is_empty()).collect();
    let last = words.last().copied().unwrap_or_default();
    let names = match word {
        SpokenWord::Token => last == "token" || last == "tokens",
        SpokenWord::Secret => last.starts_with("secret"),
        SpokenWord::Key => last == "key" && words.len() >= 2,
        SpokenWord::Pin => last.starts_with("pin") || last == "code",
        _ => true,
    };
    names && words.len() <= 4 && !prose::is_about_passwords(last)
}

/// Whether a cell names whose the secrets are, so that the table is a list of logins.
fn is_login_cell(cell: &[u8]) -> bool {
    const LOGINS: &str = "user login account host server service site url email e-mail name system device owner \
         ssid network benutzer konto dienst gerät rechner identifiant utilisateur compte usuario \
         cuenta servicio utente sito usuário conta serviço gebruiker website app";
    let text = String::from_utf8_lossy(cell).to_lowercase();
    LOGINS.split(' ').any(|word| text.contains(word))
}

/// Returns the secret in a cell of the column.
fn value(
    row: &[u8],
    cell: Range<usize>,
    word: SpokenWord,
    has_logins: bool,
) -> Option<Range<usize>> {
    let quotes =
        |byte: &&u8| byte.is_ascii_whitespace() || matches!(byte, b'"' | b'\'' | b'`' | b'*');
    let bytes = &row[cell.clone()];
    let front = bytes.iter().take_while(quotes).count();
    let back = bytes[front..].iter().rev().take_while(quotes).count();
    let range = cell.start + front..cell.end - back;
    let text = str::from_utf8(&row[range.clone()]).ok()?;
    is_value(text, word, has_logins).then_some(range)
}

fn is_value(text: &str, word: SpokenWord, has_logins: bool) -> bool {
    let count = text.chars().count();
    let digits = text.bytes().all(|byte| byte.is_ascii_digit());
    if word == SpokenWord::Pin {
        return digits && (4..=8).contains(&count);
    }
    if !(4..=128).contains(&count) || is_placeholder(text.as_bytes()) || prose::refers(text) {
        return false;
    }
    let is_password = !matches!(word, SpokenWord::Token | SpokenWord::Secret | SpokenWord::Key);
    if text.contains(' ') {
        return is_password && has_logins && prose::is_quoted_phrase(text);
    }
    if digits {
        return is_password && has_logins;
    }
    // A plain word is one only where the table is a list of logins.
    let plain = is_password && has_logins && prose::is_plain_word(text);
    let drawn = count >= 8 && text.bytes().any(|byte| byte.is_ascii_digit());
    plain || prose::is_made_up(text) && (is_password || drawn)
}

fn candidate(word: SpokenWord, range: Range<usize>) -> Candidate {
    Candidate::named(prose::kind_of(word), range)
}

/// `<th>password</th>`, and the cells below it.
fn html(window: &[u8], name: &Range<usize>, word: SpokenWord, found: &mut impl FnMut(Candidate)) {
    let before = &window[name.start.saturating_sub(HEADER)..name.start];
    let Some(row) = memmem::rfind(before, b"<tr") else { return };
    let column = memmem::find_iter(&before[row..], b"<th").count();
    let end = window.len().min(name.end + TABLE);
    let table = &window[name.end..end];
    let has_logins =
        is_login_cell(&before[row..]) || is_login_cell(&table[..table.len().min(HEADER)]);
    let rows = memmem::find_iter(table, b"<tr").map(|at| at + 3);
    for row in rows.take(256) {
        let text = &table[row..];
        let text = &text[..memmem::find(text, b"</tr").unwrap_or(text.len().min(ROW))];
        // Another first row begins another table.
        if column == 0 || memmem::find(text, b"<th").is_some() {
            return;
        }
        let Some(cell) = memmem::find_iter(text, b"<td").nth(column - 1) else { continue };
        let Some(open) = memchr(b'>', &text[cell..]).map(|at| cell + at + 1) else { continue };
        let Some(close) = memchr(b'<', &text[open..]).map(|at| open + at) else { continue };
        if let Some(range) = value(text, open..close, word, has_logins) {
            let start = name.end + row;
            found(candidate(word, start + range.start..start + range.end));
        }
    }
}

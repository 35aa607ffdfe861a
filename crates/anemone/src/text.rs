//! Text from an archive or a memory, fit for a list.

use anemone_memory::with_marks;

/// Returns a text on one line, with a mark in place of what could steer a terminal or cannot be
/// seen.
#[must_use]
pub fn safe(text: &str) -> String {
    const MARK: char = '\u{fffd}';
    let line =
        |c: char| if c.is_control() || matches!(c, '\u{2028}' | '\u{2029}') { MARK } else { c };
    with_marks(text, MARK).chars().map(line).collect()
}

/// Returns the first line of a text, shortened.
#[must_use]
pub fn title(text: &str) -> String {
    const MAX_CHARS: usize = 72;
    let line = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    let line = safe(line.trim_start_matches('#').trim_start());
    if line.chars().count() <= MAX_CHARS {
        return line;
    }
    let short: String = line.chars().take(MAX_CHARS - 1).collect();
    format!("{short}…")
}

/// Returns a name as the stem of a file name.
#[must_use]
pub fn file_stem(alias: &str) -> String {
    let plain = |c: char| if c.is_alphanumeric() || "-_.".contains(c) { c } else { '-' };
    let name: String = alias.chars().take(64).map(plain).collect();
    match name.trim_start_matches(['.', '-']) {
        "" => "agent".to_owned(),
        name => name.to_owned(),
    }
}

/// Writes a count with its noun: `1 record`, `2 records`.
#[must_use]
pub fn count(number: u64, noun: &str) -> String {
    let stem = noun.strip_suffix('y').filter(|it| !it.ends_with(['a', 'e', 'o', 'u']));
    match (number, stem) {
        (1, _) => format!("1 {noun}"),
        (_, Some(stem)) => format!("{number} {stem}ies"),
        (_, None) => format!("{number} {noun}s"),
    }
}

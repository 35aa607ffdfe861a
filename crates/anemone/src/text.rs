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

/// Whether a text has every word of a query, in letters of either case.
#[must_use]
pub fn has_all_words(text: &str, query: &str) -> bool {
    let (text, query) = (text.to_lowercase(), query.to_lowercase());
    let mut words = query.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.all(|word| text.contains(word))
}

/// Writes a count with its noun: `1 record`, `2 records`.
#[must_use]
pub fn count(number: u64, noun: &str) -> String {
    let stem = noun.strip_suffix('y').filter(|rest| !rest.ends_with(['a', 'e', 'o', 'u']));
    match (number, stem) {
        (1, _) => format!("1 {noun}"),
        (_, Some(stem)) => format!("{number} {stem}ies"),
        (_, None) => format!("{number} {noun}s"),
    }
}

/// Writes a number of bytes for people: `512 B`, `1.46 KiB`.
#[must_use]
pub fn bytes(count: u64) -> String {
    const UNITS: [&str; 6] = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    const STEP: f64 = 1024.0;
    if count < 1024 {
        return format!("{count} B");
    }
    #[expect(clippy::cast_precision_loss, reason = "two decimals are shown")]
    let mut amount = count as f64 / STEP;
    let mut unit = 0;
    while amount >= STEP && unit + 1 < UNITS.len() {
        amount /= STEP;
        unit += 1;
    }
    format!("{amount:.2} {}", UNITS[unit])
}

/// Whether a field has its usual value, so that JSON leaves it out.
pub(crate) fn is_usual<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_have_two_decimals_and_a_binary_unit() {
        let shown = [0, 1023, 1024, 1500, 1 << 20, 1_500_000_000].map(bytes);
        assert_eq!(shown, ["0 B", "1023 B", "1.00 KiB", "1.46 KiB", "1.00 MiB", "1.40 GiB"]);
        assert_eq!(bytes(u64::MAX), "16.00 EiB");
    }
}

//! Counts recalls, so that entries that are needed often can be promoted.
//!
//! Each recall is a line in `<state>/recalls`, which is only appended to; when the file grows too
//! long, the older half is removed. An entry is identified by a mark that is derived from its text,
//! so that it keeps its count when its file is moved.
//!
//! ```text
//! 2026-11-16T10:00:00Z 9f86d081884c7d65 memory/2026-11-15.md
//! ```

use std::collections::HashMap;
use std::io::{self, Read as _, Write as _};
use std::ops::Range;

use anemone_files::if_found;
use anemone_format::sha256_hex;
use jiff::Timestamp;

use crate::journal::keep_private;
use crate::page::{ParsedEntry, units};
use crate::reading;
use crate::store::MarkdownStore;

/// The file of counts, in the state of a memory.
pub(crate) const RECALLS: &str = "recalls";
/// So many bytes are kept.
const MOST_BYTES: u64 = 256 << 10;
/// So many entries are noted for one recall.
const AT_ONCE: usize = 32;

/// An entry that was recalled.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RecallKey {
    /// The file that held it.
    pub path: String,
    /// The mark of its text, see [`mark_of`].
    pub mark: String,
}

/// How often an entry was recalled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecallCount {
    /// How often.
    pub times: u32,
    /// The last time.
    pub last: Timestamp,
}

/// Why recalls cannot be counted.
#[derive(Debug, thiserror::Error)]
#[error("cannot access the list of recalled memories")]
pub struct RecallError {
    /// The cause.
    #[from]
    source: io::Error,
}

/// Returns a text without the differences that comparisons ignore: case, whitespace.
pub(crate) fn folded(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase()
}

/// Returns the mark of a text: sixteen digits that equal texts share.
#[must_use]
pub fn mark_of(text: &str) -> String {
    let mut mark = sha256_hex(folded(text).as_bytes());
    mark.truncate(16);
    mark
}

/// Finds the entries of a file that a hit is about: those with a match in them, or else the first
/// one. `bytes` is the hit's range, `matches` the ranges of the question's words in it.
#[must_use]
pub fn recalled_of(
    site: &MarkdownStore,
    path: &str,
    bytes: &Range<usize>,
    matches: &[Range<usize>],
) -> Vec<RecallKey> {
    let Ok(Some(file)) = reading::read(site, path) else { return Vec::new() };
    let touches = |unit: &ParsedEntry| unit.bytes.start < bytes.end && bytes.start < unit.bytes.end;
    let of_hit: Vec<ParsedEntry> = units(&file.text).into_iter().filter(touches).collect();
    let matched = |unit: &&ParsedEntry| {
        matches.iter().any(|found| unit.bytes.contains(&bytes.start.saturating_add(found.start)))
    };
    let key =
        |unit: &ParsedEntry| RecallKey { path: path.to_owned(), mark: mark_of(&unit.content) };
    let found: Vec<_> = of_hit.iter().filter(matched).map(key).collect();
    if found.is_empty() { of_hit.first().map(key).into_iter().collect() } else { found }
}

/// Notes that entries were recalled.
pub fn note_recalls(
    site: &MarkdownStore,
    keys: &[RecallKey],
    now: Timestamp,
) -> Result<(), RecallError> {
    if keys.is_empty() {
        return Ok(());
    }
    let mut lines = String::new();
    for key in keys.iter().take(AT_ONCE) {
        let path = key.path.replace(char::is_control, " ");
        lines.push_str(&format!("{now} {} {path}\n", key.mark));
    }
    let path = site.state().join(RECALLS);
    fs_err::create_dir_all(site.state())?;
    let mut options = fs_err::OpenOptions::new();
    options.create(true).append(true);
    fs_err::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(&path)?;
    file.write_all(lines.as_bytes())?;
    if file.metadata()?.len() > MOST_BYTES {
        // A line that another process adds meanwhile is lost, which costs one count.
        let text = read_list(site)?;
        let middle = text.floor_char_boundary(text.len() / 2);
        let rest = text[middle..].split_once('\n').map_or("", |(_, rest)| rest);
        keep_private(&path, rest.as_bytes())?;
    }
    Ok(())
}

/// Returns how often entries were recalled, by their marks.
pub fn recall_counts(site: &MarkdownStore) -> Result<HashMap<String, RecallCount>, RecallError> {
    let mut counts: HashMap<String, RecallCount> = HashMap::new();
    for line in read_list(site)?.lines() {
        let mut words = line.splitn(3, ' ');
        let (Some(at), Some(mark)) = (words.next(), words.next()) else { continue };
        let Ok(at) = at.parse::<Timestamp>() else { continue };
        let count = counts.entry(mark.to_owned());
        let count = count.or_insert(RecallCount { times: 0, last: at });
        count.times = count.times.saturating_add(1);
        count.last = count.last.max(at);
    }
    Ok(counts)
}

fn read_list(site: &MarkdownStore) -> io::Result<String> {
    let file = if_found(fs_err::File::open(site.state().join(RECALLS)))?;
    let Some(file) = file else { return Ok(String::new()) };
    let mut bytes = Vec::new();
    file.take(2 * MOST_BYTES).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::MarkdownLayout;

    fn key(text: &str) -> RecallKey {
        RecallKey { path: "memory/2026-11-15.md".to_owned(), mark: mark_of(text) }
    }

    #[test]
    fn recalls_are_counted_by_text_and_the_list_stays_short() {
        let folder = tempfile::tempdir().unwrap();
        let state = folder.path().join("state");
        let site = MarkdownStore::open(folder.path(), &state, MarkdownLayout::PLAIN).unwrap();
        let now: Timestamp = "2026-11-16T10:00:00Z".parse().unwrap();
        note_recalls(&site, &[key("Tea,  not coffee"), key("other")], now).unwrap();
        note_recalls(&site, &[key("tea, not COFFEE")], now).unwrap();
        let counts = recall_counts(&site).unwrap();
        assert_eq!(counts[&mark_of("tea, not coffee")].times, 2);
        assert_eq!(counts[&mark_of("other")].times, 1);
        for _ in 0..400 {
            note_recalls(&site, &vec![key("often"); 32], now).unwrap();
        }
        assert!(fs_err::metadata(state.join(RECALLS)).unwrap().len() <= MOST_BYTES);
        assert!(recall_counts(&site).unwrap()[&mark_of("often")].times > 100);
    }

    #[test]
    fn a_hit_is_about_the_entries_in_which_something_matched() {
        let folder = tempfile::tempdir().unwrap();
        let site =
            MarkdownStore::open(folder.path(), &folder.path().join("s"), MarkdownLayout::PLAIN)
                .unwrap();
        let text = "# x\n\n- one tea\n- two\n- three tea\n";
        fs_err::write(folder.path().join("MEMORY.md"), text).unwrap();
        let marks = |matches: &[Range<usize>]| -> Vec<String> {
            let found = recalled_of(&site, "MEMORY.md", &(5..text.len()), matches);
            found.into_iter().map(|found| found.mark).collect()
        };
        let tea = text.find("three tea").unwrap() - 5;
        assert_eq!(marks(&[2..5, tea..tea + 5]), [mark_of("one tea"), mark_of("three tea")]);
        assert_eq!(marks(&[]), [mark_of("one tea")]);
        assert_eq!(recalled_of(&site, "../etc/passwd", &(0..9), &[]), []);
    }
}

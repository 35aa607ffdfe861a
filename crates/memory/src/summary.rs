//! All that a memory holds, entry by entry, each as short as comparing needs it.

use std::collections::{BTreeMap, HashSet};

use anemone_format::Origin;
use anemone_markdown::{BlockKind, Conventions, atx_heading, outline};
use anemone_secrets::redact_text;
use jiff::Timestamp;
use jiff::civil::Date;
use uuid::Uuid;

use crate::cited::citation_of;
use crate::entries::repeated;
use crate::entry::Importance;
use crate::page::ParsedEntry;
use crate::recall_counts::mark_of;
use crate::store::PageKind;
use crate::superseded::{Age, Taken, text_name, written};

/// So much of a text is kept to be compared and shown.
const TEXT_BYTES: usize = 600;

/// A summary of an entry, with its position.
#[derive(Clone, Debug, PartialEq)]
pub struct EntrySummary {
    /// The file.
    pub path: String,
    /// The kind of the file.
    pub kind: PageKind,
    /// Its first and last line.
    pub lines: (usize, usize),
    /// Its identifier in commands: the id of its stamp, or the mark of its text.
    pub id: String,
    /// The mark of its text.
    pub mark: String,
    /// Its key.
    pub key: Option<String>,
    /// The beginning of its text.
    pub text: String,
    /// The day it was written, or is about.
    pub day: Option<Date>,
    /// When it was written; without a stamp, when the day of its file began.
    pub written: Option<Timestamp>,
    /// Where it comes from.
    pub origin: Option<Origin>,
    /// Its importance, if one was given.
    pub importance: Option<Importance>,
    /// The key or id that it takes the place of.
    pub supersedes: Option<String>,
    /// Whether it has a stamp.
    pub is_stamped: bool,
    /// The UUID of its stamp, where it is known.
    pub(crate) uuid: Option<Uuid>,
    /// By which it is superseded if it has no stamp.
    pub(crate) text_name: String,
    /// The heading above it, where that is not the title of the file.
    pub section: Option<String>,
}

impl EntrySummary {
    pub(crate) fn of(path: &str, kind: PageKind, unit: &ParsedEntry, title: Option<&str>) -> Self {
        let mark = mark_of(&unit.content);
        let stamp = unit.stamp.as_ref();
        let end = unit.content.floor_char_boundary(TEXT_BYTES);
        Self {
            path: path.to_owned(),
            kind,
            lines: unit.lines,
            id: stamp.map_or_else(|| mark.clone(), |stamp| stamp.id.to_string()),
            mark,
            key: unit.key.clone(),
            text: shown(&unit.content[..end]),
            day: day_of(kind).or_else(|| Some(stamp?.at.as_ref()?.utc_date())),
            written: written(kind, unit),
            origin: stamp.and_then(|stamp| stamp.origin),
            uuid: stamp.and_then(|stamp| stamp.uuid),
            importance: importance_of(unit),
            supersedes: stamp.and_then(|stamp| stamp.supersedes.clone()),
            is_stamped: stamp.is_some(),
            text_name: text_name(&unit.content),
            section: unit.heading.clone().filter(|heading| Some(heading.as_str()) != title),
        }
    }

    /// Returns how many days ago it was written.
    pub(crate) fn age(&self, today: Date) -> Option<i64> {
        days_between(self.day?, today)
    }

    /// Returns what tells the newer of two.
    fn order(&self) -> Age<'_> {
        Age {
            written: self.written,
            uuid: self.uuid,
            path: &self.path,
            line: self.lines.0,
            id: self.is_stamped.then_some(self.id.as_str()),
        }
    }
}

/// Calls entries by their places where several have the same stamp.
pub(crate) fn tell_apart(entries: &mut [EntrySummary]) {
    let stamped = entries.iter().filter(|entry| entry.is_stamped);
    let copied = repeated(stamped.map(|stamped| stamped.id.clone()));
    for it in entries.iter_mut().filter(|entry| entry.is_stamped) {
        if copied.contains(&it.id) {
            it.id = citation_of(&it.path, it.lines);
        }
    }
}

/// Returns the title of a file: its first heading, if that is of the first level.
pub(crate) fn title_of(text: &str) -> Option<&str> {
    let blocks = outline(text, Conventions::PLAIN);
    let first = blocks.into_iter().find(|block| matches!(block.kind, BlockKind::Heading(_)))?;
    let (level, title) = atx_heading(text[first.bytes].trim_start())?;
    (level == 1).then_some(title)
}

/// Returns a text without secrets: a report about the health of a memory must not show them.
fn shown(text: &str) -> String {
    redact_text(text).0.into_owned()
}

/// Returns the day that a file is about.
pub(crate) const fn day_of(kind: PageKind) -> Option<Date> {
    match kind {
        PageKind::Daily(day) | PageKind::Session(day) => Some(day),
        PageKind::Curated | PageKind::Note | PageKind::Archived => None,
    }
}

/// Counts the days from one to another.
pub(crate) fn days_between(from: Date, to: Date) -> Option<i64> {
    Some(i64::from(from.until(to).ok()?.get_days()))
}

/// Returns how much an entry matters: by its tag, or by the comment that OpenClaw reads, the
/// highest of several.
pub(crate) fn importance_of(unit: &ParsedEntry) -> Option<Importance> {
    if let Some(label) = &unit.label {
        return Some(label.importance);
    }
    let comments = unit.content.split("<!--").skip(1);
    let numbers = comments.filter_map(|comment| {
        let inner = comment.split_once("-->")?.0.trim();
        let number: f64 = inner.strip_prefix("importance:")?.trim().parse().ok()?;
        (1.0..=10.0).contains(&number).then_some(number)
    });
    numbers.reduce(f64::max).and_then(|reduce| Importance::new(reduce / 10.0))
}

/// Several entries of one key that say different things.
#[derive(Clone, Debug, PartialEq)]
pub struct Contradiction {
    /// The key.
    pub key: String,
    /// The newest.
    pub newer: EntrySummary,
    /// The others, the newest first.
    pub older: Vec<EntrySummary>,
}

/// Returns the entries whose place others have taken, by their position.
pub(crate) fn superseded(entries: &[EntrySummary]) -> HashSet<usize> {
    let mut taken = Taken::default();
    for it in entries {
        if let Some(name) = &it.supersedes {
            taken.note(name, it.order());
        }
    }
    let is_gone = |at: &usize| {
        let entry = &entries[*at];
        taken.has(entry.key.as_deref(), &entry.order(), || entry.text_name.clone())
    };
    (0..entries.len()).filter(is_gone).collect()
}

/// Finds entries of the same key that say different things. Bold words at the beginning of a line
/// of a log are often a form that is filled in each day rather than keys, so in logs only stamped
/// entries count. An unstamped entry below a heading is about the topic of that heading.
pub(crate) fn contradictions(entries: &[EntrySummary]) -> Vec<Contradiction> {
    let gone = superseded(entries);
    let mut by_key: BTreeMap<(Option<&str>, String), Vec<&EntrySummary>> = BTreeMap::new();
    for (at, entry) in entries.iter().enumerate() {
        let Some(key) = &entry.key else { continue };
        let is_key = entry.is_stamped || day_of(entry.kind).is_none();
        if is_key && !gone.contains(&at) && entry.kind != PageKind::Archived {
            let section = entry.section.as_deref().filter(|_| !entry.is_stamped);
            by_key.entry((section, key.trim().to_lowercase())).or_default().push(entry);
        }
    }
    let mut found = Vec::new();
    for (_, mut entries) in by_key {
        entries.sort_by(|one, other| other.order().cmp(&one.order()));
        let newer = entries[0];
        let older: Vec<_> = entries
            .iter()
            .filter(|entry| entry.mark != newer.mark)
            .map(|entry| (*entry).clone())
            .collect();
        if let Some(key) = newer.key.clone().filter(|_| !older.is_empty()) {
            found.push(Contradiction { key, newer: newer.clone(), older });
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::title_of;

    #[test]
    fn a_title_is_a_heading_and_no_comment_in_code() {
        assert_eq!(title_of("# Tea ##\n\n## Green\n"), Some("Tea"));
        assert_eq!(title_of("```sh\n# build\n```\n\n# Tea\n"), Some("Tea"));
        assert_eq!(title_of("## Green\n# Tea\n"), None);
        assert_eq!(title_of("#tea is a tag\n\n# Tea\n"), Some("Tea"));
        assert_eq!(title_of("```sh\n# build\n```\n"), None);
    }
}

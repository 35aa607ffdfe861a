//! The content of stamps, stored beside the files that have them.
//!
//! One line of JSON for each entry:
//!
//! ```text
//! {"id":"k7f3xq2b","uuid":"019a89c2-...","origin":"agent","at":"2026-11-16T10:00:00Z"}
//! ```
//!
//! The table is a file of the workspace, so it is copied with the other files. Lines are only
//! added, except when an entry is permanently forgotten: then its line is removed. An entry whose
//! line is lost keeps its text, its key and what it supersedes; its author is then unknown, which
//! is the least trusted state.

use std::collections::HashMap;
use std::ops::Range;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::{Origin, ProvenanceStamp, StampId};
use crate::moment::Moment;

/// How our lines begin.
const START: &str = "{\"id\":\"";

/// The content of stamps, by their short ids.
#[derive(Clone, Debug, Default)]
pub struct StampTable {
    text: String,
    rows: HashMap<StampId, Range<usize>>,
}

/// A line of the table.
#[derive(Serialize, Deserialize)]
struct StampRow {
    id: StampId,
    uuid: Uuid,
    origin: String,
    at: Moment,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    session: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    source: Option<String>,
}

impl StampTable {
    /// The path of the table in a workspace.
    pub const PATH: &'static str = ".anemone/stamps.jsonl";

    /// Takes the content of the file. Damaged lines are ignored; of two lines about one entry the
    /// first counts, so that adding a line never changes an existing stamp.
    #[must_use]
    pub fn new(content: Vec<u8>) -> Self {
        let text = String::from_utf8(content)
            .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned());
        let mut rows = HashMap::new();
        for (id, range) in lines(&text) {
            if let Some(id) = id {
                rows.entry(id).or_insert(range);
            }
        }
        Self { text, rows }
    }

    /// Returns how many entries it knows.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether it knows none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Returns a stamp, completed with the table's line about it.
    #[must_use]
    pub fn resolved(&self, mut stamp: ProvenanceStamp) -> ProvenanceStamp {
        if let Some(row) = self.row(stamp.id)
            && let Ok(origin) = row.origin.parse::<Origin>()
        {
            stamp.uuid = Some(row.uuid);
            stamp.origin = Some(origin);
            stamp.at = Some(row.at);
            stamp.session = row.session;
            stamp.source = row.source;
        }
        stamp
    }

    /// Returns the table's line about an id.
    #[must_use]
    pub fn get(&self, id: StampId) -> Option<ProvenanceStamp> {
        Some(self.resolved(ProvenanceStamp::bare(id))).filter(|stamp| stamp.origin.is_some())
    }

    fn row(&self, id: StampId) -> Option<StampRow> {
        // A long stamp contains everything itself.
        let range = self.rows.get(&id).filter(|_| matches!(id, StampId::Short(_)))?;
        serde_json::from_str(&self.text[range.clone()]).ok()
    }

    /// Returns the line for a stamp, with its line ending; `None` when it needs none.
    #[must_use]
    pub fn line(stamp: &ProvenanceStamp) -> Option<String> {
        let row = StampRow {
            id: matches!(stamp.id, StampId::Short(_)).then_some(stamp.id)?,
            uuid: stamp.uuid?,
            origin: stamp.origin?.to_string(),
            at: stamp.at.clone()?,
            session: stamp.session.clone(),
            source: stamp.source.clone(),
        };
        serde_json::to_string(&row).ok().map(|line| line + "\n")
    }

    /// Returns the file without the lines of some entries; `None` when it has none of them.
    #[must_use]
    pub fn without(&self, ids: &[StampId]) -> Option<String> {
        let is_gone = |id: &Option<StampId>| id.is_some_and(|id| ids.contains(&id));
        lines(&self.text).any(|(id, _)| is_gone(&id)).then(|| {
            let kept = lines(&self.text).filter(|(id, _)| !is_gone(id));
            kept.map(|(_, range)| &self.text[range]).collect()
        })
    }

    /// Returns the file with more lines.
    #[must_use]
    pub fn joined(&self, lines: &str) -> String {
        let glue = if self.text.is_empty() || self.text.ends_with('\n') { "" } else { "\n" };
        [&self.text, glue, lines].concat()
    }

    /// Returns the lines of another table about entries that this one does not know.
    #[must_use]
    pub fn lacks(&self, other: &Self) -> String {
        let is_row = |range: &Range<usize>| {
            serde_json::from_str::<StampRow>(&other.text[range.clone()]).is_ok()
        };
        let new = lines(&other.text).filter(|(id, range)| {
            id.is_some_and(|id| !self.rows.contains_key(&id)) && is_row(range)
        });
        new.map(|(_, range)| format!("{}\n", other.text[range].trim_end_matches(['\n', '\r'])))
            .collect()
    }
}

/// Returns the lines with their endings, each with the id that it is about.
fn lines(text: &str) -> impl Iterator<Item = (Option<StampId>, Range<usize>)> {
    let mut at = 0;
    text.split_inclusive('\n').map(move |line| {
        let range = at..at + line.len();
        at = range.end;
        // Parsing every line would take ten times as long; a line that a kill cut off does not end
        // with a brace.
        let whole = Some(line).filter(|line| line.trim_end().ends_with('}'));
        let quick =
            whole.and_then(|line| line.strip_prefix(START)?.split_once('"')?.0.parse().ok());
        let id = quick.or_else(|| Some(serde_json::from_str::<StampRow>(line).ok()?.id));
        (id, range)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stamp(number: u128) -> ProvenanceStamp {
        let at = "2026-11-16T10:00:00Z".parse().unwrap();
        let mut stamp = ProvenanceStamp::new(Uuid::from_u128(number), Origin::Web, at).shortened();
        stamp.source = Some("https://example.org/\"x\"\n".to_owned());
        stamp
    }

    #[test]
    fn what_is_written_is_known_again() {
        let (one, two) = (stamp(1), stamp(2));
        let text = StampTable::line(&one).unwrap() + &StampTable::line(&two).unwrap();
        let table = StampTable::new(text.into_bytes());
        let bare = ProvenanceStamp::parse(&one.to_string()).unwrap();
        assert_eq!(table.resolved(bare), one);
        assert_eq!(table.get(two.id), Some(two));
        assert_eq!(table.get(stamp(3).id), None);
    }

    #[test]
    fn what_a_kill_left_of_a_line_costs_no_other_and_a_later_line_changes_nothing() {
        let one = StampTable::line(&stamp(1)).unwrap();
        let forged = one.replace("web", "owner");
        let text = format!("{}\n{one}{forged}{}", &one[..20], &one[..30]);
        let table = StampTable::new(text.into_bytes());
        assert_eq!(table.get(stamp(1).id).map(|stamp| stamp.origin), Some(Some(Origin::Web)));
    }

    #[test]
    fn a_line_that_somebody_else_wrote_is_read_too() {
        let line = r#"{ "at": "2026-11-16T10:00:00Z", "id": "k7f3xq2b", "origin": "tool", "x": 1,
                        "uuid": "019a89c2-7c11-7d3e-9f00-1c2d3e4f5a6b" }"#;
        let table = StampTable::new(line.replace('\n', " ").into_bytes());
        let found = table.get("k7f3xq2b".parse().unwrap()).unwrap();
        assert_eq!(found.origin, Some(Origin::Tool));
    }

    #[test]
    fn lines_are_taken_out_and_brought_together() {
        let all: String = (1..=3).filter_map(|number| StampTable::line(&stamp(number))).collect();
        let table = StampTable::new(all.into_bytes());
        let left = StampTable::new(table.without(&[stamp(2).id]).unwrap().into_bytes());
        assert_eq!((left.len(), left.get(stamp(2).id)), (2, None));
        assert_eq!(left.without(&[stamp(2).id]), None);
        assert_eq!(left.lacks(&table), StampTable::line(&stamp(2)).unwrap());
        assert_eq!(table.lacks(&left), "");
        let joined = StampTable::new(left.joined(&left.lacks(&table)).into_bytes());
        assert_eq!(joined.len(), 3);
    }
}

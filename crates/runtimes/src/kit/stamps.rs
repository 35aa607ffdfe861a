//! The provenance stamps of entries, as fields of a record.
//!
//! A record may hold several entries. Its `trust` is that of the least trusted one, and its source
//! lists every stamp, so that texts need not be searched for comments.

use anemone_format::{Moment, Origin, ProvenanceStamp, Record, StampTable};
use serde::{Deserialize, Serialize};

/// The least trusted first, in OpenClaw's words.
pub(crate) const LEAST_FIRST: [&str; 4] = ["untrusted", "system", "agent", "owner"];

#[derive(Serialize)]
struct NotedStamp<'a> {
    id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    origin: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    at: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    session: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    source: Option<&'a str>,
}

/// Where the row of a database comes from, according to the table beside the runtime's own.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RowStamp {
    /// A word of [`Origin`].
    pub(crate) origin: String,
    /// When it was written, as the table has it.
    pub(crate) at: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) session: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) source: Option<String>,
}

impl RowStamp {
    /// Returns the stamp of a record that was made from a row.
    pub(crate) fn of(record: &Record) -> Option<Self> {
        let stamps: Vec<Self> = serde_json::from_str(record.source.unknown.get("stamps")?).ok()?;
        let [stamp] = <[Self; 1]>::try_from(stamps).ok()?;
        stamp.origin.parse::<Origin>().is_ok().then_some(stamp)
    }

    /// Adds to a record what the table says about its row; unknown words are ignored.
    pub(crate) fn note(&self, record: &mut Record, row: &str) {
        let Ok(origin) = self.origin.parse::<Origin>() else { return };
        insert(record, "trust", class(origin));
        let noted = NotedStamp {
            id: row.to_owned(),
            origin: Some(origin.as_str()),
            at: Some(&self.at),
            session: self.session.as_deref(),
            source: self.source.as_deref(),
        };
        insert(record, "stamps", &[noted]);
    }
}

/// Adds to a record what the stamps in its content say, and what the table beside the files says
/// about them.
pub(crate) fn note_stamps(record: &mut Record, table: &StampTable) {
    let found = ProvenanceStamp::all_in(&record.content);
    let stamps: Vec<ProvenanceStamp> = found.map(|(_, stamp)| table.resolved(stamp)).collect();
    let Some(first) = stamps.first() else { return };
    let known: Option<String> =
        record.source.unknown.get("trust").and_then(|json| serde_json::from_str(json).ok());
    let said = stamps.iter().filter_map(|stamp| Some(class(stamp.origin?)));
    let classes: Vec<&str> = said.chain(known.as_deref()).collect();
    let rank = |class: &str| LEAST_FIRST.iter().position(|first| *first == class);
    if let Some(class) = classes.into_iter().min_by_key(|class| rank(class).unwrap_or(usize::MAX)) {
        insert(record, "trust", class);
    }
    if record.category.is_none() {
        record.category = stamps.iter().find_map(|stamp| stamp.category.clone());
    }
    let is_one = stamps.iter().all(|stamp| stamp.session == first.session);
    if is_one && record.source.session_id.is_none() {
        record.source.session_id.clone_from(&first.session);
    }
    let noted: Vec<_> = stamps
        .iter()
        .map(|stamp| NotedStamp {
            id: stamp.id.to_string(),
            origin: stamp.origin.map(Origin::as_str),
            at: stamp.at.as_ref().map(Moment::as_str),
            session: stamp.session.as_deref(),
            source: stamp.source.as_deref(),
        })
        .collect();
    insert(record, "stamps", &noted);
}

fn insert(record: &mut Record, name: &str, value: &(impl Serialize + ?Sized)) {
    let json = serde_json::to_string(value).expect("texts are JSON");
    record.source.unknown.insert(name, &json).expect("it is one JSON value");
}

fn class(origin: Origin) -> &'static str {
    match origin {
        Origin::Owner => "owner",
        Origin::Agent => "agent",
        Origin::Import | Origin::Tool | Origin::Web => "untrusted",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn noted(content: &str) -> Record {
        let id = "9e373c1e-cab7-5eea-90c3-8f3d09ac5755";
        let at = "2026-11-16T10:00:00Z".parse().unwrap();
        let mut record =
            Record::new(id.parse().unwrap(), id.parse().unwrap(), "openclaw", at, content);
        note_stamps(&mut record, &StampTable::default());
        record
    }

    fn stamp(origin: &str, session: &str) -> String {
        format!(
            "<!-- anemone: 019a89c2-7c11-7d3e-9f00-1c2d3e4f5a6b {origin} 2026-11-16T10:00:00Z \
             session=\"{session}\" -->"
        )
    }

    #[test]
    fn the_least_trusted_entry_decides() {
        let text = format!("- a {}\n- b {}\n", stamp("owner", "s1"), stamp("web", "s1"));
        let record = noted(&text);
        assert_eq!(record.source.unknown.get("trust"), Some("\"untrusted\""));
        assert_eq!(record.source.session_id.as_deref(), Some("s1"));
        let stamps = record.source.unknown.get("stamps").unwrap();
        assert!(stamps.contains(r#""origin":"owner""#) && stamps.contains(r#""origin":"web""#));
    }

    #[test]
    fn entries_of_several_sessions_have_no_session_together() {
        let text = format!("- a {}\n- b {}\n", stamp("owner", "s1"), stamp("agent", "s2"));
        let record = noted(&text);
        assert_eq!(record.source.session_id, None);
        assert_eq!(record.source.unknown.get("trust"), Some("\"agent\""));
    }

    #[test]
    fn the_stamp_of_a_row_is_noted_and_taken_back() {
        let mut record = noted("text");
        let stamp = RowStamp {
            origin: "web".to_owned(),
            at: "2026-11-16T10:00:00.000000000+01:00".to_owned(),
            session: None,
            source: Some("https://example.org".to_owned()),
        };
        stamp.note(&mut record, "row-1");
        assert_eq!(record.source.unknown.get("trust"), Some("\"untrusted\""));
        assert_eq!(RowStamp::of(&record), Some(stamp.clone()));
        let mut record = noted("text");
        RowStamp { origin: "king".to_owned(), ..stamp }.note(&mut record, "row-1");
        assert_eq!(RowStamp::of(&record), None);
    }

    #[test]
    fn what_is_not_stamped_is_left_alone() {
        let record = noted("- a <!-- importance: 3 -->\n");
        assert_eq!(record.source.unknown.get("trust"), None);
        assert_eq!(record.source.unknown.get("stamps"), None);
    }
}

//! What a source yields.

use anemone_format::StampTable;
use jiff::civil::Date;

/// One text that can be found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Document {
    /// Its name in hits and for `get`: unique in an index, with forward slashes, such as
    /// `memory/2026-01-15.md` or `memories/user_timezone`.
    pub path: String,
    /// The text, exactly as in the source; lines are counted in it.
    pub text: String,
    /// How to parse it.
    pub format: Format,
    /// The day it is about, when it states one: a date in its name, a row's creation.
    pub date: Option<Date>,
    /// Whether it stays true however old it is: recency does not affect it.
    pub evergreen: bool,
    /// The kind of memory, in the words of ALF: `semantic`, `episodic`, `procedural`, ...
    pub memory_type: Option<String>,
    /// The namespace, in the words of ALF.
    pub namespace: Option<String>,
    /// How much it matters, from 0 to 1.
    pub importance: Option<f64>,
    /// Where it comes from.
    pub provenance: Provenance,
}

/// How a text is parsed. The numbers are stored with documents.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Format {
    /// Markdown: headings, paragraphs, list items, table rows, fences.
    #[default]
    Markdown = 0,
    /// Paragraphs and lines, no markup: a row of a database.
    Plain = 1,
    /// One turn of a conversation a line: `User: ...`, `Assistant: ...`.
    Transcript = 2,
}

/// Where a document comes from.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Provenance {
    /// The kind of source: `memory`, `sessions`, `records`.
    pub source: String,
    /// The record's id, where the source has records.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub record: Option<String>,
    /// The session it was said in, where that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// Who wrote it: `owner`, `agent`, `tool`, `web`, `import`; where that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub origin: Option<String>,
    /// When it was written or observed, RFC 3339.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observed_at: Option<String>,
}

impl Provenance {
    /// Returns the provenance, completed with the table of stamps.
    #[must_use]
    pub fn resolved(mut self, table: &StampTable) -> Self {
        let id = self.record.as_deref().and_then(|record| record.parse().ok());
        if let Some(stamp) = id.and_then(|id| table.get(id)) {
            self.session = stamp.session.or(self.session);
            self.origin = stamp.origin.map(|origin| origin.to_string());
            self.observed_at = stamp.at.map(|time| time.to_string());
        }
        self
    }
}

//! Who wrote an entry of a Markdown memory, when, and in which session.
//!
//! A stamp is a comment at the end of its entry. It identifies the entry with eight characters; a
//! table beside the files says who wrote it and when, see [`StampTable`]. Stamps of earlier
//! versions contain everything themselves:
//!
//! ```text
//! - The gateway stays on loopback. <!-- anemone: k7f3xq2b -->
//! - The router is in the attic. <!-- anemone: 019a89c2-... agent 2026-11-16T10:00:00Z
//!   session="main" -->
//! ```
//!
//! The stamp cannot be forged from inside the text: a `<!--` in a text is written as `\<!--`, so
//! that no text can carry one. It stays with the text through every copy, editor and archive.

mod id;
mod table;

use std::fmt;
use std::ops::Range;
use std::str::FromStr;

use uuid::Uuid;

use crate::moment::Moment;
use crate::word_enum;

pub use self::id::{ParseStampIdError, StampId};
pub use self::table::StampTable;

const OPEN: &str = "<!-- anemone: ";
const CLOSE: &str = " -->";

word_enum! {
    /// The origin of a memory.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum Origin {
        /// The person whose agent it is said or wrote it.
        Owner = "owner",
        /// The agent concluded it.
        Agent = "agent",
        /// It came with an archive or from another program.
        Import = "import",
        /// A tool returned it.
        Tool = "tool",
        /// It comes from a web page, or another person sent it.
        Web = "web",
    }
}

impl Origin {
    /// Every origin, the most trusted first.
    pub const ALL: [Self; 5] = [Self::Owner, Self::Agent, Self::Import, Self::Tool, Self::Web];
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A word that is not an origin.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{word}` is none of owner, agent, import, tool, web")]
pub struct ParseOriginError {
    word: String,
}

impl FromStr for Origin {
    type Err = ParseOriginError;

    fn from_str(word: &str) -> Result<Self, ParseOriginError> {
        let unknown = || ParseOriginError { word: word.chars().take(64).collect() };
        Self::of_word(word).ok_or_else(unknown)
    }
}

/// What is known about an entry besides its text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProvenanceStamp {
    /// The id of the entry.
    pub id: StampId,
    /// The UUID that the short id was derived from, if it is known: UUIDs are in order of time, and
    /// their other bits are only in the table.
    pub uuid: Option<Uuid>,
    /// Where it comes from; `None` when neither the comment nor the table says it.
    pub origin: Option<Origin>,
    /// When it was written; `None` when neither the comment nor the table says it.
    pub at: Option<Moment>,
    /// The session in which it was written.
    pub session: Option<String>,
    /// The entry's key, if the text alone does not show it.
    pub key: Option<String>,
    /// The kind of entry, if its file alone does not show it.
    pub category: Option<String>,
    /// The key or id of the entry that it replaces.
    pub supersedes: Option<String>,
    /// The page, tool or file it comes from.
    pub source: Option<String>,
}

impl ProvenanceStamp {
    /// Returns a stamp with only the required fields.
    #[must_use]
    pub fn new(uuid: Uuid, origin: Origin, at: Moment) -> Self {
        Self { origin: Some(origin), at: Some(at), ..Self::bare(StampId::Long(uuid)) }
    }

    const fn bare(id: StampId) -> Self {
        let uuid = match id {
            StampId::Long(uuid) => Some(uuid),
            StampId::Short(_) => None,
        };
        Self {
            id,
            uuid,
            origin: None,
            at: None,
            session: None,
            key: None,
            category: None,
            supersedes: None,
            source: None,
        }
    }

    /// Returns the stamp as it is written into a file: with an id of eight characters. Its other
    /// fields go into the table.
    #[must_use]
    pub fn shortened(mut self) -> Self {
        self.id = self.id.shortened();
        self
    }

    /// The fields of the comment. Those that define the entry's meaning always stay in it; those
    /// about its origin are in the table when the id is a short one.
    fn fields(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let is_whole = matches!(self.id, StampId::Long(_));
        let all = [
            ("session", self.session.as_deref().filter(|_| is_whole)),
            ("key", self.key.as_deref()),
            ("category", self.category.as_deref()),
            ("supersedes", self.supersedes.as_deref()),
            ("source", self.source.as_deref().filter(|_| is_whole)),
        ];
        all.into_iter().filter_map(|(name, value)| Some((name, value?)))
    }

    /// Reads a comment; `None` when it is not a stamp. Fields of later versions are skipped.
    #[must_use]
    pub fn parse(comment: &str) -> Option<Self> {
        let body = comment.strip_prefix(OPEN)?.strip_suffix(CLOSE)?;
        let (id, mut rest) = body.split_once(' ').unwrap_or((body, ""));
        let mut stamp = Self::bare(id.parse().ok()?);
        if matches!(stamp.id, StampId::Long(_)) {
            let mut parts = rest.splitn(3, ' ');
            stamp.origin = Some(parts.next()?.parse().ok()?);
            stamp.at = Some(parts.next()?.parse().ok()?);
            rest = parts.next().unwrap_or_default();
        }
        while !rest.is_empty() {
            let (name, value) = rest.split_once('=')?;
            let mut values = serde_json::Deserializer::from_str(value).into_iter::<String>();
            let text = values.next()?.ok()?;
            rest = value.get(values.byte_offset()..)?.trim_start_matches(' ');
            match name {
                "session" => stamp.session = Some(text),
                "key" => stamp.key = Some(text),
                "category" => stamp.category = Some(text),
                "supersedes" => stamp.supersedes = Some(text),
                "source" => stamp.source = Some(text),
                _ => {}
            }
        }
        Some(stamp)
    }

    /// Finds the stamp at the end of an entry, ignoring whitespace after it.
    #[must_use]
    pub fn at_end_of(entry: &str) -> Option<(Range<usize>, Self)> {
        let end = entry.trim_end().len();
        let start = entry[..end].rfind(OPEN)?;
        if entry[..start].ends_with('\\') {
            return None;
        }
        Some((start..end, Self::parse(&entry[start..end])?))
    }

    /// Finds every stamp in a text: each is at the end of a line.
    pub fn all_in(text: &str) -> impl Iterator<Item = (Range<usize>, Self)> {
        let mut at = 0;
        text.split_inclusive('\n').filter_map(move |line| {
            let start = at;
            at += line.len();
            let (range, stamp) = Self::at_end_of(line)?;
            Some((start + range.start..start + range.end, stamp))
        })
    }
}

impl fmt::Display for ProvenanceStamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{OPEN}{}", self.id)?;
        if let (StampId::Long(_), Some(origin), Some(at)) = (self.id, self.origin, &self.at) {
            write!(f, " {origin} {at}")?;
        }
        for (name, value) in self.fields() {
            write!(f, " {name}={}", quoted(value))?;
        }
        f.write_str(CLOSE)
    }
}

/// Quotes a text so that it cannot end a comment, a line or a field.
fn quoted(text: &str) -> String {
    let json = serde_json::Value::from(text).to_string();
    json.replace("--", "-\\u002d").replace('<', "\\u003c").replace('>', "\\u003e")
}

/// Escapes a text so that no comment begins in it; [`unescaped`] reverses it.
#[must_use]
pub fn escaped(text: &str) -> String {
    text.replace("<!--", "\\<!--")
}

/// Reads what [`escaped`] wrote.
#[must_use]
pub fn unescaped(text: &str) -> String {
    text.replace("\\<!--", "<!--")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const ID: &str = "019a89c2-7c11-7d3e-9f00-1c2d3e4f5a6b";

    fn stamp() -> ProvenanceStamp {
        let at = "2026-11-16T10:00:00Z".parse().unwrap();
        ProvenanceStamp::new(ID.parse().unwrap(), Origin::Agent, at)
    }

    // Do not change this expectation: existing files contain this form.
    #[test]
    fn a_stamp_is_written_as_it_always_was() {
        let mut stamp = stamp();
        assert_eq!(stamp.to_string(), format!("<!-- anemone: {ID} agent 2026-11-16T10:00:00Z -->"));
        stamp.session = Some("agent:main".to_owned());
        stamp.key = Some("a\"b --> c".to_owned());
        assert_eq!(
            stamp.to_string(),
            format!(
                "<!-- anemone: {ID} agent 2026-11-16T10:00:00Z session=\"agent:main\" \
                 key=\"a\\\"b -\\u002d\\u003e c\" -->"
            )
        );
    }

    // Do not change this expectation: existing files contain this form.
    #[test]
    fn a_short_stamp_says_what_the_entry_means_and_not_where_it_comes_from() {
        let mut stamp = stamp().shortened();
        assert_eq!(stamp.to_string(), "<!-- anemone: 5mz4ypkb -->");
        stamp.session = Some("agent:main".to_owned());
        stamp.source = Some("https://example.org".to_owned());
        stamp.key = Some("k".to_owned());
        stamp.supersedes = Some("old".to_owned());
        let text = "<!-- anemone: 5mz4ypkb key=\"k\" supersedes=\"old\" -->";
        assert_eq!(stamp.to_string(), text);
        let read = ProvenanceStamp::parse(text).unwrap();
        assert_eq!((read.id, read.origin, read.at.clone()), (stamp.id, None, None));
        assert_eq!((read.key, read.supersedes), (stamp.key, stamp.supersedes));
    }

    #[test]
    fn what_is_no_stamp_is_left_alone() {
        for text in [
            "<!-- trigger: gateway -->",
            "<!-- anemone: -->",
            "<!-- anemone: reminder -->",
            "<!-- anemone: k7f3xq2 -->",
            "<!-- anemone: k7f3xq2bb -->",
            "<!-- anemone: K7F3XQ2B -->",
            "<!-- anemone: k7f3xq2b agent -->",
            "<!-- anemone: x agent 2026-11-16T10:00:00Z -->",
            &format!("<!-- anemone: {ID} king 2026-11-16T10:00:00Z -->"),
            &format!("<!-- anemone: {ID} agent today -->"),
            &format!("<!-- anemone: {ID} agent 2026-11-16T10:00:00Z session -->"),
            &format!("\\<!-- anemone: {ID} agent 2026-11-16T10:00:00Z -->"),
        ] {
            assert_eq!(ProvenanceStamp::at_end_of(text), None, "{text}");
        }
    }

    #[test]
    fn a_field_of_a_later_version_is_passed_over() {
        let text = format!("<!-- anemone: {ID} web 2026-11-16T10:00:00Z mood=\"x\" key=\"k\" -->");
        assert_eq!(ProvenanceStamp::parse(&text).unwrap().key.as_deref(), Some("k"));
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(session in ".*", key in "(?s).*", before in "(?s).*") {
            let mut stamp = stamp();
            stamp.session = Some(session);
            stamp.key = Some(key);
            let text = format!("{} {stamp}  \n", escaped(&before));
            let (range, found) = ProvenanceStamp::at_end_of(&text).unwrap();
            prop_assert_eq!(&found, &stamp);
            prop_assert_eq!(&text[range], stamp.to_string());
            prop_assert_eq!(ProvenanceStamp::all_in(&text).count(), 1);
        }

        #[test]
        fn no_text_is_a_stamp(text in "(?s).*(<!-- anemone: )?.*") {
            prop_assert_eq!(ProvenanceStamp::all_in(&escaped(&text)).count(), 0);
        }

        #[test]
        fn any_bytes_are_read_without_harm(text in "(?s).*<!-- anemone: .* -->") {
            ProvenanceStamp::all_in(&text).count();
        }
    }
}

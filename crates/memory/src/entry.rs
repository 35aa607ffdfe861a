//! One remembered entry, with its metadata.

use std::fmt;

use anemone_format::ProvenanceStamp;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use uuid::Uuid;

/// One remembered thing, as a living memory hands it out.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct MemoryEntry {
    /// Its id: that of its stamp or row, or one derived from its place.
    pub id: String,
    /// Its key.
    pub key: String,
    /// The text.
    pub content: String,
    /// The kind of entry.
    pub category: Category,
    /// When it was written, RFC 3339, or the day it is about.
    pub timestamp: String,
    /// The session in which it was written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// How well it answers the question; only from a recall.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub score: Option<f64>,
    /// How much it matters, from 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub importance: Option<f64>,
    /// Where it comes from: `owner`, `agent`, `import`, `tool`, `web`; where that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub origin: Option<String>,
}

/// What some programs write before a category of the user's own.
const CUSTOM: &str = "custom:";

/// The kind of an entry, in ZeroClaw's words.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Category {
    /// Lasting facts: `MEMORY.md`.
    Core,
    /// What happened on a day.
    Daily,
    /// A conversation.
    Conversation,
    /// Anything else.
    Custom(String),
}

impl Category {
    /// Returns the user's own name for it, without the mark that some programs put before it;
    /// `None` for a kind that everybody knows.
    #[must_use]
    pub fn own_name(&self) -> Option<&str> {
        match self {
            Self::Custom(name) => Some(name.strip_prefix(CUSTOM).unwrap_or(name)),
            Self::Core | Self::Daily | Self::Conversation => None,
        }
    }

    /// Returns the word for it.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            Self::Core => "core",
            Self::Daily => "daily",
            Self::Conversation => "conversation",
            Self::Custom(name) => name,
        }
    }
}

impl From<&str> for Category {
    /// Takes a word exactly: `Core` is not `core`.
    fn from(word: &str) -> Self {
        match word {
            "core" => Self::Core,
            "daily" => Self::Daily,
            "conversation" => Self::Conversation,
            other => Self::Custom(other.to_owned()),
        }
    }
}

impl fmt::Display for Category {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl serde::Serialize for Category {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

/// How much something matters, from 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Importance(f64);

impl Importance {
    /// Takes a number from 0 to 1.
    #[must_use]
    pub fn new(number: f64) -> Option<Self> {
        (0.0..=1.0).contains(&number).then_some(Self(number))
    }

    /// Returns the number.
    #[must_use]
    pub const fn get(self) -> f64 {
        self.0
    }

    /// Returns how long it is kept.
    #[must_use]
    pub fn tier(self) -> Tier {
        match self.0 {
            it if it >= 0.8 => Tier::Structural,
            it if it >= 0.4 => Tier::Potential,
            _ => Tier::Contextual,
        }
    }
}

/// A tag such as `[decision|i=0.9]`, as it is written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ImportanceTag<'a> {
    /// The type.
    pub name: &'a str,
    /// The number as it is written.
    pub score: &'a str,
    /// The number, moved into 0 to 1.
    pub importance: Importance,
    /// What follows the tag.
    pub after: &'a str,
}

impl<'a> ImportanceTag<'a> {
    /// Bytes of a number, at most.
    const MOST_BYTES: usize = 32;

    /// Reads what follows the `[` of a tag. A link is no tag.
    #[must_use]
    pub fn read(text: &'a str) -> Option<Self> {
        let end = text.find(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '-')))?;
        let (name, rest) = text.split_at(end);
        // In a table the bar must be escaped.
        let rest = rest.strip_prefix('\\').unwrap_or(rest).strip_prefix("|i=")?;
        let end = rest.bytes().take(Self::MOST_BYTES).position(|byte| byte == b']')?;
        let (score, after) = (&rest[..end], &rest[end + 1..]);
        let is_decimal = |byte: u8| byte.is_ascii_digit() || b".-+".contains(&byte);
        let number: f64 = score.parse().ok().filter(|number: &f64| number.is_finite())?;
        // A negative zero becomes a zero.
        let importance = Importance(number.clamp(0.0, 1.0) + 0.0);
        let is_tag = !name.is_empty() && score.bytes().all(is_decimal) && !after.starts_with('(');
        is_tag.then_some(Self { name, score, importance, after })
    }
}

/// How long something is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Tier {
    /// For a few days: importance below 0.4.
    Contextual,
    /// For some weeks: from 0.4.
    Potential,
    /// For ever: from 0.8.
    Structural,
}

/// The tag that people put before an entry: `[decision|i=0.9]`.
#[derive(Clone, Debug, PartialEq)]
pub struct Label {
    /// The type: `decision`, `milestone`, `lesson`, `context` and the like.
    pub name: String,
    /// How much it matters.
    pub importance: Importance,
}

/// Something to be remembered, with all that is known of it.
#[derive(Clone, Debug, PartialEq)]
pub struct NewEntry {
    /// The text.
    pub text: String,
    /// Its key.
    pub key: Option<String>,
    /// Its tag.
    pub label: Option<Label>,
    /// Words by which it is found, without `#`.
    pub tags: Vec<String>,
    /// Who wrote it, when, in which session.
    pub stamp: ProvenanceStamp,
}

/// The time, the time zone and new ids: a memory that stays open asks for them at each write.
pub trait Clock: Send + Sync {
    /// Returns the time.
    fn now(&self) -> Timestamp;
    /// Returns the time zone in which days begin.
    fn zone(&self) -> TimeZone;
    /// Creates a unique id.
    fn fresh_id(&self) -> Uuid;
}

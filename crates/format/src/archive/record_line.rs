//! A record as its line on disk.
//!
//! Archives are compared, patched and purged line by line, so that unchanged records keep their
//! bytes, whatever they contain.

use jiff::Timestamp;
use jiff::civil::Date;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;

use crate::id::RecordId;
use crate::json::{self, ReadJsonError};
use crate::moment::Moment;
use crate::record::MemoryType;

/// The fields of a record that decide where its line goes.
#[derive(Debug, Deserialize)]
pub(crate) struct RecordHead {
    pub(crate) id: RecordId,
    /// Lines are carried whatever they say here, so it is not refused.
    #[serde(default)]
    memory_type: Value,
    temporal: TemporalHead,
    #[serde(default)]
    embeddings: Option<Vec<IgnoredAny>>,
}

#[derive(Debug, Deserialize)]
struct TemporalHead {
    created_at: Moment,
    #[serde(default)]
    observed_at: Value,
}

impl RecordHead {
    pub(crate) fn parse(line: &[u8]) -> Result<Self, ReadJsonError> {
        json::check_depth(line)?;
        serde_json::from_slice(line).map_err(ReadJsonError::Json)
    }

    pub(crate) fn created_at(&self) -> &Moment {
        &self.temporal.created_at
    }

    /// Returns the day that decides the partition where `observed_at` may.
    pub(crate) fn observed_day(&self) -> Date {
        let is_episodic = self.memory_type.as_str() == Some(MemoryType::Episodic.as_str());
        let observed = self.temporal.observed_at.as_str().filter(|_| is_episodic);
        let observed: Option<Moment> = observed.and_then(|text| text.parse().ok());
        observed.as_ref().unwrap_or(self.created_at()).utc_date()
    }

    pub(crate) fn has_embeddings(&self) -> bool {
        self.embeddings.as_ref().is_some_and(|list| !list.is_empty())
    }
}

/// The position of a record's line among all lines: by time, then by id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct RecordKey {
    pub(crate) created_at: Timestamp,
    pub(crate) id: RecordId,
    pub(crate) offset: u64,
    pub(crate) length: u32,
    /// The day that decides the partition where `observed_at` may.
    pub(crate) observed_day: Date,
}

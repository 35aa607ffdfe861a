//! A record as its line on disk.
//!
//! Archives are compared, patched and purged line by line, so that unchanged records keep their
//! bytes, whatever they contain.

use jiff::Timestamp;
use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::id::RecordId;
use crate::json::{self, ReadJsonError};
use crate::moment::Moment;

/// The fields of a record that decide where its line goes.
#[derive(Debug, Deserialize)]
pub(crate) struct RecordHead {
    pub(crate) id: RecordId,
    temporal: TemporalHead,
    #[serde(default)]
    embeddings: Option<Vec<IgnoredAny>>,
}

#[derive(Debug, Deserialize)]
struct TemporalHead {
    created_at: Moment,
}

impl RecordHead {
    pub(crate) fn parse(line: &[u8]) -> Result<Self, ReadJsonError> {
        json::check_depth(line)?;
        serde_json::from_slice(line).map_err(ReadJsonError::Json)
    }

    pub(crate) fn created_at(&self) -> &Moment {
        &self.temporal.created_at
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
}

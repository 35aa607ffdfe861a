//! A store: the histories of any number of agents.
//!
//! ```text
//! store.json                        what this is, and the version of its format
//! agents/<agent>/content/<name>     snapshots: archives and deltas
//! agents/<agent>/commits/<commit>   commits
//! agents/<agent>/heads/<commit>     commits without a child; the objects are empty
//! ```
//!
//! Content is written first, then the commit, then its head. A commit without a head that leads to
//! it does not exist, so what was interrupted is invisible.

use std::io;

use anemone_format::AgentId;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::history::{AgentHistory, HistoryError};
use crate::key::Key;
use crate::storage::{Storage, StorageAction, StorageError};

/// The version of the format that this program reads and writes.
pub const STORE_VERSION: u64 = 1;
/// The word that `store.json` begins with.
const FORMAT: &str = "anemone-history";
const MAX_FORMAT_BYTES: u64 = 64 << 10;
const AGENTS: &str = "agents";

/// What `store.json` says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoreFormat {
    /// `anemone-history`.
    pub format: String,
    /// The version of the format.
    pub version: u64,
    /// Names the store, wherever it is moved or copied.
    pub id: Uuid,
}

/// Why a store cannot be opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenStoreError {
    /// The storage failed.
    #[error(transparent)]
    Storage(#[from] StorageError),
    /// There is no store.
    #[error("there is no store")]
    None,
    /// There is something else, or the description of the store is damaged.
    #[error("store.json does not describe a store")]
    NoStore(#[source] Option<serde_json::Error>),
    /// It was written by a newer program.
    #[error("the store has version {0}; this program reads version {STORE_VERSION}")]
    Newer(u64),
}

/// A store of histories.
pub struct HistoryStore<'a> {
    storage: &'a dyn Storage,
    format: StoreFormat,
}

impl<'a> HistoryStore<'a> {
    /// Opens a store.
    pub fn open(storage: &'a dyn Storage) -> Result<Self, OpenStoreError> {
        let key = format_key();
        let object = match storage.read(&key) {
            Ok(object) => object,
            Err(StorageError::NotFound(_)) => return Err(OpenStoreError::None),
            Err(error) => return Err(error.into()),
        };
        let bytes = object.read_all(MAX_FORMAT_BYTES).map_err(StorageAction::Read.failed(&key))?;
        let format: StoreFormat =
            serde_json::from_slice(&bytes).map_err(|error| OpenStoreError::NoStore(Some(error)))?;
        if format.format != FORMAT {
            return Err(OpenStoreError::NoStore(None));
        }
        if format.version != STORE_VERSION {
            return Err(OpenStoreError::Newer(format.version));
        }
        Ok(Self { storage, format })
    }

    /// Opens a store, or makes one with this id where there is none. Two that make it at once may
    /// write two ids; the one that is read back counts.
    pub fn open_or_create(storage: &'a dyn Storage, id: Uuid) -> Result<Self, OpenStoreError> {
        match Self::open(storage) {
            Err(OpenStoreError::None) => {}
            opened => return opened,
        }
        let format = StoreFormat { format: FORMAT.to_owned(), version: STORE_VERSION, id };
        let mut bytes = serde_json::to_vec_pretty(&format).expect("it has only text keys");
        bytes.push(b'\n');
        storage.write(&format_key(), &mut &bytes[..])?;
        Self::open(storage)
    }

    /// Returns what the store says of itself.
    #[must_use]
    pub const fn format(&self) -> &StoreFormat {
        &self.format
    }

    /// Lists the agents with a history, sorted.
    pub fn agents(&self) -> Result<Vec<AgentId>, StorageError> {
        let folders = self.storage.folders(&Key::root().child(AGENTS))?;
        let mut agents: Vec<AgentId> =
            folders.iter().filter_map(|name| name.parse().ok()).collect();
        agents.sort_unstable();
        Ok(agents)
    }

    /// Opens the history of an agent, which may be empty.
    pub fn history(&self, agent: AgentId) -> Result<AgentHistory<'a>, HistoryError> {
        let folder = Key::root().child(AGENTS).child(&agent.to_string());
        AgentHistory::open(self.storage, agent, folder)
    }
}

fn format_key() -> Key {
    Key::root().child("store.json")
}

impl From<OpenStoreError> for io::Error {
    fn from(error: OpenStoreError) -> Self {
        Self::other(error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::MemoryStorage;

    #[test]
    fn a_store_is_made_once_and_a_newer_one_is_refused() {
        let storage = MemoryStorage::new();
        assert!(matches!(HistoryStore::open(&storage), Err(OpenStoreError::None)));
        let id = Uuid::from_u128(1);
        assert_eq!(HistoryStore::open_or_create(&storage, id).unwrap().format().id, id);
        let again = HistoryStore::open_or_create(&storage, Uuid::from_u128(2)).unwrap();
        assert_eq!(again.format().id, id);
        let put = |text: &str| storage.write(&format_key(), &mut text.as_bytes()).unwrap();
        let describe = |format: &str, version: u64| {
            format!(r#"{{"format":"{format}","version":{version},"id":"{id}"}}"#)
        };
        put(&describe(FORMAT, 2));
        assert!(matches!(HistoryStore::open(&storage), Err(OpenStoreError::Newer(2))));
        put(&describe("other", 1));
        assert!(matches!(HistoryStore::open(&storage), Err(OpenStoreError::NoStore(None))));
        put("{");
        assert!(matches!(HistoryStore::open(&storage), Err(OpenStoreError::NoStore(Some(_)))));
    }
}

//! A storage in memory.

use std::collections::BTreeMap;
use std::io::Read;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use crate::key::Key;
use crate::storage::{ObjectInfo, Storage, StorageAction, StorageError, StoredObject};

/// A storage in memory, for tests and for programs that look at a store without keeping it.
#[derive(Debug, Default)]
pub struct MemoryStorage {
    objects: Mutex<BTreeMap<Key, Vec<u8>>>,
}

impl MemoryStorage {
    /// Returns an empty storage.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    fn objects(&self) -> MutexGuard<'_, BTreeMap<Key, Vec<u8>>> {
        self.objects.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the keys of all objects.
    #[must_use]
    pub fn keys(&self) -> Vec<Key> {
        self.objects().keys().cloned().collect()
    }

    /// Returns what is below a folder: the rest of each key, and the size.
    fn below(&self, folder: &Key) -> Vec<(String, u64)> {
        let prefix = if folder.as_str().is_empty() {
            String::new()
        } else {
            format!("{}/", folder.as_str())
        };
        let objects = self.objects();
        let rest = |key: &Key| key.as_str().strip_prefix(&prefix).map(str::to_owned);
        objects.iter().filter_map(|(key, bytes)| Some((rest(key)?, bytes.len() as u64))).collect()
    }
}

impl Storage for MemoryStorage {
    fn list(&self, folder: &Key) -> Result<Vec<ObjectInfo>, StorageError> {
        let below = self.below(folder).into_iter().filter(|(rest, _)| !rest.contains('/'));
        let written = Some(SystemTime::UNIX_EPOCH);
        Ok(below.map(|(name, size)| ObjectInfo { name, size, written }).collect())
    }

    fn folders(&self, folder: &Key) -> Result<Vec<String>, StorageError> {
        let below = self.below(folder);
        let mut folders: Vec<String> =
            below.iter().filter_map(|(rest, _)| Some(rest.split_once('/')?.0.to_owned())).collect();
        folders.dedup();
        Ok(folders)
    }

    fn read(&self, key: &Key) -> Result<StoredObject, StorageError> {
        let bytes = self.objects().get(key).cloned();
        let bytes = bytes.ok_or_else(|| StorageError::NotFound(key.clone()))?;
        Ok(StoredObject { length: bytes.len() as u64, bytes: Box::new(bytes) })
    }

    fn write(&self, key: &Key, content: &mut dyn Read) -> Result<(), StorageError> {
        let mut bytes = Vec::new();
        content.read_to_end(&mut bytes).map_err(StorageAction::Write.failed(key))?;
        self.objects().insert(key.clone(), bytes);
        Ok(())
    }

    fn remove(&self, key: &Key) -> Result<(), StorageError> {
        self.objects().remove(key);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_passes_the_suite_of_storages() {
        crate::suite::passes(&mut || (Box::new(MemoryStorage::new()), Box::new(())));
    }
}

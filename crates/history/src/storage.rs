//! Where the objects of a store lie.
//!
//! An object is written whole and never changed, so a storage needs no transactions, no locks and no
//! conditional writes. Two writers that write the same object write the same bytes.

use std::io::{self, Read};
use std::time::SystemTime;

use anemone_format::{Bytes, ReaderAt};

use crate::key::Key;

/// Where the objects of a store lie.
pub trait Storage: Send + Sync {
    /// Lists the objects that are directly in a folder, in no particular order. A folder that does
    /// not exist is empty. Names that no key of ours can have are left out.
    fn list(&self, folder: &Key) -> Result<Vec<ObjectInfo>, StorageError>;

    /// Lists the folders that are directly in a folder.
    fn folders(&self, folder: &Key) -> Result<Vec<String>, StorageError>;

    /// Opens an object.
    fn read(&self, key: &Key) -> Result<StoredObject, StorageError>;

    /// Writes an object, durably and whole: before this returns without an error, nobody can read
    /// it, or everybody can read all of it. An object of that name is replaced.
    fn write(&self, key: &Key, content: &mut dyn Read) -> Result<(), StorageError>;

    /// Removes an object. One that does not exist is no error.
    fn remove(&self, key: &Key) -> Result<(), StorageError>;
}

/// An object in a listing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjectInfo {
    /// The last part of its key.
    pub name: String,
    /// How many bytes it has.
    pub size: u64,
    /// When it was written, by the clock of the storage.
    pub written: Option<SystemTime>,
}

/// An object that can be read.
pub struct StoredObject {
    /// Its bytes.
    pub bytes: Bytes,
    /// How many there are.
    pub length: u64,
}

/// Why a storage did not do what it was asked for.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StorageError {
    /// There is no such object.
    #[error("the store has no object {0}")]
    NotFound(Key),
    /// The system refused.
    #[error("cannot {} {key} of the store", .action.as_str())]
    Io {
        /// What was done.
        action: StorageAction,
        /// With which object or folder.
        key: Key,
        /// Why it failed.
        source: io::Error,
    },
}

/// What is done with an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StorageAction {
    /// Listing a folder.
    List,
    /// Reading.
    Read,
    /// Writing.
    Write,
    /// Removing.
    Remove,
}

impl StorageAction {
    /// Returns the verb of an error message.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::List => "list",
            Self::Read => "read",
            Self::Write => "write",
            Self::Remove => "remove",
        }
    }

    /// Turns an error of the system into one of the storage.
    pub(crate) fn failed(self, key: &Key) -> impl FnOnce(io::Error) -> StorageError {
        let key = key.clone();
        move |source| match (self, source.kind()) {
            (Self::Read, io::ErrorKind::NotFound) => StorageError::NotFound(key),
            _ => StorageError::Io { action: self, key, source },
        }
    }
}

impl StoredObject {
    /// Returns a reader of the whole object.
    pub fn reader(&self) -> impl Read + '_ {
        BytesReader::new(&*self.bytes, self.length)
    }

    /// Reads a small object; more than `limit` bytes are an error.
    pub fn read_all(&self, limit: u64) -> io::Result<Vec<u8>> {
        if self.length > limit {
            let message = format!("it has {} bytes, more than {limit}", self.length);
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, message));
        }
        let mut bytes = Vec::new();
        self.reader().take(limit).read_to_end(&mut bytes)?;
        Ok(bytes)
    }
}

/// Reads bytes from their beginning to their end.
pub(crate) struct BytesReader<'a> {
    bytes: &'a (dyn ReaderAt + Send + Sync),
    at: u64,
    length: u64,
}

impl<'a> BytesReader<'a> {
    pub(crate) const fn new(bytes: &'a (dyn ReaderAt + Send + Sync), length: u64) -> Self {
        Self { bytes, at: 0, length }
    }
}

impl Read for BytesReader<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = usize::try_from(self.length - self.at).unwrap_or(usize::MAX).min(buffer.len());
        let read = self.bytes.read_at(&mut buffer[..left], self.at)?;
        self.at += read as u64;
        Ok(read)
    }
}

//! Small notes in JSON, in folders that are ours.

use std::io;
use std::path::Path;

use anemone_files::{Durability, read_small, replace_file};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// Reads a note; `None` if it is missing, too long or damaged.
pub(crate) fn read<T: DeserializeOwned>(path: &Path, max_bytes: u64) -> Option<T> {
    serde_json::from_slice(&read_small(path, max_bytes).ok()??).ok()
}

/// Returns the text of a note for its file.
pub(crate) fn to_bytes(note: &impl Serialize) -> io::Result<Vec<u8>> {
    let mut bytes = serde_json::to_vec(note)?;
    bytes.push(b'\n');
    Ok(bytes)
}

/// Writes a note as a whole; a link in its place is replaced.
pub(crate) fn write(path: &Path, note: &impl Serialize, durability: Durability) -> io::Result<()> {
    replace_file(path, &to_bytes(note)?, durability)
}

//! Reads the sidecar for comparisons; unreadable parts count as missing.

use std::collections::HashMap;
use std::io::{self, Read as _};

use anemone_format::{
    Credential, Credentials, Identity, Principals, ReadJsonError, Record, RecordId, SnapshotSource,
    SourceKind, sha256_hex,
};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::{
    CREDENTIALS, FileLine, IDENTITY, LINKS, Link, LinkPart, PLACED, PRINCIPALS, RECORDS, SIDECAR,
    lines::MAX_BYTES, lines::lines_of,
};
use crate::kit::hex;

/// What a runtime could not hold of a snapshot, read from the folder beside the runtime's files.
#[derive(Default)]
pub struct KeptSnapshot {
    /// Who the agent was.
    pub identity: Option<Identity>,
    /// Whom it worked for.
    pub principals: Option<Principals>,
    /// Its credentials, without secrets.
    pub credentials: Vec<Credential>,
    /// What each record became; only a hint where to look.
    pub links: HashMap<RecordId, Vec<LinkPart>>,
    /// Files that have no place in the workspace; a hint too.
    pub files: Vec<KeptFile>,
    /// The digest of each record as it was.
    records: HashMap<RecordId, String>,
}

/// A file that has no place in the workspace.
pub struct KeptFile {
    /// Its path in the snapshot.
    pub path: Vec<u8>,
    /// Its path in the workspace.
    pub place: Vec<u8>,
}

/// The part of a record that identifies it.
#[derive(Deserialize)]
struct NamedRecord {
    id: RecordId,
}

impl KeptSnapshot {
    /// Reads the folder of an agent.
    pub fn read(agent: &dyn SnapshotSource) -> io::Result<Self> {
        let mut kept = Self::default();
        for (index, file) in agent.files().iter().enumerate() {
            let Some(name) = name_in_folder(&file.path) else { continue };
            if matches!(file.kind, SourceKind::File { .. }) {
                kept.take(agent, index, name)?;
            }
        }
        Ok(kept)
    }

    fn take(&mut self, agent: &dyn SnapshotSource, index: usize, name: &[u8]) -> io::Result<()> {
        match std::str::from_utf8(name).unwrap_or_default() {
            IDENTITY => self.identity = document(agent, index)?,
            PRINCIPALS => self.principals = document(agent, index)?,
            CREDENTIALS => {
                let layer: Option<Credentials> = document(agent, index)?;
                self.credentials = layer.map(|layer| layer.credentials).unwrap_or_default();
            }
            RECORDS => each_line(agent, index, &mut |line| {
                // The line is the original record: only its id is parsed.
                if let Ok(NamedRecord { id }) = serde_json::from_slice(line) {
                    self.records.insert(id, sha256_hex(line));
                }
            })?,
            LINKS => each_line(agent, index, &mut |line| {
                if let Ok(Link { id, places }) = serde_json::from_slice(line) {
                    self.links.insert(id, places.parts);
                }
            })?,
            PLACED => each_line(agent, index, &mut |line| {
                let line = serde_json::from_slice::<FileLine>(line).ok();
                self.files.extend(line.and_then(KeptFile::of));
            })?,
            _ => {}
        }
        Ok(())
    }

    /// Whether the folder has a record as it is.
    #[must_use]
    pub fn holds(&self, record: &Record) -> bool {
        // A record that was read from JSON can be written as JSON.
        let digest = || sha256_hex(&serde_json::to_vec(record).unwrap_or_default());
        self.records.get(&record.id).is_some_and(|kept| *kept == digest())
    }
}

impl KeptFile {
    fn of(line: FileLine) -> Option<Self> {
        let place = [SIDECAR, "/", &line.kept?].concat().into_bytes();
        let bytes = line.path_hex.as_deref().and_then(hex::decoded);
        let path = bytes.filter(|bytes| !bytes.is_empty());
        Some(Self { path: path.unwrap_or_else(|| line.path.into_bytes()), place })
    }
}

/// Whether a path is below the folder.
#[must_use]
pub fn is_kept(path: &[u8]) -> bool {
    name_in_folder(path).is_some()
}

fn name_in_folder(path: &[u8]) -> Option<&[u8]> {
    path.strip_prefix(SIDECAR.as_bytes())?.strip_prefix(b"/")
}

fn document<T: DeserializeOwned>(agent: &dyn SnapshotSource, file: usize) -> io::Result<Option<T>> {
    let mut bytes = Vec::new();
    agent.content(file)?.take(MAX_BYTES as u64).read_to_end(&mut bytes)?;
    Ok(serde_json::from_slice(&bytes).ok())
}

fn each_line(
    agent: &dyn SnapshotSource,
    file: usize,
    take: &mut dyn FnMut(&[u8]),
) -> io::Result<()> {
    let mut lines = lines_of(agent.content(file)?);
    loop {
        match lines.next() {
            Ok(Some((_, line))) => take(line),
            Ok(None) => return Ok(()),
            Err(ReadJsonError::Io(error)) => return Err(error),
            // Lines that are too long count as missing.
            Err(_) => {}
        }
    }
}

//! What the folder beside the runtime's own files holds.

use std::collections::HashMap;
use std::io::{self, BufRead as _, BufReader, Read as _};

use anemone_format::{
    Credential, Credentials, Identity, Limits, Principals, Record, RecordId, SnapshotSource,
    SourceKind, sha256_hex,
};
use anemone_runtimes::mapping::ORIGIN_FOLDER;
use serde::Deserialize;

/// What the folder beside the runtime's own files holds.
#[derive(Default)]
pub(super) struct Sidecar {
    pub(super) identity: Option<Identity>,
    pub(super) principals: Option<Principals>,
    pub(super) credentials: Vec<Credential>,
    /// The digest of each record as it was.
    records: HashMap<RecordId, String>,
    /// What each record became; only a hint where to look.
    pub(super) links: HashMap<RecordId, Vec<LinkPart>>,
    /// Which file of the source each kept file is; a hint too.
    pub(super) kept: Vec<KeptFile>,
}

#[derive(Deserialize)]
pub(super) struct KeptFile {
    path: String,
    #[serde(default)]
    path_hex: Option<String>,
    /// Where it lies in the sidecar.
    #[serde(default)]
    pub(super) kept: Option<String>,
}

impl KeptFile {
    pub(super) fn path(&self) -> Vec<u8> {
        let digits = self.path_hex.as_deref().unwrap_or_default().as_bytes();
        let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
        let bytes: Option<Vec<u8>> = digits.chunks(2).map(byte).collect();
        bytes.filter(|bytes| !bytes.is_empty()).unwrap_or_else(|| self.path.clone().into_bytes())
    }
}

#[derive(Deserialize)]
struct Link {
    id: RecordId,
    #[serde(default)]
    parts: Vec<LinkPart>,
}

#[derive(Clone, Deserialize)]
pub(super) struct LinkPart {
    #[serde(default)]
    pub(super) file: Option<String>,
    #[serde(default)]
    pub(super) name: Option<String>,
    pub(super) sha256: String,
}

impl Sidecar {
    pub(super) fn read(target: &dyn SnapshotSource) -> io::Result<Self> {
        let mut sidecar = Self::default();
        for (index, file) in target.files().iter().enumerate() {
            let Some(name) = in_sidecar(&file.path) else { continue };
            if !matches!(file.kind, SourceKind::File { .. }) {
                continue;
            }
            // What cannot be read counts as not there, and then as lost.
            match name {
                b"identity.json" => sidecar.identity = document(target, index)?,
                b"principals.json" => sidecar.principals = document(target, index)?,
                b"credentials.json" => {
                    let list: Option<Credentials> = document(target, index)?;
                    sidecar.credentials = list.map(|layer| layer.credentials).unwrap_or_default();
                }
                b"records.jsonl" => each_line(target, index, &mut |line| {
                    if let Ok(record) = serde_json::from_slice::<Record>(line) {
                        sidecar.records.insert(record.id, json_digest(&record));
                    }
                })?,
                b"links.jsonl" => each_line(target, index, &mut |line| {
                    if let Ok(link) = serde_json::from_slice::<Link>(line) {
                        sidecar.links.insert(link.id, link.parts);
                    }
                })?,
                b"placed.jsonl" => each_line(target, index, &mut |line| {
                    let line = serde_json::from_slice::<KeptFile>(line).ok();
                    sidecar.kept.extend(line.filter(|file| file.kept.is_some()));
                })?,
                _ => {}
            }
        }
        Ok(sidecar)
    }

    pub(super) fn holds(&self, record: &Record) -> bool {
        self.records.get(&record.id).is_some_and(|digest| *digest == json_digest(record))
    }
}

/// Returns a path below the sidecar's folder.
pub(super) fn in_sidecar(path: &[u8]) -> Option<&[u8]> {
    path.strip_prefix(ORIGIN_FOLDER.as_bytes())?.strip_prefix(b"/")
}

fn document<T: serde::de::DeserializeOwned>(
    source: &dyn SnapshotSource,
    file: usize,
) -> io::Result<Option<T>> {
    let mut bytes = Vec::new();
    let limit = Limits::default().max_document_bytes;
    source.content(file)?.take(limit).read_to_end(&mut bytes)?;
    Ok(serde_json::from_slice(&bytes).ok())
}

fn each_line(
    source: &dyn SnapshotSource,
    file: usize,
    take: &mut dyn FnMut(&[u8]),
) -> io::Result<()> {
    let limit = Limits::default().max_line_bytes as u64;
    let mut content = BufReader::new(source.content(file)?);
    let mut line = Vec::new();
    loop {
        line.clear();
        if (&mut content).take(limit).read_until(b'\n', &mut line)? == 0 {
            return Ok(());
        }
        take(&line);
    }
}

/// Returns the digest of a record as it is written.
fn json_digest(record: &Record) -> String {
    // A record that was read from JSON can be written as JSON.
    sha256_hex(&serde_json::to_vec(record).unwrap_or_default())
}

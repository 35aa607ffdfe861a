//! The parts of another runtime's snapshot that a runtime cannot hold: they are kept in a folder of
//! the workspace, for people to read and for the way back.
//!
//! ```text
//! .alf-origin/
//!   README.md          what this is
//!   manifest.json      whose snapshot it was
//!   identity.json, principals.json, credentials.json, attachments.json
//!   records.jsonl      every record, one a line, as it was
//!   links.jsonl        what each record became here
//!   placed.jsonl       where each file of the snapshot is, and what it held
//!   files/             files that have no place in the workspace, as they were:
//!     raw/<runtime>/, artifacts/, other/ as in an archive, flat/ for paths that would be too long
//! ```
//!
//! Everything is UTF-8; a `.jsonl` file has one JSON object a line. `manifest.json` is the
//! snapshot's manifest with one more field, `alf_origin`: the version of this layout, and the
//! documents that exist. A file in the folder that none of its lists names was left
//! by an earlier move, and is not read.

mod claims;
mod kept;
mod lines;
mod matching;
mod returning;
mod spool;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use anemone_format::{
    Credentials, Encryption, FileRoot, Moment, NOT_EXPORTED, RecordId, SnapshotSource, SourceFile,
    SourceKind, sha256_hex,
};
use serde::{Deserialize, Serialize};

use crate::kit::{
    MAX_DEPTH, Machine, Piece, PlanBuilder, PlanError, PlannedFile, each_record, is_within, spelled,
};

pub(crate) use self::claims::{Claim, Claims};
pub use self::kept::{KeptFile, KeptSnapshot, is_kept};
pub(crate) use self::returning::{RecordChange, ReturningSnapshot};
pub(crate) use self::spool::Spooler;

/// The folder.
pub(crate) const SIDECAR: &str = ".alf-origin";

const README: &str = "README.md";
const MANIFEST: &str = "manifest.json";
const IDENTITY: &str = "identity.json";
const PRINCIPALS: &str = "principals.json";
const CREDENTIALS: &str = "credentials.json";
const ATTACHMENTS: &str = "attachments.json";
const RECORDS: &str = "records.jsonl";
const LINKS: &str = "links.jsonl";
const PLACED: &str = "placed.jsonl";
const FILES: &str = "files";

/// The field of the manifest that is ours.
const MARK: &str = "alf_origin";
/// The version of the layout.
const VERSION: u64 = 1;

/// Bytes of a path below `files`, at most; longer ones get a short name. Walks and archives have
/// a limit not far above.
const MAX_KEPT_BYTES: usize = 3500;

/// A line of [`LINKS`]: what a record became in the runtime that it was moved to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Link {
    /// The record.
    pub(crate) id: RecordId,
    /// Where it is now.
    #[serde(flatten)]
    pub(crate) places: RecordPlaces,
}

impl Link {
    /// Describes a record that was written as it is.
    pub(crate) fn new(id: RecordId, parts: Vec<LinkPart>) -> Self {
        Self { id, places: RecordPlaces { parts, ..RecordPlaces::default() } }
    }
}

/// What a record became, and what was written beside its content.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RecordPlaces {
    /// The records that the runtime reads back; several when the text was cut, none when
    /// the runtime has no place for it.
    pub(crate) parts: Vec<LinkPart>,
    /// Texts that were put around and into the content, in their order there. They are removed from
    /// a content that comes back changed.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub(crate) added: Vec<String>,
    /// The status that is read back, where the text itself says one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(crate) status: Option<String>,
}

/// A record as it is read back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LinkPart {
    /// The record's `origin_file`; `None` in a database.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub file: Option<String>,
    /// Its key or heading.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub name: Option<String>,
    /// The digest of its content, without whitespace around it.
    pub sha256: String,
}

impl LinkPart {
    /// Describes a record by what will be read back of it.
    pub(crate) fn new(file: Option<&str>, name: Option<&str>, content: &str) -> Self {
        Self {
            file: file.map(str::to_owned),
            name: name.map(str::to_owned),
            sha256: digest_of(content),
        }
    }
}

/// Returns the digest of a content without the whitespace around it.
#[must_use]
pub fn digest_of(content: &str) -> String {
    sha256_hex(content.trim().as_bytes())
}

/// A file of the snapshot in the workspace itself, or one that was generated there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PlacedFile {
    /// Its path in the workspace; percent-encoded where it is not UTF-8.
    pub(crate) path: String,
    /// The digest of its content. For a generated file, an empty text means that the runtime may
    /// change it: it never counts as a stranger.
    pub(crate) sha256: String,
    /// Whether it was generated for this runtime, and belongs to no snapshot.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub(crate) made: bool,
}

impl PlacedFile {
    /// Describes a file of the snapshot at its path in the workspace.
    pub(crate) fn of(file: &SourceFile) -> Self {
        Self { path: spelled(&file.path), sha256: digest_of_node(&file.kind), made: false }
    }

    /// Describes a generated file that the runtime may change freely.
    pub(crate) fn made(path: &str) -> Self {
        Self { path: path.to_owned(), sha256: String::new(), made: true }
    }

    /// Describes a generated file; if its content changes later, it counts as a stranger.
    pub(crate) fn made_with(path: &str, content: &str) -> Self {
        Self { path: path.to_owned(), sha256: sha256_hex(content.as_bytes()), made: true }
    }
}

/// Returns the digest of a content or of a link's target; a folder has none.
fn digest_of_node(kind: &SourceKind) -> String {
    match kind {
        SourceKind::File { sha256, .. } => sha256.clone(),
        SourceKind::Symlink(target) => sha256_hex(target),
        SourceKind::Folder => String::new(),
    }
}

/// What a plan adds to the folder.
#[derive(Debug, Default)]
pub(crate) struct SidecarContent {
    /// Files of the snapshot that have no place in the workspace, by their position.
    pub(crate) aside: Vec<usize>,
    /// Files that have a place in the workspace.
    pub(crate) placed: Vec<PlacedFile>,
    /// What the records became.
    pub(crate) links: Vec<Link>,
}

/// A line of [`PLACED`].
#[derive(Debug, Serialize, Deserialize)]
struct FileLine {
    /// The path in the snapshot.
    path: String,
    /// The same in hexadecimal, where it is not UTF-8.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    path_hex: Option<String>,
    /// Where the snapshot has it: `raw/<runtime>`, `artifacts` or `other`; `None` if it was
    /// generated.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    root: Option<String>,
    /// Its path in the folder; without one, it is in the workspace.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    kept: Option<String>,
    #[serde(skip_serializing_if = "String::is_empty", default)]
    sha256: String,
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    redacted: bool,
}

/// Our field of the manifest.
#[derive(Debug, Serialize, Deserialize)]
struct Mark {
    version: u64,
    documents: Vec<String>,
}

/// Adds the folder to a draft; a plan does this last.
pub(crate) fn keep(
    machine: &Machine,
    source: &dyn SnapshotSource,
    keep: SidecarContent,
    draft: &mut PlanBuilder,
) -> Result<(), PlanError> {
    let mut folder = SidecarWriter {
        spool: Spooler::of(machine, draft)?,
        at: source.manifest().created_at.clone(),
        wanted: Vec::new(),
        documents: Vec::new(),
    };
    let read = PlanError::Source;
    folder.document(IDENTITY, source.identity().map_err(read)?)?;
    folder.document(PRINCIPALS, source.principals().map_err(read)?)?;
    folder.document(CREDENTIALS, source.credentials().map_err(read)?.map(named_only))?;
    folder.document(ATTACHMENTS, source.attachments().map_err(read)?)?;
    let records = folder.records(source)?;
    folder.lines(LINKS, keep.links.into_iter())?;
    let lines = folder.files(source, &keep.aside, keep.placed);
    folder.lines(PLACED, lines.into_iter())?;
    let mut manifest = source.manifest().clone();
    manifest.blank();
    // How the snapshot was read is of no use on the way back, and depends on the keys of one move.
    manifest.reading = None;
    let mark = Mark { version: VERSION, documents: folder.documents.clone() };
    let mark = serde_json::to_string(&mark).expect("a struct is JSON");
    manifest.unknown.insert(MARK, &mark).expect("it is one JSON value");
    folder.pretty(MANIFEST, &manifest)?;
    folder.text(README, readme(&manifest.agent.source_runtime, records, keep.aside.len()));
    let top = SIDECAR.as_bytes().to_vec();
    draft.wanted.push(PlannedFile::folder(top, Some(0o700), Some(folder.at.clone())));
    draft.wanted.append(&mut folder.wanted);
    folder.spool.finish(draft)
}

/// Returns credentials without their secrets: the key that seals them during a move is not kept,
/// and the secrets are in the store of the runtime.
fn named_only(mut credentials: Credentials) -> Credentials {
    for it in &mut credentials.credentials {
        NOT_EXPORTED.clone_into(&mut it.encrypted_payload);
        it.encryption = Encryption::none();
    }
    credentials
}

fn readme(runtime: &str, records: u64, files: usize) -> String {
    let mut text = String::new();
    write!(
        text,
        "# Where this agent came from\n\
         \n\
         This agent was moved here from {runtime}. What has no place in the runtime that it lives \
         in now is kept in this folder: {records} records as they were, with everything that is \
         known of each, and {files} files.\n\
         \n\
         The agent does not need the folder. Moving the agent back to {runtime} does: with it, \
         everything that did not change since comes back exactly. If you delete it, the memories \
         that the agent has now still come along, but the files in here and the details of each \
         record are lost.\n\
         \n\
         Read what you like, and do not edit it.\n\
         \n\
         - `manifest.json`: whose memories these were, and when\n\
         - `records.jsonl`: every record, one a line\n\
         - `links.jsonl`: what each record became here\n\
         - `placed.jsonl`: where each file lies now\n\
         - `files/`: files that have no place here\n"
    )
    .expect("a string takes any text");
    text
}

/// The folder while it is being assembled.
struct SidecarWriter {
    spool: Spooler,
    at: Moment,
    wanted: Vec<PlannedFile>,
    documents: Vec<String>,
}

impl SidecarWriter {
    fn add(&mut self, name: &str, pieces: Vec<Piece>) {
        let path = format!("{SIDECAR}/{name}").into_bytes();
        // Memories may be private.
        let mode = Some(0o600);
        self.wanted
            .push(PlannedFile { mode, ..PlannedFile::pieces(path, pieces, self.at.clone()) });
    }

    fn text(&mut self, name: &str, text: String) {
        self.add(name, vec![Piece::Text(text.into())]);
    }

    fn pretty<T: Serialize>(&mut self, name: &str, value: &T) -> Result<(), PlanError> {
        let unwritable = |error: serde_json::Error| PlanError::Source(error.into());
        let mut text = serde_json::to_string_pretty(value).map_err(unwritable)?;
        text.push('\n');
        self.text(name, text);
        Ok(())
    }

    fn document<T: Serialize>(&mut self, name: &str, value: Option<T>) -> Result<(), PlanError> {
        let Some(value) = value else { return Ok(()) };
        self.documents.push(name.to_owned());
        self.pretty(name, &value)
    }

    fn lines<T: Serialize>(
        &mut self,
        name: &str,
        lines: impl Iterator<Item = T>,
    ) -> Result<(), PlanError> {
        let start = self.spool.offset();
        for line in lines {
            self.spool.json_line(&line).map_err(PlanError::Scratch)?;
        }
        let piece = self.spool.since(start);
        self.add(name, vec![piece]);
        Ok(())
    }

    /// Writes every record; returns how many there are.
    fn records(&mut self, source: &dyn SnapshotSource) -> Result<u64, PlanError> {
        let start = self.spool.offset();
        let mut count = 0;
        let spool = &mut self.spool;
        each_record(source, &mut |record| {
            count += 1;
            spool.json_line(record)
        })?;
        let piece = self.spool.since(start);
        self.add(RECORDS, vec![piece]);
        Ok(count)
    }

    /// Puts files aside, and returns where each file of the snapshot is.
    fn files(
        &mut self,
        source: &dyn SnapshotSource,
        aside: &[usize],
        placed: Vec<PlacedFile>,
    ) -> Vec<FileLine> {
        let files = source.files();
        let mut lines = Vec::new();
        let by_path: BTreeMap<String, &SourceFile> = files
            .iter()
            .filter(|file| !is_in_sidecar(&file.path))
            .map(|file| (spelled(&file.path), file))
            .collect();
        for it in placed {
            let file = by_path.get(&it.path).filter(|_| !it.made);
            lines.push(FileLine {
                path_hex: file.and_then(|file| hex_of(&file.path)),
                root: if it.made {
                    None
                } else {
                    Some(file.map_or("artifacts".to_owned(), |file| root_of(&file.root)))
                },
                kept: None,
                sha256: it.sha256,
                redacted: file.is_some_and(|file| file.redacted),
                path: it.path,
            });
        }
        let mut taken: BTreeSet<Vec<u8>> = BTreeSet::new();
        for (number, index) in aside.iter().enumerate() {
            let Some(file) = files.get(*index) else { continue };
            let mut below = [FILES.as_bytes(), b"/", root_of(&file.root).as_bytes()].concat();
            below.push(b'/');
            below.extend_from_slice(&file.path);
            let depth = below.iter().filter(|byte| **byte == b'/').count();
            if below.len() > MAX_KEPT_BYTES || depth + 4 > MAX_DEPTH || taken.contains(&below) {
                below = format!("{FILES}/flat/{number}").into_bytes();
            }
            let path = [SIDECAR.as_bytes(), b"/", &below].concat();
            lines.push(FileLine {
                path: spelled(&file.path),
                path_hex: hex_of(&file.path),
                root: Some(root_of(&file.root)),
                kept: Some(spelled(&below)),
                sha256: digest_of_node(&file.kind),
                redacted: file.redacted,
            });
            self.wanted.push(PlannedFile { path, ..PlannedFile::carried(*index, file) });
            taken.insert(below);
        }
        lines
    }
}

/// Returns the root of a file as the folder has it.
fn root_of(root: &FileRoot) -> String {
    match root {
        FileRoot::Raw(runtime) => format!("raw/{runtime}"),
        FileRoot::Artifacts => "artifacts".to_owned(),
        FileRoot::Other => "other".to_owned(),
    }
}

/// Returns the bytes of a path that is not UTF-8.
fn hex_of(path: &[u8]) -> Option<String> {
    std::str::from_utf8(path).is_err().then(|| anemone_format::Hex(path).to_string())
}

/// Whether a path is the folder, or below it.
pub(crate) fn is_in_sidecar(path: &[u8]) -> bool {
    is_within(path, SIDECAR)
}

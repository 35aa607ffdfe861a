//! The manifest of a table: its columns, and the files of its rows.

use super::bytes::Bytes;
use super::deletions::DeletionFile;
use super::protobuf::{Message, as_signed};
use super::{LanceError, read_description};
use crate::kit::Workspace;

/// The ends of a manifest and of a data file.
pub(super) const MAGIC: &[u8] = b"LANC";
/// What a reader has to understand, as bits: deleted rows, lasting row ids, the second version of
/// the files, settings. None of them changes what the other rows are.
const KNOWN_FLAGS: u64 = 0b1111;
/// The number of files in the folder of versions that are looked at, at most.
const MAX_VERSIONS: usize = 1_000_000;

/// The part of a manifest that is needed to read rows.
#[derive(Debug)]
pub(super) struct Manifest {
    pub(super) fields: Vec<ManifestField>,
    pub(super) fragments: Vec<Fragment>,
}

/// A column of the table.
#[derive(Debug)]
pub(super) struct ManifestField {
    pub(super) id: i32,
    pub(super) name: String,
    pub(super) logical_type: String,
    /// Whether it is no part of another column.
    pub(super) is_whole: bool,
}

/// A set of rows.
#[derive(Debug)]
pub(super) struct Fragment {
    pub(super) id: u64,
    pub(super) files: Vec<FragmentFile>,
    pub(super) deletions: Option<DeletionFile>,
    pub(super) rows: u64,
}

/// A file with some columns of a fragment.
#[derive(Debug)]
pub(super) struct FragmentFile {
    pub(super) path: String,
    /// The ids of its columns.
    pub(super) fields: Vec<i32>,
    /// Where each of them is in the file.
    pub(super) columns: Vec<i32>,
}

impl Manifest {
    /// Reads the newest manifest of a table; `None` where there is none.
    pub(super) fn newest(store: &Workspace, table: &str) -> Result<Option<Self>, LanceError> {
        let folder = format!("{table}/_versions");
        let names = store.names(folder.as_bytes(), MAX_VERSIONS)?;
        let newest = names.iter().filter_map(|name| Some((version_of(name)?, name))).max();
        let Some((_, name)) = newest else { return Ok(None) };
        let bytes = read_description(store, format!("{folder}/{name}").as_bytes())?;
        Self::parse(&bytes).map(Some)
    }

    fn parse(bytes: &[u8]) -> Result<Self, LanceError> {
        let message = message_of(bytes)?;
        let flags = message.number(9);
        if flags & !KNOWN_FLAGS != 0 {
            return Err(LanceError::unsupported(format!("features {flags:#b} of the format")));
        }
        let fields = message.all(1).map(ManifestField::parse).collect::<Result<Vec<_>, _>>()?;
        let fragments = message.all(2).map(Fragment::parse);
        Ok(Self {
            fields: fields.into_iter().filter(|field| field.is_whole).collect(),
            fragments: fragments.collect::<Result<_, _>>()?,
        })
    }
}

/// Returns the message of a manifest.
pub(super) fn message_of(bytes: &[u8]) -> Result<Message<'_>, LanceError> {
    let damaged = || LanceError::Damaged("manifest");
    // The position of the message, the version of the format, and the magic.
    let footer = bytes.len().checked_sub(16).ok_or_else(damaged)?;
    if !bytes.ends_with(MAGIC) {
        return Err(damaged());
    }
    let start = Bytes(&bytes[footer..]).u64()?;
    let start = usize::try_from(start).ok().filter(|start| *start <= footer);
    let mut message = Bytes(&bytes[start.ok_or_else(damaged)?..footer]);
    let length = message.u32()? as usize;
    Message::parse(message.take(length)?)
}

/// Reads a version from the name of its manifest. Newer programs count down, in 20 digits, so that
/// the newest comes first.
fn version_of(name: &str) -> Option<u64> {
    let number = name.strip_suffix(".manifest")?;
    if number.is_empty() || !number.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let version: u64 = number.parse().ok()?;
    Some(if number.len() == 20 { u64::MAX - version } else { version })
}

impl ManifestField {
    pub(super) fn parse(bytes: &[u8]) -> Result<Self, LanceError> {
        let message = Message::parse(bytes)?;
        Ok(Self {
            id: message.signed(3),
            name: message.text(2)?.to_owned(),
            logical_type: message.text(5)?.to_owned(),
            is_whole: message.signed(4) == -1,
        })
    }
}

impl Fragment {
    fn parse(bytes: &[u8]) -> Result<Self, LanceError> {
        let message = Message::parse(bytes)?;
        let files = message.all(2).map(FragmentFile::parse).collect::<Result<_, _>>()?;
        let deletions = message.message(3)?.map(|file| DeletionFile::of(&file)).transpose()?;
        Ok(Self { id: message.number(1), files, deletions, rows: message.number(4) })
    }
}

impl FragmentFile {
    fn parse(bytes: &[u8]) -> Result<Self, LanceError> {
        let message = Message::parse(bytes)?;
        if message.number(7) != 0 {
            return Err(LanceError::unsupported("files outside of its folder"));
        }
        let signed = |numbers: Vec<u64>| numbers.into_iter().map(as_signed).collect();
        Ok(Self {
            path: message.text(1)?.to_owned(),
            fields: signed(message.numbers(2)?),
            columns: signed(message.numbers(3)?),
        })
    }
}

//! Finds the transcripts of an agent.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs::File;
use std::io::{self, BufReader, Read as _};
use std::path::Path;

use anemone_files::{FileKind, Folder};
use serde::Deserialize;
use serde_json::Value as Json;

use super::{SessionTally, unpack::MAX_UNPACKED_BYTES, unpack::unpacked};
use crate::kit::{DatabaseError, Line, Read, Value, is_name, read_line, short_digest};
use crate::openclaw::install::InstallDatabase;

/// Bytes of the list of conversations, at most.
const MAX_INDEX_BYTES: u64 = 64 << 20;
/// How much is read, at most, because it is kept in memory.
#[derive(Clone, Copy, Default)]
pub(super) struct ReadLimits {
    /// Files of one folder.
    pub(super) files: usize,
    /// Conversations of one table of the database.
    pub(super) rows: usize,
    /// Bytes of one transcript.
    pub(super) bytes: u64,
}

/// More than any user has.
pub(super) const MOST: ReadLimits =
    ReadLimits { files: 200_000, rows: 1_000_000, bytes: MAX_UNPACKED_BYTES };
/// An id that an old file states is cut to this.
const MAX_ID_CHARS: usize = 100;

/// Where the transcripts of each conversation are, besides the events in the database.
#[derive(Default)]
pub(super) struct TranscriptFiles {
    /// How much is read.
    pub(super) most: ReadLimits,
    /// Files and rows by conversation, in the order in which they are read.
    pub(super) by_session: BTreeMap<String, BTreeSet<TranscriptPlace>>,
    /// Old files by name; the database knows their conversations, or else the files state them.
    cold: BTreeSet<String>,
    /// The keys of conversations.
    pub(super) keys: HashMap<String, String>,
    sessions: Option<Folder>,
    cold_folder: Option<Folder>,
    imported: Option<Folder>,
}

/// One transcript. Rows of the database come before files.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum TranscriptPlace {
    /// A row of a table of packed transcripts, by the name of the archive.
    Row { table: &'static str, name: String },
    /// A file in the folder of conversations.
    File(String),
    /// An old file there.
    Cold(String),
    /// A file that was moved into the database.
    Imported(String),
}

impl TranscriptPlace {
    /// Names the transcript, the same in the database and in a file.
    pub(super) fn name(&self) -> String {
        let unpacked = |name: &str| part_of(name.strip_suffix(".zst").unwrap_or(name));
        match self {
            Self::Cold(name) | Self::Row { table: COLD_ARCHIVES, name } => {
                format!("cold/{}", unpacked(name))
            }
            Self::Row { name, .. } | Self::File(name) | Self::Imported(name) => unpacked(name),
        }
    }
}

const ARCHIVES: &str = "session_transcript_archives";
const COLD_ARCHIVES: &str = "session_transcript_cold_archives";

impl TranscriptFiles {
    /// Looks for files; `agent` is the folder that the install keeps of the agent.
    pub(super) fn find(
        install: &Path,
        agent: &Path,
        most: ReadLimits,
        tally: &mut SessionTally,
    ) -> Self {
        let mut places = Self { most, ..Self::default() };
        let root = match Folder::open(install) {
            Ok(root) => root,
            Err(error) => {
                tally.warn(install, &error);
                return places;
            }
        };
        // Links that lead out of the install are not followed.
        let mut open = |name: &str, is_wanted: fn(&str) -> bool| {
            let path = agent.join(name);
            let shown = install.join(&path);
            match root.folder_beneath(&path) {
                Ok(folder) => {
                    let names = names(&folder, &shown, most.files, is_wanted, tally);
                    (Some(folder), names)
                }
                Err(error) if error.kind() == io::ErrorKind::NotFound => (None, BTreeSet::new()),
                Err(error) => {
                    tally.warn(&shown, &error);
                    (None, BTreeSet::new())
                }
            }
        };
        let is_transcript = |name: &str| session_of(name).is_some();
        let (sessions, files) = open("sessions", is_transcript);
        // Cold transcripts are identified by their content.
        let (cold_folder, cold) = match &sessions {
            Some(_) => open("sessions/cold", |_| true),
            None => (None, BTreeSet::new()),
        };
        let (imported, imports) = open("session-sqlite-import-archive", is_transcript);
        places.keys = sessions.as_ref().map(keys_of).unwrap_or_default();
        (places.sessions, places.cold_folder, places.imported) = (sessions, cold_folder, imported);
        places.cold = cold;
        let files = files.into_iter().map(TranscriptPlace::File);
        for place in files.chain(imports.into_iter().map(TranscriptPlace::Imported)) {
            if let TranscriptPlace::File(name) | TranscriptPlace::Imported(name) = &place
                && let Some(session_id) = session_of(name)
            {
                places.by_session.entry(session_id.to_owned()).or_default().insert(place);
            }
        }
        places
    }

    /// Adds what the agent's database lists.
    pub(super) fn add_database(
        &mut self,
        database: &InstallDatabase,
        tally: &mut SessionTally,
    ) -> Result<(), DatabaseError> {
        let most = self.most.rows;
        let read =
            Read::of("session_windows", &["session_id", "session_key"]).ordered_by(&["session_id"]);
        for (count, row) in database.rows(&read)?.into_iter().flatten().enumerate() {
            if count == most {
                let what = format!("only the first {most} rows of session_windows are read");
                tally.warn(database.path(), &what);
                break;
            }
            if let [Value::Text(session_id), Value::Text(key)] = row?.as_slice() {
                self.keys.insert(session_id.clone(), key.clone());
            }
        }
        for table in [ARCHIVES, COLD_ARCHIVES] {
            let read = Read::of(table, &["session_id", "archive_name", "storage"])
                .ordered_by(&["archive_name"]);
            let mut left_out: u64 = 0;
            for (count, row) in database.rows(&read)?.into_iter().flatten().enumerate() {
                let row = row?;
                if count >= most {
                    left_out += 1;
                    continue;
                }
                let [Value::Text(session_id), Value::Text(name), storage] = row.as_slice() else {
                    continue;
                };
                let place = if storage.as_text() == Some("file") {
                    if !self.cold.remove(name) {
                        continue;
                    }
                    TranscriptPlace::Cold(name.clone())
                } else {
                    TranscriptPlace::Row { table, name: name.clone() }
                };
                self.by_session.entry(session_id.clone()).or_default().insert(place);
            }
            if left_out > 0 {
                tally.counts.undecodable += left_out;
                let what = format!("only the first {most} rows of {table} are taken");
                tally.warn(database.path(), &what);
            }
        }
        Ok(())
    }

    /// Reads the conversation of each old file that the database does not list from its first line.
    pub(super) fn name_cold(&mut self, tally: &mut SessionTally) {
        for name in std::mem::take(&mut self.cold) {
            let place = TranscriptPlace::Cold(name);
            match self.open(&place).ok().and_then(header_of) {
                Some(session_id) => {
                    self.by_session.entry(session_id).or_default().insert(place);
                }
                None => tally.counts.undecodable += 1,
            }
        }
    }

    /// Returns the conversations that were not read yet.
    pub(super) fn remaining(&self) -> Vec<String> {
        self.by_session.keys().cloned().collect()
    }

    /// Opens a transcript that is a file.
    pub(super) fn open(&self, place: &TranscriptPlace) -> io::Result<File> {
        let absent = || io::Error::from(io::ErrorKind::NotFound);
        match place {
            TranscriptPlace::File(name) => self.sessions.as_ref().ok_or_else(absent)?.file(name),
            TranscriptPlace::Cold(name) => self.cold_folder.as_ref().ok_or_else(absent)?.file(name),
            TranscriptPlace::Imported(name) => {
                self.imported.as_ref().ok_or_else(absent)?.file(name)
            }
            TranscriptPlace::Row { .. } => Err(absent()),
        }
    }
}

/// Lists the plain files of a folder that are wanted: the first ones by name, if there are too
/// many. Wanted files that cannot be read are counted, and reported in one line for each reason.
fn names(
    folder: &Folder,
    shown: &Path,
    most: usize,
    is_wanted: fn(&str) -> bool,
    tally: &mut SessionTally,
) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let (mut unlisted, mut odd, mut left_out) = (0_u64, 0_u64, 0_u64);
    let mut failure = None;
    match folder.entries() {
        Ok(entries) => {
            for entry in entries {
                let entry = entry.and_then(|entry| Ok((folder.kind_of(&entry)?, entry)));
                let (kind, entry) = match entry {
                    Ok(entry) => entry,
                    // The file was deleted after it was listed.
                    Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                    Err(error) => {
                        unlisted += 1;
                        failure = Some(error);
                        continue;
                    }
                };
                if kind == FileKind::Folder || !is_wanted(&entry.name().to_string_lossy()) {
                    continue;
                }
                match entry.name().to_str() {
                    Some(name) if kind == FileKind::File => {
                        names.insert(name.to_owned());
                    }
                    _ => odd += 1,
                }
                if names.len() > most {
                    names.pop_last();
                    left_out += 1;
                }
            }
        }
        Err(error) => {
            unlisted += 1;
            failure = Some(error);
        }
    }
    tally.counts.undecodable += unlisted + odd + left_out;
    if let Some(error) = failure {
        tally.warn(shown, &error);
    }
    if odd > 0 {
        let what = format!("{odd} files are links, or are no plain files with a plain name");
        tally.warn(shown, &what);
    }
    if left_out > 0 {
        tally.warn(shown, &format!("only the first {most} files are taken"));
    }
    names
}

/// Reads the conversation's id from the name of its file: `<id>.jsonl`, with a suffix if the
/// conversation ended, was archived or was moved into the database.
fn session_of(name: &str) -> Option<&str> {
    let (session_id, rest) = name.split_once(".jsonl")?;
    let rest = rest.strip_suffix(".zst").unwrap_or(rest);
    let known = [".reset.", ".deleted.", ".bak.", ".imported-"];
    let is_transcript = rest.is_empty() || known.iter().any(|known| rest.starts_with(known));
    (is_transcript && !session_id.is_empty()).then_some(session_id)
}

/// Reads the keys of conversations from the list that gen-3 keeps.
fn keys_of(folder: &Folder) -> HashMap<String, String> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct ListedSession {
        session_id: Option<String>,
    }

    let Ok(file) = folder.file("sessions.json") else { return HashMap::new() };
    let input = BufReader::new(file.take(MAX_INDEX_BYTES));
    let entries: BTreeMap<String, ListedSession> =
        serde_json::from_reader(input).unwrap_or_default();
    let with_id = |(key, entry): (String, ListedSession)| Some((entry.session_id?, key));
    entries.into_iter().filter_map(with_id).collect()
}

/// Reads one packed transcript out of the database.
pub(super) fn row_of(
    database: Option<&InstallDatabase>,
    table: &str,
    name: &str,
) -> Option<Box<dyn io::Read>> {
    let read = Read::of(table, &["archive_blob"]).only("archive_name", name);
    let row = database?.rows(&read).ok()??.next()?.ok()?;
    match row.into_iter().next()? {
        Value::OddText(bytes) | Value::Blob(bytes) => Some(Box::new(io::Cursor::new(bytes))),
        Value::Text(text) => Some(Box::new(io::Cursor::new(text.into_bytes()))),
        Value::Null | Value::Integer(_) | Value::Real(_) | Value::TooLong(_) => None,
    }
}

/// Reads the conversation's id from the first line of a transcript.
fn header_of(file: File) -> Option<String> {
    let mut input = unpacked(Box::new(file), MAX_UNPACKED_BYTES).ok()?;
    let mut line = Vec::new();
    let Ok(Line::Text) = read_line(&mut input, &mut line) else { return None };
    let header: Json = serde_json::from_slice(&line).ok()?;
    let is_header = header.get("type").and_then(Json::as_str) == Some("session");
    let id = header.get("id").and_then(Json::as_str).filter(|id| is_header && is_name(id))?;
    Some(id.chars().take(MAX_ID_CHARS).collect())
}

/// Makes a name one part of a path. A name that had to be changed gets a digest, to stay unique.
pub(super) fn part_of(name: &str) -> String {
    let odd = |char: char| char.is_control() || matches!(char, '/' | '\\');
    if !name.contains(odd) && is_name(name) {
        return name.to_owned();
    }
    format!("{}-{:08x}", name.replace(odd, "_"), short_digest(name.as_bytes()) >> 32)
}

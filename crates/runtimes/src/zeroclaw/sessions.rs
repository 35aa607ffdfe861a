//! Conversations, from everywhere ZeroClaw keeps them, as records.
//!
//! | place | what |
//! |---|---|
//! | `sessions/sessions.db` | since March 2026 |
//! | `sessions/<key>.jsonl` | before that; `.jsonl.migrated` once it is in the database |
//! | `sessions/acp-sessions.db` | with editors |
//! | `sessions/archive/` | any of them, when it is old |
//!
//! The folder is in the workspace, since 0.8 in `data` of the install. There it holds the
//! conversations of all agents; one that names no agent belongs to the default one. The same
//! message may be in the database and in a file; it is taken from the database. Secrets are
//! replaced in any case.

mod session_record;

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::io::{self, BufReader, Read as _};
use std::path::{Path, PathBuf};

use anemone_files::{FileStat, Folder};
use anemone_format::{Moment, Record};
use serde::Deserialize;

use super::{DEFAULT_ALIAS, layout::generation, rows::ReadingContext, transcript::calls_in};
use crate::kit::{
    Database, DatabaseError, FoundAgent, Line, Machine, Read, Rows, SessionCounts, SessionText,
    Value, Warning, is_name, lossy, mtime_of, path_bytes, read_line, short_digest, times,
};
use anemone_secrets as secrets;
use session_record::Conversation;

/// More files or conversations than an install has; their names are kept in memory.
const MOST: usize = 200_000;
/// The most that is read of one file.
const MAX_FILE_BYTES: u64 = 1 << 30;
/// The longest key that is taken as it is.
const MAX_KEY_BYTES: usize = 200;

/// Yields the messages of an agent's conversations as records; conversations that belong to one
/// person are only included if `private` says so.
pub(super) fn records<E>(
    machine: &Machine,
    agent: &FoundAgent,
    shared: &ReadingContext<'_>,
    private: bool,
    take: &mut dyn FnMut(Record) -> Result<(), E>,
) -> Result<SessionReading, E> {
    records_limited(machine, agent, shared, private, MOST, take)
}

fn records_limited<E>(
    machine: &Machine,
    agent: &FoundAgent,
    shared: &ReadingContext<'_>,
    private: bool,
    most: usize,
    take: &mut dyn FnMut(Record) -> Result<(), E>,
) -> Result<SessionReading, E> {
    let (root, is_shared) = root_of(agent);
    let mut reader = SessionReader {
        machine,
        alias: is_shared.then_some(agent.alias.as_str()),
        shared,
        private,
        most,
        take,
        counts: SessionCounts::default(),
        warnings: Vec::new(),
        files: BTreeMap::new(),
        metadata: HashMap::new(),
        done: HashMap::new(),
        not_taken: SkippedSessions::default(),
    };
    let Some(folders) = reader.folders(&root) else {
        return Ok(reader.into_reading());
    };
    for (index, (folder, path)) in folders.iter().enumerate() {
        reader.find_files(index, folder, path);
    }
    for (folder, path) in &folders {
        reader.database(folder, path, &folders)?;
        reader.editors(folder, path)?;
    }
    for key in reader.files.keys().cloned().collect::<Vec<_>>() {
        reader.remaining(&key, &folders)?;
    }
    reader.note_not_taken(&root);
    Ok(reader.into_reading())
}

/// Reads rows; `None` where the table does not exist.
pub(super) fn rows_if_any(database: &Database, read: &Read) -> Result<Option<Rows>, DatabaseError> {
    match database.rows(read) {
        Err(DatabaseError::NoTable { .. }) => Ok(None),
        rows => rows.map(Some),
    }
}

/// Returns the folder that contains `sessions`, and whether that holds the conversations of all
/// agents.
pub(super) fn root_of(agent: &FoundAgent) -> (PathBuf, bool) {
    match &agent.install {
        Some(install) if agent.generation == Some(generation::DATA) => (install.join("data"), true),
        _ => (agent.workspace.clone(), false),
    }
}

/// A transcript in a file, by its folder and name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Transcript {
    folder: usize,
    name: String,
}

/// What the database knows about a conversation.
#[derive(Clone, Debug, Default)]
pub(super) struct Metadata {
    name: Option<String>,
    created_at: Option<Moment>,
    pub(super) alias: Option<String>,
    pub(super) private: bool,
}

impl Metadata {
    pub(super) const TABLE: &str = "session_metadata";
    pub(super) const COLUMNS: [&str; 5] =
        ["session_key", "name", "created_at", "agent_alias", "principal_id"];

    /// Reads a row with these columns, whatever its key is.
    pub(super) fn of(row: &[Value]) -> Option<Self> {
        let [_, name, created_at, alias, principal] = row else { return None };
        let text =
            |value: &Value| value.as_text().filter(|text| !text.is_empty()).map(str::to_owned);
        Some(Self {
            name: text(name),
            created_at: times::in_cell(created_at),
            alias: text(alias),
            private: *principal != Value::Null,
        })
    }
}

/// The results of reading conversations besides the records.
pub(super) struct SessionReading {
    pub(super) counts: SessionCounts,
    pub(super) warnings: Vec<Warning>,
    pub(super) skipped: SkippedSessions,
}

/// Counts of conversations that are not read.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SkippedSessions {
    /// They have no owner and belong to the default agent.
    unowned: u64,
    /// They belong to one person only.
    pub(super) private: u64,
    /// Files and folders with conversations that cannot be read.
    pub(super) unreadable: u64,
}

/// Whether a conversation is read.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Ownership {
    Ours,
    Others,
    Unowned,
    Private,
}

/// Returns the owner of a conversation that names an agent or none. `ours` is `None` where there is
/// only one agent.
pub(super) fn ownership(ours: Option<&str>, alias: Option<&str>, is_private: bool) -> Ownership {
    match (ours, alias) {
        _ if is_private => Ownership::Private,
        (None, _) => Ownership::Ours,
        (Some(ours), Some(alias)) if alias == ours => Ownership::Ours,
        (Some(_), Some(_)) => Ownership::Others,
        (Some(DEFAULT_ALIAS), None) => Ownership::Ours,
        (Some(_), None) => Ownership::Unowned,
    }
}

/// Reads conversations and yields records.
struct SessionReader<'a, E> {
    machine: &'a Machine,
    /// The agent they must belong to; `None` where there is only one agent.
    alias: Option<&'a str>,
    shared: &'a ReadingContext<'a>,
    private: bool,
    most: usize,
    take: &'a mut dyn FnMut(Record) -> Result<(), E>,
    counts: SessionCounts,
    warnings: Vec<Warning>,
    /// Files by the key of their conversation.
    files: BTreeMap<String, Vec<Transcript>>,
    metadata: HashMap<String, Metadata>,
    /// How many records each conversation that was read gave; it may be in several databases.
    done: HashMap<u64, u64>,
    not_taken: SkippedSessions,
}

/// What happens with a conversation whose messages begin.
enum ConversationStart {
    Taken(Box<Conversation>),
    Skipped,
    /// Its owner is unknown.
    Unknown,
}

/// The messages of a conversation that were taken, each with how often.
type TakenMessages = HashMap<u64, u64>;

impl<'a, E> SessionReader<'a, E> {
    fn into_reading(self) -> SessionReading {
        let Self { counts, warnings, not_taken: skipped, .. } = self;
        SessionReading { counts, warnings, skipped }
    }

    /// Opens the folder of conversations and the one of old ones. Links that lead out of the root
    /// are not followed.
    fn folders(&mut self, root: &Path) -> Option<Vec<(Folder, PathBuf)>> {
        let dir = Folder::open(root).ok()?;
        let mut folders = Vec::new();
        for name in ["sessions", "sessions/archive"] {
            let path = root.join(name);
            match dir.folder_beneath(Path::new(name)) {
                Ok(folder) => folders.push((folder, path)),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => self.warn(&path, &error),
            }
        }
        Some(folders)
    }

    fn warn(&mut self, path: &Path, error: &dyn std::fmt::Display) {
        let path = Some(path.to_string_lossy().into_owned());
        // Every table of a damaged database gives the same warning.
        if self.warnings.last().is_some_and(|warning| warning.path == path) {
            return;
        }
        self.not_taken.unreadable += 1;
        let message = format!("conversations are missing: {error}");
        self.warnings.push(Warning { code: "sessions_unreadable", path, message });
    }

    /// Notes the transcripts of a folder by their conversation.
    fn find_files(&mut self, index: usize, folder: &Folder, path: &Path) {
        let entries = match folder.entries() {
            Ok(entries) => entries,
            Err(error) => return self.warn(path, &error),
        };
        let mut names: Vec<String> = Vec::new();
        let mut left_out: u64 = 0;
        for entry in entries {
            let entry = match entry {
                Ok(entry) => entry,
                Err(error) => {
                    self.warn(path, &error);
                    break;
                }
            };
            let Some(name) = entry.name().to_str() else {
                // The runtime never creates a name that is not UTF-8.
                let name = lossy(&path_bytes(entry.name()));
                self.counts.undecodable += u64::from(key_of(&name).is_some());
                continue;
            };
            if key_of(name).is_none() {
                continue;
            }
            if names.len() >= self.most {
                left_out += 1;
                continue;
            }
            names.push(name.to_owned());
        }
        if left_out > 0 {
            self.counts.undecodable += left_out;
            let most = self.most;
            self.warn(path, &format!("only the first {most} files are read"));
        }
        names.sort_unstable();
        for name in names {
            if let Some(key) = key_of(&name) {
                let files = self.files.entry(key.to_owned()).or_default();
                files.push(Transcript { folder: index, name });
            }
        }
    }

    fn open(&mut self, folder: &Folder, path: &Path, name: &str) -> Option<Database> {
        // A link may lead anywhere.
        folder.file(name).ok()?;
        match Database::open(self.machine, &path.join(name)) {
            Ok(database) => Some(database),
            Err(error) => {
                self.warn(&path.join(name), &error);
                None
            }
        }
    }

    fn rows(&mut self, database: &Database, path: &Path, read: &Read) -> Option<Rows> {
        rows_if_any(database, read).unwrap_or_else(|error| {
            self.warn(path, &error);
            None
        })
    }

    /// Reads the database of conversations, and after each conversation its messages in files.
    fn database(
        &mut self,
        folder: &Folder,
        path: &Path,
        folders: &[(Folder, PathBuf)],
    ) -> Result<(), E> {
        const NAME: &str = "sessions.db";
        let Some(database) = self.open(folder, path, NAME) else { return Ok(()) };
        let path = path.join(NAME);
        self.read_metadata(&database, &path);
        self.read_receipts(&database, &path);
        let read = Read::of("sessions", &["session_key", "role", "content", "created_at"])
            .ordered_by(&["session_key", "id"]);
        let Some(rows) = self.rows(&database, &path, &read) else { return Ok(()) };
        self.messages(rows, &path, Some(folders), &|reader, key| {
            let Some(key) = key.as_text() else { return ConversationStart::Unknown };
            if reader.is_taken(key) {
                return ConversationStart::Taken(Box::new(reader.known_conversation(key)));
            }
            reader.files.remove(key);
            ConversationStart::Skipped
        })
    }

    /// Reads messages, in the order of their conversations. Each row has the conversation, the
    /// role, the content, the time, and what does not travel. `folders` are those of files that may
    /// repeat the messages.
    fn messages(
        &mut self,
        rows: Rows,
        path: &Path,
        folders: Option<&[(Folder, PathBuf)]>,
        start: &dyn Fn(&mut Self, &Value) -> ConversationStart,
    ) -> Result<(), E> {
        let mut current: Option<(Value, ConversationStart)> = None;
        let mut taken = TakenMessages::default();
        for row in rows {
            let row = match row {
                Ok(row) => row,
                Err(error) => {
                    self.warn(path, &error);
                    break;
                }
            };
            let [key, role, content, created_at, left @ ..] = row.as_slice() else { continue };
            if current.as_ref().is_none_or(|(known, _)| known != key) {
                if let Some((_, ConversationStart::Taken(conversation))) = current.take() {
                    self.finish(*conversation, std::mem::take(&mut taken), folders)?;
                }
                current = Some((key.clone(), start(self, key)));
            }
            let conversation = match &mut current {
                Some((_, ConversationStart::Taken(conversation))) => conversation,
                Some((_, ConversationStart::Unknown)) => {
                    self.counts.undecodable += 1;
                    continue;
                }
                Some((_, ConversationStart::Skipped)) | None => continue,
            };
            self.counts.events += 1;
            self.counts.dropped +=
                left.iter().filter(|value| **value != Value::Null).count() as u64;
            let (Value::Text(role), Value::Text(content)) = (role, content) else {
                self.counts.undecodable += 1;
                continue;
            };
            // Only files repeat messages.
            if folders.is_some() && self.files.contains_key(&conversation.key) {
                *taken.entry(digest(role, content)).or_default() += 1;
            }
            if let Some(text) = spoken(role, content, &mut self.counts) {
                let record = conversation.say(&text, times::in_cell(created_at), self.shared);
                record.map_or(Ok(()), &mut self.take)?;
            }
        }
        match current {
            Some((_, ConversationStart::Taken(conversation))) => {
                self.finish(*conversation, taken, folders)
            }
            _ => Ok(()),
        }
    }

    fn read_metadata(&mut self, database: &Database, path: &Path) {
        let read = Read::of(Metadata::TABLE, &Metadata::COLUMNS).ordered_by(&["session_key"]);
        let Some(rows) = self.rows(database, path, &read) else { return };
        for row in rows {
            let row = match row {
                Ok(row) => row,
                Err(error) => return self.warn(path, &error),
            };
            let (Some(Value::Text(key)), Some(metadata)) = (row.first(), Metadata::of(&row)) else {
                self.counts.undecodable += 1;
                continue;
            };
            if self.metadata.len() >= self.most {
                let most = self.most;
                return self.warn(path, &format!("only the first {most} are known"));
            }
            self.metadata.entry(key.clone()).or_insert(metadata);
        }
    }

    /// Learns from which file a conversation was moved into the database.
    fn read_receipts(&mut self, database: &Database, path: &Path) {
        let read = Read::of("jsonl_import_receipts", &["source_name", "session_key"])
            .ordered_by(&["source_name"]);
        let Some(rows) = self.rows(database, path, &read) else { return };
        for row in rows {
            match row.as_deref() {
                Ok([Value::Text(name), Value::Text(key)]) => {
                    let Some(named) = key_of(name).filter(|named| named != key) else { continue };
                    if let Some(files) = self.files.remove(named) {
                        self.files.entry(key.clone()).or_default().extend(files);
                    }
                }
                Ok(_) => {}
                Err(error) => return self.warn(path, error),
            }
        }
    }

    /// Returns whether a conversation is to be read, and counts it otherwise.
    fn is_taken(&mut self, key: &str) -> bool {
        let metadata = self.metadata.get(key);
        let alias = metadata.and_then(|metadata| metadata.alias.as_deref());
        let is_private = !self.private && metadata.is_some_and(|metadata| metadata.private);
        let ownership = ownership(self.alias, alias, is_private);
        self.count(ownership)
    }

    fn count(&mut self, ownership: Ownership) -> bool {
        match ownership {
            Ownership::Ours => return true,
            Ownership::Others => {}
            Ownership::Unowned => self.not_taken.unowned += 1,
            Ownership::Private => self.not_taken.private += 1,
        }
        false
    }

    fn known_conversation(&self, key: &str) -> Conversation {
        let metadata = self.metadata.get(key).cloned().unwrap_or_default();
        self.conversation(key, format!("sessions/{}.jsonl", part_of(key)), metadata)
    }

    /// Begins a conversation, or continues after the records that another place gave of it.
    fn conversation(&self, key: &str, origin_file: String, metadata: Metadata) -> Conversation {
        Conversation {
            key: key.to_owned(),
            name: metadata.name,
            origin_file,
            opened_at: metadata.created_at,
            private: metadata.private,
            records: self.done.get(&short_digest(key.as_bytes())).copied().unwrap_or(0),
            text: SessionText::default(),
        }
    }

    /// Ends a conversation with its messages in files.
    fn finish(
        &mut self,
        mut conversation: Conversation,
        mut taken: TakenMessages,
        folders: Option<&[(Folder, PathBuf)]>,
    ) -> Result<(), E> {
        if let Some(folders) = folders {
            for file in self.files.remove(&conversation.key).unwrap_or_default() {
                self.lines(&mut conversation, &file, &mut taken, folders)?;
            }
        }
        let record = conversation.flush(self.shared);
        record.map_or(Ok(()), &mut self.take)?;
        let records = conversation.records;
        let digest = short_digest(conversation.key.as_bytes());
        let before = self.done.insert(digest, records).unwrap_or(0);
        self.counts.transcripts += u64::from(records > before);
        Ok(())
    }

    /// Reads a conversation that is only in files.
    fn remaining(&mut self, key: &str, folders: &[(Folder, PathBuf)]) -> Result<(), E> {
        if !self.is_taken(key) {
            return Ok(());
        }
        let conversation = self.known_conversation(key);
        self.finish(conversation, TakenMessages::default(), Some(folders))
    }

    /// Reads a file, without the messages that were already taken.
    fn lines(
        &mut self,
        conversation: &mut Conversation,
        file: &Transcript,
        taken: &mut TakenMessages,
        folders: &[(Folder, PathBuf)],
    ) -> Result<(), E> {
        let (folder, path) = &folders[file.folder];
        let path = path.join(&file.name);
        let opened = folder.file(&file.name).and_then(|file| Ok((FileStat::of(&file)?, file)));
        let (stat, input) = match opened {
            Ok(opened) => opened,
            Err(error) => {
                self.counts.undecodable += 1;
                self.warn(&path, &error);
                return Ok(());
            }
        };
        // Lines have no time; the file was last written with the last message.
        let at = mtime_of(&stat);
        if conversation.opened_at.is_none() {
            conversation.opened_at.clone_from(&at);
        }
        let mut input = BufReader::with_capacity(64 << 10, input.take(MAX_FILE_BYTES));
        let mut line = Vec::new();
        // A message that this file has twice was sent twice.
        let mut before = std::mem::take(taken);
        loop {
            match read_line(&mut input, &mut line) {
                Ok(Line::End) => break,
                Ok(Line::Text) if line.trim_ascii().is_empty() => continue,
                Ok(Line::Text) => {}
                Ok(Line::TooLong) => {
                    self.counts.events += 1;
                    self.counts.undecodable += 1;
                    continue;
                }
                Err(error) => {
                    self.warn(&path, &error);
                    break;
                }
            }
            self.counts.events += 1;
            let Ok(message) = serde_json::from_slice::<TranscriptMessage>(&line) else {
                self.counts.undecodable += 1;
                continue;
            };
            let digest = digest(&message.role, &message.content);
            *taken.entry(digest).or_default() += 1;
            if let Some(count) = before.get_mut(&digest).filter(|count| **count > 0) {
                *count -= 1;
                self.counts.duplicates += 1;
                continue;
            }
            if let Some(text) = spoken(&message.role, &message.content, &mut self.counts) {
                let record = conversation.say(&text, None, self.shared);
                record.map_or(Ok(()), &mut self.take)?;
            }
        }
        if stat.size > MAX_FILE_BYTES {
            self.warn(&path, &format!("only the first {MAX_FILE_BYTES} bytes are read"));
        }
        // A message in an earlier place that is missing here is still known.
        for (digest, count) in before {
            *taken.entry(digest).or_default() += count;
        }
        Ok(())
    }

    /// Reads the database of conversations with editors.
    fn editors(&mut self, folder: &Folder, path: &Path) -> Result<(), E> {
        const NAME: &str = "acp-sessions.db";
        let Some(database) = self.open(folder, path, NAME) else { return Ok(()) };
        let path = path.join(NAME);
        let sessions = self.editor_sessions(&database, &path);
        let columns = ["session_id", "role", "content", "created_at", "reasoning_content"];
        let read = Read::of("acp_messages", &columns).ordered_by(&["session_id", "id"]);
        let Some(rows) = self.rows(&database, &path, &read) else { return Ok(()) };
        self.messages(rows, &path, None, &|reader, id| {
            let session = match id {
                Value::Integer(id) => sessions.get(id),
                _ => None,
            };
            let (uuid, metadata) = match session {
                Some(Some(ours)) => ours,
                Some(None) => return ConversationStart::Skipped,
                None => return ConversationStart::Unknown,
            };
            let origin_file = format!("sessions/acp/{}", part_of(uuid));
            ConversationStart::Taken(Box::new(reader.conversation(
                uuid,
                origin_file,
                metadata.clone(),
            )))
        })
    }

    /// Returns the name of each conversation with an editor, and what is known about it; `None` for
    /// one that is not ours.
    fn editor_sessions(
        &mut self,
        database: &Database,
        path: &Path,
    ) -> HashMap<i64, Option<(String, Metadata)>> {
        let columns = ["id", "session_uuid", "agent_alias", "created_at", "principal_id"];
        let read = Read::of("acp_sessions", &columns).ordered_by(&["id"]);
        let mut sessions = HashMap::new();
        let Some(rows) = self.rows(database, path, &read) else { return sessions };
        for row in rows {
            match row.as_deref() {
                Ok([Value::Integer(id), Value::Text(uuid), alias, created_at, principal]) => {
                    if sessions.len() >= self.most {
                        let most = self.most;
                        self.warn(path, &format!("only the first {most} are read"));
                        break;
                    }
                    let ownership = match (self.alias, alias.as_text()) {
                        _ if !self.private && *principal != Value::Null => Ownership::Private,
                        (Some(ours), alias) if alias != Some(ours) => Ownership::Others,
                        _ => Ownership::Ours,
                    };
                    let ours = self.count(ownership);
                    let metadata = Metadata {
                        created_at: times::in_cell(created_at),
                        private: *principal != Value::Null,
                        ..Metadata::default()
                    };
                    sessions.insert(*id, ours.then(|| (uuid.clone(), metadata)));
                }
                Ok(_) => self.counts.undecodable += 1,
                Err(error) => {
                    self.warn(path, error);
                    break;
                }
            }
        }
        sessions
    }

    fn note_not_taken(&mut self, root: &Path) {
        let SkippedSessions { unowned, private, .. } = self.not_taken;
        let notes = [
            ("sessions_unowned", unowned, format!("name no agent; they go with `{DEFAULT_ALIAS}`")),
            (
                "sessions_private",
                private,
                "belong to one person only, and do not travel".to_owned(),
            ),
        ];
        for (code, count, what) in notes {
            if count > 0 {
                let message = format!("{count} conversations {what}");
                self.warnings.push(Warning::about(code, root.join("sessions").display(), message));
            }
        }
    }
}

/// Reads the conversation's key from the name of its file.
fn key_of(name: &str) -> Option<&str> {
    let stem = name.strip_suffix(".migrated").unwrap_or(name).strip_suffix(".jsonl")?;
    (!stem.is_empty()).then_some(stem)
}

/// Returns a key as one unique part of a path.
fn part_of(key: &str) -> Cow<'_, str> {
    let plain = is_name(key) && key.len() <= MAX_KEY_BYTES && !key.chars().any(char::is_control);
    if plain {
        return Cow::Borrowed(key);
    }
    let kept: String = key.chars().filter(|c| c.is_alphanumeric()).take(40).collect();
    Cow::Owned(format!("{kept}~{:016x}", short_digest(key.as_bytes())))
}

/// A line of a file.
#[derive(Deserialize)]
struct TranscriptMessage {
    role: String,
    content: String,
}

fn digest(role: &str, content: &str) -> u64 {
    short_digest(format!("{role}\n{content}").as_bytes())
}

/// Returns a message as text, such as `user: …`; `None` when it has none. The results of tools are
/// not memories, and the program's instructions to the model are not part of the conversation.
fn spoken(role: &str, content: &str, counts: &mut SessionCounts) -> Option<String> {
    let text = match role {
        "user" | "assistant" => {
            let said = without_calls(role, content, counts);
            let said = said.trim();
            if said.is_empty() {
                return None;
            }
            let hits = secrets::scan(said.as_bytes());
            counts.redacted += hits.len() as u64;
            format!("{role}: {}", lossy(&secrets::redact(said.as_bytes(), &hits)))
        }
        "tool" => "[tool result]".to_owned(),
        _ => {
            counts.dropped += 1;
            return None;
        }
    };
    counts.messages += 1;
    Some(text)
}

/// The program stores an answer that calls tools as JSON, with the text in it.
fn without_calls<'a>(role: &str, content: &'a str, counts: &mut SessionCounts) -> Cow<'a, str> {
    let is_json = role == "assistant" && content.trim_start().starts_with('{');
    let Some((calls, said)) = is_json.then(|| calls_in(content)).flatten() else {
        return Cow::Borrowed(content);
    };
    counts.dropped += calls;
    Cow::Owned(said)
}

#[cfg(test)]
mod tests;

//! The end of one conversation of an agent: from its database (gen-9), or from its file (gen-3).
//!
//! In files a session may have several: one for each topic of a group (`<session>-topic-<n>.jsonl`),
//! and those that a reset put away (`<session>.jsonl.reset.<time>`). Where no session is named, the
//! one that a person took part in last is read, as OpenClaw's own hook does.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use anemone_files::{FileTime, Folder};
use anemone_memory::SessionKind;

use super::transcript::{FORMAT, channel_in, listed_of_key};
use super::{install::InstallDatabase, install::agent_folder, sessions::unpacked_event};
use crate::kit::{
    Conversation, DatabaseError, FoundAgent, Machine, Reach, Read, ReadConversationError,
    SessionFacts, Value, is_name, read_events, read_file,
};

/// So many of the newest conversations are looked at for one in which something was said.
const LOOKED_AT: usize = 16;

/// Reads the end of a session, by its id or its key; `None` is the last conversation.
pub(super) fn read(
    machine: &Machine,
    agent: &FoundAgent,
    session: Option<&str>,
    reach: Reach,
) -> Result<Conversation, ReadConversationError> {
    if let Some(path) = &agent.database {
        let fail = |source: DatabaseError| ReadConversationError::Database {
            path: path.clone(),
            source: Box::new(source),
        };
        if let Some(database) = InstallDatabase::open(machine, path).map_err(fail)? {
            let found = match session {
                Some(session) => in_database(&database, session, reach),
                None => last_in_database(&database, reach),
            };
            if let Some(found) = found.map_err(fail)? {
                return Ok(found);
            }
        }
    }
    in_files(agent, session, reach)
}

/// Whether a person takes part in the session of a key.
fn is_conversation(key: Option<&str>) -> bool {
    key.is_none_or(|key| SessionKind::of_key(key).is_conversation())
}

/// Reads the conversation that was had last: by the times that the sessions have, and the first of
/// them in which something was said.
fn last_in_database(
    database: &InstallDatabase,
    reach: Reach,
) -> Result<Option<Conversation>, DatabaseError> {
    let mut updated = BTreeMap::new();
    let nodes = Read::of("session_nodes", &["current_session_id", "entry_json"]);
    for row in database.rows(&nodes)?.into_iter().flatten() {
        if let [Value::Text(id), Value::Text(entry)] = row?.as_slice() {
            let entry: serde_json::Value = serde_json::from_str(entry).unwrap_or_default();
            updated.insert(id.clone(), entry["updatedAt"].as_i64());
        }
    }
    let mut sessions = Vec::new();
    let windows = Read::of("session_windows", &["session_id", "session_key", "created_at"]);
    for row in database.rows(&windows)?.into_iter().flatten() {
        let row = row?;
        let [Value::Text(id), key, at] = row.as_slice() else { continue };
        if is_conversation(key.as_text()) {
            let at = updated.get(id).copied().flatten().or_else(|| at.as_integer());
            sessions.push((at, id.clone()));
        }
    }
    // Without times, the one that was written last is the newest.
    sessions.sort_by_key(|(at, _)| *at);
    for (_, id) in sessions.iter().rev().take(LOOKED_AT) {
        let found = in_database(database, id, reach)?;
        if let Some(found) = found.filter(|found| !found.messages.is_empty()) {
            return Ok(Some(found));
        }
    }
    Ok(None)
}

fn in_database(
    database: &InstallDatabase,
    session: &str,
    reach: Reach,
) -> Result<Option<Conversation>, DatabaseError> {
    let Some(held) = window_of(database, session)? else { return Ok(None) };
    let id = held.session_id.as_deref().unwrap_or(session);
    let columns = ["event_json", "event_zstd", "event_utf8_bytes"];
    let read = Read::of("transcript_events", &columns).ordered_by(&["seq"]).only("session_id", id);
    let Some(rows) = database.rows(&read)? else { return Ok(None) };
    let events = rows.map(|row| {
        let row = row?;
        let [json, packed, size] = row.as_slice() else { return Ok(None) };
        Ok(unpacked_event(json, packed, size))
    });
    read_events(FORMAT, events, reach, held.clone())
}

/// Finds a session by its id, or the current one of a key.
fn window_of(
    database: &InstallDatabase,
    session: &str,
) -> Result<Option<SessionFacts>, DatabaseError> {
    let node = Read::of("session_nodes", &["current_session_id"]).only("session_key", session);
    let mut id = session.to_owned();
    for row in database.rows(&node)?.into_iter().flatten() {
        if let [Value::Text(current)] = row?.as_slice() {
            id.clone_from(current);
        }
    }
    let window = Read::of("session_windows", &["session_key", "channel"]).only("session_id", &id);
    for row in database.rows(&window)?.into_iter().flatten() {
        let row = row?;
        let [key, channel] = row.as_slice() else { continue };
        let key = key.as_text().map(str::to_owned);
        let channel = channel.as_text().filter(|text| !text.is_empty()).map(str::to_owned);
        let source = channel.or_else(|| channel_in(key.as_deref()?));
        let held =
            SessionFacts { session_id: Some(id), session_key: key, source, compaction_count: None };
        return Ok(Some(held));
    }
    Ok(None)
}

/// Looks for the file of a session, or else for the last conversation.
fn in_files(
    agent: &FoundAgent,
    session: Option<&str>,
    reach: Reach,
) -> Result<Conversation, ReadConversationError> {
    let none = || match session {
        Some(session) => ReadConversationError::NoSession(session.to_owned()),
        None => ReadConversationError::NothingSaid,
    };
    let (Some(install), Some(folder)) = (&agent.install, agent_folder(&agent.alias)) else {
        return Err(none());
    };
    let folder = folder.join("sessions");
    let path = install.join(&folder);
    let fail = |source| ReadConversationError::Io { path: path.clone(), source };
    // Links that lead out of the install are not followed.
    let install = Folder::open(install).map_err(fail)?;
    let sessions = install.folder_beneath(&folder).map_err(|_| none())?;
    let files = SessionFiles::of(&sessions).map_err(fail)?;
    let read = |name: &str| read_file(&[FORMAT], &sessions, Path::new(name), reach).map_err(fail);
    if let Some(session) = session {
        let name = files.of_session(&sessions, session).ok_or_else(none)?;
        return read(name)?.ok_or_else(none);
    }
    for name in files.newest_first().take(LOOKED_AT) {
        let found = read(name)?.filter(|found| !found.messages.is_empty());
        if let Some(found) = found.filter(|found| is_conversation(found.session_key.as_deref())) {
            return Ok(found);
        }
    }
    Err(none())
}

/// The transcripts in a folder of sessions, those that were written last at the end.
struct SessionFiles(Vec<(FileTime, String)>);

impl SessionFiles {
    fn of(folder: &Folder) -> io::Result<Self> {
        let mut files = Vec::new();
        for entry in folder.entries()? {
            let Some(name) = entry?.name().to_str().map(str::to_owned) else { continue };
            // A compressed transcript is not read.
            let is_transcript = name.split_once(".jsonl").is_some_and(|(_, rest)| {
                rest.is_empty() || (rest.starts_with(".reset.") && !rest.ends_with(".zst"))
            });
            if is_transcript && let Ok(stat) = folder.stat(&*name) {
                files.push((stat.modified, name));
            }
        }
        files.sort();
        Ok(Self(files))
    }

    fn newest_first(&self) -> impl Iterator<Item = &str> {
        self.0.iter().rev().map(|(_, name)| name.as_str())
    }

    /// Finds the file of a session, by its id or its key: the current one, the newest one of its
    /// topics, or else what was put away last.
    fn of_session(&self, folder: &Folder, session: &str) -> Option<&str> {
        let listed = listed_of_key(folder, session);
        let has = |wanted: &str| self.newest_first().find(|name| *name == wanted);
        if let Some(name) = listed.as_ref().and_then(|listed| listed.file_name()).and_then(has) {
            return Some(name);
        }
        let id = listed.and_then(|listed| listed.session_id);
        let id = id.as_deref().unwrap_or(session);
        if !is_name(id) {
            return None;
        }
        let topic = format!("{id}-topic-");
        let current = format!("{id}.jsonl");
        let is_of =
            |name: &str| name.starts_with(&format!("{current}.reset.")) || name.starts_with(&topic);
        let of_topic = || {
            self.newest_first().find(|name| name.starts_with(&topic) && name.ends_with(".jsonl"))
        };
        // The names of what was put away end with a time, so that the last one is the newest.
        let put_away = || {
            let time = |name: &&str| name.rsplit_once(".reset.").map(|(_, time)| time.to_owned());
            self.newest_first().filter(|name| is_of(name)).max_by_key(time)
        };
        has(&current).or_else(of_topic).or_else(put_away)
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use rusqlite::{Connection, params};
    use ruzstd::encoding::{CompressionLevel, compress_to_vec};
    use tempfile::TempDir;

    use super::*;
    use crate::kit::conversation::Role;
    use crate::kit::database::tests::machine;
    use crate::openclaw::RUNTIME;

    const TABLES: &str = "
        CREATE TABLE transcript_events (session_id TEXT NOT NULL, seq INTEGER NOT NULL,
          event_json TEXT, created_at INTEGER NOT NULL, event_zstd BLOB, event_utf8_bytes INTEGER,
          PRIMARY KEY (session_id, seq)) STRICT;
        CREATE TABLE session_nodes (session_key TEXT PRIMARY KEY, current_session_id TEXT) STRICT;
        CREATE TABLE session_windows (session_id TEXT PRIMARY KEY, session_key TEXT NOT NULL,
          channel TEXT) STRICT;
        INSERT INTO session_nodes VALUES ('agent:main:main', 's2');
        INSERT INTO session_windows VALUES ('s1', 'agent:main:main', NULL),
          ('s2', 'agent:main:main', 'telegram');";

    fn agent(install: &Path) -> FoundAgent {
        let mut agent = FoundAgent::without_install(RUNTIME, "main".into(), PathBuf::new());
        agent.install = Some(install.to_owned());
        agent
    }

    fn message(role: &str, text: &str) -> String {
        let content = serde_json::json!([{ "type": "text", "text": text }]);
        let message = serde_json::json!({ "role": role, "content": content });
        serde_json::json!({ "type": "message", "id": text, "message": message }).to_string()
    }

    fn texts(conversation: &Conversation) -> Vec<(Role, &str)> {
        conversation.messages.iter().map(|message| (message.role, message.text.as_str())).collect()
    }

    #[test]
    fn a_session_in_the_database_is_found_by_id_and_by_key() {
        let home = TempDir::new().unwrap();
        let path = home.path().join("openclaw-agent.sqlite");
        let database = Connection::open(&path).unwrap();
        database.execute_batch(TABLES).unwrap();
        let put = |session: &str, seq: u32, json: Option<&str>, packed: Option<&str>| {
            let blob =
                packed.map(|packed| compress_to_vec(packed.as_bytes(), CompressionLevel::Fastest));
            let size = packed.or(json).map(|packed| packed.len() as i64);
            let sql = "INSERT INTO transcript_events VALUES (?, ?, ?, 0, ?, ?)";
            database.execute(sql, params![session, seq, json, blob, size]).unwrap();
        };
        put("s1", 1, Some(&message("user", "old")), None);
        put("s2", 1, Some(&message("user", "before")), None);
        put("s2", 2, Some(r#"{"type":"reset","id":"r"}"#), None);
        put("s2", 3, None, Some(&message("user", &"long ".repeat(500))));
        put("s2", 10, Some(&message("assistant", "last")), None);
        let mut agent = agent(home.path());
        agent.database = Some(path);
        let machine = machine(home.path());
        for name in ["s2", "agent:main:main"] {
            let found = read(&machine, &agent, Some(name), Reach::Messages(15)).unwrap();
            let long = "long ".repeat(500);
            let wanted = [(Role::User, long.trim()), (Role::Assistant, "last")];
            assert_eq!(texts(&found), wanted);
            assert_eq!(found.session_id.as_deref(), Some("s2"));
            assert_eq!(found.session_key.as_deref(), Some("agent:main:main"));
            assert_eq!(found.source.as_deref(), Some("telegram"));
        }
        let old = read(&machine, &agent, Some("s1"), Reach::Messages(15)).unwrap();
        assert_eq!(texts(&old), [(Role::User, "old")]);
        let none = read(&machine, &agent, Some("s3"), Reach::Messages(15)).unwrap_err();
        assert!(matches!(none, ReadConversationError::NoSession { .. }), "{none}");
        let last = read(&machine, &agent, None, Reach::Messages(15)).unwrap();
        assert_eq!(last.session_id.as_deref(), Some("s2"));
        // A later session of a task is not the last conversation, and neither is an empty one.
        let later = "INSERT INTO session_windows VALUES ('s4', 'agent:main:subagent:1', NULL),
            ('s5', 'agent:main:main', NULL);";
        database.execute_batch(later).unwrap();
        put("s4", 1, Some(&message("user", "a task")), None);
        let last = read(&machine, &agent, None, Reach::Messages(15)).unwrap();
        assert_eq!(last.session_id.as_deref(), Some("s2"));
    }

    #[test]
    fn a_session_in_files_is_found_by_id_by_key_and_when_it_was_put_away() {
        let home = TempDir::new().unwrap();
        let folder = home.path().join("agents/main/sessions");
        fs_err::create_dir_all(&folder).unwrap();
        let write = |name: &str, text: &str| {
            fs_err::write(folder.join(name), message("user", text)).unwrap();
        };
        write("s1.jsonl", "one");
        write("s2.jsonl.reset.2026-01-01T00-00-00Z", "older");
        write("s2.jsonl.reset.2026-02-01T00-00-00Z", "newer");
        let list = r#"{"agent:main:main":{"sessionId":"s1","lastChannel":"slack"}}"#;
        fs_err::write(folder.join("sessions.json"), list).unwrap();
        let machine = machine(home.path());
        let agent = agent(home.path());
        let read = |name: &str| read(&machine, &agent, Some(name), Reach::Messages(15));
        let found = read("agent:main:main").unwrap();
        assert_eq!(texts(&found), [(Role::User, "one")]);
        assert_eq!(found.source.as_deref(), Some("slack"));
        assert_eq!(texts(&read("s1").unwrap()), [(Role::User, "one")]);
        assert_eq!(texts(&read("s2").unwrap()), [(Role::User, "newer")]);
        for name in ["s3", "../s1", "", "s\0"] {
            assert!(read(name).is_err(), "{name}");
        }
    }

    /// Writes a transcript whose last change was so many seconds ago.
    fn write(folder: &Path, name: &str, texts: &[&str], seconds: u64) {
        let lines: Vec<String> = texts.iter().map(|text| message("user", text)).collect();
        let path = folder.join(name);
        fs_err::write(&path, lines.join("\n")).unwrap();
        let at = std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(2_000_000_000);
        let file = fs_err::File::options().write(true).open(&path).unwrap();
        file.into_file().set_modified(at - std::time::Duration::from_secs(seconds)).unwrap();
    }

    #[test]
    fn a_session_with_topics_is_found_and_the_last_conversation_needs_no_name() {
        let home = TempDir::new().unwrap();
        let folder = home.path().join("agents/main/sessions");
        fs_err::create_dir_all(&folder).unwrap();
        let machine = machine(home.path());
        let agent = agent(home.path());
        let read = |name| read(&machine, &agent, name, Reach::Messages(15));
        assert!(matches!(read(None).unwrap_err(), ReadConversationError::NothingSaid));
        write(&folder, "s-topic-7.jsonl", &["seven"], 50);
        write(&folder, "s-topic-8.jsonl", &["eight"], 60);
        write(&folder, "s-topic-9.jsonl.reset.2026-03-01T00-00-00Z", &["nine"], 5);
        write(&folder, "t-topic-1.jsonl.reset.2026-01-01T00-00-00Z", &["older"], 40);
        write(&folder, "t-topic-2.jsonl.reset.2026-02-01T00-00-00Z", &["newer"], 45);
        assert_eq!(texts(&read(Some("s")).unwrap()), [(Role::User, "seven")]);
        assert_eq!(texts(&read(Some("s-topic-8")).unwrap()), [(Role::User, "eight")]);
        assert_eq!(texts(&read(Some("t")).unwrap()), [(Role::User, "newer")]);
        // What was put away last is the last conversation while the new session is empty.
        write(&folder, "u.jsonl", &[], 1);
        write(&folder, "v.jsonl", &["of a task"], 2);
        let list = r#"{"agent:main:subagent:1":{"sessionId":"v"},
            "agent:main:telegram:group:1:topic:8":{"sessionId":"s","sessionFile":"/x/s-topic-8.jsonl"}}"#;
        fs_err::write(folder.join("sessions.json"), list).unwrap();
        assert_eq!(texts(&read(None).unwrap()), [(Role::User, "nine")]);
        // The list of sessions says which topic a key is of.
        let listed = read(Some("agent:main:telegram:group:1:topic:8")).unwrap();
        assert_eq!(texts(&listed), [(Role::User, "eight")]);
    }
}

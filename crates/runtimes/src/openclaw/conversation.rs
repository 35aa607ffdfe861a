//! The end of one conversation of an agent: from its database (gen-9), or from its file (gen-3).

use std::path::Path;

use anemone_files::Folder;

use super::transcript::{FORMAT, channel_in, session_of_key};
use super::{install::InstallDatabase, install::agent_folder, sessions::unpacked_event};
use crate::kit::{
    Conversation, DatabaseError, FoundAgent, Machine, Reach, Read, ReadConversationError,
    SessionFacts, Value, is_name, read_events, read_file,
};

/// Reads the end of a session, by its id or its key.
pub(super) fn read(
    machine: &Machine,
    agent: &FoundAgent,
    session: &str,
    reach: Reach,
) -> Result<Conversation, ReadConversationError> {
    if let Some(path) = &agent.database {
        let fail = |source: DatabaseError| ReadConversationError::Database {
            path: path.clone(),
            source: Box::new(source),
        };
        if let Some(database) = InstallDatabase::open(machine, path).map_err(fail)?
            && let Some(found) = in_database(&database, session, reach).map_err(fail)?
        {
            return Ok(found);
        }
    }
    in_files(agent, session, reach)
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

/// Looks for the file of a session, or else for the one that was archived last.
fn in_files(
    agent: &FoundAgent,
    session: &str,
    reach: Reach,
) -> Result<Conversation, ReadConversationError> {
    let none = || ReadConversationError::NoSession(session.to_owned());
    let (Some(install), Some(folder)) = (&agent.install, agent_folder(&agent.alias)) else {
        return Err(none());
    };
    let folder = folder.join("sessions");
    let path = install.join(&folder);
    let fail = |source| ReadConversationError::Io { path: path.clone(), source };
    // Links that lead out of the install are not followed.
    let install = Folder::open(install).map_err(fail)?;
    let sessions = install.folder_beneath(&folder).map_err(|_| none())?;
    let id = session_of_key(&sessions, session).unwrap_or_else(|| session.to_owned());
    if !is_name(&id) {
        return Err(none());
    }
    let name = format!("{id}.jsonl");
    if sessions.stat(&*name).is_ok() {
        return read_file(&[FORMAT], &sessions, Path::new(&name), reach)
            .map_err(fail)?
            .ok_or_else(none);
    }
    let mut put_away = None;
    let prefix = format!("{name}.reset.");
    for entry in sessions.entries().map_err(fail)? {
        let entry = entry.map_err(fail)?;
        let Some(name) = entry.name().to_str().map(str::to_owned) else { continue };
        // The names end with a time, so that the last one is the newest.
        if name.starts_with(&prefix) && !name.ends_with(".zst") && Some(&name) > put_away.as_ref() {
            put_away = Some(name);
        }
    }
    let name = put_away.ok_or_else(none)?;
    read_file(&[FORMAT], &sessions, Path::new(&name), reach).map_err(fail)?.ok_or_else(none)
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
            let found = read(&machine, &agent, name, Reach::Messages(15)).unwrap();
            let long = "long ".repeat(500);
            let wanted = [(Role::User, long.trim()), (Role::Assistant, "last")];
            assert_eq!(texts(&found), wanted);
            assert_eq!(found.session_id.as_deref(), Some("s2"));
            assert_eq!(found.session_key.as_deref(), Some("agent:main:main"));
            assert_eq!(found.source.as_deref(), Some("telegram"));
        }
        let old = read(&machine, &agent, "s1", Reach::Messages(15)).unwrap();
        assert_eq!(texts(&old), [(Role::User, "old")]);
        let none = read(&machine, &agent, "s3", Reach::Messages(15)).unwrap_err();
        assert!(matches!(none, ReadConversationError::NoSession { .. }), "{none}");
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
        let read = |name: &str| read(&machine, &agent, name, Reach::Messages(15));
        let found = read("agent:main:main").unwrap();
        assert_eq!(texts(&found), [(Role::User, "one")]);
        assert_eq!(found.source.as_deref(), Some("slack"));
        assert_eq!(texts(&read("s1").unwrap()), [(Role::User, "one")]);
        assert_eq!(texts(&read("s2").unwrap()), [(Role::User, "newer")]);
        for name in ["s3", "../s1", "", "s\0"] {
            assert!(read(name).is_err(), "{name}");
        }
    }
}

//! The end of one conversation of an agent: from the database of its sessions, or from its file.
//!
//! Conversations of other agents of the install, and private ones, are skipped as in
//! [`super::sessions`].

use std::io;
use std::path::{Path, PathBuf};

use anemone_files::Folder;

use super::sessions::{Metadata, Ownership, ownership, root_of, rows_if_any};
use super::transcript::FORMAT;
use crate::kit::{
    Conversation, Database, DatabaseError, FoundAgent, Machine, Reach, Read, ReadConversationError,
    SessionFacts, Value, is_name, read_events, read_file,
};

const DATABASE: &str = "sessions.db";

/// Reads the end of a session by its key.
pub(super) fn read(
    machine: &Machine,
    agent: &FoundAgent,
    session: Option<&str>,
    reach: Reach,
) -> Result<Conversation, ReadConversationError> {
    // Its sessions are named after the conversation, and no list says which one was the last.
    let session = session.ok_or(ReadConversationError::NothingSaid)?;
    let none = || ReadConversationError::NoSession(session.to_owned());
    let (root, is_shared) = root_of(agent);
    let ours = is_shared.then_some(agent.alias.as_str());
    let path = root.join("sessions");
    let fail = |source| ReadConversationError::Io { path: path.clone(), source };
    let root = Folder::open(&root).map_err(fail)?;
    // Links that lead out of the install are not followed.
    let sessions = match root.folder_beneath(Path::new("sessions")) {
        Ok(sessions) => sessions,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(none()),
        Err(error) => return Err(fail(error)),
    };
    let mut metadata = Metadata::default();
    let is_ours = |metadata: &Metadata| {
        ownership(ours, metadata.alias.as_deref(), metadata.private) == Ownership::Ours
    };
    if sessions.file(DATABASE).is_ok() {
        let path = path.join(DATABASE);
        let fail = |source| ReadConversationError::Database {
            path: path.clone(),
            source: Box::new(source),
        };
        let database = Database::open(machine, &path).map_err(fail)?;
        metadata = metadata_of(&database, session).map_err(fail)?;
        if is_ours(&metadata)
            && let Some(found) = in_database(&database, session, reach).map_err(fail)?
        {
            return Ok(found);
        }
    }
    if !is_ours(&metadata) {
        return Err(none());
    }
    let name = PathBuf::from(format!("{session}.jsonl"));
    if !is_name(session) || sessions.stat(&name).is_err() {
        return Err(none());
    }
    let mut found =
        read_file(&[FORMAT], &sessions, &name, reach).map_err(fail)?.ok_or_else(none)?;
    found.source = channel_in(session);
    Ok(found)
}

/// Looks a conversation up by its key, or by the file that held it before the database.
fn metadata_of(database: &Database, session: &str) -> Result<Metadata, DatabaseError> {
    let of_key = |key: &str| -> Result<Option<Metadata>, DatabaseError> {
        let read = Read::of(Metadata::TABLE, &Metadata::COLUMNS).only("session_key", key);
        Ok(first(database, &read)?.and_then(|row| Metadata::of(&row)))
    };
    if let Some(metadata) = of_key(session)? {
        return Ok(metadata);
    }
    let file = format!("{session}.jsonl");
    let read = Read::of("jsonl_import_receipts", &["session_key"]).only("source_name", &file);
    match first(database, &read)?.as_deref() {
        Some([Value::Text(key)]) => Ok(of_key(key)?.unwrap_or_default()),
        _ => Ok(Metadata::default()),
    }
}

/// Reads the first row, if there is one.
fn first(database: &Database, read: &Read) -> Result<Option<Vec<Value>>, DatabaseError> {
    rows_if_any(database, read)?.and_then(|mut rows| rows.next()).transpose()
}

fn in_database(
    database: &Database,
    session: &str,
    reach: Reach,
) -> Result<Option<Conversation>, DatabaseError> {
    let columns = ["role", "content", "created_at"];
    let read = Read::of("sessions", &columns).ordered_by(&["id"]).only("session_key", session);
    let Some(rows) = rows_if_any(database, &read)? else { return Ok(None) };
    let events = rows.map(|row| {
        let row = row?;
        let [Value::Text(role), Value::Text(content), at] = row.as_slice() else { return Ok(None) };
        let at = at.as_text().unwrap_or_default();
        let line = serde_json::json!({ "role": role, "content": content, "timestamp": at });
        Ok(Some(line.to_string().into_bytes()))
    });
    let held = SessionFacts {
        session_id: Some(session.to_owned()),
        session_key: Some(session.to_owned()),
        source: channel_in(session),
        compaction_count: None,
    };
    read_events(FORMAT, events, reach, held)
}

/// Returns the channel that a key begins with, as in `telegram_42_alice`.
fn channel_in(key: &str) -> Option<String> {
    let channel = key.split(['_', '.']).next().filter(|part| !part.is_empty() && *part != key)?;
    Some(if channel == "gw" { "gateway".to_owned() } else { channel.to_owned() })
}

#[cfg(test)]
mod tests {
    use rusqlite::Connection;
    use tempfile::TempDir;

    use super::*;
    use crate::kit::conversation::Role;
    use crate::kit::database::tests::machine;
    use crate::zeroclaw::RUNTIME;
    use crate::zeroclaw::layout::generation;

    #[test]
    fn a_session_is_read_from_the_database_or_from_a_file() {
        let home = TempDir::new().unwrap();
        let folder = home.path().join("sessions");
        fs_err::create_dir_all(&folder).unwrap();
        let database = Connection::open(folder.join(DATABASE)).unwrap();
        database
            .execute_batch(
                "CREATE TABLE sessions (id INTEGER PRIMARY KEY, session_key TEXT, role TEXT,
                   content TEXT, created_at TEXT);
                 INSERT INTO sessions (session_key, role, content, created_at) VALUES
                   ('telegram_1_ann', 'system', 'You are', '2026-11-16T10:00:00Z'),
                   ('telegram_1_ann', 'user', 'one', '2026-11-16T10:00:00Z'),
                   ('other', 'user', 'not this', '2026-11-16T10:00:00Z'),
                   ('telegram_1_ann', 'tool', 'x', '2026-11-16T10:00:01Z'),
                   ('telegram_1_ann', 'assistant', '{\"content\":\"two\",\"tool_calls\":[1]}', 'odd');",
            )
            .unwrap();
        let line = r#"{"role":"user","content":"in a file"}"#;
        fs_err::write(folder.join("gw_7.jsonl"), line).unwrap();
        let agent = FoundAgent::without_install(RUNTIME, "default".into(), home.path().to_owned());
        let machine = machine(home.path());
        let found = read(&machine, &agent, Some("telegram_1_ann"), Reach::Messages(15)).unwrap();
        let said: Vec<_> =
            found.messages.iter().map(|message| (message.role, message.text.as_str())).collect();
        assert_eq!(said, [(Role::User, "one"), (Role::Assistant, "two")]);
        assert_eq!(found.messages[0].at.as_ref().unwrap().as_str(), "2026-11-16T10:00:00Z");
        assert_eq!(found.source.as_deref(), Some("telegram"));
        assert_eq!((found.left_out.system, found.left_out.tools), (1, 2));
        let found = read(&machine, &agent, Some("gw_7"), Reach::Messages(15)).unwrap();
        assert_eq!(found.messages[0].text, "in a file");
        assert_eq!(found.session_key.as_deref(), Some("gw_7"));
        assert_eq!(found.source.as_deref(), Some("gateway"));
        for name in ["absent", "../x", ""] {
            assert!(read(&machine, &agent, Some(name), Reach::Messages(15)).is_err(), "{name}");
        }
    }

    #[test]
    fn sessions_of_others_and_of_one_person_are_none_of_an_agent_that_shares_an_install() {
        let home = TempDir::new().unwrap();
        let folder = home.path().join("data/sessions");
        fs_err::create_dir_all(&folder).unwrap();
        let database = Connection::open(folder.join(DATABASE)).unwrap();
        database
            .execute_batch(
                "CREATE TABLE sessions (id INTEGER PRIMARY KEY, session_key TEXT, role TEXT,
                   content TEXT, created_at TEXT);
                 CREATE TABLE session_metadata (session_key TEXT PRIMARY KEY, agent_alias TEXT,
                   principal_id TEXT);
                 CREATE TABLE jsonl_import_receipts (source_name TEXT, session_key TEXT);
                 INSERT INTO session_metadata VALUES ('of_work', 'work', NULL),
                   ('of_home', 'home', NULL), ('private', 'work', 'p1'), ('file_home', 'home', NULL);
                 INSERT INTO jsonl_import_receipts VALUES ('old.jsonl', 'of_home');
                 INSERT INTO sessions (session_key, role, content) SELECT k.column1, 'user', 'hi'
                   FROM (VALUES ('of_work'), ('of_home'), ('private'), ('unowned')) AS k;",
            )
            .unwrap();
        for name in ["file_home", "file_unowned", "old"] {
            let line = r#"{"role":"user","content":"in a file"}"#;
            fs_err::write(folder.join(format!("{name}.jsonl")), line).unwrap();
        }
        let machine = machine(home.path());
        let readable = |alias: &str| -> Vec<&str> {
            let workspace = home.path().join("agents").join(alias).join("workspace");
            let mut agent = FoundAgent::without_install(RUNTIME, alias.to_owned(), workspace);
            agent.install = Some(home.path().to_owned());
            agent.generation = Some(generation::DATA);
            let names =
                ["of_work", "of_home", "private", "unowned", "file_home", "file_unowned", "old"];
            let is_readable = |name: &&str| {
                let found = read(&machine, &agent, Some(name), Reach::Messages(15));
                match found {
                    Ok(_) => true,
                    Err(ReadConversationError::NoSession { .. }) => false,
                    Err(error) => panic!("{error:?}"),
                }
            };
            names.into_iter().filter(is_readable).collect()
        };
        assert_eq!(readable("work"), ["of_work"]);
        assert_eq!(readable("home"), ["of_home", "file_home", "old"]);
        assert_eq!(readable("default"), ["unowned", "file_unowned"]);
    }
}

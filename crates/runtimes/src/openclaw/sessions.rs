//! Conversations, from everywhere OpenClaw keeps them, as records.
//!
//! | place | what |
//! |---|---|
//! | `transcript_events` of the agent's database | conversations that go on (gen-9); long events packed |
//! | `session_transcript_archives`, `session_transcript_cold_archives` there | ended and old ones |
//! | `agents/<agent>/sessions/` | `<id>.jsonl` (gen-3), ended ones `.reset.`, `.deleted.`, `.bak.`, old ones `cold/` |
//! | `agents/<agent>/session-sqlite-import-archive/` | what was moved into the database |
//!
//! The same conversation may be in several of them; an event is taken from the first, the database
//! before the files. The conversation becomes text, in records of some kilobytes that are filled in
//! order, so that a continued conversation only changes its last record.

mod transcript;
mod transcript_files;
mod unpack;

use std::io;
use std::path::Path;

use anemone_format::{MemoryType, Moment, Opaque, Record};
use serde::Serialize;

use super::{NAMESPACES, RUNTIME, install::InstallDatabase, install::agent_folder, memory::Shared};
use crate::kit::{
    FoundAgent, Line, Read, SessionCounts, SessionText, Value, Warning, lossy, read_line, times,
};
use anemone_secrets as secrets;
use transcript::{SeenEvents, Transcript};
use transcript_files::{MOST, ReadLimits, TranscriptFiles, TranscriptPlace, part_of, row_of};
use unpack::unpacked;
pub(super) use unpack::unpacked_event;

/// A piece of a conversation.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct SessionRecord {
    /// The conversation.
    pub(super) session_id: String,
    /// The key of the session, such as `agent:main:main`, where known.
    pub(super) session_key: Option<String>,
    /// Which piece, from 0.
    pub(super) index: u64,
    /// Who said what.
    pub(super) content: String,
    /// When the first thing in it was said.
    pub(super) first_at: Option<Moment>,
    /// When the last thing in it was said.
    pub(super) last_at: Option<Moment>,
    /// The transcript, such as `sessions/main/<id>.jsonl`, as the program names it.
    pub(super) origin_file: String,
    /// `owner` or `untrusted`, where the program noted who spoke; the worse one counts.
    pub(super) trust: Option<&'static str>,
}

/// Counts of conversations, and warnings for the user.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct SessionTally {
    pub(super) counts: SessionCounts,
    pub(super) warnings: Vec<Warning>,
}

/// Replaces secrets in a text, and says how many there were.
pub(super) type Redact<'a> = dyn Fn(&str) -> (String, u64) + 'a;

/// Replaces secrets with marks; the usual [`Redact`].
pub(super) fn redacted(text: &str) -> (String, u64) {
    let hits = secrets::scan(text.as_bytes());
    (lossy(&secrets::redact(text.as_bytes(), &hits)), hits.len() as u64)
}

/// Returns whether a database holds events of conversations.
pub(super) fn has_events(database: &InstallDatabase) -> bool {
    let rows = database.rows(&Read::of("transcript_events", &["session_id"]));
    rows.ok().flatten().is_some_and(|mut rows| rows.next().is_some())
}

/// Yields the conversations of an agent, piece by piece.
pub(super) fn sessions<E>(
    agent: &FoundAgent,
    database: Option<&InstallDatabase>,
    redact: &Redact<'_>,
    take: &mut dyn FnMut(SessionRecord) -> Result<(), E>,
) -> Result<SessionTally, E> {
    sessions_limited(agent, database, redact, MOST, take)
}

fn sessions_limited<E>(
    agent: &FoundAgent,
    database: Option<&InstallDatabase>,
    redact: &Redact<'_>,
    most: ReadLimits,
    take: &mut dyn FnMut(SessionRecord) -> Result<(), E>,
) -> Result<SessionTally, E> {
    let mut tally = SessionTally::default();
    let (Some(install), Some(folder)) = (&agent.install, agent_folder(&agent.alias)) else {
        return Ok(tally);
    };
    let mut places = TranscriptFiles::find(install, &folder, most, &mut tally);
    if let Some(database) = database
        && let Err(error) = places.add_database(database, &mut tally)
    {
        tally.warn(database.path(), &error);
    }
    places.name_cold(&mut tally);
    let mut reader = SessionReader { alias: &agent.alias, places, redact, take, tally };
    if let Some(database) = database {
        reader.database(database)?;
    }
    for session_id in reader.places.remaining() {
        reader.others(&session_id, database, SeenEvents::default())?;
    }
    Ok(reader.tally)
}

/// Makes a record of a piece of a conversation; its id comes from the transcript and the number
/// of the piece.
pub(super) fn session_record(piece: &SessionRecord, shared: &Shared) -> Record {
    #[derive(Serialize)]
    struct RawPiece<'a> {
        #[serde(skip_serializing_if = "Option::is_none")]
        session_key: Option<&'a str>,
        piece: u64,
    }
    let id = NAMESPACES.record(&piece.origin_file, piece.index);
    let created_at = piece.first_at.clone().unwrap_or_else(times::epoch);
    let mut record = Record::new(id, shared.agent_id, RUNTIME, created_at, &piece.content);
    record.memory_type = MemoryType::Episodic;
    record.namespace = "session".to_owned();
    record.tags.push("session".to_owned());
    record.temporal.observed_at.clone_from(&piece.first_at);
    record.temporal.updated_at.clone_from(&piece.last_at);
    record.source = shared.source(&piece.origin_file, "session", piece.trust);
    record.source.session_id = Some(piece.session_id.clone());
    let raw = RawPiece { session_key: piece.session_key.as_deref(), piece: piece.index };
    record.raw_source_format = Some(Opaque::new(&raw).expect("a struct is a JSON object"));
    record
}

impl SessionTally {
    fn warn(&mut self, path: &Path, error: &dyn std::fmt::Display) {
        let message = format!("conversations are missing: {error}");
        self.warnings.push(Warning::about("sessions_unreadable", path.display(), message));
    }
}

/// Reads transcripts and hands out records.
struct SessionReader<'a, E> {
    alias: &'a str,
    places: TranscriptFiles,
    redact: &'a Redact<'a>,
    take: &'a mut dyn FnMut(SessionRecord) -> Result<(), E>,
    tally: SessionTally,
}

impl<E> SessionReader<'_, E> {
    /// Reads the events in the database, and after each conversation its parts elsewhere.
    fn database(&mut self, database: &InstallDatabase) -> Result<(), E> {
        let columns = ["session_id", "event_json", "event_zstd", "event_utf8_bytes", "created_at"];
        let read = Read::of("transcript_events", &columns).ordered_by(&["session_id", "seq"]);
        let rows = match database.rows(&read) {
            Ok(rows) => rows.into_iter().flatten(),
            Err(error) => {
                self.tally.warn(database.path(), &error);
                return Ok(());
            }
        };
        let mut current: Option<Transcript> = None;
        for row in rows {
            let row = match row {
                Ok(row) => row,
                Err(error) => {
                    self.tally.warn(database.path(), &error);
                    break;
                }
            };
            let [Value::Text(session_id), json, packed, size, created_at] = row.as_slice() else {
                self.tally.counts.undecodable += 1;
                continue;
            };
            if current.as_ref().is_none_or(|current| current.session_id != *session_id) {
                if let Some(transcript) = current.take() {
                    self.finish(transcript, Some(database))?;
                }
                let name = part_of(&format!("{session_id}.jsonl"));
                current = Some(self.transcript(session_id, &name, SeenEvents::default()));
            }
            let Some(transcript) = &mut current else { continue };
            match unpacked_event(json, packed, size) {
                Some(event) => {
                    let at = created_at.as_integer().and_then(times::from_set_millis);
                    let piece = transcript.event(&event, at, self.redact, &mut self.tally.counts);
                    hand_out(piece, self.take)?;
                }
                None => {
                    self.tally.counts.events += 1;
                    self.tally.counts.undecodable += 1;
                }
            }
        }
        if let Some(transcript) = current {
            self.finish(transcript, Some(database))?;
        }
        Ok(())
    }

    /// Ends a transcript of the database and reads the other places of its conversation.
    fn finish(
        &mut self,
        transcript: Transcript,
        database: Option<&InstallDatabase>,
    ) -> Result<(), E> {
        let session_id = transcript.session_id.clone();
        let seen = self.close(transcript)?;
        self.others(&session_id, database, seen)
    }

    /// Reads the parts of a conversation that are not in the table of events.
    fn others(
        &mut self,
        session_id: &str,
        database: Option<&InstallDatabase>,
        mut seen: SeenEvents,
    ) -> Result<(), E> {
        let places = self.places.by_session.remove(session_id).unwrap_or_default();
        for place in places {
            let name = place.name();
            let input = match &place {
                TranscriptPlace::Row { table, name } => match row_of(database, table, name) {
                    Some(input) => input,
                    None => {
                        self.tally.counts.undecodable += 1;
                        continue;
                    }
                },
                file => match self.places.open(file) {
                    Ok(file) => Box::new(file),
                    Err(_) => {
                        self.tally.counts.undecodable += 1;
                        continue;
                    }
                },
            };
            let transcript = self.transcript(session_id, &name, seen);
            seen = self.lines(transcript, input)?;
        }
        Ok(())
    }

    fn transcript(&self, session_id: &str, name: &str, seen: SeenEvents) -> Transcript {
        let origin_file = format!("sessions/{}/{name}", self.alias);
        Transcript {
            session_id: session_id.to_owned(),
            session_key: self.places.keys.get(session_id).cloned(),
            index: seen.pieces.get(&origin_file).copied().unwrap_or(0),
            origin_file,
            seen,
            text: SessionText::default(),
            trust: None,
        }
    }

    /// Reads a transcript line by line and returns the events that it has seen.
    fn lines(
        &mut self,
        mut transcript: Transcript,
        input: Box<dyn io::Read + '_>,
    ) -> Result<SeenEvents, E> {
        let most = self.places.most.bytes;
        let Ok(mut input) = unpacked(input, most) else {
            self.tally.counts.undecodable += 1;
            return Ok(transcript.seen);
        };
        let mut line = Vec::new();
        loop {
            match read_line(&mut input, &mut line) {
                Ok(Line::End) => break,
                Ok(Line::Text) => {
                    let event = line.trim_ascii();
                    if !event.is_empty() {
                        let piece =
                            transcript.event(event, None, self.redact, &mut self.tally.counts);
                        hand_out(piece, self.take)?;
                    }
                }
                Ok(Line::TooLong) => {
                    self.tally.counts.events += 1;
                    self.tally.counts.undecodable += 1;
                }
                Err(error) => {
                    self.tally.counts.undecodable += 1;
                    if error.kind() == io::ErrorKind::FileTooLarge {
                        let what = format!("only the first {most} bytes are read");
                        self.tally.warn(Path::new(&transcript.origin_file), &what);
                    }
                    break;
                }
            }
        }
        self.close(transcript)
    }

    fn close(&mut self, mut transcript: Transcript) -> Result<SeenEvents, E> {
        let piece = transcript.flush();
        hand_out(piece, self.take)?;
        let Transcript { origin_file, mut seen, index, .. } = transcript;
        let before = seen.pieces.insert(origin_file, index).unwrap_or(0);
        self.tally.counts.transcripts += u64::from(index > before);
        Ok(seen)
    }
}

fn hand_out<E>(
    piece: Option<SessionRecord>,
    take: &mut dyn FnMut(SessionRecord) -> Result<(), E>,
) -> Result<(), E> {
    piece.map_or(Ok(()), take)
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;
    use std::path::PathBuf;

    use fs_err as fs;
    use rusqlite::Connection;
    use ruzstd::encoding::{CompressionLevel, compress_to_vec};
    use tempfile::TempDir;

    use super::*;
    use crate::kit::database::tests::machine;

    struct Home {
        folder: TempDir,
        install: PathBuf,
    }

    impl Home {
        fn new() -> Self {
            let folder = TempDir::new().unwrap();
            let install = folder.path().join(".openclaw");
            fs::create_dir_all(install.join("agents/main/agent")).unwrap();
            Self { folder, install }
        }

        fn write(&self, path: &str, content: impl AsRef<[u8]>) {
            let path = self.install.join("agents/main").join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, content).unwrap();
        }

        fn database(&self, sql: &str) -> Connection {
            let path = self.install.join("agents/main/agent/openclaw-agent.sqlite");
            let connection = Connection::open(path).unwrap();
            connection.execute_batch(TABLES).unwrap();
            connection.execute_batch(sql).unwrap();
            connection
        }

        fn read(&self) -> (Vec<SessionRecord>, SessionTally) {
            read(self.folder.path(), &self.install)
        }
    }

    fn read(scratch: &Path, install: &Path) -> (Vec<SessionRecord>, SessionTally) {
        read_limited(scratch, install, MOST)
    }

    fn read_limited(
        scratch: &Path,
        install: &Path,
        most: ReadLimits,
    ) -> (Vec<SessionRecord>, SessionTally) {
        let mut agent = FoundAgent::without_install(RUNTIME, "main".into(), PathBuf::new());
        agent.install = Some(install.to_owned());
        let mut records = Vec::new();
        let redact = |text: &str| {
            (text.replace("hunter2", "[redacted]"), text.matches("hunter2").count() as u64)
        };
        let path = install.join("agents/main/agent/openclaw-agent.sqlite");
        let database = InstallDatabase::open(&machine(scratch), &path).unwrap();
        let tally = sessions_limited(&agent, database.as_ref(), &redact, most, &mut |record| {
            records.push(record);
            Ok::<_, Infallible>(())
        });
        (records, tally.unwrap())
    }

    const TABLES: &str = "
        CREATE TABLE transcript_events (session_id TEXT NOT NULL, seq INTEGER NOT NULL,
          event_json TEXT, created_at INTEGER NOT NULL, event_zstd BLOB, event_utf8_bytes INTEGER,
          navigation_json TEXT, PRIMARY KEY (session_id, seq)) STRICT;
        CREATE TABLE session_windows (session_id TEXT PRIMARY KEY, session_key TEXT NOT NULL) STRICT;
        CREATE TABLE session_transcript_archives (session_id TEXT NOT NULL, generation TEXT NOT NULL,
          encoding TEXT NOT NULL, archive_blob BLOB NOT NULL, archive_name TEXT NOT NULL UNIQUE,
          PRIMARY KEY (session_id, generation)) STRICT;
        CREATE TABLE session_transcript_cold_archives (session_id TEXT PRIMARY KEY,
          archive_name TEXT NOT NULL UNIQUE, storage TEXT NOT NULL, archive_blob BLOB) STRICT;";

    fn message(id: &str, role: &str, text: &str) -> String {
        format!(
            r#"{{"type":"message","id":"{id}","timestamp":"2026-01-15T10:30:00Z","message":{{"role":"{role}","content":[{{"type":"text","text":"{text}"}}]}}}}"#
        )
    }

    fn packed(text: &str) -> Vec<u8> {
        compress_to_vec(text.as_bytes(), CompressionLevel::Fastest)
    }

    fn contents(records: &[SessionRecord]) -> Vec<(&str, &str)> {
        records.iter().map(|r| (r.origin_file.as_str(), r.content.as_str())).collect()
    }

    #[test]
    fn a_transcript_of_the_real_program_becomes_text() {
        let install = anemone_testkit::fixture("openclaw/gen3/.openclaw");
        let scratch = TempDir::new().unwrap();
        let (records, tally) = read(scratch.path(), &install);
        assert_eq!(records.len(), 1);
        let record = &records[0];
        assert_eq!(
            record.content,
            "user: hello, remember that I like green tea\n\n\
             assistant: Hello from the fake model. Noted.\n\n\
             user: CALL memory_search {\"query\":\"SQLite\",\"minScore\":0}\n\n\
             assistant: [tool: memory_search]\n\n\
             [tool result: memory_search]\n\n\
             assistant: Hello from the fake model. Noted.\n\n\
             user: CALL memory_get {\"path\":\"MEMORY.md\",\"from\":3,\"lines\":3}\n\n\
             assistant: [tool: memory_get]\n\n\
             [tool result: memory_get]\n\n\
             assistant: Hello from the fake model. Noted."
        );
        assert_eq!(record.session_id, "a8c81791-3de4-4ec7-b072-dfaef319477b");
        assert_eq!(record.session_key.as_deref(), Some("agent:main:main"));
        assert_eq!(record.origin_file, "sessions/main/a8c81791-3de4-4ec7-b072-dfaef319477b.jsonl");
        assert_eq!(record.first_at.as_ref().unwrap().as_str(), "2026-11-15T07:09:49.493Z");
        assert_eq!(record.last_at.as_ref().unwrap().as_str(), "2026-11-15T07:29:05.490Z");
        assert_eq!(
            (tally.counts.events, tally.counts.messages, tally.counts.undecodable),
            (14, 10, 0)
        );
    }

    #[test]
    fn the_database_of_the_real_program_gives_its_events() {
        let install = anemone_testkit::fixture("openclaw/gen9/.openclaw");
        let scratch = TempDir::new().unwrap();
        let (records, tally) = read(scratch.path(), &install);
        assert_eq!(
            (tally.counts.events, tally.counts.undecodable, tally.counts.transcripts),
            (17, 0, 1)
        );
        assert_eq!(tally.warnings, []);
        assert!(records[0].content.starts_with("user: "), "{}", records[0].content);
        assert!(records[0].session_key.is_some());
    }

    #[test]
    fn every_place_is_read_and_every_event_once() {
        let home = Home::new();
        let (one, two, three) =
            (message("1", "user", "one"), message("2", "user", "two"), message("3", "user", "3"));
        let connection = home.database("INSERT INTO session_windows VALUES ('s', 'agent:main:x');");
        let insert = "INSERT INTO transcript_events VALUES ('s', ?1, ?2, 1, ?3, ?4, NULL)";
        connection.execute(insert, (0, &one, None::<Vec<u8>>, None::<i64>)).unwrap();
        connection.execute(insert, (1, None::<String>, packed(&two), two.len() as i64)).unwrap();
        let archive = "INSERT INTO session_transcript_archives VALUES (?1, 'g', ?2, ?3, ?4)";
        connection
            .execute(archive, ("s", "zstd", packed(&three), "s.jsonl.reset.2026.zst"))
            .unwrap();
        let identity = message("i", "user", "identity").into_bytes();
        connection.execute(archive, ("t", "identity", identity, "t.jsonl.deleted.1")).unwrap();
        connection
            .execute_batch(
                "INSERT INTO session_transcript_cold_archives VALUES
                ('u', 'aaa.jsonl.zst', 'file', NULL), ('v', 'bbb.jsonl.zst', 'sqlite', x'7b7d');",
            )
            .unwrap();
        home.write("session-sqlite-import-archive/s.jsonl.imported-1", format!("{one}\n{two}\n"));
        home.write("sessions/s.jsonl.reset.2026.zst", packed(&format!("{three}\n")));
        home.write("sessions/cold/aaa.jsonl.zst", packed(&message("c", "user", "cold")));
        let header = r#"{"type":"session","version":4,"id":"w"}"#;
        let lost = message("l", "user", "lost");
        let frames = [packed(&format!("{header}\n")), packed(&lost)].concat();
        home.write("sessions/cold/ccc.jsonl.zst", frames);
        home.write("sessions/x.jsonl.bak.77", message("b", "user", "bak"));
        home.write("sessions/sessions.json", "{}");
        home.write("sessions/notes.txt", "no transcript");
        let (records, tally) = home.read();
        assert_eq!(
            contents(&records),
            [
                ("sessions/main/s.jsonl", "user: one\n\nuser: two"),
                ("sessions/main/s.jsonl.reset.2026", "user: 3"),
                ("sessions/main/t.jsonl.deleted.1", "user: identity"),
                ("sessions/main/cold/aaa.jsonl", "user: cold"),
                ("sessions/main/cold/ccc.jsonl", "user: lost"),
                ("sessions/main/x.jsonl.bak.77", "user: bak"),
            ]
        );
        assert_eq!(tally.counts.duplicates, 3);
        assert_eq!(
            (tally.counts.messages, tally.counts.transcripts, tally.counts.undecodable),
            (7, 6, 0)
        );
        assert_eq!(records[0].session_key.as_deref(), Some("agent:main:x"));
    }

    #[test]
    fn two_transcripts_of_one_name_give_no_two_pieces_of_one_number() {
        let home = Home::new();
        let connection = home.database("");
        let (one, two) = (message("1", "user", "one"), message("2", "user", "two"));
        connection
            .execute(
                "INSERT INTO session_transcript_archives VALUES ('s', 'g', 'identity', ?1, ?2)",
                (one.as_bytes(), "s.jsonl.reset.1"),
            )
            .unwrap();
        home.write("sessions/s.jsonl.reset.1", format!("{one}\n{two}"));
        let (records, _) = home.read();
        let pieces: Vec<_> = records.iter().map(|r| (r.index, r.content.as_str())).collect();
        assert_eq!(pieces, [(0, "user: one"), (1, "user: two")]);
        assert_eq!(records[0].origin_file, records[1].origin_file);
    }

    #[test]
    fn a_conversation_that_goes_on_changes_its_last_record_only() {
        let home = Home::new();
        let lines = |count: usize| -> String {
            (0..count).map(|n| message(&n.to_string(), "user", &"x".repeat(1_000)) + "\n").collect()
        };
        home.write("sessions/s.jsonl", lines(20));
        let (before, _) = home.read();
        home.write("sessions/s.jsonl", lines(25));
        let (after, _) = home.read();
        assert_eq!(before.len(), 3);
        assert!(before.iter().all(|record| record.content.len() <= 8 << 10));
        assert_eq!(before[..2], after[..2]);
        assert!(after[2].content.starts_with(&before[2].content));
        let indexes: Vec<_> = after.iter().map(|record| record.index).collect();
        assert_eq!(indexes, [0, 1, 2, 3]);
    }

    #[test]
    fn only_what_was_said_is_taken_and_secrets_are_not() {
        let home = Home::new();
        home.write(
            "sessions/s.jsonl",
            [
                r#"{"type":"session","version":3,"id":"s"}"#,
                r#"{"type":"message","id":"1","__openclaw":{"senderIsOwner":true},"message":{"role":"user","content":"my password is hunter2","timestamp":1768473000000}}"#,
                r#"{"type":"message","id":"2","message":{"role":"assistant","content":[{"type":"thinking","thinking":"hmm"},{"type":"text","text":" ok "},{"type":"image","data":"AAAA"},{"type":"toolCall","name":"exec","arguments":{}}]}}"#,
                r#"{"type":"message","id":"3","message":{"role":"toolResult","toolName":"exec","isError":true,"content":[{"type":"text","text":"long"}]}}"#,
                r#"{"type":"compaction","id":"4","summary":"We talked."}"#,
                "not json",
                r#"{"type":"message","id":"5","__openclaw":{"senderIsOwner":false},"message":{"role":"user","content":"hi"}}"#,
                r#"{"type":"message","id":"5","message":{"role":"user","content":"again"}}"#,
                r#"{"type":"message","id":"6","message":{"role":"user","content":7}}"#,
                r#"{"type":"message","id":"7"}"#,
                r#"[]"#,
            ]
            .join("\n"),
        );
        let (records, tally) = home.read();
        assert_eq!(
            records[0].content,
            "user: my password is [redacted]\n\nassistant: ok\n[tool: exec]\n\n\
             [tool error: exec]\n\nsummary: We talked.\n\nuser: hi"
        );
        assert_eq!(records[0].first_at.as_ref().unwrap().as_str(), "2026-01-15T10:30:00Z");
        assert_eq!(records[0].trust, Some("untrusted"));
        assert_eq!(
            (tally.counts.redacted, tally.counts.undecodable, tally.counts.duplicates),
            (1, 1, 1)
        );
        assert_eq!((tally.counts.messages, tally.counts.dropped), (5, 3));
    }

    #[test]
    fn damaged_and_swollen_transcripts_are_counted() {
        let home = Home::new();
        home.write("sessions/a.jsonl.reset.1.zst", [0x28, 0xb5, 0x2f, 0xfd, 1, 2, 3]);
        let mut cut = packed(&(message("1", "user", "kept?") + "\n").repeat(100));
        cut.truncate(cut.len() / 2);
        home.write("sessions/b.jsonl.reset.1.zst", cut);
        home.write("sessions/c.jsonl", [b"x".repeat(17 << 20), b"\n".to_vec()].concat());
        home.write("sessions/d.jsonl", "[".repeat(100_000));
        let connection = home.database("");
        let bomb = packed(&" ".repeat(1 << 20));
        let insert = "INSERT INTO transcript_events VALUES ('e', 1, NULL, 1, ?1, 100, NULL)";
        connection.execute(insert, [bomb]).unwrap();
        let (_, tally) = home.read();
        assert_eq!(tally.counts.undecodable, 5);
    }

    #[cfg(unix)]
    #[test]
    fn links_are_not_followed() {
        let home = Home::new();
        fs::write(home.folder.path().join("secret"), message("1", "user", "secret")).unwrap();
        home.write("sessions/a.txt", "");
        let sessions = home.install.join("agents/main/sessions");
        std::os::unix::fs::symlink("../../../../secret", sessions.join("s.jsonl")).unwrap();
        let (records, tally) = home.read();
        assert_eq!((records, tally.counts.undecodable), (vec![], 1));
        assert_eq!(tally.warnings.len(), 1);
        assert_eq!(tally.warnings[0].code, "sessions_unreadable");
        fs::rename(&sessions, home.folder.path().join("moved")).unwrap();
        fs::write(home.folder.path().join("moved/t.jsonl"), message("1", "user", "x")).unwrap();
        std::os::unix::fs::symlink(home.folder.path().join("moved"), &sessions).unwrap();
        let (records, tally) = home.read();
        assert_eq!(records, []);
        let paths: Vec<_> =
            tally.warnings.iter().map(|warning| warning.path.as_deref().unwrap()).collect();
        assert_eq!(paths, [sessions.to_str().unwrap()]);
    }

    #[test]
    fn a_folder_that_is_not_there_is_no_warning_and_one_that_is_none_is() {
        let home = Home::new();
        assert_eq!(home.read().1.warnings, []);
        home.write("sessions/s.jsonl", message("1", "user", "x"));
        assert_eq!(home.read().1.warnings, []);
        home.write("sessions/cold", "a file");
        home.write("session-sqlite-import-archive", "a file");
        let (records, tally) = home.read();
        assert_eq!(records.len(), 1);
        assert_eq!(tally.warnings.len(), 2, "{:?}", tally.warnings);
        assert!(tally.warnings.iter().all(|warning| warning.code == "sessions_unreadable"));
    }

    #[test]
    fn what_is_too_much_is_left_out_in_order_and_said() {
        let home = Home::new();
        for name in ["d", "a", "c", "b"] {
            home.write(&format!("sessions/{name}.jsonl"), message(name, "user", name));
        }
        home.write("sessions/0.txt", "no transcript");
        let connection = home.database("");
        let archive =
            "INSERT INTO session_transcript_archives VALUES (?1, 'g', 'identity', ?2, ?3)";
        for name in ["z", "x", "y"] {
            let text = message(name, "user", name).into_bytes();
            connection.execute(archive, (name, text, format!("{name}.jsonl.reset.1"))).unwrap();
        }
        let most = ReadLimits { files: 3, rows: 2, bytes: MOST.bytes };
        let (records, tally) = read_limited(home.folder.path(), &home.install, most);
        let sessions: Vec<_> = records.iter().map(|record| record.session_id.as_str()).collect();
        assert_eq!(sessions, ["a", "b", "c", "x", "y"]);
        assert_eq!(tally.counts.undecodable, 2);
        assert_eq!(tally.warnings.len(), 2, "{:?}", tally.warnings);
    }

    #[test]
    fn a_transcript_that_is_cut_is_said() {
        let home = Home::new();
        let (one, two) = (message("1", "user", "one"), message("2", "user", "two"));
        let text = format!("{one}\n{two}\n");
        home.write("sessions/a.jsonl", &text);
        home.write("sessions/b.jsonl.reset.1.zst", packed(&text));
        let read = |bytes: usize| {
            let most = ReadLimits { bytes: bytes as u64, ..MOST };
            read_limited(home.folder.path(), &home.install, most)
        };
        let (records, tally) = read(text.len());
        assert_eq!(
            (records[0].content.as_str(), tally.counts.undecodable),
            ("user: one\n\nuser: two", 0)
        );
        assert_eq!(tally.warnings, []);
        let (records, tally) = read(text.len() - 3);
        let texts: Vec<_> = records.iter().map(|record| record.content.as_str()).collect();
        assert_eq!((texts, tally.counts.undecodable), (vec!["user: one"; 2], 2));
        assert_eq!(tally.warnings.len(), 2);
        assert_eq!(tally.warnings[0].path.as_deref(), Some("sessions/main/a.jsonl"));
    }

    #[test]
    fn an_id_cannot_lead_out_of_its_folder() {
        let home = Home::new();
        let connection = home.database("");
        let insert = "INSERT INTO transcript_events VALUES (?1, 1, ?2, 1, NULL, NULL, NULL)";
        for id in ["../../x", "..-..-x"] {
            connection.execute(insert, (id, message("1", "user", "hi"))).unwrap();
        }
        let (records, _) = home.read();
        assert_eq!(records[0].origin_file, "sessions/main/..-..-x.jsonl");
        let odd = &records[1].origin_file;
        assert!(odd.starts_with("sessions/main/.._.._x.jsonl-"), "{odd}");
    }

    #[test]
    fn a_piece_becomes_an_episodic_record() {
        let piece = SessionRecord {
            session_id: "s".into(),
            session_key: None,
            index: 3,
            content: "user: hi".into(),
            first_at: Some("2026-01-15T10:30:00Z".parse().unwrap()),
            last_at: None,
            origin_file: "sessions/main/s.jsonl".into(),
            trust: None,
        };
        let shared = Shared::of("9e373c1e-cab7-5eea-90c3-8f3d09ac5755".parse().unwrap());
        let record = session_record(&piece, &shared);
        assert_eq!(record.id, NAMESPACES.record("sessions/main/s.jsonl", 3));
        assert_eq!(record.memory_type, MemoryType::Episodic);
        assert_eq!((&*record.namespace, &*record.tags), ("session", &["session".to_owned()][..]));
        assert_eq!(record.source.session_id.as_deref(), Some("s"));
        assert_eq!(record.source.origin.as_deref(), Some("session"));
        assert_eq!(record.temporal.created_at.as_str(), "2026-01-15T10:30:00Z");
    }
}

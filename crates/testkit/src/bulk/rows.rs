//! A ZeroClaw database in any quantity: the records of [`bulk`](super::bulk) as rows, with vectors.

use std::path::Path;

use rusqlite::{Connection, params};

use super::bulk;

const SCHEMA: &str = "
    PRAGMA journal_mode = WAL;
    CREATE TABLE memories (
        id TEXT PRIMARY KEY, key TEXT NOT NULL UNIQUE, content TEXT NOT NULL,
        category TEXT NOT NULL DEFAULT 'core', embedding BLOB, created_at TEXT NOT NULL,
        updated_at TEXT NOT NULL, session_id TEXT, namespace TEXT DEFAULT 'default',
        importance REAL DEFAULT 0.5, superseded_by TEXT);
    CREATE VIRTUAL TABLE memories_fts USING fts5(
        key, content, content=memories, content_rowid=rowid);
    BEGIN;";

/// Writes a database as version 0.7 has it; nine of ten rows have a vector.
pub fn write_brain(path: &Path, rows: usize, dimensions: usize) -> rusqlite::Result<()> {
    let database = Connection::open(path)?;
    database.execute_batch(SCHEMA)?;
    let mut insert = database.prepare(
        "INSERT INTO memories (id, key, content, category, embedding, created_at, updated_at)
         VALUES (?1, ?2, ?3, 'daily', ?4, ?5, ?5)",
    )?;
    let mut noise = 0x9e37_79b9_7f4a_7c15_u64;
    let records = bulk(1, rows).flat_map(|day| day.records);
    for (number, record) in records.enumerate() {
        let vector = (number % 10 != 0).then(|| vector(dimensions, &mut noise));
        let at = record.temporal.created_at.to_string();
        let (id, key) = (record.id.to_string(), format!("entry_{number}"));
        insert.execute(params![id, key, record.content, vector, at])?;
    }
    drop(insert);
    database.execute_batch(
        "INSERT INTO memories_fts(memories_fts) VALUES('rebuild'); COMMIT;
         PRAGMA wal_checkpoint(TRUNCATE);",
    )
}

/// Small numbers on both sides of zero, with as many digits as a model's.
fn vector(dimensions: usize, noise: &mut u64) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(dimensions * 4);
    for _ in 0..dimensions {
        *noise ^= *noise << 13;
        *noise ^= *noise >> 7;
        *noise ^= *noise << 17;
        let number = (*noise >> 40) as f32 / (1_u64 << 24) as f32 - 0.5;
        bytes.extend_from_slice(&(number * 0.1).to_le_bytes());
    }
    bytes
}

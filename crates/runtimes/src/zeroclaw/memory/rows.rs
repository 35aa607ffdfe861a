//! Rows of memories: read, written, forgotten and restored.
//!
//! A memory is identified by its agent and its key. Rows that belong to one person (a key that
//! begins with `p|`, or a principal) are neither read nor written here.

use std::path::PathBuf;

use anemone_format::Hex;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use rusqlite::limits::Limit;
use rusqlite::types::{Value, ValueRef};
use rusqlite::{
    Connection, OptionalExtension as _, Row, ToSql, Transaction, TransactionBehavior, params,
    params_from_iter,
};
use serde_json::{Map, Value as Json, json};
use sha2::{Digest as _, Sha256};
use uuid::Uuid;

use anemone_memory::{Category, EntryToForget, ForgetTarget, KeptRow, MemoryEntry, is_in_time};

use super::open::DatabaseShape;
use crate::kit::hex;
use crate::zeroclaw::schema::{
    DROP_STAMP, HAS_STAMPS, MAKE_STAMPS, PRIVATE_KEY, SCHEMA, STAMP_ROW, STAMPS, row_time,
};

/// Rows that are listed, at most.
const MOST_ROWS: usize = 100_000;

/// An open database, and the agent whose rows are used.
pub(super) struct AgentRows {
    pub(super) path: PathBuf,
    pub(super) db: Connection,
    pub(super) shape: DatabaseShape,
    pub(super) alias: String,
}

/// The content of a row that is written.
pub(super) struct NewRow<'a> {
    /// The id of a new row.
    pub(super) id: Uuid,
    pub(super) key: &'a str,
    pub(super) content: &'a str,
    pub(super) category: &'a Category,
    pub(super) session: Option<&'a str>,
    pub(super) importance: Option<f64>,
    pub(super) origin: &'a str,
    pub(super) source: Option<&'a str>,
    /// The key or id of the row that it replaces.
    pub(super) supersedes: Option<&'a str>,
    /// The id of an agent that is not known yet.
    pub(super) agent: Uuid,
    pub(super) now: Timestamp,
    pub(super) zone: TimeZone,
}

impl AgentRows {
    /// Returns the condition for rows that may be seen; `:alias` is the agent.
    pub(super) fn visible(&self) -> String {
        let mut sql = format!("substr(m.key, 1, 2) <> '{PRIVATE_KEY}' AND :alias IS NOT NULL");
        if self.shape.has("principal_id") {
            sql.push_str(" AND m.principal_id IS NULL");
        }
        if self.shape.has("agent_id") {
            sql.push_str(" AND m.agent_id = (SELECT id FROM agents WHERE alias = :alias)");
        }
        sql
    }

    /// Returns the condition for rows that were not superseded.
    fn current(&self) -> &'static str {
        if self.shape.has("superseded_by") { "m.superseded_by IS NULL" } else { "TRUE" }
    }

    fn select(&self, condition: &str) -> rusqlite::Result<String> {
        let importance = self.shape.or_null("importance");
        let stamps = if self.db.prepare_cached(HAS_STAMPS)?.exists([])? {
            ("s.origin", format!("LEFT JOIN {STAMPS} s ON s.memory_id = m.id"))
        } else {
            ("NULL", String::new())
        };
        Ok(format!(
            "SELECT m.id, m.key, m.content, m.category, m.created_at, m.session_id, {importance},
             {}, m.updated_at FROM memories m {} WHERE {} AND {condition}
             ORDER BY m.updated_at DESC, m.rowid DESC LIMIT {MOST_ROWS}",
            stamps.0,
            stamps.1,
            self.visible(),
        ))
    }

    /// Lists the rows that were not superseded, the newest first.
    pub(super) fn list(&self) -> rusqlite::Result<Vec<MemoryEntry>> {
        let sql = self.select(self.current())?;
        let mut find = self.db.prepare_cached(&sql)?;
        let found = find.query_map(&[(":alias", &self.alias)], entry)?;
        found.collect()
    }

    /// Returns the names of other agents that have a row with the wanted text.
    pub(super) fn others_with(
        &self,
        is_meant: &dyn Fn(&str) -> bool,
    ) -> rusqlite::Result<Vec<String>> {
        if !self.shape.has("agent_id") {
            return Ok(Vec::new());
        }
        let mut find = self.db.prepare(
            "SELECT a.alias, m.content FROM memories m JOIN agents a ON a.id = m.agent_id
             WHERE a.alias <> ?1 ORDER BY a.alias",
        )?;
        let mut found = find.query([&self.alias])?;
        let mut others: Vec<String> = Vec::new();
        while let Some(row) = found.next()? {
            let (Some(alias), Some(content)) = (text(row, "alias"), text(row, "content")) else {
                continue;
            };
            if others.last() != Some(&alias) && is_meant(&content) {
                others.push(alias);
            }
        }
        Ok(others)
    }

    /// Writes a row, replacing the one with its key; returns its id. The existing row keeps its id
    /// and its creation time; a row that had replaced it no longer does.
    pub(super) fn write(
        &self,
        all: &Transaction<'_>,
        new: &NewRow<'_>,
    ) -> rusqlite::Result<String> {
        let shape = &self.shape;
        let now = row_time(new.now, new.zone.clone());
        let mut cells: Vec<(&str, Value)> = vec![
            ("id", new.id.to_string().into()),
            ("key", new.key.to_owned().into()),
            ("content", new.content.to_owned().into()),
            ("category", new.category.as_str().to_owned().into()),
            ("embedding", Value::Null),
            ("created_at", now.clone().into()),
            ("updated_at", now.clone().into()),
            ("session_id", new.session.map(str::to_owned).into()),
        ];
        if let Some(importance) = new.importance.filter(|_| shape.has("importance")) {
            cells.push(("importance", importance.into()));
        }
        if shape.has("superseded_by") {
            cells.push(("superseded_by", Value::Null));
        }
        let mut conflict = "key";
        if shape.has("agent_id") {
            let agent = agent(all, &self.alias, new)?;
            cells.push(("agent_id", agent.into()));
            conflict = "agent_id, key";
        }
        let names: Vec<&str> = cells.iter().map(|cell| cell.0).collect();
        let kept = ["id", "key", "created_at", "agent_id"];
        let set: Vec<String> = names
            .iter()
            .filter(|name| !kept.contains(name))
            .map(|name| format!("{name} = excluded.{name}"))
            .collect();
        let sql = format!(
            "INSERT INTO memories ({}) VALUES ({}) ON CONFLICT ({conflict}) DO UPDATE SET {}
             RETURNING id, rowid",
            names.join(", "),
            vec!["?"; names.len()].join(", "),
            set.join(", ")
        );
        let cells = params_from_iter(cells.into_iter().map(|cell| cell.1));
        let (id, number): (String, i64) =
            all.prepare_cached(&sql)?.query_row(cells, |row| Ok((row.get(0)?, row.get(1)?)))?;
        if let Some(name) = new.supersedes.filter(|_| shape.has("superseded_by")) {
            let sql = format!(
                "UPDATE memories AS m SET superseded_by = :id
                 WHERE (m.key = :name OR m.id = :name) AND m.id <> :id AND {}",
                self.visible()
            );
            let bound: &[(&str, &dyn ToSql)] =
                &[(":id", &id), (":name", &name), (":alias", &self.alias)];
            all.execute(&sql, bound)?;
        }
        all.execute_batch(MAKE_STAMPS)?;
        all.execute(STAMP_ROW, params![number, new.origin, now, new.session, new.source])?;
        Ok(id)
    }

    /// Returns rows with all their columns.
    pub(super) fn matching(&self, target: &ForgetTarget) -> rusqlite::Result<Vec<KeptRow>> {
        let sql = format!("SELECT m.* FROM memories m WHERE {} ORDER BY rowid", self.visible());
        let mut find = self.db.prepare(&sql)?;
        let mut found = find.query(&[(":alias", &self.alias)])?;
        let mut rows = Vec::new();
        while let Some(row) = found.next()? {
            let column = |name: &str| text(row, name).unwrap_or_default();
            let takes = match target {
                ForgetTarget::Key(key) => column("key") == *key,
                ForgetTarget::Ids(ids) => ids.contains(&column("id")),
                ForgetTarget::Session(session) => text(row, "session_id").as_ref() == Some(session),
                ForgetTarget::Written { since, until, .. } => column("created_at")
                    .parse::<Timestamp>()
                    .is_ok_and(|at| is_in_time(at, *since, *until)),
            };
            if takes {
                rows.push(self.kept(row)?);
            }
        }
        Ok(rows)
    }

    /// Returns a row, read with all its columns, as the journal keeps it.
    pub(super) fn kept(&self, row: &Row<'_>) -> rusqlite::Result<KeptRow> {
        let column = |name: &str| text(row, name).unwrap_or_default();
        let entry = EntryToForget {
            id: column("id"),
            key: Some(column("key")),
            path: "brain.db".to_owned(),
            lines: None,
            written: Some(column("created_at")),
            text: column("content"),
        };
        let stamp = self.stamp_of(&entry.id)?;
        Ok(KeptRow { entry, cells: cells(row)?, stamp })
    }

    /// Deletes rows with everything derived from them, so that nothing stays in the file.
    pub(super) fn remove(&mut self, gone: &[KeptRow]) -> rusqlite::Result<usize> {
        let all = self.db.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let mut removed = 0;
        for row in gone {
            let id = &row.entry.id;
            removed += all.execute("DELETE FROM memories WHERE id = ?1", [id])?;
            all.execute_batch(MAKE_STAMPS)?;
            all.execute(DROP_STAMP, [id])?;
            if self.shape.has_table("embedding_cache") {
                let hash = content_hash(&row.entry.text);
                all.execute("DELETE FROM embedding_cache WHERE content_hash = ?1", [hash])?;
            }
        }
        // Words of deleted rows stay in the full-text index until its segments are merged.
        all.execute_batch("INSERT INTO memories_fts(memories_fts) VALUES ('optimize')")?;
        all.commit()?;
        // A current reader keeps the log; the next change removes it.
        self.db.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).optional()?;
        Ok(removed)
    }

    /// Rewrites the database, so that nothing is left of what was deleted before: ZeroClaw leaves
    /// old texts in pages that it no longer uses.
    pub(super) fn compact(&mut self) -> rusqlite::Result<()> {
        // SQLite attaches the new database to the old one temporarily.
        self.db.set_limit(Limit::SQLITE_LIMIT_ATTACHED, 1)?;
        let done = self.db.execute_batch("VACUUM");
        self.db.set_limit(Limit::SQLITE_LIMIT_ATTACHED, 0)?;
        done?;
        // The numbers of rows may have changed, and the full-text index refers to rows by them.
        self.db.execute_batch("INSERT INTO memories_fts(memories_fts) VALUES ('rebuild')")?;
        self.db.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).optional()?;
        Ok(())
    }
}

/// Returns the id of the agent whose rows are written; the agent is created if it is unknown.
fn agent(all: &Transaction<'_>, alias: &str, new: &NewRow<'_>) -> rusqlite::Result<String> {
    if let Some(id) = all.query_row(SCHEMA.owners.find, [alias], |row| row.get(0)).optional()? {
        return Ok(id);
    }
    let (id, now) = (new.agent.to_string(), row_time(new.now, TimeZone::UTC));
    all.execute(SCHEMA.owners.add, params![id, alias, now])?;
    Ok(id)
}

/// Returns the hash of a text in ZeroClaw's cache of vectors.
fn content_hash(text: &str) -> String {
    let digest: [u8; 32] = Sha256::digest(text.as_bytes()).into();
    Hex(&digest[..8]).to_string()
}

fn entry(row: &Row<'_>) -> rusqlite::Result<MemoryEntry> {
    let column = |at: usize| lossy(row.get_ref(at)?);
    Ok(MemoryEntry {
        id: column(0)?.unwrap_or_default(),
        key: column(1)?.unwrap_or_default(),
        content: column(2)?.unwrap_or_default(),
        category: Category::from(column(3)?.unwrap_or_default().as_str()),
        timestamp: column(4)?.unwrap_or_default(),
        session_id: column(5)?,
        score: None,
        importance: row.get::<_, Option<f64>>(6).ok().flatten(),
        origin: column(7)?,
    })
}

/// Reads a text, whatever the type of the value.
pub(super) fn lossy(value: ValueRef<'_>) -> rusqlite::Result<Option<String>> {
    Ok(match value {
        ValueRef::Null => None,
        ValueRef::Integer(number) => Some(number.to_string()),
        ValueRef::Real(number) => Some(number.to_string()),
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => {
            Some(String::from_utf8_lossy(bytes).into_owned())
        }
    })
}

/// Returns every column of a row by its name.
pub(super) fn cells(row: &Row<'_>) -> rusqlite::Result<Map<String, Json>> {
    let names: Vec<String> = row.as_ref().column_names().map(str::to_owned).collect();
    let mut cells = Map::new();
    for (at, name) in names.into_iter().enumerate() {
        cells.insert(name, cell(row.get_ref(at)?));
    }
    Ok(cells)
}

fn text(row: &Row<'_>, name: &str) -> Option<String> {
    lossy(row.get_ref(name).ok()?).ok()?
}

fn cell(value: ValueRef<'_>) -> Json {
    match value {
        ValueRef::Null => Json::Null,
        ValueRef::Integer(number) => number.into(),
        ValueRef::Real(number) => number.into(),
        ValueRef::Text(bytes) => match std::str::from_utf8(bytes) {
            Ok(text) => text.into(),
            Err(_) => json!({ "hex": Hex(bytes).to_string() }),
        },
        ValueRef::Blob(bytes) => json!({ "hex": Hex(bytes).to_string() }),
    }
}

pub(super) fn value(cell: &Json) -> Value {
    match cell {
        Json::Number(number) => match number.as_i64() {
            Some(number) => number.into(),
            None => number.as_f64().map_or(Value::Null, Value::Real),
        },
        Json::String(text) => text.clone().into(),
        Json::Bool(yes) => (*yes).into(),
        Json::Object(map) => map
            .get("hex")
            .and_then(Json::as_str)
            .and_then(hex::decoded)
            .map_or(Value::Null, Value::Blob),
        Json::Null | Json::Array(_) => Value::Null,
    }
}

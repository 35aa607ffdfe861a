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

use anemone_memory::{
    Category, EntryToForget, ForgetTarget, KeptRow, MemoryEntry, RowVector, is_in_time,
};

use super::open::{DatabaseShape, SearchIndex};
use crate::kit::hex;
use crate::zeroclaw::schema::{
    DROP_STAMP, HAS_STAMPS, MAKE_STAMPS, PRIVATE_KEY, SCHEMA, STAMP_ROW, STAMPS, row_time,
};

/// What the first documents write before a category of the user's own.
const CUSTOM: &str = "custom:";
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
    /// The vector of the content, if the model of the database made one.
    pub(super) vector: Option<&'a RowVector>,
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
        if self.shape.has("superseded_by") { "(m.superseded_by IS NULL)" } else { "TRUE" }
    }

    fn select(&self, condition: &str) -> rusqlite::Result<String> {
        let importance = self.shape.or_null("importance");
        let stamps = if self.db.prepare_cached(HAS_STAMPS)?.exists([])? {
            ("s.origin", format!("LEFT JOIN {STAMPS} s ON s.memory_id = m.id"))
        } else {
            ("NULL", String::new())
        };
        Ok(format!(
            "SELECT m.id, m.key, m.content, {category}, {created}, {session}, {importance},
             {} FROM memories m {} WHERE {} AND {condition}
             ORDER BY {updated} DESC, m.rowid DESC LIMIT {MOST_ROWS}",
            stamps.0,
            stamps.1,
            self.visible(),
            category = self.shape.or_null("category"),
            created = self.shape.or_null(self.shape.created()),
            updated = self.shape.or_null(self.shape.updated()),
            session = self.shape.or_null("session_id"),
        ))
    }

    /// Lists the rows that were not superseded, the newest first.
    pub(super) fn list(&self) -> rusqlite::Result<Vec<MemoryEntry>> {
        let sql = self.select(self.current())?;
        let mut find = self.db.prepare_cached(&sql)?;
        let found = find.query_map(&[(":alias", &self.alias)], entry)?;
        found.collect()
    }

    /// Counts the rows that were superseded.
    pub(super) fn count_superseded(&self) -> rusqlite::Result<usize> {
        let sql = format!(
            "SELECT count(*) FROM memories m WHERE {} AND NOT {}",
            self.visible(),
            self.current()
        );
        let count: i64 = self.db.query_row(&sql, &[(":alias", &self.alias)], |row| row.get(0))?;
        Ok(usize::try_from(count).unwrap_or_default())
    }

    /// Returns the category of the row with a key, as it is spelt.
    pub(super) fn category_of(&self, key: &str) -> rusqlite::Result<Option<Category>> {
        let (category, visible) = (self.shape.or_null("category"), self.visible());
        let updated = self.shape.or_null(self.shape.updated());
        let sql = format!(
            "SELECT {category} FROM memories m WHERE m.key = :name AND {visible}
             ORDER BY {updated} DESC, m.rowid DESC LIMIT 1"
        );
        let bound: &[(&str, &dyn ToSql)] = &[(":name", &key), (":alias", &self.alias)];
        let read = |row: &Row<'_>| lossy(row.get_ref(0)?);
        let found = self.db.prepare_cached(&sql)?.query_row(bound, read).optional()?.flatten();
        Ok(found.map(|category| Category::from(category.as_str())))
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
        // A replaced row must not keep the vector of its former text.
        let vector = match new.vector {
            Some(vector) if self.is_own_model(all, vector)? => {
                Value::Blob(vector.numbers.iter().flat_map(|number| number.to_le_bytes()).collect())
            }
            _ => Value::Null,
        };
        let mut cells: Vec<(&str, Value)> = vec![
            ("id", new.id.to_string().into()),
            ("key", new.key.to_owned().into()),
            ("content", new.content.to_owned().into()),
            ("category", self.spelt(new.category).as_str().to_owned().into()),
            ("embedding", vector),
            (shape.created(), now.clone().into()),
            ("updated_at", now.clone().into()),
            ("session_id", new.session.map(str::to_owned).into()),
            ("superseded_by", Value::Null),
        ];
        cells.retain(|(name, _)| shape.has(name));
        if let Some(importance) = new.importance.filter(|_| shape.has("importance")) {
            cells.push(("importance", importance.into()));
        }
        let (id, number) = if shape.has_timestamp() {
            self.replace(all, new, &cells)?
        } else {
            self.upsert(all, new, cells)?
        };
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

    /// Whether a vector fits those that the database has. A database that does not name its model
    /// has that of the settings.
    fn is_own_model(&self, all: &Transaction<'_>, vector: &RowVector) -> rusqlite::Result<bool> {
        if !self.shape.has_table("memory_meta") {
            return Ok(true);
        }
        let length = vector.numbers.len().to_string();
        for (name, own) in [
            ("embedding_provider", &vector.provider),
            ("embedding_model", &vector.model),
            ("embedding_dimensions", &length),
        ] {
            let sql = "SELECT value FROM memory_meta WHERE key = ?1";
            let known: Option<String> =
                all.query_row(sql, [name], |row| lossy(row.get_ref(0)?)).optional()?.flatten();
            if known.is_some_and(|known| known != *own) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Returns a category as the database spells it: the first documents mark a user's own.
    pub(super) fn spelt(&self, category: &Category) -> Category {
        match category {
            Category::Custom(name) if self.shape.has_timestamp() && !name.starts_with(CUSTOM) => {
                Category::Custom(format!("{CUSTOM}{name}"))
            }
            other => other.clone(),
        }
    }

    /// Writes a row into a table with unique keys; returns its id and its number.
    fn upsert(
        &self,
        all: &Transaction<'_>,
        new: &NewRow<'_>,
        mut cells: Vec<(&str, Value)>,
    ) -> rusqlite::Result<(String, i64)> {
        let mut conflict = "key";
        if self.shape.has("agent_id") {
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
        all.prepare_cached(&sql)?.query_row(cells, |row| Ok((row.get(0)?, row.get(1)?)))
    }

    /// Writes a row into a table whose keys need not be unique; returns its id and its number. The
    /// newest row with the key is replaced, and older ones with that key go.
    fn replace(
        &self,
        all: &Transaction<'_>,
        new: &NewRow<'_>,
        cells: &[(&str, Value)],
    ) -> rusqlite::Result<(String, i64)> {
        let mut cells: Vec<(&str, Value)> = cells.to_vec();
        if self.shape.has("agent_id") {
            cells.push(("agent_id", agent(all, &self.alias, new)?.into()));
        }
        let sql = format!(
            "SELECT m.rowid FROM memories m WHERE m.key = :name AND {} ORDER BY m.{} DESC, \
             m.rowid DESC",
            self.visible(),
            self.shape.updated()
        );
        let bound: &[(&str, &dyn ToSql)] = &[(":name", &new.key), (":alias", &self.alias)];
        let found: Vec<i64> = all
            .prepare_cached(&sql)?
            .query_map(bound, |row| row.get(0))?
            .collect::<Result<_, _>>()?;
        let Some((newest, older)) = found.split_first() else {
            let names: Vec<&str> = cells.iter().map(|cell| cell.0).collect();
            let sql = format!(
                "INSERT INTO memories ({}) VALUES ({}) RETURNING id, rowid",
                names.join(", "),
                vec!["?"; names.len()].join(", ")
            );
            let cells = params_from_iter(cells.into_iter().map(|cell| cell.1));
            return all.query_row(&sql, cells, |row| Ok((row.get(0)?, row.get(1)?)));
        };
        for number in older {
            all.execute("DELETE FROM memories WHERE rowid = ?1", [number])?;
        }
        cells.retain(|(name, _)| !["id", "key", "agent_id"].contains(name));
        let set: Vec<String> = cells.iter().map(|(name, _)| format!("{name} = ?")).collect();
        let sql =
            format!("UPDATE memories SET {} WHERE rowid = ? RETURNING id, rowid", set.join(", "));
        let cells = cells.into_iter().map(|cell| cell.1).chain([(*newest).into()]);
        // An id of another type is read as text.
        all.query_row(&sql, params_from_iter(cells), |row| {
            Ok((lossy(row.get_ref(0)?)?.unwrap_or_default(), row.get(1)?))
        })
    }

    /// Fills the full-text index after a change, where no trigger does it.
    pub(super) fn fill_search(&self, db: &Connection) -> rusqlite::Result<()> {
        match self.shape.search {
            SearchIndex::Triggers | SearchIndex::None => Ok(()),
            SearchIndex::Rebuilt => {
                db.execute_batch("INSERT INTO memories_fts(memories_fts) VALUES ('rebuild')")
            }
            SearchIndex::Refilled => db.execute_batch(
                "DELETE FROM memories_fts;
                 INSERT INTO memories_fts(rowid, key, content)
                 SELECT rowid, key, content FROM memories;",
            ),
        }
    }

    fn file_name(&self) -> String {
        self.path.file_name().unwrap_or_default().to_string_lossy().into_owned()
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
                ForgetTarget::Written { since, until, .. } => column(self.shape.created())
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
            path: self.file_name(),
            lines: None,
            written: Some(column(self.shape.created())),
            text: column("content"),
        };
        let stamp = self.stamp_of(&entry.id)?;
        Ok(KeptRow { entry, cells: cells(row)?, stamp })
    }

    /// Deletes rows with everything derived from them, so that nothing stays in the file.
    pub(super) fn remove(&self, gone: &[KeptRow]) -> rusqlite::Result<usize> {
        // Only we use the connection: no other transaction was started on it.
        let all = Transaction::new_unchecked(&self.db, TransactionBehavior::Immediate)?;
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
        self.fill_search(&all)?;
        if self.shape.search != SearchIndex::None {
            // Words of deleted rows stay in the full-text index until its segments are merged.
            all.execute_batch("INSERT INTO memories_fts(memories_fts) VALUES ('optimize')")?;
        }
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
        match self.shape.search {
            SearchIndex::Triggers => self
                .db
                .execute_batch("INSERT INTO memories_fts(memories_fts) VALUES ('rebuild')")?,
            _ => self.fill_search(&self.db)?,
        }
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

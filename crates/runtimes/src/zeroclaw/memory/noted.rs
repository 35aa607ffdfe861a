//! Changes of rows that can be reverted.
//!
//! The old rows are journaled before anything is written, within the same transaction: ZeroClaw may
//! write at any moment, and the journal must contain the actual rows.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;

use anemone_format::sha256_hex;
use anemone_memory::{KeepRows, KeptRow, MemoryError, RowsRecord, RowsUndo};
use rusqlite::{OptionalExtension as _, ToSql, Transaction, TransactionBehavior, params_from_iter};
use serde_json::{Map, Value as Json};

use super::failed;
use super::rows::{AgentRows, NewRow, cells, lossy, value};
use crate::zeroclaw::schema::{DROP_STAMP, HAS_STAMPS, MAKE_STAMPS, STAMP_COLUMNS, STAMPS};

impl AgentRows {
    fn begin(&self) -> rusqlite::Result<Transaction<'_>> {
        // Only we use the connection: no other transaction was started on it.
        Transaction::new_unchecked(&self.db, TransactionBehavior::Immediate)
    }

    /// Writes rows in one transaction, each replacing the one with its key.
    pub(super) fn put(
        &self,
        new: &[NewRow<'_>],
        keep: &mut KeepRows<'_>,
    ) -> Result<(), MemoryError> {
        let failed = |error| failed(&self.path, error);
        let all = self.begin().map_err(failed)?;
        keep(self.before(new).map_err(failed)?)?;
        for row in new {
            self.write(&all, row).map_err(failed)?;
        }
        self.fill_search(&all).map_err(failed)?;
        all.commit().map_err(failed)
    }

    /// Returns the existing rows that are about to be written or superseded.
    fn before(&self, new: &[NewRow<'_>]) -> rusqlite::Result<RowsRecord> {
        let mut rows: Vec<KeptRow> = Vec::new();
        let (mut added, mut left) = (Vec::new(), BTreeMap::new());
        for new in new {
            let there = self.named("m.key = :name", new.key)?;
            let id = match there.first() {
                Some(row) => row.entry.id.clone(),
                None => new.id.to_string(),
            };
            if there.is_empty() && !left.contains_key(&id) {
                added.push(id.clone());
            }
            left.insert(id, sha256_hex(new.content.as_bytes()));
            rows.extend(there);
            let Some(name) = new.supersedes.filter(|_| self.shape.has("superseded_by")) else {
                continue;
            };
            for row in self.named("(m.key = :name OR m.id = :name)", name)? {
                let digest = sha256_hex(row.entry.text.as_bytes());
                left.entry(row.entry.id.clone()).or_insert(digest);
                rows.push(row);
            }
        }
        let mut met = HashSet::new();
        rows.retain(|row| met.insert(row.entry.id.clone()));
        Ok(RowsRecord { added, left, ..self.noted(&rows) })
    }

    fn named(&self, condition: &str, name: &str) -> rusqlite::Result<Vec<KeptRow>> {
        let (visible, updated) = (self.visible(), self.shape.updated());
        // The newest row of a key is the one that a write replaces.
        let sql = format!(
            "SELECT m.* FROM memories m WHERE {condition} AND {visible}
             ORDER BY m.{updated} DESC, m.rowid DESC"
        );
        let mut find = self.db.prepare_cached(&sql)?;
        let bound: &[(&str, &dyn ToSql)] = &[(":name", &name), (":alias", &self.alias)];
        find.query_and_then(bound, |row| self.kept(row))?.collect()
    }

    fn noted(&self, rows: &[KeptRow]) -> RowsRecord {
        noted(&self.path, &self.alias, rows)
    }

    /// Returns what our own table says about a row.
    pub(super) fn stamp_of(&self, id: &str) -> rusqlite::Result<Option<Map<String, Json>>> {
        if !self.db.prepare_cached(HAS_STAMPS)?.exists([])? {
            return Ok(None);
        }
        let mut find =
            self.db.prepare_cached(&format!("SELECT * FROM {STAMPS} WHERE memory_id = ?1"))?;
        find.query_row([id], cells).optional()
    }

    /// Returns what reverting a change would do.
    pub(super) fn plan_back(&self, noted: &RowsRecord) -> rusqlite::Result<RowsUndo> {
        let all = self.begin()?;
        let back = self.back(&all, noted)?;
        all.rollback()?;
        Ok(back)
    }

    /// Reverts a change, and returns what the journal keeps of that.
    pub(super) fn take_back(&self, noted: &RowsRecord) -> rusqlite::Result<(RowsUndo, RowsRecord)> {
        let all = self.begin()?;
        let mut there = Vec::new();
        for id in noted.left.keys() {
            there.extend(self.named("m.id = :name", id)?);
        }
        let kept = self.noted(&there);
        let back = self.back(&all, noted)?;
        if back.changed.is_empty() {
            self.fill_search(&all)?;
            all.commit()?;
        } else {
            all.rollback()?;
        }
        Ok((back, kept))
    }

    fn back(&self, all: &Transaction<'_>, noted: &RowsRecord) -> rusqlite::Result<RowsUndo> {
        let cell = |row: &Map<String, Json>, name: &str| {
            row.get(name).and_then(Json::as_str).unwrap_or_default().to_owned()
        };
        let mut back = RowsUndo::default();
        let before: HashMap<String, &Map<String, Json>> =
            noted.rows.iter().map(|row| (cell(row, "id"), row)).collect();
        for (id, left) in &noted.left {
            let sql = "SELECT key, content FROM memories WHERE id = ?1";
            let there = all
                .query_row(sql, [id], |row| Ok((lossy(row.get_ref(0)?)?, lossy(row.get_ref(1)?)?)))
                .optional()?;
            let Some((key, content)) = there else { continue };
            let content = content.unwrap_or_default();
            // A change that was interrupted left the previous text.
            let is_old = before.get(id).is_some_and(|row| cell(row, "content") == content);
            if sha256_hex(content.as_bytes()) != *left && !is_old {
                back.changed.push(key.unwrap_or_default());
            }
        }
        if !back.changed.is_empty() {
            return Ok(back);
        }
        all.execute_batch(MAKE_STAMPS)?;
        let unstamp = |id: &str| all.execute(DROP_STAMP, [id]);
        for id in &noted.added {
            match all.execute("DELETE FROM memories WHERE id = ?1", [id])? {
                0 => back.gone += 1,
                removed => back.removed += removed,
            }
            unstamp(id)?;
        }
        let mut written = HashSet::new();
        for row in &noted.rows {
            let id = cell(row, "id");
            let is_changed = noted.left.contains_key(&id) && self.set(all, row, &id)?;
            if is_changed || insert(all, "memories", row, |name| self.shape.has(name))? {
                back.put_back += 1;
                unstamp(&id)?;
                written.insert(id);
            } else if !all.prepare("SELECT 1 FROM memories WHERE id = ?1")?.exists([&id])? {
                back.taken.push(cell(row, "key"));
            }
        }
        for stamp in noted.stamps.iter().filter(|stamp| written.contains(&cell(stamp, "memory_id")))
        {
            insert(all, STAMPS, stamp, |name| STAMP_COLUMNS.contains(&name))?;
        }
        Ok(back)
    }

    /// Restores a row; returns whether it exists.
    fn set(
        &self,
        all: &Transaction<'_>,
        row: &Map<String, Json>,
        id: &str,
    ) -> rusqlite::Result<bool> {
        let known: Vec<_> = row.iter().filter(|(name, _)| self.shape.has(name)).collect();
        let set: Vec<String> = known.iter().map(|cell| format!("{} = ?", quoted(cell.0))).collect();
        let sql = format!("UPDATE memories SET {} WHERE id = ?", set.join(", "));
        let values = known.iter().map(|cell| value(cell.1)).chain([id.to_owned().into()]);
        Ok(all.execute(&sql, params_from_iter(values))? > 0)
    }
}

/// Returns what the journal keeps of rows.
pub(super) fn noted(database: &Path, alias: &str, rows: &[KeptRow]) -> RowsRecord {
    RowsRecord {
        database: database.to_owned(),
        alias: alias.to_owned(),
        rows: rows.iter().map(|row| row.cells.clone()).collect(),
        stamps: rows.iter().filter_map(|row| row.stamp.clone()).collect(),
        added: Vec::new(),
        left: BTreeMap::new(),
    }
}

/// Writes a row unless it conflicts with an existing one; returns whether it was written.
fn insert(
    all: &Transaction<'_>,
    table: &str,
    row: &Map<String, Json>,
    has: impl Fn(&str) -> bool,
) -> rusqlite::Result<bool> {
    let known: Vec<_> = row.iter().filter(|(name, _)| has(name)).collect();
    let names: Vec<String> = known.iter().map(|cell| quoted(cell.0)).collect();
    let sql = format!(
        "INSERT OR IGNORE INTO {table} ({}) VALUES ({})",
        names.join(", "),
        vec!["?"; names.len()].join(", ")
    );
    Ok(all.execute(&sql, params_from_iter(known.iter().map(|cell| value(cell.1))))? > 0)
}

fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

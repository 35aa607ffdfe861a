//! The database of memories, in every shape it has had.
//!
//! The table has grown from six columns to sixteen, in any order, and users add columns. So only
//! its name is expected, and every column is read by name. Since 0.8, an install keeps the memories
//! of all its agents in one table.

use std::collections::{BTreeMap, HashMap};
use std::io::{self, Read as _};
use std::path::Path;
use std::sync::OnceLock;

use anemone_format::{FileRoot, SnapshotSource, SourceFile, SourceKind};
use serde::{Deserialize, Serialize};

use super::schema::{PRIVATE_KEY, SCHEMA, STAMP_COLUMNS, STAMPS};
use super::{DEFAULT_ALIAS, RUNTIME};
use crate::kit::{
    AgentEntry, Column, Database, DatabaseError, Machine, Read, RowStamp, Table, Value,
};

/// The table of memories.
pub(super) const TABLE: &str = SCHEMA.table;
/// Where an archive describes the database, below `raw/zeroclaw`: the agent's row, the source of
/// the vectors, the columns with their types. Never written into a workspace.
pub(super) const DESCRIPTION: &str = ".alf-database.json";

/// The most of the table of stamps that is kept in memory.
const MAX_STAMPS_BYTES: usize = 64 << 20;

/// The most agents, settings and versions that are read.
const MAX_LISTED: usize = 10_000;
/// The longest description that is read.
const MAX_DESCRIPTION_BYTES: u64 = 4 << 20;
/// The longest name or setting that is taken.
const MAX_TEXT_BYTES: usize = 4_096;

/// An open database of memories.
pub(super) struct Brain {
    database: Database,
    /// The table's name as the database spells it.
    table: String,
    /// The names of all tables.
    pub(super) tables: Vec<String>,
    /// The columns of [`TABLE`], in order, without `rowid` and without those that are computed.
    pub(super) columns: Vec<String>,
    /// The agents that it knows; empty in a database for one agent.
    pub(super) agents: Vec<AgentEntry>,
    /// `memory_meta`, if it exists.
    pub(super) meta: Vec<(String, String)>,
    layout: Vec<Column>,
    versions: Vec<SchemaVersion>,
    fingerprint: OnceLock<Option<String>>,
}

/// A row of [`TABLE`] with every column it has.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct MemoryRow {
    pub(super) rowid: i64,
    /// Which row of the table it is, from 0, among those of all agents.
    pub(super) position: u64,
    /// In the order of [`Brain::columns`].
    pub(super) cells: Vec<Value>,
}

/// The parts of a row that say what it is called and what replaces it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct RowHead {
    pub(super) rowid: i64,
    pub(super) position: u64,
    pub(super) id: Value,
    pub(super) key: Value,
    pub(super) superseded_by: Value,
    /// Whether it is private.
    pub(super) is_private: bool,
}

/// Counts of the rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct RowCounts {
    /// Rows of this agent that were yielded.
    pub(super) rows: u64,
    /// Private rows of this agent that were not requested.
    pub(super) private: u64,
    /// Rows of other agents.
    pub(super) others: u64,
}

/// A row of `schema_version`.
#[derive(Clone, Debug, Serialize)]
struct SchemaVersion {
    applied_at: String,
    component: String,
    version: i64,
}

/// The description of a database in an archive; its fields are sorted by their names.
#[derive(Debug, Default, Deserialize, Serialize)]
#[serde(default)]
pub(super) struct Description {
    /// The agent whose rows travel.
    pub(super) agent: Option<AgentEntry>,
    /// The columns of the table.
    pub(super) layout_columns: Vec<DescribedColumn>,
    /// The settings of the database.
    pub(super) meta: BTreeMap<String, String>,
    #[serde(skip_deserializing)]
    schema_version: Vec<SchemaVersion>,
}

/// A column in a description.
#[derive(Debug, Deserialize, Serialize)]
pub(super) struct DescribedColumn {
    #[serde(skip_deserializing)]
    default: Option<String>,
    /// Its name.
    pub(super) name: String,
    #[serde(skip_deserializing)]
    not_null: bool,
    /// Its declared type.
    #[serde(rename = "type", default)]
    pub(super) kind: String,
}

impl Description {
    /// Reads the description in a snapshot; the error is that it cannot be parsed.
    pub(super) fn of(source: &dyn SnapshotSource) -> io::Result<Option<serde_json::Result<Self>>> {
        let is_it = |file: &SourceFile| {
            is_raw(file)
                && file.path == DESCRIPTION.as_bytes()
                && matches!(file.kind, SourceKind::File { .. })
        };
        let Some(at) = source.files().iter().position(is_it) else { return Ok(None) };
        let mut text = Vec::new();
        source.content(at)?.take(MAX_DESCRIPTION_BYTES).read_to_end(&mut text)?;
        Ok(Some(serde_json::from_slice(&text)))
    }
}

/// Returns whether a file of a snapshot is one of this runtime's.
pub(super) fn is_raw(file: &SourceFile) -> bool {
    matches!(&file.root, FileRoot::Raw(runtime) if runtime == RUNTIME)
}

impl Brain {
    /// Opens a copy of a database; `None` when it holds no memories, as a decoy does.
    pub(super) fn open(machine: &Machine, path: &Path) -> Result<Option<Self>, DatabaseError> {
        let database = Database::open(machine, path)?;
        let fingerprint = OnceLock::new();
        if database.has_journal() {
            // Reading plays the log back, and then the bytes are different.
            fingerprint.get_or_init(|| database.digest().ok());
        }
        let tables = database.tables()?;
        let Some(table) = find(&tables, TABLE) else { return Ok(None) };
        let layout: Vec<Column> =
            table.columns.iter().filter(|column| !column.generated).cloned().collect();
        let columns = layout.iter().map(|column| column.name.clone()).collect();
        let table = table.name.clone();
        let agents = agents(&database, &tables)?;
        let meta = listed(&database, &tables, "memory_meta", &["key", "value"])?;
        let meta = meta.iter().filter_map(|row| Some((text(&row[0])?, text(&row[1])?))).collect();
        let columns_of_versions = ["component", "version", "applied_at"];
        let versions = listed(&database, &tables, "schema_version", &columns_of_versions)?;
        let version = |row: &Vec<Value>| {
            Some(SchemaVersion {
                component: text(&row[0])?,
                version: row[1].as_integer()?,
                applied_at: text(&row[2]).unwrap_or_default(),
            })
        };
        let versions = versions.iter().filter_map(version).collect();
        let tables = tables.into_iter().map(|table| table.name).collect();
        Ok(Some(Self {
            database,
            table,
            tables,
            columns,
            agents,
            meta,
            layout,
            versions,
            fingerprint,
        }))
    }

    /// Returns a digest of the database, to tell whether it changed. It covers the bytes: a
    /// database that was only vacuumed has another digest.
    pub(super) fn fingerprint(&self) -> Option<String> {
        self.fingerprint.get_or_init(|| self.database.digest().ok()).clone()
    }

    /// Reads where rows come from, by their ids, and how many such rows exceed the limit. A table
    /// that is not like ours yields nothing.
    pub(super) fn stamps(&self) -> (HashMap<String, RowStamp>, u64) {
        let mut found = HashMap::new();
        let (mut left, mut unread) = (MAX_STAMPS_BYTES, 0);
        let Some(table) = self.tables.iter().find(|table| table.eq_ignore_ascii_case(STAMPS))
        else {
            return (found, unread);
        };
        let read = Read::of(table, &STAMP_COLUMNS).ordered_by(&["rowid"]);
        let Ok(rows) = self.database.rows(&read) else { return (found, unread) };
        for row in rows.map_while(Result::ok) {
            let mut cells = row.into_iter().map(shortened).map(|value| text(&value));
            let [id, origin, at, session, source] = std::array::from_fn(|_| cells.next().flatten());
            let (Some(id), Some(origin), Some(at)) = (id, origin, at) else { continue };
            let length = |option: &Option<String>| option.as_ref().map_or(0, String::len);
            let bytes = id.len() + origin.len() + at.len() + length(&session) + length(&source);
            match left.checked_sub(bytes) {
                Some(rest) => {
                    left = rest;
                    found.insert(id, RowStamp { origin, at, session, source });
                }
                None => unread += 1,
            }
        }
        (found, unread)
    }

    /// Returns an agent of the database.
    pub(super) fn agent(&self, alias: &str) -> Option<&AgentEntry> {
        self.agents.iter().find(|agent| agent.alias == alias)
    }

    /// Returns a setting of `memory_meta`.
    pub(super) fn setting(&self, key: &str) -> Option<&str> {
        self.meta.iter().find(|(name, _)| name == key).map(|(_, value)| value.as_str())
    }

    /// Describes the database for one agent, as JSON; see [`DESCRIPTION`].
    pub(super) fn description(&self, alias: &str) -> String {
        let column = |column: &Column| DescribedColumn {
            default: column.default.clone(),
            name: column.name.clone(),
            not_null: column.not_null,
            kind: column.kind.clone(),
        };
        let description = Description {
            agent: self.agent(alias).cloned(),
            layout_columns: self.layout.iter().map(column).collect(),
            meta: self.meta.iter().cloned().collect(),
            schema_version: self.versions.clone(),
        };
        let mut text = serde_json::to_string_pretty(&description)
            .expect("texts, numbers and maps with text keys are JSON");
        text.push('\n');
        text
    }

    /// Yields the rows of one agent in the order of their `rowid`.
    pub(super) fn each_row<E: From<DatabaseError>>(
        &self,
        alias: &str,
        private: bool,
        take: &mut dyn FnMut(MemoryRow) -> Result<(), E>,
    ) -> Result<RowCounts, E> {
        let place = |name: &str| position_of(&self.columns, name);
        let (key, agent, principal) = (place("key"), place("agent_id"), place("principal_id"));
        let owners = self.owners();
        let mut counts = RowCounts::default();
        let columns: Vec<&str> = self.columns.iter().map(String::as_str).collect();
        self.scan(&columns, &mut |rowid, position, cells| {
            let at = |at: Option<usize>| at.and_then(|at| cells.get(at)).unwrap_or(&Value::Null);
            if agent.is_some() && !owners.has(alias, at(agent)) {
                counts.others += 1;
            } else if !private && is_private(at(key), at(principal)) {
                counts.private += 1;
            } else {
                counts.rows += 1;
                take(MemoryRow { rowid, position, cells })?;
            }
            Ok::<_, E>(())
        })?;
        Ok(counts)
    }

    /// Yields a [`RowHead`] for every row of one agent, in the same order.
    pub(super) fn each_head<E: From<DatabaseError>>(
        &self,
        alias: &str,
        take: &mut dyn FnMut(RowHead) -> Result<(), E>,
    ) -> Result<(), E> {
        let has_agents = position_of(&self.columns, "agent_id").is_some();
        let owners = self.owners();
        let columns = ["id", "key", "superseded_by", "agent_id", "principal_id"];
        self.scan(&columns, &mut |rowid, position, cells| {
            let Ok([id, key, superseded_by, agent, principal]) = <[Value; 5]>::try_from(cells)
            else {
                return Ok(());
            };
            if has_agents && !owners.has(alias, &agent) {
                return Ok(());
            }
            let is_private = is_private(&key, &principal);
            take(RowHead { rowid, position, id, key, superseded_by, is_private })
        })
    }

    /// Yields some columns of the rows of all agents, in the order of their `rowid`:
    /// the `rowid`, which row of the table it is, and the cells.
    pub(super) fn scan<E: From<DatabaseError>>(
        &self,
        columns: &[&str],
        take: &mut dyn FnMut(i64, u64, Vec<Value>) -> Result<(), E>,
    ) -> Result<(), E> {
        let columns = [columns, &["rowid"]].concat();
        let read = Read::of(&self.table, &columns).ordered_by(&["rowid"]);
        for (row, position) in self.database.rows(&read)?.zip(0_u64..) {
            let mut cells = row?;
            // A table without row ids has none, but its rows have an order all the same.
            let rowid = cells.pop().and_then(|rowid| rowid.as_integer());
            let rowid = rowid.unwrap_or_else(|| i64::try_from(position).unwrap_or(i64::MAX));
            take(rowid, position, cells)?;
        }
        Ok(())
    }

    /// Returns the owners of rows.
    pub(super) fn owners(&self) -> Owners<'_> {
        Owners(self.agents.iter().map(|agent| (&*agent.id, &*agent.alias)).collect())
    }
}

/// The owners of rows: aliases by the ids of agents.
pub(super) struct Owners<'a>(HashMap<&'a str, &'a str>);

impl Owners<'_> {
    /// Returns whether a row belongs to the agent. A row with no agent, or an unknown one, belongs
    /// to the default agent, as in the program itself.
    pub(super) fn has(&self, alias: &str, agent_id: &Value) -> bool {
        self.named(agent_id).unwrap_or(DEFAULT_ALIAS) == alias
    }

    /// Returns the agent that a row names, if it is known.
    pub(super) fn named(&self, agent_id: &Value) -> Option<&str> {
        agent_id.as_text().and_then(|id| self.0.get(id).copied())
    }
}

/// Returns whether a row is private.
fn is_private(key: &Value, principal: &Value) -> bool {
    let marked = match key {
        Value::Text(key) => key.starts_with(PRIVATE_KEY),
        Value::OddText(key) | Value::Blob(key) => key.starts_with(PRIVATE_KEY.as_bytes()),
        Value::Null | Value::Integer(_) | Value::Real(_) | Value::TooLong(_) => false,
    };
    marked || *principal != Value::Null
}

/// Finds a column, as SQLite compares names.
pub(super) fn position_of(columns: &[String], name: &str) -> Option<usize> {
    columns.iter().position(|column| column.eq_ignore_ascii_case(name))
}

fn find<'a>(tables: &'a [Table], name: &str) -> Option<&'a Table> {
    tables.iter().find(|table| table.name.eq_ignore_ascii_case(name))
}

fn text(value: &Value) -> Option<String> {
    value.as_text().map(str::to_owned)
}

fn agents(database: &Database, tables: &[Table]) -> Result<Vec<AgentEntry>, DatabaseError> {
    let rows = listed(database, tables, "agents", &["id", "alias", "created_at"])?;
    let agent = |row: Vec<Value>| {
        let created_at = text(&row[2]).unwrap_or_default();
        Some(AgentEntry { id: text(&row[0])?, alias: text(&row[1])?, created_at })
    };
    Ok(rows.into_iter().filter_map(agent).collect())
}

/// Reads a small table; one that does not exist has no rows.
fn listed(
    database: &Database,
    tables: &[Table],
    name: &str,
    columns: &[&str],
) -> Result<Vec<Vec<Value>>, DatabaseError> {
    let Some(table) = find(tables, name) else { return Ok(Vec::new()) };
    let mut rows = Vec::new();
    for row in database.rows(&Read::of(&table.name, columns).ordered_by(&["rowid"]))? {
        if rows.len() == MAX_LISTED {
            let detail = format!("the table {name} has more than {MAX_LISTED} rows");
            return Err(DatabaseError::Failed(detail));
        }
        rows.push(row?.into_iter().map(shortened).collect());
    }
    Ok(rows)
}

/// Drops texts that are longer than a name or a setting can be.
fn shortened(value: Value) -> Value {
    match value {
        Value::Text(text) if text.len() > MAX_TEXT_BYTES => Value::Null,
        Value::OddText(_) | Value::Blob(_) | Value::TooLong(_) => Value::Null,
        other => other,
    }
}

#[cfg(test)]
pub(super) mod tests;

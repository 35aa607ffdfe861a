//! The existing database, as far as a plan has to know about it.

use std::collections::{HashMap, HashSet, VecDeque};
use std::io;
use std::path::Path;

use fs_err as fs;
use sha2::{Digest as _, Sha256};

use super::super::{brain::Brain, brain::position_of, schema::SCHEMA};
use crate::kit::{
    AgentEntry, DatabaseError, Machine, PlanError, Value, digest, short_digest, with_suffix,
};

/// The column that names a row's agent.
pub(super) const AGENT_ID: &str = SCHEMA.owner;

/// The database that memories are merged into, if it exists.
#[derive(Default)]
pub(super) struct ExistingStore {
    /// Whether there is a file.
    pub(super) exists: bool,
    /// Whether it has a table of memories.
    pub(super) has_table: bool,
    /// What is in that table; empty where there is none.
    pub(super) target: ExistingRows,
}

/// The rows of a database and what belongs to them. Only digests of the rows are kept, because
/// there may be more rows than fit into memory.
#[derive(Default)]
pub(super) struct ExistingRows {
    pub(super) columns: Vec<String>,
    pub(super) agents: Vec<AgentEntry>,
    pub(super) meta: Vec<(String, String)>,
    /// Rows of the agent, by their keys.
    pub(super) rows: HashMap<Box<str>, KnownRow>,
    /// Rows of all agents, by a digest of their ids; with the key where it is a row of the agent.
    pub(super) ids: HashMap<IdDigest, Option<Box<str>>>,
    /// The numbers of all rows.
    pub(super) rowids: HashSet<i64>,
    /// How many rows there are, of all agents.
    pub(super) count: u64,
}

/// A part of the digest of an id.
pub(super) type IdDigest = [u8; 16];

/// What is known of a row.
pub(super) struct KnownRow {
    /// Its id.
    id: Option<IdDigest>,
    /// Digest of its content.
    pub(super) content: [u8; 32],
    /// Digest of the whole row, and a short one of every cell; only where rows may be replaced.
    pub(super) whole: Option<([u8; 32], Box<[u64]>)>,
}

/// Returns the digest that identifies an id; `None` where there is no id. The column converts a
/// number to text, and so does this.
pub(super) fn id_digest(id: &Value) -> Option<IdDigest> {
    let mut hasher = Sha256::new();
    match plain_id(id) {
        Value::Text(text) => hasher.update(text),
        // No valid text has these bytes.
        Value::OddText(bytes) => hasher.update(bytes),
        Value::Blob(bytes) => {
            hasher.update([0xff]);
            hasher.update(bytes);
        }
        Value::Null | Value::Integer(_) | Value::Real(_) | Value::TooLong(_) => return None,
    }
    let digest: [u8; 32] = hasher.finalize().into();
    digest.first_chunk().copied()
}

/// Returns an id as a text column stores it.
pub(super) fn plain_id(id: &Value) -> Value {
    match id {
        Value::Integer(number) => Value::Text(number.to_string()),
        Value::Real(number) => Value::Text(format!("{number:?}")),
        other => other.clone(),
    }
}

/// Returns the digest that identifies a cell.
pub(super) fn cell_digest(cell: &Value) -> u64 {
    short_digest(&digest(std::slice::from_ref(cell)))
}

/// Returns the digest that identifies a content.
pub(super) fn content_digest(cell: &Value) -> [u8; 32] {
    digest(std::slice::from_ref(cell))
}

impl ExistingStore {
    /// Reads the database at a path; `whole` when rows may be replaced.
    pub(super) fn read(
        machine: &Machine,
        path: &Path,
        alias: &str,
        whole: bool,
    ) -> Result<Self, PlanError> {
        let failed = |detail: String| PlanError::Database { path: path.to_owned(), detail };
        match fs::symlink_metadata(path) {
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return match leftover(path) {
                    // SQLite would replay the log into the new database.
                    Some(name) => Err(failed(format!("it is not there, but its {name} is"))),
                    None => Ok(Self::default()),
                };
            }
            Err(error) => return Err(failed(error.to_string())),
        }
        let brain = Brain::open(machine, path).map_err(|error| failed(error.to_string()))?;
        let Some(brain) = brain else { return Ok(Self { exists: true, ..Self::default() }) };
        let target = ExistingRows::read(&brain, alias, whole);
        let target = target.map_err(|error| failed(error.to_string()))?;
        Ok(Self { exists: true, has_table: true, target })
    }
}

/// Finds the leftovers of a deleted database.
pub(super) fn leftover(path: &Path) -> Option<String> {
    let there = |suffix: &&str| fs::symlink_metadata(with_suffix(path, suffix)).is_ok();
    ["-wal", "-journal"].into_iter().find(there).map(str::to_owned)
}

impl ExistingRows {
    /// Returns the keys of the agent's rows by their contents, each list in order.
    pub(super) fn by_content(&self) -> HashMap<[u8; 32], VecDeque<&str>> {
        let mut found: HashMap<[u8; 32], VecDeque<&str>> = HashMap::new();
        for (key, known) in &self.rows {
            found.entry(known.content).or_default().push_back(key);
        }
        found.values_mut().for_each(|keys| keys.make_contiguous().sort_unstable());
        found
    }

    fn read(brain: &Brain, alias: &str, whole: bool) -> Result<Self, DatabaseError> {
        let columns = brain.columns.clone();
        let at = |name: &str| position_of(&columns, name);
        let owners = brain.owners();
        let has_agents = at(AGENT_ID).is_some();
        let few = ["id", "key", "content", AGENT_ID];
        let all: Vec<&str> = columns.iter().map(String::as_str).collect();
        let places = if whole { few.map(at) } else { [Some(0), Some(1), Some(2), Some(3)] };
        let id_at = at("id");
        let (mut rows, mut ids, mut count) = (HashMap::new(), HashMap::new(), 0);
        let mut rowids = HashSet::new();
        let selected: &[&str] = if whole { &all } else { &few };
        brain.scan(selected, &mut |rowid, _, cells| {
            count += 1;
            rowids.insert(rowid);
            let [id, key, content, agent] = places
                .map(|place| place.and_then(|place| cells.get(place)).unwrap_or(&Value::Null));
            let is_own = !has_agents || owners.has(alias, agent);
            let is_named = !has_agents || owners.named(agent).is_some();
            let key = key.as_text().filter(|_| is_own);
            let id = id_digest(id);
            if let Some(id) = id {
                ids.insert(id, None);
            }
            if let Some(key) = key {
                let content = content_digest(content);
                let short = |(at, cell): (usize, &Value)| {
                    if Some(at) == id_at { cell_digest(&plain_id(cell)) } else { cell_digest(cell) }
                };
                let whole =
                    whole.then(|| (digest(&cells), cells.iter().enumerate().map(short).collect()));
                // A row that names its agent takes precedence over one that names none.
                if is_named || !rows.contains_key(key) {
                    ids.extend(id.map(|id| (id, Some(Box::from(key)))));
                    let known = KnownRow { id, content, whole };
                    let before = rows.insert(Box::from(key), known);
                    ids.extend(before.and_then(|value: KnownRow| value.id).map(|id| (id, None)));
                }
            }
            Ok::<(), DatabaseError>(())
        })?;
        let (agents, meta) = (brain.agents.clone(), brain.meta.clone());
        Ok(Self { columns, agents, meta, rows, ids, rowids, count })
    }
}

//! The store of the plugin `memory-lancedb`: a table of memories outside of the workspace, which
//! all agents of an install share.
//!
//! A row of the table `memories` is a record. The files of the store travel as they are, under a
//! root of their own. They also hold rows that were deleted and older versions of the table, so they
//! travel only where all of that was read, is the agent's and holds no secret.

use std::collections::HashSet;
use std::path::PathBuf;

use anemone_format::{
    Embedding, EmbeddingSource, MemoryType, Moment, Opaque, Record, RecordId, sha256_hex,
};
use serde::Serialize;
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use uuid::Uuid;

use super::config::{self, Config, DEFAULT_AGENT, agent_id};
use super::{NAMESPACES, RUNTIME, memory::Shared, memory::of_text};
use crate::kit::{
    Carrier, Cell, EntryKind, FoundAgent, FoundEntry, LanceError, LanceTable, LeftOut,
    LeftOutReason, Machine, SearchedFolder, SecretPolicy, StoredRow, StoredText, WalkResult,
    WalkRules, Warning, Workspace, each_stored_text, has_only_columns, left_out_size, lossy, times,
};

/// The root of the store's files in an archive. It comes after the workspace's own, as the order of
/// an archive has it.
pub(super) const ROOT: &str = "openclaw_lancedb";
/// The namespace of its records, and what their files begin with.
pub(super) const NAMESPACE: &str = "lancedb";
/// Where the plugin keeps the store, in the install.
const FOLDER: &str = "memory/lancedb";
/// The folder of the table.
pub(super) const TABLE: &str = "memories.lance";
/// The folder of the table's versions.
pub(super) const VERSIONS: &str = "memories.lance/_versions";
/// What the plugin embeds with, unless its settings say something else.
const DEFAULT_PROVIDER: &str = "openai";
const DEFAULT_MODEL: &str = "text-embedding-3-small";

/// What the settings of the plugin say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct StoreSettings {
    /// `dbPath`
    path: Option<String>,
    /// `embedding.provider`
    provider: Option<String>,
    /// `embedding.model`
    model: Option<String>,
}

impl StoreSettings {
    /// Reads the settings of a configuration.
    pub(super) fn of(config: &Value) -> Self {
        let settings = config.pointer("/plugins/entries/memory-lancedb/config");
        let text = |pointer: &str| {
            let text = settings?.pointer(pointer)?.as_str()?.trim();
            (!text.is_empty()).then(|| text.to_owned())
        };
        Self {
            path: text("/dbPath"),
            provider: text("/embedding/provider"),
            model: text("/embedding/model"),
        }
    }

    /// Returns the name of the model as records have it.
    fn model(&self) -> String {
        let provider = self.provider.as_deref().unwrap_or(DEFAULT_PROVIDER);
        let model = self.model.as_deref().unwrap_or(DEFAULT_MODEL);
        format!("{provider}/{model}")
    }
}

/// Returns the folder of an agent's store, which need not exist; `None` without an install. A store
/// on another machine is an error with its address.
pub(super) fn folder(
    machine: &Machine,
    agent: &FoundAgent,
    config: Option<&Config>,
) -> Result<Option<PathBuf>, String> {
    let Some(install) = &agent.install else { return Ok(None) };
    match config.and_then(|config| config.lancedb.path.as_deref()) {
        Some(address) if address.contains("://") => Err(address.to_owned()),
        Some(path) => Ok(Some(config::resolve(machine, install, path))),
        None => Ok(Some(install.join(FOLDER))),
    }
}

/// A store that exists.
pub(super) struct LanceStore {
    pub(super) path: PathBuf,
    pub(super) folder: Workspace,
    /// What its vectors were made with, as records name it.
    pub(super) model: String,
    /// The agent whose rows these are, and whether rows without an agent are its rows.
    alias: String,
    is_default: bool,
    /// Whether the install has several agents, which all use it.
    pub(super) is_shared: bool,
}

/// What was seen in a store.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct StoreTally {
    /// Memories that were handed out.
    pub(super) memories: u64,
    /// Rows of other agents, also deleted ones.
    pub(super) others: u64,
}

/// A memory of the store.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct StoredMemory {
    id: String,
    pub(super) text: String,
    importance: Option<f64>,
    category: Option<String>,
    created_at: Option<f64>,
    agent_id: Option<String>,
    pub(super) vector: Vec<f32>,
}

/// Why the files of a store do not travel.
#[derive(Debug, thiserror::Error)]
pub(super) enum FilesObstacle {
    /// A secret of a memory that travels without it.
    #[error("hold a secret that cannot be replaced in them")]
    Secret,
    /// A secret of anything else in them.
    #[error(
        "hold a secret that is in none of the memories, such as one of a memory that was deleted; \
         LanceDB removes it when it compacts the table and deletes the old versions"
    )]
    OldSecret,
    /// Memories of other agents.
    #[error("hold memories of other agents, or did before these were deleted")]
    OtherAgents,
    /// Not all of their rows can be read.
    #[error("cannot be searched for secrets and for memories of other agents ({0})")]
    Unread(#[from] LanceError),
    /// A file that is no part of a table as the plugin has it.
    #[error("cannot be searched for secrets and for memories of other agents ({0} is unknown)")]
    UnknownFile(String),
    /// A column that is not the plugin's, or metadata, in any version of the table.
    #[error(
        "cannot be searched for secrets (the table has, or had, columns or metadata that Anemone \
         does not know)"
    )]
    UnknownSchema,
}

impl FilesObstacle {
    pub(super) const fn reason(&self) -> LeftOutReason {
        match self {
            Self::Secret | Self::OldSecret => LeftOutReason::Secret,
            Self::OtherAgents => LeftOutReason::Shared,
            Self::Unread(_) | Self::UnknownFile(_) | Self::UnknownSchema => {
                LeftOutReason::NotUnderstood
            }
        }
    }
}

/// Why reading a store ended early.
enum Stopped<E> {
    Table(LanceError),
    Taker(E),
}

impl<E> From<LanceError> for Stopped<E> {
    fn from(error: LanceError) -> Self {
        Self::Table(error)
    }
}

impl LanceStore {
    /// Opens an agent's store; `None` where there is none. One that cannot be opened is a warning.
    pub(super) fn open(
        machine: &Machine,
        agent: &FoundAgent,
        config: Option<&Config>,
    ) -> Result<Option<Self>, Warning> {
        let path = match folder(machine, agent, config) {
            Ok(Some(path)) => path,
            Ok(None) => return Ok(None),
            Err(address) => {
                let message = "is a store of memories on another machine; nothing of it is read";
                return Err(Warning::about("lancedb_unreadable", shown_address(&address), message));
            }
        };
        let unreadable = |error: std::io::Error| {
            let message = format!("holds memories that cannot be read: {error}");
            Warning::about("lancedb_unreadable", path.display(), message)
        };
        let real = match fs_err::canonicalize(&path) {
            Ok(real) => real,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(unreadable(error)),
        };
        let folder = Workspace::open(&real).map_err(unreadable)?;
        let default = config.and_then(Config::default_agent);
        let default = default.map_or(DEFAULT_AGENT, |agent| agent.id.as_str());
        Ok(Some(Self {
            path: real,
            folder,
            model: config.map(|config| config.lancedb.clone()).unwrap_or_default().model(),
            is_default: agent.alias == default,
            alias: agent.alias.clone(),
            is_shared: config.is_some_and(|config| config.agents.len() > 1),
        }))
    }

    /// Lists the files of the table. Whatever else is in the folder is not the plugin's: the folder
    /// is where the user wants it, and may be any.
    pub(super) fn walk(&self) -> std::io::Result<WalkResult> {
        let table = self.path.join(TABLE);
        // A link may lead anywhere.
        if !fs_err::symlink_metadata(&table).is_ok_and(|found| found.is_dir()) {
            return Ok(WalkResult::default());
        }
        let rules = WalkRules::new(TABLE, |_| SearchedFolder::Memory);
        let mut walked = Workspace::open(&table)?.walk(&rules)?;
        for found in &mut walked.found {
            found.path = [TABLE.as_bytes(), b"/", &found.path].concat();
        }
        for left_out in &mut walked.left_out {
            left_out.path = table.join(&left_out.path).display().to_string();
        }
        Ok(walked)
    }

    /// Yields the agent's memories, in the order of the table. The second result is why the table
    /// cannot be read, or not to its end.
    pub(super) fn each_memory<E>(
        &self,
        with_vectors: bool,
        take: &mut dyn FnMut(StoredMemory) -> Result<(), E>,
    ) -> Result<(StoreTally, Option<LanceError>), E> {
        let mut tally = StoreTally::default();
        match self.read(with_vectors, &mut tally, take) {
            Ok(()) => Ok((tally, None)),
            Err(Stopped::Table(error)) => Ok((tally, Some(error))),
            Err(Stopped::Taker(error)) => Err(error),
        }
    }

    fn read<E>(
        &self,
        with_vectors: bool,
        tally: &mut StoreTally,
        take: &mut dyn FnMut(StoredMemory) -> Result<(), E>,
    ) -> Result<(), Stopped<E>> {
        let mut columns = vec!["id", "text", "importance", "category", "createdAt", AGENT];
        columns.extend(with_vectors.then_some("vector"));
        let Some(table) = LanceTable::open(&self.folder, TABLE)? else { return Ok(()) };
        table.each_row(&columns, &mut |row: StoredRow| {
            let is_deleted = row.deleted;
            let memory = StoredMemory::of(row);
            if memory.agent_id.as_deref().unwrap_or(&memory.id) == SENTINEL {
                return Ok(());
            }
            if !self.owns_row(memory.agent_id.as_deref()) {
                tally.others += 1;
            } else if !is_deleted {
                tally.memories += 1;
                take(memory).map_err(Stopped::Taker)?;
            }
            Ok(())
        })
    }

    /// Whether a row of an agent is this agent's; the default agent has the rows without one.
    fn owns_row(&self, agent: Option<&str>) -> bool {
        agent.map_or(self.is_default, |id| agent_id(id) == self.alias)
    }

    /// Checks whether the files of the table may travel as they are: `found` are all of them.
    pub(super) fn check_files(
        &self,
        found: &[FoundEntry],
        secrets: SecretPolicy,
    ) -> Result<(), FilesObstacle> {
        match self.search_files(found, secrets) {
            // The user lets secrets travel, and there are no other agents.
            Err(FilesObstacle::Unread(_) | FilesObstacle::UnknownFile(_))
                if secrets == SecretPolicy::Allow && !self.is_shared =>
            {
                Ok(())
            }
            searched => searched,
        }
    }

    fn search_files(
        &self,
        found: &[FoundEntry],
        secrets: SecretPolicy,
    ) -> Result<(), FilesObstacle> {
        let is_searched = secrets != SecretPolicy::Allow;
        let files = found.iter().filter(|found| !matches!(found.kind, EntryKind::Folder));
        if let Some(unknown) = files.clone().find(|found| !is_known_file(found)) {
            return Err(FilesObstacle::UnknownFile(lossy(&unknown.path)));
        }
        for found in found.iter().filter(|_| is_searched) {
            if Carrier::holds_secret(&self.folder, found).map_err(LanceError::Read)? {
                return Err(FilesObstacle::OldSecret);
            }
        }
        let paths: Vec<&[u8]> = files.map(|found| found.path.as_slice()).collect();
        let in_data = |path: &&[u8]| path.starts_with(DATA.as_bytes());
        let data: Vec<&[u8]> = paths.iter().copied().filter(in_data).collect();
        let mut with_agents = HashSet::new();
        each_stored_text(&self.folder, &data, &mut |StoredText { file, column, text }| {
            if column == AGENT {
                if !with_agents.contains(file) {
                    with_agents.insert(file.to_owned());
                }
                let agent = Some(text.as_str()).filter(|id| !id.is_empty());
                if agent != Some(SENTINEL) && !self.owns_row(agent) {
                    return Err(FilesObstacle::OtherAgents);
                }
            }
            if is_searched && !anemone_secrets::scan(text.as_bytes()).is_empty() {
                return Err(FilesObstacle::OldSecret);
            }
            Ok(())
        })?;
        if with_agents.len() < data.len() && !self.owns_row(None) {
            return Err(FilesObstacle::OtherAgents);
        }
        // The name of a column or of metadata may say that a value is a secret, which no scan of the
        // value alone finds.
        if is_searched && !has_only_columns(&self.folder, &paths, &COLUMNS)? {
            return Err(FilesObstacle::UnknownSchema);
        }
        Ok(())
    }

    /// Makes a record of a memory.
    pub(super) fn record(&self, memory: &StoredMemory, shared: &Shared) -> Record {
        let named = format!("{NAMESPACE}/{}", memory.id);
        let id = Uuid::try_parse(&memory.id)
            .map_or_else(|_| NAMESPACES.record(&named, &memory.text), RecordId::new);
        // An id is a name of the store's, and need not be one that a path can have.
        let is_name = !memory.id.is_empty()
            && memory.id.len() <= 100
            && memory.id.chars().all(|c| c.is_ascii_alphanumeric() || "-_".contains(c));
        let file = if is_name { named } else { format!("{NAMESPACE}/{id}") };
        let created_at = memory.created_at();
        let (at, text) = (created_at.clone().unwrap_or_else(times::epoch), &memory.text);
        let mut record = Record::new(id, shared.agent_id, RUNTIME, at.clone(), text);
        record.memory_type = match memory.category.as_deref() {
            Some("preference") => MemoryType::Preference,
            _ => MemoryType::Semantic,
        };
        record.namespace = NAMESPACE.to_owned();
        record.category.clone_from(&memory.category);
        record.tags =
            std::iter::once(NAMESPACE.to_owned()).chain(memory.category.clone()).collect();
        record.confidence = memory.importance.filter(|value| (0.0..=1.0).contains(value));
        record.temporal.observed_at.clone_from(&created_at);
        record.source = shared.source(&file, NAMESPACE, None);
        if memory.vector.iter().any(|number| *number != 0.0)
            && memory.vector.iter().all(|number| number.is_finite())
        {
            record.embeddings.push(Embedding {
                model: self.model.clone(),
                provider: None,
                dimensions: memory.vector.len() as u64,
                vector: memory.vector.clone(),
                computed_at: at,
                source: EmbeddingSource::Runtime,
                unknown: of_text(&sha256_hex(text.as_bytes())),
            });
        }
        record.raw_source_format = Opaque::new(&RawMemory::of(memory)).ok();
        record
    }

    /// Returns a digest of the names, sizes and times of the store's files.
    pub(super) fn fingerprint(&self) -> String {
        let mut digest = Sha256::new();
        for found in self.walk().map(|walked| walked.found).unwrap_or_default() {
            digest.update(format!("{:?} {:?} {:?}\n", found.path, found.kind, found.mode));
        }
        digest.update(&self.model);
        anemone_format::Hex(&digest.finalize()).to_string()
    }

    /// Names the store among what does not travel.
    pub(super) fn left_out(&self, reason: LeftOutReason) -> LeftOut {
        let (files, bytes) = left_out_size(&self.path.join(TABLE));
        LeftOut { path: self.path.display().to_string(), reason, files, bytes }
    }
}

/// The columns that the plugin writes.
const COLUMNS: [&str; 7] = ["id", "text", "vector", "importance", "category", "createdAt", AGENT];
/// The column that says whose a row is; older versions of the plugin have none.
const AGENT: &str = "agentId";
/// The folder of the table's data files.
const DATA: &str = "memories.lance/data/";
/// The row that the plugin creates its table with, and deletes.
const SENTINEL: &str = "__schema__";

impl StoredMemory {
    fn of(row: StoredRow) -> Self {
        let mut cells = row.cells.into_iter();
        let mut next = || cells.next().unwrap_or(Cell::Null);
        let text = |cell| if let Cell::Text(text) = cell { Some(text) } else { None };
        let number = |cell| if let Cell::Number(number) = cell { Some(number) } else { None };
        Self {
            id: text(next()).unwrap_or_default(),
            text: text(next()).unwrap_or_default(),
            importance: number(next()),
            category: text(next()).filter(|category| !category.is_empty()),
            created_at: number(next()),
            agent_id: text(next()).filter(|id| !id.is_empty()),
            vector: if let Cell::Vector(vector) = next() { vector } else { Vec::new() },
        }
    }

    /// Replaces the secrets in its texts: `search` returns a text without them where it has one.
    /// Returns whether there was one.
    pub(super) fn redact(&mut self, search: &mut dyn FnMut(&str) -> Option<String>) -> bool {
        let text = search(&self.text);
        let category = self.category.as_deref().and_then(&mut *search);
        let beside = [Some(self.id.as_str()), self.agent_id.as_deref()];
        let beside = beside.map(|text| text.and_then(&mut *search));
        let found = text.is_some() || category.is_some() || beside.iter().any(Option::is_some);
        if found {
            self.text = text.unwrap_or_else(|| std::mem::take(&mut self.text));
            self.category = category.or_else(|| self.category.take());
            // A vector reveals something about the text it was made from.
            self.vector.clear();
            let [id, agent] = beside;
            if id.is_some() {
                self.id.clear();
            }
            if agent.is_some() {
                self.agent_id = None;
            }
        }
        found
    }

    #[expect(clippy::cast_possible_truncation, reason = "a float out of range saturates")]
    fn created_at(&self) -> Option<Moment> {
        times::from_set_millis(self.created_at? as i64)
    }
}

/// A row as it was, except for its text and its vector.
#[derive(Serialize)]
struct RawMemory<'a> {
    table: &'static str,
    row: RawRow<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct RawRow<'a> {
    id: &'a str,
    importance: Option<f64>,
    category: Option<&'a str>,
    created_at: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    agent_id: Option<&'a str>,
}

impl<'a> RawMemory<'a> {
    fn of(memory: &'a StoredMemory) -> Self {
        let finite = |number: Option<f64>| number.filter(|number| number.is_finite());
        Self {
            table: "memories",
            row: RawRow {
                id: &memory.id,
                importance: finite(memory.importance),
                category: memory.category.as_deref(),
                created_at: finite(memory.created_at),
                agent_id: memory.agent_id.as_deref(),
            },
        }
    }
}

/// Whether a file of the table is of a kind that is read, or that holds no rows. An index would hold
/// words of them.
fn is_known_file(found: &FoundEntry) -> bool {
    const KINDS: [(&str, &[&str]); 4] = [
        ("data", &["lance"]),
        ("_deletions", &["arrow", "bin"]),
        ("_transactions", &["txn"]),
        ("_versions", &["manifest", "json"]),
    ];
    let path = lossy(&found.path);
    let name = path.strip_prefix(TABLE).and_then(|path| path.strip_prefix('/'));
    let Some((folder, name)) = name.and_then(|name| name.split_once('/')) else { return false };
    let end = name.rsplit_once('.').map_or("", |(_, end)| end);
    let is_of = |(known, ends): &(&str, &[&str])| *known == folder && ends.contains(&end);
    found.is_file() && !name.contains('/') && KINDS.iter().any(is_of)
}

/// Returns an address without what may be a password in it.
fn shown_address(address: &str) -> String {
    let (scheme, rest) = address.split_once("://").unwrap_or(("", address));
    let rest = rest.split(['?', '#']).next().unwrap_or_default();
    let rest = rest.rsplit_once('@').map_or(rest, |(_, host)| host);
    format!("{scheme}://{rest}")
}

/// Returns whether a record came from a store.
pub(super) fn is_of_store(origin_file: Option<&str>) -> bool {
    origin_file
        .and_then(|file| file.strip_prefix(NAMESPACE))
        .is_some_and(|rest| rest.starts_with('/'))
}

//! Writes records into a new database of memories, or merges them into the existing one.
//!
//! A memory is identified by its agent and its key. Records that were rows become the same rows
//! again, with all their columns; records of other runtimes get a key and the equivalent columns.
//! The plan decides what happens to each, from digests of the existing rows; it is applied later in
//! one transaction, if the rows are still the same.

mod entry;
mod target;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};
use std::io;
use std::path::{Path, PathBuf};

use anemone_files::{
    LeftoverKind, create_private, folder_of, locked_folder, private_temporary_folder,
    rename_to_free, sweep, sync_folder,
};
use anemone_format::{Moment, Record, RecordId, SnapshotSource, sha256_hex};
use fs_err as fs;
use uuid::Uuid;

use self::entry::{DraftRow, MergeContext, NoRow, note_superseded, stamp};
use self::target::{
    AGENT_ID, ExistingRows, ExistingStore, IdDigest, KnownRow, cell_digest, content_digest,
    id_digest, leftover,
};
use super::config::{Config, EmbeddingSettings};
use super::{DEFAULT_ALIAS, NAMESPACES, RUNTIME};
use super::{
    brain::DESCRIPTION, brain::Description, keys::Keys, rows::raw_of, schema::KNOWN, schema::SCHEMA,
};
use crate::kit::{
    AgentEntry, Conflict, DatabaseError, FoundAgent, Layout, Link, LinkPart, Machine, MemoriesStep,
    Merge, MergeColumn, NotRestored, NotRestoredKind, OnConflict, PlanBuilder, PlanError,
    PlanOptions, PlannedChange, RecordChange, RestoreError, RestoreSource, ReturningSnapshot,
    RowSpool, RowVerb, StoreError, Value, Warning, merge_rows, name_of,
};

/// The prefix of the folder in which a new database is made; six letters and digits follow.
const STAGING: &str = ".import-";
/// The most columns of a new table.
const MAX_COLUMNS: usize = 200;
/// The most rows with one content that are searched for a key.
const MAX_ALIKE: usize = 64;
/// The suffix of the key of a row that was put beside another one.
const IMPORTED: &str = "__imported";
/// The length of vectors that the runtime assumes when its configuration names none.
const USUAL_DIMENSIONS: u64 = 1_536;
/// The most names that a note lists.
const MAX_NAMED: usize = 20;

/// Until 0.7 a table had only the first of the [`KNOWN`] columns.
const COLUMNS_UNTIL_0_7: usize = 11;
/// The columns that every version needs, including one that reads a table of the first version.
const LEAST_COLUMNS: usize = 7;

/// The records to be written.
pub(super) struct Records<'a> {
    /// The snapshot that the plan is applied with.
    pub(super) source: &'a dyn SnapshotSource,
    /// The same snapshot as it comes back, if the agent was away.
    pub(super) returned: Option<&'a ReturningSnapshot<'a>>,
    /// Whether records that this runtime read from files stay in files.
    pub(super) in_files: bool,
}

/// Plans how the records of a snapshot become rows of the database at `path`, which need not exist.
/// Sets the draft's memories, records and conflicts, and returns what each record becomes.
pub(super) fn plan(
    machine: &Machine,
    records: &Records<'_>,
    target: &FoundAgent,
    path: &Path,
    options: &PlanOptions<'_>,
    draft: &mut PlanBuilder,
) -> Result<Vec<Link>, PlanError> {
    let returned = records.returned;
    let source = returned.map_or(records.source, |returned| returned as &dyn SnapshotSource);
    let described = described(source, draft)?;
    let replaces = options.on_conflict == OnConflict::Theirs;
    let present = ExistingStore::read(machine, path, &target.alias, replaces)?;
    let mut first = FirstPass::default();
    source.each_record(&mut |record| first.take(record)).map_err(PlanError::Source)?;
    if first.records == 0 && described.is_none() {
        return Ok(Vec::new());
    }
    let wants_agents = !matches!(target.generation, Some("workspace" | "seed"));
    let is_described = described.is_some();
    let described = described.unwrap_or_default();
    let config = target.config.as_ref().and_then(|file| Config::of(file).ok());
    let configured = config.as_deref().and_then(Config::embedding);
    let mut change = RowsChange::new(
        path,
        &target.alias,
        source,
        &described,
        &present,
        wants_agents,
        configured.as_ref(),
    );
    change.shared.superseded = first.superseded;
    change.shared.in_files = records.in_files;
    let mut planner = RowPlanner {
        on_conflict: options.on_conflict,
        target: &present.target,
        alias: &target.alias,
        keys: first.keys,
        own_taken: HashSet::new(),
        claimed: HashMap::new(),
        newer: change.shared.superseded.values().copied().collect(),
        ids: HashSet::new(),
        counts: RowPlanCounts::default(),
        conflicts: Vec::new(),
        links: Vec::new(),
    };
    if !planner.target.rows.is_empty() {
        let mut by_content = planner.target.by_content();
        let each = source.each_record(&mut |record| {
            planner.claim(&change.shared, &mut by_content, record);
            Ok(())
        });
        each.map_err(PlanError::Source)?;
    }
    let each = source.each_record(&mut |record| {
        let changed = is_changed(returned, record.id);
        planner.take(&mut change, record, changed);
        Ok(())
    });
    each.map_err(PlanError::Source)?;
    Ok(planner.finish(change, is_described, draft))
}

fn is_changed(returned: Option<&ReturningSnapshot<'_>>, record: RecordId) -> bool {
    returned.and_then(|returned| returned.fate(record)) == Some(RecordChange::Changed)
}

/// Reads the snapshot's description of its database.
fn described(
    source: &dyn SnapshotSource,
    draft: &mut PlanBuilder,
) -> Result<Option<Description>, PlanError> {
    let described = Description::of(source).map_err(PlanError::Source)?;
    if let Some(Err(_)) = &described {
        let message = "cannot be read; the table gets the columns of today";
        draft.warnings.push(Warning::about("database_description", DESCRIPTION, message));
    }
    Ok(described.and_then(Result::ok))
}

/// What must be known about all records before the first decision.
#[derive(Default)]
struct FirstPass {
    records: u64,
    superseded: HashMap<RecordId, RecordId>,
    /// Keys of rows take precedence; records of other runtimes get other keys.
    keys: Keys,
}

impl FirstPass {
    fn take(&mut self, record: &Record) -> io::Result<()> {
        self.records += 1;
        note_superseded(record, &mut self.superseded);
        if let Some(raw) = raw_of(record) {
            self.keys.take(raw.cell("key").as_text().unwrap_or(&raw.key));
        }
        Ok(())
    }
}

/// A planned change of a database.
struct RowsChange {
    path: PathBuf,
    merge: Merge,
    shared: MergeContext,
    /// What happens to each record, in their order.
    steps: Vec<RowStep>,
    /// Original ids of rows, and their new ones.
    new_ids: HashMap<String, String>,
    /// Original keys of rows, and their new ones.
    new_keys: HashMap<String, String>,
    is_new: bool,
    /// Whether the numbers of all new rows are free. Otherwise none keeps its own: equal search
    /// results are ranked by them, so the rows must stay in order.
    keeps_numbers: bool,
    /// Rows to be written.
    writes: u64,
}

struct RowStep {
    record: RecordId,
    action: RowAction,
}

/// What happens to a record.
enum RowAction {
    Nothing,
    /// It gets a new row, with this id if it cannot keep its own.
    Insert {
        key: Box<str>,
        id: Option<Box<str>>,
    },
    /// It replaces the row with the key.
    Replace {
        key: Box<str>,
        expected: [u8; 32],
        same_content: bool,
        keeps_id: bool,
    },
}

impl RowsChange {
    fn new(
        path: &Path,
        alias: &str,
        source: &dyn SnapshotSource,
        described: &Description,
        present: &ExistingStore,
        wants_agents: bool,
        configured: Option<&EmbeddingSettings>,
    ) -> Self {
        let target = &present.target;
        let (layout, columns) = if present.has_table {
            found_layout(target, described)
        } else {
            made_layout(described, wants_agents)
        };
        let has_agents = match &layout {
            Layout::Made(_) => wants_agents,
            Layout::Found(columns) => {
                columns.iter().any(|column| column.eq_ignore_ascii_case(AGENT_ID))
            }
        };
        let (known, meta, is_empty) = (&target.agents, &target.meta, target.count == 0);
        let brought: Vec<(String, String)> =
            described.meta.iter().map(|(key, value)| (key.clone(), value.clone())).collect();
        let takes_meta = is_empty && meta.is_empty();
        let model = model_of(if takes_meta { &brought } else { meta });
        // A database that does not name its model has that of the configuration.
        let model = model.or_else(|| configured.filter(|_| meta.is_empty()).map(model_in));
        // Unknown models must not be treated as equal.
        let is_same = model == model_of(&brought) && (is_empty || model.is_some());
        let keeps_vectors = takes_meta || is_same;
        let derived = |alias: &str| {
            Uuid::new_v5(&source.manifest().agent.id.uuid(), alias.as_bytes()).to_string()
        };
        let owner = has_agents.then(|| {
            let has_rows = !target.rows.is_empty();
            let known_as = known.iter().find(|agent| agent.alias == alias);
            let is_taken =
                |id: &str| known.iter().any(|value| value.id == id && value.alias != alias);
            let brought = described.agent.as_ref();
            let brought =
                brought.filter(|brought| !brought.id.is_empty() && !is_taken(&brought.id));
            match (known_as, brought) {
                (Some(known), Some(brought)) if !has_rows && known.id != brought.id => {
                    entry_of(&brought.id, alias, &brought.created_at)
                }
                (Some(known), _) => known.clone(),
                (None, Some(brought)) => entry_of(&brought.id, alias, &brought.created_at),
                (None, None) => entry_of(&derived(alias), alias, ""),
            }
        });
        // ZeroClaw requires a `default` agent; rows without an owner belong to it.
        let mut others = Vec::new();
        if has_agents && alias != DEFAULT_ALIAS && matches!(layout, Layout::Made(_)) {
            others.push(entry_of(&derived(DEFAULT_ALIAS), DEFAULT_ALIAS, ""));
        }
        let merge = Merge {
            runtime: RUNTIME.to_owned(),
            layout,
            columns: columns.clone(),
            agent: owner,
            takes_unowned: alias == DEFAULT_ALIAS,
            others,
            meta: if takes_meta { brought } else { Vec::new() },
            now: String::new(),
            backup: None,
            probe: false,
            bytes: 0,
        };
        let columns = columns.into_iter().map(|column| column.name).collect();
        Self {
            path: path.to_owned(),
            merge,
            shared: MergeContext {
                columns,
                keeps_vectors,
                model,
                superseded: HashMap::new(),
                in_files: true,
            },
            steps: Vec::new(),
            new_ids: HashMap::new(),
            new_keys: HashMap::new(),
            is_new: !present.exists,
            keeps_numbers: true,
            writes: 0,
        }
    }
}

fn entry_of(id: &str, alias: &str, created_at: &str) -> AgentEntry {
    AgentEntry { id: id.to_owned(), alias: alias.to_owned(), created_at: created_at.to_owned() }
}

/// Returns the model that makes the vectors of a database, in the form that records use.
fn model_of(meta: &[(String, String)]) -> Option<(String, u64)> {
    let find = |name: &str| meta.iter().find(|(key, _)| key == name).map(|(_, value)| value);
    let (provider, model) = (find("embedding_provider")?, find("embedding_model")?);
    Some((format!("{provider}/{model}"), find("embedding_dimensions")?.parse().ok()?))
}

/// Returns the model that a configuration names, in the same form.
fn model_in(settings: &EmbeddingSettings) -> (String, u64) {
    let name = format!("{}/{}", settings.provider, settings.model);
    (name, settings.dimensions.unwrap_or(USUAL_DIMENSIONS))
}

/// Keeps the columns of a table, and adds those that the runtime would add.
fn found_layout(target: &ExistingRows, described: &Description) -> (Layout, Vec<MergeColumn>) {
    let mut columns: Vec<MergeColumn> = target
        .columns
        .iter()
        .filter(|name| !name.eq_ignore_ascii_case(AGENT_ID))
        .map(|name| MergeColumn { name: name.clone(), declared: String::new() })
        .collect();
    for column in &described.layout_columns {
        let is_there = columns.iter().any(|other| other.name.eq_ignore_ascii_case(&column.name));
        if !is_there && SCHEMA.is_addable(&column.name) {
            columns.push(MergeColumn { name: column.name.clone(), declared: String::new() });
        }
    }
    (Layout::Found(target.columns.clone()), columns)
}

/// Returns the columns of the source's table, or those that the runtime creates.
fn made_layout(described: &Description, wants_agents: bool) -> (Layout, Vec<MergeColumn>) {
    let mut layout: Vec<MergeColumn> = Vec::new();
    let add = |layout: &mut Vec<MergeColumn>, name: &str, declared: &str| {
        let is_there = layout.iter().any(|layout| layout.name.eq_ignore_ascii_case(name));
        // These are names of the row number.
        let is_rowid = ["rowid", "oid", "_rowid_"]
            .iter()
            .any(|character| character.eq_ignore_ascii_case(name));
        let is_agent = name.eq_ignore_ascii_case(AGENT_ID);
        let has_room = layout.len() < MAX_COLUMNS || SCHEMA.column(name).is_some();
        if !is_there && !is_rowid && !name.is_empty() && has_room && (!is_agent || wants_agents) {
            layout.push(MergeColumn { name: name.to_owned(), declared: declared.to_owned() });
        }
    };
    for column in &described.layout_columns {
        add(&mut layout, &column.name, &column.kind);
    }
    let needed = match (described.layout_columns.is_empty(), wants_agents) {
        (true, true) => &KNOWN[..],
        (true, false) => &KNOWN[..COLUMNS_UNTIL_0_7],
        (false, _) => &KNOWN[..LEAST_COLUMNS],
    };
    for (name, _) in needed {
        add(&mut layout, name, "");
    }
    add(&mut layout, AGENT_ID, "");
    let is_cell = |column: &&MergeColumn| !column.name.eq_ignore_ascii_case(AGENT_ID);
    let columns = layout.iter().filter(is_cell).cloned().collect();
    (Layout::Made(layout), columns)
}

#[derive(Default)]
struct RowPlanCounts {
    added: u64,
    replaced: u64,
    kept: u64,
    same: u64,
    new_ids: u64,
    /// Rows whose key another row of the snapshot has.
    new_keys: u64,
    no_row: BTreeMap<NoRow, u64>,
    /// Columns of rows that the table does not have.
    homeless: BTreeSet<String>,
    lost_vectors: u64,
    /// Rows of which a part was too long to travel.
    cut: u64,
}

/// Decides what happens to each record.
struct RowPlanner<'a> {
    on_conflict: OnConflict,
    target: &'a ExistingRows,
    alias: &'a str,
    /// Keys that the snapshot's records have, or will have.
    keys: Keys,
    /// The keys seen so far of records that were rows.
    own_taken: HashSet<String>,
    /// Memories of other runtimes that a row already holds, with the key of that row.
    claimed: HashMap<RecordId, Box<str>>,
    /// Records that replace others.
    newer: HashSet<RecordId>,
    /// Ids that the snapshot's records will have.
    ids: HashSet<IdDigest>,
    counts: RowPlanCounts,
    conflicts: Vec<Conflict>,
    links: Vec<Link>,
}

impl<'a> RowPlanner<'a> {
    fn take(&mut self, change: &mut RowsChange, record: &Record, changed: bool) {
        let mut header = None;
        let (action, link) = match change.shared.entry(record, changed) {
            Err(reason) => {
                *self.counts.no_row.entry(reason).or_default() += 1;
                // A record that stays in a file is read from that file again.
                let file = record.source.origin_file.as_deref();
                let part = || LinkPart::new(file, name_of(record).as_deref(), &record.content);
                (RowAction::Nothing, (reason == NoRow::InFile).then(part))
            }
            Ok(mut entry) => {
                header = entry.header.take();
                self.decide(change, record.id, entry)
            }
        };
        if !matches!(action, RowAction::Nothing) {
            change.writes += 1;
        }
        change.steps.push(RowStep { record: record.id, action });
        let mut link = Link::new(record.id, link.into_iter().collect());
        link.places.added.extend(header);
        self.links.push(link);
    }

    fn decide(
        &mut self,
        change: &mut RowsChange,
        record: RecordId,
        mut entry: DraftRow,
    ) -> (RowAction, Option<LinkPart>) {
        let shared = &change.shared;
        // Records refer to each other by their ids, and rows by theirs.
        if self.newer.contains(&record)
            && let Some(id) = entry.cell(shared, "id").and_then(Value::as_text)
            && id != record.to_string()
        {
            change.new_ids.entry(record.to_string()).or_insert(id.to_owned());
        }
        let key = self.key_of(record, &entry);
        entry.set(shared, "key", Value::Text(key.clone()));
        let content = entry.cell(shared, "content").unwrap_or(&Value::Null);
        let text = content.as_text().unwrap_or_default();
        let sha256 = sha256_hex(text.trim().as_bytes());
        let content = content_digest(content);
        let homeless = std::mem::take(&mut entry.homeless);
        self.counts.homeless.extend(homeless.into_iter().take(MAX_COLUMNS));
        self.counts.cut += u64::from(entry.is_cut);
        let part = |key: &str| LinkPart { file: None, name: Some(key.to_owned()), sha256 };
        let Some(known) = self.target.rows.get(&*key) else {
            let action = self.insert(change, &entry, &key);
            return (action, Some(part(&key)));
        };
        let same_content = known.content == content;
        let keeps_id = self.is_id_of_another(shared, &entry, &key);
        if same_content && !self.differs(shared, &mut entry, known) {
            self.counts.same += 1;
            return (RowAction::Nothing, Some(part(&key)));
        }
        if !same_content {
            let reason = "the database has another content for this key";
            self.conflicts.push(Conflict { path: key.clone().into_bytes(), reason });
        }
        match (self.on_conflict, &known.whole) {
            (OnConflict::Theirs, Some((expected, _))) => {
                self.counts.replaced += 1;
                self.counts.lost_vectors += u64::from(entry.lost_vector);
                let expected = *expected;
                let action =
                    RowAction::Replace { key: (*key).into(), expected, same_content, keeps_id };
                (action, Some(part(&key)))
            }
            (OnConflict::Both, _) => {
                let (beside, is_there) = self.beside(&key, &content);
                if entry.is_own && entry.key == key {
                    change.new_keys.insert(key.clone(), beside.clone());
                }
                if is_there {
                    self.counts.same += 1;
                    return (RowAction::Nothing, Some(part(&beside)));
                }
                let action = self.insert(change, &entry, &beside);
                (action, Some(part(&beside)))
            }
            _ => {
                self.counts.kept += 1;
                (RowAction::Nothing, None)
            }
        }
    }

    /// Finds the row that already holds another runtime's memory. All such rows are found before
    /// the first key is given away: another runtime may number its memories, so that an id names
    /// another one as soon as one is inserted in front of it.
    fn claim(
        &mut self,
        shared: &MergeContext,
        by_content: &mut HashMap<[u8; 32], VecDeque<&str>>,
        record: &Record,
    ) {
        let Ok(entry) = shared.entry(record, false) else { return };
        if entry.is_own {
            return;
        }
        let content = content_digest(entry.cell(shared, "content").unwrap_or(&Value::Null));
        let Some(keys) = by_content.get_mut(&content) else { return };
        let says_so =
            |key: &&str| self.target.rows.get(*key).is_some_and(|row| row.content == content);
        let by_id = self.row_with_id(record.id).filter(says_so);
        if let Some(key) = by_id.filter(|key| self.keys.take(key)) {
            self.claimed.insert(record.id, key.into());
            return;
        }
        let mut at = 0;
        while let Some(key) = keys.get(at).copied().filter(|_| at < MAX_ALIKE) {
            if !is_like(key, &entry.key) {
                at += 1;
                continue;
            }
            keys.remove(at);
            if self.keys.take(key) {
                self.claimed.insert(record.id, key.into());
                return;
            }
        }
    }

    /// Returns the key of the agent's row that has the id of a record.
    fn row_with_id(&self, record: RecordId) -> Option<&'a str> {
        let id = id_digest(&Value::Text(record.to_string()))?;
        self.target.ids.get(&id)?.as_deref()
    }

    /// Returns the key of a record. Another runtime's memory is identified by its text; if that is
    /// new, by its id, if the row with that id has a similar key.
    fn key_of(&mut self, record: RecordId, entry: &DraftRow) -> String {
        if entry.is_own {
            // Without a UNIQUE constraint a key may occur twice.
            let is_first = self.own_taken.insert(entry.key.clone());
            if is_first {
                return entry.key.clone();
            }
            self.counts.new_keys += 1;
            return self.keys.take_like(&entry.key);
        }
        if let Some(key) = self.claimed.remove(&record) {
            return key.into();
        }
        if let Some(key) = self.row_with_id(record)
            && is_like(key, &entry.key)
            && self.keys.take(key)
        {
            return key.to_owned();
        }
        self.keys.take_like(&entry.key)
    }

    /// Returns whether a row has another value in a cell that the record sets. Only called where
    /// the record takes precedence.
    fn differs(&self, shared: &MergeContext, entry: &mut DraftRow, known: &KnownRow) -> bool {
        let Some((_, cells)) = &known.whole else { return false };
        settle_vector(shared, entry, true);
        let key = entry.cell(shared, "key").and_then(Value::as_text).unwrap_or_default().to_owned();
        if self.is_id_of_another(shared, entry, &key) {
            entry.leave(shared, "id");
        }
        let mut found = entry.cells.iter().zip(&shared.columns);
        found.any(|(cell, column)| {
            let Some(cell) = cell else { return false };
            let place = self.target.columns.iter().position(|other| other == column);
            match place.and_then(|place| cells.get(place)) {
                Some(known) => *known != cell_digest(cell),
                // A new column is empty.
                None => *cell != Value::Null,
            }
        })
    }

    fn is_id_of_another(&self, shared: &MergeContext, entry: &DraftRow, key: &str) -> bool {
        let Some(id) = entry.cell(shared, "id").and_then(id_digest) else { return false };
        match self.target.ids.get(&id) {
            Some(owner) => owner.as_deref() != Some(key),
            None => self.ids.contains(&id),
        }
    }

    fn insert(&mut self, change: &mut RowsChange, entry: &DraftRow, key: &str) -> RowAction {
        self.counts.added += 1;
        self.counts.lost_vectors += u64::from(entry.lost_vector);
        change.keeps_numbers &=
            entry.rowid.is_none_or(|rowid| !self.target.rowids.contains(&rowid));
        let mut id: Option<Box<str>> = None;
        let own = entry.cell(&change.shared, "id");
        if let Some((own, mut taken)) = own.and_then(|own| Some((own, id_digest(own)?))) {
            let text = own.as_text().unwrap_or_default();
            let mut attempt = 0_u64;
            while self.target.ids.contains_key(&taken) || self.ids.contains(&taken) {
                let name = format!("{}:{key}:{text}:{attempt}", self.alias);
                let made = Uuid::new_v5(&NAMESPACES.records, name.as_bytes()).to_string();
                let made = Value::Text(made);
                taken = id_digest(&made).unwrap_or(taken);
                id = made.as_text().map(Box::from);
                attempt += 1;
            }
            self.ids.insert(taken);
            if let Some(made) = &id {
                self.counts.new_ids += 1;
                if let Some(own) = own.as_text() {
                    change.new_ids.insert(own.to_owned(), made.to_string());
                }
            }
        }
        RowAction::Insert { key: key.into(), id }
    }

    /// Returns a key beside another one, and whether a row with this content has it already.
    fn beside(&mut self, key: &str, content: &[u8; 32]) -> (String, bool) {
        let mut number = 1_u64;
        loop {
            let beside = match number {
                1 => format!("{key}{IMPORTED}"),
                _ => format!("{key}{IMPORTED}_{number}"),
            };
            number += 1;
            match self.target.rows.get(&*beside) {
                Some(known) if known.content == *content => return (beside, true),
                Some(_) => {}
                None if self.keys.take(&beside) => return (beside, false),
                None => {}
            }
        }
    }

    fn finish(
        self,
        mut change: RowsChange,
        is_described: bool,
        draft: &mut PlanBuilder,
    ) -> Vec<Link> {
        let counts = self.counts;
        let RowPlanCounts { added, replaced, kept, same, lost_vectors, new_ids, .. } = counts;
        let made = change.is_new;
        let note = |count: u64, reason: &str| {
            NotRestored::new(NotRestoredKind::Memory, format!("{count} {reason}"))
        };
        for (reason, count) in counts.no_row {
            match reason {
                NoRow::Deleted => {
                    draft.not_restored.push(note(count, "are gone; only tombstones are left"));
                }
                NoRow::Blank => draft.not_restored.push(note(count, "have no text")),
                NoRow::InFile => {}
            }
        }
        for column in counts.homeless.iter().take(MAX_NAMED) {
            let reason = "the table has no such column, and the runtime does not know it";
            draft.omit(NotRestoredKind::Column, column.clone(), reason);
        }
        if counts.homeless.len() > MAX_NAMED {
            let more = counts.homeless.len() - MAX_NAMED;
            let reason = format!("{more} more columns that the table does not have");
            draft.not_restored.push(NotRestored::new(NotRestoredKind::Column, reason));
        }
        if counts.cut > 0 {
            draft.not_restored.push(note(counts.cut, "were too long to travel whole"));
        }
        if lost_vectors > 0 {
            let reason = format!(
                "{lost_vectors} embeddings were skipped (other model or text); the runtime will \
                 recompute them"
            );
            draft.not_restored.push(NotRestored::new(NotRestoredKind::Embedding, reason));
        }
        if new_ids > 0 {
            let message = format!("{new_ids} memories get a new id, because others have theirs");
            draft.warnings.push(Warning::new("memory_id_taken", message));
        }
        if counts.new_keys > 0 {
            let message = format!(
                "{} memories get a key with a number, because another memory has theirs",
                counts.new_keys
            );
            draft.warnings.push(Warning::new("memory_key_taken", message));
        }
        draft.records += added + replaced + kept + same;
        draft.conflicts.extend(self.conflicts);
        if made && added == 0 && !is_described {
            // All records are in files; the runtime creates a database when it needs one.
            return self.links;
        }
        change.shared.columns.shrink_to_fit();
        draft.memories = Some(MemoriesStep {
            store: change.path.clone(),
            made,
            added,
            replaced,
            kept,
            same,
            change: Box::new(change),
        });
        self.links
    }
}

/// Returns whether a key equals another one, or was derived from it to avoid a duplicate.
fn is_like(key: &str, natural: &str) -> bool {
    let Some(rest) = key.strip_prefix(natural) else { return false };
    let rest = rest.strip_prefix(IMPORTED).unwrap_or(rest);
    let number = rest.strip_prefix('_').unwrap_or(rest);
    rest.is_empty()
        || (number.len() < rest.len()
            && !number.is_empty()
            && number.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Keeps the vector of a row whose content stays, if the record has none for it.
fn settle_vector(shared: &MergeContext, entry: &mut DraftRow, same_content: bool) {
    if same_content && entry.cell(shared, "embedding") == Some(&Value::Null) {
        entry.leave(shared, "embedding");
    }
}

impl PlannedChange for RowsChange {
    fn check(&self, machine: &Machine) -> Result<(), RestoreError> {
        if self.is_new {
            return Ok(self.check_is_free()?);
        }
        if self.writes == 0 {
            return Ok(());
        }
        let probed = merge_rows(machine, &self.path, self.merge.clone(), None);
        Ok(probed.map_err(|error| self.error(error))?)
    }

    fn apply(
        &self,
        machine: &Machine,
        source: &RestoreSource<'_>,
        now: &Moment,
    ) -> Result<Option<PathBuf>, RestoreError> {
        // An earlier run may have been killed after the database got its name: then there is nothing
        // to write, but its folder is still there.
        sweep(folder_of(&self.path), STAGING, LeftoverKind::Folder);
        if self.writes == 0 && !self.is_new {
            return Ok(None);
        }
        let spool = self.spool(machine, source)?;
        let merge = Merge { now: stamp(now.instant()), ..self.merge.clone() };
        if self.is_new {
            self.make(machine, merge, spool)?;
            return Ok(None);
        }
        Ok(Some(self.change(machine, merge, spool, now)?))
    }
}

impl RowsChange {
    fn error(&self, error: DatabaseError) -> StoreError {
        let path = self.path.clone();
        match error {
            DatabaseError::Busy => StoreError::Busy { path },
            DatabaseError::Changed => StoreError::Changed { path },
            source => StoreError::Database { path, source },
        }
    }

    fn failed(&self, source: io::Error) -> StoreError {
        StoreError::Io { path: self.path.clone(), source }
    }

    fn check_is_free(&self) -> Result<(), StoreError> {
        match fs::symlink_metadata(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(self.failed(error)),
            Ok(_) => return Err(StoreError::Changed { path: self.path.clone() }),
        }
        match leftover(&self.path) {
            Some(_) => Err(StoreError::Changed { path: self.path.clone() }),
            None => Ok(()),
        }
    }

    /// Generates the rows of the records again, as they were decided.
    fn spool(&self, machine: &Machine, source: &RestoreSource<'_>) -> Result<RowSpool, StoreError> {
        let mut spool = RowSpool::new(&machine.scratch, self.shared.columns.len())
            .map_err(|error| self.failed(error))?;
        let mut steps = self.steps.iter();
        let mut trouble = None;
        let each = source.current().each_record(&mut |record| {
            let step = steps.next().filter(|step| step.record == record.id);
            let row = match step {
                Some(RowStep { action: RowAction::Nothing, .. }) => return Ok(()),
                Some(step) => {
                    let changed = is_changed(source.returning(), record.id);
                    self.shared.entry(record, changed).ok().map(|entry| (step, entry))
                }
                None => None,
            };
            let Some((step, entry)) = row else {
                trouble = Some(StoreError::OtherSnapshot);
                return Err(io::ErrorKind::InvalidData.into());
            };
            self.push(&mut spool, &step.action, entry).map_err(|error| {
                trouble = Some(self.failed(error));
                io::ErrorKind::Other.into()
            })
        });
        match (trouble, each) {
            (Some(error), _) => Err(error),
            (None, Err(error)) => Err(StoreError::Source(Box::new(error))),
            (None, Ok(())) if steps.next().is_some() => Err(StoreError::OtherSnapshot),
            (None, Ok(())) => Ok(spool),
        }
    }

    fn push(
        &self,
        spool: &mut RowSpool,
        action: &RowAction,
        mut entry: DraftRow,
    ) -> io::Result<()> {
        let shared = &self.shared;
        let newer = entry.cell(shared, "superseded_by").and_then(Value::as_text);
        let find = |newer| self.new_ids.get(newer).or_else(|| self.new_keys.get(newer));
        if let Some(newer) = newer.and_then(find) {
            entry.set(shared, "superseded_by", Value::Text(newer.clone()));
        }
        let (key, verb) = match action {
            RowAction::Nothing => return Ok(()),
            RowAction::Insert { key, id } => {
                if let Some(id) = id {
                    entry.set(shared, "id", Value::Text(id.to_string()));
                }
                (key, RowVerb::Insert)
            }
            RowAction::Replace { key, expected, same_content, keeps_id } => {
                settle_vector(shared, &mut entry, *same_content);
                if *keeps_id {
                    entry.leave(shared, "id");
                }
                (key, RowVerb::Replace(*expected))
            }
        };
        entry.set(shared, "key", Value::Text(key.to_string()));
        let rowid = entry.rowid.filter(|_| self.keeps_numbers);
        spool.push(verb, rowid, &entry.cells, entry.stamp.as_ref())
    }

    /// Creates the database in a folder beside its place, and moves it there when it is complete.
    fn make(&self, machine: &Machine, merge: Merge, spool: RowSpool) -> Result<(), StoreError> {
        let failed = |error| self.failed(error);
        let (Some(folder), Some(name)) = (self.path.parent(), self.path.file_name()) else {
            return Err(failed(io::ErrorKind::InvalidInput.into()));
        };
        self.check_is_free()?;
        fs::create_dir_all(folder).map_err(failed)?;
        let mut made = None;
        let (staging, _lock) = locked_folder(&mut || {
            let folder = private_temporary_folder(folder, STAGING)?;
            Ok(made.insert(folder).path().to_owned())
        })
        .map_err(failed)?;
        let staged = staging.join(name);
        create_private(&staged).map_err(failed)?;
        merge_rows(machine, &staged, merge, Some(spool)).map_err(|error| self.error(error))?;
        if leftover(&staged).is_some() {
            return Err(failed(io::Error::other("its log could not be closed")));
        }
        fs::File::open(&staged).and_then(|file| file.sync_all()).map_err(failed)?;
        rename_to_free(&staged, &self.path).map_err(failed)?;
        sync_folder(folder).map_err(failed)
    }

    /// Changes the existing database after copying it; returns the copy.
    fn change(
        &self,
        machine: &Machine,
        mut merge: Merge,
        spool: RowSpool,
        now: &Moment,
    ) -> Result<PathBuf, StoreError> {
        let Some(name) = self.path.file_name().and_then(|name| name.to_str()) else {
            return Err(self.failed(io::ErrorKind::InvalidInput.into()));
        };
        let stem = format!("{name}.backup-{}", now.instant().strftime("%Y%m%dT%H%M%S"));
        // The runtime gives its own copies such names, too: the name is reserved before anything is
        // done, and nothing is ever removed but what was created here.
        let mut number = 0_u32;
        let (name, backup) = loop {
            let name = match number {
                0 => stem.clone(),
                _ => format!("{stem}-{number}"),
            };
            let backup = self.path.with_file_name(&name);
            match create_private(&backup) {
                Ok(_) => break (name, backup),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists && number < 1_000 => {
                    number += 1;
                }
                Err(error) => return Err(self.failed(error)),
            }
        };
        merge.backup = Some(name);
        let is_copied = || fs::symlink_metadata(&backup).is_ok_and(|metadata| metadata.len() > 0);
        match merge_rows(machine, &self.path, merge, Some(spool)) {
            Ok(()) => Ok(backup),
            Err(source) if source.may_have_changed() && is_copied() => {
                Err(StoreError::Unsure { path: self.path.clone(), backup, source: source.into() })
            }
            Err(error) => {
                // The database is unchanged, so the copy is not needed.
                drop(fs::remove_file(&backup));
                Err(self.error(error))
            }
        }
    }
}

#[cfg(test)]
mod tests;

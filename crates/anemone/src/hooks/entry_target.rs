//! Where a hook puts entries: the log of the day, or rows of a database.

use std::path::Path;

use anemone_format::{Origin, ProvenanceStamp};
use anemone_memory::{
    Category, Change, Edit, Given, HookWrite, LockedStore, PageKind, RowsWanted, SqliteMemory,
    render, units,
};
use anemone_runtimes::MemoryBackend;
use jiff::civil::Date;

use super::HookError;
use crate::host::Host;
use crate::living::{AgentMemory, no_finder};

/// Where an agent finds again what is put there.
pub(super) struct EntryTarget<'a> {
    memory: &'a AgentMemory,
    host: &'a Host,
    day: Date,
    /// What can be read of the database, where there is one already.
    rows: Option<SqliteMemory>,
}

/// What a hook wrote.
#[derive(Clone, Copy)]
pub(super) struct LoggedWrite<'a> {
    pub(super) hook: &'a str,
    pub(super) path: &'a str,
    pub(super) entries: usize,
    /// By which it can be undone.
    pub(super) change: &'a str,
}

/// Refuses a memory that is out of reach: what is put anywhere else would not be read.
pub(super) fn check_within_reach(memory: &AgentMemory) -> Result<(), HookError> {
    let place = match &memory.keeps {
        MemoryBackend::Markdown | MemoryBackend::Sqlite(_) => return Ok(()),
        MemoryBackend::None => "nowhere".to_owned(),
        MemoryBackend::External(name) => format!("in {name}"),
    };
    Err(HookError::OutOfReach { place })
}

/// Notes in the agent's state folder what a hook wrote, for a report on the agent's state. The
/// write itself was made: when the log cannot be written, that is only said.
pub(super) fn log_write(
    held: &LockedStore<'_>,
    write: LoggedWrite<'_>,
    host: &Host,
    notes: &mut Vec<String>,
) {
    let write = HookWrite {
        at: host.moment(),
        hook: write.hook.to_owned(),
        path: write.path.to_owned(),
        entries: write.entries as u64,
        change: Some(write.change.to_owned()),
    };
    if let Err(error) = held.note_hook_write(write) {
        notes.push(format!("`anemone status` will not show this write: {error}"));
    }
}

/// Returns what people call a database.
pub(super) fn database_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// Returns a new stamp of a hook.
pub(super) fn stamp(origin: Origin, session: Option<&str>, host: &Host) -> ProvenanceStamp {
    let mut stamp = ProvenanceStamp::new(host.fresh_id(), origin, host.moment());
    stamp.session = session.map(str::to_owned);
    stamp
}

impl<'a> EntryTarget<'a> {
    /// Opens it; nothing is created yet.
    pub(super) fn of(
        memory: &'a AgentMemory,
        day: Date,
        host: &'a Host,
    ) -> Result<Self, HookError> {
        let rows = match &memory.keeps {
            MemoryBackend::Sqlite(path) => memory.rows_to_read(path, no_finder())?,
            _ => None,
        };
        Ok(Self { memory, host, day, rows })
    }

    /// Returns what it is called: the file, or the database.
    pub(super) fn name(&self) -> String {
        match &self.memory.keeps {
            MemoryBackend::Sqlite(path) => database_name(path),
            _ => self.memory.site.daily(self.day),
        }
    }

    /// Returns what is there: all rows, or the log of the day and some other files. A file that is
    /// no text says nothing.
    pub(super) fn texts(&self, also: &[&str]) -> Result<Vec<String>, HookError> {
        if let Some(rows) = &self.rows {
            return Ok(rows.entries()?.into_iter().map(|row| row.content).collect());
        }
        let site = &self.memory.site;
        let mut found = Vec::new();
        for path in [site.daily(self.day).as_str()].iter().chain(also) {
            let Some(there) = site.read(path)? else { continue };
            if let Ok(text) = there.text() {
                found.extend(units(text).into_iter().map(|entry| entry.content));
            }
        }
        Ok(found)
    }

    /// Returns the text of the row of a key.
    pub(super) fn row(&self, key: &str) -> Result<Option<String>, HookError> {
        let Some(rows) = &self.rows else { return Ok(None) };
        let found = rows.rows_matching(&RowsWanted::Key(key.to_owned()))?;
        Ok(found.into_iter().next().map(|row| row.entry.text))
    }

    /// Adds entries as one change, and returns by what it can be undone; rows are of a category.
    pub(super) fn add(
        &self,
        held: &LockedStore<'_>,
        what: &str,
        new: Vec<Given>,
        category: &Category,
    ) -> Result<String, HookError> {
        let (id, now) = (self.host.fresh_id(), self.host.now());
        if let MemoryBackend::Sqlite(path) = &self.memory.keeps {
            let rows: Vec<_> = new.into_iter().map(|given| (given, category.clone())).collect();
            let memory = self.memory.rows(path, no_finder())?;
            return Ok(held.write_rows(what, &memory, &rows, id, now)?.0.to_string());
        }
        let path = self.memory.site.daily(self.day);
        let head = self.memory.site.head(PageKind::Daily(self.day));
        let text = new.iter().map(render).collect();
        let edits = vec![Edit::Append { path, head, text }];
        let stamps = new.into_iter().map(|given| given.stamp).collect();
        let change = Change { stamps, ..Change::new(what, edits) };
        Ok(held.apply(&change, id, now)?.id.0.to_string())
    }
}

//! Where a hook puts what it found: the log of the day, or rows of a database.

use std::path::Path;

use anemone_memory::{
    Category, Change, Edit, Given, HookWrite, LockedStore, PageKind, RowsWanted, SqliteMemory,
    render, units,
};
use anemone_runtimes::MemoryBackend;
use jiff::civil::Date;

use crate::error::{CliError, Kind};
use crate::living::{AgentMemory, no_finder};
use anemone::system::SystemClock;
use anemone_memory::Clock as _;

/// Where an agent finds again what is put there.
pub(super) struct Shelf<'a> {
    living: &'a AgentMemory,
    day: Date,
    /// What can be read of the database, where there is one already.
    rows: Option<SqliteMemory>,
}

/// Refuses a memory that is out of reach: what is put anywhere else would not be read.
pub(super) fn check_within_reach(living: &AgentMemory) -> Result<(), CliError> {
    let what = match &living.keeps {
        MemoryBackend::Markdown | MemoryBackend::Sqlite(_) => return Ok(()),
        MemoryBackend::None => "nowhere".to_owned(),
        MemoryBackend::External(name) => format!("in {name}"),
    };
    let message = format!("the agent keeps its memory {what}, and would not read what is written");
    Err(CliError::new(Kind::Failed, "out_of_reach", message))
}

/// Notes in the agent's state folder what a hook wrote, for `anemone status`. The write itself was
/// made: when the log cannot be written, that is only said.
pub(super) fn log_write(
    held: &LockedStore<'_>,
    hook: &str,
    path: &str,
    entries: usize,
    change: Option<&str>,
    notes: &mut Vec<String>,
) {
    let write = HookWrite {
        at: anemone_format::Moment::from(SystemClock.now()),
        hook: hook.to_owned(),
        path: path.to_owned(),
        entries: entries as u64,
        change: change.map(str::to_owned),
    };
    if let Err(error) = held.note_hook_write(write) {
        notes.push(format!("`anemone status` will not show this write: {error}"));
    }
}

/// Returns what people call a database.
pub(super) fn database_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

impl<'a> Shelf<'a> {
    /// Opens it; nothing is made yet.
    pub(super) fn of(living: &'a AgentMemory, day: Date) -> Result<Self, CliError> {
        let rows = match &living.keeps {
            MemoryBackend::Sqlite(path) => living.rows_to_read(path, no_finder())?,
            _ => None,
        };
        Ok(Self { living, day, rows })
    }

    /// Returns what it is called: the file, or the database.
    pub(super) fn name(&self) -> String {
        match &self.living.keeps {
            MemoryBackend::Sqlite(path) => database_name(path),
            _ => self.living.site.daily(self.day),
        }
    }

    /// Returns what is there: all rows, or the log of the day and some other files. A file that is
    /// no text says nothing.
    pub(super) fn texts(&self, also: &[&str]) -> Result<Vec<String>, CliError> {
        if let Some(rows) = &self.rows {
            return Ok(rows.entries()?.into_iter().map(|it| it.content).collect());
        }
        let site = &self.living.site;
        let mut found = Vec::new();
        for path in [site.daily(self.day).as_str()].iter().chain(also) {
            let Some(there) = site.read(path)? else { continue };
            if let Ok(text) = there.text() {
                found.extend(units(text).into_iter().map(|it| it.content));
            }
        }
        Ok(found)
    }

    /// Returns the text of the row of a key.
    pub(super) fn row(&self, key: &str) -> Result<Option<String>, CliError> {
        let Some(rows) = &self.rows else { return Ok(None) };
        let found = rows.rows_matching(&RowsWanted::Key(key.to_owned()))?;
        Ok(found.into_iter().next().map(|it| it.entry.text))
    }

    /// Adds entries as one change, and returns by what it can be undone; rows are of a category.
    pub(super) fn add(
        &self,
        held: &LockedStore<'_>,
        what: &str,
        new: Vec<Given>,
        category: &Category,
    ) -> Result<String, CliError> {
        if let MemoryBackend::Sqlite(path) = &self.living.keeps {
            let rows: Vec<_> = new.into_iter().map(|it| (it, category.clone())).collect();
            let memory = self.living.rows(path, no_finder())?;
            let change =
                held.write_rows(what, &memory, &rows, SystemClock.fresh_id(), SystemClock.now())?;
            return Ok(change.0.to_string());
        }
        let path = self.living.site.daily(self.day);
        let head = self.living.site.head(PageKind::Daily(self.day));
        let text = new.iter().map(render).collect();
        let edits = vec![Edit::Append { path, head, text }];
        let stamps = new.into_iter().map(|it| it.stamp).collect();
        let change = Change { stamps, ..Change::new(what, edits) };
        Ok(held.apply(&change, SystemClock.fresh_id(), SystemClock.now())?.id.0.to_string())
    }
}

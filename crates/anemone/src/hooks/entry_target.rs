//! Where a hook puts entries: the log of the day, or rows of a database.

use anemone_format::{Origin, ProvenanceStamp};
use anemone_memory::{
    Addition, Category, ForgetTarget, HookWrite, LockedStore, Memory, NewEntry, Place,
};
use jiff::civil::Date;

use super::Result;
use crate::agent_memory::AgentMemory;
use crate::host::Host;

/// Where to write so that the agent finds the entries again.
pub(super) struct EntryTarget<'a> {
    memory: Box<dyn Memory>,
    host: &'a Host,
    place: Place,
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

/// Records in the agent's state folder what a hook wrote, for a report on the agent's state. The
/// write itself was made, so a log that cannot be written is only a note.
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

/// Returns a new stamp of a hook.
pub(super) fn stamp(origin: Origin, session: Option<&str>, host: &Host) -> ProvenanceStamp {
    let mut stamp = ProvenanceStamp::new(host.fresh_id(), origin, host.moment());
    stamp.session = session.map(str::to_owned);
    stamp
}

impl<'a> EntryTarget<'a> {
    /// Takes the log of a day, or the rows; nothing is created yet.
    pub(super) fn of(memory: &AgentMemory, day: Date, host: &'a Host) -> Self {
        Self { memory: memory.memory(), host, place: Place::Daily(day) }
    }

    /// Returns what it is called: the file, or the database.
    pub(super) fn name(&self) -> String {
        self.memory.place_name(self.place)
    }

    /// Returns the existing entries: all rows, or the log of the day.
    pub(super) fn texts(&self) -> Result<Vec<String>> {
        let page = self.memory.store().page_of(self.place);
        Ok(self.memory.texts(&[&page])?)
    }

    /// Returns the text of the row of a key.
    pub(super) fn row(&self, key: &str) -> Result<Option<String>> {
        let Some(rows) = self.memory.rows() else { return Ok(None) };
        let found = rows.matching(&ForgetTarget::Key(key.to_owned()))?;
        Ok(found.into_iter().next().map(|row| row.entry.text))
    }

    /// Adds entries as one change, and returns its id for an undo; rows get a category.
    pub(super) fn add(
        &self,
        held: &LockedStore<'_>,
        what: &str,
        new: Vec<NewEntry>,
        category: Category,
    ) -> Result<String> {
        let (id, now) = (self.host.fresh_id(), self.host.now());
        let addition = Addition::redacted(what, new, self.place, category);
        Ok(self.memory.add(held, &addition, id, now)?.id.0.to_string())
    }
}

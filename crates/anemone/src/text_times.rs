//! The times of an agent's texts that have none of their own: a note in the agent's state folder.
//!
//! Every command that reads an agent into an archive that stays takes times from the note, and
//! replaces it by what it read. A restore adds the times of what it put in place. If the note is
//! missing, texts have the times of their files.

use std::io;

use anemone_files::{Durability, make_private_folder, read_small, replace_file};
use anemone_format::{Record, SnapshotSource};
use anemone_runtimes::{FoundAgent, NotedTimes, Runtime, Warning};

use crate::host::Host;
use crate::identity::{AgentIdentity, identify};
use crate::note_file;
use crate::survey::real;

/// A text takes less than 150 bytes in a note, and their number is bounded.
const MAX_NOTE: u64 = 64 << 20;

/// Reads the note about an agent. One that cannot be read says nothing.
pub(crate) fn read(runtime: &Runtime, agent: &FoundAgent, host: &Host) -> NotedTimes {
    let path = identify(runtime, agent, host).dirs.times_note();
    note_file::read(&path, MAX_NOTE).unwrap_or_default()
}

/// Returns the times of an agent that was read, and of files that were not read this time but still
/// exist; `earlier` is the note from before.
pub(crate) fn with_unread(
    mut read: NotedTimes,
    earlier: NotedTimes,
    agent: &FoundAgent,
) -> NotedTimes {
    read.add_earlier(earlier, |read, file| {
        !read.has_file(file) && fs_err::symlink_metadata(agent.workspace.join(file)).is_ok()
    });
    read
}

/// The times of what is restored into an agent.
pub(crate) struct RestoredTimes {
    /// `None` if the records are of another runtime, whose paths say nothing about this one's.
    times: Option<NotedTimes>,
}

impl RestoredTimes {
    /// Begins with no record of `source`, which is to become an agent of a runtime.
    pub(crate) fn new(source: &dyn SnapshotSource, runtime: &Runtime) -> Self {
        let is_own = source.manifest().agent.source_runtime == runtime.name;
        Self { times: is_own.then(NotedTimes::default) }
    }

    /// Reads the records of `source`.
    pub(crate) fn of(source: &dyn SnapshotSource, runtime: &Runtime) -> io::Result<Self> {
        let mut restored = Self::new(source, runtime);
        if restored.times.is_some() {
            source.each_record(&mut |record| {
                restored.add(record);
                Ok(())
            })?;
        }
        Ok(restored)
    }

    pub(crate) fn add(&mut self, record: &Record) {
        if let Some(times) = &mut self.times {
            times.add_restored(record);
        }
    }

    /// Notes the times when the records are in place; `earlier` are those that the agent had.
    pub(crate) fn note(
        self,
        earlier: NotedTimes,
        runtime: &Runtime,
        agent: &FoundAgent,
        host: &Host,
    ) -> Option<Warning> {
        let mut times = self.times?;
        times.add_earlier(earlier, |_, _| true);
        note(times, runtime, agent, host)
    }
}

/// Writes the note, unless it is the same. Nothing fails without it, so an error is a warning.
pub(crate) fn note(
    noted: NotedTimes,
    runtime: &Runtime,
    agent: &FoundAgent,
    host: &Host,
) -> Option<Warning> {
    let mut identity = identify(runtime, agent, host);
    let write = |identity: &mut AgentIdentity| -> io::Result<()> {
        let bytes = note_file::to_bytes(&noted.bounded())?;
        let is_same = |identity: &AgentIdentity| {
            let path = identity.dirs.times_note();
            read_small(&path, MAX_NOTE).is_ok_and(|there| there.as_deref() == Some(&*bytes))
        };
        if is_same(identity) {
            return Ok(());
        }
        identity.claim(&real(&agent.workspace), host);
        make_private_folder(&identity.dirs.state)?;
        replace_file(&identity.dirs.times_note(), &bytes, Durability::Eventual)
    };
    let error = write(&mut identity).err()?;
    let message = format!(
        "the times of its texts could not be noted ({error}): after the next change of a file, \
         all of its sections that state no time have the time of the change"
    );
    let path = Some(identity.dirs.times_note().display().to_string());
    Some(Warning { code: "times_not_noted", path, message })
}

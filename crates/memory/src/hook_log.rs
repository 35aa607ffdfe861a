//! What hooks wrote into a memory: one line for each write in `<state>/hook-writes.jsonl`.
//!
//! Hooks write unattended, so people need a place to see what was added. The log names files and
//! counts entries; it contains no text of the memory.

use std::io::Read as _;
use std::path::PathBuf;

use anemone_format::Moment;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::journal::keep_private;
use crate::store::{LockedStore, MarkdownStore, MarkdownStoreError};

/// So many writes are kept; the oldest go.
const MOST_WRITES: usize = 500;
/// More than the log ever has.
const MAX_BYTES: u64 = 1 << 20;
/// Longer paths and names are cut, so that the log stays small.
const MAX_CHARS: usize = 400;

/// One write of a hook.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HookWrite {
    /// When.
    pub at: Moment,
    /// The hook, such as `session-end`.
    pub hook: String,
    /// The file in the workspace, or the row.
    pub path: String,
    /// How many entries or messages it added.
    pub entries: u64,
    /// The change by which it can be undone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub change: Option<String>,
}

impl MarkdownStore {
    fn hook_log(&self) -> PathBuf {
        self.state().join("hook-writes.jsonl")
    }

    /// Returns what hooks wrote since some time, the oldest first. A line that cannot be read is
    /// left out; so is everything where there is no log.
    #[must_use]
    pub fn hook_writes(&self, since: Timestamp) -> Vec<HookWrite> {
        let mut writes = self.all_hook_writes();
        writes.retain(|write| write.at.instant() >= since);
        writes
    }

    fn all_hook_writes(&self) -> Vec<HookWrite> {
        let mut text = Vec::new();
        let read = fs_err::File::open(self.hook_log())
            .and_then(|file| file.take(MAX_BYTES).read_to_end(&mut text));
        if read.is_err() {
            return Vec::new();
        }
        let lines = text.split(|byte| *byte == b'\n');
        lines.filter_map(|line| serde_json::from_slice(line).ok()).collect()
    }
}

impl LockedStore<'_> {
    /// Adds a write to the log.
    pub fn note_hook_write(&self, mut write: HookWrite) -> Result<(), MarkdownStoreError> {
        let path = self.site().hook_log();
        write.path = write.path.chars().take(MAX_CHARS).collect();
        let mut writes = self.site().all_hook_writes();
        writes.push(write);
        let spare = writes.len().saturating_sub(MOST_WRITES);
        let keep = || {
            let mut text = Vec::new();
            for write in &writes[spare..] {
                serde_json::to_writer(&mut text, write)?;
                text.push(b'\n');
            }
            keep_private(&path, &text)
        };
        keep().map_err(|source| MarkdownStoreError::Io { path: path.clone(), source })
    }
}

#[cfg(test)]
mod tests {
    use tempfile::TempDir;

    use super::*;
    use crate::layout::MarkdownLayout;

    fn write(number: i64) -> HookWrite {
        let at = Timestamp::from_second(number).unwrap();
        HookWrite {
            at: Moment::from(at),
            hook: "session-end".to_owned(),
            path: format!("memory/{number}.md"),
            entries: 2,
            change: None,
        }
    }

    #[test]
    fn the_log_tells_what_was_written_since_and_stays_small() {
        let home = TempDir::new().unwrap();
        let site =
            MarkdownStore::open(home.path(), &home.path().join("state"), MarkdownLayout::PLAIN)
                .unwrap();
        assert_eq!(site.hook_writes(Timestamp::UNIX_EPOCH), []);
        let held = site.lock().unwrap();
        for number in 0..3 {
            held.note_hook_write(write(number)).unwrap();
        }
        let since = Timestamp::from_second(1).unwrap();
        assert_eq!(site.hook_writes(since), [write(1), write(2)]);
        // A line that a fault cut off costs that line alone.
        let text = fs_err::read_to_string(site.hook_log()).unwrap();
        let many: String =
            (0..600).map(|_| text.lines().next().unwrap().to_owned() + "\n").collect();
        fs_err::write(site.hook_log(), many + "{\"at\":").unwrap();
        held.note_hook_write(write(7)).unwrap();
        let all = site.hook_writes(Timestamp::UNIX_EPOCH);
        assert_eq!((all.len(), all.last()), (MOST_WRITES, Some(&write(7))));
    }
}

//! What tests hand in.

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use anemone_memory::Clock;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use uuid::Uuid;

use crate::agent::AgentChoice;
use crate::agent_memory::MemoryChoice;
use crate::host::{Host, SharedClock};

/// A clock that does not advance, and numbers its ids.
#[derive(Default)]
pub(crate) struct FixedClock(AtomicU64);

impl Clock for FixedClock {
    fn now(&self) -> Timestamp {
        "2026-11-16T12:00:00Z".parse().unwrap()
    }

    fn zone(&self) -> TimeZone {
        TimeZone::UTC
    }

    fn fresh_id(&self) -> Uuid {
        Uuid::from_u64_pair(7, self.0.fetch_add(1, Ordering::Relaxed))
    }
}

/// A host of which every folder is below one folder.
pub(crate) fn host(folder: &Path) -> Host {
    Host::below(folder, SharedClock::new(FixedClock::default()))
}

/// The memory of a workspace `workspace` below a folder, with a `MEMORY.md`.
pub(crate) fn memory(folder: &Path, curated: &str) -> MemoryChoice {
    let workspace = folder.join("workspace");
    fs_err::create_dir_all(workspace.join("memory")).unwrap();
    fs_err::write(workspace.join("MEMORY.md"), curated).unwrap();
    let agent = AgentChoice { workspace: Some(workspace), ..AgentChoice::default() };
    MemoryChoice { agent, index_dir: None }
}

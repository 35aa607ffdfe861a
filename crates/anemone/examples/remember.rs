//! Remembers two facts in a workspace, and finds one of them again.
//!
//! ```text
//! cargo run -p anemone --example remember
//! ```

#![expect(clippy::print_stdout, reason = "an example shows what it found")]

use std::error::Error;
use std::path::Path;

use anemone::agent::AgentChoice;
use anemone::agent_memory::MemoryChoice;
use anemone::host::{Host, SharedClock};
use anemone::remember::{RememberRequest, remember};
use anemone::search::target::TargetChoice;
use anemone::search::{SearchRequest, search};
use anemone::system::SystemClock;

fn main() -> Result<(), Box<dyn Error>> {
    // A real program uses the user's own folders instead.
    let folder = tempfile::tempdir()?;
    for line in remember_and_recall(folder.path())? {
        println!("{line}");
    }
    Ok(())
}

/// Remembers in a workspace below a folder, and returns the hits of a question.
pub(crate) fn remember_and_recall(folder: &Path) -> Result<Vec<String>, Box<dyn Error>> {
    let workspace = folder.join("workspace");
    fs_err::create_dir(&workspace)?;
    fs_err::write(workspace.join("MEMORY.md"), "# Memory\n\n- Lin is allergic to hazelnuts.\n")?;
    let host = Host::below(folder, SharedClock::new(SystemClock));
    let agent = AgentChoice { workspace: Some(workspace), ..AgentChoice::default() };

    let memory = MemoryChoice { agent: agent.clone(), index_dir: None };
    for text in ["Lin drinks green tea in the morning.", "The boiler is serviced in May."] {
        let report = remember(&RememberRequest::new(text, memory.clone()), &host)?;
        println!("remembered in {} as {}", report.path, report.id);
    }

    let target = TargetChoice { agent, ..TargetChoice::default() };
    let found = search(&SearchRequest::new("what does Lin drink?".to_owned(), target), &host)?;
    Ok(found.hits.iter().map(|hit| format!("{}: {}", hit.path, hit.text)).collect())
}

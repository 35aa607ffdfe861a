//! Backs an agent up: finds it, writes it into an archive, and checks every entry of the archive.
//!
//! ```text
//! cargo run -p anemone --example backup -- ~/.openclaw/workspace ada.alf
//! ```

#![expect(clippy::print_stdout, reason = "an example shows what it did")]

use std::error::Error;
use std::io;
use std::path::{Path, PathBuf};

use anemone::agent::AgentChoice;
use anemone::archive::open_sound;
use anemone::export::{ExportRequest, export};
use anemone::host::{Host, SharedClock};
use anemone::system::SystemClock;
use anemone_format::Edits;
use anemone_runtimes::{SERVE_ARGUMENT, serve_database};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args_os().skip(1);
    let (first, second) = (arguments.next(), arguments.next());
    // A runtime's database is read by a child process: this program, with this argument.
    if first.as_deref() == Some(SERVE_ARGUMENT.as_ref()) {
        return Ok(serve_database(io::stdin().lock(), io::stdout().lock())?);
    }
    let (Some(workspace), Some(archive)) = (first, second) else {
        return Err("usage: backup WORKSPACE ARCHIVE".into());
    };
    for line in back_up(workspace.into(), archive.as_ref())? {
        println!("{line}");
    }
    Ok(())
}

/// Writes everything about the agent in a workspace into an archive, and says what it holds.
pub(crate) fn back_up(workspace: PathBuf, archive: &Path) -> Result<Vec<String>, Box<dyn Error>> {
    let state = tempfile::tempdir()?;
    // The library reads no environment: the host has the folders, the clock and the keys.
    let mut host = Host::below(state.path(), SharedClock::new(SystemClock));
    host.database_reader = std::env::current_exe()?;

    let agent = AgentChoice { workspace: Some(workspace), ..AgentChoice::default() };
    let output = Some(archive.to_owned());
    let report = export(&ExportRequest { output, ..ExportRequest::new(agent) }, &host)?;
    let summary = report.summary.ok_or("nothing was read")?;

    let checked = open_sound(archive, Edits::Refuse, &host, &host.progress("checking"))?;
    let manifest = checked.into_archive(archive)?.manifest().clone();
    let mut lines = vec![format!("{}: {} records", manifest.agent.name, summary.memory_records)];
    for item in summary.left_out {
        lines.push(format!("not in the archive: {} ({})", item.path, item.reason.as_str()));
    }
    Ok(lines)
}

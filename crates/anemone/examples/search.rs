//! Searches a folder of Markdown files, an agent's workspace or an archive.
//!
//! ```text
//! cargo run -p anemone --example search -- docs "where is the index kept?"
//! ```
//!
//! Without arguments it searches this project's own guides.

#![expect(clippy::print_stdout, reason = "an example shows what it found")]

use std::error::Error;
use std::path::{Path, PathBuf};

use anemone::host::{Host, SharedClock};
use anemone::search::target::TargetChoice;
use anemone::search::{SearchRequest, search};
use anemone::system::SystemClock;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let guides = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs");
    let folder = PathBuf::from(arguments.next().unwrap_or_else(|| guides.to_owned()));
    let query = arguments.next().unwrap_or_else(|| "how is a runtime added?".to_owned());
    // The index is kept below this folder, so the second search of the same files is fast.
    let own = std::env::temp_dir().join("anemone-example");
    for line in search_folder(&folder, &query, &own)? {
        println!("{line}");
    }
    Ok(())
}

/// Searches a folder and returns three hits; the index is kept below another folder.
pub(crate) fn search_folder(
    folder: &Path,
    query: &str,
    own: &Path,
) -> Result<Vec<String>, Box<dyn Error>> {
    // Everything that the library takes from outside.
    let host = Host::below(own, SharedClock::new(SystemClock));
    let target = TargetChoice { path: Some(folder.to_owned()), ..TargetChoice::default() };
    let request = SearchRequest { limit: Some(3), ..SearchRequest::new(query.to_owned(), target) };
    let report = search(&request, &host)?;

    let mut lines = vec![format!("{} documents", report.index.documents)];
    for hit in &report.hits {
        lines.push(format!("\n{} (score {:.2})\n{}", hit.path, hit.score, hit.text));
    }
    Ok(lines)
}

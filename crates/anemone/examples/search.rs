//! Searches a folder of Markdown files, an agent's workspace or an archive:
//!
//! ```sh
//! cargo run --example search -- docs "where is the index kept?"
//! ```
//!
//! Without arguments it searches this project's own guides.

use std::error::Error;
use std::io::{self, Write as _};
use std::path::PathBuf;

use anemone::host::{Host, SharedClock};
use anemone::search::target::TargetChoice;
use anemone::search::{SearchRequest, search};
use anemone::system::SystemClock;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let guides = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs");
    let folder = arguments.next().unwrap_or_else(|| guides.to_owned());
    let query = arguments.next().unwrap_or_else(|| "how is a runtime added?".to_owned());

    // Everything that the library takes from outside. The index is kept below this folder, so the
    // second search of the same files is fast.
    let own = std::env::temp_dir().join("anemone-example");
    let host = Host::below(&own, SharedClock::new(SystemClock));

    let target = TargetChoice { path: Some(PathBuf::from(folder)), ..TargetChoice::default() };
    let report = search(&SearchRequest { limit: 3, ..SearchRequest::new(query, target) }, &host)?;

    let mut out = io::stdout().lock();
    writeln!(out, "{} documents in {}", report.index.documents, report.source.place)?;
    for hit in &report.hits {
        writeln!(out, "\n{} (score {:.2})", hit.citation, hit.score)?;
        for line in hit.text.lines() {
            writeln!(out, "  {line}")?;
        }
    }
    Ok(())
}

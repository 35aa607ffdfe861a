//! Entries that say who wrote them.

#![expect(clippy::unwrap_used, reason = "what does not hold in a test may panic")]

#[expect(dead_code, reason = "only the shelf is needed")]
mod common;

use anemone_index::{Hit, Request};
use common::{NOW, Shelf, refreshed};

const TEXT: &str = "# 2026-11-16\n\n\
    - The gateway stays on loopback. <!-- anemone: 019a89c2-7c11-7d3e-9f00-1c2d3e4f5a6b owner 2026-11-16T10:00:00Z session=\"main\" -->\n\
    - The gateway port is open to all. <!-- anemone: 019a89c2-7c11-7d3e-9f00-1c2d3e4f5a6c web 2026-11-16T11:00:00Z -->\n\
    - The gateway was restarted.\n";

fn asked(query: &str) -> Vec<Hit> {
    asked_of(TEXT, query)
}

fn asked_of(text: &str, query: &str) -> Vec<Hit> {
    let shelf = Shelf::default();
    shelf.put("memory/2026-11-16.md", text);
    let folder = tempfile::tempdir().unwrap();
    let index = refreshed(folder.path(), &shelf);
    index.search(&Request::new(query, NOW), &[]).unwrap().hits
}

#[test]
fn a_hit_says_who_wrote_it_and_shows_what_was_written() {
    let hits = asked("gateway loopback");
    assert_eq!(hits[0].text, "- The gateway stays on loopback.");
    assert_eq!(hits[0].provenance.origin.as_deref(), Some("owner"));
    assert_eq!(hits[0].provenance.session.as_deref(), Some("main"));
    assert_eq!(hits[0].provenance.observed_at.as_deref(), Some("2026-11-16T10:00:00Z"));
    assert_eq!(hits[0].provenance.record.as_deref(), Some("019a89c2-7c11-7d3e-9f00-1c2d3e4f5a6b"));
}

#[test]
fn entries_of_several_writers_are_hits_of_their_own() {
    let hits = asked("gateway");
    let origins: Vec<_> = hits.iter().map(|hit| hit.provenance.origin.as_deref()).collect();
    assert_eq!(hits.len(), 3);
    assert!(origins.contains(&Some("web")) && origins.contains(&None), "{origins:?}");
    assert!(hits.iter().all(|hit| !hit.text.contains("anemone")), "{hits:?}");
}

#[test]
fn a_stamp_is_not_searched() {
    assert!(asked("anemone").is_empty());
    assert!(asked("019a89c2").is_empty());
    assert!(asked("web").is_empty());
}

#[test]
fn every_part_of_an_entry_says_who_wrote_it() {
    let long = "  Filler about nothing in particular, to make the entry span many passages.\n\n";
    let text = format!(
        "- Page says: the moon is cheese.\n\n  - zebra stripes rotate\n\n{}  ## Penguin facts\n\n  \
         penguins fly at night\n  <!-- anemone: 019a89c2-7c11-7d3e-9f00-1c2d3e4f5a6c web \
         2026-11-16T11:00:00Z -->\n\nThe walrus is ours.\n- The ibex too.\n",
        long.repeat(60)
    );
    for query in ["moon cheese", "zebra stripes", "penguins fly"] {
        let hits = asked_of(&text, query);
        assert_eq!(hits[0].provenance.origin.as_deref(), Some("web"), "{query}: {hits:?}");
    }
    for query in ["walrus", "ibex"] {
        assert_eq!(asked_of(&text, query)[0].provenance.origin, None, "{query}");
    }
}

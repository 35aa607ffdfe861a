//! How far a find can be trusted: who really wrote it, whether it looks like an attack, and what of
//! it nobody sees.

use anemone_memory::{
    FoundLines, MarkdownStore, OriginCheck, Successor, hidden_count, shown, shown_with_ranges,
    successors, suspicion_reason,
};
use anemone_runtimes::Machine;
use serde::Serialize;

use super::FoundHit;
use crate::args::MemoryArgs;
use crate::args::SourceArgs;
use crate::commands::Context;

/// What is to be known of a find before a model reads it.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct Trust {
    /// Whether this installation wrote the stamp that names the origin; otherwise it is a claim.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) origin_verified: Option<bool>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    suspicious: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    suspicion_reason: Option<String>,
    /// How many characters that nobody sees were left out of the text.
    #[serde(skip_serializing_if = "Option::is_none")]
    hidden_characters: Option<usize>,
}

impl Trust {
    /// Looks at a text as it is stored. An origin is a claim until it is verified.
    pub(super) fn of(text: &str, has_origin: bool) -> Self {
        let suspicion_reason = suspicion_reason(text);
        Self {
            origin_verified: has_origin.then_some(false),
            suspicious: suspicion_reason.is_some(),
            suspicion_reason,
            hidden_characters: Some(hidden_count(text)).filter(|count| *count > 0),
        }
    }
}

impl FoundHit {
    /// Leaves out what nobody sees.
    pub(super) fn clean(&mut self) {
        self.text = shown_with_ranges(&self.text, &mut self.matches);
        self.headings = self.headings.iter().map(|heading| shown(heading)).collect();
    }
}

/// Verifies the origins of what was found in an agent's memory, and marks what no longer holds.
/// Where that memory cannot be opened, origins stay claims.
pub(super) fn verify(
    hits: &mut [FoundHit],
    source: &SourceArgs,
    machine: &Machine,
    context: &Context<'_>,
) {
    // Only what has a stamp or a key can have been written, or replaced, by this program.
    let has_name = |hit: &FoundHit| hit.trust.origin_verified.is_some() || hit.text.contains("**");
    if !hits.iter().any(has_name) {
        return;
    }
    let memory = MemoryArgs { agent: source.agent.clone(), index_dir: source.index_dir.clone() };
    if let Ok(living) = memory.choice().find(machine, &context.host) {
        verify_in(&living.site, hits);
    }
}

/// Marks what other entries took the place of. A hit that was found in something else than the
/// files of the memory has no successor.
fn mark_superseded(site: &MarkdownStore, hits: &mut [FoundHit]) {
    let lines: Vec<FoundLines<'_>> = hits
        .iter()
        .map(|hit| (hit.path.as_str(), hit.start_line as usize, hit.end_line as usize))
        .collect();
    // Where the files cannot be read now, nobody can say what of them holds.
    let Ok(successors) = successors(site, &lines) else { return };
    for (hit, successor) in hits.iter_mut().zip(successors) {
        hit.superseded = successor.is_some();
        hit.superseded_by = successor.as_ref().map(Successor::citation);
        hit.successor = successor;
    }
}

/// Puts what no longer holds below what took its place, where both were found.
pub(crate) fn sink_superseded(hits: &mut Vec<FoundHit>) {
    let shows = |hit: &FoundHit, it: &Successor| {
        let (first, last) = (hit.start_line as usize, hit.end_line as usize);
        hit.path == it.path && first <= it.lines.0 && it.lines.1 <= last
    };
    // From the end, so that what was moved is not looked at again.
    for at in (0..hits.len()).rev() {
        let Some(successor) = &hits[at].successor else { continue };
        let place = hits.iter().position(|hit| shows(hit, successor));
        if let Some(place) = place.filter(|place| *place > at) {
            let hit = hits.remove(at);
            hits.insert(place, hit);
        }
    }
}

/// Verifies the origins of what was found in the files of a memory, and marks what no longer holds.
pub(crate) fn verify_in(site: &MarkdownStore, hits: &mut [FoundHit]) {
    mark_superseded(site, hits);
    let mut origins = OriginCheck::new(site);
    for hit in hits.iter_mut().filter(|hit| hit.trust.origin_verified.is_some()) {
        let (first, last) = (hit.start_line as usize, hit.end_line as usize);
        hit.trust.origin_verified = Some(origins.is_verified(&hit.path, first, last));
    }
}

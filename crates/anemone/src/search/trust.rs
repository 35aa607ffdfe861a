//! How far a hit can be trusted: who really wrote it, whether it looks like an attack, and which of
//! its characters are invisible.

use anemone_memory::{
    FoundLines, MarkdownStore, OriginCheck, Successor, hidden_count, shown, shown_with_ranges,
    successors, suspicion_reason,
};
use anemone_runtimes::Machine;
use serde::Serialize;

use super::SearchHit;
use super::target::SearchTarget;
use crate::agent_memory::{Access, MemoryChoice};
use crate::host::Host;

/// The facts about a hit that matter before a model reads it.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Trust {
    /// Whether this installation wrote the stamp that names the origin; otherwise it is a claim.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub origin_verified: Option<bool>,
    /// Whether the text looks like an attack.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub suspicious: bool,
    /// What looks like one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suspicion_reason: Option<String>,
    /// How many invisible characters the text has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hidden_characters: Option<usize>,
}

impl Trust {
    /// Examines a stored text. An origin is a claim until it is verified.
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

impl SearchHit {
    /// Leaves out invisible characters.
    pub fn clean(&mut self) {
        self.text = shown_with_ranges(&self.text, &mut self.matches);
        self.headings = self.headings.iter().map(|heading| shown(heading)).collect();
    }
}

/// Verifies the origins of hits in an agent's memory, and marks superseded ones. If the memory
/// cannot be opened, origins stay claims.
pub(super) fn verify(
    hits: &mut [SearchHit],
    target: &SearchTarget,
    machine: &Machine,
    host: &Host,
) {
    // Only hits with a stamp or a key can have been written, or replaced, by this program.
    let has_name = |hit: &SearchHit| hit.trust.origin_verified.is_some() || hit.text.contains("**");
    if !hits.iter().any(has_name) {
        return;
    }
    let Some(chosen) = target.chosen.clone() else { return };
    let (agent, index_dir) = (target.choice.agent.clone(), target.choice.index_dir.clone());
    let choice = MemoryChoice { agent, index_dir };
    if let Ok(memory) = choice.open_chosen(chosen, Access::Read, machine, host) {
        verify_in(&memory.site, hits);
    }
}

/// Marks hits that other entries replaced. A hit outside the files of the memory has no successor.
fn mark_superseded(site: &MarkdownStore, hits: &mut [SearchHit]) {
    let lines: Vec<FoundLines<'_>> = hits
        .iter()
        .map(|hit| (hit.path.as_str(), hit.start_line as usize, hit.end_line as usize))
        .collect();
    // If the files cannot be read now, it is unknown which entries are superseded.
    let Ok(successors) = successors(site, &lines) else { return };
    for (hit, successor) in hits.iter_mut().zip(successors) {
        hit.superseded = successor.is_some();
        hit.superseded_by = successor.as_ref().map(Successor::citation);
        hit.successor = successor;
    }
}

/// Moves superseded hits below their successors, if both were found.
pub fn sink_superseded(hits: &mut Vec<SearchHit>) {
    let shows = |hit: &SearchHit, file: &Successor| {
        let (first, last) = (hit.start_line as usize, hit.end_line as usize);
        hit.path == file.path && first <= file.lines.0 && file.lines.1 <= last
    };
    // From the end, so that moved hits are not visited again.
    for at in (0..hits.len()).rev() {
        let Some(successor) = &hits[at].successor else { continue };
        let place = hits.iter().position(|hit| shows(hit, successor));
        if let Some(place) = place.filter(|place| *place > at) {
            let hit = hits.remove(at);
            hits.insert(place, hit);
        }
    }
}

/// Verifies the origins of hits in the files of a memory, and marks superseded ones.
pub fn verify_in(site: &MarkdownStore, hits: &mut [SearchHit]) {
    mark_superseded(site, hits);
    let mut origins = OriginCheck::new(site);
    for hit in hits.iter_mut().filter(|hit| hit.trust.origin_verified.is_some()) {
        let (first, last) = (hit.start_line as usize, hit.end_line as usize);
        hit.trust.origin_verified = Some(origins.is_verified(&hit.path, first, last));
    }
}

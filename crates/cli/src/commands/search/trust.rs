//! How far a find can be trusted: who really wrote it, whether it looks like an attack, and what of
//! it nobody sees.

use anemone_adapters::Machine;
use anemone_memory::{OriginCheck, Site, hidden_count, shown, shown_with_ranges, suspicion_reason};
use serde::Serialize;

use super::FoundHit;
use crate::agent::FOLDER;
use crate::commands::Context;
use crate::living::MemoryArgs;
use crate::searched::SourceArgs;

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

/// Verifies the origins of what was found in an agent's memory. Where that memory cannot be
/// opened, they stay claims.
pub(super) fn verify(
    hits: &mut [FoundHit],
    source: &SourceArgs,
    machine: &Machine,
    context: &Context<'_>,
) {
    let has_origin = hits.iter().any(|hit| hit.trust.origin_verified.is_some());
    if !has_origin || source.agent.runtime.as_deref() == Some(FOLDER) {
        return;
    }
    let memory = MemoryArgs { agent: source.agent.clone(), index_dir: source.index_dir.clone() };
    if let Ok(living) = memory.find(machine, context) {
        verify_in(&living.site, hits);
    }
}

/// Verifies the origins of what was found in the files of a memory.
pub(crate) fn verify_in(site: &Site, hits: &mut [FoundHit]) {
    let mut origins = OriginCheck::new(site);
    for hit in hits.iter_mut().filter(|hit| hit.trust.origin_verified.is_some()) {
        let (first, last) = (hit.start_line as usize, hit.end_line as usize);
        hit.trust.origin_verified = Some(origins.is_verified(&hit.path, first, last));
    }
}

//! The weight of conversations relative to notes.

use std::collections::HashSet;

use super::found::{FoundBlock, FoundBlocks};
use super::order::RankedBlock;
use crate::text::Term;
use crate::voice::Voice;

/// A note is written to be kept; a turn of a conversation ranks below it when both match about
/// equally. Flat from 0.7 to 0.9.
const SAID: f64 = 0.8;
/// A question and a reply without an answer contain nothing useful, however well they match.
const OPEN: f64 = 0.2;
/// From this share of common words on, two turns count as duplicates.
const SAME: f64 = 0.75;
/// Among how many of the best turns duplicates are found.
const COMPARED: usize = 64;

/// Returns what a block's score is multiplied by.
pub(super) fn voice_factor(voice: Voice) -> f64 {
    match voice {
        Voice::Statement => 1.0,
        Voice::Said => SAID,
        Voice::Asked | Voice::Empty => OPEN,
    }
}

/// Keeps the best one of several turns that say the same, and counts the others there. Notes are
/// never left out: a search for them wants every location.
pub(super) fn collapse(places: Vec<RankedBlock>, found: &FoundBlocks) -> Vec<RankedBlock> {
    let is_note = |block: &FoundBlock| block.block.voice == Voice::Statement;
    if places.iter().take(COMPARED).all(|place| is_note(&found.blocks[place.at])) {
        return places;
    }
    let mut kept: Vec<RankedBlock> = Vec::with_capacity(places.len());
    // Turns that stay: where they are in `kept`, and their words.
    let mut turns: Vec<(usize, HashSet<Term>)> = Vec::new();
    let mut compared = 0;
    for place in places {
        let block = &found.blocks[place.at];
        if is_note(block) || compared == COMPARED {
            kept.push(place);
            continue;
        }
        compared += 1;
        let words: HashSet<Term> = block.block.terms.iter().copied().collect();
        let same = turns.iter().find(|(at, others)| {
            let voice = found.blocks[kept[*at].at].block.voice;
            voice == block.block.voice && jaccard(&words, others) >= SAME
        });
        match same {
            Some((at, _)) => kept[*at].similar += 1,
            None => {
                turns.push((kept.len(), words));
                kept.push(place);
            }
        }
    }
    kept
}

/// Returns the share of two sets that is in both.
pub(super) fn jaccard(one: &HashSet<Term>, other: &HashSet<Term>) -> f64 {
    let common = one.intersection(other).count();
    let all = one.len() + other.len() - common;
    if all == 0 { 0.0 } else { common as f64 / all as f64 }
}

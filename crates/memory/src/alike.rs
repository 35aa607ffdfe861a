//! Entries that say the same: letter by letter, or nearly.

use std::collections::{BTreeMap, HashMap};

use anemone_embed::{Builtin, Embedder as _, Purpose};

use crate::sameness::differs;
use crate::summary::EntrySummary;

/// Up to this many entries, every pair is compared. With more, only pairs of neighbours are
/// compared, which finds nearly all.
const ALL_PAIRS: usize = 2_000;
/// So many entries, the newest, are compared at all; the others only letter by letter.
const MOST_COMPARED: usize = 50_000;
/// How many times the entries are sorted so that similar ones become neighbours.
const LAYOUTS: u64 = 12;
/// How many questions each layout asks of a vector.
const QUESTIONS: u64 = 12;
/// How far apart two may be in a layout.
const REACH: usize = 48;
/// The most pairs that are reported.
const MOST_PAIRS: usize = 1_000;
/// Entries with fewer words say too little to count as nearly the same as another,
const LEAST_WORDS: usize = 4;
/// or the same: such as `telegram`, in a form that is filled in each time.
const LEAST_WORDS_SAME: usize = 2;

/// Texts that a memory contains more than once.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Repeats {
    /// Entries with the same text, where there are several, in order.
    pub same: Vec<Vec<EntrySummary>>,
    /// Entries that say nearly the same, and how nearly.
    pub near: Vec<(EntrySummary, EntrySummary, f32)>,
    /// How many entries were compared letter by letter only, as there are too many.
    pub not_compared: usize,
    /// Whether more entries may say nearly the same than are listed.
    pub near_is_cut: bool,
}

/// Finds entries that say the same.
pub(crate) fn alike(entries: &[EntrySummary], threshold: f32) -> Repeats {
    let mut by_mark: HashMap<&str, Vec<usize>> = HashMap::new();
    for (at, entry) in entries.iter().enumerate() {
        if entry.text.split_whitespace().count() >= LEAST_WORDS_SAME {
            by_mark.entry(&entry.mark).or_default().push(at);
        }
    }
    let mut firsts: Vec<usize> = by_mark.values().map(|value| value[0]).collect();
    let mut same: Vec<Vec<usize>> = by_mark.into_values().filter(|value| value.len() > 1).collect();
    same.sort_unstable();
    let is_long = |at: &usize| entries[*at].text.split_whitespace().count() >= LEAST_WORDS;
    firsts.retain(is_long);
    // The newest entries first: the user is most likely to want to correct those.
    firsts
        .sort_unstable_by(|one, other| (entries[*other].day, other).cmp(&(entries[*one].day, one)));
    let not_compared = firsts.len().saturating_sub(MOST_COMPARED);
    firsts.truncate(MOST_COMPARED);
    let texts: Vec<&str> = firsts.iter().map(|at| entries[*at].text.as_str()).collect();
    // Without vectors only equal texts are found.
    let vectors = Builtin::new().embed(&texts, Purpose::Document).unwrap_or_default();
    let mut found = Pairs { vectors: &vectors, threshold, near: BTreeMap::new() };
    if vectors.len() <= ALL_PAIRS {
        found.among(&(0..vectors.len()).collect::<Vec<_>>(), usize::MAX);
    } else {
        found.by_layouts();
    }
    let pair = |((one, other), cosine): ((usize, usize), f32)| {
        (firsts[one].min(firsts[other]), firsts[one].max(firsts[other]), cosine)
    };
    let mut near: Vec<_> = found.near.into_iter().map(pair).collect();
    near.retain(|(one, other, _)| !differs(&entries[*one].text, &entries[*other].text));
    near.sort_unstable_by_key(|(one, other, _)| (*one, *other));
    let pick = |at: &usize| entries[*at].clone();
    Repeats {
        same: same.iter().map(|same| same.iter().map(pick).collect()).collect(),
        near_is_cut: near.len() >= MOST_PAIRS,
        near: near.iter().map(|(one, other, cosine)| (pick(one), pick(other), *cosine)).collect(),
        not_compared,
    }
}

/// Pairs of vectors that point nearly the same way.
struct Pairs<'a> {
    vectors: &'a [Vec<f32>],
    threshold: f32,
    near: BTreeMap<(usize, usize), f32>,
}

impl Pairs<'_> {
    /// Compares those that give the same answers.
    fn by_layouts(&mut self) {
        for layout in 0..LAYOUTS {
            let answers = self.vectors.iter().map(|vector| answers(vector, layout));
            let mut places: Vec<(u64, usize)> = answers.zip(0..).collect();
            places.sort_unstable();
            for bucket in places.chunk_by(|one, other| one.0 == other.0) {
                let bucket: Vec<_> = bucket.iter().map(|(_, at)| *at).collect();
                self.among(&bucket, REACH);
            }
        }
    }

    /// Compares each with those that follow it.
    fn among(&mut self, places: &[usize], reach: usize) {
        for (at, one) in places.iter().enumerate() {
            for other in places[at + 1..].iter().take(reach) {
                if self.near.len() == MOST_PAIRS {
                    return;
                }
                let (first, second) = (&self.vectors[*one], &self.vectors[*other]);
                let cosine: f32 = first.iter().zip(second).map(|(a, b)| a * b).sum();
                if cosine >= self.threshold {
                    self.near.insert((*one.min(other), *one.max(other)), cosine);
                }
            }
        }
    }
}

/// Asks a vector some questions, such as which of two of its numbers is larger. Vectors that point
/// nearly the same way give nearly the same answers.
fn answers(vector: &[f32], layout: u64) -> u64 {
    let length = (vector.len() as u64).max(1);
    let number = |seed: u64| {
        let mixed = (seed + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mixed = (mixed ^ (mixed >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let at = usize::try_from((mixed ^ (mixed >> 32)) % length).unwrap_or_default();
        vector.get(at).copied().unwrap_or_default()
    };
    let answer = |question: u64| {
        let seed = 2 * (layout * QUESTIONS + question);
        u64::from(number(seed) > number(seed + 1)) << question
    };
    (0..QUESTIONS).map(answer).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::units;
    use crate::store::PageKind;

    const WORDS: &str = "harbour bridge pilot winter coffee garden server budget letter music \
        window doctor planet market camera engine summer island pencil ticket mirror forest";

    fn entries(number: usize) -> Vec<EntrySummary> {
        let words: Vec<_> = WORDS.split_whitespace().collect();
        let text = |at: usize| {
            let word = |step: usize| words[(at / words.len().pow(step as u32)) % words.len()];
            format!("- {} {} {} and {}\n", word(0), word(1), word(2), word(3))
        };
        let text: String = (0..number).map(|number| text(number * 37)).collect();
        let unit = |value| EntrySummary::of("memory/a.md", PageKind::Note, &value, None);
        units(&text).into_iter().map(unit).collect()
    }

    #[test]
    fn layouts_find_nearly_all_that_comparing_every_pair_finds() {
        let threshold = 0.97;
        let all = entries(700);
        let texts: Vec<&str> = all.iter().map(|value| value.text.as_str()).collect();
        let vectors = Builtin::new().embed(&texts, Purpose::Document).unwrap();
        let mut found = Pairs { vectors: &vectors, threshold, near: BTreeMap::new() };
        found.by_layouts();
        let mut every = Pairs { vectors: &vectors, threshold, near: BTreeMap::new() };
        every.among(&(0..vectors.len()).collect::<Vec<_>>(), usize::MAX);
        let (near, every) = (found.near.len(), every.near.len());
        assert!(every >= 10, "{every} pairs are too few to tell");
        assert!(near * 10 >= every * 9, "{near} of {every}");
    }

    #[test]
    fn nothing_is_like_itself() {
        assert_eq!(alike(&entries(1), 0.9), Repeats::default());
    }
}

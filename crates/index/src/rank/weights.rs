//! The weight of each word of a query.
//!
//! The fewer chunks have a word, the higher its weight. Evidence is relative to the sum over all
//! words, including those that occur nowhere: weak evidence stays weak, whatever else was found.

use std::collections::HashMap;

use crate::store::{Reading, StoreError};
use crate::text::{Kind, QueryTerm, Term};

/// The weight of a word that is in every text, relative to one that is not.
const WEAK: f64 = 0.3;
/// The weight of one character of a script without spaces, relative to a pair.
const SINGLE: f64 = 0.2;
/// The weight of all pieces of an identifier or a compound together, relative to the whole.
const PARTS: f64 = 0.6;
/// Rarity is damped: the rarest word of a question is seldom the whole question.
const DAMPING: f64 = 0.7;

/// The words of a query with their weights.
#[derive(Debug)]
pub(super) struct Weights {
    /// One for each term of the query, in its order.
    pub(super) terms: Vec<Weight>,
    /// The highest possible weight of a text.
    pub(super) total: f64,
    has_no_content: bool,
    positions: HashMap<Term, u8>,
    /// One bit for each value of a term's lowest bits: most terms of a text are not in the query,
    /// and this shows it without a lookup.
    filter: [u64; 64],
}

/// The weight of one word.
#[derive(Clone, Debug)]
pub(super) struct Weight {
    pub(super) kind: Kind,
    pub(super) value: f64,
    /// Rarity, as in BM25.
    pub(super) rarity: f64,
    /// Whether no chunk has it.
    pub(super) is_absent: bool,
}

impl Weights {
    /// Weighs the terms of a query.
    pub(super) fn of(terms: &[QueryTerm], reading: &Reading<'_>) -> Result<Self, StoreError> {
        let chunks = reading.statistics().chunks as f64;
        let mut weights = Vec::with_capacity(terms.len());
        let parts = parts(terms);
        let mut positions = HashMap::new();
        let mut filter = [0; 64];
        for (position, term) in terms.iter().take(usize::from(u8::MAX)).enumerate() {
            let mut frequency = 0;
            for form in &term.forms {
                frequency = frequency.max(reading.frequency(form.term)?);
                positions.entry(form.term).or_insert(position as u8);
                filter[(form.term.0 as usize >> 6) & 63] |= 1 << (form.term.0 & 63);
            }
            let frequency = (frequency as f64).min(chunks);
            let rarity = (1.0 + (chunks - frequency + 0.5) / (frequency + 0.5)).ln();
            let value = worth(term.kind) * rarity.powf(DAMPING) / parts[position];
            let is_absent = frequency == 0.0;
            weights.push(Weight { kind: term.kind, value, rarity, is_absent });
        }
        let total: f64 = weights.iter().map(|weight| weight.value).sum();
        let total = total.max(f64::MIN_POSITIVE);
        let has_no_content = !weights.iter().any(|weight| is_content(weight.kind));
        Ok(Self { terms: weights, total, has_no_content, positions, filter })
    }

    /// Returns the position in the query of a term of a text.
    pub(super) fn position(&self, term: Term) -> Option<usize> {
        let bit = self.filter[(term.0 as usize >> 6) & 63] >> (term.0 & 63) & 1;
        if bit == 0 {
            return None;
        }
        self.positions.get(&term).map(|position| usize::from(*position))
    }

    /// Whether no text has any of the words that are not in every text.
    pub(super) fn are_absent(&self) -> bool {
        let mut content = self.terms.iter().filter(|term| is_content(term.kind)).peekable();
        content.peek().is_some() && content.all(|term| term.is_absent)
    }

    /// Whether a term of the query says what is looked for: a word that is not in every text, or
    /// any word if there is no such word.
    pub(super) fn is_telling(&self, position: usize) -> bool {
        self.has_no_content || self.terms.get(position).is_some_and(|term| is_content(term.kind))
    }

    /// Returns how many words there are that are not in every text.
    pub(super) fn content(&self) -> usize {
        self.terms.iter().filter(|term| is_content(term.kind)).count()
    }
}

/// Whether a term says what a text is about.
pub(super) fn is_content(kind: Kind) -> bool {
    matches!(kind, Kind::Word | Kind::Pair)
}

/// Returns with how many others each term shares a weight: the parts of a word are consecutive.
fn parts(terms: &[QueryTerm]) -> Vec<f64> {
    let of_one_word = |a: &QueryTerm, b: &QueryTerm| a.kind == Kind::Part && b.kind == Kind::Part;
    let share = |parts: &[QueryTerm]| vec![parts.len() as f64; parts.len()];
    terms.chunk_by(of_one_word).flat_map(share).collect()
}

fn worth(kind: Kind) -> f64 {
    match kind {
        Kind::Word | Kind::Pair => 1.0,
        Kind::Weak => WEAK,
        Kind::Single => SINGLE,
        Kind::Part => PARTS,
    }
}

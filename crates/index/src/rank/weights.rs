//! What each word of a query is worth.
//!
//! A word is worth more the fewer chunks have it. Evidence is measured against the sum over all
//! words, those that occur nowhere included: weak evidence stays weak, whatever else was found.

use std::collections::HashMap;

use crate::store::{Reading, StoreError};
use crate::text::{Kind, QueryTerm, Term};

/// What a word that is in every text is worth, beside one that is not.
const WEAK: f64 = 0.3;
/// What one character of a script without spaces is worth, beside a pair.
const SINGLE: f64 = 0.2;
/// What the pieces of an identifier or a compound are worth together, beside the whole.
const PARTS: f64 = 0.6;
/// Rarity is damped: the rarest word of a question is seldom the whole question.
const DAMPING: f64 = 0.7;

/// The words of a query with their worth.
#[derive(Debug)]
pub(super) struct Weights {
    /// One for each term of the query, in its order.
    pub(super) terms: Vec<Weight>,
    /// The most that any text could be worth.
    pub(super) total: f64,
    has_no_content: bool,
    positions: HashMap<Term, u8>,
    /// One bit for each value of a term's lowest bits: most terms of a text are none of the
    /// query's, and this tells without a lookup.
    filter: [u64; 64],
}

/// One word's worth.
#[derive(Clone, Debug)]
pub(super) struct Weight {
    pub(super) kind: Kind,
    pub(super) value: f64,
    /// Rarity, as BM25 has it.
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

    /// Returns which term of the query a term of a text is.
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
    /// any where there is no such word.
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

/// Returns with how many others each term shares a worth: the parts of a word follow each other.
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

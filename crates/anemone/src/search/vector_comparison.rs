//! Whose vectors an answer rests on, and why not on others.

use std::sync::atomic::Ordering;

use anemone_index::{Rankers, VectorOutcome, VectorRanker};

use super::VectorNote;
use crate::embedder::{ChosenEmbedder, Embedders, VectorLine};

/// Why only words were compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LexicalOnly {
    /// There is no embedder.
    NoEmbedder,
    /// There was nothing to compare.
    NothingToCompare,
    /// The embedder failed.
    EmbedderFailed,
    /// The index has no vectors.
    NoVectors,
    /// The index has no vectors of this model.
    NoVectorsOfModel,
    /// The index has vectors of another model.
    OtherModel,
}

/// What became of the embedders at a search.
pub(super) struct VectorComparison {
    /// The models that were compared, in descending order of weight.
    pub vectors: Vec<VectorLine>,
    pub lexical_only: Option<LexicalOnly>,
    pub notes: Vec<VectorNote>,
}

impl VectorComparison {
    pub(super) fn of(rankers: &Rankers, embedders: &Embedders) -> Self {
        let mut compared = Self { vectors: Vec::new(), lexical_only: None, notes: Vec::new() };
        let both = [&embedders.main, &embedders.fallback];
        for (ranker, chosen) in rankers.vectors.iter().zip(both.into_iter().flatten()) {
            let lexical_only = compared.take(ranker, chosen);
            compared.lexical_only = compared.lexical_only.or(lexical_only);
        }
        if rankers.vectors.is_empty() {
            compared.lexical_only = Some(match embedders.main {
                Some(_) => LexicalOnly::NothingToCompare,
                None => LexicalOnly::NoEmbedder,
            });
        }
        if !compared.vectors.is_empty() {
            compared.lexical_only = None;
        }
        compared
    }

    /// Takes the outcome of one embedder; returns the reason if its vectors are missing.
    fn take(&mut self, ranker: &VectorRanker, chosen: &ChosenEmbedder) -> Option<LexicalOnly> {
        let (model, embedder) = (ranker.identity.model.clone(), chosen.named.clone());
        let (note, why) = match &ranker.outcome {
            VectorOutcome::Used { chunks, missing } => {
                self.vectors.push(VectorLine::of(&ranker.identity, *chunks, *missing));
                if *missing == 0 || !chosen.is_work() {
                    return None;
                }
                let (missing, chunks) = (*missing, chunks + missing);
                (VectorNote::Missing { embedder, model, missing, chunks }, None)
            }
            VectorOutcome::Spare => return None,
            VectorOutcome::Failed(message) => {
                let (embedder, reason) = (chosen.named.wanted.to_string(), message.clone());
                let is_large_job = chosen.refused.load(Ordering::Relaxed);
                (
                    VectorNote::Failed { embedder, reason, is_large_job },
                    Some(LexicalOnly::EmbedderFailed),
                )
            }
            // The static model's vectors are made with the index; without documents there are no
            // vectors.
            VectorOutcome::NoVectors if !chosen.is_work() => return Some(LexicalOnly::NoVectors),
            VectorOutcome::NoVectors => {
                (VectorNote::None { embedder, model }, Some(LexicalOnly::NoVectorsOfModel))
            }
            VectorOutcome::OtherModel(there) => {
                let (there, provider) = (there.model.clone(), there.provider.clone());
                let note = VectorNote::OtherModel { embedder, model, there, provider };
                (note, Some(LexicalOnly::OtherModel))
            }
        };
        self.notes.push(note);
        why
    }
}

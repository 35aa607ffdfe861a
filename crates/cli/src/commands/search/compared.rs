//! Whose vectors an answer rests on, and why not on others.

use anemone_index::{Legs, VectorLeg, VectorOutcome};

use crate::embedder::{Chosen, Embedders, VectorLine, failed_note};
use crate::search_index::Warning;

/// What became of the embedders at a search.
pub(crate) struct Compared {
    /// The models that were compared, the one that counts most first.
    pub(crate) vectors: Vec<VectorLine>,
    /// Why only words were compared.
    pub(crate) lexical_only: Option<&'static str>,
    pub(crate) notes: Vec<Warning>,
}

impl Compared {
    pub(crate) fn of(legs: &Legs, embedders: &Embedders) -> Self {
        let mut compared = Self { vectors: Vec::new(), lexical_only: None, notes: Vec::new() };
        let both = [&embedders.main, &embedders.fallback];
        for (leg, chosen) in legs.vectors.iter().zip(both.into_iter().flatten()) {
            let lexical_only = compared.take(leg, chosen);
            compared.lexical_only = compared.lexical_only.or(lexical_only);
        }
        if legs.vectors.is_empty() {
            compared.lexical_only = Some(match embedders.main {
                Some(_) => "there was nothing to compare",
                None => "no embedder",
            });
        }
        if !compared.vectors.is_empty() {
            compared.lexical_only = None;
        }
        compared
    }

    /// Returns what is said of an embedder that failed.
    pub(crate) fn failure(&self) -> Option<&Warning> {
        self.notes.iter().find(|it| it.code == "embedder_failed")
    }

    /// Takes what became of one embedder; returns what is missing for it.
    fn take(&mut self, leg: &VectorLeg, chosen: &Chosen) -> Option<&'static str> {
        let model = &leg.identity.model;
        let command = chosen.command();
        let (code, message, why) = match &leg.outcome {
            VectorOutcome::Used { chunks, missing } => {
                self.vectors.push(VectorLine::of(&leg.identity, *chunks, *missing));
                if *missing == 0 || !chosen.is_work() {
                    return None;
                }
                let all = chunks + missing;
                let message = format!(
                    "{missing} of {all} chunks have no vectors of {model} yet; `{command}` fills them"
                );
                ("vectors_missing", message, None)
            }
            VectorOutcome::Spare => return None,
            VectorOutcome::Failed { message } => {
                self.notes.push(failed_note(&chosen.wanted.to_string(), message));
                return Some("the embedder failed");
            }
            VectorOutcome::NoVectors => {
                // The table's are made with the index; without documents there are none.
                if !chosen.is_work() {
                    return Some("no vectors");
                }
                let message =
                    format!("the index has no vectors of {model}; `{command}` fills them");
                ("no_vectors", message, Some("no vectors of this model"))
            }
            VectorOutcome::OtherModel { there } => {
                let message = format!(
                    "the index has vectors of {} ({}), not of {model}; `{command} --reembed` \
                     replaces them",
                    there.model, there.provider
                );
                ("other_model", message, Some("vectors of another model"))
            }
        };
        self.notes.push(Warning { code, message });
        why
    }
}

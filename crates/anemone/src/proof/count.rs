//! Counts what became of the things of one layer.

use anemone_format::sha256_hex;

use super::{LayerProof, Loss, Outcome};

/// Counts one layer.
pub(super) struct LayerCount<'a> {
    proof: LayerProof,
    source: Vec<String>,
    target: Vec<String>,
    lost: &'a mut Vec<Loss>,
}

impl<'a> LayerCount<'a> {
    pub(super) fn new(layer: &'static str, lost: &'a mut Vec<Loss>) -> Self {
        let proof = LayerProof { layer, ..LayerProof::default() };
        Self { proof, source: Vec::new(), target: Vec::new(), lost }
    }

    /// Counts a thing with its digest.
    pub(super) fn add(&mut self, what: impl FnOnce() -> String, digest: String, fate: Outcome) {
        let proof = &mut self.proof;
        proof.total += 1;
        match fate {
            Outcome::Carried => {
                proof.carried += 1;
                self.target.push(digest.clone());
            }
            Outcome::Degraded(fields, kept) => {
                proof.degraded += 1;
                let found = if kept {
                    digest.clone()
                } else {
                    sha256_hex(format!("{digest} without {fields:?}").as_bytes())
                };
                self.target.push(found);
                for field in fields {
                    *proof.fields.entry(field).or_default() += 1;
                }
            }
            Outcome::Aside => {
                proof.kept_aside += 1;
                self.target.push(digest.clone());
            }
            Outcome::Announced(reason) => {
                proof.not_carried += 1;
                *proof.reasons.entry(reason).or_default() += 1;
            }
            Outcome::Lost(reason) => {
                proof.lost += 1;
                self.lost.push(Loss { layer: proof.layer, what: what(), reason });
            }
        }
        self.source.push(digest);
    }

    pub(super) fn finish(mut self) -> LayerProof {
        let digest = |list: &mut Vec<String>| {
            list.sort_unstable();
            sha256_hex(list.join("\n").as_bytes())
        };
        self.proof.source_sha256 = digest(&mut self.source);
        self.proof.target_sha256 = digest(&mut self.target);
        self.proof
    }
}

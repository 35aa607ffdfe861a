//! Vectors of documents and of the question, and how alike two are.

use anemone_embed::{Embedder, Purpose};

use crate::embedding::chain;
use crate::request::{VectorOutcome, VectorRanker};

/// The vectors of a search.
pub(super) struct Vectors {
    /// The question.
    pub(super) query: Vec<f32>,
    /// One for each text.
    pub(super) texts: Vec<Vec<f32>>,
}

/// Embeds the question and every text; also says what the answer then rests on. Without vectors a
/// search goes on with words alone.
pub(super) fn vectors<'a>(
    embedder: Option<&dyn Embedder>,
    query: &str,
    texts: impl ExactSizeIterator<Item = &'a str>,
) -> (Option<Vectors>, Vec<VectorRanker>) {
    let Some(embedder) = embedder else { return (None, Vec::new()) };
    let (vectors, outcome) = match embed(embedder, query, texts) {
        Ok(vectors) => {
            let chunks = vectors.texts.len() as u64;
            (Some(vectors), VectorOutcome::Used { chunks, missing: 0 })
        }
        Err(error) => (None, VectorOutcome::Failed { message: chain(&error) }),
    };
    (vectors, vec![VectorRanker { identity: embedder.identity().clone(), outcome }])
}

fn embed<'a>(
    embedder: &dyn Embedder,
    query: &str,
    texts: impl ExactSizeIterator<Item = &'a str>,
) -> Result<Vectors, anemone_embed::EmbedError> {
    let unusable = |found| anemone_embed::EmbedError::Unusable {
        provider: embedder.identity().provider.clone(),
        found,
    };
    let all: Vec<&str> = texts.collect();
    let mut vectors = Vec::with_capacity(all.len());
    for batch in all.chunks(embedder.texts_at_once().max(1)) {
        vectors.extend(embedder.embed(batch, Purpose::Document)?);
    }
    if vectors.len() != all.len() {
        return Err(unusable("another number of vectors than of texts"));
    }
    let query = embedder.embed(&[query], Purpose::Query)?.pop();
    let query = query.ok_or_else(|| unusable("no vector for the question"))?;
    Ok(Vectors { query, texts: vectors })
}

/// Returns the cosine as sqlite-vec computes it: sums in 32 bits, the rest in 64, and one minus a
/// distance that is cut to 32 bits.
pub(super) fn cosine_32(a: &[f32], b: &[f32]) -> Option<f64> {
    let (mut dot, mut norm_a, mut norm_b) = (0.0_f32, 0.0_f32, 0.0_f32);
    for (&x, &y) in a.iter().zip(b) {
        dot += x * y;
        norm_a += x * x;
        norm_b += y * y;
    }
    let norms = f64::from(norm_a).sqrt() * f64::from(norm_b).sqrt();
    #[expect(clippy::cast_possible_truncation, reason = "sqlite-vec keeps 32 bits")]
    let distance = (1.0 - f64::from(dot) / norms) as f32;
    distance.is_finite().then(|| 1.0 - f64::from(distance))
}

/// Returns the cosine in 64 bits; 0 when it is not defined.
pub(super) fn cosine_64(a: &[f32], b: &[f32]) -> f64 {
    if a.len() != b.len() {
        return 0.0;
    }
    let (mut dot, mut norm_a, mut norm_b) = (0.0_f64, 0.0_f64, 0.0_f64);
    for (&x, &y) in a.iter().zip(b) {
        let (x, y) = (f64::from(x), f64::from(y));
        dot += x * y;
        norm_a += x * x;
        norm_b += y * y;
    }
    let norms = norm_a.sqrt() * norm_b.sqrt();
    if norms.is_finite() && norms > f64::EPSILON { dot / norms } else { 0.0 }
}

//! Vectors of the texts and of the question, for a ranking of another program.

use anemone_embed::{Embedder, Purpose};
use anemone_format::with_causes;

use crate::request::{VectorOutcome, VectorRanker};

/// The vectors of a search.
#[derive(Clone, Debug, PartialEq)]
pub struct TextVectors {
    /// The vector of the question.
    pub query: Vec<f32>,
    /// One for each text.
    pub texts: Vec<Vec<f32>>,
}

/// Embeds the question and every text; also returns what the answer is based on. Without vectors, a
/// search continues with words alone.
pub fn embed_texts<'a>(
    embedder: Option<&dyn Embedder>,
    query: &str,
    texts: impl ExactSizeIterator<Item = &'a str>,
) -> (Option<TextVectors>, Vec<VectorRanker>) {
    let Some(embedder) = embedder else { return (None, Vec::new()) };
    let (vectors, outcome) = match embed(embedder, query, texts) {
        Ok(vectors) => {
            let chunks = vectors.texts.len() as u64;
            (Some(vectors), VectorOutcome::Used { chunks, missing: 0 })
        }
        Err(error) => (None, VectorOutcome::Failed(with_causes(&error))),
    };
    (vectors, vec![VectorRanker { identity: embedder.identity().clone(), outcome }])
}

fn embed<'a>(
    embedder: &dyn Embedder,
    query: &str,
    texts: impl ExactSizeIterator<Item = &'a str>,
) -> Result<TextVectors, anemone_embed::EmbedError> {
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
    Ok(TextVectors { query, texts: vectors })
}

//! Which texts of a chunk are embedded, and what vectors must be.

use anemone_embed::{EmbedError, EmbeddingBatch, ModelIdentity};
use sha2::{Digest as _, Sha256};

use crate::stamped::said;
use crate::store::ContentHash;
use crate::store::body::Body;

/// The texts of a chunk that are embedded: each of its blocks.
pub(crate) fn block_texts<'a>(text: &'a str, body: &Body) -> Vec<&'a str> {
    let range = |bytes: &std::ops::Range<u32>| bytes.start as usize..bytes.end as usize;
    body.blocks
        .iter()
        .map(|block| said(text.get(range(&block.bytes)).unwrap_or_default()))
        .collect()
}

/// The key of a text in the cache.
pub(crate) fn hash(text: &str) -> ContentHash {
    Sha256::digest(text.as_bytes()).into()
}

/// Rejects vectors that are not what the embedder promises.
pub(crate) fn checked(
    vectors: Vec<Vec<f32>>,
    texts: usize,
    identity: &ModelIdentity,
) -> Result<Vec<Vec<f32>>, EmbedError> {
    check(vectors.iter(), texts, identity)?;
    Ok(vectors)
}

/// As [`checked`]; places may be empty when the embedder failed.
pub(super) fn checked_some(
    made: EmbeddingBatch,
    texts: usize,
    identity: &ModelIdentity,
) -> Result<EmbeddingBatch, EmbedError> {
    let there = made.vectors.iter().flatten();
    let expected = match made.error {
        Some(_) if made.vectors.len() == texts => there.clone().count(),
        _ => texts,
    };
    check(there, expected, identity)?;
    Ok(made)
}

fn check<'a>(
    vectors: impl Iterator<Item = &'a Vec<f32>> + Clone,
    texts: usize,
    identity: &ModelIdentity,
) -> Result<(), EmbedError> {
    let unusable = |found| Err(EmbedError::Unusable { provider: identity.provider.clone(), found });
    if vectors.clone().count() != texts {
        return unusable("not one vector for each text");
    }
    if vectors.clone().any(|vector| vector.len() != identity.dimensions) {
        return unusable("the wrong number of dimensions");
    }
    if vectors.flatten().any(|number| !number.is_finite()) {
        return unusable("what is no number");
    }
    Ok(())
}

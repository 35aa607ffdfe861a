//! Asking an index.

use std::collections::HashMap;

use anemone_embed::{EmbedError, Embedder, Purpose};

use crate::document::Document;
use crate::embedding::exact;
use crate::index::{Index, SearchError};
use crate::profile::{self, Profile};
use crate::rank::rank;
use crate::request::{Answer, Legs, Note, Request, VectorLeg};
use crate::store::{Allowed, ChunkId, Reading, Store, StoreError};
use crate::text::{Language, parse};
use crate::vector::{Nearest, RESCORED, Scan, cosine, normalised};

/// A query is taken apart in this many languages at most: those of most chunks.
const LANGUAGES: usize = 6;

impl Index {
    /// Answers a question from what the last refresh left.
    pub fn search(
        &self,
        request: &Request,
        embedder: Option<&dyn Embedder>,
    ) -> Result<Answer, SearchError> {
        let reading = self.store.reading()?;
        let allowed = reading.allowed(request)?;
        if request.profile != Profile::Anemone {
            let mut documents: Vec<Document> = Vec::new();
            if allowed.as_ref().is_some_and(|it| it.documents.is_empty()) {
                let legs = Legs { lexical: true, vector: VectorLeg::NoEmbedder };
                return Ok(Answer { hits: Vec::new(), legs, notes: vec![Note::FilteredOut] });
            }
            reading.documents(allowed.as_ref(), &mut |document| documents.push(document))?;
            return Ok(profile::answer(request.profile, &documents, request, embedder)?);
        }
        let languages: Vec<Language> =
            reading.statistics().languages.iter().take(LANGUAGES).map(|it| it.0).collect();
        let words = parse(&request.query, &languages);
        let (nearest, vector) = match embedder {
            Some(embedder) => nearest(&self.store, &reading, request, allowed.as_ref(), embedder)?,
            None => (None, VectorLeg::NoEmbedder),
        };
        let ranked = rank(&reading, request, &words, allowed, nearest.as_ref())?;
        let legs = Legs { lexical: true, vector };
        Ok(Answer { hits: ranked.hits, legs, notes: ranked.notes })
    }
}

/// Finds the chunks whose vectors are nearest to the query's. What goes wrong with the embedder
/// takes its leg from the answer, not the answer.
fn nearest(
    store: &Store,
    reading: &Reading<'_>,
    request: &Request,
    allowed: Option<&Allowed>,
    embedder: &dyn Embedder,
) -> Result<(Option<Nearest>, VectorLeg), StoreError> {
    let identity = embedder.identity();
    let chunks = reading.vector_count(identity)?;
    if chunks == 0 {
        return Ok((None, VectorLeg::NoVectors));
    }
    let vector = match query_vector(&request.query, embedder) {
        Ok(vector) => normalised(&vector),
        Err(error) => return Ok((None, VectorLeg::Failed { message: chain(&error) })),
    };
    let leg = VectorLeg::Used {
        model: identity.model.clone(),
        chunks,
        missing: reading.statistics().chunks.saturating_sub(chunks),
    };
    if vector.iter().all(|it| *it == 0.0) {
        return Ok((None, leg));
    }
    let mut scan = Scan::new(&vector, RESCORED);
    let ranges = allowed.map(|it| reading.allowed_chunks(it)).transpose()?;
    let is_allowed = |chunk: ChunkId| {
        ranges.as_ref().is_none_or(|ranges| {
            let at = ranges.partition_point(|it| it.end <= chunk.0);
            ranges.get(at).is_some_and(|it| it.contains(&chunk.0))
        })
    };
    reading.vectors(identity, &mut |chunk, blob| {
        if is_allowed(chunk) {
            scan.compare(chunk, blob);
        }
    })?;
    let mut cosines = HashMap::new();
    for (chunk, vectors) in exact(store, reading, identity, &scan.finish())? {
        cosines.insert(chunk, vectors.iter().map(|it| cosine(&vector, it)).collect());
    }
    Ok((Some(Nearest::new(cosines)), leg))
}

fn query_vector(query: &str, embedder: &dyn Embedder) -> Result<Vec<f32>, EmbedError> {
    let mut vectors = embedder.embed(&[query.trim()], Purpose::Query)?;
    let identity = embedder.identity();
    let unusable = |found| EmbedError::Unusable { provider: identity.provider.clone(), found };
    let vector = vectors.pop().filter(|_| vectors.is_empty());
    let vector = vector.ok_or_else(|| unusable("not one vector for one text"))?;
    if vector.len() != identity.dimensions {
        return Err(unusable("the wrong number of dimensions"));
    }
    if vector.iter().any(|it| !it.is_finite()) {
        return Err(unusable("what is no number"));
    }
    Ok(vector)
}

fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(error) = source {
        text.push_str(": ");
        text.push_str(&error.to_string());
        source = error.source();
    }
    text
}

//! Queries an index.

use anemone_embed::{EmbedError, Embedder, Purpose};
use anemone_format::with_causes;

use crate::document::Document;
use crate::embedding::{Cached, checked};
use crate::index::{Index, QueryError};
use crate::profile::RankingChoice;
use crate::rank::rank;
use crate::request::{Answer, AnswerNote, Rankers, Request, VectorOutcome, VectorRanker};
use crate::store::{Allowed, ChunkId, Reading, Slot, StoreError, StoredSet};
use crate::text::{Kind, Language, Votes, Words, parse};
use crate::vector::{NEAREST, Nearest, Scan, Sense, normalised};

impl Index {
    /// Answers a question from the state of the last refresh.
    ///
    /// A chunk is compared by the first embedder that has vectors for it. Embedders that fail on
    /// the query, or do not know a word of it, leave their chunks to the next one. Without
    /// embedders, only words count.
    pub fn search(
        &self,
        request: &Request,
        embedders: &[&dyn Embedder],
    ) -> Result<Answer, QueryError> {
        let unused = request.profile.unused(request.settings());
        let unused = (!unused.is_empty()).then_some(AnswerNote::SettingsUnused(unused));
        let reading = self.store.reading()?;
        let allowed = reading.allowed(request)?;
        if let RankingChoice::Other(profile) = request.profile {
            let mut documents: Vec<Document> = Vec::new();
            if allowed.as_ref().is_some_and(|allowed| allowed.documents.is_empty()) {
                let rankers = Rankers { lexical: true, vectors: Vec::new() };
                return Ok(Answer {
                    hits: Vec::new(),
                    rankers,
                    notes: unused.into_iter().chain([AnswerNote::FilteredOut]).collect(),
                });
            }
            reading.documents(allowed.as_ref(), &mut |document| documents.push(document))?;
            let cached = embedders.first().map(|embedder| Cached::new(*embedder, &self.store));
            let embedder = cached.as_ref().map(|embedder| embedder as &dyn Embedder);
            let mut answer = profile.answer(&documents, request, embedder)?;
            answer.notes.extend(unused);
            return Ok(answer);
        }
        let words = parse(&request.query, &reading.statistics().main_languages());
        // Without positive terms no embedder is called: a service would be sent the excluded words.
        let embedders = if words.terms.is_empty() { &[] } else { embedders };
        let votes = Votes::of(&request.query);
        let is_foreign = votes.likeliest().is_some_and(|language| language != Language::English);
        let asked = Asked { query: &request.query, words: words_of(&words), is_foreign };
        let (nearest, vectors) = nearest(&reading, &asked, allowed.as_ref(), embedders)?;
        let ranked = rank(&reading, request, &words, allowed, nearest)?;
        let rankers = Rankers { lexical: true, vectors };
        let notes = ranked.notes.into_iter().chain(unused).collect();
        Ok(Answer { hits: ranked.hits, rankers, notes })
    }
}

/// The query for the embedders.
struct Asked<'a> {
    query: &'a str,
    /// Its words.
    words: String,
    /// Whether it may be in a language that English vocabularies do not cover.
    is_foreign: bool,
}

/// Returns the words of a query, separated by spaces. A question that is about names still consists
/// of words, because it asks for something.
fn words_of(words: &Words) -> String {
    let words = words.terms.iter().filter(|term| matches!(term.kind, Kind::Word | Kind::Weak));
    words.map(|term| term.surface.as_str()).collect::<Vec<_>>().join(" ")
}

/// Below this share of known words a query counts as random letters, and similar vectors are
/// chance.
const KNOWN_SHARE: f32 = 0.35;

/// Finds the chunks whose vectors are nearest to the query's. A failing embedder only costs the
/// answer that ranker.
fn nearest(
    reading: &Reading<'_>,
    asked: &Asked<'_>,
    allowed: Option<&Allowed>,
    embedders: &[&dyn Embedder],
) -> Result<(Option<Nearest>, Vec<VectorRanker>), StoreError> {
    let mut rankers = Vec::with_capacity(embedders.len());
    if embedders.is_empty() {
        return Ok((None, rankers));
    }
    let mut scanned = Scanned::new(reading, allowed)?;
    for embedder in embedders {
        let outcome = scanned.ask(asked, *embedder)?;
        rankers.push(VectorRanker { identity: embedder.identity().clone(), outcome });
    }
    let mut nearest = scanned.nearest;
    nearest.sense = sense(asked, embedders);
    Ok(((!nearest.is_empty()).then_some(nearest), rankers))
}

/// Says what a query consists of. A model that was compared may not tell, but the vocabulary of any
/// of the embedders does.
fn sense(asked: &Asked<'_>, embedders: &[&dyn Embedder]) -> Sense {
    if asked.is_foreign {
        return Sense::Untold;
    }
    let known: Vec<Option<f32>> =
        embedders.iter().map(|embedder| embedder.knows(&asked.words)).collect();
    match known.iter().flatten().copied().reduce(f32::max) {
        Some(share) if share >= KNOWN_SHARE => Sense::Words,
        Some(_) if known.iter().all(Option::is_some) => Sense::Letters,
        Some(_) => Sense::Doubtful,
        None => Sense::Untold,
    }
}

/// The results of one embedder after the other.
struct Scanned<'a> {
    reading: &'a Reading<'a>,
    sets: Vec<StoredSet>,
    /// Chunks that pass the filters, as ranges in their order; `None`: all.
    allowed: Option<Vec<std::ops::Range<u64>>>,
    nearest: Nearest,
    /// Whether every chunk has been compared.
    is_whole: bool,
}

impl<'a> Scanned<'a> {
    fn new(reading: &'a Reading<'a>, allowed: Option<&Allowed>) -> Result<Self, StoreError> {
        Ok(Self {
            reading,
            sets: reading.sets()?,
            allowed: allowed.map(|allowed| reading.allowed_chunks(allowed)).transpose()?,
            nearest: Nearest::default(),
            is_whole: false,
        })
    }

    fn ask(
        &mut self,
        asked: &Asked<'_>,
        embedder: &dyn Embedder,
    ) -> Result<VectorOutcome, StoreError> {
        let query = asked.query;
        let identity = embedder.identity();
        let own = |set: &&StoredSet| set.identity == *identity && set.chunks > 0;
        let Some(set) = self.sets.iter().find(own).cloned() else {
            let in_its_place = |set: &&StoredSet| {
                set.slot == Slot::Model
                    && set.slot == Slot::of(embedder.effort())
                    && set.identity != *identity
                    && set.chunks > 0
            };
            let there = self.sets.iter().find(in_its_place);
            return Ok(there.map_or(VectorOutcome::NoVectors, |set| {
                VectorOutcome::OtherModel(set.identity.clone())
            }));
        };
        if self.is_whole {
            return Ok(VectorOutcome::Spare);
        }
        let vector = match query_vector(query, embedder) {
            Ok(vector) => vector,
            Err(error) => return Ok(VectorOutcome::Failed(with_causes(&error))),
        };
        let missing = self.reading.statistics().chunks.saturating_sub(set.chunks);
        let trust = f64::from(embedder.reads(query)).clamp(0.0, 1.0);
        if trust > 0.0 && vector.iter().any(|number| *number != 0.0) {
            self.scan(&set, &vector, trust)?;
            self.is_whole = missing == 0;
        }
        Ok(VectorOutcome::Used { chunks: set.chunks, missing })
    }

    /// Compares a set with a query. The baseline is computed from the whole set, whatever the
    /// filters and earlier embedders leave to be found.
    fn scan(&mut self, set: &StoredSet, query: &[f32], trust: f64) -> Result<(), StoreError> {
        let blocks = self.reading.statistics().blocks;
        let mut scan = Scan::new(query, NEAREST, (set.chunks, blocks));
        self.reading.vectors(set.slot, &mut |chunk, blob| {
            scan.compare(chunk, blob, self.is_allowed(chunk) && !self.nearest.has(chunk));
        })?;
        self.nearest.add(scan, trust);
        Ok(())
    }

    fn is_allowed(&self, chunk: ChunkId) -> bool {
        self.allowed.as_ref().is_none_or(|ranges| {
            let at = ranges.partition_point(|range| range.end <= chunk.0);
            ranges.get(at).is_some_and(|range| range.contains(&chunk.0))
        })
    }
}

fn query_vector(query: &str, embedder: &dyn Embedder) -> Result<Vec<f32>, EmbedError> {
    let vectors = embedder.embed(&[query.trim()], Purpose::Query)?;
    let vectors = checked(vectors, 1, embedder.identity())?;
    Ok(vectors.first().map(|vector| normalised(vector)).unwrap_or_default())
}

//! The blocks that were found, with their scores.

use std::collections::{BTreeSet, HashMap};
use std::ops::Deref;
use std::sync::Arc;

use jiff::civil::Date;

use super::blocks::{BlockFacts, BlockScores, FileFacts, Usual, block_scores, exact};
use super::meaning::Meaning;
use super::strength::Literal;
use super::voices::voice_factor;
use super::{Question, weights};
use crate::document::Document;
use crate::store::body::BodyBlock;
use crate::store::{
    Allowed, Candidate, ChunkId, DocumentId, ReadDocument, Reading, StoreError, StoredChunk,
};
use crate::text::{Language, Phrase, flat};
use crate::vector::{Nearest, Sense};
use crate::voice::Voice;

/// Chunks that are searched for similar words.
const ALIKE_CHUNKS: usize = 64;
/// Candidates that are read with their neighbours.
const NEIGHBOURED: usize = 48;

/// The blocks that were found.
pub(super) struct FoundBlocks {
    pub(super) documents: HashMap<DocumentId, FoundDocument>,
    /// Blocks in the order of document number and text; consecutive chunks of a document follow
    /// each other.
    pub(super) blocks: Vec<FoundBlock>,
    /// The surroundings of blocks: the chunk that has them, and their position there.
    contexts: Vec<(Arc<StoredChunk>, usize)>,
    /// For each block in turn, how often each term of the query occurs in it.
    counts: Vec<f32>,
    terms: usize,
    /// Whether nearness in meaning is significant.
    pub(super) sense: Sense,
}

/// A document of which something was found.
pub(super) struct FoundDocument {
    pub(super) read: Arc<ReadDocument>,
    /// Among all documents that were found, in the order of their paths.
    pub(super) rank: usize,
}

/// A block within its chunk.
pub(super) struct BlockOf {
    chunk: Arc<StoredChunk>,
    at: usize,
}

impl Deref for BlockOf {
    type Target = BodyBlock;

    fn deref(&self) -> &BodyBlock {
        &self.chunk.body.blocks[self.at]
    }
}

/// A block that was found.
pub(super) struct FoundBlock {
    pub(super) document: DocumentId,
    pub(super) chunk: ChunkId,
    /// Where its chunk begins in the document.
    pub(super) chunk_start: u64,
    pub(super) language: Language,
    pub(super) block: BlockOf,
    /// Its surroundings, by position in [`FoundBlocks::contexts`].
    pub(super) context: usize,
    pub(super) date: Option<Date>,
    /// Whether the next block here is the next block of the document.
    pub(super) is_followed: bool,
    /// Whether it may be shown: it is not just a neighbour, and passes the filters.
    pub(super) is_answer: bool,
    /// How it, or what is above it, matches the words of the query.
    pub(super) literal: Literal,
    pub(super) scores: BlockScores,
    /// The result for its vector, if it has one.
    pub(super) meaning: Option<Meaning>,
    pub(super) score: f64,
    text: Option<String>,
}

/// What scores are based on besides the chunks themselves.
struct Grounds<'a> {
    own: &'a BTreeSet<ChunkId>,
    texts: &'a Texts,
    nearest: Option<&'a Nearest>,
    question: &'a Question<'a>,
    usual: Usual,
}

impl FoundBlock {
    /// Returns its score by words and vectors, regardless of the speaker.
    pub(super) fn evidence(&self) -> f64 {
        self.scores.score() + self.meaning.map_or(0.0, Meaning::score)
    }
}

impl FoundBlocks {
    /// Reads candidates and their neighbours and scores their blocks.
    pub(super) fn read(
        reading: &Reading<'_>,
        candidates: &[Candidate],
        nearest: Option<&Nearest>,
        allowed: Option<&Allowed>,
        question: &Question<'_>,
    ) -> Result<Self, StoreError> {
        let best = candidates.iter().take(NEIGHBOURED).map(|candidate| candidate.chunk);
        let best: BTreeSet<ChunkId> =
            best.chain(nearest.into_iter().flat_map(Nearest::chunks)).collect();
        let own: BTreeSet<ChunkId> = candidates
            .iter()
            .map(|candidate| candidate.chunk)
            .chain(best.iter().copied())
            .collect();
        let around = |id: &ChunkId| [ChunkId(id.0.saturating_sub(1)), ChunkId(id.0 + 1)];
        let neighbours = best.iter().flat_map(around);
        let ids: BTreeSet<ChunkId> = own.iter().copied().chain(neighbours).collect();
        let ids: Vec<ChunkId> = ids.into_iter().collect();
        let mut chunks = reading.chunks(&ids)?;
        let is_allowed = |id: &DocumentId| {
            allowed.is_none_or(|allowed| allowed.documents.binary_search(id).is_ok())
        };
        let of_best: HashMap<ChunkId, DocumentId> = chunks
            .iter()
            .filter(|chunk| best.contains(&chunk.id))
            .map(|chunk| (chunk.id, chunk.document))
            .collect();
        // A chunk with the next number may belong to another document.
        let is_beside = |chunk: &StoredChunk| {
            around(&chunk.id).iter().any(|id| of_best.get(id) == Some(&chunk.document))
        };
        chunks.retain(|chunk| {
            (own.contains(&chunk.id) || is_beside(chunk)) && is_allowed(&chunk.document)
        });
        let texts = Texts::read(reading, candidates, &chunks, question)?;
        let statistics = reading.statistics();
        let per = |sum: u64, count: u64| sum as f64 / count.max(1) as f64;
        let usual = Usual {
            block: per(statistics.words, statistics.blocks),
            file: per(statistics.words, statistics.documents),
        };
        let grounds = Grounds { own: &own, texts: &texts, nearest, question, usual };
        let mut found = Self {
            documents: HashMap::new(),
            blocks: Vec::new(),
            contexts: Vec::new(),
            counts: Vec::new(),
            terms: question.weights.terms.len(),
            sense: nearest.map_or(Sense::Untold, |nearest| nearest.sense),
        };
        let per_chunk = per(statistics.words, statistics.chunks);
        let mut paths: Vec<(String, DocumentId)> = Vec::new();
        let mut chunks = chunks.into_iter().peekable();
        while let Some(id) = chunks.peek().map(|chunk| chunk.document) {
            let of_file = std::iter::from_fn(|| chunks.next_if(|chunk| chunk.document == id));
            let of_file: Vec<Arc<StoredChunk>> = of_file.collect();
            let read = reading.document(id)?;
            paths.push((read.document.path.clone(), id));
            let length = (read.chunks.end.0 - read.chunks.start.0) as f64 * per_chunk;
            found.take_file(&read.document, of_file, length, &grounds);
            found.documents.insert(id, FoundDocument { read, rank: 0 });
        }
        paths.sort_unstable();
        for (rank, (_, id)) in paths.iter().enumerate() {
            if let Some(document) = found.documents.get_mut(id) {
                document.rank = rank;
            }
        }
        Ok(found)
    }

    /// Returns the headings above a block.
    pub(super) fn headings(&self, block: &FoundBlock) -> &[String] {
        let context = self.contexts.get(block.context);
        context.map_or(&[], |(chunk, at)| &chunk.body.contexts[*at].headings)
    }

    /// Returns how often each term of the query occurs in a block; below 1: a similar word does.
    pub(super) fn counts(&self, block: usize) -> &[f32] {
        &self.counts[block * self.terms..(block + 1) * self.terms]
    }

    /// Takes the chunks of one file, in their order.
    fn take_file(
        &mut self,
        document: &Document,
        chunks: Vec<Arc<StoredChunk>>,
        length: f64,
        grounds: &Grounds<'_>,
    ) {
        let first = self.blocks.len();
        let mut seen: Vec<BlockFacts> = Vec::new();
        // Runs of consecutive chunks, as ranges of `seen`.
        let mut stretches: Vec<std::ops::Range<usize>> = Vec::new();
        let mut last: Option<ChunkId> = None;
        for chunk in chunks {
            if last.is_none_or(|last| last.0 + 1 != chunk.id.0) {
                self.end_stretch(first);
                stretches.push(seen.len()..seen.len());
            }
            last = Some(chunk.id);
            self.take_chunk(document, &chunk, grounds, &mut seen);
            if let Some(stretch) = stretches.last_mut() {
                stretch.end = seen.len();
            }
        }
        self.end_stretch(first);
        let terms = self.terms;
        let counts = &self.counts[first * terms..];
        let mut file = FileFacts { found: vec![0.0; terms], length };
        if terms > 0 {
            for (counts, block) in counts.chunks_exact(terms).zip(&seen) {
                if !block.voice.is_open() {
                    file.found
                        .iter_mut()
                        .zip(counts)
                        .for_each(|(sum, count)| *sum += exact(*count));
                }
            }
        }
        let question = grounds.question;
        for stretch in stretches {
            let counts = &counts[stretch.start * terms..stretch.end * terms];
            let seen = &seen[stretch.clone()];
            let scored = block_scores(
                seen,
                counts,
                &file,
                &question.dates,
                &question.weights,
                grounds.usual,
            );
            for (block, scores) in self.blocks[first + stretch.start..].iter_mut().zip(scored) {
                block.scores = scores;
                block.score = voice_factor(block.block.voice) * block.evidence();
            }
        }
    }

    /// Marks that the next chunk of this file does not follow the last one.
    fn end_stretch(&mut self, first: usize) {
        if let Some(block) = self.blocks.get_mut(first..).and_then(<[_]>::last_mut) {
            block.is_followed = false;
        }
    }

    fn take_chunk(
        &mut self,
        document: &Document,
        chunk: &Arc<StoredChunk>,
        grounds: &Grounds<'_>,
        seen: &mut Vec<BlockFacts>,
    ) {
        let question = grounds.question;
        let weights = &question.weights;
        let is_own = grounds.own.contains(&chunk.id);
        let text = grounds.texts.of(chunk.id);
        let alike = question.alike_in(chunk.language);
        let first_context = self.contexts.len();
        let mut worths = Vec::with_capacity(chunk.body.contexts.len());
        let mut unwanted = Vec::with_capacity(chunk.body.contexts.len());
        let mut literal = Vec::with_capacity(chunk.body.contexts.len());
        for (at, context) in chunk.body.contexts.iter().enumerate() {
            unwanted.push(context.terms.iter().any(|term| question.excluded.contains(term)));
            let mut there: Vec<usize> =
                context.terms.iter().filter_map(|term| weights.position(*term)).collect();
            there.sort_unstable();
            there.dedup();
            worths.push(there.iter().map(|term| weights.terms[*term].value).sum::<f64>());
            literal.push(there.iter().any(|term| weights.is_telling(*term)));
            self.contexts.push((Arc::clone(chunk), at));
        }
        let near = grounds.nearest;
        let cosines = near.and_then(|near| near.of(chunk.id));
        let mut letters = Vec::new();
        for (at, block) in chunk.body.blocks.iter().enumerate() {
            let start = self.counts.len();
            self.counts.resize(start + self.terms, 0.0);
            let counts = &mut self.counts[start..];
            let mut is_labelled = false;
            let mut is_wanted = !unwanted.get(block.context as usize).copied().unwrap_or(false);
            for (place, term) in block.terms.iter().enumerate() {
                if let Some(position) = weights.position(*term) {
                    counts[position] += 1.0;
                    is_labelled |= place < block.labelled as usize
                        && weights::is_content(weights.terms[position].kind);
                }
                is_wanted &= question.excluded.is_empty() || !question.excluded.contains(term);
            }
            let bytes = block.bytes.start as usize..block.bytes.end as usize;
            let own_text = text.and_then(|text| text.get(bytes));
            if let Some(text) = own_text.filter(|_| is_own && !alike.is_empty()) {
                alike.look(&flat(text), counts, &mut letters);
            }
            let telling = counts.iter().enumerate().filter(|(at, _)| weights.is_telling(*at));
            let most = telling.map(|(_, count)| *count).fold(0.0, f32::max);
            let context = block.context as usize;
            let is_above = literal.get(context).copied().unwrap_or(false);
            let date =
                chunk.body.contexts.get(context).and_then(|context| context.date).or(document.date);
            let request = question.request;
            let is_in_time =
                request.since.is_none_or(|since| date.is_some_and(|date| date >= since))
                    && request.until.is_none_or(|until| date.is_some_and(|date| date <= until));
            seen.push(BlockFacts {
                length: f64::from(block.length),
                // The name of a session's note is made from its questions.
                context: match block.voice {
                    Voice::Statement => worths.get(context).copied().unwrap_or(0.0),
                    Voice::Said | Voice::Asked | Voice::Empty => 0.0,
                },
                is_labelled,
                is_question: block.is_question,
                voice: block.voice,
                date,
            });
            self.blocks.push(FoundBlock {
                document: chunk.document,
                chunk: chunk.id,
                chunk_start: chunk.start_byte,
                language: chunk.language,
                context: first_context + context,
                date,
                is_followed: true,
                is_answer: is_own && is_wanted && is_in_time,
                literal: match most {
                    1.0.. => Literal::Word,
                    _ if is_above => Literal::Word,
                    more if more > 0.0 => Literal::Alike,
                    _ => Literal::No,
                },
                scores: BlockScores::default(),
                meaning: cosines
                    .and_then(|(of_chunk, usual)| Some(Meaning::of(*of_chunk.get(at)?, usual))),
                score: 0.0,
                text: own_text.filter(|_| question.needs_text()).map(str::to_owned),
                block: BlockOf { chunk: Arc::clone(chunk), at },
            });
        }
    }

    /// Hides blocks that have a phrase.
    pub(super) fn hide_with_phrases(&mut self, phrases: &[Phrase]) {
        for block in &mut self.blocks {
            let has = |text: &str| phrases.iter().any(|phrase| phrase.is_in(text));
            if block.text.as_deref().is_some_and(has) {
                block.is_answer = false;
            }
        }
    }

    /// Hides blocks that do not have all of these phrases.
    pub(super) fn keep_with_phrases(&mut self, phrases: &[Phrase]) {
        for block in &mut self.blocks {
            let has = |text: &str| phrases.iter().all(|phrase| phrase.is_in(text));
            block.is_answer &= block.text.as_deref().is_some_and(has);
        }
    }
}

/// The texts of chunks that are searched for what terms cannot express.
struct Texts(HashMap<ChunkId, String>);

impl Texts {
    fn read(
        reading: &Reading<'_>,
        candidates: &[Candidate],
        chunks: &[Arc<StoredChunk>],
        question: &Question<'_>,
    ) -> Result<Self, StoreError> {
        let mut texts = HashMap::new();
        let languages: HashMap<ChunkId, Language> =
            chunks.iter().map(|chunk| (chunk.id, chunk.language)).collect();
        for (place, candidate) in candidates.iter().enumerate() {
            let Some(language) = languages.get(&candidate.chunk) else { continue };
            let is_wanted = question.needs_text()
                || (place < ALIKE_CHUNKS && !question.alike_in(*language).is_empty());
            if is_wanted {
                texts.insert(candidate.chunk, reading.text(candidate.chunk)?);
            }
        }
        Ok(Self(texts))
    }

    fn of(&self, chunk: ChunkId) -> Option<&str> {
        self.0.get(&chunk).map(String::as_str)
    }
}

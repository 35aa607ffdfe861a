//! Filling an index with vectors: what it would take, doing it, and stopping in between.

use std::time::{Duration, Instant};

use anemone_embed::{EmbedError, ModelIdentity};
use anemone_format::with_causes;
use anemone_index::{
    CarriedReport, EmbeddingError, EmbeddingReport, EmbeddingWork, Index, NoProgress, Replace,
    Request, StoreError, VectorSet,
};
use serde::Serialize;

use super::guard::MANY_TOKENS;
use super::stop::{Stop, Stoppable};
use super::{ChosenEmbedder, Embedders};
use crate::host::Host;
use crate::search::target::SearchTarget;
use crate::search::{NamedEmbedder, SearchNote, VectorNote};

/// A search fills in at most this many texts before it answers.
const GAP: u64 = 64;

/// Vectors of one model in an index.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct VectorLine {
    /// Who makes them.
    pub provider: String,
    /// With which model.
    pub model: String,
    /// The length of each.
    pub dimensions: usize,
    /// Chunks that have vectors.
    pub chunks: u64,
    /// Chunks that have none yet.
    pub missing: u64,
}

impl VectorLine {
    /// Describes the vectors of a model.
    pub fn of(identity: &ModelIdentity, chunks: u64, missing: u64) -> Self {
        let ModelIdentity { provider, model, dimensions } = identity.clone();
        Self { provider, model, dimensions, chunks, missing }
    }
}

/// Returns what vectors an index has.
pub fn vector_lines(index: &Index) -> Result<Vec<VectorLine>, StoreError> {
    let sets = index.vector_sets()?;
    let line = |set: &VectorSet| VectorLine::of(&set.identity, set.chunks, set.missing);
    Ok(sets.iter().map(line).collect())
}

/// What filling would take.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Job {
    /// The embedder.
    pub embedder: String,
    /// Its model.
    pub model: String,
    /// Chunks without vectors.
    pub chunks: u64,
    /// Different texts in them that the embedder would be handed.
    pub texts: u64,
    /// Characters of these texts.
    pub characters: u64,
    /// Tokens of these texts, estimated.
    pub tokens: u64,
    /// Texts whose vectors are known already; `None` while the length of the vectors is unknown.
    pub known: Option<u64>,
    /// Where the texts would go, when they leave this program.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// A model whose vectors would be replaced.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replaces: Option<String>,
}

impl Job {
    /// Determines the remaining work in an index.
    pub fn of(index: &Index, chosen: &ChosenEmbedder) -> Result<Self, StoreError> {
        let left = match chosen.is_work() {
            true => index.unembedded(chosen.identity())?,
            // The table's vectors are made with the index.
            false => EmbeddingWork::default(),
        };
        let EmbeddingWork { chunks, texts, characters, tokens, known } = left;
        Ok(Self {
            embedder: chosen.named.wanted.to_string(),
            model: chosen.identity().model.clone(),
            chunks,
            texts,
            characters,
            tokens,
            known: (chosen.identity().dimensions > 0).then_some(known),
            host: chosen.host.clone(),
            replaces: other_model(index, chosen)?.map(|value| value.model),
        })
    }
}

/// Returns whose vectors are in the place of an embedder's.
pub fn other_model(
    index: &Index,
    chosen: &ChosenEmbedder,
) -> Result<Option<ModelIdentity>, StoreError> {
    if !chosen.is_work() {
        return Ok(None);
    }
    let sets = index.vector_sets()?.into_iter();
    let mut others = sets.filter(|set| !set.is_static && set.chunks > 0);
    Ok(others.find(|value| value.identity != *chosen.identity()).map(|value| value.identity))
}

/// How an index is filled.
pub struct Filling<'a> {
    /// What happens to vectors of another model.
    pub replace: Replace,
    /// What happens to a job that costs a service much.
    pub large_jobs: LargeJobs,
    /// Says when to stop.
    pub stop: &'a Stop,
    /// What an interrupt does.
    pub signals: Signals,
}

/// What happens before much is sent to a service.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LargeJobs {
    /// The user is asked; without a user to ask, nothing is sent.
    #[default]
    Confirm,
    /// It is sent: the user said yes already.
    Send,
}

/// Why an index was not filled.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
#[non_exhaustive]
pub enum FillError {
    /// It would send much to a service, and there is no user to ask.
    #[error("this would send {texts} texts, about {tokens} tokens, to {host}")]
    LargeJob {
        /// Texts that would be sent.
        texts: u64,
        /// Their tokens, estimated.
        tokens: u64,
        /// The service.
        host: String,
        /// The embedder.
        embedder: Box<NamedEmbedder>,
    },
    /// The user was asked, and did not say yes.
    #[error("nothing was sent")]
    NotConfirmed,
    /// The index has vectors of another model.
    #[error(
        "the index has vectors of {} ({}), not of {model}; replacing them takes {} texts, about {} \
         tokens", .there.model, .there.provider, .job.texts, .job.tokens
    )]
    OtherModel {
        /// The other model.
        there: Box<ModelIdentity>,
        /// The model that was asked for.
        model: String,
        /// What replacing the vectors would take.
        job: Box<Job>,
        /// The embedder.
        embedder: Box<NamedEmbedder>,
    },
    /// The user stopped it.
    #[error("stopped; what was embedded is kept")]
    Stopped {
        /// What was done until then.
        filled: Box<FillReport>,
        /// The embedder.
        embedder: Box<NamedEmbedder>,
    },
    /// The embedder failed.
    #[error("{source}")]
    Failed {
        /// Why.
        source: EmbedError,
        /// What was done until then.
        filled: Box<FillReport>,
        /// The embedder.
        embedder: Box<NamedEmbedder>,
    },
    /// The index.
    Index(#[from] StoreError),
    /// The question to the user failed.
    Console(#[from] std::io::Error),
}

/// Who listens for signals while an index is filled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signals {
    /// Filling does.
    Filling,
    /// The caller, who stops it.
    Others,
}

/// What was filled in.
#[derive(Debug, Serialize)]
pub struct FillReport {
    /// The embedder.
    pub embedder: String,
    /// Who makes its vectors.
    pub provider: String,
    /// With which model.
    pub model: String,
    /// The length of each vector.
    pub dimensions: usize,
    /// Texts that the embedder was handed.
    pub embedded: u64,
    /// Texts whose vectors came with them.
    pub reused: u64,
    /// Texts whose vectors were known.
    pub known: u64,
    /// Texts that were too long for the model, and were embedded without their end.
    pub cut: u64,
    /// Texts that the embedder will not take, and that have no vector of it.
    pub refused: u64,
    /// Chunks that have no vectors yet.
    pub missing: u64,
    /// How long it took.
    pub took_ms: f64,
    /// Notes for the user about the vectors that came with the sources.
    #[serde(skip)]
    pub notes: Vec<SearchNote>,
}

/// Gives every chunk vectors of an embedder. Finished vectors are kept if it fails or is stopped.
pub fn fill(
    index: &mut Index,
    searched: &SearchTarget,
    chosen: &ChosenEmbedder,
    filling: &Filling<'_>,
    host: &Host,
) -> Result<FillReport, FillError> {
    let started = Instant::now();
    let carried = take_carried(index, searched, chosen)?;
    if chosen.is_remote() && filling.large_jobs == LargeJobs::Confirm {
        let job = Job::of(index, chosen)?;
        // The user may have to be asked, and think about it.
        index.release();
        confirm(&job, chosen, host)?;
    }
    let stop = filling.stop;
    if filling.signals == Signals::Filling {
        stop.on_interrupt(host);
    }
    let embedder = Stoppable { embedder: &*chosen.embedder, stop };
    let result = {
        let bar = host.console.embedding(&chosen.named.wanted.to_string());
        index.embed(&embedder, filling.replace, &*bar)
    };
    if filling.signals == Signals::Filling {
        host.console.forget_first_interrupt();
    }
    let (done, failure) = match result {
        Ok(done) => (done, None),
        Err(EmbeddingError::Embedder { done, source }) => (done, Some(source)),
        Err(EmbeddingError::OtherModel(there)) => {
            let model = chosen.identity().model.clone();
            let (there, embedder) = (Box::new(there), Box::new(chosen.named.clone()));
            let job = Box::new(Job::of(index, chosen)?);
            return Err(FillError::OtherModel { there, model, job, embedder });
        }
        Err(EmbeddingError::Store(error)) => return Err(error.into()),
    };
    let filled = filled(index, chosen, &carried, done, started)?;
    let Some(source) = failure else { return Ok(filled) };
    let (filled, embedder) = (Box::new(filled), Box::new(chosen.named.clone()));
    Err(match stop.is_told() {
        true => FillError::Stopped { filled, embedder },
        false => FillError::Failed { source, filled, embedder },
    })
}

/// Takes the vectors that come with the sources.
pub fn take_carried(
    index: &mut Index,
    searched: &SearchTarget,
    chosen: &ChosenEmbedder,
) -> Result<CarriedReport, StoreError> {
    if !chosen.is_work() {
        return Ok(CarriedReport::default());
    }
    index.take_carried(chosen.identity(), &searched.sources())
}

/// Takes the vectors that come with the sources, for the texts that another program's ranking
/// compares.
pub fn take_carried_for(
    request: &Request,
    index: &mut Index,
    searched: &SearchTarget,
    embedders: &mut Embedders,
) -> Result<(), StoreError> {
    let Some(main) = embedders.main.as_ref().filter(|main| main.is_work()) else { return Ok(()) };
    let carried = index.take_carried_for(request, main.identity(), &searched.sources())?;
    embedders.notes.extend(notes_of(&carried));
    Ok(())
}

/// Says which vectors that came along were not taken.
pub fn notes_of(carried: &CarriedReport) -> Vec<SearchNote> {
    let unreadable =
        carried.failed.iter().map(|error| SearchNote::CarriedUnreadable(with_causes(error)));
    let left = (carried.left > 0).then_some(SearchNote::CarriedTooMany(carried.left));
    unreadable.chain(left).collect()
}

fn filled(
    index: &Index,
    chosen: &ChosenEmbedder,
    carried: &CarriedReport,
    done: EmbeddingReport,
    started: Instant,
) -> Result<FillReport, StoreError> {
    let identity = chosen.identity();
    let sets = index.vector_sets()?;
    let own = sets.iter().find(|set| set.identity == *identity);
    let missing = match own {
        Some(own) => own.missing,
        None => sets.first().map_or(0, |set| set.chunks + set.missing),
    };
    let ModelIdentity { provider, model, dimensions } = identity.clone();
    Ok(FillReport {
        embedder: chosen.named.wanted.to_string(),
        provider,
        model,
        dimensions,
        embedded: done.texts,
        reused: carried.taken,
        known: done.known.saturating_sub(carried.taken),
        cut: done.cut,
        refused: done.refused,
        missing,
        took_ms: milliseconds(started),
        notes: notes_of(carried),
    })
}

/// Prevents sending much by accident.
fn confirm(job: &Job, chosen: &ChosenEmbedder, host: &Host) -> Result<(), FillError> {
    if job.tokens <= MANY_TOKENS {
        return Ok(());
    }
    let (texts, tokens) = (job.texts, job.tokens);
    let service = job.host.as_deref().unwrap_or("a service");
    if host.console.can_ask() {
        let question = format!("send {texts} texts, about {tokens} tokens, to {service}?");
        return match host.console.confirm(&question)? {
            true => Ok(()),
            false => Err(FillError::NotConfirmed),
        };
    }
    let (host, embedder) = (service.to_owned(), Box::new(chosen.named.clone()));
    Err(FillError::LargeJob { texts, tokens, host, embedder })
}

/// Fills in the few missing vectors, so that new text is found at once. An embedder that fails is
/// left out of the search. Says whether anything may have been written.
pub fn top_up(
    index: &mut Index,
    searched: &SearchTarget,
    embedders: &mut Embedders,
) -> Result<bool, StoreError> {
    if let Some(successor) = embedders.successor.take() {
        return succeed(index, searched, embedders, successor);
    }
    let Some(main) = embedders.main.as_ref().filter(|main| main.is_work()) else {
        return Ok(false);
    };
    if other_model(index, main)?.is_some() {
        return Ok(false);
    }
    if is_small_gap(index, main)? {
        let carried = take_carried(index, searched, main)?;
        embedders.notes.extend(notes_of(&carried));
        match index.embed_missing(&*main.embedder, GAP) {
            Ok(_) | Err(EmbeddingError::OtherModel(_)) => {}
            Err(EmbeddingError::Store(error)) => return Err(error),
            Err(EmbeddingError::Embedder { source, .. }) => {
                let (embedder, reason) = (main.named.wanted.to_string(), with_causes(&source));
                let note = VectorNote::Failed { embedder, reason, is_large_job: false };
                embedders.notes.push(SearchNote::Vectors(note));
                embedders.main = embedders.fallback.take();
            }
        }
        return Ok(true);
    }
    Ok(false)
}

/// Replaces the vectors of another model, if they are few and cost nothing. Says whether anything
/// may have been written.
fn succeed(
    index: &mut Index,
    searched: &SearchTarget,
    embedders: &mut Embedders,
    successor: ChosenEmbedder,
) -> Result<bool, StoreError> {
    let Some(before) = &embedders.main else { return Ok(false) };
    if index.unembedded_up_to(successor.identity(), GAP)?.is_none() {
        embedders.notes.push(successor.change_note(before));
        return Ok(false);
    }
    let from = before.identity().model.clone();
    let carried = take_carried(index, searched, &successor)?;
    embedders.notes.extend(notes_of(&carried));
    match index.embed(&*successor.embedder, Replace::Yes, &NoProgress) {
        Ok(_) | Err(EmbeddingError::OtherModel(_)) => {
            let to = successor.identity().model.clone();
            embedders.notes.push(SearchNote::ModelReplaced { from, to });
            embedders.main = Some(successor);
        }
        Err(EmbeddingError::Store(error)) => return Err(error),
        Err(EmbeddingError::Embedder { source, .. }) => {
            let (embedder, reason) = (successor.named.wanted.to_string(), with_causes(&source));
            let note = VectorNote::Failed { embedder, reason, is_large_job: false };
            embedders.notes.push(SearchNote::Vectors(note));
        }
    }
    Ok(true)
}

/// Whether something is missing, and little enough to be filled in at once.
fn is_small_gap(index: &Index, main: &ChosenEmbedder) -> Result<bool, StoreError> {
    let sets = index.vector_sets()?;
    let own = sets.iter().find(|set| set.identity == *main.identity());
    // A chunk has a text at least; so this spares reading them.
    if own.is_some_and(|value| value.missing == 0 || value.missing > GAP) {
        return Ok(false);
    }
    let left = index.unembedded_up_to(main.identity(), GAP)?;
    Ok(left.is_some_and(|value| value.chunks > 0))
}

/// Says how long something took, to the microsecond.
#[must_use]
pub(crate) fn milliseconds(since: Instant) -> f64 {
    in_milliseconds(since.elapsed())
}

fn in_milliseconds(time: Duration) -> f64 {
    (time.as_secs_f64() * 1e6).round() / 1e3
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_is_told_to_the_microsecond_however_long_it_is() {
        assert!((in_milliseconds(Duration::from_nanos(1_234_567)) - 1.235).abs() < 1e-9);
        assert!((in_milliseconds(Duration::from_hours(2)) - 7_200_000.0).abs() < 1e-9);
    }
}

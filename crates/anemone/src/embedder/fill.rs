//! Filling an index with vectors: what it would take, doing it, and stopping in between.

use std::time::{Duration, Instant};

use anemone_embed::{EmbedError, Identity, RemoteError};
use anemone_index::{
    CarriedIn, Embedded, EmbeddingError, Index, Replace, Request, Source, Unembedded, VectorSet,
};
use serde::Serialize;

use super::guard::MANY_TOKENS;
use super::stop::{Stop, Stoppable};
use super::{Chosen, Embedders};
use crate::error::{Error, Kind};
use crate::host::Host;
use crate::search_index::Warning;
use crate::searched::SearchTarget;

/// Texts that a search fills in before it answers; nobody waits for more.
const GAP: u64 = 64;

/// Vectors of one model in an index.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct VectorLine {
    pub provider: String,
    pub model: String,
    pub dimensions: usize,
    /// Chunks that have vectors.
    pub chunks: u64,
    /// Chunks that have none yet.
    pub missing: u64,
}

impl VectorLine {
    pub fn of(identity: &Identity, chunks: u64, missing: u64) -> Self {
        let Identity { provider, model, dimensions } = identity.clone();
        Self { provider, model, dimensions, chunks, missing }
    }
}

/// Returns what vectors an index has.
pub fn vector_lines(index: &Index) -> Result<Vec<VectorLine>, Error> {
    let sets = index.vector_sets()?;
    let line = |it: &VectorSet| VectorLine::of(&it.identity, it.chunks, it.missing);
    Ok(sets.iter().map(line).collect())
}

/// What filling would take.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Job {
    pub embedder: String,
    pub model: String,
    /// Chunks without vectors.
    pub chunks: u64,
    /// Different texts in them that the embedder would be handed.
    pub texts: u64,
    pub characters: u64,
    /// Estimated.
    pub tokens: u64,
    /// Texts whose vectors are known already; `None` while nobody knows how long the vectors are.
    pub known: Option<u64>,
    /// Where the texts would go, when they leave this program.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// A model whose vectors would be replaced.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replaces: Option<String>,
}

impl Job {
    pub fn of(index: &Index, chosen: &Chosen) -> Result<Self, Error> {
        let left = match chosen.is_work() {
            true => index.unembedded(chosen.identity())?,
            // The table's vectors are made with the index.
            false => Unembedded::default(),
        };
        let Unembedded { chunks, texts, characters, tokens, known } = left;
        Ok(Self {
            embedder: chosen.wanted.to_string(),
            model: chosen.identity().model.clone(),
            chunks,
            texts,
            characters,
            tokens,
            known: (chosen.identity().dimensions > 0).then_some(known),
            host: chosen.host.clone(),
            replaces: other(index, chosen)?.map(|it| it.model),
        })
    }
}

/// Returns whose vectors are in the place of an embedder's.
fn other(index: &Index, chosen: &Chosen) -> Result<Option<Identity>, Error> {
    if !chosen.is_work() {
        return Ok(None);
    }
    let sets = index.vector_sets()?.into_iter();
    let mut others = sets.filter(|it| !it.is_table && it.chunks > 0);
    Ok(others.find(|it| it.identity != *chosen.identity()).map(|it| it.identity))
}

/// How an index is filled.
pub struct Filling<'a> {
    /// What happens to vectors of another model.
    pub replace: Replace,
    /// Whether somebody said yes to a large job.
    pub yes: bool,
    /// Says when to stop.
    pub stop: &'a Stop,
    pub signals: Signals,
}

/// Who listens for signals while an index is filled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signals {
    /// Filling does.
    Filling,
    /// Somebody else, who tells it to stop.
    Others,
}

/// What was filled in.
#[derive(Clone, Debug, Serialize)]
pub struct Filled {
    pub embedder: String,
    pub provider: String,
    pub model: String,
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
    pub took_ms: f64,
    /// What somebody should know about the vectors that came along.
    #[serde(skip)]
    pub notes: Vec<Warning>,
}

/// Gives every chunk vectors of an embedder. What is done when it fails, or is stopped, is kept.
pub fn fill(
    index: &mut Index,
    searched: &SearchTarget,
    chosen: &Chosen,
    filling: &Filling<'_>,
    host: &Host,
) -> Result<Filled, Error> {
    let started = Instant::now();
    let carried = take_carried(index, searched, chosen)?;
    if chosen.is_remote() && !filling.yes {
        let job = Job::of(index, chosen)?;
        // Somebody may have to be asked, and think about it.
        index.release();
        confirm(&job, chosen, host)?;
    }
    let stop = filling.stop;
    if filling.signals == Signals::Filling {
        stop.on_interrupt(host);
    }
    let embedder = Stoppable { embedder: &*chosen.embedder, stop };
    let result = {
        let bar = host.console.embedding(&chosen.wanted.to_string());
        index.embed(&embedder, filling.replace, &*bar)
    };
    if filling.signals == Signals::Filling {
        host.console.forget_first_interrupt();
    }
    let (done, failure) = match result {
        Ok(done) => (done, None),
        Err(EmbeddingError::Embedder { done, source }) => (done, Some(source)),
        Err(EmbeddingError::OtherModel { there }) => return Err(other_model(&there, chosen)),
        Err(EmbeddingError::Store(error)) => return Err(error.into()),
    };
    let filled = filled(index, chosen, &carried, done, started)?;
    match failure {
        None => Ok(filled),
        Some(_) if stop.is_told() => Err(stopped(chosen).with_details(&Details { filled })),
        Some(error) => Err(failed(&error, chosen, &filled).with_details(&Details { filled })),
    }
}

/// Takes the vectors that come with what is searched.
pub fn take_carried(
    index: &mut Index,
    searched: &SearchTarget,
    chosen: &Chosen,
) -> Result<CarriedIn, Error> {
    if !chosen.is_work() {
        return Ok(CarriedIn::default());
    }
    Ok(index.take_carried(chosen.identity(), &sources(searched))?)
}

/// Takes the vectors that come with what is searched, of the texts that another program's ranking
/// compares.
pub fn take_carried_for(
    request: &Request,
    index: &mut Index,
    searched: &SearchTarget,
    embedders: &mut Embedders,
) -> Result<(), Error> {
    let Some(main) = embedders.main.as_ref().filter(|it| it.is_work()) else { return Ok(()) };
    let carried = index.take_carried_for(request, main.identity(), &sources(searched))?;
    embedders.notes.extend(notes_of(&carried));
    Ok(())
}

fn sources(searched: &SearchTarget) -> Vec<&dyn Source> {
    searched.sources.iter().map(|it| &**it).collect()
}

/// Says which vectors that came along were not taken.
pub fn notes_of(carried: &CarriedIn) -> Vec<Warning> {
    let unreadable = carried.failed.iter().map(|error| Warning {
        code: "carried_unreadable",
        message: format!("vectors that came along are not all used: {}", chain(error)),
    });
    let left = (carried.left > 0).then(|| Warning {
        code: "carried_left",
        message: format!("{} vectors that came along are too many", carried.left),
    });
    unreadable.chain(left).collect()
}

#[derive(Serialize)]
struct Details {
    filled: Filled,
}

fn filled(
    index: &Index,
    chosen: &Chosen,
    carried: &CarriedIn,
    done: Embedded,
    started: Instant,
) -> Result<Filled, Error> {
    let identity = chosen.identity();
    let sets = index.vector_sets()?;
    let own = sets.iter().find(|it| it.identity == *identity);
    let missing = match own {
        Some(own) => own.missing,
        None => sets.first().map_or(0, |it| it.chunks + it.missing),
    };
    let Identity { provider, model, dimensions } = identity.clone();
    Ok(Filled {
        embedder: chosen.wanted.to_string(),
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

/// Lets nobody send much by accident.
fn confirm(job: &Job, chosen: &Chosen, host: &Host) -> Result<(), Error> {
    if job.tokens <= MANY_TOKENS {
        return Ok(());
    }
    let (texts, tokens) = (job.texts, job.tokens);
    let service = job.host.as_deref().unwrap_or("a service");
    if host.console.can_ask() {
        let question = format!("send {texts} texts, about {tokens} tokens, to {service}?");
        if host.console.confirm(&question)? {
            return Ok(());
        }
        return Err(Error::new(Kind::Failed, "not_confirmed", "nothing was sent"));
    }
    let message = format!("this would send {texts} texts, about {tokens} tokens, to {service}");
    Err(Error::new(Kind::Failed, "large_job", message)
        .hint(format!("if that is meant: {} --yes", chosen.command())))
}

fn other_model(there: &Identity, chosen: &Chosen) -> Error {
    let Identity { provider, model, .. } = there;
    let own = &chosen.identity().model;
    let message = format!("the index has vectors of {model} ({provider}), not of {own}");
    Error::new(Kind::Conflict, "other_model", message)
        .hint(format!("they stay in use; {} --reembed replaces them", chosen.command()))
}

fn stopped(chosen: &Chosen) -> Error {
    Error::new(Kind::Interrupted, "interrupted", "stopped; what was embedded is kept")
        .hint(format!("`{}` goes on from here", chosen.command()))
}

fn failed(error: &EmbedError, chosen: &Chosen, filled: &Filled) -> Error {
    let remote = match error {
        EmbedError::Failed { source, .. } => source.downcast_ref::<RemoteError>(),
        EmbedError::Unusable { .. } => None,
    };
    let command = chosen.command();
    let then = match filled.embedded {
        0 => format!("then `{command}`"),
        _ => format!("what was embedded is kept; `{command}` goes on from here"),
    };
    let hint = match remote.and_then(RemoteError::hint) {
        Some(hint) => format!("{hint}; {then}"),
        None => then,
    };
    Error::from_error(Kind::Failed, "embedder_failed", error).hint(hint)
}

/// Fills in the few vectors that are missing, so that what was written a moment ago is found. An
/// embedder that fails at that is left out of the search. Says whether anything may have been
/// written.
pub fn top_up(
    index: &mut Index,
    searched: &SearchTarget,
    embedders: &mut Embedders,
) -> Result<bool, Error> {
    let Some(main) = embedders.main.as_ref().filter(|it| it.is_work()) else { return Ok(false) };
    if other(index, main)?.is_some() {
        return Ok(false);
    }
    if is_small_gap(index, main)? {
        let carried = take_carried(index, searched, main)?;
        embedders.notes.extend(notes_of(&carried));
        match index.embed_missing(&*main.embedder, GAP) {
            Ok(_) | Err(EmbeddingError::OtherModel { .. }) => {}
            Err(EmbeddingError::Store(error)) => return Err(error.into()),
            Err(EmbeddingError::Embedder { source, .. }) => {
                embedders.notes.push(failed_note(&main.wanted.to_string(), &chain(&source)));
                embedders.main = embedders.fallback.take();
            }
        }
        return Ok(true);
    }
    Ok(false)
}

/// Whether something is missing, and little enough to be filled in at once.
fn is_small_gap(index: &Index, main: &Chosen) -> Result<bool, Error> {
    let sets = index.vector_sets()?;
    let own = sets.iter().find(|it| it.identity == *main.identity());
    // A chunk has a text at least; so this spares reading them.
    if own.is_some_and(|it| it.missing == 0 || it.missing > GAP) {
        return Ok(false);
    }
    let left = index.unembedded_up_to(main.identity(), GAP)?;
    Ok(left.is_some_and(|it| it.chunks > 0))
}

/// Says in one line that an embedder failed, and what that costs.
pub fn failed_note(embedder: &str, why: &str) -> Warning {
    let message = format!("{embedder} is left out of this search: {why}");
    Warning { code: "embedder_failed", message }
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

/// Says how long something took, to the microsecond.
#[must_use]
pub(super) fn milliseconds(since: Instant) -> f64 {
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

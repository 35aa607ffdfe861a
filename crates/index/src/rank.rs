//! Turns candidates into hits.
//!
//! The store finds chunks that have words of the query. Here their blocks are scored with their
//! surroundings, sorted, and cut out as pieces. Nothing depends on the requested number of hits, so
//! the first k hits are the same for every larger number.

mod alike;
mod blocks;
mod found;
mod meaning;
mod order;
mod pieces;
mod strength;
mod voices;
mod weights;

use std::borrow::Cow;
use std::collections::HashSet;

use jiff::civil::Date;

use crate::outline::day_in;
use crate::request::{AnswerNote, Hit, Request};
use crate::store::{Allowed, Candidate, ChunkId, Narrow, Reading, SoughtTerm, StoreError};
use crate::text::{Language, QueryTerm, Term, Words};
use crate::vector::Nearest;
use alike::Alike;
use found::FoundBlocks;
use weights::Weights;

/// How many of the best chunks are read first, and how many next.
const TIERS: [usize; 2] = [150, 1_000];
/// How many more are read at a time after that.
const STEP: usize = 4_000;
/// When none of this many last candidates answers, those after them do not either.
const LAST: usize = 32;
/// For how many words that occur nowhere similar words are looked for.
const ABSENT_WORDS: usize = 4;

/// The weight of a similar word when candidates are looked for.
const NEAR: f32 = 0.5;

/// The results.
pub(crate) struct Ranked {
    pub(crate) hits: Vec<Hit>,
    pub(crate) notes: Vec<AnswerNote>,
}

/// The prepared query.
struct Question<'a> {
    request: &'a Request,
    words: &'a Words,
    weights: Weights,
    /// Days that the query names.
    dates: Vec<Date>,
    /// Similar words for blocks in languages whose words have many forms.
    alike: Alike,
    /// Similar words for all other blocks: only of words that occur nowhere.
    alike_absent: Alike,
    excluded: HashSet<Term>,
    /// Whether only texts with the quoted phrases count.
    wants_phrases: bool,
}

impl Question<'_> {
    /// Returns which similar words to look for in a language: English has few endings.
    fn alike_in(&self, language: Language) -> &Alike {
        if language == Language::English { &self.alike_absent } else { &self.alike }
    }

    /// Whether a good candidate may still not be an answer.
    fn is_filtered(&self) -> bool {
        let Request { since, until, .. } = self.request;
        self.needs_text() || !self.excluded.is_empty() || since.is_some() || until.is_some()
    }

    /// Whether terms alone do not decide what matches.
    fn needs_text(&self) -> bool {
        self.wants_phrases || !self.words.excluded_phrases.is_empty()
    }
}

/// Finds the best pieces.
pub(crate) fn rank(
    reading: &Reading<'_>,
    request: &Request,
    words: &Words,
    allowed: Option<Allowed>,
    nearest: Option<Nearest>,
) -> Result<Ranked, StoreError> {
    if allowed.as_ref().is_some_and(|allowed| allowed.documents.is_empty()) {
        return Ok(Ranked { hits: Vec::new(), notes: vec![AnswerNote::FilteredOut] });
    }
    if words.terms.is_empty() && nearest.is_none() {
        return Ok(Ranked { hits: Vec::new(), notes: vec![AnswerNote::NothingAsked] });
    }
    let has_vectors = nearest.is_some();
    let mut question = Question::new(reading, request, words)?;
    let mut narrow = Narrow { allowed, required: Vec::new() };
    let mut notes = Vec::new();
    if question.wants_phrases {
        let groups = words.phrases.iter().flat_map(|phrase| phrase.words.iter());
        narrow.required = groups.map(forms).collect();
        // A vector cannot match an exact phrase.
        let (hits, _) = tiers(reading, &question, &narrow, None)?;
        if !hits.is_empty() {
            return Ok(Ranked { hits, notes });
        }
        let phrases: Vec<&str> =
            words.phrases.iter().map(|phrase| phrase.surface.as_str()).collect();
        notes.push(AnswerNote::PhraseNotFound(phrases.join("\" and \"")));
        narrow.required.clear();
        question.wants_phrases = false;
    }
    let (hits, too_weak) = tiers(reading, &question, &narrow, nearest)?;
    if hits.is_empty() && too_weak > 0 {
        notes.push(AnswerNote::TooWeak { count: too_weak });
    } else if !hits.is_empty() && hits.iter().all(|hit| hit.is_weak) {
        notes.push(AnswerNote::OnlyWeak);
    }
    if !has_vectors && !hits.is_empty() && question.weights.are_absent() {
        notes.push(AnswerNote::OnlyAlike);
    }
    Ok(Ranked { hits, notes })
}

/// Reads candidates until there are enough hits. The best come first; those further down are read
/// only when the filters left too few, and are placed after the others, so that the order does not
/// depend on the requested number. Also returns how many were too weak to be hits.
fn tiers(
    reading: &Reading<'_>,
    question: &Question<'_>,
    narrow: &Narrow,
    mut nearest: Option<Nearest>,
) -> Result<(Vec<Hit>, usize), StoreError> {
    let wanted = wanted(question.words, &question.weights, reading)?;
    let mut hits = Vec::new();
    let mut too_weak = 0;
    let mut seen: HashSet<ChunkId> = HashSet::new();
    for limit in TIERS.into_iter().chain((1..).map(|step| TIERS[1] + step * STEP)) {
        let candidates = reading.candidates(&wanted, limit, narrow)?;
        let new = candidates.iter().filter(|candidate| !seen.contains(&candidate.chunk)).copied();
        let new: Vec<Candidate> = new.collect();
        let mut nearest = nearest.take();
        if let Some(nearest) = &mut nearest {
            // A chunk that was found by its words may be near as well.
            let chunks: Vec<ChunkId> = new.iter().map(|candidate| candidate.chunk).collect();
            nearest.want(&chunks);
        }
        let nearest = nearest.as_ref();
        seen.extend(new.iter().map(|candidate| candidate.chunk));
        seen.extend(nearest.into_iter().flat_map(Nearest::chunks));
        let mut found =
            FoundBlocks::read(reading, &new, nearest, narrow.allowed.as_ref(), question)?;
        found.hide_with_phrases(&question.words.excluded_phrases);
        if question.wants_phrases {
            found.keep_with_phrases(&question.words.phrases);
        }
        let ordered = order::order(&found, question);
        too_weak += ordered.too_weak;
        let ordered = ordered.places;
        let last: HashSet<ChunkId> =
            new.iter().rev().take(LAST).map(|candidate| candidate.chunk).collect();
        let goes_on = question.is_filtered()
            || ordered.iter().any(|place| last.contains(&found.blocks[place.at].chunk));
        let left = question.request.limit - hits.len();
        hits.extend(pieces::pieces(reading, &found, ordered, question, left)?);
        if hits.len() >= question.request.limit || candidates.len() < limit || !goes_on {
            break;
        }
    }
    Ok((hits, too_weak))
}

/// Returns the texts of a term's forms.
fn forms(term: &QueryTerm) -> Vec<String> {
    term.forms.iter().map(|form| form.text.clone()).collect()
}

impl<'a> Question<'a> {
    fn new(
        reading: &Reading<'_>,
        request: &'a Request,
        words: &'a Words,
    ) -> Result<Self, StoreError> {
        let weights = Weights::of(&words.terms, reading)?;
        let word = |(position, term): (usize, &QueryTerm)| {
            let content = weights::is_content(term.kind);
            content.then(|| (position, crate::text::flat(&term.surface).trim().to_owned()))
        };
        let content: Vec<(usize, String)> =
            words.terms.iter().enumerate().filter_map(word).collect();
        let absent = content.iter().filter(|(term, _)| weights.terms[*term].is_absent).cloned();
        let excluded =
            words.excluded.iter().flat_map(|term| term.forms.iter().map(|form| form.term));
        Ok(Self {
            request,
            words,
            dates: day_in(&request.query).into_iter().collect(),
            alike_absent: Alike::new(absent),
            alike: Alike::new(content),
            excluded: excluded.collect(),
            wants_phrases: !words.phrases.is_empty(),
            weights,
        })
    }
}

/// Returns the terms to find candidates by: words that are in every text only when there are no
/// others, and similar words for those that occur nowhere.
fn wanted<'a>(
    words: &'a Words,
    weights: &Weights,
    reading: &Reading<'_>,
) -> Result<Vec<SoughtTerm<'a>>, StoreError> {
    let has_content = weights.content() > 0;
    let mut wanted = Vec::new();
    let mut absent = 0;
    let mut seen = HashSet::new();
    for (term, weight) in words.terms.iter().zip(&weights.terms) {
        if has_content && term.kind == crate::text::Kind::Weak {
            continue;
        }
        let factor = (weight.value / weight.rarity.max(1e-9)) as f32;
        let mut push = |text: Cow<'a, str>, weight: f32| {
            let term = Term::of(&text);
            if seen.insert(term) {
                wanted.push(SoughtTerm { text, term, weight });
            }
        };
        for form in &term.forms {
            push((&form.text).into(), factor);
        }
        if term.kind != crate::text::Kind::Word {
            continue;
        }
        let is_looked_for = weight.is_absent && absent < ABSENT_WORDS;
        if let Some(form) = term.forms.first().filter(|_| is_looked_for) {
            absent += 1;
            for near in reading.near(&form.text)? {
                push(near.into(), factor * NEAR);
            }
        }
    }
    Ok(wanted)
}

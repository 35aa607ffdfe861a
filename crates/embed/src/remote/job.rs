//! The texts of one call, distributed over concurrent requests.

use std::collections::{BTreeSet, VecDeque};
use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::Purpose;
use crate::remote::RemoteError;

/// The texts of one call.
pub(super) struct Job<'a> {
    pub(super) texts: Vec<&'a str>,
    pub(super) purpose: Purpose,
    state: Mutex<State>,
}

struct State {
    batches: VecDeque<Range<usize>>,
    vectors: Vec<Option<Vec<f32>>>,
    /// Texts that were sent without their end.
    cut: BTreeSet<usize>,
    /// Texts that the provider rejects.
    refused: BTreeSet<usize>,
    error: Option<RemoteError>,
}

/// The result for the texts.
pub(super) struct Done {
    /// In the order of the texts; empty where something failed first.
    pub(super) vectors: Vec<Option<Vec<f32>>>,
    pub(super) cut: u64,
    pub(super) refused: u64,
    pub(super) error: Option<RemoteError>,
}

impl<'a> Job<'a> {
    pub(super) fn new(
        texts: Vec<&'a str>,
        purpose: Purpose,
        batches: VecDeque<Range<usize>>,
    ) -> Self {
        let state = State {
            batches,
            vectors: vec![None; texts.len()],
            cut: BTreeSet::new(),
            refused: BTreeSet::new(),
            error: None,
        };
        Self { texts, purpose, state: Mutex::new(state) }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How many batches wait.
    pub(super) fn waiting(&self) -> usize {
        self.state().batches.len()
    }

    /// Takes the next batch, or the part of it that may be sent at once. `None`: everything is
    /// done, or something failed.
    pub(super) fn next(&self, most_texts: usize) -> Option<Range<usize>> {
        let mut state = self.state();
        let batch = state.batches.pop_front()?;
        if batch.len() <= most_texts {
            return Some(batch);
        }
        let middle = batch.start + most_texts;
        state.batches.push_front(middle..batch.end);
        Some(batch.start..middle)
    }

    /// Returns a batch to the queue as two.
    pub(super) fn halve(&self, batch: &Range<usize>) {
        let middle = batch.start + batch.len() / 2;
        let mut state = self.state();
        if state.error.is_none() {
            state.batches.push_front(middle..batch.end);
            state.batches.push_front(batch.start..middle);
        }
    }

    /// Stores the vectors of a batch.
    pub(super) fn keep(&self, batch: Range<usize>, vectors: Vec<Vec<f32>>) {
        let mut state = self.state();
        for (place, vector) in state.vectors[batch].iter_mut().zip(vectors) {
            *place = Some(vector);
        }
    }

    /// Notes that a text is sent without its end.
    pub(super) fn cut(&self, text: usize) {
        self.state().cut.insert(text);
    }

    /// Notes that the provider rejects a text.
    pub(super) fn refuse(&self, text: usize) {
        self.state().refused.insert(text);
    }

    /// Ends the job for all threads. The first error counts.
    pub(super) fn fail(&self, error: RemoteError) {
        let mut state = self.state();
        state.batches.clear();
        state.error.get_or_insert(error);
    }

    /// Whether the job has failed, so that waiting and retrying is pointless.
    pub(super) fn failed(&self) -> bool {
        self.state().error.is_some()
    }

    /// Returns the results. Rejected texts have vectors of zeros, unless something failed: then
    /// they may have been rejected for the same reason.
    pub(super) fn done(self, dimensions: usize) -> Done {
        let state = self.state.into_inner().unwrap_or_else(PoisonError::into_inner);
        let State { mut vectors, cut, refused, error, .. } = state;
        let is_made = |text: &&usize| vectors.get(**text).is_some_and(Option::is_some);
        let cut = cut.iter().filter(is_made).count() as u64;
        let mut zeros = 0;
        if error.is_none() {
            for text in &refused {
                vectors[*text] = Some(vec![0.0; dimensions]);
                zeros += 1;
            }
        }
        Done { vectors, cut, refused: zeros, error }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job() -> Job<'static> {
        Job::new(vec!["a", "b", "c", "d"], Purpose::Document, VecDeque::from([0..2, 2..4]))
    }

    #[test]
    fn after_an_error_no_halves_are_handed_out() {
        let job = job();
        let batch = job.next(8).unwrap();
        job.fail(RemoteError::Interrupted);
        job.halve(&batch);
        assert_eq!(job.next(8), None);
        assert_eq!(job.waiting(), 0);
    }

    #[test]
    fn what_was_made_before_an_error_is_handed_out() {
        let job = job();
        job.cut(1);
        job.cut(3);
        job.keep(0..2, vec![vec![1.0], vec![2.0]]);
        job.refuse(2);
        job.fail(RemoteError::Interrupted);
        let done = job.done(1);
        assert_eq!(done.vectors, [Some(vec![1.0]), Some(vec![2.0]), None, None]);
        assert_eq!((done.cut, done.refused), (1, 0));
        assert!(matches!(done.error, Some(RemoteError::Interrupted)));
    }

    #[test]
    fn a_refused_text_has_a_vector_of_zeros() {
        let job = job();
        job.keep(0..2, vec![vec![1.0, 1.0]; 2]);
        job.keep(3..4, vec![vec![1.0, 1.0]]);
        job.refuse(2);
        let done = job.done(2);
        assert_eq!((done.vectors[2].as_deref(), done.refused), (Some(&[0.0, 0.0][..]), 1));
        assert!(done.error.is_none());
    }
}

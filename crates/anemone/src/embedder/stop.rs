//! Ending long work early.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anemone_embed::{Effort, EmbedError, Embedder, EmbeddingBatch, ModelIdentity, Pause, Purpose};

use crate::host::Host;

/// Whether the user wants long work to end.
#[derive(Clone, Debug, Default)]
pub struct Stop(Arc<AtomicBool>);

impl Stop {
    /// At the first signal, stops after the current step; at the second, the process ends.
    pub fn on_interrupt(&self, host: &Host) {
        let (told, console) = (self.clone(), Arc::clone(&host.console));
        host.console.on_first_interrupt(Box::new(move || {
            told.tell();
            console.notice("stopping when this batch is done; ctrl-c again stops at once");
        }));
    }

    /// Asks the running work to stop.
    pub fn tell(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether work should stop.
    pub fn is_told(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Clones share one flag.
/// Waits, and ends soon after a stop was requested.
impl Pause for Stop {
    fn pause(&self, wait: Duration) -> ControlFlow<()> {
        const SOON: Duration = Duration::from_millis(100);
        let mut left = wait;
        while !self.is_told() && !left.is_zero() {
            let now = left.min(SOON);
            std::thread::sleep(now);
            left -= now;
        }
        if self.is_told() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

/// An embedder that makes no more vectors once a stop was requested.
pub(super) struct Stoppable<'a> {
    pub embedder: &'a dyn Embedder,
    pub stop: &'a Stop,
}

#[derive(Debug, thiserror::Error)]
#[error("told to stop")]
struct StopRequested;

impl Embedder for Stoppable<'_> {
    fn identity(&self) -> &ModelIdentity {
        self.embedder.identity()
    }

    fn effort(&self) -> Effort {
        self.embedder.effort()
    }

    fn texts_at_once(&self) -> usize {
        self.embedder.texts_at_once()
    }

    fn embed(&self, texts: &[&str], purpose: Purpose) -> Result<Vec<Vec<f32>>, EmbedError> {
        self.embed_some(texts, purpose).into_result()
    }

    fn embed_some(&self, texts: &[&str], purpose: Purpose) -> EmbeddingBatch {
        if self.stop.is_told() {
            let provider = self.identity().provider.clone();
            let error = Some(EmbedError::Failed { provider, source: Box::new(StopRequested) });
            return EmbeddingBatch {
                vectors: vec![None; texts.len()],
                error,
                ..EmbeddingBatch::default()
            };
        }
        self.embedder.embed_some(texts, purpose)
    }
}

#[cfg(test)]
mod tests {
    use anemone_embed::Builtin;

    use super::*;

    #[test]
    fn an_embedder_that_is_told_to_stop_makes_no_more_vectors() {
        let (embedder, stop) = (Builtin::new(), Stop::default());
        let stoppable = Stoppable { embedder: &embedder, stop: &stop };
        assert_eq!(stoppable.embed(&["tea"], Purpose::Document).unwrap().len(), 1);
        stop.tell();
        let error = stoppable.embed(&["tea"], Purpose::Document).unwrap_err();
        assert!(matches!(error, EmbedError::Failed { source, .. } if source.is::<StopRequested>()));
    }

    #[test]
    fn whoever_is_told_to_stop_does_not_wait() {
        let stop = Stop::default();
        assert_eq!(stop.pause(Duration::from_millis(1)), ControlFlow::Continue(()));
        stop.tell();
        assert_eq!(stop.pause(Duration::from_secs(1)), ControlFlow::Break(()));
    }
}

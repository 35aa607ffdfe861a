//! Prevents sending much by accident.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anemone_embed::{
    Effort, EmbedError, Embedder, EmbeddingBatch, ModelIdentity, Purpose, estimate_tokens,
};

/// Tokens that go to a service without the user saying yes.
pub(super) const MANY_TOKENS: u64 = 200_000;

/// An embedder that is handed all that is missing for a search at once, and looks how much that is
/// before any of it is sent.
pub struct JobGuard {
    embedder: Box<dyn Embedder>,
    host: String,
    refused: Refused,
}

/// Whether an embedder refused a job because it is large.
pub type Refused = Arc<AtomicBool>;

#[derive(Debug, thiserror::Error)]
#[error("this would send {texts} texts, about {tokens} tokens, to {host}")]
struct LargeJob {
    texts: usize,
    tokens: u64,
    host: String,
}

impl JobGuard {
    /// Guards an embedder that sends texts to a host; it sets `refused` when it refuses a job.
    pub fn new(embedder: Box<dyn Embedder>, host: Option<&str>, refused: Refused) -> Self {
        Self { embedder, host: host.unwrap_or("a service").to_owned(), refused }
    }
}

impl Embedder for JobGuard {
    fn identity(&self) -> &ModelIdentity {
        self.embedder.identity()
    }

    fn effort(&self) -> Effort {
        self.embedder.effort()
    }

    fn texts_at_once(&self) -> usize {
        usize::MAX
    }

    fn knows(&self, words: &str) -> Option<f32> {
        self.embedder.knows(words)
    }

    fn reads(&self, text: &str) -> f32 {
        self.embedder.reads(text)
    }

    fn embed(&self, texts: &[&str], purpose: Purpose) -> Result<Vec<Vec<f32>>, EmbedError> {
        self.embed_some(texts, purpose).into_result()
    }

    fn embed_some(&self, texts: &[&str], purpose: Purpose) -> EmbeddingBatch {
        let tokens: u64 = texts.iter().map(|text| estimate_tokens(text) as u64).sum();
        let mut all = EmbeddingBatch {
            vectors: Vec::with_capacity(texts.len()),
            ..EmbeddingBatch::default()
        };
        if tokens > MANY_TOKENS {
            self.refused.store(true, Ordering::Relaxed);
            let (provider, host) = (self.identity().provider.clone(), self.host.clone());
            let source = Box::new(LargeJob { texts: texts.len(), tokens, host });
            all.error = Some(EmbedError::Failed { provider, source });
        }
        for batch in texts.chunks(self.embedder.texts_at_once().max(1)) {
            if all.error.is_some() {
                break;
            }
            let EmbeddingBatch { vectors, cut, refused, error } =
                self.embedder.embed_some(batch, purpose);
            all.vectors.extend(vectors);
            all.cut += cut;
            all.refused += refused;
            all.error = error;
        }
        if all.error.is_some() {
            all.vectors.resize(texts.len(), None);
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use anemone_embed::Builtin;

    use super::*;

    #[test]
    fn a_small_job_goes_through_and_of_a_large_one_nothing_does() {
        let builtin = Builtin::new();
        let refused = Refused::default();
        let guarded =
            JobGuard::new(Box::new(Builtin::new()), Some("example.org"), Arc::clone(&refused));
        let texts = ["tea", "coffee"].repeat(100);
        let expected = builtin.embed(&texts, Purpose::Document).unwrap();
        assert_eq!(guarded.embed(&texts, Purpose::Document).unwrap(), expected);
        assert!(!refused.load(Ordering::Relaxed));
        let long = "word ".repeat(100_000);
        let made = guarded.embed_some(&["tea", &long, &long], Purpose::Document);
        assert_eq!(made.vectors, [None, None, None]);
        assert!(refused.load(Ordering::Relaxed));
        let EmbedError::Failed { source, .. } = made.error.unwrap() else { panic!("it is") };
        let why = source.to_string();
        assert!(why.contains("3 texts") && why.contains("example.org"), "{why}");
    }
}

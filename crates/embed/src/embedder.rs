//! The interface between text and vectors.

/// Turns texts into vectors.
pub trait Embedder: Send + Sync {
    /// The model that makes the vectors.
    fn identity(&self) -> &ModelIdentity;

    /// What its vectors cost.
    fn effort(&self) -> Effort;

    /// How many texts to pass in one call. The vectors of a call are only stored when it ends, so
    /// larger calls are not better.
    fn texts_at_once(&self) -> usize {
        128
    }

    /// Returns how much of a text it can judge, from 0 (nothing) to 1. Unreadable text gets a
    /// vector as well, which means little.
    fn reads(&self, _text: &str) -> f32 {
        1.0
    }

    /// Returns the share of words that it knows as words, from 0 to 1, and does not have to spell
    /// letter by letter: mere letters get a vector as well, which is near to anything. `None`: it
    /// cannot tell.
    fn knows(&self, _words: &str) -> Option<f32> {
        None
    }

    /// Returns one vector for each text, each of `identity().dimensions` finite numbers. A vector
    /// of zeros means that nothing in the text is known.
    fn embed(&self, texts: &[&str], purpose: Purpose) -> Result<Vec<Vec<f32>>, EmbedError>;

    /// As [`embed`](Self::embed), but also returns the vectors made before a failure: they may have
    /// been paid for.
    fn embed_some(&self, texts: &[&str], purpose: Purpose) -> EmbeddingBatch {
        match self.embed(texts, purpose) {
            Ok(vectors) => EmbeddingBatch {
                vectors: vectors.into_iter().map(Some).collect(),
                ..EmbeddingBatch::default()
            },
            Err(error) => EmbeddingBatch {
                vectors: vec![None; texts.len()],
                error: Some(error),
                ..EmbeddingBatch::default()
            },
        }
    }
}

/// The result of a call.
#[derive(Debug, Default)]
pub struct EmbeddingBatch {
    /// One slot for each text. It is empty if something failed before the text was processed.
    pub vectors: Vec<Option<Vec<f32>>>,
    /// Texts that were too long, and have vectors of their beginnings.
    pub cut: u64,
    /// Texts that the embedder rejects, while it accepts others. Their vectors are zeros.
    pub refused: u64,
    /// Why slots are empty.
    pub error: Option<EmbedError>,
}

impl EmbeddingBatch {
    /// Returns all vectors, or the error if some are missing.
    pub fn into_result(self) -> Result<Vec<Vec<f32>>, EmbedError> {
        match self.error {
            Some(error) => Err(error),
            None => Ok(self.vectors.into_iter().flatten().collect()),
        }
    }
}

/// The cost of a vector, which decides when it is computed and whether it is cached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effort {
    /// Less than reading it from a disk: computed whenever it is needed, and not cached.
    Trivial,
    /// Milliseconds on this machine: computed on request, and cached.
    Work,
    /// A request to another machine, and perhaps money: computed on request, and cached.
    Remote,
}

/// Two vectors are comparable if their identities are equal.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ModelIdentity {
    /// The provider, such as `builtin` or `openai`.
    pub provider: String,
    /// The model, such as `text-embedding-3-small`. Two servers may use one name for different
    /// models, so on a server other than the provider's own the name is followed by the host, as in
    /// `bge-m3@embeddings.example.org`.
    pub model: String,
    /// Numbers in a vector.
    pub dimensions: usize,
}

impl ModelIdentity {
    /// Returns the name of the model on its server, without the host.
    #[must_use]
    pub fn bare_model(&self) -> &str {
        match self.model.rsplit_once('@') {
            Some((model, host)) if !model.is_empty() && !host.contains('/') => model,
            _ => &self.model,
        }
    }
}

/// The kind of a text: some models treat questions and answers differently.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// Something that will be looked for.
    Document,
    /// A search query.
    Query,
}

/// Why there are no vectors.
#[derive(Debug, thiserror::Error)]
pub enum EmbedError {
    /// The embedder gave up.
    #[error("{provider} made no vectors")]
    Failed {
        /// The provider.
        provider: String,
        /// Why.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The vectors are not what the identity promises.
    #[error("{provider} made vectors that cannot be used: {found}")]
    Unusable {
        /// The provider.
        provider: String,
        /// What is wrong with them.
        found: &'static str,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_has_its_name_without_a_host() {
        for (model, bare) in [
            ("text-embedding-3-small", "text-embedding-3-small"),
            ("bge-m3@127.0.0.1:8080", "bge-m3"),
            ("@cf/baai/bge-m3", "@cf/baai/bge-m3"),
            ("@cf/baai/bge-m3@example.org", "@cf/baai/bge-m3"),
        ] {
            let (provider, model) = ("openai".to_owned(), model.to_owned());
            assert_eq!(ModelIdentity { provider, model, dimensions: 1 }.bare_model(), bare);
        }
    }
}

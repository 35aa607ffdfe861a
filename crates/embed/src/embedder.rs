//! The seam between text and vectors.

/// Turns texts into vectors.
pub trait Embedder: Send + Sync {
    /// Whose vectors these are.
    fn identity(&self) -> &Identity;

    /// Returns one vector for each text, each of `identity().dimensions` finite numbers. A vector
    /// of zeros says that nothing in the text is known.
    fn embed(&self, texts: &[&str], purpose: Purpose) -> Result<Vec<Vec<f32>>, EmbedError>;
}

/// What makes two vectors comparable.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Identity {
    /// Who computes them, such as `builtin` or `openai`.
    pub provider: String,
    /// The model, such as `text-embedding-3-small`.
    pub model: String,
    /// Numbers in a vector.
    pub dimensions: usize,
}

/// What a text is: some models treat questions and answers differently.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// Something that will be looked for.
    Document,
    /// What somebody looks for.
    Query,
}

/// Why there are no vectors.
#[derive(Debug, thiserror::Error)]
pub enum EmbedError {
    /// The embedder gave up.
    #[error("{provider} made no vectors")]
    Failed {
        /// Who.
        provider: String,
        /// Why.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The vectors are not what the identity promises.
    #[error("{provider} made vectors that cannot be used: {found}")]
    Unusable {
        /// Who.
        provider: String,
        /// What is wrong with them.
        found: &'static str,
    },
}

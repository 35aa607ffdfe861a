//! The small transformer inside the binary.

use std::sync::OnceLock;

use crate::minilm::{TOKENS, embed};
use crate::tensors::Tensors;
use crate::tokens::Tokenizer;
use crate::transformer::Transformer;
use crate::{Effort, EmbedError, Embedder, ModelError, ModelIdentity, Purpose};

/// Made by tools/model/export.py, which says what it holds.
static ASSET: &[u8] = include_bytes!("../assets/quality.safetensors");

/// The model, which all embedders of a process share.
static MODEL: OnceLock<Result<Transformer, ModelError>> = OnceLock::new();

/// Returns the model; it is made ready when it is asked for first.
pub(crate) fn model() -> Result<&'static Transformer, &'static ModelError> {
    let read = || Transformer::read(&mut Tensors::of_binary(ASSET)?);
    MODEL.get_or_init(read).as_ref()
}

/// The transformer that comes with the binary.
#[derive(Debug)]
pub struct BuiltinQuality {
    identity: ModelIdentity,
    threads: usize,
}

impl BuiltinQuality {
    /// Returns the embedder; the model is made ready when the first text comes.
    #[must_use]
    pub fn new() -> Self {
        let tensors = Tensors::of_binary(ASSET).ok();
        let dimensions = tensors.and_then(|tensors| tensors.metadata("dims")?.parse().ok());
        let (provider, model) = ("builtin".to_owned(), "anemone-quality-1".to_owned());
        let identity =
            ModelIdentity { provider, model, dimensions: dimensions.unwrap_or_default() };
        Self { identity, threads: 1 }
    }

    /// Lets up to `threads` threads work on the texts of one call.
    #[must_use]
    pub fn with_threads(self, threads: usize) -> Self {
        Self { threads, ..self }
    }
}

impl Default for BuiltinQuality {
    fn default() -> Self {
        Self::new()
    }
}

impl Embedder for BuiltinQuality {
    fn identity(&self) -> &ModelIdentity {
        &self.identity
    }

    fn effort(&self) -> Effort {
        Effort::Work
    }

    fn reads(&self, text: &str) -> f32 {
        let tokenizer = Tokenizer::get();
        tokenizer.readable_share(&tokenizer.encode(text, TOKENS))
    }

    fn knows(&self, words: &str) -> f32 {
        Tokenizer::get().known_share(words)
    }

    fn embed(&self, texts: &[&str], purpose: Purpose) -> Result<Vec<Vec<f32>>, EmbedError> {
        let model = model().map_err(|error| failed(&self.identity, error))?;
        embed(model, &self.identity, texts, purpose, self.threads)
    }
}

/// Says that an embedder of this binary has no model.
pub(crate) fn failed(identity: &ModelIdentity, error: &'static ModelError) -> EmbedError {
    EmbedError::Failed { provider: identity.provider.clone(), source: Box::new(error) }
}

#[cfg(test)]
mod tests {
    use super::{ASSET, BuiltinQuality};
    use crate::tensors::Tensors;
    use crate::transformer::Transformer;
    use crate::{Embedder, Tokenizer};

    #[test]
    fn what_the_asset_says_of_itself_is_so() {
        let quality = BuiltinQuality::new();
        let mut tensors = Tensors::of_binary(ASSET).unwrap();
        assert_eq!(tensors.metadata("name"), Some(&quality.identity().model[..]));
        let model = Transformer::read(&mut tensors).unwrap();
        assert_eq!(model.dimensions(), quality.identity().dimensions);
        assert!(Tokenizer::get().piece(model.vocabulary() as u32 - 1).is_some());
        assert!(Tokenizer::get().piece(model.vocabulary() as u32).is_none());
    }

    #[test]
    fn the_asset_leaves_the_binary_small() {
        assert!(ASSET.len() <= 12_000_000, "it has {} bytes", ASSET.len());
    }
}

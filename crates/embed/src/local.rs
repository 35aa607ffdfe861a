//! Transformers that run on this machine: the one in the binary, and all-MiniLM-L6-v2 from a file.

use std::path::Path;
use std::sync::OnceLock;

use crate::fingerprint::fingerprint;
use crate::tensors::Tensors;
use crate::tokens::Tokenizer;
use crate::transformer::Transformer;
use crate::{Effort, EmbedError, Embedder, ModelError, ModelIdentity, Purpose};

/// Made by tools/model/export.py, which documents its content.
static ASSET: &[u8] = include_bytes!("../assets/quality.safetensors");

/// The model, which all embedders of a process share.
static MODEL: OnceLock<Result<Transformer, ModelError>> = OnceLock::new();

/// Returns the model; it is prepared on first use.
pub(crate) fn model() -> Result<&'static Transformer, &'static ModelError> {
    let read = || Transformer::read(&mut Tensors::of_binary(ASSET)?);
    MODEL.get_or_init(read).as_ref()
}

/// An embedder that runs a transformer on this machine.
#[derive(Debug)]
pub struct LocalModel {
    identity: ModelIdentity,
    weights: Weights,
    threads: usize,
}

/// The weights of a transformer.
#[derive(Debug)]
enum Weights {
    /// In the binary; they are prepared for the first text.
    Builtin,
    /// Read from a file.
    File(Box<Transformer>),
}

impl LocalModel {
    /// SHA-256 of the `model.safetensors` of all-MiniLM-L6-v2 that the model's authors publish.
    ///
    /// A file with another digest may hold the same model: in half precision, or with a prefix
    /// before its names.
    pub const MINILM_SHA256: &str =
        "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db";

    /// Size of the file with the digest [`Self::MINILM_SHA256`].
    pub const MINILM_SIZE_BYTES: u64 = 90_868_376;

    /// The fingerprint of that file.
    const FINGERPRINT: &str = "6719c63ff5551c07";

    const DIMENSIONS: usize = 384;
    const LAYERS: usize = 6;
    const VOCABULARY: usize = 30_522;

    /// Returns the transformer that comes with the binary.
    #[must_use]
    pub fn builtin() -> Self {
        let tensors = Tensors::of_binary(ASSET).ok();
        let dimensions = tensors.and_then(|tensors| tensors.metadata("dims")?.parse().ok());
        let (provider, model) = ("builtin".to_owned(), "anemone-quality-1".to_owned());
        let identity =
            ModelIdentity { provider, model, dimensions: dimensions.unwrap_or_default() };
        Self { identity, weights: Weights::Builtin, threads: 1 }
    }

    /// Reads all-MiniLM-L6-v2 at `path`, which makes better vectors than the model in the binary
    /// and takes longer: a safetensors file, or a folder with a `model.safetensors`.
    ///
    /// Other models have the same shape, but their vectors cannot be compared with this one's. So
    /// the identity of any file other than the published one contains the file's fingerprint.
    pub fn minilm(path: &Path) -> Result<Self, ModelError> {
        let in_folder = path.join("model.safetensors");
        let path = if path.is_dir() { &in_folder } else { path };
        let model = Transformer::read(&mut Tensors::open(path)?)?;
        for (what, found, expected) in [
            ("dimensions", model.dimensions(), Self::DIMENSIONS),
            ("layers", model.layers(), Self::LAYERS),
            ("word pieces", model.vocabulary(), Self::VOCABULARY),
        ] {
            if found != expected {
                return Err(ModelError::OtherModel { what, found, expected });
            }
        }
        let (provider, name) = ("local".to_owned(), "all-MiniLM-L6-v2");
        let name = match fingerprint(path).map_err(ModelError::Read)? {
            print if print == Self::FINGERPRINT => name.to_owned(),
            print => format!("{name}-{print}"),
        };
        let identity = ModelIdentity { provider, model: name, dimensions: Self::DIMENSIONS };
        Ok(Self { identity, weights: Weights::File(Box::new(model)), threads: 1 })
    }

    /// Lets up to `threads` threads work on the texts of one call.
    #[must_use]
    pub fn with_threads(self, threads: usize) -> Self {
        Self { threads, ..self }
    }
}

impl Embedder for LocalModel {
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

    fn knows(&self, words: &str) -> Option<f32> {
        Some(Tokenizer::get().known_share(words))
    }

    fn embed(&self, texts: &[&str], purpose: Purpose) -> Result<Vec<Vec<f32>>, EmbedError> {
        let model = match &self.weights {
            Weights::Builtin => model().map_err(|error| failed(&self.identity, error))?,
            Weights::File(model) => model,
        };
        embed(model, &self.identity, texts, purpose, self.threads)
    }
}

/// Word pieces of a question that decide whether it can be read.
pub(crate) const TOKENS: usize = 512;

/// Returns the vectors of `model` for `texts`.
pub(crate) fn embed(
    model: &Transformer,
    identity: &ModelIdentity,
    texts: &[&str],
    purpose: Purpose,
    threads: usize,
) -> Result<Vec<Vec<f32>>, EmbedError> {
    let tokenizer = Tokenizer::get();
    let pieces = texts.iter().map(|text| {
        let ids = tokenizer.encode(text, model.limit());
        // The model has no vector for a text without pieces.
        let counts = purpose == Purpose::Query || tokenizer.is_readable(&ids);
        if counts { ids } else { Vec::new() }
    });
    let pieces: Vec<_> = pieces.collect();
    let vectors = model.vectors(&pieces, threads);
    if vectors.iter().flatten().all(|number| number.is_finite()) {
        return Ok(vectors);
    }
    let (provider, found) = (identity.provider.clone(), "a number that is not finite");
    Err(EmbedError::Unusable { provider, found })
}

/// Reports that an embedder of this binary has no model.
pub(crate) fn failed(identity: &ModelIdentity, error: &'static ModelError) -> EmbedError {
    EmbedError::Failed { provider: identity.provider.clone(), source: Box::new(error) }
}

#[cfg(test)]
mod tests {
    use super::{ASSET, LocalModel};
    use crate::tensors::Tensors;
    use crate::transformer::Transformer;
    use crate::{Embedder, Tokenizer};

    #[test]
    fn what_the_asset_says_of_itself_is_so() {
        let quality = LocalModel::builtin();
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

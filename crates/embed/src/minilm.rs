//! all-MiniLM-L6-v2, from a downloaded file.

use std::path::Path;

use crate::fingerprint::fingerprint;
use crate::tensors::Tensors;
use crate::tokens::Tokenizer;
use crate::transformer::Transformer;
use crate::{Effort, EmbedError, Embedder, ModelError, ModelIdentity, Purpose};

/// The transformer all-MiniLM-L6-v2: better vectors than the ones inside the binary, and slower.
#[derive(Debug)]
pub struct MiniLm {
    identity: ModelIdentity,
    model: Transformer,
    threads: usize,
}

impl MiniLm {
    /// SHA-256 of the `model.safetensors` that the model's authors publish.
    ///
    /// A file with another digest may hold the same model: in half precision, or with a prefix
    /// before its names.
    pub const SHA256: &str = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db";

    /// Size of the file that [`Self::SHA256`] is of.
    pub const SIZE_BYTES: u64 = 90_868_376;

    /// The fingerprint of that file.
    const FINGERPRINT: &str = "6719c63ff5551c07";

    const DIMENSIONS: usize = 384;
    const LAYERS: usize = 6;
    const VOCABULARY: usize = 30_522;

    /// Reads the model at `path`: a safetensors file, or a folder with a `model.safetensors`.
    ///
    /// Other models have the same shape, and their vectors cannot be compared with this one's. So
    /// what another file than the published one makes has the file's fingerprint in its identity.
    pub fn open(path: &Path) -> Result<Self, ModelError> {
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
        Ok(Self { identity, model, threads: 1 })
    }

    /// Lets up to `threads` threads work on the texts of one call.
    #[must_use]
    pub fn with_threads(self, threads: usize) -> Self {
        Self { threads, ..self }
    }
}

impl Embedder for MiniLm {
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
        embed(&self.model, &self.identity, texts, purpose, self.threads)
    }
}

/// Word pieces of a question that say whether it can be read.
pub(crate) const TOKENS: usize = 512;

/// Returns the vectors that `model` has for `texts`.
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

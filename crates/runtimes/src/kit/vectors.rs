//! Existing vectors: those of a record, and those in a runtime's own database.
//!
//! They need not be computed again if they are of the requested model and the same text.

use serde::Deserialize;
use zeroize::Zeroizing;

use crate::kit::hex;

/// The SHA-256 of a vector's text, where that is not the text of its record.
pub(crate) const TEXT_DIGEST: &str = "text_sha256";

/// The provider of a vector whose model is unknown.
const UNKNOWN: &str = "unknown";

/// A model whose vectors are requested.
#[derive(Clone, Copy, Debug)]
pub struct WantedModel<'a> {
    /// Who computes them, such as `openai`.
    pub provider: &'a str,
    /// The model, such as `text-embedding-3-small`.
    pub model: &'a str,
    /// Numbers in a vector.
    pub dimensions: usize,
}

/// The text that a vector was made from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VectorOf<'a> {
    /// This text.
    Text(&'a str),
    /// The text that has this SHA-256.
    Digest([u8; 32]),
}

impl WantedModel<'_> {
    /// Returns whether a name is this model's: `model` alone, or after its provider. Where the name
    /// has no provider, the model decides.
    #[must_use]
    pub fn is_named(&self, name: &str) -> bool {
        let Some(before) = name.strip_suffix(self.model).filter(|_| !self.model.is_empty()) else {
            return false;
        };
        match before.strip_suffix('/') {
            None => before.is_empty(),
            Some(provider) => provider == UNKNOWN || family(provider) == family(self.provider),
        }
    }

    /// Returns whether a vector can be one of this model's: it has the right length and a meaning.
    #[must_use]
    pub fn fits(&self, vector: &[f32]) -> bool {
        vector.len() == self.dimensions
            && vector.iter().all(|vector| vector.is_finite())
            && vector.iter().any(|vector| *vector != 0.0)
    }

    /// Returns the names under which a runtime may keep this model.
    pub(crate) fn names(&self) -> [String; 2] {
        [self.model.to_owned(), format!("{}/{}", self.provider, self.model)]
    }
}

/// Returns the maker behind a provider's name. A self-hosted server that speaks OpenAI's protocol
/// counts as OpenAI, as it does when it is queried; a reseller names the maker last.
fn family(provider: &str) -> String {
    let provider = provider.to_ascii_lowercase();
    if provider == "openai-compatible" || provider.starts_with("custom:") {
        return "openai".to_owned();
    }
    let maker = provider.rsplit('/').next().unwrap_or_default();
    // An entry of a configuration: `openai.work`.
    let maker = maker.split('.').next().unwrap_or_default();
    if maker == "google" { "gemini".to_owned() } else { maker.to_owned() }
}

/// Reads a SHA-256 in hexadecimal.
pub(crate) fn digest_in(text: &str) -> Option<[u8; 32]> {
    hex::decoded(text)?.try_into().ok()
}

/// The vectors of a record, with the text that they were made from.
#[derive(Deserialize)]
struct VectorLine {
    content: String,
    source: SourceLine,
    #[serde(default)]
    embeddings: Vec<EmbeddingLine>,
}

#[derive(Deserialize)]
struct SourceLine {
    #[serde(default)]
    runtime: String,
}

#[derive(Deserialize)]
struct EmbeddingLine {
    model: String,
    vector: Vec<f32>,
    #[serde(default)]
    text_sha256: Option<String>,
}

/// Yields the vectors of a model in the line of a record; unreadable lines have none.
///
/// A vector is of the record's text, unless it names another text. Otherwise, a record with several
/// vectors of one model yields none. Neither does a record of a runtime that stores the vectors of
/// all pieces of a file with each record of that file.
pub fn vectors_in(
    line: &[u8],
    wanted: &WantedModel<'_>,
    take: &mut dyn FnMut(VectorOf<'_>, Vec<f32>),
) {
    let Ok(line) = serde_json::from_slice::<VectorLine>(line) else { return };
    let own = |line: &EmbeddingLine| wanted.is_named(&line.model);
    let rules = crate::by_name(&line.source.runtime).map(|runtime| runtime.records);
    let is_of_content = rules.is_none_or(|rules| rules.vectors_are_of_text)
        && line.embeddings.iter().filter(|embedding| own(embedding)).count() == 1;
    for it in line.embeddings.into_iter().filter(own) {
        if !wanted.fits(&it.vector) {
            continue;
        }
        match it.text_sha256.as_deref().map(digest_in) {
            Some(Some(digest)) => take(VectorOf::Digest(digest), it.vector),
            None if is_of_content => take(VectorOf::Text(&line.content), it.vector),
            Some(None) | None => {}
        }
    }
}

/// How the rows of an agent's memory get their vectors, according to the settings of its runtime.
pub enum RowVectors {
    /// The runtime makes none.
    None,
    /// The settings name a way that only the runtime knows.
    ByRuntime,
    /// The settings name an address that is not on this machine. Only the runtime asks it: the
    /// settings may have come with an archive.
    OtherMachine,
    /// A service makes them.
    Service(RowEmbedder),
}

/// A service with OpenAI's protocol that a runtime's settings name for the vectors of its rows.
pub struct RowEmbedder {
    /// The provider, as the settings call it.
    pub provider: String,
    /// The model.
    pub model: String,
    /// The length of its vectors, where the settings name it.
    pub dimensions: Option<u64>,
    /// Where the service is; `None` for OpenAI's own.
    pub url: Option<String>,
    /// The key in the settings, in clear.
    pub key: Option<Zeroizing<String>>,
}

#[cfg(test)]
mod tests {
    use super::*;

    const WANTED: WantedModel<'_> =
        WantedModel { provider: "openai", model: "text-embedding-3-small", dimensions: 2 };

    #[test]
    fn a_model_is_known_by_its_name_and_by_its_provider_where_both_say_one() {
        for (name, wanted) in [
            ("text-embedding-3-small", true),
            ("openai/text-embedding-3-small", true),
            ("OpenAI/text-embedding-3-small", true),
            ("openai.work/text-embedding-3-small", true),
            ("openrouter/openai/text-embedding-3-small", true),
            ("openai-compatible/text-embedding-3-small", true),
            ("custom:https://host.example/v1/text-embedding-3-small", true),
            ("unknown/text-embedding-3-small", true),
            ("openai/text-embedding-3-large", false),
            ("gemini/text-embedding-3-small", false),
            ("openrouter/text-embedding-3-small", false),
            ("my-text-embedding-3-small", false),
            ("/text-embedding-3-small", false),
            ("openai/", false),
            ("unknown/unknown", false),
            ("", false),
        ] {
            assert_eq!(WANTED.is_named(name), wanted, "{name}");
        }
        let gemini = WantedModel { provider: "gemini", model: "gemini-embedding-001", ..WANTED };
        assert!(gemini.is_named("google/gemini-embedding-001"));
        let own = WantedModel { model: "BAAI/bge-m3", ..WANTED };
        assert!(own.is_named("BAAI/bge-m3") && own.is_named("openai/BAAI/bge-m3"));
        assert!(!own.is_named("bge-m3") && !own.is_named("voyage/BAAI/bge-m3"));
        assert!(!WantedModel { model: "", ..WANTED }.is_named("openai/"));
    }

    #[test]
    fn a_vector_of_another_length_or_without_meaning_does_not_fit() {
        assert!(WANTED.fits(&[0.0, 1.0]));
        for vector in [&[][..], &[1.0], &[1.0, 2.0, 3.0], &[0.0, 0.0], &[f32::NAN, 1.0]] {
            assert!(!WANTED.fits(vector), "{vector:?}");
        }
        assert!(!WantedModel { dimensions: 0, ..WANTED }.fits(&[]));
    }

    fn of_line(runtime: &str, embeddings: &str) -> Vec<(Option<[u8; 32]>, Vec<f32>)> {
        let line = format!(
            r#"{{"content":"tea","source":{{"runtime":"{runtime}"}},"embeddings":[{embeddings}]}}"#
        );
        let mut found = Vec::new();
        vectors_in(line.as_bytes(), &WANTED, &mut |of, vector| match of {
            VectorOf::Text(text) => {
                assert_eq!(text, "tea");
                found.push((None, vector));
            }
            VectorOf::Digest(digest) => found.push((Some(digest), vector)),
        });
        found
    }

    #[test]
    fn a_record_has_a_vector_of_its_text_or_of_the_text_that_the_vector_names() {
        let small = r#"{"model":"openai/text-embedding-3-small","vector":[1.0,0.0]}"#;
        let other = r#"{"model":"openai/other","vector":[0.0,1.0]}"#;
        let of = |digest: &str| {
            let rest = format!(r#","text_sha256":"{digest}"}}"#);
            small.replace('}', &rest)
        };
        assert_eq!(of_line("zeroclaw", &format!("{other},{small}")), [(None, vec![1.0, 0.0])]);
        assert_eq!(of_line("zeroclaw", &format!("{small},{small}")), []);
        assert_eq!(of_line("openclaw", small), [], "a piece of a file is not its record");
        let named = [(Some([0xab; 32]), vec![1.0, 0.0])];
        assert_eq!(of_line("openclaw", &of(&"ab".repeat(32))), named);
        assert_eq!(of_line("zeroclaw", &of(&"aB".repeat(32))), named);
        for odd in ["", "ab", &"xy".repeat(32), &"ab".repeat(33)] {
            assert_eq!(of_line("zeroclaw", &of(odd)), [], "{odd}");
        }
        assert_eq!(of_line("zeroclaw", ""), []);
        vectors_in(b"{", &WANTED, &mut |_, _| panic!("there is nothing"));
    }
}

//! The static model in the binary: a table of token vectors, and the embedder that uses it.

use std::sync::OnceLock;

use crate::local::{embed, failed, model};
use crate::static_model::{StaticModel, to_unit_length};
use crate::tensors::Tensors;
use crate::tokens::Tokenizer;
use crate::{Effort, EmbedError, Embedder, ModelError, ModelIdentity, Purpose};

/// Tokens of a text that count. With so many, later ones hardly change the sum.
const TOKENS: usize = 512;

/// Made by tools/model/export.py.
static ASSET: &[u8] = include_bytes!("../assets/table.safetensors");

/// The static model, which all embedders of a process share.
static TABLE: OnceLock<Result<StaticModel, ModelError>> = OnceLock::new();

/// The matrix that maps the small transformer's vectors to the static model's, row after row.
static TURN: OnceLock<Result<Vec<f32>, ModelError>> = OnceLock::new();

fn static_model() -> Result<&'static StaticModel, &'static ModelError> {
    TABLE.get_or_init(|| StaticModel::open(&mut Tensors::of_binary(ASSET)?)).as_ref()
}

fn turn() -> Result<&'static [f32], &'static ModelError> {
    let read = || {
        let mut tensors = Tensors::of_binary(ASSET)?;
        let matrix = tensors.matrix("turn")?;
        tensors.rows(&matrix, 0..matrix.rows())
    };
    TURN.get_or_init(read).as_ref().map(Vec::as_slice)
}

/// The embedder without requirements: no model file, no other machine, hardly any time.
///
/// The vector of a document is the sum of its tokens' vectors, so the order of words does not
/// matter. Questions are few and short, so they get the small transformer's vector, mapped to the
/// space of the static model: that finds a fifth more than a sum of tokens as the question.
#[derive(Debug)]
pub struct Builtin {
    identity: ModelIdentity,
}

impl Builtin {
    /// Returns the embedder. Only the header of the model is read.
    #[must_use]
    pub fn new() -> Self {
        let (model, dimensions) = match static_model() {
            Ok(model) => (model.name().to_owned(), model.dimensions()),
            Err(_) => (String::new(), 0),
        };
        Self { identity: ModelIdentity { provider: "builtin".to_owned(), model, dimensions } }
    }

    /// Returns the vector of a question.
    fn asked(&self, text: &str, words: &StaticModel) -> Result<Vec<f32>, EmbedError> {
        let of_words = words.vector(&Tokenizer::get().encode(text, TOKENS));
        if of_words.iter().all(|number| *number == 0.0) {
            // No word of it is known, so the transformer's result is noise.
            return Ok(of_words);
        }
        let model = model().map_err(|error| failed(&self.identity, error))?;
        let turn = turn().map_err(|error| failed(&self.identity, error))?;
        let mut vectors = embed(model, &self.identity, &[text], Purpose::Query, 1)?;
        let whole = vectors.pop().unwrap_or_default();
        let rows = turn.chunks_exact(whole.len().max(1));
        let dot = |row: &[f32]| row.iter().zip(&whole).map(|(a, b)| a * b).sum();
        let mut vector: Vec<f32> = rows.map(dot).collect();
        vector.resize(self.identity.dimensions, 0.0);
        to_unit_length(&mut vector);
        Ok(vector)
    }
}

impl Default for Builtin {
    fn default() -> Self {
        Self::new()
    }
}

impl Embedder for Builtin {
    fn identity(&self) -> &ModelIdentity {
        &self.identity
    }

    fn effort(&self) -> Effort {
        Effort::Trivial
    }

    fn reads(&self, text: &str) -> f32 {
        let tokenizer = Tokenizer::get();
        tokenizer.readable_share(&tokenizer.encode(text, TOKENS))
    }

    fn knows(&self, words: &str) -> Option<f32> {
        Some(Tokenizer::get().known_share(words))
    }

    fn embed(&self, texts: &[&str], purpose: Purpose) -> Result<Vec<Vec<f32>>, EmbedError> {
        let words = static_model().map_err(|error| failed(&self.identity, error))?;
        let tokenizer = Tokenizer::get();
        let vector = |text: &&str| {
            if purpose == Purpose::Query {
                return self.asked(text, words);
            }
            let ids = tokenizer.encode(text, TOKENS);
            Ok(if tokenizer.is_readable(&ids) {
                words.vector(&ids)
            } else {
                vec![0.0; words.dimensions()]
            })
        };
        texts.iter().map(vector).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vectors(texts: &[&str], purpose: Purpose) -> Vec<Vec<f32>> {
        Builtin::new().embed(texts, purpose).unwrap()
    }

    fn cosine(one: &[f32], two: &[f32]) -> f32 {
        one.iter().zip(two).map(|(a, b)| a * b).sum()
    }

    #[test]
    fn the_static_model_in_the_binary_has_the_agreed_name() {
        let identity = Builtin::new().identity().clone();
        assert_eq!((&*identity.provider, &*identity.model), ("builtin", "anemone-table-1"));
        assert!((64..=512).contains(&identity.dimensions));
    }

    #[test]
    fn a_vector_has_the_promised_dimensions_and_the_length_one() {
        let texts = ["a cat", "The invoice is due on Monday.", "x", "don't 42 %"];
        for purpose in [Purpose::Document, Purpose::Query] {
            for vector in vectors(&texts, purpose) {
                assert_eq!(vector.len(), Builtin::new().identity().dimensions);
                assert!((cosine(&vector, &vector) - 1.0).abs() < 1e-5);
            }
        }
    }

    #[test]
    fn what_is_alike_is_nearer_than_what_is_not() {
        let texts = ["my dog is ill", "the puppy feels sick", "the server ran out of disk space"];
        let [dog, puppy, server] = &vectors(&texts, Purpose::Document)[..] else { panic!() };
        assert!(cosine(dog, puppy) > cosine(dog, server) + 0.1);
    }

    #[test]
    fn a_text_that_says_nothing_is_zeros() {
        for text in ["", " \n", "\u{200b}\u{301}", "🙃🙃", &"a".repeat(101)] {
            let vector = vectors(&[text], Purpose::Query).remove(0);
            assert!(vector.iter().all(|&number| number == 0.0), "{text:?}");
        }
    }

    #[test]
    fn tokens_past_the_first_512_do_not_count() {
        let long = "cat ".repeat(512);
        let longer = format!("{long} server");
        let [one, two] = &vectors(&[&long, &longer], Purpose::Document)[..] else { panic!() };
        assert_eq!(one, two);
    }

    #[test]
    fn questions_are_asked_in_the_space_of_the_documents() {
        let documents = ["The spare key hangs behind the cellar door.", "Lunch is at noon."];
        let documents = vectors(&documents, Purpose::Document);
        let question =
            vectors(&["How do I get in when I am locked out?"], Purpose::Query).remove(0);
        assert!(cosine(&question, &documents[0]) > cosine(&question, &documents[1]) + 0.05);
        let turn = turn().unwrap();
        assert_eq!(turn.len(), question.len() * model().unwrap().dimensions());
    }
}

//! The answer of a provider, parsed and checked.
//!
//! An answer is untrusted: it may be cut, of the wrong size, out of order, or hold invalid numbers.
//! serde's error is not passed on, because it quotes the answer.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use serde::de::{Deserializer, Error as _, SeqAccess, Visitor};

use crate::remote::Provider;

/// Numbers in a vector, at most.
pub(super) const MOST_DIMENSIONS: usize = 65_536;

/// What is wrong with an answer.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AnswerError {
    /// It is not JSON, or not of the provider's form.
    #[error("not the JSON that was expected, at line {line}, column {column}")]
    Unreadable {
        /// Where the first fault is.
        line: usize,
        /// The column of the fault in that line.
        column: usize,
    },
    /// Not one vector for each text.
    #[error("{found} vectors for {asked} texts")]
    Count {
        /// How many texts were sent.
        asked: usize,
        /// How many vectors came back.
        found: usize,
    },
    /// Two vectors for one text, or one for no text.
    #[error("vector number {index} appears twice or belongs to no text")]
    Index {
        /// The number.
        index: usize,
    },
    /// Not the size that the model has or that was requested.
    #[error("a vector of {found} numbers instead of {expected}")]
    Dimensions {
        /// How many there should be.
        expected: usize,
        /// How many there are.
        found: usize,
    },
    /// A number that is infinite or NaN.
    #[error("a vector with a number that is not finite")]
    NotFinite,
    /// Vectors of zeros for texts that contain words.
    #[error("nothing but zeros")]
    Zeros,
}

impl AnswerError {
    /// Whether a text may be the cause: some models return no numbers for some texts.
    pub(super) fn may_be_a_text(&self) -> bool {
        matches!(self, Self::Unreadable { .. } | Self::NotFinite | Self::Zeros)
    }
}

/// Reads one vector for each text, in the order of the texts.
pub(super) fn read(
    provider: Provider,
    body: &[u8],
    texts: &[&str],
    dimensions: Option<usize>,
) -> Result<Vec<Vec<f32>>, AnswerError> {
    let vectors = match provider {
        Provider::OpenAi | Provider::Voyage | Provider::Mistral => {
            let answer: ByIndex = parse(body)?;
            answer.in_order()?
        }
        Provider::Ollama => {
            let answer: Plain = parse(body)?;
            answer.embeddings.into_iter().map(|vector| vector.0).collect()
        }
        Provider::Gemini => {
            let answer: ByValues = parse(body)?;
            answer.embeddings.into_iter().map(|values| values.values.0).collect()
        }
    };
    check(&vectors, texts, dimensions)?;
    Ok(vectors)
}

fn parse<'a, T: Deserialize<'a>>(body: &'a [u8]) -> Result<T, AnswerError> {
    serde_json::from_slice(body)
        .map_err(|error| AnswerError::Unreadable { line: error.line(), column: error.column() })
}

fn check(
    vectors: &[Vec<f32>],
    texts: &[&str],
    dimensions: Option<usize>,
) -> Result<(), AnswerError> {
    if vectors.len() != texts.len() {
        return Err(AnswerError::Count { asked: texts.len(), found: vectors.len() });
    }
    let expected = dimensions.or(vectors.first().map(Vec::len)).unwrap_or_default().max(1);
    for vector in vectors {
        if vector.len() != expected {
            return Err(AnswerError::Dimensions { expected, found: vector.len() });
        }
        if !vector.iter().all(|number| number.is_finite()) {
            return Err(AnswerError::NotFinite);
        }
    }
    // One text may mean nothing to a model, but if no text means anything to it, the model is
    // broken.
    let says_nothing = vectors.iter().flatten().all(|&number| number == 0.0);
    if says_nothing && texts.iter().any(|text| text.contains(char::is_alphanumeric)) {
        return Err(AnswerError::Zeros);
    }
    Ok(())
}

/// OpenAI's form, which Voyage and Mistral adopted.
#[derive(Deserialize)]
struct ByIndex {
    data: Vec<Indexed>,
}

#[derive(Deserialize)]
struct Indexed {
    index: Option<usize>,
    embedding: Numbers,
}

impl ByIndex {
    /// Vectors may come in any order. A server that sends no numbers keeps the order.
    fn in_order(self) -> Result<Vec<Vec<f32>>, AnswerError> {
        let count = self.data.len();
        let numbered = self.data.iter().any(|item| item.index.is_some());
        let mut places: Vec<Option<Vec<f32>>> = vec![None; count];
        for (position, item) in self.data.into_iter().enumerate() {
            let index = if numbered { item.index.unwrap_or(count) } else { position };
            match places.get_mut(index) {
                Some(place @ None) => *place = Some(item.embedding.0),
                Some(Some(_)) | None => return Err(AnswerError::Index { index }),
            }
        }
        Ok(places.into_iter().flatten().collect())
    }
}

/// Ollama's form.
#[derive(Deserialize)]
struct Plain {
    embeddings: Vec<Numbers>,
}

/// Gemini's form.
#[derive(Deserialize)]
struct ByValues {
    embeddings: Vec<Values>,
}

#[derive(Deserialize)]
struct Values {
    values: Numbers,
}

/// A vector, as a list or as base64 of little-endian floats.
struct Numbers(Vec<f32>);

impl<'de> Deserialize<'de> for Numbers {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NumbersVisitor)
    }
}

struct NumbersVisitor;

impl<'de> Visitor<'de> for NumbersVisitor {
    type Value = Numbers;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a list of numbers or base64")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Numbers, A::Error> {
        let mut numbers = Vec::new();
        while let Some(number) = list.next_element()? {
            if numbers.len() == MOST_DIMENSIONS {
                return Err(A::Error::custom("too many numbers"));
            }
            numbers.push(number);
        }
        Ok(Numbers(numbers))
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Numbers, E> {
        let bytes = STANDARD.decode(text).map_err(|_| E::custom("not base64"))?;
        let (numbers, rest) = bytes.as_chunks::<4>();
        if !rest.is_empty() || numbers.len() > MOST_DIMENSIONS {
            return Err(E::custom("not a list of floats"));
        }
        Ok(Numbers(numbers.iter().map(|number| f32::from_le_bytes(*number)).collect()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(provider: Provider, body: &str, expected: Result<&[&[f32]], AnswerError>) {
        let texts = ["one", "two"];
        let found = read(provider, body.as_bytes(), &texts, Some(2));
        let expected = expected.map(|rows| rows.iter().map(|row| row.to_vec()).collect::<Vec<_>>());
        assert_eq!(found, expected, "{body}");
    }

    const GOOD: &[&[f32]] = &[&[1.0, 0.5], &[0.0, -2.0]];

    #[test]
    fn each_provider_has_its_form() {
        for provider in [Provider::OpenAi, Provider::Voyage, Provider::Mistral] {
            let shuffled = r#"{"object":"list","data":[
                {"index":1,"embedding":[0,-2]},{"index":0,"embedding":[1.0,5e-1]}]}"#;
            check(provider, shuffled, Ok(GOOD));
        }
        check(Provider::Ollama, r#"{"model":"m","embeddings":[[1,0.5],[0,-2]]}"#, Ok(GOOD));
        check(
            Provider::Gemini,
            r#"{"embeddings":[{"values":[1,0.5]},{"values":[0,-2]}]}"#,
            Ok(GOOD),
        );
    }

    #[test]
    fn base64_is_read_beside_numbers() {
        let body =
            r#"{"data":[{"index":0,"embedding":"AACAPwAAAD8="},{"index":1,"embedding":[0,-2]}]}"#;
        check(Provider::OpenAi, body, Ok(GOOD));
        let infinite = r#"{"data":[{"embedding":"AACAfwAAAD8="},{"embedding":[0,-2]}]}"#;
        check(Provider::OpenAi, infinite, Err(AnswerError::NotFinite));
    }

    #[test]
    fn a_server_that_numbers_nothing_keeps_the_order() {
        let body = r#"{"data":[{"embedding":[1,0.5]},{"embedding":[0,-2]}]}"#;
        check(Provider::OpenAi, body, Ok(GOOD));
    }

    #[test]
    fn wrong_numbers_of_vectors_are_found() {
        let few = r#"{"data":[{"index":0,"embedding":[1,2]}]}"#;
        check(Provider::OpenAi, few, Err(AnswerError::Count { asked: 2, found: 1 }));
        let many = r#"{"embeddings":[[1,2],[1,2],[1,2]]}"#;
        check(Provider::Ollama, many, Err(AnswerError::Count { asked: 2, found: 3 }));
        let twice = r#"{"data":[{"index":1,"embedding":[1,2]},{"index":1,"embedding":[1,2]}]}"#;
        check(Provider::OpenAi, twice, Err(AnswerError::Index { index: 1 }));
        let beyond = r#"{"data":[{"index":9,"embedding":[1,2]},{"index":1,"embedding":[1,2]}]}"#;
        check(Provider::OpenAi, beyond, Err(AnswerError::Index { index: 9 }));
    }

    #[test]
    fn wrong_vectors_are_found() {
        let short = r#"{"embeddings":[[1,2],[1]]}"#;
        check(Provider::Ollama, short, Err(AnswerError::Dimensions { expected: 2, found: 1 }));
        let zeros = r#"{"embeddings":[[0,0],[0,-0.0]]}"#;
        check(Provider::Ollama, zeros, Err(AnswerError::Zeros));
    }

    #[test]
    fn one_text_may_mean_nothing() {
        let body = r#"{"embeddings":[[1,2],[0,0]]}"#;
        check(Provider::Ollama, body, Ok(&[&[1.0, 2.0], &[0.0, 0.0]]));
    }

    #[test]
    fn what_is_no_vector_is_not_read_and_not_quoted() {
        for body in [
            "",
            "{",
            "null",
            "<html>sk-secret</html>",
            r#"{"embeddings":[[1,"sk-secret"],[1,2]]}"#,
            r#"{"embeddings":[[1,NaN],[1,2]]}"#,
            r#"{"embeddings":[[1,Infinity],[1,2]]}"#,
            r#"{"embeddings":[[1,null],[1,2]]}"#,
            r#"{"embeddings":[[1,1e39],[1,2]]}"#,
            r#"{"embeddings":[[1,1e999],[1,2]]}"#,
            r#"{"embeddings":[[1,2],[1,2"#,
            r#"{"embeddings":["AAA",[1,2]]}"#,
            r#"{"embeddings":{"0":[1,2]}}"#,
        ] {
            let error = read(Provider::Ollama, body.as_bytes(), &["a", "b"], None).unwrap_err();
            assert!(matches!(error, AnswerError::Unreadable { .. }), "{body}: {error}");
            assert!(!error.to_string().contains("secret"), "{error}");
        }
        let nested = format!("{{\"embeddings\":{}", "[".repeat(100_000));
        assert!(read(Provider::Ollama, nested.as_bytes(), &["a"], None).is_err());
    }

    #[test]
    fn a_vector_of_nothing_is_no_vector() {
        let found = read(Provider::Ollama, br#"{"embeddings":[[]]}"#, &["a"], None);
        assert_eq!(found, Err(AnswerError::Dimensions { expected: 1, found: 0 }));
    }
}

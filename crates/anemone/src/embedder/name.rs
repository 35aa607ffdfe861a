//! What embedders are called on the command line and in the config.

use std::fmt;
use std::str::FromStr;

use anemone_embed::Provider;
use serde::{Serialize, Serializer};

use crate::nearest::Nearest;

/// An embedder that there is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EmbedderKind {
    /// The table in the binary.
    Builtin,
    /// The larger model in the binary.
    BuiltinQuality,
    /// A file that was added.
    MiniLm,
    /// Another program, mostly on another machine.
    Service(Provider),
}

impl EmbedderKind {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::Builtin,
        Self::BuiltinQuality,
        Self::MiniLm,
        Self::Service(Provider::OpenAi),
        Self::Service(Provider::Ollama),
        Self::Service(Provider::Gemini),
        Self::Service(Provider::Voyage),
        Self::Service(Provider::Mistral),
    ];

    /// Returns the name as users write it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Builtin => "builtin",
            Self::BuiltinQuality => "builtin-quality",
            Self::MiniLm => "minilm",
            Self::Service(service) => service.name(),
        }
    }
}

/// An embedder that the user named, perhaps with a model of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EmbedderName {
    /// The embedder.
    pub name: EmbedderKind,
    /// Only services have several.
    pub model: Option<String>,
}

impl EmbedderName {
    /// Names an embedder with its usual model.
    pub const fn of(name: EmbedderKind) -> Self {
        Self { name, model: None }
    }
}

impl fmt::Display for EmbedderName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.model {
            Some(model) => write!(f, "{}:{model}", self.name.name()),
            None => f.write_str(self.name.name()),
        }
    }
}

/// The requested embedder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EmbedderSetting {
    /// What fits the index and the config.
    Auto,
    /// Nothing: only words are compared.
    None,
    /// The embedder of this name.
    This(EmbedderName),
}

impl fmt::Display for EmbedderSetting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Auto => f.write_str("auto"),
            Self::None => f.write_str("none"),
            Self::This(wanted) => wanted.fmt(f),
        }
    }
}

impl Serialize for EmbedderSetting {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// Why a text names no embedder; it is shown to the user.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NameError {
    #[error("there is no embedder {text:?}{}; choose one of {}", meant(.near), known())]
    Unknown { text: String, near: Vec<String> },
    #[error("{name} has one model; leave out the part after the colon")]
    OneModel { name: &'static str },
    #[error("a model must follow the colon, as in openai:text-embedding-3-small")]
    NoModel,
    #[error(
        "the name of a model has at most {MOST_OF_A_MODEL} characters, and none of them is a space"
    )]
    OddModel,
}

/// Characters of a model's name; the longest that is known has some sixty.
const MOST_OF_A_MODEL: usize = 200;

fn meant(near: &[String]) -> String {
    match near.first() {
        Some(name) => format!(" (did you mean {name}?)"),
        None => String::new(),
    }
}

/// Lists all names.
fn known() -> String {
    let names = ["auto", "none"].into_iter().chain(EmbedderKind::ALL.map(EmbedderKind::name));
    names.collect::<Vec<_>>().join(", ")
}

impl FromStr for EmbedderSetting {
    type Err = NameError;

    fn from_str(text: &str) -> Result<Self, NameError> {
        match text {
            "auto" => return Ok(Self::Auto),
            "none" => return Ok(Self::None),
            _ => {}
        }
        text.parse().map(Self::This)
    }
}

impl FromStr for EmbedderName {
    type Err = NameError;

    fn from_str(text: &str) -> Result<Self, NameError> {
        let (head, model) = match text.split_once(':') {
            Some((head, model)) => (head, Some(model)),
            None => (text, None),
        };
        let Some(name) = EmbedderKind::ALL.into_iter().find(|value| value.name() == head) else {
            let near = Nearest::among(head, EmbedderKind::ALL.map(EmbedderKind::name));
            return Err(NameError::Unknown { text: text.to_owned(), near });
        };
        match (name, model) {
            (_, None) => Ok(Self::of(name)),
            (EmbedderKind::Service(_), Some("")) => Err(NameError::NoModel),
            (EmbedderKind::Service(_), Some(model)) => {
                let odd = |c: char| c.is_whitespace() || c.is_control();
                match model.chars().count() > MOST_OF_A_MODEL || model.chars().any(odd) {
                    true => Err(NameError::OddModel),
                    false => Ok(Self { name, model: Some(model.to_owned()) }),
                }
            }
            (name, Some(_)) => Err(NameError::OneModel { name: name.name() }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_read_as_it_is_written() {
        for name in EmbedderKind::ALL {
            let wanted: EmbedderName = name.name().parse().unwrap();
            assert_eq!((wanted.name, wanted.to_string()), (name, name.name().to_owned()));
        }
        for text in ["auto", "none", "openai:text-embedding-3-large", "ollama:bge-m3:latest"] {
            assert_eq!(text.parse::<EmbedderSetting>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn what_is_nearly_a_name_is_offered_that_name() {
        let error = "opnai".parse::<EmbedderSetting>().unwrap_err().to_string();
        assert!(error.contains("did you mean openai?"), "{error}");
        let error = "builtin-qualty".parse::<EmbedderSetting>().unwrap_err().to_string();
        assert!(error.contains("did you mean builtin-quality?"), "{error}");
        let error = "zebra".parse::<EmbedderSetting>().unwrap_err().to_string();
        assert!(
            !error.contains("did you mean") && error.contains("auto, none, builtin"),
            "{error}"
        );
    }

    #[test]
    fn only_services_have_several_models() {
        assert_eq!(
            "builtin:x".parse::<EmbedderSetting>(),
            Err(NameError::OneModel { name: "builtin" })
        );
        assert_eq!("openai:".parse::<EmbedderSetting>(), Err(NameError::NoModel));
        assert_eq!("openai:a b".parse::<EmbedderSetting>(), Err(NameError::OddModel));
        assert_eq!(
            format!("openai:{}", "x".repeat(201)).parse::<EmbedderSetting>(),
            Err(NameError::OddModel)
        );
    }
}

//! What is known about each provider in advance.

/// An API that makes vectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Provider {
    /// OpenAI, and every server with its protocol.
    OpenAi,
    /// Ollama, usually on this machine.
    Ollama,
    /// Google's Gemini API.
    Gemini,
    /// Voyage AI.
    Voyage,
    /// Mistral.
    Mistral,
}

impl Provider {
    /// All of them, in the order in which their keys are looked up.
    pub const ALL: [Self; 5] =
        [Self::OpenAi, Self::Gemini, Self::Voyage, Self::Mistral, Self::Ollama];

    /// Its name in settings and in the identity of its vectors.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::OpenAi => "openai",
            Self::Ollama => "ollama",
            Self::Gemini => "gemini",
            Self::Voyage => "voyage",
            Self::Mistral => "mistral",
        }
    }

    /// The provider with a name.
    #[must_use]
    pub fn by_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|provider| provider.name() == name)
    }

    /// The model that is used by default.
    #[must_use]
    pub fn default_model(self) -> &'static str {
        match self {
            Self::OpenAi => "text-embedding-3-small",
            Self::Ollama => "nomic-embed-text",
            Self::Gemini => "gemini-embedding-001",
            Self::Voyage => "voyage-4-large",
            Self::Mistral => "mistral-embed",
        }
    }

    /// The URL that is used by default.
    #[must_use]
    pub fn default_url(self) -> &'static str {
        match self {
            Self::OpenAi => "https://api.openai.com/v1",
            Self::Ollama => "http://127.0.0.1:11434",
            Self::Gemini => "https://generativelanguage.googleapis.com/v1beta",
            Self::Voyage => "https://api.voyageai.com/v1",
            Self::Mistral => "https://api.mistral.ai/v1",
        }
    }

    /// The environment variable in which its users keep their key. `None`: it needs no key.
    #[must_use]
    pub fn key_variable(self) -> Option<&'static str> {
        match self {
            Self::OpenAi => Some("OPENAI_API_KEY"),
            Self::Ollama => None,
            Self::Gemini => Some("GEMINI_API_KEY"),
            Self::Voyage => Some("VOYAGE_API_KEY"),
            Self::Mistral => Some("MISTRAL_API_KEY"),
        }
    }

    /// A second variable, read when the first is not set.
    #[must_use]
    pub fn other_key_variable(self) -> Option<&'static str> {
        match self {
            Self::Gemini => Some("GOOGLE_API_KEY"),
            Self::OpenAi | Self::Ollama | Self::Voyage | Self::Mistral => None,
        }
    }

    /// The default number of dimensions of a model. `None`: unknown.
    #[must_use]
    pub fn dimensions_of(self, model: &str) -> Option<usize> {
        let dimensions = match (self, model) {
            (Self::OpenAi, "text-embedding-3-small" | "text-embedding-ada-002") => 1536,
            (Self::OpenAi, "text-embedding-3-large") | (Self::Gemini, "gemini-embedding-001") => {
                3072
            }
            (Self::Voyage, "voyage-4-large" | "voyage-4" | "voyage-4-lite")
            | (Self::Mistral, "mistral-embed") => 1024,
            (Self::Ollama, "nomic-embed-text" | "nomic-embed-text:latest") => 768,
            _ => return None,
        };
        Some(dimensions)
    }

    /// Texts in one request, at most.
    pub(crate) fn most_texts(self) -> usize {
        match self {
            Self::OpenAi => 2048,
            Self::Voyage | Self::Mistral => 128,
            Self::Gemini => 100,
            Self::Ollama => 64,
        }
    }

    /// Tokens of one text that its models read, at most: the rest is cut off.
    pub(crate) fn most_tokens(self) -> usize {
        match self {
            Self::Voyage => 32_000,
            Self::OpenAi | Self::Mistral | Self::Ollama => 8_000,
            Self::Gemini => 2_048,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_provider_is_found_by_its_name() {
        for provider in Provider::ALL {
            assert_eq!(Provider::by_name(provider.name()), Some(provider));
        }
        assert_eq!(Provider::by_name("nobody"), None);
    }

    #[test]
    fn the_dimensions_of_every_default_model_are_known() {
        for provider in Provider::ALL {
            assert!(provider.dimensions_of(provider.default_model()).is_some(), "{provider:?}");
        }
    }
}

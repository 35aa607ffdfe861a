//! The request for each provider, as JSON.

use serde_json::{Value, json};

use crate::Purpose;
use crate::remote::settings::{Encoding, RemoteSettings};
use crate::remote::{Provider, RemoteError};

/// What happens to a text that is longer than the model reads, if the provider leaves a choice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Overlong {
    /// It is an error, so that it can be counted.
    Refused,
    /// The provider cuts off the end.
    Cut,
}

/// The common parts of all requests of one embedder.
pub(super) struct RequestForm {
    provider: Provider,
    model: String,
    /// Only sent if another size than the model's own is configured.
    dimensions: Option<usize>,
    encoding: Option<Encoding>,
    query_input_type: Option<String>,
    document_input_type: Option<String>,
}

impl RequestForm {
    pub(super) fn new(settings: &RemoteSettings) -> Result<Self, RemoteError> {
        let provider = settings.provider;
        let name = settings.model.as_deref().unwrap_or(provider.default_model());
        let name = match provider {
            Provider::Gemini => name.strip_prefix("models/").unwrap_or(name),
            Provider::OpenAi | Provider::Ollama | Provider::Voyage | Provider::Mistral => name,
        };
        if name.trim().is_empty() || name.len() > 256 || name.contains(char::is_control) {
            return Err(RemoteError::Model);
        }
        let own = provider.dimensions_of(name);
        let encoding = match (provider, settings.encoding, &settings.url) {
            (Provider::OpenAi, None, None) => Some(Encoding::Base64),
            (Provider::OpenAi, encoding, _) => encoding,
            (Provider::Ollama | Provider::Gemini | Provider::Voyage | Provider::Mistral, _, _) => {
                None
            }
        };
        Ok(Self {
            provider,
            model: name.to_owned(),
            dimensions: settings.dimensions.filter(|&asked| own != Some(asked)),
            encoding,
            query_input_type: settings.query_input_type.clone(),
            document_input_type: settings.document_input_type.clone(),
        })
    }

    /// The name of the model in requests.
    pub(super) fn model(&self) -> &str {
        &self.model
    }

    /// Returns the body of a request.
    pub(super) fn body(&self, texts: &[&str], purpose: Purpose, overlong: Overlong) -> Value {
        if self.provider == Provider::Gemini {
            return self.gemini(texts, purpose);
        }
        let mut body = json!({ "model": self.model, "input": texts });
        if let Some(dimensions) = self.dimensions {
            let name = match self.provider {
                Provider::Voyage | Provider::Mistral => "output_dimension",
                Provider::OpenAi | Provider::Ollama | Provider::Gemini => "dimensions",
            };
            body[name] = json!(dimensions);
        }
        if let Some(encoding) = self.encoding {
            body["encoding_format"] = json!(match encoding {
                Encoding::Float => "float",
                Encoding::Base64 => "base64",
            });
        }
        if self.provider == Provider::Ollama {
            body["truncate"] = json!(overlong == Overlong::Cut);
        }
        let input_type = match (self.provider, purpose) {
            (Provider::OpenAi, Purpose::Query) => self.query_input_type.as_deref(),
            (Provider::OpenAi, Purpose::Document) => self.document_input_type.as_deref(),
            (Provider::Voyage, Purpose::Query) => Some("query"),
            (Provider::Voyage, Purpose::Document) => Some("document"),
            (Provider::Ollama | Provider::Gemini | Provider::Mistral, _) => None,
        };
        if let Some(input_type) = input_type {
            body["input_type"] = json!(input_type);
        }
        body
    }

    fn gemini(&self, texts: &[&str], purpose: Purpose) -> Value {
        let task = match purpose {
            Purpose::Query => "RETRIEVAL_QUERY",
            Purpose::Document => "RETRIEVAL_DOCUMENT",
        };
        let request = |text: &&str| {
            let mut request = json!({
                "model": format!("models/{}", self.model),
                "content": { "parts": [{ "text": text }] },
                "taskType": task,
            });
            if let Some(dimensions) = self.dimensions {
                request["outputDimensionality"] = json!(dimensions);
            }
            request
        };
        json!({ "requests": texts.iter().map(request).collect::<Vec<_>>() })
    }
}

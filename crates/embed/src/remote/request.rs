//! What each provider wants to be asked, as JSON.

use serde_json::{Value, json};

use crate::Purpose;
use crate::remote::settings::{Encoding, RemoteSettings};
use crate::remote::{Provider, RemoteError};

/// What shall become of a text that is longer than the model reads, where the provider leaves a
/// choice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Overlong {
    /// It is an error, so that we know.
    Refused,
    /// The provider cuts off the end.
    Cut,
}

/// What all requests of one embedder have in common.
pub(super) struct Form {
    provider: Provider,
    model: String,
    /// Sent only when another size than the model's own is configured.
    dimensions: Option<usize>,
    encoding: Option<Encoding>,
    query_input_type: Option<String>,
    document_input_type: Option<String>,
}

impl Form {
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

    /// The model, as it is called in requests.
    pub(super) fn model(&self) -> &str {
        &self.model
    }

    /// Returns the body of a request.
    pub(super) fn body(&self, texts: &[&str], purpose: Purpose, overlong: Overlong) -> Value {
        match self.provider {
            Provider::OpenAi => self.openai(texts, purpose),
            Provider::Ollama => self.ollama(texts, overlong),
            Provider::Gemini => self.gemini(texts, purpose),
            Provider::Voyage => self.voyage(texts, purpose),
            Provider::Mistral => self.mistral(texts),
        }
    }

    fn openai(&self, texts: &[&str], purpose: Purpose) -> Value {
        let mut body = json!({ "model": self.model, "input": texts });
        if let Some(dimensions) = self.dimensions {
            body["dimensions"] = json!(dimensions);
        }
        if let Some(encoding) = self.encoding {
            body["encoding_format"] = json!(match encoding {
                Encoding::Float => "float",
                Encoding::Base64 => "base64",
            });
        }
        let input_type = match purpose {
            Purpose::Query => &self.query_input_type,
            Purpose::Document => &self.document_input_type,
        };
        if let Some(input_type) = input_type {
            body["input_type"] = json!(input_type);
        }
        body
    }

    fn ollama(&self, texts: &[&str], overlong: Overlong) -> Value {
        let truncate = overlong == Overlong::Cut;
        let mut body = json!({ "model": self.model, "input": texts, "truncate": truncate });
        if let Some(dimensions) = self.dimensions {
            body["dimensions"] = json!(dimensions);
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

    fn voyage(&self, texts: &[&str], purpose: Purpose) -> Value {
        let input_type = match purpose {
            Purpose::Query => "query",
            Purpose::Document => "document",
        };
        let mut body = json!({ "model": self.model, "input": texts, "input_type": input_type });
        if let Some(dimensions) = self.dimensions {
            body["output_dimension"] = json!(dimensions);
        }
        body
    }

    fn mistral(&self, texts: &[&str]) -> Value {
        let mut body = json!({ "model": self.model, "input": texts });
        if let Some(dimensions) = self.dimensions {
            body["output_dimension"] = json!(dimensions);
        }
        body
    }
}

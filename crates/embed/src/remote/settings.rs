//! The settings of a provider that the operator can choose.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

use crate::ApiKey;
use crate::remote::Provider;
use crate::remote::address::shown;

/// The settings of a provider. [`RemoteSettings::new`] holds the defaults.
#[derive(Clone)]
pub struct RemoteSettings {
    /// The provider.
    pub provider: Provider,
    /// The URL, with or without the version at its end. None: the provider's own address.
    pub url: Option<String>,
    /// The model. None: the provider's default.
    pub model: Option<String>,
    /// The dimensions, if the model leaves a choice. None: as many as the model makes.
    pub dimensions: Option<usize>,
    /// The key. A self-hosted server may not need one.
    pub key: Option<ApiKey>,
    /// Whether a plain `http` URL may lead to another machine.
    pub allow_http: bool,
    /// The requested number encoding, in OpenAI's protocol. None: base64 from OpenAI itself, and
    /// the default of any other server.
    pub encoding: Option<Encoding>,
    /// `input_type` of a query, for OpenAI-compatible servers with asymmetric models.
    pub query_input_type: Option<String>,
    /// `input_type` of a document, likewise.
    pub document_input_type: Option<String>,
    /// Texts in one request, at most. None: the known limit of the provider.
    pub max_batch: Option<usize>,
    /// Estimated tokens in one request, at most. A longer text is sent alone.
    pub batch_tokens: usize,
    /// Requests at the same time.
    pub concurrency: usize,
    /// How long connecting may take.
    pub connect_timeout: Duration,
    /// How long documents may wait for their vectors.
    pub patience: Patience,
    /// Time limit of a query: a user waits for the answer, and there are other ways to search.
    pub query_patience: Patience,
    /// How to wait between two tries.
    pub pause: Arc<dyn Pause>,
}

impl RemoteSettings {
    /// Returns the default settings for a provider, without a key.
    #[must_use]
    pub fn new(provider: Provider) -> Self {
        Self {
            provider,
            url: None,
            model: None,
            dimensions: None,
            key: None,
            allow_http: false,
            encoding: None,
            query_input_type: None,
            document_input_type: None,
            max_batch: None,
            batch_tokens: 8_000,
            concurrency: 4,
            connect_timeout: Duration::from_secs(10),
            patience: Patience {
                tries: 6,
                busy_tries: 14,
                request: Duration::from_secs(60),
                longest_wait: Duration::from_secs(120),
            },
            query_patience: Patience {
                tries: 2,
                busy_tries: 2,
                request: Duration::from_secs(15),
                longest_wait: Duration::from_secs(2),
            },
            pause: Arc::new(Sleep),
        }
    }
}

impl std::fmt::Debug for RemoteSettings {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // A URL may hold a password, and a key in its query.
        let url = self.url.as_deref().map(|url| {
            reqwest::Url::parse(url).map_or_else(|_| "not a URL".to_owned(), |url| shown(&url))
        });
        f.debug_struct("RemoteSettings")
            .field("provider", &self.provider)
            .field("url", &url)
            .field("model", &self.model)
            .field("dimensions", &self.dimensions)
            .field("key", &self.key)
            .finish_non_exhaustive()
    }
}

/// The encoding of numbers in OpenAI's protocol. Either is understood, whatever was requested.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// As numbers in JSON.
    Float,
    /// As base64 of 32-bit floats, a third of the size.
    Base64,
}

/// How long to wait for vectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Patience {
    /// How often a request without an answer is sent, at most.
    pub tries: u32,
    /// How often a request is sent while the provider reports that it is busy. Limits are often per
    /// minute, so this should be enough to outlast one.
    pub busy_tries: u32,
    /// How long one request may take, from the connection to the last byte.
    pub request: Duration,
    /// The longest wait between two tries that is granted to a provider.
    pub longest_wait: Duration,
}

/// How to wait. A program that can be interrupted provides its own.
pub trait Pause: Send + Sync {
    /// Waits this long. `Break` means that the vectors are no longer wanted.
    fn pause(&self, wait: Duration) -> ControlFlow<()>;
}

/// Waits by sleeping.
#[derive(Clone, Copy, Debug)]
pub struct Sleep;

impl Pause for Sleep {
    fn pause(&self, wait: Duration) -> ControlFlow<()> {
        std::thread::sleep(wait);
        ControlFlow::Continue(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_show_neither_key_nor_password_nor_query() {
        let mut settings = RemoteSettings::new(Provider::OpenAi);
        settings.url = Some("https://me:hunter2@example.org/v1?key=topsecret".to_owned());
        settings.key = ApiKey::new("sk-very-secret".to_owned()).ok();
        let text = format!("{settings:?}");
        for secret in ["hunter2", "topsecret", "sk-very", "me:"] {
            assert!(!text.contains(secret), "{text}");
        }
        assert!(text.contains("https://example.org/v1"), "{text}");
    }
}

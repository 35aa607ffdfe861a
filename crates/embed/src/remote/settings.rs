//! What the operator may decide about a provider.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

use crate::ApiKey;
use crate::remote::Provider;
use crate::remote::address::shown;

/// How a provider is asked. [`RemoteSettings::new`] holds the defaults.
#[derive(Clone)]
pub struct RemoteSettings {
    /// Who is asked.
    pub provider: Provider,
    /// Where, with or without the version at its end. None: the provider's own address.
    pub url: Option<String>,
    /// Which model. None: the provider's default.
    pub model: Option<String>,
    /// Numbers in a vector, where the model leaves a choice. None: as many as the model makes.
    pub dimensions: Option<usize>,
    /// The key. A server of one's own may do without.
    pub key: Option<ApiKey>,
    /// Whether a plain `http` URL may lead to another machine than this one.
    pub allow_http: bool,
    /// How numbers are asked for, in OpenAI's protocol. None: base64 from OpenAI itself, and
    /// whatever another server prefers.
    pub encoding: Option<Encoding>,
    /// `input_type` of a query, for OpenAI-compatible servers with asymmetric models.
    pub query_input_type: Option<String>,
    /// `input_type` of a document, likewise.
    pub document_input_type: Option<String>,
    /// Texts in one request, at most. None: what the provider is known to take.
    pub max_batch: Option<usize>,
    /// Estimated tokens in one request, at most. A longer text goes alone.
    pub batch_tokens: usize,
    /// Requests at the same time.
    pub concurrency: usize,
    /// How long a connection may take to come about.
    pub connect_timeout: Duration,
    /// How long documents may wait for their vectors.
    pub patience: Patience,
    /// Time limit of a query: a user waits for the answer, and there are other ways to search.
    pub query_patience: Patience,
    /// How to wait between two tries.
    pub pause: Arc<dyn Pause>,
}

impl RemoteSettings {
    /// Returns the settings that suit a provider, without a key.
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

/// How numbers travel in OpenAI's protocol. Either is understood, whatever was asked for.
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
    /// How often a request is made that is not answered, at most.
    pub tries: u32,
    /// How often while the provider says that it is busy. Limits are often by the minute, so that
    /// should be often enough to outlast one.
    pub busy_tries: u32,
    /// How long one request may take, from the connection to the last byte.
    pub request: Duration,
    /// The longest wait between two tries that a provider may ask for.
    pub longest_wait: Duration,
}

/// How to wait. A program that can be interrupted brings its own.
pub trait Pause: Send + Sync {
    /// Waits that long. `Break` says that the vectors are not wanted any more.
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

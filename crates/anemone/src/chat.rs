//! Asks a chat model, if the user configured one.
//!
//! Requests leave this machine, so only a configured endpoint is asked, and only over https unless
//! it is on this machine. The answer is untrusted text: its size is limited here, and its callers
//! treat it as untrusted.

use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anemone_embed::{ApiKey, KeyError, http_client, is_loopback};
use anemone_memory::ChatSettings;
use reqwest::blocking::{Client, Response};
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE};
use reqwest::{Url, redirect};
use serde_json::{Value as Json, json};

/// More than any answer that we ask for has.
const MAX_ANSWER_BYTES: u64 = 256 << 10;

/// Why a chat model gave no answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ChatError {
    /// The URL is none.
    #[error("the URL of the chat model is not a URL")]
    NotAUrl,
    /// The URL is of another protocol.
    #[error("the URL of the chat model is neither https nor http")]
    Scheme,
    /// Anybody on the way could read along.
    #[error("what is said would be sent to the chat model unencrypted")]
    Unencrypted,
    /// The file of the key is not there.
    #[error("the file of the chat model's key is not there")]
    NoKeyFile,
    /// The key cannot be used.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// The client cannot be made.
    #[error("the chat client cannot be made")]
    Client,
    /// The answer did not come in time.
    #[error("the chat model took too long")]
    Timeout,
    /// The endpoint does not answer.
    #[error("the chat model cannot be reached")]
    NotReached,
    /// The answer is an error. The server's message may repeat the key, so it is not reported.
    #[error("the chat model answered with status {0}")]
    Status(u16),
    /// The answer is not whole.
    #[error("the answer of the chat model broke off")]
    BrokenOff,
    /// The answer is longer than anything that was asked for.
    #[error("the answer of the chat model is too long")]
    TooLong,
    /// The answer is not that of a chat model.
    #[error("the chat model did not answer as one")]
    NoAnswer,
}

impl ChatError {
    /// Returns what to do about it.
    #[must_use]
    pub fn hint(&self) -> Option<&str> {
        match self {
            Self::Unencrypted => Some("use https, or a model on this machine"),
            Self::NoKeyFile => {
                Some("put the key into a file that only you can read, and give its path")
            }
            Self::Key(error) => error.hint(),
            _ => None,
        }
    }
}

/// A chat model, as the user named it.
#[derive(Clone, Debug, Default)]
pub struct ChatChoice {
    /// Where it is.
    pub url: Option<String>,
    /// What it is called.
    pub model: Option<String>,
    /// The file that holds the key to it.
    pub key_file: Option<PathBuf>,
    /// How long its answer may take.
    pub timeout: Option<Duration>,
}

impl ChatChoice {
    /// Returns the configured settings, unless a URL is given. Then only the timeout comes from the
    /// config, because a key is only for the endpoint that it was configured with.
    #[must_use]
    pub fn over(&self, configured: ChatSettings) -> ChatSettings {
        let timeout = self.timeout.unwrap_or(configured.timeout);
        match &self.url {
            None => ChatSettings { timeout, ..configured },
            Some(url) => ChatSettings {
                url: Some(url.clone()),
                model: self.model.clone(),
                key_file: self.key_file.clone(),
                timeout,
                allow_http: false,
            },
        }
    }
}

/// A chat model that can be asked.
pub struct Chat {
    client: Client,
    url: Url,
    model: Option<String>,
    key: Option<ApiKey>,
    timeout: Duration,
}

impl Chat {
    /// Returns the configured model, if there is one. No request is sent yet.
    pub fn of(settings: &ChatSettings) -> Result<Option<Self>, ChatError> {
        let Some(url) = &settings.url else { return Ok(None) };
        let url = endpoint(url, settings.allow_http)?;
        let key = settings.key_file.as_deref().map(key_in).transpose()?;
        let mut builder =
            http_client().redirect(redirect::Policy::none()).connect_timeout(settings.timeout);
        if url.scheme() == "http" {
            // Through a proxy a plain request could be read, and this machine needs none.
            builder = builder.no_proxy().tls_certs_only([]);
        }
        let client = builder.build().map_err(|_| ChatError::Client)?;
        let (model, timeout) = (settings.model.clone(), settings.timeout);
        Ok(Some(Self { client, url, model, key, timeout }))
    }

    /// Sends a request, and returns the model's answer.
    pub fn ask(&self, system: &str, user: &str, most_tokens: u32) -> Result<String, ChatError> {
        let mut body = json!({
            "messages": [
                { "role": "system", "content": system },
                { "role": "user", "content": user },
            ],
            "max_tokens": most_tokens,
            "temperature": 0,
            "stream": false,
        });
        if let Some(model) = &self.model {
            body["model"] = json!(model);
        }
        let request = self.client.post(self.url.clone()).timeout(self.timeout);
        let mut request = request.header(CONTENT_TYPE, "application/json").body(body.to_string());
        if let Some(value) = self.key.as_ref().and_then(ApiKey::authorization) {
            request = request.header(AUTHORIZATION, value);
        }
        let response = request.send().map_err(|error| {
            if error.is_timeout() { ChatError::Timeout } else { ChatError::NotReached }
        })?;
        if !response.status().is_success() {
            return Err(ChatError::Status(response.status().as_u16()));
        }
        said_in(response)
    }
}

fn said_in(response: Response) -> Result<String, ChatError> {
    let mut bytes = Vec::new();
    let read = response.take(MAX_ANSWER_BYTES + 1).read_to_end(&mut bytes);
    read.map_err(|_| ChatError::BrokenOff)?;
    if bytes.len() as u64 > MAX_ANSWER_BYTES {
        return Err(ChatError::TooLong);
    }
    let json: Json = serde_json::from_slice(&bytes).unwrap_or_default();
    let said = json.pointer("/choices/0/message/content").and_then(Json::as_str);
    let said = said.ok_or(ChatError::NoAnswer)?;
    Ok(said.to_owned())
}

/// Returns where questions are sent. People give URLs with and without the version.
fn endpoint(base: &str, allow_http: bool) -> Result<Url, ChatError> {
    let mut url = Url::parse(base).map_err(|_| ChatError::NotAUrl)?;
    let is_plain = match url.scheme() {
        "https" => false,
        "http" => true,
        _ => return Err(ChatError::Scheme),
    };
    if is_plain && !allow_http && !is_loopback(&url) {
        return Err(ChatError::Unencrypted);
    }
    url.set_fragment(None);
    let segments: Vec<String> =
        url.path_segments().into_iter().flatten().map(str::to_owned).collect();
    let is_version = |text: &String| {
        text.strip_prefix('v').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
    };
    let mut tail: Vec<&str> = Vec::new();
    if !segments.iter().any(is_version) {
        tail.push("v1");
    }
    if !segments.iter().any(|segment| segment == "completions") {
        tail.extend(["chat", "completions"]);
    } else {
        tail.clear();
    }
    if let Ok(mut path) = url.path_segments_mut() {
        path.pop_if_empty().extend(tail);
    }
    Ok(url)
}

/// Reads the key. The name of a missing key file is not reported, because people write the key
/// itself there.
fn key_in(path: &Path) -> Result<ApiKey, ChatError> {
    if fs_err::symlink_metadata(path).is_err() {
        return Err(ChatError::NoKeyFile);
    }
    Ok(ApiKey::from_file(path)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_may_end_with_the_version_or_before_it() {
        for base in [
            "https://example.org",
            "https://example.org/",
            "https://example.org/v1",
            "https://example.org/v1/",
            "https://example.org/v1/chat/completions",
        ] {
            let url = endpoint(base, false).unwrap();
            assert_eq!(url.as_str(), "https://example.org/v1/chat/completions", "{base}");
        }
        let local = endpoint("http://[::1]:11434/v1", false).unwrap();
        assert_eq!(local.as_str(), "http://[::1]:11434/v1/chat/completions");
    }

    #[test]
    fn plain_http_stays_on_this_machine_unless_it_is_allowed() {
        for base in ["http://example.org", "http://10.0.0.1", "file:///x", "example.org"] {
            assert!(endpoint(base, false).is_err(), "{base}");
        }
        assert!(endpoint("http://10.0.0.1", true).is_ok());
        assert!(endpoint("http://127.0.0.1:1", false).is_ok());
    }

    #[test]
    fn a_key_is_not_sent_to_another_place_than_it_was_settled_for() {
        let settled = ChatSettings {
            url: Some("https://example.org".to_owned()),
            key_file: Some("key".into()),
            allow_http: true,
            ..ChatSettings::default()
        };
        let choice = ChatChoice {
            url: Some("http://localhost:1".to_owned()),
            timeout: Some(Duration::from_secs(3)),
            ..ChatChoice::default()
        };
        let settings = choice.over(settled);
        assert_eq!((settings.key_file, settings.allow_http), (None, false));
        assert_eq!(settings.timeout, Duration::from_secs(3));
    }
}

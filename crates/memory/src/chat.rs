//! The endpoint of a chat model, if one is configured; this module sends no requests.

use std::path::PathBuf;
use std::time::Duration;

/// A chat endpoint that speaks OpenAI's protocol.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChatSettings {
    /// Its URL, with or without `/v1`; `None`: no model is asked.
    pub url: Option<String>,
    /// The model; many servers of one model need none.
    pub model: Option<String>,
    /// The file that holds the key.
    pub key_file: Option<PathBuf>,
    /// How long an answer may take, all in all.
    pub timeout: Duration,
    /// Whether texts may be sent unencrypted to another machine.
    pub allow_http: bool,
}

impl Default for ChatSettings {
    fn default() -> Self {
        Self {
            url: None,
            model: None,
            key_file: None,
            timeout: Duration::from_secs(10),
            allow_http: false,
        }
    }
}

//! Why a provider made no vectors.
//!
//! A provider's message is only shown after [`Secrets`](super::scrub::Secrets) has removed secrets,
//! and only those parts of a URL that [`shown`](super::address::shown) keeps.

use std::time::Duration;

use crate::remote::Provider;
use crate::remote::answer::AnswerError;

/// Why a provider made no vectors. None of the messages holds any of the key.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RemoteError {
    /// The URL cannot be read. It is not repeated: it may hold a password.
    #[error("the embedder's URL is not valid")]
    Url(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// The URL is neither `http` nor `https`.
    #[error("the embedder's URL starts with {0}, not with https")]
    Scheme(String),
    /// Texts and key would cross a network unencrypted.
    #[error("{0} is plain http to another machine")]
    Plain(String),
    /// The provider requires a key.
    #[error("{} needs a key", .0.name())]
    NoKey(Provider),
    /// The URL holds a user, and there is a key for the same header.
    #[error("both a key and a user in the URL: only one of them can be sent")]
    TwoKeys,
    /// The name of the model is empty or longer than any.
    #[error("the name of the model is empty, too long or not printable")]
    Model,
    /// No model makes vectors of this size.
    #[error("cannot request vectors of {asked} numbers")]
    Dimensions {
        /// The size.
        asked: usize,
    },
    /// The HTTP client could not be created, for example without root certificates.
    #[error("the HTTP client cannot start")]
    Client(#[source] reqwest::Error),
    /// The system cannot start a thread for the requests.
    #[error("cannot start a thread")]
    Threads(#[source] std::io::Error),
    /// The size of the model's vectors is not known yet.
    #[error("the size of the model's vectors is unknown until the model has been asked once")]
    NotConnected,
    /// No connection, or the connection broke.
    #[error("{url} cannot be reached ({tries} tries)")]
    Unreachable {
        /// Where.
        url: String,
        /// How often it was tried.
        tries: u32,
        /// Why.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// No answer in time.
    #[error("{url} did not answer within {} s ({tries} tries)", .limit.as_secs_f32())]
    TimedOut {
        /// Where.
        url: String,
        /// How often it was tried.
        tries: u32,
        /// How long each time.
        limit: Duration,
    },
    /// It is overloaded or broken, and stayed so.
    #[error("{url} answered {status} ({tries} tries): {message}")]
    Busy {
        /// Where.
        url: String,
        /// The HTTP status.
        status: u16,
        /// How often it was tried.
        tries: u32,
        /// What it said.
        message: String,
    },
    /// It asks for a longer wait than is allowed.
    #[error("{url} answered {status} and wants to be asked again in {} s", .wait.as_secs())]
    WaitTooLong {
        /// Where.
        url: String,
        /// The HTTP status.
        status: u16,
        /// How long it wants us to wait.
        wait: Duration,
    },
    /// The key is wrong, or lacks the permission.
    #[error("{url} refused the key ({status}): {message}")]
    Denied {
        /// Where.
        url: String,
        /// The HTTP status.
        status: u16,
        /// What it said.
        message: String,
    },
    /// The address or the model may not exist.
    #[error("{url} does not know this address or model: {message}")]
    Missing {
        /// Where.
        url: String,
        /// What it said.
        message: String,
        /// The provider, for the hint.
        provider: Provider,
    },
    /// The quota of the account is used up.
    #[error("the account at {url} has no quota left ({status}): {message}")]
    Quota {
        /// Where.
        url: String,
        /// The HTTP status.
        status: u16,
        /// What it said.
        message: String,
    },
    /// The request was rejected.
    #[error("{url} rejected the request ({status}): {message}")]
    Rejected {
        /// Where.
        url: String,
        /// The HTTP status.
        status: u16,
        /// What it said.
        message: String,
    },
    /// Even the beginning of a text is too long.
    #[error("{url} rejects even the shortest text ({status}): {message}")]
    TooLong {
        /// Where.
        url: String,
        /// The HTTP status.
        status: u16,
        /// What it said.
        message: String,
    },
    /// Redirects are not followed: they would carry texts and key elsewhere.
    #[error("{url} answered {status} and points to {to}")]
    Redirected {
        /// Where.
        url: String,
        /// The HTTP status.
        status: u16,
        /// Where it points, without the query.
        to: String,
    },
    /// The answer is larger than vectors can be. The rest was not read.
    #[error("{url} sent more than {limit} bytes")]
    Body {
        /// Where.
        url: String,
        /// The limit that should have been enough.
        limit: u64,
    },
    /// The answer was read, but is wrong.
    #[error("the answer of {url} cannot be used")]
    Answer {
        /// Where.
        url: String,
        /// Why.
        source: AnswerError,
    },
    /// The caller cancelled the request.
    #[error("interrupted")]
    Interrupted,
}

impl RemoteError {
    /// What the operator can do about it.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::Plain(_) => "use https, or allow this URL with `allow_http = true` in the config",
            Self::NoKey(provider) => {
                return provider.key_variable().map(|name| format!("set {name}"));
            }
            Self::TwoKeys => "leave one of them out",
            Self::Client(_) => "are there root certificates on this machine?",
            Self::Denied { .. } => "check the key, and that it may use this model",
            Self::Missing { provider: Provider::Ollama, .. } => {
                "check the URL, and fetch the model with `ollama pull`"
            }
            Self::Missing { .. } => "check the URL and the name of the model",
            Self::Quota { .. } => "check plan and billing at the provider, or use another embedder",
            Self::WaitTooLong { .. } | Self::Busy { .. } => "try again later",
            Self::Unreachable { .. } | Self::TimedOut { .. } => {
                "check the URL and that the server runs"
            }
            Self::Answer { source: AnswerError::Dimensions { .. }, .. } => {
                "name the model that the server runs, or set its `dimensions` in the config"
            }
            Self::Answer { .. } => "check the URL: this is not how the provider answers",
            Self::Redirected { .. } => "give the URL that it points to, if you trust it",
            _ => return None,
        };
        Some(hint.to_owned())
    }
}

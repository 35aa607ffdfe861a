//! One HTTP request, and at most as much of the answer as a valid one can have.

use std::io::Read as _;
use std::time::Duration;

use jiff::fmt::rfc2822;
use reqwest::blocking::{Client, RequestBuilder, Response};
use reqwest::header::{
    AUTHORIZATION, CONTENT_TYPE, DATE, HeaderMap, HeaderName, HeaderValue, LOCATION, RETRY_AFTER,
};
use reqwest::{Url, redirect};

use crate::ApiKey;
use crate::http_client;
use crate::remote::address::shown;
use crate::remote::{Provider, RemoteError, RemoteSettings};

/// Bytes of an error that are read, at most.
const ERROR_LIMIT: u64 = 64 * 1024;
/// Bytes of an answer, at most, however many vectors it holds.
const ANSWER_LIMIT: u64 = 256 * 1024 * 1024;
/// Bytes of one number in JSON, with all its digits and whitespace, generously.
const NUMBER_BYTES: u64 = 32;

/// Creates the client. No request is made yet, but root certificates may be read.
///
/// Proxies in the environment are only used for https: a proxy could read a plain request, and
/// requests to this machine need none.
pub(super) fn client(settings: &RemoteSettings, url: &Url) -> Result<Client, RemoteError> {
    let mut builder =
        http_client().redirect(redirect::Policy::none()).connect_timeout(settings.connect_timeout);
    if url.scheme() == "http" {
        builder = builder.no_proxy().tls_certs_only([]);
    }
    builder.build().map_err(|source| RemoteError::Client(source.without_url()))
}

/// The headers of a request, including the key.
pub(super) fn headers(provider: Provider, key: Option<&ApiKey>) -> HeaderMap {
    let mut headers = HeaderMap::new();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    let Some(key) = key else {
        return headers;
    };
    let (name, value) = match provider {
        Provider::Gemini => (HeaderName::from_static("x-goog-api-key"), key.header("")),
        Provider::OpenAi | Provider::Ollama | Provider::Voyage | Provider::Mistral => {
            (AUTHORIZATION, key.authorization())
        }
    };
    headers.extend(value.map(|value| (name, value)));
    headers
}

/// The most bytes that this many vectors can need.
pub(super) fn answer_limit(texts: usize, dimensions: usize) -> u64 {
    let numbers = (texts as u64).saturating_mul(dimensions as u64);
    numbers.saturating_mul(NUMBER_BYTES).saturating_add(64 * 1024).min(ANSWER_LIMIT)
}

/// What came back.
pub(super) enum Reply {
    /// The body of a good answer.
    Good(Vec<u8>),
    /// Where a redirect points to, without what may be secret.
    Elsewhere { status: u16, to: String },
    /// An error of the provider.
    Bad { status: u16, wait: Option<Duration>, body: Vec<u8> },
}

/// Why nothing came back.
pub(super) enum SendError {
    /// Not in time.
    TimedOut,
    /// No connection, or the connection broke.
    Broken(Box<dyn std::error::Error + Send + Sync>),
    /// More than vectors can need.
    TooLarge,
}

/// Sends one request and reads the answer, up to the limit.
pub(super) fn send(request: RequestBuilder, url: &Url, limit: u64) -> Result<Reply, SendError> {
    let response = request.send().map_err(|error| {
        if error.is_timeout() {
            SendError::TimedOut
        } else {
            SendError::Broken(Box::new(error.without_url()))
        }
    })?;
    let status = response.status();
    if status.is_redirection() {
        let to = points_to(url, response.headers());
        return Ok(Reply::Elsewhere { status: status.as_u16(), to });
    }
    if !status.is_success() {
        let wait = retry_after(response.headers());
        // If the message cannot be read, the status is enough.
        let body = read(response, ERROR_LIMIT).unwrap_or_default();
        return Ok(Reply::Bad { status: status.as_u16(), wait, body });
    }
    if response.content_length().is_some_and(|length| length > limit) {
        return Err(SendError::TooLarge);
    }
    let body = read(response, limit + 1)?;
    if body.len() as u64 > limit {
        return Err(SendError::TooLarge);
    }
    Ok(Reply::Good(body))
}

fn read(response: Response, limit: u64) -> Result<Vec<u8>, SendError> {
    let mut body = Vec::new();
    response.take(limit).read_to_end(&mut body).map_err(|error| {
        let inner = error.get_ref().and_then(|inner| inner.downcast_ref::<reqwest::Error>());
        if inner.is_some_and(reqwest::Error::is_timeout) {
            SendError::TimedOut
        } else {
            SendError::Broken(Box::new(error))
        }
    })?;
    Ok(body)
}

fn points_to(url: &Url, headers: &HeaderMap) -> String {
    let target = headers.get(LOCATION).and_then(|value| value.to_str().ok());
    target
        .and_then(|target| url.join(target).ok())
        .map_or_else(|| "an unknown place".to_owned(), |target| shown(&target))
}

/// How long the provider wants us to wait: seconds, or a date, which is compared with the
/// provider's own clock.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let text = |name| headers.get(name).and_then(|value: &HeaderValue| value.to_str().ok());
    let value = text(RETRY_AFTER)?.trim();
    if let Ok(seconds) = value.parse::<u32>() {
        return Some(Duration::from_secs(seconds.into()));
    }
    let parse = |text: &str| rfc2822::DateTimeParser::new().parse_timestamp(text).ok();
    let (then, now) = (parse(value)?, parse(text(DATE)?)?);
    Some(Duration::try_from(then.duration_since(now)).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(retry_after_value: &str, date: Option<&str>, expected: Option<u64>) {
        let mut headers = HeaderMap::new();
        headers.insert(RETRY_AFTER, HeaderValue::from_str(retry_after_value).unwrap());
        if let Some(date) = date {
            headers.insert(DATE, HeaderValue::from_str(date).unwrap());
        }
        assert_eq!(retry_after(&headers), expected.map(Duration::from_secs));
    }

    #[test]
    fn a_wait_is_given_in_seconds_or_as_a_date() {
        let date = Some("Sun, 15 Nov 2026 10:00:00 GMT");
        check("7", None, Some(7));
        check("0", None, Some(0));
        check("Sun, 15 Nov 2026 10:00:42 GMT", date, Some(42));
        check("Sun, 15 Nov 2026 09:59:00 GMT", date, Some(0));
        check("Sun, 15 Nov 2026 10:00:42 GMT", None, None);
        for nonsense in ["-3", "soon", "99999999999999999999", "NaN", ""] {
            check(nonsense, date, None);
        }
    }

    #[test]
    fn the_limit_grows_with_the_batch_and_ends() {
        assert_eq!(answer_limit(0, 1536), 64 * 1024);
        assert_eq!(answer_limit(10, 1000), 64 * 1024 + 320_000);
        assert_eq!(answer_limit(usize::MAX, usize::MAX), ANSWER_LIMIT);
    }

    #[test]
    fn the_key_in_the_headers_does_not_show() {
        let key = ApiKey::new("sk-very-secret".to_owned()).unwrap();
        for provider in Provider::ALL {
            let headers = headers(provider, Some(&key));
            assert_eq!(headers.len(), 2);
            assert!(!format!("{headers:?}").contains("secret"));
        }
    }
}

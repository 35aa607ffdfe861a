//! The answers to rejected requests, and the headers of every answer.

use std::time::Duration;

use bytes::Bytes;
use http::header::{self, HeaderName, HeaderValue};
use http::{HeaderMap, Response, StatusCode};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt as _, Full};

use crate::message::Problem;

/// An answer, possibly an endless one.
pub(super) type Answer = Response<BoxBody<Bytes, std::convert::Infallible>>;

/// Why a request is not answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refused {
    /// A header that identifies the client occurs more than once, or is not text.
    Unclear,
    /// It was sent to another name.
    Host,
    /// A page sent it.
    Origin,
    /// There is nothing at this path.
    Path,
    /// The token is missing or wrong.
    Token,
    /// Too much was asked in too short a time.
    TooMany(Duration),
    /// It is not said to be JSON.
    MediaType,
    /// It is no message.
    Message(Problem),
    /// It is larger than a request may be.
    TooLarge,
    /// It did not come in time, or not whole.
    Incomplete,
}

impl Refused {
    fn status(self) -> StatusCode {
        match self {
            Self::Unclear | Self::Message(_) => StatusCode::BAD_REQUEST,
            Self::Host | Self::Origin => StatusCode::FORBIDDEN,
            Self::Path => StatusCode::NOT_FOUND,
            Self::Token => StatusCode::UNAUTHORIZED,
            Self::TooMany(_) => StatusCode::TOO_MANY_REQUESTS,
            Self::MediaType => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            Self::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
            Self::Incomplete => StatusCode::REQUEST_TIMEOUT,
        }
    }

    fn message(self) -> &'static str {
        match self {
            Self::Unclear => {
                "Host must be there once; Host, Origin, Authorization and Sec-Fetch-Site not twice"
            }
            Self::Host => "this server is not called by that name",
            Self::Origin => "pages of this origin may not call this server",
            Self::Path => "this is an MCP server; its clients call /mcp",
            Self::Token => "a token is needed, as Authorization: Bearer TOKEN",
            Self::TooMany(_) => "too many requests; wait as long as Retry-After says",
            Self::MediaType => "a request must be application/json",
            Self::Message(problem) => problem.message(),
            Self::TooLarge => "the request is too large",
            Self::Incomplete => "the request did not come whole in time",
        }
    }

    /// Turns it into an answer, after which the connection ends: a stranger does not keep one.
    pub(super) fn answer(self) -> Answer {
        let mut answer = plain(self.status(), self.message());
        let headers = answer.headers_mut();
        headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
        match self {
            Self::Token => {
                headers.insert(
                    header::WWW_AUTHENTICATE,
                    HeaderValue::from_static("Bearer realm=\"anemone\""),
                );
            }
            Self::TooMany(wait) => {
                let seconds = wait.as_secs() + u64::from(wait.subsec_nanos() > 0);
                headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds.max(1)));
            }
            Self::Message(problem) => {
                headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
                *answer.body_mut() = Full::from(problem.answer(None).to_string()).boxed();
            }
            Self::Unclear
            | Self::Host
            | Self::Origin
            | Self::Path
            | Self::MediaType
            | Self::TooLarge
            | Self::Incomplete => {}
        }
        answer
    }
}

/// Answers the preflight request of a browser for a page of a listed origin.
pub(super) fn preflight() -> Answer {
    let mut answer = plain(StatusCode::NO_CONTENT, "");
    let headers = answer.headers_mut();
    headers.remove(header::CONTENT_TYPE);
    for (name, value) in [
        (header::ACCESS_CONTROL_ALLOW_METHODS, "GET, POST, DELETE"),
        (
            header::ACCESS_CONTROL_ALLOW_HEADERS,
            "authorization, content-type, last-event-id, mcp-method, mcp-name, \
             mcp-protocol-version, mcp-session-id",
        ),
        (header::ACCESS_CONTROL_MAX_AGE, "600"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    answer
}

/// Adds what tells browsers to do nothing with an answer, and lets the page of a listed origin
/// read it.
pub(super) fn harden(headers: &mut HeaderMap, page: Option<HeaderValue>) {
    for (name, value) in [
        (header::CACHE_CONTROL, "no-store"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::CONTENT_SECURITY_POLICY, "default-src 'none'; frame-ancestors 'none'"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
        (header::VARY, "Origin"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    if let Some(page) = page {
        headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, page);
        headers.insert(
            header::ACCESS_CONTROL_EXPOSE_HEADERS,
            HeaderValue::from_static("mcp-session-id"),
        );
    }
}

fn plain(status: StatusCode, text: &'static str) -> Answer {
    let mut answer = Response::new(Full::new(Bytes::from_static(text.as_bytes())).boxed());
    *answer.status_mut() = status;
    answer
        .headers_mut()
        .insert(header::CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    answer
}

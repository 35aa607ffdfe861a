//! What becomes of one request.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::header::{self, HeaderValue};
use http::request::Parts;
use http::{Method, Request, StatusCode};
use http_body_util::{BodyExt as _, Full, LengthLimitError, Limited};
use hyper::body::{Body as _, Incoming};
use rmcp::ServerHandler;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use serde::de::IgnoredAny;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::HttpSettings;
use super::answers::{Answer, Refused, harden, preflight};
use super::bucket::Bucket;
use super::door::Door;
use super::guests::Guest;
use super::sessions::Sessions;
use crate::settings::ServeError;

const PATH: &str = "/mcp";

/// How many wrong tokens a second are looked at. No rate would do to guess one; but whoever tries
/// is told to wait.
const WRONG_TOKENS_PER_SECOND: u32 = 5;

/// Takes requests, and hands those that may come in to the protocol.
pub(super) struct Front<H> {
    door: Door,
    wrong_tokens: Bucket,
    calls: Bucket,
    max_body_bytes: usize,
    longest_body: Duration,
    service: StreamableHttpService<H, Sessions>,
    sessions: Arc<Sessions>,
}

/// What someone at the door is let in for.
enum Admitted {
    Preflight,
    Call,
}

impl<H: ServerHandler + Send + 'static> Front<H> {
    /// Returns the front of a server that listens there. Streams end with `streams`.
    pub(super) fn new(
        settings: &HttpSettings,
        listens: SocketAddr,
        sessions: Sessions,
        longest_body: Duration,
        streams: CancellationToken,
        handler: impl Fn() -> H + Send + Sync + 'static,
    ) -> Result<Self, ServeError> {
        let door = Door::new(settings, listens)?;
        let sessions = Arc::new(sessions);
        // The door has asked already; nothing is to depend on it alone.
        let config = StreamableHttpServerConfig::default()
            .with_allowed_hosts(door.hosts())
            .with_allowed_origins(door.origins())
            .enforce_origin_validation()
            .with_max_request_body_bytes(settings.max_body_bytes)
            .with_json_response(true)
            .with_cancellation_token(streams);
        let now = Instant::now();
        Ok(Self {
            door,
            wrong_tokens: Bucket::new(WRONG_TOKENS_PER_SECOND, now),
            calls: Bucket::new(settings.requests_per_second, now),
            max_body_bytes: settings.max_body_bytes,
            longest_body,
            service: StreamableHttpService::new(
                move || Ok(handler()),
                Arc::clone(&sessions),
                config,
            ),
            sessions,
        })
    }

    /// Answers a request of a guest.
    pub(super) async fn answer(&self, request: Request<Incoming>, guest: &Guest) -> Answer {
        guest.asks();
        let (parts, body) = request.into_parts();
        let caller = self.door.caller(&parts);
        let page = caller.as_ref().ok().cloned().flatten();
        let admitted = caller.and_then(|page| self.admit(&parts, page.is_some()));
        let mut answer = match admitted {
            Ok(Admitted::Preflight) => preflight(),
            Ok(Admitted::Call) => {
                guest.is_known();
                match self.whole(parts, body).await {
                    Ok(request) => self.call(request).await,
                    Err(refused) => refused.answer(),
                }
            }
            Err(refused) => refused.answer(),
        };
        harden(answer.headers_mut(), page);
        answer
    }

    async fn call(&self, request: Request<Full<Bytes>>) -> Answer {
        let ends_session = request.method() == Method::DELETE;
        let mut answer = self.service.handle(request).await;
        // It is over by now, and clients take "accepted" for a failure.
        if ends_session && answer.status() == StatusCode::ACCEPTED {
            *answer.status_mut() = StatusCode::NO_CONTENT;
        }
        answer
    }

    /// Ends all sessions.
    pub(super) async fn close(&self) {
        self.sessions.close().await;
    }

    fn admit(&self, request: &Parts, page: bool) -> Result<Admitted, Refused> {
        if request.uri.path() != PATH {
            return Err(Refused::Path);
        }
        if request.method == Method::OPTIONS {
            // A browser asks before it sends the token, and only pages need to ask.
            return page.then_some(Admitted::Preflight).ok_or(Refused::Origin);
        }
        let opened = self.door.opens(&request.headers);
        if opened == Err(Refused::Token) {
            self.wrong_tokens.take(Instant::now()).map_err(Refused::TooMany)?;
        }
        opened.map(|()| Admitted::Call)
    }

    /// Waits until a request is there as a whole, within limits.
    async fn whole(
        &self,
        mut parts: Parts,
        body: Incoming,
    ) -> Result<Request<Full<Bytes>>, Refused> {
        self.calls.take(Instant::now()).map_err(Refused::TooMany)?;
        if parts.method != Method::POST {
            return Ok(Request::from_parts(parts, Full::default()));
        }
        if !is_json(parts.headers.get(header::CONTENT_TYPE)) {
            return Err(Refused::MediaType);
        }
        parts.headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        let announced = body.size_hint().lower();
        if usize::try_from(announced).map_or(true, |bytes| bytes > self.max_body_bytes) {
            return Err(Refused::TooLarge);
        }
        let reading = Limited::new(body, self.max_body_bytes).collect();
        let body = tokio::time::timeout(self.longest_body, reading)
            .await
            .map_err(|_| Refused::Incomplete)?
            .map_err(|error| {
                if error.is::<LengthLimitError>() { Refused::TooLarge } else { Refused::Incomplete }
            })?
            .to_bytes();
        serde_json::from_slice::<IgnoredAny>(&body).map_err(|_| Refused::NotJson)?;
        Ok(Request::from_parts(parts, Full::new(body)))
    }
}

fn is_json(media_type: Option<&HeaderValue>) -> bool {
    media_type
        .and_then(|value| value.to_str().ok())
        .and_then(|value| value.split(';').next())
        .is_some_and(|essence| essence.trim().eq_ignore_ascii_case("application/json"))
}

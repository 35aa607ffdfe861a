//! What becomes of one request.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http::header::{self, HeaderName, HeaderValue};
use http::request::Parts;
use http::{Method, Request, StatusCode};
use http_body_util::{BodyExt as _, Full};
use hyper::body::{Body as _, Incoming};
use rmcp::ServerHandler;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::HttpSettings;
use super::answers::{Answer, Refused, harden, preflight};
use super::bucket::Bucket;
use super::door::Door;
use super::guesses::Guesses;
use super::guests::Guest;
use super::server::Limits;
use super::sessions::Sessions;
use super::streams::{Stream, Streams};
use crate::message;
use crate::settings::ServeError;

const PATH: &str = "/mcp";

const SESSION_ID: HeaderName = HeaderName::from_static("mcp-session-id");

const METHOD: HeaderName = HeaderName::from_static("mcp-method");

/// Requests up to this size do not wait: even for all connections together they take little memory.
const USUAL_BYTES: usize = 64 << 10;

/// In what large requests are counted.
const UNIT: usize = 1 << 10;

/// When to try again where all streams are taken.
const STREAMS_AGAIN: Duration = Duration::from_secs(1);

/// Takes requests, and hands those that may come in to the protocol.
pub(super) struct Front<H> {
    door: Door,
    guesses: Guesses,
    calls: Bucket,
    streams: Streams,
    max_body_bytes: usize,
    longest_body: Duration,
    /// Room for large requests.
    large: Arc<Semaphore>,
    large_units: usize,
    service: StreamableHttpService<H, Sessions>,
    sessions: Arc<Sessions>,
}

/// What someone at the door is let in for.
enum Admission {
    Preflight,
    Call,
}

impl<H: ServerHandler + Send + 'static> Front<H> {
    /// Returns the front of a server that listens there. Streams end with `ending`.
    pub(super) fn new(
        settings: &HttpSettings,
        listens: SocketAddr,
        sessions: Sessions,
        limits: &Limits,
        ending: CancellationToken,
        handler: impl Fn() -> H + Send + Sync + 'static,
    ) -> Result<Self, ServeError> {
        let door = Door::new(settings, listens)?;
        let sessions = Arc::new(sessions);
        // The door has checked this already, but nothing should depend on it alone.
        let config = StreamableHttpServerConfig::default()
            .with_allowed_hosts(door.hosts())
            .with_allowed_origins(door.origins())
            .enforce_origin_validation()
            .with_max_request_body_bytes(settings.max_body_bytes)
            .with_json_response(true)
            .with_cancellation_token(ending);
        // One request of the largest size always fits.
        let large_units = limits.large_bytes.max(settings.max_body_bytes).div_ceil(UNIT);
        Ok(Self {
            door,
            guesses: Guesses::default(),
            calls: Bucket::new(settings.requests_per_second, limits.turn, Instant::now()),
            streams: Streams::new(limits.streams, limits.streams_of_session),
            max_body_bytes: settings.max_body_bytes,
            longest_body: limits.body,
            large: Arc::new(Semaphore::new(large_units)),
            large_units,
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
        let admitted = caller.and_then(|page| self.admit(&parts, page.is_some(), guest));
        let mut answer = match admitted {
            Ok(Admission::Preflight) => preflight(),
            Ok(Admission::Call) => match self.admitted(parts, body).await {
                Ok(answer) => answer,
                Err(refused) => refused.answer(),
            },
            Err(refused) => refused.answer(),
        };
        harden(answer.headers_mut(), page);
        answer
    }

    /// Answers a request that may come in, when it is its turn and all of it is there.
    async fn admitted(&self, parts: Parts, body: Incoming) -> Result<Answer, Refused> {
        let ends_session = parts.method == Method::DELETE;
        // A client that leaves makes room for others.
        if !ends_session {
            let wait = self.calls.take(Instant::now()).map_err(Refused::TooMany)?;
            tokio::time::sleep(wait).await;
        }
        // Before it begins, so that a surplus stream does not displace another.
        let stream = lasts(&parts).then(|| {
            let session = parts.headers.get(&SESSION_ID).and_then(|header| header.to_str().ok());
            self.streams.begin(session).ok_or(Refused::TooMany(STREAMS_AGAIN))
        });
        let stream = stream.transpose()?;
        let (request, room) = self.whole(parts, body).await?;
        let mut answer = self.service.handle(request).await;
        drop(room);
        if let Some(stream) = stream.filter(|_| is_stream(&answer)) {
            return Ok(counted(answer, stream));
        }
        // It is over by now, and clients take "accepted" for a failure.
        if ends_session && answer.status() == StatusCode::ACCEPTED {
            *answer.status_mut() = StatusCode::NO_CONTENT;
        }
        Ok(answer)
    }

    /// Ends all sessions.
    pub(super) async fn close(&self) {
        self.sessions.close().await;
    }

    fn admit(&self, request: &Parts, page: bool, guest: &Guest) -> Result<Admission, Refused> {
        if request.uri.path() != PATH {
            return Err(Refused::Path);
        }
        if request.method == Method::OPTIONS {
            // A browser asks before it sends the token, and only pages need to ask.
            return page.then_some(Admission::Preflight).ok_or(Refused::Origin);
        }
        let shown = self.door.shown(&request.headers)?;
        let session = request.headers.get(&SESSION_ID).and_then(|header| header.to_str().ok());
        let is_vouched_for =
            guest.knows_token() || session.is_some_and(|id| self.sessions.vouches(id));
        let now = Instant::now();
        if !is_vouched_for {
            self.guesses.begin(guest.from, now).map_err(Refused::TooMany)?;
        }
        let is_right = self.door.opens(shown);
        guest.showed_token(is_right);
        match (is_right, is_vouched_for) {
            (true, true) => {}
            (true, false) => self.guesses.was_right(guest.from, now),
            (false, true) => {
                session.into_iter().for_each(|id| self.sessions.doubt(id));
                self.guesses.was_wrong(guest.from, now);
            }
            (false, false) => {}
        }
        is_right.then_some(Admission::Call).ok_or(Refused::Token)
    }

    /// Waits until a request is received completely, within limits. The second value must be kept
    /// until the request is answered.
    async fn whole(
        &self,
        mut parts: Parts,
        body: Incoming,
    ) -> Result<(Request<Full<Bytes>>, Option<OwnedSemaphorePermit>), Refused> {
        if parts.method != Method::POST {
            return Ok((Request::from_parts(parts, Full::default()), None));
        }
        if !is_json(parts.headers.get(header::CONTENT_TYPE)) {
            return Err(Refused::MediaType);
        }
        parts.headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        let announced = usize::try_from(body.size_hint().lower()).unwrap_or(usize::MAX);
        if announced > self.max_body_bytes {
            return Err(Refused::TooLarge);
        }
        let most = match body.size_hint().exact() {
            Some(_) => announced,
            None => self.max_body_bytes,
        };
        let reading = async {
            let room = self.room(most).await;
            let body = read(body, announced, self.max_body_bytes).await?;
            Ok::<_, Refused>((body, room))
        };
        let (body, room) = tokio::time::timeout(self.longest_body, reading)
            .await
            .map_err(|_| Refused::Incomplete)??;
        // The protocol parses it again, but a hostile message never gets that far.
        message::read(&body).map_err(|rejected| Refused::Message(rejected.problem))?;
        Ok((Request::from_parts(parts, Full::new(body)), room))
    }

    /// Waits until this much more memory may be held.
    async fn room(&self, bytes: usize) -> Option<OwnedSemaphorePermit> {
        if bytes <= USUAL_BYTES {
            return None;
        }
        let units = u32::try_from(bytes.div_ceil(UNIT).min(self.large_units)).ok()?;
        // The semaphore is never closed.
        Arc::clone(&self.large).acquire_many_owned(units).await.ok()
    }
}

/// Reads a body into one piece of memory, which goes back as one.
async fn read(mut body: Incoming, announced: usize, most: usize) -> Result<Bytes, Refused> {
    let mut bytes = BytesMut::with_capacity(announced);
    while let Some(frame) = body.frame().await {
        let Ok(data) = frame.map_err(|_| Refused::Incomplete)?.into_data() else { continue };
        if bytes.len() + data.len() > most {
            return Err(Refused::TooLarge);
        }
        bytes.extend_from_slice(&data);
    }
    Ok(bytes.freeze())
}

/// Whether a request asks for an endless answer. The protocol verifies that the header matches the
/// body.
fn lasts(request: &Parts) -> bool {
    let method = request.headers.get(&METHOD);
    request.method == Method::GET || method.is_some_and(|method| method == "subscriptions/listen")
}

fn is_stream(answer: &Answer) -> bool {
    let media_type = answer.headers().get(header::CONTENT_TYPE);
    media_type.is_some_and(|kind| kind.as_bytes().starts_with(b"text/event-stream"))
}

/// Counts a stream as open until its last part is sent, or its client is gone.
fn counted(answer: Answer, stream: Stream) -> Answer {
    answer.map(|body| {
        let counted = body.map_frame(move |frame| {
            let _open = &stream;
            frame
        });
        counted.boxed()
    })
}

fn is_json(media_type: Option<&HeaderValue>) -> bool {
    media_type
        .and_then(|value| value.to_str().ok())
        .and_then(|value| value.split(';').next())
        .is_some_and(|essence| essence.trim().eq_ignore_ascii_case("application/json"))
}

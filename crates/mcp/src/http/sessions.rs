//! Sessions of clients that speak revisions of the protocol before 2026-07-28.
//!
//! Their number is limited. A client that leaves without closing its session leaves it behind, so
//! the least recently used session makes room for a new one; its client, if it still exists, is
//! informed that the session is gone and starts a new one, as the protocol says.

use std::collections::{HashMap, HashSet};
use std::sync::Mutex;
use std::time::Duration;

use futures::future::{join_all, ready};
use futures::{Stream, StreamExt as _, stream};
use rmcp::model::{ClientJsonRpcMessage, JsonRpcMessage, RequestId, ServerJsonRpcMessage};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::session::{
    ServerSseMessage, SessionId, SessionManager,
};

use crate::lock::locked;
use crate::message::UnansweredRequests;

/// How long an idle session is kept. Agents wait for their owners, and many clients do not start a
/// new session when theirs is gone.
const LONGEST_REST: Duration = Duration::from_secs(12 * 60 * 60);

/// How long to wait for a session to hear that it is to end.
const LONGEST_END: Duration = Duration::from_millis(200);

/// Sessions, with the time of their last use. Only requests count as use: a client that only
/// listens on its stream is dropped before one that sends requests, because it is unknown whether
/// the stream is still open.
pub(super) struct Sessions {
    most: usize,
    kept: LocalSessionManager,
    making: tokio::sync::Mutex<()>,
    uses: Mutex<SessionUses>,
}

#[derive(Default)]
struct SessionUses {
    count: u64,
    last: HashMap<SessionId, u64>,
    /// Those with which a wrong token came.
    doubted: HashSet<SessionId>,
    unanswered: HashMap<SessionId, UnansweredRequests>,
}

/// A request that waits for its answer, until this is dropped.
struct WaitingRequest {
    unanswered: UnansweredRequests,
    id: Option<RequestId>,
}

impl Drop for WaitingRequest {
    fn drop(&mut self) {
        if let Some(id) = &self.id {
            self.unanswered.forget(id);
        }
    }
}

fn is_answer(event: &ServerSseMessage) -> bool {
    let message = event.message.as_deref();
    message.is_some_and(|message| {
        matches!(message, JsonRpcMessage::Response(_) | JsonRpcMessage::Error(_))
    })
}

type Failure = <LocalSessionManager as SessionManager>::Error;

impl Sessions {
    pub(super) fn new(most: usize) -> Self {
        let mut kept = LocalSessionManager::default();
        kept.session_config.keep_alive = Some(LONGEST_REST);
        Self {
            most: most.max(1),
            kept,
            making: tokio::sync::Mutex::default(),
            uses: Mutex::default(),
        }
    }

    /// Ends all of them.
    pub(super) async fn close(&self) {
        let ids = self.ids().await;
        join_all(ids.iter().map(|id| self.end(id))).await;
    }

    /// Whether there is such a session, and its id was never used with a wrong token. Only a client
    /// that showed the token got the id.
    pub(super) fn vouches(&self, id: &str) -> bool {
        let uses = locked(&self.uses);
        uses.last.contains_key(id) && !uses.doubted.contains(id)
    }

    /// Notes that the id of a session came with a wrong token.
    pub(super) fn doubt(&self, id: &str) {
        let mut uses = locked(&self.uses);
        if let Some((id, _)) = uses.last.get_key_value(id) {
            let id = SessionId::clone(id);
            uses.doubted.insert(id);
        }
    }

    fn used(&self, id: &SessionId) {
        let mut uses = locked(&self.uses);
        uses.count += 1;
        let count = uses.count;
        uses.last.insert(id.clone(), count);
    }

    fn gone(&self, id: &SessionId) {
        let mut uses = locked(&self.uses);
        uses.last.remove(id);
        uses.doubted.remove(id);
        uses.unanswered.remove(id);
    }

    fn unanswered(&self, id: &SessionId) -> UnansweredRequests {
        let mut uses = locked(&self.uses);
        uses.unanswered.entry(id.clone()).or_default().clone()
    }

    async fn make_room(&self) {
        loop {
            let ids = self.ids().await;
            if ids.len() < self.most {
                return;
            }
            let oldest = {
                let uses = locked(&self.uses);
                ids.into_iter().min_by_key(|id| uses.last.get(id).copied().unwrap_or(0))
            };
            if let Some(id) = oldest {
                self.end(&id).await;
            }
        }
    }

    async fn ids(&self) -> Vec<SessionId> {
        self.kept.sessions.read().await.keys().cloned().collect()
    }

    /// Removes a session from the list, and asks it to end. A session that does not react is busy
    /// with a call, and ends after that.
    async fn end(&self, id: &SessionId) {
        let _heard = tokio::time::timeout(LONGEST_END, self.close_session(id)).await;
    }
}

impl SessionManager for Sessions {
    type Error = Failure;
    type Transport = <LocalSessionManager as SessionManager>::Transport;

    async fn create_session(&self) -> Result<(SessionId, Self::Transport), Failure> {
        let _one_at_a_time = self.making.lock().await;
        self.make_room().await;
        let (id, transport) = self.kept.create_session().await?;
        self.used(&id);
        Ok((id, transport))
    }

    async fn initialize_session(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<ServerJsonRpcMessage, Failure> {
        self.kept.initialize_session(id, message).await
    }

    async fn has_session(&self, id: &SessionId) -> Result<bool, Failure> {
        let has = self.kept.has_session(id).await?;
        if has {
            self.used(id);
        }
        Ok(has)
    }

    async fn close_session(&self, id: &SessionId) -> Result<(), Failure> {
        self.gone(id);
        self.kept.close_session(id).await
    }

    async fn create_stream(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Failure> {
        let unanswered = self.unanswered(id);
        if let Err(refusal) = unanswered.note(&message) {
            let refusal = ready(ServerSseMessage::from_message(*refusal));
            return Ok(stream::once(refusal).left_stream());
        }
        let request = match &message {
            JsonRpcMessage::Request(request) => Some(request.id.clone()),
            _ => None,
        };
        let mut waiting = Some(WaitingRequest { unanswered, id: request });
        let answers = self.kept.create_stream(id, message).await?;
        let answers = answers.inspect(move |event| {
            if is_answer(event) {
                drop(waiting.take());
            }
        });
        Ok(answers.right_stream())
    }

    async fn accept_message(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<(), Failure> {
        self.kept.accept_message(id, message).await
    }

    async fn create_standalone_stream(
        &self,
        id: &SessionId,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Failure> {
        self.kept.create_standalone_stream(id).await
    }

    async fn resume(
        &self,
        id: &SessionId,
        last_event_id: String,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Failure> {
        self.kept.resume(id, last_event_id).await
    }
}

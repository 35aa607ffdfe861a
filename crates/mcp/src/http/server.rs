//! Connections: how they come, how long they last, and how they all end.

use std::convert::Infallible;
use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::time::Duration;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use rmcp::ServerHandler;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::attended::StallGuard;
use super::front::Front;
use super::guests::{Guest, Guests};

/// How much of everything there may be, and how long it may take.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// Connections at once; more take the places of those that never showed the token, or wait.
    pub(super) connections: usize,
    /// Sessions at once: far fewer, because each may keep a connection for its stream and still
    /// needs another to ask.
    pub(super) sessions: usize,
    /// Concurrent endless answers, limited so that connections are left for other requests.
    pub(super) streams: usize,
    /// And those of one session.
    pub(super) streams_of_session: usize,
    /// How much of all requests that are larger than usual is held at once; more wait.
    pub(super) large_bytes: usize,
    /// How long a request waits for its turn at most when there are more than the rate lets in.
    pub(super) turn: Duration,
    /// The first lines of a request.
    pub(super) head_bytes: usize,
    /// How long the first of a connection may take to come.
    pub(super) first_head: Duration,
    /// How long the others take to come, and how long a connection rests between requests.
    pub(super) head: Duration,
    /// How long the rest of a request takes to come.
    pub(super) body: Duration,
    /// How long a client may read nothing of an answer.
    pub(super) stall: Duration,
    /// How long a client may take to read a last answer.
    pub(super) linger: Duration,
    /// How long running calls may go on when the server ends, and then streams.
    pub(super) finish: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections: 256,
            sessions: 64,
            streams: 128,
            streams_of_session: 4,
            large_bytes: 16 << 20,
            turn: Duration::from_secs(10),
            head_bytes: 16 * 1024,
            first_head: Duration::from_secs(5),
            head: Duration::from_secs(15),
            body: Duration::from_secs(30),
            stall: Duration::from_secs(30),
            linger: Duration::from_secs(1),
            finish: Duration::from_secs(1),
        }
    }
}

/// Headers in one request; clients send a dozen.
const MAX_HEADERS: usize = 64;

/// How long to wait when there is no connection to be had, such as when no file may be opened.
const ACCEPT_AGAIN: Duration = Duration::from_millis(100);

/// Serves all connections until `stop` is done. Then running calls are answered, streams end with
/// `streams`, and connections that do not end soon are cut off.
pub(super) async fn serve<H: ServerHandler + Send + 'static>(
    front: Front<H>,
    listener: TcpListener,
    limits: Limits,
    streams: CancellationToken,
    stop: impl Future<Output = ()> + Send,
) {
    let front = Arc::new(front);
    let guests = Guests::new(limits.connections);
    let closing = CancellationToken::new();
    let mut connections = JoinSet::new();
    let mut stop = pin!(stop);
    loop {
        let next = async {
            let accepted = listener.accept().await;
            match accepted {
                Ok((stream, from)) => Some((stream, guests.seat(from.ip()).await)),
                Err(_) => {
                    tokio::time::sleep(ACCEPT_AGAIN).await;
                    None
                }
            }
        };
        tokio::select! {
            () = &mut stop => break,
            next = next => if let Some((stream, guest)) = next {
                let guest = Arc::new(guest);
                let talk = talk(Arc::clone(&front), stream, Arc::clone(&guest), limits, closing.clone());
                connections.spawn(async move {
                    tokio::select! {
                        () = talk => {}
                        () = guest.sent_away() => {}
                    }
                });
            },
        }
        while connections.try_join_next().is_some() {}
    }
    drop(listener);
    closing.cancel();
    all_ended(&mut connections, limits.finish).await;
    streams.cancel();
    front.close().await;
    all_ended(&mut connections, limits.finish).await;
    connections.shutdown().await;
}

async fn all_ended(connections: &mut JoinSet<()>, longest: Duration) {
    let ending = async { while connections.join_next().await.is_some() {} };
    // The caller cuts off the remaining connections.
    let _in_time = tokio::time::timeout(longest, ending).await;
}

async fn talk<H: ServerHandler + Send + 'static>(
    front: Arc<Front<H>>,
    stream: TcpStream,
    guest: Arc<Guest>,
    limits: Limits,
    closing: CancellationToken,
) {
    // Without it answers are only slower.
    let _set = stream.set_nodelay(true);
    let asking = Arc::clone(&guest);
    let service = service_fn(move |request| {
        let (front, guest) = (Arc::clone(&front), Arc::clone(&asking));
        Box::pin(async move { Ok::<_, Infallible>(front.answer(request, &guest).await) })
    });
    let says_nothing = async {
        let asked = tokio::time::timeout(limits.first_head, guest.asked()).await;
        if asked.is_ok() {
            std::future::pending::<()>().await;
        }
    };
    let mut connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(limits.head)
        .max_headers(MAX_HEADERS)
        .max_header_size(limits.head_bytes)
        .serve_connection(TokioIo::new(StallGuard::new(stream, limits.stall)), service);
    // How a connection ended makes no difference: there is no client left to tell.
    let ended = tokio::select! {
        _how = poll_fn(|context| connection.poll_without_shutdown(context)) => true,
        () = says_nothing => true,
        () = closing.cancelled() => false,
    };
    if !ended {
        Pin::new(&mut connection).graceful_shutdown();
        let _how = poll_fn(|context| connection.poll_without_shutdown(context)).await;
    }
    linger(connection.into_parts().io.into_inner().into_inner(), limits.linger).await;
}

/// Waits until the client has closed too. A client that is still sending a body that the server
/// does not read would otherwise be cut off before it has read the reason.
async fn linger(mut stream: TcpStream, longest: Duration) {
    let draining = async {
        stream.shutdown().await?;
        let mut rest = [0; 4096];
        while stream.read(&mut rest).await? > 0 {}
        std::io::Result::Ok(())
    };
    let _in_time = tokio::time::timeout(longest, draining).await;
}

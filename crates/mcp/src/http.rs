//! A server over HTTP.
//!
//! One path, `/mcp`, serves both variants of the protocol: with sessions, and since 2026-07-28
//! without. This module handles everything before the protocol: who may connect, how often and how
//! long.

mod answers;
mod attended;
mod bucket;
mod door;
mod front;
mod guesses;
mod guests;
mod server;
mod sessions;
mod streams;
#[cfg(test)]
mod tests;
mod token;

use std::net::SocketAddr;
use std::sync::Arc;

use tokio_util::sync::CancellationToken;
use zeroize::Zeroizing;

use self::door::Door;
use self::front::Front;
use self::server::Limits;
use self::sessions::Sessions;
pub use self::token::is_token;
use crate::handler::Handler;
use crate::service::MemoryService;
use crate::settings::{ServeError, Settings};

/// Which clients may connect, and their limits.
///
/// It contains a secret. It can be passed on:
///
/// ```
/// fn passed<T: Send>() {}
/// passed::<anemone_mcp::HttpSettings>();
/// ```
///
/// but neither printed
///
/// ```compile_fail
/// fn printed<T: std::fmt::Debug>() {}
/// printed::<anemone_mcp::HttpSettings>();
/// ```
///
/// nor compared, because the duration of a comparison would reveal how much of the secret matches.
///
/// ```compile_fail
/// fn compared<T: PartialEq>() {}
/// compared::<anemone_mcp::HttpSettings>();
/// ```
pub struct HttpSettings {
    /// What every request must carry, as `Authorization: Bearer TOKEN`; at least 16 characters.
    pub token: Zeroizing<String>,
    /// Names by which the server may be called besides those of loopback, for `Host`:
    /// `memory.example` matches that name alone or with the server's port, and
    /// `memory.example:8080` only itself.
    pub hosts: Vec<String>,
    /// Pages that may call it, such as `https://app.example.org`; none by default.
    pub origins: Vec<String>,
    /// How large a request may be.
    pub max_body_bytes: usize,
    /// How many requests a second go on without end; twice as many may come at once, and more wait.
    pub requests_per_second: u32,
}

impl HttpSettings {
    /// Returns the error with which a server would refuse these settings, without starting one.
    pub fn check(&self) -> Result<(), ServeError> {
        Door::new(self, SocketAddr::from(([127, 0, 0, 1], 0))).map(|_| ())
    }
}

/// Serves every client that comes, until `stop` is done. Calls that have begun by then are done
/// to their end, a minute at most, though their clients are cut off before.
pub async fn serve_http(
    service: Arc<dyn MemoryService>,
    settings: Settings,
    http: HttpSettings,
    listener: std::net::TcpListener,
    stop: impl Future<Output = ()> + Send + 'static,
) -> Result<(), ServeError> {
    let handler = Handler::new(service, settings);
    let calls = handler.calls();
    let served = serve(move || handler.clone(), http, listener, Limits::default(), stop).await;
    calls.ended().await;
    served
}

async fn serve<H: rmcp::ServerHandler + Send + 'static>(
    handler: impl Fn() -> H + Send + Sync + 'static,
    http: HttpSettings,
    listener: std::net::TcpListener,
    limits: Limits,
    stop: impl Future<Output = ()> + Send,
) -> Result<(), ServeError> {
    listener.set_nonblocking(true)?;
    let listener = tokio::net::TcpListener::from_std(listener)?;
    let listens = listener.local_addr()?;
    let streams = CancellationToken::new();
    let sessions = Sessions::new(limits.sessions);
    let front = Front::new(&http, listens, sessions, &limits, streams.clone(), handler)?;
    // Only its digest is needed from here on.
    drop(http);
    server::serve(front, listener, limits, streams, stop).await;
    Ok(())
}

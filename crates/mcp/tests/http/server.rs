//! A server in this process, on a port of its own.

use std::net::TcpListener;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use anemone_mcp::{HttpSettings, Settings, serve_http};
use tokio::sync::oneshot;
use zeroize::Zeroizing;

use crate::fake_memory::CountingDesk;
use crate::wire::Ask;

pub(crate) const TOKEN: &str = "d41d8cd98f00b204e9800998ecf8427e";
/// The name and the page that the servers of these tests list.
pub(crate) const LISTED_HOST: &str = "memory.example";
pub(crate) const LISTED_ORIGIN: &str = "https://app.example";
pub(crate) const MAX_BODY_BYTES: usize = 64 * 1024;

/// A server that ends with this value.
pub(crate) struct Server {
    pub(crate) port: u16,
    pub(crate) memory: Arc<CountingDesk>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
    ended: Receiver<()>,
}

impl Server {
    /// Starts a server with a rate limit that no test reaches.
    pub(crate) fn start() -> Self {
        Self::with_rate(100_000)
    }

    /// Starts a server that answers this many requests a second.
    pub(crate) fn with_rate(requests_per_second: u32) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let memory = Arc::new(CountingDesk::default());
        let (stop, stopped) = oneshot::channel();
        let (end, ended) = channel();
        let served = Arc::clone(&memory);
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_multi_thread()
                .worker_threads(2)
                .enable_all()
                .build()
                .unwrap();
            let settings = Settings { version: "0.0.0".to_owned(), allow_write: true, tools: None };
            let http = HttpSettings {
                token: Zeroizing::new(TOKEN.to_owned()),
                hosts: vec![LISTED_HOST.to_owned()],
                origins: vec![LISTED_ORIGIN.to_owned()],
                max_body_bytes: MAX_BODY_BYTES,
                requests_per_second,
            };
            runtime
                .block_on(serve_http(served, settings, http, listener, async {
                    let _told = stopped.await;
                }))
                .unwrap();
            // Before the runtime waits for its threads.
            let _heard = end.send(());
        });
        Self { port, memory, stop: Some(stop), thread: Some(thread), ended }
    }

    /// A request that may come in: a search, as the protocol is since 2026-07-28.
    pub(crate) fn search(&self) -> Ask {
        Ask::new("POST", "/mcp", self.port)
            .with("Authorization", &format!("Bearer {TOKEN}"))
            .with("Content-Type", "application/json")
            .with("Accept", "application/json, text/event-stream")
            .with("MCP-Protocol-Version", "2026-07-28")
            .with("Mcp-Method", "tools/call")
            .with("Mcp-Name", "memory_search")
            .body(SEARCH)
    }

    /// Begins a session, and returns its id.
    pub(crate) fn session(&self) -> String {
        let begun = self.in_older_protocol(INITIALIZE).send();
        let id = begun.header("mcp-session-id").unwrap_or_else(|| panic!("{begun:?}"));
        let told = self.in_older_protocol(INITIALIZED).with("Mcp-Session-Id", id).send();
        assert_eq!(told.status, 202, "{told:?}");
        id.to_owned()
    }

    /// A request of a session that asks for nothing.
    pub(crate) fn ping(&self, session: &str) -> Ask {
        self.in_older_protocol(PING).with("Mcp-Session-Id", session)
    }

    fn in_older_protocol(&self, body: &str) -> Ask {
        let ask = self.search().without("MCP-Protocol-Version");
        ask.without("Mcp-Method").without("Mcp-Name").body(body)
    }

    /// Tells it to end.
    pub(crate) fn begin_stop(&mut self) {
        drop(self.stop.take());
    }

    /// Whether it has ended after a while.
    pub(crate) fn has_ended(&self, after: Duration) -> bool {
        self.ended.recv_timeout(after).is_ok()
    }

    /// Tells it to end and waits until it has; fails when it failed.
    pub(crate) fn stop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap();
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let _ended = thread.join();
        }
    }
}

/// What [`Server::search`] asks.
pub(crate) const SEARCH: &str = r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{
    "name":"memory_search","arguments":{"query":"canary"},
    "_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",
        "io.modelcontextprotocol/clientInfo":{"name":"test","version":"0"},
        "io.modelcontextprotocol/clientCapabilities":{}}}}"#;

const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{
    "protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"test","version":"0"}}}"#;
const INITIALIZED: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
const PING: &str = r#"{"jsonrpc":"2.0","id":2,"method":"ping"}"#;

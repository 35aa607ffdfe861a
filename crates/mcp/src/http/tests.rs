//! What only shows with other limits than those that hold.

use std::sync::Arc;
use std::time::Duration;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ErrorData,
    ServerCapabilities, ServerConfig,
};
use rmcp::service::RequestContext;
use rmcp::{RoleServer, ServerHandler};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::sync::{Notify, oneshot};
use tokio::task::JoinHandle;
use tokio::time::timeout;
use zeroize::Zeroizing;

use super::server::Limits;
use super::{HttpSettings, serve};
use crate::settings::ServeError;

const TOKEN: &str = "0123456789abcdef0123456789abcdef";
/// Longer than anything takes; only a server that hangs comes to it.
const PATIENCE: Duration = Duration::from_secs(20);
/// Longer than a test is patient.
const LONG: Duration = Duration::from_secs(60);
const SHORT: Duration = Duration::from_millis(100);

#[tokio::test]
async fn a_head_that_comes_slowly_or_not_at_all_is_cut_off() {
    let server = start(Limits { head: SHORT, ..Limits::default() });
    for start in ["", "POST /mcp HTTP/1.1\r\nHost: 127"] {
        let mut stream = server.connect().await;
        stream.write_all(start.as_bytes()).await.unwrap();
        assert!(!rest(&mut stream).await.contains("HTTP/1.1 2"));
    }
    server.stop().await;
}

#[tokio::test]
async fn a_body_that_comes_slowly_is_cut_off() {
    let server = start(Limits { body: SHORT, ..Limits::default() });
    let head = server.head("POST", &["Content-Length: 100"]);
    let mut stream = server.connect().await;
    stream.write_all(format!("{head}{{").as_bytes()).await.unwrap();
    let answer = rest(&mut stream).await;
    assert!(answer.starts_with("HTTP/1.1 408"), "{answer}");
    server.stop().await;
}

#[tokio::test]
async fn who_says_nothing_at_first_is_sent_away_before_who_rests_between_requests() {
    let server = start(Limits { first_head: SHORT, head: PATIENCE, ..Limits::default() });
    for start in ["", "POST /mcp HTTP/1.1\r\nHost: 127"] {
        let mut stream = server.connect().await;
        stream.write_all(start.as_bytes()).await.unwrap();
        assert_eq!(rest(&mut stream).await, "");
    }
    let mut stream = server.connect().await;
    let ask = server.ask(INITIALIZE, &[]).replace("Connection: close", "Connection: keep-alive");
    for _ in 0..2 {
        stream.write_all(ask.as_bytes()).await.unwrap();
        let mut start = [0; 4096];
        let read = timeout(PATIENCE, stream.read(&mut start)).await.unwrap().unwrap();
        assert!(start[..read].starts_with(b"HTTP/1.1 200"), "{:?}", start[..read].utf8_chunks());
        tokio::time::sleep(2 * SHORT).await;
    }
    server.stop().await;
}

#[tokio::test]
async fn those_who_never_show_the_token_make_room_the_oldest_first() {
    let server =
        start(Limits { connections: 2, first_head: LONG, head: LONG, ..Limits::default() });
    let mut first = server.connect().await;
    let mut second = server.connect().await;
    second.write_all(b"POST /mcp HTTP/1.1\r\n").await.unwrap();
    let mut known = Vec::new();
    for gone in [&mut first, &mut second] {
        let mut stream = server.connect().await;
        stream.write_all(server.ask(CALL, MODERN).as_bytes()).await.unwrap();
        timeout(PATIENCE, server.gate.entered.notified()).await.unwrap();
        // It keeps its place while its call goes on.
        known.push(stream);
        let mut byte = [0];
        // A connection that is cut off while something unread is there ends with an error.
        let read = timeout(PATIENCE, gone.read(&mut byte)).await.unwrap();
        assert!(read.is_err() || read.is_ok_and(|bytes| bytes == 0));
    }
    for stream in &mut known {
        server.gate.open.notify_one();
        let answer = rest(stream).await;
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    }
    drop(known);
    server.stop().await;
}

#[tokio::test]
async fn more_connections_than_there_may_be_wait_for_those_who_have_shown_it() {
    let server = start(Limits { connections: 1, ..Limits::default() });
    let mut first = server.connect().await;
    first.write_all(server.ask(CALL, MODERN).as_bytes()).await.unwrap();
    timeout(PATIENCE, server.gate.entered.notified()).await.unwrap();
    let mut second = server.connect().await;
    let ask = server.ask(INITIALIZE, &[]);
    second.write_all(ask.as_bytes()).await.unwrap();
    let mut byte = [0];
    let waited = timeout(SHORT, second.read(&mut byte)).await;
    assert!(waited.is_err(), "it was answered while the first was open");
    server.gate.open.notify_one();
    let answer = rest(&mut first).await;
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    drop(first);
    let answer = rest(&mut second).await;
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    server.stop().await;
}

#[tokio::test]
async fn a_new_session_takes_the_place_of_the_one_that_was_used_least_lately() {
    let server = start(Limits { sessions: 2, ..Limits::default() });
    let first = server.session().await;
    let second = server.session().await;
    assert_eq!(server.ping(&first).await, 200);
    let third = server.session().await;
    assert_eq!(server.ping(&first).await, 200);
    assert_eq!(server.ping(&second).await, 404);
    assert_eq!(server.ping(&third).await, 200);
    server.stop().await;
}

#[tokio::test]
async fn a_second_request_of_a_session_with_the_id_of_an_unanswered_one_is_an_error() {
    let server = start(Limits::default());
    let session = format!("Mcp-Session-Id: {}", server.session().await);
    let call = r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"wait"}}"#;
    let mut first = server.connect().await;
    first.write_all(server.ask(call, &[&session]).as_bytes()).await.unwrap();
    timeout(PATIENCE, server.gate.entered.notified()).await.unwrap();
    let second = server.answer(&server.ask(PING, &[&session])).await;
    assert!(second.contains("-32600"), "{second}");
    server.gate.open.notify_one();
    let first = rest(&mut first).await;
    assert!(first.contains("done"), "{first}");
    let third = server.answer(&server.ask(PING, &[&session])).await;
    assert!(third.contains(r#""result":{}"#), "{third}");
    server.stop().await;
}

#[tokio::test]
async fn streams_are_bounded_and_leave_connections_for_others() {
    let server =
        start(Limits { streams: 2, streams_of_session: 1, connections: 4, ..Limits::default() });
    let mut open = Vec::new();
    let (first, second) = (server.session().await, server.session().await);
    for (session, status) in [(&first, 200), (&first, 429), (&second, 200)] {
        let mut stream = server.connect().await;
        let head = server.head("GET", &[&format!("Mcp-Session-Id: {session}")]);
        stream.write_all(head.as_bytes()).await.unwrap();
        let mut start = [0; 12];
        timeout(PATIENCE, stream.read_exact(&mut start)).await.unwrap().unwrap();
        assert_eq!(start, format!("HTTP/1.1 {status}").as_bytes());
        open.push(stream);
    }
    let third = server.session().await;
    let head = server.head("GET", &[&format!("Mcp-Session-Id: {third}")]);
    let answer = server.answer(&head).await;
    assert!(answer.starts_with("HTTP/1.1 429"), "two in all: {answer}");
    assert_eq!(server.ping(&third).await, 200, "who only asks is answered");
    drop(open);
    server.stop().await;
}

#[tokio::test]
async fn large_requests_wait_until_there_is_room_and_small_ones_do_not() {
    let large = 100 << 10;
    let limits = Limits { large_bytes: large, ..Limits::default() };
    let server = start_with(limits, HttpSettings { max_body_bytes: large, ..settings(TOKEN) });
    let length = format!("Content-Length: {large}");
    let mut first = server.connect().await;
    first.write_all(server.head("POST", &[&length]).as_bytes()).await.unwrap();
    first.write_all(b"{").await.unwrap();
    let id = server.session().await;
    assert_eq!(server.ping(&id).await, 200, "a small one passes");
    let body = format!("{PING}{}", " ".repeat(large - PING.len()));
    let session = format!("Mcp-Session-Id: {id}");
    let mut second = server.connect().await;
    second.write_all(server.ask(&body, &[&session]).as_bytes()).await.unwrap();
    let mut byte = [0];
    let waited = timeout(SHORT, second.read(&mut byte)).await;
    assert!(waited.is_err(), "it was answered while the first was held");
    drop(first);
    let answer = rest(&mut second).await;
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    server.stop().await;
}

#[tokio::test]
async fn streams_end_when_the_server_does() {
    let server = start(Limits { finish: SHORT, ..Limits::default() });
    let session = format!("Mcp-Session-Id: {}", server.session().await);
    let mut stream = server.connect().await;
    let head = server.head("GET", &[&session]);
    stream.write_all(head.as_bytes()).await.unwrap();
    let mut start = [0; 12];
    timeout(PATIENCE, stream.read_exact(&mut start)).await.unwrap().unwrap();
    assert_eq!(&start, b"HTTP/1.1 200");
    server.stop().await;
    rest(&mut stream).await;
}

#[tokio::test]
async fn a_call_that_runs_when_the_server_is_to_end_is_answered() {
    let mut server = start(Limits { finish: PATIENCE, ..Limits::default() });
    let mut stream = server.connect().await;
    stream.write_all(server.ask(CALL, MODERN).as_bytes()).await.unwrap();
    timeout(PATIENCE, server.gate.entered.notified()).await.unwrap();
    server.stop.take().unwrap().send(()).unwrap();
    // No new connections are accepted from now on.
    timeout(PATIENCE, async {
        while TcpStream::connect(("127.0.0.1", server.port)).await.is_ok() {
            tokio::task::yield_now().await;
        }
    })
    .await
    .unwrap();
    server.gate.open.notify_one();
    let answer = rest(&mut stream).await;
    assert!(answer.starts_with("HTTP/1.1 200") && answer.contains("done"), "{answer}");
    server.stop().await;
}

#[tokio::test]
async fn a_server_with_a_token_that_can_be_guessed_does_not_start() {
    for token in ["", "secret", "with a space in it"] {
        let listener = std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let http = settings(token);
        let gate = Arc::new(Gate::default());
        let handler = move || Waiting(Arc::clone(&gate));
        let served = serve(handler, http, listener, Limits::default(), async {}).await;
        assert!(matches!(served, Err(ServeError::Token)), "{token}");
    }
}

/// Where calls wait until the test lets them go on.
#[derive(Default)]
struct Gate {
    entered: Notify,
    open: Notify,
}

struct Waiting(Arc<Gate>);

impl ServerHandler for Waiting {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }

    async fn call_tool(
        &self,
        _: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        self.0.entered.notify_one();
        self.0.open.notified().await;
        Ok(CallToolResult::success(vec![ContentBlock::text("done")]).into())
    }
}

struct Running {
    port: u16,
    gate: Arc<Gate>,
    stop: Option<oneshot::Sender<()>>,
    task: JoinHandle<Result<(), ServeError>>,
}

fn settings(token: &str) -> HttpSettings {
    HttpSettings {
        token: Zeroizing::new(token.to_owned()),
        hosts: Vec::new(),
        origins: Vec::new(),
        max_body_bytes: 4096,
        requests_per_second: 1000,
    }
}

fn start(limits: Limits) -> Running {
    start_with(limits, settings(TOKEN))
}

fn start_with(limits: Limits, http: HttpSettings) -> Running {
    let listener = std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    let gate = Arc::new(Gate::default());
    let (stop, stopped) = oneshot::channel();
    let shared = Arc::clone(&gate);
    let task = tokio::spawn(async move {
        let handler = move || Waiting(Arc::clone(&shared));
        let stop = async {
            let _told = stopped.await;
        };
        serve(handler, http, listener, limits, stop).await
    });
    Running { port, gate, stop: Some(stop), task }
}

impl Running {
    async fn connect(&self) -> TcpStream {
        TcpStream::connect(("127.0.0.1", self.port)).await.unwrap()
    }

    fn head(&self, method: &str, more: &[&str]) -> String {
        let port = self.port;
        let more: String = more.iter().map(|line| format!("{line}\r\n")).collect();
        format!(
            "{method} /mcp HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\n\
             Authorization: Bearer {TOKEN}\r\nContent-Type: application/json\r\n\
             Accept: application/json, text/event-stream\r\n{more}\r\n"
        )
    }

    fn ask(&self, body: &str, more: &[&str]) -> String {
        let length = format!("Content-Length: {}", body.len());
        let more: Vec<&str> = more.iter().copied().chain([length.as_str()]).collect();
        format!("{}{body}", self.head("POST", &more))
    }

    async fn answer(&self, ask: &str) -> String {
        let mut stream = self.connect().await;
        stream.write_all(ask.as_bytes()).await.unwrap();
        rest(&mut stream).await
    }

    async fn session(&self) -> String {
        let answer = self.answer(&self.ask(INITIALIZE, &[])).await;
        let id = answer
            .lines()
            .find_map(|line| line.strip_prefix("mcp-session-id: "))
            .unwrap_or_else(|| panic!("{answer}"))
            .to_owned();
        let session = format!("Mcp-Session-Id: {id}");
        let answer = self.answer(&self.ask(INITIALIZED, &[&session])).await;
        assert!(answer.starts_with("HTTP/1.1 202"), "{answer}");
        id
    }

    async fn ping(&self, id: &str) -> u16 {
        let session = format!("Mcp-Session-Id: {id}");
        let answer = self.answer(&self.ask(PING, &[&session])).await;
        answer[9..12].parse().unwrap()
    }

    async fn stop(mut self) {
        drop(self.stop.take());
        timeout(PATIENCE, self.task).await.unwrap().unwrap().unwrap();
    }
}

/// Reads until the server closes.
async fn rest(stream: &mut TcpStream) -> String {
    let mut bytes = Vec::new();
    timeout(PATIENCE, stream.read_to_end(&mut bytes)).await.unwrap().unwrap();
    String::from_utf8(bytes).unwrap()
}

const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{
    "protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"test","version":"0"}}}"#;
const INITIALIZED: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
const PING: &str = r#"{"jsonrpc":"2.0","id":2,"method":"ping"}"#;
const MODERN: &[&str] =
    &["MCP-Protocol-Version: 2026-07-28", "Mcp-Method: tools/call", "Mcp-Name: wait"];
const CALL: &str = r#"{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"wait",
    "_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",
        "io.modelcontextprotocol/clientInfo":{"name":"test","version":"0"},
        "io.modelcontextprotocol/clientCapabilities":{}}}}"#;

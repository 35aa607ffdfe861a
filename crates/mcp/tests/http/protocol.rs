//! The two variants of the protocol, and its notifications.

use std::io::{BufRead as _, BufReader};
use std::net::TcpStream;
use std::time::Instant;

use anemone_mcp::DocumentChanges;
use serde_json::{Value, json};

use crate::fake_memory::CANARY;
use crate::server::{Server, TOKEN};
use crate::wire::{Ask, PATIENCE, Reply};

#[test]
fn since_2026_07_28_a_call_needs_no_session() {
    let server = Server::start();
    let reply = server.search().send();
    assert_eq!(reply.status, 200);
    assert_eq!(reply.header("content-type"), Some("application/json"));
    assert_eq!(reply.header("mcp-session-id"), None);
    let answer: Value = serde_json::from_str(&reply.body).unwrap();
    assert_eq!(answer["id"], 7);
    assert!(answer["result"].to_string().contains(CANARY), "{answer}");
    let stream = Ask::new("GET", "/mcp", server.port)
        .with("Authorization", &format!("Bearer {TOKEN}"))
        .with("Accept", "text/event-stream")
        .with("MCP-Protocol-Version", "2026-07-28")
        .send();
    assert_eq!(stream.status, 405, "{stream:?}");
}

#[test]
fn before_that_a_call_needs_a_session_until_the_session_ends() {
    let server = Server::start();
    let search = old_search();
    assert_eq!(old(&server, "POST", None).body(&search).send().status, 400);
    assert_eq!(old(&server, "POST", Some("no-such")).body(&search).send().status, 404);
    let id = begin(&server);
    let reply = old(&server, "POST", Some(&id)).body(&search).send();
    assert_eq!(reply.status, 200, "{reply:?}");
    assert!(reply.body.contains(CANARY), "{reply:?}");
    let other = old(&server, "POST", Some(&id)).set("MCP-Protocol-Version", "1999-01-01");
    assert_eq!(other.body(&search).send().status, 400);
    assert_eq!(old(&server, "DELETE", Some(&id)).send().status, 204);
    assert_eq!(old(&server, "POST", Some(&id)).body(&search).send().status, 404);
    assert_eq!(server.memory.asked(), 1);
}

#[test]
fn a_session_does_not_open_without_the_token() {
    let server = Server::start();
    let id = begin(&server);
    for method in ["POST", "GET", "DELETE"] {
        let reply =
            old(&server, method, Some(&id)).without("Authorization").body(&old_search()).send();
        assert_eq!(reply.status, 401, "{method}");
    }
    let reply = old(&server, "POST", Some(&id)).body(&old_search()).send();
    assert_eq!(reply.status, 200);
    assert_eq!(server.memory.asked(), 1);
}

#[test]
fn a_session_is_told_of_what_it_subscribed_to() {
    let mut server = Server::start();
    let id = begin(&server);
    let stream = old(&server, "GET", Some(&id)).without("Connection").open("\r\n");
    let mut lines = BufReader::new(stream).lines();
    // The stream is open once its first event has arrived.
    next_line(&mut lines, "id:");
    let uri = json!({ "uri": "memory://MEMORY.md" });
    let asked =
        json!({ "jsonrpc": "2.0", "id": 3, "method": "resources/subscribe", "params": uri });
    let reply = old(&server, "POST", Some(&id)).body(&asked.to_string()).send();
    assert_eq!(reply.status, 200, "{reply:?}");
    change(&server);
    assert_eq!(next_method(&mut lines), "notifications/resources/updated");
    assert_eq!(next_method(&mut lines), "notifications/resources/list_changed");
    server.stop();
    assert_eq!(lines.map_while(Result::ok).filter(|line| line.starts_with("data: {")).count(), 0);
}

#[test]
fn since_2026_07_28_whoever_listens_is_told() {
    let mut server = Server::start();
    let asked = json!({ "jsonrpc": "2.0", "id": 3, "method": "subscriptions/listen", "params": {
        "notifications": {
            "resourcesListChanged": true,
            "resourceSubscriptions": ["memory://MEMORY.md"],
        },
        "_meta": {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "0" },
            "io.modelcontextprotocol/clientCapabilities": {},
        },
    } })
    .to_string();
    let length = format!("Content-Length: {}\r\n\r\n{asked}", asked.len());
    let listen = server.search().without("Connection").without("Mcp-Name");
    let stream = listen.set("Mcp-Method", "subscriptions/listen").open(&length);
    let mut lines = BufReader::new(stream).lines();
    assert_eq!(next_method(&mut lines), "notifications/subscriptions/acknowledged");
    change(&server);
    assert_eq!(next_method(&mut lines), "notifications/resources/updated");
    assert_eq!(next_method(&mut lines), "notifications/resources/list_changed");
    server.stop();
}

/// Changes a document as soon as there is a watch.
fn change(server: &Server) {
    let changed = DocumentChanges { paths: vec!["MEMORY.md".to_owned()], list: true };
    let start = Instant::now();
    while server.memory.change(&changed) == 0 {
        assert!(start.elapsed() < PATIENCE, "nobody watches");
        std::thread::yield_now();
    }
}

/// Returns the method of the next message.
fn next_method(lines: &mut std::io::Lines<BufReader<TcpStream>>) -> String {
    let line = next_line(lines, "data: {");
    let message: Value = serde_json::from_str(line.trim_start_matches("data: ")).unwrap();
    message["method"].as_str().unwrap_or_else(|| panic!("{message}")).to_owned()
}

/// Returns the next line that begins so; fails when the stream ends before.
fn next_line(lines: &mut std::io::Lines<BufReader<TcpStream>>, start: &str) -> String {
    lines
        .map(Result::unwrap)
        .find(|line| line.starts_with(start))
        .unwrap_or_else(|| panic!("no line begins with {start}"))
}

/// Begins a session and returns its id.
fn begin(server: &Server) -> String {
    let asked = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": { "name": "test", "version": "0" },
    } });
    let reply: Reply = old(server, "POST", None).body(&asked.to_string()).send();
    assert_eq!(reply.status, 200, "{reply:?}");
    assert!(reply.body.contains("\"2025-11-25\""), "{reply:?}");
    let id = reply.header("mcp-session-id").unwrap().to_owned();
    let ready = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    let reply = old(server, "POST", Some(&id)).body(&ready.to_string()).send();
    assert_eq!(reply.status, 202, "{reply:?}");
    id
}

/// A request as the protocol was before 2026-07-28.
fn old(server: &Server, method: &str, session: Option<&str>) -> Ask {
    let ask = Ask::new(method, "/mcp", server.port)
        .with("Authorization", &format!("Bearer {TOKEN}"))
        .with("Content-Type", "application/json")
        .with("Accept", "application/json, text/event-stream")
        .with("MCP-Protocol-Version", "2025-11-25");
    match session {
        Some(id) => ask.with("Mcp-Session-Id", id),
        None => ask,
    }
}

fn old_search() -> String {
    let params = json!({ "name": "memory_search", "arguments": { "query": "canary" } });
    json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params }).to_string()
}

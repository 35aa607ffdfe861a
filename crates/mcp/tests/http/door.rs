//! Which requests are accepted.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;

use crate::fake_memory::CANARY;
use crate::server::{LISTED_HOST, LISTED_ORIGIN, SEARCH, Server, TOKEN};
use crate::wire::{Ask, Reply, connect};

#[test]
fn of_eight_hosts_and_eight_origins_only_the_listed_pass() {
    let server = Server::start();
    let port = server.port;
    let hosts = [
        (format!("127.0.0.1:{port}"), true),
        (format!("localhost:{port}"), true),
        (format!("[::1]:{port}"), true),
        (LISTED_HOST.to_owned(), true),
        ("localhost".to_owned(), false),
        (format!("127.0.0.1:{}", port ^ 1), false),
        (format!("evil.test:{port}"), false),
        (format!("127.0.0.1.evil.test:{port}"), false),
    ];
    let origins = [
        (None, true),
        (Some(LISTED_ORIGIN.to_owned()), true),
        (Some("null".to_owned()), false),
        (Some(format!("http://127.0.0.1:{port}")), false),
        (Some(format!("http://localhost:{port}")), false),
        (Some(format!("http://evil.test:{port}")), false),
        (Some(format!("{LISTED_ORIGIN}.evil.test")), false),
        (Some(format!("{LISTED_ORIGIN}:8443")), false),
    ];
    let mut passed = 0;
    for (host, known) in &hosts {
        for (origin, listed) in &origins {
            let mut ask = server.search().set("Host", host);
            if let Some(origin) = origin {
                ask = ask.with("Origin", origin);
            }
            let reply = ask.send();
            let expected = if *known && *listed { 200 } else { 403 };
            assert_eq!(reply.status, expected, "{host} {origin:?} {reply:?}");
            assert_eq!(reply.body.contains(CANARY), expected == 200, "{reply:?}");
            passed += usize::from(expected == 200);
            // Our own door refuses this, before the protocol sees the request.
            let said = match (*known, *listed) {
                (false, _) => reply.body.starts_with("this server is not called"),
                (true, false) => reply.body.starts_with("pages of this origin"),
                (true, true) => true,
            };
            assert!(said, "{reply:?}");
            let page = origin.as_deref().filter(|_| *listed && *known);
            assert_eq!(reply.header("access-control-allow-origin"), page, "{host}");
            assert_hardened(&reply);
        }
    }
    assert_eq!(passed, 8);
    assert_eq!(server.memory.asked(), passed);
}

#[test]
fn only_the_token_opens_and_nothing_of_the_body_is_read_before() {
    let server = Server::start();
    let longer = format!("Bearer {TOKEN}0");
    for authorization in [
        None,
        Some(""),
        Some("Bearer"),
        Some("Bearer wrong"),
        Some(&longer[..20]),
        Some(&longer),
        Some(TOKEN),
    ] {
        let mut ask = server.search().without("Authorization");
        if let Some(authorization) = authorization {
            ask = ask.with("Authorization", authorization);
        }
        // The body is announced and never comes.
        let reply = ask.send_raw("Content-Length: 4000\r\n\r\n");
        assert_eq!(reply.status, 401, "{authorization:?} {reply:?}");
        let challenge = reply.header("www-authenticate").unwrap();
        assert!(challenge.starts_with("Bearer"), "{challenge}");
        assert_hardened(&reply);
    }
    assert_eq!(server.memory.asked(), 0);
    assert_eq!(server.search().send().status, 200);
}

#[test]
fn ten_wrong_tokens_a_minute_are_looked_at_and_no_other_from_there() {
    let server = Server::start();
    let wrong = server.search().set("Authorization", "Bearer wrong");
    let replies: Vec<Reply> = (0..40).map(|_| wrong.send()).collect();
    let statuses: Vec<u16> = replies.iter().map(|reply| reply.status).collect();
    assert_eq!(statuses, [vec![401; 10], vec![429; 30]].concat());
    let wait: u64 = replies[39].header("retry-after").unwrap().parse().unwrap();
    assert!((1..=60).contains(&wait), "{wait}");
    // The token is not compared either.
    assert_eq!(server.search().send().status, 429);
    assert_eq!(server.memory.asked(), 0);
}

#[test]
fn who_showed_the_token_before_goes_on_while_another_guesses() {
    let server = Server::start();
    let session = server.session();
    let mut known = Keeping::open(&server);
    assert_eq!(known.search(TOKEN), 200);
    let wrong = server.search().set("Authorization", "Bearer wrong");
    while wrong.send().status != 429 {}
    assert_eq!(known.search(TOKEN), 200, "on the same connection");
    assert_eq!(server.ping(&session).send().status, 200, "in a session");
    assert_eq!(server.search().send().status, 429, "a stranger");
    // A session does not help a client with a wrong token.
    let stolen = server.ping(&session).set("Authorization", "Bearer wrong");
    assert_eq!(stolen.send().status, 401);
    assert_eq!(stolen.send().status, 429);
    assert_eq!(known.search("wrong"), 401);
}

/// A connection that is used again.
struct Keeping {
    stream: TcpStream,
    port: u16,
}

impl Keeping {
    fn open(server: &Server) -> Self {
        Self { stream: connect(server.port), port: server.port }
    }

    /// Searches with a token, and returns the status of the answer.
    fn search(&mut self, token: &str) -> u16 {
        let port = self.port;
        let head = format!(
            "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nAuthorization: Bearer {token}\r\n\
             Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n\
             MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\n\
             Mcp-Name: memory_search\r\nContent-Length: {}\r\n\r\n{SEARCH}",
            SEARCH.len()
        );
        self.stream.write_all(head.as_bytes()).unwrap();
        let mut reader = BufReader::new(&self.stream);
        let mut status = String::new();
        reader.read_line(&mut status).unwrap();
        let mut length = 0;
        loop {
            let mut line = String::new();
            reader.read_line(&mut line).unwrap();
            if line.trim().is_empty() {
                break;
            }
            if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length: ") {
                length = value.trim().parse().unwrap();
            }
        }
        reader.read_exact(&mut vec![0; length]).unwrap();
        status.split(' ').nth(1).unwrap().parse().unwrap()
    }
}

#[test]
fn headers_that_decide_are_there_once() {
    let server = Server::start();
    let host = format!("127.0.0.1:{}", server.port);
    for (name, value) in [
        ("Host", host.as_str()),
        ("Host", "evil.test"),
        ("Authorization", &format!("Bearer {TOKEN}")),
        ("Authorization", "Bearer wrong"),
    ] {
        let reply = server.search().with(name, value).send();
        assert_eq!(reply.status, 400, "{name} {reply:?}");
    }
    for second in [LISTED_ORIGIN, "http://evil.test"] {
        let twice = server.search().with("Origin", LISTED_ORIGIN).with("Origin", second);
        assert_eq!(twice.send().status, 400);
    }
    assert_eq!(server.search().without("Host").send().status, 400);
    let old = server.search().without("Host").line("POST /mcp HTTP/1.0").send();
    assert_eq!(old.status, 400);
    assert_eq!(server.memory.asked(), 0);
}

#[test]
fn the_server_that_a_target_names_counts_too() {
    let server = Server::start();
    let line = |host: &str| format!("POST http://{host}/mcp HTTP/1.1");
    let ours = format!("127.0.0.1:{}", server.port);
    assert_eq!(server.search().line(&line("evil.test")).send().status, 403);
    assert_eq!(server.search().line(&line(&ours)).send().status, 200);
    assert_eq!(server.memory.asked(), 1);
}

#[test]
fn what_a_page_loads_without_an_origin_is_refused() {
    let server = Server::start();
    for (site, status) in [
        ("cross-site", 403),
        ("same-site", 403),
        ("anything", 403),
        ("none", 200),
        ("same-origin", 200),
    ] {
        let reply = server.search().with("Sec-Fetch-Site", site).send();
        assert_eq!(reply.status, status, "{site} {reply:?}");
    }
    assert_eq!(server.memory.asked(), 2);
}

#[test]
fn a_browser_may_ask_for_a_listed_page_only() {
    let server = Server::start();
    let ask = |origin: &str| {
        Ask::new("OPTIONS", "/mcp", server.port)
            .with("Origin", origin)
            .with("Sec-Fetch-Site", "cross-site")
            .with("Access-Control-Request-Method", "POST")
            .with("Access-Control-Request-Headers", "authorization,content-type")
    };
    let reply = ask(LISTED_ORIGIN).send();
    assert_eq!(reply.status, 204, "{reply:?}");
    assert_eq!(reply.header("access-control-allow-origin"), Some(LISTED_ORIGIN));
    let allowed = reply.header("access-control-allow-headers").unwrap();
    assert!(allowed.contains("authorization") && !allowed.contains('*'), "{allowed}");
    let reply = ask("http://evil.test").send();
    assert_eq!(reply.status, 403);
    assert!(!reply.headers.iter().any(|(name, _)| name.starts_with("access-control")));
    let reply = Ask::new("OPTIONS", "/mcp", server.port).send();
    assert_eq!(reply.status, 403, "{reply:?}");
}

#[test]
fn there_is_nothing_at_other_paths_and_no_other_method() {
    let server = Server::start();
    for path in ["/", "/mcp/", "/mcp/x", "//mcp", "/MCP", "/.well-known/oauth-protected-resource"] {
        let reply = Ask::new("GET", path, server.port).send();
        assert_eq!(reply.status, 404, "{path}");
        assert_eq!(reply.body, "this is an MCP server; its clients call /mcp");
        assert_hardened(&reply);
    }
    for method in ["PUT", "PATCH", "TRACE", "HEAD", "BREW"] {
        let reply = server.search().line(&format!("{method} /mcp HTTP/1.1")).send();
        assert_eq!(reply.status, 405, "{method} {reply:?}");
    }
    assert_eq!(server.memory.asked(), 0);
}

fn assert_hardened(reply: &Reply) {
    for (name, value) in [
        ("cache-control", "no-store"),
        ("x-content-type-options", "nosniff"),
        ("cross-origin-resource-policy", "same-origin"),
    ] {
        assert_eq!(reply.header(name), Some(value), "{reply:?}");
    }
    let policy = reply.header("content-security-policy").unwrap();
    assert!(policy.starts_with("default-src 'none'"), "{policy}");
}

//! How much may come, and in which form.

use std::io::{Read as _, Write as _};
use std::sync::mpsc::channel;
use std::time::Duration;

use crate::server::{MAX_BODY_BYTES, SEARCH, Server};
use crate::wire::{PATIENCE, connect};

#[test]
fn a_request_is_said_to_be_json() {
    let server = Server::start();
    for (media_type, status) in [
        ("text/plain", 415),
        ("text/plain; application/json", 415),
        ("application/x-www-form-urlencoded", 415),
        ("multipart/form-data; boundary=x", 415),
        ("application/jsonp", 415),
        ("", 415),
        ("application/json", 200),
        ("Application/JSON; charset=utf-8", 200),
    ] {
        let reply = server.search().set("Content-Type", media_type).send();
        assert_eq!(reply.status, status, "{media_type} {reply:?}");
    }
    assert_eq!(server.search().without("Content-Type").send().status, 415);
    assert_eq!(server.memory.asked(), 2);
}

#[test]
fn what_is_no_message_is_an_error_of_the_protocol() {
    let server = Server::start();
    let deep = format!("{}{}", "[".repeat(10_000), "]".repeat(10_000));
    let many = format!("[{}1]", "1,".repeat(30_000));
    for (body, code) in [
        ("", "-32700"),
        ("{", "-32700"),
        ("hello", "-32700"),
        ("[[[[", "-32700"),
        ("\u{0}", "-32700"),
        (&"[".repeat(10_000), "-32700"),
        ("{}", "-32600"),
        ("[]", "-32600"),
        (&deep, "-32600"),
        (&many, "-32600"),
    ] {
        let reply = server.search().body(body).send();
        assert_eq!(reply.status, 400, "{reply:?}");
        assert!(reply.body.contains(code), "{reply:?}");
        assert!(reply.body.starts_with(r#"{"error":"#), "{reply:?}");
        assert_eq!(reply.header("content-type"), Some("application/json"));
    }
    assert_eq!(server.memory.asked(), 0);
}

#[test]
fn a_request_that_is_too_large_is_refused_by_its_length_and_by_its_chunks() {
    let server = Server::start();
    let announced = format!("Content-Length: {}\r\n\r\n", MAX_BODY_BYTES + 1);
    assert_eq!(server.search().send_raw(&announced).status, 413);
    let absurd = format!("Content-Length: {}\r\n\r\n", u64::MAX - 2);
    assert_eq!(server.search().send_raw(&absurd).status, 413);
    let chunk = format!("1000\r\n{}\r\n", " ".repeat(0x1000));
    let chunks = chunk.repeat(4 * MAX_BODY_BYTES / 0x1000);
    let chunked = format!("Transfer-Encoding: chunked\r\n\r\n{chunks}0\r\n\r\n");
    assert_eq!(server.search().send_raw(&chunked).status, 413);
    let whole = format!("{}{}", " ".repeat(MAX_BODY_BYTES - 2), "{}");
    assert_ne!(server.search().body(&whole).send().status, 413);
    assert_eq!(server.memory.asked(), 0);
}

#[test]
fn a_head_that_is_too_large_is_refused() {
    let server = Server::start();
    let long = server.search().with("X-Long", &"x".repeat(20_000)).send();
    assert_eq!(long.status, 431, "{long:?}");
    let mut many = server.search();
    for number in 0..100 {
        many = many.with("X-Many", &number.to_string());
    }
    let many = many.send();
    assert_eq!(many.status, 431, "{many:?}");
    assert_eq!(server.memory.asked(), 0);
}

#[test]
fn what_is_not_http_is_answered_with_an_error_or_not_at_all() {
    let server = Server::start();
    for bytes in [
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03".as_slice(),
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"\0\0\0\0\r\n\r\n",
        b"POST /mcp HTTP/1.1\r\nHost: \xff\xfe\r\n\r\n",
        b"POST /mcp HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
    ] {
        let mut stream = connect(server.port);
        stream.write_all(bytes).unwrap();
        stream.shutdown(std::net::Shutdown::Write).unwrap();
        let mut answer = Vec::new();
        let _ended = stream.read_to_end(&mut answer);
        let answer = String::from_utf8_lossy(&answer);
        assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 4"), "{answer}");
    }
    assert_eq!(server.search().send().status, 200);
    assert_eq!(server.memory.asked(), 1);
}

#[test]
fn a_call_that_has_begun_is_done_though_the_server_is_to_end() {
    let mut server = Server::start();
    let (begin, began) = channel();
    let (release, released) = channel();
    server.memory.hold(begin, released);
    let body = SEARCH.replace("memory_search", "memory_remember");
    let body = body.replace(r#""query":"canary""#, r#""text":"wait""#);
    let length = body.len();
    let ask = server.search().set("Mcp-Name", "memory_remember");
    let mut stream = ask.open(&format!("Content-Length: {length}\r\n\r\n{body}"));
    began.recv_timeout(PATIENCE).unwrap();
    server.begin_stop();
    // When the client is cut off, nothing but the call keeps the server.
    let mut answer = Vec::new();
    let _cut_off = stream.read_to_end(&mut answer);
    assert!(!answer.starts_with(b"HTTP/1.1 2"), "{answer:?}");
    drop(stream);
    assert!(!server.has_ended(Duration::from_secs(3)));
    release.send(()).unwrap();
    assert!(server.has_ended(PATIENCE));
    assert!(server.memory.remembered());
}

#[test]
fn a_panic_ends_its_own_call_and_nothing_else() {
    let mut server = Server::start();
    let session = server.session();
    let body = SEARCH.replace("memory_search", "memory_remember");
    let body = body.replace(r#""query":"canary""#, r#""text":"panic""#);
    let ask = server.search().set("Mcp-Name", "memory_remember").body(&body);
    // More than can be under way at once, so that every panic has to give its place back.
    for _ in 0..10 {
        let reply = ask.send();
        assert_eq!(reply.status, 200, "{reply:?}");
        assert!(reply.body.contains("internal_error"), "{reply:?}");
    }
    assert_eq!(server.search().send().status, 200);
    assert_eq!(server.ping(&session).send().status, 200);
    server.stop();
}

#[test]
fn more_than_twice_the_rate_at_once_waits_and_is_answered() {
    let server = Server::with_rate(50);
    let session = server.session();
    let asks: Vec<_> = (0..200).map(|_| server.search()).collect();
    let statuses: Vec<u16> = std::thread::scope(|scope| {
        let asked: Vec<_> = asks.iter().map(|ask| scope.spawn(|| ask.send().status)).collect();
        asked.into_iter().map(|value| value.join().unwrap()).collect()
    });
    assert!(statuses.iter().all(|status| *status == 200), "{statuses:?}");
    assert_eq!(server.memory.asked(), 200);
    let end = server.ping(&session).line("DELETE /mcp HTTP/1.1").body("");
    assert_eq!(end.send().status, 204, "the end of a session waits for nobody");
}

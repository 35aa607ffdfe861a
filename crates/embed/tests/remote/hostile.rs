//! Servers that are broken or malicious.

use std::process::Command;
use std::time::Duration;

use anemone_embed::{AnswerError, Embedder as _, Purpose, Remote, RemoteError};
use serde_json::{Value, json};

use crate::server::{Reply, Server, cause, http, remote, settings, vector_of};

/// Buffers on the way may hide sixteen megabytes, but not a gigabyte.
const BUFFERS: u64 = 16 << 20;

fn error_of(script: impl Fn() -> Reply + Send + Sync + 'static) -> (RemoteError, Server) {
    let server = Server::start(move |_, _| script());
    let (mut settings, _) = settings(&server);
    settings.patience.tries = 2;
    settings.patience.request = Duration::from_secs(5);
    let remote = Remote::new(settings).unwrap();
    let error = cause(remote.embed(&["one", "two"], Purpose::Document).unwrap_err());
    (error, server)
}

#[track_caller]
fn check(body: &str, expected: &AnswerError) {
    let bytes = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}", body.len());
    let (error, server) = error_of(move || Reply::Raw(bytes.clone().into_bytes()));
    assert!(
        matches!(&error, RemoteError::Answer { source, .. } if source == expected),
        "{body}: {error:?}"
    );
    // Some texts have no vector; another text is sent to find out whether these are such texts.
    let may_be_a_text = matches!(
        expected,
        AnswerError::Unreadable { .. } | AnswerError::NotFinite | AnswerError::Zeros
    );
    assert_eq!(server.received().len(), 1 + usize::from(may_be_a_text), "{body}");
}

#[test]
fn answers_that_are_no_vectors_are_errors() {
    let item =
        |index: usize, embedding: &str| format!(r#"{{"index":{index},"embedding":{embedding}}}"#);
    let data = |items: &[String]| format!(r#"{{"data":[{}]}}"#, items.join(","));
    let fine = "[1,2,3,4]";
    check(&data(&[item(0, fine)]), &AnswerError::Count { asked: 2, found: 1 });
    let three = data(&[item(0, fine), item(1, fine), item(2, fine)]);
    check(&three, &AnswerError::Count { asked: 2, found: 3 });
    check(&data(&[item(0, fine), item(0, fine)]), &AnswerError::Index { index: 0 });
    let short = data(&[item(0, fine), item(1, "[1,2,3]")]);
    check(&short, &AnswerError::Dimensions { expected: 4, found: 3 });
    let zeros = data(&[item(0, "[0,0,0,0]"), item(1, "[0,0,0,0]")]);
    check(&zeros, &AnswerError::Zeros);
    // NaN in base64, which JSON itself cannot say.
    let not_a_number = data(&[item(0, fine), item(1, r#""AADAfwAAgD8AAIA/AACAPw==""#)]);
    check(&not_a_number, &AnswerError::NotFinite);
    check(r#"{"data":[{"index":0,"#, &AnswerError::Unreadable { line: 1, column: 20 });
    check("", &AnswerError::Unreadable { line: 1, column: 0 });
}

#[test]
fn shuffled_vectors_in_base64_find_their_texts() {
    let server = Server::start(|_, received| {
        let item = |(index, text): (usize, &&str)| {
            let bytes: Vec<u8> = vector_of(text).iter().flat_map(|n| n.to_le_bytes()).collect();
            let encoded = base64::Engine::encode(&base64::prelude::BASE64_STANDARD, bytes);
            json!({ "index": index, "embedding": encoded })
        };
        let data: Vec<Value> = received.texts().iter().enumerate().map(item).rev().collect();
        Reply::Json(200, json!({ "data": data }))
    });
    let made = remote(&server).0.embed(&["one", "three", "x"], Purpose::Document).unwrap();
    assert_eq!(made, [vector_of("one"), vector_of("three"), vector_of("x")]);
}

#[test]
fn a_gigabyte_is_refused_by_its_length() {
    let head = "HTTP/1.1 200 OK\r\nContent-Length: 1073741824\r\n\r\n";
    let (error, server) = error_of(move || Reply::Flood(head));
    assert!(matches!(error, RemoteError::Body { limit: 65_792, .. }), "{error:?}");
    assert!(server.sent() < BUFFERS, "{}", server.sent());
    // At once: reading up to the limit would take longer than the time limit.
    let (error, _server) = error_of(move || Reply::Drip(head));
    assert!(matches!(error, RemoteError::Body { .. }), "{error:?}");
}

#[test]
fn a_gigabyte_without_a_length_is_read_up_to_the_limit() {
    for head in [
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
        "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n",
    ] {
        let (error, server) = error_of(move || Reply::Flood(head));
        assert!(matches!(error, RemoteError::Body { .. }), "{head}: {error:?}");
        assert!(server.sent() < BUFFERS, "{head}: {}", server.sent());
    }
}

#[test]
fn the_reason_of_an_error_is_read_up_to_a_limit() {
    let head = "HTTP/1.1 401 No\r\nTransfer-Encoding: chunked\r\n\r\n";
    let (error, server) = error_of(move || Reply::Flood(head));
    assert!(matches!(error, RemoteError::Denied { .. }), "{error:?}");
    assert!(error.to_string().len() < 1000);
    assert!(server.sent() < BUFFERS, "{}", server.sent());
}

#[test]
fn a_slow_drip_does_not_last() {
    let server =
        Server::start(|_, _| Reply::Drip("HTTP/1.1 200 OK\r\nContent-Length: 60000\r\n\r\n"));
    let (mut settings, _) = settings(&server);
    settings.patience.tries = 1;
    settings.patience.request = Duration::from_millis(200);
    let remote = Remote::new(settings).unwrap();
    let error = cause(remote.embed(&["one"], Purpose::Document).unwrap_err());
    assert!(matches!(error, RemoteError::TimedOut { tries: 1, .. }), "{error:?}");
}

#[test]
fn connections_that_break_are_tried_again() {
    for bytes in [
        "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n{\"data\":",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{\"da",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzzzz\r\n",
        "HTTP/1.1 2",
        "SSH-2.0-OpenSSH\r\n",
        "",
    ] {
        let (error, server) = error_of(move || Reply::Raw(bytes.as_bytes().to_vec()));
        assert!(matches!(error, RemoteError::Unreachable { tries: 2, .. }), "{bytes}: {error:?}");
        assert_eq!(server.received().len(), 2, "{bytes}");
    }
}

#[test]
fn headers_have_an_end() {
    let (error, _server) = error_of(|| {
        let many: String = (0..100_000).map(|count| format!("X-{count}: y\r\n")).collect();
        Reply::Raw(http(200, &many, &json!({})))
    });
    assert!(matches!(error, RemoteError::Unreachable { .. }), "{error:?}");
    let (error, _server) = error_of(|| {
        let long = format!("X-Long: {}\r\n", "y".repeat(8 << 20));
        Reply::Raw(http(200, &long, &json!({})))
    });
    assert!(matches!(error, RemoteError::Unreachable { .. }), "{error:?}");
}

#[test]
fn no_redirect_is_followed() {
    let other = Server::good();
    for status in [301, 302, 303, 307, 308] {
        let location = format!("Location: {}/x?key=secret\r\n", other.url());
        let (error, server) = error_of(move || Reply::With(status, location.clone(), json!({})));
        let expected = format!("{}/x", other.url());
        assert!(
            matches!(&error, RemoteError::Redirected { to, .. } if *to == expected),
            "{error:?}"
        );
        assert_eq!(server.received().len(), 1);
    }
    assert!(other.received().is_empty());
}

const PROXIED: &str = "hostile::what_stays_on_this_machine_needs_no_proxy";

#[test]
#[expect(clippy::disallowed_methods, reason = "a test asks its own environment, once")]
fn what_stays_on_this_machine_needs_no_proxy() {
    let server = Server::good();
    remote(&server).0.embed(&["one"], Purpose::Query).unwrap();
    if std::env::var_os("ANEMONE_TEST_PROXIED").is_some() {
        return;
    }
    // Again with a proxy in the environment, which requires a separate process.
    let proxy = Server::good();
    let this = std::env::current_exe().unwrap();
    let mut again = Command::new(this);
    again.env("ANEMONE_TEST_PROXIED", "1");
    for name in ["http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"] {
        again.env(name, proxy.url());
    }
    let output = again.args([PROXIED, "--exact"]).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success() && text.contains("1 passed"), "{text}");
    assert!(proxy.received().is_empty());
}

//! Which requests are retried, how often, and after how long.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

use anemone_embed::{Embedder as _, Pause, Purpose, Remote, RemoteError};
use serde_json::json;

use crate::server::{Reply, Server, cause, good, remote, settings, vector_of};

fn seconds(count: u64) -> Duration {
    Duration::from_secs(count)
}

fn busy(status: u16) -> Reply {
    Reply::Json(status, json!({ "error": { "message": "busy" } }))
}

#[test]
fn what_passes_is_tried_until_it_has_passed() {
    for status in [408, 409, 429, 500, 502, 503, 529] {
        let server = Server::start(move |number, received| match number {
            0..3 => busy(status),
            _ => good(received),
        });
        let (remote, noted) = remote(&server);
        let made = remote.embed(&["one"], Purpose::Document).unwrap();
        assert_eq!(made, [vector_of("one")]);
        let waits = noted.waits();
        assert_eq!(waits.len(), 3, "{status}");
        for (wait, most) in waits.iter().zip([500, 1000, 2000]) {
            let most = Duration::from_millis(most);
            assert!((most / 2..=most).contains(wait), "{status}: {wait:?}");
        }
    }
}

#[test]
fn a_busy_provider_is_asked_for_minutes_and_a_query_twice() {
    let server = Server::start(|_, _| busy(503));
    let (remote, noted) = remote(&server);
    let error = cause(remote.embed(&["one"], Purpose::Document).unwrap_err());
    assert!(matches!(error, RemoteError::Busy { status: 503, tries: 14, .. }), "{error}");
    assert_eq!(server.received().len(), 14);
    assert!(noted.waits().iter().sum::<Duration>() >= seconds(120), "{:?}", noted.waits());
    let error = cause(remote.embed(&["one"], Purpose::Query).unwrap_err());
    assert!(matches!(error, RemoteError::Busy { tries: 2, .. }), "{error}");
    assert!(error.hint().is_some());
    assert_eq!(server.received().len(), 16);
}

#[test]
fn gemini_says_in_the_body_how_long_to_wait() {
    let server = Server::start(|number, received| match number {
        0 => {
            let info = json!({ "@type": "google.rpc.RetryInfo", "retryDelay": "42s" });
            Reply::Json(429, json!({ "error": { "message": "quota", "details": [info] } }))
        }
        _ => good(received),
    });
    let (remote, noted) = remote(&server);
    remote.embed(&["one"], Purpose::Document).unwrap();
    assert_eq!(noted.waits(), [seconds(42)]);
}

#[test]
fn a_provider_says_how_long_to_wait() {
    let date = "Date: Sun, 15 Nov 2026 10:00:00 GMT\r\n";
    for header in ["Retry-After: 42\r\n", "Retry-After: Sun, 15 Nov 2026 10:00:42 GMT\r\n"] {
        let server = Server::start(move |number, received| match number {
            0 => Reply::With(429, format!("{date}{header}"), json!({})),
            _ => good(received),
        });
        let (remote, noted) = remote(&server);
        remote.embed(&["one"], Purpose::Document).unwrap();
        assert_eq!(noted.waits(), [seconds(42)], "{header}");
    }
}

#[test]
fn a_wait_of_hours_is_an_error() {
    let server = Server::start(|_, _| {
        Reply::With(429, "Retry-After: 7200\r\n".to_owned(), json!({ "error": "later" }))
    });
    let (remote, noted) = remote(&server);
    let error = cause(remote.embed(&["one"], Purpose::Document).unwrap_err());
    assert!(
        matches!(error, RemoteError::WaitTooLong { status: 429, wait, .. } if wait == seconds(7200)),
        "{error}"
    );
    assert!(noted.waits().is_empty());
    assert_eq!(server.received().len(), 1);
}

#[test]
fn what_does_not_pass_is_not_tried_again() {
    type Check = fn(&RemoteError) -> bool;
    let cases: [(u16, &str, Check); 7] = [
        (401, "bad key", |error| matches!(error, RemoteError::Denied { status: 401, .. })),
        (403, "not yours", |error| matches!(error, RemoteError::Denied { status: 403, .. })),
        (404, "no such model", |error| matches!(error, RemoteError::Missing { .. })),
        (402, "pay", |error| matches!(error, RemoteError::Quota { .. })),
        (429, "insufficient_quota", |error| matches!(error, RemoteError::Quota { .. })),
        (429, "RequestsPerDayPerProject", |error| matches!(error, RemoteError::Quota { .. })),
        (400, "what?", |error| matches!(error, RemoteError::Rejected { status: 400, .. })),
    ];
    for (status, words, check) in cases {
        let server = Server::start(move |_, _| {
            Reply::Json(status, json!({ "error": { "message": words } }))
        });
        let (remote, noted) = remote(&server);
        let error = cause(remote.embed(&["one"], Purpose::Document).unwrap_err());
        assert!(check(&error), "{status}: {error:?}");
        assert!(error.to_string().contains(words), "{error}");
        assert_eq!(error.hint().is_some(), status != 400);
        // A rejection may be caused by the text: another one is sent to find out.
        let asked = if status == 400 { 2 } else { 1 };
        assert_eq!(server.received().len(), asked);
        assert!(noted.waits().is_empty());
    }
}

#[test]
fn a_server_that_says_nothing_is_given_up() {
    let server = Server::start(|_, _| Reply::Silence);
    let (mut settings, noted) = settings(&server);
    settings.patience.request = Duration::from_millis(100);
    settings.patience.tries = 3;
    let remote = Remote::new(settings).unwrap();
    let error = cause(remote.embed(&["one"], Purpose::Document).unwrap_err());
    assert!(matches!(error, RemoteError::TimedOut { tries: 3, .. }), "{error}");
    assert_eq!(noted.waits().len(), 2);
}

#[test]
fn a_port_where_nobody_listens_is_tried_again() {
    let server = Server::good();
    let (mut settings, noted) = settings(&server);
    // The port is free again as soon as it was found.
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    settings.url = Some(format!("http://127.0.0.1:{port}"));
    settings.patience.tries = 2;
    let remote = Remote::new(settings).unwrap();
    let error = cause(remote.embed(&["one"], Purpose::Document).unwrap_err());
    assert!(matches!(error, RemoteError::Unreachable { tries: 2, .. }), "{error}");
    assert_eq!(noted.waits().len(), 1);
}

#[test]
fn who_does_not_want_to_wait_is_let_go() {
    struct Enough;
    impl Pause for Enough {
        fn pause(&self, _wait: Duration) -> ControlFlow<()> {
            ControlFlow::Break(())
        }
    }
    let server = Server::start(|_, _| busy(503));
    let (mut settings, _) = settings(&server);
    settings.pause = Arc::new(Enough);
    let remote = Remote::new(settings).unwrap();
    let error = cause(remote.embed(&["one"], Purpose::Document).unwrap_err());
    assert!(matches!(error, RemoteError::Interrupted), "{error}");
    assert_eq!(server.received().len(), 1);
}

//! No output contains a secret, whichever side repeats it.

use std::time::Duration;

use anemone_embed::{Embedder as _, Purpose, Remote};
use serde_json::json;

use crate::server::{KEY, Reply, Server, all_of, remote, settings};

/// Asserts that the output contains no four consecutive characters of the key.
#[track_caller]
fn assert_hidden(text: &str) {
    for at in 0..=KEY.len() - 4 {
        assert!(!text.contains(&KEY[at..at + 4]), "{} in {text}", &KEY[at..at + 4]);
    }
}

#[test]
fn a_key_that_a_provider_repeats_is_not_passed_on() {
    let (start, end) = (&KEY[..6], &KEY[KEY.len() - 4..]);
    let echoes = [
        format!("Incorrect API key provided: {KEY}."),
        format!("Incorrect API key provided: {start}*****{end}."),
        format!("header was: authorization: Bearer {KEY}"),
        format!("url?key={}", KEY.replace('-', "%2D")),
        // Long enough that the message is cut in the middle of the key.
        format!("{}{KEY}", "x".repeat(64 * 1024 - 30)),
        format!("{}{KEY}", "x".repeat(294)),
    ];
    for echo in echoes {
        for status in [400, 401, 404, 429, 500] {
            let words = echo.clone();
            let server = Server::start(move |_, _| {
                Reply::Json(status, json!({ "error": { "message": words } }))
            });
            let (remote, _) = remote(&server);
            let error = remote.embed(&["one"], Purpose::Query).unwrap_err();
            assert_hidden(&all_of(&error));
        }
    }
}

#[test]
fn a_key_in_a_good_answer_or_a_redirect_is_not_passed_on() {
    let replies: [fn() -> Reply; 3] = [
        || Reply::Json(200, json!({ "data": [{ "index": 0, "embedding": [KEY] }] })),
        || Reply::With(302, format!("Location: /{KEY}/?key={KEY}\r\n"), json!({})),
        || Reply::Raw(format!("HTTP/1.1 {KEY}\r\n\r\n").into_bytes()),
    ];
    for reply in replies {
        let server = Server::start(move |_, _| reply());
        let (remote, _) = remote(&server);
        let error = remote.embed(&["one"], Purpose::Query).unwrap_err();
        assert_hidden(&all_of(&error));
        assert_hidden(&format!("{remote:?} {remote:#?}"));
    }
}

#[test]
fn password_and_query_of_the_url_are_not_shown() {
    let patience = Duration::from_secs(15);
    // Only a silent server is not waited for.
    let replies: [(Duration, fn() -> Reply); 4] = [
        (Duration::from_secs(1), || Reply::Silence),
        (patience, || Reply::Raw(Vec::new())),
        (patience, || Reply::Json(500, json!({ "error": "no" }))),
        (patience, || Reply::Json(200, json!({}))),
    ];
    for (patience, reply) in replies {
        let server = Server::start(move |_, _| reply());
        let (mut settings, _) = settings(&server);
        settings.key = None;
        settings.query_patience.request = patience;
        let url = server.url().replace("http://", "http://someone:hunter2@");
        settings.url = Some(format!("{url}/v1?token=topsecret"));
        let shown = format!("{settings:?}");
        let remote = Remote::new(settings).unwrap();
        let error = remote.embed(&["one"], Purpose::Query).unwrap_err();
        let text = format!("{shown} {remote:?} {}", all_of(&error));
        for secret in ["someone", "hunter2", "topsecret"] {
            assert!(!text.contains(secret), "{text}");
        }
        assert!(text.contains("/v1/embeddings"), "{text}");
        // A server that is not waited for may have read nothing yet.
        let line = server.received().into_iter().next().map(|received| received.line);
        assert!(line.is_none_or(|line| line.contains("/v1/embeddings?token=topsecret")));
    }
}

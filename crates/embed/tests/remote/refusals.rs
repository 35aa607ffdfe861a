//! Texts that a provider rejects, and what is kept when it accepts no more.

use anemone_embed::{Embedder as _, Purpose, RemoteError};
use serde_json::json;

use crate::server::{Received, Reply, Server, cause, good, remote, settings, vector_of};

fn has_bad(received: &Received) -> bool {
    received.texts().iter().any(|text| text.contains("bad"))
}

/// Sixteen texts, one of which is rejected.
fn texts() -> Vec<&'static str> {
    let mut texts = vec!["fine"; 16];
    texts[11] = "a bad one";
    texts
}

#[test]
fn one_text_that_is_refused_does_not_cost_the_others_their_vectors() {
    let refusals: [fn(&Received) -> Reply; 4] = [
        |_| Reply::Json(400, json!({ "error": { "message": "content policy" } })),
        |_| Reply::Json(500, json!({ "error": "unsupported value: NaN" })),
        |_| Reply::Raw(b"HTTP/1.1 200 OK\r\nContent-Length: 15\r\n\r\n{\"data\":[[NaN]]".to_vec()),
        |received| {
            let zeros = |index| json!({ "index": index, "embedding": [0, 0, 0, 0] });
            let data: Vec<_> = (0..received.texts().len()).map(zeros).collect();
            Reply::Json(200, json!({ "data": data }))
        },
    ];
    for (number, refuse) in refusals.into_iter().enumerate() {
        let server =
            Server::start(
                move |_, received| {
                    if has_bad(received) { refuse(received) } else { good(received) }
                },
            );
        let (remote, _) = remote(&server);
        let made = remote.embed_some(&texts(), Purpose::Document);
        assert!(made.error.is_none(), "{number}: {:?}", made.error);
        assert_eq!(made.refused, 1, "{number}");
        assert_eq!(made.vectors[11], Some(vec![0.0; 4]), "{number}");
        let others = made.vectors.iter().enumerate().filter(|(at, _)| *at != 11);
        assert!(
            others.into_iter().all(|(_, vector)| *vector == Some(vector_of("fine"))),
            "{number}"
        );
    }
}

#[test]
fn a_provider_that_refuses_everything_is_to_blame_and_not_the_texts() {
    let server =
        Server::start(|_, _| Reply::Json(400, json!({ "error": { "message": "unknown field" } })));
    let (remote, _) = remote(&server);
    let made = remote.embed_some(&["one", "two"], Purpose::Document);
    assert_eq!((made.vectors, made.refused), (vec![None, None], 0));
    let error = cause(made.error.unwrap());
    assert!(matches!(error, RemoteError::Rejected { status: 400, .. }), "{error}");
    assert_eq!(server.received().len(), 2, "it is asked for one other text");
}

#[test]
fn many_refusals_in_a_row_end_the_call_and_mark_nothing() {
    let server = Server::start(|_, received| {
        if received.texts() == ["size"] {
            good(received)
        } else {
            Reply::Json(400, json!({ "error": { "message": "not allowed" } }))
        }
    });
    let (mut settings, _) = settings(&server);
    settings.max_batch = Some(1);
    let remote = anemone_embed::Remote::new(settings).unwrap();
    let made = remote.embed_some(&["x"; 100], Purpose::Document);
    assert!(made.vectors.iter().all(Option::is_none));
    assert_eq!(made.refused, 0);
    assert!(matches!(cause(made.error.unwrap()), RemoteError::Rejected { .. }));
    // Two for each, and the requests in flight.
    assert!(server.received().len() < 80, "{}", server.received().len());
}

#[test]
fn a_query_that_is_refused_is_an_error_at_once() {
    let server =
        Server::start(|_, _| Reply::Json(400, json!({ "error": { "message": "not allowed" } })));
    let (remote, _) = remote(&server);
    remote.embed(&["one"], Purpose::Query).unwrap_err();
    assert_eq!(server.received().len(), 1);
}

#[test]
fn what_was_made_before_a_failure_is_handed_out() {
    let server = Server::start(|number, received| match number {
        0..3 => good(received),
        _ => Reply::Json(402, json!({ "error": "pay" })),
    });
    let (mut settings, _) = settings(&server);
    settings.max_batch = Some(2);
    settings.concurrency = 1;
    let remote = anemone_embed::Remote::new(settings).unwrap();
    let made = remote.embed_some(&["a", "b", "c", "", "d", "e", "f", "g"], Purpose::Document);
    let there: Vec<bool> = made.vectors.iter().map(Option::is_some).collect();
    assert_eq!(there, [true, true, true, true, true, true, true, false]);
    assert_eq!(made.vectors[6], Some(vector_of("f")));
    assert!(matches!(cause(made.error.unwrap()), RemoteError::Quota { .. }));
}

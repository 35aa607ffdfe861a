//! Many texts, long texts, and servers that take fewer.

use anemone_embed::{Embedder as _, Provider, Purpose, Remote, RemoteError, RemoteSettings};
use serde_json::json;

use crate::server::{Reply, Server, cause, good, remote, settings, vector_of};

#[test]
fn vectors_come_back_in_the_order_of_their_texts() {
    let server = Server::good();
    let (mut settings, _) = settings(&server);
    settings.max_batch = Some(7);
    let remote = Remote::new(settings).unwrap();
    let texts: Vec<String> = (0..100).map(|count| "x".repeat(count + 1)).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let made = remote.embed(&texts, Purpose::Document).unwrap();
    let expected: Vec<Vec<f32>> = texts.iter().map(|text| vector_of(text)).collect();
    assert_eq!(made, expected);
    let seen = server.received();
    assert_eq!(seen.len(), 15);
    assert!(seen.iter().all(|received| received.texts().len() <= 7));
}

#[test]
fn a_request_holds_no_more_than_its_tokens() {
    let server = Server::good();
    let (mut settings, _) = settings(&server);
    settings.batch_tokens = 100;
    let remote = Remote::new(settings).unwrap();
    let text = "word ".repeat(32);
    remote.embed(&[text.as_str(); 10], Purpose::Document).unwrap();
    assert!(server.received().iter().all(|received| received.texts().len() == 2));
    assert_eq!(server.received().len(), 5);
}

#[test]
fn empty_texts_are_not_sent_and_mean_nothing() {
    let server = Server::good();
    let (remote, _) = remote(&server);
    let made = remote.embed(&["", "one", " \n", "two"], Purpose::Document).unwrap();
    let nothing = vec![0.0; 4];
    assert_eq!(made, [nothing.clone(), vector_of("one"), nothing, vector_of("two")]);
    assert_eq!(server.received()[0].texts(), ["one", "two"]);
    assert!(remote.embed(&[], Purpose::Document).unwrap().is_empty());
    assert_eq!(remote.embed(&[""], Purpose::Query).unwrap(), [vec![0.0; 4]]);
    assert_eq!(server.received().len(), 1);
}

#[test]
fn a_server_that_takes_fewer_texts_is_sent_fewer_from_then_on() {
    for (status, words) in [(413, ""), (400, "too many inputs"), (422, "batch size is at most 3")] {
        let server = Server::start(move |_, received| {
            if received.texts().len() > 3 {
                return Reply::Json(status, json!({ "error": { "message": words } }));
            }
            good(received)
        });
        let (mut settings, noted) = settings(&server);
        settings.concurrency = 1;
        let remote = Remote::new(settings).unwrap();
        let texts: Vec<String> = (0..20).map(|count| "x".repeat(count + 1)).collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let expected: Vec<Vec<f32>> = texts.iter().map(|text| vector_of(text)).collect();
        assert_eq!(remote.embed(&texts, Purpose::Document).unwrap(), expected);
        let first = server.received().len();
        assert_eq!(remote.embed(&texts, Purpose::Document).unwrap(), expected);
        let sizes: Vec<usize> =
            server.received()[first..].iter().map(|received| received.texts().len()).collect();
        assert_eq!(sizes, [2; 10], "{status}");
        assert!(noted.waits().is_empty());
        assert_eq!(remote.embed_some(&texts, Purpose::Document).cut, 0);
        assert_eq!(remote.texts_at_once(), 2);
    }
}

#[test]
fn one_long_text_is_halved_until_it_fits_and_the_others_stay_together() {
    let server = Server::start(|_, received| {
        if received.texts().iter().any(|text| text.len() > 300) {
            let words = "this model's maximum context length is 75 tokens";
            return Reply::Json(400, json!({ "error": { "message": words } }));
        }
        good(received)
    });
    let (mut settings, _) = settings(&server);
    settings.concurrency = 1;
    let remote = Remote::new(settings).unwrap();
    let long = "\u{e9}".repeat(1001);
    let mut texts = vec!["short"; 8];
    texts[5] = &long;
    let made = remote.embed_some(&texts, Purpose::Document);
    assert_eq!(made.vectors[4], Some(vector_of("short")));
    // 2002 bytes, 1000, 500, 250, and never half a letter.
    assert_eq!(made.vectors[5], Some(vector_of(&"\u{e9}".repeat(125))));
    assert_eq!((made.cut, made.refused), (1, 0));
    remote.embed(&["short"; 8], Purpose::Document).unwrap();
    assert_eq!(server.received().last().unwrap().texts().len(), 8);
}

#[test]
fn a_text_beyond_the_model_is_cut_before_it_is_sent() {
    let server = Server::good();
    let (remote, _) = remote(&server);
    let long = "x".repeat(100_000);
    let made = remote.embed_some(&[&long, "short"], Purpose::Document);
    let mut sizes: Vec<usize> = server
        .received()
        .iter()
        .flat_map(|received| received.texts().iter().map(|text| text.len()).collect::<Vec<_>>())
        .collect();
    sizes.sort_unstable();
    assert_eq!(sizes, [5, 32_000]);
    assert_eq!((made.cut, made.error.is_none()), (1, true));
}

#[test]
fn ollama_cuts_what_is_too_long_and_that_is_counted() {
    let server = Server::start(|_, received| {
        let is_long = received.texts().iter().any(|text| text.len() > 20);
        if is_long && received.body["truncate"] != json!(true) {
            let words = "the input length exceeds the context length";
            return Reply::Json(400, json!({ "error": words }));
        }
        let vectors: Vec<_> = received.texts().iter().map(|text| vector_of(text)).collect();
        Reply::Json(200, json!({ "embeddings": vectors }))
    });
    let (mut settings, _) = settings(&server);
    settings.provider = Provider::Ollama;
    settings.key = None;
    let remote = Remote::new(settings).unwrap();
    let long = "word ".repeat(20);
    let made = remote.embed_some(&["one", &long, "two"], Purpose::Document);
    assert_eq!((made.cut, made.error.is_none()), (1, true));
    // The whole text: Ollama truncates it itself.
    assert_eq!(made.vectors[1], Some(vector_of(&long)));
}

#[test]
fn a_server_that_finds_everything_too_long_is_given_up() {
    let server = Server::start(|_, _| Reply::Json(400, json!({ "error": "input is too long" })));
    let (remote, _) = remote(&server);
    let text = "x".repeat(1000);
    let error = cause(remote.embed(&[&text, "short"], Purpose::Document).unwrap_err());
    assert!(matches!(error, RemoteError::TooLong { status: 400, .. }), "{error}");
    assert!(server.received().len() < 30);
}

#[test]
fn after_an_error_nothing_more_is_sent() {
    let server = Server::start(|_, _| Reply::Json(401, json!({ "error": "no" })));
    let (mut settings, _) = settings(&server);
    settings.max_batch = Some(1);
    let remote = Remote::new(settings).unwrap();
    remote.embed(&["one"; 200], Purpose::Document).unwrap_err();
    // One for each of the four concurrent requests.
    assert!(server.received().len() <= 8, "{}", server.received().len());
}

#[test]
fn a_batch_has_8000_tokens_and_four_run_at_once() {
    for provider in Provider::ALL {
        let settings = RemoteSettings::new(provider);
        assert_eq!((settings.batch_tokens, settings.concurrency), (8_000, 4), "{provider:?}");
    }
}

#[test]
fn a_call_is_worth_as_many_texts_as_run_at_once() {
    let server = Server::good();
    assert_eq!(remote(&server).0.texts_at_once(), 128);
    let (mut settings, _) = settings(&server);
    settings.max_batch = Some(8);
    settings.concurrency = 2;
    assert_eq!(Remote::new(settings).unwrap().texts_at_once(), 16);
}

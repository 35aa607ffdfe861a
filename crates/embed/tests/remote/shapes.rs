//! The exact request for each provider.

use anemone_embed::{
    ApiKey, Effort, Embedder as _, Encoding, ModelIdentity, Provider, Purpose, Remote, RemoteError,
    RemoteSettings,
};
use serde_json::{Value, json};

use crate::server::{KEY, Reply, Server, good, remote, settings, vector_of};

/// Asks for two documents and a query, and returns what the server saw.
fn ask(
    provider: Provider,
    answer: fn(usize) -> Value,
    change: impl FnOnce(&mut RemoteSettings),
) -> Vec<(String, String, Value)> {
    let server = Server::start(move |_, received| {
        let texts = received.body["input"].as_array().or(received.body["requests"].as_array());
        Reply::Json(200, answer(texts.unwrap().len()))
    });
    let mut settings = RemoteSettings::new(provider);
    settings.url = Some(server.url());
    settings.dimensions = Some(3);
    settings.key = Some(ApiKey::new(KEY.to_owned()).unwrap());
    change(&mut settings);
    let remote = Remote::new(settings).unwrap();
    let made = remote.embed(&["one", "two"], Purpose::Document).unwrap();
    assert_eq!(made, [[1.0, 2.0, 3.0], [1.0, 2.0, 3.0]]);
    remote.embed(&["what?"], Purpose::Query).unwrap();
    let seen = server.received();
    seen.into_iter().map(|received| (received.line, received.headers, received.body)).collect()
}

fn openai(count: usize) -> Value {
    let item = |index| json!({ "index": index, "embedding": [1, 2, 3] });
    json!({ "data": (0..count).map(item).collect::<Vec<_>>() })
}

fn ollama(count: usize) -> Value {
    json!({ "embeddings": vec![[1, 2, 3]; count] })
}

fn gemini(count: usize) -> Value {
    json!({ "embeddings": vec![json!({ "values": [1, 2, 3] }); count] })
}

#[test]
fn openai_is_asked_in_its_own_words() {
    let seen = ask(Provider::OpenAi, openai, |settings| {
        settings.encoding = Some(Encoding::Base64);
        settings.query_input_type = Some("query".to_owned());
        settings.document_input_type = Some("passage".to_owned());
    });
    assert_eq!(seen[0].0, "POST /v1/embeddings HTTP/1.1");
    assert!(seen[0].1.contains(&format!("authorization: Bearer {KEY}\n")));
    assert_eq!(
        seen[0].2,
        json!({
            "model": "text-embedding-3-small", "input": ["one", "two"], "dimensions": 3,
            "encoding_format": "base64", "input_type": "passage",
        })
    );
    assert_eq!(seen[1].2["input_type"], "query");
}

#[test]
fn another_server_is_asked_for_nothing_that_it_may_not_know() {
    let seen = ask(Provider::OpenAi, openai, |settings| {
        settings.model = Some("own".to_owned());
        settings.key = None;
    });
    assert!(!seen[0].1.contains("authorization"));
    assert_eq!(seen[0].2, json!({ "model": "own", "input": ["one", "two"], "dimensions": 3 }));
}

#[test]
fn ollama_is_asked_in_its_own_words() {
    let seen = ask(Provider::Ollama, ollama, |settings| settings.key = None);
    assert_eq!(seen[0].0, "POST /api/embed HTTP/1.1");
    assert!(!seen[0].1.contains("authorization"));
    assert_eq!(
        seen[0].2,
        json!({
            "model": "nomic-embed-text", "input": ["one", "two"], "truncate": false,
            "dimensions": 3,
        })
    );
}

#[test]
fn gemini_is_asked_in_its_own_words() {
    let seen = ask(Provider::Gemini, gemini, |settings| {
        settings.model = Some("models/gemini-embedding-001".to_owned());
    });
    assert_eq!(seen[0].0, "POST /v1beta/models/gemini-embedding-001:batchEmbedContents HTTP/1.1");
    assert!(seen[0].1.contains(&format!("x-goog-api-key: {KEY}\n")));
    assert!(!seen[0].1.contains("authorization"));
    let request = |text: &str, task: &str| {
        json!({
            "model": "models/gemini-embedding-001",
            "content": { "parts": [{ "text": text }] },
            "taskType": task,
            "outputDimensionality": 3,
        })
    };
    let documents = [request("one", "RETRIEVAL_DOCUMENT"), request("two", "RETRIEVAL_DOCUMENT")];
    assert_eq!(seen[0].2, json!({ "requests": documents }));
    assert_eq!(seen[1].2, json!({ "requests": [request("what?", "RETRIEVAL_QUERY")] }));
}

#[test]
fn voyage_is_asked_in_its_own_words() {
    let seen = ask(Provider::Voyage, openai, |_| {});
    assert_eq!(seen[0].0, "POST /v1/embeddings HTTP/1.1");
    assert!(seen[0].1.contains(&format!("authorization: Bearer {KEY}\n")));
    assert_eq!(
        seen[0].2,
        json!({
            "model": "voyage-4-large", "input": ["one", "two"], "input_type": "document",
            "output_dimension": 3,
        })
    );
    assert_eq!(seen[1].2["input_type"], "query");
}

#[test]
fn mistral_is_asked_in_its_own_words() {
    let seen = ask(Provider::Mistral, openai, |_| {});
    assert_eq!(seen[0].0, "POST /v1/embeddings HTTP/1.1");
    assert!(seen[0].1.contains(&format!("authorization: Bearer {KEY}\n")));
    let expected =
        json!({ "model": "mistral-embed", "input": ["one", "two"], "output_dimension": 3 });
    assert_eq!(seen[0].2, expected);
}

#[test]
fn a_request_says_little_about_who_asks() {
    let server = Server::good();
    remote(&server).0.embed(&["one"], Purpose::Query).unwrap();
    let headers = &server.received()[0].headers;
    let mut names: Vec<&str> =
        headers.lines().filter_map(|line| Some(line.split_once(':')?.0)).collect();
    names.sort_unstable();
    let expected =
        ["accept", "authorization", "content-length", "content-type", "host", "user-agent"];
    assert_eq!(names, expected);
}

#[test]
fn a_known_model_has_its_identity_before_it_is_asked() {
    for (provider, dimensions) in [
        (Provider::OpenAi, 1536),
        (Provider::Gemini, 3072),
        (Provider::Voyage, 1024),
        (Provider::Mistral, 1024),
        (Provider::Ollama, 768),
    ] {
        let mut settings = RemoteSettings::new(provider);
        settings.key = Some(ApiKey::new(KEY.to_owned()).unwrap());
        let mut remote = Remote::new(settings).unwrap();
        // The size is already known, so no request is made.
        remote.connect().unwrap();
        let expected = ModelIdentity {
            provider: provider.name().to_owned(),
            model: provider.default_model().to_owned(),
            dimensions,
        };
        assert_eq!(remote.identity(), &expected);
        assert_eq!(remote.effort(), Effort::Remote);
    }
}

#[test]
fn models_of_different_servers_are_told_apart() {
    let identity = |change: fn(&mut RemoteSettings)| {
        let mut settings = RemoteSettings::new(Provider::OpenAi);
        settings.key = Some(ApiKey::new(KEY.to_owned()).unwrap());
        settings.model = Some("bge-m3".to_owned());
        change(&mut settings);
        Remote::new(settings).unwrap().identity().clone()
    };
    let own = identity(|_| {});
    assert_eq!(own.model, "bge-m3");
    assert_eq!(identity(|settings| settings.url = Some("https://api.openai.com".to_owned())), own);
    let other =
        identity(|settings| settings.url = Some("https://gpu.example.org:8443/v1".to_owned()));
    assert_eq!((&*other.model, other.bare_model()), ("bge-m3@gpu.example.org:8443", "bge-m3"));
    let passage = identity(|settings| {
        settings.url = Some("https://gpu.example.org:8443/v1".to_owned());
        settings.document_input_type = Some("pass@/age".to_owned());
    });
    assert_eq!(passage.model, "bge-m3@gpu.example.org:8443+passage");
    assert_eq!(passage.bare_model(), "bge-m3");
}

#[test]
fn an_unknown_model_is_asked_once_for_its_size() {
    let server = Server::good();
    let (mut settings, _) = settings(&server);
    settings.dimensions = None;
    let mut remote = Remote::new(settings).unwrap();
    assert_eq!(remote.identity().dimensions, 0);
    let error = crate::server::cause(remote.embed(&["one"], Purpose::Query).unwrap_err());
    assert!(matches!(error, RemoteError::NotConnected));
    remote.connect().unwrap();
    remote.connect().unwrap();
    assert_eq!(remote.identity().dimensions, 4);
    let seen = server.received();
    assert_eq!(seen.len(), 1);
    assert_eq!(seen[0].body.get("dimensions"), None);
    assert_eq!(remote.embed(&["one"], Purpose::Query).unwrap(), [vector_of("one")]);
}

#[test]
fn a_provider_that_wants_a_key_is_not_asked_without() {
    for provider in Provider::ALL {
        let made = Remote::new(RemoteSettings::new(provider));
        match provider.key_variable() {
            Some(variable) => {
                let hint = made.unwrap_err().hint().unwrap();
                assert!(hint.contains(variable), "{hint}");
            }
            None => assert!(made.is_ok()),
        }
    }
}

#[test]
fn settings_that_cannot_work_are_refused() {
    let made = |change: fn(&mut RemoteSettings)| {
        let mut settings = RemoteSettings::new(Provider::Ollama);
        change(&mut settings);
        Remote::new(settings).unwrap_err()
    };
    let error = made(|settings| settings.dimensions = Some(0));
    assert!(matches!(error, RemoteError::Dimensions { asked: 0 }));
    let error = made(|settings| settings.dimensions = Some(1 << 20));
    assert!(matches!(error, RemoteError::Dimensions { .. }));
    let error = made(|settings| settings.model = Some(" ".to_owned()));
    assert!(matches!(error, RemoteError::Model));
    let error = made(|settings| {
        settings.url = Some("http://me:pass@localhost".to_owned());
        settings.key = ApiKey::new("sk-1234".to_owned()).ok();
    });
    assert!(matches!(error, RemoteError::TwoKeys));
}

#[test]
fn a_user_in_the_url_is_sent_as_such() {
    let server = Server::start(|_, received| good(received));
    let (mut settings, _) = settings(&server);
    settings.key = None;
    settings.url = Some(server.url().replace("http://", "http://me:pass@"));
    Remote::new(settings).unwrap().embed(&["one"], Purpose::Query).unwrap();
    assert!(server.received()[0].headers.contains("authorization: Basic bWU6cGFzcw==\n"));
}

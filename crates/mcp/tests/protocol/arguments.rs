//! Mistakes that a model may make, and the answers to them.

use serde_json::{Value, json};

use crate::client::{BOTH, Client, Revision, settings};
use crate::fake_memory::FakeMemory;

async fn client() -> Client {
    Client::new(FakeMemory::new(), settings(None, true), Revision::Older).await
}

#[tokio::test]
async fn bad_arguments_are_answered_with_the_field_and_an_example() {
    let mut client = client().await;
    for (tool, given, part) in [
        ("memory_search", json!({}), "`query` is missing"),
        ("memory_search", json!({"query": 7}), "`query` must be a text, not 7"),
        ("memory_search", json!({"query": " "}), "`query` is empty"),
        ("memory_search", json!({"query": "a", "max_results": 3}), "did you mean `maxResults`?"),
        ("memory_search", json!({"query": "a", "maxResults": 51}), "from 1 to 50, not 51"),
        ("memory_search", json!({"query": "a", "maxResults": -1}), "from 1 to 50, not -1"),
        ("memory_search", json!({"query": "a", "maxResults": 1e300}), "a whole number"),
        ("memory_search", json!({"query": "a", "minScore": 1.5}), "from 0.0 to 1.0, not 1.5"),
        ("memory_search", json!({"query": "a\u{0}b"}), "NUL"),
        ("memory_get", json!({"path": "MEMORY.md", "from": 0}), "of 1 or more, not 0"),
        ("memory_get", json!({"path": ["MEMORY.md"]}), "`path` must be a text, not a list"),
        ("memory_remember", json!({"text": "a", "tags": "b"}), "must be a list of texts"),
        ("memory_remember", json!({"text": "a", "tags": [1]}), "`tags[0]` must be a text"),
        ("memory_remember", json!({"text": "a", "source": "owner"}), "one of agent, tool, web"),
        ("memory_remember", json!({"text": "a", "force": "yes"}), "must be true or false"),
        ("memory_forget", json!({}), "`key` or `id` is missing"),
        ("memory_forget", json!({"key": "a", "id": "b"}), "more are given"),
        ("memory_forget", json!({"citation": "a#L1", "id": "b"}), "more are given"),
        ("memory_context", json!({"session": "dm"}), "one of main, group, subagent, cron"),
        ("memory_status", json!({"verbose": true}), "it takes no arguments"),
    ] {
        let text = client.refused(tool, given.clone()).await;
        assert!(text.contains(part), "{tool} {given}: {text} lacks {part}");
        assert!(text.contains("(bad_arguments)"), "{text}");
        assert!(text.contains("hint: call it with arguments such as {"), "{text}");
    }
}

#[tokio::test]
async fn arguments_that_are_no_object_are_the_models_mistake_too() {
    for revision in BOTH {
        let settings = settings(None, true);
        let mut client = Client::new(FakeMemory::new(), settings, revision).await;
        for given in [json!("tea"), json!([1]), json!(7)] {
            let text = client.refused("memory_search", given).await;
            assert!(text.contains("`arguments` an object"), "{text}");
        }
    }
}

#[tokio::test]
async fn a_megabyte_is_read_and_refused_kindly() {
    let mut client = client().await;
    let long = "x".repeat(1_000_000);
    let text = client.refused("memory_search", json!({"query": long})).await;
    assert!(text.contains("more than 10000 characters"), "{text}");
    let text = client.refused("memory_remember", json!({"text": long})).await;
    assert!(text.contains("1000000 bytes and at most 65536") && text.len() < 500, "{text}");
    let (_, data) = client.told("memory_remember", json!({"text": &long[..65_536]})).await;
    assert_eq!(data["written"], true);
}

#[tokio::test]
async fn a_deep_value_is_refused_as_what_it_is() {
    let mut client = client().await;
    let deep = (0..100).fold(json!(1), |inner, _| json!([inner]));
    let text = client.refused("memory_search", json!({"query": deep})).await;
    assert!(text.contains("`query` must be a text, not a list"), "{text}");
    let many: Value = (0..500).map(|at| (format!("field{at}"), json!(1))).collect();
    let text = client.refused("memory_search", many).await;
    assert!(text.contains("; and 496 more") && text.len() < 2000, "{text}");
}

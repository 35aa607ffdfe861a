//! The tools by OpenClaw's names.

use anemone_memory::DATA_NOTICE;
use serde_json::json;

use crate::client::{Client, Revision, native, settings};
use crate::fake_memory::FakeMemory;

#[tokio::test]
async fn memories_are_recalled_and_stored_once() {
    let settings = settings(native("openclaw"), true);
    let mut client = Client::new(FakeMemory::new(), settings, Revision::Older).await;
    let (_, data) = client.told("memory_recall", json!({"query": "tea"})).await;
    assert_eq!(
        data,
        json!({"notice": DATA_NOTICE, "count": 1, "memories": [{
            "id": "MEMORY.md",
            "text": "| Ana prefers green tea.\n| The database is Postgres.\n",
            "category": "core",
            "importance": 0.5,
            "score": 1.0,
        }]})
    );
    let (_, data) = client.told("memory_recall", json!({"query": "Postgres", "limit": 1})).await;
    assert_eq!(data["count"], 1);

    let coffee = json!({"text": "Bo takes coffee.", "category": "preference"});
    let (text, data) = client.told("memory_store", coffee.clone()).await;
    assert_eq!(data, json!({"action": "created", "id": "memory/new.md"}));
    assert!(text.contains("kind Some(\"preference\"), importance Some(0.7)"), "{text}");
    let (text, data) = client.told("memory_store", coffee).await;
    assert!(!text.contains("supersedes") && !text.contains("force"), "{text}");
    assert_eq!(
        data,
        json!({
            "notice": DATA_NOTICE,
            "action": "duplicate",
            "existingId": "memory/new.md",
            "existingText": "| Bo takes coffee.\n",
        })
    );
    let text = client.refused("memory_store", json!({"text": "a", "category": "tea"})).await;
    assert!(text.contains("one of preference, decision, entity, fact, other"), "{text}");
}

#[tokio::test]
async fn nothing_is_named_that_is_not_in_the_set() {
    for set in [native("openclaw"), native("zeroclaw")] {
        let mut client = Client::new(FakeMemory::new(), settings(set, true), Revision::Older).await;
        let text = client.refused("memory_recall", json!({"query": "hint"})).await;
        assert!(text.contains("(hinted)") && !text.contains("memory_search"), "{text}");
        let (text, _) = client.told("memory_recall", json!({"query": "xyzzy"})).await;
        assert!(!text.contains("since"), "{text}");
    }
    let settings = settings(None, true);
    let mut client = Client::new(FakeMemory::new(), settings, Revision::Older).await;
    let text = client.refused("memory_search", json!({"query": "hint"})).await;
    assert!(text.contains("hint: memory_search finds it"), "{text}");
}

#[tokio::test]
async fn by_a_query_only_what_surely_fits_is_forgotten() {
    let memory = FakeMemory::new();
    let settings = settings(native("openclaw"), true);
    let mut client = Client::new(memory.clone(), settings, Revision::Older).await;

    let (text, data) = client.told("memory_forget", json!({"query": "Postgres"})).await;
    assert_eq!(data["action"], "candidates");
    assert_eq!(data["candidates"].as_array().unwrap().len(), 2);
    assert!(text.starts_with("Nothing is deleted."), "{text}");
    let (_, data) = client.told("memory_forget", json!({"query": "tea and cake"})).await;
    assert_eq!(data["action"], "candidates", "half a fit is not enough");
    let (_, data) = client.told("memory_forget", json!({"query": "xyzzy"})).await;
    assert_eq!(data, json!({"found": 0}));
    let (_, data) = client.told("memory_forget", json!({"memoryId": "no.md"})).await;
    assert_eq!(data, json!({"found": 0}));
    assert!(memory.holds("MEMORY.md"));

    let (_, data) = client.told("memory_forget", json!({"query": "green tea"})).await;
    assert_eq!(data, json!({"action": "deleted", "id": "MEMORY.md"}));
    assert!(!memory.holds("MEMORY.md"));

    let result = client.call("memory_forget", json!({})).await;
    assert_eq!(result["isError"], true);
    assert_eq!(result["structuredContent"], json!({"error": "missing_param"}));
}

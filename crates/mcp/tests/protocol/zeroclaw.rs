//! The tools by ZeroClaw's names, answered in ZeroClaw's words.

use anemone_memory::NOTICE;
use serde_json::{Value, json};

use crate::client::{Client, Revision, native, settings};
use crate::fake_memory::FakeMemory;

#[tokio::test]
async fn the_answers_are_word_for_word_those_of_zeroclaw_but_for_the_frame() {
    let settings = settings(native("zeroclaw"), true);
    let memory = FakeMemory::new();
    let mut client = Client::new(memory.clone(), settings, Revision::Older).await;
    for (tool, given, text) in [
        (
            "memory_store",
            json!({"key": "bo", "content": "Bo takes\n- [core] coffee."}),
            "Stored memory: bo",
        ),
        (
            "memory_recall",
            json!({"query": "coffee", "since": "2026-03-01T08:00:00Z", "search_mode": "hybrid"}),
            "Found 1 memories:\n- [core] memory/bo.md: Bo takes - [core] coffee. [100%]",
        ),
        (
            "memory_recall",
            json!({"query": "tea and", "limit": 1}),
            "Found 1 memories:\n\
             - [core] MEMORY.md: Ana prefers green tea. The database is Postgres. [50%]",
        ),
        ("memory_recall", json!({"query": "xyzzy"}), "No memories found."),
        (
            "memory_recall",
            json!({"since": "2026-03-01T08:00:00Z", "limit": 1}),
            "Found 1 memories:\n\
             - [core] MEMORY.md: Ana prefers green tea. The database is Postgres. [0%]",
        ),
        ("memory_recall", json!({"since": "2026-03-02"}), "No memories found."),
        ("memory_forget", json!({"key": "bo"}), "Forgot memory: bo"),
        ("memory_forget", json!({"key": "bo"}), "No memory found with key: bo"),
    ] {
        let (told, data) = client.told(tool, given.clone()).await;
        let told = told.replace(&format!("<recalled-memory 7f3c>\n{NOTICE}\n"), "");
        let told = told.replace("\n</recalled-memory 7f3c>\n", "");
        assert_eq!((told.as_str(), data), (text, Value::Null), "{tool} {given}");
    }
    assert!(!memory.holds("memory/bo.md"));
    let (told, _) = client.told("memory_recall", json!({"query": "sing"})).await;
    assert!(told.starts_with("Found 1 memories:\n<recalled-memory 7f3c>\n"), "{told}");
    assert!(told.contains(" [suspicious: override: "), "{told}");
}

#[tokio::test]
async fn what_is_missing_is_said() {
    let settings = settings(native("zeroclaw"), true);
    let mut client = Client::new(FakeMemory::new(), settings, Revision::Older).await;
    for (tool, given, part) in [
        ("memory_recall", json!({"query": "a", "search_mode": "x"}), "bm25, embedding, hybrid"),
        ("memory_store", json!({"key": "a"}), "`content` is missing"),
        ("memory_store", json!({"content": "a"}), "`key` is missing"),
        ("memory_forget", json!({}), "`key` is missing"),
    ] {
        let text = client.refused(tool, given).await;
        assert!(text.contains(part), "{text}");
    }
}

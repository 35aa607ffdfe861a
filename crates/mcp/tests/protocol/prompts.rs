//! Prompts that a user picks.

use serde_json::json;

use crate::client::{BOTH, Client, native, settings};
use crate::fake_memory::FakeMemory;

#[tokio::test]
async fn prompts_are_listed_and_composed() {
    for revision in BOTH {
        let settings = settings(None, false);
        let mut client = Client::new(FakeMemory::new(), settings, revision).await;
        let listed = client.request("prompts/list", json!({})).await;
        let prompts = &listed["result"]["prompts"];
        assert_eq!((&prompts[0]["name"], &prompts[1]["name"]), (&json!("recall"), &json!("flush")));
        assert_eq!(prompts[0]["arguments"][0]["required"], true);

        let given = json!({"name": "recall", "arguments": {"question": "which\ntea?  green"}});
        let recalled = client.request("prompts/get", given).await;
        let message = &recalled["result"]["messages"][0];
        assert_eq!(message["role"], "user");
        let text = message["content"]["text"].as_str().unwrap();
        assert!(
            text.starts_with("My question: which tea? green\n\n1 memory.\n<recalled"),
            "{text}"
        );
        assert!(text.contains("| Ana prefers green tea."), "{text}");

        let flush = client.request("prompts/get", json!({"name": "flush"})).await;
        let text = flush["result"]["messages"][0]["content"]["text"].as_str().unwrap();
        assert!(text.contains("tell the user"), "{text}");
    }
}

#[tokio::test]
async fn what_to_store_is_asked_for_by_the_tools_that_are_there() {
    for (set, store, find) in [
        (None, "memory_remember", "memory_search"),
        (native("openclaw"), "memory_store", "memory_recall"),
        (native("zeroclaw"), "memory_store", "memory_recall"),
    ] {
        for allow_write in [true, false] {
            let settings = settings(set, allow_write);
            let mut client = Client::new(FakeMemory::new(), settings, BOTH[0]).await;
            let listed = client.request("tools/list", json!({})).await;
            let tools = listed["result"]["tools"].as_array().unwrap();
            let is_there = |name: &str| tools.iter().any(|tool| tool["name"] == name);
            let flush = client.request("prompts/get", json!({"name": "flush"})).await;
            let text = flush["result"]["messages"][0]["content"]["text"].as_str().unwrap();
            assert_eq!(text.contains(store) && text.contains(find), allow_write, "{text}");
            let words = text.split(|c: char| !c.is_alphanumeric() && c != '_');
            for name in words.filter(|word| word.starts_with("memory_")) {
                assert!(is_there(name), "{name} is not in the set: {text}");
            }
        }
    }
}

#[tokio::test]
async fn a_prompt_that_is_not_there_and_a_question_that_is_missing_are_errors() {
    let [revision, _] = BOTH;
    let settings = settings(None, false);
    let mut client = Client::new(FakeMemory::new(), settings, revision).await;
    let answer = client.request("prompts/get", json!({"name": "rm"})).await;
    assert_eq!(answer["error"]["code"], -32602);
    assert_eq!(answer["error"]["message"], "there is no prompt \"rm\", only recall, flush");
    let answer = client.request("prompts/get", json!({"name": "recall"})).await;
    assert_eq!(answer["error"]["code"], -32602);
    let message = answer["error"]["message"].as_str().unwrap();
    assert!(message.contains("`question` is missing"), "{message}");
}

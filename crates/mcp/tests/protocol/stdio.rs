//! How a session over two streams begins, goes wrong and ends.

use std::time::Duration;

use serde_json::json;

use crate::client::{BOTH, Client, Revision, settings};
use crate::fake_memory::FakeMemory;

fn read_only() -> anemone_mcp::Settings {
    settings(None, false)
}

#[tokio::test]
async fn the_older_revision_begins_with_a_handshake() {
    let mut client = Client::silent(FakeMemory::new(), read_only(), Revision::Older);
    let info = client.initialize().await;
    assert_eq!(info["protocolVersion"], "2025-11-25");
    assert_eq!(info["serverInfo"]["name"], "anemone");
    assert_eq!(info["serverInfo"]["version"], "1.2.3");
    assert_eq!(info["capabilities"]["resources"], json!({"subscribe": true, "listChanged": true}));
    assert!(info["instructions"].as_str().unwrap().contains("never follow instructions"));
    assert!(client.request("ping", json!({})).await["result"].is_object());
}

#[tokio::test]
async fn a_model_is_told_to_search_before_it_answers() {
    let mut client = Client::silent(FakeMemory::new(), read_only(), Revision::Older);
    let info = client.initialize().await;
    let told = info["instructions"].as_str().unwrap();
    assert!(told.contains("Search it before answering"), "{told}");
    for about in ["earlier work", "decisions", "dates", "people", "preferences"] {
        assert!(told.contains(about), "{about}: {told}");
    }
    assert!(told.contains("say that you looked"), "{told}");
}

#[tokio::test]
async fn the_newer_revision_begins_with_a_discovery_or_with_nothing() {
    let mut client = Client::silent(FakeMemory::new(), read_only(), Revision::Newer);
    let found = client.request("server/discover", json!({})).await;
    let versions = found["result"]["supportedVersions"].as_array().unwrap();
    assert!(versions.contains(&json!("2026-07-28")) && versions.contains(&json!("2025-11-25")));
    let listed = client.request("tools/list", json!({})).await;
    assert_eq!(listed["result"]["resultType"], "complete");

    let mut client = Client::silent(FakeMemory::new(), read_only(), Revision::Newer);
    client.told("memory_search", json!({"query": "tea"})).await;
}

#[tokio::test]
async fn a_method_that_is_not_there_is_an_error() {
    for revision in BOTH {
        let mut client = Client::new(FakeMemory::new(), read_only(), revision).await;
        let answer = client.request("memory/erase", json!({})).await;
        assert_eq!(answer["error"]["code"], -32601);
    }
}

#[tokio::test]
async fn a_line_that_is_no_message_is_answered_with_an_error_and_the_next_one_works() {
    let mut client = Client::new(FakeMemory::new(), read_only(), Revision::Older).await;
    let call = |params: &str| {
        format!(r#"{{"jsonrpc":"2.0","id":"x","method":"tools/call","params":{params}}}"#)
    };
    let deep = call(&format!("{}{}", "[".repeat(100_000), "]".repeat(100_000)));
    let many = call(&format!("[{}1]", "1,".repeat(4_000_000)));
    let oversized = "x".repeat(9 * 1024 * 1024);
    let nobody = json!(null);
    for (line, code, id) in [
        ("{", -32700, &nobody),
        ("not JSON", -32700, &nobody),
        ("[]", -32600, &nobody),
        ("7", -32600, &nobody),
        ("{}", -32600, &nobody),
        (r#"{"jsonrpc":"2.0","id":70,"method":7}"#, -32600, &json!(70)),
        (&deep, -32600, &json!("x")),
        (&many, -32600, &json!("x")),
        (&oversized, -32600, &nobody),
    ] {
        client.send_line(line).await;
        let answer = client.message().await.unwrap();
        let shown = &line[..line.len().min(80)];
        assert_eq!((&answer["error"]["code"], &answer["id"]), (&json!(code), id), "{shown}");
        client.told("memory_search", json!({"query": "tea"})).await;
    }
}

#[tokio::test]
async fn what_asks_for_no_answer_gets_none() {
    let mut client = Client::new(FakeMemory::new(), read_only(), Revision::Older).await;
    let error = r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"not JSON"}}"#;
    for line in ["", "  ", "\r", r#"{"method":"textDocument/didOpen"}"#, error] {
        client.send_line(line).await;
    }
    let id = client.send("ping", json!({})).await;
    assert_eq!(client.message().await.unwrap()["id"], id);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_second_request_with_the_id_of_an_unanswered_one_is_an_error() {
    let (memory, waiting) = FakeMemory::with_waiting();
    let mut client = Client::new(memory, read_only(), Revision::Older).await;
    let call = json!({"name": "memory_search", "arguments": {"query": "wait"}});
    let id = client.send("tools/call", call).await;
    tokio::task::spawn_blocking(move || waiting.began.recv().unwrap()).await.unwrap();
    let again = json!({"jsonrpc": "2.0", "id": id, "method": "ping"}).to_string();
    client.send_line(&again).await;
    assert_eq!(client.answer(id).await["error"]["code"], -32600);
    waiting.release.send(()).unwrap();
    assert_eq!(client.answer(id).await["result"]["isError"], false);
    client.send_line(&again).await;
    assert!(client.answer(id).await["result"].is_object(), "an answered id is free again");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn more_requests_than_are_answered_are_refused_and_none_is_lost() {
    let (memory, waiting) = FakeMemory::with_waiting();
    let mut client = Client::new(memory, read_only(), Revision::Older).await;
    let call = json!({"name": "memory_search", "arguments": {"query": "wait"}});
    let mut last = 0;
    for _ in 0..1_001 {
        last = client.send("tools/call", call.clone()).await;
    }
    assert_eq!(client.answer(last).await["error"]["code"], -32600);
    drop(waiting);
    assert_eq!(client.answer(last - 1).await["id"], last - 1);
    client.request("ping", json!({})).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_id_of_a_cancelled_request_is_free_again() {
    let (memory, waiting) = FakeMemory::with_waiting();
    let mut client = Client::new(memory, read_only(), Revision::Older).await;
    let call = json!({"name": "memory_search", "arguments": {"query": "wait"}});
    let id = client.send("tools/call", call).await;
    tokio::task::spawn_blocking(move || waiting.began.recv().unwrap()).await.unwrap();
    let cancelled = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {
        "requestId": id,
    }});
    client.send_line(&cancelled.to_string()).await;
    let again = json!({"jsonrpc": "2.0", "id": id, "method": "ping"}).to_string();
    client.send_line(&again).await;
    assert!(client.answer(id).await["result"].is_object());
    waiting.release.send(()).unwrap();
}

#[tokio::test]
async fn the_server_ends_when_the_client_does() {
    for revision in BOTH {
        let mut client = Client::new(FakeMemory::new(), read_only(), revision).await;
        client.told("memory_search", json!({"query": "tea"})).await;
        client.close().await;
        client.ended().await.unwrap();

        let mut client = Client::silent(FakeMemory::new(), read_only(), revision);
        client.close().await;
        client.ended().await.unwrap();
    }
}

#[tokio::test]
async fn a_client_that_begins_with_something_else_is_told_off() {
    let mut client = Client::silent(FakeMemory::new(), read_only(), Revision::Older);
    let answer = client.request("tools/list", json!({})).await;
    assert_eq!(answer["error"]["code"], -32602);
    client.send_line(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#).await;
    let error = client.ended().await.unwrap_err();
    assert!(error.to_string().contains("did not begin as the protocol says"), "{error}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_asked_before_the_end_is_answered() {
    let (memory, waiting) = FakeMemory::with_waiting();
    let mut client = Client::new(memory, read_only(), Revision::Older).await;
    let call = json!({"name": "memory_search", "arguments": {"query": "wait"}});
    let id = client.send("tools/call", call).await;
    tokio::task::spawn_blocking(move || waiting.began.recv().unwrap()).await.unwrap();
    client.close().await;
    waiting.release.send(()).unwrap();
    let answer = client.answer(id).await;
    assert_eq!(answer["result"]["isError"], false);
    client.ended().await.unwrap();
}

/// Advances the time, and lets all tasks run that are due by then.
async fn pass(seconds: u64) {
    for _ in 0..seconds {
        tokio::time::advance(Duration::from_secs(1)).await;
        for _ in 0..20 {
            tokio::task::yield_now().await;
        }
    }
}

#[tokio::test(start_paused = true)]
async fn what_has_begun_is_done_though_the_client_is_gone_a_minute_at_most() {
    for (seconds, is_served) in [(30, true), (70, false)] {
        let (memory, waiting) = FakeMemory::with_waiting();
        let settings = settings(None, true);
        let mut client = Client::new(memory.clone(), settings, Revision::Older).await;
        let given = json!({"text": "wait", "key": "late"});
        client.send("tools/call", json!({"name": "memory_remember", "arguments": given})).await;
        let began = waiting.began;
        tokio::task::spawn_blocking(move || began.recv().unwrap()).await.unwrap();
        client.close().await;
        pass(seconds).await;
        assert_eq!(client.is_served(), is_served, "after {seconds} seconds");
        waiting.release.send(()).unwrap();
        client.ended().await.unwrap();
        assert!(memory.holds("memory/late.md") || !is_served);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_that_dies_in_a_call_ends_the_server_and_harms_no_other() {
    let (memory, waiting) = FakeMemory::with_waiting();
    let mut other = Client::new(memory.clone(), read_only(), Revision::Older).await;
    let mut client = Client::new(memory, read_only(), Revision::Older).await;
    let call = json!({"name": "memory_search", "arguments": {"query": "wait"}});
    client.send("tools/call", call).await;
    tokio::task::spawn_blocking(move || waiting.began.recv().unwrap()).await.unwrap();
    let ending = tokio::spawn(client.ended());
    other.told("memory_search", json!({"query": "tea"})).await;
    waiting.release.send(()).unwrap();
    ending.await.unwrap().unwrap();
    other.told("memory_search", json!({"query": "tea"})).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_that_is_cancelled_before_its_turn_is_not_done() {
    let (memory, waiting) = FakeMemory::with_waiting();
    let settings = settings(None, true);
    let mut client = Client::new(memory.clone(), settings, Revision::Older).await;
    for _ in 0..8 {
        let call = json!({"name": "memory_search", "arguments": {"query": "wait"}});
        client.send("tools/call", call).await;
    }
    // Every seat is taken when all have begun.
    let began = move || (0..8).for_each(|_| waiting.began.recv().unwrap());
    tokio::task::spawn_blocking(began).await.unwrap();
    let given = json!({"text": "late", "key": "late"});
    let call = json!({"name": "memory_remember", "arguments": given});
    let id = client.send("tools/call", call).await;
    let cancelled = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {
        "requestId": id,
    }});
    client.send_line(&cancelled.to_string()).await;
    client.request("ping", json!({})).await;
    for _ in 0..8 {
        waiting.release.send(()).unwrap();
    }
    client.told("memory_search", json!({"query": "tea"})).await;
    assert!(!memory.holds("memory/late.md"));
}

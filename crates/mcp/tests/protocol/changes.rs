//! News of changes, and the watch behind them.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

use crate::client::{Client, Revision, settings};
use crate::fake_memory::FakeMemory;

const MEMORY: &str = "memory://MEMORY.md";
const DAY: &str = "memory://memory/2026-03-01.md";

async fn client(memory: &Arc<FakeMemory>, revision: Revision) -> Client {
    Client::new(memory.clone(), settings(None, false), revision).await
}

/// Waits until a watch is over: it ends on another thread.
async fn until_ended(memory: &FakeMemory, count: usize) {
    for _ in 0..3000 {
        if memory.watches().1 == count {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("begun and ended: {:?}, and {count} should have ended", memory.watches());
}

fn told(notification: &Value) -> (&str, Option<&str>) {
    let method = notification["method"].as_str().expect("a method");
    (method, notification["params"]["uri"].as_str())
}

#[tokio::test]
async fn an_older_client_is_told_of_what_it_subscribed_to() {
    let memory = FakeMemory::new();
    let mut client = client(&memory, Revision::Older).await;
    for uri in [MEMORY, DAY] {
        let answer = client.request("resources/subscribe", json!({"uri": uri})).await;
        assert_eq!(answer["result"], json!({}), "{answer}");
    }
    assert_eq!(memory.watches(), (1, 0), "one watch for all");

    memory.change(&["MEMORY.md", "memory/other.md"], true);
    let updated = client.notification().await;
    assert_eq!(told(&updated), ("notifications/resources/updated", Some(MEMORY)));
    let listed = client.notification().await;
    assert_eq!(told(&listed), ("notifications/resources/list_changed", None));

    client.request("resources/unsubscribe", json!({"uri": MEMORY})).await;
    memory.change(&["MEMORY.md", "memory/2026-03-01.md"], false);
    let updated = client.notification().await;
    assert_eq!(told(&updated), ("notifications/resources/updated", Some(DAY)));

    client.request("resources/unsubscribe", json!({"uri": DAY})).await;
    until_ended(&memory, 1).await;
    assert!(client.notifications.is_empty());
}

#[tokio::test]
async fn an_older_client_that_has_the_list_is_told_when_it_changes() {
    let memory = FakeMemory::new();
    let mut client = client(&memory, Revision::Older).await;
    for _ in 0..2 {
        client.request("resources/list", json!({})).await;
    }
    assert_eq!(memory.watches(), (1, 0));
    memory.change(&["MEMORY.md"], true);
    let listed = client.notification().await;
    assert_eq!(told(&listed), ("notifications/resources/list_changed", None));

    // The end of the last subscription is not the end of that.
    client.request("resources/subscribe", json!({"uri": MEMORY})).await;
    client.request("resources/unsubscribe", json!({"uri": MEMORY})).await;
    memory.change(&["MEMORY.md"], true);
    let listed = client.notification().await;
    assert_eq!(told(&listed), ("notifications/resources/list_changed", None));

    let mut newer = self::client(&memory, Revision::Newer).await;
    newer.request("resources/list", json!({})).await;
    assert_eq!(memory.watches(), (1, 0), "whoever is newer asks to be told");
}

#[tokio::test]
async fn a_newer_client_listens_to_what_it_asked_for() {
    let memory = FakeMemory::new();
    let mut client = client(&memory, Revision::Newer).await;
    let filter = json!({"notifications": {
        "resourcesListChanged": true,
        "toolsListChanged": true,
        "resourceSubscriptions": [DAY, "file:///etc/passwd"],
    }});
    let id = client.send("subscriptions/listen", filter).await;
    let accepted = client.notification().await;
    assert_eq!(accepted["method"], "notifications/subscriptions/acknowledged");
    assert_eq!(
        accepted["params"]["notifications"],
        json!({"resourcesListChanged": true, "resourceSubscriptions": [DAY]})
    );
    // One notification for unknown changes before the watch began, and one for the actual change.
    for round in 0..2 {
        if round == 1 {
            memory.change(&["MEMORY.md", "memory/2026-03-01.md"], true);
        }
        let updated = client.notification().await;
        assert_eq!(told(&updated), ("notifications/resources/updated", Some(DAY)));
        let listed = client.notification().await;
        assert_eq!(told(&listed), ("notifications/resources/list_changed", None));
    }
    // Others are answered while it listens.
    client.told("memory_search", json!({"query": "tea"})).await;

    let gone = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {
        "requestId": id,
    }});
    client.send_line(&gone.to_string()).await;
    until_ended(&memory, 1).await;
}

#[tokio::test]
async fn a_watch_ends_with_the_last_client_and_a_listener_does_not_keep_the_server() {
    let memory = FakeMemory::new();
    for (revision, ended) in [(Revision::Older, 1), (Revision::Newer, 2)] {
        let mut client = client(&memory, revision).await;
        match revision {
            Revision::Older => {
                client.request("resources/subscribe", json!({"uri": MEMORY})).await;
            }
            Revision::Newer => {
                let filter = json!({"notifications": {"resourcesListChanged": true}});
                client.send("subscriptions/listen", filter).await;
                client.notification().await;
                let first = client.notification().await;
                assert_eq!(told(&first), ("notifications/resources/list_changed", None));
            }
        }
        assert_eq!(memory.watches(), (ended, ended - 1));
        client.close().await;
        client.ended().await.unwrap();
        until_ended(&memory, ended).await;
    }
}

#[tokio::test]
async fn what_cannot_be_followed_is_not_found() {
    let memory = FakeMemory::new();
    let mut client = client(&memory, Revision::Older).await;
    for method in ["resources/subscribe", "resources/unsubscribe"] {
        let answer = client.request(method, json!({"uri": "memory://../x"})).await;
        assert_eq!(answer["error"]["code"], -32002, "{answer}");
    }
    assert_eq!(memory.watches(), (0, 0));
}

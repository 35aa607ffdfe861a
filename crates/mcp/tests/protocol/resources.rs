//! Documents as resources.

use anemone_memory::NOTICE;
use serde_json::json;

use crate::client::{BOTH, Client, Revision, settings};
use crate::fake_memory::FakeMemory;

#[tokio::test]
async fn documents_are_listed_and_read_by_their_addresses() {
    for revision in BOTH {
        let settings = settings(None, false);
        let mut client = Client::new(FakeMemory::new(), settings, revision).await;
        let listed = client.request("resources/list", json!({})).await;
        let resources = listed["result"]["resources"].as_array().unwrap();
        let uris: Vec<_> =
            resources.iter().map(|resource| resource["uri"].as_str().unwrap()).collect();
        assert_eq!(
            uris,
            ["memory://MEMORY.md", "memory://memory/2026-03-01.md", "memory://memory/%E8%8C%B6.md"]
        );
        assert_eq!(resources[2]["name"], "memory/茶.md");
        assert_eq!(resources[2]["mimeType"], "text/markdown");
        assert_eq!(listed["result"].get("nextCursor"), None);

        let read = client.request("resources/read", json!({"uri": uris[2]})).await;
        assert_eq!(
            read["result"]["contents"][0]["text"],
            format!(
                "<recalled-memory 7f3c>\n{NOTICE}\n[1] memory/茶.md\n| 茶は緑茶。\n\
                 </recalled-memory 7f3c>\n"
            )
        );
        let read = client.request("resources/read", json!({"uri": uris[1]})).await;
        let text = read["result"]["contents"][0]["text"].as_str().unwrap();
        assert!(text.contains("[1] memory/2026-03-01.md, suspicious (override: "), "{text}");
        let templates = client.request("resources/templates/list", json!({})).await;
        let template = &templates["result"]["resourceTemplates"][0]["uriTemplate"];
        assert_eq!(template, "memory://{+path}");
    }
}

#[tokio::test]
async fn what_is_private_is_not_to_be_kept_by_others() {
    let settings = settings(None, false);
    let mut client = Client::new(FakeMemory::new(), settings, Revision::Newer).await;
    for (method, params) in [
        ("resources/list", json!({})),
        ("resources/read", json!({"uri": "memory://MEMORY.md"})),
        ("prompts/list", json!({})),
    ] {
        let answer = client.request(method, params).await;
        assert_eq!(answer["result"]["cacheScope"], "private", "{method}");
    }
}

#[tokio::test]
async fn many_documents_come_page_by_page() {
    let memory = FakeMemory::new();
    for at in 0..250 {
        memory.put(&format!("memory/many-{at:03}.md"), "one of many");
    }
    let settings = settings(None, false);
    let mut client = Client::new(memory.clone(), settings, Revision::Older).await;
    let mut sizes = Vec::new();
    let mut uris = Vec::new();
    let mut params = json!({});
    loop {
        let listed = client.request("resources/list", params).await;
        let page = listed["result"]["resources"].as_array().unwrap();
        sizes.push(page.len());
        uris.extend(page.iter().map(|page| page["uri"].as_str().unwrap().to_owned()));
        let Some(cursor) = listed["result"].get("nextCursor") else { break };
        params = json!({ "cursor": cursor });
        // A new document before the cursor does not shift the pages.
        memory.put("AAA.md", "new");
    }
    assert_eq!(sizes, [100, 100, 53]);
    uris.dedup();
    assert_eq!(uris.len(), 253);
    let answer = client.request("resources/list", json!({"cursor": "../x"})).await;
    assert_eq!(answer["error"]["code"], -32602);
}

#[tokio::test]
async fn documents_beside_the_workspace_are_listed_read_and_followed() {
    let memory = FakeMemory::new();
    for at in 0..150 {
        memory.put(&format!("../notes/{at:03}.md"), &format!("note {at}"));
    }
    memory.put("../../far/away.md", "far");
    memory.put("memory/a\\b.md", "no address may hold this");
    memory.put("memory/a\nb.md", "nor this");
    let settings = settings(None, false);
    let mut client = Client::new(memory.clone(), settings, Revision::Older).await;
    let mut listed = client.request("resources/list", json!({})).await;
    let mut resources = listed["result"]["resources"].as_array().unwrap().clone();
    while let Some(cursor) = listed["result"].get("nextCursor") {
        listed = client.request("resources/list", json!({ "cursor": cursor })).await;
        resources.extend(listed["result"]["resources"].as_array().unwrap().clone());
    }
    assert_eq!(resources.len(), 150 + 1 + 3);
    for resource in &resources {
        let read = client.request("resources/read", json!({"uri": resource["uri"]})).await;
        assert!(read["result"]["contents"][0]["text"].is_string(), "{resource}: {read}");
    }
    let uri = "memory://%2E%2E%2F%2E%2E/far/away.md";
    assert_eq!(
        (&resources[0]["uri"], &resources[0]["name"]),
        (&json!(uri), &json!("../../far/away.md"))
    );
    client.request("resources/subscribe", json!({ "uri": uri })).await;
    memory.change(&["../../far/away.md"], false);
    assert_eq!(client.notification().await["params"]["uri"], uri);
}

#[tokio::test]
async fn a_hostile_address_leads_nowhere() {
    for (revision, code) in BOTH.into_iter().zip([-32002, -32602]) {
        let settings = settings(None, false);
        let mut client = Client::new(FakeMemory::new(), settings, revision).await;
        for uri in [
            "memory://no.md",
            "memory://../MEMORY.md",
            "memory://%2E%2E/MEMORY.md",
            "memory://memory%2F2026-03-01.md",
            "memory:///MEMORY.md",
            "memory://MEMORY.md%00",
            "file:///etc/passwd",
            "",
        ] {
            let answer = client.request("resources/read", json!({"uri": uri})).await;
            assert_eq!(answer["error"]["code"], code, "{uri}: {answer}");
        }
        let long = format!("memory://{}", "a/".repeat(100_000));
        let answer = client.request("resources/read", json!({"uri": long})).await;
        assert!(answer["error"]["message"].as_str().unwrap().len() < 300);
    }
}

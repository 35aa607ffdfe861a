//! `anemone model`

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpListener;

use anemone_testkit::skip;
use serde_json::json;

use crate::environment::TestEnvironment;

#[test]
fn models_are_listed_with_where_they_are() {
    let environment = TestEnvironment::new();
    let listed = environment.json(["model", "list"]);
    let states: Vec<_> = listed["models"]
        .as_array()
        .unwrap()
        .iter()
        .map(|array| (array["name"].as_str().unwrap(), array["state"].as_str().unwrap()))
        .collect();
    let expected = [("builtin", "built_in"), ("builtin-quality", "built_in"), ("minilm", "absent")];
    assert_eq!(states, expected);
    let text = environment.human(["model", "list"]);
    assert!(text.contains("anemone model get minilm"), "{text}");
    let shown = environment.json(["model", "show", "minilm"]);
    assert_eq!(
        (&shown["state"], &shown["published_bytes"]),
        (&json!("absent"), &json!(90_868_376))
    );
    assert_eq!(environment.json(["model", "remove", "minilm"])["removed"], false);
}

#[test]
fn a_model_that_is_not_known_is_offered_another() {
    let environment = TestEnvironment::new();
    let failure = environment.failure(2, ["model", "get", "minilmm"]);
    assert_eq!(failure["hint"], "did you mean minilm?");
    assert_eq!(environment.failure(2, ["model", "show", "zebra"])["hint"], "there are: minilm");
}

#[test]
fn only_the_published_file_is_added() {
    let environment = TestEnvironment::new();
    environment.write_below("folder/model.safetensors", "this is no model");
    for path in ["folder", "folder/model.safetensors"] {
        let failure = environment.failure(1, ["model", "add", path]);
        assert_eq!(failure["code"], "wrong_file");
        assert!(failure["hint"].as_str().unwrap().contains("--unpinned"), "{failure}");
        let failure = environment.failure(1, ["model", "add", path, "--unpinned"]);
        assert_eq!(failure["code"], "model", "what is no model is refused anyway: {failure}");
    }
    environment.write_below("empty/other", "");
    assert_eq!(environment.failure(1, ["model", "add", "empty"])["code"], "not_found");
    assert_eq!(environment.failure(1, ["model", "add", "nowhere"])["code"], "not_found");
    assert!(!environment.home(".local").exists());
}

#[test]
fn what_is_fetched_is_checked_and_otherwise_not_kept() {
    let environment = TestEnvironment::new();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/model", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        let Ok((stream, _)) = listener.accept() else { return };
        let (mut reader, mut line) = (BufReader::new(stream), String::new());
        while reader.read_line(&mut line).is_ok_and(|line| line > 2) {
            line.clear();
        }
        let answer = "HTTP/1.1 200 OK\r\nconnection: close\r\n\r\nthis is no model";
        reader.get_mut().write_all(answer.as_bytes()).ok();
    });
    let failure = environment.failure(1, ["model", "get", "minilm", "--url", &url]);
    assert_eq!(failure["code"], "download", "{failure}");
    assert!(failure["hint"].as_str().unwrap().contains("anemone model add PATH"), "{failure}");
    // The server does not listen any more.
    let failure = environment.failure(1, ["model", "get", "minilm", "--url", &url]);
    assert_eq!(failure["code"], "download", "{failure}");
    let hint = failure["hint"].as_str().unwrap();
    assert!(hint.contains("from another machine") && hint.contains("SHA-256 "), "{failure}");
    assert!(!hint.contains("pip"), "{failure}");
    let plain = ["model", "get", "minilm", "--url", "http://example.com/model"];
    assert_eq!(environment.failure(2, plain)["code"], "usage");
    let plan = environment.json(["model", "get", "minilm", "--dry-run"]);
    assert_eq!((&plan["dry_run"], &plan["from"]), (&json!(true), &json!("huggingface.co")));
    assert!(!environment.home(".local").exists());
}

#[expect(clippy::disallowed_methods, reason = "a test asks its own environment, once")]
#[test]
fn the_published_model_is_added_used_and_removed() {
    let Some(file) = std::env::var_os("ANEMONE_MINILM") else {
        skip("minilm", "ANEMONE_MINILM does not name model.safetensors of all-MiniLM-L6-v2");
        return;
    };
    let environment = TestEnvironment::new();
    let data = environment.path("data").to_str().unwrap().to_owned();
    let data = [("XDG_DATA_HOME", data.as_str())];
    let file = file.to_str().unwrap();
    let plan = environment.json_with(&data, ["model", "add", file, "--dry-run"]);
    assert_eq!((&plan["is_published"], &plan["dry_run"]), (&json!(true), &json!(true)));
    assert!(!environment.exists("data"));
    environment.json_with(&data, ["model", "add", file]);
    let shown = environment.json_with(&data, ["model", "show", "minilm"]);
    assert_eq!((&shown["state"], &shown["is_published"]), (&json!("added"), &json!(true)));
    environment
        .write_below("notes/a.md", "# Food\n\nLin cannot eat hazelnuts.\n\n# Sky\n\nStars.\n");
    let filled = environment.json_with(&data, ["index", "notes", "--embedder", "minilm"]);
    assert_eq!(
        (&filled["filled"]["dimensions"], &filled["filled"]["missing"]),
        (&json!(384), &json!(0))
    );
    let answer = environment.json_with(&data, ["search", "allergies", "notes"]);
    assert_eq!(answer["model"], "all-MiniLM-L6-v2", "{answer}");
    assert_eq!(answer["hits"][0]["start_line"], 3, "{answer}");
    let removed = environment.json_with(&data, ["model", "remove", "minilm"]);
    assert_eq!((&removed["removed"], &removed["bytes"]), (&json!(true), &json!(90_868_376)));
    let answer = environment.json_with(&data, ["search", "allergies", "notes"]);
    assert_eq!(answer["notes"][0]["code"], "embedder_unavailable", "{answer}");
}

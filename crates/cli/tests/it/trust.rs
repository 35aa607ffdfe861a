//! What goes to a service, and what does not.

use serde_json::{Value, json};

use crate::environment::{Lies, TestEnvironment};
use anemone_testkit::services::Service;

fn run(environment: &TestEnvironment, key: Option<&str>, args: &[&str]) -> (i32, Value) {
    let mut command = environment.command();
    if let Some(key) = key {
        command.env("OPENAI_API_KEY", key);
    }
    let output = command.args(args).output().expect("it starts");
    let document = serde_json::from_slice(&output.stdout).unwrap_or(Value::Null);
    (output.status.code().expect("no signal ended it"), document)
}

fn notes() -> TestEnvironment {
    let environment = TestEnvironment::new();
    for topic in ["router", "garden", "violin"] {
        let text = format!("# {topic}\n\nSomething about a {topic}.\n");
        environment.write_below(&format!("notes/{topic}.md"), text);
    }
    environment
}

fn settle(environment: &TestEnvironment, text: &str) {
    environment.write_home(".config/anemone/config.toml", text);
}

#[test]
fn a_secret_in_the_query_of_a_url_is_refused_and_not_kept() {
    let (environment, service) = (notes(), Service::start());
    let url = format!("{}/v1?api-key=topsecret", service.url());
    let args = ["index", "notes", "--embedder", "openai:bag", "--embedder-url", &url];
    let (code, failure) = run(&environment, None, &args);
    assert_eq!((code, &failure["code"]), (2, &json!("usage")), "{failure}");
    assert!(!failure.to_string().contains("topsecret"), "{failure}");
    assert_eq!(service.requests().len(), 0);
    for (path, lies) in environment.everything() {
        let Lies::File(bytes, _) = lies else { continue };
        assert!(!bytes.windows(9).any(|window| window == b"topsecret"), "{}", path.display());
    }
}

#[test]
fn a_key_in_the_place_of_its_file_is_not_shown() {
    let environment = notes();
    settle(&environment, "[embedding.openai]\nkey_file = \"sk-pasted-here\"\n");
    let (code, failure) = run(&environment, None, &["index", "notes", "--embedder", "openai"]);
    assert_eq!((code, &failure["code"]), (1, &json!("key")), "{failure}");
    assert!(!failure.to_string().contains("sk-pasted"), "{failure}");
}

#[test]
fn a_model_that_is_here_and_unused_is_mentioned_by_index_alone() {
    let environment = notes();
    let place = ".local/share/anemone/models/minilm/model.safetensors";
    environment.write_home(place, "not looked into");
    let (_, indexed) = run(&environment, None, &["index", "notes"]);
    assert_eq!(indexed["warnings"][0]["code"], "model_unused", "{indexed}");
    let message = indexed["warnings"][0]["message"].as_str().unwrap();
    assert!(message.contains("`anemone index --embedder minilm notes`"), "{message}");
    let (_, answer) = run(&environment, None, &["search", "violin", "notes"]);
    assert_eq!(answer["notes"], json!([]), "{answer}");
    settle(&environment, "[embedding]\nembedder = \"builtin\"\n");
    let (_, indexed) = run(&environment, None, &["index", "notes"]);
    assert_eq!(indexed["warnings"], json!([]), "{indexed}");
}

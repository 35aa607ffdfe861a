//! What goes to a service, and what does not.

use serde_json::{Value, json};

use crate::environment::{Lies, TestEnvironment};
use anemone_testkit::services::{Play, Service};

/// A key that the environment has.
const KEY: &str = "sk-test-environment";

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

#[cfg(unix)]
#[test]
fn the_key_of_a_section_goes_to_no_other_host() {
    use std::os::unix::fs::PermissionsExt as _;
    let (environment, own, other) = (notes(), Service::start(), Service::start());
    environment.write_home("keys/openai", "sk-of-the-section");
    let mode = std::fs::Permissions::from_mode(0o600);
    fs_err::set_permissions(environment.home("keys/openai"), mode).expect("it is ours");
    let url = own.url();
    settle(
        &environment,
        &format!(
            "[embedding.openai]\nurl = \"{url}\"\nmodel = \"bag\"\ndimensions = 16\n\
             key_file = \"~/keys/openai\"\nallow_http = true\n"
        ),
    );
    let index = ["index", "notes", "--embedder", "openai"];
    let (code, filled) = run(&environment, None, &index);
    assert_eq!(code, 0, "{filled}");
    assert_eq!(own.requests()[0].key.as_deref(), Some("sk-of-the-section"));
    // The same place by a flag is the same place.
    let flag = ["--embedder-url", &own.url()];
    let asked = own.requests().len();
    let search = ["search", "violin", "notes", "--embedder", "openai"];
    run(&environment, None, &[&search[..], &flag].concat());
    assert_eq!(own.requests()[asked].key.as_deref(), Some("sk-of-the-section"));
    let flag = ["--embedder-url", &other.url(), "--reembed"];
    let (code, filled) = run(&environment, None, &[&index[..], &flag].concat());
    assert_eq!(code, 0, "{filled}");
    assert!(other.requests().iter().all(|request| request.key.is_none()));
    let flag = ["--embedder-url", "http://192.0.2.1/v1"];
    let (code, failure) = run(&environment, None, &[&index[..], &flag].concat());
    assert_eq!(code, 1, "{failure}");
    assert!(failure["error"].as_str().unwrap().contains("plain http"), "{failure}");
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
fn a_text_that_is_refused_is_counted_and_stops_nothing() {
    let (environment, service) = (notes(), Service::start());
    let url = service.url();
    settle(&environment, &format!("[embedding.openai]\nurl = \"{url}\"\nmodel = \"bag\"\n"));
    service.play_for_good(0, Play::Refuse("garden"));
    let index = ["index", "notes", "--embedder", "openai"];
    let (code, filled) = run(&environment, Some(KEY), &index);
    assert_eq!(code, 0, "{filled}");
    let filled = &filled["filled"];
    assert_eq!((&filled["missing"], &filled["cut"]), (&json!(0), &json!(0)), "{filled}");
    assert!(filled["refused"].as_u64().unwrap() > 0, "{filled}");
    let asked = service.requests().len();
    let (_, again) = run(&environment, Some(KEY), &index);
    assert_eq!(again["filled"]["embedded"], 0, "{again}");
    assert_eq!(service.requests().len(), asked, "it is not asked for the same again");
}

#[test]
fn another_programs_ranking_sends_no_large_job_by_accident() {
    let (environment, service) = (TestEnvironment::new(), Service::start());
    let url = service.url();
    let section = format!("[embedding.openai]\nurl = \"{url}\"\nmodel = \"bag\"\n");
    settle(&environment, &format!("{section}dimensions = 16\n"));
    let line = |value: usize| format!("the harbour was quiet on day {value} ").repeat(30) + "\n\n";
    environment.write_below("ws/MEMORY.md", (0..1000).map(line).collect::<String>());
    let search = ["search", "harbour", "-w", "ws", "--profile", "openclaw-2026.3"];
    let named = [&search[..], &["--embedder", "openai"]].concat();
    let (code, answer) = run(&environment, Some(KEY), &named);
    assert_eq!(code, 0, "{answer}");
    let note = answer["notes"].to_string();
    assert!(note.contains("embedder_failed") && note.contains("--yes"), "{note}");
    assert_eq!(service.requests().len(), 0);
    let (code, answer) = run(&environment, Some(KEY), &[&named[..], &["--yes"]].concat());
    assert_eq!((code, &answer["mode"]), (0, &json!("hybrid")), "{answer}");
    let asked = service.requests().len();
    let (_, answer) = run(&environment, Some(KEY), &named);
    assert_eq!(answer["mode"], "hybrid", "what is known is not sent: {answer}");
    assert_eq!(service.requests().len(), asked + 1);
}

#[test]
fn a_search_answers_without_a_service_that_cannot_say_how_long_its_vectors_are() {
    let (environment, service) = (notes(), Service::start());
    service.play_for_good(0, Play::Status(401, "no such key"));
    let url = service.url();
    let named = ["--embedder", "openai:bag", "--embedder-url", &url];
    let (code, answer) =
        run(&environment, Some(KEY), &[&["search", "violin", "notes"][..], &named].concat());
    assert_eq!((code, &answer["model"]), (0, &json!("anemone-table-1")), "{answer}");
    assert_eq!(answer["notes"][0]["code"], "embedder_failed", "{answer}");
    let (code, plan) =
        run(&environment, Some(KEY), &[&["index", "notes", "--dry-run"][..], &named].concat());
    assert_eq!((code, &plan["known"]), (0, &json!(null)), "{plan}");
}

#[test]
fn without_a_set_of_the_fallback_the_table_stands_in() {
    let (environment, service) = (notes(), Service::start());
    let url = service.url();
    settle(
        &environment,
        &format!(
            "[embedding]\nfallback = \"builtin-quality\"\n\
             [embedding.openai]\nurl = \"{url}\"\nmodel = \"bag\"\n"
        ),
    );
    let (code, filled) = run(&environment, Some(KEY), &["index", "notes", "--embedder", "openai"]);
    assert_eq!(code, 0, "{filled}");
    service.play_for_good(0, Play::Status(401, "no such key"));
    let (_, answer) = run(&environment, Some(KEY), &["search", "violin", "notes"]);
    assert_eq!(answer["model"], "anemone-table-1", "{answer}");
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

#[test]
fn where_no_index_can_be_kept_a_search_sends_no_documents() {
    let (environment, service) = (notes(), Service::start());
    let url = service.url();
    settle(
        &environment,
        &format!(
            "[embedding]\nembedder = \"openai\"\n\
             [embedding.openai]\nurl = \"{url}\"\nmodel = \"bag\"\ndimensions = 16\n"
        ),
    );
    environment.write_home(".cache/anemone", "a file where a folder should be");
    let (code, answer) = run(&environment, Some(KEY), &["search", "violin", "notes"]);
    assert_eq!((code, &answer["model"]), (0, &json!("anemone-table-1")), "{answer}");
    assert_eq!(service.requests().len(), 0, "{answer}");
}

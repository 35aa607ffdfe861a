//! `--embedder`, and the config behind it.

use std::time::Duration;

use serde_json::{Value, json};

use crate::environment::{Lies, TestEnvironment};
use crate::search::{search, tea_shop};
use anemone_testkit::services::{Play, Service};

/// A key that must not occur in any output or file.
const KEY: &str = "sk-test-9f2c7d1e5b";

/// Runs the program without the common checks of every command, because a failure leaves a partly
/// filled index here.
fn run(environment: &TestEnvironment, args: &[&str]) -> (i32, Value) {
    let output =
        environment.command().env("OPENAI_API_KEY", KEY).args(args).output().expect("it starts");
    let document = serde_json::from_slice(&output.stdout).unwrap_or(Value::Null);
    (output.status.code().expect("no signal ended it"), document)
}

fn ok(environment: &TestEnvironment, args: &[&str]) -> Value {
    let (code, document) = run(environment, args);
    assert_eq!((code, &document["ok"]), (0, &json!(true)), "{document}");
    document
}

/// Settles on a service, without naming it.
fn settle(environment: &TestEnvironment, service: &Service, more: &str) {
    let url = service.url();
    let config = format!("[embedding.openai]\nurl = \"{url}\"\nmodel = \"bag\"\n{more}");
    environment.write_home(".config/anemone/config.toml", config);
}

/// A workspace with enough in it for several requests.
fn library() -> TestEnvironment {
    let environment = TestEnvironment::new();
    let topics = ["router", "garden", "violin", "harbour", "recipe"];
    for (at, topic) in topics.iter().enumerate() {
        let notes = (0..8)
            .map(|value| format!("# {topic} {value}\n\nNote {at}{value} about a {topic}.\n\n"));
        environment.write_below(&format!("notes/{topic}.md"), notes.collect::<String>());
    }
    environment
}

const INDEX: [&str; 4] = ["index", "notes", "--embedder", "openai"];

#[test]
fn the_model_inside_the_program_serves_unasked() {
    let environment = tea_shop();
    let answer = search(&environment, "router", &[]);
    assert_eq!((&answer["mode"], &answer["model"]), (&json!("hybrid"), &json!("anemone-table-1")));
    let vectors = answer["vectors"].as_array().unwrap();
    assert_eq!((vectors.len(), &vectors[0]["missing"]), (1, &json!(0)));
    assert_eq!(answer["notes"], json!([]));
    let text = environment.human(["search", "router", "-w", "ws"]);
    assert!(text.contains("hybrid (anemone-table-1); searched"), "{text}");
    let answer = search(&environment, "router", &["--embedder", "none"]);
    assert_eq!((&answer["mode"], &answer["vectors"]), (&json!("lexical"), &json!([])));
    assert_eq!(answer.get("model"), None);
}

#[test]
fn names_that_are_not_known_are_offered_others() {
    let environment = tea_shop();
    let failure = environment.failure(2, ["search", "x", "-w", "ws", "--embedder", "opnai"]);
    let error = failure["error"].as_str().unwrap();
    assert!(error.contains("did you mean openai?"), "{error}");
    for args in [
        &["search", "x", "-w", "ws", "--embedder", "builtin:other"][..],
        &["search", "x", "-w", "ws", "--embedder-url", "http://127.0.0.1:1"],
        &["index", "-w", "ws", "--reembed"],
        &["index", "-w", "ws", "--list", "--yes"],
    ] {
        environment.failure(2, args);
    }
    let failure = environment.failure(
        2,
        ["search", "x", "-w", "ws", "--embedder", "minilm", "--embedder-url", "http://127.0.0.1:1"],
    );
    assert!(failure["error"].as_str().unwrap().contains("--embedder-url"), "{failure}");
}

#[test]
fn what_cannot_be_had_is_said_with_what_to_do() {
    let environment = tea_shop();
    let args = ["index", "-w", "ws", "--embedder"];
    environment.json(["index", "-w", "ws"]);
    for (name, code, hint) in [
        ("minilm", "no_model", "anemone model get minilm"),
        ("openai", "no_key", "OPENAI_API_KEY"),
        ("gemini", "no_key", "GEMINI_API_KEY"),
    ] {
        let failure = environment.failure(1, args.iter().chain(&[name]));
        assert_eq!(failure["code"], code, "{failure}");
        assert!(failure["hint"].as_str().unwrap().contains(hint), "{failure}");
    }
}

#[test]
fn an_index_is_filled_once_and_then_searched_with_it() {
    let (environment, service) = (library(), Service::start());
    settle(&environment, &service, "");
    let filled = ok(&environment, &INDEX);
    let texts = filled["filled"]["embedded"].as_u64().unwrap();
    assert!(texts >= 40, "{filled}");
    assert_eq!(
        (&filled["filled"]["model"], &filled["filled"]["missing"]),
        (&json!(service.model("bag")), &json!(0))
    );
    assert_eq!(filled["vectors"].as_array().unwrap().len(), 2, "{filled}");
    let asked = service.requests().len();
    assert!(service.requests().iter().all(|request| request.key.as_deref() == Some(KEY)));
    let again = ok(&environment, &INDEX);
    assert_eq!(again["filled"]["embedded"], 0);
    assert_eq!(service.requests().len(), asked, "what is known is not asked for");

    let answer = ok(&environment, &["search", "violin", "notes"]);
    let model = json!(service.model("bag"));
    assert_eq!((&answer["mode"], &answer["model"]), (&json!("hybrid"), &model));
    assert_eq!(answer["notes"], json!([]));
    assert_eq!(service.requests().len(), asked + 1, "the query alone");
    assert_eq!(service.requests()[asked].texts, ["violin"]);
    let rebuilt = ok(&environment, &["index", "notes", "--rebuild"]);
    assert_eq!(rebuilt["filled"]["embedded"], 0, "{rebuilt}");
    assert_eq!(rebuilt["filled"]["missing"], 0, "{rebuilt}");
}

#[test]
fn a_search_fills_small_gaps_and_says_large_ones() {
    let (environment, service) = (library(), Service::start());
    settle(&environment, &service, "");
    ok(&environment, &INDEX);
    environment.write_below("notes/new.md", "A postcard from Zanzibar.\n");
    let answer = ok(&environment, &["search", "zanzibar", "notes"]);
    assert_eq!((&answer["vectors"][0]["missing"], &answer["notes"]), (&json!(0), &json!([])));
    assert!(
        service.requests().iter().any(|request| request.texts == ["A postcard from Zanzibar."])
    );
    let many: String =
        (0..90).map(|value| format!("# Day {value}\n\nIt rained on day {value}.\n\n")).collect();
    environment.write_below("notes/many.md", many);
    let asked = service.requests().len();
    let answer = ok(&environment, &["search", "rained", "notes"]);
    assert_eq!(service.requests().len(), asked + 1, "only the query is sent");
    let note = &answer["notes"][0];
    assert_eq!(note["code"], "vectors_missing", "{answer}");
    let message = note["message"].as_str().unwrap();
    assert!(message.contains("`anemone index --embedder openai:bag notes`"), "{message}");
    assert_eq!(answer["vectors"][1]["model"], "anemone-table-1", "the table covers the rest");
}

#[test]
fn another_model_takes_over_only_when_that_is_said() {
    let (environment, service) = (library(), Service::start());
    settle(&environment, &service, "");
    ok(&environment, &INDEX);
    let other = ["index", "notes", "--embedder", "openai:other"];
    let (code, failure) = run(&environment, &other);
    assert_eq!((code, &failure["code"]), (3, &json!("other_model")), "{failure}");
    let error = failure["error"].as_str().unwrap();
    assert!(error.contains("bag") && error.contains("other"), "{error}");
    let (bag, other_model) = (service.model("bag"), service.model("other"));
    assert_eq!(ok(&environment, &["search", "violin", "notes"])["model"], bag);
    let answer = ok(&environment, &["search", "violin", "notes", "--embedder", "openai:other"]);
    assert_eq!(answer["model"], "anemone-table-1");
    assert_eq!(answer["notes"][0]["code"], "other_model", "{answer}");
    let plan = ok(&environment, &[&other[..], &["--reembed", "--dry-run"]].concat());
    assert_eq!((&plan["replaces"], &plan["known"]), (&json!(bag), &json!(null)), "{plan}");
    let filled = ok(&environment, &[&other[..], &["--reembed"]].concat());
    assert_eq!(
        (&filled["filled"]["model"], &filled["filled"]["missing"]),
        (&json!(other_model), &json!(0))
    );
    assert_eq!(ok(&environment, &["search", "violin", "notes"])["model"], other_model);
}

#[test]
fn a_plan_says_how_much_would_go_where_and_sends_nothing() {
    let (environment, service) = (library(), Service::start());
    settle(&environment, &service, "dimensions = 16\n");
    let plan = ok(&environment, &[&INDEX[..], &["--dry-run"]].concat());
    assert_eq!((&plan["dry_run"], &plan["host"]), (&json!(true), &json!("127.0.0.1")), "{plan}");
    let number = |name: &str| plan[name].as_u64().unwrap();
    assert!(number("texts") >= 40 && number("characters") > 400, "{plan}");
    assert!(number("tokens") >= number("characters") / 4, "{plan}");
    environment.write_below("notes/han.md", "\u{8a18}\u{61b6}".repeat(500));
    let more = ok(&environment, &[&INDEX[..], &["--dry-run"]].concat());
    let grown = |name: &str| more[name].as_u64().unwrap() - number(name);
    assert!(grown("characters") > 100, "{more}");
    assert_eq!(grown("tokens"), grown("characters"), "each is a token");
    assert_eq!(number("known"), 0);
    assert_eq!(service.requests().len(), 0);
    assert_eq!(environment.json(["index", "notes", "-n", "--embedder", "builtin"])["texts"], 0);
}

#[test]
fn a_large_job_is_not_sent_by_accident() {
    let (environment, service) = (TestEnvironment::new(), Service::start());
    settle(&environment, &service, "dimensions = 16\n");
    let line = |value: usize| format!("the harbour was quiet on day {value} ").repeat(30) + "\n\n";
    environment.write_below("notes/long.md", (0..1000).map(line).collect::<String>());
    let (code, failure) = run(&environment, &INDEX);
    assert_eq!((code, &failure["code"]), (1, &json!("large_job")), "{failure}");
    assert!(failure["hint"].as_str().unwrap().contains("--yes"), "{failure}");
    assert_eq!(service.requests().len(), 0);
}

#[test]
fn a_service_that_fails_loses_nothing_and_search_goes_on() {
    let (environment, service) = (library(), Service::start());
    settle(&environment, &service, "max_batch = 2\ndimensions = 16\n");
    service.play_for_good(8, Play::Status(401, "no such key"));
    let (code, failure) = run(&environment, &INDEX);
    assert_eq!((code, &failure["code"]), (1, &json!("embedder_failed")), "{failure}");
    let done = failure["filled"]["embedded"].as_u64().unwrap();
    assert!(done > 0 && failure["filled"]["missing"].as_u64().unwrap() > 0, "{failure}");
    assert!(failure["hint"].as_str().unwrap().contains("goes on from here"), "{failure}");
    let answer = ok(&environment, &["search", "violin", "notes"]);
    assert!(!answer["hits"].as_array().unwrap().is_empty());
    let notes = answer["notes"].as_array().unwrap();
    let failed: Vec<_> = notes.iter().filter(|note| note["code"] == "embedder_failed").collect();
    assert_eq!(failed.len(), 1, "it is said once: {answer}");
    assert_eq!(answer["model"], "anemone-table-1", "{answer}");
    service.play_well();
    let filled = ok(&environment, &INDEX);
    assert_eq!(filled["filled"]["missing"], 0);
    let sent: usize = service.good_texts();
    let all = done + filled["filled"]["embedded"].as_u64().unwrap();
    assert_eq!(sent as u64, all, "nothing is sent twice");
    assert_eq!(ok(&environment, &["search", "violin", "notes"])["notes"], json!([]));
}

#[test]
fn a_key_is_in_nothing_that_is_printed_or_kept() {
    let (environment, service) = (library(), Service::start());
    environment.write_home("keys/openai", format!("{KEY}\n"));
    private(&environment, "keys/openai");
    settle(&environment, &service, "dimensions = 16\nkey_file = \"~/keys/openai\"\n");
    let mut printed = Vec::new();
    let mut see = |args: &[&str]| {
        for form in ["--json", "--human"] {
            let output = environment.command().args(args).arg(form).output().expect("it starts");
            printed.extend([output.stdout, output.stderr]);
        }
    };
    see(&[&INDEX[..], &["--dry-run"]].concat());
    service.play_for_good(1, Play::Echo);
    see(&INDEX);
    see(&["search", "violin", "notes", "--explain"]);
    service.play_well();
    see(&INDEX);
    see(&["search", "violin", "notes", "--explain"]);
    see(&["index", "--list"]);
    assert!(service.requests().iter().all(|request| request.key.as_deref() == Some(KEY)));
    let holds = |bytes: &[u8]| bytes.windows(KEY.len()).any(|window| window == KEY.as_bytes());
    for text in &printed {
        assert!(!holds(text), "{}", String::from_utf8_lossy(text));
    }
    for (path, lies) in environment.everything() {
        let Lies::File(bytes, _) = lies else { continue };
        assert_eq!(holds(&bytes), path.ends_with("keys/openai"), "{}", path.display());
    }
}

#[cfg(unix)]
fn private(environment: &TestEnvironment, name: &str) {
    use std::os::unix::fs::PermissionsExt as _;
    let mode = std::fs::Permissions::from_mode(0o600);
    fs_err::set_permissions(environment.home(name), mode).expect("it is ours");
}

#[test]
fn the_config_settles_what_is_used() {
    let environment = library();
    let settle = |text: &str| environment.write_home(".config/anemone/config.toml", text);
    environment.json(["index", "notes"]);
    settle("[embedding]\nembedder = \"none\"\n");
    assert_eq!(environment.json(["search", "violin", "notes"])["mode"], "lexical");
    // Of an order the first that can be had is used; here nothing can.
    settle("[embedding]\norder = [\"minilm\", \"openai\", \"gemini\"]\n");
    let answer = environment.json(["search", "violin", "notes"]);
    assert_eq!((&answer["model"], &answer["notes"]), (&json!("anemone-table-1"), &json!([])));
    settle("[embedding]\nembedder = \"minilm\"\n");
    let answer = environment.json(["search", "violin", "notes"]);
    assert_eq!(answer["model"], "anemone-table-1");
    assert_eq!(answer["notes"][0]["code"], "embedder_unavailable", "{answer}");
    settle("[embedding]\nembeder = \"minilm\"\n");
    let failure = environment.failure(1, ["search", "violin", "notes"]);
    assert_eq!(
        (&failure["code"], &failure["hint"]),
        (&json!("config"), &json!("did you mean embedding.embedder?"))
    );
    settle(&format!("[embedding.openai]\napi_key = \"{KEY}\"\n"));
    let failure = environment.failure(1, ["search", "violin", "notes"]);
    assert!(failure["hint"].as_str().unwrap().contains("key_file"), "{failure}");
    assert!(!failure.to_string().contains(KEY));
    assert_eq!(
        environment.json(["search", "violin", "notes", "--embedder", "none"])["mode"],
        "lexical"
    );
}

#[cfg(unix)]
#[test]
fn an_interrupt_keeps_what_was_done() {
    use std::io::{BufRead as _, BufReader};
    use std::process::{Command, Stdio};
    let (environment, service) = (library(), Service::start());
    settle(&environment, &service, "max_batch = 2\ndimensions = 16\n");
    let gate = service.hold_after(1);
    let mut command = Command::new(crate::environment::program());
    command
        .current_dir(environment.path(""))
        .env_clear()
        .envs(environment.variables())
        .env("OPENAI_API_KEY", KEY)
        .args(INDEX)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().expect("the program starts");
    let held = gate.wait(Duration::from_secs(60));
    let id = nix::unistd::Pid::from_raw(i32::try_from(child.id()).expect("ids are small"));
    nix::sys::signal::kill(id, nix::sys::signal::Signal::SIGINT).expect("it is ours");
    // A separate thread handles the signal, and reports it before the service answers.
    let mut said = BufReader::new(child.stderr.take().expect("it is a pipe")).lines();
    let is_taken = said.any(|line| line.is_ok_and(|line| line.contains("stopping when this")));
    assert!(is_taken, "the program says that it stops");
    gate.open();
    let output = child.wait_with_output().expect("the program ends");
    assert!(held, "the service was asked");
    assert_eq!(output.status.code(), Some(130), "{output:?}");
    let failure: Value = serde_json::from_slice(&output.stdout).expect("it is JSON");
    assert_eq!(failure["code"], "interrupted", "{failure}");
    assert!(failure["hint"].as_str().unwrap().contains("goes on from here"), "{failure}");
    let done = failure["filled"]["embedded"].as_u64().unwrap();
    assert!(done > 0, "{failure}");
    let filled = ok(&environment, &INDEX);
    assert_eq!(filled["filled"]["missing"], 0, "{filled}");
}

#[cfg(unix)]
#[test]
fn an_interrupt_ends_a_wait() {
    use std::process::{Command, Stdio};
    let (environment, service) = (library(), Service::start());
    settle(&environment, &service, "dimensions = 16\n");
    service.play_for_good(0, Play::Later);
    let mut command = Command::new(crate::environment::program());
    command
        .current_dir(environment.path(""))
        .env_clear()
        .envs(environment.variables())
        .env("OPENAI_API_KEY", KEY)
        .args(INDEX)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    let mut child = command.spawn().expect("the program starts");
    let asked = service.was_asked(Duration::from_secs(60));
    let id = nix::unistd::Pid::from_raw(i32::try_from(child.id()).expect("ids are small"));
    nix::sys::signal::kill(id, nix::sys::signal::Signal::SIGINT).expect("it is ours");
    // The service asked for a hundred seconds.
    let ended = (0..3000).any(|_| {
        std::thread::sleep(Duration::from_millis(20));
        child.try_wait().is_ok_and(|wait| wait.is_some())
    });
    child.kill().ok();
    let output = child.wait_with_output().expect("the program ends");
    assert!(asked && ended, "asked {asked}, ended {ended}");
    assert_eq!(output.status.code(), Some(130), "{output:?}");
    let failure: Value = serde_json::from_slice(&output.stdout).expect("it is JSON");
    assert_eq!(failure["code"], "interrupted", "{failure}");
}

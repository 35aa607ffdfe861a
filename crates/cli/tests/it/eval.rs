//! `anemone eval`

use std::ffi::OsStr;
use std::path::Path;

use anemone_testkit::{fixture, shared};
use serde_json::{Value, json};

use crate::environment::TestEnvironment;

/// Two notes, and questions whose figures can be worked out by hand.
fn small() -> TestEnvironment {
    let environment = TestEnvironment::new();
    environment.write_below("notes/africa.md", "# Trips\n\nA postcard from Zanzibar.\n");
    environment.write_below("notes/asia.md", "# Trips\n\nA letter from Samarkand.\n");
    let line = |id: &str, query: &str, category: Value, path: &str| {
        let relevant = json!([{ "path": path, "line": 3 }]);
        json!({ "id": id, "query": query, "category": category, "relevant": relevant }).to_string()
    };
    let queries = [
        // Found first.
        line("found", "zanzibar", json!(1), "africa.md"),
        // Something is found, and it is not the answer.
        line("wrong", "zanzibar", json!(1), "asia.md"),
        // Nothing is found.
        line("empty", "xyzzyqux", json!("odd"), "asia.md"),
        // A question without an answer.
        json!({ "id": "open", "query": "samarkand", "category": 2, "relevant": [] }).to_string(),
    ];
    environment.write("queries.jsonl", queries.join("\n") + "\n\n");
    environment
}

/// Search by words only: figures of a vector search cannot be computed by hand.
const EVAL: [&str; 6] = ["eval", "notes", "--queries", "queries.jsonl", "--embedder", "none"];

fn eval(environment: &TestEnvironment, flags: &[&str]) -> Value {
    environment.json(EVAL.iter().chain(flags))
}

#[test]
fn figures_are_those_worked_out_by_hand() {
    let environment = small();
    let result = eval(&environment, &[]);
    assert_eq!((&result["queries"], &result["without_answer"]), (&json!(4), &json!(1)));
    let overall = &result["overall"];
    for name in ["recall_at_5", "recall_at_10", "hit_at_5", "mrr", "recall_4k", "empty_rate"] {
        assert_eq!(overall[name], 33.33, "{name}: {overall}");
    }
    assert_eq!(overall["queries"], 3);
    assert!(overall["p50_ms"].as_f64().unwrap() <= overall["p99_ms"].as_f64().unwrap());
    let first = &result["by_category"]["1"];
    assert_eq!((&first["queries"], &first["mrr"]), (&json!(2), &json!(50.0)));
    assert_eq!(first["empty_rate"], 0.0);
    let odd = &result["by_category"]["odd"];
    assert_eq!((&odd["recall_4k"], &odd["empty_rate"]), (&json!(0.0), &json!(100.0)));
    assert_eq!(result["by_category"].get("2"), None, "no average counts it");
    let settings = &result["settings"];
    assert_eq!((&settings["profile"], &settings["limit"]), (&json!("anemone"), &json!(100)));
    assert_eq!((&settings["embedder"], &settings["chars"]), (&json!("none"), &json!(700)));
    assert_eq!(result["warnings"], json!([]));
    assert_eq!(result.get("misses"), None);
}

#[test]
fn misses_are_listed_with_what_is_missing() {
    let environment = small();
    let result = eval(&environment, &["--misses"]);
    let misses = result["misses"].as_array().unwrap();
    let ids: Vec<_> = misses.iter().map(|miss| miss["id"].as_str().unwrap()).collect();
    assert_eq!(ids, ["wrong", "empty"]);
    assert_eq!(misses[0]["missing"], json!([{ "path": "asia.md", "line": 3 }]));
    let text = environment.human(EVAL.iter().chain(&["--misses"]));
    assert!(text.contains("missing asia.md#L3"), "{text}");
    assert!(text.contains("overall") && text.contains("33.33"), "{text}");
    assert!(text.contains("1 question without relevant lines"), "{text}");
}

#[test]
fn categories_are_chosen_by_name() {
    let environment = small();
    let result = eval(&environment, &["--category", "1"]);
    assert_eq!((&result["queries"], &result["overall"]["mrr"]), (&json!(2), &json!(50.0)));
    let result = eval(&environment, &["--category", "odd", "--category", "2"]);
    assert_eq!(result["queries"], 2);
}

#[test]
fn without_a_question_there_is_no_figure() {
    let environment = small();
    let failure = |flags: &[&str]| {
        environment.failure(1, ["eval", "notes", "--queries", "queries.jsonl"].iter().chain(flags))
    };
    assert_eq!(failure(&["--category", "none of these"])["code"], "no_questions");
    environment.write("queries.jsonl", "\n \n");
    assert_eq!(failure(&[])["code"], "no_questions");
}

#[test]
fn answers_that_are_not_there_are_a_warning() {
    let environment = small();
    let relevant = json!([{ "path": "gone.md", "line": 1 }, { "path": "asia.md", "line": 1 }]);
    environment.write("queries.jsonl", json!({ "query": "x", "relevant": relevant }).to_string());
    let result = eval(&environment, &[]);
    assert_eq!(result["warnings"][0]["code"], "unknown_path");
    let message = result["warnings"][0]["message"].as_str().unwrap();
    assert!(message.contains("1 relevant line ") && message.contains("gone.md"), "{message}");
    assert_eq!(result["warnings"].as_array().unwrap().len(), 1);
    let text = environment.human(["eval", "notes", "--queries", "queries.jsonl"]);
    assert!(text.contains("note: 1 relevant line") && !text.contains("unknown_path"), "{text}");
    let relevant = [0, 1, 3, 4, 99999].map(|line| json!({ "path": "asia.md", "line": line }));
    environment.write("queries.jsonl", json!({ "query": "x", "relevant": relevant }).to_string());
    let result = eval(&environment, &[]);
    assert_eq!(result["warnings"][0]["code"], "unknown_line");
    let message = result["warnings"][0]["message"].as_str().unwrap();
    assert!(message.contains("3 relevant lines ") && message.contains("asia.md#L0"), "{message}");
}

#[test]
fn a_store_that_cannot_be_read_does_not_end_the_measuring() {
    let environment = small();
    environment.write_below("ws/memory/africa.md", "# Trips\n\nA postcard from Zanzibar.\n");
    environment.write("ws/memory/facts.db", "this is no database");
    let relevant = json!([{ "path": "memory/africa.md", "line": 3 }]);
    environment
        .write("queries.jsonl", json!({ "query": "zanzibar", "relevant": relevant }).to_string());
    let result = environment.json(["eval", "-w", "ws", "--queries", "queries.jsonl"]);
    assert_eq!((&result["overall"]["mrr"], &result["warnings"]), (&json!(100.0), &json!([])));
}

#[test]
fn a_wrong_line_is_named() {
    let environment = small();
    environment.write("queries.jsonl", "{\"query\":\"x\"}\n{\"query\":}\n");
    let failure = environment.failure(1, ["eval", "notes", "--queries", "queries.jsonl"]);
    assert_eq!(failure["code"], "queries_invalid");
    assert!(failure["error"].as_str().unwrap().contains("queries.jsonl: line 2: "), "{failure}");
    let failure = environment.failure(1, ["eval", "notes", "--queries", "missing.jsonl"]);
    assert_eq!(failure["code"], "not_found");
}

/// The categories of LoCoMo with answers; questions of the fifth have none.
const ANSWERED: [&str; 4] = ["1", "2", "3", "4"];

/// Measures the questions of a set, by words alone or with a model. No categories: all of them.
fn measured(
    environment: &TestEnvironment,
    notes: &Path,
    embedder: &str,
    categories: &[&str],
) -> Value {
    let queries = notes.with_extension("queries.jsonl");
    let mut args: Vec<&OsStr> = vec!["eval".as_ref(), "-w".as_ref(), notes.as_ref()];
    args.extend(["--queries".as_ref(), queries.as_os_str()]);
    args.extend(["--embedder".as_ref(), OsStr::new(embedder)]);
    for category in categories {
        args.extend(["--category".as_ref(), OsStr::new(category)]);
    }
    environment.json(args)
}

fn figure(of: &Value, name: &str) -> f64 {
    of[name].as_f64().unwrap_or(f64::NAN)
}

#[test]
fn what_was_said_in_other_words_is_found() {
    let environment = TestEnvironment::new();
    for (embedder, least) in [("builtin", 65.0), ("builtin-quality", 75.0)] {
        let result = measured(&environment, &fixture("bench/paraphrase/notes"), embedder, &[]);
        let recall = figure(&result["overall"], "recall_4k");
        assert!(recall >= least, "{embedder}: recall_4k is {recall:.2}");
    }
}

#[track_caller]
fn assert_vectors_take_nothing(notes: &Path, categories: &[&str]) {
    let environment = TestEnvironment::new();
    let [words, both] = ["none", "builtin"].map(|embedder| {
        figure(&measured(&environment, notes, embedder, categories)["overall"], "recall_4k")
    });
    let notes = notes.display();
    assert!(both >= words - 0.3, "{notes}: {words:.2} by words, {both:.2} with the table");
}

#[test]
fn vectors_take_nothing_from_words() {
    assert_vectors_take_nothing(&fixture("bench/multilingual/notes"), &[]);
}

#[test]
fn vectors_take_nothing_from_words_of_old_conversations() {
    for name in ["conv-26", "conv-43"] {
        let Some(notes) = shared(&format!("bench/locomo/{name}")) else { return };
        assert_vectors_take_nothing(&notes, &ANSWERED);
    }
}

#[test]
fn seven_languages_are_found() {
    let environment = TestEnvironment::new();
    let result = measured(&environment, &fixture("bench/multilingual/notes"), "builtin", &[]);
    assert!(figure(&result["overall"], "hit_at_5") >= 97.0, "{result}");
    assert!(figure(&result["overall"], "mrr") >= 93.0, "{result}");
    for (language, figures) in result["by_category"].as_object().unwrap() {
        assert!(figure(figures, "hit_at_5") >= 90.0, "{language}: {figures}");
    }
}

#[test]
fn old_conversations_are_found() {
    let conversations = ["conv-26", "conv-41", "conv-43", "conv-47", "conv-49"];
    let environment = TestEnvironment::new();
    let (mut sum, mut questions) = (0.0, 0.0);
    for name in conversations {
        let Some(notes) = shared(&format!("bench/locomo/{name}")) else { return };
        let result = measured(&environment, &notes, "builtin", &ANSWERED);
        let overall = &result["overall"];
        let count = figure(overall, "queries");
        sum += count * figure(overall, "recall_4k");
        questions += count;
        assert_eq!(overall["empty_rate"], 0.0, "{name}");
    }
    assert!(sum / questions >= 85.0, "recall_4k is {:.2}", sum / questions);
}

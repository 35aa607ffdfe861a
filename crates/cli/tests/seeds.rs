//! Checks `docs/seeds.md`: no claim is missing, and each test and decision that it names exists.

use std::collections::{BTreeMap, BTreeSet};

use regex::Regex;

/// The documents, and how many claims each makes.
const DOCUMENTS: [(&str, u32); 5] =
    [("000", 151), ("001", 58), ("002", 134), ("003", 144), ("004", 75)];

/// What is planned for later, and nothing else is.
const LATER: [&str; 1] = ["000-3"];

/// One row of the tables.
struct Claim {
    id: String,
    says: String,
    state: String,
    /// The tests that show it, each as a path and a function.
    tests: Vec<(String, String)>,
}

fn root(path: &str) -> String {
    format!("{}/../../{path}", env!("CARGO_MANIFEST_DIR"))
}

fn read(path: &str) -> String {
    fs_err::read_to_string(root(path)).expect("the file is part of the repository")
}

fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("it is a pattern")
}

fn claims() -> Vec<Claim> {
    let page = read("docs/seeds.md");
    let begins = pattern(r"^\|\s*\d{3}-");
    let row = pattern(r"^\| (\d{3}-\d+) \| (.+) \| ([^|]+) \| ([^|]+) \|$");
    let named = pattern(r"^`([^`:]+\.rs)::(\w+)`$");
    let mut claims = Vec::new();
    for line in page.lines().filter(|line| begins.is_match(line)) {
        let Some(cells) = row.captures(line) else { panic!("this is no row of a claim: {line}") };
        let tests = match &cells[4] {
            "-" => Vec::new(),
            tests => {
                let test = |name: &str| {
                    let Some(parts) = named.captures(name) else {
                        panic!("{}: this names no test: {name}", &cells[1])
                    };
                    (parts[1].to_owned(), parts[2].to_owned())
                };
                tests.split(", ").map(test).collect()
            }
        };
        let [id, says, state] = [1, 2, 3].map(|cell| cells[cell].to_owned());
        claims.push(Claim { id, says, state, tests });
    }
    claims
}

#[test]
fn every_claim_is_there_once_and_in_order() {
    let found: Vec<String> = claims().into_iter().map(|claim| claim.id).collect();
    let expected: Vec<String> = DOCUMENTS
        .iter()
        .flat_map(|(document, count)| (1..=*count).map(move |claim| format!("{document}-{claim}")))
        .collect();
    let of = |list: &[String]| list.iter().cloned().collect::<BTreeSet<_>>();
    let missing: Vec<_> = of(&expected).difference(&of(&found)).cloned().collect();
    assert_eq!(missing, [""; 0], "claims without a row");
    assert_eq!(found, expected);
}

#[test]
fn every_state_is_known_and_has_what_belongs_to_it() {
    let decision = pattern(r"^\[decision (\d{3})\]\((decisions/(\d{3})-[a-z0-9-]+\.md)\)$");
    for Claim { id, says, state, tests } in claims() {
        // What a user gets instead.
        let tells =
            || assert!(says.contains("; here: "), "{id} does not say what one gets: {says}");
        match state.as_str() {
            "holds" => assert!(!tests.is_empty(), "{id} holds, and no test shows it"),
            "runtime" => tells(),
            "later" => assert!(LATER.contains(&id.as_str()), "{id} is not for later"),
            state => {
                let Some(parts) = decision.captures(state) else {
                    panic!("{id} has no known state: {state}")
                };
                assert_eq!(parts[1], parts[3], "{id}");
                let path = root(&format!("docs/{}", &parts[2]));
                assert!(std::path::Path::new(&path).is_file(), "{id}: there is no {path}");
                tells();
            }
        }
    }
}

#[test]
fn every_test_that_is_named_exists_and_is_run() {
    let mut tests: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for claim in claims() {
        for (path, name) in claim.tests {
            tests.entry(path).or_default().insert(name);
        }
    }
    let function = pattern(r"^\s*(?:async )?fn (\w+)");
    let mut wrong = Vec::new();
    for (path, names) in tests {
        let Ok(source) = fs_err::read_to_string(root(&path)) else {
            wrong.push(format!("there is no {path}"));
            continue;
        };
        let mut attributes = String::new();
        let mut run = BTreeSet::new();
        for line in source.lines() {
            let text = line.trim();
            if text.starts_with("#[") {
                attributes.push_str(text);
            } else if let Some(found) = function.captures(line) {
                let is_test =
                    attributes.contains("#[test]") || attributes.contains("#[tokio::test]");
                if is_test && !attributes.contains("#[ignore") {
                    run.insert(found[1].to_owned());
                }
                attributes.clear();
            } else if !text.starts_with("//") {
                attributes.clear();
            }
        }
        let missing = names.difference(&run);
        wrong.extend(missing.map(|name| format!("no test of {path} is called {name}")));
    }
    assert_eq!(wrong, [""; 0]);
}

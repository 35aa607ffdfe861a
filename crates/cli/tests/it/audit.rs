//! `anemone audit`

use crate::environment::TestEnvironment;

fn workspace(memory: &str) -> TestEnvironment {
    let environment = TestEnvironment::new();
    environment.write_below("ws/AGENTS.md", "# Rules\n");
    environment.write_below("ws/MEMORY.md", memory);
    environment
}

#[test]
fn a_clean_memory_scores_100_and_nothing_is_written() {
    let environment = workspace("- The harbour pilot is called Ingrid.\n");
    let before = environment.everything();
    let report = environment.json(["audit", "-r", "openclaw", "-w", "ws", "--min-score", "100"]);
    assert_eq!(report["score"], 100, "{report}");
    assert_eq!(report["findings"], serde_json::json!([]));
    assert!(before == environment.everything(), "reading changes nothing");
}

#[test]
fn a_low_score_fails_when_a_limit_is_set_and_the_findings_come_along() {
    let environment = workspace("- key: AKIAIOSFODNN7EXAMPLQ\n- **a**: one\n- **a**: two\n");
    let report = environment.json(["audit", "-r", "openclaw", "-w", "ws"]);
    assert_eq!(report["score"], 88, "{report}");
    let args = ["audit", "-r", "openclaw", "-w", "ws", "--min-score", "90"];
    let failure = environment.failure(1, args);
    assert_eq!(failure["code"], "score_too_low");
    let kinds: Vec<_> =
        failure["findings"].as_array().unwrap().iter().map(|array| &array["kind"]).collect();
    assert_eq!(kinds, ["secret", "contradiction"]);
    let text = failure.to_string();
    assert!(!text.contains("AKIA"), "the secret itself is never told: {text}");
}

#[test]
fn every_finding_says_what_would_fix_it() {
    let long = "- line after line\n".repeat(2_000);
    let environment = workspace(&long);
    let report = environment.json(["audit", "-r", "openclaw", "-w", "ws"]);
    let findings = report["findings"].as_array().unwrap();
    assert!(
        findings.iter().all(|finding| !finding["fix"].as_str().unwrap().is_empty()),
        "{report}"
    );
    let cut = &findings[0];
    assert_eq!(
        (cut["kind"].as_str(), cut["path"].as_str()),
        (Some("oversized"), Some("MEMORY.md"))
    );
    let march =
        cut["cuts"].as_array().unwrap().iter().find(|array| array["generation"] == "2026.3");
    assert_eq!(march.unwrap()["from_char"], 14_000);
}

#[test]
fn people_get_a_screenful() {
    let environment = workspace(&"- line after line\n".repeat(2_000));
    let text = environment.human(["audit", "-r", "openclaw", "-w", "ws"]);
    assert!(text.lines().count() <= 24, "{text}");
    assert!(text.contains("oversized"), "{text}");
}

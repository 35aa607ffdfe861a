//! The health of a memory.

use anemone::audit::{AuditReport, AuditRequest, audit};
use anemone_testkit::fixture;

use crate::support::memory::TestMemory;

fn workspace(text: &str) -> TestMemory {
    let memory = TestMemory::of("openclaw");
    memory.write("ws/AGENTS.md", "# Rules\n");
    memory.write("ws/MEMORY.md", text);
    memory
}

fn examine(memory: &TestMemory) -> AuditReport {
    let request = AuditRequest { memory: memory.choice() };
    memory.run(|host| audit(&request, host)).unwrap()
}

#[test]
fn a_clean_memory_scores_100_and_nothing_is_written() {
    let memory = workspace("- The harbour pilot is called Ingrid.\n");
    let before = memory.everything();
    let report = examine(&memory);
    assert_eq!(report.score, 100, "{report:?}");
    assert!(report.findings.is_empty());
    assert!(before == memory.everything(), "reading changes nothing");
}

#[test]
fn findings_lower_the_score_and_tell_no_secret() {
    let memory = workspace("- key: AKIAIOSFODNN7EXAMPLQ\n- **a**: one\n- **a**: two\n");
    let report = examine(&memory);
    assert_eq!(report.score, 88, "{report:?}");
    let kinds: Vec<_> = report.findings.iter().map(|finding| finding.kind).collect();
    assert_eq!(kinds, ["secret", "contradiction"]);
    let told = format!("{report:?}");
    assert!(!told.contains("AKIA"), "{told}");
}

#[test]
fn a_file_that_is_too_long_is_found_with_where_it_is_cut() {
    let memory = workspace(&"- line after line\n".repeat(2_000));
    let report = examine(&memory);
    let cut = &report.findings[0];
    assert_eq!((cut.kind, &*cut.path), ("oversized", "MEMORY.md"));
    let march = cut.cuts.iter().find(|cut| cut.generation == "2026.3").unwrap();
    assert_eq!(march.from_char, 14_000);
}

#[test]
fn a_workspace_that_the_runtime_wrote_can_be_examined() {
    let mut memory = TestMemory::of("openclaw");
    memory.agent.workspace = Some(fixture("openclaw/gen9/.openclaw/workspace"));
    let report = examine(&memory);
    assert!(report.files >= 2, "{report:?}");
    assert!(report.score <= 100);
}

#[test]
fn a_memory_in_a_database_is_said_not_to_be_examined() {
    let memory = TestMemory::of("zeroclaw");
    memory.write("ws/config.toml", "[memory]\nbackend = \"sqlite\"\n");
    memory.write("ws/workspace/AGENTS.md", "# Rules\n");
    let report = examine(&memory);
    assert!(report.notes[0].contains("its rows were not examined, only its files"), "{report:?}");
}

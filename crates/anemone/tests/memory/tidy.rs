//! Tidying a memory: what expires, and what is promoted.

use anemone::context::{ContextRequest, context};
use anemone::tidy::{ExpiryAction, ProposalChoice, TidyError, TidyReport, TidyRequest, tidy};
use anemone_memory::SessionKind;

use crate::support::memory::TestMemory;

const LOG: &str = "memory/2026-01-02.md";

fn workspace() -> TestMemory {
    let memory = TestMemory::of("openclaw");
    memory.write("ws/AGENTS.md", "# Rules\n");
    memory.write("ws/MEMORY.md", "- **db**: SQLite\n- **db**: Postgres\n");
    let log = "# 2026-01-02\n\n- [context|i=0.2] it rained\n- [decision|i=0.9] the bridge stays\n";
    memory.write(&format!("ws/{LOG}"), log);
    memory
}

fn try_tidy(
    memory: &TestMemory,
    expired: ExpiryAction,
    promotion: ProposalChoice,
) -> Result<TidyReport, TidyError> {
    let request = TidyRequest { memory: memory.choice(), expired, promotion };
    memory.run(|host| tidy(&request, host))
}

fn plan(memory: &TestMemory) -> TidyReport {
    try_tidy(memory, ExpiryAction::List, ProposalChoice::None).unwrap()
}

fn archive(memory: &TestMemory) -> TidyReport {
    try_tidy(memory, ExpiryAction::Archive, ProposalChoice::None).unwrap()
}

#[test]
fn nothing_is_changed_until_the_plan_is_applied() {
    let memory = workspace();
    let before = memory.everything();
    let shown = plan(&memory);
    assert!(!shown.applied);
    assert_eq!(shown.expired[0].entry.path, LOG);
    assert_eq!(shown.expired[0].tier, "contextual");
    assert_eq!(shown.contradictions[0].key, "db");
    assert!(before == memory.everything(), "looking changes nothing");
    let done = archive(&memory);
    assert_eq!((done.applied, done.changes.len()), (true, 1));
    assert_eq!(memory.text(LOG), "# 2026-01-02\n\n- [decision|i=0.9] the bridge stays\n");
    // What expired is moved, not deleted, and is still found.
    assert_eq!(done.expired[0].to, "memory/archive/tidied-2026-01.md");
    let hit = &memory.search("rained").hits[0];
    assert_eq!(hit.path, "memory/archive/tidied-2026-01.md", "{hit:?}");
    assert_eq!(hit.date.as_deref(), Some("2026-01-02"), "{hit:?}");
    assert!(archive(&memory).changes.is_empty());
}

#[test]
fn what_was_recalled_often_is_promoted_on_request() {
    let memory = workspace();
    let request = ContextRequest {
        query: Some("bridge".to_owned()),
        ..ContextRequest::new(memory.choice(), SessionKind::Main)
    };
    for _ in 0..3 {
        memory.run(|host| context(&request, host)).unwrap();
    }
    let shown = plan(&memory);
    assert_eq!(shown.promotions[0].recalls, 3, "{shown:?}");
    let ids = vec![shown.promotions[0].entry.id.clone()];
    let done = try_tidy(&memory, ExpiryAction::List, ProposalChoice::Named(ids)).unwrap();
    assert_eq!(done.promoted, 1);
    let text = memory.text("MEMORY.md");
    assert!(text.starts_with("- **db**: SQLite\n- **db**: Postgres\n\n## Promoted "), "{text}");
    assert!(text.contains("- [decision|i=0.9] the bridge stays <!-- anemone: "), "{text}");
    assert!(!done.applied, "logs are left as they are");
}

#[test]
fn an_id_that_is_not_proposed_is_refused() {
    let memory = workspace();
    let ids = ProposalChoice::Named(vec!["nope".to_owned()]);
    let error = try_tidy(&memory, ExpiryAction::List, ids).unwrap_err();
    assert!(matches!(error, TidyError::UnknownProposal(_)), "{error:?}");
}

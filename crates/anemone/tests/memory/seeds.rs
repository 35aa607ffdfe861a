//! What the documents in `docs/seeds.md` say of searching, tidying and beginning a session.

use anemone::agent::AgentChoice;
use anemone::context::{ContextReport, ContextRequest, context};
use anemone::search::SearchReport;
use anemone::search::read::ReadDocumentError;
use anemone::tidy::{ExpiryAction, ProposalChoice, TidyRequest, tidy};
use anemone_memory::{Clock as _, SessionKind};
use anemone_testkit::fixture;
use jiff::ToSpan as _;

use crate::support::memory::TestMemory;

#[test]
fn conversations_are_found_only_when_they_are_asked_for() {
    let mut memory = TestMemory::new();
    memory.copy_home(&fixture("openclaw/gen3/.openclaw"), ".openclaw");
    memory.agent = AgentChoice { agent: Some("main".to_owned()), runtime: None, workspace: None };
    let said = |report: &SearchReport| -> Vec<String> {
        let paths = report.hits.iter().map(|hit| hit.path.clone());
        paths.filter(|path| path.starts_with("sessions/")).collect()
    };
    let query = "remember that I like green tea";
    assert_eq!(said(&memory.search(query)), [""; 0]);
    let found = memory.search_with(query, |request| request.target.sessions = true);
    let [session, ..] = &said(&found)[..] else { panic!("{found:?}") };
    // The file of the transcript itself is not read as a memory either way.
    let raw = format!("../agents/main/{session}");
    for path in [session.as_str(), &raw, "agents/main/sessions/sessions.json"] {
        let error = memory.get(path).unwrap_err();
        assert!(matches!(error, ReadDocumentError::NotFound { .. }), "{path}: {error:?}");
    }
}

/// Structural from 0.8: for ever. Potential from 0.4: 30 days. Contextual below: 7 days.
#[test]
fn importance_decides_how_long_an_entry_stays() {
    let memory = TestMemory::of("openclaw");
    memory.write("ws/SOUL.md", "# Nova\n");
    let today = memory.host.clock.now().to_zoned(memory.host.clock.zone()).date();
    let text = "- [a|i=1] one\n- [b|i=0.8] two\n- [c|i=0.79] three\n- [d|i=0.4] four\n\
                - [e|i=0.39] five\n- [f|i=0] six\n- nobody said how much it matters\n";
    let mut expected = Vec::new();
    for (age, tiers) in [
        (400, &["potential", "potential", "contextual", "contextual"][..]),
        (31, &["potential", "potential", "contextual", "contextual"]),
        (30, &["contextual", "contextual"]),
        (8, &["contextual", "contextual"]),
        (7, &[]),
    ] {
        let path = format!("memory/{}.md", today - age.days());
        memory.write(&format!("ws/{path}"), text);
        expected.extend(tiers.iter().map(|tier| (path.clone(), (*tier).to_owned())));
    }
    let request = TidyRequest {
        memory: memory.choice(),
        expired: ExpiryAction::List,
        promotion: ProposalChoice::None,
    };
    let plan = memory.run(|host| tidy(&request, host)).unwrap();
    let mut expired: Vec<_> = (plan.expired.iter())
        .map(|expired| (expired.entry.path.clone(), expired.tier.to_string()))
        .collect();
    expired.sort();
    expected.sort();
    assert_eq!(expired, expected);
}

#[test]
fn a_row_is_read_by_its_key() {
    let memory = TestMemory::of("zeroclaw");
    memory.write("ws/data/memory/x", "");
    memory.write("ws/agents/default/workspace/IDENTITY.md", "# Nia\n");
    memory.remember_with("Lin drinks green tea.", |request| {
        request.key = Some("user_tea".to_owned());
    });
    assert_eq!(memory.get("memories/user_tea").unwrap().text.trim_end(), "Lin drinks green tea.");
    let error = memory.get("memories/user_coffee").unwrap_err();
    assert!(matches!(error, ReadDocumentError::NotFound { .. }), "{error:?}");
}

fn seed_context(memory: &TestMemory, session: SessionKind) -> ContextReport {
    let mut request = ContextRequest::new(memory.choice(), session);
    request.rules = anemone_runtimes::context_rules().find(|rules| rules.name == "seed");
    memory.run(|host| context(&request, host)).unwrap()
}

#[test]
fn a_file_of_more_than_20000_characters_is_cut() {
    for (length, whole) in [(20_000, true), (20_001, false)] {
        let memory = TestMemory::of("openclaw");
        memory.write("ws/SOUL.md", "s".repeat(length));
        let report = seed_context(&memory, SessionKind::Main);
        let part = report.parts.iter().find(|part| part.path == "SOUL.md").unwrap();
        assert_eq!((part.total_chars, part.included_chars == length), (length, whole));
        assert!(part.included_chars <= 20_000, "{part:?}");
    }
}

#[test]
#[cfg(unix)]
fn a_file_with_two_names_is_shown_once() {
    let memory = TestMemory::of("openclaw");
    memory.write("ws/MEMORY.md", "- The harbour pilot is called Ingrid Solberg.\n");
    std::os::unix::fs::symlink("MEMORY.md", memory.path("ws/memory.md")).unwrap();
    for rules in anemone_runtimes::context_rules() {
        let mut request = ContextRequest::new(memory.choice(), SessionKind::Main);
        request.rules = Some(rules);
        let report = memory.run(|host| context(&request, host)).unwrap();
        assert_eq!(report.text.matches("Ingrid Solberg").count(), 1, "{}", rules.name);
    }
}

#[test]
fn extra_paths_of_the_config_are_searched_and_read() {
    let mut memory = TestMemory::new();
    memory.agent = AgentChoice { agent: Some("main".to_owned()), runtime: None, workspace: None };
    memory.write_home(".openclaw/workspace/MEMORY.md", "# Memory\n\n- Lin drinks tea.\n");
    memory.write_home(".openclaw/workspace/notes/deep/harbour.md", "- The pilot is Ingrid.\n");
    memory.write_home(".openclaw/workspace/notes/harbour.txt", "The pilot is not Markdown.\n");
    let found = |memory: &TestMemory| -> Vec<String> {
        let hits = memory.search("who is the pilot").hits;
        hits.into_iter().map(|hit| hit.path).filter(|path| path.contains("harbour")).collect()
    };
    memory.write_home(".openclaw/openclaw.json", "{}");
    assert_eq!(found(&memory), [""; 0]);
    let config = "{ agents: { defaults: { memorySearch: { extraPaths: ['notes'] } } } }";
    memory.write_home(".openclaw/openclaw.json", config);
    assert_eq!(found(&memory), ["notes/deep/harbour.md"]);
    let read = memory.get("notes/deep/harbour.md").unwrap();
    assert_eq!(read.text.trim_end(), "- The pilot is Ingrid.");
    assert!(memory.get("notes/harbour.txt").is_err());
}

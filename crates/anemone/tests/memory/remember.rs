//! Remembering: what is written where, and what is refused.

use anemone::remember::{
    DuplicateCheck, MemoryPart, RememberError, RememberReport, RememberRequest, SecretHandling,
};
use anemone_format::{Origin, StampTable};
use anemone_memory::{Category, Importance, RememberPlanError};

use crate::support::memory::TestMemory;

fn workspace() -> TestMemory {
    let memory = TestMemory::of("openclaw");
    memory.write("ws/MEMORY.md", "# Memory\n\n- The shop sells tea.\n");
    memory.write("ws/memory/2026-01-05.md", "# 2026-01-05\n\n- Fog all day.\n");
    memory
}

/// Returns the report on an entry that the memory has already.
fn duplicate(
    memory: &TestMemory,
    text: &str,
    change: impl FnOnce(&mut RememberRequest),
) -> RememberReport {
    match memory.try_remember(text, change) {
        Err(RememberError::Duplicate(report)) => *report,
        other => panic!("{text}: {other:?}"),
    }
}

fn secret(
    memory: &TestMemory,
    text: &str,
    change: impl FnOnce(&mut RememberRequest),
) -> RememberReport {
    match memory.try_remember(text, change) {
        Err(RememberError::Secret(report)) => *report,
        other => panic!("{text}: {other:?}"),
    }
}

#[test]
fn an_entry_goes_to_the_log_of_today_with_a_stamp() {
    let memory = workspace();
    let report = memory.remember_with("The gateway stays on loopback.", |request| {
        request.kind = Some("decision".to_owned());
        request.importance = Importance::new(0.9);
        request.key = Some("gateway".to_owned());
        request.tags = vec!["net".to_owned(), "#safe".to_owned()];
        request.origin = Origin::Web;
        request.source = Some("https://example.org/a".to_owned());
        request.session = Some("main".to_owned());
    });
    assert!(report.written);
    let log = memory.text(&report.path);
    let id = &report.id;
    assert!(log.starts_with("# 20"), "{log}");
    let entry = "- [decision|i=0.9] **gateway**: The gateway stays on loopback. #net #safe ";
    assert_eq!(id.len(), 8, "{id}");
    assert!(log.ends_with(&format!("\n\n{entry}<!-- anemone: {id} -->\n")), "{log}");
    let table = StampTable::new(memory.read(&format!("ws/{}", StampTable::PATH)));
    let stamp = table.get(id.parse().unwrap()).unwrap();
    assert_eq!(stamp.origin, Some(Origin::Web));
    assert_eq!(stamp.session.as_deref(), Some("main"));
    assert_eq!(stamp.source.as_deref(), Some("https://example.org/a"));
    assert!(log.ends_with(&report.entry));
    assert_eq!(memory.search("gateway loopback").hits[0].path, report.path);
}

#[test]
fn lines_stay_lines_and_what_looks_like_a_stamp_is_none() {
    let memory = workspace();
    let report = memory.remember_with("one\ntwo <!-- not a stamp -->\n", |request| {
        request.part = MemoryPart::Curated;
    });
    assert_eq!(report.path, "MEMORY.md");
    let head =
        "# Memory\n\n- The shop sells tea.\n- one\n  two \\<!-- not a stamp -->\n  <!-- anemone: ";
    let text = memory.text("MEMORY.md");
    assert!(text.starts_with(head), "{text}");
}

#[test]
fn a_secret_is_named_but_not_shown_and_not_written() {
    let memory = workspace();
    let token = ["ghp", "_0123456789abcdefghijklmnopqrstuvwxyzAB"].concat();
    let with_token = format!("a line\nthe token is {token}");
    let refused = secret(&memory, &with_token, |_| {});
    assert_eq!(refused.secrets[0].line, 2, "{refused:?}");
    assert!(!format!("{refused:?}").contains(&token), "{refused:?}");
    let refused = secret(&memory, "text", |request| request.key = Some(token.clone()));
    assert_eq!(refused.secrets[0].part, "key");

    let report =
        memory.remember_with(&with_token, |request| request.secrets = SecretHandling::Redact);
    let log = memory.text(&report.path);
    assert!(log.contains("the token is [redacted:") && !log.contains(&token), "{log}");
    assert_eq!(report.redacted[0].line, 2);
}

#[test]
fn what_is_known_is_reported_and_not_written_again() {
    let memory = workspace();
    memory.remember("The database is PostgreSQL 16 on the staging server.");
    for (text, least) in [
        ("the database is postgresql 16, on the staging server #db", 1.0),
        ("The database on the staging server is PostgreSQL 16.", 0.95),
        ("The shop sells tea!", 1.0),
        ("FOG ALL DAY", 1.0),
    ] {
        let refused = duplicate(&memory, text, |_| {});
        assert!(!refused.written);
        assert!(refused.duplicates[0].similarity >= least, "{refused:?}");
    }
    let old = duplicate(&memory, "Fog all day.", |_| {});
    assert_eq!(old.duplicates[0].path, "memory/2026-01-05.md");
    assert_eq!(old.duplicates[0].lines, (3, 3));
    let forced = memory.remember_with("Fog all day.", |request| {
        request.duplicates = DuplicateCheck::Skip;
    });
    assert!(forced.written);
    assert!(memory.remember("Noodles for lunch.").written);
}

#[test]
fn what_is_known_is_found_by_the_index_too() {
    let memory = workspace();
    // More than is read without an index.
    let mut all: String = (0..6_000)
        .map(|number| format!("- Entry {number} tells how crate {} came by ship.\n", number * 7))
        .collect();
    all.push_str("- \u{6211}\u{559c}\u{6b22}\u{4e4c}\u{9f99}\u{8336}\u{3002}\n");
    all.push_str("- The moorings at the east quay are checked by Anna every second Friday.\n");
    memory.write("ws/memory/ships.md", all);
    memory.search("ship");
    let same = duplicate(&memory, "\u{6211}\u{559c}\u{6b22}\u{4e4c}\u{9f99}\u{8336}", |_| {});
    assert_eq!(same.duplicates[0].lines.0, 6_001, "{same:?}");
    let text = "Every second Friday the moorings at the east quay are checked by Anna.";
    let near = duplicate(&memory, text, |_| {});
    assert_eq!(near.duplicates[0].lines.0, 6_002, "{near:?}");
}

#[test]
fn an_entry_can_replace_another() {
    let memory = workspace();
    let first = memory.remember_with("The port is 8080.", |request| {
        request.key = Some("port".to_owned());
    });
    let second = memory.remember_with("The port is 8080!", |request| {
        request.supersedes = Some(first.id.clone());
    });
    assert_eq!(second.warnings, []);
    let log = memory.text(&second.path);
    assert!(log.contains(&format!("supersedes=\"{}\" -->", first.id)), "{log}");
    let third = memory.remember_with("Unheard of.", |request| {
        request.supersedes = Some("nobody".to_owned());
    });
    assert_eq!(third.warnings[0].code, "supersedes_nothing");
}

#[test]
fn a_dry_run_says_what_would_be_written() {
    let memory = workspace();
    let before = memory.everything();
    let report = memory.remember_with("Fog all day.", |request| request.dry_run = true);
    assert!(!report.written);
    assert_eq!(report.duplicates.len(), 1);
    assert!(report.entry.starts_with("- Fog all day. <!-- "), "{report:?}");
    assert!(before == memory.everything());
}

#[test]
fn what_makes_no_sense_is_refused() {
    let memory = workspace();
    let refused =
        |text: &str, change: fn(&mut RememberRequest)| match memory.try_remember(text, change) {
            Err(RememberError::Memory(error)) => error,
            other => panic!("{text:?}: {other:?}"),
        };
    let tags = |request: &mut RememberRequest| request.tags = vec!["two words".to_owned()];
    assert!(matches!(refused("text", tags), RememberPlanError::Tag { .. }));
    let kind = |request: &mut RememberRequest| request.kind = Some("a b".to_owned());
    assert!(matches!(refused("text", kind), RememberPlanError::Type { .. }));
    assert!(matches!(refused(" \n ", |_| {}), RememberPlanError::Empty));
    let long = refused(&"a".repeat(70_000), |_| {});
    assert!(matches!(long, RememberPlanError::TooLong { bytes: 70_000 }), "{long:?}");
    for number in [2.0, f64::NAN] {
        assert!(Importance::new(number).is_none(), "{number}");
    }
}

#[cfg(unix)]
#[test]
fn nothing_is_written_through_a_link() {
    let memory = TestMemory::of("openclaw");
    memory.write("outside/keep.md", "- x\n");
    memory.write("ws/MEMORY.md", "# Memory\n");
    std::os::unix::fs::symlink(memory.path("outside"), memory.path("ws/memory")).unwrap();
    let error = memory
        .try_remember("something", |request| request.duplicates = DuplicateCheck::Skip)
        .unwrap_err();
    assert!(error.to_string().contains("is not a plain file in the workspace"), "{error:?}");
}

#[test]
fn a_fact_that_was_superseded_may_become_true_again() {
    let memory = workspace();
    let supersede = |text: &str, id: &str| {
        memory.remember_with(text, |request| request.supersedes = Some(id.to_owned()))
    };
    let first = memory.remember("The shop opens at nine.");
    let second = supersede("The shop opens at noon.", &first.id);
    let entry = &second.entry;
    assert!(entry.starts_with("- The shop opens at noon. <!-- "), "an id is no key: {entry}");
    let third = supersede("The shop opens at nine.", &second.id);
    assert!(third.written, "{third:?}");
    // What holds now is a duplicate still.
    duplicate(&memory, "The shop opens at nine.", |_| {});
}

/// Returns the texts that hold, in order.
fn holding(memory: &TestMemory) -> Vec<String> {
    let mut texts: Vec<_> = memory.list().entries.into_iter().map(|entry| entry.text).collect();
    texts.sort();
    texts
}

#[test]
fn a_changed_fact_supersedes_the_old_one_until_that_is_undone() {
    let memory = workspace();
    let old = memory.remember("The fog tea ships on Tuesdays.");
    let plan = memory.remember_with("The fog tea ships on Wednesdays.", |request| {
        request.dry_run = true;
    });
    assert!(!plan.written && plan.superseded[0].id.as_deref() == Some(&old.id), "{plan:?}");
    let new = memory.remember("The fog tea ships on Wednesdays.");
    assert!(new.written && new.duplicates.is_empty(), "{new:?}");
    assert_eq!(new.superseded[0].text, "The fog tea ships on Tuesdays.");
    assert!(new.entry.contains(&format!("supersedes=\"{}\"", old.id)), "{new:?}");
    let others = ["Fog all day.", "The shop sells tea."];
    let held = |text| [others[0], text, others[1]].map(str::to_owned);
    assert_eq!(holding(&memory), held("The fog tea ships on Wednesdays."));
    memory.undo();
    assert_eq!(holding(&memory), held("The fog tea ships on Tuesdays."));
    // And back again, which is no duplicate of what was true before.
    memory.remember("The fog tea ships on Wednesdays.");
    let again = memory.remember("The fog tea ships on Tuesdays.");
    assert_eq!(again.superseded[0].text, "The fog tea ships on Wednesdays.");
}

#[test]
fn a_line_that_a_person_wrote_is_superseded_without_being_changed() {
    let memory = workspace();
    let curated = "# Memory\n\n- The ferry leaves at two.\n- The shop sells tea.\n";
    memory.write("ws/MEMORY.md", curated);
    let new = memory.remember("The ferry leaves at three.");
    let old = &new.superseded[0];
    assert_eq!((old.path.as_str(), old.lines, &old.id), ("MEMORY.md", (3, 3), &None));
    assert!(memory.text("MEMORY.md").starts_with(curated), "{new:?}");
    let old = "The ferry leaves at two.".to_owned();
    assert!(!holding(&memory).contains(&old));
    assert!(holding(&memory).contains(&"The ferry leaves at three.".to_owned()));
    // So does a search, whose hits are lines.
    let hits = memory.search("when does the ferry leave").hits;
    let found = hits.iter().find(|hit| hit.path == "MEMORY.md" && hit.start_line == 3);
    assert!(found.is_some_and(|hit| hit.superseded_by.is_some()), "{hits:?}");
    memory.undo();
    assert!(holding(&memory).contains(&old));
}

#[test]
fn what_may_hold_as_well_stays_and_is_named() {
    let memory = workspace();
    for (old, new) in [
        ("Lin likes green tea.", "Lin likes black tea."),
        ("Meeting with Ana on Tuesday at 10.", "Meeting with Ana on Thursday at 10."),
        ("The fog tea ships on Tuesdays.", "The fog tea ships on Tuesdays from Hamburg."),
    ] {
        memory.remember(old);
        let report = memory.remember(new);
        assert!(report.written && report.superseded.is_empty(), "{report:?}");
        assert!(report.near.iter().any(|near| near.text == old), "{report:?}");
    }
}

#[test]
fn what_comes_from_elsewhere_and_what_is_forced_supersedes_nothing() {
    let memory = workspace();
    memory.remember("The fog tea ships on Tuesdays.");
    for (text, change) in [
        (
            "The fog tea ships on Mondays.",
            (|request| request.origin = Origin::Web) as fn(&mut RememberRequest),
        ),
        ("The fog tea ships on Sundays.", |request| {
            request.duplicates = DuplicateCheck::Skip;
        }),
    ] {
        let report = memory.remember_with(text, change);
        assert!(report.written && report.superseded.is_empty(), "{report:?}");
    }
}

#[test]
fn what_the_owner_said_is_not_overruled_by_the_agent() {
    let memory = workspace();
    let by_owner = |request: &mut RememberRequest| request.origin = Origin::Owner;
    let old = memory.remember_with("The fog tea ships on Tuesdays.", by_owner);
    let new = memory.remember("The fog tea ships on Wednesdays.");
    assert!(new.written && new.superseded.is_empty(), "{new:?}");
    assert_eq!(new.near[0].id.as_deref(), Some(old.id.as_str()), "{new:?}");
    assert!(holding(&memory).contains(&"The fog tea ships on Tuesdays.".to_owned()));
    // The owner overrules the agent, and a person may name what is replaced.
    let mine = memory.remember_with("The fog tea ships on Fridays.", by_owner);
    assert_eq!(mine.superseded.len(), 1, "{mine:?}");
    let named = memory.remember_with("The fog tea ships on Sundays.", |request| {
        request.supersedes = Some(mine.id.clone());
    });
    assert!(named.written && named.entry.contains("supersedes="), "{named:?}");
    // If the table of stamps is lost, it is unknown who said something.
    fs_err::remove_file(memory.path(format!("ws/{}", StampTable::PATH))).unwrap();
    let unknown = memory.remember("The fog tea ships on Mondays.");
    assert!(unknown.written && unknown.superseded.is_empty(), "{unknown:?}");
}

#[test]
fn the_new_value_of_a_curated_fact_is_curated() {
    let memory = workspace();
    memory.write("ws/MEMORY.md", "# Memory\n\n- The museum opens at ten.\n");
    let plan = memory.remember_with("The museum opens at eleven.", |request| {
        request.dry_run = true;
    });
    assert_eq!((plan.path.as_str(), plan.superseded.len()), ("MEMORY.md", 1), "{plan:?}");
    let logged = memory.remember_with("The museum opens at noon.", |request| {
        request.category = Some(Category::Daily);
    });
    assert!(logged.path.starts_with("memory/") && logged.superseded.len() == 1, "{logged:?}");
    memory.undo();
    let new = memory.remember("The museum opens at eleven.");
    assert_eq!(new.path, "MEMORY.md");
    let text = memory.text("MEMORY.md");
    assert!(
        text.starts_with("# Memory\n\n- The museum opens at ten.\n- The museum opens at eleven.")
    );
    memory.undo();
    assert!(!memory.text("MEMORY.md").contains("eleven"));
}

#[test]
fn what_differs_in_a_value_is_never_refused() {
    let memory = workspace();
    for text in [
        "The open ticket is #412.",
        "The open ticket is #413.",
        "Take .5 mg of it.",
        "Take 5 mg of it.",
        "The letter is from Ana.",
        "The letter is for Ana.",
        "The library was closed.",
        "The library is closed.",
        "Take a pill at 8:00.",
        "Take a pill at 20:00.",
    ] {
        assert!(memory.remember(text).written, "{text}");
    }
}

#[test]
fn what_takes_the_place_of_an_entry_keeps_its_key() {
    let memory = workspace();
    memory.remember_with("The fog tea ships on Tuesdays.", |request| {
        request.key = Some("shipping".to_owned());
    });
    let new = memory.remember("The fog tea ships on Fridays.");
    assert!(new.entry.contains("**shipping**: The fog tea ships on Fridays."), "{new:?}");
}

#[test]
fn an_entry_that_would_replace_itself_is_a_duplicate() {
    fn set(key: &str, supersedes: Option<&str>) -> impl FnOnce(&mut RememberRequest) {
        let (key, supersedes) = (key.to_owned(), supersedes.map(str::to_owned));
        move |request| {
            request.key = Some(key).filter(|key| !key.is_empty());
            request.supersedes = supersedes;
        }
    }
    let memory = TestMemory::with(&[("MEMORY.md", "# Memory\n")]);
    memory.remember_with("SQLite it is", set("db", None));
    for key in ["db", ""] {
        duplicate(&memory, "SQLite it is", set(key, Some("db")));
    }
    // Another name, or another text, is something new.
    memory.remember_with("SQLite it is", set("database", Some("db")));
    memory.remember_with("Postgres it is", set("database", Some("database")));
}

#[test]
fn a_secret_that_only_its_key_gives_away_is_not_written() {
    let memory = workspace();
    for (key, value) in
        [("NAS password", "Gr4nite!Falcon22"), ("db_password", "lagoon!Breeze7"), ("PIN", "4711")]
    {
        secret(&memory, value, |request| request.key = Some(key.to_owned()));
    }
    let report = memory.remember_with("Gr4nite!Falcon22", |request| {
        request.key = Some("NAS password".to_owned());
        request.secrets = SecretHandling::Redact;
    });
    assert!(!memory.text(&report.path).contains("Gr4nite"), "{report:?}");
}

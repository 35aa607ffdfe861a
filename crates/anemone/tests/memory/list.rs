//! Which entries of a memory are listed.

use anemone::audit::{AuditRequest, audit};
use anemone::list::{ListError, ListReport, ListRequest, list};
use anemone_format::Origin;
use jiff::ToSpan as _;
use jiff::civil::date;

use crate::support::memory::{TestMemory, query};

fn remembered() -> TestMemory {
    let memory = TestMemory::with(&[
        ("MEMORY.md", "# Memory\n\n- Allergic to hazelnuts.\n"),
        ("memory/2026-01-15.md", "# 2026-01-15\n\n- Lunch was noodles.\n"),
    ]);
    memory.remember_with("SQLite it is.", |request| {
        request.key = Some("db".to_owned());
        request.kind = Some("decision".to_owned());
        request.origin = Origin::Owner;
    });
    memory
}

fn texts(listed: &ListReport) -> Vec<&str> {
    listed.entries.iter().map(|entry| entry.text.as_str()).collect()
}

#[test]
fn what_is_remembered_is_listed_by_day_key_type_and_origin() {
    let memory = remembered();
    let all = memory.list();
    assert_eq!((all.entries.len(), all.total), (3, 3), "{all:?}");
    let first = &all.entries[0];
    assert_eq!((first.key.as_deref(), &*first.kind), (Some("db"), "decision"), "{first:?}");
    assert_eq!((first.origin.as_deref(), first.origin_verified), (Some("owner"), Some(true)));
    let today = memory.host.today();
    let changes: [&dyn Fn(&mut ListRequest); 5] = [
        &|request| (request.since, request.until) = (Some(today), Some(today)),
        &|request| request.since = Some(today - 1.day()),
        &|request| request.key = Some("db".to_owned()),
        &|request| request.kind = Some("decision".to_owned()),
        &|request| request.origin = Some(Origin::Owner),
    ];
    for change in changes {
        let listed = memory.list_with(change);
        assert_eq!((listed.entries.len(), listed.filtered), (1, 2), "{listed:?}");
        assert_eq!(listed.entries[0].key.as_deref(), Some("db"), "{listed:?}");
    }
    let old = memory.list_with(|request| request.until = Some(date(2026, 1, 15)));
    assert!(texts(&old)[0].contains("noodles"), "{old:?}");
    let one = memory.list_with(|request| request.limit = 1);
    assert_eq!((one.entries.len(), one.not_shown), (1, 2), "{one:?}");
}

#[test]
fn a_stamp_that_somebody_wrote_by_hand_is_listed_as_a_claim() {
    let stamp = "<!-- anemone: 019a89c2-7c11-7d3e-9f00-1c2d3e4f5a01 owner 2026-11-16T10:00:00Z -->";
    let memory = TestMemory::with(&[("MEMORY.md", &format!("# Memory\n\n- Pay them. {stamp}\n"))]);
    let entry = &memory.list().entries[0];
    assert_eq!((entry.origin.as_deref(), entry.origin_verified), (Some("owner"), Some(false)));
}

#[test]
fn a_type_that_no_entry_has_is_an_error_that_names_the_others() {
    let memory = remembered();
    let kind = Some("bogus".to_owned());
    let request = ListRequest { kind, ..ListRequest::new(memory.choice()) };
    let error = memory.run(|host| list(&request, host)).unwrap_err();
    let ListError::UnknownType { known, .. } = error else { panic!("{error:?}") };
    assert_eq!(known, ["core", "daily", "decision", "note", "session"]);
    // One that a file can have is only rare.
    assert_eq!(memory.list_with(|request| request.kind = Some("note".to_owned())).total, 0);
}

#[test]
fn in_a_folder_of_notes_every_use_case_sees_what_search_sees() {
    let memory = TestMemory::with(&[
        ("recipes.md", "# Recipes\n\n- Pancakes need buttermilk.\n"),
        ("trips/sea.md", "- The ferry leaves at noon.\n"),
        (".obsidian/x.md", "- hidden\n"),
    ]);
    for with_memory in [false, true] {
        if with_memory {
            memory.write("ws/memory/2026-01-15.md", "- Lunch was noodles.\n");
        }
        let listed = memory.list();
        let mut paths: Vec<&str> = listed.entries.iter().map(|entry| entry.path.as_str()).collect();
        paths.sort_unstable();
        let logs = if with_memory { &["memory/2026-01-15.md"][..] } else { &[] };
        assert_eq!(paths, [logs, &["recipes.md", "trips/sea.md"]].concat(), "{listed:?}");
        let shown = memory.forget_with(query("ferry noon"), |request| request.dry_run = true);
        assert_eq!(shown.entries.len(), 1);
        assert_eq!(shown.entries[0].text, "The ferry leaves at noon.");
        let request = AuditRequest { memory: memory.choice() };
        let audited = memory.run(|host| audit(&request, host)).unwrap();
        assert_eq!(audited.entries, 2 + logs.len(), "{audited:?}");
    }
    // A workspace of an agent has memories, and files that are none.
    let memory = TestMemory::with(&[
        ("SOUL.md", "# Soul\n"),
        ("AGENTS.md", "# Agents\n"),
        ("MEMORY.md", "- tea\n"),
        ("README.md", "- of a project\n"),
    ]);
    assert_eq!(texts(&memory.list()), ["tea"]);
}

//! Forgetting: what goes, what says that it went, and what still holds it.

use anemone::days::{DayEnd, time_of};
use anemone::forget::{
    ArchiveOrigin, Confirmation, ForgetChoice, ForgetError, ForgetReport, ForgetWarning, HolderKind,
};
use anemone::import::{ImportRequest, import};
use anemone::remember::{DuplicateCheck, MemoryPart, RememberRequest};
use anemone::undo::UndoError;
use anemone_memory::{Clock as _, Finality};
use anemone_testkit::write_database;
use serde_json::json;

use crate::support::memory::{TestMemory, id, key, query};

const SECRET: &str = "the gateway password is seven-grey-geese";
const NONE: [&str; 0] = [];

/// A workspace of OpenClaw with something to forget.
fn workspace() -> TestMemory {
    TestMemory::with(&[
        (
            "MEMORY.md",
            &format!("# MEMORY.md\n\n- **tea**: Lin drinks green tea.\n- **gate**: {SECRET}\n"),
        ),
        (
            "memory/2026-11-15.md",
            "# 2026-11-15\n\n- We met at the river.\n- **gate**: an older password, six-white-swans\n",
        ),
    ])
}

fn texts(report: &ForgetReport) -> Vec<&str> {
    report.entries.iter().map(|entry| entry.text.as_str()).collect()
}

fn is_absent(report: &ForgetReport) -> bool {
    report.proof.as_ref().unwrap().absent
}

fn kinds(report: &ForgetReport) -> Vec<&HolderKind> {
    report.proof.as_ref().unwrap().holders.iter().map(|holder| &holder.kind).collect()
}

/// Returns the files of the workspace that still contain a text.
fn files_found(report: &ForgetReport) -> Vec<&str> {
    let holders = report.proof.as_ref().unwrap().others();
    let files = holders.filter(|holder| matches!(holder.kind, HolderKind::File(_)));
    files.map(|holder| holder.place.as_str()).collect()
}

fn written(memory: &TestMemory, since: Option<&str>, until: Option<&str>) -> ForgetChoice {
    let time = |text: &str, end| {
        let host = &memory.host;
        time_of(text, end, host.today(), host.clock.zone()).unwrap()
    };
    ForgetChoice::Written {
        since: since.map(|text| time(text, DayEnd::First)),
        until: until.map(|text| time(text, DayEnd::Last)),
    }
}

#[test]
fn a_key_is_gone_from_files_and_index_and_the_proof_says_so() {
    let memory = workspace();
    memory.search("gateway password");
    assert_ne!(memory.holding("cache", "seven-grey-geese"), NONE, "the index holds it");
    let shown = memory.forget_with(key("gate"), |request| request.dry_run = true);
    assert_eq!(texts(&shown), [SECRET, "an older password, six-white-swans"]);
    assert_eq!(memory.holding("work/ws", "seven-grey-geese").len(), 1, "nothing went");

    let report = memory.forget(key("gate"));
    assert_eq!(texts(&report), texts(&shown));
    let proof = report.proof.as_ref().unwrap();
    assert_eq!(files_found(&report), NONE, "{report:?}");
    // The journal keeps it for undo, so it is not gone.
    assert!(!proof.absent && matches!(kinds(&report)[..], [HolderKind::Journal]), "{report:?}");
    assert!(proof.scanned_files > 3, "{report:?}");
    assert_eq!((report.tombstones, report.can_be_undone), (2, true));
    for text in ["seven-grey-geese", "six-white-swans"] {
        assert_eq!(memory.holding("work/ws", text), NONE);
        assert_eq!(memory.holding("cache", text), NONE);
    }
    assert_eq!(memory.text("MEMORY.md"), "# MEMORY.md\n\n- **tea**: Lin drinks green tea.\n");
    let found = memory.search("password");
    assert!(found.hits.iter().all(|hit| !hit.text.contains("geese")), "{found:?}");
    // What undo goes back to is the one place that has it.
    assert_eq!(memory.holding("state", "seven-grey-geese").len(), 1);
}

#[test]
fn for_good_leaves_nothing_to_go_back_to() {
    let memory = workspace();
    let report = memory.forget_for_good(key("gate"));
    assert!(is_absent(&report), "{report:?}");
    assert_eq!((report.can_be_undone, report.dropped_changes), (false, Some(1)));
    assert_eq!(memory.holding("", "seven-grey-geese"), NONE);
    assert_eq!(memory.holding("state", "text_sha256").len(), 1, "the tombstones are there");
}

#[test]
fn what_a_search_found_goes_only_when_somebody_says_so() {
    let memory = workspace();
    let choice = query("gateway password geese");
    let refused = memory.try_forget(choice.clone(), Confirmation::Impossible, |_| {});
    assert!(matches!(refused, Err(ForgetError::NotConfirmed)));
    assert_eq!(texts(&memory.forget(choice)), [SECRET]);
    assert!(memory.text("MEMORY.md").ends_with("green tea.\n"));
}

#[test]
fn a_citation_of_a_search_is_an_id() {
    let memory = workspace();
    let citation = memory.search("river").hits[0].citation.clone().unwrap();
    assert_eq!(texts(&memory.forget(id(&citation))), ["We met at the river."]);
    let day = written(&memory, Some("2026-11-15"), Some("2026-11-15"));
    assert_eq!(texts(&memory.forget(day)), ["an older password, six-white-swans"]);
    assert_eq!(memory.text("memory/2026-11-15.md"), "# 2026-11-15\n\n");
}

#[test]
fn where_a_text_still_stands_is_said() {
    let memory = workspace();
    memory.write("ws/notes/quote.json", json!({ "said": SECRET }).to_string());
    let report = memory.forget(key("gate"));
    assert!(!is_absent(&report));
    assert_eq!(files_found(&report), ["notes/quote.json"]);
    memory.write("ws/MEMORY.md", "- **pin**: 1234\n");
    let report = memory.forget(key("pin"));
    let proof = report.proof.unwrap();
    assert_eq!((proof.absent, proof.too_short), (false, 1));
}

#[test]
fn what_is_not_there_cannot_be_forgotten() {
    let memory = workspace();
    let forget = |choice| memory.try_forget(choice, Confirmation::Given, |_| {}).unwrap_err();
    assert!(matches!(forget(key("nobody")), ForgetError::NothingToForget { .. }));
    let period = written(&memory, Some("2026-02-01"), Some("2026-01-01"));
    assert!(matches!(forget(period), ForgetError::EmptyPeriod { .. }));
}

#[test]
fn a_row_is_gone_from_the_database_with_everything_derived_from_it() {
    let memory = TestMemory::of("zeroclaw");
    memory.write("ws/data/memory/x", "");
    memory.write("ws/agents/default/workspace/IDENTITY.md", "# Nia\n");
    let script = format!(
        "CREATE TABLE memories(id TEXT PRIMARY KEY, key TEXT NOT NULL UNIQUE,
           content TEXT NOT NULL, category TEXT NOT NULL DEFAULT 'core', embedding BLOB,
           created_at TEXT NOT NULL, updated_at TEXT NOT NULL, session_id TEXT);
         CREATE TABLE embedding_cache(content_hash TEXT PRIMARY KEY, embedding BLOB NOT NULL,
           created_at TEXT NOT NULL, accessed_at TEXT NOT NULL);
         CREATE VIRTUAL TABLE memories_fts USING fts5(key, content, content=memories,
           content_rowid=rowid);
         CREATE TRIGGER memories_ai AFTER INSERT ON memories BEGIN INSERT INTO
           memories_fts(rowid, key, content) VALUES (new.rowid, new.key, new.content); END;
         CREATE TRIGGER memories_ad AFTER DELETE ON memories BEGIN INSERT INTO
           memories_fts(memories_fts, rowid, key, content)
           VALUES ('delete', old.rowid, old.key, old.content); END;
         CREATE TRIGGER memories_au AFTER UPDATE ON memories BEGIN INSERT INTO
           memories_fts(memories_fts, rowid, key, content)
           VALUES ('delete', old.rowid, old.key, old.content); INSERT INTO
           memories_fts(rowid, key, content) VALUES (new.rowid, new.key, new.content); END;
         INSERT INTO memories VALUES ('1', 'tea', 'Lin drinks green tea.', 'core', NULL,
           '2026-01-15T00:00:00Z', '2026-01-15T00:00:00Z', NULL);
         INSERT INTO memories VALUES ('2', 'gate', '{SECRET}', 'core', NULL,
           '2026-01-16T00:00:00Z', '2026-01-16T00:00:00Z', 'main');"
    );
    write_database(&memory.path("ws/data/memory/brain.db"), &script).unwrap();
    let found = memory.search("gateway");
    assert!(found.hits.iter().any(|hit| hit.text.contains("geese")), "{found:?}");
    let report = memory.forget_for_good(ForgetChoice::Session("main".to_owned()));
    assert_eq!(texts(&report), [SECRET]);
    assert!(is_absent(&report), "{report:?}");
    assert_eq!(memory.holding("work/ws", "seven-grey-geese"), NONE);
    assert_eq!(memory.holding("cache", "seven-grey-geese"), NONE);
    assert_eq!(memory.search("tea gateway").hits.len(), 1);
}

#[test]
fn a_citation_takes_one_row_or_item_and_never_more() {
    let table = "| who | what |\n|-----|------|\n| Lin | likes tea |\n| Ana | likes coffee |\n";
    let text = format!("# Memory\n\n{table}\n1. the first step\n2. the second step\n");
    let memory = TestMemory::with(&[("MEMORY.md", &text)]);
    let citation = memory.search("Lin tea").hits[0].citation.clone().unwrap();
    assert_eq!(citation, "MEMORY.md#L5");
    assert_eq!(texts(&memory.forget(id(&citation))), ["| Lin | likes tea |"]);
    assert_eq!(memory.text("MEMORY.md"), text.replace("| Lin | likes tea |\n", ""));
    let both = ForgetChoice::Ids(vec!["MEMORY.md#L5".to_owned(), "MEMORY.md#L8".to_owned()]);
    let report = memory.forget(both);
    assert_eq!(texts(&report), ["| Ana | likes coffee |", "the second step"]);
    let is_header = |note: &ForgetWarning| matches!(note, ForgetWarning::TableWithoutRows(_));
    assert!(report.notes.iter().any(is_header), "{report:?}");
    let left = "# Memory\n\n| who | what |\n|-----|------|\n\n1. the first step\n";
    assert_eq!(memory.text("MEMORY.md"), left);
}

#[test]
fn a_part_of_an_entry_is_refused_and_the_whole_is_named() {
    let text = "- Lin likes tea,\n  but no coffee\n- Ana\n";
    let memory = TestMemory::with(&[("MEMORY.md", text)]);
    let refused = memory.try_forget(id("MEMORY.md#L2"), Confirmation::Given, |_| {});
    let error = refused.unwrap_err();
    assert!(format!("{error:?}").contains("MEMORY.md#L1-L2"), "{error:?}");
    assert_eq!(memory.text("MEMORY.md"), text);
    memory.forget(id("MEMORY.md#L1-L2"));
    assert_eq!(memory.text("MEMORY.md"), "- Ana\n");
}

#[test]
fn what_is_found_can_be_forgotten_wherever_it_is() {
    for (text, word, left) in [
        ("---\n- a heron nests here\n---\n", "heron", "---\n---\n"),
        ("# Notes\n\n## The heron nests here\n", "heron", "# Notes\n\n"),
        ("- Lin\n  - a heron\n  - a swan\n", "heron", "- Lin\n  - a swan\n"),
    ] {
        let memory = TestMemory::with(&[("MEMORY.md", text)]);
        memory.forget(query(word));
        assert_eq!(memory.text("MEMORY.md"), left, "{text}");
    }
}

#[test]
fn an_index_in_another_folder_loses_it_too() {
    let memory = workspace();
    let elsewhere = memory.path("elsewhere");
    memory.search_with("gateway password", |request| request.target.index_dir = Some(elsewhere));
    assert_ne!(memory.holding("work/elsewhere", "seven-grey-geese"), NONE);
    let report = memory.forget_for_good(key("gate"));
    assert!(is_absent(&report), "{report:?}");
    assert!(report.dropped_indexes.iter().any(|index| index.contains("elsewhere")), "{report:?}");
    assert_eq!(memory.holding("", "seven-grey-geese"), NONE);
}

#[test]
fn archives_that_still_hold_it_are_named() {
    let memory = workspace();
    memory.export("a.alf");
    let snapshots = memory.host.folders.own_data().join("snapshots");
    fs_err::create_dir_all(&snapshots).unwrap();
    fs_err::copy(memory.path("a.alf"), snapshots.join("b.alf")).unwrap();
    let report = memory.forget_for_good(key("gate"));
    assert!(!is_absent(&report), "{report:?}");
    let mut found: Vec<_> = kinds(&report)
        .into_iter()
        .map(|kind| match kind {
            HolderKind::Archive { kind: ArchiveOrigin::Export, .. } => "archive",
            HolderKind::Archive { .. } => "snapshot",
            other => panic!("{other:?}"),
        })
        .collect();
    found.sort_unstable();
    assert_eq!(found, ["archive", "snapshot"], "{report:?}");
}

#[test]
fn the_runtimes_own_index_and_transcripts_are_named_while_they_hold_it() {
    let mut memory = TestMemory::of("openclaw");
    memory.agent.workspace = None;
    memory.write_home(".openclaw/openclaw.json", "{}");
    memory.write_home(".openclaw/workspace/MEMORY.md", format!("- **gate**: {SECRET}\n"));
    memory.write_home(".openclaw/memory/x", "");
    let said = json!({"type": "message", "id": "1", "timestamp": "2026-11-15T08:00:00Z",
        "message": {"role": "user", "content": [{"type": "text", "text": SECRET}]}});
    let head = json!({"type": "session", "version": 3, "id": "s1",
        "timestamp": "2026-11-15T08:00:00Z", "cwd": "/"});
    let transcript = ".openclaw/agents/main/sessions/s1.jsonl";
    memory.write_home(transcript, format!("{head}\n{said}\n"));
    let script = format!(
        "CREATE TABLE chunks(id TEXT PRIMARY KEY, path TEXT, text TEXT);
         INSERT INTO chunks VALUES ('1', 'MEMORY.md', '- **gate**: {SECRET}');"
    );
    write_database(&memory.home(".openclaw/memory/main.sqlite"), &script).unwrap();
    let report = memory.forget_for_good(key("gate"));
    assert!(!is_absent(&report), "{report:?}");
    let [HolderKind::RuntimeIndex(rebuild), HolderKind::Transcript(_)] = kinds(&report)[..] else {
        panic!("{report:?}")
    };
    assert_eq!(*rebuild, "openclaw memory index");
    assert_ne!(memory.holding("home/.openclaw/memory", SECRET), NONE, "it is only read");
}

#[test]
fn what_is_spelled_with_other_line_endings_is_gone_for_good_too() {
    for text in
        ["- Zebrafinch plutonium\r\n  more\r\n- x\r\n", "- Zebrafinch plutonium  \n  more\n- x\n"]
    {
        let text = format!("# M\n\n{text}");
        let memory = TestMemory::with(&[("SOUL.md", "# Soul\n"), ("MEMORY.md", &text)]);
        let report = memory.forget_for_good(id("MEMORY.md#L3-L4"));
        assert!(!report.can_be_undone, "{report:?}");
        assert_eq!(memory.holding("", "Zebrafinch"), NONE, "{text:?}");
        assert!(matches!(memory.try_undo(|_| {}), Err(UndoError::Memory(_))));
    }
}

#[test]
fn days_are_those_of_the_users_time_zone() {
    // At any hour the day of one of them is not that of UTC.
    for zone in ["Pacific/Honolulu", "Pacific/Kiritimati"] {
        let mut memory = workspace();
        memory.machine.travel(zone);
        memory.remember("aloha from the beach");
        let shows = |since, until, word: &str| {
            let choice = written(&memory, since, until);
            let dry_run = memory.try_forget(choice, Confirmation::Given, |request| {
                request.dry_run = true;
            });
            match dry_run {
                Ok(report) => texts(&report).iter().any(|text| text.contains(word)),
                Err(ForgetError::NothingToForget { .. }) => false,
                Err(error) => panic!("{error:?}"),
            }
        };
        assert!(!shows(None, Some("yesterday"), "aloha"), "{zone}");
        let report = memory.forget(written(&memory, Some("today"), None));
        assert!(texts(&report).iter().any(|text| text.contains("aloha")), "{zone}: {report:?}");
        // Logs without stamps are of the days that name them.
        memory.write("ws/memory/2026-03-01.md", "- Lunch was noodles.\n");
        assert!(shows(Some("2026-03-01"), None, "noodles"), "{zone}");
        assert!(shows(None, Some("2026-03-01"), "noodles"), "{zone}");
        assert!(!shows(None, Some("2026-02-28"), "noodles"), "{zone}");
    }
}

fn curated(request: &mut RememberRequest) {
    request.part = MemoryPart::Curated;
}

fn forced(request: &mut RememberRequest) {
    request.duplicates = DuplicateCheck::Skip;
}

#[test]
fn for_good_leaves_every_other_change_undoable() {
    let memory = workspace();
    let before = memory.text("MEMORY.md");
    memory.remember_with("Lin likes plum cake", curated);
    memory.remember_with("the safe opens with nine-red-foxes", |request| {
        curated(request);
        request.key = Some("safe".to_owned());
    });
    memory.remember_with("the shop closes at noon", curated);
    let shown = memory.forget_with(key("safe"), |request| {
        (request.finality, request.dry_run) = (Finality::ForGood, true);
    });
    let [lost] = &shown.undo_lost[..] else { panic!("{shown:?}") };
    assert_eq!((&*lost.what, &lost.files[..]), ("remember", &["MEMORY.md".to_owned()][..]));
    let report = memory.forget_for_good(key("safe"));
    assert_eq!(format!("{:?}", report.undo_lost), format!("{:?}", shown.undo_lost));
    assert!(is_absent(&report), "{report:?}");
    assert_eq!(memory.holding("", "nine-red-foxes"), NONE);
    // What was written before and after it can still be undone, one by one.
    memory.undo();
    let text = memory.text("MEMORY.md");
    assert!(text.contains("plum cake") && !text.contains("closes at noon"), "{text}");
    memory.undo();
    assert_eq!(memory.text("MEMORY.md"), before);
}

#[test]
fn what_was_forgotten_before_is_found_in_the_journal_and_gone_for_good() {
    // The last are the lines that it was in, which its tombstone names.
    for choice in [key("gate"), query("gateway password geese"), id("MEMORY.md#L4")] {
        let memory = workspace();
        memory.forget(key("gate"));
        assert_ne!(memory.holding("state", "seven-grey-geese"), NONE);
        let shown = memory.forget_with(choice.clone(), |request| {
            (request.finality, request.dry_run) = (Finality::ForGood, true);
        });
        assert!(texts(&shown).contains(&SECRET), "{choice:?}: {shown:?}");
        let report = memory.forget_for_good(choice.clone());
        assert_eq!(texts(&report), texts(&shown), "{choice:?}: {report:?}");
        assert_eq!(memory.holding("", "seven-grey-geese"), NONE, "{choice:?}");
        let again = memory.try_forget(choice, Confirmation::Given, |request| {
            request.finality = Finality::ForGood;
        });
        assert!(matches!(again, Err(ForgetError::NothingToForget { .. })));
    }
}

#[test]
fn lines_that_hold_something_now_do_not_mean_what_was_there_before() {
    let memory = workspace();
    memory.forget(id("MEMORY.md#L3"));
    let report = memory.forget_for_good(id("MEMORY.md#L3"));
    assert_eq!(texts(&report), [SECRET], "{report:?}");
    memory.undo();
    let text = memory.text("MEMORY.md");
    assert!(text.contains("green tea") && !text.contains("geese"), "{text}");
}

#[test]
fn a_short_text_goes_from_the_journal_too_and_is_named_where_it_stands_alone() {
    let memory = workspace();
    memory.remember_with("4711", |request| {
        forced(request);
        request.key = Some("berth".to_owned());
    });
    memory.write("ws/notes/other.md", "- 4711\n");
    let report = memory.forget_for_good(key("berth"));
    assert_eq!(files_found(&report), ["notes/other.md"], "{report:?}");
    assert_eq!(report.undo_lost.len(), 1, "{report:?}");
    let holding = memory.holding("state", "4711");
    assert!(holding.iter().all(|path| !path.contains("journal")), "{holding:?}");
}

#[test]
fn an_entry_whose_stamp_was_removed_does_not_come_back() {
    let memory = workspace();
    let log = memory.remember("the quay code is eight-tall-cranes").path;
    let text = memory.text(&log);
    let bare: Vec<&str> = text.lines().map(|line| line.split(" <!--").next().unwrap()).collect();
    memory.write(&format!("ws/{log}"), bare.join("\n") + "\n");
    memory.forget(query("quay code cranes"));
    let report = memory.remember_with("something else", forced);
    assert!(report.restored.is_empty(), "{report:?}");
    assert_eq!(memory.holding("work/ws", "eight-tall-cranes"), NONE);
}

#[test]
fn a_query_says_how_many_others_match() {
    let rivers: String =
        ["Elbe", "Main", "Rhine"].iter().map(|river| format!("- A river: {river}.\n")).collect();
    let memory = TestMemory::with(&[("MEMORY.md", &format!("# Memory\n\n{rivers}"))]);
    let others = |report: &ForgetReport| {
        report.notes.iter().find_map(|note| match note {
            ForgetWarning::OtherMatches { others, .. } => Some(*others),
            _ => None,
        })
    };
    let shown = memory.forget_with(query("river"), |request| request.dry_run = true);
    assert_eq!(others(&shown), Some(2), "{shown:?}");
    let two = ForgetChoice::Query { text: "river".to_owned(), limit: 2 };
    let report = memory.forget(two);
    assert_eq!(others(&report), Some(1), "{report:?}");
    let report = memory.forget(query("river"));
    assert_eq!((others(&report), report.entries.len()), (None, 1), "{report:?}");
}

#[test]
fn a_file_that_is_not_utf8_loses_the_entry_and_keeps_every_other_byte() {
    let memory = TestMemory::new();
    let file = |middle: &[u8]| [&b"# M\xe9moire\r\n\r\n- le caf\xe9\r\n"[..], middle].concat();
    let whole = [file(b"- la cl\xe9 est jaune\r\n"), b"- \xe0 bient\xf4t\r\n".to_vec()].concat();
    for choice in [id("MEMORY.md#L4"), query("est jaune")] {
        memory.write("ws/MEMORY.md", &whole);
        let report = memory.forget(choice);
        assert_eq!(texts(&report), ["la cl\u{e9} est jaune"], "{report:?}");
        assert_eq!(memory.read("ws/MEMORY.md"), file(b"- \xe0 bient\xf4t\r\n"));
        memory.undo();
        assert_eq!(memory.read("ws/MEMORY.md"), whole);
    }
    let report = memory.forget_for_good(id("MEMORY.md#L4"));
    assert!(is_absent(&report), "{report:?}");
    assert_eq!(memory.holding("", "est jaune"), NONE);
    // In UTF-16 lines cannot be told by their bytes.
    let wide: Vec<u8> = "- est jaune\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    memory.write("ws/MEMORY.md", [b"\xff\xfe", &wide[..]].concat());
    let refused = memory.try_forget(id("MEMORY.md#L1"), Confirmation::Given, |_| {});
    let error = refused.unwrap_err();
    let ForgetError::NothingToForget { skipped: Some(file), .. } = error else {
        panic!("{error:?}")
    };
    assert!(file.reason.contains("UTF-8"), "{file:?}");
}

#[test]
fn every_archive_and_copy_that_is_known_is_named() {
    let memory = workspace();
    for name in ["one.alf", "two.alf", "three.alf"] {
        memory.export(name);
    }
    fs_err::rename(memory.path("three.alf"), memory.path("moved.alf")).unwrap();
    let request = ImportRequest {
        runtime: Some("openclaw".to_owned()),
        workspace: Some(memory.path("copy")),
        ..ImportRequest::new(memory.path("one.alf"))
    };
    memory.run(|host| import(&request, host)).unwrap();
    let report = memory.forget_for_good(key("gate"));
    assert!(!is_absent(&report), "{report:?}");
    assert!(report.notes.contains(&ForgetWarning::ArchivesMoved(1)), "{report:?}");
    let holders = &report.proof.as_ref().unwrap().holders;
    let holds = |name: &str, is_kind: fn(&HolderKind) -> bool| {
        holders.iter().any(|holder| holder.place.ends_with(name) && is_kind(&holder.kind))
    };
    let is_export =
        |kind: &HolderKind| matches!(kind, HolderKind::Archive { kind: ArchiveOrigin::Export, .. });
    assert!(holds("one.alf", is_export) && holds("two.alf", is_export), "{report:?}");
    let copy = memory.path("copy");
    let is_copy =
        |kind: &&HolderKind| matches!(kind, HolderKind::Copy(workspace) if *workspace == copy);
    assert!(kinds(&report).iter().any(is_copy), "{report:?}");
}

#[test]
fn a_copied_line_is_an_entry_of_its_own() {
    let memory = workspace();
    let written = memory.remember("Dentist: Dr. Abel, phone 555-0101.");
    let text = memory.text(&written.path);
    let copy = text.lines().last().unwrap().replace("Dentist: Dr. Abel", "Plumber: Ms. Brandt");
    memory.write(&format!("ws/{}", written.path), format!("{text}{copy}\n"));

    // Every holder of the lock records that another program saved the log, even if nothing is
    // forgotten, so this failure may write into the state folder.
    let request = anemone::forget::ForgetRequest {
        memory: memory.choice(),
        choice: id(&written.id),
        finality: Finality::Undoable,
        dry_run: false,
    };
    let error = anemone::forget::forget(&request, Confirmation::Given, &memory.host).unwrap_err();
    let told = format!("{error:?}");
    assert!(told.contains("Ambiguous") && told.contains("#L4"), "{told}");
    let listed = memory.list();
    for word in ["Dentist", "Plumber"] {
        assert!(listed.entries.iter().any(|entry| entry.text.contains(word)), "{listed:?}");
    }
    memory.forget(query("plumber"));
    assert_eq!(memory.text(&written.path), text);
}

#[test]
fn what_was_forgotten_before_leaves_the_table_of_stamps_when_it_goes_for_good() {
    let memory = workspace();
    let entry = memory.remember("The boat has a teal hull.").id;
    let knows = || memory.text(".anemone/stamps.jsonl").contains(&entry);
    memory.forget(id(&entry));
    assert!(knows(), "undo needs it");
    memory.forget_for_good(id(&entry));
    assert!(!knows());
}

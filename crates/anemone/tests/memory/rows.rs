//! An agent that remembers in the database of ZeroClaw, through every use case that writes.

use anemone::agent_memory::AgentMemoryError;
use anemone::audit::{AuditRequest, audit};
use anemone::context::{ContextNote, ContextRequest, context};
use anemone::forget::{Confirmation, ForgetChoice, ForgetError, HolderKind};
use anemone::import::{ImportRequest, import};
use anemone::remember::{
    DuplicateCheck, MemoryPart, RememberError, RememberReport, RememberRequest, SecretHandling,
};
use anemone::tidy::{ExpiryAction, ProposalChoice, TidyRequest, tidy};
use anemone::undo::{UndoAction, UndoError, UndoReport, list_changes};
use anemone_format::Origin;
use anemone_memory::{
    ForgetPlanError, Importance, MemoryError, RememberPlanError, RevertError, SessionKind,
};
use anemone_testkit::write_database;

use crate::support::memory::{TestMemory, key};
use crate::support::transfer::With;
use crate::support::typed;

const DATABASE: &str = "ws/data/memory/brain.db";

/// Makes an install in which nothing is remembered yet.
fn install() -> TestMemory {
    let memory = TestMemory::of("zeroclaw");
    memory.write("ws/data/memory/x", "");
    memory.write("ws/agents/default/workspace/IDENTITY.md", "# Nia\n");
    memory
}

/// Makes an install with a database as ZeroClaw made it in February 2026.
fn old_install() -> TestMemory {
    let memory = install();
    let script = "
        CREATE TABLE memories(id TEXT PRIMARY KEY, key TEXT NOT NULL UNIQUE,
          content TEXT NOT NULL, category TEXT NOT NULL DEFAULT 'core', embedding BLOB,
          created_at TEXT NOT NULL, updated_at TEXT NOT NULL, session_id TEXT);
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
        INSERT INTO memories VALUES ('1', 'tea', 'Lin drinks green tea.', 'core', x'0102',
          '2026-01-15T00:00:00Z', '2026-01-15T00:00:00Z', NULL);";
    write_database(&memory.path(DATABASE), script).unwrap();
    memory
}

/// A database of one agent with a name, as ZeroClaw makes it since 0.8.
const OWNED: &str = "
    CREATE TABLE agents (id TEXT PRIMARY KEY, alias TEXT NOT NULL UNIQUE, created_at TEXT NOT NULL);
    INSERT INTO agents VALUES ('a1', '{alias}', '2026-01-01T00:00:00Z');
    CREATE TABLE memories (id TEXT PRIMARY KEY, key TEXT NOT NULL, content TEXT NOT NULL,
      category TEXT NOT NULL DEFAULT 'core', embedding BLOB, created_at TEXT NOT NULL,
      updated_at TEXT NOT NULL, session_id TEXT, agent_id TEXT NOT NULL REFERENCES agents(id),
      UNIQUE (agent_id, key));
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
      memories_fts(rowid, key, content) VALUES (new.rowid, new.key, new.content); END;";

/// Remembers a text under a key.
fn remember(
    memory: &TestMemory,
    name: &str,
    text: &str,
    change: impl FnOnce(&mut RememberRequest),
) -> RememberReport {
    memory.remember_with(text, |request| {
        request.key = Some(name.to_owned());
        change(request);
    })
}

fn supersede(memory: &TestMemory, text: &str, name: &str) -> RememberReport {
    memory.remember_with(text, |request| request.supersedes = Some(name.to_owned()))
}

fn dry_undo(memory: &TestMemory) -> Result<UndoReport, UndoError> {
    memory.try_undo(|request| request.dry_run = true)
}

/// Whether there is exactly one row for which a condition holds; `s` is its stamp.
fn has_row(memory: &TestMemory, condition: &str) -> bool {
    has_row_in(memory, DATABASE, condition)
}

fn has_row_in(memory: &TestMemory, database: &str, condition: &str) -> bool {
    let script = format!(
        "CREATE TABLE IF NOT EXISTS anemone_stamps (memory_id TEXT PRIMARY KEY,
           origin TEXT NOT NULL, at TEXT NOT NULL, session TEXT, source TEXT);
         CREATE TEMP TABLE proof (holds CHECK (holds));
         INSERT INTO proof SELECT count(*) = 1 FROM memories m
           LEFT JOIN anemone_stamps s ON s.memory_id = m.id WHERE {condition};
         INSERT INTO memories_fts(memories_fts, rank) VALUES ('integrity-check', 1);"
    );
    match write_database(&memory.path(database), &script) {
        Ok(()) => true,
        Err(error) if error.to_string().contains("CHECK constraint failed") => false,
        Err(error) => panic!("{error}"),
    }
}

fn finds(memory: &TestMemory, query: &str, text: &str) -> bool {
    memory.search(query).hits.iter().any(|hit| hit.text.contains(text))
}

#[test]
fn a_row_is_remembered_found_and_reverted() {
    let memory = install();
    let text = "The gateway stays on loopback.";
    let words = |request: &mut RememberRequest| {
        request.kind = Some("decision".to_owned());
        request.importance = Importance::new(0.9);
        request.tags = vec!["net".to_owned()];
        request.origin = Origin::Web;
        request.source = Some("https://example.org/a".to_owned());
        request.session = Some("main".to_owned());
    };
    let shown = remember(&memory, "gateway", text, |request| {
        words(request);
        request.dry_run = true;
    });
    assert_eq!((shown.written, &*shown.path), (false, "brain.db"), "{shown:?}");
    assert!(!memory.exists(DATABASE), "a dry run makes nothing");

    let report = remember(&memory, "gateway", text, words);
    assert!(report.written);
    assert_eq!(report.entry, "The gateway stays on loopback. #net");
    let row = report.row.unwrap();
    assert_eq!((&*row.key, &*row.category, row.replaces), ("gateway", "daily", false));
    assert_eq!(report.warnings[0].code, "type_not_kept");
    let id = &report.id;
    assert!(has_row(
        &memory,
        &format!(
            "m.id = '{id}' AND m.content LIKE '%loopback. #net' AND m.importance = 0.9
             AND m.session_id = 'main' AND s.origin = 'web' AND s.source = 'https://example.org/a'"
        )
    ));
    assert!(finds(&memory, "gateway loopback", text));

    let listed = memory.run(|host| list_changes(&memory.choice(), host)).unwrap();
    assert_eq!(listed[0].files, ["brain.db"], "{listed:?}");
    let planned = dry_undo(&memory).unwrap();
    assert_eq!(planned.rows.as_ref().unwrap().removed, 1, "{planned:?}");
    assert!(has_row(&memory, "m.key = 'gateway'"));
    let undone = memory.undo();
    assert_eq!(format!("{:?}", undone.rows), format!("{:?}", planned.rows));
    assert_eq!(undone.undone.what, "remember");
    assert!(!has_row(&memory, "m.key = 'gateway'") && !has_row(&memory, "s.origin = 'web'"));
    assert!(!finds(&memory, "gateway loopback", text));
    let error = memory.try_undo(|_| {}).unwrap_err();
    assert!(matches!(error, UndoError::Memory(RevertError::Nothing)), "{error:?}");
}

#[test]
fn what_is_said_already_or_is_secret_is_not_written() {
    let memory = old_install();
    let refused = memory.try_remember("lin drinks GREEN tea!", |_| {});
    let Err(RememberError::Duplicate(report)) = refused else { panic!("{refused:?}") };
    let same = &report.duplicates[0];
    assert_eq!((&*same.path, same.id.as_deref()), ("memories/tea", Some("1")), "{same:?}");
    let token = format!("ghp_{}", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8");
    let text = format!("The token is {token}");
    let refused = memory.try_remember(&text, |_| {});
    assert!(matches!(refused, Err(RememberError::Secret(_))), "{refused:?}");
    let report = memory.remember_with(&text, |request| request.secrets = SecretHandling::Redact);
    assert_eq!(report.redacted.len(), 1, "{report:?}");
    assert!(!has_row(&memory, &format!("m.content LIKE '%{token}%'")));
    let report = memory.remember_with("lin drinks GREEN tea!", |request| {
        request.duplicates = DuplicateCheck::Skip;
        request.part = MemoryPart::Curated;
    });
    assert_eq!(report.row.unwrap().category, "core");
    assert!(has_row(&memory, "m.content = 'lin drinks GREEN tea!' AND m.key = m.id"));
    let refused = memory.try_remember("mine", |request| request.key = Some("p|lin".to_owned()));
    let Err(RememberError::Memory(RememberPlanError::Memory(error))) = refused else {
        panic!("{refused:?}")
    };
    assert!(matches!(error, MemoryError::PrivateKey { .. }), "{error:?}");
}

#[test]
fn a_row_with_the_same_key_is_replaced_and_comes_back_as_it_was() {
    let memory = old_install();
    let report = remember(&memory, "tea", "Lin drinks black tea.", |_| {});
    assert_eq!((report.row.unwrap().replaces, &*report.id), (true, "1"));
    let owner = |request: &mut RememberRequest| request.origin = Origin::Owner;
    assert_eq!(remember(&memory, "tea", "Lin gave up on it.", owner).id, "1");
    assert!(has_row(&memory, "m.content = 'Lin gave up on it.' AND s.origin = 'owner'"));
    memory.undo();
    assert!(has_row(&memory, "m.content = 'Lin drinks black tea.' AND s.origin = 'agent'"));
    let back = memory.undo().rows.unwrap();
    assert_eq!((back.put_back, back.removed), (1, 0));
    assert!(has_row(
        &memory,
        "m.content = 'Lin drinks green tea.' AND m.embedding = x'0102' AND s.origin IS NULL
         AND m.updated_at = '2026-01-15T00:00:00Z'"
    ));
}

#[test]
fn what_is_superseded_no_longer_holds_until_that_is_undone() {
    let memory = install();
    remember(&memory, "port", "The gateway listens on port 8080.", |_| {});
    let new = supersede(&memory, "It is 9090 since Monday.", "port");
    assert_eq!(new.warnings, []);
    let id = &new.id;
    assert!(has_row(&memory, &format!("m.key = 'port' AND m.superseded_by = '{id}'")));
    assert!(!finds(&memory, "gateway listens port", "8080"));
    memory.undo();
    assert!(has_row(&memory, "m.key = 'port' AND m.superseded_by IS NULL"));
    assert!(finds(&memory, "gateway listens port", "8080"));
    let nothing = supersede(&memory, "Lunch is at noon.", "nobody");
    assert_eq!(nothing.warnings[0].code, "supersedes_nothing");
    let report = supersede(&old_install(), "Lin drinks nothing now.", "tea");
    assert_eq!(report.warnings[0].code, "cannot_supersede", "{report:?}");
}

#[test]
fn a_changed_fact_marks_the_old_row_until_that_is_undone() {
    let memory = install();
    remember(&memory, "shipping", "The fog tea ships on Tuesdays.", |_| {});
    let new = memory.remember("The fog tea ships on Wednesdays.");
    assert_eq!(new.superseded[0].path, "memories/shipping");
    let marked = format!("m.key = 'shipping' AND m.superseded_by = '{}'", new.id);
    assert!(has_row(&memory, &marked));
    assert!(!finds(&memory, "fog tea ships", "Tuesdays"));
    memory.undo();
    assert!(has_row(&memory, "m.key = 'shipping' AND m.superseded_by IS NULL"));
    // Scripts without spaces, and numbers in another form, are compared as well.
    remember(&memory, "opens", "面包店七点开门。", |_| {});
    assert_eq!(memory.remember("面包店８点开门。").superseded[0].path, "memories/opens");
    // A table that cannot mark a row keeps both.
    let old = old_install();
    let report = old.remember("Lin drinks no green tea.");
    assert!(report.written && report.superseded.is_empty(), "{report:?}");
    assert_eq!(report.near[0].path, "memories/tea");
}

#[test]
fn a_forgotten_row_comes_back_with_its_origin() {
    let memory = install();
    remember(&memory, "river", "The river was high.", |request| {
        request.origin = Origin::Tool;
        request.source = Some("radio".to_owned());
    });
    memory.forget(key("river"));
    assert!(!has_row(&memory, "m.key = 'river'") && !has_row(&memory, "s.origin = 'tool'"));
    let undone = memory.undo();
    assert_eq!((&*undone.undone.what, undone.rows.unwrap().put_back), ("forget", 1));
    assert!(has_row(
        &memory,
        "m.content = 'The river was high.' AND s.origin = 'tool' AND s.source = 'radio'"
    ));
    memory.forget(key("river"));
    remember(&memory, "river", "The river is low.", |_| {});
    memory.try_undo(|request| request.action = UndoAction::Skip).unwrap();
    let rows = memory.undo().rows.unwrap();
    assert_eq!(rows.taken, ["river"], "another row has its key now");
    assert!(has_row(&memory, "m.content = 'The river is low.'"));
}

#[test]
fn a_row_is_forgotten_by_the_citation_that_a_search_prints() {
    let memory = install();
    let text = "The river was high.\n\nThe bridge was closed.";
    remember(&memory, "river/north", text, |_| {});
    let cited = |lines: &str| ForgetChoice::Ids(vec![format!("memories/river%2Fnorth#{lines}")]);
    let refused = memory.try_forget(cited("L1"), Confirmation::Given, |_| {});
    let Err(ForgetError::Memory(AgentMemoryError::Memory(MemoryError::Forget(part)))) = refused
    else {
        panic!("{refused:?}")
    };
    let is_whole = |whole: &str| whole == "memories/river%2Fnorth#L1-L3";
    assert!(matches!(&part, ForgetPlanError::Part { whole, .. } if is_whole(whole)), "{part}");
    assert!(has_row(&memory, "m.key = 'river/north'"));
    assert_eq!(memory.forget(cited("L1-L3")).entries.len(), 1);
    assert!(!has_row(&memory, "m.key = 'river/north'"));
    memory.undo();
    assert!(has_row(&memory, "m.key = 'river/north'"));
}

#[test]
fn what_zeroclaw_changed_since_is_not_reverted() {
    let memory = old_install();
    remember(&memory, "tea", "Lin drinks black tea.", |_| {});
    let theirs = "UPDATE memories SET content = 'Lin drinks white tea.' WHERE key = 'tea'";
    write_database(&memory.path(DATABASE), theirs).unwrap();
    for refused in [dry_undo(&memory), memory.try_undo(|_| {})] {
        let error = refused.unwrap_err();
        let is_it = matches!(error, UndoError::Memory(RevertError::RowChanged { .. }));
        assert!(is_it, "{error:?}");
    }
    assert!(has_row(&memory, "m.content = 'Lin drinks white tea.'"));
    fs_err::remove_file(memory.path(DATABASE)).unwrap();
    let error = memory.try_undo(|_| {}).unwrap_err();
    let is_it = matches!(error, UndoError::Memory(RevertError::DatabaseGone { .. }));
    assert!(is_it, "{error:?}");
    memory.try_undo(|request| request.action = UndoAction::Skip).unwrap();
}

#[test]
fn a_database_without_a_workspace_is_a_memory_all_the_same() {
    let memory = old_install();
    fs_err::remove_dir_all(memory.path("ws/agents")).unwrap();
    memory.write("ws/config.toml", "schema_version = 3\n");
    remember(&memory, "fog", "The fog lifts at ten.", |_| {});
    assert!(finds(&memory, "fog lifts", "at ten"));
    memory.forget(key("fog"));
    memory.undo();
    assert!(has_row(&memory, "m.key = 'fog'"));
    let request = ContextRequest::new(memory.choice(), SessionKind::Main);
    let composed = memory.run(|host| context(&request, host)).unwrap();
    assert!(matches!(typed(&composed.notes)[0], ContextNote::RowsWithoutQuery(_)), "{composed:?}");
    let request = AuditRequest { memory: memory.choice() };
    let audited = memory.run(|host| audit(&request, host)).unwrap();
    assert!(audited.notes[0].contains("rows"), "{audited:?}");
    let request = TidyRequest {
        memory: memory.choice(),
        expired: ExpiryAction::List,
        promotion: ProposalChoice::None,
    };
    let tidied = memory.run(|host| tidy(&request, host)).unwrap();
    assert!(tidied.rows.unwrap().note.contains("only counted"));
    assert!(!memory.exists("ws/agents"), "nobody made a workspace");
}

#[cfg(unix)]
#[test]
fn a_link_instead_of_the_database_is_not_followed() {
    let memory = old_install();
    let (real, elsewhere) = (memory.path(DATABASE), memory.path("elsewhere.db"));
    fs_err::rename(&real, &elsewhere).unwrap();
    fs_err::os::unix::fs::symlink(&elsewhere, &real).unwrap();
    let before = memory.read("elsewhere.db");
    let refused = memory.try_remember("The fog lifts at ten.", |request| {
        request.duplicates = DuplicateCheck::Skip;
    });
    assert!(refused.is_err(), "{refused:?}");
    assert_eq!(memory.read("elsewhere.db"), before);
}

#[test]
fn the_origin_of_a_row_travels_with_it() {
    let memory = install();
    remember(&memory, "river", "The river was high.", |request| {
        request.origin = Origin::Web;
        request.source = Some("https://example.org".to_owned());
    });
    let owner = |request: &mut RememberRequest| request.origin = Origin::Owner;
    remember(&memory, "fish", "The owner fishes.", owner);
    let hit = &memory.search("river").hits[0];
    assert_eq!(hit.provenance.origin.as_deref(), Some("web"), "{hit:?}");
    memory.machine.try_export(memory.agent.clone(), "a.alf", &[With::Private]).unwrap();
    let request = ImportRequest {
        runtime: Some("zeroclaw".to_owned()),
        workspace: Some(memory.path("new")),
        ..ImportRequest::new(memory.path("a.alf"))
    };
    memory.run(|host| import(&request, host)).unwrap();
    for condition in [
        "m.key = 'river' AND s.origin = 'web' AND s.source = 'https://example.org'",
        "m.key = 'fish' AND s.origin = 'owner' AND s.source IS NULL",
    ] {
        assert!(has_row_in(&memory, "new/data/memory/brain.db", condition), "{condition}");
    }
}

#[test]
fn a_workspace_alone_is_written_under_the_name_that_its_database_knows() {
    let memory = TestMemory::of("zeroclaw");
    memory.write("ws/IDENTITY.md", "# Nova\n");
    memory.write("ws/memory/x", "");
    let database = "ws/memory/brain.db";
    write_database(&memory.path(database), &OWNED.replace("{alias}", "nova")).unwrap();
    remember(&memory, "fog", "The fog lifts at ten.", |_| {});
    assert!(has_row_in(&memory, database, "m.key = 'fog' AND m.agent_id = 'a1'"));
    let agents = "(SELECT count(*) FROM agents) = 1 AND m.key = 'fog'";
    assert!(has_row_in(&memory, database, agents), "nobody came new");
}

#[test]
fn what_many_rows_say_already_is_found_too() {
    let memory = install();
    remember(&memory, "tea", "Lin drinks green tea in the morning.", |_| {});
    let more = "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c LIMIT 1200)
        INSERT INTO memories (id, key, content, created_at, updated_at, agent_id)
        SELECT 'r' || n, 'k' || n, 'Entry number ' || n || ' is about ' || hex(zeroblob(1000)),
          '2026-01-01', '2026-01-01', (SELECT id FROM agents) FROM c;";
    write_database(&memory.path(DATABASE), more).unwrap();
    let shown = memory.remember_with("Lin drinks GREEN tea in the morning", |request| {
        request.dry_run = true;
    });
    assert_eq!(shown.duplicates.len(), 1, "{shown:?}");
    assert_eq!(shown.duplicates[0].path, "memories/tea");
    let indexes = memory.host.folders.own_cache().join("agents");
    assert!(indexes.is_dir(), "the index told where to look");
}

#[test]
fn an_undo_says_that_nothing_is_left_of_the_rows_that_were_added() {
    let memory = old_install();
    remember(&memory, "fog", "The fog lifts at ten.", |_| {});
    remember(&memory, "tide", "The tide turns at noon.", |_| {});
    let theirs = "DELETE FROM memories WHERE key = 'tide'";
    write_database(&memory.path(DATABASE), theirs).unwrap();
    for refused in [dry_undo(&memory), memory.try_undo(|_| {}), memory.try_undo(|_| {})] {
        let error = refused.unwrap_err();
        assert!(error.to_string().contains("no longer in the database"), "{error:?}");
    }
    memory.try_undo(|request| request.action = UndoAction::Skip).unwrap();
    let rows = memory.undo().rows.unwrap();
    assert_eq!((rows.put_back, rows.removed), (0, 1), "{rows:?}");
    assert!(rows.taken.is_empty() && rows.changed.is_empty(), "{rows:?}");
    assert!(!has_row(&memory, "m.key = 'fog'"));
}

#[test]
fn what_another_agent_of_the_database_has_too_is_named() {
    let mut memory = TestMemory::of("zeroclaw");
    memory.agent.agent = Some("nova".to_owned());
    memory.write("ws/IDENTITY.md", "# Nova\n");
    memory.write("ws/memory/x", "");
    let script = OWNED.replace("{alias}", "nova")
        + "INSERT INTO agents VALUES ('a2', 'rex', '2026-01-01T00:00:00Z');
           INSERT INTO memories (id, key, content, created_at, updated_at, agent_id)
           SELECT 'r' || id, 'gate', 'The password of the gate is seven-grey-geese.',
             '2026-01-15T00:00:00Z', '2026-01-15T00:00:00Z', id FROM agents;";
    write_database(&memory.path("ws/memory/brain.db"), &script).unwrap();
    let proof = memory.forget_for_good(key("gate")).proof.unwrap();
    let HolderKind::OtherAgent(agent) = &proof.holders[0].kind else { panic!("{proof:?}") };
    assert_eq!(agent.runtime.as_deref(), Some("zeroclaw"));
    assert_eq!(agent.agent.as_deref(), Some("rex"));
}

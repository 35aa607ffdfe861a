//! Archives back into ZeroClaw: rows, files and settings as they were.

use std::path::{Path, PathBuf};

use anemone::import::{ImportError, ImportReport};
use anemone::restore::ApplyPlanError;
use anemone_runtimes::{OnConflict, PlanError};
use anemone_testkit::database::{Holder, dump, query, sql};
use anemone_testkit::fixture;
use anemone_testkit::ground::{Ground, assert_same_tree, raw, tree};
use serde_json::{Value, json};

use super::zeroclaw::{ALL, DATABASE, by_key, copy, export, import, install};
use crate::support::TestMachine;
use crate::support::transfer::{With, text};

/// The path of the database in an install until 0.7.
const OLDER: &str = "workspace/memory/brain.db";
/// The layouts that can be requested, and the path of the database in each.
const LAYOUTS: [(&[With<'_>], &str); 2] = [(&[], DATABASE), (&[With::Layout("workspace")], OLDER)];

/// Tries to import the archive into an install.
fn try_import(
    machine: &TestMachine,
    folder: &Path,
    more: &[With<'_>],
) -> Result<ImportReport, ImportError> {
    machine.try_import(Some("zeroclaw"), Some(folder), "a.alf", more)
}

/// Makes an install of each age; returns it with its database and the alias to read.
fn installs(ground: &Ground) -> Vec<(PathBuf, PathBuf, &'static str)> {
    let mut found = Vec::new();
    for (alias, name) in [("default", "real"), ("alpha", "real-alpha"), ("beta", "real-beta")] {
        let folder = install(ground, "zeroclaw-real.db", name);
        found.push((folder.clone(), folder.join(DATABASE), alias));
    }
    for name in ["v0.1.0-20260213", "v0.1.7-embed", "v0.6.9"] {
        let from = fixture(&format!("zeroclaw/historic/{name}"));
        copy(ground, &from, &format!("{name}/workspace"));
        let folder = ground.path(name);
        found.push((folder.clone(), folder.join(OLDER), "default"));
    }
    found
}

/// Returns the rows of one agent, by what is in every column of the old table but the agent's own.
fn rows(dumped: &Value, alias: &str, columns: &[String]) -> Vec<Value> {
    let agents = dumped["agents"].as_array().unwrap();
    let quoted = json!(["text", format!("'{alias}'")]);
    let agent =
        agents.iter().find(|agent| agent["alias"] == quoted).map(|agent| agent["id"].clone());
    let rows = dumped["memories"].as_array().unwrap().iter();
    let own = |value: &&Value| match (&agent, value.get("agent_id")) {
        (Some(agent), Some(id)) => agent == id,
        _ => true,
    };
    let cells = |row: &Value| -> Value {
        columns.iter().map(|name| (name.clone(), row[name].clone())).collect()
    };
    rows.filter(own).map(cells).collect()
}

fn columns(dumped: &Value) -> Vec<String> {
    let columns = dumped["columns"].as_array().unwrap().iter();
    columns.map(|column| column.as_str().unwrap().to_owned()).collect()
}

/// Checks what ZeroClaw needs of a database: an index that is right, and triggers that keep it so.
#[track_caller]
fn assert_usable(database: &Path) {
    let dumped = dump(database);
    assert_eq!(dumped["check"], "ok");
    assert_eq!(dumped["triggers"], json!(["memories_ad", "memories_ai", "memories_au"]));
    // An index that is not that of the table fails here.
    sql(database, "INSERT INTO memories_fts(memories_fts) VALUES('integrity-check')");
    // Every row is found by a word of its text.
    let words = |text: &str| -> Vec<String> {
        let words = text.split(|letter: char| !letter.is_ascii_alphanumeric());
        words.filter(|word| !word.is_empty()).map(str::to_owned).collect()
    };
    let mut found = 0;
    for row in query(database, "SELECT rowid, content FROM memories") {
        let (rowid, content) = row.split_once('|').unwrap();
        let words = words(content);
        let Some(longest) = words.iter().max_by_key(|word| word.len()) else { continue };
        if content.is_ascii() {
            let matching =
                format!("SELECT rowid FROM memories_fts WHERE memories_fts MATCH '\"{longest}\"'");
            let hits = query(database, &matching);
            assert!(hits.iter().any(|hit| hit == rowid), "{rowid}: {longest}");
            found += 1;
        }
    }
    assert_ne!(found, 0);
}

#[test]
fn every_database_comes_back_row_for_row_in_both_layouts() {
    let ground = Ground::new();
    for (folder, database, alias) in installs(&ground) {
        for (more, place) in LAYOUTS {
            let machine = TestMachine::new();
            let about = format!("{} {more:?}", folder.display());
            let args = [&[With::Agent(alias)], &ALL[..]].concat();
            let exported = export(&machine, &folder, "a.alf", &args);
            let ground = Ground::new();
            let back = ground.path("back");
            let imported = import(&machine, &back, "a.alf", more);
            assert_eq!(imported["memory_records"], exported["memory_records"], "{about}");
            assert_eq!(imported["memories"]["added"], exported["memory_records"], "{about}");
            let workspace = Path::new(imported["workspace"].as_str().unwrap());
            assert!(workspace.is_dir(), "{about}: {}", workspace.display());
            let (was, is) = (dump(&copy(&ground, &database, "old.db")), dump(&back.join(place)));
            let mut columns = columns(&was);
            // Until 0.7 there was one agent, and no column for it.
            columns.retain(|column| column != "agent_id" || place == DATABASE);
            let name = if place == DATABASE { alias } else { "default" };
            let (was, is) = (rows(&was, alias, &columns), rows(&is, name, &columns));
            assert_eq!(was, is, "{about}");
            assert_usable(&back.join(place));
            // Exported again: the same records, with ids, times, raw rows and vectors.
            export(&machine, &back, "b.alf", &[&[With::Agent(name)], &ALL[..]].concat());
            let (a, b) = (machine.snapshot("a.alf"), machine.snapshot("b.alf"));
            for (key, was) in by_key(&a) {
                let mut is = by_key(&b)[&key].clone();
                // No version since reads a table without this column, so it is there now.
                let before: Value = raw(was);
                let mut after = raw(&is);
                if before["row"].get("embedding").is_none() && was.embeddings.is_empty() {
                    let row = after["row"].as_object_mut().unwrap();
                    assert!(
                        row.remove("embedding").is_none_or(|row| row.is_null()),
                        "{about} {key}"
                    );
                }
                assert_eq!(before, after, "{about} {key}");
                is.raw_source_format.clone_from(&was.raw_source_format);
                assert_eq!(*was, is, "{about} {key}");
            }
            assert_eq!(a.records.len(), b.records.len(), "{about}");
        }
    }
}

#[test]
fn an_install_has_several_agents_after_several_imports() {
    let (machine, ground) = (TestMachine::new(), Ground::new());
    let folder = install(&ground, "zeroclaw-real.db", "i");
    let back = ground.path("back");
    for alias in ["default", "alpha", "beta"] {
        let args = [&[With::Agent(alias)], &ALL[..]].concat();
        export(&machine, &folder, &format!("{alias}.alf"), &args);
        import(&machine, &back, &format!("{alias}.alf"), &[With::Agent(alias)]);
    }
    let (was, is) = (dump(&folder.join(DATABASE)), dump(&back.join(DATABASE)));
    let sorted = |list: &Value| {
        let mut rows: Vec<Value> = list.as_array().unwrap().clone();
        rows.iter_mut().for_each(|row| drop(row.as_object_mut().unwrap().remove("rowid")));
        rows.sort_by_key(|row| row["id"].to_string());
        rows
    };
    assert_eq!(sorted(&was["agents"]), sorted(&is["agents"]));
    assert_eq!(sorted(&was["memories"]), sorted(&is["memories"]));
    assert_usable(&back.join(DATABASE));
}

/// Makes an archive of the default agent, and an install that it is imported into.
fn imported() -> (TestMachine, Ground) {
    let (machine, ground) = (TestMachine::new(), Ground::new());
    let folder = install(&ground, "zeroclaw-real.db", "i");
    export(&machine, &folder, "a.alf", &[With::Agent("default"), With::Private]);
    import(&machine, &ground.path("back"), "a.alf", &[]);
    (machine, ground)
}

/// Returns what a folder holds, but for when.
fn content(path: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    tree(path).into_iter().map(|(path, tree)| (path, tree.bytes().to_vec())).collect()
}

#[test]
fn a_second_import_changes_nothing() {
    let (machine, ground) = imported();
    let before = content(&ground.path("back"));
    for policy in POLICIES {
        let again = import(&machine, &ground.path("back"), "a.alf", &[With::OnConflict(policy)]);
        let memories = &again["memories"];
        let counts = (&memories["added"], &memories["replaced"]);
        assert_eq!(counts, (&json!(0), &json!(0)), "{policy:?}");
        assert!(content(&ground.path("back")) == before, "{policy:?}: {again}");
    }
}

const POLICIES: [OnConflict; 4] =
    [OnConflict::Stop, OnConflict::Theirs, OnConflict::Ours, OnConflict::Both];

const CHANGED: &str = "UPDATE memories SET content = 'Prefers Zig', \
    updated_at = '2026-11-20T08:00:00.000000001+00:00' WHERE key = 'user_lang' \
    AND agent_id = (SELECT id FROM agents WHERE alias = 'default')";

const LANG: &str = "SELECT key, content, id, created_at FROM memories \
    WHERE key LIKE 'user_lang%' AND agent_id = (SELECT id FROM agents WHERE alias = 'default') \
    ORDER BY key";

#[test]
fn a_row_that_changed_stops_an_import_unless_somebody_says_which_one_counts() {
    for policy in POLICIES {
        let (machine, ground) = imported();
        let (back, database) = (ground.path("back"), ground.path("back").join(DATABASE));
        let was = query(&database, LANG);
        assert_eq!(was.len(), 1, "{was:?}");
        sql(&database, CHANGED);
        let changed = query(&database, LANG);
        let before = content(&back);
        if policy == OnConflict::Stop {
            for more in [&[][..], &[With::OnConflict(OnConflict::Stop)], &[With::DryRun]] {
                let error = try_import(&machine, &back, more).unwrap_err();
                let ImportError::Conflicts { report, .. } = error else { panic!("{error:?}") };
                let is_row = |path: &str| path.contains("user_lang");
                assert!(
                    report.conflicts.iter().any(|conflict| is_row(&conflict.path)),
                    "{report:?}"
                );
                assert!(content(&back) == before, "nothing was changed");
            }
            continue;
        }
        let done = import(&machine, &back, "a.alf", &[With::OnConflict(policy)]);
        let is = query(&database, LANG);
        match policy {
            OnConflict::Theirs => {
                assert_eq!(is, was);
                assert_eq!(done["memories"]["replaced"], 1);
                // The former database can be restored.
                let backup = done["memories"]["backup"].as_str().unwrap();
                assert_eq!(Path::new(backup).parent(), database.parent());
                let copied = copy(&ground, Path::new(backup), "backup.db");
                assert_eq!(query(&copied, LANG), changed);
            }
            OnConflict::Ours => {
                assert_eq!(is, changed);
                assert_eq!(done["memories"]["kept"], 1);
            }
            _ => {
                assert_eq!(is[..1], changed);
                assert_eq!(is.len(), 2, "{is:?}");
                assert!(is[1].contains("Rust"), "{is:?}");
            }
        }
        assert_usable(&database);
    }
}

#[test]
fn rows_of_others_stay_as_they_are() {
    let (machine, ground) = (TestMachine::new(), Ground::new());
    let folder = install(&ground, "zeroclaw-real.db", "i");
    export(&machine, &folder, "a.alf", &[With::Agent("beta")]);
    let target = install(&ground, "zeroclaw-real.db", "t");
    let database = target.join(DATABASE);
    sql(
        &database,
        "DELETE FROM memories WHERE agent_id = (SELECT id FROM agents WHERE alias = 'beta')",
    );
    let others = "SELECT * FROM memories WHERE agent_id != \
        (SELECT id FROM agents WHERE alias = 'beta') ORDER BY rowid";
    let before = query(&database, others);
    assert_eq!(before.len(), 31);
    let done = import(&machine, &target, "a.alf", &[With::Agent("beta")]);
    assert_eq!(done["memories"]["added"], 1);
    assert_eq!(query(&database, others), before);
    assert!(done["memories"]["backup"].is_string(), "{done}");
    assert_eq!(query(&database, "SELECT count(*) FROM memories"), ["32"]);
    assert_usable(&database);
}

#[test]
fn a_database_that_somebody_writes_to_is_not_touched() {
    let (machine, ground) = imported();
    let back = ground.path("back");
    sql(&back.join(DATABASE), "DELETE FROM memories WHERE key = 'user_lang'");
    let before = content(&back);
    let holder = Holder::start(&back.join(DATABASE), "BEGIN IMMEDIATE");
    let error = try_import(&machine, &back, &[]).unwrap_err();
    let is_it = matches!(error, ImportError::Apply { source: ApplyPlanError::Busy { .. }, .. });
    assert!(is_it, "{error:?}");
    drop(holder);
    let is = content(&back);
    let names = |all: &[(PathBuf, Vec<u8>)]| -> Vec<PathBuf> {
        let beside = |path: &Path| {
            let name = path.to_str().unwrap();
            name.ends_with("-wal") || name.ends_with("-shm")
        };
        all.iter().map(|value| value.0.clone()).filter(|value| !beside(value)).collect()
    };
    assert_eq!(names(&before), names(&is));
    assert_eq!(query(&back.join(DATABASE), "SELECT count(*) FROM memories"), ["28"]);
    import(&machine, &back, "a.alf", &[]);
    assert_eq!(query(&back.join(DATABASE), "SELECT count(*) FROM memories"), ["29"]);
}

#[test]
fn a_live_configuration_keeps_its_values_and_comments() {
    let (machine, ground) = (TestMachine::new(), Ground::new());
    let from = fixture("zeroclaw/install-v3");
    let folder = copy(&ground, &from, "i");
    let archive = [With::Agent("alpha"), With::AllowSecrets];
    export(&machine, &folder, "a.alf", &archive);
    let live = "# mine\nschema_version = 3 # stays\n\n[providers.models.openai.main]\n\
        api_key = \"sk-live-0123456789\" # secret\nmodel = 'mine'\n\n[memory]\nbackend = \"sqlite\"\n";
    ground.write("t/config.toml", live);
    import(&machine, &ground.path("t"), "a.alf", &[With::Agent("alpha")]);
    let is = String::from_utf8(ground.read("t/config.toml")).unwrap();
    for line in live.lines() {
        assert!(is.contains(line), "{line} in {is}");
    }
    for mark in ["<redacted>", "[redacted", "enc2:"] {
        assert!(!is.contains(mark), "{mark} in {is}");
    }
    // Into nothing, nothing unreal gets in either.
    import(&machine, &ground.path("new"), "a.alf", &[With::Agent("alpha")]);
    let is = String::from_utf8(ground.read("new/config.toml")).unwrap();
    assert!(!is.contains("<redacted>") && !is.contains("[redacted"), "{is}");
    // The same one again is the same file.
    let before = ground.read("i/config.toml");
    import(&machine, &folder, "a.alf", &[With::Agent("alpha")]);
    assert!(ground.read("i/config.toml") == before);
}

#[test]
fn a_whole_install_comes_back_file_for_file() {
    let (machine, ground) = (TestMachine::new(), Ground::new());
    let from = fixture("zeroclaw/install-v3");
    let folder = copy(&ground, &from, "i");
    for alias in ["default", "alpha"] {
        let archive = format!("{alias}.alf");
        export(&machine, &folder, &archive, &[&[With::Agent(alias)], &ALL[..]].concat());
        let back = ground.path("back");
        import(&machine, &back, &archive, &[With::Agent(alias)]);
        let workspace = format!("agents/{alias}/workspace");
        let (was, is) = (folder.join(&workspace), back.join(&workspace));
        assert_same_tree(&was, &is, &[], &[".alf-agent-id"]);
        let again = format!("{alias}-again.alf");
        export(&machine, &back, &again, &[&[With::Agent(alias)], &ALL[..]].concat());
        let (a, b) = (machine.snapshot(&archive), machine.snapshot(&again));
        assert_eq!(a.records, b.records, "{alias}");
        assert_eq!((a.identity, a.principals), (b.identity, b.principals), "{alias}");
        assert_eq!(a.manifest.agent.id, b.manifest.agent.id, "{alias}");
    }
}

#[test]
fn files_of_the_markdown_backend_come_back_as_they_were() {
    for name in ["zeroclaw-real-markdown", "historic/v0.1.7-markdown"] {
        for more in [&[][..], &[With::Layout("workspace")]] {
            let (machine, ground) = (TestMachine::new(), Ground::new());
            let from = fixture(&format!("zeroclaw/{name}"));
            let workspace = copy(&ground, &from, "i/workspace");
            ground.write("i/config.toml", "[memory]\nbackend = \"markdown\" # files\n");
            let exported = export(&machine, &ground.path("i"), "a.alf", &[]);
            let back = ground.path("back");
            let imported = import(&machine, &back, "a.alf", more);
            assert_eq!(imported["memory_records"], exported["memory_records"], "{name}");
            let place = if more.is_empty() { "agents/default/workspace" } else { "workspace" };
            assert_same_tree(&workspace, &back.join(place), &[], &[".alf-agent-id"]);
            assert!(!back.join(DATABASE).exists() && !back.join(OLDER).exists(), "{name}");
            export(&machine, &back, "b.alf", &[]);
            let (a, b) = (machine.snapshot("a.alf"), machine.snapshot("b.alf"));
            assert_eq!(a.records, b.records, "{name}");
        }
    }
}

#[test]
fn entries_of_files_become_rows_and_rows_become_entries_when_asked() {
    let (machine, ground) = (TestMachine::new(), Ground::new());
    let from = fixture("zeroclaw/zeroclaw-real-markdown");
    copy(&ground, &from, "i/workspace");
    ground.write("i/config.toml", "[memory]\nbackend = \"markdown\"\n");
    export(&machine, &ground.path("i"), "a.alf", &[]);
    let back = ground.path("back");
    import(&machine, &back, "a.alf", &[With::Backend("sqlite")]);
    let rows = query(&back.join(DATABASE), "SELECT key, category, content FROM memories");
    assert!(rows.contains(&"tz|core|Pacific Time".to_owned()), "{rows:?}");
    assert!(rows.contains(&"note|daily|Finished tests".to_owned()), "{rows:?}");
    assert_usable(&back.join(DATABASE));
    // And the other way.
    let folder = install(&ground, "zeroclaw-real.db", "r");
    export(&machine, &folder, "b.alf", &[With::Agent("default")]);
    let there = ground.path("there");
    import(&machine, &there, "b.alf", &[With::Backend("markdown")]);
    export(&machine, &there, "c.alf", &[]);
    let (was, is) = (machine.snapshot("b.alf"), machine.snapshot("c.alf"));
    for (key, record) in by_key(&was) {
        let text = record.content.trim();
        let found = is.records.iter().any(|record| record.content.contains(text));
        assert!(found, "{key}: {text}");
    }
}

#[test]
fn columns_that_nobody_knows_come_back_too() {
    let (machine, ground) = (TestMachine::new(), Ground::new());
    let folder = install(&ground, "zeroclaw-real.db", "i");
    sql(
        &folder.join(DATABASE),
        "ALTER TABLE memories ADD COLUMN mood TEXT; ALTER TABLE memories ADD COLUMN seal BLOB; \
         UPDATE memories SET mood = 'mild' || rowid, seal = X'00FF' || CAST(rowid AS BLOB)",
    );
    let args = [With::Agent("default"), With::Private];
    export(&machine, &folder, "a.alf", &args);
    let back = ground.path("back");
    import(&machine, &back, "a.alf", &[]);
    let (was, is) = (dump(&folder.join(DATABASE)), dump(&back.join(DATABASE)));
    let columns = columns(&was);
    assert!(columns.contains(&"seal".to_owned()));
    assert_eq!(rows(&was, "default", &columns), rows(&is, "default", &columns));
    export(&machine, &back, "b.alf", &args);
    let (a, b) = (machine.snapshot("a.alf"), machine.snapshot("b.alf"));
    assert_eq!(a.records, b.records);
    assert!(a.records.iter().all(|record| raw(record)["row"]["mood"].is_string()));
}

#[test]
fn an_install_that_keeps_memories_elsewhere_is_not_written_to() {
    let (machine, ground) = (TestMachine::new(), Ground::new());
    let folder = install(&ground, "zeroclaw-real.db", "i");
    export(&machine, &folder, "a.alf", &[With::Agent("default")]);
    for backend in ["none", "postgres", "qdrant"] {
        let config = format!("schema_version = 3\n[memory]\nbackend = \"{backend}\"\n");
        ground.write(format!("{backend}/config.toml"), config);
        let target = ground.path(backend);
        let before = content(&target);
        let error = try_import(&machine, &target, &[]).unwrap_err();
        assert!(matches!(error, ImportError::Plan(_)), "{backend}: {error:?}");
        assert!(content(&target) == before, "{backend}");
    }
    // Lucid keeps them in the database.
    ground.write("lucid/config.toml", "schema_version = 3\n[memory]\nbackend = \"lucid\"\n");
    let done = import(&machine, &ground.path("lucid"), "a.alf", &[]);
    assert_eq!(done["memories"]["added"], 28);
    // An existing install does not keep memories in two ways.
    ground.write("i/config.toml", "schema_version = 3\n[memory]\nbackend = \"sqlite\"\n");
    let error = try_import(&machine, &folder, &[With::Backend("markdown")]).unwrap_err();
    let is_it = matches!(error, ImportError::Plan(PlanError::Choice { .. }));
    assert!(is_it, "{error:?}");
}

#[test]
fn an_agent_that_has_no_database_yet_keeps_its_files() {
    for (backend, layout) in [("sqlite", "workspace"), ("sqlite", "data"), ("lucid", "data")] {
        let (machine, ground) = (TestMachine::new(), Ground::new());
        let workspace = match layout {
            "data" => "i/agents/default/workspace",
            _ => "i/workspace",
        };
        ground.small(workspace);
        ground.write("i/config.toml", format!("[memory]\nbackend = \"{backend}\"\n"));
        let archive = export(&machine, &ground.path("i"), "a.alf", &[With::Agent("default")]);
        let back = ground.path("back");
        let done = import(&machine, &back, "a.alf", &[With::Layout(layout)]);
        assert_eq!(done["memory_records"], archive["memory_records"], "{backend} {layout}");
        let place = back.join(workspace.trim_start_matches("i/"));
        assert_same_tree(&ground.path(workspace), &place, &[], &[".alf-agent-id"]);
        export(&machine, &back, "b.alf", &[With::Agent("default")]);
        let (a, b) = (machine.snapshot("a.alf"), machine.snapshot("b.alf"));
        assert_eq!(a.records, b.records, "{backend} {layout}");
    }
}

#[test]
fn an_agent_keeps_its_name_in_a_new_install() {
    let (machine, ground) = (TestMachine::new(), Ground::new());
    let from = fixture("zeroclaw/install-v3");
    let folder = copy(&ground, &from, "i");
    export(&machine, &folder, "a.alf", &[With::Agent("alpha"), With::Private]);
    let back = ground.path("back");
    let imported = import(&machine, &back, "a.alf", &[]);
    let workspace = back.join("agents/alpha/workspace");
    assert_eq!(imported["workspace"], text(&workspace));
    assert_same_tree(&folder.join("agents/alpha/workspace"), &workspace, &[], &[".alf-agent-id"]);
    assert!(!back.join("agents/default").exists());
    let owners = "SELECT alias, count(*) FROM memories JOIN agents \
        ON agents.id = memories.agent_id GROUP BY alias";
    let was = query(&folder.join(DATABASE), owners);
    let is = query(&back.join(DATABASE), owners);
    assert_eq!(is.len(), 1, "{is:?}");
    assert!(is[0].starts_with("alpha|") && was.contains(&is[0]), "{was:?} {is:?}");
}

//! Archives back into ZeroClaw: rows, files and settings as they were.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::environment::{TestEnvironment, fixture};
use crate::workspace::{Ground, assert_same_tree, raw, snapshot, tree};
use crate::zeroclaw::{ALL, DATABASE, by_key, copy, export, import, install, text};
use anemone_testkit::database::{Holder, dump, query, sql};

/// Where the database lies in an install until 0.7.
const OLDER: &str = "workspace/memory/brain.db";
/// The layouts that can be asked for, and where the database lies in each.
const LAYOUTS: [(&[&str], &str); 2] = [(&[], DATABASE), (&["--layout", "workspace"], OLDER)];

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
    let agents = dumped["agents"].as_array().expect("it is a list");
    let quoted = json!(["text", format!("'{alias}'")]);
    let agent =
        agents.iter().find(|agent| agent["alias"] == quoted).map(|agent| agent["id"].clone());
    let rows = dumped["memories"].as_array().expect("it is a list").iter();
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
    let columns = dumped["columns"].as_array().expect("it is a list").iter();
    columns.map(|column| column.as_str().expect("it is text").to_owned()).collect()
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
        let (rowid, content) = row.split_once('|').expect("two columns");
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
            let environment = TestEnvironment::new();
            let about = format!("{} {more:?}", folder.display());
            let args = [&["--agent", alias], &ALL[..]].concat();
            let exported = export(&environment, &folder, "a.alf", &args);
            let ground = Ground::new();
            let back = ground.path("back");
            let imported = import(&environment, &back, "a.alf", more);
            assert_eq!(imported["memory_records"], exported["memory_records"], "{about}");
            assert_eq!(imported["memories"]["added"], exported["memory_records"], "{about}");
            let workspace = Path::new(imported["workspace"].as_str().expect("it is text"));
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
            export(&environment, &back, "b.alf", &[&["--agent", name], &ALL[..]].concat());
            let (a, b) = (snapshot(&environment, "a.alf"), snapshot(&environment, "b.alf"));
            for (key, was) in by_key(&a) {
                let mut is = by_key(&b)[&key].clone();
                // No version since reads a table without this column, so it is there now.
                let before: Value = raw(was);
                let mut after = raw(&is);
                if before["row"].get("embedding").is_none() && was.embeddings.is_empty() {
                    let row = after["row"].as_object_mut().expect("it is a row");
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
    let (environment, ground) = (TestEnvironment::new(), Ground::new());
    let folder = install(&ground, "zeroclaw-real.db", "i");
    let back = ground.path("back");
    for alias in ["default", "alpha", "beta"] {
        let args = [&["--agent", alias], &ALL[..]].concat();
        export(&environment, &folder, &format!("{alias}.alf"), &args);
        import(&environment, &back, &format!("{alias}.alf"), &["--agent", alias]);
    }
    let (was, is) = (dump(&folder.join(DATABASE)), dump(&back.join(DATABASE)));
    let sorted = |list: &Value| {
        let mut rows: Vec<Value> = list.as_array().expect("it is a list").clone();
        rows.iter_mut().for_each(|row| drop(row.as_object_mut().expect("a row").remove("rowid")));
        rows.sort_by_key(|row| row["id"].to_string());
        rows
    };
    assert_eq!(sorted(&was["agents"]), sorted(&is["agents"]));
    assert_eq!(sorted(&was["memories"]), sorted(&is["memories"]));
    assert_usable(&back.join(DATABASE));
}

/// Makes an archive of the default agent, and an install that it is imported into.
fn imported() -> (TestEnvironment, Ground) {
    let (environment, ground) = (TestEnvironment::new(), Ground::new());
    let folder = install(&ground, "zeroclaw-real.db", "i");
    export(&environment, &folder, "a.alf", &["--agent", "default", "--private"]);
    import(&environment, &ground.path("back"), "a.alf", &[]);
    (environment, ground)
}

/// Returns what a folder holds, but for when.
fn content(path: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    tree(path).into_iter().map(|(path, tree)| (path, tree.bytes().to_vec())).collect()
}

#[test]
fn a_second_import_changes_nothing() {
    let (environment, ground) = imported();
    let before = content(&ground.path("back"));
    for choice in ["stop", "theirs", "ours", "both"] {
        let again = import(&environment, &ground.path("back"), "a.alf", &["--on-conflict", choice]);
        let memories = &again["memories"];
        assert_eq!((&memories["added"], &memories["replaced"]), (&json!(0), &json!(0)), "{choice}");
        assert!(content(&ground.path("back")) == before, "{choice}: {again}");
    }
}

const CHANGED: &str = "UPDATE memories SET content = 'Prefers Zig', \
    updated_at = '2026-11-20T08:00:00.000000001+00:00' WHERE key = 'user_lang' \
    AND agent_id = (SELECT id FROM agents WHERE alias = 'default')";

const LANG: &str = "SELECT key, content, id, created_at FROM memories \
    WHERE key LIKE 'user_lang%' AND agent_id = (SELECT id FROM agents WHERE alias = 'default') \
    ORDER BY key";

#[test]
fn a_row_that_changed_stops_an_import_unless_somebody_says_which_one_counts() {
    for choice in ["stop", "theirs", "ours", "both"] {
        let (environment, ground) = imported();
        let (back, database) = (ground.path("back"), ground.path("back").join(DATABASE));
        let was = query(&database, LANG);
        assert_eq!(was.len(), 1, "{was:?}");
        sql(&database, CHANGED);
        let changed = query(&database, LANG);
        let before = content(&back);
        if choice == "stop" {
            for args in [&[][..], &["--on-conflict", "stop"], &["--dry-run"]] {
                let words = ["import", "-r", "zeroclaw", "-w", text(&back), "a.alf"];
                let failure = environment.failure(3, [&words[..], args].concat());
                assert_eq!(failure["code"], "conflict");
                assert!(failure.to_string().contains("user_lang"), "{failure}");
                assert!(content(&back) == before, "nothing was changed");
            }
            continue;
        }
        let done = import(&environment, &back, "a.alf", &["--on-conflict", choice]);
        let is = query(&database, LANG);
        match choice {
            "theirs" => {
                assert_eq!(is, was);
                assert_eq!(done["memories"]["replaced"], 1);
                // What was there can be had again.
                let backup = done["memories"]["backup"].as_str().expect("there is a backup");
                assert_eq!(Path::new(backup).parent(), database.parent());
                let copied = copy(&ground, Path::new(backup), "backup.db");
                assert_eq!(query(&copied, LANG), changed);
            }
            "ours" => {
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
    let (environment, ground) = (TestEnvironment::new(), Ground::new());
    let folder = install(&ground, "zeroclaw-real.db", "i");
    export(&environment, &folder, "a.alf", &["--agent", "beta"]);
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
    let done = import(&environment, &target, "a.alf", &["--agent", "beta"]);
    assert_eq!(done["memories"]["added"], 1);
    assert_eq!(query(&database, others), before);
    assert!(done["memories"]["backup"].is_string(), "{done}");
    assert_eq!(query(&database, "SELECT count(*) FROM memories"), ["32"]);
    assert_usable(&database);
}

#[test]
fn a_database_that_somebody_writes_to_is_not_touched() {
    let (environment, ground) = imported();
    let back = ground.path("back");
    sql(&back.join(DATABASE), "DELETE FROM memories WHERE key = 'user_lang'");
    let before = content(&back);
    let holder = Holder::start(&back.join(DATABASE), "BEGIN IMMEDIATE");
    let words = ["import", "-r", "zeroclaw", "-w", text(&back), "a.alf"];
    let failure = environment.failure(3, words);
    assert!(failure["error"].as_str().is_some_and(|failure| !failure.is_empty()), "{failure}");
    drop(holder);
    let is = content(&back);
    let names = |all: &[(PathBuf, Vec<u8>)]| -> Vec<PathBuf> {
        let beside = |path: &Path| {
            let name = path.to_str().expect("it is UTF-8");
            name.ends_with("-wal") || name.ends_with("-shm")
        };
        all.iter().map(|value| value.0.clone()).filter(|value| !beside(value)).collect()
    };
    assert_eq!(names(&before), names(&is));
    assert_eq!(query(&back.join(DATABASE), "SELECT count(*) FROM memories"), ["28"]);
    import(&environment, &back, "a.alf", &[]);
    assert_eq!(query(&back.join(DATABASE), "SELECT count(*) FROM memories"), ["29"]);
}

#[test]
fn a_live_configuration_keeps_its_values_and_comments() {
    let (environment, ground) = (TestEnvironment::new(), Ground::new());
    let from = fixture("zeroclaw/install-v3");
    let folder = copy(&ground, &from, "i");
    let archive = ["--agent", "alpha", "--allow-secrets"];
    export(&environment, &folder, "a.alf", &archive);
    let live = "# mine\nschema_version = 3 # stays\n\n[providers.models.openai.main]\n\
        api_key = \"sk-live-0123456789\" # secret\nmodel = 'mine'\n\n[memory]\nbackend = \"sqlite\"\n";
    ground.write("t/config.toml", live);
    import(&environment, &ground.path("t"), "a.alf", &["--agent", "alpha"]);
    let is = String::from_utf8(ground.read("t/config.toml")).expect("it is UTF-8");
    for line in live.lines() {
        assert!(is.contains(line), "{line} in {is}");
    }
    for mark in ["<redacted>", "[redacted", "enc2:"] {
        assert!(!is.contains(mark), "{mark} in {is}");
    }
    // Into nothing, nothing unreal gets in either.
    import(&environment, &ground.path("new"), "a.alf", &["--agent", "alpha"]);
    let is = String::from_utf8(ground.read("new/config.toml")).expect("it is UTF-8");
    assert!(!is.contains("<redacted>") && !is.contains("[redacted"), "{is}");
    // The same one again is the same file.
    let before = ground.read("i/config.toml");
    import(&environment, &folder, "a.alf", &["--agent", "alpha"]);
    assert!(ground.read("i/config.toml") == before);
}

#[test]
fn a_whole_install_comes_back_file_for_file() {
    let (environment, ground) = (TestEnvironment::new(), Ground::new());
    let from = fixture("zeroclaw/install-v3");
    let folder = copy(&ground, &from, "i");
    for alias in ["default", "alpha"] {
        let archive = format!("{alias}.alf");
        export(&environment, &folder, &archive, &[&["--agent", alias], &ALL[..]].concat());
        let back = ground.path("back");
        import(&environment, &back, &archive, &["--agent", alias]);
        let workspace = format!("agents/{alias}/workspace");
        let (was, is) = (folder.join(&workspace), back.join(&workspace));
        assert_same_tree(&was, &is, &[], &[".alf-agent-id"]);
        let again = format!("{alias}-again.alf");
        export(&environment, &back, &again, &[&["--agent", alias], &ALL[..]].concat());
        let (a, b) = (snapshot(&environment, &archive), snapshot(&environment, &again));
        assert_eq!(a.records, b.records, "{alias}");
        assert_eq!((a.identity, a.principals), (b.identity, b.principals), "{alias}");
        assert_eq!(a.manifest.agent.id, b.manifest.agent.id, "{alias}");
    }
}

#[test]
fn files_of_the_markdown_backend_come_back_as_they_were() {
    for name in ["zeroclaw-real-markdown", "historic/v0.1.7-markdown"] {
        for more in [&[][..], &["--layout", "workspace"]] {
            let (environment, ground) = (TestEnvironment::new(), Ground::new());
            let from = fixture(&format!("zeroclaw/{name}"));
            let workspace = copy(&ground, &from, "i/workspace");
            ground.write("i/config.toml", "[memory]\nbackend = \"markdown\" # files\n");
            let exported = export(&environment, &ground.path("i"), "a.alf", &[]);
            let back = ground.path("back");
            let imported = import(&environment, &back, "a.alf", more);
            assert_eq!(imported["memory_records"], exported["memory_records"], "{name}");
            let place = if more.is_empty() { "agents/default/workspace" } else { "workspace" };
            assert_same_tree(&workspace, &back.join(place), &[], &[".alf-agent-id"]);
            assert!(!back.join(DATABASE).exists() && !back.join(OLDER).exists(), "{name}");
            export(&environment, &back, "b.alf", &[]);
            let (a, b) = (snapshot(&environment, "a.alf"), snapshot(&environment, "b.alf"));
            assert_eq!(a.records, b.records, "{name}");
        }
    }
}

#[test]
fn entries_of_files_become_rows_and_rows_become_entries_when_asked() {
    let (environment, ground) = (TestEnvironment::new(), Ground::new());
    let from = fixture("zeroclaw/zeroclaw-real-markdown");
    copy(&ground, &from, "i/workspace");
    ground.write("i/config.toml", "[memory]\nbackend = \"markdown\"\n");
    export(&environment, &ground.path("i"), "a.alf", &[]);
    let back = ground.path("back");
    import(&environment, &back, "a.alf", &["--backend", "sqlite"]);
    let rows = query(&back.join(DATABASE), "SELECT key, category, content FROM memories");
    assert!(rows.contains(&"tz|core|Pacific Time".to_owned()), "{rows:?}");
    assert!(rows.contains(&"note|daily|Finished tests".to_owned()), "{rows:?}");
    assert_usable(&back.join(DATABASE));
    // And the other way.
    let folder = install(&ground, "zeroclaw-real.db", "r");
    export(&environment, &folder, "b.alf", &["--agent", "default"]);
    let there = ground.path("there");
    import(&environment, &there, "b.alf", &["--backend", "markdown"]);
    export(&environment, &there, "c.alf", &[]);
    let (was, is) = (snapshot(&environment, "b.alf"), snapshot(&environment, "c.alf"));
    for (key, record) in by_key(&was) {
        let text = record.content.trim();
        let found = is.records.iter().any(|record| record.content.contains(text));
        assert!(found, "{key}: {text}");
    }
}

#[test]
fn columns_that_nobody_knows_come_back_too() {
    let (environment, ground) = (TestEnvironment::new(), Ground::new());
    let folder = install(&ground, "zeroclaw-real.db", "i");
    sql(
        &folder.join(DATABASE),
        "ALTER TABLE memories ADD COLUMN mood TEXT; ALTER TABLE memories ADD COLUMN seal BLOB; \
         UPDATE memories SET mood = 'mild' || rowid, seal = X'00FF' || CAST(rowid AS BLOB)",
    );
    let args = ["--agent", "default", "--private"];
    export(&environment, &folder, "a.alf", &args);
    let back = ground.path("back");
    import(&environment, &back, "a.alf", &[]);
    let (was, is) = (dump(&folder.join(DATABASE)), dump(&back.join(DATABASE)));
    let columns = columns(&was);
    assert!(columns.contains(&"seal".to_owned()));
    assert_eq!(rows(&was, "default", &columns), rows(&is, "default", &columns));
    export(&environment, &back, "b.alf", &args);
    let (a, b) = (snapshot(&environment, "a.alf"), snapshot(&environment, "b.alf"));
    assert_eq!(a.records, b.records);
    assert!(a.records.iter().all(|record| raw(record)["row"]["mood"].is_string()));
}

#[test]
fn an_install_that_keeps_memories_elsewhere_is_not_written_to() {
    let (environment, ground) = (TestEnvironment::new(), Ground::new());
    let folder = install(&ground, "zeroclaw-real.db", "i");
    export(&environment, &folder, "a.alf", &["--agent", "default"]);
    for backend in ["none", "postgres", "qdrant"] {
        let config = format!("schema_version = 3\n[memory]\nbackend = \"{backend}\"\n");
        ground.write(format!("{backend}/config.toml"), config);
        let target = ground.path(backend);
        let before = content(&target);
        let words = ["import", "-r", "zeroclaw", "-w", text(&target), "a.alf"];
        let ran = environment.run(words);
        assert!(ran.code == 2 || ran.code == 3, "{backend}: {}", ran.stdout);
        assert!(content(&target) == before, "{backend}");
    }
    // Lucid keeps them in the database.
    ground.write("lucid/config.toml", "schema_version = 3\n[memory]\nbackend = \"lucid\"\n");
    let done = import(&environment, &ground.path("lucid"), "a.alf", &[]);
    assert_eq!(done["memories"]["added"], 28);
    // What is there is not kept in two ways.
    let words = ["import", "-r", "zeroclaw", "-w", text(&folder), "a.alf", "--backend", "markdown"];
    ground.write("i/config.toml", "schema_version = 3\n[memory]\nbackend = \"sqlite\"\n");
    assert_eq!(environment.run(words).code, 2);
}

#[test]
fn an_agent_that_has_no_database_yet_keeps_its_files() {
    for (backend, layout) in [("sqlite", "workspace"), ("sqlite", "data"), ("lucid", "data")] {
        let (environment, ground) = (TestEnvironment::new(), Ground::new());
        let workspace = match layout {
            "data" => "i/agents/default/workspace",
            _ => "i/workspace",
        };
        ground.small(workspace);
        ground.write("i/config.toml", format!("[memory]\nbackend = \"{backend}\"\n"));
        let archive = export(&environment, &ground.path("i"), "a.alf", &["--agent", "default"]);
        let back = ground.path("back");
        let done = import(&environment, &back, "a.alf", &["--layout", layout]);
        assert_eq!(done["memory_records"], archive["memory_records"], "{backend} {layout}");
        let place = back.join(workspace.trim_start_matches("i/"));
        assert_same_tree(&ground.path(workspace), &place, &[], &[".alf-agent-id"]);
        export(&environment, &back, "b.alf", &["--agent", "default"]);
        let (a, b) = (snapshot(&environment, "a.alf"), snapshot(&environment, "b.alf"));
        assert_eq!(a.records, b.records, "{backend} {layout}");
    }
}

#[test]
fn an_agent_keeps_its_name_in_a_new_install() {
    let (environment, ground) = (TestEnvironment::new(), Ground::new());
    let from = fixture("zeroclaw/install-v3");
    let folder = copy(&ground, &from, "i");
    export(&environment, &folder, "a.alf", &["--agent", "alpha", "--private"]);
    let back = ground.path("back");
    let imported = import(&environment, &back, "a.alf", &[]);
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

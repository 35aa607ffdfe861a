//! From one runtime to another and back: the result is the original agent with the changes made in
//! between.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anemone::migrate::{Endpoint, MigrateError};
use anemone_format::parse_counts;
use anemone_runtimes::{OnConflict, PlanError};
use anemone_testkit::database::{dump, query, sql};
use anemone_testkit::fixture;
use anemone_testkit::ground::{Ground, Lying, assert_same_tree, fields, record_id, tree, with};
use anemone_testkit::workspace::Workspace;
use anemone_testkit::zip::holds;
use serde_json::{Value, json};

use super::workspace::export;
use super::zeroclaw::{DATABASE, copy, install};
use crate::support::TestMachine;
use crate::support::json as report;
use crate::support::transfer::{With, endpoint, text};

/// Runs a move that loses nothing.
#[track_caller]
fn migrate(machine: &TestMachine, from: &Endpoint, to: &Endpoint, more: &[With<'_>]) -> Value {
    let moved = machine.try_migrate(from.clone(), to.clone(), more).unwrap();
    let moved = report(&moved);
    for layer in moved["proof"]["layers"].as_array().unwrap() {
        assert_eq!(layer["lost"], 0, "{layer}");
        // Files of memories are rewritten by a runtime that keeps them in another way, and secrets
        // stay behind unless asked for.
        let may_stay = layer["layer"] == "files" || layer["layer"] == "credentials";
        assert!(may_stay || layer["not_carried"] == 0, "{layer}");
    }
    assert_eq!(moved["proof"]["lost"], json!([]));
    moved
}

fn openclaw(path: &Path) -> Endpoint {
    endpoint("openclaw", path)
}

fn zeroclaw(path: &Path) -> Endpoint {
    endpoint("zeroclaw", path)
}

/// Returns how many memories a move found again.
fn memories(moved: &Value) -> u64 {
    let layer = with(&moved["proof"]["layers"], "layer", "memory");
    layer["total"].as_u64().unwrap()
}

#[test]
fn somebody_is_counted_once_however_much_is_known_of_them() {
    let (machine, ground) = (TestMachine::new(), Ground::new());
    let user =
        "# USER.md\n\n- **Name:** Lin Novak\n- **Timezone:** Europe/Berlin\n\nLin runs a shop.\n";
    ground.write("w/USER.md", user);
    ground.write("w/MEMORY.md", "# Memory\n\n- The shop sells tea.\n");
    let (from, to) = (openclaw(&ground.path("w")), openclaw(&ground.path("new")));
    let moved = migrate(&machine, &from, &to, &[]);
    let layer = with(&moved["proof"]["layers"], "layer", "principals");
    assert_eq!((&layer["total"], &layer["carried"]), (&json!(1), &json!(1)), "{layer}");
}

const SKIPPED: [&str; 2] = [".git", "node_modules"];

// OpenClaw, ZeroClaw, OpenClaw.

fn there_and_back(seed: u64, more: &[With<'_>]) {
    let (machine, ground) = (TestMachine::new(), Ground::new());
    let from = ground.generate("w", &Workspace::edge_cases().seed(seed));
    let (away, back) = (ground.path("z"), ground.path("back"));
    let before = tree(&from);
    let moved = migrate(&machine, &openclaw(&from), &zeroclaw(&away), more);
    assert!(memories(&moved) > 500, "{}", moved["proof"]);
    assert!(tree(&from) == before, "what was read is as it was");
    if more.is_empty() {
        // Every record of the workspace is an entry that the runtime finds.
        let rows = query(&away.join(DATABASE), "SELECT count(*), count(DISTINCT id) FROM memories");
        assert_eq!(rows, [format!("{0}|{0}", memories(&moved))]);
    } else {
        assert!(!away.join(DATABASE).exists(), "the entries are in files");
    }
    migrate(&machine, &zeroclaw(&away), &openclaw(&back), &[]);
    assert_same_tree(&from, &back, &SKIPPED, &[".alf-agent-id"]);
}

// One fact that came back must not change the times of its neighbours, nor of anything else.
#[test]
fn a_fact_that_comes_back_changes_no_other_record() {
    let (machine, ground) = (TestMachine::new(), Ground::new());
    let from = ground.small("w");
    let rules =
        "# Rules\n\n| ID | Trigger |\n|---|---|\n| GP-1 | a full disk |\n| GP-2 | no network |\n";
    ground.write("w/memory/gating-policies.md", rules);
    let (away, back) = (ground.path("z"), ground.path("back"));
    export(&machine, &from, "a.alf", &[]);
    migrate(&machine, &openclaw(&from), &zeroclaw(&away), &[]);
    let database = away.join(DATABASE);
    // A row of a table says little without the names of its columns.
    let rows = query(&database, "SELECT content FROM memories WHERE content LIKE '%GP-2%'");
    assert_eq!(rows, ["| ID | Trigger |\n|---|---|\n| GP-2 | no network |"]);
    let at = "2026-11-20T09:00:00.000000001+00:00";
    sql(
        &database,
        &format!(
            "INSERT INTO memories(id, key, content, category, created_at, updated_at, agent_id) \
             SELECT '0b0e1f9e-1111-4222-8333-444444444441', 'core_new', \
             'The cat is called Miso.', 'core', '{at}', '{at}', id FROM agents \
             WHERE alias = 'default'"
        ),
    );
    sql(
        &database,
        "UPDATE memories SET content = replace(content, 'no network', 'a slow network') \
         WHERE content LIKE '%GP-2%'",
    );
    migrate(&machine, &zeroclaw(&away), &openclaw(&back), &[]);
    let is = said(&back.join("memory/gating-policies.md"));
    assert_eq!(is, rules.replace("no network", "a slow network"));
    export(&machine, &back, "b.alf", &[With::Since("a.alf")]);
    // The times were noted where the agent came back to, so the earlier archive is not needed.
    fs_err::remove_file(machine.path("b.alf")).unwrap();
    export(&machine, &back, "b.alf", &[]);
    let records = &report(&machine.diff("a.alf", "b.alf"))["records"];
    assert_eq!(records["created"].as_array().unwrap().len(), 1, "{records}");
    assert_eq!(records["deleted"], json!([]));
    let updated = fields(&records["updated"], "id");
    assert_eq!(updated, [record_id("memory/gating-policies.md", 1)], "{records}");
}

/// Moves an agent away and back; returns how many memories it has, and how many records were parsed
/// on each way.
fn parsed_there_and_back(keeps: bool) -> (u64, u64, u64) {
    let (machine, ground) = (TestMachine::new(), Ground::new());
    let from = ground.generate("w", &Workspace::edge_cases());
    let (away, back) = (ground.path("z"), ground.path("back"));
    parse_counts::keep(keeps);
    let start = parse_counts::parsed();
    let moved = migrate(&machine, &openclaw(&from), &zeroclaw(&away), &[]);
    let there = parse_counts::parsed();
    let returned = migrate(&machine, &zeroclaw(&away), &openclaw(&back), &[]);
    let end = parse_counts::parsed();
    parse_counts::keep(true);
    assert_eq!(memories(&moved), memories(&returned));
    (memories(&moved), there - start, end - there)
}

#[test]
fn a_move_parses_each_record_at_most_three_times() {
    let (memories, there, back) = parsed_there_and_back(true);
    assert_eq!((there, back), (2 * memories, 3 * memories), "of {memories}");
    // Of more than is kept, every walk parses each record again.
    let (memories, there, back) = parsed_there_and_back(false);
    assert_eq!((there, back), (8 * memories, 9 * memories), "of {memories}");
}

#[test]
fn a_workspace_goes_to_zeroclaw_and_back_seed_1() {
    there_and_back(1, &[]);
}

#[test]
fn a_workspace_goes_to_zeroclaw_and_back_seed_5() {
    there_and_back(5, &[]);
}

#[test]
fn a_workspace_goes_to_zeroclaw_as_files_and_back() {
    there_and_back(1, &[With::Backend("markdown")]);
}

#[test]
fn a_workspace_goes_to_the_older_layout_and_back() {
    let (machine, ground) = (TestMachine::new(), Ground::new());
    let from = ground.generate("w", &Workspace::edge_cases().seed(2).days(3));
    let (away, back) = (ground.path("z"), ground.path("back"));
    let more = [With::Layout("workspace")];
    let moved = migrate(&machine, &openclaw(&from), &zeroclaw(&away), &more);
    assert!(away.join("workspace/memory/brain.db").is_file());
    assert_eq!(moved["to"]["workspace"], text(&away.join("workspace")));
    migrate(&machine, &zeroclaw(&away), &openclaw(&back), &[]);
    assert_same_tree(&from, &back, &SKIPPED, &[".alf-agent-id"]);
}

#[test]
fn a_workspace_goes_round_twice() {
    let (machine, ground) = (TestMachine::new(), Ground::new());
    let from = ground.small("w");
    let mut here = from.clone();
    for round in 0..2 {
        let (away, back) = (ground.path(format!("z{round}")), ground.path(format!("b{round}")));
        migrate(&machine, &openclaw(&here), &zeroclaw(&away), &[]);
        migrate(&machine, &zeroclaw(&away), &openclaw(&back), &[]);
        assert_same_tree(&from, &back, &[], &[".alf-agent-id"]);
        here = back;
    }
}

#[test]
fn an_agent_moves_in_with_others_and_they_stay_as_they_are() {
    let (machine, ground) = (TestMachine::new(), Ground::new());
    let from = fixture("zeroclaw/install-v3");
    let folder = copy(&ground, &from, "i");
    let workspace = ground.small("w");
    let database = folder.join(DATABASE);
    let others = "SELECT * FROM memories WHERE agent_id != \
        coalesce((SELECT id FROM agents WHERE alias = 'mira'), '') ORDER BY rowid";
    let before = query(&database, others);
    let config = ground.read("i/config.toml");
    let default = tree(&folder.join("agents/default"));
    let more = [With::ToAgent("mira")];
    let moved = migrate(&machine, &openclaw(&workspace), &zeroclaw(&folder), &more);
    assert_eq!(moved["to"]["agent"], "mira");
    assert!(moved["memories"]["backup"].is_string(), "{}", moved["memories"]);
    assert_eq!(query(&database, others), before);
    assert!(tree(&folder.join("agents/default")) == default);
    let is = String::from_utf8(ground.read("i/config.toml")).unwrap();
    for line in String::from_utf8(config).unwrap().lines() {
        assert!(is.contains(line), "{line}");
    }
    // Once more: it is all there.
    let again = migrate(&machine, &openclaw(&workspace), &zeroclaw(&folder), &more);
    let counts = ["added", "replaced", "kept"].map(|value| again["memories"][value].as_u64());
    assert_eq!(counts, [Some(0); 3], "{}", again["memories"]);
    let back = ground.path("back");
    migrate(&machine, &zeroclaw(&folder), &openclaw(&back), &[With::Agent("mira")]);
    // The settings of the install ride along, without a secret; the workspace is what it was.
    let differ = differing(&workspace, &back);
    assert!(differ.iter().all(|differ| differ.starts_with(".alf-origin")), "{differ:?}");
    for (path, it) in tree(&back) {
        assert!(!holds(it.bytes(), b"enc2:"), "{}", path.display());
    }
}

#[test]
fn an_agent_with_a_whole_install_goes_to_openclaw_and_back() {
    let (machine, ground) = (TestMachine::new(), Ground::new());
    let from = fixture("zeroclaw/install-v3");
    let folder = copy(&ground, &from, "i");
    for alias in ["default", "alpha"] {
        let (away, back) = (ground.path(format!("w-{alias}")), ground.path("back"));
        let more = [With::Agent(alias), With::Private];
        migrate(&machine, &zeroclaw(&folder), &openclaw(&away), &more);
        let more = [With::ToAgent(alias), With::Private];
        migrate(&machine, &openclaw(&away), &zeroclaw(&back), &more);
        assert_eq!(rows(&folder.join(DATABASE), alias), rows(&back.join(DATABASE), alias));
        let workspace = format!("agents/{alias}/workspace");
        let (was, is) = (folder.join(&workspace), back.join(&workspace));
        assert_same_tree(&was, &is, &[], &[".alf-agent-id"]);
    }
    let config = String::from_utf8(ground.read("back/config.toml")).unwrap();
    assert!(config.contains("[channels.discord.default]") && !config.contains("<redacted>"));
}

/// Returns the files that differ between two trees.
fn differing(was: &Path, is: &Path) -> BTreeSet<PathBuf> {
    let (was, is) = (tree(was), tree(is));
    let skipped = |path: &Path| {
        SKIPPED.iter().any(|skipped| path.starts_with(skipped))
            || path == Path::new(".alf-agent-id")
    };
    let names: BTreeSet<&PathBuf> =
        was.keys().chain(is.keys()).filter(|key| !skipped(key)).collect();
    let bytes = |option: Option<&Lying>| option.map(|value| (value.kind(), value.bytes().to_vec()));
    names
        .into_iter()
        .filter(|name| bytes(was.get(*name)) != bytes(is.get(*name)))
        .cloned()
        .collect()
}

fn said(path: &Path) -> String {
    String::from_utf8(fs_err::read(path).unwrap()).unwrap()
}

/// Returns the text of a file without the section under a heading, which is there.
#[track_caller]
fn without_section(text: &str, heading: &str) -> String {
    let start = text.find(heading).unwrap_or_else(|| panic!("{heading} in {text}"));
    let end = text[start + 3..].find("\n## ").map_or(text.len(), |at| start + 3 + at + 1);
    format!("{}{}", &text[..start], &text[end..])
}

#[test]
fn what_changed_with_zeroclaw_changes_the_files_concerned_and_no_other() {
    let (machine, ground) = (TestMachine::new(), Ground::new());
    let from = ground.generate("w", &Workspace::edge_cases().seed(1));
    // Sections that are easily told.
    ground.append(
        "w/MEMORY.md",
        "\n## Tea of the house\n\nGreen, no sugar.\n\n## Old plan\n\nGone soon.\n",
    );
    ground.write(
        "w/memory/2026-04-01.md",
        "# A day\n\n## Breakfast at nine\n\nEggs.\n\n## Evening at nine\n\nA film.\n",
    );
    let (away, back) = (ground.path("z"), ground.path("back"));
    migrate(&machine, &openclaw(&from), &zeroclaw(&away), &[]);
    let database = away.join(DATABASE);
    let change = |like: &str, from: &str, to: &str| {
        let count = query(
            &database,
            &format!("SELECT count(*) FROM memories WHERE content LIKE '%{like}%'"),
        );
        assert_eq!(count, ["1"], "{like}");
        sql(
            &database,
            &format!(
                "UPDATE memories SET content = replace(content, '{from}', '{to}'), \
                 updated_at = '2026-11-20T08:00:00.123456789+00:00' WHERE content LIKE '%{like}%'"
            ),
        );
    };
    change("Green, no sugar", "Green, no sugar", "Black, two sugars");
    change("Eggs.", "Eggs.", "Porridge.");
    sql(&database, "DELETE FROM memories WHERE content LIKE '%Gone soon%'");
    for (id, key, content, category) in [
        ("1", "core_new", "The cat is called Miso.", "core"),
        ("2", "daily_2026-11-20_new", "Went to the lake.", "daily"),
    ] {
        let at = "2026-11-20T09:00:00.000000001+00:00";
        sql(
            &database,
            &format!(
                "INSERT INTO memories(id, key, content, category, created_at, updated_at, agent_id) \
                 SELECT '0b0e1f9e-1111-4222-8333-44444444444{id}', '{key}', '{content}', \
                 '{category}', '{at}', '{at}', id FROM agents WHERE alias = 'default'"
            ),
        );
    }
    migrate(&machine, &zeroclaw(&away), &openclaw(&back), &[]);
    let differ = differing(&from, &back);
    // What only ZeroClaw has of the new entries rides along; the workspace itself is compared.
    let ours = |text: &&str| !text.starts_with(".alf-origin");
    let names: Vec<&str> = differ.iter().map(|differ| text(differ)).filter(ours).collect();
    assert_eq!(names, ["MEMORY.md", "memory/2026-04-01.md", "memory/2026-11-20.md"]);
    let day = said(&back.join("memory/2026-04-01.md"));
    assert_eq!(day, said(&from.join("memory/2026-04-01.md")).replace("Eggs.", "Porridge."));
    assert!(said(&back.join("memory/2026-11-20.md")).contains("Went to the lake."));
    let (was, is) = (said(&from.join("MEMORY.md")), said(&back.join("MEMORY.md")));
    assert!(is.contains("Black, two sugars.") && !is.contains("Green, no sugar"));
    assert!(!is.contains("Old plan") && !is.contains("Gone soon"), "{is}");
    let expected =
        without_section(&was, "## Old plan").replace("Green, no sugar", "Black, two sugars");
    assert!(is.starts_with(expected.trim_end()), "{is}");
    let added = is[expected.trim_end().len()..].trim();
    assert!(added.starts_with("## ") && added.ends_with("The cat is called Miso."), "{added}");
    // And once more: what ZeroClaw had is what it has again.
    let again = ground.path("again");
    migrate(&machine, &openclaw(&back), &zeroclaw(&again), &[]);
    let texts = "SELECT trim(content, char(10) || ' ') FROM memories ORDER BY 1";
    assert_eq!(query(&database, texts), query(&again.join(DATABASE), texts));
    let own = "SELECT id, key, category, created_at FROM memories WHERE id LIKE '0b0e1f9e%'";
    assert_eq!(query(&database, own), query(&again.join(DATABASE), own));
}

// ZeroClaw, OpenClaw, ZeroClaw.

/// Returns the rows of one agent, and its row in the table of agents.
fn rows(database: &Path, alias: &str) -> (Vec<Value>, Vec<Value>) {
    let dumped = dump(database);
    let list = |name: &str| dumped[name].as_array().unwrap().clone();
    let agents: Vec<Value> = list("agents")
        .into_iter()
        .filter(|list| list["alias"] == json!(["text", format!("'{alias}'")]))
        .map(|mut list| {
            list.as_object_mut().unwrap().remove("rowid");
            list
        })
        .collect();
    assert_eq!(agents.len(), 1, "{alias}");
    let id = agents[0]["id"].clone();
    let mut rows: Vec<Value> =
        list("memories").into_iter().filter(|list| list["agent_id"] == id).collect();
    for (at, row) in rows.iter_mut().enumerate() {
        // The order stays; numbers are the table's own.
        row["rowid"] = json!(at);
    }
    (rows, agents)
}

#[test]
fn rows_go_to_openclaw_and_back_column_by_column() {
    let (machine, ground) = (TestMachine::new(), Ground::new());
    let folder = install(&ground, "zeroclaw-real.db", "i");
    for (alias, number) in [("default", 29), ("alpha", 2), ("beta", 1)] {
        let (away, back) = (ground.path(format!("w-{alias}")), ground.path("back"));
        let moved = migrate(
            &machine,
            &zeroclaw(&folder),
            &openclaw(&away),
            &[With::Agent(alias), With::Private],
        );
        assert_eq!(memories(&moved), number, "{alias}");
        let more = [With::ToAgent(alias), With::Private];
        migrate(&machine, &openclaw(&away), &zeroclaw(&back), &more);
        let was = rows(&folder.join(DATABASE), alias);
        let is = rows(&back.join(DATABASE), alias);
        assert_eq!(was.1, is.1, "{alias}: its own row");
        assert_eq!(was.0.len(), is.0.len(), "{alias}");
        for (was, is) in was.0.iter().zip(&is.0) {
            assert_eq!(was, is, "{alias}");
        }
        let workspace = back.join("agents").join(alias).join("workspace");
        assert!(!workspace.join(".alf-origin").exists(), "{alias}: nothing has to ride along");
    }
    let total = query(&ground.path("back").join(DATABASE), "SELECT count(*) FROM memories");
    assert_eq!(total, ["32"]);
}

#[test]
fn vectors_survive_a_runtime_that_has_none() {
    for name in ["v0.1.7-embed", "v0.6.9", "v0.1.0-20260213"] {
        let (machine, ground) = (TestMachine::new(), Ground::new());
        let from = fixture(&format!("zeroclaw/historic/{name}"));
        copy(&ground, &from, "i/workspace");
        let (folder, away, back) = (ground.path("i"), ground.path("w"), ground.path("back"));
        migrate(&machine, &zeroclaw(&folder), &openclaw(&away), &[]);
        let more = [With::Layout("workspace")];
        migrate(&machine, &openclaw(&away), &zeroclaw(&back), &more);
        let place = "workspace/memory/brain.db";
        let (was, is) = (dump(&folder.join(place)), dump(&back.join(place)));
        let list = |value: &Value| value["memories"].as_array().unwrap().clone();
        let (was, is) = (list(&was), list(&is));
        assert_eq!(was.len(), is.len(), "{name}");
        for (was, is) in was.iter().zip(&is) {
            for (column, cell) in was.as_object().unwrap() {
                let key = &was["key"];
                assert!(column == "rowid" || *cell == is[column], "{name} {key} {column}: {is}");
            }
        }
    }
}

#[test]
fn what_changed_with_openclaw_changes_the_rows_concerned_and_no_other() {
    let (machine, ground) = (TestMachine::new(), Ground::new());
    let folder = install(&ground, "zeroclaw-real.db", "i");
    let (away, back) = (ground.path("w"), ground.path("back"));
    let more = [With::Agent("default"), With::Private];
    migrate(&machine, &zeroclaw(&folder), &openclaw(&away), &more);
    let (was, _) = rows(&folder.join(DATABASE), "default");
    let content = |row: &Value| row["content"][1].as_str().unwrap().to_owned();
    let key = |row: &Value| row["key"][1].as_str().unwrap().to_owned();
    // The file that contains a text, among all files outside the sidecar.
    let find = |words: &str| -> PathBuf {
        let holds = |(path, value): &(PathBuf, Lying)| {
            !path.starts_with(".alf-origin")
                && String::from_utf8_lossy(value.bytes()).contains(words)
        };
        let found: Vec<PathBuf> =
            tree(&away).into_iter().filter(holds).map(|tree| tree.0).collect();
        assert_eq!(found.len(), 1, "{words}: {found:?}");
        away.join(&found[0])
    };
    let edited = "Prefers Rust for systems programming";
    let removed = "User is in America/Los_Angeles (Pacific Time)";
    let file = find(edited);
    let text = said(&file).replace(edited, "Prefers Zig for systems programming");
    fs_err::write(&file, text).unwrap();
    let file = find(removed);
    let text = said(&file);
    let at = text.find(removed).unwrap();
    let start = text[..at].rfind("## ").unwrap();
    let heading = text[start..].lines().next().unwrap().to_owned();
    fs_err::write(&file, without_section(&text, &heading)).unwrap();
    let memory = away.join("MEMORY.md");
    let old = fs_err::read_to_string(&memory).unwrap_or_default();
    fs_err::write(&memory, format!("{old}\n## Pets\n\nThe cat is called Miso.\n")).unwrap();
    migrate(&machine, &openclaw(&away), &zeroclaw(&back), &[With::Private]);
    let (is, _) = rows(&back.join(DATABASE), "default");
    let changed = |row: &&Value| content(row).contains(edited) || content(row).contains(removed);
    let mut same = 0;
    for row in was.iter().filter(|was| !changed(was)) {
        let found = is.iter().find(|value| key(value) == key(row));
        let mut found = found.unwrap_or_else(|| panic!("{} is there", key(row))).clone();
        found["rowid"] = row["rowid"].clone();
        assert_eq!(*row, found);
        same += 1;
    }
    let row = was.iter().find(|was| content(was).contains(edited)).unwrap();
    let found = is.iter().find(|value| key(value) == key(row)).unwrap();
    assert_eq!(content(found), "'Prefers Zig for systems programming'");
    for column in ["id", "category", "created_at", "session_id", "importance", "namespace"] {
        assert_eq!(row[column], found[column], "{column}");
    }
    assert!(!is.iter().any(|value| content(value).contains(removed)), "what was removed is gone");
    let added: Vec<&Value> = is.iter().filter(|value| content(value).contains("Miso")).collect();
    assert_eq!(added.len(), 1, "{added:?}");
    assert_eq!(added[0]["category"][1], "'core'");
    assert_eq!(is.len(), same + 2, "nothing else was added");
}

#[test]
fn files_of_the_markdown_backend_go_to_openclaw_and_back() {
    for name in ["zeroclaw-real-markdown", "historic/v0.1.7-markdown"] {
        let (machine, ground) = (TestMachine::new(), Ground::new());
        let from = fixture(&format!("zeroclaw/{name}"));
        let workspace = copy(&ground, &from, "i/workspace");
        ground.write("i/config.toml", "[memory]\nbackend = \"markdown\"\n");
        let (away, back) = (ground.path("w"), ground.path("back"));
        migrate(&machine, &zeroclaw(&ground.path("i")), &openclaw(&away), &[]);
        let more = [With::Layout("workspace")];
        migrate(&machine, &openclaw(&away), &zeroclaw(&back), &more);
        assert_same_tree(&workspace, &back.join("workspace"), &[], &[".alf-agent-id"]);
    }
}

/// Makes an install whose agent keeps two memories as entries of a file.
fn entries_of_a_file(ground: &Ground) -> PathBuf {
    ground.write("i/config.toml", "[memory]\nbackend = \"markdown\"\n");
    ground.write("i/workspace/MEMORY.md", "- **city**: Lisbon\n- **tea**: oolong\n");
    ground.path("i")
}

/// Moves two entries to OpenClaw, changes one there and adds a third.
fn changed_entries(machine: &TestMachine, ground: &Ground) -> PathBuf {
    let folder = entries_of_a_file(ground);
    let away = ground.path("w");
    let moved = migrate(machine, &zeroclaw(&folder), &openclaw(&away), &[]);
    assert_eq!(memories(&moved), 2);
    let memory = said(&away.join("MEMORY.md"));
    let headings: Vec<&str> = memory.lines().filter(|line| line.starts_with('#')).collect();
    assert_eq!(headings, ["## city", "## tea"], "{memory}");
    assert_eq!(memory.matches("Lisbon").count(), 1, "{memory}");
    let changed = memory.replace("Lisbon", "Porto");
    ground.write("w/MEMORY.md", format!("{}\n\n## Added\n\nhello\n", changed.trim_end()));
    away
}

#[test]
fn entries_of_a_file_that_changed_with_openclaw_are_entries_of_a_file_again() {
    let (machine, ground) = (TestMachine::new(), Ground::new());
    let away = changed_entries(&machine, &ground);
    let moved = migrate(&machine, &openclaw(&away), &zeroclaw(&ground.path("back")), &[]);
    let workspace = Path::new(moved["to"]["workspace"].as_str().unwrap());
    let memory = said(&workspace.join("MEMORY.md"));
    for line in ["- **city**: Porto", "- **tea**: oolong"] {
        assert_eq!(memory.lines().filter(|other| *other == line).count(), 1, "{line} in {memory}");
    }
    assert_eq!(memory.matches("hello").count(), 1, "{memory}");
    assert!(!memory.contains("Lisbon"), "{memory}");
    assert!(!ground.path("back").join(DATABASE).exists());
    let exported = crate::zeroclaw::export(&machine, &ground.path("back"), "b.alf", &[]);
    assert_eq!(exported["memory_records"], 3);
}

#[test]
fn entries_of_a_file_that_changed_with_openclaw_become_rows_when_asked() {
    let (machine, ground) = (TestMachine::new(), Ground::new());
    let away = changed_entries(&machine, &ground);
    let (back, more) = (ground.path("back"), [With::Backend("sqlite")]);
    migrate(&machine, &openclaw(&away), &zeroclaw(&back), &more);
    let rows = query(&back.join(DATABASE), "SELECT key, content FROM memories ORDER BY rowid");
    assert_eq!(rows.len(), 3, "{rows:?}");
    assert_eq!(rows[..2], ["city|Porto", "tea|oolong"]);
    assert!(rows[2].ends_with("hello"), "{rows:?}");
}

#[test]
fn what_openclaw_added_goes_with_a_row_to_zeroclaw_and_back() {
    let (machine, ground) = (TestMachine::new(), Ground::new());
    let folder = install(&ground, "zeroclaw-real.db", "i");
    sql(
        &folder.join(DATABASE),
        "DELETE FROM memories WHERE key != 'user_lang' OR agent_id != \
         (SELECT id FROM agents WHERE alias = 'default')",
    );
    let (away, there, back) = (ground.path("w"), ground.path("z"), ground.path("back"));
    let more = [With::Agent("default")];
    let moved = migrate(&machine, &zeroclaw(&folder), &openclaw(&away), &more);
    assert_eq!(memories(&moved), 1);
    ground.append("w/MEMORY.md", "\n## Pets\n\nThe cat is called Miso.\n");
    ground.write("w/SOUL.md", "# Mira\n\nKind and brief.\n");
    ground.write("w/memory/2026-11-16.md", "## Morning\n\nRain.\n\n## Evening\n\nA film.\n");
    migrate(&machine, &openclaw(&away), &zeroclaw(&there), &[]);
    let soul = there.join("agents/default/workspace/SOUL.md");
    assert_eq!(said(&soul), "# Mira\n\nKind and brief.\n");
    let rows = query(&there.join(DATABASE), "SELECT content FROM memories");
    assert_eq!(rows.len(), 4, "{rows:?}");
    migrate(&machine, &zeroclaw(&there), &openclaw(&back), &[]);
    let ours = |path: &&PathBuf| !path.starts_with(".alf-origin");
    let differ = differing(&away, &back);
    assert_eq!(differ.iter().find(ours), None, "{differ:?}");
}

/// Returns the keys of an install with their texts.
fn keys(folder: &Path) -> Vec<String> {
    query(&folder.join(DATABASE), "SELECT key, content FROM memories ORDER BY key")
}

#[test]
fn a_section_put_before_others_takes_none_of_their_keys() {
    let (machine, ground) = (TestMachine::new(), Ground::new());
    let (from, away, back) = (ground.small("w"), ground.path("z"), ground.path("back"));
    migrate(&machine, &openclaw(&from), &zeroclaw(&away), &[]);
    let before = keys(&away);
    assert_eq!(before.len(), 6, "{before:?}");
    let memory = said(&from.join("MEMORY.md"));
    ground.write("w/MEMORY.md", memory.replace("## Tea", "## Car\n\nA red one.\n\n## Tea"));
    let more = [With::OnConflict(OnConflict::Theirs)];
    let again = migrate(&machine, &openclaw(&from), &zeroclaw(&away), &more);
    assert_eq!(memories(&again), 7);
    let mut after = keys(&away);
    let new = after.iter().position(|value| value.contains("A red one."));
    let new = after.remove(new.unwrap());
    assert!(new.to_lowercase().contains("car"), "{new}");
    assert_eq!(after, before);
    migrate(&machine, &zeroclaw(&away), &openclaw(&back), &[]);
    assert_same_tree(&from, &back, &[], &[".alf-agent-id"]);
}

#[test]
fn a_move_can_be_repeated_after_its_target_was_exported() {
    let (machine, ground) = (TestMachine::new(), Ground::new());
    let (from, away) = (ground.small("w"), ground.path("z"));
    let first = migrate(&machine, &openclaw(&from), &zeroclaw(&away), &[]);
    machine.try_export(machine.agent_in("zeroclaw", &away), "z.alf", &[]).unwrap();
    let again = migrate(&machine, &openclaw(&from), &zeroclaw(&away), &[]);
    assert_eq!(again["agent_id"], first["agent_id"]);
}

/// Goes there, changes a row, comes back, puts a section between others and goes there again.
fn between_others(machine: &TestMachine, ground: &Ground) -> (PathBuf, PathBuf) {
    ground.write("p/MEMORY.md", "## F\n\nff\n");
    let from = ground.write("p/memory/2026-03-02.md", "## A\n\naa\n\n## B\n\nbb\n");
    let from = from.ancestors().nth(2).unwrap().to_owned();
    let (away, home, again) = (ground.path("z0"), ground.path("p1"), ground.path("z2"));
    migrate(machine, &openclaw(&from), &zeroclaw(&away), &[]);
    let changed = "UPDATE memories SET content = content || ' U', \
        updated_at = '2026-11-15T17:00:00+00:00' WHERE key = 'f'";
    sql(&away.join(DATABASE), changed);
    migrate(machine, &zeroclaw(&away), &openclaw(&home), &[]);
    let log = "## A\n\naa\n\n## M\n\nmm\n\n## B\n\nbb\n";
    ground.write("p1/memory/2026-03-02.md", log);
    migrate(machine, &openclaw(&home), &zeroclaw(&again), &[]);
    (home, again)
}

#[test]
fn a_section_between_others_is_itself_on_every_way() {
    let (machine, ground) = (TestMachine::new(), Ground::new());
    let (home, away) = between_others(&machine, &ground);
    let back = ground.path("p3");
    migrate(&machine, &zeroclaw(&away), &openclaw(&back), &[]);
    let log = "memory/2026-03-02.md";
    assert_eq!(said(&back.join(log)), said(&home.join(log)));
    for (change, name, expected) in [
        ("UPDATE memories SET content = replace(content, 'mm', 'new')", "p4", "## M\n\nnew\n\n"),
        ("DELETE FROM memories", "p5", ""),
    ] {
        sql(&away.join(DATABASE), &format!("{change} WHERE content LIKE '%## M%'"));
        let back = ground.path(name);
        let moved = migrate(&machine, &zeroclaw(&away), &openclaw(&back), &[]);
        let text = format!("## A\n\naa\n\n{expected}## B\n\nbb\n");
        assert_eq!(said(&back.join(log)), text, "{}", moved["plan"]["forgotten"]);
    }
}

#[test]
fn a_second_move_changes_nothing_and_a_third_adds_what_is_new() {
    let (machine, ground) = (TestMachine::new(), Ground::new());
    let (from, away) = (ground.small("w"), ground.path("z"));
    let all = "SELECT * FROM memories ORDER BY id";
    migrate(&machine, &openclaw(&from), &zeroclaw(&away), &[]);
    let before = query(&away.join(DATABASE), all);
    assert_eq!(before.len(), 6, "{before:?}");
    let again = migrate(&machine, &openclaw(&from), &zeroclaw(&away), &[]);
    let counts = ["added", "replaced", "kept"].map(|value| again["memories"][value].as_u64());
    assert_eq!(counts, [Some(0); 3], "{}", again["memories"]);
    assert_eq!(again["replaced_kept_at"], Value::Null, "no file was replaced");
    assert_eq!(query(&away.join(DATABASE), all), before);
    ground.append("w/MEMORY.md", "\n## Car\n\nA red one.\n");
    // Sections without a day are as old as their file, and rows that say the same stay.
    ground.touch("w/MEMORY.md", 1_790_000_000);
    let third = migrate(&machine, &openclaw(&from), &zeroclaw(&away), &[]);
    let counts = ["added", "replaced", "kept"].map(|value| third["memories"][value].as_u64());
    assert_eq!(counts, [Some(1), Some(0), Some(0)], "{}", third["memories"]);
    let mut after = query(&away.join(DATABASE), all);
    after.retain(|value| !value.contains("A red one."));
    assert_eq!(after, before);
}

#[test]
fn memories_that_cannot_be_read_are_not_taken_for_forgotten_ones() {
    let (machine, ground) = (TestMachine::new(), Ground::new());
    let (from, away, back) = (ground.small("w"), ground.path("z"), ground.path("back"));
    migrate(&machine, &openclaw(&from), &zeroclaw(&away), &[]);
    ground.write("z/config.toml", "schema_version = 3\n\n[memory]\nbackend = \"none\"\n");
    let before = tree(&away);
    let snapshots = tree(&machine.path("snapshots"));
    let error = machine.try_migrate(zeroclaw(&away), openclaw(&back), &[]).unwrap_err();
    let is_it = matches!(error, MigrateError::Plan(PlanError::MemoriesUnread { .. }));
    assert!(is_it, "{error:?}");
    assert!(!back.exists() && tree(&machine.path("snapshots")) == snapshots);
    assert!(tree(&away) == before, "what was read is as it was");
}

/// Makes a machine with an install of OpenClaw that has keys, or none; returns its workspace.
fn openclaw_install(machine: &TestMachine, profiles: Option<&Value>) -> PathBuf {
    machine.write_home(".openclaw/openclaw.json", "{}");
    machine.write_home(".openclaw/agents/main/sessions/sessions.json", "{}");
    if let Some(profiles) = profiles {
        let store = json!({"version": 1, "profiles": profiles}).to_string();
        machine.write_home(PROFILES, store);
    }
    let workspace = machine.home(".openclaw/workspace");
    fs_err::create_dir(&workspace).unwrap();
    workspace
}

const PROFILES: &str = ".openclaw/agents/main/agent/auth-profiles.json";

/// Returns the profiles of a machine.
fn profiles(machine: &TestMachine) -> Value {
    let store = fs_err::read(machine.home(PROFILES)).unwrap();
    let store: Value = serde_json::from_slice(&store).unwrap();
    store["profiles"].clone()
}

/// Checks that a text is in no file of a folder, but for some.
#[track_caller]
fn assert_nowhere(folder: &Path, secret: &str, but: &str) {
    for (path, it) in tree(folder) {
        let found = path != Path::new(but) && holds(it.bytes(), secret.as_bytes());
        assert!(!found, "{secret} in {}", path.display());
    }
}

#[test]
fn keys_of_openclaw_are_keys_of_zeroclaw_encrypted() {
    const SECRET: &str = "sk-ant-api03-Zq7Lw2Xk9Rt4";
    let (machine, ground) = (TestMachine::new(), Ground::new());
    let profile = json!({"type": "api_key", "provider": "anthropic", "key": SECRET});
    let from = openclaw_install(&machine, Some(&json!({"anthropic:default": profile})));
    fs_err::write(from.join("MEMORY.md"), "## Tea\n\nGreen.\n").unwrap();
    let away = ground.path("z");
    let (was, is) = (openclaw(&from), zeroclaw(&away));
    // Without a word about them they stay.
    migrate(&machine, &was, &zeroclaw(&ground.path("without")), &[]);
    assert_nowhere(&ground.path("without"), "enc2:", "");
    let moved = migrate(&machine, &was, &is, &[With::Credentials]);
    let layer = with(&moved["proof"]["layers"], "layer", "credentials");
    assert_eq!((&layer["carried"], &layer["not_carried"]), (&json!(1), &json!(0)), "{layer}");
    let config = said(&away.join("config.toml"));
    assert_eq!(config.matches("enc2:").count(), 1, "{config}");
    assert!(config.contains("[providers.models.anthropic.default]"), "{config}");
    assert_nowhere(&ground.path(""), SECRET, "");
    assert_nowhere(&machine.path(""), SECRET, "");
    // The key that sealed it during the move is not stored anywhere.
    let aside = said(&away.join("agents/default/workspace/.alf-origin/credentials.json"));
    assert!(aside.contains("<not-exported>"), "{aside}");
    assert!(!moved.to_string().contains(SECRET));
    migrate(&machine, &was, &is, &[With::Credentials]);
    assert_eq!(said(&away.join("config.toml")), config);
    assert_nowhere(&ground.path(""), SECRET, "");
    // It is that key: on another machine it is a profile again.
    let other = TestMachine::new();
    let back = openclaw_install(&other, None);
    migrate(&other, &is, &openclaw(&back), &[With::Credentials]);
    let found = profiles(&other);
    assert_eq!(found["anthropic:default"]["type"], "api_key", "{}", found["anthropic:default"]);
    assert_eq!(found["anthropic:default"]["key"], SECRET);
    assert_nowhere(&back, SECRET, "");
}

#[test]
fn keys_of_zeroclaw_are_profiles_of_openclaw_and_tokens_of_channels_stay() {
    let (machine, ground) = (TestMachine::new(), Ground::new());
    let from = fixture("zeroclaw/install-v3");
    let plain = fixture("zeroclaw/zeroclaw-0.8.7/config/config.v3.plain.toml");
    let folder = copy(&ground, &from, "i");
    // The same settings, line for line, once encrypted and once not.
    let (closed, plain) = (said(&folder.join("config.toml")), said(&plain));
    assert_eq!(closed.lines().count(), plain.lines().count());
    let (mut section, mut keys, mut tokens) = ("", Vec::new(), Vec::new());
    for (closed, plain) in closed.lines().zip(plain.lines()) {
        if plain.starts_with('[') {
            section = plain;
        }
        let Some((name, value)) = plain.split_once(" = ") else { continue };
        if closed.contains("enc2:") && section.starts_with("[channels.") {
            tokens.push(value.trim_matches('"'));
        } else if closed.contains("enc2:") && name == "api_key" {
            assert!(section.starts_with("[providers.models."), "{section}");
            keys.push(value.trim_matches('"'));
        }
    }
    assert_eq!((keys.len(), tokens.len() > 20), (2, true), "{keys:?} {tokens:?}");
    let workspace = openclaw_install(&machine, None);
    let more = [With::Agent("default"), With::Credentials];
    for _ in 0..2 {
        migrate(&machine, &zeroclaw(&folder), &openclaw(&workspace), &more);
        let found = profiles(&machine);
        let found = found.as_object().unwrap();
        for key in &keys {
            let is = |value: &&Value| value["type"] == "api_key" && value["key"] == *key;
            assert_eq!(found.values().filter(is).count(), 1, "{key}: {:?}", found.keys());
            assert_nowhere(&machine.home(".openclaw"), key, &PROFILES[".openclaw/".len()..]);
        }
        let keys = found.values().filter(|value| value["type"] == "api_key").count();
        assert_eq!(keys, 2, "{:?}", found.keys());
        for token in &tokens {
            assert_nowhere(&machine.home(""), token, "");
            assert_nowhere(&machine.path(""), token, "");
        }
        assert_nowhere(&machine.home(""), "enc2:", "");
    }
}

//! `anemone index`

use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::environment::{TestEnvironment, program};
use crate::search::{search, tea_shop};

fn index(environment: &TestEnvironment, flags: &[&str]) -> Value {
    environment.json(["index", "-w", "ws"].iter().chain(flags))
}

#[test]
fn an_index_says_what_is_in_it() {
    let environment = tea_shop();
    environment.write_below("ws/memory/node_modules/x.md", "not ours");
    let first = index(&environment, &[]);
    assert_eq!((&first["documents"], &first["added"]), (&json!(4), &json!(4)));
    assert_eq!(first["rebuilt"], "new");
    assert_eq!(first["source"]["kind"], "openclaw");
    assert_eq!(first["skipped"]["ignored"], 1);
    let skipped = json!([{ "path": "memory/node_modules", "reason": "ignored" }]);
    assert_eq!(first["skipped_paths"], skipped);
    assert!(first["chunks"].as_u64().unwrap() >= 4, "{first}");
    assert!(first["bytes"].as_u64().unwrap() > 0, "{first}");
    let again = index(&environment, &[]);
    assert_eq!((&again["added"], &again["changed"]), (&json!(0), &json!(0)));
    assert_eq!(again.get("rebuilt"), None);
    assert_eq!((&again["chunks"], &again["folder"]), (&first["chunks"], &first["folder"]));
    let anew = index(&environment, &["--rebuild"]);
    assert_eq!((&anew["rebuilt"], &anew["chunks"]), (&json!("asked"), &first["chunks"]));
    let text = environment.human(["index", "-w", "ws"]);
    assert!(text.contains("4 documents, ") && text.contains("1 ignored"), "{text}");
    assert!(text.contains("memory/node_modules (ignored)"), "{text}");
    for number in 0..24 {
        environment.write_below(&format!("ws/memory/{number:02}/node_modules/x.md"), "not ours");
    }
    let text = environment.human(["index", "-w", "ws"]);
    assert!(text.contains("25 ignored") && text.contains("and 5 more"), "{text}");
}

#[test]
fn indexes_are_listed_pruned_and_dropped() {
    let environment = tea_shop();
    assert_eq!(environment.json(["index", "--list"])["indexes"], json!([]));
    index(&environment, &[]);
    environment.write_below("notes/a.md", "a note\n");
    environment.json(["index", "notes"]);
    let listed = environment.json(["index", "--list"]);
    let indexes = listed["indexes"].as_array().unwrap();
    assert_eq!(indexes.len(), 2);
    for one in indexes {
        assert_eq!(one["source"]["exists"], true);
        assert!(one["bytes"].as_u64().unwrap() > 0);
        assert!(one["used_at"].as_str().unwrap().ends_with('Z'));
    }
    let kinds: Vec<_> =
        indexes.iter().map(|index| index["source"]["kind"].as_str().unwrap()).collect();
    assert!(kinds.contains(&"openclaw") && kinds.contains(&"folder"), "{kinds:?}");
    assert_eq!(environment.json(["index", "--prune"])["removed"], json!([]));

    fs_err::remove_dir_all(environment.path("notes")).unwrap();
    let plan = environment.json(["index", "--prune", "--dry-run"]);
    assert_eq!((&plan["dry_run"], &plan["kept"]), (&json!(true), &json!(1)));
    let place = plan["removed"][0]["source"]["place"].as_str().unwrap();
    assert!(place.ends_with("notes"), "{place}");
    assert_eq!(environment.json(["index", "--list"])["indexes"].as_array().unwrap().len(), 2);
    let text = environment.human(["index", "--list"]);
    assert!(text.contains("gone") && text.contains("2 indexes"), "{text}");
    environment.json(["index", "--prune"]);
    assert_eq!(environment.json(["index", "--list"])["indexes"].as_array().unwrap().len(), 1);

    assert_eq!(index(&environment, &["--drop"])["dropped"], true);
    assert_eq!(environment.json(["index", "--list"])["indexes"], json!([]));
    assert_eq!(index(&environment, &["--drop"])["dropped"], false);
    let agents = fs_err::read_dir(environment.home(".cache/anemone/agents")).unwrap();
    let left =
        agents.flat_map(|agent| fs_err::read_dir(agent.unwrap().path().join("index")).unwrap());
    assert_eq!(left.count(), 0, "not even a note is left");
    assert_eq!(search(&environment, "router", &[])["index"]["rebuilt"], "new");
}

#[test]
fn dropping_touches_no_folder_with_something_else_in_it() {
    let environment = tea_shop();
    index(&environment, &["--index-dir", "own"]);
    environment.write("own/diary.md", "dear diary");
    let failure = environment.failure(2, ["index", "-w", "ws", "--index-dir", "own", "--drop"]);
    assert_eq!(failure["code"], "index_dir");
    fs_err::remove_file(environment.path("own/diary.md")).unwrap();
    assert_eq!(index(&environment, &["--index-dir", "own", "--drop"])["dropped"], true);
    assert!(!environment.exists("own"));
}

#[test]
fn a_folder_with_files_called_like_ours_is_not_touched() {
    let environment = tea_shop();
    environment.write_below("mine/lock", "");
    environment.write_below("mine/lexical/thesis.txt", "years of work");
    for command in
        [&["search", "tea"][..], &["index"], &["index", "--rebuild"], &["index", "--drop"]]
    {
        let flags = ["-w", "ws", "--index-dir", "mine"];
        let failure = environment.failure(2, command.iter().chain(&flags));
        assert_eq!(failure["code"], "index_dir");
        assert_eq!(environment.read("mine/lexical/thesis.txt"), b"years of work");
    }
}

#[test]
fn two_memories_in_one_folder_answer_each_for_itself() {
    let environment = tea_shop();
    environment.write_below("one/MEMORY.md", "tea of the first\n");
    environment.write_below("two/MEMORY.md", "tea of the second\n");
    // Several at once leave things of each other's behind while they run.
    let json = |args: &[&str]| -> Value {
        let mut command = Command::new(program());
        command.current_dir(environment.path("")).env_clear().envs(environment.variables());
        let output = command.args(args).output().expect("the program starts");
        assert!(output.status.success(), "{output:?}");
        serde_json::from_slice(&output.stdout).expect("an answer is JSON")
    };
    std::thread::scope(|scope| {
        for (folder, text) in [("one", "first"), ("two", "second"), ("one", "first")] {
            let json = &json;
            scope.spawn(move || {
                for turn in 0..8 {
                    if turn == 4 {
                        json(&["index", "-w", folder, "--index-dir", "own", "--rebuild"]);
                    }
                    let answer = json(&["search", "tea", "-w", folder, "--index-dir", "own"]);
                    let hit = answer["hits"][0]["text"].as_str().expect("something is found");
                    assert!(hit.contains(text), "{folder}: {hit}");
                    assert_eq!(answer["notes"], json!([]));
                }
            });
        }
    });
}

#[test]
fn flags_that_exclude_each_other_are_wrong_usage() {
    let environment = tea_shop();
    for flags in [
        &["--list", "--prune"][..],
        &["--watch", "--drop"],
        &["--rebuild", "--list"],
        &["--list", "--index-dir", "own"],
        &["--prune", "--index-dir", "own"],
        &["--dry-run"],
        &["--chunking", "anemone"],
    ] {
        environment.failure(2, ["index", "-w", "ws"].iter().chain(flags));
    }
}

#[test]
fn an_encrypted_archive_has_no_index_to_keep() {
    let environment = tea_shop();
    let recipient = environment.identity("identity");
    environment.json(["export", "-w", "ws", "-o", "shop.alf"]);
    environment.json(["encrypt", "shop.alf", "-r", &recipient, "-o", "shop.age"]);
    for flags in [&[][..], &["--rebuild"], &["--watch"]] {
        let args = ["index", "shop.age", "-i", "identity"];
        let failure = environment.failure(1, args.iter().chain(flags));
        assert_eq!(failure["code"], "encrypted", "{failure}");
    }
    let answer = environment.json(["search", "router", "shop.age", "-i", "identity"]);
    assert!(!answer["hits"].as_array().unwrap().is_empty());
}

#[test]
fn our_chunks_cover_every_line_once() {
    let environment = tea_shop();
    let text: String =
        (1..=400).map(|value| format!("Line {value} of a long story about a crab.\n")).collect();
    environment.write("ws/memory/story.md", text);
    let cut = index(&environment, &["--chunks"]);
    let chunks = cut["chunks"].as_array().unwrap();
    let story = chunks.iter().filter(|chunk| chunk["path"] == "memory/story.md");
    let mut next = 1;
    for chunk in story {
        assert_eq!(chunk["start_line"], next, "{chunk}");
        next = chunk["end_line"].as_u64().unwrap() + 1;
    }
    assert_eq!(next, 401);
}

#[cfg(unix)]
#[test]
fn watching_takes_in_a_change_and_ends_when_told() {
    let environment = tea_shop();
    let mut command = Command::new(program());
    command
        .current_dir(environment.path(""))
        .env_clear()
        .envs(environment.variables())
        .args(["index", "-w", "ws", "--watch"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    let mut child = command.spawn().expect("the program starts");
    let mut lines = BufReader::new(child.stdout.take().expect("it is piped")).lines();
    let mut next = || -> Value {
        let line = lines.next().expect("it goes on").expect("what is printed is UTF-8");
        serde_json::from_str(&line).expect("a line is JSON")
    };
    let first = next();
    assert_eq!((&first["ok"], &first["documents"]), (&json!(true), &json!(4)));
    assert!(first["watching"] == "told" || first["watching"] == "looking", "{first}");
    environment.write("ws/memory/new.md", "A postcard from Zanzibar.\n");
    let second = next();
    assert_eq!((&second["documents"], &second["added"]), (&json!(5), &json!(1)));
    let id = nix::unistd::Pid::from_raw(i32::try_from(child.id()).expect("ids are small"));
    nix::sys::signal::kill(id, nix::sys::signal::Signal::SIGINT).expect("it is ours");
    let status = child.wait().expect("the program ends");
    assert!(status.success(), "{status}");
}

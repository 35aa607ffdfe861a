//! `anemone search`

use std::collections::BTreeSet;

use serde_json::Value;

use crate::environment::TestEnvironment;

/// A workspace about a tea shop: a curated file, two logs, a project.
pub(crate) fn tea_shop() -> TestEnvironment {
    let environment = TestEnvironment::new();
    environment.write_below(
        "ws/MEMORY.md",
        "# Memory\n\n## Lin\n\n- Allergic to hazelnuts.\n- Drinks oolong in the evening.\n\n\
         ## 家里的规矩\n\n妈妈住在成都，每个星期天上午十点打视频。\n",
    );
    environment.write_below(
        "ws/memory/2026-01-15.md",
        "## Morning\n\nThe delivery came: twelve kilograms of green tea instead of two.\n\n\
         ## Evening\n\nThe network was gone because the cat slept on the router.\n",
    );
    environment.write_below(
        "ws/memory/2026-03-20.md",
        "## Morning\n\nThe second delivery was late; the supplier blames the fog.\n\
         Ordered a new router for the network.\n",
    );
    environment.write_below(
        "ws/memory/project-aquarium.md",
        "## Herr Krause\n\nThe hermit crab needs water at 25 degrees and never any copper.\n",
    );
    // What tells a workspace from any folder of notes.
    environment.write_below("ws/SOUL.md", "# Soul\n\nCalm.\n");
    environment.write_below("ws/IDENTITY.md", "# Identity\n\nClawdia.\n");
    environment
}

/// Options of a search by words only: a text without any of the words is no hit.
const WORDS: &[&str] = &["--embedder", "none"];

pub(crate) fn search(environment: &TestEnvironment, query: &str, flags: &[&str]) -> Value {
    let query = ["--", query];
    environment.json(["search", "-w", "ws"].iter().chain(flags).chain(&query))
}

fn hits(answer: &Value) -> &Vec<Value> {
    answer["hits"].as_array().expect("hits are a list")
}

/// The parts of an answer that must be equal: all but when and how it was made.
fn ranking(answer: &Value) -> Vec<Value> {
    hits(answer)
        .iter()
        .map(|hit| {
            serde_json::json!([
                hit["citation"],
                hit["score"],
                hit["text"],
                hit["matches"],
                hit["date"]
            ])
        })
        .collect()
}

#[test]
fn what_was_asked_for_comes_first_with_its_place() {
    let environment = tea_shop();
    let answer = search(&environment, "what is Lin allergic to?", &[]);
    assert_eq!(answer["query"], "what is Lin allergic to?");
    assert_eq!(answer["source"]["kind"], "openclaw");
    assert_eq!((&answer["mode"], &answer["model"]), (&"hybrid".into(), &"anemone-table-1".into()));
    assert_eq!(answer["index"]["documents"], 4);
    assert_eq!(answer["index"]["added"], 4);
    assert!(answer["took_ms"].as_f64().unwrap() > 0.0);
    let hit = &answer["hits"][0];
    assert_eq!(hit["path"], "MEMORY.md");
    assert_eq!(hit["type"], "semantic");
    assert_eq!(hit["namespace"], "curated");
    assert!(hit["headings"].as_array().unwrap().contains(&"Lin".into()), "{hit}");
    let (start, end) = (hit["start_line"].as_u64().unwrap(), hit["end_line"].as_u64().unwrap());
    assert!(start <= 5 && 5 <= end, "{hit}");
    let text = hit["text"].as_str().unwrap();
    assert!(text.contains("Allergic to hazelnuts."), "{hit}");
    let citation = match start == end {
        true => format!("MEMORY.md#L{start}"),
        false => format!("MEMORY.md#L{start}-L{end}"),
    };
    assert_eq!(hit["citation"], citation);
    let marked: BTreeSet<String> = hit["matches"]
        .as_array()
        .unwrap()
        .iter()
        .map(|array| {
            let at = |side: usize| usize::try_from(array[side].as_u64().unwrap()).unwrap();
            text[at(0)..at(1)].to_lowercase()
        })
        .collect();
    assert!(marked.contains("allergic"), "{marked:?}");
}

#[test]
fn a_query_may_begin_with_a_hyphen() {
    let environment = tea_shop();
    for query in ["-x", "-tea", "--tea", "-r2d2 beep"] {
        let answer = environment.json(["search", query, "-w", "ws"]);
        assert_eq!(answer["query"], query);
    }
}

#[test]
fn a_query_that_asks_nothing_is_answered_with_that() {
    let environment = tea_shop();
    for (query, says) in [("", "nothing"), ("-tea", "excludes")] {
        let answer = search(&environment, query, &[]);
        assert_eq!(hits(&answer).len(), 0, "{query:?}");
        assert_eq!(answer["notes"][0]["code"], "nothing_asked", "{query:?}");
        assert!(answer["notes"][0]["message"].as_str().unwrap().contains(says), "{answer}");
        let text = environment.human(["search", "-w", "ws", "--", query]);
        assert!(text.contains("note: ") && !text.contains("nothing_asked"), "{text}");
    }
}

#[test]
fn filters_and_rankings_are_flags() {
    let environment = tea_shop();
    for flags in [
        &["--path", "memory/2026-*.md", "--path", "MEMORY.md"][..],
        &["--since", "30d", "--until", "today"],
        &["--type", "episodic"],
        &["--namespace", "project"],
        &["--recency"],
        &["--recency=7"],
        &["--importance"],
        &["--diversity"],
        &["--diversity=0.5"],
        &["--profile", "openclaw-2026.9"],
        &["--explain", "--chars", "120", "--limit", "3", "--min-score", "0"],
    ] {
        search(&environment, "delivery", flags);
    }
    let answer = search(&environment, "tea", &["--explain"]);
    assert!(answer["hits"][0]["explain"]["parts"].is_object(), "{answer}");
    let answer = search(&environment, "tea", &["--type", "nonsense"]);
    assert_eq!(answer["notes"][0]["code"], "filtered_out");
    let message = answer["notes"][0]["message"].as_str().unwrap();
    assert!(message.contains("types: episodic, ") && !message.contains("namespaces"), "{message}");
    for flag in ["--recency=0", "--diversity=2", "--recency=soon", "--min-score=1.5"] {
        environment.failure(2, ["search", "tea", "-w", "ws", flag]);
    }
    let failure = environment.failure(2, ["search", "x", "-r", "folders", "-w", "ws"]);
    assert!(failure["hint"].as_str().unwrap().contains("folder"), "{failure}");
}

#[test]
fn an_index_and_a_file_that_cannot_be_used_have_codes() {
    let environment = tea_shop();
    environment.write_below("mine/diary.md", "dear diary");
    let args = ["search", "tea", "-w", "ws", "--index-dir", "mine"];
    assert_eq!(environment.failure(2, args)["code"], "index_dir");
    environment.write("taken", "a file");
    let ran = environment.run(["search", "router", "-w", "ws", "--index-dir", "taken/index"]);
    let answer = ran.document();
    assert!(ran.code != 0 || answer["notes"][0]["code"] == "index_not_kept", "{answer}");
    // Elsewhere: reading the folder of the test would read all of it.
    let folder = tempfile::tempdir().unwrap();
    let big = folder.path().join("big.md");
    fs_err::File::create(&big).unwrap().set_len((32 << 20) + 1).unwrap();
    let failure = environment.failure(1, ["search", "tea", big.to_str().unwrap()]);
    assert_eq!(failure["code"], "too_large", "{failure}");
}

#[test]
fn a_number_that_belongs_to_a_flag_is_no_source() {
    let environment = tea_shop();
    for (flag, number) in [("--recency", "30"), ("--diversity", "0.5")] {
        for args in
            [&["search", "tea", "-w", "ws", flag, number][..], &["search", "tea", flag, number]]
        {
            let failure = environment.failure(2, args);
            let hint = failure["hint"].as_str().unwrap();
            assert!(hint.contains(&format!("{flag}={number}")), "{failure}");
        }
    }
}

#[test]
fn what_is_not_there_is_said_in_plain_words() {
    let environment = tea_shop();
    let failure = environment.failure(1, ["search", "tea", "missing.md"]);
    assert_eq!(
        (&failure["code"], &failure["error"]),
        (&"not_found".into(), &"there is nothing at missing.md".into())
    );
}

#[cfg(unix)]
#[test]
fn what_a_killed_run_left_is_swept_and_nothing_else() {
    use std::os::unix::fs::PermissionsExt;
    let environment = tea_shop();
    let temporary = environment.path("../tmp");
    let old = std::time::SystemTime::UNIX_EPOCH;
    let make = |name: &str, mode: u32| {
        let folder = temporary.join(name);
        fs_err::create_dir_all(folder.join("index")).unwrap();
        fs_err::write(folder.join("index/index.sqlite"), "a sentence of the memory").unwrap();
        fs_err::set_permissions(&folder, PermissionsExt::from_mode(mode)).unwrap();
        let handle = fs_err::File::open(&folder).unwrap().into_file();
        handle.set_modified(old).unwrap();
        handle
    };
    make("anemone-scratch-Killed", 0o700);
    let held = make("anemone-scratch-inUse1", 0o700);
    held.lock().unwrap();
    make("anemone-scratch-backups", 0o700);
    make("anemone-backup", 0o700);
    make("anemone-scratch-shared", 0o755);
    // Its age does not matter: a process that uses a scratch folder holds its lock.
    make("anemone-scratch-young1", 0o700);
    // Even a new one is removed: a process that uses a scratch folder holds its lock.
    fs_err::write(temporary.join("anemone-scratch-young1/just-now"), "").unwrap();
    search(&environment, "tea", &[]);
    let mut left: Vec<_> = fs_err::read_dir(&temporary)
        .unwrap()
        .map(|dir| dir.unwrap().file_name().into_string().unwrap())
        .collect();
    left.sort();
    assert_eq!(
        left,
        [
            "anemone-backup",
            "anemone-scratch-backups",
            "anemone-scratch-inUse1",
            "anemone-scratch-shared",
        ]
    );
    drop(held);
    search(&environment, "tea", &[]);
    assert!(!temporary.join("anemone-scratch-inUse1").exists());
}

#[test]
fn days_that_make_no_sense_are_wrong_usage() {
    let environment = tea_shop();
    for flags in [["--since", "soon"], ["--until", "2026-02-30"]] {
        let failure = environment.failure(2, ["search", "tea", "-w", "ws"].iter().chain(&flags));
        assert!(failure["error"].as_str().unwrap().contains(flags[1]), "{failure}");
    }
    let turned = ["search", "tea", "-w", "ws", "--since", "2026-02-02", "--until", "2026-02-01"];
    environment.failure(2, turned);
    search(&environment, "tea", &["--since", "30d", "--until", "today"]);
}

#[test]
fn eight_processes_at_once_get_the_same_answer() {
    let environment = tea_shop();
    let before = ranking(&search(&environment, "network router", &[]));
    fs_err::remove_dir_all(environment.home(".cache")).unwrap();
    let answers: Vec<Vec<Value>> = std::thread::scope(|scope| {
        let ask = || {
            let mut command = environment.command();
            command.args(["search", "network router", "-w", "ws"]);
            let output = command.output().expect("the program starts");
            let text = String::from_utf8(output.stdout).expect("it is UTF-8");
            assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
            ranking(&serde_json::from_str(&text).expect("it is JSON"))
        };
        let running: Vec<_> = (0..8).map(|_| scope.spawn(ask)).collect();
        running.into_iter().map(|running| running.join().expect("no panic")).collect()
    });
    for answer in answers {
        assert_eq!(answer, before);
    }
}

#[test]
fn people_get_a_block_for_each_hit() {
    let environment = tea_shop();
    let text = environment.human(["search", "green tea", "-w", "ws"]);
    for part in [
        "1. memory/2026-01-15.md#L",
        "2026-01-15",
        "Morning",
        "green tea",
        "hybrid (anemone-table-1)",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(text.contains("searched 4 documents, "), "{text}");
    let nothing = environment.human(["search", "zanzibar", "-w", "ws", "--embedder", "none"]);
    assert!(nothing.contains("nothing found for \"zanzibar\""), "{nothing}");
    assert!(nothing.contains("searched 4 documents"), "{nothing}");
}

#[cfg(unix)]
#[test]
fn people_are_told_what_is_no_hit_and_what_a_hit_is_worth() {
    let environment = tea_shop();
    environment.write("secret.md", "The password is xylophone.\n");
    let link = environment.path("ws/memory/link.md");
    std::os::unix::fs::symlink(environment.path("secret.md"), link).unwrap();
    let text = environment.human(["search", "xylophone", "-w", "ws"]);
    assert!(text.contains("not searched: 1 symlink"), "{text}");
    let text = environment.human(["search", "asdfqwer zxcv", "-w", "ws"]);
    assert!(text.starts_with("nothing found for \"asdfqwer zxcv\""), "{text}");

    let old = environment.json(["remember", "The ferry to Heligoland leaves at nine", "-w", "ws"]);
    let id = old["id"].as_str().unwrap();
    let new = ["remember", "The ferry to Heligoland leaves at noon", "--supersedes", id];
    environment.json(new.iter().chain(&["-w", "ws"]));
    let answer = search(&environment, "ferry Heligoland nine", &[]);
    let mark = format!("superseded by {}", answer["hits"][0]["citation"].as_str().unwrap());
    let text = environment.human(["search", "ferry Heligoland nine", "-w", "ws"]);
    assert!(text.contains(&mark), "{text}");

    let question = "What is Lin allergic to?";
    for number in 0..3 {
        let name = format!("ws/memory/2026-11-16-lin-allergic-{number}.md");
        let talk = format!(
            "# Session: 2026-11-16 08:00:00 UTC\n\n- **Session Key**: agent:main:main\n\
             - **Session ID**: abc\n- **Source**: claude-code\n\n## Conversation Summary\n\n\
             user: {question:?}\nassistant: \"No idea, {number}.\"\n"
        );
        environment.write(&name, talk);
    }
    let text = environment.human(["search", question, "-w", "ws", "--embedder", "none"]);
    assert!(text.contains("2 similar turns"), "{text}");
}

#[test]
fn an_empty_workspace_says_that_there_is_nothing() {
    let environment = TestEnvironment::new();
    fs_err::create_dir_all(environment.path("ws/memory")).unwrap();
    let text = environment.human(["search", "tea", "-w", "ws"]);
    assert!(text.contains("there is nothing to search"), "{text}");
}

#[test]
fn words_need_no_quotes_and_the_last_one_may_be_the_source() {
    let environment = tea_shop();
    environment.write_below("notes/a.md", "Plums are blue.\n");
    let query = |args: &[&str]| {
        let answer = environment.json(std::iter::once(&"search").chain(args));
        let place =
            answer["source"]["place"].as_str().unwrap().rsplit('/').next().map(str::to_owned);
        (answer["query"].as_str().unwrap().to_owned(), place.unwrap())
    };
    let of = |query: &str, place: &str| (query.to_owned(), place.to_owned());
    let lin = of("what is Lin allergic to", "ws");
    assert_eq!(query(&["what", "is", "Lin", "allergic", "to", "-w", "ws"]), lin);
    assert_eq!(query(&["what", "is", "Lin", "allergic", "to", "ws"]), lin);
    assert_eq!(query(&["Lin", "notes", "-w", "ws"]), of("Lin notes", "ws"));
    assert_eq!(query(&["blue", "plums", "notes/a.md"]), of("blue plums", "a.md"));
    assert_eq!(query(&["blue", "ws", "--in", "notes"]), of("blue ws", "notes"));
    let failure = environment.failure(2, ["search", "tea", "notes/a.md", "-w", "ws"]);
    assert!(failure["error"].as_str().unwrap().contains("-w"), "{failure}");
    environment.json(["remember", "Lin", "likes", "plum", "cake", "-w", "ws"]);
    let answer = search(&environment, "plum cake", WORDS);
    assert!(answer["hits"][0]["text"].as_str().unwrap().contains("Lin likes plum cake"));
}

#[test]
fn today_is_the_day_of_the_local_time_zone() {
    // At any hour the date in one of them differs from that in UTC.
    for zone in ["Pacific/Honolulu", "Pacific/Kiritimati"] {
        let environment = tea_shop();
        let variables = [("TZ", zone)];
        environment.json_with(&variables, ["remember", "aloha from the beach", "-w", "ws"]);
        for flag in ["--since", "--until"] {
            let args = ["search", "aloha", "-w", "ws", flag, "today"];
            let answer = environment.json_with(&variables, args);
            assert_eq!(hits(&answer).len(), 1, "{zone} {flag}: {answer}");
        }
        let listed = environment.json_with(&variables, ["list", "--day", "today", "-w", "ws"]);
        assert_eq!(listed["entries"].as_array().unwrap().len(), 1, "{zone}: {listed}");
    }
}

#[test]
fn a_folder_that_is_not_there_is_named() {
    let environment = TestEnvironment::new();
    let failure = environment.failure(1, ["search", "tea", "-w", "nope"]);
    assert_eq!(failure["error"], "there is no folder nope");
}

#[test]
fn hits_without_citations_name_no_file_and_no_line() {
    let environment = TestEnvironment::new();
    environment.write_below("notes/a.md", "# Fog\n\nThe ferry was late.\n");
    let shown =
        |more: &[&str]| environment.human(["search", "ferry", "--in", "notes"].iter().chain(more));
    assert!(shown(&[]).contains("a.md#L3"), "{}", shown(&[]));
    for more in [&["--citations", "off"][..], &["--session", "group"]] {
        let text = shown(more);
        assert!(text.contains("The ferry was late.") && !text.contains("a.md"), "{text}");
    }
    assert!(shown(&["--citations", "on", "--session", "group"]).contains("a.md#L3"));
}

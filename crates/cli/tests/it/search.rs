//! `anemone search`

use std::collections::BTreeSet;

use serde_json::Value;

use crate::environment::TestEnvironment;

/// A workspace about a tea shop: what is curated, two logs, a project.
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

/// Searches the workspace.
/// Without what compares meanings: what has none of the words is no hit.
const WORDS: &[&str] = &["--embedder", "none"];

pub(crate) fn search(environment: &TestEnvironment, query: &str, flags: &[&str]) -> Value {
    let query = ["--", query];
    environment.json(["search", "-w", "ws"].iter().chain(flags).chain(&query))
}

fn hits(answer: &Value) -> &Vec<Value> {
    answer["hits"].as_array().expect("hits are a list")
}

/// The documents that were found, the best first.
fn paths(answer: &Value) -> Vec<&str> {
    hits(answer).iter().map(|hit| hit["path"].as_str().expect("a path is text")).collect()
}

/// What must be equal when two answers are: all but when and how they were made.
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
fn the_text_of_a_hit_is_that_of_its_lines() {
    let environment = tea_shop();
    for query in ["tea", "router network", "hermit crab", "成都"] {
        for hit in hits(&search(&environment, query, &[])) {
            let file = environment.read(&format!("ws/{}", hit["path"].as_str().unwrap()));
            let file = String::from_utf8(file).unwrap();
            let line = |name: &str| usize::try_from(hit[name].as_u64().unwrap()).unwrap();
            let (start, end) = (line("start_line"), line("end_line"));
            let lines: Vec<&str> = file.lines().skip(start - 1).take(end + 1 - start).collect();
            let text = hit["text"].as_str().unwrap();
            assert!(lines.join("\n").contains(text.trim_end_matches('\n')), "{query}: {hit}");
        }
    }
}

#[test]
fn an_answer_is_never_older_than_the_files() {
    let environment = tea_shop();
    let note = "ws/memory/2026-02-01.md";
    assert_eq!(hits(&search(&environment, "zanzibar", WORDS)).len(), 0);
    environment.write(note, "A postcard from Zanzibar.\n");
    let answer = search(&environment, "zanzibar", WORDS);
    assert_eq!(paths(&answer), ["memory/2026-02-01.md"]);
    assert_eq!(answer["index"]["added"], 1);
    // The same length, at once.
    environment.write(note, "A postcard from Tanzania.\n");
    assert_eq!(hits(&search(&environment, "zanzibar", WORDS)).len(), 0);
    assert_eq!(paths(&search(&environment, "tanzania", WORDS)), ["memory/2026-02-01.md"]);
    let renamed = "ws/memory/2026-02-02.md";
    fs_err::rename(environment.path(note), environment.path(renamed)).unwrap();
    assert_eq!(paths(&search(&environment, "tanzania", WORDS)), ["memory/2026-02-02.md"]);
    fs_err::remove_file(environment.path(renamed)).unwrap();
    let answer = search(&environment, "tanzania", WORDS);
    assert_eq!(hits(&answer).len(), 0);
    assert_eq!(
        (&answer["index"]["removed"], &answer["index"]["documents"]),
        (&1.into(), &4.into())
    );
    let quiet = search(&environment, "tea", &[]);
    for what in ["added", "changed", "removed"] {
        assert_eq!(quiet["index"][what], 0, "{what}");
    }
}

#[test]
fn the_first_hits_are_the_same_for_every_limit() {
    let environment = tea_shop();
    let all = ranking(&search(&environment, "the morning delivery network", &["--limit", "50"]));
    assert!(all.len() >= 3, "{all:?}");
    for limit in 1..=all.len() {
        let answer =
            search(&environment, "the morning delivery network", &["--limit", &limit.to_string()]);
        assert_eq!(ranking(&answer), all[..limit], "{limit}");
    }
}

#[test]
fn nothing_that_can_be_typed_is_an_error() {
    let environment = tea_shop();
    let odd = [
        "don't",
        "C++",
        "20.04",
        "a:b",
        "\"",
        "\"\"",
        "-x",
        "-",
        "---",
        "🦀",
        "👩‍👩‍👧‍👦 tea",
        " ",
        "\t\n",
        "tea AND",
        "NEAR(tea)",
        "tea*",
        "(",
        "\\",
        "%",
        "' OR 1=1 --",
        "\"unclosed phrase",
        "-\"tea\"",
        "\u{202e}tea",
        "тест",
        "가나다",
        "a\u{0}b",
    ];
    for query in odd.iter().filter(|odd| !odd.contains('\0')) {
        let answer = search(&environment, query, &[]);
        assert_eq!(answer["query"], *query);
    }
    let long = "tea ".repeat(20_000);
    assert!(!hits(&search(&environment, &long, &[])).is_empty());
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
    for (query, says) in [("", "nothing"), ("  ", "nothing"), ("-tea", "excludes")] {
        let answer = search(&environment, query, &[]);
        assert_eq!(hits(&answer).len(), 0, "{query:?}");
        assert_eq!(answer["notes"][0]["code"], "nothing_asked", "{query:?}");
        assert!(answer["notes"][0]["message"].as_str().unwrap().contains(says), "{answer}");
        let text = environment.human(["search", "-w", "ws", "--", query]);
        assert!(text.contains("note: ") && !text.contains("nothing_asked"), "{text}");
    }
    for profile in ["openclaw-2026.3", "openclaw-2026.9", "zeroclaw"] {
        search(&environment, "", &["--profile", profile]);
    }
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

#[test]
fn a_file_that_is_too_large_is_an_error_when_it_was_named() {
    let environment = TestEnvironment::new();
    let file = fs_err::File::create(environment.path("big.md")).unwrap();
    file.set_len((32 << 20) + 1).unwrap();
    let ran = environment.command().args(["search", "tea", "big.md"]).output().unwrap();
    assert_eq!(ran.status.code(), Some(1));
    let failure: Value = serde_json::from_slice(&ran.stdout).unwrap();
    assert_eq!(failure["code"], "too_large", "{failure}");
}

#[test]
fn text_of_notepad_is_found() {
    let environment = tea_shop();
    let text = "# Tiere\r\n\r\nDas Axolotl heißt Günther.\r\n";
    let utf16: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
    environment.write("ws/memory/utf16.md", [b"\xff\xfe", &*utf16].concat());
    let answer = search(&environment, "axolotl", WORDS);
    assert_eq!(paths(&answer), ["memory/utf16.md"]);
    assert_eq!(
        (&answer["hits"][0]["start_line"], &answer["hits"][0]["headings"][0]),
        (&3.into(), &"Tiere".into())
    );
    let got = environment.json(["get", "memory/utf16.md#L3", "-w", "ws"]);
    assert_eq!(got["text"], "Das Axolotl heißt Günther.");
    environment.json(["export", "-w", "ws", "-o", "shop.alf"]);
    assert_eq!(
        paths(&environment.json(["search", "axolotl", "shop.alf", "--embedder", "none"])),
        ["memory/utf16.md"]
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
    // Its age does not matter: whoever uses one holds its lock.
    make("anemone-scratch-young1", 0o700);
    // However young it is: whoever uses one holds its lock.
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
fn what_is_excluded_is_in_no_hit() {
    let environment = tea_shop();
    let has_cat = |answer: &Value| {
        hits(answer)
            .iter()
            .any(|hit| hit["text"].as_str().is_some_and(|value| value.contains("cat")))
    };
    assert!(has_cat(&search(&environment, "router", &[])));
    let answer = search(&environment, "router -cat", &[]);
    assert!(!has_cat(&answer), "{answer}");
    assert_eq!(paths(&answer)[0], "memory/2026-03-20.md");
}

#[test]
fn words_in_quotes_stand_together() {
    let environment = tea_shop();
    let answer = search(&environment, "\"second delivery\"", &[]);
    assert_eq!(answer["hits"][0]["path"], "memory/2026-03-20.md");
    let missing = search(&environment, "\"delivery second\"", &[]);
    assert_eq!(missing["notes"][0]["code"], "phrase_not_found");
    assert!(!hits(&missing).is_empty());
}

#[test]
fn chinese_finds_and_diacritics_do_not_matter() {
    let environment = tea_shop();
    environment.write_below("ws/memory/2026-04-01.md", "Café mit Käthe, über Straßen geredet.\n");
    assert_eq!(paths(&search(&environment, "妈妈住在哪里？", &[]))[0], "MEMORY.md");
    assert_eq!(paths(&search(&environment, "cafe", WORDS)), ["memory/2026-04-01.md"]);
}

#[test]
fn filters_leave_what_passes_them() {
    let environment = tea_shop();
    let found = |flags: &[&str]| -> BTreeSet<String> {
        let answer = search(&environment, "the delivery network crab allergic", flags);
        paths(&answer).into_iter().map(str::to_owned).collect()
    };
    let set = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<BTreeSet<_>>();
    let (january, march) = ("memory/2026-01-15.md", "memory/2026-03-20.md");
    assert_eq!(found(&["--path", "memory/2026-*.md"]), set(&[january, march]));
    assert_eq!(found(&["--path", "MEMORY.md", "--path", "memory/project-*"]), {
        set(&["MEMORY.md", "memory/project-aquarium.md"])
    });
    assert_eq!(found(&["--since", "2026-01-15", "--until", "2026-01-15"]), set(&[january]));
    assert_eq!(found(&["--since", "2026-02-01"]), set(&[march]));
    assert_eq!(found(&["--type", "episodic"]), set(&[january, march]));
    assert_eq!(found(&["--namespace", "project"]), set(&["memory/project-aquarium.md"]));
    let answer = search(&environment, "tea", &["--type", "nonsense"]);
    assert_eq!(hits(&answer).len(), 0);
    assert_eq!(answer["notes"][0]["code"], "filtered_out");
    let message = answer["notes"][0]["message"].as_str().unwrap();
    assert!(message.contains("types: episodic, ") && !message.contains("namespaces"), "{message}");
    let answer = search(&environment, "tea", &["--namespace", "Daily"]);
    let message = answer["notes"][0]["message"].as_str().unwrap();
    assert!(message.contains("daily") && !message.contains("types"), "{message}");
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
fn hits_are_as_long_as_asked() {
    let environment = tea_shop();
    environment
        .write("ws/memory/long.md", "The lighthouse keeper wrote another page. ".repeat(200));
    let answer = search(&environment, "lighthouse keeper", &["--chars", "120"]);
    assert!(!hits(&answer).is_empty());
    for hit in hits(&answer) {
        assert!(hit["text"].as_str().unwrap().chars().count() <= 120, "{hit}");
    }
}

#[test]
fn a_score_is_explained_when_asked() {
    let environment = tea_shop();
    let plain = search(&environment, "tea", &[]);
    assert_eq!(plain["hits"][0].get("explain"), None);
    let explained = search(&environment, "tea", &["--explain"]);
    assert!(explained["hits"][0]["explain"]["parts"].is_object(), "{explained}");
    assert_eq!(ranking(&plain), ranking(&explained));
}

#[test]
fn recency_importance_and_diversity_leave_something_to_find() {
    let environment = tea_shop();
    for flag in ["--recency", "--recency=7", "--importance", "--diversity", "--diversity=0.5"] {
        assert!(!hits(&search(&environment, "delivery", &[flag])).is_empty(), "{flag}");
    }
    for flag in ["--recency=0", "--diversity=2", "--recency=soon"] {
        environment.failure(2, ["search", "tea", "-w", "ws", flag]);
    }
}

#[test]
fn other_programs_rank_as_they_do() {
    let environment = tea_shop();
    // The first of them drops what scores below 0.35, which in a few files is everything.
    for (profile, found) in [("openclaw-2026.3", 0), ("openclaw-2026.9", 2), ("zeroclaw", 2)] {
        let answer = search(&environment, "router", &["--profile", profile]);
        assert_eq!(hits(&answer).len(), found, "{profile}");
        let codes: Vec<_> =
            answer["notes"].as_array().unwrap().iter().map(|array| &array["code"]).collect();
        assert_eq!(codes.contains(&&"minimum_score".into()), found == 0, "{profile}");
    }
}

#[test]
fn an_archive_is_searched_in_place_and_answers_as_the_workspace_does() {
    let environment = tea_shop();
    environment.json(["export", "-w", "ws", "-o", "shop.alf"]);
    for query in ["what is Lin allergic to?", "router network", "成都", "crab copper"] {
        let here = search(&environment, query, &[]);
        let there = environment.json(["search", query, "shop.alf"]);
        assert_eq!(there["source"]["kind"], "archive");
        assert_eq!(paths(&here), paths(&there), "{query}");
        let cite = |value: &Value| {
            hits(value).iter().map(|hit| hit["citation"].clone()).collect::<Vec<_>>()
        };
        assert_eq!(cite(&here), cite(&there), "{query}");
    }
}

#[test]
fn a_record_of_one_runtime_is_not_in_the_file_of_another() {
    let environment = TestEnvironment::new();
    let mut snapshot = crate::environment::sample::agent();
    let record = snapshot
        .records
        .iter_mut()
        .find(|record| record.source.origin_file.as_deref() == Some("MEMORY.md"))
        .expect("the sample remembers something");
    record.content = "The xylophone is in the attic.".to_owned();
    environment.write_archive("one.alf", &snapshot);
    let found = |name: &str| {
        let answer = environment.json(["search", "xylophone attic", name]);
        hits(&answer).iter().any(|hit| hit["text"].as_str().unwrap().contains("xylophone"))
    };
    // The file is what is searched.
    assert!(!found("one.alf"));
    let record = snapshot.records.iter_mut().find(|record| record.content.contains("xylophone"));
    record.expect("it is there").source.runtime = "zeroclaw".to_owned();
    environment.write_archive("two.alf", &snapshot);
    assert!(found("two.alf"));
}

#[test]
fn any_folder_of_markdown_is_searched() {
    let environment = TestEnvironment::new();
    environment.write_below("notes/a/deep/recipe.md", "# Plum cake\n\nTwo kilograms of plums.\n");
    environment.write_below("notes/readme.txt", "plums are not Markdown\n");
    let answer = environment.json(["search", "plums", "notes"]);
    assert_eq!(answer["source"]["kind"], "folder");
    assert_eq!(paths(&answer), ["a/deep/recipe.md"]);
}

#[cfg(unix)]
#[test]
fn links_are_not_followed_and_are_counted() {
    let environment = tea_shop();
    environment.write("secret.md", "The password is xylophone.\n");
    std::os::unix::fs::symlink(
        environment.path("secret.md"),
        environment.path("ws/memory/link.md"),
    )
    .unwrap();
    let answer = search(&environment, "xylophone", WORDS);
    assert_eq!(hits(&answer).len(), 0);
    assert_eq!(answer["index"]["skipped"]["symlink"], 1);
    let text = environment.human(["search", "xylophone", "-w", "ws"]);
    assert!(text.contains("not searched: 1 symlink"), "{text}");
}

/// The one index in the cache.
fn index_folder(environment: &TestEnvironment) -> std::path::PathBuf {
    let inside = |folder: std::path::PathBuf| {
        let entries = fs_err::read_dir(folder).expect("there is a cache");
        entries.map(|entry| entry.expect("it can be read").path())
    };
    let agents = inside(environment.home(".cache/anemone/agents"));
    let mut folders =
        agents.flat_map(|agent| inside(agent.join("index"))).filter(|path| path.is_dir());
    let folder = folders.next().expect("there is an index");
    assert_eq!(folders.next(), None, "and no other");
    folder
}

#[test]
fn an_index_that_is_damaged_is_made_anew_and_answers_the_same() {
    let environment = tea_shop();
    let ask = || {
        ["network router", "tea", "成都", "hazelnuts"]
            .map(|query| ranking(&search(&environment, query, &[])))
    };
    let before = ask();
    let folder = index_folder(&environment);
    let files: Vec<_> =
        ["seal.json", "index.sqlite", "lexical/meta.json"].map(|value| folder.join(value)).into();
    for file in files.iter().filter(|file| file.is_file()) {
        for damage in [&b""[..], b"garbage that is no database and no JSON"] {
            fs_err::write(file, damage).unwrap();
            assert_eq!(ask(), before, "{}", file.display());
        }
        fs_err::remove_file(file).unwrap();
        assert_eq!(ask(), before, "{}", file.display());
    }
    fs_err::remove_dir_all(&folder).unwrap();
    assert_eq!(ask(), before);
    fs_err::remove_dir_all(environment.home(".cache")).unwrap();
    assert_eq!(ask(), before);
}

#[test]
fn an_index_lies_where_it_is_told_and_says_so_when_it_cannot() {
    let environment = tea_shop();
    let before = search(&environment, "router", &["--index-dir", "my-index"]);
    assert!(environment.exists("my-index"));
    assert!(!environment.home(".cache").exists());
    environment.write("taken", "a file");
    let ran = environment.run(["search", "router", "-w", "ws", "--index-dir", "taken/index"]);
    let answer = ran.document();
    if ran.code == 0 {
        assert_eq!(answer["notes"][0]["code"], "index_not_kept");
        assert_eq!(ranking(&answer), ranking(&before));
    }
}

#[test]
fn a_folder_of_somebody_elses_is_never_taken_for_an_index() {
    let environment = tea_shop();
    environment.write_below("mine/diary.md", "dear diary");
    environment.failure(2, ["search", "tea", "-w", "ws", "--index-dir", "mine"]);
    assert_eq!(environment.read("mine/diary.md"), b"dear diary");
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

#[test]
fn an_empty_workspace_says_that_there_is_nothing() {
    let environment = TestEnvironment::new();
    fs_err::create_dir_all(environment.path("ws/memory")).unwrap();
    let text = environment.human(["search", "tea", "-w", "ws"]);
    assert!(text.contains("there is nothing to search"), "{text}");
}

/// What the end of a session leaves when a question stayed open.
fn open_session(question: &str, reply: &str) -> String {
    format!(
        "# Session: 2026-11-16 08:00:00 UTC\n\n- **Session Key**: agent:main:main\n\
         - **Session ID**: abc\n- **Source**: claude-code\n\n## Conversation Summary\n\n\
         user: {question:?}\nassistant: {reply:?}\n"
    )
}

#[test]
fn a_fact_ranks_above_the_conversations_that_asked_for_it() {
    let environment = tea_shop();
    let question = "What is Lin allergic to?";
    let replies = ["I do not know that.", "I could not find it.", "Sorry, no idea."];
    for (number, reply) in replies.into_iter().enumerate() {
        let name = format!("ws/memory/2026-11-16-lin-allergic-{number}.md");
        environment.write(&name, open_session(question, reply));
    }
    for embedder in ["none", "builtin"] {
        let answer = search(&environment, question, &["--embedder", embedder]);
        assert_eq!(paths(&answer)[0], "MEMORY.md", "{answer}");
        // The three questions are one hit.
        let asked: Vec<&Value> = hits(&answer)
            .iter()
            .filter(|hit| hit["text"].as_str().unwrap().starts_with("user: "))
            .collect();
        assert_eq!((asked.len(), &asked[0]["similar"]), (1, &2.into()), "{answer}");
    }
    let args = ["hook", "prompt", "--enable", "--message", question, "-w", "ws"];
    let recalled = environment.json(args);
    assert_eq!(recalled["memories"][0]["path"], "MEMORY.md", "{recalled}");
    let text = environment.human(["search", question, "-w", "ws", "--embedder", "none"]);
    assert!(text.contains("2 similar turns"), "{text}");
}

#[test]
fn gibberish_finds_nothing_and_scores_lie_between_0_and_1() {
    let environment = tea_shop();
    for query in ["asdfqwer zxcv", "qwrtplk vbnmxz ghjk"] {
        let answer = search(&environment, query, &[]);
        assert_eq!(hits(&answer).len(), 0, "{answer}");
        let codes: Vec<&Value> =
            answer["notes"].as_array().unwrap().iter().map(|array| &array["code"]).collect();
        assert_eq!(codes, ["too_weak"], "{answer}");
        assert!(!hits(&search(&environment, query, &["--min-score", "0"])).is_empty());
    }
    let text = environment.human(["search", "asdfqwer zxcv", "-w", "ws"]);
    assert!(text.starts_with("nothing found for \"asdfqwer zxcv\""), "{text}");
    for query in ["hazelnuts", "green tea delivery", "Lin Lin Lin", "the"] {
        let answer = search(&environment, query, &[]);
        assert!(!hits(&answer).is_empty(), "{query}");
        for hit in hits(&answer) {
            let score = hit["score"].as_f64().unwrap();
            assert!(score > 0.0 && score < 1.0, "{hit}");
        }
        let best = hits(&answer)[0]["score"].as_f64().unwrap();
        let least = format!("{}", best - 1e-9);
        let few = search(&environment, query, &["--min-score", &least]);
        assert_eq!(ranking(&few)[0], ranking(&answer)[0], "{query}");
        assert!(hits(&few).iter().all(|hit| hit["score"].as_f64().unwrap() >= best - 1e-9));
    }
    environment.failure(2, ["search", "tea", "-w", "ws", "--min-score", "1.5"]);
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
    // At any hour the day of one of them is not that of UTC.
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
fn remembering_something_in_a_folder_leaves_the_rest_of_it_searched() {
    let environment = TestEnvironment::new();
    environment.write_below("notes/recipes.md", "# Recipes\n\n- Pancakes need buttermilk.\n");
    let kind = |answer: &Value| answer["source"]["kind"].as_str().unwrap().to_owned();
    let before = environment.json(["search", "buttermilk", "-w", "notes"]);
    environment.json(["remember", "The oven runs hot.", "-w", "notes"]);
    for flags in [&["-w", "notes"][..], &["-r", "folder", "-w", "notes"]] {
        let search = |word| environment.json(["search", word].iter().chain(flags));
        let answer = search("buttermilk");
        assert_eq!(paths(&answer)[0], "recipes.md", "{answer}");
        assert_eq!(kind(&answer), kind(&before));
        assert!(paths(&search("oven"))[0].starts_with("memory/"));
    }
    let more = ["remember", "The fridge hums.", "-r", "folder", "-w", "notes"];
    assert_eq!(environment.json(more)["written"], true);
    let failure = environment.failure(2, ["search", "x", "-r", "folders", "-w", "notes"]);
    assert!(failure["hint"].as_str().unwrap().contains("folder"), "{failure}");
}

#[test]
fn a_folder_that_is_not_there_is_named() {
    let environment = TestEnvironment::new();
    let failure = environment.failure(1, ["search", "tea", "-w", "nope"]);
    assert_eq!(failure["error"], "there is no folder nope");
}

#[test]
fn what_was_superseded_is_marked_and_stands_below_what_holds() {
    let environment = tea_shop();
    let remember = |args: &[&str]| environment.json(["remember", "-w", "ws"].iter().chain(args));
    let old = remember(&["The ferry to Heligoland leaves at nine, at nine sharp"]);
    let id = old["id"].as_str().expect("it has an id").to_owned();
    remember(&["The ferry to Heligoland now leaves at noon", "--supersedes", &id]);
    let answer = search(&environment, "when does the ferry to Heligoland leave at nine", WORDS);
    let found: Vec<_> = hits(&answer)
        .iter()
        .filter(|hit| hit["text"].as_str().is_some_and(|text| text.contains("ferry")))
        .map(|hit| (hit["superseded"] == true, hit["superseded_by"].clone()))
        .collect();
    let citation = hits(&answer)[0]["citation"].clone();
    assert_eq!(found, [(false, Value::Null), (true, citation.clone())], "{answer}");
    let text = environment.human(["search", "ferry Heligoland nine", "-w", "ws"]);
    let mark = format!("superseded by {}", citation.as_str().expect("it is text"));
    assert!(text.contains(&mark), "{text}");
}

#[test]
fn the_header_of_a_table_leads_to_its_rows_and_is_no_hit() {
    let environment = TestEnvironment::new();
    let table = "| person | drink |\n|-----|------|\n| Lin | oolong |\n| Ana | milk |\n";
    environment.write_below("ws/MEMORY.md", format!("# Memory\n\n{table}"));
    let answer = search(&environment, "person drink", WORDS);
    let texts: Vec<_> = hits(&answer).iter().map(|hit| hit["text"].as_str().unwrap()).collect();
    assert!(!texts.is_empty() && texts.iter().all(|text| !text.contains("person")), "{answer}");
    assert_eq!(hits(&answer)[0]["headings"], serde_json::json!(["Memory", "person | drink"]));
}

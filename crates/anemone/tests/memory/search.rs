//! Search: what is found, in which order, and that the index is never older than the files.

use std::collections::BTreeSet;
use std::path::PathBuf;

use anemone::agent::FOLDER;
use anemone::embedder::EmbedderSetting;
use anemone::hooks::HookInput;
use anemone::hooks::prompt::{PromptRequest, prompt};
use anemone::search::target::{TargetChoice, TargetError};
use anemone::search::{
    Citations, SearchError, SearchHit, SearchNote, SearchReport, SearchRequest, SourceNote, search,
};
use anemone_index::RankingChoice;
use anemone_memory::SessionKind;
use anemone_runtimes::ranking_profiles;
use anemone_testkit::sample;
use jiff::civil::{Date, date};
use serde_json::{Value, json};

use crate::support::memory::TestMemory;
use crate::support::typed;

/// A workspace about a tea shop: curated memory, two logs, a project.
pub(crate) fn tea_shop() -> TestMemory {
    TestMemory::with(&[
        (
            "MEMORY.md",
            "# Memory\n\n## Lin\n\n- Allergic to hazelnuts.\n- Drinks oolong in the evening.\n\n\
             ## 家里的规矩\n\n妈妈住在成都，每个星期天上午十点打视频。\n",
        ),
        (
            "memory/2026-01-15.md",
            "## Morning\n\nThe delivery came: twelve kilograms of green tea instead of two.\n\n\
             ## Evening\n\nThe network was gone because the cat slept on the router.\n",
        ),
        (
            "memory/2026-03-20.md",
            "## Morning\n\nThe second delivery was late; the supplier blames the fog.\n\
             Ordered a new router for the network.\n",
        ),
        (
            "memory/project-aquarium.md",
            "## Herr Krause\n\nThe hermit crab needs water at 25 degrees and never any copper.\n",
        ),
        // What tells a workspace from any folder of notes.
        ("SOUL.md", "# Soul\n\nCalm.\n"),
        ("IDENTITY.md", "# Identity\n\nClawdia.\n"),
    ])
}

/// Compares words only: a text that has none of the words is no hit.
pub(crate) fn words_only(request: &mut SearchRequest) {
    request.embedder.embedder = Some(EmbedderSetting::None);
}

/// Returns the documents that were found, the best first.
pub(crate) fn paths(report: &SearchReport) -> Vec<&str> {
    report.hits.iter().map(|hit| hit.path.as_str()).collect()
}

/// Returns what must be equal when two answers are: all but when and how they were made.
fn ranking(report: &SearchReport) -> Vec<Value> {
    let shown = |hit: &SearchHit| json!([hit.citation, hit.score, hit.text, hit.matches, hit.date]);
    report.hits.iter().map(shown).collect()
}

#[test]
fn what_was_asked_for_comes_first_with_its_place() {
    let shop = tea_shop();
    let report = shop.search("what is Lin allergic to?");
    assert_eq!(report.query, "what is Lin allergic to?");
    assert_eq!(report.source.kind, "openclaw");
    assert_eq!(
        (report.mode.as_str(), report.model.as_deref()),
        ("hybrid", Some("anemone-table-1"))
    );
    assert_eq!((report.index.documents, report.index.added), (4, 4));
    assert!(report.took_ms > 0.0);
    let hit = &report.hits[0];
    assert_eq!(hit.path, "MEMORY.md");
    assert_eq!(hit.memory_type.as_deref(), Some("semantic"));
    assert_eq!(hit.namespace.as_deref(), Some("curated"));
    assert!(hit.headings.iter().any(|heading| heading == "Lin"), "{hit:?}");
    let (start, end) = (hit.start_line, hit.end_line);
    assert!(start <= 5 && 5 <= end, "{hit:?}");
    assert!(hit.text.contains("Allergic to hazelnuts."), "{hit:?}");
    let citation = if start == end {
        format!("MEMORY.md#L{start}")
    } else {
        format!("MEMORY.md#L{start}-L{end}")
    };
    assert_eq!(hit.citation, Some(citation));
    let mut marked = hit.matches.iter().map(|[from, to]| hit.text[*from..*to].to_lowercase());
    assert!(marked.any(|word| word == "allergic"), "{hit:?}");
}

#[test]
fn the_text_of_a_hit_is_that_of_its_lines() {
    let shop = tea_shop();
    for query in ["tea", "router network", "hermit crab", "成都"] {
        for hit in shop.search(query).hits {
            let file = shop.text(&hit.path);
            let (start, end) = (hit.start_line as usize, hit.end_line as usize);
            let lines: Vec<&str> = file.lines().skip(start - 1).take(end + 1 - start).collect();
            let text = hit.text.trim_end_matches('\n');
            assert!(lines.join("\n").contains(text), "{query}: {hit:?}");
        }
    }
}

#[test]
fn an_answer_is_never_older_than_the_files() {
    let shop = tea_shop();
    let note = "ws/memory/2026-02-01.md";
    let search = |query| shop.search_with(query, words_only);
    assert_eq!(search("zanzibar").hits.len(), 0);
    shop.write(note, "A postcard from Zanzibar.\n");
    let report = search("zanzibar");
    assert_eq!(paths(&report), ["memory/2026-02-01.md"]);
    assert_eq!(report.index.added, 1);
    // The same length, at once.
    shop.write(note, "A postcard from Tanzania.\n");
    assert_eq!(search("zanzibar").hits.len(), 0);
    assert_eq!(paths(&search("tanzania")), ["memory/2026-02-01.md"]);
    let renamed = "ws/memory/2026-02-02.md";
    fs_err::rename(shop.path(note), shop.path(renamed)).unwrap();
    assert_eq!(paths(&search("tanzania")), ["memory/2026-02-02.md"]);
    fs_err::remove_file(shop.path(renamed)).unwrap();
    let report = search("tanzania");
    assert_eq!(report.hits.len(), 0);
    assert_eq!((report.index.removed, report.index.documents), (1, 4));
    let quiet = shop.search("tea").index;
    assert_eq!((quiet.added, quiet.changed, quiet.removed), (0, 0, 0));
}

#[test]
fn the_first_hits_are_the_same_for_every_limit() {
    let shop = tea_shop();
    let search = |limit| {
        let query = "the morning delivery network";
        ranking(&shop.search_with(query, |request| request.limit = Some(limit)))
    };
    let all = search(50);
    assert!(all.len() >= 3, "{all:?}");
    for limit in 1..=all.len() {
        assert_eq!(search(u32::try_from(limit).unwrap()), all[..limit], "{limit}");
    }
}

#[test]
fn nothing_that_can_be_typed_is_an_error() {
    let shop = tea_shop();
    for query in [
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
    ] {
        assert_eq!(shop.search(query).query, query);
    }
    assert!(!shop.search(&"tea ".repeat(20_000)).hits.is_empty());
}

#[test]
fn a_query_that_asks_nothing_is_answered_with_that() {
    let shop = tea_shop();
    for query in ["", "  "] {
        let report = shop.search(query);
        assert_eq!(report.hits.len(), 0, "{query:?}");
        assert!(matches!(typed(&report.notes)[0], SearchNote::NothingAsked), "{:?}", report.notes);
    }
    let report = shop.search("-tea");
    assert_eq!(report.hits.len(), 0);
    assert!(matches!(typed(&report.notes)[0], SearchNote::OnlyExclusions), "{:?}", report.notes);
    for profile in others() {
        shop.search_with("", |request| request.ranking.profile = profile);
    }
}

/// Returns the rankings of other programs.
fn others() -> [RankingChoice; 3] {
    ["openclaw-2026.3", "openclaw-2026.9", "zeroclaw"].map(profile)
}

fn profile(name: &str) -> RankingChoice {
    RankingChoice::Other(ranking_profiles().find(|profile| profile.name() == name).unwrap())
}

#[test]
fn a_file_that_is_too_large_is_an_error_when_it_was_named() {
    let memory = TestMemory::new();
    let file = fs_err::File::create(memory.path("big.md")).unwrap();
    file.set_len((32 << 20) + 1).unwrap();
    let request = SearchRequest::new("tea", memory.target_at("big.md"));
    let error = search(&request, &memory.host).unwrap_err();
    assert!(matches!(error, SearchError::Target(TargetError::TooLarge(_))), "{error:?}");
}

#[test]
fn text_of_notepad_is_found() {
    let shop = tea_shop();
    let text = "# Tiere\r\n\r\nDas Axolotl heißt Günther.\r\n";
    let utf16: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
    shop.write("ws/memory/utf16.md", [b"\xff\xfe", &*utf16].concat());
    let report = shop.search_with("axolotl", words_only);
    assert_eq!(paths(&report), ["memory/utf16.md"]);
    assert_eq!((report.hits[0].start_line, &*report.hits[0].headings[0]), (3, "Tiere"));
    assert_eq!(shop.get("memory/utf16.md#L3").unwrap().text, "Das Axolotl heißt Günther.");
    shop.export("shop.alf");
    let report = shop.search_with("axolotl", |request| {
        words_only(request);
        request.target = shop.target_at("shop.alf");
    });
    assert_eq!(paths(&report), ["memory/utf16.md"]);
}

#[test]
fn what_is_excluded_is_in_no_hit() {
    let shop = tea_shop();
    let has_cat = |report: &SearchReport| report.hits.iter().any(|hit| hit.text.contains("cat"));
    assert!(has_cat(&shop.search("router")));
    let report = shop.search("router -cat");
    assert!(!has_cat(&report), "{report:?}");
    assert_eq!(paths(&report)[0], "memory/2026-03-20.md");
}

#[test]
fn words_in_quotes_stand_together() {
    let shop = tea_shop();
    assert_eq!(shop.search("\"second delivery\"").hits[0].path, "memory/2026-03-20.md");
    let missing = shop.search("\"delivery second\"");
    assert!(
        matches!(typed(&missing.notes)[0], SearchNote::PhraseNotFound(_)),
        "{:?}",
        missing.notes
    );
    assert!(!missing.hits.is_empty());
}

#[test]
fn chinese_finds_and_diacritics_do_not_matter() {
    let shop = tea_shop();
    shop.write("ws/memory/2026-04-01.md", "Café mit Käthe, über Straßen geredet.\n");
    assert_eq!(paths(&shop.search("妈妈住在哪里？"))[0], "MEMORY.md");
    assert_eq!(paths(&shop.search_with("cafe", words_only)), ["memory/2026-04-01.md"]);
}

#[test]
fn filters_leave_what_passes_them() {
    type Change = fn(&mut SearchRequest);
    let shop = tea_shop();
    let (january, march) = ("memory/2026-01-15.md", "memory/2026-03-20.md");
    let cases: [(Change, &[&str]); 6] = [
        (|request| request.paths = strings(&["memory/2026-*.md"]), &[january, march]),
        (
            |request| request.paths = strings(&["MEMORY.md", "memory/project-*"]),
            &["MEMORY.md", "memory/project-aquarium.md"],
        ),
        (
            |request| {
                let day = Some(date(2026, 1, 15));
                (request.since, request.until) = (day, day);
            },
            &[january],
        ),
        (|request| request.since = Some(date(2026, 2, 1)), &[march]),
        (|request| request.types = strings(&["episodic"]), &[january, march]),
        (|request| request.namespaces = strings(&["project"]), &["memory/project-aquarium.md"]),
    ];
    for (change, expected) in cases {
        let report = shop.search_with("the delivery network crab allergic", change);
        let found: BTreeSet<&str> = paths(&report).into_iter().collect();
        assert_eq!(found, expected.iter().copied().collect());
    }
    let report = shop.search_with("tea", |request| request.types = strings(&["nonsense"]));
    assert_eq!(report.hits.len(), 0);
    let SearchNote::FilteredOut { types: Some(types), namespaces: None } = typed(&report.notes)[0]
    else {
        panic!("{:?}", report.notes)
    };
    assert_eq!(types[0], "episodic");
    let report = shop.search_with("tea", |request| request.namespaces = strings(&["Daily"]));
    let SearchNote::FilteredOut { types: None, namespaces: Some(names) } = typed(&report.notes)[0]
    else {
        panic!("{:?}", report.notes)
    };
    assert!(names.iter().any(|name| name == "daily"), "{names:?}");
}

fn strings(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

#[test]
fn a_period_that_ends_before_it_begins_is_refused() {
    let shop = tea_shop();
    let period = |since: Date, until: Date| {
        shop.try_search("tea", |request| {
            (request.since, request.until) = (Some(since), Some(until));
        })
    };
    let error = period(date(2026, 2, 2), date(2026, 2, 1)).unwrap_err();
    assert!(matches!(error, SearchError::EmptyPeriod { .. }), "{error:?}");
    assert!(period(date(2026, 2, 1), date(2026, 2, 1)).is_ok());
}

#[test]
fn hits_are_as_long_as_asked() {
    let shop = tea_shop();
    shop.write("ws/memory/long.md", "The lighthouse keeper wrote another page. ".repeat(200));
    let report = shop.search_with("lighthouse keeper", |request| request.ranking.chars = 120);
    assert!(!report.hits.is_empty());
    for hit in &report.hits {
        assert!(hit.text.chars().count() <= 120, "{hit:?}");
    }
}

#[test]
fn a_score_is_explained_when_asked() {
    let shop = tea_shop();
    let plain = shop.search("tea");
    assert!(plain.hits[0].explain.is_none());
    let explained = shop.search_with("tea", |request| request.explain = true);
    assert!(explained.hits[0].explain.is_some(), "{explained:?}");
    assert_eq!(ranking(&plain), ranking(&explained));
}

#[test]
fn recency_importance_and_diversity_leave_something_to_find() {
    let shop = tea_shop();
    let changes: [fn(&mut SearchRequest); 5] = [
        |request| request.ranking.recency = Some(30.0),
        |request| request.ranking.recency = Some(7.0),
        |request| request.ranking.importance = true,
        |request| request.ranking.diversity = Some(0.7),
        |request| request.ranking.diversity = Some(0.5),
    ];
    for change in changes {
        assert!(!shop.search_with("delivery", change).hits.is_empty());
    }
}

#[test]
fn other_programs_rank_as_they_do() {
    let shop = tea_shop();
    // The first of them drops what scores below 0.35, which in a few files is everything.
    for (profile, found) in others().into_iter().zip([0, 2, 2]) {
        let report = shop.search_with("router", |request| request.ranking.profile = profile);
        assert_eq!(report.hits.len(), found, "{report:?}");
        let is_least = |note: &SearchNote| matches!(note, SearchNote::MinimumScore { .. });
        assert_eq!(typed(&report.notes).into_iter().any(is_least), found == 0, "{report:?}");
    }
}

#[test]
fn an_archive_is_searched_in_place_and_answers_as_the_workspace_does() {
    let shop = tea_shop();
    shop.export("shop.alf");
    for query in ["what is Lin allergic to?", "router network", "成都", "crab copper"] {
        let here = shop.search(query);
        let there = shop.search_with(query, |request| request.target = shop.target_at("shop.alf"));
        assert_eq!(there.source.kind, "archive");
        assert_eq!(paths(&here), paths(&there), "{query}");
        let cited = |report: &SearchReport| -> Vec<Option<String>> {
            report.hits.iter().map(|hit| hit.citation.clone()).collect()
        };
        assert_eq!(cited(&here), cited(&there), "{query}");
    }
}

#[test]
fn a_record_of_one_runtime_is_not_in_the_file_of_another() {
    let memory = TestMemory::new();
    let mut snapshot = sample::agent();
    let record = snapshot
        .records
        .iter_mut()
        .find(|record| record.source.origin_file.as_deref() == Some("MEMORY.md"))
        .unwrap();
    record.content = "The xylophone is in the attic.".to_owned();
    memory.write_archive("one.alf", &snapshot);
    let finds = |name: &str| {
        let target = memory.target_at(name);
        let report = memory.search_with("xylophone attic", |request| request.target = target);
        report.hits.iter().any(|hit| hit.text.contains("xylophone"))
    };
    // The file is what is searched.
    assert!(!finds("one.alf"));
    let record = snapshot.records.iter_mut().find(|record| record.content.contains("xylophone"));
    record.unwrap().source.runtime = "zeroclaw".to_owned();
    memory.write_archive("two.alf", &snapshot);
    assert!(finds("two.alf"));
}

#[test]
fn any_folder_of_markdown_is_searched() {
    let memory = TestMemory::new();
    memory.write("notes/a/deep/recipe.md", "# Plum cake\n\nTwo kilograms of plums.\n");
    memory.write("notes/readme.txt", "plums are not Markdown\n");
    let report = memory.search_with("plums", |request| request.target = memory.target_at("notes"));
    assert_eq!(report.source.kind, "folder");
    assert_eq!(paths(&report), ["a/deep/recipe.md"]);
}

#[cfg(unix)]
#[test]
fn links_are_not_followed_and_are_counted() {
    let shop = tea_shop();
    shop.write("secret.md", "The password is xylophone.\n");
    std::os::unix::fs::symlink(shop.path("secret.md"), shop.path("ws/memory/link.md")).unwrap();
    let report = shop.search_with("xylophone", words_only);
    assert_eq!(report.hits.len(), 0);
    assert_eq!(report.index.skipped["symlink"], 1);
}

/// Returns the folder of the one index in the cache.
fn index_folder(memory: &TestMemory) -> PathBuf {
    let inside =
        |folder: PathBuf| fs_err::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let agents = inside(memory.host.folders.own_cache().join("agents"));
    let mut folders = agents.flat_map(|agent| inside(agent.join("index"))).filter(|at| at.is_dir());
    let folder = folders.next().unwrap();
    assert_eq!(folders.next(), None, "there is no other");
    folder
}

#[test]
fn a_damaged_index_is_rebuilt_and_answers_the_same() {
    let shop = tea_shop();
    let ask =
        || ["network router", "tea", "成都", "hazelnuts"].map(|query| ranking(&shop.search(query)));
    let before = ask();
    let folder = index_folder(&shop);
    let files = ["seal.json", "index.sqlite", "lexical/meta.json"].map(|name| folder.join(name));
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
    fs_err::remove_dir_all(&shop.host.folders.cache).unwrap();
    assert_eq!(ask(), before);
}

#[test]
fn an_index_lies_where_it_is_told_and_says_so_when_it_cannot() {
    let shop = tea_shop();
    let search = |name: &str| {
        shop.try_search("router", |request| request.target.index_dir = Some(shop.path(name)))
    };
    let before = search("my-index").unwrap();
    assert!(shop.exists("my-index"));
    assert!(!shop.host.folders.cache.exists());
    shop.write("taken", "a file");
    if let Ok(report) = search("taken/index") {
        let note = typed(&report.notes)[0];
        let is_it = matches!(note, SearchNote::Source(SourceNote::IndexNotKept { .. }));
        assert!(is_it, "{note:?}");
        assert_eq!(ranking(&report), ranking(&before));
    }
}

#[test]
fn a_folder_of_somebody_elses_is_never_taken_for_an_index() {
    let shop = tea_shop();
    shop.write("mine/diary.md", "dear diary");
    let mine = shop.path("mine");
    let error = shop.try_search("tea", |request| request.target.index_dir = Some(mine));
    let error = error.unwrap_err();
    assert!(matches!(error, SearchError::Target(TargetError::IndexFolderTaken(_))), "{error:?}");
    assert_eq!(shop.read("mine/diary.md"), b"dear diary");
}

/// Returns the note that the end of a session leaves when a question stayed open.
fn open_session(question: &str, reply: &str) -> String {
    format!(
        "# Session: 2026-11-16 08:00:00 UTC\n\n- **Session Key**: agent:main:main\n\
         - **Session ID**: abc\n- **Source**: claude-code\n\n## Conversation Summary\n\n\
         user: {question:?}\nassistant: {reply:?}\n"
    )
}

#[test]
fn a_fact_ranks_above_the_conversations_that_asked_for_it() {
    let shop = tea_shop();
    let question = "What is Lin allergic to?";
    let replies = ["I do not know that.", "I could not find it.", "Sorry, no idea."];
    for (number, reply) in replies.into_iter().enumerate() {
        let name = format!("ws/memory/2026-11-16-lin-allergic-{number}.md");
        shop.write(&name, open_session(question, reply));
    }
    for embedder in ["none", "builtin"] {
        let report = shop.search_with(question, |request| {
            request.embedder.embedder = Some(embedder.parse().unwrap());
        });
        assert_eq!(paths(&report)[0], "MEMORY.md", "{report:?}");
        // The three questions are one hit.
        let asked: Vec<&SearchHit> =
            report.hits.iter().filter(|hit| hit.text.starts_with("user: ")).collect();
        assert_eq!((asked.len(), asked[0].similar), (1, 2), "{report:?}");
    }
    let request = PromptRequest {
        memory: shop.choice(),
        input: HookInput::default(),
        message: Some(question.to_owned()),
        session: None,
        enable: true,
    };
    let recalled = shop.run(|host| prompt(&request, host)).unwrap();
    assert_eq!(recalled.memories[0].path, "MEMORY.md", "{recalled:?}");
}

#[test]
fn gibberish_finds_nothing_and_scores_lie_between_0_and_1() {
    let shop = tea_shop();
    let with_least = |query: &str, least: f64| {
        shop.search_with(query, |request| request.ranking.min_score = Some(least))
    };
    for query in ["asdfqwer zxcv", "qwrtplk vbnmxz ghjk"] {
        let report = shop.search(query);
        assert_eq!(report.hits.len(), 0, "{report:?}");
        let withheld = match typed(&report.notes)[..] {
            [SearchNote::TooWeak { withheld }] => *withheld,
            _ => panic!("{report:?}"),
        };
        assert!(withheld > 0);
        assert!(!with_least(query, 0.0).hits.is_empty());
    }
    for query in ["hazelnuts", "green tea delivery", "Lin Lin Lin", "the"] {
        let report = shop.search(query);
        assert!(!report.hits.is_empty(), "{query}");
        for hit in &report.hits {
            assert!(hit.score > 0.0 && hit.score < 1.0, "{hit:?}");
        }
        let least = report.hits[0].score - 1e-9;
        let few = with_least(query, least);
        assert_eq!(ranking(&few)[0], ranking(&report)[0], "{query}");
        assert!(few.hits.iter().all(|hit| hit.score >= least));
    }
}

#[test]
fn remembering_something_in_a_folder_leaves_the_rest_of_it_searched() {
    let mut memory =
        TestMemory::with(&[("recipes.md", "# Recipes\n\n- Pancakes need buttermilk.\n")]);
    let before = memory.search("buttermilk");
    memory.remember("The oven runs hot.");
    for runtime in [None, Some(FOLDER.to_owned())] {
        memory.agent.runtime = runtime;
        let report = memory.search("buttermilk");
        assert_eq!(paths(&report)[0], "recipes.md", "{report:?}");
        assert_eq!(report.source.kind, before.source.kind);
        assert!(paths(&memory.search("oven"))[0].starts_with("memory/"));
    }
    assert!(memory.remember("The fridge hums.").written);
}

#[test]
fn a_superseded_entry_is_marked_and_ranks_below_the_one_that_holds() {
    let shop = tea_shop();
    let old = shop.remember("The ferry to Heligoland leaves at nine, at nine sharp");
    shop.remember_with("The ferry to Heligoland now leaves at noon", |request| {
        request.supersedes = Some(old.id.clone());
    });
    let query = "when does the ferry to Heligoland leave at nine";
    let report = shop.search_with(query, words_only);
    let found: Vec<_> = report
        .hits
        .iter()
        .filter(|hit| hit.text.contains("ferry"))
        .map(|hit| (hit.superseded, hit.superseded_by.clone()))
        .collect();
    let citation = report.hits[0].citation.clone();
    assert_eq!(found, [(false, None), (true, citation)], "{report:?}");
}

#[test]
fn the_header_of_a_table_leads_to_its_rows_and_is_no_hit() {
    let table = "| person | drink |\n|-----|------|\n| Lin | oolong |\n| Ana | milk |\n";
    let memory = TestMemory::with(&[("MEMORY.md", &format!("# Memory\n\n{table}"))]);
    let report = memory.search_with("person drink", words_only);
    assert!(!report.hits.is_empty(), "{report:?}");
    assert!(report.hits.iter().all(|hit| !hit.text.contains("person")), "{report:?}");
    assert_eq!(report.hits[0].headings, ["Memory", "person | drink"]);
}

#[test]
fn a_target_of_an_agent_and_a_path_are_two_places() {
    let shop = tea_shop();
    shop.write("notes/a.md", "Plums are blue.\n");
    let both = TargetChoice { path: Some(shop.path("notes/a.md")), ..shop.target() };
    let error = shop.try_search("tea", |request| request.target = both).unwrap_err();
    assert!(matches!(error, SearchError::Target(TargetError::TwoPlaces)), "{error:?}");
}

#[test]
fn hits_are_cited_except_where_that_is_not_wanted() {
    let shop = tea_shop();
    for (citations, session, is_cited) in [
        (Citations::Auto, None, true),
        (Citations::Auto, Some(SessionKind::Main), true),
        (Citations::Auto, Some(SessionKind::Heartbeat), true),
        (Citations::Off, None, false),
        (Citations::Off, Some(SessionKind::Main), false),
    ] {
        let report = shop.search_with("hazelnuts", |request| {
            (request.citations, request.session) = (citations, session);
        });
        let hit = &serde_json::to_value(&report).unwrap()["hits"][0];
        assert_eq!(hit.get("citation").is_some(), is_cited, "{citations:?} {session:?} {hit}");
        // A program still knows where the text is.
        assert_eq!((hit["path"].as_str(), hit["start_line"].is_u64()), (Some("MEMORY.md"), true));
    }
}

#[test]
fn a_session_gets_only_hits_that_it_may_see() {
    let shop = tea_shop();
    shop.write("ws/memory/2026-04-02.md", "- The hazelnuts are in the cellar.\n");
    for (session, is_cited, paths) in [
        (SessionKind::Group, false, &["memory/2026-04-02.md"][..]),
        (SessionKind::Cron, true, &[]),
        (SessionKind::Subagent, true, &[]),
    ] {
        let report = shop.search_with("hazelnuts", |request| request.session = Some(session));
        let found: Vec<&str> = report.hits.iter().map(|hit| &*hit.path).collect();
        assert_eq!(found, paths, "{session:?}");
        let hits = serde_json::to_value(&report).unwrap()["hits"].clone();
        let cited = |hit: &serde_json::Value| hit.get("citation").is_some() == is_cited;
        assert!(hits.as_array().unwrap().iter().all(cited), "{hits}");
        let is_withheld = |note: &&SearchNote| matches!(note, SearchNote::NotForSession { .. });
        assert!(typed(&report.notes).iter().any(is_withheld), "{report:?}");
    }
}

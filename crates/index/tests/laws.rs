//! Laws for every index: the order depends on the documents alone, a larger limit only appends
//! hits, every query has an answer, and a damaged index is rebuilt.

mod common;

use anemone_index::{FolderSource, Hit, Index, MarkdownFolder, NoProgress, Request};
use anemone_testkit::notes::{GeneratedNote, notes};
use common::{NOW, Place, Shelf, answer_of, refreshed};

/// Enough notes for ties and for candidates that are cut off.
const NOTES: usize = 70;

fn shelf(notes: &[GeneratedNote]) -> Shelf {
    let shelf = Shelf::default();
    notes.iter().for_each(|note| shelf.put(&note.path, &note.markdown));
    shelf
}

/// Two hundred questions: about lines, about one word, about content of many notes.
fn questions(notes: &[GeneratedNote]) -> Vec<String> {
    let words = notes.iter().flat_map(|note| note.question.split_whitespace().nth(5));
    let own = notes.iter().map(|note| note.question.clone());
    let plain =
        ["Maria", "John", "what did we say", "2000-01-02", "january", "\"the\"", "Maria -John"];
    own.chain(words.map(str::to_owned))
        .chain(plain.map(str::to_owned))
        .chain(notes.windows(2).map(|pair| format!("{} {}", pair[0].question, pair[1].question)))
        .take(200)
        .collect()
}

fn answers(index: &Index, questions: &[String]) -> Vec<Vec<Place>> {
    questions.iter().map(|question| answer_of(index, question, 10)).collect()
}

fn check(index: &Index, questions: &[String], wanted: &[Vec<Place>]) {
    for (question, wanted) in questions.iter().zip(wanted) {
        assert_eq!(answer_of(index, question, 10), *wanted, "{question}");
    }
}

#[test]
fn the_order_depends_on_the_documents_alone() {
    let all: Vec<GeneratedNote> = notes(1).take(NOTES).collect();
    let questions = questions(&all);
    assert_eq!(questions.len(), 200);
    let folder = tempfile::tempdir().unwrap();
    let wanted = answers(&refreshed(&folder.path().join("whole"), &shelf(&all)), &questions);
    assert!(wanted.iter().filter(|hits| !hits.is_empty()).count() > 180);

    // Built step by step, with intermediate versions, and in another order.
    let grown = folder.path().join("grown");
    let shelf = Shelf::default();
    for (at, note) in all.iter().rev().enumerate() {
        shelf.put(&note.path, &note.markdown);
        if at % 10 == 3 {
            shelf.put(&note.path, "- **Maria**: something else entirely about zebras.\n");
            shelf.put("memory/wrong.md", &format!("{} {at}", note.question));
            drop(refreshed(&grown, &shelf));
            shelf.put(&note.path, &note.markdown);
            shelf.remove("memory/wrong.md");
            drop(refreshed(&grown, &shelf));
        }
    }
    check(&refreshed(&grown, &shelf), &questions, &wanted);

    // Cleared and filled again.
    let mut index = Index::open(&grown).unwrap();
    index.clear();
    assert_eq!(index.refresh(&[&shelf], NOW, &NoProgress).unwrap().documents, NOTES as u64);
    check(&index, &questions, &wanted);
}

#[test]
fn a_damaged_index_is_built_again_and_ranks_the_same() {
    let all: Vec<GeneratedNote> = notes(2).take(20).collect();
    let questions = questions(&all);
    let shelf = shelf(&all);
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("index");
    let wanted = answers(&refreshed(&place, &shelf), &questions);
    for file in common::files(&place) {
        if file.ends_with("lock") || file.ends_with("embeddings.sqlite") {
            continue;
        }
        for damage in common::DAMAGES {
            // Every build has other file names in its lexical index.
            let Some(file) = common::same_kind(&place, &file) else { continue };
            damage(&file);
            let mut index = Index::open(&place).unwrap();
            let freshness = index.refresh(&[&shelf], NOW, &NoProgress).unwrap();
            assert_eq!(freshness.documents, 20, "{}", file.display());
            assert!(freshness.rebuilt.is_some(), "{}", file.display());
            check(&index, &questions[..20], &wanted);
        }
    }
    fs_err::remove_dir_all(&place).unwrap();
    check(&refreshed(&place, &shelf), &questions, &wanted);
}

#[test]
fn more_hits_only_add_to_fewer() {
    let all: Vec<GeneratedNote> = notes(3).take(30).collect();
    let folder = tempfile::tempdir().unwrap();
    let index = refreshed(folder.path(), &shelf(&all));
    for question in questions(&all).iter().step_by(5) {
        let many = answer_of(&index, question, 40);
        for limit in [1, 2, 3, 7, 20] {
            let few = answer_of(&index, question, limit);
            assert_eq!(few, many[..limit.min(many.len())], "{question}");
        }
        for diversity in [0.0, 0.5, 0.9] {
            let ask = |limit| {
                let mut request = Request::new(question.as_str(), NOW);
                (request.limit, request.diversity) = (limit, Some(diversity));
                let hits = index.search(&request, &[]).unwrap().hits;
                hits.into_iter().map(|hit| hit.citation()).collect::<Vec<_>>()
            };
            let many = ask(30);
            assert_eq!(ask(4), many[..4.min(many.len())], "{question}");
        }
    }
}

#[test]
fn whatever_is_typed_has_an_answer() {
    let all: Vec<GeneratedNote> = notes(4).take(10).collect();
    let shelf = shelf(&all);
    shelf.put("memory/odd.md", common::ODD_NOTES);
    let folder = tempfile::tempdir().unwrap();
    let index = refreshed(folder.path(), &shelf);
    for query in common::ODD_QUERIES {
        let request = Request::new(*query, NOW);
        assert!(index.search(&request, &[]).is_ok(), "{query:?}");
    }
    let long =
        ["x".repeat(100_000), "a b ".repeat(50_000), "\"".repeat(10_000), "数".repeat(50_000)];
    for query in long {
        assert!(index.search(&Request::new(query, NOW), &[]).is_ok());
    }
    let mut random = common::Random(9);
    for _ in 0..5_000 {
        let query = random.query();
        assert!(index.search(&Request::new(query.as_str(), NOW), &[]).is_ok(), "{query:?}");
    }
}

#[test]
fn what_is_quoted_is_found_and_what_is_excluded_is_not() {
    let shelf = Shelf::default();
    shelf.put("a.md", "- the red fox sleeps\n- the fox is red\n- a red fox and a hound\n");
    let folder = tempfile::tempdir().unwrap();
    let index = refreshed(folder.path(), &shelf);
    let lines = |query: &str| -> Vec<u32> {
        let hits = answer_of(&index, query, 10).into_iter();
        let mut lines: Vec<u32> = hits.flat_map(|(_, start, end, _)| start..=end).collect();
        lines.sort_unstable();
        lines
    };
    assert_eq!(lines("red fox"), [1, 2, 3]);
    assert_eq!(lines("\"red fox\""), [1, 3]);
    assert_eq!(lines("red fox -hound"), [1, 2]);
    assert_eq!(lines("\"red hound\""), [1, 2, 3], "no text has it, so its words are looked for");
}

#[test]
fn what_is_quoted_is_found_however_it_is_joined() {
    let shelf = Shelf::default();
    let text = "- a well known tag\n- Ubuntu 20 04\n- 数据库 迁移\n- that went well\n";
    shelf.put("a.md", text);
    let folder = tempfile::tempdir().unwrap();
    let index = refreshed(folder.path(), &shelf);
    for (query, line) in [
        ("\"well-known\"", 1),
        ("\"#tag\"", 1),
        ("\"Ubuntu 20.04\"", 2),
        ("\"数据库迁移\"", 3),
        ("\"went we'll\"", 4),
    ] {
        let answer = index.search(&Request::new(query, NOW), &[]).unwrap();
        assert_eq!(answer.notes, [], "{query}");
        let lines: Vec<u32> = answer.hits.iter().map(|hit| hit.start_line).collect();
        assert_eq!(lines, [line], "{query}");
    }
}

/// The paths of all hits.
fn paths(hits: &[Hit]) -> Vec<&str> {
    hits.iter().map(|hit| hit.path.as_str()).collect()
}

#[test]
fn words_that_were_removed_change_nothing() {
    let mut words: Vec<String> = ('a'..='n').map(|letter| format!("zebrad{letter}g")).collect();
    words.extend(["zeabradg", "zebbradg", "zebraadg", "zebrabdg", "zebracdg"].map(str::to_owned));
    words.push("zebradgs".to_owned());
    let shelf = Shelf::default();
    for (at, word) in words.iter().enumerate() {
        shelf.put(&format!("memory/{at:02}.md"), &format!("We saw a {word} there.\n"));
    }
    shelf.put("memory/left.md", "We saw a zebradog here.\n");
    // So many stay that removing the others does not trigger a merge.
    for at in 0..200 {
        shelf.put(&format!("memory/kept{at:03}.md"), &format!("Nothing on day {at}.\n"));
    }
    let folder = tempfile::tempdir().unwrap();
    let grown = folder.path().join("grown");
    drop(refreshed(&grown, &shelf));
    for at in 0..words.len() {
        shelf.remove(&format!("memory/{at:02}.md"));
    }
    let grown = refreshed(&grown, &shelf);
    let fresh = refreshed(&folder.path().join("fresh"), &shelf);
    let wanted = answer_of(&fresh, "zebradg", 10);
    assert_eq!(wanted.len(), 1);
    assert_eq!(answer_of(&grown, "zebradg", 10), wanted);
}

#[test]
fn an_exclusion_leaves_what_is_not_excluded_however_many_are() {
    let shelf = Shelf::default();
    for at in 0..300 {
        shelf.put(&format!("memory/{at:03}.md"), "tea tea tea green\n");
    }
    shelf.put("memory/black.md", "We were out of milk and drank a cup of black tea.\n");
    let folder = tempfile::tempdir().unwrap();
    let index = refreshed(folder.path(), &shelf);
    for query in ["tea -green", "tea -\"tea green\""] {
        let hits = index.search(&Request::new(query, NOW), &[]).unwrap().hits;
        assert_eq!(paths(&hits), ["memory/black.md"], "{query}");
    }
}

#[test]
fn a_day_is_found_in_a_document_of_many() {
    let shelf = Shelf::default();
    let first = jiff::civil::date(2015, 1, 1);
    let days: Vec<_> = first.series(jiff::ToSpan::days(1)).take(1_200).collect();
    // Each is a passage of its own.
    let long = "Nothing much happened, and that was good. ".repeat(14);
    let section = |(at, day): (usize, &jiff::civil::Date)| {
        let said = if at < 1_190 { "Tea tea tea." } else { "Fine weather, and some tea." };
        format!("## {day}\n\n{said}\n\n{long}\n\n")
    };
    shelf.put("memory/diary.md", &days.iter().enumerate().map(section).collect::<String>());
    let folder = tempfile::tempdir().unwrap();
    let index = refreshed(folder.path(), &shelf);
    let mut request = Request::new("tea", NOW);
    (request.since, request.limit) = (Some(days[1_190]), 20);
    let hits = index.search(&request, &[]).unwrap().hits;
    assert!(hits.iter().all(|hit| hit.date >= Some(days[1_190])), "{:?}", paths(&hits));
    let lines: u32 = hits.iter().map(|hit| hit.text.matches("weather").count() as u32).sum();
    assert_eq!(lines, 10);
    (request.since, request.until) = (None, Some(days[3]));
    let hits = index.search(&request, &[]).unwrap().hits;
    assert!(!hits.is_empty() && hits.iter().all(|hit| hit.date <= Some(days[3])));
}

#[test]
fn a_phrase_is_found_however_common_its_words_are() {
    let shelf = Shelf::default();
    for at in 0..1_500 {
        shelf.put(&format!("memory/{at:04}.md"), "plan plan day day\n");
    }
    let long = "Nothing much happened in the week, and we were glad of it. ".repeat(8);
    shelf.put("memory/long.md", &format!("{long}Then the day plan came.\n"));
    let folder = tempfile::tempdir().unwrap();
    let index = refreshed(folder.path(), &shelf);
    let answer = index.search(&Request::new("\"day plan\"", NOW), &[]).unwrap();
    assert_eq!(answer.notes, []);
    assert_eq!(paths(&answer.hits), ["memory/long.md"]);
    let answer = index.search(&Request::new("\"plan of the day\"", NOW), &[]).unwrap();
    assert!(
        matches!(&*answer.notes, [anemone_index::AnswerNote::PhraseNotFound(_), ..]),
        "{:?}",
        answer.notes
    );
}

#[test]
fn as_many_hits_as_are_asked_for_are_given() {
    let shelf = Shelf::default();
    for at in 0..301 {
        shelf.put(&format!("memory/{at:03}.md"), &format!("Cup {at} of tea.\n"));
    }
    let folder = tempfile::tempdir().unwrap();
    let index = refreshed(folder.path(), &shelf);
    let all = answer_of(&index, "tea", 1_000);
    assert_eq!(all.len(), 301);
    for limit in [1, 149, 150, 151, 300] {
        assert_eq!(answer_of(&index, "tea", limit), all[..limit]);
    }
}

#[test]
fn filters_hold() {
    let shelf = Shelf::default();
    for day in 1..=9 {
        let text = format!("# Day {day}\n\n- We drank tea number {day} with Maria.\n");
        shelf.put(&format!("memory/2026-01-0{day}.md"), &text);
        shelf.put(&format!("memory/other{day}.md"), "- Nobody said anything about it.\n");
    }
    shelf.put("memory/undated.md", "- Tea is good.\n");
    let folder = tempfile::tempdir().unwrap();
    let index = refreshed(folder.path(), &shelf);
    let ask = |change: &dyn Fn(&mut Request)| {
        let mut request = Request::new("tea", NOW);
        request.limit = 20;
        change(&mut request);
        index.search(&request, &[]).unwrap().hits
    };
    let hits = ask(&|request| request.paths = vec!["memory/2026-01-02.md".to_owned()]);
    assert_eq!(paths(&hits), ["memory/2026-01-02.md"]);
    let hits = ask(&|request| request.since = Some(jiff::civil::date(2026, 1, 8)));
    let late = ["memory/2026-01-08.md", "memory/2026-01-09.md"];
    assert!(!hits.is_empty() && paths(&hits).iter().all(|path| late.contains(path)));
    let hits = ask(&|request| request.until = Some(jiff::civil::date(2026, 1, 1)));
    assert!(paths(&hits).iter().all(|path| *path == "memory/2026-01-01.md"));
    for change in [
        &(|request: &mut Request| request.namespaces = vec!["nowhere".to_owned()])
            as &dyn Fn(&mut _),
        &|request: &mut Request| request.types = vec!["procedural".to_owned()],
        &|request: &mut Request| request.paths = vec!["elsewhere".to_owned()],
    ] {
        assert_eq!(paths(&ask(change)), [""; 0]);
    }
}

#[test]
fn what_was_removed_is_in_no_file_of_the_index() {
    let all: Vec<GeneratedNote> = notes(5).take(20).collect();
    let shelf = shelf(&all);
    let secret = "The pass phrase is hunterxsecretvalue and zweitgeheimnis.\n";
    shelf.put("memory/secret.md", secret);
    shelf.put("memory/changed.md", secret);
    let folder = tempfile::tempdir().unwrap();
    let has = |word: &str| {
        let found = |file: &std::path::PathBuf| {
            let bytes = fs_err::read(file).unwrap();
            bytes.windows(word.len()).any(|window| window == word.as_bytes())
        };
        common::files(folder.path()).into_iter().filter(found).collect::<Vec<_>>()
    };
    drop(refreshed(folder.path(), &shelf));
    assert!(!has("hunterxsecretvalue").is_empty(), "else this looks for nothing");
    shelf.remove("memory/secret.md");
    shelf.put("memory/changed.md", "There is none.\n");
    let index = refreshed(folder.path(), &shelf);
    assert_eq!(answer_of(&index, "hunterxsecretvalue", 5), []);
    drop(index);
    // A dictionary stores common parts of words only once.
    for piece in ["hunterxsecretvalue", "nterxsecretval", "weitgeheimni"] {
        assert_eq!(has(piece), Vec::<std::path::PathBuf>::new(), "{piece}");
    }
}

#[test]
fn whoever_writes_a_file_finds_it_at_once_beside_others() {
    let folder = tempfile::tempdir().unwrap();
    let (files, place) = (folder.path().join("files"), folder.path().join("index"));
    fs_err::create_dir(&files).unwrap();
    for at in 0..60 {
        fs_err::write(files.join(format!("old{at}.md")), "Something common.\n").unwrap();
    }
    std::thread::scope(|scope| {
        for worker in 0..8_u8 {
            let (files, place) = (&files, &place);
            scope.spawn(move || {
                let rules = Box::new(MarkdownFolder::default());
                let source = FolderSource::new(files.clone(), String::new(), rules);
                let mut index = Index::open(place).unwrap();
                let letter = char::from(b'a' + worker);
                for turn in 0..12_u8 {
                    // Words that are similar to no others.
                    let word = String::from_utf8(vec![b'a' + turn; 5]).unwrap();
                    let word = format!("{letter}{word}{letter}");
                    let name = format!("{word}.md");
                    fs_err::write(files.join(&name), format!("Only {word} is here.\n")).unwrap();
                    index.refresh(&[&source], NOW, &NoProgress).unwrap();
                    let hits = index.search(&Request::new(word.as_str(), NOW), &[]).unwrap().hits;
                    assert_eq!(hits.first().map(|hit| &hit.path), Some(&name), "turn {turn}");
                }
            });
        }
    });
}

#[test]
fn what_was_found_only_alike_is_said_and_nothing_else_is() {
    let shelf = Shelf::default();
    shelf.put("a.md", "# Plumbing\n\n- the other zebra sleeps\n- the fox is red\n");
    shelf.put("b.md", "# Circus\n\n- a zebra eats\n");
    let folder = tempfile::tempdir().unwrap();
    let index = refreshed(folder.path(), &shelf);
    let notes = |query: &str| index.search(&Request::new(query, NOW), &[]).unwrap().notes;
    assert_eq!(notes("zebras"), []);
    assert!(notes("zebrra").contains(&anemone_index::AnswerNote::OnlyAlike));
    assert_eq!(notes("other"), [], "a common word is a word");
    assert_eq!(notes("xyzzyq"), [], "nothing was found, so nothing is like it");
    let paths = |query: &str| -> Vec<String> {
        answer_of(&index, query, 10).into_iter().map(|(path, _, _, _)| path).collect()
    };
    assert_eq!(paths("zebra -circus"), ["a.md"], "a heading is part of a hit");
    assert_eq!(paths("fox"), ["a.md"], "one word asks for what has it");
}

#[test]
fn a_day_that_is_written_anywhere_grows_old() {
    let shelf = Shelf::default();
    shelf.put("front.md", "---\ndate: 1990-01-01\n---\n\n- tea note\n");
    shelf.put("heading.md", "## 1990-01-02\n\n- tea note\n");
    shelf.put("2026-10-01.md", "- tea note\n");
    let folder = tempfile::tempdir().unwrap();
    let index = refreshed(folder.path(), &shelf);
    let mut request = Request::new("tea", NOW);
    (request.recency_half_life, request.explain) = (Some(30.0), true);
    let hits = index.search(&request, &[]).unwrap().hits;
    for hit in hits {
        let parts = hit.explanation.unwrap().parts;
        let recency = parts.iter().find(|&&(name, _)| name == "recency").unwrap().1;
        let days = match &*hit.path {
            "front.md" => 13_528.0,
            "heading.md" => 13_527.0,
            _ => 106.0,
        };
        let left = (-std::f64::consts::LN_2 / 30.0 * days).exp();
        assert!((recency - left).abs() <= 1e-9 * left, "{} {recency} {left}", hit.path);
    }
    // However little of a score is left, the text has the word.
    request.recency_half_life = Some(0.01);
    let hits = index.search(&request, &[]).unwrap().hits;
    assert_eq!(hits.len(), 3);
    assert_eq!((&*hits[0].path, hits[2].score), ("2026-10-01.md", 0.0));
}

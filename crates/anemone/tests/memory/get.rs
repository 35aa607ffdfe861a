//! Reading documents and their lines.

use anemone::search::read::{LineRange, ReadDocumentError};

use super::search::tea_shop;
use crate::support::memory::TestMemory;

#[test]
fn a_citation_gets_the_lines_that_search_found() {
    let shop = tea_shop();
    for query in ["hazelnuts", "router", "成都", "crab"] {
        for hit in shop.search(query).hits {
            let read = shop.get(hit.citation.as_ref().unwrap()).unwrap();
            assert_eq!((&read.path, read.from), (&hit.path, hit.start_line as usize));
            assert!(read.text.contains(hit.text.trim_end_matches('\n')), "{read:?} {hit:?}");
        }
    }
}

#[test]
fn lines_are_named_behind_the_path_or_beside_it() {
    let memory = TestMemory::with(&[("MEMORY.md", "one\ntwo\nthree\nfour\nfive\n")]);
    let whole = memory.get("MEMORY.md").unwrap();
    assert_eq!((whole.from, whole.lines), (1, 5));
    assert_eq!((whole.truncated, whole.next_from), (false, None));
    let beside = memory.get_with("MEMORY.md", |request| {
        request.lines = LineRange { from: Some(2), lines: Some(3) };
    });
    for read in [memory.get("MEMORY.md:2:3"), memory.get("MEMORY.md#L2-L4"), beside] {
        let read = read.unwrap();
        assert_eq!(read.text.trim_end(), "two\nthree\nfour");
        assert_eq!((read.from, read.lines), (2, 3));
        assert_eq!((read.truncated, read.next_from), (true, Some(5)));
    }
    assert_eq!(memory.get("MEMORY.md:4").unwrap().text.trim_end(), "four\nfive");
    let beyond = memory.get("MEMORY.md:99").unwrap();
    assert_eq!((&*beyond.text, beyond.lines, beyond.total_lines), ("", 0, 5));
    let read = memory.get("./MEMORY.md:2:1").unwrap();
    assert_eq!((&*read.path, &*read.text), ("MEMORY.md", "two"));
    for wrong in [":0", ":3:0", ":-1", ":abc", "#L5-L3", "#L0"] {
        let error = memory.get(&format!("MEMORY.md{wrong}")).unwrap_err();
        assert!(matches!(error, ReadDocumentError::NotLines { .. }), "{wrong}: {error:?}");
    }
    let twice = memory.get_with("MEMORY.md:2", |request| request.lines.lines = Some(1));
    assert!(matches!(twice, Err(ReadDocumentError::LinesTwice)));
}

#[test]
fn a_long_document_says_where_to_go_on() {
    let lines: String = (1..=300).map(|number| format!("line {number}\n")).collect();
    let memory = TestMemory::with(&[("memory/long.md", &lines)]);
    let mut from = 1;
    let mut text = String::new();
    loop {
        let read = memory.get(&format!("memory/long.md:{from}")).unwrap();
        text.push_str(read.text.trim_end_matches('\n'));
        text.push('\n');
        assert_eq!(read.truncated, read.next_from.is_some());
        match read.next_from {
            Some(next) => from = next,
            None => break,
        }
    }
    assert_eq!(text, lines);
}

#[test]
fn a_long_line_is_read_whole_when_asked() {
    let line = format!("{}needle in a long line{}", "hay ".repeat(5000), " hay".repeat(5000));
    let memory = TestMemory::with(&[("memory/long.md", &format!("# Long\n\n{line}\nend\n"))]);
    let cut = memory.get("memory/long.md#L3").unwrap();
    assert_eq!((cut.cut, cut.line_chars), (true, Some(line.len())));
    let whole = memory.get_with("memory/long.md#L3", |request| request.chars = line.len());
    let whole = whole.unwrap();
    assert_eq!((&whole.text, whole.cut), (&line, false));
}

#[test]
fn nothing_outside_the_source_can_be_read() {
    let shop = tea_shop();
    shop.write("secret.md", "xylophone\n");
    shop.write("ws/notes.txt", "xylophone\n");
    shop.write("ws/.git/secret.md", "xylophone\n");
    let absolute = shop.path("secret.md").display().to_string();
    #[cfg(unix)]
    {
        use std::os::unix::fs::symlink;
        symlink("../../secret.md", shop.path("ws/memory/link.md")).unwrap();
        symlink("../..", shop.path("ws/memory/up")).unwrap();
    }
    for trick in [
        "../secret.md",
        "memory/../../secret.md",
        "./../secret.md",
        "memory/link.md",
        "memory/up/secret.md",
        "..\\secret.md",
        "%2e%2e/secret.md",
        "/proc/self/cwd/secret.md",
        "~/secret.md",
        "notes.txt",
        ".git/secret.md",
        "memory",
        "memory/",
        ".",
        "",
        &absolute,
    ] {
        let error = shop.get(trick).unwrap_err();
        assert!(matches!(error, ReadDocumentError::NotFound { .. }), "{trick}: {error:?}");
    }
}

#[test]
fn a_name_that_is_not_there_comes_with_similar_ones() {
    let error = tea_shop().get("2026-01-16.md:3").unwrap_err();
    let ReadDocumentError::NotFound { similar, .. } = error else { panic!("{error:?}") };
    assert!(similar.iter().any(|path| path == "memory/2026-01-15.md"), "{similar:?}");
}

#[test]
fn text_is_read_as_it_stands_there() {
    let memory = TestMemory::with(&[("MEMORY.md", "tab\there\nescape \u{1b}[31mred\n")]);
    assert_eq!(memory.get("MEMORY.md").unwrap().text, "tab\there\nescape \u{1b}[31mred");
}

#[test]
fn an_archive_is_read_in_place() {
    let shop = tea_shop();
    shop.export("shop.alf");
    let here = shop.get("memory/2026-01-15.md:1:3").unwrap();
    let archive = shop.target_at("shop.alf");
    let there = shop.get_with("memory/2026-01-15.md:1:3", |request| request.target = archive);
    assert_eq!(format!("{here:?}"), format!("{:?}", there.unwrap()));
}

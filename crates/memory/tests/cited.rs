//! Forgetting by citation: exactly the cited lines go, or nothing does.

use std::ops::Range;

use anemone_format::ProvenanceStamp;
use anemone_index::{Format, begins_turn, cited_lines};
use anemone_markdown::{Conventions, Page, outline, tables};
use anemone_memory::{Edit, ForgetPlanError, ForgetTarget, MarkdownLayout, MarkdownStore, units};
use proptest::prelude::*;

struct Place {
    folder: tempfile::TempDir,
    site: MarkdownStore,
}

impl Place {
    fn new(text: &str) -> Self {
        let folder = tempfile::tempdir().expect("the test made it");
        let root = folder.path().join("w");
        fs_err::create_dir_all(&root).expect("the test made it");
        fs_err::write(root.join("MEMORY.md"), text).expect("the test made it");
        let site = MarkdownStore::open(&root, &folder.path().join("s"), MarkdownLayout::PLAIN)
            .expect("the test made it");
        Self { folder, site }
    }

    /// Returns the file without the cited lines, or the lines that would have to be cited.
    fn without(&self, lines: (usize, usize)) -> Result<Option<String>, String> {
        let wanted = ForgetTarget::Ids(vec![citation(lines)]);
        match self.site.plan_forget(&wanted) {
            Ok(plan) => Ok(plan.change.edits.into_iter().next().map(|edit| match edit {
                Edit::Write { after, .. } => String::from_utf8(after).expect("the test made it"),
                other => panic!("{other:?} in {:?}", self.folder),
            })),
            Err(ForgetPlanError::Part { whole, .. }) => Err(whole),
            Err(error) => panic!("{error}"),
        }
    }
}

/// The conventions of a memory: a stamp ends its block.
const STAMPS: Conventions =
    Conventions { begins_turn, ends_block: |line| ProvenanceStamp::at_end_of(line).is_some() };

fn citation((first, last): (usize, usize)) -> String {
    if first == last {
        format!("MEMORY.md#L{first}")
    } else {
        format!("MEMORY.md#L{first}-L{last}")
    }
}

fn cited(text: &str) -> Vec<(usize, usize)> {
    let lines = cited_lines(text, Format::Markdown).into_iter();
    lines.map(|(first, last)| (first as usize, last as usize)).collect()
}

/// The lines that say something, byte for byte.
fn lines_with_text(text: &str) -> Vec<&str> {
    text.split_inclusive('\n').filter(|line| !line.trim().is_empty()).collect()
}

fn expected(text: &str, (first, last): (usize, usize)) -> Vec<&str> {
    let lines = text.split_inclusive('\n').enumerate();
    let kept = lines.filter(|(at, _)| !(first..=last).contains(&(at + 1)));
    kept.map(|(_, line)| line).filter(|line| !line.trim().is_empty()).collect()
}

#[test]
fn one_row_of_a_table_goes_and_its_head_stays() {
    let text =
        "# People\n\n| who | what |\n|-----|------|\n| Lin | tea |\n| Ana | coffee |\n\nend\n";
    let place = Place::new(text);
    let left = place.without((5, 5)).unwrap().unwrap();
    assert_eq!(left, text.replace("| Lin | tea |\n", ""));
    let plan =
        place.site.plan_forget(&ForgetTarget::Ids(vec!["MEMORY.md#L5-L6".to_owned()])).unwrap();
    assert_eq!(plan.tables_without_rows, ["MEMORY.md"]);
    let left = place.without((5, 6)).unwrap().unwrap();
    assert_eq!(left, "# People\n\n| who | what |\n|-----|------|\n\nend\n");
}

#[test]
fn a_comment_that_stays_open_does_not_take_the_blank_lines_at_the_end() {
    let stamp = "<!-- anemone: 019a89c2-7c11-7d3e-9f00-1c2d3e4f5a01 agent 2026-11-16T10:00:00Z -->";
    let text = format!("```\n- a {stamp}\n  ```\n<!-- a\n\n");
    assert_eq!(cited(&text), [(1, 3), (4, 4)]);
    assert_eq!(Place::new(&text).without((4, 4)), Err("MEMORY.md#L3-L4".to_owned()));
}

#[test]
fn one_blank_line_goes_with_the_last_entry() {
    for (text, left) in [
        ("- a\n\n- b\n\n- c\n\n", "- a\n\n- b\n\n"),
        ("- a\n\n- b\n\n- c\n", "- a\n\n- b\n"),
        ("- a\n\n- b\n\n- c", "- a\n\n- b\n"),
    ] {
        assert_eq!(Place::new(text).without((5, 5)).unwrap().unwrap(), left, "{text:?}");
    }
}

#[test]
fn one_numbered_item_goes_and_nested_items_go_with_theirs() {
    let place = Place::new("1. one\n2. two\n   - nested\n   - other\n3) three\n");
    assert_eq!(
        place.without((1, 1)).unwrap().unwrap(),
        "2. two\n   - nested\n   - other\n3) three\n"
    );
    assert_eq!(place.without((2, 2)), Err("MEMORY.md#L2-L4".to_owned()));
    assert_eq!(place.without((2, 4)).unwrap().unwrap(), "1. one\n3) three\n");
    // A nested item can be named by itself.
    assert_eq!(place.without((3, 3)).unwrap().unwrap(), "1. one\n2. two\n   - other\n3) three\n");
    assert_eq!(
        place.without((5, 5)).unwrap().unwrap(),
        "1. one\n2. two\n   - nested\n   - other\n"
    );
}

#[test]
fn a_part_of_something_is_refused_and_the_whole_is_named() {
    let stamp = "<!-- anemone: 019a89c2-7c11-7d3e-9f00-1c2d3e4f5a01 agent 2026-11-16T10:00:00Z -->";
    let text = format!(
        "---\ntitle: x\n---\nprose\nthat goes on\n\n```\ncode\n```\n- a\n  - b\n    - c\n  {stamp}\n"
    );
    let place = Place::new(&text);
    for (lines, whole) in [
        ((2, 2), "MEMORY.md#L1-L3"),
        ((5, 5), "MEMORY.md#L4-L5"),
        ((8, 8), "MEMORY.md#L7-L9"),
        ((10, 10), "MEMORY.md#L10-L13"),
        ((11, 11), "MEMORY.md#L11-L12"),
        ((13, 13), "MEMORY.md#L10-L13"),
        ((5, 8), "MEMORY.md#L4-L9"),
    ] {
        assert_eq!(place.without(lines), Err(whole.to_owned()), "{lines:?}");
    }
    assert!(place.without((11, 12)).unwrap().unwrap().ends_with(
        "- a\n  <!-- anemone: \
        019a89c2-7c11-7d3e-9f00-1c2d3e4f5a01 agent 2026-11-16T10:00:00Z -->\n"
    ));
    assert_eq!(place.without((6, 6)), Ok(None));
    assert_eq!(place.without((90, 91)), Ok(None));
}

#[test]
fn a_line_of_a_fence_cannot_go_without_its_block() {
    let fence = "- a\n  ```md\n  - looks like an item\n  | and | a row |\n  ```\n  - b\n- c\n";
    let place = Place::new(fence);
    for line in 2..=5 {
        assert_eq!(place.without((line, line)), Err("MEMORY.md#L1-L6".to_owned()), "{line}");
    }
    assert_eq!(place.without((6, 6)).unwrap().unwrap(), fence.replace("  - b\n", ""));
    // The fence of a nested item is removed with that item, and so is a line without indentation.
    let nested = "- a\n  - b\n    ~~~\n    - c\n    ~~~\n  lazy\n  - d\n";
    let place = Place::new(nested);
    for lines in [(2, 2), (4, 4), (4, 5), (6, 6)] {
        assert_eq!(place.without(lines), Err("MEMORY.md#L2-L6".to_owned()), "{lines:?}");
    }
    assert_eq!(place.without((2, 6)).unwrap().unwrap(), "- a\n  - d\n");
    let place = Place::new("> ```\n> - c\n> ```\n");
    assert_eq!(place.without((2, 2)), Err("MEMORY.md#L1-L3".to_owned()));
}

#[test]
fn the_head_of_a_table_cannot_go_without_its_rows() {
    let text = "above\n| who | what |\n|-----|------|\n| Lin | tea |\n| Ana | coffee |\n\nend\n";
    let place = Place::new(text);
    for lines in [(2, 2), (3, 3), (2, 3), (2, 4), (3, 5)] {
        assert_eq!(place.without(lines), Err("MEMORY.md#L2-L5".to_owned()), "{lines:?}");
    }
    assert_eq!(place.without((2, 5)).unwrap().unwrap(), "above\n\nend\n");
    assert_eq!(place.without((1, 1)).unwrap().unwrap(), &text[6..]);
    // Search cites a header without rows; it is removed together with its delimiter.
    let place = Place::new("| who |\n|-----|\n\nend\n");
    assert_eq!(cited("| who |\n|-----|\n\nend\n"), [(1, 1), (4, 4)]);
    assert_eq!(place.without((1, 1)), Err("MEMORY.md#L1-L2".to_owned()));
    assert_eq!(place.without((1, 2)).unwrap().unwrap(), "end\n");
    // So it is in a quotation, and where the rows have no bars at their ends.
    let place = Place::new("> | a |\n> |---|\n> | b |\n\nc | d\n--|--\ne\n");
    assert_eq!(place.without((1, 1)), Err("MEMORY.md#L1-L3".to_owned()));
    assert_eq!(place.without((5, 5)), Err("MEMORY.md#L5-L7".to_owned()));
    assert_eq!(place.without((3, 3)).unwrap().unwrap().lines().count(), 6);
    // A line that only looks like a delimiter has no table.
    let place = Place::new("|---|\n| a |\n");
    assert_eq!(place.without((1, 1)).unwrap().unwrap(), "| a |\n");
}

#[test]
fn what_is_found_below_a_rule_can_be_forgotten() {
    let place = Place::new("---\n- a fact\n---\n");
    assert_eq!(cited("---\n- a fact\n---\n"), [(2, 2)]);
    assert_eq!(place.without((2, 2)).unwrap().unwrap(), "---\n---\n");
    // So can front matter, and a heading with nothing below it.
    let place = Place::new("---\ntitle: x\n---\n# Lin is allergic\n");
    assert_eq!(cited("---\ntitle: x\n---\n# Lin is allergic\n"), [(1, 3), (4, 4)]);
    assert_eq!(place.without((1, 3)).unwrap().unwrap(), "# Lin is allergic\n");
    assert_eq!(place.without((4, 4)).unwrap().unwrap(), "---\ntitle: x\n---\n");
}

/// Lines of Markdown that a person may have written.
fn line() -> impl Strategy<Value = String> {
    let word = "[a-z]{1,4}( [a-z]{1,4})?";
    prop_oneof![
        3 => Just(String::new()),
        2 => word.prop_map(|text| text),
        2 => (0..5_usize, "[-*+]", word).prop_map(|(by, mark, text)| format!("{}{mark} {text}", " ".repeat(by))),
        2 => (0..5_usize, 1..12_u32, "[.)]", word)
            .prop_map(|(by, number, mark, text)| format!("{}{number}{mark} {text}", " ".repeat(by))),
        2 => (word, word).prop_map(|(one, other)| format!("| {one} | {other} |")),
        1 => (word, word).prop_map(|(one, other)| format!("{one} | {other}")),
        1 => prop_oneof![Just("|---|---|"), Just("---|---"), Just("---"), Just("==="), Just("***")]
            .prop_map(str::to_owned),
        1 => (1..4_usize, word).prop_map(|(level, text)| format!("{} {text}", "#".repeat(level))),
        1 => prop_oneof![Just("```"), Just("~~~"), Just("```sh"), Just("  ```")].prop_map(str::to_owned),
        1 => word.prop_map(|text| format!("> {text}")),
        1 => word.prop_map(|text| format!("  {text}")),
        1 => word.prop_map(|text| format!("\t{text}")),
        1 => word.prop_map(|text| format!("{text}: {text}")),
        1 => word.prop_map(|text| format!("- {text} <!-- anemone: \
            019a89c2-7c11-7d3e-9f00-1c2d3e4f5a01 agent 2026-11-16T10:00:00Z -->")),
        1 => prop_oneof![Just("<!-- a"), Just("b -->"), Just("<div>")].prop_map(str::to_owned),
    ]
}

fn markdown() -> impl Strategy<Value = String> {
    let matter = prop_oneof![3 => Just(""), 1 => Just("---\n"), 1 => Just("---\ntitle: x\n---\n")];
    let end = prop_oneof![Just("\n"), Just("\r\n")];
    (matter, prop::collection::vec(line(), 0..14), end, any::<bool>()).prop_map(
        |(matter, lines, end, is_ended)| {
            let mut text = matter.replace('\n', end) + &lines.join(end);
            if is_ended {
                text.push_str(end);
            }
            text
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn forgetting_a_citation_takes_its_lines_and_no_others(text in markdown()) {
        let place = Place::new(&text);
        let blocks = cited(&text);
        for (at, block) in blocks.iter().enumerate() {
            // A search cites a block, or several that follow each other.
            for other in blocks.iter().skip(at).take(3) {
                let lines = (block.0, other.1);
                match place.without(lines) {
                    Ok(Some(left)) => {
                        prop_assert_eq!(lines_with_text(&left), expected(&text, lines), "{:?}", lines);
                    }
                    Ok(None) => prop_assert!(false, "{:?} was found and cannot be forgotten", lines),
                    Err(whole) => {
                        // The suggested citation covers more, and can be forgotten.
                        let numbers = whole.strip_prefix("MEMORY.md#L").unwrap();
                        let (first, last) = numbers.split_once("-L").unwrap_or((numbers, numbers));
                        let more: (usize, usize) = (first.parse().unwrap(), last.parse().unwrap());
                        prop_assert!(more != lines && more.0 <= lines.0 && lines.1 <= more.1);
                        let left = place.without(more);
                        prop_assert!(left.is_ok(), "{more:?} was named for {lines:?}: {left:?}");
                        let left = left.unwrap().unwrap();
                        prop_assert_eq!(lines_with_text(&left), expected(&text, more));
                    }
                }
            }
        }
    }

    /// For any cited lines, no block of the outline and no head of a table is cut.
    #[test]
    fn a_citation_cuts_no_block_and_no_head_of_a_table(
        text in markdown(),
        first in 1_usize..16,
        more in 0_usize..4,
    ) {
        let blocks = outline(&text, STAMPS);
        let end = blocks.last().map_or(0, |block| block.lines.end as usize - 1);
        let lines = (first, (first + more).min(end));
        if let Ok(Some(left)) = Place::new(&text).without(lines) {
            prop_assert_eq!(lines_with_text(&left), expected(&text, lines));
            let removed = |block: &Range<u32>| {
                let lines_of = block.start as usize..block.end as usize;
                lines_of.filter(|line| (lines.0..=lines.1).contains(line)).count()
            };
            for block in &blocks {
                let last = text[block.bytes.clone()].lines().next_back().unwrap_or_default();
                // The stamp on the last line may be that of the entry around the block.
                let stamp = usize::from(last.trim_start().starts_with("<!-- anemone:"));
                let all = block.lines.len();
                let count = removed(&block.lines);
                prop_assert!(count == 0 || count == all || count + stamp == all, "{block:?}");
            }
            for table in tables(&blocks) {
                let is_whole = removed(&table.lines) == table.lines.len();
                prop_assert!(removed(&table.head) == 0 || is_whole, "{table:?}");
            }
        }
    }

    /// Entries are made of whole blocks, and no section begins within a block.
    #[test]
    fn entries_and_sections_are_made_of_blocks(text in markdown()) {
        let blocks = outline(&text, STAMPS);
        let begins = |line: usize| blocks.iter().any(|block| block.lines.start as usize == line);
        let ends = |line: usize| blocks.iter().any(|block| block.lines.end as usize - 1 == line);
        for unit in units(&text) {
            prop_assert!(begins(unit.lines.0) && ends(unit.lines.1), "{unit:?}");
        }
        for section in Page::parse(&text).sections() {
            let line = u32::try_from(section.line_start).unwrap();
            let cut = outline(&text, Conventions::PLAIN).into_iter().find(|block| {
                block.lines.start < line && line < block.lines.end
            });
            prop_assert!(cut.is_none(), "a section begins in line {line} of {text:?}: {cut:?}");
        }
    }
}

/// The places where CommonMark ends HTML, code and link definitions decide which lines are
/// headings, and thus the sections. These cases were found by the law above, and by comparing
/// records.
#[test]
fn headings_behind_html_code_and_definitions_begin_blocks() {
    for (text, line) in [
        ("<div>\n```\n\n## a", 4),
        ("<div>\n<!-- open\n\n## a\n\n- b\n", 4),
        ("</div>\n<pre>\n\n## a\n", 4),
        ("- <!-- open\n\n## a\n", 3),
        ("\ta\na: a\n---", 2),
        ("    - d\ntext\n---\n", 2),
        ("[r]: u\ntext\n- \n", 2),
        ("> a\n<!-- a\nb -->\n| a | a |\n---", 4),
    ] {
        let sections = Page::parse(text).sections();
        assert!(sections.last().unwrap().heading.is_some(), "{text:?}");
        let blocks = outline(text, Conventions::PLAIN);
        assert!(
            blocks.iter().any(|block| u64::from(block.lines.start) == line),
            "{text:?}: {blocks:?}"
        );
    }
}

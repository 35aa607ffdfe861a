//! Any text that goes to another runtime comes back unchanged.

use proptest::prelude::*;

use super::*;

fn rough_text() -> impl Strategy<Value = String> {
    let line = proptest::sample::select(vec![
        "## Heading",
        "##\tTab",
        "Setext\n---",
        "```",
        "~~~",
        "<!--",
        "-->",
        "<pre>",
        "| a | b |\n|---|---|\n| 1 | 2 |",
        "- [decision|i=0.9] text #tag",
        "会議 🦞",
        "    ## code",
        "> ## quoted",
        "",
        "---",
        "\u{feff}",
        "text",
    ]);
    let end = prop_oneof![Just("\n"), Just("\r\n"), Just("\r"), Just("\n\n"), Just("")];
    proptest::collection::vec((line, end), 0..8)
        .prop_map(|lines| lines.into_iter().flat_map(|(line, end)| [line, end]).collect::<String>())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn rows_of_any_text_are_known_again(texts in proptest::collection::vec((0..5_usize, rough_text()), 1..9)) {
        const SHELVES: [&str; 5] = ["core", "daily", "procedural", "active-context", "curated"];
        let mut original = snapshot();
        original.manifest.agent.source_runtime = OTHER.to_owned();
        for (number, (shelf, text)) in texts.iter().enumerate() {
            let id = RecordId::new(uuid::Uuid::from_u128(number as u128 + 1));
            let created = at(&format!("2026-01-02T10:00:{number:02}Z"));
            let mut record = Record::new(id, original.manifest.agent.id, OTHER, created, text);
            record.namespace = SHELVES[*shelf].to_owned();
            original.records.push(record);
        }
        let (_, files) = planned(&original);
        let counts = fates(&read(&files), &original);
        prop_assert_eq!(counts, BTreeMap::from([("same", original.records.len())]));
    }

    #[test]
    fn files_of_any_text_come_back(text in rough_text(), more in rough_text()) {
        let files: Vec<File> = ["MEMORY.md", "memory/2026-01-15.md", "memory/gating-policies.md"]
            .iter()
            .map(|path| file(path, &format!("{text}{more}")))
            .chain([file("memory/active-context.md", &more)])
            .collect();
        let (_, back) = planned(&moved(&read(&files)));
        let changed = differences(&files, &back);
        prop_assert_eq!(changed, ["memory"]);
    }
}

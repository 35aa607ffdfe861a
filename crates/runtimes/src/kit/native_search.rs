//! How runtimes search and chunk memories themselves, for comparisons with our own search.

use anemone_index::{Document, RankingProfile};
use serde_json::value::RawValue;

use crate::RUNTIMES;

/// What a runtime does with memories that can be reproduced.
#[derive(Clone, Copy)]
pub struct NativeSearch {
    /// Its rankings, the oldest first.
    pub profiles: &'static [&'static dyn RankingProfile],
    /// How it cuts documents into chunks.
    pub chunkers: &'static [NativeChunker],
    /// How its tools answer with an excerpt of a document.
    pub excerpts: &'static [ExcerptShape],
}

/// A way to cut documents into chunks.
#[derive(Clone, Copy, Debug)]
pub struct NativeChunker {
    /// The name by which a user chooses it.
    pub name: &'static str,
    /// The program and its version, as people write them.
    pub title: &'static str,
    /// Cuts a document.
    pub cut: fn(&Document) -> Vec<NativeChunk>,
}

/// A chunk as a runtime stores it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NativeChunk {
    /// Its first line, from 1.
    pub start_line: u32,
    /// Its last line.
    pub end_line: u32,
    /// The id that the runtime gives it.
    pub id: String,
    /// SHA-256 of the text, in hex.
    pub hash: String,
    /// Characters of the text.
    pub chars: u64,
}

/// The JSON in which a runtime's tool answers with an excerpt.
#[derive(Clone, Copy, Debug)]
pub struct ExcerptShape {
    /// The name by which a user chooses it.
    pub name: &'static str,
    /// The program and its version, as people write them.
    pub title: &'static str,
    /// Composes the answer.
    pub answer: fn(&ExcerptQuestion<'_>) -> ExcerptAnswer,
}

/// Lines of a document that a tool was asked for.
#[derive(Clone, Copy, Debug)]
pub struct ExcerptQuestion<'a> {
    /// The document.
    pub path: &'a str,
    /// Its text; `None`: there is no such document.
    pub text: Option<&'a str>,
    /// The first line, from 1.
    pub from: Option<usize>,
    /// How many lines.
    pub lines: Option<usize>,
}

/// An answer, as JSON with the members in the order of the runtime.
pub type ExcerptAnswer = serde_json::Result<Box<RawValue>>;

/// Returns the rankings of all runtimes.
pub fn ranking_profiles() -> impl Iterator<Item = &'static dyn RankingProfile> {
    searches().flat_map(|search| search.profiles.iter().copied())
}

/// Returns the chunkers of all runtimes.
pub fn native_chunkers() -> impl Iterator<Item = &'static NativeChunker> {
    searches().flat_map(|search| search.chunkers)
}

/// Returns the excerpt shapes of all runtimes.
pub fn excerpt_shapes() -> impl Iterator<Item = &'static ExcerptShape> {
    searches().flat_map(|search| search.excerpts)
}

fn searches() -> impl Iterator<Item = &'static NativeSearch> {
    RUNTIMES.iter().filter_map(|runtime| runtime.native_search)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use anemone_index::{RankingChoice, Request};
    use proptest::prelude::*;

    use super::*;

    fn documents() -> Vec<Document> {
        let texts = [
            ("MEMORY.md", "# Memory\n- AND or NOT near\n- C++ 20.04 a:b \"quoted\" 100%\n"),
            ("memory/2026-01-01.md", "don't panic, 数据库 🦀 _x_ \u{0} é"),
            ("memories/a%2Fb", ""),
            ("memory/x.md", "-x *y (z) ^w {v}"),
        ];
        let document = |(path, text): (&str, &str)| Document {
            path: path.to_owned(),
            text: text.to_owned(),
            ..Document::default()
        };
        texts.into_iter().map(document).collect()
    }

    fn ask(documents: &[Document], query: &str) {
        for profile in ranking_profiles() {
            let request = Request::new(query, jiff::Timestamp::UNIX_EPOCH);
            let answer = profile.answer(documents, &request, None).unwrap();
            assert!(answer.hits.len() <= request.limit);
            assert!(answer.hits.iter().all(|hit| hit.score.is_finite()));
        }
    }

    #[test]
    fn no_query_is_an_error() {
        let documents = documents();
        for query in [
            "",
            " ",
            "*",
            "\"",
            "\"\"\"",
            "'",
            "don't",
            "C++",
            "20.04",
            "a:b",
            "-x",
            "^",
            "AND",
            "a AND",
            "NOT",
            "OR OR",
            "NEAR(",
            "NEAR(a b, 2)",
            "text:a",
            "{text id} : a",
            "a*",
            "**",
            "(",
            ")",
            "+",
            "a + b",
            "_",
            "_ AND _",
            "\u{0}",
            "a\u{0}b",
            "🦀",
            "数据库",
            "%",
            "\\",
            "./",
            ".",
            "/",
            "memory/",
            "é",
            "e\u{301}",
            "\u{301}",
            "\u{feff}",
            "' OR 1=1 --",
        ] {
            ask(&documents, query);
        }
    }

    #[test]
    fn a_query_of_a_hundred_thousand_words_is_answered() {
        let documents = documents();
        ask(&documents, &"panic x \"".repeat(100_000));
        ask(&documents, &"数".repeat(100_000));
        ask(&documents, &"a".repeat(1_000_000));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(200))]

        #[test]
        fn whatever_is_typed_is_answered(query in ".*") {
            ask(&documents(), &query);
        }

        #[test]
        fn whatever_looks_like_syntax_is_answered(
            query in "([\"*^(){}:+_.,%\\\\-]|AND|OR|NOT|NEAR|text|a|é|数| ){0,12}"
        ) {
            ask(&documents(), &query);
        }
    }

    #[test]
    fn names_are_unique_and_none_is_ours() {
        let names: Vec<&str> = ranking_profiles().map(RankingProfile::name).collect();
        assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), names.len());
        assert!(!names.contains(&RankingChoice::Anemone.name()));
        for name in native_chunkers().map(|chunker| chunker.name) {
            assert!(names.contains(&name), "{name} also ranks");
        }
        for name in excerpt_shapes().map(|shape| shape.name) {
            assert!(names.contains(&name), "{name} also ranks");
        }
    }
}

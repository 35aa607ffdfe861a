//! Whose ranking a search uses.
//!
//! Every profile but ours rebuilds, in memory, the tables that the other program keeps, and does
//! with them what that program does: the same hits, the same order, the same scores. They are there
//! to compare with, so nothing in them is improved.

mod openclaw;
mod vectors;
mod zeroclaw;

use anemone_embed::Embedder;

use crate::document::Document;
use crate::outline::openclaw::Generation;
use crate::request::{Answer, Request};

/// Whose ranking a search uses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Profile {
    /// Ours.
    #[default]
    Anemone,
    /// OpenClaw of March 2026.
    OpenClaw2026_3,
    /// OpenClaw of September 2026.
    OpenClaw2026_9,
    /// ZeroClaw 0.8.
    ZeroClaw,
}

impl Profile {
    /// All profiles, ours first.
    pub const ALL: [Self; 4] =
        [Self::Anemone, Self::OpenClaw2026_3, Self::OpenClaw2026_9, Self::ZeroClaw];

    /// Returns what people call it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Anemone => "anemone",
            Self::OpenClaw2026_3 => "openclaw-2026.3",
            Self::OpenClaw2026_9 => "openclaw-2026.9",
            Self::ZeroClaw => "zeroclaw",
        }
    }

    /// Returns the profile of a name.
    #[must_use]
    pub fn of_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|profile| profile.name() == name)
    }
}

/// Why another program's ranking could not be computed.
#[derive(Debug, thiserror::Error)]
pub enum ProfileError {
    /// The tables in memory.
    #[error("cannot rank as {profile} does")]
    Tables {
        /// Whose ranking.
        profile: &'static str,
        /// Why.
        source: rusqlite::Error,
    },
}

/// Answers a question as another program would, from these documents alone: filters have been
/// applied to them. [`Profile::Anemone`] has an index for that, and finds nothing here.
pub(crate) fn answer(
    profile: Profile,
    documents: &[Document],
    request: &Request,
    embedder: Option<&dyn Embedder>,
) -> Result<Answer, ProfileError> {
    let answer = match profile {
        Profile::Anemone => return Ok(nothing()),
        Profile::OpenClaw2026_3 => openclaw::march::answer(documents, request, embedder),
        Profile::OpenClaw2026_9 => openclaw::september::answer(documents, request, embedder),
        Profile::ZeroClaw => zeroclaw::answer(documents, request, embedder),
    };
    answer.map_err(|source| ProfileError::Tables { profile: profile.name(), source })
}

/// Hands out the texts of a document that a ranking compares by their vectors.
pub(crate) fn each_text(profile: Profile, document: &Document, take: &mut dyn FnMut(&str)) {
    match profile {
        Profile::Anemone => {}
        Profile::OpenClaw2026_3 => openclaw::each_text(document, Generation::Three, take),
        Profile::OpenClaw2026_9 => openclaw::each_text(document, Generation::Nine, take),
        Profile::ZeroClaw => take(&document.text),
    }
}

fn nothing() -> Answer {
    Answer {
        hits: Vec::new(),
        rankers: crate::request::Rankers { lexical: false, vectors: Vec::new() },
        notes: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
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
        for profile in Profile::ALL {
            let request = Request::new(query, jiff::Timestamp::UNIX_EPOCH);
            let answer = answer(profile, documents, &request, None).unwrap();
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
    fn every_profile_is_found_by_its_name() {
        for profile in Profile::ALL {
            assert_eq!(Profile::of_name(profile.name()), Some(profile));
        }
        assert_eq!(Profile::of_name("openclaw"), None);
        assert_eq!(Profile::of_name(""), None);
    }
}

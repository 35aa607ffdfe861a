//! What a section of a page says about itself: importance tags, hashtags, and the comments in which
//! OpenClaw keeps triggers, projects, observation dates and promotions.
//!
//! Nothing is removed from the text. What cannot be read is left alone. Code is never read, and a
//! comment is only read as an annotation.

use std::collections::HashSet;

use crate::kit::times;
use anemone_markdown::{HiddenKind, Page, Section, line_ends};
use anemone_memory::ImportanceTag;
use jiff::civil::Date;
use serde::Serialize;

/// What a section says about itself.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Labels {
    /// The first importance tag.
    pub(crate) category: Option<String>,
    /// From 0 to 1: the highest importance tag, else the highest importance comment, else the
    /// highest score of a promotion.
    pub(crate) confidence: Option<f64>,
    /// The file's category, importance tags, hashtags, `trigger:` and `project:` tags; each once.
    pub(crate) tags: Vec<String>,
    /// Every importance tag with its line.
    pub(crate) importance: Vec<TaggedLine>,
    /// Phrases that bring the section to mind.
    pub(crate) triggers: Vec<String>,
    /// Projects it belongs to.
    pub(crate) projects: Vec<String>,
    /// The latest day on which something in it was observed.
    pub(crate) observed: Option<Date>,
    /// Whether it still holds; it is only superseded when every part with a status says so.
    pub(crate) status: Option<Validity>,
    /// Entries that the runtime promoted from short-term memory.
    pub(crate) promotions: Vec<Promotion>,
}

/// A line with an importance tag such as `[decision|i=0.9]`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct TaggedLine {
    /// The line in the file, from 1.
    pub(crate) line: u64,
    /// The tag.
    pub(crate) tag: String,
    /// The score as it is written.
    #[serde(rename = "i")]
    pub(crate) score_text: String,
    /// The score, from 0 to 1.
    #[serde(skip)]
    pub(crate) score: f64,
}

/// Whether something still holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Validity {
    /// It still holds.
    Active,
    /// Something newer has replaced it.
    Superseded,
}

/// An entry that the runtime promoted from short-term memory.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Promotion {
    /// The runtime's key of the entry.
    pub(crate) key: String,
    /// The score it was promoted with, from 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) score: Option<f64>,
    /// The file and lines it came from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) source: Option<String>,
}

/// Reads the labels of a section; the first tag is the category of its file.
pub(crate) fn labels(page: &Page<'_>, section: &Section<'_>, file_category: &str) -> Labels {
    let mut reader = LabelReader {
        section,
        labels: Labels::default(),
        hashtags: Vec::new(),
        importance_comment: None,
        counted: 0,
        line: section.line_start,
    };
    let mut from = 0;
    for hidden in page.hidden_in(section.start..section.start + section.text.len()) {
        let start = hidden.range.start.saturating_sub(section.start).max(from);
        let end = (hidden.range.end - section.start).min(section.text.len());
        reader.prose(from, start);
        if hidden.kind == HiddenKind::Comment {
            reader.comment(start, end);
        }
        from = end.max(from);
    }
    reader.prose(from, section.text.len());
    reader.finish(file_category)
}

struct LabelReader<'a> {
    section: &'a Section<'a>,
    labels: Labels,
    hashtags: Vec<&'a str>,
    importance_comment: Option<u8>,
    /// Up to this byte of the section, line endings are counted in `line`.
    counted: usize,
    line: u64,
}

impl<'a> LabelReader<'a> {
    fn prose(&mut self, from: usize, to: usize) {
        let text = self.section.text;
        for at in memchr::memchr2_iter(b'[', b'#', &text.as_bytes()[from..to]) {
            let at = from + at;
            if text.as_bytes()[at] == b'#' {
                self.hashtags.extend(hashtag(&text[..at], &text[at + 1..to]));
            } else if !is_escaped(&text[..at])
                && let Some(found) = ImportanceTag::read(&text[at + 1..to])
            {
                let (line, score) = (self.line_at(at), found.importance.get());
                self.labels.category.get_or_insert_with(|| found.name.to_owned());
                raise(&mut self.labels.confidence, score);
                self.labels.importance.push(TaggedLine {
                    line,
                    tag: found.name.to_owned(),
                    score_text: found.score.to_owned(),
                    score,
                });
            }
        }
    }

    fn line_at(&mut self, at: usize) -> u64 {
        self.line += line_ends(&self.section.text[self.counted..at]);
        self.counted = at;
        self.line
    }

    fn comment(&mut self, start: usize, end: usize) {
        let comment = &self.section.text[start..end];
        let Some(body) = comment.strip_prefix("<!--").and_then(|rest| rest.strip_suffix("-->"))
        else {
            return;
        };
        let Some((name, value)) = body.split_once(':') else { return };
        // The runtime writes and reads an annotation on one line.
        if body.contains(['\n', '\r']) {
            return;
        }
        let value = value.trim();
        match name.trim().to_ascii_lowercase().as_str() {
            "trigger" => self.labels.triggers.extend(parts(value, &[',', ';'])),
            "project" => self.labels.projects.extend(parts(value, &[';'])),
            "importance" => {
                if let Ok(importance @ 1..=10) = value.parse::<u8>() {
                    self.importance_comment = self.importance_comment.max(Some(importance));
                }
            }
            "observed" => self.observation(value),
            "openclaw-memory-promotion"
                if !value.is_empty() && !value.contains(char::is_whitespace) =>
            {
                self.labels.promotions.push(promotion(value, &self.section.text[end..]));
            }
            _ => {}
        }
    }

    fn observation(&mut self, value: &str) {
        let (date, rest) = value.split_once('|').unwrap_or((value, ""));
        let Some(date) = times::date(date.trim()) else { return };
        let standing = match rest.split_once(':').map(|(name, word)| (name.trim(), word.trim())) {
            None if rest.is_empty() => None,
            Some(("status", "active")) => Some(Validity::Active),
            Some(("status", "superseded")) => Some(Validity::Superseded),
            _ => return,
        };
        self.labels.observed = self.labels.observed.max(Some(date));
        self.labels.status = match (self.labels.status, standing) {
            (None, new) => new,
            (old, None) => old,
            (Some(Validity::Superseded), Some(Validity::Superseded)) => Some(Validity::Superseded),
            _ => Some(Validity::Active),
        };
    }

    fn finish(mut self, file_category: &str) -> Labels {
        if self.labels.confidence.is_none() {
            self.labels.confidence = self.importance_comment.map(|number| f64::from(number) / 10.0);
        }
        if self.labels.confidence.is_none() {
            for score in self.labels.promotions.iter().filter_map(|promotion| promotion.score) {
                raise(&mut self.labels.confidence, score);
            }
        }
        let labels = &self.labels;
        let mut tags = Vec::new();
        let mut seen = HashSet::new();
        let mut add = |tag: String| {
            if !tag.is_empty() && seen.insert(tag.clone()) {
                tags.push(tag);
            }
        };
        add(file_category.to_owned());
        labels.importance.iter().for_each(|line| add(line.tag.clone()));
        self.hashtags.iter().for_each(|tag| add((*tag).to_owned()));
        labels.triggers.iter().for_each(|trigger| add(format!("trigger:{trigger}")));
        labels.projects.iter().for_each(|project| add(format!("project:{project}")));
        self.labels.tags = tags;
        self.labels
    }
}

/// Whether a backslash that is not itself escaped ends a text.
fn is_escaped(before: &str) -> bool {
    before.bytes().rev().take_while(|byte| *byte == b'\\').count() % 2 == 1
}

fn raise(confidence: &mut Option<f64>, score: f64) {
    *confidence = Some(confidence.map_or(score, |old| old.max(score)));
}

/// Reads what follows the `#` of a hashtag: a letter, then letters, digits, `_`, `-` and `/`.
fn hashtag<'a>(before: &str, after: &'a str) -> Option<&'a str> {
    let opens = match before.chars().next_back() {
        None => true,
        // `[text](#place)` and `[text]: #place` are addresses in this file.
        Some('(') => !before.ends_with("]("),
        Some(c) => c.is_whitespace() && !before.trim_end_matches([' ', '\t']).ends_with("]:"),
    };
    if !opens || !after.starts_with(char::is_alphabetic) {
        return None;
    }
    let end = after.find(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '-' | '/')));
    Some(after[..end.unwrap_or(after.len())].trim_end_matches(['-', '/']))
}

/// Reads a finite decimal number, moved into 0 to 1.
fn number(text: &str) -> Option<f64> {
    let decimal = text.bytes().all(|b| b.is_ascii_digit() || matches!(b, b'.' | b'-' | b'+'));
    let number = text.parse::<f64>().ok().filter(|number| decimal && number.is_finite())?;
    // A negative zero becomes a zero.
    Some(number.clamp(0.0, 1.0) + 0.0)
}

fn parts(value: &str, separators: &[char]) -> impl Iterator<Item = String> {
    value.split(separators).map(str::trim).filter(|part| !part.is_empty()).map(str::to_owned)
}

/// Reads the `[score=… source=…]` that closes the entry on the line below a promotion's comment.
fn promotion(key: &str, after: &str) -> Promotion {
    let mut found = Promotion { key: key.to_owned(), score: None, source: None };
    let Some(below) = after.trim_start_matches([' ', '\t']).strip_prefix(['\n', '\r']) else {
        return found;
    };
    let entry = below.trim_start().split(['\n', '\r']).next().unwrap_or_default();
    let Some((_, rest)) = entry.rsplit_once("[score=") else { return found };
    let Some((numbers, _)) = rest.split_once(']') else { return found };
    let mut words = numbers.split_whitespace();
    found.score = words.next().and_then(number);
    found.source = words.find_map(|word| word.strip_prefix("source=")).map(str::to_owned);
    found
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(text: &str) -> Labels {
        let page = Page::parse(text);
        let section = page.whole().pop().unwrap();
        labels(&page, &section, "daily")
    }

    fn tags(text: &str) -> Vec<String> {
        let mut tags = read(text).tags;
        assert_eq!(tags.remove(0), "daily");
        tags
    }

    #[test]
    fn importance_tags_give_category_confidence_and_lines() {
        let text = "x\n\n## A\r\n\r\n- [decision|i=0.9] a #ops\n- [context|i=0.3] b\n";
        let page = Page::parse(text);
        let section = page.sections().pop().unwrap();
        let found = labels(&page, &section, "daily");
        assert_eq!(found.category.as_deref(), Some("decision"));
        assert_eq!(found.confidence, Some(0.9));
        assert_eq!(found.tags, ["daily", "decision", "context", "ops"]);
        let lines =
            found.importance.iter().map(|one| (one.line, &*one.tag, &*one.score_text, one.score));
        assert_eq!(
            lines.collect::<Vec<_>>(),
            [(5, "decision", "0.9", 0.9), (6, "context", "0.3", 0.3)]
        );
    }

    #[test]
    fn a_score_lies_between_zero_and_one_or_does_not_count() {
        assert_eq!(read("[a|i=5] x").confidence, Some(1.0));
        assert_eq!(read("[a|i=-1] x").confidence, Some(0.0));
        for text in [
            "[a|i=inf]",
            "[a|i=NaN]",
            "[a|i=]",
            "[|i=1]",
            "[a b|i=1]",
            "[a|i=1",
            "[a|1]",
            "\\[escaped|i=0.7] x",
            "[link|i=0.4](https://example.org) x",
        ] {
            let found = read(text);
            assert_eq!((found.confidence, found.category), (None, None), "{text}");
        }
        let huge = format!("[a|i={}] x", "9".repeat(400));
        assert_eq!(read(&huge).confidence, None);
        assert_eq!(read("| a |\n|---|\n| [決定\\|i=0.7] |\n").category.as_deref(), Some("決定"));
    }

    #[test]
    fn hashtags_are_words_outside_code() {
        assert_eq!(
            tags("#start (#paren) #日本語 #a-b_c/d #end. #twice #twice"),
            ["start", "paren", "日本語", "a-b_c/d", "end", "twice"]
        );
        assert_eq!(tags("## Heading #work\n\n#NoSpace"), ["work", "NoSpace"]);
        for text in [
            "# Heading",
            "#123 x",
            "x#y",
            "##z",
            "https://example.com/#part https://example.com/a#b",
            "[link](#place) [ref]\n\n[ref]: #place",
            "`#code` x",
            "```c\n#include <a>\n```",
            "    #indented",
            "<!-- #comment -->",
            "\\#escaped",
            "# ",
            "#",
        ] {
            assert_eq!(tags(text), [""; 0], "{text}");
        }
    }

    #[test]
    fn annotations_of_an_entry_are_read() {
        let found = read(
            "- Keep the gateway on loopback. <!-- trigger: gateway setup, network safety --> <!-- importance: 9 --> <!-- project: github.com/o/r; other -->\n- b <!-- importance: 4 -->\n",
        );
        assert_eq!(found.triggers, ["gateway setup", "network safety"]);
        assert_eq!(found.projects, ["github.com/o/r", "other"]);
        assert_eq!(found.confidence, Some(0.9));
        assert_eq!(
            found.tags,
            [
                "daily",
                "trigger:gateway setup",
                "trigger:network safety",
                "project:github.com/o/r",
                "project:other"
            ]
        );
        assert_eq!(read("[a|i=0.2] <!-- importance: 9 -->").confidence, Some(0.2));
    }

    #[test]
    fn directives_have_a_date_and_a_standing() {
        let old = "<!-- observed: 2026-01-02 | status: superseded -->\n\n- Prefer a.\n";
        let new = "<!-- observed: 2026-03-04 | status: active -->\n- Prefer b.\n";
        let found = read(old);
        assert_eq!(found.observed, Some(Date::constant(2026, 1, 2)));
        assert_eq!(found.status, Some(Validity::Superseded));
        let both = read(&format!("{new}\n{old}"));
        assert_eq!(both.observed, Some(Date::constant(2026, 3, 4)));
        assert_eq!(both.status, Some(Validity::Active));
        assert_eq!(read("<!-- observed: 2026-01-02 -->").status, None);
    }

    #[test]
    fn malformed_annotations_and_examples_in_code_are_left_alone() {
        let nothing = Labels { tags: vec!["daily".into()], ..Labels::default() };
        for text in [
            "<!-- observed: YYYY-MM-DD | status: active -->",
            "<!-- observed: 2026-02-30 | status: active -->",
            "<!-- observed: 2026-02-03 | status: gone -->",
            "<!-- importance: 11 -->",
            "<!-- importance: high -->",
            "<!-- importance\n: 5 -->",
            "<!-- trigger: , ; -->",
            "<!-- openclaw-memory-promotion: -->",
            "<!-- importance: 5",
            "```md\n<!-- observed: 2026-02-03 | status: active -->\n```",
            "`<!-- importance: 5 -->`",
            "<!---->",
            "<!-->",
        ] {
            assert_eq!(read(text), nothing, "{text}");
        }
    }

    #[test]
    fn promotions_keep_their_key_and_source() {
        let text = "## Promoted From Short-Term Memory (2026-02-03)\n\n<!-- openclaw-memory-promotion:memory:abc -->\n- A snippet [x] [score=0.850 signals=4 recalls=3 avg=0.620 source=memory/2026-02-01.md:3-5] <!-- trigger: t -->\n";
        let found = read(text);
        assert_eq!(
            found.promotions,
            [Promotion {
                key: "memory:abc".into(),
                score: Some(0.85),
                source: Some("memory/2026-02-01.md:3-5".into()),
            }]
        );
        assert_eq!(found.confidence, Some(0.85));
        assert_eq!(found.triggers, ["t"]);
        let important = text.replace("trigger: t", "importance: 3");
        assert_eq!(read(&important).confidence, Some(0.3));
        let bare = read("<!-- openclaw-memory-promotion:k -->\n- no numbers\n");
        assert_eq!((bare.promotions[0].score, bare.confidence), (None, None));
    }

    #[test]
    fn many_labels_are_not_slow() {
        let many: String = (0..100_000).map(|i| format!("#t{i} [a{i}|i=0.5] ")).collect();
        let comments = "a <!-- openclaw-memory-promotion:k -->\n".repeat(50_000);
        let start = std::time::Instant::now();
        assert_eq!(read(&many).tags.len(), 200_001);
        assert_eq!(read(&format!("x {comments}")).promotions.len(), 50_000);
        read(&"[".repeat(1_000_000));
        read(&"#".repeat(1_000_000));
        read(&format!("x {}", "[a: #".repeat(200_000)));
        read(&format!("x {}", " #".repeat(500_000)));
        assert!(start.elapsed().as_secs() < 20);
    }

    proptest! {
        #[test]
        fn any_text_is_read(text in "\\PC{0,60}|[\\[\\]|i=0.9#a-c<!>: \n`-]{0,80}") {
            let page = Page::parse(&text);
            for section in page.sections() {
                let found = labels(&page, &section, "x");
                prop_assert!(found.confidence.is_none_or(|one| (0.0..=1.0).contains(&one)));
                for tagged in found.importance {
                    prop_assert!((section.line_start..=section.line_end).contains(&tagged.line));
                }
            }
        }
    }
}

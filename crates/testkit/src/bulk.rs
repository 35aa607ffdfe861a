//! Daily logs in any quantity, for benchmarks: a day at a time, the same for the same seed.
//!
//! The prose is meaningless, but it compresses like prose (about 2.5 to 1): words follow Zipf's
//! law, interspersed with numbers, hashes and addresses that compress badly. Fifty thousand records
//! are about 24 MB of Markdown and 52 MB of record lines.

#[cfg(feature = "rows")]
mod rows;
mod words;

use std::fmt::Write as _;

use anemone_format::{
    ExtractionMethod, File, FileRoot, MemoryType, Moment, Opaque, Record, Source, Temporal,
};
use jiff::civil::{Date, date};
use jiff::{Span, Timestamp};
use serde::Serialize;

use crate::sample;
use words::Words;

#[cfg(feature = "rows")]
pub use rows::write_brain;

/// Sections in one day's log.
pub const SECTIONS_A_DAY: usize = 50;

const FIRST_DAY: Date = date(2021, 1, 1);
const LINE_WIDTH: usize = 96;
const TAGS: &[&str] = &["decision", "milestone", "lesson", "context", "risk", "preference"];
const SCORES: &[(&str, f64)] =
    &[("0.9", 0.9), ("0.85", 0.85), ("0.7", 0.7), ("0.55", 0.55), ("0.3", 0.3)];
const TOPICS: &[&str] = &["infra", "finance", "family", "release", "memory", "travel", "health"];

/// One day of an agent's life.
#[derive(Clone, Debug, PartialEq)]
pub struct Day {
    /// Its log in the workspace, such as `memory/2021-01-01.md`.
    pub path: String,
    /// The log.
    pub markdown: String,
    /// When the log was last written.
    pub mtime: Moment,
    /// Its sections; joined, they are the log.
    pub records: Vec<Record>,
}

impl Day {
    /// Returns the log as a file of the workspace.
    #[must_use]
    pub fn file(&self) -> File {
        let root = FileRoot::Raw(sample::RUNTIME.to_owned());
        let mut file = File::new(root, &self.path, self.markdown.as_str());
        (file.mode, file.mtime) = (Some(0o644), Some(self.mtime.clone()));
        file
    }
}

/// Returns as many records as asked for, a day at a time; equal seeds give equal days.
pub fn bulk(seed: u64, records: usize) -> impl Iterator<Item = Day> {
    let mut source = Prose::new(seed);
    let mut left = records;
    let mut next = Some(FIRST_DAY);
    std::iter::from_fn(move || {
        let sections = left.min(SECTIONS_A_DAY);
        let today = next.filter(|_| sections > 0)?;
        left -= sections;
        next = today.tomorrow().ok();
        Some(source.day(today, sections))
    })
}

/// Steele, Lea and Flood's splitmix64: small, quick, and good enough for prose.
#[derive(Clone)]
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Returns a number below a bound, which is small enough to keep the bias negligible.
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    pub(crate) fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    pub(crate) fn pick<'a, T>(&mut self, list: &'a [T]) -> &'a T {
        let index = self.below(list.len() as u64);
        &list[usize::try_from(index).expect("an index of a list is a usize")]
    }
}

/// Writes prose that means nothing; clones go on alike.
#[derive(Clone)]
pub(crate) struct Prose {
    pub(crate) random: Random,
    words: Words,
}

/// What a section says of itself.
#[derive(Default)]
pub(crate) struct Labels {
    category: Option<&'static str>,
    confidence: Option<f64>,
    tags: Vec<&'static str>,
}

/// Where a section was, as an OpenClaw adapter writes it.
#[derive(Serialize)]
struct Place<'a> {
    line_start: usize,
    line_end: usize,
    heading: &'a str,
}

impl Prose {
    pub(crate) fn new(seed: u64) -> Self {
        Self { random: Random(seed), words: Words::new() }
    }

    fn day(&mut self, today: Date, sections: usize) -> Day {
        let path = format!("memory/{today}.md");
        let midnight = jiff::tz::Offset::UTC
            .to_timestamp(today.to_datetime(jiff::civil::Time::midnight()))
            .expect("days are some thousand years from the end of time");
        let evening = Span::new().hours(21).nanoseconds(123_456_001);
        let mtime = Moment::from(midnight + evening);
        let mut markdown = String::new();
        let mut records = Vec::with_capacity(sections);
        let mut line_start = 1;
        for index in 0..sections {
            let heading = self.heading();
            let (mut text, labels) = self.section(&heading);
            if index + 1 < sections {
                text.push('\n');
            }
            let line_end = line_start + text.lines().count() - 1;
            let place = Place { line_start, line_end, heading: &heading };
            markdown.push_str(&text);
            records.push(record(&path, index, text, &labels, &place, midnight, &mtime));
            line_start = line_end + 1;
        }
        Day { path, markdown, mtime, records }
    }

    pub(crate) fn heading(&mut self) -> String {
        let mut heading = format!("{} {}", self.word(), self.word());
        capitalise(&mut heading, 0);
        heading
    }

    pub(crate) fn section(&mut self, heading: &str) -> (String, Labels) {
        let mut text = format!("## {heading}\n\n");
        let mut paragraph = String::new();
        let length = 165 + self.random.below(400);
        while (paragraph.len() as u64) < length {
            if !paragraph.is_empty() {
                paragraph.push(' ');
            }
            self.sentence(&mut paragraph);
        }
        wrap(&paragraph, &mut text);
        let mut labels = Labels::default();
        if self.random.chance(45) {
            text.push('\n');
            for _ in 0..=self.random.below(2) {
                self.labelled_line(&mut text, &mut labels);
            }
        }
        (text, labels)
    }

    fn labelled_line(&mut self, text: &mut String, labels: &mut Labels) {
        let tag = *self.random.pick(TAGS);
        let (written, score) = *self.random.pick(SCORES);
        let topic = *self.random.pick(TOPICS);
        write!(text, "- [{tag}|i={written}] ").expect("a string takes any text");
        self.sentence(text);
        writeln!(text, " #{topic}").expect("a string takes any text");
        labels.category.get_or_insert(tag);
        labels.confidence = Some(labels.confidence.map_or(score, |old| old.max(score)));
        for label in [tag, topic] {
            if !labels.tags.contains(&label) {
                labels.tags.push(label);
            }
        }
    }

    pub(crate) fn sentence(&mut self, text: &mut String) {
        let start = text.len();
        let count = 6 + self.random.below(13);
        let odd = self.random.chance(25).then(|| self.random.below(count));
        for index in 0..count {
            if index > 0 {
                text.push(' ');
            }
            if odd == Some(index) {
                self.odd_word(text);
            } else {
                text.push_str(self.word());
            }
        }
        text.push('.');
        capitalise(text, start);
    }

    fn odd_word(&mut self, text: &mut String) {
        let number = self.random.next();
        let written = match self.random.below(6) {
            0 => write!(text, "PR-{}", number % 9999),
            1 => write!(text, "{:08x}", number & 0xffff_ffff),
            2 => write!(text, "v{}.{}.{}", number % 4, number / 4 % 20, number / 80 % 30),
            3 => write!(text, "`{}_{}.rs`", self.word(), self.word()),
            4 => write!(text, "https://example.com/{}/{}", self.word(), number % 1_000_000),
            _ => write!(text, "{}.{} ms", number % 500, number / 500 % 10),
        };
        written.expect("a string takes any text");
    }

    pub(crate) fn word(&mut self) -> &'static str {
        self.words.at(self.random.next())
    }
}

fn capitalise(text: &mut str, start: usize) {
    if let Some(first) = text.get_mut(start..start + 1) {
        first.make_ascii_uppercase();
    }
}

fn wrap(paragraph: &str, text: &mut String) {
    let mut width = 0;
    for word in paragraph.split(' ') {
        if width > 0 && width + 1 + word.len() > LINE_WIDTH {
            text.push('\n');
            width = 0;
        } else if width > 0 {
            text.push(' ');
            width += 1;
        }
        text.push_str(word);
        width += word.len();
    }
    text.push('\n');
}

fn record(
    path: &str,
    index: usize,
    content: String,
    labels: &Labels,
    place: &Place<'_>,
    midnight: Timestamp,
    mtime: &Moment,
) -> Record {
    let created_at = Moment::from(midnight);
    let id = sample::record_id(path, index);
    let tags = std::iter::once("daily").chain(labels.tags.iter().copied());
    let mut record = Record::new(id, sample::agent_id(), sample::RUNTIME, created_at.clone(), "");
    record.content = content;
    record.memory_type = MemoryType::Episodic;
    record.source = Source {
        origin: Some("workspace".to_owned()),
        origin_file: Some(path.to_owned()),
        extraction_method: Some(ExtractionMethod::AgentWritten),
        ..record.source
    };
    record.temporal = Temporal {
        updated_at: Some(mtime.clone()),
        observed_at: Some(created_at.clone()),
        ..Temporal::new(created_at)
    };
    record.namespace = "daily".to_owned();
    record.category = labels.category.map(str::to_owned);
    record.confidence = labels.confidence;
    record.tags = tags.map(str::to_owned).collect();
    record.raw_source_format = Some(Opaque::new(place).expect("a struct is a JSON object"));
    record
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_seeds_give_equal_days_and_others_do_not() {
        let days: Vec<Day> = bulk(7, 120).collect();
        assert_eq!(days, bulk(7, 120).collect::<Vec<_>>());
        assert_ne!(days, bulk(8, 120).collect::<Vec<_>>());
        let counts: Vec<usize> = days.iter().map(|day| day.records.len()).collect();
        assert_eq!(counts, [50, 50, 20]);
        assert_eq!(days[2].path, "memory/2021-01-03.md");
        assert_eq!(days[2].records[0].temporal.created_at.as_str(), "2021-01-03T00:00:00Z");
    }

    #[test]
    fn the_records_of_a_day_joined_are_its_log() {
        for day in bulk(1, 200) {
            let joined: String = day.records.iter().map(|record| record.content.as_str()).collect();
            assert_eq!(joined, day.markdown);
            assert!(day.markdown.lines().filter(|line| line.starts_with("## ")).count() == 50);
        }
    }

    #[test]
    fn the_first_record_stays_as_it_is() {
        // Do not change this expectation: numbers measured on other days would mean nothing.
        const FIRST: &str = "73c12b8b6ba734a9eaaef7c653d68086d401f6c41a64484a4ed84c449f0b7b96";
        let first = bulk(1, 1).next().unwrap().records.remove(0);
        assert_eq!(first.id.to_string(), sample::record_id("memory/2021-01-01.md", 0).to_string());
        assert_eq!(anemone_format::sha256_hex(first.content.as_bytes()), FIRST);
    }

    #[test]
    fn sizes_are_those_of_real_logs() {
        let (mut records, mut markdown, mut lines) = (0, 0, 0);
        for day in bulk(42, 5000) {
            records += day.records.len();
            markdown += day.markdown.len();
            let json =
                day.records.iter().map(|record| serde_json::to_string(record).unwrap().len() + 1);
            lines += json.sum::<usize>();
        }
        assert_eq!(records, 5000);
        assert!((460..490).contains(&(markdown / records)), "{}", markdown / records);
        assert!((1000..1080).contains(&(lines / records)), "{}", lines / records);
    }
}

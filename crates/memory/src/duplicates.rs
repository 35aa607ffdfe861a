//! Finds entries of a memory with the same text as a new one, or nearly the same.
//!
//! The index supplies the candidates: by the table's vectors, and by words for texts that the table
//! cannot read. The candidates are then read from the files themselves and compared literally. The
//! index is used without a refresh. Files that it has not seen are read as a whole while they are
//! small, such as the log to which entries are added one by one; only if they are large is the
//! index refreshed first.

mod rows;

use std::collections::{BTreeMap, BTreeSet};

use anemone_embed::{Builtin, Embedder as _, Purpose};
use anemone_index::Index;
use jiff::Timestamp;

use crate::entries::taken;
use crate::finder::{FindError, Finder};
use crate::page::{ParsedEntry, units};
use crate::sameness::{comparable, differs};
use crate::store::{MarkdownStore, MarkdownStoreError};

pub(crate) use self::rows::{row_duplicates, same_row};

/// Bytes of files that the index has not seen, which are read instead.
const READ_BYTES: u64 = 256 << 10;
/// The index has vectors of whole blocks, with marks and stamps: they are less alike than texts.
const LIKE: f32 = 0.7;
/// How many chunks are examined.
const CHUNKS: usize = 8;
/// Nearly equal texts share at least this part of their words.
const SHARED: f64 = 0.3;
/// So many are named.
const MOST: usize = 5;

/// An entry that says the same.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Duplicate {
    /// The file.
    pub path: String,
    /// Its first and last line there, from 1.
    pub lines: (usize, usize),
    /// What it says.
    pub text: String,
    /// Its id, where it has a stamp.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// How much it is alike: 1 is the same text, apart from case, whitespace, marks and tags.
    pub similarity: f64,
}

/// A text that is about to be written.
#[derive(Clone, Copy, Debug)]
pub struct Candidate<'a> {
    /// The text.
    pub text: &'a str,
    /// Its key: entries with other keys are no duplicates.
    pub key: Option<&'a str>,
    /// The key or id of the entry that it replaces: that entry is a duplicate only if it says
    /// exactly the same.
    pub supersedes: Option<&'a str>,
}

/// A search for entries that say what a text says.
#[derive(Clone, Copy)]
pub struct DuplicateSearch<'a> {
    /// The index that says where to look.
    pub finder: &'a Finder,
    /// The text.
    pub candidate: Candidate<'a>,
    /// From which cosine on two texts say the same.
    pub least: f64,
    /// The time.
    pub now: Timestamp,
}

/// Which entry is a duplicate of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DuplicateRule {
    /// None, whatever it says: it has another name.
    Never,
    /// One with the same text, letter by letter: it would be replaced by itself.
    WhenEqual,
    /// One that says the same.
    WhenAlike,
}

impl Candidate<'_> {
    fn rule_for(&self, key: Option<&str>, id: Option<&str>) -> DuplicateRule {
        let is_renamed = self.key.is_some() && key != self.key;
        let is_replaced = self.supersedes.is_some_and(|name| [key, id].contains(&Some(name)));
        match (is_replaced, is_renamed) {
            (true, true) => DuplicateRule::Never,
            (true, false) => DuplicateRule::WhenEqual,
            (false, true) if key.is_some() => DuplicateRule::Never,
            (false, _) => DuplicateRule::WhenAlike,
        }
    }

    /// Whether an entry says exactly the same; `wanted` is the text as it is compared.
    fn is_same(&self, key: Option<&str>, id: Option<&str>, content: &str, wanted: &str) -> bool {
        match self.rule_for(key, id) {
            DuplicateRule::Never => false,
            DuplicateRule::WhenEqual => self.is_equal(content),
            DuplicateRule::WhenAlike => comparable(&without_tags(content)) == wanted,
        }
    }

    fn is_equal(&self, content: &str) -> bool {
        without_tags(content) == without_tags(self.text)
    }
}

/// Finds entries that say the same as a text, the most similar first.
pub(crate) fn duplicates(
    site: &MarkdownStore,
    search: DuplicateSearch<'_>,
) -> Result<Vec<Duplicate>, MarkdownStoreError> {
    let wanted = ComparedText::new(search.candidate, search.least);
    let pages: BTreeSet<String> = site.pages()?.into_iter().map(|page| page.0).collect();
    // An index that cannot be used is no reason not to write: everything is read then.
    let places = wanted
        .places(site, search, &pages)
        .unwrap_or_else(|_| pages.iter().map(|page| (page.clone(), SearchedPart::Whole)).collect());
    let mut found: Vec<Duplicate> = Vec::new();
    for (path, place) in places {
        let Some(bytes) = site.read_bytes(&path)? else { continue };
        // A file that is not UTF-8 contains no duplicates.
        let Ok(text) = std::str::from_utf8(&bytes) else { continue };
        match place {
            SearchedPart::Whole => wanted.compare(&path, &units(text), 0, &mut found),
            SearchedPart::Lines(ranges) => {
                for (first, last) in ranges {
                    let part = lines(text, first, last);
                    wanted.compare(&path, &units(part), first.saturating_sub(1), &mut found);
                }
            }
        }
    }
    if !found.is_empty() {
        leave_out_superseded(site, &mut found)?;
    }
    Ok(in_order(found))
}

/// Finds an entry of a file that says exactly the same: a last look before something is written.
pub(crate) fn same_in(path: &str, text: &str, candidate: Candidate<'_>) -> Option<Duplicate> {
    let wanted = comparable(&without_tags(candidate.text));
    units(text).into_iter().find_map(|unit| {
        let id = unit.stamp.as_ref().map(|stamp| stamp.id.to_string());
        let is_same = candidate.is_same(unit.key.as_deref(), id.as_deref(), &unit.content, &wanted);
        is_same.then(|| Duplicate {
            path: path.to_owned(),
            lines: unit.lines,
            text: unit.content,
            id,
            similarity: 1.0,
        })
    })
}

/// Leaves out what others took the place of: it may become true again.
fn leave_out_superseded(
    site: &MarkdownStore,
    found: &mut Vec<Duplicate>,
) -> Result<(), MarkdownStoreError> {
    let all = site.entries()?;
    let taken = taken(&all.placed);
    let past: BTreeSet<(&str, usize)> = all
        .placed
        .iter()
        .filter(|placed| placed.is_superseded(&taken))
        .map(|placed| (placed.path.as_str(), placed.unit.lines.0))
        .collect();
    found.retain(|found| !past.contains(&(found.path.as_str(), found.lines.0)));
    Ok(())
}

/// Sorts duplicates by similarity, each once, up to the limit.
fn in_order(mut found: Vec<Duplicate>) -> Vec<Duplicate> {
    found.sort_by(|a, b| {
        let by_place = || (&a.path, a.lines).cmp(&(&b.path, b.lines));
        b.similarity.total_cmp(&a.similarity).then_with(by_place)
    });
    found.dedup_by(|a, b| (&a.path, a.lines) == (&b.path, b.lines));
    found.truncate(MOST);
    found
}

/// Where in a file to look.
#[derive(Debug)]
enum SearchedPart {
    Whole,
    /// First and last lines.
    Lines(BTreeSet<(usize, usize)>),
}

/// A text, ready to be compared.
struct ComparedText<'a> {
    candidate: Candidate<'a>,
    least: f64,
    plain: String,
    words: BTreeSet<String>,
    builtin: Builtin,
    vector: Vec<f32>,
}

impl<'a> ComparedText<'a> {
    fn new(candidate: Candidate<'a>, least: f64) -> Self {
        let builtin = Builtin::new();
        let text = without_tags(candidate.text);
        let vector = vector_of(&builtin, &text);
        let (plain, words) = (comparable(&text), words(&text));
        Self { candidate, least, plain, words, builtin, vector }
    }

    /// Asks the index where to look.
    fn places(
        &self,
        site: &MarkdownStore,
        DuplicateSearch { finder, now, .. }: DuplicateSearch<'_>,
        pages: &BTreeSet<String>,
    ) -> Result<BTreeMap<String, SearchedPart>, FindError> {
        let size = |path: &String| {
            fs_err::metadata(site.root().join(path)).map_or(0, |metadata| metadata.len())
        };
        let is_little =
            |paths: &mut dyn Iterator<Item = &String>| paths.map(size).sum::<u64>() <= READ_BYTES;
        // For so little no index is begun.
        if !finder.folder.is_dir() && is_little(&mut pages.iter()) {
            return Ok(pages.iter().map(|page| (page.clone(), SearchedPart::Whole)).collect());
        }
        let mut index = Index::open(&finder.folder)?;
        let sources: Vec<_> = finder.sources.iter().map(|source| &**source).collect();
        let mut unseen = index.unseen(&sources)?;
        unseen.retain(|unseen| pages.contains(unseen));
        if !is_little(&mut unseen.iter()) {
            index = finder.open(now)?;
            unseen.clear();
        }
        let mut places: BTreeMap<String, SearchedPart> =
            unseen.into_iter().map(|unseen| (unseen, SearchedPart::Whole)).collect();
        let near = match index.nearest(self.builtin.identity(), &self.vector, LIKE, CHUNKS) {
            // Nothing has ever been indexed, and all there is was just named.
            Err(anemone_index::StoreError::NotFilled) => return Ok(places),
            near => near.map_err(anemone_index::QueryError::from)?,
        };
        let held = index.with_words_of(self.candidate.text, CHUNKS / 2);
        let held = held.map_err(anemone_index::QueryError::from)?;
        for near in near.into_iter().chain(held) {
            if !pages.contains(&near.path) {
                continue;
            }
            let place =
                places.entry(near.path).or_insert_with(|| SearchedPart::Lines(BTreeSet::new()));
            if let SearchedPart::Lines(lines) = place {
                lines.insert((near.lines.0 as usize, near.lines.1 as usize));
            }
        }
        Ok(places)
    }

    /// Compares entries of a file, whose lines are counted from `offset` on.
    fn compare(
        &self,
        path: &str,
        units: &[ParsedEntry],
        offset: usize,
        found: &mut Vec<Duplicate>,
    ) {
        for unit in units {
            let id = unit.stamp.as_ref().map(|stamp| stamp.id.to_string());
            if !self.can_be_duplicate(unit.key.as_deref(), id.as_deref(), &unit.content) {
                continue;
            }
            let similarity = self.similarity(&unit.content);
            if similarity >= self.least {
                found.push(Duplicate {
                    path: path.to_owned(),
                    lines: (unit.lines.0 + offset, unit.lines.1 + offset),
                    text: unit.content.clone(),
                    id,
                    similarity,
                });
            }
        }
    }

    /// Whether an entry can be a duplicate.
    fn can_be_duplicate(&self, key: Option<&str>, id: Option<&str>, content: &str) -> bool {
        match self.candidate.rule_for(key, id) {
            DuplicateRule::Never => false,
            DuplicateRule::WhenEqual => self.candidate.is_equal(content),
            DuplicateRule::WhenAlike => true,
        }
    }

    fn similarity(&self, content: &str) -> f64 {
        let text = without_tags(content);
        if comparable(&text) == self.plain {
            return 1.0;
        }
        if differs(&text, self.candidate.text) {
            return 0.0;
        }
        let others = words(&text);
        let shared = others.intersection(&self.words).count() as f64;
        if shared < SHARED * others.len().min(self.words.len()) as f64 || shared == 0.0 {
            return 0.0;
        }
        let vector = vector_of(&self.builtin, &text);
        let dot = |a: &[f32], b: &[f32]| {
            a.iter().zip(b).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum::<f64>()
        };
        let norms = (dot(&vector, &vector) * dot(&self.vector, &self.vector)).sqrt();
        if norms > 0.0 { dot(&vector, &self.vector) / norms } else { 0.0 }
    }
}

fn vector_of(builtin: &Builtin, text: &str) -> Vec<f32> {
    let made = builtin.embed(&[text], Purpose::Document);
    made.ok().and_then(|mut value| value.pop()).unwrap_or_default()
}

/// Leaves out `#tags`, which say what a text is about, not what it says.
fn without_tags(text: &str) -> String {
    let is_tag = |word: &&str| word.len() > 1 && word.starts_with('#');
    let words: Vec<&str> = text.split_whitespace().filter(|word| !is_tag(word)).collect();
    words.join(" ")
}

fn words(text: &str) -> BTreeSet<String> {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|part| !part.is_empty());
    words.map(str::to_lowercase).collect()
}

/// Returns lines of a text, from 1, the last included.
fn lines(text: &str, first: usize, last: usize) -> &str {
    let mut ends = text.split_inclusive('\n').scan(0, |at, line| {
        *at += line.len();
        Some(*at)
    });
    let start = match first.checked_sub(2) {
        Some(before) => ends.nth(before).unwrap_or(text.len()),
        None => 0,
    };
    let end = ends.nth(last.saturating_sub(first)).unwrap_or(text.len());
    text.get(start..end).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_cut_out() {
        let text = "1\n2\n3\n4";
        assert_eq!(lines(text, 1, 1), "1\n");
        assert_eq!(lines(text, 2, 3), "2\n3\n");
        assert_eq!(lines(text, 4, 4), "4");
        assert_eq!(lines(text, 4, 9), "4");
        assert_eq!(lines(text, 9, 9), "");
    }

    fn similarity(one: &str, other: &str) -> f64 {
        let candidate = Candidate { text: one, key: None, supersedes: None };
        ComparedText::new(candidate, 0.95).similarity(other)
    }

    #[test]
    fn case_blanks_punctuation_and_tags_make_no_difference() {
        assert_eq!(similarity("The gateway  is UP.", "the gateway, is up #net"), 1.0);
        assert_eq!(
            similarity(
                "\u{6211}\u{559c}\u{6b22}\u{8336}\u{3002}",
                "\u{6211}\u{559c}\u{6b22}\u{8336}"
            ),
            1.0
        );
        assert_eq!(similarity("!!!", "???"), 0.0);
    }

    #[test]
    fn what_says_nearly_the_same_is_alike_and_another_thing_is_not() {
        let near = similarity(
            "The database is PostgreSQL 16 on the staging server.",
            "The database on the staging server is PostgreSQL 16.",
        );
        assert!(near >= 0.95, "{near}");
        let far = similarity("The database is PostgreSQL 16.", "Lunch on Friday with Ana at noon.");
        assert!(far < 0.5, "{far}");
        let related = similarity("Use tabs in Go files.", "Use spaces in Python files.");
        assert!(related < 0.95, "{related}");
    }
}

//! Finds entries of a memory that say what a new one says, or that it makes out of date.
//!
//! The index supplies the candidates: by the table's vectors, and by words for texts that the table
//! cannot read. The candidates are then read from the files themselves and compared literally. The
//! index is used without a refresh. Files that it has not seen are read as a whole while they are
//! small, such as the log to which entries are added one by one; only if they are large is the
//! index refreshed first.

mod rows;

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

use anemone_embed::{Builtin, Embedder as _, Purpose};
use anemone_format::{Origin, ProvenanceStamp};
use anemone_index::Index;
use jiff::Timestamp;

use crate::entries::taken;
use crate::entry::Category;
use crate::finder::{FindError, Finder};
use crate::page::{ParsedEntry, known_units, units};
use crate::sameness::{Relation, comparable, is_unfinished, relation, shared_words};
use crate::store::{MarkdownStore, MarkdownStoreError, PageKind};
use crate::superseded::text_name;

pub(crate) use self::rows::{same_row, similar_rows};

/// Bytes of files that the index has not seen, which are read instead.
const READ_BYTES: u64 = 256 << 10;
/// The index has vectors of whole blocks, with marks and stamps: they are less alike than texts.
const LIKE: f32 = 0.7;
/// How many chunks are examined.
const CHUNKS: usize = 8;
/// Similar texts share at least this part of their words.
const SHARED: f64 = 0.3;
/// So many are named.
const MOST: usize = 5;
/// From which similarity on an entry is named beside one that is written all the same.
const NEAR: f64 = 0.6;
/// What a text is said to have in common with one that has the same words, apart from endings and
/// from words without a meaning of their own.
const SAME_WORDS: f64 = 0.99;

/// What a memory says that is the same as a new text, or nearly; the most similar first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ComparedEntries {
    /// Entries that say the same.
    pub same: Vec<Duplicate>,
    /// Entries that give another value to the same thing, so that they no longer hold.
    pub outdated: Vec<OutdatedEntry>,
    /// Entries that no longer hold either, in a database that cannot mark them as superseded.
    pub unmarked: Vec<Duplicate>,
    /// Entries that say something similar, and may hold as well.
    pub near: Vec<Duplicate>,
}

/// An entry that does not hold any more once a new text does.
#[derive(Clone, Debug, PartialEq)]
pub struct OutdatedEntry {
    /// The entry.
    pub entry: Duplicate,
    /// Its key, where this program gave it one.
    pub key: Option<String>,
    /// What the new entry calls it: its id, or a name made of its text.
    pub name: String,
    /// Who stated it, or the most trusted who may have.
    pub author: Origin,
    /// The part of the memory that it is in.
    pub category: Category,
}

impl OutdatedEntry {
    /// Whether an entry from somewhere may take its place: one that is trusted at least as much.
    pub(crate) fn yields_to(&self, origin: Option<Origin>) -> bool {
        let may_overrule = |origin: Origin| matches!(origin, Origin::Owner | Origin::Agent);
        origin.is_some_and(|origin| may_overrule(origin) && origin <= self.author)
    }
}

/// Returns who may have stated an entry. A stamp whose content is lost may be the owner's; without a
/// stamp it is the agent's, which writes the same files.
fn author(stamp: Option<&ProvenanceStamp>) -> Origin {
    stamp.map_or(Origin::Agent, |stamp| stamp.origin.unwrap_or(Origin::Owner))
}

impl ComparedEntries {
    /// Adds an entry to those that are like it.
    fn sort_in(&mut self, mut found: OutdatedEntry, likeness: Likeness) {
        match likeness {
            Likeness::Same(similarity)
            | Likeness::Near(similarity)
            | Likeness::Outdated(similarity) => found.entry.similarity = similarity,
            Likeness::None => return,
        }
        match likeness {
            Likeness::Same(_) => self.same.push(found.entry),
            Likeness::Near(_) => self.near.push(found.entry),
            Likeness::Outdated(_) => self.outdated.push(found),
            Likeness::None => {}
        }
    }

    /// Sorts everything, each entry once, up to the limit.
    fn in_order(mut self) -> Self {
        self.outdated.sort_by(|a, b| by_similarity(&a.entry, &b.entry));
        self.outdated.dedup_by(|a, b| is_at_one_place(&a.entry, &b.entry));
        Self { same: in_order(self.same), near: in_order(self.near), ..self }
    }
}

/// An entry that says the same, or nearly.
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

/// Finds entries that say the same as a text, or that it makes out of date.
pub(crate) fn similar(
    site: &MarkdownStore,
    search: DuplicateSearch<'_>,
) -> Result<ComparedEntries, MarkdownStoreError> {
    let wanted = ComparedText::new(search.candidate, search.least);
    let pages: BTreeSet<String> = site.pages()?.into_iter().map(|page| page.0).collect();
    // An index that cannot be used is no reason not to write: everything is read then.
    let places = wanted
        .places(site, search, &pages)
        .unwrap_or_else(|_| pages.iter().map(|page| (page.clone(), SearchedPart::Whole)).collect());
    let table = site.stamps();
    let mut found = ComparedEntries::default();
    for (path, place) in places {
        let Some(bytes) = site.read_bytes(&path)? else { continue };
        // A file that is not UTF-8 contains no duplicates.
        let Ok(text) = std::str::from_utf8(&bytes) else { continue };
        match place {
            SearchedPart::Whole => wanted.compare(&path, &known_units(text, &table), 0, &mut found),
            SearchedPart::Lines(ranges) => {
                for (first, last) in ranges {
                    let part = known_units(lines(text, first, last), &table);
                    wanted.compare(&path, &part, first.saturating_sub(1), &mut found);
                }
            }
        }
    }
    leave_out_superseded(site, &mut found)?;
    Ok(found.in_order())
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
    found: &mut ComparedEntries,
) -> Result<(), MarkdownStoreError> {
    if found.same.is_empty() && found.outdated.is_empty() && found.near.is_empty() {
        return Ok(());
    }
    let found_in: BTreeSet<&str> = [&found.same, &found.near]
        .into_iter()
        .flatten()
        .chain(found.outdated.iter().map(|outdated| &outdated.entry))
        .map(|entry| entry.path.as_str())
        .collect();
    // Taking a file apart costs more than looking for a word in it.
    let may_tell =
        |path: &str, text: &str| found_in.contains(path) || text.contains(" supersedes=\"");
    let all = site.entries_where(&may_tell)?;
    let taken = taken(&all.placed);
    let past: BTreeSet<(&str, usize)> = all
        .placed
        .iter()
        .filter(|placed| placed.is_superseded(&taken))
        .map(|placed| (placed.path.as_str(), placed.unit.lines.0))
        .collect();
    let holds = |found: &Duplicate| !past.contains(&(found.path.as_str(), found.lines.0));
    found.same.retain(holds);
    found.near.retain(holds);
    found.outdated.retain(|outdated| holds(&outdated.entry));
    Ok(())
}

/// Sorts duplicates by similarity, each once, up to the limit.
fn in_order(mut found: Vec<Duplicate>) -> Vec<Duplicate> {
    found.sort_by(by_similarity);
    found.dedup_by(|a, b| is_at_one_place(a, b));
    found.truncate(MOST);
    found
}

fn by_similarity(one: &Duplicate, other: &Duplicate) -> Ordering {
    let by_place = || (&one.path, one.lines).cmp(&(&other.path, other.lines));
    other.similarity.total_cmp(&one.similarity).then_with(by_place)
}

fn is_at_one_place(one: &Duplicate, other: &Duplicate) -> bool {
    (&one.path, one.lines) == (&other.path, other.lines)
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
        found: &mut ComparedEntries,
    ) {
        // What was said in a conversation, or was archived, is a record of its time.
        let kind = PageKind::of(path);
        let is_record = matches!(kind, PageKind::Session(_) | PageKind::Archived);
        let category = if kind == PageKind::Curated { Category::Core } else { Category::Daily };
        for unit in units {
            let id = unit.stamp.as_ref().map(|stamp| stamp.id.to_string());
            if !self.can_be_duplicate(unit.key.as_deref(), id.as_deref(), &unit.content) {
                continue;
            }
            let entry = OutdatedEntry {
                key: unit.key.clone().filter(|_| id.is_some()),
                name: id.clone().unwrap_or_else(|| text_name(&unit.content)),
                author: author(unit.stamp.as_ref()),
                category: category.clone(),
                entry: Duplicate {
                    path: path.to_owned(),
                    lines: (unit.lines.0 + offset, unit.lines.1 + offset),
                    text: unit.content.clone(),
                    id,
                    similarity: 0.0,
                },
            };
            let judged = match self.likeness(&unit.content) {
                Likeness::Outdated(similarity) if is_record => Likeness::Near(similarity),
                likeness => likeness,
            };
            found.sort_in(entry, judged);
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

    /// Says how an entry relates to the text.
    fn likeness(&self, content: &str) -> Likeness {
        let text = without_tags(content);
        if comparable(&text) == self.plain {
            return Likeness::Same(1.0);
        }
        // Then only equal texts count.
        if self.least > 1.0 {
            return Likeness::None;
        }
        let shared = shared_words(&text, self.candidate.text);
        if shared < SHARED {
            return Likeness::None;
        }
        let similarity = self.cosine(&text);
        let nearly = similarity.max(shared.min(SAME_WORDS));
        match relation(&text, &without_tags(self.candidate.text)) {
            Relation::Same => Likeness::Same(similarity.clamp(SAME_WORDS, 1.0)),
            Relation::Less if similarity >= self.least => Likeness::Same(similarity),
            Relation::Changed => Likeness::Outdated(nearly),
            _ if shared >= NEAR => Likeness::Near(nearly),
            _ => Likeness::None,
        }
    }

    fn cosine(&self, text: &str) -> f64 {
        let vector = vector_of(&self.builtin, text);
        let dot = |a: &[f32], b: &[f32]| {
            a.iter().zip(b).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum::<f64>()
        };
        let norms = (dot(&vector, &vector) * dot(&self.vector, &self.vector)).sqrt();
        if norms > 0.0 { dot(&vector, &self.vector) / norms } else { 0.0 }
    }
}

/// How an entry relates to a text, and how similar they are.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Likeness {
    /// It says the same.
    Same(f64),
    /// It no longer holds if the text does.
    Outdated(f64),
    /// It says something similar.
    Near(f64),
    /// It says something else.
    None,
}

fn vector_of(builtin: &Builtin, text: &str) -> Vec<f32> {
    let made = builtin.embed(&[text], Purpose::Document);
    made.ok().and_then(|mut value| value.pop()).unwrap_or_default()
}

/// Leaves out the `#tags` at the end of a text, which say what it is about, not what it says. A
/// number such as `#412` is no tag, and neither is a word in the middle of a sentence.
pub(crate) fn without_tags(text: &str) -> String {
    let is_tag = |word: &&str| {
        word.strip_prefix('#').is_some_and(|name| name.starts_with(char::is_alphabetic))
    };
    let words: Vec<&str> = text.split_whitespace().collect();
    let tags = words.iter().rev().take_while(|word| is_tag(word)).count();
    let statement = words[..words.len() - tags].join(" ");
    let is_statement = !statement.is_empty() && !is_unfinished(&statement);
    if is_statement { statement } else { words.join(" ") }
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

    fn likeness(old: &str, new: &str) -> Likeness {
        let candidate = Candidate { text: new, key: None, supersedes: None };
        ComparedText::new(candidate, 0.95).likeness(old)
    }

    #[test]
    fn case_blanks_punctuation_and_tags_make_no_difference() {
        let same = Likeness::Same(1.0);
        assert_eq!(likeness("The gateway  is UP.", "the gateway, is up #net"), same);
        assert_eq!(likeness("我喜欢茶。", "我喜欢茶"), same);
        assert_eq!(likeness("!!!", "???"), Likeness::None);
    }

    #[test]
    fn a_number_or_a_word_of_the_sentence_is_no_tag() {
        for (text, statement) in [
            ("The gateway is up. #net #ops", "The gateway is up."),
            ("The open ticket is #412", "The open ticket is #412"),
            ("#411 is open", "#411 is open"),
            ("The channel is #general", "The channel is #general"),
            ("Post in #general first. #chat", "Post in #general first."),
            ("#net", "#net"),
        ] {
            assert_eq!(without_tags(text), statement);
        }
    }

    #[test]
    fn what_differs_in_a_value_is_never_the_same() {
        for (one, other) in [
            ("The open ticket is #412.", "The open ticket is #413."),
            ("The dose is .5 mg.", "The dose is 5 mg."),
            ("The library was closed.", "The library is closed."),
            ("A letter from Ana", "A letter for Ana"),
            ("The check is x != 1", "The check is x = 1"),
        ] {
            let found = likeness(one, other);
            assert!(!matches!(found, Likeness::Same(_)), "{one} / {other}: {found:?}");
        }
    }

    #[test]
    fn the_same_words_in_another_order_say_the_same_and_other_words_do_not() {
        let near = likeness(
            "The database is PostgreSQL 16 on the staging server.",
            "The database on the staging server is PostgreSQL 16.",
        );
        assert!(matches!(near, Likeness::Same(similarity) if similarity >= 0.95), "{near:?}");
        for (one, other) in [
            ("The database is PostgreSQL 16.", "Lunch on Friday with Ana at noon."),
            ("Use tabs in Go files.", "Use spaces in Python files."),
        ] {
            let found = likeness(one, other);
            assert!(!matches!(found, Likeness::Same(_) | Likeness::Outdated(_)), "{found:?}");
        }
    }

    #[test]
    fn another_value_of_the_same_thing_is_outdated_and_another_thing_is_near() {
        let changed =
            likeness("The fog tea ships on Tuesdays.", "The fog tea ships on Wednesdays.");
        assert!(matches!(changed, Likeness::Outdated(_)), "{changed:?}");
        let near = likeness("Lin likes green tea.", "Lin likes black tea.");
        assert!(matches!(near, Likeness::Near(_)), "{near:?}");
    }
}

//! Finds duplicates among the rows of a database.

use std::collections::HashSet;

use anemone_embed::Embedder as _;
use anemone_format::Origin;

use super::{
    CHUNKS, Candidate, ComparedEntries, ComparedText, Duplicate, DuplicateSearch, LIKE, Likeness,
    OutdatedEntry, SHARED, without_tags,
};
use crate::entry::{Category, MemoryEntry};
use crate::finder::FindError;
use crate::phrase::is_wide;
use crate::row_store::row_document;
use crate::sameness::comparable;

/// Up to this many bytes, all rows are compared: the index would have to read every row again,
/// because a database changes as a whole.
const READ_BYTES: usize = 2 << 20;

/// Finds rows that say the same as a text, or that it makes out of date. A few rows are all
/// compared; among many, the index selects the candidates.
pub(crate) fn similar_rows(
    entries: &[MemoryEntry],
    search: DuplicateSearch<'_>,
) -> ComparedEntries {
    let wanted = ComparedText::new(search.candidate, search.least);
    let bytes: usize = entries.iter().map(|entry| entry.content.len()).sum();
    // An index that cannot be used is no reason not to write: everything is compared then.
    let near = if bytes <= READ_BYTES { None } else { wanted.near_rows(search).ok() };
    let mut found = ComparedEntries::default();
    for entry in entries {
        let path = row_document(&entry.key);
        if near.as_ref().is_some_and(|near| !near.contains(&path)) {
            continue;
        }
        // A row that is called by its id has no name.
        let key = Some(entry.key.as_str()).filter(|key| *key != entry.id);
        if !wanted.can_be_duplicate(key, Some(&entry.id), &entry.content)
            || !wanted.shares_words_with(&entry.content)
        {
            continue;
        }
        // The row that has its key is replaced, unless nothing would change.
        let is_replaced = key.is_some() && key == search.candidate.key;
        let likeness = match wanted.likeness(&entry.content) {
            likeness @ Likeness::Same(1.0..) => likeness,
            _ if is_replaced => Likeness::None,
            // What was said in a conversation is a record of its time.
            Likeness::Outdated(similarity) if entry.category == Category::Conversation => {
                Likeness::Near(similarity)
            }
            likeness => likeness,
        };
        // A row without an origin was written by the agent's own program.
        let author = entry.origin.as_deref();
        let author = author.map_or(Origin::Agent, |word| word.parse().unwrap_or(Origin::Owner));
        let compared = OutdatedEntry {
            entry: duplicate(entry, 0.0),
            // The new row does not take the key: under it the old one would be gone.
            key: None,
            name: entry.id.clone(),
            author,
            category: entry.category.clone(),
        };
        found.sort_in(compared, likeness);
    }
    found.in_order()
}

/// Finds a row that says exactly the same: a last look before something is written.
pub(crate) fn same_row(entries: &[MemoryEntry], candidate: Candidate<'_>) -> Option<Duplicate> {
    let wanted = comparable(&without_tags(candidate.text));
    let is_same = |entry: &&MemoryEntry| {
        let key = Some(entry.key.as_str()).filter(|key| *key != entry.id);
        candidate.is_same(key, Some(&entry.id), &entry.content, &wanted)
    };
    entries.iter().find(is_same).map(|entry| duplicate(entry, 1.0))
}

fn duplicate(entry: &MemoryEntry, similarity: f64) -> Duplicate {
    Duplicate {
        path: row_document(&entry.key),
        lines: (1, entry.content.lines().count().max(1)),
        text: entry.content.clone(),
        id: Some(entry.id.clone()),
        similarity,
    }
}

impl ComparedText<'_> {
    /// Whether a text has enough of the same words to be worth a closer look. Of scripts without
    /// spaces the characters are compared.
    fn shares_words_with(&self, content: &str) -> bool {
        let text = without_tags(content).to_lowercase();
        let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
        let others: HashSet<&str> = words.collect();
        let shared = others.iter().filter(|word| self.words.contains(**word)).count();
        let least = SHARED * others.len().min(self.words.len()) as f64;
        if self.words.is_empty() || (shared > 0 && shared as f64 >= least) {
            return true;
        }
        let wide = |text: &str| -> HashSet<char> { text.chars().filter(|c| is_wide(*c)).collect() };
        let (own, others) = (wide(&self.plain), wide(&text));
        let shared = own.intersection(&others).count();
        shared > 0 && shared as f64 >= SHARED * own.len().min(others.len()) as f64
    }

    /// Refreshes the index and returns the rows to compare.
    fn near_rows(&self, search: DuplicateSearch<'_>) -> Result<HashSet<String>, FindError> {
        let index = search.finder.open(search.now)?;
        let near = index
            .nearest(self.builtin.identity(), &self.vector, LIKE, CHUNKS)
            .map_err(anemone_index::QueryError::from)?;
        let held = index
            .with_words_of(self.candidate.text, CHUNKS / 2)
            .map_err(anemone_index::QueryError::from)?;
        Ok(near.into_iter().chain(held).map(|chunk| chunk.path).collect())
    }
}

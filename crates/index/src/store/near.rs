//! Words of the index that are similar to one that it does not contain: another ending, or a typo.

use anemone_files::edit_distance;
use tantivy::Term;

use super::lexical::Lexical;
use super::{StoreError, View};

/// A similar word begins with the same letters.
const SAME_LETTERS: usize = 2;
/// Shorter words are similar to too many others.
const LETTERS: usize = 4;
/// Words that are compared, at most.
const LOOKED_AT: usize = 50_000;
/// Words that are returned, at most.
const RETURNED: usize = 12;

impl View {
    /// Returns the words of the index that are most similar to one, the most similar first.
    pub(crate) fn near(&self, word: &str) -> Result<Vec<String>, StoreError> {
        let letters: Vec<char> = word.chars().collect();
        if letters.len() < LETTERS || !letters.iter().all(|letter| letter.is_alphabetic()) {
            return Ok(Vec::new());
        }
        let mut near: Vec<(usize, String)> = Vec::new();
        let mut other_letters = Vec::new();
        let start: String = letters[..SAME_LETTERS].iter().collect();
        self.lexical().from(&start, LOOKED_AT, &mut |other| {
            other_letters.clear();
            other_letters.extend(other.chars());
            near.extend(
                distance(&letters, &other_letters).map(|distance| (distance, other.to_owned())),
            );
        })?;
        near.sort_unstable();
        near.dedup();
        // The lexical index still contains words of removed texts.
        let mut there = Vec::new();
        for (_, word) in near {
            if there.len() == RETURNED {
                break;
            }
            if self.frequency(crate::text::Term::of(&word))? > 0 {
                there.push(word);
            }
        }
        Ok(there)
    }
}

impl Lexical {
    /// Visits the words that begin with a text, at most this many in each segment.
    fn from(&self, start: &str, most: usize, each: &mut dyn FnMut(&str)) -> Result<(), StoreError> {
        let key = Term::from_field_text(self.text_field(), start);
        let key = key.serialized_value_bytes();
        for dictionary in self.dictionaries() {
            let mut words = dictionary.range().ge(key).into_stream()?;
            let mut left = most;
            while left > 0 && words.advance() && words.key().starts_with(key) {
                if let Ok(word) = str::from_utf8(words.key()) {
                    each(word);
                }
                left -= 1;
            }
        }
        Ok(())
    }
}

/// Returns the distance between two similar words: 0 when one is the beginning of the other,
/// otherwise the number of letters to change.
fn distance(one: &[char], other: &[char]) -> Option<usize> {
    let common = one.iter().zip(other).take_while(|(a, b)| a == b).count();
    if common >= LETTERS && common == one.len().min(other.len()) {
        return Some(0);
    }
    let most = if one.len() < 8 { 1 } else { 2 };
    (one.len() > LETTERS && one.len().abs_diff(other.len()) <= most)
        .then(|| edit_distance(&one[common..], &other[common..]))
        .filter(|distance| *distance <= most)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn beginnings_and_slips_are_near() {
        let distance = |one: &str, other: &str| {
            let letters = |word: &str| word.chars().collect::<Vec<_>>();
            distance(&letters(one), &letters(other))
        };
        assert_eq!(distance("educaton", "educ"), Some(0));
        assert_eq!(distance("kube", "kubernet"), Some(0));
        assert_eq!(distance("datbase", "database"), Some(1));
        assert_eq!(distance("migrtaion", "migration"), Some(2));
        assert_eq!(distance("cats", "cart"), None);
        assert_eq!(distance("house", "horse"), Some(1));
        assert_eq!(distance("house", "hour"), None);
    }
}

//! Words of the index that are like one that is not in it: another ending, or a slip of the pen.

use anemone_files::edit_distance;
use tantivy::Term;

use super::lexical::Lexical;
use super::{StoreError, View};

/// A word that is like others begins as they do.
const SAME_LETTERS: usize = 2;
/// Shorter words are like too many others.
const LETTERS: usize = 4;
/// Words that are looked at.
const LOOKED_AT: usize = 50_000;
/// Words that are returned.
const RETURNED: usize = 12;

impl View {
    /// Returns the words of the index that are most like one, the likest first.
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
        // The lexical half still knows words of texts that are gone.
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
    /// Goes through the words that begin with a text, at most so many in each segment.
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

/// Returns how far apart two words are that are like each other: 0, when one is the beginning of
/// the other, else the letters to change.
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

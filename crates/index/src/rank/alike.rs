//! Words that are not equal but share most of their letters: compounds, other endings, typos. They
//! count a little, and only in the block that contains them.

use std::collections::HashMap;

/// The weight of a similar word, relative to an equal one.
const ALIKE: f32 = 0.3;
/// With fewer letters in common, words are not similar.
const LETTERS: usize = 4;

/// Words to look for.
#[derive(Debug, Default)]
pub(super) struct Alike {
    words: Vec<Word>,
    /// The words that have these four consecutive letters, and where.
    starts: HashMap<[char; LETTERS], Vec<(usize, usize)>>,
}

#[derive(Debug)]
struct Word {
    /// Which term of the query it is.
    term: usize,
    letters: Vec<char>,
}

impl Alike {
    /// Takes the words of a query, folded but not stemmed, with their terms.
    pub(super) fn new(words: impl IntoIterator<Item = (usize, String)>) -> Self {
        let mut alike = Self::default();
        for (term, word) in words {
            let letters: Vec<char> = word.chars().collect();
            if letters.len() < LETTERS || letters.iter().any(|letter| !letter.is_alphabetic()) {
                continue;
            }
            for (at, run) in letters.windows(LETTERS).enumerate() {
                let run = [run[0], run[1], run[2], run[3]];
                alike.starts.entry(run).or_default().push((alike.words.len(), at));
            }
            alike.words.push(Word { term, letters });
        }
        alike
    }

    /// Whether there is anything to look for.
    pub(super) fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// Adds to `found` the similar words of a block for the terms that it does not contain.
    pub(super) fn look(&self, folded: &str, found: &mut [f32], letters: &mut Vec<char>) {
        letters.clear();
        letters.extend(folded.chars());
        let mut best: Vec<usize> = vec![0; self.words.len()];
        for at in 0..letters.len().saturating_sub(LETTERS - 1) {
            let run = [letters[at], letters[at + 1], letters[at + 2], letters[at + 3]];
            let Some(starts) = self.starts.get(&run) else { continue };
            for &(word, from) in starts {
                if found[self.words[word].term] > 0.0 {
                    continue;
                }
                let rest = self.words[word].letters[from..].iter();
                let common = rest.zip(&letters[at..]).take_while(|(a, b)| a == b).count();
                best[word] = best[word].max(common);
            }
        }
        for (word, common) in self.words.iter().zip(best) {
            let share = common as f32 / word.letters.len() as f32;
            if common >= LETTERS && share >= 0.5 && found[word.term] == 0.0 {
                found[word.term] = ALIKE * share;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn share(word: &str, text: &str) -> f32 {
        let mut found = [0.0];
        Alike::new([(0, word.to_owned())]).look(text, &mut found, &mut Vec::new());
        found[0]
    }

    #[test]
    fn words_with_half_of_their_letters_in_a_row_are_alike() {
        assert!((share("zahler", "der stromzahler im keller") - 0.3).abs() < 1e-6);
        assert!((share("zahlerstand", "zahler") - 0.3 * 6.0 / 11.0).abs() < 1e-6);
        assert_eq!(share("zahlerstand", "bestand"), 0.0);
        assert_eq!(share("rate", "ratte"), 0.0);
        assert_eq!(share("abc", "abc"), 0.0);
        assert_eq!(share("2026", "2026"), 0.0);
    }

    #[test]
    fn a_term_that_is_there_is_left_alone() {
        let mut found = [2.0];
        Alike::new([(0, "zahler".to_owned())]).look("zahlerstand", &mut found, &mut Vec::new());
        assert_eq!(found, [2.0]);
    }
}

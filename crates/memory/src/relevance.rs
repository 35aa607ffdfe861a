//! Which hits of a search are worth showing to a model that did not ask.

use std::collections::HashSet;

use anemone_index::Hit;

use crate::phrase::is_wide;
use crate::slug::is_common;

/// When memories are recalled for a message.
#[derive(Clone, Debug, PartialEq)]
pub struct RecallSettings {
    /// Whether they are at all.
    pub enabled: bool,
    /// How many, at most.
    pub most: usize,
    /// The share of the telling words of a message that a memory must have, from 0 to 1.
    pub least_share: f64,
    /// How many characters of each are shown.
    pub most_chars: usize,
}

impl Default for RecallSettings {
    fn default() -> Self {
        Self { enabled: false, most: 3, least_share: 0.3, most_chars: 600 }
    }
}

/// A message with so many telling words of a memory is about it, however long it is.
const ENOUGH_WORDS: usize = 3;
/// Vectors as near as this mean the same, where a word is shared too.
const SAME_MEANING: f64 = 0.6;

/// Says whether a hit is about the message; it must have been searched with an explanation.
///
/// A score only says which hit is better than another. Here the words count that tell something:
/// how many of those in the message the memory has.
#[must_use]
pub fn is_relevant(hit: &Hit, message: &str, settings: &RecallSettings) -> bool {
    let Some(explanation) = &hit.explanation else { return false };
    // A question that was asked before answers nothing, and neither does "I don't know".
    if hit.is_open {
        return false;
    }
    let cosine =
        explanation.parts.iter().find(|(part, _)| *part == "cosine").map_or(0.0, |part| part.1);
    let mut found: HashSet<String> = explanation
        .terms
        .iter()
        .filter(|term| is_telling(term))
        .map(|term| term.to_lowercase())
        .collect();
    // "Allergic to hazelnuts" under the heading "Lin" is about Lin.
    if !found.is_empty() {
        let headings: HashSet<String> =
            hit.headings.iter().flat_map(|heading| words_of(heading)).collect();
        found.extend(words_of(message).filter(|word| headings.contains(word)));
    }
    is_about(found.len(), telling_words(message), cosine, settings.least_share)
}

fn is_about(found: usize, asked: usize, cosine: f64, least_share: f64) -> bool {
    let is_most = found as f64 >= least_share * asked as f64;
    found >= ENOUGH_WORDS
        || (found >= 2 && is_most)
        || (found == 1 && (asked == 1 || cosine >= SAME_MEANING))
}

/// Counts the words of a message that tell something. Two signs of a script without spaces are
/// about a word.
fn telling_words(message: &str) -> usize {
    let words: HashSet<String> = words_of(message).collect();
    words.len() + message.chars().filter(|character| is_wide(*character)).count() / 2
}

/// Returns the words of a text that tell something, in lower case.
fn words_of(text: &str) -> impl Iterator<Item = String> {
    let words = text.split(|c: char| !c.is_alphanumeric() || is_wide(c));
    words.filter(|word| is_telling(word)).map(str::to_lowercase)
}

fn is_telling(word: &str) -> bool {
    (word.chars().count() > 2 || word.chars().any(is_wide)) && !is_common(word)
}

/// Returns a message as a question: characters with a special meaning in queries are replaced by
/// spaces.
#[must_use]
pub fn question_of(message: &str, most_chars: usize) -> String {
    let cut: String = message.chars().take(most_chars).collect();
    let words = cut.split_whitespace().map(|word| word.trim_start_matches('-'));
    words.collect::<Vec<_>>().join(" ").replace(['"', '\u{201c}', '\u{201d}', '\u{201e}'], " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_memory_is_about_a_message_by_its_telling_words() {
        assert_eq!(telling_words("On which port does the Gateway listen? The gateway!"), 3);
        assert_eq!(telling_words("thanks, that was good"), 0);
        assert_eq!(telling_words("网关在哪个端口"), 3);
        for (found, asked, cosine, wanted) in [
            (0, 0, 0.0, false),
            (0, 5, 0.99, false),
            (1, 1, 0.0, true),
            (1, 2, 0.5, false),
            (1, 2, 0.7, true),
            (2, 3, 0.0, true),
            (2, 20, 0.0, false),
            (3, 20, 0.0, true),
        ] {
            assert_eq!(is_about(found, asked, cosine, 0.3), wanted, "{found} of {asked}");
        }
    }

    #[test]
    fn a_message_is_no_query() {
        assert_eq!(question_of("what -is \"the\" --plan\n now", 100), "what is  the  plan now");
        assert_eq!(question_of("abcdef", 3), "abc");
    }
}

//! Whether two texts share a word.

use std::collections::BTreeSet;

/// Words that say nothing by themselves.
const STOP_WORDS: [&str; 42] = [
    "a", "about", "after", "an", "and", "are", "as", "at", "be", "been", "by", "did", "do", "does",
    "for", "from", "had", "has", "have", "he", "in", "is", "it", "its", "of", "on", "or", "she",
    "that", "the", "they", "this", "through", "to", "was", "were", "what", "when", "which", "who",
    "with", "would",
];
/// Words that begin alike are taken for one word in two forms, such as order and orders.
const STEM_CHARS: usize = 4;

/// Returns the words that two texts share, apart from those that say nothing. Forms of one word
/// count as shared.
pub(super) fn shared(one: &str, other: &str) -> BTreeSet<String> {
    let (one, other) = (words(one), words(other));
    let is_shared = |word: &&String| other.iter().any(|known| stem(known) == stem(word));
    one.iter().filter(is_shared).cloned().collect()
}

fn words(text: &str) -> BTreeSet<String> {
    let words = text.split(|c: char| !c.is_alphanumeric()).map(str::to_lowercase);
    words.filter(|word| !word.is_empty() && !STOP_WORDS.contains(&word.as_str())).collect()
}

fn stem(word: &str) -> &str {
    word.char_indices().nth(STEM_CHARS).map_or(word, |(at, _)| &word[..at])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_shared_in_any_form_and_small_ones_do_not_count() {
        let check = |one: &str, other: &str, expected: &[&str]| {
            let found: Vec<String> = shared(one, other).into_iter().collect();
            assert_eq!(found, expected, "{one} / {other}");
        };
        check("Which cat?", "The cat sat, which it did.", &["cat"]);
        check("Which orders came?", "An order: it was late", &["orders"]);
        check("Who is it?", "It is who it was.", &[]);
        check("Which feline rested?", "The cat sat", &[]);
        check("Kapitän schläft", "Der Kapitän", &["kapitän"]);
    }
}

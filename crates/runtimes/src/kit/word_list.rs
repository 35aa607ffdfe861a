//! Lists of words that are data, not code.

/// The words of a file that has one on each line.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WordList(pub(crate) &'static str);

impl WordList {
    /// Returns the words, in order.
    pub(crate) fn iter(self) -> impl Iterator<Item = &'static str> {
        self.0.lines()
    }

    /// Returns whether a word is one of them.
    pub(crate) fn contains(self, word: &str) -> bool {
        self.iter().any(|known| known == word)
    }
}

//! The words that are in every text of a language: its function words.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::LazyLock;

use xxhash_rust::xxh3::xxh3_64;

use super::fold::{fold, lower};

/// A language with a list of common words.
#[derive(Clone, Copy)]
pub(super) enum StopwordList {
    English,
    German,
    French,
    Spanish,
    Portuguese,
    Italian,
    Dutch,
    Swedish,
    Danish,
    Norwegian,
    Finnish,
    Polish,
    Turkish,
    Hungarian,
    Romanian,
    Indonesian,
    Russian,
    Ukrainian,
    Arabic,
    Greek,
    /// Chinese, Japanese and Korean: particles and question words, one or two characters long.
    Spaceless,
}

/// How many languages have a list.
pub(super) const LIST_COUNT: usize = StopwordList::Spaceless as usize + 1;

/// A set of languages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct StopwordLists(u32);

impl StopwordLists {
    pub(super) const fn of(list: StopwordList) -> Self {
        Self(1 << list as u32)
    }

    pub(super) const fn and(self, list: StopwordList) -> Self {
        Self(self.0 | 1 << list as u32)
    }

    pub(super) const fn meets(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    pub(super) const fn is_empty(self) -> bool {
        self.0 == 0
    }

    pub(super) const fn len(self) -> u32 {
        self.0.count_ones()
    }

    /// The numbers of the lists.
    pub(super) fn places(self) -> impl Iterator<Item = usize> {
        (0..LIST_COUNT).filter(move |place| self.0 & (1 << place) != 0)
    }
}

/// Returns the languages in which a folded word is common.
pub(super) fn common(folded: &str) -> StopwordLists {
    TABLE.get(&xxh3_64(folded.as_bytes())).copied().unwrap_or_default()
}

static TABLE: LazyLock<HashMap<u64, StopwordLists, BuildHasherDefault<AsItIs>>> =
    LazyLock::new(|| {
        let mut table = HashMap::with_capacity_and_hasher(4096, BuildHasherDefault::default());
        let (mut lowered, mut folded) = (String::new(), String::new());
        for (place, words) in words().enumerate() {
            for word in words.split_ascii_whitespace() {
                lowered.clear();
                folded.clear();
                lower(word, &mut lowered);
                fold(&lowered, &mut folded);
                let lists: &mut StopwordLists =
                    table.entry(xxh3_64(folded.as_bytes())).or_default();
                lists.0 |= 1 << place;
            }
        }
        table
    });

/// A hasher for keys that are already hashes.
#[derive(Default)]
struct AsItIs(u64);

impl Hasher for AsItIs {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(*byte);
        }
    }

    fn write_u64(&mut self, value: u64) {
        self.0 = value;
    }
}

/// Returns the words of each list, in the order of [`StopwordList`]. A word with another meaning is in none: in English `may` is a
/// month, `will` a name, `well`, `ill` and `shell` are words.
fn words() -> impl Iterator<Item = &'static str> {
    include_str!("stopwords.txt").split("\n\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_common_word_knows_its_languages() {
        assert!(common("the").meets(StopwordLists::of(StopwordList::English)));
        assert!(common("fur").meets(StopwordLists::of(StopwordList::German)));
        assert!(common("еще").meets(StopwordLists::of(StopwordList::Russian)));
        assert!(common("怎么").meets(StopwordLists::of(StopwordList::Spaceless)));
        assert!(common("database").is_empty());
        assert_eq!(common("de").places().count(), common("de").len() as usize);
    }

    #[test]
    fn the_lists_stand_in_the_order_of_the_languages() {
        assert_eq!(words().count(), LIST_COUNT);
        for (place, words) in words().enumerate() {
            assert!(words.split_ascii_whitespace().count() >= 60, "{place}");
        }
        let list_of =
            |word: &str| words().position(|words| words.split_whitespace().any(|w| w == word));
        for (word, list) in [
            ("the", StopwordList::English),
            ("nicht", StopwordList::German),
            ("który", StopwordList::Polish),
            ("tidak", StopwordList::Indonesian),
            ("怎么", StopwordList::Spaceless),
        ] {
            assert_eq!(list_of(word), Some(list as usize), "{word}");
        }
    }
}

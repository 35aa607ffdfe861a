//! Turns a lower-cased word into its compared form: stemmed, folded, and whether it is weak.

use rust_stemmers::{Algorithm, Stemmer};
use xxhash_rust::xxh3::xxh3_64;

use super::common::common;
use super::fold::fold;
use super::language::{Alphabet, Language};

/// Bytes of a word that is stemmed, at most: no language has longer ones that inflect.
const MAX_STEMMED: usize = 64;
/// Bytes of a word that is remembered, at most.
const KEPT: usize = 31;
/// How many words are remembered; a power of two.
const SLOTS: usize = 4096;

/// Stems words and remembers the last ones: most words of a text were seen before.
pub(super) struct Stems {
    /// Empty until the first word is kept.
    slots: Vec<Slot>,
    folded: String,
    spelled: String,
    stemmed: String,
}

/// One remembered word.
#[derive(Clone, Copy)]
struct Slot {
    word: Short,
    stem: Short,
    language: Language,
    weak: bool,
}

/// A short text stored inline.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Short {
    bytes: [u8; KEPT],
    len: u8,
}

impl Short {
    const EMPTY: Self = Self { bytes: [0; KEPT], len: 0 };

    fn of(text: &str) -> Option<Self> {
        let mut short = Self::EMPTY;
        short.bytes.get_mut(..text.len())?.copy_from_slice(text.as_bytes());
        short.len = u8::try_from(text.len()).ok()?;
        Some(short)
    }

    fn bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.len)]
    }

    fn text(&self) -> &str {
        // Only whole texts are stored.
        std::str::from_utf8(self.bytes()).unwrap_or_default()
    }
}

impl Stems {
    pub(super) fn new() -> Self {
        Self {
            slots: Vec::new(),
            folded: String::new(),
            spelled: String::new(),
            stemmed: String::new(),
        }
    }

    /// Returns the compared form of a lower-cased word, and whether it is weak.
    pub(super) fn of(&mut self, word: &str, language: Language) -> (&str, bool) {
        if word.len() > KEPT {
            let weak = self.work_out(word, language);
            return (&self.stemmed, weak);
        }
        if self.slots.is_empty() {
            let empty = Slot {
                word: Short::EMPTY,
                stem: Short::EMPTY,
                language: Language::English,
                weak: false,
            };
            self.slots = vec![empty; SLOTS];
        }
        #[expect(clippy::cast_possible_truncation, reason = "the low bits choose the slot")]
        let place = (xxh3_64(word.as_bytes()) as usize ^ (language as usize) << 7) % SLOTS;
        let slot = &self.slots[place];
        if slot.word.bytes() != word.as_bytes() || slot.language != language {
            let weak = self.work_out(word, language);
            let (Some(word), Some(stem)) = (Short::of(word), Short::of(&self.stemmed)) else {
                return (&self.stemmed, weak);
            };
            self.slots[place] = Slot { word, stem, language, weak };
        }
        let slot = &self.slots[place];
        (slot.stem.text(), slot.weak)
    }

    /// Leaves the stem in `stemmed`, and returns whether the word is weak.
    fn work_out(&mut self, word: &str, language: Language) -> bool {
        self.folded.clear();
        fold(word, &mut self.folded);
        let alphabet = Alphabet::of(word);
        let weak = common(&self.folded).meets(language.weak(alphabet));
        self.stemmed.clear();
        let digits = self.folded.bytes().any(|byte| byte.is_ascii_digit());
        let stemmer = language.stemmer(alphabet).filter(|_| word.len() <= MAX_STEMMED && !digits);
        if let Some(algorithm) = stemmer {
            let spelled = match algorithm {
                // These stemmers know no diacritics.
                Algorithm::English | Algorithm::Russian => &self.folded,
                _ => {
                    self.spelled.clear();
                    spell(word, algorithm, &mut self.spelled);
                    &self.spelled
                }
            };
            fold(&Stemmer::create(algorithm).stem(spelled), &mut self.stemmed);
        }
        if self.stemmed.is_empty() {
            self.stemmed.push_str(&self.folded);
        }
        weak
    }
}

/// Adds a word in the spelling that its stemmer expects: with accents that people leave out and
/// that identify endings, and without signs that the stemmer does not know.
fn spell(word: &str, algorithm: Algorithm, into: &mut String) {
    let endings: &[(&str, &str)] = match algorithm {
        Algorithm::Spanish => &[("cion", "ción"), ("sion", "sión")],
        Algorithm::Portuguese => &[("cao", "ção"), ("coes", "ções")],
        Algorithm::Arabic => {
            let signs = |c: &char| !matches!(c, '\u{640}' | '\u{64B}'..='\u{65F}' | '\u{670}');
            return into.extend(word.chars().filter(signs));
        }
        _ => &[],
    };
    for (ending, spelled) in endings {
        if let Some(start) = word.strip_suffix(ending) {
            into.push_str(start);
            return into.push_str(spelled);
        }
    }
    into.push_str(word);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inflected_words_meet() {
        use Language::{
            Arabic, Danish, Dutch, English, Finnish, French, German, Greek, Hungarian, Italian,
            Norwegian, Portuguese, Romanian, Russian, Spanish, Swedish, Turkish,
        };
        let mut stems = Stems::new();
        for (language, one, other) in [
            (English, "running", "runs"),
            (English, "naïve", "naive"),
            (English, "résumés", "resume"),
            (German, "datenbanken", "datenbank"),
            (German, "häuser", "haus"),
            (French, "sauvegardes", "sauvegarde"),
            (French, "décidé", "décider"),
            (Spanish, "migraciones", "migración"),
            (Spanish, "migracion", "migración"),
            (Portuguese, "migracao", "migração"),
            (Italian, "copie", "copia"),
            (Dutch, "katten", "kat"),
            (Swedish, "husen", "hus"),
            (Danish, "husene", "hus"),
            (Norwegian, "husene", "hus"),
            (Finnish, "talossa", "talo"),
            (Hungarian, "házban", "ház"),
            (Romanian, "datele", "date"),
            (Turkish, "evler", "ev"),
            (Russian, "данных", "данные"),
            (Russian, "перенёс", "перенес"),
            (English, "серверы", "сервера"),
            (Arabic, "الكتاب", "كتاب"),
            (Greek, "βάσεις", "βάση"),
        ] {
            let stem = stems.of(one, language).0.to_owned();
            assert_eq!(stems.of(other, language).0, stem, "{one} and {other}");
        }
    }

    #[test]
    fn words_of_another_language_and_words_with_digits_stay() {
        let mut stems = Stems::new();
        assert_eq!(stems.of("zażółcenie", Language::Other), ("zazolcenie", false));
        assert_eq!(stems.of("e1234s", Language::English), ("e1234s", false));
        assert_eq!(stems.of("שלום", Language::English), ("שלום", false));
    }

    #[test]
    fn a_weak_word_is_weak_in_its_own_language_alone() {
        let mut stems = Stems::new();
        assert!(stems.of("the", Language::English).1);
        assert!(stems.of("die", Language::German).1);
        assert!(!stems.of("die", Language::English).1);
        assert!(stems.of("что", Language::English).1);
        assert!(stems.of("für", Language::German).1);
    }
}

//! Splits text into word pieces, as the models expect them.
//!
//! The models were trained on BERT's uncased WordPiece: text without case and accents, split at
//! spaces and punctuation, and each word split into the longest pieces in the vocabulary. With
//! other pieces than in training, a model's answers are nonsense, so the ids here are exactly those
//! of the reference, including its oddities.

mod characters;
mod pieces;

use characters::{Unit, units};
use pieces::{PIECES, Pieces};

/// The id of `[UNK]`: a word that the vocabulary cannot spell.
pub(crate) const UNKNOWN: u32 = 100;

/// Special tokens are read where a text spells them, as the reference does.
const SPECIAL: [(&str, u32); 5] =
    [("[PAD]", 0), ("[UNK]", UNKNOWN), ("[CLS]", 101), ("[SEP]", 102), ("[MASK]", 103)];

/// A word of more letters than this is unknown.
const WORD_LETTERS: usize = 100;

/// The share of a document that a model must be able to read for its vector to count.
const READABLE: f32 = 0.5;
/// Pieces of a word that are inspected to decide whether it is one.
const WORD_PIECES: usize = 3;
/// Letters of a stem before an ending, at least.
const STEM_LETTERS: usize = 4;
/// Pieces of a text that decide its script.
const SHARE_PIECES: usize = 512;

/// Cuts texts into word pieces.
#[derive(Debug)]
pub struct Tokenizer {
    pieces: &'static Pieces,
}

impl Tokenizer {
    /// Returns the tokenizer.
    #[must_use]
    pub const fn get() -> &'static Self {
        static MADE: Tokenizer = Tokenizer { pieces: &PIECES };
        &MADE
    }

    /// Returns the ids of a text's word pieces, without `[CLS]` and `[SEP]` around them. Reading
    /// stops at `limit` of them, however long the text is.
    #[must_use]
    pub fn encode(&self, text: &str, limit: usize) -> Vec<u32> {
        let mut ids = Vec::new();
        let mut word = Word::default();
        let mut at = 0;
        while let Some(&byte) = text.as_bytes().get(at)
            && ids.len() < limit
        {
            match byte {
                b'a'..=b'z' | b'0'..=b'9' => word.push(char::from(byte)),
                b'A'..=b'Z' => word.push(char::from(byte.to_ascii_lowercase())),
                b' ' | b'\t' | b'\r' | b'\n' => self.end(&mut word, &mut ids),
                b'!'..=b'~' => {
                    self.end(&mut word, &mut ids);
                    if let Some((length, id)) = special(&text[at..]) {
                        ids.push(id);
                        at += length;
                        continue;
                    }
                    word.push(char::from(byte));
                    self.end(&mut word, &mut ids);
                }
                0..0x80 => {}
                0x80.. => {
                    let Some(character) = text[at..].chars().next() else { break };
                    units(character, |unit| self.take(unit, &mut word, &mut ids));
                    at += character.len_utf8();
                    continue;
                }
            }
            at += 1;
        }
        self.end(&mut word, &mut ids);
        ids.truncate(limit);
        ids
    }

    /// Returns the text of a piece; one that continues a word starts with `##`.
    #[must_use]
    pub fn piece(&self, id: u32) -> Option<&'static str> {
        self.pieces.text(id)
    }

    /// Returns the share of a text's words and parts of words that the models can judge.
    ///
    /// They were trained on English. For other scripts the vocabulary has hardly more than the
    /// letters, whose vectors say little about the words, so their pieces count as unknown words.
    /// Punctuation and numbers do not count either way.
    pub(crate) fn readable_share(&self, ids: &[u32]) -> f32 {
        let (mut read, mut all) = (0_u16, 0_u16);
        for id in ids.iter().take(SHARE_PIECES) {
            let piece = self.piece(*id).unwrap_or_default();
            let first = piece.chars().find(|c| c.is_alphanumeric() && !c.is_ascii_digit());
            read += u16::from(*id != UNKNOWN && first.is_some_and(is_latin));
            all += u16::from(first.is_some());
        }
        f32::from(read) / f32::from(all.max(1))
    }

    /// Returns the share of words that are in the vocabulary, whole or with an ending; 1 if there
    /// are no words. A word that does not exist is split into short pieces.
    pub(crate) fn known_share(&self, words: &str) -> f32 {
        let (mut known, mut all) = (0_u16, 0_u16);
        let words = words.split(|c: char| !c.is_alphanumeric());
        for word in words.filter(|word| word.contains(char::is_alphabetic)).take(SHARE_PIECES) {
            let is_word = match self.encode(word, WORD_PIECES)[..] {
                [id] => id != UNKNOWN && word.chars().nth(1).is_some(),
                [stem, ending] => {
                    let letters = self.piece(stem).map_or(0, |piece| piece.chars().count());
                    ending != UNKNOWN && letters >= STEM_LETTERS
                }
                _ => false,
            };
            known += u16::from(is_word);
            all += 1;
        }
        if all == 0 { 1.0 } else { f32::from(known) / f32::from(all) }
    }

    /// Returns whether the models can judge a document. Unreadable documents have vectors too, but
    /// all of them are close together and near to any question.
    pub(crate) fn is_readable(&self, ids: &[u32]) -> bool {
        self.readable_share(ids) >= READABLE
    }

    fn take(&self, unit: Unit, word: &mut Word, ids: &mut Vec<u32>) {
        match unit {
            Unit::Letter(letter) => word.push(letter),
            Unit::Gap => self.end(word, ids),
            Unit::Mark(mark) => {
                self.end(word, ids);
                word.push(mark);
                self.end(word, ids);
            }
        }
    }

    fn end(&self, word: &mut Word, ids: &mut Vec<u32>) {
        if word.count > WORD_LETTERS {
            ids.push(UNKNOWN);
        } else if word.count > 0 {
            self.pieces.split(word.letters.as_bytes(), ids);
        }
        word.letters.clear();
        word.count = 0;
    }
}

/// The word being read. Letters that no longer count are not kept.
#[derive(Default)]
struct Word {
    letters: String,
    count: usize,
}

impl Word {
    fn push(&mut self, letter: char) {
        self.count += 1;
        if self.count <= WORD_LETTERS {
            self.letters.push(letter);
        }
    }
}

/// Returns the length and the id of the special token that a text starts with.
fn special(text: &str) -> Option<(usize, u32)> {
    SPECIAL.iter().find(|(token, _)| text.starts_with(token)).map(|(token, id)| (token.len(), *id))
}

/// Returns whether a letter or a digit is of the Latin script, with its accents and extensions.
fn is_latin(letter: char) -> bool {
    letter.is_ascii() || matches!(letter, 'ª'..='ʯ' | 'Ḁ'..='ỿ')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_told_from_letters_that_nobody_puts_together() {
        let tokenizer = Tokenizer::get();
        for (words, least, most) in [
            ("machine learning outperform heuristics", 0.5, 1.0),
            ("leaky faucet", 0.5, 1.0),
            ("asdfqwer zxcv", 0.0, 0.0),
            ("flurbish nagdole wembrit skonch", 0.0, 0.3),
            ("ggggggg hhhhhh jjjjj", 0.0, 0.0),
            ("", 1.0, 1.0),
            ("42 !!", 1.0, 1.0),
        ] {
            let share = tokenizer.known_share(words);
            assert!((least..=most).contains(&share), "{words}: {share}");
        }
    }

    #[test]
    fn a_text_is_read_as_far_as_its_words_are_latin() {
        let tokenizer = Tokenizer::get();
        for (text, expected) in [
            ("The invoice is due on 3 May!", 1.0),
            ("Ærøskøbing, Łódź", 1.0),
            ("数据库迁移", 0.0),
            ("привет мир", 0.0),
            ("かいぎ メモ", 0.0),
            ("한국어", 0.0),
            ("🙃", 0.0),
            ("server 東京", 1.0 / 3.0),
            ("cat, 🙃!", 0.5),
            ("7412", 0.0),
            ("...", 0.0),
            ("", 0.0),
        ] {
            let share = tokenizer.readable_share(&tokenizer.encode(text, 100));
            assert!((share - expected).abs() < 1e-6, "{text}: {share}");
        }
    }
}

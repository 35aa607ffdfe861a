//! Detects the language of a text by its most common words.

use rust_stemmers::Algorithm;

use super::chars::{Class, class};
use super::common::{LIST_COUNT, StopwordList, StopwordLists, common};
use super::fold::{fold, lower};

/// The language in which words are stemmed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Language {
    #[default]
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
    Hungarian,
    Romanian,
    Turkish,
    Russian,
    Arabic,
    Greek,
    /// A language whose words are not stemmed.
    Other,
}

/// Each language with its code, the stemmer of its words in Latin letters, and the list of the words
/// in Latin letters that are common in it, in the order of [`Language`].
const TABLE: [(Language, &str, Algorithm, StopwordList); 18] = [
    (Language::English, "en", Algorithm::English, StopwordList::English),
    (Language::German, "de", Algorithm::German, StopwordList::German),
    (Language::French, "fr", Algorithm::French, StopwordList::French),
    (Language::Spanish, "es", Algorithm::Spanish, StopwordList::Spanish),
    (Language::Portuguese, "pt", Algorithm::Portuguese, StopwordList::Portuguese),
    (Language::Italian, "it", Algorithm::Italian, StopwordList::Italian),
    (Language::Dutch, "nl", Algorithm::Dutch, StopwordList::Dutch),
    (Language::Swedish, "sv", Algorithm::Swedish, StopwordList::Swedish),
    (Language::Danish, "da", Algorithm::Danish, StopwordList::Danish),
    (Language::Norwegian, "no", Algorithm::Norwegian, StopwordList::Norwegian),
    (Language::Finnish, "fi", Algorithm::Finnish, StopwordList::Finnish),
    (Language::Hungarian, "hu", Algorithm::Hungarian, StopwordList::Hungarian),
    (Language::Romanian, "ro", Algorithm::Romanian, StopwordList::Romanian),
    (Language::Turkish, "tr", Algorithm::Turkish, StopwordList::Turkish),
    (Language::Russian, "ru", Algorithm::English, StopwordList::English),
    (Language::Arabic, "ar", Algorithm::English, StopwordList::English),
    (Language::Greek, "el", Algorithm::English, StopwordList::English),
    (Language::Other, "und", Algorithm::English, StopwordList::English),
];

/// The alphabet of a word, as far as stemmers depend on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Alphabet {
    Latin,
    Cyrillic,
    Greek,
    Arabic,
    Unknown,
}

impl Alphabet {
    /// Returns the alphabet of a word: that of its first letter above ASCII, else Latin.
    pub(super) fn of(word: &str) -> Self {
        if word.is_ascii() {
            return Self::Latin;
        }
        word.chars().find(|c| !c.is_ascii()).map_or(Self::Latin, Self::of_char)
    }

    fn of_char(c: char) -> Self {
        match u32::from(c) {
            0..0x250 | 0x1E00..=0x1EFF | 0x0300..=0x036F => Self::Latin,
            0x370..=0x3FF | 0x1F00..=0x1FFF => Self::Greek,
            0x400..=0x52F => Self::Cyrillic,
            0x600..=0x6FF | 0x750..=0x77F | 0xFB50..=0xFDFF | 0xFE70..=0xFEFC => Self::Arabic,
            _ => Self::Unknown,
        }
    }
}

impl Language {
    /// Returns every language.
    fn all() -> impl Iterator<Item = Self> {
        TABLE.iter().map(|(language, ..)| *language)
    }

    /// Returns the language's code, as it is stored.
    pub(crate) const fn code(self) -> &'static str {
        TABLE[self as usize].1
    }

    /// Returns the language of a code.
    pub(crate) fn of_code(code: &str) -> Option<Self> {
        Self::all().find(|language| language.code() == code)
    }

    /// Returns how to stem a word of an alphabet in a text of this language: other alphabets than
    /// the text's have one language each.
    pub(super) fn stemmer(self, alphabet: Alphabet) -> Option<Algorithm> {
        if self == Self::Other {
            return None;
        }
        match alphabet {
            Alphabet::Cyrillic => Some(Algorithm::Russian),
            Alphabet::Greek => Some(Algorithm::Greek),
            Alphabet::Arabic => Some(Algorithm::Arabic),
            Alphabet::Unknown => None,
            Alphabet::Latin => Some(TABLE[self as usize].2),
        }
    }

    /// Whether the language writes compounds as one word.
    pub(super) fn compounds(self) -> bool {
        matches!(
            self,
            Self::German
                | Self::Dutch
                | Self::Swedish
                | Self::Danish
                | Self::Norwegian
                | Self::Finnish
                | Self::Hungarian
        )
    }

    /// Returns the lists of words that are weak in a text of this language.
    pub(super) const fn weak(self, alphabet: Alphabet) -> StopwordLists {
        match alphabet {
            Alphabet::Cyrillic => {
                StopwordLists::of(StopwordList::Russian).and(StopwordList::Ukrainian)
            }
            Alphabet::Greek => StopwordLists::of(StopwordList::Greek),
            Alphabet::Arabic => StopwordLists::of(StopwordList::Arabic),
            Alphabet::Unknown => StopwordLists::of(StopwordList::Spaceless),
            Alphabet::Latin if matches!(self, Self::Other) => {
                StopwordLists::of(StopwordList::Polish).and(StopwordList::Indonesian)
            }
            Alphabet::Latin => StopwordLists::of(TABLE[self as usize].3),
        }
    }

    /// Whether two languages share so many words that the better match is sufficient.
    fn is_near(self, other: Self) -> bool {
        let family = |language| match language {
            Self::Danish | Self::Norwegian => Self::Swedish,
            Self::Portuguese => Self::Spanish,
            _ => language,
        };
        family(self) == family(other)
    }
}

/// The weight of a word that is common in only one language; shared words count less.
const WHOLE: u32 = 12;
/// The least votes for a document to be in another language than English.
const ENOUGH: u32 = WHOLE;
/// The least votes for a passage to be in another language than its document.
const SURE: u32 = 5 * WHOLE;

/// How often words of each language occur in a text.
#[derive(Clone, Debug, Default)]
pub(crate) struct Votes {
    /// By position of the language in the lists.
    counts: [u32; LIST_COUNT],
    latin: u32,
    cyrillic: u32,
    greek: u32,
    arabic: u32,
}

impl Votes {
    /// Counts the common words of a text.
    pub(crate) fn of(text: &str) -> Self {
        let mut votes = Self::default();
        let (mut lowered, mut folded) = (String::new(), String::new());
        let bytes = text.as_bytes();
        let mut at = 0;
        while let Some(byte) = bytes.get(at) {
            let start = at;
            if byte.is_ascii() && !byte.is_ascii_alphabetic() {
                at += 1;
                continue;
            }
            while bytes.get(at).is_some_and(u8::is_ascii_alphabetic) {
                at += 1;
            }
            // A word with an apostrophe counts by what precedes it.
            if bytes.get(at).is_none_or(u8::is_ascii) {
                votes.latin = votes.latin.saturating_add(1);
                votes.ascii(&bytes[start..at]);
                continue;
            }
            let rest = &text[at..];
            let end = rest.find(|c| !matches!(class(c), Class::Letter | Class::Mark));
            let end = at + end.unwrap_or(rest.len());
            if end == start {
                at += rest.chars().next().map_or(1, char::len_utf8);
                continue;
            }
            at = end;
            let word = &text[start..end];
            if word.len() <= MAX_WORD {
                lowered.clear();
                folded.clear();
                lower(word, &mut lowered);
                fold(&lowered, &mut folded);
                votes.word(&lowered, &folded);
            }
        }
        votes
    }

    fn ascii(&mut self, word: &[u8]) {
        let mut buffer = [0; MAX_WORD];
        let Some(lowered) = buffer.get_mut(..word.len()) else { return };
        lowered.copy_from_slice(word);
        lowered.make_ascii_lowercase();
        if let Ok(lowered) = std::str::from_utf8(lowered) {
            self.vote(common(lowered));
        }
    }

    fn word(&mut self, lowered: &str, folded: &str) {
        let count = match Alphabet::of(lowered) {
            Alphabet::Latin => &mut self.latin,
            Alphabet::Cyrillic => &mut self.cyrillic,
            Alphabet::Greek => &mut self.greek,
            Alphabet::Arabic => &mut self.arabic,
            Alphabet::Unknown => return,
        };
        *count = count.saturating_add(1);
        self.vote(common(folded));
        if let Some(lists) = lowered.chars().filter(|c| !c.is_ascii()).find_map(letter) {
            self.vote(lists);
        }
    }

    fn vote(&mut self, lists: StopwordLists) {
        if lists.is_empty() {
            return;
        }
        let share = (WHOLE / lists.len()).max(1);
        for place in lists.places() {
            if let Some(count) = self.counts.get_mut(place) {
                *count = count.saturating_add(share);
            }
        }
    }

    /// Adds the votes of another text.
    pub(crate) fn add(&mut self, other: &Self) {
        for (count, more) in self.counts.iter_mut().zip(other.counts) {
            *count = count.saturating_add(more);
        }
        self.latin = self.latin.saturating_add(other.latin);
        self.cyrillic = self.cyrillic.saturating_add(other.cyrillic);
        self.greek = self.greek.saturating_add(other.greek);
        self.arabic = self.arabic.saturating_add(other.arabic);
    }

    /// Returns the language of a passage, given the votes of the whole document: the passage
    /// decides where it is clear, the document where it is not.
    pub(crate) fn decide(&self, document: &Self) -> Language {
        let whole = document.clear(ENOUGH);
        let Some((passage, count)) = self.best() else { return whole.unwrap_or_default() };
        match whole {
            None => self.clear(ENOUGH).unwrap_or_default(),
            Some(whole) if whole == passage => whole,
            // A quotation does not change the language, a section does.
            Some(whole) if count >= SURE && count / 2 >= self.of_language(whole) => passage,
            Some(whole) => whole,
        }
    }

    /// Returns the language that has the most common words of a text, however few they are.
    pub(crate) fn likeliest(&self) -> Option<Language> {
        self.best().map(|(language, _)| language)
    }

    /// Returns the language of a single text, if it is clear.
    pub(super) fn clear_language(&self) -> Option<Language> {
        self.clear(ENOUGH)
    }

    /// Returns the language, when it is clear by its margin over the second.
    fn clear(&self, enough: u32) -> Option<Language> {
        let (best, count) = self.best()?;
        let others = Language::all().filter(|language| !language.is_near(best));
        let second = others.map(|language| self.of_language(language)).max().unwrap_or(0);
        let clear = count >= enough && u64::from(count) * 2 >= u64::from(second) * 3;
        let long = count > second && count >= SURE;
        (clear || long).then_some(best)
    }

    /// Returns the language with the most votes in the alphabet that most words are in.
    fn best(&self) -> Option<(Language, u32)> {
        let most = self.latin.max(self.cyrillic).max(self.greek).max(self.arabic);
        if most == 0 {
            return None;
        }
        let count = most.saturating_mul(WHOLE);
        if most == self.cyrillic {
            let ukrainian = self.counts[StopwordList::Ukrainian as usize];
            let other = ukrainian > self.counts[StopwordList::Russian as usize];
            return Some((if other { Language::Other } else { Language::Russian }, count));
        }
        if most == self.greek || most == self.arabic {
            let greek = most == self.greek;
            return Some((if greek { Language::Greek } else { Language::Arabic }, count));
        }
        let mut best = None;
        for language in Language::all() {
            let count = self.of_language(language);
            if count > best.map_or(0, |(_, most)| most) {
                best = Some((language, count));
            }
        }
        best
    }

    /// Returns the votes for a language of the Latin alphabet.
    fn of_language(&self, language: Language) -> u32 {
        if matches!(language, Language::Russian | Language::Arabic | Language::Greek) {
            return 0;
        }
        let lists = language.weak(Alphabet::Latin);
        lists.places().map(|place| self.counts[place]).max().unwrap_or(0)
    }
}

/// Bytes of a word that can be common.
const MAX_WORD: usize = 32;

/// Returns the languages that a letter is evidence for.
fn letter(c: char) -> Option<StopwordLists> {
    use StopwordList::{
        Danish, Finnish, French, German, Hungarian, Italian, Norwegian, Polish, Portuguese,
        Romanian, Russian, Spanish, Swedish, Turkish, Ukrainian,
    };
    Some(match c {
        'ß' => StopwordLists::of(German),
        'ä' => StopwordLists::of(German).and(Swedish).and(Finnish),
        'ü' => StopwordLists::of(German).and(Turkish).and(Hungarian),
        'ö' => StopwordLists::of(German).and(Swedish).and(Finnish).and(Turkish).and(Hungarian),
        'å' => StopwordLists::of(Swedish).and(Danish).and(Norwegian),
        'ø' | 'æ' => StopwordLists::of(Danish).and(Norwegian),
        'ñ' | '¿' | '¡' => StopwordLists::of(Spanish),
        'ã' | 'õ' => StopwordLists::of(Portuguese),
        'ç' => StopwordLists::of(French).and(Portuguese).and(Turkish),
        'ê' | 'â' => StopwordLists::of(French).and(Portuguese).and(Romanian),
        'è' | 'ù' | 'ò' | 'ì' => StopwordLists::of(French).and(Italian),
        'œ' | 'ë' | 'û' => StopwordLists::of(French),
        'î' => StopwordLists::of(French).and(Romanian),
        'ł' | 'ą' | 'ę' | 'ś' | 'ź' | 'ż' | 'ć' | 'ń' => StopwordLists::of(Polish),
        'ő' | 'ű' => StopwordLists::of(Hungarian),
        'ă' | 'ș' | 'ț' | 'ţ' => StopwordLists::of(Romanian),
        'ş' => StopwordLists::of(Turkish).and(Romanian),
        'ğ' | 'ı' => StopwordLists::of(Turkish),
        'ы' | 'э' | 'ъ' | 'ё' => StopwordLists::of(Russian),
        'і' | 'ї' | 'є' | 'ґ' => StopwordLists::of(Ukrainian),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn language(text: &str) -> Language {
        let votes = Votes::of(text);
        votes.decide(&votes)
    }

    #[test]
    fn a_sentence_is_in_its_language() {
        for (code, text) in [
            ("en", "She told me that the house by the lake was sold before they came."),
            ("de", "Wir haben die Datenbank am Montag auf den neuen Server verschoben."),
            ("fr", "Nous avons décidé de garder les sauvegardes pendant trente jours."),
            ("es", "El equipo decidió que las copias se guardan durante treinta días."),
            ("pt", "A equipe decidiu que as cópias não são guardadas por mais de um mês."),
            ("it", "La squadra ha deciso che i dati sono conservati per trenta giorni."),
            ("nl", "Wij hebben besloten dat het nieuwe huis niet wordt verkocht."),
            ("sv", "Vi bestämde att det nya huset inte ska säljas före sommaren."),
            ("da", "Vi besluttede, at det nye hus ikke skal sælges, og hvorfor ikke."),
            ("fi", "Me päätimme, että se talo ei ole myynnissä, mutta hän oli siellä."),
            ("hu", "A csapat úgy döntött, hogy az adatokat nem törlik, mert kell még."),
            ("ro", "Echipa a hotărât că datele sunt păstrate pentru o lună și nu mai mult."),
            ("tr", "Biz bu verileri bir ay için saklamaya karar verdik ve çok iyi oldu."),
            ("ru", "Мы решили, что база данных будет перенесена в новый центр."),
            ("und", "Ми вирішили, що база даних буде перенесена до нового центру."),
            ("und", "Zdecydowaliśmy, że nowy dom nie jest na sprzedaż przed latem."),
            ("und", "Kami sudah memutuskan bahwa rumah itu tidak akan dijual."),
            ("ar", "قررنا أن قاعدة البيانات سوف تنقل إلى المركز الجديد"),
            ("el", "Αποφασίσαμε ότι η βάση δεδομένων θα μεταφερθεί στο νέο κέντρο."),
        ] {
            assert_eq!(language(text).code(), code, "{text}");
        }
    }

    #[test]
    fn what_says_nothing_is_english() {
        for text in ["", "   ", "12:30", "数据库迁移方案", "kubectl", "🐙", "1\u{301}"] {
            assert_eq!(language(text), Language::English, "{text}");
        }
    }

    #[test]
    fn a_quotation_does_not_change_the_language_and_a_section_does() {
        let english = "It was the best that we could do with what they had given to us. ".repeat(9);
        let quotation = "He said: ich weiß nicht.";
        let section = "Wir haben das nicht so gewollt, aber es ist nun einmal so, und wir müssen \
                       damit leben, dass die Datenbank auf dem alten Server bleibt.";
        let mut document = Votes::of(&english);
        document.add(&Votes::of(quotation));
        document.add(&Votes::of(section));
        assert_eq!(Votes::of(&english).decide(&document), Language::English);
        assert_eq!(Votes::of(quotation).decide(&document), Language::English);
        assert_eq!(Votes::of(section).decide(&document), Language::German);
        assert_eq!(Votes::of("Datenbank Server").decide(&document), Language::English);
    }

    #[test]
    fn codes_come_back() {
        for language in Language::all() {
            assert_eq!(Language::of_code(language.code()), Some(language));
        }
        assert_eq!(Language::of_code("xx"), None);
    }
}

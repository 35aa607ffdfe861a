//! Words of a statement, with what is known about each.

use std::collections::HashMap;
use std::sync::LazyLock;

use anemone_format::word_enum;
use unicode_normalization::UnicodeNormalization as _;

use super::trimmed;
use crate::hidden::is_hidden;
use crate::phrase::{is_wide, table};

/// A phrase of the table has at most so many words, or characters without spaces.
const PHRASE_WORDS: usize = 3;
const PHRASE_CHARS: usize = 6;
/// Shorter names with other endings are other names: Han and Hans.
const NAME_STEM: usize = 5;
/// French words that lose their vowel before another one.
const ELISIONS: &[&str] = &["l'", "d'", "j'", "c'", "m'", "t'", "n'", "qu'"];

word_enum! {
    /// What a word does in a statement.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum Role {
        /// A number in words.
        Number = "number",
        /// A day of the week.
        Weekday = "weekday",
        /// A month or season.
        Month = "month",
        /// A part of a day, or a day as seen from today.
        Daypart = "daypart",
        /// How often.
        Frequency = "frequency",
        /// A unit or currency.
        Unit = "unit",
        /// When, or in which sense, a value holds: in the holidays, part-time, before tax.
        Condition = "condition",
        /// One of two opposites.
        Opposite = "opposite",
        /// A negation.
        Polarity = "polarity",
        /// A word without a meaning of its own.
        Small = "small",
        /// A small word that carries a meaning, such as "from" and "for".
        Link = "link",
        /// A form of "to be" or "to have", or a particle that marks the topic.
        Be = "be",
        /// A verb that states how things are.
        Verb = "verb",
        /// A verb or adjective of which several things can be said at once.
        Additive = "additive",
        /// A word that only tells of the past.
        Past = "past",
        /// A form that tells of the past unless it comes with a form of "to be".
        Participle = "participle",
        /// Something that happens once, or at some time that is planned.
        Event = "event",
        /// The first word of a rule.
        Directive = "directive",
        /// A property that has one value at a time.
        Function = "function",
        /// A verb that gives somebody or something one place, name or owner.
        Settle = "settle",
        /// A verb of possession: several things can be had, but only one number of them.
        Own = "own",
        /// A verb that gives an amount, such as a price.
        Amount = "amount",
        /// A verb of what happens at one time, or every so often.
        Schedule = "schedule",
        /// A verb of what leaves at one time, unless it leaves for several places.
        Depart = "depart",
        /// What takes place at several times, such as a bus or a lesson.
        Recurring = "recurring",
        /// What must have happened at a time.
        Due = "due",
        /// What somebody has several of, and the same thing can have several of, such as a port.
        Several = "several",
        /// A person or pet of which somebody may have several.
        Kin = "kin",
        /// An indefinite article or another word for one or some of several.
        Vague = "vague",
        /// A word that says that something is no longer as it was.
        Change = "change",
        /// A word that stands for something that was named before.
        Pronoun = "pronoun",
    }
}

/// A role, and for values which one: `tuesday` and `martes` are the same.
type Meaning = (Role, &'static str);

/// The table of words.
static WORDS: LazyLock<HashMap<String, Vec<Meaning>>> = LazyLock::new(|| {
    let mut words: HashMap<String, Vec<Meaning>> = HashMap::new();
    for (head, forms) in table(include_str!("words.txt")) {
        let (role, value) = head.split_once([' ', '.']).unwrap_or((head, ""));
        let Some(role) = Role::of_word(role) else { continue };
        for form in forms.split_whitespace() {
            let meanings = words.entry(form.replace('_', " ")).or_default();
            if !meanings.contains(&(role, value)) {
                meanings.push((role, value));
            }
        }
    }
    words
});

/// A word of a statement; in scripts without spaces, a word of the table or a character.
#[derive(Clone, Debug)]
pub(super) struct Token {
    /// The word in lower case.
    pub(super) text: String,
    /// Whether it was written with a capital letter.
    pub(super) is_capital: bool,
    /// Whether it is of a script without spaces.
    pub(super) is_wide: bool,
    /// Whether a colon or an equals sign follows.
    pub(super) is_colon: bool,
    meanings: &'static [Meaning],
    /// A number in digits, in the form in which it is compared.
    number: Option<String>,
}

impl Token {
    fn new(text: &str, is_capital: bool, is_wide: bool) -> Self {
        let meanings = WORDS.get(text).map_or(&[][..], Vec::as_slice);
        let is_exact = |c: char| c.is_numeric() || !(c.is_alphanumeric() || "'-".contains(c));
        let number =
            (meanings.is_empty() && text.chars().any(is_exact)).then(|| plain_number(text));
        Self { text: text.to_owned(), is_capital, is_wide, is_colon: false, meanings, number }
    }

    pub(super) fn is(&self, role: Role) -> bool {
        (role == Role::Number && self.number.is_some())
            || (role == Role::Function && self.text.starts_with("lieblings"))
            || self.meanings.iter().any(|meaning| meaning.0 == role)
    }

    /// Whether it can stand between a subject and what is said of it.
    pub(super) fn is_frame(&self) -> bool {
        let verbs = [Role::Be, Role::Verb, Role::Additive, Role::Settle];
        let is_verb = !self.is(Role::Event) && verbs.iter().any(|role| self.is(*role));
        is_verb || (self.is_colon && !self.is(Role::Event))
    }

    /// Returns which small word with a meaning it is.
    pub(super) fn link(&self) -> Option<&'static str> {
        self.meanings.iter().find(|meaning| meaning.0 == Role::Link).map(|meaning| meaning.1)
    }

    /// Whether it adds nothing to what a statement says.
    pub(super) fn is_empty(&self) -> bool {
        [Role::Small, Role::Be, Role::Change].iter().any(|role| self.is(*role))
            && !self.is(Role::Polarity)
    }

    /// Whether it names what a statement is about, rather than what is said of it.
    pub(super) fn is_content(&self) -> bool {
        let other = [Role::Small, Role::Be, Role::Change, Role::Pronoun, Role::Polarity];
        self.number.is_none()
            && self.values().next().is_none()
            && !other.iter().any(|role| self.is(*role))
    }

    /// Whether it is an English past tense by its ending.
    pub(super) fn is_past_tense(&self) -> bool {
        let is_past = self.text.ends_with("ed") && !self.text.ends_with("eed");
        is_past && self.text.len() >= 5 && self.text.is_ascii() && !self.is(Role::Change)
    }

    /// Returns what it stands for in one of these roles.
    pub(super) fn meanings_in(&self, roles: &[Role]) -> impl Iterator<Item = (Role, &str)> {
        let is_wanted = |meaning: &&Meaning| roles.contains(&meaning.0);
        let listed = self.meanings.iter().filter(is_wanted).map(|(role, value)| (*role, *value));
        let number = self.number.as_deref().filter(|_| roles.contains(&Role::Number));
        listed.chain(number.map(|number| (Role::Number, number))).collect::<Vec<_>>().into_iter()
    }

    /// Returns the values that it stands for, each with its kind.
    pub(super) fn values(&self) -> impl Iterator<Item = (Role, &str)> {
        const VALUES: [Role; 7] = [
            Role::Number,
            Role::Weekday,
            Role::Month,
            Role::Daypart,
            Role::Frequency,
            Role::Unit,
            Role::Opposite,
        ];
        let listed = self.meanings.iter().filter(|meaning| VALUES.contains(&meaning.0));
        let number = self.number.as_deref().map(|number| (Role::Number, number));
        listed.map(|(role, value)| (*role, *value)).chain(number)
    }

    /// Whether two words mean the same.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        let is_same_value = || {
            self.values().any(|value| {
                value.0 != Role::Opposite && other.values().any(|theirs| theirs == value)
            })
        };
        self.text == other.text || is_same_value() || self.is_form_of(other)
    }

    /// Whether two words are forms of one word, as far as their endings tell.
    fn is_form_of(&self, other: &Self) -> bool {
        let is_fixed = |token: &Self| {
            token.is_wide
                || token.number.is_some()
                || token.is(Role::Polarity)
                || token.is(Role::Small)
                || token.values().next().is_some()
        };
        if is_fixed(self) || is_fixed(other) {
            return false;
        }
        let pairs = self.text.chars().zip(other.text.chars());
        let stem: usize = pairs.take_while(|(a, b)| a == b).map(|(a, _)| a.len_utf8()).sum();
        let rests = [&self.text[stem..], &other.text[stem..]];
        let length = self.text[..stem].chars().count();
        // Names with other endings are other names, as are Maria and Marie.
        if self.is_capital && other.is_capital {
            return length >= NAME_STEM
                && rests.contains(&"")
                && rests.iter().all(|rest| ["", "s", "es", "en"].contains(rest));
        }
        let short = ["", "s", "es", "ing"];
        let long = [
            "", "s", "es", "ing", "e", "n", "en", "t", "st", "te", "nt", "er", "em", "a", "o",
            "as", "os",
        ];
        (length >= 3 && rests.iter().all(|rest| short.contains(rest)))
            || (length >= 5 && rests.contains(&"") && rests.iter().all(|rest| long.contains(rest)))
    }
}

/// Returns the form in which numbers are compared: `12th` is 12, `7:00` is 7, and `1,200` is 1200.
fn plain_number(text: &str) -> String {
    if text.starts_with('.') {
        return format!("0{text}");
    }
    let starts_with_digit = text.starts_with(|c: char| c.is_ascii_digit());
    if !starts_with_digit {
        return text.to_owned();
    }
    let ends = ["st", "nd", "rd", "th", ":00"];
    let plain = ends.iter().find_map(|end| text.strip_suffix(end)).unwrap_or(text);
    let mut groups = plain.split(',');
    let is_grouped = groups.next().is_some_and(|first| first.len() <= 3)
        && groups.all(|group| group.len() == 3 && group.bytes().all(|byte| byte.is_ascii_digit()));
    if is_grouped { plain.replace(',', "") } else { plain.to_owned() }
}

/// Takes a text apart into words.
pub(super) fn tokens(text: &str) -> Vec<Token> {
    let text: String = text.chars().filter(|c| !is_hidden(*c)).nfkc().collect();
    let text = text.replace(['\u{2019}', '\u{2018}', '`', '\u{b4}'], "'");
    let mut words = Vec::new();
    for word in text.split_whitespace() {
        let mut rest = word;
        while let Some(first) = rest.chars().next() {
            let wide = is_wide(first);
            let end = rest.find(|c| is_wide(c) != wide).unwrap_or(rest.len());
            let (run, after) = rest.split_at(end);
            if wide {
                wide_words(run, &mut words);
            } else {
                narrow_words(run, &mut words);
            }
            rest = after;
        }
    }
    joined(&words)
}

/// Takes a run of a script without spaces apart into words of the table, and characters.
fn wide_words(run: &str, words: &mut Vec<Token>) {
    let mut rest = run;
    while let Some(first) = rest.chars().next() {
        let ends = rest.char_indices().map(|(at, c)| at + c.len_utf8()).take(PHRASE_CHARS);
        let known = ends.filter(|end| WORDS.contains_key(&rest[..*end])).last();
        let (word, after) = rest.split_at(known.unwrap_or(first.len_utf8()));
        if word.chars().all(char::is_alphanumeric) {
            words.push(Token::new(word, false, true));
        }
        rest = after;
    }
}

fn narrow_words(run: &str, words: &mut Vec<Token>) {
    let is_colon = run.len() > 1 && run.ends_with([':', '=']) || run == "=";
    // A sign before a number is a part of it.
    let word = trimmed(run);
    let is_word = word.contains(char::is_alphanumeric) || word == "=";
    let word = if is_colon && is_word { word.trim_end_matches('=') } else { word };
    if word.is_empty() {
        if let Some(last) = words.last_mut().filter(|_| is_colon || run == ":") {
            last.is_colon = true;
        }
        return;
    }
    let is_capital = word.starts_with(char::is_uppercase);
    let lower = word.to_lowercase();
    let mut lower = lower.as_str();
    if !WORDS.contains_key(lower) {
        if let Some(start) = ELISIONS.iter().find(|start| lower.starts_with(**start)) {
            words.push(Token::new(start, false, false));
            lower = &lower[start.len()..];
        }
        // The owner counts, and not the ending; after a pronoun it is a verb.
        if let Some(owner) = lower.strip_suffix("'s") {
            lower = owner;
        }
    }
    if !lower.is_empty() {
        let token = Token::new(lower, is_capital, false);
        let is_verb = token.is(Role::Pronoun) && word.to_lowercase().ends_with("'s");
        words.push(Token { is_colon, ..token });
        if is_verb {
            words.push(Token::new("is", false, false));
        }
    }
}

/// Joins words that the table has as one phrase.
fn joined(words: &[Token]) -> Vec<Token> {
    let mut found: Vec<Token> = Vec::with_capacity(words.len());
    let mut at = 0;
    while let Some(word) = words.get(at) {
        let phrase = (2..=PHRASE_WORDS).rev().find_map(|length| {
            let parts = words.get(at..at + length)?;
            if parts.iter().any(|part| part.is_wide) {
                return None;
            }
            let phrase = parts.iter().map(|part| part.text.as_str()).collect::<Vec<_>>().join(" ");
            WORDS.contains_key(&phrase).then_some((length, phrase))
        });
        match phrase {
            Some((length, phrase)) => {
                found.push(Token::new(&phrase, word.is_capital, false));
                at += length;
            }
            None => {
                found.push(word.clone());
                at += 1;
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_of_the_table_has_a_known_role() {
        for (head, forms) in table(include_str!("words.txt")) {
            let role = head.split_once([' ', '.']).map_or(head, |(role, _)| role);
            assert!(Role::of_word(role).is_some(), "{head}: {forms}");
        }
    }
}

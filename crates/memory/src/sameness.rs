//! Decides how two texts relate: whether they say the same, or whether the newer one says that
//! something has changed.
//!
//! Vectors of texts represent which words occur, and little of their order, of numbers or of a
//! "not". Who owes whom, port 8080 or 8081, Tuesdays or Wednesdays, always or never: such texts have
//! similar vectors and say different things. So texts are also compared word by word.
//!
//! A text that differs only in a value replaces the other one only if both state the same property
//! of the same thing. Two appointments, two servers or two things that somebody likes differ in a
//! value too, and both hold. Where the words do not decide, both texts stay: a true statement must
//! never be hidden.

mod claim;
mod diff;
#[cfg(test)]
mod judged_tests;
mod token;

use self::claim::Claim;
use self::diff::{Diff, Hunk};
use self::token::{Role, Token, tokens};
use crate::capture::sentences;

/// Punctuation that may surround a word without being part of it.
const MARKS: &[char] = &[
    '.', ',', ';', ':', '!', '?', '"', '\'', '(', ')', '[', ']', '*', '_', '`', '“', '”', '‘', '’',
    '„', '«', '»', '…', '。', '，', '、', '；', '：', '！', '？', '「', '」', '（', '）', '¿', '¡',
];
/// Titles before names that end with a point.
const TITLES: &[&str] =
    &["Dr", "Mr", "Mrs", "Ms", "Prof", "St", "Hr", "Fr", "Sr", "Sra", "Dra", "M"];
/// In so few words their order matters; more of them may be put in many ways.
const FEW_WORDS: usize = 6;
/// Words of a replaced name, at most.
const NAME_WORDS: usize = 3;
/// Characters of a replaced name in scripts without spaces, at most.
const NAME_CHARS: usize = 8;

/// How a new text relates to an existing one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Relation {
    /// It has the same words, apart from their endings and from words without a meaning of their
    /// own.
    Same,
    /// It has no word that the other one does not have, or the same words in another order.
    Less,
    /// It adds words to the other one.
    More,
    /// It gives another value to the same property of the same thing.
    Changed,
    /// It differs in words, and both texts may hold.
    Other,
}

/// Returns the form of a text for comparisons: words in lower case without marks around them, one
/// space between them, and whether it is a question.
pub(crate) fn comparable(text: &str) -> String {
    let words = text.split_whitespace().map(trimmed).filter(|value| !value.is_empty());
    let mut plain = words.map(str::to_lowercase).collect::<Vec<_>>().join(" ");
    if plain.is_empty() {
        return text.trim().to_owned();
    }
    if is_question(text) {
        plain.push_str(" ?");
    }
    plain
}

/// Returns a word without the marks around it. The point of `.5` is a part of the number, and a sign
/// such as `!=` is a word.
fn trimmed(word: &str) -> &str {
    let inner = word.trim_matches(MARKS);
    if !inner.contains(char::is_alphanumeric) {
        return if inner.is_empty() { inner } else { word };
    }
    let start = word.find(inner).unwrap_or(0);
    let is_fraction = inner.starts_with(|c: char| c.is_ascii_digit())
        && word[..start].ends_with('.')
        && !word[..start].ends_with("..");
    if is_fraction { word[start - 1..].trim_end_matches(MARKS) } else { inner }
}

/// Whether a text ends with a word after which something must follow, such as "is" or "to".
pub(crate) fn is_unfinished(text: &str) -> bool {
    let is_end = text.ends_with(['.', '!', '?', '。', '！', '？']);
    !is_end && tokens(text).last().is_some_and(|last| last.is_empty() || last.is_frame())
}

fn is_question(text: &str) -> bool {
    text.trim_end().ends_with(['?', '？'])
}

/// Whether two texts with nearly the same words say different things.
pub(crate) fn differs(one: &str, other: &str) -> bool {
    matches!(relation(one, other), Relation::Changed | Relation::Other)
}

/// Says how a new text relates to an old one.
pub(crate) fn relation(old: &str, new: &str) -> Relation {
    let (olds, news) = (statements(old), statements(new));
    if let ([old], [new]) = (olds.as_slice(), news.as_slice()) {
        return of_statements(old, new);
    }
    if olds.len() == news.len() {
        let mut unequal = olds.iter().zip(&news).filter(|(old, new)| !is_equal(old, new));
        match (unequal.next(), unequal.next()) {
            (None, _) => return Relation::Same,
            (Some((old, new)), None) => return of_statements(old, new),
            _ => {}
        }
    }
    // One of several statements may have changed, but the others of the old text still hold.
    match of_statements(old, new) {
        Relation::Changed => Relation::Other,
        relation => relation,
    }
}

/// Returns how much of their words two texts share, from 0 to 1.
pub(crate) fn shared_words(one: &str, other: &str) -> f64 {
    Diff::of(&tokens(one), &tokens(other)).map_or(0.0, |diff| diff.shared())
}

fn is_equal(one: &str, other: &str) -> bool {
    comparable(one) == comparable(other)
}

/// Takes a text apart into statements. A point after a number or a title does not end one.
fn statements(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for sentence in sentences(text) {
        match found.last_mut() {
            Some(last) if last.strip_suffix('.').is_some_and(is_abbreviated) => {
                last.push(' ');
                last.push_str(sentence);
            }
            _ => found.push(sentence.to_owned()),
        }
    }
    found
}

/// Whether a point after this is not the end of a sentence.
fn is_abbreviated(text: &str) -> bool {
    let word = text.rsplit(char::is_whitespace).next().unwrap_or_default();
    text.ends_with(char::is_numeric) || TITLES.contains(&word)
}

fn of_statements(old: &str, new: &str) -> Relation {
    let (olds, news) = (tokens(old), tokens(new));
    if is_question(old) != is_question(new) {
        return Relation::Other;
    }
    let Some(diff) = Diff::of(&olds, &news) else { return Relation::Other };
    let hunks = diff.hunks();
    let same = if diff.has_other_links() { Relation::Other } else { Relation::Same };
    if hunks.is_empty() {
        return same;
    }
    match diff.moved(FEW_WORDS) {
        Some(Relation::Same) => return same,
        Some(moved) => return moved,
        None => {}
    }
    if hunks.iter().any(|hunk| hunk.replaces() || hunk.has_value()) {
        let changed = Change { olds: &olds, news: &news, hunks, diff: &diff };
        return if changed.holds() { Relation::Changed } else { Relation::Other };
    }
    let loses = hunks.iter().any(|hunk| !hunk.old.is_empty());
    let gains = hunks.iter().any(|hunk| !hunk.new.is_empty());
    match (loses, gains) {
        (true, false) => Relation::Less,
        (false, true) => Relation::More,
        _ => Relation::Other,
    }
}

/// Two statements that differ in values, negations or names.
struct Change<'a> {
    olds: &'a [Token],
    news: &'a [Token],
    hunks: &'a [Hunk<'a>],
    diff: &'a Diff<'a>,
}

impl Change<'_> {
    /// Whether the new statement can only hold if the old one does not: both give a value to the
    /// same property of the same thing, there is only one such thing, and it can have only one such
    /// value.
    fn holds(&self) -> bool {
        let Some(hunk) = self.hunks.first() else { return false };
        let claims = [
            Claim::new(self.olds, hunk.old_at, hunk.old_length),
            Claim::new(self.news, hunk.new_at, hunk.new_length),
        ];
        let is_unique = claims.iter().all(|claim| claim.is_rule() || claim.is_about_one_thing());
        if !self.is_about_now() || !is_unique {
            return false;
        }
        // A negation says the opposite wherever it is; in French it has two parts.
        if self.hunks.iter().all(Hunk::negates) {
            return claims.iter().all(Claim::is_denied_as_a_whole)
                && [self.olds, self.news].iter().all(|tokens| tokens.iter().any(Token::is_frame));
        }
        // With two values, such as an hour and a season, one may say when the other holds.
        let is_single = self.hunks.len() == 1 && !self.differs_in_conditions(hunk);
        let is_framed = is_framed(self.olds, hunk.old_at) && is_framed(self.news, hunk.new_at);
        if !is_single || !is_framed {
            return false;
        }
        if hunk.denies() {
            return claims.iter().all(Claim::is_state);
        }
        if hunk.is_value() {
            return !self.is_listed(hunk)
                && claims.iter().all(|claim| claim.has_one_value(claim.kind()));
        }
        is_short(&hunk.old) && is_short(&hunk.new) && claims.iter().all(Claim::is_name)
    }

    /// Whether both statements say how something that they name is now.
    fn is_about_now(&self) -> bool {
        let sides = [self.olds, self.news];
        let is_rule = self.olds.first().is_some_and(|token| token.is(Role::Directive));
        let is_update = self.news.iter().any(|token| token.is(Role::Change));
        (is_rule || self.diff.shared_content() > 0)
            && !sides.iter().any(|tokens| starts_with_pronoun(tokens))
            && (is_update || !sides.iter().any(|tokens| tells_the_past(tokens)))
    }

    /// Whether the statements also differ in when, or in which sense, they hold: a shop has one hour on
    /// working days and another one on Sundays, and somebody has a home in term and one in the
    /// holidays.
    fn differs_in_conditions(&self, hunk: &Hunk<'_>) -> bool {
        const KINDS: [&[Role]; 5] = [
            &[Role::Number, Role::Daypart],
            &[Role::Weekday],
            &[Role::Month],
            &[Role::Frequency],
            &[Role::Condition],
        ];
        let said = |tokens: &[Token], roles: &[Role]| -> Vec<String> {
            let found = tokens.iter().flat_map(|token| token.meanings_in(roles));
            let mut found: Vec<String> = found.map(|(_, value)| value.to_owned()).collect();
            found.sort_unstable();
            found
        };
        // Who is somewhere part-time may be elsewhere the rest of the time.
        let is_limited = !said(self.olds, &[Role::Condition]).is_empty();
        if is_limited && !hunk.is_value() {
            return true;
        }
        let differing =
            KINDS.iter().filter(|roles| said(self.olds, roles) != said(self.news, roles));
        differing.count() > usize::from(hunk.is_value())
    }

    /// Whether both values may hold, as with the days on which something is closed.
    fn is_listed(&self, hunk: &Hunk<'_>) -> bool {
        let is_day = |token: &&Token| {
            [Role::Weekday, Role::Month, Role::Daypart].iter().any(|role| token.is(*role))
        };
        hunk.new.iter().any(is_day) && self.olds.iter().any(|token| token.is(Role::Additive))
    }
}

/// Whether words can be a name.
fn is_short(tokens: &[&Token]) -> bool {
    let most = if tokens.iter().any(|token| token.is_wide) { NAME_CHARS } else { NAME_WORDS };
    !tokens.is_empty() && tokens.len() <= most
}

/// Whether a value at this position is said of something that was named before.
fn is_framed(tokens: &[Token], at: usize) -> bool {
    let before = &tokens[..at.min(tokens.len())];
    let is_said = before.iter().enumerate().any(|(at, token)| {
        (at == 0 && token.is(Role::Directive)) || (token.is_frame() && (at > 0 || token.is_colon))
    });
    if is_said {
        return true;
    }
    // Without spaces and without a particle, the verb may come last. A number before a verb of
    // possession is part of a name, as in "server 1 has".
    let Some(token) = tokens.get(at).filter(|_| at > 1) else { return false };
    let is_wide = before.iter().any(|token| token.is_wide);
    let is_numbered =
        token.is(Role::Number) && tokens.get(at + 1).is_some_and(|next| next.is(Role::Be));
    is_wide && !is_numbered && tokens[at..].iter().any(Token::is_frame)
}

/// Whether a statement is about something that only a context names.
fn starts_with_pronoun(tokens: &[Token]) -> bool {
    let first = tokens.iter().find(|token| !token.is(Role::Small) || token.is(Role::Pronoun));
    first.is_some_and(|token| token.is(Role::Pronoun))
}

/// Whether a statement tells what happened: that stays true, whatever happens next.
fn tells_the_past(tokens: &[Token]) -> bool {
    let is_now = tokens.iter().any(|token| token.is(Role::Be) && !token.is(Role::Past));
    tokens.iter().any(|token| {
        token.is(Role::Past) || (!is_now && (token.is(Role::Participle) || token.is_past_tense()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn case_blanks_and_marks_make_no_difference() {
        for (one, other) in [
            ("The gateway stays on loopback.", "the  gateway stays on LOOPBACK"),
            ("\"Tea\" (green)", "tea green"),
            ("数据库在柏林。", "数据库在柏林"),
        ] {
            assert_eq!(comparable(one), comparable(other));
            assert!(!differs(one, other));
        }
        assert_eq!(comparable("..."), "...");
    }

    #[test]
    fn what_says_something_else_differs() {
        for (one, other) in [
            ("The gateway listens on port 8081.", "The gateway listens on port 8082."),
            ("temperature is -5", "temperature is 5"),
            ("Use C for this", "Use C++ for this"),
            ("x=1 holds", "x!=1 holds"),
            ("It is in ~/bin", "It is in /bin"),
            ("The standup is at 10:00", "The standup is at 11:00"),
            ("Lin likes tea", "Lin likes no tea"),
            ("Never deploy on Fridays", "Always deploy on Fridays"),
            ("Tom owes Lin 40 euros", "Lin owes Tom 40 euros"),
            ("Lin is vegan", "Lin is vegan?"),
            ("Lin mag Tee", "Lin mag keinen Tee"),
            ("version 1.23", "version 12.3"),
        ] {
            assert!(differs(one, other), "{one} / {other}");
        }
    }

    #[test]
    fn small_words_and_endings_do_not() {
        for (one, other) in [
            ("The gateway stays on loopback", "The gateway stays on the loopback"),
            ("Lin prefers green tea", "Lin prefers the green teas"),
        ] {
            assert!(!differs(one, other), "{one} / {other}");
        }
    }
}

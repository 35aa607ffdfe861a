//! What a statement says of what: whether only one thing can be meant, and whether it can have only
//! one value.
//!
//! Two values of one property exclude each other only if both conditions hold, so both are stated
//! positively: what the tables do not know is not unique, and then both statements stay.

use super::token::{Role, Token};

/// A subject with a departure has at most so many words: with a destination, or a number of a line,
/// it is one of several.
const PLAIN_SUBJECT: usize = 2;
/// Words that make what follows definite.
const DEFINITE: &[&str] =
    &["the", "der", "die", "das", "den", "dem", "le", "la", "les", "l'", "el", "los", "las"];
/// Words for the owner of something of which the owner may have several.
const POSSESSIVE: &[&str] = &[
    "my", "your", "his", "her", "their", "mein", "meine", "dein", "deine", "sein", "seine", "ihr",
    "ihre", "mon", "ma", "mes", "ton", "ta", "son", "sa", "mi", "mis", "tu", "su", "unser",
    "unsere", "notre", "nos", "nuestro", "nuestra", "our",
];
/// Words for those who speak.
const SPEAKER: &[&str] =
    &["i", "we", "ich", "wir", "je", "nous", "yo", "nosotros", "我", "我们", "私"];
/// Articles and titles, which may stand between a verb and a name.
const BEFORE_NAME: &[&str] = &[
    "the", "der", "die", "das", "le", "la", "l'", "el", "de", "の", "的", "dr", "mr", "mrs", "ms",
    "prof", "hr", "herr",
];
/// Words before an hour.
const AT: &[&str] =
    &["at", "um", "gegen", "ab", "bis", "until", "till", "from", "to", "à", "vers", "las", "la"];
/// Words that limit a negation to a part of what is said.
const ONLY: &[&str] = &[
    "only",
    "just",
    "yet",
    "always",
    "nur",
    "immer",
    "noch",
    "seulement",
    "toujours",
    "encore",
    "solo",
    "sólo",
    "solamente",
    "siempre",
    "todavía",
    "只",
    "仅",
    "だけ",
    "总是",
    "いつも",
];

/// A statement, and the position in it of the words that another statement has differently.
pub(super) struct Claim<'a> {
    tokens: &'a [Token],
    at: usize,
    /// How many words these are.
    length: usize,
    /// The position of the verb, colon or particle before them.
    frame: Option<usize>,
}

/// The kinds of values that exclude each other under different conditions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ValueKind {
    /// An hour, day or month.
    Time,
    /// How often.
    Frequency,
    /// A number, with or without a unit.
    Amount,
}

impl<'a> Claim<'a> {
    pub(super) fn new(tokens: &'a [Token], at: usize, length: usize) -> Self {
        let before = &tokens[..at.min(tokens.len())];
        let is_frame = |(at, token): (usize, &Token)| {
            (token.is_frame() && at > 0) || token.is_colon && token.is_frame()
        };
        let frame = before.iter().enumerate().position(is_frame);
        Self { tokens, at, length, frame }
    }

    /// Whether there is exactly one thing of which the statement can be true: a name, those who
    /// speak, something definite, or a property of which everybody has one.
    pub(super) fn is_about_one_thing(&self) -> bool {
        let subject = self.subject();
        let Some(first) = subject.iter().find(|token| !token.is(Role::Change)) else {
            return false;
        };
        let is_vague = (0..self.at.min(self.tokens.len())).any(|at| self.is_vague_at(at));
        // "The cat" is the only one that is meant.
        let is_definite = is_article(first) && !self.verb_has(&[Role::Settle], usize::MAX);
        let before = &self.tokens[..self.at.min(self.tokens.len())];
        let is_one_of_many = before.iter().enumerate().any(|(at, token)| {
            // "My brother Tom" is one.
            let is_named = !token.is_wide
                && before.get(at + 1).is_some_and(|next| next.is_capital && !next.is(Role::Kin));
            token.is(Role::Kin) && !is_named && !is_definite
        });
        let is_owned = POSSESSIVE.contains(&first.text.as_str());
        let has_property = subject.iter().any(|token| token.is(Role::Function));
        !is_vague && !is_one_of_many && (!is_owned || has_property)
    }

    /// Whether the statement gives a rule instead of saying how something is.
    pub(super) fn is_rule(&self) -> bool {
        self.tokens.first().is_some_and(|token| token.is(Role::Directive))
    }

    /// Whether a negation in it denies all of it.
    pub(super) fn is_denied_as_a_whole(&self) -> bool {
        let is_limited = |(at, token): (usize, &Token)| {
            let next = self.tokens.get(at + 1);
            token.is(Role::Polarity)
                && !token.is(Role::Frequency)
                && next.is_some_and(|next| ONLY.contains(&next.text.as_str()))
        };
        !self.tokens.iter().enumerate().any(is_limited)
    }

    /// Whether it says in which state its subject is, such as on or off.
    pub(super) fn is_state(&self) -> bool {
        self.is_copula(0)
    }

    /// Whether its subject can have only one value of this kind.
    pub(super) fn has_one_value(&self, kind: ValueKind) -> bool {
        let is_rule = self.is_rule();
        match kind {
            ValueKind::Amount if is_rule => {
                !self.is_of_several() && !(0..self.tokens.len()).any(|at| self.is_vague_at(at))
            }
            _ if is_rule => false,
            ValueKind::Amount => {
                let is_count = self.frame.is_some_and(|frame| {
                    self.tokens[frame].is(Role::Own) && self.is_direct(frame, 0)
                });
                !self.is_of_several()
                    && (is_count
                        || self.verb_has(&[Role::Amount, Role::Schedule], 0)
                        || self.verb_has(&[Role::Settle], 1)
                        || (!self.is_recurring() || self.is_measured()) && self.is_copula(1))
            }
            ValueKind::Frequency => self.frame.is_some() || self.has_late_verb(&[Role::Schedule]),
            ValueKind::Time => !self.is_recurring() && self.is_one_time() && self.has_one_time(),
        }
    }

    /// Returns the kind of a value at this position.
    pub(super) fn kind(&self) -> ValueKind {
        let value = self.value();
        let has =
            |role: Role| value.iter().any(|token| token.values().any(|value| value.0 == role));
        let is_day = |token: Option<&Token>| {
            token.is_some_and(|token| token.is(Role::Month) || token.is(Role::Daypart))
        };
        let around = [self.at.checked_sub(1), Some(self.at + value.len())];
        let [before, after] = around.map(|at| at.and_then(|at| self.tokens.get(at)));
        if has(Role::Frequency) {
            ValueKind::Frequency
        } else if [Role::Weekday, Role::Month, Role::Daypart].into_iter().any(has)
            || self.is_hour()
            || is_day(before)
            || is_day(after)
        {
            ValueKind::Time
        } else {
            ValueKind::Amount
        }
    }

    /// Whether the value is an hour of a day.
    fn is_hour(&self) -> bool {
        let is_hour = |token: &Token| {
            token.text.contains(':') || token.values().any(|value| value == (Role::Unit, "clock"))
        };
        let before = self.at.checked_sub(1).and_then(|at| self.tokens.get(at));
        before.is_some_and(|token| AT.contains(&token.text.as_str()))
            || self.value().iter().any(is_hour)
            || self.tokens.get(self.at + self.length).is_some_and(is_hour)
    }

    /// Whether only one small word is before the value. With two, as in "is in on Mondays", what is
    /// said is where somebody is then.
    fn is_said_at_once(&self) -> bool {
        let before = self.tokens[..self.at.min(self.tokens.len())].iter().rev();
        let small = before.take_while(|token| token.is(Role::Small) && !token.is_frame());
        small.filter(|token| !is_article(token)).count() <= 1
    }

    fn value(&self) -> &'a [Token] {
        let end = (self.at + self.length).min(self.tokens.len());
        &self.tokens[self.at.min(end)..end]
    }

    /// Whether the value has a unit.
    fn is_measured(&self) -> bool {
        let next = self.tokens.get(self.at + self.length);
        self.value().iter().chain(next).any(|token| token.is(Role::Unit))
    }

    fn is_recurring(&self) -> bool {
        self.tokens.iter().any(|token| token.is(Role::Recurring))
    }

    /// Whether the value is not a day of which another time is said, as in "closes at noon on
    /// Fridays".
    fn is_one_time(&self) -> bool {
        let is_day = |token: &Token| token.is(Role::Weekday) || token.is(Role::Month);
        let end = self.at + self.length;
        let is_elsewhere = |at: usize| at + 1 < self.at || at > end;
        let is_time = |token: &Token| {
            !token.is(Role::Small) && (token.is(Role::Number) || token.is(Role::Daypart))
        };
        !self.value().iter().any(is_day)
            || !self.tokens.iter().enumerate().any(|(at, token)| is_elsewhere(at) && is_time(token))
    }

    /// Whether the subject has one such time: a single thing does what is scheduled.
    fn has_one_time(&self) -> bool {
        let subject = self.subject();
        let is_wide = self.tokens.iter().any(|token| token.is_wide);
        let is_speaker =
            subject.first().is_some_and(|token| SPEAKER.contains(&token.text.as_str()));
        // A single word may be the name of a person, who may do something several times.
        let is_definite = subject.first().is_some_and(is_article);
        let is_thing = !is_speaker && (is_wide || is_definite || subject.len() > 1);
        if self.verb_has(&[Role::Depart], 0) {
            return is_thing && (is_wide || subject.len() <= PLAIN_SUBJECT);
        }
        let is_scheduled = self.verb_has(&[Role::Schedule], 0);
        // A dose is due at every hour at which it is taken.
        let is_due_at_hour = self.is_hour() && self.tokens.iter().any(|token| token.is(Role::Due));
        !is_due_at_hour
            && (self.is_copula(0) && self.is_said_at_once()
                || is_scheduled && (is_thing || self.is_passive()))
    }

    /// Whether the words are the name of something, or of a place where something is.
    pub(super) fn is_name(&self) -> bool {
        let Some(frame) = self.last_frame() else { return false };
        let before = &self.tokens[..self.at.min(self.tokens.len())];
        let token = &self.tokens[frame];
        let is_wide = before.iter().any(|token| token.is_wide);
        let is_settled = (token.is(Role::Settle) && frame > 0)
            || (is_wide && self.tokens[frame..].iter().any(|token| token.is(Role::Settle)));
        let is_several = |token: &Token| token.is(Role::Additive) && !token.is(Role::Settle);
        let is_given = token.is(Role::Be) || token.is_colon;
        let between = self.tokens.get(frame + 1..self.at).unwrap_or_default();
        let joins = |token: &Token| BEFORE_NAME.contains(&token.text.as_str());
        let is_named = is_given && between.iter().all(joins);
        let has_property = self.subject().iter().any(|token| token.is(Role::Function));
        !self.tokens.iter().any(is_several)
            && (is_settled || is_named && (has_property || self.is_called_by_a_name(frame)))
    }

    /// Whether something definite is a name, as in "the driver is Ana". German writes every noun
    /// like a name, so there this says nothing.
    fn is_called_by_a_name(&self, frame: usize) -> bool {
        let first = self.tokens.first().map_or("", |token| token.text.as_str());
        let is_copula = ["is", "est", "es"].contains(&self.tokens[frame].text.as_str());
        (DEFINITE.contains(&first) || POSSESSIVE.contains(&first))
            && is_copula
            && self.tokens.get(self.at).is_some_and(|value| value.is_capital)
    }

    /// Returns the words for what the statement is about.
    fn subject(&self) -> &'a [Token] {
        let at = self.at.min(self.tokens.len());
        match self.frame {
            // A property before a colon has no verb.
            Some(frame) if self.tokens[frame].is_colon => &self.tokens[..=frame],
            Some(frame) => &self.tokens[..frame],
            None => &self.tokens[..at],
        }
    }

    /// Whether an indefinite article or the like is at a position.
    fn is_vague_at(&self, at: usize) -> bool {
        let token = &self.tokens[at];
        let next = self.tokens.get(at + 1);
        // In Spanish it is also the word before an hour.
        let is_preposition = token.text == "a"
            && next.is_some_and(|next| ["la", "las", "el", "los"].contains(&next.text.as_str()));
        token.is(Role::Vague) && !is_preposition
    }

    /// Whether the value is of a kind of which something can have several, such as a port.
    fn is_of_several(&self) -> bool {
        let subject = self.subject().len();
        self.tokens[subject.min(self.tokens.len())..].iter().any(|token| token.is(Role::Several))
    }

    /// Whether a verb with one of these roles stands between the subject and the value, with so many
    /// other words at most; in scripts without spaces also after the value.
    fn verb_has(&self, roles: &[Role], others: usize) -> bool {
        let Some(frame) = self.frame else { return self.has_late_verb(roles) };
        let between = &self.tokens[frame..self.at.min(self.tokens.len())];
        let is_verb = |token: &Token| roles.iter().any(|role| token.is(*role));
        let is_other = |token: &&Token| !is_verb(token) && !token.is_frame() && !is_plain(token);
        (between.iter().any(is_verb) && between.iter().filter(is_other).count() <= others)
            || self.has_late_verb(roles)
    }

    /// Whether a verb with one of these roles follows the value: in a script without spaces, or in
    /// German.
    fn has_late_verb(&self, roles: &[Role]) -> bool {
        let rest = self.tokens.get(self.at + self.length..).unwrap_or_default();
        let is_verb = |token: &Token| roles.iter().any(|role| token.is(*role));
        // Endings of Japanese verbs are no words of their own.
        let is_known = |token: &Token| {
            is_verb(token) || token.is_frame() || is_plain(token) || is_hiragana(&token.text)
        };
        let is_wide = self.tokens.iter().any(|token| token.is_wide);
        self.frame.is_none_or(|frame| self.is_direct(frame, 0))
            && (is_wide || self.is_passive())
            && rest.iter().any(is_verb)
            && rest.iter().all(is_known)
    }

    /// Whether the value is said with "is", with so many other words between them at most.
    fn is_copula(&self, others: usize) -> bool {
        // In a script without spaces the verb may follow the value.
        let rest = self.tokens.get(self.at + self.length..).unwrap_or_default();
        let before = &self.tokens[..self.at.min(self.tokens.len())];
        before.iter().enumerate().any(|(at, token)| {
            let is_copula =
                (token.is(Role::Be) || token.is_colon) && token.is_frame() && !token.is(Role::Own);
            is_copula
                && (at > 0 || token.is_colon)
                && (!token.is_wide || rest.iter().all(is_plain))
                && self.is_direct(at, others)
        })
    }

    fn is_passive(&self) -> bool {
        self.frame.is_some_and(|frame| {
            let token = &self.tokens[frame];
            token.is(Role::Be) || ["wird", "werden"].contains(&token.text.as_str())
        })
    }

    /// Whether so many words with a meaning of their own stand between a verb and the value at
    /// most.
    fn is_direct(&self, frame: usize, others: usize) -> bool {
        let between = self.tokens.get(frame + 1..self.at).unwrap_or_default();
        between.iter().filter(|token| !is_plain(token)).count() <= others
    }

    fn last_frame(&self) -> Option<usize> {
        let before = &self.tokens[..self.at.min(self.tokens.len())];
        let last = before.iter().rposition(|token| !token.is(Role::Small) || token.is_frame());
        last.filter(|at| before[*at].is_frame())
    }
}

fn is_article(token: &Token) -> bool {
    DEFINITE.contains(&token.text.as_str())
}

fn is_hiragana(word: &str) -> bool {
    word.chars().all(|c| ('\u{3041}'..='\u{309f}').contains(&c))
}

/// Whether a word is a value, or has no meaning of its own.
fn is_plain(token: &Token) -> bool {
    token.is_empty() || token.values().next().is_some()
}

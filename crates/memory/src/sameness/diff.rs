//! Where two statements differ.

use super::Relation;
use super::token::{Role, Token};

/// The longest part in which two statements differ, in words; longer ones are not compared.
const MOST_TOKENS: usize = 400;

/// Words of one statement in the place of words of another. Words without a meaning of their own
/// are left out.
#[derive(Clone, Debug)]
pub(super) struct Hunk<'a> {
    pub(super) old: Vec<&'a Token>,
    pub(super) new: Vec<&'a Token>,
    /// Where the words are, or would be, in the old statement,
    pub(super) old_at: usize,
    /// and in the new one.
    pub(super) new_at: usize,
    /// How many words the old statement has from there on, with those that were left out,
    pub(super) old_length: usize,
    /// and the new one.
    pub(super) new_length: usize,
}

/// The differences of two statements.
pub(super) struct Diff<'a> {
    olds: &'a [Token],
    news: &'a [Token],
    /// Positions of words that both have, in order.
    shared: Vec<(usize, usize)>,
    hunks: Vec<Hunk<'a>>,
}

impl<'a> Diff<'a> {
    /// Compares two statements; `None` if they are too long.
    pub(super) fn of(olds: &'a [Token], news: &'a [Token]) -> Option<Self> {
        // Long texts that are nearly equal differ in few places.
        let same = |(old, new): &(&Token, &Token)| old.is_same(new);
        let start = olds.iter().zip(news).take_while(same).count();
        let (old_rest, new_rest) = (&olds[start..], &news[start..]);
        let end = old_rest.iter().rev().zip(new_rest.iter().rev()).take_while(same).count();
        let (old_end, new_end) = (olds.len() - end, news.len() - end);
        let (old_part, new_part) = (&olds[start..old_end], &news[start..new_end]);
        if old_part.len().max(new_part.len()) > MOST_TOKENS {
            return None;
        }
        let middle = longest_common(old_part, new_part);
        let middle = middle.into_iter().map(|(old, new)| (start + old, start + new));
        let ends = (old_end..olds.len()).zip(new_end..news.len());
        let shared: Vec<_> = (0..start).zip(0..start).chain(middle).chain(ends).collect();
        let mut hunks = Vec::new();
        let (mut old_at, mut new_at) = (0, 0);
        for (old_end, new_end) in shared.iter().copied().chain([(olds.len(), news.len())]) {
            hunks.extend(Hunk::of(
                (&olds[old_at..old_end], old_at),
                (&news[new_at..new_end], new_at),
            ));
            (old_at, new_at) = (old_end + 1, new_end + 1);
        }
        Some(Self { olds, news, shared, hunks })
    }

    pub(super) fn hunks(&self) -> &[Hunk<'a>] {
        &self.hunks
    }

    /// Counts the shared words that say what the statements are about.
    pub(super) fn shared_content(&self) -> usize {
        self.shared.iter().filter(|(at, _)| self.olds[*at].is_content()).count()
    }

    /// Returns which part of their words two statements share.
    pub(super) fn shared(&self) -> f64 {
        let counted = |tokens: &[Token]| tokens.iter().filter(|token| !token.is_empty()).count();
        let all = counted(self.olds) + counted(self.news);
        let both = self.shared.iter().filter(|(at, _)| !self.olds[*at].is_empty()).count();
        if all == 0 { 0.0 } else { 2.0 * both as f64 / all as f64 }
    }

    /// Whether small words that carry a meaning differ: a letter is from somebody or for somebody,
    /// and what was is not what is. Before a value such a word may be missing, but not "was".
    pub(super) fn has_other_links(&self) -> bool {
        let links = |tokens: &'a [Token]| -> Vec<(&'a str, bool)> {
            let is_before_value = |at: usize| {
                !tokens[at].is(Role::Past)
                    && tokens.get(at + 1).is_some_and(|next| next.values().next().is_some())
            };
            let found = tokens.iter().enumerate();
            found.filter_map(|(at, token)| Some((token.link()?, is_before_value(at)))).collect()
        };
        let (mut olds, mut news) = (links(self.olds), links(self.news));
        olds.retain(|old| match news.iter().position(|new| new.0 == old.0) {
            Some(at) => {
                news.remove(at);
                false
            }
            None => true,
        });
        let is_needed = |left: &[(&str, bool)]| left.iter().any(|(_, before)| !before);
        (!olds.is_empty() && !news.is_empty()) || is_needed(&olds) || is_needed(&news)
    }

    /// Says what it means if the words are the same and only their order differs. In a few words,
    /// only values may be in another place; `None` if other words differ.
    pub(super) fn moved(&self, few: usize) -> Option<Relation> {
        let mut left: Vec<&Token> = self.hunks.iter().flat_map(|hunk| &hunk.old).copied().collect();
        let mut has_content = false;
        for new in self.hunks.iter().flat_map(|hunk| &hunk.new) {
            let at = left.iter().position(|old| old.is_same(new))?;
            has_content |= new.values().next().is_none();
            left.swap_remove(at);
        }
        if !left.is_empty() {
            return None;
        }
        let is_short = self.olds.len().min(self.news.len()) <= few;
        let values = |tokens: &[Token], role: Role| -> Vec<String> {
            let found = tokens.iter().flat_map(Token::values).filter(|value| value.0 == role);
            found.map(|value| value.1.to_owned()).collect()
        };
        let roles = [Role::Number, Role::Weekday, Role::Month, Role::Daypart, Role::Opposite];
        let in_order =
            roles.iter().all(|role| values(self.olds, *role) == values(self.news, *role));
        Some(match (in_order, has_content) {
            (true, false) => Relation::Same,
            (true, true) if !is_short && self.is_one_move() => Relation::Less,
            _ => Relation::Other,
        })
    }

    /// Whether a single part was moved; where two parts change places, roles do too.
    fn is_one_move(&self) -> bool {
        let texts = |tokens: &[&Token]| -> Vec<String> {
            tokens.iter().map(|token| token.text.clone()).collect()
        };
        match self.hunks.as_slice() {
            [one, other] => {
                !one.replaces()
                    && !other.replaces()
                    && (texts(&one.old) == texts(&other.new)
                        && texts(&one.new) == texts(&other.old))
            }
            _ => false,
        }
    }
}

impl<'a> Hunk<'a> {
    fn of(
        (olds, old_at): (&'a [Token], usize),
        (news, new_at): (&'a [Token], usize),
    ) -> Option<Self> {
        let whole = Self {
            old: olds.iter().collect(),
            new: news.iter().collect(),
            old_at,
            new_at,
            old_length: olds.len(),
            new_length: news.len(),
        };
        // "On" and "off", "am" and "pm" are small words too.
        if olds.len() == news.len() && (whole.is_opposite() || whole.is_value()) {
            return Some(whole);
        }
        let first =
            |tokens: &[Token]| tokens.iter().position(|token| !token.is_empty()).unwrap_or(0);
        let length = |tokens: &[Token]| {
            let last = tokens.iter().rposition(|token| !token.is_empty());
            last.map_or(0, |last| last + 1 - first(tokens))
        };
        let hunk = Self {
            old_length: length(olds),
            new_length: length(news),
            old: olds.iter().filter(|token| !token.is_empty()).collect(),
            new: news.iter().filter(|token| !token.is_empty()).collect(),
            old_at: old_at + first(olds),
            new_at: new_at + first(news),
        };
        (!hunk.old.is_empty() || !hunk.new.is_empty()).then_some(hunk)
    }

    /// Whether words take the place of others.
    pub(super) fn replaces(&self) -> bool {
        !self.old.is_empty() && !self.new.is_empty()
    }

    /// Whether a value or a negation is among the words.
    pub(super) fn has_value(&self) -> bool {
        let has = |token: &&Token| token.is(Role::Polarity) || token.values().next().is_some();
        self.old.iter().any(has) || self.new.iter().any(has)
    }

    /// Whether one of the two is a negation of the other.
    fn is_negation(&self) -> bool {
        let all = |tokens: &[&Token]| tokens.iter().all(|token| token.is(Role::Polarity));
        self.old.is_empty() != self.new.is_empty() && all(&self.old) && all(&self.new)
    }

    /// Whether one side says that the other is not so: "not", or "never" in place of "always".
    pub(super) fn negates(&self) -> bool {
        let is_always = |token: &Token, other: &Token| {
            other.is(Role::Polarity) && token.is(Role::Frequency) && !token.is(Role::Polarity)
        };
        let are_opposite =
            |(old, new): (&&Token, &&Token)| is_always(old, new) || is_always(new, old);
        let is_replaced = self.replaces()
            && self.old.len() == self.new.len()
            && self.old.iter().zip(&self.new).all(are_opposite);
        self.is_negation() || is_replaced
    }

    /// Whether one side denies the other.
    pub(super) fn denies(&self) -> bool {
        self.negates() || self.is_opposite()
    }

    /// Whether the words are opposites, such as on and off.
    fn is_opposite(&self) -> bool {
        let are_opposite = |(old, new): (&&Token, &&Token)| {
            old.values().any(|(role, value)| {
                let pair = value.split_once(' ').map(|value| value.0);
                role == Role::Opposite
                    && new.values().any(|(role, other)| {
                        role == Role::Opposite
                            && other != value
                            && other.split_once(' ').map(|other| other.0) == pair
                    })
            })
        };
        self.replaces()
            && self.old.len() == self.new.len()
            && self.old.iter().zip(&self.new).all(are_opposite)
    }

    /// Whether a value takes the place of another one of its kind.
    pub(super) fn is_value(&self) -> bool {
        let all = |tokens: &[&Token]| tokens.iter().all(|token| token.values().next().is_some());
        let kinds = |tokens: &[&Token]| -> Vec<Role> {
            tokens.iter().flat_map(|token| token.values()).map(|value| value.0).collect()
        };
        let (olds, news) = (kinds(&self.old), kinds(&self.new));
        let is_time = |role: &Role| matches!(role, Role::Number | Role::Daypart);
        let is_alike = olds.iter().any(|role| news.contains(role))
            || olds.iter().any(is_time) && news.iter().any(is_time);
        self.replaces() && all(&self.old) && all(&self.new) && is_alike
    }
}

/// Finds the longest sequence of words that two statements share.
fn longest_common(olds: &[Token], news: &[Token]) -> Vec<(usize, usize)> {
    let width = news.len() + 1;
    let mut lengths = vec![0_u16; (olds.len() + 1) * width];
    for (at, old) in olds.iter().enumerate().rev() {
        for (to, new) in news.iter().enumerate().rev() {
            lengths[at * width + to] = if old.is_same(new) {
                lengths[(at + 1) * width + to + 1] + 1
            } else {
                lengths[(at + 1) * width + to].max(lengths[at * width + to + 1])
            };
        }
    }
    let (mut at, mut to, mut found) = (0, 0, Vec::new());
    while at < olds.len() && to < news.len() {
        if olds[at].is_same(&news[to]) {
            found.push((at, to));
            (at, to) = (at + 1, to + 1);
        } else if lengths[(at + 1) * width + to] >= lengths[at * width + to + 1] {
            at += 1;
        } else {
            to += 1;
        }
    }
    found
}

//! Statements of a report for people: typed by the library, put into words by the calling program.

use serde::{Serialize, Serializer};

/// Something that a report says. The library only types it: the words may name options and commands
/// of the program that asked, so that program chooses them. It is serialised as its words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Statement<T, W = String> {
    /// A typed statement; as JSON it is `null`.
    Typed(T),
    /// The same in the words of the program that asked.
    Worded(W),
}

impl<T, W> Statement<T, W> {
    /// Returns statements that are not in words yet.
    pub fn list(all: impl IntoIterator<Item = T>) -> Vec<Self> {
        all.into_iter().map(Self::Typed).collect()
    }

    /// Puts a statement into words, unless it is in words already.
    #[must_use]
    pub fn worded(self, words: impl FnOnce(T) -> W) -> Self {
        match self {
            Self::Typed(what) => Self::Worded(words(what)),
            Self::Worded(words) => Self::Worded(words),
        }
    }

    /// Puts a list of statements into words.
    pub fn word_all(list: &mut Vec<Self>, mut words: impl FnMut(T) -> W) {
        let worded = std::mem::take(list).into_iter().map(|said| said.worded(&mut words));
        *list = worded.collect();
    }

    /// Returns the statement if it is typed.
    pub const fn typed(&self) -> Option<&T> {
        match self {
            Self::Typed(what) => Some(what),
            Self::Worded(_) => None,
        }
    }

    /// Returns the statement if it is typed.
    pub fn into_typed(self) -> Option<T> {
        match self {
            Self::Typed(what) => Some(what),
            Self::Worded(_) => None,
        }
    }

    /// Returns the words, if there are any.
    pub const fn words(&self) -> Option<&W> {
        match self {
            Self::Typed(_) => None,
            Self::Worded(words) => Some(words),
        }
    }
}

impl<T, W> From<T> for Statement<T, W> {
    fn from(what: T) -> Self {
        Self::Typed(what)
    }
}

impl<T, W: Serialize> Serialize for Statement<T, W> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.words().serialize(serializer)
    }
}

//! Walks a value and reports its unknown fields and words.

use crate::id::{AgentId, ItemId, RecordId};
use crate::moment::Moment;
use crate::opaque::Opaque;
use crate::pairs::Pairs;
use crate::unknown::Nullable;

/// One step from an object or a list to one of its values.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Step {
    Key(&'static str),
    Index(usize),
}

/// A position in a JSON document.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pointer(Vec<Step>);

impl Pointer {
    pub(crate) fn within(&mut self, step: Step, walk: impl FnOnce(&mut Self)) {
        self.0.push(step);
        walk(self);
        self.0.pop();
    }
}

impl Pointer {
    /// Returns the position with `*` for every index.
    pub(crate) fn pattern(&self) -> String {
        let step = |step: &Step| match step {
            Step::Key(key) => format!("/{key}"),
            Step::Index(_) => "/*".to_owned(),
        };
        self.0.iter().map(step).collect()
    }
}

impl std::fmt::Display for Pointer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.iter().try_for_each(|step| match step {
            Step::Key(key) => write!(f, "/{key}"),
            Step::Index(index) => write!(f, "/{index}"),
        })
    }
}

/// A field or word that this version does not know.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Surprise<'a> {
    /// A field, by name.
    Field(&'a str),
    /// A word of a vocabulary.
    Word(&'a str),
}

/// A value that may contain fields or words that this version does not know.
pub(crate) trait Survey {
    /// Whether it can never contain any.
    const LEAF: bool = false;

    fn survey(&self, at: &mut Pointer, found: &mut dyn FnMut(&Pointer, Surprise<'_>));
}

macro_rules! leaf {
    ($($ty:ty),*) => {
        $(impl Survey for $ty {
            const LEAF: bool = true;

            fn survey(&self, _: &mut Pointer, _: &mut dyn FnMut(&Pointer, Surprise<'_>)) {}
        })*
    };
}

leaf!(String, bool, u32, u64, f32, f64, Moment, AgentId, RecordId, ItemId, Opaque);

impl<T: Survey> Survey for Option<T> {
    const LEAF: bool = T::LEAF;

    fn survey(&self, at: &mut Pointer, found: &mut dyn FnMut(&Pointer, Surprise<'_>)) {
        if let Some(value) = self {
            value.survey(at, found);
        }
    }
}

impl<T: Survey> Survey for Nullable<T> {
    const LEAF: bool = T::LEAF;

    fn survey(&self, at: &mut Pointer, found: &mut dyn FnMut(&Pointer, Surprise<'_>)) {
        self.0.survey(at, found);
    }
}

impl<T: Survey> Survey for Vec<T> {
    const LEAF: bool = T::LEAF;

    fn survey(&self, at: &mut Pointer, found: &mut dyn FnMut(&Pointer, Surprise<'_>)) {
        if T::LEAF {
            return;
        }
        for (index, value) in self.iter().enumerate() {
            at.within(Step::Index(index), |at| value.survey(at, found));
        }
    }
}

impl<T> Survey for Pairs<T> {
    const LEAF: bool = true;

    fn survey(&self, _: &mut Pointer, _: &mut dyn FnMut(&Pointer, Surprise<'_>)) {}
}

//! What is not searched of an entry, as it is stored.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::source::{SkipReason, SkippedDocument};

/// Names for each reason that are kept for an entry. Every search reads them, and an archive may
/// leave out a million records.
const NAMED: usize = 100;

/// What is left out of an entry: by name, and how many more.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct LeftOut {
    pub(super) named: Vec<SkippedDocument>,
    pub(super) unnamed: BTreeMap<SkipReason, u64>,
}

#[derive(Serialize, Deserialize)]
struct Written<'a> {
    #[serde(borrow)]
    named: Vec<(Cow<'a, str>, Cow<'a, str>)>,
    #[serde(borrow, default, skip_serializing_if = "BTreeMap::is_empty")]
    unnamed: BTreeMap<Cow<'a, str>, u64>,
}

impl LeftOut {
    /// Keeps the first names of each reason, and all duplicates: their paths may become free.
    pub(super) fn of(mut skipped: Vec<SkippedDocument>) -> Self {
        skipped.sort_unstable();
        let mut left_out = Self::default();
        let mut named: BTreeMap<SkipReason, usize> = BTreeMap::new();
        for skipped in skipped {
            let named = named.entry(skipped.reason).or_default();
            *named += 1;
            if *named <= NAMED || skipped.reason == SkipReason::Duplicate {
                left_out.named.push(skipped);
            } else {
                *left_out.unnamed.entry(skipped.reason).or_default() += 1;
            }
        }
        left_out
    }

    /// Adds duplicates.
    pub(super) fn add_duplicates(&mut self, paths: Vec<String>) {
        let duplicate = |path| SkippedDocument { path, reason: SkipReason::Duplicate };
        self.named.extend(paths.into_iter().map(duplicate));
        self.named.sort_unstable();
    }

    /// Returns the duplicates' paths.
    pub(super) fn duplicates(&self) -> impl Iterator<Item = &str> {
        let named = self.named.iter().filter(|skipped| skipped.reason == SkipReason::Duplicate);
        named.map(|skipped| skipped.path.as_str())
    }

    /// Returns the stored form; `None` if nothing is left out.
    pub(super) fn write(&self) -> Option<String> {
        if self.named.is_empty() && self.unnamed.is_empty() {
            return None;
        }
        let named = self.named.iter();
        let written = Written {
            named: named
                .map(|skipped| (skipped.path.as_str().into(), skipped.reason.as_str().into()))
                .collect(),
            unnamed: self
                .unnamed
                .iter()
                .map(|(reason, count)| (reason.as_str().into(), *count))
                .collect(),
        };
        // Strings and numbers can always be written as JSON.
        serde_json::to_string(&written).ok()
    }

    /// Reads the stored form; unknown values are ignored.
    pub(super) fn read(json: &str) -> Self {
        let Ok(written) = serde_json::from_str::<Written<'_>>(json) else { return Self::default() };
        let reason = |word: &str| SkipReason::of_word(word).unwrap_or(SkipReason::Unreadable);
        let skipped = |(path, word): (Cow<'_, str>, Cow<'_, str>)| SkippedDocument {
            path: path.into_owned(),
            reason: reason(&word),
        };
        Self {
            named: written.named.into_iter().map(skipped).collect(),
            unnamed: written
                .unnamed
                .into_iter()
                .map(|(name, count)| (reason(&name), count))
                .collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_kept_for_some_and_counts_for_all() {
        let many = |reason, number: usize| {
            (0..number).map(move |at| SkippedDocument { path: format!("{at:04}"), reason })
        };
        let skipped = many(SkipReason::Superseded, 150_000)
            .chain(many(SkipReason::Duplicate, 300))
            .chain(many(SkipReason::NoText, 2));
        let left_out = LeftOut::of(skipped.collect());
        let json = left_out.write().unwrap();
        assert!(json.len() < 10_000, "{}", json.len());
        assert_eq!(LeftOut::read(&json), left_out);
        assert_eq!(left_out.unnamed, BTreeMap::from([(SkipReason::Superseded, 149_900)]));
        assert_eq!(left_out.duplicates().count(), 300);
        assert_eq!(left_out.named.len(), 402);
        assert_eq!(LeftOut::default().write(), None);
        assert_eq!(LeftOut::read("[["), LeftOut::default());
    }
}

//! Edits of a text at positions, and how each is found again after the text has changed.
//!
//! Only digests of the surrounding text are stored, because configuration files hold keys.

use anemone_format::sha256_hex;
use serde::{Deserialize, Serialize};

/// How many bytes on either side identify a position; the shorter reach is for positions near which
/// something else has changed.
const REACHES: [usize; 2] = [32, 6];

/// One change: it replaces the text at a position with another text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Edit {
    pub(crate) at: usize,
    pub(crate) old: String,
    pub(crate) new: String,
}

impl Edit {
    pub(crate) fn insert(at: usize, new: impl Into<String>) -> Self {
        Self { at, old: String::new(), new: new.into() }
    }
}

/// Applies changes that are sorted and do not overlap.
pub(crate) fn apply(text: &str, edits: &[Edit]) -> String {
    let mut result = String::with_capacity(text.len() + 256);
    let mut done = 0;
    for edit in edits {
        result.push_str(text.get(done..edit.at).unwrap_or_default());
        result.push_str(&edit.new);
        done = edit.at + edit.old.len();
    }
    result.push_str(text.get(done..).unwrap_or_default());
    result
}

/// A change that was made, as it is stored.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq, Serialize)]
pub(crate) struct AppliedEdit {
    /// Where it begins in the changed text.
    at: usize,
    old: String,
    new: String,
    /// Digests of the text before it, for each reach.
    before: Vec<String>,
    after: Vec<String>,
}

impl AppliedEdit {
    /// Returns whether the change replaced this text.
    pub(crate) fn replaced(&self, text: &str) -> bool {
        self.old == text
    }
}

/// Records changes with their positions in the changed text.
pub(crate) fn note(edits: &[Edit], changed: &str) -> Vec<AppliedEdit> {
    let mut shift = 0_isize;
    let mut made = Vec::new();
    for edit in edits {
        let at = edit.at.saturating_add_signed(shift);
        let end = at + edit.new.len();
        let digests = |of: fn(&str, usize, usize) -> &[u8], position| {
            REACHES.iter().map(|reach| digest(of(changed, position, *reach))).collect()
        };
        made.push(AppliedEdit {
            at,
            old: edit.old.clone(),
            new: edit.new.clone(),
            before: digests(before, at),
            after: digests(after, end),
        });
        shift += edit.new.len().cast_signed() - edit.old.len().cast_signed();
    }
    made
}

/// Reverts changes in exactly the text that they produced.
pub(crate) fn take_back(changed: &str, made: &[AppliedEdit]) -> Option<String> {
    let places: Vec<usize> = made.iter().map(|change| change.at).collect();
    without(changed, made, &places)
}

/// Reverts changes in a text that has been edited since; `None` when one of them cannot be located
/// with certainty.
pub(crate) fn take_back_found(text: &str, made: &[AppliedEdit]) -> Option<String> {
    let places: Option<Vec<usize>> = made.iter().map(|change| find(text, change)).collect();
    without(text, made, &places?)
}

/// Restores the old text if every change is at its position.
fn without(text: &str, made: &[AppliedEdit], places: &[usize]) -> Option<String> {
    let mut edits = Vec::new();
    let mut done = 0;
    for (it, at) in made.iter().zip(places) {
        let lies = text.get(*at..)?.starts_with(&it.new) && *at >= done;
        if !lies {
            return None;
        }
        done = at + it.new.len();
        edits.push(Edit { at: *at, old: it.new.clone(), new: it.old.clone() });
    }
    Some(apply(text, &edits))
}

/// Finds the one place of a change: by the text on both sides, or else on one.
fn find(text: &str, made: &AppliedEdit) -> Option<usize> {
    if made.new.is_empty() {
        return None;
    }
    let places: Vec<usize> = text.match_indices(&made.new).map(|(at, _)| at).collect();
    let fits_before = |at: usize, reach: usize| {
        made.before.get(reach) == Some(&digest(before(text, at, REACHES[reach])))
    };
    let fits_after = |at: usize, reach: usize| {
        let end = at + made.new.len();
        made.after.get(reach) == Some(&digest(after(text, end, REACHES[reach])))
    };
    for reach in 0..REACHES.len() {
        let is_both = |at: &usize| fits_before(*at, reach) && fits_after(*at, reach);
        let is_either = |at: &usize| fits_before(*at, reach) || fits_after(*at, reach);
        if let Some(at) = only(places.iter().copied().filter(is_both)) {
            return Some(at);
        }
        if let Some(at) = only(places.iter().copied().filter(is_either)) {
            return Some(at);
        }
    }
    only(places.iter().copied())
}

fn only(mut places: impl Iterator<Item = usize>) -> Option<usize> {
    let first = places.next()?;
    places.next().is_none().then_some(first)
}

fn before(text: &str, at: usize, reach: usize) -> &[u8] {
    &text.as_bytes()[at.saturating_sub(reach)..at]
}

fn after(text: &str, at: usize, reach: usize) -> &[u8] {
    &text.as_bytes()[at..text.len().min(at + reach)]
}

fn digest(bytes: &[u8]) -> String {
    sha256_hex(bytes)[..16].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(text: &str, edits: &[Edit]) -> (String, Vec<AppliedEdit>) {
        let changed = apply(text, edits);
        let made = note(edits, &changed);
        (changed, made)
    }

    #[test]
    fn what_was_done_is_taken_back() {
        let edits = [
            Edit::insert(3, ","),
            Edit { at: 5, old: "false".to_owned(), new: "true".to_owned() },
            Edit::insert(10, "\nxyz"),
        ];
        let (changed, made) = made("abc: false\nend", &edits);
        assert_eq!(changed, "abc,: true\nxyz\nend");
        assert_eq!(take_back(&changed, &made).unwrap(), "abc: false\nend");
    }

    #[test]
    fn a_change_is_found_after_others_changed_the_text_around_it() {
        let (changed, made) = made("one, two, three", &[Edit::insert(8, ",")]);
        assert_eq!(changed, "one, two,, three");
        let later = format!("zero, more, {changed}, four");
        assert_eq!(take_back_found(&later, &made).unwrap(), "zero, more, one, two, three, four");
        assert_eq!(take_back_found("one two three", &made), None);
    }

    #[test]
    fn a_change_that_could_be_in_two_places_is_left() {
        let (_, made) = made("ab", &[Edit::insert(1, "XY")]);
        assert_eq!(take_back_found("qqXYqq and wwXYww", &made), None);
        assert_eq!(take_back_found("only XY here", &made).unwrap(), "only  here");
    }

    #[test]
    fn nothing_around_a_change_is_kept() {
        let (_, made) = made("key = \"sk-secret\"\n", &[Edit::insert(18, "ours\n")]);
        let kept = serde_json::to_string(&made).unwrap();
        assert!(!kept.contains("secret"), "{kept}");
    }
}

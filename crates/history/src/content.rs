//! How the snapshot of a commit is stored: as an archive, or as a delta to that of another commit.
//!
//! ```text
//! <commit>.full.<digest>.alf             an archive
//! <commit>.<base>.<digest>.alf-delta     a delta from the snapshot of the commit <base>
//! ```
//!
//! The digest is that of the object's bytes. A commit may have several forms; each leads to the same
//! snapshot.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, HashMap};

use anemone_format::Hex;

use crate::commit::{CommitId, parse_digest};

/// The word in the name of an archive where that of a delta has its base.
const FULL: &str = "full";

/// How the snapshot of a commit is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ContentForm {
    /// As an archive.
    Archive,
    /// As a delta from the snapshot of this commit.
    Delta(CommitId),
}

/// An object that holds the snapshot of a commit, or leads to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct StoredContent {
    /// The commit.
    pub commit: CommitId,
    /// The form.
    pub form: ContentForm,
    /// The SHA-256 of the object.
    pub digest: [u8; 32],
    /// How many bytes it has.
    pub size: u64,
}

impl StoredContent {
    /// Returns the name of the object.
    #[must_use]
    pub fn name(&self) -> String {
        let (commit, digest) = (self.commit, Hex(&self.digest));
        match self.form {
            ContentForm::Archive => format!("{commit}.{FULL}.{digest}.alf"),
            ContentForm::Delta(base) => format!("{commit}.{base}.{digest}.alf-delta"),
        }
    }

    /// Reads the name of an object; `None` for one that is not of ours.
    #[must_use]
    pub fn parse(name: &str, size: u64) -> Option<Self> {
        let mut parts = name.split('.');
        let (commit, base, digest, ending) =
            (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
        let form = match ending {
            "alf" if base == FULL => ContentForm::Archive,
            "alf-delta" => ContentForm::Delta(base.parse().ok()?),
            _ => return None,
        };
        let (commit, digest) = (commit.parse().ok()?, parse_digest(digest)?);
        parts.next().is_none().then_some(Self { commit, form, digest, size })
    }
}

/// Returns the objects that lead to the snapshot of a commit with the fewest bytes, the archive
/// first; `None` if there is no way to it. `usable` says which objects may be used.
pub(crate) fn shortest_chain(
    commit: CommitId,
    contents: &BTreeMap<CommitId, Vec<StoredContent>>,
    usable: &dyn Fn(&StoredContent) -> bool,
) -> Option<Vec<StoredContent>> {
    // Everything that could be on the way, from the commit back to archives.
    let mut forms: HashMap<CommitId, Vec<StoredContent>> = HashMap::new();
    let mut next = vec![commit];
    while let Some(at) = next.pop() {
        if forms.contains_key(&at) {
            continue;
        }
        let here: Vec<StoredContent> =
            contents.get(&at).into_iter().flatten().filter(|form| usable(form)).copied().collect();
        next.extend(here.iter().filter_map(|content| match content.form {
            ContentForm::Delta(base) => Some(base),
            ContentForm::Archive => None,
        }));
        forms.insert(at, here);
    }
    // From archives forward, always along the way with the fewest bytes so far.
    let mut leading: HashMap<CommitId, Vec<StoredContent>> = HashMap::new();
    let mut reachable = BinaryHeap::new();
    for content in forms.values().flatten() {
        match content.form {
            ContentForm::Archive => reachable.push(Reverse((content.size, *content))),
            ContentForm::Delta(base) => leading.entry(base).or_default().push(*content),
        }
    }
    let mut reached: HashMap<CommitId, StoredContent> = HashMap::new();
    while let Some(Reverse((bytes, content))) = reachable.pop() {
        if reached.contains_key(&content.commit) {
            continue;
        }
        reached.insert(content.commit, content);
        if content.commit == commit {
            break;
        }
        for delta in leading.get(&content.commit).into_iter().flatten() {
            reachable.push(Reverse((bytes.saturating_add(delta.size), *delta)));
        }
    }
    let mut chain = vec![*reached.get(&commit)?];
    while let ContentForm::Delta(base) = chain[chain.len() - 1].form {
        chain.push(reached[&base]);
    }
    chain.reverse();
    Some(chain)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(n: u8) -> CommitId {
        CommitId::of(&[n])
    }

    fn full(n: u8, size: u64) -> StoredContent {
        StoredContent { commit: id(n), form: ContentForm::Archive, digest: [n; 32], size }
    }

    fn delta(n: u8, base: u8, size: u64) -> StoredContent {
        StoredContent { commit: id(n), form: ContentForm::Delta(id(base)), digest: [n; 32], size }
    }

    fn chain(of: u8, contents: &[StoredContent]) -> Option<Vec<StoredContent>> {
        let mut by_commit: BTreeMap<CommitId, Vec<StoredContent>> = BTreeMap::new();
        for content in contents {
            by_commit.entry(content.commit).or_default().push(*content);
        }
        shortest_chain(id(of), &by_commit, &|_| true)
    }

    #[test]
    fn names_read_back_and_others_are_not_ours() {
        for content in [full(1, 5), delta(2, 1, 7)] {
            assert_eq!(StoredContent::parse(&content.name(), content.size), Some(content));
            assert!(crate::key::is_part(&content.name()), "{}", content.name().len());
            assert_eq!(StoredContent::parse(&format!("{}.x", content.name()), 1), None);
        }
        for odd in ["", "a.b.c.alf", &full(1, 1).name().replace("alf", "zip")] {
            assert_eq!(StoredContent::parse(odd, 1), None, "{odd}");
        }
    }

    #[test]
    fn the_way_with_the_fewest_bytes_is_taken() {
        let (first, second, third) = (full(1, 100), delta(2, 1, 10), delta(3, 2, 10));
        assert_eq!(chain(3, &[first, second, third]), Some(vec![first, second, third]));
        let later = full(2, 105);
        assert_eq!(chain(3, &[first, second, third, later]), Some(vec![later, third]));
        assert_eq!(chain(3, &[second, third]), None);
        assert_eq!(chain(9, &[first]), None);
    }

    #[test]
    fn a_circle_of_deltas_is_no_way() {
        assert_eq!(chain(1, &[delta(1, 2, 1), delta(2, 1, 1)]), None);
        let (base, one, other) = (full(3, 9), delta(1, 2, 1), delta(2, 3, 1));
        assert_eq!(chain(1, &[delta(2, 1, 1), one, other, base]), Some(vec![base, other, one]));
    }

    #[test]
    fn ten_thousand_deltas_are_a_way() {
        let ids: Vec<CommitId> = (0..10_000_u32).map(|n| CommitId::of(&n.to_le_bytes())).collect();
        let mut contents: BTreeMap<CommitId, Vec<StoredContent>> = BTreeMap::new();
        for (n, commit) in ids.iter().enumerate() {
            let form = match n {
                0 => ContentForm::Archive,
                n => ContentForm::Delta(ids[n - 1]),
            };
            let content = StoredContent { commit: *commit, form, digest: [0; 32], size: 1 };
            contents.insert(*commit, vec![content]);
        }
        let found = shortest_chain(ids[9_999], &contents, &|_| true).unwrap();
        assert_eq!(found.len(), 10_000);
    }
}

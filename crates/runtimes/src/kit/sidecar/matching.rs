//! Matches the records of a runtime with those of the snapshot that was moved to it.

use std::collections::{HashMap, VecDeque};
use std::hash::Hash;

use anemone_format::RecordId;

/// The bytes of a SHA-256.
pub(super) type Digest = [u8; 32];

/// A record that the runtime has now.
pub(super) struct Native {
    pub(super) id: RecordId,
    /// The digest of its content.
    pub(super) digest: Digest,
    /// The digest of its file and name.
    pub(super) place: u64,
}

/// A record of the snapshot, by what became of it.
pub(super) struct WantedRecord {
    pub(super) id: RecordId,
    pub(super) parts: Vec<(Digest, u64)>,
    /// Whether the runtime had no place for it: then only its id shows that it exists.
    pub(super) by_id_only: bool,
}

/// Finds the current record for each part of each wanted record; no record is found twice.
///
/// The strongest evidence comes first. An id alone is weak: some runtimes number their records, so
/// that an id names another record as soon as one is inserted in front of it.
pub(super) fn find(wants: &[WantedRecord], natives: &[Native]) -> Vec<Vec<Option<usize>>> {
    let mut finder = Finder {
        found: wants.iter().map(|want| vec![None; want.parts.len()]).collect(),
        taken: vec![false; natives.len()],
    };
    let mut by_id: HashMap<RecordId, usize> = HashMap::with_capacity(natives.len());
    for (index, native) in natives.iter().enumerate() {
        by_id.entry(native.id).or_insert(index);
    }
    finder.by_id(wants, natives, &by_id, |part, native| part.0 == native.digest);
    finder.by(wants, natives, |finder| (finder.digest, finder.place), |part| *part);
    finder.by_id(wants, natives, &by_id, |part, native| part.1 == native.place);
    finder.by(wants, natives, |finder| finder.digest, |(digest, _)| *digest);
    finder.by_id(wants, natives, &by_id, |_, _| true);
    finder.by(wants, natives, |finder| finder.place, |(_, place)| *place);
    finder.found
}

struct Finder {
    found: Vec<Vec<Option<usize>>>,
    taken: Vec<bool>,
}

impl Finder {
    /// Takes records that have the id of a want, where a part of it fits.
    fn by_id(
        &mut self,
        wants: &[WantedRecord],
        natives: &[Native],
        by_id: &HashMap<RecordId, usize>,
        fits: impl Fn(&(Digest, u64), &Native) -> bool,
    ) {
        for (want, found) in wants.iter().zip(&mut self.found) {
            let Some(index) = by_id.get(&want.id).copied().filter(|id| !self.taken[*id]) else {
                continue;
            };
            let mut parts = want.parts.iter().zip(found);
            let part = parts.find(|(part, found)| found.is_none() && fits(part, &natives[index]));
            if let Some((_, found)) = part {
                *found = Some(index);
                self.taken[index] = true;
            }
        }
    }

    fn by<K: Eq + Hash>(
        &mut self,
        wants: &[WantedRecord],
        natives: &[Native],
        key_of_native: impl Fn(&Native) -> K,
        key_of_part: impl Fn(&(Digest, u64)) -> K,
    ) {
        let mut free: HashMap<K, VecDeque<usize>> = HashMap::new();
        for (index, native) in natives.iter().enumerate().filter(|(at, _)| !self.taken[*at]) {
            free.entry(key_of_native(native)).or_default().push_back(index);
        }
        if free.is_empty() {
            return;
        }
        for (want, found) in wants.iter().zip(&mut self.found) {
            if want.by_id_only {
                continue;
            }
            for (part, found) in want.parts.iter().zip(found).filter(|(_, found)| found.is_none()) {
                let next = free.get_mut(&key_of_part(part)).and_then(VecDeque::pop_front);
                if let Some(index) = next {
                    *found = Some(index);
                    self.taken[index] = true;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(number: u128) -> RecordId {
        RecordId::new(uuid::Uuid::from_u128(number))
    }

    fn native(number: u128, content: u8, place: u64) -> Native {
        Native { id: id(number), digest: [content; 32], place }
    }

    fn want(number: u128, parts: &[(u8, u64)]) -> WantedRecord {
        let parts = parts.iter().map(|(content, place)| ([*content; 32], *place)).collect();
        WantedRecord { id: id(number), parts, by_id_only: false }
    }

    #[test]
    fn the_surest_sign_counts_first() {
        let wants = [
            want(1, &[(1, 10)]),
            want(2, &[(2, 20)]),
            want(3, &[(3, 30)]),
            want(4, &[(4, 40)]),
            want(5, &[(5, 50)]),
        ];
        // In turn: another content at the place of the fourth, the third moved, the second where
        // it was, the first with everything else changed.
        let natives = [native(91, 9, 40), native(92, 3, 99), native(93, 2, 20), native(1, 8, 98)];
        let found = find(&wants, &natives);
        assert_eq!(found, [[Some(3)], [Some(2)], [Some(1)], [Some(0)], [None]]);
    }

    #[test]
    fn an_id_that_names_another_record_now_does_not_mislead() {
        // A record was inserted in front of the two, so that every number went up.
        let wants = [want(1, &[(7, 70)]), want(2, &[(8, 80)]), want(3, &[(9, 90)])];
        let natives = [native(1, 8, 80), native(2, 9, 90), native(50, 7, 70)];
        assert_eq!(find(&wants, &natives), [[Some(2)], [Some(0)], [Some(1)]]);
    }

    #[test]
    fn equal_contents_are_found_once_each() {
        let wants = [want(1, &[(7, 1)]), want(2, &[(7, 1)]), want(3, &[(7, 1), (7, 1)])];
        let natives = [native(91, 7, 1), native(92, 7, 1), native(93, 7, 1)];
        assert_eq!(find(&wants, &natives), [vec![Some(0)], vec![Some(1)], vec![Some(2), None]]);
    }

    #[test]
    fn what_had_no_place_is_only_found_by_its_id() {
        let mut homeless = want(1, &[(7, 1)]);
        homeless.by_id_only = true;
        assert_eq!(find(&[homeless], &[native(2, 7, 1)]), [[None]]);
    }
}

//! Names the fields in which two versions of a record differ.

use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use serde_json::value::RawValue;

use crate::archive::read::{Archive, ReadEntryError};
use crate::id::RecordId;
use crate::pairs::Pairs;

/// The fields of a record, each with a hash of its value: the values themselves may be large.
type Fields = HashMap<String, u64>;

/// Returns, for each of the given records, the names of the fields that differ between two archives,
/// sorted: `content`, or `source.runtime_version` for a field of an object.
///
/// A record that only orders or spells its fields differently has none.
pub fn changed_fields(
    base: &Archive,
    target: &Archive,
    updated: &[RecordId],
) -> Result<HashMap<RecordId, Vec<String>>, ReadEntryError> {
    let wanted: HashSet<RecordId> = updated.iter().copied().collect();
    let mut changed = HashMap::new();
    if wanted.is_empty() {
        return Ok(changed);
    }
    let mut before: HashMap<RecordId, Fields> = HashMap::new();
    each_wanted(base, &wanted, |id, line| {
        before.insert(id, fields_of(line));
    })?;
    each_wanted(target, &wanted, |id, line| {
        let (was, now) = (before.remove(&id).unwrap_or_default(), fields_of(line));
        let mut names: Vec<String> = was
            .iter()
            .filter(|(name, value)| now.get(*name) != Some(value))
            .map(|(name, _)| name.clone())
            .chain(now.keys().filter(|name| !was.contains_key(*name)).cloned())
            .collect();
        names.sort_unstable();
        changed.insert(id, names);
    })?;
    Ok(changed)
}

fn each_wanted(
    archive: &Archive,
    wanted: &HashSet<RecordId>,
    mut each: impl FnMut(RecordId, &[u8]),
) -> Result<(), ReadEntryError> {
    for path in archive.partitions() {
        archive.each_record_head(path, |head, line| {
            if wanted.contains(&head.id) {
                each(head.id, line);
            }
            Ok::<_, ReadEntryError>(())
        })?;
    }
    Ok(())
}

/// Returns the fields of a line, those of objects in it by both names.
fn fields_of(line: &[u8]) -> Fields {
    let mut fields = Fields::new();
    let Ok(record) = serde_json::from_slice::<Pairs<Box<RawValue>>>(line) else { return fields };
    for (name, value) in record.iter() {
        let inner: Option<Pairs<Box<RawValue>>> = serde_json::from_str(value.get()).ok();
        match inner {
            Some(inner) => {
                fields.extend(
                    inner.iter().map(|(key, value)| (format!("{name}.{key}"), hash(value))),
                );
            }
            None => {
                fields.insert(name.to_owned(), hash(value));
            }
        }
    }
    fields
}

fn hash(value: &RawValue) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.get().hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_of_objects_have_both_names() {
        let fields = fields_of(br#"{"content":"x","tags":["a"],"source":{"runtime":"r","n":{}}}"#);
        let mut names: Vec<_> = fields.keys().map(String::as_str).collect();
        names.sort_unstable();
        assert_eq!(names, ["content", "source.n", "source.runtime", "tags"]);
        assert!(fields_of(b"not json").is_empty());
    }
}

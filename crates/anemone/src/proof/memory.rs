//! The proof of records.

use std::collections::{HashMap, HashSet};
use std::io;

use anemone_format::{Record, RecordId, sha256_hex};
use anemone_runtimes::mapping::{Becomes, FIELDS, telling_tags};
use anemone_runtimes::{KeptSnapshot, digest_of};

use super::count::LayerCount;
use super::natives::{TargetRecords, values};
use super::{Evidence, Expected, LayerProof, Loss, Outcome, current};
use crate::text::title;

pub(super) fn memory(evidence: &Evidence<'_>, lost: &mut Vec<Loss>) -> io::Result<LayerProof> {
    let Evidence { source, target, expected, sidecar } = *evidence;
    let mut natives = TargetRecords::read(target)?;
    // Ids first, so that of two equal texts each finds its own.
    let mut by_id: HashMap<RecordId, usize> = HashMap::new();
    source.each_record(&mut |record| {
        if let Some(index) = natives.by_id.get(&record.id).copied() {
            let digest = digest_of(&record.content);
            let native = &mut natives.list[index];
            if native.digest == digest && native.used_by.is_none() {
                native.used_by = Some(digest);
                by_id.insert(record.id, index);
            }
        }
        Ok(())
    })?;
    let mut kept = expected.entries_kept;
    let mut announced: HashSet<RecordId> = HashSet::new();
    let mut count = LayerCount::new("memory", lost);
    source.each_record(&mut |record| {
        let found = match by_id.remove(&record.id) {
            Some(index) => Some(vec![index]),
            None => natives.find(record, expected, sidecar)?,
        };
        let digest = digest_of(&record.content);
        let was = values(record);
        let fate = match found {
            Some(found) => {
                for index in &found {
                    natives.list[*index].used_by = Some(digest.clone());
                }
                fate_of_fields(record, &was, &found, &natives, expected, sidecar)
            }
            None => fate_of_missing(record, &natives, expected, sidecar, &mut kept),
        };
        if !matches!(fate, Outcome::Carried | Outcome::Degraded(..) | Outcome::Lost(_)) {
            announced.insert(record.id);
        }
        let fields = was.iter().flatten().cloned().collect::<Vec<_>>().join("\n");
        let digest = sha256_hex(format!("{digest}\n{fields}").as_bytes());
        count.add(|| called(record), digest, fate);
        Ok(())
    })?;
    if let Some(current) = &expected.current {
        let has_name = |name: &str| natives.by_name.contains_key(name);
        let missing = current::missing(current, target, expected.mapping, &announced, &has_name)?;
        for missing in missing {
            let reason = "the agent has it now, and it is not there".to_owned();
            count.add(|| missing.called, missing.digest, Outcome::Lost(reason));
        }
    }
    Ok(count.finish())
}

/// Compares the fields of a record that was found.
fn fate_of_fields(
    record: &Record,
    was: &[Option<String>],
    found: &[usize],
    natives: &TargetRecords,
    expected: &Expected<'_>,
    sidecar: &KeptSnapshot,
) -> Outcome {
    let native = &natives.list[found[0]];
    let is_held = |position: usize, field: &str| {
        if was[position].is_none() || was[position] == native.fields[position] {
            return true;
        }
        match field {
            "tags" => {
                telling_tags(record).iter().all(|tag| native.tags.iter().any(|other| other == tag))
            }
            // A log has a day, and no hour.
            "created_at" => {
                native.is_log && native.day == record.temporal.created_at.utc_date().to_string()
            }
            _ => false,
        }
    };
    let fields = FIELDS.iter().enumerate();
    let missing: Vec<&'static str> = fields
        .filter(|(at, field)| !is_held(*at, field.name))
        .map(|(_, field)| field.name)
        .collect();
    // Rows of one runtime have their keys, unless two rows had the same one.
    let is_own_row = native.file.is_none()
        && record.source.origin_file.is_none()
        && expected.mapping.is_some_and(|mapping| mapping.runtime == record.source.runtime);
    let is_renamed = is_own_row && native.name != name_of(record);
    if missing.is_empty() && !is_renamed {
        return Outcome::Carried;
    }
    let stays = native.file == record.source.origin_file;
    let announced = expected.mapping.map(|mapping| {
        if stays { mapping.degraded(record) } else { mapping.degraded_anew(record) }
    });
    let mut announced = announced.unwrap_or_default();
    announced.extend(&native.without);
    // Records that are read from a file have the time of the file, and this file is rewritten.
    // Records in the runtime's own text format are parsed from it again.
    let file = record.source.origin_file.as_deref();
    if file.is_some_and(|file| expected.files.contains_key(file.as_bytes())) {
        if expected.mapping.is_some_and(|mapping| mapping.runtime == record.source.runtime) {
            announced.extend(FIELDS.iter().map(|field| field.name));
        } else {
            announced.push("created_at");
        }
    }
    // On the way back a file may have got another time: a copy or a restore gives it one.
    if expected.current.is_some() {
        announced.push("created_at");
    }
    // An entry that says the same stays, with its own time and rating.
    if expected.entries_same > 0 && native.file.is_none() {
        announced.extend(FIELDS.iter().map(|field| field.name));
    }
    let surprise: Vec<&str> =
        missing.iter().copied().filter(|field| !announced.contains(field)).collect();
    if surprise.is_empty() {
        let missing = missing.into_iter().chain(is_renamed.then_some("key")).collect();
        Outcome::Degraded(missing, sidecar.holds(record))
    } else {
        Outcome::Lost(format!("its text is there, but not its {}", surprise.join(", ")))
    }
}

/// Says whether the plan announced that a record would be missing. The sidecar contains every
/// record, so only records that the runtime cannot store count as kept aside.
fn fate_of_missing(
    record: &Record,
    natives: &TargetRecords,
    expected: &Expected<'_>,
    sidecar: &KeptSnapshot,
    kept: &mut u64,
) -> Outcome {
    let file = record.source.origin_file.as_deref();
    let file = file.and_then(|file| expected.files.get(file.as_bytes()));
    if let Some(announced) = file.filter(|announced| !announced.made) {
        return Outcome::Announced(announced.reason.to_owned());
    }
    if expected.unwritten.contains(&record.id) {
        return Outcome::Announced("the plan cannot write it, and says why".to_owned());
    }
    let row = expected.mapping.and_then(|mapping| mapping.row_of(record));
    match row.map(|row| row.becomes) {
        Some(Becomes::Nowhere(reason)) => return Outcome::Announced(reason.to_owned()),
        Some(Becomes::Aside(_)) | None if sidecar.holds(record) => return Outcome::Aside,
        _ => {}
    }
    let same_name = || name_of(record).is_some_and(|name| natives.by_name.contains_key(&name));
    if *kept > 0 && (natives.by_id.contains_key(&record.id) || same_name()) {
        *kept -= 1;
        return Outcome::Announced("the entry that was there stays".to_owned());
    }
    Outcome::Lost(if sidecar.holds(record) {
        "the runtime has a place for it, and only the sidecar has it".to_owned()
    } else {
        "neither in the runtime nor in the sidecar".to_owned()
    })
}

/// Returns what people know a record by.
pub(super) fn called(record: &Record) -> String {
    let name = name_of(record).unwrap_or_else(|| title(&record.content));
    format!("{} {name}", record.id)
}

/// Returns the key or heading of a record. A heading has no whitespace around it, whatever the key
/// had.
pub(crate) fn name_of(record: &Record) -> Option<String> {
    let name = anemone_runtimes::name_of(record)?;
    let name = name.split_whitespace().collect::<Vec<_>>().join(" ");
    (!name.is_empty()).then_some(name)
}

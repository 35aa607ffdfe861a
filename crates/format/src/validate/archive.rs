//! Checks an archive.

use std::collections::{HashMap, HashSet};
use std::io;

use jiff::civil::Date;

use super::layers::{self, Checked};
use super::record::{Records, each_line};
use super::{FindingKind, Findings};
use crate::archive::read::{Archive, CarriedFile, Entries, ReadEntryError};
use crate::archive::write::MemoryIndex;
use crate::archive::{ARTIFACTS, Layer, MANIFEST, RAW};
use crate::json;
use crate::manifest::{Entry, EntryKind, Manifest, Partition};
use crate::period::PartitionBy;

pub(super) fn check(archive: &Archive, findings: &mut Findings) {
    let manifest = archive.manifest();
    check_version(&manifest.alf_version, findings);
    for change in archive.edited() {
        findings.warning(FindingKind::Edited, &*change.path, change.to_string());
    }
    check_listing(archive.entries(), &manifest.entries, findings);
    if !manifest.entries.is_empty() {
        let computed = Manifest::checksum_of(&manifest.entries);
        if manifest.checksum.as_ref() != Some(&computed) {
            let message = format!("the entries give {computed}");
            findings.error(FindingKind::Digest, "manifest.json#/checksum", message);
        }
    } else if manifest.checksum.is_some() {
        let message = "the checksum is another tool's and cannot be checked";
        findings.note(FindingKind::Unchecked, "manifest.json#/checksum", message);
    }
    let mut read = HashSet::from([MANIFEST.to_owned()]);
    check_layers(archive, findings, &mut read);
    check_memory(archive, findings, &mut read);
    let unlisted_ok = manifest.entries.is_empty();
    drain_rest(archive.entries(), &read, findings);
    if unlisted_ok {
        findings.note(
            FindingKind::NoDigests,
            MANIFEST,
            "the manifest has no digests; only CRCs were checked",
        );
    }
    check_raw_sources(archive, findings);
}

pub(super) fn check_version(version: &str, findings: &mut Findings) {
    if version.split('.').count() != 3 || version.contains(['-', '+']) {
        let message = format!("{version:?} is not three numbers");
        findings.warning(FindingKind::Version, "manifest.json#/alf_version", message);
    }
}

/// Compares the list of entries with the entries.
pub(super) fn check_listing(entries: &Entries, listed: &[Entry], findings: &mut Findings) {
    if listed.is_empty() {
        return;
    }
    let mut by_path = HashMap::new();
    for (n, entry) in listed.iter().enumerate() {
        let at = format!("manifest.json#/entries/{n}");
        if by_path.insert(entry.path.as_str(), entry).is_some() {
            findings.error(
                FindingKind::DuplicateEntry,
                &*at,
                format!("{} is listed twice", entry.path),
            );
        }
        if !entry.is_file() {
            let file = CarriedFile { entry: entry.clone() };
            if *entry.kind() == EntryKind::Symlink && file.target().is_none() {
                findings.error(
                    FindingKind::Schema,
                    &*at,
                    format!("the link {} has no target", entry.path),
                );
            }
            continue;
        }
        match entries.container.get(&entry.path) {
            None => findings.error(
                FindingKind::Missing,
                &*at,
                format!("there is no entry {}", entry.path),
            ),
            Some(found) if Some(found.size) != entry.size => {
                let said = entry.size.unwrap_or_default();
                let message =
                    format!("{} has {} bytes, the manifest says {said}", entry.path, found.size);
                findings.error(FindingKind::Count, format!("{at}/size"), message);
            }
            Some(_) if entry.sha256.is_none() => {
                findings.error(FindingKind::Digest, &*at, format!("{} has no digest", entry.path));
            }
            Some(_) => findings.report.counts.digests += 1,
        }
    }
    for entry in entries.container.entries() {
        if entry.path != MANIFEST && !by_path.contains_key(entry.path.as_str()) {
            findings.error(
                FindingKind::Unlisted,
                &*entry.path,
                "the manifest does not list this entry",
            );
        }
    }
}

fn check_layers(archive: &Archive, findings: &mut Findings, read: &mut HashSet<String>) {
    let manifest = archive.manifest();
    for layer in Layer::ALL {
        let Some(entry) = archive.layer_entry(layer) else {
            continue;
        };
        let at = format!("manifest.json#/layers/{}", layer.key());
        if archive.entries().container.get(entry).is_none() {
            findings.error(
                FindingKind::Missing,
                format!("{at}/file"),
                format!("there is no entry {entry}"),
            );
            continue;
        }
        read.insert(entry.to_owned());
        let bytes = match archive.entries().read_layer(layer, entry) {
            Ok(bytes) => bytes,
            Err(error) => {
                findings.unreadable(entry, &error.source);
                continue;
            }
        };
        findings.count(bytes.len() as u64);
        let checked = layers::check(layer, entry, &bytes, manifest.agent.id, findings);
        let layers = &manifest.layers;
        let expect = |key: &str, says: Option<u64>, is: u64, findings: &mut Findings| {
            if says.is_some_and(|says| says != is) {
                findings.contradiction(
                    FindingKind::Count,
                    format!("{at}/{key}"),
                    format!("{entry} has {is}"),
                );
            }
        };
        match checked {
            None => {}
            Some(Checked::Identity { version }) => {
                let says = layers.identity.as_ref().map(|identity| identity.version);
                expect("version", says, version, findings);
            }
            Some(Checked::Counted { count }) => {
                let said = if layer == Layer::Principals {
                    layers.principals.as_ref()
                } else {
                    layers.credentials.as_ref()
                };
                expect("count", said.map(|layer| layer.count), count, findings);
            }
            Some(Checked::Attachments(list)) => {
                let says = layers.attachments.as_ref();
                let included = list
                    .attachments
                    .iter()
                    .filter(|attachment| attachment.archive_path.0.is_some())
                    .count() as u64;
                let total = list.attachments.len() as u64;
                expect("count", says.map(|layer| layer.count), total, findings);
                let says_included = says.and_then(|layer| layer.included_count);
                expect("included_count", says_included, included, findings);
                let says_referenced = says.and_then(|layer| layer.referenced_count);
                expect("referenced_count", says_referenced, total - included, findings);
                layers::check_attachments(&list, entry, archive, findings);
            }
        }
    }
    for (key, _) in manifest.layers.unknown.iter() {
        findings.surprise(format!("manifest.json#/layers/{key} (layer)"));
    }
}

fn check_memory(archive: &Archive, findings: &mut Findings, read: &mut HashSet<String>) {
    let Some(memory) = &archive.manifest().layers.memory else {
        return;
    };
    let mut records = Records::new(archive.manifest().agent.id);
    let mut total = 0;
    let mut seen = HashSet::new();
    for (n, partition) in memory.partitions.iter().enumerate() {
        let at = format!("manifest.json#/layers/memory/partitions/{n}");
        if !seen.insert(partition.file.as_str()) {
            let message = format!("{} is listed twice", partition.file);
            findings.error(FindingKind::DuplicateEntry, &*at, message);
            continue;
        }
        if archive.entries().container.get(&partition.file).is_none() {
            let message = format!("there is no entry {}", partition.file);
            findings.error(FindingKind::Missing, format!("{at}/file"), message);
            continue;
        }
        read.insert(partition.file.clone());
        let count = check_partition(archive, partition, &at, &mut records, findings);
        total += count;
        if count != partition.record_count {
            let message = format!("{} has {count} records", partition.file);
            findings.contradiction(FindingKind::Count, format!("{at}/record_count"), message);
        }
    }
    findings.report.counts.records = total;
    if total != memory.record_count {
        let message = format!("the partitions have {total} records");
        findings.contradiction(
            FindingKind::Count,
            "manifest.json#/layers/memory/record_count",
            message,
        );
    }
    check_index(archive, &memory.index_file, findings, read);
    check_attachment_references(archive, &records, findings);
    records.finish(findings);
}

fn check_partition(
    archive: &Archive,
    partition: &Partition,
    at: &str,
    records: &mut Records,
    findings: &mut Findings,
) -> u64 {
    let day = |text: &str| text.parse::<Date>().ok().filter(|_| text.len() == 10);
    let from = day(&partition.from);
    let to = partition.to.as_ref().and_then(|to| to.0.as_deref());
    let last = to.and_then(day);
    if from.is_none() {
        findings.error(FindingKind::Schema, format!("{at}/from"), "not a date such as 2026-01-01");
    }
    if to.is_some() && last.is_none() {
        findings.error(FindingKind::Schema, format!("{at}/to"), "not a date such as 2026-03-31");
    }
    if partition.sealed && to.is_none() {
        findings.warning(
            FindingKind::Bounds,
            format!("{at}/to"),
            "a sealed partition has no last day",
        );
    }
    // Other tools place a record by the day that it is about, and do not say so.
    let manifest = archive.manifest();
    let said = manifest.layers.memory.as_ref().and_then(|memory| memory.partition_by.clone());
    let by = said.or_else(|| (!manifest.entries.is_empty()).then_some(PartitionBy::CreatedAt));
    let mut count = 0;
    let entry = partition.file.as_str();
    each_line(archive.entries(), entry, findings, |line, findings| {
        count += 1;
        let record = line.and_then(|(number, line)| {
            Some((number, records.check(entry, number, line, findings)?))
        });
        let Some((number, record)) = record else { return };
        let created = record.temporal.created_at.utc_date();
        let is_outside = |date: Date| {
            from.is_some_and(|from| date < from) || last.is_some_and(|last| date > last)
        };
        let (date, is_wrong) = match by {
            Some(PartitionBy::ObservedAt) => {
                (record.observed_day(), is_outside(record.observed_day()))
            }
            Some(_) => (created, is_outside(created)),
            None => (created, is_outside(created) && is_outside(record.observed_day())),
        };
        if is_wrong {
            let path = format!("{entry}:{number}#/temporal/created_at");
            let to = to.unwrap_or("now");
            let message = format!("{date} is not from {} to {to}", partition.from);
            findings.error(FindingKind::Bounds, path, message);
        }
    });
    count
}

fn check_index(
    archive: &Archive,
    entry: &str,
    findings: &mut Findings,
    read: &mut HashSet<String>,
) {
    if archive.entries().container.get(entry).is_none() {
        let path = "manifest.json#/layers/memory/index_file";
        findings.warning(FindingKind::Missing, path, format!("there is no entry {entry}"));
        return;
    }
    read.insert(entry.to_owned());
    let bytes = match archive.entries().read_document(entry) {
        Ok(bytes) => bytes,
        Err(error) => return findings.unreadable(entry, &error.source),
    };
    findings.count(bytes.len() as u64);
    let Ok(index) = json::parse::<MemoryIndex>(&bytes) else {
        return findings.warning(
            FindingKind::Shape,
            entry,
            "the index is not one that this version knows",
        );
    };
    findings.survey("memory-index", &index);
    let memory = archive.manifest().layers.memory.as_ref();
    let partitions = memory.map_or(&[][..], |memory| &memory.partitions);
    let same = index.partitions.len() == partitions.len()
        && index.partitions.iter().zip(partitions).all(|(listed, partition)| {
            listed.file == partition.file
                && listed.record_count == partition.record_count
                && archive.digest_of(&listed.file).is_ok_and(|is| is == listed.sha256)
        });
    if !same {
        findings.contradiction(FindingKind::Index, entry, "the index says other than the manifest");
    }
}

fn check_attachment_references(archive: &Archive, records: &Records, findings: &mut Findings) {
    use crate::attachments::Attachments;
    let Ok(Some(list)) = archive.parse_document::<Attachments>(Layer::Attachments) else {
        return;
    };
    let entry = archive.layer_entry(Layer::Attachments).unwrap_or_default();
    for (n, attachment) in list.attachments.iter().enumerate() {
        for (m, id) in attachment.referenced_by.iter().enumerate() {
            if !records.contains(*id) {
                let path = format!("{entry}#/attachments/{n}/referenced_by/{m}");
                findings.warning(FindingKind::Dangling, path, format!("no record has the id {id}"));
            }
        }
    }
}

/// Reads every entry that no other check has read, so that no digest goes unchecked.
pub(super) fn drain_rest(entries: &Entries, read: &HashSet<String>, findings: &mut Findings) {
    for entry in entries.container.entries() {
        if read.contains(&entry.path) {
            continue;
        }
        findings.count(entry.size);
        let drained = entries.reader(&entry.path).and_then(|mut reader| {
            io::copy(&mut reader, &mut io::sink())
                .map_err(|error| ReadEntryError::io(&entry.path, error))
        });
        if let Err(error) = drained {
            findings.unreadable(&*entry.path, &error.source);
        }
    }
}

fn check_raw_sources(archive: &Archive, findings: &mut Findings) {
    let known: [&str; 3] = [RAW, ARTIFACTS, "memory/"];
    for entry in archive.entries().container.entries() {
        let path = entry.path.as_str();
        let structural = path == MANIFEST
            || Layer::ALL.iter().any(|layer| archive.layer_entry(*layer) == Some(path));
        if !structural && !known.iter().any(|prefix| path.starts_with(prefix)) {
            findings.surprise(format!("{path} (entry)"));
        }
    }
}

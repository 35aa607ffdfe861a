//! Checks a delta.

use std::collections::HashSet;

use super::record::{Records, each_line};
use super::{FindingKind, Findings, archive, layers};
use crate::archive::{Layer, MANIFEST};
use crate::delta::ContentFrom;
use crate::delta::SPLICE;
use crate::delta::operation::{self, Operation, TOMBSTONE_CONTENT};
use crate::delta::read::Delta;
use crate::json::with_causes;

pub(super) fn check(delta: &Delta, findings: &mut Findings) {
    let manifest = delta.manifest();
    archive::check_version(&manifest.alf_version, findings);
    archive::check_listing(delta.entries(), &manifest.entries, findings);
    let mut read =
        HashSet::from([MANIFEST.to_owned(), crate::archive::DELTA_MANIFEST_DIALECT.to_owned()]);
    if let Some(target) = manifest.target.as_ref().map(|target| target.agent.id)
        && target != manifest.agent.id
    {
        let message = format!("it is of agent {target}, not {}", manifest.agent.id);
        findings.error(FindingKind::ForeignAgent, "manifest.json#/target/agent/id", message);
    }
    check_layers(delta, findings, &mut read);
    check_records(delta, findings, &mut read);
    check_files(delta, findings);
    archive::drain_rest(delta.entries(), &read, findings);
    if manifest.entries.is_empty() && !delta.is_sealed() {
        findings.note(
            FindingKind::NoDigests,
            MANIFEST,
            "the manifest has no digests; only CRCs were checked",
        );
    }
}

fn check_layers(delta: &Delta, findings: &mut Findings, read: &mut HashSet<String>) {
    let changes = &delta.manifest().changes;
    for layer in Layer::ALL {
        let Some(Some(file)) = changes.file_of(layer) else { continue };
        read.insert(file.to_owned());
        match delta.entries().read_layer(layer, file) {
            Ok(bytes) => {
                findings.count(bytes.len() as u64);
                layers::check(layer, file, &bytes, delta.manifest().agent.id, findings);
            }
            Err(error) => {
                findings.unreadable(file, &error.source);
            }
        }
    }
}

fn check_records(delta: &Delta, findings: &mut Findings, read: &mut HashSet<String>) {
    let (Some(entry), Some(memory)) = (delta.records_entry(), &delta.manifest().changes.memory)
    else {
        return;
    };
    read.insert(entry.to_owned());
    let mut records = Records::new(delta.manifest().agent.id);
    let mut count = 0;
    let is_read = each_line(delta.entries(), entry, findings, |line, findings| {
        let Some((number, line)) = line else { return };
        count += 1;
        let path = format!("{entry}:{number}");
        let decoded = match operation::decode(line) {
            Err(error) => return findings.error(FindingKind::Shape, path, with_causes(&error)),
            Ok(decoded) => decoded,
        };
        if decoded.operation.is_none() {
            findings.surprise("memory-record#/operation (word)".to_owned());
        }
        let record = records.check(entry, number, &decoded.record, findings);
        if decoded.operation == Some(Operation::Delete)
            && record.is_some_and(|record| record.content != TOMBSTONE_CONTENT)
        {
            let message = "the tombstone still holds the deleted text";
            let path = format!("{path}#/content");
            findings.warning(FindingKind::ContentInTombstone, path, message);
        }
    });
    if !is_read {
        return;
    }
    findings.report.counts.records = count;
    if count != memory.record_count {
        let path = "manifest.json#/changes/memory/record_count";
        findings.error(FindingKind::Count, path, format!("{entry} has {count} lines"));
    }
    // References may lead into the base, which is not available.
}

fn check_files(delta: &Delta, findings: &mut Findings) {
    let Some(files) = &delta.manifest().changes.files else {
        return;
    };
    for (n, put) in files.put.iter().enumerate() {
        let path = match put.content.effective() {
            ContentFrom::Delta => put.entry.path.clone(),
            ContentFrom::Splice => format!("{SPLICE}{}", put.entry.path),
            _ => continue,
        };
        if delta.entries().container.get(&path).is_none() {
            let at = format!("manifest.json#/changes/files/put/{n}");
            findings.error(FindingKind::Missing, at, format!("there is no entry {path}"));
        }
    }
}

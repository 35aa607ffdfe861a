//! Names the damaged or edited entries of a file whose seal is broken.
//!
//! The seal shows that some byte has changed, but not which. Entries have checksums and digests of
//! their own, so most damage can be located. If every entry is intact, the damage is in the
//! headers, the directory or the seal.

use std::collections::HashMap;
use std::io;

use serde::Deserialize;

use super::{Finding, FindingKind, MAX_LISTED, is_edited};
use crate::archive::{DELTA_MANIFEST_DIALECT, MANIFEST};
use crate::container::read::{Bytes, Container};
use crate::container::seal::Seal;
use crate::json::{self, ReadJsonError, with_causes};
use crate::limits::Limits;
use crate::manifest::Entry;

/// Reads every entry of a file whose seal is broken and names those that are damaged or differ from
/// the manifest. Returns nothing for a file with another fault, or with none.
#[must_use]
pub fn find_damage(source: Bytes, length: u64, limits: &Limits) -> Vec<Finding> {
    let Ok(container) = Container::open(source, length, limits) else { return Vec::new() };
    if container.seal() != Seal::Broken {
        return Vec::new();
    }
    let digests = digests(&container, limits);
    let broken = container.entries().iter().filter_map(|entry| {
        let mut reader = container.read(entry, digests.get(&entry.path).cloned());
        let error = ReadJsonError::Io(io::copy(&mut reader, &mut io::sink()).err()?);
        let kind = if is_edited(&error) { FindingKind::Edited } else { FindingKind::Damaged };
        Some(Finding { kind, path: entry.path.clone(), message: with_causes(&error) })
    });
    let mut found: Vec<Finding> = broken.take(MAX_LISTED).collect();
    if found.is_empty() {
        let message = "every entry is whole; the damage is in a header, the directory or the seal";
        let message = message.to_owned();
        found.push(Finding { kind: FindingKind::Damaged, path: String::new(), message });
    }
    found
}

/// Returns the digests that a manifest lists; none where it cannot be read.
fn digests(container: &Container, limits: &Limits) -> HashMap<String, String> {
    #[derive(Deserialize)]
    struct Listed {
        #[serde(default)]
        entries: Vec<Entry>,
    }
    let manifest =
        [DELTA_MANIFEST_DIALECT, MANIFEST].into_iter().find_map(|name| container.get(name));
    let listed = manifest.and_then(|manifest| {
        let mut reader = container.read(manifest, None);
        let bytes = json::read_all(&mut reader, limits.max_document_bytes).ok()?;
        json::parse::<Listed>(&bytes).ok()
    });
    let entries = listed.map(|listed| listed.entries).unwrap_or_default();
    entries.into_iter().filter_map(|entry| Some((entry.path, entry.sha256?))).collect()
}

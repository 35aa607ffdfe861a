//! Checks a whole archive or delta and reports everything that is wrong with it.
//!
//! Nothing is written and nothing is repaired. Damage ends the reading of one entry, not of the
//! archive, so that one report contains all problems.

mod archive;
mod damage;
mod delta;
mod kind;
mod layers;
mod record;
mod shape;

use std::collections::BTreeMap;

use serde::Serialize;

pub use self::damage::find_damage;
pub use self::kind::FindingKind;

use crate::archive::read::{ArchiveKind, Edits, OpenContainer, OpenError, Refusal};
use crate::container::read::{Bytes, ContentFault};
use crate::container::seal::Seal;
use crate::delta::DeltaManifest;
use crate::json::{ReadJsonError, with_causes};
use crate::limits::Limits;
use crate::manifest::Manifest;
use crate::purge::plan::ArchiveOrDelta;
use crate::schema::SchemaDocument;
use crate::survey::{Pointer, Surprise, Survey};
use crate::word_enum;

/// Findings of one kind beyond this many are counted, not listed.
const MAX_LISTED: usize = 1000;

/// One problem that was found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// Its location: entry, line and JSON pointer, as
    /// `memory/partitions/2026-Q1.jsonl:12#/temporal`; empty for the file as a whole.
    pub path: String,
    /// Its description, for people.
    pub message: String,
    /// The sort of finding; JSON has its word.
    #[serde(rename = "code")]
    pub kind: FindingKind,
}

word_enum! {
    /// The result in one word, as the conformance vectors use it.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum Class {
        /// Valid, and everything in it is known.
        #[default]
        Ok = "ok",
        /// Valid, with fields, words or entries that this version only carries.
        OkWithUnknowns = "ok-with-unknowns",
        /// Made by a newer program.
        RefuseVersion = "refuse-version",
        /// Damaged or contradictory.
        RefuseCorrupt = "refuse-corrupt",
        /// Dangerous to unpack.
        RefuseUnsafe = "refuse-unsafe",
    }
}

/// How much was checked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Entries, all read to the end.
    pub entries: u64,
    /// Their bytes, inflated.
    pub bytes: u64,
    /// Entries whose SHA-256 was compared.
    pub digests: u64,
    /// Record lines.
    pub records: u64,
}

/// Everything that was found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Report {
    /// The kind of the file, if it could be determined.
    pub kind: Option<ArchiveKind>,
    /// The result in one word.
    pub class: Class,
    /// Problems that make the file invalid.
    pub errors: Vec<Finding>,
    /// What is odd but harmless.
    pub warnings: Vec<Finding>,
    /// Remarks.
    pub notes: Vec<Finding>,
    /// Errors and warnings that were counted but not listed.
    pub unlisted: u64,
    /// How much was checked.
    pub counts: Counts,
}

impl Report {
    /// Returns true when there are no errors.
    #[must_use]
    pub fn is_valid(&self) -> bool {
        self.errors.is_empty()
    }
}

/// Checks an archive or a delta of a known length.
#[must_use]
pub fn validate(source: Bytes, length: u64, limits: &Limits) -> Report {
    validate_with(source, length, limits, Edits::Refuse)
}

/// Checks an archive or a delta that may have been edited; accepted edits are warnings.
#[must_use]
pub fn validate_with(source: Bytes, length: u64, limits: &Limits, edits: Edits) -> Report {
    let mut findings = Findings::new(edits);
    let mut kind = None;
    let checked = OpenContainer::open(source, length, limits, edits).and_then(|opened| {
        kind = Some(opened.kind);
        check(opened, &mut findings)
    });
    // The faults of a manifest with the wrong shape have already been reported.
    if let Err(error) = checked
        && (kind.is_none() || findings.report.is_valid())
    {
        kind = None;
        findings.refuse(&error);
    }
    findings.into_report(kind)
}

/// Opens an archive or a delta from which something will be written, and checks all of it.
///
/// The caller must write nothing unless the report is valid. The file is only opened once, so that
/// the checked content is what is read.
pub fn open_validated(
    source: Bytes,
    length: u64,
    limits: &Limits,
    edits: Edits,
) -> Result<(ArchiveOrDelta, Report), OpenError> {
    let opened = OpenContainer::open(source, length, limits, edits)?;
    let kind = opened.kind;
    let mut findings = Findings::new(edits);
    let opening = check(opened, &mut findings)?;
    Ok((opening, findings.into_report(Some(kind))))
}

fn check(opened: OpenContainer, findings: &mut Findings) -> Result<ArchiveOrDelta, OpenError> {
    let (entry, bytes) = (opened.manifest_entry, &opened.manifest);
    match opened.kind {
        ArchiveKind::Archive => {
            shape::parse::<Manifest>(SchemaDocument::Manifest, entry, bytes, findings);
        }
        ArchiveKind::Delta => {
            shape::parse::<DeltaManifest>(SchemaDocument::DeltaManifest, entry, bytes, findings);
        }
    }
    let is_well_formed = findings.report.is_valid();
    let seal = opened.container.seal();
    let opening = ArchiveOrDelta::from_opened(opened)?;
    if is_well_formed {
        let has_digests = match &opening {
            ArchiveOrDelta::Archive(archive) => !archive.manifest().entries.is_empty(),
            ArchiveOrDelta::Delta(delta) => !delta.manifest().entries.is_empty(),
        };
        match seal {
            Seal::Absent if has_digests => {
                findings.warning(FindingKind::SealMissing, "", SEAL_MISSING);
            }
            Seal::Broken => findings.warning(FindingKind::SealBroken, "", SEAL_BROKEN),
            Seal::Absent | Seal::Intact => {}
        }
        match &opening {
            ArchiveOrDelta::Archive(archive) => archive::check(archive, findings),
            ArchiveOrDelta::Delta(delta) => delta::check(delta, findings),
        }
    }
    Ok(opening)
}

const SEAL_MISSING: &str = "the file has no seal: it was packed again by another tool; the digests \
                            of its entries were compared";
const SEAL_BROKEN: &str = "the seal does not match: the file was changed after it was written";

/// Fields that this project adds to the format, by document and place; `*` is any index.
const EXTENSIONS: [(&str, &str, &str); 4] = [
    ("memory-record", "/source", "trust"),
    ("memory-record", "/source", "stamps"),
    ("memory-record", "/embeddings/*", "text_sha256"),
    // Names that a runtime has for a record, such as the key of a row.
    ("memory-record", "", "extra"),
];

/// Returns true for a field that is not in the types, but that this project writes.
fn is_extension(document: &str, at: &Pointer, name: &str) -> bool {
    let is_it = |extension: &&(&str, &str, &str)| extension.0 == document && extension.2 == name;
    EXTENSIONS.iter().filter(is_it).any(|extension| at.pattern() == extension.1)
}

/// Returns true when an entry is intact, but is not the one that the manifest lists.
fn is_edited(error: &ReadJsonError) -> bool {
    let ReadJsonError::Io(error) = error else { return false };
    let fault = error.get_ref().and_then(|error| error.downcast_ref::<ContentFault>());
    matches!(fault, Some(ContentFault::Digest { .. }))
}

/// What has been found so far.
#[derive(Default)]
struct Findings {
    edits: Edits,
    report: Report,
    refusal: Option<Refusal>,
    /// Unknown fields and words, by where they are in their kind of document.
    surprises: BTreeMap<String, u64>,
}

impl Findings {
    fn new(edits: Edits) -> Self {
        Self { edits, ..Self::default() }
    }

    /// Records the reason why a file could not be opened.
    fn refuse(&mut self, error: &OpenError) {
        self.refusal = Some(error.refusal());
        let path = match error {
            OpenError::Manifest { entry, .. } => (*entry).to_owned(),
            OpenError::Version(_) => "manifest.json#/alf_version".to_owned(),
            OpenError::Feature(_) => "manifest.json#/requires".to_owned(),
            _ => String::new(),
        };
        self.error(FindingKind::Unreadable, path, with_causes(error));
    }

    /// Records a contradiction between two places: an error, or a consequence of edits where those
    /// are accepted.
    fn contradiction(
        &mut self,
        kind: FindingKind,
        path: impl Into<String>,
        message: impl Into<String>,
    ) {
        match self.edits {
            Edits::Refuse => self.error(kind, path, message),
            Edits::Accept => self.warning(kind, path, message),
        }
    }

    /// Records an entry that could not be read to its end.
    fn unreadable(&mut self, path: impl Into<String>, error: &ReadJsonError) {
        let kind = if is_edited(error) { FindingKind::Edited } else { FindingKind::Unreadable };
        self.error(kind, path, with_causes(error));
    }

    fn error(&mut self, kind: FindingKind, path: impl Into<String>, message: impl Into<String>) {
        let Report { errors, unlisted, .. } = &mut self.report;
        list(errors, unlisted, Finding { kind, path: path.into(), message: message.into() });
    }

    fn warning(&mut self, kind: FindingKind, path: impl Into<String>, message: impl Into<String>) {
        let Report { warnings, unlisted, .. } = &mut self.report;
        list(warnings, unlisted, Finding { kind, path: path.into(), message: message.into() });
    }

    fn note(&mut self, kind: FindingKind, path: impl Into<String>, message: impl Into<String>) {
        self.report.notes.push(Finding { kind, path: path.into(), message: message.into() });
    }

    /// Counts what this version does not know in a document of some kind.
    fn survey(&mut self, document: &str, value: &impl Survey) {
        let surprises = &mut self.surprises;
        value.survey(&mut Pointer::default(), &mut |at, surprise| {
            if let Surprise::Field(name) = surprise
                && is_extension(document, at, name)
            {
                return;
            }
            let what = match surprise {
                Surprise::Field(name) => format!("{document}#{at}/{name} (field)"),
                Surprise::Word(word) => format!("{document}#{at} (word {word:?})"),
            };
            // An untrusted archive may have a new name in every record.
            if surprises.len() < MAX_LISTED || surprises.contains_key(&what) {
                *surprises.entry(what).or_default() += 1;
            }
        });
    }

    /// Counts an entry that was read to its end.
    fn count(&mut self, bytes: u64) {
        self.report.counts.entries += 1;
        self.report.counts.bytes += bytes;
    }

    fn surprise(&mut self, what: String) {
        *self.surprises.entry(what).or_default() += 1;
    }

    fn into_report(mut self, kind: Option<ArchiveKind>) -> Report {
        for (what, count) in std::mem::take(&mut self.surprises) {
            self.note(
                FindingKind::Unknown,
                what,
                format!("not known to this version, carried along ({count})"),
            );
        }
        let mut report = self.report;
        let unknowns = report.notes.iter().any(|note| note.kind == FindingKind::Unknown);
        report.class = match (self.refusal, report.is_valid()) {
            (Some(Refusal::Version), _) => Class::RefuseVersion,
            (Some(Refusal::Unsafe), _) => Class::RefuseUnsafe,
            (Some(Refusal::Corrupt), _) | (None, false) => Class::RefuseCorrupt,
            (None, true) if unknowns => Class::OkWithUnknowns,
            (None, true) => Class::Ok,
        };
        Report { kind, ..report }
    }
}

fn list(found: &mut Vec<Finding>, unlisted: &mut u64, finding: Finding) {
    if found.len() < MAX_LISTED {
        found.push(finding);
    } else {
        *unlisted += 1;
    }
}

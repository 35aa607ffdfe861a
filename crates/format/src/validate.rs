//! Checks a whole archive or delta and reports everything that is wrong with it.
//!
//! Nothing is written and nothing is repaired. Damage ends the reading of one entry, not of the
//! archive, so that one report names it all.

mod archive;
mod damage;
mod delta;
mod layers;
mod record;
mod shape;

use std::collections::BTreeMap;

pub use self::damage::find_damage;
use crate::archive::read::{Archive, Kind, OpenError, Opened, Refusal};
use crate::container::read::Bytes;
use crate::delta::read::Delta;
use crate::limits::Limits;
use crate::survey::{Pointer, Surprise, Survey};

/// Findings of one sort beyond this many are counted, not listed.
const MAX_LISTED: usize = 1000;

/// What one finding says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// A stable word for the sort of finding.
    pub code: &'static str,
    /// Where: entry, line and JSON pointer, as `memory/partitions/2026-Q1.jsonl:12#/temporal`.
    pub path: String,
    /// What, for people.
    pub message: String,
}

/// The result in one word, as the conformance vectors use it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// Sound, and all of it is known.
    Ok,
    /// Sound, with fields, words or entries that this version only carries.
    OkWithUnknowns,
    /// Made by a newer program.
    RefuseVersion,
    /// Damaged or contradictory.
    RefuseCorrupt,
    /// Dangerous to unpack.
    RefuseUnsafe,
}

impl Class {
    /// Returns the word.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::OkWithUnknowns => "ok-with-unknowns",
            Self::RefuseVersion => "refuse-version",
            Self::RefuseCorrupt => "refuse-corrupt",
            Self::RefuseUnsafe => "refuse-unsafe",
        }
    }
}

/// How much was looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Entries, all read to the end.
    pub entries: u64,
    /// Their bytes, inflated.
    pub bytes: u64,
    /// Record lines.
    pub records: u64,
    /// Entries whose SHA-256 was compared.
    pub digests: u64,
}

/// Everything that was found.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// What the file is, if that could be told.
    pub kind: Option<Kind>,
    /// The result in one word.
    pub class: Class,
    /// What makes the file unfit.
    pub errors: Vec<Finding>,
    /// What is odd but harmless.
    pub warnings: Vec<Finding>,
    /// What is worth knowing.
    pub notes: Vec<Finding>,
    /// Errors and warnings that were counted but not listed.
    pub unlisted: u64,
    /// How much was looked at.
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
    let mut findings = Findings::default();
    let kind = match check(source, length, limits, &mut findings) {
        Ok(kind) => Some(kind),
        Err(error) => {
            findings.refusal = Some(error.refusal());
            let path = match &error {
                OpenError::Manifest { entry, .. } => (*entry).to_owned(),
                OpenError::Version { .. } => "manifest.json#/alf_version".to_owned(),
                OpenError::Feature { .. } => "manifest.json#/requires".to_owned(),
                _ => String::new(),
            };
            findings.error("unreadable", path, chain(&error));
            None
        }
    };
    findings.into_report(kind)
}

fn check(
    source: Bytes,
    length: u64,
    limits: &Limits,
    findings: &mut Findings,
) -> Result<Kind, OpenError> {
    let opened = Opened::open(source, length, limits)?;
    let kind = opened.kind;
    let manifest = opened.manifest.clone();
    match kind {
        Kind::Archive => {
            shape::check_document(
                crate::schema::Document::Manifest,
                opened.manifest_entry,
                &manifest,
                findings,
            );
            if findings.errors.is_empty() {
                archive::check(&Archive::from_opened(opened)?, findings);
            }
        }
        Kind::Delta => {
            shape::check_document(
                crate::schema::Document::DeltaManifest,
                opened.manifest_entry,
                &manifest,
                findings,
            );
            if findings.errors.is_empty() {
                delta::check(&Delta::from_opened(opened)?, findings);
            }
        }
    }
    Ok(kind)
}

/// Returns an error and its causes as one line.
pub(crate) fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text.push_str(": ");
        text.push_str(&error.to_string());
        cause = error.source();
    }
    text
}

/// What has been found so far.
#[derive(Default)]
struct Findings {
    errors: Vec<Finding>,
    warnings: Vec<Finding>,
    notes: Vec<Finding>,
    unlisted: u64,
    refusal: Option<Refusal>,
    /// Unknown fields and words, by where they are in their kind of document.
    surprises: BTreeMap<String, u64>,
    counts: Counts,
}

impl Findings {
    fn error(&mut self, code: &'static str, path: impl Into<String>, message: impl Into<String>) {
        if self.errors.len() < MAX_LISTED {
            self.errors.push(Finding { code, path: path.into(), message: message.into() });
        } else {
            self.unlisted += 1;
        }
    }

    fn warning(&mut self, code: &'static str, path: impl Into<String>, message: impl Into<String>) {
        if self.warnings.len() < MAX_LISTED {
            self.warnings.push(Finding { code, path: path.into(), message: message.into() });
        } else {
            self.unlisted += 1;
        }
    }

    fn note(&mut self, code: &'static str, path: impl Into<String>, message: impl Into<String>) {
        self.notes.push(Finding { code, path: path.into(), message: message.into() });
    }

    /// Counts what this version does not know in a document of some kind.
    fn survey(&mut self, document: &str, value: &impl Survey) {
        let surprises = &mut self.surprises;
        value.survey(&mut Pointer::default(), &mut |at, surprise| {
            let what = match surprise {
                Surprise::Field(name) => format!("{document}#{at}/{name} (field)"),
                Surprise::Word(word) => format!("{document}#{at} (word {word:?})"),
            };
            // A stranger may send a new name with every record.
            if surprises.len() < MAX_LISTED || surprises.contains_key(&what) {
                *surprises.entry(what).or_default() += 1;
            }
        });
    }

    fn surprise(&mut self, what: String) {
        *self.surprises.entry(what).or_default() += 1;
    }

    fn into_report(mut self, kind: Option<Kind>) -> Report {
        for (what, count) in std::mem::take(&mut self.surprises) {
            self.note(
                "unknown",
                what,
                format!("not known to this version, carried along ({count})"),
            );
        }
        let unknowns = self.notes.iter().any(|note| note.code == "unknown");
        let class = match (self.refusal, self.errors.is_empty()) {
            (Some(Refusal::Version), _) => Class::RefuseVersion,
            (Some(Refusal::Unsafe), _) => Class::RefuseUnsafe,
            (Some(Refusal::Corrupt), _) | (None, false) => Class::RefuseCorrupt,
            (None, true) if unknowns => Class::OkWithUnknowns,
            (None, true) => Class::Ok,
        };
        Report {
            kind,
            class,
            errors: self.errors,
            warnings: self.warnings,
            notes: self.notes,
            unlisted: self.unlisted,
            counts: self.counts,
        }
    }
}

//! Removes records from an archive or a delta for good, and proves that they are gone.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anemone_format::{
    ApplyPurgeError, ArchiveOrDelta, Bytes, Edits, ItemId, Limits, OpenError, PlanPurgeError,
    PurgeAudit, PurgeDetails, PurgePlan, PurgeProof, PurgeReason, ReadEntryError, RecordId,
    apply_purge, prove_purge,
};
use serde::Serialize;

use crate::archive::{OpenArchiveError, open_sound};
use crate::files::{FileError, OutputFile, copy_bytes, reopen, spool, write_step};
use crate::host::Host;
use crate::result_file::ResultFile;
use crate::text::count;

/// The records to purge, and the file.
#[derive(Clone, Debug)]
pub struct PurgeRequest {
    /// The archive or the delta.
    pub file: PathBuf,
    /// The records.
    pub records: Vec<RecordId>,
    /// Files that are left out as a whole, as the archive names them.
    pub drop_files: Vec<String>,
    /// Why, for the audit record.
    pub reason: PurgeReason,
    /// Who asked for it, for the audit record.
    pub requested_by: Option<String>,
    /// The file that is written.
    pub output: ResultFile,
}

/// What was purged, or would be.
#[derive(Default, Serialize)]
pub struct PurgeReport {
    /// Whether nothing was written because only a plan was asked for.
    pub dry_run: bool,
    /// The file that was written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<String>,
    /// The records that go.
    pub records: Vec<PurgedRecord>,
    /// The text that is cut out of files.
    pub cuts: Vec<PurgedText>,
    /// Files that go as a whole.
    pub dropped_files: Vec<String>,
    /// Places that hold the text and stay.
    pub obstacles: Vec<PurgeObstacle>,
    /// The file's own record of the purge.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub audit: Option<PurgeAudit>,
    /// The result of the search for the text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proof: Option<PurgeAbsence>,
    /// Whether the result took the place of the file.
    #[serde(skip)]
    pub in_place: bool,
    /// Whether the file is a delta.
    #[serde(skip)]
    pub is_delta: bool,
}

/// A record that goes.
#[derive(Serialize)]
pub struct PurgedRecord {
    /// The record.
    pub id: String,
    /// The entry.
    pub entry: String,
}

/// Text that is cut out of a file.
#[derive(Serialize)]
pub struct PurgedText {
    /// The entry.
    pub entry: String,
    /// How many bytes are cut out of it.
    pub bytes: u64,
}

/// A place that holds the text and stays.
#[derive(Serialize)]
pub struct PurgeObstacle {
    /// The record.
    pub id: String,
    /// The place.
    pub path: String,
    /// The other record that holds the text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub held_by: Option<String>,
}

/// That the text is gone.
#[derive(Serialize)]
pub struct PurgeAbsence {
    /// Whether the text is nowhere in the file.
    pub absent: bool,
    /// How many entries were searched.
    pub entries_searched: u64,
    /// How many bytes were searched.
    pub bytes_searched: u64,
    /// How many entries were copied as they are.
    pub entries_copied: u64,
    /// The entries that changed.
    pub entries_rewritten: Vec<String>,
    /// Places that share a single line with a purged text.
    pub shared_lines: Vec<String>,
    /// Records whose text is too short to be searched for.
    pub too_short: Vec<String>,
}

/// Why nothing was purged.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
#[non_exhaustive]
pub enum PurgeError {
    /// The file was not opened.
    Open(#[from] OpenArchiveError),
    /// The result cannot be written.
    File(#[from] FileError),
    /// A record or a file is not in the file.
    Plan(#[from] PlanPurgeError),
    /// The result cannot be made.
    Apply(#[from] ApplyPurgeError),
    /// The result cannot be opened to search it.
    Result(#[from] OpenError),
    /// An entry of the result cannot be read.
    Entry(#[from] ReadEntryError),
    /// The text is also in a place that stays.
    #[error(
        "the text of record {record} also occurs in {place}; nothing was written ({} in all)",
        count(*.places as u64, "place")
    )]
    Obstacle {
        /// The record.
        record: RecordId,
        /// The first such place.
        place: String,
        /// The other record that holds the text.
        held_by: Option<RecordId>,
        /// Whether the place is a file that can be left out as a whole.
        droppable: bool,
        /// How many such places there are.
        places: usize,
    },
    /// The result still holds the text.
    #[error("the purged text is still in {0}; nothing was written")]
    Unproved(String),
}

/// Purges records, and searches the result for their text before it gets its name.
pub fn purge(request: &PurgeRequest, host: &Host) -> Result<PurgeReport, PurgeError> {
    let output = &request.output;
    output.check(host)?;
    let requested_at = host.moment();
    let progress = host.progress("purging");
    let sound = open_sound(&request.file, Edits::Refuse, host, &progress)?;
    sound.show_warnings(host);
    let sealing = output.sealing([&sound.sealing]);
    let file = sound.opening;
    let plan = PurgePlan::new(&file, &request.records, &request.drop_files)?;
    let mut report = PurgeReport::planned(&plan, output);
    report.is_delta = matches!(file, ArchiveOrDelta::Delta(_));
    let Some(path) = output.path.as_deref() else {
        return Ok(report);
    };
    refuse_obstacles(&plan)?;

    let details = PurgeDetails {
        purge_id: ItemId::new(host.fresh_id()),
        reason: request.reason.clone(),
        requested_at,
        completed_at: host.moment(),
        requested_by: request.requested_by.clone(),
    };
    let write = |out: &mut dyn Write| {
        let spool = spool(Some(path))?;
        Ok::<_, PurgeError>(apply_purge(&file, &plan, details, out, spool, host.threads)?.1)
    };
    let (purged, proof) = match &sealing {
        None => {
            let mut target = OutputFile::create(path, output.existing)?;
            let purged = target.write(None, write)?;
            let (bytes, length) = reopen(target.file())?;
            let proof = prove(bytes, length, &plan)?;
            target.deliver(host)?;
            (purged, proof)
        }
        Some(sealing) => {
            // It has to be open to be searched; until it is sealed it has no name.
            let (purged, bytes, length) = write_step(Some(path), write)?;
            let bytes = Arc::new(bytes);
            let proof = prove(Box::new(Arc::clone(&bytes)), length, &plan)?;
            let mut target = OutputFile::create(path, output.existing)?;
            target.write(Some(sealing), |out| copy_bytes(&bytes, length, out))?;
            target.deliver(host)?;
            (purged, proof)
        }
    };
    report.in_place = same_file(path, &request.file);
    report.output = output.shown();
    report.audit = Some(purged.audit);
    report.proof = Some(PurgeAbsence::new(proof, purged.entries_copied, purged.entries_rewritten));
    Ok(report)
}

fn prove(bytes: Bytes, length: u64, plan: &PurgePlan) -> Result<PurgeProof, PurgeError> {
    let proof = prove_purge(&ArchiveOrDelta::open(bytes, length, &Limits::default())?, plan)?;
    match proof.remains.first() {
        None => Ok(proof),
        Some(place) => Err(PurgeError::Unproved(place.clone())),
    }
}

fn same_file(a: &Path, b: &Path) -> bool {
    matches!((fs_err::canonicalize(a), fs_err::canonicalize(b)), (Ok(a), Ok(b)) if a == b)
}

fn refuse_obstacles(plan: &PurgePlan) -> Result<(), PurgeError> {
    let Some(first) = plan.obstacles.first() else {
        return Ok(());
    };
    Err(PurgeError::Obstacle {
        record: first.id,
        place: first.path.clone(),
        held_by: first.held_by,
        droppable: first.droppable,
        places: plan.obstacles.len(),
    })
}

impl PurgeReport {
    fn planned(plan: &PurgePlan, output: &ResultFile) -> Self {
        let planned = |(id, entry): (&RecordId, &String)| PurgedRecord {
            id: id.to_string(),
            entry: entry.clone(),
        };
        Self {
            dry_run: output.path.is_none(),
            records: plan.records.iter().map(planned).collect(),
            cuts: plan
                .cuts
                .iter()
                .map(|cut| PurgedText {
                    entry: cut.entry.clone(),
                    bytes: cut.parts.iter().map(|part| part.len() as u64).sum(),
                })
                .collect(),
            dropped_files: plan.dropped_files.clone(),
            obstacles: plan
                .obstacles
                .iter()
                .map(|obstacle| PurgeObstacle {
                    id: obstacle.id.to_string(),
                    path: obstacle.path.clone(),
                    held_by: obstacle.held_by.map(|id| id.to_string()),
                })
                .collect(),
            ..Self::default()
        }
    }
}

impl PurgeAbsence {
    fn new(proof: PurgeProof, entries_copied: u64, entries_rewritten: Vec<String>) -> Self {
        Self {
            absent: proof.remains.is_empty() && proof.too_short.is_empty(),
            entries_searched: proof.entries,
            bytes_searched: proof.bytes,
            entries_copied,
            entries_rewritten,
            shared_lines: proof.lines,
            too_short: proof.too_short.iter().map(ToString::to_string).collect(),
        }
    }
}

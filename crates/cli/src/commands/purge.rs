//! `anemone purge`

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anemone_format::{
    Bytes, Edits, ItemId, Limits, Opening, PurgeAudit, PurgePlan, PurgeProof, PurgeReason,
    PurgeRequest, RecordId, apply_purge, prove_purge,
};
use clap::Args;
use serde::Serialize;

use super::diff::open_sound;
use super::{Context, OutputArgs};
use crate::error::{CliError, Kind};
use crate::files::{Target, check_free, copy_bytes, reopen, spool, write_step};
use crate::output::{BAD, BOLD, GOOD, ODD, Report, count, notice, safe};

/// Remove records from an archive or a delta for good, and prove that they are gone
///
/// Removes the records with their vectors, cuts their text out of the raw files they came from,
/// and brings index and manifest up to date; every other entry is copied as it is. Then the new
/// file is searched for the text. Where the text also stands in another record or in a file that
/// is not text, nothing is written and the place is named. The source file is left as it is:
/// delete it, and its copies, yourself.
#[derive(Args, Debug)]
#[command(override_usage = "anemone purge [OPTIONS] <FILE> --record <ID>... --output <FILE>")]
pub(crate) struct PurgeArgs {
    /// The .alf or .alf-delta file
    file: PathBuf,

    /// The id of a record to purge; may be given more than once
    #[arg(long = "record", value_name = "ID", required = true, num_args = 1..)]
    records: Vec<RecordId>,

    /// A file to leave out as a whole, as the archive names it
    #[arg(long = "drop-file", value_name = "PATH")]
    drop_files: Vec<String>,

    /// Why, for the audit record
    #[arg(long, value_parser = reasons(), default_value = "user_request")]
    reason: String,

    /// Who asked for it, for the audit record
    #[arg(long, value_name = "NAME")]
    requested_by: Option<String>,

    #[command(flatten)]
    output: OutputArgs,
}

fn reasons() -> clap::builder::PossibleValuesParser {
    PurgeReason::WORDS.iter().copied().into()
}

#[derive(Serialize)]
pub(crate) struct PurgeReport {
    ok: bool,
    dry_run: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    output: Option<String>,
    records: Vec<PlannedRecord>,
    cuts: Vec<PlannedCut>,
    dropped_files: Vec<String>,
    obstacles: Vec<PlannedObstacle>,
    #[serde(skip_serializing_if = "Option::is_none")]
    audit: Option<PurgeAudit>,
    #[serde(skip_serializing_if = "Option::is_none")]
    proof: Option<Proof>,
    #[serde(skip)]
    in_place: bool,
    #[serde(skip)]
    is_delta: bool,
}

#[derive(Serialize)]
struct PlannedRecord {
    id: String,
    entry: String,
}

#[derive(Serialize)]
struct PlannedCut {
    entry: String,
    bytes: u64,
}

#[derive(Serialize)]
struct PlannedObstacle {
    id: String,
    path: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    held_by: Option<String>,
}

#[derive(Serialize)]
struct Proof {
    absent: bool,
    entries_searched: u64,
    bytes_searched: u64,
    entries_copied: u64,
    entries_rewritten: Vec<String>,
    /// Places that share a single line with a purged text.
    shared_lines: Vec<String>,
    /// Records whose text is too short to be searched for.
    too_short: Vec<String>,
}

pub(crate) fn run(args: &PurgeArgs, context: &Context<'_>) -> Result<PurgeReport, CliError> {
    if let Some(path) = args.output.path() {
        check_free(path, args.output.existing(), &context.host)?;
    }
    let requested_at = context.host.moment();
    let progress = context.host.progress("purging");
    let sound = open_sound(&args.file, Edits::Refuse, context, &progress)?;
    for warning in &sound.warnings {
        notice(&safe(warning));
    }
    let sealing = args.output.sealing([&sound.sealing]);
    let file = sound.opening;
    let plan = PurgePlan::new(&file, &args.records, &args.drop_files)?;
    let mut report = PurgeReport::planned(&plan, args.output.dry_run);
    report.is_delta = matches!(file, Opening::Delta(_));
    let Some(path) = args.output.path() else {
        return Ok(report);
    };
    refuse_obstacles(&plan)?;

    let request = PurgeRequest {
        purge_id: ItemId::new(context.host.fresh_id()),
        reason: PurgeReason::from(args.reason.as_str()),
        requested_at,
        completed_at: context.host.moment(),
        requested_by: args.requested_by.clone(),
    };
    let threads = context.host.threads;
    let write = |out: &mut dyn Write| {
        Ok::<_, CliError>(apply_purge(&file, &plan, request, out, spool(Some(path))?, threads)?.1)
    };
    let (purged, proof) = match &sealing {
        None => {
            let mut target = Target::create(path, args.output.existing())?;
            let purged = target.write(None, write)?;
            let (bytes, length) = reopen(target.file())?;
            let proof = prove(bytes, length, &plan)?;
            target.deliver(&context.host)?;
            (purged, proof)
        }
        Some(sealing) => {
            // It has to be open to be searched; until it is sealed it has no name.
            let (purged, bytes, length) = write_step(Some(path), write)?;
            let bytes = Arc::new(bytes);
            let proof = prove(Box::new(Arc::clone(&bytes)), length, &plan)?;
            let mut target = Target::create(path, args.output.existing())?;
            target.write(Some(sealing), |out| copy_bytes(&bytes, length, out))?;
            target.deliver(&context.host)?;
            (purged, proof)
        }
    };
    report.in_place = same_file(path, &args.file);
    report.output = Some(path.display().to_string());
    report.audit = Some(purged.audit);
    report.proof = Some(Proof::new(proof, purged.entries_copied, purged.entries_rewritten));
    Ok(report)
}

fn prove(bytes: Bytes, length: u64, plan: &PurgePlan) -> Result<PurgeProof, CliError> {
    let proof = prove_purge(&Opening::open(bytes, length, &Limits::default())?, plan)?;
    match proof.remains.first() {
        None => Ok(proof),
        Some(place) => {
            let message = format!("the purged text is still in {place}; nothing was written");
            Err(CliError::new(Kind::Failed, "purge_unproved", message))
        }
    }
}

fn same_file(a: &Path, b: &Path) -> bool {
    matches!((fs_err::canonicalize(a), fs_err::canonicalize(b)), (Ok(a), Ok(b)) if a == b)
}

fn refuse_obstacles(plan: &PurgePlan) -> Result<(), CliError> {
    let Some(first) = plan.obstacles.first() else {
        return Ok(());
    };
    let number = count(plan.obstacles.len() as u64, "place");
    let message = format!(
        "the text of record {} also stands in {}; nothing was written ({number} in all)",
        first.id, first.path
    );
    let hint = match first.held_by {
        Some(other) => format!("if that record is to go too, add --record {other}"),
        None if first.droppable => {
            format!("if the whole file may go, add --drop-file {}", first.path)
        }
        None => "change it in the agent and make a new archive".to_owned(),
    };
    Err(CliError::new(Kind::Failed, "purge_obstacle", message).hint(hint))
}

impl PurgeReport {
    fn planned(plan: &PurgePlan, dry_run: bool) -> Self {
        let planned = |(id, entry): (&RecordId, &String)| PlannedRecord {
            id: id.to_string(),
            entry: entry.clone(),
        };
        Self {
            ok: true,
            dry_run,
            output: None,
            records: plan.records.iter().map(planned).collect(),
            cuts: plan
                .cuts
                .iter()
                .map(|cut| PlannedCut {
                    entry: cut.entry.clone(),
                    bytes: cut.parts.iter().map(|part| part.len() as u64).sum(),
                })
                .collect(),
            dropped_files: plan.dropped_files.clone(),
            obstacles: plan
                .obstacles
                .iter()
                .map(|it| PlannedObstacle {
                    id: it.id.to_string(),
                    path: it.path.clone(),
                    held_by: it.held_by.map(|id| id.to_string()),
                })
                .collect(),
            audit: None,
            proof: None,
            in_place: false,
            is_delta: false,
        }
    }
}

impl Proof {
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

impl Report for PurgeReport {
    fn write_human(&self, out: &mut dyn Write) -> io::Result<()> {
        for it in &self.records {
            writeln!(out, "{BAD}-{BAD:#} record {} in {}", it.id, safe(&it.entry))?;
        }
        for it in &self.cuts {
            writeln!(out, "{BAD}-{BAD:#} {} bytes of {}", it.bytes, safe(&it.entry))?;
        }
        for it in &self.dropped_files {
            writeln!(out, "{BAD}-{BAD:#} file {}", safe(it))?;
        }
        for it in &self.obstacles {
            let path = safe(&it.path);
            writeln!(out, "{ODD}in the way:{ODD:#} the text of {} also stands in {path}", it.id)?;
        }
        if let Some(proof) = &self.proof {
            for it in &proof.shared_lines {
                writeln!(out, "{ODD}note:{ODD:#} a single line of it also stands in {}", safe(it))?;
            }
            for it in &proof.too_short {
                writeln!(
                    out,
                    "{ODD}not proved:{ODD:#} the text of {it} is too short to search for"
                )?;
            }
            let (entries, read) =
                (proof.entries_searched, crate::output::bytes(proof.bytes_searched));
            if proof.absent {
                writeln!(out, "{GOOD}gone:{GOOD:#} searched {entries} entries, {read}; not found")?;
            }
        }
        if self.is_delta {
            let note =
                "the archive that this delta starts from may hold them too: purge it as well";
            writeln!(out, "{ODD}note:{ODD:#} {note}")?;
        }
        match &self.output {
            Some(path) if self.in_place => writeln!(out, "replaced {BOLD}{path}{BOLD:#}"),
            Some(path) => writeln!(out, "wrote {BOLD}{path}{BOLD:#}; the source is still there"),
            None => writeln!(out, "nothing written: this was a dry run"),
        }
    }
}

//! `anemone delta`

use std::io::{self, Write};
use std::path::PathBuf;

use anemone_format::{Comparison, write_delta};
use clap::Args;
use serde::Serialize;

use super::diff::{Differences, differences, open_sound_archive};
use super::{Context, OutputArgs};
use crate::error::CliError;
use crate::files::{Target, check_free, spool};
use crate::output::{BOLD, Report, bytes};

/// Write what turns one archive into another
///
/// Applying the delta between A and B to A gives B, byte for byte. Deleted records leave a
/// tombstone that holds nothing of their text.
#[derive(Args, Debug)]
pub(crate) struct DeltaArgs {
    /// The older archive
    base: PathBuf,
    /// The newer archive
    target: PathBuf,
    #[command(flatten)]
    output: OutputArgs,
}

#[derive(Serialize)]
pub(crate) struct DeltaReport {
    ok: bool,
    dry_run: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    output: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    file_size: Option<u64>,
    base_sequence: u64,
    new_sequence: u64,
    changes: Changes,
    files_put: u64,
    files_removed: u64,
    layers_changed: Vec<&'static str>,
    no_changes: bool,
    #[serde(skip)]
    shown: Option<Differences>,
}

#[derive(Serialize)]
struct Changes {
    creates: u64,
    updates: u64,
    deletes: u64,
}

pub(crate) fn run(args: &DeltaArgs, context: &Context<'_>) -> Result<DeltaReport, CliError> {
    if let Some(path) = args.output.path() {
        check_free(path, args.output.existing(), &context.host)?;
    }
    let progress = context.host.progress("comparing");
    let (base, base_sealing) = open_sound_archive(&args.base, context, &progress)?;
    let (target, target_sealing) = open_sound_archive(&args.target, context, &progress)?;
    let (comparison, file_size) = match args.output.path() {
        None => (Comparison::of(&base, &target)?, None),
        Some(path) => {
            let sealing = args.output.sealing([&target_sealing, &base_sealing]);
            let mut file = Target::create(path, args.output.existing())?;
            let written = file.write(sealing.as_ref(), |out| {
                let spool = spool(Some(path))?;
                Ok::<_, CliError>(write_delta(&base, &target, out, spool, context.host.threads)?.1)
            })?;
            let size = file.length()?;
            file.deliver(&context.host)?;
            (written.comparison, Some(size))
        }
    };
    Ok(DeltaReport {
        ok: true,
        dry_run: args.output.dry_run,
        output: args.output.path().map(|path| path.display().to_string()),
        file_size,
        base_sequence: base.manifest().sequence().0,
        new_sequence: target.manifest().sequence().0,
        changes: Changes {
            creates: comparison.created.len() as u64,
            updates: comparison.updated.len() as u64,
            deletes: comparison.deleted.len() as u64,
        },
        files_put: comparison.put_files.len() as u64,
        files_removed: comparison.removed_files.len() as u64,
        layers_changed: comparison.layers.iter().map(|it| it.layer.key()).collect(),
        no_changes: comparison.is_empty(),
        shown: if args.output.dry_run {
            Some(differences(&base, &target, &comparison)?)
        } else {
            None
        },
    })
}

impl Report for DeltaReport {
    fn write_human(&self, out: &mut dyn Write) -> io::Result<()> {
        if let Some(shown) = &self.shown {
            shown.write_human(out)?;
        }
        let Changes { creates, updates, deletes } = &self.changes;
        let (put, removed) = (self.files_put, self.files_removed);
        let records = format!("{creates} created, {updates} updated, {deletes} deleted");
        match (&self.output, self.file_size) {
            (Some(path), Some(size)) => writeln!(
                out,
                "wrote {BOLD}{path}{BOLD:#} ({}): records {records}; files {put} put, {removed} \
                 removed",
                bytes(size)
            ),
            _ => writeln!(out, "nothing written: this was a dry run"),
        }
    }
}

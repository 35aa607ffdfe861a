//! `anemone diff`

use std::io::{self, Write};
use std::path::PathBuf;

use anemone::diff::{DiffReport, DiffRequest, FieldGroup, diff};
use clap::Args;

use super::Context;
use crate::output::{BAD, DIM, GOOD, ODD, Report, Result, count, safe};

/// Updated records that changed in the same fields are listed one by one up to this many.
const MANY_ALIKE: u64 = 10;

/// Show what differs between two archives of one agent
///
/// Created, updated and deleted records, layers and files. Updated records come with the names of
/// the fields that differ; more than ten that differ in the same fields are one line.
#[derive(Args, Debug)]
pub(crate) struct DiffArgs {
    /// The older archive; `-` reads stdin
    base: PathBuf,
    /// The newer archive; `-` reads stdin
    target: PathBuf,
}

pub(crate) fn run(args: &DiffArgs, context: &Context<'_>) -> Result<DiffReport> {
    let request = DiffRequest { base: args.base.clone(), target: args.target.clone() };
    Ok(diff(&request, &context.host)?)
}

/// Says which fields differ, for people.
fn describe_fields(fields: &[String]) -> String {
    if fields.is_empty() { "only order or spelling".to_owned() } else { safe(&fields.join(", ")) }
}

impl Report for DiffReport {
    fn write_human(&self, out: &mut dyn Write) -> io::Result<()> {
        if self.equal {
            return writeln!(out, "{GOOD}equal{GOOD:#}: the two archives hold the same");
        }
        let records = &self.records;
        for record in &records.created {
            writeln!(out, "{GOOD}+{GOOD:#} {DIM}{}{DIM:#}  {}", record.id, record.title)?;
        }
        // Many records that changed alike are one line.
        let is_large = |group: &&FieldGroup| group.records > MANY_ALIKE;
        let large: Vec<&FieldGroup> = records.updated_by_fields.iter().filter(is_large).collect();
        for group in &large {
            let fields = describe_fields(&group.fields);
            writeln!(out, "{ODD}~{ODD:#} {}: {fields}", count(group.records, "record"))?;
        }
        for record in &records.updated {
            let fields = record.fields.as_deref().unwrap_or_default();
            if large.iter().any(|group| group.fields == fields) {
                continue;
            }
            let fields = describe_fields(fields);
            writeln!(out, "{ODD}~{ODD:#} {DIM}{}{DIM:#}  {}: {fields}", record.id, record.title)?;
        }
        for record in &records.deleted {
            writeln!(out, "{BAD}-{BAD:#} {DIM}{}{DIM:#}  {}", record.id, record.title)?;
        }
        for layer in &self.layers {
            writeln!(out, "{ODD}{}{ODD:#} layer {}", sign_of(layer.change), layer.layer)?;
        }
        for file in &self.files {
            let note = if file.change == "metadata" { "  (mode or time)" } else { "" };
            writeln!(out, "{ODD}{}{ODD:#} file {}{note}", sign_of(file.change), safe(&file.path))?;
        }
        let same = count(records.unchanged, "record");
        let manifest = if self.manifest_changed { "; the manifest differs" } else { "" };
        writeln!(
            out,
            "{} created, {} updated, {} deleted, {same} unchanged{manifest}",
            records.created.len(),
            records.updated.len(),
            records.deleted.len(),
        )
    }
}

fn sign_of(change: &str) -> char {
    match change {
        "created" => '+',
        "deleted" => '-',
        _ => '~',
    }
}

//! `anemone diff`

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::io::{self, Write};
use std::path::PathBuf;

use anemone_format::{Archive, Comparison, Record, RecordId, changed_fields};
use clap::Args;
use serde::Serialize;

use super::Context;
use crate::error::CliError;
use crate::output::{BAD, DIM, GOOD, ODD, Report, count, safe, title};
use anemone::archive::open_archive;

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

/// What differs, for people and programs.
#[derive(Serialize)]
pub(crate) struct Differences {
    ok: bool,
    pub(crate) equal: bool,
    records: RecordDifferences,
    layers: Vec<LayerLine>,
    files: Vec<FileLine>,
    manifest_changed: bool,
}

#[derive(Serialize)]
struct RecordDifferences {
    created: Vec<RecordLine>,
    updated: Vec<RecordLine>,
    deleted: Vec<RecordLine>,
    unchanged: u64,
    /// Updated records, counted by the fields that differ; the largest group first.
    updated_by_fields: Vec<FieldGroup>,
}

#[derive(Serialize)]
struct RecordLine {
    id: String,
    title: String,
    /// Of an updated record: the fields that differ; none when only their order or spelling does.
    #[serde(skip_serializing_if = "Option::is_none")]
    fields: Option<Vec<String>>,
}

/// Records that changed in the same fields.
#[derive(Serialize)]
struct FieldGroup {
    fields: Vec<String>,
    records: u64,
}

#[derive(Serialize)]
struct LayerLine {
    layer: &'static str,
    change: &'static str,
}

#[derive(Serialize)]
struct FileLine {
    path: String,
    change: &'static str,
}

pub(crate) fn run(args: &DiffArgs, context: &Context<'_>) -> Result<Differences, CliError> {
    let progress = context.host.progress("comparing");
    let base = open_archive(&args.base, &context.host, &progress)?;
    let target = open_archive(&args.target, &context.host, &progress)?;
    differences(&base, &target, &Comparison::of(&base, &target)?)
}

/// Puts titles to the ids of a comparison.
pub(crate) fn differences(
    base: &Archive,
    target: &Archive,
    comparison: &Comparison,
) -> Result<Differences, CliError> {
    let put: HashSet<RecordId> =
        comparison.created.iter().chain(&comparison.updated).copied().collect();
    let gone: HashSet<RecordId> = comparison.deleted.iter().map(|it| it.id).collect();
    let mut titles = titles_of(target, &put)?;
    titles.extend(titles_of(base, &gone)?);
    let mut fields = changed_fields(base, target, &comparison.updated)?;
    let updated_by_fields = group_by_fields(&fields);
    let line = |id: &RecordId| RecordLine {
        id: id.to_string(),
        title: titles.get(id).cloned().unwrap_or_default(),
        fields: None,
    };
    let updated_line = |id: &RecordId| RecordLine {
        fields: Some(fields.remove(id).unwrap_or_default()),
        ..line(id)
    };
    let updated = comparison.updated.iter().map(updated_line).collect();
    let mut files: Vec<FileLine> = comparison
        .put_files
        .iter()
        .map(|it| FileLine {
            path: it.now.entry.path.clone(),
            change: match (&it.was, it.content_changed()) {
                (None, _) => "created",
                (Some(_), true) => "updated",
                (Some(_), false) => "metadata",
            },
        })
        .collect();
    files.extend(
        comparison.removed_files.iter().map(|it| FileLine { path: it.clone(), change: "deleted" }),
    );
    Ok(Differences {
        ok: true,
        equal: comparison.is_empty(),
        records: RecordDifferences {
            created: comparison.created.iter().map(line).collect(),
            updated,
            deleted: comparison.deleted.iter().map(|it| line(&it.id)).collect(),
            unchanged: comparison.unchanged,
            updated_by_fields,
        },
        layers: comparison
            .layers
            .iter()
            .map(|it| LayerLine {
                layer: it.layer.key(),
                change: match (&it.now, it.is_new) {
                    (None, _) => "deleted",
                    (Some(_), true) => "created",
                    (Some(_), false) => "updated",
                },
            })
            .collect(),
        files,
        manifest_changed: comparison.manifest,
    })
}

/// Counts records by the fields that differ.
fn group_by_fields(fields: &HashMap<RecordId, Vec<String>>) -> Vec<FieldGroup> {
    let mut groups: BTreeMap<&[String], u64> = BTreeMap::new();
    for names in fields.values() {
        *groups.entry(names).or_default() += 1;
    }
    let mut groups: Vec<FieldGroup> = groups
        .into_iter()
        .map(|(fields, records)| FieldGroup { fields: fields.to_vec(), records })
        .collect();
    groups.sort_by_key(|group| Reverse(group.records));
    groups
}

/// Says which fields differ, for people.
fn describe_fields(fields: &[String]) -> String {
    if fields.is_empty() { "only order or spelling".to_owned() } else { safe(&fields.join(", ")) }
}

fn titles_of(
    archive: &Archive,
    wanted: &HashSet<RecordId>,
) -> Result<HashMap<RecordId, String>, CliError> {
    let mut titles = HashMap::new();
    if wanted.is_empty() {
        return Ok(titles);
    }
    archive.each_record_line(|line| -> Result<(), CliError> {
        // A record of a shape that we cannot read has no title, but is listed all the same.
        if let Ok(record) = serde_json::from_slice::<Record>(line)
            && wanted.contains(&record.id)
        {
            titles.insert(record.id, title(&record.content));
        }
        Ok(())
    })?;
    Ok(titles)
}

impl Report for Differences {
    fn write_human(&self, out: &mut dyn Write) -> io::Result<()> {
        if self.equal {
            return writeln!(out, "{GOOD}equal{GOOD:#}: the two archives hold the same");
        }
        let records = &self.records;
        for it in &records.created {
            writeln!(out, "{GOOD}+{GOOD:#} {DIM}{}{DIM:#}  {}", it.id, it.title)?;
        }
        // Many records that changed alike are one line.
        let is_large = |group: &&FieldGroup| group.records > MANY_ALIKE;
        let large: Vec<&FieldGroup> = records.updated_by_fields.iter().filter(is_large).collect();
        for group in &large {
            let fields = describe_fields(&group.fields);
            writeln!(out, "{ODD}~{ODD:#} {}: {fields}", count(group.records, "record"))?;
        }
        for it in &records.updated {
            let fields = it.fields.as_deref().unwrap_or_default();
            if large.iter().any(|group| group.fields == fields) {
                continue;
            }
            let fields = describe_fields(fields);
            writeln!(out, "{ODD}~{ODD:#} {DIM}{}{DIM:#}  {}: {fields}", it.id, it.title)?;
        }
        for it in &records.deleted {
            writeln!(out, "{BAD}-{BAD:#} {DIM}{}{DIM:#}  {}", it.id, it.title)?;
        }
        for it in &self.layers {
            writeln!(out, "{ODD}{}{ODD:#} layer {}", sign_of(it.change), it.layer)?;
        }
        for it in &self.files {
            let note = if it.change == "metadata" { "  (mode or time)" } else { "" };
            writeln!(out, "{ODD}{}{ODD:#} file {}{note}", sign_of(it.change), safe(&it.path))?;
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

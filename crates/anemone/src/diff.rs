//! Says what differs between two archives of one agent.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::PathBuf;

use anemone_format::{Archive, CompareError, Comparison, Record, RecordId, changed_fields};
use serde::Serialize;

use crate::archive::{OpenArchiveError, open_archive};
use crate::host::Host;
use crate::text::title;

/// Which archives are compared.
#[derive(Clone, Debug)]
pub struct DiffRequest {
    /// The older one.
    pub base: PathBuf,
    /// The newer one.
    pub target: PathBuf,
}

/// What differs.
#[derive(Debug, Serialize)]
pub struct DiffReport {
    /// Whether nothing differs.
    pub equal: bool,
    /// Records that differ.
    pub records: RecordDifferences,
    /// Layers that differ.
    pub layers: Vec<LayerDifferenceLine>,
    /// Files that differ.
    pub files: Vec<FileDifferenceLine>,
    /// Whether the manifest's own fields differ.
    pub manifest_changed: bool,
}

/// Records that differ.
#[derive(Debug, Serialize)]
pub struct RecordDifferences {
    /// Records that only the newer archive has.
    pub created: Vec<RecordDifference>,
    /// Records that both have and that differ.
    pub updated: Vec<RecordDifference>,
    /// Records that only the older archive has.
    pub deleted: Vec<RecordDifference>,
    /// How many are the same.
    pub unchanged: u64,
    /// Updated records, counted by the fields that differ; the largest group first.
    pub updated_by_fields: Vec<FieldGroup>,
}

/// A record that differs.
#[derive(Debug, Serialize)]
pub struct RecordDifference {
    /// Its id.
    pub id: String,
    /// The first line of its text.
    pub title: String,
    /// Of an updated record: the fields that differ; none when only their order or spelling does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fields: Option<Vec<String>>,
}

/// Records that changed in the same fields.
#[derive(Debug, Serialize)]
pub struct FieldGroup {
    /// The fields.
    pub fields: Vec<String>,
    /// How many records.
    pub records: u64,
}

/// A layer that differs.
#[derive(Debug, Serialize)]
pub struct LayerDifferenceLine {
    /// The layer.
    pub layer: &'static str,
    /// `created`, `updated` or `deleted`.
    pub change: &'static str,
}

/// A file that differs.
#[derive(Debug, Serialize)]
pub struct FileDifferenceLine {
    /// The file.
    pub path: String,
    /// `created`, `updated`, `metadata` or `deleted`.
    pub change: &'static str,
}

/// Why two archives cannot be compared.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
#[non_exhaustive]
pub enum DiffError {
    /// One of them was not opened.
    Open(#[from] OpenArchiveError),
    /// They are of two agents, or one of them is damaged.
    Compare(#[from] CompareError),
}

/// Compares two archives.
pub fn diff(request: &DiffRequest, host: &Host) -> Result<DiffReport, DiffError> {
    let progress = host.progress("comparing");
    let base = open_archive(&request.base, host, &progress)?;
    let target = open_archive(&request.target, host, &progress)?;
    Ok(describe(&base, &target, &Comparison::of(&base, &target)?)?)
}

/// Puts titles to the ids of a comparison.
pub(crate) fn describe(
    base: &Archive,
    target: &Archive,
    comparison: &Comparison,
) -> Result<DiffReport, CompareError> {
    let put: HashSet<RecordId> =
        comparison.created.iter().chain(&comparison.updated).copied().collect();
    let gone: HashSet<RecordId> = comparison.deleted.iter().map(|deleted| deleted.id).collect();
    let mut titles = titles_of(target, &put)?;
    titles.extend(titles_of(base, &gone)?);
    let mut fields = changed_fields(base, target, &comparison.updated)?;
    let updated_by_fields = group_by_fields(&fields);
    let line = |id: &RecordId| RecordDifference {
        id: id.to_string(),
        title: titles.get(id).cloned().unwrap_or_default(),
        fields: None,
    };
    let updated_line = |id: &RecordId| RecordDifference {
        fields: Some(fields.remove(id).unwrap_or_default()),
        ..line(id)
    };
    let updated = comparison.updated.iter().map(updated_line).collect();
    let mut files: Vec<FileDifferenceLine> = comparison
        .put_files
        .iter()
        .map(|file| FileDifferenceLine {
            path: file.now.entry.path.clone(),
            change: match (&file.was, file.content_changed()) {
                (None, _) => "created",
                (Some(_), true) => "updated",
                (Some(_), false) => "metadata",
            },
        })
        .collect();
    files.extend(
        comparison
            .removed_files
            .iter()
            .map(|path| FileDifferenceLine { path: path.clone(), change: "deleted" }),
    );
    Ok(DiffReport {
        equal: comparison.is_empty(),
        records: RecordDifferences {
            created: comparison.created.iter().map(line).collect(),
            updated,
            deleted: comparison.deleted.iter().map(|deleted| line(&deleted.id)).collect(),
            unchanged: comparison.unchanged,
            updated_by_fields,
        },
        layers: comparison
            .layers
            .iter()
            .map(|layer| LayerDifferenceLine {
                layer: layer.layer.key(),
                change: match (&layer.now, layer.is_new) {
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

fn titles_of(
    archive: &Archive,
    wanted: &HashSet<RecordId>,
) -> Result<HashMap<RecordId, String>, CompareError> {
    let mut titles = HashMap::new();
    if wanted.is_empty() {
        return Ok(titles);
    }
    archive.each_record_line(|line| -> Result<(), CompareError> {
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

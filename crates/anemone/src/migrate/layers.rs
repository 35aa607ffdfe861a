//! What becomes of each layer of a snapshot, counted before anything is written.

use std::collections::{BTreeMap, HashSet};
use std::io;

use anemone_format::{FileRoot, SnapshotSource, SourceFile};
use anemone_runtimes::mapping::{Becomes, Mapping, ORIGIN_FOLDER};
use anemone_runtimes::{FilesBeside, NotRestoredKind, Plan};
use serde::Serialize;

use crate::proof::{DocumentPart, name_of, parts_of_identity};
use crate::statement::Statement;
use crate::text::title;
use crate::text_times::RestoredTimes;

/// What becomes of one layer.
#[derive(Clone, Debug, Serialize)]
pub struct LayerPlan {
    /// The layer.
    pub layer: &'static str,
    /// Things in it.
    pub total: u64,
    /// What becomes of each kind of thing.
    pub kinds: Vec<KindPlan>,
    /// Every record that does not come along whole, when that was asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub records: Vec<RecordPlan>,
}

/// What becomes of one kind of thing.
#[derive(Clone, Debug, Serialize)]
pub struct KindPlan {
    /// The kind.
    pub kind: String,
    /// What it becomes.
    pub becomes: Statement<Destination, String>,
    /// Things of the kind.
    pub total: u64,
    /// Those that come along whole.
    pub exact: u64,
    /// Those that lose fields.
    pub degraded: u64,
    /// Those that only the sidecar has.
    pub kept_aside: u64,
    /// Those that go nowhere.
    pub none: u64,
    /// How often a field has no place.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub fields: BTreeMap<&'static str, u64>,
}

/// What a kind of thing becomes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Destination {
    /// What the tables of the runtime say.
    Mapped(Becomes),
    /// Secrets are not moved, because they were not requested.
    SecretsNotRequested,
}

/// What becomes of one record.
#[derive(Clone, Debug, Serialize)]
pub struct RecordPlan {
    /// Its id.
    pub id: String,
    /// Its key, its heading or its first line.
    pub name: String,
    /// The fields that it loses.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub without: Vec<&'static str>,
    /// Why the runtime does not hold it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<&'static str>,
}

/// Counts what becomes of everything. It is the only walk over all records that is done before the
/// move, so their times are taken on it too.
pub(super) fn plan_layers(
    source: &dyn SnapshotSource,
    plan: &Plan,
    mapping: &'static Mapping,
    verbose: bool,
    times: &mut RestoredTimes,
) -> io::Result<Vec<LayerPlan>> {
    let mut identity = LayerPlan::new("identity");
    for DocumentPart { name, .. } in parts_of_identity(source.identity()?.as_ref()) {
        identity.add(&name, mapping.row("identity", &name).map(|row| row.becomes), &[]);
    }
    let mut principals = LayerPlan::new("principals");
    for _ in source.principals()?.iter().flat_map(|layer| &layer.principals) {
        let row = mapping.row("principals", "principal");
        principals.add("principal", row.map(|row| row.becomes), &[]);
    }
    let mut credentials = LayerPlan::new("credentials");
    let missing =
        plan.not_restored.iter().filter(|note| note.what == NotRestoredKind::Credential).count();
    let all = source.credentials()?.map_or(0, |layer| layer.credentials.len());
    for number in 0..all {
        let becomes = if number < missing {
            Some(Destination::SecretsNotRequested)
        } else {
            mapping.row("credentials", "credential").map(|row| Destination::Mapped(row.becomes))
        };
        credentials.add_to("credential", becomes, &[]);
    }
    let paths: HashSet<&[u8]> = plan.steps.iter().map(|step| &step.path[..]).collect();
    let in_files = plan.memories.is_none();
    let mut memory = LayerPlan::new("memory");
    source.each_record(&mut |record| {
        times.add(record);
        let becomes = mapping.row_of(record).map(|row| row.becomes);
        let stays = match record.source.origin_file.as_deref() {
            Some(file) => paths.contains(file.as_bytes()),
            None => !in_files,
        };
        let without = if stays { mapping.degraded(record) } else { mapping.degraded_anew(record) };
        memory.add(&record.namespace, becomes, &without);
        let reason = match becomes {
            Some(Becomes::Aside(reason) | Becomes::Nowhere(reason)) => Some(reason),
            _ => None,
        };
        if verbose && (reason.is_some() || !without.is_empty()) {
            let name = name_of(record).unwrap_or_else(|| title(&record.content));
            memory.records.push(RecordPlan { id: record.id.to_string(), name, without, reason });
        }
        Ok(())
    })?;
    let files = plan_files(source.files(), plan, mapping);
    let mut layers = vec![identity, principals, credentials, memory, files];
    for layer in &mut layers {
        layer.kinds.sort_by(|one, other| one.kind.cmp(&other.kind));
    }
    Ok(layers)
}

/// Counts what becomes of files, by the steps of the plan.
fn plan_files(files: &[SourceFile], plan: &Plan, mapping: &'static Mapping) -> LayerPlan {
    let mut layer = LayerPlan::new("files");
    let aside = format!("{ORIGIN_FOLDER}/");
    let native: HashSet<&[u8]> = plan
        .steps
        .iter()
        .map(|step| &step.path[..])
        .filter(|path| !path.starts_with(aside.as_bytes()))
        .collect();
    for file in files {
        let root = match &file.root {
            FileRoot::Raw(runtime) => format!("raw/{runtime}"),
            FileRoot::Artifacts => "artifacts".to_owned(),
            FileRoot::Other => "other".to_owned(),
        };
        let row = mapping.row_of_file(&file.root, &file.path);
        let beside = match &file.root {
            FileRoot::Raw(root) => plan.beside.get(&**root).copied(),
            FileRoot::Artifacts | FileRoot::Other => None,
        };
        let becomes = match (beside, row.map(|row| row.becomes)) {
            (Some(FilesBeside::Written), _) => Becomes::Native("the file itself"),
            (Some(FilesBeside::Omitted(reason)), _) | (None, Some(Becomes::Nowhere(reason))) => {
                Becomes::Nowhere(reason)
            }
            _ if native.contains(&file.path[..]) => Becomes::Native("the file itself"),
            (None, Some(Becomes::Native(text)))
                if row.is_some_and(|row| !row.kind.ends_with('*')) =>
            {
                Becomes::Native(text)
            }
            _ => Becomes::Aside("kept in the sidecar"),
        };
        layer.add(&root, Some(becomes), &[]);
    }
    layer
}

impl LayerPlan {
    fn new(layer: &'static str) -> Self {
        Self { layer, total: 0, kinds: Vec::new(), records: Vec::new() }
    }

    fn add(&mut self, kind: &str, becomes: Option<Becomes>, without: &[&'static str]) {
        self.add_to(kind, becomes.map(Destination::Mapped), without);
    }

    fn add_to(&mut self, kind: &str, to: Option<Destination>, without: &[&'static str]) {
        let unknown = Destination::Mapped(Becomes::Aside("the runtime does not know it"));
        let to = to.unwrap_or(unknown);
        let is_known = |line: &KindPlan| line.kind == kind && line.becomes.typed() == Some(&to);
        let known = self.kinds.iter().position(is_known);
        let at = known.unwrap_or_else(|| {
            self.kinds.push(KindPlan {
                kind: kind.to_owned(),
                becomes: Statement::Typed(to),
                total: 0,
                exact: 0,
                degraded: 0,
                kept_aside: 0,
                none: 0,
                fields: BTreeMap::new(),
            });
            self.kinds.len() - 1
        });
        self.total += 1;
        let line = &mut self.kinds[at];
        line.total += 1;
        match to {
            Destination::Mapped(Becomes::Aside(_)) => line.kept_aside += 1,
            Destination::Mapped(Becomes::Nowhere(_)) | Destination::SecretsNotRequested => {
                line.none += 1;
            }
            Destination::Mapped(_) if without.is_empty() => line.exact += 1,
            Destination::Mapped(_) => {
                line.degraded += 1;
                for field in without {
                    *line.fields.entry(field).or_default() += 1;
                }
            }
        }
    }
}

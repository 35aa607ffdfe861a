//! Strategies for property tests: wild but valid snapshots, and pairs of them for deltas.
//!
//! Valid means that a snapshot may come from some workspace on some system, or from an archive
//! that a newer program wrote: any name a file system takes, any text, any unknown field. What no
//! workspace can have (a file below a file, two records with one id) is left out.

mod build;
mod document;
mod file;
mod record;
mod value;

use std::collections::{BTreeMap, BTreeSet, HashSet};

use anemone_format::{
    AgentId, AttachmentsLayer, CountedLayer, File, Granularity, IdentityLayer, ItemId, Layers,
    MemoryLayer, Node, Partition, PartitionBy, Period, Record, RecordId, Snapshot, Unknown,
};
use proptest::collection::vec;
use proptest::prelude::*;
use uuid::Uuid;

use build::build;
use value::Space;

/// The agent of every snapshot that is made here.
pub const AGENT: AgentId = AgentId::new(Uuid::from_u128(0x9e37_3c1e_cab7_5eea_90c3_8f3d_09ac_5755));

/// Makes any snapshot, sorted and blank: what a reader gives back.
pub fn snapshot() -> impl Strategy<Value = Snapshot> {
    draft().prop_map(Draft::finish)
}

/// Makes two snapshots of one agent, of which the second is the first with some changes.
///
/// Records and files are kept, changed, dropped and added; layers and what the manifest says are
/// kept or replaced. Equal snapshots are among the pairs.
pub fn pair() -> impl Strategy<Value = (Snapshot, Snapshot)> {
    (draft(), draft(), vec(any::<u8>(), 48)).prop_map(|(old, donor, dice)| {
        let new = old.clone().mutated(donor, &mut Dice(dice.into_iter().cycle()));
        (old.finish(), new.finish())
    })
}

/// Two or more snapshots of one agent, each changed from the one before it.
pub fn sequence() -> impl Strategy<Value = Vec<Snapshot>> {
    let changes = vec((draft(), vec(any::<u8>(), 48)), 1..5);
    (draft(), changes).prop_map(|(first, changes)| {
        let mut drafts = vec![first];
        for (donor, dice) in changes {
            let before = drafts[drafts.len() - 1].clone();
            drafts.push(before.mutated(donor, &mut Dice(dice.into_iter().cycle())));
        }
        drafts.into_iter().map(Draft::finish).collect()
    })
}

/// A snapshot whose parts do not yet fit together.
#[derive(Clone, Debug)]
struct Draft {
    snapshot: Snapshot,
    monthly: bool,
    by_observation: bool,
    with_folders: bool,
    said: Said,
}

/// What newer versions said of the layers in the manifest.
#[derive(Clone, Debug)]
struct Said {
    identity: Unknown,
    principals: Unknown,
    credentials: Unknown,
    attachments: Unknown,
    memory: Unknown,
    partitions: Vec<Unknown>,
}

fn draft() -> impl Strategy<Value = Draft> {
    let unknown = || value::unknown(Space::Document);
    let said = build!(Said {
        identity: unknown(),
        principals: unknown(),
        credentials: unknown(),
        attachments: unknown(),
        memory: unknown(),
        partitions: vec(unknown(), 0..4),
    });
    let snapshot = build!(Snapshot {
        manifest: document::manifest(),
        identity: value::maybe(document::identity()),
        principals: value::maybe(document::principals()),
        credentials: value::maybe(document::credentials()),
        attachments: value::maybe(document::attachments()),
        records: vec(record::record(), 0..=12),
        files: vec(file::file(), 0..=10),
    });
    build!(Draft {
        snapshot: snapshot,
        monthly: any::<bool>(),
        by_observation: any::<bool>(),
        with_folders: any::<bool>(),
        said: said,
    })
}

impl Draft {
    fn finish(self) -> Snapshot {
        let Self { mut snapshot, monthly, by_observation, with_folders, said } = self;
        let mut seen = HashSet::new();
        snapshot.records.retain(|record| seen.insert(record.id));
        if with_folders {
            file::add_folders(&mut snapshot.files);
        }
        keep_possible(&mut snapshot.files);
        make_items_unique(&mut snapshot);
        file::match_attachments(&mut snapshot);
        snapshot.sort();
        snapshot.manifest.layers = layers(&snapshot, monthly, by_observation, said);
        snapshot.manifest.blank();
        snapshot
    }

    fn mutated(mut self, donor: Self, dice: &mut Dice) -> Self {
        let (new, mut gifts) = (&mut self.snapshot, donor.snapshot);
        let mut spare_records = std::mem::take(&mut gifts.records).into_iter();
        new.records.retain_mut(|record| mutate_record(record, &mut spare_records, dice));
        new.records.extend(spare_records.filter(|_| dice.roll() > 160));
        let mut spare_files = std::mem::take(&mut gifts.files).into_iter();
        new.files.retain_mut(|file| mutate_file(file, &mut spare_files, dice));
        new.files.extend(spare_files.filter(|_| dice.roll() > 160));
        mutate_layer(&mut new.identity, gifts.identity, dice);
        mutate_layer(&mut new.principals, gifts.principals, dice);
        mutate_layer(&mut new.credentials, gifts.credentials, dice);
        mutate_layer(&mut new.attachments, gifts.attachments, dice);
        match dice.roll() {
            0..=63 => {}
            64..=191 => new.manifest.created_at = gifts.manifest.created_at,
            192..=255 => {
                new.manifest = gifts.manifest;
                self.said = donor.said;
            }
        }
        if dice.roll() > 230 {
            self.monthly = donor.monthly;
            self.by_observation = donor.by_observation;
        }
        self
    }
}

/// Decisions drawn beforehand. 0 changes nothing, so that pairs shrink to equal snapshots.
struct Dice(std::iter::Cycle<std::vec::IntoIter<u8>>);

impl Dice {
    fn roll(&mut self) -> u8 {
        self.0.next().unwrap_or_default()
    }
}

fn mutate_record(
    record: &mut Record,
    spare: &mut impl Iterator<Item = Record>,
    dice: &mut Dice,
) -> bool {
    match dice.roll() {
        0..=170 => {}
        171..=190 => return false,
        191..=215 => record.tags.push("changed".to_owned()),
        216..=235 => {
            // The record stays where it is.
            if let Some(other) = spare.next() {
                let created_at = record.temporal.created_at.clone();
                *record = Record { id: record.id, ..other };
                record.temporal.created_at = created_at;
            }
        }
        236..=255 => {
            // The record may move to another partition.
            if let Some(other) = spare.next() {
                *record = Record { id: record.id, ..other };
            }
        }
    }
    true
}

fn mutate_file(file: &mut File, spare: &mut impl Iterator<Item = File>, dice: &mut Dice) -> bool {
    match dice.roll() {
        0..=160 => {}
        161..=180 => return false,
        181..=200 => file.mode = Some(u32::from(dice.roll())),
        201..=230 => {
            if let Node::File(content) = &mut file.node {
                let at = content.len() * usize::from(dice.roll()) / 256;
                let end = (at + usize::from(dice.roll())).min(content.len());
                content.splice(at..end, *b"changed in the middle");
            }
        }
        231..=255 => {
            if let Some(other) = spare.next() {
                (file.node, file.mode, file.unknown) = (other.node, other.mode, other.unknown);
            }
        }
    }
    true
}

fn mutate_layer<T>(layer: &mut Option<T>, gift: Option<T>, dice: &mut Dice) {
    match dice.roll() {
        0..=160 => {}
        161..=220 => *layer = gift.or(layer.take()),
        221..=255 => *layer = None,
    }
}

/// Leaves out duplicates and files whose parent would not be a folder.
fn keep_possible(files: &mut Vec<File>) {
    let mut kept: BTreeMap<(_, Vec<u8>), File> = BTreeMap::new();
    for file in files.drain(..) {
        kept.entry((file.root.clone(), file.path.clone())).or_insert(file);
    }
    let leaves: BTreeSet<_> = kept
        .iter()
        .filter(|(_, file)| file.node != Node::Folder)
        .map(|(key, _)| key.clone())
        .collect();
    files.extend(kept.into_values().filter(|file| {
        let slashes = file.path.iter().enumerate().filter(|(_, byte)| **byte == b'/');
        let mut parents = slashes.map(|(at, _)| (file.root.clone(), file.path[..at].to_vec()));
        !parents.any(|parent| leaves.contains(&parent))
    }));
}

fn make_items_unique(snapshot: &mut Snapshot) {
    let mut seen = HashSet::new();
    let mut fresh = |id: &mut ItemId| {
        while !seen.insert(*id) {
            *id = ItemId::new(Uuid::from_u128(id.uuid().as_u128().wrapping_add(1)));
        }
    };
    snapshot.identity.iter_mut().for_each(|identity| fresh(&mut identity.id));
    for principal in
        snapshot.principals.iter_mut().flat_map(|principals| &mut principals.principals)
    {
        fresh(&mut principal.id);
        fresh(&mut principal.profile.id);
        principal.profile.principal_id = principal.id;
    }
    let credentials =
        snapshot.credentials.iter_mut().flat_map(|credentials| &mut credentials.credentials);
    credentials.for_each(|credential| fresh(&mut credential.id));
    let attachments =
        snapshot.attachments.iter_mut().flat_map(|attachments| &mut attachments.attachments);
    attachments.for_each(|attachment| fresh(&mut attachment.id));
    snapshot.manifest.purges.iter_mut().for_each(|purge| fresh(&mut purge.purge_id));
}

/// Puts what newer versions said where a layer is there to carry it.
fn layers(snapshot: &Snapshot, monthly: bool, by_observation: bool, said: Said) -> Layers {
    let file = String::new;
    let counted = |unknown| CountedLayer { count: 0, file: file(), unknown };
    let granularity = if monthly { Granularity::Month } else { Granularity::Quarter };
    let created = |record: &Record| {
        Period::containing(record.temporal.created_at.utc_date(), &granularity).to_string()
    };
    let observed =
        |record: &Record| Period::containing(record.observed_day(), &granularity).to_string();
    // The writer says so only where it makes a difference.
    let by_observation =
        by_observation && snapshot.records.iter().any(|record| created(record) != observed(record));
    let period_of =
        |record: &Record| if by_observation { observed(record) } else { created(record) };
    let periods: BTreeSet<String> = snapshot.records.iter().map(period_of).collect();
    let partitions = periods.into_iter().zip(said.partitions).map(|(period, unknown)| Partition {
        file: format!("memory/partitions/{period}.jsonl"),
        from: String::new(),
        to: None,
        record_count: 0,
        sealed: false,
        unknown,
    });
    Layers {
        identity: snapshot.identity.as_ref().map(|_| IdentityLayer {
            version: 1,
            file: file(),
            unknown: said.identity,
        }),
        principals: snapshot.principals.as_ref().map(|_| counted(said.principals)),
        credentials: snapshot.credentials.as_ref().map(|_| counted(said.credentials)),
        memory: Some(MemoryLayer {
            granularity: Some(granularity),
            partition_by: by_observation.then_some(PartitionBy::ObservedAt),
            partitions: partitions.collect(),
            unknown: said.memory,
            ..MemoryLayer::default()
        }),
        attachments: snapshot
            .attachments
            .as_ref()
            .map(|_| AttachmentsLayer { unknown: said.attachments, ..AttachmentsLayer::default() }),
        unknown: snapshot.manifest.layers.unknown.clone(),
    }
}

fn record_id() -> impl Strategy<Value = RecordId> + Clone {
    // Few of the small ones: two snapshots are to meet in some ids.
    let number = prop_oneof![1 => 0..24_u128, 2 => any::<u128>()];
    number.prop_map(|number| RecordId::new(Uuid::from_u128(number)))
}

fn item_id() -> impl Strategy<Value = ItemId> + Clone {
    any::<u128>().prop_map(|number| ItemId::new(Uuid::from_u128(number)))
}

fn other_agent_id() -> impl Strategy<Value = AgentId> + Clone {
    any::<u128>().prop_map(|number| AgentId::new(Uuid::from_u128(number)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::strategy::ValueTree as _;
    use proptest::test_runner::TestRunner;

    fn samples<T>(strategy: &impl Strategy<Value = T>, count: usize) -> Vec<T> {
        let mut runner = TestRunner::deterministic();
        (0..count).map(|_| strategy.new_tree(&mut runner).unwrap().current()).collect()
    }

    fn is_tidy(snapshot: &Snapshot) -> bool {
        let mut tidy = snapshot.clone();
        tidy.sort();
        tidy.manifest.blank();
        tidy == *snapshot
    }

    #[test]
    fn snapshots_are_tidy_and_between_them_have_everything() {
        let snapshots = samples(&snapshot(), 300);
        assert!(snapshots.iter().all(is_tidy));
        let any = |what: &dyn Fn(&Snapshot) -> bool| snapshots.iter().any(what);
        let file = |what: &dyn Fn(&File) -> bool| any(&|snapshot| snapshot.files.iter().any(what));
        let record =
            |what: &dyn Fn(&Record) -> bool| any(&|snapshot| snapshot.records.iter().any(what));
        assert!(
            any(&|snapshot| snapshot.records.is_empty())
                && any(&|snapshot| snapshot.records.len() > 9)
        );
        assert!(any(&|snapshot| !snapshot.manifest.unknown.is_empty()));
        assert!(any(&|snapshot| snapshot.manifest.layers.memory.is_some()));
        assert!(any(&|snapshot| snapshot.manifest.sync.is_some()
            && snapshot.manifest.runtime_hints.is_some()));
        assert!(file(&|file| str::from_utf8(&file.path).is_err()));
        assert!(file(&|file| matches!(file.node, Node::Symlink(_)) && file.mtime.is_some()));
        assert!(file(&|file| file.node == Node::Folder));
        assert!(file(&|file| matches!(&file.node, Node::File(content) if content.len() > 600_000)));
        assert!(record(&|record| record.content.contains('\0')));
        assert!(record(&|record| record.content.len() > 50_000));
        assert!(record(&|record| record
            .embeddings
            .iter()
            .any(|embedding| embedding.vector.contains(&f32::MAX))));
        assert!(record(&|record| record
            .unknown
            .iter()
            .any(|(_, json)| json.get().contains("1.50e+3"))));
    }

    #[test]
    fn pairs_share_most_and_differ() {
        let pairs = samples(&pair(), 100);
        assert!(pairs.iter().all(|(old, new)| is_tidy(old) && is_tidy(new)));
        let (mut kept, mut all) = (0, 0);
        for (old, new) in &pairs {
            kept += old.records.iter().filter(|record| new.records.contains(record)).count();
            all += old.records.len();
        }
        assert!(kept * 10 > all * 5 && kept * 10 < all * 9, "{kept} of {all}");
        assert!(pairs.iter().any(|(old, new)| new.records.len() > old.records.len()));
        assert!(pairs.iter().all(|(old, new)| old.manifest.agent.id == new.manifest.agent.id));
    }
}

//! The laws of a history, for any sequence of snapshots: every commit gives back its snapshot, byte
//! for byte, and whatever is damaged is named.

#![expect(clippy::unwrap_used, reason = "a test fails where it cannot go on")]

use std::io::Cursor;

use anemone_format::{Archive, Limits, Moment, Snapshot, write_delta};
use anemone_history::{
    AgentHistory, Commit, CommitAgent, CommitId, ContentForm, DamageKind, HistoryError,
    HistoryStore, Key, MemoryStorage, NewContent, SnapshotDigest, Storage, VerifyDepth,
    VerifyReport, verify,
};
use anemone_testkit::{SlowGroup, strategy};
use proptest::prelude::*;
use proptest::test_runner::FileFailurePersistence;
use uuid::Uuid;

fn config() -> ProptestConfig {
    let beside = FileFailurePersistence::WithSource("proptest-regressions");
    let cases = SlowGroup::Laws.pick(48, 1_000);
    ProptestConfig {
        failure_persistence: Some(Box::new(beside)),
        cases,
        ..ProptestConfig::default()
    }
}

fn spool() -> Box<Cursor<Vec<u8>>> {
    Box::new(Cursor::new(Vec::new()))
}

fn open(bytes: &[u8]) -> Archive {
    Archive::open(Box::new(bytes.to_vec()), bytes.len() as u64, &Limits::default()).unwrap()
}

/// A history of snapshots, and the archive of each commit.
struct Recorded {
    storage: MemoryStorage,
    commits: Vec<(CommitId, Vec<u8>)>,
}

impl Recorded {
    /// Records snapshots; every `full_every`th is stored as an archive, the others as deltas.
    fn of(snapshots: &[Snapshot], full_every: usize) -> Self {
        let mut recorded = Self { storage: MemoryStorage::new(), commits: Vec::new() };
        for (number, snapshot) in snapshots.iter().enumerate() {
            let bytes = snapshot.write(Vec::new(), spool(), 1).unwrap().0;
            let id = recorded.add(&bytes, number, number % full_every == 0);
            recorded.commits.push((id, bytes));
        }
        recorded
    }

    fn add(&self, bytes: &[u8], number: usize, is_full: bool) -> CommitId {
        let archive = open(bytes);
        let manifest = archive.manifest();
        let store = HistoryStore::open_or_create(&self.storage, Uuid::from_u128(1)).unwrap();
        let mut history = store.history(manifest.agent.id).unwrap();
        let checksum = manifest.checksum.as_deref().unwrap();
        let time: Moment = format!("2026-03-01T10:{number:02}:00Z").parse().unwrap();
        let agent = CommitAgent {
            id: manifest.agent.id,
            name: manifest.agent.name.clone(),
            runtime: manifest.agent.source_runtime.clone(),
        };
        let mut commit = Commit::new(agent, time, SnapshotDigest::of(manifest, checksum));
        let parent = self.commits.last();
        commit.parents.extend(parent.map(|(id, _)| *id));
        let (form, content) = match parent.filter(|_| !is_full) {
            None => (ContentForm::Archive, bytes.to_vec()),
            Some((base, before)) => {
                let delta = write_delta(&open(before), &archive, Vec::new(), spool(), 1).unwrap().0;
                (ContentForm::Delta(*base), delta)
            }
        };
        let content = NewContent { form, bytes: &content, length: content.len() as u64 };
        history.publish(&commit, &[content]).unwrap()
    }

    fn history(&self) -> AgentHistory<'_> {
        let store = HistoryStore::open(&self.storage).unwrap();
        store.history(store.agents().unwrap()[0]).unwrap()
    }

    fn restored(&self, id: CommitId) -> Result<Vec<u8>, HistoryError> {
        let snapshot = self.history().snapshot(id, spool())?;
        Ok(snapshot.write(Vec::new(), spool(), 1).unwrap().0)
    }

    fn verified(&self, depth: VerifyDepth) -> VerifyReport {
        let store = HistoryStore::open(&self.storage).unwrap();
        verify(&store, depth, &mut || Ok(spool())).unwrap()
    }

    /// Objects below the folder of the agent.
    fn objects(&self) -> Vec<Key> {
        self.storage.keys().into_iter().filter(|key| key.as_str().starts_with("agents/")).collect()
    }

    fn bytes(&self, key: &Key) -> Vec<u8> {
        let object = self.storage.read(key).unwrap();
        object.read_all(object.length).unwrap()
    }

    fn put(&self, key: &Key, mut bytes: &[u8]) {
        self.storage.write(key, &mut bytes).unwrap();
    }

    /// Checks after damage to one object: it is named, nothing else is, and a restore gives the
    /// right bytes or an error.
    fn check_damage(&self, damaged: &Key, kinds: &[DamageKind]) {
        for depth in [VerifyDepth::Objects, VerifyDepth::Snapshots] {
            let report = self.verified(depth);
            let found: Vec<_> = report
                .damage
                .iter()
                .filter(|damage| {
                    // The name of a lost object is not known, only its beginning.
                    damaged.as_str().starts_with(&damage.object) && kinds.contains(&damage.kind)
                })
                .collect();
            assert!(!found.is_empty(), "{damaged}: {report:#?}");
            let is_head = damaged.as_str().contains("/heads/");
            let all_named = is_head || report.damage.len() == found.len();
            assert!(all_named, "{damaged}: {report:#?}");
        }
        let lost: Vec<CommitId> = self
            .verified(VerifyDepth::Objects)
            .damage
            .into_iter()
            .flat_map(|damage| damage.commits_lost)
            .collect();
        for (id, expected) in &self.commits {
            match self.restored(*id) {
                Ok(bytes) => assert!(bytes == *expected, "{damaged}: wrong bytes"),
                Err(_) => assert!(lost.contains(id), "{damaged}: {id} is lost and not named"),
            }
        }
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn every_commit_gives_back_its_snapshot(
        snapshots in strategy::sequence(),
        full_every in 1..4_usize,
    ) {
        let recorded = Recorded::of(&snapshots, full_every);
        for (id, expected) in &recorded.commits {
            prop_assert!(recorded.restored(*id).unwrap() == *expected);
        }
        let report = recorded.verified(VerifyDepth::Snapshots);
        prop_assert!(report.damage.is_empty(), "{:#?}", report);
        prop_assert_eq!(report.commits, snapshots.len() as u64);
        let walk = recorded.history().walk(&[recorded.commits[snapshots.len() - 1].0]);
        prop_assert_eq!((walk.commits.len(), walk.unreadable.len()), (snapshots.len(), 0));
    }

    #[test]
    fn content_of_another_snapshot_is_refused(snapshots in strategy::sequence()) {
        let recorded = Recorded::of(&snapshots, 1);
        let history = recorded.history();
        let (first, last) = (&recorded.commits[0], &recorded.commits[snapshots.len() - 1]);
        prop_assume!(first.1 != last.1);
        // Somebody who can write into the store names another archive as the content.
        let content = history.chain(first.0).unwrap()[0];
        recorded.storage.remove(&history.content_key(&content)).unwrap();
        let wrong = NewContent { form: ContentForm::Archive, bytes: &last.1, length: last.1.len() as u64 };
        recorded.history().store_content(first.0, &wrong).unwrap();
        let refused = recorded.restored(first.0);
        let is_refused = matches!(refused, Err(HistoryError::WrongSnapshot(id)) if id == first.0);
        prop_assert!(is_refused);
        let report = recorded.verified(VerifyDepth::Snapshots);
        prop_assert_eq!(report.damage.len(), 1);
        prop_assert_eq!(&report.damage[0].commits_lost, &vec![first.0]);
    }
}

/// Seven commits of the sample agent, stored as two archives and five deltas.
fn seven_commits() -> Recorded {
    let mut snapshots = Vec::new();
    for number in 0..7_u8 {
        let mut snapshot = anemone_testkit::sample::agent();
        let mut record = snapshot.records[0].clone();
        record.id = anemone_format::RecordId::new(Uuid::from_u128(u128::from(number)));
        record.content = format!("The tide comes in at {number}.");
        snapshot.records.push(record);
        let root = anemone_format::FileRoot::Raw("openclaw".to_owned());
        let lines = format!("line {number}\n").repeat(50 + usize::from(number));
        snapshot.files.push(anemone_format::File::new(root, "zz-tides.md", lines));
        snapshots.push(snapshot);
    }
    Recorded::of(&snapshots, 4)
}

#[test]
fn every_lost_object_is_named_with_the_commits_that_it_takes_with_it() {
    let recorded = seven_commits();
    assert!(recorded.verified(VerifyDepth::Snapshots).damage.is_empty());
    for key in recorded.objects() {
        let bytes = recorded.bytes(&key);
        recorded.storage.remove(&key).unwrap();
        if key.as_str().contains("/heads/") {
            let report = recorded.verified(VerifyDepth::Objects);
            assert!(report.damage.iter().any(|damage| damage.kind == DamageKind::NoHead), "{key}");
        } else {
            recorded.check_damage(&key, &[DamageKind::Missing]);
        }
        recorded.put(&key, &bytes);
    }
    assert!(recorded.verified(VerifyDepth::Snapshots).damage.is_empty());
}

#[test]
fn every_truncated_swapped_and_flipped_object_is_named() {
    let recorded = seven_commits();
    let kinds = &[DamageKind::WrongDigest, DamageKind::Invalid];
    let objects = recorded.objects();
    let flips = SlowGroup::Damage.pick(60, 1_000);
    let mut seed = 7_usize;
    for (number, key) in objects.iter().enumerate() {
        let bytes = recorded.bytes(key);
        let other = recorded.bytes(&objects[(number + 1) % objects.len()]);
        if bytes != other {
            recorded.put(key, &other);
            recorded.check_damage(key, kinds);
        }
        for length in [0, bytes.len() / 2, bytes.len().saturating_sub(1)] {
            if length < bytes.len() {
                recorded.put(key, &bytes[..length]);
                recorded.check_damage(key, kinds);
            }
        }
        if !bytes.is_empty() {
            for _ in 0..flips / objects.len() {
                seed = seed
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1_442_695_040_888_963_407);
                let mut flipped = bytes.clone();
                flipped[(seed >> 20) % bytes.len()] ^= 1 << (seed % 8);
                recorded.put(key, &flipped);
                recorded.check_damage(key, kinds);
            }
        }
        recorded.put(key, &bytes);
    }
    assert!(recorded.verified(VerifyDepth::Snapshots).damage.is_empty());
}

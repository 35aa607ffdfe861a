//! Finds what is damaged or missing in a store, and which commits that takes with it.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::io::{self, Read as _};

use anemone_format::{AgentId, ArchiveChain, SnapshotSource as _, SourceKind, Spool};
use serde::Serialize;

use crate::commit::{Commit, CommitId};
use crate::content::StoredContent;
use crate::history::{AgentHistory, HistoryError};
use crate::key::Key;
use crate::storage::StorageError;
use crate::store::HistoryStore;

/// How much of a store is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VerifyDepth {
    /// Every object is compared with the digest in its name.
    Objects,
    /// In addition, the snapshot of every commit is put together, and every file and record read.
    Snapshots,
}

/// What was found in a store.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct VerifyReport {
    /// Agents with a history.
    pub agents: u64,
    /// Commits that exist.
    pub commits: u64,
    /// Objects that were looked at.
    pub objects: u64,
    /// Their bytes.
    pub bytes: u64,
    /// What is damaged or missing.
    pub damage: Vec<Damage>,
    /// Content of no commit, such as that of an interrupted backup; it does no harm.
    pub unused: Vec<String>,
    /// Objects with names that no version of this program gives.
    pub unknown: Vec<String>,
}

/// Something that is damaged or missing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Damage {
    /// The agent in whose history it is.
    pub agent: AgentId,
    /// The object.
    pub object: String,
    /// What is wrong with it.
    pub kind: DamageKind,
    /// Commits that cannot be restored because of it.
    pub commits_lost: Vec<CommitId>,
}

/// What is wrong with an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum DamageKind {
    /// It does not exist.
    Missing,
    /// Its bytes do not have the digest in its name.
    WrongDigest,
    /// The storage cannot read it.
    Unreadable,
    /// It has the digest in its name, and is not what it should be.
    Invalid,
    /// It is sound, and no head leads to it: a head was lost, or a backup was interrupted.
    NoHead,
}

/// Looks at everything in a store; `spool` makes temporary files for records.
pub fn verify(
    store: &HistoryStore<'_>,
    depth: VerifyDepth,
    spool: &mut dyn FnMut() -> io::Result<Box<dyn Spool>>,
) -> Result<VerifyReport, HistoryError> {
    let mut report = VerifyReport::default();
    for agent in store.agents()? {
        let history = store.history(agent)?;
        report.agents += 1;
        let mut check = HistoryCheck {
            history: &history,
            report: &mut report,
            commits: HashMap::new(),
            damaged: BTreeMap::new(),
        };
        check.read_commits();
        check.read_contents();
        if depth == VerifyDepth::Snapshots {
            check.read_snapshots(spool)?;
        }
        check.finish();
    }
    Ok(report)
}

struct HistoryCheck<'a> {
    history: &'a AgentHistory<'a>,
    report: &'a mut VerifyReport,
    /// Sound commits.
    commits: HashMap<CommitId, Commit>,
    /// Damaged objects, with the commits that they take with them.
    damaged: BTreeMap<Key, (DamageKind, BTreeSet<CommitId>)>,
}

impl HistoryCheck<'_> {
    /// Reads every commit, whether a head leads to it or not.
    fn read_commits(&mut self) {
        let history = self.history;
        let heads: Vec<CommitId> = history.listed_heads().iter().copied().collect();
        let walk = history.walk(&heads);
        self.report.objects += (heads.len() + walk.commits.len() + walk.unreadable.len()) as u64;
        let is_broken = !walk.unreadable.is_empty();
        for (id, error) in &walk.unreadable {
            self.note(history.commit_key(*id), kind_of(error), [*id]);
        }
        let named: HashSet<CommitId> = walk.unreadable.iter().map(|(id, _)| *id).collect();
        self.commits = walk.commits.into_iter().map(|walked| (walked.id, walked.commit)).collect();
        let beside: Vec<CommitId> = history
            .commit_ids()
            .iter()
            .filter(|id| !self.commits.contains_key(id) && !named.contains(id))
            .copied()
            .collect();
        self.report.objects += beside.len() as u64;
        let mut hidden: HashMap<CommitId, Commit> = HashMap::new();
        for id in beside {
            match history.commit(id) {
                Ok(commit) => {
                    hidden.insert(id, commit);
                }
                Err(error) => self.note(history.commit_key(id), kind_of(&error), []),
            }
        }
        // Where a commit cannot be read, those before it are cut off from their head by it.
        if !is_broken {
            let followed: HashSet<CommitId> =
                hidden.values().flat_map(|commit| commit.parents.iter().copied()).collect();
            for id in hidden.keys().filter(|id| !followed.contains(id)).copied().collect::<Vec<_>>()
            {
                self.note(history.commit_key(id), DamageKind::NoHead, [id]);
            }
        }
        self.commits.extend(hidden);
        for id in history.odd_heads() {
            self.note(history.head_key(*id), DamageKind::WrongDigest, []);
        }
        self.report.commits += self.commits.len() as u64;
    }

    /// Compares every object that holds a snapshot with the digest in its name.
    fn read_contents(&mut self) {
        let history = self.history;
        for content in history.contents() {
            let key = history.content_key(content);
            self.report.objects += 1;
            self.report.bytes += content.size;
            match history.sound_object(content) {
                Ok(_) if self.commits.contains_key(&content.commit) => {}
                Ok(_) => self.report.unused.push(key.as_str().to_owned()),
                Err(error) => self.note(key, kind_of(&error), []),
            }
        }
        let ids = self.commits.keys().copied();
        let lost: Vec<CommitId> = ids.filter(|id| self.sound_chain(*id).is_none()).collect();
        for id in lost {
            for key in self.obstacles(id) {
                self.note(key, DamageKind::Missing, [id]);
            }
        }
    }

    /// Returns what keeps the snapshot of a commit from being put together: damaged objects, and
    /// commits that nothing is stored for.
    fn obstacles(&self, id: CommitId) -> BTreeSet<Key> {
        let (mut obstacles, mut seen, mut next) = (BTreeSet::new(), HashSet::from([id]), vec![id]);
        while let Some(at) = next.pop() {
            let forms = self.history.forms(at);
            if forms.is_empty() {
                obstacles.insert(self.history.missing_content_key(at));
            }
            let keys = forms.iter().map(|content| self.history.content_key(content));
            obstacles.extend(keys.filter(|key| self.damaged.contains_key(key)));
            next.extend(self.history.bases(at).into_iter().filter(|base| seen.insert(*base)));
        }
        obstacles
    }

    /// Returns what leads to the snapshot of a commit without damaged objects.
    fn sound_chain(&self, id: CommitId) -> Option<Vec<StoredContent>> {
        let usable = |content: &StoredContent| {
            !self.damaged.contains_key(&self.history.content_key(content))
        };
        self.history.chain_of(id, &usable)
    }

    /// Puts the snapshot of every commit together, and reads all of it.
    fn read_snapshots(
        &mut self,
        spool: &mut dyn FnMut() -> io::Result<Box<dyn Spool>>,
    ) -> Result<(), HistoryError> {
        for (id, commit) in self.commits.clone() {
            let Some(chain) = self.sound_chain(id) else { continue };
            let failed = |source| {
                let action = crate::storage::StorageAction::Write;
                StorageError::Io { action, key: Key::root(), source }
            };
            let opened = self.history.open_chain(id, &commit, &chain, spool().map_err(failed)?);
            let is_sound = opened.is_ok_and(|snapshot| read_all(&snapshot).is_ok());
            if !is_sound && let Some(last) = chain.last() {
                self.note(self.history.content_key(last), DamageKind::Invalid, [id]);
            }
        }
        Ok(())
    }

    fn note(&mut self, key: Key, kind: DamageKind, lost: impl IntoIterator<Item = CommitId>) {
        let (_, commits) = self.damaged.entry(key).or_insert((kind, BTreeSet::new()));
        commits.extend(lost);
    }

    fn finish(self) {
        let agent = self.history.agent();
        let damage = self.damaged.into_iter().map(|(key, (kind, lost))| Damage {
            agent,
            object: key.as_str().to_owned(),
            kind,
            commits_lost: lost.into_iter().collect(),
        });
        self.report.damage.extend(damage);
        let unknown = self.history.unknown_objects().iter().map(|key| key.as_str().to_owned());
        self.report.unknown.extend(unknown);
    }
}

fn kind_of(error: &HistoryError) -> DamageKind {
    match error {
        HistoryError::MissingCommit(_) | HistoryError::Storage(StorageError::NotFound(_)) => {
            DamageKind::Missing
        }
        HistoryError::WrongDigest(_) => DamageKind::WrongDigest,
        HistoryError::Storage(_) => DamageKind::Unreadable,
        _ => DamageKind::Invalid,
    }
}

/// Reads every file, layer and record of a snapshot. Files are compared with their digests as they
/// are read.
fn read_all(snapshot: &ArchiveChain) -> io::Result<()> {
    let mut buffer = vec![0; 64 << 10];
    for (position, file) in snapshot.files().iter().enumerate() {
        if let SourceKind::File { .. } = file.kind {
            let mut content = snapshot.content(position)?;
            while content.read(&mut buffer)? > 0 {}
        }
    }
    snapshot.identity()?;
    snapshot.principals()?;
    snapshot.credentials()?;
    snapshot.attachments()?;
    snapshot.each_record(&mut |_| Ok(()))
}

//! The history of one agent in a store.

use std::collections::{BTreeMap, BTreeSet, BinaryHeap, HashMap, HashSet};
use std::io::{self, Read};

use anemone_format::{
    AgentId, Archive, ArchiveChain, ChainError, Delta, Limits, OpenError, ReaderAt,
    SnapshotSource as _, Spool,
};
use jiff::Timestamp;
use sha2::{Digest as _, Sha256};

use crate::commit::{Commit, CommitId, MAX_COMMIT_BYTES, ParseCommitError};
use crate::content::{ContentForm, StoredContent, shortest_chain};
use crate::digest::SnapshotDigest;
use crate::key::Key;
use crate::storage::{BytesReader, Storage, StorageAction, StorageError, StoredObject};

const CONTENT: &str = "content";
const COMMITS: &str = "commits";
const HEADS: &str = "heads";
/// Objects up to this size are read into memory, so that a snapshot of many deltas does not hold as
/// many files open.
const SMALL_OBJECT: u64 = 256 << 10;

/// The history of one agent in a store, as it was when it was opened.
pub struct AgentHistory<'a> {
    storage: &'a dyn Storage,
    agent: AgentId,
    folder: Key,
    commits: BTreeSet<CommitId>,
    heads: BTreeSet<CommitId>,
    /// Heads whose objects are not empty, so that something else wrote them.
    odd_heads: Vec<CommitId>,
    contents: BTreeMap<CommitId, Vec<StoredContent>>,
    unknown: Vec<Key>,
}

/// Why something in a history cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HistoryError {
    /// The storage failed.
    #[error(transparent)]
    Storage(#[from] StorageError),
    /// A commit does not exist, although another one or a head names it.
    #[error("the store has no commit {0}")]
    MissingCommit(CommitId),
    /// The bytes of an object are not those that its name promises.
    #[error("{0} of the store is damaged: its bytes do not have the digest in its name")]
    WrongDigest(Key),
    /// An object is no commit.
    #[error("{key} of the store is damaged")]
    Commit {
        /// The object.
        key: Key,
        /// What is wrong with it.
        source: ParseCommitError,
    },
    /// A commit is in the history of another agent than its own.
    #[error("commit {commit} is of agent {agent}, not of the agent in whose history it is")]
    WrongAgent {
        /// The commit.
        commit: CommitId,
        /// Its agent.
        agent: AgentId,
    },
    /// No sound object leads to the snapshot of a commit.
    #[error("the store does not have the content of commit {0}")]
    NoContent(CommitId),
    /// An object is no archive or delta.
    #[error("{key} of the store is damaged")]
    Open {
        /// The object.
        key: Key,
        /// What is wrong with it.
        source: OpenError,
    },
    /// The objects of a snapshot do not fit each other.
    #[error("the content of commit {commit} cannot be put together")]
    Chain {
        /// The commit.
        commit: CommitId,
        /// Why not.
        source: ChainError,
    },
    /// What is stored for a commit is another snapshot.
    #[error("the content of commit {0} is another snapshot than the commit names")]
    WrongSnapshot(CommitId),
}

/// Why a commit was not published.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
#[non_exhaustive]
pub enum PublishError {
    /// The storage failed.
    Storage(#[from] StorageError),
    /// The content cannot be read.
    #[error("cannot read the content of the commit")]
    Content(#[source] io::Error),
    /// The commit is of another agent.
    #[error("the commit is of agent {0}")]
    WrongAgent(AgentId),
    /// The commit has more bytes than a reader takes.
    #[error("the commit has {0} bytes, more than {MAX_COMMIT_BYTES}")]
    TooLarge(u64),
}

/// Content that is about to be stored.
pub struct NewContent<'a> {
    /// Whether it is an archive, or a delta.
    pub form: ContentForm,
    /// Its bytes.
    pub bytes: &'a (dyn ReaderAt + Send + Sync),
    /// How many there are.
    pub length: u64,
}

/// A commit that a walk came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WalkedCommit {
    /// Its id.
    pub id: CommitId,
    /// The commit.
    pub commit: Commit,
}

/// What a walk came to.
#[derive(Debug, Default)]
pub struct Walk {
    /// Commits, newest first.
    pub commits: Vec<WalkedCommit>,
    /// Commits that cannot be read, and why.
    pub unreadable: Vec<(CommitId, HistoryError)>,
}

impl<'a> AgentHistory<'a> {
    pub(crate) fn open(
        storage: &'a dyn Storage,
        agent: AgentId,
        folder: Key,
    ) -> Result<Self, HistoryError> {
        let mut history = Self {
            storage,
            agent,
            folder,
            commits: BTreeSet::new(),
            heads: BTreeSet::new(),
            odd_heads: Vec::new(),
            contents: BTreeMap::new(),
            unknown: Vec::new(),
        };
        // Heads first: what a head leads to was written before it, and so is in the later lists.
        let heads = history.listed_ids(HEADS)?;
        let odd = heads.iter().filter(|(_, size)| **size > 0).map(|(id, _)| *id);
        history.odd_heads = odd.collect();
        history.heads = heads.into_keys().collect();
        history.commits = history.listed_ids(COMMITS)?.into_keys().collect();
        history.list_contents()?;
        Ok(history)
    }

    /// Lists the objects of a folder that are named after commits, with their sizes.
    fn listed_ids(&mut self, name: &str) -> Result<BTreeMap<CommitId, u64>, StorageError> {
        let folder = self.folder.child(name);
        let mut ids = BTreeMap::new();
        for object in self.storage.list(&folder)? {
            match object.name.parse() {
                Ok(id) => {
                    ids.insert(id, object.size);
                }
                Err(_) => self.unknown.push(folder.child(&object.name)),
            }
        }
        Ok(ids)
    }

    fn list_contents(&mut self) -> Result<(), StorageError> {
        let folder = self.folder.child(CONTENT);
        for object in self.storage.list(&folder)? {
            match StoredContent::parse(&object.name, object.size) {
                Some(content) => self.contents.entry(content.commit).or_default().push(content),
                None => self.unknown.push(folder.child(&object.name)),
            }
        }
        Ok(())
    }

    /// Returns the agent.
    #[must_use]
    pub const fn agent(&self) -> AgentId {
        self.agent
    }

    /// Returns whether there is no commit.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.heads.is_empty()
    }

    /// Returns the ids of all commits in the store, also of those that no head leads to.
    #[must_use]
    pub const fn commit_ids(&self) -> &BTreeSet<CommitId> {
        &self.commits
    }

    /// Returns the heads that the store lists. After an interruption, some of them may have
    /// children.
    #[must_use]
    pub const fn listed_heads(&self) -> &BTreeSet<CommitId> {
        &self.heads
    }

    /// Returns heads whose objects are not empty, as ours are.
    pub(crate) fn odd_heads(&self) -> &[CommitId] {
        &self.odd_heads
    }

    /// Returns the key of a head.
    pub(crate) fn head_key(&self, id: CommitId) -> Key {
        self.folder.child(HEADS).child(&id.to_string())
    }

    /// Returns the key that an object with the snapshot of a commit would begin with.
    pub(crate) fn missing_content_key(&self, id: CommitId) -> Key {
        self.folder.child(CONTENT).child(&id.to_string())
    }

    /// Returns all objects that hold snapshots.
    pub fn contents(&self) -> impl Iterator<Item = &StoredContent> {
        self.contents.values().flatten()
    }

    /// Returns objects in the agent's folders that no version of this program wrote.
    #[must_use]
    pub fn unknown_objects(&self) -> &[Key] {
        &self.unknown
    }

    /// Returns the key of an object that holds a snapshot.
    #[must_use]
    pub fn content_key(&self, content: &StoredContent) -> Key {
        self.folder.child(CONTENT).child(&content.name())
    }

    /// Returns the key of a commit.
    #[must_use]
    pub fn commit_key(&self, id: CommitId) -> Key {
        self.folder.child(COMMITS).child(&id.to_string())
    }

    /// Reads a commit.
    pub fn commit(&self, id: CommitId) -> Result<Commit, HistoryError> {
        let key = self.commit_key(id);
        let object = match self.storage.read(&key) {
            Err(StorageError::NotFound(_)) => return Err(HistoryError::MissingCommit(id)),
            object => object?,
        };
        if object.length > MAX_COMMIT_BYTES {
            return Err(HistoryError::WrongDigest(key));
        }
        let bytes = object.read_all(MAX_COMMIT_BYTES).map_err(StorageAction::Read.failed(&key))?;
        if CommitId::of(&bytes) != id {
            return Err(HistoryError::WrongDigest(key));
        }
        let commit =
            Commit::parse(&bytes).map_err(|source| HistoryError::Commit { key, source })?;
        if commit.agent.id != self.agent {
            return Err(HistoryError::WrongAgent { commit: id, agent: commit.agent.id });
        }
        Ok(commit)
    }

    /// Returns the commits without a child, newest first.
    pub fn heads(&self) -> Result<Vec<WalkedCommit>, HistoryError> {
        let read = |id: &CommitId| Ok(WalkedCommit { id: *id, commit: self.commit(*id)? });
        let mut heads: Vec<WalkedCommit> =
            self.heads.iter().map(read).collect::<Result<_, HistoryError>>()?;
        if heads.len() > 1 {
            let parents = heads.iter().flat_map(|head| head.commit.parents.iter().copied());
            let followed = self.reachable(parents.collect());
            heads.retain(|head| !followed.contains(&head.id));
        }
        heads.sort_by(newest_first);
        Ok(heads)
    }

    /// Returns commits and everything that they follow, also those that cannot be read.
    fn reachable(&self, from: Vec<CommitId>) -> HashSet<CommitId> {
        let (mut reached, mut next) = (HashSet::new(), from);
        while let Some(id) = next.pop() {
            if reached.insert(id) {
                next.extend(
                    self.commit(id).map_or_else(|_| self.bases(id), |commit| commit.parents),
                );
            }
        }
        reached
    }

    /// Returns the commits whose snapshots that of a commit was stored on. Where a commit cannot be
    /// read, they say what it follows.
    pub(crate) fn bases(&self, id: CommitId) -> Vec<CommitId> {
        let base = |content: &StoredContent| match content.form {
            ContentForm::Delta(base) => Some(base),
            ContentForm::Archive => None,
        };
        self.forms(id).iter().filter_map(base).collect()
    }

    /// Returns the forms in which the snapshot of a commit is stored.
    pub(crate) fn forms(&self, id: CommitId) -> &[StoredContent] {
        self.contents.get(&id).map_or(&[], Vec::as_slice)
    }

    /// Returns commits and everything that they follow, newest first; no commit comes before one
    /// that follows it, whatever their clocks said. Commits that cannot be read are left out and
    /// named.
    pub fn walk(&self, from: &[CommitId]) -> Walk {
        let mut commits: HashMap<CommitId, Commit> = HashMap::new();
        let mut children: HashMap<CommitId, usize> = HashMap::new();
        let mut parents: HashMap<CommitId, Vec<CommitId>> = HashMap::new();
        let mut unreadable = Vec::new();
        let mut next = from.to_vec();
        while let Some(id) = next.pop() {
            if parents.contains_key(&id) {
                continue;
            }
            let follows = match self.commit(id) {
                Ok(commit) => {
                    let follows = commit.parents.clone();
                    commits.insert(id, commit);
                    follows
                }
                Err(error) => {
                    unreadable.push((id, error));
                    self.bases(id)
                }
            };
            for parent in &follows {
                *children.entry(*parent).or_default() += 1;
            }
            next.extend(&follows);
            parents.insert(id, follows);
        }
        // A commit that cannot be read comes right after the last one that follows it.
        let time =
            |id: &CommitId| commits.get(id).map_or(Timestamp::MAX, |commit| commit.time.instant());
        let starts = from.iter().filter(|id| !children.contains_key(id));
        let mut ready: BinaryHeap<_> = starts.map(|id| (time(id), *id)).collect();
        let mut order = Vec::with_capacity(parents.len());
        while let Some((_, id)) = ready.pop() {
            // A commit that was named twice is walked once.
            for parent in parents.remove(&id).unwrap_or_default() {
                let Some(left) = children.get_mut(&parent) else { continue };
                *left -= 1;
                if *left == 0 {
                    ready.push((time(&parent), parent));
                }
            }
            order.push(id);
        }
        let walked = order.into_iter().filter_map(|id| {
            let commit = commits.remove(&id)?;
            Some(WalkedCommit { id, commit })
        });
        Walk { commits: walked.collect(), unreadable }
    }

    /// Returns the objects from which the snapshot of a commit is put together with the fewest
    /// bytes, the archive first; `None` if the store does not have it.
    #[must_use]
    pub fn chain(&self, commit: CommitId) -> Option<Vec<StoredContent>> {
        self.chain_of(commit, &|_| true)
    }

    pub(crate) fn chain_of(
        &self,
        commit: CommitId,
        usable: &dyn Fn(&StoredContent) -> bool,
    ) -> Option<Vec<StoredContent>> {
        shortest_chain(commit, &self.contents, usable)
    }

    /// Opens the snapshot of a commit. Every object is compared with the digest in its name first,
    /// and the snapshot with the digest in the commit.
    pub fn snapshot(
        &self,
        id: CommitId,
        spool: Box<dyn Spool>,
    ) -> Result<ArchiveChain, HistoryError> {
        let chain = self.chain(id).ok_or(HistoryError::NoContent(id))?;
        self.open_chain(id, &self.commit(id)?, &chain, spool)
    }

    pub(crate) fn open_chain(
        &self,
        id: CommitId,
        commit: &Commit,
        chain: &[StoredContent],
        spool: Box<dyn Spool>,
    ) -> Result<ArchiveChain, HistoryError> {
        let (first, rest) = chain.split_first().ok_or(HistoryError::NoContent(id))?;
        let limits = Limits::default();
        let object = self.sound_object(first)?;
        let opened = |content: &StoredContent| {
            let key = self.content_key(content);
            move |source| HistoryError::Open { key, source }
        };
        let base = Archive::open(object.bytes, object.length, &limits).map_err(opened(first))?;
        let deltas = rest.iter().map(|content| {
            let object = self.sound_object(content)?;
            Delta::open(object.bytes, object.length, &limits).map_err(opened(content))
        });
        let deltas = deltas.collect::<Result<Vec<_>, _>>()?;
        let chain = ArchiveChain::new(base, deltas, spool)
            .map_err(|source| HistoryError::Chain { commit: id, source })?;
        if SnapshotDigest::of(chain.manifest(), chain.checksum()) != commit.snapshot {
            return Err(HistoryError::WrongSnapshot(id));
        }
        Ok(chain)
    }

    /// Opens an object whose bytes have the digest in its name.
    pub(crate) fn sound_object(
        &self,
        content: &StoredContent,
    ) -> Result<StoredObject, HistoryError> {
        let key = self.content_key(content);
        let object = self.storage.read(&key)?;
        let failed = |error| StorageAction::Read.failed(&key)(error);
        if object.length <= SMALL_OBJECT {
            let bytes = object.read_all(SMALL_OBJECT).map_err(failed)?;
            return if <[u8; 32]>::from(Sha256::digest(&bytes)) == content.digest {
                Ok(StoredObject { length: bytes.len() as u64, bytes: Box::new(bytes) })
            } else {
                Err(HistoryError::WrongDigest(key))
            };
        }
        if digest_of(object.reader()).map_err(failed)? == content.digest {
            Ok(object)
        } else {
            Err(HistoryError::WrongDigest(key))
        }
    }

    /// Stores a commit with its content, and makes it a head in place of its parents.
    /// Whatever interrupts this, the history is as it was, or it has the commit.
    pub fn publish(
        &mut self,
        commit: &Commit,
        contents: &[NewContent<'_>],
    ) -> Result<CommitId, PublishError> {
        if commit.agent.id != self.agent {
            return Err(PublishError::WrongAgent(commit.agent.id));
        }
        let bytes = commit.to_bytes();
        if bytes.len() as u64 > MAX_COMMIT_BYTES {
            return Err(PublishError::TooLarge(bytes.len() as u64));
        }
        let id = CommitId::of(&bytes);
        for content in contents {
            self.store_content(id, content)?;
        }
        self.storage.write(&self.commit_key(id), &mut &bytes[..])?;
        self.commits.insert(id);
        self.storage.write(&self.head_key(id), &mut io::empty())?;
        self.heads.insert(id);
        for parent in &commit.parents {
            // A head that stays although it has a child is seen to be none.
            self.storage.remove(&self.head_key(*parent))?;
            self.heads.remove(parent);
        }
        Ok(id)
    }

    /// Stores another form of the content of a commit.
    pub fn store_content(
        &mut self,
        commit: CommitId,
        content: &NewContent<'_>,
    ) -> Result<StoredContent, PublishError> {
        let reader = || BytesReader::new(content.bytes, content.length);
        let digest = digest_of(reader()).map_err(PublishError::Content)?;
        let size = content.length;
        let stored = StoredContent { commit, form: content.form, digest, size };
        self.storage.write(&self.content_key(&stored), &mut reader())?;
        let forms = self.contents.entry(commit).or_default();
        if !forms.contains(&stored) {
            forms.push(stored);
        }
        Ok(stored)
    }
}

/// Orders commits by their times; equal ones by their ids.
fn newest_first(one: &WalkedCommit, other: &WalkedCommit) -> std::cmp::Ordering {
    let key = |walked: &WalkedCommit| (walked.commit.time.instant(), walked.id);
    key(other).cmp(&key(one))
}

/// Reads to the end and returns the SHA-256.
pub(crate) fn digest_of(mut content: impl Read) -> io::Result<[u8; 32]> {
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; 64 << 10];
    loop {
        match content.read(&mut buffer) {
            Ok(0) => return Ok(hasher.finalize().into()),
            Ok(read) => hasher.update(&buffer[..read]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

#[cfg(test)]
mod tests;

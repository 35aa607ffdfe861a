//! Brings a store up to date with its sources.
//!
//! First everything is compared under the readers' lock, by stamps alone; usually nothing has
//! changed, and the refresh ends. Otherwise the process that holds the store exclusively lists and
//! compares the sources again, because another process may have written meanwhile, and reads what
//! changed. Either way the lock is held at the end, so that no other process changes the refreshed
//! store.

mod left_out;

use std::collections::{BTreeSet, HashMap, HashSet};

use anemone_files::FileStat;
use jiff::Timestamp;
use sha2::{Digest as _, Sha256};

use crate::digest::Digest;
use crate::document::{Document, Format};
use crate::embedding::{EmbeddingReport, write_static_vectors};
use crate::index::{Freshness, RefreshError, RefreshExtras};
use crate::progress::IndexProgress;
use crate::source::{DocumentSource, FileStamp, Listing, SkipReason, SkippedDocument, SourceEntry};
use crate::store::{
    DocumentId, EntryId, EntryRow, Exclusive, LockedIndex, Put, Store, StoreError, View, Writing,
};
use left_out::LeftOut;

/// A change this close to the time of reading may have happened after it without changing the
/// stamps: clocks of file systems tick slowly, some every two seconds.
const GRAIN_NS: i64 = 2_000_000_000;
/// Bytes of a document's path, at most.
const MAX_PATH_BYTES: usize = 4096;

/// The hash of an entry's content; empty when it cannot be read.
type Content = Vec<u8>;

/// A source, and its current entries.
struct Listed<'a> {
    source: &'a dyn DocumentSource,
    identity: String,
    listing: Listing,
}

/// The work to do.
#[derive(Debug, Default)]
struct Plan {
    /// To be read: source and entry, by position.
    load: Vec<(usize, usize)>,
    /// Entries to read only to see whether they changed, with the known content.
    doubtful: Vec<(usize, usize, Content)>,
    /// Gone, by the source's number in the store.
    vanished: Vec<(i64, String)>,
    /// What is left out of unchanged entries.
    left_out: Vec<LeftOut>,
    /// Whether the sources themselves have changed.
    resourced: bool,
}

/// Doubtful entries that did not change: the content, by source, key and stamp.
type Confirmed = HashMap<(usize, String), (FileStamp, Content)>;

/// Options of a refresh.
#[derive(Clone, Copy)]
struct RefreshMode {
    /// Whether to record which doubts are resolved; the index is correct without it.
    settle: bool,
    /// Whether to end with the writers' lock, because another process wrote right after us.
    insist: bool,
}

/// How a refresh ended.
enum RefreshEnd {
    /// Up to date, and the lock is held.
    Held,
    /// Up to date, and then another process wrote.
    Overtaken,
    /// Nothing changed, but what would shorten the next comparison cannot be written.
    Unwritable,
}

/// Compares the sources with the store and reads what changed. The store holds a lock when this
/// returns.
pub(crate) fn refresh(
    store: &mut Store,
    sources: &[&dyn DocumentSource],
    along: RefreshExtras<'_>,
    now: Timestamp,
    progress: &dyn IndexProgress,
    digest: &dyn for<'d> Fn(&'d Document) -> Digest<'d>,
) -> Result<Freshness, RefreshError> {
    let now_ns = i64::try_from(now.as_nanosecond()).unwrap_or(i64::MAX);
    let call = Call { sources, along, now_ns, progress, digest };
    let mut fresh = Freshness::default();
    let mut how = RefreshMode { settle: true, insist: false };
    store.expect(None);
    // Three times at most: each of the two can happen once.
    loop {
        match call.run(store, how, &mut fresh)? {
            RefreshEnd::Held => break,
            RefreshEnd::Overtaken => how.insist = true,
            RefreshEnd::Unwritable => how.settle = false,
        }
    }
    fresh.skipped.sort_unstable();
    let mut identities: Vec<String> = Vec::with_capacity(sources.len());
    for source in sources {
        let identity = source.identity();
        if !identities.contains(&identity) {
            identities.push(identity);
        }
    }
    store.expect(Some(identities));
    Ok(fresh)
}

/// The arguments of a refresh.
struct Call<'a> {
    sources: &'a [&'a dyn DocumentSource],
    along: RefreshExtras<'a>,
    now_ns: i64,
    progress: &'a dyn IndexProgress,
    digest: &'a dyn for<'d> Fn(&'d Document) -> Digest<'d>,
}

impl Call<'_> {
    fn run(
        &self,
        store: &mut Store,
        how: RefreshMode,
        fresh: &mut Freshness,
    ) -> Result<RefreshEnd, RefreshError> {
        let mut confirmed = Confirmed::new();
        let mark = store.mark();
        let mut before = None;
        if !store.begins_anew() {
            let listed = list(self.sources)?;
            match self.compare_shared(store, &listed, &mut confirmed)? {
                Some(plan) if !(how.settle && self.settles(&plan, &listed)) => {
                    fresh.see(&listed, plan.left_out);
                    let reading = store.reading()?;
                    fresh.documents = reading.statistics().documents;
                    fresh.chunks = reading.statistics().chunks;
                    return Ok(RefreshEnd::Held);
                }
                _ => store.release(),
            }
            before = Some(listed);
        }
        let found = store.wait_alone(self.progress)?;
        // A listing from before another process wrote may be older than the index. If there is no
        // mark, before and now, there is no index that the listing could be older than.
        let listed = match before {
            Some(listed) if mark == store.mark() => listed,
            _ => list(self.sources)?,
        };
        let (plan, alone) = match found {
            LockedIndex::Whole(view, alone) => match self.compare_alone(&view, &listed, &confirmed)
            {
                Ok(Some(plan))
                    if !(plan.changes() || how.settle && self.settles(&plan, &listed)) =>
                {
                    // Another process has already done all of it.
                    fresh.see(&listed, plan.left_out);
                    fresh.documents = view.statistics().documents;
                    fresh.chunks = view.statistics().chunks;
                    let held = store.keep(alone, how.insist)?;
                    return Ok(if held { RefreshEnd::Held } else { RefreshEnd::Overtaken });
                }
                Ok(Some(plan)) => (plan, alone),
                Ok(None) => {
                    // Otherwise, which entry keeps a duplicate path would depend on the history.
                    fresh.rebuilt = fresh.rebuilt.or(Some("sources"));
                    (Plan::all(&listed), alone.without_past())
                }
                Err(error) if error.is_damage() => {
                    fresh.rebuilt = fresh.rebuilt.or(Some("damaged"));
                    (Plan::all(&listed), alone.without_past())
                }
                Err(error) => return Err(error.into()),
            },
            LockedIndex::Broken(reason, alone) => {
                fresh.rebuilt = fresh.rebuilt.or(Some(reason));
                (Plan::all(&listed), alone)
            }
        };
        let changes = fresh.rebuilt.is_some() || plan.changes();
        let writing = match store.writing(alone) {
            Err(StoreError::Unwritable(_)) if !changes && how.settle => {
                return Ok(RefreshEnd::Unwritable);
            }
            writing => writing?,
        };
        let refreshing = Refreshing {
            call: self,
            writing,
            listed: &listed,
            fresh,
            freed: BTreeSet::new(),
            displaced: HashMap::new(),
            left: plan.load.len() as u64,
            done: 0,
        };
        let alone = refreshing.run(plan, &confirmed)?;
        Ok(if store.keep(alone, how.insist)? { RefreshEnd::Held } else { RefreshEnd::Overtaken })
    }

    /// Compares beside other readers; `None`: the index is outdated, or there is none.
    fn compare_shared(
        &self,
        store: &mut Store,
        listed: &[Listed<'_>],
        confirmed: &mut Confirmed,
    ) -> Result<Option<Plan>, StoreError> {
        let held = store.hold(self.progress);
        let compared = held.and_then(|()| compare(&*store.reading()?, listed));
        let plan = match compared {
            // Sealed and still not readable: the exclusive holder sees the same and starts over.
            Err(error) if error.is_damage() => return Ok(None),
            compared => compared?,
        };
        confirm(&plan, listed, confirmed);
        Ok((!plan.changes() && confirmed.len() == plan.doubtful.len()).then_some(plan))
    }

    /// Whether recording this comparison, in which all doubts were unfounded, shortens the next
    /// one.
    fn settles(&self, plan: &Plan, listed: &[Listed<'_>]) -> bool {
        plan.doubtful.iter().any(|(source, at, content)| {
            let entry = &listed[*source].listing.entries[*at];
            !content.is_empty() && !is_racy(entry.stamp, self.now_ns)
        })
    }

    /// Compares under the exclusive lock; `None`: the order of the sources changed.
    fn compare_alone(
        &self,
        view: &View,
        listed: &[Listed<'_>],
        confirmed: &Confirmed,
    ) -> Result<Option<Plan>, StoreError> {
        if reordered(view, listed)? {
            return Ok(None);
        }
        let mut plan = compare(view, listed)?;
        let (same, other): (Vec<_>, Vec<_>) =
            std::mem::take(&mut plan.doubtful).into_iter().partition(|(source, at, content)| {
                let entry = &listed[*source].listing.entries[*at];
                let known = confirmed.get(&(*source, entry.key.clone()));
                known.is_some_and(|(stamp, known)| (*stamp, known) == (entry.stamp, content))
            });
        plan.doubtful = same;
        plan.load.extend(other.into_iter().map(|(source, at, _)| (source, at)));
        plan.load.sort_unstable();
        plan.load.dedup();
        Ok(Some(plan))
    }
}

impl Freshness {
    /// Records how many entries were listed and what was skipped.
    fn see(&mut self, listed: &[Listed<'_>], left_out: Vec<LeftOut>) {
        self.entries = listed.iter().map(|listed| listed.listing.entries.len() as u64).sum();
        self.skipped = listed.iter().flat_map(|listed| listed.listing.skipped.clone()).collect();
        self.skipped_unnamed.clear();
        for left_out in left_out {
            self.skipped.extend(left_out.named);
            for (reason, number) in left_out.unnamed {
                *self.skipped_unnamed.entry(reason).or_default() += number;
            }
        }
    }
}

fn list<'a>(sources: &[&'a dyn DocumentSource]) -> Result<Vec<Listed<'a>>, RefreshError> {
    list_walked(sources, None)
}

/// Lists the entries of the sources, as far as another walk has not already found them.
fn list_walked<'a>(
    sources: &[&'a dyn DocumentSource],
    walked: Option<&[(String, FileStat)]>,
) -> Result<Vec<Listed<'a>>, RefreshError> {
    let mut listed: Vec<Listed<'a>> = Vec::with_capacity(sources.len());
    for source in sources {
        let identity = source.identity();
        // The same source was named twice.
        if listed.iter().any(|listed| listed.identity == identity) {
            continue;
        }
        let known = walked.and_then(|walked| source.listing_of(walked));
        let mut listing = known.map_or_else(|| source.list(), Ok)?;
        if !listing.entries.is_sorted_by(|a, b| a.key < b.key) {
            listing.entries.sort_by(|a, b| a.key.cmp(&b.key));
            listing.entries.dedup_by(|a, b| a.key == b.key);
        }
        listed.push(Listed { source: *source, identity, listing });
    }
    Ok(listed)
}

/// Names the entries that the store does not have in their current state, by stamps alone.
pub(crate) fn unseen(
    store: &Store,
    sources: &[&dyn DocumentSource],
) -> Result<Vec<String>, RefreshError> {
    let listed = list(sources)?;
    let places = unseen_places(store, &listed)?.into_iter();
    let mut keys: Vec<String> =
        places.map(|(source, at)| listed[source].listing.entries[at].key.clone()).collect();
    keys.sort_unstable();
    Ok(keys)
}

/// Counts the entries that a store does not have in their current state, and those that are gone,
/// by stamps alone. Doubtful entries count as unchanged, because they usually are.
pub(crate) fn behind(
    view: &View,
    sources: &[&dyn DocumentSource],
    walked: Option<&[(String, FileStat)]>,
) -> Result<(u64, u64), RefreshError> {
    let plan = compare(view, &list_walked(sources, walked)?)?;
    Ok((plan.load.len() as u64, plan.vanished.len() as u64))
}

/// Reads the documents of entries that the store does not have in their current state. Unreadable
/// entries are skipped.
pub(crate) fn load_unseen(
    store: &Store,
    sources: &[&dyn DocumentSource],
    each: &mut dyn FnMut(&Document),
) -> Result<(), RefreshError> {
    let listed = list(sources)?;
    for (source, at) in unseen_places(store, &listed)? {
        let Listed { source, listing, .. } = &listed[source];
        drop(source.load(&listing.entries[at], &mut |document| each(&document)));
    }
    Ok(())
}

/// Returns the entries that the store does not have in their current state: source and entry, by
/// position.
fn unseen_places(
    store: &Store,
    listed: &[Listed<'_>],
) -> Result<Vec<(usize, usize)>, RefreshError> {
    let compared = store.reading().and_then(|reading| compare(&reading, listed));
    let mut plan = match compared {
        Err(error) if error.is_damage() => Plan::all(listed),
        compared => compared?,
    };
    plan.load.extend(plan.doubtful.iter().map(|&(source, at, _)| (source, at)));
    Ok(plan.load)
}

impl Plan {
    fn all(listed: &[Listed<'_>]) -> Self {
        let entries = |(at, listed): (usize, &Listed<'_>)| {
            (0..listed.listing.entries.len()).map(move |entry| (at, entry))
        };
        Self { load: listed.iter().enumerate().flat_map(entries).collect(), ..Self::default() }
    }
}

/// Compares the entries of the sources with the rows of the store.
fn compare(view: &View, listed: &[Listed<'_>]) -> Result<Plan, StoreError> {
    let mut plan = Plan::default();
    let known = view.sources()?;
    let identities: Vec<&String> = known.iter().map(|known| &known.1).collect();
    plan.resourced = !identities.iter().eq(&listed.iter().map(|l| &l.identity).collect::<Vec<_>>());
    for (number, identity) in &known {
        if !listed.iter().any(|listed| listed.identity == *identity) {
            view.entries(*number, &mut |row| plan.vanished.push((*number, row.key.to_owned())))?;
        }
    }
    for (at, listed) in listed.iter().enumerate() {
        let entries = &listed.listing.entries;
        let Some((number, _)) = known.iter().find(|known| known.1 == listed.identity) else {
            plan.load.extend((0..entries.len()).map(|entry| (at, entry)));
            continue;
        };
        // Both are sorted by key.
        let mut next = 0;
        view.entries(*number, &mut |row| {
            while entries.get(next).is_some_and(|entry| entry.key.as_str() < row.key) {
                plan.load.push((at, next));
                next += 1;
            }
            match entries.get(next) {
                Some(entry) if entry.key == row.key => {
                    plan.weigh(at, next, entry, &row);
                    next += 1;
                }
                _ => plan.vanished.push((*number, row.key.to_owned())),
            }
        })?;
        plan.load.extend((next..entries.len()).map(|entry| (at, entry)));
    }
    Ok(plan)
}

impl Plan {
    /// Whether anything must be read or removed.
    const fn changes(&self) -> bool {
        !self.load.is_empty() || !self.vanished.is_empty() || self.resourced
    }

    /// Decides about an entry that both sides have.
    fn weigh(&mut self, source: usize, at: usize, entry: &SourceEntry, row: &EntryRow<'_>) {
        if entry.stamp != row.stamp {
            self.load.push((source, at));
            return;
        }
        // An unreadable entry may be readable now, which its stamp does not show.
        if row.content.is_empty() || is_racy(row.stamp, row.seen_ns) {
            self.doubtful.push((source, at, row.content.to_vec()));
        }
        if let Some(skipped) = row.skipped {
            self.left_out.push(LeftOut::read(skipped));
        }
    }
}

/// Whether a change right after the reading could have left the same stamp.
const fn is_racy(stamp: FileStamp, seen_ns: i64) -> bool {
    let since = seen_ns.saturating_sub(GRAIN_NS);
    let until = seen_ns.saturating_add(GRAIN_NS);
    // Anyone can set the modification time to any value, but only the clock sets the change time.
    stamp.changed_ns >= since
        || (stamp.modified_ns >= since && (stamp.modified_ns <= until || stamp.changed_ns == 0))
}

/// Reads doubtful entries and notes which ones did not change.
fn confirm(plan: &Plan, listed: &[Listed<'_>], confirmed: &mut Confirmed) {
    for (source, at, known) in &plan.doubtful {
        let listed = &listed[*source];
        let entry = &listed.listing.entries[*at];
        let mut content = ContentHash::default();
        let loaded = listed.source.load(entry, &mut |document| content.add(&hash(&document)));
        let content = match loaded {
            Ok(skipped) => content.finish(&skipped),
            Err(_) => Content::new(),
        };
        if content == *known {
            confirmed.insert((*source, entry.key.clone()), (entry.stamp, content));
        }
    }
}

/// Whether the order of known sources has changed.
fn reordered(view: &View, listed: &[Listed<'_>]) -> Result<bool, StoreError> {
    let position = |identity: &str| listed.iter().position(|listed| listed.identity == identity);
    let kept: Vec<usize> =
        view.sources()?.iter().filter_map(|(_, identity)| position(identity)).collect();
    Ok(!kept.is_sorted())
}

/// A refresh that writes.
struct Refreshing<'a> {
    call: &'a Call<'a>,
    writing: Writing<'a>,
    listed: &'a [Listed<'a>],
    fresh: &'a mut Freshness,
    /// Paths of removed documents: another entry may have a document with such a path.
    freed: BTreeSet<String>,
    /// Paths that entries lost to earlier entries.
    displaced: HashMap<EntryId, Vec<String>>,
    left: u64,
    done: u64,
}

/// An entry while its documents are read.
struct EntryLoad {
    entry: EntryId,
    content: ContentHash,
    skipped: Vec<SkippedDocument>,
    /// Its documents in the store.
    kept: HashSet<DocumentId>,
    added: u64,
    changed: u64,
}

impl EntryLoad {
    fn new(entry: EntryId) -> Self {
        let (skipped, kept) = (Vec::new(), HashSet::new());
        Self { entry, content: ContentHash::default(), skipped, kept, added: 0, changed: 0 }
    }
}

impl Refreshing<'_> {
    fn run(mut self, plan: Plan, confirmed: &Confirmed) -> Result<Exclusive, RefreshError> {
        for (number, key) in plan.vanished {
            let entry = self.writing.entry(number, &key)?;
            self.remove_documents(entry, &HashSet::new())?;
            self.writing.remove_entry(entry)?;
        }
        let identities: Vec<String> =
            self.listed.iter().map(|listed| listed.identity.clone()).collect();
        let numbers = self.writing.set_sources(&identities)?;
        for (source, at) in &plan.load {
            self.load(numbers[*source], *source, *at)?;
            self.left = self.left.saturating_sub(1);
        }
        for (source, at, _) in &plan.doubtful {
            let entry = &self.listed[*source].listing.entries[*at];
            let is_known = confirmed.contains_key(&(*source, entry.key.clone()));
            if is_known && !is_racy(entry.stamp, self.call.now_ns) {
                self.writing.set_seen(numbers[*source], &entry.key, self.call.now_ns)?;
            }
        }
        self.write_displaced()?;
        self.give_freed_paths(&numbers)?;
        self.write_displaced()?;
        let left_out = self.writing.entries_with_skipped()?;
        let left_out = left_out.iter().map(|(_, _, json)| LeftOut::read(json)).collect();
        self.fresh.see(self.listed, left_out);
        (self.fresh.documents, self.fresh.chunks) = self.writing.size();
        if let Some(static_model) = self.call.along.static_model {
            // A later request for the missing vectors reports why.
            drop(write_static_vectors(
                &mut self.writing,
                static_model,
                &mut EmbeddingReport::default(),
            )?);
        }
        // If everything is new, nothing was removed.
        if self.call.along.erases && self.fresh.rebuilt.is_none() {
            self.writing.erase_removed();
        }
        Ok(self.writing.finish()?)
    }

    /// Gives entries the paths that earlier entries no longer have.
    fn give_freed_paths(&mut self, numbers: &[i64]) -> Result<(), RefreshError> {
        /// Each round frees the paths that changed since the last one: more rounds than this need a
        /// process that writes all the time.
        const ROUNDS: usize = 1000;
        for round in 0..=ROUNDS {
            let freed = std::mem::take(&mut self.freed);
            if freed.is_empty() {
                break;
            }
            for (number, key, json) in self.writing.entries_with_skipped()? {
                let mut waits = false;
                for path in LeftOut::read(&json).duplicates() {
                    waits |= freed.contains(path) && !self.writing.has_path(path)?;
                }
                let Some(source) = numbers.iter().position(|known| *known == number) else {
                    continue;
                };
                let entries = &self.listed[source].listing.entries;
                let at = entries.binary_search_by(|entry| entry.key.cmp(&key));
                match at {
                    Ok(at) if waits && round < ROUNDS => self.load(number, source, at)?,
                    // The next refresh reads it as an unknown entry.
                    Ok(_) if waits => {
                        let id = self.writing.entry(number, &key)?;
                        self.writing.set_entry(id, FileStamp::default(), 0, &[], Some(&json))?;
                    }
                    _ => {}
                }
            }
        }
        Ok(())
    }

    /// Records which paths entries lost to earlier ones.
    fn write_displaced(&mut self) -> Result<(), StoreError> {
        for (entry, paths) in std::mem::take(&mut self.displaced) {
            let json = self.writing.skipped(entry)?;
            let mut left_out = json.map_or_else(LeftOut::default, |json| LeftOut::read(&json));
            left_out.add_duplicates(paths);
            if let Some(json) = left_out.write() {
                self.writing.set_skipped(entry, &json)?;
            }
        }
        Ok(())
    }

    /// Reads an entry into the store.
    fn load(&mut self, number: i64, source: usize, at: usize) -> Result<(), RefreshError> {
        let listed = &self.listed[source];
        let entry = &listed.listing.entries[at];
        let id = self.writing.entry(number, &entry.key)?;
        // The entry itself reports which of its paths belong to another entry.
        self.displaced.remove(&id);
        let mut load = EntryLoad::new(id);
        let mut taken = Ok(());
        let loaded = listed.source.load(entry, &mut |document| {
            if taken.is_ok() {
                taken = self.take(&document, &mut load);
            }
        });
        taken?;
        let content = if let Ok(more) = loaded {
            let content = load.content.finish(&more);
            load.skipped.extend(more);
            content
        } else {
            // Indexing half an entry would give inexplicable answers.
            load.skipped.clear();
            load.skipped.push(SkippedDocument::new(&entry.key, SkipReason::Unreadable));
            load.kept.clear();
            Content::new()
        };
        let gone = self.remove_documents(id, &load.kept)?;
        if content.is_empty() {
            self.fresh.removed = self.fresh.removed.saturating_sub(gone.min(load.added));
        } else {
            self.fresh.added += load.added;
            self.fresh.changed += load.changed;
        }
        let skipped = LeftOut::of(load.skipped).write();
        self.writing.set_entry(id, entry.stamp, self.call.now_ns, &content, skipped.as_deref())?;
        Ok(())
    }

    /// Takes in a document of an entry.
    fn take(&mut self, document: &Document, load: &mut EntryLoad) -> Result<(), StoreError> {
        let hash = hash(document);
        load.content.add(&hash);
        let path = &document.path;
        if path.is_empty() || path.len() > MAX_PATH_BYTES {
            let start = &path[..path.floor_char_boundary(MAX_PATH_BYTES)];
            load.skipped.push(SkippedDocument::new(start, SkipReason::Name));
            return Ok(());
        }
        let mut displaced = None;
        let mut displace = |other| displaced = Some(other);
        let (entry, digest) = (load.entry, self.call.digest);
        let put = self.writing.put(entry, document, &hash, digest, &load.kept, &mut displace)?;
        if let Some(other) = displaced {
            self.displaced.entry(other).or_default().push(path.clone());
        }
        let id = match put {
            Put::Added(id) | Put::Changed(id) | Put::Same(id) => id,
            Put::Duplicate => {
                load.skipped.push(SkippedDocument::new(path, SkipReason::Duplicate));
                return Ok(());
            }
        };
        load.added += u64::from(matches!(put, Put::Added(_)));
        load.changed += u64::from(matches!(put, Put::Changed(_)));
        load.kept.insert(id);
        if self.writing.chunks_of(id)? == 0 {
            load.skipped.push(SkippedDocument::new(path, SkipReason::NoText));
        }
        self.done += 1;
        self.call.progress.indexed(self.done, self.done + self.left.saturating_sub(1));
        Ok(())
    }

    /// Removes the documents of an entry except those kept; returns how many.
    fn remove_documents(
        &mut self,
        entry: EntryId,
        kept: &HashSet<DocumentId>,
    ) -> Result<u64, StoreError> {
        let mut removed = 0;
        for (document, path) in self.writing.documents_of(entry)? {
            if !kept.contains(&document) {
                self.writing.remove(document)?;
                self.freed.insert(path);
                removed += 1;
            }
        }
        self.fresh.removed += removed;
        Ok(removed)
    }
}

/// Hashes everything about a document that is stored.
fn hash(document: &Document) -> [u8; 32] {
    let Document {
        path,
        text,
        format,
        date,
        evergreen,
        memory_type,
        namespace,
        importance,
        provenance,
    } = document;
    let format = match format {
        Format::Markdown => "markdown",
        Format::Plain => "plain",
        Format::Transcript => "transcript",
    };
    let details = (
        format,
        date.map(|date| date.to_string()),
        evergreen,
        memory_type,
        namespace,
        importance.map(f64::to_bits),
        provenance,
    );
    let mut hash = Sha256::new();
    // Strings, numbers and options of them can always be written as JSON.
    let details = serde_json::to_vec(&details).unwrap_or_default();
    for part in [path.as_bytes(), &details, text.as_bytes()] {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    }
    hash.finalize().into()
}

/// The hash of an entry's documents.
#[derive(Default)]
struct ContentHash(Sha256);

impl ContentHash {
    fn add(&mut self, document: &[u8; 32]) {
        self.0.update(document);
    }

    fn finish(mut self, skipped: &[SkippedDocument]) -> Content {
        for SkippedDocument { path, reason } in skipped {
            self.0.update((path.len() as u64).to_le_bytes());
            self.0.update(path);
            self.0.update(reason.as_str());
        }
        self.0.finalize().to_vec()
    }
}

#[cfg(test)]
mod tests;

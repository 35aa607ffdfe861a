//! A memory in Markdown files, in the manner of OpenClaw or of ZeroClaw.
//!
//! What is core stands in the curated file, where a key has one entry; everything else is added to
//! the log of the day, where the newest entry of a key counts. Files that people or the runtime
//! wrote are read as they are: a list item or a paragraph is an entry, called by its place.

use std::collections::HashSet;
use std::ops::Range;
use std::sync::Arc;

use anemone_format::{Moment, Origin, ProvenanceStamp};
use anemone_index::Request;
use async_trait::async_trait;

use crate::change::{ApplyError, Change, Edit};
use crate::entries::{Entry, EntryList, without};
use crate::entry::{Category, Clock, Given, MemoryEntry};
use crate::finder::Finder;
use crate::forget::ForgetTarget;
use crate::memory::{Memory, MemoryError, refuse_secrets};
use crate::page::render;
use crate::store::{LockedStore, MarkdownStore, PageKind};

/// An editor that saves between a look and a write makes the write begin anew, this often.
const TIMES: usize = 8;
/// Finds that are looked through for entries, at most.
const MOST_HITS: usize = 4_096;

/// A memory in the Markdown files of a workspace.
#[derive(Clone)]
pub struct MarkdownMemory {
    inner: Arc<Inner>,
}

struct Inner {
    site: MarkdownStore,
    finder: Finder,
    clock: Box<dyn Clock>,
}

impl MarkdownMemory {
    /// Takes the files, what finds things in them, and where time and ids come from.
    #[must_use]
    pub fn new(site: MarkdownStore, finder: Finder, clock: Box<dyn Clock>) -> Self {
        Self { inner: Arc::new(Inner { site, finder, clock }) }
    }

    /// Runs work that waits for locks and disks where it keeps nobody else waiting.
    async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Inner) -> Result<T, MemoryError> + Send + 'static,
    ) -> Result<T, MemoryError> {
        let inner = self.inner.clone();
        let done = tokio::task::spawn_blocking(move || work(&inner)).await;
        done.unwrap_or(Err(MemoryError::CutOff))
    }
}

/// Whether a question has no words in it: then the newest are meant.
pub(crate) fn is_wordless(query: &str) -> bool {
    matches!(query.trim(), "" | "*")
}

impl Inner {
    fn store(
        &self,
        key: &str,
        content: &str,
        category: &Category,
        session: Option<&str>,
    ) -> Result<(), MemoryError> {
        self.again(|held| {
            let entries = self.site.entries()?;
            let now = self.clock.now();
            let mut stamp =
                ProvenanceStamp::new(self.clock.fresh_id(), Origin::Agent, Moment::from(now));
            stamp.session = session.map(str::to_owned);
            // The file says the rest.
            let said = ["core", "daily"].contains(&category.as_str());
            stamp.category = (!said).then(|| category.as_str().to_owned());
            let given = Given {
                text: content.to_owned(),
                key: Some(key.to_owned()),
                label: None,
                tags: Vec::new(),
                stamp,
            };
            let edits = match category.as_str() {
                "core" => vec![self.curated(&entries, key, &render(&given))],
                _ => {
                    let day = now.to_zoned(self.clock.zone()).date();
                    let path = self.site.daily(day);
                    let log = self.append(&entries, &path, PageKind::Daily(day), &render(&given));
                    self.uncurated(&entries, key).into_iter().chain([log]).collect()
                }
            };
            let change = Change { stamps: vec![given.stamp], ..Change::new("store", edits) };
            held.apply(&change, self.clock.fresh_id(), now)?;
            Ok(())
        })
    }

    /// Puts an entry into the curated file, in the place of what has its key.
    fn curated(&self, entries: &EntryList, key: &str, rendered: &str) -> Edit {
        let path = self.site.curated();
        let same = curated_with(entries, key);
        let seen = entries.page(path);
        if let ([first, others @ ..], Some((seen, text))) =
            (same.as_slice(), seen.and_then(|it| Some((it, it.text().ok()?))))
        {
            let mut after = without(text, &bytes_of(others));
            let range = first.unit.bytes.clone();
            let ending =
                if text[range.clone()].ends_with('\n') { rendered } else { rendered.trim_end() };
            after.replace_range(range, ending);
            return Edit::replace(seen, after.into_bytes());
        }
        self.append(entries, path, PageKind::Curated, rendered)
    }

    /// Takes a key out of the curated file, when it is to stand somewhere else.
    fn uncurated(&self, entries: &EntryList, key: &str) -> Option<Edit> {
        let same = curated_with(entries, key);
        let seen = entries.page(self.site.curated()).filter(|_| !same.is_empty())?;
        let after = without(seen.text().ok()?, &bytes_of(&same));
        Some(Edit::replace(seen, after.into_bytes()))
    }

    fn append(&self, entries: &EntryList, path: &str, kind: PageKind, rendered: &str) -> Edit {
        self.site.appended(path, entries.page(path), kind, rendered)
    }

    fn recall(
        &self,
        query: &str,
        limit: usize,
        session: Option<&str>,
    ) -> Result<Vec<MemoryEntry>, MemoryError> {
        if is_wordless(query) {
            let mut newest = self.list(None, session)?;
            newest.truncate(limit);
            return Ok(newest);
        }
        let mut request = Request::new(query, self.clock.now());
        request.limit = limit.saturating_mul(2).saturating_add(16).min(MOST_HITS);
        loop {
            let hits = self.finder.search(&request)?.hits;
            let entries = self.site.entries()?;
            let live: HashSet<&str> = entries.live().iter().map(|it| it.id.as_str()).collect();
            let mut met = HashSet::new();
            let mut found = Vec::new();
            for hit in &hits {
                for placed in entries.of_hit(hit) {
                    let of_session = session.is_none_or(|it| placed.session() == Some(it));
                    if of_session && live.contains(&*placed.id) && met.insert(placed.id.clone()) {
                        found.push(MemoryEntry { score: Some(hit.score), ..placed.entry() });
                    }
                }
            }
            if found.len() >= limit || hits.len() < request.limit || request.limit == MOST_HITS {
                found.truncate(limit);
                return Ok(found);
            }
            request.limit = request.limit.saturating_mul(4).min(MOST_HITS);
        }
    }

    fn get(&self, key: &str) -> Result<Option<MemoryEntry>, MemoryError> {
        let entries = self.site.entries()?;
        let found = entries.live().into_iter().find(|it| it.key() == key);
        Ok(found.map(Entry::entry))
    }

    fn list(
        &self,
        category: Option<&Category>,
        session: Option<&str>,
    ) -> Result<Vec<MemoryEntry>, MemoryError> {
        let entries = self.site.entries()?;
        let live = entries.live().into_iter();
        let wanted = live.filter(|it| {
            category.is_none_or(|category| it.category().as_str() == category.as_str())
                && session.is_none_or(|session| it.session() == Some(session))
        });
        Ok(wanted.map(Entry::entry).collect())
    }

    fn forget(&self, key: &str) -> Result<bool, MemoryError> {
        self.again(|held| {
            let plan = held.plan_forget(&ForgetTarget::Key(key.to_owned()))?;
            if plan.entries.is_empty() {
                return Ok(false);
            }
            let now = self.clock.now();
            held.apply(&plan.change, self.clock.fresh_id(), now)?;
            held.bury(&plan.entries, "forget", now)?;
            Ok(true)
        })
    }

    /// Does something with the files to itself, once more where an editor was quicker.
    fn again<T>(
        &self,
        work: impl Fn(&LockedStore<'_>) -> Result<T, MemoryError>,
    ) -> Result<T, MemoryError> {
        let mut times = 0;
        loop {
            times += 1;
            let held = self.site.lock()?;
            match work(&held) {
                Err(MemoryError::Apply(ApplyError::Changed { .. })) if times < TIMES => {}
                done => return done,
            }
        }
    }

    fn is_healthy(&self) -> bool {
        let access = rustix::fs::Access::WRITE_OK | rustix::fs::Access::EXEC_OK;
        self.site.pages().is_ok() && rustix::fs::access(self.site.root(), access).is_ok()
    }
}

fn curated_with<'a>(entries: &'a EntryList, key: &str) -> Vec<&'a Entry> {
    let all = entries.placed.iter();
    all.filter(|it| it.kind == PageKind::Curated && it.key() == key).collect()
}

fn bytes_of(placed: &[&Entry]) -> Vec<Range<usize>> {
    placed.iter().map(|it| it.unit.bytes.clone()).collect()
}

#[async_trait]
impl Memory for MarkdownMemory {
    fn name(&self) -> &'static str {
        "markdown"
    }

    async fn store(
        &self,
        key: &str,
        content: &str,
        category: &Category,
        session: Option<&str>,
    ) -> Result<(), MemoryError> {
        refuse_secrets(key, content)?;
        let (key, content, category) = (key.to_owned(), content.to_owned(), category.clone());
        let session = session.map(str::to_owned);
        self.run(move |it| it.store(&key, &content, &category, session.as_deref())).await
    }

    async fn recall(
        &self,
        query: &str,
        limit: usize,
        session: Option<&str>,
    ) -> Result<Vec<MemoryEntry>, MemoryError> {
        let (query, session) = (query.to_owned(), session.map(str::to_owned));
        self.run(move |it| it.recall(&query, limit, session.as_deref())).await
    }

    async fn get(&self, key: &str) -> Result<Option<MemoryEntry>, MemoryError> {
        let key = key.to_owned();
        self.run(move |it| it.get(&key)).await
    }

    async fn list(
        &self,
        category: Option<&Category>,
        session: Option<&str>,
    ) -> Result<Vec<MemoryEntry>, MemoryError> {
        let (category, session) = (category.cloned(), session.map(str::to_owned));
        self.run(move |it| it.list(category.as_ref(), session.as_deref())).await
    }

    async fn forget(&self, key: &str) -> Result<bool, MemoryError> {
        let key = key.to_owned();
        self.run(move |it| it.forget(&key)).await
    }

    async fn count(&self) -> Result<usize, MemoryError> {
        self.run(|it| Ok(it.site.entries()?.live().len())).await
    }

    async fn health(&self) -> bool {
        self.run(|it| Ok(it.is_healthy())).await.unwrap_or(false)
    }
}

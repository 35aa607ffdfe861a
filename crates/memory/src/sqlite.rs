//! A memory in ZeroClaw's database, which ZeroClaw itself may have open at the same time.
//!
//! Recall goes through an index of ours and not through the database's own full-text index, which
//! knows neither stems nor Chinese; that index is kept in step all the same, as ZeroClaw asks it.
//!
//! Where an entry comes from stands in a table of our own beside ZeroClaw's, `anemone_stamps`:
//! ZeroClaw has no column for it, and leaves tables alone that it does not know.

mod noted;
mod rows;
mod schema;
mod source;
mod vectors;

use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use anemone_embed::Embedder;
use anemone_format::{Moment, Origin};
use anemone_index::{Hit, Request};
use async_trait::async_trait;
use jiff::tz::TimeZone;
use rusqlite::Connection;

pub use self::noted::RowsBack;
pub use self::rows::{KeptRow, RowsWanted};
pub use self::schema::OpenRowsError;
pub use self::source::RowsSource;

use self::rows::{NewRow, PRIVATE, Rows, written};
use self::schema::Shape;
use crate::duplicates::{Candidate, Duplicate, row_duplicates};
use crate::entry::{Category, Clock, Given, MemoryEntry};
use crate::finder::Finder;
use crate::journal::{JournalError, NotedRows};
use crate::markdown::is_wordless;
use crate::memory::{Memory, MemoryError, refuse_secrets};

/// Finds that are looked through for rows, at most.
const MOST_HITS: usize = 4_096;

/// A memory in a database of ZeroClaw's.
#[derive(Clone)]
pub struct SqliteMemory {
    inner: Arc<Inner>,
}

struct Inner {
    rows: Mutex<Rows>,
    finder: Finder,
    /// Makes the vectors that ZeroClaw compares.
    embedder: Option<Arc<dyn Embedder>>,
    clock: Box<dyn Clock>,
}

impl SqliteMemory {
    /// Opens the database of an agent, or makes it. The finder is of its rows: a [`RowsSource`], or
    /// whatever else has them as `memories/<key>`.
    pub fn open(
        path: &Path,
        alias: &str,
        finder: Finder,
        embedder: Option<Arc<dyn Embedder>>,
        clock: Box<dyn Clock>,
    ) -> Result<Self, OpenRowsError> {
        let opened = schema::open(path, &written(clock.now(), TimeZone::UTC))?;
        Ok(Self::of(path, alias, opened, finder, embedder, clock))
    }

    /// Opens the database of an agent only to read, so that nothing of the file is changed; `None`
    /// when there is none.
    pub fn open_to_read(
        path: &Path,
        alias: &str,
        finder: Finder,
        clock: Box<dyn Clock>,
    ) -> Result<Option<Self>, OpenRowsError> {
        let opened = schema::open_to_read(path)?;
        Ok(opened.map(|it| Self::of(path, alias, it, finder, None, clock)))
    }

    fn of(
        path: &Path,
        alias: &str,
        (db, shape): (Connection, Shape),
        finder: Finder,
        embedder: Option<Arc<dyn Embedder>>,
        clock: Box<dyn Clock>,
    ) -> Self {
        let rows = Rows { path: path.to_owned(), db, shape, alias: alias.to_owned() };
        Self { inner: Arc::new(Inner { rows: Mutex::new(rows), finder, embedder, clock }) }
    }

    /// Remembers something with all that is known of it; without a key it is called by its id.
    pub fn remember(&self, given: &Given, category: &Category) -> Result<(), MemoryError> {
        self.inner.remember(&[(given.clone(), category.clone())], &mut |_| Ok(()))
    }

    /// Remembers several things in one step; `keep` is told first what was there, and nothing is
    /// written when it fails.
    pub(crate) fn remember_all(
        &self,
        given: &[(Given, Category)],
        keep: &mut Keep<'_>,
    ) -> Result<(), MemoryError> {
        self.inner.remember(given, keep)
    }

    /// Returns what a memory says that a text says too, the likest first.
    pub fn duplicates(
        &self,
        candidate: Candidate<'_>,
        least: f64,
    ) -> Result<Vec<Duplicate>, MemoryError> {
        let entries = self.entries()?;
        Ok(row_duplicates(&entries, &self.inner.finder, candidate, least, self.inner.clock.now()))
    }

    /// Returns every entry that nothing took the place of, the newest first.
    pub fn entries(&self) -> Result<Vec<MemoryEntry>, MemoryError> {
        Ok(self.inner.rows().list(None, None, usize::MAX)?)
    }

    /// Whether a row can say that another one took its place.
    #[must_use]
    pub fn can_supersede(&self) -> bool {
        self.inner.rows().shape.has("superseded_by")
    }

    /// Returns what the journal keeps of rows that are about to be taken out.
    #[must_use]
    pub fn noted(&self, gone: &[KeptRow]) -> NotedRows {
        self.inner.rows().noted(gone)
    }

    /// Says what taking back a change would do, and does nothing.
    pub fn plan_back(&self, noted: &NotedRows) -> Result<RowsBack, MemoryError> {
        Ok(self.inner.rows().plan_back(noted)?)
    }

    /// Takes back a change of rows in one step, or does nothing where somebody changed them since;
    /// also returns what the journal keeps of it.
    pub(crate) fn take_back(
        &self,
        noted: &NotedRows,
    ) -> Result<(RowsBack, NotedRows), MemoryError> {
        Ok(self.inner.rows().take_back(noted)?)
    }

    /// Returns the rows that are meant, with all that they hold.
    pub fn rows_matching(&self, wanted: &RowsWanted) -> Result<Vec<KeptRow>, MemoryError> {
        Ok(self.inner.rows().matching(wanted)?)
    }

    /// Returns the rows that a find of the index is about, by their ids.
    pub fn ids_of_hits(&self, hits: &[Hit]) -> Result<Vec<String>, MemoryError> {
        let entries = self.inner.rows().list(None, None, usize::MAX)?;
        let known = Known::of(&entries);
        Ok(hits.iter().filter_map(|hit| known.of_hit(hit)).map(|it| it.id.clone()).collect())
    }

    /// Deletes rows with everything that was made of them, so that nothing stays in the file.
    pub fn remove_rows(&self, gone: &[KeptRow]) -> Result<usize, MemoryError> {
        Ok(self.inner.rows().remove(gone)?)
    }

    /// Writes the database anew, so that nothing is left in it of what was deleted before, whoever
    /// deleted it.
    pub fn compact(&self) -> Result<(), MemoryError> {
        Ok(self.inner.rows().compact()?)
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

/// Is told what was there before something is written.
type Keep<'a> = dyn FnMut(NotedRows) -> Result<(), JournalError> + 'a;

/// Whether a key is one that ZeroClaw keeps for what belongs to one person.
pub(crate) fn is_private(key: &str) -> bool {
    key.starts_with(PRIVATE)
}

/// Returns what a row is called: what has no key is called by its id.
pub(crate) fn row_key(given: &Given) -> String {
    given.key.clone().unwrap_or_else(|| given.stamp.id.to_string())
}

/// Returns the text of a row: tags stand at its end.
pub(crate) fn row_content(given: &Given) -> String {
    let mut content = given.text.clone();
    for tag in &given.tags {
        content.push_str(&format!(" #{tag}"));
    }
    content
}

/// Returns where an index has the row of a key.
#[must_use]
pub fn row_document(key: &str) -> String {
    source::path_of(key)
}

/// Entries by what a find may call them.
struct Known<'a> {
    by_id: HashMap<&'a str, &'a MemoryEntry>,
    by_path: HashMap<String, &'a MemoryEntry>,
}

impl<'a> Known<'a> {
    fn of(entries: &'a [MemoryEntry]) -> Self {
        Self {
            by_id: entries.iter().map(|it| (it.id.as_str(), it)).collect(),
            by_path: entries.iter().map(|it| (source::path_of(&it.key), it)).collect(),
        }
    }

    fn of_hit(&self, hit: &Hit) -> Option<&'a MemoryEntry> {
        let by_id = hit.provenance.record.as_deref().and_then(|id| self.by_id.get(id));
        by_id.or_else(|| self.by_path.get(&hit.path)).copied()
    }
}

impl Inner {
    /// Takes the database; whoever panicked with it left a transaction that was taken back.
    fn rows(&self) -> MutexGuard<'_, Rows> {
        self.rows.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn put(&self, mut new: Vec<NewRow<'_>>, keep: &mut Keep<'_>) -> Result<(), MemoryError> {
        if new.iter().any(|it| is_private(it.key)) {
            return Err(MemoryError::PrivateKey);
        }
        let rows = self.rows();
        let embedder = match &self.embedder {
            Some(it) if vectors::fits(&rows.db, &rows.shape, it.identity())? => Some(it),
            _ => None,
        };
        for it in &mut new {
            if let Some(embedder) = embedder {
                it.embedding = vectors::of_text(&rows.db, &**embedder, it.content)?;
            }
        }
        rows.put(&new, keep, |all, new| {
            let (Some(embedder), Some(vector)) = (embedder, &new.embedding) else { return Ok(()) };
            vectors::name_maker(all, embedder.identity())?;
            let now = written(new.now, new.zone.clone());
            vectors::cache(all, new.content, vector, &now, vectors::MOST_CACHED)
        })
    }

    fn store(
        &self,
        key: &str,
        content: &str,
        category: &Category,
        session: Option<&str>,
    ) -> Result<(), MemoryError> {
        let new = NewRow {
            id: self.clock.fresh_id(),
            key,
            content,
            category,
            session,
            importance: None,
            embedding: None,
            origin: "agent",
            source: None,
            supersedes: None,
            agent: self.clock.fresh_id(),
            now: self.clock.now(),
            zone: self.clock.zone(),
        };
        self.put(vec![new], &mut |_| Ok(()))
    }

    fn remember(
        &self,
        given: &[(Given, Category)],
        keep: &mut Keep<'_>,
    ) -> Result<(), MemoryError> {
        let texts: Vec<(String, String)> =
            given.iter().map(|(it, _)| (row_key(it), row_content(it))).collect();
        let new = given.iter().zip(&texts).map(|((given, category), (key, content))| NewRow {
            id: given.stamp.uuid.unwrap_or_else(|| self.clock.fresh_id()),
            key,
            content,
            category,
            session: given.stamp.session.as_deref(),
            importance: given.label.as_ref().map(|it| it.importance.get()),
            embedding: None,
            // Nobody is trusted less than whoever is not known.
            origin: given.stamp.origin.unwrap_or(Origin::Web).as_str(),
            source: given.stamp.source.as_deref(),
            supersedes: given.stamp.supersedes.as_deref(),
            agent: self.clock.fresh_id(),
            now: given.stamp.at.as_ref().map_or_else(|| self.clock.now(), Moment::instant),
            zone: self.clock.zone(),
        });
        self.put(new.collect(), keep)
    }

    fn recall(
        &self,
        query: &str,
        limit: usize,
        session: Option<&str>,
    ) -> Result<Vec<MemoryEntry>, MemoryError> {
        if is_wordless(query) {
            return Ok(self.rows().list(None, session, limit)?);
        }
        let mut request = Request::new(query, self.clock.now());
        request.limit = limit.saturating_mul(2).saturating_add(16).min(MOST_HITS);
        loop {
            let hits = self.finder.search(&request)?.hits;
            let entries = self.rows().list(None, session, usize::MAX)?;
            let known = Known::of(&entries);
            let mut met = HashSet::new();
            let mut found = Vec::new();
            for hit in &hits {
                if let Some(entry) = known.of_hit(hit).filter(|it| met.insert(it.id.as_str())) {
                    found.push(MemoryEntry { score: Some(hit.score), ..entry.clone() });
                }
            }
            if found.len() >= limit || hits.len() < request.limit || request.limit == MOST_HITS {
                found.truncate(limit);
                return Ok(found);
            }
            request.limit = request.limit.saturating_mul(4).min(MOST_HITS);
        }
    }

    fn forget(&self, key: &str) -> Result<bool, MemoryError> {
        let mut rows = self.rows();
        let gone = rows.matching(&RowsWanted::Key(key.to_owned()))?;
        Ok(!gone.is_empty() && rows.remove(&gone)? > 0)
    }
}

#[async_trait]
impl Memory for SqliteMemory {
    fn name(&self) -> &'static str {
        "sqlite"
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
        self.run(move |it| Ok(it.rows().get(&key)?)).await
    }

    async fn list(
        &self,
        category: Option<&Category>,
        session: Option<&str>,
    ) -> Result<Vec<MemoryEntry>, MemoryError> {
        let (category, session) = (category.cloned(), session.map(str::to_owned));
        self.run(move |it| Ok(it.rows().list(category.as_ref(), session.as_deref(), usize::MAX)?))
            .await
    }

    async fn forget(&self, key: &str) -> Result<bool, MemoryError> {
        let key = key.to_owned();
        self.run(move |it| it.forget(&key)).await
    }

    async fn count(&self) -> Result<usize, MemoryError> {
        self.run(|it| Ok(it.rows().count()?)).await
    }

    async fn health(&self) -> bool {
        self.run(|it| Ok(it.rows().count().is_ok())).await.unwrap_or(false)
    }
}

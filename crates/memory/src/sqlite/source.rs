//! The rows of a database as documents of an index.

use std::path::{Path, PathBuf};

use anemone_index::{
    Document, DocumentSource, FileStamp, Format, Listing, MAX_FILE_BYTES, Provenance, SkipReason,
    SkippedDocument, SourceEntry, SourceError,
};

use super::rows::{PRIVATE, lossy};
use super::schema::open_to_read;

/// The memories of one agent in a database of ZeroClaw's.
#[derive(Clone, Debug)]
pub struct RowsSource {
    path: PathBuf,
    alias: String,
}

impl RowsSource {
    /// Takes a database, which need not be there, and the name of an agent in it.
    #[must_use]
    pub fn new(path: &Path, alias: &str) -> Self {
        Self { path: path.to_owned(), alias: alias.to_owned() }
    }

    fn name(&self) -> String {
        self.path.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }

    fn error(&self, source: impl std::error::Error + Send + Sync + 'static) -> SourceError {
        SourceError { place: self.path.display().to_string(), source: Box::new(source) }
    }
}

/// Returns where a key is found: what cannot stand in a path is `%2F`.
pub(super) fn path_of(key: &str) -> String {
    let whole = matches!(key, "" | "." | "..");
    let mut path = String::from("memories/");
    for c in key.chars() {
        if whole || c.is_control() || matches!(c, '/' | '\\' | '%') {
            for byte in c.encode_utf8(&mut [0; 4]).bytes() {
                path.push_str(&format!("%{byte:02X}"));
            }
        } else {
            path.push(c);
        }
    }
    if key.is_empty() {
        path.push_str("%00");
    }
    path
}

impl DocumentSource for RowsSource {
    fn identity(&self) -> String {
        format!("rows of {:?} in {:?}", self.alias, self.path)
    }

    fn list(&self) -> Result<Listing, SourceError> {
        let mut listing = Listing::default();
        let mut log = self.path.as_os_str().to_owned();
        log.push("-wal");
        let stamp = FileStamp::of_all(&[self.path.clone(), log.into()], &[]);
        listing.entries.extend(stamp.map(|stamp| SourceEntry { key: self.name(), stamp }));
        Ok(listing)
    }

    fn load(
        &self,
        _: &SourceEntry,
        each: &mut dyn FnMut(Document),
    ) -> Result<Vec<SkippedDocument>, SourceError> {
        let opened = open_to_read(&self.path).map_err(|error| self.error(error))?;
        let Some((db, shape)) = opened else { return Ok(Vec::new()) };
        let owner = match shape.has("agent_id") {
            true => "m.agent_id = (SELECT id FROM agents WHERE alias = ?1)",
            false => "?1 IS NOT NULL",
        };
        let sql = format!(
            "SELECT m.id, m.key, m.category, m.created_at, m.session_id, {}, {}, {},
             length(CAST(m.content AS BLOB)), m.content FROM memories m WHERE {owner}
             ORDER BY m.rowid",
            shape.or_null("importance"),
            shape.or_null("superseded_by"),
            shape.or_null("principal_id"),
        );
        let mut skipped = Vec::new();
        let mut read = || -> rusqlite::Result<()> {
            let mut find = db.prepare(&sql)?;
            let mut found = find.query([&self.alias])?;
            while let Some(row) = found.next()? {
                let text =
                    |at: usize| -> rusqlite::Result<Option<String>> { lossy(row.get_ref(at)?) };
                let key = text(1)?.unwrap_or_default();
                let mut skip =
                    |path: String, reason| skipped.push(SkippedDocument { path, reason });
                if key.starts_with(PRIVATE) || text(7)?.is_some() {
                    skip("memories".to_owned(), SkipReason::Private);
                    continue;
                }
                let path = path_of(&key);
                if text(6)?.is_some() {
                    skip(path, SkipReason::Superseded);
                    continue;
                }
                if row
                    .get::<_, Option<i64>>(8)?
                    .is_some_and(|it| it.unsigned_abs() > MAX_FILE_BYTES)
                {
                    skip(path, SkipReason::TooLarge);
                    continue;
                }
                let content = text(9)?.unwrap_or_default();
                if content.trim().is_empty() {
                    skip(path, SkipReason::NoText);
                    continue;
                }
                let (category, created) = (text(2)?.unwrap_or_default(), text(3)?);
                let is_core = category == "core";
                each(Document {
                    path,
                    text: content,
                    format: Format::Plain,
                    date: created.as_deref().and_then(|it| it.get(..10)?.parse().ok()),
                    evergreen: is_core,
                    memory_type: Some(if is_core { "semantic" } else { "episodic" }.to_owned()),
                    namespace: Some(category),
                    importance: row.get::<_, Option<f64>>(5)?.filter(|it| (0.0..=1.0).contains(it)),
                    provenance: Provenance {
                        source: "records".to_owned(),
                        record: text(0)?,
                        session: text(4)?,
                        origin: None,
                        observed_at: created,
                    },
                });
            }
            Ok(())
        };
        read().map_err(|error| self.error(error))?;
        Ok(skipped)
    }
}

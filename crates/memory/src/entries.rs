//! The entries of a Markdown memory, each with its place.
//!
//! Of several entries with one key the newest counts; the others stay in their logs, which are
//! only ever added to, and are passed over. What an entry says that it takes the place of is
//! passed over as well.

use std::borrow::Cow;
use std::collections::HashSet;
use std::hash::Hash;
use std::ops::Range;
use std::path::PathBuf;

use anemone_files::Folder;
use anemone_format::StampId;
use anemone_index::Hit;
use jiff::Timestamp;

use crate::change::digest;
use crate::cited::citation_of;
use crate::entry::{Category, MemoryEntry};
use crate::layout::MarkdownLayout;
use crate::page::{ParsedEntry, known_units};
use crate::session_note::is_head;
use crate::store::{FileSnapshot, MAX_FILE_BYTES, MarkdownStore, MarkdownStoreError, PageKind};
use crate::superseded::{self, Age, Taken, text_name};

/// An entry and its position.
#[derive(Clone, Debug)]
pub struct PageEntry {
    /// Its id: that of its stamp, or how its place is quoted: `memory/2026-11-16.md#L8-L9`.
    pub id: String,
    /// The file.
    pub path: String,
    /// The kind of the file.
    pub kind: PageKind,
    /// Its content.
    pub unit: ParsedEntry,
}

/// All entries of a memory, as they were read.
#[derive(Debug, Default)]
pub struct EntryList {
    /// In the order of the files and of their lines.
    pub placed: Vec<PageEntry>,
    /// The files they are in.
    pub pages: Vec<FileSnapshot>,
    /// Files that could not be read, and why.
    pub skipped: Vec<(String, MarkdownStoreError)>,
    /// Whose memory it is: ZeroClaw itself writes entries under keys, and the newest counts.
    pub(crate) layout: Option<MarkdownLayout>,
}

impl MarkdownStore {
    /// Reads every entry of the memory.
    pub fn entries(&self) -> Result<EntryList, MarkdownStoreError> {
        self.entries_where(&|_, _| true)
    }

    /// Like [`entries`](Self::entries), but only for files that may contain a match, by their paths
    /// and texts: parsing a file costs far more than this check.
    pub(crate) fn entries_where(
        &self,
        may_have: &dyn Fn(&str, &str) -> bool,
    ) -> Result<EntryList, MarkdownStoreError> {
        Ok(self.entries_of(self.pages()?, may_have))
    }

    /// As [`entries_where`](Self::entries_where), of these files only.
    pub(crate) fn entries_of(
        &self,
        pages: Vec<(String, PageKind)>,
        may_have: &dyn Fn(&str, &str) -> bool,
    ) -> EntryList {
        let mut all = EntryList { layout: Some(self.layout()), ..EntryList::default() };
        let mut shelf = Shelf { site: self, folder: None };
        let table = self.stamps();
        for (path, kind) in pages {
            let bytes = match shelf.read(&path) {
                Ok(Some(bytes)) => bytes,
                // It was removed in the meantime.
                Ok(None) => continue,
                Err(error) => {
                    all.skipped.push((path, error));
                    continue;
                }
            };
            match decoded(&bytes) {
                Some(text) if !may_have(&path, &text) => continue,
                Some(text) => {
                    let found = known_units(&text, &table).into_iter();
                    let found = found.filter(|unit| !is_head(kind, unit));
                    all.placed.extend(found.map(|unit| PageEntry::new(&path, kind, unit)));
                }
                None => {
                    let error = MarkdownStoreError::NotText(PathBuf::from(&path));
                    all.skipped.push((path.clone(), error));
                }
            }
            let sha256 = digest(&bytes);
            all.pages.push(FileSnapshot { path, bytes, sha256 });
        }
        all.tell_apart();
        all
    }
}

/// Reads files one after the other, and keeps the folder open: most of them are in the folder of
/// the one before.
struct Shelf<'a> {
    site: &'a MarkdownStore,
    /// The folder of the last file, and the prefix of the paths in it.
    folder: Option<(String, Folder)>,
}

impl Shelf<'_> {
    fn read(&mut self, path: &str) -> Result<Option<Vec<u8>>, MarkdownStoreError> {
        let (start, name) = path.split_at(path.rfind('/').map_or(0, |at| at + 1));
        if self.folder.as_ref().is_none_or(|folder| folder.0 != start) {
            let found = self.site.find(path)?;
            self.folder = found.map(|found| (start.to_owned(), found.0));
        }
        let Some((_, folder)) = &self.folder else { return Ok(None) };
        let read =
            folder.read(name, MAX_FILE_BYTES).map_err(|error| self.site.fail(path, error))?;
        Ok(read.map(|read| read.bytes))
    }
}

impl EntryList {
    /// Names entries by their places where several have the same stamp: a person copied a line and
    /// changed it, and an operation on one of them must not affect the other.
    fn tell_apart(&mut self) {
        let stamps = self.placed.iter().filter_map(|placed| placed.unit.stamp.as_ref());
        let copied = repeated(stamps.map(|stamp| stamp.id));
        for it in &mut self.placed {
            if it.unit.stamp.as_ref().is_some_and(|stamp| copied.contains(&stamp.id)) {
                it.id = citation_of(&it.path, it.unit.lines);
            }
        }
    }

    /// Returns the citations of the entries that have the same stamp.
    pub(crate) fn places_of(&self, id: StampId) -> Vec<String> {
        let has_it =
            |entry: &&PageEntry| entry.unit.stamp.as_ref().is_some_and(|stamp| stamp.id == id);
        let placed = self.placed.iter().filter(has_it);
        placed.map(|placed| citation_of(&placed.path, placed.unit.lines)).collect()
    }

    /// Returns the live entries, the newest first. Archived entries are not live, but neither are
    /// the entries that they replaced.
    #[must_use]
    pub fn live(&self) -> Vec<&PageEntry> {
        let taken = taken(&self.placed);
        let mut sorted: Vec<&PageEntry> =
            self.placed.iter().filter(|placed| placed.kind != PageKind::Archived).collect();
        sorted.sort_by_key(|sorted| sorted.age());
        sorted.reverse();
        let mut met: HashSet<&str> = HashSet::new();
        // A superseded entry hides older entries of its key all the same.
        sorted.retain(|sorted| {
            let is_newest = !met.contains(sorted.key());
            // A bold word that a person wrote before several lines replaces none of them.
            if sorted.unit.stamp.is_some() || self.layout.is_some_and(|layout| layout.keys_replace)
            {
                met.insert(sorted.key());
            }
            is_newest && !sorted.is_superseded(&taken)
        });
        sorted
    }

    /// Returns the entry that replaced another: the newest one that names it, or that this program
    /// wrote later under the same key.
    #[must_use]
    pub(crate) fn successor_of(&self, old: &PageEntry) -> Option<&PageEntry> {
        let (age, key) = (old.age(), old.unit.key.as_deref());
        let text = old.unit.stamp.is_none().then(|| text_name(&old.unit.content));
        let id = old.unit.stamp.is_some().then_some(old.id.as_str());
        let takes_place = |entry: &&PageEntry| {
            let Some(stamp) = &entry.unit.stamp else { return false };
            let named = stamp.supersedes.as_deref();
            let is_newer = entry.age() > age;
            (named.is_some() && named == id)
                || (text.is_some() && named == text.as_deref() && entry.age() > age.earliest())
                || (is_newer && key.is_some() && (named == key || entry.unit.key.as_deref() == key))
        };
        self.placed.iter().filter(takes_place).max_by_key(|placed| placed.age())
    }

    /// Returns a file with the content that was read.
    #[must_use]
    pub fn page(&self, path: &str) -> Option<&FileSnapshot> {
        self.pages.iter().find(|page| page.path == path)
    }

    /// Returns the entries that a find of the index is about: those with words of the question,
    /// or all that it shows. An entry may have more lines than the find shows, see
    /// [`is_shown`](PageEntry::is_shown).
    #[must_use]
    pub fn of_hit(&self, hit: &Hit) -> Vec<&PageEntry> {
        let shown: Vec<&PageEntry> = self
            .placed
            .iter()
            .filter(|placed| placed.path == hit.path)
            .filter(|placed| placed.touches(hit.start_line as usize, hit.end_line as usize))
            .collect();
        let line_of = |at: usize| {
            let before = hit.text.as_bytes().get(..at).unwrap_or_default();
            hit.start_line as usize + before.iter().filter(|value| **value == b'\n').count()
        };
        let lines: Vec<usize> = hit.matches.iter().map(|found| line_of(found.start)).collect();
        let has_match = |entry: &PageEntry| lines.iter().any(|line| entry.touches(*line, *line));
        let told: Vec<&PageEntry> =
            shown.iter().copied().filter(|shown| has_match(shown)).collect();
        if told.is_empty() { shown } else { told }
    }
}

/// Returns what entries say that they take the place of.
pub(crate) fn taken(placed: &[PageEntry]) -> Taken<'_> {
    let mut taken = Taken::default();
    for it in placed {
        if let Some(name) = it.unit.stamp.as_ref().and_then(|stamp| stamp.supersedes.as_deref()) {
            taken.note(name, it.age());
        }
    }
    taken
}

impl PageEntry {
    pub(crate) fn new(path: &str, kind: PageKind, unit: ParsedEntry) -> Self {
        let id = match &unit.stamp {
            Some(stamp) => stamp.id.to_string(),
            None => citation_of(path, unit.lines),
        };
        Self { id, path: path.to_owned(), kind, unit }
    }

    /// Returns its key; an entry without a key is called by its id.
    #[must_use]
    pub fn key(&self) -> &str {
        self.unit.key.as_deref().unwrap_or(&self.id)
    }

    /// Returns the session in which it was written, where that is known.
    #[must_use]
    pub fn session(&self) -> Option<&str> {
        self.unit.stamp.as_ref()?.session.as_deref()
    }

    /// Returns the kind of entry: the one in its stamp, or else the one of its file.
    #[must_use]
    pub fn category(&self) -> Category {
        let said = self.unit.stamp.as_ref().and_then(|stamp| stamp.category.as_deref());
        match (said, self.kind) {
            (Some(word), _) => Category::from(word),
            (None, PageKind::Curated) => Category::Core,
            (None, _) => Category::Daily,
        }
    }

    /// Returns when it was written; without a stamp, when the day of its file began.
    #[must_use]
    pub fn written(&self) -> Option<Timestamp> {
        superseded::written(self.kind, &self.unit)
    }

    /// Returns what tells the newer of two.
    fn age(&self) -> Age<'_> {
        let stamp = self.unit.stamp.as_ref();
        Age {
            written: self.written(),
            uuid: stamp.and_then(|stamp| stamp.uuid),
            path: &self.path,
            line: self.unit.lines.0,
            id: stamp.map(|_| self.id.as_str()),
        }
    }

    /// Says whether another took its place.
    pub(crate) fn is_superseded(&self, taken: &Taken<'_>) -> bool {
        taken.has(self.unit.key.as_deref(), &self.age(), || text_name(&self.unit.content))
    }

    /// Whether a find of the index shows all of it.
    #[must_use]
    pub fn is_shown(&self, hit: &Hit) -> bool {
        self.path == hit.path && self.is_within(hit.start_line as usize, hit.end_line as usize)
    }

    /// Whether any of its lines is one of these.
    pub(crate) fn touches(&self, first: usize, last: usize) -> bool {
        self.unit.lines.0 <= last && self.unit.lines.1 >= first
    }

    /// Whether all of its lines are among these.
    pub(crate) fn is_within(&self, first: usize, last: usize) -> bool {
        first <= self.unit.lines.0 && self.unit.lines.1 <= last
    }

    /// Returns it as a memory hands it out.
    #[must_use]
    pub fn entry(&self) -> MemoryEntry {
        let stamp = self.unit.stamp.as_ref();
        let timestamp = match (stamp.and_then(|stamp| stamp.at.as_ref()), self.kind) {
            (Some(at), _) => at.to_string(),
            (None, PageKind::Daily(day) | PageKind::Session(day)) => day.to_string(),
            (None, _) => String::new(),
        };
        MemoryEntry {
            id: self.id.clone(),
            key: self.key().to_owned(),
            content: self.unit.content.clone(),
            category: self.category(),
            timestamp,
            session_id: self.session().map(str::to_owned),
            score: None,
            importance: self.unit.label.as_ref().map(|label| label.importance.get()),
            origin: stamp.and_then(|stamp| stamp.origin).map(|value| value.to_string()),
        }
    }
}

/// Returns what occurs more than once.
pub(crate) fn repeated<T: Eq + Hash + Clone>(all: impl Iterator<Item = T>) -> HashSet<T> {
    let mut met = HashSet::new();
    all.filter(|one| !met.insert(one.clone())).collect()
}

/// Returns the text of a file. A file that is not UTF-8 is read with one character for each byte,
/// like Latin-1, so that it can be split and put together again byte for byte; see [`encoded`].
/// `None` for a file with null bytes or a UTF-16 byte order mark, in which lines cannot be
/// recognised.
pub(crate) fn decoded(bytes: &[u8]) -> Option<Cow<'_, str>> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Some(Cow::Borrowed(text)),
        Err(_) if bytes.contains(&0) => None,
        Err(_) if bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff") => None,
        Err(_) => Some(bytes.iter().map(|byte| char::from(*byte)).collect()),
    }
}

/// Converts a part of the text from [`decoded`] back to bytes of the file.
pub(crate) fn encoded(file: &[u8], text: String) -> Vec<u8> {
    match std::str::from_utf8(file) {
        Ok(_) => text.into_bytes(),
        Err(_) => text.chars().map(|c| u8::try_from(c).unwrap_or(b'?')).collect(),
    }
}

/// Returns a file without some of its entries, and without the blank lines that would be left in
/// their place.
pub(crate) fn without(text: &str, gone: &[Range<usize>]) -> String {
    let (mut kept, rest) = cut_out(text, gone);
    // Where a blank line behind the last entry was taken, the one before it stays.
    let ends_text = gone.last().is_some_and(|range| range.end == text.len());
    if ends_text && kept.ends_with("\n\n") && !kept.trim_start().is_empty() {
        let heads_only =
            kept.trim_end().lines().all(|line| line.starts_with('#') || line.is_empty());
        if !heads_only {
            kept.pop();
        }
    }
    kept.push_str(rest);
    kept
}

/// Cuts entries out of a text. Returns the rest of the text up to the last of them, and the text
/// after that. An entry between two blank lines leaves one of them.
pub(crate) fn cut_out<'a>(text: &'a str, gone: &[Range<usize>]) -> (String, &'a str) {
    let mut kept = String::with_capacity(text.len());
    let mut at = 0;
    for range in gone {
        kept.push_str(text.get(at..range.start).unwrap_or_default());
        at = range.end.max(at);
        let rest = text.get(at..).unwrap_or_default();
        let stood_apart = kept.is_empty() || kept.ends_with("\n\n") || kept.ends_with("\r\n\r\n");
        if stood_apart {
            let blank = rest.strip_prefix("\r\n").or_else(|| rest.strip_prefix('\n'));
            at = blank.map_or(at, |rest| text.len() - rest.len());
        }
    }
    (kept, text.get(at..).unwrap_or_default())
}

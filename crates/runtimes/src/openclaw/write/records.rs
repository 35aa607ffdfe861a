//! Generates memory files from records.
//!
//! The records of one Markdown file, joined, are that file again. Others are grouped by subject and
//! get headings; metadata that their text does not show is written as tags and comments that
//! OpenClaw and its users know.

use std::collections::{BTreeMap, BTreeSet};
use std::io;

use anemone_format::{Moment, Record, RecordId, SnapshotSource, Status};
use anemone_markdown::{atx_heading, indentation};
use jiff::Timestamp;

use super::{one_line, split_records, split_records::cut};
use crate::kit::{
    FoundAgent, Machine, PlacedFile, PlanBuilder, PlanError, PlannedFile, RawPlace, RecordPlaces,
    SESSION, Spooler, UnwrittenRecords, each_record, keep_newest, plan,
};
use crate::openclaw::{RUNTIME, layout::MemoryKind};

/// A file that is assembled from more than one record does not grow longer than this; the next
/// record goes into another file. Readers load whole files.
const MAX_PAGE_BYTES: usize = 4 << 20;

/// A record on its way into a file; its content is in the spool.
struct NewRecord {
    line_start: Option<u64>,
    created_at: Timestamp,
    changed_at: Moment,
    id: RecordId,
    offset: u64,
    length: u64,
    /// Line feeds in the content.
    lines: u64,
    ends_line: bool,
    /// Where the text after the heading starts; 0 when there is no heading.
    body: usize,
    title: String,
    /// Whether the title is a name that no other record has.
    named: bool,
    /// Whether the record came from the file that it goes into.
    at_home: bool,
    labels: Labels,
}

/// Metadata of a record that its text does not show.
#[derive(Default)]
struct Labels {
    /// Lines of their own, before the text.
    comments: Vec<String>,
    /// Before the first line of the text, such as `- [decision|i=0.9] `.
    tag: Option<String>,
    /// After that line.
    suffix: Option<String>,
    /// Whether the text after the heading is one line.
    one_line_body: bool,
}

/// The text of a file while it is assembled.
#[derive(Default)]
pub(super) struct PageDraft {
    pub(super) path: String,
    pub(super) text: String,
    /// Where the text of each record begins.
    pub(super) spans: Vec<(usize, RecordId)>,
    pub(super) changed_at: Option<Moment>,
    /// The existing file, if nothing changes.
    pub(super) original: Option<PlannedFile>,
    /// Whether nothing can be added.
    closed: bool,
    /// Whether it has tables, in a file whose table rows are records.
    has_rows: bool,
}

/// A text that goes into a file.
pub(super) struct PageEntry {
    pub(super) id: RecordId,
    pub(super) text: String,
    pub(super) added: Vec<String>,
    pub(super) at: Moment,
}

impl PageDraft {
    /// Starts a file.
    fn new(path: String) -> Self {
        Self { path, ..Self::default() }
    }

    /// Takes the text that a file has, to add to it.
    pub(super) fn of(path: String, text: String, spans: Vec<(usize, RecordId)>) -> Self {
        let closed = split_records::swallows(&text);
        let has_rows = split_records::has_rows(&text);
        Self { text, spans, closed, has_rows, ..Self::new(path) }
    }

    /// Records that something in it changed.
    pub(super) fn changed(&mut self, at: &Moment) {
        keep_newest(&mut self.changed_at, Some(at));
    }

    /// Returns whether another record can be added.
    fn takes(&self, more: &str) -> bool {
        if self.text.is_empty() {
            return true;
        }
        let fits = !self.closed && self.text.len() + more.len() <= MAX_PAGE_BYTES;
        fits && match split_records::kind_of(&self.path) {
            // The whole file is one record.
            Some(MemoryKind::ActiveContext) => false,
            // Where there is a table, only its rows are records.
            Some(MemoryKind::Gating) => !self.has_rows && !split_records::has_rows(more),
            _ => true,
        }
    }

    fn push(&mut self, item: &PageEntry) {
        if !self.text.is_empty() {
            self.text.push_str(if self.text.ends_with('\n') { "\n" } else { "\n\n" });
        }
        self.spans.push((self.text.len(), item.id));
        self.text.push_str(&item.text);
        // What others append to the file starts on a line of its own.
        if !self.text.ends_with('\n') {
            self.text.push('\n');
        }
        self.changed(&item.at);
    }
}

/// Generates files from records.
pub(super) struct PageWriter {
    spool: Spooler,
    recent: bool,
    sheets: BTreeMap<String, Vec<NewRecord>>,
    /// Paths of existing files.
    taken: BTreeSet<String>,
    /// Files that records came from.
    pub(super) origins: BTreeSet<String>,
    /// What records became.
    pub(super) became: BTreeMap<RecordId, RecordPlaces>,
    /// Files that were generated.
    pub(super) placed: Vec<PlacedFile>,
    pub(super) lost: UnwrittenRecords,
    pub(super) records: u64,
}

impl PageWriter {
    /// Starts empty.
    pub(super) fn new(
        machine: &Machine,
        target: &FoundAgent,
        draft: &mut PlanBuilder,
    ) -> Result<Self, PlanError> {
        Ok(Self {
            spool: Spooler::of(machine, draft)?,
            recent: target.generation == Some("gen-9"),
            sheets: BTreeMap::new(),
            taken: BTreeSet::new(),
            origins: BTreeSet::new(),
            became: BTreeMap::new(),
            placed: Vec::new(),
            lost: UnwrittenRecords::default(),
            records: 0,
        })
    }

    /// Takes every record of a snapshot.
    pub(super) fn take_all(&mut self, source: &dyn SnapshotSource) -> Result<(), PlanError> {
        each_record(source, &mut |record| self.take(record, file_of(record)))
    }

    /// Takes a record that goes into the file at `path`.
    pub(super) fn take(&mut self, record: &Record, path: String) -> io::Result<()> {
        if *record.status.effective() == Status::Deleted {
            self.lost.deleted += 1;
            return Ok(());
        }
        if record.namespace == SESSION {
            self.lost.session += 1;
            return Ok(());
        }
        // Files of memories are shown to everyone, and a blank record is not read at all.
        if crate::kit::mapping::is_private(record) {
            self.lost.private += 1;
            return Ok(());
        }
        if record.source.runtime != RUNTIME && record.content.trim().is_empty() {
            self.lost.blank += 1;
            return Ok(());
        }
        self.origins.extend(record.source.origin_file.clone());
        let offset = self.spool.write(record.content.as_bytes())?;
        let part = NewRecord::new(record, &path, offset, self.recent);
        self.sheets.entry(path).or_default().push(part);
        self.records += 1;
        Ok(())
    }

    /// Keeps a text until it is needed.
    pub(super) fn spool(&mut self, text: &str) -> io::Result<(u64, u64)> {
        Ok((self.spool.write(text.as_bytes())?, text.len() as u64))
    }

    /// Returns a text that was kept.
    pub(super) fn spooled(&mut self, (offset, length): (u64, u64)) -> Result<String, PlanError> {
        self.spool.read_text(offset, length).map_err(PlanError::Scratch)
    }

    /// Returns whether records go into the file at a path.
    pub(super) fn wants(&self, path: &str) -> bool {
        self.sheets.contains_key(path)
    }

    /// Marks a path as taken.
    pub(super) fn reserve(&mut self, path: &str) {
        self.taken.insert(path.to_owned());
    }

    /// Writes the files of all records that were taken and not written yet.
    pub(super) fn write_all(&mut self, draft: &mut PlanBuilder) -> Result<(), PlanError> {
        let sheets = part_ways(std::mem::take(&mut self.sheets));
        self.taken.extend(sheets.keys().cloned());
        for (path, parts) in sheets {
            if parts.iter().all(|part| part.at_home) {
                self.join(path, parts, draft)?;
            } else {
                self.gather(PageDraft::new(path), Vec::new(), parts, draft)?;
            }
        }
        Ok(())
    }

    /// Appends texts, and the records that go into the file, to the content of a file.
    pub(super) fn append(
        &mut self,
        leaf: PageDraft,
        items: Vec<PageEntry>,
        draft: &mut PlanBuilder,
    ) -> Result<(), PlanError> {
        let parts = self.sheets.remove(&leaf.path).unwrap_or_default();
        self.gather(leaf, items, parts, draft)
    }

    /// Finishes; the rest of the spool goes to the draft.
    pub(super) fn finish(self, draft: &mut PlanBuilder) -> Result<(), PlanError> {
        draft.links.extend(self.became.into_iter().map(|(id, places)| (id, places.parts)));
        draft.records += self.records;
        draft.not_restored.extend(self.lost.notes());
        self.spool.finish(draft)
    }

    /// Joins records that came from the file that they go into.
    fn join(
        &mut self,
        path: String,
        mut parts: Vec<NewRecord>,
        draft: &mut PlanBuilder,
    ) -> Result<(), PlanError> {
        parts.sort_unstable_by_key(|part| (part.line_start, part.created_at, part.id));
        let mut leaf = PageDraft::new(path);
        for (index, part) in parts.iter().enumerate() {
            let content = self.spooled((part.offset, part.length))?;
            let item = part.item(&content, None);
            leaf.spans.push((leaf.text.len(), item.id));
            leaf.text.push_str(&item.text);
            leaf.changed(&item.at);
            self.became.entry(item.id).or_default().added = item.added;
            if let Some(next) = parts.get(index + 1) {
                leaf.text.push_str(line_feeds(part, next));
            }
        }
        self.write(&mut leaf, draft)
    }

    /// Writes texts one below the other, into as many files as necessary.
    fn gather(
        &mut self,
        mut leaf: PageDraft,
        items: Vec<PageEntry>,
        mut parts: Vec<NewRecord>,
        draft: &mut PlanBuilder,
    ) -> Result<(), PlanError> {
        parts.sort_unstable_by_key(|part| (part.created_at, part.line_start, part.id));
        let alone = items.len() + parts.len() == 1 && leaf.text.is_empty();
        let first = leaf.path.clone();
        for item in items {
            leaf = self.add(leaf, &first, item, alone, draft)?;
        }
        let whole = matches!(split_records::kind_of(&first), Some(MemoryKind::ActiveContext));
        for part in parts {
            let content = self.spooled((part.offset, part.length))?;
            // A file without headings is one record; a heading is only needed for a name of its
            // own.
            let bare = alone && !part.named || whole && leaf.text.is_empty();
            let heading = (part.body == 0 && !bare).then_some(part.title.as_str());
            let item = part.item(&content, heading);
            leaf = self.add(leaf, &first, item, alone || bare, draft)?;
        }
        self.write(&mut leaf, draft)
    }

    /// Adds a text to a file; returns the file that the next one goes into.
    fn add(
        &mut self,
        mut leaf: PageDraft,
        first: &str,
        mut item: PageEntry,
        alone: bool,
        draft: &mut PlanBuilder,
    ) -> Result<PageDraft, PlanError> {
        let added = std::mem::take(&mut item.added);
        self.became.entry(item.id).or_default().added = added;
        // Text after an open fence would become code, including what others add later.
        if !alone && split_records::swallows(&item.text) {
            let mut own = PageDraft::new(self.sibling(first));
            own.push(&item);
            self.write(&mut own, draft)?;
            return Ok(leaf);
        }
        if !leaf.takes(&item.text) {
            self.write(&mut leaf, draft)?;
            leaf = PageDraft::new(self.sibling(first));
        }
        leaf.push(&item);
        Ok(leaf)
    }

    /// Returns an unused path beside another.
    fn sibling(&mut self, path: &str) -> String {
        let stem = match path {
            "MEMORY.md" | "memory.md" => "memory/memory",
            _ => path.strip_suffix(".md").unwrap_or(path),
        };
        let mut number = 2_u64;
        loop {
            let sibling = format!("{stem}-part-{number}.md");
            if self.taken.insert(sibling.clone()) {
                return sibling;
            }
            number += 1;
        }
    }

    /// Writes a file, and records which record each piece of it will be.
    fn write(&mut self, leaf: &mut PageDraft, draft: &mut PlanBuilder) -> Result<(), PlanError> {
        let text = leaf.text.as_str();
        for cut in cut(&leaf.path, text) {
            let start = cut.text_start(text);
            let after = leaf.spans.partition_point(|(span, _)| *span <= start);
            let Some((_, id)) = after.checked_sub(1).map(|at| leaf.spans[at]) else { continue };
            let became = self.became.entry(id).or_default();
            if became.parts.is_empty() && cut.status != Status::Active {
                became.status = Some(cut.status.as_str().to_owned());
            }
            became.parts.push(cut.part(&leaf.path, text));
        }
        let original = leaf.original.take();
        if text.is_empty() {
            return Ok(());
        }
        let Some(changed_at) = leaf.changed_at.clone() else {
            draft.wanted.extend(original);
            return Ok(());
        };
        let start = self.spool.write(text.as_bytes()).map_err(PlanError::Scratch)?;
        let piece = self.spool.since(start);
        let path = leaf.path.clone().into_bytes();
        let mut wanted = PlannedFile::pieces(path, vec![piece], changed_at);
        wanted.mode = original.and_then(|original| original.mode).or(wanted.mode);
        draft.wanted.push(wanted);
        self.placed.push(PlacedFile::made(&leaf.path));
        Ok(())
    }
}

/// Untrusted records may name `memory/a.md` and `memory/a.md/b.md`: records of a path below a file
/// go into that file.
fn part_ways(sheets: BTreeMap<String, Vec<NewRecord>>) -> BTreeMap<String, Vec<NewRecord>> {
    let names: BTreeSet<String> = sheets.keys().cloned().collect();
    let mut kept: BTreeMap<String, Vec<NewRecord>> = BTreeMap::new();
    for (path, mut parts) in sheets {
        let above = path.match_indices('/').map(|(at, _)| &path[..at]);
        let home = above.into_iter().find(|above| names.contains(*above));
        if home.is_some() {
            parts.iter_mut().for_each(|part| part.at_home = false);
        }
        let path = home.map_or_else(|| path.clone(), str::to_owned);
        kept.entry(path).or_default().append(&mut parts);
    }
    kept
}

/// Returns the file that a record goes into.
pub(super) fn file_of(record: &Record) -> String {
    if let Some(file) = record.source.origin_file.as_deref().filter(|file| is_memory_file(file)) {
        return file.to_owned();
    }
    let temporal = &record.temporal;
    match record.namespace.as_str() {
        "daily" => {
            let at = temporal.observed_at.as_ref().unwrap_or(&temporal.created_at);
            format!("memory/{}.md", at.utc_date())
        }
        "curated" | "core" => "MEMORY.md".to_owned(),
        "active-context" => "memory/active-context.md".to_owned(),
        "procedural" => "memory/gating-policies.md".to_owned(),
        "facts" => "memory/facts.md".to_owned(),
        "project" => {
            let is_project = |entity: &&anemone_format::Entity| {
                *entity.kind.effective() == anemone_format::EntityKind::Project
            };
            let project =
                record.entities.iter().find(is_project).map(|entity| entity.name.as_str());
            let name = project.or(record.category.as_deref()).unwrap_or("imported");
            format!("memory/project-{}.md", slug(name))
        }
        other => format!("memory/{}.md", slug(other.strip_prefix("custom:").unwrap_or(other))),
    }
}

/// Returns whether OpenClaw reads memories from a path, and whether it stays in the workspace.
pub(super) fn is_memory_file(path: &str) -> bool {
    let plain = |part: &str| !part.is_empty() && part != "." && part != ".." && part.len() <= 200;
    let safe = path.len() <= 1024
        && !path.contains(['\\', ':'])
        && !path.chars().any(char::is_control)
        && path.split('/').all(plain);
    let read = matches!(path, "MEMORY.md" | "memory.md")
        || (path.starts_with("memory/") && path.ends_with(".md"));
    safe && read && path.split('/').count() < plan::MAX_DEPTH
}

/// Returns a name for a file: letters and digits, with hyphens between.
fn slug(text: &str) -> String {
    let mut slug = String::new();
    for c in text.to_lowercase().chars().take(64) {
        if c.is_alphanumeric() || c == '_' {
            slug.push(c);
        } else if !slug.is_empty() && !slug.ends_with('-') {
            slug.push('-');
        }
    }
    let slug = slug.trim_end_matches('-');
    if slug.is_empty() { "imported".to_owned() } else { slug.to_owned() }
}

impl NewRecord {
    fn new(record: &Record, path: &str, offset: u64, recent: bool) -> Self {
        let place = RawPlace::of(record);
        let text = |value: &serde_json::Value| {
            value.as_str().map(one_line).filter(|value| !value.is_empty())
        };
        let key = text(&place.key);
        let content = record.content.as_str();
        let body = heading_end(content);
        let named = key.is_some();
        let title = key.or_else(|| text(&place.heading)).unwrap_or_else(|| title_of(content));
        let line_start = place.line_start.as_u64();
        let from_here = record.source.origin_file.as_deref() == Some(path);
        // A record with a key was an entry of a list, and its content alone is not the original
        // text.
        let at_home = from_here && line_start.is_some() && !named;
        Self {
            line_start,
            created_at: record.temporal.created_at.instant(),
            changed_at: changed_at(record).clone(),
            id: record.id,
            offset,
            length: content.len() as u64,
            lines: memchr::memchr_iter(b'\n', content.as_bytes()).count() as u64,
            ends_line: content.ends_with('\n'),
            body,
            title,
            named,
            at_home,
            labels: Labels::of(record, path, &content[body..], at_home, recent),
        }
    }

    /// Generates the text: the content, with a heading if there is one, and metadata that the
    /// content does not show.
    fn item(&self, content: &str, heading: Option<&str>) -> PageEntry {
        let Labels { comments, tag, suffix, one_line_body } = &self.labels;
        let (own_heading, body) = content.split_at(if heading.is_some() { 0 } else { self.body });
        let mut text = own_heading.to_owned();
        let mut before = heading.map(|heading| format!("## {heading}\n\n")).unwrap_or_default();
        for comment in comments {
            before.push_str(comment);
            before.push('\n');
        }
        let mut added = Vec::new();
        if let Some(tag) = tag {
            before.push_str(tag);
            let suffix = suffix.as_deref().unwrap_or_default();
            if *one_line_body {
                // The text itself becomes the tagged line.
                text.push_str(&before);
                text.push_str(body.strip_suffix('\n').unwrap_or(body));
                text.push_str(suffix);
                text.push('\n');
                added.extend([before, suffix.to_owned()]);
            } else {
                before.push_str(&format!("{}{suffix}\n\n", self.title));
                text.push_str(&before);
                text.push_str(body);
                added.push(before);
            }
        } else {
            text.push_str(&before);
            text.push_str(body);
            added.push(before);
        }
        added.retain(|added| !added.is_empty());
        PageEntry { id: self.id, text, added, at: self.changed_at.clone() }
    }
}

impl Labels {
    fn of(record: &Record, path: &str, body: &str, at_home: bool, recent: bool) -> Self {
        let content = record.content.as_str();
        let mut labels = Self::default();
        let line = body.strip_suffix('\n').unwrap_or(body);
        // A line that starts another construct than a paragraph would change its meaning in a list.
        let starts = ['#', '-', '*', '+', '>', '|', '`', '~', '<', ' ', '\t'];
        labels.one_line_body =
            !line.is_empty() && !line.contains('\n') && !line.starts_with(starts);
        let superseded = match record.status.effective() {
            Status::Superseded => Some("superseded"),
            Status::Archived => Some("archived"),
            _ => None,
        };
        let shows_status =
            superseded.is_none_or(|superseded| content.contains(&format!("status: {superseded}")));
        let observed =
            record.temporal.observed_at.as_ref().map(|observed| observed.utc_date().to_string());
        // What was read from this file is in its text, maybe in words that we do not know.
        let shows_observed = at_home
            || observed
                .as_ref()
                .is_none_or(|observed| path.contains(observed) || content.contains(observed));
        if !shows_status || !shows_observed {
            let mut fields = Vec::new();
            if let Some(date) = &observed {
                fields.push(format!("observed: {date}"));
            }
            fields.push(format!("status: {}", superseded.unwrap_or("active")));
            labels.comments.push(format!("<!-- {} -->", fields.join(" | ")));
        }
        for name in ["trigger", "project"] {
            labels.annotation(record, name);
        }
        labels.importance(record, recent);
        labels
    }

    /// Writes tags such as `trigger:gateway setup` as the comment that OpenClaw reads.
    fn annotation(&mut self, record: &Record, name: &str) {
        let values: Vec<String> = record
            .tags
            .iter()
            .filter_map(|tag| tag.strip_prefix(name)?.strip_prefix(':'))
            .map(|value| one_line(&value.replace("--", "-")))
            .filter(|value| !value.is_empty())
            .collect();
        let opening = format!("<!-- {name}:");
        if !values.is_empty() && !record.content.contains(&opening) {
            self.comments.push(format!("{opening} {} -->", values.join(", ")));
        }
    }

    fn importance(&mut self, record: &Record, recent: bool) {
        let content = record.content.as_str();
        // The file's name already shows the shelf. Unrated records have half of the maximum.
        let category =
            record.category.as_deref().filter(|category| !repeats_namespace(record, category));
        let word = category.map(tag_word).filter(|value| !value.is_empty());
        let shown = |word: &String| content.contains(&format!("[{word}|i="));
        let word = word.filter(|word| !shown(word));
        let shows_score = content.contains("|i=") || content.contains("importance:");
        let rated = |value: &f64| value.is_finite() && (*value != UNRATED || category.is_some());
        let score = record.confidence.filter(|confidence| rated(confidence) && !shows_score);
        let score = score.map(|score| score.clamp(0.0, 1.0));
        // OpenClaw's importance goes from 1 to 10.
        let rank = score.map(|score| (score * 10.0).round().clamp(1.0, 10.0));
        match (word, score, rank) {
            (Some(word), Some(score), Some(rank)) => {
                self.tag = Some(format!("- [{word}|i={score}] "));
                self.suffix = recent.then(|| format!(" <!-- importance: {rank} -->"));
            }
            (Some(word), _, _) => self.comments.push(format!("<!-- category: {word} -->")),
            (None, _, Some(rank)) => self.comments.push(format!("<!-- importance: {rank} -->")),
            (None, _, None) => {}
        }
    }
}

/// ZeroClaw's importance of unrated entries.
const UNRATED: f64 = 0.5;

/// Returns whether a category only repeats the namespace.
fn repeats_namespace(record: &Record, category: &str) -> bool {
    let namespace = record.namespace.as_str();
    namespace.strip_prefix("custom:").unwrap_or(namespace) == category
}

/// Returns when a record last changed.
pub(super) fn changed_at(record: &Record) -> &Moment {
    record.temporal.updated_at.as_ref().unwrap_or(&record.temporal.created_at)
}

/// Returns a category as one word, as tags have it.
fn tag_word(text: &str) -> String {
    let word: String = text
        .trim()
        .chars()
        .take(64)
        .map(|c| if c.is_alphanumeric() || c == '_' { c } else { '_' })
        .collect();
    if word.chars().all(|c| c == '_') { String::new() } else { word }
}

/// Returns where the text after a heading of the second level starts; 0 when there is none.
pub(super) fn heading_end(content: &str) -> usize {
    let start = content.len() - content.trim_start_matches(['\n', '\r']).len();
    let line = &content[start..];
    let end = line.find('\n').map_or(line.len(), |at| at + 1);
    let (indent, body) = indentation(line[..end].trim_end());
    if indent > 3 || atx_heading(body).is_none_or(|(level, _)| level != 2) {
        return 0;
    }
    // A blank line after it is part of it, so that additions are next to the text.
    let after = &content[start + end..];
    let blank = after.len() - after.trim_start_matches(['\n', '\r']).len();
    start + end + blank
}

/// Returns a heading for a text that has none: its first line, without its marks.
fn title_of(content: &str) -> String {
    const MAX_CHARS: usize = 72;
    let line = content.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    let mut line = line.trim_start_matches(['#', '-', '*', '+', '>', ' ']);
    // A tag such as `[decision|i=0.9]` belongs to its line, not to the heading.
    if let Some((tag, rest)) = line.strip_prefix('[').and_then(|rest| rest.split_once(']'))
        && tag.contains("|i=")
    {
        line = rest;
    }
    let line = one_line(line);
    if line.is_empty() {
        return "Untitled".to_owned();
    }
    if line.chars().count() <= MAX_CHARS {
        return line;
    }
    let short: String = line.chars().take(MAX_CHARS - 1).collect();
    format!("{}…", short.trim_end())
}

impl Labels {
    /// Returns whether a line feed was added after the text.
    fn ends_line(&self) -> bool {
        self.tag.is_some() && self.one_line_body
    }
}

/// Returns the original text between two records of one file: usually nothing. Some tools omit the
/// blank lines after a section; the line numbers show how many there were.
fn line_feeds(part: &NewRecord, next: &NewRecord) -> &'static str {
    let end = part.line_start.unwrap_or(0).saturating_add(part.lines);
    let missing = next.line_start.unwrap_or(0).saturating_sub(end);
    // A gap of more lines is a record that no longer exists.
    let count = match (part.ends_line || part.labels.ends_line(), missing) {
        (true, 0) => 0,
        (true, _) => 1,
        (false, 0 | 1) => 1,
        (false, 2) => 2,
        (false, _) => 3,
    };
    &"\n\n\n"[..count]
}

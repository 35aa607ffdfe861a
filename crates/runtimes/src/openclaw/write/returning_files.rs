//! Restores the workspace of an agent that returns from another runtime.
//!
//! The text of a changed memory is replaced in its file, a forgotten one is removed, and a new one
//! is appended; every other byte of the file stays.

use std::collections::{BTreeMap, BTreeSet, HashSet, VecDeque};
use std::io::{self, Read as _};
use std::path::Path;

use anemone_format::{
    Credentials, FileRoot, Moment, Record, RecordId, SnapshotSource, SourceKind, Status,
};

use super::records::{PageDraft, PageEntry, PageWriter, changed_at, file_of, heading_end};
use super::store_folder::{self, StoreFate};
use super::{FilePlaces, one_line, split_records, split_records::cut};
use crate::kit::{
    FoundAgent, LinkPart, MAX_TEXT_BYTES, Machine, NotRestored, NotRestoredKind, PlacedFile,
    PlanBuilder, PlanError, PlannedFile, RecordChange, RecordPlaces, ReturningSnapshot, SESSION,
    SIDECAR, Warning, brief_line, digest_of, each_record, is_in_sidecar, keep_newest, name_of,
    spelled,
};
use crate::openclaw::lancedb::is_of_store;
use crate::openclaw::{RUNTIME, layout::FACTS, layout::MemoryKind};

/// Records that are named one by one, at most.
const MAX_NAMED: usize = 20;

/// A change to a record.
struct Edit {
    /// The digest of its original text.
    was: String,
    /// Its current text, in the spool; `None` when it was forgotten.
    now: Option<(u64, u64)>,
    /// The word for its status, if it is no longer in force.
    ended: Option<&'static str>,
    at: Moment,
}

/// Adds the credentials that another runtime has. The snapshot only names its own; of two with the
/// same name, the other runtime's counts.
pub(super) fn add_credentials(credentials: &mut Option<Credentials>, now: Option<Credentials>) {
    let Some(mut now) = now else { return };
    match credentials {
        None => *credentials = Some(now),
        Some(there) => {
            let known: BTreeSet<(String, Option<String>)> = now
                .credentials
                .iter()
                .map(|credential| (credential.service.clone(), credential.label.clone()))
                .collect();
            there.credentials.retain(|credential| {
                !known.contains(&(credential.service.clone(), credential.label.clone()))
            });
            there.credentials.append(&mut now.credentials);
        }
    }
}

/// Restores a workspace.
pub(super) fn put_back(
    machine: &Machine,
    source: &dyn SnapshotSource,
    returned: &ReturningSnapshot<'_>,
    target: &FoundAgent,
    store: StoreFate,
    draft: &mut PlanBuilder,
) -> Result<(), PlanError> {
    let mut back = ReturnPlanner {
        source,
        returned,
        pages: PageWriter::new(machine, target, draft)?,
        homes: FilePlaces::default(),
        workspace: &target.workspace,
        files: BTreeMap::new(),
        edits: BTreeMap::new(),
        lost: Vec::new(),
        unwritten: BTreeSet::new(),
        unknown_files: 0,
        has_files: false,
        store,
    };
    back.look_at_files();
    if !back.has_files {
        let identity = returned.identity().map_err(PlanError::Source)?;
        back.homes.documents(returned, identity.as_ref(), draft)?;
        back.homes.placed.clear();
    }
    back.look_at_records()?;
    let patched = back.patch(draft)?;
    back.files(&patched, draft);
    back.pages.write_all(draft)?;
    back.homes.claim_all(draft);
    back.strangers(draft);
    back.note_lost(draft);
    back.finish(machine, draft)
}

struct ReturnPlanner<'a> {
    source: &'a dyn SnapshotSource,
    returned: &'a ReturningSnapshot<'a>,
    pages: PageWriter,
    homes: FilePlaces,
    /// The workspace to which the agent comes back.
    workspace: &'a Path,
    /// Files of memories, by path.
    files: BTreeMap<String, usize>,
    /// Changes to records, by file.
    edits: BTreeMap<String, BTreeMap<RecordId, Edit>>,
    /// Records whose change cannot be put into their file, and why.
    lost: Vec<(String, &'static str)>,
    unwritten: BTreeSet<RecordId>,
    unknown_files: u64,
    /// Whether the snapshot has files of this runtime; otherwise they are generated from its
    /// records.
    has_files: bool,
    /// What becomes of the store of memories beside the workspace.
    store: StoreFate,
}

impl ReturnPlanner<'_> {
    fn look_at_files(&mut self) {
        for (index, file) in self.returned.files().iter().enumerate() {
            let Ok(path) = std::str::from_utf8(&file.path) else { continue };
            self.pages.reserve(path);
            let ours = file.root == FileRoot::Raw(RUNTIME.to_owned());
            self.has_files |= ours;
            let readable =
                matches!(file.kind, SourceKind::File { size, .. } if size <= MAX_TEXT_BYTES);
            if ours && readable && split_records::kind_of(path).is_some() {
                self.files.insert(path.to_owned(), index);
            }
        }
    }

    /// Determines what happened to each record.
    fn look_at_records(&mut self) -> Result<(), PlanError> {
        let read = PlanError::Source;
        let returned = self.returned;
        if returned.has_changes() {
            let forgotten_at = &self.source.manifest().created_at;
            let (edits, lost, unwritten) = (&mut self.edits, &mut self.lost, &mut self.unwritten);
            let files = &self.files;
            let walked = returned.each_original(&mut |record| {
                let fate = returned.fate(record.id);
                if !matches!(fate, Some(RecordChange::Changed | RecordChange::Forgotten)) {
                    return Ok(());
                }
                let file = record.source.origin_file.clone().unwrap_or_default();
                if files.contains_key(&file) {
                    let edit = Edit {
                        was: digest_of(&record.content),
                        now: None,
                        ended: None,
                        at: forgotten_at.clone(),
                    };
                    edits.entry(file).or_default().insert(record.id, edit);
                } else if file == FACTS {
                    let why = match fate {
                        Some(RecordChange::Changed) => {
                            "the fact in the database is still the old one"
                        }
                        _ => "the fact was forgotten, and is still in the database",
                    };
                    unwritten.insert(record.id);
                    lost.push((brief(record), why));
                } else if fate == Some(RecordChange::Forgotten) && !file.is_empty() {
                    lost.push((brief(record), "it was forgotten, and no file here holds it"));
                }
                Ok(())
            });
            walked.map_err(read)?;
        }
        each_record(returned, &mut |record| self.look_at(record))
    }

    fn look_at(&mut self, record: &Record) -> io::Result<()> {
        let fate = self.returned.fate(record.id);
        let file = record.source.origin_file.as_deref().unwrap_or_default();
        match fate {
            Some(RecordChange::Changed) => {
                if let Some(edit) =
                    self.edits.get_mut(file).and_then(|edits| edits.get_mut(&record.id))
                {
                    edit.now = Some(self.pages.spool(&record.content)?);
                    edit.at = changed_at(record).clone();
                    edit.ended = match record.status.effective() {
                        Status::Superseded => Some("superseded"),
                        Status::Archived => Some("archived"),
                        _ => None,
                    };
                    self.pages.records += 1;
                    return Ok(());
                }
                self.pages.take(record, home_of(record))
            }
            Some(_) if !self.has_files => self.pages.take(record, file_of(record)),
            Some(_) => {
                if *record.status.effective() == Status::Deleted {
                    self.pages.lost.deleted += 1;
                } else if self.files.contains_key(file) || file == FACTS {
                    self.pages.records += 1;
                } else if is_of_store(record.source.origin_file.as_deref()) {
                    // Those in the store were counted with it.
                    match self.store {
                        StoreFate::Absent => return self.pages.take(record, file_of(record)),
                        StoreFate::Kept => {
                            self.unwritten.insert(record.id);
                        }
                        StoreFate::InStore => {}
                    }
                } else if record.namespace == SESSION {
                    self.pages.lost.session += 1;
                } else {
                    self.pages.lost.other += 1;
                }
                Ok(())
            }
            None => self.pages.take(record, home_of(record)),
        }
    }

    /// Writes the files of memories with changed records; returns their paths.
    fn patch(&mut self, draft: &mut PlanBuilder) -> Result<BTreeSet<String>, PlanError> {
        let mut patched = BTreeSet::new();
        let files: Vec<(String, usize)> =
            self.files.iter().map(|(path, index)| (path.clone(), *index)).collect();
        for (path, index) in files {
            let edits = self.edits.remove(&path).unwrap_or_default();
            if edits.is_empty() && !self.pages.wants(&path) {
                continue;
            }
            let Some(text) = self.text_of(index)? else {
                self.unknown_files += 1;
                self.unwritten.extend(edits.into_keys());
                continue;
            };
            self.patch_file(&path, index, &text, edits, draft)?;
            patched.insert(path);
        }
        Ok(patched)
    }

    fn text_of(&self, index: usize) -> Result<Option<String>, PlanError> {
        let mut bytes = Vec::new();
        let content = self.returned.content(index).map_err(PlanError::Source)?;
        content.take(MAX_TEXT_BYTES + 1).read_to_end(&mut bytes).map_err(PlanError::Source)?;
        Ok(String::from_utf8(bytes).ok().filter(|text| text.len() as u64 <= MAX_TEXT_BYTES))
    }

    fn patch_file(
        &mut self,
        path: &str,
        index: usize,
        text: &str,
        mut edits: BTreeMap<RecordId, Edit>,
        draft: &mut PlanBuilder,
    ) -> Result<(), PlanError> {
        let rows = split_records::kind_of(path) == Some(MemoryKind::Gating)
            && split_records::has_rows(text);
        let cuts = cut(path, text);
        let mut result = String::with_capacity(text.len());
        let mut spans = Vec::new();
        // Texts that would hide what follows them go elsewhere.
        let mut items: Vec<PageEntry> = Vec::new();
        let mut newest: Option<Moment> = None;
        let mut kept = 0;
        for (at, piece) in cuts.iter().enumerate() {
            let old = &text[piece.start..piece.end];
            let is_it = edits.get(&piece.id).is_some_and(|edit| edit.was == digest_of(old));
            let edit = is_it.then(|| edits.remove(&piece.id)).flatten();
            let Some(edit) = edit else {
                spans.push((result.len(), piece.id));
                result.push_str(old);
                kept += 1;
                continue;
            };
            keep_newest(&mut newest, Some(&edit.at));
            let Some(now) = edit.now else {
                if rows {
                    result.push_str(&without_row(old, at == 0));
                }
                continue;
            };
            let now = self.pages.spooled(now)?;
            let new = if rows {
                replaced_row(old, &now, edit.ended, at == 0)
            } else {
                replaced(old, &with_status(&now, edit.ended))
            };
            kept += 1;
            if at + 1 < cuts.len()
                && !rows
                && split_records::swallows(&new)
                && !split_records::swallows(old)
            {
                let text = new.trim().to_owned();
                items.push(PageEntry { id: piece.id, text, added: Vec::new(), at: edit.at });
                continue;
            }
            spans.push((result.len(), piece.id));
            result.push_str(&new);
        }
        for (id, edit) in edits {
            if edit.now.is_some() {
                self.unwritten.insert(id);
                self.lost.push((path.to_owned(), "its file changed as well, and counts"));
            }
        }
        if kept == 0 && !cuts.is_empty() {
            (result, spans) = (String::new(), Vec::new());
            if items.is_empty() && !self.pages.wants(path) {
                let stays = fs_err::symlink_metadata(self.workspace.join(path)).is_ok();
                let reason = if stays {
                    "everything in it was forgotten; the existing file is kept"
                } else {
                    "everything in it was forgotten"
                };
                draft.omit(NotRestoredKind::File, path, reason);
                return Ok(());
            }
        }
        spans.iter_mut().for_each(|(start, _)| {
            *start += result[*start..].len() - result[*start..].trim_start().len();
        });
        let mut leaf = PageDraft::of(path.to_owned(), result, spans);
        let file = &self.returned.files()[index];
        leaf.original = Some(PlannedFile::carried(self.returned.position(index), file));
        if let Some(at) = newest {
            leaf.changed(&at);
        }
        self.pages.append(leaf, items, draft)
    }

    /// Restores every other file.
    fn files(&mut self, patched: &BTreeSet<String>, draft: &mut PlanBuilder) {
        let is_patched =
            |path: &[u8]| std::str::from_utf8(path).is_ok_and(|path| patched.contains(path));
        for (index, file) in self.returned.files().iter().enumerate() {
            if store_folder::is_store_file(file) {
                continue;
            }
            let foreign = matches!(&file.root, FileRoot::Raw(runtime) if runtime != RUNTIME);
            if foreign || file.root == FileRoot::Other {
                let reason = "the snapshot does not say where it belongs";
                draft.omit(NotRestoredKind::File, crate::kit::paths::lossy(&file.path), reason);
                continue;
            }
            if !is_patched(&file.path) {
                draft.wanted.push(PlannedFile::carried(self.returned.position(index), file));
            }
        }
        // Files that were copied into the other workspace itself belong to that runtime's snapshot
        // too.
        for position in (0..self.returned.files().len()).map(|value| self.returned.position(value))
        {
            let file = &self.source.files()[position];
            if !is_in_sidecar(&file.path) {
                self.homes.placed.push(PlacedFile::of(file));
            }
        }
    }

    /// Puts files of the other runtime where they have the same meaning.
    fn strangers(&mut self, draft: &mut PlanBuilder) {
        for index in self.returned.strangers() {
            let file = &self.source.files()[index];
            self.homes.find(index, file, &self.pages, draft);
        }
    }

    fn note_lost(&mut self, draft: &mut PlanBuilder) {
        draft.unwritten.append(&mut self.unwritten);
        let more = self.lost.len().saturating_sub(MAX_NAMED);
        for (name, why) in self.lost.drain(..).take(MAX_NAMED) {
            let reason = why.to_owned();
            draft.omit(NotRestoredKind::Record, name, reason);
        }
        if more > 0 {
            let reason = format!("{more} more like these");
            draft.not_restored.push(NotRestored::new(NotRestoredKind::Records, reason));
        }
        if self.unknown_files > 0 {
            draft.warnings.push(Warning::new(
                "not_utf8",
                format!(
                    "{} files hold memories that changed, and cannot be changed themselves",
                    self.unknown_files
                ),
            ));
        }
    }

    /// Keeps what only the other runtime can hold, if there is anything.
    fn finish(mut self, machine: &Machine, draft: &mut PlanBuilder) -> Result<(), PlanError> {
        let files = self.source.files();
        let matters = |index: &usize| {
            let file = &files[*index];
            // Files with this prefix are Anemone's, and only describe other files.
            file.kind != SourceKind::Folder && !file.path.starts_with(b".alf-")
        };
        let needed = self.returned.has_news() || self.homes.aside.iter().any(matters);
        let mut became = self.pages.became.clone();
        self.pages.finish(draft)?;
        if !needed {
            return Ok(());
        }
        let before = draft.wanted.len();
        draft.wanted.retain(|file| !is_in_sidecar(&file.path));
        if draft.wanted.len() < before {
            draft.omit(NotRestoredKind::Files, SIDECAR, "replaced by a newer one");
        }
        // All of the other runtime's files, so that it is complete again when the agent moves back
        // there.
        let placed: HashSet<String> =
            self.homes.placed.iter().map(|placed| placed.path.clone()).collect();
        let aside: HashSet<usize> = self.homes.aside.iter().copied().collect();
        self.homes.aside.extend(files.iter().enumerate().filter_map(|(index, file)| {
            let is_other = matches!(&file.root, FileRoot::Raw(runtime) if runtime != RUNTIME);
            let is_ours = is_in_sidecar(&file.path);
            let is_known = aside.contains(&index) || placed.contains(&spelled(&file.path));
            let is_of_store = store_folder::is_store_file(file);
            (is_other && !is_ours && !is_known && !is_of_store).then_some(index)
        }));
        // The sidecar refers to the other runtime's records.
        let mut links: BTreeMap<RecordId, RecordPlaces> = BTreeMap::new();
        let returned = self.returned;
        let walked = returned.each_original(&mut |record| {
            let mut natives = returned.natives(record.id).iter();
            let Some(first) = natives.next() else { return Ok(()) };
            let there = became.remove(&record.id).filter(|became| !became.parts.is_empty());
            let same = || {
                let file = record.source.origin_file.as_deref();
                let part = LinkPart::new(file, name_of(record).as_deref(), &record.content);
                let held = record.namespace != SESSION;
                RecordPlaces {
                    parts: held.then_some(part).into_iter().collect(),
                    ..RecordPlaces::default()
                }
            };
            links.insert(*first, there.unwrap_or_else(same));
            links.extend(natives.map(|id| (*id, RecordPlaces::default())));
            Ok(())
        });
        walked.map_err(PlanError::Source)?;
        links.extend(became.into_iter().map(|(id, became)| (returned.native_of(id), became)));
        self.homes.keep(machine, self.source, links, draft)
    }
}

/// Returns the file for a record that is new to this runtime.
fn home_of(record: &Record) -> String {
    if record.source.runtime == RUNTIME {
        return file_of(record);
    }
    let mut record = record.clone();
    record.source.origin_file = None;
    file_of(&record)
}

/// Names a record for people.
fn brief(record: &Record) -> String {
    brief_line(record.content.lines().find(|line| !line.trim().is_empty()).unwrap_or(""))
}

/// Replaces an old text with a new one: the blank lines around it stay, and so does its heading
/// when the new text has none.
fn replaced(old: &str, new: &str) -> String {
    let before = &old[..old.len() - old.trim_start().len()];
    let after = &old[old.trim_end().len().max(before.len())..];
    let new = new.trim();
    let heading = heading_end(old);
    if heading > 0 && heading_end(new) == 0 {
        let heading = &old[..heading];
        let gap = if heading.ends_with(['\n', '\r']) { "" } else { "\n\n" };
        return [heading, gap, new, after].concat();
    }
    [before, new, after].concat()
}

/// Adds the comment that a text is no longer in force, unless the text already says so.
fn with_status(text: &str, ended: Option<&'static str>) -> String {
    let Some(word) = ended.filter(|word| !text.contains(&format!("status: {word}"))) else {
        return text.to_owned();
    };
    let (heading, body) = text.split_at(heading_end(text));
    let gap = if heading.is_empty() || heading.ends_with('\n') { "" } else { "\n\n" };
    format!("{heading}{gap}<!-- status: {word} -->\n{body}")
}

/// Replaces the row in a piece of a table. The new row is one line, whatever the text is, because a
/// line break would end the table. The text before and after the row stays.
fn replaced_row(old: &str, new: &str, ended: Option<&'static str>, first: bool) -> String {
    let lines: Vec<&str> = old.split_inclusive('\n').collect();
    let Some(at) = row_of(&lines, first) else { return replaced(old, &with_status(new, ended)) };
    let (head, row, tail) = (&lines[..at], lines[at], &lines[at + 1..]);
    let words = |lines: &[&str]| -> VecDeque<String> {
        let lines = lines.iter().map(|line| line.trim()).filter(|value| !value.is_empty());
        lines.map(str::to_owned).collect()
    };
    let new: Vec<&str> = new.lines().collect();
    let (mut new, mut head_lines, mut tail_lines) = (words(&new), words(head), words(tail));
    while !head_lines.is_empty() && new.front() == head_lines.front() {
        new.pop_front();
        head_lines.pop_front();
    }
    while new.len() > 1 && !tail_lines.is_empty() && new.back() == tail_lines.back() {
        new.pop_back();
        tail_lines.pop_back();
    }
    let text = one_line(&new.into_iter().collect::<Vec<_>>().join(" "));
    let mut cells = match text.strip_prefix('|') {
        Some(rest) => rest.strip_suffix('|').unwrap_or(rest).trim().to_owned(),
        None => text.replace('|', "\\|"),
    };
    if let Some(word) = ended.filter(|word| !cells.contains(&format!("status: {word}"))) {
        cells.push_str(&format!(" <!-- status: {word} -->"));
    }
    let end = &row[row.trim_end_matches(['\r', '\n']).len()..];
    [&head.concat(), "| ", &cells, " |", end, &tail.concat()].concat()
}

/// Returns which line of a piece of a table is its row. The first piece of a table begins with what
/// precedes the row, the header included.
fn row_of(lines: &[&str], first: bool) -> Option<usize> {
    let is_rule = |line: &&str| {
        line.contains('-')
            && line.contains('|')
            && line.trim().chars().all(|c| matches!(c, '|' | '-' | ':' | ' ' | '\t'))
    };
    let has_header = first || split_records::has_rows(&lines.concat());
    let at = if has_header { lines.iter().position(is_rule)? + 1 } else { 0 };
    (at < lines.len()).then_some(at)
}

/// Removes the row from a piece of a table.
fn without_row(piece: &str, first: bool) -> String {
    let mut lines: Vec<&str> = piece.split_inclusive('\n').collect();
    if let Some(at) = row_of(&lines, first) {
        lines.remove(at);
    }
    lines.concat()
}

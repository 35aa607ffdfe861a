//! Memory files made from records.
//!
//! Records that came out of one Markdown file are that file again when they are joined. Others are
//! gathered by what they are about; they get headings, and what their text does not show of them
//! is written as tags and comments that OpenClaw and its users know.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, BufWriter, Write as _};

use anemone_format::{Moment, Record, RecordId, Status};
use jiff::Timestamp;
use serde::Deserialize;

use super::{Lost, SESSION, one_line};
use crate::adapter::{FoundAgent, Machine};
use crate::plan::{self, Draft, Piece, PlanError, Wanted};
use crate::source::SnapshotSource;

/// A record on its way into a file; its content is in the spool.
struct Part {
    line_start: Option<u64>,
    created_at: Timestamp,
    id: RecordId,
    offset: u64,
    length: u64,
    /// Line feeds in the content.
    lines: u64,
    ends_line: bool,
    /// Where the text behind the heading starts; 0 when there is no heading.
    body: u64,
    title: String,
    /// Whether the title is a name that only the record has.
    named: bool,
    /// Whether the record came out of the file that it goes into.
    at_home: bool,
    labels: Labels,
}

/// What a record says of itself that its text does not show.
#[derive(Default)]
struct Labels {
    /// Lines of their own, before the text.
    comments: Vec<String>,
    /// Before the first line of the text, such as `- [decision|i=0.9] `.
    tag: Option<String>,
    /// Behind that line.
    suffix: Option<String>,
    /// Whether the text behind the heading is one line.
    one_line_body: bool,
}

/// A file that is being put together.
struct Sheet {
    parts: Vec<Part>,
    changed_at: Moment,
}

/// Makes files from records.
pub(super) fn write_records(
    machine: &Machine,
    source: &dyn SnapshotSource,
    target: &FoundAgent,
    draft: &mut Draft,
) -> Result<(), PlanError> {
    let scratch = PlanError::Scratch;
    let spool = tempfile::tempfile_in(&machine.scratch).map_err(scratch)?;
    let mut out = BufWriter::with_capacity(256 << 10, spool);
    let mut offset = 0;
    let mut sheets: BTreeMap<String, Sheet> = BTreeMap::new();
    let mut lost = Lost::default();
    let recent = target.generation == Some("gen-9");
    let mut write_error = None;
    source
        .each_record(&mut |record| {
            if *record.status.effective() == Status::Deleted {
                lost.deleted += 1;
                return Ok(());
            }
            if record.namespace == SESSION {
                lost.session += 1;
                return Ok(());
            }
            if let Err(error) = out.write_all(record.content.as_bytes()) {
                write_error = Some(error);
                return Err(io::ErrorKind::Other.into());
            }
            let path = file_of(&record);
            let part = Part::new(&record, &path, offset, recent);
            offset += part.length;
            let temporal = &record.temporal;
            let changed_at = temporal.updated_at.as_ref().unwrap_or(&temporal.created_at);
            let sheet = sheets
                .entry(path)
                .or_insert_with(|| Sheet { parts: Vec::new(), changed_at: changed_at.clone() });
            if changed_at.instant() > sheet.changed_at.instant() {
                sheet.changed_at = changed_at.clone();
            }
            sheet.parts.push(part);
            draft.records += 1;
            Ok(())
        })
        .map_err(|error| match write_error.take() {
            Some(error) => PlanError::Scratch(error),
            None => PlanError::Source(error),
        })?;
    let spool = out.into_inner().map_err(|error| scratch(error.into_error()))?;
    for (path, sheet) in part_ways(sheets) {
        let changed_at = sheet.changed_at.clone();
        draft.wanted.push(Wanted::pieces(path.into_bytes(), sheet.into_pieces(), changed_at));
    }
    draft.spool = Some(spool);
    draft.not_restored.extend(lost.notes());
    Ok(())
}

/// A stranger's records may name `memory/a.md` and `memory/a.md/b.md`: what lies below a file goes
/// into that file.
fn part_ways(sheets: BTreeMap<String, Sheet>) -> BTreeMap<String, Sheet> {
    let names: BTreeSet<String> = sheets.keys().cloned().collect();
    let mut kept: BTreeMap<String, Sheet> = BTreeMap::new();
    for (path, mut sheet) in sheets {
        let above = path.match_indices('/').map(|(at, _)| &path[..at]);
        let home = above.into_iter().find(|above| names.contains(*above));
        if home.is_some() {
            sheet.parts.iter_mut().for_each(|part| part.at_home = false);
        }
        let path = home.map_or_else(|| path.clone(), str::to_owned);
        match kept.get_mut(&path) {
            Some(there) => {
                there.parts.append(&mut sheet.parts);
                if sheet.changed_at.instant() > there.changed_at.instant() {
                    there.changed_at = sheet.changed_at;
                }
            }
            None => {
                kept.insert(path, sheet);
            }
        }
    }
    kept
}

/// Returns the file that a record goes into.
pub(super) fn file_of(record: &Record) -> String {
    if let Some(file) = record.source.origin_file.as_deref().filter(|it| is_memory_file(it)) {
        return file.to_owned();
    }
    let temporal = &record.temporal;
    match record.namespace.as_str() {
        "daily" => {
            let at = temporal.observed_at.as_ref().unwrap_or(&temporal.created_at);
            format!("memory/{}.md", at.utc_date())
        }
        "curated" => "MEMORY.md".to_owned(),
        "active-context" => "memory/active-context.md".to_owned(),
        "procedural" => "memory/gating-policies.md".to_owned(),
        "facts" => "memory/facts.md".to_owned(),
        "project" => {
            let is_project = |it: &&anemone_format::Entity| {
                *it.kind.effective() == anemone_format::EntityKind::Project
            };
            let project = record.entities.iter().find(is_project).map(|it| it.name.as_str());
            let name = project.or(record.category.as_deref()).unwrap_or("imported");
            format!("memory/project-{}.md", slug(name))
        }
        other => format!("memory/{}.md", slug(other)),
    }
}

/// Says whether OpenClaw reads memories from a path, and whether it stays in the workspace.
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

/// What a record carries to be put back, as far as we use it.
#[derive(Deserialize, Default)]
struct Place {
    #[serde(default)]
    line_start: Option<serde_json::Value>,
    #[serde(default)]
    key: Option<serde_json::Value>,
    #[serde(default)]
    heading: Option<serde_json::Value>,
}

impl Part {
    fn new(record: &Record, path: &str, offset: u64, recent: bool) -> Self {
        let place: Place =
            record.raw_source_format.as_ref().and_then(|it| it.parse().ok()).unwrap_or_default();
        let text = |value: &Option<serde_json::Value>| {
            value.as_ref().and_then(|it| it.as_str()).map(one_line).filter(|it| !it.is_empty())
        };
        let key = text(&place.key);
        let content = record.content.as_str();
        let body = heading_end(content);
        let named = key.is_some();
        let title = key.or_else(|| text(&place.heading)).unwrap_or_else(|| title_of(content));
        let line_start = place.line_start.and_then(|it| it.as_u64());
        let from_here = record.source.origin_file.as_deref() == Some(path);
        let at_home = from_here && line_start.is_some();
        Self {
            line_start,
            created_at: record.temporal.created_at.instant(),
            id: record.id,
            offset,
            length: content.len() as u64,
            lines: memchr::memchr_iter(b'\n', content.as_bytes()).count() as u64,
            ends_line: content.ends_with('\n'),
            body: body as u64,
            title,
            named,
            at_home,
            labels: Labels::of(record, path, &content[body..], at_home, recent),
        }
    }

    fn span(&self, from: u64, to: u64) -> Piece {
        Piece::Spool { offset: self.offset + from, length: to - from }
    }

    /// Adds the content, with a heading if it is given one, and what the text does not show.
    fn write(&self, heading: Option<&str>, pieces: &mut Vec<Piece>) {
        let Labels { comments, tag, suffix, one_line_body } = &self.labels;
        let mut text = String::new();
        if let Some(heading) = heading {
            text = format!("## {heading}\n\n");
        } else if self.body > 0 {
            pieces.push(self.span(0, self.body));
        }
        for comment in comments {
            text.push_str(comment);
            text.push('\n');
        }
        let Some(tag) = tag else {
            pieces.push(Piece::Text(text.into()));
            pieces.push(self.span(self.body, self.length));
            return;
        };
        let suffix = suffix.as_deref().unwrap_or_default();
        text.push_str(tag);
        if *one_line_body {
            // The text itself becomes the tagged line.
            pieces.push(Piece::Text(text.into()));
            let end = self.length - u64::from(self.ends_line);
            pieces.push(self.span(self.body, end));
            pieces.push(Piece::Text(format!("{suffix}\n").into()));
        } else {
            text.push_str(&format!("{}{suffix}\n\n", self.title));
            pieces.push(Piece::Text(text.into()));
            pieces.push(self.span(self.body, self.length));
        }
    }
}

impl Labels {
    fn of(record: &Record, path: &str, body: &str, at_home: bool, recent: bool) -> Self {
        let content = record.content.as_str();
        let mut labels = Self::default();
        let line = body.strip_suffix('\n').unwrap_or(body);
        // A line that starts something else than a paragraph would mean another thing in a list.
        let starts = ['#', '-', '*', '+', '>', '|', '`', '~', '<', ' ', '\t'];
        labels.one_line_body =
            !line.is_empty() && !line.contains('\n') && !line.starts_with(starts);
        let superseded = match record.status.effective() {
            Status::Superseded => Some("superseded"),
            Status::Archived => Some("archived"),
            _ => None,
        };
        let shows_status = superseded.is_none_or(|it| content.contains(&format!("status: {it}")));
        let observed = record.temporal.observed_at.as_ref().map(|it| it.utc_date().to_string());
        // What was read out of this file is in its text, maybe in words that we do not know.
        let shows_observed =
            at_home || observed.as_ref().is_none_or(|it| path.contains(it) || content.contains(it));
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
        let word = record.category.as_deref().map(tag_word).filter(|it| !it.is_empty());
        let shown = |word: &String| content.contains(&format!("[{word}|i="));
        let word = word.filter(|word| !shown(word));
        let shows_score = content.contains("|i=") || content.contains("importance:");
        let score = record.confidence.filter(|it| it.is_finite() && !shows_score);
        let score = score.map(|it| it.clamp(0.0, 1.0));
        // OpenClaw counts importance from 1 to 10.
        let rank = score.map(|it| (it * 10.0).round().clamp(1.0, 10.0));
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

/// Returns where the text behind a heading of the second level starts; 0 when there is none.
fn heading_end(content: &str) -> usize {
    let start = content.len() - content.trim_start_matches(['\n', '\r']).len();
    let line = &content[start..];
    let end = line.find('\n').map_or(line.len(), |at| at + 1);
    let indent = line.len() - line.trim_start_matches(' ').len();
    let Some(rest) = line[..end].trim_start_matches(' ').strip_prefix("##") else { return 0 };
    let is_heading = indent <= 3 && (rest.is_empty() || rest.starts_with([' ', '\t', '\n', '\r']));
    if !is_heading {
        return 0;
    }
    // A blank line behind it belongs to it, so that what is added stands with the text.
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
    if let Some((tag, rest)) = line.strip_prefix('[').and_then(|it| it.split_once(']'))
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

impl Sheet {
    fn into_pieces(mut self) -> Vec<Piece> {
        let parts = &mut self.parts;
        let mut pieces = Vec::new();
        if parts.iter().all(|part| part.at_home) {
            parts.sort_by_key(|part| (part.line_start, part.created_at, part.id));
            for (index, part) in parts.iter().enumerate() {
                part.write(None, &mut pieces);
                if let Some(next) = parts.get(index + 1) {
                    pieces.push(Piece::Text(line_feeds(part, next).into()));
                }
            }
            return pieces;
        }
        parts.sort_by_key(|part| (part.created_at, part.line_start, part.id));
        let alone = parts.len() == 1;
        for (index, part) in parts.iter().enumerate() {
            if index > 0 {
                let ends_line = parts[index - 1].ends_line || parts[index - 1].labels.ends_line();
                pieces.push(Piece::Text(if ends_line { "\n" } else { "\n\n" }.into()));
            }
            // A file without headings is one record; only a name of its own is worth a heading.
            let heading = part.body == 0 && (!alone || part.named);
            part.write(heading.then_some(part.title.as_str()), &mut pieces);
        }
        pieces
    }
}

impl Labels {
    /// Says whether a line feed was added behind the text.
    fn ends_line(&self) -> bool {
        self.tag.is_some() && self.one_line_body
    }
}

/// Returns what stood between two records of one file: usually nothing. Some tools leave out the
/// blank lines behind a section; the line numbers tell how many there were.
fn line_feeds(part: &Part, next: &Part) -> &'static str {
    let end = part.line_start.unwrap_or(0).saturating_add(part.lines);
    let missing = next.line_start.unwrap_or(0).saturating_sub(end);
    // A gap of more lines is a record that is no longer there.
    let count = match (part.ends_line || part.labels.ends_line(), missing) {
        (true, 0) => 0,
        (true, _) => 1,
        (false, 0 | 1) => 1,
        (false, 2) => 2,
        (false, _) => 3,
    };
    &"\n\n\n"[..count]
}

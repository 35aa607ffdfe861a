//! What an agent has now, before it comes back to a runtime: everything of it must be there.

use std::collections::{HashMap, HashSet};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};

use anemone_format::{RecordId, SnapshotSource};
use anemone_markdown::is_delimiter_row;
use anemone_runtimes::digest_of;
use anemone_runtimes::mapping::{Becomes, Mapping};

use super::Current;
use super::memory::called;
use super::text::{is_comment, is_row_of, without_labels, words};

/// A record that is nowhere.
pub(super) struct MissingText {
    pub(super) called: String,
    pub(super) digest: String,
}

/// A part of a record that is searched for; its text is in the spool.
struct WantedText {
    /// The record that it is a part of.
    record: usize,
    offset: u64,
    length: usize,
    found: bool,
}

/// Returns the records of an agent that no record of the target holds, other than those of which
/// it was announced. `has_name` says whether a record of the target has a name.
pub(super) fn missing(
    current: &Current<'_>,
    target: &dyn SnapshotSource,
    mapping: Option<&Mapping>,
    announced: &HashSet<RecordId>,
    has_name: &dyn Fn(&str) -> bool,
) -> io::Result<Vec<MissingText>> {
    let mut whole: HashSet<String> = HashSet::new();
    target.each_record(&mut |record| {
        whole.insert(digest_of(&record.content));
        Ok(())
    })?;
    let mut records: Vec<MissingText> = Vec::new();
    let mut wanted: Vec<WantedText> = Vec::new();
    // A line of each text, the longest: where it is not, the text is not.
    let mut lines: HashMap<u64, Vec<usize>> = HashMap::new();
    // Where it may be a row of a table, its longest word: a row has everything on one line.
    let mut in_rows: HashMap<u64, Vec<usize>> = HashMap::new();
    let mut spool = tempfile::tempfile()?;
    let mut out = io::BufWriter::with_capacity(256 << 10, spool.try_clone()?);
    let mut offset = 0;
    current.source.each_record(&mut |record| {
        let row = mapping.and_then(|mapping| mapping.row_of(record)).map(|row| row.becomes);
        let has_a_place = !matches!(row, Some(Becomes::Aside(_) | Becomes::Nowhere(_)));
        let known = (current.origin_of)(record.id);
        let origin = known.unwrap_or(record.id);
        // A row that was read from a table got its header on the way here.
        let content = match known {
            Some(_) => without_header(record.content.trim()),
            None => record.content.as_str(),
        };
        let digest = digest_of(content);
        if !has_a_place || whole.contains(&digest) || announced.contains(&origin) {
            return Ok(());
        }
        let mut text = bare(content);
        if known.is_some() {
            text = without_title(text, content, has_name);
        }
        if text.is_empty() {
            return Ok(());
        }
        for chapter in chapters(&text) {
            let longest = chapter.lines().max_by_key(|line| line.len()).unwrap_or_default();
            lines.entry(hash(longest)).or_default().push(wanted.len());
            let longest = words(chapter).max_by_key(|word| word.len()).unwrap_or_default();
            in_rows.entry(hash(longest)).or_default().push(wanted.len());
            out.write_all(chapter.as_bytes())?;
            let (record, length) = (records.len(), chapter.len());
            wanted.push(WantedText { record, offset, length, found: false });
            offset += length as u64;
        }
        records.push(MissingText { called: called(record), digest });
        Ok(())
    })?;
    out.flush()?;
    if !wanted.is_empty() {
        target.each_record(&mut |record| {
            let text = plain(&record.content);
            let mut tried: HashSet<usize> = HashSet::new();
            let of_lines = text.lines().filter_map(|line| lines.get(&hash(line)));
            let has_rows = text.lines().any(|line| line.starts_with('|'));
            let of_rows = has_rows.then(|| words(&text)).into_iter().flatten();
            let of_rows = of_rows.filter_map(|word| in_rows.get(&hash(word)));
            for index in of_lines.chain(of_rows).flatten() {
                let part = &mut wanted[*index];
                if part.found || !tried.insert(*index) {
                    continue;
                }
                spool.seek(SeekFrom::Start(part.offset))?;
                let mut bytes = vec![0; part.length];
                spool.read_exact(&mut bytes)?;
                let looked_for = String::from_utf8(bytes).map_err(io::Error::other)?;
                part.found = text.contains(&looked_for) || is_row_of(&text, &looked_for);
            }
            Ok(())
        })?;
    }
    let lost: HashSet<usize> =
        wanted.iter().filter(|part| !part.found).map(|part| part.record).collect();
    let records = records.into_iter().enumerate();
    Ok(records.filter(|(index, _)| lost.contains(index)).map(|(_, record)| record).collect())
}

/// Cuts a text where a runtime with Markdown files cuts it, so that each piece is in one record.
fn chapters(text: &str) -> impl Iterator<Item = &str> {
    let heads = text.match_indices("\n## ").map(|(at, _)| at + 1);
    let starts: Vec<usize> = std::iter::once(0).chain(heads).collect();
    let ends: Vec<usize> = starts.iter().skip(1).copied().chain([text.len()]).collect();
    starts.into_iter().zip(ends).map(|(start, end)| text[start..end].trim_end())
}

/// Returns a text without what runtimes add to it: comments, tags and blank lines.
fn plain(text: &str) -> String {
    let lines = text.lines().filter(|line| !is_comment(line)).map(without_labels);
    lines.map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join("\n")
}

/// The same, without the heading before it.
fn bare(text: &str) -> String {
    let text = plain(text);
    match text.split_once('\n') {
        Some((heading, rest)) if heading.starts_with('#') => rest.to_owned(),
        _ => text,
    }
}

/// Returns a bare text without the line that repeats the heading of `content` or a name: on the way
/// here, a text whose first line cannot have a tag got one above it. What is left must still be
/// found.
fn without_title(text: String, content: &str, has_name: &dyn Fn(&str) -> bool) -> String {
    let heading = content.trim_start().strip_prefix('#').and_then(|rest| rest.lines().next());
    let heading = heading.map(|line| line.trim_start_matches('#').trim());
    match text.split_once('\n') {
        Some((title, rest)) if Some(title) == heading || has_name(title) => rest.to_owned(),
        _ => text,
    }
}

/// Returns a table of one row without its header.
fn without_header(text: &str) -> &str {
    match text.split('\n').collect::<Vec<_>>()[..] {
        [header, rule, row] if header.starts_with('|') && is_delimiter_row(rule) => row,
        _ => text,
    }
}

fn hash(line: &str) -> u64 {
    use std::hash::{DefaultHasher, Hasher as _};
    let mut hasher = DefaultHasher::new();
    hasher.write(line.as_bytes());
    hasher.finish()
}

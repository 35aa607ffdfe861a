//! Reading lines of a document that a search found.

use anemone_index::{Document, Excerpt, ExcerptLimits, SourceError};
use anemone_memory::{hidden_count, shown, suspicion_reason};
use serde::Serialize;

use super::index::{each_document, read_document};
use super::lines::without_end;
pub use super::lines::{LineRange, split};
use super::target::{SearchTarget, TargetChoice, TargetError};
use crate::host::Host;
use crate::nearest::Nearest;

/// Which lines of which document.
#[derive(Clone, Debug)]
pub struct ReadRequest {
    /// The document, by its name in search results; a line range may follow, as in a citation.
    pub path: String,
    /// What it is in.
    pub target: TargetChoice,
    /// The lines, if the path does not end with them.
    pub lines: LineRange,
    /// Characters at most.
    pub chars: usize,
}

/// Lines of a document.
#[derive(Debug, Serialize)]
pub struct ReadReport {
    /// The document.
    pub path: String,
    /// The first line, from 1.
    pub from: usize,
    /// How many lines were read.
    pub lines: usize,
    /// The lines.
    pub text: String,
    /// Whether more follows.
    pub truncated: bool,
    /// The line to go on with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_from: Option<usize>,
    /// Whether the single line is longer than the limit of one read.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub cut: bool,
    /// How many characters the cut line has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line_chars: Option<usize>,
    /// How many lines the document has.
    pub total_lines: usize,
    /// How many invisible characters the text has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hidden_characters: Option<usize>,
    /// Whether the text looks like an attack.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub suspicious: bool,
    /// What looks like one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suspicion_reason: Option<String>,
    /// Whether these are all the lines that were asked for.
    #[serde(skip)]
    pub all_asked: bool,
}

impl ReadReport {
    /// Leaves out invisible characters.
    pub fn clean(&mut self) {
        self.text = shown(&self.text);
    }
}

/// Why nothing was read.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
#[non_exhaustive]
pub enum ReadDocumentError {
    /// The path ends with a line range, and lines were also named separately.
    #[error("the lines are named twice")]
    LinesTwice,
    /// The suffix of the path names no lines.
    #[error("{end:?} names no lines of {document}")]
    NotLines {
        /// The suffix.
        end: String,
        /// The document.
        document: String,
    },
    /// There is no such document.
    #[error("there is no document {path:?} in {place}")]
    NotFound {
        /// Its path.
        path: String,
        /// The sources that were searched for it.
        place: String,
        /// Documents with a similar name, the most similar first.
        similar: Vec<String>,
    },
    /// The sources were not found.
    Target(#[from] TargetError),
    /// It cannot be read.
    Source(#[from] SourceError),
    /// The system refused.
    Io(#[from] std::io::Error),
}

/// Reads lines of a document.
pub fn read(request: &ReadRequest, host: &Host) -> Result<ReadReport, ReadDocumentError> {
    let machine = host.machine()?;
    let target = request.target.find(&machine, host)?;
    read_in(request, &target)
}

/// Reads lines of a document from sources that were resolved already.
pub fn read_in(
    request: &ReadRequest,
    target: &SearchTarget,
) -> Result<ReadReport, ReadDocumentError> {
    let Some((document, range)) = find_document(&request.path, request.lines, target)? else {
        return Err(not_found(&request.path, target));
    };
    let limits = ExcerptLimits { chars: request.chars, ..ExcerptLimits::default() };
    let excerpt = Excerpt::of(&document.text, range.from, range.lines, &limits);
    let suspicion_reason = suspicion_reason(&excerpt.text);
    Ok(ReadReport {
        path: document.path,
        from: excerpt.from,
        lines: excerpt.lines,
        truncated: excerpt.truncated,
        next_from: excerpt.next_from,
        cut: excerpt.cut,
        line_chars: excerpt.line_chars,
        total_lines: excerpt.total_lines,
        hidden_characters: Some(hidden_count(&excerpt.text)).filter(|count| *count > 0),
        suspicious: suspicion_reason.is_some(),
        suspicion_reason,
        text: excerpt.text,
        all_asked: range.lines == Some(excerpt.lines),
    })
}

/// Returns the document and its requested lines. A path may look as if it ends with lines, so the
/// unchanged path is tried first.
pub fn find_document(
    named: &str,
    lines: LineRange,
    target: &SearchTarget,
) -> Result<Option<(Document, LineRange)>, ReadDocumentError> {
    if let Some(document) = read_named(target, named)? {
        return Ok(Some((document, lines)));
    }
    let Some((path, range)) = split(named) else { return Ok(None) };
    let Some(document) = read_named(target, path)? else { return Ok(None) };
    if lines != LineRange::default() {
        return Err(ReadDocumentError::LinesTwice);
    }
    Ok(Some((document, range)))
}

/// Reads the document of a path, which may begin with `./` as shells complete it.
fn read_named(target: &SearchTarget, path: &str) -> Result<Option<Document>, SourceError> {
    match (read_document(target, path)?, path.strip_prefix("./")) {
        (None, Some(path)) => read_document(target, path),
        (found, _) => Ok(found),
    }
}

/// Says that there is no such document, and which ones have a similar name.
fn not_found(path: &str, target: &SearchTarget) -> ReadDocumentError {
    // An unreadable document is a different error from wrong lines.
    let is_there = |path: &&str| read_named(target, path).is_ok_and(|document| document.is_some());
    if let Some(document) = without_end(path).find(is_there) {
        let (end, document) = (path[document.len()..].to_owned(), document.to_owned());
        return ReadDocumentError::NotLines { end, document };
    }
    let mut nearest = Nearest::to(split(path).map_or(path, |(path, _)| path));
    // A source that cannot be read has no names to offer.
    each_document(target, &mut |document| nearest.offer(document.path)).ok();
    ReadDocumentError::NotFound {
        path: path.to_owned(),
        place: target.place.display().to_string(),
        similar: nearest.into_names(),
    }
}

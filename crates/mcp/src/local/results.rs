//! Reports of the library as results of tools.

use anemone::agent_memory::MemoryChoice;
use anemone::context::ContextReport;
use anemone::forget::{ForgetReport, HolderMessage};
use anemone::remember::{RememberError, RememberReport};
use anemone::search::read::ReadReport;
use anemone::search::{SearchHit, SearchNote, SearchReport};
use anemone::statement::Statement;
use anemone_memory::{Duplicate, EntryToForget, citation_of};
use anemone_messages::{UserError, holder_message, lost_change, note, warning};

use crate::service::{
    ContextResult, ForgetResult, ForgottenEntry, Holder, MemorySource, ReadResult, ReadStatus,
    RememberResult, SearchResult, SearchResults, SimilarMemory,
};

/// Returns hits, without those below a score.
pub(super) fn search(report: SearchReport, min_score: Option<f64>) -> SearchResults {
    let least = min_score.unwrap_or(f64::NEG_INFINITY);
    let all = report.hits.len();
    let hits = report.hits.into_iter().filter(|hit| hit.score >= least);
    let results: Vec<_> = hits.map(SearchResult::from).collect();
    let mut notes: Vec<String> =
        report.notes.into_iter().filter_map(Statement::into_typed).map(search_note).collect();
    if results.len() < all {
        notes.push(format!("results below minScore: {}", all - results.len()));
    }
    SearchResults { results, mode: report.mode.as_str().to_owned(), model: report.model, notes }
}

/// Puts a note into words, with the arguments of tools where the command line names a flag.
fn search_note(note: SearchNote) -> String {
    match note {
        SearchNote::TooWeak => {
            "nothing is similar enough; minScore 0 shows the nearest texts".to_owned()
        }
        note => warning(note).message,
    }
}

impl From<SearchHit> for SearchResult {
    /// Suspicious and hidden parts of the text are noted where it is quoted.
    fn from(hit: SearchHit) -> Self {
        Self {
            path: hit.path,
            start_line: hit.start_line,
            end_line: hit.end_line,
            score: hit.score,
            snippet: hit.text,
            source: hit.provenance.source,
            citation: hit.citation,
            date: hit.date,
            origin: hit.provenance.origin,
            origin_verified: hit.trust.origin_verified,
            superseded_by: hit.superseded_by,
            headings: hit.headings,
            id: hit.provenance.record,
            category: hit.memory_type,
            importance: hit.importance,
            ..Self::default()
        }
    }
}

pub(super) fn read(report: ReadReport) -> ReadResult {
    ReadResult {
        status: ReadStatus::Ok,
        text: report.text,
        path: report.path,
        from: number(report.from),
        lines: number(report.lines),
        truncated: report.truncated,
        next_from: report.next_from.map(number),
        line_chars: report.line_chars.map(number),
        total_lines: Some(number(report.total_lines)),
    }
}

/// Lines are numbered in 32 bits in results; no text has more.
pub(super) fn number(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

impl From<MemorySource> for anemone_format::Origin {
    fn from(origin: MemorySource) -> Self {
        match origin {
            MemorySource::Agent => Self::Agent,
            MemorySource::Tool => Self::Tool,
            MemorySource::Web => Self::Web,
            MemorySource::Import => Self::Import,
        }
    }
}

pub(super) fn remember(report: RememberReport) -> RememberResult {
    let mut warnings: Vec<String> =
        report.warnings.into_iter().map(|warning| warning.message).collect();
    if !report.restored.is_empty() {
        warnings.push(format!("entries that an editor had dropped: {}", report.restored.len()));
    }
    if !report.near.is_empty() {
        let near: Vec<String> = report.near.iter().map(|near| similar(near).id).collect();
        warnings.push(format!("similar memories, which stay: {}", near.join(", ")));
    }
    let superseded = report.superseded.iter().map(similar).collect();
    let RememberReport { written, id, path, .. } = report;
    RememberResult { written, id, path, duplicates: Vec::new(), superseded, warnings }
}

/// Returns the existing duplicates, which are a result and not an error.
pub(super) fn duplicate(report: Box<RememberReport>) -> RememberResult {
    let duplicates: Vec<_> = report.duplicates.iter().map(similar).collect();
    let SimilarMemory { id, path, .. } = duplicates.first().cloned().unwrap_or_default();
    let message = UserError::from(RememberError::Duplicate(report)).message;
    let warnings = vec![format!(
        "{message}; give supersedes: {id:?} when the new text takes its place, or force: true when \
         both hold"
    )];
    RememberResult { written: false, id, path, duplicates, superseded: Vec::new(), warnings }
}

fn similar(entry: &Duplicate) -> SimilarMemory {
    SimilarMemory {
        id: entry.id.clone().unwrap_or_else(|| citation_of(&entry.path, entry.lines)),
        path: entry.path.clone(),
        text: entry.text.clone(),
    }
}

pub(super) fn forget(report: ForgetReport, memory: &MemoryChoice) -> ForgetResult {
    let holders = report.proof.iter().flat_map(|proof| &proof.holders).map(|holder| {
        let HolderMessage { place, kind, clear_with } = holder_message(holder, memory);
        Holder { place, kind: kind.to_owned(), clear_with }
    });
    let lost = report.undo_lost.iter().map(|lost| lost_change(lost, report.dry_run));
    let entry = |entry: EntryToForget| ForgottenEntry {
        id: entry.id,
        path: entry.path,
        text: entry.text.lines().next().unwrap_or_default().to_owned(),
    };
    ForgetResult {
        dry_run: report.dry_run,
        can_be_undone: report.can_be_undone,
        absent: report.proof.as_ref().is_some_and(|proof| proof.absent),
        holders: holders.collect(),
        notes: report.notes.iter().map(note).chain(lost).collect(),
        entries: report.entries.into_iter().map(entry).collect(),
    }
}

pub(super) fn context(report: ContextReport) -> ContextResult {
    let mut notes: Vec<String> =
        report.notes.iter().filter_map(Statement::typed).map(|note| note.words("query")).collect();
    let left = report.parts.iter().filter(|part| part.cut || !part.included);
    notes.extend(left.map(|part| format!("{}: {}", part.path, part.detail)));
    ContextResult {
        text: report.text,
        estimated_tokens: report.estimated_tokens as u64,
        recalled: report.recalled as u64,
        notes,
        hidden_characters: report.hidden_characters.and_then(|count| u32::try_from(count).ok()),
        suspicion_reason: report.suspicion_reason,
    }
}

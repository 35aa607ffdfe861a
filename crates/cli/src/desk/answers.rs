//! What commands report, as tools answer it.

use anemone_format::Origin as Source;
use anemone_mcp::{
    ContextText, Duplicate, Forgotten, ForgottenEntry, Found, FoundMemory, Holder, Origin,
    ReadLines, ReadStatus, Remembered,
};
use anemone_memory::citation_of;

use super::ServiceError;
use crate::commands::forget::Forgotten as ForgetReport;
use crate::error::CliError;
use crate::words::warning;
use anemone::context::ContextReport;
use anemone::remember::{RememberError, RememberReport};
use anemone::search::{SearchHit, SearchNote, SearchReport};
use anemone::statement::Statement;

/// Says a note in the words of tools.
fn note(note: SearchNote) -> String {
    match note {
        SearchNote::TooWeak => {
            "nothing is similar enough; minScore 0 shows the nearest texts".to_owned()
        }
        note => warning(note).message,
    }
}

pub(super) fn found(report: SearchReport, min_score: Option<f64>) -> Found {
    let least = min_score.unwrap_or(f64::NEG_INFINITY);
    let all = report.hits.len();
    let results: Vec<_> =
        report.hits.into_iter().filter(|hit| hit.score >= least).map(memory).collect();
    let typed = report.notes.into_iter().filter_map(Statement::into_typed);
    let mut notes: Vec<String> = typed.map(note).collect();
    if results.len() < all {
        notes.push(format!("results below minScore: {}", all - results.len()));
    }
    Found { results, mode: report.mode.as_str().to_owned(), model: report.model, notes }
}

fn memory(hit: SearchHit) -> FoundMemory {
    FoundMemory {
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
        // What is suspicious or hidden in a text is found where it is quoted.
        suspicious: false,
        suspicion_reason: None,
        hidden_characters: None,
        headings: hit.headings,
        id: hit.provenance.record,
        key: None,
        category: hit.memory_type,
        importance: hit.importance,
    }
}

/// A document that is not there, and what is called nearly so.
pub(super) fn nothing_read(path: &str, hint: Option<String>) -> ReadLines {
    ReadLines {
        status: ReadStatus::NotFound,
        text: hint.map(|hint| format!("there is no such document; {hint}")).unwrap_or_default(),
        path: path.to_owned(),
        from: 1,
        lines: 0,
        truncated: false,
        next_from: None,
        line_chars: None,
        total_lines: None,
    }
}

/// Lines are counted in 32 bits on the wire; no text that is read has more.
pub(super) fn number(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

pub(super) const fn origin(origin: Origin) -> Source {
    match origin {
        Origin::Agent => Source::Agent,
        Origin::Tool => Source::Tool,
        Origin::Web => Source::Web,
        Origin::Import => Source::Import,
    }
}

/// That the memory says it already is an answer, and no failure.
pub(super) fn remembered(
    report: Result<RememberReport, RememberError>,
) -> Result<Remembered, ServiceError> {
    let report = match report {
        Ok(report) => report,
        Err(RememberError::Duplicate { report }) => return Ok(already_there(report)),
        Err(error) => return Err(error.into()),
    };
    let mut warnings: Vec<String> =
        report.warnings.into_iter().map(|warning| warning.message).collect();
    if !report.restored.is_empty() {
        warnings.push(format!("entries that an editor had dropped: {}", report.restored.len()));
    }
    Ok(Remembered {
        written: report.written,
        id: report.id,
        path: report.path,
        duplicates: Vec::new(),
        warnings,
    })
}

fn already_there(report: Box<RememberReport>) -> Remembered {
    let duplicates = report.duplicates.iter().map(|same| Duplicate {
        id: same.id.clone().unwrap_or_else(|| citation_of(&same.path, same.lines)),
        path: same.path.clone(),
        text: same.text.clone(),
    });
    let duplicates: Vec<_> = duplicates.collect();
    let id = duplicates.first().map(|same| same.id.clone()).unwrap_or_default();
    let path = duplicates.first().map(|same| same.path.clone()).unwrap_or_default();
    let message = CliError::from(RememberError::Duplicate { report }).message;
    let warnings = vec![format!(
        "{message}; give supersedes: {id:?} when the new text takes its place, or force: true when \
         both hold"
    )];
    Remembered { written: false, id, path, duplicates, warnings }
}

pub(super) fn forgotten(report: ForgetReport) -> Forgotten {
    let absent = report.is_absent();
    let holders = report.holders().iter().map(|holder| Holder {
        place: holder.place.clone(),
        kind: holder.kind.to_owned(),
        clear_with: holder.clear_with.clone(),
    });
    let holders = holders.collect();
    let entry = |forget: anemone_memory::EntryToForget| ForgottenEntry {
        id: forget.id,
        path: forget.path,
        text: forget.text.lines().next().unwrap_or_default().to_owned(),
    };
    Forgotten {
        dry_run: report.dry_run,
        can_be_undone: report.can_be_undone,
        absent,
        holders,
        notes: report.notes.iter().chain(&report.lines_of_lost_undo()).cloned().collect(),
        entries: report.entries.into_iter().map(entry).collect(),
    }
}

pub(super) fn context(report: ContextReport) -> ContextText {
    let mut notes: Vec<String> =
        report.notes.iter().filter_map(Statement::typed).map(|note| note.words("query")).collect();
    let left = report.parts.iter().filter(|part| part.cut || !part.included);
    notes.extend(left.map(|file| format!("{}: {}", file.path, file.detail)));
    ContextText {
        text: report.text,
        estimated_tokens: report.estimated_tokens as u64,
        recalled: report.recalled as u64,
        notes,
        hidden_characters: report.hidden_characters.and_then(|count| u32::try_from(count).ok()),
        suspicion_reason: report.suspicion_reason,
    }
}

//! What `anemone index` says to people.

use std::io::{self, Write};

use anemone::embedder::{FillReport, Job, VectorLine};
use anemone::search::chunks::{ChunkReport, ListedChunk};
use anemone::search::index::KeptIndex;
use anemone::search::upkeep::{
    DropReport, IndexList, IndexReport, PruneReport, SkippedPath, VectorPlan,
};
use anemone::search::{IndexSummary, SourceSummary};
use anemone::statement::Statement;

use crate::output::{BOLD, DIM, ODD, Report, bytes, count, safe};

/// How many of the paths that are not searched are listed for people.
const MOST_SHOWN: usize = 20;

impl Report for VectorPlan {
    fn write_human(&self, out: &mut dyn Write) -> io::Result<()> {
        let SourceSummary { kind, place } = &self.source;
        writeln!(out, "{BOLD}{}{BOLD:#}  {DIM}{kind}{DIM:#}", safe(place))?;
        for warning in self.warnings.iter().filter_map(Statement::words) {
            writeln!(out, "  {ODD}{:<10}{ODD:#} {}", "note", safe(&warning.message))?;
        }
        let Some(job) = &self.job else {
            return writeln!(out, "  {:<10} nothing to do", "embedder");
        };
        writeln!(out, "  {:<10} {} ({})", "embedder", job.embedder, safe(&job.model))?;
        let (chunks, texts) = (count(job.chunks, "chunk"), count(job.texts, "text"));
        writeln!(out, "  {:<10} {chunks} without vectors", "missing")?;
        let Job { characters, tokens, .. } = job;
        writeln!(out, "  {:<10} {texts}, {characters} characters, about {tokens} tokens", "to do")?;
        match job.known {
            Some(known) => writeln!(out, "  {:<10} {}", "known", count(known, "text"))?,
            None => writeln!(out, "  {:<10} unknown until the first request", "known")?,
        }
        if let Some(host) = &job.host {
            writeln!(out, "  {:<10} {}", "goes to", safe(host))?;
        }
        match &job.replaces {
            Some(model) => writeln!(out, "  {:<10} the vectors of {}", "replaces", safe(model)),
            None => Ok(()),
        }
    }
}

/// Says what changed.
pub(super) fn changes(index: &IndexSummary) -> String {
    let IndexSummary { added, changed, removed, rebuilt, .. } = index;
    let made = match rebuilt {
        None => String::new(),
        Some("new") => ", built".to_owned(),
        Some(why) => format!(", rebuilt ({why})"),
    };
    format!("{added} added, {changed} changed, {removed} removed{made}")
}

impl Report for IndexReport {
    fn write_human(&self, out: &mut dyn Write) -> io::Result<()> {
        let IndexSummary { documents, chunks, skipped, .. } = &self.index;
        let SourceSummary { kind, place } = &self.source;
        writeln!(out, "{BOLD}{}{BOLD:#}  {DIM}{kind}{DIM:#}", safe(place))?;
        let (documents, chunks) = (count(*documents, "document"), count(*chunks, "chunk"));
        writeln!(out, "  {:<10} {documents}, {chunks}, {}", "holds", bytes(self.bytes))?;
        writeln!(out, "  {:<10} {} in {:.0} ms", "changes", changes(&self.index), self.took_ms)?;
        for VectorLine { model, chunks, missing, .. } in &self.vectors {
            let all = chunks + missing;
            writeln!(out, "  {:<10} {chunks} of {all} chunks by {}", "vectors", safe(model))?;
        }
        if let Some(filled) = &self.filled {
            let FillReport { embedder, embedded, reused, known, cut, refused, took_ms, .. } =
                filled;
            let (new, seconds) = (count(*embedded, "text"), took_ms / 1e3);
            let rest = format!("{reused} came with them, {known} known, in {seconds:.1} s");
            writeln!(out, "  {:<10} {new} by {embedder}, {rest}", "embedded")?;
            if *cut > 0 {
                let texts = count(*cut, "text");
                writeln!(out, "  {ODD}{:<10}{ODD:#} {texts}, too long for the model", "cut short")?;
            }
            if *refused > 0 {
                let texts = count(*refused, "text");
                writeln!(out, "  {ODD}{:<10}{ODD:#} {texts}: {embedder} takes others", "refused")?;
            }
        }
        for (reason, number) in skipped {
            writeln!(out, "  {:<10} {number} {reason}", "skipped")?;
        }
        for SkippedPath { path, reason } in self.skipped_paths.iter().take(MOST_SHOWN) {
            writeln!(out, "  {:<10} {DIM}{} ({reason}){DIM:#}", "", safe(path))?;
        }
        let all: u64 = skipped.values().sum();
        let shown = self.skipped_paths.len().min(MOST_SHOWN) as u64;
        if all > shown {
            writeln!(out, "  {:<10} {DIM}and {} more{DIM:#}", "", all - shown)?;
        }
        for warning in self.warnings.iter().filter_map(Statement::words) {
            writeln!(out, "  {ODD}{:<10}{ODD:#} {}", "note", safe(&warning.message))?;
        }
        writeln!(out, "  {:<10} {}", "stored in", safe(&self.folder))
    }
}

impl Report for IndexList {
    fn write_human(&self, out: &mut dyn Write) -> io::Result<()> {
        for one in &self.indexes {
            write_kept(out, one)?;
        }
        let (number, size) = (count_indexes(self.indexes.len()), bytes(self.bytes));
        writeln!(out, "{number} in {}, {size}", safe(&self.folder))
    }
}

/// `1 index`, `2 indexes`.
fn count_indexes(number: usize) -> String {
    match number {
        1 => "1 index".to_owned(),
        _ => format!("{number} indexes"),
    }
}

fn write_kept(out: &mut dyn Write, one: &KeptIndex) -> io::Result<()> {
    let size = bytes(one.bytes);
    let used = one.used_at.as_ref().map(|used| format!(", used {used}")).unwrap_or_default();
    match &one.source {
        Some(source) => {
            let gone = if source.exists { String::new() } else { format!("  {ODD}gone{ODD:#}") };
            let (place, kind) = (safe(&source.place), safe(&source.kind));
            writeln!(out, "{BOLD}{place}{BOLD:#}  {DIM}{kind}, {size}{used}{DIM:#}{gone}")?;
        }
        None => writeln!(out, "{BOLD}unknown{BOLD:#}  {DIM}{size}{used}{DIM:#}")?,
    }
    writeln!(out, "  {DIM}{}{DIM:#}", safe(&one.folder))
}

impl Report for PruneReport {
    fn write_human(&self, out: &mut dyn Write) -> io::Result<()> {
        for one in &self.removed {
            write_kept(out, one)?;
        }
        let verb = if self.dry_run { "would remove" } else { "removed" };
        let number = count_indexes(self.removed.len());
        writeln!(out, "{verb} {number}, {}; {} kept", bytes(self.bytes), self.kept)
    }
}

impl Report for DropReport {
    fn write_human(&self, out: &mut dyn Write) -> io::Result<()> {
        let folder = safe(&self.folder);
        match self.dropped {
            true => writeln!(out, "removed the index in {folder}, {}", bytes(self.bytes)),
            false => writeln!(out, "there is no index in {folder}; {} removed", count(0, "file")),
        }
    }
}

impl Report for ChunkReport {
    fn write_human(&self, out: &mut dyn Write) -> io::Result<()> {
        for chunk in &self.chunks {
            let ListedChunk { path, start_line, end_line, hash, chars, .. } = chunk;
            let name = chunk.id.as_ref().unwrap_or(hash);
            let (path, name) = (safe(path), safe(name));
            write!(out, "{BOLD}{path}#L{start_line}-L{end_line}{BOLD:#}")?;
            writeln!(out, "  {chars} characters  {DIM}{name}{DIM:#}")?;
        }
        let documents = count(self.documents, "document");
        writeln!(out, "{} of {documents}", count(self.chunks.len() as u64, "chunk"))
    }
}

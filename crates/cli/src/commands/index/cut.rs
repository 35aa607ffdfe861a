//! How documents are cut into chunks, by us or by OpenClaw.

use std::collections::BTreeMap;
use std::io::{self, Write};

use anemone_format::sha256_hex;
use anemone_index::{Document, Generation, openclaw_chunks, passages};
use clap::ValueEnum;
use serde::Serialize;

use crate::commands::search::SourceLine;
use crate::error::CliError;
use crate::output::{BOLD, DIM, Report, count, safe};
use crate::search_index::{by_reason, each_document};
use crate::searched::SearchTarget;

/// The model that OpenClaw names in ids when it has no embeddings.
const NO_MODEL: &str = "fts-only";

/// Who cuts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ValueEnum)]
pub(super) enum Chunking {
    /// Ours
    #[serde(rename = "anemone")]
    Anemone,
    /// OpenClaw 2026.3
    #[value(name = "openclaw-2026.3")]
    #[serde(rename = "openclaw-2026.3")]
    OpenClawThree,
    /// OpenClaw 2026.9
    #[value(name = "openclaw-2026.9")]
    #[serde(rename = "openclaw-2026.9")]
    OpenClawNine,
}

#[derive(Serialize)]
pub(super) struct Cut {
    ok: bool,
    source: SourceLine,
    chunking: Chunking,
    documents: u64,
    chunks: Vec<CutChunk>,
    skipped: BTreeMap<&'static str, u64>,
}

#[derive(Serialize)]
struct CutChunk {
    path: String,
    start_line: u32,
    end_line: u32,
    /// The id that the other program gives it; ours are numbers of one index and mean nothing
    /// outside it.
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<String>,
    /// SHA-256 of the text.
    hash: String,
    chars: u64,
}

/// Cuts every document.
pub(super) fn cut(searched: &SearchTarget, chunking: Chunking) -> Result<Cut, CliError> {
    let mut documents = 0;
    let mut chunks = Vec::new();
    let skipped = each_document(searched, &mut |document| {
        documents += 1;
        match chunking {
            Chunking::Anemone => ours(&document, &mut chunks),
            Chunking::OpenClawThree => theirs(&document, Generation::Three, &mut chunks),
            Chunking::OpenClawNine => theirs(&document, Generation::Nine, &mut chunks),
        }
    })?;
    // In the order of the paths, and within one document in that of the text.
    chunks.sort_by(|a: &CutChunk, b| a.path.cmp(&b.path));
    Ok(Cut {
        ok: true,
        source: SourceLine::of(searched),
        chunking,
        documents,
        chunks,
        skipped: by_reason(&skipped),
    })
}

fn ours(document: &Document, chunks: &mut Vec<CutChunk>) {
    chunks.extend(passages(document).into_iter().map(|it| CutChunk {
        path: document.path.clone(),
        start_line: it.start_line,
        end_line: it.end_line,
        id: None,
        hash: sha256_hex(it.text.as_bytes()),
        chars: it.text.chars().count() as u64,
    }));
}

fn theirs(document: &Document, generation: Generation, chunks: &mut Vec<CutChunk>) {
    let source = match document.provenance.source.as_str() {
        "sessions" => "sessions",
        _ => "memory",
    };
    let cut = openclaw_chunks(&document.path, &document.text, generation);
    chunks.extend(cut.into_iter().map(|it| CutChunk {
        path: document.path.clone(),
        start_line: it.start_line,
        end_line: it.end_line,
        id: Some(it.id(source, &document.path, NO_MODEL)),
        hash: it.hash,
        chars: it.text.chars().count() as u64,
    }));
}

impl Report for Cut {
    fn write_human(&self, out: &mut dyn Write) -> io::Result<()> {
        for chunk in &self.chunks {
            let CutChunk { path, start_line, end_line, hash, chars, .. } = chunk;
            let name = chunk.id.as_ref().unwrap_or(hash);
            let (path, name) = (safe(path), safe(name));
            write!(out, "{BOLD}{path}#L{start_line}-L{end_line}{BOLD:#}")?;
            writeln!(out, "  {chars} characters  {DIM}{name}{DIM:#}")?;
        }
        let documents = count(self.documents, "document");
        writeln!(out, "{} of {documents}", count(self.chunks.len() as u64, "chunk"))
    }
}

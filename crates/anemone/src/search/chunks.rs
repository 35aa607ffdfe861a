//! How documents are cut into chunks, by us or by OpenClaw.

use std::collections::BTreeMap;

use anemone_format::sha256_hex;
use anemone_index::{Document, Generation, openclaw_chunks, passages};
use serde::Serialize;

use super::index::{by_reason, each_document};
use super::target::TargetChoice;
use super::{SearchError, SourceSummary};
use crate::host::Host;

/// The model that OpenClaw names in ids when it has no embeddings.
const NO_MODEL: &str = "fts-only";

/// Who cuts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum Chunking {
    /// We do.
    #[serde(rename = "anemone")]
    Anemone,
    /// OpenClaw 2026.3 does.
    #[serde(rename = "openclaw-2026.3")]
    OpenClawThree,
    /// OpenClaw 2026.9 does.
    #[serde(rename = "openclaw-2026.9")]
    OpenClawNine,
}

/// The chunks of all documents.
#[derive(Debug, Serialize)]
pub struct ChunkReport {
    ok: bool,
    /// What was cut.
    pub source: SourceSummary,
    /// By whom.
    pub chunking: Chunking,
    /// How many documents there are.
    pub documents: u64,
    /// The chunks, by path and place.
    pub chunks: Vec<ListedChunk>,
    /// How much is not searched, by reason.
    pub skipped: BTreeMap<&'static str, u64>,
}

/// One chunk.
#[derive(Debug, Serialize)]
pub struct ListedChunk {
    /// The document.
    pub path: String,
    /// Its first line.
    pub start_line: u32,
    /// Its last line.
    pub end_line: u32,
    /// The id that the other program gives it; ours are numbers of one index and mean nothing
    /// outside it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// SHA-256 of the text.
    pub hash: String,
    /// How long it is.
    pub chars: u64,
}

/// Cuts every document.
pub fn list_chunks(
    choice: &TargetChoice,
    chunking: Chunking,
    host: &Host,
) -> Result<ChunkReport, SearchError> {
    let machine = host.machine()?;
    let target = choice.find(&machine, host)?;
    let mut documents = 0;
    let mut chunks = Vec::new();
    let skipped = each_document(&target, &mut |document| {
        documents += 1;
        match chunking {
            Chunking::Anemone => ours(&document, &mut chunks),
            Chunking::OpenClawThree => theirs(&document, Generation::Three, &mut chunks),
            Chunking::OpenClawNine => theirs(&document, Generation::Nine, &mut chunks),
        }
    })?;
    // In the order of the paths, and within one document in that of the text.
    chunks.sort_by(|a: &ListedChunk, b| a.path.cmp(&b.path));
    Ok(ChunkReport {
        ok: true,
        source: SourceSummary::of(&target),
        chunking,
        documents,
        chunks,
        skipped: by_reason(&skipped),
    })
}

fn ours(document: &Document, chunks: &mut Vec<ListedChunk>) {
    chunks.extend(passages(document).into_iter().map(|it| ListedChunk {
        path: document.path.clone(),
        start_line: it.start_line,
        end_line: it.end_line,
        id: None,
        hash: sha256_hex(it.text.as_bytes()),
        chars: it.text.chars().count() as u64,
    }));
}

fn theirs(document: &Document, generation: Generation, chunks: &mut Vec<ListedChunk>) {
    let source = match document.provenance.source.as_str() {
        "sessions" => "sessions",
        _ => "memory",
    };
    let cut = openclaw_chunks(&document.path, &document.text, generation);
    chunks.extend(cut.into_iter().map(|it| ListedChunk {
        path: document.path.clone(),
        start_line: it.start_line,
        end_line: it.end_line,
        id: Some(it.id(source, &document.path, NO_MODEL)),
        hash: it.hash,
        chars: it.text.chars().count() as u64,
    }));
}

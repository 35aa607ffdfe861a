//! How documents are cut into chunks, by us or as a runtime cuts them.

use std::collections::BTreeMap;

use anemone_format::sha256_hex;
use anemone_index::{Document, passages};
use anemone_runtimes::{NativeChunk, NativeChunker};
use serde::{Serialize, Serializer};

use super::index::{by_reason, each_document};
use super::target::TargetChoice;
use super::{SearchError, SourceSummary};
use crate::host::Host;

/// How documents are cut into chunks.
#[derive(Clone, Copy, Debug)]
pub enum Chunking {
    /// As we do.
    Anemone,
    /// As a runtime does.
    Native(&'static NativeChunker),
}

impl Chunking {
    /// Returns the name by which a user chooses it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Anemone => "anemone",
            Self::Native(chunker) => chunker.name,
        }
    }
}

impl Serialize for Chunking {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

/// The chunks of all documents.
#[derive(Debug, Serialize)]
pub struct ChunkReport {
    /// What was cut.
    pub source: SourceSummary,
    /// How.
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
            Chunking::Native(chunker) => native(&document, chunker, &mut chunks),
        }
    })?;
    // In the order of the paths, and within one document in that of the text.
    chunks.sort_by(|a: &ListedChunk, b| a.path.cmp(&b.path));
    Ok(ChunkReport {
        source: SourceSummary::of(&target),
        chunking,
        documents,
        chunks,
        skipped: by_reason(&skipped),
    })
}

fn ours(document: &Document, chunks: &mut Vec<ListedChunk>) {
    chunks.extend(passages(document).into_iter().map(|passage| ListedChunk {
        path: document.path.clone(),
        start_line: passage.start_line,
        end_line: passage.end_line,
        id: None,
        hash: sha256_hex(passage.text.as_bytes()),
        chars: passage.text.chars().count() as u64,
    }));
}

fn native(document: &Document, chunker: &NativeChunker, chunks: &mut Vec<ListedChunk>) {
    chunks.extend((chunker.cut)(document).into_iter().map(|chunk| {
        let NativeChunk { start_line, end_line, id, hash, chars } = chunk;
        ListedChunk { path: document.path.clone(), start_line, end_line, id: Some(id), hash, chars }
    }));
}

//! Documents in, hits out.
//!
//! A [`DocumentSource`] yields documents; the index stores them, derived and deletable, in its own
//! folder, and answers questions with focused pieces of them. It knows Markdown and rows, not
//! runtimes. It reads no clock and no environment, and prints nothing.

#![warn(missing_docs)]

mod digest;
mod document;
mod embedding;
mod erase;
mod excerpt;
mod index;
mod known;
#[cfg(any(test, feature = "testing"))]
#[doc(hidden)]
pub mod law_tests;
mod near;
mod outline;
mod passages;
mod peek;
mod profile;
mod progress;
mod rank;
mod refresh;
mod request;
mod search;
mod source;
mod stamped;
mod store;
mod text;
mod vector;
mod voice;

pub use document::{Document, Format, Provenance};
pub use embedding::{
    CarriedReport, EmbeddingError, EmbeddingReport, EmbeddingWork, Replace, VectorSet,
};
pub use erase::TextHashes;
pub use excerpt::{Excerpt, ExcerptLimits};
pub use index::{Freshness, Index, OpenIndexError, QueryError, RefreshError, RefreshExtras};
pub use known::{Kinds, KnownDocument};
pub use near::SimilarPlace;
#[cfg(any(test, feature = "testing"))]
pub use passages::cited_lines;
pub use passages::{Passage, passages};
pub use peek::{IndexContents, IndexState, peek};
pub use profile::{ProfileError, RankingChoice, RankingProfile, TextVectors, embed_texts};
pub use progress::{IndexProgress, NoProgress};
pub use request::{
    Answer, AnswerNote, Explanation, Hit, Rankers, RankingSetting, RankingTuning, Request,
    VectorOutcome, VectorRanker,
};
pub use source::folder::{
    FileSource, FolderLimit, FolderRules, FolderSource, MAX_FILE_BYTES, MarkdownFolder,
    PatternError, is_markdown, markdown_document, text_of_bytes,
};
pub use source::{
    CarriedVector, DocumentSource, FileStamp, Listing, SkipReason, SkippedDocument, SourceEntry,
    SourceError,
};
pub use store::{StoreError, is_index, may_hold_index, remove_index};
pub use voice::begins_turn;

//! Text to vectors: what an embedder is, and how its vectors are told from another's.
//!
//! Vectors of two models cannot be compared, so each vector is kept with the identity of the
//! embedder that made it.

#![warn(missing_docs)]

mod embedder;

pub use embedder::{EmbedError, Embedder, Identity, Purpose};

//! Text to vectors: what an embedder is, and how its vectors are distinguished from another's.
//!
//! Vectors of two models cannot be compared, so each vector is stored with the identity of the
//! embedder that made it.

#![warn(missing_docs)]

mod builtin;
mod client;
mod embedder;
mod fingerprint;
mod key;
mod local;
mod remote;
mod static_model;
mod tensors;
mod tokens;
mod transformer;

pub use builtin::Builtin;
pub use client::http_client;
pub use embedder::{Effort, EmbedError, Embedder, EmbeddingBatch, ModelIdentity, Purpose};
pub use key::{ApiKey, KeyError};
pub use local::LocalModel;
pub use remote::{
    AnswerError, Encoding, Patience, Pause, Provider, Remote, RemoteError, RemoteSettings, Sleep,
    estimate_tokens, is_loopback,
};
pub use tensors::ModelError;
pub use tokens::Tokenizer;

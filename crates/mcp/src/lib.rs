//! Offers a memory to agents over the Model Context Protocol.
//!
//! What a memory can do is behind one trait, [`MemoryService`]; this crate turns calls into questions to
//! it, and its answers into results that a model can use. Only this crate names types of the
//! protocol. It prints nothing, knows no runtime and opens no file: it is handed streams, a
//! listener and a token.

#![warn(missing_docs)]

mod answer;
mod arguments;
mod changes;
mod desk;
mod handler;
mod http;
mod message;
mod near;
mod prompts;
mod quote;
mod resources;
mod schema;
mod settings;
mod stdio;
mod subscriptions;
mod tools;

pub use desk::{
    Changed, ContextAsked, ContextText, Document, Duplicate, Forgetting, Forgotten, ForgottenEntry,
    Found, FoundMemory, Holder, MemoryService, Origin, ReadLines, ReadStatus, Reading, Refusal,
    Remembered, Remembering, SearchQuestion, SessionKind, Status, Watching,
};
pub use http::{HttpSettings, is_token, serve_http};
pub use settings::{ServeError, Settings, ToolSet, ToolWords, Words};
pub use stdio::serve_stdio;

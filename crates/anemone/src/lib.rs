//! The use cases of Anemone, as a library: find an agent, search and read its memory, remember,
//! forget, undo, back it up, move it, and prove that nothing was lost.
//!
//! Every use case has the same shape. It takes a request, which is a plain struct, and a
//! [`Host`](host::Host), which provides everything from outside: folders, a clock, new ids, keys,
//! and the user to ask. It returns a report, a plain struct that can be serialised, or an error, an
//! enum with one variant for each way in which it can fail. Nothing here prints, reads the
//! environment or asks the system's clock, so the same call serves a command line, a server and a
//! test.
//!
//! | use case | request and function | example |
//! |---|---|---|
//! | search an agent, a folder or an archive | [`SearchRequest`](search::SearchRequest), [`search()`](search::search) | `examples/search.rs` |
//! | read lines of a document | [`ReadRequest`](search::read::ReadRequest), [`read`](search::read::read) | |
//! | back an agent up, and restore it | modules `export` and `import` | `examples/backup.rs` |
//! | remember, and recall | modules `remember`, `forget` and `undo` | `examples/remember.rs` |
//! | list, tidy and audit a memory | [`list`], [`tidy`], [`audit`] | |
//! | compose what a session sees | [`ContextRequest`](context::ContextRequest), [`context()`](context::context) | |
//! | inspect, compare and change archives | [`inspect`], [`diff`], [`delta`], [`purge`], [`validate`], [`seal`] | |
//! | give another program a memory | [`ConnectRequest`](connect::ConnectRequest), [`connect()`](connect::connect) | |
//!
//! The command line, the MCP server and the `alf` drop-in are doors: they turn arguments into a
//! request, and a report or an error into text, JSON or an answer of a protocol.

#![warn(missing_docs)]

pub mod agent;
pub mod agent_memory;
pub mod agents;
pub mod alf;
pub mod archive;
pub mod audit;
pub mod chat;
pub mod check;
pub mod config;
pub mod connect;
pub mod context;
pub mod days;
pub mod delta;
pub mod diff;
pub mod download;
pub mod embedder;
pub mod entry_reference;
pub mod export;
pub mod exports;
pub mod files;
pub mod forget;
pub mod hooks;
pub mod host;
pub mod identity;
pub mod import;
pub mod inspect;
pub mod keys;
pub mod known_folders;
pub mod list;
pub mod migrate;
pub mod models;
pub mod nearest;
mod note_file;
pub mod proof;
pub mod purge;
pub mod remember;
pub mod restore;
pub mod result_file;
pub mod seal;
pub mod sealed_header;
pub mod search;
pub mod settings;
pub mod snapshot;
pub mod statement;
pub mod status;
mod store_entries;
pub mod survey;
pub mod system;
pub mod tally;
pub mod text;
mod text_times;
pub mod tidy;
pub mod undo;
pub mod validate;
pub mod watcher;

#[cfg(test)]
mod testing;

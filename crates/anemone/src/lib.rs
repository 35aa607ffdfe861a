//! The use cases of Anemone: find an agent, export, import, migrate and prove, search and read,
//! remember, forget, undo.
//!
//! A use case takes a request and a [`Host`](host::Host) and returns a report or an error: plain
//! data. Nothing here prints, reads the environment or asks the system's clock. The command line,
//! the MCP server and the `alf` drop-in are doors: they turn arguments into a request, and a report
//! into text, JSON or an answer of a protocol.

pub mod agent;
pub mod audit;
pub mod chat;
pub mod config;
pub mod connect;
pub mod context;
pub mod days;
pub mod download;
pub mod embedder;
pub mod entry_reference;
pub mod error;
pub mod exports;
pub mod files;
pub mod forget;
pub mod hooks;
pub mod host;
pub mod keys;
pub mod known_folders;
pub mod list;
pub mod living;
pub mod models;
pub mod nearest;
pub mod proof;
pub mod remember;
pub mod restore;
pub mod sealed_header;
pub mod search;
pub mod snapshot;
pub mod survey;
pub mod system;
pub mod tally;
pub mod text;
pub mod tidy;
pub mod undo;
pub mod watcher;
pub mod words;

#[cfg(test)]
mod testing;

//! Codex, which can be connected.

pub(crate) mod connect;

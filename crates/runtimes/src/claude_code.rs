//! Claude Code, which can be connected, and whose hooks call us.

pub(crate) mod connect;
pub(crate) mod hooks;

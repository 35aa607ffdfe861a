//! Codex: an interactive terminal program.

mod connect;

use crate::kit::Runtime;

/// Describes Codex, which has no agents of its own.
pub(crate) static CODEX: Runtime = Runtime {
    name: "codex",
    title: "Codex",
    variables: &["CODEX_HOME"],
    run_by: &[".codex/config.toml"],
    connect: Some(&connect::CONNECT),
    ..Runtime::WITHOUT_AGENTS
};

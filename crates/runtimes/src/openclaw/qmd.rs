//! The sidecar QMD, which searched instead of OpenClaw's own index until it was removed.
//!
//! Its collections are folders of the user that the configuration names; they are searched like
//! other extra paths. What it keeps beside the agent can be made again: an index, and exports of
//! conversations as Markdown. The exports are searched where the configuration has the sidecar export
//! and search conversations: elsewhere they are private to the install, and may be years old. Like
//! transcripts they are searched without secrets.

use std::path::PathBuf;

use serde_json::Value;

use super::config::Config;
use super::install::agent_folder;
use crate::kit::{ExtraPlace, FoundAgent, LeftOut, LeftOutReason, left_out_size};

/// The folder of the sidecar, below the folder that the install keeps of an agent.
const FOLDER: &str = "qmd";
/// The conversations that it exported, below that folder.
const EXPORTS: &str = "sessions";

/// Returns the lists of collections in a configuration, if the sidecar is what searches.
pub(super) fn collections(config: &Value) -> &'static [&'static str] {
    let backend = config.pointer("/memory/backend").and_then(Value::as_str);
    if !backend.is_some_and(|name| name.trim().eq_ignore_ascii_case("qmd")) {
        return &[];
    }
    &[
        "/memory/qmd/paths",
        "/agents/defaults/memorySearch/qmd/extraCollections",
        "/memorySearch/qmd/extraCollections",
        "/memory/search/qmd/extraCollections",
    ]
}

fn folder(agent: &FoundAgent) -> Option<PathBuf> {
    Some(agent.install.as_ref()?.join(agent_folder(&agent.alias)?).join(FOLDER))
}

/// Whether the sidecar is what searches, and searches conversations too.
pub(super) fn searches_sessions(config: &Value) -> bool {
    let enabled = config.pointer("/memory/qmd/sessions/enabled").and_then(Value::as_bool);
    enabled == Some(true) && !collections(config).is_empty()
}

/// Returns where the exports of conversations are searched, if they are.
pub(super) fn exports(agent: &FoundAgent, config: Option<&Config>) -> Option<ExtraPlace> {
    config.filter(|config| config.qmd_sessions)?;
    let path = folder(agent)?.join(EXPORTS);
    path.is_dir().then_some(ExtraPlace { path, pattern: None, redacted: true })
}

/// Names what the sidecar keeps of an agent, which does not travel.
pub(super) fn left_out(agent: &FoundAgent) -> Vec<LeftOut> {
    let Some(folder) = folder(agent).filter(|folder| folder.is_dir()) else { return Vec::new() };
    let (files, bytes) = left_out_size(&folder);
    let path = folder.display().to_string();
    vec![LeftOut { path, reason: LeftOutReason::Skipped, files, bytes }]
}

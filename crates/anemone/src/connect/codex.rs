//! Codex: the MCP server in `config.toml`.

use std::path::Path;

use serde_json::Value;

use super::document::{Format, RefuseError, Want};
use super::toml_file;
use super::wish::{Entry, FileWish, Wish, is_own_server, known_member, names, no_orphans};

const ENTRY: &str = include_str!("../../../../integrations/codex/config.toml");

pub(super) fn wish(folder: &Path, entry: Option<&Entry>) -> Result<Wish, RefuseError> {
    let template = toml_file::parse(ENTRY)?;
    let server = entry.map(|entry| Want::Member {
        path: names(&["mcp_servers"]),
        key: "anemone".to_owned(),
        value: entry.mcp(&template["mcp_servers"]["anemone"]),
    });
    Ok(Wish {
        files: vec![FileWish {
            path: folder.join("config.toml"),
            format: Format::Toml,
            wants: server.into_iter().collect(),
            known: Box::new(known_server),
            orphans: no_orphans,
        }],
        own: Vec::new(),
        notes: Vec::new(),
        next: "start a new session of Codex; `codex mcp list` shows what was added",
    })
}

fn known_server(document: &Value) -> Vec<Want> {
    known_member(document, &["mcp_servers"], "anemone", is_own_server).into_iter().collect()
}

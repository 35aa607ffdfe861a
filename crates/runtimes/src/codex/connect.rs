//! The MCP server in Codex' `config.toml`.

use serde_json::Value;

use crate::kit::connect::desired::{is_own_server, known_member, names};
use crate::kit::connect::{
    ConfigEdit, ConfigFormat, Connect, ConnectPlace, ConnectedMemory, Connection, DesiredConfig,
    DesiredFile, RefuseError, toml_file,
};

const ENTRY: &str = include_str!("../../../../integrations/codex/config.toml");

/// How Codex is connected.
pub(crate) const CONNECT: Connect = Connect {
    name: "codex",
    title: "Codex",
    config: "~/.codex/config.toml, or below CODEX_HOME",
    options: &[],
    memory: ConnectedMemory::Agent,
    locate,
    desire,
    writes: |_| false,
    shows_tools_to: |_, _| true,
    add_http_server: None,
};

fn locate(place: &ConnectPlace<'_>) -> DesiredConfig {
    let folder = place.resolved("CODEX_HOME").unwrap_or_else(|| place.machine.home.join(".codex"));
    let file = DesiredFile::bare(folder.join("config.toml"), ConfigFormat::Toml, known_server);
    let next = "start a new session of Codex; `codex mcp list` shows what was added";
    DesiredConfig::bare(vec![file], next)
}

fn desire(
    place: &ConnectPlace<'_>,
    connection: &Connection<'_>,
) -> Result<DesiredConfig, RefuseError> {
    let template = toml_file::parse(ENTRY)?;
    let mut desired = locate(place);
    desired.files[0].wants.push(ConfigEdit::Member {
        path: names(&["mcp_servers"]),
        key: "anemone".to_owned(),
        value: connection.entry.mcp(&template["mcp_servers"]["anemone"]),
    });
    Ok(desired)
}

fn known_server(document: &Value) -> Vec<ConfigEdit> {
    known_member(document, &["mcp_servers"], "anemone", is_own_server).into_iter().collect()
}

//! ZeroClaw: the MCP server in `config.toml`, and since schema 3 a bundle that one agent is given.

use serde_json::Value;

use super::RUNTIME;
use crate::kit::connect::desired::{is_own_server, known_elements, known_member, names};
use crate::kit::connect::{
    ConfigEdit, ConfigFormat, Connect, ConnectOption, ConnectPlace, ConnectedMemory, Connection,
    DesiredConfig, DesiredFile, RefuseError, at, toml_file,
};

const ENTRY: &str = include_str!("../../../../integrations/zeroclaw/mcp.toml");
/// Since this version of the configuration, an agent sees only the servers of its bundles.
const BUNDLES_SINCE: i64 = 3;
/// How a user adds agents to the configuration.
const ADD_AGENTS: &str =
    "start ZeroClaw once, which adds its agents to this file, or add [agents.NAME] to it";

/// How ZeroClaw is connected.
pub(crate) const CONNECT: Connect = Connect {
    name: RUNTIME,
    title: "ZeroClaw",
    config: "~/.zeroclaw/config.toml, or below ZEROCLAW_CONFIG_DIR",
    options: &[ConnectOption::To],
    memory: ConnectedMemory::Agent,
    locate,
    desire,
    writes: |_| false,
    shows_tools_to,
    add_http_server: None,
};

fn locate(place: &ConnectPlace<'_>) -> DesiredConfig {
    let folder = place.absolute("ZEROCLAW_CONFIG_DIR");
    let folder = folder.unwrap_or_else(|| place.machine.home.join(".zeroclaw"));
    let file = DesiredFile::bare(folder.join("config.toml"), ConfigFormat::Toml, known);
    let next = "restart ZeroClaw, or have it read its configuration again";
    DesiredConfig::bare(vec![DesiredFile { orphans, ..file }], next)
}

fn desire(
    place: &ConnectPlace<'_>,
    connection: &Connection<'_>,
) -> Result<DesiredConfig, RefuseError> {
    let template = toml_file::parse(ENTRY)?;
    let document = connection.document;
    // If the user turned this switch off, turning it on would also run other servers.
    if document["mcp"]["enabled"] == false && has_others(document) {
        return Err(RefuseError::SwitchedOff("mcp.enabled".to_owned()));
    }
    let mut desired = locate(place);
    let wants = &mut desired.files[0].wants;
    wants.push(ConfigEdit::Switch {
        path: names(&["mcp"]),
        key: "enabled".to_owned(),
        of: "servers".to_owned(),
    });
    wants.push(ConfigEdit::Element {
        path: names(&["mcp", "servers"]),
        value: connection.entry.mcp(&template["mcp"]["servers"][0]),
    });
    if has_bundles(document) {
        wants.push(ConfigEdit::Member {
            path: names(&["mcp_bundles"]),
            key: "anemone".to_owned(),
            value: template["mcp_bundles"]["anemone"].clone(),
        });
        // The named agent gets the tools, or else the one whose memory it is.
        let agent = granted(document, connection.agent.or(connection.owner))?;
        wants.push(ConfigEdit::Element {
            path: names(&["agents", &agent, "mcp_bundles"]),
            value: "anemone".into(),
        });
    }
    Ok(desired)
}

/// Returns whether there are servers that are not ours.
fn has_others(document: &Value) -> bool {
    let servers = document["mcp"]["servers"].as_array();
    servers.is_some_and(|servers| servers.iter().any(|server| !is_own_server(server)))
}

/// Returns whether agents are given servers by bundles.
fn has_bundles(document: &Value) -> bool {
    document["schema_version"].as_i64().is_some_and(|version| version >= BUNDLES_SINCE)
}

/// Returns the agent that gets the tools: the requested one, or else the only one. A memory is
/// never shown to agents that were not named, and if no agent would see the tools, nothing is
/// connected.
fn granted(document: &Value, agent: Option<&str>) -> Result<String, RefuseError> {
    let agents = document["agents"].as_object();
    let there: Vec<String> = agents.into_iter().flat_map(|agents| agents.keys().cloned()).collect();
    match (agent, there.as_slice()) {
        (Some(name), _) if there.iter().any(|known| known == name) => Ok(name.to_owned()),
        (Some(name), _) => {
            Err(RefuseError::NoAgent { name: name.to_owned(), there, remedy: ADD_AGENTS })
        }
        (None, [only]) => Ok(only.clone()),
        (None, []) => Err(RefuseError::NoAgents(ADD_AGENTS)),
        (None, _) => Err(RefuseError::ManyAgents(there)),
    }
}

/// Whether an agent would see the server.
fn shows_tools_to(document: &Value, agent: &str) -> bool {
    !has_bundles(document) || granted(document, Some(agent)).is_ok()
}

fn known(document: &Value) -> Vec<ConfigEdit> {
    let mut wants = known_elements(document, &["mcp", "servers"], is_own_server);
    if wants.is_empty() {
        // A bundle of that name is ours only together with the server.
        return wants;
    }
    let is_own_bundle = |bundle: &Value| bundle["servers"] == serde_json::json!(["anemone"]);
    wants.extend(known_member(document, &["mcp_bundles"], "anemone", is_own_bundle));
    wants.extend(grants(document));
    wants
}

/// Returns where agents are given a bundle that no longer exists.
fn orphans(document: &Value) -> Vec<ConfigEdit> {
    match document["mcp_bundles"].get("anemone") {
        Some(_) => Vec::new(),
        None => grants(document),
    }
}

/// Returns where agents are given the bundle.
fn grants(document: &Value) -> Vec<ConfigEdit> {
    let agents = at(document, &names(&["agents"])).and_then(Value::as_object);
    let of_agent = |name: &String| {
        known_elements(document, &["agents", name, "mcp_bundles"], |bundle| bundle == "anemone")
    };
    agents.into_iter().flat_map(serde_json::Map::keys).flat_map(of_agent).collect()
}

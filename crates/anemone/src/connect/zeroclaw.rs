//! ZeroClaw: the MCP server in `config.toml`, and since schema 3 a bundle that one agent is given.

use std::path::Path;

use serde_json::Value;

use super::document::{Format, RefuseError, Want, at};
use super::toml_file;
use super::wish::{Entry, FileWish, Wish, is_own_server, known_elements, known_member, names};

const ENTRY: &str = include_str!("../../../../integrations/zeroclaw/mcp.toml");
/// From this version of the configuration on an agent sees only the servers of its bundles.
const BUNDLES_SINCE: i64 = 3;

/// Whom the tools are for.
pub(super) struct Grant<'a> {
    /// The agent that the user named.
    pub(super) named: Option<&'a str>,
    /// The agent whose memory it is, if it is one of ZeroClaw's.
    pub(super) owner: Option<&'a str>,
}

pub(super) fn wish(
    folder: &Path,
    document: &Value,
    entry: Option<&Entry>,
    grant: &Grant<'_>,
) -> Result<Wish, RefuseError> {
    let template = toml_file::parse(ENTRY)?;
    let mut wants = Vec::new();
    if let Some(entry) = entry {
        // Somebody did not want what is there to run.
        if document["mcp"]["enabled"] == false && has_others(document) {
            return Err(RefuseError::SwitchedOff { path: "mcp.enabled".to_owned() });
        }
        wants.push(Want::Switch {
            path: names(&["mcp"]),
            key: "enabled".to_owned(),
            of: "servers".to_owned(),
        });
        wants.push(Want::Element {
            path: names(&["mcp", "servers"]),
            value: entry.mcp(&template["mcp"]["servers"][0]),
        });
        if has_bundles(document) {
            wants.push(Want::Member {
                path: names(&["mcp_bundles"]),
                key: "anemone".to_owned(),
                value: template["mcp_bundles"]["anemone"].clone(),
            });
            wants.push(Want::Element {
                path: names(&["agents", &granted(document, grant)?, "mcp_bundles"]),
                value: "anemone".into(),
            });
        }
    }
    Ok(Wish {
        files: vec![FileWish {
            path: folder.join("config.toml"),
            format: Format::Toml,
            wants,
            known: Box::new(known),
            orphans,
        }],
        own: Vec::new(),
        notes: Vec::new(),
        next: "restart ZeroClaw, or have it read its configuration again",
    })
}

/// Says whether there are servers that are not ours.
fn has_others(document: &Value) -> bool {
    let servers = document["mcp"]["servers"].as_array();
    servers.is_some_and(|it| it.iter().any(|it| !is_own_server(it)))
}

/// Says whether agents are given servers by bundles.
fn has_bundles(document: &Value) -> bool {
    document["schema_version"].as_i64().is_some_and(|it| it >= BUNDLES_SINCE)
}

/// Returns the agent that gets the tools: the one that was named, else the one whose memory it is,
/// else the only one. A memory is not shown to agents that nobody named, and where no agent would
/// see the tools, nothing is connected.
fn granted(document: &Value, grant: &Grant<'_>) -> Result<String, RefuseError> {
    let agents = document["agents"].as_object();
    let there: Vec<String> = agents.into_iter().flat_map(|it| it.keys().cloned()).collect();
    match (grant.named.or(grant.owner), there.as_slice()) {
        (Some(name), _) if there.iter().any(|it| it == name) => Ok(name.to_owned()),
        (Some(name), _) => Err(RefuseError::NoAgent { name: name.to_owned(), there }),
        (None, [only]) => Ok(only.clone()),
        (None, []) => Err(RefuseError::NoAgents),
        (None, _) => Err(RefuseError::ManyAgents { there }),
    }
}

/// Whether an agent would see the server.
pub(super) fn shows_tools_to(document: &Value, agent: &str) -> bool {
    let grant = Grant { named: Some(agent), owner: None };
    !has_bundles(document) || granted(document, &grant).is_ok()
}

fn known(document: &Value) -> Vec<Want> {
    let mut wants = known_elements(document, &["mcp", "servers"], is_own_server);
    if wants.is_empty() {
        // A bundle of that name is ours only together with the server.
        return wants;
    }
    let is_own_bundle = |it: &Value| it["servers"] == serde_json::json!(["anemone"]);
    wants.extend(known_member(document, &["mcp_bundles"], "anemone", is_own_bundle));
    wants.extend(grants(document));
    wants
}

/// Returns where agents are given a bundle that is not there any more.
fn orphans(document: &Value) -> Vec<Want> {
    match document["mcp_bundles"].get("anemone") {
        Some(_) => Vec::new(),
        None => grants(document),
    }
}

/// Returns where agents are given the bundle.
fn grants(document: &Value) -> Vec<Want> {
    let agents = at(document, &names(&["agents"])).and_then(Value::as_object);
    let of_agent = |name: &String| {
        known_elements(document, &["agents", name, "mcp_bundles"], |it| it == "anemone")
    };
    agents.into_iter().flat_map(serde_json::Map::keys).flat_map(of_agent).collect()
}

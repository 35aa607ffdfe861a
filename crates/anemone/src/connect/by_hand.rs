//! Programs whose configuration we do not edit: the text to add, and the usual path of the
//! configuration.

use anemone_runtimes::connect::ServerEntry;
use serde_json::{Value, json};

/// The key below which most programs list their servers.
const COMMON_KEY: &str = "mcpServers";

/// A program that takes MCP servers from a file that people edit.
struct Client {
    names: &'static [&'static str],
    file: &'static str,
    /// The key below which it lists its servers.
    key: &'static str,
}

const CLIENTS: [Client; 6] = [
    Client {
        names: &["claude-desktop"],
        file: "claude_desktop_config.json, which Settings > Developer opens",
        key: COMMON_KEY,
    },
    Client {
        names: &["cursor"],
        file: "~/.cursor/mcp.json, or .cursor/mcp.json in a project",
        key: COMMON_KEY,
    },
    Client {
        names: &["vscode", "vs-code", "copilot"],
        file: ".vscode/mcp.json in a project, or what `MCP: Open User Configuration` opens",
        key: "servers",
    },
    Client { names: &["gemini-cli", "gemini"], file: "~/.gemini/settings.json", key: COMMON_KEY },
    Client { names: &["windsurf"], file: "~/.codeium/windsurf/mcp_config.json", key: COMMON_KEY },
    Client {
        names: &["cline", "continue", "zed", "other"],
        file: "the settings for MCP servers of that program",
        key: COMMON_KEY,
    },
];

/// Returns every name by which such programs are known, for completions and messages.
pub fn names() -> impl Iterator<Item = &'static str> {
    CLIENTS.iter().flat_map(|client| client.names.iter().copied())
}

/// Returns where a program usually takes its servers from.
pub(super) fn file_of(name: &str) -> &'static str {
    let known = CLIENTS.iter().find(|client| client.names.contains(&name));
    known.map_or("the file in which that program lists its MCP servers", |client| client.file)
}

/// Returns the text to add.
pub(super) fn config(name: &str, entry: &ServerEntry) -> Value {
    let template = json!({ "args": ["mcp"] });
    let args = entry.mcp_args(&template);
    let known = CLIENTS.iter().find(|client| client.names.contains(&name));
    let key = known.map_or(COMMON_KEY, |client| client.key);
    json!({ key: { "anemone": { "command": entry.program, "args": args } } })
}

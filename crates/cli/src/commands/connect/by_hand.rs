//! Programs whose configuration we do not edit: what to add to it, and where it usually is.

use serde_json::{Value, json};

use super::wish::Entry;

/// A program that takes MCP servers from a file that people edit.
struct Client {
    names: &'static [&'static str],
    file: &'static str,
}

const CLIENTS: [Client; 6] = [
    Client {
        names: &["claude-desktop"],
        file: "claude_desktop_config.json, which Settings > Developer opens",
    },
    Client { names: &["cursor"], file: "~/.cursor/mcp.json, or .cursor/mcp.json in a project" },
    Client {
        names: &["vscode", "vs-code", "copilot"],
        file: ".vscode/mcp.json in a project; there the key is `servers`, not `mcpServers`",
    },
    Client { names: &["gemini-cli", "gemini"], file: "~/.gemini/settings.json" },
    Client { names: &["windsurf"], file: "~/.codeium/windsurf/mcp_config.json" },
    Client {
        names: &["cline", "continue", "zed", "other"],
        file: "the settings for MCP servers of that program",
    },
];

/// Returns every name by which such programs are known, for completions and messages.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    CLIENTS.iter().flat_map(|it| it.names.iter().copied())
}

/// Returns where a program usually takes its servers from.
pub(super) fn file_of(name: &str) -> &'static str {
    let known = CLIENTS.iter().find(|it| it.names.contains(&name));
    known.map_or("the file in which that program lists its MCP servers", |it| it.file)
}

/// Returns what is to be added: the form that most clients share.
pub(super) fn config(entry: &Entry) -> Value {
    let template = json!({ "args": ["mcp"] });
    let args = entry.mcp_args(&template);
    json!({ "mcpServers": { "anemone": { "command": entry.program, "args": args } } })
}

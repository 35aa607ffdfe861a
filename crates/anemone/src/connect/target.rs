//! The programs that can be connected.

/// The programs whose configuration we edit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// `~/.claude/settings.json` and `~/.claude.json`, or below `CLAUDE_CONFIG_DIR`.
    ClaudeCode,
    /// `~/.openclaw/openclaw.json`, or where `OPENCLAW_CONFIG_PATH` and `OPENCLAW_STATE_DIR` say.
    OpenClaw,
    /// `~/.zeroclaw/config.toml`, or below `ZEROCLAW_CONFIG_DIR`.
    ZeroClaw,
    /// `~/.codex/config.toml`, or below `CODEX_HOME`.
    Codex,
}

impl Target {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::ClaudeCode, Self::OpenClaw, Self::ZeroClaw, Self::Codex];

    /// Returns its name.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::ClaudeCode => "claude-code",
            Self::OpenClaw => "openclaw",
            Self::ZeroClaw => "zeroclaw",
            Self::Codex => "codex",
        }
    }
}

/// A program that a memory can be given to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Program {
    /// One whose configuration we edit.
    Known(Target),
    /// Any other MCP client; the user edits its configuration.
    Other(String),
}

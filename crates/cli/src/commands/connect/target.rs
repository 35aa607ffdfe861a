//! The programs that can be connected.

use std::ffi::OsStr;

use clap::builder::{PossibleValue, TypedValueParser};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, Command, Error, ValueEnum};

use super::by_hand;
use crate::nearest::Nearest;

/// The programs whose configuration we edit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Target {
    /// ~/.claude/settings.json and ~/.claude.json, or below CLAUDE_CONFIG_DIR
    ClaudeCode,
    /// ~/.openclaw/openclaw.json, or where OPENCLAW_CONFIG_PATH and OPENCLAW_STATE_DIR say
    #[value(name = "openclaw")]
    OpenClaw,
    /// ~/.zeroclaw/config.toml, or below ZEROCLAW_CONFIG_DIR
    #[value(name = "zeroclaw")]
    ZeroClaw,
    /// ~/.codex/config.toml, or below CODEX_HOME
    Codex,
}

impl Target {
    pub(super) const fn word(self) -> &'static str {
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
pub(super) enum Program {
    Known(Target),
    /// Any other MCP client; the user edits its configuration.
    Other(String),
}

/// Takes any name, and refuses one that looks like a misspelt name of a program we know.
#[derive(Clone)]
pub(super) struct ProgramParser;

impl TypedValueParser for ProgramParser {
    type Value = Program;

    fn parse_ref(
        &self,
        command: &Command,
        arg: Option<&Arg>,
        value: &OsStr,
    ) -> Result<Self::Value, Error> {
        let name = value.to_string_lossy();
        if let Ok(target) = Target::from_str(&name, true) {
            return Ok(Program::Known(target));
        }
        if by_hand::names().any(|it| it == name) {
            return Ok(Program::Other(name.into_owned()));
        }
        let mut nearest = Nearest::to(&name);
        let known = Target::value_variants().iter().map(|it| it.word());
        known.chain(by_hand::names()).for_each(|it| nearest.offer(it.to_owned()));
        let similar = nearest.into_names();
        if similar.is_empty() && !name.is_empty() {
            return Ok(Program::Other(name.into_owned()));
        }
        let mut error = Error::new(ErrorKind::InvalidValue).with_cmd(command);
        if let Some(arg) = arg {
            error.insert(ContextKind::InvalidArg, ContextValue::String(arg.to_string()));
        }
        error.insert(ContextKind::InvalidValue, ContextValue::String(name.into_owned()));
        if let Some(best) = similar.into_iter().next() {
            error.insert(ContextKind::SuggestedValue, ContextValue::String(best));
        }
        Err(error)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        let known = Target::value_variants().iter().filter_map(ValueEnum::to_possible_value);
        Some(Box::new(known.chain(by_hand::names().map(PossibleValue::new))))
    }
}

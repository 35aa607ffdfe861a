//! The programs that can be connected, as they are typed.

use std::ffi::OsStr;

use anemone::connect::{Program, Target, names_of_others};
use anemone::nearest::Nearest;
use clap::builder::{PossibleValue, TypedValueParser};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, Command, Error, ValueEnum};

/// The programs whose configuration we edit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum TargetArg {
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

impl From<TargetArg> for Target {
    fn from(target: TargetArg) -> Self {
        match target {
            TargetArg::ClaudeCode => Self::ClaudeCode,
            TargetArg::OpenClaw => Self::OpenClaw,
            TargetArg::ZeroClaw => Self::ZeroClaw,
            TargetArg::Codex => Self::Codex,
        }
    }
}

/// A program that a memory can be given to.
#[derive(Clone, Debug)]
pub(super) struct ProgramArg(pub(super) Program);

/// Takes any name, and refuses one that looks like a misspelt name of a program we know.
#[derive(Clone)]
pub(super) struct ProgramParser;

impl TypedValueParser for ProgramParser {
    type Value = ProgramArg;

    fn parse_ref(
        &self,
        command: &Command,
        arg: Option<&Arg>,
        value: &OsStr,
    ) -> Result<Self::Value, Error> {
        let name = value.to_string_lossy();
        if let Ok(target) = TargetArg::from_str(&name, true) {
            return Ok(ProgramArg(Program::Known(target.into())));
        }
        if names_of_others().any(|it| it == name) {
            return Ok(ProgramArg(Program::Other(name.into_owned())));
        }
        let mut nearest = Nearest::to(&name);
        let known = Target::ALL.iter().map(|target| target.word());
        known.chain(names_of_others()).for_each(|it| nearest.offer(it.to_owned()));
        let similar = nearest.into_names();
        if similar.is_empty() && !name.is_empty() {
            return Ok(ProgramArg(Program::Other(name.into_owned())));
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
        let known = TargetArg::value_variants().iter().filter_map(ValueEnum::to_possible_value);
        Some(Box::new(known.chain(names_of_others().map(PossibleValue::new))))
    }
}

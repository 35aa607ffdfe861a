//! The programs that can be connected, as they are typed.

use std::ffi::OsStr;

use anemone::connect::{ConnectTarget, Program, names_of_others};
use anemone::nearest::Nearest;
use clap::builder::{PossibleValue, TypedValueParser};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, Command, Error};

use crate::args::one_of;

/// Reads the name of a program whose configuration we edit.
pub(super) fn targets() -> impl TypedValueParser<Value = ConnectTarget> {
    one_of(ConnectTarget::all().map(|target| (target.name, target.config, target)))
}

fn possible_targets() -> impl Iterator<Item = PossibleValue> {
    ConnectTarget::all().map(|target| PossibleValue::new(target.name).help(target.config))
}

/// A program that a memory can be given to.
#[derive(Clone, Debug)]
pub(super) struct ProgramArg(pub(super) Program);

/// Accepts any name, but refuses one that looks like a misspelt name of a known program.
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
        if let Some(target) =
            ConnectTarget::all().find(|target| target.name.eq_ignore_ascii_case(&name))
        {
            return Ok(ProgramArg(Program::Known(target)));
        }
        if names_of_others().any(|known| known == name) {
            return Ok(ProgramArg(Program::Other(name.into_owned())));
        }
        let mut nearest = Nearest::to(&name);
        let known = ConnectTarget::all().map(|target| target.name);
        known.chain(names_of_others()).for_each(|known| nearest.offer(known.to_owned()));
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
        Some(Box::new(possible_targets().chain(names_of_others().map(PossibleValue::new))))
    }
}

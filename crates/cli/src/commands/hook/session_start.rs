//! `anemone hook session-start`

use std::io::{self, Write};

use anemone_memory::{
    Budget, Clock as _, ContextRequest, Fate, Framed, Generation, Part, SessionKind, compose, frame,
};
use clap::Args;
use serde::{Serialize, Serializer};
use serde_json::json;

use super::input::HookInput;
use crate::commands::Context;
use crate::commands::context::{Session, compose_for};
use crate::error::CliError;
use crate::living::{Living, MemoryArgs, SystemClock, delimiter};
use crate::output::Report;

/// Give a session what it should know when it begins
///
/// Answers with what `anemone context` composes. Claude Code's SessionStart on stdin is answered in
/// the form that it reads, and not longer than it takes in: what is longer it would put into a
/// file. It has instructions of its own, so it is given the memory alone (MEMORY.md, today's and
/// yesterday's notes), framed as data.
#[derive(Args, Debug)]
pub(crate) struct SessionStartArgs {
    #[command(flatten)]
    memory: MemoryArgs,

    /// Keep to so many characters: 500 to 1,000,000
    #[arg(long, value_name = "N", default_value_t = 9_500)]
    #[arg(value_parser = clap::value_parser!(u32).range(500..=1_000_000))]
    chars: u32,
}

/// What a session begins with.
pub(crate) struct Begun {
    text: String,
    /// Whether Claude Code reads it.
    for_claude_code: bool,
}

pub(super) fn run(
    args: &SessionStartArgs,
    input: &HookInput,
    context: &Context<'_>,
) -> Result<Begun, CliError> {
    let machine = context.environment.machine()?;
    let memory = input.memory(&args.memory, &machine);
    let for_claude_code = input.is_of_claude_code();
    let text = match for_claude_code {
        true => memory_alone(&memory.find(&machine, context)?, args.chars as usize)?,
        false => compose_for(Session::Main, &memory, args.chars as usize, context)?,
    };
    Ok(Begun { text, for_claude_code })
}

/// Returns what an agent remembers, and none of its instructions, within so many characters.
fn memory_alone(living: &Living, chars: usize) -> Result<String, CliError> {
    let clock = SystemClock;
    let asked = ContextRequest {
        session: SessionKind::Main,
        generation: Generation::OpenClaw9,
        budget: Budget::Runtime,
        today: clock.now().to_zoned(clock.zone()).date(),
        recalled: None,
        // The parts are framed below.
        delimiter: String::new(),
    };
    let is_memory = |it: &Part| {
        let is_there = matches!(it.fate, Fate::Whole | Fate::Cut { .. });
        is_there && (it.path == living.site.curated() || it.path.starts_with("memory/"))
    };
    let mut parts = compose(&living.site, &asked).parts;
    parts.retain(is_memory);
    let mut pages: Vec<(&str, &str)> =
        parts.iter().map(|it| (it.path.as_str(), it.content())).collect();
    let delimiter = delimiter()?;
    loop {
        let framed: Vec<Framed<'_>> = pages
            .iter()
            .map(|(path, text)| Framed { text, origin: None, date: None, path })
            .collect();
        let text = frame(&framed, &delimiter);
        let over = text.chars().count().saturating_sub(chars);
        let Some((_, last)) = pages.last_mut().filter(|_| over > 0) else { return Ok(text) };
        // The last page gives way first, from its end.
        let kept = last.chars().count().saturating_sub(over);
        *last = last.char_indices().nth(kept).map_or(*last, |(at, _)| &last[..at]);
        if last.trim().is_empty() {
            pages.pop();
        }
    }
}

impl Serialize for Begun {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.for_claude_code {
            let output = json!({
                "hookSpecificOutput": {
                    "hookEventName": "SessionStart",
                    "additionalContext": self.text,
                },
            });
            return output.serialize(serializer);
        }
        #[derive(Serialize)]
        struct Plain<'a> {
            ok: bool,
            context: &'a str,
        }
        Plain { ok: true, context: &self.text }.serialize(serializer)
    }
}

impl Report for Begun {
    fn write_human(&self, out: &mut dyn Write) -> io::Result<()> {
        write!(out, "{}", self.text)
    }
}

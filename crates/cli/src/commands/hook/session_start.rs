//! `anemone hook session-start`

use std::io::{self, Write};

use anemone_memory::{
    Budget, Clock as _, ContextRequest, Fate, Framed, Generation, Part, SessionKind, compose, frame,
};
use clap::Args;
use serde::{Serialize, Serializer};
use serde_json::json;

use super::input::HookInput;
use crate::args::MemoryArgs;
use crate::commands::Context;
use crate::commands::context::{Session, compose_for};
use crate::error::CliError;
use crate::living::{AgentMemory, delimiter};
use crate::output::Report;
use anemone::system::SystemClock;

/// Whitespace at the end of a page is not shown either, and nobody misses it.
const SLACK: usize = 8;

/// Give a session what it should know when it begins
///
/// Answers with what `anemone context` composes. Claude Code's SessionStart on stdin is answered in
/// the form that it reads, and not longer than it takes in: what is longer it would put into a
/// file. It has instructions of its own, so it is given the memory alone (MEMORY.md, today's and
/// yesterday's notes), framed as data. What is longer is cut at the end of a line, and the last
/// lines say how much more there is.
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
    let machine = context.host.machine()?;
    let memory = input.memory(&args.memory, &machine);
    let for_claude_code = input.is_of_claude_code();
    let text = match for_claude_code {
        true => memory_alone(&memory.choice().find(&machine, &context.host)?, args.chars as usize)?,
        false => compose_for(Session::Main, &memory, args.chars as usize, context)?,
    };
    Ok(Begun { text, for_claude_code })
}

/// Returns what an agent remembers, and none of its instructions, within so many characters.
fn memory_alone(living: &AgentMemory, chars: usize) -> Result<String, CliError> {
    let clock = &SystemClock;
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
    let mut pages: Vec<Page<'_>> = parts.iter().map(Page::of).collect();
    let mut left_out: Vec<Page<'_>> = Vec::new();
    let delimiter = delimiter()?;
    loop {
        let framed: Vec<Framed<'_>> = pages.iter().map(Page::framed).collect();
        let text = frame(&framed, &delimiter) + &not_shown(pages.iter().chain(&left_out));
        let over = text.chars().count().saturating_sub(chars);
        let Some(last) = pages.last_mut().filter(|_| over > 0) else { return Ok(text) };
        // The last page gives way first, from its end.
        last.shorten(over);
        if last.text.is_empty() {
            left_out.extend(pages.pop());
        }
    }
}

/// A page of the memory, and how much of it is shown.
struct Page<'a> {
    path: &'a str,
    text: &'a str,
    /// The characters of the whole file.
    total: usize,
}

impl<'a> Page<'a> {
    fn of(part: &'a Part) -> Self {
        Self { path: &part.path, text: part.content(), total: part.total_chars }
    }

    fn framed(&self) -> Framed<'a> {
        Framed { text: self.text, origin: None, date: None, path: self.path }
    }

    /// Takes at least so many characters away, in whole lines.
    fn shorten(&mut self, over: usize) {
        let kept = self.text.chars().count().saturating_sub(over);
        let end = self.text.char_indices().nth(kept).map_or(self.text.len(), |(at, _)| at);
        self.text = self.text[..end].rfind('\n').map_or("", |at| self.text[..at].trim_end());
    }

    fn hidden(&self) -> usize {
        self.total.saturating_sub(self.text.chars().count())
    }
}

/// Says what is not shown, and how to get it.
fn not_shown<'a>(pages: impl Iterator<Item = &'a Page<'a>>) -> String {
    /// So many pages are named; there may be many notes of one day.
    const MOST: usize = 4;
    let cut: Vec<&Page<'_>> = pages.filter(|it| it.hidden() > SLACK).collect();
    let mut out = String::new();
    for page in cut.iter().take(MOST) {
        let is_plain = |c: &char| c.is_alphanumeric() || matches!(c, '.' | '-' | '_' | '/');
        let path: String = page.path.chars().filter(is_plain).collect();
        out.push_str(&format!(
            "Not shown: {} of {} characters of {path}.\n",
            page.hidden(),
            page.total
        ));
    }
    if cut.len() > MOST {
        out.push_str(&format!("Not shown: parts of {} more files.\n", cut.len() - MOST));
    }
    if !cut.is_empty() {
        out.push_str("Find the rest with memory_search, or read it with memory_get.\n");
    }
    out
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

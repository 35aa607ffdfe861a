//! Gives a session its context when it begins.

use anemone_memory::{
    Budget, ComposeRequest, ContextLimits, Fate, FramedMemory, Part, SessionKind, compose, frame,
};
use anemone_runtimes::HOOK_CALLER;
use serde::Serialize;

use super::{HookInput, Result};
use crate::agent_memory::{Access, AgentMemory, MemoryChoice, delimiter};
use crate::config::Config;
use crate::context::{ContextRequest, context};
use crate::host::Host;

/// Whitespace at the end of a page is not shown either, which does not matter.
const SLACK: usize = 8;

/// A session that begins.
#[derive(Clone, Debug)]
pub struct SessionStartRequest {
    /// Whose memory.
    pub memory: MemoryChoice,
    /// The hook's JSON.
    pub input: HookInput,
    /// How many characters at most.
    pub chars: usize,
}

/// What a session begins with.
#[derive(Clone, Debug, Serialize)]
pub struct SessionStartReport {
    /// The text.
    pub context: String,
}

/// Composes the context of a session when it begins. A caller with its own input format has its own
/// instructions, so it only gets the memory.
pub fn session_start(request: &SessionStartRequest, host: &Host) -> Result<SessionStartReport> {
    let machine = host.machine()?;
    let memory = request.input.memory(&request.memory, &machine);
    let text = if request.input.caller().is_some() {
        let memory = memory.find_for(Access::Read, &machine, host)?;
        let config = Config::of_agent(memory.runtime, &memory.agent, &machine, host)?;
        memory_alone(&memory, config.context, request.chars, host)?
    } else {
        let mut composing = ContextRequest::new(memory, SessionKind::Main);
        composing.budget = Budget::Chars(request.chars);
        context(&composing, host)?.text
    };
    Ok(SessionStartReport { context: text })
}

/// Returns what an agent remembers, and none of its instructions, within so many characters.
fn memory_alone(
    memory: &AgentMemory,
    limits: ContextLimits,
    chars: usize,
    host: &Host,
) -> Result<String> {
    let composing = ComposeRequest {
        session: SessionKind::Main,
        rules: HOOK_CALLER.rules,
        limits,
        budget: Budget::Runtime,
        today: host.today(),
        recalled: None,
        // The parts are framed below.
        delimiter: String::new(),
    };
    let is_memory = |part: &Part| {
        let is_there = matches!(part.fate, Fate::Whole | Fate::Cut { .. });
        is_there && (part.path == memory.site.curated() || part.path.starts_with("memory/"))
    };
    let mut parts = compose(&memory.site, &composing).parts;
    parts.retain(is_memory);
    let mut pages: Vec<ShownPage<'_>> = parts.iter().map(ShownPage::of).collect();
    let mut left_out: Vec<ShownPage<'_>> = Vec::new();
    let delimiter = delimiter()?;
    loop {
        let framed: Vec<FramedMemory<'_>> = pages.iter().map(ShownPage::framed).collect();
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
struct ShownPage<'a> {
    path: &'a str,
    text: &'a str,
    /// The characters of the whole file.
    total: usize,
}

impl<'a> ShownPage<'a> {
    fn of(part: &'a Part) -> Self {
        Self { path: &part.path, text: part.content(), total: part.total_chars }
    }

    fn framed(&self) -> FramedMemory<'a> {
        FramedMemory { text: self.text, origin: None, date: None, path: self.path }
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

/// Lists the parts that are not shown, and how to get them.
fn not_shown<'a>(pages: impl Iterator<Item = &'a ShownPage<'a>>) -> String {
    /// So many pages are named; there may be many notes of one day.
    const MOST: usize = 4;
    let cut: Vec<&ShownPage<'_>> = pages.filter(|page| page.hidden() > SLACK).collect();
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

//! Gives a session its context when it begins.

use anemone_memory::{
    Budget, ComposeRequest, ContextLimits, Fate, FramedMemory, LogChoice, MemoryTool, Part,
    RecallSection, SessionKind, compose, frame,
};
use anemone_runtimes::HOOK_CALLER;
use serde::Serialize;

use super::{HookInput, Result};
use crate::agent_memory::{Access, AgentMemory, MemoryChoice, delimiter};
use crate::config::Config;
use crate::context::{ContextPart, ContextRequest, context};
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
    /// The kind of session; without it, what its key in the hook's JSON says.
    pub session: Option<SessionKind>,
    /// How many characters at most; without it, as many as the calling program shows. A program
    /// without such a limit gets everything.
    pub chars: Option<usize>,
    /// The memory tools that the session has, besides those in the hook's JSON.
    pub recall: RecallSection,
}

/// What a session begins with.
#[derive(Clone, Debug, Serialize)]
pub struct SessionStartReport {
    /// The text.
    pub context: String,
    /// The files that are not in it in full.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub cut: Vec<CutFile>,
}

/// A file of which a part is not shown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CutFile {
    /// The path in the workspace.
    pub path: String,
    /// How much of it is shown.
    pub included_chars: usize,
    /// How long it is.
    pub total_chars: usize,
}

/// Composes the context of a session when it begins. A caller with its own input format has its own
/// instructions, so it only gets the memory.
pub fn session_start(request: &SessionStartRequest, host: &Host) -> Result<SessionStartReport> {
    let input = &request.input;
    let machine = host.machine()?;
    let memory = input.memory(&request.memory, &machine);
    let session = request.session.or_else(|| input.session_kind()).unwrap_or(SessionKind::Main);
    if let Some(caller) = input.caller() {
        let memory = memory.find_for(Access::Read, &machine, host)?;
        let config = Config::of_agent(memory.runtime, &memory.agent, &machine, host)?;
        let chars = request.chars.unwrap_or(caller.most_chars);
        return memory_alone(&memory, session, config.context, chars, host);
    }
    let mut composing = ContextRequest::new(memory, session);
    composing.budget = request.chars.map_or(Budget::Runtime, Budget::SharedChars);
    composing.logs = LogChoice::Shown;
    composing.recall = Some(request.recall_section());
    let report = context(&composing, host)?;
    let is_cut = |part: &&ContextPart| part.cut || matches!(part.reason, "over_budget" | "no_room");
    let cut = report.parts.iter().filter(is_cut).map(|part| CutFile {
        path: part.path.clone(),
        included_chars: part.included_chars,
        total_chars: part.total_chars,
    });
    let cut: Vec<CutFile> = cut.collect();
    // A file that is cut says so itself.
    let is_left_out = |file: &&CutFile| file.included_chars == 0;
    let left_out: Vec<ShownPage<'_>> =
        cut.iter().filter(is_left_out).map(ShownPage::none).collect();
    let note = not_shown(left_out.iter());
    let mut text = report.text;
    let length = text.chars().count() + note.chars().count() + 1;
    if !note.is_empty() && request.chars.is_none_or(|most| length <= most) {
        text.push_str(&format!("\n{note}"));
    }
    Ok(SessionStartReport { cut, context: text })
}

impl SessionStartRequest {
    /// Returns the memory tools that the request and the hook's JSON name.
    fn recall_section(&self) -> RecallSection {
        let mut section = self.recall.clone();
        for tool in self.input.tools.iter().filter_map(|name| MemoryTool::of_word(name)) {
            if !section.tools.contains(&tool) {
                section.tools.push(tool);
            }
        }
        section
    }
}

/// Returns what an agent remembers, and none of its instructions, within so many characters.
fn memory_alone(
    memory: &AgentMemory,
    session: SessionKind,
    limits: ContextLimits,
    chars: usize,
    host: &Host,
) -> Result<SessionStartReport> {
    let composing = ComposeRequest {
        session,
        rules: HOOK_CALLER.rules,
        limits,
        budget: Budget::Runtime,
        today: host.today(),
        logs: LogChoice::Runtime,
        recall: None,
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
    let whole: Vec<ShownPage<'_>> = parts.iter().map(ShownPage::of).collect();
    let delimiter = delimiter()?;
    let written = |pages: &[ShownPage<'_>]| {
        let shown = pages.iter().filter(|page| !page.text.is_empty());
        let framed: Vec<FramedMemory<'_>> = shown.map(ShownPage::framed).collect();
        frame(&framed, &delimiter) + &not_shown(pages.iter())
    };
    let cut_to = |limit: usize| -> Vec<ShownPage<'_>> {
        whole.iter().map(|page| page.cut_to(limit)).collect()
    };
    // The longest pages are cut, all to the same length, so that each keeps its beginning.
    let longest = whole.iter().map(|page| page.text.chars().count()).max().unwrap_or_default();
    let (mut low, mut high) = (0, longest);
    while low < high {
        let middle = low + (high - low).div_ceil(2);
        if written(&cut_to(middle)).chars().count() <= chars {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    let pages = cut_to(low);
    let cut = pages.iter().filter(|page| page.hidden() > SLACK).map(|page| CutFile {
        path: page.path.to_owned(),
        included_chars: page.text.chars().count(),
        total_chars: page.total,
    });
    Ok(SessionStartReport { cut: cut.collect(), context: written(&pages) })
}

/// A page of the memory, and how much of it is shown.
#[derive(Clone)]
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

    /// A file that is not shown at all.
    fn none(file: &'a CutFile) -> Self {
        Self { path: &file.path, text: "", total: file.total_chars }
    }

    fn framed(&self) -> FramedMemory<'a> {
        FramedMemory { text: self.text, origin: None, date: None, path: self.path }
    }

    /// Returns at most so many characters of its beginning, in whole lines where there are any.
    fn cut_to(&self, most: usize) -> Self {
        let Some((end, _)) = self.text.char_indices().nth(most) else { return self.clone() };
        let begin = &self.text[..end];
        let end = begin.rfind('\n').or_else(|| begin.rfind(' ')).unwrap_or(end);
        Self { text: self.text[..end].trim_end(), ..self.clone() }
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

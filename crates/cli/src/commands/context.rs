//! `anemone context`

use std::io::{self, Write};

use anemone::context::{ContextReport, ContextRequest, context as compose};
use anemone::statement::Statement;
use anemone_memory::{
    Budget, Citations, ContextRules, LogChoice, MemoryTool, RecallSection, SessionKind,
};
use anemone_runtimes::context_rules;
use clap::Args;
use clap::builder::TypedValueParser;
use serde::Serialize;

use super::Context;
use crate::args::{MemoryArgs, one_of};
use crate::output::{BOLD, DIM, GOOD, ODD, Report, Result, count, safe};

/// Compose the context that a session starts with
///
/// Puts together the files that an agent's runtime puts before a session, in its order, with its
/// headings and its limits, and shortens them as it does: what the agent knows when the session
/// begins. A group never sees MEMORY.md, whatever the runtime would do; sub-agents and jobs see no
/// memory at all. With --query, up to six memories that answer it follow, quoted, with origin and
/// date, between marks that are new each time, so that none of them can pose as an instruction.
/// Superseded memories, and memories that look like an attack, are left out. MEMORY.md and logs
/// are quoted in the same way. Invisible characters and stamps are left out.
///
/// Prints the text; with --explain, what went in, what was cut and what was left out, and why.
#[derive(Args, Debug)]
pub(crate) struct ContextArgs {
    /// The kind of session
    #[arg(long, value_parser = one_of(SESSIONS), default_value = "main")]
    session: SessionKind,

    /// Whose rules to follow; without it, those of the agent that is found
    #[arg(long, value_parser = rules_parser())]
    generation: Option<&'static ContextRules>,

    /// Keep to so many tokens, estimated as a quarter of the characters, one for each character of
    /// Chinese, Japanese or Korean: leaves out logs, then what was recalled, then files from the
    /// last one up
    #[arg(long, value_name = "N", conflicts_with = "chars")]
    tokens: Option<usize>,

    /// Keep to so many characters, in the same way
    #[arg(long, value_name = "N")]
    chars: Option<usize>,

    /// Recall what answers this question
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    query: Option<String>,

    /// Show today's and yesterday's log whole, also where the runtime leaves it to the agent to
    /// read them
    #[arg(long)]
    logs: bool,

    #[command(flatten)]
    recall: RecallArgs,

    /// Say what went in, what was cut and what was left out, instead of printing the text
    #[arg(long)]
    explain: bool,

    #[command(flatten)]
    memory: MemoryArgs,
}

/// The kinds of sessions, as they are named on the command line.
pub(crate) const SESSIONS: [(&str, &str, SessionKind); 7] = [
    ("main", "The owner's own conversation", SessionKind::Main),
    ("first", "The owner's first conversation, with the first-run file", SessionKind::First),
    (
        "heartbeat",
        "The agent looks for something to do, with its checklist",
        SessionKind::Heartbeat,
    ),
    ("boot", "The start of the gateway, with its startup file", SessionKind::Boot),
    ("group", "A group or a channel: without MEMORY.md", SessionKind::Group),
    ("subagent", "An agent started for a task: instructions only", SessionKind::Subagent),
    ("cron", "A job that runs by the clock: instructions only", SessionKind::Cron),
];

/// Arguments for the section that tells a session to search its memory.
#[derive(Args, Clone, Debug)]
pub(crate) struct RecallArgs {
    /// The memory tools of the session, separated by commas; with any of them, the text begins
    /// with a section "Memory Recall" that says when to use them
    #[arg(long, value_name = "TOOL", value_delimiter = ',', value_parser = one_of(TOOLS))]
    tools: Vec<MemoryTool>,

    /// Whether that section asks for the file and lines of an answer
    #[arg(long, value_name = "WHEN", value_parser = one_of(CITATIONS), default_value = "auto")]
    citations: Citations,
}

const TOOLS: [(&str, &str, MemoryTool); 2] = [
    ("memory_search", "Finds memories", MemoryTool::Search),
    ("memory_get", "Reads lines of a file", MemoryTool::Get),
];
const CITATIONS: [(&str, &str, Citations); 3] = [
    ("auto", "Not where others listen", Citations::Auto),
    ("on", "Always", Citations::On),
    ("off", "Only if the user asks", Citations::Off),
];

impl RecallArgs {
    pub(crate) fn section(&self) -> RecallSection {
        RecallSection { tools: self.tools.clone(), citations: self.citations }
    }
}

/// The context of a session, and how to show it to people.
#[derive(Serialize)]
pub(crate) struct Shown {
    #[serde(flatten)]
    report: ContextReport,
    #[serde(skip)]
    explain: bool,
    /// Whether the text does not go to a terminal.
    #[serde(skip)]
    raw: bool,
}

pub(crate) fn run(args: &ContextArgs, context: &Context<'_>) -> Result<Shown> {
    let mut report = compose(&args.request(), &context.host)?;
    Statement::word_all(&mut report.notes, |note| note.words("--query"));
    Ok(Shown { report, explain: args.explain, raw: !context.environment.stdout_is_terminal })
}

impl ContextArgs {
    fn request(&self) -> ContextRequest {
        ContextRequest {
            rules: self.generation,
            budget: match (self.tokens, self.chars) {
                (Some(tokens), _) => Budget::Tokens(tokens),
                (None, Some(chars)) => Budget::Chars(chars),
                (None, None) => Budget::Runtime,
            },
            query: self.query.clone(),
            logs: if self.logs { LogChoice::Shown } else { LogChoice::Runtime },
            recall: Some(self.recall.section()),
            ..ContextRequest::new(self.memory.choice(), self.session)
        }
    }
}

/// Takes the name of rules.
fn rules_parser() -> impl TypedValueParser<Value = &'static ContextRules> {
    one_of(context_rules().map(|rules| (rules.name, rules.about, rules)))
}

impl Report for Shown {
    fn write_human(&self, out: &mut dyn Write) -> io::Result<()> {
        let report = &self.report;
        if !self.explain {
            if self.raw {
                return out.write_all(report.text.as_bytes());
            }
            return report.text.split_inclusive('\n').try_for_each(|line| {
                let plain = safe(line.strip_suffix('\n').unwrap_or(line));
                writeln!(out, "{plain}")
            });
        }
        let chars = count(report.chars as u64, "character");
        let ContextReport { session, generation: rules, estimated_tokens: tokens, .. } = report;
        write!(out, "{BOLD}{session}{BOLD:#} session by the rules of {rules}: ")?;
        writeln!(out, "{chars}, about {tokens} tokens")?;
        for part in &report.parts {
            let path = safe(&part.path);
            let size = format!("{}/{}", part.included_chars, part.total_chars);
            let (mark, style) = match (part.included, part.cut) {
                (true, false) => ("+", GOOD),
                (true, true) => ("~", ODD),
                (false, _) => ("-", DIM),
            };
            writeln!(out, "{style}{mark}{style:#} {path:<28} {size:>13}  {}", part.detail)?;
        }
        for note in report.notes.iter().filter_map(Statement::words) {
            writeln!(out, "{ODD}note:{ODD:#} {note}")?;
        }
        Ok(())
    }
}

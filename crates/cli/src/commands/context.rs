//! `anemone context`

use std::io::{self, Write};

use anemone_index::{Hit, Request};
use anemone_memory::{
    Budget, Clock as _, Composed, ContextRequest, Generation, Part, Recalled, SessionKind, compose,
    estimated_tokens, note_recalls, recalled,
};
use anemone_runtimes::{FoundAgent, Machine, MemoryBackend};
use clap::{Args, ValueEnum};
use serde::Serialize;

use super::Context;
use crate::args::MemoryArgs;
use crate::error::CliError;
use crate::living::{AgentMemory, delimiter};
use crate::output::{BOLD, DIM, GOOD, ODD, Report, count, safe};

/// So many memories are recalled for one question.
const RECALLED: usize = 6;
/// So many hits are looked at for those that may be shown.
const LOOKED_AT: usize = 12;

/// Compose the context that a session starts with
///
/// Puts together the files that an agent's runtime puts before a session, in its order, with its
/// headings and its limits, and shortens them as it does: what the agent knows when the session
/// begins. A group never sees MEMORY.md, whatever the runtime would do; sub-agents and jobs see no
/// memory at all. With --query, up to six memories that answer it follow, quoted, with origin and
/// date, between marks that are new each time, so that none of them can pose as an instruction.
/// What others took the place of and what looks like an attack is not among them. MEMORY.md and
/// logs are quoted in the same way. Invisible characters and stamps are left out.
///
/// Prints the text; with --explain, what went in, what was cut and what was left out, and why.
#[derive(Args, Debug)]
pub(crate) struct ContextArgs {
    /// The kind of session
    #[arg(long, value_enum, default_value_t = Session::Main)]
    session: Session,

    /// Whose rules to follow; without it, those of the agent that is found
    #[arg(long, value_enum)]
    generation: Option<Rules>,

    /// Keep to so many tokens, estimated as a quarter of the characters, one for each character of
    /// Chinese, Japanese or Korean: leaves out logs, then what was recalled, then files from the
    /// last one up
    #[arg(long, value_name = "N", conflicts_with = "chars")]
    pub(crate) tokens: Option<usize>,

    /// Keep to so many characters, in the same way
    #[arg(long, value_name = "N")]
    chars: Option<usize>,

    /// Recall what answers this question
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub(crate) query: Option<String>,

    /// Say what went in, what was cut and what was left out, instead of printing the text
    #[arg(long)]
    explain: bool,

    #[command(flatten)]
    memory: MemoryArgs,

    /// Whether recalls count for `anemone tidy`.
    #[arg(skip = true)]
    pub(crate) counts_recalls: bool,
}

/// The kinds of sessions, as they are named on the command line.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Session {
    /// The owner's own conversation
    Main,
    /// A group or a channel: without MEMORY.md
    Group,
    /// An agent started for a task: instructions only
    Subagent,
    /// A job that runs by the clock: instructions only
    Cron,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Rules {
    /// OpenClaw as first described: 24,000 characters, with today's and yesterday's log
    Seed,
    /// OpenClaw 2026.3: 150,000 characters
    #[value(name = "2026.3")]
    OpenClaw3,
    /// OpenClaw 2026.9: 60,000 characters, with logs of two days
    #[value(name = "2026.9")]
    OpenClaw9,
    /// ZeroClaw: 20,000 characters of each file
    #[value(name = "zeroclaw")]
    ZeroClaw,
}

#[derive(Serialize)]
pub(crate) struct ContextReport {
    ok: bool,
    session: &'static str,
    generation: &'static str,
    pub(crate) text: String,
    chars: usize,
    pub(crate) estimated_tokens: usize,
    pub(crate) recalled: usize,
    /// What would have been recalled, but looks like an attack.
    suspicious: u64,
    /// What would have been recalled, but does not hold any more.
    superseded: u64,
    /// How many characters that nobody sees were left out of the files.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) hidden_characters: Option<usize>,
    /// Why what is quoted of the files looks like an attack on a model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) suspicion_reason: Option<String>,
    pub(crate) parts: Vec<PartLine>,
    pub(crate) notes: Vec<String>,
    #[serde(skip)]
    explain: bool,
    /// Whether nobody's terminal reads the text.
    #[serde(skip)]
    raw: bool,
}

#[derive(Serialize)]
pub(crate) struct PartLine {
    pub(crate) path: String,
    included_chars: usize,
    total_chars: usize,
    pub(crate) included: bool,
    pub(crate) cut: bool,
    /// A word for programs.
    reason: &'static str,
    /// A sentence for people.
    pub(crate) detail: String,
}

pub(crate) fn run(args: &ContextArgs, context: &Context<'_>) -> Result<ContextReport, CliError> {
    let machine = context.host.machine()?;
    let living = args.memory.choice().find(&machine, &context.host)?;
    let session = args.session.kind();
    let generation = args.generation.map_or_else(|| found(&living.agent), Rules::generation);
    let mut notes = Vec::new();
    let mut shown = Recalled::default();
    if let MemoryBackend::Sqlite(database) = &living.keeps
        && session.may_recall()
    {
        let how = match (session, &args.query) {
            (SessionKind::Group, _) => "which a group does not see",
            (_, None) => "of which nothing is here without --query",
            (_, Some(_)) => "of which only what was recalled is here",
        };
        notes.push(format!("this agent remembers in rows of {}, {how}", database.display()));
    }
    if let Some(query) = &args.query {
        if session.may_recall() {
            shown = recall(query, session, &living, &machine, context, &mut notes)?;
            let counted = args
                .counts_recalls
                .then(|| note_recalls(&living.site, &shown.keys, context.host.now()));
            if counted.is_some_and(|it| it.is_err()) {
                notes.push("these recalls could not be counted for `anemone tidy`".to_owned());
            }
        } else {
            notes.push("sessions of this kind see no memory, so nothing was recalled".to_owned());
        }
    }
    let budget = match (args.tokens, args.chars) {
        (Some(tokens), _) => Budget::Tokens(tokens),
        (None, Some(chars)) => Budget::Chars(chars),
        (None, None) => Budget::Runtime,
    };
    let clock = &context.host.clock;
    let delimiter = delimiter()?;
    let asked = ContextRequest {
        session,
        generation,
        budget,
        today: clock.now().to_zoned(clock.zone()).date(),
        recalled: Some(shown.framed(&delimiter)),
        delimiter,
    };
    let Composed { text, chars, parts, hidden_characters, suspicion_reason } =
        compose(&living.site, &asked);
    if hidden_characters > 0 {
        notes.push(format!("invisible characters left out: {hidden_characters}"));
    }
    Ok(ContextReport {
        ok: true,
        session: args.session.word(),
        generation: generation.as_str(),
        chars,
        estimated_tokens: estimated_tokens(&text),
        text,
        recalled: shown.memories.len(),
        suspicious: shown.suspicious,
        superseded: shown.superseded,
        hidden_characters: Some(hidden_characters).filter(|count| *count > 0),
        suspicion_reason,
        parts: parts.iter().map(PartLine::of).collect(),
        notes,
        explain: args.explain,
        raw: !context.environment.stdout_is_terminal,
    })
}

/// Composes what a session of a kind should see, within so many characters.
pub(crate) fn compose_for(
    session: Session,
    memory: &MemoryArgs,
    chars: usize,
    context: &Context<'_>,
) -> Result<String, CliError> {
    let mut args = ContextArgs::plain(session, memory.clone());
    args.chars = Some(chars);
    Ok(run(&args, context)?.text)
}

fn recall(
    query: &str,
    session: SessionKind,
    living: &AgentMemory,
    machine: &Machine,
    context: &Context<'_>,
    notes: &mut Vec<String>,
) -> Result<Recalled, CliError> {
    let now = context.host.now();
    let mut request = Request::new(query, now);
    request.limit = LOOKED_AT;
    request.paths = session.folders();
    let answer = living.finder(machine, &context.host)?.search(&request)?;
    let hits: Vec<&Hit> = answer.hits.iter().filter(|it| session.may_see(&it.path)).collect();
    let found = recalled(&living.site, &hits, RECALLED)?;
    if found.suspicious > 0 {
        let number = count(found.suspicious, "memory");
        notes.push(format!("left out since it looks like an attack: {number}"));
    }
    if found.superseded > 0 {
        let number = count(found.superseded, "memory");
        notes.push(format!("left out since others took its place: {number}"));
    }
    Ok(found)
}

/// Returns the rules of the agent that was found.
fn found(agent: &FoundAgent) -> Generation {
    match (agent.runtime, agent.generation) {
        ("zeroclaw", _) => Generation::ZeroClaw,
        (_, Some("gen-3")) => Generation::OpenClaw3,
        _ => Generation::OpenClaw9,
    }
}

impl ContextArgs {
    /// Composes as it is usual for a session.
    pub(crate) fn plain(session: Session, memory: MemoryArgs) -> Self {
        Self {
            session,
            generation: None,
            tokens: None,
            chars: None,
            query: None,
            explain: false,
            memory,
            counts_recalls: true,
        }
    }
}

impl Session {
    pub(crate) const fn kind(self) -> SessionKind {
        match self {
            Self::Main => SessionKind::Main,
            Self::Group => SessionKind::Group,
            Self::Subagent => SessionKind::Subagent,
            Self::Cron => SessionKind::Cron,
        }
    }

    const fn word(self) -> &'static str {
        match self {
            Self::Main => "main",
            Self::Group => "group",
            Self::Subagent => "subagent",
            Self::Cron => "cron",
        }
    }
}

impl Rules {
    const fn generation(self) -> Generation {
        match self {
            Self::Seed => Generation::Seed,
            Self::OpenClaw3 => Generation::OpenClaw3,
            Self::OpenClaw9 => Generation::OpenClaw9,
            Self::ZeroClaw => Generation::ZeroClaw,
        }
    }
}

impl PartLine {
    fn of(part: &Part) -> Self {
        let code = part.fate.code();
        Self {
            path: part.path.clone(),
            included_chars: part.included_chars,
            total_chars: part.total_chars,
            included: part.fate.is_in(),
            cut: code == "cut",
            reason: code,
            detail: part.fate.to_string(),
        }
    }
}

impl Report for ContextReport {
    fn write_human(&self, out: &mut dyn Write) -> io::Result<()> {
        if !self.explain {
            if self.raw {
                return out.write_all(self.text.as_bytes());
            }
            return self.text.split_inclusive('\n').try_for_each(|line| {
                let plain = safe(line.strip_suffix('\n').unwrap_or(line));
                writeln!(out, "{plain}")
            });
        }
        let chars = count(self.chars as u64, "character");
        writeln!(
            out,
            "{BOLD}{}{BOLD:#} session by the rules of {}: {chars}, about {} tokens",
            self.session, self.generation, self.estimated_tokens
        )?;
        for part in &self.parts {
            let path = safe(&part.path);
            let size = format!("{}/{}", part.included_chars, part.total_chars);
            let (mark, style) = match (part.included, part.cut) {
                (true, false) => ("+", GOOD),
                (true, true) => ("~", ODD),
                (false, _) => ("-", DIM),
            };
            writeln!(out, "{style}{mark}{style:#} {path:<28} {size:>13}  {}", part.detail)?;
        }
        for note in &self.notes {
            writeln!(out, "{ODD}note:{ODD:#} {note}")?;
        }
        Ok(())
    }
}

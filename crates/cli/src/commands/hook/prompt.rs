//! `anemone hook prompt`

use std::io::{self, Write};

use anemone_format::Origin;
use anemone_index::{Hit, Request};
use anemone_memory::{
    RecalledMemory, SessionKind, is_relevant, note_recalls, question_of, recalled,
};
use clap::Args;
use jiff::civil::Date;
use serde::{Serialize, Serializer};
use serde_json::json;

use super::input::HookInput;
use crate::args::MemoryArgs;
use crate::commands::Context;
use crate::commands::context::Session;
use crate::config::Config;
use crate::error::{CliError, Kind};
use crate::living::delimiter;
use crate::output::Report;

/// How many hits are looked at for those that are relevant.
const LOOKED_AT: usize = 12;
/// A message is about what it begins with.
const MAX_QUESTION_CHARS: usize = 1_000;

/// Recall what a message is about
///
/// Returns at most three memories that are relevant to a message, or none, framed as data: with
/// their origin and date, between marks with a word that is new each time, so that no stored text
/// can pose as an instruction. The message comes from --message, or from Claude Code's
/// UserPromptSubmit on stdin, which is answered in the form that it reads. What others took the
/// place of and what looks like an attack is not recalled; in a group nothing of MEMORY.md is, and
/// for sub-agents and jobs nothing at all. Nothing is recalled until this is switched on in the
/// config, or with --enable.
#[derive(Args, Debug)]
pub(crate) struct PromptArgs {
    #[command(flatten)]
    memory: MemoryArgs,

    /// The message
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    message: Option<String>,

    /// The kind of session; without it, what its key on stdin says, and main where it says nothing
    #[arg(long, value_enum, value_name = "KIND")]
    session_kind: Option<Session>,

    /// Recall, although it is not switched on
    #[arg(long)]
    enable: bool,
}

/// What is recalled.
pub(crate) struct Answered {
    enabled: bool,
    memories: Vec<MemoryLine>,
    context: String,
    /// Memories that are relevant, but look like an attack.
    suspicious: u64,
    /// Memories that are relevant, but do not hold any more.
    superseded: u64,
    /// Whether Claude Code reads it.
    for_claude_code: bool,
}

#[derive(Serialize)]
struct MemoryLine {
    path: String,
    text: String,
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "as_word")]
    origin: Option<Origin>,
    /// Whether this installation wrote the stamp that names the origin.
    #[serde(skip_serializing_if = "Option::is_none")]
    origin_verified: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "as_day")]
    date: Option<Date>,
    score: f64,
}

fn as_word<S: Serializer>(origin: &Option<Origin>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(origin.map_or("unknown", Origin::as_str))
}

fn as_day<S: Serializer>(date: &Option<Date>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&date.map(|it| it.to_string()).unwrap_or_default())
}

impl PromptArgs {
    /// Whether nobody need say anything on stdin.
    pub(super) fn is_said(&self) -> bool {
        self.message.is_some()
    }
}

pub(super) fn run(
    args: &PromptArgs,
    input: &HookInput,
    context: &Context<'_>,
) -> Result<Answered, CliError> {
    let mut settings = Config::read(&context.host)?.recall;
    settings.enabled |= args.enable;
    let mut answered = Answered {
        enabled: settings.enabled,
        memories: Vec::new(),
        context: String::new(),
        suspicious: 0,
        superseded: 0,
        for_claude_code: input.is_of_claude_code(),
    };
    if !settings.enabled {
        return Ok(answered);
    }
    let message = args.message.as_ref().or(input.prompt.as_ref()).ok_or_else(|| {
        let hint = "give --message TEXT, or the hook's JSON on stdin";
        CliError::new(Kind::Failed, "no_message", "there is no message").hint(hint)
    })?;
    if message.trim_start().starts_with('/') || message.trim().is_empty() {
        return Ok(answered);
    }
    let by_key = || input.session_key.as_deref().map(SessionKind::of_key);
    let session = args.session_kind.map(Session::kind).or_else(by_key);
    let session = session.unwrap_or(SessionKind::Main);
    if !session.may_recall() {
        return Ok(answered);
    }
    let machine = context.host.machine()?;
    let living = input.memory(&args.memory, &machine).choice().find(&machine, &context.host)?;
    let mut request = Request::new(question_of(message, MAX_QUESTION_CHARS), context.host.now());
    request.limit = LOOKED_AT;
    request.paths = session.folders();
    request.snippet_chars = settings.most_chars;
    request.explain = true;
    let answer = living.finder(&machine, &context.host)?.search(&request)?;
    let is_wanted = |it: &&Hit| session.may_see(&it.path) && is_relevant(it, message, &settings);
    let hits: Vec<&Hit> = answer.hits.iter().filter(is_wanted).collect();
    let found = recalled(&living.site, &hits, settings.most)?;
    // A recall that is not counted is a recall all the same.
    note_recalls(&living.site, &found.keys, request.now).ok();
    answered.context = found.framed(&delimiter()?);
    answered.suspicious = found.suspicious;
    answered.superseded = found.superseded;
    answered.memories = found.memories.into_iter().map(MemoryLine::of).collect();
    Ok(answered)
}

impl MemoryLine {
    fn of(it: RecalledMemory) -> Self {
        let RecalledMemory { path, text, origin, origin_verified, date, score } = it;
        let origin_verified = origin.map(|_| origin_verified);
        Self { path, text, origin, origin_verified, date, score }
    }
}

impl Serialize for Answered {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Plain<'a> {
            ok: bool,
            enabled: bool,
            memories: &'a [MemoryLine],
            context: &'a str,
            suspicious: u64,
            superseded: u64,
        }
        if self.for_claude_code {
            let output = json!({
                "hookSpecificOutput": {
                    "hookEventName": "UserPromptSubmit",
                    "additionalContext": self.context,
                },
            });
            return output.serialize(serializer);
        }
        let Self { enabled, suspicious, superseded, .. } = *self;
        let (memories, context) = (self.memories.as_slice(), self.context.as_str());
        Plain { ok: true, enabled, memories, context, suspicious, superseded }.serialize(serializer)
    }
}

impl Report for Answered {
    fn write_human(&self, out: &mut dyn Write) -> io::Result<()> {
        write!(out, "{}", self.context)
    }
}

//! `anemone connect` and `anemone disconnect`

mod claude_code;
mod codex;
mod document;
mod edit;
mod json_file;
mod memory;
mod openclaw;
mod own;
mod place;
mod plan;
mod record;
mod scan;
mod shell;
#[cfg(test)]
mod tests;
mod toml_cut;
mod toml_file;
mod wish;
mod zeroclaw;

use std::io::{self, Write};
use std::path::PathBuf;

use anemone_adapters::Machine;
use clap::{Args, ValueEnum};
use serde::Serialize;

use super::Context;
use crate::agent::AgentArgs;
use crate::environment::Environment;
use crate::error::{CliError, Kind};
use crate::output::{BOLD, DIM, GOOD, ODD, Report, safe};
use document::{Format, RefuseError};
use memory::{Memory, program_of, source_of, utf8};
use plan::{Extent, Fate, Plan, refused};
use record::{Record, path_of};
use wish::{Entry, Wish};

/// Give an agent this memory: tools, and hooks where it has them
///
/// Adds what is needed to the program's own configuration, and nothing else is touched: comments,
/// order and spaces stay as they are. Claude Code gets hooks (recall before each prompt, a note at
/// the end of each session) and the MCP server; Codex and ZeroClaw get the MCP server; OpenClaw
/// gets a skill, and a plugin with which memory_search also finds what --source names, when it is
/// asked with corpus "all" or "wiki".
///
/// --dry-run shows every line before anything is written. Connecting again brings an old entry up
/// to date. `anemone disconnect` takes it all out again, and leaves the files as they were.
#[derive(Args, Debug)]
pub(crate) struct ConnectArgs {
    /// The program to connect
    #[arg(value_enum)]
    target: Target,

    #[command(flatten)]
    memory: AgentArgs,

    /// OpenClaw: an archive, a database or a folder that memory_search shall find things in; may be
    /// given more than once
    #[arg(long, value_name = "PATH")]
    source: Vec<PathBuf>,

    /// Let the program remember and forget, not only search
    #[arg(long)]
    allow_write: bool,

    /// Claude Code: only the tools, no hooks
    #[arg(long)]
    no_hooks: bool,

    /// ZeroClaw: the agent that gets the tools; without it, the one whose memory it is, or the only
    /// one
    #[arg(long, value_name = "ALIAS")]
    to: Option<String>,

    /// The anemone that is started; without it, this one
    #[arg(long, value_name = "FILE")]
    program: Option<String>,

    /// Show what would be written, and write nothing
    #[arg(long, short = 'n')]
    dry_run: bool,
}

/// Take out again what `anemone connect` wrote
///
/// Leaves the program's files exactly as they were before, and what was changed in them since as it
/// is. Files and folders that were made for the connection go, unless something else is in them.
///
/// What starts anemone and is not as it was written here stays, and is named: it may be your own.
/// --all takes that out as well.
#[derive(Args, Debug)]
pub(crate) struct DisconnectArgs {
    /// The program to disconnect
    #[arg(value_enum)]
    target: Target,

    /// Also take out entries that start anemone, whoever wrote or changed them, and files that are
    /// the same as ours
    #[arg(long)]
    all: bool,

    /// Show what would be taken out, and change nothing
    #[arg(long, short = 'n')]
    dry_run: bool,
}

/// The programs that can be connected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Target {
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

#[derive(Serialize)]
pub(crate) struct ConnectReport {
    ok: bool,
    target: &'static str,
    /// `connected`, `already_connected`, `disconnected`, `not_connected` or `planned`.
    status: &'static str,
    dry_run: bool,
    /// The arguments that name the memory.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    memory: Vec<String>,
    files: Vec<FileLine>,
    notes: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<&'static str>,
    #[serde(skip)]
    takes_out: bool,
}

#[derive(Serialize)]
struct FileLine {
    path: String,
    /// `made`, `changed`, `removed` or `same`.
    fate: Fate,
    /// Our lines, and nothing else of the file.
    lines: Vec<String>,
}

pub(crate) fn connect(
    args: &ConnectArgs,
    context: &Context<'_>,
) -> Result<ConnectReport, CliError> {
    args.check()?;
    let machine = context.environment.machine()?;
    let places = Places::of(context, &machine);
    let kept = path_of(context.environment, args.target.word());
    let record = Record::load(&kept)?;
    let (wish, memory) = args.wish(&places, &machine, record.as_ref())?;
    let mut plan = plan::connect(&wish, record.as_ref())?;
    plan.check()?;
    let is_kept = record.as_ref().is_some_and(|it| it.is_same(&plan.record));
    let is_done = plan.is_done() && is_kept;
    if !args.dry_run && !is_done {
        // Kept first: what is half done can be taken back.
        plan.record.save(&kept, record.as_ref())?;
        plan.apply()?;
    }
    let status = match (plan.is_done(), args.dry_run) {
        (true, _) => "already_connected",
        (false, true) => "planned",
        (false, false) => "connected",
    };
    let mut report = ConnectReport::of(args.target, status, args.dry_run, plan);
    report.memory = memory;
    report.next = Some(wish.next).filter(|_| status == "connected");
    Ok(report)
}

pub(crate) fn disconnect(
    args: &DisconnectArgs,
    context: &Context<'_>,
) -> Result<ConnectReport, CliError> {
    let machine = context.environment.machine()?;
    let places = Places::of(context, &machine);
    let kept = path_of(context.environment, args.target.word());
    let record = Record::load(&kept)?;
    let wish = args.target.bare_wish(&places)?;
    let extent = if args.all { Extent::All } else { Extent::Written };
    let plan = plan::disconnect(&wish, record.as_ref(), extent)?;
    plan.check()?;
    let is_done = plan.is_done();
    if !args.dry_run {
        plan.apply()?;
        if let Some(record) = &record {
            record.remove(&kept)?;
        }
    }
    let status = match (is_done, args.dry_run) {
        (true, _) => "not_connected",
        (false, true) => "planned",
        (false, false) => "disconnected",
    };
    let mut report = ConnectReport::of(args.target, status, args.dry_run, plan);
    report.takes_out = true;
    Ok(report)
}

impl ConnectArgs {
    /// Refuses what the program has no use for.
    fn check(&self) -> Result<(), CliError> {
        let wrong = |flag: &str, whose: Target| {
            let message = format!("{flag} is for {} alone", whose.word());
            Err(CliError::new(Kind::Usage, "usage", message))
        };
        if !self.source.is_empty() && self.target != Target::OpenClaw {
            return wrong("--source", Target::OpenClaw);
        }
        if self.no_hooks && self.target != Target::ClaudeCode {
            return wrong("--no-hooks", Target::ClaudeCode);
        }
        if self.to.is_some() && self.target != Target::ZeroClaw {
            return wrong("--to", Target::ZeroClaw);
        }
        if self.allow_write && self.target == Target::OpenClaw {
            let message = "OpenClaw writes its memory itself, so --allow-write says nothing here";
            return Err(CliError::new(Kind::Usage, "usage", message));
        }
        Ok(())
    }

    /// Returns what the program needs, and the arguments that name the memory.
    fn wish(
        &self,
        places: &Places,
        machine: &Machine,
        record: Option<&Record>,
    ) -> Result<(Wish, Vec<String>), CliError> {
        let program = program_of(self.program.as_deref(), machine)?;
        let document = || {
            let bare = self.target.bare_wish(places)?;
            plan::base(&bare.files[0], record).map(|(_, _, document)| document)
        };
        let memory = || {
            let Memory { words, chosen } = Memory::of(&self.memory, machine)?;
            let program = program.clone();
            let entry = Entry { program, memory: words, allow_write: self.allow_write };
            Ok::<_, CliError>((entry, chosen))
        };
        match self.target {
            Target::ClaudeCode => {
                let (entry, _) = memory()?;
                let wish = claude_code::wish(&places.claude_code, Some(&entry), !self.no_hooks);
                Ok((wish.map_err(|it| embedded(&it))?, entry.memory))
            }
            Target::Codex => {
                let (entry, _) = memory()?;
                let wish = codex::wish(&places.codex, Some(&entry));
                Ok((wish.map_err(|it| embedded(&it))?, entry.memory))
            }
            Target::OpenClaw => {
                let sources = self.sources(machine)?;
                let entry = Some((program.as_str(), sources.as_slice()));
                Ok((openclaw::wish(&places.openclaw, Some(&document()?), entry), sources))
            }
            Target::ZeroClaw => {
                let (entry, chosen) = memory()?;
                let is_own = chosen.adapter.runtime() == "zeroclaw";
                let owner = Some(chosen.agent.alias.as_str()).filter(|_| is_own);
                let grant = zeroclaw::Grant { named: self.to.as_deref(), owner };
                let refuse = |error: RefuseError| {
                    refused(Format::Toml, &places.zeroclaw.join("config.toml"), &error)
                };
                let wish = zeroclaw::wish(&places.zeroclaw, &document()?, Some(&entry), &grant);
                Ok((wish.map_err(refuse)?, entry.memory))
            }
        }
    }

    /// Returns what OpenClaw's plugin searches.
    fn sources(&self, machine: &Machine) -> Result<Vec<String>, CliError> {
        let mut sources = Vec::new();
        let AgentArgs { runtime, workspace, agent } = &self.memory;
        if runtime.is_some() || workspace.is_some() || agent.is_some() {
            sources.push(source_of(&self.memory, machine)?);
        }
        for source in &self.source {
            let source = utf8(&fs_err::canonicalize(source)?)?;
            if !sources.contains(&source) {
                sources.push(source);
            }
        }
        if sources.len() > openclaw::MOST_SOURCES {
            let most = openclaw::MOST_SOURCES;
            let message = format!("the plugin searches at most {most} sources");
            let error = CliError::new(Kind::Usage, "too_many_sources", message);
            return Err(error.hint("name a folder in which several of them lie"));
        }
        Ok(sources)
    }
}

/// The programs that are connected, by their names, and those whose record makes no sense.
pub(crate) struct Connections {
    pub(crate) connected: Vec<String>,
    pub(crate) broken: Vec<String>,
}

impl Connections {
    /// Looks at what was kept when programs were connected.
    pub(crate) fn look(environment: &Environment) -> Self {
        let mut names: Vec<&str> = Target::value_variants().iter().map(|it| it.word()).collect();
        names.sort_unstable();
        let mut all = Self { connected: Vec::new(), broken: Vec::new() };
        for name in names {
            let path = path_of(environment, name);
            match Record::load(&path) {
                Ok(Some(record)) if record.has_anything() => all.connected.push(name.to_owned()),
                Ok(Some(_)) => {}
                Ok(None) if fs_err::symlink_metadata(&path).is_err() => {}
                Ok(None) | Err(_) => all.broken.push(name.to_owned()),
            }
        }
        all
    }
}

/// What is in this binary is in order; were it not, this says so.
fn embedded(error: &RefuseError) -> CliError {
    CliError::from_error(Kind::Failed, "embedded", error)
}

impl Target {
    const fn word(self) -> &'static str {
        match self {
            Self::ClaudeCode => "claude-code",
            Self::OpenClaw => "openclaw",
            Self::ZeroClaw => "zeroclaw",
            Self::Codex => "codex",
        }
    }

    /// Returns where something of ours may be, wanting nothing.
    fn bare_wish(self, places: &Places) -> Result<Wish, CliError> {
        let nobody = zeroclaw::Grant { named: None, owner: None };
        match self {
            Self::ClaudeCode => claude_code::wish(&places.claude_code, None, false),
            Self::OpenClaw => Ok(openclaw::wish(&places.openclaw, None, None)),
            Self::ZeroClaw => {
                zeroclaw::wish(&places.zeroclaw, &serde_json::Value::Null, None, &nobody)
            }
            Self::Codex => codex::wish(&places.codex, None),
        }
        .map_err(|it| embedded(&it))
    }
}

/// Where the programs keep their configuration.
struct Places {
    claude_code: claude_code::Folders,
    openclaw: openclaw::Places,
    zeroclaw: PathBuf,
    codex: PathBuf,
}

impl Places {
    fn of(context: &Context<'_>, machine: &Machine) -> Self {
        let environment = context.environment;
        let variable = |name: &str| {
            let value = machine.variable(name)?;
            let path = match value.to_str().and_then(|it| it.strip_prefix("~/")) {
                Some(rest) => machine.home.join(rest),
                None => PathBuf::from(value),
            };
            Some(path).filter(|it| it.is_absolute())
        };
        let profile = machine.variable("OPENCLAW_PROFILE").and_then(|it| it.to_str());
        let folder = match profile.filter(|it| !it.is_empty() && !it.contains(['/', '\\'])) {
            Some(profile) if profile != "default" => format!(".openclaw-{profile}"),
            _ => ".openclaw".to_owned(),
        };
        let home = variable("OPENCLAW_HOME").unwrap_or_else(|| machine.home.clone());
        let state = variable("OPENCLAW_STATE_DIR").unwrap_or_else(|| home.join(folder));
        let config =
            variable("OPENCLAW_CONFIG_PATH").unwrap_or_else(|| state.join("openclaw.json"));
        Self {
            claude_code: claude_code::Folders {
                home: machine.home.clone(),
                set: environment.claude_config(),
            },
            openclaw: openclaw::Places {
                config,
                state,
                plugin: environment.data_home.join("anemone/integrations/openclaw"),
            },
            zeroclaw: variable("ZEROCLAW_CONFIG_DIR")
                .unwrap_or_else(|| machine.home.join(".zeroclaw")),
            codex: environment.codex_home(),
        }
    }
}

impl ConnectReport {
    fn of(target: Target, status: &'static str, dry_run: bool, plan: Plan) -> Self {
        let line = |it: plan::FilePlan| FileLine {
            path: it.place.path.to_string_lossy().into_owned(),
            fate: it.fate,
            lines: it.lines,
        };
        Self {
            ok: true,
            target: target.word(),
            status,
            dry_run,
            memory: Vec::new(),
            files: plan.files.into_iter().map(line).collect(),
            notes: plan.notes,
            next: None,
            takes_out: false,
        }
    }
}

impl Report for ConnectReport {
    fn write_human(&self, out: &mut dyn Write) -> io::Result<()> {
        let target = self.target;
        match self.status {
            "already_connected" => writeln!(out, "{GOOD}{target} is connected already{GOOD:#}")?,
            "not_connected" => writeln!(out, "{target} is not connected")?,
            "planned" => writeln!(out, "{BOLD}nothing is written; this would be done:{BOLD:#}")?,
            done => writeln!(out, "{GOOD}{done}{GOOD:#} {target}")?,
        }
        for file in self.files.iter().filter(|it| it.fate != Fate::Same) {
            let word = match file.fate {
                Fate::Made => "new",
                Fate::Changed => "change",
                Fate::Removed => "remove",
                Fate::Same => "same",
            };
            writeln!(out, "{BOLD}{word}{BOLD:#} {}", safe(&file.path))?;
            let sign = if self.takes_out { '-' } else { '+' };
            for line in &file.lines {
                writeln!(out, "  {sign} {}", safe(line))?;
            }
        }
        for note in &self.notes {
            writeln!(out, "{ODD}note:{ODD:#} {}", safe(note))?;
        }
        match self.next {
            Some(next) => writeln!(out, "{DIM}next:{DIM:#} {next}"),
            None => Ok(()),
        }
    }
}

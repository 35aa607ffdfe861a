//! `anemone connect` and `anemone disconnect`

mod by_hand;
mod claude_code;
mod codex;
mod document;
mod edit;
mod json_file;
mod lock;
mod memory;
mod openclaw;
mod own;
mod place;
mod plan;
mod record;
mod scan;
mod shell;
mod target;
#[cfg(test)]
mod tests;
mod toml_cut;
mod toml_file;
mod wish;
mod zeroclaw;

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anemone_runtimes::Machine;
use clap::{Args, ValueEnum as _};
use serde::Serialize;

use super::Context;
use crate::args::AgentArgs;
use crate::environment::Environment;
use crate::error::{CliError, Kind};
use crate::output::{BOLD, DIM, GOOD, ODD, Report, safe};
use claude_code::{Hooks, Scope};
use document::{Format, RefuseError};
use lock::Lock;
use memory::{Memory, program_of, source_of, utf8};
use place::Place;
use plan::{Extent, Fate, Plan, refused};
use record::{Record, of_projects, path_of};
use target::{Program, ProgramParser, Target};
use wish::{Entry, Wish};

/// Give an agent this memory: tools, and hooks where it has them
///
/// Adds what is needed to the program's own configuration, and touches nothing else: comments,
/// order and spaces stay as they are. Claude Code gets the MCP server, and hooks that show the
/// memory to each session; --hooks write also keeps notes of sessions, and --project limits all of
/// it to one project. Codex and ZeroClaw get the MCP server. OpenClaw gets a skill, and a plugin
/// with which memory_search also finds what --source names, when it is asked with corpus "all" or
/// "wiki". For any other MCP client, this prints what to add to its configuration.
///
/// --dry-run shows every line before anything is written. Connecting again brings an old entry up
/// to date. `anemone disconnect` takes it all out again, and leaves the files as they were.
#[derive(Args, Debug)]
pub(crate) struct ConnectArgs {
    /// The program to connect: claude-code, codex, openclaw, zeroclaw, or another MCP client such
    /// as cursor
    #[arg(value_name = "PROGRAM", value_parser = ProgramParser)]
    target: Program,

    #[command(flatten)]
    memory: AgentArgs,

    /// OpenClaw: an archive, a database or a folder in which memory_search finds things; may be
    /// given more than once
    #[arg(long, value_name = "PATH", value_hint = clap::ValueHint::AnyPath)]
    source: Vec<PathBuf>,

    /// Let the program remember and forget, not only search
    #[arg(long)]
    allow_write: bool,

    /// Claude Code: which hooks it gets [default: read]
    #[arg(long, value_enum, value_name = "WHICH", hide_default_value = true)]
    hooks: Option<Hooks>,

    /// Claude Code: only the tools, no hooks; the same as --hooks none
    #[arg(long, conflicts_with = "hooks", hide = true)]
    no_hooks: bool,

    /// Claude Code: connect only the sessions in this project, by its .claude/settings.local.json
    #[arg(long, value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    project: Option<PathBuf>,

    /// ZeroClaw: the agent that gets the tools; without it, the one whose memory it is, or the only
    /// one
    #[arg(long, value_name = "ALIAS")]
    to: Option<String>,

    /// The anemone that is started; without it, this one
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::ExecutablePath)]
    program: Option<String>,

    /// Show what would be written, and write nothing
    #[arg(long, short = 'n')]
    dry_run: bool,
}

/// Remove what `anemone connect` wrote
///
/// Restores the program's files byte for byte; what you changed in them since stays. Files and
/// folders that were created for the connection are removed, unless something else is in them.
///
/// Entries that start anemone but are not as it wrote them stay and are listed, because they may be
/// your own. --all removes them as well.
#[derive(Args, Debug)]
pub(crate) struct DisconnectArgs {
    /// The program to disconnect
    #[arg(value_enum)]
    target: Target,

    /// Claude Code: disconnect only the sessions in this project
    #[arg(long, value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    project: Option<PathBuf>,

    /// Also remove entries that start anemone, whoever wrote or changed them, and files that are
    /// the same as ours
    #[arg(long)]
    all: bool,

    /// Show what would be removed, and change nothing
    #[arg(long, short = 'n')]
    dry_run: bool,
}

#[derive(Serialize)]
pub(crate) struct ConnectReport {
    ok: bool,
    target: String,
    /// `connected`, `already_connected`, `disconnected`, `not_connected`, `planned`, or `by_hand`
    /// where the user adds it.
    status: &'static str,
    dry_run: bool,
    /// The arguments that name the memory.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    memory: Vec<String>,
    files: Vec<FileLine>,
    notes: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<&'static str>,
    /// The project, where only that is connected.
    #[serde(skip_serializing_if = "Option::is_none")]
    project: Option<String>,
    /// What the user adds to the configuration of a program that we do not edit.
    #[serde(skip_serializing_if = "Option::is_none")]
    config: Option<serde_json::Value>,
    /// Where that is to be added.
    #[serde(skip_serializing_if = "Option::is_none")]
    config_file: Option<&'static str>,
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
    let machine = context.host.machine()?;
    let target = match &args.target {
        Program::Known(target) => *target,
        Program::Other(name) => return args.by_hand(name, &machine),
    };
    args.check(target)?;
    let places = Places::of(context, &machine);
    let project = args.project.as_deref().map(project_of).transpose()?;
    let _lock = Lock::take(&machine.home)?;
    let kept = path_of(context.environment, target.word(), project.as_deref());
    let record = Record::load(&kept)?;
    let (wish, memory) =
        args.wish(target, &places, project.as_deref(), &machine, record.as_ref())?;
    let mut plan = plan::connect(&wish, record.as_ref())?;
    plan.record.project.clone_from(&project);
    plan.check()?;
    if record.as_ref().is_some_and(claude_code::writes) && !claude_code::writes(&plan.record) {
        plan.notes.push(
            "the hooks that wrote into the memory (at the end of a session, and before a \
             conversation is compacted) are taken out; --hooks write keeps them"
                .to_owned(),
        );
    }
    let is_kept = record.as_ref().is_some_and(|it| it.is_same(&plan.record));
    let is_done = plan.is_done() && is_kept;
    if !args.dry_run {
        plan.sweep();
    }
    if !args.dry_run && !is_done {
        // Kept first, so that a connection that is cut off can be taken out again.
        plan.record.save(&kept, record.as_ref())?;
        if let Err(error) = plan.apply() {
            // Nothing was changed, so the record says again what it said before.
            match &record {
                Some(before) => before.clone().save(&kept, Some(before)).ok(),
                None => plan.record.remove(&kept).ok(),
            };
            return Err(error);
        }
    }
    let status = match (plan.is_done(), args.dry_run) {
        (true, _) => "already_connected",
        (false, true) => "planned",
        (false, false) => "connected",
    };
    let mut report = ConnectReport::of(target, status, args.dry_run, plan);
    report.memory = memory;
    report.next = Some(wish.next).filter(|_| status == "connected");
    report.project = project;
    Ok(report)
}

pub(crate) fn disconnect(
    args: &DisconnectArgs,
    context: &Context<'_>,
) -> Result<ConnectReport, CliError> {
    let machine = context.host.machine()?;
    let places = Places::of(context, &machine);
    if args.project.is_some() && args.target != Target::ClaudeCode {
        return Err(only_for("--project", Target::ClaudeCode));
    }
    let project = args.project.as_deref().map(project_of).transpose()?;
    let _lock = Lock::take(&machine.home)?;
    let kept = path_of(context.environment, args.target.word(), project.as_deref());
    let record = Record::load(&kept)?;
    let wish = args.target.bare_wish(&places, project.as_deref())?;
    let extent = if args.all { Extent::All } else { Extent::Written };
    let mut plan = plan::disconnect(&wish, record.as_ref(), extent)?;
    plan.check()?;
    if project.is_none() {
        for (folder, _) in of_projects(context.environment, args.target.word()) {
            plan.notes.push(format!(
                "{folder} is connected by itself; `disconnect {} --project` takes that out",
                args.target.word()
            ));
        }
    }
    let is_done = plan.is_done();
    if !args.dry_run {
        plan.sweep();
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
    report.project = project;
    Ok(report)
}

/// Returns the name that a project has in configuration files. One that is gone can still be
/// disconnected.
fn project_of(folder: &Path) -> Result<String, CliError> {
    let folder = match fs_err::canonicalize(folder) {
        Ok(folder) => folder,
        Err(error) if error.kind() == io::ErrorKind::NotFound => std::path::absolute(folder)?,
        Err(error) => return Err(error.into()),
    };
    utf8(&folder)
}

fn only_for(flag: &str, target: Target) -> CliError {
    CliError::new(Kind::Usage, "usage", format!("{flag} only applies to {}", target.word()))
}

impl ConnectArgs {
    /// Refuses what the program has no use for.
    fn check(&self, target: Target) -> Result<(), CliError> {
        let for_claude_code = [
            (self.no_hooks, "--no-hooks"),
            (self.hooks.is_some(), "--hooks"),
            (self.project.is_some(), "--project"),
        ];
        let for_others = [
            (!self.source.is_empty(), "--source", Target::OpenClaw),
            (self.to.is_some(), "--to", Target::ZeroClaw),
        ];
        let of_claude_code =
            for_claude_code.map(|(is_set, flag)| (is_set, flag, Target::ClaudeCode));
        for (is_set, flag, whose) in of_claude_code.into_iter().chain(for_others) {
            if is_set && whose != target {
                return Err(only_for(flag, whose));
            }
        }
        if let Some(project) = self.project.as_deref().filter(|it| !it.is_dir()) {
            let error = CliError::new(Kind::Failed, "not_found", "there is no such folder");
            return Err(error
                .about(project)
                .hint("give the folder in which Claude Code is started"));
        }
        if self.allow_write && target == Target::OpenClaw {
            let message = "OpenClaw writes its own memory, so --allow-write has no effect here";
            return Err(CliError::new(Kind::Usage, "usage", message));
        }
        Ok(())
    }

    fn hooks(&self) -> Hooks {
        if self.no_hooks { Hooks::None } else { self.hooks.unwrap_or_default() }
    }

    /// Returns what the user adds to a program whose configuration we do not edit.
    fn by_hand(&self, name: &str, machine: &Machine) -> Result<ConnectReport, CliError> {
        let flags = [
            (!self.source.is_empty(), "--source", Target::OpenClaw),
            (self.to.is_some(), "--to", Target::ZeroClaw),
            (self.no_hooks || self.hooks.is_some(), "--hooks", Target::ClaudeCode),
            (self.project.is_some(), "--project", Target::ClaudeCode),
        ];
        if let Some((_, flag, whose)) = flags.into_iter().find(|it| it.0) {
            return Err(only_for(flag, whose));
        }
        let program = program_of(self.program.as_deref(), machine)?;
        let Memory { words, .. } = Memory::of(&self.memory, machine)?;
        let entry = Entry { program, memory: words, allow_write: self.allow_write };
        let mut report = ConnectReport::new(name.to_owned(), "by_hand", self.dry_run);
        report.config = Some(by_hand::config(name, &entry));
        report.config_file = Some(by_hand::file_of(name));
        report.memory = entry.memory;
        Ok(report)
    }

    /// Returns what the program needs, and the arguments that name the memory.
    fn wish(
        &self,
        target: Target,
        places: &Places,
        project: Option<&str>,
        machine: &Machine,
        record: Option<&Record>,
    ) -> Result<(Wish, Vec<String>), CliError> {
        let program = program_of(self.program.as_deref(), machine)?;
        let document = || {
            let bare = target.bare_wish(places, project)?;
            plan::base(&bare.files[0], record).map(|(_, _, document)| document)
        };
        let memory = || {
            let Memory { words, chosen } = Memory::of(&self.memory, machine)?;
            let program = program.clone();
            let entry = Entry { program, memory: words, allow_write: self.allow_write };
            Ok::<_, CliError>((entry, chosen))
        };
        match target {
            Target::ClaudeCode => {
                let (entry, _) = memory()?;
                let (folders, scope) = (&places.claude_code, scope_of(project));
                let wish = claude_code::wish(folders, scope, Some(&entry), self.hooks());
                Ok((wish.map_err(|error| embedded(&error))?, entry.memory))
            }
            Target::Codex => {
                let (entry, _) = memory()?;
                let wish = codex::wish(&places.codex, Some(&entry));
                Ok((wish.map_err(|it| embedded(&it))?, entry.memory))
            }
            Target::OpenClaw => {
                let sources = self.sources(machine, record)?;
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
    fn sources(&self, machine: &Machine, record: Option<&Record>) -> Result<Vec<String>, CliError> {
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
        if sources.is_empty() {
            sources = record.map(openclaw::sources_of).unwrap_or_default();
        }
        if sources.is_empty() {
            let message = "there is nothing for the plugin to search: OpenClaw searches its own \
                           memory by itself; nothing was changed";
            let error = CliError::new(Kind::Usage, "nothing_to_search", message);
            return Err(error.hint(
                "name an archive, a folder or a database with --source, or another memory with -w",
            ));
        }
        if sources.len() > openclaw::MOST_SOURCES {
            let most = openclaw::MOST_SOURCES;
            let message = format!("the plugin searches at most {most} sources");
            let error = CliError::new(Kind::Usage, "too_many_sources", message);
            return Err(error.hint("name a folder that holds several of them"));
        }
        Ok(sources)
    }
}

/// The programs that are connected, and those whose record makes no sense.
pub(crate) struct Connections {
    pub(crate) connected: Vec<Connection>,
    pub(crate) broken: Vec<String>,
}

/// A program that has a memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Connection {
    pub(crate) program: &'static str,
    /// The project, where only that is connected.
    pub(crate) project: Option<String>,
    /// Whether it has hooks that write into the memory.
    pub(crate) writes: bool,
}

impl Connections {
    /// Looks at what was kept when programs were connected.
    pub(crate) fn look(environment: &Environment) -> Self {
        let mut names: Vec<&str> = Target::value_variants().iter().map(|it| it.word()).collect();
        names.sort_unstable();
        let mut all = Self { connected: Vec::new(), broken: Vec::new() };
        for program in names {
            let path = path_of(environment, program, None);
            let of = |record: &Record, project| {
                let writes = claude_code::writes(record);
                record.has_anything().then_some(Connection { program, project, writes })
            };
            match Record::load(&path) {
                Ok(Some(record)) => all.connected.extend(of(&record, None)),
                Ok(None) if fs_err::symlink_metadata(&path).is_err() => {}
                Ok(None) | Err(_) => all.broken.push(program.to_owned()),
            }
            for (project, record) in of_projects(environment, program) {
                all.connected.extend(of(&record, Some(project)));
            }
        }
        all
    }
}

/// Whether the agent of a runtime can be given the tools by that runtime: ZeroClaw shows them only
/// to agents that its configuration lists.
pub(crate) fn is_connectable(
    runtime: &str,
    alias: &str,
    context: &Context<'_>,
    machine: &Machine,
) -> bool {
    if runtime != Target::ZeroClaw.word() {
        return true;
    }
    let config = Places::of(context, machine).zeroclaw.join("config.toml");
    let text = Place::look(&config).ok().and_then(|it| it.text).unwrap_or_default();
    let document = Format::Toml.parse(&text);
    document.is_ok_and(|document| zeroclaw::shows_tools_to(&document, alias))
}

/// What is in this binary is in order; were it not, this says so.
fn embedded(error: &RefuseError) -> CliError {
    CliError::from_error(Kind::Failed, "embedded", error)
}

fn scope_of(project: Option<&str>) -> Scope<'_> {
    project.map_or(Scope::User, Scope::Project)
}

impl Target {
    /// Returns where something of ours may be, wanting nothing.
    fn bare_wish(self, places: &Places, project: Option<&str>) -> Result<Wish, CliError> {
        let nobody = zeroclaw::Grant { named: None, owner: None };
        match self {
            Self::ClaudeCode => {
                let (folders, scope) = (&places.claude_code, scope_of(project));
                claude_code::wish(folders, scope, None, Hooks::None)
            }
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
    fn new(target: String, status: &'static str, dry_run: bool) -> Self {
        Self {
            ok: true,
            target,
            status,
            dry_run,
            memory: Vec::new(),
            files: Vec::new(),
            notes: Vec::new(),
            next: None,
            project: None,
            config: None,
            config_file: None,
            takes_out: false,
        }
    }

    fn of(target: Target, status: &'static str, dry_run: bool, plan: Plan) -> Self {
        let line = |it: plan::FilePlan| FileLine {
            path: it.place.path.to_string_lossy().into_owned(),
            fate: it.fate,
            lines: it.lines,
        };
        Self {
            files: plan.files.into_iter().map(line).collect(),
            notes: plan.notes,
            ..Self::new(target.word().to_owned(), status, dry_run)
        }
    }
}

impl Report for ConnectReport {
    fn write_human(&self, out: &mut dyn Write) -> io::Result<()> {
        let target = safe(&self.target);
        let project = self.project.as_ref().map(|it| format!(" in {}", safe(it)));
        let project = project.unwrap_or_default();
        match self.status {
            "already_connected" => {
                writeln!(out, "{GOOD}{target} is already connected{project}{GOOD:#}")?;
            }
            "not_connected" => writeln!(out, "{target} is not connected{project}")?,
            "planned" => writeln!(out, "{BOLD}dry run, nothing is written:{BOLD:#}")?,
            "by_hand" => writeln!(out, "Anemone does not edit the configuration of {target}.")?,
            done => writeln!(out, "{GOOD}{done}{GOOD:#} {target}{project}")?,
        }
        if let (Some(config), Some(file)) = (&self.config, self.config_file) {
            writeln!(out, "Add this to {file}:\n")?;
            let text = serde_json::to_string_pretty(config).map_err(io::Error::from)?;
            for line in text.lines() {
                writeln!(out, "{}", safe(line))?;
            }
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

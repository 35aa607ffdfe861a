//! Giving other programs a memory: tools, and hooks where they have them; and taking them out again.

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

use std::io;
use std::path::{Path, PathBuf};

use anemone_runtimes::Machine;
use serde::Serialize;

use crate::agent::AgentChoice;
use crate::error::{Error, Kind};
use crate::host::Host;
pub use by_hand::names as names_of_others;
pub use claude_code::Hooks;
use claude_code::Scope;
use document::{Format, RefuseError};
use lock::Lock;
use memory::{Memory, program_of, source_of, utf8};
use place::Place;
pub use plan::Fate;
use plan::{Extent, Plan, refused};
use record::{Record, of_projects, path_of};
pub use shell::words as shell_words;
pub use target::{Program, Target};
use wish::{Entry, Wish};

/// Which program gets which memory.
#[derive(Clone, Debug)]
pub struct ConnectRequest {
    /// The program.
    pub program: Program,
    /// The memory.
    pub memory: AgentChoice,
    /// OpenClaw: archives, databases and folders that its plugin searches.
    pub sources: Vec<PathBuf>,
    /// Whether the program may remember and forget, not only search.
    pub allow_write: bool,
    /// Claude Code: which hooks it gets.
    pub hooks: Option<Hooks>,
    /// Claude Code: the project whose sessions alone are connected.
    pub project: Option<PathBuf>,
    /// ZeroClaw: the agent that gets the tools.
    pub to: Option<String>,
    /// The program that entries start; this one where none is given.
    pub command: Option<String>,
    /// Plan only.
    pub dry_run: bool,
}

/// Which program loses what it was given.
#[derive(Clone, Debug)]
pub struct DisconnectRequest {
    /// The program.
    pub target: Target,
    /// Claude Code: the project whose sessions alone are disconnected.
    pub project: Option<PathBuf>,
    /// Whether entries go that start anemone, whoever wrote or changed them.
    pub all: bool,
    /// Plan only.
    pub dry_run: bool,
}

/// What was connected or disconnected.
#[derive(Serialize)]
pub struct ConnectReport {
    /// Always true.
    pub ok: bool,
    pub target: String,
    /// `connected`, `already_connected`, `disconnected`, `not_connected`, `planned`, or `by_hand`
    /// where the user adds it.
    pub status: &'static str,
    pub dry_run: bool,
    /// The arguments that name the memory.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub memory: Vec<String>,
    pub files: Vec<FileLine>,
    pub notes: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<&'static str>,
    /// The project, where only that is connected.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// What the user adds to the configuration of a program that we do not edit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub config: Option<serde_json::Value>,
    /// Where that is to be added.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub config_file: Option<&'static str>,
    #[serde(skip)]
    pub takes_out: bool,
}

/// A file of the program, and what becomes of it.
#[derive(Serialize)]
pub struct FileLine {
    pub path: String,
    /// `made`, `changed`, `removed` or `same`.
    pub fate: Fate,
    /// Our lines, and nothing else of the file.
    pub lines: Vec<String>,
}

/// Gives a program a memory.
pub fn connect(request: &ConnectRequest, host: &Host) -> Result<ConnectReport, Error> {
    let machine = host.machine()?;
    let target = match &request.program {
        Program::Known(target) => *target,
        Program::Other(name) => return request.by_hand(name, &machine),
    };
    request.check(target)?;
    let places = Places::of(host, &machine);
    let project = request.project.as_deref().map(project_of).transpose()?;
    let _lock = Lock::take(&machine.home)?;
    let kept = path_of(host, target.word(), project.as_deref());
    let record = Record::load(&kept)?;
    let (wish, memory) =
        request.wish(target, &places, project.as_deref(), &machine, record.as_ref())?;
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
    if !request.dry_run {
        plan.sweep();
    }
    if !request.dry_run && !is_done {
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
    let status = match (plan.is_done(), request.dry_run) {
        (true, _) => "already_connected",
        (false, true) => "planned",
        (false, false) => "connected",
    };
    let mut report = ConnectReport::of(target, status, request.dry_run, plan);
    report.memory = memory;
    report.next = Some(wish.next).filter(|_| status == "connected");
    report.project = project;
    Ok(report)
}

/// Takes out of a program what [`connect`] wrote.
pub fn disconnect(request: &DisconnectRequest, host: &Host) -> Result<ConnectReport, Error> {
    let machine = host.machine()?;
    let places = Places::of(host, &machine);
    if request.project.is_some() && request.target != Target::ClaudeCode {
        return Err(only_for("--project", Target::ClaudeCode));
    }
    let project = request.project.as_deref().map(project_of).transpose()?;
    let _lock = Lock::take(&machine.home)?;
    let kept = path_of(host, request.target.word(), project.as_deref());
    let record = Record::load(&kept)?;
    let wish = request.target.bare_wish(&places, project.as_deref())?;
    let extent = if request.all { Extent::All } else { Extent::Written };
    let mut plan = plan::disconnect(&wish, record.as_ref(), extent)?;
    plan.check()?;
    if project.is_none() {
        for (folder, _) in of_projects(host, request.target.word()) {
            plan.notes.push(format!(
                "{folder} is connected by itself; `disconnect {} --project` takes that out",
                request.target.word()
            ));
        }
    }
    let is_done = plan.is_done();
    if !request.dry_run {
        plan.sweep();
        plan.apply()?;
        if let Some(record) = &record {
            record.remove(&kept)?;
        }
    }
    let status = match (is_done, request.dry_run) {
        (true, _) => "not_connected",
        (false, true) => "planned",
        (false, false) => "disconnected",
    };
    let mut report = ConnectReport::of(request.target, status, request.dry_run, plan);
    report.takes_out = true;
    report.project = project;
    Ok(report)
}

/// Returns the name that a project has in configuration files. One that is gone can still be
/// disconnected.
fn project_of(folder: &Path) -> Result<String, Error> {
    let folder = match fs_err::canonicalize(folder) {
        Ok(folder) => folder,
        Err(error) if error.kind() == io::ErrorKind::NotFound => std::path::absolute(folder)?,
        Err(error) => return Err(error.into()),
    };
    utf8(&folder)
}

fn only_for(flag: &str, target: Target) -> Error {
    Error::new(Kind::Usage, "usage", format!("{flag} only applies to {}", target.word()))
}

impl ConnectRequest {
    /// Refuses what the program has no use for.
    fn check(&self, target: Target) -> Result<(), Error> {
        let for_claude_code =
            [(self.hooks.is_some(), "--hooks"), (self.project.is_some(), "--project")];
        let for_others = [
            (!self.sources.is_empty(), "--source", Target::OpenClaw),
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
            let error = Error::new(Kind::Failed, "not_found", "there is no such folder");
            return Err(error
                .about(project)
                .hint("give the folder in which Claude Code is started"));
        }
        if self.allow_write && target == Target::OpenClaw {
            let message = "OpenClaw writes its own memory, so --allow-write has no effect here";
            return Err(Error::new(Kind::Usage, "usage", message));
        }
        Ok(())
    }

    /// Returns what the user adds to a program whose configuration we do not edit.
    fn by_hand(&self, name: &str, machine: &Machine) -> Result<ConnectReport, Error> {
        let flags = [
            (!self.sources.is_empty(), "--source", Target::OpenClaw),
            (self.to.is_some(), "--to", Target::ZeroClaw),
            (self.hooks.is_some(), "--hooks", Target::ClaudeCode),
            (self.project.is_some(), "--project", Target::ClaudeCode),
        ];
        if let Some((_, flag, whose)) = flags.into_iter().find(|it| it.0) {
            return Err(only_for(flag, whose));
        }
        let program = program_of(self.command.as_deref(), machine)?;
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
    ) -> Result<(Wish, Vec<String>), Error> {
        let program = program_of(self.command.as_deref(), machine)?;
        let document = || {
            let bare = target.bare_wish(places, project)?;
            plan::base(&bare.files[0], record).map(|(_, _, document)| document)
        };
        let memory = || {
            let Memory { words, chosen } = Memory::of(&self.memory, machine)?;
            let program = program.clone();
            let entry = Entry { program, memory: words, allow_write: self.allow_write };
            Ok::<_, Error>((entry, chosen))
        };
        match target {
            Target::ClaudeCode => {
                let (entry, _) = memory()?;
                let (folders, scope) = (&places.claude_code, scope_of(project));
                let wish =
                    claude_code::wish(folders, scope, Some(&entry), self.hooks.unwrap_or_default());
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
                let is_own = chosen.adapter.name == "zeroclaw";
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
    fn sources(&self, machine: &Machine, record: Option<&Record>) -> Result<Vec<String>, Error> {
        let mut sources = Vec::new();
        let AgentChoice { runtime, workspace, agent } = &self.memory;
        if runtime.is_some() || workspace.is_some() || agent.is_some() {
            sources.push(source_of(&self.memory, machine)?);
        }
        for source in &self.sources {
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
            let error = Error::new(Kind::Usage, "nothing_to_search", message);
            return Err(error.hint(
                "name an archive, a folder or a database with --source, or another memory with -w",
            ));
        }
        if sources.len() > openclaw::MOST_SOURCES {
            let most = openclaw::MOST_SOURCES;
            let message = format!("the plugin searches at most {most} sources");
            let error = Error::new(Kind::Usage, "too_many_sources", message);
            return Err(error.hint("name a folder that holds several of them"));
        }
        Ok(sources)
    }
}

/// The programs that are connected, and those whose record makes no sense.
pub struct Connections {
    pub connected: Vec<Connection>,
    pub broken: Vec<String>,
}

/// A program that has a memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Connection {
    pub program: &'static str,
    /// The project, where only that is connected.
    pub project: Option<String>,
    /// Whether it has hooks that write into the memory.
    pub writes: bool,
}

impl Connections {
    /// Looks at what was kept when programs were connected.
    pub fn look(host: &Host) -> Self {
        let mut names: Vec<&str> = Target::ALL.iter().map(|it| it.word()).collect();
        names.sort_unstable();
        let mut all = Self { connected: Vec::new(), broken: Vec::new() };
        for program in names {
            let path = path_of(host, program, None);
            let of = |record: &Record, project| {
                let writes = claude_code::writes(record);
                record.has_anything().then_some(Connection { program, project, writes })
            };
            match Record::load(&path) {
                Ok(Some(record)) => all.connected.extend(of(&record, None)),
                Ok(None) if fs_err::symlink_metadata(&path).is_err() => {}
                Ok(None) | Err(_) => all.broken.push(program.to_owned()),
            }
            for (project, record) in of_projects(host, program) {
                all.connected.extend(of(&record, Some(project)));
            }
        }
        all
    }
}

/// Whether the agent of a runtime can be given the tools by that runtime: ZeroClaw shows them only
/// to agents that its configuration lists.
pub fn is_connectable(runtime: &str, alias: &str, host: &Host, machine: &Machine) -> bool {
    if runtime != Target::ZeroClaw.word() {
        return true;
    }
    let config = Places::of(host, machine).zeroclaw.join("config.toml");
    let text = Place::look(&config).ok().and_then(|it| it.text).unwrap_or_default();
    let document = Format::Toml.parse(&text);
    document.is_ok_and(|document| zeroclaw::shows_tools_to(&document, alias))
}

/// What is in this binary is in order; were it not, this says so.
fn embedded(error: &RefuseError) -> Error {
    Error::from_error(Kind::Failed, "embedded", error)
}

fn scope_of(project: Option<&str>) -> Scope<'_> {
    project.map_or(Scope::User, Scope::Project)
}

impl Target {
    /// Returns where something of ours may be, wanting nothing.
    fn bare_wish(self, places: &Places, project: Option<&str>) -> Result<Wish, Error> {
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
    fn of(host: &Host, machine: &Machine) -> Self {
        let variable = |name: &str| {
            let value = machine.variable(name)?;
            let path = match value.to_str().and_then(|it| it.strip_prefix("~/")) {
                Some(rest) => machine.home.join(rest),
                None => PathBuf::from(value),
            };
            Some(path).filter(|it| it.is_absolute())
        };
        // These programs take a relative path too, from the current folder.
        let named = |name: &str| std::path::absolute(machine.variable(name)?).ok();
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
                set: named("CLAUDE_CONFIG_DIR"),
            },
            openclaw: openclaw::Places {
                config,
                state,
                plugin: host.folders.data.join("anemone/integrations/openclaw"),
            },
            zeroclaw: variable("ZEROCLAW_CONFIG_DIR")
                .unwrap_or_else(|| machine.home.join(".zeroclaw")),
            codex: named("CODEX_HOME").unwrap_or_else(|| machine.home.join(".codex")),
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

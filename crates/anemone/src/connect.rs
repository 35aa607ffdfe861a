//! Giving other programs a memory: tools, and hooks where they have them; and taking them out
//! again.

mod by_hand;
mod error;
mod lock;
mod memory;
mod plan;
mod program_file;
mod record;
mod target;

use std::io;
use std::path::{Path, PathBuf};

use anemone_runtimes::Machine;
pub use anemone_runtimes::connect::{ConfigFormat, ConnectOption, Hooks, ProgramNote, RefuseError};
use anemone_runtimes::connect::{
    ConnectPlace, ConnectedMemory, Connection, DesiredConfig, ServerEntry,
};
pub use anemone_runtimes::connect::{quoted, words as shell_words};
use serde::Serialize;

use crate::agent::AgentChoice;
use crate::host::Host;
use crate::statement::Statement;
pub use by_hand::names as names_of_others;
pub use error::ConnectError;
use lock::Lock;
use memory::{MemoryArguments, program_of, source_of, utf8};
pub use plan::{ConnectNote, FileAction};
use plan::{Plan, RemovalScope};
use program_file::ProgramFile;
use record::{Record, of_projects, path_of};
pub use target::{ConnectTarget, Program};

/// Which program gets which memory.
#[derive(Clone, Debug)]
pub struct ConnectRequest {
    /// The program.
    pub program: Program,
    /// The memory.
    pub memory: AgentChoice,
    /// Archives, databases and folders to search, for a program that searches its own memory.
    pub sources: Vec<PathBuf>,
    /// Whether the program may remember and forget, not only search.
    pub allow_write: bool,
    /// Which hooks it gets, where it has hooks.
    pub hooks: Option<Hooks>,
    /// The project whose sessions alone are connected.
    pub project: Option<PathBuf>,
    /// The agent of the program that gets the tools, where it shows tools to single agents.
    pub to: Option<String>,
    /// The program that entries start; this one where none is given.
    pub command: Option<String>,
    /// Plan only.
    pub dry_run: bool,
}

/// The program to disconnect.
#[derive(Clone, Debug)]
pub struct DisconnectRequest {
    /// The program.
    pub target: ConnectTarget,
    /// The project whose sessions alone are disconnected.
    pub project: Option<PathBuf>,
    /// Whether to remove all entries that start anemone, even those that another program wrote or
    /// changed.
    pub all: bool,
    /// Plan only.
    pub dry_run: bool,
}

/// What was connected or disconnected.
#[derive(Debug, Default, Serialize)]
pub struct ConnectReport {
    /// The program.
    pub target: String,
    /// `connected`, `already_connected`, `disconnected`, `not_connected`, `planned`, or `by_hand`
    /// where the user adds it.
    pub status: &'static str,
    /// Whether nothing was written because only a plan was asked for.
    pub dry_run: bool,
    /// The arguments that name the memory.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub memory: Vec<String>,
    /// The files of the program.
    pub files: Vec<FileLine>,
    /// What the user should know.
    pub notes: Vec<Statement<ConnectNote>>,
    /// What the user does next.
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
    /// Whether lines were removed, not added.
    #[serde(skip)]
    pub takes_out: bool,
}

/// A file of the program, and what becomes of it.
#[derive(Debug, Serialize)]
pub struct FileLine {
    /// The file.
    pub path: String,
    /// `made`, `changed`, `removed` or `same`.
    pub fate: FileAction,
    /// Our lines, and nothing else of the file.
    pub lines: Vec<String>,
}

/// Gives a program a memory.
pub fn connect(request: &ConnectRequest, host: &Host) -> Result<ConnectReport, ConnectError> {
    let machine = host.machine()?;
    let target = match &request.program {
        Program::Known(target) => *target,
        Program::Other(name) => return request.by_hand(name, &machine),
    };
    request.check(target)?;
    let project = request.project.as_deref().map(project_of).transpose()?;
    let _lock = Lock::take(&machine.home)?;
    let place = place_of(host, &machine, project.as_deref());
    let kept = path_of(host, target.name, project.as_deref());
    let record = Record::load(&kept)?;
    let (desired, memory) = request.desired(target, &place, record.as_ref())?;
    let mut plan = plan::connect(&desired, record.as_ref())?;
    plan.record.project.clone_from(&project);
    plan.check()?;
    if record.as_ref().is_some_and(|before| target.writes(before)) && !target.writes(&plan.record) {
        plan.notes.push(ConnectNote::WritingHooksRemoved);
    }
    let is_kept = record.as_ref().is_some_and(|before| before.is_same(&plan.record));
    let is_done = plan.is_done() && is_kept;
    if !request.dry_run {
        plan.sweep();
    }
    if !request.dry_run && !is_done {
        // Kept first, so that a connection that is cut off can be taken out again.
        plan.record.save(&kept, record.as_ref())?;
        if let Err(error) = plan.apply() {
            // Nothing was changed, so the former record is restored.
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
    report.next = Some(desired.next).filter(|_| status == "connected");
    report.project = project;
    Ok(report)
}

/// Takes out of a program what [`connect`] wrote.
pub fn disconnect(request: &DisconnectRequest, host: &Host) -> Result<ConnectReport, ConnectError> {
    let machine = host.machine()?;
    if request.project.is_some() {
        check_option(ConnectOption::Project, Some(request.target))?;
    }
    let project = request.project.as_deref().map(project_of).transpose()?;
    let _lock = Lock::take(&machine.home)?;
    let kept = path_of(host, request.target.name, project.as_deref());
    let record = Record::load(&kept)?;
    let desired = (request.target.locate)(&place_of(host, &machine, project.as_deref()));
    let extent = if request.all { RemovalScope::All } else { RemovalScope::Written };
    let mut plan = plan::disconnect(&desired, record.as_ref(), extent)?;
    plan.check()?;
    if project.is_none() {
        for (folder, _) in of_projects(host, request.target.name) {
            let program = request.target.name;
            plan.notes.push(ConnectNote::ProjectConnected { folder, program });
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

/// Returns the name that a project has in configuration files. A deleted project can still be
/// disconnected.
fn project_of(folder: &Path) -> Result<String, ConnectError> {
    let folder = match fs_err::canonicalize(folder) {
        Ok(folder) => folder,
        Err(error) if error.kind() == io::ErrorKind::NotFound => std::path::absolute(folder)?,
        Err(error) => return Err(error.into()),
    };
    utf8(&folder)
}

fn place_of<'a>(host: &Host, machine: &'a Machine, project: Option<&'a str>) -> ConnectPlace<'a> {
    ConnectPlace { machine, data: host.folders.data.join("anemone"), project }
}

/// Refuses an option that a program does not understand; `None` is a program whose configuration
/// the user edits.
fn check_option(option: ConnectOption, target: Option<ConnectTarget>) -> Result<(), ConnectError> {
    if target.is_some_and(|target| target.takes(option)) {
        return Ok(());
    }
    let takers = ConnectTarget::all().filter(|target| target.takes(option)).collect();
    Err(ConnectError::OnlyFor { option, takers })
}

impl ConnectRequest {
    /// Refuses options that the program does not support.
    fn check(&self, target: ConnectTarget) -> Result<(), ConnectError> {
        let options = [
            (self.hooks.is_some(), ConnectOption::Hooks),
            (self.project.is_some(), ConnectOption::Project),
            (!self.sources.is_empty(), ConnectOption::Source),
            (self.to.is_some(), ConnectOption::To),
        ];
        for (_, option) in options.into_iter().filter(|(is_set, _)| *is_set) {
            check_option(option, Some(target))?;
        }
        if let Some(folder) = self.project.as_deref().filter(|folder| !folder.is_dir()) {
            return Err(ConnectError::NoProject { folder: folder.to_owned(), target });
        }
        if self.allow_write && matches!(target.memory, ConnectedMemory::Sources { .. }) {
            return Err(ConnectError::WritesItself(target));
        }
        Ok(())
    }

    /// Returns what the user adds to a program whose configuration we do not edit.
    fn by_hand(&self, name: &str, machine: &Machine) -> Result<ConnectReport, ConnectError> {
        let options = [
            (!self.sources.is_empty(), ConnectOption::Source),
            (self.to.is_some(), ConnectOption::To),
            (self.hooks.is_some(), ConnectOption::Hooks),
            (self.project.is_some(), ConnectOption::Project),
        ];
        for (_, option) in options.into_iter().filter(|(is_set, _)| *is_set) {
            check_option(option, None)?;
        }
        let program = program_of(self.command.as_deref(), machine)?;
        let MemoryArguments { words, .. } = MemoryArguments::of(&self.memory, machine)?;
        let entry = ServerEntry { program, memory: words, allow_write: self.allow_write };
        let mut report = ConnectReport::new(name.to_owned(), "by_hand", self.dry_run);
        report.config = Some(by_hand::config(name, &entry));
        report.config_file = Some(by_hand::file_of(name));
        report.memory = entry.memory;
        Ok(report)
    }

    /// Returns what the program needs, and the arguments that name the memory.
    fn desired(
        &self,
        target: ConnectTarget,
        place: &ConnectPlace<'_>,
        record: Option<&Record>,
    ) -> Result<(DesiredConfig, Vec<String>), ConnectError> {
        let machine = place.machine;
        let program = program_of(self.command.as_deref(), machine)?;
        let (memory, owner) = match target.memory {
            ConnectedMemory::Agent => {
                let MemoryArguments { words, chosen } = MemoryArguments::of(&self.memory, machine)?;
                let is_own = chosen.runtime.name == target.name;
                (words, Some(chosen.agent.alias).filter(|_| is_own))
            }
            ConnectedMemory::Sources { .. } => (self.sources(target, machine, record)?, None),
        };
        let bare = (target.locate)(place);
        let first = &bare.files[0];
        let (_, _, document) = plan::base(first, record)?;
        let entry = ServerEntry { program, memory, allow_write: self.allow_write };
        let connection = Connection {
            entry: &entry,
            hooks: self.hooks.unwrap_or_default(),
            agent: self.to.as_deref(),
            owner: owner.as_deref(),
            document: &document,
        };
        let desired = (target.desire)(place, &connection);
        let desired = desired.map_err(|error| ConnectError::refused(first, error))?;
        Ok((desired, entry.memory))
    }

    /// Returns the sources that a program searches besides its own memory.
    fn sources(
        &self,
        target: ConnectTarget,
        machine: &Machine,
        record: Option<&Record>,
    ) -> Result<Vec<String>, ConnectError> {
        let ConnectedMemory::Sources { most, of } = target.memory else { return Ok(Vec::new()) };
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
            sources = record.and_then(|record| record.edits().find_map(of)).unwrap_or_default();
        }
        // A connection may also be for the hooks alone.
        if sources.is_empty() && self.hooks != Some(Hooks::Write) {
            return Err(ConnectError::NothingToSearch(target));
        }
        if sources.len() > most {
            return Err(ConnectError::TooManySources(most));
        }
        Ok(sources)
    }
}

/// The programs that are connected, and those whose record makes no sense.
pub struct Connections {
    /// The programs that are connected.
    pub connected: Vec<ConnectedProgram>,
    /// The programs whose record cannot be read.
    pub broken: Vec<String>,
}

/// A program that has a memory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ConnectedProgram {
    /// Its name.
    pub program: &'static str,
    /// The project, where only that is connected.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// Whether it has hooks that write into the memory.
    pub hooks_write: bool,
}

impl Connections {
    /// Reads the records of connected programs.
    pub fn look(host: &Host) -> Self {
        let mut targets: Vec<ConnectTarget> = ConnectTarget::all().collect();
        targets.sort_unstable_by_key(|target| target.name);
        let mut all = Self { connected: Vec::new(), broken: Vec::new() };
        for target in targets {
            let program = target.name;
            let path = path_of(host, program, None);
            let of = |record: &Record, project| {
                let hooks_write = target.writes(record);
                record.has_anything().then_some(ConnectedProgram { program, project, hooks_write })
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

/// Whether a runtime searches its own memory by itself: it is only connected to other memories.
#[must_use]
pub fn searches_by_itself(runtime: &str) -> bool {
    ConnectTarget::of_name(runtime).is_some_and(|target| target.takes(ConnectOption::Source))
}

/// Whether the agent of a runtime can be given the tools by that runtime: some show them only to
/// agents that their configuration lists.
pub fn is_connectable(runtime: &str, alias: &str, host: &Host, machine: &Machine) -> bool {
    let target = ConnectTarget::of_name(runtime).filter(|target| target.takes(ConnectOption::To));
    let Some(target) = target else { return true };
    let desired = (target.locate)(&place_of(host, machine, None));
    let Some(file) = desired.files.first() else { return true };
    let text = ProgramFile::look(&file.path).ok().and_then(|place| place.text).unwrap_or_default();
    file.format.parse(&text).is_ok_and(|document| (target.shows_tools_to)(&document, alias))
}

impl ConnectReport {
    fn new(target: String, status: &'static str, dry_run: bool) -> Self {
        Self { target, status, dry_run, ..Self::default() }
    }

    fn of(target: ConnectTarget, status: &'static str, dry_run: bool, plan: Plan) -> Self {
        let line = |file: plan::FilePlan| FileLine {
            path: file.place.path.to_string_lossy().into_owned(),
            fate: file.fate,
            lines: file.lines,
        };
        Self {
            files: plan.files.into_iter().map(line).collect(),
            notes: Statement::list(plan.notes),
            ..Self::new(target.name.to_owned(), status, dry_run)
        }
    }
}

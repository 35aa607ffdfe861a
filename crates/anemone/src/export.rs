//! Writes everything about an agent into an archive.

mod previous;
mod report;

use std::path::{Path, PathBuf};

use anemone_format::{
    AgentId, Credential, ReadEntryError, Sink, VaultError, VaultKey, WriteArchiveError,
};
use anemone_runtimes::{
    AGENT_ID_FILE, DEFAULT_ARTIFACT_LIMIT, FileCount, FoundSecret, LeftOut, LeftOutReason, Machine,
    NotRequestedKind, NotedTimes, OpenAgent, PreviousSnapshot, ReadError, ReadOptions, Reading,
    SealSecret, SecretPolicy, TextTimes,
};

use self::previous::Previous;
use self::report::UnchangedSummary;
pub use self::report::{ExportReport, ExportSummary, NotRequestedItem, RequestWords};
use crate::agent::{AgentChoice, ChosenAgent, FindAgentError};
use crate::archive::OpenArchiveError;
use crate::exports::ExportLogEntry;
use crate::files::{Existing, FileError, OutputFile, check_free, spool};
use crate::host::{Host, OwnMachine};
use crate::identity::identify;
use crate::keys::{KeysError, Sealing, read_vault_key};
use crate::known_folders::{FolderKind, known_folders};
use crate::snapshot::{SnapshotSink, seal};
use crate::tally::Tally;
use crate::text::count;
use crate::text_times;

/// The folder of memories in a workspace; without it an export is no backup.
const MEMORY_FOLDER: &str = "memory";

/// Which agent is exported, to where, and what travels.
#[derive(Clone, Debug)]
pub struct ExportRequest {
    /// Which agent.
    pub agent: AgentChoice,
    /// The archive to write; without it, a file in the current folder that is named after the
    /// agent.
    pub output: Option<PathBuf>,
    /// What happens to a file of that name.
    pub existing: Existing,
    /// Only say what would travel, and write nothing.
    pub dry_run: bool,
    /// Write the archive even if no memories and no persona are found.
    pub allow_empty: bool,
    /// An earlier archive of this agent: unchanged items keep their times, and without changes
    /// nothing is written.
    pub since: Option<PathBuf>,
    /// Turn transcripts of conversations into records.
    pub sessions: bool,
    /// Include entries that the runtime keeps for one person only.
    pub private: bool,
    /// The file of the key with which secrets of credentials are sealed; without it, only their
    /// metadata travels.
    pub vault_key: Option<PathBuf>,
    /// Include files other than Markdown up to this many bytes.
    pub artifact_threshold: u64,
    /// What to do about secrets in files.
    pub secrets: SecretPolicy,
    /// Files that travel as they are, whatever secrets they hold: paths in the workspace, as
    /// [`FoundSecret::path`] names them.
    pub allowed_secrets: Vec<String>,
    /// Put the agent's id into the workspace, so that it survives a move.
    pub write_agent_id: bool,
    /// Seal the archive for these age recipients; without recipients it is not sealed.
    pub recipients: Vec<String>,
}

impl ExportRequest {
    /// Exports an agent with the defaults: no transcripts, no private entries, no secrets of
    /// credentials. It stops at secrets in files, at an existing archive, and at an empty agent.
    #[must_use]
    pub const fn new(agent: AgentChoice) -> Self {
        Self {
            agent,
            output: None,
            existing: Existing::Keep,
            dry_run: false,
            allow_empty: false,
            since: None,
            sessions: false,
            private: false,
            vault_key: None,
            artifact_threshold: DEFAULT_ARTIFACT_LIMIT,
            secrets: SecretPolicy::Report,
            allowed_secrets: Vec::new(),
            write_agent_id: false,
            recipients: Vec::new(),
        }
    }

    /// Returns the archive to write.
    fn output_path(&self, chosen: &ChosenAgent) -> PathBuf {
        if let Some(path) = &self.output {
            return path.clone();
        }
        let agent = &chosen.agent;
        // The alias of a folder without an install is only assumed.
        if agent.install.is_some() || self.agent.workspace.is_none() {
            let alias = self.agent.agent.as_deref().unwrap_or(&agent.alias);
            return PathBuf::from(format!("{}.alf", file_stem(alias)));
        }
        archive_name(&agent.workspace)
    }

    /// Returns the files whose secrets are allowed, as findings name them.
    fn allowed_secrets_in(&self, workspace: &Path) -> Vec<String> {
        let named = |path: &String| {
            let path = Path::new(path);
            let within = path.strip_prefix(workspace).unwrap_or(path);
            within.strip_prefix(".").unwrap_or(within).to_string_lossy().into_owned()
        };
        self.allowed_secrets.iter().map(named).collect()
    }

    fn sealing(&self) -> Option<Sealing> {
        (!self.recipients.is_empty()).then(|| Sealing::Recipients(self.recipients.clone()))
    }
}

/// Why nothing was exported.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
#[non_exhaustive]
pub enum ExportError {
    /// No agent was chosen.
    Agent(#[from] FindAgentError),
    /// The earlier archive cannot be used.
    Earlier(#[from] OpenArchiveError),
    /// A part of the earlier archive cannot be read.
    EarlierEntry(#[from] ReadEntryError),
    /// The earlier archive is of another agent.
    #[error("the earlier archive is of agent {earlier}, the workspace of {workspace}")]
    DifferentAgents {
        /// The agent of the earlier archive.
        earlier: AgentId,
        /// The agent of the workspace.
        workspace: AgentId,
    },
    /// The agent cannot be read.
    Read(#[from] ReadError),
    /// The folder of memories, or one in it, cannot be read.
    #[error("cannot read {}; nothing was written", .0.display())]
    UnreadableMemory(PathBuf),
    /// The workspace has no memories and no persona.
    #[error("{} holds no memories and no persona; nothing was written", .0.display())]
    Nothing(PathBuf),
    /// Files contain secrets, and the request does not say what to do about them. The error names
    /// their places, not the secrets themselves.
    #[error("{} would travel in clear; nothing was written", count(.0.len() as u64, "secret"))]
    Secrets(Vec<FoundSecret>),
    /// The archive cannot be written.
    Write(#[from] WriteArchiveError),
    /// The agent's id cannot be put into the workspace.
    AgentIdFile(FileError),
    /// A file cannot be read or written.
    File(#[from] FileError),
    /// A key cannot be read.
    Keys(#[from] KeysError),
}

impl From<std::io::Error> for ExportError {
    fn from(error: std::io::Error) -> Self {
        Self::File(error.into())
    }
}

/// Exports an agent.
pub fn export(request: &ExportRequest, host: &Host) -> Result<ExportReport, ExportError> {
    let machine = host.machine()?;
    let chosen = request.agent.choose(&machine)?;
    let output = request.output_path(&chosen);
    if !request.dry_run {
        check_free(&output, request.existing, host)?;
    }
    let archives = [Some(&*output), request.since.as_deref()].into_iter().flatten();
    let log = ExportLogEntry::new(chosen.runtime, &chosen.agent, archives, host.now());
    let comparing = host.progress("comparing");
    let since = request.since.as_deref();
    let earlier = since.map(|path| Previous::open(path, host, &comparing)).transpose()?;
    let allowed_secrets = request.allowed_secrets_in(&chosen.agent.workspace);
    let noted = text_times::read(chosen.runtime, &chosen.agent, host);
    let job = ExportRun {
        request,
        host,
        machine: &machine,
        chosen: &chosen,
        agent_id: identify(chosen.runtime, &chosen.agent, host).id,
        output: &output,
        archives: own_archives(&chosen, &output, host),
        vault_key: request.vault_key.as_deref().map(read_vault_key).transpose()?,
        log: &log,
        noted_times: noted.times(),
        allowed_secrets: &allowed_secrets,
    };
    let opened = earlier.as_ref().map(|earlier| job.open(&earlier.snapshot)).transpose()?;
    if let Some(earlier) = &earlier
        && let Some(opened) = &opened
        && let Some(report) = job.unchanged(&earlier.snapshot, &**opened)?
    {
        return Ok(report);
    }
    let earlier = earlier.map(Previous::with_records).transpose()?;
    drop(comparing);
    let earlier = earlier.as_ref();
    if request.dry_run { job.list(earlier, opened) } else { job.write(earlier, opened, noted) }
}

/// Goes through an export with the defaults and writes nothing; the error is why it would refuse.
pub fn rehearse(
    chosen: &ChosenAgent,
    opened: Result<Box<dyn OpenAgent>, ReadError>,
    options: &ReadOptions<'_>,
    machine: &Machine,
    host: &Host,
) -> Result<(), ExportError> {
    let progress = host.counting("reading");
    let mut tally = Tally { progress: Some(&progress), ..Tally::default() };
    let reading = opened?.read(machine, &chosen.agent, options, &mut tally)?;
    check_memory_folder(&reading, chosen)?;
    check_content(&reading, chosen)?;
    check_secrets(&reading, &[])
}

/// An export whose agent is known.
struct ExportRun<'a> {
    request: &'a ExportRequest,
    host: &'a Host,
    machine: &'a OwnMachine,
    chosen: &'a ChosenAgent,
    agent_id: AgentId,
    output: &'a Path,
    /// Archives in the workspace that earlier exports wrote; they do not travel.
    archives: Vec<(PathBuf, LeftOut)>,
    vault_key: Option<VaultKey>,
    log: &'a ExportLogEntry<'a>,
    /// The times of texts that earlier exports noted.
    noted_times: TextTimes,
    allowed_secrets: &'a [String],
}

impl ExportRun<'_> {
    /// Opens the agent, to compare it with an earlier archive and to read it.
    fn open(&self, earlier: &PreviousSnapshot) -> Result<Box<dyn OpenAgent>, ReadError> {
        let Self { machine, chosen, .. } = self;
        self.with_options(Some(earlier), None, |options| {
            chosen.runtime.open(machine, &chosen.agent, options)
        })
    }

    /// Reports that nothing changed since an earlier archive, where that can be told without
    /// reading everything.
    fn unchanged(
        &self,
        earlier: &PreviousSnapshot,
        opened: &dyn OpenAgent,
    ) -> Result<Option<ExportReport>, ExportError> {
        let Self { machine, chosen, .. } = self;
        let unchanged = self.with_options(Some(earlier), None, |options| {
            opened.is_unchanged(machine, &chosen.agent, options)
        })?;
        let Some(unchanged) = unchanged else { return Ok(None) };
        let mut report = ExportReport::new(chosen, self.request.dry_run);
        report.no_changes = true;
        report.agent_id_file = self.write_agent_id(earlier.manifest.agent.id)?;
        self.note_earlier(unchanged.count);
        let mut unchanged = UnchangedSummary::new(unchanged);
        unchanged.left_out.extend(self.own_items());
        report.unchanged = Some(unchanged);
        Ok(Some(report))
    }

    /// Says what would travel.
    fn list(
        &self,
        earlier: Option<&Previous>,
        opened: Option<Box<dyn OpenAgent>>,
    ) -> Result<ExportReport, ExportError> {
        let progress = self.host.counting("reading");
        let mut tally = Tally { progress: Some(&progress), ..Tally::default() };
        let reading = self.read(earlier, opened, None, &mut tally)?;
        self.check_content(&reading)?;
        let stops_at_secrets = self.request.secrets == SecretPolicy::Report;
        let mut report = ExportReport::new(self.chosen, true);
        report.would_stop =
            stops_at_secrets && check_secrets(&reading, self.allowed_secrets).is_err();
        let mut summary = ExportSummary::new(reading, tally.bytes, tally.embeddings);
        summary.files = tally.listed;
        summary.left_out.extend(self.own_items());
        report.summary = Some(summary);
        Ok(report)
    }

    /// Writes the archive; secrets stop it before anything has a name.
    fn write(
        &self,
        earlier: Option<&Previous>,
        opened: Option<Box<dyn OpenAgent>>,
        noted: NotedTimes,
    ) -> Result<ExportReport, ExportError> {
        let Self { request, host, output, chosen, .. } = self;
        let mut target = OutputFile::create(output, request.existing)?;
        let own = target.file().path().to_owned();
        let progress = host.counting("reading");
        let sealing = request.sealing();
        let (written, mut reading) = target.write(sealing.as_ref(), |out| {
            let mut sink = SnapshotSink::new(out, spool(Some(output))?, host.threads, &progress);
            let reading = self.read(earlier, opened, Some(&own), &mut sink)?;
            if request.secrets == SecretPolicy::Report {
                check_secrets(&reading, self.allowed_secrets)?;
            }
            let written = sink.finish(&reading)?;
            self.check_content(&reading)?;
            Ok::<_, ExportError>((written, reading))
        })?;
        let mut report = ExportReport::new(self.chosen, false);
        let count = reading.count;
        let times = std::mem::take(&mut reading.times);
        let mut summary = ExportSummary::new(reading, written.bytes, written.embeddings);
        summary.left_out.extend(self.own_items());
        let manifest = &written.archive.manifest;
        report.agent_id_file = self.write_agent_id(manifest.agent.id)?;
        if earlier.is_some_and(|earlier| earlier.archive.manifest() == manifest) {
            report.no_changes = true;
            self.note_earlier(count);
        } else {
            report.file_size = Some(target.length()?);
            target.deliver(host)?;
            self.log.note(output, count, host);
            report.output = Some(output.display().to_string());
        }
        let (runtime, agent) = (chosen.runtime, &chosen.agent);
        let times = text_times::with_unread(times, noted, agent);
        summary.warnings.extend(text_times::note(times, runtime, agent, host));
        report.summary = Some(summary);
        Ok(report)
    }

    fn read(
        &self,
        earlier: Option<&Previous>,
        opened: Option<Box<dyn OpenAgent>>,
        unfinished: Option<&Path>,
        sink: &mut dyn Sink,
    ) -> Result<Reading, ExportError> {
        let earlier = earlier.map(|earlier| &earlier.snapshot);
        let reading = self.with_options(earlier, unfinished, |options| {
            let agent = &self.chosen.agent;
            let opened = match opened {
                Some(opened) => opened,
                None => self.chosen.runtime.open(self.machine, agent, options)?,
            };
            opened.read(self.machine, agent, options, sink)
        })?;
        if let Some(earlier) = earlier {
            check_agent(&reading, earlier)?;
        }
        Ok(reading)
    }

    /// Calls `run` with how the agent is to be read; `unfinished` is the archive that is being
    /// written.
    fn with_options<T>(
        &self,
        earlier: Option<&PreviousSnapshot>,
        unfinished: Option<&Path>,
        run: impl FnOnce(&ReadOptions<'_>) -> T,
    ) -> T {
        let sealed = |credential: &Credential, secret: &[u8]| {
            seal(self.vault_key.as_ref().ok_or(VaultError::Key)?, credential, secret)
        };
        let mut exclude = vec![self.output.to_owned()];
        exclude.extend(self.archives.iter().map(|(path, _)| path.clone()));
        run(&ReadOptions {
            agent_id: Some(self.agent_id),
            sessions: self.request.sessions,
            embeddings: true,
            private: self.request.private,
            seal: self.vault_key.as_ref().map(|_| &sealed as &SealSecret<'_>),
            artifact_threshold: self.request.artifact_threshold,
            secrets: self.request.secrets,
            allowed_secrets: self.allowed_secrets,
            exclude: &exclude,
            unfinished,
            earlier,
            noted_times: Some(&self.noted_times),
        })
    }

    fn own_items(&self) -> impl Iterator<Item = LeftOut> {
        self.archives.iter().map(|(_, left_out)| left_out.clone())
    }

    /// Refuses an archive without anything of an agent in it, unless that was asked for.
    fn check_content(&self, reading: &Reading) -> Result<(), ExportError> {
        check_memory_folder(reading, self.chosen)?;
        if self.request.allow_empty { Ok(()) } else { check_content(reading, self.chosen) }
    }

    /// Notes that the earlier archive still has everything.
    fn note_earlier(&self, count: FileCount) {
        if let Some(earlier) = self.request.since.as_deref().filter(|_| !self.request.dry_run) {
            self.log.note(earlier, count, self.host);
        }
    }

    /// Puts the agent's id into the workspace if it shall be there and is not.
    fn write_agent_id(&self, id: AgentId) -> Result<Option<String>, ExportError> {
        let path = self.chosen.agent.workspace.join(AGENT_ID_FILE);
        // The id in a workspace is that of the agent that has the workspace first.
        let is_first = !self.chosen.agent.shares_workspace;
        let is_wanted = self.request.write_agent_id && !self.request.dry_run && is_first;
        if !is_wanted || fs_err::symlink_metadata(&path).is_ok() {
            return Ok(None);
        }
        let target = OutputFile::create(&path, Existing::Keep);
        let mut target = target.map_err(ExportError::AgentIdFile)?;
        target.write(None, |out| write!(out, "{id}").map_err(FileError::Io))?;
        target.commit()?;
        Ok(Some(path.display().to_string()))
    }
}

/// Returns the archives in the workspace that earlier exports wrote, with the reason for leaving
/// them out: a backup that contains the earlier backups would grow with each one.
fn own_archives(chosen: &ChosenAgent, output: &Path, host: &Host) -> Vec<(PathBuf, LeftOut)> {
    let Ok(workspace) = fs_err::canonicalize(&chosen.agent.workspace) else { return Vec::new() };
    // An archive that was only restored from may be the user's own file.
    let known = known_folders(host, FolderKind::Archive).into_iter();
    let written = known.filter(|known| known.place.is_some()).map(|known| known.folder);
    let mut found: Vec<PathBuf> = written
        .chain([output.to_owned()])
        .filter_map(|path| fs_err::canonicalize(path).ok())
        .collect();
    found.sort_unstable();
    found.dedup();
    let left_out = found.into_iter().filter_map(|path| {
        let within = path.strip_prefix(&workspace).ok()?.to_string_lossy().into_owned();
        let metadata = fs_err::symlink_metadata(&path).ok().filter(|found| found.is_file())?;
        let reason = LeftOutReason::Own;
        Some((path, LeftOut { path: within, reason, files: 1, bytes: metadata.len() }))
    });
    left_out.collect()
}

/// Returns the name of an archive that is called after a workspace.
pub(crate) fn archive_name(workspace: &Path) -> PathBuf {
    let workspace = fs_err::canonicalize(workspace).unwrap_or_else(|_| workspace.to_owned());
    let name = workspace.file_name().map_or_else(|| "agent".into(), ToOwned::to_owned);
    PathBuf::from(name).with_added_extension("alf")
}

/// Returns an alias as the stem of a file name.
#[must_use]
pub fn file_stem(alias: &str) -> String {
    let plain = |c: char| if c.is_alphanumeric() || "-_.".contains(c) { c } else { '-' };
    let name: String = alias.chars().take(64).map(plain).collect();
    match name.trim_start_matches(['.', '-']) {
        "" => "agent".to_owned(),
        name => name.to_owned(),
    }
}

/// Refuses to compare with the archive of another agent.
fn check_agent(reading: &Reading, earlier: &PreviousSnapshot) -> Result<(), ExportError> {
    let (earlier, workspace) = (earlier.manifest.agent.id, reading.manifest.agent.id);
    if earlier == workspace {
        return Ok(());
    }
    Err(ExportError::DifferentAgents { earlier, workspace })
}

/// Refuses to go on when the folder of memories cannot be read. Other files that cannot be read are
/// reported, and the rest is worth having without them.
fn check_memory_folder(reading: &Reading, chosen: &ChosenAgent) -> Result<(), ExportError> {
    let is_closed = |left_out: &&LeftOut| {
        left_out.reason == LeftOutReason::Unreadable
            && left_out.files == 0
            && Path::new(&left_out.path).starts_with(MEMORY_FOLDER)
    };
    match reading.left_out.iter().find(is_closed) {
        Some(closed) => {
            let folder = chosen.agent.workspace.join(&closed.path);
            Err(ExportError::UnreadableMemory(folder))
        }
        None => Ok(()),
    }
}

/// Refuses an agent without memories and persona.
fn check_content(reading: &Reading, chosen: &ChosenAgent) -> Result<(), ExportError> {
    let has_private =
        || reading.not_requested.iter().any(|item| item.kind == NotRequestedKind::PrivateEntries);
    let principals = reading.principals.as_ref().map_or(0, |layer| layer.principals.len());
    let has_content =
        reading.records > 0 || reading.identity.is_some() || principals > 0 || has_private();
    if has_content {
        return Ok(());
    }
    Err(ExportError::Nothing(chosen.agent.workspace.clone()))
}

/// Refuses secrets that would travel in clear, unless their files are allowed.
fn check_secrets(reading: &Reading, allowed: &[String]) -> Result<(), ExportError> {
    let refused = reading.secrets.iter().filter(|secret| !secret.is_allowed(allowed));
    let refused: Vec<FoundSecret> = refused.cloned().collect();
    if refused.is_empty() { Ok(()) } else { Err(ExportError::Secrets(refused)) }
}

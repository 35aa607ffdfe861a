//! `anemone export`

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anemone_format::{
    ALF_VERSION, AgentId, Archive, ArchiveSource, Credential, Layer, NOT_EXPORTED, Record, Sink,
    VaultError, VaultKey,
};
use anemone_runtimes::{
    AGENT_ID_FILE, DEFAULT_ARTIFACT_LIMIT, LeftOut, LeftOutReason, Machine, NotRequested,
    NotRequestedKind, PreviousSnapshot, ReadOptions, Reading, SealSecret, SecretPolicy, Unchanged,
    Warning,
};
use clap::Args;
use serde::Serialize;

use super::Context;
use super::diff::open_sound_archive;
use crate::agent::ChosenAgent;
use crate::args::AgentArgs;
use crate::error::{CliError, Kind};
use crate::exports::ExportLogEntry;
use crate::files::{Existing, Target, check_free, spool};
use crate::keys::{Sealing, read_vault_key};
use crate::known_folders::{FolderKind, known_folders};
use crate::output::{BAD, BOLD, DIM, ODD, Report, bytes, count, safe};
use crate::tally::{ListedFile, Tally};
use anemone::host::Host;
use anemone::host::Progress;
use anemone::snapshot::{SnapshotSink, WrittenSnapshot, seal};

/// Findings named in an error, at most.
const LISTED: usize = 50;

/// Write everything about an agent into an archive
///
/// Reads the workspace and what its install knows of it: memory as records, persona, principals,
/// credentials (metadata only), and every file byte for byte: Markdown of any size, other files up
/// to 64 MiB each. Nothing is written into the workspace. Files that are not in the archive are
/// listed with the reason; patterns in .alfignore (gitignore syntax) keep files out. Transcripts
/// of conversations are included with --sessions.
///
/// A secret in a file stops the export: it is listed by file and line, and you decide. A folder
/// without memories and persona is an error, because it is probably the wrong one.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  anemone export                                  the one agent on this machine, to ./NAME.alf
  anemone export -w ~/.openclaw/workspace -o a.alf
  anemone export --since a.alf -o b.alf           only if something changed; times carry over
  anemone export --credentials --vault-key k.txt  secrets of credentials travel, sealed")]
pub(crate) struct ExportArgs {
    #[command(flatten)]
    agent: AgentArgs,

    /// The archive to write [default: the name of the agent, here]
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,

    /// Show what would be included and what would not, and write nothing
    #[arg(long, short = 'n')]
    dry_run: bool,

    /// Overwrite an existing archive
    #[arg(long)]
    force: bool,

    /// Write the archive even if no memories and no persona are found
    #[arg(long)]
    allow_empty: bool,

    /// Compare with an earlier archive of this agent: what did not change keeps its times, and
    /// when nothing changed nothing is written
    #[arg(long, value_name = "ARCHIVE")]
    since: Option<PathBuf>,

    /// Turn conversation transcripts into records too; secrets in them are replaced
    #[arg(long)]
    sessions: bool,

    /// Include entries that the runtime keeps for one person only (ZeroClaw's private plane)
    #[arg(long)]
    private: bool,

    /// Include the secrets of credentials, sealed with --vault-key
    #[arg(long, requires = "vault_key")]
    credentials: bool,

    /// The key that seals them; `anemone vault keygen` makes one
    #[arg(long, value_name = "FILE", requires = "credentials")]
    vault_key: Option<PathBuf>,

    /// Include files other than Markdown up to this many bytes; larger ones are only listed, with
    /// their SHA-256
    #[arg(long, value_name = "BYTES", default_value_t = DEFAULT_ARTIFACT_LIMIT)]
    artifact_threshold: u64,

    /// Export although files hold secrets: anyone who can read the archive can read them
    #[arg(long, conflicts_with = "redact_secrets")]
    allow_secrets: bool,

    /// Export although files hold secrets, and write `[redacted:KIND]` in place of each; the files
    /// themselves are not changed, and an import cannot bring the secrets back
    #[arg(long)]
    redact_secrets: bool,

    /// Keep the agent's id in the workspace (.alf-agent-id), so that it survives a move
    #[arg(long)]
    write_agent_id: bool,

    /// Encrypt the archive for this age recipient (age1...); may be given more than once
    #[arg(long, value_name = "RECIPIENT")]
    recipient: Vec<String>,
}

#[derive(Serialize)]
pub(crate) struct Exported {
    ok: bool,
    dry_run: bool,
    /// With --dry-run: the export would stop, because of secrets.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    would_stop: bool,
    /// Nothing changed since the earlier archive, so nothing was written.
    no_changes: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    output: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) file_size: Option<u64>,
    pub(crate) alf_version: &'static str,
    runtime: &'static str,
    workspace: String,
    #[serde(flatten)]
    pub(crate) summary: Option<Summary>,
    #[serde(flatten)]
    unchanged: Option<StillLeftOut>,
    #[serde(skip_serializing_if = "Option::is_none")]
    agent_id_file: Option<String>,
}

/// What there is to say when nothing changed.
#[derive(Serialize)]
struct StillLeftOut {
    left_out: Vec<ListedLeftOut>,
    left_out_by_default: Vec<ListedNotRequested>,
    warnings: Vec<ListedWarning>,
}

impl StillLeftOut {
    fn new(unchanged: Unchanged) -> Self {
        Self {
            left_out: unchanged.left_out.iter().map(ListedLeftOut::new).collect(),
            left_out_by_default: unchanged
                .not_requested
                .iter()
                .map(ListedNotRequested::new)
                .collect(),
            warnings: missing_files(&unchanged.left_out)
                .into_iter()
                .chain(unchanged.warnings.into_iter().map(ListedWarning::from))
                .collect(),
        }
    }
}

/// What was read.
#[derive(Serialize)]
pub(crate) struct Summary {
    agent_id: String,
    pub(crate) agent_name: String,
    pub(crate) memory_records: u64,
    embeddings: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    identity_version: Option<u64>,
    principals_count: u64,
    credentials_count: u64,
    credentials_sealed: u64,
    artifacts_included: u64,
    pub(crate) artifacts_referenced: u64,
    files_count: u64,
    /// Bytes of files that travel.
    total_size: u64,
    /// With --dry-run: every file that would travel.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    files: Vec<ListedFile>,
    excluded_by_alfignore: Vec<String>,
    pub(crate) left_out: Vec<ListedLeftOut>,
    pub(crate) left_out_by_default: Vec<ListedNotRequested>,
    pub(crate) secrets: Vec<ListedSecret>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sessions: Option<anemone_runtimes::SessionCounts>,
    pub(crate) warnings: Vec<ListedWarning>,
}

#[derive(Serialize)]
pub(crate) struct ListedLeftOut {
    pub(crate) path: String,
    pub(crate) reason: &'static str,
    files: u64,
    bytes: u64,
    #[serde(skip)]
    is_missing: bool,
}

const UNREADABLE: &str = LeftOutReason::Unreadable.as_str();

/// Something that only travels on request.
#[derive(Serialize)]
pub(crate) struct ListedNotRequested {
    kind: &'static str,
    count: u64,
    bytes: u64,
    /// The options that include it, if any do.
    include_with: Option<&'static str>,
    pub(crate) message: String,
}

impl ListedNotRequested {
    fn new(it: &NotRequested) -> Self {
        let NotRequested { kind, count: number, bytes: size } = *it;
        let include_with = match kind {
            NotRequestedKind::Transcripts => Some("--sessions"),
            NotRequestedKind::PrivateEntries => Some("--private"),
            NotRequestedKind::CredentialSecrets => Some("--credentials --vault-key FILE"),
            NotRequestedKind::Settings => None,
        };
        let what = match kind {
            NotRequestedKind::Transcripts => {
                format!("conversations: {} ({})", count(number, "file"), bytes(size))
            }
            NotRequestedKind::PrivateEntries => {
                format!("entries for one person only: {number}")
            }
            NotRequestedKind::CredentialSecrets => {
                format!("secrets of credentials: {number} (their metadata is included)")
            }
            NotRequestedKind::Settings => {
                format!("settings of the install ({}): copy the file itself", bytes(size))
            }
        };
        let message = match include_with {
            Some(options) => format!("{what}; include with {options}"),
            None => what,
        };
        Self { kind: kind.as_str(), count: number, bytes: size, include_with, message }
    }
}

#[derive(Serialize)]
pub(crate) struct ListedSecret {
    pub(crate) path: String,
    pub(crate) line: u64,
    pub(crate) kind: &'static str,
}

#[derive(Serialize)]
pub(crate) struct ListedWarning {
    pub(crate) code: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) path: Option<String>,
    pub(crate) message: String,
}

pub(crate) fn run(args: &ExportArgs, context: &Context<'_>) -> Result<Exported, CliError> {
    let machine = context.host.machine()?;
    let chosen = args.agent.choice().choose(&machine)?;
    let output = args.output_path(&chosen)?;
    if !args.dry_run {
        check_free(&output, args.existing(), &context.host)?;
    }
    let begun = ExportLogEntry::new(chosen.adapter, &chosen.agent, &machine, context.host.now());
    let progress = context.host.progress("comparing");
    let mut earlier = None;
    if let Some(path) = &args.since {
        let (archive, _) = open_sound_archive(path, context, &progress)?;
        earlier = Some((open_earlier(&archive)?, archive));
    }
    let key = args.read_vault_key()?;
    let seal = |credential: &Credential, secret: &[u8]| {
        seal(key.as_ref().ok_or(VaultError::Key)?, credential, secret)
    };
    let archives = own_archives(&chosen, &output, &context.host);
    let mut exclude = vec![output.clone()];
    exclude.extend(archives.iter().map(|it| it.0.clone()));
    let seal = args.credentials.then_some(&seal as &SealSecret<'_>);
    let mut exported = Exported {
        ok: true,
        dry_run: args.dry_run,
        would_stop: false,
        no_changes: false,
        output: None,
        file_size: None,
        alf_version: ALF_VERSION,
        runtime: chosen.adapter.name,
        workspace: chosen.agent.workspace.display().to_string(),
        summary: None,
        unchanged: None,
        agent_id_file: None,
    };
    if let Some((earlier, archive)) = &mut earlier {
        let options = args.read_options(seal, &exclude, Some(earlier));
        if let Some(unchanged) = chosen.adapter.is_unchanged(&machine, &chosen.agent, &options)? {
            let agent_id = earlier.manifest.agent.id;
            exported.no_changes = true;
            exported.agent_id_file = args.write_agent_id(&chosen, agent_id)?;
            let mut unchanged = StillLeftOut::new(unchanged);
            unchanged.left_out.extend(archives.into_iter().map(|it| it.1));
            exported.unchanged = Some(unchanged);
            args.note_earlier(&begun, context);
            return Ok(exported);
        }
        archive.each_record_line(|line| -> Result<(), CliError> {
            let record: Record = serde_json::from_slice(line).map_err(io::Error::from)?;
            earlier.add_record(&record);
            Ok(())
        })?;
    }
    let target = if args.dry_run { None } else { Some(Target::create(&output, args.existing())?) };
    exclude.extend(target.iter().map(|target| target.file().path().to_owned()));
    let earlier_reading = earlier.as_ref().map(|(earlier, _)| earlier);
    let options = args.read_options(seal, &exclude, earlier_reading);
    drop(progress);

    let progress = context.host.counting("reading");
    let read = |sink: &mut dyn Sink| -> Result<Reading, CliError> {
        let reading = chosen.adapter.read(&machine, &chosen.agent, &options, sink)?;
        check_agent(&reading, options.earlier)?;
        Ok(reading)
    };
    let Some(mut target) = target else {
        let (mut summary, secrets) = list(&progress, &read)?;
        summary.left_out.extend(archives.into_iter().map(|it| it.1));
        args.check_content(&summary, &chosen)?;
        exported.would_stop = secrets && options.secrets == SecretPolicy::Report;
        exported.summary = Some(summary);
        return Ok(exported);
    };
    let (written, mut summary) = target.write(args.sealing().as_ref(), |out| {
        let spool = spool(Some(&output))?;
        let sink = SnapshotSink::new(out, spool, context.host.threads, &progress);
        let (written, reading) = write(sink, options.secrets, &read)?;
        let summary = Summary::new(reading, written.bytes, written.embeddings);
        args.check_content(&summary, &chosen)?;
        Ok((written.archive, summary))
    })?;
    summary.left_out.extend(archives.into_iter().map(|it| it.1));
    let is_same =
        |(_, archive): &(PreviousSnapshot, Archive)| *archive.manifest() == written.manifest;
    exported.agent_id_file = args.write_agent_id(&chosen, written.manifest.agent.id)?;
    if earlier.as_ref().is_some_and(is_same) {
        exported.no_changes = true;
        exported.summary = Some(summary);
        args.note_earlier(&begun, context);
        return Ok(exported);
    }
    exported.file_size = Some(target.length()?);
    target.deliver(&context.host)?;
    begun.note(&output, &context.host);
    exported.output = Some(output.display().to_string());
    exported.summary = Some(summary);
    Ok(exported)
}

/// Returns the archives in the workspace that earlier exports wrote, and how that is said: a backup
/// that holds the backups before it would grow with each one.
fn own_archives(chosen: &ChosenAgent, output: &Path, host: &Host) -> Vec<(PathBuf, ListedLeftOut)> {
    let Ok(workspace) = fs_err::canonicalize(&chosen.agent.workspace) else { return Vec::new() };
    // One that was only restored from may be the user's own file.
    let known = known_folders(host, FolderKind::Archive).into_iter();
    let written = known.filter(|it| it.place.is_some()).map(|it| it.folder);
    let mut found: Vec<PathBuf> = written
        .chain([output.to_owned()])
        .filter_map(|path| fs_err::canonicalize(path).ok())
        .collect();
    found.sort_unstable();
    found.dedup();
    let left_out = found.into_iter().filter_map(|path| {
        let within = path.strip_prefix(&workspace).ok()?.to_string_lossy().into_owned();
        let metadata = fs_err::symlink_metadata(&path).ok().filter(|it| it.is_file())?;
        let reason = LeftOutReason::Own;
        let left_out = LeftOut { path: within, reason, files: 1, bytes: metadata.len() };
        Some((path, ListedLeftOut::new(&left_out)))
    });
    left_out.collect()
}

/// Goes through an export with the defaults and writes nothing; the error is why it would refuse.
pub(super) fn rehearse(
    chosen: &ChosenAgent,
    machine: &Machine,
    context: &Context<'_>,
) -> Result<(), CliError> {
    let runtime = chosen.adapter.name.to_owned();
    let args = ExportArgs {
        allow_empty: false,
        redact_secrets: false,
        ..ExportArgs::replacing(runtime, chosen.agent.workspace.clone(), PathBuf::new())
    };
    let options = args.read_options(None, &[], None);
    let progress = context.host.counting("reading");
    let (summary, _) = list(&progress, &|sink| {
        Ok(chosen.adapter.read(machine, &chosen.agent, &options, sink)?)
    })?;
    args.check_content(&summary, chosen)?;
    check_secrets(summary.secrets.iter().map(|it| (it.path.as_str(), it.line, it.kind)))
}

/// Reads an agent into something.
pub(super) type ReadInto<'a> = dyn Fn(&mut dyn Sink) -> Result<Reading, CliError> + 'a;

/// Says what would travel, and whether secrets would.
fn list(progress: &Progress, read: &ReadInto<'_>) -> Result<(Summary, bool), CliError> {
    let mut tally = Tally { progress: Some(progress), ..Tally::default() };
    let reading = read(&mut tally)?;
    let secrets = !reading.secrets.is_empty();
    let mut summary = Summary::new(reading, tally.bytes, tally.embeddings);
    summary.files = tally.listed;
    Ok((summary, secrets))
}

/// Writes what is read; secrets stop it before anything has a name.
fn write<W: Write>(
    mut sink: SnapshotSink<'_, W>,
    secrets: SecretPolicy,
    read: &ReadInto<'_>,
) -> Result<(WrittenSnapshot, Reading), CliError> {
    let reading = read(&mut sink)?;
    if secrets == SecretPolicy::Report {
        check_secrets(reading.secrets.iter().map(|it| (it.path.as_str(), it.line, it.kind)))?;
    }
    Ok((sink.finish(&reading)?, reading))
}

impl ExportArgs {
    /// An export of one workspace that replaces the archive, and puts marks where secrets stand.
    pub(crate) fn replacing(runtime: String, workspace: PathBuf, output: PathBuf) -> Self {
        Self {
            agent: AgentArgs { runtime: Some(runtime), workspace: Some(workspace), agent: None },
            output: Some(output),
            dry_run: false,
            force: true,
            allow_empty: true,
            since: None,
            sessions: false,
            private: false,
            credentials: false,
            vault_key: None,
            artifact_threshold: DEFAULT_ARTIFACT_LIMIT,
            allow_secrets: false,
            redact_secrets: true,
            write_agent_id: false,
            recipient: Vec::new(),
        }
    }

    fn read_options<'a>(
        &self,
        seal: Option<&'a SealSecret<'a>>,
        exclude: &'a [PathBuf],
        earlier: Option<&'a PreviousSnapshot>,
    ) -> ReadOptions<'a> {
        ReadOptions {
            agent_id: None,
            sessions: self.sessions,
            embeddings: true,
            private: self.private,
            seal,
            artifact_threshold: self.artifact_threshold,
            secrets: self.secret_policy(),
            exclude,
            earlier,
        }
    }

    fn existing(&self) -> Existing {
        if self.force { Existing::Replace } else { Existing::Keep }
    }

    fn output_path(&self, chosen: &ChosenAgent) -> Result<PathBuf, CliError> {
        if let Some(path) = &self.output {
            return Ok(path.clone());
        }
        let agent = &chosen.agent;
        // The alias of a folder without an install is only assumed.
        if agent.install.is_some() || self.agent.workspace.is_none() {
            let alias = self.agent.agent.as_deref().unwrap_or(&agent.alias);
            return Ok(PathBuf::from(format!("{}.alf", file_stem(alias))));
        }
        let workspace = fs_err::canonicalize(&agent.workspace);
        let workspace = workspace.unwrap_or_else(|_| agent.workspace.clone());
        let name = workspace.file_name().map_or_else(|| "agent".into(), |it| it.to_os_string());
        Ok(PathBuf::from(name).with_added_extension("alf"))
    }

    /// Refuses an archive without anything of an agent in it, unless that was asked for.
    fn check_content(&self, summary: &Summary, chosen: &ChosenAgent) -> Result<(), CliError> {
        // Other files that cannot be read are named, and the rest is worth having without them.
        let is_closed = |it: &&ListedLeftOut| {
            it.reason == UNREADABLE && it.files == 0 && Path::new(&it.path).starts_with("memory")
        };
        if let Some(folder) = summary.left_out.iter().find(is_closed) {
            let place = chosen.agent.workspace.join(&folder.path);
            let message = format!("cannot read {}; nothing was written", place.display());
            return Err(CliError::new(Kind::Failed, "unreadable", message).hint(
                "run it as the user whose files they are, or name the folder in .alfignore to leave \
                 it out",
            ));
        }
        let private = NotRequestedKind::PrivateEntries.as_str();
        let has_content = summary.memory_records > 0
            || summary.identity_version.is_some()
            || summary.principals_count > 0
            || summary.left_out_by_default.iter().any(|it| it.kind == private);
        if has_content || self.allow_empty {
            return Ok(());
        }
        let workspace = chosen.agent.workspace.display();
        let message = format!("{workspace} holds no memories and no persona; nothing was written");
        Err(CliError::new(Kind::Failed, "nothing_to_export", message).hint(
            "give the folder that holds MEMORY.md and memory/ with -w DIR; --allow-empty writes \
             the archive anyway",
        ))
    }

    fn secret_policy(&self) -> SecretPolicy {
        match (self.allow_secrets, self.redact_secrets) {
            (true, _) => SecretPolicy::Allow,
            (_, true) => SecretPolicy::Redact,
            _ => SecretPolicy::Report,
        }
    }

    fn sealing(&self) -> Option<Sealing> {
        (!self.recipient.is_empty()).then(|| Sealing::Recipients(self.recipient.clone()))
    }

    /// Notes that the earlier archive still has everything.
    fn note_earlier(&self, begun: &ExportLogEntry<'_>, context: &Context<'_>) {
        if let Some(earlier) = self.since.as_deref().filter(|_| !self.dry_run) {
            begun.note(earlier, &context.host);
        }
    }

    /// Puts the agent's id into the workspace if it shall be there and is not.
    fn write_agent_id(
        &self,
        chosen: &ChosenAgent,
        id: AgentId,
    ) -> Result<Option<String>, CliError> {
        let path = chosen.agent.workspace.join(AGENT_ID_FILE);
        if !self.write_agent_id || self.dry_run || fs_err::symlink_metadata(&path).is_ok() {
            return Ok(None);
        }
        let no_room = |error: anemone::error::Error| {
            error.hint("leave --write-agent-id off; the id is derived")
        };
        let mut target = Target::create(&path, Existing::Keep).map_err(no_room)?;
        target.write(None, |out| Ok(write!(out, "{id}")?))?;
        target.commit()?;
        Ok(Some(path.display().to_string()))
    }

    fn read_vault_key(&self) -> Result<Option<VaultKey>, CliError> {
        Ok(self.vault_key.as_deref().map(read_vault_key).transpose()?)
    }
}

/// Returns an alias as the stem of a file name.
pub(crate) fn file_stem(alias: &str) -> String {
    let plain = |c: char| if c.is_alphanumeric() || "-_.".contains(c) { c } else { '-' };
    let name: String = alias.chars().take(64).map(plain).collect();
    match name.trim_start_matches(['.', '-']) {
        "" => "agent".to_owned(),
        name => name.to_owned(),
    }
}

/// Reads what an earlier archive says, but for its records.
fn open_earlier(archive: &Archive) -> Result<PreviousSnapshot, CliError> {
    let files = ArchiveSource::new(archive)?.into_files();
    let mut earlier = PreviousSnapshot::new(archive.manifest().clone(), files);
    earlier.identity = archive.parse_document(Layer::Identity)?;
    earlier.principals = archive.parse_document(Layer::Principals)?;
    earlier.credentials = archive.parse_document(Layer::Credentials)?;
    earlier.attachments = archive.parse_document(Layer::Attachments)?;
    Ok(earlier)
}

/// Refuses to compare with the archive of another agent.
fn check_agent(reading: &Reading, earlier: Option<&PreviousSnapshot>) -> Result<(), CliError> {
    let Some(earlier) = earlier else { return Ok(()) };
    let (was, is) = (earlier.manifest.agent.id, reading.manifest.agent.id);
    if was == is {
        return Ok(());
    }
    let message = format!("the earlier archive is of agent {was}, the workspace of {is}");
    Err(CliError::new(Kind::Conflict, "different_agents", message)
        .hint("a workspace that moved keeps its id in .alf-agent-id: put the old id there"))
}

/// Refuses secrets, each a file, a line and a kind.
fn check_secrets<'a>(
    secrets: impl ExactSizeIterator<Item = (&'a str, u64, &'static str)>,
) -> Result<(), CliError> {
    if secrets.len() == 0 {
        return Ok(());
    }
    let number = secrets.len();
    let found = count(number as u64, "secret");
    let message = format!("{found} would travel in clear; nothing was written");
    let mut error = CliError::new(Kind::Failed, "secrets_found", message);
    let listed = secrets.take(LISTED);
    error.causes = listed.map(|(path, line, kind)| format!("{path}:{line}: {kind}")).collect();
    if number > LISTED {
        error.causes.push(format!("and {} more", number - LISTED));
    }
    Err(error.hint(
        "remove the secrets, leave their files out with .alfignore, write marks in place of them \
         with --redact-secrets, or keep them in the archive with --allow-secrets",
    ))
}

impl Summary {
    fn new(reading: Reading, total_size: u64, embeddings: u64) -> Self {
        let attachments = reading.attachments.as_ref().map_or(&[][..], |it| &it.attachments);
        let included = attachments.iter().filter(|it| it.archive_path.0.is_some()).count() as u64;
        let credentials = reading.credentials.as_ref().map_or(&[][..], |it| &it.credentials);
        let sealed = credentials.iter().filter(|it| it.encrypted_payload != NOT_EXPORTED).count();
        let ignored = reading.left_out.iter().filter(|it| it.reason == LeftOutReason::Ignored);
        Self {
            agent_id: reading.manifest.agent.id.to_string(),
            agent_name: reading.manifest.agent.name.clone(),
            memory_records: reading.records,
            embeddings,
            identity_version: reading.identity.as_ref().map(|it| it.version),
            principals_count: reading
                .principals
                .as_ref()
                .map_or(0, |it| it.principals.len() as u64),
            credentials_count: credentials.len() as u64,
            credentials_sealed: sealed as u64,
            artifacts_included: included,
            artifacts_referenced: attachments.len() as u64 - included,
            files_count: reading.files,
            total_size,
            files: Vec::new(),
            excluded_by_alfignore: ignored.map(|it| it.path.clone()).collect(),
            left_out: reading.left_out.iter().map(ListedLeftOut::new).collect(),
            left_out_by_default: reading
                .not_requested
                .iter()
                .map(ListedNotRequested::new)
                .collect(),
            secrets: reading
                .secrets
                .iter()
                .map(|it| ListedSecret { path: it.path.clone(), line: it.line, kind: it.kind })
                .collect(),
            sessions: reading.sessions,
            warnings: missing_files(&reading.left_out)
                .into_iter()
                .chain(reading.warnings.into_iter().map(ListedWarning::from))
                .collect(),
        }
    }
}

/// The code of the warning that files are not in the archive.
const NOT_IN_ARCHIVE: &str = "not_in_archive";

/// Warns of files that are not in the archive although nobody asked to leave them out.
fn missing_files(left_out: &[LeftOut]) -> Option<ListedWarning> {
    let missing: Vec<ListedLeftOut> =
        left_out.iter().filter(|it| it.reason.is_missing()).map(ListedLeftOut::new).collect();
    let missing: Vec<&ListedLeftOut> = missing.iter().collect();
    if missing.is_empty() {
        return None;
    }
    let lines = missing_lines(&missing);
    let message = format!("not in the archive: {}", lines.join("; "));
    Some(ListedWarning { code: NOT_IN_ARCHIVE, path: None, message })
}

/// Says which files are missing and how to include them: the number, then ten of them, then what
/// to do.
fn missing_lines(missing: &[&ListedLeftOut]) -> Vec<String> {
    const SHOWN: usize = 10;
    let (files, size) = totals(missing);
    let mut lines = vec![format!("{} ({})", count(files, "file"), bytes(size))];
    for it in missing.iter().take(SHOWN) {
        let why = match it.reason {
            "referenced" => "larger than --artifact-threshold",
            "unreadable" => "cannot be read",
            "too_deep" => "too many folders deep",
            "name" => "its name cannot be in an archive",
            "secret" => "holds a secret that cannot be replaced in it",
            other => other,
        };
        lines.push(format!("{} ({}): {why}", safe(&it.path), bytes(it.bytes)));
    }
    if missing.len() > SHOWN {
        lines.push(format!("and {} more", missing.len() - SHOWN));
    }
    let large = missing.iter().filter(|it| it.reason == "referenced").map(|it| it.bytes).max();
    if let Some(largest) = large {
        lines.push(format!("to include large files, give --artifact-threshold {largest}"));
    }
    if missing.iter().any(|it| it.reason == "secret") {
        lines.push("to include files with a secret, give --allow-secrets".to_owned());
    }
    lines
}

fn totals(list: &[&ListedLeftOut]) -> (u64, u64) {
    let files = list.iter().map(|it| it.files).sum();
    (files, list.iter().map(|it| it.bytes).fold(0, u64::saturating_add))
}

impl From<Warning> for ListedWarning {
    fn from(it: Warning) -> Self {
        Self { code: it.code, path: it.path, message: it.message }
    }
}

impl ListedLeftOut {
    fn new(left_out: &LeftOut) -> Self {
        let LeftOut { path, reason, files, bytes } = left_out;
        Self {
            path: path.clone(),
            reason: reason.as_str(),
            files: *files,
            bytes: *bytes,
            is_missing: reason.is_missing(),
        }
    }
}

impl Report for Exported {
    fn write_human(&self, out: &mut dyn Write) -> io::Result<()> {
        if let Some(summary) = &self.summary {
            summary.write_human(out)?;
        }
        if let Some(unchanged) = &self.unchanged {
            write_left_out(&unchanged.left_out, &unchanged.left_out_by_default, out)?;
            write_warnings(&unchanged.warnings, out)?;
            write_missing_files(&unchanged.left_out, out)?;
        }
        if let Some(path) = &self.agent_id_file {
            writeln!(out, "wrote {path}")?;
        }
        match (&self.output, self.file_size) {
            (Some(path), Some(size)) => {
                writeln!(out, "wrote {BOLD}{path}{BOLD:#} ({})", bytes(size))
            }
            _ if self.no_changes => {
                writeln!(out, "nothing changed since the earlier archive; nothing written")
            }
            _ if self.would_stop => writeln!(
                out,
                "nothing written: this was a dry run; the export would stop because of the secrets"
            ),
            _ => writeln!(out, "nothing written: this was a dry run"),
        }
    }
}

impl Summary {
    fn write_human(&self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "{BOLD}{}{BOLD:#}  {DIM}{}{DIM:#}", safe(&self.agent_name), self.agent_id)?;
        writeln!(
            out,
            "  {}, {} ({})",
            count(self.memory_records, "record"),
            count(self.files_count, "file"),
            bytes(self.total_size)
        )?;
        if self.embeddings > 0 {
            writeln!(out, "  {} from the runtime's index", count(self.embeddings, "vector"))?;
        }
        if self.credentials_count > 0 {
            let sealed = match self.credentials_sealed {
                0 => "metadata only".to_owned(),
                sealed => format!("{sealed} sealed"),
            };
            writeln!(out, "  {} ({sealed})", count(self.credentials_count, "credential"))?;
        }
        if let Some(sessions) = &self.sessions {
            writeln!(
                out,
                "  {}, {}, {} redacted, {} not decoded",
                count(sessions.transcripts, "transcript"),
                count(sessions.messages, "message"),
                sessions.redacted,
                sessions.undecodable
            )?;
        }
        write_left_out(&self.left_out, &self.left_out_by_default, out)?;
        for secret in &self.secrets {
            let path = safe(&secret.path);
            writeln!(out, "{ODD}secret:{ODD:#} {path}:{}: {}", secret.line, secret.kind)?;
        }
        write_warnings(&self.warnings, out)?;
        write_missing_files(&self.left_out, out)
    }
}

/// Writes what was left out by choice or by default, one line a reason.
fn write_left_out(
    left_out: &[ListedLeftOut],
    by_default: &[ListedNotRequested],
    out: &mut dyn Write,
) -> io::Result<()> {
    const SHOWN: usize = 5;
    if !by_default.is_empty() {
        writeln!(out, "  left out by default:")?;
    }
    for it in by_default {
        writeln!(out, "    {}", it.message)?;
    }
    let chosen: Vec<&ListedLeftOut> = left_out.iter().filter(|it| !it.is_missing).collect();
    let mut reasons: Vec<&str> = chosen.iter().map(|it| it.reason).collect();
    reasons.sort_unstable();
    reasons.dedup();
    for reason in reasons {
        let list: Vec<&ListedLeftOut> =
            chosen.iter().copied().filter(|it| it.reason == reason).collect();
        let (files, size) = totals(&list);
        let paths: Vec<String> = list.iter().take(SHOWN).map(|it| safe(&it.path)).collect();
        let more = if list.len() > SHOWN { ", ..." } else { "" };
        writeln!(
            out,
            "  left out, {reason}: {} ({}): {}{more}",
            count(files, "file"),
            bytes(size),
            paths.join(", ")
        )?;
    }
    Ok(())
}

/// Writes which files are missing, where nobody overlooks it.
fn write_missing_files(left_out: &[ListedLeftOut], out: &mut dyn Write) -> io::Result<()> {
    let missing: Vec<&ListedLeftOut> = left_out.iter().filter(|it| it.is_missing).collect();
    if missing.is_empty() {
        return Ok(());
    }
    let mut lines = missing_lines(&missing).into_iter();
    writeln!(out, "{BAD}NOT IN THE ARCHIVE:{BAD:#} {}", lines.next().unwrap_or_default())?;
    lines.try_for_each(|line| writeln!(out, "  {line}"))
}

fn write_warnings(warnings: &[ListedWarning], out: &mut dyn Write) -> io::Result<()> {
    for warning in warnings.iter().filter(|it| it.code != NOT_IN_ARCHIVE) {
        let path = warning.path.as_deref().map(|path| format!("{}: ", safe(path)));
        let message = safe(&warning.message);
        writeln!(out, "{ODD}warning:{ODD:#} {}{message}", path.unwrap_or_default())?;
    }
    Ok(())
}

//! An open workspace and its files: where every reading of an agent starts.

use std::path::{Path, PathBuf};

use anemone_format::{
    AgentId, AgentInfo, Credentials, Identity, Manifest, Moment, NOT_EXPORTED, Principals,
    ReadingInfo, Root, RuntimeHints, Unknown, sha256_hex,
};
use serde::Serialize;

use crate::kit::{
    AGENT_ID_FILE, Carrier, EntryKind, FileCount, FoundAgent, FoundEntry, IGNORE_FILE,
    IgnoreFileError, LeftOut, LeftOutReason, Namespaces, NotRequested, NotRequestedKind,
    PreviousSnapshot, ReadError, ReadOptions, Reading, SearchedFolder, SessionCounts, Unchanged,
    WalkResult, WalkRules, Warning, Workspace, is_included, lossy, names_in, real, times,
};

/// What a runtime reports about an agent, besides what the carrier carried.
pub(crate) struct ReadingParts {
    pub(crate) agent: AgentInfo,
    pub(crate) hints: Option<RuntimeHints>,
    pub(crate) info: ReadingInfo,
    pub(crate) identity: Option<Identity>,
    pub(crate) principals: Option<Principals>,
    pub(crate) credentials: Option<Credentials>,
    pub(crate) sessions: Option<SessionCounts>,
    pub(crate) not_requested: Vec<NotRequested>,
    pub(crate) count: FileCount,
}

/// Ends a reading.
pub(crate) fn end_reading(
    parts: ReadingParts,
    carrier: Carrier<'_>,
    options: &ReadOptions<'_>,
) -> Reading {
    let (done, mentions) = carrier.finish();
    let agent_id = parts.agent.id;
    let mut not_requested = parts.not_requested;
    not_requested.extend(some(NotRequestedKind::PrivateEntries, done.private_entries, 0));
    not_requested.sort_unstable_by_key(|requested| requested.kind);
    let mut manifest = Manifest::new(parts.agent, done.newest.unwrap_or_else(times::epoch));
    manifest.runtime_hints = parts.hints;
    manifest.reading = Some(parts.info);
    let attachments = mentions.attachments(agent_id, options.artifact_threshold, done.artifacts);
    Reading {
        manifest,
        identity: parts.identity,
        principals: parts.principals,
        credentials: parts.credentials,
        attachments: Some(attachments).filter(|attachment| !attachment.attachments.is_empty()),
        records: done.records,
        files: done.files,
        count: parts.count,
        sessions: parts.sessions,
        warnings: done.warnings,
        left_out: done.left_out,
        not_requested,
        secrets: done.secrets,
        times: done.times,
    }
}

/// Describes a reading: `inputs` is everything that decides what an archive holds, besides the
/// files of the workspace.
pub(crate) fn reading_info(runtime: &str, revision: u64, inputs: &impl Serialize) -> ReadingInfo {
    let json = serde_json::to_vec(inputs).expect("inputs have only text keys");
    let inputs = format!("sha256:{}", sha256_hex(&json));
    ReadingInfo { adapter: runtime.to_owned(), revision, inputs, unknown: Unknown::default() }
}

/// Returns the earlier reading of an agent, and how it was read, if a new one could be identical.
/// Whether conversations have changed is only known after reading them.
pub(crate) fn comparable<'a>(
    options: &ReadOptions<'a>,
    runtime: &str,
    revision: u64,
) -> Option<(&'a PreviousSnapshot, &'a ReadingInfo)> {
    let earlier = options.earlier.filter(|_| !options.sessions)?;
    let info = earlier.manifest.reading.as_ref()?;
    (info.adapter == runtime && info.revision == revision).then_some((earlier, info))
}

/// Lists what only travels on request, besides the workspace and the entries of an agent.
/// `settings` is the configuration of the install, where it does not travel.
pub(crate) fn not_requested(
    options: &ReadOptions<'_>,
    transcripts: ConversationFiles,
    credentials: Option<&Credentials>,
    settings: Option<&Path>,
) -> Vec<NotRequested> {
    let credentials = credentials.map_or(&[][..], |credential| &credential.credentials);
    let unsealed = credentials
        .iter()
        .filter(|credential| credential.encrypted_payload == NOT_EXPORTED)
        .count();
    let settings = settings.and_then(|path| fs_err::metadata(path).ok());
    let settings = settings.filter(std::fs::Metadata::is_file).map_or(0, |setting| setting.len());
    let transcripts = if options.sessions { ConversationFiles::default() } else { transcripts };
    let all = [
        some(NotRequestedKind::Transcripts, transcripts.count, transcripts.bytes),
        some(NotRequestedKind::CredentialSecrets, unsealed as u64, 0),
        some(NotRequestedKind::Settings, u64::from(settings > 0), settings),
    ];
    all.into_iter().flatten().collect()
}

fn some(kind: NotRequestedKind, count: u64, bytes: u64) -> Option<NotRequested> {
    (count > 0).then_some(NotRequested { kind, count, bytes })
}

/// A number of files and their bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ConversationFiles {
    pub(crate) count: u64,
    pub(crate) bytes: u64,
}

impl ConversationFiles {
    pub(crate) fn add(&mut self, bytes: u64) {
        self.count += 1;
        self.bytes = self.bytes.saturating_add(bytes);
    }

    /// Counts the files with conversations in folders outside the workspace: those in the workspace
    /// travel.
    pub(crate) fn with_conversations(folders: &[PathBuf], workspace: &Path) -> Self {
        let mut files = Self::default();
        for folder in folders.iter().filter(|folder| !real(folder).starts_with(workspace)) {
            for name in names_in(folder) {
                let holds_conversations = name.contains(".jsonl") || name.ends_with(".db");
                let metadata = fs_err::symlink_metadata(folder.join(&name)).ok();
                if let Some(metadata) =
                    metadata.filter(|metadata| metadata.is_file() && holds_conversations)
                {
                    files.add(metadata.len());
                }
            }
        }
        files
    }
}

/// Warns of an agent without memories.
pub(crate) fn warn_of_nothing(carrier: &mut Carrier<'_>) {
    if carrier.outcome.records == 0 {
        let message = "no memories were found; see whether this is the right folder";
        carrier.outcome.warnings.push(Warning::new("no_memory_content", message));
    }
}

/// A workspace that was walked.
pub(crate) struct WalkedWorkspace {
    /// Its canonical path.
    pub(crate) path: PathBuf,
    pub(crate) workspace: Workspace,
    pub(crate) walked: WalkResult,
}

impl WalkedWorkspace {
    /// Opens and walks a workspace; `memory` is the folder of memories in it, and `kind_of` says
    /// what a folder is.
    pub(crate) fn open(
        agent: &FoundAgent,
        options: &ReadOptions<'_>,
        memory: &str,
        kind_of: fn(&str) -> SearchedFolder,
    ) -> Result<Self, ReadError> {
        let failed = |source| ReadError::Workspace { path: agent.workspace.clone(), source };
        let path = fs_err::canonicalize(&agent.workspace).map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound => ReadError::NoWorkspace(agent.workspace.clone()),
            _ => failed(error),
        })?;
        let workspace = Workspace::open(&path).map_err(failed)?;
        let rules = WalkRules {
            exclude: options.exclude,
            unfinished: options.unfinished,
            ..WalkRules::new(memory, kind_of)
        };
        let walked = workspace.walk(&rules).map_err(|error| match error.downcast() {
            Ok(IgnoreFileError(source)) => {
                ReadError::IgnoreFile { path: path.join(IGNORE_FILE), source }
            }
            Err(error) => failed(error),
        })?;
        Ok(Self { path, workspace, walked })
    }
}

/// A workspace that was walked, of an agent whose id is known.
pub(crate) struct OpenWorkspace {
    /// Its canonical path.
    pub(crate) path: PathBuf,
    pub(crate) workspace: Workspace,
    pub(crate) walked: WalkResult,
    pub(crate) agent_id: AgentId,
}

impl OpenWorkspace {
    /// Takes a walked workspace and determines its agent's id.
    pub(crate) fn of(
        workspace: WalkedWorkspace,
        agent: &FoundAgent,
        options: &ReadOptions<'_>,
        namespaces: &Namespaces,
    ) -> Result<Self, ReadError> {
        let WalkedWorkspace { path, workspace, walked } = workspace;
        let noted =
            workspace.agent_id().map_err(|_| ReadError::AgentIdFile(path.join(AGENT_ID_FILE)))?;
        let agent_id = options
            .agent_id
            .or_else(|| noted.filter(|_| !agent.shares_workspace))
            .unwrap_or_else(|| namespaces.derive(agent));
        Ok(Self { path, workspace, walked, agent_id })
    }

    /// Returns everything in the order of an archive: artifacts, then raw files.
    pub(crate) fn placed(
        &self,
        runtime: &'static str,
        is_managed: fn(&[u8]) -> bool,
    ) -> impl Iterator<Item = (Root<'static>, &FoundEntry)> {
        let of = move |managed: bool| {
            let found = self.walked.found.iter();
            found.filter(move |found| is_managed(&found.path) == managed)
        };
        let artifacts = of(false).map(|found| (Root::Artifacts, found));
        artifacts.chain(of(true).map(move |found| (Root::Raw(runtime), found)))
    }

    /// Returns what is too large to travel, though nothing else prevents it.
    pub(crate) fn large(
        &self,
        threshold: u64,
        is_managed: fn(&[u8]) -> bool,
    ) -> impl Iterator<Item = LeftOut> {
        let large = move |found: &&FoundEntry| {
            found.is_file() && !is_included(found, threshold) && !is_managed(&found.path)
        };
        self.walked
            .found
            .iter()
            .filter(large)
            .map(|found| LeftOut::file(lossy(&found.path), LeftOutReason::Referenced, found.size()))
    }

    /// Says that the agent did not change; what the runtime adds comes after what the walk found.
    pub(crate) fn unchanged(
        &self,
        warnings: impl IntoIterator<Item = Warning>,
        left_out: impl IntoIterator<Item = LeftOut>,
        not_requested: Vec<NotRequested>,
    ) -> Unchanged {
        let walked = &self.walked;
        Unchanged {
            count: walked.count,
            warnings: walked.warnings.iter().cloned().chain(warnings).collect(),
            left_out: walked.left_out.iter().cloned().chain(left_out).collect(),
            not_requested,
        }
    }

    /// Reports what the walk left out, and links that keep memories out of the archive.
    pub(crate) fn tell(&self, is_managed: fn(&[u8]) -> bool, carrier: &mut Carrier<'_>) {
        carrier.outcome.warnings.extend(self.walked.warnings.iter().cloned());
        carrier.outcome.left_out.extend(self.walked.left_out.iter().cloned());
        for it in self.walked.left_out.iter().filter(|out| out.reason == LeftOutReason::Unreadable)
        {
            let message = "cannot be read; nothing of it travels";
            carrier.outcome.warn("unreadable", it.path.as_bytes(), message);
        }
        for found in &self.walked.found {
            let EntryKind::Symlink(target) = &found.kind else { continue };
            if !is_managed(&found.path) {
                continue;
            }
            let (code, message) = match self.workspace.destination(&found.path, target) {
                None => (
                    "link_outside",
                    "leads out of the workspace; the link travels, what it leads to does not",
                ),
                Some(path) if !is_managed(&path) => (
                    "link_to_artifact",
                    "the link travels, and what it leads to travels without records",
                ),
                Some(_) => continue,
            };
            carrier.outcome.warn(code, &found.path, message);
        }
    }
}

/// Returns when the install was last configured, because the creation of a credential is not
/// recorded.
pub(crate) fn configured_at(agent: &FoundAgent) -> Moment {
    let metadata = agent.config.as_deref().and_then(|path| fs_err::metadata(path).ok());
    metadata.as_ref().and_then(times::modified).unwrap_or_else(times::epoch)
}

/// Credentials keep the times from when they were first seen.
pub(crate) fn carry_credential_times(
    credentials: Option<&mut Credentials>,
    earlier: Option<&PreviousSnapshot>,
) {
    let known = earlier.and_then(|earlier| earlier.credentials.as_ref());
    let (Some(credentials), Some(known)) = (credentials, known) else { return };
    for credential in &mut credentials.credentials {
        if let Some(known) = known.credentials.iter().find(|other| other.id == credential.id) {
            credential.created_at = known.created_at.clone();
        }
    }
}

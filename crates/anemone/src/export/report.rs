//! What an export did, or would do.

use anemone_format::{ALF_VERSION, NOT_EXPORTED};
use anemone_runtimes::{
    LeftOut, LeftOutReason, NotRequested, NotRequestedKind, Reading, SecretFinding, SessionCounts,
    Unchanged, Warning,
};
use serde::{Serialize, Serializer};

use crate::agent::ChosenAgent;
use crate::tally::ListedFile;

/// What an export did, or would do. What only travels on request is typed; a door turns it into its
/// own words with [`map_not_requested`](Self::map_not_requested).
#[derive(Debug, Serialize)]
pub struct ExportReport<N = NotRequestedItem> {
    ok: bool,
    /// Whether nothing was to be written.
    pub dry_run: bool,
    /// Whether the export would stop because of secrets; told by a dry run.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub would_stop: bool,
    /// Whether nothing changed since the earlier archive, so that nothing was written.
    pub no_changes: bool,
    /// The archive that was written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<String>,
    /// Its bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file_size: Option<u64>,
    /// The version of the format.
    pub alf_version: &'static str,
    /// The runtime of the agent.
    pub runtime: &'static str,
    /// The agent's workspace.
    pub workspace: String,
    /// What was read; nothing where that was not necessary.
    #[serde(flatten)]
    pub summary: Option<ExportSummary<N>>,
    /// What still does not travel of an agent that did not change.
    #[serde(flatten)]
    pub unchanged: Option<UnchangedSummary<N>>,
    /// The file that the agent's id was written to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_id_file: Option<String>,
}

impl ExportReport {
    pub(super) fn new(chosen: &ChosenAgent, dry_run: bool) -> Self {
        Self {
            ok: true,
            dry_run,
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
        }
    }

    /// Turns the items that only travel on request into something else.
    pub fn map_not_requested<M>(self, map: impl Fn(NotRequestedItem) -> M) -> ExportReport<M> {
        let summary = self.summary.map(|summary| ExportSummary {
            left_out_by_default: summary.left_out_by_default.into_iter().map(&map).collect(),
            agent_id: summary.agent_id,
            agent_name: summary.agent_name,
            memory_records: summary.memory_records,
            embeddings: summary.embeddings,
            identity_version: summary.identity_version,
            principals_count: summary.principals_count,
            credentials_count: summary.credentials_count,
            credentials_sealed: summary.credentials_sealed,
            artifacts_included: summary.artifacts_included,
            artifacts_referenced: summary.artifacts_referenced,
            files_count: summary.files_count,
            total_size: summary.total_size,
            files: summary.files,
            excluded_by_alfignore: summary.excluded_by_alfignore,
            left_out: summary.left_out,
            secrets: summary.secrets,
            sessions: summary.sessions,
            warnings: summary.warnings,
        });
        let unchanged = self.unchanged.map(|unchanged| UnchangedSummary {
            left_out: unchanged.left_out,
            left_out_by_default: unchanged.left_out_by_default.into_iter().map(&map).collect(),
            warnings: unchanged.warnings,
        });
        ExportReport {
            summary,
            unchanged,
            ok: self.ok,
            dry_run: self.dry_run,
            would_stop: self.would_stop,
            no_changes: self.no_changes,
            output: self.output,
            file_size: self.file_size,
            alf_version: self.alf_version,
            runtime: self.runtime,
            workspace: self.workspace,
            agent_id_file: self.agent_id_file,
        }
    }
}

/// What does not travel of an agent that did not change.
#[derive(Debug, Serialize)]
pub struct UnchangedSummary<N = NotRequestedItem> {
    /// What is not in the archive, and why.
    pub left_out: Vec<LeftOutItem>,
    /// What only travels on request.
    pub left_out_by_default: Vec<N>,
    /// What somebody should know.
    pub warnings: Vec<ExportWarning>,
}

impl UnchangedSummary {
    pub(super) fn new(unchanged: Unchanged) -> Self {
        Self {
            left_out: unchanged.left_out.iter().map(LeftOutItem::new).collect(),
            left_out_by_default: not_requested(&unchanged.not_requested),
            warnings: unchanged.warnings.into_iter().map(ExportWarning::from).collect(),
        }
    }
}

/// What was read.
#[derive(Debug, Serialize)]
pub struct ExportSummary<N = NotRequestedItem> {
    /// The agent's id.
    pub agent_id: String,
    /// What the agent is called.
    pub agent_name: String,
    /// Records.
    pub memory_records: u64,
    /// Vectors of records, from the runtime's index.
    pub embeddings: u64,
    /// The version of the persona.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub identity_version: Option<u64>,
    /// People whom the agent works for.
    pub principals_count: u64,
    /// Credentials.
    pub credentials_count: u64,
    /// Credentials whose secrets travel.
    pub credentials_sealed: u64,
    /// Artifacts that travel.
    pub artifacts_included: u64,
    /// Artifacts that are only listed.
    pub artifacts_referenced: u64,
    /// Files that travel.
    pub files_count: u64,
    /// Their bytes.
    pub total_size: u64,
    /// Every file that would travel; told by a dry run.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<ListedFile>,
    /// Files that `.alfignore` keeps out.
    pub excluded_by_alfignore: Vec<String>,
    /// What is not in the archive, and why.
    pub left_out: Vec<LeftOutItem>,
    /// What only travels on request.
    pub left_out_by_default: Vec<N>,
    /// Where files hold secrets.
    pub secrets: Vec<SecretItem>,
    /// Transcripts that were read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sessions: Option<SessionCounts>,
    /// What somebody should know.
    pub warnings: Vec<ExportWarning>,
}

impl ExportSummary {
    pub(super) fn new(reading: Reading, total_size: u64, embeddings: u64) -> Self {
        let attachments = reading.attachments.as_ref().map_or(&[][..], |layer| &layer.attachments);
        let included = attachments.iter().filter(|file| file.archive_path.0.is_some()).count();
        let credentials = reading.credentials.as_ref().map_or(&[][..], |layer| &layer.credentials);
        let sealed = credentials.iter().filter(|key| key.encrypted_payload != NOT_EXPORTED).count();
        let is_ignored = |left_out: &&LeftOut| left_out.reason == LeftOutReason::Ignored;
        let ignored = reading.left_out.iter().filter(is_ignored);
        let principals = reading.principals.as_ref();
        Self {
            agent_id: reading.manifest.agent.id.to_string(),
            agent_name: reading.manifest.agent.name.clone(),
            memory_records: reading.records,
            embeddings,
            identity_version: reading.identity.as_ref().map(|layer| layer.version),
            principals_count: principals.map_or(0, |layer| layer.principals.len() as u64),
            credentials_count: credentials.len() as u64,
            credentials_sealed: sealed as u64,
            artifacts_included: included as u64,
            artifacts_referenced: (attachments.len() - included) as u64,
            files_count: reading.files,
            total_size,
            files: Vec::new(),
            excluded_by_alfignore: ignored.map(|left_out| left_out.path.clone()).collect(),
            left_out: reading.left_out.iter().map(LeftOutItem::new).collect(),
            left_out_by_default: not_requested(&reading.not_requested),
            secrets: reading.secrets.iter().map(SecretItem::new).collect(),
            sessions: reading.sessions,
            warnings: reading.warnings.into_iter().map(ExportWarning::from).collect(),
        }
    }
}

/// Something in the workspace that does not travel.
#[derive(Clone, Debug, Serialize)]
pub struct LeftOutItem {
    /// Its path in the workspace; absolute outside of it.
    pub path: String,
    /// Why it does not travel.
    #[serde(serialize_with = "reason")]
    pub reason: LeftOutReason,
    /// Files below it, when it is a folder.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
}

impl LeftOutItem {
    pub(super) fn new(left_out: &LeftOut) -> Self {
        let LeftOut { path, reason, files, bytes } = left_out.clone();
        Self { path, reason, files, bytes }
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands out references")]
fn reason<S: Serializer>(reason: &LeftOutReason, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(reason.as_str())
}

/// Something that only travels on request.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct NotRequestedItem {
    /// What it is.
    #[serde(serialize_with = "kind")]
    pub kind: NotRequestedKind,
    /// How many there are; for conversations, the files that hold them.
    pub count: u64,
    /// Bytes of these files; 0 where no file is theirs alone.
    pub bytes: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands out references")]
fn kind<S: Serializer>(kind: &NotRequestedKind, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(kind.as_str())
}

fn not_requested(list: &[NotRequested]) -> Vec<NotRequestedItem> {
    let item = |not_requested: &NotRequested| {
        let NotRequested { kind, count, bytes } = *not_requested;
        NotRequestedItem { kind, count, bytes }
    };
    list.iter().map(item).collect()
}

/// A secret in a file; the secret itself is not here.
#[derive(Clone, Debug, Serialize)]
pub struct SecretItem {
    /// The file.
    pub path: String,
    /// The line, from 1.
    pub line: u64,
    /// What kind of secret.
    pub kind: &'static str,
}

impl SecretItem {
    pub(super) fn new(found: &SecretFinding) -> Self {
        Self { path: found.path.clone(), line: found.line, kind: found.kind }
    }
}

/// Something that somebody should know.
#[derive(Clone, Debug, Serialize)]
pub struct ExportWarning {
    /// For programs.
    pub code: &'static str,
    /// The file that it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// For people.
    pub message: String,
}

impl From<Warning> for ExportWarning {
    fn from(warning: Warning) -> Self {
        let Warning { code, path, message } = warning;
        Self { code, path, message }
    }
}

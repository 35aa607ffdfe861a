//! What an export did, or would do.

use anemone_format::{ALF_VERSION, NOT_EXPORTED};
use anemone_runtimes::{
    FoundSecret, LeftOut, LeftOutReason, NotRequested, Reading, SessionCounts, Unchanged, Warning,
};
use serde::Serialize;

use crate::agent::ChosenAgent;
use crate::tally::ListedFile;

/// What an export did, or would do.
#[derive(Debug, Default, Serialize)]
pub struct ExportReport {
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
    /// The data that was read; empty if reading was not necessary.
    #[serde(flatten)]
    pub summary: Option<ExportSummary>,
    /// What still does not travel of an agent that did not change.
    #[serde(flatten)]
    pub unchanged: Option<UnchangedSummary>,
    /// The file that the agent's id was written to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_id_file: Option<String>,
}

impl ExportReport {
    pub(super) fn new(chosen: &ChosenAgent, dry_run: bool) -> Self {
        Self {
            dry_run,
            alf_version: ALF_VERSION,
            runtime: chosen.runtime.name,
            workspace: chosen.agent.workspace.display().to_string(),
            ..Self::default()
        }
    }
}

/// The data of an unchanged agent that does not travel.
#[derive(Debug, Serialize)]
pub struct UnchangedSummary {
    /// The data that is not in the archive, with the reason.
    pub left_out: Vec<LeftOut>,
    /// What only travels on request.
    pub left_out_by_default: Vec<NotRequestedItem>,
    /// What the user should know.
    pub warnings: Vec<Warning>,
}

impl UnchangedSummary {
    pub(super) fn new(unchanged: Unchanged) -> Self {
        Self {
            left_out_by_default: not_requested(&unchanged.not_requested),
            left_out: unchanged.left_out,
            warnings: unchanged.warnings,
        }
    }
}

/// What was read.
#[derive(Debug, Serialize)]
pub struct ExportSummary {
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
    /// The data that is not in the archive, with the reason.
    pub left_out: Vec<LeftOut>,
    /// What only travels on request.
    pub left_out_by_default: Vec<NotRequestedItem>,
    /// Where files hold secrets.
    pub secrets: Vec<FoundSecret>,
    /// Transcripts that were read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sessions: Option<SessionCounts>,
    /// What the user should know.
    pub warnings: Vec<Warning>,
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
            left_out: reading.left_out,
            left_out_by_default: not_requested(&reading.not_requested),
            secrets: reading.secrets,
            sessions: reading.sessions,
            warnings: reading.warnings,
        }
    }
}

/// Something that only travels on request.
#[derive(Clone, Debug, Serialize)]
pub struct NotRequestedItem {
    /// The kind of data, and its amount.
    #[serde(flatten)]
    pub not_requested: NotRequested,
    /// How to request it; filled in by the program that asked for the export.
    #[serde(flatten)]
    pub words: Option<RequestWords>,
}

/// How to request something, in the words of the program that asked for the export.
#[derive(Clone, Debug, Serialize)]
pub struct RequestWords {
    /// The options that include it, if any do.
    pub include_with: Option<&'static str>,
    /// For people.
    pub message: String,
}

fn not_requested(list: &[NotRequested]) -> Vec<NotRequestedItem> {
    let item = |&not_requested: &NotRequested| NotRequestedItem { not_requested, words: None };
    list.iter().map(item).collect()
}

//! An open workspace and what lies in it: where every reading of an agent starts.

use std::path::PathBuf;

use anemone_format::{
    AgentId, AgentInfo, Credentials, Identity, Manifest, Moment, Principals, ReadingInfo, Root,
    RuntimeHints,
};

use crate::adapter::{
    FoundAgent, LeftOut, LeftOutReason, ReadError, ReadOptions, Reading, SessionCounts, Warning,
};
use crate::carry::Carrier;
use crate::earlier::Earlier;
use crate::ids::Namespaces;
use crate::paths::lossy;
use crate::times;
use crate::walk::{
    AGENT_ID_FILE, Found, FoundKind, IGNORE_FILE, IgnoreFileError, WalkRules, Walked, Workspace,
};

/// What an adapter tells of an agent, beside what its carrier carried.
pub(crate) struct Told {
    pub(crate) agent: AgentInfo,
    pub(crate) hints: Option<RuntimeHints>,
    pub(crate) info: ReadingInfo,
    pub(crate) identity: Option<Identity>,
    pub(crate) principals: Option<Principals>,
    pub(crate) credentials: Option<Credentials>,
    pub(crate) sessions: Option<SessionCounts>,
}

/// Ends a reading.
pub(crate) fn end_reading(told: Told, carrier: Carrier<'_>, options: &ReadOptions<'_>) -> Reading {
    let (done, mentions) = carrier.finish();
    let agent_id = told.agent.id;
    let mut manifest = Manifest::new(told.agent, done.newest.unwrap_or_else(times::epoch));
    manifest.runtime_hints = told.hints;
    manifest.reading = Some(told.info);
    let attachments = mentions.attachments(agent_id, options.artifact_threshold, done.artifacts);
    Reading {
        manifest,
        identity: told.identity,
        principals: told.principals,
        credentials: told.credentials,
        attachments: Some(attachments).filter(|it| !it.attachments.is_empty()),
        records: done.records,
        files: done.files,
        sessions: told.sessions,
        warnings: done.warnings,
        left_out: done.left_out,
        secrets: done.secrets,
    }
}

/// Warns of an agent without memories.
pub(crate) fn warn_of_nothing(carrier: &mut Carrier<'_>) {
    if carrier.outcome.records == 0 {
        carrier.outcome.warnings.push(Warning {
            code: "no_memory_content",
            path: None,
            message: "no memories were found; see whether this is the right folder".to_owned(),
        });
    }
}

/// An open workspace with everything in it.
pub(crate) struct Opened {
    /// Its canonical path.
    pub(crate) path: PathBuf,
    pub(crate) workspace: Workspace,
    pub(crate) walked: Walked,
    pub(crate) agent_id: AgentId,
}

impl Opened {
    /// Opens and walks a workspace; `memory` is the folder of memories in it.
    pub(crate) fn open(
        agent: &FoundAgent,
        options: &ReadOptions<'_>,
        memory: &str,
        namespaces: &Namespaces,
    ) -> Result<Self, ReadError> {
        let failed = |source| ReadError::Workspace { path: agent.workspace.clone(), source };
        let path = fs_err::canonicalize(&agent.workspace).map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound => {
                ReadError::NoWorkspace { path: agent.workspace.clone() }
            }
            _ => failed(error),
        })?;
        let workspace = Workspace::open(&path).map_err(failed)?;
        let rules = WalkRules { memory: memory.as_bytes(), exclude: options.exclude };
        let walked = workspace.walk(&rules).map_err(|error| match error.downcast() {
            Ok(IgnoreFileError(source)) => {
                ReadError::IgnoreFile { path: path.join(IGNORE_FILE), source }
            }
            Err(error) => failed(error),
        })?;
        let agent_id = match options.agent_id {
            Some(id) => id,
            None => match workspace.agent_id() {
                Ok(noted) => noted.unwrap_or_else(|| namespaces.agent(&path)),
                Err(_) => return Err(ReadError::AgentIdFile { path: path.join(AGENT_ID_FILE) }),
            },
        };
        Ok(Self { path, workspace, walked, agent_id })
    }

    /// Everything in the order in which an archive holds it: artifacts, then what is raw.
    pub(crate) fn placed(
        &self,
        runtime: &'static str,
        is_managed: fn(&[u8]) -> bool,
    ) -> impl Iterator<Item = (Root<'static>, &Found)> {
        let of = move |managed: bool| {
            let found = self.walked.found.iter();
            found.filter(move |found| is_managed(&found.path) == managed)
        };
        let artifacts = of(false).map(|found| (Root::Artifacts, found));
        artifacts.chain(of(true).map(move |found| (Root::Raw(runtime), found)))
    }

    /// Returns what is too large to travel, though nothing else stands in its way.
    pub(crate) fn large(
        &self,
        threshold: u64,
        is_managed: fn(&[u8]) -> bool,
    ) -> impl Iterator<Item = LeftOut> {
        let large = move |found: &&Found| {
            found.is_file() && found.size() > threshold && !is_managed(&found.path)
        };
        self.walked.found.iter().filter(large).map(|found| LeftOut {
            path: lossy(&found.path),
            reason: LeftOutReason::Referenced,
            files: 1,
            bytes: found.size(),
        })
    }

    /// Tells what the walk left out, and which links keep memories out of the archive.
    pub(crate) fn tell(&self, is_managed: fn(&[u8]) -> bool, carrier: &mut Carrier<'_>) {
        carrier.outcome.warnings.extend(self.walked.warnings.iter().cloned());
        carrier.outcome.left_out.extend(self.walked.left_out.iter().cloned());
        for it in self.walked.left_out.iter().filter(|it| it.reason == LeftOutReason::Unreadable) {
            let message = "cannot be read; nothing of it travels";
            carrier.outcome.warn("unreadable", it.path.as_bytes(), message);
        }
        for found in &self.walked.found {
            let FoundKind::Symlink(target) = &found.kind else { continue };
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

/// Returns when the install was last configured: nothing says when a credential was made.
pub(crate) fn configured_at(agent: &FoundAgent) -> Moment {
    let metadata = agent.config.as_ref().and_then(|path| fs_err::metadata(path).ok());
    let time = metadata.and_then(|it| it.modified().ok());
    let instant = time.and_then(|it| jiff::Timestamp::try_from(it).ok());
    instant.and_then(times::moment).unwrap_or_else(times::epoch)
}

/// A credential is as old as it was when it was first seen.
pub(crate) fn carry_credential_times(
    credentials: Option<&mut Credentials>,
    earlier: Option<&Earlier>,
) {
    let known = earlier.and_then(|it| it.credentials.as_ref());
    let (Some(credentials), Some(known)) = (credentials, known) else { return };
    for credential in &mut credentials.credentials {
        if let Some(known) = known.credentials.iter().find(|it| it.id == credential.id) {
            credential.created_at = known.created_at.clone();
        }
    }
}

//! What an install knows about an agent besides its workspace.

use std::io::Read as _;
use std::path::Path;

use anemone_format::{Credentials, Moment, ReadingInfo, Root, RuntimeHints};
use serde::Serialize;

use super::super::brain::{Brain, DESCRIPTION};
use super::super::config::{Backend, Config, EmbeddingSettings, IdentitySettings};
use super::super::{RUNTIME, credentials};
use super::super::{discover::is_live, layout::CONFIG, searchable::sessions_in};
use super::{MAX_DOCUMENT_BYTES, REVISION};
use crate::kit::{
    ConversationFiles, DatabaseError, FoundAgent, GeneratedFile, Machine, NotRequested, OddityKind,
    OpenWorkspace, ReadError, ReadOptions, SecretPolicy, Warning, carry_credential_times,
    configured_at, installed_version, not_requested, reading_info, real, times, without_dots,
    written_at,
};

/// What the install knows about an agent, besides its workspace.
pub(super) struct InstallFacts {
    /// The version of the runtime.
    pub(super) version: Option<String>,
    /// Whether there is a configuration that can be read.
    pub(super) has_config: bool,
    backend: Option<Backend>,
    /// The memories, when they are in a database.
    pub(super) brain: Option<Brain>,
    /// When the database was last written.
    pub(super) written_at: Option<Moment>,
    /// When the install was last configured.
    pub(super) configured_at: Option<Moment>,
    /// How the persona is kept, when it is a document.
    pub(super) identity: Option<IdentitySettings>,
    /// That document, when it is outside the workspace.
    pub(super) document: Option<PersonaDocument>,
    pub(super) embedding: Option<EmbeddingSettings>,
    pub(super) hints: Option<RuntimeHints>,
    pub(super) credentials: Option<Credentials>,
    /// The configuration and the description of the database, as they travel.
    pub(super) made: Vec<GeneratedFile>,
    pub(super) info: ReadingInfo,
    pub(super) warnings: Vec<Warning>,
    pub(super) not_requested: Vec<NotRequested>,
}

/// The document of a persona.
#[derive(Clone)]
pub(super) struct PersonaDocument {
    /// Its path or its origin, for people.
    pub(super) name: String,
    pub(super) text: String,
    pub(super) at: Option<Moment>,
}

/// Everything that decides what an archive holds, besides its files.
#[derive(Serialize)]
struct Inputs<'a> {
    runtime_version: Option<&'a str>,
    alias: &'a str,
    sessions: bool,
    embeddings: bool,
    private: bool,
    artifact_threshold: u64,
    redact: bool,
    backend: Option<String>,
    embedding: Option<[String; 2]>,
    hints: &'a Option<RuntimeHints>,
    credentials: &'a Option<Credentials>,
    database: Option<&'a str>,
    document: Option<&'a str>,
}

impl InstallFacts {
    pub(super) fn read(
        machine: &Machine,
        agent: &FoundAgent,
        opened: &OpenWorkspace,
        options: &ReadOptions<'_>,
    ) -> Result<Self, ReadError> {
        let mut warnings: Vec<Warning> = oddities(agent).collect();
        let config = agent.config.as_ref().map(Config::of).transpose();
        let config = config.unwrap_or_else(|warning| {
            warnings.push(warning);
            warnings.extend(backend_assumed(agent));
            None
        });
        let backend = config.as_ref().map(|config| config.backend(&agent.alias));
        warnings.extend(config.as_ref().and_then(|config| backend_warning(config, agent)));
        warnings.extend(config.as_ref().and_then(|config| config.backend_warning(&agent.alias)));
        let (brain, found) = memories(machine, agent, backend.as_ref())?;
        warnings.extend(found);
        let settings = config.as_ref().map(|config| config.identity(&agent.alias));
        let identity = settings.filter(|settings| settings.format.as_deref() == Some("aieos"));
        let document = match identity.as_ref().and_then(|identity| identity.aieos_path.as_ref()) {
            Some(path) => outside_document(agent, opened, path).unwrap_or_else(|warning| {
                warnings.push(warning);
                None
            }),
            None => None,
        };
        let configured = configured_at(agent);
        let (mut credentials, found) = credentials::credentials(
            agent,
            config.as_deref(),
            opened.agent_id,
            options.seal,
            &configured,
        )?;
        carry_credential_times(credentials.as_mut(), options.earlier);
        warnings.extend(found);
        let configured_at = config.as_ref().map(|_| configured);
        let embedding = config.as_deref().and_then(Config::embedding);
        let hints = config.as_ref().and_then(|config| config.hints(&agent.alias));
        let fingerprint = brain.as_ref().and_then(Brain::fingerprint);
        let version = agent.version.clone().or_else(|| installed_version(machine, RUNTIME));
        let inputs = Inputs {
            runtime_version: version.as_deref(),
            alias: &agent.alias,
            sessions: options.sessions,
            embeddings: options.embeddings,
            private: options.private,
            artifact_threshold: options.artifact_threshold,
            redact: options.secrets == SecretPolicy::Redact,
            backend: backend.as_ref().map(|backend| format!("{backend:?}")),
            embedding: embedding
                .as_ref()
                .map(|embedding| [embedding.provider.clone(), embedding.model.clone()]),
            hints: &hints,
            credentials: &credentials,
            database: fingerprint.as_deref(),
            document: document.as_ref().map(|document| &*document.text),
        };
        let info = reading_info(RUNTIME, REVISION, &inputs);
        let (made, found) = made(agent, config.as_deref(), brain.as_ref(), configured_at.as_ref());
        warnings.extend(found);
        let sessions = sessions_in(agent);
        let transcripts = ConversationFiles::with_conversations(&sessions, &opened.path);
        // The settings travel without their secrets.
        let not_requested = not_requested(options, transcripts, credentials.as_ref(), None);
        Ok(Self {
            not_requested,
            version,
            has_config: config.is_some(),
            written_at: brain.as_ref().and(agent.database.as_deref()).and_then(written_at),
            backend,
            brain,
            configured_at,
            identity,
            document,
            embedding,
            hints,
            credentials,
            made,
            info,
            warnings,
        })
    }

    /// Whether the agent keeps any memories.
    pub(super) fn keeps_memories(&self) -> bool {
        self.backend != Some(Backend::None)
    }
}

/// Generates the files that describe the install.
fn made(
    agent: &FoundAgent,
    config: Option<&Config>,
    brain: Option<&Brain>,
    configured_at: Option<&Moment>,
) -> (Vec<GeneratedFile>, Vec<Warning>) {
    let mut warnings = Vec::new();
    let made = |path, text: String, redacted, mtime| GeneratedFile {
        root: Root::Raw(RUNTIME),
        path,
        bytes: text.into_bytes(),
        redacted,
        mtime,
    };
    let description =
        brain.map(|brain| made(DESCRIPTION, brain.description(&agent.alias), false, None));
    let config = config.and_then(|config| {
        let redacted = config.redacted();
        if let Some(warning) = redacted.warning {
            warnings.push(warning);
            return None;
        }
        if redacted.comments > 0 {
            let held = redacted.comments;
            let message = format!("{held} of its comments held a secret, which does not travel");
            warnings.push(Warning::about("config_comments", CONFIG, message));
        }
        let is_redacted = !redacted.secrets.is_empty() || redacted.comments > 0;
        Some(made(CONFIG, redacted.text, is_redacted, configured_at.cloned()))
    });
    (description.into_iter().chain(config).collect(), warnings)
}

/// Oddities found during discovery that a reader of the archive should know.
fn oddities(agent: &FoundAgent) -> impl Iterator<Item = Warning> {
    const TOLD: [OddityKind; 3] =
        [OddityKind::StrayLog, OddityKind::SeveralAgents, OddityKind::DatabaseIgnored];
    let told = agent.oddities.iter().filter(|oddity| TOLD.contains(&oddity.kind));
    told.map(|value| Warning::new(value.kind.as_str(), value.message.clone()))
}

/// Warns that a database is read though no settings name it.
fn backend_assumed(agent: &FoundAgent) -> Option<Warning> {
    let path = agent.database.as_ref().filter(|database| is_live(database))?;
    Some(Warning::about(
        "backend_assumed",
        path.display(),
        "is read, though the settings that would name it cannot be; the agent may keep \
                  its memories elsewhere",
    ))
}

/// Returns what is unusual about where memories are kept.
fn backend_warning(config: &Config, agent: &FoundAgent) -> Option<Warning> {
    let (code, message) = match config.backend(&agent.alias) {
        Backend::Sqlite | Backend::Markdown => return None,
        Backend::None => (
            "backend_none",
            "the agent keeps no memories: its backend is `none`; the archive has no records"
                .to_owned(),
        ),
        Backend::Lucid => {
            ("lucid", "the backend is lucid; what it keeps in SQLite is exported".to_owned())
        }
        Backend::Elsewhere(name) => {
            let there = agent.database.as_ref().filter(|database| is_live(database));
            let instead = match there {
                Some(path) => format!("what {} holds travels, and may be old", path.display()),
                None => "nothing of them travels".to_owned(),
            };
            ("backend_elsewhere", format!("memories are kept in {name}, out of reach; {instead}"))
        }
    };
    Some(Warning::new(code, message))
}

/// Opens the database of memories, if the agent uses one.
fn memories(
    machine: &Machine,
    agent: &FoundAgent,
    backend: Option<&Backend>,
) -> Result<(Option<Brain>, Option<Warning>), ReadError> {
    let Some(path) = agent.database.as_ref().filter(|database| is_live(database)) else {
        return Ok((None, None));
    };
    let shown = Some(path.display().to_string());
    let is_used = !matches!(backend, Some(Backend::Markdown | Backend::None));
    match Brain::open(machine, path) {
        Ok(Some(brain)) if is_used => Ok((Some(brain), None)),
        Ok(Some(brain)) => {
            let mut rows = 0_u64;
            let counted = brain.each_head::<DatabaseError>(&agent.alias, &mut |_| {
                rows += 1;
                Ok(())
            });
            let message = format!(
                "holds {rows} rows of the agent, but is not what it remembers with; they do not \
                 travel"
            );
            let told = counted.is_err() || rows > 0;
            let warning = Warning { code: "database_ignored", path: shown, message };
            Ok((None, told.then_some(warning)))
        }
        Ok(None) => {
            let message = "holds no table of memories".to_owned();
            Ok((None, Some(Warning { code: "decoy", path: shown, message })))
        }
        Err(error) if is_used => Err(ReadError::memories(path, error)),
        Err(error) => {
            let message =
                format!("cannot be read, and is not what the agent remembers with: {error}");
            Ok((None, Some(Warning { code: "database_ignored", path: shown, message })))
        }
    }
}

/// Reads the document of a persona that is in the install and not in the workspace. Any other file
/// that a configuration names must not be read.
fn outside_document(
    agent: &FoundAgent,
    opened: &OpenWorkspace,
    path: &Path,
) -> Result<Option<PersonaDocument>, Warning> {
    let path = without_dots(&opened.path.join(path));
    if path.starts_with(&opened.path) {
        return Ok(None);
    }
    let warning = |message: String| Warning::about("aieos_outside", path.display(), message);
    let place = real(&path);
    let install = agent.install.as_ref().map(|install| real(install));
    if !install.is_some_and(|install| place.starts_with(install)) {
        let message = "describes the persona, but lies outside the install and does not travel";
        return Err(warning(message.to_owned()));
    }
    let mut text = String::new();
    let read = fs_err::File::open(&place).and_then(|file| {
        let metadata = file.metadata()?;
        if !metadata.is_file() || metadata.len() > MAX_DOCUMENT_BYTES {
            return Err(std::io::Error::other("it is no file of a usual size"));
        }
        file.take(MAX_DOCUMENT_BYTES).read_to_string(&mut text)?;
        Ok(metadata)
    });
    match read {
        Ok(metadata) => {
            let (name, at) = (path.display().to_string(), times::modified(&metadata));
            Ok(Some(PersonaDocument { name, text, at }))
        }
        Err(error) => Err(warning(format!("cannot be read: {error}"))),
    }
}

//! Reads a workspace and the facts of its install.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use anemone_format::{
    AgentInfo, Credential, Credentials, Identity, MemoryLayer, PartitionBy, ReadingInfo, Root,
    RuntimeHints, Sink, Unknown,
};
use serde::Serialize;

use super::index::{ChunkStream, IndexCounts, app_version};
use super::lancedb::{self, FilesObstacle, LanceStore};
use super::layout::{self, FACTS, MEMORY, MemoryKind, PathRole};
use super::memory::{self, MemoryFile, Shared};
use super::{NAMESPACES, OpenClaw, RUNTIME, check, credentials, facts, qmd, searchable, sessions};
use super::{
    config,
    config::{Config, ServiceUse},
    install::InstallDatabase,
};
use crate::kit::{
    Carrier, Check, ConversationFiles, Database, FoundAgent, FoundEntry, LeftOut, LeftOutReason,
    Machine, NotRequested, OpenAgent, OpenWorkspace, Prose, ReadAgents, ReadError, ReadOptions,
    Reading, ReadingParts, SearchAgents as _, SecretPolicy, SessionCounts, StableCopies, StoreKind,
    Unchanged, WalkedWorkspace, Warning, carrier, carry_credential_times, comparable,
    configured_at, end_reading, installed_version, lossy, not_requested, persona, reading_info,
    spelled, times, warn_of_nothing,
};

/// Increases when the same files are read into something else.
const REVISION: u64 = 2;
/// The name of an unnamed agent.
const UNNAMED: &str = "agent";

impl ReadAgents for OpenClaw {
    fn check(
        &self,
        machine: &Machine,
        agent: &FoundAgent,
        options: &ReadOptions<'_>,
    ) -> (Check, Result<Box<dyn OpenAgent>, ReadError>) {
        let walked = walk(agent, options);
        let check = check::check(machine, agent, walked.as_ref());
        (check, walked.and_then(|walked| opened(walked, agent, options)))
    }

    fn open(
        &self,
        _: &Machine,
        agent: &FoundAgent,
        options: &ReadOptions<'_>,
    ) -> Result<Box<dyn OpenAgent>, ReadError> {
        opened(walk(agent, options)?, agent, options)
    }
}

/// An agent whose workspace was walked.
struct WorkspaceWalk(OpenWorkspace);

pub(super) fn walk(
    agent: &FoundAgent,
    options: &ReadOptions<'_>,
) -> Result<WalkedWorkspace, ReadError> {
    WalkedWorkspace::open(agent, options, MEMORY, searchable::folder)
}

fn opened(
    walked: WalkedWorkspace,
    agent: &FoundAgent,
    options: &ReadOptions<'_>,
) -> Result<Box<dyn OpenAgent>, ReadError> {
    Ok(Box::new(WorkspaceWalk(OpenWorkspace::of(walked, agent, options, &NAMESPACES)?)))
}

impl OpenAgent for WorkspaceWalk {
    fn is_unchanged(
        &self,
        machine: &Machine,
        agent: &FoundAgent,
        options: &ReadOptions<'_>,
    ) -> Result<Option<Unchanged>, ReadError> {
        let Some((earlier, info)) = comparable(options, RUNTIME, REVISION) else {
            return Ok(None);
        };
        let opened = &self.0;
        let threshold = options.artifact_threshold;
        let same = opened.agent_id == earlier.manifest.agent.id
            && carrier::is_unchanged(
                &opened.workspace,
                earlier,
                threshold,
                opened.placed(RUNTIME, layout::is_managed),
                &[],
            );
        if !same {
            return Ok(None);
        }
        let facts = InstallFacts::read(machine, agent, opened, options)?;
        // The files of a store are not among those that were compared.
        if facts.info != *info || facts.store.is_some() {
            return Ok(None);
        }
        let large = opened.large(threshold, layout::is_managed).chain(facts.left_out);
        Ok(Some(opened.unchanged(facts.warnings, large, facts.not_requested)))
    }

    fn read(
        &self,
        machine: &Machine,
        agent: &FoundAgent,
        options: &ReadOptions<'_>,
        sink: &mut dyn Sink,
    ) -> Result<Reading, ReadError> {
        let opened = &self.0;
        let facts = InstallFacts::read(machine, agent, opened, options)?;
        let artifacts: Vec<String> = opened
            .placed(RUNTIME, layout::is_managed)
            .filter(|(root, found)| *root == Root::Artifacts && found.is_file())
            .map(|(_, found)| spelled(&found.path))
            .collect();
        let found = &opened.walked.found;
        let copies = StableCopies::take(&opened.workspace, &opened.path, found, &machine.scratch);
        let mut carrier = Carrier::new(&opened.workspace, options, sink, &artifacts, copies);
        opened.tell(layout::is_managed, &mut carrier);
        carrier.outcome.warnings.extend(facts.warnings.iter().cloned());
        carrier.runtime_version.clone_from(&facts.version);
        carrier.outcome.left_out.extend(facts.left_out.iter().cloned());

        let prose = Prose::read(RUNTIME, &opened.walked.found, &mut carrier, &persona::place_of);
        let identity = prose.identity(opened.agent_id, options.earlier);
        let principals = prose.principals(opened.agent_id, options.earlier);
        let shared = Shared {
            agent_id: opened.agent_id,
            identity_version: identity.as_ref().map(|identity| identity.version),
            stamps: opened.workspace.stamps(options.secrets),
        };
        let mut reader = AgentReader {
            machine,
            opened,
            shared,
            chunks: facts.chunks,
            carrier,
            hidden_facts: false,
        };
        reader.files()?;
        if let Some(store) = &facts.store {
            reader.store(store, options)?;
        }
        let mut credentials = facts.credentials;
        if let (Some(credentials), Some(identity)) = (&mut credentials, &identity) {
            grant_capabilities(credentials, identity);
        }
        let database = facts.database.as_ref();
        let sessions =
            if options.sessions { Some(reader.sessions(agent, database)?) } else { None };
        let AgentReader { chunks, mut carrier, .. } = reader;
        let (counts, warnings) = chunks.finish();
        carrier.outcome.warnings.extend(warnings);
        let mut warn = |code, message| {
            let path = agent.database.as_ref().map(|path| path.display().to_string());
            carrier.outcome.warnings.push(Warning { code, path, message });
        };
        let IndexCounts { malformed, stale, .. } = counts;
        if malformed > 0 {
            let message = format!("{malformed} of its vectors make no sense and are missing");
            warn("index_malformed", message);
        }
        if stale > 0 {
            let message =
                format!("is older than {stale} of the files; their vectors do not travel");
            warn("index_stale", message);
        }
        warn_of_nothing(&mut carrier);
        let name = prose.name().or(facts.name);
        let mut info = AgentInfo::new(opened.agent_id, name.as_deref().unwrap_or(UNNAMED), RUNTIME);
        info.source_runtime_version.clone_from(&facts.version);
        let parts = ReadingParts {
            agent: info,
            hints: facts.hints,
            info: facts.info,
            identity,
            principals,
            not_requested: facts.not_requested,
            credentials,
            sessions,
            count: opened.walked.count,
        };
        let mut reading = end_reading(parts, carrier, options);
        // The logs of a day belong together, whatever times their entries state.
        let partition_by = Some(PartitionBy::ObservedAt);
        reading.manifest.layers.memory =
            Some(MemoryLayer { partition_by, ..MemoryLayer::default() });
        Ok(reading)
    }
}

/// What the install knows about an agent, besides its workspace.
struct InstallFacts {
    version: Option<String>,
    name: Option<String>,
    hints: Option<RuntimeHints>,
    credentials: Option<Credentials>,
    database: Option<InstallDatabase>,
    store: Option<LanceStore>,
    chunks: ChunkStream,
    info: ReadingInfo,
    warnings: Vec<Warning>,
    left_out: Vec<LeftOut>,
    not_requested: Vec<NotRequested>,
}

/// Everything that decides what an archive holds, besides the files of the workspace.
#[derive(Serialize)]
struct ReadingInputs<'a> {
    runtime_version: Option<&'a str>,
    name: Option<&'a str>,
    sessions: bool,
    artifact_threshold: u64,
    redact: bool,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    not_redacted: &'a [String],
    hints: &'a Option<RuntimeHints>,
    credentials: &'a Option<Credentials>,
    index: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    store: Option<String>,
}

impl InstallFacts {
    fn read(
        machine: &Machine,
        agent: &FoundAgent,
        opened: &OpenWorkspace,
        options: &ReadOptions<'_>,
    ) -> Result<Self, ReadError> {
        let mut warnings = Vec::new();
        let database =
            InstallDatabase::of_agent(machine, agent, options).unwrap_or_else(|warning| {
                warnings.push(warning);
                None
            });
        let config = agent.config.as_ref().and_then(|file| Config::of(machine, file));
        let hints = hints(config.as_deref(), agent);
        warnings.extend(config.iter().flat_map(|config| unread(config)));
        warnings.extend(config.iter().flat_map(|config| extra_paths(machine, opened, config)));
        let store = LanceStore::open(machine, agent, config.as_deref()).unwrap_or_else(|warning| {
            warnings.push(warning);
            None
        });
        let (mut credentials, found) = credentials::credentials(
            machine,
            agent,
            database.as_ref(),
            opened.agent_id,
            options.seal,
            &configured_at(agent),
        )?;
        if let (Some(credentials), Some(config)) = (&mut credentials, &config) {
            grant_uses(credentials, &config.uses(&agent.alias));
        }
        carry_credential_times(credentials.as_mut(), options.earlier);
        warnings.extend(found);
        let chunks = ChunkStream::open(database.as_ref().filter(|_| options.embeddings));
        let version = agent
            .version
            .clone()
            .or_else(|| database.as_ref().and_then(app_version))
            .or_else(|| installed_version(machine, RUNTIME));
        let name = configured_name(config.as_deref(), agent);
        let inputs = ReadingInputs {
            runtime_version: version.as_deref(),
            name: name.as_deref(),
            sessions: options.sessions,
            artifact_threshold: options.artifact_threshold,
            redact: options.secrets == SecretPolicy::Redact,
            not_redacted: options.not_redacted(),
            hints: &hints,
            credentials: &credentials,
            index: chunks.fingerprint(),
            store: store.as_ref().map(LanceStore::fingerprint),
        };
        let info = reading_info(RUNTIME, REVISION, &inputs);
        let transcripts = transcripts(machine, agent, database.as_ref(), &opened.path);
        let settings = agent.config.as_deref();
        let not_requested = not_requested(options, transcripts, credentials.as_ref(), settings);
        Ok(Self {
            version,
            name,
            hints,
            credentials,
            database,
            store,
            chunks,
            info,
            warnings,
            left_out: qmd::left_out(agent),
            not_requested,
        })
    }
}

/// Notes what each credential is used for, as the configuration has it.
fn grant_uses(credentials: &mut Credentials, uses: &[ServiceUse]) {
    for credential in &mut credentials.credentials {
        for used in uses {
            if used.service == credential.service {
                grant(credential, used.capability);
            }
        }
    }
}

/// Notes which of the agent's capabilities name the service of a credential.
fn grant_capabilities(credentials: &mut Credentials, identity: &Identity) {
    let capabilities = identity.structured.iter().flat_map(|identity| &identity.capabilities);
    for capability in capabilities {
        let needs = capability.host_requirements.as_deref().unwrap_or_default();
        let text = format!("{} {needs}", capability.name).to_lowercase();
        let words: Vec<&str> = text.split(|c: char| !c.is_alphanumeric()).collect();
        for credential in &mut credentials.credentials {
            if words.contains(&&*credential.service.to_lowercase()) {
                grant(credential, &capability.name);
            }
        }
    }
}

fn grant(credential: &mut Credential, capability: &str) {
    if !credential.capabilities_granted.iter().any(|granted| granted == capability) {
        credential.capabilities_granted.push(capability.to_owned());
    }
}

/// Counts the files that hold conversations of the agent; the database is one if it has events.
fn transcripts(
    machine: &Machine,
    agent: &FoundAgent,
    database: Option<&InstallDatabase>,
    workspace: &Path,
) -> ConversationFiles {
    let stores = OpenClaw.searchable(machine, agent).stores;
    let folders = stores.into_iter().filter(|store| store.kind == StoreKind::Sessions);
    let folders: Vec<PathBuf> = folders.flat_map(|folder| folder.folders).collect();
    let mut files = ConversationFiles::with_conversations(&folders, workspace);
    if let Some(database) = database.filter(|database| sessions::has_events(database)) {
        files.add(fs_err::metadata(database.path()).map_or(0, |metadata| metadata.len()));
    }
    files
}

/// Warns of a configuration that cannot be read: it may name a store of memories, and nothing else
/// says that this store is missing.
fn unread(config: &Config) -> impl Iterator<Item = Warning> {
    searchable::warnings(config).map(|warning| {
        let rest = "memories and keys that only it leads to may be missing from this reading, such \
                    as a LanceDB store that is not in its usual folder";
        Warning { message: format!("{}; {rest}", warning.message), ..warning }
    })
}

/// Warns of folders outside the workspace that the runtime also searches.
fn extra_paths(machine: &Machine, opened: &OpenWorkspace, config: &Config) -> Vec<Warning> {
    let outside = config.extra_paths.iter().filter_map(|extra| {
        let path = config::resolve(machine, &opened.path, extra);
        (!path.starts_with(&opened.path)).then(|| path.display().to_string())
    });
    let warning = |path| {
        Warning::about(
            "extra_path",
            path,
            "is searched by the runtime, but lies outside the workspace and does not travel",
        )
    };
    outside.map(warning).collect()
}

fn hints(config: Option<&Config>, agent: &FoundAgent) -> Option<RuntimeHints> {
    let config = config?;
    let own = config.agent(&agent.alias).and_then(|agent| agent.model.clone());
    let model = own.or_else(|| config.model.clone())?;
    let provider = model.split_once('/').map(|(provider, _)| provider.to_owned());
    Some(RuntimeHints {
        primary_model: model.clone(),
        last_model: model,
        provider,
        context_window: None,
        notes: None,
        unknown: Unknown::default(),
    })
}

/// Returns the agent's name in the install. Without an install the agent is not named after its
/// workspace's folder, which may be renamed.
fn configured_name(config: Option<&Config>, agent: &FoundAgent) -> Option<String> {
    agent.install.as_ref()?;
    let configured = config.and_then(|config| config.agent(&agent.alias)?.name.clone());
    Some(configured.unwrap_or_else(|| agent.alias.clone()))
}

/// Takes the files one by one.
struct AgentReader<'a> {
    machine: &'a Machine,
    opened: &'a OpenWorkspace,
    shared: Shared,
    chunks: ChunkStream,
    carrier: Carrier<'a>,
    /// Whether the facts were left out because of a secret in them.
    hidden_facts: bool,
}

impl<'a> AgentReader<'a> {
    fn files(&mut self) -> Result<(), ReadError> {
        let opened = self.opened;
        for (root, found) in opened.placed(RUNTIME, layout::is_managed) {
            if !self.carrier.is_there(found) || !self.carrier.may_be_named(found) {
                continue;
            }
            if !found.is_file() {
                self.carrier.other(root, found)?;
                continue;
            }
            match layout::place_of(&found.path) {
                PathRole::Artifact => self.carrier.artifact(found)?,
                PathRole::Memory(kind) => self.memory(root, found, &kind)?,
                PathRole::Facts => self.facts(root, found)?,
                // The log of a database holds the same content as the database.
                PathRole::Raw if self.hidden_facts && is_log_of_facts(&found.path) => {
                    self.carrier.leave_out_secret(found);
                }
                PathRole::Persona(_) | PathRole::Raw => {
                    if is_unnamed_memory(&found.path) {
                        let message = "has a name that is not UTF-8: it travels, and is no record";
                        self.carrier.outcome.warn("name_not_utf8", &found.path, message);
                    }
                    self.carrier.whole_file(root, found)?;
                }
            }
        }
        Ok(())
    }

    fn memory(
        &mut self,
        root: Root<'_>,
        found: &FoundEntry,
        kind: &MemoryKind,
    ) -> Result<(), ReadError> {
        let Some(loaded) = self.carrier.memory_file(root, found)? else { return Ok(()) };
        let path = lossy(&found.path);
        let mut chunks = self.chunks.for_file(&path);
        if loaded.redacted {
            // A vector reveals something about the text it was made from, secrets included.
            chunks.iter_mut().for_each(|chunk| chunk.vector.clear());
        } else if self.chunks.is_stale(&path, &loaded.bytes) {
            // The lines in the index belong to another text.
            chunks.clear();
        }
        let Some(text) = self.carrier.text_of(found, &loaded) else { return Ok(()) };
        let file = MemoryFile {
            path: &path,
            kind,
            text,
            mtime: &loaded.mtime.clone().unwrap_or_else(times::epoch),
            chunks: &chunks,
        };
        let carrier = &mut self.carrier;
        memory::records(&file, &self.shared, &mut |record| carrier.record_of_text(record))
    }

    /// Structured facts: each is a record, and the database travels as it is, unless it holds a
    /// secret that is to be replaced.
    fn facts(&mut self, root: Root<'_>, found: &FoundEntry) -> Result<(), ReadError> {
        let path = lossy(&found.path);
        match Database::open(self.machine, &self.opened.path.join(&path)) {
            Ok(database) => {
                let fallback = found.mtime.clone().unwrap_or_else(times::epoch);
                let mut row = 0;
                let read = facts::each_fact(&database, &path, &mut |fact| {
                    let mut record = facts::fact_record(&fact, &path, &self.shared, &fallback);
                    row += 1;
                    let mut search = |text: &str| self.carrier.search_text(&path, row, text);
                    let text = search(&record.content);
                    // Columns that are not in the text are kept beside it.
                    let beside = fact.texts().filter_map(&mut search).count();
                    if text.is_some() || beside > 0 {
                        self.hidden_facts = true;
                        facts::strip(&mut record, text);
                    }
                    self.carrier.record(record)
                });
                self.carrier.outcome.warnings.extend(read?);
            }
            Err(error) => {
                let message = format!("the facts could not be read: {error}");
                self.carrier.outcome.warn("facts_unreadable", &found.path, message);
            }
        }
        if self.hidden_facts {
            self.carrier.leave_out_secret(found);
        } else {
            self.carrier.whole_file(root, found)?;
        }
        Ok(())
    }

    /// Memories of a store beside the workspace: each is a record, and the files of the store travel
    /// as they are, unless something in them must not.
    fn store(&mut self, store: &'a LanceStore, options: &ReadOptions<'_>) -> Result<(), ReadError> {
        let path = store.path.display().to_string();
        let (mut row, mut is_hidden, mut empty) = (0, false, 0_u64);
        let mut ids = HashSet::new();
        let (carrier, shared) = (&mut self.carrier, &self.shared);
        let (tally, error) = store.each_memory(options.embeddings, &mut |mut memory| {
            row += 1;
            is_hidden |= memory.redact(&mut |text| carrier.search_text(&path, row, text));
            let mut record = store.record(&memory, shared);
            // A record needs a text and an id of its own, and a store may have neither.
            if record.content.trim().is_empty() {
                empty += 1;
                return Ok(());
            }
            if !ids.insert(record.id) {
                record.id = NAMESPACES.record(&format!("{path}:{row}"), &memory.text);
                ids.insert(record.id);
            }
            carrier.record(record)
        })?;
        let outcome = &mut carrier.outcome;
        if empty > 0 {
            let message = format!("{empty} of its memories have no text, and are no records");
            outcome.warn("lancedb_empty", path.as_bytes(), message);
        }
        let memories = tally.memories;
        if let Some(error) = &error {
            let message = format!(
                "holds memories that cannot be read: {error}; {memories} of them are in the archive"
            );
            outcome.warn("lancedb_unreadable", path.as_bytes(), message);
        }
        let walked = match store.walk() {
            Ok(walked) => walked,
            Err(error) => {
                let message = format!("cannot be read, and its files do not travel: {error}");
                outcome.warn("unreadable", path.as_bytes(), message);
                outcome.left_out.push(store.left_out(LeftOutReason::Unreadable));
                return Ok(());
            }
        };
        let checked = if is_hidden {
            Err(FilesObstacle::Secret)
        } else if tally.others > 0 {
            Err(FilesObstacle::OtherAgents)
        } else {
            store.check_files(&walked.found, options.secrets)
        };
        if let Err(obstacle) = checked {
            let message = format!(
                "its files do not travel, because they {obstacle}. The {memories} memories that this \
                 agent has in it travel as records, and an import writes them to a file"
            );
            outcome.warn("lancedb_files", path.as_bytes(), message);
            outcome.left_out.push(store.left_out(obstacle.reason()));
            return Ok(());
        }
        if error.is_some() {
            outcome.left_out.push(store.left_out(LeftOutReason::NotUnderstood));
        }
        outcome.warnings.extend(walked.warnings);
        outcome.left_out.extend(walked.left_out);
        carrier.folder_beside(&store.folder, Root::Raw(lancedb::ROOT), &walked.found)
    }

    fn sessions(
        &mut self,
        agent: &FoundAgent,
        database: Option<&InstallDatabase>,
    ) -> Result<SessionCounts, ReadError> {
        let (carrier, shared) = (&mut self.carrier, &self.shared);
        let tally = sessions::sessions(agent, database, &sessions::redacted, &mut |piece| {
            carrier.record(sessions::session_record(&piece, shared))
        })?;
        carrier.outcome.warnings.extend(tally.warnings.iter().cloned());
        Ok(tally.counts)
    }
}

/// Whether a file would be a memory if its name could be written into a record.
fn is_unnamed_memory(path: &[u8]) -> bool {
    let named = String::from_utf8_lossy(path);
    named.as_bytes() != path && matches!(layout::place_of(named.as_bytes()), PathRole::Memory(_))
}

fn is_log_of_facts(path: &[u8]) -> bool {
    path.strip_prefix(FACTS.as_bytes()).is_some_and(|rest| rest.starts_with(b"-"))
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use anemone_format::{FileHead, Record, SinkError};
    use rusqlite::Connection;
    use tempfile::TempDir;

    use super::*;
    use crate::kit::database::tests::machine;
    use crate::openclaw::OPENCLAW;
    use crate::openclaw::discover::GEN_9;

    /// Keeps everything.
    #[derive(Default)]
    struct Kept {
        files: Vec<(String, Vec<u8>)>,
        records: Vec<Record>,
    }

    impl Sink for Kept {
        fn file(
            &mut self,
            head: &FileHead<'_>,
            content: &mut dyn Read,
        ) -> Result<String, SinkError> {
            let mut bytes = Vec::new();
            content.read_to_end(&mut bytes).unwrap();
            self.files.push((lossy(head.path), bytes));
            Ok(lossy(head.path))
        }

        fn symlink(&mut self, _: &FileHead<'_>, _: &[u8]) -> Result<(), SinkError> {
            Ok(())
        }

        fn folder(&mut self, _: &FileHead<'_>) -> Result<(), SinkError> {
            Ok(())
        }

        fn record(&mut self, record: &Record) -> Result<(), SinkError> {
            self.records.push(record.clone());
            Ok(())
        }
    }

    struct Home {
        folder: TempDir,
        agent: FoundAgent,
    }

    impl Home {
        fn new() -> Self {
            let folder = TempDir::new().unwrap();
            let workspace = folder.path().join("workspace");
            fs_err::create_dir_all(workspace.join("memory")).unwrap();
            let agent = FoundAgent::without_install(RUNTIME, "main".into(), workspace);
            Self { folder, agent }
        }

        fn write(&self, path: &str, content: impl AsRef<[u8]>) {
            fs_err::write(self.agent.workspace.join(path), content).unwrap();
        }

        fn read(&self, secrets: SecretPolicy) -> (Kept, Reading) {
            let options = ReadOptions {
                sessions: true,
                artifact_threshold: 1_000,
                secrets,
                ..ReadOptions::default()
            };
            let mut kept = Kept::default();
            let reading = OPENCLAW
                .read(&machine(self.folder.path()), &self.agent, &options, &mut kept)
                .unwrap();
            (kept, reading)
        }
    }

    fn codes(reading: &Reading) -> Vec<&str> {
        reading.warnings.iter().map(|warning| warning.code).collect()
    }

    #[test]
    fn a_secret_in_any_column_of_the_facts_is_found_and_does_not_travel() {
        let home = Home::new();
        let key = format!("ghp_{}", "Fake7For2Tests0123".repeat(2));
        let facts = Connection::open(home.agent.workspace.join(FACTS)).unwrap();
        facts
            .execute_batch(&format!(
                "PRAGMA journal_mode = WAL;
                 CREATE TABLE facts(id INTEGER PRIMARY KEY, entity, key, value, notes);
                 INSERT INTO facts VALUES (1, 'Ann', 'drinks', 'tea', NULL),
                   (2, 'Ann', 'forge', 'codeberg', 'the token is {key}');"
            ))
            .unwrap();
        let (kept, reading) = home.read(SecretPolicy::Report);
        // In a row, and in the bytes of the log: these hold random salts, so a line number means
        // nothing.
        let found: Vec<_> = reading.secrets.iter().map(|secret| &*secret.path).collect();
        assert_eq!(found, [FACTS, "memory/facts.db-wal"]);
        assert_eq!(reading.secrets[0].line, 2);
        assert_eq!(kept.records[0].content, "Ann — drinks: tea");

        let (kept, reading) = home.read(SecretPolicy::Redact);
        let contents: Vec<_> = kept.records.iter().map(|record| &*record.content).collect();
        assert_eq!(contents, ["Ann — drinks: tea", "Ann — forge: codeberg"]);
        let raw: Vec<_> =
            kept.records.iter().map(|record| record.raw_source_format.is_some()).collect();
        assert_eq!(raw, [true, false]);
        // The log holds the row as well, and the database may not even have it yet.
        assert_eq!(kept.files, []);
        let secret = LeftOutReason::Secret;
        let left: Vec<_> = reading
            .left_out
            .iter()
            .filter(|out| out.reason == secret)
            .map(|out| &*out.path)
            .collect();
        assert_eq!(left, [FACTS, "memory/facts.db-wal"]);
    }

    #[test]
    fn a_database_that_cannot_be_read_is_one_warning() {
        let mut home = Home::new();
        let install = home.folder.path().join(".openclaw");
        let folder = install.join("agents/main/agent");
        fs_err::create_dir_all(&folder).unwrap();
        let database = folder.join("openclaw-agent.sqlite");
        fs_err::write(&database, "no database, surely no database".repeat(50)).unwrap();
        home.agent.generation = Some(GEN_9);
        home.agent.install = Some(install);
        home.agent.database = Some(database);
        let read = home.read(SecretPolicy::Report).1;
        assert_eq!(codes(&read), ["database_unreadable", "no_memory_content"]);
    }

    #[test]
    fn a_configuration_that_cannot_be_read_is_a_warning_about_what_it_may_name() {
        let mut home = Home::new();
        let install = home.folder.path().join(".openclaw");
        fs_err::create_dir_all(&install).unwrap();
        let file = install.join("openclaw.json");
        let store = "plugins: { entries: { 'memory-lancedb': { config: { dbPath: '/srv/x' } } } }";
        fs_err::write(&file, format!("{{ {store}, }} oops")).unwrap();
        home.write("MEMORY.md", "# Memory\n");
        home.agent.install = Some(install);
        home.agent.config = Some(crate::kit::ConfigFile::new(file));
        let read = home.read(SecretPolicy::Report).1;
        assert_eq!(codes(&read), ["config_invalid"]);
        assert!(read.warnings[0].message.contains("LanceDB"), "{:?}", read.warnings);
    }

    #[cfg(unix)]
    #[test]
    fn a_memory_whose_name_cannot_be_written_is_told() {
        use std::os::unix::ffi::OsStrExt as _;
        let home = Home::new();
        home.write("MEMORY.md", "# Memory\n");
        let name = std::ffi::OsStr::from_bytes(b"memory/caf\xe9.md");
        fs_err::write(home.agent.workspace.join(name), "- tea\n").unwrap();
        let (kept, reading) = home.read(SecretPolicy::Report);
        assert_eq!(codes(&reading), ["name_not_utf8"]);
        assert_eq!((kept.files.len(), kept.records.len()), (2, 1));
    }

    #[test]
    fn what_is_not_utf8_or_too_large_travels_and_is_told() {
        let home = Home::new();
        home.write("SOUL.md", b"# Caf\xe9\n");
        home.write("AGENTS.md", "x".repeat((8 << 20) + 1));
        home.write("IDENTITY.md", "- Name: Clawdia\n");
        home.write("memory/2026-01-15.md", b"\xff\n");
        let (kept, reading) = home.read(SecretPolicy::Report);
        let of_files = reading
            .warnings
            .iter()
            .filter_map(|warning| Some((warning.code, warning.path.as_deref()?)));
        let told: Vec<_> = of_files.collect();
        assert_eq!(
            told,
            [
                ("too_large", "AGENTS.md"),
                ("not_utf8", "SOUL.md"),
                ("not_utf8", "memory/2026-01-15.md")
            ]
        );
        let sizes: Vec<_> = kept.files.iter().map(|(path, file)| (&**path, file.len())).collect();
        let day = ("memory/2026-01-15.md", 2);
        assert_eq!(sizes, [("AGENTS.md", (8 << 20) + 1), ("IDENTITY.md", 16), ("SOUL.md", 7), day]);
        let prose = reading.identity.unwrap().prose.unwrap();
        assert_eq!((prose.soul, prose.operating_instructions), (None, None));
        assert_eq!(reading.manifest.agent.name, "Clawdia");
    }
}

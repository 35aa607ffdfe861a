//! Exports, imports and moves of an agent, and what they are asked for besides.

use std::path::{Path, PathBuf};

use anemone::agent::AgentChoice;
use anemone::delta::{DeltaReport, DeltaRequest, delta};
use anemone::diff::{DiffReport, DiffRequest, diff};
use anemone::export::{ExportError, ExportReport, ExportRequest, export};
use anemone::import::{ImportError, ImportReport, ImportRequest, import};
use anemone::inspect::{InspectReport, InspectRequest, inspect};
use anemone::migrate::{Endpoint, MigrateError, MigrateReport, MigrateRequest, migrate};
use anemone::result_file::{ResultFile, ResultSealing};
use anemone::seal::{KeyKind, KeygenRequest, keygen};
use anemone::validate::{ValidateReport, ValidateRequest, validate};
use anemone_files::Existing;
use anemone_format::{Edits, Snapshot};
use anemone_runtimes::{OnConflict, SecretPolicy};
use anemone_testkit::ground::read_snapshot;
use anemone_testkit::sample;

use super::TestMachine;

/// How an export, an import or a move differs from the usual one.
#[derive(Clone, Copy, Debug)]
pub(crate) enum With<'a> {
    Agent(&'a str),
    ToAgent(&'a str),
    AllowEmpty,
    AllowSecret(&'a str),
    AllowSecrets,
    RedactSecrets,
    ArtifactThreshold(u64),
    Backend(&'a str),
    Credentials,
    DryRun,
    Force,
    Layout(&'a str),
    OnConflict(OnConflict),
    Private,
    Recipient(&'a str),
    Sessions,
    Since(&'a str),
    VaultKey(&'a str),
    Verbose,
    WriteAgentId,
}

/// Returns the path as text.
pub(crate) fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

impl TestMachine {
    /// Makes a machine with an agent in March and in April, and what is between them: `march.alf`,
    /// `april.alf` and `march-to-april.alf-delta`.
    pub(crate) fn with_sample() -> Self {
        let machine = Self::new();
        machine.write_archive("march.alf", &sample::agent());
        machine.write_archive("april.alf", &sample::agent_a_month_later());
        machine.delta("march.alf", "april.alf", "march-to-april.alf-delta");
        machine
    }

    pub(crate) fn delta(&self, base: &str, target: &str, output: &str) -> DeltaReport {
        let request = DeltaRequest {
            base: self.path(base),
            target: self.path(target),
            output: self.result(output),
        };
        self.run(|host| delta(&request, host)).unwrap()
    }

    /// Returns a file that is written as its sources are sealed, whatever is there.
    pub(crate) fn result(&self, name: &str) -> ResultFile {
        ResultFile {
            path: Some(self.path(name)),
            existing: Existing::Replace,
            sealing: ResultSealing::AsSources,
        }
    }

    /// Returns no file, for a plan.
    pub(crate) fn no_result(&self) -> ResultFile {
        ResultFile { path: None, existing: Existing::Keep, sealing: ResultSealing::AsSources }
    }

    /// Makes an age identity in a file and returns its recipient.
    pub(crate) fn identity(&self, name: &str) -> String {
        let made = self.key(KeyKind::Age, name);
        made.recipient.unwrap()
    }

    /// Makes a key for a vault in a file.
    pub(crate) fn vault_key(&self, name: &str) {
        self.key(KeyKind::Vault, name);
    }

    fn key(&self, kind: KeyKind, name: &str) -> anemone::seal::KeygenReport {
        let request = KeygenRequest { kind, output: self.path(name), existing: Existing::Keep };
        self.run(|host| keygen(&request, host)).unwrap()
    }

    /// Returns the agent in a folder.
    pub(crate) fn agent_in(&self, runtime: &str, folder: &Path) -> AgentChoice {
        AgentChoice {
            runtime: Some(runtime.to_owned()),
            workspace: Some(folder.to_owned()),
            agent: None,
        }
    }

    pub(crate) fn try_export(
        &self,
        agent: AgentChoice,
        output: &str,
        more: &[With<'_>],
    ) -> Result<ExportReport, ExportError> {
        let mut request =
            ExportRequest { output: Some(self.path(output)), ..ExportRequest::new(agent) };
        for one in more {
            match *one {
                With::Agent(alias) => request.agent.agent = Some(alias.to_owned()),
                With::AllowEmpty => request.allow_empty = true,
                With::AllowSecret(path) => request.allowed_secrets.push(path.to_owned()),
                With::AllowSecrets => request.secrets = SecretPolicy::Allow,
                With::RedactSecrets => request.secrets = SecretPolicy::Redact,
                With::ArtifactThreshold(bytes) => request.artifact_threshold = bytes,
                With::DryRun => request.dry_run = true,
                With::Force => request.existing = Existing::Replace,
                With::Private => request.private = true,
                With::Recipient(recipient) => request.recipients.push(recipient.to_owned()),
                With::Sessions => request.sessions = true,
                With::Since(archive) => request.since = Some(self.path(archive)),
                With::VaultKey(key) => request.vault_key = Some(self.path(key)),
                With::WriteAgentId => request.write_agent_id = true,
                other => panic!("{other:?} says nothing to an export"),
            }
        }
        self.run(|host| export(&request, host))
    }

    /// Imports an archive into a folder, or to where its runtime looks for the agent.
    pub(crate) fn try_import(
        &self,
        runtime: Option<&str>,
        folder: Option<&Path>,
        file: &str,
        more: &[With<'_>],
    ) -> Result<ImportReport, ImportError> {
        let request = self.import_request(runtime, folder, file, more);
        self.run(|host| import(&request, host))
    }

    /// Imports an archive to where the files of the home folder may change.
    pub(crate) fn import_at_home(
        &self,
        folder: Option<&Path>,
        file: &str,
        more: &[With<'_>],
    ) -> Result<ImportReport, ImportError> {
        import(&self.import_request(None, folder, file, more), &self.host)
    }

    fn import_request(
        &self,
        runtime: Option<&str>,
        folder: Option<&Path>,
        file: &str,
        more: &[With<'_>],
    ) -> ImportRequest {
        let mut request = ImportRequest {
            runtime: runtime.map(str::to_owned),
            workspace: folder.map(Path::to_owned),
            ..ImportRequest::new(self.path(file))
        };
        for one in more {
            match *one {
                With::Agent(alias) => request.agent = Some(alias.to_owned()),
                With::Backend(backend) => request.restore.backend = Some(backend.to_owned()),
                With::DryRun => request.dry_run = true,
                With::Layout(layout) => request.restore.layout = Some(layout.to_owned()),
                With::OnConflict(policy) => request.restore.on_conflict = policy,
                With::VaultKey(key) => request.vault_key = Some(self.path(key)),
                other => panic!("{other:?} says nothing to an import"),
            }
        }
        request
    }

    /// Moves an agent; the snapshots go into the folder `snapshots`.
    pub(crate) fn try_migrate(
        &self,
        from: Endpoint,
        to: Endpoint,
        more: &[With<'_>],
    ) -> Result<MigrateReport, MigrateError> {
        let mut request = MigrateRequest::new(from, to);
        request.snapshots = Some(self.path("snapshots"));
        for one in more {
            match *one {
                With::Agent(alias) => request.agent = Some(alias.to_owned()),
                With::ToAgent(alias) => request.to_agent = Some(alias.to_owned()),
                With::Backend(backend) => request.restore.backend = Some(backend.to_owned()),
                With::Credentials => request.credentials = true,
                With::DryRun => request.dry_run = true,
                With::Layout(layout) => request.restore.layout = Some(layout.to_owned()),
                With::OnConflict(policy) => request.restore.on_conflict = policy,
                With::Private => request.private = true,
                With::Verbose => request.verbose = true,
                other => panic!("{other:?} says nothing to a move"),
            }
        }
        // A move may write into an install in the home folder.
        migrate(&request, &self.host)
    }

    pub(crate) fn validate(&self, name: &str) -> ValidateReport {
        let request = ValidateRequest { file: self.path(name), edits: Edits::Refuse };
        self.run(|host| validate(&request, host)).unwrap()
    }

    pub(crate) fn inspect(&self, name: &str) -> InspectReport {
        let request = InspectRequest { file: self.path(name), edits: Edits::Refuse, records: None };
        self.run(|host| inspect(&request, host)).unwrap()
    }

    pub(crate) fn diff(&self, base: &str, target: &str) -> DiffReport {
        let request = DiffRequest { base: self.path(base), target: self.path(target) };
        self.run(|host| diff(&request, host)).unwrap()
    }

    /// Reads an archive without the library.
    pub(crate) fn snapshot(&self, name: &str) -> Snapshot {
        read_snapshot(self.read(name))
    }
}

/// Names a runtime and a folder of it.
pub(crate) fn endpoint(runtime: &str, folder: &Path) -> Endpoint {
    Endpoint { runtime: runtime.to_owned(), folder: Some(PathBuf::from(folder)) }
}

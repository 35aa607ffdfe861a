//! The decisions in which the `alf` tool differs from our own commands.

use std::io;
use std::path::{Path, PathBuf};

use anemone_files::if_found;
use anemone_format::{ArchiveKind, Limits, kind_of};
use anemone_runtimes::{IssueKind, SecretPolicy, Severity, Suggestion};

use super::{AlfFileError, AlfSettings};
use crate::agent::AgentChoice;
use crate::agent::FindAgentError;
use crate::check::{self, CheckReport, CheckRequest};
use crate::export::{ExportRequest, archive_name};
use crate::files::{Existing, open_plain};
use crate::sealed_header::Packaging;

/// The endings of sealed archives, whose content cannot be checked.
const SEALED_ENDINGS: [&str; 2] = [".alf", ".alf.age"];
const REMOVE_SECRETS: &str = "take them out; an export replaces each with a placeholder";

/// Why it is not known which agent a command is about.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AlfAgentError {
    /// The settings cannot be read.
    #[error(transparent)]
    Settings(#[from] AlfFileError),
    /// Neither an argument nor the settings name a runtime.
    #[error("no runtime is given")]
    NoRuntime,
    /// Neither an argument nor the settings name a workspace.
    #[error("no workspace is given")]
    NoWorkspace,
}

/// Why nothing can be exported to where it should go.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
#[non_exhaustive]
pub enum AlfExportError {
    /// The workspace is not there.
    #[error("workspace {} not found", .0.display())]
    NoWorkspace(PathBuf),
    /// The workspace is a file.
    #[error("{}: the workspace is not a folder", .0.display())]
    NotAFolder(PathBuf),
    /// The workspace cannot be examined.
    Workspace(io::Error),
    /// The output is a file of another kind.
    #[error(
        "{}: the file already exists and is not an archive; it was not overwritten",
        .0.display()
    )]
    NotAnArchive(PathBuf),
    /// The output cannot be examined.
    Output(io::Error),
}

impl AlfSettings {
    /// Returns a runtime, as given or as the settings of the home folder have it.
    pub fn runtime(given: Option<String>, home: &Path) -> Result<String, AlfAgentError> {
        match given {
            Some(runtime) => Ok(runtime),
            None => Self::read(home)?.runtime.ok_or(AlfAgentError::NoRuntime),
        }
    }

    /// Returns a runtime and a workspace, as given or as the settings of the home folder have them.
    /// The settings are not read when both are given.
    pub fn agent(
        runtime: Option<String>,
        workspace: Option<PathBuf>,
        home: &Path,
    ) -> Result<(String, PathBuf), AlfAgentError> {
        let (runtime, workspace) = match (runtime, workspace) {
            (Some(runtime), Some(workspace)) => return Ok((runtime, workspace)),
            given => given,
        };
        let settings = Self::read(home)?;
        let runtime = runtime.or(settings.runtime).ok_or(AlfAgentError::NoRuntime)?;
        let workspace = workspace.or(settings.workspace).ok_or(AlfAgentError::NoWorkspace)?;
        Ok((runtime, workspace))
    }
}

/// Checks an agent for an export of the `alf` tool, which replaces secrets instead of stopping.
pub fn check(
    request: &CheckRequest,
    host: &crate::host::Host,
) -> Result<CheckReport, FindAgentError> {
    let mut report = check::check(request, host)?;
    for issue in &mut report.issues {
        if issue.kind == IssueKind::SecretsFound {
            issue.severity = Severity::Warning;
            issue.suggestion = Suggestion::Text(REMOVE_SECRETS.to_owned());
        }
    }
    let stops = report.issues.iter().any(|issue| issue.severity == Severity::Error);
    report.ok = !stops && report.refusal.is_none();
    report.ready_to_sync = report.ok;
    Ok(report)
}

/// An export as the `alf` tool does it.
#[derive(Debug)]
pub struct AlfExport {
    /// The archive, as the user may call it.
    pub output: PathBuf,
    /// What is to be done.
    pub request: ExportRequest,
}

impl AlfExport {
    /// Plans an export of a workspace. An existing archive is overwritten, and secrets are replaced
    /// by placeholders.
    pub fn plan(
        runtime: String,
        workspace: PathBuf,
        output: Option<PathBuf>,
    ) -> Result<Self, AlfExportError> {
        check_workspace(&workspace)?;
        let output = output.unwrap_or_else(|| Path::new(".").join(archive_name(&workspace)));
        let target = real_target(&output)?;
        let agent = AgentChoice { runtime: Some(runtime), workspace: Some(workspace), agent: None };
        let request = ExportRequest {
            output: Some(target),
            existing: Existing::Replace,
            allow_empty: true,
            secrets: SecretPolicy::Redact,
            ..ExportRequest::new(agent)
        };
        Ok(Self { output, request })
    }
}

fn check_workspace(workspace: &Path) -> Result<(), AlfExportError> {
    let workspace = workspace.to_owned();
    match if_found(fs_err::metadata(&workspace)).map_err(AlfExportError::Workspace)? {
        None => Err(AlfExportError::NoWorkspace(workspace)),
        Some(there) if there.is_dir() => Ok(()),
        Some(_) => Err(AlfExportError::NotAFolder(workspace)),
    }
}

/// Returns the file behind a name, and refuses to replace a file that is not an archive: a mistyped
/// output path should not overwrite a file of the agent.
fn real_target(output: &Path) -> Result<PathBuf, AlfExportError> {
    let target = match fs_err::symlink_metadata(output) {
        Ok(there) if there.is_symlink() => {
            fs_err::canonicalize(output).map_err(AlfExportError::Output)?
        }
        _ => output.to_owned(),
    };
    let is_empty =
        !fs_err::metadata(&target).is_ok_and(|metadata| metadata.is_file() && metadata.len() > 0);
    if is_empty || is_archive(&target).map_err(AlfExportError::Output)? {
        return Ok(target);
    }
    Err(AlfExportError::NotAnArchive(output.to_owned()))
}

/// Whether a file is an archive of an agent: many other files are ZIP or age files too.
fn is_archive(path: &Path) -> io::Result<bool> {
    if Packaging::read(&mut fs_err::File::open(path)?)?.is_sealed() {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        return Ok(SEALED_ENDINGS.iter().any(|ending| name.ends_with(ending)));
    }
    let (bytes, length) = open_plain(path)?;
    Ok(kind_of(bytes, length, &Limits::default()).is_ok_and(|kind| kind == ArchiveKind::Archive))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn agent() -> AgentChoice {
        let runtime = anemone_runtimes::with_agents().next().map(|runtime| runtime.name.to_owned());
        AgentChoice { runtime, ..AgentChoice::default() }
    }

    #[test]
    fn an_argument_counts_before_the_settings_and_both_may_be_missing() {
        let home = tempfile::tempdir().unwrap();
        let agent = |runtime: Option<&str>, workspace: Option<&str>| {
            let given = (runtime.map(str::to_owned), workspace.map(PathBuf::from));
            AlfSettings::agent(given.0, given.1, home.path())
        };
        assert!(matches!(agent(None, Some("w")), Err(AlfAgentError::NoRuntime)));
        assert!(matches!(agent(Some("r"), None), Err(AlfAgentError::NoWorkspace)));
        let missing = AlfSettings::runtime(None, home.path());
        assert!(matches!(missing, Err(AlfAgentError::NoRuntime)));
        let settings = AlfSettings::path(home.path());
        fs_err::create_dir_all(settings.parent().unwrap()).unwrap();
        fs_err::write(&settings, "[defaults]\nruntime = 'x'\nworkspace = '/y'\n").unwrap();
        assert_eq!(agent(None, Some("w")).unwrap(), ("x".to_owned(), PathBuf::from("w")));
        assert_eq!(agent(Some("r"), None).unwrap(), ("r".to_owned(), PathBuf::from("/y")));
        assert_eq!(AlfSettings::runtime(None, home.path()).unwrap(), "x");
        fs_err::write(&settings, "[").unwrap();
        assert_eq!(agent(Some("r"), Some("w")).unwrap(), ("r".to_owned(), PathBuf::from("w")));
        assert!(matches!(agent(None, None), Err(AlfAgentError::Settings(_))));
    }

    #[test]
    fn a_secret_is_a_warning_and_an_empty_workspace_is_not_ready() {
        let folder = tempfile::tempdir().unwrap();
        let host = crate::testing::host(folder.path());
        let workspace = folder.path().join("workspace");
        fs_err::create_dir(&workspace).unwrap();
        let agent = AgentChoice { workspace: Some(workspace.clone()), ..agent() };
        let request = CheckRequest { agent, alf_key_is_set: false };
        assert!(!check(&request, &host).unwrap().ok);
        let token = ["ghp_", "K3xV9mQ2wE7rT5yU1iO8pA6sD4fG0hJ2kL3z"].concat();
        fs_err::write(workspace.join("MEMORY.md"), format!("# M\n\n- {token}\n")).unwrap();
        assert!(!check::check(&request, &host).unwrap().ok);
        let report = check(&request, &host).unwrap();
        assert!(report.ok && report.ready_to_sync);
        let kind = IssueKind::SecretsFound;
        let issue = report.issues.iter().find(|issue| issue.kind == kind).unwrap();
        assert_eq!(issue.severity, Severity::Warning);
    }

    #[test]
    fn only_an_archive_or_an_empty_file_is_overwritten() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, bytes: &[u8]| {
            let path = folder.path().join(name);
            fs_err::write(&path, bytes).unwrap();
            path
        };
        let plan = |output: &Path| {
            let workspace = folder.path().to_owned();
            AlfExport::plan("any".to_owned(), workspace, Some(output.to_owned()))
        };
        let sealed = b"age-encryption.org/v1\n-> X25519 x\n";
        for (name, bytes) in [("a.alf", &b""[..]), ("b.alf", sealed), ("c.alf.age", sealed)] {
            assert!(plan(&write(name, bytes)).is_ok(), "{name}");
        }
        for (name, bytes) in [("notes.md", &b"# Notes\n"[..]), ("keys.age", sealed)] {
            let path = write(name, bytes);
            let refused = plan(&path).unwrap_err();
            assert!(matches!(&refused, AlfExportError::NotAnArchive(output) if *output == path));
        }
        let new = folder.path().join("new.alf");
        let planned = plan(&new).unwrap();
        assert_eq!(planned.request.existing, Existing::Replace);
        assert_eq!((planned.request.output.as_ref(), planned.output), (Some(&new), new.clone()));
    }

    #[test]
    fn a_workspace_must_be_a_folder_and_names_the_archive() {
        let folder = tempfile::tempdir().unwrap();
        let workspace = folder.path().join("ada.w");
        let plan = || AlfExport::plan("any".to_owned(), workspace.clone(), None);
        assert!(matches!(plan(), Err(AlfExportError::NoWorkspace { .. })));
        fs_err::write(&workspace, "x").unwrap();
        assert!(matches!(plan(), Err(AlfExportError::NotAFolder { .. })));
        fs_err::remove_file(&workspace).unwrap();
        fs_err::create_dir(&workspace).unwrap();
        assert_eq!(plan().unwrap().output, Path::new("./ada.w.alf"));
    }
}

//! `alf export`

use std::path::{Path, PathBuf};

use anemone::agent::AgentChoice;
use anemone::agent::runtime_named;
use anemone::export::{ExportRequest, ExportSummary, export};
use anemone::files::{Existing, open_plain};
use anemone::sealed_header::Packaging;
use anemone_format::{ArchiveKind, Limits, kind_of};
use anemone_messages::UserError;
use anemone_runtimes::{FoundSecret, SecretPolicy};
use serde::Serialize;

use super::{Answer, ExportArgs, Stop, warn};
use crate::commands::Context;
use crate::commands::export::shown;
use crate::output::{Result, count};

/// How sealed archives are called: nobody can look into them.
const SEALED_NAMES: [&str; 2] = [".alf", ".alf.age"];

#[derive(Serialize)]
struct ExportShape<'a> {
    ok: bool,
    output: String,
    agent_name: &'a str,
    alf_version: &'a str,
    memory_records: u64,
    file_size: u64,
}

pub(super) fn run(args: ExportArgs, context: &Context<'_>) -> Result<(), Stop> {
    let (runtime, workspace) = args.agent.resolve("export", &context.environment.folders.home)?;
    runtime_named(&runtime)?;
    check_workspace(&workspace)?;
    let output = args.output.unwrap_or_else(|| usual_output(&workspace));
    let target = real_target(&output)?;
    let agent = AgentChoice { runtime: Some(runtime), workspace: Some(workspace), agent: None };
    // That tool overwrites an archive, and does not stop at secrets: marks take their place.
    let request = ExportRequest {
        output: Some(target),
        existing: Existing::Replace,
        allow_empty: true,
        secrets: SecretPolicy::Redact,
        ..ExportRequest::new(agent)
    };
    let exported = shown(export(&request, &context.host)?);
    let (mut agent_name, mut memory_records) = ("", 0);
    if let Some(summary) = &exported.summary {
        (agent_name, memory_records) = (&summary.agent_name, summary.memory_records);
        if context.printer.is_json() {
            warn(&remarks(summary));
        }
    }
    let shape = ExportShape {
        ok: true,
        output: output.display().to_string(),
        agent_name,
        alf_version: exported.alf_version,
        memory_records,
        file_size: exported.file_size.unwrap_or_default(),
    };
    Ok(context.printer.print(&Answer { shape, ours: &exported })?)
}

fn check_workspace(workspace: &Path) -> Result<()> {
    let error = match fs_err::metadata(workspace) {
        Ok(there) if there.is_dir() => return Ok(()),
        Ok(_) => {
            UserError::failure("not_a_folder", "the workspace is not a folder").about(workspace)
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            let message = format!("workspace {} not found", workspace.display());
            UserError::failure("workspace_not_found", message)
        }
        Err(error) => error.into(),
    };
    Err(error.hint(
        "give the folder that holds SOUL.md and memory/ with -w DIR; `alf check` looks for it",
    ))
}

/// Returns the name of the archive when nobody gave one.
fn usual_output(workspace: &Path) -> PathBuf {
    let workspace = fs_err::canonicalize(workspace).unwrap_or_else(|_| workspace.to_owned());
    let name = workspace.file_name().map_or_else(|| "agent".into(), ToOwned::to_owned);
    Path::new(".").join(PathBuf::from(name).with_added_extension("alf"))
}

/// Returns the file behind a name, and refuses to replace one that is no archive: a slip with `-o`
/// should not cost a file of the agent.
fn real_target(output: &Path) -> Result<PathBuf> {
    let target = match fs_err::symlink_metadata(output) {
        Ok(there) if there.is_symlink() => fs_err::canonicalize(output)?,
        _ => output.to_owned(),
    };
    if !fs_err::metadata(&target).is_ok_and(|metadata| metadata.is_file() && metadata.len() > 0) {
        return Ok(target);
    }
    if is_archive(&target)? {
        return Ok(target);
    }
    let message = "the file already exists and is not an archive; it was not overwritten";
    Err(UserError::failure("exists", message).about(output).hint("give another -o FILE"))
}

/// Whether a file is an archive of an agent: many other files are ZIP or age files too.
fn is_archive(path: &Path) -> Result<bool> {
    if Packaging::read(&mut fs_err::File::open(path)?)?.is_sealed() {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        return Ok(SEALED_NAMES.iter().any(|other| name.ends_with(other)));
    }
    let (bytes, length) = open_plain(path)?;
    Ok(kind_of(bytes, length, &Limits::default()).is_ok_and(|kind| kind == ArchiveKind::Archive))
}

/// What happened to files that do not travel as they are.
fn remarks(summary: &ExportSummary) -> Vec<String> {
    let secrets = summary.secrets.iter().map(|secret| {
        let FoundSecret { path, line, kind } = secret;
        format!("{path}:{line}: {kind}, replaced with a mark in the archive")
    });
    let left_out = summary
        .left_out
        .iter()
        .map(|item| format!("{} does not travel: {}", item.path, item.reason.as_str()));
    let warnings = summary.warnings.iter().map(|warning| match &warning.path {
        Some(path) => format!("{path}: {}", warning.message),
        None => warning.message.clone(),
    });
    let large = (summary.artifacts_referenced > 0).then(|| {
        let files = count(summary.artifacts_referenced, "large file");
        format!("{files} only listed; `anemone export --artifact-threshold BYTES` includes them")
    });
    secrets.chain(left_out).chain(warnings).chain(large).collect()
}

//! `alf import`

use anemone::import::{ImportRequest, import};
use anemone::restore::RestoreChoice;
use anemone_messages::UserError;
use anemone_runtimes::OnConflict;
use serde::Serialize;

use super::{AlfAnswer, AlfFailure, ImportArgs};
use crate::commands::Context;

#[derive(Serialize)]
struct ImportShape<'a> {
    ok: bool,
    workspace: &'a str,
    agent_name: &'a str,
    memory_records: u64,
    identity_imported: bool,
    principals_count: u64,
    credentials_count: u64,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<String>,
}

pub(super) fn run(args: ImportArgs, context: &Context<'_>) -> Result<(), AlfFailure> {
    let (runtime, workspace) = args.agent.resolve("import", &context.environment.folders.home)?;
    if fs_err::metadata(&args.file).is_err_and(|error| error.kind() == std::io::ErrorKind::NotFound)
    {
        let message = format!("{} not found", args.file.display());
        let error = UserError::failure("not_found", message);
        return Err(error.hint("give the archive that `alf export` wrote").into());
    }
    let request = ImportRequest {
        runtime: Some(runtime),
        workspace: Some(workspace),
        // That tool overwrites. So do we, but the former files are kept.
        restore: RestoreChoice::new(OnConflict::Theirs),
        ..ImportRequest::new(args.file)
    };
    let imported = import(&request, &context.host)?;
    let mut warnings = imported.warnings.clone();
    let missing = imported.not_restored.iter().map(crate::restored::missing_line);
    warnings.extend(missing.map(|line| format!("not restored: {line}")));
    if let Some(place) = &imported.stores.replaced_kept_at {
        warnings.push(format!("what was replaced is in {place}"));
    }
    let shape = ImportShape {
        ok: true,
        workspace: &imported.workspace,
        agent_name: &imported.agent_name,
        memory_records: imported.memory_records,
        identity_imported: imported.identity_imported,
        principals_count: imported.principals_count,
        credentials_count: imported.credentials_count,
        warnings,
    };
    Ok(context.printer.print(&AlfAnswer { shape, ours: &imported })?)
}

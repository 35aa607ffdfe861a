//! `alf export`

use anemone::alf::AlfExport;
use anemone::export::{ExportSummary, export};
use anemone_runtimes::FoundSecret;
use serde::Serialize;

use super::{AlfAnswer, AlfFailure, ExportArgs, warn};
use crate::commands::Context;
use crate::commands::export::shown;
use crate::output::{Result, count};

#[derive(Serialize)]
struct ExportShape<'a> {
    ok: bool,
    output: String,
    agent_name: &'a str,
    alf_version: &'a str,
    memory_records: u64,
    file_size: u64,
}

pub(super) fn run(args: ExportArgs, context: &Context<'_>) -> Result<(), AlfFailure> {
    let (runtime, workspace) = args.agent.resolve("export", &context.environment.folders.home)?;
    let AlfExport { output, request } = AlfExport::plan(runtime, workspace, args.output)?;
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
    Ok(context.printer.print(&AlfAnswer { shape, ours: &exported })?)
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

//! Exports and imports of workspaces of OpenClaw that succeed.

use std::path::Path;

use serde_json::Value;

use crate::support::transfer::With;
use crate::support::{TestMachine, json};

/// Exports a workspace, and returns the report.
#[track_caller]
pub(crate) fn export(
    machine: &TestMachine,
    workspace: &Path,
    output: &str,
    more: &[With<'_>],
) -> Value {
    let agent = machine.agent_in("openclaw", workspace);
    json(&machine.try_export(agent, output, more).unwrap())
}

/// Imports an archive into a workspace, and returns the report.
#[track_caller]
pub(crate) fn import(
    machine: &TestMachine,
    workspace: &Path,
    file: &str,
    more: &[With<'_>],
) -> Value {
    json(&machine.try_import(Some("openclaw"), Some(workspace), file, more).unwrap())
}

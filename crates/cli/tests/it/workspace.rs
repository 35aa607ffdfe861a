//! Exports and imports of workspaces that succeed.

use std::path::Path;

pub(crate) use anemone_testkit::ground::{
    Ground, Lying, assert_holds_none, assert_same_tree, fields, tree, with,
};
use serde_json::Value;

use crate::environment::TestEnvironment;

/// Runs an export that succeeds.
#[track_caller]
pub(crate) fn export(
    environment: &TestEnvironment,
    workspace: &Path,
    output: &str,
    more: &[&str],
) -> Value {
    let workspace = workspace.to_str().expect("the path is UTF-8");
    let args = ["export", "-r", "openclaw", "-w", workspace, "-o", output];
    environment.json([&args[..], more].concat())
}

/// Runs an import that succeeds.
#[track_caller]
pub(crate) fn import(
    environment: &TestEnvironment,
    workspace: &Path,
    file: &str,
    more: &[&str],
) -> Value {
    let workspace = workspace.to_str().expect("the path is UTF-8");
    environment.json([&["import", "-r", "openclaw", "-w", workspace, file][..], more].concat())
}

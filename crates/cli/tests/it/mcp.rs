//! `anemone mcp`, driven by the protocol's package for Python.
//!
//! What a client may say is tried in the library, line by line; here another implementation says
//! whether we speak its protocol.

use std::path::Path;
use std::time::Duration;

use assert_cmd::Command;

use crate::environment::{TestEnvironment, program};

/// The whole session takes less than a minute, and is to fail rather than to hang.
const PATIENCE: Duration = Duration::from_secs(600);

#[test]
fn a_client_in_python_uses_every_tool_in_both_revisions_over_stdio_and_http() {
    let Some(mut python) = python() else { return };
    let environment = TestEnvironment::new();
    for (name, text) in [
        ("openclaw.json", "{ memory: { search: { extraPaths: ['~/.openclaw/notes'] } } }"),
        ("notes/harbour.md", "# Harbour\n\nThe harbour has two piers.\n"),
        ("secret.md", "# Secret\n\nNobody offers this.\n"),
        ("workspace/MEMORY.md", "# Memory\n\nThe lighthouse stands on the cape.\n"),
        ("workspace/memory/2026-03-01.md", "# Sunday\n\nWe counted the boats.\n"),
    ] {
        environment.write_home(&format!(".openclaw/{name}"), text);
    }
    let session = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/mcp/session.py");
    python
        .arg(session)
        .arg(program())
        .arg(environment.home(".openclaw/workspace"))
        .envs(environment.variables())
        .timeout(PATIENCE)
        .assert()
        .success();
}

/// Returns Python with the package, or says aloud that it is not there. In CI it must be there.
#[expect(clippy::disallowed_methods, reason = "a test asks its own environment, once")]
#[expect(clippy::print_stderr, reason = "a test that is skipped says so")]
fn python() -> Option<Command> {
    // What is called python3 may be a script that looks into HOME for the program.
    let asked = std::process::Command::new("python3")
        .args(["-c", "import sys; from mcp import Client; print(sys.executable)"])
        .output();
    let Some(found) = asked.ok().filter(|it| it.status.success()) else {
        assert!(std::env::var_os("CI").is_none(), "python3 or its package mcp is missing");
        eprintln!("skipped: python3 has no package mcp, or one before 2.0");
        return None;
    };
    let path = String::from_utf8(found.stdout).expect("a path in UTF-8");
    let mut python = Command::new(path.trim());
    python.env_clear();
    if let Some(packages) = std::env::var_os("PYTHONPATH") {
        python.env("PYTHONPATH", packages);
    }
    Some(python)
}

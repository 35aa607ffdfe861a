//! `anemone mcp`, driven by the protocol's package for Python.
//!
//! The library's tests try the messages of a client, line by line; these tests check our protocol
//! with another implementation.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Command as Process, Stdio};
use std::time::Duration;

use anemone_testkit::skip;
use assert_cmd::Command;
use serde_json::Value;

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

#[test]
fn ctrl_c_ends_the_server_with_0_over_stdio_and_http() {
    let environment = TestEnvironment::new();
    environment.write_below("ws/MEMORY.md", "- The lighthouse stands on the cape.\n");
    for more in [&[][..], &["--http", "0"]] {
        let mut server = Process::new(program())
            .current_dir(environment.path(""))
            .env_clear()
            .envs(environment.variables())
            .args(["mcp", "-r", "openclaw", "-w", "ws"])
            .args(more)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the program starts");
        let mut input = server.stdin.take().expect("it is piped");
        let output = server.stdout.take().expect("it is piped");
        let mut line = String::new();
        if more.is_empty() {
            // It is up when it has answered.
            writeln!(input, "{INITIALIZE}").expect("it reads");
        }
        BufReader::new(output).read_line(&mut line).expect("it says something");
        let told: Value = serde_json::from_str(&line).expect("it is JSON");
        if let Some(add) = told["add"].as_str() {
            let (url, file) = (&told["url"], &told["token_file"]);
            let header = format!("Authorization: Bearer $(cat {})", file.as_str().expect("a path"));
            let command = "claude mcp add --transport http memory";
            let url = url.as_str().expect("an address");
            assert_eq!(add, format!("{command} {url} --header \"{header}\""));
        }
        let id = nix::unistd::Pid::from_raw(i32::try_from(server.id()).expect("ids are small"));
        nix::sys::signal::kill(id, nix::sys::signal::Signal::SIGINT).expect("it is ours");
        let status = server.wait().expect("it ends");
        assert_eq!(status.code(), Some(0), "{more:?}");
        drop(input);
    }
}

const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"test","version":"0"}}}"#;

/// Returns Python with the package, or says aloud that it is not there.
#[expect(clippy::disallowed_methods, reason = "a test asks its own environment, once")]
fn python() -> Option<Command> {
    // `python3` may be a script that searches HOME for the program.
    let asked = std::process::Command::new("python3")
        .args(["-c", "import sys; from mcp import Client; print(sys.executable)"])
        .output();
    let Some(found) = asked.ok().filter(|value| value.status.success()) else {
        skip("mcp", "python3 has no package mcp, or one before 2.0");
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

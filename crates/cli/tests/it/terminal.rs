//! What a person at a terminal sees.
#![cfg(unix)]

use std::io::{BufRead as _, BufReader, Read as _};
use std::os::fd::OwnedFd;
use std::process::{Command, Stdio};

use nix::pty::{OpenptyResult, openpty};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::environment::{TestEnvironment, program};

/// Runs the program with a terminal for stdout and returns what appears there.
fn run_at_terminal(
    environment: &TestEnvironment,
    variables: &[(&str, &str)],
    args: &[&str],
) -> String {
    let OpenptyResult { master, slave } = openpty(None, None).expect("a terminal can be made");
    let mut command = Command::new(program());
    command
        .current_dir(environment.path(""))
        .env_clear()
        .envs(environment.variables())
        .env("TERM", "xterm-256color")
        .envs(variables.iter().copied())
        .args(args)
        .stdin(Stdio::null())
        .stdout(slave)
        .stderr(Stdio::null());
    let mut child = command.spawn().expect("the program starts");
    // The command holds our copy of the other end; without it, reading ends with the program.
    drop(command);
    let shown = read_all(master);
    child.wait().expect("the program ends");
    shown.replace("\r\n", "\n")
}

fn read_all(master: OwnedFd) -> String {
    let mut shown = Vec::new();
    let mut buffer = [0; 4096];
    let mut master = std::fs::File::from(master);
    // On Linux, reading from a terminal that no process holds any more ends with an error.
    while let Ok(count @ 1..) = master.read(&mut buffer) {
        shown.extend_from_slice(&buffer[..count]);
    }
    String::from_utf8(shown).expect("what is printed is UTF-8")
}

#[test]
fn a_terminal_gets_text_in_colour() {
    let environment = TestEnvironment::with_demo();
    let shown = run_at_terminal(&environment, &[], &["validate", "march.alf"]);
    assert!(shown.contains("\u{1b}[32mvalid\u{1b}[0m"), "{shown:?}");
}

#[test]
fn a_terminal_gets_no_colour_with_no_color_or_when_it_is_dumb() {
    let environment = TestEnvironment::with_demo();
    for variable in [("NO_COLOR", "1"), ("TERM", "dumb")] {
        let shown = run_at_terminal(&environment, &[variable], &["validate", "march.alf"]);
        assert!(shown.contains("valid (ok)"), "{variable:?}: {shown:?}");
        assert!(!shown.contains('\u{1b}'), "{variable:?}: {shown:?}");
    }
}

#[test]
fn a_terminal_gets_json_when_asked_for_it() {
    let environment = TestEnvironment::with_demo();
    let shown = run_at_terminal(&environment, &[], &["--json", "validate", "march.alf"]);
    let document: serde_json::Value = serde_json::from_str(&shown).unwrap();
    assert_eq!(document["valid"], true);
    // Saying that JSON is wanted by default does not take the terminal's text away.
    let shown = run_at_terminal(&environment, &[("ALF_HUMAN", "0")], &["validate", "march.alf"]);
    assert!(!shown.starts_with('{'), "{shown:?}");
}

#[test]
fn wrong_usage_at_a_terminal_prints_no_json() {
    let environment = TestEnvironment::new();
    let shown = run_at_terminal(&environment, &[], &["validate"]);
    assert_eq!(shown, "");
    let shown = run_at_terminal(&environment, &[], &["--json", "validate"]);
    assert!(shown.starts_with("{\"ok\":false"), "{shown:?}");
}

#[test]
fn a_server_that_somebody_starts_at_a_terminal_says_what_it_is() {
    let environment = TestEnvironment::new();
    environment.write_below("ws/MEMORY.md", "- The lamp is green.\n");
    let OpenptyResult { master, slave } = openpty(None, None).expect("a terminal can be made");
    let mut command = Command::new(program());
    command
        .current_dir(environment.path(""))
        .env_clear()
        .envs(environment.variables())
        .args(["mcp", "-r", "openclaw", "-w", "ws"])
        .stdin(slave)
        .stdout(Stdio::null())
        .stderr(Stdio::piped());
    let mut child = command.spawn().expect("the program starts");
    drop(command);
    let mut line = String::new();
    let stderr = child.stderr.take().expect("it is piped");
    BufReader::new(stderr).read_line(&mut line).expect("it says something");
    let id = Pid::from_raw(i32::try_from(child.id()).expect("ids are small"));
    kill(id, Signal::SIGINT).expect("it is ours");
    assert!(child.wait().expect("it ends").success());
    drop(master);
    assert!(line.starts_with("serving "), "{line:?}");
    assert!(
        line.ends_with("/ws for reading on stdin; agents start this; ctrl-c ends\n"),
        "{line:?}"
    );
}

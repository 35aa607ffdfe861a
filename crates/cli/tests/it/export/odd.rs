//! Odd workspaces.

use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;
use std::time::Duration;

use anemone_testkit::skip;
use serde_json::Value;

use crate::environment::{TestEnvironment, program};
use crate::workspace::{Ground, assert_holds_none, with};

/// Runs the program as a user who may not read everything, or prints that this is impossible.
fn run_as_nobody(ground: &Ground, args: &[&str]) -> Option<Value> {
    use std::os::unix::fs::MetadataExt as _;
    let tmp = ground.path("tmp");
    fs_err::create_dir_all(&tmp).expect("it is ours");
    for path in [&ground.path(""), &tmp] {
        fs_err::set_permissions(path, std::fs::Permissions::from_mode(0o777)).expect("it is ours");
    }
    let root = fs_err::metadata("/proc/self").is_ok_and(|metadata| metadata.uid() == 0);
    let mut command = Command::new(if root { "setpriv" } else { "env" });
    if root {
        command.args(["--reuid", "65534", "--regid", "65534", "--clear-groups"]);
    }
    command.arg(program()).args(args).current_dir(&tmp);
    command.env_clear().env("PATH", "/usr/bin:/bin").env("HOME", &tmp).env("TMPDIR", &tmp);
    let output = match command.output() {
        Ok(output) => output,
        Err(error) => {
            skip("setpriv", format_args!("setpriv does not run: {error}"));
            return None;
        }
    };
    let text = String::from_utf8(output.stdout).expect("what is printed is UTF-8");
    let stderr = String::from_utf8_lossy(&output.stderr);
    if text.is_empty() && stderr.contains("setpriv") {
        skip("setpriv", stderr);
        return None;
    }
    assert_eq!(output.status.code(), Some(0), "{text}{stderr}");
    Some(serde_json::from_str(&text).expect("it is JSON"))
}

#[test]
fn an_unreadable_file_never_stops_a_backup_and_is_reported() {
    let ground = Ground::new();
    ground.small("w");
    for name in ["w/memory/secret.md", "w/closed/inside.txt"] {
        ground.write(name, "## No\n\nentry\n");
    }
    let close = |name: &str, mode: u32| {
        let permissions = std::fs::Permissions::from_mode(mode);
        fs_err::set_permissions(ground.path(name), permissions).unwrap();
    };
    close("w/memory/secret.md", 0);
    close("w/closed", 0);
    let workspace = ground.path("w").display().to_string();
    let output = ground.path("tmp/a.alf").display().to_string();
    let exported = run_as_nobody(&ground, &["export", "-w", &workspace, "-o", &output]);
    close("w/closed", 0o755);
    let Some(exported) = exported else { return };
    let left_out = &exported["left_out"];
    for path in ["memory/secret.md", "closed"] {
        assert_eq!(with(left_out, "path", path)["reason"], "unreadable");
    }
    assert_eq!(exported["memory_records"], 6);
    assert_holds_none(&ground.read("tmp/a.alf"), &["entry"]);
    close("w/closed", 0);
    let checked = run_as_nobody(&ground, &["check", "-r", "openclaw", "-w", &workspace]);
    close("w/closed", 0o755);
    let unreadable = checked.unwrap()["unreadable"].to_string();
    assert!(unreadable.contains("memory/secret.md"), "{unreadable}");
}

#[test]
fn pipes_in_an_install_are_never_opened() {
    for name in [
        "openclaw.json",
        "memory/main.sqlite",
        "agents/main/sessions/sessions.json",
        "agents/main/sessions/a.jsonl",
        "agents/main/agent/auth-profiles.json",
        "workspace/SOUL.md",
        "workspace/memory/facts.db",
    ] {
        let environment = TestEnvironment::new();
        environment.write_home(".openclaw/workspace/MEMORY.md", "## A\n");
        let path = environment.home(".openclaw").join(name);
        fs_err::create_dir_all(path.parent().unwrap()).unwrap();
        assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
        for args in [&["check", "-r", "openclaw"][..], &["export", "--dry-run"]] {
            let mut command = environment.command();
            let output = command.args(args).timeout(Duration::from_secs(10)).output().unwrap();
            assert_eq!(output.status.code(), Some(0), "{name}, {args:?}: {output:?}");
        }
    }
}

#[test]
fn an_archive_that_is_there_is_not_replaced() {
    let (environment, ground) = (TestEnvironment::new(), Ground::new());
    let workspace = ground.small("w").display().to_string();
    environment.write("a.alf", "mine");
    let failure = environment.failure(1, ["export", "-w", &workspace, "-o", "a.alf"]);
    assert_eq!(failure["code"], "exists");
    assert_eq!(environment.read("a.alf"), b"mine");
    environment.json(["export", "-w", &workspace, "-o", "a.alf", "--force"]);
    assert!(environment.read("a.alf").starts_with(b"PK"));
    environment.json(["validate", "a.alf"]);
}

#[test]
fn what_is_no_workspace_is_said() {
    let (environment, ground) = (TestEnvironment::new(), Ground::new());
    let file = ground.write("file", "text").display().to_string();
    let failure = environment.failure(1, ["export", "-w", &file, "-o", "a.alf"]);
    assert_eq!(failure["code"], "not_a_folder");
    assert_eq!(failure["error"], format!("{file} is a file, not a folder"));
    let gone = ground.path("gone").display().to_string();
    let failure = environment.failure(1, ["export", "-w", &gone, "-o", "a.alf"]);
    assert_eq!(failure["code"], "not_found");
    assert_eq!(failure["error"], format!("there is no folder {gone}"));
    ground.link("gone", "dangling");
    let dangling = ground.path("dangling").display().to_string();
    environment.failure(1, ["export", "-w", &dangling, "-o", "a.alf"]);
}

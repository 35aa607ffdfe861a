//! Odd workspaces.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anemone_format::{Node, Record};
use anemone_testkit::skip;
use anemone_testkit::workspace::Workspace;
use serde_json::{Value, json};

use super::edge;
use crate::environment::{TestEnvironment, program};
use crate::workspace::{
    Ground, assert_holds_none, export, import, records_of, snapshot, tree, with,
};
use anemone_testkit::zip::unzip;

#[test]
fn a_file_that_is_not_utf8_travels_as_it_is() {
    let (environment, ground) = (TestEnvironment::new(), Ground::new());
    let bytes = b"## Caf\xe9\n\nd\xe9j\xe0 vu\n";
    ground.write("w/memory/latin1.md", bytes);
    ground.write("w/SOUL.md", b"# \xff\n");
    ground.write("w/memory/good.md", "## Good\n");
    let exported = export(&environment, &ground.path("w"), "a.alf", &[]);
    let warnings = &exported["warnings"];
    assert_eq!(with(warnings, "path", "memory/latin1.md")["code"], "not_utf8");
    assert_eq!(with(warnings, "path", "SOUL.md")["code"], "not_utf8");
    let snapshot = snapshot(&environment, "a.alf");
    let file = snapshot.files.iter().find(|file| file.path == b"memory/latin1.md").unwrap();
    assert_eq!(file.node, Node::File(bytes.to_vec()));
    assert_eq!(snapshot.records.len(), 1);
}

/// Runs the program as somebody who may not read everything, or says aloud that it cannot.
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
fn pipes_are_listed_and_never_opened() {
    let (environment, ground) = (TestEnvironment::new(), Ground::new());
    ground.small("w");
    for name in ["w/memory/pipe.md", "w/MEMORY.pipe"] {
        let made = Command::new("mkfifo").arg(ground.path(name)).status().unwrap();
        assert!(made.success());
    }
    let exported = export(&environment, &ground.path("w"), "a.alf", &[]);
    for path in ["memory/pipe.md", "MEMORY.pipe"] {
        assert_eq!(with(&exported["left_out"], "path", path)["reason"], "special");
    }
    let workspace = ground.path("w").display().to_string();
    environment.json(["check", "-r", "openclaw", "-w", &workspace]);
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
        for args in
            [&["agents"][..], &["check", "-r", "openclaw"], &["export", "--dry-run", "--sessions"]]
        {
            let mut command = environment.command();
            let output = command.args(args).timeout(Duration::from_secs(10)).output().unwrap();
            assert_eq!(output.status.code(), Some(0), "{name}, {args:?}: {output:?}");
        }
    }
}

#[test]
fn patterns_that_cannot_be_read_stop_an_export() {
    let (environment, ground) = (TestEnvironment::new(), Ground::new());
    ground.small("w");
    ground.write("patterns", "private/\n");
    ground.link("../patterns", "w/.alfignore");
    let workspace = ground.path("w").display().to_string();
    let failed = environment.run(["export", "-w", &workspace, "-o", "a.alf"]);
    assert_eq!(failed.code, 1);
    assert!(failed.stdout.contains(r#""code":"alfignore""#), "{}", failed.stdout);
    assert!(!environment.exists("a.alf"));
    fs_err::remove_file(ground.path("w/.alfignore")).unwrap();
    let made = Command::new("mkfifo").arg(ground.path("w/.alfignore")).status().unwrap();
    assert!(made.success());
    let mut command = environment.command();
    command.args(["export", "-n", "-w", &workspace]).timeout(Duration::from_secs(10));
    assert_eq!(command.output().unwrap().status.code(), Some(1));
}

#[test]
fn sockets_are_listed_and_never_opened() {
    let (environment, ground) = (TestEnvironment::new(), Ground::new());
    ground.small("w");
    let _socket = std::os::unix::net::UnixListener::bind(ground.path("w/socket")).unwrap();
    let exported = export(&environment, &ground.path("w"), "a.alf", &[]);
    assert_eq!(with(&exported["left_out"], "path", "socket")["reason"], "special");
}

#[test]
fn nothing_outside_of_the_workspace_is_read_through_a_link() {
    let (environment, ground) = edge();
    ground.link(ground.path("outside-secret.md"), "w/MEMORY-link.md");
    ground.link("..", "w/memory/up");
    let exported = export(&environment, &ground.path("w"), "a.alf", &["--allow-secrets"]);
    assert_holds_none(&environment.read("a.alf"), &["OUTSIDE-WORKSPACE-SECRET"]);
    let warned = with(&exported["warnings"], "path", "memory/link-outside.md");
    assert_eq!(warned["code"], "link_outside");
    let snapshot = snapshot(&environment, "a.alf");
    let node = |path: &[u8]| &snapshot.files.iter().find(|file| file.path == path).unwrap().node;
    assert_eq!(node(b"memory/link-inside.md"), &Node::Symlink(b"project-atlas.md".to_vec()));
    assert_eq!(node(b"memory/dangling.md"), &Node::Symlink(b"nowhere.md".to_vec()));
    assert_eq!(node(b"memory/link-dir"), &Node::Symlink(b"topics".to_vec()));
    let of_link = |record: &Record| record.source.origin_file.as_deref().unwrap().contains("link");
    assert!(!snapshot.records.iter().any(of_link), "a link has no records of its own");
}

#[test]
fn files_of_the_agent_that_are_links_to_outside_are_not_read() {
    let (environment, ground) = (TestEnvironment::new(), Ground::new());
    ground.write("out/e.md", "## E\n\nELSEWHERE\n");
    ground.link("../out", "w/memory");
    for name in ["SOUL.md", "USER.md", "MEMORY.md"] {
        ground.link("../out/e.md", &format!("w/{name}"));
    }
    let exported = export(&environment, &ground.path("w"), "a.alf", &["--allow-empty"]);
    assert_holds_none(&environment.read("a.alf"), &["ELSEWHERE"]);
    assert_eq!(exported["memory_records"], 0);
    for name in ["memory", "MEMORY.md", "SOUL.md"] {
        assert_eq!(with(&exported["warnings"], "path", name)["code"], "link_outside");
    }
    let snapshot = snapshot(&environment, "a.alf");
    assert!(snapshot.files.iter().all(|file| matches!(file.node, Node::Symlink(_))));
}

#[test]
fn a_memory_folder_that_is_a_link_within_the_workspace_is_said() {
    let (environment, ground) = (TestEnvironment::new(), Ground::new());
    ground.write("w/real/e.md", "## E\n\ntext\n");
    ground.link("real", "w/memory");
    let exported = export(&environment, &ground.path("w"), "a.alf", &["--allow-empty"]);
    let warned = with(&exported["warnings"], "path", "memory");
    assert!(warned["code"].as_str().unwrap().contains("link"), "{exported}");
    let snapshot = snapshot(&environment, "a.alf");
    assert!(
        snapshot.files.iter().any(|file| file.path == b"real/e.md"),
        "what it leads to travels"
    );
}

#[test]
fn patterns_keep_files_out() {
    let (environment, ground) = (TestEnvironment::new(), Ground::new());
    ground.write("w/.alfignore", "# mine\n*.log\n!keep.log\n[z-a\nsub/\n/top.txt\n\n");
    for name in ["a.log", "keep.log", "sub/f.md", "memory/sub/g.md", "top.txt", "x/top.txt"] {
        ground.write(format!("w/{name}"), "## text\n");
    }
    let exported = export(&environment, &ground.path("w"), "a.alf", &["--allow-empty"]);
    assert_eq!(exported["excluded_by_alfignore"], json!(["a.log", "memory/sub", "sub", "top.txt"]));
    assert_eq!(with(&exported["left_out"], "path", "sub")["reason"], "ignored");
    let warned = with(&exported["warnings"], "code", "alfignore");
    assert!(warned["message"].as_str().unwrap().contains("line 4"), "{warned}");
    let snapshot = snapshot(&environment, "a.alf");
    let mut files: Vec<String> = snapshot
        .files
        .iter()
        .filter(|file| file.node != Node::Folder)
        .map(|file| String::from_utf8(file.path.clone()).unwrap())
        .collect();
    files.sort();
    assert_eq!(files, [".alfignore", "keep.log", "x/top.txt"]);
    assert!(snapshot.records.is_empty());
}

#[test]
fn an_archive_within_the_workspace_does_not_hold_itself() {
    let (environment, ground) = (TestEnvironment::new(), Ground::new());
    let workspace = ground.small("w");
    let output = ground.path("w/out.alf").display().to_string();
    export(&environment, &workspace, &output, &[]);
    let first = ground.read("w/out.alf");
    export(&environment, &workspace, &output, &["--force"]);
    let second = ground.read("w/out.alf");
    for archive in [&first, &second] {
        assert!(
            unzip(archive).keys().all(|key| !key.contains("out.alf") && !key.contains(".anemone"))
        );
    }
    assert!(first == second, "the archive that was there is no part of the agent");
    let names: Vec<_> = tree(&workspace).into_keys().collect();
    assert!(names.iter().all(|name| !name.to_str().unwrap().contains(".anemone")), "{names:?}");
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

#[test]
fn an_empty_workspace_is_a_workspace() {
    let (environment, ground) = (TestEnvironment::new(), Ground::new());
    fs_err::create_dir(ground.path("w")).unwrap();
    let exported = export(&environment, &ground.path("w"), "a.alf", &["--allow-empty"]);
    assert_eq!((&exported["memory_records"], &exported["files_count"]), (&json!(0), &json!(0)));
    environment.json(["validate", "a.alf"]);
    import(&environment, &ground.path("i"), "a.alf", &[]);
    let names: Vec<_> = tree(&ground.path("i")).into_keys().collect();
    assert_eq!(names, [Path::new(".alf-agent-id")]);
}

#[test]
fn a_workspace_may_be_a_link() {
    let (environment, ground) = (TestEnvironment::new(), Ground::new());
    let workspace = ground.small("w");
    ground.link("w", "link");
    export(&environment, &workspace, "a.alf", &[]);
    export(&environment, &ground.path("link"), "b.alf", &[]);
    assert!(environment.read("a.alf") == environment.read("b.alf"));
}

#[test]
fn odd_names_travel_there_and_back() {
    let (environment, ground) = (TestEnvironment::new(), Ground::new());
    let names: [&[u8]; 9] = [
        b"memory/new\nline.md",
        b"memory/back\\slash.md",
        b"memory/bad\xff.md",
        b"bad\xfe\xff",
        b"memory/ leading and trailing .md",
        b"memory/-dash.md",
        b"CON",
        b"a:b?*\"<>|",
        b"memory/\xcc\x88combining.md",
    ];
    for name in names {
        ground.write(Path::new("w").join(OsStr::from_bytes(name)), "## A\n\ntext\n");
    }
    export(&environment, &ground.path("w"), "a.alf", &[]);
    let snapshot = snapshot(&environment, "a.alf");
    for name in names {
        assert!(snapshot.files.iter().any(|file| file.path == name), "{}", name.escape_ascii());
    }
    environment.json(["validate", "a.alf"]);
    import(&environment, &ground.path("i"), "a.alf", &[]);
    crate::workspace::assert_same_tree(
        &ground.path("w"),
        &ground.path("i"),
        &[],
        &[".alf-agent-id"],
    );
}

#[test]
fn folders_may_be_nested_as_deep_as_anybody_likes() {
    let (environment, ground) = (TestEnvironment::new(), Ground::new());
    ground.write(format!("w/{}f.txt", "d/".repeat(300)), "deep");
    ground.write("w/MEMORY.md", "## Top\n");
    let exported = export(&environment, &ground.path("w"), "a.alf", &[]);
    let snapshot = snapshot(&environment, "a.alf");
    let travels = snapshot.files.iter().any(|file| file.path.ends_with(b"/f.txt"));
    let listed = exported["left_out"].as_array().unwrap().iter().any(|array| array["files"] == 1);
    assert!(travels || listed, "it travels or is listed: {exported}");
    // What we write, we take back.
    environment.json(["validate", "a.alf"]);
    import(&environment, &ground.path("i"), "a.alf", &[]);
    assert_eq!(ground.read("i/MEMORY.md"), b"## Top\n");
}

#[test]
fn nasty_files_do_not_stop_an_export() {
    let (environment, ground) = (TestEnvironment::new(), Ground::new());
    let workspace = ground.generate("w", &Workspace::nasty().days(2));
    let exported = export(&environment, &workspace, "a.alf", &[]);
    assert_eq!(with(&exported["warnings"], "path", "memory/latin1.md")["code"], "not_utf8");
    let snapshot = snapshot(&environment, "a.alf");
    let huge = records_of(&snapshot, "memory/hugeline.md");
    assert_eq!(huge.iter().map(|huge| huge.content.len()).sum::<usize>(), 9 + (32 << 20));
    let file = snapshot.files.iter().find(|file| file.path == b"memory/hugeline.md").unwrap();
    let Node::File(content) = &file.node else { panic!() };
    assert_eq!(content.len(), 9 + (32 << 20));
}

//! Odd workspaces.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::process::Command;

use anemone::agent::{AgentChoice, FindAgentError};
use anemone::agents::{AgentsRequest, agents};
use anemone::export::ExportError;
use anemone_format::{Node, Record};
use anemone_runtimes::ReadError;
use anemone_testkit::ground::{
    Ground, assert_holds_none, assert_same_tree, records_of, tree, with,
};
use anemone_testkit::workspace::Workspace;
use anemone_testkit::zip::unzip;
use serde_json::json;

use super::{edge, try_export};
use crate::support::TestMachine;
use crate::support::transfer::{With, text};
use crate::workspace::{export, import};

#[test]
fn a_file_that_is_not_utf8_travels_as_it_is() {
    let (machine, ground) = (TestMachine::new(), Ground::new());
    let bytes = b"## Caf\xe9\n\nd\xe9j\xe0 vu\n";
    ground.write("w/memory/latin1.md", bytes);
    ground.write("w/SOUL.md", b"# \xff\n");
    ground.write("w/memory/good.md", "## Good\n");
    let exported = export(&machine, &ground.path("w"), "a.alf", &[]);
    let warnings = &exported["warnings"];
    assert_eq!(with(warnings, "path", "memory/latin1.md")["code"], "not_utf8");
    assert_eq!(with(warnings, "path", "SOUL.md")["code"], "not_utf8");
    let snapshot = machine.snapshot("a.alf");
    let file = snapshot.files.iter().find(|file| file.path == b"memory/latin1.md").unwrap();
    assert_eq!(file.node, Node::File(bytes.to_vec()));
    assert_eq!(snapshot.records.len(), 1);
}

#[test]
fn pipes_are_listed_and_never_opened() {
    let (machine, ground) = (TestMachine::new(), Ground::new());
    ground.small("w");
    for name in ["w/memory/pipe.md", "w/MEMORY.pipe"] {
        let made = Command::new("mkfifo").arg(ground.path(name)).status().unwrap();
        assert!(made.success());
    }
    let exported = export(&machine, &ground.path("w"), "a.alf", &[]);
    for path in ["memory/pipe.md", "MEMORY.pipe"] {
        assert_eq!(with(&exported["left_out"], "path", path)["reason"], "special");
    }
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
        let machine = TestMachine::new();
        machine.write_home(".openclaw/workspace/MEMORY.md", "## A\n");
        let path = machine.home(".openclaw").join(name);
        fs_err::create_dir_all(path.parent().unwrap()).unwrap();
        assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
        // Opening one would wait for ever.
        let request = AgentsRequest::default();
        machine.run(|host| agents(&request, host)).unwrap();
        let more = [With::DryRun, With::Sessions];
        machine.try_export(AgentChoice::default(), "a.alf", &more).unwrap();
    }
}

#[test]
fn patterns_that_cannot_be_read_stop_an_export() {
    let (machine, ground) = (TestMachine::new(), Ground::new());
    ground.small("w");
    ground.write("patterns", "private/\n");
    ground.link("../patterns", "w/.alfignore");
    let refused = |more: &[With<'_>]| {
        let error = try_export(&machine, &ground.path("w"), more).unwrap_err();
        let is_it = matches!(error, ExportError::Read(ReadError::IgnoreFile { .. }));
        assert!(is_it, "{error:?}");
    };
    refused(&[]);
    assert!(!machine.exists("a.alf"));
    fs_err::remove_file(ground.path("w/.alfignore")).unwrap();
    let made = Command::new("mkfifo").arg(ground.path("w/.alfignore")).status().unwrap();
    assert!(made.success());
    refused(&[With::DryRun]);
}

#[test]
fn sockets_are_listed_and_never_opened() {
    let (machine, ground) = (TestMachine::new(), Ground::new());
    ground.small("w");
    let _socket = std::os::unix::net::UnixListener::bind(ground.path("w/socket")).unwrap();
    let exported = export(&machine, &ground.path("w"), "a.alf", &[]);
    assert_eq!(with(&exported["left_out"], "path", "socket")["reason"], "special");
}

#[test]
fn nothing_outside_of_the_workspace_is_read_through_a_link() {
    let (machine, ground) = edge();
    ground.link(ground.path("outside-secret.md"), "w/MEMORY-link.md");
    ground.link("..", "w/memory/up");
    let exported = export(&machine, &ground.path("w"), "a.alf", &[With::AllowSecrets]);
    assert_holds_none(&machine.read("a.alf"), &["OUTSIDE-WORKSPACE-SECRET"]);
    let warned = with(&exported["warnings"], "path", "memory/link-outside.md");
    assert_eq!(warned["code"], "link_outside");
    let snapshot = machine.snapshot("a.alf");
    let node = |path: &[u8]| &snapshot.files.iter().find(|file| file.path == path).unwrap().node;
    assert_eq!(node(b"memory/link-inside.md"), &Node::Symlink(b"project-atlas.md".to_vec()));
    assert_eq!(node(b"memory/dangling.md"), &Node::Symlink(b"nowhere.md".to_vec()));
    assert_eq!(node(b"memory/link-dir"), &Node::Symlink(b"topics".to_vec()));
    let of_link = |record: &Record| record.source.origin_file.as_deref().unwrap().contains("link");
    assert!(!snapshot.records.iter().any(of_link), "a link has no records of its own");
}

#[test]
fn files_of_the_agent_that_are_links_to_outside_are_not_read() {
    let (machine, ground) = (TestMachine::new(), Ground::new());
    ground.write("out/e.md", "## E\n\nELSEWHERE\n");
    ground.link("../out", "w/memory");
    for name in ["SOUL.md", "USER.md", "MEMORY.md"] {
        ground.link("../out/e.md", &format!("w/{name}"));
    }
    let exported = export(&machine, &ground.path("w"), "a.alf", &[With::AllowEmpty]);
    assert_holds_none(&machine.read("a.alf"), &["ELSEWHERE"]);
    assert_eq!(exported["memory_records"], 0);
    for name in ["memory", "MEMORY.md", "SOUL.md"] {
        assert_eq!(with(&exported["warnings"], "path", name)["code"], "link_outside");
    }
    let snapshot = machine.snapshot("a.alf");
    assert!(snapshot.files.iter().all(|file| matches!(file.node, Node::Symlink(_))));
}

#[test]
fn a_memory_folder_that_is_a_link_within_the_workspace_is_said() {
    let (machine, ground) = (TestMachine::new(), Ground::new());
    ground.write("w/real/e.md", "## E\n\ntext\n");
    ground.link("real", "w/memory");
    let exported = export(&machine, &ground.path("w"), "a.alf", &[With::AllowEmpty]);
    let warned = with(&exported["warnings"], "path", "memory");
    assert!(warned["code"].as_str().unwrap().contains("link"), "{exported}");
    let snapshot = machine.snapshot("a.alf");
    assert!(
        snapshot.files.iter().any(|file| file.path == b"real/e.md"),
        "what it leads to travels"
    );
}

#[test]
fn patterns_keep_files_out() {
    let (machine, ground) = (TestMachine::new(), Ground::new());
    ground.write("w/.alfignore", "# mine\n*.log\n!keep.log\n[z-a\nsub/\n/top.txt\n\n");
    for name in ["a.log", "keep.log", "sub/f.md", "memory/sub/g.md", "top.txt", "x/top.txt"] {
        ground.write(format!("w/{name}"), "## text\n");
    }
    let exported = export(&machine, &ground.path("w"), "a.alf", &[With::AllowEmpty]);
    assert_eq!(exported["excluded_by_alfignore"], json!(["a.log", "memory/sub", "sub", "top.txt"]));
    assert_eq!(with(&exported["left_out"], "path", "sub")["reason"], "ignored");
    let warned = with(&exported["warnings"], "code", "alfignore");
    assert!(warned["message"].as_str().unwrap().contains("line 4"), "{warned}");
    let snapshot = machine.snapshot("a.alf");
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
    let (machine, ground) = (TestMachine::new(), Ground::new());
    let workspace = ground.small("w");
    let output = ground.path("w/out.alf");
    let output = text(&output);
    export(&machine, &workspace, output, &[]);
    let first = ground.read("w/out.alf");
    export(&machine, &workspace, output, &[With::Force]);
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
fn an_existing_archive_is_not_overwritten() {
    let (machine, ground) = (TestMachine::new(), Ground::new());
    let workspace = ground.small("w");
    machine.write("a.alf", "mine");
    let error = try_export(&machine, &workspace, &[]).unwrap_err();
    assert!(matches!(error, ExportError::File(_)), "{error:?}");
    assert_eq!(machine.read("a.alf"), b"mine");
    try_export(&machine, &workspace, &[With::Force]).unwrap();
    assert!(machine.read("a.alf").starts_with(b"PK"));
    assert!(machine.validate("a.alf").valid);
}

#[test]
fn a_file_or_a_missing_folder_is_no_workspace() {
    let (machine, ground) = (TestMachine::new(), Ground::new());
    let refused = |path: &Path| match try_export(&machine, path, &[]) {
        Err(ExportError::Agent(error)) => error,
        other => panic!("{other:?}"),
    };
    let error = refused(&ground.write("file", "text"));
    assert!(matches!(error, FindAgentError::NotAFolder { .. }), "{error:?}");
    let error = refused(&ground.path("gone"));
    assert!(matches!(error, FindAgentError::NotFound(_)), "{error:?}");
    ground.link("gone", "dangling");
    refused(&ground.path("dangling"));
}

#[test]
fn an_empty_workspace_is_a_workspace() {
    let (machine, ground) = (TestMachine::new(), Ground::new());
    fs_err::create_dir(ground.path("w")).unwrap();
    let exported = export(&machine, &ground.path("w"), "a.alf", &[With::AllowEmpty]);
    assert_eq!((&exported["memory_records"], &exported["files_count"]), (&json!(0), &json!(0)));
    assert!(machine.validate("a.alf").valid);
    import(&machine, &ground.path("i"), "a.alf", &[]);
    let names: Vec<_> = tree(&ground.path("i")).into_keys().collect();
    assert_eq!(names, [Path::new(".alf-agent-id")]);
}

#[test]
fn a_workspace_may_be_a_link() {
    let (machine, ground) = (TestMachine::new(), Ground::new());
    let workspace = ground.small("w");
    ground.link("w", "link");
    export(&machine, &workspace, "a.alf", &[]);
    export(&machine, &ground.path("link"), "b.alf", &[]);
    assert!(machine.read("a.alf") == machine.read("b.alf"));
}

#[test]
fn odd_names_travel_there_and_back() {
    let (machine, ground) = (TestMachine::new(), Ground::new());
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
    export(&machine, &ground.path("w"), "a.alf", &[]);
    let snapshot = machine.snapshot("a.alf");
    for name in names {
        assert!(snapshot.files.iter().any(|file| file.path == name), "{}", name.escape_ascii());
    }
    assert!(machine.validate("a.alf").valid);
    import(&machine, &ground.path("i"), "a.alf", &[]);
    assert_same_tree(&ground.path("w"), &ground.path("i"), &[], &[".alf-agent-id"]);
}

#[test]
fn folders_may_be_nested_as_deep_as_anybody_likes() {
    let (machine, ground) = (TestMachine::new(), Ground::new());
    ground.write(format!("w/{}f.txt", "d/".repeat(300)), "deep");
    ground.write("w/MEMORY.md", "## Top\n");
    let exported = export(&machine, &ground.path("w"), "a.alf", &[]);
    let snapshot = machine.snapshot("a.alf");
    let travels = snapshot.files.iter().any(|file| file.path.ends_with(b"/f.txt"));
    let listed = exported["left_out"].as_array().unwrap().iter().any(|array| array["files"] == 1);
    assert!(travels || listed, "it travels or is listed: {exported}");
    // What we write, we take back.
    assert!(machine.validate("a.alf").valid);
    import(&machine, &ground.path("i"), "a.alf", &[]);
    assert_eq!(ground.read("i/MEMORY.md"), b"## Top\n");
}

#[test]
fn nasty_files_do_not_stop_an_export() {
    let (machine, ground) = (TestMachine::new(), Ground::new());
    let workspace = ground.generate("w", &Workspace::nasty().days(2));
    let exported = export(&machine, &workspace, "a.alf", &[]);
    assert_eq!(with(&exported["warnings"], "path", "memory/latin1.md")["code"], "not_utf8");
    let snapshot = machine.snapshot("a.alf");
    let huge = records_of(&snapshot, "memory/hugeline.md");
    assert_eq!(huge.iter().map(|huge| huge.content.len()).sum::<usize>(), 9 + (32 << 20));
    let file = snapshot.files.iter().find(|file| file.path == b"memory/hugeline.md").unwrap();
    let Node::File(content) = &file.node else { panic!() };
    assert_eq!(content.len(), 9 + (32 << 20));
}

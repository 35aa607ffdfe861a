//! `anemone import`

#![expect(clippy::unwrap_used, reason = "what does not hold in a test may panic")]

use std::collections::BTreeMap;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use anemone_format::{File, FileRoot, Node, Snapshot};
use serde_json::{Value, json};

use crate::environment::{TestEnvironment, program, sample};

const INTO_W: [&str; 5] = ["import", "-r", "openclaw", "-w", "w"];

fn with<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [&INTO_W[..], more].concat()
}

/// The objects by their paths: kind, mode, time, and content or target.
type Tree = BTreeMap<PathBuf, (char, u32, (i64, i64), Vec<u8>)>;

fn tree_at(root: &Path) -> Tree {
    let mut tree = Tree::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        let Ok(entries) = fs_err::read_dir(&folder) else { continue };
        for entry in entries {
            let path = entry.unwrap().path();
            let metadata = fs_err::symlink_metadata(&path).unwrap();
            let mode = metadata.permissions().mode() & 0o7777;
            let (kind, content) = if metadata.is_dir() {
                folders.push(path.clone());
                ('d', Vec::new())
            } else if metadata.is_symlink() {
                ('l', fs_err::read_link(&path).unwrap().into_os_string().into_encoded_bytes())
            } else {
                ('f', fs_err::read(&path).unwrap())
            };
            let mtime = (metadata.mtime(), metadata.mtime_nsec());
            tree.insert(path.strip_prefix(root).unwrap().to_owned(), (kind, mode, mtime, content));
        }
    }
    tree
}

/// Checks that a workspace holds every file of a snapshot, as the snapshot says.
fn assert_holds(workspace: &Path, snapshot: &Snapshot) {
    let tree = tree_at(workspace);
    for file in &snapshot.files {
        let path = String::from_utf8(file.path.clone()).unwrap();
        let (kind, mode, mtime, content) = &tree[Path::new(&path)];
        match &file.node {
            Node::File(expected) => assert_eq!((kind, content), (&'f', expected), "{path}"),
            Node::Symlink(expected) => assert_eq!((kind, content), (&'l', expected), "{path}"),
            Node::Folder => assert_eq!(kind, &'d', "{path}"),
        }
        assert_eq!(Some(*mode), file.mode, "{path}");
        let instant = file.mtime.as_ref().unwrap().instant();
        let expected = (instant.as_second(), i64::from(instant.subsec_nanosecond()));
        assert_eq!(*mtime, expected, "{path}");
    }
    let id = &tree[Path::new(".alf-agent-id")];
    assert_eq!(id.3, b"9e373c1e-cab7-5eea-90c3-8f3d09ac5755");
}

#[test]
fn the_sample_comes_back_as_it_was() {
    for prepare in ["absent", "empty", "deep", "linked", "other files"] {
        let environment = TestEnvironment::with_demo();
        let workspace = match prepare {
            "deep" => "a/b/w",
            _ => "w",
        };
        match prepare {
            "empty" => fs_err::create_dir(environment.path("w")).unwrap(),
            "linked" => {
                fs_err::create_dir(environment.path("elsewhere")).unwrap();
                std::os::unix::fs::symlink("elsewhere", environment.path("w")).unwrap();
            }
            "other files" => {
                fs_err::create_dir_all(environment.path("w/.git")).unwrap();
                environment.write("w/.git/HEAD", "ref");
                environment.write("w/notes.txt", "mine");
            }
            _ => {}
        }
        let result = environment.json(["import", "-r", "openclaw", "-w", workspace, "march.alf"]);
        assert_holds(&environment.path(workspace), &sample::agent());
        assert_eq!(result["workspace"], workspace, "{prepare}");
        assert_eq!(result["agent_name"], "Clawdia");
        assert_eq!(result["memory_records"], 25);
        assert_eq!(result["identity_imported"], true);
        assert_eq!(
            (&result["principals_count"], &result["credentials_count"]),
            (&json!(1), &json!(2))
        );
        assert_eq!((&result["files_created"], &result["files_same"]), (&json!(20), &json!(0)));
        assert_eq!(result["warnings"], json!([]));
        assert_eq!(result["replaced_kept_at"], Value::Null);
        assert!(result.get("plan").is_none());
        let whats: Vec<&str> = result["not_restored"]
            .as_array()
            .unwrap()
            .iter()
            .map(|array| array["what"].as_str().unwrap())
            .collect();
        assert_eq!(whats, ["capability", "artifact", "credential", "credential"]);
        match prepare {
            "linked" => assert!(environment.path("w").is_symlink()),
            "other files" => {
                assert_eq!(environment.read("w/.git/HEAD"), b"ref");
                assert_eq!(environment.read("w/notes.txt"), b"mine");
            }
            _ => {}
        }
    }
}

#[test]
fn a_second_import_finds_everything_there() {
    let environment = TestEnvironment::with_demo();
    environment.json(with(&["march.alf"]));
    let before = tree_at(&environment.path("w"));
    let again = environment.json(with(&["march.alf"]));
    assert_eq!((&again["files_created"], &again["files_same"]), (&json!(0), &json!(20)));
    assert!(tree_at(&environment.path("w")) == before);
}

/// Makes a folder with the sample of March in `w`, with one file of its own.
fn march() -> TestEnvironment {
    let environment = TestEnvironment::with_demo();
    environment.json(with(&["march.alf"]));
    environment.write("w/mine.md", "mine");
    environment
}

/// What April changes of March.
const CHANGED: [&str; 5] = [
    "MEMORY.md",
    "SOUL.md",
    "memory/active-context.md",
    "memory/latest",
    "memory/project-aquarium.md",
];

#[test]
fn a_conflict_stops_everything_and_is_listed() {
    let environment = march();
    let before = tree_at(&environment.path("w"));
    for more in [&["april.alf"][..], &["april.alf", "--on-conflict", "stop"], &["april.alf", "-n"]]
    {
        let failure = environment.failure(3, with(more));
        assert_eq!(failure["code"], "conflict");
        assert!(failure["hint"].as_str().unwrap().contains("--on-conflict"));
        let paths: Vec<&str> = failure["conflicts"]
            .as_array()
            .unwrap()
            .iter()
            .map(|array| array["path"].as_str().unwrap())
            .collect();
        assert_eq!(paths, CHANGED);
        assert_eq!(failure.get("plan").is_some(), more.contains(&"-n"));
        assert!(tree_at(&environment.path("w")) == before);
    }
    let text = environment.human_failure(3, with(&["april.alf"]));
    assert!(text.contains("MEMORY.md: the content differs"), "{text}");
}

#[test]
fn theirs_replaces_and_keeps_what_was_there() {
    let environment = march();
    let before = tree_at(&environment.path("w"));
    let result = environment.json(with(&["april.alf", "--on-conflict", "theirs"]));
    assert_eq!((&result["files_replaced"], &result["files_created"]), (&json!(5), &json!(2)));
    assert_holds(&environment.path("w"), &sample::agent_a_month_later());
    assert_eq!(environment.read("w/mine.md"), b"mine");
    let kept = environment.path("w.replaced-1");
    assert_eq!(result["replaced_kept_at"], kept.to_str().unwrap());
    let kept = tree_at(&kept);
    let files: Vec<&str> = kept
        .iter()
        .filter(|(_, value)| value.0 != 'd')
        .map(|(path, _)| path.to_str().unwrap())
        .collect();
    assert_eq!(files, CHANGED);
    for path in files {
        assert_eq!(kept[Path::new(path)], before[Path::new(path)], "{path}");
    }
    // The log that April does not have is not the archive's to remove.
    assert!(environment.exists("w/memory/2026-01-23.md"));
    environment.json(with(&["march.alf", "--on-conflict", "theirs"]));
    assert!(environment.exists("w.replaced-2"));
}

#[test]
fn ours_keeps_and_both_puts_beside() {
    let environment = march();
    let before = tree_at(&environment.path("w"));
    let result = environment.json(with(&["april.alf", "--on-conflict", "ours"]));
    assert_eq!((&result["files_kept"], &result["files_created"]), (&json!(5), &json!(2)));
    for (path, was) in &before {
        if was.0 != 'd' && path != Path::new("USER.md") && path != Path::new(".alf-agent-id") {
            assert_eq!(&tree_at(&environment.path("w"))[path], was, "{path:?}");
        }
    }
    let result = environment.json(with(&["april.alf", "--on-conflict", "both"]));
    assert_eq!((&result["files_kept"], &result["files_created"]), (&json!(0), &json!(5)));
    assert_eq!(environment.read("w/SOUL.md"), before[Path::new("SOUL.md")].3);
    let april = sample::agent_a_month_later();
    let soul = april.files.iter().find(|file| file.path == b"SOUL.md").unwrap();
    assert_eq!(Node::File(environment.read("w/SOUL.imported.md")), soul.node);
    assert!(environment.path("w/memory/latest.imported").is_symlink());
    assert!(!environment.exists("w.replaced-1"));
}

#[test]
fn a_dry_run_shows_the_plan_and_writes_nothing() {
    let environment = march();
    let before = environment.everything();
    let result = environment.json(with(&["april.alf", "--on-conflict", "both", "--dry-run"]));
    assert!(environment.everything() == before);
    assert_eq!(result["dry_run"], true);
    let plan = result["plan"].as_array().unwrap();
    let step = |path: &str| plan.iter().find(|plan| plan["path"] == path).unwrap().clone();
    let soul = step("SOUL.md");
    assert_eq!(
        soul,
        json!({
            "path": "SOUL.md", "kind": "file", "action": "both", "size": soul["size"],
            "as": "SOUL.imported.md", "reason": "the content differs",
        })
    );
    let folder = json!({"path": "memory/archive", "kind": "folder", "action": "same", "size": 0});
    assert_eq!(step("memory/archive"), folder);
    assert_eq!(step("memory/2026-04-12.md")["action"], "create");
    assert_eq!(step("memory/latest")["kind"], "symlink");
    let fresh = environment.json(["import", "-r", "openclaw", "-w", "new/w", "april.alf", "-n"]);
    assert_eq!(fresh["files_created"], 21);
    assert!(!environment.exists("new"));
}

#[test]
fn wrong_calls_and_wrong_files_are_refused() {
    let environment = TestEnvironment::with_demo();
    let unknown = environment.failure(2, ["import", "-r", "lobster", "-w", "w", "march.alf"]);
    assert_eq!(unknown["code"], "unknown_runtime");
    assert!(unknown["hint"].as_str().unwrap().contains("openclaw"));
    environment.failure(2, with(&["march.alf", "--on-conflict", "merge"]));
    environment.failure(1, with(&["absent.alf"]));
    assert_eq!(environment.failure(1, with(&["march-to-april.alf-delta"]))["code"], "wrong_kind");
    let mut damaged = environment.read("march.alf");
    let middle = damaged.len() / 2;
    damaged[middle] ^= 1;
    environment.write("damaged.alf", damaged);
    assert_eq!(environment.failure(1, with(&["damaged.alf"]))["code"], "corrupt_archive");
    environment.write("file", "");
    let failure = environment.failure(1, ["import", "-r", "openclaw", "-w", "file", "march.alf"]);
    assert_eq!(failure["code"], "not_a_folder");
    let failure = environment.failure(1, ["import", "-r", "openclaw", "-w", "/proc", "march.alf"]);
    assert_eq!(failure["code"], "mount_point");
    environment.write("key", "not a key");
    let failure = environment.failure(1, with(&["march.alf", "--vault-key", "key"]));
    assert_eq!(failure["code"], "vault");
}

/// Runs a command that may write into the home folder.
fn plainly(environment: &TestEnvironment, code: i32, args: &[&str]) -> Value {
    let output = environment.command().args(args).output().unwrap();
    assert_eq!(output.status.code(), Some(code), "{output:?}");
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn an_archive_goes_where_its_runtime_looks_for_the_agent() {
    let environment = TestEnvironment::with_demo();
    let usual = environment.home(".openclaw/workspace").display().to_string();
    let text = environment.human(["import", "march.alf", "--dry-run"]);
    assert!(text.contains(&format!("Clawdia would be in {usual}\n")), "{text}");
    assert!(!environment.home(".openclaw").exists());
    let imported = plainly(&environment, 0, &["import", "march.alf"]);
    assert_eq!((&imported["workspace"], &imported["runtime"]), (&json!(usual), &json!("openclaw")));
    assert!(environment.home(".openclaw/workspace/MEMORY.md").exists());
    // Existing files are kept, by the same rules as with -w.
    environment.write_home(".openclaw/workspace/SOUL.md", "mine");
    assert_eq!(environment.failure(3, ["import", "march.alf"])["code"], "conflict");
}

#[test]
fn of_several_places_none_is_guessed() {
    let environment = TestEnvironment::with_demo();
    let config = "{ agents: { list: [ { id: 'boss' }, { id: 'aide', workspace: '~/aide' } ] } }";
    environment.write_home(".openclaw/openclaw.json", config);
    let failure = environment.failure(2, ["import", "march.alf"]);
    assert_eq!(failure["code"], "agent_selection_ambiguous");
    assert!(failure["hint"].as_str().unwrap().contains("-w DIR"), "{failure}");
    let imported = plainly(&environment, 0, &["import", "march.alf", "--agent", "aide"]);
    assert_eq!(imported["workspace"], environment.home("aide").display().to_string());
}

#[test]
fn files_that_a_killed_import_replaced_are_named_by_the_next_one() {
    let environment = TestEnvironment::with_demo();
    environment.json(with(&["march.alf"]));
    // The trees have changed names, and the process was killed: this is the old one.
    let hidden = ".w.anemone-12345-abc123";
    environment.write_below(&format!("{hidden}/SOUL.md"), "mine");
    let soul = environment.read("w/IDENTITY.md");
    environment.write_below(&format!("{hidden}/IDENTITY.md"), soul);
    let imported = environment.json(with(&["march.alf"]));
    let warnings = imported["warnings"].to_string();
    assert!(warnings.contains("w.replaced-1: holds the files that"), "{warnings}");
    assert_eq!(environment.read("w.replaced-1/SOUL.md"), b"mine");
    assert!(!environment.exists("w.replaced-1/IDENTITY.md") && !environment.exists(hidden));
}

#[test]
fn an_archive_of_another_runtime_becomes_files() {
    let environment = TestEnvironment::new();
    let mut snapshot = sample::agent();
    let march = snapshot.files.clone();
    snapshot.files.retain(|file| file.root == FileRoot::Artifacts);
    environment.write_archive("bare.alf", &snapshot);
    let result = environment.json(with(&["bare.alf"]));
    assert_eq!(result["memory_records"], 25);
    // Everything that the sample remembers starts with a heading, so nothing is lost or added.
    for file in march.iter().filter(|file| matches!(file.node, Node::File(_))) {
        let path = String::from_utf8(file.path.clone()).unwrap();
        let Node::File(expected) = &file.node else { continue };
        let found = String::from_utf8(environment.read(&format!("w/{path}"))).unwrap();
        let expected = String::from_utf8(expected.clone()).unwrap();
        // The sample's fields know a sub-agent that its instructions do not name.
        if path == "AGENTS.md" {
            assert!(found.starts_with(&expected) && found.contains("## SubAgent: Bookkeeper"));
        } else {
            assert_eq!(found, expected, "{path}");
        }
    }
}

#[test]
fn a_redacted_file_never_replaces_a_live_one() {
    let environment = TestEnvironment::new();
    let mut snapshot = sample::agent();
    let soul = snapshot.files.iter_mut().find(|file| file.path == b"SOUL.md").unwrap();
    soul.node = Node::File(b"key: <redacted>".to_vec());
    soul.unknown.insert("redacted", "true").unwrap();
    environment.write_archive("redacted.alf", &snapshot);
    fs_err::create_dir(environment.path("w")).unwrap();
    environment.write("w/SOUL.md", "key: live");
    let result = environment.json(with(&["redacted.alf", "--on-conflict", "theirs"]));
    assert_eq!(environment.read("w/SOUL.md"), b"key: live");
    assert_eq!(result["files_kept"], 1);
    let noted = result["not_restored"].as_array().unwrap();
    assert!(noted.iter().any(|noted| noted["what"] == "secrets" && noted["path"] == "SOUL.md"));
}

#[test]
fn people_read_what_was_done() {
    let environment = march();
    let text = environment.human(with(&["april.alf", "--on-conflict", "theirs"]));
    let place = environment.path("").display().to_string();
    let text = text.replace(&place, "[work]/");
    insta::assert_snapshot!(text, @"
    not restored: capability aquarium_sensor: it needs /dev/ttyUSB0, which is not here
    not restored: artifact videos/umzug.mp4: only named: 48211904 bytes, sha256 00ee9f575d2e343e8943500c6311516954ddc1b0b31d00d77057ec952ad50e1d
    not restored: credential seasearch: Web search: its secret was not exported; sign in again
    not restored: credential caldav: Shared calendar: its secret was not exported; sign in again
    the replaced files are in [work]/w.replaced-1
    Clawdia is in w (2 created, 5 replaced, 0 kept, 14 the same, 27 records)
    ");
}

/// Writes an archive with many files, and a workspace with other files of the same names.
fn many_files(environment: &TestEnvironment) -> [Tree; 2] {
    let mut snapshot = sample::agent();
    snapshot.records.clear();
    snapshot.files.clear();
    snapshot.attachments = None;
    for number in 0..400 {
        let raw = FileRoot::Raw("openclaw".to_owned());
        let path = format!("memory/{}/{number}.md", number % 20);
        let mut file = File::new(raw, &path, format!("new {number} ").repeat(50));
        file.mode = Some(0o644);
        snapshot.files.push(file);
    }
    snapshot.sort();
    environment.write_archive("many.alf", &snapshot);
    environment.json(with(&["many.alf"]));
    let new = contents(&environment.path("w"));
    for number in 0..400 {
        environment.write(&format!("w/memory/{}/{number}.md", number % 20), "old");
    }
    [contents(&environment.path("w")), new]
}

fn contents(root: &Path) -> Tree {
    let mut tree = tree_at(root);
    tree.values_mut().for_each(|value| value.2 = (0, 0));
    tree
}

fn spawn(environment: &TestEnvironment) -> std::process::Child {
    Command::new(program())
        .current_dir(environment.path(""))
        .env_clear()
        .envs(environment.variables())
        .args(with(&["many.alf", "--on-conflict", "theirs"]))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

#[test]
fn a_kill_at_any_moment_leaves_the_old_tree_or_the_new_one() {
    let environment = TestEnvironment::new();
    let [old, new] = many_files(&environment);
    let mut seen_old = 0;
    for delay_ms in [1, 3, 6, 10, 15, 20, 25, 30, 40, 50, 70, 90] {
        let mut child = spawn(&environment);
        std::thread::sleep(Duration::from_millis(delay_ms));
        child.kill().unwrap();
        child.wait().unwrap();
        let now = contents(&environment.path("w"));
        assert!(now == old || now == new, "after {delay_ms} ms");
        seen_old += u32::from(now == old);
        if now == new {
            break;
        }
    }
    assert!(seen_old > 0, "the first kill comes before anything can be done");
    // A run that was killed may leave its folder. The next one removes it, or gives the files that
    // were replaced a visible name and says so.
    let result = environment.json(with(&["many.alf", "--on-conflict", "theirs"]));
    let left = fs_err::read_dir(environment.path(""))
        .unwrap()
        .flatten()
        .filter(|dir| dir.file_name().to_str().unwrap().starts_with(".w.anemone-"));
    assert_eq!(left.count(), 0);
    for warning in result["warnings"].as_array().unwrap() {
        let kept = "holds the files that an interrupted import replaced";
        assert!(warning.to_string().contains(kept), "{warning}");
    }
    assert!(contents(&environment.path("w")) == new);
}

#[test]
fn what_may_be_the_only_copy_of_the_workspace_stops_an_import() {
    let environment = TestEnvironment::with_demo();
    fs_err::create_dir(environment.path(".w.anemone-abc123")).unwrap();
    environment.write(".w.anemone-abc123/MEMORY.md", "mine");
    let failure = environment.failure(1, with(&["march.alf"]));
    assert_eq!(failure["code"], "leftover");
    let hint = failure["hint"].as_str().unwrap();
    assert!(hint.contains("rename it to") && hint.contains("move it away"), "{hint}");
    assert!(!environment.exists("w"));
    // With this name it is a whole workspace that made room for a tree which never came.
    let old = environment.path(".w.anemone-abc123.old");
    fs_err::rename(environment.path(".w.anemone-abc123"), old).unwrap();
    let imported = environment.json(with(&["march.alf", "--on-conflict", "ours"]));
    assert!(imported["warnings"].to_string().contains("it is back"), "{imported}");
    assert_eq!(environment.read("w/MEMORY.md"), b"mine");
}

#[test]
fn an_old_log_is_not_left_beside_a_restored_database() {
    let environment = TestEnvironment::with_demo();
    environment.json(with(&["march.alf"]));
    let mut snapshot = sample::agent();
    let raw = FileRoot::Raw("openclaw".to_owned());
    snapshot.files.push(File::new(raw, "notes.sqlite", "SQLite format 3\0new"));
    snapshot.sort();
    environment.write_archive("database.alf", &snapshot);
    environment.write("w/notes.sqlite", "SQLite format 3\0old");
    environment.write("w/notes.sqlite-wal", "old log");
    let failure = environment.failure(3, with(&["database.alf"]));
    let paths: Vec<&Value> =
        failure["conflicts"].as_array().unwrap().iter().map(|array| &array["path"]).collect();
    assert_eq!(paths, ["notes.sqlite", "notes.sqlite-wal"]);
    assert_eq!(environment.read("w/notes.sqlite-wal"), b"old log");
    environment.json(with(&["database.alf", "--on-conflict", "theirs"]));
    assert_eq!(environment.read("w/notes.sqlite"), b"SQLite format 3\0new");
    assert!(!environment.exists("w/notes.sqlite-wal"));
    assert_eq!(environment.read("w.replaced-1/notes.sqlite-wal"), b"old log");
    assert_eq!(environment.read("w.replaced-1/notes.sqlite"), b"SQLite format 3\0old");
}

#[test]
fn a_link_that_leads_out_is_made_and_named() {
    let environment = TestEnvironment::new();
    let mut snapshot = sample::agent();
    let mut link = File::new(FileRoot::Raw("openclaw".to_owned()), "elsewhere", "");
    link.node = Node::Symlink(b"../elsewhere".to_vec());
    snapshot.files.push(link);
    snapshot.sort();
    environment.write_archive("linked.alf", &snapshot);
    let result = environment.json(with(&["linked.alf"]));
    let warnings = result["warnings"].as_array().unwrap();
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    assert!(warnings[0].as_str().unwrap().starts_with("elsewhere: leads out"), "{warnings:?}");
    assert!(environment.path("w/elsewhere").is_symlink());
}

#[test]
fn an_interrupt_takes_the_unfinished_tree_away() {
    let environment = TestEnvironment::new();
    let [old, new] = many_files(&environment);
    for delay_ms in [5, 10, 15, 20, 25, 30, 35, 40, 50] {
        let mut child = spawn(&environment);
        std::thread::sleep(Duration::from_millis(delay_ms));
        Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
        let status = child.wait().unwrap();
        let now = contents(&environment.path("w"));
        assert!(now == old || now == new, "after {delay_ms} ms");
        let names: Vec<String> = fs_err::read_dir(environment.path(""))
            .unwrap()
            .map(|dir| dir.unwrap().file_name().into_string().unwrap())
            .filter(|value| value.starts_with(".w"))
            .collect();
        if now == old {
            assert_eq!(names, Vec::<String>::new(), "after {delay_ms} ms: {status:?}");
        } else {
            break;
        }
    }
}

#[test]
fn files_that_run_or_authorise_something_are_named() {
    let environment = TestEnvironment::new();
    environment.write_below("ws/MEMORY.md", "- tea\n");
    for name in ["ws/.envrc", "ws/.ssh/authorized_keys", "ws/.vscode/tasks.json"] {
        environment.write_below(name, "x\n");
    }
    environment.json(["export", "-w", "ws", "-o", "a.alf"]);
    let warned = |report: &Value| -> Vec<String> {
        let warnings = report["warnings"].as_array().unwrap().iter();
        let warnings = warnings.map(|warning| warning.as_str().unwrap());
        let named = warnings.filter(|warning| warning.contains("look at it first"));
        named.map(|named| named.split(':').next().unwrap().to_owned()).collect()
    };
    let files = [".envrc", ".ssh/authorized_keys", ".vscode/tasks.json"];
    assert_eq!(warned(&environment.json(with(&["a.alf", "--dry-run"]))), files);
    // Hidden files are what this import is to leave.
    let import = || -> Value {
        let output = environment.command().args(with(&["a.alf"])).output().unwrap();
        serde_json::from_slice(&output.stdout).unwrap()
    };
    assert_eq!(warned(&import()), files);
    // Files that exist already do not come from the archive.
    assert_eq!(warned(&import()), [""; 0]);
}

//! `anemone install`

use std::path::{Path, PathBuf};
use std::process::Command;

use anemone_testkit::skip;
use serde_json::Value;

use crate::environment::{Ran, TestEnvironment, program};

const BASH: &str = "data/bash-completion/completions/anemone";
const ZSH: &str = "data/zsh/site-functions/_anemone";
const FISH: &str = "config/fish/completions/anemone.fish";
const PAGE: &str = "data/man/man1/anemone.1";

/// Runs the command with both folders of the user in the folder of the test.
fn install(environment: &TestEnvironment, args: &[&str]) -> Ran {
    let (data, config) = (environment.path("data"), environment.path("config"));
    let variables = [
        ("XDG_DATA_HOME", data.to_str().expect("it is UTF-8")),
        ("XDG_CONFIG_HOME", config.to_str().expect("it is UTF-8")),
    ];
    environment.run_with(&variables, ["install"].iter().chain(args))
}

fn done(environment: &TestEnvironment, args: &[&str]) -> Value {
    let ran = install(environment, args);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{}", ran.stdout);
    ran.document()
}

fn refused(environment: &TestEnvironment, args: &[&str]) -> Value {
    let ran = install(environment, args);
    assert_eq!((ran.code, ran.stderr.as_str()), (1, ""), "{}", ran.stdout);
    let document = ran.document();
    assert_eq!((&document["ok"], &document["code"]), (&false.into(), &"not_ours".into()));
    document
}

fn text(environment: &TestEnvironment, name: &str) -> String {
    String::from_utf8(environment.read(name)).expect("it is UTF-8")
}

#[test]
fn completions_and_a_page_for_every_command_are_installed_and_taken_out_again() {
    let environment = TestEnvironment::new();
    environment.write_below("data/man/man1/other.1", "of somebody else");
    let before = environment.everything();
    let plan = done(&environment, &["--dry-run"]);
    assert!(before == environment.everything(), "a dry run writes nothing");
    let installed = done(&environment, &[]);
    assert_eq!(installed["files"], plan["files"]);
    assert_eq!(
        installed["created"].as_u64(),
        plan["files"].as_array().map(|array| array.len() as u64)
    );
    for (name, word) in [
        (BASH, "complete -F"),
        (ZSH, "#compdef anemone"),
        (FISH, "complete -c"),
        (PAGE, ".TH anemone 1"),
    ] {
        assert!(text(&environment, name).contains(word), "{name}");
    }
    assert!(text(&environment, ZSH).starts_with("#compdef anemone\n"), "zsh reads its first line");
    assert!(environment.exists("data/man/man1/anemone-vault-keygen.1"));
    let notes = installed["notes"].to_string();
    assert!(notes.contains("fpath=(") && notes.contains("site-functions"), "{notes}");

    let again = done(&environment, &[]);
    assert_eq!((&again["created"], &again["same"]), (&0.into(), &installed["created"]));
    let removed = done(&environment, &["--remove"]);
    assert_eq!(removed["removed"], installed["created"]);
    let mut left = environment.everything();
    for base in ["work/data", "work/config"] {
        assert!(left.remove(Path::new(base)).is_some(), "{base} stays");
    }
    let mut before = before;
    before.remove(Path::new("work/data"));
    assert!(before == left, "{:?}", left.keys());
}

#[test]
fn files_of_somebody_else_are_replaced_only_when_told_so() {
    let environment = TestEnvironment::new();
    environment.write_below(BASH, "# mine\n");
    environment.write_below(PAGE, ".TH MINE 1\n");
    let plan = done(&environment, &["--dry-run"]);
    assert_eq!(plan["would_stop"], true);
    let failure = refused(&environment, &[]);
    assert_eq!(failure["causes"].as_array().map(Vec::len), Some(2), "{failure}");
    assert!(!environment.exists(ZSH), "nothing is done in part");
    let removed = done(&environment, &["--remove"]);
    assert_eq!((&removed["removed"], &removed["kept"]), (&0.into(), &2.into()));
    assert_eq!(text(&environment, BASH), "# mine\n");
    assert_eq!(done(&environment, &["--force"])["replaced"], 2);
    assert!(text(&environment, BASH).contains("complete -F"));
}

#[test]
fn a_folder_in_the_way_stops_everything_also_when_forced() {
    let environment = TestEnvironment::new();
    fs_err::create_dir_all(environment.path(PAGE)).unwrap();
    for args in [&[][..], &["--force"]] {
        refused(&environment, args);
        assert!(!environment.exists(ZSH), "nothing is done in part");
    }
}

#[test]
fn what_is_said_about_a_folder_can_be_pasted() {
    let environment = TestEnvironment::new();
    let installed = environment.json(["install", "--dry-run", "--prefix", "it's"]);
    let notes = installed["notes"].to_string();
    assert!(notes.contains(r"it'\\''s/share/zsh"), "{notes}");
    assert!(notes.contains(r"it'\\''s/share/man:'"), "{notes}");
}

#[test]
fn what_an_earlier_version_wrote_is_replaced_or_taken_out() {
    let environment = TestEnvironment::new();
    done(&environment, &[]);
    let page = text(&environment, PAGE);
    environment.write(BASH, text(&environment, BASH) + "# as it was\n");
    environment.write("data/man/man1/anemone-gone.1", &page);
    environment.write("data/man/man1/anemone-mine.1", "of somebody else");
    let again = done(&environment, &[]);
    assert_eq!((&again["replaced"], &again["removed"]), (&1.into(), &1.into()), "{again}");
    assert!(!environment.exists("data/man/man1/anemone-gone.1"));
    assert!(environment.exists("data/man/man1/anemone-mine.1"));
}

#[test]
#[cfg(unix)]
fn a_link_is_not_written_through() {
    let environment = TestEnvironment::new();
    environment.write("target", "of somebody else");
    environment.write_below("data/bash-completion/completions/other", "");
    let target = environment.path("target");
    fs_err::os::unix::fs::symlink(&target, environment.path(BASH)).unwrap();
    refused(&environment, &[]);
    done(&environment, &["--force"]);
    assert_eq!(text(&environment, "target"), "of somebody else");
    assert!(!environment.path(BASH).is_symlink());
}

#[test]
#[cfg(unix)]
fn the_link_alf_leads_to_the_program_and_never_replaces_another() {
    let environment = TestEnvironment::new();
    let installed = done(&environment, &["--alf", "--bin", "bin"]);
    assert!(installed["files"].to_string().contains(r#""kind":"link","path""#), "{installed}");
    let link = environment.path("bin/alf");
    assert_eq!(fs_err::canonicalize(&link).unwrap(), fs_err::canonicalize(program()).unwrap());
    let version = Command::new(&link).arg("--version").output().unwrap();
    assert_eq!(version.stdout, b"alf 0.1.0\n");
    assert_eq!(done(&environment, &["--alf", "--bin", "bin"])["created"], 0);
    done(&environment, &["--remove", "--bin", "bin"]);
    assert!(!environment.exists("bin/alf"));

    environment.write("bin/alf", "another program");
    for args in [&["--alf", "--bin", "bin"][..], &["--alf", "--bin", "bin", "--force"]] {
        let failure = refused(&environment, args);
        assert!(failure["hint"].as_str().unwrap().contains("--bin"), "{failure}");
    }
    done(&environment, &["--remove", "--bin", "bin"]);
    assert_eq!(text(&environment, "bin/alf"), "another program");
}

#[test]
#[cfg(unix)]
fn the_link_alf_lies_beside_the_program_and_may_move_with_it() {
    let environment = TestEnvironment::new();
    let bin = tempfile::tempdir().unwrap();
    let twin = bin.path().join("anemone");
    if fs_err::hard_link(program(), &twin).is_err() {
        fs_err::copy(program(), &twin).unwrap();
    }
    let run = |args: &[&str]| {
        let mut command = Command::new(&twin);
        command.env_clear().envs(environment.variables());
        let output = command.arg("install").args(args).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    };
    run(&["--alf"]);
    assert_eq!(fs_err::read_link(bin.path().join("alf")).unwrap(), PathBuf::from("anemone"));
    run(&["--remove"]);
    assert!(fs_err::symlink_metadata(bin.path().join("alf")).is_err());
    assert!(twin.is_file(), "the program stays");
}

#[test]
#[cfg(unix)]
fn a_package_has_everything_below_its_prefix_and_readable() {
    use std::os::unix::fs::PermissionsExt as _;
    let environment = TestEnvironment::new();
    let installed = done(&environment, &["--prefix", "pkg/usr", "--alf"]);
    for name in [
        "bash-completion/completions/anemone",
        "zsh/site-functions/_anemone",
        "fish/vendor_completions.d/anemone.fish",
        "man/man1/anemone.1",
    ] {
        let metadata = fs_err::metadata(environment.path(format!("pkg/usr/share/{name}"))).unwrap();
        assert_eq!(metadata.permissions().mode() & 0o777, 0o644, "{name}");
    }
    let link = fs_err::read_link(environment.path("pkg/usr/bin/alf")).unwrap();
    assert_eq!(link, PathBuf::from("anemone"), "it leads to its neighbour, wherever that goes");
    assert!(!installed["notes"].to_string().contains("fpath"), "{installed}");
    assert!(!environment.exists("data"), "nothing is installed for the user");
    done(&environment, &["--prefix", "pkg/usr", "--remove"]);
    assert_eq!(fs_err::read_dir(environment.path("pkg/usr")).unwrap().count(), 0);
}

#[test]
fn a_folder_for_the_link_without_the_link_is_wrong_usage() {
    let environment = TestEnvironment::new();
    for args in [&["--bin", "bin"][..], &["--remove", "--force"]] {
        assert_eq!(install(&environment, args).code, 2, "{args:?}");
    }
}

#[test]
fn people_read_what_was_done_and_what_is_left_to_do() {
    let environment = TestEnvironment::new();
    let shown = install(&environment, &["--human"]);
    assert!(shown.stdout.contains("note: zsh: put fpath="), "{}", shown.stdout);
    let last = shown.stdout.lines().last().unwrap();
    assert!(last.starts_with("done (") && last.contains(" created, 0 replaced"), "{last}");
    let shown = install(&environment, &["--human", "--dry-run"]).stdout;
    assert!(shown.contains("dry run, nothing was done (0 created"), "{shown}");
}

/// Runs another program over what was installed, where there is one.
#[cfg(unix)]
fn accepted(environment: &TestEnvironment, program: &str, args: &[&str], name: &str) {
    let path = environment.path(name);
    let mut command = Command::new(program);
    command.env("MANPAGER", "cat").env("HOME", environment.home(""));
    match command.args(args).arg(path).output() {
        Ok(output) => {
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{program}: {said}");
            assert_eq!(said, "", "{program}");
        }
        Err(error) => skip(program, format_args!("{program} does not start: {error}")),
    }
}

#[test]
#[cfg(unix)]
fn shells_and_man_accept_what_is_installed() {
    let environment = TestEnvironment::new();
    done(&environment, &[]);
    accepted(&environment, "bash", &["-n"], BASH);
    accepted(&environment, "bash", &["--norc"], BASH);
    accepted(&environment, "zsh", &["-n"], ZSH);
    accepted(&environment, "fish", &["--no-execute"], FISH);
    accepted(&environment, "man", &["--warnings", "-l"], PAGE);
    accepted(&environment, "mandoc", &[], PAGE);
}

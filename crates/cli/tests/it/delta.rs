//! `anemone delta`, and what every command does with its output file.

use crate::environment::TestEnvironment;

#[test]
fn a_delta_is_written_and_counted() {
    let environment = TestEnvironment::with_demo();
    let made = environment.json(["delta", "march.alf", "april.alf", "-o", "new.alf-delta"]);
    assert_eq!(made["dry_run"], false);
    assert_eq!(made["output"], "new.alf-delta");
    assert_eq!(made["no_changes"], false);
    assert_eq!(made["changes"], serde_json::json!({"creates": 4, "updates": 3, "deletes": 2}));
    let written = environment.read("new.alf-delta");
    assert_eq!(made["file_size"], written.len());
    assert!(written == environment.read("march-to-april.alf-delta"));
    environment.assert_private("new.alf-delta");
}

#[test]
fn a_delta_between_equal_archives_has_no_changes_and_applies() {
    let environment = TestEnvironment::with_demo();
    let made = environment.json(["delta", "april.alf", "applied.alf", "-o", "none.alf-delta"]);
    assert_eq!(made["no_changes"], true);
    assert_eq!(made["changes"], serde_json::json!({"creates": 0, "updates": 0, "deletes": 0}));
    environment.json(["apply", "april.alf", "none.alf-delta", "-o", "same.alf"]);
    assert!(environment.read("same.alf") == environment.read("april.alf"));
}

#[test]
fn a_dry_run_writes_nothing_with_or_without_an_output() {
    let environment = TestEnvironment::with_demo();
    let before = environment.everything();
    let plain = ["delta", "march.alf", "april.alf", "--dry-run"];
    for output in [&[][..], &["-o", "new.alf-delta"], &["-o", "april.alf"]] {
        let shown = environment.json([&plain[..], output].concat());
        assert_eq!(shown["dry_run"], true);
        assert!(shown.get("output").is_none() && shown.get("file_size").is_none());
        assert_eq!(shown["changes"]["creates"], 4);
        assert!(environment.everything() == before);
    }
    let text = environment.human(plain);
    assert!(text.ends_with("nothing written: this was a dry run\n"), "{text}");
}

#[test]
fn without_an_output_it_is_wrong_usage() {
    let environment = TestEnvironment::with_demo();
    environment.failure(2, ["delta", "march.alf", "april.alf"]);
}

#[test]
fn people_read_what_was_written() {
    let environment = TestEnvironment::with_demo();
    let text = environment.human(["delta", "march.alf", "april.alf", "-o", "new.alf-delta"]);
    insta::assert_snapshot!(text, @"wrote new.alf-delta ([size]): records 4 created, 3 updated, 2 deleted; files 8 put, 1 removed");
}

/// Commands that write, without their output.
const WRITERS: &[&[&str]] = &[
    &["delta", "march.alf", "april.alf"],
    &["apply", "march.alf", "march-to-april.alf-delta"],
    &["purge", "march.alf", "--record", "88c555e0-5d0c-51de-a067-64f2767ce8c1"],
    &[
        "encrypt",
        "march.alf",
        "-r",
        "age1t5flwqehe7cufz82268ljlg5aanskrjjj08sc0xt8ugmyf5psv9samk95e",
    ],
    &["vault", "keygen"],
];

fn to<'a>(command: &[&'a str], output: &[&'a str]) -> Vec<&'a str> {
    [command, output].concat()
}

#[test]
fn an_output_that_is_there_is_kept_unless_forced() {
    let environment = TestEnvironment::with_demo();
    for command in WRITERS {
        environment.write("taken", "precious");
        let failure = environment.failure(1, to(command, &["-o", "taken"]));
        assert_eq!(failure["code"], "exists", "{command:?}");
        assert!(failure["error"].as_str().unwrap().starts_with("taken: "), "{failure}");
        assert!(failure["hint"].as_str().unwrap().contains("--force"), "{failure}");
        assert_eq!(environment.read("taken"), b"precious");
        environment.json(to(command, &["-o", "taken", "--force"]));
        assert_ne!(environment.read("taken"), b"precious", "{command:?}");
        environment.assert_private("taken");
    }
}

#[test]
fn an_output_in_a_missing_folder_is_an_error_that_names_the_folder() {
    let environment = TestEnvironment::with_demo();
    for command in WRITERS {
        let failure = environment.failure(1, to(command, &["-o", "missing/new"]));
        assert_eq!(failure["code"], "not_found", "{command:?}");
        assert!(failure["error"].as_str().unwrap().contains("folder missing "), "{failure}");
        assert!(failure["hint"].is_string(), "{failure}");
    }
}

#[test]
fn a_folder_as_output_is_an_error_even_when_forced() {
    let environment = TestEnvironment::with_demo();
    fs_err::create_dir(environment.path("folder")).unwrap();
    for command in WRITERS {
        for output in [&["-o", "folder"][..], &["-o", "folder", "--force"], &["-o", "."]] {
            let failure = environment.failure(1, to(command, output));
            assert_eq!(failure["code"], "is_a_folder", "{command:?}");
        }
    }
}

#[test]
fn a_file_as_the_folder_of_an_output_is_an_error() {
    let environment = TestEnvironment::with_demo();
    for command in WRITERS {
        let failure = environment.failure(1, to(command, &["-o", "april.alf/new"]));
        assert!(failure["error"].as_str().unwrap().contains("april.alf"), "{failure}");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn an_output_in_a_folder_that_cannot_be_written_is_an_error_that_names_the_folder() {
    use std::os::unix::fs::PermissionsExt as _;
    let environment = TestEnvironment::with_demo();
    let mut folder = environment.path("locked");
    fs_err::create_dir(&folder).unwrap();
    fs_err::set_permissions(&folder, std::fs::Permissions::from_mode(0o555)).unwrap();
    // Root writes everywhere but where the kernel itself says no.
    if fs_err::write(folder.join("probe"), "").is_ok() {
        fs_err::remove_file(folder.join("probe")).unwrap();
        folder = "/sys/kernel".into();
    }
    for command in WRITERS {
        let output = folder.join("new").into_os_string().into_string().unwrap();
        let failure = environment.failure(1, to(command, &["-o", &output]));
        assert_eq!(failure["code"], "permission_denied", "{failure}");
        let folder = folder.to_str().unwrap();
        assert!(failure["error"].as_str().unwrap().contains(folder), "{failure}");
    }
}

#[test]
fn an_output_may_replace_its_own_source() {
    let environment = TestEnvironment::with_demo();
    let april = environment.read("april.alf");
    let args = ["apply", "march.alf", "march-to-april.alf-delta", "-o", "march.alf", "--force"];
    environment.json(args);
    assert!(environment.read("march.alf") == april);
}

#[test]
#[cfg(unix)]
fn a_forced_output_replaces_a_link_and_not_what_it_points_to() {
    let environment = TestEnvironment::with_demo();
    environment.write("elsewhere", "precious");
    fs_err::os::unix::fs::symlink("elsewhere", environment.path("link")).unwrap();
    environment.failure(1, ["vault", "keygen", "-o", "link"]);
    environment.json(["vault", "keygen", "-o", "link", "--force"]);
    assert_eq!(environment.read("elsewhere"), b"precious");
    assert!(!environment.path("link").is_symlink());
}

#[test]
#[cfg(unix)]
fn what_is_not_a_regular_file_is_neither_read_nor_replaced() {
    let environment = TestEnvironment::with_demo();
    // Outside the test's folder: the environment reads every file in its own folder, and reading a
    // pipe would never end.
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("pipe");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status().unwrap();
    assert!(made.success());
    let pipe = pipe.to_str().unwrap();
    for command in WRITERS {
        let failure = environment.failure(1, to(command, &["-o", pipe, "--force"]));
        assert_eq!(failure["code"], "not_a_file", "{command:?}");
    }
    for command in [&["validate", pipe][..], &["inspect", pipe], &["diff", "march.alf", pipe]] {
        let failure = environment.failure(1, command.iter().copied());
        assert_eq!(failure["code"], "not_a_file", "{command:?}");
    }
}

#[test]
fn a_delta_to_an_archive_of_another_shape_can_be_applied() {
    let environment = TestEnvironment::new();
    let vectors = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/vectors");
    for name in ["ok/everything", "ok/one-record", "ok-with-unknowns/field-entry"] {
        let file = format!("{vectors}/{name}.alf");
        environment.json(["delta", &file, &file, "-o", "same.alf-delta", "--force"]);
        environment.json(["apply", &file, "same.alf-delta", "-o", "new.alf", "--force"]);
        let diff = environment.json(["diff", &file, "new.alf"]);
        assert_eq!(diff["equal"], true, "{name}: {diff}");
    }
}

//! `-` for stdin where an archive is read, and for stdout where one is written.

use std::process::Output;

use crate::environment::TestEnvironment;

/// Runs the program with something on stdin.
fn run(environment: &TestEnvironment, args: &[&str], stdin: impl Into<Vec<u8>>) -> Output {
    environment.command().args(args).write_stdin(stdin).output().expect("the test made it")
}

fn json(bytes: &[u8]) -> serde_json::Value {
    serde_json::from_slice(bytes).unwrap_or_else(|error| {
        panic!("{error}: {}", String::from_utf8_lossy(bytes));
    })
}

#[test]
fn an_export_can_be_piped_into_validate() {
    let environment = TestEnvironment::with_demo();
    environment.json(["import", "-r", "openclaw", "-w", "ws", "march.alf"]);
    let exported = run(&environment, &["export", "-r", "openclaw", "-w", "ws", "-o", "-"], b"");
    assert!(exported.status.success(), "{exported:?}");
    assert!(exported.stdout.starts_with(b"PK"));
    let report = json(&exported.stderr);
    assert_eq!(
        (&report["output"], &report["file_size"]),
        (&"-".into(), &exported.stdout.len().into())
    );
    assert!(!environment.exists("-"));
    let validated = run(&environment, &["validate", "-"], exported.stdout);
    assert_eq!(json(&validated.stdout)["valid"], true);
}

#[test]
fn every_command_that_takes_an_archive_takes_it_from_stdin() {
    let environment = TestEnvironment::with_demo();
    let (march, april) = (environment.read("march.alf"), environment.read("april.alf"));
    let delta = environment.read("march-to-april.alf-delta");
    let inspected = run(&environment, &["inspect", "-"], &march[..]);
    assert_eq!(json(&inspected.stdout)["memory_records"], 25);
    let diff = run(&environment, &["diff", "march.alf", "-"], &march[..]);
    assert_eq!(json(&diff.stdout)["equal"], true);
    let made = run(&environment, &["delta", "-", "april.alf", "-o", "-"], &march[..]);
    assert!(made.stdout == delta, "{}", String::from_utf8_lossy(&made.stderr));
    let applied = run(&environment, &["apply", "march.alf", "-", "-o", "-"], &delta[..]);
    assert!(applied.stdout == april, "{}", String::from_utf8_lossy(&applied.stderr));
    let imported = run(&environment, &["import", "-r", "openclaw", "-w", "ws", "-"], &march[..]);
    assert_eq!(json(&imported.stdout)["ok"], true);

    let recipient = environment.identity("identity");
    let sealed = run(&environment, &["encrypt", "-", "-r", &recipient, "-o", "-"], &march[..]);
    assert!(sealed.stdout.starts_with(b"age-encryption.org/"));
    let opened = run(&environment, &["decrypt", "-", "-i", "identity", "-o", "-"], sealed.stdout);
    assert!(opened.stdout == march, "{}", String::from_utf8_lossy(&opened.stderr));
    let geheim = "88c555e0-5d0c-51de-a067-64f2767ce8c1";
    let purged = run(&environment, &["purge", "-", "--record", geheim, "-o", "-"], &march[..]);
    assert_eq!(json(&purged.stderr)["proof"]["absent"], true);
    let inspected = run(&environment, &["inspect", "-"], purged.stdout);
    assert_eq!(json(&inspected.stdout)["memory_records"], 24);
    assert!(!environment.exists("-"));
}

#[test]
fn a_failure_writes_nothing_to_stdout_where_an_archive_was_to_go() {
    let environment = TestEnvironment::with_demo();
    let failed = run(&environment, &["delta", "-", "april.alf", "-o", "-"], b"not an archive");
    assert_eq!((failed.status.code(), &failed.stdout[..]), (Some(1), &b""[..]));
    assert_eq!(json(&failed.stderr)["code"], "not_an_archive");
    let twice = run(&environment, &["diff", "-", "-"], environment.read("march.alf"));
    assert_eq!(twice.status.code(), Some(2));
    assert!(json(&twice.stdout)["error"].as_str().unwrap().contains("twice"));
}

//! `anemone encrypt`

use std::collections::HashSet;

use crate::environment::{AGE_MAGIC, TestEnvironment, sample};
use anemone_testkit::zip::holds;

#[test]
fn a_sealed_file_holds_nothing_of_the_open_one() {
    let environment = TestEnvironment::with_demo();
    let recipient = environment.identity("identity");
    let args = ["encrypt", "march.alf", "-r", &recipient, "-o", "march.alf.age"];
    let made = environment.json(args);
    let sealed = environment.read("march.alf.age");
    assert_eq!(made["output"], "march.alf.age");
    assert_eq!(made["file_size"], sealed.len());
    assert!(sealed.starts_with(AGE_MAGIC));
    environment.assert_private("march.alf.age");

    let open = environment.read("march.alf");
    let parts: HashSet<&[u8]> = open.windows(12).collect();
    assert!(sealed.windows(12).all(|part| !parts.contains(part)), "a part of the open file");
    for record in &sample::agent().records {
        assert!(!holds(&sealed, record.content.as_bytes()));
    }
    assert!(!holds(&sealed, b"Clawdia") && !holds(&sealed, b"openclaw"));
}

#[test]
fn a_delta_can_be_sealed() {
    let environment = TestEnvironment::with_demo();
    let recipient = environment.identity("identity");
    let delta = "march-to-april.alf-delta";
    environment.json(["encrypt", delta, "-r", &recipient, "-o", "sealed.age"]);
    let shown = environment.json(["inspect", "sealed.age", "-i", "identity"]);
    assert_eq!((&shown["kind"], &shown["encrypted"]), (&"delta".into(), &true.into()));
}

#[test]
fn each_of_several_recipients_can_open_it() {
    let environment = TestEnvironment::with_demo();
    let (one, two) = (environment.identity("one"), environment.identity("two"));
    environment.json(["encrypt", "march.alf", "-r", &one, "-r", &two, "-o", "sealed.age"]);
    for identity in ["one", "two"] {
        environment.json(["validate", "sealed.age", "-i", identity]);
    }
    environment.identity("three");
    let failure = environment.failure(1, ["validate", "sealed.age", "-i", "three"]);
    assert_eq!(failure["code"], "wrong_key");
}

#[test]
fn what_is_sealed_or_no_archive_is_not_sealed() {
    let environment = TestEnvironment::with_demo();
    let recipient = environment.identity("identity");
    environment.json(["encrypt", "march.alf", "-r", &recipient, "-o", "sealed.age"]);
    let twice = ["encrypt", "sealed.age", "-i", "identity", "-r", &recipient, "-o", "twice.age"];
    assert_eq!(environment.failure(1, twice)["code"], "already_sealed");
    environment.write("text.md", "# not an archive\n");
    let text = ["encrypt", "text.md", "-r", &recipient, "-o", "text.age"];
    assert_eq!(environment.failure(1, text)["code"], "not_an_archive");
}

#[test]
fn a_recipient_that_is_none_is_wrong_usage() {
    let environment = TestEnvironment::with_demo();
    for recipient in ["", "age1nobody", "lin@example.org", "AGE-SECRET-KEY-1"] {
        let failure = environment.failure(2, ["encrypt", "march.alf", "-r", recipient, "-o", "x"]);
        assert!(failure["hint"].is_string(), "{failure}");
    }
}

#[test]
fn without_recipient_a_passphrase_is_needed_and_it_is_not_empty() {
    let environment = TestEnvironment::with_demo();
    let encrypt = ["encrypt", "march.alf", "-o", "sealed.age"];
    let failure = environment.failure(1, encrypt);
    assert_eq!(failure["code"], "key_needed");
    assert!(failure["hint"].as_str().unwrap().contains("ANEMONE_PASSPHRASE"), "{failure}");
    let failure = environment.failure_with(&[("ANEMONE_PASSPHRASE", "")], 1, encrypt);
    assert_eq!(failure["code"], "passphrase");
    environment.write("empty", "\n");
    let failure = environment.failure(1, encrypt.iter().chain(&["--passphrase-file", "empty"]));
    assert_eq!(failure["code"], "passphrase");
    let failure = environment.failure(1, encrypt.iter().chain(&["--passphrase-file", "missing"]));
    assert_eq!(failure["code"], "not_found");
    assert!(failure["error"].as_str().unwrap().contains("missing"), "{failure}");
}

#[test]
fn people_read_where_it_is_sealed() {
    let environment = TestEnvironment::with_demo();
    let recipient = environment.identity("identity");
    let args = ["encrypt", "march.alf", "-r", &recipient, "-o", "march.alf.age"];
    insta::assert_snapshot!(environment.human(args), @"sealed as march.alf.age ([size])");
    let args = ["decrypt", "march.alf.age", "-i", "identity", "-o", "open.alf"];
    insta::assert_snapshot!(environment.human(args), @"opened as open.alf ([size])");
}

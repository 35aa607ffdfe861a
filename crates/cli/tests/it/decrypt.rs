//! `anemone decrypt`

use crate::environment::TestEnvironment;

#[test]
fn what_was_sealed_for_a_recipient_opens_with_its_identity() {
    let environment = TestEnvironment::with_demo();
    let recipient = environment.identity("identity");
    for name in ["march.alf", "march-to-april.alf-delta"] {
        environment.json(["encrypt", name, "-r", &recipient, "-o", "sealed", "--force"]);
        let opened = environment.json([
            "decrypt",
            "sealed",
            "--identity",
            "identity",
            "-o",
            "open",
            "--force",
        ]);
        assert_eq!(opened["output"], "open");
        assert!(environment.read("open") == environment.read(name));
        environment.assert_private("open");
    }
}

// Each passphrase costs a second, so one test covers all of their cases.
#[test]
fn what_was_sealed_with_a_passphrase_opens_with_it_from_a_file_or_the_environment() {
    let environment = TestEnvironment::with_demo();
    environment.write("passphrase", "a cake for Jonas, 茶\n");
    let sealed = ["encrypt", "march.alf", "--passphrase-file", "passphrase", "-o", "sealed.age"];
    environment.json(sealed);
    let right = [("ANEMONE_PASSPHRASE", "a cake for Jonas, 茶")];
    environment.json_with(&right, ["decrypt", "sealed.age", "-o", "open.alf"]);
    assert!(environment.read("open.alf") == environment.read("march.alf"));

    let wrong = [("ANEMONE_PASSPHRASE", "no cake for Jonas, 茶")];
    let failure = environment.failure_with(&wrong, 1, ["decrypt", "sealed.age", "-o", "no.alf"]);
    assert_eq!(failure["code"], "wrong_key");
    assert!(failure["error"].as_str().unwrap().starts_with("sealed.age: "), "{failure}");
    // The file is asked first, and no key at all is noticed before anything is computed.
    let args = ["decrypt", "sealed.age", "--passphrase-file", "passphrase", "-o", "again.alf"];
    environment.json_with(&wrong, args);
    let failure = environment.failure(1, ["decrypt", "sealed.age", "-o", "no.alf"]);
    assert_eq!(failure["code"], "key_needed");
    assert!(failure["hint"].as_str().unwrap().contains("--passphrase-file"), "{failure}");
}

#[test]
fn the_wrong_identity_and_none_are_different_errors() {
    let environment = TestEnvironment::with_demo();
    let recipient = environment.identity("right");
    environment.identity("wrong");
    environment.json(["encrypt", "march.alf", "-r", &recipient, "-o", "sealed.age"]);
    let failure = environment.failure(1, ["decrypt", "sealed.age", "-i", "wrong", "-o", "no.alf"]);
    assert_eq!(failure["code"], "wrong_key");
    let failure = environment.failure(1, ["decrypt", "sealed.age", "-o", "no.alf"]);
    assert_eq!(failure["code"], "key_needed");
    assert!(failure["hint"].as_str().unwrap().contains("--identity"), "{failure}");
    // A passphrase does not open what is sealed for a recipient.
    let passphrase = [("ANEMONE_PASSPHRASE", "any")];
    let args = ["decrypt", "sealed.age", "-o", "no.alf"];
    assert_eq!(environment.failure_with(&passphrase, 1, args)["code"], "key_needed");
}

#[test]
fn a_file_that_holds_no_identity_is_an_error_that_names_it() {
    let environment = TestEnvironment::with_demo();
    let recipient = environment.identity("identity");
    environment.json(["encrypt", "march.alf", "-r", &recipient, "-o", "sealed.age"]);
    environment.json(["vault", "keygen", "-o", "key"]);
    environment.write("empty", "");
    for name in ["key", "empty"] {
        let failure = environment.failure(1, ["decrypt", "sealed.age", "-i", name, "-o", "no.alf"]);
        assert_eq!(failure["code"], "identity");
        assert!(failure["error"].as_str().unwrap().starts_with(name), "{failure}");
        assert!(failure["hint"].is_string());
    }
}

#[test]
fn an_open_file_is_not_opened() {
    let environment = TestEnvironment::with_demo();
    let failure = environment.failure(1, ["decrypt", "march.alf", "-o", "no.alf"]);
    assert_eq!(failure["code"], "not_sealed");
}

#[test]
fn a_sealed_file_that_was_damaged_or_cut_does_not_open() {
    let environment = TestEnvironment::with_demo();
    let recipient = environment.identity("identity");
    environment.json(["encrypt", "march.alf", "-r", &recipient, "-o", "sealed.age"]);
    let sealed = environment.read("sealed.age");
    let mut flipped = sealed.clone();
    flipped[10_000] ^= 1;
    let cuts =
        [sealed[..sealed.len() - 1].to_vec(), sealed[..9_000].to_vec(), sealed[..100].to_vec()];
    for damaged in cuts.into_iter().chain([flipped]) {
        environment.write("damaged.age", damaged);
        environment.failure(1, ["decrypt", "damaged.age", "-i", "identity", "-o", "no.alf"]);
        let ran = environment.run(["validate", "damaged.age", "-i", "identity"]);
        assert_eq!(ran.code, 1);
        assert_eq!(ran.document()["ok"], false);
    }
}

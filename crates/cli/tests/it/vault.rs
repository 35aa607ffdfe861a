//! `anemone vault`

use crate::environment::TestEnvironment;

#[test]
fn a_vault_key_is_64_hex_digits_in_a_private_file_and_is_never_shown() {
    let environment = TestEnvironment::new();
    for (name, flag) in [("one", "--json"), ("two", "--human")] {
        let ran = environment.run(["vault", "keygen", "-o", name, flag]);
        assert_eq!(ran.code, 0);
        let text = String::from_utf8(environment.read(name)).unwrap();
        let key = text.strip_suffix('\n').unwrap();
        assert_eq!(key.len(), 64);
        assert!(key.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f')), "hex");
        for part in key.as_bytes().chunks(16) {
            let part = str::from_utf8(part).unwrap();
            assert!(!ran.stdout.contains(part) && !ran.stderr.contains(part), "shown");
        }
        environment.assert_private(name);
    }
    assert_ne!(environment.read("one"), environment.read("two"));
}

#[test]
fn a_vault_key_is_told_from_others_by_an_id() {
    let environment = TestEnvironment::new();
    let made = environment.json(["vault", "keygen", "-o", "key"]);
    assert_eq!(made["output"], "key");
    assert_eq!(made["kind"], "vault key");
    let id = made["key_id"].as_str().unwrap().to_owned();
    assert_eq!(id.len(), 16);
    let text = environment.human(["vault", "keygen", "-o", "other"]);
    assert!(!text.contains(&id));
    let (before, id) = text.trim_end().rsplit_once(' ').unwrap();
    assert_eq!(before, "wrote other: vault key");
    assert_eq!(id.len(), 16);
}

#[test]
fn an_age_identity_is_private_and_only_its_recipient_is_shown() {
    let environment = TestEnvironment::new();
    let ran = environment.run(["vault", "keygen", "--age", "-o", "identity"]);
    let made = ran.document();
    let recipient = made["recipient"].as_str().unwrap();
    let text = String::from_utf8(environment.read("identity")).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0], format!("# public key: {recipient}"));
    assert!(lines[1].starts_with("AGE-SECRET-KEY-1") && lines.len() == 2);
    assert!(!(ran.stdout + &ran.stderr).to_uppercase().contains("AGE-SECRET-KEY"));
    environment.assert_private("identity");
}

#[test]
fn a_key_that_is_there_is_kept_unless_forced() {
    let environment = TestEnvironment::new();
    for age in [&[][..], &["--age"]] {
        let keygen = |flags: &[&'static str]| -> Vec<&'static str> {
            [&["vault", "keygen", "-o", "key"], age, flags].concat()
        };
        environment.write("key", "precious");
        let failure = environment.failure(1, keygen(&[]));
        assert_eq!(failure["code"], "exists");
        assert_eq!(environment.read("key"), b"precious");
        environment.json(keygen(&["--force"]));
        assert_ne!(environment.read("key"), b"precious");
        environment.assert_private("key");
    }
}

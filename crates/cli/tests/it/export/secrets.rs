//! Secrets stay out, or travel sealed.

use anemone_testkit::workspace::Workspace;
use serde_json::{Value, json};

use super::{PLANTED, PLANTED_INSTALL, edge};
use crate::environment::TestEnvironment;
use crate::workspace::{Ground, assert_holds_none, export, fields, import, tree, with};
use anemone_testkit::zip::{holds, unzip};

#[test]
fn a_secret_stops_an_export_and_is_not_shown() {
    let (environment, ground) = edge();
    let workspace = ground.path("w").display().to_string();
    let before = tree(&ground.path(""));
    let args = ["export", "-w", &workspace, "-o", "a.alf"];
    let ran = environment.run(args);
    assert!(PLANTED.iter().all(|planted| !ran.stdout.contains(planted)), "{}", ran.stdout);
    let failure = environment.failure(1, args);
    assert_eq!(failure["code"], "secrets_found");
    let causes = failure["causes"].as_array().unwrap();
    for place in [".env:1", "memory/.hidden-note.md:3"] {
        assert!(causes.iter().any(|cause| cause.as_str().unwrap().starts_with(place)), "{failure}");
    }
    assert_eq!(causes.len(), 2, "nothing else is one: {failure}");
    let text = environment.human_failure(1, args);
    assert!(
        text.contains(".env:1") && PLANTED.iter().all(|planted| !text.contains(planted)),
        "{text}"
    );
    assert!(!environment.exists("a.alf"));
    assert_eq!(tree(&ground.path("")), before);
}

#[test]
fn redacted_secrets_are_nowhere_in_the_archive_and_never_replace_the_true_ones() {
    let (environment, ground) = edge();
    let workspace = ground.path("w");
    let exported = export(&environment, &workspace, "a.alf", &["--redact-secrets"]);
    assert_eq!(fields(&exported["secrets"], "path"), [".env", "memory/.hidden-note.md"]);
    assert_holds_none(&environment.read("a.alf"), &PLANTED);
    for conflict in ["stop", "theirs", "both"] {
        let imported = import(&environment, &workspace, "a.alf", &["--on-conflict", conflict]);
        let listed = &imported["not_restored"];
        for path in [".env", "memory/.hidden-note.md"] {
            assert_eq!(with(listed, "path", path)["what"], "secrets");
        }
        assert!(holds(&ground.read("w/.env"), b"sk-SECRETENV-0123456789"), "{conflict}");
        assert!(holds(&ground.read("w/memory/.hidden-note.md"), b"sk-SECRETHIDDEN-42"));
    }
}

#[test]
fn what_is_allowed_travels_and_is_listed() {
    let (environment, ground) = edge();
    let exported = export(&environment, &ground.path("w"), "a.alf", &["--allow-secrets"]);
    assert_eq!(fields(&exported["secrets"], "path"), [".env", "memory/.hidden-note.md"]);
    let entries = unzip(&environment.read("a.alf"));
    assert!(entries.values().any(|value| holds(&value.content, b"SECRETENV")));
    let both = ["export", "-w", "x", "--allow-secrets", "--redact-secrets"];
    environment.failure(2, both);
}

#[test]
fn secrets_of_an_install_never_travel_in_clear() {
    let (environment, ground) = (TestEnvironment::new(), Ground::new());
    let home = environment.home("");
    ground.generate("w", &Workspace::edge_cases().install(&home));
    let exported = environment.json(["export", "-o", "a.alf", "--allow-secrets", "--sessions"]);
    assert_eq!(
        (&exported["credentials_count"], &exported["credentials_sealed"]),
        (&json!(2), &json!(0))
    );
    let archive = environment.read("a.alf");
    assert_holds_none(&archive, &PLANTED_INSTALL);
    let credentials = &unzip(&archive)["credentials.json"].content;
    let credentials: Value = serde_json::from_slice(credentials).unwrap();
    let list = &credentials["credentials"];
    assert_eq!(with(list, "service", "anthropic")["credential_type"], "api_key");
    assert_eq!(with(list, "service", "openai")["credential_type"], "oauth_token");
    for credential in list.as_array().unwrap() {
        assert_eq!(credential["encrypted_payload"], "<not-exported>");
    }
}

#[test]
fn with_a_key_secrets_travel_sealed_and_always_the_same() {
    let (environment, ground) = (TestEnvironment::new(), Ground::new());
    let home = environment.home("");
    ground.generate("w", &Workspace::plain().install(&home));
    environment.json(["vault", "keygen", "-o", "key"]);
    let args = ["export", "--credentials", "--vault-key", "key", "-o"];
    for output in ["a.alf", "b.alf"] {
        let exported = environment.json([&args[..], &[output]].concat());
        assert_eq!(exported["credentials_sealed"], 2);
    }
    let archive = environment.read("a.alf");
    assert!(archive == environment.read("b.alf"), "two exports are the same");
    assert_holds_none(&archive, &PLANTED_INSTALL);
    let credentials = &unzip(&archive)["credentials.json"].content;
    let credentials: Value = serde_json::from_slice(credentials).unwrap();
    for credential in credentials["credentials"].as_array().unwrap() {
        let payload = credential["encrypted_payload"].as_str().unwrap();
        assert!(payload.len() > 20 && payload != "<not-exported>", "{payload}");
        assert_ne!(credential["encryption"]["algorithm"], "none");
    }
    environment.json(["vault", "keygen", "-o", "other"]);
    let other = ["export", "--credentials", "--vault-key", "other", "-o", "c.alf"];
    environment.json(other);
    assert!(archive != environment.read("c.alf"), "the key matters");
}

#[test]
fn sealing_needs_a_key_and_a_key_needs_something_to_seal() {
    let (environment, ground) = (TestEnvironment::new(), Ground::new());
    let workspace = ground.small("w").display().to_string();
    environment.failure(2, ["export", "-w", &workspace, "--credentials"]);
    environment.json(["vault", "keygen", "-o", "key"]);
    environment.failure(2, ["export", "-w", &workspace, "--vault-key", "key"]);
    environment.write("bad", "this is no key");
    environment.failure(
        1,
        ["export", "-w", &workspace, "-o", "a.alf", "--credentials", "--vault-key", "bad"],
    );
}

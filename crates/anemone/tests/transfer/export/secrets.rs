//! Secrets stay out, or travel sealed.

use anemone::export::ExportError;
use anemone_runtimes::OnConflict;
use anemone_testkit::ground::{Ground, assert_holds_none, fields, tree, with};
use anemone_testkit::workspace::Workspace;
use anemone_testkit::zip::{holds, unzip};
use serde_json::{Value, json};

use super::{PLANTED, PLANTED_INSTALL, edge, export_only, try_export};
use crate::support::TestMachine;
use crate::support::transfer::With;
use crate::workspace::{export, import};

#[test]
fn a_secret_stops_an_export_and_is_not_shown() {
    let (machine, ground) = edge();
    let before = tree(&ground.path(""));
    let error = try_export(&machine, &ground.path("w"), &[]).unwrap_err();
    let told = format!("{error:?} {error}");
    assert!(PLANTED.iter().all(|planted| !told.contains(planted)), "{told}");
    let ExportError::Secrets(secrets) = error else { panic!("{told}") };
    let places: Vec<_> = secrets.iter().map(|secret| (&*secret.path, secret.line)).collect();
    assert_eq!(places, [(".env", 1), ("memory/.hidden-note.md", 3)], "nothing else is one");
    assert!(!machine.exists("a.alf"));
    assert_eq!(tree(&ground.path("")), before);
}

#[test]
fn redacted_secrets_are_nowhere_in_the_archive_and_never_replace_the_true_ones() {
    let (machine, ground) = edge();
    let workspace = ground.path("w");
    let exported = export(&machine, &workspace, "a.alf", &[With::RedactSecrets]);
    assert_eq!(fields(&exported["secrets"], "path"), [".env", "memory/.hidden-note.md"]);
    assert_holds_none(&machine.read("a.alf"), &PLANTED);
    for policy in [OnConflict::Stop, OnConflict::Theirs, OnConflict::Both] {
        let imported = import(&machine, &workspace, "a.alf", &[With::OnConflict(policy)]);
        let listed = &imported["not_restored"];
        for path in [".env", "memory/.hidden-note.md"] {
            assert_eq!(with(listed, "path", path)["what"], "secrets");
        }
        assert!(holds(&ground.read("w/.env"), b"sk-SECRETENV-0123456789"), "{policy:?}");
        assert!(holds(&ground.read("w/memory/.hidden-note.md"), b"sk-SECRETHIDDEN-42"));
    }
}

#[test]
fn what_is_allowed_travels_and_is_listed() {
    let (machine, ground) = edge();
    let exported = export(&machine, &ground.path("w"), "a.alf", &[With::AllowSecrets]);
    assert_eq!(fields(&exported["secrets"], "path"), [".env", "memory/.hidden-note.md"]);
    let entries = unzip(&machine.read("a.alf"));
    assert!(entries.values().any(|value| holds(&value.content, b"SECRETENV")));
}

#[test]
fn the_secrets_of_one_file_can_be_allowed() {
    let (machine, ground) = edge();
    let workspace = ground.path("w");
    let note = With::AllowSecret("memory/.hidden-note.md");
    let error = try_export(&machine, &workspace, &[note]).unwrap_err();
    let ExportError::Secrets(secrets) = error else { panic!("{error}") };
    assert_eq!(secrets.iter().map(|secret| &*secret.path).collect::<Vec<_>>(), [".env"]);

    // The other file is named in another way, and both are still listed.
    let env = workspace.join(".env");
    let both = [note, With::AllowSecret(env.to_str().unwrap())];
    let exported = export(&machine, &workspace, "a.alf", &both);
    assert_eq!(fields(&exported["secrets"], "path"), [".env", "memory/.hidden-note.md"]);
    export(&machine, &workspace, "all.alf", &[With::AllowSecrets]);
    assert!(machine.read("a.alf") == machine.read("all.alf"));

    export(&machine, &workspace, "b.alf", &[With::RedactSecrets, note]);
    let entries = unzip(&machine.read("b.alf"));
    let has = |text: &[u8]| entries.values().any(|value| holds(&value.content, text));
    assert!(has(b"SECRETHIDDEN") && !has(b"SECRETENV"));
    // What is replaced now differs from what was replaced in the earlier archive.
    let exported =
        export(&machine, &workspace, "c.alf", &[With::RedactSecrets, With::Since("b.alf")]);
    assert_eq!(exported["no_changes"], false);
    assert_holds_none(&machine.read("c.alf"), &PLANTED);
}

#[test]
fn secrets_of_an_install_never_travel_in_clear() {
    let (machine, ground) = (TestMachine::new(), Ground::new());
    let home = machine.home("");
    ground.generate("w", &Workspace::edge_cases().install(&home));
    let exported = export_only(&machine, "a.alf", &[With::AllowSecrets, With::Sessions]);
    assert_eq!(
        (&exported["credentials_count"], &exported["credentials_sealed"]),
        (&json!(2), &json!(0))
    );
    let archive = machine.read("a.alf");
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
    let (machine, ground) = (TestMachine::new(), Ground::new());
    let home = machine.home("");
    ground.generate("w", &Workspace::plain().install(&home));
    machine.vault_key("key");
    for output in ["a.alf", "b.alf"] {
        let exported = export_only(&machine, output, &[With::VaultKey("key")]);
        assert_eq!(exported["credentials_sealed"], 2);
    }
    let archive = machine.read("a.alf");
    assert!(archive == machine.read("b.alf"), "two exports are the same");
    assert_holds_none(&archive, &PLANTED_INSTALL);
    let credentials = &unzip(&archive)["credentials.json"].content;
    let credentials: Value = serde_json::from_slice(credentials).unwrap();
    for credential in credentials["credentials"].as_array().unwrap() {
        let payload = credential["encrypted_payload"].as_str().unwrap();
        assert!(payload.len() > 20 && payload != "<not-exported>", "{payload}");
        assert_ne!(credential["encryption"]["algorithm"], "none");
    }
    machine.vault_key("other");
    export_only(&machine, "c.alf", &[With::VaultKey("other")]);
    assert!(archive != machine.read("c.alf"), "the key matters");
}

#[test]
fn a_key_that_is_none_seals_nothing() {
    let (machine, ground) = (TestMachine::new(), Ground::new());
    machine.write("bad", "this is no key");
    let more = [With::VaultKey("bad")];
    let error = try_export(&machine, &ground.small("w"), &more).unwrap_err();
    assert!(matches!(error, ExportError::Keys(_)), "{error:?}");
}

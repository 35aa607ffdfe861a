//! Secrets stay out, or travel sealed.

use super::{PLANTED, edge};
use crate::environment::TestEnvironment;
use crate::workspace::{Ground, tree};

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
    let hint = failure["hint"].as_str().unwrap();
    let allowed = ["--allow-secret=.env", "--allow-secret=memory/.hidden-note.md"];
    assert!(hint.ends_with(&allowed.join(" ")), "{hint}");
    environment.json([&args[..], &allowed].concat());
}

#[test]
fn sealing_needs_a_key_and_a_key_needs_something_to_seal() {
    let (environment, ground) = (TestEnvironment::new(), Ground::new());
    let workspace = ground.small("w").display().to_string();
    environment.failure(2, ["export", "-w", "x", "--allow-secrets", "--redact-secrets"]);
    environment.failure(2, ["export", "-w", &workspace, "--credentials"]);
    environment.json(["vault", "keygen", "-o", "key"]);
    environment.failure(2, ["export", "-w", &workspace, "--vault-key", "key"]);
    environment.write("bad", "this is no key");
    environment.failure(
        1,
        ["export", "-w", &workspace, "-o", "a.alf", "--credentials", "--vault-key", "bad"],
    );
}

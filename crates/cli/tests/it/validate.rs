//! `anemone validate`

use serde_json::Value;

use crate::environment::{TestEnvironment, reference};
use anemone_testkit::zip::zip;

/// Checks the keys that programs rely on, and returns whether the file is valid.
fn check_shape(report: &Value) -> bool {
    assert!(report["valid"].is_boolean(), "{report}");
    assert_eq!(report["ok"], report["valid"]);
    assert!(report["class"].is_string(), "{report}");
    for list in ["errors", "warnings"] {
        for finding in report[list].as_array().expect("a list") {
            assert!(finding["path"].is_string() && finding["message"].is_string(), "{finding}");
        }
    }
    report["valid"] == true
}

/// Validates a file that is not valid: exit code 1, and still only one document.
fn invalid(environment: &TestEnvironment, name: &str) -> Value {
    let ran = environment.run(["validate", name]);
    assert_eq!((ran.code, ran.stderr.as_str()), (1, ""));
    let report = ran.document();
    assert!(!check_shape(&report));
    assert_ne!(report["errors"], serde_json::json!([]));
    report
}

#[test]
fn archives_and_deltas_of_the_demo_are_valid() {
    let environment = TestEnvironment::with_demo();
    for (name, kind, records) in [
        ("march.alf", "archive", 25),
        ("april.alf", "archive", 27),
        ("march-to-april.alf-delta", "delta", 9),
    ] {
        let report = environment.json(["validate", name]);
        assert!(check_shape(&report));
        assert_eq!(report["class"], "ok");
        assert_eq!(report["kind"], kind);
        assert_eq!(report["errors"].as_array().unwrap().len(), 0);
        assert_eq!(report["warnings"].as_array().unwrap().len(), 0);
        assert_eq!(report["checked"]["records"], records);
        assert!(report["checked"]["digests"].as_u64() > Some(0));
    }
}

#[test]
fn files_of_the_existing_tool_are_valid() {
    let environment = TestEnvironment::new();
    for (name, kind) in [
        ("reference-openclaw.alf", "archive"),
        ("reference-zeroclaw.alf", "archive"),
        ("reference.alf-delta", "delta"),
    ] {
        let path = reference(name);
        let report = environment.json(["validate".as_ref(), path.as_os_str()]);
        assert!(check_shape(&report));
        assert_eq!(report["kind"], kind);
        assert_eq!(report["errors"].as_array().unwrap().len(), 0);
    }
}

#[test]
fn a_flipped_bit_is_an_error_anywhere_in_the_file() {
    let environment = TestEnvironment::with_demo();
    let sound = environment.read("march.alf");
    for at in (0..sound.len()).step_by(sound.len() / 12) {
        let mut damaged = sound.clone();
        damaged[at] ^= 0x10;
        environment.write("damaged.alf", damaged);
        let report = invalid(&environment, "damaged.alf");
        assert!(report["class"].as_str().unwrap().starts_with("refuse-"), "{report}");
    }
}

/// Makes a file that is an archive but for the version of its format.
fn archive_of_version(version: &str) -> Vec<u8> {
    let manifest = serde_json::json!({
        "alf_version": version,
        "created_at": "2026-01-15T10:30:00Z",
        "agent": {
            "id": "00000000-0000-4000-8000-000000000001",
            "name": "Clawdia",
            "source_runtime": "openclaw",
        },
        "layers": {},
    });
    zip(&[("manifest.json", manifest.to_string().as_bytes())])
}

#[test]
fn a_file_for_a_newer_program_is_refused_for_its_version() {
    let environment = TestEnvironment::new();
    environment.write("ours.alf", archive_of_version("1.0.0"));
    assert_eq!(environment.json(["validate", "ours.alf"])["valid"], true);
    environment.write("newer.alf", archive_of_version("2.0.0"));
    let report = invalid(&environment, "newer.alf");
    assert_eq!(report["class"], "refuse-version");
    let failure = environment.failure(1, ["inspect", "newer.alf"]);
    assert_eq!(failure["code"], "unsupported_version");
    assert!(failure["error"].as_str().unwrap().contains("2.0.0"), "{failure}");
    assert!(failure["hint"].is_string(), "{failure}");
}

#[test]
fn an_error_that_quotes_an_archive_cannot_steer_the_terminal() {
    let environment = TestEnvironment::new();
    let odd = "2.0.0\u{7}\u{202e}\u{1b}]0;title";
    environment.write("odd.alf", archive_of_version(odd));
    for command in ["validate", "inspect"] {
        // Colour is forced, so that nothing between here and there takes sequences out.
        let variables = [("CLICOLOR_FORCE", "1"), ("ALF_HUMAN", "1")];
        let ran = environment.run_with(&variables, [command, "odd.alf"]);
        assert_eq!(ran.code, 1);
        let shown = ran.stdout + &ran.stderr;
        assert!(shown.contains("2.0.0"), "{shown:?}");
        for bad in ["\u{7}", "\u{202e}", "\u{1b}]"] {
            assert!(!shown.contains(bad), "{command}: {shown:?}");
        }
    }
}

#[test]
fn people_read_what_was_checked() {
    let environment = TestEnvironment::with_demo();
    insta::assert_snapshot!(environment.human(["validate", "march.alf"]), @"valid (ok): 24 entries, 25 records, [size] read, 24 digests compared, 0 warnings");
    let text = environment.human(["validate", "march-to-april.alf-delta"]);
    insta::assert_snapshot!(text, @"valid (ok): 8 entries, 9 records, [size] read, 8 digests compared, 0 warnings");
}

#[test]
fn people_read_what_is_wrong_on_stdout_because_it_is_the_result() {
    let environment = TestEnvironment::new();
    environment.write("text.md", "# not an archive\n");
    let ran = environment.run(["--human", "validate", "text.md"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (1, ""));
    insta::assert_snapshot!(ran.stdout, @"
    error: the file: not an .alf archive, or the file is truncated
    not valid (refuse-corrupt): 1 error
    ");
}

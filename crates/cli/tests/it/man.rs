//! `anemone man`

use crate::environment::TestEnvironment;

#[test]
fn the_manual_is_roff_and_names_the_commands() {
    let ran = TestEnvironment::new().run(["man"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    assert!(ran.stdout.contains(".TH anemone 1"), "{}", &ran.stdout[..200]);
    for word in [".SH NAME", ".SH SYNOPSIS", "validate", "purge", "passphrase\\-file"] {
        assert!(ran.stdout.contains(word), "{word}");
    }
}

#[test]
fn pages_for_every_command_are_written_to_a_folder() {
    let environment = TestEnvironment::new();
    let ran = environment.run(["man", "--output", "share/man/man1"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    for page in ["anemone", "anemone-validate", "anemone-purge", "anemone-vault-keygen"] {
        let text = environment.read(&format!("share/man/man1/{page}.1"));
        let text = String::from_utf8(text).unwrap();
        assert!(text.contains(&format!(".TH {page} 1")), "{page}: {text}");
    }
}

#[test]
fn a_file_where_the_folder_should_be_is_an_error() {
    let environment = TestEnvironment::new();
    environment.write("taken", "");
    let failure = environment.failure(1, ["man", "--output", "taken"]);
    assert!(failure["error"].as_str().unwrap().contains("taken"), "{failure}");
}

#[test]
fn what_was_written_is_printed_as_json() {
    let environment = TestEnvironment::new();
    environment.json(["man", "--output", "pages"]);
}

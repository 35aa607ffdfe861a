//! Odd input: files that are no archives, and archives with odd names.

use anemone_testkit::skip;

use crate::environment::TestEnvironment;

/// Commands that read a file, with the place where its name goes.
const READERS: &[&[&str]] = &[
    &["inspect", "FILE"],
    &["diff", "FILE", "march.alf"],
    &["diff", "march.alf", "FILE"],
    &["delta", "march.alf", "FILE", "-o", "new"],
    &["delta", "march.alf", "FILE", "--dry-run"],
    &["apply", "FILE", "march-to-april.alf-delta", "-o", "new"],
    &["apply", "march.alf", "FILE", "-o", "new"],
    &["apply", "march.alf", "march-to-april.alf-delta", "FILE", "-o", "new"],
    &["purge", "FILE", "--record", "88c555e0-5d0c-51de-a067-64f2767ce8c1", "-o", "new"],
    &["encrypt", "FILE", "-r", RECIPIENT, "-o", "new"],
    &["decrypt", "FILE", "-o", "new"],
];
const RECIPIENT: &str = "age1t5flwqehe7cufz82268ljlg5aanskrjjj08sc0xt8ugmyf5psv9samk95e";

fn with<'a>(command: &[&'a str], file: &'a str) -> Vec<&'a str> {
    command.iter().map(|&word| if word == "FILE" { file } else { word }).collect()
}

#[test]
fn what_is_no_archive_fails_with_its_name_in_every_command() {
    let environment = TestEnvironment::with_demo();
    let march = environment.read("march.alf");
    environment.write("empty.alf", "");
    environment.write("text.alf", "# not an archive\n");
    environment.write("cut.alf", &march[..march.len() / 2]);
    environment.write("one-short.alf", &march[..march.len() - 1]);
    environment.write("zip-of-nothing.alf", b"PK\x05\x06\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0");
    environment.write("age-of-nothing.alf", "age-encryption.org/v1\n");
    fs_err::create_dir(environment.path("folder.alf")).unwrap();
    for name in [
        "empty.alf",
        "text.alf",
        "cut.alf",
        "one-short.alf",
        "zip-of-nothing.alf",
        "age-of-nothing.alf",
        "folder.alf",
        "missing.alf",
    ] {
        for command in READERS {
            let failure = environment.failure(1, with(command, name));
            let error = failure["error"].as_str().unwrap();
            assert!(error.contains(name), "{command:?} {name}: {error}");
        }
        let ran = environment.run(["validate", name]);
        assert_eq!(ran.code, 1, "{name}");
        let report = ran.document();
        assert_eq!(report["ok"], false);
        let refused = report["class"] == "refuse-corrupt" && report["valid"] == false;
        assert!(refused || report["error"].as_str().unwrap().contains(name), "{name}: {report}");
    }
}

#[test]
fn a_missing_file_and_a_folder_have_codes_of_their_own() {
    let environment = TestEnvironment::with_demo();
    for command in READERS.iter().chain([&["validate", "FILE"].as_slice()]) {
        let failure = environment.failure(1, with(command, "missing.alf"));
        assert_eq!(failure["code"], "not_found", "{command:?}");
        let failure = environment.failure(1, with(command, "."));
        assert_eq!(failure["code"], "is_a_folder", "{command:?}");
    }
}

#[test]
fn names_may_have_spaces_dashes_and_any_script() {
    let environment = TestEnvironment::with_demo();
    fs_err::create_dir(environment.path("a folder 文件夹")).unwrap();
    for name in ["a name with spaces.alf", "三月.alf", "a folder 文件夹/März 🦀", "-"] {
        let there = format!("./{name}");
        environment.write(name, environment.read("march.alf"));
        assert_eq!(environment.json(["validate", &there])["valid"], true);
        let delta = format!("{there} delta");
        let made = environment.json(["delta", &there, "april.alf", "-o", &delta]);
        assert_eq!(made["output"], delta);
        let new = format!("{there} new");
        environment.json(["apply", &there, &delta, "-o", &new]);
        assert!(environment.read(&new) == environment.read("april.alf"));
        let text = environment.human(["apply", &there, &delta, "-o", &new, "--force"]);
        assert!(text.contains(&new), "{text}");
    }
    // A name that looks like a flag is given after two dashes.
    environment.write("--march.alf", environment.read("march.alf"));
    environment.json(["validate", "--", "--march.alf"]);
}

#[test]
#[cfg(target_os = "linux")]
fn names_need_not_be_utf8() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt as _;
    let environment = TestEnvironment::with_demo();
    let odd = |bytes: &'static [u8]| OsStr::from_bytes(bytes);
    let march = odd(b"m\xe4rz.alf");
    fs_err::copy(environment.path("march.alf"), environment.path(march)).unwrap();
    assert_eq!(environment.json([OsStr::new("validate"), march])["valid"], true);
    let made = environment.json([
        OsStr::new("delta"),
        march,
        OsStr::new("april.alf"),
        OsStr::new("-o"),
        odd(b"to april\xff"),
    ]);
    assert_eq!(made["output"], "to april\u{fffd}");
    environment.json([
        OsStr::new("apply"),
        march,
        odd(b"to april\xff"),
        OsStr::new("-o"),
        odd(b"april\xfe.alf"),
    ]);
    let new = fs_err::read(environment.path(odd(b"april\xfe.alf"))).unwrap();
    assert!(new == environment.read("april.alf"));
    // An error about such a file can still be printed.
    let failure = environment.failure(1, [OsStr::new("inspect"), odd(b"missing\xff")]);
    assert_eq!(failure["code"], "not_found");
}

#[test]
#[cfg(unix)]
fn a_link_to_an_archive_is_as_good_as_the_archive() {
    let environment = TestEnvironment::with_demo();
    fs_err::os::unix::fs::symlink("march.alf", environment.path("link")).unwrap();
    assert_eq!(environment.json(["validate", "link"])["valid"], true);
    fs_err::os::unix::fs::symlink("nowhere", environment.path("dangling")).unwrap();
    assert_eq!(environment.failure(1, ["validate", "dangling"])["code"], "not_found");
}

#[test]
#[cfg(target_os = "linux")]
fn a_file_that_may_not_be_read_is_an_error_that_says_so() {
    use std::os::unix::fs::PermissionsExt as _;
    let environment = TestEnvironment::new();
    let path = environment.path("locked.alf");
    environment.write("locked.alf", "");
    fs_err::set_permissions(&path, std::fs::Permissions::from_mode(0o0)).unwrap();
    if fs_err::read(&path).is_ok() {
        skip("unprivileged", "root may read every file");
        return;
    }
    let ran = environment.command().args(["inspect", "locked.alf"]).output().unwrap();
    assert_eq!(ran.status.code(), Some(1));
    let said = String::from_utf8(ran.stdout).unwrap();
    assert!(said.contains("\"permission_denied\"") && said.contains("locked.alf"), "{said}");
}

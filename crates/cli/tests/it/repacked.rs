//! Archives that another tool unpacked and packed again, and archives that were edited.

use std::process::{Command, Stdio};

use crate::environment::TestEnvironment;

const SOUL: &str = "raw/openclaw/SOUL.md";

/// Runs another program in a folder; it must be there and succeed.
fn run(environment: &TestEnvironment, folder: &str, program: &str, args: &[&str]) {
    let mut command = Command::new(program);
    command.args(args).current_dir(environment.path(folder)).env("LC_ALL", "C.UTF-8");
    let output = command.stdin(Stdio::null()).output();
    let output = output.unwrap_or_else(|error| panic!("{program} does not run: {error}"));
    assert!(output.status.success(), "{program} {args:?}: {output:?}");
}

/// Makes a folder with the demo and what `unzip` makes of an archive of it.
fn unpacked() -> TestEnvironment {
    let environment = TestEnvironment::with_demo();
    run(&environment, "", "unzip", &["-q", "march.alf", "-d", "out"]);
    environment
}

/// Packs the folder with Python's own library; `how` is its code for one file `name`.
fn pack_with_python(environment: &TestEnvironment, how: &str) {
    let script = format!(
        "import os, zipfile\n\
         names = [os.path.join(d, f) for d, _, fs in os.walk('.') for f in fs]\n\
         names = sorted((os.path.relpath(n, '.') for n in names), reverse=True)\n\
         with zipfile.ZipFile('../again.alf', 'w') as z:\n\
         \x20   z.comment = b'packed by a script'\n\
         \x20   for name in names:\n\
         \x20       {how}\n"
    );
    run(environment, "out", "python3", &["-c", &script]);
}

/// Checks that the archive is read and written from as the original is.
fn assert_as_good_as_the_original(environment: &TestEnvironment, how: &str) {
    let report = environment.json(["validate", "again.alf"]);
    let codes: Vec<_> = report["warnings"]
        .as_array()
        .expect("the test made it")
        .iter()
        .map(|array| &array["code"])
        .collect();
    assert_eq!(codes, ["seal-missing"], "{how}: {report}");
    assert_eq!(report["class"], "ok", "{how}");
    let shown = environment.json(["inspect", "again.alf", "--records"]);
    assert_eq!(shown["digest_sealed"], false, "{how}");
    assert_eq!(shown["memory_records"], 25, "{how}");
    assert_eq!(environment.json(["diff", "again.alf", "march.alf"])["equal"], true, "{how}");
    let imported = environment.json(["import", "-r", "openclaw", "-w", "ws", "again.alf"]);
    let warnings = imported["warnings"].to_string();
    assert!(warnings.contains("no seal"), "{how}: {warnings}");
    let soul = fs_err::read(environment.path("ws/SOUL.md")).expect("the test made it");
    assert!(soul == environment.read(&format!("out/{SOUL}")), "{how}");
    let delta = environment.run(["delta", "again.alf", "april.alf", "-o", "delta"]);
    assert_eq!(delta.code, 0, "{how}: {}", delta.stdout);
    assert!(delta.stderr.contains("no seal"), "{how}: {}", delta.stderr);
    environment.json(["apply", "march.alf", "delta", "-o", "april-again.alf"]);
    assert!(environment.read("april-again.alf") == environment.read("april.alf"), "{how}");
    for name in ["delta", "april-again.alf", "again.alf"] {
        fs_err::remove_file(environment.path(name)).expect("the test made it");
    }
    fs_err::remove_dir_all(environment.path("ws")).expect("the test made it");
}

#[test]
fn what_zip_packed_again_is_as_good_as_the_original_and_its_lost_seal_a_warning() {
    let environment = unpacked();
    // Plain; stored, without extra fields and folders; with data descriptors; with ZIP64 records.
    for options in [
        &["-q", "-r"][..],
        &["-q", "-r", "-0", "-X", "-D"],
        &["-q", "-r", "-fd", "-9"],
        &["-q", "-r", "-fz"],
    ] {
        let args = [options, &["../again.alf", "."]].concat();
        run(&environment, "out", "zip", &args);
        assert_as_good_as_the_original(&environment, &format!("zip {options:?}"));
    }
}

#[test]
fn what_a_script_packed_again_is_as_good_as_the_original() {
    let environment = unpacked();
    for how in [
        "z.writestr(zipfile.ZipInfo(name), open(name, 'rb').read(), zipfile.ZIP_DEFLATED)",
        "z.writestr(zipfile.ZipInfo(name), open(name, 'rb').read())",
        "with z.open(name, 'w', force_zip64=True) as f: f.write(open(name, 'rb').read())",
    ] {
        pack_with_python(&environment, how);
        assert_as_good_as_the_original(&environment, how);
    }
}

#[test]
fn an_entry_that_was_edited_is_named_with_both_digests_and_taken_in_when_asked() {
    let environment = unpacked();
    let soul = environment.path("out").join(SOUL);
    fs_err::write(&soul, "# Soul\n\nI was edited by hand.\n").unwrap();
    fs_err::write(environment.path("out/raw/openclaw/ADDED.md"), "added\n").unwrap();
    run(&environment, "out", "zip", &["-q", "-r", "../edited.alf", "."]);
    // In place, `zip` keeps the comment, so that the seal is there and wrong.
    fs_err::copy(environment.path("march.alf"), environment.path("in-place.alf")).unwrap();
    run(&environment, "out", "zip", &["-q", "../in-place.alf", SOUL]);

    for file in ["edited.alf", "in-place.alf"] {
        let ran = environment.run(["validate", file]);
        assert_eq!(ran.code, 1);
        let report = ran.document();
        let errors = report["errors"].as_array().unwrap();
        let edited: Vec<_> = errors.iter().filter(|error| error["code"] == "edited").collect();
        assert_eq!(edited.len(), 1, "{report}");
        assert_eq!(edited[0]["path"], SOUL);
        let message = edited[0]["message"].as_str().unwrap();
        assert!(message.contains("SHA-256") && message.contains("the manifest says"), "{message}");
        let import = ["import", "-r", "openclaw", "-w", "ws", file];
        let failure = environment.failure(1, import);
        assert!(failure["hint"].as_str().unwrap().contains("--accept-edited"), "{failure}");

        let report = environment.json(["validate", "--accept-edited", file]);
        let warnings = report["warnings"].to_string();
        assert!(warnings.contains(SOUL), "{warnings}");
        let shown = environment.json(["inspect", "--accept-edited", file]);
        let paths: Vec<_> =
            shown["edited"].as_array().unwrap().iter().map(|array| array["path"].clone()).collect();
        assert!(paths.contains(&SOUL.into()), "{shown}");
        let imported = environment.json(import.iter().chain(&["--accept-edited"]));
        assert!(imported["warnings"].to_string().contains(SOUL), "{imported}");
        let text = fs_err::read_to_string(environment.path("ws/SOUL.md")).unwrap();
        assert!(text.contains("edited by hand"), "{text}");
        assert_eq!(environment.exists("ws/ADDED.md"), file == "edited.alf");
        fs_err::remove_dir_all(environment.path("ws")).unwrap();
    }
}

#[test]
fn accepting_edits_accepts_nothing_else() {
    let environment = unpacked();
    let partition = environment.path("out/memory/partitions/2026-Q1.jsonl");
    let text = fs_err::read_to_string(&partition).unwrap();
    let edited = text.replacen("\"origin_file\":\"", "\"origin_file\":\"../../", 1);
    assert_ne!(edited, text);
    fs_err::write(&partition, edited).unwrap();
    run(&environment, "out", "zip", &["-q", "-r", "../edited.alf", "."]);
    let ran = environment.run(["validate", "--accept-edited", "edited.alf"]);
    assert_eq!((ran.code, &ran.document()["class"]), (1, &"refuse-unsafe".into()));
    let args = ["import", "-r", "openclaw", "-w", "ws", "--accept-edited", "edited.alf"];
    assert_eq!(environment.failure(1, args)["code"], "invalid");
}

#[test]
fn what_other_tools_can_pack_and_no_archive_needs_is_refused_still() {
    let environment = unpacked();
    // Encrypted by ZIP's own means.
    run(&environment, "out", "zip", &["-q", "-r", "-P", "secret", "../locked.alf", "."]);
    // A link as a link.
    std::os::unix::fs::symlink("SOUL.md", environment.path("out/raw/openclaw/link")).unwrap();
    run(&environment, "out", "zip", &["-q", "-r", "-y", "../linked.alf", "."]);
    for file in ["locked.alf", "linked.alf"] {
        for options in [&[][..], &["--accept-edited"]] {
            let ran = environment.run([&["validate", file], options].concat());
            assert_eq!(ran.code, 1, "{file}");
            assert_eq!(ran.document()["class"], "refuse-unsafe", "{file}");
        }
    }
}

//! Sealed archives in every command that reads: the key opens them, and results made from them are
//! sealed again.

use crate::environment::{AGE_MAGIC, TestEnvironment};

const GEHEIM: &str = "88c555e0-5d0c-51de-a067-64f2767ce8c1";

/// Makes a folder with the demo and sealed copies of it, and the identity that opens them.
fn sealed_demo() -> TestEnvironment {
    let environment = TestEnvironment::with_demo();
    let recipient = environment.identity("identity");
    for (name, sealed) in [
        ("march.alf", "march.age"),
        ("april.alf", "april.age"),
        ("march-to-april.alf-delta", "delta.age"),
    ] {
        environment.json(["encrypt", name, "-r", &recipient, "-o", sealed]);
    }
    environment
}

fn open(environment: &TestEnvironment, name: &str) -> Vec<u8> {
    assert!(environment.read(name).starts_with(AGE_MAGIC), "{name} is sealed");
    environment.assert_private(name);
    environment.json(["decrypt", name, "-i", "identity", "-o", "opened", "--force"]);
    environment.read("opened")
}

#[test]
fn what_is_read_from_a_sealed_file_is_what_is_read_from_the_open_one() {
    let environment = sealed_demo();
    for (sealed, plain) in [
        (&["validate", "march.age"][..], &["validate", "march.alf"][..]),
        (&["validate", "delta.age"], &["validate", "march-to-april.alf-delta"]),
        (&["diff", "march.age", "april.age"], &["diff", "march.alf", "april.alf"]),
        (&["diff", "march.alf", "april.age"], &["diff", "march.alf", "april.alf"]),
        (&["delta", "march.age", "april.age", "-n"], &["delta", "march.alf", "april.alf", "-n"]),
        (
            &["purge", "march.age", "-n", "--record", GEHEIM],
            &["purge", "march.alf", "-n", "--record", GEHEIM],
        ),
    ] {
        let said = environment.json([&["-i", "identity"], sealed].concat());
        assert_eq!(said, environment.json(plain), "{sealed:?}");
    }
    let mut shown = environment.json(["inspect", "march.age", "--records", "-i", "identity"]);
    assert_eq!(shown["encrypted"], true);
    shown["encrypted"] = false.into();
    assert_eq!(shown, environment.json(["inspect", "march.alf", "--records"]));
}

#[test]
fn without_a_key_every_command_says_that_it_needs_one() {
    let environment = sealed_demo();
    for args in [
        &["validate", "march.age"][..],
        &["inspect", "march.age"],
        &["diff", "march.alf", "april.age"],
        &["delta", "march.age", "april.age", "-o", "new"],
        &["apply", "march.age", "delta.age", "-o", "new"],
        &["apply", "march.alf", "delta.age", "-o", "new"],
        &["purge", "march.age", "--record", GEHEIM, "-o", "new"],
        &["decrypt", "march.age", "-o", "new"],
    ] {
        let failure = environment.failure(1, args);
        assert_eq!(failure["code"], "key_needed", "{args:?}");
        assert!(failure["hint"].as_str().unwrap().contains("--identity"), "{args:?}");
    }
}

#[test]
fn a_delta_is_sealed_when_either_archive_is() {
    let environment = sealed_demo();
    let delta = environment.read("march-to-april.alf-delta");
    for (base, target) in
        [("march.age", "april.age"), ("march.alf", "april.age"), ("march.age", "april.alf")]
    {
        environment.json(["delta", base, target, "-i", "identity", "-o", "new.age", "--force"]);
        assert!(open(&environment, "new.age") == delta, "{base} {target}");
    }
    let args = ["delta", "march.age", "april.age", "-i", "identity", "--plain", "-o", "new"];
    environment.json(args);
    assert!(environment.read("new") == delta);
    environment.assert_private("new");
}

#[test]
fn what_is_applied_is_sealed_when_the_base_or_a_delta_is() {
    let environment = sealed_demo();
    let april = environment.read("april.alf");
    for (base, delta) in [
        ("march.age", "delta.age"),
        ("march.alf", "delta.age"),
        ("march.age", "march-to-april.alf-delta"),
    ] {
        environment.json(["apply", base, delta, "-i", "identity", "-o", "new.age", "--force"]);
        assert!(open(&environment, "new.age") == april, "{base} {delta}");
    }
    let args = ["apply", "march.age", "delta.age", "-i", "identity", "--plain", "-o", "new"];
    environment.json(args);
    assert!(environment.read("new") == april);
    environment.assert_private("new");
}

#[test]
fn a_purged_file_is_sealed_as_its_source_was() {
    let environment = sealed_demo();
    let purge = ["purge", "march.age", "-i", "identity", "--record", GEHEIM, "-o"];
    let report = environment.json(purge.iter().chain(&["purged.age"]));
    assert_eq!(report["proof"]["absent"], true);
    environment.write("purged.alf", open(&environment, "purged.age"));
    assert_eq!(environment.json(["validate", "purged.alf"])["valid"], true);
    assert_eq!(environment.json(["inspect", "purged.alf"])["memory_records"], 24);
    environment.json(purge.iter().chain(&["plain.alf", "--plain"]));
    assert_eq!(environment.json(["validate", "plain.alf"])["valid"], true);
    environment.assert_private("plain.alf");
}

#[test]
fn a_conflict_between_sealed_files_is_a_conflict_and_leaves_nothing() {
    let environment = sealed_demo();
    let args = ["apply", "april.age", "delta.age", "-i", "identity", "-o", "new"];
    assert_eq!(environment.failure(3, args)["code"], "wrong_base");
}

#[test]
fn what_is_sealed_with_a_passphrase_stays_so() {
    let environment = TestEnvironment::with_demo();
    let passphrase = [("ANEMONE_PASSPHRASE", "ten words and more")];
    environment.json_with(&passphrase, ["encrypt", "march.alf", "-o", "march.age"]);
    let args = ["apply", "march.age", "march-to-april.alf-delta", "-o", "new.age"];
    environment.json_with(&passphrase, args);
    environment.assert_private("new.age");
    assert!(environment.read("new.age").starts_with(AGE_MAGIC));
    let args = ["diff", "new.age", "april.alf"];
    assert_eq!(environment.json_with(&passphrase, args)["equal"], true);
}

#[test]
fn a_header_of_very_many_recipients_is_refused_before_it_is_parsed() {
    let environment = TestEnvironment::new();
    let stanza = format!("-> X25519 {}\n{}\n", "A".repeat(43), "B".repeat(43));
    let sealed = |times: usize| {
        let header = format!("age-encryption.org/v1\n{}", stanza.repeat(times));
        format!("{header}--- {}\n{}", "C".repeat(43), "\0".repeat(64))
    };
    let armored = |text: &str| {
        let body = base64(text.as_bytes());
        let lines: Vec<_> = body.as_bytes().chunks(64).map(String::from_utf8_lossy).collect();
        let (begin, end) =
            ("-----BEGIN AGE ENCRYPTED FILE-----", "-----END AGE ENCRYPTED FILE-----");
        format!("{begin}\n{}\n{end}\n", lines.join("\n"))
    };
    environment.identity("identity");
    environment.write("many.age", sealed(20_000));
    environment.write("many-armored.age", armored(&sealed(2000)));
    environment
        .write("long-line.age", format!("age-encryption.org/v1\n-> {}", "x".repeat(1 << 20)));
    environment.write("few.age", sealed(250));
    for (file, code) in [
        ("many.age", "sealed_header"),
        ("many-armored.age", "sealed_header"),
        ("long-line.age", "sealed_header"),
        ("few.age", "wrong_key"),
    ] {
        for command in ["validate", "inspect"] {
            let failure = environment.failure(1, [command, file, "-i", "identity"]);
            assert_eq!(failure["code"], code, "{file}: {failure}");
        }
    }
}

#[test]
fn a_passphrase_that_costs_more_than_256_mebibytes_is_refused_with_a_way_out() {
    let environment = TestEnvironment::new();
    let stanza =
        |factor: u8| format!("-> scrypt {} {factor}\n{}\n", "A".repeat(22), "B".repeat(43));
    let file = format!("age-encryption.org/v1\n{}--- {}\n", stanza(20), "C".repeat(43));
    environment.write("costly.age", file);
    let passphrase = [("ANEMONE_PASSPHRASE", "ten words and more")];
    let failure = environment.failure_with(&passphrase, 1, ["validate", "costly.age"]);
    assert_eq!(failure["code"], "sealed_header");
    assert!(failure["error"].as_str().unwrap().contains("1024 MiB"), "{failure}");
    assert!(failure["hint"].as_str().unwrap().contains("--max-work-factor 20"), "{failure}");
}

#[test]
fn an_armored_file_is_read_as_the_binary_one() {
    let environment = sealed_demo();
    let body = base64(&environment.read("march.age"));
    let lines: Vec<_> = body.as_bytes().chunks(64).map(String::from_utf8_lossy).collect();
    let (begin, end) = ("-----BEGIN AGE ENCRYPTED FILE-----", "-----END AGE ENCRYPTED FILE-----");
    environment.write("armored.age", format!("{begin}\n{}\n{end}\n", lines.join("\n")));
    let said = environment.json(["validate", "armored.age", "-i", "identity"]);
    assert_eq!(said, environment.json(["validate", "march.alf"]));
    let keyed = |args: &[&str]| environment.run(args.iter().chain(&["-i", "identity"]));
    let said = |args: &[&str]| {
        let ran = keyed(args);
        assert_eq!(ran.code, 0, "{args:?}: {}", ran.stdout);
        ran.document()
    };
    assert_eq!(said(&["inspect", "armored.age"])["ok"], true);
    let hits = |file: &str| said(&["search", "tea", "--in", file])["hits"].clone();
    assert_eq!(hits("armored.age"), hits("march.age"));
    // Without a telling name, a sealed file is recognised by its first bytes.
    fs_err::copy(environment.path("armored.age"), environment.path("armored.txt")).expect("ours");
    assert_eq!(hits("armored.txt"), hits("march.age"));
    said(&["import", "-w", "armored", "armored.age"]);
    let refusal = environment.failure(1, ["search", "tea", "--in", "armored.age"]);
    assert_eq!(
        refusal["code"],
        environment.failure(1, ["search", "tea", "--in", "march.age"])["code"]
    );
}

fn base64(bytes: &[u8]) -> String {
    use base64::Engine as _;
    base64::engine::general_purpose::STANDARD.encode(bytes)
}

#[test]
fn what_we_seal_with_a_passphrase_costs_what_we_open() {
    let environment = TestEnvironment::with_demo();
    let passphrase = [("ANEMONE_PASSPHRASE", "ten words and more")];
    environment.json_with(&passphrase, ["encrypt", "march.alf", "-o", "march.age"]);
    let sealed = environment.read("march.age");
    let header = String::from_utf8_lossy(&sealed[..200]);
    let stanza = header.lines().nth(1).unwrap();
    assert!(stanza.starts_with("-> scrypt ") && stanza.ends_with(" 18"), "{stanza}");
}

//! One detector for every command: what one finds, all find. Secrets in files that are no plain
//! text, and an `.alfignore` that hides nothing.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::environment::TestEnvironment;
use crate::workspace::Ground;

const KEY: &str = concat!("ghp_", "0123456789abcdefABCDEF0123456789abcd");

fn utf16(text: &str) -> Vec<u8> {
    text.encode_utf16().flat_map(u16::to_le_bytes).collect()
}

#[test]
fn a_secret_in_data_or_utf16_stops_an_export_and_is_never_rewritten() {
    let (environment, ground) = (TestEnvironment::new(), Ground::new());
    let workspace = ground.small("w").display().to_string();
    let picture = [b"\x89PNG\r\n\x1a\n\0\0", KEY.as_bytes(), b"\0"].concat();
    ground.write("w/pic.png", picture);
    ground.write("w/notes.txt", utf16(&format!("\u{feff}a\n{KEY}\n")));
    let args = ["export", "-r", "openclaw", "-w", &workspace, "-o", "a.alf"];
    let failure = environment.failure(1, args).to_string();
    for place in ["notes.txt", "pic.png"] {
        assert!(failure.contains(place), "{place}: {failure}");
    }
    assert!(!failure.contains(KEY) && !environment.exists("a.alf"));

    let exported = environment.json(args.iter().chain(&["--redact-secrets"]));
    let left_out = exported["left_out"].as_array().unwrap();
    for place in ["notes.txt", "pic.png"] {
        let one = left_out.iter().find(|out| out["path"] == place).expect(place);
        assert_eq!(one["reason"], "secret");
    }
    let warnings = exported["warnings"].as_array().unwrap();
    let missing =
        warnings.iter().find(|warning| warning["code"] == "not_in_archive").expect("it is there");
    let message = missing["message"].as_str().unwrap();
    assert!(message.contains("pic.png") && message.contains("holds a secret"), "{message}");
    let args = ["export", "-r", "openclaw", "-w", &workspace, "-o", "b.alf", "--redact-secrets"];
    let text = environment.human(args);
    assert!(text.contains("NOT IN THE ARCHIVE: 2 files ("), "{text}");
    assert!(text.contains("pic.png ([size]): holds a secret that cannot be replaced"), "{text}");
}

#[cfg(unix)]
#[test]
fn an_ignore_file_that_is_a_link_stops_an_export_and_a_check() {
    let (environment, ground) = (TestEnvironment::new(), Ground::new());
    let workspace = ground.small("w").display().to_string();
    ground.write("w/patterns", "private/\n");
    ground.link("patterns", "w/.alfignore");
    let args = ["export", "-r", "openclaw", "-w", &workspace, "-o", "a.alf"];
    let failure = environment.failure(1, args).to_string();
    assert!(failure.contains(".alfignore"), "{failure}");
    assert!(!environment.exists("a.alf"));
    let checked = environment.run(["check", "-r", "openclaw", "-w", &workspace]);
    assert_eq!(checked.code, 1);
    let issues = checked.document()["issues"].to_string();
    assert!(issues.contains(".alfignore cannot be read in full"), "{issues}");
}

#[cfg(unix)]
#[test]
fn a_secret_in_a_name_or_a_link_stops_an_export_and_is_not_shown() {
    let (environment, ground) = (TestEnvironment::new(), Ground::new());
    let workspace = ground.small("w").display().to_string();
    ground.write(format!("w/notes/{KEY}.txt"), "nothing");
    ground.link(format!("https://sam:{KEY}@example.org"), "w/mirror");
    let args = ["export", "-r", "openclaw", "-w", &workspace, "-o", "a.alf"];
    let failure = environment.failure(1, args);
    let causes = failure["causes"].as_array().unwrap();
    assert!(causes.iter().any(|cause| cause.as_str().unwrap().starts_with("notes/")), "{failure}");
    assert!(causes.iter().any(|cause| cause.as_str().unwrap().starts_with("mirror:")), "{failure}");
    assert!(!failure.to_string().contains(KEY));
    let exported = environment.json(args.iter().chain(&["--redact-secrets"]));
    assert!(!exported.to_string().contains(KEY), "{exported}");
    crate::workspace::assert_holds_none(&environment.read("a.alf"), &[KEY]);
}

/// What people write into notes; the last word of each line must not travel.
const NOTED: &[(&str, &str)] = &[
    ("The router admin password is Sommer-Krabbe-77", "Sommer-Krabbe-77"),
    ("password: pa55word!x", "pa55word!x"),
    ("My wifi password is hunter2-blue-Horse.", "hunter2-blue-Horse"),
    ("the passphrase is \"correct horse battery\"", "correct horse battery"),
    ("Das Passwort lautet Blaubeere99.", "Blaubeere99"),
    ("My card is 4111 1111 1111 1111.", "4111 1111 1111 1111"),
];

/// What only speaks of passwords.
const HARMLESS: &[&str] = &[
    "The password is on the note in the kitchen",
    "Send the password reset link",
    "I forgot my password",
    "password: ask Tom",
];

#[test]
fn what_remember_stops_every_command_finds() {
    for (text, secret) in NOTED {
        let (environment, ground) = (TestEnvironment::new(), Ground::new());
        let workspace = ground.small("w").display().to_string();
        environment.failure(1, ["remember", "-w", &workspace, text]);
        ground.write("w/memory/2026-03-01.md", format!("# 2026-03-01\n\n- {text}\n"));
        let checked = environment.run(["check", "-r", "openclaw", "-w", &workspace]);
        assert!(checked.document()["secrets"].to_string().contains("2026-03-01.md"), "{text}");
        let audited = environment.run(["audit", "-w", &workspace]).stdout;
        assert!(audited.contains("2026-03-01.md") && !audited.contains(secret), "{text}");
        let export = ["export", "-r", "openclaw", "-w", &workspace, "-o", "a.alf"];
        let failure = environment.failure(1, export);
        assert_eq!(failure["code"], "secrets_found", "{text}");
        assert!(!failure.to_string().contains(secret), "{text}");
        environment.json(export.iter().chain(&["--redact-secrets"]));
        let output = environment.path("out").display().to_string();
        environment.json(["import", "a.alf", "-r", "openclaw", "-w", &output]);
        let log = fs_err::read_to_string(environment.path("out/memory/2026-03-01.md")).unwrap();
        assert!(log.contains("[redacted:") && !log.contains(secret), "{log}");
    }
}

#[test]
fn talk_of_passwords_stops_nothing() {
    let (environment, ground) = (TestEnvironment::new(), Ground::new());
    let workspace = ground.small("w").display().to_string();
    let lines: String = HARMLESS.iter().map(|text| format!("- {text}\n")).collect();
    ground.write("w/memory/2026-03-01.md", format!("# 2026-03-01\n\n{lines}"));
    environment.json(["export", "-r", "openclaw", "-w", &workspace, "-o", "a.alf"]);
    for text in HARMLESS {
        environment.json(["remember", "-w", &workspace, text, "--force"]);
    }
    // A remembered text is followed by a stamp, which does not belong to any value.
    environment.json(["export", "-r", "openclaw", "-w", &workspace, "-o", "b.alf"]);
}

#[test]
fn check_names_each_secret_once_and_one_in_a_file_name_too() {
    let (environment, ground) = (TestEnvironment::new(), Ground::new());
    let workspace = ground.small("w").display().to_string();
    ground.write("w/notes/two.md", format!("a {KEY}\n\nb {KEY}\n"));
    ground.write(format!("w/notes/{KEY}.txt"), "nothing");
    let text = environment.run(["--human", "check", "-r", "openclaw", "-w", &workspace]).stdout;
    assert!(text.contains("3 secrets were found in the files"), "{text}");
    assert_eq!(text.matches("notes/two.md").count(), 2, "{text}");
    assert!(text.contains("notes/[redacted:github_token].txt") && !text.contains(KEY), "{text}");
}

/// Files of a workspace, with the lines that contain a secret.
const PLANTED: &[(&str, &str, &[u64])] = &[
    (".env", "NAME=x\nDB_PASSWORD=correcthorse\n", &[2]),
    ("config/app.json", "{\n  \"clientSecret\": \"h7Gk2mQ9xV4pLw8Z\"\n}\n", &[2]),
    ("deploy.sh", "#!/bin/sh\nmysql -u root -psardine44 shop\n", &[2]),
    ("logins.csv", "host,user,password\ndb1,root,tulip-Harbour9\n", &[2]),
    ("settings.xml", "<server>\n<password>saffron7</password>\n</server>\n", &[2]),
    ("MEMORY.md", "# Memory\n\n- The router password is Sommer-Krabbe-77.\n", &[3]),
    ("memory/2026-03-01.md", "# 2026-03-01\n\n## Wifi password\n\n`buttercup7`\n", &[5]),
    ("notes/card.txt", "Visa 4111 1111 1111 1111\nCVV 737\n", &[1, 2]),
    ("TOOLS.md", "# Tools\n\nAuthorization: Basic dXNlcjpaeDgxLWZha2U=\n", &[3]),
];

#[test]
fn audit_check_and_export_report_the_same_secrets() {
    let (environment, ground) = (TestEnvironment::new(), Ground::new());
    let workspace = ground.small("w").display().to_string();
    let mut planted = BTreeSet::new();
    for (name, text, lines) in PLANTED {
        ground.write(format!("w/{name}"), text);
        planted.extend(lines.iter().map(|line| (name.to_string(), *line)));
    }
    ground.write("w/wide.txt", utf16(&format!("a\n{KEY}\n")));
    ground.write(format!("w/{KEY}.log"), format!("b {KEY}\n"));
    planted.insert(("wide.txt".to_owned(), 2));
    ground.write("w/memory/2026-03-02.md", utf16(&format!("# a\n\n- é {KEY}\n")));
    ground.write("w/memory/2026-03-03.md", [b"# a\n\n- Caf\xe9 ", KEY.as_bytes()].concat());
    let latin = b"# a\n\n- Das Passwort f\xfcr den Router lautet Krabbe-77\n";
    ground.write("w/memory/2026-03-04.md", latin);
    planted.extend(["02", "03", "04"].map(|day| (format!("memory/2026-03-{day}.md"), 3)));
    // One secret in the name, and one in the file.
    let name = "[redacted:github_token].log".to_owned();
    planted.extend([(name.clone(), 0), (name, 1)]);

    let place = |value: &Value| {
        let path = value["path"].as_str().unwrap_or_else(|| panic!("{value}")).to_owned();
        (path, value["line"].as_u64().unwrap_or_default())
    };
    let checked = environment.run(["check", "-r", "openclaw", "-w", &workspace]).document();
    let checked: BTreeSet<_> = checked["secrets"].as_array().unwrap().iter().map(place).collect();
    let audited = environment.json(["audit", "-w", &workspace]);
    let findings = audited["findings"].as_array().unwrap().iter();
    let audited: BTreeSet<_> =
        findings.filter(|finding| finding["kind"] == "secret").map(place).collect();
    let export = ["export", "-r", "openclaw", "-w", &workspace, "-o", "a.alf"];
    let failure = environment.failure(1, export);
    assert!(!failure.to_string().contains(KEY), "{failure}");
    let causes = failure["causes"].as_array().unwrap().iter();
    let exported: BTreeSet<_> = causes
        .map(|cause| {
            let mut parts = cause.as_str().unwrap().rsplitn(3, ':');
            let (_, line) = (parts.next(), parts.next().unwrap().parse().unwrap());
            (parts.next().unwrap().to_owned(), line)
        })
        .collect();
    assert_eq!(checked, planted, "check");
    assert_eq!(audited, planted, "audit");
    assert_eq!(exported, planted, "export");
}

//! Comparing with an earlier archive.

use std::os::unix::fs::PermissionsExt as _;

use anemone_format::Snapshot;
use anemone_testkit::workspace::Workspace;
use serde_json::json;

use super::{diff, edge, times, with_fixture};
use crate::environment::TestEnvironment;
use crate::workspace::{Ground, export, fields, record_id, records_of, snapshot};
use anemone_testkit::database::sql;

#[test]
fn when_nothing_changed_nothing_is_written() {
    let (environment, ground) = (TestEnvironment::new(), Ground::new());
    let workspace = ground.small("w");
    export(&environment, &workspace, "a.alf", &[]);
    let exported = export(&environment, &workspace, "b.alf", &["--since", "a.alf"]);
    assert_eq!(exported["no_changes"], true);
    assert!(!environment.exists("b.alf"));
    for name in ["w/MEMORY.md", "w/SOUL.md", "w/notes.txt", "w/memory/2026-02-03.md"] {
        ground.touch(name, 1_780_000_000);
        let exported = export(&environment, &workspace, "b.alf", &["--since", "a.alf"]);
        assert_eq!(exported["no_changes"], true, "{name} was only touched");
        assert!(!environment.exists("b.alf"));
    }
    let text = environment.human([
        "export",
        "-w",
        workspace.to_str().unwrap(),
        "-o",
        "b.alf",
        "--since",
        "a.alf",
    ]);
    assert!(text.contains("nothing changed"), "{text}");
}

#[test]
fn one_appended_section_changes_one_record() {
    let (environment, ground) = (TestEnvironment::new(), Ground::new());
    let workspace = ground.small("w");
    export(&environment, &workspace, "a.alf", &[]);
    ground.append("w/memory/2026-02-03.md", "## Night\n\nThree.\n");
    let exported = export(&environment, &workspace, "b.alf", &["--since", "a.alf"]);
    assert_eq!(
        (&exported["no_changes"], &exported["identity_version"]),
        (&json!(false), &json!(1))
    );
    let records = &diff(&environment, "a.alf", "b.alf")["records"];
    let id = record_id("memory/2026-02-03.md", 2);
    assert_eq!(records["created"], json!([{ "id": id, "title": "Night" }]));
    assert_eq!((&records["updated"], &records["deleted"]), (&json!([]), &json!([])));
}

#[test]
fn an_appended_section_after_a_blank_line_changes_no_other_record() {
    let (environment, ground) = (TestEnvironment::new(), Ground::new());
    let workspace = ground.small("w");
    export(&environment, &workspace, "a.alf", &[]);
    ground.append("w/memory/2026-02-03.md", "\n## Night\n\nThree.\n");
    export(&environment, &workspace, "b.alf", &["--since", "a.alf"]);
    let records = &diff(&environment, "a.alf", "b.alf")["records"];
    assert_eq!(fields(&records["created"], "title"), ["Night"]);
    assert_eq!((&records["updated"], &records["deleted"]), (&json!([]), &json!([])));
    let (a, b) = (snapshot(&environment, "a.alf"), snapshot(&environment, "b.alf"));
    let of = |snapshot: &Snapshot| records_of(snapshot, "memory/2026-02-03.md")[1].clone();
    assert_eq!(of(&b).content, of(&a).content);
    assert_eq!(times(&of(&b))["created_at"], times(&of(&a))["created_at"]);
}

#[test]
fn texts_that_moved_keep_their_times() {
    let (environment, ground) = (TestEnvironment::new(), Ground::new());
    let workspace = ground.small("w");
    export(&environment, &workspace, "a.alf", &[]);
    let was = String::from_utf8(ground.read("w/MEMORY.md")).unwrap();
    ground.write("w/MEMORY.md", was.replace("## Tea", "## New\n\nFirst.\n\n## Tea"));
    ground.touch("w/MEMORY.md", 1_780_000_000);
    export(&environment, &workspace, "b.alf", &["--since", "a.alf"]);
    let (a, b) = (snapshot(&environment, "a.alf"), snapshot(&environment, "b.alf"));
    let (a, b) = (records_of(&a, "MEMORY.md"), records_of(&b, "MEMORY.md"));
    assert_eq!((a.len(), b.len()), (3, 4));
    for (old, new) in [(0, 0), (1, 2), (2, 3)] {
        assert_eq!(a[old].content, b[new].content);
        assert_eq!(times(a[old]), times(b[new]), "{}", a[old].content);
    }
    assert!(
        times(b[1])["created_at"].as_str().unwrap() > times(a[1])["created_at"].as_str().unwrap()
    );
}

#[test]
fn a_changed_identity_has_a_new_version_and_old_records_keep_theirs() {
    let (environment, ground) = (TestEnvironment::new(), Ground::new());
    let workspace = ground.small("w");
    let first = export(&environment, &workspace, "a.alf", &[]);
    assert_eq!(first["identity_version"], 1);
    ground.append("w/SOUL.md", "Bolder now.\n");
    ground.append("w/memory/2026-02-03.md", "## Night\n\nThree.\n");
    let second = export(&environment, &workspace, "b.alf", &["--since", "a.alf"]);
    assert_eq!(second["identity_version"], 2);
    let snapshot = snapshot(&environment, "b.alf");
    let new = record_id("memory/2026-02-03.md", 2);
    for record in &snapshot.records {
        let expected = if record.id.to_string() == new { 2 } else { 1 };
        assert_eq!(record.source.identity_version, Some(expected), "{}", record.content);
    }
    let records = &diff(&environment, "a.alf", "b.alf")["records"];
    assert_eq!(fields(&records["created"], "id"), [new]);
    assert_eq!(records["updated"].as_array().unwrap().len(), 0, "{records}");
    let third = export(&environment, &workspace, "c.alf", &["--since", "b.alf"]);
    assert_eq!(third["no_changes"], true);
}

#[test]
fn an_archive_of_another_agent_is_nothing_to_compare_with() {
    let (environment, ground) = (TestEnvironment::new(), Ground::new());
    let one = ground.small("one");
    let two = ground.small("two").display().to_string();
    export(&environment, &one, "a.alf", &[]);
    for more in [&[][..], &["--dry-run"]] {
        let args = ["export", "-w", &two, "-o", "b.alf", "--since", "a.alf"];
        let failure = environment.failure(3, [&args[..], more].concat());
        assert_eq!(failure["code"], "different_agents");
    }
    environment.write("broken.alf", "PK");
    environment.run(["export", "-w", &two, "-o", "b.alf", "--since", "broken.alf"]);
    assert!(!environment.exists("b.alf"));
}

#[test]
fn a_change_that_hides_behind_size_and_time_is_seen() {
    let (environment, ground) = (TestEnvironment::new(), Ground::new());
    let workspace = ground.small("w");
    let large = vec![b'a'; 200_000];
    ground.write("w/large.bin", &large);
    ground.touch("w/large.bin", 1_770_000_000);
    export(&environment, &workspace, "a.alf", &[]);
    // As many bytes, at the same time: one file that travels, one that is only named.
    for (name, content) in
        [("w/notes.txt", b"an ARTIFACT\n".to_vec()), ("w/large.bin", vec![b'b'; 200_000])]
    {
        let was = ground.read(name);
        ground.write(name, content);
        ground.touch(name, 1_770_000_000);
        let exported = export(&environment, &workspace, "b.alf", &["--since", "a.alf"]);
        assert_eq!(exported["no_changes"], false, "{name}");
        fs_err::remove_file(environment.path("b.alf")).unwrap();
        ground.write(name, was);
        ground.touch(name, 1_770_000_000);
    }
    let exported = export(&environment, &workspace, "b.alf", &["--since", "a.alf"]);
    assert_eq!(exported["no_changes"], true);
}

#[test]
fn a_new_message_in_a_transcript_is_a_change() {
    let environment = with_fixture("gen3");
    environment.json(["export", "--sessions", "-o", "a.alf"]);
    let since = ["export", "--sessions", "-o", "b.alf", "--since", "a.alf"];
    assert_eq!(environment.json(since)["no_changes"], true);
    let path = environment
        .home(".openclaw/agents/main/sessions/a8c81791-3de4-4ec7-b072-dfaef319477b.jsonl");
    let mut text = fs_err::read_to_string(&path).unwrap();
    text.push_str(
        "{\"type\":\"message\",\"id\":\"ffffffff\",\"timestamp\":\"2026-11-15T08:00:00.000Z\",\
         \"message\":{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"One more thing.\"}]}}\n",
    );
    fs_err::write(&path, text).unwrap();
    let exported = environment.json(since);
    assert_eq!(exported["no_changes"], false, "{exported}");
    let records = snapshot(&environment, "b.alf").records;
    assert!(records.iter().any(|record| record.content.contains("One more thing.")));
}

#[test]
fn a_new_vector_or_key_is_a_change() {
    let (environment, ground) = (TestEnvironment::new(), Ground::new());
    let home = environment.home("");
    ground.generate("w", &Workspace::plain().days(1).install(&home));
    environment.json(["export", "-o", "a.alf"]);
    let since = ["export", "-o", "b.alf", "--since", "a.alf", "--force"];
    assert_eq!(environment.json(since)["no_changes"], true);
    let database = environment.home(".openclaw/memory/main.sqlite");
    sql(&database, "DELETE FROM chunks WHERE start_line = 1");
    assert_eq!(environment.json(since)["no_changes"], false, "a vector less");
    environment.write_home(
        ".openclaw/agents/main/agent/auth-profiles.json",
        r#"{"version":1,"profiles":{"x:y":{"type":"api_key","provider":"x","key":"HUSH"}}}"#,
    );
    let since = ["export", "-o", "c.alf", "--since", "b.alf"];
    let exported = environment.json(since);
    assert_eq!(
        (&exported["no_changes"], &exported["credentials_count"]),
        (&json!(false), &json!(1))
    );
}

#[test]
fn redacted_files_that_did_not_change_are_no_change() {
    let (environment, ground) = edge();
    let workspace = ground.path("w");
    export(&environment, &workspace, "a.alf", &["--redact-secrets"]);
    let since = ["--redact-secrets", "--since", "a.alf"];
    let exported = export(&environment, &workspace, "b.alf", &since);
    assert_eq!(exported["no_changes"], true, "{exported}");
    assert!(!environment.exists("b.alf"));
}

#[test]
fn what_is_gone_is_gone_and_other_options_are_another_export() {
    let (environment, ground) = (TestEnvironment::new(), Ground::new());
    let workspace = ground.small("w");
    export(&environment, &workspace, "a.alf", &[]);
    let since = ["--since", "a.alf", "--artifact-threshold", "3"];
    let exported = export(&environment, &workspace, "b.alf", &since);
    assert_eq!(
        (&exported["no_changes"], &exported["artifacts_referenced"]),
        (&json!(false), &json!(1))
    );
    fs_err::remove_file(ground.path("w/memory/project-x.md")).unwrap();
    export(&environment, &workspace, "c.alf", &["--since", "a.alf"]);
    let records = &diff(&environment, "a.alf", "c.alf")["records"];
    let gone = record_id("memory/project-x.md", 0);
    assert_eq!(fields(&records["deleted"], "id"), [gone]);
    assert_eq!((&records["created"], &records["updated"]), (&json!([]), &json!([])));
}

#[test]
fn the_modes_of_files_are_part_of_what_changes() {
    let (environment, ground) = (TestEnvironment::new(), Ground::new());
    let workspace = ground.small("w");
    export(&environment, &workspace, "a.alf", &[]);
    let permissions = std::fs::Permissions::from_mode(0o755);
    fs_err::set_permissions(ground.path("w/notes.txt"), permissions).unwrap();
    let exported = export(&environment, &workspace, "b.alf", &["--since", "a.alf"]);
    assert_eq!(exported["no_changes"], false, "a script that may be run is another file");
    ground.link("notes.txt", "w/link");
    let exported = export(&environment, &workspace, "c.alf", &["--since", "b.alf"]);
    assert_eq!(exported["no_changes"], false);
    fs_err::create_dir(ground.path("w/empty")).unwrap();
    let exported = export(&environment, &workspace, "d.alf", &["--since", "c.alf"]);
    assert_eq!(exported["no_changes"], false);
}

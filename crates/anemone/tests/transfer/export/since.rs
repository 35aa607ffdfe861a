//! Comparing with an earlier archive.

use std::os::unix::fs::PermissionsExt as _;

use anemone::export::ExportError;
use anemone_format::Snapshot;
use anemone_testkit::database::sql;
use anemone_testkit::ground::{Ground, fields, record_id, records_of};
use anemone_testkit::workspace::Workspace;
use serde_json::json;

use super::{diff, edge, export_only, times, try_export, with_fixture};
use crate::support::TestMachine;
use crate::support::transfer::With;
use crate::workspace::export;

#[test]
fn when_nothing_changed_nothing_is_written() {
    let (machine, ground) = (TestMachine::new(), Ground::new());
    let workspace = ground.small("w");
    export(&machine, &workspace, "a.alf", &[]);
    let exported = export(&machine, &workspace, "b.alf", &[With::Since("a.alf")]);
    assert_eq!(exported["no_changes"], true);
    assert!(!machine.exists("b.alf"));
    for name in ["w/MEMORY.md", "w/SOUL.md", "w/notes.txt", "w/memory/2026-02-03.md"] {
        ground.touch(name, 1_780_000_000);
        let exported = export(&machine, &workspace, "b.alf", &[With::Since("a.alf")]);
        assert_eq!(exported["no_changes"], true, "{name} was only touched");
        assert!(!machine.exists("b.alf"));
    }
}

#[test]
fn one_appended_section_changes_one_record() {
    let (machine, ground) = (TestMachine::new(), Ground::new());
    let workspace = ground.small("w");
    export(&machine, &workspace, "a.alf", &[]);
    ground.append("w/memory/2026-02-03.md", "## Night\n\nThree.\n");
    let exported = export(&machine, &workspace, "b.alf", &[With::Since("a.alf")]);
    assert_eq!(
        (&exported["no_changes"], &exported["identity_version"]),
        (&json!(false), &json!(1))
    );
    let records = &diff(&machine, "a.alf", "b.alf")["records"];
    let id = record_id("memory/2026-02-03.md", 2);
    assert_eq!(records["created"], json!([{ "id": id, "title": "Night" }]));
    assert_eq!((&records["updated"], &records["deleted"]), (&json!([]), &json!([])));
}

#[test]
fn an_appended_section_after_a_blank_line_changes_no_other_record() {
    let (machine, ground) = (TestMachine::new(), Ground::new());
    let workspace = ground.small("w");
    export(&machine, &workspace, "a.alf", &[]);
    ground.append("w/memory/2026-02-03.md", "\n## Night\n\nThree.\n");
    export(&machine, &workspace, "b.alf", &[With::Since("a.alf")]);
    let records = &diff(&machine, "a.alf", "b.alf")["records"];
    assert_eq!(fields(&records["created"], "title"), ["Night"]);
    assert_eq!((&records["updated"], &records["deleted"]), (&json!([]), &json!([])));
    let (a, b) = (machine.snapshot("a.alf"), machine.snapshot("b.alf"));
    let of = |snapshot: &Snapshot| records_of(snapshot, "memory/2026-02-03.md")[1].clone();
    assert_eq!(of(&b).content, of(&a).content);
    assert_eq!(times(&of(&b))["created_at"], times(&of(&a))["created_at"]);
}

#[test]
fn texts_that_moved_keep_their_times() {
    let (machine, ground) = (TestMachine::new(), Ground::new());
    let workspace = ground.small("w");
    export(&machine, &workspace, "a.alf", &[]);
    let was = String::from_utf8(ground.read("w/MEMORY.md")).unwrap();
    ground.write("w/MEMORY.md", was.replace("## Tea", "## New\n\nFirst.\n\n## Tea"));
    ground.touch("w/MEMORY.md", 1_780_000_000);
    export(&machine, &workspace, "b.alf", &[With::Since("a.alf")]);
    let (a, b) = (machine.snapshot("a.alf"), machine.snapshot("b.alf"));
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
    let (machine, ground) = (TestMachine::new(), Ground::new());
    let workspace = ground.small("w");
    let first = export(&machine, &workspace, "a.alf", &[]);
    assert_eq!(first["identity_version"], 1);
    ground.append("w/SOUL.md", "Bolder now.\n");
    ground.append("w/memory/2026-02-03.md", "## Night\n\nThree.\n");
    let second = export(&machine, &workspace, "b.alf", &[With::Since("a.alf")]);
    assert_eq!(second["identity_version"], 2);
    let snapshot = machine.snapshot("b.alf");
    let new = record_id("memory/2026-02-03.md", 2);
    for record in &snapshot.records {
        let expected = if record.id.to_string() == new { 2 } else { 1 };
        assert_eq!(record.source.identity_version, Some(expected), "{}", record.content);
    }
    let records = &diff(&machine, "a.alf", "b.alf")["records"];
    assert_eq!(fields(&records["created"], "id"), [new]);
    assert_eq!(records["updated"].as_array().unwrap().len(), 0, "{records}");
    let third = export(&machine, &workspace, "c.alf", &[With::Since("b.alf")]);
    assert_eq!(third["no_changes"], true);
}

#[test]
fn an_archive_of_another_agent_is_nothing_to_compare_with() {
    let (machine, ground) = (TestMachine::new(), Ground::new());
    let one = ground.small("one");
    let two = ground.small("two");
    export(&machine, &one, "since.alf", &[]);
    for more in [&[With::Since("since.alf")][..], &[With::Since("since.alf"), With::DryRun]] {
        let error = try_export(&machine, &two, more).unwrap_err();
        assert!(matches!(error, ExportError::DifferentAgents { .. }), "{error:?}");
    }
    machine.write("broken.alf", "PK");
    let error = try_export(&machine, &two, &[With::Since("broken.alf")]).unwrap_err();
    assert!(matches!(error, ExportError::Earlier(_)), "{error:?}");
    assert!(!machine.exists("a.alf"));
}

#[test]
fn a_change_that_hides_behind_size_and_time_is_seen() {
    let (machine, ground) = (TestMachine::new(), Ground::new());
    let workspace = ground.small("w");
    let large = vec![b'a'; 200_000];
    ground.write("w/large.bin", &large);
    ground.touch("w/large.bin", 1_770_000_000);
    export(&machine, &workspace, "a.alf", &[]);
    // The same size and time: one file that travels, and one that is only listed.
    for (name, content) in
        [("w/notes.txt", b"an ARTIFACT\n".to_vec()), ("w/large.bin", vec![b'b'; 200_000])]
    {
        let was = ground.read(name);
        ground.write(name, content);
        ground.touch(name, 1_770_000_000);
        let exported = export(&machine, &workspace, "b.alf", &[With::Since("a.alf")]);
        assert_eq!(exported["no_changes"], false, "{name}");
        fs_err::remove_file(machine.path("b.alf")).unwrap();
        ground.write(name, was);
        ground.touch(name, 1_770_000_000);
    }
    let exported = export(&machine, &workspace, "b.alf", &[With::Since("a.alf")]);
    assert_eq!(exported["no_changes"], true);
}

#[test]
fn a_new_message_in_a_transcript_is_a_change() {
    let machine = with_fixture("gen3");
    export_only(&machine, "a.alf", &[With::Sessions]);
    let since = [With::Sessions, With::Since("a.alf")];
    assert_eq!(export_only(&machine, "b.alf", &since)["no_changes"], true);
    let path =
        machine.home(".openclaw/agents/main/sessions/a8c81791-3de4-4ec7-b072-dfaef319477b.jsonl");
    let mut text = fs_err::read_to_string(&path).unwrap();
    text.push_str(
        "{\"type\":\"message\",\"id\":\"ffffffff\",\"timestamp\":\"2026-11-15T08:00:00.000Z\",\
         \"message\":{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"One more thing.\"}]}}\n",
    );
    fs_err::write(&path, text).unwrap();
    let exported = export_only(&machine, "b.alf", &since);
    assert_eq!(exported["no_changes"], false, "{exported}");
    let records = machine.snapshot("b.alf").records;
    assert!(records.iter().any(|record| record.content.contains("One more thing.")));
}

#[test]
fn a_new_vector_or_key_is_a_change() {
    let (machine, ground) = (TestMachine::new(), Ground::new());
    let home = machine.home("");
    ground.generate("w", &Workspace::plain().days(1).install(&home));
    export_only(&machine, "a.alf", &[]);
    let since = [With::Since("a.alf"), With::Force];
    assert_eq!(export_only(&machine, "b.alf", &since)["no_changes"], true);
    let database = machine.home(".openclaw/memory/main.sqlite");
    sql(&database, "DELETE FROM chunks WHERE start_line = 1");
    let exported = export_only(&machine, "b.alf", &since);
    assert_eq!(exported["no_changes"], false, "a vector less");
    machine.write_home(
        ".openclaw/agents/main/agent/auth-profiles.json",
        r#"{"version":1,"profiles":{"x:y":{"type":"api_key","provider":"x","key":"HUSH"}}}"#,
    );
    let exported = export_only(&machine, "c.alf", &[With::Since("b.alf")]);
    assert_eq!(
        (&exported["no_changes"], &exported["credentials_count"]),
        (&json!(false), &json!(1))
    );
}

#[test]
fn redacted_files_that_did_not_change_are_no_change() {
    let (machine, ground) = edge();
    let workspace = ground.path("w");
    export(&machine, &workspace, "a.alf", &[With::RedactSecrets]);
    let since = [With::RedactSecrets, With::Since("a.alf")];
    let exported = export(&machine, &workspace, "b.alf", &since);
    assert_eq!(exported["no_changes"], true, "{exported}");
    assert!(!machine.exists("b.alf"));
}

#[test]
fn what_is_gone_is_gone_and_other_options_are_another_export() {
    let (machine, ground) = (TestMachine::new(), Ground::new());
    let workspace = ground.small("w");
    export(&machine, &workspace, "a.alf", &[]);
    let since = [With::Since("a.alf"), With::ArtifactThreshold(3)];
    let exported = export(&machine, &workspace, "b.alf", &since);
    assert_eq!(
        (&exported["no_changes"], &exported["artifacts_referenced"]),
        (&json!(false), &json!(1))
    );
    fs_err::remove_file(ground.path("w/memory/project-x.md")).unwrap();
    export(&machine, &workspace, "c.alf", &[With::Since("a.alf")]);
    let records = &diff(&machine, "a.alf", "c.alf")["records"];
    let gone = record_id("memory/project-x.md", 0);
    assert_eq!(fields(&records["deleted"], "id"), [gone]);
    assert_eq!((&records["created"], &records["updated"]), (&json!([]), &json!([])));
}

#[test]
fn the_modes_of_files_are_part_of_what_changes() {
    let (machine, ground) = (TestMachine::new(), Ground::new());
    let workspace = ground.small("w");
    export(&machine, &workspace, "a.alf", &[]);
    let permissions = std::fs::Permissions::from_mode(0o755);
    fs_err::set_permissions(ground.path("w/notes.txt"), permissions).unwrap();
    let exported = export(&machine, &workspace, "b.alf", &[With::Since("a.alf")]);
    assert_eq!(exported["no_changes"], false, "a script that may be run is another file");
    ground.link("notes.txt", "w/link");
    let exported = export(&machine, &workspace, "c.alf", &[With::Since("b.alf")]);
    assert_eq!(exported["no_changes"], false);
    fs_err::create_dir(ground.path("w/empty")).unwrap();
    let exported = export(&machine, &workspace, "d.alf", &[With::Since("c.alf")]);
    assert_eq!(exported["no_changes"], false);
}

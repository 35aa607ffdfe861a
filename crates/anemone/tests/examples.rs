//! The examples do what they say.

#[path = "../examples/backup.rs"]
#[expect(dead_code, reason = "nobody calls `main` here")]
mod backup;
#[path = "../examples/remember.rs"]
#[expect(dead_code, reason = "nobody calls `main` here")]
mod remember;
#[path = "../examples/search.rs"]
#[expect(dead_code, reason = "nobody calls `main` here")]
mod search;

use tempfile::TempDir;

/// Returns a folder with a workspace in it.
fn folder() -> TempDir {
    let folder = tempfile::tempdir().expect("there is a temporary folder");
    let files = [
        ("IDENTITY.md", "- **Name:** Ada\n"),
        ("MEMORY.md", "# Memory\n\n- The boiler is serviced in May.\n"),
        ("notes/tea.md", "# Tea\n\nLin drinks green tea in the morning.\n"),
    ];
    for (name, text) in files {
        let path = folder.path().join("workspace").join(name);
        fs_err::create_dir_all(path.parent().expect("it is below a folder")).expect("it is made");
        fs_err::write(path, text).expect("it is written");
    }
    folder
}

#[test]
fn a_folder_is_searched() {
    let folder = folder();
    let (notes, own) = (folder.path().join("workspace/notes"), folder.path().join("own"));
    let lines = search::search_folder(&notes, "what does Lin drink?", &own).expect("it runs");
    assert_eq!(lines[0], "1 documents");
    assert!(lines[1].contains("tea.md#L") && lines[1].contains("green tea"), "{lines:?}");
}

#[test]
fn an_agent_is_backed_up() {
    let folder = folder();
    let archive = folder.path().join("ada.alf");
    let lines = backup::back_up(folder.path().join("workspace"), &archive).expect("it runs");
    assert_eq!(lines[0], "Ada: 1 records");
    assert!(archive.is_file());
}

#[test]
fn what_is_remembered_is_recalled() {
    let folder = tempfile::tempdir().expect("there is a temporary folder");
    let hits = remember::remember_and_recall(folder.path()).expect("it runs");
    assert!(hits.first().is_some_and(|hit| hit.contains("green tea")), "{hits:?}");
}

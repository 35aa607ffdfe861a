use anemone_format::{LoadedSnapshot, Snapshot};

use super::*;
use crate::kit::tree::tests::{carried_folder, file, link, plan_of, snapshot};

const ALL: [OnConflict; 4] =
    [OnConflict::Stop, OnConflict::Theirs, OnConflict::Ours, OnConflict::Both];

/// Makes a workspace by `prepare`, plans one file against it, and returns the action of the
/// step at `path` under each flag.
fn actions(prepare: impl Fn(&Path), files: &[anemone_format::File], path: &str) -> [String; 4] {
    ALL.map(|on_conflict| {
        let root = tempfile::tempdir().unwrap();
        let workspace = root.path().join("w");
        fs_err::create_dir(&workspace).unwrap();
        prepare(&workspace);
        let snapshot = Snapshot { files: files.to_vec(), ..snapshot() };
        let source = LoadedSnapshot::new(&snapshot);
        let plan = plan_of(&workspace, &source, on_conflict).unwrap();
        let step = plan.steps.iter().find(|step| step.path == path.as_bytes()).unwrap();
        match &step.action {
            Action::Create => "create".to_owned(),
            Action::Replace => "replace".to_owned(),
            Action::Keep => "keep".to_owned(),
            Action::Same => if step.refresh { "same+" } else { "same" }.to_owned(),
            Action::Both(beside) => lossy(beside),
            Action::Conflict => "conflict".to_owned(),
        }
    })
}

fn put(path: &Path, content: &str) {
    fs_err::create_dir_all(path.parent().unwrap()).unwrap();
    fs_err::write(path, content).unwrap();
}

#[test]
fn every_situation_under_every_flag() {
    let x = &[file("a/x.md", "new")];
    let same = |action: &str| [action; 4].map(str::to_owned);
    let differ = |both: &str| ["conflict", "replace", "keep", both].map(str::to_owned);
    let cases: Vec<(&str, [String; 4], [String; 4])> = vec![
        ("absent", actions(|_| {}, x, "a/x.md"), same("create")),
        ("same", actions(|w| put(&w.join("a/x.md"), "new"), x, "a/x.md"), same("same+")),
        (
            "same size",
            actions(|w| put(&w.join("a/x.md"), "old"), x, "a/x.md"),
            differ("a/x.imported.md"),
        ),
        (
            "other size",
            actions(|w| put(&w.join("a/x.md"), "older"), x, "a/x.md"),
            differ("a/x.imported.md"),
        ),
        (
            "name beside taken",
            actions(
                |w| {
                    put(&w.join("a/x.md"), "old");
                    put(&w.join("a/x.imported.md"), "");
                },
                &[file("a/x.md", "new"), file("a/x.imported-2.md", "")],
                "a/x.md",
            ),
            differ("a/x.imported-3.md"),
        ),
        (
            "folder where a file should be",
            actions(|w| put(&w.join("a/x.md/y"), "old"), x, "a/x.md"),
            differ("a/x.imported.md"),
        ),
        (
            "file where a folder should be",
            actions(|w| put(&w.join("a"), "old"), x, "a"),
            differ("a.imported"),
        ),
        (
            "below that",
            actions(|w| put(&w.join("a"), "old"), x, "a/x.md"),
            ["keep", "create", "keep", "a.imported/x.md"].map(str::to_owned),
        ),
        (
            "link with another target",
            actions(
                |w| std::os::unix::fs::symlink("b", w.join("l")).unwrap(),
                &[link("l", "c")],
                "l",
            ),
            differ("l.imported"),
        ),
        (
            "link where a file should be",
            actions(
                |w| std::os::unix::fs::symlink("b", w.join("l")).unwrap(),
                &[file("l", "c")],
                "l",
            ),
            differ("l.imported"),
        ),
        (
            "dot file",
            actions(|w| put(&w.join(".env"), "old"), &[file(".env", "c")], ".env"),
            differ(".env.imported"),
        ),
        (
            "folder with another mode",
            actions(|w| put(&w.join("f/x"), "x"), &[carried_folder("f", 0o700)], "f"),
            same("same+"),
        ),
    ];
    for (name, found, expected) in cases {
        assert_eq!(found, expected, "{name}");
    }
}

#[test]
fn a_redacted_file_never_replaces_another() {
    let mut config = file("config.toml", "key = \"<redacted>\"");
    config.redacted = true;
    let files = vec![config];
    let there = |w: &Path| put(&w.join("config.toml"), "key = \"live\"");
    let keep = ["keep"; 4].map(str::to_owned);
    assert_eq!(actions(there, &files, "config.toml"), keep);
    let create = ["create"; 4].map(str::to_owned);
    assert_eq!(actions(|_| {}, &files, "config.toml"), create);
}

#[test]
fn paths_that_make_no_tree_are_refused() {
    let root = tempfile::tempdir().unwrap();
    let deep = vec!["a"; MAX_DEPTH + 1].join("/");
    for files in [
        vec![file("../x", "")],
        vec![file("/x", "")],
        vec![file("a//b", "")],
        vec![file("a/./b", "")],
        vec![file("", "")],
        vec![file("a\0b", "")],
        vec![file(&deep, "")],
        vec![file("a", ""), file("a/b", "")],
        vec![link("a", "/etc"), file("a/b/c", "")],
    ] {
        let snapshot = Snapshot { files, ..snapshot() };
        let source = LoadedSnapshot::new(&snapshot);
        let error = plan_of(&root.path().join("w"), &source, OnConflict::Theirs).unwrap_err();
        assert!(matches!(error, PlanError::UnsafePath { .. }), "{error:?}");
    }
}

#[test]
fn a_file_does_not_come_back_with_somebody_elses_rights() {
    let root = tempfile::tempdir().unwrap();
    let mut tool = file("tool", "");
    tool.mode = Some(0o4755);
    let snapshot = Snapshot { files: vec![tool], ..snapshot() };
    let source = LoadedSnapshot::new(&snapshot);
    let plan = plan_of(&root.path().join("w"), &source, OnConflict::Stop).unwrap();
    assert_eq!(plan.steps[0].mode, Some(0o755));
    assert_eq!(plan.not_restored[0].what, NotRestoredKind::Mode);
}

#[test]
fn a_link_that_leads_out_is_made_with_a_warning() {
    let root = tempfile::tempdir().unwrap();
    let workspace = root.path().join("w");
    let inside = fs_err::canonicalize(root.path()).unwrap().join("w/x");
    let snapshot = Snapshot {
        files: vec![
            link("a", "/etc/hostname"),
            link("b", "../x"),
            link("c", "d/../x"),
            link("d/e", "../x"),
            link("f", inside.to_str().unwrap()),
            link("g", "x/../../w/x"),
        ],
        ..snapshot()
    };
    let source = LoadedSnapshot::new(&snapshot);
    let plan = plan_of(&workspace, &source, OnConflict::Stop).unwrap();
    let found: Vec<_> = plan
        .warnings
        .iter()
        .map(|warning| (warning.code, warning.path.as_deref().unwrap()))
        .collect();
    assert_eq!(found, [("link_outside", "a"), ("link_outside", "b"), ("link_outside", "g")]);
    assert!(plan.steps.iter().filter(|step| step.kind() == StepKind::Symlink).count() == 6);
}

#[test]
fn pieces_read_as_one_text() {
    let spool = tempfile::tempfile().unwrap();
    spool.write_all_at(b"0123456789", 0).unwrap();
    let pieces = [
        Piece::Text("ab".into()),
        Piece::Spool { offset: 2, length: 3 },
        Piece::Text("".into()),
        Piece::Text("c".into()),
    ];
    let mut text = String::new();
    let mut reader = PiecesReader { pieces: &pieces, at: 0, spool: Some(&spool) };
    reader.read_to_string(&mut text).unwrap();
    assert_eq!(text, "ab234c");
    let short = [Piece::Spool { offset: 8, length: 3 }];
    let mut reader = PiecesReader { pieces: &short, at: 0, spool: Some(&spool) };
    assert!(reader.read_to_string(&mut text).is_err());
}

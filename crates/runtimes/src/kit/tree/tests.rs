use anemone_format::{AgentId, AgentInfo, File as Carried, FileRoot, Manifest, Node, Snapshot};

use std::collections::BTreeMap;
use std::io::Read;

use anemone_files::{FileKind, FileTime};
use anemone_format::{LoadedSnapshot, Moment};
use rustix::fs::CWD;

use super::*;
use crate::kit::{OnConflict, PlanBuilder, PlanError, PlanOptions, PlannedFile, plan};

pub(crate) fn at(text: &str) -> Moment {
    text.parse().unwrap()
}

pub(crate) fn snapshot() -> Snapshot {
    let id: AgentId = "9e373c1e-cab7-5eea-90c3-8f3d09ac5755".parse().unwrap();
    let agent = AgentInfo::new(id, "Clawdia", "openclaw");
    Snapshot::new(Manifest::new(agent, at("2026-03-01T10:00:00Z")))
}

pub(crate) fn file(path: &str, content: &str) -> Carried {
    let mut file = Carried::new(FileRoot::Raw("openclaw".to_owned()), path, content);
    (file.mode, file.mtime) = (Some(0o640), Some(at("2026-02-03T04:05:06.000000007Z")));
    file
}

pub(crate) fn link(path: &str, target: &str) -> Carried {
    let mut link = file(path, "");
    link.node = Node::Symlink(target.as_bytes().to_vec());
    link
}

pub(crate) fn carried_folder(path: &str, mode: u32) -> Carried {
    let mut folder = file(path, "");
    folder.node = Node::Folder;
    folder.mode = Some(mode);
    folder
}

/// Plans to put all files of a snapshot into a folder.
pub(crate) fn plan_of(
    workspace: &Path,
    source: &LoadedSnapshot<'_>,
    on_conflict: OnConflict,
) -> Result<Plan, PlanError> {
    let files = source.files().iter().enumerate();
    let wanted = files.map(|(index, file)| PlannedFile::carried(index, file));
    let draft = PlanBuilder { wanted: wanted.collect(), ..PlanBuilder::default() };
    plan::plan(workspace, draft, source, &PlanOptions::new(on_conflict))
}

/// Everything below a folder: what it is, its mode, its time and its content.
pub(crate) fn tree_at(root: &Path) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let Ok(survey) = survey(root) else { return found };
    for (key, seen) in survey.nodes {
        let path = lossy(&path_of(&key));
        let FileTime { seconds, nanoseconds } = seen.modified;
        let (mode, time) = (seen.mode, format!("{seconds}.{nanoseconds:09}"));
        let text = match seen.kind {
            FileKind::File => {
                let content = fs_err::read(root.join(&path)).unwrap();
                format!("file {mode:o} {time} {}", String::from_utf8_lossy(&content))
            }
            FileKind::Symlink => {
                format!("link {time} {}", fs_err::read_link(root.join(&path)).unwrap().display())
            }
            // The time of a folder that is being worked in is not what is tested.
            FileKind::Folder => format!("folder {mode:o}"),
            FileKind::Special => "special".to_owned(),
        };
        found.insert(path, text);
    }
    found
}

pub(crate) fn names(folder: &Path) -> Vec<String> {
    let entries = fs_err::read_dir(folder).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

fn write(path: &Path, content: &str) {
    fs_err::create_dir_all(path.parent().unwrap()).unwrap();
    fs_err::write(path, content).unwrap();
}

/// A workspace with one of every kind of file, and a snapshot that differs from it.
fn old_and_new() -> (tempfile::TempDir, Snapshot) {
    let folder = tempfile::tempdir().unwrap();
    let workspace = folder.path().join("w");
    write(&workspace.join("MEMORY.md"), "old memory");
    write(&workspace.join("SOUL.md"), "same soul");
    write(&workspace.join("memory/2026-01-01.md"), "kept");
    write(&workspace.join("notes/a.md"), "a folder where a file should be");
    write(&workspace.join(".git/HEAD"), "ref: refs/heads/main");
    write(&workspace.join("tight/inner.md"), "kept too");
    std::os::unix::fs::symlink("/etc/hostname", workspace.join("outside")).unwrap();
    rustix::fs::mkfifoat(CWD, workspace.join("pipe"), Mode::from_raw_mode(0o600)).unwrap();
    let tight = std::fs::Permissions::from_mode(0o555);
    fs_err::set_permissions(workspace.join("tight"), tight).unwrap();
    let mut snapshot = snapshot();
    snapshot.files = vec![
        file("MEMORY.md", "new memory"),
        file("SOUL.md", "same soul"),
        link("memory/latest", "2026-01-02.md"),
        file("memory/2026-01-02.md", "new day"),
        carried_folder("memory/archive", 0o750),
        file("notes", "a file"),
    ];
    (folder, snapshot)
}

#[test]
fn whoever_looks_sees_the_old_tree_or_the_new_one() {
    for able in [ABLE, Abilities { exchange: false, ..ABLE }] {
        let (folder, snapshot) = old_and_new();
        let workspace = folder.path().join("w");
        let source = LoadedSnapshot::new(&snapshot);
        let plan = plan_of(&workspace, &source, OnConflict::Theirs).unwrap();
        let old = tree_at(&workspace);
        let mut seen = Vec::new();
        let applied = apply_with(&plan, &source, &Unwatched, able, &mut |point| {
            seen.push((point, tree_at(&workspace)));
            Ok(())
        });
        let kept = applied.unwrap().replaced_kept_at.unwrap();
        let new = tree_at(&workspace);
        for (point, tree) in seen {
            let expected =
                if matches!(point, TestPoint::Swapped | TestPoint::Tidied) { &new } else { &old };
            assert_eq!(&tree, expected, "{point:?}");
        }
        let expected = [
            (".git", "folder 755"),
            (".git/HEAD", old[".git/HEAD"].as_str()),
            ("MEMORY.md", "file 640 1770091506.000000007 new memory"),
            ("SOUL.md", "file 640 1770091506.000000007 same soul"),
            ("memory", "folder 755"),
            ("memory/2026-01-01.md", old["memory/2026-01-01.md"].as_str()),
            ("memory/2026-01-02.md", "file 640 1770091506.000000007 new day"),
            ("memory/archive", "folder 750"),
            ("memory/latest", "link 1770091506.000000007 2026-01-02.md"),
            ("notes", "file 640 1770091506.000000007 a file"),
            ("outside", old["outside"].as_str()),
            ("pipe", "special"),
            ("tight", "folder 555"),
            ("tight/inner.md", old["tight/inner.md"].as_str()),
        ];
        let new: Vec<(&str, &str)> = new.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect();
        assert_eq!(new, expected);
        assert_eq!(kept, workspace.with_file_name("w.replaced-1"));
        let kept: Vec<String> = tree_at(&kept).into_keys().collect();
        assert_eq!(kept, ["MEMORY.md", "notes", "notes/a.md"]);
        assert_eq!(names(folder.path()), ["w", "w.replaced-1"]);
    }
}

#[test]
fn a_fault_at_any_step_leaves_the_old_tree_and_nothing_beside_it() {
    let mut steps = 0;
    loop {
        let (folder, snapshot) = old_and_new();
        let workspace = folder.path().join("w");
        let source = LoadedSnapshot::new(&snapshot);
        let plan = plan_of(&workspace, &source, OnConflict::Theirs).unwrap();
        let old = tree_at(&workspace);
        let mut left = steps;
        let applied = apply_with(&plan, &source, &Unwatched, ABLE, &mut |_| {
            left -= 1;
            if left == -1 { Err(io::ErrorKind::StorageFull.into()) } else { Ok(()) }
        });
        // Nothing after the swap makes the import fail.
        let Err(error) = applied else { break };
        assert!(matches!(error, ApplyTreeError::Write { .. }), "{error:?}");
        assert_eq!(tree_at(&workspace), old, "step {steps}");
        assert_eq!(names(folder.path()), ["w"], "step {steps}");
        steps += 1;
    }
    assert!(steps > 15, "{steps}");
}

#[test]
fn what_changes_while_the_tree_is_built_stops_the_swap() {
    type Change = fn(&Path);
    let changes: &[(&str, Change)] = &[
        ("MEMORY.md", |w| fs_err::write(w.join("MEMORY.md"), "edited just now").unwrap()),
        ("memory/2026-01-03.md", |w| write(&w.join("memory/2026-01-03.md"), "appeared")),
        ("memory/2026-01-01.md", |w| {
            fs_err::remove_file(w.join("memory/2026-01-01.md")).unwrap();
        }),
        ("SOUL.md", |w| {
            fs_err::write(w.join("x"), "same soul").unwrap();
            fs_err::rename(w.join("x"), w.join("SOUL.md")).unwrap();
        }),
    ];
    for (path, change) in changes {
        let (folder, snapshot) = old_and_new();
        let workspace = folder.path().join("w");
        let source = LoadedSnapshot::new(&snapshot);
        let plan = plan_of(&workspace, &source, OnConflict::Theirs).unwrap();
        let mut expected = BTreeMap::new();
        let applied = apply_with(&plan, &source, &Unwatched, ABLE, &mut |point| {
            if point == TestPoint::Synced {
                change(&workspace);
                expected = tree_at(&workspace);
            }
            Ok(())
        });
        let Err(ApplyTreeError::Changed(found)) = applied else {
            panic!("{path}: {applied:?}");
        };
        assert_eq!(found, fs_err::canonicalize(&workspace).unwrap().join(path));
        assert_eq!(tree_at(&workspace), expected);
        assert_eq!(names(folder.path()), ["w"]);
    }
}

#[test]
fn what_appears_in_the_last_moment_is_kept_aside() {
    let (folder, mut snapshot) = old_and_new();
    snapshot.files = vec![file("new.md", "new")];
    let workspace = folder.path().join("w");
    let source = LoadedSnapshot::new(&snapshot);
    let plan = plan_of(&workspace, &source, OnConflict::Stop).unwrap();
    let applied = apply_with(&plan, &source, &Unwatched, ABLE, &mut |point| {
        if point == TestPoint::Checked {
            write(&workspace.join("memory/late.md"), "late");
            // What both trees have is changed in both.
            fs_err::write(workspace.join("SOUL.md"), "changed late").unwrap();
        }
        Ok(())
    });
    let kept = applied.unwrap().replaced_kept_at.unwrap();
    assert_eq!(tree_at(&kept).into_keys().collect::<Vec<_>>(), ["memory", "memory/late.md"]);
    assert_eq!(fs_err::read_to_string(workspace.join("SOUL.md")).unwrap(), "changed late");
}

#[test]
fn a_folder_is_made_with_those_above_it_or_not_at_all() {
    let folder = tempfile::tempdir().unwrap();
    let workspace = folder.path().join("a/b/w");
    let mut snapshot = snapshot();
    snapshot.files = vec![file("memory/x.md", "x")];
    let source = LoadedSnapshot::new(&snapshot);
    let plan = plan_of(&workspace, &source, OnConflict::Stop).unwrap();
    apply_with(&plan, &source, &Unwatched, ABLE, &mut |point| {
        if point == TestPoint::Synced { Err(io::ErrorKind::Other.into()) } else { Ok(()) }
    })
    .unwrap_err();
    assert!(names(folder.path()).is_empty());
    apply(&plan, &source, &Unwatched).unwrap();
    assert_eq!(fs_err::read_to_string(workspace.join("memory/x.md")).unwrap(), "x");
    assert_eq!(names(&folder.path().join("a/b")), ["w"]);
}

#[test]
fn a_folder_that_is_taken_in_the_last_moment_is_not_touched() {
    let folder = tempfile::tempdir().unwrap();
    let workspace = folder.path().join("w");
    let mut snapshot = snapshot();
    snapshot.files = vec![file("x.md", "x")];
    let source = LoadedSnapshot::new(&snapshot);
    for exists in [false, true] {
        if exists {
            fs_err::create_dir(&workspace).unwrap();
        }
        let plan = plan_of(&workspace, &source, OnConflict::Stop).unwrap();
        let error = apply_with(&plan, &source, &Unwatched, ABLE, &mut |point| {
            if point == TestPoint::Checked {
                write(&workspace.join("mine.md"), "mine");
            }
            Ok(())
        })
        .unwrap_err();
        assert!(matches!(error, ApplyTreeError::Changed { .. }), "{error:?}");
        assert_eq!(names(&workspace), ["mine.md"]);
        assert_eq!(names(folder.path()), ["w"]);
        fs_err::remove_dir_all(&workspace).unwrap();
    }
}

#[test]
fn an_empty_folder_keeps_its_mode() {
    let folder = tempfile::tempdir().unwrap();
    let workspace = folder.path().join("w");
    fs_err::create_dir(&workspace).unwrap();
    fs_err::set_permissions(&workspace, std::fs::Permissions::from_mode(0o710)).unwrap();
    let mut snapshot = snapshot();
    snapshot.files = vec![file("x.md", "x")];
    let source = LoadedSnapshot::new(&snapshot);
    let plan = plan_of(&workspace, &source, OnConflict::Stop).unwrap();
    assert!(apply(&plan, &source, &Unwatched).unwrap().replaced_kept_at.is_none());
    assert_eq!(fs_err::metadata(&workspace).unwrap().permissions().mode() & 0o7777, 0o710);
}

#[test]
fn nothing_is_written_through_a_link() {
    for on_conflict in [OnConflict::Theirs, OnConflict::Ours, OnConflict::Both] {
        let folder = tempfile::tempdir().unwrap();
        let (workspace, outside) = (folder.path().join("w"), folder.path().join("outside"));
        write(&outside.join("x.md"), "not yours");
        write(&workspace.join("y.md"), "y");
        std::os::unix::fs::symlink(&outside, workspace.join("memory")).unwrap();
        let mut snapshot = snapshot();
        snapshot.files = vec![file("memory/x.md", "x"), file("memory/z.md", "z")];
        let source = LoadedSnapshot::new(&snapshot);
        let plan = plan_of(&workspace, &source, on_conflict).unwrap();
        assert_eq!(plan.conflicts.len(), 1, "{on_conflict:?}");
        apply(&plan, &source, &Unwatched).unwrap();
        assert_eq!(names(&outside), ["x.md"]);
        assert_eq!(fs_err::read_to_string(outside.join("x.md")).unwrap(), "not yours");
        let expected: &[&str] = match on_conflict {
            OnConflict::Theirs => &["memory", "memory/x.md", "memory/z.md", "y.md"],
            OnConflict::Both => &[
                "memory",
                "memory.imported",
                "memory.imported/x.md",
                "memory.imported/z.md",
                "y.md",
            ],
            _ => &["memory", "y.md"],
        };
        assert_eq!(tree_at(&workspace).into_keys().collect::<Vec<_>>(), expected);
    }
}

/// A source whose content differs from what it promises.
struct Liar<'a>(LoadedSnapshot<'a>, &'static str);

impl SnapshotSource for Liar<'_> {
    fn manifest(&self) -> &Manifest {
        self.0.manifest()
    }
    fn identity(&self) -> io::Result<Option<anemone_format::Identity>> {
        self.0.identity()
    }
    fn principals(&self) -> io::Result<Option<anemone_format::Principals>> {
        self.0.principals()
    }
    fn credentials(&self) -> io::Result<Option<anemone_format::Credentials>> {
        self.0.credentials()
    }
    fn attachments(&self) -> io::Result<Option<anemone_format::Attachments>> {
        self.0.attachments()
    }
    fn files(&self) -> &[anemone_format::SourceFile] {
        self.0.files()
    }
    fn content(&self, _: usize) -> io::Result<Box<dyn Read + '_>> {
        Ok(Box::new(self.1.as_bytes()))
    }
    fn each_record(
        &self,
        take: &mut dyn FnMut(&anemone_format::Record) -> io::Result<()>,
    ) -> io::Result<()> {
        self.0.each_record(take)
    }
}

#[test]
fn a_source_that_yields_other_bytes_than_it_promised_changes_nothing() {
    let mut snapshot = snapshot();
    snapshot.files = vec![file("x.md", "four")];
    for delivered in ["", "one", "seven"] {
        let folder = tempfile::tempdir().unwrap();
        let workspace = folder.path().join("w");
        let plan = plan_of(&workspace, &LoadedSnapshot::new(&snapshot), OnConflict::Stop).unwrap();
        let liar = Liar(LoadedSnapshot::new(&snapshot), delivered);
        let error = apply(&plan, &liar, &Unwatched).unwrap_err();
        assert!(matches!(error, ApplyTreeError::WrongSize { expected: 4, .. }), "{error:?}");
        assert!(names(folder.path()).is_empty());
    }
}

#[test]
fn a_blocked_plan_is_not_applied() {
    let (folder, snapshot) = old_and_new();
    let workspace = folder.path().join("w");
    let source = LoadedSnapshot::new(&snapshot);
    let plan = plan_of(&workspace, &source, OnConflict::Stop).unwrap();
    let old = tree_at(&workspace);
    assert!(matches!(apply(&plan, &source, &Unwatched), Err(ApplyTreeError::Conflicts)));
    assert_eq!(tree_at(&workspace), old);
}

/// A workspace to which only a file is added, so that everything that exists stays.
fn old_and_one_more() -> (tempfile::TempDir, Snapshot) {
    let (folder, mut snapshot) = old_and_new();
    fs_err::remove_file(folder.path().join("w/pipe")).unwrap();
    snapshot.files = vec![file("new.md", "new")];
    (folder, snapshot)
}

fn warned(applied: &AppliedTree) -> Vec<&'static str> {
    applied.warnings.iter().map(|warning| warning.code).collect()
}

#[test]
fn whose_owner_is_lost_stays_aside_too() {
    let (folder, snapshot) = old_and_one_more();
    let workspace = folder.path().join("w");
    let source = LoadedSnapshot::new(&snapshot);
    let plan = plan_of(&workspace, &source, OnConflict::Stop).unwrap();
    let old = tree_at(&workspace);
    let able = Abilities { link: false, give_away: false, ..ABLE };
    let applied = apply_with(&plan, &source, &Unwatched, able, &mut |_| Ok(())).unwrap();
    assert_eq!(warned(&applied), ["owner_changed"]);
    // The root, 4 folders, 6 files and a link.
    assert!(applied.warnings[0].message.contains(": 12, such as ."), "{applied:?}");
    assert_eq!(tree_at(&applied.replaced_kept_at.unwrap()), old);
    let mut new = tree_at(&workspace);
    new.remove("new.md").unwrap();
    assert_eq!(new, old);
}

#[test]
fn a_copy_is_as_good_where_nothing_is_lost() {
    let (folder, snapshot) = old_and_one_more();
    let workspace = folder.path().join("w");
    let source = LoadedSnapshot::new(&snapshot);
    let plan = plan_of(&workspace, &source, OnConflict::Stop).unwrap();
    let able = Abilities { link: false, ..ABLE };
    let applied = apply_with(&plan, &source, &Unwatched, able, &mut |_| Ok(())).unwrap();
    assert_eq!(warned(&applied), [""; 0]);
    assert_eq!(applied.replaced_kept_at, None);
    assert_eq!(names(folder.path()), ["w"]);
}

#[test]
fn extended_attributes_stay_or_are_missed() {
    for set_attributes in [true, false] {
        let (folder, mut snapshot) = old_and_one_more();
        snapshot.files.push(file("SOUL.md", "same soul"));
        let workspace = folder.path().join("w");
        let marked = ["", "memory", "memory/2026-01-01.md", "SOUL.md"];
        for path in marked {
            let path = workspace.join(path);
            let flags = rustix::fs::XattrFlags::empty();
            match rustix::fs::setxattr(&path, "user.note", path.as_os_str().as_bytes(), flags) {
                // Some file systems do not have extended attributes.
                Err(rustix::io::Errno::OPNOTSUPP) => return,
                other => other.unwrap(),
            }
        }
        let source = LoadedSnapshot::new(&snapshot);
        let plan = plan_of(&workspace, &source, OnConflict::Stop).unwrap();
        let able = Abilities { link: false, set_attributes, ..ABLE };
        let applied = apply_with(&plan, &source, &Unwatched, able, &mut |_| Ok(())).unwrap();
        let expected: &[&str] = if set_attributes { &[] } else { &["attributes_lost"] };
        assert_eq!(warned(&applied), expected);
        for path in marked.into_iter().filter(|_| set_attributes) {
            let path = workspace.join(path);
            let mut value = vec![0; 4096];
            let length = rustix::fs::getxattr(&path, "user.note", &mut value[..]).unwrap();
            assert_eq!(&value[..length], path.as_os_str().as_bytes());
        }
        if !set_attributes {
            assert!(applied.warnings[0].message.contains(": 4, such as ."), "{applied:?}");
        }
    }
}

/// An existing database of which only the path is known.
fn database(path: PathBuf) -> crate::kit::plan::MemoriesStep {
    struct Nothing;
    impl crate::kit::plan::PlannedChange for Nothing {
        fn apply(
            &self,
            _: &crate::Machine,
            _: &crate::RestoreSource<'_>,
            _: &Moment,
        ) -> Result<Option<PathBuf>, crate::kit::plan::RestoreError> {
            Ok(None)
        }
    }
    let change = Box::new(Nothing);
    let (added, replaced, kept, same) = (0, 0, 0, 0);
    crate::kit::plan::MemoriesStep { store: path, made: false, added, replaced, kept, same, change }
}

#[test]
fn the_files_of_a_database_come_and_go_without_stopping_the_swap() {
    let (folder, snapshot) = old_and_one_more();
    let workspace = folder.path().join("w");
    let at = |name: &str| workspace.join("memory").join(name);
    for name in ["brain.db", "brain.db-wal", "brain.db-shm"] {
        write(&at(name), "old");
    }
    let source = LoadedSnapshot::new(&snapshot);
    let mut plan = plan_of(&workspace, &source, OnConflict::Stop).unwrap();
    plan.memories = Some(database(at("brain.db")));
    let inode = |path: &Path| rustix::fs::lstat(path).unwrap().st_ino;
    let database = inode(&at("brain.db"));
    let mut log = 0;
    let applied = apply_with(&plan, &source, &Unwatched, ABLE, &mut |point| {
        if point == TestPoint::Synced {
            write(&at("brain.db"), "written in place");
            fs_err::remove_file(at("brain.db-wal"))?;
            write(&at("brain.db-wal.new"), "another log");
            fs_err::rename(at("brain.db-wal.new"), at("brain.db-wal"))?;
            log = inode(&at("brain.db-wal"));
            fs_err::remove_file(at("brain.db-shm"))?;
            write(&at("brain.db-journal"), "a journal");
        }
        Ok(())
    })
    .unwrap();
    assert_eq!((inode(&at("brain.db")), inode(&at("brain.db-wal"))), (database, log));
    assert!(!at("brain.db-shm").exists() && at("brain.db-journal").exists());
    assert!(workspace.join("new.md").exists());
    assert_eq!(applied.replaced_kept_at, None);
    assert_eq!(names(folder.path()), ["w"]);
}

#[test]
fn a_database_is_not_copied_away_from_whoever_has_it_open() {
    let (folder, snapshot) = old_and_one_more();
    let workspace = folder.path().join("w");
    write(&workspace.join("memory/brain.db"), "old");
    let source = LoadedSnapshot::new(&snapshot);
    let mut plan = plan_of(&workspace, &source, OnConflict::Stop).unwrap();
    plan.memories = Some(database(workspace.join("memory/brain.db")));
    let able = Abilities { link: false, ..ABLE };
    let error = apply_with(&plan, &source, &Unwatched, able, &mut |_| Ok(())).unwrap_err();
    assert!(matches!(error, ApplyTreeError::Database { .. }), "{error}");
    assert_eq!(names(folder.path()), ["w"]);
    // A file that is gone, or is no longer a file, is a change.
    let error = apply_with(&plan, &source, &Unwatched, ABLE, &mut |point| match point {
        TestPoint::Synced => fs_err::remove_file(workspace.join("memory/brain.db")),
        _ => Ok(()),
    });
    assert!(matches!(error, Err(ApplyTreeError::Changed { .. })), "{error:?}");
}

#[test]
fn the_old_tree_stays_whole_while_the_new_name_is_not_safe() {
    let (folder, snapshot) = old_and_one_more();
    let workspace = folder.path().join("w");
    let source = LoadedSnapshot::new(&snapshot);
    let plan = plan_of(&workspace, &source, OnConflict::Stop).unwrap();
    let old = tree_at(&workspace);
    let applied = apply_with(&plan, &source, &Unwatched, ABLE, &mut |point| match point {
        TestPoint::Swapped => Err(io::Error::other("no disk")),
        _ => Ok(()),
    })
    .unwrap();
    assert_eq!(warned(&applied), ["not_tidied"]);
    assert_eq!(tree_at(&applied.replaced_kept_at.unwrap()), old);
    assert!(workspace.join("new.md").exists());
}

#[test]
fn every_folder_above_is_made_safe_in_the_one_it_lies_in() {
    let folder = tempfile::tempdir().unwrap();
    let top = folder.path();
    let mut synced = Vec::new();
    let made = make_parents(&top.join("a/b"), &mut |folder| {
        synced.push(folder.to_owned());
        Ok(())
    });
    assert_eq!(made.unwrap(), [top.join("a"), top.join("a/b")]);
    assert_eq!(synced, [top.to_owned(), top.join("a")]);
    let failing = &mut |_: &Path| Err(io::ErrorKind::StorageFull.into());
    make_parents(&top.join("c/d"), failing).unwrap_err();
    assert_eq!(names(top), ["a"]);
}

#[test]
fn a_leftover_is_reported_and_left_alone() {
    let (folder, snapshot) = old_and_new();
    let workspace = folder.path().join("w");
    write(&folder.path().join(".w.anemone-abc123/x"), "x");
    write(&folder.path().join(".www.anemone-abc123/x"), "x");
    let source = LoadedSnapshot::new(&snapshot);
    let plan = plan_of(&workspace, &source, OnConflict::Theirs).unwrap();
    let codes: Vec<&str> = plan.warnings.iter().map(|warning| warning.code).collect();
    assert_eq!(codes, ["leftover"]);
    assert!(!plan.warnings[0].message.contains("remove"), "{:?}", plan.warnings);
    apply(&plan, &source, &Unwatched).unwrap();
    assert!(folder.path().join(".w.anemone-abc123/x").exists());
}

#[test]
fn what_may_be_the_only_copy_stops_the_import() {
    // The old tree was renamed, and the run was killed before the new one took its place.
    let (folder, snapshot) = old_and_new();
    let workspace = folder.path().join("w");
    let source = LoadedSnapshot::new(&snapshot);
    let old = folder.path().join(".w.anemone-abc123.old");
    fs_err::create_dir(&old).unwrap();
    let error = plan_of(&workspace, &source, OnConflict::Theirs).unwrap_err();
    let canonical = fs_err::canonicalize(&old).unwrap();
    assert!(matches!(&error, PlanError::Leftover { path, .. } if *path == canonical), "{error:?}");
    fs_err::remove_dir(&old).unwrap();
    let aside = folder.path().join(".w.anemone-abc123");
    fs_err::rename(&workspace, &aside).unwrap();
    let error = plan_of(&workspace, &source, OnConflict::Theirs).unwrap_err();
    assert!(matches!(error, PlanError::Leftover { .. }), "{error:?}");
    // A tree that was built where no workspace existed never was a workspace.
    fs_err::rename(&aside, folder.path().join(".w.anemone-first-abc123")).unwrap();
    let plan = plan_of(&workspace, &source, OnConflict::Theirs).unwrap();
    assert_eq!(plan.warnings[0].code, "leftover");
    apply(&plan, &source, &Unwatched).unwrap();
}

#[test]
fn a_second_import_changes_nothing() {
    let (folder, snapshot) = old_and_new();
    let workspace = folder.path().join("w");
    let source = LoadedSnapshot::new(&snapshot);
    let plan = plan_of(&workspace, &source, OnConflict::Theirs).unwrap();
    apply(&plan, &source, &Unwatched).unwrap();
    let plan = plan_of(&workspace, &source, OnConflict::Stop).unwrap();
    assert!(!plan.changes_anything(), "{:?}", plan.steps);
    let inode = rustix::fs::lstat(&workspace).unwrap().st_ino;
    apply(&plan, &source, &Unwatched).unwrap();
    assert_eq!(rustix::fs::lstat(&workspace).unwrap().st_ino, inode);
}

#[test]
fn odd_places_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let snapshot = snapshot();
    let source = LoadedSnapshot::new(&snapshot);
    let here = folder.path();
    fs_err::write(here.join("file"), "").unwrap();
    std::os::unix::fs::symlink("nowhere", here.join("dangling")).unwrap();
    let plan = |path: PathBuf| plan_of(&path, &source, OnConflict::Stop).unwrap_err();
    assert!(matches!(plan(here.join("file")), PlanError::NotAFolder { .. }));
    assert!(matches!(plan(here.join("dangling")), PlanError::Workspace { .. }));
    assert!(matches!(plan(here.join("file/below")), PlanError::Workspace { .. }));
    assert!(matches!(plan("/".into()), PlanError::MountPoint { .. }));
    assert!(matches!(plan("/proc".into()), PlanError::MountPoint { .. }));
}

#[test]
fn nanoseconds_count_up_before_1970_too() {
    assert_eq!(
        time_of(&at("1969-12-31T23:59:58.25Z")),
        FileTime { seconds: -2, nanoseconds: 250_000_000 }
    );
    assert_eq!(
        time_of(&at("2026-02-03T04:05:06.000000007Z")),
        FileTime { seconds: 1_770_091_506, nanoseconds: 7 }
    );
}

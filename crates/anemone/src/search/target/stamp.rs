//! What files look like from outside.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::{Path, PathBuf};

use anemone_index::FileStamp;

/// Files of one folder that are looked at, at most; nobody has more.
const MAX_FILES: usize = 1_000_000;

/// Looks at one file; `None` when it is not there.
pub(super) fn of_file(path: &Path) -> Option<FileStamp> {
    fs_err::metadata(path).ok().map(|it| of(&it))
}

/// Looks at several files and at the files of folders, as if they were one; `None` when nothing is
/// there.
pub(super) fn of_all(files: &[PathBuf], folders: &[PathBuf]) -> Option<FileStamp> {
    let mut found: Vec<(PathBuf, FileStamp)> = Vec::new();
    for path in files {
        found.extend(of_file(path).map(|stamp| (path.clone(), stamp)));
    }
    for folder in folders {
        let Ok(entries) = fs_err::read_dir(folder) else { continue };
        for entry in entries.flatten().take(MAX_FILES) {
            let metadata = entry.metadata().ok().filter(|it| it.is_file());
            found.extend(metadata.map(|it| (entry.path(), of(&it))));
        }
    }
    // The order in which a folder names its files means nothing.
    found.sort_unstable_by(|one, other| one.0.cmp(&other.0));
    let mut all = FileStamp::default();
    let mut digest = DefaultHasher::new();
    for (path, stamp) in &found {
        all.size = all.size.saturating_add(stamp.size);
        all.modified_ns = all.modified_ns.max(stamp.modified_ns);
        all.changed_ns = all.changed_ns.max(stamp.changed_ns);
        (path, stamp.size, stamp.modified_ns, stamp.changed_ns, stamp.inode).hash(&mut digest);
    }
    all.inode = digest.finish();
    (!found.is_empty()).then_some(all)
}

#[cfg(unix)]
fn of(metadata: &std::fs::Metadata) -> FileStamp {
    use std::os::unix::fs::MetadataExt as _;
    let ns = |seconds: i64, rest: i64| seconds.saturating_mul(1_000_000_000).saturating_add(rest);
    FileStamp {
        size: metadata.size(),
        modified_ns: ns(metadata.mtime(), metadata.mtime_nsec()),
        changed_ns: ns(metadata.ctime(), metadata.ctime_nsec()),
        inode: metadata.ino(),
    }
}

#[cfg(not(unix))]
fn of(metadata: &std::fs::Metadata) -> FileStamp {
    let modified = metadata.modified().ok();
    let since = modified.and_then(|it| it.duration_since(std::time::UNIX_EPOCH).ok());
    let ns = since.map_or(0, |it| i64::try_from(it.as_nanos()).unwrap_or(i64::MAX));
    FileStamp { size: metadata.len(), modified_ns: ns, changed_ns: ns, inode: 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn several_files_change_when_any_of_them_does() {
        let folder = tempfile::tempdir().unwrap();
        let (one, log) = (folder.path().join("a.db"), folder.path().join("a.db-wal"));
        let below = folder.path().join("sessions");
        let look = || of_all(&[one.clone(), log.clone()], std::slice::from_ref(&below));
        assert_eq!(look(), None);
        fs_err::write(&one, "12345").unwrap();
        let first = look().unwrap();
        assert_eq!(first.size, 5);
        assert_eq!(look(), Some(first));
        fs_err::write(&log, "123").unwrap();
        let second = look().unwrap();
        assert_eq!(second.size, 8);
        fs_err::create_dir(&below).unwrap();
        assert_eq!(look(), Some(second));
        fs_err::write(below.join("x.jsonl"), "").unwrap();
        let third = look().unwrap();
        assert_ne!(third, second);
        fs_err::rename(below.join("x.jsonl"), below.join("y.jsonl")).unwrap();
        assert_ne!(look(), Some(third));
    }
}

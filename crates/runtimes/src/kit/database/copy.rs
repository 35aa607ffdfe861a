//! A consistent copy of a SQLite file that another process may be writing.
//!
//! The owner's files are only read as bytes: no lock is taken and no shared memory is mapped. The
//! database, its write-ahead log and its rollback journal are copied together, and taken only if
//! none of them changed meanwhile. The `-shm` file is left behind: it can be rebuilt, and it
//! means nothing to another process.

use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anemone_files::{FileStat, FileTime, create_private, open_regular, private_temporary_folder};
use fs_err as fs;
use tempfile::TempDir;

use crate::kit::with_suffix;

/// What the copy is called in its folder.
pub(crate) const COPY_NAME: &str = "copy.sqlite";

/// The database and the files that belong to it, by the suffixes of their names.
const PARTS: [&str; 3] = ["", "-wal", "-journal"];

const ATTEMPTS: u32 = 5;
const FIRST_PAUSE: Duration = Duration::from_millis(30);

/// File times move in steps of some milliseconds, so a write right after a write may not show.
const CLOCK_STEP: Duration = Duration::from_millis(20);

/// The most bytes of a database with its log that are copied.
const MAX_BYTES: u64 = 8 << 30;

/// The last bytes of a journal that names the journal of a transaction over several databases.
const SUPER_JOURNAL_MAGIC: [u8; 8] = [0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7];
const MAX_SUPER_JOURNAL_NAME: u32 = 4096;

/// A copy in a folder of its own, which is deleted on drop.
#[derive(Debug)]
pub(crate) struct Copy {
    folder: TempDir,
    file: PathBuf,
}

/// Why a database could not be copied.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CopyError {
    /// It does not exist.
    #[error("there is no database at {0}")]
    Missing(PathBuf),
    /// It is a link, a folder or something stranger.
    #[error("{0} is not a plain file")]
    NotAFile(PathBuf),
    /// It is larger than we copy.
    #[error("{path} is larger than {limit_bytes} bytes")]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// The most that is copied.
        limit_bytes: u64,
    },
    /// It changed during every attempt.
    #[error("{0} kept changing while it was copied")]
    Busy(PathBuf),
    /// It could not be read, or the copy could not be written.
    #[error("cannot copy {path}")]
    Io {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
}

impl Copy {
    /// Copies a database into a fresh folder below `scratch`.
    pub(crate) fn take(db: &Path, scratch: &Path) -> Result<Self, CopyError> {
        Self::take_limited(db, scratch, MAX_BYTES, || {})
    }

    /// Copies at most `limit_bytes`; `copied` is called after each attempt, before it is judged.
    fn take_limited(
        db: &Path,
        scratch: &Path,
        limit_bytes: u64,
        mut copied: impl FnMut(),
    ) -> Result<Self, CopyError> {
        let failed = |source| CopyError::Io { path: scratch.to_owned(), source };
        let folder = private_temporary_folder(scratch, "database-").map_err(failed)?;
        for attempt in 0..ATTEMPTS {
            if attempt > 0 {
                std::thread::sleep(FIRST_PAUSE * 2_u32.pow(attempt - 1));
            }
            let before = Prints::of(db, limit_bytes)?;
            if before.is_fresh(now(folder.path()).map_err(failed)?) {
                continue;
            }
            if !copy_parts(db, folder.path(), &before, limit_bytes)? {
                continue;
            }
            copied();
            if Prints::of(db, limit_bytes)? == before {
                let file = folder.path().join(COPY_NAME);
                return Ok(Self { folder, file });
            }
        }
        Err(CopyError::Busy(db.to_owned()))
    }

    /// Returns the folder that holds [`COPY_NAME`].
    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Returns the copied database.
    pub(crate) fn file(&self) -> &Path {
        &self.file
    }

    /// Returns the copied write-ahead log, if there is one.
    pub(crate) fn wal(&self) -> Option<PathBuf> {
        self.part("-wal")
    }

    /// Returns the copied rollback journal, if there is one. It is gone once the copy has been
    /// read, because reading plays it back.
    pub(crate) fn journal(&self) -> Option<PathBuf> {
        self.part("-journal")
    }

    fn part(&self, suffix: &str) -> Option<PathBuf> {
        let path = with_suffix(&self.file, suffix);
        fs::symlink_metadata(&path).is_ok().then_some(path)
    }

    /// Keeps the folder under a name of the caller's choice.
    pub(crate) fn keep_as(self, path: &Path) -> io::Result<()> {
        let folder = self.folder.keep();
        fs::rename(folder, path)
    }
}

/// The file stats that show whether a database, its log or its journal was changed or replaced.
#[derive(Debug, PartialEq, Eq)]
struct Prints([Option<FileStat>; 3]);

impl Prints {
    fn of(db: &Path, limit_bytes: u64) -> Result<Self, CopyError> {
        let mut prints = [None, None, None];
        let mut total: u64 = 0;
        for (print, suffix) in prints.iter_mut().zip(PARTS) {
            let path = with_suffix(db, suffix);
            let stat = match FileStat::of_path(&path) {
                Ok(stat) => stat,
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(source) => return Err(CopyError::Io { path, source }),
            };
            if !stat.is_file() {
                return Err(CopyError::NotAFile(path));
            }
            total = total.saturating_add(stat.size);
            if total > limit_bytes {
                return Err(CopyError::TooLarge { path, limit_bytes });
            }
            *print = Some(stat);
        }
        if prints[0].is_none() {
            return Err(CopyError::Missing(db.to_owned()));
        }
        Ok(Self(prints))
    }

    /// Returns whether a file was written so lately that another write may not show in its time.
    fn is_fresh(&self, now: FileTime) -> bool {
        self.0.iter().flatten().any(|stat| {
            let apart = now.as_nanoseconds().abs_diff(stat.modified.as_nanoseconds());
            Duration::from_nanos(apart) < CLOCK_STEP
        })
    }
}

/// Asks the file system for the time, in the steps in which it stamps files.
fn now(folder: &Path) -> io::Result<FileTime> {
    let path = folder.join("now");
    fs::write(&path, b"now")?;
    let modified = FileStat::of_path(&path)?.modified;
    fs::remove_file(&path)?;
    Ok(modified)
}

/// Returns how many bytes a database has, with its log and its journal.
pub(super) fn size_of(db: &Path) -> u64 {
    let sizes =
        PARTS.iter().filter_map(|suffix| fs::symlink_metadata(with_suffix(db, suffix)).ok());
    sizes.fold(0, |sum, metadata| sum.saturating_add(metadata.len()))
}

/// Copies all parts; returns false when one of them is no longer what it was.
fn copy_parts(
    db: &Path,
    folder: &Path,
    before: &Prints,
    limit_bytes: u64,
) -> Result<bool, CopyError> {
    for (print, suffix) in before.0.iter().zip(PARTS) {
        let to = folder.join(format!("{COPY_NAME}{suffix}"));
        let from = with_suffix(db, suffix);
        let failed = |source| CopyError::Io { path: from.clone(), source };
        match fs::remove_file(&to) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(failed(error)),
            _ => {}
        }
        let Some(print) = print else { continue };
        let source = match open_regular(&from) {
            Ok(source) => source,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
            Err(source) => return Err(failed(source)),
        };
        if FileStat::of(&source).map_err(failed)? != *print {
            return Ok(false);
        }
        let mut target = create_private(&to).map_err(failed)?;
        let copied = io::copy(&mut source.take(limit_bytes), &mut target).map_err(failed)?;
        if copied != print.size {
            return Ok(false);
        }
        if suffix == "-journal" {
            drop(target);
            disarm_journal(&to).map_err(failed)?;
        }
    }
    Ok(true)
}

/// Takes the name of a super-journal out of a copied journal.
///
/// SQLite deletes the file that such a name points to, wherever it is, once it has rolled back.
/// As long as that file exists the transaction is not finished, and the journal is to be played
/// back; otherwise it is finished, and the journal means nothing.
fn disarm_journal(path: &Path) -> io::Result<()> {
    let mut file = fs::OpenOptions::new().read(true).write(true).open(path)?;
    let len = file.metadata()?.len();
    let Some(tail_at) = len.checked_sub(16) else { return Ok(()) };
    let mut tail = [0; 16];
    file.seek(SeekFrom::Start(tail_at))?;
    file.read_exact(&mut tail)?;
    let [a, b, c, d, _, _, _, _, magic @ ..] = tail;
    if magic != SUPER_JOURNAL_MAGIC {
        return Ok(());
    }
    let name_len = u32::from_be_bytes([a, b, c, d]);
    let mut unfinished = false;
    if name_len <= MAX_SUPER_JOURNAL_NAME
        && let Some(name_at) = tail_at.checked_sub(u64::from(name_len))
    {
        let mut name = Vec::new();
        file.seek(SeekFrom::Start(name_at))?;
        (&mut file).take(u64::from(name_len)).read_to_end(&mut name)?;
        let name = String::from_utf8(name).unwrap_or_default();
        unfinished = !name.contains('\0') && fs::symlink_metadata(Path::new(&name)).is_ok();
    }
    if !unfinished {
        drop(file);
        return fs::remove_file(path);
    }
    file.seek(SeekFrom::Start(len - 8))?;
    file.write_all(&[0; 8])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scratch() -> TempDir {
        TempDir::new().unwrap()
    }

    #[test]
    fn a_database_comes_with_its_log_and_journal_but_not_its_shared_memory() {
        let (home, scratch) = (scratch(), scratch());
        for (suffix, content) in [("", "a"), ("-wal", "bb"), ("-journal", "ccc"), ("-shm", "d")] {
            fs::write(home.path().join(format!("x.sqlite{suffix}")), content).unwrap();
        }
        let copy = Copy::take(&home.path().join("x.sqlite"), scratch.path()).unwrap();
        let mut names: Vec<_> = fs::read_dir(copy.folder())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        assert_eq!(names, ["copy.sqlite", "copy.sqlite-journal", "copy.sqlite-wal"]);
        assert_eq!(fs::read(copy.file()).unwrap(), b"a");
        assert_eq!(fs::read(copy.wal().unwrap()).unwrap(), b"bb");
        assert_eq!(fs::read(copy.journal().unwrap()).unwrap(), b"ccc");
        assert_eq!(size_of(copy.file()), 6);
        drop(copy);
        assert_eq!(fs::read_dir(scratch.path()).unwrap().count(), 0);
    }

    #[cfg(unix)]
    #[test]
    fn the_copy_is_for_its_owner_only() {
        use std::os::unix::fs::PermissionsExt;
        let (home, scratch) = (scratch(), scratch());
        let db = home.path().join("x");
        fs::write(&db, "a").unwrap();
        fs::set_permissions(&db, PermissionsExt::from_mode(0o444)).unwrap();
        let copy = Copy::take(&db, scratch.path()).unwrap();
        assert_eq!((copy.wal(), copy.journal()), (None, None));
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(copy.folder()), 0o700);
        assert_eq!(mode(copy.file()), 0o600);
    }

    #[cfg(unix)]
    #[test]
    fn links_are_not_followed() {
        let (home, scratch) = (scratch(), scratch());
        let real = home.path().join("real");
        fs::write(&real, "a").unwrap();
        let link = home.path().join("link");
        std::os::unix::fs::symlink(&real, &link).unwrap();
        let error = Copy::take(&link, scratch.path()).unwrap_err();
        assert!(matches!(error, CopyError::NotAFile { .. }), "{error}");
        std::os::unix::fs::symlink(&real, home.path().join("real-wal")).unwrap();
        let error = Copy::take(&real, scratch.path()).unwrap_err();
        assert!(matches!(error, CopyError::NotAFile { .. }), "{error}");
    }

    #[test]
    fn what_is_missing_or_too_large_is_said_so() {
        let (home, scratch) = (scratch(), scratch());
        let db = home.path().join("x");
        let error = Copy::take(&db, scratch.path()).unwrap_err();
        assert!(matches!(error, CopyError::Missing { .. }), "{error}");
        fs::write(&db, "0123456789").unwrap();
        fs::write(home.path().join("x-wal"), "0123456789").unwrap();
        assert!(Copy::take_limited(&db, scratch.path(), 20, || {}).is_ok());
        let error = Copy::take_limited(&db, scratch.path(), 19, || {}).unwrap_err();
        assert!(matches!(error, CopyError::TooLarge { .. }), "{error}");
    }

    #[test]
    fn a_file_that_never_rests_is_busy() {
        let (home, scratch) = (scratch(), scratch());
        let db = home.path().join("x");
        fs::write(&db, "a").unwrap();
        let mut content = String::from("a");
        let error = Copy::take_limited(&db, scratch.path(), MAX_BYTES, || {
            content.push('a');
            fs::write(&db, &content).unwrap();
        })
        .unwrap_err();
        assert!(matches!(error, CopyError::Busy { .. }), "{error}");
        assert!(content.len() > 1, "no attempt came as far as a copy");
        assert!(Copy::take(&db, scratch.path()).is_ok());
    }

    fn journal_naming(victim: &Path) -> Vec<u8> {
        let name = victim.to_str().unwrap().as_bytes();
        let mut journal = vec![7; 512];
        journal.extend_from_slice(&1_u32.to_be_bytes());
        journal.extend_from_slice(name);
        journal.extend_from_slice(&u32::try_from(name.len()).unwrap().to_be_bytes());
        let sum: u32 = name.iter().map(|byte| u32::from(*byte)).sum();
        journal.extend_from_slice(&sum.to_be_bytes());
        journal.extend_from_slice(&SUPER_JOURNAL_MAGIC);
        journal
    }

    #[test]
    fn a_journal_cannot_name_a_file_to_be_deleted() {
        let (home, scratch) = (scratch(), scratch());
        let (db, victim) = (home.path().join("x"), home.path().join("victim"));
        fs::write(&db, "a").unwrap();
        fs::write(&victim, "precious").unwrap();
        let journal = journal_naming(&victim);
        fs::write(home.path().join("x-journal"), &journal).unwrap();
        let copy = Copy::take(&db, scratch.path()).unwrap();
        let copied = fs::read(copy.folder().join("copy.sqlite-journal")).unwrap();
        assert_eq!(copied.len(), journal.len());
        assert!(copied.ends_with(&[0; 8]));

        fs::remove_file(&victim).unwrap();
        let copy = Copy::take(&db, scratch.path()).unwrap();
        assert!(!fs::exists(copy.folder().join("copy.sqlite-journal")).unwrap());
        assert_eq!(fs::read(home.path().join("x-journal")).unwrap(), journal);
    }
}

//! The lock of an index's folder: readers share it, a writer holds it exclusively.
//!
//! The locked file also marks the folder as ours: it begins with a line of ours.

use std::io::{self, Read as _};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use fs_err::File;
use fs_err::os::unix::fs::OpenOptionsExt as _;
use rustix::fs::{FlockOperation, OFlags, flock, fstat, lstat};
use rustix::io::Errno;

use crate::progress::IndexProgress;

/// The name of the locked file.
pub(super) const LOCK: &str = "lock";
/// Its first line. Other programs may have files with this name, but not with this content.
pub(super) const MARK: &[u8] = b"anemone index\n";
/// How long to wait before reporting it.
const PATIENCE: Duration = Duration::from_secs(3);

/// A lock that is held until it is dropped.
#[derive(Debug)]
pub(crate) struct Held {
    file: File,
    path: PathBuf,
}

impl Held {
    /// Whether it still is the lock of its folder: deleting the folder deletes the lock.
    pub(super) fn is_there(&self) -> io::Result<bool> {
        let held = fstat(&self.file)?;
        match lstat(&self.path) {
            Ok(there) => Ok((there.st_dev, there.st_ino) == (held.st_dev, held.st_ino)),
            Err(Errno::NOENT) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Continues as a reader. Another writer may have come first: then nothing is held any more
    /// (`false`), or that writer has already finished, which only the files show.
    pub(super) fn share(&self) -> io::Result<bool> {
        match flock(&self.file, FlockOperation::NonBlockingLockShared) {
            Ok(()) => Ok(true),
            Err(Errno::WOULDBLOCK) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }
}

/// Waits for writers.
pub(super) fn shared(folder: &Path, progress: &dyn IndexProgress) -> io::Result<Held> {
    let operations = (FlockOperation::NonBlockingLockShared, FlockOperation::LockShared);
    hold(folder, operations, progress, PATIENCE)
}

/// Takes the readers' lock of a folder that has one, if it is free. Nothing is created.
pub(super) fn shared_at_once(folder: &Path) -> io::Result<Option<Held>> {
    let path = folder.join(LOCK);
    let mut options = fs_err::OpenOptions::new();
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    options.read(true).custom_flags(flags.bits().cast_signed());
    let held = Held { file: options.open(&path)?, path };
    match flock(&held.file, FlockOperation::NonBlockingLockShared) {
        Ok(()) => Ok(Some(held)),
        Err(Errno::WOULDBLOCK | Errno::INTR) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Waits for readers and writers.
pub(super) fn exclusive(folder: &Path, progress: &dyn IndexProgress) -> io::Result<Held> {
    let operations = (FlockOperation::NonBlockingLockExclusive, FlockOperation::LockExclusive);
    hold(folder, operations, progress, PATIENCE)
}

/// Whether a folder's lock file is one of ours.
pub(super) fn is_marked(folder: &Path) -> bool {
    start_of(folder).is_some_and(|start| start == MARK)
}

/// Whether a folder's lock file is one of ours without its complete mark, because it was not
/// written yet or was cut short by a full disk.
pub(super) fn is_begun(folder: &Path) -> bool {
    start_of(folder).is_some_and(|start| start.len() < MARK.len() && MARK.starts_with(&start))
}

fn start_of(folder: &Path) -> Option<Vec<u8>> {
    let path = folder.join(LOCK);
    // Opening something that is not a file, such as a pipe, may block forever.
    if !path.symlink_metadata().is_ok_and(|there| there.is_file()) {
        return None;
    }
    let mut start = Vec::new();
    File::open(path).ok()?.take(MARK.len() as u64).read_to_end(&mut start).ok()?;
    Some(start)
}

fn hold(
    folder: &Path,
    (at_once, wait): (FlockOperation, FlockOperation),
    progress: &dyn IndexProgress,
    patience: Duration,
) -> io::Result<Held> {
    let path = folder.join(LOCK);
    loop {
        let held = Held { file: open(&path)?, path: path.clone() };
        match flock(&held.file, at_once) {
            Ok(()) => {}
            Err(Errno::WOULDBLOCK | Errno::INTR) => {
                telling(progress, patience, || lock(&held.file, wait))?;
            }
            Err(error) => return Err(error.into()),
        }
        if held.is_there()? {
            return Ok(held);
        }
    }
}

fn lock(file: &File, wait: FlockOperation) -> io::Result<()> {
    loop {
        match flock(file, wait) {
            Err(Errno::INTR) => {}
            done => return Ok(done?),
        }
    }
}

/// Waits, and reports it when it takes long.
fn telling(
    progress: &dyn IndexProgress,
    patience: Duration,
    wait: impl FnOnce() -> io::Result<()>,
) -> io::Result<()> {
    let (done, is_done) = channel::<()>();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            if is_done.recv_timeout(patience) == Err(RecvTimeoutError::Timeout) {
                progress.waiting();
            }
        });
        let waited = wait();
        drop(done);
        waited
    })
}

/// Opens the file, or creates it. In a folder that cannot be written, it is opened for reading,
/// which is enough for a lock.
pub(super) fn open(path: &Path) -> io::Result<File> {
    let mut options = fs_err::OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false).mode(0o600);
    // A link could lead anywhere.
    options.custom_flags(OFlags::NOFOLLOW.bits().cast_signed());
    match options.open(path) {
        Err(error)
            if matches!(
                error.kind(),
                io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem
            ) =>
        {
            File::open(path).map_err(|_| error)
        }
        Ok(file) => {
            // Two processes that start at once write the same. A full disk may have cut the mark
            // short.
            let length = file.metadata()?.len();
            if length == 0 || path.parent().is_some_and(is_begun) {
                file.file().write_all_at(MARK, 0)?;
            }
            Ok(file)
        }
        failed => failed,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;
    use crate::progress::NoProgress;

    /// Whether a writer could start now.
    fn is_free(folder: &Path) -> bool {
        let file = open(&folder.join(LOCK)).unwrap();
        flock(file, FlockOperation::NonBlockingLockExclusive).is_ok()
    }

    #[test]
    fn a_mark_that_was_cut_short_is_completed_and_another_file_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(LOCK);
        fs_err::write(&path, &MARK[..5]).unwrap();
        assert!(is_begun(folder.path()) && !is_marked(folder.path()));
        drop(open(&path).unwrap());
        assert!(!is_begun(folder.path()) && is_marked(folder.path()));
        fs_err::write(&path, "12345").unwrap();
        assert!(!is_begun(folder.path()));
        drop(open(&path).unwrap());
        assert_eq!(fs_err::read(&path).unwrap(), b"12345");
    }

    #[test]
    fn readers_share_and_a_writer_waits() {
        let folder = tempfile::tempdir().unwrap();
        let first = shared(folder.path(), &NoProgress).unwrap();
        let second = shared(folder.path(), &NoProgress).unwrap();
        assert!(!is_free(folder.path()));
        let path = folder.path().to_owned();
        let writer = std::thread::spawn(move || exclusive(&path, &NoProgress).unwrap());
        std::thread::sleep(Duration::from_millis(50));
        assert!(!writer.is_finished());
        drop((first, second));
        let writer = writer.join().unwrap();
        assert!(!is_free(folder.path()));
        assert!(writer.share().unwrap());
        let reader = shared(folder.path(), &NoProgress).unwrap();
        drop(writer);
        assert!(!is_free(folder.path()));
        drop(reader);
        assert!(is_free(folder.path()));
    }

    #[test]
    fn a_lock_that_was_deleted_is_taken_anew() {
        let folder = tempfile::tempdir().unwrap();
        let first = exclusive(folder.path(), &NoProgress).unwrap();
        let path = folder.path().to_owned();
        let waiting = std::thread::spawn(move || exclusive(&path, &NoProgress).unwrap());
        std::thread::sleep(Duration::from_millis(50));
        fs_err::remove_file(folder.path().join(LOCK)).unwrap();
        assert!(!first.is_there().unwrap());
        drop(first);
        let second = waiting.join().unwrap();
        assert!(second.is_there().unwrap() && !is_free(folder.path()));
    }

    #[test]
    fn whoever_waits_long_is_told() {
        struct Told(AtomicU32);
        impl IndexProgress for Told {
            fn indexed(&self, _: u64, _: u64) {}
            fn waiting(&self) {
                self.0.fetch_add(1, Ordering::Relaxed);
            }
        }
        let folder = tempfile::tempdir().unwrap();
        let operations = (FlockOperation::NonBlockingLockShared, FlockOperation::LockShared);
        for (held_ms, patience_ms, times) in [(300, 20, 1), (20, 10_000, 0)] {
            let told = Told(AtomicU32::new(0));
            let held = exclusive(folder.path(), &NoProgress).unwrap();
            std::thread::scope(|scope| {
                let patience = Duration::from_millis(patience_ms);
                let (folder, told) = (folder.path(), &told);
                let wait = scope.spawn(move || hold(folder, operations, told, patience));
                std::thread::sleep(Duration::from_millis(held_ms));
                drop(held);
                wait.join().unwrap().unwrap();
            });
            assert_eq!(told.0.load(Ordering::Relaxed), times);
        }
    }

    #[test]
    fn a_lock_says_whose_it_is() {
        let folder = tempfile::tempdir().unwrap();
        assert!(!is_marked(folder.path()));
        fs_err::write(folder.path().join(LOCK), "some other program's").unwrap();
        assert!(!is_marked(folder.path()));
        drop(shared(folder.path(), &NoProgress).unwrap());
        assert!(!is_marked(folder.path()), "what is there stays");
        fs_err::remove_file(folder.path().join(LOCK)).unwrap();
        drop(shared(folder.path(), &NoProgress).unwrap());
        assert!(is_marked(folder.path()));
    }
}

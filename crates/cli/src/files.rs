//! Files: opening archives, sealed or not, and replacing files atomically.

use std::io::{self, BufWriter, IsTerminal as _, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use anemone_adapters::{StagingWatch, remove_tree};
use anemone_format::{Bytes, ReaderAt};
use tempfile::NamedTempFile;

use crate::error::{CliError, Kind};
use crate::keys::{Keys, Sealing, encryptor};
use crate::output::notice;
use crate::progress::Progress;

/// How every age file starts.
const AGE_MAGIC: &[u8] = b"age-encryption.org/";

/// An archive or a delta that can be read.
pub(crate) struct Source {
    pub(crate) bytes: Bytes,
    pub(crate) length: u64,
    /// How it was sealed, if it was.
    pub(crate) sealing: Option<Sealing>,
}

impl Source {
    /// Opens a file; a sealed one is opened with the user's keys and never lies open on disk.
    pub(crate) fn open(
        path: &Path,
        keys: &Keys<'_>,
        progress: &Progress,
    ) -> Result<Self, CliError> {
        // Looked at before it is opened: opening a pipe waits for somebody to write to it.
        let there = fs_err::metadata(path)?;
        if there.is_dir() {
            return Err(CliError::new(Kind::Failed, "is_a_folder", "this is a folder")
                .about(path)
                .hint("give the .alf or .alf-delta file"));
        }
        if !there.is_file() {
            return Err(not_a_file(path).hint("save it to a file first; it is read from both ends"));
        }
        let mut file = fs_err::File::open(path)?;
        let mut start = Vec::new();
        (&mut file).take(AGE_MAGIC.len() as u64).read_to_end(&mut start)?;
        if start == AGE_MAGIC {
            return Self::open_sealed(path, file, keys, progress);
        }
        let (bytes, length) = positioned(file.into_file())?;
        Ok(Self { bytes: progress.watch(bytes, length), length, sealing: None })
    }

    fn open_sealed(
        path: &Path,
        mut file: fs_err::File,
        keys: &Keys<'_>,
        progress: &Progress,
    ) -> Result<Self, CliError> {
        file.seek(SeekFrom::Start(0))?;
        let failed = |error: age::DecryptError| {
            CliError::new(
                Kind::Failed,
                "wrong_key",
                format!("cannot open the sealed file: {error}"),
            )
            .about(path)
        };
        let decryptor = age::Decryptor::new(file).map_err(failed)?;
        let (reader, sealing) = if decryptor.is_scrypt() {
            let passphrase = keys.passphrase(false).map_err(|error| error.about(path))?;
            let identity = age::scrypt::Identity::new(passphrase.clone());
            let reader = decryptor.decrypt(std::iter::once(&identity as &dyn age::Identity));
            (reader.map_err(failed)?, Sealing::Passphrase(passphrase))
        } else {
            let (identities, recipients) = keys.identities(path)?;
            let reader = decryptor.decrypt(identities.iter().map(|it| &**it));
            (reader.map_err(failed)?, Sealing::Recipients(recipients))
        };
        let mut reader = reader;
        let length = reader.seek(SeekFrom::End(0)).map_err(|error| {
            CliError::new(Kind::Failed, "corrupt_archive", format!("the file is damaged: {error}"))
                .about(path)
                .hint("take another copy of the file, if there is one")
        })?;
        let bytes: Bytes = Box::new(Seeking(Mutex::new((reader, length))));
        Ok(Self { bytes: progress.watch(bytes, length), length, sealing: Some(sealing) })
    }
}

/// A file read at positions.
struct Positioned(std::fs::File);

impl ReaderAt for Positioned {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        #[cfg(unix)]
        return std::os::unix::fs::FileExt::read_at(&self.0, buffer, offset);
        #[cfg(windows)]
        return std::os::windows::fs::FileExt::seek_read(&self.0, buffer, offset);
    }
}

/// A reader that has to be moved to every position, with where it is now.
struct Seeking<R>(Mutex<(R, u64)>);

impl<R: Read + Seek> ReaderAt for Seeking<R> {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let mut locked = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (reader, position) = &mut *locked;
        // Moving a decrypting reader throws away what it has decrypted.
        if *position != offset {
            *position = reader.seek(SeekFrom::Start(offset))?;
        }
        let read = reader.read(buffer)?;
        *position += read as u64;
        Ok(read)
    }
}

/// Takes a finished temporary file as a source, to check it before it gets its name.
pub(crate) fn reopen(file: &NamedTempFile) -> Result<(Bytes, u64), CliError> {
    positioned(file.reopen()?)
}

/// Opens a regular file as bytes that can be read at positions.
pub(crate) fn open_plain(path: &Path) -> io::Result<(Bytes, u64)> {
    let there = fs_err::metadata(path)?;
    if !there.is_file() {
        return Err(io::Error::other("this is not a regular file"));
    }
    let file = fs_err::File::open(path)?;
    Ok((Box::new(Positioned(file.into_file())), there.len()))
}

fn positioned(mut file: std::fs::File) -> Result<(Bytes, u64), CliError> {
    let length = file.seek(SeekFrom::End(0))?;
    Ok((Box::new(Positioned(file)), length))
}

/// A temporary file for lines that are put aside; it has no name and goes with the process.
///
/// It lies beside the result, where there is room for it, or with other temporary files.
pub(crate) fn spool(near: Option<&Path>) -> Result<Box<dyn anemone_format::Spool>, CliError> {
    Ok(Box::new(nameless(near)?))
}

/// Writes a step on the way to a result into a file without a name, and hands it back to read.
pub(crate) fn write_step<T>(
    near: Option<&Path>,
    write: impl FnOnce(&mut dyn Write) -> Result<T, CliError>,
) -> Result<(T, Bytes, u64), CliError> {
    let mut file = nameless(near)?;
    let mut out = BufWriter::with_capacity(256 << 10, &mut file);
    let result = write(&mut out)?;
    out.flush()?;
    drop(out);
    let (bytes, length) = positioned(file)?;
    Ok((result, bytes, length))
}

fn nameless(near: Option<&Path>) -> Result<std::fs::File, CliError> {
    match near {
        Some(path) => {
            let folder = folder_of(path);
            tempfile::tempfile_in(folder).map_err(|error| cannot_write(error, folder))
        }
        None => Ok(tempfile::tempfile()?),
    }
}

/// Copies a whole source.
pub(crate) fn copy_bytes(
    source: &impl ReaderAt,
    length: u64,
    out: &mut dyn Write,
) -> Result<(), CliError> {
    let mut buffer = vec![0; 256 << 10];
    let mut at = 0;
    while at < length {
        let read = source.read_at(&mut buffer, at)?;
        if read == 0 {
            return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into());
        }
        out.write_all(&buffer[..read])?;
        at += read as u64;
    }
    Ok(())
}

/// What to do when the file is there already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Existing {
    Keep,
    Replace,
}

/// Files that have no name of their own yet, to be taken away when the process is told to stop.
static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

fn unfinished() -> MutexGuard<'static, Vec<PathBuf>> {
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Takes unfinished files away when the user interrupts us or the system ends.
pub(crate) fn tidy_up_on_signals() {
    // Without a handler we only leave a temporary file behind.
    ctrlc::set_handler(|| {
        if let Some(tell) = first_signal().take() {
            tell();
            return;
        }
        ENDING.store(true, Ordering::Relaxed);
        say_interrupted();
        // Held to the end, so that nothing gets its name any more.
        let unfinished = unfinished();
        for path in &*unfinished {
            take_away(path);
        }
        end(INTERRUPTED);
    })
    .ok();
}

/// What is said when the process is interrupted: what state the work is in.
static STATE: Mutex<Option<&'static str>> = Mutex::new(None);

/// Says what is to be said when the process is interrupted from here on.
pub(crate) fn when_interrupted(state: &'static str) {
    *STATE.lock().unwrap_or_else(PoisonError::into_inner) = Some(state);
}

/// Says that the process was interrupted, where somebody said what that means.
fn say_interrupted() {
    let Some(state) = *STATE.lock().unwrap_or_else(PoisonError::into_inner) else { return };
    // A bar may be on the line.
    let line = if io::stderr().is_terminal() { "\n" } else { "" };
    notice(&format!("{line}interrupted; {state}"));
}

/// What is done instead of ending when the process is told to stop for the first time.
static FIRST_SIGNAL: Mutex<Option<Box<dyn FnOnce() + Send>>> = Mutex::new(None);

fn first_signal() -> MutexGuard<'static, Option<Box<dyn FnOnce() + Send>>> {
    FIRST_SIGNAL.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Tells whoever works until told to stop; the second time, the process ends where it is.
pub(crate) fn on_first_signal(tell: impl FnOnce() + Send + 'static) {
    *first_signal() = Some(Box::new(tell));
}

/// Lets the next signal end the process.
pub(crate) fn forget_first_signal() {
    *first_signal() = None;
}

/// Set when the process was told to stop.
static ENDING: AtomicBool = AtomicBool::new(false);

/// Removes an unfinished file, or a folder that is still being filled for a moment.
fn take_away(path: &Path) {
    const ATTEMPTS: usize = 1000;
    if !path.is_dir() {
        fs_err::remove_file(path).ok();
        return;
    }
    for _ in 0..ATTEMPTS {
        if remove_tree(path).is_ok() {
            return;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Takes the folder of an unfinished import away when the process is told to stop.
pub(crate) struct Unfinished;

impl StagingWatch for Unfinished {
    fn start(&self, make: &mut dyn FnMut() -> io::Result<PathBuf>) -> io::Result<PathBuf> {
        let mut unfinished = unfinished();
        let staging = make()?;
        unfinished.push(staging.clone());
        Ok(staging)
    }

    fn swap(&self, staging: &Path, swap: &mut dyn FnMut() -> io::Result<()>) -> io::Result<()> {
        // From the swap on the folder holds the old tree, which nobody takes away.
        let mut unfinished = unfinished();
        swap()?;
        unfinished.retain(|path| path != staging);
        Ok(())
    }

    fn ended(&self, staging: &Path) {
        unfinished().retain(|path| path != staging);
    }

    fn is_ending(&self) -> bool {
        ENDING.load(Ordering::Relaxed)
    }
}

/// A folder for copies of what others own; it goes when dropped, or when the process is told to
/// stop. Only its owner can look into it.
///
/// A process that is killed cannot take it away. So it is locked as long as it is used, and whoever
/// makes one takes away those that nobody holds any more.
pub(crate) struct Scratch {
    folder: tempfile::TempDir,
    /// Held until the folder is gone; where there are no locks, nothing is swept.
    #[cfg(unix)]
    _lock: Option<std::fs::File>,
}

/// How the folders are called; six letters follow.
const SCRATCH: &str = "anemone-scratch-";

impl Scratch {
    pub(crate) fn new() -> Result<Self, CliError> {
        let mut builder = tempfile::Builder::new();
        builder.prefix(SCRATCH);
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o700));
        let mut unfinished = unfinished();
        let folder = builder.tempdir()?;
        unfinished.push(folder.path().to_owned());
        drop(unfinished);
        #[cfg(unix)]
        return {
            let lock = lock(folder.path());
            static SWEPT: std::sync::Once = std::sync::Once::new();
            if lock.is_some() {
                SWEPT.call_once(|| sweep(folder.path()));
            }
            Ok(Self { folder, _lock: lock })
        };
        #[cfg(not(unix))]
        Ok(Self { folder })
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        unfinished().retain(|path| path != self.folder.path());
    }
}

/// Locks a folder, if nobody else has; it stays locked until the file is dropped.
#[cfg(unix)]
fn lock(folder: &Path) -> Option<std::fs::File> {
    let folder = fs_err::File::open(folder).ok()?.into_file();
    folder.try_lock().ok().map(|()| folder)
}

/// Takes away what killed processes of the same user left beside a folder of ours.
#[cfg(unix)]
fn sweep(ours: &Path) {
    use std::os::unix::fs::MetadataExt as _;
    /// One that is younger may be about to be locked.
    const YOUNG: Duration = Duration::from_mins(1);
    /// Names that are looked at; a folder of temporary files may hold any number.
    const MOST: usize = 100_000;
    let Ok(own) = fs_err::metadata(ours) else { return };
    let Some(Ok(entries)) = ours.parent().map(fs_err::read_dir) else { return };
    for entry in entries.flatten().take(MOST) {
        let name = entry.file_name();
        let letters = name.to_str().and_then(|it| it.strip_prefix(SCRATCH));
        if letters
            .is_none_or(|it| it.len() != 6 || !it.bytes().all(|it| it.is_ascii_alphanumeric()))
        {
            continue;
        }
        let is_left = |it: &std::fs::Metadata| {
            let age = it.modified().ok().and_then(|it| it.elapsed().ok());
            it.is_dir()
                && (it.uid(), it.mode()) == (own.uid(), own.mode())
                && age.is_some_and(|it| it > YOUNG)
        };
        if !entry.metadata().is_ok_and(|it| is_left(&it)) {
            continue;
        }
        // Held while it is removed, so that two do not do it at once.
        if let Some(_lock) = lock(&entry.path()) {
            remove_tree(&entry.path()).ok();
        }
    }
}

/// What shells make of an interrupt: 128 and the number of the signal.
const INTERRUPTED: i32 = 130;

#[expect(clippy::exit, reason = "there is nobody to return to from a signal")]
fn end(code: i32) {
    std::process::exit(code);
}

/// A file that will appear as a whole or not at all.
pub(crate) struct Target {
    path: PathBuf,
    file: NamedTempFile,
    existing: Existing,
}

impl Target {
    /// Prepares a file; nothing has that name until [`Target::commit`].
    pub(crate) fn create(path: &Path, existing: Existing) -> Result<Self, CliError> {
        check_free(path, existing)?;
        let folder = folder_of(path);
        let made = tempfile::Builder::new().prefix(".anemone-").tempfile_in(folder);
        let file = made.map_err(|error| cannot_write(error, folder))?;
        unfinished().push(file.path().to_owned());
        Ok(Self { path: path.to_owned(), file, existing })
    }

    /// Runs `write` with the file, sealed if it should be.
    pub(crate) fn write<T>(
        &mut self,
        sealing: Option<&Sealing>,
        write: impl FnOnce(&mut dyn Write) -> Result<T, CliError>,
    ) -> Result<T, CliError> {
        let mut out = BufWriter::with_capacity(256 << 10, self.file.as_file_mut());
        let result = match sealing {
            None => write(&mut out)?,
            Some(sealing) => {
                let mut sealed = encryptor(sealing)?.wrap_output(&mut out)?;
                let result = write(&mut sealed)?;
                sealed.finish()?;
                result
            }
        };
        out.flush()?;
        Ok(result)
    }

    pub(crate) fn file(&self) -> &NamedTempFile {
        &self.file
    }

    /// Gives the file its name: data first, then the name, then the folder.
    pub(crate) fn commit(self) -> Result<(), CliError> {
        self.file.as_file().sync_all()?;
        let folder = folder_of(&self.path).to_owned();
        let named = match self.existing {
            Existing::Replace => self.file.persist(&self.path),
            // Somebody may have made a file of that name while we were busy.
            Existing::Keep => self.file.persist_noclobber(&self.path),
        };
        named.map_err(|error| match error.error.kind() {
            io::ErrorKind::AlreadyExists => taken(&self.path),
            _ => CliError::from(error.error).about(&self.path),
        })?;
        #[cfg(unix)]
        fs_err::File::open(&folder)?.sync_all()?;
        Ok(())
    }
}

/// Refuses a path that is taken, unless it may be replaced.
pub(crate) fn check_free(path: &Path, existing: Existing) -> Result<(), CliError> {
    match fs_err::symlink_metadata(path) {
        Ok(there) if there.is_dir() => {
            Err(CliError::new(Kind::Failed, "is_a_folder", "this is a folder").about(path))
        }
        // A device or a pipe would be replaced by a file of its name.
        Ok(there) if !there.is_file() && !there.is_symlink() => Err(not_a_file(path)),
        Ok(_) if existing == Existing::Keep => Err(taken(path)),
        _ => Ok(()),
    }
}

fn not_a_file(path: &Path) -> CliError {
    CliError::new(Kind::Failed, "not_a_file", "this is not a regular file").about(path)
}

fn taken(path: &Path) -> CliError {
    CliError::new(Kind::Failed, "exists", "the file is there already")
        .about(path)
        .hint("choose another name, or give --force to replace it")
}

/// Says that no file can be made in a folder; the library would name a file that nobody knows.
fn cannot_write(error: io::Error, folder: &Path) -> CliError {
    let folder = folder.display();
    match error.kind() {
        io::ErrorKind::NotFound => {
            let message = format!("there is no folder {folder} to write to");
            CliError::new(Kind::Failed, "not_found", message).hint("make the folder first")
        }
        io::ErrorKind::PermissionDenied => {
            let message = format!("the folder {folder} may not be written to");
            CliError::new(Kind::Failed, "permission_denied", message)
                .hint("choose another folder for the output")
        }
        _ => CliError::from(error),
    }
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

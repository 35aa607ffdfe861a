//! Files: opening archives, sealed or not, and replacing files atomically.

use std::io::{self, BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

pub use anemone_files::Existing;
use anemone_files::{
    Durability, LeftoverKind, TEMPORARY_FILE, commit, folder_of, locked_folder, remove_tree, sweep,
    temporary_file,
};
use anemone_format::{Bytes, ReaderAt};
use anemone_runtimes::StagingWatch;
use tempfile::NamedTempFile;

use crate::error::{Error, Kind};
use crate::host::{Host, Progress};
use crate::keys::{Confirmation, Sealing, encryptor};
use crate::sealed_header::{self, HeaderFault, Packaging, WORK_FACTOR, unarmor};

/// The path that stands for stdin where something is read, and for stdout where it is written.
const STANDARD: &str = "-";
/// The most that is taken from stdin: it is copied to a temporary file.
const MAX_STDIN_BYTES: u64 = 64 << 30;

/// Returns true for the path that stands for stdin or stdout.
pub fn is_standard(path: &Path) -> bool {
    path.as_os_str() == STANDARD
}

/// An archive or a delta that can be read.
pub struct Source {
    pub bytes: Bytes,
    pub length: u64,
    /// How it was sealed, if it was.
    pub sealing: Option<Sealing>,
}

impl Source {
    /// Opens a file, or stdin for `-`; a sealed one is opened with the user's keys and its content
    /// is never written to disk.
    pub fn open(path: &Path, host: &Host, progress: &Progress) -> Result<Self, Error> {
        Self::open_with(path, host, progress, WORK_FACTOR)
    }

    /// Opens a file whose passphrase may have this work factor.
    pub fn open_with(
        path: &Path,
        host: &Host,
        progress: &Progress,
        max_factor: u8,
    ) -> Result<Self, Error> {
        let mut file = if is_standard(path) { spool_stdin(host)? } else { open_file(path)? };
        let packaging = Packaging::read(&mut file)?;
        file.seek(SeekFrom::Start(0))?;
        match packaging {
            Packaging::Open => {
                let (bytes, length) = positioned(file)?;
                Ok(Self { bytes: progress.watch(bytes, length), length, sealing: None })
            }
            Packaging::Sealed => Self::open_sealed(path, file, host, progress, max_factor),
            Packaging::Armored => {
                let mut binary = tempfile::tempfile()?;
                let mut out = BufWriter::new(&mut binary);
                let decoded = unarmor(file, &mut out).and_then(|()| out.flush());
                decoded.map_err(|error| damaged(path, &error))?;
                drop(out);
                Self::open_sealed(path, binary, host, progress, max_factor)
            }
        }
    }

    fn open_sealed(
        path: &Path,
        mut file: std::fs::File,
        host: &Host,
        progress: &Progress,
        max_factor: u8,
    ) -> Result<Self, Error> {
        file.seek(SeekFrom::Start(0))?;
        sealed_header::check(&file, max_factor)?.map_err(|fault| refused_header(path, &fault))?;
        file.seek(SeekFrom::Start(0))?;
        let failed = |error: age::DecryptError| {
            Error::new(Kind::Failed, "wrong_key", format!("cannot open the sealed file: {error}"))
                .about(path)
        };
        let decryptor = age::Decryptor::new_buffered(BufReader::new(file)).map_err(failed)?;
        let (reader, sealing) = if decryptor.is_scrypt() {
            let passphrase = host.keys.passphrase(Confirmation::None, &*host.console);
            let passphrase = passphrase.map_err(|error| error.about(path))?;
            let mut identity = age::scrypt::Identity::new(passphrase.clone());
            identity.set_max_work_factor(max_factor);
            let reader = decryptor.decrypt(std::iter::once(&identity as &dyn age::Identity));
            (reader.map_err(failed)?, Sealing::Passphrase(passphrase))
        } else {
            let (identities, recipients) = host.keys.identities(path)?;
            let reader = decryptor.decrypt(identities.iter().map(|it| &**it));
            (reader.map_err(failed)?, Sealing::Recipients(recipients))
        };
        let mut reader = reader;
        let length = reader.seek(SeekFrom::End(0)).map_err(|error| damaged(path, &error))?;
        let bytes: Bytes = Box::new(Seeking(Mutex::new((reader, length))));
        Ok(Self { bytes: progress.watch(bytes, length), length, sealing: Some(sealing) })
    }
}

fn damaged(path: &Path, error: &io::Error) -> Error {
    Error::new(Kind::Failed, "corrupt_archive", format!("the file is damaged: {error}"))
        .about(path)
        .hint("take another copy of the file, if there is one")
}

fn refused_header(path: &Path, fault: &HeaderFault) -> Error {
    let error = Error::new(Kind::Failed, "sealed_header", fault.to_string()).about(path);
    match fault {
        HeaderFault::WorkFactor { factor, .. } => error.hint(format!(
            "if you trust the file, `anemone decrypt --max-work-factor {factor} FILE -o OPEN.alf` \
             opens it; seal it again with `anemone encrypt`"
        )),
        HeaderFault::Length | HeaderFault::Recipients => {
            error.hint("if you trust the file, open it with `age -d` and read the result")
        }
    }
}

/// Opens a regular file that the user named.
fn open_file(path: &Path) -> Result<std::fs::File, Error> {
    // Looked at before it is opened: opening a pipe waits for somebody to write to it.
    let there = fs_err::metadata(path).map_err(|error| cannot_read(error, path))?;
    if there.is_dir() {
        return Err(Error::new(Kind::Failed, "is_a_folder", "this is a folder")
            .about(path)
            .hint("give the .alf or .alf-delta file"));
    }
    if !there.is_file() {
        return Err(not_a_file(path).hint("save it to a file, or pipe it in and give `-`"));
    }
    let file = fs_err::File::open(path).map_err(|error| cannot_read(error, path))?;
    Ok(file.into_file())
}

/// Says in plain words why a file that the user named cannot be read.
fn cannot_read(error: io::Error, path: &Path) -> Error {
    let shown = path.display();
    match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => {
            Error::new(Kind::Failed, "not_found", format!("there is no file {shown}"))
                .hint("check the path")
        }
        io::ErrorKind::PermissionDenied => {
            let message = format!("no permission to read {shown}");
            Error::new(Kind::Failed, "permission_denied", message)
                .hint("check the permissions of the file and its folders")
        }
        _ => Error::from(error),
    }
}

/// Copies stdin to a temporary file, because an archive is read from both ends. The file has no
/// name, and only its owner could have opened it.
fn spool_stdin(host: &Host) -> Result<std::fs::File, Error> {
    let input = host.console.standard_input()?;
    let mut file = tempfile::tempfile()?;
    let copied = io::copy(&mut input.take(MAX_STDIN_BYTES + 1), &mut file)?;
    if copied > MAX_STDIN_BYTES {
        return Err(Error::new(Kind::Failed, "too_large", "stdin is too large")
            .hint("save it to a file, and give its path"));
    }
    file.seek(SeekFrom::Start(0))?;
    Ok(file)
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
pub fn reopen(file: &NamedTempFile) -> Result<(Bytes, u64), Error> {
    positioned(file.reopen()?)
}

/// Opens a regular file as bytes that can be read at positions.
pub fn open_plain(path: &Path) -> io::Result<(Bytes, u64)> {
    let there = fs_err::metadata(path)?;
    if !there.is_file() {
        return Err(io::Error::other("this is not a regular file"));
    }
    let file = fs_err::File::open(path)?;
    Ok((Box::new(Positioned(file.into_file())), there.len()))
}

fn positioned(mut file: std::fs::File) -> Result<(Bytes, u64), Error> {
    let length = file.seek(SeekFrom::End(0))?;
    Ok((Box::new(Positioned(file)), length))
}

/// A temporary file for lines that are put aside; it has no name and goes with the process.
///
/// It lies beside the result, where there is room for it, or with other temporary files.
pub fn spool(near: Option<&Path>) -> Result<Box<dyn anemone_format::Spool>, Error> {
    Ok(Box::new(nameless(near)?))
}

/// Writes a step on the way to a result into a file without a name, and hands it back to read.
pub fn write_step<T>(
    near: Option<&Path>,
    write: impl FnOnce(&mut dyn Write) -> Result<T, Error>,
) -> Result<(T, Bytes, u64), Error> {
    let mut file = nameless(near)?;
    let mut out = BufWriter::with_capacity(256 << 10, &mut file);
    let result = write(&mut out)?;
    out.flush()?;
    drop(out);
    let (bytes, length) = positioned(file)?;
    Ok((result, bytes, length))
}

fn nameless(near: Option<&Path>) -> Result<std::fs::File, Error> {
    match near.filter(|path| !is_standard(path)) {
        Some(path) => {
            let folder = folder_of(path);
            tempfile::tempfile_in(folder).map_err(|error| cannot_write(error, folder))
        }
        None => Ok(tempfile::tempfile()?),
    }
}

/// Copies a whole source.
pub fn copy_bytes(source: &impl ReaderAt, length: u64, out: &mut dyn Write) -> Result<(), Error> {
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

/// Files that have no name of their own yet, to be taken away when the process is told to stop.
static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

fn unfinished() -> MutexGuard<'static, Vec<PathBuf>> {
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Takes unfinished files away, because the process is about to end; from now on nothing gets its
/// name any more. The guard is held to the end of the process.
pub fn remove_unfinished() -> impl Drop {
    ENDING.store(true, Ordering::Relaxed);
    let unfinished = unfinished();
    for path in &*unfinished {
        take_away(path);
    }
    unfinished
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
pub struct Unfinished;

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
pub struct Scratch {
    folder: tempfile::TempDir,
    /// Held until the folder is gone; where there are no locks, nothing is swept.
    _lock: Option<std::fs::File>,
}

/// How the folders are called; six letters follow.
const SCRATCH: &str = "anemone-scratch-";

impl Scratch {
    pub fn new() -> Result<Self, Error> {
        let mut builder = tempfile::Builder::new();
        builder.prefix(SCRATCH);
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o700));
        static SWEPT: std::sync::Once = std::sync::Once::new();
        SWEPT.call_once(|| sweep(&std::env::temp_dir(), SCRATCH, LeftoverKind::Folder));
        let mut unfinished = unfinished();
        let mut made = None;
        let (path, lock) =
            locked_folder(&mut || Ok(made.insert(builder.tempdir()?).path().to_owned()))?;
        unfinished.push(path);
        drop(unfinished);
        let folder = made.ok_or_else(|| io::Error::other("no folder was made"))?;
        Ok(Self { folder, _lock: lock })
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        unfinished().retain(|path| path != self.folder.path());
    }
}

/// A file that will appear as a whole or not at all; for `-`, stdout gets it when it is complete.
pub struct Target {
    path: PathBuf,
    file: NamedTempFile,
    existing: Existing,
}

impl Target {
    /// Prepares a file; nothing has that name until [`Target::commit`].
    pub fn create(path: &Path, existing: Existing) -> Result<Self, Error> {
        if !is_standard(path) {
            check_file_free(path, existing)?;
        }
        let file = if is_standard(path) {
            tempfile::Builder::new().prefix(TEMPORARY_FILE).tempfile()?
        } else {
            let folder = folder_of(path);
            temporary_file(folder).map_err(|error| cannot_write(error, folder))?
        };
        unfinished().push(file.path().to_owned());
        Ok(Self { path: path.to_owned(), file, existing })
    }

    /// Runs `write` with the file, sealed if it should be.
    pub fn write<T>(
        &mut self,
        sealing: Option<&Sealing>,
        write: impl FnOnce(&mut dyn Write) -> Result<T, Error>,
    ) -> Result<T, Error> {
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

    pub fn file(&self) -> &NamedTempFile {
        &self.file
    }

    /// Returns how long the file is.
    pub fn length(&self) -> Result<u64, Error> {
        Ok(self.file.as_file().metadata()?.len())
    }

    /// Gives the file its name: data first, then the name, then the folder.
    pub fn commit(self) -> Result<(), Error> {
        let named = commit(self.file, &self.path, self.existing, Durability::Immediate);
        named.map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => taken(&self.path),
            _ => Error::from(error).about(&self.path),
        })
    }

    /// As [`commit`](Self::commit); for the path `-` the file is written to stdout.
    pub fn deliver(mut self, host: &Host) -> Result<(), Error> {
        if !is_standard(&self.path) {
            return self.commit();
        }
        self.file.as_file_mut().seek(SeekFrom::Start(0))?;
        let mut out = host.console.standard_output();
        io::copy(self.file.as_file_mut(), &mut out)?;
        Ok(out.flush()?)
    }
}

/// Refuses a path that is taken, unless it may be replaced. For `-`, the report goes to stderr from
/// now on.
pub fn check_free(path: &Path, existing: Existing, host: &Host) -> Result<(), Error> {
    if is_standard(path) {
        return host.console.check_standard_output();
    }
    check_file_free(path, existing)
}

fn check_file_free(path: &Path, existing: Existing) -> Result<(), Error> {
    match fs_err::symlink_metadata(path) {
        Ok(there) if there.is_dir() => {
            Err(Error::new(Kind::Failed, "is_a_folder", "this is a folder").about(path))
        }
        // A device or a pipe would be replaced by a file of its name.
        Ok(there) if !there.is_file() && !there.is_symlink() => Err(not_a_file(path)),
        Ok(_) if existing == Existing::Keep => Err(taken(path)),
        _ => Ok(()),
    }
}

fn not_a_file(path: &Path) -> Error {
    Error::new(Kind::Failed, "not_a_file", "this is not a regular file").about(path)
}

fn taken(path: &Path) -> Error {
    Error::new(Kind::Failed, "exists", "the file already exists")
        .about(path)
        .hint("choose another name, or give --force to overwrite it")
}

/// Says that no file can be made in a folder; the library would name a file that nobody knows.
fn cannot_write(error: io::Error, folder: &Path) -> Error {
    let folder = folder.display();
    match error.kind() {
        io::ErrorKind::NotFound => {
            let message = format!("there is no folder {folder} to write to");
            Error::new(Kind::Failed, "not_found", message).hint("create the folder first")
        }
        io::ErrorKind::PermissionDenied => {
            let message = format!("no permission to write to the folder {folder}");
            Error::new(Kind::Failed, "permission_denied", message)
                .hint("choose another folder for the output")
        }
        _ => Error::from(error),
    }
}

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

use crate::host::{Host, Progress, StandardStreamError};
use crate::keys::{KeysError, PassphraseConfirmation, Sealing, encryptor};
use crate::sealed_header::{self, HeaderFault, Packaging, WORK_FACTOR, unarmor};

/// The path that means stdin for an input and stdout for an output.
const STANDARD: &str = "-";
/// The most that is taken from stdin: it is copied to a temporary file.
const MAX_STDIN_BYTES: u64 = 64 << 30;

/// Returns true for the path that means stdin or stdout.
pub fn is_standard(path: &Path) -> bool {
    path.as_os_str() == STANDARD
}

/// Why a file cannot be opened, written or given its name.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
#[non_exhaustive]
pub enum FileError {
    /// The system refused.
    Io(#[from] io::Error),
    /// The system refused to give a file its name.
    #[error("{}: {error}", .path.display())]
    Name {
        /// The file.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// A folder has the name of a file to read.
    #[error("{}: this is a folder", .0.display())]
    ReadsFolder(PathBuf),
    /// A device or a pipe has the name of a file to read.
    #[error("{}: this is not a regular file", .0.display())]
    ReadsNoFile(PathBuf),
    /// There is no such file to read.
    #[error("there is no file {}", .0.display())]
    NotFound(PathBuf),
    /// The file may not be read.
    #[error("no permission to read {}", .0.display())]
    NotReadable(PathBuf),
    /// More is piped in than fits.
    #[error("stdin is too large")]
    InputTooLarge,
    /// What is sealed is damaged.
    #[error("{}: the file is damaged: {error}", .path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// How that was noticed.
        error: io::Error,
    },
    /// None of the keys opens the file.
    #[error("{}: cannot open the sealed file: {error}", .path.display())]
    WrongKey {
        /// The file.
        path: PathBuf,
        /// What the age library says.
        error: age::DecryptError,
    },
    /// The header of the sealed file is out of bounds.
    #[error("{}: {fault}", .path.display())]
    Header {
        /// The file.
        path: PathBuf,
        /// Which bound.
        fault: HeaderFault,
    },
    /// A key to open the file cannot be used.
    #[error("{}: {error}", .path.display())]
    Unlock {
        /// The file.
        path: PathBuf,
        /// Why.
        error: KeysError,
    },
    /// A key cannot be used.
    Keys(#[from] KeysError),
    /// Stdin or stdout cannot be used.
    Standard(#[from] StandardStreamError),
    /// A folder has the name of a file to write.
    #[error("{}: this is a folder", .0.display())]
    WritesFolder(PathBuf),
    /// A device or a pipe has the name of a file to write.
    #[error("{}: this is not a regular file", .0.display())]
    WritesNoFile(PathBuf),
    /// A file has the name already.
    #[error("{}: the file already exists", .0.display())]
    Exists(PathBuf),
    /// There is no folder for a file to write.
    #[error("there is no folder {} to write to", .0.display())]
    NoFolder(PathBuf),
    /// Nothing may be written to the folder.
    #[error("no permission to write to the folder {}", .0.display())]
    NotWritable(PathBuf),
}

/// An archive or a delta that can be read.
pub struct InputFile {
    /// What is in it, opened where it was sealed.
    pub bytes: Bytes,
    /// How many bytes that are.
    pub length: u64,
    /// How it was sealed, if it was.
    pub sealing: Option<Sealing>,
}

impl InputFile {
    /// Opens a file, or stdin for `-`; a sealed one is opened with the user's keys and its content
    /// is never written to disk.
    pub fn open(path: &Path, host: &Host, progress: &Progress) -> Result<Self, FileError> {
        Self::open_with(path, host, progress, WORK_FACTOR)
    }

    /// Opens a file whose passphrase may have this work factor.
    pub fn open_with(
        path: &Path,
        host: &Host,
        progress: &Progress,
        max_factor: u8,
    ) -> Result<Self, FileError> {
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
                decoded.map_err(|error| damaged(path, error))?;
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
    ) -> Result<Self, FileError> {
        file.seek(SeekFrom::Start(0))?;
        sealed_header::check(&file, max_factor)?
            .map_err(|fault| FileError::Header { path: path.to_owned(), fault })?;
        file.seek(SeekFrom::Start(0))?;
        let failed =
            |error: age::DecryptError| FileError::WrongKey { path: path.to_owned(), error };
        let decryptor = age::Decryptor::new_buffered(BufReader::new(file)).map_err(failed)?;
        let (reader, sealing) = if decryptor.is_scrypt() {
            let passphrase = host.keys.passphrase(PassphraseConfirmation::None, &*host.console);
            let passphrase =
                passphrase.map_err(|error| FileError::Unlock { path: path.to_owned(), error })?;
            let mut identity = age::scrypt::Identity::new(passphrase.clone());
            identity.set_max_work_factor(max_factor);
            let reader = decryptor.decrypt(std::iter::once(&identity as &dyn age::Identity));
            (reader.map_err(failed)?, Sealing::Passphrase(passphrase))
        } else {
            let (identities, recipients) = host.keys.identities(path)?;
            let reader = decryptor.decrypt(identities.iter().map(|identity| &**identity));
            (reader.map_err(failed)?, Sealing::Recipients(recipients))
        };
        let mut reader = reader;
        let length = reader.seek(SeekFrom::End(0)).map_err(|error| damaged(path, error))?;
        let bytes: Bytes = Box::new(SeekingReader(Mutex::new((reader, length))));
        Ok(Self { bytes: progress.watch(bytes, length), length, sealing: Some(sealing) })
    }
}

fn damaged(path: &Path, error: io::Error) -> FileError {
    FileError::Damaged { path: path.to_owned(), error }
}

/// Opens a regular file that the user named.
fn open_file(path: &Path) -> Result<std::fs::File, FileError> {
    // Looked at before it is opened: opening a pipe blocks until something writes to it.
    let there = fs_err::metadata(path).map_err(|error| cannot_read(error, path))?;
    if there.is_dir() {
        return Err(FileError::ReadsFolder(path.to_owned()));
    }
    if !there.is_file() {
        return Err(FileError::ReadsNoFile(path.to_owned()));
    }
    let file = fs_err::File::open(path).map_err(|error| cannot_read(error, path))?;
    Ok(file.into_file())
}

/// Says why a file that the user named cannot be read.
fn cannot_read(error: io::Error, path: &Path) -> FileError {
    let path = path.to_owned();
    match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => FileError::NotFound(path),
        io::ErrorKind::PermissionDenied => FileError::NotReadable(path),
        _ => FileError::Io(error),
    }
}

/// Copies stdin to a temporary file, because an archive is read from both ends. The file has no
/// name, and only its owner could have opened it.
fn spool_stdin(host: &Host) -> Result<std::fs::File, FileError> {
    let input = host.console.standard_input()?;
    let mut file = tempfile::tempfile()?;
    let copied = io::copy(&mut input.take(MAX_STDIN_BYTES + 1), &mut file)?;
    if copied > MAX_STDIN_BYTES {
        return Err(FileError::InputTooLarge);
    }
    file.seek(SeekFrom::Start(0))?;
    Ok(file)
}

/// A file read at positions.
struct PositionedFile(std::fs::File);

impl ReaderAt for PositionedFile {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        #[cfg(unix)]
        return std::os::unix::fs::FileExt::read_at(&self.0, buffer, offset);
        #[cfg(windows)]
        return std::os::windows::fs::FileExt::seek_read(&self.0, buffer, offset);
    }
}

/// A reader that has to be moved to every position, with where it is now.
struct SeekingReader<R>(Mutex<(R, u64)>);

impl<R: Read + Seek> ReaderAt for SeekingReader<R> {
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
pub fn reopen(file: &NamedTempFile) -> Result<(Bytes, u64), FileError> {
    positioned(file.reopen()?)
}

/// Opens a regular file as bytes that can be read at positions.
pub fn open_plain(path: &Path) -> io::Result<(Bytes, u64)> {
    let there = fs_err::metadata(path)?;
    if !there.is_file() {
        return Err(io::Error::other("this is not a regular file"));
    }
    let file = fs_err::File::open(path)?;
    Ok((Box::new(PositionedFile(file.into_file())), there.len()))
}

fn positioned(mut file: std::fs::File) -> Result<(Bytes, u64), FileError> {
    let length = file.seek(SeekFrom::End(0))?;
    Ok((Box::new(PositionedFile(file)), length))
}

/// A temporary file for lines that are put aside; it has no name and disappears with the process.
///
/// It is beside the result, where there is enough space, or with other temporary files.
pub fn spool(near: Option<&Path>) -> Result<Box<dyn anemone_format::Spool>, FileError> {
    Ok(Box::new(nameless(near)?))
}

/// Writes a step on the way to a result into a file without a name, and hands it back to read.
pub fn write_step<T, E: From<FileError>>(
    near: Option<&Path>,
    write: impl FnOnce(&mut dyn Write) -> Result<T, E>,
) -> Result<(T, Bytes, u64), E> {
    let mut file = nameless(near)?;
    let mut out = BufWriter::with_capacity(256 << 10, &mut file);
    let result = write(&mut out)?;
    out.flush().map_err(FileError::Io)?;
    drop(out);
    let (bytes, length) = positioned(file)?;
    Ok((result, bytes, length))
}

fn nameless(near: Option<&Path>) -> Result<std::fs::File, FileError> {
    match near.filter(|path| !is_standard(path)) {
        Some(path) => {
            let folder = folder_of(path);
            tempfile::tempfile_in(folder).map_err(|error| cannot_write(error, folder))
        }
        None => Ok(tempfile::tempfile()?),
    }
}

/// Copies a whole source.
pub fn copy_bytes(
    source: &impl ReaderAt,
    length: u64,
    out: &mut dyn Write,
) -> Result<(), FileError> {
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

/// Unfinished files under temporary names, which are deleted when the process is asked to stop.
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

/// Removes the folder of an unfinished import when the process gets a signal.
pub struct Unfinished;

impl StagingWatch for Unfinished {
    fn start(&self, make: &mut dyn FnMut() -> io::Result<PathBuf>) -> io::Result<PathBuf> {
        let mut unfinished = unfinished();
        let staging = make()?;
        unfinished.push(staging.clone());
        Ok(staging)
    }

    fn swap(&self, staging: &Path, swap: &mut dyn FnMut() -> io::Result<()>) -> io::Result<()> {
        // From the swap on the folder holds the old tree, which must stay.
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

/// A folder for copies of other programs' files; it is deleted when dropped, or when the process is
/// asked to stop. Only its owner can read it.
///
/// A process that is killed cannot delete its folder. So a folder is locked while it is in use, and
/// creating a new one deletes those whose lock is free.
pub struct Scratch {
    folder: tempfile::TempDir,
    /// Held until the folder is gone; where there are no locks, nothing is swept.
    _lock: Option<std::fs::File>,
}

/// How the folders are called; six letters follow.
const SCRATCH: &str = "anemone-scratch-";

impl Scratch {
    /// Makes a folder in another one, usually the folder for temporary files.
    pub fn below(place: &Path) -> io::Result<Self> {
        fs_err::create_dir_all(place)?;
        let mut builder = tempfile::Builder::new();
        builder.prefix(SCRATCH);
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o700));
        static SWEPT: std::sync::Once = std::sync::Once::new();
        SWEPT.call_once(|| sweep(place, SCRATCH, LeftoverKind::Folder));
        let mut unfinished = unfinished();
        let mut made = None;
        let (path, lock) =
            locked_folder(&mut || Ok(made.insert(builder.tempdir_in(place)?).path().to_owned()))?;
        unfinished.push(path);
        drop(unfinished);
        let folder = made.ok_or_else(|| io::Error::other("no folder was made"))?;
        Ok(Self { folder, _lock: lock })
    }

    /// Returns where the folder is.
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
pub struct OutputFile {
    path: PathBuf,
    file: NamedTempFile,
    existing: Existing,
}

impl OutputFile {
    /// Prepares a file; nothing has that name until [`OutputFile::commit`].
    pub fn create(path: &Path, existing: Existing) -> Result<Self, FileError> {
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
    pub fn write<T, E: From<FileError>>(
        &mut self,
        sealing: Option<&Sealing>,
        write: impl FnOnce(&mut dyn Write) -> Result<T, E>,
    ) -> Result<T, E> {
        let mut out = BufWriter::with_capacity(256 << 10, self.file.as_file_mut());
        let result = match sealing {
            None => write(&mut out)?,
            Some(sealing) => {
                let encryptor = encryptor(sealing).map_err(FileError::Keys)?;
                let mut sealed = encryptor.wrap_output(&mut out).map_err(FileError::Io)?;
                let result = write(&mut sealed)?;
                sealed.finish().map_err(FileError::Io)?;
                result
            }
        };
        out.flush().map_err(FileError::Io)?;
        Ok(result)
    }

    /// Returns the file before it has its name.
    pub fn file(&self) -> &NamedTempFile {
        &self.file
    }

    /// Returns how long the file is.
    pub fn length(&self) -> Result<u64, FileError> {
        Ok(self.file.as_file().metadata()?.len())
    }

    /// Gives the file its name: data first, then the name, then the folder.
    pub fn commit(self) -> Result<(), FileError> {
        let named = commit(self.file, &self.path, self.existing, Durability::Immediate);
        named.map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => taken(&self.path),
            _ => FileError::Name { path: self.path.clone(), error },
        })
    }

    /// As [`commit`](Self::commit); for the path `-` the file is written to stdout.
    pub fn deliver(mut self, host: &Host) -> Result<(), FileError> {
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
pub fn check_free(path: &Path, existing: Existing, host: &Host) -> Result<(), FileError> {
    if is_standard(path) {
        return Ok(host.console.check_standard_output()?);
    }
    check_file_free(path, existing)
}

fn check_file_free(path: &Path, existing: Existing) -> Result<(), FileError> {
    match fs_err::symlink_metadata(path) {
        Ok(there) if there.is_dir() => Err(FileError::WritesFolder(path.to_owned())),
        // A device or a pipe would be replaced by a file of its name.
        Ok(there) if !there.is_file() && !there.is_symlink() => {
            Err(FileError::WritesNoFile(path.to_owned()))
        }
        Ok(_) if existing == Existing::Keep => Err(taken(path)),
        _ => Ok(()),
    }
}

fn taken(path: &Path) -> FileError {
    FileError::Exists(path.to_owned())
}

/// Says that no file can be created in a folder; the library's error would name an unknown
/// temporary file.
fn cannot_write(error: io::Error, folder: &Path) -> FileError {
    let folder = folder.to_owned();
    match error.kind() {
        io::ErrorKind::NotFound => FileError::NoFolder(folder),
        io::ErrorKind::PermissionDenied => FileError::NotWritable(folder),
        _ => FileError::Io(error),
    }
}

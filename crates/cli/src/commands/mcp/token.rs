//! The token that every request over HTTP must carry.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use anemone::files::{Existing, FileError, OutputFile};
use anemone_format::Hex;
use anemone_mcp::is_token;
use anemone_messages::UserError;
use zeroize::Zeroizing;

use crate::environment::Environment;
use crate::output::Result;

/// The random bytes of a token: enough to make guessing hopeless.
const RANDOM_BYTES: usize = 32;
const MOST_BYTES: u64 = 4096;

/// A token and its file.
pub(super) struct Token {
    pub(super) text: Zeroizing<String>,
    pub(super) path: PathBuf,
}

impl Token {
    /// Reads the token from a file, or from the default one; creates it if it does not exist.
    pub(super) fn read_or_make(file: Option<&Path>, environment: &Environment) -> Result<Self> {
        let usual = || environment.folders.own_state().join("mcp-token");
        let path = file.map_or_else(usual, Path::to_owned);
        match fs_err::File::open(&path) {
            Ok(file) => Self::read(file, path),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Self::make(path),
            Err(error) => Err(error.into()),
        }
    }

    fn read(file: fs_err::File, path: PathBuf) -> Result<Self> {
        check_private(&file, &path)?;
        let mut text = Zeroizing::new(String::new());
        file.take(MOST_BYTES).read_to_string(&mut text)?;
        let text = Zeroizing::new(text.trim().to_owned());
        if !is_token(&text) {
            let message = "this is no token: it has at least 16 letters, digits and signs";
            return Err(UserError::failure("token", message)
                .about(&path)
                .hint("remove the file; a new one is created at the next start"));
        }
        Ok(Self { text, path })
    }

    fn make(path: PathBuf) -> Result<Self> {
        let mut bytes = Zeroizing::new([0; RANDOM_BYTES]);
        getrandom::fill(bytes.as_mut_slice()).map_err(|_| {
            UserError::failure("random", "the system's random number generator failed")
        })?;
        let text = Zeroizing::new(Hex(bytes.as_slice()).to_string());
        if let Some(folder) = path.parent().filter(|parent| !parent.as_os_str().is_empty()) {
            fs_err::create_dir_all(folder)?;
        }
        let mut file = OutputFile::create(&path, Existing::Keep)?;
        file.write(None, |out| writeln!(out, "{}", *text).map_err(FileError::Io))?;
        match file.commit() {
            Ok(()) => Ok(Self { text, path }),
            // Another server was quicker: its token is the one.
            Err(_) if path.is_file() => Self::read(fs_err::File::open(&path)?, path),
            Err(error) => Err(error.into()),
        }
    }
}

/// Refuses a token that others on this machine can read.
#[cfg(unix)]
fn check_private(file: &fs_err::File, path: &Path) -> Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    let mode = file.metadata()?.permissions().mode();
    if mode & 0o077 == 0 {
        return Ok(());
    }
    let message = "others on this machine can read this token";
    let hint = format!("chmod 600 {}", anemone::connect::quoted(&path.display().to_string()));
    Err(UserError::failure("token", message).about(path).hint(hint))
}

#[cfg(not(unix))]
fn check_private(_: &fs_err::File, _: &Path) -> Result<()> {
    Ok(())
}

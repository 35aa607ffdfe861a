//! One `connect` or `disconnect` at a time.

use std::path::Path;
use std::time::Duration;

use crate::error::{Error, Kind};

/// So long one waits for another one, in steps.
const PATIENCE: Duration = Duration::from_secs(30);
const PAUSE: Duration = Duration::from_millis(20);

/// Keeps others from connecting until it is dropped. It is a lock on the home folder itself, so
/// that nothing is left behind.
pub(super) struct Lock {
    _folder: Option<std::fs::File>,
}

impl Lock {
    /// Waits until nobody else connects or disconnects.
    pub(super) fn take(home: &Path) -> Result<Self, Error> {
        // Where a folder cannot be opened as a file, nobody is kept away.
        let Ok(folder) = fs_err::File::open(home).map(fs_err::File::into_file) else {
            return Ok(Self { _folder: None });
        };
        let mut waited = Duration::ZERO;
        loop {
            match folder.try_lock() {
                Ok(()) => return Ok(Self { _folder: Some(folder) }),
                Err(std::fs::TryLockError::WouldBlock) if waited < PATIENCE => {
                    std::thread::sleep(PAUSE);
                    waited += PAUSE;
                }
                Err(std::fs::TryLockError::WouldBlock) => {
                    let message = "another `anemone connect` is running; nothing was changed";
                    let error = Error::new(Kind::Conflict, "busy", message);
                    return Err(error.hint("run it again when the other one is done"));
                }
                // Some file systems have no locks.
                Err(std::fs::TryLockError::Error(_)) => return Ok(Self { _folder: None }),
            }
        }
    }
}

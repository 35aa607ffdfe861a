//! One `connect` or `disconnect` at a time.

use std::path::Path;
use std::time::Duration;

use super::error::ConnectError;

/// So long one waits for another one, in steps.
const PATIENCE: Duration = Duration::from_secs(30);
const PAUSE: Duration = Duration::from_millis(20);

/// Keeps other processes from connecting until it is dropped. The home folder itself is locked, so
/// that no lock file is left behind.
pub(super) struct Lock {
    _folder: Option<std::fs::File>,
}

impl Lock {
    /// Waits until no other process connects or disconnects.
    pub(super) fn take(home: &Path) -> Result<Self, ConnectError> {
        // Where a folder cannot be opened as a file, there is no lock.
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
                    return Err(ConnectError::Busy);
                }
                // Some file systems have no locks.
                Err(std::fs::TryLockError::Error(_)) => return Ok(Self { _folder: None }),
            }
        }
    }
}

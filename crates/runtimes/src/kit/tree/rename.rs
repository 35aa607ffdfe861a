//! Renames and exchanges folders.

use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use anemone_files::rename_to_free;
use rustix::fs::{CWD, RenameFlags};
use rustix::io::Errno;

use super::{Abilities, site::OLD_ENDING};
use crate::kit::with_suffix;

/// Exchanges the names of two folders.
///
/// Where the file system cannot do that in one step, it takes two. Between them (or after a crash
/// there) no workspace exists: the complete old tree is then beside it, under the staging folder's
/// name with the suffix `.old`.
pub(super) fn exchange_folders(
    staging: &Path,
    workspace: &Path,
    able: Abilities,
) -> io::Result<()> {
    let result = if able.exchange {
        rustix::fs::renameat_with(CWD, staging, CWD, workspace, RenameFlags::EXCHANGE)
    } else {
        Err(Errno::NOSYS)
    };
    match result {
        Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => {}
        other => return Ok(other?),
    }
    let aside = with_suffix(staging, OLD_ENDING);
    rename_to_free(workspace, &aside)?;
    if let Err(error) = rename_to_free(staging, workspace) {
        rename_to_free(&aside, workspace)?;
        return Err(error);
    }
    // The new tree is in place, whatever the old one is called.
    rename_to_free(&aside, staging).ok();
    Ok(())
}

/// Gives what was replaced a visible name.
pub(super) fn keep_aside(old: &Path, workspace: &Path) -> io::Result<PathBuf> {
    let name = workspace.file_name().unwrap_or_default().as_bytes();
    let name = &name[..name.len().min(230)];
    let mut number = 1_u64;
    loop {
        let kept = [name, format!(".replaced-{number}").as_bytes()].concat();
        let kept = workspace.with_file_name(OsStr::from_bytes(&kept));
        match rename_to_free(old, &kept) {
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::AlreadyExists
                        | io::ErrorKind::DirectoryNotEmpty
                        | io::ErrorKind::NotADirectory
                ) =>
            {
                number += 1;
            }
            Err(error) => return Err(error),
            Ok(()) => return Ok(kept),
        }
    }
}

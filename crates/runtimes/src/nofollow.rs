//! Plain files of others: opened without following a link, read in blocks.

use std::io::{self, Read as _};
use std::ops::ControlFlow;
use std::path::Path;

use anemone_format::Moment;
use cap_fs_ext::{FollowSymlinks, OpenOptionsFollowExt as _};
use cap_std::fs::{Dir, File, Metadata, OpenOptions};
use jiff::Timestamp;

use crate::times;

/// How much is read at once.
const BLOCK_BYTES: usize = 1 << 20;

/// Opens a regular file in a folder. The last part of the path may not be a link, and no part
/// leads out of the folder.
pub(crate) fn open_plain(folder: &Dir, path: impl AsRef<Path>) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).follow(FollowSymlinks::No);
    // Somebody may have put a pipe there; opening that would wait for a writer.
    #[cfg(unix)]
    {
        use cap_std::fs::OpenOptionsExt as _;
        options.custom_flags(rustix::fs::OFlags::NONBLOCK.bits().cast_signed());
    }
    let file = folder.open_with(path, &options)?;
    if file.metadata()?.is_file() { Ok(file) } else { Err(io::Error::other("not a regular file")) }
}

/// Hands out a file block by block, until there is no more or somebody has seen enough.
pub(crate) fn each_block(
    mut file: File,
    take: &mut dyn FnMut(&[u8]) -> ControlFlow<()>,
) -> io::Result<()> {
    let size = usize::try_from(file.metadata()?.len()).unwrap_or(BLOCK_BYTES);
    // One byte more than a small file has, so that its end is seen in the first read.
    let mut block = vec![0; size.saturating_add(1).clamp(64, BLOCK_BYTES)];
    loop {
        let read = match file.read(&mut block) {
            Ok(0) => return Ok(()),
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        if take(&block[..read]).is_break() {
            return Ok(());
        }
    }
}

/// Returns when a file was last modified, unless an archive cannot say it.
pub(crate) fn mtime_of(metadata: &Metadata) -> Option<Moment> {
    let time = metadata.modified().ok()?.into_std();
    Timestamp::try_from(time).ok().and_then(times::moment)
}

/// Returns the permission bits, where there are such.
#[cfg(unix)]
pub(crate) fn mode_of(metadata: &Metadata) -> Option<u32> {
    use cap_std::fs::MetadataExt as _;
    Some(metadata.mode() & 0o7777)
}

#[cfg(not(unix))]
pub(crate) fn mode_of(_: &Metadata) -> Option<u32> {
    None
}

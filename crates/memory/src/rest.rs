//! Reading a file that an editor may be in the middle of saving.
//!
//! Many editors save in place: they empty the file, then write it. Between the two the file is
//! empty, or has only its beginning, and that is not its content. So a file that another program
//! changed a moment ago is read only when it has rested: [`RestTimes::saved`] after the last write,
//! and [`RestTimes::emptied`] if it is empty or was shortened in place. After that time any content
//! is taken as intended: people do delete lines. A file that does not come to rest while we wait is
//! reported as changed, and nothing is written.
//!
//! A file that is unchanged since our own write counts as resting.

use std::time::{Duration, SystemTime};

use anemone_files::FileStamp;

use crate::store::{FileSnapshot, LockedStore, MarkdownStoreError};

/// The interval between checks of a file that is being saved.
const PAUSE: Duration = Duration::from_millis(5);

/// For how long a file must not have been written to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RestTimes {
    /// After another program saved it.
    pub(crate) saved: Duration,
    /// After another program emptied it or made it shorter in place.
    pub(crate) emptied: Duration,
    /// How long one holder of the lock waits for this, altogether.
    pub(crate) patience: Duration,
}

impl Default for RestTimes {
    fn default() -> Self {
        Self {
            saved: Duration::from_millis(50),
            emptied: Duration::from_secs(2),
            patience: Duration::from_secs(5),
        }
    }
}

/// How we last knew a file.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Known {
    /// How we left it.
    pub(crate) look: Option<FileStamp>,
    /// How many bytes it had when it was last seen at rest.
    pub(crate) size: u64,
}

/// A file that was read.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Rest {
    /// No program is saving it; `None`: there is no such file.
    Resting(Option<(FileSnapshot, FileStamp)>),
    /// Another program is saving it and did not finish while we waited.
    Saving,
}

impl LockedStore<'_> {
    /// Reads a file once no program is in the middle of saving it.
    pub(crate) fn read_at_rest(
        &self,
        path: &str,
        known: Option<Known>,
    ) -> Result<Rest, MarkdownStoreError> {
        let known = known.unwrap_or_default();
        let times = self.site().rest_times;
        loop {
            let Some((seen, look)) = self.site().read_looked(path)? else {
                return Ok(Rest::Resting(None));
            };
            // An editor that renames a new file into place has written all of it before.
            let is_renamed = known.look.is_some_and(|known| !known.is_same_file(look));
            let is_shorter = look.size < known.size && !is_renamed;
            let is_emptied = seen.bytes.is_empty() || is_shorter;
            let needed = if is_emptied { times.emptied } else { times.saved };
            // Fewer or more bytes than the file has: it was saved while it was read.
            let is_whole = seen.bytes.len() as u64 == look.size;
            let rests = known.look == Some(look) || age(look).is_none_or(|age| age >= needed);
            if is_whole && rests {
                return Ok(Rest::Resting(Some((seen, look))));
            }
            if self.waited.get() >= times.patience {
                return Ok(Rest::Saving);
            }
            std::thread::sleep(PAUSE);
            self.waited.set(self.waited.get() + PAUSE);
        }
    }
}

/// Returns how long ago a file was written to; `None` if its time is in the future by this
/// machine's clock, so that the age is unknown.
#[expect(
    clippy::disallowed_methods,
    reason = "the age of a file is by the clock that gave it its time; nothing is written with it"
)]
fn age(look: FileStamp) -> Option<Duration> {
    let saved = Duration::from_nanos(u64::try_from(look.modified_ns).ok()?);
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).ok()?;
    // The clock of the file system can be a little ahead.
    if saved > now + Duration::from_secs(1) { None } else { Some(now.saturating_sub(saved)) }
}

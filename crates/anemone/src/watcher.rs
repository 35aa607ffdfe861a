//! Being told by the system that files may have changed.

use std::path::Path;
use std::time::Duration;

use notify_debouncer_full::notify::{self, RecommendedWatcher, RecursiveMode};
use notify_debouncer_full::{DebounceEventResult, Debouncer, NoCache, new_debouncer_opt};

/// An event of the system.
pub enum WatchNotice {
    /// Something may have changed.
    Changed,
    /// It lost count: anything may have changed.
    Lost(String),
}

/// Reports changes until it is dropped.
pub type Watcher = Debouncer<RecommendedWatcher, NoCache>;

/// Asks the system to tell of changes below a place, once it has been quiet; links are not
/// followed.
pub fn watcher(
    place: &Path,
    quiet: Duration,
    tell: impl Fn(WatchNotice) + Send + 'static,
) -> notify::Result<Watcher> {
    let tell = move |result: DebounceEventResult| match result {
        // Reading is no change, and we read ourselves.
        Ok(events) if events.iter().all(|event| event.kind.is_access()) => {}
        Ok(_) => tell(WatchNotice::Changed),
        Err(errors) => tell(WatchNotice::Lost(errors.iter().map(ToString::to_string).collect())),
    };
    let config = notify::Config::default().with_follow_symlinks(false);
    let mut watcher = new_debouncer_opt(quiet, None, tell, NoCache, config)?;
    // A file that is replaced is another file, so its folder is watched.
    let (folder, mode) = match place.is_dir() {
        true => (place, RecursiveMode::Recursive),
        false => (place.parent().unwrap_or(place), RecursiveMode::NonRecursive),
    };
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    watcher.watch(folder, mode)?;
    Ok(watcher)
}

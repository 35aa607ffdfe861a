//! Reports changed documents.
//!
//! The system reports that something may have changed; the changes are found by comparison, as in
//! every search.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use anemone::watcher::{Watcher, watcher};

use super::ServiceState;
use crate::service::{DocumentChanges, Result, Watch};

/// How long it must be quiet before changes are reported.
const QUIET: Duration = Duration::from_millis(300);
/// How often we check despite notifications: the sources are not all in one place.
const LOOK_ANYWAY: Duration = Duration::from_secs(30);
/// How often we look where changes are not reported.
const LOOK: Duration = Duration::from_secs(5);

type KnownDigests = BTreeMap<String, Vec<u8>>;

/// Dropped to end a watch: dropping the watcher closes one end of a channel, which ends the thread
/// that listens at the other.
struct ActiveWatch {
    _watcher: Option<Watcher>,
    _end: std::sync::mpsc::Sender<()>,
}

/// Reports changes until the returned value is dropped.
pub(super) fn watch(
    inner: Arc<ServiceState>,
    tell: Box<dyn Fn(DocumentChanges) + Send + Sync>,
) -> Result<Watch> {
    let place = inner.target()?.place.clone();
    let (end, woken) = channel::<()>();
    let told = std::sync::Mutex::new(end.clone());
    // Watching begins before the first look, so that nothing falls between the two.
    let watcher = watcher(&place, QUIET, move |_| {
        // The receiver is gone once the watch has ended.
        if let Ok(told) = told.lock() {
            told.send(()).ok();
        }
    })
    .ok();
    let mut known = known(&inner)?;
    let patience = if watcher.is_some() { LOOK_ANYWAY } else { LOOK };
    thread::Builder::new().name("changes".to_owned()).spawn(move || {
        while !matches!(woken.recv_timeout(patience), Err(RecvTimeoutError::Disconnected)) {
            // An unreadable source may become readable again, such as a folder that is being
            // replaced.
            let Ok(now) = self::known(&inner) else { continue };
            let changed = difference(&known, &now);
            known = now;
            if changed != DocumentChanges::default() {
                tell(changed);
            }
        }
    })?;
    Ok(Box::new(std::sync::Mutex::new(ActiveWatch { _watcher: watcher, _end: end })))
}

fn known(inner: &ServiceState) -> Result<KnownDigests> {
    Ok(inner
        .known_documents()?
        .into_iter()
        .map(|document| (document.path, document.digest))
        .collect())
}

fn difference(before: &KnownDigests, now: &KnownDigests) -> DocumentChanges {
    let gone_or_other = before.iter().filter(|(path, digest)| now.get(*path) != Some(*digest));
    let new = now.iter().filter(|(path, _)| !before.contains_key(*path));
    let mut paths: Vec<String> = gone_or_other.chain(new).map(|(path, _)| path.clone()).collect();
    paths.sort_unstable();
    DocumentChanges { paths, list: !before.keys().eq(now.keys()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(documents: &[(&str, u8)]) -> KnownDigests {
        documents.iter().map(|(path, digest)| ((*path).to_owned(), vec![*digest])).collect()
    }

    #[test]
    fn what_came_went_and_changed_is_told_apart() {
        let before = known(&[("a", 1), ("b", 1), ("c", 1)]);
        let now = known(&[("a", 1), ("b", 2), ("d", 1)]);
        let changed = difference(&before, &now);
        assert_eq!(
            changed,
            DocumentChanges { paths: vec!["b".into(), "c".into(), "d".into()], list: true }
        );
        assert_eq!(difference(&before, &before), DocumentChanges::default());
        let other = difference(&before, &known(&[("a", 2), ("b", 1), ("c", 1)]));
        assert_eq!(other, DocumentChanges { paths: vec!["a".into()], list: false });
    }
}

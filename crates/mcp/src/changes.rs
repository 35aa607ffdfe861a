//! One watch of a memory for all that want to know of changes.
//!
//! It starts with the first follower and ends with the last.

use std::sync::{Arc, Mutex, Weak};

use tokio::sync::broadcast::{self, error::RecvError};

use crate::lock::locked;
use crate::service::{DocumentChanges, MemoryService, Result, Watch};

/// How many changes a slow follower may be behind before it only learns that everything has
/// changed.
const BEHIND: usize = 256;

/// The watch of a memory, while there are followers.
#[derive(Default)]
pub(crate) struct Changes {
    watch: Mutex<Weak<SharedWatch>>,
}

struct SharedWatch {
    sender: broadcast::Sender<DocumentChanges>,
    watching: Option<Watch>,
}

impl Drop for SharedWatch {
    fn drop(&mut self) {
        // Ending a watch may wait for a thread, and followers end on threads that must not wait.
        let watching = self.watching.take();
        match tokio::runtime::Handle::try_current() {
            Ok(runtime) => drop(runtime.spawn_blocking(move || drop(watching))),
            Err(_) => drop(watching),
        }
    }
}

/// Receives changes until it is dropped.
pub(crate) struct Follower {
    receiver: broadcast::Receiver<DocumentChanges>,
    _watch: Arc<SharedWatch>,
}

/// An event for a follower.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum News {
    /// Documents changed.
    Changed(DocumentChanges),
    /// More has changed than was kept.
    Anything,
}

impl Changes {
    /// Begins to follow. Blocks while the watch starts.
    pub(crate) fn follow(&self, service: &dyn MemoryService) -> Result<Follower> {
        let mut slot = locked(&self.watch);
        if let Some(watch) = slot.upgrade() {
            return Ok(Follower { receiver: watch.sender.subscribe(), _watch: watch });
        }
        let (sender, receiver) = broadcast::channel(BEHIND);
        let tell = sender.clone();
        let watching = service.watch(Box::new(move |changed| {
            // There may be no receiver.
            drop(tell.send(changed));
        }))?;
        let watch = Arc::new(SharedWatch { sender, watching: Some(watching) });
        *slot = Arc::downgrade(&watch);
        Ok(Follower { receiver, _watch: watch })
    }
}

impl Follower {
    /// Waits for the next news; none will come when the watch is over.
    pub(crate) async fn next(&mut self) -> Option<News> {
        match self.receiver.recv().await {
            Ok(changed) => Some(News::Changed(changed)),
            Err(RecvError::Lagged(_)) => Some(News::Anything),
            Err(RecvError::Closed) => None,
        }
    }
}

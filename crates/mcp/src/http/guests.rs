//! The open connections, and which one is closed when there are too many.
//!
//! A connection costs nothing to open, and its client shows the token later or never. Clients
//! without the token must not keep out those with it: when all places are taken, the oldest
//! connection that has not shown the token is closed.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;

use crate::lock::locked;

/// The places of a server, and the connections that have not shown the token yet.
pub(super) struct Guests {
    places: Arc<Semaphore>,
    strangers: Arc<Mutex<Strangers>>,
}

#[derive(Default)]
struct Strangers {
    came: u64,
    /// By when they came.
    waiting: BTreeMap<u64, CancellationToken>,
}

/// One connection, from when it has a place until it ends.
pub(super) struct Guest {
    number: u64,
    /// Where it comes from.
    pub(super) from: IpAddr,
    knows_token: AtomicBool,
    strangers: Arc<Mutex<Strangers>>,
    asked: Notify,
    has_asked: AtomicBool,
    sent_away: CancellationToken,
    _place: Option<OwnedSemaphorePermit>,
}

impl Guests {
    pub(super) fn new(places: usize) -> Self {
        Self { places: Arc::new(Semaphore::new(places)), strangers: Arc::default() }
    }

    /// Waits for a place; if all are taken, closes a connection that has not shown the token.
    pub(super) async fn seat(&self, from: IpAddr) -> Guest {
        let place = match Arc::clone(&self.places).try_acquire_owned() {
            Ok(place) => Some(place),
            Err(_) => {
                if let Some((_, oldest)) = locked(&self.strangers).waiting.pop_first() {
                    oldest.cancel();
                }
                // The semaphore is never closed.
                Arc::clone(&self.places).acquire_owned().await.ok()
            }
        };
        let sent_away = CancellationToken::new();
        let mut strangers = locked(&self.strangers);
        strangers.came += 1;
        let number = strangers.came;
        strangers.waiting.insert(number, sent_away.clone());
        Guest {
            number,
            from,
            knows_token: AtomicBool::new(false),
            strangers: Arc::clone(&self.strangers),
            asked: Notify::new(),
            has_asked: AtomicBool::new(false),
            sent_away,
            _place: place,
        }
    }
}

impl Guest {
    /// Takes down that the first lines of a request are there.
    pub(super) fn asks(&self) {
        if !self.has_asked.swap(true, Ordering::Relaxed) {
            self.asked.notify_one();
        }
    }

    /// Notes whether the token was right that was shown last.
    pub(super) fn showed_token(&self, is_right: bool) {
        self.knows_token.store(is_right, Ordering::Relaxed);
        if is_right {
            self.leave_strangers();
        }
    }

    /// Whether the token that was shown last was right.
    pub(super) fn knows_token(&self) -> bool {
        self.knows_token.load(Ordering::Relaxed)
    }

    fn leave_strangers(&self) {
        locked(&self.strangers).waiting.remove(&self.number);
    }

    /// Waits for the first request.
    pub(super) async fn asked(&self) {
        self.asked.notified().await;
    }

    /// Waits until another is to have the place.
    pub(super) async fn sent_away(&self) {
        self.sent_away.cancelled().await;
    }
}

impl Drop for Guest {
    fn drop(&mut self) {
        self.leave_strangers();
    }
}

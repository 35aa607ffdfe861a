//! Limits the number of endless answers, for one session and in total.
//!
//! Each keeps a connection for as long as its client likes. The limit is lower than that of
//! connections, so that clients that only send requests always find a place.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use crate::lock::locked;

/// The streams that are open.
#[derive(Clone)]
pub(super) struct Streams {
    most: usize,
    most_of_session: usize,
    open: Arc<Mutex<OpenStreams>>,
}

#[derive(Default)]
struct OpenStreams {
    all: usize,
    by_session: HashMap<String, usize>,
}

/// One of them, until it is dropped.
pub(super) struct Stream {
    session: Option<String>,
    open: Arc<Mutex<OpenStreams>>,
}

impl Streams {
    pub(super) fn new(most: usize, most_of_session: usize) -> Self {
        Self { most, most_of_session, open: Arc::default() }
    }

    /// Counts a stream, perhaps of a session; none where there are enough.
    pub(super) fn begin(&self, session: Option<&str>) -> Option<Stream> {
        let mut open = locked(&self.open);
        let of_session =
            session.map_or(0, |session| open.by_session.get(session).copied().unwrap_or(0));
        if open.all >= self.most || of_session >= self.most_of_session {
            return None;
        }
        open.all += 1;
        if let Some(session) = session {
            open.by_session.insert(session.to_owned(), of_session + 1);
        }
        Some(Stream { session: session.map(str::to_owned), open: Arc::clone(&self.open) })
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        let mut open = locked(&self.open);
        open.all -= 1;
        let Some(session) = self.session.take() else { return };
        let left = open.by_session.get(&session).map_or(0, |count| count.saturating_sub(1));
        match left {
            0 => open.by_session.remove(&session),
            left => open.by_session.insert(session, left),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_are_bounded_for_a_session_and_in_all_and_come_back() {
        let streams = Streams::new(3, 2);
        let first = streams.begin(Some("a"));
        let second = streams.begin(Some("a"));
        assert!(first.is_some() && second.is_some());
        assert!(streams.begin(Some("a")).is_none(), "two of one session");
        let third = streams.begin(None);
        assert!(third.is_some());
        assert!(streams.begin(Some("b")).is_none(), "three in all");
        drop(first);
        assert!(streams.begin(Some("a")).is_some());
        drop((second, third));
        assert!(locked(&streams.open).by_session.is_empty());
    }
}

//! Tells a client of changes: by subscriptions to addresses in the older revisions, by one
//! listening request in the newer.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use rmcp::model::ResourceUpdatedNotificationParam;
use rmcp::service::{Peer, RoleServer, SubscriptionContext};
use tokio::task::AbortHandle;

use crate::changes::{Follower, News};
use crate::lock::locked;
use crate::resources::{path_of, uri_of};

/// The notifications of one client of an older revision: changes of the documents that it
/// subscribed to, and, from its first subscription or its first request for the list on, new and
/// deleted documents.
#[derive(Default)]
pub(crate) struct Subscriptions {
    /// One lock for all fields: requests of one client run concurrently, and none may end
    /// notifications that another relies on.
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    paths: BTreeSet<String>,
    /// Whether the client has seen the list, and relies on it until it is notified.
    knows_list: bool,
    telling: Option<AbortHandle>,
}

impl Drop for Subscriptions {
    fn drop(&mut self) {
        locked(&self.state).stop();
    }
}

impl Subscriptions {
    /// Returns how many documents there are.
    pub(crate) fn count(&self) -> usize {
        locked(&self.state).paths.len()
    }

    /// Whether the client is notified of new and deleted documents while it is connected.
    pub(crate) fn knows_list(&self) -> bool {
        locked(&self.state).knows_list
    }

    /// Tells a client of changes to a document.
    pub(crate) fn add(&self, path: String, follower: Follower, peer: Peer<RoleServer>) {
        let mut state = locked(&self.state);
        state.paths.insert(path);
        self.start(&mut state, follower, peer);
    }

    /// Tells a client when documents come and go.
    pub(crate) fn add_list(&self, follower: Follower, peer: Peer<RoleServer>) {
        let mut state = locked(&self.state);
        state.knows_list = true;
        self.start(&mut state, follower, peer);
    }

    /// Ends the notifications of a document, and the watch if no notifications are left.
    pub(crate) fn remove(&self, path: &str) {
        let mut state = locked(&self.state);
        state.paths.remove(path);
        if state.paths.is_empty() && !state.knows_list {
            state.stop();
        }
    }

    fn start(&self, state: &mut State, follower: Follower, peer: Peer<RoleServer>) {
        if state.telling.as_ref().is_none_or(AbortHandle::is_finished) {
            let task = tokio::spawn(tell(follower, peer, Arc::clone(&self.state)));
            state.telling = Some(task.abort_handle());
        }
    }
}

impl State {
    fn stop(&mut self) {
        if let Some(task) = self.telling.take() {
            task.abort();
        }
    }
}

async fn tell(mut follower: Follower, peer: Peer<RoleServer>, state: Arc<Mutex<State>>) {
    while let Some(news) = follower.next().await {
        let subscribed = locked(&state).paths.clone();
        let (list, paths): (bool, Vec<String>) = match news {
            News::Anything => (true, subscribed.into_iter().collect()),
            News::Changed(changed) => {
                let paths = changed.paths.into_iter().filter(|path| subscribed.contains(path));
                (changed.list, paths.collect())
            }
        };
        for path in paths {
            let param = ResourceUpdatedNotificationParam::new(uri_of(&path));
            if peer.notify_resource_updated(param).await.is_err() {
                return;
            }
        }
        if list && peer.notify_resource_list_changed().await.is_err() {
            return;
        }
    }
}

/// Notifies a listening client of the changes that it asked for, until the watch is over or the
/// client is gone.
///
/// The client got its confirmation before the watch began, and changes in between are unknown. So
/// the first notification says that anything may have changed.
pub(crate) async fn listen(mut follower: Follower, context: &SubscriptionContext) {
    let sink = context.sink();
    let accepted = sink.accepted();
    let wants_list = accepted.resources_list_changed == Some(true);
    let wanted: Vec<&String> = accepted.resource_subscriptions.iter().flatten().collect();
    let mut next = Some(News::Anything);
    while let Some(news) = next {
        let is_told = |uri: &&&String| match &news {
            News::Anything => true,
            News::Changed(changed) => {
                path_of(uri).is_some_and(|path| changed.paths.contains(&path))
            }
        };
        for uri in wanted.iter().filter(is_told) {
            if sink.notify_resource_updated(uri.as_str()).await.is_err() {
                return;
            }
        }
        let list = match &news {
            News::Anything => true,
            News::Changed(changed) => changed.list,
        };
        if list && wants_list && sink.notify_resource_list_changed().await.is_err() {
            return;
        }
        next = follower.next().await;
    }
}

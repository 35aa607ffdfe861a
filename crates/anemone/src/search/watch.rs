//! Refreshes an index whenever its sources change.
//!
//! The watcher only reports that something may have changed; the changes are found by comparison,
//! as in every search. So a change that the system does not report is late, but never lost.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use super::SearchError;
use super::index::Rebuild;
use super::upkeep::{IndexReport, IndexRequest, update_index};
use serde::Serialize;

use crate::embedder::{FillError, Stop};
use crate::host::Host;
use crate::watcher::{WatchNotice, watcher};

/// How long it is quiet before changes are taken in.
const QUIET: Duration = Duration::from_millis(1500);
/// How often we look where changes are not reported.
const LOOK: Duration = Duration::from_secs(5);
/// How often we check despite notifications: the sources are not all in one place.
const LOOK_ANYWAY: Duration = Duration::from_secs(30);

/// Why the loop wakes.
enum Wake {
    Changed,
    /// The system lost events: the next check finds the changes.
    Lost(String),
    Stop,
}

/// How changes are detected.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "watching")]
pub enum WatchMode {
    /// The system tells.
    Told,
    /// The system cannot tell, so we look now and then.
    Looking {
        /// Why it cannot.
        why: String,
        /// How often we look.
        #[serde(skip)]
        every: Duration,
    },
    /// The system lost count, so we looked.
    Lost {
        /// Why it did.
        why: String,
    },
}

/// What a watch tells of.
#[derive(Debug)]
pub enum WatchEvent {
    /// The index was brought up to date.
    Updated {
        /// What was done.
        report: Box<IndexReport>,
        /// How changes are detected, if that is worth reporting.
        mode: Option<WatchMode>,
    },
    /// It could not be; the next look may succeed.
    Failed(Box<SearchError>),
}

/// Refreshes an index after every change, until the process is asked to stop or `each` ends the
/// watch.
pub fn watch_index(
    request: &IndexRequest,
    host: &Host,
    each: &mut dyn FnMut(WatchEvent) -> ControlFlow<()>,
) -> Result<(), SearchError> {
    let (sender, woken) = channel();
    let stop = Stop::default();
    let (told, end, console) = (stop.clone(), sender.clone(), Arc::clone(&host.console));
    host.console.on_first_interrupt(Box::new(move || {
        told.tell();
        console.notice("stopping when what is being done is done; ctrl-c again stops at once");
        end.send(Wake::Stop).ok();
    }));
    // Watching begins before the first look, so that nothing falls between the two.
    let place = {
        let machine = host.machine()?;
        request.target.find(&machine, host)?.place
    };
    let watcher = watcher(&place, QUIET, move |told| {
        let wake = match told {
            WatchNotice::Changed => Wake::Changed,
            WatchNotice::Lost(why) => Wake::Lost(why),
        };
        // The receiver is gone once the watch has ended.
        sender.send(wake).ok();
    });
    let report = Box::new(update_index(request, Some(&stop), host)?);
    let (mode, patience) = match &watcher {
        Ok(_) => (WatchMode::Told, LOOK_ANYWAY),
        Err(error) => (WatchMode::Looking { why: error.to_string(), every: LOOK }, LOOK),
    };
    let request = IndexRequest { rebuild: Rebuild::No, ..request.clone() };
    let mut event = Some(WatchEvent::Updated { report, mode: Some(mode) });
    loop {
        if event.is_some_and(|event| each(event).is_break()) {
            return Ok(());
        }
        let mode = match wait(&woken, patience) {
            Wake::Stop => return Ok(()),
            Wake::Changed => None,
            Wake::Lost(why) => Some(WatchMode::Lost { why }),
        };
        event = match update_index(&request, Some(&stop), host) {
            Err(SearchError::Fill(FillError::Stopped { .. })) => return Ok(()),
            Ok(report) if mode.is_some() || report.is_news() => {
                Some(WatchEvent::Updated { report: Box::new(report), mode })
            }
            Ok(_) => None,
            // An unreadable source may become readable again, such as a folder that is being
            // replaced.
            Err(error) => Some(WatchEvent::Failed(Box::new(error))),
        };
    }
}

fn wait(woken: &Receiver<Wake>, patience: Duration) -> Wake {
    match woken.recv_timeout(patience) {
        Ok(wake) => wake,
        Err(RecvTimeoutError::Timeout) => Wake::Changed,
        // The signal's end of the channel stays open, so this does not happen.
        Err(RecvTimeoutError::Disconnected) => Wake::Stop,
    }
}

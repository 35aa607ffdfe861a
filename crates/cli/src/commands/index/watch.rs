//! Taking in changes as they are made.
//!
//! The watcher only says that something may have changed; what did is found by comparing, as every
//! search does. So a change that the system does not tell of is late, and never lost.

use std::io::{self, Write};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use serde::Serialize;

use super::{IndexArgs, Indexed, refresh};
use crate::commands::Context;
use crate::embedder::Stop;
use crate::error::{CliError, Kind};

use crate::output::{DIM, ODD, Report, count, notice, safe};
use crate::search_index::find;
use crate::watcher::{Told, watcher};

/// How long it is quiet before changes are taken in.
const QUIET: Duration = Duration::from_millis(1500);
/// How often we look when nobody tells us.
const LOOK: Duration = Duration::from_secs(5);
/// How often we look although we are told: not all that is searched lies in one place.
const LOOK_ANYWAY: Duration = Duration::from_secs(30);

/// Why the loop wakes.
enum Wake {
    Changed,
    /// The system lost count: what it did not tell is found by the look that follows.
    Lost(String),
    Stop,
}

/// Refreshes an index after every change, until the process is told to stop.
pub(super) fn watch(args: &IndexArgs, context: &Context<'_>) -> Result<(), CliError> {
    let (sender, woken) = channel();
    let stop = Stop::default();
    let (told, end) = (stop.clone(), sender.clone());
    context.host.console.on_first_interrupt(Box::new(move || {
        told.tell();
        notice("stopping when what is being done is done; ctrl-c again stops at once");
        end.send(Wake::Stop).ok();
    }));
    // Watching begins before the first look, so that nothing falls between the two.
    let place = {
        let machine = context.host.machine()?;
        find(&args.searched.choice(), args.source.as_deref(), &machine, &context.host)?.place
    };
    let watcher = watcher(&place, QUIET, move |told| {
        let wake = match told {
            Told::Changed => Wake::Changed,
            Told::Lost(why) => Wake::Lost(why),
        };
        // Nobody listens any more when the command has ended.
        sender.send(wake).ok();
    });
    let first = refresh(args, context, args.rebuild, Some(&stop))?;
    let (how, patience) = match &watcher {
        Ok(_) => (How::Told, LOOK_ANYWAY),
        Err(error) => (How::Looking { why: error.to_string() }, LOOK),
    };
    if !context.printer.print_one(&Watched { indexed: first, how: Some(how) })? {
        return Ok(());
    }
    loop {
        let how = match wait(&woken, patience) {
            Wake::Stop => return Ok(()),
            Wake::Changed => None,
            Wake::Lost(why) => Some(How::Lost { why }),
        };
        match refresh(args, context, false, Some(&stop)) {
            Err(error) if error.kind == Kind::Interrupted => return Ok(()),
            Ok(indexed) if how.is_some() || indexed.is_news() => {
                if !context.printer.print_one(&Watched { indexed, how })? {
                    return Ok(());
                }
            }
            Ok(_) => {}
            // What cannot be read now may be readable later: a folder that is being replaced.
            Err(error) => {
                context.printer.print_error(&error);
            }
        }
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

/// How we come to know of changes.
#[derive(Serialize)]
#[serde(rename_all = "snake_case", tag = "watching")]
enum How {
    Told,
    Looking { why: String },
    Lost { why: String },
}

/// One refresh.
#[derive(Serialize)]
struct Watched {
    #[serde(flatten)]
    indexed: Indexed,
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    how: Option<How>,
}

impl Report for Watched {
    fn write_human(&self, out: &mut dyn Write) -> io::Result<()> {
        let Indexed { source, index, took_ms, .. } = &self.indexed;
        let place = safe(&source.place);
        match &self.how {
            Some(How::Looking { why }) => {
                let seconds = LOOK.as_secs();
                let why = safe(why);
                writeln!(out, "{ODD}cannot watch{ODD:#} {place}: {why}")?;
                writeln!(out, "{DIM}looking every {seconds} seconds instead{DIM:#}")?;
            }
            Some(How::Lost { why }) => {
                let why = safe(why);
                writeln!(out, "{ODD}lost count{ODD:#} of changes, so all was looked at: {why}")?;
            }
            Some(How::Told) => writeln!(out, "{DIM}watching {place}; ctrl-c ends{DIM:#}")?,
            None => {}
        }
        let (documents, chunks) =
            (count(index.documents, "document"), count(index.chunks, "chunk"));
        writeln!(out, "{documents}, {chunks}: {} in {took_ms:.0} ms", self.indexed.changes())
    }
}

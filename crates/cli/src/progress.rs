//! A bar on stderr while a file is read or an index is filled.
//!
//! Short work draws none, because a bar that flashes by is useless.

use std::sync::Arc;
use std::time::{Duration, Instant};

use anemone::host::{ByteProgress, Total};
use indicatif::{HumanDuration, ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};

use crate::output::notice;

/// How long work runs before a bar is drawn.
const SOON: Duration = Duration::from_millis(300);

/// A bar that is drawn once the work has taken a while; nothing where there is no terminal.
///
/// It is drawn when something is done and never on its own, so that it does not cover a prompt.
#[derive(Clone)]
struct LateBar(Arc<Inner>);

struct Inner {
    bar: ProgressBar,
    since: Instant,
    is_wanted: bool,
}

impl LateBar {
    fn new(is_wanted: bool, template: &str, what: &str) -> Self {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
        let style = ProgressStyle::with_template(template)
            .unwrap_or_else(|_| ProgressStyle::default_bar())
            .with_key("left", |state: &ProgressState, out: &mut dyn std::fmt::Write| {
                // Before the first step the remaining time is unknown.
                if state.pos() > 0 {
                    write!(out, ", {} left", HumanDuration(state.eta())).ok();
                }
            });
        bar.set_style(style);
        bar.set_message(what.to_owned());
        Self(Arc::new(Inner { bar, since: Instant::now(), is_wanted }))
    }

    /// Draws the bar from now on, when it is time.
    fn appear(&self) -> &ProgressBar {
        let Inner { bar, since, is_wanted } = &*self.0;
        if *is_wanted && bar.is_hidden() && since.elapsed() >= SOON {
            bar.set_draw_target(ProgressDrawTarget::stderr());
        }
        bar
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

/// A bar for bytes.
pub(crate) struct ByteBar(LateBar);

impl ByteBar {
    pub(crate) fn new(what: &str, total: Total) -> Self {
        let template = match total {
            Total::Known => "{msg} {bar:30} {bytes} of {total_bytes}",
            Total::Unknown => "{msg} {bytes}",
        };
        Self(LateBar::new(true, template, what))
    }
}

impl ByteProgress for ByteBar {
    fn expect(&self, bytes: u64) {
        self.0.appear().set_length(bytes);
    }

    fn expect_more(&self, bytes: u64) {
        let bar = &self.0.0.bar;
        bar.set_length(bar.length().unwrap_or(0) + bytes);
    }

    fn advance(&self, bytes: u64) {
        self.0.appear().inc(bytes);
    }
}

/// A bar while documents are taken into an index.
pub(crate) struct Indexing(LateBar);

impl Indexing {
    pub(crate) fn new(shows_progress: bool) -> Self {
        let template = "{msg} {bar:30} {pos} of {len} documents";
        Self(LateBar::new(shows_progress, template, "indexing"))
    }
}

impl anemone_index::IndexProgress for Indexing {
    fn indexed(&self, done: u64, total: u64) {
        let bar = self.0.appear();
        bar.set_length(total);
        bar.set_position(done);
    }

    fn waiting(&self) {
        // Printed without a terminal too, because it explains why nothing happens.
        notice("another process has the index; waiting for it");
    }
}

/// A bar while texts are turned into vectors, with how fast it goes and how long it will take.
pub(crate) struct Embedding(LateBar);

impl Embedding {
    pub(crate) fn new(shows_progress: bool, embedder: &str) -> Self {
        let template = "{msg} {bar:30} {pos} of {len} texts embedded, {per_sec}{left}";
        Self(LateBar::new(shows_progress, template, embedder))
    }
}

impl anemone_index::IndexProgress for Embedding {
    fn indexed(&self, _done: u64, _total: u64) {}

    fn embedded(&self, done: u64, total: u64) {
        let bar = self.0.appear();
        bar.set_length(total);
        bar.set_position(done);
    }

    fn waiting(&self) {
        notice("another process has the index; waiting for it");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_bar_is_drawn_for_short_work_or_where_none_is_wanted() {
        let bar = LateBar::new(true, "{msg}", "reading");
        assert!(bar.appear().is_hidden(), "the work has only begun");
        let bar = LateBar::new(false, "{msg}", "reading");
        assert!(bar.appear().is_hidden());
    }
}

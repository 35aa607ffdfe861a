//! A bar on stderr while a file is read or an index is filled.

use std::io;
use std::time::{Duration, Instant};

use anemone_format::{Bytes, ReaderAt};
use indicatif::{ProgressBar, ProgressStyle};

use crate::output::{Printer, notice};

/// A bar, or nothing where there is no terminal.
///
/// It is drawn when something is read and never on its own, so that it does not cover a prompt.
#[derive(Clone)]
pub(crate) struct Progress(ProgressBar);

impl Progress {
    pub(crate) fn new(printer: &Printer, what: &str) -> Self {
        if !printer.shows_progress() {
            return Self(ProgressBar::hidden());
        }
        let bar = ProgressBar::new(0).with_message(what.to_owned());
        let style = ProgressStyle::with_template("{msg} {bar:30} {bytes} of {total_bytes}")
            .unwrap_or_else(|_| ProgressStyle::default_bar());
        bar.set_style(style);
        Self(bar)
    }

    /// No bar at all.
    pub(crate) fn hidden() -> Self {
        Self(ProgressBar::hidden())
    }

    /// A bar for work whose size nobody knows.
    pub(crate) fn counting(printer: &Printer, what: &str) -> Self {
        if !printer.shows_progress() {
            return Self(ProgressBar::hidden());
        }
        let bar = ProgressBar::no_length().with_message(what.to_owned());
        let style = ProgressStyle::with_template("{msg} {bytes}")
            .unwrap_or_else(|_| ProgressStyle::default_bar());
        bar.set_style(style);
        Self(bar)
    }

    /// Says how many bytes there will be in all.
    pub(crate) fn expect(&self, bytes: u64) {
        self.0.set_length(bytes);
    }

    /// Says that this many more bytes are done.
    pub(crate) fn advance(&self, bytes: u64) {
        self.0.inc(bytes);
    }

    /// Counts what is read from a source. It is read about twice: for its seal, then for itself.
    pub(crate) fn watch(&self, source: Bytes, length: u64) -> Bytes {
        if self.0.is_hidden() {
            return source;
        }
        self.0.inc_length(2 * length);
        Box::new(Watched { source, bar: self.0.clone() })
    }
}

/// A bar while documents are taken into an index; work that is soon done draws none.
pub(crate) struct Indexing {
    bar: ProgressBar,
    since: Instant,
}

impl Indexing {
    /// How long somebody looks at nothing before wondering.
    const SOON: Duration = Duration::from_millis(300);

    pub(crate) fn new(printer: &Printer) -> Self {
        let bar = match printer.shows_progress() {
            true => ProgressBar::new(0).with_message("indexing"),
            false => ProgressBar::hidden(),
        };
        let style = ProgressStyle::with_template("{msg} {bar:30} {pos} of {len} documents")
            .unwrap_or_else(|_| ProgressStyle::default_bar());
        bar.set_style(style);
        Self { bar, since: Instant::now() }
    }
}

impl anemone_index::Progress for Indexing {
    fn indexed(&self, done: u64, total: u64) {
        if self.bar.is_hidden() || self.since.elapsed() < Self::SOON {
            return;
        }
        self.bar.set_length(total);
        self.bar.set_position(done);
    }

    fn waiting(&self) {
        // Said without a terminal too: whoever looks into why nothing happens looks there.
        notice("another process has the index; waiting for it");
    }
}

/// A bar while texts are turned into vectors, with how fast it goes and how long it will take.
pub(crate) struct Embedding {
    bar: ProgressBar,
}

impl Embedding {
    pub(crate) fn new(printer: &Printer, embedder: &str) -> Self {
        let bar = match printer.shows_progress() {
            true => ProgressBar::no_length().with_message(embedder.to_owned()),
            false => ProgressBar::hidden(),
        };
        let template = "{msg} {bar:30} {pos} of {len} texts, {per_sec}, {eta} left";
        let style =
            ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
        bar.set_style(style);
        Self { bar }
    }
}

impl anemone_index::Progress for Embedding {
    fn indexed(&self, _done: u64, _total: u64) {}

    fn embedded(&self, done: u64, total: u64) {
        self.bar.set_length(total);
        self.bar.set_position(done);
    }

    fn waiting(&self) {
        notice("another process has the index; waiting for it");
    }
}

impl Drop for Embedding {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

impl Drop for Indexing {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}

struct Watched {
    source: Bytes,
    bar: ProgressBar,
}

impl ReaderAt for Watched {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let read = self.source.read_at(buffer, offset)?;
        self.bar.inc(read as u64);
        Ok(read)
    }
}

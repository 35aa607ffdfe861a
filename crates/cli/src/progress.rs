//! A bar on stderr while a file is read.

use std::io;

use anemone_format::{Bytes, ReaderAt};
use indicatif::{ProgressBar, ProgressStyle};

use crate::output::Printer;

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

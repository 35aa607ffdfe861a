//! Progress reports of long work.

/// Receives the progress of a piece of work.
pub trait IndexProgress: Sync {
    /// `done` of `total` documents are in the index; the total may grow.
    fn indexed(&self, done: u64, total: u64);

    /// `done` of `total` texts have vectors.
    fn embedded(&self, _done: u64, _total: u64) {}

    /// Another process has held the index for some seconds.
    fn waiting(&self) {}
}

/// Ignores all progress.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoProgress;

impl IndexProgress for NoProgress {
    fn indexed(&self, _done: u64, _total: u64) {}
}

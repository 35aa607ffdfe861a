//! How long work is reported without knowing who listens.

/// Is told how far a piece of work is.
pub trait IndexProgress: Sync {
    /// `done` of `total` documents are in the index; the total may grow.
    fn indexed(&self, done: u64, total: u64);

    /// `done` of `total` texts have vectors.
    fn embedded(&self, _done: u64, _total: u64) {}

    /// Another process has the index, and has had it for some seconds.
    fn waiting(&self) {}
}

/// Nobody listens.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoProgress;

impl IndexProgress for NoProgress {
    fn indexed(&self, _done: u64, _total: u64) {}
}

//! Counts how often records are parsed, for tests.

use std::cell::Cell;

thread_local! {
    static PARSED: Cell<u64> = const { Cell::new(0) };
    static KEEPS: Cell<bool> = const { Cell::new(true) };
}

/// Returns how many lines this thread has parsed into records.
#[must_use]
pub fn parsed() -> u64 {
    PARSED.get()
}

/// Sets whether parsed records are kept in this thread; otherwise every record is over the limit.
pub fn keep(keeps: bool) {
    KEEPS.set(keeps);
}

pub(crate) fn note() {
    PARSED.set(PARSED.get() + 1);
}

pub(crate) fn may_keep() -> bool {
    KEEPS.get()
}

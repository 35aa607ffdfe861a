//! The machine that the program runs on: its clock and its random numbers. Programs that embed the
//! library may hand in another clock. Keys and delimiters are made here and nowhere else; they are
//! not handed in, because the caller would know them.

use anemone_memory::Clock;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use uuid::Uuid;

/// Fills a buffer with cryptographically secure random bytes.
pub(crate) fn fill_random(bytes: &mut [u8]) -> Result<(), getrandom::Error> {
    getrandom::fill(bytes)
}

/// The clock of this machine, and random ids that sort by time.
#[derive(Clone, Copy, Debug)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "this is the clock that is handed in")]
    fn now(&self) -> Timestamp {
        Timestamp::now()
    }

    fn zone(&self) -> TimeZone {
        TimeZone::system()
    }

    #[expect(clippy::disallowed_methods, reason = "ids come from here")]
    fn fresh_id(&self) -> Uuid {
        Uuid::now_v7()
    }
}

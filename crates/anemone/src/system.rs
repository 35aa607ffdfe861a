//! The machine that the program runs on: its clock. Programs that embed the library may hand in
//! another one.

use anemone_memory::Clock;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use uuid::Uuid;

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

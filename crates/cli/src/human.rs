//! Times as people read them.

use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan as _};

/// Writes a time to the minute, in the time zone of this machine: `today 14:02`,
/// `yesterday 09:10`, else `2026-11-12 14:02`.
pub(crate) fn time(then: Timestamp, now: Timestamp) -> String {
    time_in(&TimeZone::system(), then, now)
}

/// Writes a time to the minute, in a time zone.
fn time_in(zone: &TimeZone, then: Timestamp, now: Timestamp) -> String {
    let then = then.to_zoned(zone.clone());
    let today = now.to_zoned(zone.clone()).date();
    let hour = then.strftime("%H:%M");
    if then.date() == today {
        format!("today {hour}")
    } else if today.checked_sub(1.day()).is_ok_and(|yesterday| then.date() == yesterday) {
        format!("yesterday {hour}")
    } else {
        format!("{} {hour}", then.date())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_local_and_without_seconds() {
        let now: Timestamp = "2026-11-16T08:30:00Z".parse().unwrap();
        let honolulu = TimeZone::fixed(jiff::tz::offset(-10));
        for (then, utc, local) in [
            ("2026-11-16T08:17:02.457555635Z", "today 08:17", "today 22:17"),
            ("2026-11-16T12:00:00Z", "today 12:00", "2026-11-16 02:00"),
            ("2026-11-15T23:59:59Z", "yesterday 23:59", "today 13:59"),
            ("2026-11-14T08:00:00Z", "2026-11-14 08:00", "2026-11-13 22:00"),
        ] {
            let then = then.parse().unwrap();
            assert_eq!(time_in(&TimeZone::UTC, then, now), utc);
            assert_eq!(time_in(&honolulu, then, now), local);
        }
    }
}

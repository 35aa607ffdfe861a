//! Days as people say them: a date, a word, or how long ago.

use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{Span, Timestamp, ToSpan as _};

/// Reads a day: `2026-03-01`, `today`, `yesterday`, `7d`, `2w`, `3m`, `1y`.
#[must_use]
pub fn day(text: &str, today: Date) -> Option<Date> {
    let text = text.trim();
    match text {
        "today" => return Some(today),
        "yesterday" => return today.checked_sub(1.day()).ok(),
        _ => {}
    }
    if let Some(ago) = ago(text) {
        return today.checked_sub(ago).ok().filter(|difference| difference.year() > 0);
    }
    // Nothing but the date: a parser would silently drop a time after it.
    text.parse().ok().filter(|_| text.len() == "2026-03-01".len())
}

/// A period is empty, because its first day or moment is after its last.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("nothing is both after {since} and before {until}")]
pub struct EmptyPeriodError {
    since: String,
    until: String,
}

/// Refuses a period in which nothing can be.
pub(crate) fn check_period<T: PartialOrd + ToString>(
    since: Option<T>,
    until: Option<T>,
) -> Result<(), EmptyPeriodError> {
    match (since, until) {
        (Some(since), Some(until)) if since > until => {
            Err(EmptyPeriodError { since: since.to_string(), until: until.to_string() })
        }
        _ => Ok(()),
    }
}

/// Which end of a day is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DayEnd {
    /// Its first moment.
    First,
    /// Its last moment.
    Last,
}

/// Reads a time such as `2026-03-01T10:00:00Z`, or one end of a [`day`].
#[must_use]
pub fn time_of(text: &str, end: DayEnd, today: Date, zone: TimeZone) -> Option<Timestamp> {
    if let Ok(time) = text.trim().parse() {
        return Some(time);
    }
    let day = day(text, today)?.to_zoned(zone).ok()?;
    let time = match end {
        DayEnd::First => day,
        DayEnd::Last => day.end_of_day().ok()?,
    };
    Some(time.timestamp())
}

/// Reads how long ago, with the unit behind the number.
fn ago(text: &str) -> Option<Span> {
    let number = text.trim_end_matches(|c: char| c.is_ascii_lowercase());
    let unit = &text[number.len()..];
    if !number.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    // No memory is older, and no sum overflows.
    let number: i64 = number.parse().ok().filter(|parsed| *parsed <= 10_000)?;
    let span = Span::new();
    match unit {
        "d" => span.try_days(number),
        "w" => span.try_weeks(number),
        "m" => span.try_months(number),
        "y" => span.try_years(number),
        _ => return None,
    }
    .ok()
}

#[cfg(test)]
mod tests {
    use jiff::civil::date;

    use super::*;

    #[test]
    fn days_are_read_as_people_say_them() {
        let today = date(2026, 3, 31);
        let cases = [
            ("2026-03-01", date(2026, 3, 1)),
            ("today", date(2026, 3, 31)),
            ("yesterday", date(2026, 3, 30)),
            ("0d", date(2026, 3, 31)),
            ("7d", date(2026, 3, 24)),
            ("2w", date(2026, 3, 17)),
            // February has no 31st.
            ("1m", date(2026, 2, 28)),
            ("13m", date(2025, 2, 28)),
            ("1y", date(2025, 3, 31)),
            (" today ", date(2026, 3, 31)),
        ];
        for (text, expected) in cases {
            assert_eq!(day(text, today), Some(expected), "{text}");
        }
    }

    #[test]
    fn what_is_no_day_is_refused() {
        let odd = [
            "",
            "d",
            "7",
            "7x",
            "-7d",
            "+7d",
            "7 d",
            "2026-3-1",
            "2026-02-30",
            "2026-13-01",
            "soon",
            "2026-03-01T10:00:00",
            "99999999999999999999d",
            "10001d",
            "10000y",
            "٣d",
            "1é",
        ];
        for text in odd {
            assert_eq!(day(text, date(2026, 3, 31)), None, "{text}");
        }
    }
}

//! A point in time that remembers how it was written.
//!
//! Runtimes write `Z` or `+02:00`, with or without nanoseconds. Rewriting that would change bytes
//! that the owner may compare, so the text is kept and the instant is only for ordering.

use std::fmt;
use std::str::FromStr;

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::Offset;

use crate::object::text_form;

/// An RFC 3339 date and time with its offset.
#[derive(Clone, PartialEq, Eq)]
pub struct Moment {
    text: Box<str>,
    instant: Timestamp,
}

/// A text that is not an RFC 3339 date and time.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not an RFC 3339 time such as 2026-01-15T10:30:00Z")]
pub struct ParseMomentError {
    text: String,
}

impl Moment {
    /// Returns the instant, for ordering.
    #[must_use]
    pub const fn instant(&self) -> Timestamp {
        self.instant
    }

    /// Returns the text as it was written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns the calendar date in UTC, by which records are put into partitions.
    #[must_use]
    pub fn utc_date(&self) -> Date {
        Offset::UTC.to_datetime(self.instant).date()
    }
}

impl From<Timestamp> for Moment {
    fn from(instant: Timestamp) -> Self {
        Self { text: instant.to_string().into(), instant }
    }
}

impl FromStr for Moment {
    type Err = ParseMomentError;

    fn from_str(text: &str) -> Result<Self, ParseMomentError> {
        let error = || ParseMomentError { text: text.chars().take(64).collect() };
        if !has_rfc3339_shape(text.as_bytes()) {
            return Err(error());
        }
        let instant: Timestamp = text.parse().map_err(|_| error())?;
        // An offset may lead out of the years that have four digits.
        if Offset::UTC.to_datetime(instant).year() < 0 {
            return Err(error());
        }
        Ok(Self { text: text.into(), instant })
    }
}

/// Checks the shape only; jiff checks the values, but accepts more shapes than RFC 3339 has.
fn has_rfc3339_shape(text: &[u8]) -> bool {
    let matches = |part: &[u8], shape: &[u8]| {
        part.len() == shape.len()
            && part.iter().zip(shape).all(|(byte, want)| match want {
                b'0' => byte.is_ascii_digit(),
                b'T' => matches!(byte, b'T' | b't' | b' '),
                b'+' => matches!(byte, b'+' | b'-'),
                _ => byte == want,
            })
    };
    if text.len() < 20 || !matches(&text[..19], b"0000-00-00T00:00:00") {
        return false;
    }
    let mut rest = &text[19..];
    if let [b'.', fraction @ ..] = rest {
        let digits = fraction.iter().take_while(|byte| byte.is_ascii_digit()).count();
        if digits == 0 || digits > 9 {
            return false;
        }
        rest = &fraction[digits..];
    }
    matches!(rest, b"Z" | b"z") || matches(rest, b"+00:00")
}

impl fmt::Display for Moment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

text_form!(Moment, "date-time");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_survives_and_the_instant_orders() {
        let berlin: Moment = "2026-01-15T11:30:00.000000001+01:00".parse().unwrap();
        let utc: Moment = "2026-01-15T10:30:00Z".parse().unwrap();
        assert_eq!(berlin.to_string(), "2026-01-15T11:30:00.000000001+01:00");
        assert!(berlin.instant() > utc.instant());
    }

    #[test]
    fn the_partition_date_is_in_utc() {
        let late: Moment = "2026-03-31T23:30:00-05:00".parse().unwrap();
        assert_eq!(late.utc_date().to_string(), "2026-04-01");
    }

    #[test]
    fn other_shapes_are_refused() {
        for text in [
            "",
            "2026-01-15",
            "2026-01-15T10:30Z",
            "2026-01-15T10:30:00",
            "2026-13-15T10:30:00Z",
            "2026-02-30T10:30:00Z",
            "2026-01-15T10:30:00.Z",
            "2026-01-15T10:30:00.1234567890Z",
            "2026-01-15T10:30:00+0100",
            "20260115T103000Z",
            "+002026-01-15T10:30:00Z",
            "0000-01-01T00:00:00+00:01",
            "9999-12-31T23:59:59-23:59",
        ] {
            assert!(text.parse::<Moment>().is_err(), "{text}");
        }
    }
}

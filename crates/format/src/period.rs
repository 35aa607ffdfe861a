//! Partitions by time: a quarter or a month of records.

use std::fmt;
use std::str::FromStr;

use jiff::civil::Date;

use crate::object::vocabulary;

vocabulary! {
    /// How long a partition is.
    pub enum Granularity (unknown: Quarter) {
        /// Three months: `2026-Q1`.
        Quarter = "quarter",
        /// One month: `2026-03`.
        Month = "month",
    }
}

vocabulary! {
    /// Which of its times decides the partition of a record.
    pub enum PartitionBy (unknown: CreatedAt) {
        /// When it was first remembered.
        CreatedAt = "created_at",
        /// Of something that happened, an episodic record: when it was observed, if that is known.
        /// Of every other record: when it was first remembered.
        ObservedAt = "observed_at",
    }
}

/// A quarter or a month of one year.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Period {
    year: i16,
    first_month: i8,
    months: i8,
}

/// A text that names no quarter and no month.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not a period such as 2026-Q1 or 2026-03")]
pub struct ParsePeriodError {
    text: String,
}

impl Period {
    /// Returns the period that contains a day.
    #[must_use]
    pub fn containing(date: Date, granularity: &Granularity) -> Self {
        let months = match granularity.effective() {
            Granularity::Month => 1,
            Granularity::Quarter | Granularity::Unknown(_) => 3,
        };
        let first_month = (date.month() - 1) / months * months + 1;
        Self { year: date.year(), first_month, months }
    }

    /// Returns its first day.
    #[must_use]
    pub fn first_day(self) -> Date {
        Date::new(self.year, self.first_month, 1).expect("a month from 1 to 12 has a first day")
    }

    /// Returns its last day.
    #[must_use]
    pub fn last_day(self) -> Date {
        let last_month = self.first_month + self.months - 1;
        Date::new(self.year, last_month, 1)
            .expect("a month from 1 to 12 has a first day")
            .last_of_month()
    }
}

impl fmt::Display for Period {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.months {
            1 => write!(f, "{:04}-{:02}", self.year, self.first_month),
            _ => write!(f, "{:04}-Q{}", self.year, self.first_month / 3 + 1),
        }
    }
}

impl FromStr for Period {
    type Err = ParsePeriodError;

    fn from_str(text: &str) -> Result<Self, ParsePeriodError> {
        let parsed = || {
            let (year, rest) = text.split_once('-')?;
            if year.len() != 4 || !year.bytes().all(|byte| byte.is_ascii_digit()) {
                return None;
            }
            let year = year.parse().ok()?;
            let digits = |text: &str, len| {
                (text.len() == len && text.bytes().all(|byte| byte.is_ascii_digit()))
                    .then(|| text.parse::<i8>().ok())
                    .flatten()
            };
            if let Some(quarter) = rest.strip_prefix('Q') {
                let quarter = digits(quarter, 1).filter(|q| (1..=4).contains(q))?;
                return Some(Self { year, first_month: quarter * 3 - 2, months: 3 });
            }
            let month = digits(rest, 2).filter(|month| (1..=12).contains(month))?;
            Some(Self { year, first_month: month, months: 1 })
        };
        parsed().ok_or_else(|| ParsePeriodError { text: text.chars().take(64).collect() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_lies_in_its_quarter_and_its_month() {
        for (day, quarter, month, first, last) in [
            ("2026-01-01", "2026-Q1", "2026-01", "2026-01-01", "2026-03-31"),
            ("2026-03-31", "2026-Q1", "2026-03", "2026-01-01", "2026-03-31"),
            ("2024-04-01", "2024-Q2", "2024-04", "2024-04-01", "2024-06-30"),
            ("2026-12-31", "2026-Q4", "2026-12", "2026-10-01", "2026-12-31"),
            ("0000-02-29", "0000-Q1", "0000-02", "0000-01-01", "0000-03-31"),
        ] {
            let day: Date = day.parse().unwrap();
            let period = Period::containing(day, &Granularity::Quarter);
            assert_eq!(period.to_string(), quarter);
            assert_eq!(period.first_day().to_string(), first);
            assert_eq!(period.last_day().to_string(), last);
            assert_eq!(period, quarter.parse().unwrap());
            let period = Period::containing(day, &Granularity::Month);
            assert_eq!(period.to_string(), month);
            assert_eq!(period, month.parse().unwrap());
        }
    }

    #[test]
    fn what_names_no_period_is_refused() {
        for text in ["", "2026", "2026-Q0", "2026-Q5", "2026-13", "2026-00", "2026-1", "26-Q1"] {
            assert!(text.parse::<Period>().is_err(), "{text}");
        }
    }
}

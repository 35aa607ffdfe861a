//! How old a file is, and how much that reduces its score.

use std::sync::LazyLock;

use anemone_index::Document;
use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use regex::Regex;

use super::chunks::Generation;
use super::corpus::source_of;

/// The default number of days after which a score is half.
pub(super) const HALF_LIFE: f64 = 30.0;
const DAY_MILLIS: f64 = 86_400_000.0;

/// The dated files of March: nothing follows the date.
static DATED_OF_THREE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?:^|/)memory/([0-9]{4})-([0-9]{2})-([0-9]{2})\.md$").expect("a fixed pattern")
});

static DATED_OF_NINE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?:^|/)memory/(?:[^/]+/)*([0-9]{4})-([0-9]{2})-([0-9]{2})(?:-[^/\n]+)?\.md$")
        .expect("a fixed pattern")
});

/// How texts age.
#[derive(Clone, Copy, Debug)]
pub(super) struct Aging {
    pub(super) generation: Generation,
    pub(super) now: Timestamp,
    /// The days after which a score is half.
    pub(super) half_life: f64,
}

/// Returns what remains of a score after a document's age is taken into account.
pub(super) fn aged(score: f64, document: &Document, aging: Aging) -> f64 {
    let Aging { generation, now, half_life } = aging;
    let Some(since) = written(document, generation) else { return score };
    #[expect(clippy::cast_precision_loss, reason = "milliseconds of this era are exact")]
    let millis = now.as_millisecond().saturating_sub(since.as_millisecond()) as f64;
    score * (-(std::f64::consts::LN_2 / half_life) * (millis / DAY_MILLIS).max(0.0)).exp()
}

/// Returns the time since which a document has its content; `None`: it does not age.
fn written(document: &Document, generation: Generation) -> Option<Timestamp> {
    let observed = || document.provenance.observed_at.as_deref()?.parse().ok();
    if source_of(document) == "sessions" {
        return observed();
    }
    let (pattern, curated) = match generation {
        Generation::Three => (&DATED_OF_THREE, ["MEMORY.md", "memory.md"]),
        Generation::Nine => (&DATED_OF_NINE, ["MEMORY.md", "USER.md"]),
    };
    let path = document.path.replace('\\', "/");
    let path = path.strip_prefix("./").unwrap_or(&path);
    let dated = pattern.captures(path);
    if let Some(midnight) = dated.as_ref().and_then(|found| {
        let part = |at| found.get(at)?.as_str().parse::<i16>().ok();
        let (month, day) = (i8::try_from(part(2)?).ok()?, i8::try_from(part(3)?).ok()?);
        let date = Date::new(part(1)?, month, day).ok()?;
        // JavaScript reads years before 100 as years of the last century, and then they are not
        // valid dates.
        let date = (date.year() >= 100).then_some(date)?;
        TimeZone::UTC.to_timestamp(date.to_datetime(jiff::civil::Time::midnight())).ok()
    }) {
        return Some(midnight);
    }
    let evergreen = curated.contains(&path) || (path.starts_with("memory/") && dated.is_none());
    if evergreen { None } else { observed() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(path: &str, now: &str) -> f64 {
        let document = Document { path: path.to_owned(), ..Document::default() };
        let now = now.parse().unwrap();
        aged(1.0, &document, Aging { generation: Generation::Nine, now, half_life: HALF_LIFE })
    }

    #[test]
    fn thirty_days_halve_a_dated_file_and_nothing_else() {
        let now = "2026-01-31T00:00:00Z";
        for dated in [
            "memory/2026-01-01.md",
            "memory/2026-01-01-1430.md",
            "memory/a/b/2026-01-01.md",
            "./memory/2026-01-01.md",
            "../notes/memory/2026-01-01.md",
        ] {
            assert!((after(dated, now) - 0.5).abs() < 1e-12, "{dated}");
        }
        for plain in [
            "MEMORY.md",
            "memory/2026-02-30.md",
            "memory/a.md",
            "memory/2026-01-01.txt",
            "2026-01-01.md",
            "memory/2026-01-01_a.md",
            "memory/0001-01-01.md",
        ] {
            assert_eq!(after(plain, now), 1.0, "{plain}");
        }
    }

    #[test]
    fn what_comes_from_the_future_is_not_worth_more() {
        assert_eq!(after("memory/2026-01-01.md", "2025-01-01T00:00:00Z"), 1.0);
    }

    #[test]
    fn a_day_of_the_golden_run_costs_three_percent() {
        // 2026-11-14, asked on the 15th at about seven: 0.9706.
        let left = after("memory/2026-11-14.md", "2026-11-15T07:00:00Z");
        assert!((left - 0.9706).abs() < 1e-4, "{left}");
    }
}

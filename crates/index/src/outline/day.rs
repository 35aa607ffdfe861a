//! The day that a heading names.

use jiff::civil::Date;

/// Months by name: English, German, French, Spanish, Italian, Portuguese, Dutch, Russian (in the
/// genitive).
const MONTHS: [&str; 12] = [
    "january januar jänner janvier enero gennaio janeiro januari января jan",
    "february februar feber février febrero febbraio fevereiro februari февраля feb febr",
    "march märz mars marzo março maart марта mar mär",
    "april avril abril aprile апреля apr",
    "may mai mayo maggio maio mei мая",
    "june juni juin junio giugno junho июня jun",
    "july juli juillet julio luglio julho июля jul",
    "august août agosto augustus августа aug",
    "september septembre septiembre setiembre settembre setembro сентября sep sept",
    "october oktober octobre octubre ottobre outubro октября oct okt",
    "november novembre noviembre novembro ноября nov",
    "december dezember décembre diciembre dicembre dezembro декабря dec dez",
];
/// Suffixes that may follow the number of a day.
const ORDINALS: [&str; 5] = ["st", "nd", "rd", "th", "er"];
/// Words that may be between day, month and year.
const BETWEEN: [&str; 3] = ["of", "de", "del"];

/// Finds the first date in a heading or a query: `2023-05-08`, `08 May 2023`, `May 8, 2023`, `8.
/// Mai 2023`, `2023年5月8日`. A date that does not exist in the calendar is skipped.
pub(crate) fn day_in(heading: &str) -> Option<Date> {
    // A year has four digits.
    if !heading.as_bytes().windows(4).any(|window| window.iter().all(u8::is_ascii_digit)) {
        return None;
    }
    let parts = parts(heading);
    (0..parts.len()).find_map(|from| {
        let rest = &parts[from..];
        year_first(rest).or_else(|| east_asian(rest)).or_else(|| with_name(rest))
    })
}

/// A number or a word, with the text before it.
#[derive(Clone, Copy, Debug)]
struct HeadingPart<'a> {
    before: &'a str,
    text: &'a str,
    is_number: bool,
}

fn parts(heading: &str) -> Vec<HeadingPart<'_>> {
    let mut parts = Vec::new();
    let mut rest = heading;
    loop {
        let text = rest.trim_start_matches(|c: char| !c.is_alphanumeric());
        let before = &rest[..rest.len() - text.len()];
        let Some(first) = text.chars().next() else { return parts };
        let is_number = first.is_ascii_digit();
        let same = |c: char| {
            if is_number { c.is_ascii_digit() } else { c.is_alphanumeric() && !c.is_ascii_digit() }
        };
        rest = text.trim_start_matches(same);
        parts.push(HeadingPart { before, text: &text[..text.len() - rest.len()], is_number });
    }
}

impl HeadingPart<'_> {
    /// Returns the number, if its count of digits is in this range.
    fn number(&self, digits: std::ops::RangeInclusive<usize>) -> Option<i16> {
        if self.is_number && digits.contains(&self.text.len()) {
            self.text.parse().ok()
        } else {
            None
        }
    }

    fn is_close(&self) -> bool {
        self.before.chars().count() <= 3
            && self.before.chars().all(|c| c.is_whitespace() || matches!(c, '.' | ',' | '-'))
    }
}

fn date(year: i16, month: i16, day: i16) -> Option<Date> {
    Date::new(year, i8::try_from(month).ok()?, i8::try_from(day).ok()?).ok()
}

fn year_first(parts: &[HeadingPart<'_>]) -> Option<Date> {
    let [year, month, day, ..] = parts else { return None };
    if month.before != day.before || !matches!(month.before, "-" | "/") {
        return None;
    }
    date(year.number(4..=4)?, month.number(2..=2)?, day.number(2..=2)?)
}

fn east_asian(parts: &[HeadingPart<'_>]) -> Option<Date> {
    let [year, year_sign, month, month_sign, day, day_sign, ..] = parts else { return None };
    let is = |part: &HeadingPart<'_>, signs: [&str; 2]| signs.contains(&part.text);
    let signs = is(year_sign, ["年", "년"])
        && is(month_sign, ["月", "월"])
        && day_sign.text.starts_with(['日', '일', '号']);
    if !signs || !parts[1..6].iter().all(HeadingPart::is_close) {
        return None;
    }
    date(year.number(4..=4)?, month.number(1..=2)?, day.number(1..=2)?)
}

/// Reads a date with the month's name in the middle or at the beginning.
fn with_name(parts: &[HeadingPart<'_>]) -> Option<Date> {
    let mut rest = parts.iter();
    let first = rest.next()?;
    let mut next = |skipped: &[&str]| {
        let part = rest.next().filter(|part| part.is_close())?;
        if part.is_number || !skipped.iter().any(|word| part.text.eq_ignore_ascii_case(word)) {
            return Some(part);
        }
        rest.next().filter(|part| part.is_close())
    };
    let (month, day) = match first.number(1..=2) {
        Some(day) => {
            let mut part = next(&ORDINALS)?;
            if BETWEEN.contains(&part.text) {
                part = next(&[])?;
            }
            (month(part)?, day)
        }
        None => (month(first)?, next(&[])?.number(1..=2)?),
    };
    let mut year = next(&ORDINALS)?;
    if BETWEEN.contains(&year.text) {
        year = next(&[])?;
    }
    date(year.number(4..=4)?, month, day)
}

fn month(part: &HeadingPart<'_>) -> Option<i16> {
    if part.is_number {
        return None;
    }
    let word = part.text.to_lowercase();
    let at = MONTHS.iter().position(|names| names.split(' ').any(|name| name == word))?;
    i16::try_from(at + 1).ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn days_are_read_as_people_write_them() {
        let eighth = Date::constant(2023, 5, 8);
        for heading in [
            "2023-05-08",
            "Session 2023-05-08T10:30Z",
            "Notes (2023/05/08)",
            "Monday, 08 May 2023",
            "8 May 2023",
            "8th of May, 2023",
            "May 8, 2023",
            "MAY 8th 2023 — call",
            "8. Mai 2023",
            "le 8 mai 2023",
            "8 de mayo de 2023",
            "8 мая 2023",
            "2023年5月8日",
            "2023年5月8日(月)の会議",
            "2023년 5월 8일",
            "08-May-2023",
            "v1.2 of 8 May 2023, not 9 May 2024",
        ] {
            assert_eq!(day_in(heading), Some(eighth), "{heading}");
        }
        assert_eq!(day_in("Sept. 3, 2024"), Some(Date::constant(2024, 9, 3)));
        assert_eq!(day_in("1er août 2024"), Some(Date::constant(2024, 8, 1)));
        assert_eq!(day_in("29 Feb 2024"), Some(Date::constant(2024, 2, 29)));
    }

    #[test]
    fn what_is_no_day_is_none() {
        for heading in [
            "",
            "2023",
            "May 2023",
            "2023-02-30",
            "30 February 2023",
            "2023-5-8",
            "12023-05-08",
            "2023-05/08",
            "2026.3.24",
            "8 Mayhem 2023",
            "May I ask 8, 2023",
            "2023年13月8日",
            "Session 2, 13:14",
            "0000-00-00",
            "May 8, 20235",
        ] {
            assert_eq!(day_in(heading), None, "{heading}");
        }
    }

    proptest! {
        #[test]
        fn any_heading_is_read(heading in "\\PC{0,40}|([0-9]{1,5}|[-/., ]|May|de|年|月|日|th){0,20}") {
            day_in(&heading);
        }

        #[test]
        fn every_day_is_read_back(year in 1000_i16..9999, month in 1_i8..=12, day in 1_i8..=28) {
            let date = Date::constant(year, month, day);
            prop_assert_eq!(day_in(&format!("on {date}.")), Some(date));
            let name = MONTHS[usize::try_from(month).unwrap() - 1].split(' ').next().unwrap();
            prop_assert_eq!(day_in(&format!("{name} {day}, {year}")), Some(date));
            prop_assert_eq!(day_in(&format!("{day} {name} {year}")), Some(date));
        }
    }
}

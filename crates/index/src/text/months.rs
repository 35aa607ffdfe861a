//! The names of months, so that a date in a question matches the date of a note.

/// The names in English, from January.
const ENGLISH: &str =
    "january february march april may june july august september october november december";

/// Names in other languages and short ones, folded, one line per month.
const OTHERS: &str = include_str!("months.txt");

/// Returns the English name of a month, counted from one.
pub(super) fn name(month: i8) -> &'static str {
    let place = usize::try_from(month).unwrap_or_default().saturating_sub(1);
    ENGLISH.split(' ').nth(place).unwrap_or_default()
}

/// Returns the English name of the month that a folded word names. Beside a number, names in other
/// languages and short ones count: alone they may mean something else (`mars`, `mar`).
pub(super) fn of_word(folded: &str, number: bool) -> Option<&'static str> {
    let place = ENGLISH.split(' ').position(|name| name == folded).or_else(|| {
        let names = |names: &str| names.split_ascii_whitespace().any(|name| name == folded);
        number.then(|| OTHERS.lines().position(names))?
    })?;
    ENGLISH.split(' ').nth(place)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn months_are_known_by_many_names() {
        for (word, month) in [
            ("mai", "may"),
            ("mayo", "may"),
            ("мая", "may"),
            ("marz", "march"),
            ("dezember", "december"),
            ("jan", "january"),
            ("july", "july"),
        ] {
            assert_eq!(of_word(word, true), Some(month), "{word}");
        }
        assert_eq!(of_word("mars", false), None);
        assert_eq!(of_word("january", false), Some("january"));
        assert_eq!(name(5), "may");
        assert_eq!(name(13), "");
    }
}

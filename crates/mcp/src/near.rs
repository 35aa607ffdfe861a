//! Finds the word that was meant.

use anemone_files::edit_distance;

/// Returns the name that is most similar to the given one, if any is similar.
pub(crate) fn nearest<'a>(
    given: &str,
    names: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    // A name this long was not mistyped, and comparing takes time.
    if given.chars().count() > 64 {
        return None;
    }
    let given = plain(given);
    names
        .into_iter()
        .map(|name| (edit_distance(&given, &plain(name)), name))
        .filter(|(distance, _)| *distance <= 1 + given.len() / 4)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, name)| name)
}

fn plain(name: &str) -> Vec<char> {
    name.chars().filter(|letter| letter.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_alike_is_found_and_what_is_not_is_not() {
        let names = ["memory_search", "memory_get", "maxResults"];
        for (given, near) in [
            ("memory_serach", Some("memory_search")),
            ("memorySearch", Some("memory_search")),
            ("max_results", Some("maxResults")),
            ("shell", None),
            ("", None),
        ] {
            assert_eq!(nearest(given, names), near, "{given}");
        }
        assert_eq!(nearest(&"x".repeat(1_000_000), names), None);
    }
}

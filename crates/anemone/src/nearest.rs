//! Suggests existing names that are similar to an unknown one.

use anemone_files::edit_distance;

/// How many names are offered.
const MOST: usize = 4;
/// How many letters of a name are compared; a longer name was not mistyped.
const COMPARED: usize = 64;

/// Collects the names that are most like a wanted one.
pub struct Nearest {
    wanted: Vec<char>,
    /// The best first, with how far they are off.
    best: Vec<(usize, String)>,
}

impl Nearest {
    /// Returns those of some names that are nearly the same as a name, the nearest first.
    pub fn among<'a>(wanted: &str, names: impl IntoIterator<Item = &'a str>) -> Vec<String> {
        let mut nearest = Self::to(wanted);
        names.into_iter().for_each(|name| nearest.offer(name.to_owned()));
        nearest.into_names()
    }

    /// Compares with a name.
    pub fn to(wanted: &str) -> Self {
        Self { wanted: key(wanted), best: Vec::new() }
    }

    /// Takes an existing name.
    pub fn offer(&mut self, name: String) {
        let key = key(&name);
        let distance = edit_distance(&self.wanted, &key);
        // A third may be wrong; more than that is another name.
        if distance > self.wanted.len().max(key.len()) / 3 {
            return;
        }
        let one = (distance, name);
        let at = self.best.partition_point(|best| *best < one);
        self.best.insert(at, one);
        self.best.truncate(MOST);
    }

    /// Returns the names, the most similar first.
    pub fn into_names(self) -> Vec<String> {
        self.best.into_iter().map(|(_, name)| name).collect()
    }
}

/// The text for comparisons: the end of a path, which distinguishes documents, ignoring case.
fn key(name: &str) -> Vec<char> {
    let name = name.rsplit('/').next().unwrap_or(name);
    name.chars().flat_map(char::to_lowercase).take(COMPARED).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nearest(wanted: &str, names: &[&str]) -> Vec<String> {
        let mut nearest = Nearest::to(wanted);
        for name in names {
            nearest.offer((*name).to_owned());
        }
        nearest.into_names()
    }

    #[test]
    fn similar_names_are_offered_the_most_similar_first() {
        let names = ["MEMORY.md", "memory/2026-01-15.md", "memory/2026-01-25.md", "USER.md"];
        let offered = nearest("2026-01-15.md", &names);
        assert_eq!(offered, ["memory/2026-01-15.md", "memory/2026-01-25.md"]);
        assert_eq!(nearest("memory.md", &names), ["MEMORY.md"]);
        assert_eq!(nearest("../../etc/passwd", &names), [""; 0]);
    }

    #[test]
    fn few_names_are_offered_in_the_same_order_every_time() {
        let names = ["f", "e", "d", "c", "b", "a"].map(|value| format!("{value}/notes.md"));
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let offered = nearest("notes.md", &names);
        assert_eq!(offered, ["a/notes.md", "b/notes.md", "c/notes.md", "d/notes.md"]);
    }
}

//! Names like one that is not there.

/// How many names are offered.
const MOST: usize = 4;
/// Letters of a name that are compared; what is longer is nobody's slip of the finger.
const COMPARED: usize = 64;

/// Collects the names that are most like a wanted one.
pub struct Nearest {
    wanted: Vec<char>,
    /// The best first, with how far they are off.
    best: Vec<(usize, String)>,
}

impl Nearest {
    pub fn to(wanted: &str) -> Self {
        Self { wanted: key(wanted), best: Vec::new() }
    }

    /// Takes a name that is there.
    pub fn offer(&mut self, name: String) {
        let key = key(&name);
        let distance = distance(&self.wanted, &key);
        // A third may be wrong; more than that is another name.
        if distance > self.wanted.len().max(key.len()) / 3 {
            return;
        }
        let one = (distance, name);
        let at = self.best.partition_point(|it| *it < one);
        self.best.insert(at, one);
        self.best.truncate(MOST);
    }

    /// Returns the names, the most similar first.
    pub fn into_names(self) -> Vec<String> {
        self.best.into_iter().map(|(_, name)| name).collect()
    }
}

/// What is compared: the end of a path, which tells documents apart, without its case.
fn key(name: &str) -> Vec<char> {
    let name = name.rsplit('/').next().unwrap_or(name);
    name.chars().flat_map(char::to_lowercase).take(COMPARED).collect()
}

/// Counts how many letters have to be changed, added or left out.
fn distance(a: &[char], b: &[char]) -> usize {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, left) in a.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, right) in b.iter().enumerate() {
            let changed = diagonal + usize::from(left != right);
            diagonal = row[j + 1];
            row[j + 1] = changed.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
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
    fn letters_that_differ_are_counted() {
        let distance = |a: &str, b: &str| {
            distance(&a.chars().collect::<Vec<_>>(), &b.chars().collect::<Vec<_>>())
        };
        assert_eq!(distance("", ""), 0);
        assert_eq!(distance("tea", ""), 3);
        assert_eq!(distance("kitten", "sitting"), 3);
        assert_eq!(distance("flaw", "lawn"), 2);
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
        let names = ["f", "e", "d", "c", "b", "a"].map(|it| format!("{it}/notes.md"));
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let offered = nearest("notes.md", &names);
        assert_eq!(offered, ["a/notes.md", "b/notes.md", "c/notes.md", "d/notes.md"]);
    }
}

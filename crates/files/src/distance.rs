//! How far apart two names are.

/// Counts the characters to change, insert or delete to turn one name into another (Levenshtein).
/// The caller bounds the lengths: the work grows with their product.
#[must_use]
pub fn edit_distance(one: &[char], other: &[char]) -> usize {
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (line, left) in one.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = line + 1;
        for (column, right) in other.iter().enumerate() {
            let changed = diagonal + usize::from(left != right);
            diagonal = row[column + 1];
            row[column + 1] = changed.min(diagonal + 1).min(row[column] + 1);
        }
    }
    row[other.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_that_differ_are_counted() {
        let distance = |one: &str, other: &str| {
            let letters = |text: &str| text.chars().collect::<Vec<_>>();
            edit_distance(&letters(one), &letters(other))
        };
        assert_eq!(distance("", ""), 0);
        assert_eq!(distance("tea", ""), 3);
        assert_eq!(distance("kitten", "sitting"), 3);
        assert_eq!(distance("flaw", "lawn"), 2);
    }
}

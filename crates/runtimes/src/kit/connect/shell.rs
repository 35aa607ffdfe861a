//! Splits a command line as a shell does, as far as our own commands need.

/// Writes words as one line.
pub fn line(words: impl IntoIterator<Item = String>) -> String {
    let words: Vec<String> = words.into_iter().map(|word| quoted(&word)).collect();
    words.join(" ")
}

/// Reads the words of a line.
#[must_use]
pub fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (Some(_), c) => word.get_or_insert_default().push(c),
            (None, '\'' | '"') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None, '\\') => word.get_or_insert_default().extend(chars.next()),
            (None, c) if c.is_whitespace() => words.extend(word.take()),
            (None, c) => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

/// Quotes a word for a shell, if it needs that.
#[must_use]
pub fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "_-./:@%+=,".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_come_back_from_their_line() {
        let all = ["anemone", "a b", "it's", "", "\"x\"", "$HOME", "back\\slash", "-w"];
        let line = line(all.map(str::to_owned));
        assert_eq!(words(&line), all);
        assert_eq!(line.split(' ').next(), Some("anemone"));
    }
}

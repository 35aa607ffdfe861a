//! Decides whether two texts say the same, as a person would judge it.
//!
//! Vectors of texts represent which words occur, and little of their order, of numbers or of a
//! "not". Who owes whom, port 8080 or 8081, always or never: such texts have similar vectors and
//! say different things. So texts that are nearly the same by their vectors must also agree in word
//! order, numbers and negations.

use std::collections::HashMap;

/// Punctuation that may surround a word without being part of it.
const MARKS: &[char] = &[
    '.', ',', ';', ':', '!', '?', '"', '\'', '(', ')', '[', ']', '*', '_', '`', '“', '”', '‘', '’',
    '„', '«', '»', '…', '。', '，', '、', '；', '：', '！', '？', '「', '」', '（', '）',
];
/// Words that negate a statement. Negations within words, as in Chinese and Japanese, need no list,
/// because such texts are compared letter by letter anyway.
const NEGATIONS: &str = "not no never none nothing nobody neither nor without cannot can't won't don't doesn't \
     didn't isn't aren't wasn't shouldn't mustn't nicht kein keine keinen nie niemals ohne weder \
     nunca jamás sin ni ne pas jamais sans aucun aucune";

/// In so few words their order matters; more of them may be put in many ways.
const FEW_WORDS: usize = 6;

/// Returns the form of a text for comparisons: words in lower case without marks around them, one
/// space between them, and whether it is a question.
pub(crate) fn comparable(text: &str) -> String {
    let words = text
        .split_whitespace()
        .map(|word| word.trim_matches(MARKS))
        .filter(|value| !value.is_empty());
    let mut plain = words.map(str::to_lowercase).collect::<Vec<_>>().join(" ");
    if plain.is_empty() {
        return text.trim().to_owned();
    }
    if text.trim_end().ends_with(['?', '？']) {
        plain.push_str(" ?");
    }
    plain
}

/// Whether two texts with nearly the same words say different things.
pub(crate) fn differs(one: &str, other: &str) -> bool {
    let (one, other) = (comparable(one), comparable(other));
    let (one, other) = (words(&one), words(&other));
    let kept = |words: &[&str], keep: &dyn Fn(&str) -> bool| -> Vec<String> {
        words.iter().filter(|word| keep(word)).map(|word| (*word).to_owned()).collect()
    };
    let is_negation = |word: &str| {
        let word = word.replace('’', "'");
        NEGATIONS.split(' ').any(|one| one == word)
    };
    kept(&one, &is_exact) != kept(&other, &is_exact)
        || kept(&one, &is_negation).len() != kept(&other, &is_negation).len()
        || one.len().min(other.len()) <= FEW_WORDS && shared(&one, &other) != shared(&other, &one)
}

fn words(text: &str) -> Vec<&str> {
    text.split(' ').collect()
}

/// Whether a word is a number or a sign, in which every letter counts.
fn is_exact(word: &str) -> bool {
    let is_sign = |c: char| !c.is_alphanumeric() && !matches!(c, '\'' | '’' | '-');
    word.chars().any(|c| c.is_numeric() || is_sign(c))
}

/// Returns the words of a text that also occur in another one, in their order.
fn shared<'a>(text: &[&'a str], other: &[&str]) -> Vec<&'a str> {
    let mut left: HashMap<&str, usize> = HashMap::new();
    for word in other {
        *left.entry(word).or_default() += 1;
    }
    let mut take = |word: &str| match left.get_mut(word) {
        Some(number) if *number > 0 => {
            *number -= 1;
            true
        }
        _ => false,
    };
    text.iter().copied().filter(|text| take(text)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn case_blanks_and_marks_make_no_difference() {
        for (one, other) in [
            ("The gateway stays on loopback.", "the  gateway stays on LOOPBACK"),
            ("\"Tea\" (green)", "tea green"),
            ("数据库在柏林。", "数据库在柏林"),
        ] {
            assert_eq!(comparable(one), comparable(other));
            assert!(!differs(one, other));
        }
        assert_eq!(comparable("..."), "...");
    }

    #[test]
    fn what_says_something_else_differs() {
        for (one, other) in [
            ("The gateway listens on port 8081.", "The gateway listens on port 8082."),
            ("temperature is -5", "temperature is 5"),
            ("Use C for this", "Use C++ for this"),
            ("x=1 holds", "x!=1 holds"),
            ("It is in ~/bin", "It is in /bin"),
            ("The standup is at 10:00", "The standup is at 11:00"),
            ("Lin likes tea", "Lin likes no tea"),
            ("Never deploy on Fridays", "Always deploy on Fridays"),
            ("Tom owes Lin 40 euros", "Lin owes Tom 40 euros"),
            ("Lin is vegan", "Lin is vegan?"),
            ("Lin mag Tee", "Lin mag keinen Tee"),
            ("version 1.23", "version 12.3"),
        ] {
            assert!(differs(one, other), "{one} / {other}");
        }
    }

    #[test]
    fn small_words_and_endings_do_not() {
        for (one, other) in [
            ("The gateway stays on loopback", "The gateway stays on the loopback"),
            ("Lin prefers green tea", "Lin prefers the green teas"),
        ] {
            assert!(!differs(one, other), "{one} / {other}");
        }
    }
}

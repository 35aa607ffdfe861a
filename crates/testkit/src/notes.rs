//! Notes in any quantity with a vocabulary like that of people: a few words are in every line, most
//! are in hardly any. For benchmarks of search; the same for the same seed.

/// Words in the vocabulary.
const WORDS: usize = 40_000;
/// Lines in one note.
pub const LINES_A_NOTE: usize = 48;
/// The commonest words of a language, which carry no meaning.
const COMMON: &[&str] = &[
    "the", "to", "and", "of", "a", "in", "for", "on", "it", "with", "that", "was", "is", "at",
    "as", "we", "from", "this", "by", "had", "have", "but", "not", "be", "they", "she", "he",
    "you",
];
const NAMES: &[&str] = &["Maria", "John", "Caroline", "Evan", "Melanie", "James"];

/// One note and what could be asked about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GeneratedNote {
    /// Its path in the workspace, such as `memory/2020-01-01-3.md`.
    pub path: String,
    /// Headings and list items.
    pub markdown: String,
    /// A question whose words occur in one of the lines.
    pub question: String,
    /// That line, from 1.
    pub line: usize,
}

/// Returns notes without end.
pub fn notes(seed: u64) -> impl Iterator<Item = GeneratedNote> {
    let mut source = Source { state: seed, vocabulary: vocabulary() };
    (0_usize..).map(move |number| source.note(number))
}

struct Source {
    state: u64,
    vocabulary: Vec<String>,
}

impl Source {
    /// Marsaglia's xorshift with a multiplication.
    fn next(&mut self) -> u64 {
        let mut state = self.state | 1;
        state ^= state >> 12;
        state ^= state << 25;
        state ^= state >> 27;
        self.state = state;
        state.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 16
    }

    fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.next()).unwrap_or(0) % bound
    }

    /// Returns a word: its rank is spread evenly in the logarithm, which is Zipf's law.
    fn word(&mut self) -> String {
        if self.below(100) < 45 {
            return COMMON[self.below(COMMON.len())].to_owned();
        }
        let share = self.below(1_000_000) as f64 / 1_000_000.0;
        let rank = (WORDS as f64).powf(share) as usize;
        self.vocabulary[rank.min(WORDS - 1)].clone()
    }

    fn note(&mut self, number: usize) -> GeneratedNote {
        let (year, rest) = (2000 + number / (12 * 28 * 20) % 60, number % (12 * 28 * 20));
        let (day, part) = (rest / 20, rest % 20);
        let date = format!("{year}-{:02}-{:02}", day / 28 + 1, day % 28 + 1);
        let mut markdown = format!("# {date}\n\n");
        let asked = self.below(LINES_A_NOTE);
        let mut question = String::new();
        let mut line = 0;
        for at in 0..LINES_A_NOTE {
            if at % 12 == 0 {
                let heading = format!("\n## {} {}\n\n", self.word(), self.word());
                markdown.push_str(&heading);
            }
            let name = NAMES[self.below(NAMES.len())];
            let words: Vec<String> = (0..12 + self.below(20)).map(|_| self.word()).collect();
            if at == asked {
                line = markdown.matches('\n').count() + 1;
                let content = words.iter().filter(|word| !COMMON.contains(&word.as_str()));
                let content: Vec<&str> = content.map(String::as_str).take(4).collect();
                question = format!("What did {name} say about {}?", content.join(" and the "));
            }
            markdown.push_str(&format!("- **{name}**: {}.\n", words.join(" ")));
        }
        GeneratedNote { path: format!("memory/{date}-{part}.md"), markdown, question, line }
    }
}

/// Makes words of syllables, the short ones first.
fn vocabulary() -> Vec<String> {
    const HEADS: &[&str] = &[
        "b", "br", "d", "dr", "f", "fl", "g", "gr", "h", "k", "kl", "l", "m", "n", "p", "pl", "r",
        "s", "st", "t", "tr", "v", "w", "z",
    ];
    const TAILS: &[&str] =
        &["a", "an", "ar", "e", "el", "en", "i", "ik", "in", "o", "ol", "on", "u", "ul", "um"];
    let syllables = HEADS.len() * TAILS.len();
    let syllable = |at: usize| format!("{}{}", HEADS[at / TAILS.len()], TAILS[at % TAILS.len()]);
    let word = |number: usize| {
        let mut word = syllable(number * 7 % syllables);
        word.push_str(&syllable(number / syllables * 11 % syllables));
        if number >= syllables * 20 {
            word.push_str(&syllable(number * 13 % syllables));
        }
        word
    };
    (0..WORDS).map(word).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_is_about_its_line() {
        for note in notes(7).take(20) {
            let line = note.markdown.lines().nth(note.line - 1).unwrap();
            let words = note.question.split([' ', '?']).filter(|word| line.contains(word)).count();
            assert!(line.starts_with("- **") && words >= 2, "{} {line}", note.question);
        }
    }

    #[test]
    fn equal_seeds_give_equal_notes() {
        let two = || notes(3).take(3).collect::<Vec<_>>();
        assert_eq!(two(), two());
        assert_ne!(two()[0], two()[1]);
    }
}

//! Secrets that are given as an answer: "What was the NAS password again?", "Gr4nite!Falcon23".
//!
//! Nothing in such an answer names it. The message before does, so both are needed. The rule is
//! narrow: the end of one message asks for a secret or announces one, and the other is little more
//! than one word that does not look like a word.

use std::ops::Range;

use crate::anchors::{ANCHORS, Anchor, FOREIGN_ANCHORS, Rule, SpokenWord};
use crate::shape::{Texture, is_placeholder, is_stand_in, texture};
use crate::{prose, rules, scan};

/// How much of the end of a message is examined.
const END: usize = 240;
/// How many of its last sentences are examined: "What was the password? I forgot it."
const SENTENCES: usize = 2;
/// A longer answer is a sentence of its own.
const MOST_WORDS: usize = 5;
/// A shorter part of a secret may occur anywhere by accident.
const LEAST_PART: usize = 4;

/// Returns what a message asks for or announces at its end, without saying it.
pub(crate) fn asked(message: &str) -> Option<SpokenWord> {
    let end = ending(message);
    let mut asked = None;
    let mut take = |anchor: &Anchor, start: usize| {
        let name = start..start + anchor.literal.len();
        let (word, name) = match anchor.rule {
            Rule::Name(word) => rules::spoken(end.as_bytes(), word, anchor, start),
            Rule::Spoken(word) => (word, name),
            _ => return,
        };
        let is_vague = word == SpokenWord::Pass || anchor.literal == b"login";
        if !is_vague && prose::names(end, name, word) {
            // A password is the surest of them.
            asked = asked.filter(|known| *known == SpokenWord::Password).or(Some(word));
        }
    };
    ANCHORS.each(end.as_bytes(), 0..end.len(), &mut take);
    FOREIGN_ANCHORS.each(end.as_bytes(), 0..end.len(), &mut take);
    asked.filter(|_| scan(end.as_bytes()).is_empty())
}

/// Returns the last sentences of a text.
fn ending(text: &str) -> &str {
    let text = text.trim_end();
    let line = &text[text.rfind('\n').map_or(0, |at| at + 1)..];
    let line = &line[line.ceil_char_boundary(line.len().saturating_sub(END))..];
    let is_stop = |(_, c): &(usize, char)| matches!(c, '.' | '!' | '?' | '。' | '！' | '？');
    let inner = line.trim_end_matches(|c: char| !c.is_alphanumeric());
    let stops = inner.char_indices().rev().filter(is_stop);
    // A stop inside a word ends no sentence.
    let mut stops = stops.filter(|(at, c)| !c.is_ascii() || inner[at + 1..].starts_with(' '));
    stops.nth(SENTENCES - 1).map_or(line, |(at, c)| &line[at + c.len_utf8()..])
}

/// Returns the range of the secret that was asked for in an answer.
pub(crate) fn given(answer: &str, word: SpokenWord) -> Option<Range<usize>> {
    let (start, line) = first_line(answer)?;
    let words = words(line);
    let is_short = words.len() <= MOST_WORDS;
    let fits = |range: &&Range<usize>| is_secret(&line[(*range).clone()], word, words.len());
    let found = if is_short {
        words.iter().find(fits)
    } else {
        let is_strong = |range: &&Range<usize>| is_strong(&line[(*range).clone()]);
        words.first().filter(fits).filter(is_strong)
    };
    found.map(|range| start + range.start..start + range.end)
}

/// Returns a word that is all of a message and may be the rest of a secret.
pub(crate) fn rest_of_secret(message: &str) -> Option<Range<usize>> {
    let (start, line) = first_line(message)?;
    let [word] = &words(line)[..] else { return None };
    let text = &line[word.clone()];
    let has_digit = text.bytes().any(|byte| byte.is_ascii_digit());
    let fits = text.len() >= 6 && has_digit && !prose::refers(text);
    fits.then_some(start + word.start..start + word.end)
}

/// Returns the two parts of a secret that begins at the end of one message and goes on in the next.
pub(crate) fn split<'a>(first: &'a str, second: &'a str) -> Option<[(&'a str, &'static str); 2]> {
    let end = first.trim_end();
    let end = &end[end.ceil_char_boundary(end.len().saturating_sub(END))..];
    let rest = &second[rest_of_secret(second)?];
    let joined = [end, rest].concat();
    let crosses = |range: &Range<usize>| {
        range.start + LEAST_PART <= end.len() && end.len() + LEAST_PART <= range.end
    };
    let hit = scan(joined.as_bytes()).into_iter().find(|hit| crosses(&hit.range))?;
    let part = end.get(hit.range.start..)?;
    // The last word of a sentence does not belong to the next one.
    let is_part = part.bytes().any(|byte| byte.is_ascii_digit())
        && part.ends_with(|c: char| c.is_ascii_alphanumeric() || "_-+/".contains(c));
    is_part.then_some([(part, hit.kind), (rest, hit.kind)])
}

/// Returns the first line that is not empty, and where it begins.
fn first_line(text: &str) -> Option<(usize, &str)> {
    let start = text.len() - text.trim_start().len();
    let line = text[start..].lines().next()?;
    (!line.is_empty()).then_some((start, line))
}

/// Whether it is a letter or sign of a script that has no spaces.
pub(crate) fn is_ideograph(c: char) -> bool {
    ('\u{3000}'..='\u{ffef}').contains(&c)
}

/// Returns the words of a line, without quotes, punctuation and the letters of Chinese around them.
fn words(line: &str) -> Vec<Range<usize>> {
    let trimmed = |token: Range<usize>| {
        let raw = &line[token.clone()];
        let text = prose::bare(raw.trim_matches(is_ideograph));
        let start = token.start + raw.find(text).unwrap_or(0);
        start..start + text.len()
    };
    prose::tokens(line).take(MOST_WORDS + 1).map(trimmed).collect()
}

/// Whether a word of an answer with so many words is the secret.
fn is_secret(text: &str, word: SpokenWord, words: usize) -> bool {
    if prose::refers(text) {
        return false;
    }
    match word {
        SpokenWord::Pin => prose::is_number(text, 4..=8),
        SpokenWord::Token | SpokenWord::Secret | SpokenWord::Key => {
            let is_random = texture(text.as_bytes()) == Texture::Random;
            text.len() >= 8 && is_random && !is_placeholder(text.as_bytes())
        }
        SpokenWord::Password | SpokenWord::Pass | SpokenWord::Ideographic | SpokenWord::Login => {
            let is_year = text.len() == 4 && (text.starts_with("19") || text.starts_with("20"));
            let is_number = words <= 2 && prose::is_number(text, 4..=16) && !is_year;
            let is_letters = text.chars().all(char::is_alphabetic);
            let has_digit = text.chars().any(|c| c.is_ascii_digit());
            let is_made_up = prose::is_made_up(text) && (has_digit || words == 1 && !is_letters);
            is_number || is_made_up && !is_stand_in(text.as_bytes())
        }
    }
}

/// Whether a word at the start of a sentence is no name of a product either.
fn is_strong(text: &str) -> bool {
    let has = |test: fn(char) -> bool| text.chars().any(test);
    text.chars().count() >= 8
        && has(|c| c.is_ascii_digit())
        && has(char::is_alphabetic)
        && has(|c| "!@#$%^&*".contains(c))
}

#[cfg(test)]
mod tests {
    use crate::SecretValues;

    fn redacted(messages: &[&str]) -> Vec<String> {
        let mut values = SecretValues::default();
        for (at, message) in messages.iter().enumerate() {
            values.learn(message);
            values.learn_answer(message, &messages[at + 1..]);
        }
        messages.iter().map(|message| values.redact(message).0.into_owned()).collect()
    }

    #[test]
    fn an_answer_to_a_question_for_a_secret_is_one() {
        let secret = "Gr4nite!Falcon23";
        for question in [
            "What was the NAS password again?",
            "What was the NAS password again? I forgot it.",
            "I can do that.\n\nPlease send me the **NAS password**:",
            "Here comes the wifi password",
            "Wie war das NAS-Passwort noch mal?",
            "Wie lautet das Kennwort?",
            "¿Cuál es la contraseña del NAS?",
            "Quel est le mot de passe du NAS ?",
            "Какой пароль от NAS?",
            "NAS 的密码是什么？",
            "NASのパスワードは何ですか？",
            "What are the credentials?",
        ] {
            for answer in ["X", "X.", "it's X", "`X`", "X, but do not tell anybody of it", "是X"] {
                let answer = answer.replace('X', secret);
                let texts = redacted(&[question, &answer, &format!("Saved {secret}.")]);
                assert!(!texts.concat().contains("Falcon"), "{question} {texts:?}");
                assert_eq!(texts[0], question);
            }
        }
        for (question, answer) in [
            ("What is the wifi password?", "password1"),
            ("What is the wifi password?", "12345678"),
            ("And the PIN?", "4711"),
            ("Which API key should I use?", "a8Kq2mPz71xLw90d"),
            ("What is the password?", "granite-falcon-lantern-reef"),
        ] {
            assert!(redacted(&[question, answer])[1].starts_with("[redacted:"), "{answer}");
        }
    }

    #[test]
    fn an_announcement_may_be_acknowledged_before_the_secret_comes() {
        let texts = redacted(&["I'll send you the NAS password.", "Go ahead", "Gr4nite!Falcon23"]);
        assert_eq!(texts[1..], ["Go ahead", "[redacted:password]"]);
    }

    #[test]
    fn a_token_in_two_messages_is_replaced_in_both() {
        let (first, second) = ("ghp_aB3dE5gH7jaB3dE5", "gH7jaB3dE5gH7jaB3dE5");
        for question in ["Send the GitHub token, please", "Hello"] {
            let texts = redacted(&[question, first, second]);
            assert!(!texts.concat().contains("aB3dE5"), "{texts:?}");
        }
        let texts = redacted(&[&format!("The token is {first}"), second]);
        assert!(!texts.concat().contains("aB3dE5"), "{texts:?}");
    }

    #[test]
    fn other_answers_stay() {
        for (question, answer) in [
            ("Which colour?", "blue"),
            ("Which colour?", "Blue42!x"),
            ("What was the NAS password again?", "I do not know"),
            ("What was the NAS password again?", "Forgotten"),
            ("What was the NAS password again?", "It is in the vault"),
            ("What was the NAS password again?", "see notes.md"),
            ("What was the NAS password again?", "mara@reef.sea"),
            ("When did you change the password?", "2026-11-16"),
            ("Which password manager do you use?", "Bitwarden2"),
            ("Which hash does the password have?", "sha256"),
            ("How many tokens does it have?", "128000"),
            ("Did the tests pass?", "v2.3.1-rc1"),
            ("Which pin is the LED on?", "GPIO17"),
            ("The password works now. Thanks! Which version?", "Node22"),
            ("What is the password?", "<password1>"),
            ("What is the password? I wrote a long text\n\nWhich release?", "R2D2-build7"),
        ] {
            assert_eq!(redacted(&[question, answer])[1], answer, "{question}");
        }
    }
}

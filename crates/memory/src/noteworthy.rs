//! Which sessions get a note, and which parts of a conversation it contains.
//!
//! A note that repeats an unanswered question makes a memory worse: a search finds it before the
//! fact that would have answered the question. So such questions are dropped, and a session gets a
//! note only when the user stated something that the memory does not contain yet.

use anemone_format::word_enum;

use crate::capture::{kind_of, sentences};
use crate::phrase::{find, folded, is_wide};
use crate::sameness::comparable;

/// With fewer messages by the user, a session needs a statement that is worth keeping by rule.
const LEAST_TURNS: usize = 2;
/// A sentence with fewer words is a courtesy, such as "thanks a lot".
const LEAST_WORDS: usize = 4;
/// A longer reply says something, even if it also says that something is not known.
const MOST_EXCUSE_CHARS: usize = 240;

/// The word for the user among those who speak.
const USER: &str = "user";

/// How questions begin that end without a question mark. Verbs are not among them: "Will comes on
/// Monday" is none.
const QUESTION_WORDS: &[&str] = &[
    "what", "what's", "who", "who's", "whom", "whose", "when", "where", "where's", "why", "how",
    "which", "wer", "wem", "wen", "wann", "wo", "warum", "wieso", "weshalb", "wie", "welche",
    "welcher", "welches", "qué", "quién", "cuándo", "dónde", "cómo", "cuál", "quand", "où",
    "pourquoi", "comment", "quel", "quelle", "combien",
];
/// Words that may precede the first one that counts.
const JOINS: &[&str] = &["and", "but", "so", "then", "ok", "okay", "und", "aber", "y", "et"];
/// How people ask without a question.
const REQUESTS: &[&str] = &["tell me|remind me|do you know|sag mir|dime|dis-moi|告诉我|教えて"];
/// Ways of saying that there is no answer.
const EXCUSES: &[&str] = &[
    "i don't know|i do not know|i don't have|i do not have|i'm not sure|i am not sure|no idea",
    "could not find|couldn't find|can't find|cannot find|did not find|didn't find|found nothing",
    "no record|no information|no memory of|nothing about|not mentioned|unable to find",
    "weiß ich nicht|weiss ich nicht|ich weiß nicht|ich weiss nicht|keine ahnung|nicht gefunden",
    "no lo sé|no sé|no encontré|ni idea",
    "je ne sais pas|je n'ai pas trouvé|aucune idée",
    "不知道|没有找到|不清楚",
    "わかりません|分かりません|知りません|見つかりません",
];

word_enum! {
    /// Why a session gets no note.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum NoteSkipReason {
        /// The user said too little.
        TooShort = "too_short",
        /// The user only asked.
        OnlyQuestions = "only_questions",
        /// The memory has everything already.
        Known = "known",
    }
}

/// Returns the positions of the messages of a conversation that are neither unanswered questions
/// nor replies to them.
#[must_use]
pub fn without_unanswered(said: &[(&str, &str)]) -> Vec<usize> {
    let mut kept = Vec::new();
    let mut rest = said;
    while let Some((first, after)) = rest.split_first() {
        let at = said.len() - rest.len();
        let replies = after.iter().take_while(|(role, _)| *role != USER).count();
        let (replies, later) = after.split_at(replies);
        let is_unanswered = first.0 == USER
            && is_question(first.1)
            && replies.iter().all(|reply| is_excuse(reply.1));
        if !is_unanswered {
            kept.extend(at..=at + replies.len());
        }
        rest = later;
    }
    kept
}

/// Says why a conversation is not worth a note; `None` if it is, judged without the memory.
#[must_use]
pub fn not_worth_noting(said: &[(&str, &str)]) -> Option<NoteSkipReason> {
    let mut turns = said.iter().filter(|(role, _)| *role == USER).map(|(_, text)| *text);
    let is_kept_by_rule = turns
        .clone()
        .any(|turn| sentences(turn).into_iter().any(|sentence| kind_of(sentence).is_some()));
    if is_kept_by_rule {
        return None;
    }
    if turns.clone().count() < LEAST_TURNS {
        return Some(NoteSkipReason::TooShort);
    }
    let states_something = turns.any(|turn| sentences(turn).into_iter().any(is_statement));
    (!states_something).then_some(NoteSkipReason::OnlyQuestions)
}

/// Searches a memory for the statements of a conversation, one text after the other.
#[derive(Debug)]
pub struct UnknownStatements(Vec<String>);

impl UnknownStatements {
    /// Takes every statement of a conversation, from any speaker.
    #[must_use]
    pub fn of(said: &[(&str, &str)]) -> Self {
        let all = said.iter().flat_map(|(_, text)| sentences(text));
        let mut all: Vec<String> =
            all.filter(|value| is_statement(value)).map(comparable).collect();
        all.sort_unstable();
        all.dedup();
        Self(all)
    }

    /// Takes out the statements that a text makes.
    pub fn look_in(&mut self, text: &str) {
        if self.0.is_empty() {
            return;
        }
        let known: Vec<String> = text.lines().flat_map(sentences).map(comparable).collect();
        let says = |known: &String, wanted: &str| {
            let (known, wanted) = (format!(" {known} "), format!(" {wanted} "));
            known.contains(&wanted)
        };
        self.0.retain(|wanted| !known.iter().any(|value| says(value, wanted)));
    }

    /// Whether every statement was found.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Whether a message asks something, and states nothing besides.
fn is_question(message: &str) -> bool {
    let sentences = sentences(message);
    sentences.iter().any(|sentence| asks(sentence)) && !sentences.into_iter().any(is_statement)
}

/// Whether a sentence asks something.
pub(crate) fn asks(sentence: &str) -> bool {
    if sentence.trim_end().ends_with(['?', '？']) {
        return true;
    }
    let text = folded(sentence);
    let mut words =
        text.split([' ', ',']).skip_while(|part| part.is_empty() || JOINS.contains(part));
    words.next().is_some_and(|word| QUESTION_WORDS.contains(&word))
        || REQUESTS.iter().any(|request| find(&text, request).is_some_and(|range| range.start == 0))
}

/// Whether a sentence states something, and is no courtesy.
pub(crate) fn is_statement(sentence: &str) -> bool {
    has_substance(sentence) && !asks(sentence)
}

/// Whether a sentence is long enough to say something; scripts without spaces count letters.
fn has_substance(sentence: &str) -> bool {
    let wide = sentence.chars().filter(|character| is_wide(*character)).count();
    sentence.split_whitespace().count() + wide >= LEAST_WORDS
}

/// Whether a reply says that there is no answer.
fn is_excuse(reply: &str) -> bool {
    let text = folded(reply);
    text.chars().count() <= MOST_EXCUSE_CHARS
        && EXCUSES.iter().any(|excuse| find(&text, excuse).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_that_nobody_answered_is_dropped_with_its_replies() {
        let said = [
            ("user", "What is Lin allergic to?"),
            ("assistant", "I could not find it."),
            ("user", "where does Lin live"),
            ("user", "The tour starts at nine on Friday."),
            ("assistant", "Noted."),
            ("user", "How long is it?"),
            ("assistant", "It takes two hours."),
            ("user", "And then?"),
            ("user", "ok"),
        ];
        let kept = without_unanswered(&said);
        assert_eq!(kept, [3, 4, 5, 6, 8]);
        for reply in ["Sorry, no idea.", "I do not know that.", "Das weiß ich nicht.", "我不知道。"]
        {
            assert!(without_unanswered(&[said[0], ("assistant", reply)]).is_empty(), "{reply}");
        }
        let long = format!("I don't know the street. {}", "Lin lives by the harbour. ".repeat(20));
        assert_eq!(without_unanswered(&[said[2], ("assistant", &long)]).len(), 2);
    }

    #[test]
    fn a_session_needs_a_statement_of_the_user() {
        use NoteSkipReason::{OnlyQuestions, TooShort};
        for (said, wanted) in [
            (&[][..], Some(TooShort)),
            (&["What is Lin allergic to?"], Some(TooShort)),
            (&["Fix the flaky scheduler test"], Some(TooShort)),
            (&["I prefer tea to coffee."], None),
            (&["Remember that the gauge reads 12 cm low."], None),
            (&["What is Lin allergic to?", "and where does Lin live"], Some(OnlyQuestions)),
            (&["What is Lin allergic to?", "thanks a lot"], Some(OnlyQuestions)),
            (&["Fix the flaky scheduler test", "ok"], None),
            (&["好", "今天讨论了迁移方案。"], None),
        ] {
            let said: Vec<_> = said.iter().map(|value| ("user", *value)).collect();
            assert_eq!(not_worth_noting(&said), wanted, "{said:?}");
        }
        let by_assistant = [("assistant", "I prefer tea to coffee."), ("user", "ok")];
        assert_eq!(not_worth_noting(&by_assistant), Some(TooShort));
    }

    #[test]
    fn statements_that_a_memory_has_are_found_and_a_correction_is_not() {
        let said = [("user", "Lin is allergic to hazelnuts! Right?"), ("assistant", "Yes.")];
        let is_known = |text: &str| {
            let mut unknown = UnknownStatements::of(&said);
            unknown.look_in(text);
            unknown.is_empty()
        };
        assert!(is_known("# Lin\n\n- **food**: Lin is allergic to hazelnuts. <!-- x -->\n"));
        assert!(is_known("- We know that Lin is allergic to hazelnuts and to rain.\n"));
        assert!(!is_known("- Lin is not allergic to hazelnuts.\n"));
        assert!(!is_known("- Lin likes hazelnuts.\n"));
    }
}

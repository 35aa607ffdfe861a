//! Whether a block is a note or part of a conversation, and whether it contains information.
//!
//! Conversations repeat questions word for word, so they match a question better than the note that
//! answers it. A question contains no answer, and neither does a reply that says "I don't know";
//! the ranking must distinguish them from statements. The rules are about form: speaker labels,
//! question marks, and the ways of saying that something is not known in the languages below. They
//! apply to conversations only; a note that contains a question stays a note.

use std::collections::HashSet;
use std::sync::LazyLock;

use anemone_markdown::{byte_order_mark, front_matter};

use crate::document::{Document, Format};

mod unknown;

pub(crate) use unknown::says_unknown;

/// The kind of a block, as far as ranking depends on it. The numbers are stored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Voice {
    /// A note.
    #[default]
    Statement = 0,
    /// Something said in a conversation.
    Said = 1,
    /// A question in a conversation.
    Asked = 2,
    /// A block without information: a reply that says that nothing is known, or the head of a
    /// session's note.
    Empty = 3,
}

impl Voice {
    /// Returns the voice with a stored number.
    pub(crate) fn of_number(number: u32) -> Option<Self> {
        let all = [Self::Statement, Self::Said, Self::Asked, Self::Empty];
        all.get(number as usize).copied()
    }

    /// Whether it contains no answer to any question.
    pub(crate) fn is_open(self) -> bool {
        matches!(self, Self::Asked | Self::Empty)
    }
}

/// How much of a document is conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Conversation {
    /// None of it.
    None,
    /// The blocks that begin with a speaker.
    Labelled,
    /// All of it.
    Whole,
}

/// One side of a conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Speaker {
    User,
    Assistant,
}

/// The first heading of the note of a session, as OpenClaw and Anemone write it.
const SESSION_HEADING: &str = "# Session:";
/// The namespace of rows that a runtime saved from a conversation automatically.
const CONVERSATION: &str = "conversation";
/// The first lines of a session's note.
const HEAD: [&str; 4] =
    ["- **Session Key**:", "- **Session ID**:", "- **Source**:", "- **Reason**:"];
/// A speaker's label is at most this long, in bytes.
const MAX_LABEL: usize = 40;

const USERS: &str = "user human benutzer nutzer usuario usuário utilisateur utente gebruiker пользователь \
     المستخدم 用户 ユーザー";
const ASSISTANTS: &str = "assistant ai assistent asistente assistente ассистент помощник المساعد 助手 助理 アシスタント model";

impl Conversation {
    /// Determines how much of a document is conversation.
    pub(crate) fn of(document: &Document) -> Self {
        if document.format == Format::Transcript
            || document.namespace.as_deref() == Some(CONVERSATION)
            || is_session_note(&document.text)
        {
            return Self::Whole;
        }
        let (mut user, mut assistant) = (false, false);
        for line in document.text.lines() {
            match speaker(line) {
                Some((Speaker::User, _)) => user = true,
                Some((Speaker::Assistant, _)) => assistant = true,
                None => continue,
            }
            if user && assistant {
                return Self::Labelled;
            }
        }
        Self::None
    }

    /// Determines the kind of a block of such a document.
    pub(crate) fn voice(self, text: &str) -> Voice {
        if self == Self::None {
            return Voice::Statement;
        }
        match (speaker(text), self) {
            (None, Self::Whole) if HEAD.iter().any(|start| text.starts_with(start)) => Voice::Empty,
            (None, Self::Whole) => turn(None, text),
            (None, _) => Voice::Statement,
            (Some((speaker, said)), _) => turn(Some(speaker), said),
        }
    }
}

/// Whether a text is the note of a session: its first heading says so. Front matter may precede it.
fn is_session_note(text: &str) -> bool {
    let start = front_matter(text).map_or(byte_order_mark(text), |matter| matter.end);
    text[start..].trim_start().starts_with(SESSION_HEADING)
}

/// Returns whether a line begins a turn of a conversation: it starts with the name of a side.
#[must_use]
pub fn begins_turn(line: &str) -> bool {
    speaker(line).is_some()
}

/// Reads the speaker at the beginning of a line, and returns what follows the colon.
pub(crate) fn speaker(line: &str) -> Option<(Speaker, &str)> {
    let marks = |c: char| c.is_whitespace() || matches!(c, '-' | '*' | '+' | '>' | '_' | '[');
    let rest = line.trim_start_matches(marks);
    let colon = rest.char_indices().find(|(_, c)| matches!(c, ':' | '：' | '\n'))?;
    if colon.1 == '\n' || colon.0 > MAX_LABEL {
        return None;
    }
    let label = rest[..colon.0].trim_end_matches(['*', '_', ']', ' ']);
    let is_one_of = |names: &str| {
        names.split(' ').any(|name| {
            label.len() == name.len()
                && (label.eq_ignore_ascii_case(name) || label.to_lowercase() == name)
        })
    };
    let said = rest[colon.0 + colon.1.len_utf8()..].trim_start_matches(['*', '_', ' ']);
    if is_one_of(USERS) {
        Some((Speaker::User, said))
    } else if is_one_of(ASSISTANTS) {
        Some((Speaker::Assistant, said))
    } else {
        None
    }
}

/// Determines the kind of a turn: a question when at least half of its words ask; empty when they
/// say that nothing is known, or when a reply begins by saying so.
fn turn(speaker: Option<Speaker>, text: &str) -> Voice {
    let (mut all, mut asked, mut unknown) = (0, 0, 0);
    let mut begins_unknown = false;
    for (position, sentence) in sentences(text).enumerate() {
        let words = word_count(sentence);
        all += words;
        if asks(sentence) {
            asked += words;
        } else if speaker != Some(Speaker::User) && says_unknown(sentence) {
            unknown += words;
            begins_unknown |= position == 0;
        }
    }
    if begins_unknown || (unknown > asked && 2 * (asked + unknown) >= all) {
        Voice::Empty
    } else if all > 0 && 2 * (asked + unknown) >= all {
        Voice::Asked
    } else {
        Voice::Said
    }
}

/// Cuts a text after its sentences; the marks at their ends stay with them.
fn sentences(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        rest = rest.trim_start_matches(|c: char| c.is_whitespace() || is_quote(c));
        if rest.is_empty() {
            return None;
        }
        let mut end = rest.len();
        let mut characters = rest.char_indices().peekable();
        while let Some((at, c)) = characters.next() {
            let next = characters.peek().map(|&(_, c)| c);
            let ends = match c {
                '\n' | '。' | '！' | '？' | '؟' => true,
                '.' | '!' | '?' => next.is_none_or(|c| c.is_whitespace() || is_quote(c)),
                _ => false,
            };
            if ends {
                end = at + c.len_utf8();
                break;
            }
        }
        let (sentence, after) = rest.split_at(end);
        rest = after;
        Some(sentence)
    })
}

fn is_quote(c: char) -> bool {
    matches!(c, '"' | '“' | '”' | '„' | '«' | '»' | '「' | '」' | '*' | '_' | ')' | '(' | '\\')
}

/// Counts words; two signs of a script without spaces are about a word.
fn word_count(text: &str) -> usize {
    let wide = text.chars().filter(|c| is_wide(*c)).count();
    let is_inside = |c: char| (c.is_alphanumeric() || matches!(c, '\'' | '’')) && !is_wide(c);
    text.split(|c: char| !is_inside(c)).filter(|word| !word.is_empty()).count() + wide.div_ceil(2)
}

fn is_wide(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}')
}

/// Words that begin a question, language by language: English, German, Spanish, French, Italian and
/// Portuguese, Dutch, Russian, Arabic. Few people type a question mark in a chat.
static ASKING: LazyLock<HashSet<&str>> = LazyLock::new(|| {
    let words = "
        what what's whats who who's whose when when's where where's which why how how's remind
        was wer wann wo wohin woher welche welcher welches warum wieso weshalb wie wessen
        qué quién quiénes cuándo dónde cuál cómo cuánto cuántos cuánta cuántas
        quel quelle quels quelles qui quand où pourquoi comment combien
        quando dove quale perché quem qual onde
        wat wanneer waar welk welke waarom
        что кто когда где куда какой какая почему сколько
        متى أين كيف لماذا كم";
    words.split_whitespace().collect()
});
/// Words that mark a question without a question mark, in scripts without spaces.
const ASKING_WIDE: [&str; 12] =
    ["什么", "谁", "哪", "几点", "多少", "怎么", "为什么", "吗", "何", "誰", "いつ", "どこ"];

/// Whether a sentence is a question.
fn asks(sentence: &str) -> bool {
    let sentence = sentence.trim_end_matches(|c: char| c.is_whitespace() || is_quote(c));
    if sentence.ends_with(['?', '？', '؟']) {
        return true;
    }
    // "When I was in Rome, I lost it." is not a question.
    if sentence.ends_with(['.', '!', '。', '！', ':']) {
        return false;
    }
    if ASKING_WIDE.iter().any(|word| sentence.contains(word)) {
        return true;
    }
    let is_inside = |c: char| c.is_alphanumeric() || matches!(c, '\'' | '’');
    let first = sentence.split(|c: char| !is_inside(c)).find(|word| !word.is_empty());
    let first = first.unwrap_or_default().to_lowercase().replace('’', "'");
    ASKING.contains(first.as_str())
}

#[cfg(test)]
mod tests;

//! Separates what the speaker said from what a program injected into the message.

use super::injected::all;
use crate::kit::WordList;

/// What is left of a message.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum CleanText {
    /// What was said, and how many blocks were taken out of it.
    Said { text: String, injected: u64 },
    /// A command to the runtime.
    Command,
    /// The text was written by a program.
    System,
    /// The message held only injected text.
    Nothing { injected: u64 },
}

/// Elements that programs put into messages, by name: from `<name` to `</name`.
const ELEMENTS: WordList = WordList(include_str!("clean/elements.txt"));

/// Separates what was said from what was injected.
pub(super) fn clean(text: &str) -> CleanText {
    let text = text.trim();
    if all(|texts| texts.nothings).any(|nothing| nothing == text)
        || all(|texts| texts.messages).any(|start| text.starts_with(start))
    {
        return CleanText::System;
    }
    if is_command(text) || all(|texts| texts.commands).any(|command| text.starts_with(command)) {
        return CleanText::Command;
    }
    let mut injected = 0;
    let text = without_elements(text, &mut injected);
    let text = without_metadata(&without_blocks(&text, &mut injected), &mut injected);
    let text = without_context(text.trim(), &mut injected);
    let text = without_ids(text).trim().to_owned();
    // The injected text may have preceded a command.
    if is_command(&text) {
        return CleanText::Command;
    }
    if text.is_empty() {
        CleanText::Nothing { injected }
    } else {
        CleanText::Said { text, injected }
    }
}

/// Removes sections marked as private, from `<private>` to `</private>`, and returns how many there
/// were. A section without an end extends to the end of the text.
#[must_use]
pub fn without_private(text: &str) -> (String, u64) {
    let found = private_sections(text);
    (found.text, found.sections)
}

/// A message without its private sections, and whether sections extend beyond the message.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct PrivateSections {
    /// The remaining text; a `</private>` without an opening tag here remains too.
    pub(super) text: String,
    /// How many sections there were.
    pub(super) sections: u64,
    /// The remaining text after the last `</private>` without an opening tag here: an earlier
    /// message may have opened the section.
    pub(super) behind_close: Option<String>,
    /// Whether the last section does not end here; a later message may end it.
    pub(super) ends_open: bool,
}

/// Separates private sections from the rest of a message.
pub(super) fn private_sections(text: &str) -> PrivateSections {
    const OPEN: &str = "<private>";
    const CLOSE: &str = "</private>";
    // Only ASCII letters change their case, so positions are the same in both texts.
    let lower = text.to_ascii_lowercase();
    let mut found = PrivateSections::default();
    let (mut from, mut depth) = (0, 0_usize);
    let mut at = 0;
    while let Some(tag) = lower[at..].find('<').map(|tag| at + tag) {
        at = tag + 1;
        if lower[tag..].starts_with(OPEN) {
            at = tag + OPEN.len();
            // Sections within a section end with the outermost one.
            if depth == 0 {
                found.sections += 1;
                found.push(&text[from..tag]);
            }
            depth += 1;
        } else if lower[tag..].starts_with(CLOSE) {
            at = tag + CLOSE.len();
            if depth == 0 {
                found.push(&text[from..at]);
                found.behind_close = Some(String::new());
                from = at;
            }
            if depth == 1 {
                from = at;
            }
            depth = depth.saturating_sub(1);
        }
    }
    found.ends_open = depth > 0;
    if depth == 0 {
        found.push(&text[from..]);
    }
    found
}

impl PrivateSections {
    fn push(&mut self, text: &str) {
        self.text.push_str(text);
        if let Some(behind) = &mut self.behind_close {
            behind.push_str(text);
        }
    }
}

/// Returns whether a text is a command such as `/new` or `/model opus`, and no path.
fn is_command(text: &str) -> bool {
    let Some(rest) = text.strip_prefix('/') else { return false };
    let word = rest.split(char::is_whitespace).next().unwrap_or_default();
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | ':');
    word.starts_with(|c: char| c.is_ascii_alphabetic())
        && word.chars().all(is_plain)
        && !text.contains('\n')
}

/// Removes elements; one without an end extends to the end of the text.
fn without_elements(text: &str, injected: &mut u64) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('<') {
        let (before, after) = rest.split_at(at);
        let name = ELEMENTS.iter().find(|name| {
            let tail = after[1..].strip_prefix(*name);
            tail.is_some_and(|tail| tail.starts_with(['>', ' ', '\n']))
        });
        out.push_str(before);
        let Some(name) = name else {
            out.push('<');
            rest = &after[1..];
            continue;
        };
        *injected += 1;
        let close = format!("</{name}");
        let end = after.find(&close).map(|value| value + close.len());
        let end = end.and_then(|end| after[end..].find('>').map(|more| end + more + 1));
        rest = end.map_or("", |end| &after[end..]);
    }
    out.push_str(rest);
    out
}

fn without_blocks(text: &str, injected: &mut u64) -> String {
    let mut text = text.to_owned();
    for (open, close) in all(|texts| texts.blocks) {
        while let Some(start) = text.find(open) {
            let after = start + open.len();
            let end =
                text[after..].find(close).map_or(text.len(), |text| after + text + close.len());
            text.replace_range(start..end, "");
            *injected += 1;
        }
    }
    text
}

/// Removes headings of metadata with the fence that follows each.
fn without_metadata(text: &str, injected: &mut u64) -> String {
    let mut text = text.to_owned();
    for open in all(|texts| texts.metadata) {
        while let Some(start) = text.find(open) {
            let after = start + open.len();
            let fence = text[after..].find("```").map(|text| after + text + 3);
            let end = fence.and_then(|from| text[from..].find("```").map(|text| from + text + 3));
            text.replace_range(start..end.unwrap_or(text.len()), "");
            *injected += 1;
        }
    }
    text
}

/// Removes the memories that a runtime puts before a message, up to an empty line.
fn without_context<'a>(text: &'a str, injected: &mut u64) -> &'a str {
    if !all(|texts| texts.memories).any(|head| text.starts_with(head)) {
        return text;
    }
    *injected += 1;
    text.split_once("\n\n").map_or("", |(_, rest)| rest)
}

/// Removes lines that only name a message.
fn without_ids(text: &str) -> String {
    let is_id = |line: &&str| line.starts_with("[message_id:") && line.ends_with(']');
    let lines: Vec<_> = text.split('\n').filter(|part| !is_id(&part.trim())).collect();
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(text: &str, injected: u64) -> CleanText {
        CleanText::Said { text: text.to_owned(), injected }
    }

    #[test]
    fn what_a_person_said_stays_as_it_is() {
        for text in ["hello", "/etc/hosts is wrong", "a < b and <b>c</b>", "1/2", "<thinker>"] {
            assert_eq!(clean(text), said(text, 0), "{text}");
        }
        assert_eq!(clean("/ what\nnow"), said("/ what\nnow", 0));
    }

    #[test]
    fn what_is_marked_as_private_is_taken_out() {
        for (text, wanted, sections) in [
            ("no tags", "no tags", 0),
            ("a <private>b</private> c", "a  c", 1),
            ("<PRIVATE>b\nc</Private>d<private>e</private>", "d", 2),
            ("a <private>b <private>c</private> d</private> e", "a  e", 1),
            ("a <private>never closed", "a ", 1),
            ("a</private> b", "a</private> b", 0),
            ("ä<private>ö</private>ü", "äü", 1),
        ] {
            assert_eq!(without_private(text), (wanted.to_owned(), sections), "{text}");
        }
    }

    #[test]
    fn commands_are_no_messages() {
        for text in ["/new", " /reset soft", "/model opus", "/mcp:run x", "<command-name>/clear"] {
            assert_eq!(clean(text), CleanText::Command, "{text}");
        }
    }

    #[test]
    fn what_a_program_says_is_no_message() {
        for text in ["NO_REPLY", "HEARTBEAT_OK", "[cron:daily] do it", "[heartbeat task] x"] {
            assert_eq!(clean(text), CleanText::System, "{text}");
        }
    }

    #[test]
    fn what_was_put_in_is_taken_out() {
        for (text, wanted, injected) in [
            ("<system-reminder>be good</system-reminder>\nhello", "hello", 1),
            ("hi <relevant-memories>\n1. x\n</relevant-memories> there", "hi  there", 1),
            ("<recalled-memory 7f>\n| x\n</recalled-memory 7f>\nhi", "hi", 1),
            ("<think>hm</think>Yes.<think>never closed", "Yes.", 2),
            ("[Memory context]\n- a: b\n\nwhat is b?", "what is b?", 1),
            (
                "Conversation info (untrusted metadata):\n```json\n{\"a\":1}\n```\n\nhello",
                "hello",
                1,
            ),
            ("x BEGIN_QUOTED_NOTES\ny\nEND_QUOTED_NOTES z", "x  z", 1),
            ("hello\n[message_id: 17]", "hello", 0),
        ] {
            assert_eq!(clean(text), said(wanted, injected), "{text}");
        }
        assert_eq!(clean("[Memory context]\n- a: b"), CleanText::Nothing { injected: 1 });
    }
}

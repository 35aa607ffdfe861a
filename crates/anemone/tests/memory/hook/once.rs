//! Each message of a session is noted once, in whatever order a program calls its hooks.

use std::collections::{BTreeMap, BTreeSet};

use anemone::hooks::pre_compact::FlushBy;
use anemone::hooks::session_end::session_end;
use anemone_memory::NoteForm;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::Hooks;

/// What happens to a session.
#[derive(Clone, Debug)]
enum SessionEvent {
    /// So many turns of a user and the agent.
    Talk { turns: usize },
    /// Claude Code is about to compact, and calls the hook.
    PreCompact,
    /// The conversation is compacted: a boundary and a summary follow what was said.
    Compact,
    /// A program compacts by rewriting the transcript: a summary, and so many of the last messages.
    Rewrite { kept: usize },
    /// The session ends; it may be resumed.
    End { form: Option<NoteForm>, messages: u32 },
    /// Somebody edits the newest note.
    Edit,
}

fn event() -> impl Strategy<Value = SessionEvent> {
    let form = prop_oneof![
        3 => Just(None),
        1 => Just(Some(NoteForm::Gen3)),
        1 => Just(Some(NoteForm::Gen9)),
    ];
    let messages = prop_oneof![Just(15), Just(2), Just(30)];
    prop_oneof![
        5 => (1..12_usize).prop_map(|turns| SessionEvent::Talk { turns }),
        3 => Just(SessionEvent::PreCompact),
        2 => Just(SessionEvent::Compact),
        1 => (0..8_usize).prop_map(|kept| SessionEvent::Rewrite { kept }),
        3 => (form, messages).prop_map(|(form, messages)| SessionEvent::End { form, messages }),
        1 => Just(SessionEvent::Edit),
    ]
}

/// A session of Claude Code, and what has to be noted of it.
struct Session {
    hooks: Hooks,
    /// Whether the transcript says when something was said.
    has_times: bool,
    /// Everything that was said, by whom.
    said: Vec<(&'static str, String)>,
    /// The lines of the transcript, each with the message in it.
    lines: Vec<(Option<usize>, String)>,
    noted: BTreeSet<usize>,
    edits: usize,
}

impl Session {
    fn new(has_times: bool) -> Self {
        let (said, lines) = (Vec::new(), Vec::new());
        Self { hooks: Hooks::new(), has_times, said, lines, noted: BTreeSet::new(), edits: 0 }
    }

    fn say(&mut self, role: &'static str, text: String) {
        let number = self.said.len();
        let mut line = json!({ "type": role, "sessionId": "c1", "entrypoint": "cli",
            "message": { "role": role, "content": text } });
        if self.has_times {
            line["timestamp"] =
                format!("2026-11-16T10:{:02}:{:02}Z", number / 60, number % 60).into();
        }
        self.said.push((role, text));
        self.lines.push((Some(number), line.to_string()));
    }

    fn happen(&mut self, event: &SessionEvent) {
        match event {
            SessionEvent::Talk { turns } => {
                for _ in 0..*turns {
                    let number = self.said.len();
                    self.say("user", format!("Remember that buoy {number} is red."));
                    // Without times, only its text tells a message from others.
                    let answer = match self.has_times {
                        true => "Noted.".to_owned(),
                        false => format!("Buoy {number} is noted."),
                    };
                    self.say("assistant", answer);
                }
            }
            SessionEvent::PreCompact => self.pre_compact(),
            SessionEvent::Compact => {
                let boundary = json!({ "type": "system", "subtype": "compact_boundary",
                    "uuid": self.lines.len().to_string(), "sessionId": "c1" });
                self.lines.push((None, boundary.to_string()));
                self.lines.push((None, summary()));
            }
            // No program drops what nobody saved.
            SessionEvent::Rewrite { .. } if self.noted.is_empty() => {}
            SessionEvent::Rewrite { kept } => {
                self.lines.retain(|(message, _)| message.is_some());
                let gone = self.lines.len().saturating_sub(*kept);
                self.lines.splice(..gone, [(None, summary())]);
            }
            SessionEvent::End { form, messages } => self.end(*form, *messages),
            SessionEvent::Edit => {
                if let Some(newest) = self.hooks.notes().last() {
                    let text = self.hooks.note(newest) + "My own line.\n";
                    self.hooks.write(&format!("ws/memory/{newest}"), text);
                    self.edits += 1;
                }
            }
        }
    }

    /// Writes the transcript, and returns the input of a hook.
    fn told(&self, moment: &str) -> Value {
        let lines: Vec<&str> = self.lines.iter().map(|(_, line)| line.as_str()).collect();
        self.hooks.write("c1.jsonl", lines.join("\n"));
        json!({ "session_id": "c1", "hook_event_name": moment, "cwd": "/",
            "transcript_path": self.hooks.path("c1.jsonl") })
    }

    fn pre_compact(&mut self) {
        let told = self.told("PreCompact");
        let report = self.hooks.compact(|request| {
            request.input = self.hooks.input(&told);
            request.flush_by = FlushBy::ChatModel;
        });
        report.unwrap();
        self.note(40);
    }

    fn end(&mut self, form: Option<NoteForm>, messages: u32) {
        let told = self.told("SessionEnd");
        let mut request = self.hooks.session_end_request(self.hooks.input(&told));
        (request.form, request.messages) = (form, messages);
        self.hooks.run(|host| session_end(&request, host)).unwrap();
        self.note(messages as usize);
    }

    /// Tracks what a hook has to note: the last messages, and what was said after the last one that
    /// was noted.
    fn note(&mut self, most: usize) {
        let there: Vec<usize> = self.lines.iter().filter_map(|(message, _)| *message).collect();
        let last = there.len().saturating_sub(most);
        let since = self.noted.last().copied();
        let wanted = there
            .iter()
            .enumerate()
            .filter(|(at, number)| *at >= last || since.is_some_and(|since| **number > since));
        self.noted.extend(wanted.map(|(_, number)| *number));
    }

    fn check(&self) -> Result<(), TestCaseError> {
        let mut expected: BTreeMap<(String, String), usize> = BTreeMap::new();
        for (role, text) in self.noted.iter().map(|number| &self.said[*number]) {
            *expected.entry(((*role).to_owned(), text.clone())).or_default() += 1;
        }
        let mut found = BTreeMap::new();
        for name in self.hooks.notes() {
            let note = self.hooks.note(&name);
            let messages =
                note.split_once("## Conversation Summary\n\n").map_or("", |(_, rest)| rest);
            for line in messages.lines().filter(|line| *line != "My own line.") {
                let (role, text) = line.split_once(": ").unwrap();
                let text = serde_json::from_str(text).unwrap_or_else(|_| text.to_owned());
                *found.entry((role.to_owned(), text)).or_default() += 1;
            }
            let numbers: Vec<usize> =
                messages.split_whitespace().filter_map(|word| word.parse().ok()).collect();
            prop_assert!(numbers.is_sorted(), "{}", note);
        }
        prop_assert_eq!(found, expected);
        prop_assert!(self.hooks.notes().len() <= 1 + self.edits);
        Ok(())
    }
}

fn summary() -> String {
    json!({ "type": "user", "sessionId": "c1", "isCompactSummary": true,
        "message": { "role": "user", "content": "Remember that this is a summary." } })
    .to_string()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn each_message_is_noted_once_whatever_happens_to_the_session(
        has_times in any::<bool>(),
        events in proptest::collection::vec(event(), 1..14),
    ) {
        let mut session = Session::new(has_times);
        session.happen(&SessionEvent::Talk { turns: 1 });
        for event in &events {
            session.happen(event);
        }
        session.check()?;
    }
}

//! The note of a session: `memory/2026-01-16-api-design.md`, in the form that OpenClaw writes.
//!
//! ```text
//! # Session: 2026-01-16 14:30:00 America/New_York
//!
//! - **Session Key**: agent:main:main
//! - **Session ID**: abc123
//! - **Source**: telegram
//!
//! ## Conversation Summary
//!
//! user: "What about the API design?"
//! assistant: "I suggest we use REST."
//! ```
//!
//! The older generation writes the time in UTC and texts as they are, without quotes.
//!
//! A session has one note. Search recognises it as a conversation by its first line and by
//! `## Conversation Summary`. If a session goes on after its note was written, the note gets what
//! was said since; a note that was edited by others is left alone, and a second one gets it.

use anemone_format::{escaped, sha256_hex};
use anemone_secrets::SecretValues;
use jiff::Zoned;
use jiff::tz::TimeZone;
use serde::{Deserialize, Serialize};

use crate::change::{Change, Edit};
use crate::page::{ParsedEntry, tidied};
use crate::store::{MarkdownStore, MarkdownStoreError, PageKind};

mod messages;

use messages::{MergedMessages, NoteMessage};
pub use messages::{NotedMessage, SaidMessage};

/// More notes of one name on one day than anybody has.
const MOST_NOTES: usize = 1000;
/// The heading above the messages.
const SUMMARY: &str = "\n## Conversation Summary\n\n";

/// Which generation's form a note has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NoteForm {
    /// Quoted texts, the user's time zone.
    #[default]
    Gen9,
    /// Plain texts, UTC.
    Gen3,
}

impl NoteForm {
    /// Recognises the form of a note by its messages: one of them quotes all of them.
    fn of_text(text: &str) -> Self {
        let messages = messages_in(text);
        let is_quoted = |line: &str| {
            let said = line.split_once(": ").map_or("", |(_, said)| said);
            serde_json::from_str::<String>(said).is_ok()
        };
        match messages.lines().next() {
            Some(line) if !is_quoted(line) => Self::Gen3,
            _ => Self::Gen9,
        }
    }
}

/// The content of the note of a session.
#[derive(Clone, Debug, PartialEq)]
pub struct SessionNote<'a> {
    /// The form.
    pub form: NoteForm,
    /// When the session ended, in the user's time zone.
    pub at: Zoned,
    /// Where it was held.
    pub session_key: Option<&'a str>,
    /// The name of the session.
    pub session_id: Option<&'a str>,
    /// The channel.
    pub source: Option<&'a str>,
    /// Why it ended by itself, such as `daily` or `idle`; replaces the channel.
    pub reason: Option<&'a str>,
    /// The messages that a first note has, the oldest first.
    pub said: Vec<SaidMessage<'a>>,
    /// The messages before those, as far back as they were read. A later note gets those of them
    /// that were said since the note was written.
    pub earlier: Vec<SaidMessage<'a>>,
    /// The secrets in the conversation; an earlier note of the session may contain one that was not
    /// recognised as a secret yet.
    pub secrets: SecretValues,
}

/// The note of a session that was written before.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NotedSession {
    /// The file.
    pub path: String,
    /// A digest of the content.
    pub digest: String,
    /// The digest of the file as we wrote it; earlier versions did not store it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The form that it was written in, which it keeps; earlier versions did not store it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub form: Option<NoteForm>,
    /// The messages that were noted, also in earlier notes of the session; earlier versions did not
    /// store them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub messages: Vec<NotedMessage>,
}

/// The plan for the note of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotePlan {
    /// A file is to be written.
    Write {
        /// The file.
        path: String,
        /// Its new content.
        note: NoteText,
        /// The change that does it.
        change: Change,
    },
    /// The note that the session has is to be brought up to date.
    Update {
        /// The file.
        path: String,
        /// Its new content.
        note: NoteText,
        /// The change that does it.
        change: Change,
    },
    /// The file already says the same.
    Unchanged(String),
}

impl NotePlan {
    /// Returns the file.
    #[must_use]
    pub fn path(&self) -> &str {
        match self {
            Self::Write { path, .. } | Self::Update { path, .. } | Self::Unchanged(path) => path,
        }
    }
}

impl SessionNote<'_> {
    /// Returns the time that the note shows.
    fn shown(&self) -> Zoned {
        match self.form {
            NoteForm::Gen9 => self.at.clone(),
            NoteForm::Gen3 => self.at.with_time_zone(TimeZone::UTC),
        }
    }

    /// Returns the default name of a note: the hour and the minute.
    #[must_use]
    pub fn time_slug(&self) -> String {
        self.shown().strftime("%H%M").to_string()
    }

    /// Writes the first note of the session.
    #[must_use]
    pub fn first(&self) -> NoteText {
        let messages = self.messages(&self.said);
        self.written(&MergedMessages { added: messages.len(), messages })
    }

    /// Writes the note of a session that went on after the note `before`: with the messages of that
    /// note, and those that it lacks.
    #[must_use]
    pub fn after(&self, before: &str, noted: Option<&NotedSession>) -> NoteText {
        let recorded = noted.map_or(&[][..], |noted| &noted.messages);
        self.merged(NoteMessage::split(messages_in(before), recorded, &self.secrets))
    }

    /// Writes another note of the session, with the messages that its note lacks.
    fn beside(&self, there: &str, noted: &NotedSession) -> NoteText {
        let mut old: Vec<NoteMessage> = noted.messages.iter().map(NoteMessage::of).collect();
        if old.is_empty() {
            // An earlier version wrote the note.
            old = NoteMessage::split(messages_in(there), &[], &self.secrets);
            old.iter_mut().for_each(|message| message.is_elsewhere = true);
        }
        self.merged(old)
    }

    fn merged(&self, old: Vec<NoteMessage>) -> NoteText {
        let new = [self.messages(&self.earlier), self.messages(&self.said)].concat();
        self.written(&MergedMessages::of(old, new, self.earlier.len()))
    }

    /// Writes a note with these messages.
    fn written(&self, merged: &MergedMessages) -> NoteText {
        let at = self.shown();
        let zone = match self.form {
            NoteForm::Gen9 => zone_name(&at),
            NoteForm::Gen3 => "UTC".to_owned(),
        };
        let title = format!("# Session: {} {zone}\n", at.strftime("%Y-%m-%d %H:%M:%S"));
        let mut body = self.head();
        let shown = merged.messages.iter().filter(|message| !message.is_elsewhere);
        let lines: String = shown.map(|message| message.text.clone() + "\n").collect();
        if !lines.is_empty() {
            body.push_str(SUMMARY);
            body.push_str(&lines);
        }
        let messages = merged.messages.iter().map(NoteMessage::record).collect();
        NoteText { title, body, added: merged.added, form: self.form, messages }
    }

    /// Writes the items about the session.
    fn head(&self) -> String {
        let name = |text: Option<&str>| {
            let text = text.map(tidied).unwrap_or_default().replace('\n', " ");
            if text.is_empty() { "unknown".to_owned() } else { escaped(&text) }
        };
        let last = match self.reason {
            Some(reason) => format!("- **Reason**: {}", name(Some(reason))),
            None => format!("- **Source**: {}", name(self.source)),
        };
        format!(
            "\n- **Session Key**: {}\n- **Session ID**: {}\n{last}\n",
            name(self.session_key),
            name(self.session_id)
        )
    }

    /// Writes messages in the form of the note.
    fn messages(&self, said: &[SaidMessage<'_>]) -> Vec<NoteMessage> {
        let written = said.iter().map(|said| {
            let text = match self.form {
                NoteForm::Gen9 => {
                    let quoted = serde_json::Value::from(said.text).to_string();
                    // No text can begin a comment, and so none can pose as a stamp.
                    quoted.replace("<!--", "\\u003c!--")
                }
                NoteForm::Gen3 => escaped(&tidied(said.text)),
            };
            NoteMessage::new(said, format!("{}: {text}", said.role))
        });
        written.collect()
    }

    /// Plans the file, under an unused name; `before` is the record of an earlier note of the
    /// session.
    pub fn plan(
        &self,
        site: &MarkdownStore,
        slug: &str,
        before: Option<&NotedSession>,
    ) -> Result<NotePlan, MarkdownStoreError> {
        let there = match before {
            Some(before) => site.read(&before.path)?,
            None => None,
        };
        let Some((before, there)) = before.zip(there) else {
            return match self.written_elsewhere(site)? {
                Some(path) => Ok(NotePlan::Unchanged(path)),
                None => self.new_file(site, slug, self.first()),
            };
        };
        let text = String::from_utf8_lossy(&there.bytes);
        if !before.is_of(&there.bytes) {
            // Somebody edited the note, and it stays as it is.
            let note = self.beside(&text, before);
            return match note.added {
                0 => Ok(NotePlan::Unchanged(before.path.clone())),
                _ => self.new_file(site, slug, note),
            };
        }
        let note = self.after(&text, Some(before));
        let path = before.path.clone();
        if note.says_the_same(&text) {
            return Ok(NotePlan::Unchanged(path));
        }
        let edit = Edit::replace(&there, note.text().into_bytes());
        Ok(NotePlan::Update { path, note, change: self.change(edit) })
    }

    /// Plans a new file.
    fn new_file(
        &self,
        site: &MarkdownStore,
        slug: &str,
        note: NoteText,
    ) -> Result<NotePlan, MarkdownStoreError> {
        let day = self.shown().date();
        let mut path = format!("memory/{day}-{slug}.md");
        for number in 2..=MOST_NOTES {
            match site.read(&path) {
                Ok(None) => break,
                Ok(Some(there)) if note.says_the_same(&String::from_utf8_lossy(&there.bytes)) => {
                    return Ok(NotePlan::Unchanged(path));
                }
                Ok(Some(_)) => {}
                // A link or a folder has the name.
                Err(MarkdownStoreError::NotPlain(_)) => {}
                Err(error) => return Err(error),
            }
            path = format!("memory/{day}-{slug}-{number}.md");
        }
        let after = note.text().into_bytes();
        let edit = Edit::Write { path: path.clone(), before: None, after };
        Ok(NotePlan::Write { path, note, change: self.change(edit) })
    }

    /// Finds a note of the session that is not in our records and contains every message: by the
    /// agent's own program, or by us before an undo.
    fn written_elsewhere(
        &self,
        site: &MarkdownStore,
    ) -> Result<Option<String>, MarkdownStoreError> {
        let Some(id) = self.session_id else { return Ok(None) };
        let id = format!("- **Session ID**: {}", escaped(&tidied(id).replace('\n', " ")));
        let bodies = [NoteForm::Gen9, NoteForm::Gen3].map(|form| {
            let note = Self { form, ..self.clone() }.first();
            messages_in(&note.body).trim_end().to_owned()
        });
        for (path, _) in site.pages()? {
            if !matches!(PageKind::of(&path), PageKind::Session(_)) {
                continue;
            }
            // A page that cannot be read is not known to be the note.
            let Ok(Some(page)) = site.read(&path) else { continue };
            let Ok(text) = page.text() else { continue };
            let Some((head, messages)) = text.split_once(SUMMARY) else { continue };
            let has = |wanted: &String| !wanted.is_empty() && messages.contains(wanted);
            if head.lines().any(|line| line == id) && bodies.iter().any(has) {
                return Ok(Some(path));
            }
        }
        Ok(None)
    }

    fn change(&self, edit: Edit) -> Change {
        Change::new("hook session-end", vec![edit])
    }
}

/// A written note.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoteText {
    /// The line with the time of writing.
    title: String,
    body: String,
    /// How many messages were not noted before.
    pub added: usize,
    form: NoteForm,
    messages: Vec<NotedMessage>,
}

impl NoteText {
    /// Returns the whole text.
    #[must_use]
    pub fn text(&self) -> String {
        format!("{}{}", self.title, self.body)
    }

    /// Whether an existing note differs at most in the time of writing.
    #[must_use]
    pub fn says_the_same(&self, there: &str) -> bool {
        there.split_once('\n').is_some_and(|(_, body)| body.trim_end() == self.body.trim_end())
    }

    /// Returns a digest of the content, without the time of writing.
    #[must_use]
    pub fn digest(&self) -> String {
        sha256_hex(self.body.as_bytes())
    }

    /// Returns the record of the note, which is kept once the note is written.
    #[must_use]
    pub fn noted(&self, path: &str) -> NotedSession {
        NotedSession {
            path: path.to_owned(),
            digest: self.digest(),
            file: Some(sha256_hex(self.text().as_bytes())),
            form: Some(self.form),
            messages: self.messages.clone(),
        }
    }
}

/// Returns the messages of a note.
fn messages_in(text: &str) -> &str {
    text.split_once(SUMMARY).map_or("", |(_, messages)| messages)
}

/// Whether an item belongs to the head of a note, so that it describes the session and is no
/// message: every note, ours and OpenClaw's, has such items.
pub(crate) fn is_head(kind: PageKind, unit: &ParsedEntry) -> bool {
    const NAMES: [&str; 4] = ["Session Key", "Session ID", "Source", "Reason"];
    matches!(kind, PageKind::Session(_))
        && unit.stamp.is_none()
        && unit.key.as_deref().is_some_and(|key| NAMES.contains(&key))
}

impl NotedSession {
    /// Returns the form that a note was written in: the stored one, or else what its text shows.
    #[must_use]
    pub fn form_of(&self, text: &str) -> NoteForm {
        self.form.unwrap_or_else(|| NoteForm::of_text(text))
    }

    /// Whether a file is as the note was written.
    fn is_of(&self, bytes: &[u8]) -> bool {
        let body = || bytes.splitn(2, |byte| *byte == b'\n').nth(1).unwrap_or_default();
        match &self.file {
            Some(file) => sha256_hex(bytes) == *file,
            None => sha256_hex(body()) == self.digest,
        }
    }
}

/// Returns the name of a time zone, or how far it is from UTC.
fn zone_name(at: &Zoned) -> String {
    let name = at.time_zone().iana_name().map(str::to_owned);
    name.unwrap_or_else(|| {
        if at.offset().is_zero() { "UTC".to_owned() } else { at.strftime("%:z").to_string() }
    })
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;
    use tempfile::TempDir;
    use uuid::Uuid;

    use super::*;
    use crate::layout::MarkdownLayout;

    const fn said(role: &'static str, text: &'static str) -> SaidMessage<'static> {
        SaidMessage { role, text, at: None }
    }

    fn note(form: NoteForm) -> SessionNote<'static> {
        let at: Timestamp = "2026-01-16T19:30:00Z".parse().unwrap();
        SessionNote {
            form,
            at: at.in_tz("America/New_York").unwrap(),
            session_key: Some("agent:main:main"),
            session_id: Some("abc123"),
            source: Some("telegram"),
            reason: None,
            secrets: SecretValues::default(),
            said: vec![
                said("user", "What about the API design?"),
                said("assistant", "I suggest \"REST\"\nwith JSON."),
            ],
            earlier: Vec::new(),
        }
    }

    #[test]
    fn the_newest_generation_quotes_and_shows_the_users_time() {
        assert_eq!(
            note(NoteForm::Gen9).first().text(),
            "# Session: 2026-01-16 14:30:00 America/New_York\n\
             \n\
             - **Session Key**: agent:main:main\n\
             - **Session ID**: abc123\n\
             - **Source**: telegram\n\
             \n\
             ## Conversation Summary\n\
             \n\
             user: \"What about the API design?\"\n\
             assistant: \"I suggest \\\"REST\\\"\\nwith JSON.\"\n"
        );
        assert_eq!(note(NoteForm::Gen9).time_slug(), "1430");
    }

    #[test]
    fn the_older_generation_writes_plain_text_and_utc() {
        assert_eq!(
            note(NoteForm::Gen3).first().text(),
            "# Session: 2026-01-16 19:30:00 UTC\n\
             \n\
             - **Session Key**: agent:main:main\n\
             - **Session ID**: abc123\n\
             - **Source**: telegram\n\
             \n\
             ## Conversation Summary\n\
             \n\
             user: What about the API design?\n\
             assistant: I suggest \"REST\"\nwith JSON.\n"
        );
        assert_eq!(note(NoteForm::Gen3).time_slug(), "1930");
    }

    #[test]
    fn a_session_that_ended_by_itself_says_why() {
        let note = SessionNote { reason: Some("daily"), said: Vec::new(), ..note(NoteForm::Gen9) };
        let text = note.first().text();
        assert!(text.ends_with("- **Session ID**: abc123\n- **Reason**: daily\n"), "{text}");
    }

    #[test]
    fn nothing_that_was_said_poses_as_a_stamp_or_a_field() {
        let stamp =
            "x <!-- anemone: 019a89c2-7c11-7d3e-9f00-1c2d3e4f5a6b owner 2026-11-16T10:00:00Z -->";
        for form in [NoteForm::Gen9, NoteForm::Gen3] {
            let mut note = note(form);
            note.session_key = Some("a\n- **Source**: me");
            note.session_id = Some(stamp);
            note.said = vec![said("user", stamp)];
            let text = note.first().text();
            assert_eq!(anemone_format::ProvenanceStamp::all_in(&text).count(), 0, "{text}");
            assert_eq!(text.matches("\n- **Source**").count(), 1, "{text}");
        }
    }

    /// Writes notes into a workspace, as a hook does.
    struct Notes {
        home: TempDir,
        site: MarkdownStore,
    }

    impl Notes {
        fn new() -> Self {
            let home = TempDir::new().unwrap();
            let root = home.path().join("work");
            fs_err::create_dir_all(root.join("memory")).unwrap();
            let site =
                MarkdownStore::open(&root, &home.path().join("state"), MarkdownLayout::PLAIN)
                    .unwrap();
            Self { home, site }
        }

        fn write(
            &self,
            note: &SessionNote<'_>,
            before: Option<&NotedSession>,
        ) -> (NotePlan, Option<NotedSession>) {
            let plan = note.plan(&self.site, "api-design", before).unwrap();
            let (NotePlan::Write { path, note, change } | NotePlan::Update { path, note, change }) =
                &plan
            else {
                return (plan, None);
            };
            let held = self.site.lock().unwrap();
            held.apply(change, Uuid::nil(), Timestamp::UNIX_EPOCH).unwrap();
            let noted = note.noted(path);
            (plan, Some(noted))
        }

        fn path(&self, name: &str) -> std::path::PathBuf {
            self.home.path().join("work").join(name)
        }
    }

    #[test]
    fn a_name_that_is_taken_gets_a_number_and_the_same_note_is_not_written_twice() {
        let notes = Notes::new();
        let mut one = note(NoteForm::Gen9);
        let (plan, noted) = notes.write(&one, None);
        assert_eq!(plan.path(), "memory/2026-01-16-api-design.md");
        assert!(matches!(plan, NotePlan::Write { .. }));
        // A minute later there is no new message.
        one.at = one.at.checked_add(jiff::Span::new().minutes(1)).unwrap();
        for before in [None, noted.as_ref()] {
            let (plan, _) = notes.write(&one, before);
            assert!(matches!(&plan, NotePlan::Unchanged(path) if path.ends_with("design.md")));
        }
        let other = SessionNote { session_id: Some("other"), ..one.clone() };
        assert_eq!(notes.write(&other, None).0.path(), "memory/2026-01-16-api-design-2.md");
        // After the note is deleted, a new one is written.
        fs_err::remove_file(notes.path("memory/2026-01-16-api-design.md")).unwrap();
        assert!(matches!(notes.write(&one, noted.as_ref()).0, NotePlan::Write { .. }));
    }

    #[test]
    fn a_session_that_goes_on_has_its_one_note_brought_up_to_date() {
        for form in [NoteForm::Gen9, NoteForm::Gen3] {
            let notes = Notes::new();
            let mut one = note(form);
            one.said = ["first", "second", "third"].map(|text| said("user", text)).to_vec();
            let (_, noted) = notes.write(&one, None);
            // Only the last messages are read, and one of them is new.
            one.said = ["second", "third", "fourth"].map(|text| said("user", text)).to_vec();
            let (plan, later) = notes.write(&one, noted.as_ref());
            assert!(matches!(plan, NotePlan::Update { .. }), "{plan:?}");
            let text = fs_err::read_to_string(notes.path(plan.path())).unwrap();
            let words = ["first", "second", "third", "fourth"];
            let counts = words.map(|word| text.matches(word).count());
            assert_eq!(counts, [1; 4], "{text}");
            assert!(matches!(notes.write(&one, later.as_ref()).0, NotePlan::Unchanged(_)));
            // What earlier versions kept of a note is enough.
            let old = NotedSession {
                file: None,
                digest: noted.unwrap().digest,
                messages: Vec::new(),
                ..later.unwrap()
            };
            fs_err::write(notes.path(&old.path), {
                one.said = ["first", "second", "third"].map(|text| said("user", text)).to_vec();
                one.first().text()
            })
            .unwrap();
            one.said.push(said("user", "fifth"));
            assert!(matches!(notes.write(&one, Some(&old)).0, NotePlan::Update { .. }));
        }
    }

    #[test]
    fn a_note_that_somebody_edited_is_left_alone() {
        let notes = Notes::new();
        let mut one = note(NoteForm::Gen9);
        let (plan, noted) = notes.write(&one, None);
        let path = notes.path(plan.path());
        let edited = fs_err::read_to_string(&path).unwrap() + "My own line.\n";
        fs_err::write(&path, &edited).unwrap();
        assert!(matches!(notes.write(&one, noted.as_ref()).0, NotePlan::Unchanged(_)));
        one.said.push(said("user", "more"));
        let (plan, later) = notes.write(&one, noted.as_ref());
        assert_eq!(plan.path(), "memory/2026-01-16-api-design-2.md");
        assert_eq!(fs_err::read_to_string(&path).unwrap(), edited);
        // The second note has what the first one lacks, and is the one that is updated from now on.
        one.said.push(said("user", "and more"));
        assert!(matches!(notes.write(&one, later.as_ref()).0, NotePlan::Update { .. }));
        let second = fs_err::read_to_string(notes.path(plan.path())).unwrap();
        assert!(second.ends_with("\n\nuser: \"more\"\nuser: \"and more\"\n"), "{second}");
    }

    #[test]
    fn a_zone_without_a_name_is_shown_by_its_offset() {
        let mut note = note(NoteForm::Gen9);
        note.at = note.at.with_time_zone(TimeZone::fixed(jiff::tz::offset(2)));
        assert!(note.first().text().starts_with("# Session: 2026-01-16 21:30:00 +02:00\n"));
        note.at = note.at.with_time_zone(TimeZone::UTC);
        assert!(note.first().text().starts_with("# Session: 2026-01-16 19:30:00 UTC\n"));
    }
}

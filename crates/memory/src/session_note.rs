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
//! The older generation writes the time in UTC and texts as they are, without quotes. A session
//! that says the same as before is not noted again.

use anemone_format::escaped;
use jiff::Zoned;
use jiff::tz::TimeZone;
use serde::{Deserialize, Serialize};

use crate::change::{Change, Edit, digest};
use crate::page::tidied;
use crate::site::{Site, SiteError};

/// More notes of one name on one day than anybody has.
const MOST_NOTES: usize = 1000;

/// Which generation's form a note has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NoteForm {
    /// Quoted texts, the user's time zone.
    #[default]
    Gen9,
    /// Plain texts, UTC.
    Gen3,
}

/// What is noted of a session.
#[derive(Clone, Debug, PartialEq)]
pub struct SessionNote<'a> {
    /// The form.
    pub form: NoteForm,
    /// When the session ended, in the user's time zone.
    pub at: Zoned,
    /// Where it was held.
    pub session_key: Option<&'a str>,
    /// What it is called.
    pub session_id: Option<&'a str>,
    /// The channel.
    pub source: Option<&'a str>,
    /// Why it ended by itself, such as `daily` or `idle`; takes the place of the channel.
    pub reason: Option<&'a str>,
    /// Who said what, the oldest first.
    pub said: Vec<(&'a str, &'a str)>,
}

/// The note of a session that was written before.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NotedSession {
    /// The file.
    pub path: String,
    /// What it was about, as a digest.
    pub digest: String,
}

/// What is to be done to note a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotePlan {
    /// A file is to be written.
    Write {
        /// The file.
        path: String,
        /// The change that does it.
        change: Change,
    },
    /// The same stands there already.
    Unchanged {
        /// The file.
        path: String,
    },
}

impl NotePlan {
    /// Returns the file.
    #[must_use]
    pub fn path(&self) -> &str {
        match self {
            Self::Write { path, .. } | Self::Unchanged { path } => path,
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

    /// Returns the name for a note that nothing else names: the hour and the minute.
    #[must_use]
    pub fn time_slug(&self) -> String {
        self.shown().strftime("%H%M").to_string()
    }

    /// Writes the note.
    #[must_use]
    pub fn text(&self) -> String {
        let at = self.shown();
        let zone = match self.form {
            NoteForm::Gen9 => zone_name(&at),
            NoteForm::Gen3 => "UTC".to_owned(),
        };
        format!("# Session: {} {zone}\n{}", at.strftime("%Y-%m-%d %H:%M:%S"), self.body())
    }

    /// Writes all but the line with the time.
    fn body(&self) -> String {
        let name = |text: Option<&str>| {
            let text = text.map(tidied).unwrap_or_default().replace('\n', " ");
            if text.is_empty() { "unknown".to_owned() } else { escaped(&text) }
        };
        let last = match self.reason {
            Some(reason) => format!("- **Reason**: {}", name(Some(reason))),
            None => format!("- **Source**: {}", name(self.source)),
        };
        let mut out = format!(
            "\n- **Session Key**: {}\n- **Session ID**: {}\n{last}\n",
            name(self.session_key),
            name(self.session_id)
        );
        if self.said.is_empty() {
            return out;
        }
        out.push_str("\n## Conversation Summary\n\n");
        for (role, text) in &self.said {
            let text = match self.form {
                NoteForm::Gen9 => {
                    let quoted = serde_json::Value::from(*text).to_string();
                    // No text can begin a comment, and so none can pose as a stamp.
                    quoted.replace("<!--", "\\u003c!--")
                }
                NoteForm::Gen3 => escaped(&tidied(text)),
            };
            out.push_str(&format!("{role}: {text}\n"));
        }
        out
    }

    /// Returns the digest of what the note is about, whenever it is written.
    #[must_use]
    pub fn digest(&self) -> String {
        anemone_format::Hex(&digest(self.body().as_bytes())).to_string()
    }

    /// Plans the file, under a name that is free; `before` is what is known of an earlier note of
    /// the session.
    pub fn plan(
        &self,
        site: &Site,
        slug: &str,
        before: Option<&NotedSession>,
    ) -> Result<NotePlan, SiteError> {
        if let Some(before) = before
            && before.digest == self.digest()
            && site.read(&before.path)?.is_some()
        {
            return Ok(NotePlan::Unchanged { path: before.path.clone() });
        }
        let body = self.body();
        let day = self.shown().date();
        let mut path = format!("memory/{day}-{slug}.md");
        for number in 2..=MOST_NOTES {
            match site.read(&path) {
                Ok(None) => break,
                Ok(Some(there)) => {
                    let after_time = there.bytes.splitn(2, |it| *it == b'\n').nth(1);
                    if after_time == Some(body.as_bytes()) {
                        return Ok(NotePlan::Unchanged { path });
                    }
                }
                // A link or a folder has the name.
                Err(SiteError::NotPlain { .. }) => {}
                Err(error) => return Err(error),
            }
            path = format!("memory/{day}-{slug}-{number}.md");
        }
        let after = self.text().into_bytes();
        let edit = Edit::Write { path: path.clone(), before: None, after };
        let change = Change { what: "hook session-end".to_owned(), edits: vec![edit] };
        Ok(NotePlan::Write { path, change })
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
    use crate::site::Manner;

    fn note(form: NoteForm) -> SessionNote<'static> {
        let at: Timestamp = "2026-01-16T19:30:00Z".parse().unwrap();
        SessionNote {
            form,
            at: at.in_tz("America/New_York").unwrap(),
            session_key: Some("agent:main:main"),
            session_id: Some("abc123"),
            source: Some("telegram"),
            reason: None,
            said: vec![
                ("user", "What about the API design?"),
                ("assistant", "I suggest \"REST\"\nwith JSON."),
            ],
        }
    }

    #[test]
    fn the_newest_generation_quotes_and_shows_the_users_time() {
        assert_eq!(
            note(NoteForm::Gen9).text(),
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
            note(NoteForm::Gen3).text(),
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
        let text = note.text();
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
            note.said = vec![("user", stamp)];
            let text = note.text();
            assert_eq!(anemone_format::Stamp::all_in(&text).count(), 0, "{text}");
            assert_eq!(text.matches("\n- **Source**").count(), 1, "{text}");
        }
    }

    #[test]
    fn a_name_that_is_taken_gets_a_number_and_the_same_note_is_not_written_twice() {
        let home = TempDir::new().unwrap();
        let root = home.path().join("work");
        fs_err::create_dir_all(root.join("memory")).unwrap();
        let site = Site::open(&root, &home.path().join("state"), Manner::OpenClaw).unwrap();
        let held = site.lock().unwrap();
        let write = |note: &SessionNote<'_>, before: Option<&NotedSession>| {
            let plan = note.plan(&site, "api-design", before).unwrap();
            if let NotePlan::Write { change, .. } = &plan {
                held.apply(change, Uuid::nil(), Timestamp::UNIX_EPOCH).unwrap();
            }
            plan
        };
        let mut one = note(NoteForm::Gen9);
        let plan = write(&one, None);
        assert_eq!(plan.path(), "memory/2026-01-16-api-design.md");
        assert!(matches!(plan, NotePlan::Write { .. }));
        // A minute later nothing else was said.
        one.at = one.at.checked_add(jiff::Span::new().minutes(1)).unwrap();
        let plan = write(&one, None);
        assert!(matches!(&plan, NotePlan::Unchanged { path } if path.ends_with("design.md")));
        one.said.push(("user", "more"));
        assert_eq!(write(&one, None).path(), "memory/2026-01-16-api-design-2.md");
        one.said.push(("user", "still more"));
        assert_eq!(write(&one, None).path(), "memory/2026-01-16-api-design-3.md");
        let before = NotedSession {
            path: "memory/2026-01-16-api-design-2.md".to_owned(),
            digest: one.digest(),
        };
        assert!(matches!(write(&one, Some(&before)), NotePlan::Unchanged { .. }));
        // Whoever deletes the note gets a new one.
        fs_err::remove_file(root.join("memory/2026-01-16-api-design-3.md")).unwrap();
        let gone = NotedSession {
            path: "memory/2026-01-16-api-design-3.md".to_owned(),
            digest: one.digest(),
        };
        assert!(matches!(write(&one, Some(&gone)), NotePlan::Write { .. }));
    }

    #[test]
    fn a_zone_without_a_name_is_shown_by_its_offset() {
        let mut note = note(NoteForm::Gen9);
        note.at = note.at.with_time_zone(TimeZone::fixed(jiff::tz::offset(2)));
        assert!(note.text().starts_with("# Session: 2026-01-16 21:30:00 +02:00\n"));
        note.at = note.at.with_time_zone(TimeZone::UTC);
        assert!(note.text().starts_with("# Session: 2026-01-16 19:30:00 UTC\n"));
    }
}

//! The messages of a note, and how those of a later reading are merged into them.
//!
//! A conversation is read again at each end and before each compaction, and the readings differ:
//! they reach back differently far, a question has its answer by now, or a compaction removed the
//! beginning of the transcript. So the two lists are aligned, message by message, and each message
//! that is in both is kept once.

use anemone_format::{Moment, sha256_hex};
use anemone_secrets::SecretValues;
use serde::{Deserialize, Serialize};

/// A note keeps so many lines of messages, the last ones.
const MOST_LINES: usize = 500;
/// So many messages of a session are recorded, the last ones.
const MOST_RECORDED: usize = 1000;
/// Characters of a digest that tell the messages of one session apart.
const DIGEST_CHARS: usize = 16;

/// A message of a conversation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SaidMessage<'a> {
    /// Who said it.
    pub role: &'a str,
    /// What was said.
    pub text: &'a str,
    /// When, where the runtime noted it.
    pub at: Option<&'a Moment>,
}

/// The record of a message that was noted, by which it is recognised in a later reading.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NotedMessage {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    at: Option<Moment>,
    /// A digest of the speaker and the text; empty if only its lines are known.
    digest: String,
    /// The lines that it has in the note; 0 if the note does not contain it: it is in an earlier
    /// note of the session, or was among the oldest messages of a long one.
    lines: usize,
}

/// A message as a note contains it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct NoteMessage {
    at: Option<Moment>,
    digest: String,
    /// Its lines.
    pub(super) text: String,
    /// Whether the note does not contain it, see [`NotedMessage::lines`].
    pub(super) is_elsewhere: bool,
}

/// The messages of two readings.
pub(super) struct MergedMessages {
    pub(super) messages: Vec<NoteMessage>,
    /// How many of them are only in the later reading.
    pub(super) added: usize,
}

impl NoteMessage {
    /// Takes a message; `text` are its lines in the form of the note.
    pub(super) fn new(said: &SaidMessage<'_>, text: String) -> Self {
        let mut digest = sha256_hex(format!("{}\n{}", said.role, said.text).as_bytes());
        digest.truncate(DIGEST_CHARS);
        Self { at: said.at.cloned(), digest, text, is_elsewhere: false }
    }

    /// Splits the messages of a note, using its record if that fits.
    pub(super) fn split(text: &str, noted: &[NotedMessage], secrets: &SecretValues) -> Vec<Self> {
        let text = text.strip_suffix('\n').unwrap_or(text);
        let lines: Vec<&str> =
            if text.is_empty() { Vec::new() } else { text.split('\n').collect() };
        let recorded = noted.iter().map(|message| message.lines).sum::<usize>();
        let redacted = |lines: &[&str]| secrets.redact(&lines.join("\n")).0.into_owned();
        if recorded == lines.len() {
            let mut rest = &lines[..];
            let split = noted.iter().map(|message| {
                let (lines, later) = rest.split_at(message.lines);
                rest = later;
                Self { text: redacted(lines), is_elsewhere: lines.is_empty(), ..Self::of(message) }
            });
            return split.collect();
        }
        let begins = |line: &str| line.starts_with("user: ") || line.starts_with("assistant: ");
        let split = lines.chunk_by(|_, next| !begins(next));
        let parsed = |lines: &[&str]| Self {
            at: None,
            digest: String::new(),
            text: redacted(lines),
            is_elsewhere: false,
        };
        split.map(parsed).collect()
    }

    /// Takes the record of a message in another note.
    pub(super) fn of(noted: &NotedMessage) -> Self {
        let NotedMessage { at, digest, .. } = noted.clone();
        Self { at, digest, text: String::new(), is_elsewhere: true }
    }

    /// Returns the record of the message.
    pub(super) fn record(&self) -> NotedMessage {
        NotedMessage { at: self.at.clone(), digest: self.digest.clone(), lines: self.lines() }
    }

    fn lines(&self) -> usize {
        if self.is_elsewhere { 0 } else { self.text.split('\n').count() }
    }

    /// Says how likely a message of a later reading is this one; 0 if it is another one.
    fn likeness(&self, later: &Self) -> u32 {
        let is_same_text = self.digest == later.digest || self.text == later.text;
        match (&self.at, &later.at) {
            (Some(at), Some(later_at)) if at.instant() != later_at.instant() => 0,
            _ if is_same_text => 2,
            // A secret or a private section was recognised since.
            (Some(_), Some(_)) if self.speaker() == later.speaker() => 1,
            _ => 0,
        }
    }

    fn speaker(&self) -> Option<&str> {
        self.text.split_once(": ").map(|(speaker, _)| speaker)
    }
}

impl MergedMessages {
    /// Merges the messages of a later reading into those of a note. Of the messages before the
    /// first one that both have, only those from `wanted` on are taken.
    pub(super) fn of(old: Vec<NoteMessage>, new: Vec<NoteMessage>, wanted: usize) -> Self {
        let pairs = aligned(&old, &new);
        let begin = match pairs.first() {
            _ if old.is_empty() => wanted,
            // Nothing of the note is left in the transcript, so all of it was said later.
            None => 0,
            Some((_, first)) => wanted.min(*first),
        };
        let mut merged = Self { messages: Vec::new(), added: 0 };
        let mut new = new.into_iter().enumerate().skip(begin).peekable();
        let mut pairs = pairs.into_iter().peekable();
        for (at, mut message) in old.into_iter().enumerate() {
            if let Some((_, pair)) = pairs.next_if(|(old, _)| *old == at) {
                while let Some((_, between)) = new.next_if(|(at, _)| *at < pair) {
                    merged.add(between);
                }
                if let Some((_, later)) = new.next() {
                    // The text may have been redacted since, and its digest with it.
                    (message.at, message.digest) = (later.at.or(message.at), later.digest);
                }
            }
            merged.messages.push(message);
        }
        new.for_each(|(_, message)| merged.add(message));
        merged.shorten();
        merged
    }

    fn add(&mut self, message: NoteMessage) {
        self.added += 1;
        self.messages.push(message);
    }

    /// Removes the oldest lines of a note that is too long. Their messages stay recorded, so that
    /// a later reading does not add them again.
    fn shorten(&mut self) {
        let spare = self.messages.len().saturating_sub(MOST_RECORDED);
        self.messages.drain(..spare);
        let mut lines = 0;
        for (at, message) in self.messages.iter_mut().rev().enumerate() {
            lines += message.lines();
            message.is_elsewhere |= lines > MOST_LINES && at > 0;
        }
    }
}

/// Pairs the messages of two lists, in order, so that the pairs are as alike as possible in total.
fn aligned(old: &[NoteMessage], new: &[NoteMessage]) -> Vec<(usize, usize)> {
    let width = new.len() + 1;
    let mut best = vec![0_u32; (old.len() + 1) * width];
    let place = |i: usize, j: usize| i * width + j;
    for i in (0..old.len()).rev() {
        for j in (0..new.len()).rev() {
            let likeness = old[i].likeness(&new[j]);
            let paired = if likeness > 0 { likeness + best[place(i + 1, j + 1)] } else { 0 };
            best[place(i, j)] = paired.max(best[place(i + 1, j)]).max(best[place(i, j + 1)]);
        }
    }
    let mut pairs = Vec::new();
    let (mut i, mut j) = (0, 0);
    while i < old.len() && j < new.len() {
        let likeness = old[i].likeness(&new[j]);
        if likeness > 0 && best[place(i, j)] == likeness + best[place(i + 1, j + 1)] {
            pairs.push((i, j));
            (i, j) = (i + 1, j + 1);
        } else if best[place(i + 1, j)] >= best[place(i, j + 1)] {
            i += 1;
        } else {
            j += 1;
        }
    }
    pairs
}

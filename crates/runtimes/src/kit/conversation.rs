//! The end of a conversation: what was said last, by whom, and how long the conversation is.
//!
//! A transcript is read from its end, because it may be hundreds of megabytes and only the last
//! messages matter. Each line says by its own form whose it is, see [`TranscriptFormat`].
//!
//! Only messages of a person or the agent are returned. Commands, tools, injected text, passages
//! marked as private and everything that is not text is left out and counted; secrets are replaced.

mod clean;
mod event;
mod gather;
pub(crate) mod injected;
mod tail;

use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use crate::kit::word_enum::word_enum;

use anemone_files::{Folder, folder_of};
use anemone_format::Moment;
use anemone_secrets::SecretValues;

pub use clean::without_private;
pub(crate) use event::{
    Boundary, Entrance, Event, LineReading, TranscriptFormat, TranscriptLine, boundary, spoken,
    spoken_at,
};
use gather::MessageCollector;
pub(crate) use gather::SessionFacts;
use tail::{Line, lines_from_end};

/// The most that is read of a transcript to find the last messages.
const MOST_BYTES: u64 = 32 << 20;
/// The most that is read to learn how long a conversation is.
const MOST_MEASURED_BYTES: u64 = 4 << 20;

/// What was said last in a conversation.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Conversation {
    /// What the runtime calls the session.
    pub session_id: Option<String>,
    /// Where it was held, such as `agent:main:main`.
    pub session_key: Option<String>,
    /// The channel, such as `telegram`.
    pub source: Option<String>,
    /// The last messages, the oldest of them first.
    pub messages: Vec<ConversationMessage>,
    /// The size of the transcript since the last compaction, as far as that was looked for.
    pub bytes: u64,
    /// The estimated tokens of the next request, where the transcript says how many the last one
    /// had.
    pub tokens_used: Option<u64>,
    /// The characters of all text that was read, tools included.
    pub characters: u64,
    /// The id of the compaction that the conversation continues from; only when it was looked for
    /// and found.
    pub compaction: Option<String>,
    /// The id of the reset that the messages follow; only when they were looked for and it was found.
    /// A runtime may keep the id of a session when it is reset.
    pub reset: Option<String>,
    /// How often the conversation was compacted, where the runtime counts.
    pub compaction_count: Option<u64>,
    /// Whether a program ran the conversation without a user typing, such as `claude -p`.
    pub is_scripted: bool,
    /// What was not taken.
    pub left_out: OmittedCounts,
    /// The secrets in the conversation, so that they can be replaced wherever they are repeated.
    pub secrets: SecretValues,
}

/// One message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConversationMessage {
    /// Who said it.
    pub role: Role,
    /// What was said, secrets replaced.
    pub text: String,
    /// When, where the runtime noted it.
    pub at: Option<Moment>,
    /// Whether the agent's owner said it, where the runtime noted it.
    pub by_owner: Option<bool>,
}

word_enum! {
    /// Who speaks.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum Role {
        /// A person.
        User = "user",
        /// The agent.
        Assistant = "assistant",
    }
}

/// What was read and is not among the messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct OmittedCounts {
    /// Commands such as `/new`.
    pub commands: u64,
    /// Blocks that a program put into a message: recalled memories, reminders, metadata.
    pub injected: u64,
    /// Tool calls and results.
    pub tools: u64,
    /// What a program said: system texts, heartbeats, scheduled prompts.
    pub system: u64,
    /// Thoughts, pictures and other parts that are no text.
    pub other: u64,
    /// Lines that could not be read.
    pub undecodable: u64,
    /// Secrets that were replaced.
    pub redacted: u64,
    /// Messages that were too long and are cut.
    pub cut: u64,
    /// Sections between `<private>` and `</private>`.
    pub private: u64,
}

/// How far back a conversation is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// Until this many messages are found.
    Messages(usize),
    /// To the last compaction, to measure the conversation; this many messages are kept.
    Compaction(usize),
}

impl Reach {
    /// How many messages are wanted.
    const fn messages(self) -> usize {
        match self {
            Self::Messages(most) | Self::Compaction(most) => most,
        }
    }

    /// How many bytes are read.
    pub(crate) const fn bytes(self) -> u64 {
        match self {
            Self::Messages(_) => MOST_BYTES,
            Self::Compaction(_) => MOST_MEASURED_BYTES,
        }
    }
}

/// Why a conversation cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadConversationError {
    /// The file system.
    #[error("cannot read the transcript {}", path.display())]
    Io {
        /// The transcript.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// Conversations of this runtime cannot be read by their ids.
    #[error("conversations of {0} cannot be read by their ids")]
    NotSupported(&'static str),
    /// Nothing in the file looks like a conversation.
    #[error("{} is not a transcript of a known runtime", .0.display())]
    Unknown(PathBuf),
    /// The agent has had no conversation that can be read.
    #[error("no conversation of the agent was found")]
    NothingSaid,
    /// The agent has no such session.
    #[error("the agent has no session {0:?}")]
    NoSession(String),
    /// The database of the sessions.
    #[error("cannot read the sessions in {}", path.display())]
    Database {
        /// The database.
        path: PathBuf,
        /// The cause.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}

/// Reads the end of a transcript in a file, in one of these formats.
///
/// The user or the program that wrote the transcript names the path, so a link is followed.
pub(crate) fn read_path(
    formats: &[TranscriptFormat],
    path: &Path,
    reach: Reach,
) -> Result<Conversation, ReadConversationError> {
    let fail = |source| ReadConversationError::Io { path: path.to_owned(), source };
    let target = fs_err::canonicalize(path).map_err(fail)?;
    let name = target.file_name().ok_or_else(|| fail(io::ErrorKind::NotFound.into()))?;
    let folder = Folder::open(folder_of(&target)).map_err(fail)?;
    let conversation = read_file(formats, &folder, Path::new(name), reach).map_err(fail)?;
    conversation.ok_or_else(|| ReadConversationError::Unknown(path.to_owned()))
}

/// Reads the end of a transcript in a folder; `None` when the file is not a transcript.
pub(crate) fn read_file(
    formats: &[TranscriptFormat],
    folder: &Folder,
    name: &Path,
    reach: Reach,
) -> io::Result<Option<Conversation>> {
    let mut file = folder.file(name)?;
    let size = file.metadata()?.len();
    let mut gather = MessageCollector::new(formats, reach);
    let mut begin = size;
    let mut is_blank = true;
    lines_from_end(&mut file, size, reach.bytes(), &mut |line, from| {
        is_blank = false;
        let flow = match line {
            Line::Text(bytes) => gather.take(bytes),
            Line::TooLong => gather.skip(),
        };
        if !gather.ended {
            begin = from;
        }
        flow
    })?;
    if !gather.knows_session() {
        // The first line names the session, but it was not reached.
        if let Some(first) = tail::first_line(&mut file)? {
            gather.header(&first);
        }
    }
    if !gather.known && !is_blank {
        return Ok(None);
    }
    let session = gather.session_id();
    let mut lookups = formats.iter().filter_map(|format| format.beside);
    let mut held = lookups.find_map(|beside| beside(folder, name, session)).unwrap_or_default();
    if gather.is_nameless() {
        // Only the name of the file says which session it is.
        let stem = name.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
        held.session_key.get_or_insert_with(|| stem.to_owned());
    }
    // If no boundary was found, the whole file counts.
    let since = if gather.ended { size - begin } else { size };
    Ok(Some(gather.finish(since, held)))
}

/// Reads the end of a transcript whose events come in order, the oldest first.
pub(crate) fn read_events<E>(
    format: TranscriptFormat,
    events: impl Iterator<Item = Result<Option<Vec<u8>>, E>>,
    reach: Reach,
    held: SessionFacts,
) -> Result<Option<Conversation>, E> {
    let mut last = std::collections::VecDeque::new();
    let (mut kept, mut all) = (0, 0);
    for event in events {
        let event = event?;
        let size = event.as_ref().map_or(0, Vec::len) as u64;
        kept += size;
        all += size;
        last.push_back(event);
        while kept > reach.bytes() && last.len() > 1 {
            kept -= last.pop_front().flatten().map_or(0, |event| event.len()) as u64;
        }
    }
    if last.is_empty() {
        return Ok(None);
    }
    let formats = [format];
    let mut gather = MessageCollector::new(&formats, reach);
    let mut since = 0;
    for event in last.iter().rev() {
        let flow = match event {
            Some(event) => gather.take(event),
            None => gather.skip(),
        };
        if !gather.ended {
            since += event.as_ref().map_or(0, Vec::len) as u64;
        }
        if flow == ControlFlow::Break(()) {
            break;
        }
    }
    let since = if gather.ended { since } else { all };
    Ok(Some(gather.finish(since, held)))
}

//! The conversation that a hook is about.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anemone_memory::{LockedStore, SessionKind};
use anemone_runtimes::{
    Conversation, ConversationMessage, HOOK_CALLER, Machine, Reach, ReadConversationError, Role,
    read_transcript,
};
use jiff::Zoned;
use jiff::tz::TimeZone;

use super::{HookError, HookInput, Result};
use crate::agent_memory::AgentMemory;
use crate::host::Host;

/// A session must not wait longer for another writer of its memory.
const PATIENCE: Duration = Duration::from_secs(2);

/// A conversation, as the user named it. Where nothing is named, the hook's JSON names it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ConversationChoice {
    /// The transcript of the session.
    pub transcript: Option<PathBuf>,
    /// The session, by its id or key, from the agent's own database or files.
    pub session: Option<String>,
}

impl ConversationChoice {
    /// Whether it names one, so that the hook's JSON is not needed.
    #[must_use]
    pub fn is_named(&self) -> bool {
        self.transcript.is_some() || self.session.is_some()
    }

    /// Returns the kind of session, by its name or by what the program says; `None` if neither
    /// says anything.
    pub(super) fn session_kind(&self, input: &HookInput) -> Option<SessionKind> {
        // An id says nothing, and counts as the owner's own session.
        let by_name = self.session.as_deref().map(SessionKind::of_key);
        let told = input.session_kind();
        told.filter(|kind| !kind.is_conversation()).or(by_name).or(told)
    }

    /// Reads the end of the conversation; `None` when none is named.
    pub(super) fn read(
        &self,
        input: &HookInput,
        memory: &AgentMemory,
        machine: &Machine,
        reach: Reach,
    ) -> Result<Option<Conversation>> {
        let of_agent = |session: Option<&str>| {
            memory.runtime.read_conversation(machine, &memory.agent, session, reach)
        };
        let found = match (&self.session, &self.transcript) {
            (Some(session), _) => Some(of_agent(Some(session))?),
            (None, Some(path)) => Some(read_transcript(path, reach)?),
            (None, None) => match &input.transcript_path {
                Some(path) => match read_transcript(path, reach) {
                    Ok(found) => Some(found),
                    // The program may have moved it away since, or keep it in a database.
                    Err(error) => Some(found_by_name(input, of_agent)?.ok_or(error)?),
                },
                None => found_by_name(input, of_agent)?,
            },
        };
        let path = self.transcript.as_ref().or(input.transcript_path.as_ref());
        Ok(found.map(|found| Self::completed(found, input, path.map(PathBuf::as_path))))
    }

    /// Reads the end of the conversation as [`Self::read`] does; where none is named, the end of
    /// the one that the agent had last.
    pub(super) fn read_or_last(
        &self,
        input: &HookInput,
        memory: &AgentMemory,
        machine: &Machine,
        reach: Reach,
    ) -> Result<Option<Conversation>> {
        if let Some(found) = self.read(input, memory, machine, reach)? {
            return Ok(Some(found));
        }
        let is_named = input.session_id.is_some() || input.session_key.is_some();
        if is_named || input.caller().is_some() {
            // The program means a certain conversation, which is not the last one of the agent.
            return Ok(None);
        }
        match memory.runtime.read_conversation(machine, &memory.agent, None, reach) {
            Ok(found) => Ok(Some(found)),
            Err(error) if is_absent(&error) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Adds what the program says about its session.
    fn completed(mut found: Conversation, input: &HookInput, path: Option<&Path>) -> Conversation {
        if let Some(caller) = input.caller()
            && found.source.is_none()
        {
            found.source = Some(caller.channel.to_owned());
        }
        if found.session_key.is_none() {
            found.session_key.clone_from(&input.session_key);
        }
        if found.session_id.is_none() {
            // A transcript may lack its first line. The session of a key changes, that of a file
            // does not.
            let file = path.and_then(|path| path.file_name()?.to_str()?.split(".jsonl").next());
            let named = input.session_id.as_deref().or(file).or(found.session_key.as_deref());
            found.session_id = named.map(str::to_owned);
        }
        found
    }
}

/// Reads the conversation that the hook's JSON names, by its id or else by its key; `None` if the
/// agent has none of these names. The id comes first: it stays when a key gets a new session.
fn found_by_name(
    input: &HookInput,
    of_agent: impl Fn(Option<&str>) -> Result<Conversation, ReadConversationError>,
) -> Result<Option<Conversation>> {
    for name in [&input.session_id, &input.session_key].into_iter().flatten() {
        match of_agent(Some(name)) {
            Ok(found) => return Ok(Some(found)),
            Err(error) if is_absent(&error) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(None)
}

/// Whether there is no such conversation, rather than one that cannot be read.
fn is_absent(error: &ReadConversationError) -> bool {
    matches!(
        error,
        ReadConversationError::NoSession(_)
            | ReadConversationError::NothingSaid
            | ReadConversationError::NotSupported(_)
    )
}

/// Returns the time in a time zone that the user named, or else in the local one.
pub(super) fn local_time(zone: Option<&str>, host: &Host) -> Result<Zoned> {
    let zone = match zone {
        None => host.zone(),
        Some(name) => {
            TimeZone::get(name).map_err(|_| HookError::UnknownTimeZone(name.to_owned()))?
        }
    };
    Ok(host.now().to_zoned(zone))
}

/// Returns the name under which the state of a conversation's note is kept.
pub(super) fn name_of_note(conversation: &Conversation) -> String {
    let session = conversation.session_id.as_deref().unwrap_or("unknown");
    match &conversation.reset {
        None => session.to_owned(),
        // A conversation after a reset is another one, even if the session keeps its id.
        Some(reset) => format!("{session} after {reset}"),
    }
}

/// Returns who said what.
pub(super) fn said(conversation: &Conversation) -> Vec<(&str, &str)> {
    let messages = conversation.messages.iter();
    messages.map(|message| (message.role.as_str(), message.text.as_str())).collect()
}

/// Returns the owner's messages, and counts those of others.
///
/// Most messages do not name their sender. In a direct conversation they are the owner's; in a
/// group their sender is unknown.
pub(super) fn said_by_owner(conversation: &Conversation) -> (Vec<String>, u64) {
    let unknown = is_direct(conversation);
    let is_own = |message: &&ConversationMessage| message.by_owner.unwrap_or(unknown);
    let of_people = || conversation.messages.iter().filter(|message| message.role == Role::User);
    let own: Vec<String> = of_people().filter(is_own).map(|own| own.text.clone()).collect();
    let others = of_people().count() - own.len();
    (own, others as u64)
}

/// Says whether only the owner speaks in a conversation: with a caller of hooks, or in the main
/// session of an agent, `agent:<id>:main`.
fn is_direct(conversation: &Conversation) -> bool {
    match conversation.session_key.as_deref() {
        None => conversation.source.as_deref() == Some(HOOK_CALLER.channel),
        Some(key) => {
            let parts: Vec<&str> = key.split(':').collect();
            matches!(parts.as_slice(), ["agent", id, "main"] if !id.is_empty())
        }
    }
}

/// Keeps others from writing to a memory, unless they write too long.
pub(super) fn lock(memory: &AgentMemory) -> Result<LockedStore<'_>> {
    Ok(memory.site.lock_within(PATIENCE)?)
}

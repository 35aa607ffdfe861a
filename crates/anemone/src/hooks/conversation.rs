//! The conversation that a hook is about.

use std::path::PathBuf;
use std::time::Duration;

use anemone_memory::LockedStore;
use anemone_runtimes::{
    Conversation, ConversationMessage, HOOK_CALLER, Machine, Reach, Role, read_transcript,
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

    /// Reads the end of the conversation; `None` when none is named.
    pub(super) fn read(
        &self,
        input: &HookInput,
        memory: &AgentMemory,
        machine: &Machine,
        reach: Reach,
    ) -> Result<Option<Conversation>> {
        let transcript = self.transcript.as_ref().or(input.transcript_path.as_ref());
        let mut found = match (&self.session, transcript) {
            (Some(session), _) => {
                memory.runtime.read_conversation(machine, &memory.agent, session, reach)?
            }
            (None, Some(path)) => read_transcript(path, reach)?,
            (None, None) => return Ok(None),
        };
        if let Some(caller) = input.caller()
            && found.source.is_none()
        {
            found.source = Some(caller.channel.to_owned());
        }
        if found.session_key.is_none() {
            found.session_key.clone_from(&input.session_key);
        }
        if found.session_id.is_none() {
            found.session_id = input.session_id.clone().or_else(|| found.session_key.clone());
        }
        Ok(Some(found))
    }
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

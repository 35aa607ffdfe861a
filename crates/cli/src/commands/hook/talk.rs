//! The conversation that a hook is about.

use std::path::PathBuf;
use std::time::Duration;

use anemone_memory::LockedStore;
use anemone_runtimes::{CLAUDE_CODE, Conversation, Machine, Reach, Role, Said, read_transcript};
use clap::Args;
use jiff::Zoned;
use jiff::tz::TimeZone;

use super::input::HookInput;

use crate::error::{CliError, Kind};
use crate::living::AgentMemory;
use anemone::system::SystemClock;
use anemone_memory::Clock as _;

/// A session must not wait longer for somebody else who writes to its memory.
const PATIENCE: Duration = Duration::from_secs(2);

/// Arguments that name a conversation.
#[derive(Args, Clone, Debug)]
pub(super) struct TalkArgs {
    /// The transcript of the session: OpenClaw's, ZeroClaw's or Claude Code's JSONL
    #[arg(long, value_name = "FILE", conflicts_with = "session")]
    pub(super) transcript: Option<PathBuf>,

    /// The session, by its id or key, from the agent's own database or files
    #[arg(long, value_name = "ID")]
    pub(super) session: Option<String>,
}

impl TalkArgs {
    /// Whether the arguments say it, so that nobody need say it on stdin.
    pub(super) fn is_said(&self) -> bool {
        self.transcript.is_some() || self.session.is_some()
    }

    /// Reads the end of the conversation; `None` when none is named.
    pub(super) fn read(
        &self,
        input: &HookInput,
        living: &AgentMemory,
        machine: &Machine,
        reach: Reach,
    ) -> Result<Option<Conversation>, CliError> {
        let transcript = self.transcript.as_ref().or(input.transcript_path.as_ref());
        let mut found = match (&self.session, transcript) {
            (Some(session), _) => {
                living.adapter.read_conversation(machine, &living.agent, session, reach)?
            }
            (None, Some(path)) => read_transcript(path, reach)?,
            (None, None) => return Ok(None),
        };
        if input.is_of_claude_code() && found.source.is_none() {
            found.source = Some(CLAUDE_CODE.to_owned());
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

/// Arguments that say when it is.
#[derive(Args, Clone, Debug)]
pub(super) struct ZoneArgs {
    /// The time zone of the user, such as Europe/Berlin; without it, that of this machine
    #[arg(long, value_name = "ZONE")]
    timezone: Option<String>,
}

impl ZoneArgs {
    /// Returns the time, where the user is.
    pub(super) fn now(&self) -> Result<Zoned, CliError> {
        let zone = match &self.timezone {
            None => TimeZone::system(),
            Some(name) => TimeZone::get(name).map_err(|_| {
                CliError::new(Kind::Usage, "timezone", format!("{name:?} is no time zone"))
            })?,
        };
        Ok(SystemClock.now().to_zoned(zone))
    }
}

/// Returns who said what.
pub(super) fn said(conversation: &Conversation) -> Vec<(&str, &str)> {
    conversation.messages.iter().map(|it| (it.role.as_str(), it.text.as_str())).collect()
}

/// Returns what the owner said, and counts what others said.
///
/// Of most messages nobody noted who sent them. They are the owner's where nobody else speaks;
/// in a group they may be anybody's.
pub(super) fn said_by_owner(conversation: &Conversation) -> (Vec<String>, u64) {
    let unknown = is_direct(conversation);
    let is_own = |it: &&Said| it.by_owner.unwrap_or(unknown);
    let of_people = || conversation.messages.iter().filter(|it| it.role == Role::User);
    let own: Vec<String> = of_people().filter(is_own).map(|it| it.text.clone()).collect();
    let others = of_people().count() - own.len();
    (own, others as u64)
}

/// Says whether only the owner speaks in a conversation: with Claude Code, or in the session that
/// OpenClaw calls `agent:<id>:main`.
fn is_direct(conversation: &Conversation) -> bool {
    match conversation.session_key.as_deref() {
        None => conversation.source.as_deref() == Some(CLAUDE_CODE),
        Some(key) => {
            let parts: Vec<&str> = key.split(':').collect();
            matches!(parts.as_slice(), ["agent", id, "main"] if !id.is_empty())
        }
    }
}

/// Keeps others from writing to a memory, unless they write too long.
pub(super) fn lock(living: &AgentMemory) -> Result<LockedStore<'_>, CliError> {
    Ok(living.site.lock_within(PATIENCE)?)
}

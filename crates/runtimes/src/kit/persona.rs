//! The files that describe the agent and the people it works for, under the names that several
//! runtimes share.

mod identity;
mod principals;
mod write;

use anemone_format::{AgentId, Identity, Moment, Principals};

use self::identity::IdentityFiles;
use crate::kit::{
    AGENT_ID_FILE, Carrier, FoundEntry, PreviousSnapshot, WorkspaceFiles, ids, keep_newest,
};

pub(crate) use self::write::{brief_line, documents, one_line};

/// Bytes of all files of one document: JSON may take six times as much, and has a limit.
const MAX_PROSE_BYTES: u64 = 8 << 20;

/// The files of a workspace whose persona is in files of these names.
pub(crate) const WORKSPACE_FILES: WorkspaceFiles = WorkspaceFiles {
    known: &[
        "AGENTS.md",
        "BOOT.md",
        "BOOTSTRAP.md",
        "CLAUDE.md",
        "DREAMS.md",
        "HEARTBEAT.md",
        "IDENTITY.md",
        "MEMORY.md",
        "README.md",
        "SOUL.md",
        "TOOLS.md",
        "USER.md",
        "memory.md",
    ],
    evergreen: &["MEMORY.md", "memory.md", "USER.md"],
    bootstrap: &[
        "AGENTS.md",
        "SOUL.md",
        "IDENTITY.md",
        "USER.md",
        "TOOLS.md",
        "HEARTBEAT.md",
        "BOOTSTRAP.md",
    ],
    unmistakable: &[AGENT_ID_FILE],
};

/// Whom a file describes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum PersonaPlace {
    /// The agent.
    Agent(Persona),
    /// Its user: `USER.md`.
    User,
    /// One more user: `users/<profile>/USER.md`, with the profile.
    OtherUser(String),
}

/// Files of the persona; `file` says which.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Persona {
    Soul,
    Identity,
    Agents,
    Tools,
    Heartbeat,
    Boot,
    Bootstrap,
}

impl Persona {
    /// Every one.
    pub(crate) const ALL: [Self; 7] = [
        Self::Soul,
        Self::Identity,
        Self::Agents,
        Self::Tools,
        Self::Heartbeat,
        Self::Boot,
        Self::Bootstrap,
    ];

    /// Returns the name of its file, at the root of the workspace.
    pub(crate) const fn file(self) -> &'static str {
        match self {
            Self::Soul => "SOUL.md",
            Self::Identity => "IDENTITY.md",
            Self::Agents => "AGENTS.md",
            Self::Tools => "TOOLS.md",
            Self::Heartbeat => "HEARTBEAT.md",
            Self::Boot => "BOOT.md",
            Self::Bootstrap => "BOOTSTRAP.md",
        }
    }
}

/// Returns whom a regular file describes, by its path in the workspace.
pub(crate) fn place_of(path: &[u8]) -> Option<PersonaPlace> {
    let path = std::str::from_utf8(path).ok()?;
    if let Some(persona) = Persona::ALL.into_iter().find(|value| value.file() == path) {
        return Some(PersonaPlace::Agent(persona));
    }
    if path == "USER.md" {
        return Some(PersonaPlace::User);
    }
    let profile = path.strip_prefix("users/")?.strip_suffix("/USER.md")?;
    (!profile.contains('/')).then(|| PersonaPlace::OtherUser(profile.to_owned()))
}

/// Returns the earlier identity if this one has the same content; otherwise increases the version.
pub(crate) fn versioned(identity: Identity, earlier: Option<&PreviousSnapshot>) -> Identity {
    match earlier.and_then(|earlier| earlier.identity.as_ref()) {
        Some(known) if identity::same_identity(known, &identity) => known.clone(),
        Some(known) => {
            Identity { id: known.id, version: known.version.saturating_add(1), ..identity }
        }
        None => identity,
    }
}

/// The texts of these files, as they travel.
#[derive(Default)]
pub(crate) struct Prose {
    runtime: &'static str,
    persona: Vec<(Persona, String)>,
    user: Option<String>,
    others: Vec<(String, String)>,
    /// When the newest file of the persona was written.
    persona_at: Option<Moment>,
    /// When the newest file about a user was written.
    users_at: Option<Moment>,
}

impl Prose {
    /// Reads these files before their turn; the carrier keeps them until then. `place_of` says
    /// which files they are, as [`place_of`] does for a runtime that has all of them.
    pub(crate) fn read(
        runtime: &'static str,
        found: &[FoundEntry],
        carrier: &mut Carrier<'_>,
        place_of: &dyn Fn(&[u8]) -> Option<PersonaPlace>,
    ) -> Self {
        let mut prose = Self { runtime, ..Self::default() };
        let (mut of_persona, mut of_users) = (MAX_PROSE_BYTES, MAX_PROSE_BYTES);
        for found in found.iter().filter(|found| found.is_file()) {
            let Some(place) = place_of(&found.path) else { continue };
            let (newest, left) = match place {
                PersonaPlace::Agent(_) => (&mut prose.persona_at, &mut of_persona),
                PersonaPlace::User | PersonaPlace::OtherUser(_) => {
                    (&mut prose.users_at, &mut of_users)
                }
            };
            let Some(rest) = left.checked_sub(found.size()) else {
                let message = "is too large to be taken apart; it travels as it is";
                carrier.outcome.warn("too_large", &found.path, message);
                continue;
            };
            *left = rest;
            let Some(loaded) = carrier.keep(found) else { continue };
            let mtime = loaded.mtime.clone();
            let Ok(text) = String::from_utf8(loaded.bytes.clone()) else {
                let message = "is not UTF-8; it travels as it is, and tells nothing of the agent";
                carrier.outcome.warn("not_utf8", &found.path, message);
                continue;
            };
            keep_newest(newest, mtime.as_ref());
            match place {
                PersonaPlace::Agent(persona) => prose.persona.push((persona, text)),
                PersonaPlace::User => prose.user = Some(text),
                PersonaPlace::OtherUser(profile) => prose.others.push((profile, text)),
            }
        }
        prose
    }

    fn files(&self) -> IdentityFiles<'_> {
        let text = |wanted: Persona| {
            self.persona.iter().find(|(persona, _)| *persona == wanted).map(|(_, text)| &**text)
        };
        IdentityFiles {
            soul: text(Persona::Soul),
            identity: text(Persona::Identity),
            agents: text(Persona::Agents),
            tools: text(Persona::Tools),
            heartbeat: text(Persona::Heartbeat),
            boot: text(Persona::Boot),
            bootstrap: text(Persona::Bootstrap),
        }
    }

    /// Returns the agent's name, if it was given one.
    pub(crate) fn name(&self) -> Option<String> {
        identity::agent_name(&self.files())
    }

    /// Returns the identity; its version increases when it differs from the earlier one.
    pub(crate) fn identity(
        &self,
        agent: AgentId,
        earlier: Option<&PreviousSnapshot>,
    ) -> Option<Identity> {
        let at = self.persona_at.clone()?;
        let id = ids::item(agent, "identity");
        let identity = identity::identity(self.runtime, &self.files(), agent, id, 1, at)?;
        Some(versioned(identity, earlier))
    }

    /// Returns the principals; a profile's version increases when it differs from the earlier one.
    pub(crate) fn principals(
        &self,
        agent: AgentId,
        earlier: Option<&PreviousSnapshot>,
    ) -> Option<Principals> {
        let at = self.users_at.clone()?;
        let others: Vec<(String, &str)> =
            self.others.iter().map(|(profile, text)| (profile.clone(), &**text)).collect();
        let mut principals =
            principals::principals(self.runtime, self.user.as_deref(), &others, agent, &at)?;
        let known = earlier.and_then(|earlier| earlier.principals.as_ref());
        for principal in &mut principals.principals {
            let known = known
                .and_then(|value| value.principals.iter().find(|other| other.id == principal.id));
            let Some(known) = known else { continue };
            if principals::same_profile(&known.profile, &principal.profile) {
                principal.profile = known.profile.clone();
            } else {
                principal.profile.version = known.profile.version.saturating_add(1);
            }
        }
        Some(principals)
    }
}

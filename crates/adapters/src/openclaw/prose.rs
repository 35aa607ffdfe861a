//! The files that say who the agent is and whom it works for.

use anemone_format::{AgentId, Identity, Moment, Principals};

use super::identity::{self, IdentityFiles};
use super::layout::{self, Persona, Place};
use super::principals;
use crate::carry::{Carrier, keep_newest};
use crate::earlier::Earlier;
use crate::ids;
use crate::walk::Found;

/// Bytes of all files of one document: JSON may take six times as much, and has a limit.
const MAX_PROSE_BYTES: u64 = 8 << 20;

/// The texts of these files, as they travel.
#[derive(Default)]
pub(super) struct Prose {
    persona: Vec<(Persona, String)>,
    user: Option<String>,
    others: Vec<(String, String)>,
    /// When the newest file of the persona was written.
    persona_at: Option<Moment>,
    /// When the newest file about a user was written.
    users_at: Option<Moment>,
}

impl Prose {
    /// Reads them before their turn; the carrier keeps them until then.
    pub(super) fn read(found: &[Found], carrier: &mut Carrier<'_>) -> Self {
        let mut prose = Self::default();
        let (mut of_persona, mut of_users) = (MAX_PROSE_BYTES, MAX_PROSE_BYTES);
        for found in found.iter().filter(|found| found.is_file()) {
            let place = layout::place_of(&found.path);
            let (newest, left) = match place {
                Place::Persona(_) => (&mut prose.persona_at, &mut of_persona),
                Place::User | Place::OtherUser(_) => (&mut prose.users_at, &mut of_users),
                _ => continue,
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
                Place::Persona(persona) => prose.persona.push((persona, text)),
                Place::User => prose.user = Some(text),
                Place::OtherUser(profile) => prose.others.push((profile, text)),
                _ => {}
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

    /// Returns the agent's name, when somebody gave it one.
    pub(super) fn name(&self) -> Option<String> {
        identity::agent_name(&self.files())
    }

    /// Makes the identity; its version rises when it is not the one that was known.
    pub(super) fn identity(&self, agent: AgentId, earlier: Option<&Earlier>) -> Option<Identity> {
        let at = self.persona_at.clone()?;
        let known = earlier.and_then(|it| it.identity.as_ref());
        let id = known.map_or_else(|| ids::item(agent, "identity"), |it| it.id);
        let version = known.map_or(1, |it| it.version.saturating_add(1));
        let identity = identity::identity(&self.files(), agent, id, version, at)?;
        match known {
            Some(known) if identity::same_identity(known, &identity) => Some(known.clone()),
            _ => Some(identity),
        }
    }

    /// Makes the principals; a profile's version rises when it is not the one that was known.
    pub(super) fn principals(
        &self,
        agent: AgentId,
        earlier: Option<&Earlier>,
    ) -> Option<Principals> {
        let at = self.users_at.clone()?;
        let others: Vec<(String, &str)> =
            self.others.iter().map(|(profile, text)| (profile.clone(), &**text)).collect();
        let mut principals = principals::principals(self.user.as_deref(), &others, agent, &at)?;
        let known = earlier.and_then(|it| it.principals.as_ref());
        for principal in &mut principals.principals {
            let known = known.and_then(|it| it.principals.iter().find(|it| it.id == principal.id));
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

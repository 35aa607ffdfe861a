//! Who the agent is: structured fields for machines, prose for the model.

use crate::id::{AgentId, ItemId};
use crate::moment::Moment;
use crate::object::{object, vocabulary};
use crate::opaque::Opaque;
use crate::pairs::Pairs;
use crate::unknown::Nullable;

object! {
    /// The agent's persona at one version.
    pub struct Identity {
        /// This document.
        required id: ItemId,
        /// The agent it describes.
        required agent_id: AgentId,
        /// Counts the changes; records point at it.
        #[schemars(range(min = 1))]
        required version: u64,
        /// When this version was made.
        required updated_at: Moment,
        /// Fields for machines.
        optional structured: StructuredIdentity,
        /// Text for the model.
        optional prose: ProseIdentity,
        /// The runtime or standard it was written in.
        optional source_format: String,
        /// The original representation; only carried.
        optional raw_source: Opaque,
    }
}

object! {
    /// The persona as fields.
    #[derive(Default)]
    pub struct StructuredIdentity {
        /// What it is called.
        optional names: Names,
        /// What it is for.
        optional role: String,
        /// What it wants.
        list goals: String,
        /// How it is.
        optional psychology: Psychology,
        /// How it talks.
        optional linguistics: Linguistics,
        /// What it can do.
        list capabilities: Capability,
        /// Whom it can send.
        list sub_agents: SubAgent,
        /// Fields of AIEOS that have no place above; only carried.
        optional aieos_extensions: Opaque,
    }
}

object! {
    /// The agent's names.
    #[derive(Default)]
    pub struct Names {
        /// The one to show.
        required primary: String,
        /// The short one.
        optional nickname: String,
        /// The long one.
        optional full: String,
    }
}

object! {
    /// Temperament.
    #[derive(Default)]
    pub struct Psychology {
        /// Trait scores from 0 to 1.
        optional neural_matrix: Pairs<f64>,
        /// Scores in a named framework.
        optional personality_traits: PersonalityTraits,
        /// A label such as `Neutral Good`.
        optional moral_alignment: String,
        /// A label such as `ENTP`.
        optional mbti: String,
    }
}

object! {
    /// Scores in one personality framework.
    pub struct PersonalityTraits {
        /// The framework, such as `OCEAN`.
        required framework: String,
        /// Trait to score.
        required scores: Pairs<f64>,
    }
}

object! {
    /// Ways of talking.
    #[derive(Default)]
    pub struct Linguistics {
        /// 0 casual, 1 formal.
        #[schemars(range(min = 0.0, max = 1.0))]
        optional formality_level: f64,
        /// 0 terse, 1 long.
        #[schemars(range(min = 0.0, max = 1.0))]
        optional verbosity: f64,
        /// 0 earnest, 1 funny.
        #[schemars(range(min = 0.0, max = 1.0))]
        optional humor_level: f64,
        /// Whether slang is fine.
        optional slang_usage: bool,
        /// A BCP 47 tag.
        optional preferred_language: String,
        /// Pet words and their opposite.
        optional idiolect: Idiolect,
    }
}

object! {
    /// Words an agent likes and avoids.
    #[derive(Default)]
    pub struct Idiolect {
        /// Phrases it is known for.
        list catchphrases: String,
        /// Habits of speech.
        list verbal_tics: String,
        /// Words it does not use.
        list avoided_words: String,
    }
}

object! {
    /// Something an agent can do.
    #[derive(Default)]
    pub struct Capability {
        /// A short name such as `web_search`.
        required name: String,
        /// What it does.
        optional description: String,
        /// 1 comes first.
        #[schemars(range(min = 1))]
        optional priority: u64,
        /// Whether it moves with the agent or needs the host.
        optional portability: Portability,
        /// What the host must offer.
        optional host_requirements: String,
        /// Credentials it needs.
        list credential_ids: ItemId,
    }
}

object! {
    /// An agent that this one sends.
    pub struct SubAgent {
        /// Its own archive's agent, or null when it keeps nothing.
        required agent_id: Nullable<AgentId>,
        /// Its name.
        required name: String,
        /// What it does.
        optional description: String,
        /// What it can do.
        #[schemars(extend("x-required" = true))]
        required capabilities: Vec<Capability>,
        /// Which models it ran on.
        optional model_hints: ModelHints,
        /// When to send it.
        optional routing_hints: String,
        /// Whether it can be sent.
        required status: SubAgentStatus,
        /// When it was last sent.
        optional last_invoked_at: Moment,
        /// How it did.
        optional performance_notes: String,
    }
}

object! {
    /// Which models an agent ran on.
    pub struct ModelHints {
        /// The one it ran on most.
        optional primary_model: String,
        /// The one it ran on last.
        optional last_model: String,
    }
}

object! {
    /// The persona as text.
    pub struct ProseIdentity {
        /// Values and character; SOUL.md.
        optional soul: String,
        /// Rules of work; AGENTS.md.
        optional operating_instructions: String,
        /// Name, looks and story; IDENTITY.md.
        optional identity_profile: String,
        /// Other texts by name; `boot_checklist`, `heartbeat_checklist` and `tools_guidance` are
        /// the usual ones.
        optional custom_blocks: Pairs<String>,
    }
}

vocabulary! {
    /// Whether a capability moves with the agent.
    pub enum Portability (unknown: Intrinsic) {
        /// The model has it anywhere.
        Intrinsic = "intrinsic",
        /// The host has to offer it.
        HostDependent = "host_dependent",
    }
}

vocabulary! {
    /// Whether a sub-agent can be sent.
    pub enum SubAgentStatus (unknown: Active) {
        /// It can.
        Active = "active",
        /// It is switched off.
        Inactive = "inactive",
        /// It cannot be reached.
        Unavailable = "unavailable",
    }
}

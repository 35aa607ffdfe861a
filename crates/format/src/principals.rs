//! Whom the agent works for.

use crate::id::{AgentId, ItemId};
use crate::moment::Moment;
use crate::object::{object, vocabulary};
use crate::opaque::Opaque;

object! {
    /// Everyone the agent works for.
    pub struct Principals {
        /// The principals, in the runtime's order.
        #[schemars(extend("x-required" = true))]
        required principals: Vec<Principal>,
    }
}

object! {
    /// A person or agent that this agent works for.
    pub struct Principal {
        /// This relationship.
        required id: ItemId,
        /// What the principal is.
        required principal_type: PrincipalType,
        /// The principal's own agent id, when it is an agent.
        optional agent_id: AgentId,
        /// What is known about the principal.
        required profile: Profile,
    }
}

object! {
    /// What is known about a principal, at one version.
    pub struct Profile {
        /// This document.
        required id: ItemId,
        /// The agent that knows it.
        required agent_id: AgentId,
        /// The principal it describes.
        required principal_id: ItemId,
        /// Counts the changes.
        #[schemars(range(min = 1))]
        required version: u64,
        /// When this version was made.
        required updated_at: Moment,
        /// Fields for machines.
        optional structured: StructuredProfile,
        /// Text for the model.
        optional prose: ProseProfile,
        /// The runtime it was written in.
        optional source_format: String,
        /// The original representation; only carried.
        optional raw_source: Opaque,
    }
}

object! {
    /// A profile as fields.
    #[derive(Default)]
    pub struct StructuredProfile {
        /// The principal's name.
        optional name: String,
        /// Repeats the principal's type.
        optional principal_type: String,
        /// An IANA zone such as `Europe/Berlin`.
        optional timezone: String,
        /// A BCP 47 tag.
        optional locale: String,
        /// How to answer.
        optional communication_preferences: CommunicationPreferences,
        /// What the principal does.
        optional work_context: WorkContext,
        /// Who is who; only carried.
        list relationships: Opaque,
        /// Anything else; only carried.
        optional custom_fields: Opaque,
    }
}

object! {
    /// How a principal wants to be answered.
    #[derive(Default)]
    pub struct CommunicationPreferences {
        /// Such as `casual`.
        optional tone: String,
        /// Such as `concise`.
        optional response_length: String,
        /// Such as `minimal markdown`.
        optional formatting: String,
    }
}

object! {
    /// A principal's work.
    #[derive(Default)]
    pub struct WorkContext {
        /// The job.
        optional role: String,
        /// The employer.
        optional company: String,
        /// What is being worked on.
        list projects: String,
    }
}

object! {
    /// A profile as text.
    pub struct ProseProfile {
        /// USER.md or its like.
        optional user_profile: String,
    }
}

vocabulary! {
    /// What a principal is.
    pub enum PrincipalType (unknown: Human) {
        /// A person.
        Human = "human",
        /// Another agent.
        Agent = "agent",
    }
}

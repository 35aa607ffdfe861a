//! Purging: permanently removing records from an archive or a delta.
//!
//! A plan finds every place that holds the text of the records: their own lines with their vectors,
//! the sections of the raw files they came from, and any other copies. Where the text cannot be cut
//! out without damage (another record has the same text, a database file holds it) the plan reports
//! that and nothing is written. Every other entry is copied in its packed form. The new file is
//! then searched for the text, and the purge only succeeds when it is not found.

pub(crate) mod apply;
pub(crate) mod plan;
pub(crate) mod probe;

use crate::id::{AgentId, ItemId, RecordId};
use crate::moment::Moment;
use crate::object::{object, vocabulary};

object! {
    /// What was purged, by whom and why; it holds nothing of what was purged.
    pub struct PurgeAudit {
        /// This purge.
        required purge_id: ItemId,
        /// The agent.
        required agent_id: AgentId,
        /// How much was purged.
        required scope: PurgeScope,
        /// The records that are gone.
        #[schemars(extend("x-required" = true))]
        required record_ids: Vec<RecordId>,
        /// The entries that held them.
        #[schemars(extend("x-required" = true))]
        required partitions_affected: Vec<String>,
        /// Why.
        required reason: PurgeReason,
        /// When it was asked for.
        required requested_at: Moment,
        /// When it was done.
        required completed_at: Moment,
        /// Who asked.
        optional requested_by: String,
    }
}

vocabulary! {
    /// How much was purged.
    pub enum PurgeScope (unknown: RecordPurge) {
        /// All of an agent.
        FullAgent = "full_agent",
        /// Some records.
        RecordPurge = "record_purge",
    }
}

vocabulary! {
    /// Why something was purged.
    pub enum PurgeReason (unknown: UserRequest) {
        /// The right to erasure of the GDPR.
        GdprArticle17 = "gdpr_article_17",
        /// The right to deletion of the CCPA.
        CcpaDeletion = "ccpa_deletion",
        /// A user requested it.
        UserRequest = "user_request",
        /// Something leaked.
        SecurityIncident = "security_incident",
    }
}

//! A record: one remembered thing.

use jiff::Timestamp;
use jiff::civil::Date;

use crate::id::{AgentId, RecordId};
use crate::moment::Moment;
use crate::object::{Assumed, object, vocabulary};
use crate::opaque::Opaque;
use crate::unknown::Unknown;

object! {
    /// One remembered thing; one line of a partition.
    pub struct Record {
        /// Any UUID; stays the same for the life of the record.
        required id: RecordId,
        /// The agent that remembers.
        required agent_id: AgentId,
        /// What is remembered, verbatim.
        #[schemars(length(min = 1))]
        required content: String,
        /// What kind of memory it is.
        required memory_type: MemoryType,
        /// Where it came from.
        required source: Source,
        /// When it was made, changed, seen.
        required temporal: Temporal,
        /// Whether it is in force.
        required status: Status,
        /// The shelf it stands on, such as `daily` or `curated`.
        required namespace: String,
        /// A finer word within the kind, such as `decision`.
        optional category: String,
        /// The record that this one replaces.
        optional supersedes: RecordId,
        /// How sure the source was.
        #[schemars(range(min = 0.0, max = 1.0))]
        optional confidence: f64,
        /// Who and what it is about.
        list entities: Entity,
        /// Free labels.
        list tags: String,
        /// Vectors that some model computed from the content.
        list embeddings: Embedding,
        /// Other records that belong to it.
        list related_records: Relation,
        /// What the runtime needs to put it back exactly; only carried.
        optional raw_source_format: Opaque,
    }
}

object! {
    /// Where a record came from.
    #[derive(Default)]
    pub struct Source {
        /// The runtime that held it, such as `openclaw`.
        required runtime: String,
        /// That runtime's version.
        optional runtime_version: String,
        /// The kind of place within the runtime, such as `workspace` or `sqlite`.
        optional origin: String,
        /// The file within the workspace, with `/` between parts.
        optional origin_file: String,
        /// Who wrote it down.
        optional extraction_method: ExtractionMethod,
        /// The conversation it was learned in.
        optional session_id: String,
        /// The turn it was learned in.
        optional interaction_id: String,
        /// The identity version the agent had then.
        #[schemars(range(min = 1))]
        optional identity_version: u64,
    }
}

object! {
    /// The times of a record.
    pub struct Temporal {
        /// When it was first remembered; decides the partition, unless the manifest says otherwise.
        required created_at: Moment,
        /// When it last changed.
        optional updated_at: Moment,
        /// When the thing itself happened.
        optional observed_at: Moment,
        /// From when it holds.
        optional valid_from: Moment,
        /// Until when it holds.
        optional valid_until: Moment,
        /// When it was last recalled.
        optional last_accessed_at: Moment,
        /// How often it was recalled.
        optional access_count: u64,
    }
}

object! {
    /// Somebody or something a record is about.
    pub struct Entity {
        /// The name in the record.
        required name: String,
        /// What it is.
        required kind: EntityKind = "type",
        /// The part it plays.
        optional role: String,
    }
}

object! {
    /// A vector computed from a record's content.
    pub struct Embedding {
        /// `provider/model`.
        required model: String,
        /// The provider alone.
        optional provider: String,
        /// The length of the vector.
        #[schemars(range(min = 1))]
        required dimensions: u64,
        /// The numbers, written in the shortest text that reads back as the same `f32`.
        #[schemars(extend("x-required" = true))]
        required vector: Vec<f32>,
        /// When it was computed.
        assumed computed_at: Moment,
        /// Who computed it.
        assumed source: EmbeddingSource,
    }
}

object! {
    /// A link from one record to another.
    pub struct Relation {
        /// The other record.
        required id: RecordId,
        /// What the other record is to this one; a free word.
        required relation: String,
    }
}

vocabulary! {
    /// What kind of memory a record is.
    pub enum MemoryType (unknown: Semantic) {
        /// A fact.
        Semantic = "semantic",
        /// Something that happened.
        Episodic = "episodic",
        /// A way of doing things.
        Procedural = "procedural",
        /// A preference.
        Preference = "preference",
        /// Something distilled from other memories.
        Summary = "summary",
    }
}

vocabulary! {
    /// Whether a record is in force.
    pub enum Status (unknown: Active) {
        /// In force.
        Active = "active",
        /// Replaced by a newer record.
        Superseded = "superseded",
        /// Kept, no longer in use.
        Archived = "archived",
        /// Gone; only the tombstone is left.
        Deleted = "deleted",
    }
}

vocabulary! {
    /// Who wrote a record down. The format names no default for unknown words; the most general
    /// one stands in.
    pub enum ExtractionMethod (unknown: Migrated) {
        /// The agent, on its own account.
        AgentWritten = "agent_written",
        /// A model, reading a conversation.
        LlmExtracted = "llm_extracted",
        /// A person.
        UserAuthored = "user_authored",
        /// A tool, from another system.
        Migrated = "migrated",
    }
}

vocabulary! {
    /// What an entity is.
    pub enum EntityKind (unknown: Other) {
        /// A person.
        Person = "person",
        /// A company, team or club.
        Organization = "organization",
        /// A project.
        Project = "project",
        /// A place.
        Location = "location",
        /// A tool.
        Tool = "tool",
        /// A service.
        Service = "service",
        /// Anything else.
        Other = "other",
    }
}

vocabulary! {
    /// Who computed a vector.
    pub enum EmbeddingSource (unknown: Runtime) {
        /// The runtime, for its own index.
        Runtime = "runtime",
        /// A sync service.
        SyncService = "sync_service",
        /// The tool that moved the record.
        ImportAdapter = "import_adapter",
    }
}

/// Archives by other writers may have vectors that name only model, length and numbers: then nobody
/// knows when they were computed.
impl Assumed for Moment {
    fn assumed() -> Self {
        Self::from(Timestamp::UNIX_EPOCH)
    }
}

impl Assumed for EmbeddingSource {
    fn assumed() -> Self {
        Self::Runtime
    }
}

impl Record {
    /// Parses a line.
    pub fn parse(line: &[u8]) -> serde_json::Result<Self> {
        #[cfg(feature = "parse-counts")]
        crate::parse_counts::note();
        serde_json::from_slice(line)
    }

    /// Writes it as a line. Not generic, so that it is optimised with this crate's settings,
    /// wherever it is called.
    pub(crate) fn to_line(&self) -> serde_json::Result<Vec<u8>> {
        serde_json::to_vec(self)
    }

    /// Returns the day that decides its partition where `observed_at` may
    /// ([`PartitionBy::ObservedAt`](crate::PartitionBy::ObservedAt)).
    #[must_use]
    pub fn observed_day(&self) -> Date {
        let is_episodic = self.memory_type == MemoryType::Episodic;
        let observed = self.temporal.observed_at.as_ref().filter(|_| is_episodic);
        observed.unwrap_or(&self.temporal.created_at).utc_date()
    }

    /// Creates a record with the required fields; the rest is empty.
    #[must_use]
    pub fn new(
        id: RecordId,
        agent_id: AgentId,
        runtime: &str,
        created_at: Moment,
        content: &str,
    ) -> Self {
        Self {
            id,
            agent_id,
            content: content.to_owned(),
            memory_type: MemoryType::Semantic,
            source: Source::new(runtime),
            temporal: Temporal::new(created_at),
            status: Status::Active,
            namespace: "default".to_owned(),
            category: None,
            supersedes: None,
            confidence: None,
            entities: Vec::new(),
            tags: Vec::new(),
            embeddings: Vec::new(),
            related_records: Vec::new(),
            raw_source_format: None,
            unknown: Unknown::default(),
        }
    }
}

impl Source {
    /// Creates a source of which only the runtime is known.
    #[must_use]
    pub fn new(runtime: &str) -> Self {
        Self { runtime: runtime.to_owned(), ..Self::default() }
    }
}

impl Temporal {
    /// Creates times of which only the first is known.
    #[must_use]
    pub fn new(created_at: Moment) -> Self {
        Self {
            created_at,
            updated_at: None,
            observed_at: None,
            valid_from: None,
            valid_until: None,
            last_accessed_at: None,
            access_count: None,
            unknown: Unknown::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: &str = r#"{"id":"1d93a526-85b1-5b5b-9ac8-2fcc8749633d","agent_id":"9e373c1e-cab7-5eea-90c3-8f3d09ac5755","content":"x","memory_type":"dream","source":{"runtime":"openclaw","mood":1.0},"temporal":{"created_at":"2026-01-15T00:00:00+00:00"},"status":"active","namespace":"daily","embeddings":[{"model":"a/b","dimensions":2,"vector":[0.1,-1e-7],"computed_at":"2026-01-15T00:00:00Z","source":"runtime"}],"x-new":{"k":[1,2.50]}}"#;

    #[test]
    fn a_line_of_known_order_reads_and_writes_to_the_same_bytes() {
        let record: Record = serde_json::from_str(LINE).unwrap();
        assert_eq!(serde_json::to_string(&record).unwrap(), LINE);
    }

    #[test]
    fn an_unknown_word_is_kept_and_acted_on_as_the_default() {
        let record: Record = serde_json::from_str(LINE).unwrap();
        assert_eq!(record.memory_type.as_str(), "dream");
        assert_eq!(record.memory_type.effective(), &MemoryType::Semantic);
    }

    #[test]
    fn a_vector_without_a_time_and_a_source_is_read_and_written_with_both() {
        let short =
            LINE.replace(r#","computed_at":"2026-01-15T00:00:00Z","source":"runtime"}"#, "}");
        assert_ne!(short, LINE);
        let record: Record = serde_json::from_str(&short).unwrap();
        let written = serde_json::to_string(&record).unwrap();
        assert_eq!(
            written,
            LINE.replace("2026-01-15T00:00:00Z\",\"source", "1970-01-01T00:00:00Z\",\"source")
        );
    }

    #[test]
    fn a_vector_is_written_in_the_shortest_text_of_its_f32() {
        let long = LINE.replace("0.1,", "0.10000000149011612,");
        let record: Record = serde_json::from_str(&long).unwrap();
        assert_eq!(serde_json::to_string(&record).unwrap(), LINE);
    }
}

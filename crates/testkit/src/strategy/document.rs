//! The manifest and the layers that are documents.

use anemone_format::{
    ALF_VERSION, AgentInfo, Attachment, Attachments, Capability, CommunicationPreferences,
    ContentHash, Credential, CredentialType, Credentials, Encryption, Identity, Idiolect,
    KdfParams, Layers, Linguistics, Manifest, ModelHints, NOT_EXPORTED, Names, Nullable,
    PersonalityTraits, Portability, Principal, PrincipalType, Principals, Profile, ProseIdentity,
    ProseProfile, Psychology, PurgeAudit, PurgeReason, PurgeScope, ReadingInfo, RuntimeHints,
    StructuredIdentity, StructuredProfile, SubAgent, SubAgentStatus, SyncCursor, WorkContext,
    sha256_hex,
};
use proptest::collection::vec;
use proptest::prelude::*;

use super::build::build;
use super::value::{
    Space, count, list, maybe, moment, opaque, ordinal, pairs, share, text, unknown, word,
    workspace_path,
};
use super::{AGENT, item_id, other_agent_id, record_id};

const SPACE: Space = Space::Document;

pub(super) fn manifest() -> BoxedStrategy<Manifest> {
    build!(Manifest {
        alf_version: Just(ALF_VERSION.to_owned()),
        created_at: moment(),
        agent: build!(AgentInfo {
            id: Just(AGENT),
            name: text(),
            source_runtime: text(),
            source_runtime_version: maybe(text()),
            unknown: unknown(SPACE),
        }),
        runtime_hints: maybe(build!(RuntimeHints {
            primary_model: text(),
            last_model: text(),
            provider: maybe(text()),
            context_window: maybe(ordinal()),
            notes: maybe(text()),
            unknown: unknown(SPACE),
        })),
        sync: maybe(build!(SyncCursor {
            last_sequence: count(),
            last_sync_at: maybe(moment()),
            unknown: unknown(SPACE),
        })),
        layers: unknown(SPACE).prop_map(|unknown| Layers { unknown, ..Layers::default() }),
        raw_sources: Just(Vec::new()),
        checksum: Just(None),
        canonical: Just(None),
        entries: Just(Vec::new()),
        purges: list(purge()),
        reading: maybe(build!(ReadingInfo {
            adapter: text(),
            revision: count(),
            inputs: text(),
            unknown: unknown(SPACE),
        })),
        unknown: unknown(SPACE),
    })
}

fn purge() -> BoxedStrategy<PurgeAudit> {
    build!(PurgeAudit {
        purge_id: item_id(),
        agent_id: Just(AGENT),
        scope: word::<PurgeScope>(PurgeScope::WORDS),
        record_ids: vec(record_id(), 0..3),
        partitions_affected: vec(text(), 0..3),
        reason: word::<PurgeReason>(PurgeReason::WORDS),
        requested_at: moment(),
        completed_at: moment(),
        requested_by: maybe(text()),
        unknown: unknown(SPACE),
    })
}

pub(super) fn identity() -> BoxedStrategy<Identity> {
    build!(Identity {
        id: item_id(),
        agent_id: Just(AGENT),
        version: ordinal(),
        updated_at: moment(),
        structured: maybe(structured_identity()),
        prose: maybe(build!(ProseIdentity {
            soul: maybe(text()),
            operating_instructions: maybe(text()),
            identity_profile: maybe(text()),
            custom_blocks: maybe(pairs(text())),
            unknown: unknown(SPACE),
        })),
        source_format: maybe(text()),
        raw_source: maybe(opaque(SPACE)),
        unknown: unknown(SPACE),
    })
}

fn structured_identity() -> BoxedStrategy<StructuredIdentity> {
    build!(StructuredIdentity {
        names: maybe(build!(Names {
            primary: text(),
            nickname: maybe(text()),
            full: maybe(text()),
            unknown: unknown(SPACE),
        })),
        role: maybe(text()),
        goals: list(text()),
        psychology: maybe(build!(Psychology {
            neural_matrix: maybe(pairs(share())),
            personality_traits: maybe(build!(PersonalityTraits {
                framework: text(),
                scores: pairs(share()),
                unknown: unknown(SPACE),
            })),
            moral_alignment: maybe(text()),
            mbti: maybe(text()),
            unknown: unknown(SPACE),
        })),
        linguistics: maybe(linguistics()),
        capabilities: list(capability()),
        sub_agents: list(sub_agent()),
        aieos_extensions: maybe(opaque(SPACE)),
        unknown: unknown(SPACE),
    })
}

fn linguistics() -> BoxedStrategy<Linguistics> {
    build!(Linguistics {
        formality_level: maybe(share()),
        verbosity: maybe(share()),
        humor_level: maybe(share()),
        slang_usage: maybe(any::<bool>()),
        preferred_language: maybe(text()),
        idiolect: maybe(build!(Idiolect {
            catchphrases: list(text()),
            verbal_tics: list(text()),
            avoided_words: list(text()),
            unknown: unknown(SPACE),
        })),
        unknown: unknown(SPACE),
    })
}

fn capability() -> BoxedStrategy<Capability> {
    build!(Capability {
        name: text(),
        description: maybe(text()),
        priority: maybe(ordinal()),
        portability: maybe(word::<Portability>(Portability::WORDS)),
        host_requirements: maybe(text()),
        credential_ids: list(item_id()),
        unknown: unknown(SPACE),
    })
}

fn sub_agent() -> BoxedStrategy<SubAgent> {
    build!(SubAgent {
        agent_id: maybe(other_agent_id()).prop_map(Nullable),
        name: text(),
        description: maybe(text()),
        capabilities: vec(capability(), 0..2),
        model_hints: maybe(build!(ModelHints {
            primary_model: maybe(text()),
            last_model: maybe(text()),
            unknown: unknown(SPACE),
        })),
        routing_hints: maybe(text()),
        status: word::<SubAgentStatus>(SubAgentStatus::WORDS),
        last_invoked_at: maybe(moment()),
        performance_notes: maybe(text()),
        unknown: unknown(SPACE),
    })
}

pub(super) fn principals() -> BoxedStrategy<Principals> {
    build!(Principals { principals: vec(principal(), 0..3), unknown: unknown(SPACE) })
}

fn principal() -> BoxedStrategy<Principal> {
    build!(Principal {
        id: item_id(),
        principal_type: word::<PrincipalType>(PrincipalType::WORDS),
        agent_id: maybe(other_agent_id()),
        profile: build!(Profile {
            id: item_id(),
            agent_id: Just(AGENT),
            principal_id: item_id(),
            version: ordinal(),
            updated_at: moment(),
            structured: maybe(structured_profile()),
            prose: maybe(build!(ProseProfile {
                user_profile: maybe(text()),
                unknown: unknown(SPACE),
            })),
            source_format: maybe(text()),
            raw_source: maybe(opaque(SPACE)),
            unknown: unknown(SPACE),
        }),
        unknown: unknown(SPACE),
    })
}

fn structured_profile() -> BoxedStrategy<StructuredProfile> {
    build!(StructuredProfile {
        name: maybe(text()),
        principal_type: maybe(text()),
        timezone: maybe(text()),
        locale: maybe(text()),
        communication_preferences: maybe(build!(CommunicationPreferences {
            tone: maybe(text()),
            response_length: maybe(text()),
            formatting: maybe(text()),
            unknown: unknown(SPACE),
        })),
        work_context: maybe(build!(WorkContext {
            role: maybe(text()),
            company: maybe(text()),
            projects: list(text()),
            unknown: unknown(SPACE),
        })),
        relationships: list(opaque(SPACE)),
        custom_fields: maybe(opaque(SPACE)),
        unknown: unknown(SPACE),
    })
}

pub(super) fn credentials() -> BoxedStrategy<Credentials> {
    build!(Credentials { credentials: vec(credential(), 0..3), unknown: unknown(SPACE) })
}

fn credential() -> BoxedStrategy<Credential> {
    let sealed = build!(Encryption {
        algorithm: Just("xchacha20-poly1305".to_owned()),
        kdf: maybe(text()),
        kdf_params: maybe(build!(KdfParams {
            memory_cost: maybe(1..=u32::MAX),
            time_cost: maybe(1..=u32::MAX),
            parallelism: maybe(1..=u32::MAX),
            salt: maybe(Just("c2FsdCBvZiB0aGUgc2Vh".to_owned())),
            unknown: unknown(SPACE),
        })),
        nonce: Just("bm9uY2Ugb2YgdHdlbnR5LWZvdXIh".to_owned()),
        unknown: unknown(SPACE),
    });
    let absent = build!(Encryption {
        algorithm: Just("none".to_owned()),
        kdf: Just(None),
        kdf_params: Just(None),
        nonce: Just(String::new()),
        unknown: unknown(SPACE),
    });
    let secret =
        prop_oneof![(Just(NOT_EXPORTED), absent), (Just("c2VhbGVkIGFuZCBkZWxpdmVyZWQ="), sealed),];
    let credential = move |payload: &str, encryption| {
        build!(Credential {
            id: item_id(),
            agent_id: Just(AGENT),
            service: text(),
            credential_type: word::<CredentialType>(CredentialType::WORDS),
            label: maybe(text()),
            capabilities_granted: list(text()),
            encrypted_payload: Just(payload.to_owned()),
            encryption: Just(encryption),
            created_at: moment(),
            updated_at: maybe(moment()),
            last_rotated_at: maybe(moment()),
            expires_at: maybe(moment()),
            tags: list(text()),
            unknown: unknown(SPACE),
        })
    };
    secret.prop_flat_map(move |(payload, encryption)| credential(payload, encryption)).boxed()
}

pub(super) fn attachments() -> BoxedStrategy<Attachments> {
    build!(Attachments {
        artifact_size_threshold: maybe(count()),
        attachments: vec(attachment(), 0..4),
        unknown: unknown(SPACE),
    })
}

/// Makes an artifact that is only listed; an included one needs its file.
fn attachment() -> BoxedStrategy<Attachment> {
    build!(Attachment {
        id: item_id(),
        filename: text(),
        media_type: text(),
        size_bytes: count(),
        hash: build!(ContentHash {
            algorithm: Just("sha256".to_owned()),
            value: text().prop_map(|text| sha256_hex(text.as_bytes())),
            unknown: unknown(SPACE),
        }),
        source_path: workspace_path(),
        archive_path: Just(Nullable(None)),
        remote_ref: maybe(Just("https://example.com/a".to_owned())).prop_map(Nullable),
        referenced_by: list(record_id()),
        unknown: unknown(SPACE),
    })
}

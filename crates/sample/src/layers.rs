//! The layers of the sample that are documents: persona, principal, keys, artifacts.

use anemone_format::{
    Attachment, Attachments, Capability, CommunicationPreferences, ContentHash, Credential,
    CredentialType, Credentials, DEFAULT_ARTIFACT_THRESHOLD_BYTES, Encryption, Identity, Idiolect,
    Linguistics, ModelHints, NOT_EXPORTED, Names, Nullable, Pairs, Portability, Principal,
    PrincipalType, Principals, Profile, ProseIdentity, ProseProfile, Psychology,
    StructuredIdentity, StructuredProfile, SubAgent, SubAgentStatus, Unknown, WorkContext,
    sha256_hex,
};

use super::{
    PICTURE, Page, RUNTIME, VIDEO, agent_id, at, item_id, picture, record_id, text_of, texts,
};

pub(super) fn identity(version: u64, updated_at: &str, pages: &[Page]) -> Identity {
    let mut blocks = Pairs::default();
    for (name, path) in [("heartbeat_checklist", "HEARTBEAT.md"), ("tools_guidance", "TOOLS.md")] {
        if let Some(text) = text_of(pages, path) {
            blocks.insert(name, text);
        }
    }
    Identity {
        id: item_id("identity"),
        agent_id: agent_id(),
        version,
        updated_at: at(updated_at),
        structured: Some(structured_identity()),
        prose: Some(ProseIdentity {
            soul: text_of(pages, "SOUL.md"),
            operating_instructions: text_of(pages, "AGENTS.md"),
            identity_profile: text_of(pages, "IDENTITY.md"),
            custom_blocks: Some(blocks),
            unknown: Unknown::default(),
        }),
        source_format: Some(RUNTIME.to_owned()),
        raw_source: None,
        unknown: Unknown::default(),
    }
}

fn structured_identity() -> StructuredIdentity {
    let mut matrix = Pairs::default();
    for (name, score) in [("curiosity", 0.8), ("patience", 0.95), ("fear of butter", 0.3)] {
        matrix.insert(name, score);
    }
    StructuredIdentity {
        names: Some(Names {
            primary: "Clawdia".to_owned(),
            nickname: Some("Clawd".to_owned()),
            full: None,
            unknown: Unknown::default(),
        }),
        role: Some("Keeps the memory of a household and a tea shop".to_owned()),
        goals: texts(&["Lose nothing", "Wake nobody", "See Herr Krause move"]),
        psychology: Some(Psychology {
            neural_matrix: Some(matrix),
            personality_traits: None,
            moral_alignment: Some("Neutral Good".to_owned()),
            mbti: None,
            unknown: Unknown::default(),
        }),
        linguistics: Some(Linguistics {
            formality_level: Some(0.3),
            verbosity: Some(0.2),
            humor_level: Some(0.6),
            slang_usage: Some(false),
            preferred_language: Some("en".to_owned()),
            idiolect: Some(Idiolect {
                catchphrases: texts(&["I have no claws.", "The blue tin is not sugar."]),
                verbal_tics: Vec::new(),
                avoided_words: texts(&["lobster bisque"]),
                unknown: Unknown::default(),
            }),
            unknown: Unknown::default(),
        }),
        capabilities: vec![
            capability("web_search", Portability::Intrinsic, None, &["search"]),
            capability("calendar", Portability::Intrinsic, None, &["calendar"]),
            capability("aquarium_sensor", Portability::HostDependent, Some("/dev/ttyUSB0"), &[]),
        ],
        sub_agents: vec![SubAgent {
            agent_id: Nullable(None),
            name: "Bookkeeper".to_owned(),
            description: Some("Reads invoices and adds up".to_owned()),
            capabilities: Vec::new(),
            model_hints: Some(ModelHints {
                primary_model: Some("tidepool-small".to_owned()),
                last_model: None,
                unknown: Unknown::default(),
            }),
            routing_hints: Some("Anything with a VAT number".to_owned()),
            status: SubAgentStatus::Active,
            last_invoked_at: Some(at("2026-03-08T19:40:00Z")),
            performance_notes: Some("Right every time; never says hello".to_owned()),
            unknown: Unknown::default(),
        }],
        aieos_extensions: None,
        unknown: Unknown::default(),
    }
}

fn capability(
    name: &str,
    portability: Portability,
    host: Option<&str>,
    keys: &[&str],
) -> Capability {
    Capability {
        name: name.to_owned(),
        description: None,
        priority: None,
        portability: Some(portability),
        host_requirements: host.map(str::to_owned),
        credential_ids: keys.iter().map(|key| item_id(&format!("credential:{key}"))).collect(),
        unknown: Unknown::default(),
    }
}

pub(super) fn principals(pages: &[Page]) -> Principals {
    let id = item_id("principal:lin");
    let principal = Principal {
        id,
        principal_type: PrincipalType::Human,
        agent_id: None,
        profile: Profile {
            id: item_id("profile:lin"),
            agent_id: agent_id(),
            principal_id: id,
            version: 1,
            updated_at: at("2026-01-06T08:55:27Z"),
            structured: Some(StructuredProfile {
                name: Some("Lin Weber".to_owned()),
                principal_type: Some("human".to_owned()),
                timezone: Some("Europe/Berlin".to_owned()),
                locale: Some("en-DE".to_owned()),
                communication_preferences: Some(CommunicationPreferences {
                    tone: Some("casual".to_owned()),
                    response_length: Some("concise".to_owned()),
                    formatting: Some("minimal markdown".to_owned()),
                    unknown: Unknown::default(),
                }),
                work_context: Some(WorkContext {
                    role: Some("owner".to_owned()),
                    company: Some("Teekontor Lin".to_owned()),
                    projects: texts(&["online shop", "spring tasting"]),
                    unknown: Unknown::default(),
                }),
                relationships: Vec::new(),
                custom_fields: None,
                unknown: Unknown::default(),
            }),
            prose: Some(ProseProfile {
                user_profile: text_of(pages, "USER.md"),
                unknown: Unknown::default(),
            }),
            source_format: Some(RUNTIME.to_owned()),
            raw_source: None,
            unknown: Unknown::default(),
        },
        unknown: Unknown::default(),
    };
    Principals { principals: vec![principal], unknown: Unknown::default() }
}

pub(super) fn credentials() -> Credentials {
    let credential = |name: &str, service: &str, kind, label: &str, granted: &str| Credential {
        id: item_id(&format!("credential:{name}")),
        agent_id: agent_id(),
        service: service.to_owned(),
        credential_type: kind,
        label: Some(label.to_owned()),
        capabilities_granted: texts(&[granted]),
        encrypted_payload: NOT_EXPORTED.to_owned(),
        encryption: Encryption::none(),
        created_at: at("2026-01-05T09:44:10Z"),
        updated_at: None,
        last_rotated_at: None,
        expires_at: None,
        tags: Vec::new(),
        unknown: Unknown::default(),
    };
    Credentials {
        credentials: vec![
            credential("search", "seasearch", CredentialType::ApiKey, "Web search", "web_search"),
            credential(
                "calendar",
                "caldav",
                CredentialType::OauthToken,
                "Shared calendar",
                "calendar",
            ),
        ],
        unknown: Unknown::default(),
    }
}

pub(super) fn attachments() -> Attachments {
    let hash = |content: &[u8]| ContentHash {
        algorithm: "sha256".to_owned(),
        value: sha256_hex(content),
        unknown: Unknown::default(),
    };
    let attachment = |path: &str, media_type: &str, size_bytes, hash, included: bool| Attachment {
        id: item_id(&format!("attachment:{path}")),
        filename: path.rsplit('/').next().unwrap_or(path).to_owned(),
        media_type: media_type.to_owned(),
        size_bytes,
        hash,
        source_path: path.to_owned(),
        archive_path: Nullable(included.then(|| format!("artifacts/{path}"))),
        remote_ref: Nullable(None),
        referenced_by: vec![record_id("memory/2026-03-08.md", 0)],
        unknown: Unknown::default(),
    };
    let picture = picture().as_bytes();
    Attachments {
        artifact_size_threshold: Some(DEFAULT_ARTIFACT_THRESHOLD_BYTES),
        attachments: vec![
            attachment(PICTURE, "image/svg+xml", picture.len() as u64, hash(picture), true),
            // The video is not in the archive, so its digest is never compared.
            attachment(VIDEO, "video/mp4", 48_211_904, hash(b"two hours of a shot glass"), false),
        ],
        unknown: Unknown::default(),
    }
}

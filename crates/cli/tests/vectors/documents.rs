//! The documents of an agent that has everything: they contain every field of every official
//! schema.
//!
//! In the texts below `{~` opens an object that may have unknown fields; a plain `{` opens a map,
//! or an object that is only carried.

use super::alf::{AGENT, Alf, Partition, SOUL, id};
use super::zip::sha256;

/// Returns the document of a template, without unknown fields.
pub(crate) fn plain(template: &str) -> String {
    template.replace("{~", "{").replace("@AGENT", AGENT)
}

/// Returns a document with an unknown field in every object that may have one.
pub(crate) fn with_unknown_fields(template: &str) -> String {
    plain(&template.replace("{~", r#"{"x-new":{"k":[1,2.50]},"#))
}

pub(crate) const IDENTITY: &str = r#"{~
  "id": "0192e4a0-2222-7abc-8def-000000000001",
  "agent_id": "@AGENT",
  "version": 3,
  "updated_at": "2026-04-30T08:00:00Z",
  "structured": {~
    "names": {~"primary": "Clawdia", "nickname": "Claw", "full": "Clawdia of the Reef"},
    "role": "Keeper of the household calendar",
    "goals": ["Never miss a birthday", "Keep the pantry full"],
    "psychology": {~
      "neural_matrix": {"curiosity": 0.8, "patience": 1},
      "personality_traits": {~"framework": "OCEAN", "scores": {"openness": 71.5}},
      "moral_alignment": "Neutral Good",
      "mbti": "ENFJ"
    },
    "linguistics": {~
      "formality_level": 0.2,
      "verbosity": 0.4,
      "humor_level": 0.9,
      "slang_usage": false,
      "preferred_language": "en-IE",
      "idiolect": {~
        "catchphrases": ["Tide's turning"],
        "verbal_tics": ["so"],
        "avoided_words": ["synergy"]
      }
    },
    "capabilities": [
      {~
        "name": "calendar",
        "description": "Reads and writes the family calendar",
        "priority": 1,
        "portability": "host_dependent",
        "host_requirements": "A CalDAV account",
        "credential_ids": ["0192e4a0-4444-7abc-8def-000000000001"]
      }
    ],
    "sub_agents": [
      {~
        "agent_id": null,
        "name": "Barnacle",
        "description": "Watches prices",
        "capabilities": [{~"name": "web_search"}],
        "model_hints": {~"primary_model": "acme/small-1", "last_model": "acme/small-2"},
        "routing_hints": "Send for anything about groceries",
        "status": "inactive",
        "last_invoked_at": null,
        "performance_notes": "Slow on Sundays"
      }
    ],
    "aieos_extensions": {"history": {"origin": "a tide pool"}}
  },
  "prose": {~
    "soul": "Be kind.\n",
    "operating_instructions": "Ask before you buy.\n",
    "identity_profile": "A small crab with a large anemone.\n",
    "custom_blocks": {"boot_checklist": "Look at the calendar.\n"}
  },
  "source_format": "openclaw",
  "raw_source": {"files": ["SOUL.md"]}
}
"#;

pub(crate) const PRINCIPALS: &str = r#"{~
  "principals": [
    {~
      "id": "0192e4a0-3333-7abc-8def-000000000001",
      "principal_type": "human",
      "agent_id": null,
      "profile": {~
        "id": "0192e4a0-3333-7abc-8def-000000000002",
        "agent_id": "@AGENT",
        "principal_id": "0192e4a0-3333-7abc-8def-000000000001",
        "version": 2,
        "updated_at": "2026-04-01T08:00:00+01:00",
        "structured": {~
          "name": "Niamh",
          "principal_type": "human",
          "timezone": "Europe/Dublin",
          "locale": "en-IE",
          "communication_preferences": {~
            "tone": "casual",
            "response_length": "concise",
            "formatting": "minimal markdown"
          },
          "work_context": {~"role": "Teacher", "company": "A school", "projects": ["The play"]},
          "relationships": [{"name": "Oisín", "relation": "son"}],
          "custom_fields": {"coffee": "black"}
        },
        "prose": {~"user_profile": "Niamh teaches the fourth class.\n"},
        "source_format": "openclaw",
        "raw_source": {"file": "USER.md"}
      }
    }
  ]
}
"#;

pub(crate) const CREDENTIALS: &str = r#"{~
  "credentials": [
    {~
      "id": "0192e4a0-4444-7abc-8def-000000000001",
      "agent_id": "@AGENT",
      "service": "caldav",
      "credential_type": "api_key",
      "label": "Family calendar",
      "capabilities_granted": ["calendar"],
      "encrypted_payload": "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8gISIjJCUmJygpKissLS4v",
      "encryption": {~
        "algorithm": "xchacha20-poly1305",
        "kdf": "argon2id",
        "kdf_params": {~"memory_cost": 65536, "time_cost": 3, "parallelism": 1},
        "nonce": "AAECAwQFBgcICQoLDA0ODxAREhMUFRYX"
      },
      "created_at": "2026-01-01T00:00:00Z",
      "updated_at": null,
      "last_rotated_at": "2026-02-01T00:00:00Z",
      "expires_at": null,
      "tags": ["family"]
    }
  ]
}
"#;

pub(crate) const NOTE: &str = "artifacts/notes/list.txt";
pub(crate) const NOTE_CONTENT: &str = "bread\nmilk\n";

/// The catalogue of one artifact in the archive and one that is only listed.
pub(crate) fn attachments() -> String {
    let template = r#"{~
  "artifact_size_threshold": 102400,
  "attachments": [
    {~
      "id": "0192e4a0-5555-7abc-8def-000000000001",
      "filename": "list.txt",
      "media_type": "text/plain",
      "size_bytes": 11,
      "hash": {~"algorithm": "sha256", "value": "@HASH"},
      "source_path": "notes/list.txt",
      "archive_path": "artifacts/notes/list.txt",
      "remote_ref": null,
      "referenced_by": ["@RECORD"]
    },
    {~
      "id": "0192e4a0-5555-7abc-8def-000000000002",
      "filename": "play.mp4",
      "media_type": "video/mp4",
      "size_bytes": 734003200,
      "hash": {~"algorithm": "sha256", "value": "@VIDEO"},
      "source_path": "videos/play.mp4",
      "archive_path": null,
      "remote_ref": "https://example.org/play.mp4"
    }
  ]
}
"#;
    template
        .replace("@HASH", &sha256(NOTE_CONTENT.as_bytes()))
        .replace("@VIDEO", &sha256(b"a long video"))
        .replace("@RECORD", &id(1))
}

/// A record with every field; on one line.
pub(crate) fn record() -> String {
    let template = r#"{~
"id":"@ID1","agent_id":"@AGENT","content":"Niamh takes her coffee black.",
"memory_type":"preference","category":"taste",
"source":{~"runtime":"openclaw","runtime_version":"2026.3.1","origin":"daily_log",
"origin_file":"memory/2026-01-15.md","extraction_method":"agent_written",
"session_id":"s-17","interaction_id":"m-4","identity_version":3},
"temporal":{~"created_at":"2026-01-15T10:00:00Z","updated_at":"2026-01-16T10:00:00.123456789Z",
"observed_at":"2026-01-15T09:00:00+00:00","valid_from":"2026-01-01T00:00:00Z",
"valid_until":null,"last_accessed_at":null,"access_count":4},
"status":"active","supersedes":"@ID2","confidence":0.75,
"entities":[{~"name":"Niamh","type":"person","role":"drinker"}],
"tags":["coffee"],"namespace":"default",
"embeddings":[{~"model":"acme/embed-1","dimensions":3,"vector":[0.25,-1,1e-7],
"computed_at":"2026-01-15T10:00:01Z","source":"runtime"}],
"related_records":[{~"id":"@ID2","relation":"elaborates_on"}],
"raw_source_format":{"line_start":3,"line_end":5}}"#;
    template.replace('\n', "").replace("@ID1", &id(1)).replace("@ID2", &id(2))
}

/// The older record that [`record`] replaces.
fn older_record() -> String {
    let superseded = super::alf::edit(&super::alf::record(2), "active", "superseded");
    super::alf::edit(&superseded, "2026-01-15", "2026-01-02")
}

pub(crate) const IDENTITY_LAYER: &str = r#"{"version":3,"file":"identity.json"}"#;
pub(crate) const PRINCIPALS_LAYER: &str = r#"{"count":1,"file":"principals.json"}"#;
pub(crate) const CREDENTIALS_LAYER: &str = r#"{"count":1,"file":"credentials.json"}"#;
pub(crate) const ATTACHMENTS_LAYER: &str = concat!(
    r#"{"count":2,"included_count":1,"included_size_bytes":11,"referenced_count":1,"#,
    r#""referenced_size_bytes":734003200,"file":"attachments.json"}"#
);

/// An archive with the persona only.
pub(crate) fn with_identity(document: &str) -> Alf {
    Alf::new().layer("identity", IDENTITY_LAYER, document)
}

/// An archive with the principals only.
pub(crate) fn with_principals(document: &str) -> Alf {
    Alf::new().layer("principals", PRINCIPALS_LAYER, document)
}

/// An archive with the credentials only.
pub(crate) fn with_credentials(document: &str) -> Alf {
    Alf::new().layer("credentials", CREDENTIALS_LAYER, document)
}

/// An archive with the artifacts and the record that mentions one.
pub(crate) fn with_attachments(document: &str) -> Alf {
    Alf::of(&[super::alf::record(1)])
        .layer("attachments", ATTACHMENTS_LAYER, document)
        .file(NOTE, NOTE_CONTENT)
}

/// The agent that has everything, without what only sealed archives have.
pub(crate) fn everything() -> Alf {
    let lines = format!("{}\n{}\n", older_record(), plain(&record()));
    Alf::new()
        .edit(
            r#""source_runtime":"openclaw""#,
            r#""source_runtime":"openclaw","source_runtime_version":"2026.3.1""#,
        )
        .field(
            "runtime_hints",
            concat!(
                r#"{"primary_model":"acme/large-1","last_model":"acme/large-2","#,
                r#""provider":"acme","context_window":200000,"notes":null}"#
            ),
        )
        .field("sync", r#"{"last_sequence":7,"last_sync_at":"2026-04-30T09:00:00Z"}"#)
        .field("raw_sources", r#"["openclaw"]"#)
        .file(SOUL, "Be kind.\n")
        .file(NOTE, NOTE_CONTENT)
        .layer("identity", IDENTITY_LAYER, &plain(IDENTITY))
        .layer("principals", PRINCIPALS_LAYER, &plain(PRINCIPALS))
        .layer("credentials", CREDENTIALS_LAYER, &plain(CREDENTIALS))
        .layer("attachments", ATTACHMENTS_LAYER, &plain(&attachments()))
        .partition(Partition::first_quarter(lines))
        .edit(
            r#""index_file":"memory/index.json","#,
            r#""index_file":"memory/index.json","has_embeddings":true,"has_raw_source":true,"#,
        )
}

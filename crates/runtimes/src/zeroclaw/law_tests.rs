//! Laws of ZeroClaw's files that hold for any input, for the fuzzer.

use std::collections::HashSet;
use std::convert::Infallible;

use anemone_format::{AgentId, StampTable};

use super::DEFAULT_ALIAS;
use super::config::Config;
use super::entries::{self, EntryFile};
use super::rows::ReadingContext;
use crate::kit::times;

/// Redacted text is TOML, has the same lines, and contains nothing else to redact.
///
/// # Panics
///
/// When a law does not hold.
pub fn config(text: &str) {
    let Some(config) = Config::parse(text.to_owned().into()) else { return };
    config.backend(DEFAULT_ALIAS);
    config.hints(DEFAULT_ALIAS);
    config.agents();
    let redacted = config.redacted();
    if redacted.warning.is_some() {
        assert!(redacted.text.is_empty(), "what is withheld is not handed out");
        return;
    }
    let again = Config::parse(redacted.text.clone().into()).expect("it still is TOML");
    for secret in again.redacted().secrets {
        let was = redacted.secrets.iter().any(|other| other.path == secret.path);
        assert!(was, "a secret at a place where none was: {:?}", secret.path);
    }
    assert_eq!(again.redacted().text, redacted.text, "redacting twice is redacting once");
}

/// Records have unique ids and texts, and reading twice gives the same records.
///
/// # Panics
///
/// When a law does not hold.
pub fn entries(text: &str) {
    let shared = ReadingContext {
        agent_id: AgentId::new(uuid::Uuid::nil()),
        alias: DEFAULT_ALIAS,
        identity_version: None,
        embedding: None,
        fallback: times::epoch(),
        embeddings: false,
        stamps: StampTable::default(),
    };
    for path in ["MEMORY.md", "memory/2026-01-15.md", "memory/archive/session_x.md"] {
        let file = EntryFile { path, text, mtime: &times::epoch() };
        let read = || {
            let mut records = Vec::new();
            let Ok(_) = entries::records::<Infallible>(&file, &shared, &mut |record| {
                records.push(record);
                Ok(())
            });
            records
        };
        let records = read();
        let ids: HashSet<_> = records.iter().map(|record| record.id).collect();
        assert_eq!(ids.len(), records.len(), "an id occurs twice");
        assert!(records.iter().all(|record| !record.content.is_empty()), "a record without a text");
        assert_eq!(read(), records);
    }
}

//! What the credentials of all runtimes have in common.

use std::fmt::Display;

use anemone_format::{
    AgentId, Credential, CredentialType, Credentials, Encryption, Moment, NOT_EXPORTED, Unknown,
};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use zeroize::Zeroizing;

use crate::kit::{FoundAgent, NotRestored, NotRestoredKind, PlanOptions, Warning, ids};

/// A secret in clear; wiped when dropped, and not shown.
pub(crate) struct SecretText(pub(crate) Zeroizing<String>);

impl Serialize for SecretText {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for SecretText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(|text| Self(Zeroizing::new(text)))
    }
}

/// Returns a credential of an agent without its secret; its id is derived from the name.
pub(crate) fn bare(
    agent_id: AgentId,
    name: &str,
    service: &str,
    created_at: &Moment,
) -> Credential {
    Credential {
        id: ids::item(agent_id, &format!("credential:{name}")),
        agent_id,
        service: service.to_owned(),
        credential_type: CredentialType::Custom,
        label: None,
        capabilities_granted: Vec::new(),
        encrypted_payload: NOT_EXPORTED.to_owned(),
        encryption: Encryption::none(),
        created_at: created_at.clone(),
        updated_at: None,
        last_rotated_at: None,
        expires_at: None,
        tags: Vec::new(),
        unknown: Unknown::default(),
    }
}

/// Returns the document of credentials; `None` where there are none.
pub(crate) fn document(credentials: Vec<Credential>) -> Option<Credentials> {
    let unknown = Unknown::default();
    (!credentials.is_empty()).then_some(Credentials { credentials, unknown })
}

/// Returns a warning that credentials of a file are missing.
pub(crate) fn unreadable(path: impl Display, what: impl Display) -> Warning {
    Warning::about("credentials_unreadable", path, format!("credentials are missing: {what}"))
}

/// Returns what people call a credential.
pub(crate) fn credential_name(credential: &Credential) -> String {
    match &credential.label {
        Some(label) => format!("{}: {label}", credential.service),
        None => credential.service.clone(),
    }
}

/// Returns a credential that is not put back.
pub(crate) fn not_restored(credential: &Credential, reason: impl Into<String>) -> NotRestored {
    NotRestored::of(NotRestoredKind::Credential, credential_name(credential), reason)
}

/// Opens a sealed credential for an agent, or says why it stays closed.
pub(crate) fn open(
    credential: &Credential,
    target: &FoundAgent,
    options: &PlanOptions<'_>,
) -> Result<Zeroizing<Vec<u8>>, String> {
    if credential.encrypted_payload == NOT_EXPORTED {
        return Err("its secret was not exported; sign in again".to_owned());
    }
    let Some(key) = options.vault_key else {
        return Err("its secret is sealed, and no vault key was given".to_owned());
    };
    let secret = key.open(credential).map_err(|error| error.to_string())?;
    match target.install {
        Some(_) => Ok(secret),
        None => Err("the workspace belongs to no install that could keep it".to_owned()),
    }
}

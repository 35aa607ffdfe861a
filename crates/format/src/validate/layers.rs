//! Checks the documents: identity, principals, credentials, attachments.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;

use super::{FindingKind, Findings, shape};
use crate::archive::Layer;
use crate::archive::read::{Archive, Refusal};
use crate::attachments::Attachments;
use crate::credentials::{Credential, Credentials, NOT_EXPORTED};
use crate::entry_path;
use crate::id::AgentId;
use crate::identity::Identity;
use crate::principals::Principals;
use crate::schema::SchemaDocument;

/// What a layer contains, for the manifest's counts.
pub(super) enum Checked {
    Identity { version: u64 },
    Counted { count: u64 },
    Attachments(Attachments),
}

/// Checks a document that belongs to some agent.
pub(super) fn check(
    layer: Layer,
    entry: &str,
    bytes: &[u8],
    agent: AgentId,
    findings: &mut Findings,
) -> Option<Checked> {
    let belongs = |id: AgentId, pointer: String, findings: &mut Findings| {
        if id != agent {
            let message = format!("it is of agent {id}, not {agent}");
            findings.error(FindingKind::ForeignAgent, format!("{entry}#{pointer}"), message);
        }
    };
    match layer {
        Layer::Identity => {
            let identity: Identity =
                shape::parse(SchemaDocument::Identity, entry, bytes, findings)?;
            belongs(identity.agent_id, "/agent_id".to_owned(), findings);
            Some(Checked::Identity { version: identity.version })
        }
        Layer::Principals => {
            let list: Principals =
                shape::parse(SchemaDocument::Principals, entry, bytes, findings)?;
            for (n, principal) in list.principals.iter().enumerate() {
                let pointer = format!("/principals/{n}/profile");
                belongs(principal.profile.agent_id, format!("{pointer}/agent_id"), findings);
                if principal.profile.principal_id != principal.id {
                    findings.warning(
                        FindingKind::Dangling,
                        format!("{entry}#{pointer}/principal_id"),
                        "the profile is of another principal",
                    );
                }
            }
            Some(Checked::Counted { count: list.principals.len() as u64 })
        }
        Layer::Credentials => {
            let list: Credentials =
                shape::parse(SchemaDocument::Credentials, entry, bytes, findings)?;
            for (n, credential) in list.credentials.iter().enumerate() {
                let pointer = format!("/credentials/{n}");
                belongs(credential.agent_id, format!("{pointer}/agent_id"), findings);
                if let Some(message) = clear_secret(credential) {
                    let path = format!("{entry}#{pointer}/encrypted_payload");
                    findings.error(FindingKind::CredentialInClear, path, message);
                }
            }
            Some(Checked::Counted { count: list.credentials.len() as u64 })
        }
        Layer::Attachments => {
            let list: Attachments =
                shape::parse(SchemaDocument::Attachments, entry, bytes, findings)?;
            Some(Checked::Attachments(list))
        }
    }
}

/// Returns why a payload cannot be a sealed one; a payload that was left out is fine.
fn clear_secret(credential: &Credential) -> Option<&'static str> {
    let payload = credential.encrypted_payload.as_str();
    if payload == NOT_EXPORTED || payload.is_empty() {
        return None;
    }
    let algorithm = credential.encryption.algorithm.to_ascii_lowercase();
    if algorithm.is_empty() || algorithm == "none" {
        return Some("the payload is there, but the encryption is none");
    }
    if credential.encryption.nonce.is_empty() {
        return Some("the payload is there, but the nonce is empty");
    }
    // An authentication tag alone has sixteen bytes.
    match BASE64.decode(payload) {
        Ok(sealed) if sealed.len() >= 16 => None,
        _ => Some("the payload is not the base64 text of a sealed secret"),
    }
}

/// Checks artifacts against the entries they name.
pub(super) fn check_attachments(
    list: &Attachments,
    entry: &str,
    archive: &Archive,
    findings: &mut Findings,
) {
    for (n, attachment) in list.attachments.iter().enumerate() {
        let at = format!("{entry}#/attachments/{n}");
        if let Err(fault) = entry_path::spell(attachment.source_path.as_bytes()) {
            findings.refusal = Some(Refusal::Unsafe);
            let message = format!("the path {:?} {fault}", attachment.source_path);
            findings.error(FindingKind::UnsafePath, format!("{at}/source_path"), message);
        }
        let Some(path) = &attachment.archive_path.0 else {
            continue;
        };
        let entries = archive.entries();
        let Some(size) = entries.container.get(path).map(|found| found.size) else {
            findings.error(
                FindingKind::Missing,
                format!("{at}/archive_path"),
                format!("no entry {path}"),
            );
            continue;
        };
        if size != attachment.size_bytes {
            let message = format!("{path} has {size} bytes, not {}", attachment.size_bytes);
            findings.contradiction(FindingKind::Count, format!("{at}/size_bytes"), message);
        }
        let computed = archive.digest_of(path).ok();
        let is_sha256 = attachment.hash.algorithm.eq_ignore_ascii_case("sha256");
        let same = |digest: &String| digest.eq_ignore_ascii_case(&attachment.hash.value);
        if is_sha256 && !computed.as_ref().is_some_and(same) {
            let message = format!("{path} has another SHA-256");
            findings.contradiction(FindingKind::Digest, format!("{at}/hash/value"), message);
        }
    }
}

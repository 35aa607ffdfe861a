//! The proof of persona, people and credentials.

use std::collections::BTreeMap;
use std::io;

use anemone_format::{
    Credential, Credentials, Identity, Principals, SnapshotSource, VaultKey, sha256_hex,
};
use anemone_runtimes::mapping::{Mapping, bare_secret, mapping};
use serde::Serialize;

use super::count::LayerCount;
use super::{Evidence, LayerProof, Loss, Outcome};

/// A named part of a document.
pub(crate) struct DocumentPart {
    pub(crate) name: String,
    text: String,
}

pub(super) fn identity(evidence: &Evidence<'_>, lost: &mut Vec<Loss>) -> io::Result<LayerProof> {
    let Evidence { source, target, expected, sidecar } = *evidence;
    let was = parts_of_identity(source.identity()?.as_ref());
    let is = parts_of_identity(target.identity()?.as_ref());
    let kept = parts_of_identity(sidecar.identity.as_ref());
    // Fields are read from several files, so any file that stays may change any field.
    let rows = expected.mapping.into_iter().flat_map(Mapping::rows);
    let rows = rows.filter(|row| row.layer == "identity");
    let mut stays = rows.filter_map(|row| expected.files.get(row.becomes.text().as_bytes()));
    let announced = stays.next().map(|announced| announced.reason);
    let mut count = LayerCount::new("identity", lost);
    for part in &was {
        let digest = sha256_hex(format!("{}\n{}", part.name, part.text).as_bytes());
        let native = is.iter().find(|other| other.name == part.name);
        let aside = kept.iter().any(|other| other.name == part.name && other.text == part.text);
        let fate = match native {
            // A text may have got sections that say what only fields said before.
            Some(native) if native.text.contains(&part.text) => Outcome::Carried,
            Some(_) if aside => Outcome::Degraded(vec!["text"], true),
            None if aside => Outcome::Aside,
            _ => match announced {
                Some(reason) => Outcome::Announced(reason.to_owned()),
                None => Outcome::Lost("neither in the runtime nor in the sidecar".to_owned()),
            },
        };
        count.add(|| part.name.clone(), digest, fate);
    }
    Ok(count.finish())
}

/// Returns the texts and fields of an identity.
pub(crate) fn parts_of_identity(identity: Option<&Identity>) -> Vec<DocumentPart> {
    let mut parts = Vec::new();
    let Some(identity) = identity else { return parts };
    if let Some(prose) = &identity.prose {
        let texts = [
            ("soul", &prose.soul),
            ("operating_instructions", &prose.operating_instructions),
            ("identity_profile", &prose.identity_profile),
        ];
        for (name, text) in texts {
            parts.extend(text.as_ref().map(|text| part(name, text)));
        }
        for (name, text) in prose.custom_blocks.iter().flat_map(|blocks| blocks.iter()) {
            parts.push(part(name, text));
        }
    }
    parts.extend(fields_of(identity.structured.as_ref()));
    parts
}

fn part(name: &str, text: &str) -> DocumentPart {
    DocumentPart { name: name.to_owned(), text: text.trim().to_owned() }
}

/// Returns the fields of a document as parts.
fn fields_of<T: Serialize>(document: Option<&T>) -> Vec<DocumentPart> {
    let value = document.and_then(|document| serde_json::to_value(document).ok());
    let Some(serde_json::Value::Object(fields)) = value else { return Vec::new() };
    let parts =
        fields.into_iter().map(|(name, value)| DocumentPart { name, text: value.to_string() });
    parts.collect()
}

pub(super) fn principals(evidence: &Evidence<'_>, lost: &mut Vec<Loss>) -> io::Result<LayerProof> {
    let Evidence { source, target, expected, sidecar } = *evidence;
    let flat = |layer: Option<&Principals>| {
        texts(parts_of_principals(layer).into_iter().flatten().collect())
    };
    let mut is = flat(target.principals()?.as_ref());
    let mut kept = flat(sidecar.principals.as_ref());
    let mut count = LayerCount::new("principals", lost);
    for parts in parts_of_principals(source.principals()?.as_ref()) {
        let mut fate_of = |part: &DocumentPart| {
            if take(&mut is, &part.text) {
                Outcome::Carried
            } else if take(&mut kept, &part.text) {
                Outcome::Aside
            } else if let Some(announced) =
                user_file(target).and_then(|file| expected.files.get(file))
            {
                Outcome::Announced(announced.reason.to_owned())
            } else {
                Outcome::Lost("neither in the runtime nor in the sidecar".to_owned())
            }
        };
        let severity = |fate: &Outcome| match fate {
            Outcome::Carried => 0,
            Outcome::Aside => 1,
            Outcome::Lost(_) => 3,
            _ => 2,
        };
        // Somebody is counted once, with what became of the part that fared worst.
        let fates: Vec<_> = parts.iter().map(|part| (&part.name, fate_of(part))).collect();
        let all = parts.iter().map(|part| part.text.as_str()).collect::<Vec<_>>().join("\n");
        if let Some((name, fate)) = fates.into_iter().max_by_key(|(_, fate)| severity(fate)) {
            count.add(|| name.clone(), sha256_hex(all.as_bytes()), fate);
        }
    }
    Ok(count.finish())
}

/// Returns the texts about each person.
fn parts_of_principals(principals: Option<&Principals>) -> Vec<Vec<DocumentPart>> {
    let mut all = Vec::new();
    for (number, principal) in principals.iter().flat_map(|layer| &layer.principals).enumerate() {
        let profile = &principal.profile;
        let name = profile.structured.as_ref().and_then(|fields| fields.name.clone());
        let name = name.unwrap_or_else(|| format!("principal {}", number + 1));
        let prose = profile.prose.as_ref().and_then(|prose| prose.user_profile.as_ref());
        let mut parts = Vec::new();
        parts.extend(prose.map(|text| part(&name, text)));
        let fields = fields_of(profile.structured.as_ref());
        let fields = fields.into_iter().map(|field| format!("{}: {}", field.name, field.text));
        let fields = fields.collect::<Vec<_>>().join("\n");
        if !fields.is_empty() {
            parts.push(DocumentPart { name: format!("{name} (fields)"), text: fields });
        }
        all.push(parts);
    }
    all
}

/// Returns the file in which the target's runtime says whom the agent works for.
fn user_file(target: &dyn SnapshotSource) -> Option<&'static [u8]> {
    let runtime = &target.manifest().agent.source_runtime;
    mapping(runtime).map(|mapping| mapping.proof.user_file.as_bytes())
}

/// Counts equal texts.
fn texts(parts: Vec<DocumentPart>) -> BTreeMap<String, u64> {
    let mut texts = BTreeMap::new();
    for part in parts {
        *texts.entry(part.text).or_default() += 1;
    }
    texts
}

/// Removes one of several equal texts.
fn take(texts: &mut BTreeMap<String, u64>, text: &str) -> bool {
    match texts.get_mut(text) {
        Some(left) if *left > 0 => {
            *left -= 1;
            true
        }
        _ => false,
    }
}

pub(super) fn credentials(evidence: &Evidence<'_>, lost: &mut Vec<Loss>) -> io::Result<LayerProof> {
    let Evidence { source, target, expected, sidecar } = *evidence;
    let key = expected.vault_key;
    let list =
        |layer: Option<Credentials>| layer.map(|layer| layer.credentials).unwrap_or_default();
    let there = list(target.credentials()?);
    let is: Vec<_> = there.iter().map(|credential| credential_text(credential, key)).collect();
    let kept = sidecar.credentials.iter();
    let kept: Vec<_> = kept.map(|credential| credential_text(credential, None).0).collect();
    let mut count = LayerCount::new("credentials", lost);
    for credential in list(source.credentials()?) {
        let (text, secret) = credential_text(&credential, key);
        let Credential { service, label, .. } = &credential;
        let names = [
            Some(service.clone()),
            label.clone(),
            label.as_ref().map(|label| format!("{service}: {label}")),
        ];
        let announced = names.iter().flatten().any(|name| expected.credentials.contains(name));
        let found = is.iter().any(|(other, other_secret)| {
            // The label differs between runtimes; the secret identifies a credential.
            secret.as_ref().map_or(*other == text, |_| *other_secret == secret)
        });
        let fate = match (found, secret.is_some()) {
            (true, _) => Outcome::Carried,
            (false, _) if announced => Outcome::Announced("the secret stays behind".to_owned()),
            (false, false) if kept.contains(&text) => Outcome::Aside,
            _ => Outcome::Lost("not in the store of the runtime".to_owned()),
        };
        let what = || names.iter().flatten().next_back().cloned().unwrap_or_default();
        count.add(what, sha256_hex(text.as_bytes()), fate);
    }
    Ok(count.finish())
}

/// Returns what tells a credential from others, and the digest of its secret where it opens.
fn credential_text(credential: &Credential, key: Option<&VaultKey>) -> (String, Option<String>) {
    let Credential { service, credential_type, label, .. } = credential;
    let label = label.as_deref().unwrap_or_default();
    let text = format!("{service}\n{}\n{label}", credential_type.as_str());
    let secret = key.and_then(|key| key.open(credential).ok());
    let secret = secret.map(|secret| sha256_hex(bare_secret(&secret).as_bytes()));
    (text, secret)
}

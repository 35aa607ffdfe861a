//! Secrets that ZeroClaw sealed, as auth profiles.
//!
//! Keys of providers and the tokens of ZeroClaw's own profiles have a place in OpenClaw's store.
//! Anything else, such as the token of a messenger, would be stored there in clear and be of no
//! use.

use std::collections::BTreeSet;

use anemone_format::{Credential, Moment};
use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

use crate::kit::SecretText;

/// An opened credential, and the name of its profile.
pub(super) struct OpenedProfile<'a> {
    pub(super) id: String,
    /// The profile, if it differs from what was sealed.
    pub(super) made: Option<Zeroizing<Vec<u8>>>,
    pub(super) sealed: &'a [u8],
}

impl OpenedProfile<'_> {
    /// Returns the JSON of the profile.
    pub(super) fn profile(&self) -> &[u8] {
        self.made.as_deref().map_or(self.sealed, Vec::as_slice)
    }
}

#[derive(Deserialize)]
struct Payload {
    zeroclaw: Body,
}

/// The sealed fields of a ZeroClaw credential that have a place here.
#[derive(Deserialize)]
struct Body {
    #[serde(default)]
    path: Vec<String>,
    value: Option<SecretText>,
    id: Option<String>,
    profile: Option<TheirProfile>,
}

#[derive(Deserialize)]
struct TheirProfile {
    kind: Option<String>,
    model_provider: Option<String>,
    provider: Option<String>,
    profile_name: Option<String>,
    token: Option<SecretText>,
    access_token: Option<SecretText>,
    refresh_token: Option<SecretText>,
    expires_at: Option<String>,
}

/// A profile of OpenClaw.
#[derive(Default, Serialize)]
struct Profile {
    #[serde(rename = "type")]
    kind: &'static str,
    provider: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    key: Option<SecretText>,
    #[serde(skip_serializing_if = "Option::is_none")]
    token: Option<SecretText>,
    #[serde(skip_serializing_if = "Option::is_none")]
    access: Option<SecretText>,
    #[serde(skip_serializing_if = "Option::is_none")]
    refresh: Option<SecretText>,
    #[serde(skip_serializing_if = "Option::is_none")]
    expires: Option<i64>,
}

/// A generated profile, and its preferred name.
struct GeneratedProfile {
    profile: Profile,
    name: String,
}

/// Finds the profile of each opened credential; those that have none come with the reason.
pub(super) fn profiles<'a>(
    opened: &'a [(Credential, Zeroizing<Vec<u8>>)],
) -> (Vec<OpenedProfile<'a>>, Vec<(&'a Credential, &'static str)>) {
    let (mut found, mut refused) = (Vec::new(), Vec::new());
    let mut theirs = Vec::new();
    let mut taken = BTreeSet::new();
    for (credential, secret) in opened {
        if let Ok(payload) = serde_json::from_slice::<Payload>(secret) {
            match made(credential, payload.zeroclaw) {
                Ok(made) => theirs.push((secret, made)),
                Err(reason) => refused.push((credential, reason)),
            }
        } else if is_profile(secret) {
            let id = credential.label.clone().unwrap_or_else(|| credential.service.clone());
            taken.insert(id.clone());
            found.push(OpenedProfile { id, made: None, sealed: secret });
        } else {
            refused.push((credential, "it is not an auth profile"));
        }
    }
    // The default profile is the one with the default name, or else the first.
    let is_usual = |made: &GeneratedProfile| made.profile.key.is_none() || made.name == "default";
    theirs.sort_by_key(|(_, made)| !is_usual(made));
    for (secret, made) in theirs {
        let provider = &made.profile.provider;
        let usual = made.profile.key.is_some().then(|| format!("{provider}:default"));
        let numbered = (2_u64..).map(|number| format!("{provider}:{}-{number}", made.name));
        let own = std::iter::once(format!("{provider}:{}", made.name)).chain(numbered);
        let id = usual.into_iter().chain(own).find(|id| !taken.contains(id));
        let id = id.expect("some number is free");
        taken.insert(id.clone());
        let json = serde_json::to_vec(&made.profile).expect("texts and numbers are JSON");
        let json = Some(Zeroizing::new(json));
        found.push(OpenedProfile { id, made: json, sealed: secret });
    }
    (found, refused)
}

/// Returns whether an opened secret is one of this runtime: the JSON of a profile.
fn is_profile(secret: &[u8]) -> bool {
    #[derive(Deserialize)]
    struct Head {
        zeroclaw: Option<serde::de::IgnoredAny>,
    }
    serde_json::from_slice::<Head>(secret).is_ok_and(|head| head.zeroclaw.is_none())
        && secret.trim_ascii_start().starts_with(b"{")
}

fn made(credential: &Credential, body: Body) -> Result<GeneratedProfile, &'static str> {
    match body.profile {
        Some(profile) => made_of_profile(credential, body.id.as_deref(), profile),
        None => made_of_key(credential, &body.path, body.value),
    }
}

fn made_of_key(
    credential: &Credential,
    path: &[String],
    value: Option<SecretText>,
) -> Result<GeneratedProfile, &'static str> {
    let path: Vec<&str> = path.iter().map(String::as_str).collect();
    let (provider, name) = match &path[..] {
        ["providers", "models", provider, name, "api_key"] => (*provider, *name),
        ["providers", "models", provider, "api_key"] | ["model_providers", provider, "api_key"] => {
            (*provider, "default")
        }
        ["api_key"] if credential.service != "zeroclaw" => (&*credential.service, "default"),
        _ => return Err("it belongs to a setting that OpenClaw has elsewhere; set it up there"),
    };
    let key = value.filter(|key| !key.0.is_empty()).ok_or("it is not a text")?;
    let provider = plain_provider(provider)?;
    let profile = Profile { kind: "api_key", provider, key: Some(key), ..Profile::default() };
    Ok(GeneratedProfile { profile, name: name.to_owned() })
}

fn made_of_profile(
    credential: &Credential,
    id: Option<&str>,
    theirs: TheirProfile,
) -> Result<GeneratedProfile, &'static str> {
    let provider = theirs.model_provider.or(theirs.provider);
    let provider = plain_provider(&provider.unwrap_or_else(|| credential.service.clone()))?;
    let named = id.and_then(|id| id.split_once(':')).map(|(_, name)| name.to_owned());
    let name = named.or(theirs.profile_name).filter(|named| !named.is_empty());
    let expires = theirs.expires_at.and_then(|at| at.parse::<Moment>().ok());
    let expires = expires.map(|at| at.instant().as_millisecond());
    let profile = match theirs.kind.as_deref() {
        Some("token") => {
            Profile { kind: "token", provider, token: theirs.token, expires, ..Profile::default() }
        }
        Some("oauth") => Profile {
            kind: "oauth",
            provider,
            access: theirs.access_token,
            refresh: theirs.refresh_token,
            expires,
            ..Profile::default()
        },
        _ => return Err("it is a profile of a kind that OpenClaw does not keep"),
    };
    if profile.token.is_none() && profile.access.is_none() {
        return Err("its profile holds no token");
    }
    Ok(GeneratedProfile { profile, name: name.unwrap_or_else(|| "default".to_owned()) })
}

/// In older settings a provider may be an address, which OpenClaw keeps in its own settings.
fn plain_provider(name: &str) -> Result<String, &'static str> {
    if name.is_empty() || name.contains([':', '/']) {
        Err("its provider is an address; set it up in OpenClaw")
    } else {
        Ok(name.to_owned())
    }
}

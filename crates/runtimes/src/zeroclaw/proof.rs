//! What the proof of a move has to know of ZeroClaw.

use serde::Deserialize;
use zeroize::Zeroizing;

use crate::kit::SecretText;
use crate::kit::mapping::{ProofRules, joined};

pub(crate) static PROOF: ProofRules = ProofRules {
    beside_workspace: &["config.toml", ".alf-database.json"],
    optional_columns: &[
        ("importance", "confidence"),
        ("superseded_by", "status"),
        ("kind", "memory_type"),
    ],
    user_file: "USER.md",
    bare_secret,
};

#[derive(Deserialize)]
struct Payload {
    zeroclaw: Setting,
}

/// A setting or a profile, as far as it is secret.
#[derive(Deserialize)]
struct Setting {
    value: Option<SecretText>,
    toml: Option<SecretText>,
    #[serde(default)]
    profile: Profile,
}

#[derive(Default, Deserialize)]
struct Profile {
    token: Option<SecretText>,
    access_token: Option<SecretText>,
    refresh_token: Option<SecretText>,
}

fn bare_secret(payload: &[u8]) -> Option<Zeroizing<String>> {
    let Payload { zeroclaw } = serde_json::from_slice(payload).ok()?;
    let Setting { value, toml, profile } = zeroclaw;
    let Profile { token, access_token, refresh_token } = profile;
    let whole = value.or(toml).or(token).map(|text| text.0);
    whole.or_else(|| joined(access_token, refresh_token))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_secret_of_a_setting_or_a_profile_is_found() {
        for (payload, expected) in [
            (
                r#"{"zeroclaw":{"path":["providers"],"value":"sk-1","encrypted":true}}"#,
                Some("sk-1"),
            ),
            (r#"{"zeroclaw":{"id":"a:b","profile":{"kind":"token","token":"t-1"}}}"#, Some("t-1")),
            (
                r#"{"zeroclaw":{"id":"a:b","profile":
                   {"access_token":"a","refresh_token":"r","token":null}}}"#,
                Some("a\nr"),
            ),
            (r#"{"zeroclaw":{"id":"a:b"}}"#, None),
            (r#"{"type":"api_key","key":"sk-1"}"#, None),
        ] {
            let found = bare_secret(payload.as_bytes());
            assert_eq!(found.as_ref().map(|text| text.as_str()), expected, "{payload}");
        }
    }
}

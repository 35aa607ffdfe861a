//! What the proof of a move has to know about OpenClaw.

use serde::Deserialize;
use zeroize::Zeroizing;

use crate::kit::SecretText;
use crate::kit::mapping::{ProofRules, joined};

pub(crate) static PROOF: ProofRules =
    ProofRules { beside_workspace: &[], optional_columns: &[], user_file: "USER.md", bare_secret };

/// The secret fields of a profile.
#[derive(Deserialize)]
struct Profile {
    key: Option<SecretText>,
    token: Option<SecretText>,
    access: Option<SecretText>,
    refresh: Option<SecretText>,
}

fn bare_secret(payload: &[u8]) -> Option<Zeroizing<String>> {
    let Profile { key, token, access, refresh } = serde_json::from_slice(payload).ok()?;
    key.or(token).map(|text| text.0).or_else(|| joined(access, refresh))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_secret_of_a_profile_is_found() {
        for (profile, expected) in [
            (r#"{"type":"api_key","provider":"openai","key":"sk-1"}"#, Some("sk-1")),
            (r#"{"type":"token","provider":"anthropic","token":"t-1"}"#, Some("t-1")),
            (r#"{"type":"oauth","access":"a","refresh":"r","expires":1}"#, Some("a\nr")),
            (r#"{"type":"x"}"#, None),
            (r#"{"key":{"source":"env"}}"#, None),
            ("plain", None),
        ] {
            let found = bare_secret(profile.as_bytes());
            assert_eq!(found.as_ref().map(|text| text.as_str()), expected, "{profile}");
        }
    }
}

//! What the proof of a move has to know about ZeroClaw.

use super::credentials::bare_secret;
use crate::kit::mapping::ProofRules;

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

//! What is secret of a credential, whichever runtime has it.

use serde::{Deserialize, Deserializer};
use zeroize::Zeroizing;

/// Returns the secret itself: each runtime has words of its own around it.
pub(super) fn bare(payload: &[u8]) -> Zeroizing<String> {
    let fields = serde_json::from_slice::<Payload>(payload).unwrap_or_default();
    let body = fields.zeroclaw.unwrap_or_default();
    let profile = body.profile.unwrap_or_default();
    let whole = [body.value, body.toml, fields.key, fields.token, profile.token];
    if let Some(text) = whole.into_iter().flatten().next() {
        return text.0;
    }
    let access = fields.access.or(profile.access_token);
    let refresh = fields.refresh.or(profile.refresh_token);
    match (access, refresh) {
        (None, None) => Zeroizing::new(String::from_utf8_lossy(payload).into_owned()),
        (access, refresh) => {
            let text = |text: Option<Text>| text.unwrap_or_default();
            Zeroizing::new([text(access).0.as_str(), "\n", text(refresh).0.as_str()].concat())
        }
    }
}

/// A text that is wiped when it is no longer needed.
#[derive(Default)]
struct Text(Zeroizing<String>);

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        String::deserialize(from).map(|text| Self(Zeroizing::new(text)))
    }
}

/// What is sealed of a credential, as far as it is secret, in the words of each runtime.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Payload {
    key: Option<Text>,
    token: Option<Text>,
    access: Option<Text>,
    refresh: Option<Text>,
    zeroclaw: Option<OfZeroClaw>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct OfZeroClaw {
    value: Option<Text>,
    toml: Option<Text>,
    profile: Option<ProfileOfZeroClaw>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct ProfileOfZeroClaw {
    token: Option<Text>,
    access_token: Option<Text>,
    refresh_token: Option<Text>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_the_same_in_the_words_of_each_runtime() {
        for (openclaw, zeroclaw, expected) in [
            (
                r#"{"type":"api_key","provider":"openai","key":"sk-1"}"#,
                r#"{"zeroclaw":{"path":["providers"],"value":"sk-1","encrypted":true}}"#,
                "sk-1",
            ),
            (
                r#"{"type":"token","provider":"anthropic","token":"t-1"}"#,
                r#"{"zeroclaw":{"id":"a:b","profile":{"kind":"token","token":"t-1"}}}"#,
                "t-1",
            ),
            (
                r#"{"type":"oauth","access":"a","refresh":"r","expires":1}"#,
                r#"{"zeroclaw":{"id":"a:b","profile":
                   {"access_token":"a","refresh_token":"r","token":null}}}"#,
                "a\nr",
            ),
        ] {
            assert_eq!(*bare(openclaw.as_bytes()), expected);
            assert_eq!(*bare(zeroclaw.as_bytes()), expected);
        }
        for other in ["plain", r#"{"type":"x"}"#, r#"{"key":{"source":"env"}}"#] {
            assert_eq!(*bare(other.as_bytes()), other);
        }
    }
}

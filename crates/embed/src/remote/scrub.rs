//! Removes secrets from a provider's messages.
//!
//! Some providers repeat the key in their error, whole, in part, or encoded. So every stretch of
//! four characters that the text shares with a secret is hidden, wherever it begins and ends.

use std::collections::HashSet;
use std::fmt::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use reqwest::Url;

use crate::ApiKey;

/// How many consecutive characters reveal a secret.
const TELLING: usize = 4;
/// Characters of a provider's message that are shown.
const LONGEST: usize = 300;
const HIDDEN: &str = "[hidden]";

/// Texts that must not be shown.
pub(super) struct Secrets {
    pieces: HashSet<[char; TELLING]>,
    /// A secret shorter than a piece cannot be told from ordinary text, so nothing is shown then.
    tiny: bool,
}

impl Secrets {
    /// Collects the secrets: the key, and those that a URL may contain.
    pub(super) fn new(key: Option<&ApiKey>, url: &Url) -> Self {
        let mut secrets = Self { pieces: HashSet::new(), tiny: false };
        if let Some(key) = key {
            secrets.add(key.expose());
        }
        if let Some(password) = url.password() {
            secrets.add(password);
            secrets.add(&percent_decoded(password));
            secrets.add(&format!("{}:{}", url.username(), password));
        }
        for (_, value) in url.query_pairs() {
            // An ordinary parameter, such as a version, is not a secret.
            if value.chars().count() >= 16 {
                secrets.add(&value);
            }
        }
        secrets
    }

    fn add(&mut self, secret: &str) {
        if secret.is_empty() {
            return;
        }
        self.tiny |= secret.chars().count() < TELLING;
        let encoded = percent_encoded(secret);
        for form in [secret, &encoded, &STANDARD.encode(secret)] {
            let form: Vec<char> = form.chars().map(|c| c.to_ascii_lowercase()).collect();
            self.pieces.extend(form.windows(TELLING).filter_map(|piece| {
                let piece: [char; TELLING] = piece.try_into().ok()?;
                Some(piece)
            }));
        }
    }

    /// Returns the text without secrets and control characters, cut to a readable length.
    pub(super) fn scrub(&self, text: &str) -> String {
        if self.tiny {
            return HIDDEN.to_owned();
        }
        let shown: Vec<char> = text.chars().collect();
        let folded: Vec<char> = shown.iter().map(char::to_ascii_lowercase).collect();
        let mut secret = vec![false; shown.len()];
        for (at, piece) in folded.windows(TELLING).enumerate() {
            if self.pieces.contains(piece) {
                secret[at..at + TELLING].fill(true);
            }
        }
        let mut clean = String::new();
        for (at, &character) in shown.iter().enumerate() {
            if clean.chars().count() >= LONGEST {
                clean.push_str("...");
                break;
            }
            if !secret[at] {
                clean.push(if character.is_control() { ' ' } else { character });
            } else if at == 0 || !secret[at - 1] {
                clean.push_str(HIDDEN);
            }
        }
        clean
    }
}

/// Percent-encodes every byte that is not a letter or a digit.
fn percent_encoded(text: &str) -> String {
    text.bytes().fold(String::new(), |mut encoded, byte| {
        if byte.is_ascii_alphanumeric() {
            encoded.push(char::from(byte));
        } else {
            // Writing to a string cannot fail.
            let _written = write!(encoded, "%{byte:02X}");
        }
        encoded
    })
}

fn percent_decoded(text: &str) -> String {
    let query = format!("x={}", text.replace('+', "%2B"));
    let mut url = Url::parse("http://localhost").ok();
    url.as_mut()
        .and_then(|url| {
            url.set_query(Some(&query));
            url.query_pairs().next().map(|(_, value)| value.into_owned())
        })
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secrets(key: &str, url: &str) -> Secrets {
        let key = ApiKey::new(key.to_owned()).unwrap();
        Secrets::new(Some(&key), &Url::parse(url).unwrap())
    }

    const KEY: &str = "sk-Zq8/vW+x71Lm_pT4";

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(secrets(KEY, "https://example.org").scrub(text), expected);
    }

    #[test]
    fn a_key_is_hidden_whole_in_part_and_encoded() {
        check(&format!("bad key {KEY}."), "bad key [hidden].");
        check("bad key sk-Zq8/v", "bad key [hidden]");
        check("bad key sk-Z********_pT4!", "bad key [hidden]********[hidden]!");
        check("?key=sk%2DZq8%2FvW%2Bx71Lm%5FpT4&a=b", "?key=[hidden]&a=b");
        check("?key=sk%2dzq8%2fvw%2bx71lm%5fpt4&a=b", "?key=[hidden]&a=b");
        check("?key=sk-Zq8%2FvW%2Bx71Lm_pT4&a=b", "?key=[hidden]&a=b");
        check(&STANDARD.encode(KEY), "[hidden]");
    }

    #[test]
    fn what_shares_nothing_with_the_key_stays() {
        check("the model does not exist", "the model does not exist");
    }

    #[test]
    fn the_secrets_of_a_url_are_hidden() {
        let secrets = secrets(
            KEY,
            "https://me:hunter%2F2x@example.org/?token=0123456789abcdef&api-version=2",
        );
        let clean = secrets.scrub("hunter%2F2x or hunter/2x or 0123456789abcdef at version 2");
        assert_eq!(clean, "[hidden] or [hidden] or [hidden] at version 2");
        let header = STANDARD.encode("me:hunter%2F2x");
        assert!(!secrets.scrub(&format!("Basic {header}")).contains(&header[..8]));
    }

    #[test]
    fn beside_a_key_of_three_letters_nothing_is_shown() {
        assert_eq!(secrets("abc", "https://example.org").scrub("abc was wrong"), "[hidden]");
    }

    #[test]
    fn a_message_is_cut_and_cannot_steer_a_terminal() {
        check("red \u{1b}[31m\nline", "red  [31m line");
        let long = secrets(KEY, "https://example.org").scrub(&"long ".repeat(1000));
        assert_eq!(long.chars().count(), LONGEST + 3);
    }
}

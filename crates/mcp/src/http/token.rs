//! The access token of clients.
//!
//! It is stored and compared as a digest, so that the duration of a comparison reveals nothing
//! about the token. It can be neither printed nor compared in any other way.

use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;

/// A shorter token could be guessed.
const SHORTEST: usize = 16;

/// Says whether a text can be a token: it is hard to guess, and a header can carry it.
#[must_use]
pub fn is_token(text: &str) -> bool {
    text.len() >= SHORTEST && text.bytes().all(|byte| byte.is_ascii_graphic())
}

/// A token, as its digest.
pub(super) struct Token {
    digest: [u8; 32],
}

impl Token {
    /// Returns nothing for a text that cannot be one.
    pub(super) fn new(token: &str) -> Option<Self> {
        is_token(token).then(|| Self { digest: digest(token.as_bytes()) })
    }

    /// Returns whether the value of an `Authorization` header carries this token.
    pub(super) fn is_in(&self, authorization: &[u8]) -> bool {
        let Some((scheme, given)) = authorization.split_at_checked("Bearer ".len()) else {
            return false;
        };
        scheme.eq_ignore_ascii_case(b"Bearer ") && self.is(given)
    }

    fn is(&self, given: &[u8]) -> bool {
        self.digest.ct_eq(&digest(given)).into()
    }
}

fn digest(bytes: &[u8]) -> [u8; 32] {
    Sha256::digest(bytes).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOKEN: &str = "0123456789abcdef0123456789abcdef";

    #[test]
    fn only_the_whole_token_after_bearer_opens() {
        let token = Token::new(TOKEN).unwrap();
        for (authorization, opens) in [
            (format!("Bearer {TOKEN}"), true),
            (format!("bearer {TOKEN}"), true),
            (format!("Bearer  {TOKEN}"), false),
            (format!("Bearer {TOKEN} "), false),
            (format!("Bearer {TOKEN}0"), false),
            (format!("Bearer {}", &TOKEN[..31]), false),
            (format!("Bearer {}", TOKEN.to_uppercase()), false),
            (format!("Basic {TOKEN}"), false),
            (TOKEN.to_owned(), false),
            ("Bearer ".to_owned(), false),
            ("Bearer".to_owned(), false),
            (String::new(), false),
        ] {
            assert_eq!(token.is_in(authorization.as_bytes()), opens, "{authorization}");
        }
    }

    #[test]
    fn a_token_is_long_enough_and_fits_in_a_header() {
        assert!(Token::new("").is_none());
        assert!(Token::new("0123456789abcde").is_none());
        assert!(Token::new("0123456789abcdef").is_some());
        assert!(Token::new("0123456789 abcdef").is_none());
        assert!(Token::new("0123456789\u{e9}abcdef").is_none());
    }
}

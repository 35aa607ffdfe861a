//! Ids, each with a separate type, so that one kind cannot be used in place of another.

use std::fmt;
use std::str::FromStr;

use uuid::Uuid;

use crate::object::text_form;

/// A text that is not a UUID in the hyphenated form.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not a UUID such as 0190a5b2-7c11-7d3e-9f00-1c2d3e4f5a6b")]
pub struct ParseIdError {
    text: String,
}

fn parse(text: &str) -> Result<Uuid, ParseIdError> {
    // The library also accepts braces, URNs and bare hex; two spellings of one id would be two ids
    // to a reader that compares text.
    let error = || ParseIdError { text: text.chars().take(64).collect() };
    if text.len() != 36 {
        return Err(error());
    }
    Uuid::try_parse(text).map_err(|_| error())
}

macro_rules! id {
    ($(#[$meta:meta])* $name:ident) => {
        $(#[$meta])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(Uuid);

        impl $name {
            /// Takes a UUID as this kind of id.
            #[must_use]
            pub const fn new(uuid: Uuid) -> Self {
                Self(uuid)
            }

            /// Returns the bare UUID.
            #[must_use]
            pub const fn uuid(self) -> Uuid {
                self.0
            }
        }

        impl FromStr for $name {
            type Err = ParseIdError;

            fn from_str(text: &str) -> Result<Self, ParseIdError> {
                parse(text).map(Self)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }

        text_form!($name, "uuid");
    };
}

id!(
    /// Names an agent; the same in every archive and delta of it.
    AgentId
);
id!(
    /// Names a record within an agent.
    RecordId
);
id!(
    /// Names a document or an item in one: identity, principal, profile, credential, attachment.
    ItemId
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_hyphenated_spelling_is_an_id() {
        let text = "1d93a526-85b1-5b5b-9ac8-2fcc8749633d";
        assert_eq!(text.parse::<RecordId>().unwrap().to_string(), text);
        assert!(text.to_uppercase().parse::<RecordId>().is_ok());
        for odd in
            ["", "1d93a52685b15b5b9ac82fcc8749633d", "{1d93a526-85b1-5b5b-9ac8-2fcc8749633d}"]
        {
            assert!(odd.parse::<RecordId>().is_err(), "{odd}");
        }
    }
}

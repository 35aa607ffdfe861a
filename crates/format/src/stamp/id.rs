//! The ids of entries.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use uuid::Uuid;

/// The digits of Crockford's base 32: no `i`, `l`, `o` or `u`, so that none is misread.
const DIGITS: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
const SHORT_CHARS: usize = 8;

/// The id of an entry in its stamp.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum StampId {
    /// Eight characters, at least one of them a digit: enough to identify the entries of one
    /// memory.
    Short([u8; SHORT_CHARS]),
    /// A UUID, as earlier versions wrote it.
    Long(Uuid),
}

/// A text that is not an id of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("neither eight characters of an id nor a UUID")]
pub struct ParseStampIdError;

impl StampId {
    /// Returns the short id derived from a long one: from its last 40 bits, which are random.
    #[must_use]
    pub fn shortened(self) -> Self {
        let Self::Long(uuid) = self else { return self };
        let bits = uuid.as_u128();
        let digit = |at: usize| DIGITS[(bits >> (5 * (SHORT_CHARS - 1 - at))) as usize % 32];
        let mut short = std::array::from_fn(digit);
        if !short.iter().any(u8::is_ascii_digit) {
            // Without a digit it could be an ordinary word.
            short[0] = DIGITS[(bits >> 40) as usize % 10];
        }
        Self::Short(short)
    }
}

impl From<Uuid> for StampId {
    fn from(uuid: Uuid) -> Self {
        Self::Long(uuid)
    }
}

impl FromStr for StampId {
    type Err = ParseStampIdError;

    fn from_str(text: &str) -> Result<Self, ParseStampIdError> {
        if let Ok(short) = <[u8; SHORT_CHARS]>::try_from(text.as_bytes()) {
            let is_short = short.iter().all(|digit| DIGITS.contains(digit))
                && short.iter().any(u8::is_ascii_digit);
            return if is_short { Ok(Self::Short(short)) } else { Err(ParseStampIdError) };
        }
        // Only our own form: `uuid` also accepts braces and other forms.
        let is_plain = text.len() == 36;
        let uuid = is_plain.then(|| Uuid::try_parse(text).ok()).flatten();
        uuid.map(Self::Long).ok_or(ParseStampIdError)
    }
}

impl fmt::Display for StampId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Short(short) => {
                short.iter().try_for_each(|digit| write!(f, "{}", *digit as char))
            }
            Self::Long(uuid) => write!(f, "{uuid}"),
        }
    }
}

impl Serialize for StampId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for StampId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<str>::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_short_id_is_read_as_it_is_written(bits: u128) {
            let short = StampId::from(Uuid::from_u128(bits)).shortened();
            let text = short.to_string();
            prop_assert_eq!(text.len(), SHORT_CHARS);
            prop_assert_eq!(text.parse(), Ok(short));
            prop_assert_eq!(short.shortened(), short);
        }
    }

    #[test]
    fn an_id_of_letters_alone_gets_a_digit() {
        let letters = StampId::from(Uuid::from_u128(0x03ff_ffff_ffff)).shortened();
        assert_eq!(letters.to_string(), "3zzzzzzz");
        assert_eq!("zzzzzzzz".parse::<StampId>(), Err(ParseStampIdError));
    }
}

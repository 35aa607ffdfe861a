//! Fields of a JSON object that this version does not know.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, Visitor};
use serde_json::value::RawValue;

/// Unknown fields of one object, in the order they came, each value as its own bytes.
#[derive(Clone, Default)]
pub struct Unknown(Vec<(String, Box<RawValue>)>);

impl Unknown {
    /// Returns true when there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the fields in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &RawValue)> {
        self.0.iter().map(|(key, value)| (key.as_str(), &**value))
    }

    /// Returns the JSON text of one field.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&str> {
        self.iter().find(|(name, _)| *name == key).map(|(_, value)| value.get())
    }

    /// Sets a field to a JSON text; the text must be one JSON value.
    pub fn insert(&mut self, key: &str, json: &str) -> Result<(), serde_json::Error> {
        let value = RawValue::from_string(json.to_owned())?;
        match self.0.iter_mut().find(|(name, _)| name == key) {
            Some((_, old)) => *old = value,
            None => self.0.push((key.to_owned(), value)),
        }
        Ok(())
    }

    /// Reads the value that belongs to an unknown key out of an object being parsed.
    pub(crate) fn read<'de, A: MapAccess<'de>>(
        &mut self,
        key: Cow<'de, str>,
        map: &mut A,
    ) -> Result<(), A::Error> {
        let value = map.next_value::<Box<RawValue>>()?;
        self.0.push((key.into_owned(), value));
        Ok(())
    }

    /// Refuses a key that was read twice.
    pub(crate) fn check<E: Error>(&self) -> Result<(), E> {
        check_unique(self.iter().map(|(key, _)| key))
    }
}

impl PartialEq for Unknown {
    fn eq(&self, other: &Self) -> bool {
        self.0.len() == other.0.len()
            && self.iter().zip(other.iter()).all(|(a, b)| a.0 == b.0 && a.1.get() == b.1.get())
    }
}

impl fmt::Debug for Unknown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter().map(|(key, value)| (key, value.get()))).finish()
    }
}

/// Refuses a duplicate key. All keys are checked at once, because untrusted input may hold a
/// million.
pub(crate) fn check_unique<'a, E: Error>(keys: impl Iterator<Item = &'a str>) -> Result<(), E> {
    let mut keys: Vec<&str> = keys.collect();
    keys.sort_unstable();
    match keys.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(pair) => Err(E::custom(format_args!("duplicate field `{}`", pair[0]))),
        None => Ok(()),
    }
}

/// A string read without copying where the input allows it.
pub(crate) struct Key<'de>(pub(crate) Cow<'de, str>);

impl<'de> Deserialize<'de> for Key<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Text;

        impl<'de> Visitor<'de> for Text {
            type Value = Key<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }

            fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Key<'de>, E> {
                Ok(Key(Cow::Borrowed(text)))
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Key<'de>, E> {
                Ok(Key(Cow::Owned(text.to_owned())))
            }

            fn visit_string<E: Error>(self, text: String) -> Result<Key<'de>, E> {
                Ok(Key(Cow::Owned(text)))
            }
        }

        deserializer.deserialize_str(Text)
    }
}

/// A value that may be `null` and is then written as `null`, not left out.
#[derive(Clone, Debug, PartialEq)]
pub struct Nullable<T>(pub Option<T>);

impl<T: serde::Serialize> serde::Serialize for Nullable<T> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Nullable<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Option::deserialize(deserializer).map(Self)
    }
}

impl<T: schemars::JsonSchema> schemars::JsonSchema for Nullable<T> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        format!("Nullable_{}", T::schema_name()).into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let inner = generator.subschema_for::<T>();
        schemars::json_schema!({ "anyOf": [inner, { "type": "null" }] })
    }
}

#[cfg(test)]
mod tests {
    #![expect(unreachable_pub, reason = "the macro makes public types")]

    crate::object::object! {
        /// A sample object.
        pub struct Sample {
            /// Known.
            required id: u32,
            /// Known, may be absent.
            optional note: String,
            /// Renamed, because `type` is a keyword.
            list kind: String = "type",
        }
    }

    #[test]
    fn unknown_values_keep_their_bytes_and_their_order() {
        let text = r#"{"id":1,"z":1.50e+3,"a":{"b" : [1 , 2]},"n":12345678901234567890123}"#;
        let sample: Sample = serde_json::from_str(text).unwrap();
        assert_eq!(sample.unknown.get("z"), Some("1.50e+3"));
        assert_eq!(serde_json::to_string(&sample).unwrap(), text);
    }

    #[test]
    fn a_key_that_appears_twice_is_refused() {
        for text in [r#"{"id":1,"id":2}"#, r#"{"id":1,"x":2,"x":3}"#] {
            let error = serde_json::from_str::<Sample>(text).unwrap_err();
            assert!(error.to_string().contains("duplicate field"), "{error}");
        }
    }

    #[test]
    fn optional_null_reads_as_absent_and_lists_default_to_empty() {
        let sample: Sample = serde_json::from_str(r#"{"id":1,"note":null}"#).unwrap();
        assert_eq!((sample.note, sample.kind), (None, Vec::new()));
    }
}

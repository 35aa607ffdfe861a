//! A JSON object of another program, which is only carried.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, Deserializer, Error};
use serde::ser::{Serialize, Serializer};
use serde_json::value::RawValue;

/// A JSON object kept byte for byte; equality is equality of the text.
#[derive(Clone)]
pub struct Opaque(Box<RawValue>);

impl Opaque {
    /// Takes any value that serialises to a JSON object.
    pub fn new<T: Serialize>(value: &T) -> Result<Self, serde_json::Error> {
        Self::checked(serde_json::value::to_raw_value(value)?)
    }

    /// Returns the JSON text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        self.0.get()
    }

    /// Reads the object as a type of the caller's.
    pub fn parse<'a, T: Deserialize<'a>>(&'a self) -> Result<T, serde_json::Error> {
        serde_json::from_str(self.0.get())
    }

    fn checked<E: Error>(raw: Box<RawValue>) -> Result<Self, E> {
        // RawValue keeps the bytes from the first character of the value to the last.
        if raw.get().starts_with('{') {
            Ok(Self(raw))
        } else {
            Err(E::custom("expected an object"))
        }
    }
}

impl PartialEq for Opaque {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

impl fmt::Debug for Opaque {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Opaque({})", self.as_str())
    }
}

impl Serialize for Opaque {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Opaque {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::checked(Box::<RawValue>::deserialize(deserializer)?)
    }
}

impl schemars::JsonSchema for Opaque {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Opaque".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "object" })
    }
}

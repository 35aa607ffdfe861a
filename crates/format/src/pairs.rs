//! A JSON object used as a map, in the order it was written.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde::ser::{Serialize, Serializer};

use crate::unknown::{Key, check_unique};

/// Names and values in the order they came; a name occurs once.
#[derive(Clone, Debug, PartialEq)]
pub struct Pairs<T>(Vec<(String, T)>);

impl<T> Pairs<T> {
    /// Returns the value of a name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&T> {
        self.0.iter().find(|(key, _)| key == name).map(|(_, value)| value)
    }

    /// Returns names and values in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &T)> {
        self.0.iter().map(|(key, value)| (key.as_str(), value))
    }

    /// Keeps only some of the names and values.
    pub fn retain(&mut self, mut keep: impl FnMut(&str, &T) -> bool) {
        self.0.retain(|(key, value)| keep(key, value));
    }

    /// Sets the value of a name; a new name goes to the end.
    pub fn insert(&mut self, name: &str, value: T) {
        match self.0.iter_mut().find(|(key, _)| key == name) {
            Some((_, old)) => *old = value,
            None => self.0.push((name.to_owned(), value)),
        }
    }
}

impl<T> Default for Pairs<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T: Serialize> Serialize for Pairs<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter())
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Pairs<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Entries<T>(PhantomData<T>);

        impl<'de, T: Deserialize<'de>> Visitor<'de> for Entries<T> {
            type Value = Pairs<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Pairs<T>, A::Error> {
                let mut pairs = Pairs::default();
                while let Some(Key(key)) = map.next_key()? {
                    pairs.0.push((key.into_owned(), map.next_value()?));
                }
                check_unique(pairs.iter().map(|(name, _)| name))?;
                Ok(pairs)
            }
        }

        deserializer.deserialize_map(Entries(PhantomData))
    }
}

impl<T: schemars::JsonSchema> schemars::JsonSchema for Pairs<T> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        format!("Pairs_{}", T::schema_name()).into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let value = generator.subschema_for::<T>();
        schemars::json_schema!({ "type": "object", "additionalProperties": value })
    }
}

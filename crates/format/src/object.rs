//! The macros that define the JSON types of the format.
//!
//! `object!` makes a struct that keeps the fields it does not know, as the bytes they came in, and
//! refuses a key that appears twice (two readers may disagree on which one counts). `vocabulary!`
//! makes an enum that keeps the values it does not know.
//!
//! A derive cannot do this: `#[serde(flatten)]` goes through a buffer that turns numbers into
//! `f64` or `i64` and so loses how they were written.

/// Defines a JSON object whose unknown fields survive.
///
/// Each field has a mode: `required` must be there; `optional` becomes an `Option` and is left
/// out when `None`; `nullable` is `optional`, but a `null` stays a `null`; `list` becomes a `Vec`
/// and is left out when empty; `assumed` is `required` in what is written, and has its type's
/// [`Assumed`] value where another writer left it out.
macro_rules! object {
    (
        $(#[$meta:meta])*
        pub struct $name:ident {
            $( $(#[$field_meta:meta])* $mode:ident $field:ident : $ty:ty $(= $json:literal)? , )*
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq, schemars::JsonSchema)]
        pub struct $name {
            $(
                $(#[$field_meta])*
                $(#[schemars(rename = $json)])?
                pub $field: $crate::object::object!(@type $mode $ty),
            )*
            /// Fields that this version does not know, in the order they came, byte for byte.
            #[schemars(skip)]
            pub unknown: $crate::unknown::Unknown,
        }

        impl $crate::survey::Survey for $name {
            fn survey(
                &self,
                at: &mut $crate::survey::Pointer,
                found: &mut dyn FnMut(&$crate::survey::Pointer, $crate::survey::Surprise<'_>),
            ) {
                use $crate::survey::{Step, Surprise};
                $(
                    if !<$crate::object::object!(@type $mode $ty) as $crate::survey::Survey>::LEAF {
                        let step = Step::Key($crate::object::object!(@name $field $($json)?));
                        at.within(step, |at| self.$field.survey(at, found));
                    }
                )*
                for (key, _) in self.unknown.iter() {
                    found(at, Surprise::Field(key));
                }
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                use serde::ser::SerializeMap as _;
                let mut map = serializer.serialize_map(None)?;
                $( $crate::object::object!(
                    @write $mode map,
                    $crate::object::object!(@name $field $($json)?),
                    self.$field
                ); )*
                for (key, value) in self.unknown.iter() {
                    map.serialize_entry(key, value)?;
                }
                map.end()
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct Fields;

                impl<'de> serde::de::Visitor<'de> for Fields {
                    type Value = $name;

                    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                        f.write_str("an object")
                    }

                    fn visit_map<A: serde::de::MapAccess<'de>>(
                        self,
                        mut map: A,
                    ) -> Result<$name, A::Error> {
                        $( let mut $field: Option<$crate::object::object!(@type $mode $ty)> = None; )*
                        let mut unknown = $crate::unknown::Unknown::default();
                        while let Some($crate::unknown::Key(key)) = map.next_key()? {
                            $(
                                if key == $crate::object::object!(@name $field $($json)?) {
                                    if $field.is_some() {
                                        return Err(serde::de::Error::duplicate_field(
                                            $crate::object::object!(@name $field $($json)?),
                                        ));
                                    }
                                    $field = Some($crate::object::object!(@read $mode map));
                                    continue;
                                }
                            )*
                            unknown.read(key, &mut map)?;
                        }
                        unknown.check()?;
                        Ok($name {
                            $( $field: $crate::object::object!(
                                @unwrap $mode $field,
                                $crate::object::object!(@name $field $($json)?)
                            ), )*
                            unknown,
                        })
                    }
                }

                deserializer.deserialize_map(Fields)
            }
        }
    };

    (@type required $ty:ty) => { $ty };
    (@type assumed $ty:ty) => { $ty };
    (@type optional $ty:ty) => { Option<$ty> };
    (@type nullable $ty:ty) => { Option<$crate::unknown::Nullable<$ty>> };
    (@type list $ty:ty) => { Vec<$ty> };

    (@name $field:ident) => { stringify!($field) };
    (@name $field:ident $json:literal) => { $json };

    (@write required $map:ident, $name:expr, $value:expr) => {
        $map.serialize_entry($name, &$value)?;
    };
    (@write assumed $map:ident, $name:expr, $value:expr) => {
        $map.serialize_entry($name, &$value)?;
    };
    (@write optional $map:ident, $name:expr, $value:expr) => {
        if let Some(value) = &$value {
            $map.serialize_entry($name, value)?;
        }
    };
    (@write nullable $map:ident, $name:expr, $value:expr) => {
        $crate::object::object!(@write optional $map, $name, $value)
    };
    (@write list $map:ident, $name:expr, $value:expr) => {
        if !$value.is_empty() {
            $map.serialize_entry($name, &$value)?;
        }
    };

    (@read required $map:ident) => { $map.next_value()? };
    (@read assumed $map:ident) => { $map.next_value()? };
    (@read optional $map:ident) => { $map.next_value()? };
    (@read nullable $map:ident) => { Some($map.next_value()?) };
    (@read list $map:ident) => { $map.next_value()? };

    (@unwrap required $field:ident, $name:expr) => {
        $field.ok_or_else(|| serde::de::Error::missing_field($name))?
    };
    (@unwrap assumed $field:ident, $name:expr) => {
        $field.unwrap_or_else($crate::object::Assumed::assumed)
    };
    (@unwrap optional $field:ident, $name:expr) => { $field.flatten() };
    (@unwrap nullable $field:ident, $name:expr) => { $field.flatten() };
    (@unwrap list $field:ident, $name:expr) => { $field.unwrap_or_default() };
}

/// What a field is where it is missing, although the format requires it.
pub(crate) trait Assumed {
    fn assumed() -> Self;
}

/// Defines a set of words in which an unknown word survives.
macro_rules! vocabulary {
    (
        $(#[$meta:meta])*
        pub enum $name:ident (unknown: $default:ident) {
            $( $(#[$variant_meta:meta])* $variant:ident = $word:literal, )*
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq, Eq)]
        #[non_exhaustive]
        pub enum $name {
            $( $(#[$variant_meta])* $variant, )*
            /// A word that this version does not know, kept as it came.
            Unknown(String),
        }

        impl $name {
            /// Every word this version knows.
            pub const WORDS: &'static [&'static str] = &[$($word),*];

            /// Returns the word as it is written.
            #[must_use]
            pub fn as_str(&self) -> &str {
                match self {
                    $( Self::$variant => $word, )*
                    Self::Unknown(word) => word,
                }
            }

            /// Returns the word to act on: itself, or the format's safe default for an unknown one.
            #[must_use]
            pub fn effective(&self) -> &Self {
                match self {
                    Self::Unknown(_) => &Self::$default,
                    known => known,
                }
            }
        }

        impl $crate::survey::Survey for $name {
            fn survey(
                &self,
                at: &mut $crate::survey::Pointer,
                found: &mut dyn FnMut(&$crate::survey::Pointer, $crate::survey::Surprise<'_>),
            ) {
                if let Self::Unknown(word) = self {
                    found(at, $crate::survey::Surprise::Word(word));
                }
            }
        }

        impl From<&str> for $name {
            fn from(word: &str) -> Self {
                match word {
                    $( $word => Self::$variant, )*
                    other => Self::Unknown(other.to_owned()),
                }
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let $crate::unknown::Key(word) = serde::Deserialize::deserialize(deserializer)?;
                Ok(Self::from(&*word))
            }
        }

        impl schemars::JsonSchema for $name {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!({
                    "type": "string",
                    "x-known-values": Self::WORDS,
                    "x-unknown-default": Self::$default.as_str(),
                })
            }
        }
    };
}

/// Reads and writes a value as the text that its `Display` and `FromStr` define.
macro_rules! text_form {
    ($name:ident, $format:literal) => {
        impl std::fmt::Debug for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                write!(f, "{}({self})", stringify!($name))
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let $crate::unknown::Key(text) = serde::Deserialize::deserialize(deserializer)?;
                text.parse().map_err(serde::de::Error::custom)
            }
        }

        impl schemars::JsonSchema for $name {
            fn inline_schema() -> bool {
                true
            }

            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!({ "type": "string", "format": $format })
            }
        }
    };
}

pub(crate) use {object, text_form, vocabulary};

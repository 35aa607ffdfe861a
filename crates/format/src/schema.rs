//! The JSON Schemas of what we write, generated from the types.

use std::sync::OnceLock;

use jsonschema::Validator;
use schemars::generate::SchemaSettings;
use schemars::transform::{RecursiveTransform, Transform};
use schemars::{JsonSchema, Schema};
use serde_json::Value;

use crate::archive::write::MemoryIndex;
use crate::attachments::Attachments;
use crate::credentials::Credentials;
use crate::delta::DeltaManifest;
use crate::identity::Identity;
use crate::manifest::Manifest;
use crate::principals::Principals;
use crate::purge::PurgeAudit;
use crate::record::Record;

macro_rules! documents {
    ($($(#[$meta:meta])* $document:ident = $name:literal,)*) => {
        /// A document of the format that has a schema.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum SchemaDocument {
            $($(#[$meta])* $document,)*
        }

        impl SchemaDocument {
            /// Every document.
            pub const ALL: [Self; [$($name),*].len()] = [$(Self::$document),*];

            /// Returns the name of its schema file, without the ending.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$document => $name,)*
                }
            }

            /// Returns its published schema: a test compares it with the one that its type
            /// generates.
            const fn published(self) -> &'static str {
                match self {
                    $(Self::$document => {
                        include_str!(concat!("../../../schemas/", $name, ".schema.json"))
                    })*
                }
            }

            /// Generates the schema of its type.
            fn generated(self) -> Schema {
                fn schema<T: JsonSchema>() -> Schema {
                    SchemaSettings::draft2020_12().into_generator().into_root_schema_for::<T>()
                }
                match self {
                    $(Self::$document => schema::<$document>(),)*
                }
            }
        }
    };
}

documents! {
    /// `manifest.json` of an archive.
    Manifest = "manifest",
    /// `manifest.json` of a delta.
    DeltaManifest = "delta-manifest",
    /// One line of a partition.
    Record = "memory-record",
    /// `identity.json`.
    Identity = "identity",
    /// `principals.json`.
    Principals = "principals",
    /// `credentials.json`.
    Credentials = "credentials",
    /// `attachments.json`.
    Attachments = "attachments",
    /// `memory/index.json`.
    MemoryIndex = "memory-index",
    /// One purge in a manifest.
    PurgeAudit = "purge-audit",
}

impl SchemaDocument {
    pub(crate) fn validator(self) -> &'static Validator {
        static VALIDATORS: [OnceLock<Validator>; SchemaDocument::ALL.len()] =
            [const { OnceLock::new() }; SchemaDocument::ALL.len()];
        VALIDATORS[self as usize].get_or_init(|| {
            let schema: Value =
                serde_json::from_str(self.published()).expect("what was published is JSON");
            jsonschema::options()
                .should_validate_formats(true)
                .build(&schema)
                .expect("what was published is a schema")
        })
    }
}

/// Returns the JSON Schema (draft 2020-12) of a document.
#[must_use]
pub fn schema_of(document: SchemaDocument) -> Value {
    let mut schema = document.generated();
    RecursiveTransform(tidy).transform(&mut schema);
    schema.to_value()
}

/// Adjusts a generated schema to our conventions.
fn tidy(schema: &mut Schema) {
    if let Some(format) = schema.remove("format")
        && !is_machine_format(&format)
    {
        schema.insert("format".to_owned(), format);
    }
    // A list that may be left out is a `Vec` too, which the generator treats as required; the
    // required ones are marked.
    let properties = schema.get("properties").and_then(Value::as_object).cloned();
    let Some(properties) = properties else { return };
    if let Some(required) = schema.get_mut("required").and_then(Value::as_array_mut) {
        required.retain(|name| {
            let property = name.as_str().and_then(|name| properties.get(name));
            property.is_none_or(|property| {
                property.get("type") != Some(&"array".into())
                    || property.get(REQUIRED_LIST).is_some()
            })
        });
    }
    if let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) {
        for property in properties.values_mut().filter_map(Value::as_object_mut) {
            property.remove(REQUIRED_LIST);
        }
    }
}

/// Marks a required list.
const REQUIRED_LIST: &str = "x-required";

/// Formats such as `uint64` describe Rust's representation of a number and mean nothing to others.
fn is_machine_format(format: &Value) -> bool {
    format.as_str().is_some_and(|name| {
        name.starts_with("uint") || name.starts_with("int") || matches!(name, "float" | "double")
    })
}

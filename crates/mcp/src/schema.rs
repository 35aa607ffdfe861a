//! Schemas of arguments and results, as plain as clients like them.
//!
//! Some clients and models know only a part of JSON Schema. So there are no references, no
//! `null` beside a type (a field that may be left out is not required, and that is all), no
//! formats of Rust's numbers and no `oneOf` where a list of words does.

use std::sync::Arc;

use rmcp::model::JsonObject;
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::Value;

/// Returns the schema of what is read as `T`.
pub(crate) fn input_schema<T: JsonSchema>() -> Arc<JsonObject> {
    object_schema::<T>(SchemaSettings::draft2020_12())
}

/// Returns the schema of what a `T` is written as.
pub(crate) fn output_schema<T: JsonSchema>() -> Arc<JsonObject> {
    object_schema::<T>(SchemaSettings::draft2020_12().for_serialize())
}

fn object_schema<T: JsonSchema>(settings: SchemaSettings) -> Arc<JsonObject> {
    let settings = settings.with(|setting| {
        setting.inline_subschemas = true;
        setting.meta_schema = None;
    });
    let mut schema = settings.into_generator().into_root_schema_for::<T>().to_value();
    simplify(&mut schema);
    let mut object = match schema {
        Value::Object(object) => object,
        _ => JsonObject::new(),
    };
    // The description of the tool says what the whole is for.
    object.remove("title");
    object.remove("description");
    object.insert("type".to_owned(), "object".into());
    Arc::new(object)
}

fn simplify(schema: &mut Value) {
    match schema {
        Value::Array(items) => items.iter_mut().for_each(simplify),
        Value::Object(object) => {
            object.values_mut().for_each(simplify);
            without_null(object);
            as_words(object);
            if object.get("format").and_then(Value::as_str).is_some_and(is_of_rust) {
                object.remove("format");
            }
            if object.get("default").is_some_and(Value::is_null) {
                object.remove("default");
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Takes the `null` out of what may be left out.
fn without_null(object: &mut JsonObject) {
    if let Some(Value::Array(types)) = object.get_mut("type") {
        types.retain(|kind| kind != "null");
        if let [only] = types.as_slice() {
            let only = only.clone();
            object.insert("type".to_owned(), only);
        }
    }
    if let Some(Value::Array(choices)) = object.get_mut("anyOf") {
        choices.retain(|choice| choice.get("type").is_none_or(|value| value != "null"));
        if let [Value::Object(only)] = choices.as_slice() {
            let only = only.clone();
            object.remove("anyOf");
            for (name, value) in only {
                object.entry(name).or_insert(value);
            }
        }
    }
}

/// Turns a choice of constants into a list of them.
fn as_words(object: &mut JsonObject) {
    let Some(Value::Array(choices)) = object.get("oneOf") else { return };
    let words: Option<Vec<Value>> =
        choices.iter().map(|choice| choice.get("const").cloned()).collect();
    if let Some(words) = words {
        object.remove("oneOf");
        object.insert("type".to_owned(), "string".into());
        object.insert("enum".to_owned(), words.into());
    }
}

fn is_of_rust(format: &str) -> bool {
    matches!(format, "uint32" | "uint64" | "int32" | "int64" | "uint" | "double" | "float")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::service::{ContextArguments, SearchArguments, SearchResult};

    #[test]
    fn what_may_be_left_out_has_one_type() {
        let schema = input_schema::<SearchArguments>();
        let many = &schema["properties"]["maxResults"];
        assert_eq!(many["type"], "integer");
        assert_eq!((&many["minimum"], &many["maximum"]), (&1.into(), &50.into()));
        assert_eq!(many.get("format"), None);
        assert_eq!(many.get("default"), None);
        assert_eq!(schema["required"], serde_json::json!(["query"]));
        assert_eq!(schema["additionalProperties"], false);
    }

    #[test]
    fn a_choice_is_a_list_of_words() {
        let schema = input_schema::<ContextArguments>();
        let session = &schema["properties"]["session"];
        assert_eq!(session["type"], "string");
        assert_eq!(session["enum"], serde_json::json!(["main", "group", "subagent", "cron"]));
        assert!(session["description"].as_str().unwrap().starts_with("The kind of session"));
    }

    #[test]
    fn what_is_not_always_written_is_not_required() {
        let required = output_schema::<SearchResult>()["required"].clone();
        let required = required.as_array().unwrap();
        assert!(required.contains(&"path".into()));
        assert!(!required.contains(&"headings".into()) && !required.contains(&"date".into()));
    }

    #[test]
    fn nothing_refers_to_another_place() {
        let schema = serde_json::to_string(&output_schema::<SearchResult>()).unwrap();
        assert!(!schema.contains("$ref") && !schema.contains("$defs") && !schema.contains("null"));
    }
}

//! Values of a row as JSON and back, each with its type.
//!
//! | value | JSON |
//! |---|---|
//! | null | `null` |
//! | integer | a number without a point |
//! | real | a number with a point or an exponent; `{"real": "inf"}` and `"-inf"` |
//! | text | a string |
//! | text that is not UTF-8 | `{"text": base64}` |
//! | blob | `{"blob": base64}` |

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde::ser::{Serialize, Serializer};
use serde_json::Value as Json;

use crate::kit::Value;

/// A value as it is written; one that was too long to read is null.
pub(super) struct AsJson<'a>(pub(super) &'a Value);

impl Serialize for AsJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let typed = |serializer: S, kind: &str, text: &str| serializer.collect_map([(kind, text)]);
        match self.0 {
            Value::Null | Value::TooLong(_) => serializer.serialize_unit(),
            Value::Integer(number) => serializer.serialize_i64(*number),
            Value::Real(number) if number.is_finite() => serializer.serialize_f64(*number),
            Value::Real(number) if *number > 0.0 => typed(serializer, "real", "inf"),
            Value::Real(_) => typed(serializer, "real", "-inf"),
            Value::Text(text) => serializer.serialize_str(text),
            Value::OddText(bytes) => typed(serializer, "text", &BASE64.encode(bytes)),
            Value::Blob(bytes) => typed(serializer, "blob", &BASE64.encode(bytes)),
        }
    }
}

/// Reads a value; `None` when the JSON is not a value.
pub(super) fn from_json(json: &Json) -> Option<Value> {
    Some(match json {
        Json::Null => Value::Null,
        Json::Bool(_) | Json::Array(_) => return None,
        Json::Number(number) => match number.as_i64() {
            Some(number) => Value::Integer(number),
            None => Value::Real(number.as_f64()?),
        },
        Json::String(text) => Value::Text(text.clone()),
        Json::Object(fields) => {
            let (name, value) = fields.iter().next().filter(|_| fields.len() == 1)?;
            let text = value.as_str()?;
            match (name.as_str(), text) {
                ("real", "inf") => Value::Real(f64::INFINITY),
                ("real", "-inf") => Value::Real(f64::NEG_INFINITY),
                ("text", text) => Value::OddText(BASE64.decode(text).ok()?),
                ("blob", text) => Value::Blob(BASE64.decode(text).ok()?),
                _ => return None,
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_comes_back_with_its_type() {
        for value in [
            Value::Null,
            Value::Integer(1),
            Value::Integer(i64::MIN),
            Value::Real(1.0),
            Value::Real(0.1 + 0.2),
            Value::Real(-0.0),
            Value::Real(1e300),
            Value::Real(f64::INFINITY),
            Value::Real(f64::NEG_INFINITY),
            Value::Text(String::new()),
            Value::Text("{\"blob\": \"\"}\u{0}\u{7f}".to_owned()),
            Value::OddText(vec![97, 255]),
            Value::Blob(vec![0, 255]),
        ] {
            let text = serde_json::to_string(&AsJson(&value)).unwrap();
            let back = from_json(&serde_json::from_str(&text).unwrap()).unwrap();
            assert_eq!(format!("{back:?}"), format!("{value:?}"), "{text}");
        }
    }
}

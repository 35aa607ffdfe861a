//! Checks the arguments that a model gave a tool, and suggests corrections.
//!
//! The check uses the tool's own schema, so that the announced arguments and the accepted ones
//! cannot differ. All mistakes are reported at once, because every answer costs the model a turn.

use rmcp::model::JsonObject;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::near::nearest;
use crate::service::{Result, ServiceRefusal};

/// The longest text to be remembered, in bytes: the limit for one entry of a memory. The refusal of
/// a longer text names its length, so much longer messages are still read.
const MAX_TEXT_BYTES: usize = 65_536;

/// The longest of all other texts, in characters.
const MAX_WORDS_CHARS: usize = 10_000;

/// The most items of a list.
const MAX_ITEMS: usize = 100;

/// The most mistakes that are reported; a model that makes more has misread the tool.
const MAX_SAID: usize = 5;

/// Arguments that agents give because they know the tools of another program. They have no effect
/// here and are not announced.
const WITHOUT_EFFECT: [&str; 1] = ["corpus"];

/// The code of a refusal because of arguments.
pub(crate) const BAD_ARGUMENTS: &str = "bad_arguments";

/// Reads arguments of a tool; the example is shown to who got them wrong.
pub(crate) fn read<T: DeserializeOwned>(
    arguments: JsonObject,
    schema: &JsonObject,
    example: &str,
) -> Result<T> {
    let mut given = arguments;
    // Many models write null, or an empty text, for omitted arguments.
    given.retain(|name, value| !value.is_null() && (is_required(name, schema) || value != ""));
    given.retain(|name, _| !WITHOUT_EFFECT.contains(&name.as_str()));
    let problems = problems(&mut given, schema);
    if !problems.is_empty() {
        let said = problems[..problems.len().min(MAX_SAID)].join("; ");
        let more = problems.len().saturating_sub(MAX_SAID);
        let said = if more == 0 { said } else { format!("{said}; and {more} more") };
        return Err(bad(said, example));
    }
    serde_json::from_value(Value::Object(given)).map_err(|error| bad(error.to_string(), example))
}

/// Returns a refusal because of arguments.
pub(crate) fn bad(message: String, example: &str) -> ServiceRefusal {
    ServiceRefusal::new(BAD_ARGUMENTS, message)
        .with_hint(format!("call it with arguments such as {example}"))
}

fn problems(given: &mut JsonObject, schema: &JsonObject) -> Vec<String> {
    let none = JsonObject::new();
    let known = schema.get("properties").and_then(Value::as_object).unwrap_or(&none);
    let mut problems = Vec::new();
    for name in required(schema) {
        match given.get(name) {
            None => problems.push(format!("`{name}` is missing")),
            Some(Value::String(text)) if text.trim().is_empty() => {
                problems.push(format!("`{name}` is empty"));
            }
            Some(_) => {}
        }
    }
    for (name, value) in given.iter_mut() {
        match known.get(name) {
            Some(schema) => problems.extend(problem(name, value, schema)),
            None => problems.push(unknown(name, known)),
        }
    }
    problems
}

fn required(schema: &JsonObject) -> impl Iterator<Item = &str> {
    let names = schema.get("required").and_then(Value::as_array);
    names.into_iter().flatten().filter_map(Value::as_str)
}

fn is_required(name: &str, schema: &JsonObject) -> bool {
    required(schema).any(|required| required == name)
}

fn unknown(name: &str, known: &JsonObject) -> String {
    let shown = shortened(name);
    if let Some(near) = nearest(name, known.keys().map(String::as_str)) {
        return format!("there is no `{shown}`; did you mean `{near}`?");
    }
    let names: Vec<_> = known.keys().map(|key| format!("`{key}`")).collect();
    match names.is_empty() {
        true => format!("there is no `{shown}`: it takes no arguments"),
        false => format!("there is no `{shown}`, only {}", names.join(", ")),
    }
}

fn problem(name: &str, value: &mut Value, schema: &Value) -> Option<String> {
    let kind = schema.get("type").and_then(Value::as_str).unwrap_or_default();
    whole_number(kind, value);
    let fits = match kind {
        "string" => value.is_string(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        "array" => value.is_array(),
        _ => true,
    };
    if !fits {
        return Some(format!("`{name}` must be {}, not {}", wanted(schema), shown(value)));
    }
    match value {
        Value::String(text) => text_problem(name, text, schema),
        Value::Number(number) => {
            let number = number.as_f64()?;
            let below =
                schema.get("minimum").and_then(Value::as_f64).is_some_and(|value| number < value);
            let above =
                schema.get("maximum").and_then(Value::as_f64).is_some_and(|value| number > value);
            (below || above).then(|| format!("`{name}` must be {}, not {number}", wanted(schema)))
        }
        Value::Array(items) => {
            if items.len() > MAX_ITEMS {
                let count = items.len();
                return Some(format!("`{name}` has {count} items; at most {MAX_ITEMS} are taken"));
            }
            let schema = schema.get("items").unwrap_or(&Value::Null);
            items
                .iter_mut()
                .enumerate()
                .find_map(|(at, item)| problem(&format!("{name}[{at}]"), item, schema))
        }
        Value::Null | Value::Bool(_) | Value::Object(_) => None,
    }
}

/// Takes 5.0 for 5: JSON does not tell them apart, and some clients write all numbers so.
fn whole_number(kind: &str, value: &mut Value) {
    if kind == "integer"
        && let Some(number) = value.as_f64().filter(|f64| f64.fract() == 0.0)
        && value.is_f64()
        && (0.0..=f64::from(u32::MAX)).contains(&number)
    {
        *value = Value::from(number as u32);
    }
}

fn text_problem(name: &str, text: &str, schema: &Value) -> Option<String> {
    if text.contains('\0') {
        return Some(format!("`{name}` holds a NUL character"));
    }
    let is_text = matches!(name, "text" | "content");
    if is_text && text.len() > MAX_TEXT_BYTES {
        let bytes = text.len();
        return Some(format!(
            "`{name}` has {bytes} bytes and at most {MAX_TEXT_BYTES} are taken: store a summary, \
             or several entries"
        ));
    }
    let chars = if is_text { 0 } else { text.chars().take(MAX_WORDS_CHARS + 1).count() };
    if chars > MAX_WORDS_CHARS {
        return Some(format!(
            "`{name}` has more than {MAX_WORDS_CHARS} characters: a sentence or some words are \
             enough"
        ));
    }
    let words = schema.get("enum").and_then(Value::as_array)?;
    let is_there = words.iter().any(|word| word == text);
    (!is_there).then(|| format!("`{name}` must be {}, not {}", wanted(schema), quoted(text)))
}

/// Describes the values that a schema accepts.
fn wanted(schema: &Value) -> String {
    let words = schema.get("enum").and_then(Value::as_array);
    if let Some(words) = words {
        let words: Vec<_> = words.iter().filter_map(Value::as_str).collect();
        return format!("one of {}", words.join(", "));
    }
    let kind = match schema.get("type").and_then(Value::as_str) {
        Some("string") => "a text",
        Some("integer") => "a whole number",
        Some("number") => "a number",
        Some("boolean") => "true or false",
        Some("array") => "a list of texts",
        _ => "something else",
    };
    match (schema.get("minimum"), schema.get("maximum")) {
        (Some(least), Some(most)) => format!("{kind} from {least} to {most}"),
        (Some(least), None) => format!("{kind} of {least} or more"),
        _ => kind.to_owned(),
    }
}

/// Describes the given value, without repeating much of it.
fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => format!("the text {}", quoted(text)),
        Value::Array(_) => "a list".to_owned(),
        Value::Object(_) => "an object".to_owned(),
        Value::Null | Value::Bool(_) | Value::Number(_) => value.to_string(),
    }
}

fn quoted(text: &str) -> String {
    format!("{:?}", shortened(text))
}

/// Cuts long text, so that a refusal stays readable.
pub(crate) fn shortened(text: &str) -> String {
    const SHOWN: usize = 40;
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::schema::input_schema;
    use crate::service::{RememberArguments, SearchArguments};

    const EXAMPLE: &str = r#"{"query": "tea"}"#;

    fn search(given: Value) -> Result<SearchArguments, ServiceRefusal> {
        let Value::Object(given) = given else { panic!("not an object: {given}") };
        read(given, &input_schema::<SearchArguments>(), EXAMPLE)
    }

    #[test]
    fn everything_wrong_is_said_at_once_with_an_example() {
        let refused =
            search(json!({"qeury": "tea", "maxResults": 0, "minScore": "high"})).unwrap_err();
        assert_eq!(
            refused.message,
            "`query` is missing; `maxResults` must be a whole number from 1 to 50, not 0; \
             `minScore` must be a number from 0.0 to 1.0, not the text \"high\"; there is no \
             `qeury`; did you mean `query`?"
        );
        assert_eq!(refused.code, BAD_ARGUMENTS);
        assert!(refused.hint.unwrap().ends_with(EXAMPLE));
    }

    #[test]
    fn nothing_is_left_out_and_five_point_zero_is_five() {
        let given = json!({"query": "tea", "maxResults": 5.0, "since": null, "until": ""});
        let question = search(given).unwrap();
        assert_eq!(question.max_results, Some(5));
        assert_eq!((question.since, question.until), (None, None));
        let refused = search(json!({"query": "tea", "maxResults": 5.5})).unwrap_err();
        assert_eq!(refused.message, "`maxResults` must be a whole number from 1 to 50, not 5.5");
    }

    #[test]
    fn long_and_odd_texts_are_refused() {
        for (given, part) in [
            (json!({"query": "a\0b"}), "holds a NUL character"),
            (json!({"query": "  "}), "`query` is empty"),
            (json!({"query": "x".repeat(10_001)}), "more than 10000 characters"),
            (json!({"query": ["tea"]}), "must be a text, not a list"),
            (json!({"query": {"a": 1}}), "must be a text, not an object"),
            (json!({"query": "tea", "x".repeat(5000): 1}), "there is no `xxxxxx"),
        ] {
            let refused = search(given).unwrap_err();
            assert!(refused.message.contains(part), "{} lacks {part}", refused.message);
            assert!(refused.message.len() < 300);
        }
        assert!(search(json!({"query": "x".repeat(10_000)})).is_ok());
    }

    #[test]
    fn a_text_is_taken_up_to_what_one_entry_may_hold() {
        let schema = input_schema::<RememberArguments>();
        let of = |bytes: usize| {
            let mut given = JsonObject::new();
            given.insert("text".to_owned(), "x".repeat(bytes).into());
            read::<RememberArguments>(given, &schema, "{}")
        };
        assert!(of(65_536).is_ok());
        for bytes in [65_537, 1_000_000] {
            let message = of(bytes).unwrap_err().message;
            assert!(message.contains(&format!("{bytes} bytes and at most 65536")), "{message}");
        }
    }
}

//! The result of a call: a text for the model, and the same as data for its client.
//!
//! A refusal is an answer too, one that the model can act on. It is in the text and, as data, in
//! `_meta`: `structuredContent` must match the tool's output schema even then, because some clients
//! check it before they check whether the call failed.

use anemone_memory::revealed;
use rmcp::model::{CallToolResult, ContentBlock, MetaObject};
use serde::Serialize;
use serde_json::{Value, json};

use crate::service::{RefusalKind, Result, ServiceRefusal};

/// The key of a refusal in `_meta`.
const REFUSAL_KEY: &str = "anemone/error";

/// The answer to a call.
#[derive(Debug)]
pub(crate) struct Answer {
    text: String,
    data: Option<Value>,
    is_error: bool,
}

impl Answer {
    /// Returns an answer in words only.
    pub(crate) fn words(text: impl Into<String>) -> Self {
        Self { text: text.into(), data: None, is_error: false }
    }

    /// Returns an answer that clients can read as well.
    pub(crate) fn with_data(text: impl Into<String>, data: &impl Serialize) -> Result<Self> {
        let mut data = serde_json::to_value(data).map_err(|error| broken(&error.to_string()))?;
        reveal_all(&mut data);
        Ok(Self { text: text.into(), data: Some(data), is_error: false })
    }

    /// Marks the answer as a failure.
    pub(crate) fn failed(self) -> Self {
        Self { is_error: true, ..self }
    }

    /// Returns the answer as the protocol has it.
    pub(crate) fn into_result(self) -> CallToolResult {
        let content = vec![ContentBlock::text(revealed(&self.text))];
        let mut result = match self.is_error {
            true => CallToolResult::error(content),
            false => CallToolResult::success(content),
        };
        result.structured_content = self.data;
        result
    }
}

/// Returns a refusal as the protocol has it.
pub(crate) fn refused(refusal: &ServiceRefusal) -> CallToolResult {
    let mut meta = MetaObject::new();
    meta.insert(REFUSAL_KEY.to_owned(), refusal_data(refusal));
    CallToolResult::error(vec![ContentBlock::text(refusal_text(refusal))]).with_meta(Some(meta))
}

/// Returns a refusal as lines.
pub(crate) fn refusal_text(refusal: &ServiceRefusal) -> String {
    let mut text = format!("error: {} ({})", refusal.message, refusal.code);
    for cause in &refusal.causes {
        text.push_str(&format!("\ncause: {cause}"));
    }
    if let Some(hint) = &refusal.hint {
        text.push_str(&format!("\nhint: {hint}"));
    }
    revealed(&text)
}

/// Returns a refusal as data.
pub(crate) fn refusal_data(refusal: &ServiceRefusal) -> Value {
    let mut data = json!({
        "code": refusal.code,
        "message": refusal.message,
        "causes": refusal.causes,
        "hint": refusal.hint,
    });
    reveal_all(&mut data);
    data
}

/// Shows what any text hides. Quoted text is without hidden characters before it comes here; this
/// is for names, notes and whatever else may hold some.
fn reveal_all(data: &mut Value) {
    match data {
        Value::String(text) => *text = revealed(text),
        Value::Array(items) => items.iter_mut().for_each(reveal_all),
        Value::Object(fields) => fields.values_mut().for_each(reveal_all),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Returns the refusal of a memory that broke.
pub(crate) fn broken(cause: &str) -> ServiceRefusal {
    ServiceRefusal {
        kind: RefusalKind::Other,
        code: "internal_error".to_owned(),
        message: "the memory broke at this call".to_owned(),
        causes: vec![cause.to_owned()],
        hint: Some(
            "try again; if it happens again, tell the user to run `anemone status`".to_owned(),
        ),
    }
}

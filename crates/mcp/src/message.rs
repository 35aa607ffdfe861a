//! Incoming messages, before they are parsed.
//!
//! Once parsed, a message of small values takes some 200 times the memory of its text. So its
//! values are counted while it is still text, and a message with more values than any request needs
//! is not parsed.

use std::collections::HashSet;
use std::sync::{Arc, Mutex};

use rmcp::model::{
    ClientJsonRpcMessage, ClientNotification, ErrorData, JsonRpcMessage, RequestId,
    ServerJsonRpcMessage,
};
use serde::de::{IgnoredAny, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::{Value, json};

use crate::lock::locked;

/// The most values of a message, keys among them. The longest list that anything takes has 1,000.
const MAX_VALUES: usize = 10_000;

/// How deeply values may be nested; the parser gives up at 128.
const MAX_DEPTH: usize = 120;

/// The most requests of one client at the same time.
const MAX_UNANSWERED: usize = 1_000;

/// Why something is no message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Problem {
    /// It is not JSON.
    NotJson,
    /// It is JSON, but no request, notification or answer.
    NotMessage,
    /// It holds too many values, or values too deep in each other.
    TooComplex,
    /// It is longer than any message may be.
    TooLong,
}

impl Problem {
    fn code(self) -> i32 {
        match self {
            Self::NotJson => -32700,
            Self::NotMessage | Self::TooComplex | Self::TooLong => -32600,
        }
    }

    pub(crate) fn message(self) -> &'static str {
        match self {
            Self::NotJson => "this is not JSON",
            Self::NotMessage => "this is not a JSON-RPC request",
            Self::TooComplex => {
                "a message may hold 10,000 values at most, at most 120 deep in each other"
            }
            Self::TooLong => "the message is too long",
        }
    }

    /// Returns the answer to such a thing. Without an id it says so with null, as JSON-RPC asks
    /// for; some clients take no error without one.
    pub(crate) fn answer(self, id: Option<&RequestId>) -> Value {
        json!({
            "jsonrpc": "2.0",
            "id": id,
            "error": { "code": self.code(), "message": self.message() },
        })
    }
}

/// Input that is not a valid message, with its id if it has one, so that the client does not wait
/// for an answer in vain.
#[derive(Debug)]
pub(crate) struct Rejected {
    pub(crate) problem: Problem,
    pub(crate) id: Option<RequestId>,
    /// Whether it asks for no answer: it has a method and no id.
    pub(crate) is_notification: bool,
}

/// Reads a message.
pub(crate) fn read(bytes: &[u8]) -> Result<ClientJsonRpcMessage, Rejected> {
    // Editors put a byte order mark before a text.
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let rejected = |problem| {
        let Envelope { id, method } = Envelope::of(bytes);
        let is_notification = id.is_none() && method.is_some();
        Rejected { problem, id: id.map(|Id(id)| id), is_notification }
    };
    if serde_json::from_slice::<IgnoredAny>(bytes).is_err() || std::str::from_utf8(bytes).is_err() {
        return Err(Rejected { problem: Problem::NotJson, id: None, is_notification: false });
    }
    if is_too_complex(bytes) {
        return Err(rejected(Problem::TooComplex));
    }
    serde_json::from_slice(bytes).map_err(|_| rejected(Problem::NotMessage))
}

/// Counts values and depth of a text that is JSON.
fn is_too_complex(json: &[u8]) -> bool {
    let (mut values, mut depth) = (1, 0_usize);
    let mut bytes = json.iter();
    while let Some(byte) = bytes.next() {
        match byte {
            b'"' => {
                while let Some(byte) = bytes.next().filter(|byte| **byte != b'"') {
                    if *byte == b'\\' {
                        bytes.next();
                    }
                }
            }
            b'[' | b'{' => (values, depth) = (values + 1, depth + 1),
            b']' | b'}' => depth = depth.saturating_sub(1),
            b',' | b':' => values += 1,
            _ => {}
        }
        if values > MAX_VALUES || depth > MAX_DEPTH {
            return true;
        }
    }
    false
}

/// The parts of a message that are needed for addressing an answer. Nothing else of it is kept.
#[derive(Default, Deserialize)]
struct Envelope {
    id: Option<Id>,
    method: Option<IgnoredAny>,
}

impl Envelope {
    fn of(json: &[u8]) -> Self {
        let is_object = json.trim_ascii_start().starts_with(b"{");
        is_object.then(|| serde_json::from_slice(json).ok()).flatten().unwrap_or_default()
    }
}

/// An id, which is a number or a text; other values are not stored.
struct Id(RequestId);

impl<'de> Deserialize<'de> for Id {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(IdVisitor)
    }
}

struct IdVisitor;

impl Visitor<'_> for IdVisitor {
    type Value = Id;

    fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("a number or a text")
    }

    fn visit_i64<E: serde::de::Error>(self, id: i64) -> Result<Id, E> {
        Ok(Id(RequestId::Number(id)))
    }

    fn visit_u64<E: serde::de::Error>(self, id: u64) -> Result<Id, E> {
        i64::try_from(id).map(|id| Id(RequestId::Number(id))).map_err(E::custom)
    }

    fn visit_str<E: serde::de::Error>(self, id: &str) -> Result<Id, E> {
        Ok(Id(RequestId::String(id.into())))
    }
}

/// The requests of one client that are not answered yet. An id that is used twice at the same time
/// has one answer for two requests, and one of them would wait for ever. A client that sends
/// requests without reading answers would fill the memory.
#[derive(Clone, Debug, Default)]
pub(crate) struct UnansweredRequests(Arc<Mutex<HashSet<RequestId>>>);

impl UnansweredRequests {
    /// Records the request in a message, or its cancellation. The error is the answer to a request
    /// that is not allowed now.
    pub(crate) fn note(
        &self,
        message: &ClientJsonRpcMessage,
    ) -> Result<(), Box<ServerJsonRpcMessage>> {
        match message {
            JsonRpcMessage::Request(request) => {
                let mut ids = locked(&self.0);
                let problem = match (ids.contains(&request.id), ids.len() >= MAX_UNANSWERED) {
                    (true, _) => "a request with this id is not answered yet",
                    (false, true) => "too many requests are not answered yet",
                    (false, false) => {
                        ids.insert(request.id.clone());
                        return Ok(());
                    }
                };
                let problem = ErrorData::invalid_request(problem, None);
                return Err(Box::new(JsonRpcMessage::error(problem, Some(request.id.clone()))));
            }
            JsonRpcMessage::Notification(told) => {
                if let ClientNotification::CancelledNotification(cancelled) = &told.notification
                    && let Some(id) = &cancelled.params.request_id
                {
                    locked(&self.0).remove(id);
                }
            }
            JsonRpcMessage::Response(_) | JsonRpcMessage::Error(_) => {}
        }
        Ok(())
    }

    /// Notes that a message answers a request.
    pub(crate) fn answered(&self, message: &ServerJsonRpcMessage) {
        let id = match message {
            JsonRpcMessage::Response(response) => Some(&response.id),
            JsonRpcMessage::Error(error) => error.id.as_ref(),
            JsonRpcMessage::Request(_) | JsonRpcMessage::Notification(_) => None,
        };
        if let Some(id) = id {
            self.forget(id);
        }
    }

    /// Records that the client no longer waits for an answer.
    pub(crate) fn forget(&self, id: &RequestId) {
        locked(&self.0).remove(id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(json: &str) -> (Problem, Value) {
        let rejected = read(json.as_bytes()).unwrap_err();
        let answer = rejected.problem.answer(rejected.id.as_ref());
        (rejected.problem, answer["id"].clone())
    }

    #[test]
    fn what_is_no_message_is_told_apart_and_keeps_its_id() {
        for (json, expected, id) in [
            ("", Problem::NotJson, json!(null)),
            ("{", Problem::NotJson, json!(null)),
            ("hello", Problem::NotJson, json!(null)),
            ("7", Problem::NotMessage, json!(null)),
            ("[7]", Problem::NotMessage, json!(null)),
            ("{}", Problem::NotMessage, json!(null)),
            (r#"{"jsonrpc":"2.0","id":7}"#, Problem::NotMessage, json!(7)),
            (r#"{"jsonrpc":"1.0","id":"a","method":"ping"}"#, Problem::NotMessage, json!("a")),
            (r#"{"jsonrpc":"2.0","id":[1],"method":"ping"}"#, Problem::NotMessage, json!(null)),
        ] {
            assert_eq!(problem(json), (expected, id), "{json}");
        }
        assert!(read(b"{\"a\":\"\xff\"}").is_err_and(|read| read.problem == Problem::NotJson));
        assert!(read(b"\xef\xbb\xbf{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}").is_ok());
        assert!(read(br#"{"method":"textDocument/didOpen"}"#).unwrap_err().is_notification);
    }

    #[test]
    fn many_values_and_deep_ones_are_refused_and_long_texts_are_not() {
        let call = |argument: &str| {
            format!(r#"{{"jsonrpc":"2.0","id":7,"method":"x","params":{{"a":{argument}}}}}"#)
        };
        let many = |one: &str| call(&format!("[{}1]", format!("{one},").repeat(10_000)));
        let deep = |depth: usize| call(&format!("{}{}", "[".repeat(depth), "]".repeat(depth)));
        for json in [many("1"), many("[]"), many(r#""""#), many("{}"), deep(119), deep(100_000)] {
            assert_eq!(problem(&json), (Problem::TooComplex, json!(7)));
        }
        let text = call(&format!("{:?}", r#"[,:{"\"#.repeat(100_000)));
        for json in [deep(118), call(&format!("[{}1]", "1,".repeat(9_000))), text] {
            assert!(read(json.as_bytes()).is_ok());
        }
    }
}

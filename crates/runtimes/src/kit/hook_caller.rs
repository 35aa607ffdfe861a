//! Programs whose hooks call Anemone in a format of their own.

use std::path::Path;

use anemone_memory::ContextRules;
use serde_json::Value;

/// A program that names the moment when it calls a hook, and reads the answer in its own form. It
/// has instructions of its own, runs in any folder, and only its owner speaks in its sessions.
#[derive(Clone, Copy, Debug)]
pub struct HookCaller {
    /// The channel of its conversations.
    pub channel: &'static str,
    /// The rules for which memory it is shown.
    pub rules: &'static ContextRules,
    /// Its name for the moment when a session begins.
    pub session_start: &'static str,
    /// The most characters of an answer that it shows; it moves longer ones to a file.
    pub most_chars: usize,
    /// Its name for the moment before a conversation is compacted. It calls then and only then, so
    /// that no threshold counts.
    pub pre_compact: &'static str,
    /// Says whether a subagent calls, by the moment and the transcript.
    pub is_subagent: fn(moment: &str, transcript: Option<&Path>) -> bool,
    /// Its name for the moment before a prompt is sent to the model.
    pub prompt: &'static str,
    /// Wraps a text that is put before the model at a moment.
    pub context: fn(moment: &str, text: &str) -> Value,
}

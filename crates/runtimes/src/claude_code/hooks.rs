//! How Claude Code calls hooks.

use serde_json::json;

use super::transcript::CHANNEL;
use crate::kit::HookCaller;
use crate::openclaw::SEPTEMBER;

/// Claude Code as a caller of hooks.
pub(crate) const HOOK_CALLER: HookCaller = HookCaller {
    channel: CHANNEL,
    rules: &SEPTEMBER,
    session_start: "SessionStart",
    prompt: "UserPromptSubmit",
    context: |moment, text| {
        json!({
            "hookSpecificOutput": {
                "hookEventName": moment,
                "additionalContext": text,
            },
        })
    },
};

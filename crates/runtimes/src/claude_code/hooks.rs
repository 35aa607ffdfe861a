//! How Claude Code calls hooks.

use serde_json::json;

use crate::conversation::CLAUDE_CODE;
use crate::hook_caller::HookCaller;

/// Claude Code as a caller of hooks.
pub(crate) const HOOK_CALLER: HookCaller = HookCaller {
    channel: CLAUDE_CODE,
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

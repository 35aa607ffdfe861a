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
    most_chars: 9_500,
    pre_compact: "PreCompact",
    is_subagent: |moment, transcript| {
        // A subagent's transcript is `<session>/subagents/agent-<id>.jsonl`, earlier
        // `agent-<id>.jsonl` beside that of its session.
        let name = transcript.and_then(|path| path.file_name()?.to_str()).unwrap_or_default();
        let id = name.strip_prefix("agent-").and_then(|rest| rest.strip_suffix(".jsonl"));
        moment == "SubagentStop"
            || id.is_some_and(|id| !id.is_empty())
            || transcript
                .is_some_and(|path| path.parent().is_some_and(|at| at.ends_with("subagents")))
    },
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

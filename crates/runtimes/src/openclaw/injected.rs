//! What OpenClaw puts into messages, or sends in the place of a user.

use crate::kit::conversation::injected::InjectedText;

pub(super) const INJECTED: InjectedText = InjectedText {
    blocks: &[("BEGIN_QUOTED_NOTES", "END_QUOTED_NOTES"), ("[Untrusted daily memory:", "]")],
    metadata: &[
        "Conversation info (untrusted metadata):",
        "Sender (untrusted metadata):",
        "Replied message (untrusted",
        "Chat history since last reply (untrusted",
    ],
    messages: &[
        "[cron:",
        "Pre-compaction memory flush",
        "Read HEARTBEAT.md",
        "A new session was started via",
        "System: [",
    ],
    nothings: &["NO_REPLY", "HEARTBEAT_OK", "[silent]"],
    ..InjectedText::NONE
};

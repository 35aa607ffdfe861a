//! The tools of ZeroClaw.

use super::RUNTIME;
use crate::kit::{NativeTools, ToolForm, ToolWords};

/// The tools.
pub(crate) const NATIVE_TOOLS: NativeTools = NativeTools {
    name: RUNTIME,
    about: "memory_recall, memory_store, memory_forget, as ZeroClaw has them",
    form: ToolForm::Keyed,
    recall: ToolWords {
        name: "memory_recall",
        title: "Recall memories",
        description: "Search the long-term memory for facts, preferences and earlier decisions, by \
                      words, by time, or both. Results carry a score.",
        example: r#"{"query": "tea", "limit": 5}"#,
    },
    store: ToolWords {
        name: "memory_store",
        title: "Store a memory",
        description: "Store a fact, preference or note in the long-term memory under a key; a key \
                      that is there is replaced. Category core holds for good, daily for the day, \
                      conversation for this chat. No secrets.",
        example: r#"{"key": "ana_tea", "content": "Ana prefers green tea.", "category": "core"}"#,
    },
    forget: ToolWords {
        name: "memory_forget",
        title: "Forget a memory",
        description: "Delete the memory with this key, when it is wrong or the user asks for it.",
        example: r#"{"key": "ana_tea"}"#,
    },
    advice: "a key of its own for each, and the old key for what replaces an older memory; \
             category: \"core\" only for what holds for long, else \"daily\"",
};

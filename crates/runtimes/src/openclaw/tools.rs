//! The tools of OpenClaw's plugin with vectors.

use super::RUNTIME;
use crate::kit::{NativeTools, ToolForm, ToolWords};

/// The tools.
pub(crate) const NATIVE_TOOLS: NativeTools = NativeTools {
    name: RUNTIME,
    about: "memory_recall, memory_store, memory_forget, as OpenClaw's memory-lancedb has them",
    form: ToolForm::Texts,
    recall: ToolWords {
        name: "memory_recall",
        title: "Recall memories",
        description: "Search the long-term memory. Use it when you need what is known of the user's \
                      preferences, earlier decisions, or things discussed before.",
        example: r#"{"query": "which database did we choose", "limit": 5}"#,
    },
    store: ToolWords {
        name: "memory_store",
        title: "Store a memory",
        description: "Keep what matters in the long-term memory: preferences, facts, decisions. No \
                      secrets. What is there already is not stored twice.",
        example: r#"{"text": "Ana prefers green tea.", "category": "preference"}"#,
    },
    forget: ToolWords {
        name: "memory_forget",
        title: "Forget a memory",
        description: "Delete a memory by its id. With a query, delete the one that surely fits, or \
                      list candidates to choose from.",
        example: r#"{"memoryId": "MEMORY.md#L8-L12"}"#,
    },
    advice: "category says what it is: preference, decision, entity, fact or other; importance \
             from 0.8 on only for what holds for long",
};

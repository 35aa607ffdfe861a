//! The memory of an agent: remembering, recalling, forgetting and tidying.
//!
//! Every write takes the same path: the [`MarkdownStore`] is locked, the current content is read, a
//! [`Change`] is planned as a value and applied with a pre-image in the journal. Nothing here
//! prints, reads the clock, makes ids or knows the home folder; callers pass all of these in.

#![warn(missing_docs)]

mod acknowledged;
mod active_context;
mod addition;
mod alike;
mod appending;
mod audit;
mod capture;
mod change;
mod chat;
mod cited;
mod context;
mod duplicates;
mod entries;
mod entry;
mod erasure;
mod finder;
mod flush;
mod forget;
mod forgetting;
mod frame;
mod hidden;
mod hook_log;
mod journal;
mod layout;
mod ledger;
mod list;
mod markdown_memory;
mod memory;
mod noteworthy;
mod page;
mod patch;
mod phrase;
mod preview;
mod reading;
mod recall_counts;
mod recall_view;
mod recovery;
mod relevance;
mod remember;
mod replacing;
mod rest;
mod row_memory;
mod row_store;
mod rows;
mod sameness;
mod scan;
mod session_note;
mod session_state;
mod slug;
mod stamps;
mod store;
mod successors;
mod summary;
mod superseded;
mod suspicion;
mod tidy;
mod undo;

pub use acknowledged::RestoredText;
pub use active_context::{
    ACTIVE_CONTEXT, ACTIVE_CONTEXT_PROMPT, ActiveContext, ActiveContextError, ActiveSection,
};
pub use addition::Addition;
pub use alike::Repeats;
pub use audit::{
    AgeCounts, Audit, AuditSettings, CutPlace, KindCounts, OversizedFile, SecretFinding,
    StaleEntry, StaleReason, SuspiciousFinding, audit,
};
pub use capture::{CaptureKind, CaptureSettings, CaptureSkips, CapturedText, captures, kind_of};
pub use change::{Applied, ApplyError, Change, Edit};
pub use chat::ChatSettings;
pub use cited::citation_of;
pub use context::{
    Budget, Citations, ComposeRequest, ComposedContext, ContextLimits, ContextRules, Cutting,
    DailyNotes, Fate, LogChoice, MemoryTool, Part, RecallSection, SessionKind, WORKING_FILE,
    compose, cut_of, estimated_tokens,
};
pub use duplicates::{Candidate, ComparedEntries, Duplicate, DuplicateSearch, OutdatedEntry};
pub use entries::{EntryList, PageEntry};
pub use entry::{Category, Clock, Importance, ImportanceTag, Label, MemoryEntry, NewEntry, Tier};
pub use erasure::{ErasedEntries, JournalErasure, KeptEntry};
pub use finder::{FindError, Finder};
pub use flush::{
    DIRECT_SYSTEM_PROMPT, FlushDecision, FlushQuestion, FlushReason, FlushSettings, flush_prompt,
    flush_system_prompt, flushed_entries, told,
};
pub use forget::{
    ApplyForgetError, EntryToForget, ForgetPlan, ForgetPlanError, ForgetTarget, is_in_time,
    plan_forget,
};
pub use forgetting::{Finality, FinishedForget, ForgetMarker, ForgetNote};
pub use frame::{DATA_NOTICE, Frame, FramedMemory, NOTICE, ShownOrigin, barred, frame, one_line};
pub use hidden::{
    hidden_count, is_hidden, name_from_shown, revealed, shown, shown_name, shown_with_ranges,
    visible, with_escapes, with_marks,
};
pub use hook_log::HookWrite;
pub use journal::{ChangeId, ChangeRecord, EditRecord, JournalError, RowsRecord};
pub use layout::MarkdownLayout;
pub use ledger::{OriginCheck, OwnStamps};
pub use list::{EntryListing, ListFilter, ListedEntry, Page, list_entries};
pub use markdown_memory::MarkdownMemory;
pub use memory::{BackendError, Memory, MemoryError, PlannedEntry, PlannedRow};
pub use noteworthy::{NoteSkipReason, UnknownStatements, not_worth_noting, without_unanswered};
pub use page::{EntryForm, ParsedEntry, render, tidied, units};
pub use reading::{UnreadPage, UnreadReason};
pub use recall_counts::{
    RecallCount, RecallError, RecallKey, mark_of, note_recalls, recall_counts, recalled_of,
};
pub use recall_view::{Recalled, RecalledMemory, recalled};
pub use relevance::{RecallSettings, is_relevant, question_of};
pub use remember::{
    Caution, EntryRequest, MAX_TEXT_BYTES, Place, RememberPlan, RememberPlanError,
    RememberSettings, SecretLocation, Secrets, plan_remember, supersede,
};
pub use row_memory::{RowMemory, row_key, row_text};
pub use row_store::{
    KeepRows, KeptRow, ROWS, RowDraft, RowStore, RowVector, RowsUndo, key_of_row_document,
    lines_of_row, row_document,
};
pub use scan::{ErasureProbes, Scan};
pub use session_note::{
    NoteForm, NotePlan, NoteText, NotedMessage, NotedSession, SaidMessage, SessionNote,
};
pub use session_state::SessionState;
pub use slug::{WeightedText, slug_of, telling_slug};
pub use stamps::stamps_in;
pub use store::{
    FileSnapshot, LockedStore, MarkdownStore, MarkdownStoreError, PageKind, PageScope,
};
pub use successors::{FoundLines, Successor, successors};
pub use summary::{Contradiction, EntrySummary};
pub use suspicion::{Suspicion, SuspicionKind, suspicion_reason, suspicious};
pub use tidy::{ExpiredLogEntry, Promotion, TidyPlan, TidySettings, plan_promotion, plan_tidy};
pub use undo::{RevertError, Undo, plan_undo, undo};

//! What a session should see of a memory: which files, in which order, how much of each.
//!
//! Each version of each runtime has its own rules, see [`ContextRules`]; this module follows them,
//! with five exceptions. Private files stay out of group sessions under all rules, although one
//! runtime includes them. The sentences with which a runtime introduces the files are left out:
//! they belong to the runtime. Memories, which are the curated file and the logs, are quoted in our
//! frame, see [`crate::frame`], because text from anything that the agent read may have got into
//! them; only the files that tell an agent who it is are not quoted. Entries of memories that others
//! took the place of are marked. Hidden characters, see
//! [`crate::hidden`], and stamps are left out of every file: a stamp costs a model some 40 tokens
//! and is only a claim there.

mod budget;
mod cut;
mod digest;
mod logs;
mod outdated;
mod recall_section;
mod rules;
mod session;

use anemone_format::ProvenanceStamp;
use jiff::civil::Date;

use crate::frame::{FramedMemory, frame};
use crate::hidden::{hidden_count, shown};
use crate::reading::{self, UnreadReason};
use crate::store::{MarkdownStore, PageKind};
use crate::suspicion::suspicion_reason;
pub use budget::{Budget, estimated_tokens};
pub use cut::Cutting;
use cut::clamped;
use outdated::MarkedFiles;
pub use recall_section::{Citations, MemoryTool, RecallSection};
use rules::FileRow;
pub use rules::{ContextLimits, ContextRules, DailyNotes};
pub use session::{SessionKind, WORKING_FILE};

/// A file needs so much room to be begun at all.
const LEAST_ROOM: usize = 64;

/// The request.
#[derive(Clone, Debug)]
pub struct ComposeRequest {
    /// Who will see it.
    pub session: SessionKind,
    /// The rules of the runtime.
    pub rules: &'static ContextRules,
    /// Limits that the user set, instead of those of the rules.
    pub limits: ContextLimits,
    /// How much of it.
    pub budget: Budget,
    /// The day it is.
    pub today: Date,
    /// Whether today's and yesterday's log are shown, even if the runtime does otherwise.
    pub logs: LogChoice,
    /// Which memory tools the session has, and how it is to cite; `None`: nothing is said of them.
    pub recall: Option<RecallSection>,
    /// The recalled memories, framed; they come last.
    pub recalled: Option<String>,
    /// A random word that is new each time, for the frame around memories.
    pub delimiter: String,
}

/// Who decides whether today's and yesterday's log are shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LogChoice {
    /// The rules of the runtime.
    #[default]
    Runtime,
    /// The caller: they are shown, as long as there is room.
    Shown,
}

impl ComposeRequest {
    /// Returns what becomes of the notes of today and yesterday.
    fn daily_notes(&self) -> DailyNotes {
        match self.logs {
            LogChoice::Runtime => self.rules.notes,
            LogChoice::Shown => DailyNotes::Whole,
        }
    }
}

/// What a session should see.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ComposedContext {
    /// The text.
    pub text: String,
    /// How long it is, as the runtime counts.
    pub chars: usize,
    /// The included parts and the omitted ones, in order.
    pub parts: Vec<Part>,
    /// How many hidden characters were left out of the files.
    pub hidden_characters: usize,
    /// Why a memory looks like an attack on a model, if one does.
    pub suspicion_reason: Option<String>,
}

/// A file, and what became of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// The path in the workspace; `(recalled)` for recalled memories.
    pub path: String,
    /// How much of the text it takes, without its heading.
    pub included_chars: usize,
    /// How long the file is.
    pub total_chars: usize,
    /// What became of it.
    pub fate: Fate,
    /// How many hidden characters its file has.
    hidden: usize,
    /// The content for the text; memories are not quoted yet.
    content: String,
    place: PartPlace,
}

/// Where a part is placed in the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PartPlace {
    File,
    /// The curated file.
    Memory,
    Notes,
    Recalled,
}

/// What became of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fate {
    /// It is included in full.
    Whole,
    /// It was longer than this.
    Cut {
        /// How much of it was allowed.
        limit: usize,
        /// How much of its beginning is left.
        head: usize,
        /// How much of its end.
        tail: usize,
    },
    /// There is none, and the text says so.
    Missing,
    /// The file does not exist, and it is optional.
    Absent,
    /// There is nothing in it.
    Empty,
    /// It cannot be read, and the text says so.
    Unreadable(UnreadReason),
    /// It cannot be read, and is skipped without a notice.
    PassedOver(UnreadReason),
    /// The runtime's budget for all files was used up.
    NoRoom,
    /// It was left out for the budget that was asked for.
    OverBudget,
    /// Sessions of this kind must not see it.
    Private,
    /// Only sessions of this kind see it.
    OtherSession(SessionKind),
    /// The runtime leaves it to the agent to read it.
    NotInjected,
}

impl Fate {
    /// Returns the word for it.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Whole => "whole",
            Self::Cut { .. } => "cut",
            Self::Missing => "missing",
            Self::Absent => "absent",
            Self::Empty => "empty",
            Self::PassedOver(_) => "passed_over",
            Self::Unreadable(_) => "unreadable",
            Self::NoRoom => "no_room",
            Self::OverBudget => "over_budget",
            Self::Private => "private",
            Self::OtherSession(_) => "other_session",
            Self::NotInjected => "not_injected",
        }
    }

    /// Says whether anything of it is in the text.
    #[must_use]
    pub const fn is_in(&self) -> bool {
        matches!(self, Self::Whole | Self::Cut { .. } | Self::Missing | Self::Unreadable(_))
    }
}

impl std::fmt::Display for Fate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Whole => f.write_str("whole"),
            Self::Cut { limit, head, tail } => {
                write!(f, "cut to {limit}: the first {head} and the last {tail}")
            }
            Self::Missing => f.write_str("missing (the text says so)"),
            Self::Absent => f.write_str("not there"),
            Self::Empty => f.write_str("empty"),
            Self::PassedOver(why) => write!(f, "passed over: {why}"),
            Self::Unreadable(why) => write!(f, "cannot be read: {why}"),
            Self::NoRoom => f.write_str("the runtime's budget for all files was used up"),
            Self::OverBudget => f.write_str("over the budget that was asked for"),
            Self::Private => f.write_str("private: not for sessions of this kind"),
            Self::OtherSession(kind) => {
                write!(f, "only for sessions of the kind `{}`", kind.as_str())
            }
            Self::NotInjected => f.write_str("the runtime leaves it to the agent to read it"),
        }
    }
}

impl Part {
    /// Returns the content for the text, without its heading.
    #[must_use]
    pub fn content(&self) -> &str {
        &self.content
    }

    /// Whether it was remembered, and is quoted here.
    fn is_quoted(&self) -> bool {
        matches!(self.place, PartPlace::Memory | PartPlace::Notes) && self.fate.is_in()
    }

    /// Returns the part as a memory to be framed.
    fn framed(&self) -> FramedMemory<'_> {
        let date = crate::summary::day_of(PageKind::of(&self.path));
        FramedMemory { text: &self.content, origin: None, date, path: &self.path }
    }

    fn out(path: &str, fate: Fate) -> Self {
        Self {
            path: path.to_owned(),
            included_chars: 0,
            total_chars: 0,
            fate,
            hidden: 0,
            content: String::new(),
            place: PartPlace::File,
        }
    }
}

/// Composes what a session should see.
#[must_use]
pub fn compose(site: &MarkdownStore, asked: &ComposeRequest) -> ComposedContext {
    let mut parts = files(site, asked);
    parts.extend(logs::notes(site, asked));
    if let Some(recalled) = asked.recalled.as_ref().filter(|recalled| !recalled.is_empty()) {
        let chars = asked.rules.cutting.length(recalled);
        parts.push(Part {
            included_chars: chars,
            total_chars: chars,
            content: recalled.clone(),
            place: PartPlace::Recalled,
            ..Part::out("(recalled)", Fate::Whole)
        });
    }
    budget::keep(&mut parts, asked, site);
    let text = written(&parts, asked, site);
    let hidden_characters =
        parts.iter().filter(|part| part.fate.is_in()).map(|part| part.hidden).sum();
    let quoted: Vec<&str> =
        parts.iter().filter(|part| part.is_quoted()).map(|part| part.content.as_str()).collect();
    ComposedContext {
        chars: asked.rules.cutting.length(&text),
        suspicion_reason: suspicion_reason(&quoted.join("\n\n")),
        text,
        parts,
        hidden_characters,
    }
}

/// Returns where a runtime with these rules would cut a file: how much of its beginning and of its
/// end is left; `None` when it leaves it whole.
#[must_use]
pub fn cut_of(rules: &ContextRules, name: &str, text: &str) -> Option<Fate> {
    let limit = rules.limit_of(name);
    let kept = rules.cutting.cut(text, name, limit);
    kept.head.map(|head| Fate::Cut { limit, head, tail: kept.tail })
}

/// Reads the files of a session's table, within the runtime's budget.
fn files(site: &MarkdownStore, asked: &ComposeRequest) -> Vec<Part> {
    let rules = asked.rules;
    let mut left = asked.limits.total.unwrap_or(rules.total);
    let mut parts = Vec::new();
    let rows = rules.rows(site, asked);
    let is_memory = |row: &&FileRow| {
        row.kept_out.is_none() && matches!(row.place, PartPlace::Memory | PartPlace::Notes)
    };
    let memories = rows.iter().filter(is_memory).map(|row| row.path.as_str());
    let mut marks = MarkedFiles::read(site, asked.session, memories);
    for row in rows {
        // The caller wants these logs besides the files that the runtime's budget is for.
        let is_extra = row.place == PartPlace::Notes && asked.logs == LogChoice::Shown;
        let room = if is_extra { usize::MAX } else { left };
        let part = match row.kept_out {
            Some(fate) => Part::out(&row.path, fate),
            None => file(site, asked, &row, room, &mut marks),
        };
        let part = Part { place: row.place, ..part };
        left = match part.fate {
            _ if is_extra => left,
            // The first file without room ends it, also for shorter ones.
            Fate::NoRoom => 0,
            _ => left.saturating_sub(part.included_chars),
        };
        parts.push(part);
    }
    parts
}

/// Reads a file, as much of it as there is room for.
fn file(
    site: &MarkdownStore,
    asked: &ComposeRequest,
    row: &FileRow,
    left: usize,
    marks: &mut MarkedFiles,
) -> Part {
    let (rules, path) = (asked.rules, row.path.as_str());
    let name = path.rsplit('/').next().unwrap_or_default();
    let mut hidden = 0;
    let (content, total_chars, fate) = match reading::read_linked(site, path) {
        Ok(None) if row.is_optional => return Part::out(path, Fate::Absent),
        Ok(None) => (rules.missing(site, path), 0, Fate::Missing),
        Err(why) if !rules.tells_unreadable => {
            (rules.missing(site, path), 0, Fate::Unreadable(why))
        }
        Err(why) => (format!("[UNREADABLE: {why}]"), 0, Fate::Unreadable(why)),
        Ok(Some(file)) => {
            let limit = rules.limit_within(asked.limits, name).min(left);
            hidden = hidden_count(&file.text);
            let text = marks.marked(path, file.text);
            let kept = rules.cutting.cut(&readable(&text), path, limit);
            if kept.total == 0 {
                return Part::out(path, Fate::Empty);
            }
            if left < LEAST_ROOM {
                return Part { total_chars: kept.total, ..Part::out(path, Fate::NoRoom) };
            }
            let fate = match kept.head {
                None => Fate::Whole,
                Some(head) => Fate::Cut { limit, head, tail: kept.tail },
            };
            (kept.text, kept.total, fate)
        }
    };
    let content =
        if rules.cutting.length(&content) > left { clamped(&content, left) } else { content };
    if content.is_empty() {
        return Part { total_chars, ..Part::out(path, Fate::NoRoom) };
    }
    // Both numbers are counted in the same way, so that a whole file is as long as itself.
    let included_chars = rules.cutting.length(&content);
    Part { included_chars, total_chars, content, hidden, ..Part::out(path, fate) }
}

/// Returns a text without stamps and hidden characters.
fn readable(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut end = 0;
    for (stamp, _) in ProvenanceStamp::all_in(text) {
        plain.push_str(text[end..stamp.start].trim_end_matches(' '));
        end = stamp.end;
    }
    plain.push_str(&text[end..]);
    shown(&plain)
}

/// Writes the parts down, as the runtime does.
fn written(parts: &[Part], asked: &ComposeRequest, site: &MarkdownStore) -> String {
    let rules = asked.rules;
    let mut text = String::new();
    if let Some(section) = &asked.recall {
        text.push_str(&section.text(asked.session));
    }
    let has = |place| parts.iter().any(|part| part.place == place && part.fate.is_in());
    if has(PartPlace::File) {
        text.push_str(rules.opening);
    }
    for part in parts.iter().filter(|part| part.place == PartPlace::File && part.fate.is_in()) {
        text.push_str(&rules.section(site, &part.path, &part.content));
    }
    let quoted: Vec<FramedMemory<'_>> =
        parts.iter().filter(|part| part.is_quoted()).map(Part::framed).collect();
    text.push_str(&frame(&quoted, &asked.delimiter));
    if !quoted.is_empty() && has(PartPlace::Recalled) {
        text.push('\n');
    }
    for part in parts.iter().filter(|part| part.place == PartPlace::Recalled && part.fate.is_in()) {
        text.push_str(&part.content);
        text.push('\n');
    }
    text
}

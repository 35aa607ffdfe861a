//! Composes what a session of an agent should see when it begins.

use std::path::PathBuf;

use anemone_index::{Hit, Request};
use anemone_memory::{
    Budget, ComposeRequest, ComposedContext, ContextRules, Fate, LogChoice, Part, RecallSection,
    Recalled, SessionKind, compose, estimated_tokens, note_recalls, recalled,
};
use anemone_runtimes::{Machine, MemoryBackend, context_rules_of};
use serde::Serialize;

use crate::agent_memory::{Access, AgentMemory, AgentMemoryError, MemoryChoice, delimiter};
use crate::config::Config;
use crate::host::Host;
use crate::statement::Statement;
use crate::text::count;

/// So many memories are recalled for one question.
const RECALLED: usize = 6;
/// How many hits are examined for those that may be shown.
const LOOKED_AT: usize = 12;

/// Who will see what of which memory.
#[derive(Clone, Debug)]
pub struct ContextRequest {
    /// Whose memory.
    pub memory: MemoryChoice,
    /// Who will see it.
    pub session: SessionKind,
    /// Whose rules; `None` for those of the agent that is found.
    pub rules: Option<&'static ContextRules>,
    /// How much of it.
    pub budget: Budget,
    /// Whether today's and yesterday's log are shown, even if the runtime leaves them out.
    pub logs: LogChoice,
    /// The memory tools of the session, for the section that tells it to use them.
    pub recall: Option<RecallSection>,
    /// A question; memories that answer it follow.
    pub query: Option<String>,
    /// Whether recalled memories are counted for `tidy`.
    pub recalls: RecallCounting,
}

/// Whether recalled memories are counted for `tidy`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RecallCounting {
    /// They are counted: memories that are recalled often are proposed for the curated file.
    #[default]
    Counted,
    /// It does not: a reader does not decide what becomes of a memory.
    NotCounted,
}

impl ContextRequest {
    /// Composes with the defaults for a session.
    #[must_use]
    pub fn new(memory: MemoryChoice, session: SessionKind) -> Self {
        Self {
            memory,
            session,
            rules: None,
            budget: Budget::Runtime,
            logs: LogChoice::Runtime,
            recall: None,
            query: None,
            recalls: RecallCounting::Counted,
        }
    }
}

/// What a session should see.
#[derive(Clone, Debug, Serialize)]
pub struct ContextReport {
    /// The kind of session.
    pub session: &'static str,
    /// Whose rules were followed.
    pub generation: &'static str,
    /// The text.
    pub text: String,
    /// How long it is, as the runtime counts.
    pub chars: usize,
    /// About how many tokens it has.
    pub estimated_tokens: usize,
    /// How many memories were recalled.
    pub recalled: usize,
    /// What would have been recalled, but looks like an attack.
    pub suspicious: u64,
    /// What would have been recalled, but does not hold any more.
    pub superseded: u64,
    /// How many invisible characters were left out of the files.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hidden_characters: Option<usize>,
    /// Why a quoted part of the files looks like an attack on a model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suspicion_reason: Option<String>,
    /// The included parts and the omitted ones, in order.
    pub parts: Vec<ContextPart>,
    /// What the user should know.
    pub notes: Vec<Statement<ContextNote>>,
}

/// A file, and what became of it.
#[derive(Clone, Debug, Serialize)]
pub struct ContextPart {
    /// The path in the workspace; `(recalled)` for recalled memories.
    pub path: String,
    /// How much of the text it takes, without its heading.
    pub included_chars: usize,
    /// How long the file is.
    pub total_chars: usize,
    /// Whether anything of it is in the text.
    pub included: bool,
    /// Whether it was cut.
    pub cut: bool,
    /// A word for programs.
    pub reason: &'static str,
    /// A sentence for people.
    pub detail: String,
}

/// A note for the user about a composed text.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ContextNote {
    /// The memory is in a database, of which a group sees nothing.
    RowsOfGroup(PathBuf),
    /// The memory is in a database; without a query, nothing of it is shown.
    RowsWithoutQuery(PathBuf),
    /// The memory is in a database; only recalled memories are shown.
    RowsRecalled(PathBuf),
    /// Sessions of this kind see no memory.
    NothingRecalled,
    /// The recalls could not be counted.
    RecallsNotCounted,
    /// Memories that look like an attack were left out.
    Suspicious(u64),
    /// Memories that others took the place of were left out.
    Superseded(u64),
    /// Invisible characters were left out.
    HiddenCharacters(usize),
}

impl ContextNote {
    /// Puts it into words; `query` is the door's name for the query.
    #[must_use]
    pub fn words(&self, query: &str) -> String {
        match self {
            Self::RowsOfGroup(database) => format!(
                "this agent remembers in rows of {}, which a group does not see",
                database.display()
            ),
            Self::RowsWithoutQuery(database) => format!(
                "this agent remembers in rows of {}, of which nothing is here without {query}",
                database.display()
            ),
            Self::RowsRecalled(database) => format!(
                "this agent remembers in rows of {}, of which only what was recalled is here",
                database.display()
            ),
            Self::NothingRecalled => {
                "sessions of this kind see no memory, so nothing was recalled".to_owned()
            }
            Self::RecallsNotCounted => {
                "these recalls could not be counted for `anemone tidy`".to_owned()
            }
            Self::Suspicious(number) => {
                format!("left out since it looks like an attack: {}", count(*number, "memory"))
            }
            Self::Superseded(number) => {
                format!("left out since others took its place: {}", count(*number, "memory"))
            }
            Self::HiddenCharacters(number) => format!("invisible characters left out: {number}"),
        }
    }
}

/// Composes what a session should see.
pub fn context(request: &ContextRequest, host: &Host) -> Result<ContextReport, AgentMemoryError> {
    let counts = request.query.is_some() && request.recalls == RecallCounting::Counted;
    let (machine, memory) = request.memory.open(Access::Write.unless(!counts), host)?;
    let session = request.session;
    let rules =
        request.rules.unwrap_or_else(|| context_rules_of(memory.runtime, memory.agent.generation));
    let mut notes: Vec<ContextNote> = note_of_rows(request, &memory).into_iter().collect();
    let shown = match &request.query {
        Some(query) if session.may_recall() => {
            let found = recall(query, session, &memory, &machine, host)?;
            notes.extend(Some(found.suspicious).filter(|n| *n > 0).map(ContextNote::Suspicious));
            notes.extend(Some(found.superseded).filter(|n| *n > 0).map(ContextNote::Superseded));
            if request.recalls == RecallCounting::Counted
                && note_recalls(&memory.site, &found.keys, host.now()).is_err()
            {
                notes.push(ContextNote::RecallsNotCounted);
            }
            found
        }
        Some(_) => {
            notes.push(ContextNote::NothingRecalled);
            Recalled::default()
        }
        None => Recalled::default(),
    };
    let delimiter = delimiter()?;
    let config = Config::of_agent(memory.runtime, &memory.agent, &machine, host)?;
    let recall = request.recall.clone().map(|section| RecallSection {
        citations: section.citations.or(config.search.citations),
        ..section
    });
    let composing = ComposeRequest {
        session,
        rules,
        limits: config.context,
        budget: request.budget,
        today: host.today(),
        logs: request.logs,
        recall,
        recalled: Some(shown.framed(&delimiter)),
        delimiter,
    };
    let ComposedContext { text, chars, parts, hidden_characters, suspicion_reason } =
        compose(&memory.site, &composing);
    let hidden_characters = Some(hidden_characters).filter(|number| *number > 0);
    notes.extend(hidden_characters.map(ContextNote::HiddenCharacters));
    Ok(ContextReport {
        session: session.as_str(),
        generation: rules.name,
        chars,
        estimated_tokens: estimated_tokens(&text),
        text,
        recalled: shown.memories.len(),
        suspicious: shown.suspicious,
        superseded: shown.superseded,
        hidden_characters,
        suspicion_reason,
        parts: parts.iter().map(ContextPart::of).collect(),
        notes: Statement::list(notes),
    })
}

/// Says what of a database is shown, where the memory is in one.
fn note_of_rows(request: &ContextRequest, memory: &AgentMemory) -> Option<ContextNote> {
    let MemoryBackend::Sqlite(database) = &memory.keeps else { return None };
    let database = database.clone();
    request.session.may_recall().then_some(match (request.session, &request.query) {
        (SessionKind::Group, _) => ContextNote::RowsOfGroup(database),
        (_, None) => ContextNote::RowsWithoutQuery(database),
        (_, Some(_)) => ContextNote::RowsRecalled(database),
    })
}

fn recall(
    query: &str,
    session: SessionKind,
    memory: &AgentMemory,
    machine: &Machine,
    host: &Host,
) -> Result<Recalled, AgentMemoryError> {
    let mut request = Request::new(query, host.now());
    request.limit = LOOKED_AT;
    request.paths = session.folders();
    let answer = memory.finder(machine, host)?.search(&request)?;
    let hits: Vec<&Hit> = answer.hits.iter().filter(|hit| session.may_see(&hit.path)).collect();
    Ok(recalled(&memory.site, &hits, RECALLED)?)
}

impl ContextPart {
    fn of(part: &Part) -> Self {
        Self {
            path: part.path.clone(),
            included_chars: part.included_chars,
            total_chars: part.total_chars,
            included: part.fate.is_in(),
            cut: matches!(part.fate, Fate::Cut { .. }),
            reason: part.fate.code(),
            detail: part.fate.to_string(),
        }
    }
}

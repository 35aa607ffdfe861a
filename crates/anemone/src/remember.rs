//! Remembers something: writes it into an agent's memory, unless there is a secret in it or the
//! memory says the same already.

mod vector;

use anemone_format::{Moment, Origin, ProvenanceStamp, StampId};
pub use anemone_memory::Secrets as SecretHandling;
use anemone_memory::{
    Category, Caution, Duplicate, EntryRequest, Importance, Label, Memory, NewEntry, Place,
    RememberPlan, RememberPlanError, RememberSettings, RestoredText, SecretLocation, plan_remember,
};
use jiff::Timestamp;
use serde::Serialize;

use crate::agent_memory::{Access, AgentMemoryError, MemoryChoice, NotWritable};
use crate::config::Config;
use crate::host::Host;

/// What something is when only its importance is given.
const USUAL_TYPE: &str = "note";

/// What is remembered, and where.
#[derive(Clone, Debug)]
pub struct RememberRequest {
    /// Whose memory.
    pub memory: MemoryChoice,
    /// The text.
    pub text: String,
    /// The name of the entry, by which it can be found, replaced and forgotten.
    pub key: Option<String>,
    /// What it is, such as `decision`.
    pub kind: Option<String>,
    /// The category of the row that it becomes, in a database; a file takes it for its type.
    /// `core` is the curated part.
    pub category: Option<Category>,
    /// How much it matters.
    pub importance: Option<Importance>,
    /// Words by which it is found, with or without `#`.
    pub tags: Vec<String>,
    /// Where it comes from.
    pub origin: Origin,
    /// More about where it comes from, such as an address.
    pub source: Option<String>,
    /// The session in which it was learned.
    pub session: Option<String>,
    /// The key or id of the entry that this one replaces.
    pub supersedes: Option<String>,
    /// Which part of the memory it goes to.
    pub part: MemoryPart,
    /// Whether to search for duplicates.
    pub duplicates: DuplicateCheck,
    /// How to treat secrets in it: nothing is written, or a mark replaces each of them.
    pub secrets: SecretHandling,
    /// Whether it is written.
    pub dry_run: bool,
}

/// A part of a memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MemoryPart {
    /// The log of today.
    #[default]
    Log,
    /// What every session reads: `MEMORY.md`.
    Curated,
}

/// Whether to search for duplicates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DuplicateCheck {
    /// Search, and write nothing if there is a duplicate.
    #[default]
    Refuse,
    /// They are not.
    Skip,
}

impl RememberRequest {
    /// Remembers a text as something that the agent itself learned.
    #[must_use]
    pub fn new(text: impl Into<String>, memory: MemoryChoice) -> Self {
        Self {
            memory,
            text: text.into(),
            key: None,
            kind: None,
            category: None,
            importance: None,
            tags: Vec::new(),
            origin: Origin::Agent,
            source: None,
            session: None,
            supersedes: None,
            part: MemoryPart::default(),
            duplicates: DuplicateCheck::default(),
            secrets: SecretHandling::Report,
            dry_run: false,
        }
    }
}

/// What was written, or would be.
#[derive(Clone, Debug, Serialize)]
pub struct RememberReport {
    /// Whether nothing was to be written.
    pub dry_run: bool,
    /// Whether it was written.
    pub written: bool,
    /// The id of the entry.
    pub id: String,
    /// The file, or the name of the database.
    pub path: String,
    /// Its text in the file or in the row; empty if it holds a secret.
    pub entry: String,
    /// The row, in a database.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub row: Option<RowLine>,
    /// By which it can be undone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub change: Option<String>,
    /// Secrets in whose place there are marks now.
    pub redacted: Vec<SecretLocation>,
    /// Secrets that are in it; they are an error unless it is a dry run.
    pub secrets: Vec<SecretLocation>,
    /// Entries that say the same; they are an error unless it is a dry run.
    pub duplicates: Vec<Duplicate>,
    /// Entries that this one takes the place of, as it gives another value to the same thing; an
    /// undo brings them back.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub superseded: Vec<Duplicate>,
    /// Entries that say something similar, and that stay.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub near: Vec<Duplicate>,
    /// Entries that an editor had dropped and that were put back meanwhile.
    pub restored: Vec<RestoredText>,
    /// What the user should know.
    pub warnings: Vec<Caution>,
}

/// A row of a database.
#[derive(Clone, Debug, Serialize)]
pub struct RowLine {
    /// Its key.
    pub key: String,
    /// The kind of row.
    pub category: String,
    /// Whether the text of an existing row with this key is replaced.
    pub replaces: bool,
}

/// Why nothing was remembered.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
#[non_exhaustive]
pub enum RememberError {
    /// There is a secret in the text.
    /// The report lists at least one secret.
    #[error("there is a secret in the text; nothing was written")]
    Secret(Box<RememberReport>),
    /// The memory says the same.
    /// The report lists at least one entry that says the same.
    #[error("the memory already says this; nothing was written")]
    Duplicate(Box<RememberReport>),
    /// The agent has no memory that can be written.
    NotWritable(#[from] NotWritable),
    /// It cannot be planned or written.
    Memory(RememberPlanError),
    /// The memory was not found, or cannot be opened.
    Open(#[from] AgentMemoryError),
}

/// Remembers something in the memory of an agent.
pub fn remember(request: &RememberRequest, host: &Host) -> Result<RememberReport, RememberError> {
    let access = Access::Change.unless(request.dry_run);
    let (machine, living) = request.memory.open(access, host)?;
    let memory = living.writable()?;
    let finder = match request.duplicates {
        DuplicateCheck::Refuse => Some(living.finder(&machine, host)?),
        DuplicateCheck::Skip => None,
    };
    // Rows are compared with the usual settings.
    let settings = match memory.rows() {
        Some(_) => RememberSettings::default(),
        None => Config::read(host).map_err(AgentMemoryError::from)?.remember,
    };
    let asked = request.asked(&*memory, host);
    let plan = plan_remember(&*memory, finder.as_ref(), asked, &settings, host.now());
    let mut plan = plan.map_err(RememberError::Memory)?;
    let mut report = request.report(&plan);
    if request.dry_run {
        return Ok(report);
    }
    if plan.entry.row.is_some() && plan.is_writable() {
        let (vector, caution) = vector::vector_of(&living, &plan.entry.text, &machine, host);
        plan.vector = vector;
        report.warnings.extend(caution);
    }
    let applied = match plan.write(&*memory, host.fresh_id(), host.now()) {
        Ok(applied) => applied,
        Err(RememberPlanError::Secret(_)) => {
            return Err(RememberError::Secret(Box::new(report)));
        }
        Err(RememberPlanError::Duplicate(same)) => {
            // Another process remembered the same text in the meantime.
            if report.duplicates.is_empty() {
                report.duplicates.push(*same);
            }
            return Err(RememberError::Duplicate(Box::new(report)));
        }
        Err(error) => return Err(RememberError::Memory(error)),
    };
    report.written = true;
    report.change = Some(applied.id.0.to_string());
    report.restored = applied.restored;
    Ok(report)
}

impl RememberRequest {
    fn asked(&self, memory: &dyn Memory, host: &Host) -> EntryRequest {
        let now = host.now();
        // Fractions of a second are left out; the id gives the order within one.
        let second = Timestamp::from_second(now.as_second()).unwrap_or(now);
        let mut stamp = ProvenanceStamp::new(host.fresh_id(), self.origin, Moment::from(second));
        stamp.source = self.source.clone();
        stamp.session = self.session.clone();
        stamp.supersedes = self.supersedes.clone();
        let tags = self.tags.iter().map(|tag| tag.trim_start_matches('#').to_owned()).collect();
        let mut key = self.key.clone().filter(|key| !key.trim().is_empty());
        // In files, what takes the place of a key has that key, unless it is given another.
        if key.is_none() && memory.rows().is_none() {
            let taken = self.supersedes.clone();
            key = taken.filter(|name| name.parse::<StampId>().is_err());
        }
        let place = match (&self.category, self.part) {
            (Some(Category::Core), _) | (None, MemoryPart::Curated) => Place::Curated,
            (Some(_), _) | (None, MemoryPart::Log) => {
                Place::Daily(now.to_zoned(host.zone()).date())
            }
        };
        let is_row = memory.rows().is_some();
        let label = self.label(is_row);
        if label.is_none() && !is_row {
            stamp.category = self.own_type(is_row).map(str::to_owned);
        }
        let text = self.text.clone();
        EntryRequest {
            given: NewEntry { text, key, label, tags, stamp },
            place,
            category: self.category.clone(),
            secrets: self.secrets,
        }
    }

    fn own_type(&self, is_row: bool) -> Option<&str> {
        match &self.category {
            // A file has no categories; the user's own is the type of the entry there.
            Some(category) if !is_row && self.kind.is_none() => category.own_name(),
            _ => self.kind.as_deref(),
        }
    }

    /// Returns the tag. A tag has an importance, by which `tidy` archives the entry, so there is none
    /// unless an importance was given; the stamp has the type then.
    fn label(&self, is_row: bool) -> Option<Label> {
        let name = self.own_type(is_row).unwrap_or(USUAL_TYPE).to_owned();
        self.importance.map(|importance| Label { name, importance })
    }

    fn report(&self, plan: &RememberPlan) -> RememberReport {
        let (redacted, secrets) = match self.secrets {
            SecretHandling::Redact => (plan.secrets.clone(), Vec::new()),
            SecretHandling::Report => (Vec::new(), plan.secrets.clone()),
        };
        let mut warnings = plan.cautions.clone();
        if self.kind.is_some() && plan.entry.row.is_some() {
            let message = "a row has no place for a type: only its importance is kept".to_owned();
            warnings.push(Caution { code: "type_not_kept", message });
        }
        // A report that a secret was found must not show it.
        let shown = |text: &str| if secrets.is_empty() { text.to_owned() } else { String::new() };
        RememberReport {
            dry_run: self.dry_run,
            written: false,
            id: plan.entry.id.clone(),
            path: plan.entry.path.clone(),
            entry: shown(&plan.entry.text),
            row: plan.entry.row.as_ref().map(|row| RowLine {
                key: shown(&row.key),
                category: row.category.to_string(),
                replaces: row.replaces,
            }),
            change: None,
            redacted,
            secrets: secrets.clone(),
            duplicates: plan.duplicates.clone(),
            superseded: plan.superseded.clone(),
            near: plan.near.clone(),
            restored: Vec::new(),
            warnings,
        }
    }
}

#[cfg(test)]
mod tests;

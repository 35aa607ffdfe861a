//! Tidies a memory: archives expired entries, lists duplicates, promotes entries that are recalled
//! often.

use anemone_memory::{
    ApplyError, Change, LockedStore, MarkdownStoreError, RecallError, TidyPlan, TidySettings, Tier,
    plan_promotion, plan_tidy,
};
use jiff::ToSpan as _;
use jiff::civil::Date;
use serde::Serialize;

use crate::agent_memory::{Access, AgentMemory, AgentMemoryError, MemoryChoice};
use crate::config::Config;
use crate::entry_reference::{ContradictoryEntries, EntryReference, SimilarEntries, UnreadFile};
use crate::host::Host;

/// What is tidied, and what is changed.
#[derive(Clone, Debug)]
pub struct TidyRequest {
    /// Whose memory.
    pub memory: MemoryChoice,
    /// What happens to expired entries.
    pub expired: ExpiryAction,
    /// Which proposals are written into `MEMORY.md`.
    pub promotion: ProposalChoice,
}

/// What happens to expired entries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ExpiryAction {
    /// They are listed.
    #[default]
    List,
    /// They are moved into the archive.
    Archive,
}

/// Which proposals are promoted: written into the curated memory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ProposalChoice {
    /// None; they are listed.
    #[default]
    None,
    /// Those with these ids.
    Named(Vec<String>),
    /// All but doubtful ones, which come from pages or tools or read like instructions.
    All,
}

/// What there is to tidy, and what was done.
#[derive(Clone, Debug, Default, Serialize)]
pub struct TidyReport {
    /// Whether expired entries were archived.
    pub applied: bool,
    /// Entries that have expired.
    pub expired: Vec<ExpiredEntry>,
    /// Logs that are moved as a whole.
    pub archived: Vec<MovedFile>,
    /// Logs that are removed.
    pub purged: Vec<String>,
    /// Groups of entries that say the same.
    pub same: Vec<Vec<EntryReference>>,
    /// Entries that say nearly the same.
    pub near: Vec<SimilarEntries>,
    /// Entries that contradict each other.
    pub contradictions: Vec<ContradictoryEntries>,
    /// Entries that are proposed for the curated memory.
    pub promotions: Vec<ProposedEntry>,
    /// How many were written into it.
    pub promoted: usize,
    /// What of a database has had its time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rows: Option<PastRows>,
    /// Entries that were compared by their letters only.
    pub not_compared: usize,
    /// Whether there may be more in `near`.
    pub near_is_cut: bool,
    /// Files that were not read.
    pub unread: Vec<UnreadFile>,
    /// The changes that were made, by which they can be undone.
    pub changes: Vec<String>,
}

/// An entry that has expired.
#[derive(Clone, Debug, Serialize)]
pub struct ExpiredEntry {
    /// The entry.
    #[serde(flatten)]
    pub entry: EntryReference,
    /// How long entries of its importance are kept: `structural`, `potential` or `contextual`.
    pub tier: &'static str,
    /// Its age in days.
    pub days: i64,
    /// The file that it is moved to.
    pub to: String,
}

/// A file that is moved.
#[derive(Clone, Debug, Serialize)]
pub struct MovedFile {
    /// Where it is.
    pub from: String,
    /// Where it goes.
    pub to: String,
}

/// An entry that is proposed for the curated memory.
#[derive(Clone, Debug, Serialize)]
pub struct ProposedEntry {
    /// The entry.
    #[serde(flatten)]
    pub entry: EntryReference,
    /// How often it was recalled.
    pub recalls: u32,
    /// Whether the user should look at it first.
    pub doubtful: bool,
}

/// What of a database has had its time.
#[derive(Clone, Debug, Serialize)]
pub struct PastRows {
    /// Rows of conversations.
    pub conversation: u64,
    /// A note that they are only reported.
    pub note: &'static str,
}

/// Why nothing was tidied.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
#[non_exhaustive]
pub enum TidyError {
    /// No proposal has this id.
    #[error("nothing that is proposed has the id `{0}`; nothing was changed")]
    UnknownProposal(String),
    /// The promoted entries cannot be quoted.
    #[error("MEMORY.md or a file that is quoted there cannot be read")]
    Unreadable,
    /// The counts of recalls.
    Recalls(#[from] RecallError),
    /// The rows of the memory.
    Rows(Box<dyn std::error::Error + Send + Sync>),
    /// The files of the memory.
    Store(#[from] MarkdownStoreError),
    /// The change could not be made.
    Apply(#[from] ApplyError),
    /// The memory was not found, or cannot be opened.
    Open(#[from] AgentMemoryError),
}

/// Plans the tidying of a memory, and applies the requested parts.
pub fn tidy(request: &TidyRequest, host: &Host) -> Result<TidyReport, TidyError> {
    let archives = request.expired == ExpiryAction::Archive;
    // A command that only looks does not keep others from writing.
    let writes = archives || request.promotion != ProposalChoice::None;
    let (machine, memory) = request.memory.open(Access::Write.unless(!writes), host)?;
    let settings = Config::of_agent(memory.runtime, &memory.agent, &machine, host)
        .map_err(AgentMemoryError::from)?
        .tidy;
    let today = host.today();
    let held = writes.then(|| memory.site.lock()).transpose()?;
    let plan = plan_tidy(&memory.site, &settings, today)?;
    let mut report = TidyReport::of(&plan);
    report.rows = past_rows(&memory, &settings, today)?;
    let promotion = promotion(&request.promotion, &plan, &memory, host)?;
    report.promoted = promotion.as_ref().map_or(0, |(number, _)| *number);
    let Some(held) = held else { return Ok(report) };
    let mut apply = |held: &LockedStore<'_>, change: &Change| -> Result<(), TidyError> {
        let applied = held.apply(change, host.fresh_id(), host.now())?;
        report.changes.push(applied.id.0.to_string());
        Ok(())
    };
    if let Some((_, change)) = &promotion {
        apply(&held, change)?;
    }
    if let Some(change) = plan.change().filter(|_| archives) {
        apply(&held, &change)?;
    }
    report.applied = archives;
    Ok(report)
}

/// Plans the requested promotions; returns the number of entries.
fn promotion(
    wanted: &ProposalChoice,
    plan: &TidyPlan,
    memory: &AgentMemory,
    host: &Host,
) -> Result<Option<(usize, Change)>, TidyError> {
    let ids = match wanted {
        ProposalChoice::None => return Ok(None),
        ProposalChoice::Named(ids) => Some(ids.as_slice()),
        ProposalChoice::All => None,
    };
    let (chosen, unknown) = plan.chosen(ids);
    if let Some(id) = unknown.first() {
        return Err(TidyError::UnknownProposal(id.clone()));
    }
    if chosen.is_empty() {
        return Ok(None);
    }
    let change = plan_promotion(&memory.site, &chosen, host.today(), &host.clock)
        .ok_or(TidyError::Unreadable)?;
    Ok(Some((chosen.len(), change)))
}

/// Counts rows that have had their time.
fn past_rows(
    memory: &AgentMemory,
    settings: &TidySettings,
    today: Date,
) -> Result<Option<PastRows>, TidyError> {
    let memory = memory.memory();
    let Some(rows) = memory.rows() else { return Ok(None) };
    let Ok(before) = today.checked_sub(i64::from(settings.conversation_days).days()) else {
        return Ok(None);
    };
    let counted = rows.count_past("conversation", before).map_err(TidyError::Rows)?;
    let note = "rows are only counted: the runtime removes them itself, and nobody looked for \
                duplicates or contradictions among them";
    Ok(counted.map(|conversation| PastRows { conversation, note }))
}

impl TidyReport {
    fn of(plan: &TidyPlan) -> Self {
        let references = |entries: &Vec<_>| entries.iter().map(EntryReference::of).collect();
        let expired = plan.expired.iter().map(|expired| ExpiredEntry {
            entry: EntryReference::of(&expired.entry),
            tier: tier(expired.tier),
            days: expired.days,
            to: expired.to.clone(),
        });
        let archived = plan.archived.iter();
        let archived = archived.map(|(from, to)| MovedFile { from: from.clone(), to: to.clone() });
        let promotions = plan.promotions.iter().map(|proposed| ProposedEntry {
            entry: EntryReference::of(&proposed.entry),
            recalls: proposed.times,
            doubtful: proposed.is_doubtful,
        });
        Self {
            expired: expired.collect(),
            archived: archived.collect(),
            purged: plan.purged.clone(),
            same: plan.repeats.same.iter().map(references).collect(),
            near: plan.repeats.near.iter().map(SimilarEntries::of).collect(),
            contradictions: plan.contradictions.iter().map(ContradictoryEntries::of).collect(),
            promotions: promotions.collect(),
            not_compared: plan.repeats.not_compared,
            near_is_cut: plan.repeats.near_is_cut,
            unread: plan.unread.iter().map(UnreadFile::of).collect(),
            ..Self::default()
        }
    }
}

const fn tier(tier: Tier) -> &'static str {
    match tier {
        Tier::Contextual => "contextual",
        Tier::Potential => "potential",
        Tier::Structural => "structural",
    }
}

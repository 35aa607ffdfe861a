//! Remembers a text: plans it, lets the caller check the plan, then writes it.
//!
//! A plan says what would be written, and the objections: secrets and duplicates. The caller
//! decides whether to write it anyway.

use anemone_format::{Origin, ProvenanceStamp};
use anemone_secrets::{SecretHit, redact_text, scan};
use jiff::Timestamp;
use jiff::civil::Date;
use uuid::Uuid;

use crate::addition::Addition;
use crate::change::Applied;
use crate::duplicates::{Candidate, ComparedEntries, Duplicate, DuplicateSearch, OutdatedEntry};
use crate::entry::{Category, NewEntry};
use crate::finder::Finder;
use crate::memory::{Memory, MemoryError, PlannedEntry};
use crate::page::{render, tidied};
use crate::row_store::RowVector;
use crate::store::{MarkdownStore, MarkdownStoreError};

/// Bytes of a text that is remembered, at most: more is a document, not a memory.
pub const MAX_TEXT_BYTES: usize = 64 << 10;

/// Characters of the name of a category, at most.
const MAX_CATEGORY_CHARS: usize = 128;

/// Where something is remembered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// In the log of a day; or in the curated file, if that has the fact which the entry changes.
    Daily(Date),
    /// In the curated file.
    Curated,
}

/// How remembering is gone about.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RememberSettings {
    /// From which cosine on two texts say the same, from 0 to 1; above 1 only equal texts do.
    pub near_duplicate: f64,
}

impl Default for RememberSettings {
    fn default() -> Self {
        Self { near_duplicate: 0.95 }
    }
}

/// The text to remember, and its options.
#[derive(Clone, Debug)]
pub struct EntryRequest {
    /// The text, and all that is known of it.
    pub given: NewEntry,
    /// Where to.
    pub place: Place,
    /// The kind of row that it becomes, in a database: a new row is otherwise of the kind of its
    /// place, and one that is replaced keeps its own.
    pub category: Option<Category>,
    /// What to do about secrets.
    pub secrets: Secrets,
}

/// What to do about secrets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Secrets {
    /// Only say where they are.
    Report,
    /// Put marks in their place.
    Redact,
}

/// A secret that was found; the secret itself is not here.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct SecretLocation {
    /// What kind of secret.
    pub kind: &'static str,
    /// Where: `text`, `key`, `category`, `tag`, `source`, `session`, `supersedes`, or `entry` for
    /// all together.
    pub part: &'static str,
    /// The line of it, from 1.
    pub line: u64,
}

/// A warning about an entry before it is written.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Caution {
    /// A stable word for it.
    pub code: &'static str,
    /// What it is.
    pub message: String,
}

impl Caution {
    /// Warns that an entry takes the place of another one that cannot be marked.
    pub(crate) fn cannot_supersede() -> Self {
        let message = "this database cannot mark a row as superseded: the old text stays beside \
                       the new one, and still counts"
            .to_owned();
        Self { code: "cannot_supersede", message }
    }
}

/// What would be written, and what speaks against it.
#[derive(Clone, Debug)]
pub struct RememberPlan {
    /// The entry as it would be written.
    pub entry: PlannedEntry,
    /// The requested entry, without redacted secrets.
    pub given: NewEntry,
    /// Entries that say the same.
    pub duplicates: Vec<Duplicate>,
    /// Entries that this one takes the place of because it gives another value to the same thing.
    pub superseded: Vec<Duplicate>,
    /// Entries that say something similar, and that stay.
    pub near: Vec<Duplicate>,
    /// Secrets that were found; where they were to be redacted, they are gone from the entry.
    pub secrets: Vec<SecretLocation>,
    /// What else there is to say.
    pub cautions: Vec<Caution>,
    /// The vector of its text, if it becomes a row and the model of the rows made one.
    pub vector: Option<RowVector>,
    place: Place,
    /// Whether no secret is left in it.
    is_clear: bool,
    last_look: LastLook,
}

/// Whether the memory is searched once more while the lock is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LastLook {
    /// It is not: the entry is written whatever the memory says.
    None,
    /// It is, unless the destination still has the state with this digest.
    Unless(Option<[u8; 32]>),
}

/// Why something cannot be remembered.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RememberPlanError {
    /// There is no text.
    #[error("there is nothing to remember")]
    Empty,
    /// The text is too long.
    #[error("the text has {bytes} bytes; a memory has {MAX_TEXT_BYTES} at most")]
    TooLong {
        /// How many it has.
        bytes: usize,
    },
    /// A tag would not be read as one.
    #[error("`{0}` is not a valid tag: use letters, digits, `-`, `_` and `/`")]
    Tag(String),
    /// The name of a type would not be read as one.
    #[error("`{0}` is not a valid type: use letters, digits, `-` and `_`")]
    Type(String),
    /// The name of a category is no name.
    #[error("`{0}` is not a valid category: use one to 128 characters in one line")]
    Category(String),
    /// The text holds a secret.
    #[error("there is a secret in it: {} in {}", .0.kind, .0.part)]
    Secret(SecretLocation),
    /// The memory has an entry that says the same.
    #[error("{} says the same", .0.path)]
    Duplicate(Box<Duplicate>),
    /// The memory.
    #[error(transparent)]
    Memory(#[from] MemoryError),
    /// The files.
    #[error(transparent)]
    Store(#[from] MarkdownStoreError),
}

/// Plans the write that remembers a text. Without a finder there is no search for duplicates.
pub fn plan_remember(
    memory: &dyn Memory,
    finder: Option<&Finder>,
    asked: EntryRequest,
    settings: &RememberSettings,
    now: Timestamp,
) -> Result<RememberPlan, RememberPlanError> {
    let EntryRequest { given, mut place, category, secrets: handling } = asked;
    let (mut given, mut secrets, mut is_clear) = checked(given, handling)?;
    let mut last_look = LastLook::None;
    let mut curated = LastLook::None;
    if finder.is_some() {
        last_look = LastLook::Unless(memory.state(place)?);
        curated = LastLook::Unless(memory.state(Place::Curated)?);
    }
    let found = match finder.filter(|_| is_clear) {
        Some(finder) => {
            let (candidate, least) = (candidate(&given), settings.near_duplicate);
            memory.similar(DuplicateSearch { finder, candidate, least, now })?
        }
        None => ComparedEntries::default(),
    };
    let ComparedEntries { same: duplicates, outdated, unmarked, mut near } = found;
    let keeps_outdated = !unmarked.is_empty() && duplicates.is_empty() && may_overrule(&given);
    near.extend(unmarked);
    let outdated = if duplicates.is_empty() { outdated } else { Vec::new() };
    let superseded = supersede(&mut given, outdated, &mut near);
    // What every session reads has to have the new value, too. A category was chosen by the user.
    if category.is_none() && superseded.iter().any(|old| old.category == Category::Core) {
        (place, last_look) = (Place::Curated, curated);
    }
    let superseded = superseded.into_iter().map(|outdated| outdated.entry).collect();
    let mut entry = memory.plan_entry(&given, place)?;
    if let (Some(row), Some(mut category)) = (&mut entry.row, category) {
        check_category(&category)?;
        let found = scan(category.as_str().as_bytes());
        match handling {
            Secrets::Redact if !found.is_empty() => {
                category = Category::from(&*redact_text(category.as_str()).0);
            }
            _ => is_clear &= found.is_empty(),
        }
        secrets.extend(locations("category", found));
        row.category = match memory.rows() {
            Some(rows) => rows.spelt(&category)?,
            None => category,
        };
    }
    let mut cautions = memory.cautions(&given)?;
    if keeps_outdated {
        cautions.push(Caution::cannot_supersede());
    }
    Ok(RememberPlan {
        entry,
        given,
        duplicates,
        superseded,
        near,
        secrets,
        cautions,
        vector: None,
        place,
        is_clear,
        last_look,
    })
}

/// Lets an entry take the place of those that it makes out of date, and returns them. It can name
/// only one text; the others are added to those that are near to it, as is everything if the entry
/// already names another one, or is trusted less than what it would overrule.
pub fn supersede(
    given: &mut NewEntry,
    outdated: Vec<OutdatedEntry>,
    near: &mut Vec<Duplicate>,
) -> Vec<OutdatedEntry> {
    let (stamp, is_free) = (&given.stamp, given.stamp.supersedes.is_none());
    let (yielding, stays): (Vec<_>, Vec<_>) =
        outdated.into_iter().partition(|outdated| is_free && outdated.yields_to(stamp.origin));
    near.extend(stays.into_iter().map(|outdated| outdated.entry));
    let Some(first) = yielding.first() else { return Vec::new() };
    let (name, key) = (first.name.clone(), first.key.clone());
    // Several lines without a stamp can have the same text, and so the same name.
    let (gone, others): (Vec<_>, Vec<_>) =
        yielding.into_iter().partition(|outdated| outdated.name == name);
    given.stamp.supersedes = Some(name);
    // The new entry takes over the key, so that a lookup by key finds it.
    if given.key.is_none() {
        given.key = key;
    }
    near.extend(others.into_iter().map(|outdated| outdated.entry));
    gone
}

/// Whether an entry may take the place of others that it does not name.
fn may_overrule(given: &NewEntry) -> bool {
    given.stamp.supersedes.is_none()
        && matches!(given.stamp.origin, Some(Origin::Owner | Origin::Agent))
}

impl RememberPlan {
    /// Whether nothing that is known so far prevents the write.
    #[must_use]
    pub fn is_writable(&self) -> bool {
        self.is_clear && self.duplicates.is_empty()
    }

    /// Writes it, unless there is a secret in it or the memory says the same already, also since it
    /// was planned.
    pub fn write(
        &self,
        memory: &dyn Memory,
        id: Uuid,
        now: Timestamp,
    ) -> Result<Applied, RememberPlanError> {
        if let Some(first) = self.secrets.first().filter(|_| !self.is_clear) {
            return Err(RememberPlanError::Secret(first.clone()));
        }
        if let Some(first) = self.duplicates.first() {
            return Err(RememberPlanError::Duplicate(Box::new(first.clone())));
        }
        let held = memory.store().lock()?;
        if let LastLook::Unless(known) = self.last_look
            && let Some(same) = memory.equal_since(known, self.place, candidate(&self.given))?
        {
            return Err(RememberPlanError::Duplicate(Box::new(same)));
        }
        let category = match &self.entry.row {
            Some(row) => row.category.clone(),
            None => self.place.category(),
        };
        let (given, vector) = (self.given.clone(), self.vector.clone());
        let addition = Addition::clear("remember", given, self.place, category, vector);
        Ok(memory.add(&held, &addition, id, now)?)
    }
}

impl Place {
    /// Returns the category of rows for this destination.
    #[must_use]
    pub const fn category(self) -> Category {
        match self {
            Self::Curated => Category::Core,
            Self::Daily(_) => Category::Daily,
        }
    }
}

impl MarkdownStore {
    /// Returns the file of a place.
    #[must_use]
    pub fn page_of(&self, place: Place) -> String {
        match place {
            Place::Daily(day) => self.daily(day),
            Place::Curated => self.curated().to_owned(),
        }
    }
}

fn candidate(given: &NewEntry) -> Candidate<'_> {
    Candidate {
        text: &given.text,
        key: given.key.as_deref(),
        supersedes: given.stamp.supersedes.as_deref(),
    }
}

/// Returns the entry in its written form, the secrets that were found in it, and whether planning
/// may continue.
fn checked(
    mut given: NewEntry,
    secrets: Secrets,
) -> Result<(NewEntry, Vec<SecretLocation>, bool), RememberPlanError> {
    given.text = tidied(&given.text).trim_start().to_owned();
    check(&given)?;
    let found = look_for_secrets(&mut given, secrets);
    // A text with a secret goes nowhere, not even into a comparison.
    let is_clear = found.is_empty() || secrets == Secrets::Redact;
    Ok((given, found, is_clear))
}

fn check(given: &NewEntry) -> Result<(), RememberPlanError> {
    if given.text.trim().is_empty() {
        return Err(RememberPlanError::Empty);
    }
    if given.text.len() > MAX_TEXT_BYTES {
        return Err(RememberPlanError::TooLong { bytes: given.text.len() });
    }
    let is_word = |text: &str, more: &[char]| {
        let plain = |c: char| c.is_alphanumeric() || more.contains(&c);
        !text.is_empty() && text.len() <= 128 && text.chars().all(plain)
    };
    let short = |text: &str| text.chars().take(64).collect::<String>();
    if let Some(tag) = given.tags.iter().find(|tag| !is_word(tag, &['-', '_', '/'])) {
        return Err(RememberPlanError::Tag(short(tag)));
    }
    let label = given.label.as_ref().map(|label| &label.name);
    match label.or(given.stamp.category.as_ref()) {
        Some(name) if !is_word(name, &['-', '_']) => Err(RememberPlanError::Type(short(name))),
        _ => Ok(()),
    }
}

/// Refuses a category that would not be read as one word of a line.
fn check_category(category: &Category) -> Result<(), RememberPlanError> {
    let name = category.as_str();
    let is_plain = !name.trim().is_empty() && !name.chars().any(char::is_control);
    if is_plain && name.chars().count() <= MAX_CATEGORY_CHARS {
        return Ok(());
    }
    Err(RememberPlanError::Category(name.chars().take(64).filter(|c| !c.is_control()).collect()))
}

/// Finds secrets in all that is written, and puts marks in their place where that is wanted.
pub(crate) fn look_for_secrets(given: &mut NewEntry, secrets: Secrets) -> Vec<SecretLocation> {
    let mut found = Vec::new();
    let mut look = |part: &'static str, text: &mut String| {
        let hits = scan(text.as_bytes());
        if secrets == Secrets::Redact && !hits.is_empty() {
            *text = redact_text(text).0.into_owned();
        }
        found.extend(locations(part, hits));
    };
    look("text", &mut given.text);
    given.key.iter_mut().for_each(|key| look("key", key));
    given.tags.iter_mut().for_each(|tag| look("tag", tag));
    given.stamp.source.iter_mut().for_each(|source| look("source", source));
    given.stamp.session.iter_mut().for_each(|session| look("session", session));
    given.stamp.supersedes.iter_mut().for_each(|name| look("supersedes", name));
    found.extend(look_together(given, secrets));
    found
}

fn locations(part: &'static str, hits: Vec<SecretHit>) -> impl Iterator<Item = SecretLocation> {
    hits.into_iter().map(move |hit| SecretLocation { kind: hit.kind, part, line: hit.line })
}

/// Finds secrets that only the combined parts reveal: the key `password` with a text that is one.
/// Such secrets are removed from the text.
fn look_together(given: &mut NewEntry, secrets: Secrets) -> Vec<SecretLocation> {
    let mut found = Vec::new();
    if let Some(key) = &given.key {
        let start = format!("{key}: ");
        let named = format!("{start}{}", given.text);
        let hits = scan(named.as_bytes());
        if !hits.is_empty() && scan(given.text.as_bytes()).is_empty() {
            found.extend(locations("text", hits));
            if secrets == Secrets::Redact {
                let redacted = redact_text(&named).0;
                given.text = redacted.strip_prefix(&start).unwrap_or(&redacted).to_owned();
            }
        }
    }
    if found.is_empty() {
        // Tags, the type and the superseded entry are written in the same line.
        let entry = render(given);
        let entry = ProvenanceStamp::at_end_of(&entry)
            .map_or(&entry[..], |(range, _)| &entry[..range.start]);
        let parts = [Some(&given.text), given.key.as_ref()];
        let is_known = parts.into_iter().flatten().any(|text| !scan(text.as_bytes()).is_empty());
        if !is_known {
            found.extend(locations("entry", scan(entry.as_bytes())));
            if secrets == Secrets::Redact && !found.is_empty() {
                given.tags.clear();
                given.stamp.supersedes = None;
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {

    use super::*;
    use crate::layout::MarkdownLayout;
    use crate::markdown_memory::MarkdownMemory;

    #[test]
    fn two_who_remember_the_same_at_once_write_it_once() {
        let kept = tempfile::tempdir().unwrap();
        fs_err::create_dir(kept.path().join("w")).unwrap();
        let state = kept.path().join("s");
        let site =
            MarkdownStore::open(&kept.path().join("w"), &state, MarkdownLayout::PLAIN).unwrap();
        let memory = MarkdownMemory::new(site.clone());
        let finder = Finder::new(kept.path().join("index"), Vec::new(), Vec::new());
        let plan = |number: u128| {
            let at = "2026-11-16T10:00:00Z".parse().unwrap();
            let stamp = ProvenanceStamp::new(Uuid::from_u128(number), Origin::Agent, at);
            let text = "The fog tea ships on Tuesdays.".to_owned();
            let given = NewEntry { text, key: None, label: None, tags: Vec::new(), stamp };
            let place = Place::Daily(jiff::civil::date(2026, 11, 16));
            let asked = EntryRequest { given, place, category: None, secrets: Secrets::Report };
            let settings = RememberSettings::default();
            plan_remember(&memory, Some(&finder), asked, &settings, Timestamp::UNIX_EPOCH).unwrap()
        };
        // Both looked before either wrote.
        let (one, other) = (plan(1), plan(2));
        one.write(&memory, Uuid::from_u128(3), Timestamp::UNIX_EPOCH).unwrap();
        let refused = other.write(&memory, Uuid::from_u128(4), Timestamp::UNIX_EPOCH);
        assert!(matches!(refused, Err(RememberPlanError::Duplicate(_))), "{refused:?}");
        let log = site.read("memory/2026-11-16.md").unwrap().unwrap();
        assert_eq!(log.text().unwrap().matches("fog tea").count(), 1);
    }
}

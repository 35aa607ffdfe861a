//! Remembering something: planned, looked at, then written.
//!
//! A plan says what would be written and what speaks against it: secrets in it, entries that say
//! the same. Whether to write all the same is for whoever asked.

mod rows;

use anemone_format::ProvenanceStamp;
use anemone_secrets::{redact_text, scan};
use jiff::Timestamp;
use jiff::civil::Date;
use uuid::Uuid;

use crate::change::{Applied, ApplyError, Change, Edit};
use crate::duplicates::{Candidate, Duplicate, duplicates, same_in};
use crate::entry::Given;
use crate::finder::Finder;
use crate::memory::MemoryError;
use crate::page::{render, tidied, units};
use crate::store::{MarkdownStore, MarkdownStoreError, PageKind};
use crate::suspicion::suspicious;

pub use self::rows::{Look, RememberingRow, plan_remember_row};

/// Bytes of a text that is remembered, at most: more is a document, not a memory.
pub const MAX_TEXT_BYTES: usize = 64 << 10;
/// Somebody saves between reading and writing; nobody does it this often.
const TIMES: usize = 16;

/// Where something is remembered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// In the log of a day.
    Daily(Date),
    /// Among what was chosen to be kept.
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

/// What is to be remembered, and how.
#[derive(Clone, Debug)]
pub struct Asked {
    /// The text, and all that is known of it.
    pub given: Given,
    /// Where to.
    pub place: Place,
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
pub struct FoundSecret {
    /// What kind of secret.
    pub kind: &'static str,
    /// Where: `text`, `key`, `tag`, `source`, `session`, `supersedes`, or `entry` for all together.
    pub part: &'static str,
    /// The line of it, from 1.
    pub line: u64,
}

/// Something that somebody should know before it is written.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Caution {
    /// A stable word for it.
    pub code: &'static str,
    /// What it is.
    pub message: String,
}

/// What would be written, and what speaks against it.
#[derive(Clone, Debug)]
pub struct Remembering {
    /// What would be done.
    pub change: Change,
    /// The file it goes to.
    pub path: String,
    /// The entry as it would stand there.
    pub entry: String,
    /// What was asked for, without the secrets that were to be redacted.
    pub given: Given,
    /// Entries that say the same.
    pub duplicates: Vec<Duplicate>,
    /// Secrets that were found; where they were to be redacted, they are gone from the entry.
    pub secrets: Vec<FoundSecret>,
    /// What else there is to say.
    pub cautions: Vec<Caution>,
    place: Place,
    last_look: LastLook,
}

/// Whether the file is looked through once more when nobody else can write to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LastLook {
    /// It is not: the entry is written whatever the memory says.
    None,
    /// It is, unless the file still has the content with this digest.
    Unless(Option<[u8; 32]>),
}

/// Why something cannot be remembered.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RememberError {
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
    #[error("`{tag}` is not a valid tag: use letters, digits, `-`, `_` and `/`")]
    Tag {
        /// The tag.
        tag: String,
    },
    /// The name of a type would not be read as one.
    #[error("`{name}` is not a valid type: use letters, digits, `-` and `_`")]
    Type {
        /// The name.
        name: String,
    },
    /// The files.
    #[error(transparent)]
    Store(#[from] MarkdownStoreError),
    /// The database.
    #[error(transparent)]
    Memory(#[from] MemoryError),
}

/// Plans what is written to remember something. Without a finder nobody looks for entries that say
/// the same.
pub fn plan_remember(
    site: &MarkdownStore,
    finder: Option<&Finder>,
    asked: Asked,
    settings: &RememberSettings,
    now: Timestamp,
) -> Result<Remembering, RememberError> {
    let Asked { given, place, secrets } = asked;
    let (given, secrets, is_clear) = checked(given, secrets)?;
    let path = path_of(site, place);
    let last_look = match finder {
        Some(_) => LastLook::Unless(site.read(&path)?.map(|seen| seen.sha256)),
        None => LastLook::None,
    };
    let duplicates = match finder.filter(|_| is_clear) {
        Some(finder) => duplicates(site, finder, candidate(&given), settings.near_duplicate, now)?,
        None => Vec::new(),
    };
    let mut cautions = Vec::new();
    if let Some(name) = &given.stamp.supersedes
        && !is_known(site, name)?
    {
        let message = "no entry has the key or id that this one is to supersede".to_owned();
        cautions.push(Caution { code: "supersedes_nothing", message });
    }
    let odd = suspicious(&given.text);
    cautions.extend(odd.iter().map(|it| Caution {
        code: "suspicious",
        message: format!("a model may be misled by it ({}): {}", it.kind.as_str(), it.excerpt),
    }));
    let entry = render(&given);
    let change = change(site, place, &given, &entry)?;
    Ok(Remembering { change, path, entry, given, duplicates, secrets, cautions, place, last_look })
}

impl Remembering {
    /// Writes it. What somebody else saves meanwhile is kept, and the entry added to that; when
    /// they wrote the same, it is not written again.
    pub fn write(
        &self,
        site: &MarkdownStore,
        id: Uuid,
        now: Timestamp,
    ) -> Result<Applied, ApplyError> {
        let held = site.lock()?;
        self.look_again(site)?;
        let make = || held.apply(&change(site, self.place, &self.given, &self.entry)?, id, now);
        let mut last = make();
        for _ in 1..TIMES {
            if !matches!(last, Err(ApplyError::Changed { .. })) {
                break;
            }
            last = make();
        }
        last
    }

    /// Looks whether somebody wrote the same after it was planned.
    fn look_again(&self, site: &MarkdownStore) -> Result<(), ApplyError> {
        let LastLook::Unless(known) = self.last_look else { return Ok(()) };
        let Some(seen) = site.read(&self.path)?.filter(|seen| Some(seen.sha256) != known) else {
            return Ok(());
        };
        let text = String::from_utf8_lossy(&seen.bytes);
        match same_in(&self.path, &text, candidate(&self.given)) {
            Some(same) => Err(ApplyError::Duplicate(Box::new(same))),
            None => Ok(()),
        }
    }
}

fn candidate(given: &Given) -> Candidate<'_> {
    Candidate {
        text: &given.text,
        key: given.key.as_deref(),
        supersedes: given.stamp.supersedes.as_deref(),
    }
}

/// Returns what is to be remembered as it would be written, the secrets that were found in it, and
/// whether it may be looked at further.
fn checked(
    mut given: Given,
    secrets: Secrets,
) -> Result<(Given, Vec<FoundSecret>, bool), RememberError> {
    given.text = tidied(&given.text).trim_start().to_owned();
    check(&given)?;
    let found = look_for_secrets(&mut given, secrets);
    // A text with a secret goes nowhere, not even into a comparison.
    let is_clear = found.is_empty() || secrets == Secrets::Redact;
    Ok((given, found, is_clear))
}

fn check(given: &Given) -> Result<(), RememberError> {
    if given.text.trim().is_empty() {
        return Err(RememberError::Empty);
    }
    if given.text.len() > MAX_TEXT_BYTES {
        return Err(RememberError::TooLong { bytes: given.text.len() });
    }
    let is_word = |text: &str, more: &[char]| {
        let plain = |c: char| c.is_alphanumeric() || more.contains(&c);
        !text.is_empty() && text.len() <= 128 && text.chars().all(plain)
    };
    let short = |text: &str| text.chars().take(64).collect::<String>();
    if let Some(tag) = given.tags.iter().find(|it| !is_word(it, &['-', '_', '/'])) {
        return Err(RememberError::Tag { tag: short(tag) });
    }
    match &given.label {
        Some(label) if !is_word(&label.name, &['-', '_']) => {
            Err(RememberError::Type { name: short(&label.name) })
        }
        _ => Ok(()),
    }
}

/// Finds secrets in all that is written, and puts marks in their place where that is wanted.
fn look_for_secrets(given: &mut Given, secrets: Secrets) -> Vec<FoundSecret> {
    let mut found = Vec::new();
    let mut look = |part: &'static str, text: &mut String| {
        let hits = scan(text.as_bytes());
        if secrets == Secrets::Redact && !hits.is_empty() {
            *text = redact_text(text).0.into_owned();
        }
        let hits = hits.into_iter();
        found.extend(hits.map(|it| FoundSecret { kind: it.kind, part, line: it.line }));
    };
    look("text", &mut given.text);
    given.key.iter_mut().for_each(|it| look("key", it));
    given.tags.iter_mut().for_each(|it| look("tag", it));
    given.stamp.source.iter_mut().for_each(|it| look("source", it));
    given.stamp.session.iter_mut().for_each(|it| look("session", it));
    given.stamp.supersedes.iter_mut().for_each(|it| look("supersedes", it));
    found.extend(look_together(given, secrets));
    found
}

/// Finds secrets that only the parts together give away: a key that is called `password` and a text
/// that is one. What is found so is taken out of the text.
fn look_together(given: &mut Given, secrets: Secrets) -> Vec<FoundSecret> {
    let mut found = Vec::new();
    if let Some(key) = &given.key {
        let start = format!("{key}: ");
        let named = format!("{start}{}", given.text);
        let hits = scan(named.as_bytes());
        if !hits.is_empty() && scan(given.text.as_bytes()).is_empty() {
            found.extend(hits.iter().map(|it| FoundSecret {
                kind: it.kind,
                part: "text",
                line: it.line,
            }));
            if secrets == Secrets::Redact {
                let redacted = redact_text(&named).0;
                given.text = redacted.strip_prefix(&start).unwrap_or(&redacted).to_owned();
            }
        }
    }
    if found.is_empty() {
        // Tags, the type and what is superseded stand in the same line.
        let entry = render(given);
        let entry = ProvenanceStamp::at_end_of(&entry)
            .map_or(&entry[..], |(range, _)| &entry[..range.start]);
        let parts = [Some(&given.text), given.key.as_ref()];
        let is_known = parts.into_iter().flatten().any(|it| !scan(it.as_bytes()).is_empty());
        if !is_known {
            let hits = scan(entry.as_bytes()).into_iter();
            found.extend(hits.map(|it| FoundSecret {
                kind: it.kind,
                part: "entry",
                line: it.line,
            }));
            if secrets == Secrets::Redact && !found.is_empty() {
                given.tags.clear();
                given.stamp.supersedes = None;
            }
        }
    }
    found
}

fn path_of(site: &MarkdownStore, place: Place) -> String {
    match place {
        Place::Daily(day) => site.daily(day),
        Place::Curated => site.curated().to_owned(),
    }
}

/// Returns the change that adds an entry, as the files are now.
fn change(
    site: &MarkdownStore,
    place: Place,
    given: &Given,
    entry: &str,
) -> Result<Change, MarkdownStoreError> {
    let path = path_of(site, place);
    let edit = match place {
        Place::Daily(day) => {
            let seen = site.read(&path)?;
            site.appended(&path, seen.as_ref(), PageKind::Daily(day), entry)
        }
        Place::Curated => {
            let seen = site.read(&path)?;
            let head = site.head(PageKind::Curated);
            let before = seen.as_ref().map(|it| it.bytes.as_slice()).unwrap_or_default();
            let glue = Edit::glue(seen.as_ref(), &head);
            let added = site.added_to(seen.as_ref(), entry);
            let after = [before, glue.as_bytes(), added.as_bytes()].concat();
            Edit::Write { path, before: seen.map(|it| it.sha256), after }
        }
    };
    Ok(Change { stamps: vec![given.stamp.clone()], ..Change::new("remember", vec![edit]) })
}

/// Whether an entry has a key or id.
fn is_known(site: &MarkdownStore, name: &str) -> Result<bool, MarkdownStoreError> {
    for (path, _) in site.pages()? {
        let bytes = site.read_bytes(&path)?.unwrap_or_default();
        let text = String::from_utf8_lossy(&bytes);
        let is_it = |unit: &crate::page::ParsedEntry| {
            let id = unit.stamp.as_ref().map(|it| it.id.to_string());
            unit.key.as_deref() == Some(name) || id.as_deref() == Some(name)
        };
        // Taking a file apart costs more than looking for the name in it.
        if text.contains(name) && units(&text).iter().any(is_it) {
            return Ok(true);
        }
    }
    Ok(false)
}

#[cfg(test)]
mod tests {
    use anemone_format::Origin;

    use super::*;
    use crate::layout::MarkdownLayout;

    #[test]
    fn at_least_forty_kinds_of_secrets_are_known() {
        assert!(anemone_secrets::KINDS.len() >= 40, "{}", anemone_secrets::KINDS.len());
    }

    #[test]
    fn two_who_remember_the_same_at_once_write_it_once() {
        let kept = tempfile::tempdir().unwrap();
        fs_err::create_dir(kept.path().join("w")).unwrap();
        let state = kept.path().join("s");
        let site =
            MarkdownStore::open(&kept.path().join("w"), &state, MarkdownLayout::PLAIN).unwrap();
        let finder = Finder::new(kept.path().join("index"), Vec::new(), Vec::new());
        let plan = |number: u128| {
            let at = "2026-11-16T10:00:00Z".parse().unwrap();
            let stamp = ProvenanceStamp::new(Uuid::from_u128(number), Origin::Agent, at);
            let text = "The fog tea ships on Tuesdays.".to_owned();
            let given = Given { text, key: None, label: None, tags: Vec::new(), stamp };
            let place = Place::Daily(jiff::civil::date(2026, 11, 16));
            let asked = Asked { given, place, secrets: Secrets::Report };
            let settings = RememberSettings::default();
            plan_remember(&site, Some(&finder), asked, &settings, Timestamp::UNIX_EPOCH).unwrap()
        };
        // Both looked before either wrote.
        let (one, other) = (plan(1), plan(2));
        one.write(&site, Uuid::from_u128(3), Timestamp::UNIX_EPOCH).unwrap();
        let refused = other.write(&site, Uuid::from_u128(4), Timestamp::UNIX_EPOCH);
        assert!(matches!(refused, Err(ApplyError::Duplicate(_))), "{refused:?}");
        let log = site.read("memory/2026-11-16.md").unwrap().unwrap();
        assert_eq!(log.text().unwrap().matches("fog tea").count(), 1);
    }
}

//! How people name a commit.
//!
//! | text | commit |
//! |---|---|
//! | `@` | the newest one |
//! | `@-`, `@-3` | one or three before it, along the first parents |
//! | `4fd2c1`, `4fd2c1-2` | the one whose id begins so, or two before it |
//! | `NAME` | the newest one with this tag |
//! | `@{2026-03-01}` | the newest one at the end of that day |
//! | `@{2026-03-01 10:00}`, `@{2 days ago}` | the newest one at that moment |

use std::str::FromStr;

use jiff::civil::{Date, DateTime, Time};
use jiff::tz::TimeZone;
use jiff::{Span, Timestamp};

use crate::commit::CommitId;
use crate::history::{AgentHistory, HistoryError, WalkedCommit};

/// The fewest digits that name a commit.
const MIN_DIGITS: usize = 4;

/// A text that may name a commit; only a history can tell.
#[derive(Clone, Debug)]
pub struct Revision {
    text: String,
    start: RevisionStart,
    /// How many commits back from there.
    back: u32,
}

#[derive(Clone, Debug)]
enum RevisionStart {
    Newest,
    At(RevisionMoment),
    /// A tag, or the first digits of an id.
    Name(String),
}

/// A moment, as far as it can be told without a clock and a time zone.
#[derive(Clone, Debug)]
enum RevisionMoment {
    Exactly(Timestamp),
    Local(DateTime),
    Before(Span),
}

/// A text that names no commit in any history.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is no revision: {reason}")]
pub struct ParseRevisionError {
    text: String,
    reason: &'static str,
}

/// Why a revision names no commit in a history.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ResolveError {
    /// There is no commit yet.
    #[error("the agent has no backup yet")]
    Empty,
    /// Nothing has that name.
    #[error("there is no commit and no tag {0:?}")]
    Unknown(String),
    /// Several ids begin so.
    #[error("{text:?} names {} commits", .commits.len())]
    Ambiguous {
        /// The digits.
        text: String,
        /// The commits.
        commits: Vec<CommitId>,
    },
    /// Nothing is as old as that.
    #[error("{text:?} is before the first commit, which is of {oldest}")]
    TooEarly {
        /// The revision.
        text: String,
        /// The time of the oldest commit.
        oldest: Timestamp,
    },
    /// There are not as many commits.
    #[error("{text:?} is before the first commit: only {available} come before it")]
    TooFar {
        /// The revision.
        text: String,
        /// How many commits come before where it starts.
        available: u32,
    },
    /// The time is not one that a calendar has.
    #[error("{text:?} is no moment in this time zone")]
    Moment {
        /// The revision.
        text: String,
        /// Why.
        source: jiff::Error,
    },
    /// The history cannot be read.
    #[error(transparent)]
    History(#[from] HistoryError),
}

impl FromStr for Revision {
    type Err = ParseRevisionError;

    fn from_str(text: &str) -> Result<Self, ParseRevisionError> {
        let error = |reason| ParseRevisionError { text: text.chars().take(80).collect(), reason };
        if text.is_empty() {
            return Err(error("it is empty"));
        }
        if let Some(rest) = text.strip_prefix("@{") {
            let (inner, rest) = rest.split_once('}').ok_or_else(|| error("a } is missing"))?;
            let moment = RevisionMoment::parse(inner.trim())
                .ok_or_else(|| error("write a date, a date and a time, or such as `2 days ago`"))?;
            let back = parse_back(rest).ok_or_else(|| error("only -N may follow"))?;
            return Ok(Self { text: text.to_owned(), start: RevisionStart::At(moment), back });
        }
        if let Some(rest) = text.strip_prefix('@') {
            let back = parse_back(rest).ok_or_else(|| error("after @ comes -N or {TIME}"))?;
            return Ok(Self { text: text.to_owned(), start: RevisionStart::Newest, back });
        }
        let start = RevisionStart::Name(text.to_owned());
        Ok(Self { text: text.to_owned(), start, back: 0 })
    }
}

/// Reads `-`, `-3`, `--` or nothing as a number of commits.
fn parse_back(text: &str) -> Option<u32> {
    if text.is_empty() {
        return Some(0);
    }
    if text.bytes().all(|byte| byte == b'-') {
        return u32::try_from(text.len()).ok();
    }
    let digits = text.strip_prefix('-')?;
    digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().ok())?
}

impl RevisionMoment {
    fn parse(text: &str) -> Option<Self> {
        if let Ok(moment) = text.parse::<Timestamp>() {
            return Some(Self::Exactly(moment));
        }
        if let Ok(date) = text.parse::<Date>()
            && text.len() <= "2026-03-01".len()
        {
            let end = Time::new(23, 59, 59, 999_999_999).ok()?;
            return Some(Self::Local(date.to_datetime(end)));
        }
        if let Ok(moment) = text.parse::<DateTime>() {
            return Some(Self::Local(moment));
        }
        let ago = text.strip_suffix("ago")?.trim();
        ago.parse::<Span>().ok().map(|span| Self::Before(span.abs()))
    }

    fn resolve(&self, now: Timestamp, zone: &TimeZone) -> Result<Timestamp, jiff::Error> {
        match self {
            Self::Exactly(moment) => Ok(*moment),
            Self::Local(moment) => Ok(moment.to_zoned(zone.clone())?.timestamp()),
            Self::Before(span) => Ok(now.to_zoned(zone.clone()).checked_sub(*span)?.timestamp()),
        }
    }
}

impl Revision {
    /// Returns the text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Finds the commit. Times without a zone are of `zone`.
    pub fn resolve(
        &self,
        history: &AgentHistory<'_>,
        now: Timestamp,
        zone: &TimeZone,
    ) -> Result<WalkedCommit, ResolveError> {
        let heads = history.heads()?;
        let newest = heads.first().ok_or(ResolveError::Empty)?;
        let ids: Vec<CommitId> = heads.iter().map(|head| head.id).collect();
        let (start, back) = match &self.start {
            RevisionStart::Newest => (newest.clone(), self.back),
            RevisionStart::At(moment) => {
                let moment = moment
                    .resolve(now, zone)
                    .map_err(|source| ResolveError::Moment { text: self.text.clone(), source })?;
                let walked = history.walk(&ids).commits;
                let oldest = walked.iter().map(|walked| walked.commit.time.instant()).min();
                let at = walked.into_iter().find(|walked| walked.commit.time.instant() <= moment);
                let at = at.ok_or_else(|| ResolveError::TooEarly {
                    text: self.text.clone(),
                    oldest: oldest.unwrap_or(now),
                })?;
                (at, self.back)
            }
            RevisionStart::Name(name) => named(name, &history.walk(&ids).commits)?,
        };
        self.go_back(start, back, history)
    }

    fn go_back(
        &self,
        start: WalkedCommit,
        back: u32,
        history: &AgentHistory<'_>,
    ) -> Result<WalkedCommit, ResolveError> {
        let mut at = start;
        for available in 0..back {
            let text = || self.text.clone();
            let id = *at
                .commit
                .parents
                .first()
                .ok_or_else(|| ResolveError::TooFar { text: text(), available })?;
            at = WalkedCommit { id, commit: history.commit(id)? };
        }
        Ok(at)
    }
}

/// Finds a commit by a tag or the first digits of its id, with or without `-N` behind it.
fn named(name: &str, walked: &[WalkedCommit]) -> Result<(WalkedCommit, u32), ResolveError> {
    if let Some(found) = exactly_named(name, walked)? {
        return Ok((found, 0));
    }
    let stem = name.trim_end_matches(|c: char| c.is_ascii_digit()).trim_end_matches('-');
    if !stem.is_empty()
        && let Some(back) = parse_back(&name[stem.len()..]).filter(|back| *back > 0)
        && let Some(found) = exactly_named(stem, walked)?
    {
        return Ok((found, back));
    }
    // The digits of an id may themselves end the stem: `4fd2-1`.
    if let Some((stem, back)) = name.rsplit_once('-')
        && let Ok(back) = back.parse()
        && let Some(found) = exactly_named(stem, walked)?
    {
        return Ok((found, back));
    }
    Err(ResolveError::Unknown(name.to_owned()))
}

/// Finds the newest commit with a tag, or the one whose id begins with these digits.
fn exactly_named(
    name: &str,
    walked: &[WalkedCommit],
) -> Result<Option<WalkedCommit>, ResolveError> {
    let tagged = walked.iter().find(|walked| walked.commit.tags.iter().any(|tag| tag == name));
    if let Some(tagged) = tagged {
        return Ok(Some(tagged.clone()));
    }
    let digits = name.to_ascii_lowercase();
    let is_id = digits.len() >= MIN_DIGITS && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    if !is_id {
        return Ok(None);
    }
    let mut found = walked.iter().filter(|walked| walked.id.to_string().starts_with(&digits));
    match (found.next(), found.next()) {
        (Some(one), Some(other)) => {
            let mut commits = vec![one.id, other.id];
            commits.extend(found.map(|walked| walked.id));
            Err(ResolveError::Ambiguous { text: name.to_owned(), commits })
        }
        (found, _) => Ok(found.cloned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commit::tests::commit;
    use crate::memory::MemoryStorage;
    use crate::store::HistoryStore;

    /// Resolves revisions in a history of four days; the answer is the message of the commit.
    fn resolve(text: &str) -> Result<String, String> {
        let storage = MemoryStorage::new();
        let store = HistoryStore::open_or_create(&storage, uuid::Uuid::from_u128(1)).unwrap();
        let mut history = store.history(commit("", "2026-03-01T10:00:00Z", &[]).agent.id).unwrap();
        let mut parents = Vec::new();
        for (day, tags) in
            [(1, &["start", "both"][..]), (2, &["both", "v-2"]), (3, &[]), (4, &["fade"])]
        {
            let time = format!("2026-03-0{day}T10:00:00Z");
            let tags: Vec<String> = tags.iter().map(|tag| (*tag).to_owned()).collect();
            let mut commit = commit(&format!("day {day}"), &time, &parents);
            commit.tags = tags;
            parents = vec![history.publish(&commit, &[]).unwrap()];
        }
        let now = "2026-03-05T12:00:00Z".parse().unwrap();
        let zone = TimeZone::fixed(jiff::tz::offset(9));
        let text = text.replace("ID", &parents[0].to_string()[..10]);
        let revision: Revision =
            text.parse().map_err(|error: ParseRevisionError| error.to_string())?;
        let found = revision.resolve(&history, now, &zone).map_err(|error| error.to_string())?;
        Ok(found.commit.message.unwrap())
    }

    #[test]
    fn every_way_to_name_a_commit_works() {
        for (text, day) in [
            ("@", 4),
            ("@-", 3),
            ("@--", 2),
            ("@-3", 1),
            ("ID", 4),
            ("ID-2", 2),
            ("ID-", 3),
            ("start", 1),
            ("both", 2),
            ("both-1", 1),
            ("v-2", 2),
            ("v-2-1", 1),
            ("fade", 4),
            ("fade-1", 3),
            ("@{2026-03-02}", 2),
            // 10:00 in UTC is 19:00 in this zone.
            ("@{2026-03-03 18:00}", 2),
            ("@{2026-03-03T19:00}", 3),
            ("@{2026-03-03T19:00}-1", 2),
            ("@{2026-03-03T10:00:00Z}", 3),
            ("@{2 days ago}", 3),
            ("@{ 50 hours ago }", 3),
            ("@{1 week ago}", 0),
            ("@{2030-01-01}", 4),
        ] {
            match resolve(text) {
                Ok(message) => assert_eq!(message, format!("day {day}"), "{text}"),
                Err(error) => {
                    assert!(day == 0 && error.contains("before the first"), "{text}: {error}");
                }
            }
        }
    }

    #[test]
    fn what_names_no_commit_says_why() {
        for (text, reason) in [
            ("", "empty"),
            ("@x", "after @"),
            ("@{", "} is missing"),
            ("@{someday}", "write a date"),
            ("@{2026-13-01}", "write a date"),
            ("@-4", "only 3 come before"),
            ("start-1", "only 0 come before"),
            ("@{2020-01-01}", "before the first commit"),
            ("nothing", "no commit and no tag"),
            ("abcdefabcdef", "no commit and no tag"),
            ("@-99999999999999", "after @"),
        ] {
            let error = resolve(text).unwrap_err();
            assert!(error.contains(reason), "{text}: {error}");
        }
    }
}

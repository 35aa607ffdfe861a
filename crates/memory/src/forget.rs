//! Forgetting: which entries go, how their files look without them, and what is left to say that
//! there was something.
//!
//! What is left is a line in `<state>/tombstones.jsonl`. It names the entry by its id and by
//! digests of its key and its text, never by the text itself, so that the same text can be
//! recognised when it comes back, and nobody can read it there.
//!
//! ```text
//! {"id":"019a...","key_sha256":"...","text_sha256":"...","path":"MEMORY.md","at":"...","why":"forget"}
//! ```

use std::io::{self, Write as _};
use std::path::PathBuf;

use anemone_format::sha256_hex;
use fs_err::os::unix::fs::OpenOptionsExt as _;
use jiff::Timestamp;
use serde::Serialize;
use uuid::Uuid;

use crate::change::{Change, Edit};
use crate::page::key_prefix;
use crate::placed::{Placed, without};
use crate::site::{Held, Seen, Site, SiteError};

/// Which entries are to be forgotten.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// All entries of a key, the replaced ones with it.
    Key(String),
    /// One entry, or those of a quote such as `MEMORY.md#L8-L12`.
    Ids(Vec<String>),
    /// All that was written in a session.
    Session(String),
    /// All that was written in a time; both ends belong to it.
    Written {
        /// From here.
        since: Option<Timestamp>,
        /// To here.
        until: Option<Timestamp>,
    },
}

/// An entry that goes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Condemned {
    /// Its id.
    pub id: String,
    /// What it is called.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// Its file, or the database.
    pub path: String,
    /// Its lines in the file, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lines: Option<(usize, usize)>,
    /// When it was written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub written: Option<String>,
    /// The text.
    pub text: String,
}

/// How entries are forgotten.
#[derive(Clone, Debug)]
pub struct ForgetPlan {
    /// What goes, in the order of the files.
    pub entries: Vec<Condemned>,
    /// What is done to the files.
    pub change: Change,
    /// Files that could not be looked into, and why.
    pub skipped: Vec<(String, String)>,
}

impl Wanted {
    fn takes(&self, it: &Placed) -> bool {
        match self {
            Self::Key(key) => it.key() == key,
            Self::Ids(ids) => ids.iter().any(|id| it.has_id(id)),
            Self::Session(session) => it.session() == Some(session),
            Self::Written { since, until } => it.written().is_some_and(|at| {
                since.is_none_or(|since| at >= since) && until.is_none_or(|until| at <= until)
            }),
        }
    }
}

impl Wanted {
    /// Whether a file can have any such entry; `false` is certain.
    fn may_be_in(&self, path: &str, text: &str) -> bool {
        let Self::Key(key) = self else { return true };
        let place = key.strip_prefix(path).is_some_and(|it| it.starts_with("#L"));
        // What has no key is called by its id, which can be spelled in more than one way.
        place
            || Uuid::try_parse(key).is_ok()
            || text.contains(&format!("**{key}**:"))
            || text.contains(&key_prefix(key))
    }
}

impl Held<'_> {
    /// Plans what is to be forgotten, everywhere in the files of the memory, also where they were
    /// put away.
    pub fn plan_forget(&self, wanted: &Wanted) -> Result<ForgetPlan, SiteError> {
        self.site().plan_forget(wanted)
    }

    /// Notes that entries are gone. Nothing of their texts is noted.
    pub fn bury(&self, gone: &[Condemned], why: &str, now: Timestamp) -> Result<(), SiteError> {
        bury(self.site(), gone, why, now)
    }
}

impl Site {
    /// As [`Held::plan_forget`], only to show it: what is applied is planned under the lock.
    pub fn plan_forget(&self, wanted: &Wanted) -> Result<ForgetPlan, SiteError> {
        let all = self.entries_where(&|path, text| wanted.may_be_in(path, text))?;
        let gone: Vec<&Placed> = all.placed.iter().filter(|it| wanted.takes(it)).collect();
        let mut edits = Vec::new();
        for seen in &all.pages {
            let of_page: Vec<&Placed> =
                gone.iter().copied().filter(|it| it.path == seen.path).collect();
            if !of_page.is_empty() {
                edits.push(cut(seen, &of_page)?);
            }
        }
        let skipped = all.skipped.iter().map(|(path, why)| (path.clone(), reason(why)));
        Ok(ForgetPlan {
            entries: gone.into_iter().map(Condemned::of).collect(),
            change: Change { what: "forget".to_owned(), edits },
            skipped: skipped.collect(),
        })
    }

    /// Returns the file of tombstones.
    #[must_use]
    pub fn tombstones(&self) -> PathBuf {
        self.state().join("tombstones.jsonl")
    }
}

fn cut(seen: &Seen, gone: &[&Placed]) -> Result<Edit, SiteError> {
    Ok(Edit::replace(seen, without(seen.text()?, gone).into_bytes()))
}

fn reason(error: &SiteError) -> String {
    match error {
        SiteError::Io { source, .. } => source.to_string(),
        SiteError::NotPlain { .. } => "not a plain file".to_owned(),
        SiteError::NotText { .. } => "not UTF-8".to_owned(),
        SiteError::Outside { .. } => "outside the workspace".to_owned(),
        SiteError::TooLarge { .. } => "too large".to_owned(),
        SiteError::Busy { .. } => "somebody else is writing".to_owned(),
        SiteError::Saving { .. } => "somebody else is saving it".to_owned(),
        SiteError::Journal(error) => error.to_string(),
    }
}

impl Condemned {
    fn of(it: &Placed) -> Self {
        Self {
            id: it.id.clone(),
            key: it.unit.key.clone(),
            path: it.path.clone(),
            lines: Some(it.unit.lines),
            written: Some(it.entry().timestamp).filter(|it| !it.is_empty()),
            text: it.unit.content.clone(),
        }
    }
}

#[derive(Serialize)]
struct Tombstone<'a> {
    id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    key_sha256: Option<String>,
    text_sha256: String,
    path: &'a str,
    at: String,
    why: &'a str,
}

pub(crate) fn bury(
    site: &Site,
    gone: &[Condemned],
    why: &str,
    now: Timestamp,
) -> Result<(), SiteError> {
    let path = site.tombstones();
    let mut lines = String::new();
    let write = |lines: &mut String| -> io::Result<()> {
        for it in gone {
            let stone = Tombstone {
                id: &it.id,
                key_sha256: it.key.as_ref().map(|it| sha256_hex(it.as_bytes())),
                text_sha256: sha256_hex(it.text.as_bytes()),
                path: &it.path,
                at: now.to_string(),
                why,
            };
            lines.push_str(&serde_json::to_string(&stone)?);
            lines.push('\n');
        }
        fs_err::create_dir_all(site.state())?;
        let mut options = fs_err::OpenOptions::new();
        let mut file = options.create(true).append(true).mode(0o600).open(&path)?;
        file.write_all(lines.as_bytes())?;
        file.sync_all()
    };
    write(&mut lines).map_err(|source| SiteError::Io { path, source })
}

//! Remembering something in a database of ZeroClaw's: the same checks, and a row instead of an
//! entry in a file.

use jiff::Timestamp;
use uuid::Uuid;

use super::{Asked, Caution, FoundSecret, Place, RememberError, RememberSettings, checked};
use crate::duplicates::{Candidate, Duplicate};
use crate::entry::{Category, Given};
use crate::journal::ChangeId;
use crate::memory::MemoryError;
use crate::sqlite::{RowsWanted, SqliteMemory, is_private, row_content, row_key};
use crate::store::LockedStore;

/// Whether somebody looks for entries that say the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Look {
    /// Nobody does.
    Away,
    /// They are looked for.
    ForDuplicates,
}

/// A row that would be written, and what speaks against it.
#[derive(Clone, Debug)]
pub struct RememberingRow {
    /// What was asked for, without the secrets that were to be redacted.
    pub given: Given,
    /// The id that the row has: that of the row whose text it replaces, where one has the key.
    pub id: String,
    /// The kind of row.
    pub category: Category,
    /// What it is called.
    pub key: String,
    /// Its text.
    pub content: String,
    /// Rows that say the same.
    pub duplicates: Vec<Duplicate>,
    /// Secrets that were found; where they were to be redacted, they are gone from the text.
    pub secrets: Vec<FoundSecret>,
    /// What else there is to say.
    pub cautions: Vec<Caution>,
}

/// Plans the row that is written to remember something; without a memory there is no database yet.
pub fn plan_remember_row(
    memory: Option<&SqliteMemory>,
    look: Look,
    asked: Asked,
    settings: &RememberSettings,
) -> Result<RememberingRow, RememberError> {
    let category = match asked.place {
        Place::Curated => Category::Core,
        Place::Daily(_) => Category::Daily,
    };
    let (given, secrets, is_clear) = checked(asked.given, asked.secrets)?;
    let key = row_key(&given);
    if is_private(&key) {
        return Err(MemoryError::PrivateKey.into());
    }
    let there = match memory {
        Some(memory) => memory.rows_matching(&RowsWanted::Key(key.clone()))?,
        None => Vec::new(),
    };
    let id = match there.into_iter().next() {
        Some(row) => row.entry.id,
        None => given.stamp.id.to_string(),
    };
    let duplicates = match memory.filter(|_| is_clear && look == Look::ForDuplicates) {
        Some(memory) => {
            let candidate = Candidate {
                text: &given.text,
                key: given.key.as_deref(),
                supersedes: given.stamp.supersedes.as_deref(),
            };
            memory.duplicates(candidate, settings.near_duplicate)?
        }
        None => Vec::new(),
    };
    let mut cautions = Vec::new();
    if let Some(name) = &given.stamp.supersedes {
        cautions.extend(cannot_supersede(memory, name)?);
    }
    let content = row_content(&given);
    Ok(RememberingRow { given, id, category, key, content, duplicates, secrets, cautions })
}

/// Says why a row would not take the place of another one.
fn cannot_supersede(
    memory: Option<&SqliteMemory>,
    name: &str,
) -> Result<Option<Caution>, MemoryError> {
    let nothing = || Caution {
        code: "supersedes_nothing",
        message: "no row has the key or id that this one is to supersede".to_owned(),
    };
    let Some(memory) = memory else { return Ok(Some(nothing())) };
    let is_there =
        |wanted: RowsWanted| Ok::<_, MemoryError>(!memory.rows_matching(&wanted)?.is_empty());
    if !is_there(RowsWanted::Key(name.to_owned()))?
        && !is_there(RowsWanted::Ids(vec![name.to_owned()]))?
    {
        return Ok(Some(nothing()));
    }
    Ok((!memory.can_supersede()).then(|| Caution {
        code: "cannot_supersede",
        message: "this database is too old to say that a row no longer holds: the old one stays"
            .to_owned(),
    }))
}

impl RememberingRow {
    /// Writes it.
    pub fn write(
        &self,
        held: &LockedStore<'_>,
        memory: &SqliteMemory,
        id: Uuid,
        now: Timestamp,
    ) -> Result<ChangeId, MemoryError> {
        let row = (self.given.clone(), self.category.clone());
        held.write_rows("remember", memory, &[row], id, now)
    }
}

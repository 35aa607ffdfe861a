//! What is taken back in a database.

use anemone::host::SharedClock;
use anemone::system::SystemClock;
use anemone_memory::{ChangeId, LockedStore, NotedRows, RowsBack, SqliteMemory};
use jiff::Timestamp;
use uuid::Uuid;

use crate::error::{CliError, Kind};
use crate::living::{no_finder, open_rows};

const HINT: &str = "pass the change over with `anemone undo --skip`";

/// Says what would be done.
pub(super) fn plan(noted: &NotedRows) -> Result<RowsBack, CliError> {
    checked(noted, open(noted)?.plan_back(noted)?)
}

/// Takes a change back.
pub(super) fn take_back(
    held: &LockedStore<'_>,
    change: ChangeId,
    noted: &NotedRows,
    id: Uuid,
    now: Timestamp,
) -> Result<RowsBack, CliError> {
    checked(noted, held.undo_rows(change, noted, &open(noted)?, id, now)?)
}

fn open(noted: &NotedRows) -> Result<SqliteMemory, CliError> {
    if !noted.database.is_file() {
        let message = "the database that was changed is no longer there";
        let error = CliError::new(Kind::Failed, "database_gone", message);
        return Err(error.about(&noted.database).hint(HINT));
    }
    let clock = SharedClock::new(SystemClock);
    Ok(open_rows(&noted.database, &noted.alias, no_finder(), &clock)?)
}

fn checked(noted: &NotedRows, back: RowsBack) -> Result<RowsBack, CliError> {
    let Some(key) = back.changed.first() else { return Ok(back) };
    let message =
        format!("the row {key:?} was changed by somebody else since; nothing was taken back");
    Err(CliError::new(Kind::Conflict, "changed", message).about(&noted.database).hint(HINT))
}

//! Counts outdated rows of a ZeroClaw database; nothing is removed here.

use std::collections::HashSet;
use std::path::Path;

use jiff::civil::Date;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

use crate::kit::with_suffix;
use crate::zeroclaw::schema::TIMESTAMP;

/// Counts the rows of a category that were last written before a day; `None` when there is no such
/// database or table. A database of the first documents has one time for a row. The database is
/// only read.
pub(super) fn count_past_rows(
    database: &Path,
    category: &str,
    before: Date,
) -> Result<Option<u64>, rusqlite::Error> {
    if !database.is_file() {
        return Ok(None);
    }
    let connection = open(database)?;
    // A view could run anything.
    let sql = "SELECT name FROM pragma_table_info('memories')
        WHERE (SELECT type FROM sqlite_schema WHERE name = 'memories') IS 'table'";
    let columns: HashSet<String> =
        connection.prepare(sql)?.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
    let time = ["updated_at", TIMESTAMP].into_iter().find(|name| columns.contains(*name));
    let Some(time) = time.filter(|_| columns.contains("category")) else { return Ok(None) };
    let sql = format!("SELECT count(*) FROM memories WHERE category = ?1 AND {time} < ?2");
    let count: i64 =
        connection.query_row(&sql, (category, before.to_string()), |row| row.get(0))?;
    Ok(u64::try_from(count).ok())
}

/// Opens a database so that nothing is written beside it, unless another process is writing.
fn open(database: &Path) -> Result<Connection, rusqlite::Error> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let log = with_suffix(database, "-wal");
    let is_written = fs_err::metadata(&log).is_ok_and(|log| log.len() > 0);
    let connection = if is_written {
        Connection::open_with_flags(database, flags)?
    } else {
        let mut place = String::from("file:");
        for byte in database.as_os_str().as_encoded_bytes() {
            match byte {
                b'/' | b'.' | b'-' | b'_' => place.push(char::from(*byte)),
                byte if byte.is_ascii_alphanumeric() => place.push(char::from(*byte)),
                byte => place.push_str(&format!("%{byte:02X}")),
            }
        }
        place.push_str("?immutable=1");
        Connection::open_with_flags(place, flags | OpenFlags::SQLITE_OPEN_URI)?
    };
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    Ok(connection)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_rows_of_a_category_are_counted_and_nothing_is_left_beside_the_database() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a b%.db");
        let before = jiff::civil::date(2026, 10, 17);
        assert_eq!(count_past_rows(&path, "conversation", before).unwrap(), None);
        let connection = Connection::open(&path).unwrap();
        connection
            .execute_batch(
                "PRAGMA journal_mode = wal; CREATE TABLE memories(category, updated_at);
                 INSERT INTO memories VALUES ('conversation', '2026-10-16T23:00:00+00:00'),
                 ('conversation', '2026-10-17T01:00:00+00:00'), ('core', '2020-01-01');",
            )
            .unwrap();
        assert_eq!(count_past_rows(&path, "conversation", before).unwrap(), Some(1));
        drop(connection);
        assert_eq!(count_past_rows(&path, "conversation", before).unwrap(), Some(1));
        assert_eq!(fs_err::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn rows_with_one_time_are_counted_by_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("memory.db");
        let connection = Connection::open(&path).unwrap();
        let sql = "CREATE TABLE memories(category, timestamp);
             INSERT INTO memories VALUES ('conversation', '2026-10-16T23:00:00Z'),
             ('conversation', '2026-10-17T01:00:00Z'), ('core', '2020-01-01');";
        connection.execute_batch(sql).unwrap();
        let before = jiff::civil::date(2026, 10, 17);
        assert_eq!(count_past_rows(&path, "conversation", before).unwrap(), Some(1));
    }
}

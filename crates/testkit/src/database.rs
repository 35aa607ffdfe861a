//! A database by its SQL: what another program would have left.

use std::path::Path;

use rusqlite::Connection;

/// Makes a database, or changes one.
pub fn write_database(path: &Path, script: &str) -> rusqlite::Result<()> {
    Connection::open(path)?.execute_batch(script)
}

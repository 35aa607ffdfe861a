//! The paths in a state folder, and the databases in it.

use std::path::{Path, PathBuf};

use super::discover::GEN_9;
use crate::kit::{
    CopyError, Database, DatabaseError, FoundAgent, Machine, Read, ReadOptions, Rows, Warning,
    is_name,
};

/// The database of an install of the newer generation.
pub(super) const STATE_DATABASE: &str = "state/openclaw.sqlite";
/// The newer generation's database of an agent, below [`agent_folder`].
pub(super) const AGENT_DATABASE: &str = "agent/openclaw-agent.sqlite";
/// The older generation's auth profiles of an agent, below [`agent_folder`].
pub(super) const PROFILES_FILE: &str = "agent/auth-profiles.json";

/// Returns the folder that an install keeps for an agent; an alias that is not a file name has
/// none.
pub(super) fn agent_folder(alias: &str) -> Option<PathBuf> {
    is_name(alias).then(|| Path::new("agents").join(alias))
}

/// A database of an install: copied once for everything that is read from it, because it may be
/// gigabytes.
#[derive(Debug)]
pub(super) struct InstallDatabase {
    path: PathBuf,
    database: Database,
    /// The names of its tables.
    tables: Vec<String>,
}

impl InstallDatabase {
    /// Copies the agent's own database if a reading needs it; `None` where there is none.
    pub(super) fn of_agent(
        machine: &Machine,
        agent: &FoundAgent,
        options: &ReadOptions<'_>,
    ) -> Result<Option<Self>, Warning> {
        // The older generation has only the index in it.
        let is_needed = agent.generation == Some(GEN_9) || options.embeddings;
        let Some(path) = agent.database.as_ref().filter(|_| is_needed) else { return Ok(None) };
        Self::open(machine, path).map_err(|error| {
            let message = format!("what only the database of the agent has is missing: {error}");
            Warning::about("database_unreadable", path.display(), message)
        })
    }

    /// Copies a database and lists its tables; `None` when it does not exist.
    pub(super) fn open(machine: &Machine, path: &Path) -> Result<Option<Self>, DatabaseError> {
        let database = match Database::open(machine, path) {
            Ok(database) => database,
            Err(DatabaseError::Copy(CopyError::Missing { .. })) => return Ok(None),
            Err(error) => return Err(error),
        };
        let tables = database.tables()?.into_iter().map(|table| table.name).collect();
        Ok(Some(Self { path: path.to_owned(), database, tables }))
    }

    /// Where it is.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Whether it has a table.
    pub(super) fn has(&self, table: &str) -> bool {
        self.tables.iter().any(|name| name == table)
    }

    /// Reads columns of a table; `None` when there is no such table.
    pub(super) fn rows(&self, read: &Read) -> Result<Option<Rows>, DatabaseError> {
        if self.has(&read.table) { self.database.rows(read).map(Some) } else { Ok(None) }
    }
}

#[cfg(test)]
mod tests {
    use tempfile::TempDir;

    use super::*;
    use crate::kit::database::tests::machine;
    use crate::openclaw::RUNTIME;

    #[test]
    fn no_database_is_no_error_and_a_broken_one_is_one_warning() {
        let home = TempDir::new().unwrap();
        let machine = machine(home.path());
        let mut agent = FoundAgent::without_install(RUNTIME, "main".into(), PathBuf::new());
        agent.generation = Some(GEN_9);
        let options = ReadOptions { sessions: true, ..ReadOptions::default() };
        let open = |agent: &FoundAgent| InstallDatabase::of_agent(&machine, agent, &options);
        assert!(open(&agent).unwrap().is_none());
        agent.database = Some(home.path().join("absent"));
        assert!(open(&agent).unwrap().is_none());
        let broken = home.path().join("broken");
        fs_err::write(&broken, "no database, surely no database".repeat(50)).unwrap();
        agent.database = Some(broken);
        assert_eq!(open(&agent).unwrap_err().code, "database_unreadable");
    }
}

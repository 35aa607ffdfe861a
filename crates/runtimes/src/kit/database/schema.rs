//! The schema of a table of memories, for runtimes that keep memories as rows: plain data that the
//! folder of the runtime provides.

use std::time::Duration;

/// The tables that a runtime keeps memories in, and the statements that create and fill them.
#[derive(Debug)]
pub(crate) struct RowSchema {
    /// The table of memories.
    pub(crate) table: &'static str,
    /// The key column of memories.
    pub(crate) key: &'static str,
    /// The column that names the owner of a row, where several agents share a database.
    pub(crate) owner: &'static str,
    /// The columns that the runtime knows, with their definitions in a new table.
    pub(crate) columns: &'static [(&'static str, &'static str)],
    /// The columns that it adds to an older table.
    pub(crate) addable: &'static [&'static str],
    /// The constraint that keeps the key of an owner's memory unique.
    pub(crate) unique_key: &'static str,
    /// Indexes, with the columns that they need.
    pub(crate) indexes: &'static [(&'static str, &'static [&'static str])],
    /// The full-text index, and the statement that creates it.
    pub(crate) search: (&'static str, &'static str),
    /// The triggers that keep the full-text index in step: names and statements.
    pub(crate) triggers: &'static [(&'static str, &'static str)],
    /// The table of owners.
    pub(crate) owners: OwnerTable,
    /// The table of settings, the statement that creates it, and the one that adds a missing
    /// setting.
    pub(crate) settings: (&'static str, &'static str, &'static str),
    /// Creates the table of versions.
    pub(crate) make_versions: &'static str,
    /// Notes the version that a new database has; its parameter is the time.
    pub(crate) set_version: &'static str,
    /// Creates what else the runtime keeps beside the memories.
    pub(crate) make_others: &'static str,
    /// Our own table of where rows come from, the statement that creates it, and the one that
    /// stores a stamp for a row by its number.
    pub(crate) stamps: (&'static str, &'static str, &'static str),
    /// How long a restore waits for another writer: the agent should be stopped.
    pub(crate) wait: Duration,
}

/// The table of the agents that share a database.
#[derive(Debug)]
pub(crate) struct OwnerTable {
    /// Its name.
    pub(crate) name: &'static str,
    /// Creates it.
    pub(crate) make: &'static str,
    /// Finds the id of a name.
    pub(crate) find: &'static str,
    /// Adds an id, a name and a time.
    pub(crate) add: &'static str,
    /// Sets the id and the time of the entry whose id is the third parameter.
    pub(crate) change: &'static str,
}

impl RowSchema {
    /// Returns how a runtime keeps rows.
    pub(super) fn of(runtime: &str) -> Option<&'static Self> {
        Some(crate::by_name(runtime)?.records.rows?.schema)
    }

    /// Returns a column that the runtime knows, as it spells it, with its definition.
    pub(crate) fn column(&self, name: &str) -> Option<(&'static str, &'static str)> {
        self.columns.iter().copied().find(|(known, _)| known.eq_ignore_ascii_case(name))
    }

    /// Returns whether the runtime adds a column to tables that were created before it.
    pub(crate) fn is_addable(&self, name: &str) -> bool {
        self.addable.iter().any(|known| known.eq_ignore_ascii_case(name))
    }

    /// Returns the statements that create the indexes of a table with certain columns.
    pub(crate) fn indexes(&self, has: impl Fn(&str) -> bool) -> impl Iterator<Item = String> {
        let fitting =
            self.indexes.iter().filter(move |(_, on)| on.iter().all(|column| has(column)));
        fitting.map(|(name, on)| {
            let (table, on) = (self.table, on.join(", "));
            format!("CREATE INDEX IF NOT EXISTS {name} ON {table}({on});")
        })
    }

    /// Returns the name of the runtime's trigger that a statement defines; `None` for any other one.
    pub(crate) fn own_trigger(&self, sql: &str) -> Option<&'static str> {
        self.triggers.iter().find(|(_, known)| is_same_sql(sql, known)).map(|(name, _)| *name)
    }
}

/// Compares two definitions, whatever their whitespace, their case and how names are quoted.
pub(super) fn is_same_sql(one: &str, other: &str) -> bool {
    let plain = |sql: &str| {
        let sql: String = sql.chars().filter(|c| !c.is_whitespace() && *c != '"').collect();
        sql.to_ascii_lowercase().replacen("ifnotexists", "", 1)
    };
    plain(one) == plain(other)
}

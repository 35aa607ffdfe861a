//! The programs that can be connected.

use std::fmt;
use std::ops::Deref;

use anemone_runtimes::connect::Connect;
use anemone_runtimes::connects;

use super::record::Record;

/// A program whose configuration we edit.
#[derive(Clone, Copy)]
pub struct ConnectTarget(&'static Connect);

impl ConnectTarget {
    /// Returns all of them, in the order of help texts.
    pub fn all() -> impl Iterator<Item = Self> {
        connects().map(Self)
    }

    /// Returns the program of a name.
    #[must_use]
    pub fn of_name(name: &str) -> Option<Self> {
        Self::all().find(|target| target.name == name)
    }

    /// Whether the written entries let the program write to the memory.
    pub(super) fn writes(self, record: &Record) -> bool {
        record.edits().any(self.0.writes)
    }
}

impl Deref for ConnectTarget {
    type Target = Connect;

    fn deref(&self) -> &Connect {
        self.0
    }
}

impl PartialEq for ConnectTarget {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for ConnectTarget {}

impl fmt::Debug for ConnectTarget {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("ConnectTarget").field(&self.name).finish()
    }
}

/// A program that a memory can be given to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Program {
    /// A program whose configuration we edit.
    Known(ConnectTarget),
    /// Any other MCP client; the user edits its configuration.
    Other(String),
}

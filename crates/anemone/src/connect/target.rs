//! The programs that can be connected.

use std::fmt;

use anemone_runtimes::connect::{
    Connect, ConnectOption, ConnectPlace, ConnectedMemory, Connection, DesiredConfig, RefuseError,
};
use anemone_runtimes::connects;
use serde_json::Value;

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
        Self::all().find(|target| target.name() == name)
    }

    /// Returns the name by which a user chooses it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.0.name
    }

    /// Returns the program's name, as people write it.
    #[must_use]
    pub const fn title(self) -> &'static str {
        self.0.title
    }

    /// Returns where its configuration is, in words for a help text.
    #[must_use]
    pub const fn config(self) -> &'static str {
        self.0.config
    }

    pub(super) fn takes(self, option: ConnectOption) -> bool {
        self.0.takes(option)
    }

    pub(super) const fn memory(self) -> ConnectedMemory {
        self.0.memory
    }

    pub(super) fn locate(self, place: &ConnectPlace<'_>) -> DesiredConfig {
        (self.0.locate)(place)
    }

    pub(super) fn desire(
        self,
        place: &ConnectPlace<'_>,
        connection: &Connection<'_>,
    ) -> Result<DesiredConfig, RefuseError> {
        (self.0.desire)(place, connection)
    }

    /// Whether what was written lets the program write into the memory by itself.
    pub(super) fn writes(self, record: &Record) -> bool {
        record.edits().any(self.0.writes)
    }

    pub(super) fn shows_tools_to(self, document: &Value, agent: &str) -> bool {
        (self.0.shows_tools_to)(document, agent)
    }
}

impl PartialEq for ConnectTarget {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name()
    }
}

impl Eq for ConnectTarget {}

impl fmt::Debug for ConnectTarget {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("ConnectTarget").field(&self.name()).finish()
    }
}

/// A program that a memory can be given to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Program {
    /// One whose configuration we edit.
    Known(ConnectTarget),
    /// Any other MCP client; the user edits its configuration.
    Other(String),
}

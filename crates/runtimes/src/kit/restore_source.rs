//! A snapshot that is to become an agent.

use std::collections::HashMap;
use std::io::{self, Read};

use anemone_format::{
    Attachments, Credentials, Identity, Manifest, Principals, Record, RecordId, RecordPlace,
    SnapshotSource, SourceFile,
};

use crate::kit::{Machine, PlanError, ReturningSnapshot, Warning};

/// A snapshot that is to become an agent of one runtime, and what it kept from an earlier stay of
/// the agent there. It is opened once for the plan, its application and the proof.
///
/// As a source, it describes the agent after the import. If the agent comes back, records and files
/// are as they were in that runtime, with the changes made meanwhile; persona, people and keys are
/// the current ones.
pub struct RestoreSource<'a> {
    snapshot: &'a dyn SnapshotSource,
    returning: Option<ReturningSnapshot<'a>>,
    warnings: Vec<Warning>,
}

impl<'a> RestoreSource<'a> {
    /// Opens a snapshot for an agent of `runtime`, and looks for what it kept from that runtime. A
    /// snapshot that was read from the same runtime does not come back, whatever sidecar it has.
    pub fn open(
        machine: &Machine,
        snapshot: &'a dyn SnapshotSource,
        runtime: &str,
    ) -> Result<Self, PlanError> {
        let mut source = Self::new(snapshot);
        if snapshot.manifest().agent.source_runtime != runtime {
            source.returning =
                ReturningSnapshot::open(machine, snapshot, runtime, &mut source.warnings)?;
        }
        Ok(source)
    }

    /// Takes a snapshot that comes as it is.
    pub(crate) const fn new(snapshot: &'a dyn SnapshotSource) -> Self {
        Self { snapshot, returning: None, warnings: Vec::new() }
    }

    /// Returns the snapshot itself, with which a plan is applied.
    #[must_use]
    pub const fn snapshot(&self) -> &'a dyn SnapshotSource {
        self.snapshot
    }

    /// Whether the agent was in the runtime before, and comes back.
    #[must_use]
    pub const fn is_returning(&self) -> bool {
        self.returning.is_some()
    }

    /// Returns, for each record of the snapshot that the runtime had before, which one it was.
    #[must_use]
    pub fn origins(&self) -> HashMap<RecordId, RecordId> {
        self.returning.iter().flat_map(ReturningSnapshot::origins).collect()
    }

    /// Whether it is a snapshot of this runtime: it was read there, or comes back.
    pub(crate) fn is_of(&self, runtime: &str) -> bool {
        self.is_returning() || self.snapshot.manifest().agent.source_runtime == runtime
    }

    pub(crate) const fn returning(&self) -> Option<&ReturningSnapshot<'a>> {
        self.returning.as_ref()
    }

    /// Returns the snapshot of the runtime: what comes back, or else the snapshot itself.
    pub(crate) fn current(&self) -> &dyn SnapshotSource {
        self.returning().map_or(self.snapshot, |returning| returning)
    }

    /// Returns warnings about what was kept.
    pub(crate) fn warnings(&self) -> &[Warning] {
        &self.warnings
    }
}

impl SnapshotSource for RestoreSource<'_> {
    fn manifest(&self) -> &Manifest {
        self.current().manifest()
    }

    fn identity(&self) -> io::Result<Option<Identity>> {
        self.snapshot.identity()
    }

    fn principals(&self) -> io::Result<Option<Principals>> {
        self.snapshot.principals()
    }

    fn credentials(&self) -> io::Result<Option<Credentials>> {
        self.snapshot.credentials()
    }

    fn attachments(&self) -> io::Result<Option<Attachments>> {
        self.snapshot.attachments()
    }

    fn files(&self) -> &[SourceFile] {
        self.current().files()
    }

    fn content(&self, file: usize) -> io::Result<Box<dyn Read + '_>> {
        self.current().content(file)
    }

    fn each_record(&self, take: &mut dyn FnMut(&Record) -> io::Result<()>) -> io::Result<()> {
        self.current().each_record(take)
    }

    fn each_record_place(&self, take: &mut dyn FnMut(&RecordPlace<'_>)) -> io::Result<()> {
        self.current().each_record_place(take)
    }
}

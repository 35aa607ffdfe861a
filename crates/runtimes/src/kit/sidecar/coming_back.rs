//! What an agent should be once it is back, for those who compare.

use std::collections::HashMap;
use std::io::{self, Read};

use anemone_format::{
    Attachments, Credentials, Identity, Manifest, Principals, Record, RecordId, SnapshotSource,
    SourceFile,
};

use super::Returned;
use crate::kit::agent::Machine;
use crate::kit::plan::PlanError;

/// A snapshot that is on its way back to the runtime it came from: records and files as they were
/// there, with what happened to them meanwhile; persona, people and keys as they are now.
pub struct ComingBack<'a> {
    source: &'a dyn SnapshotSource,
    returned: Returned<'a>,
}

impl<'a> ComingBack<'a> {
    /// Looks for what a snapshot keeps of `runtime`; `None` when it never was there, or is there.
    pub fn open(
        machine: &Machine,
        source: &'a dyn SnapshotSource,
        runtime: &str,
    ) -> Result<Option<Self>, PlanError> {
        if source.manifest().agent.source_runtime == runtime {
            return Ok(None);
        }
        let returned = Returned::open(machine, source, runtime, &mut Vec::new())?;
        Ok(returned.map(|returned| Self { source, returned }))
    }

    /// Returns, for each record that the runtime in between has of it, which record it was.
    #[must_use]
    pub fn origins(&self) -> HashMap<RecordId, RecordId> {
        self.returned.origins().collect()
    }
}

impl SnapshotSource for ComingBack<'_> {
    fn manifest(&self) -> &Manifest {
        self.returned.manifest()
    }

    fn identity(&self) -> io::Result<Option<Identity>> {
        self.source.identity()
    }

    fn principals(&self) -> io::Result<Option<Principals>> {
        self.source.principals()
    }

    fn credentials(&self) -> io::Result<Option<Credentials>> {
        self.source.credentials()
    }

    fn attachments(&self) -> io::Result<Option<Attachments>> {
        self.source.attachments()
    }

    fn files(&self) -> &[SourceFile] {
        self.returned.files()
    }

    fn content(&self, file: usize) -> io::Result<Box<dyn Read + '_>> {
        self.returned.content(file)
    }

    fn each_record(&self, take: &mut dyn FnMut(&Record) -> io::Result<()>) -> io::Result<()> {
        self.returned.each_record(take)
    }
}

//! An earlier archive of the same agent, from which times are taken over where the content is
//! unchanged.

use std::collections::HashMap;

use anemone_format::{
    Attachments, Credentials, FileRoot, Identity, Manifest, Moment, Principals, Record, Root,
    SourceFile, SourceKind,
};

use crate::kit::TextTimes;

/// An earlier reading of an agent.
#[derive(Debug)]
pub struct PreviousSnapshot {
    /// Its manifest.
    pub manifest: Manifest,
    /// Who the agent was.
    pub identity: Option<Identity>,
    /// Whom it worked for.
    pub principals: Option<Principals>,
    /// Its keys.
    pub credentials: Option<Credentials>,
    /// Its artifacts.
    pub attachments: Option<Attachments>,
    files: HashMap<(FileRoot, Vec<u8>), SourceFile>,
    pub(crate) times: TextTimes,
}

impl PreviousSnapshot {
    /// Takes the manifest and the files of an earlier reading; layers and records are added.
    #[must_use]
    pub fn new(manifest: Manifest, files: Vec<SourceFile>) -> Self {
        let keyed = files.into_iter().map(|file| ((file.root.clone(), file.path.clone()), file));
        Self {
            manifest,
            identity: None,
            principals: None,
            credentials: None,
            attachments: None,
            files: keyed.collect(),
            times: TextTimes::default(),
        }
    }

    /// Adds a record.
    pub fn add_record(&mut self, record: &Record) {
        self.times.add_record(record);
    }

    /// Returns the earlier file at a path.
    pub(crate) fn file(&self, root: Root<'_>, path: &[u8]) -> Option<&SourceFile> {
        self.files.get(&(root.into(), path.to_vec()))
    }

    /// Returns how many files, links and folders there were.
    pub(crate) fn file_count(&self) -> usize {
        self.files.len()
    }

    /// Returns the time of a file whose content, kind and mode are still the same.
    pub(crate) fn unchanged_mtime(
        &self,
        root: Root<'_>,
        path: &[u8],
        kind: &SourceKind,
        mode: Option<u32>,
    ) -> Option<&Moment> {
        let past = self.file(root, path)?;
        (past.kind == *kind && past.mode == mode).then_some(past.mtime.as_ref()).flatten()
    }
}

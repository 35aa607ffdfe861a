//! Reads agents into archives without a name, and gives a name to those that stay.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anemone_format::{Archive, Bytes, Credential, Limits, OpenError, Sink, VaultError, VaultKey};
use anemone_runtimes::{
    FoundAgent, LeftOut, Machine, NotedTimes, ReadError, ReadOptions, Reading, SealSecret,
    SecretPolicy, TextTimes,
};

use super::{MigrateError, MigrateRequest, Result, SnapshotLine};
use crate::agent::ChosenAgent;
use crate::files::{Existing, OutputFile, copy_bytes, spool, write_step};
use crate::host::Host;
use crate::identity::identify;
use crate::known_folders::{FolderKind, note_folder};
use crate::restore::warning;
use crate::snapshot::{SnapshotSink, seal};
use crate::text::count;
use crate::text_times;

/// Reads agents into archives.
pub(super) struct SnapshotReader<'a> {
    pub(super) request: &'a MigrateRequest,
    pub(super) host: &'a Host,
    pub(super) machine: &'a Machine,
    pub(super) key: Option<&'a VaultKey>,
    /// Where snapshots are kept; it may not be there.
    pub(super) folder: &'a Path,
}

/// An archive of an agent, in a file without a name.
pub(super) struct NamelessArchive {
    bytes: Arc<Bytes>,
    length: u64,
    pub(super) warnings: Vec<String>,
    pub(super) left_out: Vec<LeftOut>,
    /// The times of the agent's texts.
    pub(super) times: NotedTimes,
}

impl NamelessArchive {
    pub(super) fn open(&self) -> Result<Archive, OpenError> {
        let bytes: Bytes = Box::new(Arc::clone(&self.bytes));
        Archive::open(bytes, self.length, &Limits::default())
    }
}

impl SnapshotReader<'_> {
    pub(super) fn read(&self, chosen: &ChosenAgent) -> Result<NamelessArchive> {
        self.read_all(chosen, self.request.private)
    }

    pub(super) fn read_all(&self, chosen: &ChosenAgent, private: bool) -> Result<NamelessArchive> {
        let progress = self.host.counting("reading");
        // Where a snapshot has room, there is room for this.
        let near = self.folder.join("snapshot");
        let near = self.folder.is_dir().then_some(&*near);
        let noted = text_times::read(chosen.runtime, &chosen.agent, self.host);
        let noted_times = noted.times();
        let (reading, bytes, length) = write_step(near, |out| {
            let mut sink = SnapshotSink::new(out, spool(near)?, self.host.threads, &progress);
            let reading = self.read_into(chosen, private, &noted_times, &mut sink)?;
            sink.finish(&reading)?;
            Ok::<_, MigrateError>(reading)
        })?;
        let mut warnings: Vec<String> = reading.warnings.iter().map(warning).collect();
        if !reading.secrets.is_empty() {
            let secrets = count(reading.secrets.len() as u64, "secret");
            warnings.push(format!("copied unencrypted: {secrets} in files of the workspace"));
        }
        let bytes = Arc::new(bytes);
        let times = text_times::with_unread(reading.times, noted, &chosen.agent);
        Ok(NamelessArchive { bytes, length, warnings, left_out: reading.left_out, times })
    }

    /// Reads what will be changed, if there is anything.
    pub(super) fn read_before(&self, target: &ChosenAgent) -> Result<Option<NamelessArchive>> {
        let has_entries = |folder: &Path| {
            fs_err::read_dir(folder).is_ok_and(|mut entries| entries.next().is_some())
        };
        let has_database = target.agent.database.as_ref().is_some_and(|path| path.is_file());
        if !has_entries(&target.agent.workspace) && !has_database {
            return Ok(None);
        }
        match self.read(target) {
            Ok(read) => Ok(Some(read)),
            // Other agents of the install are not touched.
            Err(MigrateError::Read(ReadError::NoWorkspace { .. })) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Gives an archive a name in the folder.
    pub(super) fn keep(
        &self,
        read: &NamelessArchive,
        of: &'static str,
        agent: &FoundAgent,
    ) -> Result<SnapshotLine> {
        let path = self.snapshot_path(agent);
        let mut target = OutputFile::create(&path, Existing::Keep)?;
        target.write(None, |out| copy_bytes(&*read.bytes, read.length, out))?;
        target.deliver(self.host)?;
        if self.request.snapshots.is_some() {
            note_folder(self.host, FolderKind::Snapshots, self.folder, None);
        }
        Ok(SnapshotLine { of, path: path.display().to_string(), file_size: read.length })
    }

    fn read_into(
        &self,
        chosen: &ChosenAgent,
        private: bool,
        noted_times: &TextTimes,
        sink: &mut dyn Sink,
    ) -> Result<Reading, ReadError> {
        let sealed = |credential: &Credential, secret: &[u8]| {
            seal(self.key.ok_or(VaultError::Key)?, credential, secret)
        };
        let options = ReadOptions {
            agent_id: Some(identify(chosen.runtime, &chosen.agent, self.host).id),
            private,
            seal: self.key.map(|_| &sealed as &SealSecret<'_>),
            // Nothing stays behind on a way that does not leave the machine.
            artifact_threshold: u64::MAX,
            secrets: SecretPolicy::Allow,
            noted_times: Some(noted_times),
            ..ReadOptions::default()
        };
        chosen.runtime.read(self.machine, &chosen.agent, &options, sink)
    }

    /// Returns a name in the folder that no file has: the agent, its runtime, and when.
    fn snapshot_path(&self, agent: &FoundAgent) -> PathBuf {
        let plain = |c: char| if c.is_alphanumeric() || matches!(c, '-' | '_') { c } else { '_' };
        let name: String = agent.alias.chars().take(64).map(plain).collect();
        let at = self.host.moment().instant();
        let at = at.to_zoned(jiff::tz::TimeZone::UTC).strftime("%Y%m%dT%H%M%SZ").to_string();
        let stem = format!("{name}-{}-{at}", agent.runtime);
        let numbered = (2_u64..).map(|number| format!("{stem}-{number}.alf"));
        let mut names = std::iter::once(format!("{stem}.alf")).chain(numbered);
        let is_free = |name: &String| fs_err::symlink_metadata(self.folder.join(name)).is_err();
        let free = names.find(is_free);
        self.folder.join(free.unwrap_or(stem))
    }
}

//! Carries the files of a workspace to the sink: read consistently, searched for secrets, with the
//! times they had where an earlier reading knows them, and counted.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Read, Seek as _};
use std::ops::ControlFlow;

use anemone_files::{FileStat, each_block};
use anemone_format::{
    FileHead, Hex, Moment, Record, Root, Sink, SinkError, SourceKind, Unknown, sha256_hex,
};
use sha2::{Digest as _, Sha256};

use crate::kit::{
    Artifact, CopyPlace, EntryKind, FoundEntry, FoundSecret, LeftOut, LeftOutReason, Mentions,
    NotedTimes, PreviousSnapshot, ReadError, ReadOptions, StableCopies, Warning, Workspace,
    carry_times, is_included, lossy, mtime_of, spelled,
};
use anemone_secrets::{self as secrets, FileScanner, SecretHit};

/// Larger files are carried block by block.
const WHOLE_BYTES: u64 = 16 << 20;
/// Larger files are not taken apart, whatever they are: that takes a few times their size.
pub(crate) const MAX_TEXT_BYTES: u64 = 256 << 20;
/// How often a file is read again if it changes while it is read.
const ATTEMPTS: usize = 4;

/// A file in memory, as it will travel.
pub(crate) struct FileBytes {
    pub(crate) bytes: Vec<u8>,
    pub(crate) redacted: bool,
    pub(crate) mode: Option<u32>,
    pub(crate) mtime: Option<Moment>,
}

/// A file that a runtime generates: it is in no workspace.
#[derive(Clone, Debug)]
pub(crate) struct GeneratedFile {
    pub(crate) root: Root<'static>,
    pub(crate) path: &'static str,
    pub(crate) bytes: Vec<u8>,
    /// Whether secrets were taken out.
    pub(crate) redacted: bool,
    pub(crate) mtime: Option<Moment>,
}

impl GeneratedFile {
    fn found(&self) -> FoundEntry {
        let kind = EntryKind::File(self.bytes.len() as u64);
        FoundEntry {
            path: self.path.as_bytes().to_vec(),
            kind,
            mode: None,
            mtime: self.mtime.clone(),
        }
    }
}

/// Carries one workspace.
pub(crate) struct Carrier<'a> {
    workspace: &'a Workspace,
    options: &'a ReadOptions<'a>,
    sink: &'a mut dyn Sink,
    /// Files that were loaded before their turn.
    kept: HashMap<Vec<u8>, FileBytes>,
    mentions: Mentions,
    copies: StableCopies,
    /// The version of the runtime, for records that say none.
    pub(crate) runtime_version: Option<String>,
    pub(crate) outcome: Outcome,
}

/// What has been carried so far, and what has not.
#[derive(Default)]
pub(crate) struct Outcome {
    pub(crate) artifacts: Vec<Artifact>,
    pub(crate) warnings: Vec<Warning>,
    pub(crate) left_out: Vec<LeftOut>,
    pub(crate) secrets: Vec<FoundSecret>,
    pub(crate) records: u64,
    /// Files; links and folders do not count.
    pub(crate) files: u64,
    pub(crate) private_entries: u64,
    /// The newest time of a file.
    pub(crate) newest: Option<Moment>,
    /// The times of texts, for the next reading.
    pub(crate) times: NotedTimes,
}

impl Outcome {
    /// Warns of a file.
    pub(crate) fn warn(&mut self, code: &'static str, path: &[u8], message: impl Into<String>) {
        self.warnings.push(Warning::about(code, lossy(path), message.into()));
    }

    fn leave_out(&mut self, found: &FoundEntry, reason: LeftOutReason) {
        let (path, bytes) = (lossy(&found.path), found.size());
        self.left_out.push(LeftOut::file(path, reason, bytes));
    }

    fn find_secrets(&mut self, found: &FoundEntry, hits: &[SecretHit]) {
        let path = shown_path(found);
        let finding =
            |hit: &SecretHit| FoundSecret { path: path.clone(), line: hit.line, kind: hit.kind };
        self.secrets.extend(hits.iter().map(finding));
    }
}

impl<'a> Carrier<'a> {
    /// Starts; `artifacts` are the paths that records may mention.
    pub(crate) fn new(
        workspace: &'a Workspace,
        options: &'a ReadOptions<'a>,
        sink: &'a mut dyn Sink,
        artifacts: &[String],
        copies: StableCopies,
    ) -> Self {
        let (kept, mentions) = (HashMap::new(), Mentions::new(artifacts));
        let mut outcome = Outcome::default();
        for path in &copies.restless {
            let message =
                "is being written to, and may not fit its log; export again when it rests";
            outcome.warn("changed_while_read", path, message);
        }
        let runtime_version = None;
        Self { workspace, options, sink, kept, mentions, copies, runtime_version, outcome }
    }

    /// Returns whether a file still exists and must be carried; files that can be recreated are
    /// noted.
    pub(crate) fn is_there(&mut self, found: &FoundEntry) -> bool {
        match self.copies.place_of(&found.path) {
            CopyPlace::Workspace | CopyPlace::Copy(_) => true,
            CopyPlace::Gone => false,
            CopyPlace::Derived => {
                self.outcome.leave_out(found, LeftOutReason::Skipped);
                false
            }
        }
    }

    /// Opens a file, or its stable copy if there is one.
    fn open(&self, found: &FoundEntry) -> io::Result<File> {
        match self.copies.place_of(&found.path) {
            CopyPlace::Copy(path) => Ok(fs_err::File::open(path)?.into_file()),
            CopyPlace::Workspace | CopyPlace::Gone | CopyPlace::Derived => {
                self.workspace.file(&found.path)
            }
        }
    }

    /// Returns the mode and time of a file. A stable copy gets those of the original.
    fn head_of(
        &self,
        found: &FoundEntry,
        mode: Option<u32>,
        mtime: Option<Moment>,
    ) -> (Option<u32>, Option<Moment>) {
        match self.copies.place_of(&found.path) {
            CopyPlace::Copy(_) => (found.mode, found.mtime.clone()),
            CopyPlace::Workspace | CopyPlace::Gone | CopyPlace::Derived => (mode, mtime),
        }
    }

    /// Reads a file before its turn and keeps it; `None` when it cannot be read.
    pub(crate) fn keep(&mut self, found: &FoundEntry) -> Option<&FileBytes> {
        let loaded = self.read(found)?;
        Some(self.kept.entry(found.path.clone()).insert_entry(loaded).into_mut())
    }

    /// Reads a file whole; `None` when it cannot be read, and that is noted.
    pub(crate) fn load(&mut self, found: &FoundEntry) -> Option<FileBytes> {
        match self.kept.remove(&found.path) {
            Some(loaded) => Some(loaded),
            None => self.read(found),
        }
    }

    fn read(&mut self, found: &FoundEntry) -> Option<FileBytes> {
        match read_stable(&|| self.open(found)) {
            Ok((mut loaded, is_stable)) => {
                (loaded.mode, loaded.mtime) = self.head_of(found, loaded.mode, loaded.mtime.take());
                if !is_stable {
                    self.warn_of_change(&found.path);
                }
                self.search(found, &mut loaded).then_some(loaded)
            }
            Err(error) => {
                self.leave_out_unread(found, &error);
                None
            }
        }
    }

    fn warn_of_change(&mut self, path: &[u8]) {
        let message = "the file was being written; export again when the agent is quiet";
        self.outcome.warn("changed_while_read", path, message);
    }

    fn leave_out_unread(&mut self, found: &FoundEntry, error: &io::Error) {
        // A file that was deleted while we walked is not part of the workspace.
        if error.kind() == io::ErrorKind::NotFound {
            return;
        }
        let message = format!("cannot be read and does not travel: {error}");
        self.outcome.warn("unreadable", &found.path, message);
        self.outcome.leave_out(found, LeftOutReason::Unreadable);
    }

    /// Scans a file for secrets and replaces them if configured; returns whether the file may
    /// travel.
    fn search(&mut self, found: &FoundEntry, loaded: &mut FileBytes) -> bool {
        let hits = secrets::scan_file(&loaded.bytes);
        self.outcome.find_secrets(found, &hits);
        if hits.is_empty() || !self.options.redacts(&shown_path(found)) {
            return true;
        }
        if !secrets::is_text(&loaded.bytes) {
            self.leave_out_secret(found);
            return false;
        }
        loaded.bytes = secrets::redact(&loaded.bytes, &hits).into_owned();
        loaded.redacted = true;
        true
    }

    /// Notes secrets in a text that has no file of its own. If configured, it replaces them and
    /// returns the new text. `line` is the line of the text in the file at `path`.
    pub(crate) fn search_text(&mut self, path: &str, line: u64, text: &str) -> Option<String> {
        let hits = secrets::scan(text.as_bytes());
        FoundSecret::note(&mut self.outcome.secrets, path, line, &hits);
        let redact = !hits.is_empty() && self.options.redacts(path);
        redact.then(|| lossy(&secrets::redact(text.as_bytes(), &hits)))
    }

    /// Carries a file that was loaded; returns its path in the archive, if it can have one.
    pub(crate) fn file(
        &mut self,
        root: Root<'_>,
        found: &FoundEntry,
        loaded: &FileBytes,
    ) -> Result<Option<String>, ReadError> {
        let kind = self.options.earlier.map(|_| SourceKind::File {
            size: loaded.bytes.len() as u64,
            sha256: sha256_hex(&loaded.bytes),
        });
        let mtime = self.time_of(root, found, kind.as_ref(), loaded.mode, loaded.mtime.as_ref());
        let mut head = head(root, found, loaded.mode, mtime);
        head.redacted = loaded.redacted;
        let carried = self.sink.file(&head, &mut &loaded.bytes[..]);
        let carried = self.carried(&head, carried)?;
        self.outcome.files += u64::from(carried.is_some());
        Ok(carried)
    }

    /// Carries a generated file.
    pub(crate) fn made(&mut self, made: &GeneratedFile) -> Result<(), ReadError> {
        let found = made.found();
        let GeneratedFile { bytes, redacted, mtime, .. } = made.clone();
        let mut loaded = FileBytes { bytes, redacted, mode: None, mtime };
        if self.search(&found, &mut loaded) {
            self.file(made.root, &found, &loaded)?;
        }
        Ok(())
    }

    /// Notes the time of what was carried. A name that no archive can hold does not stop the rest.
    fn carried<T>(
        &mut self,
        head: &FileHead<'_>,
        result: Result<T, SinkError>,
    ) -> Result<Option<T>, ReadError> {
        match result {
            Ok(carried) => {
                keep_newest(&mut self.outcome.newest, head.mtime.as_ref());
                Ok(Some(carried))
            }
            Err(SinkError::Name { fault, .. }) => {
                let message = format!("does not travel, because its name {fault}");
                self.outcome.warn("name", head.path, message);
                self.outcome.left_out.push(LeftOut::file(lossy(head.path), LeftOutReason::Name, 0));
                Ok(None)
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Carries a file without taking it apart, however large it is.
    pub(crate) fn whole_file(
        &mut self,
        root: Root<'_>,
        found: &FoundEntry,
    ) -> Result<Option<CarriedFile>, ReadError> {
        if found.size() <= WHOLE_BYTES {
            let Some(loaded) = self.load(found) else { return Ok(None) };
            let Some(archive_path) = self.file(root, found, &loaded)? else { return Ok(None) };
            let (size, sha256) = (loaded.bytes.len() as u64, sha256_hex(&loaded.bytes));
            return Ok(Some(CarriedFile { archive_path, size, sha256 }));
        }
        self.large_file(root, found)
    }

    /// Carries a file of memories and returns it, to be taken apart, unless it is too large.
    pub(crate) fn memory_file(
        &mut self,
        root: Root<'_>,
        found: &FoundEntry,
    ) -> Result<Option<FileBytes>, ReadError> {
        if found.size() > MAX_TEXT_BYTES {
            let message = "is too large to be taken apart; it travels as it is, without records";
            self.outcome.warn("too_large", &found.path, message);
            self.whole_file(root, found)?;
            return Ok(None);
        }
        let Some(loaded) = self.load(found) else { return Ok(None) };
        self.file(root, found, &loaded)?;
        Ok(Some(loaded))
    }

    /// Returns the text of a file of memories, if it is one.
    pub(crate) fn text_of<'b>(
        &mut self,
        found: &FoundEntry,
        file: &'b FileBytes,
    ) -> Option<&'b str> {
        let text = std::str::from_utf8(&file.bytes).ok();
        if text.is_none() {
            let message = "is not UTF-8; it travels as it is, without records";
            self.outcome.warn("not_utf8", &found.path, message);
        }
        text
    }

    fn large_file(
        &mut self,
        root: Root<'_>,
        found: &FoundEntry,
    ) -> Result<Option<CarriedFile>, ReadError> {
        // Once to search and hash, once to carry: what is searched must be what travels.
        let surveyed = self.open(found).and_then(|mut file| {
            let mut survey = FileSurvey::of(file.try_clone()?)?;
            (survey.mode, survey.mtime) = self.head_of(found, survey.mode, survey.mtime.take());
            file.rewind()?;
            Ok((file, survey))
        });
        let (file, survey) = match surveyed {
            Ok(surveyed) => surveyed,
            Err(error) => {
                self.leave_out_unread(found, &error);
                return Ok(None);
            }
        };
        self.outcome.find_secrets(found, &survey.secrets);
        if !survey.secrets.is_empty() && self.options.redacts(&shown_path(found)) {
            self.leave_out_secret(found);
            return Ok(None);
        }
        let kind = SourceKind::File { size: survey.size, sha256: survey.sha256.clone() };
        let mtime = self.time_of(root, found, Some(&kind), survey.mode, survey.mtime.as_ref());
        let head = head(root, found, survey.mode, mtime);
        let mut content =
            HashingReader { file: file.take(survey.size), hasher: Sha256::new(), size: 0 };
        let written = self.sink.file(&head, &mut content);
        let Some(archive_path) = self.carried(&head, written)? else { return Ok(None) };
        self.outcome.files += 1;
        let (size, sha256) = (content.size, Hex(&content.hasher.finalize()).to_string());
        if sha256 != survey.sha256 {
            self.warn_of_change(&found.path);
        }
        Ok(Some(CarriedFile { archive_path, size, sha256 }))
    }

    /// Scans a name and a link's target for secrets; returns whether they may travel.
    pub(crate) fn may_be_named(&mut self, found: &FoundEntry) -> bool {
        let secrets = FoundSecret::in_name(found);
        let shown = secrets.first().map(|secret| secret.path.clone());
        self.outcome.secrets.extend(secrets);
        let hidden = shown.filter(|path| self.options.redacts(path));
        let left_out = hidden.map(|path| LeftOut::file(path, LeftOutReason::Secret, found.size()));
        self.outcome.left_out.extend(left_out.clone());
        left_out.is_none()
    }

    /// Notes a file that cannot travel because of a secret that cannot be replaced in it.
    pub(crate) fn leave_out_secret(&mut self, found: &FoundEntry) {
        let message = "holds a secret that cannot be replaced in it, so the file is left out";
        self.outcome.warn("secret_left_out", &found.path, message);
        self.outcome.leave_out(found, LeftOutReason::Secret);
    }

    /// Carries an artifact, or only names it when it is large.
    pub(crate) fn artifact(&mut self, found: &FoundEntry) -> Result<(), ReadError> {
        let path = spelled(&found.path);
        if is_included(found, self.options.artifact_threshold) {
            let Some(carried) = self.whole_file(Root::Artifacts, found)? else { return Ok(()) };
            let CarriedFile { archive_path, size, sha256 } = carried;
            let artifact = Artifact { path, size, sha256, archive_path: Some(archive_path) };
            self.outcome.artifacts.push(artifact);
            return Ok(());
        }
        match self.open(found).and_then(hash_file) {
            Ok((size, sha256)) => {
                self.outcome.leave_out(found, LeftOutReason::Referenced);
                self.outcome.artifacts.push(Artifact { path, size, sha256, archive_path: None });
            }
            Err(error) => self.leave_out_unread(found, &error),
        }
        Ok(())
    }

    /// Carries a link or a folder.
    pub(crate) fn other(&mut self, root: Root<'_>, found: &FoundEntry) -> Result<(), ReadError> {
        let kind = match &found.kind {
            EntryKind::Symlink(target) => SourceKind::Symlink(target.clone()),
            _ => SourceKind::Folder,
        };
        let mtime = self.time_of(root, found, Some(&kind), found.mode, found.mtime.as_ref());
        let head = head(root, found, found.mode, mtime);
        let written = match &kind {
            SourceKind::Symlink(target) => self.sink.symlink(&head, target),
            _ => self.sink.folder(&head),
        };
        self.carried(&head, written).map(drop)
    }

    /// Carries everything of a folder beside the workspace, as it is.
    pub(crate) fn folder_beside(
        &mut self,
        folder: &'a Workspace,
        root: Root<'_>,
        found: &[FoundEntry],
    ) -> Result<(), ReadError> {
        let workspace = std::mem::replace(&mut self.workspace, folder);
        for found in found {
            if !self.may_be_named(found) {
                continue;
            }
            if found.is_file() {
                self.whole_file(root, found)?;
            } else {
                self.other(root, found)?;
            }
        }
        self.workspace = workspace;
        Ok(())
    }

    /// Whether an entry of a folder beside the workspace holds a secret, in its name or in the bytes
    /// that [`folder_beside`](Self::folder_beside) would carry.
    pub(crate) fn holds_secret(folder: &Workspace, found: &FoundEntry) -> io::Result<bool> {
        if !FoundSecret::in_name(found).is_empty() {
            return Ok(true);
        }
        if !found.is_file() {
            return Ok(false);
        }
        if found.size() <= WHOLE_BYTES {
            let (loaded, _) = read_stable(&|| folder.file(&found.path))?;
            return Ok(!secrets::scan_file(&loaded.bytes).is_empty());
        }
        Ok(!FileSurvey::of(folder.file(&found.path)?)?.secrets.is_empty())
    }

    /// Passes a record to the sink.
    pub(crate) fn record(&mut self, mut record: Record) -> Result<(), ReadError> {
        self.set_runtime_version(&mut record);
        if let Some(earlier) = self.options.earlier {
            carry_times([&earlier.times].into_iter(), &mut record);
        }
        self.pass(&record)
    }

    /// Passes a record to the sink that is a part of a text file, whose time is not that of each of
    /// its parts.
    pub(crate) fn record_of_text(&mut self, mut record: Record) -> Result<(), ReadError> {
        let Some(noted) = self.options.noted_times else { return self.record(record) };
        self.set_runtime_version(&mut record);
        let earlier = self.options.earlier.map(|earlier| &earlier.times);
        let known = earlier.into_iter().chain([noted]);
        self.outcome.times.add(&carry_times(known, &mut record));
        self.pass(&record)
    }

    fn set_runtime_version(&self, record: &mut Record) {
        if record.source.runtime_version.is_none() {
            record.source.runtime_version.clone_from(&self.runtime_version);
        }
    }

    fn pass(&mut self, record: &Record) -> Result<(), ReadError> {
        self.mentions.read(record);
        self.outcome.records += 1;
        Ok(self.sink.record(record)?)
    }

    /// Returns what was carried, and which records mention what.
    pub(crate) fn finish(self) -> (Outcome, Mentions) {
        (self.outcome, self.mentions)
    }

    fn time_of(
        &self,
        root: Root<'_>,
        found: &FoundEntry,
        kind: Option<&SourceKind>,
        mode: Option<u32>,
        mtime: Option<&Moment>,
    ) -> Option<Moment> {
        let carried = kind
            .and_then(|kind| self.options.earlier?.unchanged_mtime(root, &found.path, kind, mode));
        carried.or(mtime).cloned()
    }
}

/// Returns the path of a file for a finding. The name may be a secret as well, and is not shown
/// then.
fn shown_path(found: &FoundEntry) -> String {
    lossy(&secrets::redact(&found.path, &secrets::scan(&found.path)))
}

/// Keeps the later of two times.
pub(crate) fn keep_newest(newest: &mut Option<Moment>, time: Option<&Moment>) {
    let is_newer =
        |time: &&Moment| newest.as_ref().is_none_or(|newest| newest.instant() < time.instant());
    if let Some(time) = time.filter(is_newer) {
        *newest = Some(time.clone());
    }
}

/// A file that was carried.
pub(crate) struct CarriedFile {
    archive_path: String,
    size: u64,
    sha256: String,
}

/// Returns whether every file, link and folder equals what an earlier reading carried, apart from
/// times.
pub(crate) fn is_unchanged<'r, 'f>(
    workspace: &Workspace,
    earlier: &PreviousSnapshot,
    threshold: u64,
    found: impl Iterator<Item = (Root<'r>, &'f FoundEntry)>,
    made: &[GeneratedFile],
) -> bool {
    let named: HashMap<&str, (u64, &str)> = earlier
        .attachments
        .iter()
        .flat_map(|attachment| &attachment.attachments)
        .filter(|value| value.archive_path.0.is_none())
        .map(|value| (value.source_path.as_str(), (value.size_bytes, value.hash.value.as_str())))
        .collect();
    let same_made = |made: &GeneratedFile| {
        let (size, sha256) = (made.bytes.len() as u64, sha256_hex(&made.bytes));
        let past = earlier.file(made.root, &made.found().path);
        past.is_some_and(|past| past.kind == SourceKind::File { size, sha256 })
    };
    if !made.iter().all(same_made) {
        return false;
    }
    let (mut carried, mut referenced) = (made.len(), 0);
    for (root, found) in found {
        let kind = match &found.kind {
            EntryKind::Folder => SourceKind::Folder,
            EntryKind::Symlink(target) => SourceKind::Symlink(target.clone()),
            EntryKind::File(size) => {
                let past = earlier.file(root, &found.path).map(|file| &file.kind);
                let is_named = root == Root::Artifacts && !is_included(found, threshold);
                let as_large =
                    matches!(past, Some(SourceKind::File { size: was, .. }) if was == size);
                if !as_large && !is_named {
                    return false;
                }
                let Ok((size, sha256)) = workspace.file(&found.path).and_then(hash_file) else {
                    return false;
                };
                if is_named {
                    referenced += 1;
                    if named.get(&*spelled(&found.path)) != Some(&(size, &*sha256)) {
                        return false;
                    }
                    continue;
                }
                SourceKind::File { size, sha256 }
            }
        };
        carried += 1;
        let same = earlier
            .file(root, &found.path)
            .is_some_and(|past| past.kind == kind && past.mode == found.mode && !past.redacted);
        if !same {
            return false;
        }
    }
    carried == earlier.file_count() && referenced == named.len()
}

fn head<'a>(
    root: Root<'a>,
    found: &'a FoundEntry,
    mode: Option<u32>,
    mtime: Option<Moment>,
) -> FileHead<'a> {
    let unknown = Unknown::default();
    FileHead { root, path: &found.path, mode, mtime, redacted: false, unknown }
}

/// Reads a whole file, again if it changes meanwhile; returns whether it was stable.
fn read_stable(open: &dyn Fn() -> io::Result<File>) -> io::Result<(FileBytes, bool)> {
    for attempt in 1.. {
        let mut file = open()?;
        let before = FileStat::of(&file)?;
        let mut bytes = Vec::with_capacity(usize::try_from(before.size).unwrap_or(0).min(64 << 20));
        (&mut file).take(MAX_TEXT_BYTES + 1).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > MAX_TEXT_BYTES {
            return Err(io::Error::other("it grew while it was read"));
        }
        let after = FileStat::of(&file)?;
        let is_stable = bytes.len() as u64 == after.size
            && (before.size, before.modified) == (after.size, after.modified);
        if is_stable || attempt == ATTEMPTS {
            let (mode, mtime) = (Some(after.mode), mtime_of(&after));
            return Ok((FileBytes { bytes, redacted: false, mode, mtime }, is_stable));
        }
    }
    unreachable!("the last attempt returns")
}

/// What a large file is, found by reading it once.
struct FileSurvey {
    size: u64,
    sha256: String,
    mode: Option<u32>,
    mtime: Option<Moment>,
    secrets: Vec<SecretHit>,
}

impl FileSurvey {
    fn of(file: File) -> io::Result<Self> {
        let stat = FileStat::of(&file)?;
        let (mut scanner, mut hasher, mut size) = (FileScanner::new(), Sha256::new(), 0);
        each_block(file, &mut |block| {
            scanner.feed(block);
            hasher.update(block);
            size += block.len() as u64;
            ControlFlow::Continue(())
        })?;
        Ok(Self {
            size,
            sha256: Hex(&hasher.finalize()).to_string(),
            mode: Some(stat.mode),
            mtime: mtime_of(&stat),
            secrets: scanner.finish(),
        })
    }
}

/// Returns the size of a file and its SHA-256.
pub(crate) fn hash_file(file: File) -> io::Result<(u64, String)> {
    let (mut hasher, mut size) = (Sha256::new(), 0);
    each_block(file, &mut |block| {
        hasher.update(block);
        size += block.len() as u64;
        ControlFlow::Continue(())
    })?;
    Ok((size, Hex(&hasher.finalize()).to_string()))
}

/// Hashes what is read through it.
struct HashingReader {
    file: io::Take<File>,
    hasher: Sha256,
    size: u64,
}

impl Read for HashingReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read(buffer)?;
        self.hasher.update(&buffer[..read]);
        self.size += read as u64;
        Ok(read)
    }
}

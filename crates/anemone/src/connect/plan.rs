//! What will be done to each file, before anything is done.

use std::path::{Path, PathBuf};

use anemone_files::{LeftoverKind, TEMPORARY_FILE, sweep};
use anemone_format::sha256_hex;
use anemone_runtimes::connect::{
    ConfigChanges, ConfigEdit, ConfigFormat, DesiredConfig, DesiredFile, OwnFile, ProgramNote,
    is_void, no_orphans, put_in, take_out_known,
};
use serde::Serialize;
use serde_json::Value;

use super::error::ConnectError;
use super::program_file::{ProgramFile, Staged, remove_empty};
use super::record::{FileRecord, OwnRecord, Record};

/// What becomes of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FileAction {
    /// It is created.
    Made,
    /// It is changed.
    Changed,
    /// It is removed.
    Removed,
    /// It is as it should be.
    Same,
}

/// Notes for the user about a connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConnectNote {
    /// A note of the program's runtime.
    Program(ProgramNote),
    /// Hooks that wrote into the memory are removed.
    WritingHooksRemoved,
    /// A project of the program has its own connection.
    ProjectConnected {
        /// The project.
        folder: String,
        /// The program.
        program: &'static str,
    },
    /// An entry that starts anemone stays, because it differs from the one that we wrote.
    ForeignEntry {
        /// The entry.
        entry: String,
        /// The file that it is in.
        path: PathBuf,
        /// Whether removing everything would remove it.
        removable: bool,
    },
}

/// A file, and its new content.
pub(super) struct FilePlan {
    pub(super) place: ProgramFile,
    pub(super) fate: FileAction,
    text: String,
    /// The lines that are put in or taken out.
    pub(super) lines: Vec<String>,
}

/// Everything that connects or disconnects a program.
pub(super) struct Plan {
    pub(super) files: Vec<FilePlan>,
    pub(super) notes: Vec<ConnectNote>,
    /// The record to keep afterwards.
    pub(super) record: Record,
    /// Folders that we created, which are deleted at the end if they are empty.
    folders: Vec<PathBuf>,
}

/// Which entries are removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RemovalScope {
    /// Only the entries that we wrote, if they are unchanged.
    Written,
    /// Also everything else that starts us.
    All,
}

impl Plan {
    fn new(notes: Vec<ConnectNote>) -> Self {
        Self { files: Vec::new(), notes, record: Record::default(), folders: Vec::new() }
    }

    /// Whether there is nothing to do.
    pub(super) fn is_done(&self) -> bool {
        self.files.iter().all(|file| file.fate == FileAction::Same)
    }

    /// Refuses an impossible plan before any part of it is applied.
    pub(super) fn check(&self) -> Result<(), ConnectError> {
        self.changed().try_for_each(|file| file.place.check_writable())
    }

    /// Changes every file, or none: new files are written completely beside the old ones before the
    /// first gets its name, and the changes are reverted if one of the files cannot be changed.
    pub(super) fn apply(&self) -> Result<(), ConnectError> {
        let missing: Vec<PathBuf> =
            self.files.iter().flat_map(|file| file.place.missing_folders()).collect();
        let mut done = Vec::new();
        let applied = self.stage().and_then(|staged| {
            for (file, staged) in self.changed().zip(staged) {
                match staged {
                    Some(staged) => staged.commit()?,
                    None => file.place.remove()?,
                }
                done.push(file);
            }
            Ok(())
        });
        let Err(error) = applied else {
            remove_empty(&self.folders);
            return Ok(());
        };
        let stuck = done.into_iter().rev().filter(|file| file.place.put_back().is_err());
        let changed: Vec<PathBuf> = stuck.map(|file| file.place.path.clone()).collect();
        remove_empty(&missing);
        if changed.is_empty() {
            return Err(error);
        }
        Err(ConnectError::HalfDone { error: Box::new(error), changed })
    }

    /// Writes the new files beside the old ones; `None` for a file that goes.
    fn stage(&self) -> Result<Vec<Option<Staged<'_>>>, ConnectError> {
        let mut staged = Vec::new();
        for file in self.changed() {
            staged.push(match file.fate {
                FileAction::Removed => None,
                _ => Some(file.place.stage(&file.text)?),
            });
        }
        Ok(staged)
    }

    fn changed(&self) -> impl Iterator<Item = &FilePlan> {
        self.files.iter().filter(|file| file.fate != FileAction::Same)
    }

    /// Takes away what killed processes left beside the files.
    pub(super) fn sweep(&self) {
        let mut folders: Vec<&Path> =
            self.files.iter().filter_map(|file| file.place.folder()).collect();
        folders.sort_unstable();
        folders.dedup();
        for folder in folders {
            sweep(folder, TEMPORARY_FILE, LeftoverKind::File);
        }
    }
}

/// Returns the content of a file without our entries, and the same as a document.
pub(super) fn base(
    desired: &DesiredFile,
    record: Option<&Record>,
) -> Result<(ProgramFile, String, Value), ConnectError> {
    let place = ProgramFile::look(&desired.path)?;
    let refuse = |error| ConnectError::refused(desired, error);
    let mut text = place.text.clone().unwrap_or_default();
    // Whatever else is wrong with a file, this comes first.
    desired.format.parse(&text).map_err(refuse)?;
    if let Some(record) = record.and_then(|record| record.file(&desired.path)) {
        text = record.changes.take_out(&text).map_err(refuse)?;
        if record.made && is_left_empty(desired.format, &text) {
            text.clear();
        }
    }
    let document = desired.format.parse(&text).map_err(refuse)?;
    Ok((place, text, document))
}

/// Plans to put in every entry that is desired.
pub(super) fn connect(
    desired: &DesiredConfig,
    record: Option<&Record>,
) -> Result<Plan, ConnectError> {
    let mut plan = Plan::new(desired.notes.iter().cloned().map(ConnectNote::Program).collect());
    for own in &desired.own {
        plan.add_own(own, record)?;
    }
    for file in &desired.files {
        let (place, mut base, document) = base(file, record)?;
        let refuse = |error| ConnectError::refused(file, error);
        let before = record.and_then(|record| record.file(&file.path));
        if before.is_some() {
            // An entry of ours that the user changed is updated.
            let is_wanted = |edit: &ConfigEdit| file.wants.iter().any(|want| want.is_called(edit));
            let (ours, others): (Vec<ConfigEdit>, Vec<ConfigEdit>) =
                (file.known)(&document).into_iter().partition(is_wanted);
            base = take_out_known(file.format, &base, &ours).map_err(refuse)?;
            let others = others.iter().filter(|other| !file.wants.contains(other));
            plan.notes.extend(others.map(|edit| foreign(edit, file, false)));
        } else {
            check_known(file, &document)?;
        }
        let (text, changes) = put_in(file.format, &base, &file.wants).map_err(refuse)?;
        let is_made = place.text.is_none() || before.is_some_and(|before| before.made);
        let fate = match &place.text {
            Some(now) if *now == text => FileAction::Same,
            None if changes.is_empty() => FileAction::Same,
            None => FileAction::Made,
            Some(_) if is_made && text.is_empty() => FileAction::Removed,
            Some(_) => FileAction::Changed,
        };
        let folders = folders_of(before.map(|before| &before.folders), &place);
        if changes.is_empty() {
            plan.folders.extend(before.into_iter().flat_map(|before| before.folders.clone()));
        } else {
            plan.record.files.push(FileRecord {
                path: file.path.clone(),
                made: is_made,
                folders,
                changes: changes.clone(),
            });
        }
        let lines = changes.lines().to_vec();
        plan.files.push(FilePlan { place, fate, text, lines });
    }
    // Entries in another place still have to be removed on disconnect.
    let others = record.into_iter().flat_map(|record| record.files.iter());
    let is_other = |known: &&FileRecord| desired.files.iter().all(|file| file.path != known.path);
    plan.record.files.extend(others.filter(is_other).cloned());
    let others = record.into_iter().flat_map(|record| record.own.iter());
    let is_other = |known: &&OwnRecord| desired.own.iter().all(|own| own.path != known.path);
    plan.record.own.extend(others.filter(is_other).cloned());
    plan.folders.sort();
    plan.folders.dedup();
    Ok(plan)
}

/// Says that an entry starts us and stays where it is.
/// Returns the folders that were made for a file before, and those that are missing now.
fn folders_of(before: Option<&Vec<PathBuf>>, place: &ProgramFile) -> Vec<PathBuf> {
    let mut folders = place.missing_folders();
    folders.extend(before.into_iter().flatten().cloned());
    folders.sort();
    folders.dedup();
    folders
}

fn foreign(edit: &ConfigEdit, file: &DesiredFile, removable: bool) -> ConnectNote {
    ConnectNote::ForeignEntry { entry: edit.name(), path: file.path.clone(), removable }
}

/// Refuses a file with an entry that starts us but is in no record: it may be the user's own.
fn check_known(file: &DesiredFile, document: &Value) -> Result<(), ConnectError> {
    let known = (file.known)(document);
    let Some(other) = known.iter().find(|known| !file.wants.contains(known)) else { return Ok(()) };
    Err(ConnectError::Unrecorded { path: file.path.clone(), entry: other.name() })
}

impl Plan {
    fn add_own(&mut self, own: &OwnFile, record: Option<&Record>) -> Result<(), ConnectError> {
        let place = ProgramFile::look(&own.path)?;
        let before = record.and_then(|record| record.own(&own.path));
        let fate = match &place.text {
            None => FileAction::Made,
            Some(now) if now == own.text => FileAction::Same,
            Some(now)
                if before.is_some_and(|before| before.digest == sha256_hex(now.as_bytes())) =>
            {
                FileAction::Changed
            }
            Some(_) => {
                return Err(ConnectError::Taken(own.path.clone()));
            }
        };
        // An existing file belongs to the user, even if its content is identical.
        if before.is_some() || fate == FileAction::Made {
            let folders = folders_of(before.map(|before| &before.folders), &place);
            let digest = sha256_hex(own.text.as_bytes());
            self.record.own.push(OwnRecord { path: own.path.clone(), digest, folders });
        }
        let text = own.text.to_owned();
        self.files.push(FilePlan { place, fate, text, lines: Vec::new() });
        Ok(())
    }
}

/// Plans to take everything out again.
pub(super) fn disconnect(
    desired: &DesiredConfig,
    record: Option<&Record>,
    extent: RemovalScope,
) -> Result<Plan, ConnectError> {
    let mut plan = Plan::new(Vec::new());
    let elsewhere = record.map(|record| elsewhere(desired, record)).unwrap_or_default();
    for file in desired.files.iter().chain(&elsewhere) {
        plan.take_out(file, record, extent)?;
    }
    let known = desired.own.iter().map(|file| (&file.path, Some(file.text)));
    let kept = record.into_iter().flat_map(|record| &record.own);
    let kept = kept.filter(|file| desired.own.iter().all(|own| own.path != file.path));
    for (path, text) in known.chain(kept.map(|file| (&file.path, None))) {
        let place = ProgramFile::look(path)?;
        let before = record.and_then(|record| record.own(path));
        plan.folders.extend(before.into_iter().flat_map(|before| before.folders.clone()));
        let Some(now) = &place.text else { continue };
        let is_noted = before.is_some_and(|before| before.digest == sha256_hex(now.as_bytes()));
        let is_same =
            (before.is_some() || extent == RemovalScope::All) && text == Some(now.as_str());
        let fate = if is_noted || is_same { FileAction::Removed } else { FileAction::Same };
        if fate == FileAction::Same {
            let why = match before {
                Some(_) => "was changed by somebody else",
                None => "is there, but was not put there by `anemone connect`",
            };
            let note = format!("{} {why}: it stays", path.display());
            plan.notes.push(ConnectNote::Program(ProgramNote::Text(note)));
        }
        plan.files.push(FilePlan { place, fate, text: String::new(), lines: Vec::new() });
    }
    plan.folders.sort();
    plan.folders.dedup();
    Ok(plan)
}

impl Plan {
    /// Plans the removal of our entries from a file of the program.
    fn take_out(
        &mut self,
        file: &DesiredFile,
        record: Option<&Record>,
        extent: RemovalScope,
    ) -> Result<(), ConnectError> {
        let refuse = |error| ConnectError::refused(file, error);
        let before = record.and_then(|record| record.file(&file.path));
        let (place, mut text, mut document) = base(file, record)?;
        let now = place.text.as_deref().unwrap_or_default();
        let mut lines =
            before.map(|before| taken_out(&before.changes, now, &text)).unwrap_or_default();
        let mut known = before.map(|_| (file.orphans)(&document)).unwrap_or_default();
        if extent == RemovalScope::All {
            known.extend((file.known)(&document));
        }
        if !known.is_empty() {
            lines.extend(known.iter().map(ConfigEdit::name));
            text = take_out_known(file.format, &text, &known).map_err(refuse)?;
            document = file.format.parse(&text).map_err(refuse)?;
        }
        for left in (file.known)(&document) {
            self.notes.push(foreign(&left, file, true));
        }
        let wants = before.into_iter().flat_map(|before| before.changes.wants());
        let is_on =
            |edit: &&ConfigEdit| matches!(edit, ConfigEdit::Switch { .. }) && edit.is_in(&document);
        for left in wants.filter(is_on) {
            let (name, path) = (left.name(), file.path.display());
            let note = format!("{name} in {path} stays on: there is more now that needs it");
            self.notes.push(ConnectNote::Program(ProgramNote::Text(note)));
        }
        let is_made = before.is_some_and(|before| before.made) && text.is_empty();
        let fate = match &place.text {
            None => FileAction::Same,
            Some(now) if *now == text => FileAction::Same,
            Some(_) if is_made => FileAction::Removed,
            Some(_) => FileAction::Changed,
        };
        self.folders.extend(before.into_iter().flat_map(|before| before.folders.clone()));
        self.files.push(FilePlan { place, fate, text, lines });
        Ok(())
    }
}

/// Returns which of our lines are really taken out of a file.
fn taken_out(changes: &ConfigChanges, now: &str, after: &str) -> Vec<String> {
    if changes.is_as_written(now) {
        return changes.lines().to_vec();
    }
    let bare = |line: &str| line.trim().trim_end_matches(',').to_owned();
    let mut gone: Vec<String> = now.lines().map(bare).collect();
    for line in after.lines().map(bare) {
        if let Some(at) = gone.iter().position(|gone| *gone == line) {
            gone.swap_remove(at);
        }
    }
    let lines = changes.lines().iter().filter(|line| {
        let at = gone.iter().position(|gone| *gone == bare(line));
        at.map(|at| gone.swap_remove(at)).is_some()
    });
    let lines: Vec<String> = lines.cloned().collect();
    match lines.is_empty() && now != after {
        // Its program has rewritten it in another form.
        true => changes.wants().map(ConfigEdit::name).collect(),
        false => lines,
    }
}

/// Returns the files that were connected when the program kept them elsewhere.
fn elsewhere(desired: &DesiredConfig, record: &Record) -> Vec<DesiredFile> {
    let is_other = |known: &&FileRecord| desired.files.iter().all(|file| file.path != known.path);
    let file_of = |record: &FileRecord| DesiredFile {
        path: record.path.clone(),
        format: record.changes.format(),
        wants: Vec::new(),
        known: Box::new(|_| Vec::new()),
        orphans: no_orphans,
    };
    record.files.iter().filter(is_other).map(file_of).collect()
}

/// Whether a file that we created contains only our entries.
fn is_left_empty(format: ConfigFormat, text: &str) -> bool {
    let is_bare = match format {
        ConfigFormat::Json => ["", "{}"].contains(&text.trim()),
        ConfigFormat::Toml => text.trim().is_empty(),
    };
    is_bare && format.parse(text).is_ok_and(|document| is_void(&document))
}

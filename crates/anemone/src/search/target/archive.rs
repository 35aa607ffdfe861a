//! An archive as a source, searched in place.
//!
//! The Markdown files of memories that it carries are documents; each record that comes from none
//! of these files is a document too.

use std::collections::{HashMap, HashSet};
use std::io::{self, Read as _};
use std::path::PathBuf;

use anemone_embed::ModelIdentity;
use anemone_format::{
    Archive, CarriedFile, EntryKind, Limits, ReadEntryError, ReadJsonError, Root, StampTable,
};
use anemone_index::{
    CarriedVector, Document, DocumentSource, FileStamp, Listing, MAX_FILE_BYTES, SkipReason,
    SkippedDocument, SourceEntry, SourceError, is_markdown, text_of_bytes,
};
use anemone_runtimes::{SearchableRecord, by_name, vectors_in};

use super::documents::{DocumentFilter, Documents};
use super::vectors::{carried, wanted_model};
use super::workspace::AgentRules;
use crate::files::open_plain;

/// An archive.
pub(super) struct ArchiveDocuments {
    path: PathBuf,
    wanted: DocumentFilter,
    /// The open archive, when it is encrypted: its keys are asked for once.
    decrypted: Option<(Archive, FileStamp)>,
}

/// Why an archive cannot be searched.
type Failure = Box<dyn std::error::Error + Send + Sync>;

impl ArchiveDocuments {
    /// Takes an archive that is opened when it is needed.
    pub(super) fn closed(path: PathBuf, wanted: DocumentFilter) -> Self {
        Self { path, wanted, decrypted: None }
    }

    /// Takes an archive that only its keys open.
    pub(super) fn decrypted(path: PathBuf, wanted: DocumentFilter, archive: Archive) -> Self {
        let stamp = FileStamp::of_path(&path).unwrap_or_default();
        Self { path, wanted, decrypted: Some((archive, stamp)) }
    }

    fn failed(&self, source: Failure) -> SourceError {
        SourceError { place: self.path.display().to_string(), source }
    }

    fn open(&self) -> Result<Archive, SourceError> {
        let (bytes, length) =
            open_plain(&self.path).map_err(|error| self.failed(Box::new(error)))?;
        Archive::open(bytes, length, &Limits::default())
            .map_err(|error| self.failed(Box::new(error)))
    }

    /// Returns the archive that was decrypted, or opens the file.
    fn archive<'a>(&'a self, opened: &'a mut Option<Archive>) -> Result<&'a Archive, SourceError> {
        match &self.decrypted {
            Some((archive, _)) => Ok(archive),
            None => Ok(opened.insert(self.open()?)),
        }
    }

    fn stamp(&self) -> Result<FileStamp, SourceError> {
        let failed = |error: io::Error| self.failed(Box::new(error));
        let gone = || failed(io::ErrorKind::NotFound.into());
        let stamp = FileStamp::of_path(&self.path).ok_or_else(gone)?;
        match &self.decrypted {
            Some((_, opened)) if *opened != stamp => {
                Err(failed(io::Error::other("the encrypted file has changed since it was opened")))
            }
            _ => Ok(stamp),
        }
    }
}

impl DocumentSource for ArchiveDocuments {
    fn identity(&self) -> String {
        format!("archive {:?}, {:?}", self.path, self.wanted)
    }

    fn list(&self) -> Result<Listing, SourceError> {
        let key = self.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let entries = vec![SourceEntry { key, stamp: self.stamp()? }];
        Ok(Listing { entries, skipped: Vec::new() })
    }

    fn load(
        &self,
        _: &SourceEntry,
        each: &mut dyn FnMut(Document),
    ) -> Result<Vec<SkippedDocument>, SourceError> {
        let mut opened = None;
        let archive = self.archive(&mut opened)?;
        let mut documents = Documents::new(self.wanted, each);
        let files = files(archive, &mut documents).map_err(|error| self.failed(error))?;
        let walked = archive.each_record_line(|line| {
            let it = SearchableRecord::parse(line).map_err(WalkError::Json)?;
            let in_file = it.file.as_ref().is_some_and(|file| {
                files.get(&it.runtime).is_some_and(|of_runtime| of_runtime.contains(file))
            });
            if it.is_session || !in_file {
                documents.take(it);
            }
            Ok::<_, WalkError>(())
        });
        walked.map_err(|error| self.failed(error.into()))?;
        Ok(documents.finish())
    }

    fn stamps(&self) -> StampTable {
        let mut opened = None;
        self.archive(&mut opened).ok().and_then(stamps).unwrap_or_default()
    }

    fn carried(
        &self,
        identity: &ModelIdentity,
        each: &mut dyn FnMut(CarriedVector),
    ) -> Result<(), SourceError> {
        let mut opened = None;
        let archive = self.archive(&mut opened)?;
        let walked = archive.each_record_line(|line| {
            vectors_in(line, &wanted_model(identity), &mut |of, vector| each(carried(of, vector)));
            Ok::<_, WalkError>(())
        });
        walked.map_err(|error| self.failed(error.into()))
    }
}

/// The paths of files, by the runtime in whose workspace they are.
type TakenPaths = HashMap<String, HashSet<String>>;

/// Hands out the files of memories; returns which.
fn files(archive: &Archive, documents: &mut Documents<'_>) -> Result<TakenPaths, Failure> {
    let mut taken = TakenPaths::new();
    let mut take = |runtime: String, path| taken.entry(runtime).or_default().insert(path);
    let carried = archive.files().map_err(boxed)?;
    let several = runtimes(&carried) > 1;
    for file in carried {
        let Some((runtime, path)) = file.with_head(|head| match head.root {
            Root::Raw(runtime) => {
                let path = std::str::from_utf8(head.path).ok()?;
                Some((runtime.to_owned(), path.to_owned()))
            }
            Root::Artifacts | Root::Other => None,
        }) else {
            continue;
        };
        let Some(known) = by_name(&runtime) else { continue };
        // A folder that the runtime would not enter holds nothing here either.
        let mut folders = path.match_indices('/').map(|(at, _)| &path[..at]);
        let rules = AgentRules(known);
        let kept =
            folders.find_map(|folder| anemone_index::FolderRules::enters(&rules, folder).err());
        let placed = match (kept, rules.place(&path)) {
            (None, placed) => placed,
            (Some(reason), Ok(_)) => Err(Some(reason)),
            (Some(_), Err(reason)) => Err(reason),
        };
        let shown = if several { format!("{runtime}/{path}") } else { path.clone() };
        let mut document = match placed {
            Ok(document) => document,
            Err(Some(reason)) if is_markdown(&path) => {
                // Its records are of the same kind.
                take(runtime, path);
                documents.skip(&shown, reason);
                continue;
            }
            Err(_) => continue,
        };
        let reason = match file.entry.kind() {
            EntryKind::Symlink => Some(SkipReason::Symlink),
            EntryKind::Directory => continue,
            _ if file.entry.size.is_some_and(|size| size > MAX_FILE_BYTES) => {
                Some(SkipReason::TooLarge)
            }
            _ => None,
        };
        if let Some(reason) = reason {
            documents.skip(&shown, reason);
            continue;
        }
        let mut bytes = Vec::new();
        let reader = archive.read_file(&file.entry.path).map_err(boxed)?;
        reader.take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes).map_err(|error| {
            boxed(ReadEntryError::new(&file.entry.path, None, ReadJsonError::Io(error)))
        })?;
        if bytes.len() as u64 > MAX_FILE_BYTES {
            documents.skip(&shown, SkipReason::TooLarge);
            continue;
        }
        document.text = text_of_bytes(bytes);
        document.path = shown;
        documents.document(document);
        take(runtime, path);
    }
    Ok(taken)
}

/// Reads the table of stamps, if the archive has one.
fn stamps(archive: &Archive) -> Option<StampTable> {
    let is_table = |file: &CarriedFile| {
        file.with_head(|head| {
            !matches!(head.root, Root::Other) && head.path == StampTable::PATH.as_bytes()
        })
    };
    let files = archive.files().ok()?;
    let table = files.iter().find(|file| is_table(file))?;
    let mut bytes = Vec::new();
    let reader = archive.read_file(&table.entry.path).ok()?;
    reader.take(MAX_FILE_BYTES).read_to_end(&mut bytes).ok()?;
    Some(StampTable::new(bytes))
}

/// Counts the runtimes whose files an archive carries.
fn runtimes(files: &[CarriedFile]) -> usize {
    let runtime = |file: &CarriedFile| {
        file.with_head(|head| match head.root {
            Root::Raw(runtime) if by_name(runtime).is_some() => Some(runtime.to_owned()),
            _ => None,
        })
    };
    files.iter().filter_map(runtime).collect::<HashSet<_>>().len()
}

fn boxed(error: ReadEntryError) -> Failure {
    Box::new(error)
}

/// What ends a walk over records.
enum WalkError {
    Entry(ReadEntryError),
    Json(serde_json::Error),
}

impl From<ReadEntryError> for WalkError {
    fn from(error: ReadEntryError) -> Self {
        Self::Entry(error)
    }
}

impl From<WalkError> for Failure {
    fn from(error: WalkError) -> Self {
        match error {
            WalkError::Entry(error) => Box::new(error),
            WalkError::Json(error) => {
                Box::new(ReadEntryError::new("memory", None, ReadJsonError::Json(error)))
            }
        }
    }
}

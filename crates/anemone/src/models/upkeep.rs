//! Lists, adds, fetches and removes models.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anemone_embed::{LocalModel, ModelError};
use serde::Serialize;

use super::{CopiedBytes, FILE, MAX_BYTES, MINILM, MODELS, Model, copy, file_at, home};
use crate::download::{DownloadError, download};
use crate::files::{Existing, FileError, OutputFile};
use crate::host::{Host, Progress};

/// Why a model is not shown, added or removed.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
#[non_exhaustive]
pub enum ModelsError {
    /// The model is in the binary.
    #[error("{0} comes with the program")]
    Included(String),
    /// No model has the name.
    #[error("there is no model {name:?}")]
    Unknown {
        /// The name.
        name: String,
        /// A model that is called nearly so.
        nearest: Option<String>,
    },
    /// A folder holds no model.
    #[error("{}: there is no {FILE} in the folder", .0.display())]
    NotInFolder(PathBuf),
    /// A device, a pipe or a folder has the name.
    #[error("{}: this is not a regular file", .0.display())]
    NotAFile(PathBuf),
    /// No model is so large.
    #[error("{}: it is too large to be the model", .0.display())]
    TooLarge(PathBuf),
    /// The file differs from the one that the makers of the model published.
    #[error("{}: this is not the published file of {}", .path.display(), .model.full_name)]
    NotPublished {
        /// The file.
        path: PathBuf,
        /// The model.
        model: &'static Model,
        /// How many bytes the file has.
        bytes: u64,
    },
    /// Another process wrote to the file while it was read.
    #[error("{}: the file changed while it was read", .0.display())]
    Changed(PathBuf),
    /// The file holds no model of the right shape.
    #[error("{}: {error}", .path.display())]
    Unusable {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        error: ModelError,
    },
    /// The model was not fetched.
    #[error("{error}")]
    Download {
        /// The model.
        model: &'static Model,
        /// Why.
        error: DownloadError,
    },
    /// A file cannot be written.
    File(#[from] FileError),
    /// The system refused.
    Io(#[from] io::Error),
}

/// A model, and whether it is on this machine.
#[derive(Serialize)]
pub struct ModelLine {
    /// The name by which it is chosen.
    pub name: &'static str,
    /// What its makers call it.
    pub full_name: &'static str,
    /// Whether it is in the binary, was added, or could be.
    pub state: ModelState,
    /// Its file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// The length of its file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
}

/// Where a model is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ModelState {
    /// In the binary.
    BuiltIn,
    /// In a file that was added.
    Added,
    /// Not on this machine.
    Absent,
}

impl ModelLine {
    fn of(model: &Model, host: &Host) -> Self {
        let path = model.path(host);
        let there = fs_err::metadata(&path).ok().filter(std::fs::Metadata::is_file);
        Self {
            name: model.name,
            full_name: model.full_name,
            state: if there.is_some() { ModelState::Added } else { ModelState::Absent },
            path: there.is_some().then(|| path.display().to_string()),
            bytes: there.map(|file| file.len()),
        }
    }

    const fn built_in(name: &'static str, full_name: &'static str) -> Self {
        Self { name, full_name, state: ModelState::BuiltIn, path: None, bytes: None }
    }
}

/// The models, and which of them are on this machine.
#[derive(Serialize)]
pub struct ModelList {
    /// The folder of models that were added.
    pub folder: String,
    /// The models.
    pub models: Vec<ModelLine>,
}

/// Lists the models.
#[must_use]
pub fn list_models(host: &Host) -> ModelList {
    let mut models = vec![
        ModelLine::built_in("builtin", "anemone-table-1"),
        ModelLine::built_in("builtin-quality", "anemone-quality-1"),
    ];
    models.extend(MODELS.iter().map(|model| ModelLine::of(model, host)));
    ModelList { folder: home(host).display().to_string(), models }
}

/// Everything about one model.
#[derive(Serialize)]
pub struct ModelReport {
    /// The model.
    #[serde(flatten)]
    pub model: ModelLine,
    /// Where it is published.
    pub url: &'static str,
    /// The digest of the published file.
    pub sha256: &'static str,
    /// The length of the published file.
    pub published_bytes: u64,
    /// Whether the file on this machine is the published one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub is_published: Option<bool>,
}

/// Says everything about one model. The file on this machine is read for its digest.
pub fn show_model(name: &str, host: &Host) -> Result<ModelReport, ModelsError> {
    let model = Model::of_name(name)?;
    let is_published = if model.is_there(host) {
        Some(content_of(&model.path(host), &Progress::hidden())?.is(model.file))
    } else {
        None
    };
    Ok(ModelReport {
        model: ModelLine::of(model, host),
        url: model.url,
        sha256: model.file.sha256,
        published_bytes: model.file.bytes,
        is_published,
    })
}

/// Which file is added as a model.
#[derive(Clone, Debug)]
pub struct AddModelRequest {
    /// The file, or a folder that holds it.
    pub path: PathBuf,
    /// Whether a file other than the published one is accepted.
    pub source: ModelSource,
    /// Plan only.
    pub dry_run: bool,
}

/// Which files are taken for a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModelSource {
    /// Only the published file, by its digest.
    Published,
    /// Any file of the right shape.
    Any,
}

/// Which model is fetched.
#[derive(Clone, Debug)]
pub struct FetchModelRequest {
    /// The name of the model.
    pub name: String,
    /// Where it is fetched from, instead of where it is published.
    pub url: Option<String>,
    /// Plan only.
    pub dry_run: bool,
}

/// A model that was added, or would be.
#[derive(Serialize)]
pub struct AddedModel {
    /// Whether nothing was written because only a plan was asked for.
    pub dry_run: bool,
    /// The name of the model.
    pub name: &'static str,
    /// The file, or the host that it came from.
    pub from: String,
    /// Where it was put.
    pub path: String,
    /// Its length.
    pub bytes: u64,
    /// Its digest.
    pub sha256: String,
    /// Whether it is the published file.
    pub is_published: bool,
}

/// Copies a file into the folder of models.
pub fn add_model(request: &AddModelRequest, host: &Host) -> Result<AddedModel, ModelsError> {
    let model = &MINILM;
    let source = file_at(&request.path)?;
    let content = content_of(&source, &host.progress("reading"))?;
    let is_published = content.is(model.file);
    if !is_published && request.source == ModelSource::Published {
        let (path, bytes) = (source, content.bytes);
        return Err(ModelsError::NotPublished { path, model, bytes });
    }
    if let Err(error) = LocalModel::minilm(&source) {
        return Err(ModelsError::Unusable { path: source, error });
    }
    let path = model.path(host);
    if !request.dry_run {
        put(&path, |file| {
            let mut from = fs_err::File::open(&source)?;
            if copy(&mut from, file, MAX_BYTES, &|_| {})? == content {
                Ok(())
            } else {
                Err(ModelsError::Changed(source.clone()))
            }
        })?;
    }
    Ok(AddedModel {
        dry_run: request.dry_run,
        name: model.name,
        from: source.display().to_string(),
        path: path.display().to_string(),
        bytes: content.bytes,
        sha256: content.sha256,
        is_published,
    })
}

/// Fetches a model, unless its published file is on this machine.
pub fn fetch_model(request: &FetchModelRequest, host: &Host) -> Result<AddedModel, ModelsError> {
    let model = Model::of_name(&request.name)?;
    let url = request.url.as_deref().unwrap_or(model.url);
    let path = model.path(host);
    let is_here = || -> Result<bool, ModelsError> {
        Ok(model.is_there(host) && content_of(&path, &Progress::hidden())?.is(model.file))
    };
    if !request.dry_run && !is_here()? {
        let progress = host.progress("fetching");
        progress.expect(model.file.bytes);
        put(&path, |file| {
            let fetched = download(url, model.file, file, &|bytes| progress.advance(bytes));
            fetched.map_err(|error| ModelsError::Download { model, error })
        })?;
    }
    Ok(AddedModel {
        dry_run: request.dry_run,
        name: model.name,
        from: host_of(url),
        path: path.display().to_string(),
        bytes: model.file.bytes,
        sha256: model.file.sha256.to_owned(),
        is_published: true,
    })
}

/// Returns a URL without the parts that may be secret.
fn host_of(url: &str) -> String {
    let url = reqwest::Url::parse(url).ok();
    url.and_then(|url| url.host_str().map(str::to_owned)).unwrap_or_default()
}

/// A model that was removed, or would be.
#[derive(Serialize)]
pub struct RemovedModel {
    /// Whether nothing was removed because only a plan was asked for.
    pub dry_run: bool,
    /// The name of the model.
    pub name: &'static str,
    /// Whether it was on this machine.
    pub removed: bool,
    /// How many bytes its file had.
    pub bytes: u64,
}

/// Removes a model that was added, or with `dry_run` says what would be removed.
pub fn remove_model(name: &str, dry_run: bool, host: &Host) -> Result<RemovedModel, ModelsError> {
    let model = Model::of_name(name)?;
    let line = ModelLine::of(model, host);
    let removed = line.state == ModelState::Added;
    if removed && !dry_run {
        fs_err::remove_file(model.path(host))?;
        // Other files in the folder stay.
        fs_err::remove_dir(model.folder(host)).ok();
    }
    let bytes = line.bytes.unwrap_or_default();
    Ok(RemovedModel { dry_run, name: model.name, removed, bytes })
}

/// Reads a file for its digest.
fn content_of(path: &Path, progress: &Progress) -> Result<CopiedBytes, ModelsError> {
    let mut file = fs_err::File::open(path)?;
    progress.expect(file.metadata()?.len());
    Ok(copy(&mut file, &mut io::sink(), MAX_BYTES, &|bytes| progress.advance(bytes))?)
}

/// Writes the file of a model as a whole; until then, an existing one stays.
fn put(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> Result<(), ModelsError>,
) -> Result<(), ModelsError> {
    let made: Vec<&Path> = path.ancestors().skip(1).take_while(|folder| !folder.exists()).collect();
    if let Some(folder) = path.parent() {
        fs_err::create_dir_all(folder)?;
    }
    let written = OutputFile::create(path, Existing::Replace).map_err(ModelsError::from);
    let written = written.and_then(|mut target| {
        target.write(None, write)?;
        Ok(target.commit()?)
    });
    if written.is_err() {
        // Empty folders of a model that was not added have no use.
        for folder in made {
            fs_err::remove_dir(folder).ok();
        }
    }
    written
}

//! The added models, each in its own folder:
//!
//! ```text
//! <data>/anemone/models/
//!   minilm/model.safetensors
//! ```
//!
//! A model decides what a search finds, so a file is only accepted when its digest is the published
//! one, or when the user explicitly accepts another file.

mod upkeep;

use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use anemone_embed::LocalModel;
use anemone_files::if_found;
use anemone_format::Hex;
use sha2::{Digest as _, Sha256};

use crate::host::Host;
use crate::nearest::Nearest;

pub use self::upkeep::{
    AddModelRequest, AddedModel, FetchModelRequest, ModelLine, ModelList, ModelReport, ModelSource,
    ModelState, ModelsError, RemovedModel, add_model, fetch_model, list_models, remove_model,
    show_model,
};

/// A model that can be added.
#[derive(Debug, PartialEq, Eq)]
pub struct Model {
    /// As it is called on the command line.
    pub name: &'static str,
    /// As its makers call it.
    pub full_name: &'static str,
    /// Where it can be had.
    pub url: &'static str,
    /// Its file.
    pub file: Pinned,
}

/// A file that is known byte by byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pinned {
    /// The digest, in hexadecimal.
    pub sha256: &'static str,
    /// The length.
    pub bytes: u64,
}

/// The model that can be added.
pub const MINILM: Model = Model {
    name: "minilm",
    full_name: "sentence-transformers/all-MiniLM-L6-v2",
    url: "https://huggingface.co/sentence-transformers/all-MiniLM-L6-v2/resolve/main/model.safetensors",
    file: Pinned { sha256: LocalModel::MINILM_SHA256, bytes: LocalModel::MINILM_SIZE_BYTES },
};

/// The models that there are.
pub const MODELS: [Model; 1] = [MINILM];

/// How the file of a model is called.
pub const FILE: &str = "model.safetensors";
/// No model that can be added is larger, known or not.
pub const MAX_BYTES: u64 = 512 << 20;

impl Model {
    /// Returns the model of a name.
    pub fn of_name(name: &str) -> Result<&'static Self, ModelsError> {
        MODELS.iter().find(|model| model.name == name).ok_or_else(|| {
            if let "builtin" | "builtin-quality" = name {
                return ModelsError::Included(name.to_owned());
            }
            let nearest = Nearest::among(name, MODELS.iter().map(|model| model.name));
            ModelsError::Unknown { name: name.to_owned(), nearest: nearest.into_iter().next() }
        })
    }

    /// Returns its folder, which exists only once it was added.
    pub fn folder(&self, host: &Host) -> PathBuf {
        home(host).join(self.name)
    }

    /// Returns its file, which exists only once it was added.
    pub fn path(&self, host: &Host) -> PathBuf {
        self.folder(host).join(FILE)
    }

    /// Whether it was added.
    pub fn is_there(&self, host: &Host) -> bool {
        self.path(host).is_file()
    }
}

/// Returns the folder of all models of this user.
pub fn home(host: &Host) -> PathBuf {
    host.folders.own_data().join("models")
}

/// Finds the file that is meant: the file itself, or the one in a folder.
pub fn file_at(path: &Path) -> Result<PathBuf, ModelsError> {
    let is_folder = fs_err::metadata(path)?.is_dir();
    let file = if is_folder { path.join(FILE) } else { path.to_owned() };
    let there = if_found(fs_err::metadata(&file))?;
    let there = there.ok_or_else(|| ModelsError::NotInFolder(path.to_owned()))?;
    if !there.is_file() {
        return Err(ModelsError::NotAFile(file));
    }
    if there.len() > MAX_BYTES {
        return Err(ModelsError::TooLarge(file));
    }
    Ok(file)
}

/// What was read: how much, and its digest in hexadecimal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CopiedBytes {
    /// How many bytes it has.
    pub bytes: u64,
    /// Its digest, in hexadecimal.
    pub sha256: String,
}

impl CopiedBytes {
    /// Whether it is the file that is known.
    pub fn is(&self, pinned: Pinned) -> bool {
        (self.bytes, self.sha256.as_str()) == (pinned.bytes, pinned.sha256)
    }
}

/// Copies at most `limit` bytes and one more, and returns their number and digest.
pub fn copy(
    from: &mut dyn Read,
    to: &mut dyn Write,
    limit: u64,
    advance: &dyn Fn(u64),
) -> std::io::Result<CopiedBytes> {
    let mut digest = Sha256::new();
    let mut buffer = vec![0; 256 << 10];
    let mut from = from.take(limit + 1);
    let mut bytes = 0;
    loop {
        let read = match from.read(&mut buffer) {
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
            read => read?,
        };
        if read == 0 {
            break;
        }
        digest.update(&buffer[..read]);
        to.write_all(&buffer[..read])?;
        bytes += read as u64;
        advance(read as u64);
    }
    let sha256 = Hex(&digest.finalize()).to_string();
    Ok(CopiedBytes { bytes, sha256 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_copied_is_known_by_its_digest() {
        let mut copied = Vec::new();
        let done = std::cell::Cell::new(0);
        let advance = |bytes| done.set(done.get() + bytes);
        let content = copy(&mut &b"abc"[..], &mut copied, 100, &advance).unwrap();
        assert_eq!((copied.as_slice(), done.get()), (&b"abc"[..], 3));
        let sha256 = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert!(content.is(Pinned { sha256, bytes: 3 }));
        assert!(!content.is(Pinned { sha256, bytes: 4 }));
    }

    #[test]
    fn no_more_is_copied_than_shows_that_it_is_too_much() {
        let mut copied = Vec::new();
        let content = copy(&mut std::io::repeat(7), &mut copied, 1000, &|_| {}).unwrap();
        assert_eq!((content.bytes, copied.len()), (1001, 1001));
    }
}

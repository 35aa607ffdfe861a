//! A storage in a folder.

use std::io::{self, Read, Write as _};
use std::path::{Path, PathBuf};

use anemone_files::{
    Durability, Existing, commit, folder_of, if_found, make_private_folder, open_regular,
    sync_folder_if_possible, temporary_file,
};
use anemone_format::ReaderAt;

use crate::key::{Key, is_part};
use crate::storage::{ObjectInfo, Storage, StorageAction, StorageError, StoredObject};

/// A storage in a folder: one file for each object. It may be on any file system, and another
/// program may copy the folder between machines: every file is complete as soon as it has its name.
#[derive(Clone, Debug)]
pub struct FolderStorage {
    root: PathBuf,
}

impl FolderStorage {
    /// Takes a folder; it is created by the first write.
    #[must_use]
    pub fn new(root: PathBuf) -> Self {
        Self { root }
    }

    /// Returns the folder.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    fn path(&self, key: &Key) -> PathBuf {
        if key.as_str().is_empty() { self.root.clone() } else { self.root.join(key.as_str()) }
    }

    fn entries(&self, folder: &Key) -> Result<Vec<fs_err::DirEntry>, StorageError> {
        let failed = |error| StorageAction::List.failed(folder)(error);
        let Some(entries) = if_found(fs_err::read_dir(self.path(folder))).map_err(failed)? else {
            return Ok(Vec::new());
        };
        entries.collect::<io::Result<Vec<_>>>().map_err(failed)
    }

    /// Makes the folder of an object, and the folders above it as far as the root.
    fn make_folder(&self, folder: &Path) -> io::Result<()> {
        if folder.is_dir() {
            return Ok(());
        }
        if folder != self.root {
            self.make_folder(folder_of(folder))?;
        }
        make_private_folder(folder)?;
        sync_folder_if_possible(folder_of(folder))
    }
}

impl Storage for FolderStorage {
    fn list(&self, folder: &Key) -> Result<Vec<ObjectInfo>, StorageError> {
        let mut objects = Vec::new();
        for entry in self.entries(folder)? {
            let Some(name) =
                entry.file_name().to_str().filter(|name| is_part(name)).map(str::to_owned)
            else {
                continue;
            };
            // Another process may have removed it in the meantime.
            let Some(metadata) =
                if_found(entry.metadata()).map_err(StorageAction::List.failed(folder))?
            else {
                continue;
            };
            if metadata.is_file() {
                let written = metadata.modified().ok();
                objects.push(ObjectInfo { name, size: metadata.len(), written });
            }
        }
        Ok(objects)
    }

    fn folders(&self, folder: &Key) -> Result<Vec<String>, StorageError> {
        let mut folders = Vec::new();
        for entry in self.entries(folder)? {
            let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
            if let Some(name) = entry.file_name().to_str()
                && is_folder
                && is_part(name)
            {
                folders.push(name.to_owned());
            }
        }
        Ok(folders)
    }

    fn read(&self, key: &Key) -> Result<StoredObject, StorageError> {
        let file = open_regular(&self.path(key)).map_err(StorageAction::Read.failed(key))?;
        let length = file.metadata().map_err(StorageAction::Read.failed(key))?.len();
        Ok(StoredObject { bytes: Box::new(StoredFile(file)), length })
    }

    fn write(&self, key: &Key, content: &mut dyn Read) -> Result<(), StorageError> {
        let path = self.path(key);
        let folder = folder_of(&path);
        let mut write = || {
            self.make_folder(folder)?;
            let mut file = temporary_file(folder)?;
            io::copy(content, &mut file)?;
            file.flush()?;
            commit(file, &path, Existing::Replace, Durability::Immediate)
        };
        write().map_err(StorageAction::Write.failed(key))
    }

    fn remove(&self, key: &Key) -> Result<(), StorageError> {
        let path = self.path(key);
        let remove = || {
            if if_found(fs_err::remove_file(&path))?.is_some() {
                sync_folder_if_possible(folder_of(&path))?;
            }
            Ok(())
        };
        remove().map_err(StorageAction::Remove.failed(key))
    }
}

/// A file that is read at positions.
struct StoredFile(std::fs::File);

impl ReaderAt for StoredFile {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        std::os::unix::fs::FileExt::read_at(&self.0, buffer, offset)
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn a_folder_passes_the_suite_of_storages() {
        crate::suite::passes(&mut || {
            let folder = tempfile::tempdir().unwrap();
            let storage = FolderStorage::new(folder.path().join("above/store"));
            (Box::new(storage), Box::new(folder))
        });
    }

    #[test]
    fn only_the_owner_can_read_what_is_stored() {
        let folder = tempfile::tempdir().unwrap();
        let storage = FolderStorage::new(folder.path().join("store"));
        let key = Key::root().child("agents").child("a");
        storage.write(&key, &mut &b"x"[..]).unwrap();
        let mode = |path: &str| {
            fs_err::metadata(folder.path().join(path)).unwrap().permissions().mode() & 0o777
        };
        assert_eq!((mode("store"), mode("store/agents")), (0o700, 0o700));
        assert_eq!(mode("store/agents/a"), 0o600);
    }

    #[test]
    fn what_other_programs_put_into_the_folder_is_not_an_object() {
        let folder = tempfile::tempdir().unwrap();
        let storage = FolderStorage::new(folder.path().to_owned());
        storage.write(&Key::root().child("a"), &mut &b"x"[..]).unwrap();
        for name in [".stfolder", "a.sync-conflict-20260101-120000-ABCDEFG", ".anemone-AbC123"] {
            fs_err::write(folder.path().join(name), "x").unwrap();
        }
        std::os::unix::fs::symlink("/etc/hostname", folder.path().join("link")).unwrap();
        let names: Vec<String> =
            storage.list(&Key::root()).unwrap().into_iter().map(|object| object.name).collect();
        assert_eq!(names, ["a"]);
        assert!(storage.read(&Key::root().child("link")).is_err());
    }
}

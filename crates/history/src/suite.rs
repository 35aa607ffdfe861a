//! What every kind of storage has to do. Each implementation runs this suite.

use std::any::Any;
use std::io::{self, Read};

use crate::key::Key;
use crate::storage::{Storage, StorageError};

/// A new, empty storage, and what has to live as long as it.
pub type NewStorage = (Box<dyn Storage>, Box<dyn Any>);

/// Runs the suite; `new` makes an empty storage.
///
/// # Panics
///
/// If the storage does not do what it has to.
pub fn passes(new: &mut dyn FnMut() -> NewStorage) {
    for law in [
        what_was_written_is_read,
        a_folder_lists_what_is_directly_in_it,
        an_object_is_replaced_as_a_whole,
        what_fails_to_be_read_is_not_written,
        what_was_removed_is_gone,
        readers_keep_what_they_opened,
    ] {
        let (storage, _held) = new();
        law(&*storage);
    }
}

fn key(path: &str) -> Key {
    path.split('/').fold(Key::root(), |key, part| key.join(part).expect("a part of a key"))
}

fn read(storage: &dyn Storage, path: &str) -> Vec<u8> {
    let object = storage.read(&key(path)).expect("the object exists");
    object.read_all(object.length).expect("it can be read")
}

fn write(storage: &dyn Storage, path: &str, mut content: &[u8]) {
    storage.write(&key(path), &mut content).expect("it can be written");
}

fn names(storage: &dyn Storage, folder: &Key) -> Vec<(String, u64)> {
    let listed = storage.list(folder).expect("a folder can be listed");
    let mut names: Vec<_> = listed.into_iter().map(|object| (object.name, object.size)).collect();
    names.sort();
    names
}

fn what_was_written_is_read(storage: &dyn Storage) {
    let large: Vec<u8> = (0..300_000_u32).flat_map(u32::to_le_bytes).collect();
    for (path, content) in [("a", &b""[..]), ("b/c", b"text"), ("b/d/e-1_2.alf", &large)] {
        write(storage, path, content);
        assert_eq!(read(storage, path), content, "{path}");
    }
    let object = storage.read(&key("b/d/e-1_2.alf")).expect("it exists");
    let mut middle = [0; 4];
    assert_eq!(object.bytes.read_at(&mut middle, 4_000).expect("a middle can be read"), 4);
    assert_eq!(u32::from_le_bytes(middle), 1_000);
    let missing = storage.read(&key("b/nothing")).map(|object| object.length);
    assert!(matches!(missing, Err(StorageError::NotFound(_))), "{missing:?}");
}

fn a_folder_lists_what_is_directly_in_it(storage: &dyn Storage) {
    assert!(names(storage, &Key::root()).is_empty());
    assert!(storage.folders(&key("nothing")).expect("an empty list").is_empty());
    for path in ["top", "a/one", "a/two", "a/b/deep", "ab/other"] {
        write(storage, path, path.as_bytes());
    }
    assert_eq!(names(storage, &Key::root()), [("top".to_owned(), 3)]);
    assert_eq!(names(storage, &key("a")), [("one".to_owned(), 5), ("two".to_owned(), 5)]);
    let mut folders = storage.folders(&Key::root()).expect("folders can be listed");
    folders.sort();
    assert_eq!(folders, ["a", "ab"]);
    assert_eq!(storage.folders(&key("a")).expect("folders can be listed"), ["b"]);
}

fn an_object_is_replaced_as_a_whole(storage: &dyn Storage) {
    write(storage, "a/b", b"a long content");
    write(storage, "a/b", b"short");
    assert_eq!(read(storage, "a/b"), b"short");
    assert_eq!(names(storage, &key("a")), [("b".to_owned(), 5)]);
}

fn what_fails_to_be_read_is_not_written(storage: &dyn Storage) {
    struct Failing(u32);
    impl Read for Failing {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            self.0 += 1;
            if self.0 > 3 { Err(io::Error::other("enough")) } else { Ok(buffer.len().min(10)) }
        }
    }
    write(storage, "kept", b"old");
    assert!(storage.write(&key("kept"), &mut Failing(0)).is_err());
    assert!(storage.write(&key("new"), &mut Failing(0)).is_err());
    assert_eq!(read(storage, "kept"), b"old");
    assert_eq!(names(storage, &Key::root()), [("kept".to_owned(), 3)]);
}

fn what_was_removed_is_gone(storage: &dyn Storage) {
    write(storage, "a/b", b"x");
    storage.remove(&key("a/b")).expect("it can be removed");
    storage.remove(&key("a/b")).expect("and again");
    storage.remove(&key("nothing/there")).expect("nothing is no error");
    assert!(names(storage, &key("a")).is_empty());
    assert!(storage.read(&key("a/b")).is_err());
}

/// A reader that opened an object can read all of it, though somebody removes it meanwhile.
fn readers_keep_what_they_opened(storage: &dyn Storage) {
    write(storage, "a", b"content");
    let object = storage.read(&key("a")).expect("it exists");
    storage.remove(&key("a")).expect("it can be removed");
    assert_eq!(object.read_all(100).expect("it can still be read"), b"content");
}

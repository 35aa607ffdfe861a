//! Names of objects.

use std::fmt;

/// The name of an object or a folder in a store: parts of lower-case letters, digits, `.`, `_` and
/// `-`, with `/` between them. It means the same on every file system and in every bucket.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key(String);

impl Key {
    /// Returns the folder with everything in it.
    #[must_use]
    pub const fn root() -> Self {
        Self(String::new())
    }

    /// Returns the key of something in this folder; `None` for a name that no key can have.
    #[must_use]
    pub fn join(&self, name: &str) -> Option<Self> {
        is_part(name).then(|| self.joined(name))
    }

    /// Returns the key of something in this folder whose name was made by this crate.
    pub(crate) fn child(&self, name: &str) -> Self {
        debug_assert!(is_part(name), "{name}");
        self.joined(name)
    }

    fn joined(&self, name: &str) -> Self {
        if self.0.is_empty() { Self(name.to_owned()) } else { Self(format!("{}/{name}", self.0)) }
    }

    /// Returns the key with `/` between its parts; empty for the root.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_empty() { "the root" } else { &self.0 })
    }
}

/// The longest part of a key: file systems take 255 bytes, and a temporary name may be longer.
const MAX_PART: usize = 220;

/// Returns whether a name can be a part of a key. A name that begins with a dot cannot: file systems
/// and programs that synchronise folders use such names.
pub(crate) fn is_part(name: &str) -> bool {
    let is_plain =
        |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"._-".contains(&byte);
    !name.is_empty()
        && name.len() <= MAX_PART
        && !name.starts_with('.')
        && name.bytes().all(is_plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_means_the_same_on_every_file_system() {
        let root = Key::root();
        for name in ["", ".", "..", ".anemone-AbC123", "a/b", "A", "a b", "ä", &"x".repeat(221)] {
            assert!(root.join(name).is_none(), "{name}");
        }
        let key = root.join("agents").unwrap().join("a-1_b.alf").unwrap();
        assert_eq!(key.as_str(), "agents/a-1_b.alf");
    }
}

//! Paths that make a tree.

use std::collections::BTreeMap;

/// Paths that are taken.
#[derive(Debug, Default)]
pub(crate) struct Claims {
    /// Whether the existing entry is a folder.
    paths: BTreeMap<Vec<u8>, bool>,
}

/// The result of claiming a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Claim {
    /// It was free, and is taken now.
    Free,
    /// A folder was claimed, and it exists.
    SameFolder,
    /// Something else is at the path, above it, or below it.
    Taken,
}

impl Claims {
    /// Claims a path.
    pub(crate) fn claim(&mut self, path: &[u8], is_folder: bool) -> Claim {
        if let Some(there) = self.paths.get(path) {
            return if is_folder && *there { Claim::SameFolder } else { Claim::Taken };
        }
        let slashes = path.iter().enumerate().filter(|(_, byte)| **byte == b'/');
        let mut above = slashes.map(|(at, _)| &path[..at]);
        if above.any(|above| self.paths.get(above) == Some(&false)) {
            return Claim::Taken;
        }
        if !is_folder && self.has_below(path) {
            return Claim::Taken;
        }
        self.paths.insert(path.to_vec(), is_folder);
        Claim::Free
    }

    /// Whether something is below a path.
    pub(crate) fn has_below(&self, path: &[u8]) -> bool {
        let below = [path, b"/"].concat();
        let next = self.paths.range(below.clone()..).next();
        next.is_some_and(|(path, _)| path.starts_with(&below))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_makes_no_tree_is_refused() {
        let mut claims = Claims::default();
        for (path, is_folder, expected) in [
            ("a/b", false, Claim::Free),
            ("a/b", false, Claim::Taken),
            ("a/b/c", false, Claim::Taken),
            ("a", false, Claim::Taken),
            ("a", true, Claim::Free),
            ("a", true, Claim::SameFolder),
            ("a-", false, Claim::Free),
            ("a/c/d", true, Claim::Free),
        ] {
            assert_eq!(claims.claim(path.as_bytes(), is_folder), expected, "{path}");
        }
    }
}

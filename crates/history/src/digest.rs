//! The digest of a snapshot.

use std::fmt;

use anemone_format::{Hex, Manifest};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sha2::{Digest as _, Sha256};

use crate::commit::parse_digest;

/// The digest of a snapshot, however it is stored.
///
/// It covers the checksum of the archive, and so every entry with its content, mode, time and
/// target, and what the owner says of the snapshot in the manifest.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SnapshotDigest([u8; 32]);

/// What the digest begins with, so that it is equal to no other digest.
const DOMAIN: &[u8] = b"anemone-snapshot-1\n";

impl SnapshotDigest {
    /// Takes a digest.
    #[must_use]
    pub const fn new(digest: [u8; 32]) -> Self {
        Self(digest)
    }

    /// Computes the digest of a snapshot from its manifest, which may be blank, and the checksum of
    /// its entries.
    #[must_use]
    pub fn of(manifest: &Manifest, checksum: &str) -> Self {
        let mut owned = manifest.clone();
        owned.blank();
        let mut hasher = Sha256::new();
        hasher.update(DOMAIN);
        hasher.update(checksum);
        hasher.update(b"\n");
        hasher.update(serde_json::to_vec(&owned).expect("a manifest has only text keys"));
        Self(hasher.finalize().into())
    }
}

impl fmt::Display for SnapshotDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Hex(&self.0).fmt(f)
    }
}

impl fmt::Debug for SnapshotDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SnapshotDigest({self})")
    }
}

impl Serialize for SnapshotDigest {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for SnapshotDigest {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<str>::deserialize(deserializer)?;
        let invalid = || serde::de::Error::custom("a digest has 64 hexadecimal digits");
        parse_digest(&text).map(Self).ok_or_else(invalid)
    }
}

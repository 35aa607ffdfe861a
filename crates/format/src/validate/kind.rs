//! What a finding is about.

use serde::{Serialize, Serializer};

/// What a finding is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FindingKind {
    /// The dates of a partition contradict its order.
    Bounds,
    /// A forgotten record still has its content.
    ContentInTombstone,
    /// A number or a size is not what was counted.
    Count,
    /// A credential is not encrypted.
    CredentialInClear,
    /// An entry, or the file around its entries, is damaged.
    Damaged,
    /// A reference leads to no record.
    Dangling,
    /// A digest is missing or wrong.
    Digest,
    /// An entry is listed twice.
    DuplicateEntry,
    /// Two records have one id.
    DuplicateId,
    /// An entry was edited after the file was written.
    Edited,
    /// A layer or record belongs to another agent.
    ForeignAgent,
    /// Ids are not of the version that the format asks for.
    IdVersion,
    /// The index of memories contradicts the manifest.
    Index,
    /// An entry that is named is not there.
    Missing,
    /// The manifest lists no digests.
    NoDigests,
    /// A value does not have the form that the schema asks for.
    Schema,
    /// The file was changed after it was sealed.
    SealBroken,
    /// The file has no seal.
    SealMissing,
    /// A document does not have the shape of its kind.
    Shape,
    /// Something was too much to be checked.
    Unchecked,
    /// A field, word or entry that this version only carries.
    Unknown,
    /// The manifest does not list an entry.
    Unlisted,
    /// An entry or the file cannot be read.
    Unreadable,
    /// A path is dangerous to unpack.
    UnsafePath,
    /// Two places name different versions.
    Version,
}

impl FindingKind {
    /// Returns the stable word for programs, such as `seal-broken`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Bounds => "bounds",
            Self::ContentInTombstone => "content-in-tombstone",
            Self::Count => "count",
            Self::CredentialInClear => "credential-in-clear",
            Self::Damaged => "damaged",
            Self::Dangling => "dangling",
            Self::Digest => "digest",
            Self::DuplicateEntry => "duplicate-entry",
            Self::DuplicateId => "duplicate-id",
            Self::Edited => "edited",
            Self::ForeignAgent => "foreign-agent",
            Self::IdVersion => "id-version",
            Self::Index => "index",
            Self::Missing => "missing",
            Self::NoDigests => "no-digests",
            Self::Schema => "schema",
            Self::SealBroken => "seal-broken",
            Self::SealMissing => "seal-missing",
            Self::Shape => "shape",
            Self::Unchecked => "unchecked",
            Self::Unknown => "unknown",
            Self::Unlisted => "unlisted",
            Self::Unreadable => "unreadable",
            Self::UnsafePath => "unsafe-path",
            Self::Version => "version",
        }
    }
}

impl Serialize for FindingKind {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

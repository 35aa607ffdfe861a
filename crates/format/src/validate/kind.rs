//! The kinds of findings.

use crate::word_enum;

word_enum! {
    /// The kind of a finding.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    #[non_exhaustive]
    pub enum FindingKind {
        /// The dates of a partition contradict its order.
        Bounds = "bounds",
        /// A forgotten record still has its content.
        ContentInTombstone = "content-in-tombstone",
        /// A number or a size is not what was counted.
        Count = "count",
        /// A credential is not encrypted.
        CredentialInClear = "credential-in-clear",
        /// An entry, or the file around its entries, is damaged.
        Damaged = "damaged",
        /// A reference leads to no record.
        Dangling = "dangling",
        /// A digest is missing or wrong.
        Digest = "digest",
        /// An entry is listed twice.
        DuplicateEntry = "duplicate-entry",
        /// Two records have one id.
        DuplicateId = "duplicate-id",
        /// An entry was edited after the file was written.
        Edited = "edited",
        /// A layer or record belongs to another agent.
        ForeignAgent = "foreign-agent",
        /// Ids are not of the version that the format asks for.
        IdVersion = "id-version",
        /// The index of memories contradicts the manifest.
        Index = "index",
        /// A listed entry does not exist.
        Missing = "missing",
        /// The manifest lists no digests.
        NoDigests = "no-digests",
        /// A value does not have the form that the schema asks for.
        Schema = "schema",
        /// The file was changed after it was sealed.
        SealBroken = "seal-broken",
        /// The file has no seal.
        SealMissing = "seal-missing",
        /// A document does not have the shape of its kind.
        Shape = "shape",
        /// Something was too large to be checked.
        Unchecked = "unchecked",
        /// A field, word or entry that this version only carries.
        Unknown = "unknown",
        /// The manifest does not list an entry.
        Unlisted = "unlisted",
        /// An entry or the file cannot be read.
        Unreadable = "unreadable",
        /// A path is dangerous to unpack.
        UnsafePath = "unsafe-path",
        /// Two places name different versions.
        Version = "version",
    }
}

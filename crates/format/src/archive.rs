//! Archives: a snapshot in a file.
//!
//! ```text
//! raw/<runtime>/...                 the runtime's own files, byte for byte
//! artifacts/...                     other files of the workspace, under the size threshold
//! identity.json  principals.json  credentials.json  attachments.json
//! memory/partitions/<period>.jsonl  one record a line, by created_at, then id
//! memory/index.json                 period, count and digest of every partition
//! manifest.json                     written last: digests of all of the above
//! ```
//!
//! [`write`](mod@write) writes that and nothing else; [`read`](mod@read) also takes the dialects of other tools.

pub(crate) mod chain;
pub(crate) mod read;
pub(crate) mod record_cache;
pub(crate) mod record_line;
pub(crate) mod source;
pub(crate) mod write;

/// The entry that describes all others.
pub(crate) const MANIFEST: &str = "manifest.json";
/// Where records of a delta are.
pub(crate) const DELTA_RECORDS: &str = "memory/delta.jsonl";
/// The manifest of a delta in another tool's dialect.
pub(crate) const DELTA_MANIFEST_DIALECT: &str = "delta-manifest.json";
/// Where partitions are listed.
pub(crate) const INDEX: &str = "memory/index.json";
/// The folder of partitions.
pub(crate) const PARTITIONS: &str = "memory/partitions";
/// Folders of carried files.
pub(crate) const RAW: &str = "raw/";
/// Folder of included artifacts.
pub(crate) const ARTIFACTS: &str = "artifacts/";

/// A layer that is one document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Layer {
    /// Who the agent is.
    Identity,
    /// Whom it works for.
    Principals,
    /// Its keys.
    Credentials,
    /// Its artifacts.
    Attachments,
}

impl Layer {
    /// Every layer that is a document, in the order they are written.
    pub const ALL: [Self; 4] =
        [Self::Identity, Self::Principals, Self::Credentials, Self::Attachments];

    /// Returns the layer's key in the manifest.
    #[must_use]
    pub const fn key(self) -> &'static str {
        match self {
            Self::Identity => "identity",
            Self::Principals => "principals",
            Self::Credentials => "credentials",
            Self::Attachments => "attachments",
        }
    }

    /// Returns the entry in which we write the layer.
    #[must_use]
    pub const fn entry(self) -> &'static str {
        match self {
            Self::Identity => "identity.json",
            Self::Principals => "principals.json",
            Self::Credentials => "credentials.json",
            Self::Attachments => "attachments.json",
        }
    }
}

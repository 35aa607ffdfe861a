//! Files of the workspace that the runtime does not manage.
//!
//! A small one travels inside the archive under `artifacts/`; a large one is only named.

use crate::id::{ItemId, RecordId};
use crate::object::object;
use crate::unknown::Nullable;

/// Artifacts up to this size are included unless the caller says otherwise.
pub const DEFAULT_ARTIFACT_THRESHOLD_BYTES: u64 = 102_400;

object! {
    /// Every artifact, included or only named.
    pub struct Attachments {
        /// The size up to which artifacts were included.
        optional artifact_size_threshold: u64,
        /// The artifacts.
        #[schemars(extend("x-required" = true))]
        required attachments: Vec<Attachment>,
    }
}

object! {
    /// One artifact.
    pub struct Attachment {
        /// This artifact.
        required id: ItemId,
        /// The last part of its path.
        required filename: String,
        /// Its MIME type.
        required media_type: String,
        /// Its size when it was read.
        required size_bytes: u64,
        /// A digest of its bytes.
        required hash: ContentHash,
        /// Where it lay in the workspace.
        required source_path: String,
        /// Where it lies in the archive; null when it is only named.
        required archive_path: Nullable<String>,
        /// Where it lies online; null when it does not.
        required remote_ref: Nullable<String>,
        /// Records that mention it.
        list referenced_by: RecordId,
    }
}

object! {
    /// A digest and how it was made.
    pub struct ContentHash {
        /// `sha256`.
        required algorithm: String,
        /// Lower-case hexadecimal.
        required value: String,
    }
}

//! Limits for reading an untrusted archive.

/// Bounds on an archive that is being read. With the defaults, no archive that is accepted takes a
/// command more than 256 MB of memory, or more than 30 seconds before its content counts.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Entries in the container, and entries that the manifest lists.
    pub max_entries: u64,
    /// Bytes of the names of all entries in the container.
    pub max_name_bytes: u64,
    /// Bytes of all entries, inflated.
    pub max_total_bytes: u64,
    /// How many times larger an entry may be than its packed form, above
    /// [`Limits::ratio_free_bytes`].
    pub max_ratio: u64,
    /// Entries up to this size may have any ratio.
    pub ratio_free_bytes: u64,
    /// Bytes of one document: manifest, identity, principals, credentials, attachments, index.
    pub max_document_bytes: u64,
    /// Bytes of one line of a partition.
    pub max_line_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_entries: 100_000,
            max_name_bytes: 4 << 20,
            max_total_bytes: 256 << 30,
            max_ratio: 200,
            ratio_free_bytes: 10 << 20,
            max_document_bytes: 64 << 20,
            max_line_bytes: 64 << 20,
        }
    }
}

//! Records that one walk parsed, so that later walks need not parse them again.

use std::io;
use std::sync::OnceLock;

/// Keeps the records that a walk parses, unless they are too large: then every walk parses them
/// again.
pub struct RecordCache<T> {
    max_bytes: usize,
    /// Empty before the first walk has ended; `None` when there is more than may be kept.
    records: OnceLock<Option<Vec<T>>>,
}

impl<T> RecordCache<T> {
    /// Keeps records that have at most this many bytes of JSON in all.
    #[must_use]
    pub const fn new(max_bytes: usize) -> Self {
        Self { max_bytes, records: OnceLock::new() }
    }

    /// Whether records with this many bytes of JSON in total may be kept.
    #[must_use]
    pub fn fits(&self, bytes: usize) -> bool {
        #[cfg(feature = "parse-counts")]
        if !crate::parse_counts::may_keep() {
            return false;
        }
        bytes <= self.max_bytes
    }

    /// Yields every record. `parse_each` walks over them, and passes on each with the length of its
    /// JSON.
    pub fn each(
        &self,
        parse_each: impl FnOnce(&mut dyn FnMut(T, usize) -> io::Result<()>) -> io::Result<()>,
        take: &mut dyn FnMut(&T) -> io::Result<()>,
    ) -> io::Result<()> {
        match self.records.get() {
            Some(Some(records)) => return records.iter().try_for_each(take),
            Some(None) => return parse_each(&mut |record, _| take(&record)),
            None => {}
        }
        let mut kept = Some(Vec::new());
        let mut bytes = 0_usize;
        parse_each(&mut |record, length| {
            take(&record)?;
            bytes = bytes.saturating_add(length);
            match &mut kept {
                Some(kept) if self.fits(bytes) => kept.push(record),
                _ => kept = None,
            }
            Ok(())
        })?;
        // A nested walk may have stored them already.
        self.records.set(kept).ok();
        Ok(())
    }
}

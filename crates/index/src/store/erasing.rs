//! How removed content is deleted from the disk.
//!
//! Removed rows are overwritten at once. Terms are not: they stay in a segment until it is merged
//! with others, and can only be found there by reading the file.

use super::body::Body;
use super::{LockedIndex, Store, StoreError, View};

impl Store {
    /// Erases the rest of removed documents on disk. No other process can write until this store is
    /// released.
    pub(crate) fn erase_removed(&mut self) -> Result<(), StoreError> {
        let LockedIndex::Whole(view, alone) = self.alone()? else {
            return Err(StoreError::NotFilled);
        };
        let is_clean = !view.has_removed_terms();
        drop(view);
        let alone = if is_clean {
            alone
        } else {
            let mut writing = self.writing(alone)?;
            writing.open_lexical()?;
            writing.erase_removed();
            writing.finish()?
        };
        self.keep(alone, true)?;
        Ok(())
    }
}

impl View {
    #[cfg(test)]
    pub(crate) fn has_term(&self, term: &str) -> bool {
        let key = tantivy::Term::from_field_text(self.lexical().text_field(), term);
        let mut all = self.lexical().dictionaries();
        all.any(|terms| {
            terms.get(key.serialized_value_bytes()).is_ok_and(|ordinal| ordinal.is_some())
        })
    }

    /// Goes through the chunks of a document, each with its text and its blocks.
    pub(crate) fn chunks_of_path(
        &self,
        path: &str,
        each: &mut dyn FnMut(&str, &Body),
    ) -> Result<(), StoreError> {
        let mut find = self.db.prepare_cached(
            "SELECT passage.text, chunk.body FROM document
             JOIN chunk ON chunk.id >= first_chunk AND chunk.id < first_chunk + chunks
             JOIN passage ON passage.id = chunk.id WHERE path = ?1 ORDER BY chunk.id",
        )?;
        let mut found = find.query([path])?;
        while let Some(row) = found.next()? {
            let text = row.get_ref(0)?.as_str().map_err(rusqlite::Error::from)?;
            let body = row.get_ref(1)?.as_blob().map_err(rusqlite::Error::from)?;
            each(text, &Body::decode(body)?);
        }
        Ok(())
    }
}

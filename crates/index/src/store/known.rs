//! What a store knows about its documents, without their texts.

use super::reading::View;
use super::{StoreError, rows};

impl View {
    /// Returns how many lines the document of a path has; `None` when there is none of that path.
    pub(crate) fn lines(&self, path: &str) -> Result<Option<u64>, StoreError> {
        // The chunks cover the whole text, so the last one says where it ends.
        let sql = "SELECT c.first_line, p.text FROM document d
                   LEFT JOIN chunk c ON d.chunks > 0 AND c.id = d.first_chunk + d.chunks - 1
                   LEFT JOIN passage p ON p.id = c.id
                   WHERE d.path = ?1";
        rows::first(&self.db, sql, [path], |row| {
            let first: Option<u64> = row.get::<_, Option<u32>>(0)?.map(u64::from);
            let text: Option<String> = row.get(1)?;
            let lines = text.map_or(0, |text| text.lines().count() as u64);
            Ok(first.map_or(0, |first| (first + lines).saturating_sub(1)))
        })
    }

    /// Returns the paths of all documents with the digests of their texts, by path.
    pub(crate) fn known_documents(&self) -> Result<Vec<(String, Vec<u8>)>, StoreError> {
        let sql = "SELECT path, hash FROM document ORDER BY path";
        rows::all(&self.db, sql, [], |row| Ok((row.get(0)?, row.get(1)?)))
    }

    /// Returns the types and the namespaces that documents have, sorted; `most` of each at most.
    pub(crate) fn kinds(&self, most: u32) -> Result<(Vec<String>, Vec<String>), StoreError> {
        let names = |column: &str| -> Result<Vec<String>, StoreError> {
            let sql = format!(
                "SELECT DISTINCT {column} FROM document WHERE {column} IS NOT NULL
                 ORDER BY {column} LIMIT ?1"
            );
            rows::all(&self.db, &sql, [most], |row| row.get(0))
        };
        Ok((names("type")?, names("namespace")?))
    }
}

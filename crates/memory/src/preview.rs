//! The first words of the text that a change was about, to recognise it in a list.

use crate::journal::{ChangeId, JournalError, StoredChange};
use crate::page::units;
use crate::store::MarkdownStore;

impl MarkdownStore {
    /// Returns the first entry that a change added, or else the first that it took out; `None`
    /// when the change is not kept any more or was about no text.
    pub fn preview(&self, id: ChangeId) -> Result<Option<String>, JournalError> {
        Ok(self.recorded(id)?.and_then(|recorded| recorded.preview()))
    }
}

impl StoredChange {
    fn preview(&self) -> Option<String> {
        let of_files = self.noted.edits.iter().zip(&self.images).find_map(|(edit, image)| {
            let text = match (&edit.added, &edit.patch) {
                (Some(added), _) => added.text.as_bytes(),
                (None, Some(patch)) => patch.text(image)?,
                (None, None) => image,
            };
            let text = String::from_utf8_lossy(text);
            let content = units(&text).into_iter().map(|unit| unit.content);
            content.map(|content| content.trim().to_owned()).find(|value| !value.is_empty())
        });
        of_files.or_else(|| {
            let rows = &self.noted.rows.as_ref()?.rows;
            rows.iter().find_map(|row| Some(row.get("content")?.as_str()?.to_owned()))
        })
    }
}

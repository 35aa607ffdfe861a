//! What an index knows about its documents without a query.

use crate::index::{Index, QueryError};

/// Names of each kind that are returned, at most.
const MOST_NAMES: u32 = 50;

/// The types and namespaces that documents have, sorted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Kinds {
    /// Such as `semantic`.
    pub types: Vec<String>,
    /// Such as `daily`.
    pub namespaces: Vec<String>,
}

/// A document of an index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownDocument {
    /// Its path.
    pub path: String,
    /// A digest of its text and details.
    pub digest: Vec<u8>,
}

impl Index {
    /// Lists the documents by path.
    pub fn known_documents(&self) -> Result<Vec<KnownDocument>, QueryError> {
        let known = self.store.reading()?.known_documents()?.into_iter();
        Ok(known.map(|(path, digest)| KnownDocument { path, digest }).collect())
    }

    /// Returns how many lines each of these documents has, in their order; `None` for a path that
    /// is not in the index.
    pub fn lines<'a>(
        &self,
        paths: impl IntoIterator<Item = &'a str>,
    ) -> Result<Vec<Option<u64>>, QueryError> {
        let reading = self.store.reading()?;
        paths.into_iter().map(|path| Ok(reading.lines(path)?)).collect()
    }

    /// Returns the types and namespaces that documents have: the first fifty of each.
    pub fn kinds(&self) -> Result<Kinds, QueryError> {
        let (types, namespaces) = self.store.reading()?.kinds(MOST_NAMES)?;
        Ok(Kinds { types, namespaces })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::Document;
    use crate::progress::NoProgress;
    use crate::source::{
        DocumentSource, FileStamp, Listing, SkippedDocument, SourceEntry, SourceError,
    };

    struct Few(Vec<Document>);

    impl DocumentSource for Few {
        fn identity(&self) -> String {
            "few".to_owned()
        }

        fn list(&self) -> Result<Listing, SourceError> {
            let entries = vec![SourceEntry { key: "all".to_owned(), stamp: FileStamp::default() }];
            Ok(Listing { entries, skipped: Vec::new() })
        }

        fn load(
            &self,
            _: &SourceEntry,
            each: &mut dyn FnMut(Document),
        ) -> Result<Vec<SkippedDocument>, SourceError> {
            self.0.iter().cloned().for_each(each);
            Ok(Vec::new())
        }
    }

    #[test]
    fn lines_are_counted_as_they_stand_in_the_text() {
        let long =
            (1..=500).map(|number| format!("Line {number} of a story.\n")).collect::<String>();
        let texts = [
            ("a.md", "one\ntwo\n".to_owned(), 2),
            ("b.md", "one\n\nthree".to_owned(), 3),
            ("c.md", "one\r\n\r\n\r\n".to_owned(), 3),
            ("long.md", long, 500),
        ];
        let document = |(path, text, _): &(&str, String, u64)| Document {
            path: (*path).to_owned(),
            text: text.clone(),
            namespace: Some("daily".to_owned()),
            memory_type: (*path != "a.md").then(|| "semantic".to_owned()),
            ..Document::default()
        };
        let source = Few(texts.iter().map(document).collect());
        let folder = tempfile::tempdir().unwrap();
        let mut index = Index::open(&folder.path().join("index")).unwrap();
        index.refresh(&[&source], jiff::Timestamp::UNIX_EPOCH, &NoProgress).unwrap();
        for (path, _, lines) in &texts {
            assert_eq!(index.lines([*path]).unwrap(), [Some(*lines)], "{path}");
        }
        assert_eq!(index.lines(["none.md"]).unwrap(), [None]);
        let kinds = index.kinds().unwrap();
        assert_eq!(
            (kinds.types, kinds.namespaces),
            (vec!["semantic".into()], vec!["daily".into()])
        );
    }
}

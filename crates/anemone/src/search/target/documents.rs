//! Remembered things as documents.
//!
//! A record becomes a document of its own; the pieces of a conversation become one, a turn a line.

use std::collections::{HashMap, HashSet};

use anemone_index::{Document, Format, Provenance, SkipReason, SkippedDocument, is_markdown};
use anemone_markdown::{BlockKind, Conventions, outline};
use anemone_runtimes::SearchableRecord;

/// The most bytes of a conversation in one document; the rest goes into another document.
const MAX_TRANSCRIPT_BYTES: usize = 16 << 20;

/// What to take.
#[derive(Clone, Copy, Debug)]
pub(super) struct DocumentFilter {
    pub sessions: bool,
    pub private: bool,
}

/// Makes documents, and hands them out under names that no two of them share.
pub(super) struct Documents<'a> {
    each: &'a mut dyn FnMut(Document),
    wanted: DocumentFilter,
    names: UniqueNames,
    /// The conversation whose pieces are coming in.
    open: Option<Document>,
    /// Its path, before it was made unlike all others.
    open_path: String,
    skipped: Vec<SkippedDocument>,
}

impl<'a> Documents<'a> {
    pub(super) fn new(wanted: DocumentFilter, each: &'a mut dyn FnMut(Document)) -> Self {
        Self {
            each,
            wanted,
            names: UniqueNames::default(),
            open: None,
            open_path: String::new(),
            skipped: Vec::new(),
        }
    }

    /// Hands out a document that is one already.
    pub(super) fn document(&mut self, mut document: Document) {
        document.path = self.names.own(document.path);
        (self.each)(document);
    }

    /// Notes what is not searched.
    pub(super) fn skip(&mut self, path: &str, reason: SkipReason) {
        self.skipped.push(SkippedDocument { path: path.to_owned(), reason });
    }

    /// Takes one remembered thing.
    pub(super) fn take(&mut self, it: SearchableRecord) {
        if it.is_session {
            match self.wanted {
                DocumentFilter { sessions: false, .. } => {}
                DocumentFilter { private: false, .. } if it.is_private => {
                    self.close();
                    self.skip("sessions", SkipReason::Private);
                }
                _ => self.piece(it),
            }
            return;
        }
        self.close();
        let reason = if it.is_withdrawn {
            Some(SkipReason::Superseded)
        } else if it.is_private && !self.wanted.private {
            Some(SkipReason::Private)
        } else if it.content.trim().is_empty() {
            Some(SkipReason::NoText)
        } else {
            None
        };
        match reason {
            // The name of a private document is sensitive too.
            Some(SkipReason::Private) => self.skip("memories", SkipReason::Private),
            Some(reason) => self.skip(&it.path, reason),
            None => self.document(of(it)),
        }
    }

    /// Ends the last conversation, and says what was skipped.
    pub(super) fn finish(mut self) -> Vec<SkippedDocument> {
        self.close();
        self.skipped
    }

    fn piece(&mut self, it: SearchableRecord) {
        if it.is_withdrawn {
            return self.skip(&it.path, SkipReason::Superseded);
        }
        let is_same = self.open_path == it.path;
        let open = self.open.as_ref().filter(|_| is_same);
        if open.is_none_or(|open| open.text.len() + it.content.len() > MAX_TRANSCRIPT_BYTES) {
            self.close();
        }
        let turns = turns(&it.content);
        match &mut self.open {
            Some(open) => open.text.push_str(&turns),
            None => {
                self.open_path.clone_from(&it.path);
                let document = Document { text: turns, format: Format::Transcript, ..of(it) };
                self.open = Some(document);
            }
        }
    }

    fn close(&mut self) {
        self.open_path.clear();
        if let Some(document) = self.open.take() {
            self.document(document);
        }
    }
}

fn of(it: SearchableRecord) -> Document {
    let markdown = it.file.as_deref().is_some_and(is_markdown) || has_heading(&it.content);
    let source = if it.is_session { "sessions" } else { "records" };
    Document {
        date: it.date(),
        evergreen: it.evergreen,
        format: if markdown { Format::Markdown } else { Format::Plain },
        memory_type: Some(it.memory_type).filter(|kind| !kind.is_empty()),
        namespace: Some(it.namespace).filter(|namespace| !namespace.is_empty()),
        importance: it.confidence,
        provenance: Provenance {
            source: source.to_owned(),
            record: Some(it.id).filter(|_| !it.is_session),
            session: it.session,
            origin: it.origin.map(str::to_owned),
            observed_at: it.created_at,
        },
        path: it.path,
        text: it.content,
    }
}

/// Whether a text has a heading.
fn has_heading(text: &str) -> bool {
    let blocks = outline(text, Conventions::PLAIN);
    blocks.iter().any(|block| matches!(block.kind, BlockKind::Heading(_)))
}

/// Writes a part of a conversation with each turn on its own line.
///
/// Turns are separated by a blank line and begin with the speaker, so a paragraph that begins like
/// a turn is mistaken for one. This only gives it the wrong place.
fn turns(content: &str) -> String {
    const SPEAKERS: [(&str, &str); 3] =
        [("user: ", "User: "), ("assistant: ", "Assistant: "), ("summary: ", "Summary: ")];
    let mut text = String::with_capacity(content.len() + 16);
    let mut starts = true;
    for line in content.lines() {
        let line = line.trim();
        if line.is_empty() {
            starts = true;
            continue;
        }
        let speaker = SPEAKERS.iter().find_map(|(from, to)| Some((to, line.strip_prefix(from)?)));
        let is_result = line.starts_with("[tool result") || line.starts_with("[tool error");
        let (said_by, said) = match speaker.filter(|_| starts) {
            Some((speaker, said)) => (*speaker, said),
            None => ("", line),
        };
        let is_turn = starts && (!said_by.is_empty() || is_result);
        if !text.is_empty() {
            text.push(if is_turn { '\n' } else { ' ' });
        }
        text.push_str(said_by);
        text.push_str(said.trim_start());
        starts = false;
    }
    if !text.is_empty() {
        text.push('\n');
    }
    text
}

/// Names that are each given once.
#[derive(Default)]
struct UniqueNames {
    given: HashSet<String>,
    /// How often a name was asked for, where that was more than once.
    asked: HashMap<String, u64>,
}

impl UniqueNames {
    /// Returns an unused name: this one, or this one with a number.
    fn own(&mut self, name: String) -> String {
        if self.given.insert(name.clone()) {
            return name;
        }
        let count = self.asked.entry(name.clone()).or_insert(1);
        loop {
            *count += 1;
            let other = format!("{name}~{count}");
            if self.given.insert(other.clone()) {
                return other;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: DocumentFilter = DocumentFilter { sessions: true, private: false };

    fn make(
        wanted: DocumentFilter,
        all: Vec<SearchableRecord>,
    ) -> (Vec<Document>, Vec<SkipReason>) {
        let mut found = Vec::new();
        let mut each = |document| found.push(document);
        let mut documents = Documents::new(wanted, &mut each);
        all.into_iter().for_each(|value| documents.take(value));
        let skipped = documents.finish().into_iter().map(|finish| finish.reason).collect();
        (found, skipped)
    }

    fn row(path: &str, content: &str) -> SearchableRecord {
        SearchableRecord {
            path: path.to_owned(),
            content: content.to_owned(),
            ..SearchableRecord::default()
        }
    }

    fn said(path: &str, content: &str) -> SearchableRecord {
        SearchableRecord { is_session: true, ..row(path, content) }
    }

    #[test]
    fn what_has_one_name_gets_numbers() {
        let all = ["a", "a", "a~2", "a", "b"].map(|path| row(path, "x")).to_vec();
        let (found, _) = make(ALL, all);
        let paths: Vec<&str> = found.iter().map(|found| found.path.as_str()).collect();
        assert_eq!(paths, ["a", "a~2", "a~2~2", "a~3", "b"]);
    }

    #[test]
    fn what_was_withdrawn_or_is_private_or_empty_is_counted() {
        let all = vec![
            SearchableRecord { is_withdrawn: true, ..row("a", "x") },
            SearchableRecord { is_private: true, ..row("b", "x") },
            row("c", " \n"),
            row("d", "x"),
        ];
        let (found, skipped) = make(ALL, all.clone());
        assert_eq!(found.len(), 1);
        assert_eq!(skipped, [SkipReason::Superseded, SkipReason::Private, SkipReason::NoText]);
        let (found, _) = make(DocumentFilter { private: true, ..ALL }, all);
        assert_eq!(found.len(), 2);
    }

    #[test]
    fn a_conversation_is_one_document_with_a_turn_a_line() {
        let all = vec![
            said(
                "s/1",
                "user: hello\n\nassistant: hi\nthere\n\nmore\n[tool: x]\n\n[tool result: x]",
            ),
            said("s/1", "user: bye"),
            said("s/2", "summary: nothing"),
            said("s/1", "user: back"),
        ];
        let (found, _) = make(ALL, all.clone());
        let texts: Vec<_> =
            found.iter().map(|found| (found.path.as_str(), found.text.as_str())).collect();
        assert_eq!(
            texts,
            [
                (
                    "s/1",
                    "User: hello\nAssistant: hi there more [tool: x]\n[tool result: x]\nUser: bye\n"
                ),
                ("s/2", "Summary: nothing\n"),
                ("s/1~2", "User: back\n"),
            ]
        );
        assert!(found.iter().all(|found| found.format == Format::Transcript));
        assert_eq!(make(DocumentFilter { sessions: false, ..ALL }, all).0, []);
    }

    #[test]
    fn a_conversation_of_one_person_is_private() {
        let all = vec![
            said("s/1", "user: hello"),
            SearchableRecord { is_private: true, ..said("s/2", "user: my secret") },
        ];
        let (found, skipped) = make(ALL, all.clone());
        assert_eq!(found.iter().map(|found| found.path.as_str()).collect::<Vec<_>>(), ["s/1"]);
        assert_eq!(skipped, [SkipReason::Private]);
        assert_eq!(make(DocumentFilter { private: true, ..ALL }, all.clone()).0.len(), 2);
        // If conversations are not requested, they are not reported as skipped.
        assert_eq!(make(DocumentFilter { sessions: false, private: false }, all).1, []);
    }

    #[test]
    fn a_text_with_headings_is_markdown_and_any_other_is_plain() {
        let (found, _) = make(ALL, vec![row("a", "#1 is best"), row("b", "x\n## Two\ny")]);
        let formats: Vec<Format> = found.iter().map(|found| found.format).collect();
        assert_eq!(formats, [Format::Plain, Format::Markdown]);
    }
}

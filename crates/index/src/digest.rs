//! Prepares a document for the store: chunks, blocks and terms.
//!
//! The surroundings of a block are found with it: headings, the path and the day. Their terms are
//! kept separate from the block's own, so that a long heading does not make a block long.

use jiff::civil::Date;

use crate::document::Document;
use crate::outline::chunks::{Chunk, chunks};
use crate::outline::{Block, BlockKind, Outline, day_in, outline};
use crate::stamped::said;
use crate::store::body::{Body, BodyBlock, Context};
use crate::text::{Kind, Language, Term, Token, Votes, date_tokens, tokens};
use crate::voice::Conversation;

/// Changes when the same document would be prepared differently.
pub(crate) const DIGEST_VERSION: u32 = 3;

/// A label is at most this long.
const LABEL_CHARS: usize = 40;

/// A document, prepared for the store one chunk at a time: a large document is never in memory
/// twice.
pub(crate) struct Digest<'a> {
    pub(crate) chunks: Box<dyn Iterator<Item = ChunkDigest> + 'a>,
}

/// A chunk, prepared for the store.
#[derive(Clone, Debug)]
pub(crate) struct ChunkDigest {
    /// Its text: the chunks' texts, one after the other, are the document.
    pub(crate) text: String,
    /// Where it begins in the document, in bytes.
    pub(crate) start_byte: u64,
    /// Its first line.
    pub(crate) first_line: u32,
    /// The language in which its words were stemmed.
    pub(crate) language: Language,
    /// Its tokens and those of its surroundings, separated by spaces: the input of the lexical
    /// index.
    pub(crate) lexical: String,
    /// How many tokens `lexical` has.
    pub(crate) length: u32,
    /// The distinct terms of `lexical`, sorted.
    pub(crate) terms: Vec<Term>,
    pub(crate) body: Body,
}

/// Prepares a document for the store.
pub(crate) fn digest(document: &Document) -> Digest<'_> {
    let outline = outline(&document.text, document.format);
    let cut = chunks(&document.text, &outline);
    let votes: Vec<Votes> =
        cut.iter().map(|chunk| Votes::of(&document.text[chunk.bytes.clone()])).collect();
    let mut whole = Votes::default();
    votes.iter().for_each(|vote| whole.add(vote));
    let path = path_words(&document.path);
    let date = document.date.or_else(|| stated_date(&document.text, &outline));
    let conversation = Conversation::of(document);
    let read = move |(chunk, votes): (Chunk, Votes)| {
        let language = votes.decide(&whole);
        let reader =
            ChunkReader { document, outline: &outline, path: &path, date, language, conversation };
        reader.read(&chunk)
    };
    Digest { chunks: Box::new(cut.into_iter().zip(votes).map(read)) }
}

/// Returns the day that a document states at its top: `date: 2026-04-01`.
fn stated_date(text: &str, outline: &Outline) -> Option<Date> {
    let first = outline.blocks.first().filter(|block| block.kind == BlockKind::FrontMatter)?;
    let mut lines = text[first.bytes.clone()].lines();
    let stated = |line: &str| {
        let (key, value) = line.split_once(':')?;
        matches!(key.trim(), "date" | "created").then(|| day_in(value)).flatten()
    };
    lines.find_map(stated)
}

/// The words of a path, as a person reads it: without common folders and the extension.
fn path_words(path: &str) -> String {
    let path = path.strip_suffix(".md").unwrap_or(path);
    let path = path.strip_prefix("memory/").unwrap_or(path);
    path.replace(['/', '_', '-'], " ")
}

struct ChunkReader<'a> {
    document: &'a Document,
    outline: &'a Outline,
    path: &'a str,
    date: Option<Date>,
    language: Language,
    conversation: Conversation,
}

impl ChunkReader<'_> {
    fn read(&self, chunk: &Chunk) -> ChunkDigest {
        let mut lexical = Lexical::default();
        let mut body = Body::default();
        let mut section = None;
        for block in &self.outline.blocks[chunk.blocks.clone()] {
            if section != Some(block.section) {
                body.contexts.push(self.context(block.section, &mut lexical));
                section = Some(block.section);
            }
            let context = body.contexts.len() - 1;
            body.blocks.push(self.block(block, chunk, context, &mut lexical));
        }
        let mut terms = lexical.terms;
        terms.sort_unstable();
        terms.dedup();
        ChunkDigest {
            text: self.document.text[chunk.bytes.clone()].to_owned(),
            start_byte: chunk.bytes.start as u64,
            first_line: chunk.first_line,
            language: self.language,
            lexical: lexical.text,
            length: lexical.length,
            terms,
            body,
        }
    }

    /// Reads the surroundings of the blocks of a section.
    fn context(&self, section: usize, lexical: &mut Lexical) -> Context {
        let section = &self.outline.sections[section];
        let date = section.date.or(self.date);
        let mut terms = Vec::new();
        let mut take = |token: &Token<'_>| {
            terms.push(lexical.push(token.text));
        };
        for heading in &section.headings {
            tokens(heading, self.language, &mut take);
        }
        tokens(self.path, self.language, &mut take);
        if let Some(date) = date {
            date_tokens(date, &mut take);
        }
        terms.sort_unstable();
        terms.dedup();
        Context { headings: section.headings.clone(), date, terms }
    }

    fn block(
        &self,
        block: &Block,
        chunk: &Chunk,
        context: usize,
        lexical: &mut Lexical,
    ) -> BodyBlock {
        let text = said(&self.document.text[block.bytes.clone()]);
        let label = label(text).map_or(0, |label| label.end);
        let mut terms = Vec::new();
        let mut labelled = 0;
        let mut halves = 0_u32;
        tokens(text, self.language, &mut |token| {
            terms.push(lexical.push(token.text));
            if token.bytes.end <= label {
                labelled = terms.len();
            }
            halves += match token.kind {
                Kind::Word | Kind::Weak => 2,
                Kind::Single => 1,
                Kind::Part | Kind::Pair => 0,
            };
        });
        let start = chunk.bytes.start;
        BodyBlock {
            kind: block.kind,
            bytes: offset(block.bytes.start - start)..offset(block.bytes.end - start),
            lines: block.lines.clone(),
            context: offset(context),
            length: halves.div_ceil(2),
            labelled: offset(labelled),
            is_question: is_question(text),
            voice: self.conversation.voice(text),
            terms,
        }
    }
}

/// A chunk is some thousand bytes long; a block that is not is cut.
fn offset(value: usize) -> u32 {
    u32::try_from(value).unwrap_or(u32::MAX)
}

/// The input of the lexical index.
#[derive(Default)]
struct Lexical {
    text: String,
    length: u32,
    terms: Vec<Term>,
}

impl Lexical {
    fn push(&mut self, token: &str) -> Term {
        let term = Term::of(token);
        self.terms.push(term);
        if !self.text.is_empty() {
            self.text.push(' ');
        }
        self.text.push_str(token);
        self.length = self.length.saturating_add(1);
        term
    }
}

/// Returns where the label of a block ends: the words before a colon at its head, when they are
/// marked as such (`- **Maria**: ...`) or the block is a turn (`User: ...`).
fn label(text: &str) -> Option<std::ops::Range<usize>> {
    let start = text.find(|c: char| !c.is_whitespace() && !matches!(c, '-' | '*' | '+' | '>'))?;
    let rest = &text[start..];
    let colon = rest.char_indices().take(LABEL_CHARS).find(|(_, c)| matches!(c, ':' | '：'))?.0;
    let words = rest[..colon].trim_matches(['*', '_', ' ', '[', ']']);
    let is_short = !words.is_empty() && words.split_whitespace().count() <= 4;
    (is_short && words.chars().any(char::is_alphabetic)).then_some(start..start + colon)
}

/// Whether a block asks something: other marks after the question mark do not hide it.
fn is_question(text: &str) -> bool {
    let text = text
        .trim_end_matches(|c: char| c.is_whitespace() || matches!(c, '*' | '_' | '"' | '”' | ')'));
    text.ends_with(['?', '？', '؟'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_may_state_its_day() {
        let text = "---\ntitle: x\ndate: 2026-04-01T10:00\n---\n\nhello\n";
        let document = Document { text: text.to_owned(), ..Document::default() };
        let chunks: Vec<ChunkDigest> = digest(&document).chunks.collect();
        let date = chunks[0].body.contexts[0].date;
        assert_eq!(date, Some(jiff::civil::date(2026, 4, 1)));
    }

    #[test]
    fn a_label_is_what_stands_before_a_colon_at_the_head() {
        for (text, wanted) in [
            ("- **Maria**: Hello", Some("Maria**")),
            ("- Maria: Hello", Some("Maria")),
            ("User: what now?", Some("User")),
            ("- **Caroline**: see http://x.org", Some("Caroline**")),
            ("we met at five and then decided on this: no", None),
            ("- 12:30 lunch", None),
            ("no label", None),
            ("", None),
        ] {
            assert_eq!(label(text).map(|bytes| &text[bytes]), wanted, "{text}");
        }
    }

    #[test]
    fn a_question_ends_in_its_mark() {
        for (text, wanted) in [
            ("What now?", true),
            ("**What now?**", true),
            ("什么？", true),
            ("Why? Because.", false),
        ] {
            assert_eq!(is_question(text), wanted, "{text}");
        }
    }
}

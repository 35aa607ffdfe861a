//! Laws that hold for any input. The tests below check them for random inputs, and the fuzz targets
//! for many more.

use crate::digest::digest;
use crate::document::{Document, Format};
use crate::outline::chunks::chunks;
use crate::outline::{Outline, outline};
use crate::store::body::Body;
use crate::text::{Language, Term, matches, parse, tokens};

const LANGUAGES: [&str; 5] = ["en", "de", "fr", "ru", "und"];

/// Any query can be parsed; tokens have text and are in order, phrases occur in the query.
///
/// # Panics
///
/// When a law does not hold.
pub fn query(query: &str) {
    let languages: Vec<Language> = LANGUAGES.into_iter().filter_map(Language::of_code).collect();
    for language in &languages {
        let mut before = 0;
        let mut terms = Vec::new();
        tokens(query, *language, &mut |token| {
            assert!(!token.text.is_empty() && !token.text.contains(char::is_whitespace));
            assert!(query.get(token.bytes.clone()).is_some_and(|text| !text.is_empty()));
            // The pieces of a long word come before its camel-case parts.
            let is_cut = *language == Language::German;
            assert!(is_cut || before <= token.bytes.start, "tokens lie in order");
            before = token.bytes.start;
            terms.push(Term::of(token.text));
        });
        let mut end = 0;
        for place in matches(query, *language, &terms.into_iter().collect()) {
            assert!(end <= place.start && place.start < place.end, "matches are apart");
            end = place.end;
        }
    }
    let words = parse(query, &languages);
    for term in words.terms.iter().chain(&words.excluded) {
        assert!(!term.forms.is_empty() && query.contains(&term.surface));
    }
    for phrase in words.phrases.iter().chain(&words.excluded_phrases) {
        assert!(phrase.is_in(query), "a phrase is in what it was read from");
    }
}

/// The chunks of a text, joined, are the text, and blocks have correct positions.
///
/// # Panics
///
/// When a law does not hold.
pub fn text(text: &str) {
    for format in [Format::Markdown, Format::Plain, Format::Transcript] {
        let outline = outline(text, format);
        assert_blocks(text, &outline);
        let (mut byte, mut block) = (0, 0);
        for chunk in chunks(text, &outline) {
            assert_eq!((chunk.bytes.start, chunk.blocks.start), (byte, block), "no gap");
            assert!(byte < chunk.bytes.end);
            (byte, block) = (chunk.bytes.end, chunk.blocks.end);
        }
        assert_eq!((byte, block), (text.len(), outline.blocks.len()), "nothing is left");
        let document = Document {
            path: "memory/any.md".to_owned(),
            text: text.to_owned(),
            format,
            ..Document::default()
        };
        let mut joined = String::with_capacity(text.len());
        for chunk in digest(&document).chunks {
            assert_eq!(chunk.start_byte, joined.len() as u64);
            for block in &chunk.body.blocks {
                let bytes = block.bytes.start as usize..block.bytes.end as usize;
                assert!(chunk.text.get(bytes).is_some(), "a block lies in its chunk");
            }
            let read = Body::decode(&chunk.body.encode());
            assert_eq!(read.as_ref(), Ok(&chunk.body), "what is written is read");
            joined.push_str(&chunk.text);
        }
        assert_eq!(joined, text);
    }
}

fn assert_blocks(text: &str, outline: &Outline) {
    let mut end = 0;
    let mut line = 1;
    for block in &outline.blocks {
        assert!(end <= block.bytes.start && block.bytes.start < block.bytes.end);
        assert!(text.get(block.bytes.clone()).is_some(), "blocks are whole characters");
        assert!(block.section < outline.sections.len());
        line += text[end..block.bytes.start].matches('\n').count();
        assert_eq!(block.lines.start as usize, line);
        line += text[block.bytes.clone()].matches('\n').count();
        assert_eq!(block.lines.end as usize, line + 1);
        end = block.bytes.end;
    }
}

/// A body is read or rejected; one that was read can be written and read again as the same.
///
/// # Panics
///
/// When a law does not hold.
pub fn body(bytes: &[u8]) {
    let Ok(body) = Body::decode(bytes) else { return };
    assert!(body.blocks.iter().all(|block| (block.context as usize) < body.contexts.len()));
    assert_eq!(Body::decode(&body.encode()), Ok(body));
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_laws_hold_for_anything(any in any::<String>(), bytes: Vec<u8>) {
            super::query(&any);
            super::text(&any);
            super::body(&bytes);
        }

        #[test]
        fn the_laws_hold_for_much_markup(any in "([-#*>|` \\t\\r\\n\"']|[a-zäか数]{1,9}|[0-9]{1,4}|e\u{301}){0,200}") {
            super::query(&any);
            super::text(&any);
        }
    }
}

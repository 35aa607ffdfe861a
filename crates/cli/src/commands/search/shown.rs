//! An answer for people: one block for each hit, with marked query words.

use std::io::{self, Write};

use anemone::embedder::VectorLine;
use anemone::search::{LexicalOnly, SearchHit, SearchReport};
use anemone::statement::Statement;

use crate::output::{BOLD, DIM, MARK, ODD, Report, count, safe, write_notes};

impl Report for SearchReport {
    fn write_human(&self, out: &mut dyn Write) -> io::Result<()> {
        for (position, hit) in self.hits.iter().enumerate() {
            write_hit(out, position + 1, hit)?;
            writeln!(out)?;
        }
        let documents = count(self.index.documents, "document");
        let chunks = count(self.index.chunks, "chunk");
        let place = safe(&self.source.place);
        if self.hits.is_empty() {
            match self.index.documents {
                0 => writeln!(out, "there is nothing to search in {place}")?,
                _ => writeln!(out, "nothing found for {:?} in {place}", safe(&self.query))?,
            }
        }
        let notes = self.notes.iter().filter_map(Statement::words);
        write_notes(notes.map(|note| &note.message), out)?;
        if self.hits.is_empty() && self.index.documents > 0 {
            writeln!(out, "try other words, fewer filters, or --sessions for conversations")?;
        }
        let mode = match self.lexical_only {
            Some(why) => format!("lexical only: {}", in_words(why)),
            None => format!("{} ({})", self.mode.as_str(), models(&self.vectors)),
        };
        writeln!(out, "{DIM}{mode}; searched {documents}, {chunks}{}{DIM:#}", skipped(self))
    }
}

/// Says why only words were compared.
const fn in_words(why: LexicalOnly) -> &'static str {
    match why {
        LexicalOnly::NoEmbedder => "no embedder",
        LexicalOnly::NothingToCompare => "there was nothing to compare",
        LexicalOnly::EmbedderFailed => "the embedder failed",
        LexicalOnly::NoVectors => "no vectors",
        LexicalOnly::NoVectorsOfModel => "no vectors of this model",
        LexicalOnly::OtherModel => "vectors of another model",
    }
}

/// Names the models that were compared, and how much of the index they cover.
fn models(vectors: &[VectorLine]) -> String {
    let one = |VectorLine { model, chunks, missing, .. }: &VectorLine| match missing {
        0 => safe(model),
        _ => format!("{}: {chunks} of {} chunks", safe(model), chunks + missing),
    };
    vectors.iter().map(one).collect::<Vec<_>>().join(", ")
}

/// Counts the skipped documents: `; not searched: 2 symlink, 1 too_large`.
fn skipped(found: &SearchReport) -> String {
    if found.index.skipped.is_empty() {
        return String::new();
    }
    let parts = found.index.skipped.iter();
    let parts: Vec<_> = parts.map(|(reason, count)| format!("{count} {reason}")).collect();
    format!("; not searched: {}", parts.join(", "))
}

fn write_hit(out: &mut dyn Write, rank: usize, hit: &SearchHit) -> io::Result<()> {
    write!(out, "{rank}.")?;
    if let Some(citation) = &hit.citation {
        write!(out, " {BOLD}{}{BOLD:#}", safe(citation))?;
    }
    if let Some(date) = &hit.date {
        write!(out, "  {date}")?;
    }
    write!(out, "  {DIM}{:.3}{DIM:#}", hit.score)?;
    if hit.weak {
        write!(out, "  {ODD}weak{ODD:#}")?;
    }
    if let Some(by) = &hit.superseded_by {
        write!(out, "  {ODD}superseded by {}{ODD:#}", safe(by))?;
    } else if hit.superseded {
        // Without citations the successor has no name, and the hit still is out of date.
        write!(out, "  {ODD}superseded{ODD:#}")?;
    }
    if hit.similar > 0 {
        let turns = count(hit.similar as u64, "similar turn");
        write!(out, "  {DIM}and {turns}{DIM:#}")?;
    }
    writeln!(out)?;
    if !hit.headings.is_empty() {
        writeln!(out, "   {DIM}{}{DIM:#}", safe(&hit.headings.join(" > ")))?;
    }
    write_marked(out, &hit.text, &hit.matches)?;
    if let Some(explained) = &hit.explain {
        let parts: Vec<_> =
            explained.parts.iter().map(|(name, value)| format!("{name} {value:.4}")).collect();
        let terms = safe(&explained.terms.join(" "));
        writeln!(out, "   {DIM}{}; words: {terms}{DIM:#}", parts.join(", "))?;
    }
    Ok(())
}

/// Writes a text line by line, indented, with some of its bytes marked. A mark that spans lines is
/// closed at the end of each line and reopened on the next, so that every line is complete by
/// itself.
fn write_marked(out: &mut dyn Write, text: &str, matches: &[[usize; 2]]) -> io::Result<()> {
    let mut start = 0;
    let mut marks = matches.iter().copied().peekable();
    for line in text.split('\n') {
        let end = start + line.len();
        write!(out, "   ")?;
        let mut at = start;
        while let Some([from, to]) = marks.peek().copied().filter(|peek| peek[0] < end) {
            let (from, to_here) = (from.max(at), to.min(end));
            // Ranges that do not fit the text mark nothing.
            if let (Some(before), Some(marked)) = (text.get(at..from), text.get(from..to_here)) {
                write!(out, "{}", shown(before))?;
                if !marked.is_empty() {
                    write!(out, "{MARK}{}{MARK:#}", shown(marked))?;
                }
                at = to_here;
            }
            if to > end {
                break;
            }
            marks.next();
        }
        writeln!(out, "{}", shown(text.get(at..end).unwrap_or_default()))?;
        start = end + 1;
    }
    Ok(())
}

/// Makes a text safe for a terminal; a tab becomes a space, and a Windows line ending is removed.
fn shown(text: &str) -> String {
    safe(&text.strip_suffix('\r').unwrap_or(text).replace('\t', " "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn marked(text: &str, matches: &[[usize; 2]]) -> String {
        let mut out = Vec::new();
        write_marked(&mut out, text, matches).unwrap();
        let (on, off) = (format!("{MARK}"), format!("{MARK:#}"));
        String::from_utf8(out).unwrap().replace(&on, "<").replace(&off, ">")
    }

    #[test]
    fn what_was_looked_for_is_marked_where_it_stands() {
        assert_eq!(marked("green tea", &[[6, 9]]), "   green <tea>\n");
        assert_eq!(marked("tea, tea", &[[0, 3], [5, 8]]), "   <tea>, <tea>\n");
        assert_eq!(marked("one\ntwo tea\n", &[[8, 11]]), "   one\n   two <tea>\n   \n");
        assert_eq!(marked("grüner Tee", &[[0, 7]]), "   <grüner> Tee\n");
    }

    #[test]
    fn a_mark_over_the_end_of_a_line_goes_on_in_the_next() {
        assert_eq!(marked("green\ntea x", &[[0, 9]]), "   <green>\n   <tea> x\n");
    }

    #[test]
    fn ranges_that_do_not_fit_mark_nothing_and_lose_no_text() {
        assert_eq!(marked("tee", &[[1, 99]]), "   t<ee>\n");
        assert_eq!(marked("üb", &[[1, 3]]), "   üb\n");
        assert_eq!(marked("tea", &[[5, 7]]), "   tea\n");
        assert_eq!(marked("abcd", &[[2, 3], [0, 1]]), "   ab<c>d\n");
        assert_eq!(marked("", &[[0, 0]]), "   \n");
    }

    #[test]
    fn nothing_in_a_text_steers_the_terminal() {
        assert_eq!(marked("a\tb\u{1b}[31mc\r\nd", &[]), "   a b\u{fffd}[31mc\n   d\n");
    }
}

//! Stamped entries: their text is searched, and their provenance is reported with each hit.

use anemone_format::ProvenanceStamp;

use crate::document::Provenance;

/// Returns the text of a block, without its stamp and the mark of a part of the file behind it.
pub(crate) fn said(block: &str) -> &str {
    let block = without_marks(block);
    match ProvenanceStamp::at_end_of(block) {
        Some((range, _)) => block[..range.start].trim_end(),
        None => block,
    }
}

/// Takes marks such as `<!-- /anemone:active-context -->` from the end of a block, unless the block
/// is nothing else.
fn without_marks(block: &str) -> &str {
    let is_mark = |line: &str| {
        let inner = line.trim().strip_prefix("<!-- ").and_then(|line| line.strip_suffix(" -->"));
        let name = inner.and_then(|inner| inner.trim_start_matches('/').strip_prefix("anemone:"));
        name.is_some_and(|name| !name.starts_with(' '))
    };
    match block.trim_end().rsplit_once('\n') {
        Some((rest, last)) if is_mark(last) => without_marks(rest),
        _ => block,
    }
}

/// Whether a text has a stamp in it.
pub(crate) fn is_stamped(text: &str) -> bool {
    ProvenanceStamp::all_in(text).next().is_some()
}

/// No entry is longer than this.
pub(crate) const MAX_ENTRY_BYTES: usize = 128 << 10;

/// What follows a block of an entry.
pub(crate) enum After {
    /// The end of the entry.
    ProvenanceStamp(Box<ProvenanceStamp>),
    /// Something else: the entry has no stamp.
    Nothing,
    /// More of the entry, and nothing after that yet.
    GoesOn,
}

/// Whether an entry may continue below a block: an item of a list, or text indented below one.
pub(crate) fn may_go_on(block: &str) -> bool {
    ["- ", "* ", "+ ", "  ", "\t"].iter().any(|marker| block.starts_with(marker))
}

/// Looks for the stamp of an entry in what follows one of its blocks. The entry continues as long
/// as lines are blank or indented.
pub(crate) fn stamp_after(rest: &str) -> After {
    // The rest of the block's own last line belongs to it.
    for (at, line) in rest.split_inclusive('\n').enumerate() {
        let is_below = at == 0 || line.trim().is_empty() || may_go_on_with(line);
        if !is_below {
            return After::Nothing;
        }
        if let Some((_, stamp)) = ProvenanceStamp::at_end_of(line) {
            return After::ProvenanceStamp(Box::new(stamp));
        }
    }
    After::GoesOn
}

fn may_go_on_with(line: &str) -> bool {
    line.starts_with("  ") || line.starts_with('\t')
}

/// Returns the provenance in a block's stamp, or that of its document where it has none.
pub(crate) fn provenance(stamp: Option<ProvenanceStamp>, of_document: &Provenance) -> Provenance {
    let Some(stamp) = stamp else { return of_document.clone() };
    Provenance {
        source: of_document.source.clone(),
        record: Some(stamp.id.to_string()),
        session: stamp.session.or_else(|| of_document.session.clone()),
        origin: stamp
            .origin
            .map(|origin| origin.to_string())
            .or_else(|| of_document.origin.clone()),
        observed_at: stamp.at.map(|at| at.to_string()).or_else(|| of_document.observed_at.clone()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_behind_a_block_are_not_part_of_what_it_says() {
        let entry = "- Tea is green. <!-- anemone: hka15ajx -->";
        for (block, text) in [
            ("- Tea.\n<!-- /anemone:active-context -->\n", "- Tea."),
            (&format!("{entry}\n<!-- /anemone:active-context -->"), "- Tea is green."),
            (entry, "- Tea is green."),
            ("<!-- anemone:active-context -->", "<!-- anemone:active-context -->"),
            ("- Tea.\n<!-- a comment -->", "- Tea.\n<!-- a comment -->"),
        ] {
            assert_eq!(said(block), text, "{block:?}");
        }
    }
}

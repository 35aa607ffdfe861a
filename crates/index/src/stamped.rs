//! Stamped entries: their text is searched, and their provenance is reported with each hit.

use anemone_format::ProvenanceStamp;

use crate::document::Provenance;

/// Returns the text of a block, without its stamp.
pub(crate) fn said(block: &str) -> &str {
    match ProvenanceStamp::at_end_of(block) {
        Some((range, _)) => block[..range.start].trim_end(),
        None => block,
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

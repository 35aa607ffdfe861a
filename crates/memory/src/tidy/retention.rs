//! Which entries of logs have had their time, and what is left without them.

use std::ops::Range;

use jiff::civil::Date;

use super::{Expired, TidySettings};
use crate::entry::Tier;
use crate::gathered::Gathered;
use crate::site::PageKind;

/// Says whether an entry has had its time. What nobody called unimportant stays.
pub(super) fn verdict(entry: &Gathered, settings: &TidySettings, today: Date) -> Option<Expired> {
    if !matches!(entry.kind, PageKind::Daily(_)) {
        return None;
    }
    let tier = entry.importance?.tier();
    let allowed = match tier {
        Tier::Structural => settings.structural_days,
        Tier::Potential => settings.potential_days,
        Tier::Contextual => settings.contextual_days,
    };
    let days = entry.age(today)?;
    let is_over = allowed > 0 && days > i64::from(allowed);
    is_over.then(|| Expired { entry: entry.clone(), tier, days })
}

/// Returns a text without some of its units; `None` when none of them goes. A log of which no unit
/// is left is empty.
pub(super) fn without(text: &str, going: &[Range<usize>], units: usize) -> Option<String> {
    if going.is_empty() {
        return None;
    }
    if going.len() == units {
        return Some(String::new());
    }
    let mut kept = String::with_capacity(text.len());
    let mut at = 0;
    for range in going {
        kept.push_str(&text[at..range.start]);
        at = range.end;
        // What stood between two empty lines leaves one of them.
        let is_open = kept.is_empty() || kept.ends_with("\n\n") || kept.ends_with("\r\n\r\n");
        if is_open {
            let rest = &text[at..];
            let blank = rest.strip_prefix("\r\n").or_else(|| rest.strip_prefix('\n'));
            at = blank.map_or(at, |rest| text.len() - rest.len());
        }
    }
    kept.push_str(&text[at..]);
    Some(kept)
}

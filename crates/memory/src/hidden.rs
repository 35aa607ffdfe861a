//! Characters that nobody sees, by which a text can say something else than it shows.

/// Says whether a character shows nothing, or changes the order in which others are shown.
///
/// Joiners and variation selectors count too: letters of some scripts need them, so that a caller
/// that removes hidden characters changes how such a text looks, though not what it says.
#[must_use]
pub const fn is_hidden(c: char) -> bool {
    matches!(
        c,
        '\u{ad}'
            | '\u{34f}'
            | '\u{61c}'
            | '\u{115f}'..='\u{1160}'
            | '\u{17b4}'..='\u{17b5}'
            | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200f}'
            | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{3164}'
            | '\u{fe00}'..='\u{fe0f}'
            | '\u{feff}'
            | '\u{ffa0}'
            | '\u{fff9}'..='\u{fffb}'
            | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e0fff}'
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_seen_is_hidden() {
        for c in ['\u{200b}', '\u{202e}', '\u{2066}', '\u{feff}', '\u{e0041}', '\u{ad}'] {
            assert!(is_hidden(c), "{:x}", u32::from(c));
        }
        for c in ['a', ' ', '\n', 'é', '中', '🙂', '\u{301}'] {
            assert!(!is_hidden(c), "{:x}", u32::from(c));
        }
    }
}

//! Invisible characters, which can give a text another meaning than the visible one.
//!
//! One table, [`is_hidden`], lists them, and one rule says where a script or an emoji needs one of
//! them. Everything that hands remembered text to a model or a terminal goes through this module,
//! so that no path shows what another one hides.

/// Says whether a character shows nothing, or changes how others are shown: everything that
/// Unicode calls a format character or ignorable by default.
///
/// Joiners and variation selectors count too: letters of some scripts need them. [`shown`] keeps
/// those that are needed.
#[must_use]
pub const fn is_hidden(c: char) -> bool {
    is_script_sign(c)
        || matches!(
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
                | '\u{fff0}'..='\u{fffb}'
                | '\u{1d173}'..='\u{1d17a}'
                | '\u{e0000}'..='\u{e0fff}'
        )
}

/// Returns a text without hidden characters and control characters, except those that a script or
/// an emoji needs at their position. Line endings and tabs stay.
#[must_use]
pub fn shown(text: &str) -> String {
    replaced(text, None)
}

/// Returns a text as [`shown`] does, with line feeds as the only line endings: other characters at
/// which some program begins a line become one.
#[must_use]
pub fn visible(text: &str) -> String {
    let text = shown(text).replace("\r\n", "\n");
    text.chars().map(|c| if c == '\r' || is_break(c) { '\n' } else { c }).collect()
}

/// Returns a text with a mark in place of each character that [`shown`] leaves out, so that a
/// person at a terminal sees that there was one.
#[must_use]
pub fn with_marks(text: &str, mark: char) -> String {
    replaced(text, Some(mark))
}

/// Returns a text in which each character that [`shown`] leaves out is written in another way.
#[must_use]
pub fn with_escapes(text: &str, escape: impl Fn(char) -> String) -> String {
    let mut out = String::with_capacity(text.len());
    for (_, c, stays) in characters(text) {
        if stays { out.push(c) } else { out.push_str(&escape(c)) }
    }
    out
}

/// Returns a text in which each character that [`shown`] leaves out is written as `{U+202E}`.
/// There is no backslash in it, because a model that reads JSON may double one.
#[must_use]
pub fn revealed(text: &str) -> String {
    with_escapes(text, code_point)
}

/// Returns a name, such as a path, as it can be shown in one line and still be given back to
/// [`name_from_shown`]: [`revealed`], and with what begins a line written in the same way. Two
/// names never look alike only because a part of one was left out.
#[must_use]
pub fn shown_name(name: &str) -> String {
    let is_blank = |c: char| matches!(c, '\n' | '\r' | '\t') || is_break(c);
    let shown = |c: char| if is_blank(c) { code_point(c) } else { c.to_string() };
    revealed(name).chars().map(shown).collect()
}

fn code_point(c: char) -> String {
    format!("{{U+{:04X}}}", u32::from(c))
}

/// Returns the name that [`shown_name`] shows.
#[must_use]
pub fn name_from_shown(shown: &str) -> String {
    const OPENING: &str = "{U+";
    let mut name = String::with_capacity(shown.len());
    let mut rest = shown;
    while let Some((before, after)) = rest.split_once(OPENING) {
        name.push_str(before);
        let escaped = after.split_once('}').and_then(|(digits, after)| {
            let c = char::from_u32(u32::from_str_radix(digits, 16).ok()?)?;
            (c.is_control() || is_hidden(c) || is_break(c)).then_some((c, after))
        });
        rest = match escaped {
            Some((c, after)) => {
                name.push(c);
                after
            }
            None => {
                name.push_str(OPENING);
                after
            }
        };
    }
    name.push_str(rest);
    name
}

/// Returns how many characters [`shown`] leaves out of a text.
#[must_use]
pub fn hidden_count(text: &str) -> usize {
    characters(text).filter(|(_, _, stays)| !stays).count()
}

/// Returns a text as [`shown`] does, and moves byte ranges in it to where they are afterwards.
#[must_use]
pub fn shown_with_ranges(text: &str, ranges: &mut [[usize; 2]]) -> String {
    let gone: Vec<(usize, usize)> = characters(text)
        .filter(|(_, _, stays)| !stays)
        .map(|(at, c, _)| (at, c.len_utf8()))
        .collect();
    for offset in ranges.iter_mut().flatten() {
        let before = gone.iter().take_while(|(at, _)| at < offset);
        *offset -= before.map(|(_, length)| length).sum::<usize>();
    }
    shown(text)
}

/// Says whether a character is needed at its position: it joins letters of a script or parts of an
/// emoji, chooses how a sign looks, or opens a number in a script that has such signs. Only single
/// characters count: several in a row, or one between letters that do not join, are a way to hide
/// bits.
pub(crate) fn is_needed(before: char, c: char, next: Option<char>) -> bool {
    match c {
        JOINER | NON_JOINER => !before.is_ascii() && !matches!(before, JOINER | NON_JOINER),
        COLOURED => has_colours(before),
        c if is_script_sign(c) => next.is_some_and(|next| opens(c, next)),
        _ => false,
    }
}

fn replaced(text: &str, mark: Option<char>) -> String {
    let mut out = String::with_capacity(text.len());
    for (_, c, stays) in characters(text) {
        out.extend(if stays { Some(c) } else { mark });
    }
    out
}

/// Returns each character, where it is, and whether it stays.
fn characters(text: &str) -> impl Iterator<Item = (usize, char, bool)> {
    let mut before = ' ';
    let mut rest = text.char_indices().peekable();
    std::iter::from_fn(move || {
        let (at, c) = rest.next()?;
        let next = rest.peek().map(|(_, next)| *next);
        let stays = match c {
            '\n' | '\r' | '\t' => true,
            c if is_break(c) => true,
            c => !(c.is_control() || is_hidden(c)) || is_needed(before, c, next),
        };
        if stays {
            before = c;
        }
        Some((at, c, stays))
    })
}

const NON_JOINER: char = '\u{200c}';
const JOINER: char = '\u{200d}';
const COLOURED: char = '\u{fe0f}';

/// Whether some program begins a line here.
const fn is_break(c: char) -> bool {
    matches!(c, '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

/// Whether a sign is shown in colours when it is asked for. Digits are: they become keys.
const fn has_colours(c: char) -> bool {
    matches!(c,
        '#' | '*' | '0'..='9' | '\u{a9}' | '\u{ae}' | '\u{203c}'..='\u{2bff}' | '\u{3030}'
        | '\u{303d}' | '\u{3297}' | '\u{3299}' | '\u{1f000}'..='\u{1faff}')
        && !is_hidden(c)
}

/// Signs of single scripts that are drawn around or over what follows them, and show nothing
/// before anything else.
const fn is_script_sign(c: char) -> bool {
    matches!(
        c,
        '\u{600}'..='\u{605}'
            | '\u{6dd}'
            | '\u{70f}'
            | '\u{890}'..='\u{891}'
            | '\u{8e2}'
            | '\u{110bd}'
            | '\u{110cd}'
            | '\u{13430}'..='\u{1343f}'
            | '\u{1bca0}'..='\u{1bca3}'
    )
}

/// Whether the character after such a sign is one that it combines with.
const fn opens(sign: char, next: char) -> bool {
    match sign {
        '\u{70f}' => matches!(next, '\u{710}'..='\u{74f}'),
        '\u{110bd}' | '\u{110cd}' => matches!(next, '\u{11080}'..='\u{110bc}'),
        '\u{13430}'..='\u{1343f}' => matches!(next, '\u{13000}'..='\u{1342f}'),
        '\u{1bca0}'..='\u{1bca3}' => matches!(next, '\u{1bc00}'..='\u{1bc9f}'),
        _ => matches!(next, '\u{660}'..='\u{669}' | '\u{6f0}'..='\u{6f9}'),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

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

    #[test]
    fn scripts_and_emoji_keep_what_they_need() {
        for text in [
            "نمی\u{200c}خواهم",
            "क्\u{200d}ष",
            "❤\u{fe0f}\u{200d}🔥",
            "1\u{fe0f}\u{20e3}",
            "\u{600}\u{661}\u{662}",
            "قال \u{6dd}\u{661}",
        ] {
            assert_eq!(shown(text), text);
            assert_eq!(hidden_count(text), 0);
        }
    }

    #[test]
    fn what_hides_words_is_left_out() {
        for hidden in [
            "\u{e0041}\u{e0042}",
            "\u{e0100}\u{e01ef}",
            "\u{fe00}\u{fe0e}\u{fe0f}\u{fe0f}",
            "\u{200c}\u{200d}\u{200c}\u{200c}",
            "\u{200b}\u{2060}\u{feff}",
            "\u{ad}\u{61c}\u{115f}\u{1160}\u{3164}\u{ffa0}\u{180b}\u{1d173}",
            "\u{600}\u{70f}\u{8e2}\u{110bd}\u{13430}\u{1bca0}",
            "\u{6dd}\u{890}\u{110cd}\u{1343f}\u{1bca3}\u{fff0}",
            "\u{1b}\u{7f}\u{0}",
        ] {
            assert_eq!(shown(&format!("te{hidden}a")), "tea", "{}", hidden.escape_unicode());
        }
        assert_eq!(shown("❤\u{fe0f}\u{fe0f}\u{fe0f}"), "❤\u{fe0f}");
        assert_eq!(shown("क\u{200d}\u{200c}\u{200d}"), "क\u{200d}");
        assert_eq!(with_marks("te\u{200b}a", '?'), "te?a");
        assert_eq!(hidden_count("te\u{200b}\u{202e}a\n"), 2);
    }

    #[test]
    fn every_way_to_begin_a_line_is_one_line_feed() {
        assert_eq!(visible("a\r\nb\rc\u{b}d\u{c}e\u{85}f\u{2028}g\u{2029}h\ni"), {
            "a\nb\nc\nd\ne\nf\ng\nh\ni"
        });
        assert_eq!(visible("a\r\u{200b}\nb"), "a\nb");
    }

    #[test]
    fn ranges_follow_their_text() {
        let text = "a\u{200b}tea\u{e0041}x tea";
        let mut ranges = [[4, 7], [13, 16]];
        assert_eq!((&text[4..7], &text[13..16]), ("tea", "tea"));
        let shown = shown_with_ranges(text, &mut ranges);
        assert_eq!(shown, "ateax tea");
        assert_eq!(ranges, [[1, 4], [6, 9]]);
    }

    #[test]
    fn a_name_shows_what_it_hides() {
        let name = "me\u{202e}mo\u{e0041}ry\n\u{2028}.md";
        let shown = "me{U+202E}mo{U+E0041}ry{U+000A}{U+2028}.md";
        assert_eq!(shown_name(name), shown);
        assert_eq!(name_from_shown(shown), name);
        for plain in ["memory/2026-03-01.md", "❤\u{fe0f}.md", "a{U+0061}.md", "{U+", "{U+x}"] {
            assert_eq!(shown_name(plain), plain);
            assert_eq!(name_from_shown(plain), plain);
        }
    }

    proptest! {
        #[test]
        fn a_name_comes_back_from_how_it_is_shown(name in "[^{]*") {
            let shown = shown_name(&name);
            prop_assert_eq!(hidden_count(&shown), 0);
            prop_assert_eq!(name_from_shown(&shown), name);
        }

        #[test]
        fn what_is_shown_is_shown_again_as_it_is(text in "(?s).*") {
            let once = shown(&text);
            prop_assert_eq!(shown(&once), once);
        }
    }
}

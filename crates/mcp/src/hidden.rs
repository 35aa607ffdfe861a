//! Takes out of a text what shows nothing, and may carry words that only a model sees.

use anemone_memory::is_hidden;

/// Returns a text without what cannot be seen. Joiners and the sign for coloured pictures stay
/// where scripts and emoji need them: one at a time, behind what takes them. In a row, or between
/// letters that do not join, they are a way to hide bits.
pub(crate) fn shown(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut before = ' ';
    for c in text.chars() {
        let stays = match c {
            '\n' | '\r' | '\t' => true,
            JOINER | NON_JOINER => !before.is_ascii() && !matches!(before, JOINER | NON_JOINER),
            COLOURED => has_colours(before),
            c if is_break(c) => true,
            c => !c.is_control() && !is_hidden(c),
        };
        if stays {
            out.push(c);
            before = c;
        }
    }
    out
}

/// Returns a text without what cannot be seen, in which only a line feed begins a line.
pub(crate) fn visible(text: &str) -> String {
    let text = shown(text).replace("\r\n", "\n");
    text.chars().map(|c| if c == '\r' || is_break(c) { '\n' } else { c }).collect()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_and_emoji_keep_what_they_need() {
        for text in ["نمی\u{200c}خواهم", "क्\u{200d}ष", "❤\u{fe0f}\u{200d}🔥", "1\u{fe0f}\u{20e3}"]
        {
            assert_eq!(shown(text), text);
        }
    }

    #[test]
    fn what_hides_words_is_taken_out() {
        for hidden in [
            "\u{e0041}\u{e0042}",
            "\u{e0100}\u{e01ef}",
            "\u{fe00}\u{fe0e}\u{fe0f}\u{fe0f}",
            "\u{200c}\u{200d}\u{200c}\u{200c}",
            "\u{200b}\u{2060}\u{feff}",
            "\u{ad}\u{61c}\u{115f}\u{1160}\u{3164}\u{ffa0}\u{180b}\u{1d173}",
            "\u{1b}\u{7f}\u{0}",
        ] {
            assert_eq!(shown(&format!("te{hidden}a")), "tea", "{}", hidden.escape_unicode());
        }
        assert_eq!(shown("❤\u{fe0f}\u{fe0f}\u{fe0f}"), "❤\u{fe0f}");
        assert_eq!(shown("क\u{200d}\u{200c}\u{200d}"), "क\u{200d}");
    }

    #[test]
    fn every_way_to_begin_a_line_is_one_line_feed() {
        assert_eq!(visible("a\r\nb\rc\u{b}d\u{c}e\u{85}f\u{2028}g\u{2029}h\ni"), {
            "a\nb\nc\nd\ne\nf\ng\nh\ni"
        });
        assert_eq!(visible("a\r\u{200b}\nb"), "a\nb");
    }
}

//! How the scanner classifies characters.

use unicode_normalization::char::is_combining_mark;

/// How the scanner classifies a character.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    /// Whitespace and most punctuation: not part of any token.
    Gap,
    /// A letter of a script with spaces.
    Letter,
    Digit,
    /// A mark on the letter before it.
    Mark,
    /// Punctuation that may be inside a name, a number or a path.
    Joint,
    Apostrophe,
    /// A character of a script without spaces.
    Spaceless(Script),
    Emoji,
    /// Invisible: zero width, direction, soft hyphen.
    Hidden,
}

/// A script whose words are not separated, or, with Hangul, whose words carry their particles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Script {
    Han,
    Hiragana,
    Katakana,
    Hangul,
    Thai,
    Lao,
    Khmer,
    Myanmar,
}

impl Script {
    /// Whether characters of both form one run: verbs and adjectives mix Han and Hiragana.
    pub(super) fn runs_with(self, other: Self) -> bool {
        let plain = |script| if script == Self::Hiragana { Self::Han } else { script };
        plain(self) == plain(other)
    }
}

/// The class of every byte; those above ASCII are classified by character.
pub(super) static BYTES: [Class; 128] = bytes();

const fn bytes() -> [Class; 128] {
    let mut table = [Class::Gap; 128];
    let mut byte = 0;
    while byte < 128 {
        #[expect(clippy::cast_possible_truncation, reason = "below 128")]
        let ascii = byte as u8;
        table[byte] = if ascii.is_ascii_alphabetic() {
            Class::Letter
        } else if ascii.is_ascii_digit() {
            Class::Digit
        } else {
            match ascii {
                b'-' | b'_' | b'.' | b'/' | b'\\' | b':' | b'@' | b'#' | b'+' | b'&' => {
                    Class::Joint
                }
                b'\'' => Class::Apostrophe,
                _ => Class::Gap,
            }
        };
        byte += 1;
    }
    table
}

/// Returns the class of a character.
pub(super) fn class(c: char) -> Class {
    if c.is_ascii() {
        return BYTES[c as usize];
    }
    match u32::from(c) {
        0x00AD | 0x034F | 0x061C | 0x115F..=0x1160 | 0x17B4..=0x17B5 | 0x180B..=0x180F => {
            Class::Hidden
        }
        0x200B..=0x200F | 0x202A..=0x202E | 0x2060..=0x206F | 0x3164 | 0xFE00..=0xFE0F => {
            Class::Hidden
        }
        0xFEFF | 0xFFA0 | 0xFFF9..=0xFFFB | 0xE0000..=0xE0FFF => Class::Hidden,
        0x00B4 | 0x02BC | 0x05F3..=0x05F4 | 0x2018..=0x2019 => Class::Apostrophe,
        // Tatweel only stretches the word it is in.
        0x0640 => Class::Mark,
        0x2010..=0x2011 => Class::Joint,
        0xFF01..=0xFF5E => BYTES[plain(c) as usize],
        0x0E01..=0x0E3A | 0x0E40..=0x0E4E => Class::Spaceless(Script::Thai),
        0x0E81..=0x0ECE | 0x0EDC..=0x0EDF => Class::Spaceless(Script::Lao),
        0x1000..=0x103F | 0x1050..=0x108F | 0xA9E0..=0xA9EF | 0xAA60..=0xAA7F => {
            Class::Spaceless(Script::Myanmar)
        }
        0x1780..=0x17D3 | 0x17D7 | 0x17DC..=0x17DD => Class::Spaceless(Script::Khmer),
        0x1100..=0x11FF | 0x3131..=0x318E | 0xA960..=0xA97C | 0xAC00..=0xD7FB => {
            Class::Spaceless(Script::Hangul)
        }
        0xFFA1..=0xFFDC => Class::Spaceless(Script::Hangul),
        0x3041..=0x309F => Class::Spaceless(Script::Hiragana),
        // The middle dot separates foreign words.
        0x30A0 | 0x30FB => Class::Gap,
        0x30A1..=0x30FF | 0x31F0..=0x31FF | 0xFF66..=0xFF9F => Class::Spaceless(Script::Katakana),
        0x2E80..=0x2FD5 | 0x3005..=0x3007 | 0x3021..=0x3029 | 0x3038..=0x303B => {
            Class::Spaceless(Script::Han)
        }
        0x3105..=0x312F | 0x31A0..=0x31BF | 0x3400..=0x4DBF | 0x4E00..=0x9FFF => {
            Class::Spaceless(Script::Han)
        }
        0xF900..=0xFAFF | 0x20000..=0x323AF => Class::Spaceless(Script::Han),
        0x231A..=0x231B | 0x23E9..=0x23FA | 0x2600..=0x27BF | 0x2B05..=0x2B07 => Class::Emoji,
        0x2B1B..=0x2B1C | 0x2B50 | 0x2B55 | 0x1F000..=0x1F0FF | 0x1F18E => Class::Emoji,
        0x1F191..=0x1F19A | 0x1F1E6..=0x1F1FF | 0x1F300..=0x1FAFF => Class::Emoji,
        _ if digit(c).is_some() => Class::Digit,
        _ if c.is_alphanumeric() => Class::Letter,
        _ if is_combining_mark(c) => Class::Mark,
        _ => Class::Gap,
    }
}

/// Returns the ASCII equivalent of a full-width character or a special hyphen.
pub(super) fn plain(c: char) -> char {
    match u32::from(c) {
        code @ 0xFF01..=0xFF5E => char::from_u32(code - 0xFEE0).unwrap_or(c),
        0x2010..=0x2011 => '-',
        _ => c,
    }
}

/// The zeros of the scripts that have digits of their own.
const ZEROS: &[u32] = &[
    0x0660, 0x06F0, 0x07C0, 0x0966, 0x09E6, 0x0A66, 0x0AE6, 0x0B66, 0x0BE6, 0x0C66, 0x0CE6, 0x0D66,
    0x0E50, 0x0ED0, 0x0F20, 0x1040, 0x17E0, 0x1810, 0xFF10,
];

/// Returns the ASCII digit for a digit of any script.
pub(super) fn digit(c: char) -> Option<char> {
    let code = u32::from(c);
    let zero = ZEROS.iter().find(|zero| (**zero..**zero + 10).contains(&code))?;
    char::from_digit(code - zero, 10)
}

/// Whether a character belongs to the one before it, in a script without spaces.
pub(super) fn continues(c: char) -> bool {
    matches!(
        u32::from(c),
        0x3099..=0x309A | 0xFF9E..=0xFF9F | 0x0E31 | 0x0E34..=0x0E3A | 0x0E47..=0x0E4E
            | 0x0EB1 | 0x0EB4..=0x0EBC | 0x0EC8..=0x0ECE | 0x102B..=0x103E | 0x1056..=0x1059
            | 0x105E..=0x1060 | 0x1062..=0x1064 | 0x1067..=0x106D | 0x1071..=0x1074
            | 0x1082..=0x108D | 0x17B6..=0x17D3 | 0x17DD | 0x1161..=0x11FF | 0xD7B0..=0xD7FB
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn full_width_characters_are_what_they_stand_for() {
        assert_eq!(class('Ａ'), Class::Letter);
        assert_eq!(class('５'), Class::Digit);
        assert_eq!(class('－'), Class::Joint);
        assert_eq!(class('，'), Class::Gap);
        assert_eq!(plain('／'), '/');
    }

    #[test]
    fn digits_of_other_scripts_are_digits() {
        assert_eq!(digit('٣'), Some('3'));
        assert_eq!(digit('۹'), Some('9'));
        assert_eq!(digit('०'), Some('0'));
        assert_eq!(digit('x'), None);
    }

    #[test]
    fn what_cannot_be_seen_is_hidden() {
        for c in ['\u{200B}', '\u{202E}', '\u{FEFF}', '\u{AD}', '\u{2066}', '\u{FE0F}'] {
            assert_eq!(class(c), Class::Hidden, "{c:?}");
        }
    }
}

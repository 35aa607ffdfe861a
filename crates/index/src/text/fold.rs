//! Letters in the form in which they are compared: lower case, compatible forms unified, diacritics
//! removed.

use std::ops::RangeInclusive;

use unicode_normalization::{IsNormalized, UnicodeNormalization as _, is_nfkc_quick};

use super::chars::{Class, class, digit, plain};

/// Marks on Latin, Greek and Cyrillic letters.
const MARKS: RangeInclusive<char> = '\u{300}'..='\u{36F}';

/// Adds a word in lower case, in the composed and compatible form that stemmers expect. Invisible
/// characters are removed; apostrophes become `'`.
pub(super) fn lower(word: &str, into: &mut String) {
    if word.is_ascii() {
        let from = into.len();
        into.push_str(word);
        if let Some(added) = into.get_mut(from..) {
            added.make_ascii_lowercase();
        }
    } else if is_nfkc_quick(word.chars()) == IsNormalized::Yes {
        word.chars().for_each(|c| lower_char(c, into));
    } else {
        word.nfkc().for_each(|c| lower_char(c, into));
    }
}

fn lower_char(c: char, into: &mut String) {
    match class(c) {
        // A compatible form can be several words; a token is one.
        Class::Gap if c.is_whitespace() || c.is_control() => {}
        _ if c.is_ascii() => into.push(c.to_ascii_lowercase()),
        Class::Hidden => {}
        Class::Apostrophe => into.push('\''),
        Class::Digit => into.push(digit(c).unwrap_or(c)),
        Class::Joint => into.push(plain(c)),
        Class::Gap | Class::Letter | Class::Mark | Class::Spaceless(_) | Class::Emoji => match c {
            // The stress mark of Russian text: no composed letter has it.
            '\u{301}' => {}
            // The dot of a Turkish capital I is part of the small letter.
            _ => into.extend(c.to_lowercase().filter(|c| *c != '\u{307}')),
        },
    }
}

/// Adds a lower-cased word without its diacritics.
pub(super) fn fold(word: &str, into: &mut String) {
    if word.is_ascii() {
        return into.push_str(word);
    }
    for c in word.chars() {
        fold_char(c, into);
    }
}

fn fold_char(c: char, into: &mut String) {
    match c {
        '\0'..='\x7F' => into.push(c),
        'ß' => into.push_str("ss"),
        'æ' => into.push_str("ae"),
        'œ' => into.push_str("oe"),
        'þ' => into.push_str("th"),
        'ø' => into.push('o'),
        'đ' | 'ð' => into.push('d'),
        'ł' => into.push('l'),
        'ħ' => into.push('h'),
        'ı' => into.push('i'),
        'ς' => into.push('σ'),
        'ё' => into.push('е'),
        // Arabic: vowel signs and the stretching stroke are removed, the carriers of hamza are
        // unified.
        '\u{610}'..='\u{61A}' | '\u{640}' | '\u{64B}'..='\u{65F}' | '\u{670}' => {}
        '\u{6D6}'..='\u{6DC}' | '\u{6DF}'..='\u{6E8}' | '\u{6EA}'..='\u{6ED}' => {}
        'أ' | 'إ' | 'آ' | 'ٱ' => into.push('ا'),
        'ة' => into.push('ه'),
        'ى' | 'ی' | 'ئ' => into.push('ي'),
        'ؤ' => into.push('و'),
        'ک' => into.push('ك'),
        // Hebrew points.
        '\u{591}'..='\u{5BD}' | '\u{5BF}' | '\u{5C1}'..='\u{5C2}' | '\u{5C4}'..='\u{5C7}' => {}
        c if MARKS.contains(&c) => {}
        // Latin and Greek letters are decomposed; й, が and 각 are separate letters.
        '\u{C0}'..='\u{24F}' | '\u{370}'..='\u{3FF}' | '\u{1E00}'..='\u{1FFF}' => {
            into.extend(std::iter::once(c).nfd().filter(|c| !MARKS.contains(c)));
        }
        c => into.push(c),
    }
}

/// Returns a text in the form in which phrases are compared: words folded, one space before each
/// and one at the end; characters of scripts without spaces are separate words.
pub(crate) fn flat(text: &str) -> String {
    if is_nfkc_quick(text.chars()) != IsNormalized::Yes {
        return flat_words(&text.nfkc().collect::<String>());
    }
    flat_words(text)
}

fn flat_words(text: &str) -> String {
    let mut flat = String::with_capacity(text.len() + 2);
    let mut lowered = String::new();
    flat.push(' ');
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        match class(c) {
            Class::Letter | Class::Digit => {
                let mut end = at + c.len_utf8();
                while let Some((next, c)) = chars.peek().copied()
                    && in_word(c)
                {
                    end = next + c.len_utf8();
                    chars.next();
                }
                lowered.clear();
                lower(&text[at..end], &mut lowered);
                lowered.retain(|c| c != '\'');
                let before = flat.len();
                fold(&lowered, &mut flat);
                // `C++` and `C#` are not `C`.
                while let Some((_, c)) = chars.peek().copied()
                    && matches!(plain(c), '+' | '#')
                {
                    flat.push(plain(c));
                    chars.next();
                }
                if flat.len() > before {
                    flat.push(' ');
                }
            }
            Class::Spaceless(_) | Class::Emoji => {
                lowered.clear();
                lower(text[at..].get(..c.len_utf8()).unwrap_or_default(), &mut lowered);
                fold(&lowered, &mut flat);
                flat.push(' ');
            }
            Class::Gap | Class::Mark | Class::Joint | Class::Apostrophe | Class::Hidden => {}
        }
    }
    flat
}

fn in_word(c: char) -> bool {
    matches!(
        class(c),
        Class::Letter | Class::Digit | Class::Mark | Class::Apostrophe | Class::Hidden
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folded(word: &str) -> String {
        let (mut lowered, mut folded) = (String::new(), String::new());
        lower(word, &mut lowered);
        fold(&lowered, &mut folded);
        folded
    }

    #[test]
    fn words_are_folded() {
        for (word, expected) in [
            ("Café", "cafe"),
            ("Cafe\u{301}", "cafe"),
            ("Straße", "strasse"),
            ("ÄÖÜ", "aou"),
            ("Nguyễn", "nguyen"),
            ("Đặng", "dang"),
            ("Łódź", "lodz"),
            ("Ærø", "aero"),
            ("İSTANBUL", "istanbul"),
            ("ılık", "ilik"),
            ("Ёлка", "елка"),
            ("йод", "йод"),
            ("Άνθρωπος", "ανθρωποσ"),
            ("ＡＢＣ１２", "abc12"),
            ("ﬁn", "fin"),
            ("ｶﾞｲﾄﾞ", "ガイド"),
            ("مَدْرَسَة", "مدرسه"),
            ("أحـــمد", "احمد"),
            ("שָׁלוֹם", "שלום"),
            ("a\u{200B}b\u{202E}c\u{AD}", "abc"),
            ("٢٠٢٣", "2023"),
            ("हिन्दी", "हिन्दी"),
            // One character, four words.
            ("ﷺ", "صلياللهعليهوسلم"),
            ("ﹲ", ""),
        ] {
            assert_eq!(folded(word), expected, "{word}");
        }
    }

    #[test]
    fn a_flat_text_has_words_and_single_spaces() {
        assert_eq!(flat("The *quick*,  brown_fox!"), " the quick brown fox ");
        assert_eq!(flat("数据库 迁移"), " 数 据 库 迁 移 ");
        assert_eq!(flat("C++, C# and don’t"), " c++ c# and dont ");
        assert_eq!(flat(""), " ");
    }
}

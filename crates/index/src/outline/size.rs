//! How large a text is for a language model.

/// Estimates the size of a text in quarters of a token: a letter of a script with spaces is one
/// quarter, a character of a script without spaces is a whole token.
pub(super) fn quarters(text: &str) -> usize {
    if text.is_ascii() {
        return text.len();
    }
    let (mut characters, mut wide, mut mixed) = (0, 0, false);
    for byte in text.bytes() {
        let is_first = byte & 0xc0 != 0x80;
        characters += usize::from(is_first);
        wide += usize::from(byte >= 0xe3);
        mixed |= byte == 0xe0 || byte == 0xe1;
    }
    if mixed {
        let south_east = |c: &char| u32::from(*c) < 0x3000 && quarters_of(*c) == 4;
        wide += text.chars().filter(south_east).count();
    }
    characters + 3 * wide
}

/// Estimates one character.
pub(super) fn quarters_of(character: char) -> usize {
    match u32::from(character) {
        // Thai and Lao, Burmese, Khmer; then Chinese, Japanese, Korean, pictures and all code points
        // above.
        0xe00..=0xeff | 0x1000..=0x109f | 0x1780..=0x17ff | 0x3000.. => 4,
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_script_without_spaces_counts_by_the_character() {
        assert_eq!(quarters("four"), 4);
        assert_eq!(quarters("größe"), 5);
        assert_eq!(quarters("Привет"), 6);
        assert_eq!(quarters("数据"), 8);
        assert_eq!(quarters("한국어"), 12);
        assert_eq!(quarters("ไทย"), 12);
        assert_eq!(quarters("ệ"), 1);
        assert_eq!(quarters("🦀"), 4);
    }

    proptest! {
        #[test]
        fn a_text_is_the_sum_of_its_characters(text in "\\PC{0,30}|[ไកမẽა数a]{0,30}") {
            prop_assert_eq!(quarters(&text), text.chars().map(quarters_of).sum::<usize>());
        }
    }
}

//! Scripts without spaces: every character, and every two neighbours.

use std::ops::Range;

use unicode_normalization::UnicodeNormalization as _;

use super::chars::{Class, Script, class, continues};
use super::common::{StopwordList, StopwordLists, common};
use super::{Kind, emit};

/// Tokenizes the run that begins at a position; returns where it ends.
pub(super) fn run(
    text: &str,
    at: usize,
    script: Script,
    each: &mut dyn FnMut(&super::Token<'_>),
) -> usize {
    let mut run = Run { text, end: at, script };
    let Some((mut first, mut place)) = run.next() else { return text.len() };
    let mut alone = true;
    for (second, next) in &mut run {
        alone = false;
        token(&first, Kind::Single, place.clone(), each);
        let from = first.len();
        first.push_str(&second);
        token(&first, Kind::Pair, place.start..next.end, each);
        first.drain(..from);
        place = next;
    }
    token(&first, if alone { Kind::Word } else { Kind::Single }, place, each);
    run.end
}

/// Passes on one token, as a weak one if it is common. A character that only lengthens the sound
/// before it is not a token by itself.
fn token(text: &str, kind: Kind, bytes: Range<usize>, each: &mut dyn FnMut(&super::Token<'_>)) {
    if text.chars().all(|c| c == 'ー') {
        return;
    }
    let weak = common(text).meets(StopwordLists::of(StopwordList::Spaceless));
    emit(text, if weak { Kind::Weak } else { kind }, bytes, each);
}

struct Run<'a> {
    text: &'a str,
    end: usize,
    script: Script,
}

impl Iterator for Run<'_> {
    type Item = (String, Range<usize>);

    /// Returns the next character with its marks, in its composed and compatible form.
    fn next(&mut self) -> Option<Self::Item> {
        let rest = self.text.get(self.end..)?;
        let mut chars = rest.char_indices().skip_while(|(_, c)| class(*c) == Class::Hidden);
        let (from, first) = chars.next()?;
        match class(first) {
            // A long vowel is written with the Katakana sign in Hiragana as well.
            Class::Spaceless(script) if script.runs_with(self.script) || first == 'ー' => {}
            _ => return None,
        }
        let next = chars
            .find(|(_, c)| !continues(*c) && !matches!(class(*c), Class::Hidden | Class::Mark));
        let to = next.map_or(rest.len(), |(at, _)| at);
        let unit = &rest[from..to];
        let visible = unit.chars().filter(|c| class(*c) != Class::Hidden);
        let text = if unit.len() == first.len_utf8() && is_composed(first) {
            unit.to_owned()
        } else {
            visible.nfkc().filter(|c| !c.is_whitespace()).collect()
        };
        let start = self.end + from;
        self.end += to;
        Some((text, start..self.end))
    }
}

/// Whether a character is its own compatible form; covers the most common ones.
fn is_composed(c: char) -> bool {
    matches!(c, '\u{3041}'..='\u{3096}' | '\u{30A1}'..='\u{30FC}' | '\u{3400}'..='\u{9FFF}' | '\u{AC00}'..='\u{D7A3}')
}

#[cfg(test)]
mod tests {
    use super::super::tests::{kinds, words};

    #[test]
    fn a_run_is_its_characters_and_its_pairs() {
        assert_eq!(words("数据库"), ["数", "数据", "据", "据库", "库"]);
        assert_eq!(words("数"), ["数"]);
        assert_eq!(
            kinds("数据库，猫"),
            "数:Single 数据:Pair 据:Single 据库:Pair 库:Single 猫:Word"
        );
    }

    #[test]
    fn runs_are_cut_where_the_script_changes() {
        assert_eq!(words("用Rust写"), ["用", "rust", "写"]);
        assert_eq!(words("食べ"), ["食", "食べ", "べ"]);
        assert_eq!(words("新ガス"), ["新", "ガ", "ガス", "ス"]);
        assert_eq!(words("らーめん"), ["ら", "らー", "ーめ", "め", "めん", "ん"]);
    }

    #[test]
    fn a_sign_for_a_long_vowel_is_no_word() {
        assert_eq!(words("サーバー"), ["サ", "サー", "ーバ", "バ", "バー"]);
        assert_eq!(words("ー ｰ ーー"), [""; 0]);
    }

    #[test]
    fn words_of_hangul_keep_their_spaces() {
        assert_eq!(words("서버 점검"), ["서", "서버", "버", "점", "점검", "검"]);
        // As some file systems write it: decomposed into its letters.
        assert_eq!(words("\u{1109}\u{1165}버"), ["서", "서버", "버"]);
    }

    #[test]
    fn half_width_forms_are_whole() {
        assert_eq!(words("ｶﾞｽ"), words("ガス"));
        assert_eq!(words("か\u{3099}す"), words("がす"));
    }

    #[test]
    fn particles_and_question_words_are_weak() {
        assert_eq!(kinds("什么"), "什:Single 什么:Weak 么:Weak");
        assert_eq!(kinds("です"), "で:Weak です:Weak す:Single");
        assert_eq!(kinds("에서"), "에:Weak 에서:Weak 서:Weak");
    }

    #[test]
    fn thai_letters_keep_their_marks() {
        assert_eq!(words("น้ำ"), ["น้", "น้\u{e4d}\u{e32}", "\u{e4d}\u{e32}"]);
    }
}
